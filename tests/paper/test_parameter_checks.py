"""Parameters that do not go together stop a page in its first code cell, with a reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest

from paper.parameter_checks import (
    check_at_most,
    check_distinct,
    check_increasing,
    check_lengths,
    check_probabilities,
)
from speedbook.notebook.files import code_cells, read_notebook

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "notebooks"
FEW = ("rounds", [100])
FALLING = ("rounds", [1000, 100])
TWICE = ("floors", [0.1, 0.01, 0.1])
LATE = ("from_rounds", 10_001)
#: What breaks a relation on a page: parameters, and the one that the message begins with.
BROKEN: dict[str, list[tuple[tuple[str, Any], ...]]] = {
    "fig-ten-actions": [(FALLING,), (LATE,), (("shown_rounds", [100, 100]),)],
    "fig1-panels": [(FALLING,)],
    "fig1a-unit-ball": [
        (FALLING,),
        (LATE,),
        (("long_rounds", [1000, 1000]),),
        (("optimal_probability", 0.8), ("informative_probability", 0.3)),
    ],
    "fig1b-movielens": [(FALLING,), (FEW,), (TWICE,), (("n_low", 50), ("n_films", 50))],
    "fig1c-red-wine": [(FALLING,), (TWICE,)],
    "fig1d-air-quality": [
        (FALLING,),
        (FEW,),
        (TWICE,),
        (("n_low", 400),),
        (("hours", "first"),),
    ],
    "increasing-dimension": [
        (("dimensions", [15, 15, 25]),),
        (("horizons", [13_000, 18_000]),),
        (("optimal_probability", 0.95),),
        (TWICE,),
    ],
    "motivating-example": [(FALLING,), (LATE,)],
    "preprocessing": [(TWICE,)],
    "growth-with-d": [
        (("dimensions", [4, 4, 6]),),
        (("dimensions", [6]),),
    ],
    "lower-bound-measured": [
        (FALLING,),
        (("rounds", [10_000]),),
        (("rounds", [10_000, 10_000]),),
        (("multiples", [0.5, 0.5]),),
        (("powers", [0.4, 0.4]),),
    ],
    "prop-6-loss": [
        (FALLING,),
        (("rounds", [100, 1000]),),
        (("rounds", [100, 100, 1000]),),
        (("dimensions", [2, 2]),),
    ],
}
CASES = [(page, changes) for page, cases in BROKEN.items() for changes in cases]


def first_cell(page: str, **changes: Any) -> None:
    """Run the parameters of a page, other values for some, and the next cell of code."""
    (path,) = NOTEBOOKS.glob(f"*/{page}.ipynb")
    parameters, first, *_ = code_cells(read_notebook(path))
    names: dict[str, Any] = {}
    exec(parameters.source, names)
    assert set(changes) <= set(names)
    with mpl.rc_context():
        exec(first.source, names | changes)


def test_no_figure_is_left_out():
    assert {path.stem for path in NOTEBOOKS.glob("figures/*.ipynb")} <= set(BROKEN)


@pytest.mark.parametrize("page", BROKEN)
def test_defaults_go_together(page):
    first_cell(page)


@pytest.mark.parametrize(("page", "changes"), CASES)
def test_what_does_not_go_together_is_named_in_the_first_cell(page, changes):
    with pytest.raises(ValueError, match=rf"^{changes[0][0]}\b.*: .*; got "):
        first_cell(page, **dict(changes))


# The rules themselves, at their edges


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda: check_increasing(a=[1], b=[2, 2]), "b: each entry must be larger"),
        (lambda: check_increasing(2, a=[1, 2], b=[1]), r"b: needs at least 2 entries; got \[1\]"),
        (lambda: check_increasing(a=[1, float("nan")]), "a: each entry must be larger"),
        (lambda: check_distinct(a=[1, 2], b=["x", "y", "x"]), "b: the entries must differ; got x"),
        (lambda: check_lengths(a=[1], b=[1], c=[]), "c: needs as many .* a, which has 1; got 0"),
        (lambda: check_at_most(3, "the rest", a=4), "a: must be at most the rest, which is 3"),
        (lambda: check_at_most(3, "b", strict=True, a=3), "a: must be less than b, which is 3"),
        (lambda: check_probabilities(p=0.7, q=0.4), r"p, q: sum must be at most 1; got 0\.7 \+ 0"),
    ],
)
def test_a_broken_rule_names_parameter_rule_and_value(check, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        check()


def test_what_just_keeps_a_rule_passes():
    check_increasing(2, a=[1, 2])
    check_distinct(a=[1, 2], b=[])
    check_lengths(a=[1, 2], b=[3, 4])
    check_at_most(3, "b", a=3)
    check_at_most(3, "b", strict=True, a=2)
    check_probabilities(p=0.9, q=0.1)
    check_probabilities(p=0.1, q=0.2, r=0.7)
