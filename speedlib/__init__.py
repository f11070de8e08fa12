"""SPEED and optimal designs for policy evaluation in linear heteroscedastic bandits.

The names below are the public interface; the first line of each module says what it does. Features,
variances and the direction c may have any unit in which their sizes lie between 1e-60 and 1e60. A
number beyond this range raises an error that names the argument.
"""

from speedlib.advice import Advice, advise
from speedlib.asymptotics import best_exploration_length, estimation_cost
from speedlib.bandit import LinearBandit
from speedlib.covariance import CovarianceEstimate, estimate_covariance
from speedlib.curves import MSECurves
from speedlib.designs import (
    Design,
    DesignWarning,
    design_efficiency,
    information_matrix,
    optimal_design,
    pe_loss,
    target_direction,
)
from speedlib.environments import (
    Environment,
    fit_environment,
    high_dimensional_ball,
    motivating_example,
    one_hot,
    unit_ball,
)
from speedlib.estimators import ValueEstimate, least_squares, policy_value
from speedlib.experiment import Experiment
from speedlib.identification import Identifiability, identifiability
from speedlib.limits import Limits
from speedlib.rewards import Rewards
from speedlib.rounding import ceil_counts, efficient_counts, floor_counts, round_design
from speedlib.savings import Saving, estimate_saving
from speedlib.simulation import mse_curve
from speedlib.slopes import (
    FittedSlope,
    Slope,
    fitted_slope,
    log_slope,
    quantile_slope,
    slope_weights,
)
from speedlib.strategies import (
    SPEED,
    AdaptiveNeyman,
    AOptimal,
    BookedOptimism,
    DOptimal,
    FixedDesign,
    GOptimal,
    OnPolicy,
    Oracle,
    PerArm,
    PlugIn,
    Uniform,
)
from speedlib.trials import Commitment, Strategy, Trial, commit, play

__version__ = "0.2.0"

__all__ = [
    "SPEED",
    "AOptimal",
    "AdaptiveNeyman",
    "Advice",
    "BookedOptimism",
    "Commitment",
    "CovarianceEstimate",
    "DOptimal",
    "Design",
    "DesignWarning",
    "Environment",
    "Experiment",
    "FittedSlope",
    "FixedDesign",
    "GOptimal",
    "Identifiability",
    "Limits",
    "LinearBandit",
    "MSECurves",
    "OnPolicy",
    "Oracle",
    "PerArm",
    "PlugIn",
    "Rewards",
    "Saving",
    "Slope",
    "Strategy",
    "Trial",
    "Uniform",
    "ValueEstimate",
    "advise",
    "best_exploration_length",
    "ceil_counts",
    "commit",
    "design_efficiency",
    "efficient_counts",
    "estimate_covariance",
    "estimate_saving",
    "estimation_cost",
    "fit_environment",
    "fitted_slope",
    "floor_counts",
    "high_dimensional_ball",
    "identifiability",
    "information_matrix",
    "least_squares",
    "log_slope",
    "motivating_example",
    "mse_curve",
    "one_hot",
    "optimal_design",
    "pe_loss",
    "play",
    "policy_value",
    "quantile_slope",
    "round_design",
    "slope_weights",
    "target_direction",
    "unit_ball",
]
