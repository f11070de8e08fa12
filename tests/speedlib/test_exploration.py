"""Exploration designs and the numbers of pulls they are laid out in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from speedlib.exploration import (
    check_exploration_length,
    exploration_counts,
    exploration_design,
    exploration_length,
    identifiable_design,
    pca_directions,
)

ALPHA = 1e-4


def at_angles(*degrees: float) -> np.ndarray:
    angles = np.deg2rad(degrees)
    return np.column_stack([np.cos(angles), np.sin(angles)])


UNIT_BALL = at_angles(0, 90, 15, 30, 45)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


# --- principal directions -----------------------------------------------------------------------


def test_directions_diagonalise_the_second_moment() -> None:
    features = rng(1).normal(size=(20, 4)) * [1.0, 3.0, 0.5, 2.0] + [0.0, 5.0, 0.0, 0.0]
    directions = pca_directions(features)
    assert directions @ directions.T == pytest.approx(np.eye(4), abs=1e-12)
    strength = directions @ features.T @ features @ directions.T
    assert np.all(np.diff(np.diag(strength)) < 0)
    assert strength - np.diag(np.diag(strength)) == pytest.approx(np.zeros((4, 4)), abs=1e-9)
    # Not centred: the mean, far from 0, is close to the first direction.
    assert abs(directions[0, 1]) > 0.95


def test_first_direction_of_the_unit_ball_by_hand() -> None:
    """For unit vectors at angles t the first direction is half the angle of sum exp(2it)."""
    angle = np.angle(np.exp(2j * np.deg2rad([0, 90, 15, 30, 45])).sum()) / 2
    first = pca_directions(UNIT_BALL)[0]
    assert abs(first @ [np.cos(angle), np.sin(angle)]) == pytest.approx(1.0)


# --- designs ------------------------------------------------------------------------------------


def test_uniform_design() -> None:
    one = exploration_design("uniform", UNIT_BALL, rng())
    many = exploration_design("uniform", UNIT_BALL, rng(), replications=3)
    assert one.tolist() == [0.2] * 5
    assert many.tolist() == [[0.2] * 5] * 3


def test_pca_design_of_the_unit_ball_takes_one_of_each_group() -> None:
    """The first direction is near 34 degrees: 0, 15, 30, 45 belong to it and only 90 does not."""
    weights = exploration_design("pca", UNIT_BALL, rng(2), replications=4000)
    assert np.all(weights[:, 1] == 0.5)
    assert np.all(np.sort(weights, axis=1)[:, -2:] == 0.5)
    chosen = np.argmax(weights[:, [0, 2, 3, 4]], axis=1)
    assert stats.chisquare(np.bincount(chosen, minlength=4)).pvalue > ALPHA


@pytest.mark.parametrize("seed", range(5))
def test_pca_design_of_a_plane_is_a_random_action_of_each_side(seed: int) -> None:
    features = rng(seed).normal(size=(12, 2))
    first, second = pca_directions(features)
    mine = np.abs(features @ first) >= np.abs(features @ second)
    assert 0 < mine.sum() < 12
    weights = exploration_design("pca", features, rng(seed + 100), replications=3000)
    assert weights.sum(axis=1) == pytest.approx(1.0)
    assert np.all(weights[:, mine].sum(axis=1) == 0.5)
    for group in (mine, ~mine):
        hits = np.count_nonzero(weights[:, group], axis=0)
        assert hits.sum() == 3000
        assert hits.size == 1 or stats.chisquare(hits).pvalue > ALPHA
    # One action within 45 degrees of each of two axes at right angles: they span the plane.
    spans = [np.linalg.matrix_rank(features[row > 0]) == 2 for row in weights[:50]]
    assert all(spans)


def test_pca_design_of_one_hot_features_pulls_every_action() -> None:
    weights = exploration_design("pca", np.diag([1.0, 2.0, 3.0]), rng(3), replications=5)
    assert weights == pytest.approx(np.full((5, 3), 1 / 3))


def test_pca_design_ignores_scale_and_sign_of_an_action() -> None:
    """Only lines matter for who belongs to whom; the zero action belongs to nobody."""
    features = np.array([[5.0, 0.5], [-4.0, 0.2], [0.0, 0.3], [0.01, -0.4], [0.0, 0.0]])
    weights = exploration_design("pca", features, rng(4), replications=500)
    assert np.all(weights[:, [0, 1]].sum(axis=1) == 0.5)
    assert np.all(weights[:, [2, 3]].sum(axis=1) == 0.5)
    assert np.all(weights[:, 4] == 0)
    assert np.all(weights[:, :4].any(axis=0))


def owners(features: np.ndarray) -> list[list[int]]:
    """The rule of `pca_directions` action by action: which actions belong to each direction."""
    directions = pca_directions(features)
    cosines = {
        a: [abs(x @ v) / np.sqrt(x @ x) for v in directions]
        for a, x in enumerate(features)
        if x.any()
    }
    mine = {a: int(np.argmax(row)) for a, row in cosines.items()}
    for j in range(len(directions)):
        if j not in mine.values():
            company = [a for a in mine if list(mine.values()).count(mine[a]) > 1]
            mine[max(company, key=lambda a: cosines[a][j])] = j
    return [[a for a in mine if mine[a] == j] for j in range(len(directions))]


def test_pca_design_deals_out_the_actions_as_the_rule_says() -> None:
    """Short and long actions, a zero one, and, often, directions that none belongs to at first."""
    for seed in range(20):
        features = rng(seed).normal(size=(6, 3)) * rng(seed + 1).lognormal(sigma=2.0, size=(6, 1))
        features[seed % 6] = 0.0
        weights = exploration_design("pca", features, rng(seed), replications=60)
        for group in owners(features):
            assert weights[:, group].sum(axis=1) == pytest.approx(np.full(60, 1 / 3))
            assert np.all(weights[:, group].any(axis=0))


def test_an_action_alone_in_its_direction_stays_there() -> None:
    """All belong to the first direction. The closest to the others goes to the second and stays."""
    features = np.array([[-1.0, 3, 4], [-2, -3, 1], [2, 2, 1], [2, 4, 4], [4, 3, 2]])
    directions = pca_directions(features)
    cosines = np.abs(features @ directions.T) / np.linalg.norm(features, axis=1)[:, None]
    assert np.all(np.argmax(cosines, axis=1) == 0)
    assert np.argmax(cosines, axis=0)[1:].tolist() == [1, 1]
    weights = exploration_design("pca", features, rng(6), replications=50)
    assert np.all(weights[:, [1, 4]] == 1 / 3)


def test_one_replication_has_a_leading_axis_and_none_is_refused() -> None:
    assert exploration_design("uniform", UNIT_BALL, rng(), replications=1).shape == (1, 5)
    with pytest.raises(ValueError, match=r"^replications: .* 0"):
        exploration_design("uniform", UNIT_BALL, rng(), replications=0)


def test_what_is_refused_is_told_by_its_argument() -> None:
    with pytest.raises(ValueError, match=r"^name: .*'random'"):
        exploration_design("random", UNIT_BALL, rng())
    with pytest.raises(ValueError, match=r"^sampling: .*'even'"):
        exploration_counts(np.array([0.5, 0.5]), 4, rng(), "even")
    with pytest.raises(ValueError, match=r"^exploration_rounds: .* 0"):
        check_exploration_length(0)
    with pytest.raises(ValueError, match=r"^rounds: .* 0"):
        exploration_length("sqrt", 0)


def test_one_round_of_exploration_and_one_in_all_are_enough() -> None:
    assert check_exploration_length(1) == 1
    assert [exploration_length(rule, 1) for rule in ("sqrt", "2*n^0.5", 1)] == [1, 2, 1]


def test_fewer_actions_than_directions_are_all_pulled() -> None:
    assert exploration_design("pca", [[3.0, 4.0]], rng(7)).tolist() == [1.0]
    weights = exploration_design("pca", [[1.0, 0.0, 0.0], [0.0, 5.0, 0.0]], rng(8), 20)
    assert weights.sum(axis=1) == pytest.approx(np.ones(20))
    assert np.all(weights > 0.3)


@pytest.mark.parametrize("zero", [0, 1])
def test_pca_design_of_one_direction_leaves_out_the_action_without_features(zero: int) -> None:
    features = np.zeros((2, 2))
    features[1 - zero, 0] = 1.0
    assert exploration_design("pca", features, rng(11))[zero] == 0


@pytest.mark.slow
@given(
    arrays(float, st.tuples(st.integers(1, 4), st.integers(1, 4)), elements=st.sampled_from([0, 1]))
)
def test_pca_design_never_pulls_an_action_without_features(others: np.ndarray) -> None:
    """Whatever the others span, an action whose features are all 0 tells nothing."""
    assume(others.any())
    features = np.vstack([np.zeros(others.shape[1]), others])
    weights = exploration_design("pca", features, rng(10), replications=4)
    assert weights.sum(axis=1) == pytest.approx(np.ones(4))
    assert not weights[:, ~features.any(axis=1)].any()


def test_designs_by_name_are_those_of_their_functions() -> None:
    best = identifiable_design(UNIT_BALL)
    assert np.array_equal(exploration_design("identifiable", UNIT_BALL, rng()), best)
    several = exploration_design("identifiable", UNIT_BALL, rng(), replications=3)
    assert np.array_equal(several, [best, best, best])


def test_weights_may_miss_their_sum_by_rounding() -> None:
    weights = np.array([0.5 + 2e-9, 0.5 + 2e-9, 0.0])
    assert exploration_counts(weights, 10, rng(9)).sum() == 10


def test_pca_design_with_an_ownerless_direction_takes_the_closest_action() -> None:
    """All actions lie near the first axis; the second takes the one at 40 degrees."""
    weights = exploration_design("pca", at_angles(0, 40, -10, -10, -20), rng(5), replications=200)
    assert weights.sum(axis=1) == pytest.approx(1.0)
    assert np.all(weights[:, 1] >= 0.5)


def test_pca_design_spans_what_the_features_span() -> None:
    features = at_angles(0, 30, -30)
    weights = exploration_design("pca", features, rng(6), replications=200)
    assert min(np.linalg.matrix_rank(features[row > 0]) for row in weights) == 2


@pytest.mark.slow
def test_single_and_replicated_designs_have_one_law() -> None:
    source = rng(7)
    single = np.array([exploration_design("pca", UNIT_BALL, source) for _ in range(2000)])
    assert single.shape == (2000, 5)
    chosen = np.argmax(single[:, [0, 2, 3, 4]], axis=1)
    assert stats.chisquare(np.bincount(chosen, minlength=4)).pvalue > ALPHA


# --- pulls --------------------------------------------------------------------------------------


def test_random_sampling_is_multinomial() -> None:
    """Mean, variance and covariance of the counts, and their sum."""
    weights, rounds, size = np.array([0.5, 0.3, 0.2, 0.0]), 20, 20_000
    counts = exploration_counts(np.broadcast_to(weights, (size, 4)), rounds, rng(8))
    assert counts.shape == (size, 4)
    assert np.all(counts.sum(axis=1) == rounds)
    assert not counts[:, 3].any()
    limit = stats.norm.isf(ALPHA / 2)
    centred = counts - rounds * weights
    for a in range(3):
        for b in range(a, 3):
            products = centred[:, a] * centred[:, b]
            expected = rounds * weights[a] * ((a == b) - weights[b])
            assert abs(products.mean() - expected) < limit * products.std() / np.sqrt(size)
        sd = np.sqrt(rounds * weights[a] * (1 - weights[a]))
        assert abs(centred[:, a].mean()) < limit * sd / np.sqrt(size)


def test_random_sampling_of_one_trial() -> None:
    counts = exploration_counts(np.array([0.5, 0.5]), 7, rng(9))
    assert counts.shape == (2,)
    assert counts.sum() == 7
    again = exploration_counts(np.array([0.5, 0.5]), 7, rng(9))
    assert counts.tolist() == again.tolist()


def test_balanced_sampling_is_as_even_as_whole_numbers_allow() -> None:
    uniform = np.full((3, 5), 0.2)
    for rounds in (1, 4, 5, 13):
        counts = exploration_counts(uniform, rounds, rng(10), "balanced")
        assert np.all(counts.sum(axis=1) == rounds)
        assert np.all(np.ptp(counts, axis=1) <= 1)
    half = exploration_counts(np.array([0.5, 0.0, 0.5]), 10, rng(11), "balanced")
    assert half.tolist() == [5, 0, 5]


def test_balanced_sampling_uses_no_randomness() -> None:
    source = rng(12)
    before = source.bit_generator.state
    exploration_counts(np.full(5, 0.2), 12, source, "balanced")
    assert source.bit_generator.state == before
    exploration_counts(np.full(5, 0.2), 12, source, "random")
    assert source.bit_generator.state != before


# --- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "features", "replications", "error", "message"),
    [
        ("greedy", UNIT_BALL, None, ValueError, "name.*'pca', 'uniform'.*'greedy'"),
        ("pca", [1.0, 2.0], None, ValueError, r"features.*\(A, d\).*\(2,\)"),
        ("uniform", [[np.nan, 1.0]], None, ValueError, "features.*finite.*nan"),
        ("pca", UNIT_BALL, 0, ValueError, "replications.*at least 1.*0"),
        ("pca", UNIT_BALL, 2.0, TypeError, "replications.*whole number.*2.0"),
    ],
)
def test_bad_designs_are_refused(
    name: str, features: object, replications: object, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        exploration_design(name, features, rng(), replications)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rounds", "sampling", "error", "message"),
    [
        (5, "stratified", ValueError, "sampling.*'random', 'balanced'.*stratified"),
        (-1, "random", ValueError, "rounds.*at least 0.*-1"),
        (2.5, "random", TypeError, "rounds.*whole number.*2.5"),
    ],
)
def test_bad_layouts_are_refused(
    rounds: object, sampling: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        exploration_counts(np.array([0.5, 0.5]), rounds, rng(), sampling)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("weights", [[0.5, 0.1], [0.0, 0.0]])
def test_weights_that_are_no_design_are_refused(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="weights"):
        exploration_counts(np.array(weights), 5, rng(), "random")


# --- lengths ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "rounds", "length"),
    [
        (7, 100, 7),
        ("sqrt", 99, 9),
        ("n^0.5", 100, 10),
        ("n^.5", 10**10, 10**5),
        ("0.5*n^0.5", 100, 5),
        (" 2 * n ^ 0.75 ", 10_000, 2000),
        ("n^0.1", 2, 1),
        ("n^0.6", 100_000, 1000),  # in floats 999.9999999999998
        ("0.001*n^0.5", 100, 1),
    ],
)
def test_lengths(rule: int | str, rounds: int, length: int) -> None:
    assert exploration_length(rule, rounds) == length


@pytest.mark.parametrize(
    "rule",
    [
        "cbrt",
        "n",
        "n^1",
        "n^1.5",
        "n^0",
        "n^0.0",
        "0*n^0.5",
        "-1*n^0.5",
        "n^-0.5",
        "",
        "5",
        "9" * 400 + "*n^0.5",
    ],
)
def test_rules_that_are_none_are_refused(rule: str) -> None:
    with pytest.raises(ValueError, match="exploration_rounds"):
        check_exploration_length(rule)


@pytest.mark.parametrize(("rule", "error"), [(0, ValueError), (2.0, TypeError), (None, TypeError)])
def test_lengths_that_are_none_are_refused(rule: object, error: type[Exception]) -> None:
    with pytest.raises(error, match="exploration_rounds"):
        check_exploration_length(rule)


@pytest.mark.parametrize(("rounds", "error"), [(0, ValueError), (2.5, TypeError)])
def test_budgets_that_are_none_are_refused(rounds: object, error: type[Exception]) -> None:
    with pytest.raises(error, match="rounds"):
        exploration_length("sqrt", rounds)  # type: ignore[arg-type]


def test_a_tuned_length_is_not_known_before_the_data() -> None:
    assert check_exploration_length("tuned") == "tuned"
    with pytest.raises(ValueError, match="depends on the data"):
        exploration_length("tuned", 100)


def test_each_replication_can_have_its_own_length() -> None:
    weights = np.tile([0.25, 0.75], (3, 1))
    for sampling in ("random", "balanced"):
        counts = exploration_counts(weights, np.array([0, 4, 100]), rng(), sampling)
        assert counts.sum(axis=1).tolist() == [0, 4, 100]
