"""The explorer in the address: what is set survives, links set it, nonsense is passed over."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .explorer_page import PRESETS, SETTLED, STATE, TIP, drag, rounded


def test_what_is_set_is_in_the_address_and_survives_a_reload(opened: Any) -> None:
    page = opened("preset=unit-ball")
    drag(page, TIP.format(5) + " .sbx-grip", -31, 17)
    drag(page, "[aria-label='The policy’s share of action 2']", 30, 0)
    drag(page, "[aria-label='Noise ellipse, half axis 1']", 5, 11)
    page.locator("[role=tab]").last.click()
    page.locator("[aria-label='Explore action 2']").check()
    page.get_by_label("keep all variances").check()
    page.get_by_label("rounds n").focus()
    page.keyboard.press("ArrowRight")
    page.locator("[aria-label='Rounds of exploration, Γ']").focus()
    page.keyboard.press("Shift+ArrowRight")
    page.wait_for_timeout(SETTLED)
    before, said = page.evaluate(STATE), page.locator(".sbx-panel").inner_text()
    address = page.evaluate("() => location.hash")
    for key in ("arrow=4:", "policy=", "ellipse=", "tab=explore", "explored=0,1,4", "psd=1", "n="):
        assert key in address
    assert len(address) < 200
    page.reload()
    page.wait_for_selector(".sbx-plane .sbx-handle")
    assert rounded(page.evaluate(STATE)) == rounded(before)
    assert page.locator(".sbx-panel").inner_text() == said


def test_an_address_loses_nothing_to_three_decimals(opened: Any) -> None:
    page = opened()
    rng = np.random.default_rng(4)
    for _ in range(60):
        count = int(rng.integers(3, 9))
        root = rng.normal(size=(2, 2)) + 2 * np.eye(2)
        Sigma = root @ root.T
        shares = rng.multinomial(1000, rng.dirichlet(np.ones(count))) / 1000
        explored = rng.choice(count, size=int(rng.integers(1, count + 1)), replace=False)
        ellipse = {"Sigma": np.round([Sigma[0, 0], Sigma[0, 1], Sigma[1, 1]], 3).tolist()}
        loudness = {"sigma": rng.uniform(0.1, 4, count).round(3).tolist()}
        state = {
            "arrows": rng.uniform(-2, 2, (count, 2)).round(3).tolist(),
            "noise": ellipse if rng.random() < 0.5 else loudness,
            "policy": shares.tolist(),
            "explored": sorted(map(int, explored)),
            "n": int(rng.integers(100, 10**6)),
            "Gamma": int(rng.integers(8, 90)),
            "psd": bool(rng.random() < 0.5),
            "tab": str(rng.choice(["design", "explore"])),
        }
        way = """([state, preset]) => {
          const { encode, decode } = SpeedExplorer.state;
          const said = encode(state, preset);
          return [decode(said, "unit-ball", "design"), new URL("#x?" + said, location.href).hash];
        }"""
        preset = str(rng.choice(PRESETS))
        back, address = page.evaluate(way, [state, preset])
        assert back["id"] == preset
        assert rounded(back["state"]) == rounded(state)
        assert "%" not in address, "a browser leaves the address as it is"


@pytest.mark.parametrize(
    "query",
    [
        "preset=none&tab=none&arrow=9:1,1;x:2&explored=7,-1&n=0&Gamma=zero&psd=",
        "arrows=1,0;0,1&policy=0,0,0&ellipse=1,5,1&loudness=-1",
        "arrow=%E0%A4%A&&&=&n=1e99&policy=NaN",
        *(f"preset={name}&{name}=1" for name in ("constructor", "toString", "__proto__")),
        "ellipse=1e308,0,1e308&policy=1e308,1e308,1,1,1&arrow=0:1e308,1e308",
        "ellipse=1e-300,0,1e-300&policy=1e-300,0,0,0,0&loudness=1e-300,1e300,1,1,1",
        "ellipse=1,1.001,1&policy=Infinity,1,1&n=Infinity&Gamma=1e300&tab=explore",
    ],
)
def test_a_broken_address_is_passed_over(query: str, opened: Any) -> None:
    page = opened(query)
    assert page.locator(".sbx-says").inner_text()
    assert "NaN" not in page.locator(".sbx").inner_html()


@pytest.mark.parametrize(
    "said",
    ["arrow=:1,1", "arrow= :1,1;-0:1,1", "ellipse=1e308,0,1e308", "ellipse=1,1.001,1", "policy="],
)
def test_what_an_address_says_wrongly_changes_nothing(said: str, opened: Any) -> None:
    page = opened()
    decode = "(said) => SpeedExplorer.state.decode(said, 'unit-ball', 'design')"
    assert page.evaluate(decode, said) == page.evaluate(decode, "")


def test_shares_of_an_address_count_in_proportion_within_bounds(opened: Any) -> None:
    page = opened("policy=2,1,1,0,-3")
    assert page.evaluate(STATE)["policy"] == [0.5, 0.25, 0.25, 0, 0]
    page = opened("policy=1e308,1e308,0,0,0")
    assert page.evaluate(STATE)["policy"] == [0.5, 0.5, 0, 0, 0]


@pytest.mark.parametrize("preset", PRESETS)
def test_a_noise_for_each_action_survives_a_link_as_does_the_way_back(
    preset: str, opened: Any
) -> None:
    page = opened(f"preset={preset}&tab=design")
    way = """() => {
      const { id, state } = SpeedExplorer.all[0];
      const { encode, decode } = SpeedExplorer.state;
      return decode(encode(state, id), "unit-ball", "design").state;
    }"""
    box = page.get_by_label("each action has a noise of its own")
    for ticked in (not box.is_checked(), box.is_checked()):
        box.set_checked(ticked)
        state = page.evaluate(STATE)
        assert rounded(page.evaluate(way)) == rounded(state)
        noise = state["noise"]["sigma" if ticked else "Sigma"]
        assert all(0.05 <= each <= 20 for each in noise) or not ticked
        assert "NaN" not in page.locator(".sbx").inner_html()
        for slider in page.locator(".sbx-plane [role=slider]").all():
            low, now, high = (
                float(slider.get_attribute(f"aria-value{name}")) for name in ("min", "now", "max")
            )
            assert low <= now <= high


def test_a_thin_ellipse_stays_thin_until_its_long_axis_is_moved(opened: Any) -> None:
    page = opened("preset=lower-bound&tab=design")
    slider = page.locator("[aria-label='Noise ellipse, half axis 2']")
    assert slider.get_attribute("aria-valuenow") == slider.get_attribute("aria-valuemax") == "5"
    assert slider.get_attribute("aria-valuetext").startswith("more than 5 long")

    def squares() -> Any:
        a, b, d = page.evaluate(STATE)["noise"]["Sigma"]
        return np.linalg.eigvalsh([[a, b], [b, d]])

    drag(page, "[aria-label='Noise ellipse, half axis 1']", -9, 14)
    page.locator("[aria-label='Noise ellipse, half axis 1']").focus()
    page.keyboard.press("Shift+ArrowUp")
    slider.focus()
    page.keyboard.press("ArrowRight")
    low, high = squares()
    assert abs(low) < 1e-8 < 1e-3 < abs(high - 1.0025)
    page.wait_for_timeout(SETTLED)
    page.reload()
    page.wait_for_selector(".sbx-plane .sbx-handle")
    np.testing.assert_allclose(squares(), [0, high], atol=1e-8)
    slider.focus()
    page.keyboard.press("ArrowDown")
    np.testing.assert_allclose(squares(), [1 / 25, high], atol=2e-3)


def test_a_link_of_the_text_sets_the_explorer_and_back_undoes_it(opened: Any) -> None:
    page = opened(reduced_motion="reduce")
    said = page.locator(".sbx-says").inner_text()
    links = page.locator("a.sb-explore")
    assert links.count() >= 4
    link = page.locator("a.sb-explore[href*='theorem-1']")
    link.click()
    page.wait_for_function("() => SpeedExplorer.all[0].id === 'theorem-1'")
    assert page.evaluate(STATE)["tab"] == "explore"
    assert page.locator(".sbx-preset select").input_value() == "theorem-1"
    assert page.locator("[role=tab][aria-selected=true]").inner_text() == "What exploration sees"
    assert page.evaluate("""() => {
      const box = document.querySelector('.sbx-bar').getBoundingClientRect();
      return box.bottom > 0 && box.top < innerHeight;
    }"""), "without motion the figure is in sight at once"
    page.go_back()
    page.wait_for_function("() => SpeedExplorer.all[0].state.tab === 'design'")
    assert page.locator(".sbx-says").inner_text() == said


def test_reset_gives_the_example_back(opened: Any) -> None:
    page = opened("preset=two-looks")
    before = page.evaluate(STATE)
    drag(page, TIP.format(4) + " .sbx-grip", 30, 30)
    assert page.evaluate(STATE) != before
    page.get_by_role("button", name="Reset").click()
    assert page.evaluate(STATE) == before


def test_the_link_is_copied(opened: Any) -> None:
    page = opened("preset=one-hot&policy=0.2,0.5,0.3")
    page.get_by_role("button", name="Copy link").click()
    page.wait_for_selector("text=/^(Copied|Copy it from the address)$/")
    assert "policy=0.2,0.5,0.3" in page.evaluate("() => location.hash")
