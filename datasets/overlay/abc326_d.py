"""abc326_d: any grid with one A, B and C in each row and column whose first
letters are those asked for; "No" only where the expected output says so."""

import sys


def right_grid(rows, n, first_in_row, first_in_column):
    if len(rows) != n or any(len(row) != n for row in rows):
        return False
    columns = ["".join(column) for column in zip(*rows)]
    for lines, firsts in ((rows, first_in_row), (columns, first_in_column)):
        for line, first in zip(lines, firsts):
            letters = line.replace(".", "")
            if sorted(letters) != ["A", "B", "C"] or letters[0] != first:
                return False
    return True


def accepts(given, output, expected):
    n, first_in_row, first_in_column = given.split()
    lines = output.split()
    if not lines:
        return False
    if expected.split()[0] == "No":
        return lines == ["No"]
    return lines[0] == "Yes" and right_grid(lines[1:], int(n), first_in_row, first_in_column)


files = (open(path, encoding="utf-8", errors="replace").read() for path in sys.argv[1:4])
sys.exit(0 if accepts(*files) else 1)
