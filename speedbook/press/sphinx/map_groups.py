"""The map in two steps: the groups of claims as a few boxes, then the claims of each group.

The directive ``{claim-groups}`` draws the groups that rest on one another; a group is above the
groups that use it. Below the drawing, a folded box for each group has its question, its part of the
map and its claims. The map works without scripts; ``book/_static/map.js`` only unfolds the box that
an address names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from speedbook.claims.relations import Relations
from speedbook.press.sphinx.claim_map import (
    chips,
    claim_row,
    map_picture,
    page_relations,
    rests_on,
)
from speedbook.press.sphinx.groups import Group, page_groups, tally
from speedbook.press.sphinx.map_layout import Layout, Node, lay_out
from speedbook.press.sphinx.tables import Content, table

if TYPE_CHECKING:
    pass

#: Lengths in units of the picture, which are about pixels.
WIDTH, HEIGHT, BETWEEN, GAP, MARGIN = 224, 66, 42, 18, 4
MARK = "claim-groups"
OPEN = '<details class="map-box"><summary>{}</summary><div class="map-content" id="{}">'
CLOSE = "</div></details>"

#: For a pair of groups: the claims of the first group that the second group uses.
Uses = dict[tuple[str, str], list[str]]


class ClaimGroups(SphinxDirective):
    """Draw the groups of claims that rest on one another, and list the claims of each."""

    def run(self) -> list[nodes.Node]:
        """Return the picture and the groups."""
        relations = page_relations(self.env)
        groups = [
            (group, names)
            for group, names in page_groups(self.env, relations.claims.values())
            if group is not None
        ]
        uses = group_uses(relations, {name: g.id for g, names in groups for name in names})
        linked = {name for pair in uses for name in pair}
        shown = [(group, names) for group, names in groups if group.id in linked]
        if not shown:
            return [nodes.paragraph("", "None.")]
        told = {group.id: tally(relations, names) for group, names in shown}
        by_id = {group.id: group for group, _ in shown}
        # A raw node with a class is put into a box with that class.
        svg = groups_svg(by_id, told, uses, relations)
        broken = sum(any(map(relations.fails, names)) for names in uses.values())
        caption = (
            f"{broken} of the {len(uses)} arrows are broken: the group to which such an arrow "
            "points uses a claim that fails."
        )
        svg = f'<figure class="map-figure">{svg}<figcaption>{caption}</figcaption></figure>'
        found: list[nodes.Node] = [nodes.raw("", svg, format="html", classes=[MARK])]
        for group, names in shown:
            found += self._box(group, names, told[group.id], by_id, uses, relations)
        return found

    def _box(
        self,
        group: Group,
        names: Sequence[str],
        told: str,
        groups: Mapping[str, Group],
        uses: Uses,
        relations: Relations,
    ) -> list[nodes.Node]:
        summary = (
            f"<strong>{escape(group.title)}</strong> <span>{escape(group.place)}</span> "
            f"<span>{escape(told)}</span>"
        )
        below = [groups[one] for one, other in uses if other == group.id]
        above = [groups[other] for one, other in uses if one == group.id]
        asks = nodes.paragraph("", nodes.Text(group.asks))
        lines = [_links(word, others) for word, others in (("Uses", below), ("Used by", above))]
        heads = [name for name in relations.statements() if name in names]
        # Boxes without an arrow would add nothing to the table.
        joined = any(set(pair) <= set(heads) for pair in relations.edges)
        name = f"Map: {group.title}"
        picture = [map_picture(self.env, relations, heads, name)] if joined else []
        return [
            nodes.raw("", OPEN.format(summary, box_id(group.id)), format="html"),
            asks,
            *(line for line in lines if line is not None),
            *picture,
            self._table(names, relations),
            nodes.raw("", CLOSE, format="html"),
        ]

    def _table(self, names: Sequence[str], relations: Relations) -> nodes.table:
        rows = []
        for name in names:
            cells: list[Content] = [
                rests_on(self.env, name, relations),
                chips(self.env, relations.claims[name].corrected_by, relations),
            ]
            rows.append(claim_row(self.env, name, relations, *cells))
        heads = ("Verdict", "Claim", "Rests on", "Corrected by")
        return table(heads, rows, "claim-foundations")


def box_id(group: str) -> str:
    """Return the name by which links lead to a group's part of the page."""
    return f"map-{group}"


def _links(word: str, groups: Sequence[Group]) -> nodes.paragraph | None:
    if not groups:
        return None
    line = nodes.paragraph("", f"{word}: ")
    for group in groups:
        line += [nodes.Text("; ")] if len(line) > 1 else []
        line += nodes.reference("", group.title, refuri=f"#{box_id(group.id)}", internal=True)
    return line


def group_uses(relations: Relations, groups: Mapping[str, str]) -> Uses:
    """Return, for each pair of groups, the claims of one group that the other group uses."""
    found: Uses = {}
    for (lower, upper), names in relations.edges.items():
        pair = groups.get(lower), groups.get(upper)
        if pair[0] is not None and pair[1] is not None and pair[0] != pair[1]:
            found.setdefault((pair[0], pair[1]), []).extend(names)
    return found


def groups_svg(
    groups: Mapping[str, Group], told: Mapping[str, str], uses: Uses, relations: Relations
) -> str:
    """Return the groups as the text of an SVG: a group stands above the groups that use it."""
    layout = lay_out(dict.fromkeys(groups, float(WIDTH)), uses, GAP)
    arrows = "\n".join(
        _arrow(layout.ways[pair], layout, any(map(relations.fails, names)))
        for pair, names in uses.items()
    )
    boxes = "\n".join(_group(group, told[name], layout) for name, group in groups.items())
    rows = max(layout.columns.values(), default=0) + 1
    width, height = layout.height + 2 * MARGIN, rows * (HEIGHT + BETWEEN) - BETWEEN + 2 * MARGIN
    return (
        f'<svg width="{width:.0f}" height="{height}" viewBox="0 0 {width:.0f} {height}" '
        'role="group" aria-label="Which group uses which; the boxes below list the same">\n'
        f'<g class="arrows" aria-hidden="true">\n{arrows}\n</g>\n{boxes}\n</svg>'
    )


def _arrow(way: Sequence[Node], layout: Layout, broken: bool) -> str:
    """Draw an arrow from the lower side of a box, through its lanes, to the top of another."""
    points = [
        (MARGIN + layout.centres[node], MARGIN + node[1] * (HEIGHT + BETWEEN)) for node in way
    ]
    path = f"M{points[0][0]:.1f} {points[0][1] + HEIGHT}"
    for (x, y), (end, bottom) in pairwise(points):
        bend = BETWEEN / 2
        start = y + HEIGHT
        path += f"C{x:.1f} {start + bend:.0f} {end:.1f} {bottom - bend:.0f} {end:.1f} {bottom}"
        # Straight through a row.
        path += f"v{HEIGHT}" if bottom != points[-1][1] else ""
    x, y = points[-1]
    tip = f'<path class="tip" d="M{x:.1f} {y}l-3.5 -7h7z"/>'
    return f'<g class="{"broken" if broken else "firm"}"><path d="{path}"/>{tip}</g>'


def _group(group: Group, told: str, layout: Layout) -> str:
    row = layout.columns[group.id]
    x = MARGIN + layout.centres[group.id, row] - WIDTH / 2
    y = MARGIN + row * (HEIGHT + BETWEEN)
    lines = "".join(
        f'<text class="{kind}" x="{WIDTH / 2:.0f}" y="{top}">{escape(text)}</text>'
        for kind, top, text in (
            ("head", 21, group.title),
            ("quiet", 38, group.place),
            ("word", 55, told.partition(" · ")[0].partition(": ")[2]),
        )
    )
    return (
        f'<a href="#{box_id(group.id)}" transform="translate({x:.1f} {y})">'
        f"<title>{escape(group.asks)}</title>"
        f'<rect class="box" width="{WIDTH}" height="{HEIGHT}" rx="6"/>{lines}</a>'
    )
