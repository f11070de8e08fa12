"""The layout of a map: boxes in columns such that every arrow runs to the right.

The method is Sugiyama's. Each box is as far right as the boxes that rest on it allow. If an arrow
passes a column, it gets a place there; arrows from the same box share this place. Then one column
after the other is sorted: each box by the mean height of the boxes that it is connected with. An
isotonic regression puts the boxes as close to these heights as their sizes permit.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from graphlib import TopologicalSorter
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression

SWEEPS = 24
#: Height of the place where an arrow passes a column.
LANE = 8.0

Edge = tuple[str, str]
#: A box with a column: the box itself, or the lane of its arrows through that column.
Node = tuple[str, int]


class Layout(NamedTuple):
    """Columns of boxes, centres of boxes and lanes (from the top), and paths of arrows."""

    columns: dict[str, int]
    centres: dict[Node, float]
    ways: dict[Edge, list[Node]]
    height: float


def lay_out(heights: Mapping[str, float], edges: Collection[Edge], gap: float) -> Layout:
    """Lay out boxes of given heights; their order is kept where the edges allow it.

    Each edge runs from a box to one further right; edges form no circle. Two boxes of a column are
    at least the gap apart.
    """
    columns = _columns(heights, edges)
    ways = {
        (start, end): [(start, column) for column in range(columns[start], columns[end])]
        + [(end, columns[end])]
        for start, end in edges
    }
    nodes = dict.fromkeys((name, columns[name]) for name in heights)
    nodes |= dict.fromkeys(node for way in ways.values() for node in way)
    shelves: list[list[Node]] = [[] for _ in range(max(columns.values(), default=0) + 1)]
    for node in nodes:
        shelves[node[1]].append(node)
    sizes = {node: heights[node[0]] if columns[node[0]] == node[1] else LANE for node in nodes}
    centres = _settle(shelves, sizes, _neighbours(nodes, ways), gap)
    top = min((centres[node] - sizes[node] / 2 for node in nodes), default=0.0)
    centres = {node: centre - top for node, centre in centres.items()}
    bottom = max((centres[node] + sizes[node] / 2 for node in nodes), default=0.0)
    return Layout(columns, centres, ways, bottom)


def _columns(names: Collection[str], edges: Collection[Edge]) -> dict[str, int]:
    after: dict[str, list[str]] = {name: [] for name in names}
    for start, end in edges:
        after[start].append(end)
    steps: dict[str, int] = {}
    for name in TopologicalSorter(after).static_order():
        steps[name] = max((1 + steps[end] for end in after[name]), default=0)
    last = max(steps.values(), default=0)
    return {name: last - steps[name] for name in names}


def _neighbours(nodes: Collection[Node], ways: Mapping[Edge, list[Node]]) -> dict[Node, set[Node]]:
    found: dict[Node, set[Node]] = {node: set() for node in nodes}
    for way in ways.values():
        for one, other in pairwise(way):
            found[one].add(other)
            found[other].add(one)
    return found


def _settle(
    shelves: Sequence[list[Node]],
    sizes: Mapping[Node, float],
    neighbours: Mapping[Node, set[Node]],
    gap: float,
) -> dict[Node, float]:
    centres: dict[Node, float] = {}
    for shelf in shelves:
        centres |= _stack(shelf, [0.0] * len(shelf), sizes, gap)
    for sweep in range(SWEEPS):
        # First by the column that was just settled, and finally by those on both sides.
        side = 0 if sweep >= SWEEPS // 2 else 1 if sweep % 2 else -1
        for shelf in shelves[::-1] if sweep % 2 else shelves:
            wanted = {node: _wanted(node, side, centres, neighbours) for node in shelf}
            shelf.sort(key=wanted.__getitem__)
            centres |= _stack(shelf, [wanted[node] for node in shelf], sizes, gap)
    return centres


def _wanted(
    node: Node, side: int, centres: Mapping[Node, float], neighbours: Mapping[Node, set[Node]]
) -> float:
    near = [other for other in neighbours[node] if not side or other[1] == node[1] + side]
    return float(np.mean([centres[other] for other in sorted(near)])) if near else centres[node]


def _stack(
    shelf: Sequence[Node], wanted: Sequence[float], sizes: Mapping[Node, float], gap: float
) -> dict[Node, float]:
    """Stack boxes in the given order, as close to the wanted centres as possible."""
    if not shelf:
        return {}
    half = np.array([sizes[node] / 2 for node in shelf])
    least = np.concatenate([[0.0], np.cumsum(half[:-1] + half[1:] + gap)])
    free = isotonic_regression(np.array(wanted) - least).x
    return dict(zip(shelf, (free + least).tolist(), strict=True))
