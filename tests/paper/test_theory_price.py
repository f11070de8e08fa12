"""The price of not knowing the variances against floats, simulation and examples by hand."""

import math
from fractions import Fraction

import numpy as np
import pytest

from paper.exact import matrix, vector
from paper.theory import price
from speedlib import estimation_cost, optimal_design
from speedlib.exploration import identifiable_design
from speedlib.identification import coordinates


def test_exact_cost_agrees_with_the_closed_form_in_floats():
    X = [[1, 0], [0, 1], [1, 1], [1, -2], [2, 1]]
    variances = vector("1 1/2 3/4 2 5/3")
    design, exploration = vector("1/4 0 1/2 1/4 0"), vector("1/5 1/10 3/10 1/4 3/20")
    found = price.exact_cost(price.squares(matrix(X)), variances, design, exploration, kappa=3)
    floats = [np.array(part, float) for part in (variances, design, exploration)]
    # Variances that no matrix has are no matter here: both formulas take them as they are.
    variances_of = np.einsum("ai,ij,aj->a", X, [[1.0, -0.3], [-0.3, 0.7]], X)
    assert isinstance(found, Fraction)
    exact = price.exact_cost(
        price.squares(matrix(X)),
        tuple(Fraction(s).limit_denominator(10**6) for s in variances_of),
        design,
        exploration,
        kappa=3,
    )
    expected = estimation_cost(X, variances_of, floats[1], floats[2], kappa=3)
    assert float(exact) == pytest.approx(float(expected), rel=1e-5)
    with pytest.raises(ValueError, match="leaves the variance of action"):
        price.exact_cost(price.squares(matrix(X)), variances, design, vector("1/2 1/2 0 0 0"))


def test_squares_give_the_variances():
    X, Sigma = np.array([[1, 2, 3], [0, 1, -1]]), np.array([[4, 1, 0], [1, 3, 2], [0, 2, 5]])
    entries = Sigma[np.triu_indices(3)]
    found = np.array(price.squares(matrix(X.tolist())), float) @ entries
    assert found == pytest.approx(np.einsum("ai,ij,aj->a", X, Sigma, X))


@pytest.mark.parametrize(("root", "copies", "harm"), [(1, 20, 1.1), (2, 61, 24.5)])
def test_the_example_is_what_the_library_finds_action_by_action(root, copies, harm):
    example = price.quiet_and_loud(root, copies)
    X = np.repeat([[1.0, 1], [1, -1], [1, 0], [0, 1]], [1, 1, copies, copies], axis=0)
    rho = 1 - 1 / (2 * root**2)
    variances = np.einsum("ai,ij,aj->a", X, [[1, -rho], [-rho, 1]], X)
    policy = np.zeros(len(X))
    policy[[0, 2, 2 + copies]] = np.array(example.policy, float)
    assert policy.sum() == pytest.approx(1)
    assert example.ratio == 4 * root**2 - 1
    assert variances.max() / variances.min() == pytest.approx(float(example.ratio))
    best = optimal_design(X, variances, policy=policy)
    v = estimation_cost(X, variances, best.weights, np.full(len(X), 1 / len(X)))
    own_value, own_cost = price.per_arm(policy, variances)
    assert best.value == pytest.approx(float(example.value))
    assert v == pytest.approx(float(example.cost))
    assert (own_value, own_cost) == pytest.approx(
        (float(example.own_value), float(example.own_cost))
    )
    assert float(example.harm) == pytest.approx(harm, rel=0.01)
    # The limit of many copies, by hand: r is in it squared.
    far = price.quiet_and_loud(root, 10**6, Fraction(1, 10**9))
    assert float(far.harm) == pytest.approx((1 + far.ratio**2) / 8, rel=1e-3)


def test_the_example_explored_best_is_what_the_library_finds_action_by_action():
    example = price.optimally_explored(7)
    r, many = 97, 4 * 97 + 1
    assert (example.ratio, example.actions) == (r, 2 + 2 * many)
    assert example.actions > 2**3 * r
    half = math.sqrt(0.5)
    X = np.repeat(
        [[half, half], [half, -half], [1.0, 0], [0, 1.0], [0, -1.0]],
        [1, 1, many, many - 100, 100],
        axis=0,
    )
    rho = (r - 1) / (r + 1)
    variances = np.einsum("ai,ij,aj->a", X, [[1, -rho], [-rho, 1]], X)
    assert variances.max() / variances.min() == pytest.approx(r)
    policy = np.zeros(len(X))
    policy[[0, 2, 2 + many, -1]] = np.array(example.policy, float)
    assert policy.sum() == pytest.approx(1)
    best, explored = optimal_design(X, variances, policy=policy), identifiable_design(X)
    shares = [explored[:1].sum(), explored[1:2].sum(), explored[2 : 2 + many].sum()]
    assert shares == pytest.approx([0.25] * 3, abs=1e-4)
    even = np.repeat([0.25, 0.25, 0.25 / many, 0.25 / many], [1, 1, many, many])
    v = estimation_cost(X, variances, best.weights, even)
    own_value, own_cost = price.per_arm(policy, variances)
    assert best.value == pytest.approx(float(example.value))
    assert v == pytest.approx(float(example.cost))
    assert (own_value, own_cost) == pytest.approx(
        (float(example.own_value), float(example.own_cost))
    )
    # By hand, with no other action in the policy.
    by_hand = ((292 / 392) ** 2 + (9700 / 392) ** 2 + (92 / 8) ** 2 + (100 / 8) ** 2) / 2
    assert float(example.cost) == pytest.approx(by_hand)
    assert example.harm > 2
    assert price.optimally_explored(22).harm > 20


@pytest.mark.parametrize("d", [2, 3])
def test_a_basis_explored_bounds_the_price_whatever_else_there_is(d):
    rng = np.random.default_rng(17)
    m = d * (d + 1) // 2
    for extra in (0, 4, 40):
        X, root = rng.standard_normal((m + extra, d)), rng.standard_normal((d, d))
        variances = np.einsum("ai,ij,aj->a", X, root @ root.T + 0.1 * np.eye(d), X)
        best = optimal_design(X, variances, policy=rng.dirichlet(np.ones(len(X))))
        explored = np.where(np.arange(len(X)) < m, 1 / m, 0.0)
        v = float(estimation_cost(X, variances, best.weights, explored))
        assert v <= price.spanning_bound(X, variances, best.weights, range(m)) * (1 + 1e-9)
    # By hand: three directions of variance 1 in the plane, each seen for itself.
    X = np.array([[1.0, 0], [0, 1], [1, 1]])
    bound = price.spanning_bound(X, [1, 1, 1], [0, 0.25, 0.75], range(3), kappa=4.0)
    assert bound == pytest.approx(3)
    with pytest.raises(np.linalg.LinAlgError):
        price.spanning_bound(X, [1, 1, 1], [0, 0.25, 0.75], (0, 0, 1))


def test_the_strategy_without_structure_has_the_price_of_one_hot_features():
    policy, variances = np.array([0.2, 0.3, 0.5]), np.array([1.0, 4.0, 0.25])
    best = optimal_design(np.eye(3), variances, policy=policy)
    v = estimation_cost(np.eye(3), variances, best.weights, np.full(3, 1 / 3), kappa=5.0)
    assert price.per_arm(policy, variances, kappa=5.0) == pytest.approx((best.value, float(v)))


@pytest.mark.parametrize("d", [2, 3, 5])
def test_one_star_of_the_network_is_dear_whatever_is_explored(d):
    X = price.network(d)
    Sigma = (np.eye(d) + 1) / 2
    variances = np.einsum("ai,ij,aj->a", X, Sigma, X)
    assert variances == pytest.approx(np.ones(d * (d + 1)))
    rng = np.random.default_rng(3)
    for exploration in (
        np.full(len(X), 1 / len(X)),
        identifiable_design(X),
        rng.dirichlet(np.ones(len(X))),
    ):
        found = []
        for centre in range(d + 1):
            policy = price.star_policy(d, centre)
            assert policy.min() > 0
            assert policy.sum() == pytest.approx(1)
            best = optimal_design(X, variances, policy=policy)
            assert best.value == pytest.approx(0.99**2)
            found.append(float(estimation_cost(X, variances, best.weights, exploration)))
        assert price.star_costs(exploration, d) == pytest.approx(np.array(found))
        assert max(found) >= (d**2 - 1) / 4 * (1 - 1e-6)
        spread = price.by_pairs(exploration, d)
        assert spread.sum() == pytest.approx(2)
    # The least-norm fit of a pair that is not explored: one star at least is misjudged.
    phi, ends = coordinates(X), [(i, j) for i in range(d + 1) for j in range(d + 1) if i != j]
    for left_out in ((0, 1), (1, 2)):
        kept = np.array([set(pair) != set(left_out) for pair in ends])
        fitted = phi @ np.linalg.pinv(phi[kept]) @ variances[kept]
        stars = [[fitted[a] for a, pair in enumerate(ends) if j in pair] for j in range(d + 1)]
        assert max(np.ptp(star) for star in stars) > 0.1
        assert np.isinf(price.star_costs(kept / kept.sum(), d)).sum() == 2
    even = price.star_costs(np.full(len(X), 1 / len(X)), d, kappa=8.0)
    assert even == pytest.approx(np.full(d + 1, d**2 - 1))


def test_the_least_error_is_that_of_drawn_residuals():
    rng = np.random.default_rng(7)
    draws = rng.standard_normal((40_000, 9))
    errors = draws.var(axis=1) - 1
    assert np.mean(errors > price.least_error(9, 0.05)) == pytest.approx(0.05, abs=0.005)


def test_the_condition_asks_for_a_promise_of_one_half():
    """At equality of the printed condition, with equal variances, Lemma 1 promises one half."""
    d, A, delta, C = 3, 20, 1e-4, 0.7
    n = 16 * C**2 * d**4 * math.log(A / delta) ** 2
    assert price.promised_error(d, A, delta, math.sqrt(n), C) == pytest.approx(0.5)
