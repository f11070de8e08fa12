"""Sentences on savings: who needs fewer rounds."""

from __future__ import annotations

import numpy as np

from paper.saving_words import saving_sentence
from speedlib.savings import Saving


def test_each_way_is_judged_by_its_own_interval() -> None:
    saving = Saving(
        np.ones(3),
        rounds=np.array([2000.0, 500.0, 1100.0]),
        low=np.array([1500.0, 400.0, 900.0]),
        high=np.array([np.inf, 999.0, 1300.0]),
    )
    first, second, third = saving_sentence(saving, 1000, ("a", "b", "c")).splitlines()
    assert first == "- Against a: **the experiment saves about 50% of the rounds.**"
    assert "b: **the experiment loses: about 500 rounds" in second and "these 1,000" in second
    assert "c: not decided, since the interval contains the budget of 1,000" in third
