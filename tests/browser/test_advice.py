"""The form that says what to use: its answers are the library's, and its address keeps them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from speedlib import Advice, advise

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "book" / "_static" / "advice.js"
PAGE = "notebooks/ideas/what-to-use.html"
NAMES = ("actions", "dimension", "rounds", "noise")


def data() -> dict[str, Any]:
    return {
        key: json.loads((ROOT / "speedlib" / name).read_text(encoding="utf-8"))
        for key, name in (("table", "advice.json"), ("words", "advice_words.json"))
    }


@pytest.fixture
def bare(visit: Any, tmp_path: Path) -> Any:
    """Open a page with the form's data and script and nothing else."""
    content = json.dumps(data()).replace("</", "<\\/")
    evidence = (
        '<div class="advice-plain"><div class="advice-for-practical"><ul><li>E</li></ul></div>'
    )
    (tmp_path / "bare.html").write_text(
        f'<meta charset="utf-8"><script defer src="{SCRIPT.as_uri()}"></script>'
        f'<div class="sb-advice"><script type="application/json">{content}</script>'
        f"{evidence}</div></div>",
        encoding="utf-8",
    )
    window = visit("file://")
    yield window.open(str(tmp_path / "bare.html"))
    assert window.faults == []


def random_sizes(count: int) -> list[dict[str, Any]]:
    rng = random.Random(20240597)
    found = []
    for _ in range(count):
        far = rng.random() < 0.25
        found.append(
            {
                "actions": round(2 * 10 ** rng.uniform(0, 5.6 if far else 2.1)),
                "dimension": round(2 * 10 ** rng.uniform(0, 3.6 if far else 0.8)),
                "rounds": round(10 ** rng.uniform(0, 12 if far else 5.3)),
                "noise": rng.choice(["unknown", "unknown", "known"]),
            }
        )
    return found


def plain(found: Advice) -> dict[str, Any]:
    """Return an answer as the script has it."""
    ranges = {
        name: list(value) if (value := getattr(found, name)) else None
        for name in ("saving", "saving_average", "saving_weighted")
    }
    words = ("key", "strategy", "code", "exploration", "length", "compared", "command")
    return {
        **{name: getattr(found, name) for name in words},
        **ranges,
        "measured": found.measured._asdict() if found.measured else None,
        "notes": [reason.text for reason in found.reasons if not reason.claims],
    }


def test_two_hundred_answers_are_those_of_the_library(bare: Any) -> None:
    sizes = random_sizes(200)
    script = """(sizes) => {
      const all = SpeedAdvice.data(document.querySelector(".sb-advice"));
      return sizes.map((size) => SpeedAdvice.advise(all, size));
    }"""
    answers = bare.evaluate(script, sizes)
    expected = [plain(advise(**size)) for size in sizes]
    for size, found, said in zip(sizes, answers, expected, strict=True):
        found["command"] = found["command"].rstrip("\n")
        assert found == said | {"command": said["command"].rstrip("\n")}, size
    # The sizes reach every kind of answer.
    assert len({said["key"] for said in expected}) >= 5
    assert {said["measured"] is None for said in expected} == {True, False}


def fill(page: Any, **size: Any) -> None:
    for name, value in size.items():
        box = page.locator(f"#advice-{name}")
        if name == "noise":
            box.select_option(str(value))
        else:
            box.fill(str(value))


def test_what_is_typed_is_answered_and_kept_in_the_address(bare: Any) -> None:
    for size in random_sizes(12):
        fill(bare, **size)
        said = advise(**size)
        answer = bare.locator(".advice-answer").inner_text()
        assert said.strategy[1:] in bare.locator(".advice-summary").inner_text()
        assert said.code in answer
        if said.saving:
            assert f"{said.saving.low:.2f} to {said.saving.high:.2f}" in answer
        query = "&".join(f"{name}={size[name]}" for name in NAMES)
        assert bare.url.endswith(f"#use?{query}")
    bare.reload()
    assert [bare.locator(f"#advice-{name}").input_value() for name in NAMES] == [
        str(size[name]) for name in NAMES
    ]
    assert said.strategy[1:] in bare.locator(".advice-summary").inner_text()


@pytest.mark.parametrize(
    ("name", "value"), [("actions", "1"), ("dimension", "0"), ("rounds", "-3"), ("rounds", "")]
)
def test_a_wrong_number_is_named_and_nothing_is_answered(name: str, value: str, bare: Any) -> None:
    fill(bare, **{name: value})
    assert bare.locator(f"#advice-{name}").get_attribute("aria-invalid") == "true"
    said = bare.locator(f"#advice-{name}-fault").inner_text()
    assert said.startswith(f"{name}: ")
    if value not in ("", "-3"):
        with pytest.raises(ValueError) as refused:
            advise(**({"actions": 12, "dimension": 6, "rounds": 3000} | {name: int(value)}))
        assert said == str(refused.value)
    assert not bare.locator(".advice-answer").is_visible()


def test_a_link_sets_the_form(bare: Any) -> None:
    bare.evaluate("() => { location.hash = '#use?actions=40&dimension=2&rounds=500' }")
    bare.wait_for_function("() => document.querySelector('#advice-actions').value === '40'")
    assert advise(40, 2, 500).strategy[1:] in bare.locator(".advice-summary").inner_text()


def test_what_is_said_waits_until_typing_pauses(bare: Any) -> None:
    status = bare.get_by_role("status")
    assert status.count() == 1
    bare.wait_for_function("() => document.querySelector('[role=status]').textContent")
    bare.evaluate(
        """() => {
          window.said = [];
          const status = document.querySelector("[role=status]");
          new MutationObserver(() => said.push(status.textContent))
            .observe(status, { childList: true, characterData: true, subtree: true });
        }"""
    )
    bare.locator("#advice-rounds").fill("")
    bare.locator("#advice-rounds").press_sequentially("123456", delay=30)
    # What is seen need not wait.
    assert "rounds=123456" in bare.url
    bare.wait_for_function("() => said.length")
    fill(bare, actions=1)
    bare.wait_for_function("() => said.length > 1")
    bare.wait_for_timeout(700)
    answer, complaint = bare.evaluate("() => said")
    assert advise(12, 6, 123456).strategy[1:] in answer
    assert complaint == bare.locator("#advice-actions-fault").inner_text()


def test_a_link_to_another_place_leaves_what_was_typed(visit: Any) -> None:
    window = visit(viewport={"width": 1400, "height": 900})
    page = window.open(PAGE)
    fill(page, actions=40)
    page.locator(".bd-sidebar-secondary a[href='#decide']").click()
    page.wait_for_function("() => location.hash === '#decide'")
    # The event comes after the address.
    page.evaluate("() => new Promise((done) => setTimeout(done, 100))")
    assert page.locator("#advice-actions").input_value() == "40"
    assert window.faults == []


def test_every_control_has_a_name(bare: Any) -> None:
    for label in ("Actions", "Features", "Rounds in all"):
        assert bare.get_by_role("spinbutton", name=label).count() == 1
    assert bare.get_by_role("combobox", name="Noise").count() == 1


@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_answers_with_evidence(width: int, visit: Any) -> None:
    window = visit(viewport={"width": width, "height": 844})
    page = window.open(PAGE)
    answer = page.locator(".advice-answer")
    assert "SPEED.practical()" in answer.inner_text()
    badges = answer.locator(".verdict a")
    assert badges.count() >= 3
    badges.first.click()
    page.wait_for_url("**/book/ledger.html#claim-*")
    page.go_back()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    assert not page.locator(".advice-plain").is_visible()
    assert window.faults == []


def test_without_scripts_the_table_and_the_evidence_stand_there(visit: Any) -> None:
    window = visit(java_script_enabled=False)
    window.page.goto(f"{window.base}/{PAGE}")
    assert window.page.locator("table.advice-table tbody tr").count() == 20
    assert window.page.locator(".advice-for-practical li").first.is_visible()
    assert window.page.locator(".advice-form").count() == 0
