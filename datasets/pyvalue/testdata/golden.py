"""Writes golden.jsonl: what CPython does with texts of literals and of JSON.

usage: golden.py [COUNT] [SEED] > golden.jsonl     (CPython 3.11 or later)

Each line holds a text and, for ast.literal_eval and json.loads, either the
json.dumps of the value or the exception: "refused" for what callers catch
(ValueError, SyntaxError; JSONDecodeError for json.loads), else its class;
"dumps ..." where only json.dumps raises.
"""

import ast
import json
import random
import sys
import warnings

warnings.simplefilter("ignore")

HAND = [
    "", " ", "\n", "{}", " \t{}", "\n{}", "\n {}", "\n \f{}", "\n\f {}", "\\\n{}", "{}\\\n", "{}\\\n\n", "\n \\\n{}",
    "\n\\\n {}", "# c\n{}", "  # c\n{}", "\n   # c\n{}", "{} # c", "{}\n # c\n\n", "{}\n{}", "{}\n\\\n", "{}\n\\\n\n",
    "{}\n ", "{}\n  #x", "{}\n \f", "{}\n\f ", "{}\n \n", "{}\n #x\n ", "{}\n\\\n ", "{}\n \\\n", "{}\n\\\n\n ", "{{}}}", "{[]: 1}}", "{10**400+1j}",
    "{}\x0b", "\ufeff{}", "{}\x00", "'a\x00b'", "{}\r\n", "'''a\r\nb\rc'''", "'a\\\r\nb'", "'a\\\nb'", "'a\nb'", "1,", "1, 2", "1, 2,\n",
    "(1)", "(1,)", "()", "((), )", "(1, 2,)", "(,)", "[,]", "[1,,2]", "[1 2]", "{,}", "{1}", "{1,}", "{1:2,}", "{1:2,3}", "{1,2:3}",
    "{**{}}", "[*[]]", "set()", "set( \n)" , "set(())", "set([])", "set", "(set())", "-set()", "True", "None", "true", "null", "NaN", "...",
    "[...]", "-True", "+1", "-1", "--1", "-(1)", "-(-1)", "~1", "not 1", "1+2", "1+2j", "1-2j", "-1+2j", "-1-2j", "(1)+(2j)",
    "1+(-2j)", "(1+2j)", "-(1+2j)", "1+2j+3j", "1j+2j", "True+1j", "'a'+1j", "1 +\n2j", "(1 +\n2j)", "-\n1", "10**400+1j",
    "1" + "0" * 400 + "+1j", "0x" + "f" * 300 + "+1j", "0", "00", "0_0", "01", "0_1", "1_000", "1__0", "1_", "_1", "0x1F", "0X_ff",
    "0x", "0x_", "0xg", "0o17", "0o8", "0b101", "0b2", "0b", "017", "1e5", "1E-5", "1e", "1e+", "1.", ".5", ".", "1.e3", "1_0.5_0e1_0",
    "1._0", "09.5", "09", "09e1", "1j", "1.5J", "09j", "1e400", "-1e400", "1e-400", "1if", "1_j", "0xfj", "5e-324", "1e22", "1e16", "1e15",
    "123456789012345680.0", "0.0001", "0.00001", "-0.0", "-0", "1e-7", "3.14", "100.0", "9007199254740993", "9007199254740993.0",
    "1" * 4300, "1" * 4301, "-" + "1" * 4300, "0" * 4400, "0x" + "f" * 3570, "0x" + "f" * 3571, "0x" + "f" * 3572, "0x" + "f" * 3600,
    "0x" + "f" * 9000, "1_" * 4299 + "1", "[" * 200 + "]" * 200, "[" * 201 + "]" * 201, "(" * 200 + "1" + ")" * 200,
    "(" * 201 + "1" + ")" * 201, '{"a":' * 200 + "1" + "}" * 200, '{"a":' * 201 + "1" + "}" * 201,
    "'a' 'b'", "'a'\n'b'", "('a'\n'b')", "'a' \\\n 'b'", "'a' b'b'", "b'a' b'b'", "'a'r'\\n'u'b'", "u'a'", "U'a'", "R'\\''", "r'\\'", "rb'\\x41'",
    "bR'\\x41'", "ur'a'", "ru'a'", "f'a'", "fr'a'", "f'{1}'", "b'\\xff'", "b'\\x4'", "b'\\777'", "b'\\N{DIGIT ONE}'", "b'\\u0041'", "b'\u00e9'",
    "b 'a'", "['a' b]", "''", '""', "''''''", '""""""', "'''a'b''c'''", "'''a''''", '"""a\nb"""', "'a", "'''a''", "'\\", "'\\'", "'\\\\'",
    "'\\a\\b\\f\\n\\r\\t\\v\\\\\\'\\\"'", "'\\d\\ \\8\\9'", "'\\0'", "'\\00'", "'\\0001'", "'\\377\\400\\777'", "'\\x41'", "'\\x4'", "'\\xg1'", "'\\u0041'",
    "'\\u004'", "'\\U00000041'", "'\\U0010ffff'", "'\\U00110000'", "'\\UFFFFFFFF'", "'\\ud83d\\ude00'", "'\\ud800'", "'\\udc00\\ud800'", "'\U0001f600'",
    "'\\N{DIGIT ONE}'", "'\\N{digit one}'", "'\\N{LATIN SMALL LETTER A WITH DIAERESIS}'", "'\\N{BELL}'", "'\\N{ALERT}'", "'\\N{BEL}'", "'\\N{NULL}'",
    "'\\N{LINE FEED}'", "'\\N{NBSP}'", "'\\N{CJK UNIFIED IDEOGRAPH-4E00}'", "'\\N{cjk unified ideograph-4e00}'", "'\\N{CJK UNIFIED IDEOGRAPH-4e00}'",
    "'\\N{CJK UNIFIED IDEOGRAPH-04E00}'", "'\\N{CJK UNIFIED IDEOGRAPH-FA0E}'", "'\\N{CJK COMPATIBILITY IDEOGRAPH-FA0E}'",
    "'\\N{HANGUL SYLLABLE GAGG}'", "'\\N{HANGUL SYLLABLE A}'", "'\\N{HANGUL SYLLABLE SSYI}'", "'\\N{hangul syllable ga}'", "'\\N{HANGUL SYLLABLE GGGG}'",
    "'\\N{LATIN SMALL LETTER R WITH TILDE}'", "'\\N{NO SUCH NAME}'", "'\\N{}'", "'\\N'", "'\\N{DIGIT ONE'", "'\\N {DIGIT ONE}'", "'\\N{VS256}'",
    "'\\N{BYZANTINE MUSICAL SYMBOL FTHORA SKLIRON CHROMA VASIS}'", "'\\N{TANGUT IDEOGRAPH-17000}'", "'\\N{<control>}'",
    "{[]: 1}", "{(): 1}", "{([],): 1}", "{{}: 1}", "{[]}", "{set()}", "{(1, [2])}", "{1: 'a', True: 'b', 1.0: 'c', 1+0j: 'd'}", "{0: 1, -0.0: 2, False: 3}",
    "{'1': 1, 1: 2}", "{1.5: 1, None: 2, True: 3, 10: 4}", "{1e999: 1, -1e999: 2}", "{(1,): 2}", "{b'a': 1}", "{1j: 2}", "{...: 1}", "{'a': 1, 'b': 2, 'a': 3}",
    "{%s}" % ", ".join("%d: %d" % (i % 20, i) for i in range(40)), "{1, 2, 1}", "[{1}]", "[b'a']", "[1j]", "{'x': set()}",
    "{99999999999999999999: 1, 1e20: 2, 100000000000000000000: 3}", "{0x10: 1, 16: 2}", "{(1, 'a'): 1, (1.0, 'a'): 2}",
    '{"a": true}', '{"a": null, "b": [false, NaN, Infinity, -Infinity]}', '{"a": "\\/"}', '{"a": "\\u00e9\\ud83d\\ude00\\ud800"}', '"\\ud83d\\u0041"',
    '"\\ud83d\\ude0"', '"\\ud83d\\ud83d\\ude00"', '[true, "\\x41"]', '[true, "a\tb"]', '[true, "\x7f"]', "[true, 'a']", "[true,]", "[true, 01]", "[true, -]", "[true, -0]",
    "[true, -01]", "[true, 1.]", "[true, 1.e5]", "[true, .5]", "[true, +1]", "[true, 1e5]", "[true, 1E+5]", "[true, 1e]", "[true, 1_0]", "[true, 0x1]", "[true, -0.0]",
    "[true, 1e400]", "[true, " + "1" * 4300 + "]", "[true, " + "1" * 4301 + "]", "[true, " + "1" * 4301 + " x", "[true, x, " + "1" * 4301 + "]", "[true, -" + "1" * 4301 + "]",
    "[true, " + "1" * 5000 + ".5]", "[true, 0" + "0" * 4400 + "]", '{"a": true, "a": 1, "b": 2}', "{'a': true}", '{"a" true}', '{"a": true "b"}', '{true: 1}', '{"a": true,}',
    "[true] x", " \r\n\t[true]\r\n", "\x0c[true]", "\u00a0[true]", "[True, true]", "nul", "truefalse", "-Infinit", "[" * 500 + "true" + "]" * 500,
    "[" * 4000 + "true" + "]" * 4000, "[" * 4000, '{"a": 1}' + " " * 10 + "#", "{'language': 'python'}", '["\\u12', '"\\', '"',
    "\u00e9", "'\u00e9'", "[\u00e9]", "x'a'", "\u00e9'a'", "1\u00e9", "'a'\u00e9", "lambda: 1", "[x for x in y]", "a.b", "(yield)", "`1`", "$", "1 if 2 else 3", "[1][0]", "''.a",
]

PIECES = [
    "{", "}", "[", "]", "(", ")", ",", ":", "'", '"', "'''", '"""', "\\", "\n", "\r", " ", "\t", "\f", "#", "+", "-", ".", "_", "...",
    "0", "1", "12", "1.5", "1e5", "0x1f", "0b1", "0o7", "1j", "007", "1_0", "1e999", "True", "False", "None", "true", "false", "null", "NaN",
    "set()", "b'x'", "r'\\n'", "u'y'", "rb'z'", "'a'", '"b"', "'\\n'", '"\\u0041"', '"\\/"', "'\\x41'", "'\\ud800'", "'\\N{DIGIT ONE}'", "\u00e9", "'\u4e2d'",
    '{"a": 1}', "{'b': [1, 2]}", "(1, 2)", "[True, None]", "{1, 2}", ", ", ": ", "'c': ", '"d": ', "f'q'", "\\u", "\\x", "\\N", "j", "e", "x",
]


def value(rng, depth=0):
    """A random value made of what literal_eval can give."""
    kinds = ["int", "float", "str", "bool", "none"] + (["list", "tuple", "dict", "set", "bytes", "complex"] if depth < 4 else [])
    match rng.choice(kinds):
        case "int":
            return rng.choice([0, 1, -1, rng.randrange(-1000, 1000), rng.randrange(10**20), -(10**30), 2**53 + 1])
        case "float":
            return rng.choice([0.0, -0.0, 1.5, 1e300, -2.5e-10, rng.random(), rng.uniform(-1e18, 1e18), 10.0 ** rng.randrange(-30, 30), float("inf")])
        case "str":
            return "".join(rng.choice("abc'\"\\\n\t\r/\x00\x1f\x7f\u00e9\u4e2d\U0001f600 {}[]") for _ in range(rng.randrange(8)))
        case "bool":
            return rng.random() < 0.5
        case "none":
            return None
        case "bytes":
            return bytes(rng.randrange(256) for _ in range(rng.randrange(4)))
        case "complex":
            return complex(rng.randrange(3), rng.randrange(1, 3))
        case "list":
            return [value(rng, depth + 1) for _ in range(rng.randrange(4))]
        case "tuple":
            return tuple(value(rng, depth + 1) for _ in range(rng.randrange(4)))
        case "set":
            return {rng.choice([1, 2.5, "a", None, (1, 2)]) for _ in range(rng.randrange(3))}
        case "dict":
            return {rng.choice([1, 2, "a", "b", 1.5, True, None, rng.random()]): value(rng, depth + 1) for _ in range(rng.randrange(4))}


def mutate(rng, text):
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(text) + 1)
        match rng.randrange(3):
            case 0:
                text = text[:at] + rng.choice(PIECES) + text[at:]
            case 1:
                text = text[:at] + text[at + 1 + rng.randrange(3):]
            case 2:
                other = rng.randrange(len(text) + 1)
                text = text[:at] + text[min(at, other):max(at, other)] + text[at:]
    return text


def made(rng):
    v = value(rng)
    try:
        text = rng.choice([repr, json.dumps, lambda v: json.dumps(v, ensure_ascii=False)])(v).replace("inf", "1e999")
    except (TypeError, ValueError):
        text = repr(v).replace("inf", "1e999")
    match rng.randrange(4):
        case 0:
            return text
        case 1 | 2:
            return mutate(rng, text)
        case 3:
            return "".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 9)))


def outcome(parse, text, caught):
    try:
        v = parse(text)
    except caught:
        return "refused"
    except BaseException as e:
        return type(e).__name__
    try:
        return json.dumps(v)
    except Exception as e:
        return "dumps " + type(e).__name__


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1500
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    for text in HAND + [made(rng) for _ in range(count)]:
        line = {
            "text": text,
            "literal": outcome(ast.literal_eval, text, (ValueError, SyntaxError)),
            "json": outcome(json.loads, text, json.JSONDecodeError),
        }
        print(json.dumps(line))


main()
