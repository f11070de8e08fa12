"""Strategies of one's own: designs, estimates and words on variances, fitting or not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from speedlib import LinearBandit, PerArm, play
from speedlib.strategies import FixedDesign, PlugIn

from .cases import BALL, begin, finish

THREE = LinearBandit(np.eye(3), [1.0, 2.0, 3.0], Sigma=np.eye(3))
POLICY = np.array([0.45, 0.45, 0.1])


class OwnCombination(PerArm):
    """The policy itself, also where there are no rewards; or what a test puts in its place."""

    default_name = "Mine"
    answer: object = POLICY

    def combination(self, counts: np.ndarray, variances: np.ndarray, setting: object) -> object:
        given = self.answer
        if isinstance(given, np.ndarray) and given.shape == counts.shape[-1:]:
            return np.broadcast_to(given, counts.shape)
        return given


class OwnWord(PerArm):
    default_name = "Mine"
    answer: object = None

    def determined(self, explored: np.ndarray, setting: object) -> object:
        return self.answer


def test_a_coefficient_without_rewards_leaves_the_value_open() -> None:
    """It multiplied a mean that nobody had seen, by zero, and called the sum exact."""
    strategy = OwnCombination(exploration_rounds=3, rounding="floor")
    trial = strategy.begin(THREE.features, POLICY, 6, rng=1)
    found = play(trial, lambda counts: THREE.pull(counts, np.random.default_rng(1)))
    assert trial.commitment.counts.tolist() == [1, 1, 0]
    assert not found.estimable and found.standard_error == np.inf
    assert np.isfinite(found.value)
    # The library's own leaves the coefficient out, with the same result.
    own = PerArm(exploration_rounds=3, rounding="floor").begin(THREE.features, POLICY, 6, rng=1)
    plain = play(own, lambda counts: THREE.pull(counts, np.random.default_rng(1)))
    assert (plain.value, plain.estimable) == (found.value, found.estimable)


def test_each_replication_is_judged_by_its_own_pulls() -> None:
    strategy = OwnCombination(exploration_rounds=6, rounding="floor")
    trial = strategy.begin(THREE.features, POLICY, 20, rng=1, replications=200)
    rng = np.random.default_rng(1)
    found = play(trial, lambda counts: THREE.pull(counts, rng))
    pulled = np.all(trial.commitment.counts > 0, axis=-1)
    assert found.estimable.tolist() == pulled.tolist()
    assert 0 < pulled.sum() < 200


def test_rewards_of_exploration_count_where_they_are_kept() -> None:
    strategy = OwnCombination(exploration_rounds=3, rounding="floor", keep_exploration=True)
    trial = strategy.begin(THREE.features, POLICY, 6, rng=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = play(trial, lambda counts: THREE.pull(counts, np.random.default_rng(1)))
    assert trial.commitment.counts[2] == 0 and found.estimable


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (np.full(4, 0.25), ValueError, r"must return one .*, shape .*; it returned shape \(4,\)"),
        (np.full((2, 5), 0.2), ValueError, r"must return one .*; it returned shape \(2, 5\)"),
        (0.2, ValueError, r"must return one .*; it returned shape \(\)"),
        ([0.2] * 4, ValueError, r"must return one .*; it returned shape \(4,\)"),
        (None, TypeError, "expected an array of real numbers; got None"),
        ("policy", TypeError, "expected an array of real numbers; got text"),
        (np.full(5, np.nan), ValueError, "every entry must be finite; got nan"),
    ],
)
@pytest.mark.parametrize("replications", [None, 3])
def test_a_combination_that_does_not_fit_is_named(
    replications, answer, error, message, monkeypatch
) -> None:
    monkeypatch.setattr(OwnCombination, "answer", answer)
    trial = begin(OwnCombination(), BALL.bandit, BALL.policy, 80, 3, replications=replications)
    with pytest.raises(error, match=rf"^Mine.combination: {message}"):
        finish(trial, BALL.bandit, 4)


def test_a_combination_may_be_a_list(monkeypatch) -> None:
    plain = finish(begin(PerArm(), BALL.bandit, BALL.policy, 80, 3), BALL.bandit, 4)
    monkeypatch.setattr(OwnCombination, "answer", BALL.policy.tolist())
    found = finish(begin(OwnCombination(), BALL.bandit, BALL.policy, 80, 3), BALL.bandit, 4)
    assert (found.value, found.standard_error) == (plain.value, plain.standard_error)


PAIR = r"must return a pair, truth values of shape \(3,\) and a text; it returned "


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (None, TypeError, PAIR + "None"),
        (np.ones(3, bool), TypeError, PAIR),
        ((np.ones(3, bool), "all", 3), TypeError, PAIR),
        ((np.ones(3, bool), 3), TypeError, PAIR),
        (("all", np.ones(3, bool)), TypeError, PAIR),
        ((np.ones(3), "all"), TypeError, "must return truth values; it returned "),
        (("all", "all"), TypeError, "expected an array of real numbers; got text"),
        ((np.ones(4, bool), "all"), ValueError, r"must return one truth .*shape \(4,\)"),
        ((True, "all"), ValueError, r"must return one truth .*shape \(\)"),
    ],
)
def test_a_word_on_variances_that_does_not_fit_is_named(
    answer, error, message, monkeypatch
) -> None:
    monkeypatch.setattr(OwnWord, "answer", answer)
    trial = OwnWord(exploration_rounds=3).begin(THREE.features, np.full(3, 1 / 3), 6, rng=1)
    with pytest.raises(error, match=rf"^Mine.determined: {message}"):
        trial.next_counts(THREE.pull(trial.first_counts(), np.random.default_rng(1)))
    assert not trial.committed  # as it was


def test_a_word_on_variances_may_be_lists(monkeypatch) -> None:
    monkeypatch.setattr(OwnWord, "answer", [[True, False, False], "so it is said"])
    trial = OwnWord(exploration_rounds=3).begin(THREE.features, np.full(3, 1 / 3), 6, rng=1)
    with pytest.warns(UserWarning, match="of 2 actions whose variances .*: so it is said"):
        trial.next_counts(THREE.pull(trial.first_counts(), np.random.default_rng(1)))


class OwnDesigns(PlugIn):
    default_name = "Mine"
    answer: object = None

    def designs(self, variances: np.ndarray, setting: object) -> object:
        return self.answer


class OwnDesign(FixedDesign):
    default_name = "Fixed"
    answer: object = None

    def design(self, setting: object) -> object:
        return self.answer


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (np.full(4, 0.25), ValueError, r"must return .*; it returned shape \(4,\)"),
        (np.full((2, 5), 0.2), ValueError, r"must return .*; it returned shape \(2, 5\)"),
        (0.2, ValueError, r"must return .*; it returned shape \(\)"),
        (None, TypeError, "expected an array of real numbers; got None"),
        (np.full(5, np.nan), ValueError, "every entry must be finite; got nan"),
    ],
)
@pytest.mark.parametrize("kind", [OwnDesigns, OwnDesign])
def test_a_design_of_ones_own_is_named_where_it_does_not_fit(
    kind: type, answer: object, error: type[Exception], message: str, monkeypatch
) -> None:
    monkeypatch.setattr(kind, "answer", answer)
    name = "Mine.designs" if kind is OwnDesigns else "Fixed.design"
    with pytest.raises(error, match=rf"^{name}: {message}"):
        finish(begin(kind(), BALL.bandit, BALL.policy, 80, 3), BALL.bandit, 4)


@pytest.mark.parametrize("replications", [None, 3])
def test_a_design_of_ones_own_that_fits_is_followed(replications, monkeypatch) -> None:
    share = [0.5, 0.5, 0, 0, 0]
    monkeypatch.setattr(OwnDesigns, "answer", [share] * (replications or 1))
    monkeypatch.setattr(OwnDesign, "answer", share)
    for kind, choices in ((OwnDesigns, {}), (OwnDesign, {"sampling": "balanced"})):
        more = {"rounding": "efficient"} if kind is OwnDesigns else choices
        trial = begin(kind(**more), BALL.bandit, BALL.policy, 80, 3, replications=replications)
        finish(trial, BALL.bandit, 4)
        assert np.all(trial.commitment.counts[..., 2:] == 0)
        assert np.all(np.ptp(trial.commitment.counts[..., :2], axis=-1) <= 1)
