"""Pages that run: Figure 1a with another variance, two windows, no key, the end of the book."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from speedbook.press import powers
from tools.audit.measure import LOOKS, look_at, violations

from .conftest import Visit

ROOT = Path(__file__).resolve().parents[2]
PAGE = "notebooks/figures/fig1a-unit-ball.html"
#: Seconds for a run that takes a few on a machine that is not busy.
PATIENCE = 120_000
#: Values with which the page runs quickly; none of them decides the verdict looked at.
QUICK = {"replications": "20", "rounds": "100,500", "long_rounds": "100,1000"}
#: The share of the noisy action, which must be a tenth: it is a fifth in the book, and less if the
#: action is less noisy.
CARD = ".claim-card:has(code:text-is('fig-ub-share'))"
LEAD = ".tag_run-lead-picture img"
ARTICLE = "() => document.querySelector('.bd-article').innerHTML"
#: The formulas of the cards, as MathJax has set them.
SET = ".claim-card mjx-container"
#: Formulas in every kind of output, with the book's macros; columns with names like formulas.
FORMULAS = r"""
import pandas as pd
from IPython.display import HTML, Latex, Markdown, Math, display

display(Markdown(r"It falls like $\Gamma^{-1}$, and costs $5 or $6."))
display(Latex(r"\begin{align}\bV&=\bc\bc^\top\end{align}"), Math(r"\wSigma\succeq0"))
display(HTML(r"<p>The value is \(\bx^\top\btheta\), and \[y^2.\]</p>"))
heads = [r"\(q\)", "d² n^(-3/2)", "0.5*n^0.4", "sales^2", "λ_d", "σ²max", "2.6e+05, 1e-03"]
pd.DataFrame([range(7)], columns=heads)
"""
#: The heads that the book and a live page set as mathematics.
SET_HEADS = "d² n^(-3/2)", "0.5*n^0.4", "λ_d", "σ²max", "2.6e+05, 1e-03"


class Served:
    """The built book, live."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "speedbook", "live", "--no-browser"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        found = re.search(r"(http://[^/]+)/\S*(#live\S+)", self.process.stdout.readline())
        assert found
        self.base, self.key = found[1], found[2]

    def kernels(self) -> set[psutil.Process]:
        """All that run; a kernel of an earlier test may still be ending, so compare, not count."""
        return set(psutil.Process(self.process.pid).children(recursive=True))

    def end(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGINT)
        self.process.communicate(timeout=PATIENCE / 1000)


@pytest.fixture(scope="module")
def served(html: Path) -> Iterator[Served]:
    book = Served()
    yield book
    book.end()


class Window:
    """A window on a page of the live book; it may ask nothing of another computer."""

    def __init__(self, browser: Any, served: Served, key: str | None = None, **window: Any) -> None:
        self.visit = Visit(browser, served.base, **({"viewport": LOOKS["light"][0]} | window))
        # Both ports are on this computer.
        self.visit.base = "http://127.0.0.1"
        self.page = self.visit.page
        self.page.set_default_timeout(PATIENCE)
        self.page.goto(f"{served.base}/{PAGE}{served.key if key is None else key}")
        self.page.wait_for_load_state("load")
        self.page.evaluate("() => window.MathJax?.startup?.promise")

    def start(self) -> None:
        self.page.get_by_role("button", name="Start a kernel").click()
        self.page.locator(".sb-live-bar").wait_for()

    def run(self, **values: str) -> None:
        for name, text in (QUICK | values).items():
            self.page.fill(f"#parameter-{name}", text)
        self.page.get_by_role("button", name="Run", exact=True).click()

    def wait(self) -> str:
        """Wait for the end of the run; return what the bar says."""
        self.page.wait_for_function("() => !document.querySelector('.sb-live-bar button').disabled")
        return str(self.page.locator(".sb-live-bar").inner_text())

    def picture(self) -> str:
        """The lead picture, as drawn."""
        drawn: str = self.page.locator(LEAD).evaluate(
            """async (image) => {
              await image.decode();
              const canvas = document.createElement("canvas");
              [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
              canvas.getContext("2d").drawImage(image, 0, 0);
              return canvas.toDataURL();
            }"""
        )
        return drawn

    def close(self) -> None:
        self.visit.context.close()


@pytest.fixture
def window(chromium: Any, served: Served) -> Iterator[Any]:
    windows: list[Window] = []

    def begin(**about: Any) -> Window:
        windows.append(Window(chromium, served, **about))
        return windows[-1]

    yield begin
    for each in windows:
        each.close()


def test_another_variance_gives_another_figure_and_verdict_and_one_click_resets(
    window: Any,
) -> None:
    here = window()
    assert "token" not in here.page.url
    before, book = here.page.evaluate(ARTICLE), here.picture()
    badge = here.page.locator(CARD).locator(".verdict")
    assert "checked" in badge.inner_text()
    here.page.wait_for_function("() => document.documentElement.dataset.formulas === 'set'")
    formulas = here.page.locator(SET).count()
    assert formulas > 0
    here.start()
    here.run(high_variance="0.05")
    said = here.wait()
    assert "Your parameters: high_variance = 0.05" in said
    verdict = re.search(r"fig-ub-share is now ([a-z ]+)", said)
    assert verdict and verdict[1] != "checked"
    assert here.picture() != book
    assert verdict[1] in badge.inner_text()
    card = here.page.locator(CARD)
    assert "In the book: ∎ checked" in card.inner_text().replace("\N{NO-BREAK SPACE}", " ")
    # The number in the text is the number on the card.
    found = card.locator("dt:text-is('Found') + dd").inner_text()
    share = here.page.locator("[data-ledger='fig-ub-share.estimate:.1%']").inner_text()
    assert share == f"{float(found):.1%}" == "8.4%"
    assert verdict[1] in here.page.locator("[data-badge='fig-ub-share']").first.inner_text()
    # Cards show formulas as before.
    assert here.page.locator(SET).count() == formulas
    assert "\\(" not in "".join(here.page.locator(".claim-card").all_inner_texts())
    # Alternative texts and captions are there, and tables are tables.
    assert here.page.locator(LEAD).get_attribute("alt")
    assert here.page.locator(".cell_output.sb-live table.dataframe").count() > 3
    here.page.get_by_role("button", name="Back to the book's values").click()
    assert here.picture() == book
    assert "checked" in badge.inner_text()
    assert here.page.locator("#parameter-high_variance").input_value() == "0.35"
    assert here.page.locator(".sb-live, article .sb-changed").count() == 0
    after = here.page.evaluate(ARTICLE)
    assert plain(after) == plain(before)
    assert here.visit.faults == []


def plain(article: str) -> str:
    """The article above its foot, without what a browser adds while a reader moves on it."""
    text = article.partition('class="sb-foot')[0]
    return re.sub(r' (?:tabindex|style|class)="[^"]*"|<p class="sb-live-jump">.*?</p>', "", text)


def test_formulas_in_outputs_are_set_whatever_their_kind(window: Any) -> None:
    here = window()
    here.start()
    here.page.evaluate(
        """(source) => {
          const { live } = SpeedLive.page;
          const place = ({ id }) => live.outputs.place(id)?.querySelector(".claim-card");
          const seen = live.cells.find(place);
          live.cells.splice(0, live.cells.length, { ...seen, source, metadata: {} });
        }""",
        FORMULAS,
    )
    here.run()
    assert "Done." in here.wait()
    shown = here.page.locator(".cell_output.sb-live")
    assert shown.count() == 1
    assert shown.locator("mjx-container").count() == 5
    assert here.page.locator("mjx-merror").count() == 0
    visible = shown.inner_text()
    assert "costs $5 or $6" in visible and "\\bx" not in visible and "align" not in visible
    heads = shown.locator("table.dataframe thead th")
    assert shown.locator("table.dataframe mjx-container").count() == 0
    texts = ["\\(q\\)", "d² n^(−3/2)", "0.5·n^0.4", "sales^2", "λ_d", "σ²max", "2.6e+5, 1e−3"]
    assert heads.all_text_contents() == texts
    assert heads.locator("sup").all_inner_texts() == ["−3/2", "0.4", "5", "−3"]
    # What a copy needs to be the number takes no room on the page.
    signs = heads.locator(".sb-sign")
    assert signs.all_text_contents() == ["^(", ")", "^", "_", "e+", "1e"]
    assert signs.evaluate_all("(signs) => signs.map((sign) => sign.offsetWidth)") == [0] * 6
    # The kernel's table is the book's: both mend it by the same rules.
    found = heads.evaluate_all("(heads) => heads.map((head) => head.outerHTML).join('')")
    own = f'<table class="dataframe">{"".join(f"<th>{head}</th>" for head in SET_HEADS)}'
    whole = powers.DATA_FRAME.sub(powers.raised, own + "</table>")
    for head in whole.split("<th>")[1:]:
        assert f"<th>{head.removesuffix('</table>')}" in found
    assert here.visit.faults == []


def test_a_page_runs_where_there_is_no_network(html: Path) -> None:
    """Server, kernel and browser in a network of their own, which reaches no other computer."""
    inside = ["unshare", "--map-root-user", "--net", "sh", "-c"]
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        pytest.skip("unshare or ip is missing")
    if subprocess.run([*inside, "ip link set lo up"], capture_output=True).returncode:
        pytest.skip("this system lets no user make a network of their own")
    test = f"{__file__}::{test_formulas_in_outputs_are_set_whatever_their_kind.__name__}"
    ask = 'ip link set lo up && exec "$0" -m pytest -q -n 0 -p no:cacheprovider -m browser "$1"'
    done = subprocess.run(
        [*inside, ask, sys.executable, test], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr


def test_two_windows_do_not_disturb_each_other(window: Any, served: Served) -> None:
    one, two = window(), window()
    earlier = served.kernels()
    for each in (one, two):
        each.start()
    assert len(served.kernels() - earlier) == 2
    one.run(high_variance="0.05")
    two.run(high_variance="1.0")
    assert "high_variance = 0.05" in one.wait() and "high_variance = 1.0" in two.wait()
    assert one.picture() != two.picture()
    for each, share in ((one, "0.08429"), (two, "0.2916")):
        assert share in each.page.locator(CARD).inner_text()
        assert each.visit.faults == []


@pytest.mark.parametrize("key", ["", "#live?port={port}&token=wrong"])
def test_without_the_key_nothing_runs(key: str, window: Any, served: Served) -> None:
    port = re.search(r"port=(\d+)", served.key)
    assert port
    here = window(key=key.format(port=port[1]))
    earlier = served.kernels()
    start = here.page.get_by_role("button", name="Start a kernel")
    assert start.count() == (1 if key else 0)
    if key:
        start.click()
        said = here.page.locator(".sb-live-start [role=status]")
        here.page.wait_for_function(
            "(p) => p.textContent.includes('refuses')", arg=said.element_handle()
        )
        assert start.is_enabled()
    else:
        assert here.page.locator(".sb-live-note").is_visible()
    assert served.kernels() <= earlier
    assert here.page.locator(".sb-live-bar").count() == 0


def test_a_run_that_fails_says_where_and_keeps_the_form(window: Any) -> None:
    here = window()
    here.start()
    here.run(from_rounds="5000")
    said = here.wait()
    assert "from_rounds: must be at most the largest of rounds, which is 500; got 5000" in said
    assert here.page.locator(".traceback").count() == 1
    here.page.fill("#parameter-n_actions", "51")
    here.page.get_by_role("button", name="Run", exact=True).click()
    assert "First correct n_actions" in here.page.locator(".sb-live-bar").inner_text()
    assert here.page.evaluate("() => document.activeElement.name") == "n_actions"


def test_a_run_can_be_stopped(window: Any) -> None:
    here = window()
    here.start()
    here.run(replications="1000000", rounds="100,100000000")
    here.page.wait_for_function("() => document.querySelector('.sb-live-bar progress').value >= 5")
    here.page.get_by_role("button", name="Stop").click()
    assert "Stopped in cell" in here.wait()


def test_a_page_that_has_run_is_accessible_in_every_look(window: Any) -> None:
    here = window()
    here.start()
    here.run(high_variance="0.05")
    here.wait()
    here.page.fill("#parameter-n_actions", "51")
    for look in LOOKS:
        look_at(here.page, look)
        assert violations(here.page, look) == []
        size = here.page.evaluate("() => [document.documentElement.scrollWidth, innerWidth]")
        assert size[0] <= size[1]
        # Tab reaches the buttons of the bar, and each shows that it has the focus.
        here.page.locator(".sb-live-bar button").first.focus()
        here.page.keyboard.press("Tab")
        ring = "() => getComputedStyle(document.activeElement).outlineStyle"
        assert here.page.evaluate(ring) == "solid"


def test_when_the_book_ends_the_page_says_so(chromium: Any, html: Path) -> None:
    served = Served()
    here = Window(chromium, served)
    try:
        here.start()
        kernels = served.kernels()
        assert kernels
        served.end()
        assert psutil.wait_procs(kernels, timeout=PATIENCE / 1000)[1] == []
        assert served.process.returncode == 0
        here.run()
        here.page.wait_for_function(
            "() => /has ended/.test(document.querySelector('.sb-live-bar').textContent)"
        )
    finally:
        here.close()
        served.end()
