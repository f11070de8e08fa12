"""A sweep with real kernels, of which processes are killed: nothing is lost or computed twice."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter

import pandas as pd
import pytest

from .helpers import PROP, SPEEDBOOK, start
from .test_interrupt import alive, wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="signals need POSIX"),
]
POINTS = 20
PARAMETERS = (
    "a: int = 1  # a number [1 .. 99]\nb: float = 0.5  # another [0 .. 9]\n"
    "seed: int = 7  # of the run [0 ..]"
)
#: Notes that a point is computed, and by which processes.
NOTE = (
    "import os, signal, time\n"
    "with open('../../log', 'a') as log:\n"
    "    _ = log.write(f'{a} {b} {os.getpid()} {os.getppid()}\\n')\n"
    "times = open('../../log').read().split('\\n')\n"
    "times = sum(line.startswith(f'{a} {b} ') for line in times)"
)
#: Random numbers and a figure, as notebooks have them, without the time that matplotlib takes.
RESULT = (
    "import random\nfrom speedbook import record\n"
    "noise = random.Random(seed).random()\n"
    "record('prop-1', a * b + noise / 10, (a * b, a * b + 0.1), level=0.999, seed=seed)"
)
GRID = ("prop-1", "-p", "a=1,2,3,4,5", "-p", "b=0.25:1.0:4", "--out", "s")


@pytest.fixture
def book(tiny_book, tiny_notebook):
    def make(*cells):
        tiny_book.notebook(PROP, tiny_notebook(NOTE, *cells, RESULT, parameters=PARAMETERS))
        return tiny_book

    return make


def computed(book) -> Counter:
    """Return how many times each point was begun."""
    log = book.root / "log"
    lines = log.read_text().splitlines() if log.is_file() else []
    return Counter(tuple(line.split()[:2]) for line in lines)


def finished(book) -> dict:
    """Return the bytes of every file of finished runs, and the values of the points."""
    manifests = [
        path
        for path in book.root.glob("s/prop-1/[0-9]*/manifest.json")
        if not path.parent.name.endswith("-failed")
    ]
    files = {
        path: path.read_bytes()
        for manifest in manifests
        for path in manifest.parent.rglob("*")
        if path.is_file()
    }
    values = [json.loads(path.read_text())["parameters"] for path in manifests]
    return {"files": files, "points": {(str(v["a"]), str(v["b"])) for v in values}}


def end_of(process, seconds=600):
    said, _ = process.communicate(timeout=seconds)
    assert "Traceback" not in said, said
    return process.returncode, said


def sweep(book, *arguments, code=0):
    ended, said = end_of(start(book.root, *SPEEDBOOK, "sweep", *arguments))
    assert ended == code, said
    return said


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_command_continues_without_computing_finished_points_again(book, kill):
    book = book()
    process = start(book.root, *SPEEDBOOK, "sweep", *GRID)
    try:
        assert wait_until(lambda: len(finished(book)["points"]) >= 5, 300)
        # Ctrl-C reaches the whole group, SIGKILL the command alone.
        os.killpg(process.pid, kill) if kill == signal.SIGINT else process.kill()
        code, said = end_of(process)
        assert code == (-kill if kill == signal.SIGKILL else 130)
        if kill == signal.SIGINT:
            assert "finished points are kept, and the same command continues" in said
        assert wait_until(lambda: not alive(-process.pid), 30), "a process outlived the command"
    finally:
        if alive(-process.pid):
            os.killpg(process.pid, signal.SIGKILL)
    kept, begun = finished(book), computed(book)
    assert 5 <= len(kept["points"]) < POINTS
    said = sweep(book, *GRID)
    assert f"of which {len(kept['points'])} are finished" in said
    assert ("An earlier command was killed" in said) == (kill == signal.SIGKILL)
    after = finished(book)
    assert {path: after["files"].get(path) for path in kept["files"]} == kept["files"]
    now = computed(book)
    assert all(now[point] == begun[point] for point in kept["points"])
    assert len(after["points"]) == POINTS
    assert not list(book.root.glob("s/prop-1/.*")) and not list(book.root.rglob("*.part"))
    table = pd.read_csv(book.root / "s/sweep.csv")
    assert list(table[table.field == "status"].text) == ["finished"] * POINTS


@pytest.mark.parametrize("victim", ["os.getppid()", "os.getpid()"])
def test_a_killed_worker_or_kernel_costs_one_more_attempt_of_its_point(book, victim):
    kill = f"os.kill({victim}, signal.SIGKILL); time.sleep(60)"
    book = book(f"if a == 2 and times == 1 or a == 3: {kill}")
    said = sweep(book, "prop-1", "-p", "a=1,2,3,4", "--out", "s", code=3)
    assert computed(book) == {("1", "0.5"): 1, ("2", "0.5"): 2, ("3", "0.5"): 2, ("4", "0.5"): 1}
    assert finished(book)["points"] == {("1", "0.5"), ("2", "0.5"), ("4", "0.5")}
    assert "1 point of 4 failed" in said
    assert "a=3: " in said and ("killed 2 times" in said or "the kernel died" in said)


def numbers(book, folder="s"):
    """Return all of the joined table but times and folders."""
    table = pd.read_csv(book.root / folder / "sweep.csv", dtype=str, keep_default_na=False)
    return table[~table.field.isin(["seconds", "folder"])].to_csv(index=False)


DRAWN = (
    "import matplotlib.pyplot as plt\nfrom speedbook import figures\n"
    "fig, ax = plt.subplots(figsize=(3, 2))\n"
    "_ = ax.plot([1, 2, 3], [a, b, a * b / 3], label='line')\n"
    "figures.show(fig, name='line', alt='A line.')"
)


def test_one_process_two_and_a_cluster_give_identical_numbers(book):
    distributed = pytest.importorskip("distributed")
    book = book(DRAWN)
    grid = ("prop-1", "-p", "a=1,2", "-p", "b=0.25,0.5")
    sweep(book, *grid, "--out", "s", "--jobs", "1")
    sweep(book, *grid, "--out", "two", "--jobs", "2")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        said = sweep(book, *grid, "--out", "dask", "--scheduler", cluster.scheduler_address)
    assert "2 workers with room for 2 at a time" in said
    assert numbers(book) == numbers(book, "two") == numbers(book, "dask")
    plotted = pd.read_csv(book.root / "s/sweep.csv").query("kind == 'figure'")
    mine = plotted[plotted.point == 4].pivot(index="row", columns="field", values="number")
    assert mine.to_dict("list") == {"x": [1, 2, 3], "y": [2, 0.5, 2 * 0.5 / 3]}
    assert set(plotted.series) == {"line"} and set(plotted.drawn) == {"line"}
    page = (book.root / "dask/sweep.html").read_text()
    # A picture of the claim, and the small ones of the four runs.
    assert page.count("data:image/png;base64,") == 5


def test_a_cluster_loses_a_program_and_a_worker(book):
    distributed = pytest.importorskip("distributed")
    # The kernel's parent is the program of the point, whose parent is the worker of Dask.
    grandparent = "int(open(f'/proc/{os.getppid()}/stat').read().split()[3])"
    if not os.path.isdir("/proc/self"):
        pytest.skip("finds the worker in /proc")
    kill = "os.kill({}, signal.SIGKILL); time.sleep(60)".format
    book = book(
        f"if a == 2 and times == 1: {kill('os.getppid()')}",
        f"if a == 3 and times == 1: {kill(grandparent)}",
    )
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        grid = ("prop-1", "-p", "a=1,2,3,4", "--out", "s")
        sweep(book, *grid, "--scheduler", cluster.scheduler_address)
    begun = computed(book)
    assert (begun["2", "0.5"], begun["3", "0.5"]) == (2, 2)
    assert len(finished(book)["points"]) == 4
    sweep(book, *grid)
    assert computed(book) == begun


def test_a_cluster_that_cannot_do_it_is_refused_before_anything_runs(book):
    distributed = pytest.importorskip("distributed")
    book = book()
    grid = ("prop-1", "-p", "a=1,2", "--out", "s", "--scheduler")
    said = sweep(book, *grid, "tcp://127.0.0.1:9", code=2)
    assert "there is no Dask scheduler at tcp://127.0.0.1:9" in said
    with distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster:
        assert "has no worker" in sweep(book, *grid, cluster.scheduler_address, code=2)
    assert computed(book) == {}
