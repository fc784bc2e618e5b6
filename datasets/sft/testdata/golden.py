"""The recipe's rule in Python: golden.py SOURCE.parquet > golden.json

Prints the indices of the rows that it keeps; a row on which it would raise is
not kept.
"""

import json
import re
import sys

import pyarrow.parquet as pq

FENCE = re.compile(r"```python[\s\S]*?```", re.IGNORECASE)


def keeps(messages):
    assistants = [m for m in messages if m.get("role") == "assistant"]
    if not assistants:
        return False
    final = assistants[-1].get("content", "")
    return (
        bool(FENCE.search(final))
        and "\\boxed" not in final
        and any(m.get("tool_calls") for m in assistants)
        and any(m.get("role") == "tool" for m in messages)
    )


def kept(rows):
    for i, messages in enumerate(rows):
        try:
            if keeps(messages):
                yield i
        except (TypeError, AttributeError):
            pass


print(json.dumps(list(kept(pq.read_table(sys.argv[1]).column("messages").to_pylist()))))
