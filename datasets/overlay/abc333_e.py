"""abc333_e: the least K is unique, the actions are not. They are played through:
every monster must find its potion, and K must be the most potions held. Of the
expected output only K counts: one stored list of actions loses the fight."""

import collections
import sys


def most_held(events, actions):
    """The most potions held at once, or None when a monster wins."""
    held = collections.Counter()
    now = most = 0
    actions = iter(actions)
    for kind, potion in events:
        if kind == 2:
            if not held[potion]:
                return None
            held[potion] -= 1
            now -= 1
        elif next(actions) == "1":
            held[potion] += 1
            now += 1
            most = max(most, now)
    return most


def accepts(given, output, expected):
    numbers = list(map(int, given.split()))
    events = list(zip(numbers[1::2], numbers[2::2]))
    tokens, least = output.split(), expected.split()[0]
    if not tokens or tokens[0] != least:
        return False
    if least == "-1":
        return len(tokens) == 1
    actions = tokens[1:]
    if len(actions) != sum(kind == 1 for kind, _ in events) or not set(actions) <= {"0", "1"}:
        return False
    return most_held(events, actions) == int(least)


files = (open(path, encoding="utf-8", errors="replace").read() for path in sys.argv[1:4])
sys.exit(0 if accepts(*files) else 1)
