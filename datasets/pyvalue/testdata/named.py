"""Prints the count and the SHA-256 of the characters that \\N{…} knows by name,
a code point in hexadecimal on a line each.

usage: named.py     (CPython 3.11: Unicode 14)
"""

import hashlib
import unicodedata

named = [r for r in range(0x110000) if unicodedata.name(chr(r), None)]
digest = hashlib.sha256("".join(f"{r:x}\n" for r in named).encode())
print(unicodedata.unidata_version, len(named), digest.hexdigest())
