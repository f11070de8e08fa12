"""Environments of the Air Quality data: from its file, or from the moments that describe it.

The file must not be distributed with this project, but `data/air-quality-moments.json` may: means,
covariances, quantiles and fitted models of the data. If the file is missing, a surrogate is drawn
from these by a Gaussian copula.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from paper.datasets import info, load
from paper.datasets.files import expected_sha256, read_embedded
from speedlib import Environment, LinearBandit
from speedlib.checks import check_choice, check_count
from speedlib.environments import threshold_policy
from speedlib.fitting import calibration, fit_model, prepare_table

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

#: Five sensors and one weather quantity: the paper has six features and does not name them.
SENSORS = ("PT08.S1(CO)", "PT08.S2(NMHC)", "PT08.S3(NOx)", "PT08.S4(NO2)", "PT08.S5(O3)")
WEATHER = ("T", "RH", "AH")
#: Candidates for the "air quality value"; hydrocarbons are missing nine times out of ten.
TARGETS = {"CO": "CO(GT)", "NOx": "NOx(GT)", "NO2": "NO2(GT)", "benzene": "C6H6(GT)"}
COLUMNS = (*SENSORS, *WEATHER, *TARGETS.values())
#: Scaled and unscaled features differ by a linear map, which does not change the design.
PREPARATIONS = ("scale", "centre")
SOURCES = ("embedded", "real")
#: Which of the complete hours make the table.
HOURS = ("spread", "first", "random")

#: Size of the paper's table.
SAMPLES = 1500
MOMENTS, RESULTS = "air-quality-moments.json", "air-quality-results.json"
#: The probabilities of the stored quantiles, and the digits of stored numbers.
#:
#: :meta hide-value:
PROBABILITIES = np.linspace(0.0, 1.0, 201)
DIGITS = 9


def samples(
    table: pd.DataFrame,
    size: int = SAMPLES,
    hours: str = "spread",
    rng: np.random.Generator | None = None,
) -> pd.DataFrame:
    """Return hours at which nothing is missing, in order of time.

    Parameters
    ----------
    table : pandas.DataFrame
        As ``load("air-quality")`` returns it.
    size : int
        The number of hours. The paper says 1500, but not which of the 9357 hours these are.
    hours : {"spread", "first", "random"}
        Spread evenly over the year, the earliest, or drawn at random without replacement.
    rng : numpy.random.Generator, optional
        Source of random hours, and needed only for these.
    """
    check_choice("hours", hours, HOURS)
    complete = table[list(COLUMNS)].dropna()
    if len(complete) < check_count("size", size, 2):
        raise ValueError(f"size: only {len(complete)} hours are complete; got {size}")
    if hours == "first":
        return complete.iloc[:size]
    if hours == "spread":
        return complete.iloc[np.linspace(0, len(complete) - 1, size).round().astype(int)]
    if rng is None:
        raise ValueError("rng: hours='random' needs a generator; got None")
    return complete.iloc[np.sort(rng.choice(len(complete), size, replace=False))]


def check_hours(hours: str, source: str) -> None:
    """Check that the hours can be chosen: a surrogate has only hours spread over the year."""
    check_choice("source", source, SOURCES)
    check_choice("hours", hours, HOURS)
    if source == "embedded" and hours != "spread":
        raise ValueError(
            "hours: the surrogate is made for hours spread over the year; others need "
            f"source='real'; got {hours!r} with source={source!r}"
        )


def make_moments(table: pd.DataFrame) -> dict[str, Any]:
    """Return the content of `air-quality-moments.json` for the table of ``load("air-quality")``.

    It has the names of the samples' columns, their number, means, covariance, quantiles and the
    correlation of normal scores. Under ``"fits"``, for each choice of weather, target and
    preparation, it has the fitted parameter and covariance in the prepared coordinates, and the
    calibration of the variances.
    """
    chosen = samples(table)
    values = chosen.to_numpy()
    scores = ndtri((chosen.rank().to_numpy() - 0.5) / len(values))
    fits = {
        "/".join(choice): _fitted(chosen, *choice)
        for choice in product(WEATHER, TARGETS, PREPARATIONS)
    }
    return {
        "about": "Moments of 1500 hours of the Air Quality data; see LICENCES.md",
        "sha256 of AirQualityUCI.csv": expected_sha256(info("air-quality")),
        "columns": list(COLUMNS),
        "n": len(values),
        "means": _rounded(values.mean(axis=0)),
        "covariance": _rounded(np.cov(values.T, bias=True)),
        "correlation of normal scores": _rounded(np.corrcoef(scores.T)),
        "probabilities": _rounded(PROBABILITIES),
        "quantiles": _rounded(np.quantile(values, PROBABILITIES, axis=0).T),
        "fits": fits,
    }


def _fitted(chosen: pd.DataFrame, weather: str, target: str, preparation: str) -> dict[str, Any]:
    X, y = prepare_table(
        chosen[[*SENSORS, weather]].to_numpy(), chosen[TARGETS[target]].to_numpy(), preparation
    )
    fit = fit_model(X, y)
    found = calibration(fit.variances, (y - X @ fit.theta) ** 2)
    return {
        "theta": _rounded(fit.theta),
        "Sigma": _rounded(fit.Sigma),
        "residual variance": _rounded(fit.residual_variance),
        "calibration": {
            name: _rounded(column) for name, column in found.to_frame().to_dict("list").items()
        },
    }


def _rounded(numbers: Any) -> Any:
    if isinstance(numbers, float):
        return float(f"{numbers:.{DIGITS}g}")
    if isinstance(numbers, int):
        return numbers
    return [_rounded(number) for number in np.asarray(numbers).tolist()]


def load_moments() -> dict[str, Any]:
    """Return the stored moments; raises a DatasetError unless the file is the expected one."""
    moments: dict[str, Any] = json.loads(read_embedded(MOMENTS))
    return moments


def load_results() -> dict[str, Any]:
    """Return the stored results for the real data, with the same check."""
    results: dict[str, Any] = json.loads(read_embedded(RESULTS))
    return results


def load_fit(
    source: str = "embedded",
    *,
    hours: str = "spread",
    weather: str = "T",
    target: str = "CO",
    preprocessing: str = "scale",
    rng: np.random.Generator | None = None,
) -> dict[str, Any]:
    """Return a fit to the real data: an entry of ``"fits"`` of `make_moments`.

    Parameters
    ----------
    source, hours, weather, target, preprocessing
        See `air_quality`. For hours spread over the year, the fit comes from the moments file.
    rng : numpy.random.Generator, optional
        Source of random hours.
    """
    check_hours(hours, source)
    if hours == "spread":
        found: dict[str, Any] = load_moments()["fits"][f"{weather}/{target}/{preprocessing}"]
        return found
    return _fitted(
        samples(load("air-quality"), SAMPLES, hours, rng), weather, target, preprocessing
    )


def draw_surrogate(
    moments: Mapping[str, Any], size: int, rng: np.random.Generator
) -> dict[str, Floats]:
    """Draw rows whose columns have the distributions and the rank correlations of the data.

    Parameters
    ----------
    moments : mapping
        From `load_moments`.
    size : int
        Number of rows.
    rng : numpy.random.Generator

    Returns
    -------
    dict
        For each name, a column of numbers, shape (size,).

    Notes
    -----
    Gaussian copula: normal variables with the correlation of the data's normal scores are mapped by
    the normal distribution function and then by each column's quantiles.
    """
    correlation = np.array(moments["correlation of normal scores"])
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    shares = ndtr(rng.standard_normal((size, len(correlation))) @ root.T)
    return {
        name: np.interp(share, moments["probabilities"], quantiles)
        for name, share, quantiles in zip(
            moments["columns"], shares.T, moments["quantiles"], strict=True
        )
    }


def air_quality(
    source: str = "embedded",
    *,
    hours: str = "spread",
    weather: str = "T",
    target: str = "CO",
    preprocessing: str = "scale",
    n_actions: int = 400,
    n_low: int = 30,
    low_probability: float = 0.01,
    noise: str = "gaussian",
    rng: np.random.Generator,
) -> Environment:
    """Return the environment of the paper's Air Quality experiment, or its surrogate.

    Parameters
    ----------
    source : {"embedded", "real"}
        ``"embedded"``: features are a surrogate drawn from the moments file, with the parameter and
        covariance that were fitted to the real data. ``"real"``: features are rows of the file.
    hours : {"spread", "first", "random"}
        Which 1500 of the complete hours are used, see `samples`; random ones are drawn for each
        environment. Hours other than spread ones need ``source="real"``.
    weather : {"T", "RH", "AH"}
        The sixth feature, besides the five sensors.
    target : {"CO", "NOx", "NO2", "benzene"}
        The column that is used as the "air quality value".
    preprocessing : {"scale", "centre"}
        See `speedlib.fitting.prepare_table`.
    n_actions : int
        The number of samples that are drawn at random as actions.
    n_low, low_probability
        See `speedlib.environments.threshold_policy`.
    noise : str
        Noise law of the bandit.
    rng : numpy.random.Generator
        Source of the actions, and of random hours.

    Raises
    ------
    ValueError
        If a choice is unknown, or the hours cannot be chosen.
    DatasetError
        If the file is needed and missing or not the expected one.
    """
    check_hours(hours, source)
    for name, value, known in (
        ("weather", weather, WEATHER),
        ("target", target, tuple(TARGETS)),
        ("preprocessing", preprocessing, PREPARATIONS),
    ):
        check_choice(name, value, known)
    check_count("n_actions", n_actions, 2)
    names = [*SENSORS, weather]
    if source == "real":
        chosen = samples(load("air-quality"), SAMPLES, hours, rng)
        X, y = prepare_table(
            chosen[names].to_numpy(), chosen[TARGETS[target]].to_numpy(), preprocessing
        )
        fit = fit_model(X, y)
        theta, Sigma = fit.theta, fit.Sigma
        X = X[np.sort(rng.choice(len(X), n_actions, replace=False))]
    else:
        moments = load_moments()
        fitted = moments["fits"][f"{weather}/{target}/{preprocessing}"]
        theta, Sigma = np.array(fitted["theta"]), np.array(fitted["Sigma"])
        X = _prepared(moments, draw_surrogate(moments, n_actions, rng), names, preprocessing)
    bandit = LinearBandit(X, theta, Sigma=Sigma, noise=noise)
    policy = threshold_policy(bandit.variances, n_low, low_probability)
    return Environment("air quality" if source == "real" else "surrogate", bandit, policy)


def _prepared(
    moments: Mapping[str, Any], drawn: Mapping[str, Floats], names: list[str], preparation: str
) -> Floats:
    """Prepare drawn features like the data, with the means and deviations of the data."""
    at = [moments["columns"].index(name) for name in names]
    X = np.column_stack([drawn[name] for name in names])
    if preparation == "centre":
        X = X - np.array(moments["means"])[at]
    return np.asarray(X / np.sqrt(np.diag(moments["covariance"]))[at])
