"""The family of bandits behind the advice, its errors by another route, and the stored table."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import speedlib
from paper import what_to_use
from paper.what_to_use import KINDS, Cell, choose, draw, family, measure, replicate
from speedbook.paths import find_root
from speedbook.run.kernels import own_settings, put_into
from speedlib import SPEED, OnPolicy

from ..speedlib import per_round

STORED = json.loads((Path(speedlib.__file__).parent / "advice.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_bandit_is_of_its_kind(kind):
    features, ratio, policy = kind
    bandit, target = draw(kind, 30, 4, 7)
    lengths = np.sqrt((bandit.features**2).sum(axis=1))
    assert (np.ptp(lengths) < 1e-12) == (features == "unit")
    # The matrix behind the variances, found again from them.
    products = np.array([np.outer(x, x).ravel() for x in bandit.features])
    Sigma = np.linalg.lstsq(products, bandit.variances, rcond=None)[0].reshape(4, 4)
    values = np.linalg.eigvalsh((Sigma + Sigma.T) / 2)
    np.testing.assert_allclose(values[1:] / values[:-1], ratio ** (1 / 3), rtol=1e-6)
    assert target.sum() == pytest.approx(1)
    spread = np.std([x @ bandit.theta for x in bandit.features])
    assert spread**2 == pytest.approx(bandit.variances.mean())
    if policy == "uniform":
        assert np.ptp(target) == 0
    elif policy == "one":
        assert sorted(target)[-2:] == pytest.approx([0.2 / 29, 0.8])
    elif policy == "rare":
        seldom = np.flatnonzero(np.isclose(target, 0.01 / 3))
        assert len(seldom) == 3
        # Where all variances are alike, any three are the noisiest.
        assert bandit.variances[seldom].min() >= np.sort(bandit.variances)[-3] * (1 - 1e-9)


def test_bandits_are_the_same_whatever_else_is_drawn():
    whole = family(6, 3, 5)
    assert len(whole) == STORED["bandits"] == 48
    alone = draw(KINDS[10], 6, 3, 5, which=1)
    assert np.array_equal(alone.bandit.features, whole[24 + 10].bandit.features)
    assert len({each.bandit.features.tobytes() for each in whole}) == 48


#: Measures one cell and prints what the table would hold of it.
ONE_CELL = """
import json
from paper.what_to_use import Cell, decided, measure
print(json.dumps(decided(measure(Cell(4, 2, 100), {replications}, {seed}))))
"""


@pytest.mark.slow
def test_the_stored_table_is_what_is_measured():
    """One cell anew, with the settings of a notebook: its streams are its own."""
    settings = dict(os.environ)
    put_into(settings, own_settings(find_root()))
    done = subprocess.run(
        [sys.executable, "-c", ONE_CELL.format(**STORED)],
        env=settings,
        cwd=find_root(),
        capture_output=True,
        text=True,
        check=True,
    )
    found, stored = json.loads(done.stdout), STORED["cells"]["4,2,100"]
    assert found["order"] == stored["order"] and found["known"] == stored["known"]
    assert found["strategies"].keys() == stored["strategies"].keys()
    for key, ranges in stored["strategies"].items():
        np.testing.assert_allclose(found["strategies"][key], ranges, rtol=0.001)
    np.testing.assert_allclose(found["exploration"], stored["exploration"], rtol=0.001)


def test_the_stored_table_has_the_parameters_of_this_code():
    assert tuple(STORED["dimensions"]) == what_to_use.DIMENSIONS
    assert tuple(STORED["multiples"]) == what_to_use.MULTIPLES
    assert tuple(STORED["rounds"]) == what_to_use.ROUNDS
    assert (STORED["replications"], STORED["seed"]) == (
        what_to_use.REPLICATIONS,
        what_to_use.SEED,
    )


@pytest.mark.slow
def test_errors_are_those_of_a_simulator_that_plays_round_by_round():
    """Every bandit of one cell, a draw of the whole experiment at a time."""
    rng, rounds, draws = np.random.default_rng(11), 100, 20
    for strategy, run in [
        (OnPolicy(estimator="ols"), lambda *a: per_round.run_on_policy(*a, estimator="ols")),
        (SPEED(exploration="uniform"), lambda *a: per_round.run_speed(*a, exploration="uniform")),
    ]:
        ratios = []
        for bandit, policy in family(4, 2, STORED["seed"])[::2]:
            exact = replicate((bandit, policy), strategy, rounds, 2000, rng).error.mean()
            values = [run(bandit, policy, rounds, rng).value for _ in range(draws)]
            ratios += list((np.array(values) - bandit.value(policy)) ** 2 / exact)
        error = np.std(ratios) / np.sqrt(len(ratios))
        assert error < 0.15
        assert abs(np.mean(ratios) - 1) < 5 * error


def test_the_plain_average_errs_as_drawn_rewards_do():
    drawn = draw(KINDS[1], 5, 3, 3)
    bandit, policy = drawn
    rng, rounds = np.random.default_rng(4), 40
    found = what_to_use.running(drawn, rounds, 400, np.random.default_rng(1))[1]
    actions = rng.choice(5, (20_000, rounds), p=policy)
    noise = rng.normal(size=actions.shape) * np.sqrt(bandit.variances[actions])
    squares = ((bandit.means[actions] + noise).mean(axis=1) - bandit.value(policy)) ** 2
    assert squares.mean() == pytest.approx(found, abs=5 * squares.std() / np.sqrt(20_000))


def test_what_does_not_apply_is_left_out():
    found = measure(Cell(6, 3, 30), 2, 1)
    assert "neyman" not in found["strategies"] and "booked" not in found["strategies"]
    assert {"practical", "oracle", "per-arm"} <= set(found["strategies"])


def test_a_simpler_strategy_is_advised_if_it_is_nearly_as_good():
    assert choose({"practical": 0.65, "booked": 0.60}) == ["practical", "booked"]
    assert choose({"practical": 0.70, "booked": 0.60}) == ["booked", "practical"]
    assert choose({"practical": 0.91, "oracle": 0.1, "weighted": 0.2}) == []


def test_the_page_says_what_the_table_says():
    """Its first sentences and its list: as many actions as features, two features, more."""
    for name, cell in STORED["cells"].items():
        actions, dimension, rounds = map(int, name.split(","))
        if actions == dimension:
            assert cell["order"] == [], name
        elif dimension == 2:
            assert cell["order"][0] == "neyman", name
        elif rounds >= 300:
            assert cell["order"][0] == "practical", name
            assert rounds < 3000 or cell["strategies"]["practical"][0][2] < 1, name
    printed = [cell["strategies"]["printed"][0][1] for cell in STORED["cells"].values()]
    assert max(printed) > 1


def test_the_file_is_written_as_it_stands_there():
    """Decisions follow from what was measured, and the text from both."""
    bare = {
        name: {key: cell[key] for key in ("strategies", "exploration")}
        for name, cell in STORED["cells"].items()
    }
    text = what_to_use.TABLE.read_text(encoding="utf-8")
    assert what_to_use.as_text(what_to_use.whole_table(bare)) == text
    assert what_to_use.stored_table() == STORED
