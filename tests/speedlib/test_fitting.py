"""Variances for residuals that come from elsewhere, and their calibration."""

from __future__ import annotations

import numpy as np
import pytest

from speedlib.bandit import quadratic_form
from speedlib.fitting import calibration, fit_model, fit_variances

SIGMA = np.array([[0.5, 0.2], [0.2, 0.3]])


def planted(size: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(size, 2)) + np.array([2.0, 0.0])
    return X, rng.normal(size=size) * np.sqrt(quadratic_form(X, SIGMA))


def test_planted_variances_are_found() -> None:
    X, noise = planted(40_000, 1)
    np.testing.assert_allclose(fit_variances(X, noise**2), SIGMA, atol=0.03)


def test_variances_are_those_of_the_whole_fit_for_its_own_residuals() -> None:
    X, noise = planted(500, 2)
    y = X @ [1.0, -1.0] + noise
    fit = fit_model(X, y, tolerance=1e-12)
    np.testing.assert_allclose(fit_variances(X, (y - X @ fit.theta) ** 2), fit.Sigma, rtol=1e-4)


@pytest.mark.parametrize(
    ("squares", "floor", "message"),
    [([1.0, -1.0, 1.0], 0.1, "squares: must be at least 0"), ([1.0, 1.0, 1.0], 1.0, "floor")],
)
def test_bad_squares_and_floors_are_refused(squares: list, floor: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit_variances([[1.0], [2.0], [3.0]], squares, variance_floor=floor)


def test_calibration_by_hand() -> None:
    found = calibration([3.0, 1.0, 4.0, 2.0, 5.0], [0.0, 2.0, 6.0, 4.0, 9.0], groups=2)
    assert found.rows.tolist() == [3, 2]
    assert found.fitted.tolist() == [2.0, 4.5]
    assert found.observed.tolist() == [2.0, 7.5]
    np.testing.assert_allclose(found.standard_error, [2 / np.sqrt(3), 1.5])
    frame = found.to_frame()
    assert frame.index.tolist() == [1, 2]
    assert frame["mean squared residual"].tolist() == [2.0, 7.5]


def test_a_right_model_is_calibrated_and_a_wrong_one_is_not() -> None:
    X, noise = planted(20_000, 3)
    right = calibration(quadratic_form(X, SIGMA), noise**2)
    scores = (right.observed - right.fitted) / right.standard_error
    assert np.abs(scores).max() < 4
    wrong = calibration(quadratic_form(X, SIGMA), np.mean(noise**2) * noise**0)
    assert np.abs(wrong.observed - wrong.fitted).max() > 0.5


def test_every_group_needs_two_rows() -> None:
    with pytest.raises(
        ValueError, match="groups: each group needs two of the 5 rows; got 3 groups"
    ):
        calibration(np.ones(5), np.ones(5), groups=3)
