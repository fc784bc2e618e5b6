"""Run a request's custom_extract_logic: read the completion, write code blocks.

The logic calls submit_code_blocks with CodeBlock objects, as it does in
SandboxFusion. What it prints is not ours, so the blocks leave by a descriptor
that it does not know.
"""
import json
import os
import re
import sys


class CodeBlock:
    def __init__(self, priority, code, language=""):
        self.priority, self.code, self.language = int(priority), str(code), str(language or "")


def extract_fenced_code(text):
    found = re.findall(r"```([^\n]*)\n(.*?)\n\s*```", text, re.DOTALL)
    return [CodeBlock(30, code, tag.strip()) for tag, code in found]


def extract_heuristic_code(text, language=""):
    lines = "\n".join(line for line in text.split("\n") if line.strip()) + "\n"
    found = re.findall(r"^(?:def|class) [^\n]+\n(?:[ \t]+[^\n]+\n)+", lines, re.MULTILINE)
    return [CodeBlock(10, code, "python") for code in found if language == "python"]


def main():
    blocks, out = [], os.dup(1)
    os.dup2(2, 1)
    space = {
        "CodeBlock": CodeBlock,
        "completion": sys.stdin.read(),
        "submit_code_blocks": blocks.extend,
        "extract_fenced_code": extract_fenced_code,
        "extract_heuristic_code": extract_heuristic_code,
    }
    with open("logic") as f:
        exec(compile(f.read(), "custom_extract_logic", "exec"), space)
    rows = [{"priority": b.priority, "language": b.language, "code": b.code} for b in blocks]
    with os.fdopen(out, "w") as f:
        json.dump(rows, f)


main()
