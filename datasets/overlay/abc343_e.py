"""abc343_e: any three cubes of edge 7, with corners from -100 to 100, whose
volumes inside exactly one, two and three cubes are the given ones."""

import sys

EDGE = 7


def common(*cubes):
    """The volume that all the cubes share."""
    volume = 1
    for corners in zip(*cubes):
        volume *= max(0, min(corners) + EDGE - max(corners))
    return volume


def volumes(a, b, c):
    three = common(a, b, c)
    two = common(a, b) + common(b, c) + common(a, c) - 3 * three
    return [3 * EDGE**3 - 2 * two - 3 * three, two, three]


def accepts(given, output, expected):
    tokens = output.split()
    if not tokens:
        return False
    if expected.split()[0] == "No":
        return tokens == ["No"]
    if tokens[0] != "Yes" or len(tokens) != 10:
        return False
    try:
        at = list(map(int, tokens[1:]))
    except ValueError:
        return False
    if any(abs(x) > 100 for x in at):
        return False
    return volumes(at[0:3], at[3:6], at[6:9]) == list(map(int, given.split()))


files = (open(path, encoding="utf-8", errors="replace").read() for path in sys.argv[1:4])
sys.exit(0 if accepts(*files) else 1)
