"""Writes golden.json: values pickled by CPython at protocols 2 to 5, with the
notation that pickle_test.go's show() gives the decoded value."""

import base64
import json
import pickle

shared = [1]
CASES = {
    "text": ("héllo\n", '"héllo\\n"'),
    "long text": ("ab" * 300, '"' + "ab" * 300 + '"'),
    "none and bools": ([None, True, False], "[None True False]"),
    "small ints": ([0, 255, 256, 65535, 65536, -1, -2147483648], "[0 255 256 65535 65536 -1 -2147483648]"),
    "long ints": ([2**31, 2**63 - 1, -(2**63), 2**64, -(2**100)],
                  "[2147483648 9223372036854775807 -9223372036854775808 18446744073709551616 -1267650600228229401496703205376]"),
    "floats": ([0.5, -1e300], "[0.5 -1e+300]"),
    "tuples": ([(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)], "[() (1) (1 2) (1 2 3) (1 2 3 4)]"),
    "dict": ({"input_output": '{"inputs": []}', 2: [3], "e": {}},
             '{"input_output":"{\\"inputs\\": []}" 2:[3] "e":{}}'),
    "shared": ([shared, shared], "[[1] [1]]"),
}
BYTES = ({"b": b"\x00\xff", "long": b"x" * 300}, '{"b":b"\\x00\\xff" "long":b"' + "x" * 300 + '"}')


def entry(name, protocol, value, shown):
    data = base64.b64encode(pickle.dumps(value, protocol=protocol)).decode()
    return {"name": f"{name}, protocol {protocol}", "pickle": data, "show": shown}


rows = [entry(n, p, v, s) for n, (v, s) in CASES.items() for p in (2, 3, 4, 5)]
rows += [entry("bytes", p, *BYTES) for p in (3, 4, 5)]
json.dump(rows, open("golden.json", "w"), ensure_ascii=False, indent=0)
