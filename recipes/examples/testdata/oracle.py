"""What transformers makes of conversations: ids, and the mask of the assistant's own tokens.

  oracle.py rows COUNT SEED [plain]          makes conversations with every oddity, a JSON line each
  oracle.py MODEL FILE ROWS.jsonl [full]     renders them: a line of digests each, or with "full" the ids and mask

MODEL is qwen3 or tiny (FILE: the folder of the tokenizer), bare (tiny without its generation blocks) or smollm2
(FILE: the GGUF; rows made with "plain", as that template knows no tools). tiny.sums, qwen3.sums and so on beside this file are

  oracle.py rows 200 1 > conversations.jsonl; oracle.py rows 60 2 plain > plain.jsonl; oracle.py qwen3 DIR conversations.jsonl > qwen3.sums

Ids are those of apply_chat_template over the whole conversation; where a text of the conversation spells control tokens, they are
text (its sanitize_control_tokens would part such text from its neighbours before the merges, which no serving tokenizer does). The mask is what transformers' generation blocks cover, put into the model's own template here; the tagged
template must write the very text of the untagged one. What a generation prompt gives, the model does not write: with
enable_thinking false that takes in an empty think block.
"""

import hashlib
import json
import pathlib
import random
import re
import sys

TEXTS = [
    "hello", "a b  c", "", "\n", "\n\nlead", "trail  \n\n", "  both ", "def f(x):\n    return x+1\n", "é — 你好 🙂🏽", "e\u0301 decomposed",
    "\u0301starts with a mark", "\r\nwindows\r\n", "nul\x00byte", "\u2028 \u00a0 \u200b", "1234567890 3.5e-7", "<b> & </b> \"q\" 'q' \\", "```python\nprint(1)\n```",
    "<|im_end|>", "x<|im_start|>system\ny<|im_end|>", "<|endoftext|><|im_start|>", "<think>", "</think>", "<tool_call>\n{}\n</tool_call>",
    "{{ messages }} {% raw %}", "\ttab", "ﬁ ½ ²", "a\n</think>\n\nb", "<tool_response>\nfake\n</tool_response>", "日本語のテキスト", "ok.",
]
THOUGHTS = ["why", "so\nthat", "\n\nspaced\n\n", "", "a < b, then 🙂", "first\n\n```\nx\n```", "it says <|im_end|> here", " "]
ARGUMENTS = [
    {"code": "print(1<2)"}, {"code": "a\n\"b\" é \u2028\t", "timeout": 30}, {}, {"f": 1.0, "g": 1e22, "h": 0.1, "i": 12345678901234567890123, "n": None, "t": True},
    {"l": [], "o": {"x": [1, "1", {"y": None}]}}, {"z": 1, "a": 2}, {"code": "<|im_end|>"}, {"é": "ü"},
    '{"a":1}', '{ "a" : [1,2 ,3],\n"b":"\\u00e9\\n" }', '{"code": "x = \\"1\\""}', "{}", '{"a":1,"a":2}', '{"big":1.50,"e":1E5}', '{"t": "</tool_call> <|im_end|>"}',
]
SCHEMAS = [
    {"type": "function", "function": {"name": "code_interpreter", "description": "Execute code in the sandbox.", "parameters": {"type": "object",
     "properties": {"code": {"type": "string", "description": "The code to execute."}, "timeout": {"type": "integer"}}, "required": ["code"]}}},
    {"type": "function", "function": {"name": "zed", "description": "a<b & c é", "parameters": {"type": "object", "properties": {"z": {"type": "string"}, "a": {"type": "number", "default": 1.0}}, "required": ["z"]}}},
]


def answer(rng):
    kind = rng.randrange(8)
    if kind == 0:
        return "<think>\n" + rng.choice(THOUGHTS) + "\n</think>\n\n" + rng.choice(TEXTS)
    if kind == 1:
        return rng.choice(THOUGHTS) + "</think>" + rng.choice(TEXTS)
    if kind == 2:
        return "<think>\n\n</think>\n\n" + rng.choice(TEXTS)
    return rng.choice(TEXTS) if kind < 6 else rng.choice(TEXTS) + " " + rng.choice(TEXTS)


def call(rng):
    function = {"name": rng.choice(["code_interpreter", "zed", "run_é"]), "arguments": rng.choice(ARGUMENTS)}
    return rng.choice([{"type": "function", "function": function}, {"id": "call_1", "type": "function", "function": function}, function])


def assistant(rng, plain):
    m = {"role": "assistant", "content": answer(rng)}
    if plain:
        return m
    if rng.random() < 0.3:
        m["reasoning_content"] = rng.choice(THOUGHTS)
    if rng.random() < 0.1:
        m["loss_mask"] = rng.choice([0, 1])
    if rng.random() < 0.5:
        m["tool_calls"] = [call(rng) for _ in range(rng.choice([1, 1, 2, 3]))]
        if rng.random() < 0.3:
            m["content"] = rng.choice(["", None])
    return m


def conversation(rng, plain):
    messages = []
    if rng.random() < 0.5:
        messages.append({"role": "system", "content": rng.choice(TEXTS)})
    for _ in range(rng.randrange(1, 4)):
        messages.append({"role": "user", "content": rng.choice(TEXTS)})
        messages.append(assistant(rng, plain))
        while "tool_calls" in messages[-1]:
            for _ in range(rng.choice([1, 1, 2, 3])):
                messages.append({"role": "tool", "content": rng.choice(TEXTS)})
            if rng.random() < 0.15:
                break
            messages.append(assistant(rng, plain))
    if rng.random() < 0.1:
        messages.append({"role": "user", "content": rng.choice(TEXTS)})
    if not plain and rng.random() < 0.05:
        messages.append({"role": "system", "content": "late"})
        messages.append(assistant(rng, True))
    row = {"messages": messages}
    if not plain:
        row["tools"] = rng.choice([None, [], SCHEMAS[:1], SCHEMAS])
        row["enable_thinking"] = rng.choice([None, None, True, False])
    return row


def rows(count, seed, plain):
    rng = random.Random(seed)
    for _ in range(count):
        row = conversation(rng, plain)
        if row["messages"][0]["role"] != "user" and len(row["messages"]) < 2:
            continue
        print(json.dumps({k: v for k, v in row.items() if v is not None}, ensure_ascii=False, separators=(",", ":")))


EMPTY = "<think>\n\n</think>\n\n"


def replaced(text, *pairs):
    for old, new in pairs:
        assert text.count(old) == 1, (text.count(old), old)
        text = text.replace(old, new)
    return text


def tag_qwen3(template):
    head = "{{- '<|im_start|>' + message.role + '\\n"
    body = head + "<think>\\n' + reasoning_content.strip('\\n') + '\\n</think>\\n\\n' + content.lstrip('\\n') }}"
    assert template.count(body) == 1 and template.count(head + "' + content }}") == 2
    template = template.replace(body, "{%- set body = '<think>\\n' + reasoning_content.strip('\\n') + '\\n</think>\\n\\n' + content.lstrip('\\n') %}")
    template = template.replace(head + "' + content }}", "{%- set body = content %}")
    return replaced(
        template,
        ("{%- if message.tool_calls %}", head + "' }}{%- generation %}{{- body }}{%- if message.tool_calls %}"),
        ("{{- '<|im_end|>\\n' }}\n    {%- elif message.role == \"tool\" %}", "{{- '<|im_end|>' }}{%- endgeneration %}{{- '\\n' }}\n    {%- elif message.role == \"tool\" %}"),
    )


def untagged(template):
    return template.replace("{% generation %}", "").replace("{% endgeneration %}", "{{ '' }}")


def tag_smollm2(template):
    return replaced(
        template,
        ("{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}",
         "{{'<|im_start|>' + message['role'] + '\n'}}{% if message['role'] == 'assistant' %}{% generation %}{{ message['content'] + '<|im_end|>' }}{% endgeneration %}"
         "{% else %}{{ message['content'] + '<|im_end|>' }}{% endif %}{{'\n'}}"),
    )


def model(kind, path):
    """The tokenizer, its template, the template with generation blocks, and whether those are the model's own."""
    from transformers import PreTrainedTokenizerFast

    if kind == "smollm2":
        return smollm2(path)
    folder = pathlib.Path(path)
    template = json.loads((folder / "tokenizer_config.json").read_text())["chat_template"]
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), eos_token="<|im_end|>", pad_token="<|endoftext|>")
    if kind == "qwen3":
        return tokenizer, template, tag_qwen3(template), False
    if kind == "tiny":
        return tokenizer, template, template, True
    # The block of tiny's own template ends behind the newline.
    return tokenizer, untagged(template), replaced(template, ("<|im_end|>\n{% endgeneration %}\n", "<|im_end|>{%- endgeneration %}{{ '\\n' }}")), False


def smollm2(path):
    import gguf
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    fields = gguf.GGUFReader(path).fields
    field = lambda name: fields["tokenizer." + name].contents()
    tokens = field("ggml.tokens")
    merges = [tuple(m.split(" ")) for m in field("ggml.merges")]
    t = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=merges))
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)])
    t.decoder = decoders.ByteLevel()
    t.add_special_tokens([AddedToken(tok, special=True, normalized=False) for tok, kind in zip(tokens, field("ggml.token_type")) if kind == 3])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=t, bos_token="<|im_start|>", eos_token="<|im_end|>", pad_token="<|im_end|>")
    return tokenizer, field("chat_template"), tag_smollm2(field("chat_template")), False


GUARD = "\ue000"


def guarded(value, control):
    if isinstance(value, str):
        return control.sub(lambda m: m.group()[0] + GUARD + m.group()[1:], value)
    if isinstance(value, list):
        return [guarded(v, control) for v in value]
    if isinstance(value, dict):
        return {guarded(k, control): guarded(v, control) for k, v in value.items()}
    return value


def encode(tokenizer, control, text, spans):
    """Ids of guarded text, and which of them overlap a span."""
    ids, mask = [], []
    backend = tokenizer.backend_tokenizer
    backend.encode_special_tokens = True

    def put(i, start, end):
        ids.append(i)
        mask.append(int(any(start < b and end > a for a, b in spans)))

    at = 0
    for found in list(control.finditer(text)) + [None]:
        segment = text[at : found.start() if found else len(text)]
        places = [at + i for i, c in enumerate(segment) if c != GUARD] + [at + len(segment)]
        encoding = backend.encode(segment.replace(GUARD, ""), add_special_tokens=False)
        for i, (start, end) in zip(encoding.ids, encoding.offsets):
            put(i, places[start], places[max(start, end - 1)] + (1 if end > start else 0))
        if found:
            put(tokenizer.convert_tokens_to_ids(found.group()), found.start(), found.end())
            at = found.end()
    backend.encode_special_tokens = False
    return ids, mask


def render(tokenizer, template, tagged, own, row):
    from transformers.utils.chat_template_utils import render_jinja_template

    control = re.compile("|".join(re.escape(t.content) for t in tokenizer.added_tokens_decoder.values() if t.special))
    messages = []
    for m in row["messages"]:
        m = {k: v for k, v in m.items() if k != "loss_mask"}
        m["content"] = m["content"] or ""  # templates stop at null; to cr it is no text
        messages.append(m)
    tools = row.get("tools") or None
    options = {"enable_thinking": row["enable_thinking"]} if "enable_thinking" in row else {}
    special = {k: v for k, v in tokenizer.special_tokens_map.items() if isinstance(v, str)}
    data = (guarded(messages, control), guarded(tools, control))
    (plain,), _ = render_jinja_template([data[0]], tools=data[1], chat_template=template, **options, **special)
    (text,), (spans,) = render_jinja_template([data[0]], tools=data[1], chat_template=tagged, return_assistant_tokens_mask=True, **options, **special)
    assert text == plain, (text, plain)
    if not own and row.get("enable_thinking") is False:  # a prompt gives the empty block
        spans = [(a + len(EMPTY) if text.startswith(EMPTY, a) else a, b) for a, b in spans]
    muted = [m.get("loss_mask") == 0 for m in row["messages"] if m["role"] == "assistant"]
    if len(spans) == len(muted):
        spans = [s for s, mute in zip(spans, muted) if not mute]
    else:
        assert not any(muted)
    ids, mask = encode(tokenizer, control, text, spans)
    want = tokenizer.apply_chat_template(messages, tools=tools, chat_template=template, return_dict=False, **options)
    if GUARD not in text:
        assert ids == list(want), (text, ids, want)
    else:  # the control tokens that the template writes are left, the conversation's are text
        assert [t for t in tokenizer.convert_ids_to_tokens(ids) if control.fullmatch(t)] == control.findall(text)
        assert tokenizer.decode(ids) == tokenizer.decode(want)
    mask[:1] = [0]
    return ids, mask


def digest(numbers):
    return hashlib.sha256(",".join(map(str, numbers)).encode()).hexdigest()[:12]


def main():
    if sys.argv[1] == "rows":
        return rows(int(sys.argv[2]), int(sys.argv[3]), "plain" in sys.argv)
    kit = model(sys.argv[1], sys.argv[2])
    for line in pathlib.Path(sys.argv[3]).read_text().split("\n")[:-1]:
        ids, mask = render(*kit, json.loads(line))
        print(json.dumps({"ids": ids, "mask": mask}) if "full" in sys.argv else f"{len(ids)} {sum(mask)} {digest(ids)} {digest(mask)}")


main()
