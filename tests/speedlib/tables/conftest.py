"""What is said of a table that is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .kinds import read


@pytest.fixture
def said(tmp_path: Path) -> Callable[..., str]:
    """Read a table that is refused; return what is said, with the name of its file alone."""

    def refusal(kind: str, content: str | bytes, **choices: Any) -> str:
        path = tmp_path / "my table.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(ValueError) as refused:
            read(kind, path, **choices)
        assert str(refused.value).startswith(str(path))
        return str(refused.value).removeprefix(str(path))

    return refusal
