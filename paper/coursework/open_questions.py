"""Open questions: a judgement, checked for its form, and a strategy, checked against the policy."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from paper.coursework._feedback import number_of, passed, require
from paper.coursework._names import arrows, first_that, frozen, normalised, numbers, shares_of
from speedlib import LinearBandit, Rewards, identifiability, optimal_design

#: Sentences of the paper, of which each student gets one; brackets mark what is not its wording.
SENTENCES = (
    "Observe that SPEED's MSE decreases faster than other baselines as the number of rounds "
    "increases.",
    "We show that regret scales as O(d³ n^(-3/2)) and prove a matching lower bound of "
    "Ω(d² n^(-3/2)).",
    "[We] demonstrate that it achieves MSE comparable to an optimal oracle.",
    "[We] demonstrate that it achieves MSE [...] much lower than simply running the target policy.",
)
#: Words of a judgement, at least and at most, and different ones at least.
FEWEST, MOST, DIFFERENT = 80, 300, 45
#: Experiments with which a strategy is tried.
EXPERIMENTS = 400
#: A strategy must stay below this share of the policy's error, within this many standard errors.
SHARE, STANDARD_ERRORS = 0.6, 3.0


class Trial(NamedTuple):
    """What a strategy may use: features (A, d), the policy (A,), and the number of rounds."""

    features: np.ndarray
    policy: np.ndarray
    rounds: int


def sentence(student: str) -> str:
    """Return the sentence of the paper that the student judges."""
    return SENTENCES[int(numbers(student, "sentence").integers(len(SENTENCES)))]


def check_judgement(student: str, answer: Any) -> None:
    """Check the form of a judgement; the teacher reads what it says."""
    require(isinstance(answer, str) and answer.strip(), "answer is still empty.")
    words = re.findall(r"[^\W_]+", answer)
    require(
        len(words) >= FEWEST,
        f"Your answer has {len(words)} words; it needs at least {FEWEST}.",
    )
    require(len(words) <= MOST, f"Your answer has {len(words)} words; it may have {MOST}.")
    different = len({word.casefold() for word in words})
    require(
        different >= DIFFERENT,
        f"Your answer has {different} different words: say more than one thing.",
    )
    own = answer.replace(sentence(student), "")
    require(
        re.search(r"\d", own),
        "Support your judgement with a number: one that you computed, or one from the book.",
    )
    passed("Task 20")


def trial_problem(student: str) -> Trial:
    """Return what the student's strategy is given."""
    bandit, policy, rounds = _trial_problem(normalised(student))
    return Trial(bandit.features, policy, rounds)


@lru_cache(maxsize=256)
def _trial_problem(student: str) -> tuple[LinearBandit, np.ndarray, int]:
    Drawn = tuple[LinearBandit, np.ndarray]

    def draw(rng: np.random.Generator) -> Drawn:
        x = arrows(rng, 5, 2)
        root = np.diag(rng.choice([0.3, 0.5, 1.0, 2.0, 3.0], 2, replace=False))
        turn = rng.uniform(0, np.pi)
        root = root @ [[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]
        theta = rng.integers(1, 4, 2).astype(float)
        return LinearBandit(x, theta, Sigma=root.T @ root), shares_of(rng, 5)

    def accept(drawn: Drawn) -> bool:
        bandit, policy = drawn
        best = optimal_design(bandit.features, bandit.variances, policy=policy)
        spread = bandit.variances.max() / bandit.variances.min()
        ratio = (policy @ bandit.variances) / best.value
        seen = identifiability(bandit.features, np.ones(5)).complete
        return bool(seen and len(best.support) == 2 and 3 < ratio < 8 and spread < 60)

    rng = numbers(student, "strategy")
    bandit, policy = first_that(rng, draw, accept)
    return bandit, frozen(policy), 400


class _Till:
    """An experiment that hands out rewards and counts the rounds."""

    def __init__(self, bandit: LinearBandit, rounds: int, rng: np.random.Generator) -> None:
        self.bandit, self.left, self.rng = bandit, rounds, rng

    def pull(self, counts: Any) -> Rewards:
        """Return the rewards of some tries, whole numbers that the rest of the budget allows."""
        tries = np.asarray(counts)
        require(
            tries.shape == (self.bandit.n_actions,) and np.all(tries >= 0),
            f"pull needs one number of tries for each of the {self.bandit.n_actions} actions.",
        )
        require(np.all(tries == np.round(tries)), "pull needs whole numbers of tries.")
        spent = int(tries.sum())
        require(
            spent <= self.left,
            f"Your strategy spends too much: {self.left} rounds are left, and it pulls {spent}.",
        )
        self.left -= spent
        return self.bandit.pull(tries.astype(int), self.rng)


def running_the_policy(student: str) -> float:
    """Return the mean squared error of running the policy and averaging its rewards."""
    bandit, policy, rounds = _trial_problem(normalised(student))
    return float(policy @ bandit.variances / rounds)


def oracle_share(student: str) -> float:
    """Return the error of the best design with known noise, as a share of the policy's error."""
    bandit, policy, rounds = _trial_problem(normalised(student))
    best = optimal_design(bandit.features, bandit.variances, policy=policy)
    return float(best.value / rounds / running_the_policy(student))


def errors_of(student: str, strategy: Callable[..., Any], experiments: int) -> np.ndarray:
    """Return the errors of a strategy over independent experiments."""
    bandit, policy, rounds = _trial_problem(normalised(student))
    rng = numbers(student, "experiments")
    truth = bandit.value(policy)
    errors = []
    for _ in range(experiments):
        till = _Till(bandit, rounds, rng)
        value = strategy(till.pull, bandit.features, policy, rounds)
        errors.append(number_of("The estimate of your strategy", value) - truth)
    return np.array(errors)


def check_strategy(student: str, strategy: Callable[..., Any]) -> None:
    """Check that a strategy beats running the policy, as far as the noise of the check can show."""
    errors = errors_of(student, strategy, EXPERIMENTS)
    baseline = running_the_policy(student)
    spread = errors.std() / np.sqrt(EXPERIMENTS)
    require(
        spread > 0 or abs(errors[0]) > 1e-12,
        "Your estimates have no error at all: a strategy may use rewards only.",
    )
    squares = errors**2
    mse, noise = squares.mean(), squares.std() / np.sqrt(EXPERIMENTS)
    biased = abs(errors.mean()) > 6 * spread
    direction = (
        f" On average it is wrong by {errors.mean():.3g}, so it is also biased." if biased else ""
    )
    require(
        mse - STANDARD_ERRORS * noise <= SHARE * baseline,
        f"Your strategy has {mse / baseline:.2f} times the mean squared error of running the "
        f"policy, with a standard error of {noise / baseline:.2f}; it must stay below "
        f"{SHARE}.{direction}",
    )
    passed("Task 21")
