"""Newton's method for many problems: derivatives and steps as `interior` has them, one by one."""

from __future__ import annotations

import numpy as np
import pytest

from speedlib.solvers._batch_newton import Problems, _inverse
from speedlib.solvers._interior import start

both = pytest.mark.parametrize("criterion", ["A", "D"])
shapes = pytest.mark.parametrize(("n_actions", "d"), [(4, 1), (5, 2), (9, 3), (30, 4)])


def problems_and_weights(n_actions, d, criterion):
    rng = np.random.default_rng([n_actions, d])
    x, precisions = rng.normal(size=(n_actions, d)), np.exp(rng.normal(size=(6, n_actions)))
    weights = rng.dirichlet(np.ones(n_actions), size=6)
    return Problems(x, np.eye(d) if criterion == "A" else None), precisions, weights


def single(problems, precisions, weights):
    """The iterate of `interior` with the same weights."""
    d = problems.points.shape[1]
    points = problems.points * np.sqrt(precisions)[:, None]
    root = None if problems.kernel is None else np.eye(d)
    iterate = start(points, root, np.eye(d), np.ones(len(points)), 0.1)
    return iterate.moved(weights, weights, 0.0)


@both
@shapes
def test_sensitivities_and_second_derivatives(criterion, n_actions, d):
    problems, precisions, weights = problems_and_weights(n_actions, d, criterion)
    here = problems.at(precisions, weights)
    products = problems.pairs * precisions[:, :, None]
    hessian = products @ problems._curvature(here) @ products.transpose(0, 2, 1)
    for r in range(6):
        iterate = single(problems, precisions[r], weights[r])
        assert here.sensitivity[r] == pytest.approx(iterate.sensitivity, rel=1e-8)
        assert here.gap[r] == pytest.approx(iterate.gap, rel=1e-8)
        assert hessian[r] == pytest.approx(iterate.hessian(), rel=1e-7, abs=1e-9)


@both
@shapes
def test_the_small_system_has_the_solution_of_the_large_one(criterion, n_actions, d):
    problems, precisions, weights = problems_and_weights(n_actions, d, criterion)
    rng = np.random.default_rng(1)
    slacks, descent = rng.uniform(0.1, 1, size=(6, n_actions)), rng.normal(size=(6, n_actions))
    solution = problems._solution(problems.at(precisions, weights), slacks, descent)
    for r in range(6):
        w, hessian = weights[r], single(problems, precisions[r], weights[r]).hessian()
        system = w[:, None] * hessian * w + np.diag(w * slacks[r])
        assert solution[r] == pytest.approx(np.linalg.solve(system, descent[r]), rel=1e-6, abs=1e-8)


@both
def test_the_path_ends_where_no_sensitivity_exceeds_one(criterion):
    problems, precisions, _ = problems_and_weights(30, 4, criterion)
    weights = problems.central_path(precisions, 1e-8)
    here = problems.at(precisions, weights)
    assert weights.min() > 0
    assert weights.sum(axis=1) == pytest.approx(1, abs=1e-6)
    assert here.gap.max() <= 1e-8 / 4


def test_inverses_and_determinants():
    roots = np.random.default_rng(2).normal(size=(7, 5, 5))
    matrices = roots @ roots.transpose(0, 2, 1)
    inverse, logarithm = _inverse(matrices)
    assert inverse == pytest.approx(np.linalg.inv(matrices), rel=1e-8, abs=1e-8)
    assert logarithm == pytest.approx(np.linalg.slogdet(matrices)[1])


def test_a_singular_matrix_spoils_no_other():
    matrices = np.array([np.eye(2), np.ones((2, 2))])
    with np.errstate(all="ignore"):
        inverse, _ = _inverse(matrices)
    assert inverse[0].tolist() == np.eye(2).tolist()
    assert not np.all(np.isfinite(inverse[1]))
