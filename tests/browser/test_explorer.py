"""The explorer, moved by mouse, finger and keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .explorer_page import STATE, TIP, drag, middle


def test_a_drag_moves_the_arrow_under_the_mouse_and_all_that_follows(opened: Any) -> None:
    page = opened("preset=theorem-1")
    before, said = page.evaluate(STATE), page.locator(".sbx-says").inner_text()
    x, y = middle(page, TIP.format(3) + " .sbx-grip")
    drag(page, TIP.format(3) + " .sbx-grip", -40, 25)
    after = page.evaluate(STATE)
    moved = np.subtract(after["arrows"][2], before["arrows"][2])
    # The plane has one scale: left and down by as much as the mouse.
    assert moved[0] < 0 < -moved[1] and moved[0] / moved[1] == pytest.approx(40 / 25, rel=0.05)
    assert after["arrows"][:2] == before["arrows"][:2]
    assert page.locator(".sbx-says").inner_text() != said
    assert np.hypot(*np.subtract(middle(page, TIP.format(3) + " .sbx-grip"), (x, y))) > 20


def test_a_bar_of_the_policy_takes_from_the_others(opened: Any) -> None:
    page = opened("preset=two-looks")
    before = page.evaluate(STATE)["policy"]
    drag(page, "[aria-label='The policy’s share of action 1']", 45, 0)
    after = page.evaluate(STATE)["policy"]
    assert after[0] > before[0] + 0.1
    assert sum(after) == pytest.approx(1, abs=1e-9)
    # The others keep their proportions, to the three decimals of a state.
    kept = (1 - after[0]) * np.array(before[1:]) / sum(before[1:])
    np.testing.assert_allclose(after[1:], kept, atol=2.1e-3)


def test_shares_are_thousandths_of_a_whole_wherever_a_bar_is(opened: Any) -> None:
    page = opened()
    policies = [
        [0, 0.25, 0.25, 0.25, 0.25],
        [0.8, 0.1, 1 / 30, 1 / 30, 1 / 30],
        [1, 0, 0],
        [0.5] * 2,
    ]
    ask = """([policy, a]) => [...Array(2001).keys()].map((i) =>
      SpeedExplorer.state.withShare(policy, a, i / 2000))"""
    for policy in policies:
        for a, share in enumerate(policy):
            found = np.array(page.evaluate(ask, [policy, a]))
            wanted = np.arange(2001) / 2000
            assert np.abs(found[:, a] - wanted).max() <= 5e-4 + 1e-12
            assert found.min() >= 0
            np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)
            np.testing.assert_allclose(1000 * found, np.round(1000 * found), atol=1e-9)
            rest = 1 - share
            parts = np.array(policy) / rest if rest else np.full(len(policy), 1 / (len(policy) - 1))
            kept = np.outer(1 - found[:, a], parts)
            kept[:, a] = found[:, a]
            assert np.abs(found - kept).max() < 1e-3


def test_a_bar_that_comes_back_brings_the_policy_back(opened: Any) -> None:
    page = opened("preset=unit-ball")
    before = page.evaluate(STATE)["policy"]
    knob = "[aria-label='The policy’s share of action 1']"
    page.locator(knob).scroll_into_view_if_needed()
    x, y = middle(page, knob)
    page.mouse.move(x, y)
    page.mouse.down()
    for step in [*range(0, 201, 5), *range(200, -1, -5)]:
        page.mouse.move(x + step / 2, y)
    page.mouse.up()
    np.testing.assert_allclose(page.evaluate(STATE)["policy"], before, atol=1.1e-3)
    page.keyboard.press("End")
    assert page.evaluate(STATE)["policy"] == [1, 0, 0, 0, 0]
    for _ in range(4):
        page.keyboard.press("Shift+ArrowLeft")
    np.testing.assert_allclose(page.evaluate(STATE)["policy"], before, atol=1.1e-3)


def test_a_square_turns_and_stretches_the_noise(opened: Any) -> None:
    page = opened("preset=unit-ball")
    before = page.evaluate(STATE)["noise"]["Sigma"]
    drag(page, "[aria-label='Noise ellipse, half axis 2']", 20, -30)
    after = page.evaluate(STATE)["noise"]["Sigma"]
    assert np.abs(np.subtract(after, before)).max() > 0.01
    assert after[0] * after[2] > after[1] ** 2 and after[0] > 0


def test_a_loudness_of_its_own_goes_along_its_arrow(opened: Any) -> None:
    page = opened("preset=loud-arrow")
    before = page.evaluate(STATE)["noise"]["sigma"]
    page.locator("[aria-label='Noise of action 3']").focus()
    page.keyboard.press("Shift+ArrowDown")
    after = page.evaluate(STATE)["noise"]["sigma"]
    assert after[2] < before[2] and after[:2] == before[:2]


def test_a_finger_drags_a_handle_and_scrolls_elsewhere(opened: Any) -> None:
    page = opened("preset=theorem-1", has_touch=True, viewport={"width": 390, "height": 844})
    client = page.context.new_cdp_session(page)

    def swipe(x: float, y: float, dx: float, dy: float) -> None:
        def touch(kind: str, *points: dict) -> None:
            client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        touch("touchStart", {"x": x, "y": y})
        for step in range(1, 9):
            touch("touchMove", {"x": x + dx * step / 8, "y": y + dy * step / 8})
        touch("touchEnd")
        page.wait_for_timeout(300)

    tip = TIP.format(3) + " .sbx-grip"
    page.locator(tip).scroll_into_view_if_needed()
    page.evaluate("() => scrollBy(0, 200)")
    page.wait_for_timeout(200)
    before, top = page.evaluate(STATE), page.evaluate("() => scrollY")
    swipe(*middle(page, tip), -10, 40)
    after = page.evaluate(STATE)
    assert after["arrows"][2][1] < before["arrows"][2][1] - 0.05
    assert page.evaluate("() => scrollY") == top, "a drag does not scroll the page"
    box = page.locator(".sbx-plane").bounding_box()
    swipe(box["x"] + 12, box["y"] + box["height"] - 12, 0, -120)
    assert page.evaluate("() => scrollY") > top, "beside the handles one can scroll"
    assert page.evaluate(STATE) == after


def test_every_handle_is_a_slider_with_words_and_moves_by_keys(opened: Any) -> None:
    page = opened("preset=unit-ball")
    for tab in ("design", "explore"):
        page.locator(f"[role=tab][id$={tab}]").click()
        sliders = page.locator(".sbx [role=slider]:visible")
        count = sliders.count()
        assert count == {"design": 5 + 5 + 2, "explore": 5 + 1}[tab]
        for i in range(count):
            slider = sliders.nth(i)
            names = ("label", "valuetext", "valuenow", "valuemin", "valuemax")
            words = {name: slider.get_attribute(f"aria-{name}") for name in names}
            assert all(words.values()), words
            low, now, high = (float(words[f"value{name}"]) for name in ("min", "now", "max"))
            assert low <= now <= high, words
            slider.focus()
            state = page.evaluate(STATE)
            page.keyboard.press("ArrowUp")
            assert page.evaluate(STATE) != state, words
            assert slider.get_attribute("aria-label") == words["label"]
            assert page.evaluate("() => document.activeElement.getAttribute('role')") == "slider"


def test_keys_move_a_tip_in_both_directions_and_shift_moves_it_farther(opened: Any) -> None:
    page = opened("preset=theorem-1")
    page.locator(TIP.format(3)).focus()
    places = [page.evaluate(STATE)["arrows"][2]]
    for key in ("ArrowRight", "ArrowUp", "Shift+ArrowLeft", "Shift+ArrowDown"):
        page.keyboard.press(key)
        places.append(page.evaluate(STATE)["arrows"][2])
    steps = np.diff(places, axis=0)
    np.testing.assert_allclose(steps, [[0.02, 0], [0, 0.02], [-0.1, 0], [0, -0.1]], atol=1e-9)


def test_focus_can_be_seen(opened: Any) -> None:
    page = opened("preset=unit-ball")
    page.locator(".sbx-link").last.focus()
    colour = "(node) => getComputedStyle(node).stroke"
    page.keyboard.press("Tab")
    focused = page.locator(".sbx-plane .sbx-handle:focus-visible .sbx-focus")
    assert focused.count() == 1
    assert focused.evaluate(colour) != "none"
    page.keyboard.press("Tab")
    assert focused.count() == 1


def test_actions_come_and_go_between_three_and_eight(opened: Any) -> None:
    page = opened("preset=unit-ball")
    add = page.get_by_role("button", name="Add an action")
    while add.is_enabled():
        add.click()
    assert len(page.evaluate(STATE)["arrows"]) == 8
    page.locator(TIP.format(7)).focus()
    # One key after the other: a ring next to the one that went has the focus.
    for left in (7, 6, 5, 4, 3, 3, 3):
        page.keyboard.press("Delete")
        focused = page.evaluate("() => document.activeElement.getAttribute('aria-label')")
        assert focused == f"Arrow of action {min(7, left)}"
    state = page.evaluate(STATE)
    assert len(state["arrows"]) == len(state["policy"]) == 3
    assert sum(state["policy"]) == pytest.approx(1)
    assert max(state["explored"]) < 3
    assert page.get_by_role("button", name="Remove action").is_disabled()
