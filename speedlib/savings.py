r"""What an experiment saves: how many rounds of the target policy would be equally precise.

Let an experiment have pulled action a T(a) times and combine mean rewards with coefficients
:math:`\ell`. Given pulls and coefficients, its mean squared error is :math:`e = \sum_a
\ell_a^2\sigma^2(a)/T(a)`. Running the target policy itself for m rounds and averaging the rewards
has the mean squared error :math:`\sum_a \pi(a)\,[\sigma^2(a) + (\mu(a) - v(\pi))^2] / m`. With
weighted least squares and the true variances, the error is, in the limit of many rounds,
:math:`c^\top A(\pi)^- c / m`. The experiment is worth m rounds of the policy if this error equals
e; m is a real number. The true m depends on the true means and variances, and on the pulls and
coefficients of this experiment. It is estimated from the experiment's own rewards.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from speedlib._tolerances import (
    NO_DEVIATION,
    SAVING_FLOOR,
    SAVING_OPTIMALITY,
    VANISHING_VARIANCE,
)
from speedlib.bandit import LinearBandit
from speedlib.checks import Flags, Floats, check_count, check_share
from speedlib.covariance import covariance_estimate
from speedlib.criteria import pe_loss
from speedlib.estimators import fit_parameter
from speedlib.rewards import Rewards
from speedlib.strategies.explore_commit import ExploreThenCommitTrial
from speedlib.strategies.plugin import PlugIn
from speedlib.trials import Setting, commit

__all__ = ["ON_POLICY", "Saving", "estimate_saving"]

#: How the rewards of the target policy would be used, in the order of the fields of `Saving`.
ON_POLICY = ("plain average", "weighted least squares")


@dataclass(frozen=True, eq=False)
class Saving:
    """Rounds that the target policy would have needed, for each estimator in `ON_POLICY`.

    Attributes
    ----------
    losses : ndarray, shape (2,)
        The policy's mean squared error times the number of rounds, in units of reward squared, for
        the means and variances fitted to all rewards.
    rounds : ndarray, shape (2,)
        Estimated number of rounds after which the policy is as precise as the experiment, corrected
        for bias. It is finite and lies between `low` and `high`.
    low, high : ndarray, shape (2,)
        Ends of bootstrap intervals for the true number; 0 and infinite if too many of the repeated
        experiments do not determine the value.

    Examples
    --------
    >>> import numpy as np
    >>> from speedlib import SPEED, commit, estimate_saving, unit_ball
    >>> ball, rng = unit_ball(), np.random.default_rng(2)
    >>> trial = SPEED.practical().begin(ball.bandit.features, ball.policy, rounds=400, rng=1)
    >>> commitment = commit(trial, lambda counts: ball.bandit.pull(counts, rng))
    >>> last = ball.bandit.pull(commitment.counts, rng)
    >>> saving = estimate_saving(trial, last, seed=3, repetitions=20)
    >>> saving.rounds.shape, bool((saving.low <= saving.rounds).all())
    ((2,), True)
    """

    losses: Floats
    rounds: Floats
    low: Floats
    high: Floats


def estimate_saving(
    trial: ExploreThenCommitTrial,
    rewards: Rewards,
    *,
    seed: int,
    repetitions: int = 1000,
    level: float = 0.95,
) -> Saving:
    r"""Estimate how many rounds of the target policy an experiment is worth.

    Parameters
    ----------
    trial : ExploreThenCommitTrial
        The experiment: a single live trial of a plug-in strategy, such as SPEED, after exploration.
    rewards : Rewards
        The rewards of the last pulls, shape (A,).
    seed : int
        Seed of the repetitions.
    repetitions : int
        Simulated repetitions behind the interval, at least 2.
    level : float
        Level of the interval, strictly between 0 and 1.

    Returns
    -------
    Saving

    Raises
    ------
    RuntimeError
        If exploration is not finished.
    TypeError
        If the strategy of the trial is not a plug-in strategy: only these use the model from which
        the experiment is simulated again.
    ValueError
        If an argument breaks its rule, the trial is a batch, the rewards are not those of its last
        pulls or show no noise, or its pulls do not determine the value.

    Notes
    -----
    Means and variances are fitted to all rewards, including those of the commitment. The variances
    are estimated by `estimate_covariance` with the method ``"psd"`` and its second, reweighted
    regression. The variances from exploration alone are not used: they decided the pulls, so they
    make the chosen actions look too quiet, and a saving computed from them is too large.

    Let :math:`\hat m` be the ratio of errors for the fitted means and variances. The whole
    experiment, exploration included, is simulated again R times in the bandit that was fitted, with
    Gaussian noise (a parametric bootstrap). In the fitted bandit, the true number :math:`m_r` of
    each repetition is known. The number :math:`\hat m_r` estimated from its rewards has the error
    :math:`\epsilon_r = \log(\hat m_r / m_r)`, and

    .. math:: m \approx \hat m\, e^{-\operatorname{median}\epsilon}, \qquad
              \bigl[\hat m\, e^{-q_{1-\alpha/2}},\; \hat m\, e^{-q_{\alpha/2}}\bigr],

    with the quantiles q of :math:`\epsilon`. This assumes that errors in the fitted bandit are
    distributed as in the true one. In 200 experiments with random bandits of 12 actions in 4 or 6
    dimensions, 1,000 to 10,000 rounds, `SPEED.practical` and 200 repetitions, the median of
    estimate over truth was 1.01 for the plain average and 1.00 for weighted least squares, and
    intervals of 95 % held the truth in 92 and 91 % of the experiments. Most of the intervals that
    missed the truth missed it narrowly. If the budget is small and the variances are known only
    roughly, intervals are somewhat too short. If the pulls do not determine the variances of all
    actions that the target policy takes, no estimate of the saving is reliable.

    The cost is R simulated experiments. Each needs two regressions over the positive semidefinite
    matrices in addition to those of the strategy itself; 1,000 experiments with 12 actions take 1
    to 9 seconds.

    With ``keep_exploration=True``, all rewards enter the estimate, and its error is computed given
    the pulls, like the standard error. This error leaves out the small bias that kept rewards
    cause.

    A repetition whose pulls do not determine the value has no ratio of errors, so its
    :math:`\epsilon_r` is unknown. It counts as infinite in both directions: if the share of these
    repetitions exceeds a tail probability of the interval, `low` is 0 and `high` is infinite.
    `rounds` is corrected by the median of the known errors.

    Examples
    --------
    >>> import numpy as np
    >>> from speedlib import SPEED, unit_ball
    >>> ball, rng = unit_ball(), np.random.default_rng(2)
    >>> trial = SPEED.practical().begin(ball.bandit.features, ball.policy, rounds=2000, rng=1)
    >>> commitment = commit(trial, lambda counts: ball.bandit.pull(counts, rng))
    >>> last = ball.bandit.pull(commitment.counts, rng)
    >>> saving = estimate_saving(trial, last, seed=3, repetitions=20)
    >>> bool(saving.rounds[0] > 2000)  # worth more rounds than it took
    True
    """
    if not isinstance(trial, ExploreThenCommitTrial) or not isinstance(trial.strategy, PlugIn):
        name = getattr(trial, "name", type(trial).__name__)
        raise TypeError(f"trial: must be a trial of a plug-in strategy, such as SPEED; got {name}")
    check_count("repetitions", repetitions, 2)
    tail = (1 - check_share("level", level)) / 2
    setting = trial.setting
    if setting.replications is not None:
        raise ValueError(f"trial: must be a single trial; got {setting.replications} replications")
    bounds = setting.limits
    if setting.targets is not None or setting.history is not None or (bounds and bounds.priced):
        raise ValueError(
            "trial: must evaluate one policy, without costs and without a history; rounds are not "
            "alike otherwise, and their number says little"
        )
    # Refuses what is too early, and rewards of other pulls.
    estimable = trial.estimate(rewards).estimable
    if not estimable:
        raise ValueError(
            f"trial: the pulls of {trial.name} do not determine the value, so the experiment "
            "is worth no number of rounds; repeat it with more rounds, or with "
            'rounding="efficient", which drops no action of the design'
        )
    theta, variances = _refitted(trial, rewards)
    size = np.abs(theta @ setting.features.T).max()
    if np.sqrt(variances.max()) <= max(np.sqrt(VANISHING_VARIANCE), NO_DEVIATION * size):
        raise ValueError(
            "rewards: they show no noise, so there are no errors to compare; check that they are "
            "rewards of a noisy experiment"
        )
    if not trial.error_given_pulls(variances) > 0:
        raise ValueError(
            "trial: its target policy has the mean feature vector 0, so its value is 0 whatever "
            "the rewards are; no round is needed to estimate it"
        )
    world = LinearBandit(setting.features, theta, variances=variances)
    rng = np.random.default_rng([check_count("seed", seed, 0), 2])
    again = trial.strategy.begin(
        setting.features,
        setting.policy,
        setting.rounds,
        rng=seed,
        replications=repetitions,
        least=None if bounds is None else bounds.least,
        most=None if bounds is None else bounds.most,
    )
    assert isinstance(again, ExploreThenCommitTrial)
    last = world.pull(commit(again, lambda counts: world.pull(counts, rng)).counts, rng)
    errors = np.log(_rounds(again, *_refitted(again, last)) / _rounds(again, theta, variances))
    known = again.commitment.estimable
    least, most = _ends(errors, known, tail)
    middle = np.median(errors[known], axis=0) if known.any() else np.zeros(len(ON_POLICY))
    rounds, low, high = (
        _rounds(trial, theta, variances) * np.exp(-error) for error in (middle, most, least)
    )
    return Saving(_losses(setting, theta, variances), rounds, low, high)


def _ends(errors: Floats, known: Flags, tail: float) -> tuple[Floats, Floats]:
    """Return the quantiles `tail` and ``1 - tail`` of errors, shape (R, 2), at their widest.

    An error that is not known may be any number: it counts as the least for the lower quantile and
    as the largest for the upper one.
    """
    low, high = (np.where(known[:, None], errors, extreme) for extreme in (-np.inf, np.inf))
    outer = (
        np.quantile(low, tail, axis=0, method="lower"),
        np.quantile(high, 1 - tail, axis=0, method="higher"),
    )
    # Interpolation between a number and infinity is not a number.
    with np.errstate(invalid="ignore"):
        between = np.quantile(low, tail, axis=0), np.quantile(high, 1 - tail, axis=0)
    ends = [
        np.where(np.isfinite(end) & np.isfinite(inner), inner, end)
        for end, inner in zip(outer, between, strict=True)
    ]
    return ends[0], ends[1]


def _refitted(trial: ExploreThenCommitTrial, rewards: Rewards) -> tuple[Floats, Floats]:
    """Return the parameter, shape (..., d), and the variances, (..., A), fitted to all rewards.

    The variances with which a trial commits make the chosen actions look too quiet. Variances that
    are also fitted to the rewards of the commitment hardly do.
    """
    pooled, features = trial.explored + rewards, trial.setting.features
    estimate = covariance_estimate(
        pooled, features, "psd", reweighted=True, tolerance=SAVING_OPTIMALITY
    )
    variances = estimate.floored(SAVING_FLOOR)
    return fit_parameter(pooled, features, variances), variances


def _losses(setting: Setting, theta: Floats, variances: Floats) -> Floats:
    """Return the error of running the target policy times rounds, both ways, shape (..., 2)."""
    policy, means = setting.policy, theta @ setting.features.T
    spread = (means - (means @ policy)[..., None]) ** 2
    average = (variances + spread) @ policy
    least_squares = pe_loss(policy, setting.features, variances, policy=policy)
    return np.stack([average, np.asarray(least_squares)], axis=-1)


def _rounds(trial: ExploreThenCommitTrial, theta: Floats, variances: Floats) -> Floats:
    """Return after how many rounds the target policy is as precise, both ways, shape (..., 2)."""
    error = trial.error_given_pulls(np.broadcast_to(variances, trial.setting.shape))
    return np.asarray(_losses(trial.setting, theta, variances) / error[..., None])
