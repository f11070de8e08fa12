"""What tests of the explorer share: its page, its handles and how they are dragged."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

PAGE = "book/explorer.html"
TIP = "[aria-label='Arrow of action {}']"
STATE = "() => SpeedExplorer.all[0].state"
SETTLED = 800  # milliseconds: the address has followed and the ratio is spoken
EIGHT = "arrows=1,0;0,1;0.97,0.26;0.87,0.5;0.71,0.71;0.5,0.87;-0.5,0.87;-0.8,0.6"
PRESETS = sorted(
    re.findall(
        r'^  "([a-z0-9-]+)": \{$',
        (Path(__file__).parents[2] / "book/_static/explorer/presets.js").read_text("utf-8"),
        re.MULTILINE,
    )
)


def middle(page: Any, selector: str) -> tuple[float, float]:
    box = page.locator(selector).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page: Any, selector: str, dx: float, dy: float) -> None:
    page.locator(selector).scroll_into_view_if_needed()
    x, y = middle(page, selector)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + dx / 2, y + dy / 2)
    page.mouse.move(x + dx, y + dy)
    page.mouse.up()


def rounded(state: dict) -> Any:
    return json.loads(json.dumps(state), parse_float=lambda text: round(float(text), 3))
