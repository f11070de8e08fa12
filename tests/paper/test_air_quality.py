"""Air Quality: the surrogate against the moments, and the moments against the real file."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from paper import datasets
from paper.datasets import files
from paper.environments import air_quality as air
from speedbook.claims.registry import load_registry
from speedbook.notebook.files import read_notebook
from speedbook.notebook.parameters import notebook_parameters

ROOT = Path(__file__).resolve().parents[2]
MOMENTS = air.load_moments()


def column(name: str) -> int:
    return MOMENTS["columns"].index(name)


@pytest.fixture
def real(monkeypatch: pytest.MonkeyPatch, real_air_quality: Path) -> Path:
    monkeypatch.setenv(files.VARIABLE, str(real_air_quality.parent))
    return real_air_quality


@pytest.mark.slow
def test_the_surrogate_has_the_moments_of_the_data() -> None:
    drawn = air.draw_surrogate(MOMENTS, 200_000, np.random.default_rng(1))
    assert list(drawn) == list(air.COLUMNS)
    values = np.column_stack(list(drawn.values()))
    covariance = np.array(MOMENTS["covariance"])
    deviations = np.sqrt(np.diag(covariance))
    assert np.abs((values.mean(axis=0) - MOMENTS["means"]) / deviations).max() < 0.01
    assert np.abs(values.std(axis=0) / deviations - 1).max() < 0.03
    correlation = covariance / np.outer(deviations, deviations)
    assert np.abs(np.corrcoef(values.T) - correlation).max() < 0.1


def test_the_surrogate_has_the_quantiles_of_the_data() -> None:
    drawn = air.draw_surrogate(MOMENTS, 100_000, np.random.default_rng(2))
    for name in ("T", "NOx(GT)"):
        grid = np.array(MOMENTS["quantiles"][column(name)])
        assert drawn[name].min() >= grid[0]
        assert drawn[name].max() <= grid[-1]
        for place in (20, 100, 180):
            share = np.mean(drawn[name] <= grid[place])
            assert share == pytest.approx(MOMENTS["probabilities"][place], abs=0.01)


def test_a_seed_gives_the_same_surrogate_and_another_seed_another() -> None:
    first, again, other = (
        air.air_quality(rng=np.random.default_rng(seed)).bandit for seed in (1, 1, 2)
    )
    assert np.array_equal(first.features, again.features)
    assert not np.array_equal(first.features, other.features)
    assert np.array_equal(first.theta, other.theta)


@pytest.mark.parametrize("preprocessing", air.PREPARATIONS)
def test_the_surrogate_is_prepared_as_the_data_were(preprocessing: str) -> None:
    environment = air.air_quality(
        weather="AH", preprocessing=preprocessing, n_actions=20_000, rng=np.random.default_rng(3)
    )
    X = environment.bandit.features
    names = [*air.SENSORS, "AH"]
    at = [column(name) for name in names]
    deviations = np.sqrt(np.diag(MOMENTS["covariance"]))[at]
    means = np.array(MOMENTS["means"])[at] / deviations
    np.testing.assert_allclose(X.std(axis=0), 1.0, atol=0.05)
    np.testing.assert_allclose(X.mean(axis=0), means if preprocessing == "scale" else 0, atol=0.05)


def test_the_policy_avoids_thirty_noisy_actions_of_four_hundred() -> None:
    environment = air.air_quality(rng=np.random.default_rng(4))
    bandit, policy = environment.bandit, environment.policy
    assert bandit.features.shape == (400, 6)
    rare = policy < policy.max() / 2
    assert rare.sum() == 30
    assert policy[rare].sum() == pytest.approx(0.01)
    assert bandit.variances[rare].min() >= bandit.variances[~rare].max()


@pytest.mark.parametrize(
    "choice",
    [{"source": "guessed"}, {"weather": "wind"}, {"target": "O3"}, {"preprocessing": "raw"}],
)
def test_unknown_choices_are_refused(choice: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(choice))}: .*{next(iter(choice.values()))}"):
        air.air_quality(**choice, rng=np.random.default_rng(5))  # type: ignore[arg-type]


def test_the_real_environment_needs_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(files.VARIABLE, raising=False)
    monkeypatch.setattr(files, "user_cache_path", lambda _: tmp_path)
    with pytest.raises(datasets.DatasetError, match=r"\.venv.*speedbook data fetch air-quality"):
        air.air_quality("real", rng=np.random.default_rng(6))


@pytest.mark.parametrize("damage", [lambda text: text.replace("0.3", "0.4", 1), None])
def test_damaged_or_missing_moments_are_not_parsed(
    damage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = (ROOT / "data" / air.MOMENTS).read_text()
    if damage is not None:
        (tmp_path / air.MOMENTS).write_text(damage(good))
    monkeypatch.setattr(files, "DATA_FOLDER", tmp_path)
    with pytest.raises(datasets.DatasetError, match="restore it") as caught:
        air.load_moments()
    assert str(tmp_path / air.MOMENTS) in str(caught.value)


def test_the_moments_are_those_of_the_real_file_by_another_route(real: Path) -> None:
    table = datasets.load("air-quality")[list(air.COLUMNS)].dropna()
    step = (len(table) - 1) / 1499
    values = np.array([table.iloc[round(i * step)] for i in range(1500)])
    np.testing.assert_allclose(MOMENTS["means"], values.sum(axis=0) / 1500, rtol=1e-7)
    centred = values - values.sum(axis=0) / 1500
    np.testing.assert_allclose(MOMENTS["covariance"], centred.T @ centred / 1500, rtol=1e-7)
    medians = [quantiles[100] for quantiles in MOMENTS["quantiles"]]
    np.testing.assert_allclose(medians, np.median(values, axis=0), rtol=1e-7)
    # For a Gaussian copula, the correlation of scores and Spearman's rho are one function.
    spearman = stats.spearmanr(values).statistic
    scores = np.array(MOMENTS["correlation of normal scores"])
    assert np.abs(6 / np.pi * np.arcsin(scores / 2) - spearman).max() < 0.05
    assert files.expected_sha256(datasets.info("air-quality")) in MOMENTS.values()


def test_the_script_makes_the_moments_that_are_committed(
    real: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["make_air_quality_moments.py", str(real)])
    script = runpy.run_path(str(ROOT / "data" / "make_air_quality_moments.py"))
    # One of each choice is enough; all of them take long.
    monkeypatch.setattr(air, "WEATHER", ("AH",))
    monkeypatch.setattr(air, "TARGETS", {"CO": "CO(GT)"})
    script["main"].__globals__["TARGET"] = tmp_path / air.MOMENTS
    script["main"]()
    made = json.loads((tmp_path / air.MOMENTS).read_text())
    fits = made.pop("fits")
    assert {**MOMENTS, "fits": None} == {**made, "fits": None}
    for name, fit in fits.items():
        for part in ("theta", "Sigma"):
            np.testing.assert_allclose(fit[part], MOMENTS["fits"][name][part], rtol=1e-4, atol=1e-6)


def test_the_stored_results_belong_to_the_page_and_the_file() -> None:
    stored = air.load_results()
    notebook = read_notebook(ROOT / "notebooks" / "figures" / "fig1d-air-quality.ipynb")
    defaults = {each.name: each.default for each in notebook_parameters(notebook)}
    assert stored["parameters"] == defaults | {"source": "real"}
    recorded = load_registry(ROOT).of_notebook("notebooks/figures/fig1d-air-quality.ipynb")
    assert stored["records"].keys() == {claim.id for claim in recorded}
    assert "fig-aq-floor" in stored["records"]
    details = stored["records"]["fig-aq"]["details"]
    assert details["source"] == "real"
    assert [*stored["other hours"]] == ["first", "random"]
    for ratios in stored["other hours"].values():
        assert ratios.keys() == stored["records"].keys()
        assert all(
            low <= each["estimate"] <= high
            for each in ratios.values()
            for low, high in [each["interval"]]
        )
    sha256 = files.expected_sha256(datasets.info("air-quality"))
    assert stored["sha256 of AirQualityUCI.csv"] == sha256


@pytest.fixture
def hourly() -> pd.DataFrame:
    """Return a table of 200 hours, of which every fourth has a gap."""
    rng = np.random.default_rng(8)
    table = pd.DataFrame(rng.normal(size=(200, len(air.COLUMNS))), columns=list(air.COLUMNS))
    table.iloc[::4, 3] = np.nan
    return table


@pytest.mark.slow
def test_hours_are_spread_or_first_or_random(hourly: pd.DataFrame) -> None:
    complete = [place for place in range(200) if place % 4]
    rng = np.random.default_rng(9)
    first = air.samples(hourly, 30, "first")
    assert list(first.index) == complete[:30]
    spread = air.samples(hourly, 30)
    assert [complete.index(place) for place in spread.index[[0, 1, -1]]] == [0, 5, 149]
    drawn = [air.samples(hourly, 30, "random", rng) for _ in range(400)]
    assert all(set(each.index) <= set(complete) for each in drawn)
    assert all(each.index.is_monotonic_increasing and each.index.is_unique for each in drawn)
    often = np.bincount(np.concatenate([each.index for each in drawn]), minlength=200)[complete]
    # Each hour is there in a fifth of 400 draws: 80, give or take 8.
    assert often.min() > 40 and often.max() < 120
    same = air.samples(hourly, 150, "random", rng)
    pd.testing.assert_frame_equal(same, air.samples(hourly, 150, "first"))


def test_hours_that_are_not_there_are_refused(hourly: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match="size: only 150 hours are complete; got 151"):
        air.samples(hourly, 151, "first")
    with pytest.raises(ValueError, match="rng: hours='random' needs a generator; got None"):
        air.samples(hourly, 30, "random")
    with pytest.raises(ValueError, match=r"hours: .*last"):
        air.samples(hourly, 30, "last")


@pytest.mark.parametrize("hours", ["first", "random"])
def test_the_surrogate_has_no_other_hours(hours: str) -> None:
    rng = np.random.default_rng(10)
    for refused in (air.air_quality, air.load_fit):
        with pytest.raises(ValueError, match=f"hours: .*need source='real'; got '{hours}' with"):
            refused(hours=hours, rng=rng)
    air.check_hours("spread", "embedded")
    air.check_hours(hours, "real")


@pytest.mark.parametrize("hours", air.HOURS)
def test_the_real_environment_has_the_hours_asked_for(
    hours: str, hourly: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(air, "load", lambda name: hourly)
    monkeypatch.setattr(air, "SAMPLES", 100)
    found = air.air_quality(
        "real", hours=hours, n_actions=100, n_low=5, rng=np.random.default_rng(11)
    )
    chosen = air.samples(hourly, 100, hours, np.random.default_rng(11))
    X = chosen[[*air.SENSORS, "T"]].to_numpy()
    np.testing.assert_allclose(found.bandit.features, X / X.std(axis=0))
    if hours != "spread":
        fit = air.load_fit("real", hours=hours, rng=np.random.default_rng(11))
        np.testing.assert_allclose(found.bandit.theta, fit["theta"], rtol=1e-7)


def test_the_script_finds_the_stored_results_again(real: Path) -> None:
    stored = air.load_results()
    found = runpy.run_path(str(ROOT / "data" / "store_air_quality_results.py"))["results"]()
    assert found["parameters"] == stored["parameters"]
    for claim, record in stored["records"].items():
        assert found["records"][claim]["estimate"] == pytest.approx(record["estimate"], rel=1e-3)


def test_the_real_environment_has_the_model_in_the_moments(real: Path) -> None:
    choice = {"weather": "RH", "target": "NO2", "preprocessing": "centre"}
    real_one, surrogate = (
        air.air_quality(source, **choice, rng=np.random.default_rng(7)).bandit
        for source in air.SOURCES[::-1]
    )
    np.testing.assert_allclose(real_one.theta, surrogate.theta, rtol=1e-4)
    scale = np.abs(surrogate.Sigma).max()
    np.testing.assert_allclose(real_one.Sigma, surrogate.Sigma, atol=1e-4 * scale)
    assert np.median(real_one.variances) == pytest.approx(np.median(surrogate.variances), rel=0.25)
