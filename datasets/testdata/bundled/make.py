"""Writes ../../bundled/problems.jsonl, the problems shipped inside cr.

Expected outputs come from the small functions here, which are written for
plainness and share nothing with the reference solutions beside this file: those
must pass, and the wrong ones fail, in a test."""

import collections
import itertools
import json
import os
import random

rng = random.Random(20)
PROBLEMS = []


def cases(tests, kind):
    return json.dumps([{"input": i, "output": o, "testtype": kind} for i, o in tests], ensure_ascii=False)


def problem(key, title, difficulty, text, tests, method="", starter="", **extra):
    number = len(PROBLEMS) + 1
    assert len(tests) >= 6 and len({i for i, _ in tests}) == len(tests), key
    kind = "functional" if method else "stdin"
    examples = "".join(
        f"\n\nExample {n}\n\nInput:\n\n{i.rstrip()}\n\nOutput:\n\n{o.rstrip()}" for n, (i, o) in enumerate(tests[:2], 1))
    PROBLEMS.append({
        "question_title": title,
        "question_content": text.strip() + examples,
        "platform": "bundled",
        "question_id": f"b{number:02}_{key}",
        "contest_id": f"bundled-{(number + 4) // 5}",
        "contest_date": f"2025-{(number + 4) // 5:02}-01T00:00:00",
        "starter_code": starter,
        "difficulty": difficulty,
        "public_test_cases": cases(tests[:2], kind),
        "private_test_cases": cases(tests[2:], kind),
        "metadata": json.dumps({"func_name": method} if method else {}),
        **extra,
    })


def stdin(inputs, solve):
    return [(text, solve(text)) for text in inputs]


def calls(arguments, solve):
    return [("\n".join(json.dumps(a) for a in args), json.dumps(solve(*args))) for args in arguments]


def method(signature):
    return f"class Solution:\n    def {signature}:\n        "


def numbers(n, low, high):
    return [rng.randint(low, high) for _ in range(n)]


def listed(values):
    return f"{len(values)}\n{' '.join(map(str, values))}\n"


# Trivial: one idea, one line.

problem("sum", "Sum of Two", "easy", """
You are given two integers a and b on one line, separated by a space. Print their sum.

Both lie between -1000000000 and 1000000000.""",
        stdin(["3 4\n", "10 -2\n", "0 0\n", "-5 -6\n", "1000000000 1000000000\n", "123 877\n", "-1000000000 1\n"],
              lambda s: f"{sum(int(x) for x in s.split())}\n"))

problem("reverse", "Backwards", "easy", """
You are given one word of lower-case letters. Print it written backwards.

The word has between 1 and 100 letters.""",
        stdin(["apple\n", "no\n", "a\n", "level\n", "abcdefghijklmnopqrstuvwxyz\n", "zzzy\n", "sandbox\n"],
              lambda s: "".join(s[k] for k in range(len(s) - 2, -1, -1)) + "\n"))

problem("largest", "The Largest", "easy", """
The first line holds an integer n, the second n integers separated by spaces. Print the largest of them.

1 ≤ n ≤ 1000. Every integer lies between -1000000 and 1000000.""",
        stdin([listed(v) for v in ([3, 9, 2], [5], [-7, -3, -9], [0, 0, 0, 0], [10, 9, 100, 20], [-1000000],
                                   numbers(1000, -1000000, 1000000))],
              lambda s: f"{sorted(map(int, s.split()[1:]))[-1]}\n"))

problem("vowels", "Counting Vowels", "easy", """
You are given one line of text. Print how many of its characters are vowels: a, e, i, o or u, in lower or in upper case.

The line has between 1 and 200 characters.""",
        stdin(["hello world\n", "AEIOU and y\n", "rhythm\n", "a\n", "Queueing is Odd, is it not?\n", "xyz XYZ\n", "oOoOoO uU\n"],
              lambda s: f"{len([c for c in s.lower() if c in 'aeiou'])}\n"))

problem("parity", "Even or Odd", "easy", """
You are given one integer n. Print `even` if it is even, and `odd` otherwise.

n lies between -1000000000 and 1000000000.""",
        stdin(["4\n", "7\n", "0\n", "-3\n", "-8\n", "1000000000\n", "999999999\n"],
              lambda s: "odd\n" if s.strip()[-1] in "13579" else "even\n"))

problem("double", "Twice as Much", "easy", """
Return twice the number n.

n is an integer between -10^18 and 10^18.""",
        calls([[4], [-3], [0], [1], [10**18], [-(10**18)], [499]], lambda n: n + n),
        "double", method("double(self, n: int) -> int"))

problem("countdown", "Countdown", "easy", """
You are given an integer n. Print the numbers from n down to 1, one on each line, and then the word `go` on a line of its own.

1 ≤ n ≤ 50.""",
        stdin(["3\n", "1\n", "2\n", "10\n", "50\n", "17\n"],
              lambda s: "".join(f"{k}\n" for k in reversed(range(1, int(s) + 1))) + "go\n"))

problem("initials", "Initials", "easy", """
You are given a name: words separated by single spaces. Return its initials: the first letter of every word, in upper case, each followed by a full stop.

The name has between 1 and 10 words of letters.""",
        calls([["ada lovelace"], ["Alan Mathison Turing"], ["plato"], ["x"], ["johann sebastian bach"],
               ["a b c d e f g h i j"], ["GRACE hopper"]],
              lambda name: "".join(w[0].upper() + "." for w in name.split(" "))),
        "initials", method("initials(self, name: str) -> str"))

problem("positive", "Only the Positive", "easy", """
Return the sum of those numbers in the list that are greater than zero. Without such a number the sum is 0.

The list holds up to 1000 integers between -1000000 and 1000000.""",
        calls([[[1, -4, 7]], [[-2, -3]], [[]], [[0, 0, 5]], [[1000000] * 50], [[-1, 1, -1, 1]], [numbers(100, -1000, 1000)]],
              lambda v: sum(max(x, 0) for x in v)),
        "positiveSum", method("positiveSum(self, nums: List[int]) -> int"))

# Easy: a loop, a map, a stack.

PAIR_CHECKER = '''import sys

given, output, expected = (open(path, encoding="utf-8", errors="replace").read() for path in sys.argv[1:])
n, target, *values = map(int, given.split())
answer = output.split()
if expected.split() == ["none"]:
    sys.exit(0 if answer == ["none"] else 1)
if len(answer) != 2 or not all(t.isascii() and t.isdigit() and len(t) < 10 for t in answer):
    sys.exit("two positions are wanted")
i, j = map(int, answer)
if not 1 <= i < j <= n:
    sys.exit("the positions must rise and lie between 1 and n")
if values[i - 1] + values[j - 1] != target:
    sys.exit("the two values do not add up to the target")
'''


def pair(text):
    n, target, *values = map(int, text.split())
    for (i, a), (j, b) in itertools.combinations(enumerate(values, 1), 2):
        if a + b == target:
            return f"{i} {j}\n"
    return "none\n"


def pair_input(values, target):
    return f"{len(values)} {target}\n{' '.join(map(str, values))}\n"


problem("pair", "A Pair That Adds Up", "easy", """
The first line holds two integers n and t, the second n integers. Find two of them, at different positions i < j (counted from 1), whose sum is t, and print i and j separated by a space. If several pairs will do, print any one of them. If there is none, print `none`.

1 ≤ n ≤ 2000. The other integers lie between -1000000 and 1000000.""",
        stdin([pair_input([1, 5, 3, 7], 8), pair_input([1, 2, 4], 9), pair_input([4], 8), pair_input([4, 4], 8),
               pair_input([2, 2, 2, 2, 2], 4), pair_input([-3, 10, 0, 3, 5], 0), pair_input([6, 1, 2], 12),
               pair_input(numbers(2000, 0, 1000), 1000)], pair),
        checker={"mode": "program", "language": "python", "code": PAIR_CHECKER})

problem("words", "Word Count", "easy", """
Return a dictionary that gives for every word of the text how often it occurs. Words are separated by one or more spaces; upper and lower case are the same, and the keys are in lower case.

The text has up to 500 characters: letters and spaces.""",
        calls([["the cat and the dog"], ["Go go GO"], [""], ["   "], ["one"], [" two  spaces   here "], ["a b a B c C a"]],
              lambda text: dict(sorted(collections.Counter(text.lower().split()).items()))),
        "wordCount", method("wordCount(self, text: str) -> Dict[str, int]"))


def balanced(s):
    previous = None
    while s != previous:
        previous = s
        for two in ("()", "[]", "{}"):
            s = s.replace(two, "")
    return not s


problem("brackets", "Brackets", "easy", """
The first line holds an integer t, the number of strings. Each of the next t lines holds one string of the characters ( ) [ ] { }. For each string print `yes` if the brackets match and nest properly, and `no` otherwise.

1 ≤ t ≤ 100. A string has between 1 and 1000 characters.""",
        stdin([f"{len(v)}\n" + "".join(x + "\n" for x in v) for v in (
            ["()[]", "(]"], ["(", "{[()]}"], [")("], ["([)]", "((()))", "]["], ["(" * 500 + ")" * 500, "[" * 999],
            ["".join(rng.choice("()[]{}") for _ in range(4)) for _ in range(60)] + ["{}" * 20])],
              lambda s: "".join("yes\n" if balanced(x) else "no\n" for x in s.split()[1:])))

problem("average", "Running Average", "easy", """
The first line holds an integer n, the second n integers. For every k from 1 to n print the average of the first k integers on a line of its own.

1 ≤ n ≤ 1000. The integers lie between -1000000 and 1000000. Your answer is right if each number is within 0.000001 of the true one, absolutely or relatively.""",
        stdin([listed(v) for v in ([1, 2, 4], [5], [0, 1], [-3, 3, -3, 3], [1000000, 999999, 1000000], numbers(40, -50, 50))],
              lambda s: "".join(f"{sum(v) / len(v):.9f}\n" for v in
                                (list(map(int, s.split()[1:]))[:k] for k in range(1, int(s.split()[0]) + 1)))),
        checker={"mode": "rel_or_abs", "eps": 1e-6})


def longest_run(s):
    return max(([c, len(list(group))] for c, group in itertools.groupby(s)), key=lambda run: run[1])


problem("run", "The Longest Run", "easy", """
A run is a stretch of equal characters side by side. Return the character of the longest run in s and its length, as a list of two. If several runs are the longest, take the first.

s has between 1 and 1000 lower-case letters.""",
        calls([["aabbbc"], ["abc"], ["z"], ["aabb"], ["abbccc"], ["x" * 1000], ["aaabaaaa"], ["abab" * 20 + "ccdd"]], longest_run),
        "longestRun", method("longestRun(self, s: str) -> List"))

# Medium: recursion, graphs, greedy choices, two pointers.


def stairs(n):
    ways = [1, 1, 2]
    while len(ways) <= n:
        ways.append(ways[-1] + ways[-2] + ways[-3])
    return ways[n]


problem("stairs", "Stairs", "medium", """
A staircase has n steps. You climb it taking 1, 2 or 3 steps at a time. Return in how many ways you can reach the top: two ways differ if their sequences of steps differ. The number can be large; return it exactly.

1 ≤ n ≤ 300.""",
        calls([[3], [4], [1], [2], [5], [30], [90], [300]], stairs),
        "countWays", method("countWays(self, n: int) -> int"))


def islands(text):
    h, w, *rows = text.split()
    land = {(r, c) for r in range(int(h)) for c in range(int(w)) if rows[r][c] == "#"}
    found = 0
    while land:
        found += 1
        todo = [land.pop()]
        while todo:
            r, c = todo.pop()
            near = {(r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)} & land
            land -= near
            todo += near
    return f"{found}\n"


def grid(rows):
    return f"{len(rows)} {len(rows[0])}\n" + "".join(row + "\n" for row in rows)


snake = ["#" * 60 if r % 2 == 0 else ("." * 59 + "#" if r % 4 == 1 else "#" + "." * 59) for r in range(60)]
problem("islands", "Islands", "medium", """
The first line holds two integers h and w. Each of the next h lines holds w characters: `#` is land, `.` is water. Land squares belong to the same island if they share a side, or are joined through squares that do. Print the number of islands.

1 ≤ h, w ≤ 100.""",
        stdin([grid(g) for g in (["##.", "..#", "#.#"], ["#.#", ".#.", "#.#"], ["."], ["#"], ["#####"], snake, ["#" * 100] * 100,
                                 ["".join(rng.choice("#..") for _ in range(40)) for _ in range(30)])], islands))


def meetings(intervals):
    best, free = 0, 0
    for end, start in sorted((e, s) for s, e in intervals):
        if start >= free:
            best, free = best + 1, end
    return best


def brute_meetings(intervals):
    for size in range(len(intervals), 0, -1):
        for chosen in itertools.combinations(sorted(intervals), size):
            if all(a[1] <= b[0] for a, b in zip(chosen, chosen[1:])):
                return size
    return 0


def random_meetings(n, span):
    return [[s, s + rng.randint(1, 9)] for s in numbers(n, 0, span)]


for _ in range(200):
    few = random_meetings(rng.randint(0, 7), 15)
    assert meetings(few) == brute_meetings(few), few

problem("meetings", "One Room", "medium", """
Each meeting is a pair [start, end] with start < end. There is one room; a meeting may begin at the moment another one ends. Return the greatest number of meetings that the room can hold.

There are up to 1000 meetings; times lie between 0 and 1000000.""",
        calls([[[[1, 3], [2, 4], [3, 5]]], [[[0, 10], [1, 2], [3, 4]]], [[]], [[[5, 6]]], [[[1, 2], [1, 2], [1, 2]]],
               [[[4, 6], [1, 5], [5, 9]]], [random_meetings(60, 100)], [random_meetings(300, 1000)]], meetings),
        "maxMeetings", method("maxMeetings(self, meetings: List[List[int]]) -> int"))

ORDER_CHECKER = '''import sys

given, output, expected = (open(path, encoding="utf-8", errors="replace").read() for path in sys.argv[1:])
n, m, *ends = map(int, given.split())
answer = output.split()
if expected.split() == ["impossible"]:
    sys.exit(0 if answer == ["impossible"] else 1)
if sorted(answer) != sorted(map(str, range(1, n + 1))):
    sys.exit("every task must stand there once")
place = {int(task): at for at, task in enumerate(answer)}
for a, b in zip(ends[::2], ends[1::2]):
    if place[a] > place[b]:
        sys.exit("task %d must come before task %d" % (a, b))
'''


def order(text):
    n, m, *ends = map(int, text.split())
    before = collections.defaultdict(set)
    for a, b in zip(ends[::2], ends[1::2]):
        before[b].add(a)
    done = []
    while len(done) < n:
        ready = [x for x in range(1, n + 1) if x not in done and before[x] <= set(done)]
        if not ready:
            return "impossible\n"
        done += ready
    return " ".join(map(str, done)) + "\n"


def tasks(n, edges):
    return f"{n} {len(edges)}\n" + "".join(f"{a} {b}\n" for a, b in edges)


def acyclic(n, m):
    names = rng.sample(range(1, n + 1), n)
    return [(names[i], names[j]) for i, j in (sorted(rng.sample(range(n), 2)) for _ in range(m))]


problem("order", "In Good Order", "medium", """
There are n tasks, numbered from 1 to n, and m rules. The first line holds n and m; each of the next m lines holds two different integers a and b: task a must be done before task b. Print an order in which all the tasks can be done, as n numbers separated by spaces. If several orders will do, print any one of them. If there is none, print `impossible`.

1 ≤ n ≤ 200, 0 ≤ m ≤ 1000.""",
        stdin([tasks(3, [(3, 1), (1, 2)]), tasks(2, [(1, 2), (2, 1)]), tasks(1, []), tasks(4, []), tasks(4, [(4, 3), (3, 2), (2, 1)]),
               tasks(5, [(1, 2), (2, 3), (3, 1), (4, 5)]), tasks(60, acyclic(60, 200)), tasks(200, acyclic(200, 1000))], order),
        checker={"mode": "program", "language": "python", "code": ORDER_CHECKER})


def cheapest(n, roads, start, goal):
    cost = [float("inf")] * n
    cost[start] = 0
    for _ in range(n):
        for a, b, toll in roads:
            cost[b] = min(cost[b], cost[a] + toll)
            cost[a] = min(cost[a], cost[b] + toll)
    return cost[goal] if cost[goal] < float("inf") else -1


def random_roads(n, m):
    return [[*rng.sample(range(n), 2), rng.randint(1, 100)] for _ in range(m)]


problem("tolls", "The Cheapest Way", "medium", """
There are n towns, numbered from 0 to n-1. Each road [a, b, toll] joins two towns and may be used in both directions for its toll. Return the least sum of tolls on a way from start to goal, or -1 if there is no way.

1 ≤ n ≤ 200. There are up to 2000 roads with tolls between 0 and 1000.""",
        calls([[3, [[0, 1, 4], [1, 2, 3], [0, 2, 9]], 0, 2], [3, [[0, 1, 5]], 0, 2], [1, [], 0, 0],
               [4, [[3, 2, 1], [2, 1, 1], [1, 0, 1]], 0, 3], [2, [[0, 1, 7], [1, 0, 3]], 0, 1],
               [5, [[0, 1, 0], [1, 2, 0], [0, 4, 1], [2, 4, 0]], 0, 4], [60, random_roads(60, 150), 3, 41],
               [150, random_roads(150, 600), 0, 149]], cheapest),
        "cheapestWay", method("cheapestWay(self, n: int, roads: List[List[int]], start: int, goal: int) -> int"))


def shortest_stretch(text):
    n, s, *values = map(int, text.split())
    best, left, total = n + 1, 0, 0
    for right, value in enumerate(values):
        total += value
        while total >= s:
            best = min(best, right - left + 1)
            total -= values[left]
            left += 1
    return f"{best if best <= n else -1}\n"


def stretch(values, s):
    return f"{len(values)} {s}\n{' '.join(map(str, values))}\n"


problem("stretch", "The Shortest Stretch", "medium", """
The first line holds two integers n and s, the second n positive integers. Print the length of the shortest stretch of neighbouring integers whose sum is at least s, or -1 if there is none.

1 ≤ n ≤ 50000. Each of the n integers lies between 1 and 1000, and 1 ≤ s ≤ 50000000. The time limit is 2 seconds.""",
        stdin([stretch([2, 3, 1, 2, 4, 3], 7), stretch([1, 1, 1], 5), stretch([9], 9), stretch([1, 2, 3, 4], 10),
               stretch([5, 1, 1, 1, 6, 1], 7), stretch(numbers(300, 1, 20), 100), stretch([1] * 30000, 29000)], shortest_stretch),
        limits={"seconds": 2})

path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bundled", "problems.jsonl")
with open(path, "w", encoding="utf-8") as out:
    for row in PROBLEMS:
        out.write(json.dumps(row, ensure_ascii=False) + "\n")
print(len(PROBLEMS), sum(bool(p["starter_code"]) for p in PROBLEMS), os.path.getsize(path))
