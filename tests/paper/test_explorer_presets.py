"""The presets of the explorer are the library's environments, and its pictures are today's."""

from __future__ import annotations

import dataclasses
import itertools
import json

import matplotlib.pyplot as plt
import numpy as np
import pytest

from paper.environments import printed
from paper.plots.explorer import PICTURES, TABS, draw_design, pictures, read_experiments
from speedbook import figures
from speedbook.paths import find_root
from speedbook.press.sphinx import explorer as press
from speedlib import identifiability, motivating_example, optimal_design, unit_ball
from speedlib.environments import one_hot

ROOT = find_root()
EXPERIMENTS = read_experiments(ROOT)
PRESETS = press.read_presets(ROOT)
KEYS = {"arrows", "noise", "policy", "explored", "n", "Gamma", "psd", "tab"}


def entries(Sigma):
    return [Sigma[0, 0], Sigma[0, 1], Sigma[1, 1]]


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_an_experiment_in_the_plane_with_a_sentence_for_each_purpose(name):
    preset, state = PRESETS[name], PRESETS[name]["state"]
    assert preset["id"] == name and preset["title"]
    assert state.keys() == KEYS
    features = np.array(state["arrows"])
    count = len(features)
    assert 3 <= count <= 8 and features.shape == (count, 2)
    assert features.any(axis=1).all()
    assert sum(state["policy"]) == pytest.approx(1, abs=1e-12) and len(state["policy"]) == count
    assert min(state["policy"]) >= 0
    assert state["explored"] and set(state["explored"]) <= set(range(count))
    assert state["tab"] in press.TABS and isinstance(state["psd"], bool)
    assert state["Gamma"] == int(np.sqrt(state["n"])), "as the paper has it"
    assert (EXPERIMENTS[name].variances > 0).all()
    for sentences in (preset["note"], preset["try"]):
        assert sentences.endswith(".") and sentences.count(". ") <= 1, "at most two"


@pytest.mark.parametrize(
    ("name", "environment"), [("unit-ball", unit_ball(5)), ("lower-bound", printed.testing(2))]
)
def test_environments_in_the_plane_are_taken_as_they_are(name, environment):
    state = PRESETS[name]["state"]
    # Angles may differ in their last bit from one machine to the next.
    close = {"rel": 1e-14, "abs": 1e-15}
    assert np.array(state["arrows"]) == pytest.approx(environment.bandit.features, **close)
    assert state["noise"]["Sigma"] == pytest.approx(entries(environment.bandit.Sigma), **close)
    assert state["policy"] == pytest.approx(environment.policy, **close)


def test_the_lower_bounds_actions_are_as_loud_as_their_means():
    bandit = printed.testing(2).bandit
    assert EXPERIMENTS["lower-bound"].variances == pytest.approx(bandit.means**2, rel=1e-12)


def test_the_motivating_example_draws_its_equal_actions_as_one():
    state, environment = PRESETS["motivating"]["state"], motivating_example(100)
    x, groups = np.unique(environment.bandit.features, axis=0, return_inverse=True)
    shares = np.bincount(groups.ravel(), environment.policy)
    order = np.lexsort(np.array(state["arrows"]).T[::-1])
    assert np.array(state["arrows"])[order] == pytest.approx(x, rel=1e-14)
    assert np.array(state["policy"])[order] == pytest.approx(shares, rel=1e-12)
    assert state["noise"]["Sigma"] == entries(environment.bandit.Sigma)
    assert "98" in PRESETS["motivating"]["note"]
    whole = optimal_design(
        environment.bandit.features, environment.bandit.variances, policy=environment.policy
    )
    assert EXPERIMENTS["motivating"].design.value == pytest.approx(whole.value, rel=1e-12)


def test_the_counterexample_is_that_of_the_registry_and_takes_25_for_4():
    state, found = PRESETS["theorem-1"]["state"], EXPERIMENTS["theorem-1"]
    assert state["arrows"] == [[1, 0], [0, 1], [1, 1]]
    assert state["noise"]["Sigma"] == [9, -10.5, 16]
    assert state["policy"] == [0.5, 0.25, 0.25] and state["explored"] == [0, 1]
    believed, _, ratio = found.believed(psd=False)
    assert found.variances[2] == 4 and believed[2] == pytest.approx(25, rel=1e-12)
    ledger = json.loads((ROOT / "book" / "ledger.json").read_text())["claims"]["thm-1-literal"]
    assert ratio - 1 == pytest.approx(ledger["estimate"], rel=1e-9)


def test_two_looks_make_a_variance_negative_and_a_positive_fit_mends_it():
    found = EXPERIMENTS["two-looks"]
    seen = np.isin(range(4), found.state["explored"])
    assert identifiability(found.features, seen).rank == 2
    believed, _, ratio = found.believed(psd=False)
    floor = 0.01 * found.variances[seen].mean()
    assert believed.min() == pytest.approx(floor, rel=1e-9), "it was raised to the floor"
    _, _, mended = found.believed(psd=True)
    assert mended < 1.01 < found.policy_ratio < ratio


def test_the_loud_arrow_is_the_policys_favourite_and_gets_no_round():
    found = EXPERIMENTS["loud-arrow"]
    loud = int(np.argmax(found.variances))
    assert found.policy[loud] > 0.5 and found.design.weights[loud] == 0
    assert found.believed(psd=True)[1].weights[loud] == 1, "no ellipse describes this noise"


def test_one_arm_per_axis_is_the_librarys_bandit_with_an_arm_that_is_never_used():
    found = EXPERIMENTS["one-hot"]
    two = one_hot(found.policy[:2], found.variances[:2])
    assert found.features[:2].tolist() == two.bandit.features.tolist()
    assert found.policy[2] == found.design.weights[2] == 0
    share = found.policy * np.sqrt(found.variances)
    assert found.design.weights == pytest.approx(share / share.sum(), rel=1e-12)


@pytest.mark.parametrize("pair", list(itertools.combinations(range(4), 2)))
def test_the_lower_bounds_positive_fit_needs_no_third_look_without_the_first_arrow(pair):
    found = EXPERIMENTS["lower-bound"]
    other = dataclasses.replace(found, state=found.state | {"explored": list(pair)})
    ratio = other.believed(psd=True)[2]
    assert 1.005 < ratio < 1.03 if 0 in pair else ratio == pytest.approx(1, abs=5e-5)


def test_the_motivating_examples_second_axis_gets_no_round_below_the_diagonal():
    found = EXPERIMENTS["motivating"]
    for angle in np.linspace(0, np.pi / 4, 7):
        c = [np.cos(angle), np.sin(angle)]
        design = optimal_design(found.features, found.variances, direction=c)
        assert design.weights[1] == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
def test_pictures_and_what_they_tell_are_those_of_today():
    told = json.loads((ROOT / PICTURES / press.TOLD).read_text(encoding="utf-8"))
    drawn = pictures(ROOT)
    names = {press.picture_name(name, tab) for name in PRESETS for tab in press.TABS}
    assert told.keys() == drawn.keys() == names
    assert tuple(TABS) == press.TABS and PICTURES == press.PICTURES
    assert {f"{name}.png" for name in names} | {press.TOLD} == {
        path.name for path in (ROOT / PICTURES).iterdir()
    }
    for name, (fig, words) in drawn.items():
        digest = figures.data_digest(figures.plotted_data(fig))
        plt.close(fig)
        message = "draw them anew: python -m paper.plots.explorer"
        assert told[name] == {"alt": words, "digest": digest}, message
        assert (ROOT / PICTURES / f"{name}.png").stat().st_size < 40_000


def test_a_picture_fits_a_narrow_phone_with_letters_of_a_readable_size():
    fig = draw_design(EXPERIMENTS["unit-ball"])
    assert fig.get_figwidth() * figures.CSS_DPI == press.WIDTH == 360
    sizes = [text.get_fontsize() for ax in fig.axes for text in ax.texts + ax.get_xticklabels()]
    plt.close(fig)
    # Of 100 pixels to an inch, 72 points to an inch: 13 pixels and more.
    assert min(sizes) * figures.CSS_DPI / 72 >= 13
