"""The explorer in a page: its place, its picture, its links, and what is refused."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from speedbook.paths import find_root
from speedbook.press.sphinx.explorer import (
    PICTURES,
    PRESETS,
    SCRIPTS,
    STYLE,
    TABS,
    picture_name,
    read_presets,
    setting_fault,
)

from .pressed import press, words

ROOT = find_root()
KNOWN = read_presets(ROOT)
PLAIN = "```{explorer} theorem-1\n:tab: explore\n:height: half\n:name: fig-two\nTwo *looks*.\n```\n"
BARE = "```{explorer} unit-ball\nOne finding.\n```\n"


@pytest.fixture
def page(tmp_path):
    """Press a page in a folder of its own; return its HTML and what Sphinx complained about."""

    def run(text, builder="html"):
        for name in (PRESETS, PICTURES):
            target = tmp_path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, target)
            else:
                shutil.copy(ROOT / name, target)
        index = "# Book\n\n```{toctree}\npart/page\nother\n```\n"
        (tmp_path / "part").mkdir()
        for name, content in {
            "index": index,
            "part/page": f"# P\n\n{text}",
            "other": "# O",
        }.items():
            (tmp_path / f"{name}.md").write_text(content)
        complaints = press(tmp_path, builder)
        folder = tmp_path / builder
        ending = {"html": "html", "text": "txt", "latex": "tex"}[builder]
        files = {path.stem: path.read_text() for path in folder.rglob(f"*.{ending}")}
        return files, complaints

    return run


@pytest.mark.slow
def test_an_explorer_is_a_figure_with_its_picture_and_a_place_for_scripts(page):
    files, complaints = page(f"{PLAIN}\n{{explore}}`three <fig-two?explored=0,1,2&psd=1>` looks\n")
    assert complaints == ""
    figure = re.search(r"<figure.*?</figure>", files["page"], re.S)[0]
    assert 'id="fig-two"' in figure and "sb-explorer-figure" in figure
    place = re.search(r'<div class="sb-explorer"([^>]*)>(.*?)</div>', figure, re.S)
    assert place[1].split() == [
        'data-preset="theorem-1"',
        'data-tab="explore"',
        'data-height="half"',
    ]
    told = json.loads((ROOT / PICTURES / "pictures.json").read_text())
    alt = told[picture_name("theorem-1", "explore")]["alt"]
    assert f'alt="{alt}"' in place[2]
    source = re.search(r'<img[^>]* src="([^"]+)"', place[2])[1]
    assert source == "../_images/theorem-1-explore.png"
    assert "<a " not in place[2]
    assert "<em>looks</em>" in figure and "Two looks." in words(figure)
    link = re.search(r'<a class="sb-explore" href="([^"]+)">(.*?)</a>', files["page"])
    assert link.groups() == ("#fig-two?explored=0,1,2&amp;psd=1", "three")


@pytest.mark.slow
def test_scripts_come_in_their_order_after_the_page_and_with_an_explorer_alone(page):
    files, complaints = page(f"{BARE}\n{{explore}}`here <preset=two-looks&tab=explore>`\n")
    assert complaints == ""
    scripts = re.findall(r"<script ([^>]*)src=\"\.\./_static/([^\"?]+)", files["page"])
    assert [name for _, name in scripts if name in SCRIPTS] == list(SCRIPTS)
    assert all("defer" in options for options, name in scripts if name in SCRIPTS)
    assert f"../_static/{STYLE}" in files["page"]
    assert "explorer" not in files["other"]
    assert 'data-tab="design" data-height="full"' in files["page"]
    assert 'href="#explorer?preset=two-looks&amp;tab=explore"' in files["page"]


@pytest.mark.slow
@pytest.mark.parametrize("builder", ["text", "latex"])
def test_without_html_the_figure_stays(builder, page):
    files, complaints = page(f"{PLAIN}\n{{explore}}`three <fig-two?psd=1>` looks\n", builder)
    assert complaints == ""
    text = " ".join(" ".join(files.values()).split())
    assert "three looks" in text and "psd=1" not in text
    assert "Two" in text
    assert (
        "estimates the variance 4 of action 3 as 25" if builder == "text" else "theorem-1"
    ) in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (BARE.replace("unit-ball", "ball"), "explorer: preset must be one of unit-ball, "),
        (PLAIN.replace("explore\n:h", "third\n:h"), "tab must be one of design, explore; got"),
        (PLAIN.replace("half", "tall"), "explorer: height must be one of half, full; got 'tall'"),
        ("```{explorer} unit-ball\n```\n", "explorer: it needs a caption that says what it shows"),
        (f"{BARE}\n{{explore}}`x <preset=ball>`\n", "preset: 'ball' does not fit"),
        (f"{BARE}\n{{explore}}`x <tab=third>`\n", "tab: 'third' does not fit design|explore"),
        (f"{BARE}\n{{explore}}`x <angle=3>`\n", "a key of preset, tab, arrow"),
        ("{explore}`x <psd=1>`\n", "the page has no explorer 'explorer' to set; it has none"),
        (f"{PLAIN}\n{{explore}}`x <fig-one?psd=1>`\n", "explorer 'fig-one' to set; it has fig-two"),
        (f"{PLAIN}\n{BARE}", "with several on a page, each needs a :name:"),
    ],
)
def test_what_is_wrong_is_said(text, complaint, page):
    _, complaints = page(text)
    assert complaint in complaints and "page.md" in complaints


@pytest.mark.parametrize(
    "query",
    [
        "preset=unit-ball",
        "tab=explore&n=1000&Gamma=31&psd=0",
        "arrow=0:1.2,-0.4;3:0,1&explored=0,1",
        "arrows=1,0;0,1;0.5,0.5&policy=0.2,0.3,0.5",
        "ellipse=1,-0.5,2",
        "loudness=1,2,4",
        "preset=unit-ball&answers=hidden&view=projector",
    ],
)
def test_settings_that_the_explorer_writes_are_understood(query):
    assert setting_fault(query, KNOWN) == ""


@pytest.mark.parametrize(
    "query",
    [
        "",
        "preset",
        "preset=unit-bal",
        "psd=2",
        "explored=",
        "explored=0,",
        "arrow=1.2,0.4",
        "arrows=1,0;0,1",
        "ellipse=1,2",
        "n=ten",
        "answers=shown",
        "view=bare",
        "n=1&",
    ],
)
def test_settings_that_it_would_pass_over_are_not(query):
    assert setting_fault(query, KNOWN)


def test_every_script_of_the_explorer_is_loaded_and_there():
    static = ROOT / "book" / "_static"
    there = {path.relative_to(static).as_posix() for path in (static / "explorer").glob("*.js")}
    assert there == {name for name in SCRIPTS if name.startswith("explorer/")}
    assert all((static / name).is_file() for name in (*SCRIPTS, STYLE))


def test_every_preset_has_a_picture_for_each_tab():
    for name in KNOWN:
        for tab in TABS:
            assert (ROOT / PICTURES / f"{picture_name(name, tab)}.png").is_file()
