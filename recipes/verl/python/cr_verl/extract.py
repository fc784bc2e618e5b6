"""Which program of an answer is judged: the rules of `cr eval --extract`."""

import re

_THINKING = re.compile(r"<think>.*?</think>", re.S)
_FENCE = re.compile(r"```([^\n`]*)\n(.*?)\n?[ \t]*```", re.S)
_OPEN_FENCE = re.compile(r"```([^\n`]*)\n(.*)", re.S)
_PYTHON = {"python", "py", "python3", "python2"}


def program(text, rule):
    """The program, or "" where there is none.

    verl: the first complete Python block of all turns, else the first complete
    block, else one that never closes. last: the last Python or unlabelled block,
    else the last of any label. lcb: what stands between the last two lines with
    fences.
    """
    if rule == "lcb":
        return _between_last_fences(text)
    text = _THINKING.sub("", text).strip()
    blocks = _FENCE.findall(text)
    if rule == "verl":
        labelled = [code for label, code in blocks if label.strip().lower() in _PYTHON]
        opened = _OPEN_FENCE.findall(text) if not blocks else []
        return _first(labelled or [code for _, code in blocks] or [code for _, code in opened])
    if rule == "last":
        text = text.rsplit("</think>", 1)[-1]
        blocks = _FENCE.findall(text)
        wanted = [code for label, code in blocks if label.strip().lower() in _PYTHON | {""}]
        opened = _OPEN_FENCE.findall(_FENCE.sub("", text))
        return _first((wanted or [code for _, code in opened] or [code for _, code in blocks])[::-1])
    raise ValueError(f"extract={rule!r}: want last, lcb or verl")


def _first(codes):
    return next((code for code in codes if code.strip()), "")


def _between_last_fences(text):
    lines = text.split("\n")
    marks = [i for i, line in enumerate(lines) if "```" in line]
    return "\n".join(lines[marks[-2] + 1 : marks[-1]]) if len(marks) > 1 else ""
