"""The public surface of the library, name by name: what is added or taken away is seen here.

A module without an underscore says in `__all__` what it offers. A change of this list is one that
users notice: it belongs into the changelog.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import speedlib

ROOT = Path(__file__).parents[2]

SURFACE = {
    "speedlib": """
        AOptimal AdaptiveNeyman Advice BookedOptimism Commitment CovarianceEstimate DOptimal Design
        DesignWarning Environment Experiment FittedSlope FixedDesign GOptimal Identifiability Limits
        LinearBandit MSECurves OnPolicy Oracle PerArm PlugIn Rewards SPEED Saving Slope Strategy
        Trial Uniform ValueEstimate advise best_exploration_length
        ceil_counts commit design_efficiency efficient_counts estimate_covariance estimate_saving
        estimation_cost fit_environment fitted_slope floor_counts high_dimensional_ball
        identifiability information_matrix least_squares log_slope motivating_example mse_curve
        one_hot optimal_design pe_loss play policy_value quantile_slope round_design slope_weights
        target_direction unit_ball
    """,
    "speedlib.advice": """
        Advice NOISE Range Reason Size advise
    """,
    "speedlib.asymptotics": """
        best_exploration_length estimation_cost
    """,
    "speedlib.bandit": """
        LinearBandit NOISE_LAWS quadratic_form standard_noise
    """,
    "speedlib.checks": """
        Counts Flags Floats Indices check_actions check_budgets check_choice check_count
        check_counts check_designs check_direction check_features check_finite check_flag
        check_not_negative check_number check_policy check_problems check_psd check_replications
        check_rng check_rounds check_share check_sizes check_variances check_vector check_weights
        frozen
    """,
    "speedlib.comparison": """
        Comparison Ratio by_variance compare compare_with_best sample_actions shares with_ends
        with_half_width
    """,
    "speedlib.covariance": """
        COVARIANCE_ESTIMATES CovarianceEstimate estimate_covariance
    """,
    "speedlib.criteria": """
        CRITERIA information_matrix pe_loss target_direction
    """,
    "speedlib.curves": """
        MSECurves
    """,
    "speedlib.designs": """
        CRITERIA Design DesignWarning design_efficiency information_matrix optimal_design pe_loss
        target_direction
    """,
    "speedlib.environments": """
        Environment Fit PREPROCESSINGS fit_environment fit_model high_dimensional_ball
        motivating_example one_hot prepare_table threshold_policy unit_ball
    """,
    "speedlib.estimators": """
        ValueEstimate conditional_variance least_squares normal_interval policy_value
        value_coefficients
    """,
    "speedlib.experiment": """
        Assignment Books Experiment
    """,
    "speedlib.exploration": """
        EXPLORATIONS SAMPLINGS check_exploration_length exploration_counts exploration_design
        exploration_length identifiable_design pca_directions
    """,
    "speedlib.factorisation": """
        Factors factorise
    """,
    "speedlib.fitting": """
        Calibration Fit PREPROCESSINGS calibration fit_model fit_variances prepare_table
    """,
    "speedlib.identification": """
        Identifiability identifiability quadratic_coordinates
    """,
    "speedlib.limits": """
        Limits
    """,
    "speedlib.live": """
        Actions Progress advance read_actions read_log
    """,
    "speedlib.measurements": """
        Measurements read_measurements
    """,
    "speedlib.psd": """
        fit_psd
    """,
    "speedlib.quadratic": """
        matrix_to_svec quadratic_features svec_to_matrix
    """,
    "speedlib.rewards": """
        Rewards
    """,
    "speedlib.rounding": """
        ROUNDINGS ceil_counts efficient_counts floor_counts round_design
    """,
    "speedlib.savings": """
        ON_POLICY Saving estimate_saving
    """,
    "speedlib.simulation": """
        METHODS Moments conditional_moments mse_curve
    """,
    "speedlib.slopes": """
        FittedSlope Slope fitted_slope log_slope quantile_slope slope_weights
    """,
    "speedlib.solvers": """
        BatchDesigns ElfvingSolution ExchangeDesign SmoothDesigns elfving_design exchange_design
        pe_designs smooth_designs
    """,
    "speedlib.solvers.batch": """
        BatchDesigns pe_designs
    """,
    "speedlib.solvers.batch_smooth": """
        SmoothDesigns smooth_designs
    """,
    "speedlib.solvers.elfving": """
        ElfvingSolution elfving_design
    """,
    "speedlib.solvers.exchange": """
        ExchangeDesign exchange_design
    """,
    "speedlib.solvers.multiplicative": """
        multiplicative_design
    """,
    "speedlib.strategies": """
        AOptimal AdaptiveNeyman BookedOptimism DOptimal ExploreThenCommit ExploreThenCommitTrial
        FixedDesign GOptimal OnPolicy Oracle PerArm PlugIn SPEED Uniform
    """,
    "speedlib.strategies.booked": """
        BookedOptimism
    """,
    "speedlib.strategies.explore_commit": """
        ExploreThenCommit ExploreThenCommitTrial
    """,
    "speedlib.strategies.fixed": """
        FixedDesign OnPolicy Oracle Uniform
    """,
    "speedlib.strategies.neyman": """
        AdaptiveNeyman
    """,
    "speedlib.strategies.per_arm": """
        PerArm
    """,
    "speedlib.strategies.plugin": """
        AOptimal DOptimal GOptimal PlugIn SPEED
    """,
    "speedlib.trials": """
        Commitment Pull Setting Strategy Trial commit play
    """,
}


def public_modules() -> list[str]:
    """Return the modules in whose names no part begins with an underscore."""
    found = pkgutil.walk_packages(speedlib.__path__, "speedlib.")
    names = ["speedlib", *(module.name for module in found)]
    return [name for name in names if not re.search(r"\._", name)]


def test_the_public_modules_are_these() -> None:
    assert set(public_modules()) == set(SURFACE)


@pytest.mark.parametrize("name", SURFACE)
def test_a_module_offers_these_names(name: str) -> None:
    module = importlib.import_module(name)
    assert sorted(module.__all__) == sorted(SURFACE[name].split())
    for offered in module.__all__:
        assert hasattr(module, offered), offered


@pytest.mark.parametrize("name", sorted(set(SURFACE) - {"speedlib", "speedlib.solvers"}))
def test_the_api_pages_show_each_public_module(name: str) -> None:
    """And nothing else of the library: Sphinx lists the names in `__all__`."""
    pages = "".join(page.read_text("utf-8") for page in (ROOT / "book" / "api").glob("*.md"))
    shown = re.findall(r"automodule:: (speedlib[\w.]*)", pages)
    assert shown.count(name) == 1
    assert set(shown) <= set(SURFACE)
