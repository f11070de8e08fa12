"""The tiny hand-in, and what students get of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.course import __main__ as course

from . import tiny


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.write(tmp_path_factory.mktemp("class") / "my notebooks")


@pytest.fixture(scope="module")
def packed(sources: Path) -> Path:
    """Pack the tiny hand-in."""
    target = sources.parent / "for students.zip"
    assert course.main(["--notebooks", str(sources), "student", "--out", str(target)]) == 0
    return target
