"""Hand-in 4: three proofs with one false step in each; the student's name decides which one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from paper.coursework._feedback import array_of, number_of, require, whole_number_of
from paper.coursework._names import normalised, numbers, shares_of
from paper.coursework._steps import Proof, Step, assemble, at_most, check_step, equal
from speedlib import optimal_design, pe_loss


def policy_of_proofs(student: str) -> np.ndarray:
    """Return the policy over three actions for the first and the third proof."""
    return shares_of(numbers(student, "policy of proofs"), 3)


def policy_proof(student: str) -> Proof:
    """Return the proof of two bounds by the mean variance under the policy."""
    return _policy_proof(normalised(student))


@lru_cache(maxsize=256)
def _policy_proof(student: str) -> Proof:
    def mean(i: Mapping[str, Any]) -> float:
        return float(i["policy"] @ i["sigma"])

    def power(i: Mapping[str, Any]) -> float:
        return float(i["policy"] @ i["sigma"] ** 2)

    def best(i: Mapping[str, Any]) -> float:
        c = i["policy"] @ i["X"]
        return float(optimal_design(i["X"], i["sigma"] ** 2, direction=c).value)

    def walk(i: Mapping[str, Any], shares: np.ndarray) -> float:
        return float((i["policy"] ** 2 * i["sigma"] ** 2 / (shares / shares.sum())).sum())

    def run(i: Mapping[str, Any]) -> float:
        return float(pe_loss(i["policy"], i["X"], i["sigma"] ** 2, policy=i["policy"]))

    forms: list[tuple[Step, ...]] = [
        (
            equal(
                "The weights w = π lead to c, so they are one walk of many. With\n"
                "the shares b = π its loss is Σ w²σ²/b = E_π σ².",
                lambda i: (walk(i, i["policy"]), power(i)),
            ),
        ),
        (
            equal(
                "With shares b in proportion to πσ, Σ w²σ²/b = (E_π σ)².",
                lambda i: (walk(i, i["policy"] * i["sigma"]), mean(i) ** 2),
            ),
            equal(
                "With shares b in proportion to πσ², Σ w²σ²/b = (E_π σ)².",
                lambda i: (walk(i, i["policy"] * i["sigma"] ** 2), mean(i) ** 2),
            ),
        ),
        (
            at_most(
                "The best design is at least as good: nL* ≤ (E_π σ)².",
                lambda i: (best(i), mean(i) ** 2),
            ),
            at_most(
                "Rewards are independent, so variances add: nL* ≤ Σ π²σ².",
                lambda i: (best(i), float(i["policy"] ** 2 @ i["sigma"] ** 2)),
            ),
        ),
        (
            at_most(
                "A mean squared is at most the mean square: (E_π σ)² ≤ E_π σ².",
                lambda i: (mean(i) ** 2, power(i)),
            ),
            at_most(
                "A mean square is at most the mean squared: E_π σ² ≤ (E_π σ)².",
                lambda i: (power(i), mean(i) ** 2),
            ),
        ),
        (
            at_most(
                "Weighted least squares is at least as good as the average of\n"
                "the rewards: running the policy, nL(π) ≤ E_π σ².",
                lambda i: (run(i), power(i)),
            ),
            equal(
                "Both estimates are unbiased and use the same rewards: running\n"
                "the policy with weighted least squares, nL(π) = E_π σ².",
                lambda i: (run(i), power(i)),
            ),
        ),
    ]
    title = (
        "Claim: for every bandit nL* ≤ E_π σ² and nL(π) ≤ E_π σ².\n"
        "E_π is the mean under the policy, L* the least loss, and L(π) the loss of\n"
        "the shares π with weighted least squares. All n rounds are planned."
    )
    return assemble(student, "policy proof", title, forms)


def valley_rounds(student: str) -> int:
    """Return the budget of the second proof."""
    return 100 * int(numbers(student, "rounds of proofs").integers(5, 51))


def valley_proof(student: str) -> Proof:
    """Return the proof that explored rounds and wrong shares cost little."""
    return _valley_proof(normalised(student))


@lru_cache(maxsize=256)
def _valley_proof(student: str) -> Proof:
    def excess(i: Mapping[str, Any]) -> float:
        p, b = i["p"], i["b"]
        return float(p**2 / b + (1 - p) ** 2 / (1 - b) - 1)

    def spread(share: float) -> float:
        return share * (1 - share)

    def square(i: Mapping[str, Any]) -> float:
        return float((i["b"] - i["p"]) ** 2)

    def rounds(i: Mapping[str, Any]) -> float:
        return float(i["length"] / i["n"])

    forms: list[tuple[Step, ...]] = [
        (
            equal(
                "With the share b the loss is p²/b + (1−p)²/(1−b), in units of the\n"
                "least; with b = p this is 1.",
                lambda i: (excess({**i, "b": i["p"]}), 0.0),
            ),
        ),
        (
            equal(
                "The excess e = p²/b + (1−p)²/(1−b) − 1 is (b−p)²/(b(1−b)).",
                lambda i: (excess(i), square(i) / spread(i["b"])),
            ),
            equal(
                "The excess e = p²/b + (1−p)²/(1−b) − 1 is (b−p)²/(p(1−p)).",
                lambda i: (excess(i), square(i) / spread(i["p"])),
            ),
        ),
        (
            at_most(
                "Since b is near p, p(1−p) ≤ 2b(1−b).",
                lambda i: (spread(i["p"]), 2 * spread(i["b"])),
            ),
            at_most(
                "Since b is near p, p(1−p) ≤ b(1−b).",
                lambda i: (spread(i["p"]), spread(i["b"])),
            ),
        ),
        (
            at_most(
                "Hence e ≤ 2(b−p)²/(p(1−p)).", lambda i: (excess(i), 2 * square(i) / spread(i["p"]))
            ),
            at_most("Since p(1−p) < 1, e ≤ 2(b−p)².", lambda i: (excess(i), 2 * square(i))),
        ),
        (
            at_most(
                "Since Γ ≤ n/2, n/(n−Γ) ≤ 1 + 2Γ/n.",
                lambda i: (1 / (1 - rounds(i)), 1 + 2 * rounds(i)),
            ),
            at_most(
                "By the geometric series, n/(n−Γ) ≤ 1 + Γ/n.",
                lambda i: (1 / (1 - rounds(i)), 1 + rounds(i)),
            ),
        ),
        (
            at_most(
                "Together n/(n−Γ)·(1+e) ≤ 1 + 2Γ/n + 2e.",
                lambda i: ((1 + excess(i)) / (1 - rounds(i)), 1 + 2 * rounds(i) + 2 * excess(i)),
            ),
            at_most(
                "Both losses add: n/(n−Γ)·(1+e) ≤ 1 + Γ/n + e.",
                lambda i: ((1 + excess(i)) / (1 - rounds(i)), 1 + rounds(i) + excess(i)),
            ),
        ),
    ]
    title = (
        "Claim: exploring Γ of n rounds and giving the first of two actions the\n"
        "share b instead of the best share p costs at most 2Γ/n + 2e.\n"
        "Hypotheses: 0 < p < 1, |b−p| ≤ half of min(p, 1−p), 1 ≤ Γ ≤ n/2."
    )
    return assemble(student, "valley proof", title, forms)


def matrices_proof(student: str) -> Proof:
    """Return the proof that wrong variances change the loss by a bounded amount."""
    return _matrices_proof(normalised(student))


@lru_cache(maxsize=256)
def _matrices_proof(student: str) -> Proof:
    def parts(i: Mapping[str, Any]) -> tuple[np.ndarray, ...]:
        x, c = i["X"], i["policy"] @ i["X"]
        A, B = ((x / s[:, None]).T @ (x / s[:, None]) / 3 for s in (i["sigma"], i["guess"]))
        return A, B, np.linalg.inv(A), np.linalg.inv(B), c

    def r(i: Mapping[str, Any]) -> float:
        return float(np.max((i["guess"] / i["sigma"]) ** 2)) - 1

    def change(i: Mapping[str, Any]) -> float:
        _, _, P, Q, c = parts(i)
        return float(c @ (Q - P) @ c)

    def product(i: Mapping[str, Any], sign: float) -> float:
        A, B, P, Q, c = parts(i)
        return float(sign * c @ P @ (A - B) @ Q @ c)

    def norms(i: Mapping[str, Any], size: Callable[[np.ndarray], float]) -> float:
        A, B, P, Q, c = parts(i)
        middle = size(np.linalg.eigvalsh(A - B))
        return float(np.linalg.norm(P @ c) * middle * np.linalg.norm(Q @ c))

    def bound(i: Mapping[str, Any], over: float) -> tuple[float, float]:
        _, _, P, _, c = parts(i)
        return float(c @ P @ c), float(np.trace(P) * (c @ c)) / over

    def norm_pair(i: Mapping[str, Any]) -> tuple[float, float]:
        _, _, P, Q, c = parts(i)
        return float(np.linalg.norm(Q @ c)), (1 + r(i)) * float(np.linalg.norm(P @ c))

    def form_pair(i: Mapping[str, Any]) -> tuple[float, float]:
        _, _, P, Q, c = parts(i)
        return float(c @ Q @ c), (1 + r(i)) * float(c @ P @ c)

    def trace_pair(i: Mapping[str, Any]) -> tuple[float, float]:
        _, _, P, Q, _ = parts(i)
        return float(np.trace(Q)), float(np.trace(P))

    forms: list[tuple[Step, ...]] = [
        (
            equal("cᵀ(B⁻¹−A⁻¹)c = cᵀA⁻¹(A−B)B⁻¹c.", lambda i: (change(i), product(i, 1))),
            equal("cᵀ(B⁻¹−A⁻¹)c = cᵀA⁻¹(B−A)B⁻¹c.", lambda i: (change(i), product(i, -1))),
        ),
        (
            at_most(
                "Hence cᵀ(B⁻¹−A⁻¹)c ≤ |A⁻¹c| · m · |B⁻¹c|, m the largest absolute\n"
                "value of an eigenvalue of A−B.",
                lambda i: (change(i), norms(i, lambda values: float(abs(values).max()))),
            ),
            at_most(
                "Hence cᵀ(B⁻¹−A⁻¹)c ≤ |A⁻¹c| · m · |B⁻¹c|, m the largest\neigenvalue of A−B.",
                lambda i: (change(i), norms(i, lambda values: float(values.max()))),
            ),
        ),
        (
            at_most(
                "All guessed variances are at most (1+r) times the true ones, so\n"
                "cᵀB⁻¹c ≤ (1+r) cᵀA⁻¹c.",
                form_pair,
            ),
            at_most(
                "All guessed variances are at most (1+r) times the true ones, so\n"
                "|B⁻¹c| ≤ (1+r) |A⁻¹c|.",
                norm_pair,
            ),
        ),
        (
            at_most(
                "A quadratic form is at most the trace: cᵀA⁻¹c ≤ Tr(A⁻¹) |c|².",
                lambda i: bound(i, 1),
            ),
            at_most(
                "The trace is spread over d = 2 directions: cᵀA⁻¹c ≤ Tr(A⁻¹) |c|²/2.",
                lambda i: bound(i, 2),
            ),
        ),
        (
            at_most(
                "For the same reason as before, Tr(B⁻¹) ≤ (1+r) Tr(A⁻¹).",
                lambda i: (trace_pair(i)[0], (1 + r(i)) * trace_pair(i)[1]),
            ),
            at_most(
                "For the same reason as before, Tr(B⁻¹) ≤ Tr(A⁻¹) + r.",
                lambda i: (trace_pair(i)[0], trace_pair(i)[1] + r(i)),
            ),
        ),
    ]
    title = (
        "Claim: variances that are guessed instead of known change the loss of the\n"
        "equal shares by a bounded amount. A and B are the information matrices of\n"
        "three actions in the plane, tried equally often: A = ⅓ Σ xxᵀ/σ² with the\n"
        "true deviations σ, B with the guessed ones. r = max (guess/σ)² − 1."
    )
    return assemble(student, "matrices proof", title, forms)


def policy_instance(student: str, X: Any, sigma: Any) -> dict[str, Any]:
    """Return an instance of the first proof, or say which hypothesis it breaks."""
    x = np.asarray(X, dtype=float)
    require(x.ndim == 2 and x.shape[0] == 3, "X must have three rows, one for each action.")
    x = array_of("X", X, x.shape)
    deviations = array_of("sigma", sigma, (3,), "one deviation for each action")
    require(deviations.min() > 0, f"sigma must be positive; got {deviations.min():g}.")
    policy = policy_of_proofs(student)
    require(np.linalg.norm(policy @ x) > 1e-6, "c must not be zero: the value would be known.")
    return {"X": x, "sigma": deviations, "policy": policy}


def valley_instance(student: str, p: Any, b: Any, length: Any) -> dict[str, Any]:
    """Return an instance of the second proof, or say which hypothesis it breaks."""
    best, wrong = number_of("p", p), number_of("b", b)
    n, gamma = valley_rounds(student), whole_number_of("length", length)
    require(0 < best < 1, f"p must lie between 0 and 1; got {best:g}.")
    reach = min(best, 1 - best) / 2
    require(
        abs(wrong - best) <= reach * (1 + 1e-9),
        f"b must be within {reach:.3g} of p, as the hypotheses say; it is {abs(wrong - best):.3g} "
        "away.",
    )
    require(1 <= gamma <= n / 2, f"length must lie between 1 and {n // 2}; got {gamma}.")
    return {"p": best, "b": wrong, "length": gamma, "n": n}


def matrices_instance(student: str, X: Any, sigma: Any, guess: Any) -> dict[str, Any]:
    """Return an instance of the third proof, or say which hypothesis it breaks."""
    x = array_of("X", X, (3, 2), "three arrows in the plane")
    require(np.linalg.matrix_rank(x) == 2, "The arrows must not all be parallel.")
    true, guessed = (
        array_of(name, values, (3,), "one deviation for each action")
        for name, values in (("sigma", sigma), ("guess", guess))
    )
    require(min(true.min(), guessed.min()) > 0, "Deviations must be positive.")
    return {"X": x, "sigma": true, "guess": guessed, "policy": policy_of_proofs(student)}


def check_policy_proof(student: str, step: Any, X: Any, sigma: Any) -> None:
    """Check a false step of the first proof, and a bandit for which the step is false."""
    check_step("Task 14", policy_proof(student), step, policy_instance(student, X, sigma))


def check_valley_proof(student: str, step: Any, p: Any, b: Any, length: Any) -> None:
    """Check a false step of the second proof, and shares and a length for which it is false."""
    check_step("Task 15", valley_proof(student), step, valley_instance(student, p, b, length))


def check_matrices_proof(student: str, step: Any, X: Any, sigma: Any, guess: Any) -> None:
    """Check a false step of the third proof, and arrows and deviations for which it is false."""
    instance = matrices_instance(student, X, sigma, guess)
    check_step("Task 16", matrices_proof(student), step, instance)
