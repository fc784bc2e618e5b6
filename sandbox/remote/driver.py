"""Runs a program with what ScaleBox's API has no words for.

This text is sent before a last line that calls start. It is for services that
know nothing of cr; there it is as near to the lane program of cr's own sandbox
as one process can be: the program's source is compiled as it is, so its
__future__ imports and line numbers hold, and runs in a module of its own.
"""
import json
import os
import sys
import traceback
import types

FILE = "main.py"


def prelude(space):
    """LiveCodeBench's import string, in its order, and its limits."""
    stars = ("string re datetime collections heapq bisect copy math random statistics "
             "itertools functools operator io sys json builtins typing").split()
    lines = ["from %s import *" % name for name in stars]
    lines += ["import " + name for name in stars if name not in ("builtins", "typing")]
    exec("\n".join(lines), space)
    try:
        import resource
        hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
        resource.setrlimit(resource.RLIMIT_STACK, (1 << 30 if hard < 0 else min(hard, 1 << 30), hard))
    except (ImportError, ValueError, OSError):
        pass  # deep recursion then ends sooner
    sys.setrecursionlimit(50_000)


def digits(limit):
    """Limit the digits of integers as text, where Python has such a limit."""
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(limit)


def make_encoder():
    """Encode a value as the sandbox does: subclasses as their base, NumPy scalars
    as numbers, keys of objects as strings only."""
    from operator import index

    def default(value):
        kind = type(value)
        if kind.__module__ == "numpy" and kind.__name__ in ("bool_", "bool"):
            return True if value else False
        if hasattr(kind, "__index__"):
            return index(value)
        raise TypeError("the returned value holds a %s, which is not JSON" % kind.__name__)

    def check_keys(value):
        if isinstance(value, dict):
            for key, item in dict.items(value):
                if not isinstance(key, str):
                    raise TypeError("the returned dict has a %s key, which is not JSON" % type(key).__name__)
                check_keys(item)
        elif isinstance(value, (list, tuple)):
            for item in value:
                check_keys(item)

    encode = json.JSONEncoder(check_circular=False, default=default).encode

    def encoded(value):
        digits(0)
        sys.setrecursionlimit(50_000)
        text = encode(value)
        if "{" in text:
            check_keys(value)
        return text

    return encoded


def make_report(nonce):
    """Write one line that begins with the nonce, past whatever the program does
    to its own streams."""
    out, write = os.dup(1), os.write

    def report(kind, text):
        flush()
        view = memoryview(("\n" + nonce + kind + text + "\n").encode("ascii"))
        while view:
            view = view[write(out, view):]

    return report


def flush():
    try:
        sys.stdout.flush()
    except BaseException:
        pass  # the program closed it


def show(error):
    """Print an exception without the frames of this text, and end."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    error.__traceback__ = trace
    if sys.excepthook is sys.__excepthook__:
        traceback.print_exception(type(error), error, trace)
    else:
        sys.excepthook(type(error), error, trace)
    sys.exit(1)


def written(encode, value):
    """The value as JSON; what stands against it is no fault with a place in the
    program."""
    try:
        return encode(value)
    except BaseException as error:
        error.__traceback__ = None
        show(error)


def new_module(name):
    module = types.ModuleType(name)
    module.__dict__.update(__file__=FILE, __builtins__=__builtins__, __cached__=None)
    sys.modules[name] = module
    return module.__dict__


def arguments_of(target, report):
    try:
        return [json.loads(text) for text in target["args"]]
    except ValueError as error:
        report("i", ascii(error))
        sys.exit(1)


def call(space, target, arguments):
    owner = space[target["class"]]() if target["class"] else None
    method = getattr(owner, target["method"]) if owner is not None else space[target["method"]]
    return method(*arguments)


def start(source, argv, with_prelude, long_integers, called):
    """Run the program. A call comes in the first line of the standard input, since
    the program could read this text."""
    sys.argv[:] = [FILE] + argv
    target = json.loads(sys.stdin.buffer.readline()) if called else None
    space = new_module("__main__")
    if target:
        digits(0)
        report, encode = make_report(target["nonce"]), make_encoder()
        arguments = arguments_of(target, report)
        space = new_module("solution")
    try:
        code = compile(source, FILE, "exec", dont_inherit=True)
    except BaseException as error:
        error.__traceback__ = None
        show(error)
    name = space["__name__"]
    if with_prelude:
        prelude(space)
        space["__name__"] = name
    digits(50_000 if with_prelude or long_integers else 4300)
    import linecache
    linecache.cache[FILE] = len(source), None, source.splitlines(True), FILE
    try:
        exec(code, space)
        value = call(space, target, arguments) if target else None
    except SystemExit as error:
        if target:
            print("the program exited before its call returned a value", file=sys.stderr)
            sys.exit(error.code or 1)
        raise
    except BaseException as error:
        show(error)
    if target:
        report("v", written(encode, value))
