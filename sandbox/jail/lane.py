"""The warm Python of one lane: a fork server that runs one program at a time.

It starts inside a finished jail, imports what judged programs commonly import,
and then forks one child per job. It never reads what a program wrote: output
goes through pipes that the Go side owns. Only the standard library is used,
and ctypes only where capabilities must be dropped by hand.

Wire (one SEQPACKET message each way):
  request  "TOKEN UID GID DROPCAPS CHECK CHECKER", then "NUMBER SOFT HARD" for each
           resource limit + descriptors: stdin, stdout, stderr, result, payload, and a pipe for
           files where some are to be fetched
  reply    "STATUS MICROSECONDS KIBIBYTES CLEAN": wait status, CPU time of all
           that was reaped, peak resident set, 1 if nothing was left behind
The payload is one JSON line and then raw bytes: the program, files, arguments.
Fetched files go back as "SIZE NAME", a zero byte, and the bytes of each.

The next job's child is forked before its request comes and reads it itself. So
the parent's memory stays as it was: addresses, and with them the order of sets
of objects, repeat from job to job.

What a job costs is the memory pages it touches, each copied for it. Whatever can
be made before the fork is: streams, modules, constants. What a child runs uses few
objects, and looks at none that it does not need.
"""

import sys
import site

# What -S leaves out, but for the lines of .pth files that run code: what those
# import, each job's fork would pay for.
site.exec = lambda line: None
site.main()
del site.exec

import _signal
import array
import atexit
import builtins
import gc
import io
import json
import json.encoder
import linecache
import os
import resource
import signal
import socket
import threading
import traceback
import types
import weakref
import string, re, datetime, collections, heapq, bisect, copy, math, random
import statistics, itertools, functools, operator, typing
import decimal, fractions, dataclasses, enum, contextlib, queue, struct, textwrap, time

# Programs may patch whatever they like. What runs after them therefore uses its
# own copy of the builtins, and these names bound now.
__builtins__ = dict(vars(builtins))
exit_now, join_threads, run_atexit = os._exit, threading._shutdown, atexit._run_exitfuncs
exc_info, print_exception = sys.exc_info, traceback.print_exception

SCRATCH = [arg for arg in sys.argv[1:] if arg[0] == "/"]  # the writable places, all emptied after a job
# The uids of jobs and of their checkers, where no PID namespace bounds them.
UIDS = [int(uid) for arg in sys.argv[1:] if arg[:5] == "uids=" for uid in arg[5:].split(",")]
WORK = SCRATCH[0]
os.environ.pop("LD_BIND_NOW", None)  # for this process alone
MAIN = WORK + "/main.py"
FIXTURES = {}
COUNTS = {}  # what statvfs says of an empty writable place
STREAMS = []  # the job's standard output and error, as they were made
CODES = []  # the job's program, compiled
IOBase = io.IOBase.__base__  # the builtin class: asking for it runs no code of ABCs
CONTROL = 3
TOP = 255  # the highest descriptor a job may have

# LiveCodeBench's import string, in its order: later names hide earlier ones.
STARS = ("string re datetime collections heapq bisect copy math random statistics "
         "itertools functools operator io sys json builtins typing").split()


def prelude_module():
    """A module with the globals that LiveCodeBench's prelude leaves behind.

    A program that wants them runs in this very module: to copy a thousand names
    would touch, and so unshare, the memory of each.
    """
    lines = ["from %s import *" % name for name in STARS]
    lines += ["import " + name for name in STARS if name not in ("builtins", "typing")]
    module = types.ModuleType("prelude")
    exec("\n".join(lines), module.__dict__)
    return module


def make_encoder():
    """Encode a call's value as JSON; bound before any program could patch json.

    Only builtin types pass. Subclasses are written by their base class, so that
    a program's own __repr__ or __eq__ never speaks.
    """
    index, numpy_bool = operator.index, ("numpy", "bool_", "bool")

    def default(value):
        kind = type(value)
        if kind.__module__ == numpy_bool[0] and kind.__name__ in numpy_bool[1:]:
            return True if value else False
        if hasattr(kind, "__index__"):
            return index(value)
        raise TypeError("the returned value holds a %s, which is not JSON" % kind.__name__)

    def check_keys(value):
        if isinstance(value, dict):
            for key, item in dict.items(value):
                if not isinstance(key, str):
                    raise TypeError("the returned dict has a %s key, which is not JSON"
                                    % type(key).__name__)
                check_keys(item)
        elif isinstance(value, (list, tuple)):
            for item in (list if isinstance(value, list) else tuple).__iter__(value):
                check_keys(item)

    if json.encoder.c_make_encoder is not None:
        chunks = json.encoder.c_make_encoder(
            {}, default, json.encoder.encode_basestring_ascii, None, ": ", ", ",
            False, False, True)
    else:
        pure = json.JSONEncoder(default=default)
        chunks = lambda value, _: pure.iterencode(value)
    join, digits, deep = "".join, sys.set_int_max_str_digits, sys.setrecursionlimit

    def encode(value):
        digits(0)
        deep(50_000)
        text = join(chunks(value, 0))
        if "{" in text:
            check_keys(value)
        return text.encode("ascii")

    return encode


if not hasattr(sys, "set_int_max_str_digits"):  # Python before 3.10.7 has no such limit
    sys.set_int_max_str_digits = lambda n: None

# What the json and signal modules wrap: their wrappers touch, and so unshare, a
# great deal of memory in every job.
SCAN = json.JSONDecoder().scan_once
set_handler = _signal.signal
int_handler = signal.default_int_handler
set_limit = resource.setrlimit
FDS_SPACE = socket.CMSG_SPACE(8 * 4)
ENCODE = make_encoder()
PRELUDE = prelude_module()
BARE = types.ModuleType("__main__")


def write_all(fd, data, write=os.write):
    view = memoryview(data)
    while view:
        view = view[write(fd, view):]


def make_report(fd, token):
    """The one result frame of a job: token, kind, body. A second is refused.

    STARTED before it says that the program has run, which can reach all that is in
    its process: what it says from then on, it says of itself.
    """
    left = [token.encode()]

    def report(kind, body=b""):
        if left:
            write_all(fd, left.pop() + kind + body)

    return report


STARTED = b"+"


def drop_capabilities():
    """Give up every capability where no other uid exists to change to."""
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    if libc.capset(header, (ctypes.c_uint32 * 6)()) != 0:
        raise OSError(ctypes.get_errno(), "capset")


def enter(request, fds):
    """Turn the forked child into the job's process.

    The streams become 0..2. The rest goes to the highest numbers, so that files
    which the program opens get the numbers they get anywhere.
    """
    result = os.dup2(fds[3], TOP, inheritable=False)
    payload = os.dup2(fds[4], TOP - 1, inheritable=False)
    fetched = os.dup2(fds[5], TOP - 2, inheritable=False) if len(fds) > 5 else None
    for i in range(3):
        os.dup2(fds[i], i, inheritable=True)
    os.closerange(3, TOP - 2 if fetched else TOP - 1)
    os.setsid()
    os.umask(0o022)
    set_handler(2, int_handler)
    limits = request["rlimits"]
    for i in range(0, len(limits), 3):
        set_limit(limits[i], (limits[i + 1], limits[i + 2]))
    if request["uid"]:
        os.setgroups([])
        os.setresgid(request["gid"], request["gid"], request["gid"])
        os.setresuid(request["uid"], request["uid"], request["uid"])
    if request["dropcaps"]:
        drop_capabilities()
    return result, payload, fetched


def read_payload(fd):
    size = os.lseek(fd, 0, os.SEEK_END)
    data = os.pread(fd, size, 0)
    while len(data) < size:  # one read ends at 2 GiB
        data += os.pread(fd, size - len(data), len(data))
    os.close(fd)
    end = data.index(b"\n") + 1
    head = SCAN(data[:end].decode(), 0)[0]
    parts, at = [], end
    for size in head["sizes"]:
        parts.append(data[at:at + size])
        at += size
    return head, parts


def scratch_file(data):
    """A descriptor of a file without a name."""
    fd = os.open(WORK + "/job", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    os.unlink(WORK + "/job")
    write_all(fd, data)
    return fd


def open_stdio():
    """Make the standard streams as a new interpreter makes them for a file and
    pipes. A child puts its own below them, which are of the same kinds."""
    def stream(fd, mode, name, errors):
        raw = open(fd, mode, -1, closefd=False)
        raw.raw.name = name
        text = io.TextIOWrapper(raw, "utf-8", errors, newline="\n",
                                line_buffering=name == "<stderr>")
        text.mode = mode[0]
        return text

    saved = [os.dup(fd) for fd in range(3)]
    kinds = [scratch_file(b"")] + list(os.pipe())
    os.dup2(kinds[0], 0)
    os.dup2(kinds[2], 1)
    os.dup2(kinds[2], 2)
    sys.stdin = sys.__stdin__ = stream(0, "rb", "<stdin>", "surrogateescape")
    sys.stdout = sys.__stdout__ = stream(1, "wb", "<stdout>", "surrogateescape")
    sys.stderr = sys.__stderr__ = stream(2, "wb", "<stderr>", "backslashreplace")
    STREAMS[:] = sys.stdout, sys.stderr
    for fd in range(3):
        os.dup2(saved[fd], fd)
    for fd in saved + kinds:
        os.close(fd)


def place_files(head, parts):
    """Write the program and its files; split off the call's arguments."""
    names = [MAIN] + [os.path.join(WORK, name) for name in head["files"]]
    mode = 0o755 if head["argv"] else 0o644
    for name, data in zip(names, parts):
        if name is MAIN and head["argv"]:
            continue
        if name.count("/") > MAIN.count("/"):
            os.makedirs(os.path.dirname(name), exist_ok=True)
        fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        write_all(fd, data)
        os.close(fd)
    return parts[0], parts[len(names):]


def fill(module, name):
    """Give a module the names that a program finds in its own."""
    space = module.__dict__
    space.update(__name__=name, __file__=MAIN, __builtins__=builtins, __cached__=None)
    if name == "__main__" and sys.version_info < (3, 14):
        space["__annotations__"] = {}  # as the interpreter makes it
    return module


def new_module(name, prelude):
    module = PRELUDE if prelude else BARE if name == "__main__" else types.ModuleType(name)
    if name != "__main__":
        module.__dict__.pop("__annotations__", None)
        fill(module, name)
    sys.modules[name] = module
    return module.__dict__


def finish(code):
    """End as the interpreter would: join threads, run atexit, flush, exit."""
    for last in () if nothing_waits() else (join_threads, run_atexit):
        try:
            last()
        except SystemExit:
            pass
        except BaseException:
            print_exception(*exc_info())
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name, None)
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except BaseException:
            code = code or 120
    flush_forgotten()
    exit_now(code)


def nothing_waits():
    """Neither a thread nor an atexit function is there that was not before."""
    return len(ACTIVE) == 1 and not THREAD_EXITS and count_exits() == EXITS[0]


def flush_forgotten():
    """Flush what the interpreter would as it destroys the objects: the first
    streams, if the program put others in their place, and files it left open."""
    left = list(STREAMS)
    main = sys.modules.get("__main__")
    left += [v for v in bound_by_program(main) if issubclass(type(v), IOBase)]
    for stream in left:
        try:
            stream.flush()
        except BaseException:
            pass  # closed, or not ours to say


def bound_by_program(main):
    """The values of a module's globals. Of the prelude's thousand only those that
    the program names: to look at one is to copy the memory page it lies in."""
    space = getattr(main, "__dict__", {})
    if main is not PRELUDE or not hasattr(space, "__reversed__"):  # before Python 3.8
        return list(space.values())
    found = [space[name] for name in names_in(CODES) if name in space]
    for name in reversed(space):
        if name == "__cached__":  # put in right before the program starts
            break
        found.append(space[name])
    return found


def names_in(codes):
    """All global names in code objects and the functions inside them."""
    for code in codes:
        yield from code.co_names
        yield from names_in([c for c in code.co_consts if type(c) is type(code)])


def exit_code(error):
    """The exit status that SystemExit asks for; anything odd is printed."""
    code = error.code
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    print(code, file=sys.stderr)
    return 1


def die(error, report):
    """Print an uncaught exception without the frames of this file."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    if isinstance(error, MemoryError) or isinstance(error, OSError) and error.errno == 12:
        report(b"m")  # 12 is ENOMEM, a refused mapping
    error.__traceback__ = trace
    try:
        sys.excepthook(type(error), error, trace)
    except BaseException:
        print_exception(type(error), error, trace, file=sys.__stderr__)
    if isinstance(error, KeyboardInterrupt):
        sys.stdout.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.raise_signal(signal.SIGINT)
    return 1


def compiled(source, report):
    try:
        code = compile(source, MAIN, "exec", dont_inherit=True)
    except BaseException as error:
        report(b"c")
        error.__traceback__ = None
        sys.__excepthook__(type(error), error, None)
        sys.stderr.flush()
        exit_now(1)
    CODES.append(code)
    return code


def call(space, target, arguments):
    owner = space[target["class"]]() if target["class"] else None
    method = getattr(owner, target["method"]) if owner is not None else space[target["method"]]
    return method(*arguments)


def execute(head, report):
    """Become another program; a failure to is ours."""
    env = dict(os.environ)
    env.update(entry.split("=", 1) for entry in head["env"] or ())
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    soft = head["stack"] if hard < 0 else min(head["stack"], hard)
    resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)  # as a shell leaves them
    try:
        os.execve(head["argv"][0], head["argv"], env)
    except OSError as error:
        report(b"i", ("%s cannot be started: %s" % (head["argv"][0], error.strerror)).encode())
    exit_now(1)


def wanted_files(name):
    """The paths that an entry of the fetch list stands for."""
    if not name.endswith("/"):
        return [name]
    found = []
    for entry in sorted(os.scandir(os.path.join(WORK, name)), key=lambda e: e.name):
        path = name + entry.name
        found += wanted_files(path + "/") if entry.is_dir(follow_symlinks=False) else [path]
    return found


def send_file(name, sink):
    """Send one file if it is a regular one, whatever lies at its name by now."""
    try:
        fd = os.open(os.path.join(WORK, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return
    info = os.fstat(fd)
    if info.st_mode & 0o170000 == 0o100000:
        write_all(sink, b"%d %s\0" % (info.st_size, os.fsencode(name)))
        left = info.st_size
        while left > 0:
            data = os.read(fd, min(left, 1 << 20))
            if not data:
                return  # somebody shrank it; the list ends here
            write_all(sink, data)
            left -= len(data)
    os.close(fd)


def fork_to_fetch(names, sink):
    """Continue in a child; the parent waits for it, sends its files, and ends
    the same way. It runs under the program's own uid, so the program gains
    nothing by meddling with it."""
    for name in names:
        if name.endswith("/"):
            os.makedirs(os.path.join(WORK, name), exist_ok=True)
    pid = os.fork()
    if pid == 0:
        os.close(sink)
        return
    os.close(TOP)  # it has nothing to report
    status = os.waitpid(pid, 0)[1]
    for name in names:
        try:
            for path in wanted_files(name):
                send_file(path, sink)
        except (OSError, RecursionError):
            pass  # the program removed the directory, or dug too deep
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    exit_now(os.WEXITSTATUS(status))


def run(head, source, raw, result, report):
    """Run the program, and the call if one is asked for; return the exit code."""
    if head["argv"]:
        execute(head, report)
    target = head["call"]
    tests = raw.pop().decode() if head["check"] else None
    if raw:
        sys.setrecursionlimit(50_000)
        sys.set_int_max_str_digits(0)
    try:
        arguments = [json.loads(text) for text in raw]
    except ValueError as error:
        report(b"i", ("a call argument is not JSON: %s" % error).encode())
        return 1
    sys.argv.extend(head["args"])
    sys.path[0] = WORK
    apart = target or tests is not None and not head["main"]
    main = new_module("__main__", head["prelude"] and not apart)
    space = new_module("solution", head["prelude"]) if apart else main
    code = compiled(source, report)
    sys.setrecursionlimit(50_000 if head["prelude"] else 1000)
    sys.set_int_max_str_digits(50_000 if head["prelude"] or head["longints"] else 4300)
    gc.enable()
    encode = ENCODE
    write_all(result, STARTED)
    try:
        exec(code, space)
        if target:
            report(b"v", encode(call(space, target, arguments)))
        elif tests is not None:
            report(b"v", encode(check_here(head["check"]["entry"], tests, space)))
    except SystemExit as error:
        status = exit_code(error)
        if target or tests is not None:
            print("the program exited before its call returned a value", file=sys.stderr)
        return status or (1 if target or tests is not None else 0)
    except BaseException as error:
        return die(error, report)
    return 0


# What modules do in a child after a fork makes it copy over a hundred pages. A
# job's child is spared it: the lane has one thread, and of what threading holds only
# that thread's kernel number changes; random is seeded without its Python code.
# Forks by programs do it all again.
HOOKS, SAVED_HOOKS, OTHER_HOOKS = [], [], []  # the interpreter's own list; what was in it
seed = super(random.Random, random._inst).seed


def take_hooks():
    """To be called before the collector's freeze, which hides the list."""
    global HOOKS
    known = getattr(threading, "_after_fork", None)
    for found in gc.get_referrers(known):
        if type(found) is list and all(map(callable, found)):
            HOOKS = found
            SAVED_HOOKS.extend(found)
            OTHER_HOOKS.extend(f for f in found if f not in (known, random._inst.seed))
            found.clear()
            return


def after_fork():
    if SAVED_HOOKS:
        HOOKS.extend(SAVED_HOOKS)
        seed()
        if native_id:
            MAIN_THREAD._native_id = native_id()
        for hook in OTHER_HOOKS:
            hook()


MAIN_THREAD, native_id = threading.main_thread(), getattr(threading, "get_native_id", None)
ACTIVE = threading._active
THREAD_EXITS = getattr(threading, "_threading_atexits", ())
count_exits, EXITS = atexit._ncallbacks, [-1]  # how many a job begins with; -1: run them all


def read_request(data):
    token, *numbers = data.split()
    numbers = list(map(int, numbers))
    return {"token": token.decode(), "uid": numbers[0], "gid": numbers[1], "dropcaps": numbers[2],
            "check": numbers[3], "checker": numbers[4], "rlimits": numbers[5:]}


def child(control):
    """The job's process: wait for the request and run it. Never returns."""
    data, ancillary, _, _ = control.recvmsg(4096, FDS_SPACE)
    if not data:
        exit_now(0)  # cr has closed the lane
    fds = memoryview(ancillary[0][2]).cast("i").tolist()
    request = read_request(data)
    control.detach()
    if request["check"]:
        check(request, fds)
    after_fork()
    report = make_report(fds[3], request["token"])
    try:
        result, payload, fetched = enter(request, fds)
        report = make_report(result, request["token"])
        os.chdir(WORK)
        head, parts = read_payload(payload)
        if fetched is not None:
            fork_to_fetch(head["fetch"], fetched)
        source, raw = place_files(head, parts)
    except BaseException as error:
        report(b"i", ("the job could not be set up: %r" % error).encode())
        exit_now(1)
    try:
        code = run(head, source, raw, result, report)
    except BaseException:  # a program that broke what its own end needs
        code = 1
    finish(code)


def descendants():
    """Live descendants of this process, for lanes without a PID namespace."""
    found, todo = [], [os.getpid()]
    while todo:
        pid = todo.pop()
        try:
            threads = os.listdir("/proc/%d/task" % pid)
        except OSError:
            continue
        for thread in threads:
            try:
                with open("/proc/%d/task/%s/children" % (pid, thread)) as f:
                    kids = [int(word) for word in f.read().split()]
            except OSError:
                continue
            found += kids
            todo += kids
    return found


def kill_uid(uid):
    """Kill all processes of a uid at once; the process that does it is reaped
    with them."""
    if os.fork() == 0:
        os.setresuid(uid, uid, uid)
        try:
            os.kill(1, 0)  # must fail: no power over others may be left
        except PermissionError:
            os.kill(-1, signal.SIGKILL)
        exit_now(0)


def reap_all():
    """Reap until no child is left; return the CPU seconds."""
    cpu = 0.0
    while True:
        try:
            _, _, usage = os.wait4(-1, 0)
        except ChildProcessError:
            return cpu
        cpu += usage.ru_utime + usage.ru_stime


def kill_rest():
    """Kill everything the job left behind and reap it; return its CPU seconds."""
    cpu, alone = 0.0, os.getpid() == 1
    if UIDS:
        try:
            usage = os.wait4(-1, os.WNOHANG)[2]
        except ChildProcessError:
            return cpu  # orphans come to this process: there are none
        for uid in UIDS:
            kill_uid(uid)
        return usage.ru_utime + usage.ru_stime + reap_all()
    while True:
        if alone:
            try:
                os.kill(-1, signal.SIGKILL)
            except ProcessLookupError:
                return cpu  # not even a dead process is there
        else:
            for pid in descendants():
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
        try:
            _, _, usage = os.wait4(-1, 0)
        except ChildProcessError:
            return cpu
        cpu += usage.ru_utime + usage.ru_stime


def find_fixtures(path, found):
    """Directories that were in a writable place from the start: the way to an
    interpreter that lies there. True marks a mount, which is read-only."""
    for entry in os.scandir(path):
        found[entry.path] = os.path.ismount(entry.path)
        if not found[entry.path]:
            find_fixtures(entry.path, found)


def remove(path, budget):
    for entry in os.scandir(path):
        budget[0] -= 1
        if budget[0] < 0:
            raise OSError("too many files left behind")
        if FIXTURES.get(entry.path):
            continue
        if entry.is_dir(follow_symlinks=False):
            remove(entry.path, budget)
            if entry.path not in FIXTURES:
                os.rmdir(entry.path)
        else:
            os.unlink(entry.path)


def wipe(scratch):
    """Empty the writable places; False if the lane had better be thrown away."""
    try:
        for path in scratch:
            os.chmod(path, 0o777)
            if path == WORK:
                remove_main()
            if os.statvfs(path)[5:7] != COUNTS.get(path):
                remove(path, [2000])
        return True
    except (OSError, RecursionError):
        return False


def remove_main():
    try:
        os.unlink(MAIN)
    except OSError:
        pass  # the program removed or replaced it


def count_files():
    """Where a writable place is a file system of its own, its count of files tells
    whether anything is in it."""
    for path in SCRATCH:
        if os.getpid() == 1 and os.path.ismount(path):
            COUNTS[path] = os.statvfs(path)[5:7]  # how many it can hold, how many more


def serve_one(control, work):
    """Let a child do one piece of work and tidy up after it."""
    pid = os.fork()
    if pid == 0:
        work(control)
    cpu, done = 0.0, 0
    while done != pid:
        done, status, usage = os.wait4(-1, 0)
        cpu += usage.ru_utime + usage.ru_stime
    cpu += kill_rest()
    control.send(b"%d %d %d %d" % (status, cpu * 1e6, usage.ru_maxrss, wipe(SCRATCH)))


WARM = '''
import sys, collections
class Solution:
    def f(self, a): return sorted(a, key=lambda x: -x)
n = int(input())
rows = [list(map(int, input().split())) for _ in range(n)]
d = collections.defaultdict(int)
for r in rows:
    for x in r: d[x] += 1
try:
    raise ValueError(f"{n:03d}")
except ValueError as e:
    print(e, *Solution().f(rows[0]), sep=" ")
print("%.3f" % (sum(d.values()) / 7), file=sys.stdout)
'''


def warm_up():
    """Walk the path of a typical program once, so that its children need not."""
    old = sys.stdin, sys.stdout
    sys.stdin, sys.stdout = io.StringIO("2\n1 2\n3 4\n"), io.StringIO()
    exec(compile(WARM, MAIN, "exec", dont_inherit=True), {"__name__": "__main__"})
    sys.stdin, sys.stdout = old
    sys.modules.pop("solution", None)
    try:
        raise KeyError("warm")
    except KeyError as error:
        traceback.format_exception(type(error), error, error.__traceback__)
    ENCODE({"a": [1, 2.5, None, True, "x"]})
    linecache.clearcache()


def practise():
    """Do a job's steps in this process a few times. The interpreter adapts code
    that it has run before, which would otherwise happen in every child anew."""
    source = WARM.encode()
    head = ('{"sizes": [%d], "files": [], "args": [], "call": null, "argv": null}\n' % len(source)).encode()
    path, end = sys.path[0], os.open("/dev/null", os.O_WRONLY)
    for _ in range(20):
        read_request(b"a 1 1 0 0 1 1 2 3 4 5 6")
        make_report(end, "")(b"v")
        set_handler(2, int_handler)
        program, _ = place_files(*read_payload(scratch_file(head + source)))
        new_module("solution", False)
        compiled(program, None)
        nothing_waits()
        flush_forgotten()
        CODES.clear()
        os.unlink(MAIN)
    os.close(end)
    sys.path[0] = path
    sys.modules.pop("solution", None)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


POOL = 1 << 14 if sys.version_info >= (3, 10) else 1 << 12  # of the interpreter's allocator


def fill_holes():
    """Use up the free blocks that are strewn over memory; return what holds them.
    A child then finds its new objects side by side, on fewer pages."""
    held, top = [], 0
    for size in range(48, 512 + 1, 16):
        for _ in range(20_000):
            block = bytes(size - 33)
            held.append(block)
            if id(block) % POOL == 48:  # the first of a new pool: no hole is left
                held.pop()
                break
    above = []
    for size in range(528, 8192, 16):
        for _ in range(200):
            block = bytes(size - 33)
            if id(block) > top:
                top = id(block)
                above.append(block)
                break
            held.append(block)
    return held


def rehearse():
    """Serve two mock jobs: the first ones move memory about, later ones do not."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    def mock(_):
        with open(MAIN, "w") as f:
            f.write("pass")
        exit_now(0)

    for _ in range(2):
        serve_one(ours, mock)
    ours.close()
    theirs.close()


def main():
    threading.stack_size(16 << 20)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.argv[:] = [MAIN]
    fill(PRELUDE, "__main__")
    fill(BARE, "__main__")
    warm_up()
    open_stdio()
    PRELUDE.__dict__.update(stdin=sys.stdin, stdout=sys.stdout, stderr=sys.stderr, argv=sys.argv)
    practise()
    if "logging" not in sys.modules and not weakref.finalize._registered_with_atexit:
        EXITS[0] = count_exits()  # what else is there has no effect that a program sees
    sys.setrecursionlimit(1000)
    gc.collect()
    take_hooks()
    gc.freeze()
    gc.disable()
    holes = fill_holes()
    control = socket.socket(fileno=CONTROL)
    for path in SCRATCH:
        find_fixtures(path, FIXTURES)
    count_files()
    rehearse()
    control.send(b'{"ready": true}')
    while True:
        serve_one(control, child)
