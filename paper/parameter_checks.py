"""Checks of parameters that depend on each other, for the first code cells of a page.

The range of a single parameter is checked before anything runs. These functions check rules between
several parameters or the entries of a list, so a rerun fails early and says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


def check_increasing(minimum: int = 1, **lists: Sequence[float]) -> None:
    """Check that a list is long enough, and each entry larger than the one before.

    Lists are given by the names of their parameters. All checks raise a ValueError if a rule is
    violated.

    Examples
    --------
    >>> check_increasing(rounds=[100, 1000])
    >>> check_increasing(rounds=[100, 50])
    Traceback (most recent call last):
    ValueError: rounds: each entry must be larger than the one before; got 50 after 100
    """
    for name, entries in lists.items():
        if len(entries) < minimum:
            raise ValueError(f"{name}: needs at least {minimum} entries; got {list(entries)}")
        for before, after in pairwise(entries):
            if not after > before:
                raise ValueError(
                    f"{name}: each entry must be larger than the one before; "
                    f"got {after} after {before}"
                )


def check_distinct(**lists: Sequence[object]) -> None:
    """Check that no entry of a list occurs twice.

    Examples
    --------
    >>> check_distinct(floors=[0.1, 0.01, 0.1])
    Traceback (most recent call last):
    ValueError: floors: the entries must differ; got 0.1 twice
    """
    for name, entries in lists.items():
        for place, entry in enumerate(entries):
            if entry in entries[:place]:
                raise ValueError(f"{name}: the entries must differ; got {entry} twice")


def check_lengths(**lists: Sequence[object]) -> None:
    """Check that lists have one entry for each entry of the first.

    Examples
    --------
    >>> check_lengths(dimensions=[15, 20], horizons=[13_000])
    Traceback (most recent call last):
    ValueError: horizons: needs as many entries as dimensions, which has 2; got 1
    """
    (first, given), *others = lists.items()
    for name, entries in others:
        if len(entries) != len(given):
            raise ValueError(
                f"{name}: needs as many entries as {first}, which has {len(given)}; "
                f"got {len(entries)}"
            )


def check_at_most(bound: float, rule: str, *, strict: bool = False, **values: float) -> None:
    """Check that values do not exceed a bound that follows from other parameters.

    `rule` describes the bound in words. With `strict`, values must be less than the bound.

    Examples
    --------
    >>> check_at_most(10_000, "the largest of rounds", from_rounds=500)
    >>> check_at_most(100, "n_films", strict=True, n_low=100)
    Traceback (most recent call last):
    ValueError: n_low: must be less than n_films, which is 100; got 100
    """
    for name, value in values.items():
        if value > bound or (strict and value == bound):
            relation = "less than" if strict else "at most"
            raise ValueError(f"{name}: must be {relation} {rule}, which is {bound}; got {value}")


def check_probabilities(**shares: float) -> None:
    """Check that probabilities of different actions sum to at most 1.

    Examples
    --------
    >>> check_probabilities(optimal_probability=0.8, informative_probability=0.5)
    Traceback (most recent call last):
    ValueError: optimal_probability, informative_probability: sum must be at most 1; got 0.8 + 0.5
    """
    if sum(shares.values()) > 1 + 1e-9:
        given = " + ".join(f"{share:g}" for share in shares.values())
        raise ValueError(f"{', '.join(shares)}: sum must be at most 1; got {given}")
