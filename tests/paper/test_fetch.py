"""Fetching data: from a server on this machine that answers well, badly or not at all."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import socket
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace

import pooch
import pytest
from typer.testing import CliRunner

from paper import datasets
from paper.datasets import download as fetching
from paper.datasets import files
from paper.datasets.command import fetch_dataset
from paper.datasets.dataset import PROGRAM
from speedbook.commands.app import app

LINES = b"1::1193::5::978300760\n2::661::3::978302109\n"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def zipped(**members: bytes) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in members.items():
            opened.writestr(f"ml-1m/{name}.dat", content)
    return archive.getvalue()


GOOD = zipped(ratings=LINES, users=b"nobody\n")


class Server(HTTPServer):
    """Answers every request with `body`, and claims that it is `length` bytes long."""

    body, length, status, requests = GOOD, len(GOOD), 200, 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/ml-1m.zip"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.requests += 1
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(self.server.length))
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep what is fetched in a folder of our own, and look in no other; use no proxy."""
    monkeypatch.delenv(files.VARIABLE, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(files, "user_cache_path", lambda _: tmp_path / "a cache")
    return tmp_path / "a cache"


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def served(url: str, archive: bytes = GOOD, member: bytes = LINES) -> datasets.Dataset:
    """Return MovieLens 1M as if it were published at another address with other content."""
    movielens = datasets.info("movielens-1m")
    assert movielens.download is not None
    download = replace(
        movielens.download, url=url, sha256=sha256(archive), member_sha256=sha256(member)
    )
    return replace(movielens, download=download)


def nothing_is_left(cache: Path) -> bool:
    return not cache.exists() or list(cache.iterdir()) == []


def test_a_file_is_taken_out_of_its_archive_and_found_from_then_on(
    server: Server, cache: Path
) -> None:
    dataset = served(server.url)
    assert datasets.fetch(dataset) == cache / "ratings.dat"
    assert [path.name for path in cache.iterdir()] == ["ratings.dat"]
    assert (cache / "ratings.dat").read_bytes() == LINES
    assert len(dataset.parse(files.read_checked(dataset, files.locate(dataset)))) == 2
    assert datasets.fetch(dataset) == cache / "ratings.dat"
    assert server.requests == 1


def test_another_archive_is_refused_with_both_hashes(server: Server, cache: Path) -> None:
    dataset = served(server.url, archive=GOOD + b"!")
    with pytest.raises(datasets.DatasetError, match="was discarded: SHA256") as caught:
        datasets.fetch(dataset)
    for part in (server.url, sha256(GOOD), sha256(GOOD + b"!"), "what to do: "):
        assert part in str(caught.value)
    assert nothing_is_left(cache)


def test_another_file_in_the_archive_is_refused_with_both_hashes(
    server: Server, cache: Path
) -> None:
    with pytest.raises(datasets.DatasetError, match=r"SHA-256 of ml-1m/ratings\.dat") as caught:
        datasets.fetch(served(server.url, member=b"something else"))
    assert sha256(LINES) in str(caught.value)
    assert sha256(b"something else") in str(caught.value)
    assert nothing_is_left(cache)


def test_an_answer_that_breaks_off_is_an_error(server: Server, cache: Path) -> None:
    server.body = GOOD[:100]
    with pytest.raises(datasets.DatasetError, match=r"could not be fetched: .*100") as caught:
        datasets.fetch(served(server.url))
    assert "try again" in str(caught.value)
    assert nothing_is_left(cache)


def test_an_archive_cut_short_by_its_server_is_an_error(server: Server, cache: Path) -> None:
    server.body, server.length = GOOD[:100], 100
    with pytest.raises(datasets.DatasetError, match="may have been incomplete") as caught:
        datasets.fetch(served(server.url))
    assert sha256(GOOD[:100]) in str(caught.value)
    assert nothing_is_left(cache)


@pytest.mark.parametrize("status", [404, 500])
def test_an_error_of_the_server_is_told(server: Server, cache: Path, status: int) -> None:
    server.status = status
    with pytest.raises(datasets.DatasetError, match=f"could not be fetched: {status} "):
        datasets.fetch(served(server.url))
    assert nothing_is_left(cache)


def test_a_refused_connection_is_an_error_that_says_what_to_do(cache: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/ml-1m.zip"
        with pytest.raises(datasets.DatasetError, match="could not be fetched") as caught:
            datasets.fetch(served(url))
    assert url in str(caught.value)
    assert "SPEEDLIB_DATA_DIR" in str(caught.value)
    assert nothing_is_left(cache)


def test_a_server_that_speaks_no_tls_is_refused(server: Server, cache: Path) -> None:
    with pytest.raises(datasets.DatasetError, match=r"could not be fetched: \[SSL: "):
        datasets.fetch(served(server.url.replace("http:", "https:")))
    assert nothing_is_left(cache)


def test_a_silent_server_is_given_up(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "SILENCE", 0.2)
    server.body = GOOD[:100]
    holding = threading.Event()
    monkeypatch.setattr(Handler, "do_GET", lambda _: holding.wait(5))
    try:
        with pytest.raises(datasets.DatasetError, match="could not be fetched: timed out"):
            datasets.fetch(served(server.url))
    finally:
        holding.set()
    assert nothing_is_left(cache)


@pytest.mark.parametrize("archive", [b"no zip at all", GOOD[:-30], zipped(users=b"nobody\n")])
def test_an_archive_that_cannot_be_unpacked_is_an_error(
    server: Server, cache: Path, archive: bytes
) -> None:
    server.body, server.length = archive, len(archive)
    with pytest.raises(datasets.DatasetError, match=r"discarded: .*(not a zip|no item)") as caught:
        datasets.fetch(served(server.url, archive=archive))
    assert server.url in str(caught.value)
    assert nothing_is_left(cache)


def test_a_full_disk_is_an_error_that_leaves_nothing(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(datasets.DatasetError, match="cannot be written: No space left") as caught:
        datasets.fetch(served(server.url))
    assert str(cache / "ratings.dat") in str(caught.value)
    assert nothing_is_left(cache)


def test_a_cache_that_cannot_be_made_is_an_error(server: Server, cache: Path) -> None:
    cache.write_text("a file where the folder should be")
    with pytest.raises(datasets.DatasetError, match=r"cannot be written: .*exists") as caught:
        datasets.fetch(served(server.url))
    assert "correct the permissions" in str(caught.value)


def test_pooch_says_nothing(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[object] = []
    monkeypatch.setattr(pooch.get_logger(), "handle", said.append)
    datasets.fetch(served(server.url))
    assert said == []


def test_a_bad_file_at_hand_is_told_and_not_overwritten(server: Server, cache: Path) -> None:
    cache.mkdir()
    (cache / "ratings.dat").write_bytes(b"mine")
    with pytest.raises(datasets.DatasetError, match="replace or remove this file"):
        datasets.fetch(served(server.url))
    assert (cache / "ratings.dat").read_bytes() == b"mine"
    assert server.requests == 0


def test_embedded_data_cannot_be_fetched() -> None:
    with pytest.raises(ValueError, match=r"red-wine is in data/"):
        datasets.fetch(datasets.info("red-wine"))


# The command line.


@pytest.fixture
def catalogue(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = served(server.url)
    others = {each.name: each for each in datasets.catalogue()}
    monkeypatch.setattr(datasets, "_CATALOGUE", others | {dataset.name: dataset})


def run(*arguments: str, answer: str | None = None) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["data", *arguments], input=answer)
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.usefixtures("catalogue")
def test_terms_come_before_anything_is_fetched(server: Server, cache: Path) -> None:
    code, told, complaint = run("fetch", "movielens-1m", answer="y\n")
    assert code == 2
    assert "may not redistribute the data" in told
    assert "no terminal" in complaint and "--agree" in complaint
    assert server.requests == 0
    assert nothing_is_left(cache)


@pytest.mark.usefixtures("catalogue")
def test_the_answer_to_the_terms_decides(cache: Path) -> None:
    told: list[str] = []
    with pytest.raises(ValueError, match="terms were not accepted"):
        fetch_dataset("movielens-1m", lambda: False, told.append)
    assert nothing_is_left(cache)
    fetch_dataset("movielens-1m", lambda: True, told.append)
    assert (cache / "ratings.dat").exists()
    assert str(cache / "ratings.dat") in told[-1]


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 2), ("", 130)])
@pytest.mark.usefixtures("catalogue")
def test_who_sits_at_a_terminal_is_asked(
    answer: str, code: int, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stdin = SimpleNamespace(isatty=lambda: True)
    monkeypatch.setattr("speedbook.commands.app.sys", SimpleNamespace(stdin=stdin, stderr=None))
    assert run("fetch", "movielens-1m", answer=answer)[0] == code
    assert (cache / "ratings.dat").exists() == (code == 0)


@pytest.mark.usefixtures("catalogue")
def test_fetch_list_and_check_agree(cache: Path) -> None:
    assert f"not here; to get it: {PROGRAM} data fetch movielens-1m" in run("list")[1]
    code, told, _ = run("check")
    assert code == 0
    assert told.count("is the expected file") == 2
    assert run("check", "movielens-1m")[0] == 1
    code, told, _ = run("fetch", "movielens-1m", "--agree")
    assert code == 0
    assert str(cache / "ratings.dat") in told
    assert str(cache / "ratings.dat") in run("list")[1]
    assert run("check", "movielens-1m")[0] == 0
    (cache / "ratings.dat").write_bytes(LINES[:-1])
    code, _, complaint = run("check")
    assert code == 1
    assert sha256(LINES[:-1]) in complaint


@pytest.mark.usefixtures("catalogue")
def test_a_failed_download_has_its_exit_code(server: Server) -> None:
    server.status = 404
    code, _, complaint = run("fetch", "movielens-1m", "--agree")
    assert code == 3
    assert "404 Client Error" in complaint


@pytest.mark.parametrize("arguments", [["fetch", "white-wine"], ["check", "white-wine"]])
def test_an_unknown_data_set_is_wrong_usage(arguments: list[str]) -> None:
    code, _, complaint = run(*arguments)
    assert code == 2
    assert "nearest: red-wine" in complaint


@pytest.mark.parametrize("command", [["list"], ["check"], ["fetch", "air-quality", "--agree"]])
def test_a_named_folder_that_is_none_fails_every_command(
    command: list[str], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(files.VARIABLE, str(cache / "typo"))
    code, _, said = run(*command)
    assert code == 3
    assert "SPEEDLIB_DATA_DIR is" in said and "which is not a folder" in said


def test_what_is_embedded_need_not_be_fetched() -> None:
    code, told, _ = run("fetch", "red-wine")
    assert code == 0
    assert "in data/ already" in told
