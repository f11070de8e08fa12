"""What is advised: the same rules by another route, refusals, and what must hold for every size."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import math
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import speedlib
from speedlib import Advice, LinearBandit, Strategy, advise
from speedlib.advice import NOISE, Size

FOLDER = Path(speedlib.__file__).parent
TABLE: dict[str, Any] = json.loads((FOLDER / "advice.json").read_text(encoding="utf-8"))
CELLS: dict[str, Any] = TABLE["cells"]
NOT_ADVISED_UNTOLD = {"oracle", "weighted"}

sizes = st.fixed_dictionaries(
    {
        "actions": st.one_of(st.integers(2, 300), st.integers(2, 10**6)),
        "dimension": st.one_of(st.integers(2, 14), st.integers(2, 10**4)),
        "rounds": st.one_of(st.integers(1, 10**5), st.integers(1, 10**12)),
        "noise": st.sampled_from(NOISE),
    }
)


def nearest(grid: list[int], value: float) -> int:
    """Return the number of a grid at the least distance of logarithms; of two, the larger."""
    return min(reversed(grid), key=lambda each: round(abs(math.log(value / each)), 12))


@given(sizes)
def test_the_nearest_size_counts_by_the_distance_of_logarithms(size: dict[str, Any]) -> None:
    found = advise(**size)
    d = min(size["dimension"], size["actions"])
    inside = d <= 10 and size["actions"] <= 20 * d and size["rounds"] >= 100
    assert (found.measured is not None) == inside
    if found.measured is not None:
        dimension = nearest(TABLE["dimensions"], d)
        actions = dimension * nearest(TABLE["multiples"], size["actions"] / d)
        assert found.measured[:2] == (actions, dimension)
        assert found.measured.rounds == max(n for n in TABLE["rounds"] if n <= size["rounds"])


@given(sizes)
def test_ranges_are_those_of_the_table_and_rise(size: dict[str, Any]) -> None:
    found = advise(**size)
    ranges = (found.saving, found.saving_average, found.saving_weighted)
    if found.measured is None:
        assert ranges == (None, None, None)
        return
    cell = CELLS[",".join(map(str, found.measured))]
    key = found.key if found.key != "policy" else "practical"
    assert [list(each) for each in ranges if each] == cell["strategies"][key]
    assert all(0 < low <= middle <= high for low, middle, high in map(tuple, filter(None, ranges)))


@given(sizes)
def test_what_is_advised_pays_in_the_middle_or_pulls_as_the_policy_does(
    size: dict[str, Any],
) -> None:
    found = advise(**size)
    if found.measured is None or found.key in ("policy", "weighted"):
        return
    assert found.saving is not None and found.saving_weighted is not None
    middle = found.saving_weighted if size["noise"] == "known" else found.saving
    assert middle.middle <= 0.9


@given(sizes)
def test_nothing_is_advised_that_asks_for_more_than_is_known(size: dict[str, Any]) -> None:
    found = advise(**size)
    assert found.build().knows_variances == (size["noise"] == "known")
    assert (found.key in NOT_ADVISED_UNTOLD) == (size["noise"] == "known")


@given(sizes)
def test_more_features_than_actions_count_as_many_as_there_are_actions(
    size: dict[str, Any],
) -> None:
    fewer = size | {"dimension": min(size["dimension"], size["actions"])}
    assert advise(**size) == advise(**fewer)


@given(sizes)
def test_every_blank_is_filled_and_the_command_is_python(size: dict[str, Any]) -> None:
    found = advise(**size)
    texts = [found.exploration, found.length, *(reason.text for reason in found.reasons)]
    assert not any(mark in text for text in texts for mark in "{}")
    ast.parse(found.command)
    assert str(size["rounds"]) in found.command
    assert found.strategy in str(found)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 12), st.integers(2, 6), st.integers(40, 900), st.sampled_from(NOISE))
def test_the_strategy_can_be_begun_at_that_size(
    actions: int, dimension: int, rounds: int, noise: str
) -> None:
    rng = np.random.default_rng([actions, dimension, rounds])
    features = rng.normal(size=(actions, dimension))
    strategy = advise(actions, dimension, rounds, noise=noise).build()
    trial = strategy.begin(
        features,
        np.full(actions, 1 / actions),
        rounds,
        rng=1,
        variances=np.ones(actions) if noise == "known" else None,
    )
    assert 0 < trial.first_counts().sum() <= rounds


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("size", [(4, 2, 100), (12, 6, 3000), (10, 10, 3000), (30, 2, 10**5)])
def test_the_code_is_that_of_the_strategy(size: tuple[int, int, int], noise: str) -> None:
    found = advise(*size, noise=noise)
    built = eval(found.code, vars(speedlib))
    assert isinstance(built, Strategy)
    assert built == found.build()


def test_the_command_computes_the_figure(capsys: Any) -> None:
    found = advise(4, 2, 100)
    assert found.key == "neyman"
    bandit = LinearBandit(np.eye(4)[:, :2] + 0.5, np.ones(2), Sigma=np.diag([0.1, 2.0]))
    given_ = {"features": bandit.features, "theta": bandit.theta, "Sigma": np.diag([0.1, 2.0])}
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(found.command, given_ | {"policy": np.full(4, 0.25)})
    assert 0 < float(said.getvalue()) < 1


# --- the table ------------------------------------------------------------------------------------


def test_the_table_has_every_size_of_its_grid() -> None:
    grid = {
        f"{d * multiple},{d},{n}"
        for d in TABLE["dimensions"]
        for multiple in TABLE["multiples"]
        for n in TABLE["rounds"]
    }
    assert set(CELLS) == grid
    assert (TABLE["dimensions"][0], TABLE["dimensions"][-1], TABLE["multiples"][-1]) == (2, 10, 20)
    assert (TABLE["rounds"][0], TABLE["rounds"][-1]) == (100, 100_000)


@pytest.mark.parametrize("name", CELLS)
def test_nobody_beats_the_oracle(name: str) -> None:
    """But where pulls do not determine the value and a bias takes the place of noise."""
    if int(name.split(",")[-1]) < 1000:
        return
    oracle = np.array(CELLS[name]["strategies"]["oracle"])
    for key, ranges in CELLS[name]["strategies"].items():
        # Three digits; an average over draws for the others.
        assert np.all(np.array(ranges) >= 0.97 * oracle), key


@pytest.mark.parametrize("dimension", TABLE["dimensions"])
@pytest.mark.parametrize("multiple", TABLE["multiples"])
def test_the_practical_strategy_pays_more_the_more_rounds_there_are(
    dimension: int, multiple: int
) -> None:
    """Its regret falls faster than 1/n, and that of running the policy does not."""
    name = f"{dimension * multiple},{dimension}"
    middle = [
        CELLS[f"{name},{n}"]["strategies"]["practical"][0][1]
        for n in (300, 1000, 3000, 10_000, 100_000)
    ]
    assert all(later <= 1.05 * earlier for earlier, later in pairwise(middle))


def test_the_advice_of_a_cell_follows_from_its_middle_ratios() -> None:
    for cell in CELLS.values():
        middle = {key: ranges[0][1] for key, ranges in cell["strategies"].items()}
        pays = {key for key in middle if middle[key] <= 0.9} - NOT_ADVISED_UNTOLD
        assert set(cell["order"]) == pays
        if pays:
            assert middle[cell["order"][0]] <= 1.1 * min(middle[key] for key in pays)
        saved = cell["strategies"]["oracle"][2][1] <= 0.9
        assert cell["known"][0] == ("oracle" if saved else "weighted")


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"actions": 1}, ValueError, "actions: must be at least 2; got 1"),
        ({"actions": 10**7}, ValueError, "actions: must be at most 1000000; got 10000000"),
        ({"dimension": 1}, ValueError, "dimension: must be at least 2; got 1"),
        ({"rounds": 0}, ValueError, "rounds: must be at least 1; got 0"),
        ({"rounds": 3e3 + 0.5}, TypeError, "rounds: expected a whole number; got 3000.5"),
        ({"actions": True}, TypeError, "actions: expected a whole number; got True"),
        (
            {"noise": "loud"},
            ValueError,
            "noise: must be one of 'unknown', 'known'; got 'loud'",
        ),
    ],
)
def test_what_is_no_size_is_refused_by_name(
    changes: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as found:
        advise(**({"actions": 12, "dimension": 6, "rounds": 3000} | changes))
    assert str(found.value) == message


def test_whole_floats_are_rounds() -> None:
    assert advise(12, 6, 3e3) == advise(12, 6, 3000)  # type: ignore[arg-type]


def test_an_answer_is_a_value() -> None:
    found = advise(12, 6, 3000)
    assert isinstance(found, Advice)
    assert found.measured == Size(12, 6, 3000)
    with pytest.raises(AttributeError):
        found.key = "oracle"  # type: ignore[misc]


@given(sizes)
def test_the_practical_speed_says_in_how_few_rounds_it_cannot_try_what_it_explores(
    size: dict[str, Any],
) -> None:
    found = advise(**size)
    if found.key != "practical":
        return
    (explored,) = re.findall(r"at least ([\d,]+) actions", found.exploration)
    (rounds,) = re.findall(r"fewer than ([\d,]+) rounds", found.length)
    assert rounds == explored


@pytest.mark.parametrize(
    ("size", "needed"), [((200, 12, 300), "78"), ((10**6, 10**4, 10**12), "1,000,000")]
)
def test_an_exploration_that_a_pilot_cannot_hold_is_owned_up_to(
    size: tuple[int, int, int], needed: str
) -> None:
    found = advise(*size)
    (pilot,) = re.findall(r"a pilot of ([\d,]+) rounds", found.length)
    assert int(pilot.replace(",", "")) < int(needed.replace(",", ""))
    assert f"fewer than {needed} rounds, some of these actions have not been tried" in found.length
    assert "First compute the ratio for your own features." in found.reasons[0].text
