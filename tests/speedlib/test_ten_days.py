"""Ten days of an experiment that loses and delays rewards: restarts, and its intervals."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from scipy import stats

from speedlib import LinearBandit
from speedlib.experiment import Experiment

from . import ten_days
from .ten_days import POLICY, TRUTH, WORLD


@pytest.mark.slow
def test_ten_days_with_a_new_process_each_day(tmp_path: Path) -> None:
    """Each day a program that ends; all in one process gives the same text."""
    for day in range(1, ten_days.DAYS + 1):
        subprocess.run(
            [sys.executable, ten_days.__file__, str(tmp_path), str(day), "11"],
            check=True,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )
    text = (tmp_path / "experiment.json").read_text("utf-8")
    found, expected = Experiment.from_json(text), ten_days.play(11)
    assert found.books.asked.tolist() == expected.books.asked.tolist()
    assert found.books.asked.sum() == ten_days.ROUNDS
    assert found.books.written_off.sum() + found.books.owed.sum() > 0
    low, high = found.estimate().interval()
    assert (float(low), float(high)) == pytest.approx(
        tuple(map(float, expected.estimate().interval())), rel=1e-12
    )


@pytest.mark.slow
def test_intervals_of_ten_days_hold() -> None:
    """150 experiments: with a coverage of 95 %, fewer than 131 hold once in a million times."""
    held = 0
    for seed in range(150):
        low, high = ten_days.play(seed).estimate().interval(0.95)
        held += low <= TRUTH <= high
    assert held >= stats.binom.ppf(1e-6, 150, 0.95)


def test_the_world_of_the_ten_days() -> None:
    assert isinstance(WORLD, LinearBandit)
    assert WORLD.value(POLICY) == pytest.approx(TRUTH)
