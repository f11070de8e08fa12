"""The notebook contract: parameters, normaliser, lint."""

from __future__ import annotations

import base64
import copy
import io
import json

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from speedbook.notebook.contract import file_problem, output_problems, source_problems
from speedbook.notebook.files import (
    cell_name,
    evidence,
    normalise,
    read_notebook,
    serialise,
    with_outputs,
    write_notebook,
)
from speedbook.notebook.parameters import Parameter, notebook_parameters, read_parameters


def one(source):
    parameters, problems = read_parameters(source)
    assert problems == []
    (parameter,) = parameters
    return parameter


# Parameters


def test_every_type_is_read():
    source = "\n".join(
        [
            "rounds: int = 10_000  # rounds [10 .. 1_000_000]",
            "scale: float = -1e-3  # a scale [-1 ..]",
            'rule: str = "floor"  # how to round [floor | ceil]',
            "centred: bool = True  # centre the features",
            "sizes: list[int] = [4, 5]  # actions [.. 10]",
            "variances: list[float] = [1, 0.5]  # one an action",
            'names: list[str] = ["a"]  # of strategies [a | b]',
        ]
    )
    parameters, problems = read_parameters(source)
    assert problems == []
    assert [p.default for p in parameters] == [
        10_000,
        -0.001,
        "floor",
        True,
        [4, 5],
        [1, 0.5],
        ["a"],
    ]
    assert [p.rule for p in parameters] == [
        "between 10 and 1000000",
        "at least -1",
        "one of floor, ceil",
        "",
        "at most 10",
        "",
        "one of a, b",
    ]
    assert parameters[0].help == "rounds"


def test_a_list_over_several_lines_keeps_its_comment():
    parameter = one("x: list[int] = [\n    1,\n    2,\n]  # numbers [0 .. 5]")
    assert (parameter.default, parameter.low, parameter.high) == ([1, 2], 0, 5)


def test_a_list_may_be_empty_only_where_it_says_so() -> None:
    either = one('x: list[str] = ["a"]  # names [or empty]')
    assert either.check([]) == []
    assert either.check(["b"]) == ["b"]
    assert either.rule == "any, or none: []"
    assert either.help == "names"
    with pytest.raises(ValueError, match="x: must hold at least one element"):
        one('x: list[str] = ["a"]  # names').check([])
    with pytest.raises(ValueError, match="x: must be of type"):
        either.check([1])
    assert read_parameters('x: str = "a"  # a name [or empty]')[1]


def test_a_hash_inside_a_text_is_no_comment():
    assert one('x: str = "a # b"  # a text').default == "a # b"


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("x = 3  # a number", "must read `name: type = value"),
        ("import os", "must read"),
        ("x: int  # a number", "plain literal"),
        ("x: int = 1 + 1  # a number", "plain literal"),
        ("x: int = True  # a number", "must be of type int; got True"),
        ("x: int | None = None  # a number", "its type must be one of"),
        ("x: tuple = (1,)  # numbers", "its type must be one of"),
        ("x: float = 'a'  # a number", "must be of type float; got 'a'"),
        ("x: float = 1e999  # a number", "must be finite"),
        ("x: list[int] = [1.5]  # numbers", "must be of type list[int]; got 1.5"),
        ("x: list[int] = 1  # numbers", "must be of type list[int]; got 1"),
        ("x: int = 3", "say what it is"),
        ("x: int = 3  # [1 .. 5]", "say what it is"),
        ("x: int = 7  # a number [1 .. 5]", "must be between 1 and 5; got 7"),
        ("x: int = 3  # a number [5 .. 1]", "neither a range"),
        ("x: int = 3  # a number [1, 5]", "neither a range"),
        ("x: bool = True  # a switch [True | False]", "neither a range"),
        ("x: str = 'c'  # a letter [a | b]", "must be one of a, b; got 'c'"),
        ("x: int = 1  # one\nx: int = 2  # two", "given twice"),
        ("x: int = ", "line 1 is not Python"),
        ("", "holds no parameter"),
    ],
)
def test_each_breach_is_named(source, fault):
    _, problems = read_parameters(source)
    assert len(problems) == 1
    assert fault in problems[0]


def test_all_problems_are_told_at_once():
    _, problems = read_parameters("x = 1\ny: int = 2  # fine\nz: int = 2.5  # not")
    assert len(problems) == 2


@given(st.text() | st.text("x:int=1#[]. |'\n\\\t\x00(", max_size=30))
def test_no_text_raises(source):
    parameters, problems = read_parameters(source)
    assert parameters or problems


@given(
    st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.booleans()
    | st.text()
    | st.lists(st.integers(), min_size=1)
    | st.lists(st.text(), min_size=1)
)
def test_a_literal_is_read_back(value):
    kind = type(value).__name__
    if kind == "list":
        kind = f"list[{type(value[0]).__name__}]"
    assert one(f"x: {kind} = {value!r}  # any value").default == value


def test_check_converts_whole_numbers_to_float_and_nothing_else():
    parameter = Parameter("x", "float", 1.0, "a number", low=0)
    assert isinstance(parameter.check(2), float)
    for wrong in ("1e-3", True, None, [1.0], -1, float("nan")):
        with pytest.raises(ValueError, match="x: must be"):
            parameter.check(wrong)


# Normaliser


def png(color="red", text=None):
    info = PngInfo()
    if text:
        info.add_text("Software", text)
    stream = io.BytesIO()
    Image.new("RGB", (3, 2), color).save(stream, "png", pnginfo=info)
    return base64.b64encode(stream.getvalue()).decode()


def picture(payload, digest="d"):
    return nbformat.v4.new_output(
        "display_data",
        {"image/png": payload, "text/plain": "Figure"},
        metadata={"speedbook": {"figure": "f", "data": digest}},
    )


@pytest.fixture
def executed(tiny_notebook):
    """A notebook as papermill leaves it, with all the noise that there is."""
    notebook = tiny_notebook("print(1)\nprint(2)", "figure", "x")
    notebook.metadata.papermill = {"start_time": "2024-01-01"}
    notebook.metadata.language_info.version = "3.12.1"
    notebook.metadata.kernelspec.display_name = "my venv"
    for count, cell in enumerate(notebook.cells[1:], start=7):
        cell.execution_count = count
        cell.metadata["papermill"] = {"duration": count}
        cell.metadata["execution"] = {"iopub.execute_input": "2024-01-01"}
    notebook.cells[0].metadata["tags"] = []
    _, _, prints, figure, result = notebook.cells
    prints.outputs = [nbformat.v4.new_output("stream", name="stdout", text=t) for t in "ab"]
    figure.outputs = [picture(png(text="matplotlib 3.11"))]
    result.outputs = [nbformat.v4.new_output("execute_result", {"text/plain": "3"})]
    result.outputs[0].execution_count = 9
    injected = nbformat.v4.new_code_cell("x = 9", metadata={"tags": ["injected-parameters"]})
    notebook.cells.insert(2, injected)
    return notebook


def test_noise_is_gone(executed):
    before = copy.deepcopy(executed)
    clean = normalise(executed)
    assert executed == before
    text = serialise(executed)
    for noise in ("papermill", "2024", "my venv", "3.12.1", "injected"):
        assert noise not in text
    assert text.endswith("}\n") and not text.endswith("\n\n")
    _, _, prints, figure, result = clean.cells
    assert [cell.execution_count for cell in clean.cells[1:]] == [1, 2, 3, 4]
    assert result.outputs[0].execution_count == 4
    assert [output.text for output in prints.outputs] == ["ab"]
    data = base64.b64decode(figure.outputs[0].data["image/png"])
    assert b"Software" not in data and b"matplotlib" not in data
    Image.open(io.BytesIO(data)).load()
    assert clean.cells[1].metadata == {"tags": ["parameters"]}
    nbformat.validate(clean)


def test_normalising_again_changes_nothing(executed):
    once = normalise(executed)
    assert normalise(once) == once
    assert serialise(once) == serialise(executed)


def test_keys_are_sorted(executed):
    text = serialise(executed)
    assert text == json.dumps(json.loads(text), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def test_cell_ids_are_kept_or_stable(tiny_notebook):
    notebook = tiny_notebook("a", "b", "c")
    del notebook.cells[2]["id"]
    notebook.cells[3].id = notebook.cells[1].id
    first, second = normalise(notebook), normalise(notebook)
    ids = [cell.id for cell in first.cells]
    assert ids == [cell.id for cell in second.cells]
    assert len(set(ids)) == len(ids)
    assert (ids[0], ids[1], ids[4]) == ("cell-0", "cell-1", "cell-4")


def test_what_cannot_be_cleaned_stays(tiny_notebook):
    notebook = tiny_notebook("x")
    notebook.cells[2].outputs = [picture("not base64"), picture(base64.b64encode(b"x").decode())]
    assert normalise(notebook).cells[2].outputs == notebook.cells[2].outputs


def test_evidence_ignores_pixels_but_not_the_plotted_numbers(tiny_notebook):
    def shown(color, digest):
        notebook = tiny_notebook("figure")
        notebook.cells[2].outputs = [picture(png(color), digest)]
        return evidence(notebook)

    assert shown("red", "d") == shown("blue", "d")
    assert shown("red", "d") != shown("red", "e")


def test_evidence_sees_text(tiny_notebook, executed):
    other = copy.deepcopy(executed)
    other.cells[3].outputs[0].text = "other"
    assert evidence(other) != evidence(executed)


def test_outputs_move_to_new_prose_and_not_to_new_code(executed):
    source = normalise(executed)
    source.cells[0].source = "# Another title"
    for cell in source.cells[1:]:
        cell.outputs, cell.execution_count = [], None
    merged = with_outputs(source, executed)
    assert merged.cells[0].source == "# Another title"
    assert merged.cells[1:] == normalise(executed).cells[1:]
    source.cells[2].source += "\n"
    with pytest.raises(ValueError, match="other code"):
        with_outputs(source, executed)


def test_a_notebook_is_written_only_when_it_differs(tmp_path, executed):
    path = tmp_path / "n.ipynb"
    assert write_notebook(path, executed)
    assert not write_notebook(path, read_notebook(path))
    assert read_notebook(path) == normalise(executed)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"nbformat": 3}', '{"nbformat": 4}', "\x00"])
def test_what_is_no_notebook_is_named(tmp_path, text):
    path = tmp_path / "n.ipynb"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"n\.ipynb: is not a notebook"):
        read_notebook(path)


# Lint


def test_a_good_notebook_has_no_problems(executed):
    clean = normalise(executed)
    assert source_problems(clean) == output_problems(clean, "/somewhere") == []
    assert notebook_parameters(clean)[0].name == "x"


def breach(notebook, kind):
    _, parameters, cell = notebook.cells
    if kind == "no kernel":
        del notebook.metadata["kernelspec"]
    elif kind == "other kernel":
        notebook.metadata.kernelspec.name = "ir"
    elif kind == "no language":
        del notebook.metadata["language_info"]
    elif kind == "no id":
        cell.id = ""
    elif kind == "id twice":
        cell.id = parameters.id
    elif kind == "empty":
        cell.source = "  "
    elif kind == "none":
        parameters.metadata["tags"] = []
    elif kind == "two":
        cell.metadata["tags"] = ["parameters"]
        cell.source = "y: int = 1  # a number"
    elif kind == "ill-typed":
        parameters.source = "x: int = 1.5  # a number"
    elif kind == "injected":
        cell.metadata["tags"] = ["injected-parameters"]
    elif kind == "invalid":
        cell.metadata["tags"] = "not a list"
    return notebook


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        ("no kernel", "must name kernel python3"),
        ("other kernel", "got ir, python"),
        ("no language", "got python3, None"),
        ("no id", "cell 3 (y = x) has no id"),
        ("id twice", "cell 3 (y = x) has the id of cell 2 (x: int = 3  # a number"),
        ("empty", "cell 3 is empty"),
        ("none", "exactly one code cell must be tagged `parameters`; got 0"),
        ("two", "exactly one code cell must be tagged `parameters`; got 2"),
        ("ill-typed", "cell 2 (x: int = 1.5  # a number): x: must be of type int; got 1.5"),
        ("injected", "cell 3 (y = x) was injected by papermill"),
        ("invalid", "is not a valid notebook"),
    ],
)
def test_source_lint(tiny_notebook, kind, fault):
    problems = source_problems(breach(tiny_notebook("y = x"), kind))
    assert len(problems) == 1
    assert fault in problems[0]


def test_a_notebook_that_an_editor_saved_is_named_with_what_to_do(executed):
    name, clean = "notebooks/n.ipynb", serialise(executed)
    assert file_problem(name, clean) == ""
    executed = normalise(executed)
    executed.cells[1].metadata["execution"] = {"iopub.execute_input": "2024-01-01"}
    for saved in (str(nbformat.writes(executed)), clean.replace('": "', '":"')):
        problem = file_problem(name, saved)
        assert problem.startswith(f"{name}: the file differs from what `make refresh` writes")
        assert f"`git checkout {name}`" in problem and "`make refresh`" in problem


def stream(name, text):
    return nbformat.v4.new_output("stream", name=name, text=text)


@pytest.mark.parametrize(
    ("output", "fault"),
    [
        (stream("stderr", "\nUserWarning: no\nmore"), "wrote to stderr: UserWarning: no"),
        (nbformat.v4.new_output("error", ename="E", evalue="v", traceback=[]), "raised E: v"),
        (nbformat.v4.new_output("display_data", {"image/svg+xml": "<svg/>"}), "image/svg+xml"),
        (nbformat.v4.new_output("display_data", {"application/pdf": "x"}), "application/pdf"),
        (picture(base64.b64encode(bytes(150_001)).decode()), "a PNG of 150,001 bytes"),
        (stream("stdout", "saved /home/me/f.png"), "names a local path: /home/me"),
        (stream("stdout", r"saved C:\Users\me"), "names a local path: C:\\Users\\me"),
        (stream("stdout", "in /srv/bücher/x"), "names a local path: /srv/bücher"),
        (
            nbformat.v4.new_output("display_data", {}, metadata={"file": "/tmp/x"}),
            "names a local path: /tmp/x",
        ),
    ],
)
def test_output_lint(tiny_notebook, output, fault):
    notebook = tiny_notebook("y = x")
    notebook.cells[1].execution_count = notebook.cells[2].execution_count = 1
    notebook.cells[2].outputs = [output]
    problems = output_problems(notebook, "/srv/bücher")
    assert len(problems) == 1
    assert problems[0].startswith("cell 3 (y = x) ")
    assert fault in problems[0]


def test_a_png_of_150_kb_passes(tiny_notebook):
    notebook = tiny_notebook("y = x")
    notebook.cells[1].execution_count = notebook.cells[2].execution_count = 1
    notebook.cells[2].outputs = [picture(base64.b64encode(bytes(150_000)).decode())]
    assert output_problems(notebook) == []


def test_an_unexecuted_cell_is_named(tiny_notebook):
    assert output_problems(tiny_notebook("y = x")) == [
        "cell 2 (x: int = 3  # a number [1 .. 9]) is not executed",
        "cell 3 (y = x) is not executed",
    ]


def test_cell_names_count_from_one_and_are_short(tiny_notebook):
    notebook = tiny_notebook("\n" + "a" * 100)
    assert cell_name(notebook, notebook.cells[2]) == f"cell 3 ({'a' * 60})"


def test_what_nbgrader_and_slides_know_of_a_cell_is_kept(tiny_notebook):
    notebook = tiny_notebook("x")
    about = {"nbgrader": {"grade_id": "a", "locked": True}, "slideshow": {"slide_type": "slide"}}
    for cell in notebook.cells:
        cell.metadata = about
    assert [dict(cell.metadata) for cell in normalise(notebook).cells] == [about] * len(
        notebook.cells
    )
