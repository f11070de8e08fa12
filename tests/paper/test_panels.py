"""The worst baseline and the best floor, against draws whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from paper.panels import best_floor, worst_baseline
from speedlib.comparison import Ratio


def test_intervals_hold_the_least_over_floors_of_the_largest_over_baselines() -> None:
    rng = np.random.default_rng(3)
    truth = rng.uniform(0.5, 2.0, (3, 4))
    answer = np.sort(np.sort(truth, axis=1)[:, -1])[0]
    for _ in range(200):
        # Every interval holds its own number, wherever in it that lies.
        below, above, place = rng.uniform(0.0, 0.5, (3, *truth.shape))
        by_floor = {
            float(f): worst_baseline(
                [
                    Ratio(
                        truth[f, b] - below[f, b] + place[f, b] * (below + above)[f, b],
                        truth[f, b] - below[f, b],
                        truth[f, b] + above[f, b],
                        f"baseline {b}",
                    )
                    for b in range(4)
                ]
            )
            for f in range(3)
        }
        floor, found = best_floor(by_floor)
        assert found.low <= answer <= found.high
        assert found.low <= found.estimate <= found.high
        assert found.reference == by_floor[floor].reference
        assert all(found.estimate <= each.estimate for each in by_floor.values())


def test_one_ratio_stays_what_it_is() -> None:
    ratio = Ratio(0.9, 0.8, 1.1, "On-policy")
    assert worst_baseline([ratio]) == ratio
    assert best_floor({0.01: ratio}) == (0.01, ratio)


def test_nothing_to_compare_is_refused() -> None:
    with pytest.raises(ValueError, match="ratios: need at least one"):
        worst_baseline([])
    with pytest.raises(ValueError, match="by_floor: needs at least one"):
        best_floor({})
