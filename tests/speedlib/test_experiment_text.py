"""Experiments, trials and rewards as text that people can read."""

from __future__ import annotations

import json

import numpy as np
import pytest

from speedlib import SPEED, Rewards
from speedlib.experiment import Experiment

from .small_experiment import experiment, pull
from .ten_days import FEATURES, POLICY


def test_the_text_can_be_read_by_people() -> None:
    text = experiment(SPEED.practical(), names=list("abcdefgh")).to_json()
    parts = json.loads(text)
    assert (parts["format"], parts["version"]) == ("speedlib experiment", 1)
    assert parts["strategy"]["class"] == "SPEED"
    assert '\n  "names": ["a", "b"' in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t[:100], "text: is no JSON, or was cut off"),
        (lambda t: "[1, 2]", "text: expected the format 'speedlib experiment'; got None"),
        (lambda t: t.replace('"version": 1', '"version": 2'), "version 2 .* reads 1: install"),
        (lambda t: t.replace('"version": 1', '"version": "1"'), "version must be a whole number"),
        (lambda t: t.replace('"asked"', '"bsked"', 1), "text: has no part 'asked'"),
        (lambda t: t.replace('"SPEED"', '"Mine"'), "the text names 'Mine', .* strategy="),
        (lambda t: t.replace('"explored"', '"other"', 1), "does not fit SPEED|state"),
    ],
)
def test_other_texts_are_refused(change, message: str) -> None:
    text = experiment(SPEED.practical()).to_json()
    with pytest.raises(ValueError, match=message):
        Experiment.from_json(change(text))


def test_a_strategy_of_ones_own_is_passed_again() -> None:
    class Mine(SPEED):
        default_name = "Mine"

    text = experiment(Mine(exploration="uniform")).to_json()
    with pytest.raises(ValueError, match="names 'Mine'"):
        Experiment.from_json(text)
    again = Experiment.from_json(text, Mine(exploration="uniform"))
    assert again.planned.tolist() == experiment(Mine(exploration="uniform")).planned.tolist()


def test_only_single_trials_become_text() -> None:
    trial = SPEED().begin(FEATURES, POLICY, 100, rng=1, replications=2)
    with pytest.raises(ValueError, match="to_json: is for single trials"):
        trial.to_json()


def test_rewards_through_json_to_the_last_bit() -> None:
    rewards = pull(np.array([3, 0, 1, 7, 2, 2, 9, 4]), 1)
    again = Rewards.from_json(rewards.to_json())
    for name in ("counts", "means", "scatters"):
        assert getattr(again, name).tolist() == getattr(rewards, name).tolist()
    with pytest.raises(ValueError, match="format 'speedlib rewards'"):
        Rewards.from_json(experiment(SPEED()).to_json())
