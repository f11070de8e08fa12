"""Assumptions by independent routes: null spaces, exact arithmetic, enumeration, distributions."""

import itertools
import math
from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import stats

from paper import exact
from paper.environments import assumptions
from paper.environments import printed as paper_environments
from paper.environments.assumptions import ASSUMPTIONS, LAWS, STATEMENTS, Case, Finding
from paper.plots.findings import plot_findings
from speedlib import Environment, LinearBandit, high_dimensional_ball, unit_ball

EVEN = {"bounded", "actions", "definite", "noise", "vectors", "symmetric", "oracle"}


def case(features, policy=None, variances=None, noise="gaussian", **options):
    x = np.array(features, dtype=float)
    v = np.ones(len(x)) if variances is None else np.array(variances, dtype=float)
    b = np.full(len(x), 1 / len(x)) if policy is None else np.array(policy, dtype=float)
    bandit = LinearBandit(x, np.zeros(x.shape[1]), variances=v, noise=noise)
    return Case(Environment("test", bandit, b), **options)


def null_matrices(features):
    """Dimension of the symmetric S with x'Sx = 0 for all rows, from d² unknowns and symmetry."""
    d = features.shape[1]
    rows = [np.outer(x, x).ravel() for x in features]
    for i, j in itertools.combinations(range(d), 2):
        skew = np.zeros((d, d))
        skew[i, j], skew[j, i] = 1, -1
        rows.append(skew.ravel())
    return d * d - np.linalg.matrix_rank(np.array(rows), tol=1e-8)


def test_spans_agree_with_null_spaces_of_symmetric_matrices():
    rng = np.random.default_rng(1)
    seen = set()
    for d, count in itertools.product((1, 2, 3, 4), (2, 3, 6, 11)):
        x = rng.standard_normal((count, d))
        policy = np.where(rng.random(count) < 0.6, 1.0, 0.0)
        policy[0] = 1.0
        one = case(x, policy / policy.sum())
        left = null_matrices(x[policy > 0])
        whole = d * (d + 1) // 2
        assert assumptions.spans_symmetric(one) == (left == 0, f"{whole - left} of {whole}")
        literal = assumptions.spans_square(one)
        assert literal == (whole - left == d * d, f"{whole - left} of {d * d}")
        taken = min(d, int((policy > 0).sum()))
        assert assumptions.spans_vectors(one) == (taken == d, f"{taken} of {d}")
        seen.add(left == 0)
    assert seen == {True, False}


def test_spans_do_not_mind_units():
    x = np.array([[1, 0], [0, 1], [1, 1]]) * [1e-6, 1e5]
    assert assumptions.spans_symmetric(case(x)).holds
    assert assumptions.spans_vectors(case(x)).holds
    assert not assumptions.spans_vectors(case(x, [1, 0, 0])).holds


def test_environment_e_in_exact_arithmetic():
    for name, definite in (("E, defined", False), ("E, in proof", True)):
        values = paper_environments.E_VARIANCES[name]
        first, second, third = (Fraction(str(v)) for v in values)
        off = third - (first + second) / 2
        assert (first * second - off**2 > 0) == definite
        one = Case(paper_environments.environment_e(values))
        solved = assumptions.variance_parameter(
            one.environment.bandit.features, one.environment.bandit.variances
        )
        assert solved == pytest.approx(
            np.array([[float(first), float(off)], [float(off), float(second)]])
        )
        assert assumptions.positive_definite(one).holds == definite
        assert assumptions.large_budget(one).holds is (None if definite else False)


def test_no_matrix_is_guessed():
    x = [[1, 0], [0, 1], [1, 1], [1, -1]]
    assert assumptions.variance_parameter(x, [1, 1, 1, 2]) is None  # 1 + 2 is not 2 (1 + 1)
    assert assumptions.variance_parameter(x[:2], [1, 1]) is None  # the third entry is open
    assert assumptions.positive_definite(case(x, variances=[1, 1, 1, 2])).holds is None
    assert assumptions.large_budget(case(x, variances=[1, 1, 1, 2])).holds is None


def optimal_vertices(features, deviations, direction):
    """All cheapest basic combinations, by trying every basis in exact arithmetic."""
    found = {}
    for chosen in itertools.combinations(range(len(features)), len(direction)):
        columns = tuple(zip(*(features[a] for a in chosen), strict=True))
        if exact.determinant(columns) == 0:
            continue
        solution = exact.solve(columns, direction)
        w = tuple(dict(zip(chosen, solution, strict=True)).get(a, 0) for a in range(len(features)))
        found[w] = exact.dot(tuple(abs(Fraction(z)) for z in w), deviations)
    return [w for w, cost in found.items() if cost == min(found.values())]


@pytest.mark.slow
def test_uniqueness_agrees_with_an_enumeration_of_vertices():
    rng = np.random.default_rng(2)
    seen = []
    for _ in range(60):
        x = rng.integers(-2, 3, size=(5, 2))
        if np.linalg.matrix_rank(x) < 2 or not np.any(x.sum(axis=0)) or not x.any(axis=1).all():
            continue
        deviations = rng.integers(1, 3, size=5)
        features = exact.matrix([[int(z) for z in row] for row in x])
        direction = exact.vector([int(z) for z in x.sum(axis=0)])
        many = optimal_vertices(features, exact.vector([int(s) for s in deviations]), direction)
        finding = assumptions.unique_design(case(x, variances=deviations**2))
        assert finding.holds == (len(many) == 1), (x, deviations, many)
        seen.append(finding.holds)
    assert 10 < sum(seen) < len(seen) - 10


def test_copies_can_take_all_of_each_others_rounds():
    x = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    assert assumptions.movable_share(x, np.array([2.0, 1.0]), [0, 1]) == pytest.approx(2 / 3)
    assert assumptions.movable_share(x[:2], np.array([2.0, 1.0]), [0, 1]) == pytest.approx(0)


@pytest.mark.parametrize("law", LAWS)
def test_laws_of_noise_are_bounded_and_sub_gaussian_as_said(law):
    scipy_laws = {
        "gaussian": stats.norm(),
        "uniform": stats.uniform(-math.sqrt(3), 2 * math.sqrt(3)),
        "laplace": stats.laplace(scale=math.sqrt(0.5)),
        "student": stats.t(5, scale=math.sqrt(3 / 5)),
    }
    bound, sub_gaussian = LAWS[law]
    if law == "rademacher":
        low, high, tail = -1.0, 1.0, 0.0
    else:
        known = scipy_laws[law]
        assert known.var() == pytest.approx(1)
        (low, high), tail = known.support(), 2 * known.sf(12.0)
    assert bound == (None if math.isinf(high) else pytest.approx(high))
    assert low == -high
    # Sub-Gaussian with its own variance: P(|η| > t) ≤ 2 exp(-t²/2), at twelve deviations.
    assert sub_gaussian == (tail <= 2 * math.exp(-72))


def test_exploration_of_d_actions_by_trying_all_sets():
    for features, enough in (
        (np.eye(4), True),  # one action a coordinate
        ([[1.0, 0], [0, 1], [1, 1]], False),
        ([[1.0], [2], [3]], True),
        ([[1.0, 0], [0, 1], [0, 2], [-3, 0]], True),  # multiples of two actions
    ):
        x = np.array(features)
        best = 0
        for chosen in itertools.combinations(range(len(x)), x.shape[1]):
            squares = np.array([np.outer(z, z).ravel() for z in x])
            rank = np.linalg.matrix_rank(squares[list(chosen)])
            known = [np.linalg.matrix_rank(squares[[*chosen, a]]) == rank for a in range(len(x))]
            best = max(best, sum(known))
        finding = assumptions.explored_enough(case(x))
        assert finding.holds == enough == (best == len(x))


def test_conditions_on_the_budget_at_their_edges():
    x = np.vstack([np.eye(3), np.ones((2, 3))])
    for horizon, long in ((81, False), (99, False), (100, True)):
        assert assumptions.long_exploration(case(x, horizon=horizon)).holds == long  # Γ > 9
    for horizon, above in ((25, False), (26, True)):
        assert assumptions.root_above_actions(case(x, horizon=horizon)).holds == above
    assert assumptions.long_exploration(case(x)) == (None, "from n = 100 on")
    assert assumptions.root_above_actions(case(x)) == (None, "from n = 26 on")


def test_smaller_tests():
    assert not assumptions.bounded_features(case([[0.0, 0], [1, 0]])).holds
    assert not assumptions.more_actions(case(np.eye(2))).holds
    assert assumptions.positive_eigenvalue(case([[1.0], [2.0]])).holds
    assert not assumptions.positive_eigenvalue(case(np.eye(2))).holds
    assert not assumptions.sub_gaussian(case(np.eye(2), noise="laplace")).holds
    assert assumptions.bounded_noise(case(np.eye(2), noise="uniform")).holds
    assert assumptions.approximate_oracle(case([[1.0, 0], [0, 1], [1, 1]])).holds


def test_one_failing_draw_fails_and_one_open_draw_opens():
    found = assumptions.examine([Case(unit_ball(4)), case(np.eye(2))])
    assert found["symmetric"] == (False, "2 of 3")
    assert found["definite"].holds is None and found["oracle"].holds
    assert assumptions.conclude(found, ["oracle", "definite"]) is None
    assert assumptions.conclude(found, ["definite", "symmetric"]) is False
    assert assumptions.conclude(found, ["oracle"]) is True
    assert assumptions.conclude(found, []) is True


def test_every_assumption_named_by_a_statement_is_one():
    named = {key for one in STATEMENTS.values() for key in one.stated + one.proof}
    assert named <= set(ASSUMPTIONS)
    for one in STATEMENTS.values():
        assert all(ASSUMPTIONS[key].stated for key in one.stated)


def test_the_picture_has_a_sign_for_every_cell():
    table = {"one": assumptions.examine([Case(unit_ball(4))])}
    table["two"] = {key: Finding(None, "") for key in ASSUMPTIONS}
    fig, ax = plt.subplots()
    plot_findings(ax, table)
    signs = [text.get_text() for text in ax.texts]
    assert len(signs) == 2 * len(ASSUMPTIONS)
    assert signs.count("?") == len(ASSUMPTIONS) + 3 and set(signs) == {"✓", "✗", "?"}
    assert signs[1::2] == ["?"] * len(ASSUMPTIONS)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["one", "two"]
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        one.label for one in ASSUMPTIONS.values()
    ]
    (legend,) = fig.legends
    colours = {
        text.get_text()[0]: patch.get_facecolor()
        for text, patch in zip(legend.get_texts(), legend.get_patches(), strict=True)
    }
    (cells,) = ax.collections
    cells.update_scalarmappable()
    assert [tuple(each) for each in cells.get_facecolor()] == [colours[sign] for sign in signs]
    assert len({*colours.values()}) == 3
    plt.close(fig)


@pytest.mark.slow
def test_the_environments_of_the_paper_are_all_there():
    built = paper_environments.experiments(runs=2, seed=3)
    sizes = {
        name: (c[0].environment.bandit.n_actions, c[0].environment.bandit.d, len(c))
        for name, c in built.items()
    }
    assert sizes == {
        "motivating": (100, 2, 1),
        "ball, A = 4": (4, 2, 1),
        "ball, A = 5": (5, 2, 1),
        "ball, A = 10": (10, 2, 1),
        "MovieLens": (100, 5, 2),
        "red wine": (1599, 11, 1),
        "air quality": (400, 6, 2),
        "d = 15": (245, 15, 2),
        "d = 20": (420, 20, 2),
        "d = 25": (645, 25, 2),
    }
    assert [c[0].horizon for c in built.values()][-3:] == [13_000, 18_000, 25_000]
    one, two = (c.environment.bandit.features for c in built["MovieLens"])
    assert not np.array_equal(one, two)
    theory = paper_environments.theory()
    assert EVEN <= {k for k, f in assumptions.examine(theory["bound, d = 1"]).items() if f.holds}
    for d in (1, 2, 3):
        bandit = theory[f"bound, d = {d}"][0].environment.bandit
        assert bandit.variances == pytest.approx(bandit.means**2)


def test_a_ball_that_is_not_turned_is_that_of_the_library():
    options = {"seed": 3, "high_variance": 0.5, "optimal_probability": 0.6, "noise": "laplace"}
    ours, theirs = paper_environments.turned_ball(7, **options), high_dimensional_ball(7, **options)
    assert np.array_equal(ours.bandit.features, theirs.bandit.features)
    assert np.array_equal(ours.bandit.variances, theirs.bandit.variances)
    assert np.array_equal(ours.policy, theirs.policy)
    assert (ours.name, ours.bandit.noise) == (theirs.name, "laplace")


def test_a_turned_ball_has_the_angles_and_keeps_the_directions():
    turned = paper_environments.turned_ball(6, 20, 110, seed=3).bandit.features
    given = high_dimensional_ball(6, seed=3).bandit.features
    assert np.array_equal(turned[:6], np.eye(6))
    assert np.linalg.norm(turned, axis=1) == pytest.approx(1)
    assert np.rad2deg(np.arccos(turned[6:, 0])) == pytest.approx(np.linspace(20, 110, 50))
    one, other = (
        x[6:, 1:] / np.linalg.norm(x[6:, 1:], axis=1, keepdims=True) for x in (turned, given)
    )
    np.testing.assert_allclose(one, other, atol=1e-12)
