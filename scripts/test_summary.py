"""Prints failures whole, skips with their reasons, and the closing count of a `go test -json` log."""

import json
import sys
from collections import defaultdict


def main(path):
    output = defaultdict(list)
    results = {}
    build_failures = []
    for line in open(path, encoding="utf-8", errors="replace"):
        try:
            event = json.loads(line)
        except json.JSONDecodeError:
            build_failures.append(line)
            continue
        key = (event.get("Package"), event.get("Test"))
        action = event.get("Action")
        if action == "output":
            output[key].append(event["Output"])
        elif action == "build-output":
            build_failures.append(event["Output"])
        elif action in ("pass", "fail", "skip"):
            results[key] = action

    tests = {k: v for k, v in results.items() if k[1]}
    failed_packages = {p for (p, _), v in results.items() if v == "fail"}
    for key, action in results.items():
        package, test = key
        if action != "fail":
            continue
        lone_package = test is None and not any(p == package and v == "fail" for (p, _), v in tests.items())
        if test or lone_package:
            print(f"FAIL {package} {test or ''}")
            sys.stdout.writelines(output[key])
    if failed_packages:
        sys.stdout.writelines(build_failures)

    skips = defaultdict(int)
    for key, action in tests.items():
        if action == "skip":
            reason = [l.strip() for l in output[key] if not l.startswith(("===", "---"))]
            skips[(reason[-1] if reason else "no reason given").split(": ", 1)[-1]] += 1
    for reason, count in sorted(skips.items()):
        print(f"skipped {count}: {reason}")

    count = lambda action: sum(v == action for v in tests.values())
    failed = count("fail") + sum(1 for (p, t), v in results.items() if t is None and v == "fail" and not any(q == p and w == "fail" for (q, _), w in tests.items()))
    print(f"{count('pass')} passed, {failed} failed, {count('skip')} skipped")
    return 1 if failed else 0


sys.exit(main(sys.argv[1]))
