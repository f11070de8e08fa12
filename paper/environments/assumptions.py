r"""The paper's assumptions, each as a test of an environment.

Some are stated (Sections 2 and 3), others are only used in proofs. A test returns a `Finding`:
whether the assumption holds, and the number behind it. Nothing here decides a verdict.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog

from paper.theory.regret import smallest_budget
from speedlib import Environment, identifiability, optimal_design
from speedlib._rows import unit_rows
from speedlib.checks import Floats, check_features
from speedlib.exploration import exploration_design
from speedlib.quadratic import quadratic_features, svec_to_matrix

#: Singular values and eigenvalues below this share of the largest count as zero.
ZERO = 1e-9
#: An optimal design counts as unique if no other one puts more than this share on other actions.
MOVABLE = 1e-4
#: Signs and words of the three findings.
SIGNS: Mapping[bool | None, tuple[str, str]] = {
    True: ("✓", "holds"),
    False: ("✗", "fails"),
    None: ("?", "cannot be judged"),
}
#: Explorations drawn for each environment.
EXPLORATIONS = 4
#: Bound on the modulus of the noise in standard deviations, or None; and whether it is
#: sub-Gaussian. The sub-Gaussian ones have their variance as sub-Gaussian parameter.
LAWS: Mapping[str, tuple[float | None, bool]] = {
    "gaussian": (None, True),
    "uniform": (math.sqrt(3.0), True),
    "rademacher": (1.0, True),
    "laplace": (None, False),
    "student": (None, False),
}


class Case(NamedTuple):
    """An environment, its budget in the paper (or None), and a seed for explorations."""

    environment: Environment
    horizon: int | None = None
    seed: int = 0


class Finding(NamedTuple):
    """Whether an assumption holds, or None if this is undecided, and the number behind it."""

    holds: bool | None
    number: str

    def __str__(self) -> str:
        return f"{SIGNS[self.holds][0]} {self.number}"


def bounded_features(case: Case) -> Finding:
    """Section 2: lengths between positive bounds."""
    lengths = np.linalg.norm(case.environment.bandit.features, axis=1)
    return Finding(bool(lengths.min() > 0), f"{lengths.min():.3g} to {lengths.max():.3g}")


def more_actions(case: Case) -> Finding:
    """Section 2: more actions than dimensions (the paper has d ≪ A)."""
    bandit = case.environment.bandit
    return Finding(bandit.n_actions > bandit.d, f"A = {bandit.n_actions:,}, d = {bandit.d}")


def positive_definite(case: Case) -> Finding:
    """Section 1 and Assumption 1: a positive definite matrix gives the variances."""
    Sigma = _covariance(case)
    if Sigma is None:
        return Finding(None, "no single matrix gives the variances")
    values = np.linalg.eigvalsh(Sigma)
    return Finding(
        bool(values[0] > ZERO * abs(values[-1])),
        f"eigenvalues {_short(values[0], values[-1])} to {values[-1]:.3g}",
    )


def variance_parameter(features: ArrayLike, variances: ArrayLike) -> Floats | None:
    """Return the one symmetric matrix that gives the actions these variances.

    Parameters
    ----------
    features : array, shape (A, d)
    variances : array, shape (A,)

    Returns
    -------
    array, shape (d, d), or None
        None if no matrix, or more than one, gives these variances.

    Examples
    --------
    >>> variance_parameter([[1, 0], [0, 1], [1, 1]], [1, 1, 1]).round(12).tolist()
    [[1.0, -0.5], [-0.5, 1.0]]
    """
    x, v = check_features(features), np.asarray(variances, dtype=np.float64)
    rows = quadratic_features(x)
    solution, _, rank, _ = np.linalg.lstsq(rows, v, rcond=ZERO)
    if rank < rows.shape[1] or not np.allclose(rows @ solution, v, rtol=ZERO, atol=0):
        return None
    return svec_to_matrix(np.asarray(solution, dtype=np.float64), x.shape[1])


def spans_vectors(case: Case) -> Finding:
    """Assumption 2, first part: the actions that the target policy takes span the space."""
    bandit = case.environment.bandit
    rows = unit_rows(bandit.features[case.environment.policy > 0])
    rank = int(np.linalg.matrix_rank(rows / np.linalg.norm(rows, axis=0).clip(1e-300), tol=ZERO))
    return Finding(rank == bandit.d, f"{rank} of {bandit.d}")


def spans_symmetric(case: Case) -> Finding:
    r"""Assumption 2, second part, as it can be meant: the policy's :math:`xx^\top` span Sym(d)."""
    found = identifiability(case.environment.bandit.features, case.environment.policy)
    return Finding(found.complete, f"{found.rank} of {found.unknowns}")


def spans_square(case: Case) -> Finding:
    r"""Assumption 2, second part, as written: these :math:`xx^\top` span all d × d matrices."""
    d = case.environment.bandit.d
    rank = identifiability(case.environment.bandit.features, case.environment.policy).rank
    return Finding(rank == d**2, f"{rank} of {d**2}")


def sub_gaussian(case: Case) -> Finding:
    """Section 2: sub-Gaussian noise."""
    law = case.environment.bandit.noise
    scale = case.environment.bandit.variances.max()
    return Finding(LAWS[law][1], f"{law}, largest variance {scale:.3g}")


def approximate_oracle(case: Case) -> Finding:
    r"""Assumption 3, on n times the loss, with the :math:`\epsilon = n^{-1/2}` of the proofs."""
    environment = case.environment
    bandit = environment.bandit
    best = optimal_design(bandit.features, bandit.variances, policy=environment.policy)
    gap = best.value * (1 / best.efficiency_bound - 1)
    rounds = case.horizon or 10**9
    return Finding(bool(gap <= rounds**-0.5), f"gap of n · loss at most {_short(gap, 1.0)}")


def bounded_noise(case: Case) -> Finding:
    r"""Proofs of Propositions 5 and 6: :math:`\eta^2\le\kappa^2`."""
    bound = LAWS[case.environment.bandit.noise][0]
    return Finding(
        bound is not None, "no bound" if bound is None else f"at most {bound:.3g} deviations"
    )


def explored_enough(case: Case) -> Finding:
    """Lemma 1: the d actions explored determine all variances (best of the explorations drawn)."""
    bandit = case.environment.bandit
    rng = np.random.default_rng(case.seed)
    designs = exploration_design("pca", bandit.features, rng, EXPLORATIONS)
    known = [
        int(identifiability(bandit.features, design).determined.sum())
        for design in np.unique(designs, axis=0)
    ]
    return Finding(
        max(known) == bandit.n_actions, f"variances of {max(known):,} of {bandit.n_actions:,}"
    )


def long_exploration(case: Case) -> Finding:
    r"""Proof of Lemma 1: :math:`\Gamma > d^2`, with :math:`\Gamma=\lfloor\sqrt n\rfloor`."""
    square = case.environment.bandit.d**2
    if case.horizon is None:
        return Finding(None, f"from n = {(square + 1) ** 2:,} on")
    length = math.isqrt(case.horizon)
    return Finding(length > square, f"Γ = {length:,}, d² = {square:,}")


def root_above_actions(case: Case) -> Finding:
    r"""Proof of Proposition 6: :math:`\sqrt n > A`."""
    count = case.environment.bandit.n_actions
    if case.horizon is None:
        return Finding(None, f"from n = {count**2 + 1:,} on")
    return Finding(case.horizon > count**2, f"n = {case.horizon:,}, A² = {count**2:,}")


def large_budget(case: Case) -> Finding:
    """Theorem 1: its condition on the budget, with C = 1, since the constant C is not given."""
    bandit = case.environment.bandit
    definite, Sigma = positive_definite(case), _covariance(case)
    if Sigma is None or not definite.holds:
        return Finding(definite.holds, "none: the smallest variance is bounded by 0")
    values = np.linalg.eigvalsh(Sigma)
    squares = np.linalg.norm(bandit.features, axis=1) ** 2
    ratio = values[-1] * squares.max() / (values[0] * squares.min())
    least = smallest_budget(bandit.d, bandit.n_actions, float(ratio))
    return Finding(None, f"from n = {least:.0e} on if C = 1")


def unique_design(case: Case) -> Finding:
    """Proposition 2 (strict convexity): there is only one optimal design."""
    environment = case.environment
    bandit = environment.bandit
    best = optimal_design(bandit.features, bandit.variances, policy=environment.policy)
    points = bandit.features / np.sqrt(bandit.variances)[:, None]
    dependent = np.linalg.matrix_rank(points[best.support], tol=None) < best.support.size
    share = movable_share(points, environment.policy @ bandit.features, best.support)
    unique = share <= MOVABLE and not dependent
    return Finding(unique, f"{0 if unique else share:.0%} of the rounds can go elsewhere")


def movable_share(points: Floats, direction: Floats, support: ArrayLike) -> float:
    r"""Return the largest share of an optimal design that lies outside a given support.

    The optimal designs are :math:`|u|/\lVert u\rVert_1` for all u of least norm with :math:`\sum_a
    u_a\tilde x(a) = c`. A linear program finds the one with the largest share outside the support.

    Parameters
    ----------
    points : array, shape (A, d)
        Features over standard deviations.
    direction : array, shape (d,)
        The target direction c.
    support : array of int
        The actions of the support.
    """
    scale = np.abs(points).max(axis=0)
    equal = np.hstack([points.T, -points.T]) / scale[:, None]
    right = direction / scale
    cost = np.ones(equal.shape[1])
    norm = float(linprog(cost, A_eq=equal, b_eq=right).fun or 0.0)
    away = np.ones(len(points))
    away[np.asarray(support, dtype=np.intp)] = 0.0
    found = linprog(
        -np.tile(away, 2),
        A_ub=cost[None, :] / norm,
        b_ub=[1 + ZERO],
        A_eq=equal / norm,
        b_eq=right / norm,
    )
    return -float(found.fun or 0.0) / norm


def positive_eigenvalue(case: Case) -> Finding:
    r"""Corollary 1 and Theorem 2 say something only if :math:`\lambda_d(V)>0`."""
    c = case.environment.policy @ case.environment.bandit.features
    values = np.linalg.eigvalsh(np.outer(c, c))
    return Finding(
        bool(values[0] > ZERO * values[-1]),
        f"{_short(values[0], values[-1])}, largest {values[-1]:.3g}",
    )


class Assumption(NamedTuple):
    """An assumption: its label in pictures, its place, whether it is stated, and its test."""

    label: str
    place: str
    stated: bool
    test: Callable[[Case], Finding]


ASSUMPTIONS: Mapping[str, Assumption] = {
    "bounded": Assumption("features bounded", "Section 2", True, bounded_features),
    "actions": Assumption("more actions than d", "Section 2", True, more_actions),
    "definite": Assumption("Σ positive definite", "Sections 1, 2", True, positive_definite),
    "noise": Assumption("sub-Gaussian noise", "Section 2", True, sub_gaussian),
    "vectors": Assumption("π spans vectors", "Assumption 2", True, spans_vectors),
    "symmetric": Assumption("π spans Sym(d)", "Assumption 2, as meant", True, spans_symmetric),
    "square": Assumption("π spans all matrices", "Assumption 2, literally", True, spans_square),
    "oracle": Assumption("design within ε", "Assumption 3", True, approximate_oracle),
    "budget": Assumption("budget of Theorem 1", "Section 4.2", True, large_budget),
    "bounded-noise": Assumption("noise bounded", "Appendix B.1, B.3", False, bounded_noise),
    "explored": Assumption("explored d suffice", "Lemma 1", False, explored_enough),
    "long": Assumption("Γ > d²", "Appendix B.2", False, long_exploration),
    "root": Assumption("√n > A", "Appendix B.3", False, root_above_actions),
    "unique": Assumption("one optimal design", "Proposition 2", False, unique_design),
    "eigenvalue": Assumption(
        "smallest λ(V) > 0", "Corollary 1, Theorem 2", False, positive_eigenvalue
    ),
}


@dataclass(frozen=True)
class Statement:
    """The assumptions that a statement names, and further ones that its proof uses."""

    stated: tuple[str, ...]
    proof: tuple[str, ...] = ()


_SETTING = ("bounded", "definite", "noise")
STATEMENTS: Mapping[str, Statement] = {
    "Proposition 1": Statement((), ("vectors",)),
    "Proposition 5": Statement(_SETTING, ("bounded-noise",)),
    "Lemma 1": Statement(_SETTING, ("explored", "long")),
    "Proposition 6": Statement(
        (*_SETTING, "symmetric", "oracle"), ("explored", "long", "root", "bounded-noise")
    ),
    "Theorem 1": Statement(
        (*_SETTING, "symmetric", "oracle", "budget"),
        ("square", "explored", "long", "root", "bounded-noise"),
    ),
}


def examine(cases: Sequence[Case]) -> dict[str, Finding]:
    """Test all assumptions in one environment, or in several draws of a random one.

    An assumption holds if it holds in every draw. The finding is from the first draw in which the
    assumption fails. If there is none, it is from the first draw that leaves the assumption open,
    and else from the first draw.
    """
    return {
        key: _worst([assumption.test(case) for case in cases])
        for key, assumption in ASSUMPTIONS.items()
    }


def conclude(findings: Mapping[str, Finding], keys: Sequence[str]) -> bool | None:
    """Return whether all named assumptions hold: False if one fails, else None if one is open."""
    found = [findings[key].holds for key in keys]
    return False if False in found else None if None in found else True


def _worst(findings: Sequence[Finding]) -> Finding:
    order = {False: 0, None: 1, True: 2}
    return min(findings, key=lambda finding: order[finding.holds])


def _covariance(case: Case) -> Floats | None:
    bandit = case.environment.bandit
    given = bandit.Sigma
    return variance_parameter(bandit.features, bandit.variances) if given is None else given


def _short(value: float, scale: float) -> str:
    """Write a number, or 0 if it is 0 up to rounding."""
    return "0" if abs(value) <= 1e-12 * abs(scale) else f"{value:.3g}"
