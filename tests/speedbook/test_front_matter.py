"""The template of a notebook's page, and where its results come from."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import speedbook.run.provenance
from speedbook.claims.ledger import built_ledger
from speedbook.notebook.files import code_cells, serialise, to_notebook, with_run_time
from speedbook.notebook.parameters import Parameter, read_parameters
from speedbook.press.front_matter import (
    another_value,
    as_page,
    page_problems,
    reading_minutes,
    rerun_command,
    time_text,
)
from speedbook.run.provenance import build_facts, data_digests, digest, git_state

FRONT = "*You will see* the\nanswer to `all`. *You need* [that](that.ipynb)."


def page(*cells, first=f"# Title\n\n{FRONT}\n\nMore.", parameters="n: int = 3  # a number"):
    cell = new_code_cell(parameters, metadata={"tags": ["parameters"]})
    return new_notebook(cells=[new_markdown_cell(first), cell, *cells])


# What a notebook says of itself


@pytest.mark.parametrize(
    ("first", "fault"),
    [
        (FRONT, "begin with the title"),
        ("## Title\n\n" + FRONT, "begin with the title"),
        ("# Title", "one paragraph `*You will see* … *You need* …`; it has 0"),
        ("# Title\n\n*You will see* it.", "it has 0"),
        ("# Title\n\n*You need* it. *You will see* it.", "it has 0"),
        ("# Title\n\nWell: *You will see* it. *You need* it.", "it has 0"),
        (f"# Title\n\n{FRONT}\n\n{FRONT}", "it has 2"),
        (f"# Title\n\n{FRONT} *Reading* takes an hour.", "must not say how long"),
        (f"# Title\n\n{FRONT} Ten minutes; *running* takes two.", "must not say how long"),
    ],
)
def test_what_a_page_lacks_is_named(first, fault):
    (problem,) = page_problems(page(first=first))
    assert fault in problem
    with pytest.raises(ValueError, match="its first cell"):
        as_page(page(first=first), "notebooks/a/b.ipynb", [])


def test_a_notebook_that_begins_with_code_or_nothing_has_no_title():
    for notebook in (new_notebook(), new_notebook(cells=[new_code_cell("# Title")])):
        assert "begin with the title" in page_problems(notebook)[0]


def test_the_box_stands_for_the_paragraph():
    notebook = page()
    assert page_problems(notebook) == []
    before = serialise(notebook)
    text = as_page(notebook, "notebooks/a/b.ipynb", ["prop-1", "unbiased"]).cells[0].source
    assert serialise(notebook) == before, "the notebook itself stays"
    title, box = text.split("\n\n", 1)
    assert title == "# Title"
    assert text.endswith("\n:::::\n\nMore.")
    for part in (
        "You will see\n: the answer to `all`.\n",
        "You need\n: [that](that.ipynb).\n",
        "Verdicts\n: - {claim-badge}`prop-1` {ledger}`prop-1.title`\n  - {claim-badge}`unbiased`",
        "Time\n: about 1 minute to read.\n",
        ".venv/bin/speedbook rerun b -p n=6\n",
        "See {doc}`how to run a page again </book/rerun>`.",
        "1 parameter: ",
    ):
        assert part in box
    assert "You will see*" not in text


@pytest.mark.parametrize(
    ("place", "names"),
    [
        ("Proposition 2, Appendix A.4; used for Theorem 1.", ["Proposition 2"]),
        ("Algorithm 1 and Equation (5), Section 4.1.", ["Algorithm 1", "Equation (5)"]),
        ("Figure 1a (Figure 1, top left); Section 5.", ["Figure 1a"]),
        ("the choice of Γ in Algorithm 1.", []),
    ],
)
def test_what_the_paper_calls_it_stands_small_below_the_title_and_can_be_searched(place, names):
    first = f"# Title\n\n*In the paper:* {place}\n\n{FRONT}"
    blocks = as_page(page(first=first), "notebooks/a/b.ipynb", []).cells[0].source.split("\n\n")
    entries = [f"```{{index}} ! {name}\n```" for name in names]
    assert blocks[: len(names) + 2] == [
        "# Title",
        *entries,
        f"{{.sb-place}}\n*In the paper:* {place}",
    ]


def test_a_page_without_claims_has_no_verdicts():
    assert "Verdicts" not in as_page(page(), "notebooks/a/b.ipynb", []).cells[0].source


def test_cells_of_parameters_are_not_shown():
    injected = new_code_cell("n = 4", metadata={"tags": ["injected-parameters"]})
    cells = code_cells(as_page(page(injected, new_code_cell("n")), "b.ipynb", []))
    assert ["remove-cell" in cell.metadata.get("tags", []) for cell in cells] == [True, True, False]


def test_a_place_to_link_to_stands_before_each_card():
    mark = {"speedbook": {"claim": {"id": "Prop-1"}}}
    output = new_output("display_data", {"text/plain": "card"}, metadata=mark)
    cell = new_code_cell("record()", outputs=[output])
    before, shown = as_page(page(cell), "b.ipynb", ["Prop-1"]).cells[-2:]
    assert (before.cell_type, before.source) == ("markdown", "(card-prop-1)=")
    assert shown.source == "record()"


# Times


def test_the_time_of_a_run_is_for_the_press_only():
    notebook = to_notebook(json.loads(with_run_time(page(), 22.2)))
    assert time_text(notebook) == "about 1 minute to read; it ran in 22 seconds for this book."
    assert "22.2" not in serialise(notebook)


def test_reading_takes_words_and_displays_in_view():
    words = "word " * 195
    text = page(new_markdown_cell(words), first="# Title")
    assert reading_minutes(text) == 1
    hidden = new_code_cell("word " * 999, metadata={"tags": ["hide-input"]})
    assert reading_minutes(page(new_markdown_cell(words), hidden, first="# Title")) == 1
    shown = new_code_cell("word " * 200)
    assert reading_minutes(page(new_markdown_cell(words), shown, first="# Title")) == 2
    formula = new_markdown_cell(words + "\n\n$$x = y$$\n")
    assert reading_minutes(page(formula, first="# Title")) == 2
    figure = new_code_cell("f", outputs=[new_output("display_data", {"image/png": ""})])
    assert reading_minutes(page(new_markdown_cell(words), figure, first="# Title")) == 2
    printed = new_code_cell("f", outputs=[new_output("stream", text="1\n")])
    assert reading_minutes(page(new_markdown_cell(words), printed, first="# Title")) == 1


def test_folded_solutions_are_not_read():
    start = "```{solution-start} ex-a\n:class: dropdown\n```\n\n"
    end = "```{solution-end}\n```\n\n"
    long = "word " * 150
    cells = [new_markdown_cell(f"{long}\n\n{start}{long}"), new_code_cell(long)]
    within = page(*cells, new_markdown_cell(long + "\n\n" + end), first="# Title")
    assert reading_minutes(within) == 1
    after = page(*cells, new_markdown_cell(end + long), first="# Title")
    assert reading_minutes(after) == 2
    twice = page(*cells, new_markdown_cell(end + start + long + "\n\n" + end), first="# Title")
    assert reading_minutes(twice) == 1
    assert reading_minutes(page(*cells, first="# Title")) == 1


# The command


@pytest.mark.parametrize(
    ("line", "argument"),
    [
        ("n: int = 5  # n [3 .. 50]", " -p n=10"),
        ("n: int = 40  # n [3 .. 50]", " -p n=20"),
        ("n: int = 0  # n", " -p n=1"),
        ("x: float = 0.05  # x", " -p x=0.1"),
        ("x: float = 0.0  # x", ""),
        ("x: float = 0.9  # x [0.8 .. 1]", ""),
        ("rule: str = 'b'  # rule [a | b | c]", " -p rule=c"),
        ("rule: str = 'c'  # rule [a | b | c]", " -p rule=a"),
        ("name: str = 'Jim'  # name", ""),
        ("yes: bool = True  # yes", " -p yes=False"),
        ("many: list[int] = [1, 2, 3]  # many", " -p many=1,2"),
        ("one: list[int] = [1]  # one", ""),
        ("names: list[str] = ['a b', 'c', 'd']  # names", " -p 'names=a b,c'"),
        ("s: str = 'x'  # s\nn: int = 2  # n", " -p n=4"),
    ],
)
def test_the_command_changes_the_first_parameter_that_it_can(line, argument):
    parameters, problems = read_parameters(line)
    assert problems == []
    command = rerun_command("notebooks/a/fig1a.ipynb", parameters)
    assert command == f".venv/bin/speedbook rerun fig1a{argument}"


values = st.one_of(
    st.integers(-100, 100), st.floats(-100, 100), st.booleans(), st.lists(st.integers(0, 9))
)


@given(values, st.floats(0, 50), st.floats(0, 50))
def test_another_value_keeps_the_rule_and_differs(default, below, above):
    bounds = {}
    if not isinstance(default, bool | list):
        bounds = {"low": default - below, "high": default + above}
    kind = "list[int]" if isinstance(default, list) else type(default).__name__
    parameter = Parameter("x", kind, default, "x", **bounds)
    value = another_value(parameter)
    if value is not None:
        assert parameter.check(value) == value
        assert value != default


# Where results come from


def git(folder, *arguments):
    who = ("-c", "user.name=A", "-c", "user.email=a@b")
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
def test_the_commit_is_that_of_the_folder_itself(tmp_path, monkeypatch):
    assert git_state(tmp_path) == {"commit": None, "changed": None}
    git(tmp_path, "init")
    assert git_state(tmp_path)["commit"] is None, "no commit yet"
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "a.txt").write_text("a")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "A")
    clean = git_state(tmp_path)
    assert len(clean["commit"]) == 40 and clean["changed"] is False
    # An archive that was unpacked in somebody's repository.
    assert git_state(tmp_path / "book") == {"commit": None, "changed": None}
    # A hook of another repository runs us.
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other"))
    assert git_state(tmp_path) == clean
    monkeypatch.delenv("GIT_DIR")
    (tmp_path / "book" / "a.txt").write_text("b")
    assert git_state(tmp_path) == {**clean, "changed": True}
    git(tmp_path, "checkout", ".")
    (tmp_path / "new.txt").write_text("new")
    assert git_state(tmp_path) == {**clean, "changed": True}


def test_without_git_there_is_no_commit(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git_state(tmp_path) == {"commit": None, "changed": None}


def test_digests_know_data_and_packages(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text("1\n")
    facts = build_facts(tmp_path)
    assert list(data_digests(tmp_path)) == ["data/a.csv"]
    (tmp_path / "data" / "a.csv").write_text("2\n")
    other = build_facts(tmp_path)
    assert other["data"] != facts["data"] and other["environment"] == facts["environment"]
    monkeypatch.setattr(speedbook.run.provenance, "installed_versions", lambda: {"numpy": "99"})
    assert build_facts(tmp_path)["environment"] != facts["environment"]
    monkeypatch.setattr(speedbook.run.provenance.platform, "python_version", lambda: "3.99.0")
    assert build_facts(tmp_path)["environment"] not in (digest({"numpy": "99"}), facts)
    assert digest({"a": "1", "b": "2"}) == digest({"b": "2", "a": "1"}) != digest({"a": "2"})


def test_the_ledger_of_a_build_knows_it_and_the_derived_one_does_not():
    row = {"notebook": "notebooks/claims/p.ipynb", "estimate": 1.0}
    derived, build = {"claims": {"p": row}}, {"build": {"commit": "c"}}
    built = built_ledger(derived, {"notebooks/claims/p.ipynb": 2.5}, {"commit": "c"}, {"p": "a"})
    assert built == {"claims": {"p": {**row, "seconds": 2.5, "agreement": "a"}}, **build}
    assert derived == {"claims": {"p": {"notebook": row["notebook"], "estimate": 1.0}}}
