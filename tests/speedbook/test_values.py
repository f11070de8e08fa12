"""Values from the command line and from files, and notebooks by the names that people give them."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import speedbook.commands.rerun
from speedbook.commands.app import app
from speedbook.notebook.files import read_notebook
from speedbook.notebook.find import find_notebook, notebook_names, parameters_of
from speedbook.notebook.parameters import Parameter, notebook_parameters, read_parameters
from speedbook.notebook.values import (
    FULL,
    as_argument,
    as_shown,
    full_values,
    read_assignments,
    read_file,
    read_values,
)
from speedbook.run.manifest import Manifest

ROOT = Path(__file__).parents[2]
FIG = "notebooks/figures/fig.ipynb"
CELL = """\
n: int = 5  # a count [1 .. 1_000_000]
share: float = 0.5  # a share [0 .. 1]
loud: bool = False  # whether to say it
rule: str = "floor"  # how to round [floor | ceil]
title: str = "a title"  # any text
rounds: list[int] = [10, 20]  # budgets [1 ..]
shares: list[float] = [0.1]  # shares
names: list[str] = ["a"]  # names
"""
PARAMETERS, PROBLEMS = read_parameters(CELL)
assert not PROBLEMS
NAMES = Parameter("names", "list[str]", [], "names", or_empty=True)
KNOWN = {parameter.name: parameter for parameter in PARAMETERS}


def one(name, text):
    return read_values(PARAMETERS, [(name, text)])[name]


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("n", "7", 7),
        ("n", " 10_000 ", 10_000),
        ("n", "1e6", 1_000_000),
        ("n", "010", 10),
        ("share", "1e-3", 1e-3),
        ("share", "1", 1.0),
        ("loud", "true", True),
        ("loud", "False", False),
        ("rule", "ceil", "ceil"),
        ("title", "on", "on"),
        ("title", "1:30", "1:30"),
        ("title", " a=b ", " a=b "),
        ("rounds", "1,2, 3", [1, 2, 3]),
        ("rounds", "[1e2, 10_000]", [100, 10_000]),
        ("rounds", "[1, 2]", [1, 2]),
        ("rounds", "7", [7]),
        ("shares", "1e-3,2", [1e-3, 2.0]),
        ("names", "a,b", ["a", "b"]),
        ("names", '["a,b", "c"]', ["a,b", "c"]),
    ],
)
def test_text_is_read_by_the_type_of_the_parameter(name, text, value):
    found = one(name, text)
    assert found == value
    assert type(found) is type(value)
    if isinstance(value, list):
        assert [type(part) for part in found] == [type(part) for part in value]


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("n", "1.5", "n: must be of type int; got '1.5'"),
        ("n", "1e400", "n: must be of type int; got '1e400'"),
        ("n", "true", "n: must be of type int; got 'true'"),
        ("n", "", "n: must be of type int; got ''"),
        ("n", "9" * 5000, "n: must be of type int"),
        ("n", "0", "n: must be between 1 and "),
        ("share", "nan", "share: must be finite; got nan"),
        ("share", "half", "share: must be of type float; got 'half'"),
        ("loud", "1", "loud: must be of type bool; got '1'"),
        ("loud", "on", "loud: must be of type bool; got 'on'"),
        ("rule", "round", "rule: must be one of floor, ceil; got 'round'"),
        ("rounds", "1,x", "rounds: must be of type list[int]; got 'x'"),
        ("rounds", "[1, [2]]", "rounds: must be of type list[int]; got ['2']"),
        (
            "rounds",
            "1 2",
            "rounds: must be of type list[int]; got '1 2'; put commas between the elements",
        ),
        ("rounds", "[]", "rounds: must hold at least one element"),
        ("rounds", "[1,", "rounds: must be of type list[int]; got '[1,'"),
        ("rounds", "[50,100", "rounds: must be of type list[int]; got '[50,100'"),
        ("rounds", "[1, 2]x", "rounds: must be of type list[int]; got '[1, 2]x'"),
        ("rounds", "1,0", "rounds: must be at least 1; got 0"),
    ],
)
def test_a_bad_value_is_refused_with_the_rule(name, text, fault):
    with pytest.raises(ValueError) as caught:
        one(name, text)
    assert str(caught.value).startswith(fault)


def test_all_faults_are_told_at_once_and_unknown_names_get_the_nearest():
    with pytest.raises(ValueError) as caught:
        read_values(PARAMETERS, [("round", "1"), ("n", "x"), ("zzz", "1"), ("share", "2")])
    lines = str(caught.value).splitlines()
    assert len(lines) == 4
    assert lines[0] == "round: the notebook has no such parameter; nearest: rounds, loud"
    assert lines[2].endswith("; known: n, share, loud, rule, title, rounds, shares, names")


def test_the_last_value_counts():
    assert read_values(PARAMETERS, [("n", "2"), ("n", "3")]) == {"n": 3}


@pytest.mark.parametrize("parameter", PARAMETERS, ids=lambda parameter: parameter.name)
def test_a_default_survives_the_command_line(parameter):
    assert one(parameter.name, as_argument(parameter.default)) == parameter.default


@given(st.floats(0, 1), st.lists(st.integers(1), min_size=1))
def test_every_good_value_survives_the_command_line(share, rounds):
    assert one("share", as_argument(share)) == share
    assert one("rounds", as_argument(rounds)) == rounds
    assert one("rounds", json.dumps(rounds)) == rounds


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_every_list_of_texts_survives_the_command_line(names):
    names = [name.strip() for name in names]
    assert as_argument(names)
    assert read_values([NAMES], [("names", as_argument(names))]) == {"names": names}


def test_nothing_is_shown_as_nothing():
    assert (as_argument([]), as_shown([]), as_shown("")) == ("[]", "[]", "(empty)")


@pytest.mark.parametrize(
    ("assignments", "fault"),
    [
        (["n"], "-p: must read name=value; got 'n'"),
        (["=1"], "-p: must read name=value; got '=1'"),
        (["n=1", "n=2"], "-p: n is given twice"),
    ],
)
def test_assignments_have_one_form(assignments, fault):
    with pytest.raises(ValueError, match=fault):
        read_assignments(assignments)


# Files


def test_a_file_holds_text_that_the_notebook_gives_its_type(tmp_path):
    path = tmp_path / "p.yml"
    path.write_text("n: 010\nshare: 1e-3\ntitle: on\nloud: true\nrounds: [1_0, 1e2]\n")
    values = read_values(PARAMETERS, read_file(path).items())
    assert values == {"n": 10, "share": 1e-3, "title": "on", "loud": True, "rounds": [10, 100]}


def test_json_is_read_as_well(tmp_path):
    path = tmp_path / "p.json"
    given = {"n": 7, "share": 0.001, "title": "a", "loud": False, "rounds": [1, 2]}
    path.write_text(json.dumps(given, indent=1))
    assert read_values(PARAMETERS, read_file(path).items()) == given


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("- n\n", "must hold lines of the form name: value"),
        ("n: {a: 1}\n", "n: must be a value or a list of values"),
        ("a: [\n", "is neither YAML nor JSON"),
        ("&a [*a]\n", "is neither YAML nor JSON"),
    ],
)
def test_a_file_of_another_form_is_refused(tmp_path, text, fault):
    path = tmp_path / "p.yml"
    path.write_text(text)
    with pytest.raises(ValueError, match=fault):
        read_file(path)
    with pytest.raises(ValueError, match="No such file"):
        read_file(tmp_path / "none.yml")
    (tmp_path / "bytes.yml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="is not UTF-8 text"):
        read_file(tmp_path / "bytes.yml")


JSON = {"n": 7, "share": 0.001, "title": "caf\u00e9 \U0001f600", "loud": False, "rounds": [1, 2]}


@pytest.mark.parametrize("suffix", ["json", "yml", "txt"])
@pytest.mark.parametrize("indent", [None, 1, "\t", "  \t"])
@pytest.mark.parametrize("ascii_alone", [True, False])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_whatever_form_json_has_it_says_the_same(
    tmp_path, suffix, indent, ascii_alone, mark, newline
):
    path = tmp_path / f"p.{suffix}"
    text = json.dumps(JSON, indent=indent, ensure_ascii=ascii_alone).replace("\n", newline)
    path.write_bytes((mark + text).encode())
    assert read_values(PARAMETERS, read_file(path).items()) == JSON


def test_halves_of_characters_are_joined_in_yaml_and_refused_alone(tmp_path, asked):
    path = tmp_path / "p.yml"
    path.write_text('title: "\\ud83d\\ude00"\n')
    assert read_values(PARAMETERS, read_file(path).items()) == {"title": "\U0001f600"}
    for text in ('title: "\\ud83d"\n', '{"title": "\\ude00\\ud83d"}', '{"names": ["\\ud83d"]}'):
        path.write_text(text)
        with pytest.raises(ValueError, match=r"(title|names): must be text that UTF-8 can write"):
            read_values(PARAMETERS, read_file(path).items())
        assert asked.ask("fig", "--params", str(path)).code == 2
    # What a shell hands on of a byte that is no UTF-8.
    assert asked.ask("fig", "-p", "title=\udcff").code == 2


@pytest.mark.parametrize(
    ("text", "line", "first"),
    [
        ("n: 1\nshare: 0\nn: 2\n", 3, 1),
        ('n: 1\n"n": 1\n', 2, 1),
        ('{"n": 1,\n"rounds": [1,\n2],\n\t"n": 1}', 4, 1),
        ('{"title": "n\\": {",\n"n": 1,\n"\\u006e": 1}', 3, 2),
        ("{n: 1,\n n: 2}", 2, 1),
    ],
)
def test_a_name_that_stands_twice_in_a_file_is_refused_with_its_lines(tmp_path, text, line, first):
    path = tmp_path / "p.yml"
    path.write_text(text)
    fault = f"line {line}: n is given twice, first in line {first}"
    with pytest.raises(ValueError, match=fault):
        read_file(path)


def test_a_name_that_stands_twice_in_the_full_setting_is_refused(tiny_book):
    tiny_book.write(FULL, f"{FIG}:\n  n: 1\n  n: 2\n")
    with pytest.raises(ValueError, match="line 3: n is given twice, first in line 2"):
        full_values(tiny_book.root, FIG)
    # Another notebook may have the same parameter, and a list the same entry.
    tiny_book.write(FULL, f"{FIG}:\n  n: 1\nb.ipynb:\n  n: 1\n  m: [n, n]\n")
    assert full_values(tiny_book.root, FIG) == {"n": "1"}


def test_the_same_name_for_two_notebooks_is_not_given_twice(tiny_book):
    entries = {FIG: {"n": 1}, "notebooks/claims/prop-1.ipynb": {"n": 2}}
    tiny_book.write("notebooks/full.yml", json.dumps(entries, indent="\t"))
    assert full_values(tiny_book.root, FIG) == {"n": "1"}


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "shift_jis"])
def test_text_that_is_not_utf_8_is_refused_with_the_cure(tmp_path, encoding):
    path = tmp_path / "p.yml"
    path.write_bytes("n: 1\ntitle: §\n".encode(encoding))
    with pytest.raises(ValueError, match=r"is not UTF-8 text \(line [12]\); save it in the enc"):
        read_file(path)


@pytest.mark.parametrize("text", ['{"share": %s}', "share: %s\n"])
@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_are_none_are_refused_by_name(tmp_path, text, value):
    path = tmp_path / "p.json" if text.startswith("{") else tmp_path / "p.yml"
    path.write_text(text % value)
    with pytest.raises(ValueError, match="share: must be finite"):
        read_values(PARAMETERS, read_file(path).items())


def test_null_is_no_text_in_json(tmp_path):
    path = tmp_path / "p.json"
    path.write_text('{"title": null}')
    with pytest.raises(ValueError, match="title: must be a value or a list of values; got null"):
        read_file(path)
    path.write_text("{title: a}")
    with pytest.raises(ValueError, match=r"p\.json: is not JSON: .* line 1 column 2"):
        read_file(path)


def test_the_paper_setting_fits_the_notebooks():
    entries = yaml.safe_load((ROOT / FULL).read_text(encoding="utf-8"))
    assert set(entries) <= set(notebook_names(ROOT))
    for name in entries:
        parameters = notebook_parameters(read_notebook(ROOT / name))
        values = read_values(parameters, full_values(ROOT, name).items())
        assert values
        for parameter in parameters:
            assert values.get(parameter.name) != parameter.default


def test_a_notebook_that_the_paper_setting_does_not_name_stays_as_it_is(tiny_book):
    tiny_book.write(FULL, "notebooks/a.ipynb:\n  x: 1\n")
    assert full_values(tiny_book.root, FIG) == {}
    tiny_book.write(FULL, f"{FIG}: 7\n")
    with pytest.raises(ValueError, match="must hold lines of the form name: value"):
        full_values(tiny_book.root, FIG)


# Names of notebooks


@pytest.mark.parametrize(
    ("folder", "called"),
    [
        (".", "fig"),
        (".", "fig.ipynb"),
        (".", FIG),
        ("notebooks", "figures/fig.ipynb"),
        ("notebooks/claims", "../figures/fig.ipynb"),
        ("notebooks/claims", FIG),
    ],
)
def test_a_notebook_is_found_by_path_and_by_short_name(tiny_book, monkeypatch, folder, called):
    monkeypatch.chdir(tiny_book.root / folder)
    assert find_notebook(tiny_book.root, called) == FIG


def test_an_unknown_notebook_gets_the_nearest_and_an_ambiguous_one_all(tiny_book, tiny_notebook):
    with pytest.raises(ValueError, match=r"notebook prop1: the book has none.*nearest: prop-1"):
        find_notebook(tiny_book.root, "prop1")
    tiny_book.notebook("notebooks/claims/fig.ipynb", tiny_notebook("x"))
    with pytest.raises(ValueError, match=f"several fit, notebooks/claims/fig.ipynb and {FIG}"):
        find_notebook(tiny_book.root, "fig")


def test_the_shelf_reads_the_parameters_that_the_press_reads():
    for name in notebook_names(ROOT):
        notebook = read_notebook(ROOT / name)
        assert parameters_of(ROOT, name) == notebook_parameters(notebook)


def test_the_shelf_names_what_is_no_notebook(tiny_book):
    for text in ("{", "[]", '{"cells": [1]}', '{"cells": []}'):
        tiny_book.write(FIG, text)
        with pytest.raises(ValueError, match=FIG):
            parameters_of(tiny_book.root, FIG)


# Any text at all


@pytest.fixture(scope="module")
def asked(tmp_path_factory, make_tiny_book, tiny_notebook):
    """Run the command in a tiny book, with a stand-in for the run; return the exit code."""
    book = make_tiny_book(tmp_path_factory.mktemp("values"))
    book.notebook(FIG, tiny_notebook("print(n)", parameters=CELL))
    ran = []

    def no_run(request, *_):
        ran.append(request)
        raise speedbook.commands.rerun.RunFailed("it would have run")

    def ask(*arguments):
        ran.clear()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(speedbook.commands.rerun, "run", no_run)
            patch.chdir(book.root)
            result = CliRunner().invoke(app, ["rerun", *arguments])
        assert result.exception is None or isinstance(result.exception, SystemExit), result
        assert "Traceback" not in result.output
        # Either nothing ran, or what ran obeys the rules.
        assert (result.exit_code, len(ran)) in [(2, 0), (3, 1)], result.output
        for request in ran:
            assert {n: KNOWN[n].check(v) for n, v in request.values.items()} == request.values
        return SimpleNamespace(code=result.exit_code, request=ran[0] if ran else None)

    return SimpleNamespace(ask=ask, book=book)


TEXT = st.text(max_size=30)
NUMBERISH = st.from_regex(
    r"[-+]?[0-9_.,eE\[\]\" ]{0,12}|nan|inf|-inf|true|\[.{0,5}", fullmatch=True
)


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from([*KNOWN, "m"]), TEXT | NUMBERISH), max_size=3))
def test_no_value_of_p_brings_a_traceback(asked, pairs):
    asked.ask("fig", *(part for name, text in pairs for part in ("-p", f"{name}={text}")))


@pytest.mark.slow
@given(TEXT, TEXT)
def test_no_name_brings_a_traceback(asked, called, assignment):
    asked.ask("-p", assignment, "--", called)


@pytest.mark.slow
@given(
    st.binary(max_size=60)
    | st.text().map(str.encode)
    | st.builds(
        json.dumps, st.from_type(dict[str, int | float | bool | list[int] | str | None])
    ).map(str.encode)
)
def test_no_file_of_parameters_brings_a_traceback(asked, content):
    path = asked.book.root / "any.yml"
    path.write_bytes(content)
    asked.ask("fig", "--params", str(path))


@pytest.mark.slow
@given(
    st.binary(max_size=60)
    | st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: st.dictionaries(
            st.sampled_from(list(Manifest.model_fields)) | st.text(), inner
        ),
    ).map(lambda content: json.dumps(content).encode())
)
def test_no_manifest_brings_a_traceback(asked, content):
    path = asked.book.root / "any.json"
    path.write_bytes(content)
    assert asked.ask("--from", str(path)).code == 2


def test_what_is_set_last_wins(asked):
    asked.book.write("p.yml", "n: 3\nshare: 0.25\n")
    asked.book.write(FULL, f"{FIG}:\n  n: 2\n  rule: ceil\n")
    request = asked.ask("fig", "--full", "--params", "p.yml", "-p", "share=1e-2").request
    values = request.values
    assert (values["n"], values["rule"], values["share"]) == (3, "ceil", 0.01)
    assert (request.setting, request.timeout) == ("full", 3600)
    request = asked.ask("fig", "--full", "--cell-timeout", "7").request
    assert request.timeout == 7
    assert asked.ask("fig").request.timeout == 300
