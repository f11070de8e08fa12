"""What is read off curves: intervals, slopes, tables, and files that are whole or absent."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from speedlib import curves as curves_module
from speedlib.curves import MSECurves
from speedlib.simulation import mse_curve
from speedlib.strategies import OnPolicy, Oracle

from .cases import BALL

NAMES = [field.name for field in dataclasses.fields(MSECurves)]


def made(
    regret: np.ndarray, spread: float = 0.0, seed: int = 0, groups: int = 32, rounds: object = None
) -> MSECurves:
    """Curves of one strategy whose groups scatter about a regret with a relative spread."""
    n = np.array([100, 1000, 10_000, 100_000]) if rounds is None else np.asarray(rounds)
    rng = np.random.default_rng(seed)
    loss = 3.0 / n
    noise = 1 + spread * rng.standard_normal((1, n.size, groups))
    means = loss[:, None] + regret[:, None] * noise
    return MSECurves(
        strategies=("S",),
        methods=("exact",),
        rounds=n,
        replications=groups * 10,
        mse=means.mean(axis=-1),
        standard_error=means.std(axis=-1, ddof=1) / np.sqrt(groups),
        inestimable=np.zeros((1, n.size)),
        oracle_loss=loss,
        group_means=means,
        group_sizes=np.full(groups, 10),
    )


N = np.array([100, 1000, 10_000, 100_000])


def test_slope_of_a_power_is_its_exponent() -> None:
    curves = made(7.0 * N**-1.5)
    for slope in [curves.slope("S"), *curves.local_slopes("S")]:
        assert slope == pytest.approx((-1.5, -1.5, -1.5), abs=1e-6)


def test_slope_is_that_of_a_regression_on_the_budgets_asked_for() -> None:
    regret = np.array([1.0, 0.3, 0.02, 0.001])
    curves = made(regret)
    expected = stats.linregress(np.log(N[1:]), np.log(regret[1:])).slope
    assert curves.slope("S", low=1000).estimate == pytest.approx(expected)
    assert curves.slope("S", low=1000, high=10_000) == curves.local_slopes("S")[1]


@pytest.mark.slow
@pytest.mark.parametrize("groups", [8, 32])
def test_intervals_of_slopes_cover_as_often_as_they_say(
    groups: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over 300 data sets; a bootstrap of few groups covers a little less than its level."""
    monkeypatch.setattr(curves_module, "RESAMPLES", 500)
    hits = 0
    for seed in range(300):
        slope = made(N**-1.5, spread=0.4, seed=seed, groups=groups).slope("S", level=0.9)
        hits += slope.low <= -1.5 <= slope.high
    assert stats.binom.ppf(1e-4, 300, 0.86) <= hits <= stats.binom.ppf(1 - 1e-4, 300, 0.93)


def test_a_regret_that_is_not_positive_has_no_slope() -> None:
    curves = made(np.array([1.0, 0.1, -0.01, 0.001]))
    with pytest.raises(ValueError, match=r"strategy.*positive.*S after 10000 rounds is -0.01"):
        curves.slope("S")
    assert np.isfinite(curves.slope("S", high=1000).estimate)


def test_a_regret_lost_in_noise_has_an_endless_interval() -> None:
    curves = made(N**-1.5)
    # Regrets of three groups in four are below zero, so that many a resample's is.
    lost = np.where(np.arange(32) % 4 == 0, 10.0, -3.0) * N[:, None] ** -1.5
    curves = dataclasses.replace(curves, group_means=(curves.oracle_loss[:, None] + lost)[None])
    slope = curves.slope("S", high=1000)
    assert (slope.low, slope.high) == (-np.inf, np.inf)
    assert np.isfinite(slope.estimate)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: c.slope("T"), r"strategy.*\('S',\).*'T'"),
        (lambda c: c.slope("S", low=5000, high=20_000), "two budgets.*5000.*20000"),
        (lambda c: c.slope("S", level=1.0), "level.*between 0 and 1.*1.0"),
        (lambda c: c.interval(0), "level.*between 0 and 1.*0"),
        (lambda c: c.of("T"), r"strategy.*'T'"),
    ],
)
def test_bad_questions_are_refused(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(made(N**-1.5))  # type: ignore[operator]


def test_equal_budgets_alone_have_no_slope() -> None:
    with pytest.raises(ValueError, match="two budgets"):
        made(np.ones(2), rounds=[50, 50]).slope("S")


def test_equal_neighbours_have_no_local_slope() -> None:
    with pytest.raises(ValueError, match=r"two different budgets.*\[50, 50\]"):
        made(np.array([2.0, 1.0, 1.0]), rounds=[20, 50, 50]).local_slopes("S")


def test_intervals_are_normal() -> None:
    curves = made(N**-1.5, spread=1.0)
    low, high = curves.interval(0.9)
    assert (low + high) / 2 == pytest.approx(curves.mse)
    assert (high - low) / curves.standard_error == pytest.approx(2 * stats.norm.isf(0.05))


def test_simulated_groups_scatter_as_the_standard_error_says() -> None:
    curves = mse_curve(BALL.bandit, BALL.policy, [OnPolicy()], [50], 3200, seed=4, method="draws")
    assert curves.group_sizes.tolist() == [100] * 32
    ratio = curves.group_means[0, 0].var(ddof=1) / 32 / curves.standard_error[0, 0] ** 2
    assert stats.chi2(31).ppf(1e-4) / 31 < ratio < stats.chi2(31).isf(1e-4) / 31


# --- files --------------------------------------------------------------------------------------


def test_a_file_gives_back_every_bit(tmp_path: Path) -> None:
    curves = mse_curve(BALL.bandit, BALL.policy, [Oracle(), OnPolicy()], [30, 60], 40, seed=1)
    path = tmp_path / "curves of a run.npz"
    curves.save(path)
    back = MSECurves.load(path)
    for name in NAMES:
        one, other = getattr(curves, name), getattr(back, name)
        assert type(one) is type(other)
        assert np.array_equal(one, other)
        assert np.asarray(one).dtype == np.asarray(other).dtype
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    (tmp_path / "other").touch()
    assert path.stat().st_mode == (tmp_path / "other").stat().st_mode
    assert repr(back) == "MSECurves(Oracle, On-policy; rounds [30, 60], 40 replications)"


def test_nothing_half_written_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "curves.npz"
    made(N**-1.5).save(path)
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        made(N**-1.0).save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["curves.npz"]


def damaged(path: Path, kind: str) -> None:
    made(N**-1.5).save(path)
    content = path.read_bytes()
    if kind == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind == "text":
        path.write_text("rounds,mse\n1,2\n")
    elif kind == "other":
        np.savez(path, a=np.ones(3))
    elif kind == "pickle":
        np.savez(path, format=np.array(["x", {}], dtype=object))
    elif kind == "array":
        with path.open("wb") as file:
            np.save(file, np.ones(3))


@pytest.mark.parametrize("kind", ["cut", "empty", "text", "other", "pickle", "array"])
def test_damaged_and_foreign_files_are_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "curves.npz"
    damaged(path, kind)
    with pytest.raises(ValueError, match=r"path: .*curves\.npz is not a file of curves"):
        MSECurves.load(path)


@pytest.mark.slow
def test_no_damage_of_a_byte_or_two_gets_through(tmp_path: Path) -> None:
    """The file is refused, or the damage hit nothing that is read."""
    curves, path = made(N**-1.5, spread=0.3), tmp_path / "curves.npz"
    curves.save(path)
    content, rng, refused = path.read_bytes(), np.random.default_rng(12), 0
    for _ in range(400):
        changed = bytearray(content)
        for place in rng.integers(len(content), size=2):
            changed[place] = rng.integers(256)
        path.write_bytes(changed)
        try:
            back = MSECurves.load(path)
        except ValueError as error:
            refused += 1
            assert "is not a file of curves" in str(error)
        else:
            assert all(np.array_equal(getattr(curves, n), getattr(back, n)) for n in NAMES)
    assert 200 < refused < 400


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no such folder.*nowhere"):
        made(N**-1.5).save(tmp_path / "nowhere" / "curves.npz")


def test_a_missing_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        MSECurves.load(tmp_path / "none.npz")
