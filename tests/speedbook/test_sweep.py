"""A sweep without kernels: what is kept and what is run again, the table, and how it ends."""

from __future__ import annotations

import errno
import json
import re

import nbformat
import pandas as pd
import pytest
from typer.testing import CliRunner

from speedbook.commands import sweep as command
from speedbook.commands.app import app
from speedbook.run.sweep import read_plan

from .helpers import FIG, PROP, ROOT, edit

pytestmark = pytest.mark.slow

PARAMETERS = (
    "n_actions: int = 3  # number of actions [1 .. 99]\n"
    "high_variance: float = 0.5  # a variance [0 .. 9]\n"
    "point: str = 'a'  # a text\n"
    "sizes: list[int] = [1]  # sizes\n"
    "seed: int = 7  # of the run [0 ..]"
)
#: Says what the notebook computes, also to the tests' stand-in for kernels.
FORMULA = "n_actions * high_variance"


def record_of(values):
    estimate = values["n_actions"] * values["high_variance"]
    verdict = "supported" if abs(estimate - 1) <= 0.1 else "contradicted"
    return {
        **{"id": "prop-1", "verdict": verdict, "estimate": estimate},
        **{"interval": [estimate - 0.01, estimate + 0.01], "level": 0.999, "seed": 7},
        **{"replications": None, "details": {"exact": True, "word": "w", "parts": [1, [2.5]]}},
    }


@pytest.fixture
def swept(tiny_book, tiny_notebook, no_kernels, monkeypatch):
    """A book whose claim has parameters; notebooks run in this process, without kernels."""
    names = re.findall(r"^(\w+):", PARAMETERS, re.M)
    notebook = tiny_notebook(f"print({', '.join(names)})", parameters=PARAMETERS)
    tiny_book.notebook(PROP, notebook)
    defaults = {"n_actions": 3, "high_variance": 0.5}

    def fill(job, notebook):
        # A point with the value 13 always fails; 17 fails as if its kernel had been killed.
        values = {**defaults, **job.parameters}
        mark = {"speedbook": {"claim": record_of(values)}}
        output = nbformat.v4.new_output("display_data", {"text/plain": "card"}, metadata=mark)
        notebook.cells[-1].outputs = [output]

    no_kernels.fill = fill

    def execute_here(jobs, *rest):
        for end in no_kernels(jobs, 1, {}, None):
            n = end.job.parameters.get("n_actions")
            failure = {13: "cell 3: no good", 17: "cell 3: the kernel died"}.get(n, "")
            yield type(end)(end.job, end.seconds, failure, died=n == 17)

    def each(function, tasks, *rest, **more):
        return ((task, function(task)) for task in tasks)

    monkeypatch.setattr("speedbook.commands.point.execute_here", execute_here)
    monkeypatch.setattr(command, "each", each)
    monkeypatch.chdir(tiny_book.root)
    tiny_book.jobs = no_kernels.jobs
    return tiny_book


def sweep(*arguments, code=0):
    result = CliRunner().invoke(app, ["sweep", *map(str, arguments)])
    assert result.exit_code == code, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return str(result.output)


def ran(book):
    """Return the numbers of actions that ran since the last time."""
    numbers = [job.parameters["n_actions"] for job in book.jobs]
    book.jobs.clear()
    return numbers


def values_of(code, space):
    """Run lines of the book on the folder ``s`` and the claim here; return what they show."""
    shown = []
    for line in code.replace("<folder>", "s").replace("fig-ub", "prop-1").splitlines():
        try:
            shown.append(eval(line, space))
        except SyntaxError:
            exec(line, space)
    return shown


GRID = ("prop-1", "-p", "n_actions=2,4", "-p", "high_variance=0.25:0.5:2", "--out", "s")


def test_the_three_lines_of_the_book_show_the_verdict_over_two_parameters(swept):
    said = sweep(*GRID)
    assert "4 points of notebooks/claims/prop-1.ipynb" in said
    first, second = re.findall(r"```python\n(.*?)```", (ROOT / "book/sweep.md").read_text(), re.S)
    assert len(list(filter(None, first.splitlines()))) == 3
    space = {}
    (verdicts,), (numbers, _) = values_of(first, space), values_of(second, space)
    assert verdicts.to_dict() == {
        0.25: {2: "contradicted", 4: "supported"},
        0.5: {2: "supported", 4: "contradicted"},
    }
    found = numbers.loc[(4, "prop-1"), ["low", "estimate", "high"]]
    assert list(found) == [1.99, 2.0, 2.01]


def test_the_table_holds_parameters_records_and_status(swept):
    sweep(
        "prop-1", "-p", "n_actions=2,13", "-p", "point=b", "-p", "sizes=[1,2]", "--out", "s", code=3
    )
    table = pd.read_csv("s/sweep.csv", keep_default_na=False, dtype=str)
    assert list(table.columns) == [
        *("point", "n_actions", "point_", "sizes", "kind", "name", "row", "axes", "drawn"),
        *("series", "item", "field", "number", "text"),
    ]
    good = table[table.point == "1"]
    assert set(zip(good.n_actions, good.point_, good.sizes, strict=True)) == {("2", "b", "[1, 2]")}
    found = {
        (r.kind, r.name_, r.field): r.number or r.text
        for r in good.rename(columns={"name": "name_"}).itertuples()
    }
    assert found["run", "", "status"] == "finished"
    assert found["parameter", "seed", "value"] == "7"
    assert found["parameter", "high_variance", "value"] == "0.5"
    assert ("parameter", "n_actions", "value") not in found
    record = {field: value for (kind, name, field), value in found.items() if kind == "record"}
    assert record == {
        **{"verdict": "supported", "estimate": "1.0", "low": "0.99", "high": "1.01"},
        **{"level": "0.999", "seed": "7", "details.exact": "True", "details.word": "w"},
        **{"details.parts.0": "1", "details.parts.1.0": "2.5"},
    }
    bad = table[table.point == "2"]
    status, failure = bad[bad.kind == "run"].text
    assert status == "failed" and "no good" in failure
    assert not (bad.kind == "record").any()


def test_each_point_is_an_ordinary_run_folder_to_which_the_page_leads(swept):
    sweep(*GRID)
    page = (swept.root / "s/sweep.html").read_text()
    folders = sorted(swept.root.glob("s/prop-1/*"))
    assert len(folders) == 4
    for folder in folders:
        assert (folder / "manifest.json").is_file()
        assert f'href="prop-1/{folder.name}/prop-1.html"' in page
    assert 'src="data:image/png;base64,' in page
    assert not re.search(r'(src|href)="https?:', page)
    ends = "from 0.5 (n_actions 2, high_variance 0.25) to 2.0 (n_actions 4, high_variance 0.5)"
    assert ends in page and "supported (2)" in page and "contradicted (2)" in page


def test_finished_points_are_kept_and_new_ones_run(swept):
    sweep(*GRID)
    assert ran(swept) == [2, 2, 4, 4]
    before = {path: path.stat().st_mtime_ns for path in swept.root.glob("s/prop-1/**/*")}
    assert "of which 4 are finished" in sweep(*GRID)
    sweep("--resume", "s")
    assert ran(swept) == []
    # In the same folder: another grid that has points in common.
    sweep("prop-1", "-p", "n_actions=4,5", "-p", "high_variance=0.5", "--out", "s")
    assert ran(swept) == [5]
    after = {path: path.stat().st_mtime_ns for path in before}
    assert after == before


def test_the_same_command_finds_its_folder_by_itself(swept):
    arguments = ("prop-1", "-p", "n_actions=2,4")
    sweep(*arguments)
    sweep(*arguments)
    assert ran(swept) == [2, 4]
    (folder,) = swept.root.glob("runs/sweeps/prop-1-*")
    sweep("prop-1", "-p", "n_actions=2,5")
    assert len(list(swept.root.glob("runs/sweeps/prop-1-*"))) == 2
    assert len(read_plan(folder).points) == 2


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "prop-1.html").write_text(""),
        lambda folder: (folder / "prop-1.ipynb").unlink(),
        lambda folder: (folder / "manifest.json").write_text(""),
        lambda folder: (folder / "manifest.json").write_text("{"),
    ],
)
def test_a_damaged_point_runs_again(swept, damage):
    sweep(*GRID)
    ran(swept)
    (folder,) = [
        path.parent
        for path in swept.root.glob("s/prop-1/*/manifest.json")
        if json.loads(path.read_text())["parameters"]["n_actions"] == 4
        and json.loads(path.read_text())["parameters"]["high_variance"] == 0.5
    ]
    damage(folder)
    sweep(*GRID)
    assert ran(swept) == [4]


def test_a_failed_point_stops_no_other_and_is_tried_by_the_next_command(swept):
    grid = ("prop-1", "-p", "n_actions=13,2,17", "--out", "s")
    said = sweep(*grid, code=3)
    # A point whose kernel died is tried once more, another one is not.
    assert ran(swept) == [13, 2, 17, 17]
    assert "n_actions=13: notebooks/claims/prop-1.ipynb: cell 3: no good" in said
    assert "2 points of 3 failed" in said
    assert len(list(swept.root.glob("s/prop-1/*-failed"))) == 3
    page = (swept.root / "s/sweep.html").read_text()
    assert "no good" in page and "the kernel died" in page
    sweep(*grid, code=3)
    assert ran(swept) == [13, 17, 17]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda root: edit(root / PROP, "print(", "print(1, "), "the notebook's code"),
        (
            lambda root: (root / "speedlib/__init__.py").write_text("ANSWER = 2\n"),
            "the code of spee",
        ),
        (lambda root: (root / "data/set.csv").write_text("a,b\n"), "the data"),
        (
            lambda root: edit(root / "book/claims.yml", "tolerance: 0.1", "tolerance: 0.2"),
            "the notebook's rules in book/claims.yml",
        ),
    ],
)
def test_points_of_other_code_are_never_mixed(swept, change, named):
    sweep(*GRID)
    ran(swept)
    change(swept.root)
    for arguments in (GRID, ("--resume", "s")):
        said = sweep(*arguments, code=2)
        assert named in said and "--recompute" in said and "--out DIR" in said
    assert ran(swept) == []
    old = {
        json.loads(p.read_text())["started"] for p in swept.root.glob("s/prop-1/*/manifest.json")
    }
    while command._now() in old:
        pass
    sweep(*GRID, "--recompute")
    assert ran(swept) == [2, 2, 4, 4]
    sweep(*GRID)
    assert ran(swept) == []
    table = pd.read_csv("s/sweep.csv")
    assert (table.field == "status").sum() == 4


def test_a_change_while_it_runs_is_noticed(swept, monkeypatch):
    original = command.each

    def each(function, tasks, *rest, **more):
        for place, ended in enumerate(original(function, tasks)):
            yield ended
            if place == 1:
                edit(swept.root / PROP, "print(", "print(1, ")

    monkeypatch.setattr(command, "each", each)
    said = sweep(*GRID, code=3)
    assert "changed while the sweep ran" in said
    assert "While the sweep ran, the notebook's code changed." in said
    table = pd.read_csv("s/sweep.csv")
    assert list(table[table.field == "status"].text) == ["finished", "finished", "failed", "failed"]


def test_a_file_that_a_parameter_names_must_be_unchanged(swept):
    (swept.root / "mine.csv").write_text("1")
    arguments = ("prop-1", "-p", "n_actions=2,4", "-p", "point=mine.csv", "--out", "s")
    sweep(*arguments)
    sweep(*arguments)
    assert ran(swept) == [2, 4]
    (swept.root / "mine.csv").write_text("2")
    sweep(*arguments)
    assert ran(swept) == [2, 4]


def test_a_dry_run_shows_points_and_time_and_runs_nothing(swept):
    before = swept.snapshot()
    said = sweep(*GRID, "--dry-run")
    assert "1  n_actions=2, high_variance=0.25\n" in said
    assert "how long a point takes is unknown" in said
    assert ran(swept) == [] and swept.snapshot() == before
    swept.write(f"_build/cache/{PROP}/key.json", json.dumps({"seconds": 90.0}))
    assert (
        "about 3.0 minutes on 2 processes, judging by earlier runs of 90 seconds, perhaps"
        in sweep(*GRID, "--dry-run")
    )
    assert "about 90 seconds on 4 processes" in sweep(*GRID, "--dry-run", "--jobs", 9)
    sweep(*GRID)
    said = sweep(*GRID, "--dry-run")
    assert "4 points of notebooks/claims/prop-1.ipynb, of which 4 are finished." in said
    assert said.count("(finished)") == 4
    # Runs of another sweep give the time, too: here a tenth of a second.
    sweep("prop-1", "-p", "n_actions=7")
    said = sweep("prop-1", "-p", "n_actions=8", "--dry-run")
    assert "about 1 second on 1 process, judging by earlier runs of 1 second, perhaps" in said
    sweep("prop-1", "-p", "n_actions=9,13", code=3)
    said = sweep("prop-1", "-p", "n_actions=9,13", "--dry-run")
    assert "judging by finished points of 1 second" in said


def left_by_a_stop(swept, number, **given):
    """Make the folder of a point that was interrupted, as papermill leaves its notebook."""
    folder = swept.root / "s" / "prop-1" / f"20250101T00000{number}Z-0123abcd-interrupted"
    text = json.dumps({"metadata": {"papermill": {"parameters": given}}})
    return swept.write(folder / "prop-1.ipynb", text).parent


def test_a_sweep_deletes_what_was_left_of_its_points_once_all_of_them_are_finished(swept):
    sweep("prop-1", "-p", "n_actions=2,13", "--out", "s", code=3)
    again = left_by_a_stop(swept, 1, n_actions=2)
    other = left_by_a_stop(swept, 2, n_actions=3)
    sweep("prop-1", "-p", "n_actions=2,13", "--out", "s", code=3)
    assert again.is_dir() and other.is_dir()
    (swept.root / "s" / "sweep.json").unlink()
    sweep("prop-1", "-p", "n_actions=2", "--out", "s")
    assert not again.exists() and other.is_dir()


@pytest.mark.parametrize("command", ["rerun", "sweep"])
def test_a_value_without_its_sign_is_told_how_to_write_it(swept, command):
    said = CliRunner().invoke(app, [command, "prop-1", "-p", "n_actions", "2"])
    assert said.exit_code == 2
    assert "-p: must read name=value, in one argument; got 'n_actions' and '2'" in said.output


def test_points_come_from_a_table_too(swept):
    swept.write("points.csv", 'n_actions,sizes\n2,"1,2"\n4,[3]\n')
    sweep("prop-1", "--points", "points.csv", "-p", "high_variance=0.25,0.5", "--out", "s")
    assert ran(swept) == [2, 2, 4, 4]
    plan = read_plan(swept.root / "s")
    assert plan.swept == ("n_actions", "sizes", "high_variance")
    assert plan.points[0] == {"n_actions": 2, "sizes": [1, 2], "high_variance": 0.25}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), ["give a NOTEBOOK, or continue a sweep with --resume DIR; the book has:"]),
        (("none",), ["notebook none: the book has none of this name"]),
        (("prop-1",), ["give values with -p NAME=VALUES, or points with --points FILE"]),
        (
            ("prop-1", "-p", "n_actions=0,x", "-p", "z=1", "--points", "none.csv"),
            ["n_actions: must be", "n_actions: must be", "z: the notebook", "--points: none.csv"],
        ),
        (("prop-1", "-p", "n_actions=1:99:99", "-p", "seed=0:999:1000"), ["a sweep has at most"]),
        (("prop-1", "-p", "seed=1,2", "--jobs", "2", "--scheduler", "tcp://x"), ["--jobs and"]),
        (("prop-1", "-p", "seed=1,2", "--resume", "s"), ["--resume continues a sweep unchanged"]),
        (("--resume", "nowhere"), ["--resume: nowhere is not the folder of a sweep"]),
        (("--resume", "odd"), ["odd/sweep.json: is not the plan of a sweep"]),
        (("fig", "-p", "x=1,2", "--out", "other"), ["other: holds a sweep of notebooks/claims"]),
    ],
)
def test_wrong_usage_runs_nothing(swept, arguments, said):
    swept.write("odd/sweep.json", "{}")
    if "other" in arguments:
        sweep("prop-1", "-p", "n_actions=2,3", "--out", "other")
        ran(swept)
    before = sorted(swept.root.rglob("*"))
    lines = [line for line in sweep(*arguments, code=2).splitlines() if not line.startswith("  ")]
    assert len(lines) == len(said)
    for line, start in zip(lines, said, strict=True):
        assert line.startswith(f"speedbook: {start}")
    assert ran(swept) == [] and sorted(swept.root.rglob("*")) == before


def test_a_full_disk_ends_it_and_keeps_what_is_finished(swept, monkeypatch):
    from speedbook.commands import point

    original = point.run

    def run(request, *rest):
        if request.values["n_actions"] == 4:
            raise OSError(errno.ENOSPC, "No space left on device", "/there/file")
        return original(request, *rest)

    monkeypatch.setattr(point, "run", run)
    assert "/there/file: No space left on device" in sweep(*GRID, code=3)
    monkeypatch.setattr(point, "run", original)
    ran(swept)
    sweep(*GRID)
    assert ran(swept) == [4, 4]


def test_quiet_reports_failures_alone(swept):
    assert sweep(*GRID, "--quiet") == ""
    assert "13" in sweep("prop-1", "-p", "n_actions=13", "--quiet", code=3)


def test_a_notebook_without_records_or_parameters_that_differ_has_a_page(swept):
    sweep("fig", "-p", "x=4", "--out", "s")
    page = (swept.root / "s/sweep.html").read_text()
    assert "1 of 1 point finished" in page and "Records over" not in page
    assert FIG in page


def test_one_command_at_a_time_in_a_folder(swept):
    from speedbook.run.lock import only_one

    with only_one(swept.root / "s", "speedbook sweep", print, command.LOCK):
        assert "another command is at work in this folder" in sweep(*GRID, code=4)
    sweep(*GRID)


def test_the_shell_completes_notebooks(swept):
    assert {"--install-completion", "--show-completion"} <= set(
        CliRunner().invoke(app, ["--help"]).output.split()
    )
    typed = {"COMP_WORDS": "speedbook sweep pr", "COMP_CWORD": "2"}
    done = CliRunner().invoke(
        app, [], prog_name="speedbook", env={"_SPEEDBOOK_COMPLETE": "complete_bash", **typed}
    )
    assert done.output.split() == ["prop-1"]
