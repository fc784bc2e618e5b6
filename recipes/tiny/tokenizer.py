"""Trains the tiny model's tokenizer: a byte-level BPE with Qwen's chat tokens.

    python tokenizer.py CONVERSATIONS.jsonl MODEL_DIR

CONVERSATIONS.jsonl is what `tiny-data` writes; MODEL_DIR holds the chat template,
and gets tokenizer.json, tokenizer_config.json and generation_config.json. Needs
the packages tokenizers and jinja2. The same input gives the same files, byte for byte.

Three things differ from a large model's tokenizer, each to save tokens that a
model trained for minutes cannot afford:

- A piece may hold spaces, so that a clause, or a line of code, is one or two
  tokens. Digits, quotes, line breaks and a comment's mark always stand alone (a digit with the
  space before it), so that numbers and words are spelt alike wherever they stand,
  and copying them is copying tokens.
- The sentences that every prompt of `cr eval livecodebench` repeats are tokens.
- So is the frame of a tool call.
"""

import itertools
import json
import pathlib
import sys

import jinja2
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

SIZE = 2048
CONVERSATIONS = 9000  # more change no merge that matters
LEAST = 60  # occurrences of a pair worth a token
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TAGS = ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>"]
CALL = ['\n{"name": "code_interpreter", "arguments": {"code": "', '"}}\n']
HINT = " You may call the tool"


def phrases(conversations):
    """The texts that all prompts share, taken from the prompts themselves."""
    found = []
    for c in conversations:
        system, user = c["messages"][0]["content"], c["messages"][1]["content"]
        at = system.index(HINT)
        head, _, _ = user.partition("\n")
        tail = user[user.index("\n\n### Format:"):]
        if "class Solution" in tail:
            # The method's types differ from task to task.
            before, _, after = tail.partition("class Solution")
            tails = [before, after[after.index("\n        \n```"):]]
        else:
            tails = [tail]
        for text in [system[:at], system[at:], head + "\n", *tails]:
            if text not in found:
                found.append(text)
        if len(found) == 6:
            return found
    raise SystemExit(f"the prompts share {len(found)} texts, expected 6: has the eval's prompt changed?")


def renderings(conversations, template):
    environment = jinja2.Environment()
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False, "ensure_ascii": False}
    environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    compiled = environment.from_string(template)
    for c in conversations:
        # Tracebacks are few, and Python's versions word them differently.
        messages = [m for m in c["messages"] if m["role"] != "tool" or not m["content"].startswith("stderr:")]
        yield compiled.render(messages=messages, tools=c["tools"])


def pieces(texts, fixed):
    """The texts between the fixed ones, which BPE must not learn to spell."""
    for text in texts:
        for token in fixed:
            text = text.replace(token, "\0")
        yield from (part for part in text.split("\0") if part)


def main(source, folder):
    folder = pathlib.Path(folder)
    with open(source, encoding="utf-8") as file:
        conversations = [json.loads(line) for line in itertools.islice(file, CONVERSATIONS)]
    fixed = TAGS + sorted(phrases(conversations) + CALL)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(r"\\n *|\n *| ?\d|'|# "), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=SIZE - len(SPECIAL) - len(fixed), min_frequency=LEAST, show_progress=False,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
    )
    texts = renderings(conversations, (folder / "chat_template.jinja").read_text())
    longest_first = sorted(SPECIAL + fixed, key=len, reverse=True)
    tokenizer.train_from_iterator(pieces(texts, longest_first), trainer)
    tokenizer.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in SPECIAL])
    tokenizer.add_tokens([AddedToken(t, normalized=False) for t in fixed])
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {
        "add_prefix_space": False, "bos_token": None, "clean_up_tokenization_spaces": False,
        "eos_token": "<|im_end|>", "errors": "replace", "model_max_length": 1024,
        "pad_token": "<|endoftext|>", "split_special_tokens": False,
        "tokenizer_class": "PreTrainedTokenizerFast", "unk_token": None,
    }
    generation = {
        "eos_token_id": tokenizer.token_to_id("<|im_end|>"), "pad_token_id": tokenizer.token_to_id("<|endoftext|>"),
    }
    for name, content in [("tokenizer_config.json", config), ("generation_config.json", generation)]:
        (folder / name).write_text(json.dumps(content, indent=2) + "\n")
    print(f"{tokenizer.get_vocab_size()} tokens")


if __name__ == "__main__":
    main(*sys.argv[1:])
