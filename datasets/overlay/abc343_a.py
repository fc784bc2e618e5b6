"""abc343_a: any digit other than A + B is right."""

import sys


def accepts(given, output):
    a, b = map(int, given.split())
    tokens = output.split()
    return len(tokens) == 1 and tokens[0] in set("0123456789") - {str(a + b)}


given, output = (open(path, encoding="utf-8", errors="replace").read() for path in sys.argv[1:3])
sys.exit(0 if accepts(given, output) else 1)
