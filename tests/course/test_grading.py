"""What grading finds and says, and the command around it."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import sqlite3
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_output

from speedbook.notebook.files import code_cells, to_notebook
from tools.course import __main__ as course
from tools.course.feedback import FAILED, LEFT_OUT, HideTests, name_parts, offline
from tools.course.grade import (
    CONFIG,
    ORIGIN,
    SETTINGS,
    Limits,
    Row,
    full_score,
    missing_cells,
    table,
    write_tables,
)
from tools.course.hand_ins import hand_ins

from . import tiny

ROOT = Path(__file__).resolve().parents[2]
GOOD = {
    "double": "def double(value):\n    return 2 * value",
    "count": "answer = len(student) + 1000",
    "why": "Because it is.",
}
#: What each student changes of it.
SUBMITTED = {
    "right": {},
    "wrong": {"double": "def double(value):\n    return 3 * value"},
    "same": {
        "double": "def double(value):\n    return value",
        "count": "import os\nanswer = 2000\nprint(os.environ)",
    },
    "crashing": {"count": "import os\nos._exit(1)"},
    "endless": {"double": "def double(value):\n    while True:\n        pass"},
    "hungry": {"count": "import numpy\nanswer = sum(map(sum, [numpy.ones(10**9)] * 9))"},
    "curious": {"count": "answer = 2000\nprint(In[3])\n%history"},
}


# Pages that students get back.


def test_an_error_in_a_hidden_test_shows_neither_its_line_nor_a_number() -> None:
    notebook = tiny.hand_in()
    test = code_cells(notebook)[2]
    test.execution_count = 7

    def failing(line: int, message: str) -> str:
        raised = f"---\nAssertionError\nCell In[7], line {line}\n----> {line} {tiny.HIDDEN}"
        test.source = tiny.TEST
        test.outputs = [
            new_output("error", ename="AssertionError", evalue=message, traceback=[raised]),
            new_output("stream", text=repr(tiny.TEST)),
        ]
        HideTests().preprocess(notebook, {})
        assert "HIDDEN" not in test.source and "42" not in str(test)
        assert test.source.startswith("assert double(1) != 1")
        assert test.outputs[1].text.strip() == LEFT_OUT
        return test.outputs[0].traceback[0]

    assert failing(1, "It is the number itself.") == "AssertionError: It is the number itself."
    assert failing(4, "Not what it should be.") == "Hidden test: Not what it should be."
    assert failing(4, "It should be 42.") == f"Hidden test: {FAILED}"
    assert failing(4, "") == f"Hidden test: {FAILED}"


def loaded(page: str) -> list[str]:
    """Return what a page loads or runs."""
    soup = BeautifulSoup(page, "html.parser")
    found = [str(each) for each in soup.find_all(["script", "link", "iframe", "object", "embed"])]
    for each in soup.find_all(True):
        found += [
            f"{name}={value}"
            for name, value in each.attrs.items()
            if (name in ("src", "srcset", "data", "poster") or name.startswith("on"))
            and not str(value).startswith("data:")
        ]
    found += re.findall(r"@import|url\((?!['\"]?data:)", page)
    return found


def test_a_page_loads_nothing_whatever_a_submission_shows() -> None:
    page = offline(
        "<html><head><script src='https://a/mathjax.js'></script><link href='//b/c.css'>"
        "<style>@import 'x.css'; a {background: url(https://d/e.png)} @font-face {src: url(f.woff)}"
        "</style></head><body onload='x()'><img src='http://g/h.png' alt='a plot'>"
        "<img src='data:image/png;base64,AAAA'>"
        "<p style='background:url(//i)'>$a_1 < b$ costs 5$</p>"
        "<svg><image xlink:href='http://j'/></svg><pre>$x$</pre></body></html>"
    )
    assert loaded(page) == [] and "default-src 'none'" in page
    assert "<msub>" in page and "[picture: a plot]" in page and "<pre>$x$</pre>" in page
    assert "data:image/png" in page and "costs 5$" in page


# Grading.


def released_test(packed: Path) -> str:
    (source,) = (
        cell.source
        for cell in tiny.released(packed).cells
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "test-count"
    )
    return source


@pytest.fixture(scope="module")
def graded(packed: Path, sources: Path) -> Path:
    """Grade one submission of each kind, with others that cannot be matched."""
    inbox, target = sources.parent / "in box", sources.parent / "out box"
    for name, changes in SUBMITTED.items():
        text = tiny.answered(tiny.released(packed), GOOD | changes, student=name)
        tiny.box(inbox, **{f"{name}/{tiny.NAME}.ipynb": text})
    unchecked = to_notebook(
        json.loads(tiny.answered(tiny.released(packed), GOOD, student="unchecked"))
    )
    unchecked.cells = [cell for cell in unchecked.cells if cell.source != released_test(packed)]
    tiny.box(inbox, **{f"unchecked/{tiny.NAME}.ipynb": tiny.serialise(unchecked), "notes.txt": ""})
    limits = ["--seconds", "6", "--megabytes", "3000"]
    arguments = ["grade", str(inbox), "--out", str(target), *limits]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("A_SECRET", "xyzzy")
        assert course.main(["--notebooks", str(sources), *arguments]) == course.ODD
    return target


def rows(graded: Path) -> dict[str, dict[str, str]]:
    text = (graded / "summary.csv").read_text(encoding="utf-8")
    return {row["student"]: row for row in csv.DictReader(text.splitlines())}


def pages(graded: Path) -> dict[str, str]:
    return {
        name: (graded / row["feedback"]).read_text(encoding="utf-8")
        for name, row in rows(graded).items()
        if row["feedback"]
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "score", "status", "note"),
    [
        ("right", 5, "graded", ""),
        ("wrong", 3, "graded", ""),
        ("same", 3, "graded", ""),
        ("crashing", 2, "kernel died", "count ended its kernel; the cells after it did not run"),
        ("endless", 3, "time limit", "test-double took longer than its time and was interrupted"),
        ("hungry", 2, "graded", "count needed too much memory"),
        ("curious", 5, "graded", ""),
    ],
)
def test_each_submission_gets_what_it_deserves(
    graded: Path, name: str, score: float, status: str, note: str
) -> None:
    row = rows(graded)[name]
    assert (float(row["score"]), float(row["max_score"])) == (score, 9)
    assert (row["status"], row["notes"], row["to_mark"]) == (status, note, "1")


@pytest.mark.slow
def test_the_summary_names_what_was_not_matched_and_which_check_is_missing(graded: Path) -> None:
    row = rows(graded)["notes"]
    assert (row["status"], row["file"], row["hand_in"]) == ("not matched", "notes.txt", "")
    assert row["notes"] == "is neither a folder nor a .zip nor a .ipynb"
    row = rows(graded)["unchecked"]
    assert (row["status"], row["notes"]) == ("graded", "a check is missing: test-count")
    assert float(row["score"]) == 2


@pytest.mark.slow
def test_every_student_gets_a_page_that_is_complete_and_needs_no_network(graded: Path) -> None:
    assert set(pages(graded)) == {*SUBMITTED, "unchecked"}
    for name, page in pages(graded).items():
        assert loaded(page) == [], name
        if name == "unchecked":
            continue
        text = BeautifulSoup(page, "html.parser").get_text()
        for mark in ("Doubling", "test-double", "test-count", "Because it is.", "Score:"):
            assert mark in text, (name, mark)
        assert "<math" in page
        assert str(ROOT) not in page and "xyzzy" not in page


@pytest.mark.slow
def test_no_page_shows_a_hidden_test(graded: Path) -> None:
    for name, page in pages(graded).items():
        assert "HIDDEN TESTS" not in page, name
        assert "the_right_answer" not in page and "fails for 21" not in page, name
    assert LEFT_OUT in pages(graded)["curious"]
    assert FAILED in pages(graded)["wrong"] and FAILED not in pages(graded)["same"]
    assert "This is the number itself" in pages(graded)["same"]


@pytest.mark.slow
def test_marks_given_by_hand_come_into_the_summary(graded: Path, tmp_path: Path) -> None:
    graded = Path(shutil.copytree(graded, tmp_path / "a copy"))
    with sqlite3.connect(graded / "gradebook.db") as database:
        database.execute(
            "UPDATE grade SET manual_score = 3.5, needs_manual_grade = 0 WHERE id IN "
            "(SELECT grade.id FROM grade JOIN base_cell ON cell_id = base_cell.id "
            "WHERE name = 'why')"
        )
    database.close()
    assert float(rows(graded)["right"]["max_score"]) == full_score(tiny.assignment())
    assert "Not marked yet, out of 4.0" in pages(graded)["right"]
    assert "1 answer is not marked yet" in pages(graded)["right"]
    assert course.main(["feedback", "--out", str(graded)]) == course.ODD
    assert float(rows(graded)["right"]["score"]) == 8.5
    assert "marked yet" not in pages(graded)["right"]
    assert rows(graded)["crashing"]["status"] == "kernel died"
    assert rows(graded)["notes"]["status"] == "not matched"
    assert rows(graded)["unchecked"]["notes"] == "a check is missing: test-count"
    assert loaded(pages(graded)["right"]) == [] and "3.5 / 4.0" in pages(graded)["right"]
    assert "the_right_answer" not in pages(graded)["wrong"]


def test_a_table_has_a_row_for_what_was_not_handed_in(tmp_path: Path) -> None:
    missing = Row("=SUM(A1)", "hand-in-2", max_score=8)
    assert "not handed in" in table([missing])
    summary, _ = write_tables([missing], tmp_path)
    assert "'=SUM(A1)," in summary.read_text(encoding="utf-8")
    (row,) = csv.DictReader(io.StringIO(summary.read_text(encoding="utf-8")))
    assert (row["score"], row["max_score"]) == ("0.0", "8")


def test_a_page_lists_tasks_and_what_waits_for_a_mark(tmp_path: Path) -> None:
    notebook = hand_ins(ROOT / "notebooks/class", {})["hand-in-4"].notebook
    page = tmp_path / "page.html"
    page.write_text(
        '<div class="panel-heading"><h4>hand-in-4 (Score: 2.0 / 25.0)</h4><div id="toc"><ol>'
        '<li><a href="#comment-answer-judgement">Comment</a></li>'
        '<li><a href="#answer-judgement">Coding free-response</a> (Score: 0.0 / 1.0)</li>'
        '<li><a href="#check-judgement">Test cell</a> (Score: 1.0 / 1.0)</li></ol></div></div>'
        '<a name="answer-judgement"></a><span class="pull-right">Score: 0.0 / 1.0</span>',
        encoding="utf-8",
    )
    name_parts(page, notebook, ["answer-judgement"])
    text = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser").get_text(" ")
    assert " ".join(text.split()) == (
        "hand-in-4 (Score so far: 2.0 / 25.0; 1 answer is not marked yet) Task 20: comment "
        "Task 20: answer (Not marked yet, out of 1.0) Task 20: tests (Score: 1.0 / 1.0) "
        "Not marked yet, out of 1.0"
    )


def test_a_missing_check_is_named_by_its_task() -> None:
    notebook = hand_ins(ROOT / "notebooks/class", {})["hand-in-1"].notebook
    submitted = to_notebook(json.loads(tiny.serialise(notebook)))
    assert missing_cells(notebook, submitted) == []
    submitted.cells = [
        cell
        for cell in submitted.cells
        if cell.metadata.get("nbgrader", {}).get("grade_id") not in ("check-mse", "answer-mse")
    ]
    assert missing_cells(notebook, submitted) == ["a check is missing: task 3"]


def test_the_last_line_says_what_the_exit_code_means(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done, absent = Row("Ada", "hand-in-1", "graded", 3, 4), Row("Ada", "hand-in-2")
    assert course.report([done, absent], tmp_path, Limits()) == course.GRADED
    said = capsys.readouterr().out
    assert said.splitlines()[-1] == "Grading ran to its end."
    assert "Nobody handed in: hand-in-2." in said and "not handed in" not in said
    assert "hand-in-2,0.0" in (tmp_path / "summary.csv").read_text(encoding="utf-8")
    late = Row("Ben", "hand-in-2", "time limit", notes=["x took longer than its time"])
    lost = Row("c", "", "not matched", notes=["is not a notebook"])
    assert course.report([done, absent, late, lost], tmp_path, Limits()) == course.ODD
    said = capsys.readouterr().out
    assert "Nobody handed in" not in said and said.count("not handed in") == 1
    assert "60 seconds for each cell, 900 for each notebook" in said
    assert 'GRADE="--seconds 120 --total 1800"' in said
    last = said.splitlines()[-1]
    assert last.startswith("Grading ran to its end. Exit code 1, which make calls an error")
    assert last.endswith("needs your attention: 1 time limit, 1 not matched.")


# The command.


@pytest.mark.parametrize("folder", ["", "no-such-folder"])
def test_a_folder_that_is_none_is_wrong_usage(
    folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert course.main(["grade", folder]) == course.USAGE
    assert f"got {folder!r}. For example: make grade DIR=submissions" in capsys.readouterr().err


@pytest.mark.slow
def test_who_grades_is_warned_and_an_empty_folder_fails(
    tmp_path: Path, sources: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").mkdir()
    asked = ["grade", str(tmp_path / "in"), "--out", str(tmp_path / "out")]
    assert course.main(["--notebooks", str(sources), *asked]) == course.FAILED
    said = capsys.readouterr().err
    assert "without a sandbox" in said and "has no submission" in said
    assert course.main(["--notebooks", str(tmp_path), *asked]) == course.FAILED
    assert "has no hand-in-*.ipynb" in capsys.readouterr().err


def test_no_folder_of_somebody_else_is_removed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inbox, out = tiny.box(tmp_path, **{"in/a.txt": "", "out/mine.txt": ""}) / "in", tmp_path / "out"
    assert course.main(["grade", str(inbox), "--out", str(out)]) == course.USAGE
    assert "is no folder of an earlier make grade" in capsys.readouterr().err
    for folder in (tmp_path, inbox, inbox / "deeper"):
        assert course.main(["grade", str(inbox), "--out", str(folder)]) == course.USAGE
        assert "one must not be inside of the other" in capsys.readouterr().err
    assert (out / "mine.txt").exists() and (inbox / "a.txt").exists()


def test_results_of_another_folder_are_not_removed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second, out = (tmp_path / name for name in ("first", "second", "out"))
    old = {SETTINGS: CONFIG, ORIGIN: f"{first}\n", "summary.csv": "kept"}
    tiny.box(tmp_path, **{f"out/{name}": text for name, text in old.items()})
    for folder in (first, second):
        folder.mkdir()
    asked = ["grade", str(second), "--out", str(out)]
    assert course.main(asked) == course.USAGE
    said = capsys.readouterr().err
    assert f"holds the results of another folder ({first})" in said
    assert 'GRADE="--out FOLDER"' in said and 'GRADE="--replace"' in said
    # These are not refused, but have no submission; what there is stays until there is one.
    assert course.main([*asked, "--replace"]) == course.FAILED
    assert course.main(["grade", str(first), "--out", str(out)]) == course.FAILED
    assert "holds the results" not in capsys.readouterr().err
    (out / ORIGIN).unlink()
    assert course.main(["grade", str(first), "--out", str(out)]) == course.USAGE
    assert "another folder (unknown)" in capsys.readouterr().err
    assert (out / "summary.csv").read_text(encoding="utf-8") == "kept"


def test_the_help_names_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        course.main(["--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert "Exit codes: 0 done; 1 graded, but" in said and "130 interrupted" in said
    with pytest.raises(SystemExit):
        course.main(["grade", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert "Exit codes: 0 graded; 1 graded as well" in said and "also code 1" in said
