"""Archives that are the same, to the byte, whenever their files are."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

#: The earliest date that an archive can give a file.
DATE = (1980, 1, 1, 0, 0, 0)


def archive(files: Mapping[str, Path | str | bytes]) -> bytes:
    """Return a ZIP archive of files, given by their paths in it; each is a file or its content."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as packed:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, DATE)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            data = content.read_bytes() if isinstance(content, Path) else content
            packed.writestr(entry, data)
    return whole.getvalue()
