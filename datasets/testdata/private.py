"""Writes private.json: the same two tests in every encoding of
private_test_cases, made by CPython."""

import base64
import json
import pickle
import zlib

TESTS = [{"input": "1 2\n", "output": "3\n", "testtype": "stdin"}, {"input": "é\n", "output": "\n", "testtype": "stdin"}]
TEXT = json.dumps(TESTS)
PAIRS = {"inputs": [t["input"] for t in TESTS], "outputs": [t["output"] for t in TESTS]}


def packed(value, protocol=4):
    return base64.b64encode(zlib.compress(pickle.dumps(value, protocol=protocol))).decode()


class Evil:
    def __reduce__(self):
        return print, ("run",)


json.dump({
    "good": {
        "JSON text": TEXT,
        "pickled text": packed(TEXT),
        "pickled text, protocol 2": packed(TEXT, 2),
        "pickled pairs": packed({"input_output": json.dumps(PAIRS)}),
    },
    "bad": {
        "a call": packed(Evil()),
        "a number": packed(5),
        "no pickle": base64.b64encode(zlib.compress(b"hello")).decode(),
        "no zlib": base64.b64encode(b"hello").decode(),
        "no base64": "#$%",
        "cut short": packed(TEXT)[:40],
        "pairs that do not match": packed({"input_output": json.dumps({"inputs": ["1"], "outputs": []})}),
    },
}, open("private.json", "w"), indent=0)
