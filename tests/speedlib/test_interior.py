"""Newton's method, and the multiplicative algorithm that it is checked against."""

from __future__ import annotations

import numpy as np
import pytest

from speedlib.solvers.interior import newton_step, start
from speedlib.solvers.multiplicative import multiplicative_design

from .ellipsoids import gaussian, root_of, value_of

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
