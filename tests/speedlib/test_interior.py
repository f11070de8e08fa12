"""Newton's method, and the multiplicative algorithm that it is checked against."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from speedlib.designs import DesignWarning, optimal_design
from speedlib.solvers._interior import newton_step, start
from speedlib.solvers.multiplicative import multiplicative_design

from .ellipsoids import gaussian, root_of, value_of

#: Found among random problems: here a step once led to an indefinite information matrix.
HARD_ROWS = [
    [-1.2805193601474408e84, 4.5988666424412620e84, -5.7162922084107225e84],
    [1.2252917744179547e89, 1.9776264239541411e89, -2.6579447290597605e89],
    [-2.1666762182610963e94, 2.8630961966708735e94, 5.3281158146726452e94],
]
HARD_KERNEL = [
    [0.00723621785499732, 0.011679288099627804, -0.0156970507005604],
    [0.011679288099627804, 0.018850423418347757, -0.025335110291034385],
    [-0.0156970507005604, -0.025335110291034385, 0.034050578027553735],
]

# --- Newton's method -----------------------------------------------------------------------------


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_derivatives_of_the_loss(rank):
    """Sensitivities and second derivatives against central differences."""
    points, weights, step = gaussian(18, 7, 3), np.linspace(0.5, 2, 7), 1e-5
    root = gaussian(19, 3, rank) if rank else None
    iterate = start(points, root, np.eye(3), weights, 0.1)
    for a in range(7):
        change = step * np.eye(7)[a]
        more, less = (
            iterate.moved(iterate.weights + sign * change, iterate.slacks, 0.0) for sign in (1, -1)
        )
        slope = (more.loss - less.loss) / (2 * step)
        assert slope == pytest.approx(-iterate.sensitivity[a], rel=1e-6)
        curvature = (less.sensitivity - more.sensitivity) / (2 * step)
        assert curvature == pytest.approx(iterate.hessian()[a], rel=1e-5, abs=1e-7)


def test_the_iterate_keeps_the_identity_for_its_information_matrix():
    points, root = gaussian(20, 12, 4), gaussian(21, 4, 2)
    iterate = start(points, root, np.eye(4), np.ones(12), 0.1)
    for _ in range(12):
        iterate = newton_step(iterate)
        assert (iterate.points.T * iterate.weights) @ iterate.points == pytest.approx(np.eye(4))
        assert points @ iterate.frame == pytest.approx(iterate.points)
        assert iterate.weights @ iterate.sensitivity == pytest.approx(1)
    assert iterate.gap < 1e-6


@pytest.mark.parametrize("failures", [1, 7, 30])
def test_steps_to_where_nothing_is_determined_are_shortened(failures, monkeypatch):
    """Rounding may leave an information matrix indefinite: a shorter step, or none, is taken."""
    iterate = start(gaussian(22, 9, 3), None, np.eye(3), np.ones(9), 0.1)
    full, asked = newton_step(iterate), []
    original = type(iterate).moved

    def moved(self, weights, *others):
        asked.append(weights)
        if len(asked) <= failures:
            raise np.linalg.LinAlgError("Matrix is not positive definite")
        return original(self, weights, *others)

    monkeypatch.setattr(type(iterate), "moved", moved)
    taken = newton_step(iterate)
    if failures == 30:
        assert taken is iterate
    else:
        step = (taken.weights - iterate.weights) / (full.weights - iterate.weights)
        assert step == pytest.approx(0.4**failures)


def test_designs_of_rows_that_rounding_mistakes_for_dependent():
    """Lengths over ten orders and a kernel of almost rank one: a design and an honest bound."""
    x, kernel = np.array(HARD_ROWS) * 2.0**-314, np.array(HARD_KERNEL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DesignWarning)
        design = optimal_design(x, np.ones(3), "linear", matrix=kernel)
    assert 0 <= design.efficiency_bound <= 1
    assert design.weights.sum() == pytest.approx(1)


# --- the multiplicative reference ----------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["A", "D"])
def test_multiplicative_steps_never_lose(criterion):
    points = gaussian(17, 30, 3)
    root = root_of(criterion, None, 3)
    values = [
        value_of(points, multiplicative_design(points, criterion, iterations=n), root)
        for n in (1, 2, 5, 20, 100)
    ]
    assert np.all(np.diff(values) > 0 if criterion == "D" else np.diff(values) < 0)


def test_multiplicative_closed_form():
    weights = multiplicative_design(np.diag([1.0, 0.5, 0.2]), "A")
    assert weights == pytest.approx(np.array([1, 2, 5]) / 8, abs=1e-6)


def test_multiplicative_with_a_singular_matrix():
    c = np.array([1.0, 2.0])
    weights = multiplicative_design(np.eye(2), "linear", matrix=np.outer(c, c))
    assert weights == pytest.approx(c / 3, abs=1e-6)


def test_multiplicative_refuses_points_that_span_too_little():
    with pytest.raises(ValueError, match="span"):
        multiplicative_design([[1.0, 1.0], [2.0, 2.0]], "D")
