"""The live book: who may start a kernel, where kernels run, and that none is left.

A real server serves a tiny folder that looks like a built book.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pytest
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

from speedbook.run.live import THEBE_ADDRESS, live_address

from .helpers import SPEEDBOOK, start

pytestmark = pytest.mark.slow
#: Seconds for what takes a few on a machine that is not busy.
PATIENCE = 90


class Book(NamedTuple):
    """A live book, with the address that it printed."""

    folder: Path
    process: subprocess.Popen[str]
    pages: str
    kernels: str
    token: str
    said: str

    def ask(
        self, path: str, token: str | None = None, data: Any = None, origin: str = ""
    ) -> tuple[int, dict[str, str], bytes]:
        """Ask Jupyter's server."""
        headers = {"Authorization": f"token {token}"} if token else {}
        headers |= {"Origin": origin} if origin else {}
        body = None if data is None else json.dumps(data).encode()
        return fetch(urllib.request.Request(self.kernels + path, body, headers))

    def start_kernel(self, path: str) -> str:
        session = {
            "name": "live",
            "path": path,
            "type": "notebook",
            "kernel": {"name": "python3"},
        }
        code, _, body = self.ask("api/sessions", self.token, session)
        assert code == 201, body
        kernel: str = json.loads(body)["kernel"]["id"]
        return kernel

    def kernels_running(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)


def fetch(request: urllib.request.Request | str) -> tuple[int, dict[str, str], bytes]:
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read()


def connect(address: str, origin: str) -> None:
    """Open a channel to a kernel as a page from there would, and close it."""

    async def once() -> None:
        request = HTTPRequest(address, headers={"Origin": origin}, request_timeout=PATIENCE)
        (await websocket_connect(request)).close()

    asyncio.run(once())


def built(folder: Path) -> Path:
    pages = {"index.html": "first", "book/preface.html": "preface"}
    for name, text in pages.items():
        page = folder / "_build" / "html" / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text)
    (folder / "_toc.yml").write_text("root: book/preface\n")
    (folder / "notebooks" / "a").mkdir(parents=True)
    return folder


def begin(folder: Path, *options: str) -> Book:
    process = start(folder, *SPEEDBOOK, "live", "--no-browser", *options)
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(3)]
    found = re.search(r"(http://127\.0\.0\.1:\d+)/\S+#live\?port=(\d+)&token=(\S+)", lines[0])
    assert found, lines
    kernels = f"http://127.0.0.1:{found[2]}/"
    return Book(folder, process, found[1], kernels, found[3], "".join(lines))


def end(book: Book, number: signal.Signals = signal.SIGTERM) -> str:
    book.process.send_signal(number)
    rest, _ = book.process.communicate(timeout=PATIENCE)
    return rest


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Book]:
    served = begin(built(tmp_path_factory.mktemp("with blanks") / "a book"))
    yield served
    end(served)


def test_one_address_is_printed_and_its_key_is_in_no_page(book: Book) -> None:
    assert book.said.count("http://") == 1
    assert len(book.token) > 30
    for name in ("book/preface.html", "index.html", THEBE_ADDRESS.lstrip("/") + "index.js"):
        code, headers, body = fetch(f"{book.pages}/{name}")
        assert code == 200
        assert book.token not in f"{headers}" and book.token.encode() not in body
    policy = fetch(f"{book.pages}/book/preface.html")[1]["Content-Security-Policy"]
    hosts = re.findall(r"(?:http|ws)s?://([^:; ]+)", policy)
    assert hosts and set(hosts) == {"127.0.0.1"}


@pytest.mark.parametrize("path", ["../../_toc.yml", "%2e%2e/%2e%2e/_toc.yml", "_live/thebe/../"])
def test_nothing_besides_the_book_is_served(path: str, book: Book) -> None:
    assert fetch(f"{book.pages}/{path}")[0] in (403, 404)


@pytest.mark.parametrize("token", [None, "wrong"])
def test_without_the_key_nothing_runs(token: str | None, book: Book) -> None:
    before = len(book.kernels_running())
    assert book.ask("api/kernels", token)[0] == 403
    assert book.ask("api/kernels", token, {"name": "python3"})[0] == 403
    assert book.ask("api/contents", token)[0] == 403
    assert len(book.kernels_running()) == before
    assert book.ask("api/kernels", book.token)[0] == 200


def test_pages_from_elsewhere_are_not_answered(book: Book) -> None:
    code, headers, _ = book.ask("api/kernels", book.token, origin=book.pages)
    assert (code, headers["Access-Control-Allow-Origin"]) == (200, book.pages)
    for other in ("http://example.org", "http://127.0.0.1:1", "null"):
        code, headers, _ = book.ask("api/kernels", book.token, origin=other)
        assert code in (403, 404)
        assert headers.get("Access-Control-Allow-Origin") in (None, book.pages)
    kernel = book.start_kernel("notebooks/a/live-1.ipynb")
    channel = book.kernels.replace("http", "ws") + f"api/kernels/{kernel}/channels?token="
    connect(channel + book.token, book.pages)
    for token, other in ((book.token, "http://example.org"), ("wrong", book.pages)):
        with pytest.raises(HTTPClientError, match="403"):
            connect(channel + token, other)


@pytest.mark.parametrize(
    "path", ["lab", "tree", "nbconvert/html/x", "terminals/new/1", "formgrader"]
)
def test_no_other_program_of_jupyter_is_there(path: str, book: Book) -> None:
    assert book.ask(path, book.token)[0] == 404


def test_each_page_has_a_kernel_of_its_own_in_the_folder_of_its_notebook(book: Book) -> None:
    before = {each.pid for each in book.kernels_running()}
    first, second = (book.start_kernel(f"notebooks/a/live-{each}.ipynb") for each in "xy")
    assert first != second
    new = [each for each in book.kernels_running() if each.pid not in before]
    assert len(new) == 2
    for each in new:
        assert Path(each.cwd()) == (book.folder / "notebooks" / "a").resolve()
        assert "SPEEDBOOK_FIGURES_DIR" not in each.environ()
        assert each.environ()["OMP_NUM_THREADS"] == os.environ.get("OMP_NUM_THREADS", "1")


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


@pytest.mark.skipif(os.name == "nt", reason="signals need POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_at_the_end_no_kernel_is_left_and_nothing_was_written(
    number: signal.Signals, tmp_path: Path
) -> None:
    served = begin(built(tmp_path / "book"))
    before = files(tmp_path / "book")
    for each in "abc":
        served.start_kernel(f"notebooks/a/live-{each}.ipynb")
    running = served.kernels_running()
    assert len(running) == 3
    said = end(served, number)
    assert served.process.returncode == 0
    assert said.strip() == "Ended, with all kernels."
    assert psutil.wait_procs(running, timeout=PATIENCE)[1] == []
    new = files(tmp_path / "book") - before
    assert {name for name in new if not name.startswith("_build/kernels")} == set()
    assert not any("jpserver" in name for name in new), "the key is on no disk"


def test_a_book_that_is_not_built_is_refused(tmp_path: Path) -> None:
    (tmp_path / "_toc.yml").write_text("root: book/preface\n")
    process = start(tmp_path, *SPEEDBOOK, "live", "--no-browser")
    said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert "there is no built book; run `make book` first" in said


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        process = start(built(tmp_path / "b"), *SPEEDBOOK, "live", "--no-browser", f"--port={port}")
        said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 3
    assert f"port {port}: " in said and "without --port, a free one is taken" in said


def test_a_port_can_be_chosen(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
    served = begin(built(tmp_path / "b"), f"--port={port}")
    try:
        assert served.pages == f"http://127.0.0.1:{port}"
        assert live_address(port, int(served.kernels[:-1].rpartition(":")[2]), served.token) in (
            served.said
        )
    finally:
        end(served)
