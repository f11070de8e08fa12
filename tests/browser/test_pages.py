"""Every page of the built book: it opens from the disk, nothing on it is broken, its form is right.

Each page is opened once, and tests are sorted so that those of a page come one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tools.audit.measure import DESK, TARGETS, wrong_lines

from .conftest import Visit, built_pages
from .seen import TEMPLATES, Seen, look_over


@pytest.fixture(scope="module", params=built_pages())
def seen(request: pytest.FixtureRequest, chromium: Any, html: Path) -> Iterator[Seen]:
    """One page, looked at in every way."""
    window = Visit(chromium, html.as_uri(), viewport=DESK, color_scheme="light")
    yield look_over(window, request.param)
    window.context.close()


def test_page_is_whole_without_the_network(seen: Seen) -> None:
    assert any(url.endswith(seen.name) for url in seen.loaded)
    assert seen.titles == 1
    assert seen.formulas == []
    assert seen.faults == []


def test_images_have_texts_that_say_what_they_show(seen: Seen) -> None:
    assert None not in seen.images
    for text in seen.pictures:
        # Left alone, the tools put the path of the file.
        assert len(text) > 40 and "_images" not in text, text


def test_the_first_view_is_light(seen: Seen) -> None:
    assert seen.weight > 1000, "else nothing was measured"
    assert seen.weight <= TARGETS.weight, seen.loaded
    # The page of the search alone needs the search's index.
    unwanted = r"fontawesome|fa-solid" + "|searchindex" * (seen.name != "search.html")
    assert not [url for url in seen.loaded if re.search(unwanted, url)]


@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_icons_are_drawn_and_controls_have_names(look: str, seen: Seen) -> None:
    assert seen.icons[look] == []
    assert seen.nameless[look] == []


def test_nobody_is_kept_out(seen: Seen) -> None:
    found = [each for look in seen.violations.values() for each in look]
    assert not found, "\n".join(map(str, found))


def test_lines_are_of_a_length_that_reads_well(seen: Seen) -> None:
    assert wrong_lines(seen.form) == ""


def test_nothing_is_cut_on_a_desk(seen: Seen) -> None:
    assert seen.form.cut == ()


def test_a_phone_shows_all_and_its_keyboard_reaches_what_scrolls(seen: Seen) -> None:
    assert seen.too_wide <= 0
    assert seen.cut == []


def test_columns_have_heads_above_them_and_frames_show_that_they_hold_more(seen: Seen) -> None:
    assert all(seen.heads)
    assert not any(seen.hidden_cells.values()), seen.hidden_cells
    for sides in seen.sides.values():
        assert all(head == value for head, value in sides)
    for frame in seen.frames:
        assert frame["shadows"] == 4
        assert frame["attached"] == "local, local, scroll, scroll"
        assert not frame["filled"], "rows hide the shadow"
        assert not frame["wide"] or frame["several"] or frame["moved"] < 2


def test_pictures_have_captions_and_the_first_is_in_sight(seen: Seen) -> None:
    assert seen.form.bare == ()
    assert seen.form.screens is None or seen.form.screens <= TARGETS.screens


# Some of the pages, and all of them as files.


def test_there_is_a_page_of_each_kind(html: Path) -> None:
    assert set(TEMPLATES.values()) <= set(built_pages())


def test_pages_of_each_kind_are_served_whole(visit: Any, site: Any) -> None:
    window = visit(site.url)
    for name in TEMPLATES.values():
        window.open(name)
    assert window.faults == []
    assert site.missing == []


@pytest.mark.parametrize("name", built_pages())
def test_page_names_no_foreign_file_to_load(name: str, html: Path) -> None:
    text = (html / name).read_text(encoding="utf-8")
    loads = r"<(?:script|img|iframe|source|link)\b[^>]*?\b(?:src|href)=\"((?:https?:)?//[^\"]+)"
    assert re.findall(loads, text) == []


def test_styles_load_nothing_from_elsewhere(html: Path) -> None:
    for style in (html / "_static").rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        assert re.findall(r"(?:url\(|@import)\s*['\"]?(?:https?:)?//[^)'\"]+", text) == [], style


def test_no_page_names_the_script_of_icons(html: Path) -> None:
    for path in html.rglob("*.html"):
        assert "fontawesome.js" not in path.read_text(encoding="utf-8"), path
    assert not list(html.rglob("fontawesome*.*")), "nor is it on the disk"


@pytest.mark.parametrize("name", built_pages())
def test_every_icon_of_a_page_has_a_shape(name: str, html: Path) -> None:
    shapes = (html / "_static" / "icons.css").read_text(encoding="utf-8")
    text = (html / name).read_text(encoding="utf-8")
    used = set(re.findall(r"class=\"[^\"]*?\bfa[s-][^\"]*?\b(fa-(?!solid|lg)[a-z-]+)", text))
    assert {icon for icon in used if f".{icon} {{ --icon:" not in shapes} == set()
