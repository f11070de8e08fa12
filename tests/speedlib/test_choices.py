"""The named choices of strategies: refusals, criteria, tuning, a strategy of one's own."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from speedlib.covariance import estimate_covariance
from speedlib.designs import design_efficiency, optimal_design
from speedlib.simulation import mse_curve
from speedlib.solvers.batch import pe_designs
from speedlib.strategies import (
    SPEED,
    AOptimal,
    DOptimal,
    FixedDesign,
    GOptimal,
    OnPolicy,
    Oracle,
    PerArm,
    PlugIn,
    Uniform,
    _within_limits,
    plugin,
)
from speedlib.trials import Setting, Strategy

from .cases import BALL, begin, phases_of, space

# --- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choices", "error", "message"),
    [
        ({"exploration_rounds": "cbrt"}, ValueError, "exploration_rounds.*sqrt.*cbrt"),
        ({"exploration_rounds": 0}, ValueError, "exploration_rounds.*at least 1.*0"),
        ({"exploration_rounds": 10.0}, TypeError, "exploration_rounds.*whole number.*10.0"),
        (
            {"exploration": "greedy"},
            ValueError,
            "exploration.*'pca', 'uniform', 'identifiable'.*greedy",
        ),
        ({"exploration_sampling": "even"}, ValueError, "exploration_sampling.*'balanced'.*even"),
        ({"covariance": "clip"}, ValueError, "covariance.*'lstsq', 'psd'.*clip"),
        ({"rounding": "nearest"}, ValueError, "rounding.*'floor'.*nearest"),
        ({"variance_floor": 0.0}, ValueError, "variance_floor.*between 0 and 1.*0.0"),
        ({"variance_floor": 1.0}, ValueError, "variance_floor.*between 0 and 1.*1.0"),
        ({"exploration_rounds": "tuned"}, ValueError, "exploration_rounds.*tuned.*pca.*identif"),
        ({"keep_exploration": 1}, TypeError, "keep_exploration.*True or False.*1"),
        ({"reweighted": "no"}, TypeError, "reweighted.*True or False.*no"),
        ({"ridge": 0.0}, ValueError, "ridge.*between 0 and 1.*0.0"),
        ({"tolerance": 1}, ValueError, "tolerance.*between 0 and 1.*1"),
        ({"variance_floor": np.nan}, ValueError, "variance_floor.*between 0 and 1.*nan"),
    ],
)
def test_bad_choices_of_speed_are_refused(
    choices: dict, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        SPEED(**choices)


@pytest.mark.parametrize(
    ("kind", "choices", "message"),
    [
        (Oracle, {"rounding": "nearest"}, "rounding.*'efficient'.*nearest"),
        (OnPolicy, {"estimator": "ips"}, "estimator.*'wls', 'feasible', 'ols', 'mean'.*ips"),
        (OnPolicy, {"sampling": "even"}, "sampling.*'random', 'balanced'.*even"),
        (Uniform, {"estimator": "mean"}, "estimator.*'wls', 'feasible', 'ols'.*mean"),
        (Uniform, {"covariance": "clip"}, "covariance.*'psd'.*clip"),
        (PerArm, {"exploration_rounds": "tuned"}, "exploration_rounds.*tuned.*plug-in"),
    ],
)
def test_bad_choices_of_the_others_are_refused(
    kind: type[Strategy], choices: dict, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        kind(**choices)


def test_a_floor_that_is_no_number_is_refused() -> None:
    with pytest.raises(TypeError, match="variance_floor"):
        SPEED(variance_floor="low")  # type: ignore[arg-type]


def test_names_labels_and_frozen_choices() -> None:
    assert [s.name for s in (Oracle(), OnPolicy(), SPEED())] == ["Oracle", "On-policy", "SPEED"]
    assert SPEED(label="SPEED, psd").name == "SPEED, psd"
    assert dataclasses.replace(SPEED(), covariance="psd") == SPEED(covariance="psd")
    with pytest.raises(dataclasses.FrozenInstanceError):
        SPEED().covariance = "psd"  # type: ignore[misc]


# --- what the criteria commit to ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "criterion"), [(SPEED, "PE"), (AOptimal, "A"), (DOptimal, "D"), (GOptimal, "G")]
)
def test_plug_in_strategies_commit_to_the_design_of_their_criterion(
    kind: type[PlugIn], criterion: str
) -> None:
    """Of one exploration each makes what `optimal_design` calls optimal for its variances."""
    strategy = kind(exploration="uniform", exploration_rounds=60, covariance="psd")
    trial = begin(strategy, space(), np.full(8, 1 / 8), 10**6, 1, replications=3)
    phases_of(trial, space(), 2)
    for r in range(3):
        target = {"policy": np.full(8, 1 / 8)} if criterion == "PE" else {}
        best = optimal_design(space().features, trial.variances[r], criterion, **target)
        share = trial.commitment.counts[r] / trial.commitment.counts[r].sum()
        value = design_efficiency(share, space().features, trial.variances[r], criterion, **target)
        assert value > 1 - 1e-4
        assert best.efficiency_bound > 1 - 1e-6


def test_plug_in_strategies_share_exploration_and_estimation() -> None:
    learnt = []
    for kind in (SPEED, AOptimal, DOptimal, GOptimal):
        trial = begin(kind(covariance="psd"), BALL.bandit, BALL.policy, 400, 3, replications=5)
        phases_of(trial, BALL.bandit, 4)
        learnt.append(trial.variances)
    assert all(np.array_equal(learnt[0], other) for other in learnt[1:])


@pytest.mark.parametrize(
    "choices",
    [
        {"covariance": "lstsq", "reweighted": True},
        {"covariance": "psd", "reweighted": True},
        {"covariance": "ridge", "ridge": 0.3},
        {"covariance": "ridge", "ridge": 0.02, "reweighted": True},
    ],
)
def test_plug_in_strategies_estimate_as_they_were_told(choices: dict) -> None:
    """Their variances are those of `estimate_covariance` with the same choices, to the bit."""
    strategy = SPEED(exploration="uniform", exploration_rounds=50, variance_floor=1e-3, **choices)
    trial = begin(strategy, BALL.bandit, BALL.policy, 500, 3, replications=6)
    (rewards,) = phases_of(trial, BALL.bandit, 4)[:1]
    arguments = {"method" if k == "covariance" else k: value for k, value in choices.items()}
    estimate = estimate_covariance(rewards, BALL.bandit.features, **arguments)
    assert np.array_equal(trial.variances, estimate.floored(1e-3))


@pytest.mark.parametrize(
    ("kind", "solver"),
    [
        (SPEED, "pe_designs"),
        (AOptimal, "smooth_designs"),
        (DOptimal, "smooth_designs"),
        (GOptimal, "optimal_design"),
    ],
)
def test_plug_in_strategies_solve_to_the_tolerance_they_were_given(
    kind: type[PlugIn], solver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = _within_limits if solver == "pe_designs" else plugin
    original, told = getattr(module, solver), []

    def listening(*arguments: object, **options: object) -> object:
        told.append(options["tolerance"])
        return original(*arguments, **options)

    monkeypatch.setattr(module, solver, listening)
    strategy = kind(exploration="uniform", exploration_rounds=40, covariance="psd", tolerance=3e-4)
    trial = begin(strategy, space(), np.full(8, 1 / 8), 300, 1, replications=2)
    phases_of(trial, space(), 2)
    assert set(told) == {3e-4}


def test_tuned_exploration_finds_the_best_length() -> None:
    """sqrt(v n) with v = 1.477 for uniform exploration of the ball (closed form), here 12,153."""
    strategy = SPEED(exploration="uniform", exploration_rounds="tuned", covariance="psd")
    trial = begin(strategy, BALL.bandit, BALL.policy, 10**8, 5, replications=200)
    phases = phases_of(trial, BALL.bandit, 6)
    assert np.all(phases[0].rounds == 5000)
    explored = phases[0].rounds + phases[1].rounds
    assert np.median(explored) == pytest.approx(np.sqrt(1.477e8), rel=0.02)
    assert np.ptp(explored) > 0


@pytest.mark.parametrize(("advice", "explored"), [(0.0, 3), (11.2, 12), (1e9, 20), (np.inf, 20)])
def test_exploration_is_tuned_between_the_pilot_and_half_of_the_budget(
    advice: float, explored: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PlugIn, "best_length", lambda *_: np.full(7, advice))
    strategy = SPEED(exploration="uniform", exploration_rounds="tuned")
    trial = begin(strategy, BALL.bandit, BALL.policy, 40, 5, replications=7)
    phases = phases_of(trial, BALL.bandit, 6)
    assert np.all(phases[0].rounds == 3)
    assert np.all(phases[0].rounds + phases[1].rounds == explored)


# --- a strategy of one's own --------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cautious(PlugIn):
    """Half PE-optimal, half uniform."""

    default_name = "Cautious"

    def designs(self, variances: np.ndarray, setting: Setting) -> np.ndarray:
        best = pe_designs(setting.features, variances, setting.direction).weights
        return (best + 1 / best.shape[1]) / 2


@dataclasses.dataclass(frozen=True, kw_only=True)
class FirstTwo(FixedDesign):
    """Two actions alone."""

    default_name = "First two"

    def design(self, setting: Setting) -> np.ndarray:
        return np.array([0.5, 0.5, 0, 0, 0])


@pytest.mark.parametrize("strategy", [Cautious(covariance="psd"), FirstTwo()], ids=repr)
def test_a_strategy_of_ones_own_takes_a_few_lines(strategy: Strategy) -> None:
    curves = mse_curve(BALL.bandit, BALL.policy, [strategy, Oracle()], [100, 400], 300, seed=1)
    assert curves.strategies == (strategy.name, "Oracle")
    assert np.all(curves.of(strategy.name)[0] > curves.oracle_loss)
