"""Ctrl-C, and what schedulers send, while a command works: it ends at once and leaves no litter.

Each program writes the numbers of the processes that must end with it into a file ``pids`` when it
is where the signal shall find it.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from speedbook.commands.app import app
from speedbook.run import workers
from speedbook.run.listing import run_folders

from .helpers import FIG, PROP, ROOT, SPEEDBOOK, start
from .reruns import rerun

INT, TERM, KILL = signal.SIGINT, signal.SIGTERM, signal.SIGKILL
HUP = getattr(signal, "SIGHUP", TERM)
in_a_process = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="signals to a group need POSIX"),
]
#: What a command ends with. Each signal meets a build or a rerun, which hear them by one handler;
#: the one that nobody hears meets both, since both must leave nothing that looks whole.
CODES = {INT: 130, TERM: 130, HUP: 129, KILL: -KILL}

HANG = (
    "import os, time\n"
    "open('../../pids', 'w').write(f'{os.getpid()} {os.getppid()}\\n')\n"
    "time.sleep(99)"
)


def stop(
    folder: Path,
    *arguments: str,
    kill: signal.Signals = INT,
    ready: Callable[[], object] = lambda: True,
    **environment: str,
) -> tuple[int, str]:
    """Start a program, send it a signal where it shall find it; return exit code and all it said.

    Checks that the processes that it had are gone: those of its group and those in ``pids``.
    """
    pids = folder / "pids"
    process = start(folder, *arguments, **environment)
    try:
        begun = wait_until(lambda: pids.is_file() and pids.read_text().endswith("\n") and ready())
        assert begun, "it did not come so far"
        others = [*map(int, pids.read_text().split())]
        assert all(map(alive, others))
        if kill in (INT, HUP):  # a terminal sends it to the whole group
            os.killpg(process.pid, kill)
        else:  # only the program itself
            process.send_signal(kill)
        said, _ = process.communicate(timeout=120)
        gone = wait_until(lambda: not any(map(alive, [-process.pid, *others])), 30)
        assert gone, "a process outlived its program"
    finally:
        if alive(-process.pid):
            os.killpg(process.pid, KILL)
            process.wait()
    pids.unlink()
    return process.returncode, said


def wait_until(condition: Callable[[], object], seconds: float = 120) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return bool(condition())


def alive(process: int) -> bool:
    """Say whether there is a process or, where its number is negative, any of a group."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def wait_as_a_worker(lock, ready, working: bool) -> None:
    """Wait as a worker does: for work, with the lock of the queue, or for the end of a notebook."""
    workers._prepare_worker({})
    if working:

        def hang(_: object) -> None:
            ready.set()
            time.sleep(99)

        with contextlib.suppress(BaseException):  # as the pool does
            workers._in_worker(hang, None)
        lock.acquire()
    with lock:
        ready.set()
        time.sleep(99)


# In processes of their own, with real kernels.


class TestKernels:
    pytestmark = in_a_process

    @pytest.mark.parametrize("kill", [INT, KILL])
    def test_a_build_keeps_what_is_committed(self, tiny_book, tiny_notebook, kill):
        tiny_book.notebook(FIG, tiny_notebook(f"{HANG}; x"))
        before = tiny_book.snapshot()
        # The other notebook ends soon, and leaves an idle worker.
        cached = tiny_book.root / "_build/cache" / PROP
        ended, said = stop(
            tiny_book.root,
            *SPEEDBOOK,
            "build",
            kill=kill,
            ready=lambda: cached.is_dir() and list(cached.glob("*.json")),
        )
        assert ended == CODES[kill]
        assert tiny_book.snapshot() == before
        assert not list(tiny_book.root.rglob("*.part"))
        if kill != KILL:
            assert "Interrupted: finished work is kept, and no file is half-written." in said
            assert "Traceback" not in said
            assert not (tiny_book.root / "_build" / "running").exists()

    @pytest.mark.parametrize("working", [False, True])
    def test_an_ended_worker_never_hands_on_the_rest_of_a_message(self, working):
        """An idle one keeps the lock of the queue; a working one ends and asks for no more."""
        context = multiprocessing.get_context("spawn")
        lock, ready = context.Lock(), context.Event()
        worker = context.Process(target=wait_as_a_worker, args=(lock, ready, working))
        worker.start()
        assert ready.wait(120)
        worker.terminate()
        worker.join(30)
        worker.kill()
        assert worker.exitcode == workers.ENDED
        assert lock.acquire(timeout=0.2) == working

    @pytest.mark.parametrize("kill", [TERM, HUP, KILL])
    def test_a_rerun_leaves_no_folder_that_looks_whole(
        self, tiny_book, tiny_notebook, no_kernels, monkeypatch, kill
    ):
        progress = "open(os.environ['SPEEDLIB_PROGRESS_FILE'], 'w').write('1/2')"
        hanging = HANG.replace("\n", f"\n{progress}\n", 1)
        tiny_book.notebook(FIG, tiny_notebook("print('before')", f"{hanging}; x"))
        given = "-p", "x=6"
        ended, said = stop(tiny_book.root, *SPEEDBOOK, "rerun", "fig", *given, kill=kill)
        assert ended == CODES[kill]
        assert "Traceback" not in said
        (folder,) = (tiny_book.root / "runs" / "fig").iterdir()
        assert not (folder / "manifest.json").exists()
        assert [run.in_words for run in run_folders(folder.parents[1])] == ["x=6"]
        if kill != KILL:
            assert folder.name.endswith("-interrupted") and not folder.name.startswith(".")
            assert f"Interrupted: unfinished run: {folder}." in said.replace("\n", "")
            assert "before" in (folder / "fig.ipynb").read_text()
            assert not list(folder.rglob(".*"))
        else:
            assert folder.name.startswith(".") and folder.name.endswith("-unfinished")
        # The next run is none the worse for it. This one needs no kernel.
        monkeypatch.chdir(tiny_book.root)
        rerun("fig")
        assert len(list(tiny_book.root.glob("runs/fig/*/manifest.json"))) == 1


class TestTerminal:
    pytestmark = in_a_process

    def test_a_closed_terminal_ends_a_rerun(self, tiny_book, tiny_notebook):
        tiny_book.notebook(FIG, tiny_notebook("print('before')", f"{HANG}; x"))
        terminal, end = os.openpty()
        program = [sys.executable, *SPEEDBOOK, "rerun", "fig"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(
            [sys.executable, "-c", CONTROLLED, *program],
            cwd=tiny_book.root,
            env=environment,
            stdin=end,
            stdout=end,
            stderr=end,
            start_new_session=True,
        )
        os.close(end)
        pids = tiny_book.root / "pids"
        try:
            # Somebody reads what a terminal shows.
            threading.Thread(target=drain, args=[terminal], daemon=True).start()
            assert wait_until(lambda: pids.is_file() and pids.read_text().endswith("\n"))
            others = [*map(int, pids.read_text().split())]
            os.close(terminal)
            assert process.wait(60) == 129
            assert wait_until(lambda: not any(map(alive, [-process.pid, *others])), 30)
        finally:
            if alive(-process.pid):
                os.killpg(process.pid, KILL)
                process.wait()
        (folder,) = (tiny_book.root / "runs" / "fig").iterdir()
        assert folder.name.endswith("-interrupted") and not folder.name.startswith(".")

    def test_nohup_keeps_it_running(self, tiny_book, tiny_notebook):
        # The signal goes to all, the worker and the kernel too, before the notebook goes on.
        cells = HANG.replace("time.sleep(99)", "time.sleep(3)"), "print(x + 1)"
        tiny_book.notebook(FIG, tiny_notebook(*cells))
        program = subprocess.Popen(
            ["nohup", sys.executable, *SPEEDBOOK, "rerun", "fig"],
            cwd=tiny_book.root,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        pids = tiny_book.root / "pids"
        assert wait_until(lambda: pids.is_file() and pids.read_text().endswith("\n"))
        os.killpg(program.pid, HUP)
        said, _ = program.communicate(timeout=120)
        assert program.returncode == 0, said
        assert len(list(tiny_book.root.glob("runs/fig/*/manifest.json"))) == 1


#: Makes the terminal on standard input the one that controls the session, and becomes the program.
CONTROLLED = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


def drain(terminal: int) -> None:
    with contextlib.suppress(OSError):
        while os.read(terminal, 1000):
            pass


class TestOthers:
    pytestmark = in_a_process

    def test_a_verification_stores_nothing_of_a_claim_whose_seeds_did_not_all_run(
        self, tiny_book, tiny_notebook, tmp_path
    ):
        seed = "seed: int = 3  # of the run [0 ..]"
        tiny_book.notebook(PROP, tiny_notebook(f"{HANG}; seed", parameters=seed))
        row = {"verdict": "supported", "estimate": 1.0, "interval": [1.0, 1.0], "seed": 3}
        rows = {"prop-1": {**row, "rule": "equal to 1 ± 0.1"}}
        tiny_book.write("book/ledger.json", json.dumps({"claims": rows}))
        before = tiny_book.snapshot()
        verify = (*SPEEDBOOK, "verify", "--seeds", "2", "--store")
        ended, said = stop(tiny_book.root, *verify, TMPDIR=str(tmp_path))
        assert (ended, "Traceback" in said) == (130, False), said
        assert "Interrupted: the claims whose seeds had all run are stored." in said
        assert tiny_book.snapshot() == before
        assert not list(tmp_path.glob("speedbook-verify-*"))

    @pytest.mark.parametrize(
        ("moment", "kill"), [("loading", INT), ("loading", HUP), ("unpacking", TERM)]
    )
    def test_fetching_leaves_no_part_of_a_file(self, tmp_path, moment, kill):
        (tmp_path / "fetch.py").write_text(FETCH)
        cache = tmp_path / "cache"
        ended, said = stop(
            tmp_path,
            "fetch.py",
            moment,
            kill=kill,
            ready=lambda: list(cache.rglob("*.zip" if moment == "unpacking" else "*?")),
            NO_PROXY="127.0.0.1",
            SPEEDLIB_DATA_DIR="",
        )
        assert (ended, "Traceback" in said) == (129 if kill == HUP else 130, False), said
        assert "Interrupted: nothing was fetched." in said
        assert list(cache.iterdir()) == []

    @pytest.mark.parametrize("workers", [1, 2])
    def test_a_simulation_ends_with_all_its_workers(self, tmp_path, workers):
        (tmp_path / "endless.py").write_text(ENDLESS)
        ended, said = stop(tmp_path, "endless.py", str(workers))
        assert ended not in (0, None)
        assert "KeyboardInterrupt" in said
        assert [path.name for path in tmp_path.iterdir()] == ["endless.py"]


#: Fetches from a server of its own, which never ends its answer, or into an archive never unpacked.
FETCH = """
import hashlib, io, os, sys, threading, time, zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from paper import datasets
from paper.datasets import files
from speedbook.commands.app import app
from speedbook.run import execution

archive = io.BytesIO()
with zipfile.ZipFile(archive, "w") as opened:
    opened.writestr("ml-1m/ratings.dat", "1::1193::5::978300760\\n" * 1000)
body = archive.getvalue()

def hang(*_):
    Path("pids").write_text(f"{os.getpid()}\\n")
    time.sleep(99)

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if sys.argv[1] == "unpacking":
            self.wfile.write(body)
        else:
            self.wfile.write(body[:10_000])
            hang()

if sys.argv[1] == "unpacking":
    zipfile.ZipFile.read = hang
server = HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
movielens = datasets.info("movielens-1m")
url, digest = f"http://127.0.0.1:{server.server_port}/ml-1m.zip", hashlib.sha256(body).hexdigest()
download = replace(movielens.download, url=url, sha256=digest)
datasets._CATALOGUE["movielens-1m"] = replace(movielens, download=download)
files.user_cache_path = lambda _: Path("cache").resolve()
app(["data", "fetch", "movielens-1m", "--agree"])
"""

ENDLESS = """
import os, sys
from pathlib import Path

from speedlib import SPEED, mse_curve, simulation, unit_ball

simulation._BLOCK_ENTRIES = 50_000

def report(done, total):
    Path("pids").write_text(f"{os.getpid()}\\n")

if __name__ == "__main__":
    ball = unit_ball()
    curves = mse_curve(
        ball.bandit, ball.policy, [SPEED()], [10_000], 10**9, seed=1, n_jobs=int(sys.argv[1]),
        progress=report,
    )
    curves.save("curves.npz")
"""


# In this process, at a moment that is chosen.


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "moment", "told"),
    [
        ("build", "commands.build.execute_all", "finished work is kept"),
        ("build", "commands.build.press", "no file is half-written"),
        ("rerun fig", "run.folder.execute_all", "there was nothing to keep yet"),
        ("verify", "commands.verify.execute_all", "nothing was stored"),
    ],
)
@pytest.mark.parametrize("others", [False, True])
def test_an_interrupt_is_130_and_leaves_all_as_it_was(
    tiny_book, monkeypatch, command, moment, told, others
):
    def interrupted(*_):
        raise KeyboardInterrupt

    if moment.endswith("press"):  # which comes at once where there is no notebook
        tiny_book.toc("book/ledger")
        tiny_book.claims([])
    if others:
        tiny_book.write("runs/fig/another/fig.html", "")
    before = tiny_book.snapshot()
    monkeypatch.chdir(tiny_book.root)
    monkeypatch.setattr(f"speedbook.{moment}", interrupted)
    result = CliRunner().invoke(app, command.split())
    assert result.exit_code == 130
    (line,) = [line for line in result.output.splitlines() if line.startswith("Interrupted: ")]
    assert told in line
    assert tiny_book.snapshot() == before
    assert (tiny_book.root / "runs/fig").is_dir() == others
