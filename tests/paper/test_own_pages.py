"""The pages on a table of one's own: columns of any name, any unit, any number of rows."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from paper.own_table import featureless_note
from speedbook.notebook.files import code_cells, read_notebook

from .test_digits import digits

ROOT = Path(__file__).resolve().parents[2]


class Run:
    """The code of a page, run with other parameters up to a cell.

    `values` holds its variables, `shown` what each cell ends with by the cell's id, and `said` its
    Markdown.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, page: str, until: str = "", **changes: Any):
        self.values: dict[str, Any] = {}
        self.shown: dict[str, Any] = {}
        self.said: list[str] = []
        monkeypatch.chdir(ROOT)
        monkeypatch.setattr("IPython.display.display", self.display)
        parameters, *cells = code_cells(read_notebook(ROOT / f"notebooks/beyond/{page}.ipynb"))
        exec(parameters.source, self.values)
        assert not changes.keys() - self.values.keys()
        self.values |= changes
        with mpl.rc_context():
            for cell in cells:
                if cell.id == until:
                    return
                *body, last = ast.parse(cell.source).body
                exec(compile(ast.Module(body, []), cell.id, "exec"), self.values)
                if isinstance(last, ast.Expr):
                    shown = eval(compile(ast.Expression(last.value), cell.id, "eval"), self.values)
                    self.shown[cell.id] = shown
                else:
                    exec(compile(ast.Module([last], []), cell.id, "exec"), self.values)

    def display(self, shown: Any, **_: Any) -> None:
        if isinstance(shown, pd.DataFrame):
            self.said.append(shown.to_html())
        elif isinstance(getattr(shown, "data", None), str):
            self.said.append(shown.data)

    def says(self, words: str) -> bool:
        return any(words in text for text in self.said)


NAMES = ["variance", "line of the file", "share of the rounds", "variance (model)"]


def measurements(path: Path, unit: float = 1.0, names: list[str] = NAMES) -> pd.DataFrame:
    """Write a table with awkward names in some unit, and return it."""
    rng = np.random.default_rng(6)
    X = rng.uniform(1, 3, size=(150, len(names))).round(3)
    y = X @ np.arange(1, len(names) + 1) + X[:, 0] * rng.normal(size=150)
    table = pd.DataFrame(np.column_stack([X, y]), columns=[*names, "self"])
    (table * unit).to_csv(path, index=False)
    return table * unit


def own_data(monkeypatch: pytest.MonkeyPatch, path: Path, until: str, **choices: Any) -> Run:
    given = {"table_file": str(path), "target": "self", **choices}
    return Run(monkeypatch, "your-own-data", until, **given)


@pytest.mark.slow
def test_no_column_hides_what_the_model_says_or_is_hidden(monkeypatch, tmp_path: Path) -> None:
    table = measurements(path := tmp_path / "table.csv")
    run = own_data(monkeypatch, path, "simulate")
    frame = run.shown["design-table"]
    chosen = run.values["design"].support
    assert frame.index.name == "line of the file (model)"
    assert frame.index.tolist() == (chosen + 2).tolist()
    for name in NAMES:
        assert frame[name].astype(float).tolist() == table[name][chosen].tolist()
    share, variance = "share of the rounds (model)", "variance (model) (model)"
    assert list(frame.columns) == [*NAMES, share, variance]
    weights = run.values["design"].weights[chosen]
    assert frame[share].astype(float).tolist() == pytest.approx(weights.tolist(), abs=6e-4)
    fitted = run.values["variances"][chosen]
    assert frame[variance].astype(float).tolist() == pytest.approx(fitted.tolist(), rel=0.01)
    assert list(run.shown["reading"].columns) == [*NAMES, "self"]


@pytest.mark.slow
@pytest.mark.parametrize("intercept", [False, True])
def test_another_unit_shows_the_same_digits_and_no_zero(
    monkeypatch, tmp_path: Path, intercept: bool
) -> None:
    measurements(path := tmp_path / "table.csv")
    measurements(other := tmp_path / "other.csv", unit=1e-6)
    first, second = (
        own_data(monkeypatch, file, "simulate", intercept=intercept) for file in (path, other)
    )
    for cell in ("reading", "design-table"):
        one, two = first.shown[cell], second.shown[cell]
        assert one.map(digits).equals(two.map(digits)), (one, two)
        assert (two.map(float) > 0).all(axis=None)
    (one,), (two,) = (
        [text for text in run.said if "the value of the policy is" in text]
        for run in (first, second)
    )
    words = [text.replace(";", " ").replace(". ", " ").split() for text in (one, two)]
    for left, right in zip(*words, strict=True):
        if left != right:
            assert digits(left) == digits(right) and "e-" in right


def test_what_is_the_examples_meets_no_other_table(monkeypatch, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    table = measurements(path, names=["barista", "machine"])
    table.loc[3, "barista"] = -999
    table.to_csv(path, index=False)
    run = own_data(monkeypatch, path, "faults")
    assert run.values["table"].columns == ("barista", "machine")
    assert len(run.values["X"]) == 150 and run.values["X"][3, 0] == -999
    with pytest.raises(ValueError, match=r"no column 'yield'; .*; target names the column"):
        own_data(monkeypatch, path, "faults", target="yield")
    example = Run(monkeypatch, "your-own-data", "faults")
    assert example.values["table"].columns == ("temperature", "pressure", "grind", "dose")
    assert len(example.values["X"]) == 290


@pytest.mark.slow
def test_rows_without_features_are_named_and_the_cure_cures(monkeypatch, tmp_path: Path) -> None:
    """Columns of 0 and 1 as the page advises: one for each value but one."""
    rng, path = np.random.default_rng(3), tmp_path / "table.csv"
    town = rng.integers(3, size=60)
    rows = np.column_stack([town == 1, town == 2, 5 + town + rng.normal(size=60)])
    pd.DataFrame(rows.astype(float), columns=["Rome", "Oslo", "self"]).to_csv(path, index=False)
    lines = np.flatnonzero(town == 0) + 2
    run = own_data(monkeypatch, path, "design")
    assert run.says(featureless_note(np.zeros((len(lines), 1)), lines.tolist()))
    assert run.says(f"Lines {lines[0]}, {lines[1]}, ") and run.says("`intercept = true`")
    cured = own_data(monkeypatch, path, "simulate", intercept=True)
    assert not cured.says("only features that are zero")
    assert cured.values["design"].value > 0


def test_a_column_of_probabilities_is_the_target_policy(monkeypatch, tmp_path: Path) -> None:
    table = measurements(path := tmp_path / "table.csv", names=["x", "z"])
    chances = np.random.default_rng(2).dirichlet(np.ones(len(table)))
    table.assign(usual=chances).to_csv(path, index=False)
    run = own_data(monkeypatch, path, "design-table", policy_column="usual")
    assert run.values["table"].columns == ("x", "z")
    assert run.values["policy"].tolist() == pytest.approx(chances.tolist())
    mean = (chances @ run.values["prepared"]) @ run.values["fit"].theta
    assert run.values["bandit"].value(run.values["policy"]) == pytest.approx(mean)
    with pytest.raises(ValueError, match=r"table\.csv: column z: entries must sum to 1.*"):
        own_data(monkeypatch, path, "faults", policy_column="z", leave_out=["usual"])


# The experiment

CONTROL = "action\tsize\tcolour\tprobability\ncontrol\t0\t0\t0,25\nA\t1\t0\t0,25\nB\t0\t1\t0,5\n"


def experiment(monkeypatch: pytest.MonkeyPatch, path: Path, until: str, **choices: Any) -> Run:
    return Run(monkeypatch, "your-own-experiment", until, actions_file=str(path), **choices)


@pytest.mark.slow
def test_a_control_group_is_named_and_an_intercept_gives_it_a_mean(
    monkeypatch, tmp_path: Path
) -> None:
    path = tmp_path / "actions.csv"
    path.write_text(CONTROL)
    run = experiment(monkeypatch, path, "begin")
    assert run.says("**Line 2 of the file has only features") and run.says("`intercept = true`")
    cured = experiment(monkeypatch, path, "saving", intercept=True, rounds=300)
    assert cured.values["features"].tolist() == [[0, 0, 1], [1, 0, 1], [0, 1, 1]]
    assert list(cured.shown["actions"].columns) == ["size", "colour", "intercept", "probability"]
    assert not cured.says("only features that are zero")
    assert np.isfinite(float(cured.values["progress"].estimate.value))
    path.write_text(CONTROL.replace("colour", "intercept"))
    named = experiment(monkeypatch, path, "begin", intercept=True).shown["actions"]
    assert list(named.columns) == ["size", "intercept", "intercept (model)", "probability"]


@pytest.mark.slow
def test_the_page_goes_on_with_250_actions(monkeypatch, tmp_path: Path) -> None:
    rng, path = np.random.default_rng(8), tmp_path / "actions.csv"
    table = pd.DataFrame(
        np.column_stack([rng.uniform(10, 17, 250), rng.uniform(13, 27, 250)]), columns=["a", "b"]
    )
    table.insert(0, "action", [f"a rather long name, number {k}" for k in range(250)])
    table.assign(probability=1 / 250).to_csv(path, index=False)
    run = experiment(monkeypatch, path, "saving", rounds=2000)
    assert np.isfinite(float(run.values["progress"].estimate.value))
    # All that is to be done is listed, however long the list is.
    started = {"log_file": str(tmp_path / "log.csv"), "exploration": "uniform"}
    waiting = experiment(
        monkeypatch, path, "allocation", rounds=20_000, exploration_rounds="5000", **started
    )
    asked = np.flatnonzero(waiting.values["progress"].asked)
    assert len(asked) == 250
    assert all(waiting.says(f"number {k}<") for k in asked)


def test_the_dialect_of_tables_can_be_said(monkeypatch, tmp_path: Path) -> None:
    path, log = tmp_path / "actions.csv", tmp_path / "log.csv"
    path.write_text("action,size,probability\nred,1.250,0.5\nblue,2.500,0.5\n")
    assert experiment(monkeypatch, path, "begin").values["features"].tolist() == [[1.25], [2.5]]
    path.write_text("action;size;probability\nred;1,250;1\nblue;2,500;0\n")
    with pytest.raises(ValueError, match=r"line 2: .*'1,250'.*1250 or 1.25.*decimal = 'comma'"):
        experiment(monkeypatch, path, "begin")
    log.write_text("phase;action;reward\n1;blue;1,250\n")
    given = {"decimal": "comma", "separator": "semicolon", "rounds": 20, "log_file": str(log)}
    run = experiment(monkeypatch, path, "todo", **given)
    assert run.values["features"].tolist() == [[1.25], [2.5]]
    assert run.values["log"][0].means.tolist() == [0, 1.25]


@pytest.mark.slow
def test_a_rehearsal_is_the_same_in_any_unit(monkeypatch, tmp_path: Path) -> None:
    values = []
    for unit in (1.0, 2.0**-20):  # exact, so that even ties are broken alike
        path = tmp_path / f"{unit}.csv"
        rows = [f"a{k},{(10 + k) * unit!r},{(13 + k * k) * unit!r},0.2" for k in range(5)]
        path.write_text("\n".join(["action,x,z,probability", *rows]))
        run = experiment(monkeypatch, path, "saving", rounds=500, noise=[0.5, 2.0])
        values.append((float(run.values["progress"].estimate.value), run.values["truth"]))
    assert values[0] == pytest.approx(values[1], rel=1e-6)


def five_actions(path: Path) -> Path:
    rows = [f"a{k},{10 + k},{13 + k * k},0.2" for k in range(5)]
    path.write_text("\n".join(["action,x,z,probability", *rows]))
    return path


def test_effects_scale_the_rehearsal(monkeypatch, tmp_path: Path) -> None:
    path = five_actions(tmp_path / "actions.csv")
    none, once, twice = (
        experiment(monkeypatch, path, "todo-text", rounds=300, effects=size).values["truth"]
        for size in (0.0, 1.5, 3.0)
    )
    assert none == 0 and once != 0 and twice == pytest.approx(2 * once)


@pytest.mark.slow
def test_the_page_counts_whether_exploration_is_enough(monkeypatch, tmp_path: Path) -> None:
    path, log = five_actions(tmp_path / "actions.csv"), tmp_path / "log.csv"
    enough = experiment(monkeypatch, path, "estimate", rounds=900, exploration_rounds="24")
    state = enough.values["state"]
    assert (state.rounds, state.needed, state.found.rank) == (24, 24, 3)
    assert enough.shown["enough"].data.startswith("**Enough exploration.**")
    assert state.fewest == min(n for n in enough.values["committed"] if n)
    few = experiment(monkeypatch, path, "estimate", rounds=400, exploration_rounds="sqrt")
    assert "Exploration, 20 rounds over 3 actions, determines 3 of 3" in few.shown["enough"].data
    assert "Choose `exploration_rounds=24`" in few.shown["enough"].data
    # With a log: before the first reward choices may change, afterwards no more.
    given = {"rounds": 400, "exploration_rounds": "sqrt", "log_file": str(log)}
    fresh = experiment(monkeypatch, path, "estimate", **given)
    assert "Choose" in fresh.shown["enough"].data
    action = int(np.argmax(fresh.values["progress"].asked))
    log.write_text(f"phase,action,reward\n1,a{action},2.5\n")
    begun = experiment(monkeypatch, path, "estimate", **given)
    assert "Change nothing in an experiment that has begun" in begun.shown["enough"].data
    pilot = experiment(monkeypatch, path, "estimate", rounds=900, log_file=str(tmp_path / "no.csv"))
    assert "The pilot of exploration, 15 rounds" in pilot.shown["enough"].data
