"""The groups of claims: headings of the ledger, boxes of the map; from ``book/groups.yml``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import yaml
from pydantic import BaseModel, ConfigDict, Field
from sphinx.util import logging

from speedbook.claims.claim import Claim
from speedbook.claims.relations import Relations
from speedbook.claims.scoreboard import HOLDING
from speedbook.text import counted

if TYPE_CHECKING:
    from sphinx.environment import BuildEnvironment

logger = logging.getLogger(__name__)

GROUPS = "book/groups.yml"


class Group(BaseModel):
    """One group: the question that it answers, its place in the paper, and its claims.

    ``claims`` are beginnings of ids. The claims of ``notebooks`` belong to the group too, unless
    another group names them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    title: str = Field(min_length=1)
    place: str = Field(min_length=1)
    asks: str = Field(min_length=1)
    claims: tuple[str, ...] = ()
    notebooks: tuple[str, ...] = ()


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    groups: tuple[Group, ...]


def load_groups(root: Path) -> tuple[Group, ...]:
    """Read the groups of a book; without the file there are none."""
    path = root / GROUPS
    if not path.is_file():
        return ()
    return _File.model_validate(yaml.safe_load(path.read_text(encoding="utf-8"))).groups


def group_of(groups: Iterable[Group], name: str, notebook: str) -> str | None:
    """Return the id of the group to which a claim belongs, or None.

    Examples
    --------
    >>> one = Group(id="one", title="One", place="1", asks="?", claims=("thm-1",))
    >>> rest = Group(id="rest", title="Rest", place="2", asks="?", notebooks=("a.ipynb",))
    >>> group_of([one, rest], "thm-1-d", "a.ipynb"), group_of([one, rest], "thm-10", "a.ipynb")
    ('one', 'rest')
    """
    groups = list(groups)
    heads = {head: group.id for group in groups for head in group.claims}
    fitting = [head for head in heads if name == head or name.startswith(f"{head}-")]
    if fitting:
        return heads[max(fitting, key=len)]
    return next((group.id for group in groups if notebook in group.notebooks), None)


def grouped(groups: Sequence[Group], claims: Iterable[Claim]) -> dict[str | None, list[str]]:
    """Return the ids of the claims by group, in order; claims without a group come last."""
    found: dict[str | None, list[str]] = {group.id: [] for group in groups}
    rest: list[str] = []
    for claim in claims:
        name = group_of(groups, claim.id, claim.notebook)
        (rest if name is None else found[name]).append(claim.id)
    return found | ({None: rest} if rest else {})


def page_groups(
    env: BuildEnvironment, claims: Iterable[Claim]
) -> list[tuple[Group | None, list[str]]]:
    """Read the groups of the pages and return each with its claims.

    Warns of claims without a group, if the book has groups.
    """
    env.note_dependency(str(Path(env.srcdir) / GROUPS))
    groups = load_groups(Path(env.srcdir))
    found = grouped(groups, claims)
    if groups and found.get(None):
        logger.warning(
            "%s: no group contains %s", GROUPS, ", ".join(found[None]), location=env.docname
        )
    known: dict[str | None, Group] = {group.id: group for group in groups}
    return [(known.get(name), names) for name, names in found.items() if names]


def tally(relations: Relations, names: Iterable[str]) -> str:
    """Say how many claims of the paper hold, how many fail, and how many claims are ours.

    If all are ours, their number is enough: the place of their group says whose they are.
    """
    names = list(names)
    paper = [name for name in names if relations.claims[name].origin != "ours"]
    if not paper:
        return counted(len(names), "claim")
    hold = sum(relations.verdicts[name] in HOLDING for name in paper)
    fail = sum(map(relations.fails, paper))
    counts = {"hold": hold, "fail": fail, "open": len(paper) - hold - fail}
    said = ", ".join(f"{count} {_verb(word, count)}" for word, count in counts.items() if count)
    parts = [f"the paper’s {len(paper)}: {said}"]
    return " · ".join([*parts, *([f"ours {len(names) - len(paper)}"] if paper != names else [])])


def _verb(word: str, count: int) -> str:
    return f"{word}s" if count == 1 and word != "open" else word
