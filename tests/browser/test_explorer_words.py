"""What the explorer says: its numbers are the library's, its sentences are true."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest

from speedlib import optimal_design, pe_loss, target_direction

from .explorer_page import PRESETS, SETTLED, STATE, TIP, middle


@pytest.mark.parametrize("preset", PRESETS)
def test_the_numbers_shown_are_those_of_the_library(preset: str, opened: Any) -> None:
    page = opened(f"preset={preset}&tab=design")
    state = page.evaluate(STATE)
    x, policy = np.array(state["arrows"]), np.array(state["policy"])
    if "Sigma" in state["noise"]:
        a, b, d = state["noise"]["Sigma"]
        variances = np.einsum("ai,ij,aj->a", x, np.array([[a, b], [b, d]]), x)
    else:
        variances = np.array(state["noise"]["sigma"]) ** 2
    c = target_direction(x, policy)
    best = optimal_design(x, variances, "PE", direction=c).value
    run = pe_loss(policy, x, variances, direction=c)
    shown = [float(each) for each in page.locator(".sbx-losses b").all_inner_texts()]
    np.testing.assert_allclose(shown, [best, run], rtol=6e-3)
    factor = float(page.locator(".sbx-factor").inner_text().split()[0])
    assert factor == pytest.approx(run / best, abs=0.0501)
    if run / best > 1.01:
        assert f"needs {page.locator('.sbx-factor').inner_text().split()[0]} times" in (
            page.locator(".sbx-result").inner_text()
        )


def test_the_sentence_tells_the_looks(opened: Any) -> None:
    page = opened("preset=unit-ball&tab=explore&explored=0,4")
    says = page.locator(".sbx-says")
    assert says.inner_text().startswith("Two looks at three unknowns")
    assert page.locator(".sbx-possible").count() > 5
    page.locator("[aria-label='Explore action 2']").check()
    assert says.inner_text().startswith("Three looks at three unknowns")
    assert page.locator(".sbx-possible").count() == 0
    for action in (2, 5):
        page.locator(f"[aria-label='Explore action {action}']").uncheck()
    assert says.inner_text().startswith("One look at three unknowns")


def test_what_was_seen_lies_on_every_ellipse_that_remains(opened: Any) -> None:
    page = opened("preset=unit-ball&tab=explore&explored=0,4")
    misses = page.evaluate("""() => {
      const { scaled, seen, state } = SpeedExplorer.all[0].model;
      const value = ([a, b, d], [x, y]) => a * x * x + 2 * b * x * y + d * y * y;
      return seen.family.concat([seen.Sigma]).flatMap((S) =>
        state.explored.map((a) => Math.abs(value(S, scaled[a]) - 1)));
    }""")
    assert max(misses) < 1e-9


def test_the_handle_of_the_curve_stands_on_it_and_the_mark_is_lowest(opened: Any) -> None:
    page = opened("preset=unit-ball&tab=explore&explored=0,1,4&n=10000")
    slider = page.locator("[aria-label='Rounds of exploration, Γ']")
    slider.focus()
    page.keyboard.press("Home")
    assert page.evaluate(STATE)["Gamma"] == 3
    heights = []
    for _ in range(40):
        page.keyboard.press("Shift+ArrowRight")
        heights.append(middle(page, "[aria-label='Rounds of exploration, Γ'] .sbx-grip")[1])
    lowest = int(np.argmax(heights))
    assert 0 < lowest < 39, "down, then up"
    said = page.locator(".sbx-length").inner_text()
    best = int(re.search(r"= ([\d,]+)\.$", said)[1].replace(",", ""))
    at = 3 * 1.05 ** (5 * (lowest + 1))
    assert at / 1.3 < best < at * 1.3


CURVE = "[aria-label='Rounds of exploration, Γ']"


def test_without_anything_to_find_out_there_is_no_curve(opened: Any) -> None:
    page = opened("tab=explore&arrow=0:1,0;1:-1,0&policy=0.5,0.5,0,0,0&explored=0,2,4")
    assert page.locator(CURVE).count() == page.locator(".sbx-regret").count() == 0
    said = page.locator(".sbx-panel").inner_text()
    assert "NaN" not in said and "best one" not in said
    assert "there is nothing to estimate" in page.locator(".sbx-says").inner_text()
    assert page.locator(".sbx-length").inner_text().startswith("There is no curve")


def test_where_estimates_cost_nothing_the_shortest_exploration_is_best(opened: Any) -> None:
    page = opened("tab=explore&policy=0,1,0,0,0&explored=0,1,4")
    said = page.locator(".sbx-length").inner_text()
    assert "√" not in said and "ψ = 0" in said and said.endswith("Γ = 3, is best.")
    page.locator(CURVE).focus()
    page.keyboard.press("Home")
    assert "Γ = 3 gives the least regret" in page.locator(".sbx-length").inner_text()


def test_the_length_that_is_told_is_drawn_and_within_its_bounds(opened: Any) -> None:
    page = opened("tab=explore&explored=0,1,4&n=100&Gamma=99")

    def told() -> list[int]:
        slider = [page.locator(CURVE).get_attribute(f"aria-value{name}") for name in ("now", "max")]
        said = re.match(r"Γ = ([\d,]+)", page.locator(".sbx-length").inner_text())[1]
        return [int(said.replace(",", "")), *map(int, slider), page.evaluate(STATE)["Gamma"]]

    assert told() == [90, 90, 90, 90]
    page.get_by_label("rounds n").focus()
    page.keyboard.press("Home")
    bound = int(0.9 * page.evaluate(STATE)["n"])
    assert told() == [bound] * 4
    page.locator(CURVE).focus()
    page.keyboard.press("Home")
    assert told()[0] == 3
    page.locator("[aria-label='Explore action 3']").check()
    assert told()[0] == told()[1] == told()[3] == 4


def test_pairs_of_the_lower_bound_lead_to_the_best_design_without_its_first_arrow(
    opened: Any,
) -> None:
    page = opened()
    for a, b in itertools.combinations(range(4), 2):
        page.evaluate(
            "(query) => { location.hash = '#explorer?' + query; }",
            f"preset=lower-bound&tab=explore&psd=1&explored={a},{b}",
        )
        page.wait_for_function(f"() => String(SpeedExplorer.all[0].state.explored) === '{a},{b}'")
        said = page.locator(".sbx-panel").inner_text()
        factor = 1 + page.evaluate("() => SpeedExplorer.all[0].model.seen.excess")
        assert "needs 1.00 times" not in said
        if a:
            assert factor == pytest.approx(1, abs=5e-5)
            # Another one than that of the blue bars.
            assert "still happens to lead to a best design" in said
            assert "No Γ helps" not in said
        else:
            assert 1.005 < factor < 1.03
            assert f"needs {factor:.2f} times" in said and "No Γ helps" in said


def test_the_ratio_is_spoken_when_nothing_moves_any_more(opened: Any) -> None:
    page = opened("preset=loud-arrow")
    live = page.locator(".sbx [role=status]")
    assert live.get_attribute("aria-live") == "polite"
    page.locator(TIP.format(1)).focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    assert live.inner_text() == ""
    page.wait_for_timeout(SETTLED)
    assert re.match(r"The policy needs [\d.]+ times as many rounds", live.inner_text())
