"""Runs the recipe and cr build-dataset on a source: bench.py SOURCE.parquet DIR

Each is measured as a whole process, what it starts included. The recipe's own
line leaves the import of its libraries out of the time.
"""

import os
import pathlib
import subprocess
import sys
import time


def run(source, *command):
    # Each begins alike: nothing left to be written, the source in memory.
    os.sync()
    with open(source, "rb") as f:
        while f.read(1 << 22):
            pass
    begun = time.monotonic()
    child = subprocess.Popen(command, stdout=sys.stderr)
    _, status, used = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"{command[0]} failed")
    return time.monotonic() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main():
    source, out = sys.argv[1:3]
    recipe = pathlib.Path(__file__).with_name("recipe.py")
    a = run(source, sys.executable, "-W", "ignore", str(recipe), source, out + "/recipe")
    b = run(source, "bin/cr", "--quiet", "build-dataset", "--source", source, "--out", out + "/cr")
    for name, (wall, cpu, peak) in [("recipe", a), ("cr", b)]:
        print(f"{name:8} {wall:7.1f} s {cpu:7.1f} s of CPU {peak:7.0f} MB")
    print(f"{'':8} {a[0] / b[0]:6.1f}x   {a[1] / b[1]:6.1f}x {'':7} {100 * b[2] / a[2]:6.0f} %", flush=True)


main()
