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


#: What of the slide's text and pictures lies under its number or the arrows, or off the window.
HIDDEN = """() => {
  const slide = Reveal.getCurrentSlide();
  slide.querySelectorAll("details").forEach(each => { each.open = true; });
  slide.querySelectorAll(".fragment").forEach(each => each.classList.add("visible"));
  const above = [...document.querySelectorAll(".slide-number, .controls button")]
    .map(each => each.getBoundingClientRect());
  const found = [];
  const look = (name, box) => {
    if (!box.width || !box.height) return;
    if (box.bottom > innerHeight || box.right > innerWidth) found.push(`off the window: ${name}`);
    if (above.some(each => box.left < each.right && box.right > each.left
                           && box.top < each.bottom && box.bottom > each.top))
      found.push(`under the number or an arrow: ${name}`);
  };
  const texts = document.createTreeWalker(slide, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode, range = document.createRange();
    if (!text.data.trim() || text.parentElement.closest("aside.notes")) continue;
    range.selectNodeContents(text);
    for (const box of range.getClientRects()) look(text.data.trim().slice(0, 40), box);
  }
  slide.querySelectorAll("img").forEach(each => look("picture", each.getBoundingClientRect()));
  return found;
}"""
NEXT = """() => {
  const slide = Reveal.getCurrentSlide();
  do { Reveal.next(); }
  while (Reveal.getCurrentSlide() === slide && !Reveal.isLastSlide());
}"""
WINDOWS = [(1280, 720), (1024, 768), (1920, 1080)]


@pytest.mark.parametrize("size", WINDOWS, ids=lambda size: "x".join(map(str, size)))
@pytest.mark.parametrize("name", LECTURES)
def test_nothing_on_a_slide_is_hidden(
    folder: Path, engine: Any, name: str, size: tuple[int, int]
) -> None:
    context = engine.new_context(offline=True, viewport={"width": size[0], "height": size[1]})
    page = context.new_page()
    page.goto(f"{folder.as_uri()}/{name}.html")
    page.evaluate("() => MathJax.startup.promise")
    faults = {}
    for place in range(page.evaluate("() => Reveal.getTotalSlides()")):
        if found := page.evaluate(HIDDEN):
            faults[place + 1] = found
        page.evaluate(NEXT)
    context.close()
    assert faults == {}


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
