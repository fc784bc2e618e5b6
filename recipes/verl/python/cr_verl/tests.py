"""The tests of a problem, as the ground_truth column of a training file has them."""

import base64
import binascii
import io
import json
import pickle
import zlib

LARGEST = 1 << 30  # bytes of one problem's tests, unpacked


class BadTests(Exception):
    """A ground truth that cannot be judged by."""


def read(ground_truth):
    """The tests as columns: input, output, fn_name, type.

    A dict, its JSON text, or the base64 of a compressed pickle of that text, which
    is how LiveCodeBench packs them.
    """
    tests = ground_truth
    if isinstance(tests, str):
        try:
            tests = json.loads(tests)
        except json.JSONDecodeError:
            tests = _unpack(tests)
    if not isinstance(tests, dict) or not tests.get("input") or "output" not in tests:
        raise BadTests("the ground truth has no tests: want input and output, a list each")
    if len(tests["input"]) != len(tests["output"]):
        raise BadTests(f"the ground truth has {len(tests['input'])} inputs and {len(tests['output'])} outputs")
    name = tests.get("fn_name") or None
    kind = tests.get("type") or ("function_call" if name else "stdin_stdout")
    return {**tests, "fn_name": name, "type": kind}


class _TextOnly(pickle.Unpickler):
    def find_class(self, module, name):
        raise BadTests(f"the packed tests name {module}.{name}, where only text belongs")


def _unpack(text):
    try:
        unzip = zlib.decompressobj()
        packed = unzip.decompress(base64.b64decode(text, validate=True), LARGEST)
        if unzip.unconsumed_tail:
            raise BadTests(f"the packed tests have more than {LARGEST} bytes")
        return json.loads(_TextOnly(io.BytesIO(packed)).load())
    except (binascii.Error, zlib.error, pickle.UnpicklingError, EOFError, TypeError, ValueError) as e:
        raise BadTests(f"the ground truth is neither JSON nor packed tests: {e}") from None
