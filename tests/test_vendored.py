"""Files of other projects that the book or its tools carry: they are what their packages hold."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
VENDORS = ("book/_static/vendor", "tools/audit/vendor", "speedbook/run/vendor")
FOLDERS = sorted(path for each in VENDORS for path in (ROOT / each).iterdir() if path.is_dir())


def test_something_is_vendored() -> None:
    assert {folder.name for folder in FOLDERS} >= {"d3", "axe-core", "thebe"}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_vendored_files_have_their_sums_their_version_and_their_licence(folder: Path) -> None:
    note = (folder / "VENDORED.txt").read_text(encoding="utf-8")
    sums = {name: digest for digest, name in re.findall(r"^([0-9a-f]{64})  (\S+)$", note, re.M)}
    kept = {path.name for path in folder.iterdir()} - {"VENDORED.txt"}
    assert sums.keys() == kept
    assert any(name.startswith("LICENSE") for name in kept)
    for name, digest in sums.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest, name
    version = re.search(r"^version: (\S+)$", note, re.M)
    assert version is not None
    scripts = [path for path in folder.iterdir() if path.suffix == ".js"]
    for script in scripts:
        # At the top or, in what webpack has packed, anywhere.
        text = script.read_text(encoding="utf-8")
        packed = "webpack" in text[:200]
        assert version[1] in (text if packed else text[:200]), script
