"""A constant that a table asks for: estimated, told, and fitted."""

from __future__ import annotations

import numpy as np
import pytest

from paper.intercept import constant_term
from paper.intercept_note import intercept_note


def table(seed: int = 4, rows: int = 400) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    return X, X @ [2, -1, 0.5] + 0.7 * rng.normal(size=rows)


def note(X: np.ndarray, y: np.ndarray, **choices: bool) -> str:
    theta = np.linalg.lstsq(X, y, rcond=None)[0]
    return intercept_note(X, y, theta, **({"intercept": False, "centred": False} | choices))


def test_the_constant_is_that_of_the_normal_equations_with_each_row_left_out() -> None:
    """HC3 is nearly the jackknife, whose pseudo-values leave each row out in turn."""
    X, y = table(rows=40)
    design = np.column_stack([X, np.ones(len(X))])

    def solve(keep: np.ndarray) -> float:
        rows = design[keep]
        return float(np.linalg.solve(rows.T @ rows, rows.T @ (y + 7)[keep])[-1])

    constant = constant_term(X, y + 7)
    assert constant is not None
    assert constant.estimate == pytest.approx(solve(np.ones(40, dtype=bool)), abs=1e-10)
    moved = np.array([solve(np.arange(40) != i) for i in range(40)]) - constant.estimate
    assert constant.standard_error == pytest.approx(np.sqrt(np.sum(moved**2)), rel=1e-9)


def test_the_standard_error_holds_with_unequal_variances() -> None:
    rng = np.random.default_rng(9)
    X = rng.uniform(1, 3, size=(300, 1))
    found = [
        constant_term(X, 2 * X[:, 0] + X[:, 0] ** 3 * rng.normal(size=300)) for _ in range(400)
    ]
    estimates = [constant.estimate for constant in found if constant]
    errors = [constant.standard_error for constant in found if constant]
    assert np.std(estimates) == pytest.approx(np.mean(errors), rel=0.12)
    assert sum(constant.wanted for constant in found if constant) <= 8


def test_units_do_not_matter() -> None:
    X, y = table()
    constant, other = constant_term(X, y + 3), constant_term(X * [1e9, 1e-9, 1], 1e6 * (y + 3))
    assert constant is not None and other is not None
    assert other.estimate == pytest.approx(1e6 * constant.estimate)
    assert other.standard_error == pytest.approx(1e6 * constant.standard_error)


def test_features_that_hold_a_constant_need_none() -> None:
    shares = np.random.default_rng(2).dirichlet([1, 1, 1], size=50)
    y = 5 + shares[:, 0]
    assert constant_term(shares, y) is None
    assert "multiples of the features sum to a constant" in note(shares, y)
    assert "already has an intercept without" in note(shares, y, intercept=True)


def test_a_row_that_is_met_exactly_says_nothing() -> None:
    X, y = table()
    X = np.column_stack([X, np.arange(len(X)) == 7])
    constant, without = (
        constant_term(X, y),
        constant_term(np.delete(X, 7, 0)[:, :3], np.delete(y, 7)),
    )
    assert constant is not None and without is not None
    assert constant.estimate == pytest.approx(without.estimate, abs=1e-10)
    assert constant.standard_error == pytest.approx(without.standard_error, rel=1e-6)


def test_the_note_says_what_is_so() -> None:
    X, y = table()
    assert "do not clearly need" in note(X, y)
    missing = note(X, y + 50)
    assert "**The model has no intercept, but these data need one:**" in missing
    assert "choose `intercept = true`" in missing
    rest = y + 50 - X @ np.linalg.lstsq(X, y + 50, rcond=None)[0]
    assert f"{rest.mean():.3g} (standard error {rest.std(ddof=1) / 20:.2g}) above" in missing
    assert "below the fit" in note(X, y - 50)
    assert "treats the mean of the target as known" in note(
        X - X.mean(0), y - y.mean(), centred=True
    )
    assert "too few rows to judge" in note(X[:4], y[:4])
    full = np.column_stack([X, np.ones(len(X))])
    theta = np.linalg.lstsq(full, y + 50, rcond=None)[0]
    said = intercept_note(X, y + 50, theta, intercept=True, centred=False)
    assert said == f"The model has an intercept; its estimate is {theta[-1]:.6g}."
