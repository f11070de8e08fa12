"""How to cite a page of the book: a reference as text and as BibTeX, and that of the paper.

What the references say of the book and of the paper comes from ``CITATION.cff``, the version
included. The commit and its year are those from which the book was built.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import yaml
from pybtex.backends.plaintext import Backend
from pybtex.database import BibliographyData, Entry, Person
from pybtex.database.input.bibtex import Parser
from pybtex.database.output.bibtex import Writer
from pybtex.style.formatting.plain import Style

from speedbook.run.provenance import commit_text

FILE = "CITATION.cff"
#: The beginning of the keys of pages in BibTeX.
KEY = "speed-companion"
#: The types of BibTeX for those of CITATION.cff that we use.
TYPES = {"conference-paper": "inproceedings"}


class Reference(NamedTuple):
    """References in both forms."""

    text: str
    bibtex: str


def read_citation(root: Path) -> dict[str, Any] | None:
    """Return the content of ``CITATION.cff``; None if there is no such file.

    Raises a ValueError if title, version or authors are missing.
    """
    path = root / FILE
    if not path.is_file():
        return None
    try:
        about: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
        if missing := {"title", "version", "authors"} - about.keys():
            raise ValueError(f"it has no {' and no '.join(sorted(missing))}")
    except (yaml.YAMLError, ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"{path}: cannot be cited from ({error})") from None
    return about


def page_reference(
    about: Mapping[str, Any], page: str, title: str, build: Mapping[str, Any]
) -> Reference:
    """Return the reference of a page.

    Parameters
    ----------
    about : mapping
        The content of ``CITATION.cff``.
    page : str
        The path of the page without its ending, such as ``notebooks/claims/prop-1``.
    title : str
        The title of the page, as text.
    build : mapping
        ``commit`` and ``changed`` as in `speedbook.run.provenance.git_state`, and ``year``. Without
        a year, that of ``date-released`` is taken, if there is one.
    """
    commit = commit_text(build.get("commit"), build.get("changed"), none="")
    year = build.get("year") or str(about.get("date-released", ""))[:4]
    fields = {
        "title": _whole(title),
        "howpublished": f"In {_whole(about['title'])}",
        "year": str(year),
        "note": f"Version {about['version']}" + (f", commit {commit}" if commit else ""),
    }
    parts = PurePosixPath(page).parts
    key = "-".join((KEY, *(parts[1:] or parts)))
    return _references([(key, _entry("misc", fields, about["authors"]))])


def paper_reference(about: Mapping[str, Any]) -> Reference:
    """Return the references that ``CITATION.cff`` names: the paper's."""
    return _references([_work(each) for each in about.get("references", [])])


def _work(work: Mapping[str, Any]) -> tuple[str, Entry]:
    """Return the key and the entry of a work of CITATION.cff."""
    fields = {
        "title": _whole(work["title"]),
        "booktitle": work.get("collection-title", ""),
        "series": work.get("publisher", {}).get("name", ""),
        "volume": str(work.get("volume", "")),
        "year": str(work.get("year", "")),
        "note": ", ".join(each["value"] for each in work.get("identifiers", [])),
    }
    entry = _entry(TYPES.get(work["type"], "misc"), fields, work["authors"])
    first = str(entry.persons["author"][0].last_names[0])
    word = re.split(r"\W+", work["title"])[0]
    return re.sub(r"\W", "", f"{first}{fields['year']}{word}").lower(), entry


def _entry(kind: str, fields: Mapping[str, str], authors: Sequence[Mapping[str, str]]) -> Entry:
    people = [
        Person(first=each.get("given-names", ""), last=each["family-names"])
        if "family-names" in each
        else Person(last=_whole(each["name"]))
        for each in authors
    ]
    known = {name: text for name, text in fields.items() if text}
    return Entry(kind, fields=known, persons={"author": people})


def _whole(text: str) -> str:
    """Keep styles of BibTeX from changing capitals, or from taking a name apart."""
    return f"{{{text}}}"


def _references(entries: Sequence[tuple[str, Entry]]) -> Reference:
    bibtex = Writer().to_string(BibliographyData(entries=dict(entries))).strip()
    # The style reads LaTeX, as it is in BibTeX.
    read = Parser().parse_string(bibtex).entries.values()
    texts = [each.text.render(Backend()) for each in _style().format_entries(list(read))]
    return Reference("\n\n".join(texts), bibtex)


@cache
def _style() -> Style:
    """Return the style of the book's bibliography; to find its parts takes as long as a page."""
    return Style()
