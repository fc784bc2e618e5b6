"""Writes published.json: pairs of texts and of JSON values with the verdict of
LiveCodeBench's rule, computed by CPython's own str, Decimal and ==."""

import decimal
import itertools
import json
import random

rng = random.Random(1)


def numbers(line):
    try:
        return [decimal.Decimal(token) for token in line.split()]
    except decimal.InvalidOperation:
        return None


def same_text(expected, got):
    want = [line.strip() for line in expected.strip().split("\n")]
    have = [line.strip() for line in got.strip().split("\n")]
    if len(want) != len(have):
        return False
    for w, h in zip(want, have):
        if w == h:
            continue
        a, b = numbers(w), numbers(h)
        try:
            if a is None or b is None or a != b:
                return False
        except decimal.InvalidOperation:  # a signalling NaN
            return False
    return True


TOKENS = ["1", "1.0", "1.", ".5", "0.50", "+1", "-0", "0", "0e5", "-0.0", "1e0", "10e-1", "1E2", "100", "1_00", "_1", "1__0",
          "1_0_0", "_", "", ".", "+", "-", "e5", "1e", "1e+", "1e5", "100000", "inf", "Infinity", "-inf", "INF", "infinit", "nan",
          "NaN", "sNaN", "nan12", "-nan", "nan_", "nan1.5", "１００", "٣", "3", "٣.٥", "3.5", "1٣", "13", "𝟝", "5", "²", "1e999999999", "10e999999998",
          "1e-999999999", "1e999999999999999999", "1e1000000000000000000", "10e999999999999999999", "0e1000000000000000000",
          "1e0000000000000000000005", "0x10", "16", "1,000", "1 000", "12345678901234567890.10", "12345678901234567890.1",
          "true", "Yes", "yes", "1-", "--1", "1.2.3", "0.1e1", "1e1.0", "é"]
TEXTS = ["", "\n", "a", "a\n", " a ", "a\n\n", "\n a", "a\nb", "a \nb\r\n", "a\n\nb", "a  b", "a b", "1 2", "1  2.0", "1 2 3", "1\n2",
         "1 2\n3", "1.0 2.00\n3", "a\x0b", "\xa0a", "\x1ca", "\x1f1\x1d2", "1\u20032", "a\u200b", "1\x852", "x 1.0", "x 1", "1\x0c2", "\ufeff1"]

texts = [(a, b) for a, b in itertools.product(TOKENS, TOKENS) if a <= b or rng.random() < 0.1]
texts += list(itertools.product(TEXTS, TEXTS))
texts = [t for t in texts if same_text(*t) or rng.random() < 0.15]

VALUES = ["1", "1.0", "true", "false", "0", "-0", "0.0", "-0.0", "null", '"1"', "[]", "[1]", "[1.0]", "[true]", "[[1,2],3]", "[[1,2],3.5]",
          "{}", '{"a":1}', '{"a":1.0}', '{"b":1}', '{"a":1,"b":2}', '{"b":2,"a":true}', "9007199254740993", "9007199254740992.0", "9007199254740992",
          "1e22", "10000000000000000000000", "1e23", "100000000000000000000000", "NaN", "Infinity", "-Infinity", "1e400", "0.1", "0.10000000000000001",
          "0.30000000000000004", "0.3", '"\\u00e9"', '"é"', '""', "[null]", '["a","b"]', '["b","a"]', "123456789012345678901234567890", "1e0", "1E+0",
          "1.7976931348623157e308", "12345678901234567890123.0"]
values = [(a, b, json.loads(a) == json.loads(b)) for a, b in itertools.product(VALUES, VALUES)]
values = [v for v in values if v[2] or rng.random() < 0.3]

with open("published.json", "w", encoding="utf-8") as out:
    json.dump({"texts": [[a, b, same_text(a, b)] for a, b in texts], "values": values}, out, separators=(",", ":"))
print(len(texts), len(values))
