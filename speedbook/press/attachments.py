"""Pictures attached to cells, for a page in a single file.

Markdown accepts no address that itself contains an SVG picture. So the Markdown gets short
placeholders, and in the finished page the pictures replace them.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Mapping
from unicodedata import normalize
from urllib.parse import quote

#: A placeholder for a picture.
STAND_IN = re.compile("attachment:[0-9a-f]{64}")
#: Letters that Markdown editors leave as they are in an address.
UNQUOTED = "/", "/!*'()", ""


def with_stand_ins(
    source: str, attached: Mapping[str, Mapping[str, str]], pictures: dict[str, str]
) -> str:
    """Return the Markdown of a cell with placeholders for its pictures.

    Parameters
    ----------
    source : str
        The Markdown, with addresses such as ``attachment:a%20b.png``.
    attached : mapping
        The pictures by file name and kind: ``{"a b.png": {"image/png": "iVBO..."}}``.
    pictures : dict
        The addresses that hold the pictures are added here, by placeholder.
    """
    known: dict[str, str] = {}
    for name, bundle in attached.items():
        for kind, content in list(bundle.items())[:1]:
            data = address(kind, content)
            stand_in = f"attachment:{hashlib.sha256(data.encode()).hexdigest()}"
            pictures[stand_in] = data
            # Systems write an umlaut as one character or two, and editors quote different letters.
            plain = [normalize(form, name) for form in ("NFC", "NFD")]
            quoted = [quote(text, safe) for text in plain for safe in UNQUOTED]
            spaced = [text.replace(" ", "%20") for text in plain]
            known |= dict.fromkeys([*plain, *quoted, *spaced], stand_in)
    # Longer names first: one may be the beginning of another.
    names = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    written = re.compile(f"<attachment:({names})>|attachment:({names})")
    return written.sub(lambda found: known[found[1] or found[2]], source)


def address(kind: str, content: str) -> str:
    """Return a picture as an address; an SVG may be given as text, as notebooks allow."""
    text = content.strip()
    code = b64encode(text.encode()).decode() if text.startswith("<") else "".join(text.split())
    return f"data:{kind};base64,{code}"
