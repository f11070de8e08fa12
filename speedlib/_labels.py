"""Labels of pandas objects: numbers are taken by their places, and labels must not say otherwise.

A column that was sorted, shuffled or joined has its labels in another order than the table that it
goes with. NumPy ignores labels, so every result would belong to other actions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

__all__ = ["check_order"]


def check_order(
    table: object,
    rows: Mapping[str, object],
    columns: Mapping[str, object] | None = None,
    *,
    name: str = "features",
) -> None:
    """Refuse arguments that have the labels of a table in another order.

    If only some labels agree with the table's labels, they name something else and are ignored.

    Parameters
    ----------
    table : object
        The argument with a row for each action or sample.
    rows : mapping
        Arguments whose last axis goes with the rows of the table, by their names.
    columns : mapping, optional
        Arguments of which each axis goes with the columns of the table.
    name : str
        The table's name, for messages.

    Raises
    ------
    ValueError
        If an argument has the labels of the table in another order.
    """
    for other, given in rows.items():
        _refuse(name, _labels(table, "index"), other, _last(given))
    for other, given in (columns or {}).items():
        for axis in ("index", "columns"):
            _refuse(f"{name}.columns", _labels(table, "columns"), other, _labels(given, axis))


def _labels(table: object, axis: str) -> Any:
    labels = getattr(table, axis, None)
    return labels if hasattr(labels, "equals") else None  # lists have a method `index`


def _last(table: object) -> Any:
    return _labels(table, "columns" if getattr(table, "ndim", 1) == 2 else "index")


def _refuse(name: str, labels: Any, other: str, given: Any) -> None:
    if labels is None or given is None or len(labels) != len(given) or labels.equals(given):
        return
    pairs = enumerate(zip(labels, given, strict=True))
    place = next((k for k, (one, two) in pairs if one != two), None)
    if place is not None and Counter(labels) == Counter(given):
        raise ValueError(
            f"{other}: has the labels of {name} in another order: {given[place]!r} in place of "
            f"{labels[place]!r} at index {place}. Entries are matched by position, so pass {other} "
            f"in the order of {name}. If only the labels are wrong, pass it as to_numpy()"
        )
