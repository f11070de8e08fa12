"""Equal requests have equal digests, by whatever road their values came."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

import speedbook.commands.rerun
from speedbook.commands.app import app
from speedbook.notebook.files import read_notebook
from speedbook.notebook.find import notebook_names, parameters_of
from speedbook.notebook.parameters import Parameter, parameters_cells, read_parameters

ROOT = Path(__file__).parents[2]

ANGLES = """\
angle: float = 15  # of an action [-180 .. 180]
angles: list[float] = [15, 0, -0.0]  # of actions
level: float = -0.0  # of all
count: int = 3  # of actions
"""


def digest_of(asked, tmp_path, road, **values):
    """Return the name of the run's folder, without its time, for values that come by some road."""
    from datetime import UTC, datetime

    from speedbook.run.folder import _folder_name

    path = tmp_path / ("p.json" if road == "json" else "p.yml")
    if road == "json":
        path.write_text(json.dumps(values))
    elif road == "yaml":
        path.write_text(yaml.safe_dump(values))
    pairs = [f"{name}={json.dumps(value)}" for name, value in values.items()]
    line = [part for pair in pairs for part in ("-p", pair)]
    request = asked("angles", *(["--params", path] if road in ("json", "yaml") else line))
    return _folder_name(request, datetime(2000, 1, 1, tzinfo=UTC)), request


#: The defaults, in other forms.
EQUAL = [
    {"angle": 15},
    {"angle": 15.0},
    {"angle": 1.5e1, "angles": [15.0, -0.0, 0]},
    {"angles": [15, 0, 0]},
    {"level": 0, "count": 3},
    {"level": -0.0},
]


@pytest.mark.slow
@pytest.mark.parametrize("road", ["line", "json", "yaml"])
def test_equal_requests_have_equal_digests(
    tiny_book, tiny_notebook, tmp_path, monkeypatch, no_kernels, road
):
    name = "notebooks/figures/angles.ipynb"
    used = "print(angle, angles, level, count)"
    tiny_book.notebook(name, tiny_notebook(used, parameters=ANGLES))
    requests = []
    real = speedbook.commands.rerun.run

    def run(request, *rest):
        requests.append(request)
        return real(request, *rest)

    def asked(*arguments):
        monkeypatch.setattr(speedbook.commands.rerun, "run", run)
        monkeypatch.chdir(tiny_book.root)
        result = CliRunner().invoke(app, ["rerun", *map(str, arguments)])
        assert result.exit_code == 0, result.output
        return requests[-1]

    default, _ = digest_of(asked, tmp_path, "line")
    for values in EQUAL:
        found, request = digest_of(asked, tmp_path, road, **values)
        assert found == default, values
        assert request.changed == {}
    # The manifest repeats to the same, also one that was written with the other form.
    (folder, *_) = sorted((tiny_book.root / "runs" / "angles").iterdir())
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["parameters"] |= {"angle": 15, "angles": [15, -0.0, 0], "level": -0.0}
    tiny_book.write("old.json", json.dumps(manifest))
    for source in (folder, "old.json"):
        again = asked("--from", source)
        assert json.dumps(again.values) == json.dumps(request.values)
    other, _ = digest_of(asked, tmp_path, road, angle=16)
    assert other != default


def test_every_default_is_written_in_its_own_type():
    """Or a run at the defaults would hold 15 where its repetition holds 15.0."""
    for name in notebook_names(ROOT):
        (cell,) = parameters_cells(read_notebook(ROOT / name))
        written = {
            line.target.id: ast.literal_eval(line.value) for line in ast.parse(cell.source).body
        }
        for parameter in parameters_of(ROOT, name):
            assert repr(written[parameter.name]) == repr(parameter.default), name


def test_an_integer_that_no_float_can_hold_is_refused():
    with pytest.raises(ValueError, match="share: must be of type float"):
        Parameter("share", "float", 0.5, "a share").check(10**400)


def test_the_help_of_a_parameter_goes_on_in_the_lines_below():
    source = (
        "a: int = 1  # how many there are,\n#   of both kinds together\n# [0 .. 9]\n"
        "\n# a line that is nobody's\nb: int = 2  # another\n"
    )
    (a, b), problems = read_parameters(source)
    assert not problems
    assert (a.help, a.low, a.high) == ("how many there are, of both kinds together", 0, 9)
    assert (b.help, b.low) == ("another", None)
