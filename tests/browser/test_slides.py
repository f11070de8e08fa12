"""Slides of the lectures in a browser without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tools.course import slides

ROOT = Path(__file__).parents[2]
LECTURES = sorted(path.stem for path in (ROOT / "notebooks/class").glob("lecture-*.ipynb"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Slides of all lectures in a folder of their own."""
    out = tmp_path_factory.mktemp("slides")
    slides.write_slides(ROOT, out)
    return out


@pytest.mark.parametrize("name", LECTURES)
def test_slides_open_from_a_folder_without_a_network(folder: Path, engine: Any, name: str) -> None:
    """No complaint, nothing from elsewhere, all formulas set, and each slide fits."""
    context = engine.new_context(offline=True, viewport={"width": 1280, "height": 720})
    page = context.new_page()
    faults: list[str] = []
    page.on("console", lambda m: faults.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("requestfailed", lambda request: faults.append(f"not loaded: {request.url}"))
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((folder.as_uri(), "data:", "blob:"))
            else faults.append(f"elsewhere: {request.url}")
        ),
    )
    page.goto(f"{folder.as_uri()}/{name}.html")
    page.wait_for_load_state("load")
    page.evaluate("() => MathJax.startup.promise")
    assert page.locator("mjx-merror").count() == 0
    assert page.locator("mjx-container").count() > 5
    # Notes are for the speaker's window.
    notes = page.locator("aside.notes")
    assert notes.count() > 0
    assert not any(note.is_visible() for note in notes.all())
    for place in range(page.evaluate("() => Reveal.getTotalSlides()")):
        height, width = page.evaluate(
            """() => {
              const slide = Reveal.getCurrentSlide();
              slide.querySelectorAll("details").forEach(each => { each.open = true; });
              const box = [slide.scrollHeight, slide.scrollWidth];
              do { Reveal.next(); }
              while (Reveal.getCurrentSlide() === slide && !Reveal.isLastSlide());
              return box;
            }"""
        )
        assert height <= 720 and width <= 1280, f"slide {place + 1}: {width} by {height}"
    assert faults == []
    context.close()
