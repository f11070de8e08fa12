"""A browser, the built book, and a record of everything that goes wrong on a page."""

from __future__ import annotations

import functools
import http.server
import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .explorer_page import PAGE

HTML = Path(__file__).resolve().parents[2] / "_build" / "html"

CHROMIUM_FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith("tests/browser/"):
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.slow)


def built_pages() -> list[str]:
    """Paths of the book's pages, relative to its folder; one empty name if it is not built."""
    found = [path.relative_to(HTML).as_posix() for path in sorted(HTML.rglob("*.html"))]
    # The first page leads on at once, and has a test of its own.
    return [name for name in found if not re.match(r"_static/|index\.html$", name)] or [""]


@pytest.fixture(scope="session")
def html() -> Path:
    if not (HTML / "index.html").is_file():
        pytest.skip(f"there is no book in {HTML}: run `make book` first")
    return HTML


@pytest.fixture(scope="session")
def engine() -> Iterator[Any]:
    """A browser, whether the book is built or not."""
    sync_api = pytest.importorskip("playwright.sync_api")
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("there is no chromium on the path")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def chromium(html: Path, engine: Any) -> Any:
    return engine


class Visit:
    """A page in a window of its own, and what it complained about or asked of the network."""

    def __init__(self, browser: Any, base: str, **window: Any) -> None:
        self.base = base
        self.context = browser.new_context(offline=base.startswith("file:"), **window)
        self.page = self.context.new_page()
        self.faults: list[str] = []
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.faults.append(f"page error: {error}"))
        self.page.on("request", self._request)
        self.page.on("requestfailed", lambda r: self.faults.append(f"not loaded: {r.url}"))

    def _console(self, message: Any) -> None:
        if message.type == "error":
            self.faults.append(f"console: {message.text}")

    def _request(self, request: Any) -> None:
        if not request.url.startswith((self.base, "data:", "blob:")):
            self.faults.append(f"leaves the book: {request.url}")

    def open(self, path: str) -> Any:
        self.page.goto(f"{self.base}/{path}")
        self.page.wait_for_load_state("load")
        # Sphinx loads MathJax only where there is mathematics.
        self.page.evaluate("() => window.MathJax?.startup?.promise")
        # Whoever leaves a page stops the fonts of its formulas; the layout is what asks for them.
        self.page.evaluate("() => document.body.offsetHeight && document.fonts.ready.then(() => 0)")
        return self.page


@pytest.fixture
def visit(chromium: Any, html: Path) -> Iterator[Any]:
    """Open a window on the book as it lies on the disk, with the network refused."""
    visits: list[Visit] = []

    def begin(base: str = html.as_uri(), **window: Any) -> Visit:
        visits.append(Visit(chromium, base, **window))
        return visits[-1]

    yield begin
    for each in visits:
        each.context.close()


@pytest.fixture
def opened(visit: Any) -> Any:
    """Open the explorer's page and see to it that nothing goes wrong on it."""
    windows = []

    def begin(query: str = "", **window: Any) -> Any:
        windows.append(visit(**({"viewport": {"width": 1280, "height": 1000}} | window)))
        page = windows[-1].open(PAGE + (f"#explorer?{query}" if query else ""))
        page.wait_for_selector(".sbx-plane .sbx-handle")
        return page

    yield begin
    for window in windows:
        assert window.faults == []


class _Handler(http.server.SimpleHTTPRequestHandler):
    missing: list[str]

    def send_error(self, code: int, *args: Any, **kwargs: Any) -> None:
        self.missing.append(f"{code} {self.path}")
        super().send_error(code, *args, **kwargs)

    def log_message(self, *args: Any) -> None:
        """Say nothing: the tests look at `missing`."""


class Site:
    """The book behind a small server on this machine, and the requests it could not answer."""

    def __init__(self, url: str, missing: list[str]) -> None:
        self.url = url
        self.missing = missing


@pytest.fixture
def site(html: Path) -> Iterator[Site]:
    handler = type("Handler", (_Handler,), {"missing": []})
    serve = functools.partial(handler, directory=str(html))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Site(f"http://127.0.0.1:{server.server_port}", handler.missing)
        server.shutdown()
