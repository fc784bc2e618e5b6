"""Writes goldens.json: what transformers makes of texts and conversations with
the tokenizer and template in ../model.

    python goldens.py CONVERSATIONS.jsonl    # some that tiny-data made
"""

import json
import pathlib
import sys

from transformers import AutoTokenizer

HERE = pathlib.Path(__file__).parent
TEXTS = [
    "",
    "Read a line of numbers.\nKeep the numbers greater than 12.\nPrint the sum.",
    "Input:\n-3 14 7 0 105\nOutput:\n-12",
    "a = list(map(int, '3 14 7'.split()))\\na = [x for x in a if x % 2 == 0]\\nprint(*a)",
    "x=1234567890; y = 'it''s'; z = \"\\n\\n   \"",
    "  leading,\ttabs\r\n\r\n and trailing  ",
    "déjà vu — 你好 🙂🙂🏽 é ½ ١٢٣",
    "You may call the tool code_interpreter. ### Question:\nnone",
    "<tool_call>\n{\"name\": \"code_interpreter\", \"arguments\": {\"code\": \"print(1)\"}}\n</tool_call>",
    "<think>\n\n</think>\n\n<tool_response>\nstdout:\n5\nexit status: 0\n</tool_response>",
]
CALL = {"type": "function", "function": {"name": "code_interpreter", "arguments": {"code": "print('é', \"x\", 1 < 2)\n"}}}
MADE = [
    [{"role": "user", "content": "hi"}],
    [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}],
    [
        {"role": "system", "content": "s"}, {"role": "user", "content": "u"},
        {"role": "assistant", "content": "two", "tool_calls": [CALL, CALL]},
        {"role": "tool", "content": "stdout:\n1\nexit status: 0"}, {"role": "tool", "content": "no output\nexit status: 0"},
        {"role": "assistant", "content": "done"},
    ],
]


def main(source):
    tokenizer = AutoTokenizer.from_pretrained(HERE.parent / "model")
    with open(source, encoding="utf-8") as file:
        given = [json.loads(line) for line in file][:6]
    tools = given[0]["tools"]
    conversations = []
    for messages, with_tools, prompt in (
        [(c["messages"], True, False) for c in given]
        + [(given[0]["messages"][:2], t, True) for t in (True, False)]
        + [(m, t, p) for m in MADE for t in (True, False) for p in (True, False)]
    ):
        text = tokenizer.apply_chat_template(
            messages, tools=tools if with_tools else None, tokenize=False, add_generation_prompt=prompt)
        conversations.append({
            "messages": messages, "tools": tools if with_tools else None, "prompt": prompt, "text": text,
            "ids": tokenizer(text, add_special_tokens=False).input_ids,
        })
    texts = [{"text": t, "ids": tokenizer(t, add_special_tokens=False).input_ids} for t in TEXTS]
    out = json.dumps({"texts": texts, "conversations": conversations}, ensure_ascii=False, separators=(",", ":"))
    (HERE / "goldens.json").write_text(out + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
