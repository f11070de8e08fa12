"""Describe the Air Quality data in ``air-quality-moments.json``, since the data are not passed on.

Name the file, or leave it out if it is found by `speedbook data list`::

    python data/make_air_quality_moments.py AirQualityUCI.csv

The file is checked before it is read. If the result differs from what is here, renew its line in
``SHA256SUMS``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from paper.datasets import load
from paper.environments.air_quality import MOMENTS, make_moments

TARGET = Path(__file__).resolve().parent / MOMENTS


def main() -> None:
    """Read the file named on the command line and write the moments beside this script."""
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    moments = make_moments(load("air-quality", *sys.argv[1:]))
    # A line for each entry, so that differences can be read.
    lines = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in moments.items())
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8", newline="\n")
    print(f"{TARGET.name}: {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
