"""The map of the claims, as a picture and in tables: it shows which claim rests on which.

Directives

- ``{claim-map}``: the whole picture, with a key to its signs.
- ``{claim-foundations} KIND``: the claims of one of the `KINDS`, each with the claims it rests on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from speedbook.claims.registry import REGISTRY, load_registry
from speedbook.claims.relations import Relations, Statement
from speedbook.claims.rules import Verdict
from speedbook.press.sphinx.map_picture import map_svg
from speedbook.press.sphinx.tables import (
    Content,
    anchor,
    badge,
    card_link,
    entry,
    muted,
    page_ledger,
    reference,
    table,
)

if TYPE_CHECKING:
    from sphinx.environment import BuildEnvironment
    from sphinx.writers.html5 import HTML5Translator

#: Which claims a table lists: those that hold although they rest on a false claim; those that fail
#: and rest on one; those that hold with all that they rest on; and those where an error begins.
KINDS: dict[str, Callable[[Relations, str], bool]] = {
    "survives": lambda map_, name: not map_.fails(name) and bool(map_.broken(name)),
    "falls": lambda map_, name: map_.fails(name) and bool(map_.broken(name)),
    "firm": lambda map_, name: (
        not map_.fails(name) and bool(map_.below(name)) and not map_.broken(name)
    ),
    "fault": lambda map_, name: (
        map_.fails(name) and bool(map_.above(name)) and not map_.broken(name)
    ),
}


def page_relations(env: BuildEnvironment) -> Relations:
    """Read the registry and the ledger of the pages; leave out claims that only one of them has."""
    env.note_dependency(str(Path(env.srcdir) / REGISTRY))
    rows = page_ledger(env)["claims"]
    claims = [claim for claim in load_registry(Path(env.srcdir)).claims if claim.id in rows]
    kept = {claim.id for claim in claims}
    trimmed = [
        claim.model_copy(
            update={
                field: tuple(name for name in getattr(claim, field) if name in kept)
                for field in ("corrected_by", "rests_on")
            }
        )
        for claim in claims
    ]
    return Relations(trimmed, {name: Verdict(rows[name]["verdict"]) for name in kept})


def chips(env: BuildEnvironment, names: Sequence[str], relations: Relations) -> list[nodes.Node]:
    """Return the ids of claims with the signs of their verdicts, linked to the ledger."""
    found: list[nodes.Node] = []
    for name in names:
        verdict = relations.verdicts[name]
        link = reference(env, anchor(name), f"{verdict.symbol} {name}")
        found += [nodes.Text(" ")] if found else []
        found.append(badge(verdict, link))
    return found


class MapNode(nodes.General, nodes.Element):  # type: ignore[misc]
    """The picture; its children are its links, which Sphinx resolves and checks."""


def map_picture(
    env: BuildEnvironment, relations: Relations, heads: Sequence[str], name: str
) -> MapNode:
    """Return the picture of some statements; the name becomes its label."""
    rows, statements = page_ledger(env)["claims"], relations.statements()
    picture: MapNode = MapNode("", relations=relations, heads=tuple(heads), name=name)
    picture += [card_link(env, name, rows[name], name) for name in shown_claims(statements, heads)]
    return picture


def shown_claims(statements: Mapping[str, Statement], heads: Sequence[str]) -> list[str]:
    """Return the claims that a picture of some statements shows, each once."""
    return list(
        dict.fromkeys(
            name for head in heads for name in (*statements[head].claims, *statements[head].ours)
        )
    )


class ClaimMap(SphinxDirective):
    """Draw the whole map, with a key to its signs."""

    def run(self) -> list[nodes.Node]:
        """Return the key and the picture."""
        relations = page_relations(self.env)
        statements = relations.statements()
        heads = list(statements)
        verdicts = {relations.verdicts[name] for name in shown_claims(statements, heads)}
        key = nodes.paragraph("", classes=["claim-map-key"])
        for verdict in Verdict:
            if verdict in verdicts:
                key += [badge(verdict), nodes.Text(" ")]
        return [key, map_picture(self.env, relations, heads, "Map of the claims")]


def visit_map(translator: HTML5Translator, node: MapNode) -> None:
    """Write the picture, with the addresses that Sphinx has found for its links."""
    links = {
        link.astext(): link.get("refuri") or f"#{link['refid']}"
        for link in node.findall(nodes.reference)
    }
    name = escape(node["name"])
    translator.body.append(
        f'<figure class="map-figure"><div class="claim-map" tabindex="0" role="region" '
        f'aria-label="{name}">\n{map_svg(node["relations"], links, node["heads"])}\n</div>\n'
        f"<figcaption>{name}: arrows lead from claims on the left to the claims that use them."
        "</figcaption></figure>\n"
    )
    raise nodes.SkipNode


def skip_map(translator: Any, node: MapNode) -> None:
    """Leave the picture out in other formats than HTML, since the tables say the same."""
    raise nodes.SkipNode


class ClaimFoundations(SphinxDirective):
    """List the claims of one kind, each with the claims that it rests on or that use it."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table, or a line if there is no such claim."""
        if (kind := self.arguments[0]) not in KINDS:
            raise self.error(f"claim-foundations: must be one of {', '.join(KINDS)}; got {kind!r}")
        relations = page_relations(self.env)
        names = [name for name in relations.claims if KINDS[kind](relations, name)]
        if not names:
            return [nodes.paragraph("", "None.")]
        heads = ("Verdict", "Claim", "Used by" if kind == "fault" else "Rests on", *LAST[kind])
        rows = [self._row(kind, name, relations) for name in names]
        found = table(heads, rows, "claim-foundations")
        found["classes"].append(f"claim-{kind}")
        return [found]

    def _row(self, kind: str, name: str, relations: Relations) -> nodes.row:
        above = chips(self.env, relations.above(name), relations)
        last = [chips(self.env, relations.claims[name].corrected_by, relations)] * len(LAST[kind])
        rests = above if kind == "fault" else rests_on(self.env, name, relations)
        return claim_row(self.env, name, relations, rests, *last)


def claim_row(env: BuildEnvironment, name: str, relations: Relations, *cells: Content) -> nodes.row:
    """Return a row of a table: verdict and claim, then the cells that are given."""
    claim, row = relations.claims[name], page_ledger(env)["claims"][name]
    link = card_link(env, name, row, claim.title)
    named = [link, nodes.Text(" "), muted(f"{claim.place} · {name}")]
    return nodes.row("", *map(entry, [[badge(relations.verdicts[name])], named, *cells]))


def rests_on(env: BuildEnvironment, name: str, relations: Relations) -> list[nodes.Node]:
    """Return the claims that a claim uses directly, and failing ones that it uses indirectly."""
    direct = relations.claims[name].rests_on
    further = [other for other in relations.broken(name) if other not in direct]
    shown = chips(env, direct, relations)
    if further:
        line = nodes.inline("", "and indirectly: ", classes=["sb-muted"])
        for other in further:
            sign = relations.verdicts[other].symbol
            line += [reference(env, anchor(other), f"{sign} {other}"), nodes.Text(" ")]
        shown += [nodes.Text(" "), line]
    return shown


#: Head of the last column, where there is one.
LAST: dict[str, tuple[str, ...]] = {
    "survives": ("Ours",),
    "falls": ("Corrected by",),
    "fault": ("Corrected by",),
    "firm": (),
}
