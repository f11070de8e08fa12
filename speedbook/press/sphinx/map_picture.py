"""The map of the claims as a picture: an SVG that takes its colours from the style sheet."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from html import escape
from itertools import pairwise

from speedbook.claims.relations import Relations, Statement
from speedbook.claims.rules import Verdict
from speedbook.press.sphinx.map_layout import Layout, Node, lay_out

#: Lengths in units of the picture, which are about pixels.
WIDTH, ROW, HEAD, BETWEEN, GAP, MARGIN = 186, 30, 20, 33, 12, 4
#: What `_ours` adds above our own statements.
OURS = 17
LONGEST_LABEL = 30


def short(verdict: Verdict) -> str:
    """Return a short word for a verdict, for narrow places."""
    return str(verdict).removesuffix(" over the measured range")


def map_svg(
    relations: Relations, links: Mapping[str, str], heads: Collection[str] | None = None
) -> str:
    """Return the map as the text of an SVG, with a link for each claim.

    If some statements are given by their representing claims, the map shows only these statements
    and the arrows between them.
    """
    statements = relations.statements()
    edges = relations.edges
    if heads is not None:
        statements = {head: statements[head] for head in heads}
        edges = {pair: names for pair, names in edges.items() if set(pair) <= statements.keys()}
    heights = {head: _height(statement) for head, statement in statements.items()}
    layout = lay_out(heights, edges, GAP)
    boxes = "\n".join(
        _box(statement, _corner(layout, statement.head, heights), relations, links)
        for statement in statements.values()
    )
    arrows = "\n".join(
        _arrow(layout.ways[pair], layout, any(map(relations.fails, names)))
        for pair, names in edges.items()
    )
    columns = max(layout.columns.values(), default=0) + 1
    width = columns * (WIDTH + BETWEEN) - BETWEEN + 2 * MARGIN
    height = layout.height + 2 * MARGIN
    return (
        f'<svg width="{width}" height="{height:.0f}" viewBox="0 0 {width} {height:.0f}" '
        'role="group" aria-label="Which statement rests on which; the tables list the same">\n'
        f'<g class="arrows" aria-hidden="true">\n{arrows}\n</g>\n{boxes}\n</svg>'
    )


def _height(statement: Statement) -> float:
    rows = len(statement.claims) + len(statement.ours)
    return float(HEAD + rows * ROW + (OURS if statement.ours else 0) + 4)


def _corner(layout: Layout, head: str, heights: Mapping[str, float]) -> tuple[float, float]:
    """Return the upper left corner of a box."""
    column = layout.columns[head]
    top = layout.centres[head, column] - heights[head] / 2
    return MARGIN + column * (WIDTH + BETWEEN), MARGIN + top


def _arrow(way: Sequence[Node], layout: Layout, broken: bool) -> str:
    """Draw an arrow from the right side of a box, through its lanes, to the left of another."""
    points = [
        (MARGIN + column * (WIDTH + BETWEEN), MARGIN + layout.centres[name, column])
        for name, column in way
    ]
    path = f"M{points[0][0] + WIDTH} {points[0][1]:.1f}"
    for (x, y), (end, height) in pairwise(points):
        x += WIDTH
        bend = (end - x) / 2
        path += f"C{x + bend:.0f} {y:.1f} {end - bend:.0f} {height:.1f} {end} {height:.1f}"
        # Straight through a column.
        path += f"h{WIDTH}" if end != points[-1][0] else ""
    x, y = points[-1]
    tip = f'<path class="tip" d="M{x} {y:.1f}l-7 -3.5v7z"/>'
    return f'<g class="{"broken" if broken else "firm"}"><path d="{path}"/>{tip}</g>'


def _box(
    statement: Statement,
    corner: tuple[float, float],
    relations: Relations,
    links: Mapping[str, str],
) -> str:
    x, y = corner
    label = statement.label
    if len(label) > LONGEST_LABEL:
        label = label[: LONGEST_LABEL - 1].rstrip() + "…"
    parts = [
        f'<rect class="box" width="{WIDTH}" height="{_height(statement):.0f}" rx="5"/>',
        f'<text class="quiet" x="9" y="14">{escape(label)}</text>',
    ]
    top = HEAD
    for name in statement.claims:
        parts.append(_row(name, top, relations, links))
        top += ROW
    if statement.ours:
        word = "corrected by us" if any(map(relations.fails, statement.claims)) else "ours"
        parts.append(
            f'<path class="rule" d="M9 {top + 1}H{WIDTH - 9}"/>'
            f'<text class="quiet" x="9" y="{top + 12}">{word}</text>'
        )
        top += OURS
    for name in statement.ours:
        parts.append(_row(name, top, relations, links))
        top += ROW
    return f'<g transform="translate({x:.0f} {y:.1f})">\n' + "\n".join(parts) + "\n</g>"


def _row(name: str, top: float, relations: Relations, links: Mapping[str, str]) -> str:
    verdict, claim = relations.verdicts[name], relations.claims[name]
    text = (
        f"<title>{escape(f'{claim.title}: {verdict} ({claim.place})')}</title>"
        f'<rect class="row" x="4" y="{top + 1}" width="{WIDTH - 8}" height="{ROW - 2}" rx="3"/>'
        f'<text class="sign" x="13" y="{top + 12}">{verdict.symbol}</text>'
        f'<text x="23" y="{top + 12}">{escape(name)}</text>'
        f'<text class="word" x="23" y="{top + 24}">{short(verdict)}</text>'
    )
    if name not in links:
        return f'<g class="{verdict.css_class}">{text}</g>'
    return f'<a class="{verdict.css_class}" href="{escape(links[name])}">{text}</a>'
