"""The engine: blocks, streams, workers, arguments, progress."""

from __future__ import annotations

import sys
from pathlib import Path

import joblib
import numpy as np
import pytest
from scipy import stats

from speedlib import simulation
from speedlib._progress import PROGRESS_FILE
from speedlib.bandit import LinearBandit
from speedlib.curves import MSECurves
from speedlib.environments import unit_ball
from speedlib.simulation import mse_curve, squared_errors
from speedlib.strategies import SPEED, OnPolicy, Oracle

#: A correct program fails a random test with this probability; all seeds were chosen once.
ALPHA = 1e-4
BALL = unit_ball()


# --- blocks, streams, workers -------------------------------------------------------------------

BOTH = [Oracle(), SPEED()]


def curve(**changes: object) -> MSECurves:
    arguments = {
        "bandit": BALL.bandit,
        "policy": BALL.policy,
        "strategies": BOTH,
        "rounds": [30, 60],
        "replications": 24,
        "seed": 9,
    } | changes
    return mse_curve(**arguments)


def same(one: MSECurves, other: MSECurves) -> bool:
    names = ("mse", "standard_error", "inestimable", "group_means")
    return all(np.array_equal(getattr(one, n), getattr(other, n)) for n in names)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["exact", "draws"])
def test_results_do_not_depend_on_the_number_of_workers(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Blocks of 7 replications, so that workers share a point of the curve.
    monkeypatch.setattr(simulation, "_BLOCK_ENTRIES", 7 * (5 * 2 + 2**4))
    calls: list[tuple[int, int]] = []
    alone = curve(method=method, n_jobs=1, progress=lambda *done: calls.append(done))
    together = curve(method=method, n_jobs=2)
    assert same(alone, together)
    blocks = 2 * 2 * 4
    assert calls == [(k, blocks) for k in range(1, blocks + 1)]


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [2, None])
@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing", "sequential"])
def test_results_do_not_depend_on_the_backend_of_joblib(backend: str, n_jobs: int | None) -> None:
    calls: list[tuple[int, int]] = []
    with joblib.parallel_config(backend=backend):
        result = curve(n_jobs=n_jobs, progress=lambda *done: calls.append(done))
    assert same(curve(), result)
    assert calls == [(k, 4) for k in range(1, 5)]


def test_minus_one_worker_is_refused_with_its_cure() -> None:
    with pytest.raises(ValueError, match=r"^n_jobs: .* got -1; for .* pass os\.cpu_count\(\)"):
        curve(n_jobs=-1)


def test_results_depend_on_the_seed_alone() -> None:
    assert same(curve(), curve())
    assert not same(curve(), curve(seed=10))
    # Points are independent: equal budgets get streams of their own.
    twice = curve(rounds=[60, 60], strategies=[SPEED()])
    assert twice.mse[0, 0] != twice.mse[0, 1]


def test_blocks_are_pooled_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mean and standard error of unequal blocks against those of all the numbers together."""
    rng = np.random.default_rng(11)
    sizes = np.array([35, 35, 15])
    errors = [rng.exponential(size=size) + k for k, size in enumerate(sizes)]
    flags = [rng.random(size) < 0.3 for size in sizes]
    blocks = iter([*zip(errors, flags, strict=True)] * 2)
    monkeypatch.setattr(simulation, "squared_errors", lambda *_: next(blocks))
    monkeypatch.setattr(simulation, "_block_sizes", lambda *_: sizes.tolist())
    curves = curve(strategies=[Oracle()], replications=85)
    everything = np.concatenate(errors)
    # Dealt out in turn, whatever the blocks: 85 replications fill 32 groups unequally.
    dealt = [everything[first::32] for first in range(32)]
    for n in range(2):
        assert curves.mse[0, n] == pytest.approx(everything.mean())
        assert curves.standard_error[0, n] == pytest.approx(stats.sem(everything))
        assert curves.inestimable[0, n] == pytest.approx(np.concatenate(flags).mean())
        assert curves.group_means[0, n] == pytest.approx([group.mean() for group in dealt])
    assert curves.group_sizes.tolist() == [group.size for group in dealt]


def test_replications_are_split_completely(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    original = squared_errors

    def counting(*job: object) -> object:
        seen.append(job[4])  # type: ignore[arg-type]
        return original(*job)  # type: ignore[arg-type]

    monkeypatch.setattr(simulation, "squared_errors", counting)
    monkeypatch.setattr(simulation, "_BLOCK_ENTRIES", 7 * (5 * 2 + 2**4))
    curve(strategies=[OnPolicy()], rounds=[30])
    assert seen == [7, 7, 7, 3]


def test_standard_errors_are_those_of_repetition() -> None:
    """Over 60 seeds the curve scatters as its standard error says."""
    runs = [curve(strategies=[OnPolicy()], rounds=[40], seed=s, method="draws") for s in range(60)]
    means = np.array([run.mse[0, 0] for run in runs])
    errors = np.array([run.standard_error[0, 0] for run in runs])
    ratio = means.var(ddof=1) / np.mean(errors**2)
    assert (
        stats.chi2(59).ppf(ALPHA / 2) / 59 * 0.8 < ratio < stats.chi2(59).isf(ALPHA / 2) / 59 * 1.25
    )


def test_what_has_no_closed_form_is_drawn_and_named() -> None:
    """Feasible weights depend on the rewards that they weight."""
    feasible = OnPolicy(estimator="feasible", label="feasible")
    exact, drawn = (curve(strategies=[OnPolicy(), feasible], method=m) for m in simulation.METHODS)
    assert exact.methods == ("exact", "draws")
    assert drawn.methods == ("draws", "draws")
    assert np.array_equal(exact.mse[1], drawn.mse[1])
    assert not np.array_equal(exact.mse[0], drawn.mse[0])


# --- the result ---------------------------------------------------------------------------------


def test_shapes_names_and_tables() -> None:
    curves = curve(strategies=[Oracle(), OnPolicy(), SPEED(label="A"), SPEED(label="B")])
    assert curves.strategies == ("Oracle", "On-policy", "A", "B")
    assert curves.mse.shape == curves.standard_error.shape == curves.regret.shape == (4, 2)
    assert curves.rounds.tolist() == [30, 60]
    assert curves.oracle_loss[0] == pytest.approx(2 * curves.oracle_loss[1])
    mse, error = curves.of("A")
    assert mse.tolist() == curves.mse[2].tolist()
    assert error.tolist() == curves.standard_error[2].tolist()
    frame = curves.to_frame()
    line = frame[(frame.strategy == "B") & (frame.rounds == 60)]
    assert len(frame) == 8
    assert float(line.mse.iloc[0]) == curves.mse[3, 1]
    assert float(line.regret.iloc[0]) == pytest.approx(curves.mse[3, 1] - curves.oracle_loss[1])
    assert float(line.standard_error.iloc[0]) == curves.standard_error[3, 1]
    with pytest.raises(ValueError, match=r"strategy.*'Oracle'.*got 'C'"):
        curves.of("C")


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"policy": [0.5, 0.5]}, ValueError, r"policy.*\(5,\).*\(2,\)"),
        ({"policy": [0.3, 0.3, 0.3, 0.3, 0.3]}, ValueError, "policy.*sum to 1.*1.5"),
        ({"strategies": []}, ValueError, "strategies.*at least one"),
        ({"strategies": [SPEED(), SPEED(covariance="psd")]}, ValueError, "distinct.*SPEED"),
        ({"rounds": []}, ValueError, "rounds.*at least one"),
        ({"rounds": [0]}, ValueError, "rounds.*at least 1.*0"),
        ({"rounds": [10.5]}, TypeError, "rounds.*whole number.*10.5"),
        ({"rounds": [1], "strategies": [SPEED()]}, ValueError, "rounds.*more than.*got 1"),
        ({"replications": 1}, ValueError, "replications.*at least 2.*1"),
        ({"replications": 10.0}, TypeError, "replications.*whole number.*10.0"),
        ({"seed": -1}, ValueError, "seed.*at least 0.*-1"),
        ({"seed": None}, TypeError, "seed.*whole number.*None"),
        ({"method": "guess"}, ValueError, "method.*'exact', 'draws'.*guess"),
        (
            {"bandit": LinearBandit(np.eye(5), np.zeros(5), variances=[1, 1, 1, 1, 0])},
            ValueError,
            "variances.*greater than 0.*0",
        ),
    ],
)
def test_bad_arguments_are_refused(changes: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        curve(**changes)


@pytest.mark.parametrize("n_jobs", [0, 1.5, "two"])
def test_bad_numbers_of_workers_are_refused(n_jobs: object) -> None:
    with pytest.raises((TypeError, ValueError), match=r"^n_jobs:"):
        curve(n_jobs=n_jobs, replications=2)


def test_a_file_tells_how_far_a_simulation_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, seen = tmp_path / "progress", []
    original = squared_errors

    def watching(*job: object) -> object:
        seen.append(path.read_text() if path.exists() else "")
        return original(*job)  # type: ignore[arg-type]

    monkeypatch.setattr(simulation, "squared_errors", watching)
    monkeypatch.setattr(simulation, "_BLOCK_ENTRIES", 7 * (5 * 2 + 2**4))
    monkeypatch.setenv(PROGRESS_FILE, str(path))
    curve(strategies=[OnPolicy()], rounds=[30])
    assert seen == ["", "1/4", "2/4", "3/4"]
    assert not path.exists()
    monkeypatch.setenv(PROGRESS_FILE, str(tmp_path / "no" / "folder"))
    curve(strategies=[OnPolicy()], rounds=[30])


def test_a_file_that_cannot_be_removed_costs_no_simulation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PROGRESS_FILE, str(tmp_path))  # a folder: neither written nor removed
    watched = curve(strategies=[OnPolicy()], rounds=[30])
    monkeypatch.delenv(PROGRESS_FILE)
    assert same(watched, curve(strategies=[OnPolicy()], rounds=[30]))

    def held(path: Path, **_: object) -> None:
        raise PermissionError(13, "used by another process", str(path))

    monkeypatch.setenv(PROGRESS_FILE, str(tmp_path / "progress"))
    with monkeypatch.context() as open_elsewhere:
        open_elsewhere.setattr(Path, "unlink", held)
        assert same(watched, curve(strategies=[OnPolicy()], rounds=[30]))


def test_the_bar_shows_what_is_done_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Block by block, the numbers that a callable gets, and the replications of the answer."""
    progress = pytest.importorskip("rich.progress")
    updates: list[tuple[float, float]] = []
    original = progress.Progress.update

    def update(bar: object, task: object, *, completed: float, total: float) -> None:
        updates.append((completed, total))
        original(bar, task, completed=completed, total=total)

    monkeypatch.delenv(PROGRESS_FILE, raising=False)
    monkeypatch.setattr(simulation, "_BLOCK_ENTRIES", 7 * (5 * 2 + 2**4))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(progress.Progress, "update", update)
    curve(strategies=[OnPolicy()], rounds=[30], progress=True)
    assert updates == [(1, 4), (2, 4), (3, 4), (4, 4)]


@pytest.mark.parametrize("terminal", [True, False])
def test_a_bar_is_shown_on_a_terminal_and_nowhere_else(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("rich")
    monkeypatch.delenv(PROGRESS_FILE, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    watched = curve(strategies=[OnPolicy()], progress=True)
    shown = capsys.readouterr()
    assert ("replications" in shown.err) == terminal
    assert shown.out == ""
    assert same(watched, curve(strategies=[OnPolicy()]))


def test_a_bar_without_rich_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PROGRESS_FILE, raising=False)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    with pytest.raises(ImportError, match=r"progress=True needs rich, which is not installed"):
        curve(progress=True)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    curve(progress=True)
