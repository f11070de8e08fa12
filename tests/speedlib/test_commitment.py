"""A commitment is a value: nobody changes it, and it says what does not fit."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np
import pytest

from speedlib import SPEED, Commitment, OnPolicy, commit, play
from speedlib.simulation import conditional_moments
from speedlib.strategies import ExploreThenCommit
from speedlib.trials import Strategy

from .cases import ALL, BALL, EXPLORING, ROTATED, begin

every_strategy = pytest.mark.parametrize("strategy", ALL, ids=repr)
NAMES = ("counts", "coefficients", "offset", "estimable")


def parts(replications: int = 3) -> dict[str, np.ndarray]:
    return {
        "counts": np.full((replications, 2), 4),
        "coefficients": np.full((replications, 2), 0.5),
        "offset": np.zeros(replications),
        "estimable": np.ones(replications, dtype=bool),
    }


def test_the_arrays_of_the_caller_stay_the_caller_s() -> None:
    given = parts()
    commitment = Commitment(**given)
    for name, array in given.items():
        before = getattr(commitment, name).tolist()
        array[...] = 0  # still writeable, and without effect
        assert getattr(commitment, name).tolist() == before, name


@pytest.mark.parametrize("name", NAMES)
def test_a_shared_row_that_the_caller_writes_to_changes_nothing(name: str) -> None:
    given = parts()
    row = np.array(given[name][0])
    commitment = Commitment(**given | {name: np.broadcast_to(row, given[name].shape)})
    before = getattr(commitment, name).tolist()
    row[...] = 0
    assert getattr(commitment, name).tolist() == before


def test_lists_and_numbers_will_do() -> None:
    commitment = Commitment([3, 1], [0.5, 0.5], np.float64(0.0), np.True_)
    same = Commitment([3.0, 1.0], [0.5, 0.5], 0, True)
    for each in (commitment, same):
        assert each.counts.dtype == np.int64 and each.estimable.dtype == np.bool_
        assert each.offset.shape == each.estimable.shape == ()
        assert not any(getattr(each, name).flags.writeable for name in NAMES)


@every_strategy
@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))]
)
def test_a_copy_is_as_unchangeable_and_as_small(strategy: Strategy, copied) -> None:
    trial = begin(strategy, ROTATED, BALL.policy, 90, 13, replications=50)
    rng = np.random.default_rng(14)
    commitment = commit(trial, lambda counts: ROTATED.pull(counts, rng))
    for each in (copied(commitment), copied(dataclasses.replace(commitment))):
        for name in NAMES:
            part, original = getattr(each, name), getattr(commitment, name)
            if original is None:
                assert part is None
                continue
            assert not part.flags.writeable, name
            assert part.tolist() == original.tolist() and part.dtype == original.dtype
            if name in ("counts", "coefficients"):
                assert (part.strides[0] == 0) == (original.strides[0] == 0), name
        if strategy.conditional:
            for new, old in zip(
                conditional_moments(each, ROTATED, BALL.policy),
                conditional_moments(commitment, ROTATED, BALL.policy),
                strict=True,
            ):
                assert new.tolist() == old.tolist()


def test_a_shared_row_is_pickled_once() -> None:
    trial = begin(OnPolicy(sampling="balanced"), BALL.bandit, BALL.policy, 90, 1, replications=5000)
    assert trial.commitment.counts.strides[0] == 0
    assert len(pickle.dumps(trial.commitment)) < trial.commitment.counts.nbytes / 2


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"counts": [[1, 2]]}, ValueError, r"coefficients: expected shape \(1, 2\).*\(3, 2\)"),
        ({"counts": [[1.5, 2.0]] * 3}, ValueError, "counts: .*whole numbers; got 1.5"),
        ({"counts": [[-1, 2]] * 3}, ValueError, "counts: .*at least 0; got -1"),
        ({"counts": 3}, ValueError, "counts: expected one count per action"),
        ({"counts": "many"}, TypeError, "counts: expected an array of real numbers"),
        ({"coefficients": [0.5, 0.5]}, ValueError, r"coefficients: expected shape \(3, 2\)"),
        ({"coefficients": [[np.nan, 1.0]] * 3}, ValueError, "coefficients: .*finite; got nan"),
        ({"coefficients": "half"}, TypeError, "coefficients: expected an array of real numbers"),
        ({"offset": 0.0}, ValueError, r"offset: expected shape \(3,\).*got shape \(\)"),
        ({"offset": [np.inf] * 3}, ValueError, "offset: .*finite; got inf"),
        ({"offset": None}, TypeError, "offset: expected an array of real numbers"),
        ({"estimable": True}, ValueError, r"estimable: expected shape \(3,\)"),
        ({"estimable": [1, 0, 1]}, TypeError, "estimable: expected truth values; got dtype int"),
    ],
)
def test_parts_that_do_not_fit_are_refused(changes, error, message) -> None:
    with pytest.raises(error, match=message):
        Commitment(**parts() | changes)


# --- plays that were interrupted ----------------------------------------------------------------


class Interrupt(BaseException):
    """What comes from outside, like that of the keyboard."""


class Pulls:
    """Pulls that break off at one of the phases, if any."""

    def __init__(self, phase: int = 99) -> None:
        self.rng, self.left = np.random.default_rng(14), phase

    def __call__(self, counts: np.ndarray):
        self.left -= 1
        if self.left == -1:
            raise Interrupt
        return ROTATED.pull(counts, self.rng)


@pytest.mark.slow
@every_strategy
@pytest.mark.parametrize(
    ("run", "phase"), [(play, 0), (play, 1), (play, 2), (commit, 0), (commit, 1)]
)
def test_a_play_goes_on_where_it_was_interrupted(strategy: Strategy, run, phase) -> None:
    """With the same result as one that was not."""
    whole, other = (begin(strategy, ROTATED, BALL.policy, 90, 13) for _ in range(2))
    expected = play(whole, Pulls())
    pull = Pulls(phase)
    try:
        found = run(other, pull)
    except Interrupt:
        assert pull.left == -1
        found = None
    if run is commit or found is None:
        pull.left = 99
        found = play(other, pull)
    assert other.commitment.counts.tolist() == whole.commitment.counts.tolist()
    assert float(found.value) == float(expected.value)
    assert float(found.standard_error) == float(expected.standard_error)


@every_strategy
def test_a_committed_trial_has_its_commitment_at_once(strategy: Strategy) -> None:
    trial = begin(strategy, ROTATED, BALL.policy, 90, 13)
    first = commit(trial, Pulls())
    assert commit(trial, Pulls(0)) is first


@pytest.mark.parametrize("strategy", EXPLORING, ids=repr)
def test_the_pulls_that_are_due_can_be_read_at_any_time(strategy: ExploreThenCommit) -> None:
    trial = begin(strategy, ROTATED, BALL.policy, 90, 13)
    rng = np.random.default_rng(14)
    asked = trial.first_counts()
    while not trial.committed:
        assert trial.asked.tolist() == asked.tolist()
        asked = trial.next_counts(ROTATED.pull(asked, rng))
        with pytest.raises(RuntimeError, match=rf"first_counts: {strategy.name} has.*`asked`"):
            trial.first_counts()
    assert trial.asked.tolist() == asked.tolist() == trial.commitment.counts.tolist()


@pytest.mark.parametrize("run", [play, commit])
@pytest.mark.parametrize("thing", [SPEED(), SPEED, None, "trial"])
def test_what_is_no_trial_is_refused_by_name(run, thing) -> None:
    with pytest.raises(TypeError, match=r"trial: pass what strategy.begin\(...\) returns; got"):
        run(thing, Pulls())


@pytest.mark.parametrize("run", [play, commit])
@pytest.mark.parametrize("pull", [None, BALL.bandit])
def test_what_cannot_be_called_does_not_pull(run, pull) -> None:
    trial = begin(SPEED(), BALL.bandit, BALL.policy, 80, 3)
    with pytest.raises(TypeError, match="pull: must be a function that takes numbers of pulls"):
        run(trial, pull)
