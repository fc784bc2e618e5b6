"""Writes this folder's fixtures and goldens. Needs transformers, tokenizers, gguf.

    python goldens.py tiny                # tiny/, and its goldens
    python goldens.py features            # what pieces of template text give
    python goldens.py qwen3 FOLDER        # Qwen3's own tokenizer and template: goldens only
    python goldens.py smollm2 FILE.gguf   # SmolLM2's vocabulary: goldens only
"""

import json
import pathlib
import sys

from transformers.utils.chat_template_utils import render_jinja_template

HERE = pathlib.Path(__file__).parent
TINY = HERE / "tiny"

# Our own template: ChatML turns with tools, thinking and as many features of
# Jinja as chat templates use.
TEMPLATE = r"""
{#- Conversations in ChatML. #}
{%- macro opening(role) -%}
<|im_start|>{{ role }}
{% endmacro %}
{%- set ns = namespace(system='', last=-1, n=0) %}
{%- for m in messages[::-1] %}
    {%- if ns.last < 0 and m.role == "user" and not (m.content.startswith('<tool_response>') and m['content'].endswith("</tool_response>")) %}
        {%- set ns.last = (messages | length - 1) - loop.index0 %}
    {%- endif %}
{%- endfor %}
{%- if messages[0]['role'] == 'system' %}
    {%- set ns.system = messages[0].content | trim %}
    {%- set rest = messages[1:] %}
{%- else %}
    {%- set rest = messages %}
{%- endif %}
{%- if ns.system or tools %}
    {{- opening('system') }}
    {{- ns.system }}
    {%- if tools is not none and tools is defined %}
        {{- '\n\nFunctions, as JSON lines:\n' if ns.system else 'Functions, as JSON lines:\n' }}
        {%- for tool in tools %}
            {{- tool | tojson ~ '\n' }}
        {%- endfor %}
        {{- "Pretty:\n" + tools[-1].function.parameters | tojson(indent=2) }}
        {%- for key, schema in tools[0].function.parameters.properties.items() %}
            {{- '\n' ~ loop.index ~ '/' ~ loop.length ~ ' ' ~ key ~ ': ' ~ schema.get('type', '?') }}
            {%- if not loop.last %},{% else %}.{% endif %}
        {%- endfor %}
    {%- endif %}
    {{- '<|im_end|>\n' }}
{%- endif %}
{% for message in rest %}
  {% if message.role == 'user' or message.role == 'system' %}
{{ opening(message.role) }}{{ message.content }}<|im_end|>
  {% elif message.role == 'assistant' %}
    {%- set text = message.content -%}
    {%- set why = message.reasoning_content if message.reasoning_content is defined else '' -%}
    {%- if not why and '</think>' in text -%}
      {%- set why = text.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') -%}
      {%- set text = text.split('</think>')[-1].lstrip('\n') -%}
    {%- endif -%}
{{ opening('assistant') }}{% generation %}{%- if why and loop.index0 + (rest | length) * 0 + (messages | length - rest | length) > ns.last -%}
<think>{{ '\n' + why.strip('\n') }}
</think>

{% endif %}{{ text }}
    {%- for call in message.tool_calls or [] %}
      {%- set call = call.function if call.function else call %}
      {%- if text or not loop.first %}{{ '\n' }}{% endif %}
      {{- '<tool_call>\n{"name": "' ~ call.name ~ '", "arguments": ' }}
      {{- call.arguments if call.arguments is string else call.arguments | tojson }}
      {{- '}\n</tool_call>' }}
    {%- endfor %}<|im_end|>
{% endgeneration %}
  {%- elif message.role == 'tool' %}
    {%- if loop.first or loop.previtem.role != 'tool' %}
      {{- opening('user') }}
    {%- endif %}
<tool_response>
{{ message.content }}
</tool_response>
    {%- if loop.last or loop.nextitem.role != 'tool' %}
      {{- '<|im_end|>\n' }}
    {%- else %}
      {{- '\n' }}
    {%- endif %}
  {%- else %}
    {{- raise_exception('unknown role: ' + message['role'] | string) }}
  {% endif %}
{% endfor %}
{% if add_generation_prompt %}
{{- opening('assistant') }}
{%- if enable_thinking is defined and enable_thinking is false %}{{ '<think>\n\n</think>\n\n' }}{% endif %}
{%- endif %}
"""

# A template that knows nothing of tools, and has a system text of its own.
PLAIN = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nBe kind.<|im_end|>\n' }}{% endif %}"
    "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)

TEXTS = [
    "",
    "hello world",
    "def f(x):\n    return x+1  # no\n\n\n\tpass",
    "a<b & c é — 你好 🙂🙂🏽 e\u0301 \u2028 ﬁ",
    "1234567890 3.14159e-10 0x1F 12,345",
    "  leading and trailing  \n ",
    "it's we'll I'D don’t",
    "\r\n\r\n x\ty \u00a0z\u3000",
    "<think> <tool_call>{}</tool_call> </think>",
    "``` {\"a\":[1,2,{\"b\":null}]} ```",
    "ⅷ ½ ² ١٢٣ a1b2",
]

USER = lambda c: {"role": "user", "content": c}
SYSTEM = lambda c: {"role": "system", "content": c}
REPLY = lambda c: {"role": "tool", "content": c}


def assistant(content, calls=None, reasoning=None):
    message = {"role": "assistant", "content": content}
    if reasoning is not None:
        message["reasoning_content"] = reasoning
    if calls:
        message["tool_calls"] = [
            {"type": "function", "function": {"name": name, "arguments": arguments}} for name, arguments in calls
        ]
    return message


ZED = json.loads(
    '{"type":"function","function":{"name":"zed","description":"a<b & c é","parameters":{"type":"object",'
    '"properties":{"z":{"type":"string"},"a":{"type":"integer"}},"required":["z"]}}}'
)
RUN = {
    "type": "function",
    "function": {
        "name": "run_py",
        "description": 'say "hi"\n\\ \u2028 \x7f 🙂',
        "parameters": {
            "type": "object",
            "properties": {"code": {"type": "string"}, "timeout": {"type": "number", "default": 1.0, "maximum": 1234567.5}},
            "required": [],
            "additionalProperties": {},
        },
    },
}

# name: (messages, tools)
CONVERSATIONS = {
    "one question": ([USER("hi")], None),
    "case 16: history with thinking off": ([USER("a"), assistant("x"), USER("b"), assistant("y")], None),
    "case 17: only the closing tag": ([USER("q"), assistant("because\n</think>\n\nans")], None),
    "case 17: the tag in the answer": ([USER("q"), assistant("<think>\nr\n</think>\n\nthe tag </think> ends it")], None),
    "case 22: schema": ([USER("go")], [ZED]),
    "case 23: arguments as object and as text": (
        [
            USER("go"),
            assistant("hi", [("run_py", {"code": "print(1<2)"}), ("g", '{"a":1}')]),
            REPLY("1"),
            REPLY("2"),
            USER("and?"),
        ],
        None,
    ),
    "system and tools": ([SYSTEM(" Be brief.\n"), USER(" x "), assistant(" y "), USER("z")], [RUN, ZED]),
    "tool cycle": (
        [
            USER("go"),
            assistant("", [("run_py", {"code": "a\n\"b\" é \u2028", "f": 1.0, "g": 1e22, "n": None, "t": True, "l": [], "o": {}})]),
            REPLY("out <b> & </b>"),
            assistant("done", reasoning="so\nthat"),
        ],
        [RUN],
    ),
    "reasoning given as empty": ([USER("q"), assistant("<think>\nr\n</think>\n\nans", reasoning=""), USER("z")], None),
    "reasoning in an old turn": ([USER("q"), assistant("ans", reasoning="why\n"), USER("z")], None),
}


def goldens(tokenizer, template, name):
    out = []
    for title, (messages, tools) in CONVERSATIONS.items():
        for prompt, thinking in ((False, None), (True, None), (True, False), (True, True)):
            options = {} if thinking is None else {"enable_thinking": thinking}
            special = {k: v for k, v in tokenizer.special_tokens_map.items() if isinstance(v, str)}
            (text,), _ = render_jinja_template(
                [messages], tools=tools, chat_template=template, add_generation_prompt=prompt, **options, **special
            )
            ids = tokenizer(text, add_special_tokens=False)["input_ids"]
            out.append(
                {"name": title, "messages": messages, "tools": tools, "prompt": prompt, "thinking": thinking, "text": text, "ids": ids}
            )
    texts = [{"text": t, "ids": tokenizer(t, add_special_tokens=False)["input_ids"]} for t in TEXTS]
    document = {"texts": texts, "conversations": out}
    (HERE / name).write_text(json.dumps(document, ensure_ascii=False, separators=(",", ":")).replace('},{"name"', '},\n{"name"') + "\n")


# Pieces of template text, one feature each; messages are FEATURE_MESSAGES.
FEATURES = [
    # white space
    "a {% if true %} b {% endif %} c",
    "a\n  {% if true %}\n  b\n  {% endif %}\nc\n",
    "a\n  {%- if true -%}\n  b\n  {%- endif -%}\nc\n\n",
    "a\n  {%+ if true +%}\n  b\n  {%+ endif +%}\nc",
    "  {{ 'x' }}  \n  {{- 'y' -}}  \nz",
    "end: {{ 'x' }}{%- if true -%} y {%- endif -%} z",
    "{% if true %}{{ 'x' }}\n{% endif %}y",
    "  {{ 'x' }}{% if true %}y{% endif %}\n{{ 'z' }}\n",
    "a\n  {# note #}\nb {#- note -#} c {# it's #}d",
    "{% raw %}{{ x }} {% if %}{% endraw %}\ny{%- raw -%} z {%- endraw -%} w",
    "\r\na\r\n{% if true %}\r\nb\rc{% endif %}\r\n",
    "{% for m in messages %}\n  {% if m.role == 'user' %}\n    {{ m.content }}\n  {% endif %}\n{% endfor %}\nend",
    # literals
    r"""{{ 'a\nb\tc\\d\'e\"f' }}{{ "g'h" }}{{ '\u00e9\x41\r\q' }}{{ 'é{{ %} }}' }}""",
    "{{ 1 }}{{ 2.50 }}{{ 1.0 }}{{ none }}{{ None }}{{ true }}{{ False }}{{ [1, 'a', none] }}{{ {'a': 1} }}{{ undefined_name }}",
    # expressions
    "{{ 7 // 2 }} {{ 7 % 3 }} {{ 1 + 2 * 3 }} {{ (1 + 2) * 3 }} {{ -3 }} {{ 'a' ~ 1 ~ true }} {{ 'ab' * 2 }} {{ 7 / 2 }}",
    "{{ 1 if false }}{{ 'b' if not false and 1 < 2 else 'c' }}{{ 'x' in 'xyz' }}{{ 'role' in messages[0] }}{{ 3 not in [1, 2] }}",
    "{{ '' or 'fallback' }}{{ 'a' and 'b' }}{{ none or 0 }}{{ 1 == 1.0 }}{{ 'a' != 'b' }}{{ 1 <= 2 }}",
    "{{ messages[-1].content }}{{ messages[0]['content'] }}{{ messages[1:][0].role }}{{ messages[::-1][0].role }}{{ messages[:-1] | length }}{{ 'abcdef'[1:4] }}{{ 'abc'[-1] }}{{ 'abc'[::-1] }}",
    "{{ messages[0].missing is defined }}{{ messages[0].missing is none }}{{ none is none }}{{ messages is iterable }}{{ messages[0] is mapping }}{{ 'a' is string }}{{ 1 is number }}{{ messages is sequence }}{{ true is boolean }}{{ 4 is even }}{{ x is not defined }}{{ false is false }}",
    # strings and filters
    "[{{ '  a b ' | trim }}][{{ ' x '.strip() }}][{{ 'xxaxx'.strip('x') }}][{{ 'xxaxx'.lstrip('x') }}][{{ 'xxaxx'.rstrip('x') }}]",
    "{{ 'a,b,,c'.split(',') | length }}{{ 'a b  c'.split() | join('-') }}{{ 'abc'.startswith('ab') }}{{ 'abc'.endswith('bc') }}{{ 'a-b'.replace('-', '+') }}{{ 'aB'.upper() }}{{ 'aB'.lower() }}{{ 'ab cd'.title() }}{{ 'abc'.find('c') }}",
    "{{ 'abc' | upper }}{{ 'ABC' | lower }}{{ 'abc' | capitalize }}{{ 'ab' | length }}{{ [3, 1, 2] | sort | join(',') }}{{ [1, 2] | first }}{{ [1, 2] | last }}{{ 'a' | default('b') }}{{ x | default('b') }}{{ '' | default('b', true) }}{{ 'a' | replace('a', 'c') }}",
    "{{ messages | map(attribute='role') | join(' ') }}{{ messages | selectattr('role', 'equalto', 'user') | list | length }}{{ messages | rejectattr('role', 'equalto', 'user') | map(attribute='content') | first }}",
    "{{ '3' | int + 1 }}{{ 3.7 | int }}{{ [1, 2, 3] | sum }}{{ 'a\nb' | indent(2) }}{{ [1, 1, 2] | unique | list }}{{ [1, 2] | reverse | list }}{{ none | string }}{{ 2.0 | string }}",
    "{{ {'b': 1, 'a': [1.0, none, true, 'é<\\u2028']} | tojson }}{{ {'b': {'x': []}, 'a': [1, 'y']} | tojson(indent=2) }}{{ {'b': 1, 'a': 'é🙂'} | tojson(ensure_ascii=true, sort_keys=true, separators=(',', ':')) }}",
    "{% for k, v in {'b': 1, 'a': 2}.items() %}{{ k }}={{ v }};{% endfor %}{% for k in {'b': 1, 'a': 2} %}{{ k }}{% endfor %}{% for k, v in {'z': 1, 'y': 2} | items %}{{ k }}{{ v }}{% endfor %}{{ {'a': 1}.get('b', 'd') }}{{ {'a': 1}.keys() | list }}{% for k, v in {'b': 1, 'a': 2} | dictsort %}{{ k }}{{ v }}{% endfor %}",
    # statements
    "{% set x = 1 %}{% if x == 2 %}a{% elif x == 1 %}b{% else %}c{% endif %}{% set y %}block {{ x }}{% endset %}{{ y }}",
    "{% for i in range(3) %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.cycle('p', 'q') }}{{ loop.previtem is defined }}{{ loop.nextitem | default('-') }} {% endfor %}",
    "{% for i in [] %}x{% else %}none{% endfor %}{% for i in range(10) if i % 2 %}{% if i > 6 %}{% break %}{% endif %}{% if i == 3 %}{% continue %}{% endif %}{{ i }}{% endfor %}",
    "{% set ns = namespace(n=0, seen=[]) %}{% for i in range(3) %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}",
    "{% set x = 'out' %}{% for i in range(3) %}{{ x }}{% if i == 1 %}{% set x = 'in' %}{% endif %}{{ x }} {% endfor %}{{ x }}",
    "{% for i in range(3) %}{{ y is defined }}{% if i == 0 %}{% set y = 1 %}{% endif %}{% for i in range(2) %}{{ y }}{% set y = 2 %}{{ y }}{% endfor %} {% endfor %}{{ y is defined }}",
    "{% for m in messages %}{% set m = m.content %}{{ m }}{% endfor %}",
    "{% macro f(a, b='d', c=none) %}<{{ a }}{{ b }}{{ c is none }}>{% endmacro %}{{ f('x') }}{{ f('y', c=1) }}{{ f('z', 'w') | trim }}",
    "{% generation %}{{ messages[1].content }}{% endgeneration %}\nz",
    "{{ 'tojson' }}{{ messages[0].role|tojson }}{{ messages[0] | tojson | length }}{# | tojson #}",
    "{{ bos_token }}{{ eos_token is defined }}{{ tools is none }}{{ documents is none }}{{ add_generation_prompt }}",
]
FEATURE_MESSAGES = [USER("Hello\n"), assistant("Hi é")]


def features():
    out = []
    for template in FEATURES:
        (text,), _ = render_jinja_template([FEATURE_MESSAGES], chat_template=template, bos_token="<s>")
        out.append({"template": template, "text": text})
    (HERE / "features.json").write_text(json.dumps(out, ensure_ascii=False, indent=0) + "\n")


def tiny():
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    t = Tokenizer(models.BPE())
    t.normalizer = normalizers.NFC()
    pattern = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    t.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(pattern), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    t.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    corpus = TEXTS + [TEMPLATE, json.dumps([ZED, RUN]), pathlib.Path(__file__).read_text()]
    t.train_from_iterator(corpus, trainers.BpeTrainer(vocab_size=420, initial_alphabet=alphabet, show_progress=False))
    for content in ("<|endoftext|>", "<|im_start|>", "<|im_end|>"):
        t.add_special_tokens([AddedToken(content, special=True, normalized=False)])
    for content in ("<tool_call>", "</tool_call>", "<think>", "</think>"):
        t.add_tokens([AddedToken(content, special=False, normalized=False)])
    TINY.mkdir(exist_ok=True)
    t.save(str(TINY / "tokenizer.json"), pretty=False)
    config = {"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "bos_token": None, "chat_template": TEMPLATE}
    (TINY / "tokenizer_config.json").write_text(json.dumps(config, indent=1) + "\n")
    (HERE / "plain.jinja").write_text(PLAIN)
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(TINY / "tokenizer.json"), eos_token="<|im_end|>", pad_token="<|endoftext|>")
    goldens(tokenizer, TEMPLATE, "tiny_goldens.json")


def qwen3(folder):
    from transformers import PreTrainedTokenizerFast

    template = json.loads((pathlib.Path(folder) / "tokenizer_config.json").read_text())["chat_template"]
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(pathlib.Path(folder) / "tokenizer.json"), eos_token="<|im_end|>", pad_token="<|endoftext|>"
    )
    goldens(tokenizer, template, "qwen3_goldens.json")


def smollm2(path):
    import gguf
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    fields = gguf.GGUFReader(path).fields
    field = lambda name: fields["tokenizer." + name].contents()
    tokens = field("ggml.tokens")
    merges = [tuple(m.split(" ")) for m in field("ggml.merges")]
    t = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=merges))
    # As in SmolLM2's own tokenizer.json.
    t.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)]
    )
    t.decoder = decoders.ByteLevel()
    control = [tok for tok, kind in zip(tokens, field("ggml.token_type")) if kind == 3]
    t.add_special_tokens([AddedToken(c, special=True, normalized=False) for c in control])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=t, bos_token="<|im_start|>", eos_token="<|im_end|>", pad_token="<|im_end|>")
    texts = [{"text": s, "ids": tokenizer(s, add_special_tokens=False)["input_ids"]} for s in TEXTS]
    messages = [USER("hi"), assistant("x"), USER("b")]
    (text,), _ = render_jinja_template([messages], chat_template=field("chat_template"), add_generation_prompt=True)
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    conversation = {"name": "default system", "messages": messages, "prompt": True, "text": text, "ids": ids}
    document = {"texts": texts, "conversations": [conversation]}
    (HERE / "smollm2_goldens.json").write_text(json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    {"tiny": tiny, "features": features, "qwen3": qwen3, "smollm2": smollm2}[sys.argv[1]](*sys.argv[2:])
