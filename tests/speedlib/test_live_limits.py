"""A live experiment from tables: costs, bounds, several policies, and phases that are closed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from speedlib import SPEED, LinearBandit
from speedlib.live import Actions, advance, read_actions
from speedlib.trials import Trial

from .live_table import NAMES, read_table

PRICED = "action,size,colour,price,low,high,old,new\nred,1,0,1,0,1,.5,0\nblue,0,1,2,.1,1,.5,1\n"


@pytest.fixture
def actions(tmp_path: Path) -> Actions:
    return read_table(tmp_path)


def test_columns_of_costs_bounds_and_policies(tmp_path: Path) -> None:
    path = tmp_path / "priced.csv"
    path.write_text(PRICED)
    table = read_actions(path, policy=["old", "new"], cost="price", least="low", most="high")
    assert table.columns == ("size", "colour")
    assert table.costs.tolist() == [1, 2]
    assert (table.least.tolist(), table.most.tolist()) == ([0, 0.1], [1, 1])
    assert table.policies.tolist() == [[0.5, 0.5], [0, 1]]
    assert table.policy.tolist() == [0.25, 0.75]
    one = read_actions(path, policy="old")
    assert one.policies is None and one.costs is None
    assert one.columns == ("size", "colour", "price", "low", "high", "new")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"policy": ["old", "nwe"]}, r"has no column 'nwe'; rename 'new' to 'nwe'"),
        ({"policy": "old", "cost": "prize"}, r"has no column 'prize'; did you mean 'price'"),
        (
            {"policy": "old", "cost": "colour"},
            r"line 2: column colour holds 0; costs must be greater than 0",
        ),
        (
            {"policy": "old", "least": "price"},
            r"line 3: column price holds 2; shares must lie between 0 and 1",
        ),
        ({"policy": "old", "cost": "old"}, "must name different columns"),
        ({"policy": []}, "policy: must name a column, or several"),
        ({"policy": ["old", "size"]}, "the same column|sum to 1|probabilit"),
    ],
)
def test_wrong_columns_are_named(tmp_path: Path, arguments: dict, message: str) -> None:
    path = tmp_path / "priced.csv"
    path.write_text(PRICED.replace("red,1,0", "red,3,0"))
    with pytest.raises(ValueError, match=message):
        read_actions(path, **arguments)


FORGOTTEN = [("price", "Cost", "cost"), ("price", "costs", "cost"), ("high", "MOST", "most")]


@pytest.mark.parametrize(("former", "column", "argument"), FORGOTTEN)
def test_a_forgotten_argument_is_told(
    tmp_path: Path, former: str, column: str, argument: str
) -> None:
    path = tmp_path / "priced.csv"
    path.write_text(PRICED.replace(former, column))
    with pytest.raises(
        ValueError, match=rf"{argument}: is empty, but .* has column \d, '{column}'"
    ):
        read_actions(path, policy="old")
    assert read_actions(path, policy="old", **{argument: column}).columns[:2] == ("size", "colour")


def test_a_closed_phase_goes_on_with_what_came(actions: Actions) -> None:
    bandit = LinearBandit(actions.features, [1.0, 2.0], Sigma=np.diag([0.5, 2.0]))
    strategy = SPEED(exploration="uniform", covariance="psd", exploration_sampling="balanced")

    def begin() -> Trial:
        return strategy.begin(actions.features, actions.policy, 400, rng=5)

    first = begin().first_counts()
    came = bandit.pull(first - [1, 0, 1], np.random.default_rng(1))
    waiting = advance(begin(), [came], NAMES)
    assert (waiting.phase, (waiting.asked - waiting.seen).tolist()) == (1, [1, 0, 1])
    on = advance(begin(), [came], NAMES, closed=1)
    assert on.phase == 2 and on.asked.sum() <= 380
    more = on.asked + np.array([1, 0, 0])  # one of the first phase came late
    late = bandit.pull(more, np.random.default_rng(2))
    done = advance(begin(), [came, late], NAMES, closed=1)
    assert done.estimate is not None and done.estimate.estimable
    lost = bandit.pull(np.maximum(on.asked - 5, 0), np.random.default_rng(3))
    assert advance(begin(), [came, lost], NAMES, closed=1).estimate is None
    assert advance(begin(), [came, lost], NAMES, closed=2).estimate.estimable
    with pytest.raises(ValueError, match="phase 2 requires"):
        advance(begin(), [bandit.pull(first, 1), late], NAMES)
