# Judging by assertions, the second half of the lane program.
#
# The test code runs in a process of its own, the checker, under another uid. It
# reaches the program only by calls over a socket, and what comes back is data: a
# value is rebuilt from JSON, anything else becomes a Remote, which no operator
# of the program's can speak for. The checker alone knows the word that opens a
# report. It is forked before it has read either that or the tests, so that none
# of them is ever in the program's memory.
#
# Wire: one JSON value a line. Asked: [operation, target, arguments...]. Answered:
# ["v", value], ["m", arguments] for a call that gave None and changed its
# arguments, ["e", names, message] for an exception, ["end", kind, message] when
# the program is over.

import datetime as dates

PLAIN = frozenset([type(None), bool, int, float, str])
ARRAY = re.compile(r"[<>|=]?[biufc]\d+|[<>|=]?[SU]\d+")
MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
TYPES = {name: kind for name, kind in vars(builtins).items() if isinstance(kind, type)}
LINE_LIMIT = 256 << 20


def packer(give):
    """Make the function that turns a value into what JSON can say.

    Lists, text and numbers stand for themselves, an object with one key for
    another type. Subclasses are written by their base class, by its own methods;
    give says what stands for a value that is no data.
    """
    def pack(value):
        kind = type(value)
        if kind in PLAIN:
            return value
        if issubclass(kind, list):
            return [pack(x) for x in list.__iter__(value)]
        if issubclass(kind, tuple):
            return {"t": [pack(x) for x in tuple.__iter__(value)]}
        if issubclass(kind, dict):
            return {"d": [[pack(k), pack(x)] for k, x in dict.items(value)]}
        if issubclass(kind, str):
            return str.__str__(value)
        if issubclass(kind, int):
            return int.__add__(value, 0)
        if issubclass(kind, float):
            return float.__pos__(value)
        if issubclass(kind, set):
            return {"s": [pack(x) for x in set.__iter__(value)]}
        if issubclass(kind, frozenset):
            return {"f": [pack(x) for x in frozenset.__iter__(value)]}
        if issubclass(kind, complex):
            return {"c": [complex.real.__get__(value), complex.imag.__get__(value)]}
        if kind in (bytes, bytearray):
            return {"b": value.decode("latin-1")}
        if kind is range:
            return {"r": [value.start, value.stop, value.step]}
        return rarer(kind, value)

    def rarer(kind, value):
        if kind is decimal.Decimal:
            return {"D": str(value)}
        if kind is fractions.Fraction:
            return {"F": [value.numerator, value.denominator]}
        if kind is dates.datetime and value.tzinfo is None:
            return {"T": [value.year, value.month, value.day, value.hour, value.minute,
                          value.second, value.microsecond]}
        if kind is dates.date:
            return {"Y": [value.year, value.month, value.day]}
        if kind is dates.timedelta:
            return {"L": [value.days, value.seconds, value.microseconds]}
        if kind is type and TYPES.get(value.__name__) is value:
            return {"k": value.__name__}
        if kind is types.ModuleType:
            return {"m": value.__name__}
        if kind.__module__ == "numpy":
            if kind.__name__ == "ndarray" and ARRAY.fullmatch(value.dtype.str):
                return {"n": [value.dtype.str, list(value.shape), value.tobytes().decode("latin-1")]}
            if hasattr(kind, "dtype") and hasattr(kind, "item"):
                return pack(value.item())
        return give(value)

    return pack


def array_of(dtype, shape, data):
    if not ARRAY.fullmatch(dtype):
        raise ValueError("no plain array")
    import numpy
    return numpy.frombuffer(data.encode("latin-1"), dtype).reshape(shape).copy()


def module_of(name):
    if not MODULE.fullmatch(name):
        raise ValueError("no module name")
    __import__(name)
    return sys.modules[name]


BUILDERS = {
    "t": tuple, "s": set, "f": frozenset, "d": dict,
    "b": lambda x: x.encode("latin-1"), "c": lambda x: complex(*x), "r": lambda x: range(*x),
    "D": decimal.Decimal, "F": lambda x: fractions.Fraction(*x), "n": lambda x: array_of(*x),
    "T": lambda x: dates.datetime(*x), "Y": lambda x: dates.date(*x),
    "L": lambda x: dates.timedelta(*x), "m": module_of,
    "k": TYPES.__getitem__,
}


def reader(take):
    """Make the function that reads a line; take finds or makes what is no data."""
    def build(pairs):
        if len(pairs) != 1:
            return take(dict(pairs))
        key, value = pairs[0]
        return BUILDERS[key](value)

    scan = json.JSONDecoder(object_pairs_hook=build).scan_once

    def read(line):
        value, end = scan(line, 0)
        if line[end:] != "\n":
            raise ValueError("more after the value")
        return value

    return read


def make_writer():
    """Write what packers make as JSON text, without the parts of json that look
    names up when called."""
    if json.encoder.c_make_encoder is None:
        return json.JSONEncoder(check_circular=False).encode
    chunks = json.encoder.c_make_encoder(
        None, str, json.encoder.encode_basestring_ascii, None, ":", ",", False, False, True)
    return lambda value, join="".join: join(chunks(value, 0))


TO_TEXT = make_writer()


class Channel:
    """One end of the socket between a program and its checker."""

    def __init__(self, fd, give, take):
        self.fd, self.file = fd, open(fd, "rb", closefd=False)
        self.pack, self.read = packer(give), reader(take)

    def send(self, *items):
        write_all(self.fd, TO_TEXT(items).encode("ascii") + b"\n")

    def receive(self):
        """The next message as text, "" at the end."""
        line = self.file.readline(LINE_LIMIT)
        if not line.endswith(b"\n"):
            return ""
        return line.decode("latin-1")


# The program's side.


class Objects:
    """What the program's side keeps for the checker, by number."""

    def __init__(self):
        self.kept, self.numbers = [], {}

    def give(self, value):
        number = self.numbers.setdefault(id(value), len(self.kept))
        if number == len(self.kept):
            self.kept.append(value)
        return {"o": number, "n": type(value).__name__}

    def take(self, mark):
        return self.kept[mark["o"]]


def perform(space, operation, target, arguments):
    """Do what the checker asks for."""
    if operation == "call":
        return target(*arguments[0], **arguments[1])
    if operation == "name":
        return space[target]
    if operation == "get":
        return getattr(target, *arguments)
    if operation == "set":
        return setattr(target, *arguments)
    if operation == "item":
        return target[arguments[0]]
    return {"iter": iter, "next": next, "len": len, "str": str, "repr": repr}[operation](target)


class Settings:
    """Interpreter limits: the program's while it runs, none while values travel."""

    def __init__(self):
        self.set_depth, self.get_depth = sys.setrecursionlimit, sys.getrecursionlimit
        self.set_digits, self.get_digits = sys.set_int_max_str_digits, sys.get_int_max_str_digits

    def lift(self):
        self.depth, self.digits = self.get_depth(), self.get_digits()
        self.set_depth(max(self.depth, 50_000))
        self.set_digits(0)

    def restore(self):
        self.set_depth(self.depth)
        self.set_digits(self.digits)


def answer(channel, space, line, settings):
    """What to answer to one question."""
    operation, target, *arguments = channel.read(line)
    before = None
    if operation == "call" and not PLAIN.issuperset(map(type, arguments[0])):
        before = channel.pack(arguments[0])
    settings.restore()
    try:
        value = perform(space, operation, target, arguments)
    finally:
        settings.lift()
    if value is None and before:
        after = channel.pack(arguments[0])
        if after != before:
            return ["m", after]
    return ["v", channel.pack(value)]


def why(error):
    """An exception as data: the names it can be caught by, and its message."""
    names = [kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins"]
    try:
        return ["e", names, str(error)]
    except BaseException:
        return ["e", names, ""]


def serve_calls(channel, space, settings):
    while True:
        line = channel.receive()
        if not line:
            return 0
        try:
            said = answer(channel, space, line, settings)
        except (SystemExit, KeyboardInterrupt):
            channel.send("end", "exit", "the program exited during a call")
            return 0
        except MemoryError:
            channel.send("end", "memory", "")
            return 1
        except BaseException as error:
            said = why(error)
        if sys.stdout is not None and not sys.stdout.closed:
            sys.stdout.flush()
        channel.send(*said)


def be_program(request, fds):
    """The process that holds the program: run it, then answer calls."""
    objects = Objects()
    link, payload, _ = enter(request, fds)
    channel = Channel(link, objects.give, objects.take)
    try:
        os.chdir(WORK)
        head, parts = read_payload(payload)
        open_stdio()
    except BaseException as error:
        channel.send("end", "infra", "the job could not be set up: %r" % error)
        exit_now(1)

    def report(kind, body=b""):
        channel.send("end", {b"c": "compile", b"m": "memory"}.get(kind, "error"), "")

    channel.send("v", None)  # from here on the program may say anything
    source, _ = place_files(head, parts)
    sys.argv = [MAIN] + head["args"]
    sys.path[0] = WORK
    main = new_module("__main__", head["prelude"] and head["main"])
    space = main if head["main"] else new_module("solution", head["prelude"])
    code = compiled(source, report)
    settings = Settings()
    sys.setrecursionlimit(50_000 if head["prelude"] else 1000)
    sys.set_int_max_str_digits(50_000 if head["prelude"] else 4300)
    gc.enable()
    try:
        exec(code, space)
    except SystemExit:
        channel.send("end", "exit", "the program exited before it was called")
        return 1
    except BaseException as error:
        message = "%s: %s" % (type(error).__name__, why(error)[2])
        status = die(error, report)
        channel.send("end", "error", message)
        return status
    settings.lift()
    channel.send("v", None)
    return serve_calls(channel, space, settings)


# The checker's side.


class Over(BaseException):
    """The check cannot go on: kind and message. No test code catches it."""


class Remote:
    """A value of the program's that is no data.

    It can be called and looked into, and answers come as data. It is equal only
    to itself and has no operators. Where the test code itself names a class, what
    comes of that class may need more than this: such a test is run again in one
    process.
    """

    def __init__(self, link, mark, classy):
        self.__dict__.update(_link=link, _mark={"o": mark["o"], "n": ""}, _kind=mark["n"], _classy=classy)

    def __call__(self, *args, **kwargs):
        return self._link.call(self, args, kwargs)

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__") and name != "__name__":
            raise AttributeError(name)
        return self._link.value(self._classy, "get", self._mark, name)

    def __setattr__(self, name, value):
        self._link.value(False, "set", self._mark, name, self._link.pack(value))

    def __iter__(self):
        walker = self._link.value(self._classy, "iter", self._mark)
        return iter(walker) if isinstance(walker, (list, tuple, str)) else walker

    def __next__(self):
        return self._link.value(self._classy, "next", self._mark)

    def __len__(self):
        return self._link.value(False, "len", self._mark)

    def __getitem__(self, key):
        return self._link.value(self._classy, "item", self._mark, self._link.pack(key))

    def __contains__(self, item):
        return any(item is x or item == x for x in self)

    def __str__(self):
        return self._link.value(False, "str", self._mark)

    def __repr__(self):
        return self._link.value(False, "repr", self._mark)

    def __bool__(self):
        return True

    def __hash__(self):
        return self._mark["o"]

    def __eq__(self, other):
        if isinstance(other, Remote) and other._mark == self._mark:
            return True
        return self._live("==") if self._classy or getattr(other, "_classy", False) else False

    def __instancecheck__(self, other):
        if self._classy:
            self._live("isinstance")
        return False

    def __mro_entries__(self, bases):
        self._live("a subclass")

    def _live(self, what, *_):
        if self._classy:
            self._link.end("live", "%s of %s needs live objects" % (what, self._kind))
        raise TypeError("the test uses %s of a %s, which is no data" % (what, self._kind))


for _name in ("lt le gt ge add radd sub rsub mul rmul truediv floordiv mod pow neg abs and or xor int "
              "float index enter exit").split():
    setattr(Remote, "__%s__" % _name, (lambda name: lambda self, *a: self._live(name))(_name))


ODD = (UnicodeDecodeError, UnicodeEncodeError, UnicodeTranslateError)  # want five arguments


class Link:
    """The checker's end of the socket."""

    def __init__(self, fd):
        self.calls, self.classy, self.over = 0, False, None
        self.ends = ("infra",)  # how the program may end; at first only by our fault
        self.channel = Channel(fd, self.give, self.take)
        self.pack = self.channel.pack

    def give(self, value):
        if type(value) is Remote:
            return value._mark
        self.end("live", "the test hands a %s to the program" % type(value).__name__)

    def take(self, mark):
        return Remote(self, {"o": int(mark["o"]), "n": str(mark["n"])[:60]}, self.classy)

    def end(self, kind, message):
        """Note that the check is over, even if the test code swallows that."""
        self.over = self.over or Over(kind, message)
        raise self.over

    def answer(self, classy):
        """What the program says next. Whatever it sends, this is data or an end."""
        line = self.channel.receive()
        if not line:
            self.end("exit", "the program ended before it answered")
        self.classy = classy
        try:
            kind, *rest = self.channel.read(line)
        except Exception as error:
            self.end("error", "the program's answer is no data (%s)" % type(error).__name__)
        if kind == "end":
            why = str(rest[0]) if rest else ""
            self.end(why if why in self.ends else "error", str(rest[1]) if len(rest) > 1 else "")
        return kind, rest[0] if rest else None, rest[1] if len(rest) > 1 else ""

    def ask(self, classy, *question):
        """The kind and the value of an answer that is no exception."""
        try:
            self.channel.send(*question)
        except OSError:
            self.end("exit", "the program ended before it was asked")
        kind, value, message = self.answer(classy)
        if kind == "e":
            self.reraise(value, str(message))
        return kind, value

    def value(self, classy, *question):
        return self.ask(classy, *question)[1]

    def reraise(self, names, message):
        """Raise the program's exception, or the nearest one that builtins have."""
        for name in map(str, names):
            kind = getattr(builtins, name, None)
            if isinstance(kind, type) and issubclass(kind, Exception) and kind not in ODD:
                error = kind(message)
                error.of_program = True
                raise error
        self.end("exit", "the program ended with %s" % message)

    def call(self, target, args, kwargs):
        self.calls += 1
        args = list(args)
        named = {"d": [[name, self.pack(x)] for name, x in kwargs.items()]}
        kind, value = self.ask(target._classy, "call", target._mark, self.pack(args), named)
        if kind != "m":
            return value
        settle(args, value)  # the call gave None and changed its arguments


def settle(old, new):
    """Make containers equal to their changed copies, in place, as a call in one
    process would have done."""
    for mine, theirs in zip(old, new):
        if type(mine) is list and type(theirs) is list:
            settle(mine, theirs)
            mine[:] = [m if type(m) is type(t) and isinstance(m, (list, dict, set)) else t
                       for m, t in zip(mine, theirs)] + theirs[len(mine):]
        elif type(mine) is dict and type(theirs) is dict or type(mine) is set and type(theirs) is set:
            mine.clear()
            mine.update(theirs)


class Space(dict):
    """The test code's globals: its own names, then builtins, then the program's.

    A builtin that the program redefines is the real one here, unless it is the
    entry point: asserts must not rest on the program's idea of abs or sorted.
    """

    def entry_point(self):
        try:
            return self.link.value(False, "name", self.entry)
        except KeyError:
            self.link.end("error", "the program does not define %s" % self.entry)

    def __missing__(self, name):
        if hasattr(builtins, name):
            return getattr(builtins, name)
        try:
            return self.link.value(name[:1].isupper() and name != self.entry, "name", name)
        except KeyError:
            error = NameError("name %r is not defined" % name)
            error.of_program = True
            raise error from None


def judged(error, source):
    """What an exception that ended the test code means."""
    if isinstance(error, Over):
        kind, message = error.args
        return {"passed": False, "kind": kind, "detail": message}
    line = ""
    for frame, number in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename == "<tests>":
            line = (source.splitlines() + [""] * number)[number - 1].strip()
    of_program = hasattr(error, "of_program")
    plain = isinstance(error, AssertionError) and not of_program and not str(error)
    said = "" if plain else "%s: %s" % (type(error).__name__, error)
    return {"passed": False, "kind": "error" if of_program else "assert",
            "detail": "; ".join(filter(None, [line, said]))[:2000]}


def run_tests(space, code, entry):
    """Run the test code, and the function check that HumanEval's tests define."""
    exec(code, space)
    check = dict.get(space, "check")
    if entry and isinstance(check, types.FunctionType) and check.__code__.co_filename == "<tests>":
        check(space[entry])


def guessed_entry(code):
    """The entry point of asserts on a function that is named like a builtin."""
    if code.co_names and all(hasattr(builtins, name) for name in code.co_names):
        return code.co_names[0]
    return ""


def verdict_of(link, source, head):
    """Wait for the program, run the tests on it, and say what came of it."""
    try:
        setup = compile(head["setup"], "<setup>", "exec", dont_inherit=True)
        code = compile(source, "<tests>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return {"passed": False, "kind": "task", "detail": "the tests do not compile: %s" % error}
    space = Space(__name__="tests", __builtins__=builtins)
    space.link, space.entry = link, head["entry"] or guessed_entry(code)
    try:
        link.answer(False)
        link.ends = "exit", "memory", "compile", "error"
        link.answer(False)
        exec(setup, space)
        if space.entry:
            space.pop(space.entry, None)
            space[space.entry] = space.entry_point()
        run_tests(space, code, head["entry"])
    except BaseException as error:
        return judged(link.over or error, source)
    if link.over:
        return judged(link.over, source)
    if not link.calls:
        return {"passed": False, "kind": "task", "detail": "the tests never call the program"}
    return {"passed": True, "kind": "", "detail": ""}


def be_checker(request, fds):
    """The process that holds the tests. Nothing that the program can write to is
    on its path, its working directory or its home."""
    if request["uid"]:
        request["uid"] = request["gid"] = request["checker"]
    result, payload, link = enter(request, fds)
    head, parts = read_payload(payload)
    report = make_report(result, head["token"])
    os.chdir("/")
    os.environ["HOME"] = os.environ["TMPDIR"] = "/"
    sys.path[:] = [path for path in sys.path[1:] if not path.startswith(tuple(SCRATCH))]
    open_stdio()
    new_module("__main__", False)
    sys.setrecursionlimit(10_000)
    verdict = verdict_of(Link(link), parts[0].decode(), head)
    sys.stdout.flush()
    sys.setrecursionlimit(50_000)
    kind = {"compile": b"c", "memory": b"m", "infra": b"i"}.get(verdict["kind"])
    if kind:
        report(kind, verdict["detail"].encode() if kind == b"i" else b"")
    else:
        report(b"v", TO_TEXT(verdict).encode("ascii"))
    exit_now(1 if kind else 0)


def check(request, fds):
    """Become a checker with a program as its child. Never returns."""
    tests, fds = fds[5], fds[:5]
    ours, theirs = socket.socketpair()
    ours, theirs = ours.detach(), theirs.detach()
    if request["dropcaps"]:
        hide(True)
    try:
        if os.fork() == 0:
            if request["dropcaps"]:
                hide(False)
            for fd in tests, fds[3], ours:
                os.close(fd)
            code = be_program(request, list(fds[:3]) + [theirs, fds[4]])
            finish(code)
        os.close(theirs)
        be_checker(request, list(fds[:4]) + [tests, ours])
    except BaseException:
        exit_now(1)


def hide(yes):
    """Close this process's memory and descriptors to others of the same uid."""
    import ctypes
    ctypes.CDLL(None).prctl(4, 0 if yes else 1, 0, 0, 0)


def check_here(entry, source, space):
    """Run the tests in the program's own process, where they need its objects.
    The verdict then proves that they came to their end, and no more."""
    try:
        run_tests(space, compile(source, "<tests>", "exec", dont_inherit=True), entry)
    except BaseException as error:
        return judged(error, source)
    return {"passed": True, "kind": "", "detail": ""}


main()
