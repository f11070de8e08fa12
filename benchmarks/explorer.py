"""The time of a move in the explorer: 200 drags of eight arrows, from event to new layout.

The page is made here, from the files in ``book/_static``. A move is one pointer event on the ring
of an arrow: the handler computes and draws everything again, and reading a size makes the browser
lay it out. The time does not include painting, which the browser does later.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.common import Row, main
from speedbook.press.sphinx.explorer import SCRIPTS, STYLE

TITLE = "A move in the explorer"
STATIC = Path(__file__).resolve().parents[1] / "book" / "_static"

#: Milliseconds: one frame of a screen that shows sixty of them a second.
FRAME = 16.0
DRAGS, QUICK_DRAGS = 200, 20

EIGHT = ";".join(
    ("1,0", "0,1", "0.97,0.26", "0.87,0.5", "0.71,0.71", "0.5,0.87", "-0.5,0.87", "-0.8,0.6")
)
POLICY = "0.4,0.1,0.1,0.1,0.1,0.1,0.05,0.05"

#: Three pixels a move, now this arrow and now that one; each move in milliseconds.
DRAG = """(drags) => {
  const rings = [...document.querySelectorAll('.sbx-plane .sbx-handle')].slice(-8);
  const stage = document.querySelector('.sbx-plane');
  const times = [];
  for (let i = 0; i < drags; i++) {
    const ring = rings[i % rings.length];
    const box = ring.getBoundingClientRect();
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    const send = (kind, dx, dy) => ring.dispatchEvent(new PointerEvent(kind, {
      pointerId: 1, bubbles: true, clientX: x + dx, clientY: y + dy, button: 0,
    }));
    ring.setPointerCapture = () => {};
    send('pointerdown', 0, 0);
    const turn = i / 7;
    const start = performance.now();
    send('pointermove', 3 * Math.cos(turn), 3 * Math.sin(turn));
    stage.getBoundingClientRect();
    document.body.getBoundingClientRect();
    times.push(performance.now() - start);
    send('pointerup', 0, 0);
  }
  return times;
}"""


def page() -> str:
    """Return a page with one explorer at full height and nothing else."""
    scripts = "".join(f'<script defer src="{(STATIC / s).as_uri()}"></script>' for s in SCRIPTS)
    styles = "".join(
        f'<link rel="stylesheet" href="{(STATIC / s).as_uri()}">' for s in ("custom.css", STYLE)
    )
    figure = (
        '<figure><div class="sb-explorer" data-preset="unit-ball" data-tab="design" '
        'data-height="full"></div></figure>'
    )
    return (
        f'<!doctype html><html lang="en" data-theme="light"><meta charset="utf-8">'
        f"{styles}{scripts}<body>{figure}</body></html>"
    )


def run(quick: bool) -> list[Row]:
    """Time drags in both tabs; in the second, with each of the two estimates of the variances."""
    from playwright.sync_api import sync_playwright

    drags = QUICK_DRAGS if quick else DRAGS
    cases = {
        "which actions": "tab=design",
        "what exploration sees": "tab=explore&explored=0,1,4&psd=0",
        "the same, with Σ ⪰ 0": "tab=explore&explored=0,4&psd=1",
    }
    rows = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "page.html"
        path.write_text(page(), encoding="utf-8")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("chromium-browser"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        for name, settings in cases.items():
            window = browser.new_page(viewport={"width": 900, "height": 900})
            query = f"preset=unit-ball&{settings}&arrows={EIGHT}&policy={POLICY}"
            window.goto(f"{path.as_uri()}#explorer?{query}")
            window.wait_for_selector(".sbx-plane .sbx-handle")
            rows.append(row(name, window.evaluate(DRAG, drags)))
            window.close()
        browser.close()
    return rows


def row(name: str, times: list[float]) -> Row:
    """Describe the median move against one frame."""
    median = statistics.median(times)
    return {
        "case": name,
        "peer": "one frame of sixty a second",
        "seconds": median / 1e3,
        "peer_seconds": FRAME / 1e3,
        "ratio": median / FRAME,
        "meaning": "of a frame, the median",
        "gap": None,
        "peer_gap": None,
        "target": "<= 1",
        "met": median <= FRAME,
        "spread": statistics_of(times),
    }


def statistics_of(times: list[float]) -> dict[str, Any]:
    """Summarise all moves, in seconds."""
    ordered = sorted(times)
    return {
        "moves": len(ordered),
        "ninety_percent": ordered[int(0.9 * (len(ordered) - 1))] / 1e3,
        "slowest": ordered[-1] / 1e3,
    }


if __name__ == "__main__":
    main("explorer", TITLE, run)
