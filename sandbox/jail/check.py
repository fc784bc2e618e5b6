# Judging by assertions, the second half of the lane program.
#
# The test code runs in a process of its own, the checker, under another uid. It
# reaches the program only by calls over a socket, and what comes back is data: a
# value is rebuilt from JSON, anything else becomes a Remote, which no operator of
# the program's can make equal to data. The checker alone knows the word that opens a
# report. It is forked before it has read either that or the tests, so that none
# of them is ever in the program's memory.
#
# Wire: one JSON value a line. Asked: [operation, target, arguments...]. Answered:
# ["v", value, ""] or, for an exception, ["e", names, message]; behind it, after a
# call, its arguments if that changed them (else null) and the number of the one
# that is the value; ["end", kind, message] when the program is over.

import ast
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
            fields = getattr(kind, "_fields", None)
            if type(fields) is tuple and len(fields) == tuple.__len__(value):
                return {"N": [kind.__name__, fields, [pack(x) for x in tuple.__iter__(value)]]}
            return {"t": [pack(x) for x in tuple.__iter__(value)]}
        if issubclass(kind, dict):
            return mapping(kind, [[pack(k), pack(x)] for k, x in dict.items(value)], value)
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
        if kind is bytes or kind is bytearray:
            return {"b" if kind is bytes else "B": value.decode("latin-1")}
        if kind is range:
            return {"r": [value.start, value.stop, value.step]}
        return rarer(kind, value)

    def mapping(kind, pairs, value):
        if kind is collections.Counter:
            return {"C": pairs}
        if kind is collections.OrderedDict:
            return {"O": pairs}
        if kind is collections.defaultdict:
            factory = value.default_factory
            known = type(factory) is type and TYPES.get(factory.__name__) is factory
            return {"e": [factory.__name__ if known else None, pairs]}
        return {"d": pairs}

    def rarer(kind, value):
        if kind is collections.deque:
            return {"q": [[pack(x) for x in value], value.maxlen]}
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
            if kind.__name__ != "ndarray" and hasattr(kind, "dtype") and hasattr(kind, "item"):
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
    module = sys.modules[name]
    if type(module) is not types.ModuleType or module.__name__ != name:
        raise ValueError("no plain module")
    return module


def type_of(name):
    if TYPES[name].__name__ != name:
        raise ValueError("another name of a type")
    return TYPES[name]


@functools.lru_cache(100)
def record(name, fields):
    return collections.namedtuple(name, fields)


BUILDERS = {
    "t": tuple, "s": set, "f": frozenset, "d": dict,
    "b": lambda x: x.encode("latin-1"), "c": lambda x: complex(*x), "r": lambda x: range(*x),
    "D": decimal.Decimal, "F": lambda x: fractions.Fraction(*x), "n": lambda x: array_of(*x),
    "T": lambda x: dates.datetime(*x), "Y": lambda x: dates.date(*x),
    "L": lambda x: dates.timedelta(*x), "m": module_of, "k": type_of,
    "B": lambda x: bytearray(x.encode("latin-1")), "C": lambda x: collections.Counter(dict(x)),
    "O": collections.OrderedDict, "q": lambda x: collections.deque(*x),
    "e": lambda x: collections.defaultdict(x[0] and type_of(x[0]), x[1]),
    "N": lambda x: record(x[0], tuple(x[1]))(*x[2]),
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


OPERATORS = {name: getattr(operator, name) for name in (
    "eq ne lt le gt ge add sub mul truediv floordiv mod pow matmul lshift rshift and_ or_ xor "
    "neg pos abs invert index getitem setitem delitem contains").split()}
OPERATORS.update(
    iter=iter, next=next, len=len, str=str, repr=repr, hash=hash, bool=bool, int=int, float=float,
    complex=complex, round=round, divmod=divmod, reversed=reversed, get=getattr, set=setattr,
    isinstance=isinstance, issubclass=issubclass,
    enter=lambda x: type(x).__enter__(x), exit=lambda x: type(x).__exit__(x, None, None, None))


def perform(space, operation, target, arguments):
    """Do what the checker asks for."""
    if operation == "call":
        return target(*arguments[0], **arguments[1])
    if operation == "name":
        return space[target]
    return OPERATORS[operation](target, *arguments)


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
    given = before = None
    if operation == "call":
        given = arguments[0] + list(arguments[1].values())
        if PLAIN.issuperset(map(type, given)):
            given = None
        else:
            before = channel.pack(given)
    settings.restore()
    try:
        value = perform(space, operation, target, arguments)
    except MemoryError:
        raise
    except Exception as error:
        settings.lift()
        said, same = why(error), None
    else:
        settings.lift()
        same = [n for n, x in enumerate(given or ()) if x is value and type(x) not in PLAIN]
        said = ["v", None if same else channel.pack(value), ""]
    if given:
        after = channel.pack(given)
        said += [after if after != before else None, same[0] if same else None]
    return said


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
            settings.lift()
            said = why(error)
        if sys.stdout is not None and not sys.stdout.closed:
            sys.stdout.flush()
        channel.send(*said)


def be_program(request, fds):
    """The process that holds the program: run it, then answer calls."""
    after_fork()
    objects = Objects()
    link, payload, _ = enter(request, fds)
    channel = Channel(link, objects.give, objects.take)
    try:
        os.chdir(WORK)
        head, parts = read_payload(payload)
        source, _ = place_files(head, parts)
    except BaseException as error:
        channel.send("end", "infra", "the job could not be set up: %r" % error)
        exit_now(1)

    def report(kind, body=b""):
        channel.send("end", {b"c": "compile", b"m": "memory"}.get(kind, "error"), "")

    channel.send("v", None)  # from here on the program may say anything
    sys.argv.extend(head["args"])
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
    # A value of the program's that is no data.
    #
    # It can be called and looked into, and answers come as data. The program is
    # asked about operators between its own objects, where the test code names
    # classes. It is never asked whether an object equals data: that would be to
    # tell it the right answer. For the same reason, what comes of an operator
    # with data on the other side (a told Remote) may be an object, no data.

    def __init__(self, link, mark, classy, told=False):
        self.__dict__.update(_link=link, _mark={"o": mark["o"], "n": ""}, _kind=mark["n"],
                             _classy=classy, _told=told)

    __doc__ = property(lambda self: self._ask("get", "__doc__"))

    def _ask(self, operation, *arguments):
        return self._link.value(self._classy, operation, self._mark, *arguments)

    def __call__(self, *args, **kwargs):
        return self._link.call(self, args, kwargs)

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__") and name != "__name__":
            raise AttributeError(name)
        return self._ask("get", name)

    def __setattr__(self, name, value):
        self._ask("set", name, self._link.pack(value))

    def __iter__(self):
        walker = self._ask("iter")
        return iter(walker) if isinstance(walker, (list, tuple, str)) else walker

    def __next__(self):
        return self._ask("next")

    def __reversed__(self):
        return self._ask("reversed")

    def __len__(self):
        return self._ask("len")

    def __getitem__(self, key):
        return self._ask("getitem", self._link.pack(key))

    def __setitem__(self, key, value):
        self._ask("setitem", self._link.pack(key), self._link.pack(value))

    def __delitem__(self, key):
        self._ask("delitem", self._link.pack(key))

    def __contains__(self, item):
        if self._classy:
            return self._ask("contains", self._link.pack(item))
        return any(item is x or item == x for x in self)

    def __str__(self):
        return self._ask("str")

    def __repr__(self):
        return self._ask("repr")

    def __bool__(self):
        return self._ask("bool") if self._classy and not self._told else True

    def __hash__(self):
        return self._ask("hash") if self._classy else self._mark["o"]

    def _meets(self, other):
        """Whether the program is asked about an operator with other."""
        return type(other) is Remote and (self._classy or other._classy)

    def __eq__(self, other):
        if type(other) is Remote and other._mark == self._mark:
            return True
        return self._ask("eq", other._mark) if self._meets(other) else False

    def __ne__(self, other):
        return self._ask("ne", other._mark) if self._meets(other) else not self == other

    def __instancecheck__(self, other):
        return type(other) is Remote and self._ask_of("isinstance", other)

    def __subclasscheck__(self, other):
        return type(other) is Remote and self._ask_of("issubclass", other)

    def _ask_of(self, operation, other):
        return self._link.value(False, operation, other._mark, self._mark) is True

    def __mro_entries__(self, bases):
        self._link.end("live", "a subclass of %s needs it in the same process" % self._kind)

    def __enter__(self):
        return self._ask("enter")

    def __exit__(self, kind, *_):
        if kind is not None:
            self._link.end("live", "an exception goes to %s" % self._kind)
        return self._ask("exit")

    def _order(self, name, other):
        if not self._meets(other):
            self._refuse(name, other)
        return self._ask(name, other._mark)

    def _binary(self, name, other, swapped=False):
        told = type(other) is not Remote
        if not (self._classy if told else self._meets(other)):
            self._refuse(name, other)
        sides = [self._mark, self._link.pack(other)]
        if swapped:
            sides.reverse()
        return self._object(self._link.value(True, name, *sides), told, name)

    def _unary(self, name, *arguments):
        if not self._classy:
            self._refuse(name, self)
        return self._object(self._ask(name, *arguments), self._told, name)

    def _object(self, value, told, name):
        if told and type(value) is not Remote:
            self._refuse(name, value)
        if told:
            value.__dict__["_told"] = True
        return value

    def _refuse(self, name, other):
        raise TypeError("the test uses %s of a %s, which is no data" % (name, self._kind))


def give_operators():
    """Let Remotes have the operators that classes may have."""
    def binary(name, swapped=False):
        return lambda self, other: self._binary(name, other, swapped)

    for name in "add sub mul truediv floordiv mod pow matmul lshift rshift and_ or_ xor divmod".split():
        setattr(Remote, "__%s__" % name.rstrip("_"), binary(name))
        setattr(Remote, "__r%s__" % name.rstrip("_"), binary(name, True))
    for name in "lt le gt ge".split():
        setattr(Remote, "__%s__" % name, lambda self, other, name=name: self._order(name, other))
    for name in "neg pos abs invert index int float complex round".split():
        setattr(Remote, "__%s__" % name, lambda self, *a, name=name: self._unary(name, *a))


give_operators()
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
        value, message, after, same = (rest + [None] * 4)[:4]
        if kind == "end":
            self.end(value if value in self.ends else "error", str(message or ""))
        return kind, value, str(message or ""), after, same

    def ask(self, classy, *question):
        """What the program says to a question."""
        try:
            self.channel.send(*question)
        except OSError:
            self.end("exit", "the program ended before it was asked")
        return self.answer(classy)

    def value(self, classy, *question):
        kind, value, message, *_ = self.ask(classy, *question)
        if kind == "e":
            self.reraise(value, message)
        return value

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
        given = list(args) + list(kwargs.values())
        named = {"d": [[name, self.pack(x)] for name, x in kwargs.items()]}
        kind, value, message, after, same = self.ask(
            target._classy, "call", target._mark, self.pack(list(args)), named)
        if type(after) is list:
            for mine, theirs in zip(given, after):
                settle(mine, theirs)
        if kind == "e":
            self.reraise(value, message)
        return given[same] if type(same) is int and 0 <= same < len(given) else value


def settle(mine, theirs):
    """Make a container equal to its changed copy, in place, as a call in one
    process would have done; return what now stands for it."""
    kind = type(theirs)
    if isinstance(mine, list) and kind is list:
        mine[:] = [settle(m, t) for m, t in zip(mine, theirs)] + theirs[len(mine):]
    elif isinstance(mine, dict) and issubclass(kind, dict):
        new = [(key, settle(mine[key], x) if key in mine else x) for key, x in theirs.items()]
        mine.clear()
        mine.update(new)
    elif isinstance(mine, set) and kind is set:
        mine.clear()
        mine.update(theirs)
    elif isinstance(mine, tuple) and isinstance(theirs, tuple) and len(mine) == len(theirs):
        changed = [settle(m, t) for m, t in zip(mine, theirs)]
        return mine if all(c is m for c, m in zip(changed, mine)) else theirs
    elif isinstance(mine, collections.deque) and kind is collections.deque:
        mine.clear()
        mine.extend(theirs)
    elif isinstance(mine, bytearray) and kind is bytearray:
        mine[:] = theirs
    elif type(mine).__name__ == kind.__name__ == "ndarray" and mine.shape == theirs.shape:
        mine[...] = theirs
    else:
        return theirs
    return mine


PATCHES = frozenset("redirect_stdout redirect_stderr stdin stdout builtins asyncio patch monkeypatch".split())


def patched(code):
    """A name in test code that says that it changes what the program runs in, or
    runs it in a loop of its own; "" if there is none."""
    for name in code.co_names:
        if name in PATCHES:
            return name
    return next(filter(None, map(patched, (c for c in code.co_consts if type(c) is types.CodeType))), "")


class Uses:
    """How test code uses names: those it looks into, with what for, and those of
    exceptions that it expects."""

    def __init__(self, source):
        self.looked, self.expected = {}, set()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                self.looked.setdefault(node.value.id, set()).add(node.attr)
            elif isinstance(node, ast.ExceptHandler) and node.type:
                self.expect(node.type)
            elif isinstance(node, ast.Call) and node.args:
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                if name in ("raises", "assertRaises", "assertRaisesRegex"):
                    self.expect(node.args[0])

    def expect(self, node):
        self.expected.update(x.id for x in ast.walk(node) if isinstance(x, ast.Name))

    def module(self, name):
        """The module that the test code means by a name, None if there is none."""
        wanted = self.looked.get(name)
        name = ALIASES.get(name, name)
        if not wanted or name not in MODULES:
            return None
        module = __import__(name)  # where it is not, the program cannot have it either
        return module if all(hasattr(module, x) for x in wanted) else None


ALIASES = {"np": "numpy", "pd": "pandas"}
MODULES = frozenset(getattr(sys, "stdlib_module_names", sys.modules)) | {"numpy", "pandas"}


class Space(dict):
    """The test code's globals: its own names, then builtins, then the program's.

    A builtin that the program redefines is the real one here, unless it is the
    entry point: asserts must not rest on the program's idea of abs or sorted. So
    it is with a module that the test code looks into.
    """

    uses = None

    def named(self, name):
        return self.link.value(name[:1].isupper(), "name", name)

    def entry_point(self):
        try:
            return self.named(self.entry)
        except KeyError:
            self.link.end("error", "the program does not define %s" % self.entry)

    def __missing__(self, name):
        if hasattr(builtins, name):
            return getattr(builtins, name)
        try:
            value = self.named(name)
        except KeyError:
            error = NameError("name %r is not defined" % name)
            error.of_program = True
            raise error from None
        return self.meant(name, value) if type(value) is Remote else value

    def meant(self, name, value):
        """What the test code means by a name that the program has an object for."""
        self.uses = self.uses or Uses(self.source)
        if name in self.uses.expected:
            self.link.end("live", "the test expects the exception %s" % name)
        return self.uses.module(name) or value


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
    space.link, space.entry, space.source = link, head["entry"] or guessed_entry(code), source
    try:
        link.answer(False)
        link.ends = "exit", "memory", "compile", "error"
        link.answer(False)
        exec(setup, space)
        if patched(code):
            link.end("live", "the test uses %s" % patched(code))
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


def writable(path):
    """Whether a program may have put something below a path."""
    mounts = [place for place, mount in FIXTURES.items() if mount]
    below = lambda places: any((path + "/").startswith(place + "/") for place in places)
    return below(SCRATCH) and not below(mounts)


def be_checker(request, fds):
    """The process that holds the tests. Nothing that the program can write to is
    on its path, its working directory or its home."""
    after_fork()
    if request["uid"]:
        request["uid"] = request["gid"] = request["checker"]
    result, payload, link = enter(request, fds)
    head, parts = read_payload(payload)
    report = make_report(result, head["token"])
    os.chdir("/")
    os.environ["HOME"] = os.environ["TMPDIR"] = "/"
    sys.path[:] = [path for path in sys.path[1:] if not writable(path)]
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
