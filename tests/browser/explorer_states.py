"""States of the explorer: ordinary ones and those in which a solver could trip."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Rng = np.random.Generator
State = dict[str, Any]


def random_states(count: int, seed: int) -> list[State]:
    """Return states of all kinds in turn.

    Parameters
    ----------
    count : int
    seed : int

    Returns
    -------
    list of dict
        As ``book/_static/explorer/presets.js`` has them, with their ``kind``.
    """
    streams = np.random.default_rng(seed).spawn(count)
    return [_state(KINDS[i % len(KINDS)], rng) for i, rng in enumerate(streams)]


def _state(kind: Callable[[Rng], State], rng: Rng) -> State:
    state = kind(rng)
    arrows = np.asarray(state["arrows"], dtype=float)
    count = len(arrows)
    state.setdefault("policy", rng.dirichlet(np.ones(count)))
    state.setdefault("noise", _ellipse(rng) if rng.random() < 0.6 else _loudness(count, rng))
    size = rng.integers(1, count + 1)
    state.setdefault("explored", np.sort(rng.choice(count, size, replace=False)))
    noise = {key: np.asarray(value, dtype=float).tolist() for key, value in state["noise"].items()}
    return {
        "kind": kind.__name__.strip("_"),
        "arrows": arrows.tolist(),
        "noise": noise,
        "policy": np.asarray(state["policy"], dtype=float).tolist(),
        "explored": np.asarray(state["explored"]).tolist(),
    }


def _ellipse(rng: Rng, least: float = 1e-2) -> State:
    angle, values = rng.uniform(0, np.pi), np.exp(rng.uniform(np.log(least), 0, 2))
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    S = turn @ np.diag(values) @ turn.T
    return {"Sigma": [S[0, 0], S[0, 1], S[1, 1]]}


def _loudness(count: int, rng: Rng) -> State:
    return {"sigma": np.exp(rng.uniform(np.log(0.05), np.log(20), count))}


def _arrows(rng: Rng, least: int = 3) -> Any:
    return rng.standard_normal((rng.integers(least, 9), 2))


def _general(rng: Rng) -> State:
    return {"arrows": _arrows(rng)}


def _handles(rng: Rng) -> State:
    """Three decimals, as a drag leaves them."""
    arrows = np.round(_arrows(rng), 3)
    shares = np.round(rng.dirichlet(np.ones(len(arrows))), 3)
    shares[np.argmax(shares)] += 1 - shares.sum()
    return {"arrows": arrows, "policy": shares}


def _eight(rng: Rng) -> State:
    return {"arrows": _arrows(rng, least=8)}


def _parallel(rng: Rng) -> State:
    """Some arrows on one line, to either side."""
    arrows = _arrows(rng, least=4)
    arrows[1:3] = arrows[0] * np.array([[2.0], [-0.5]])
    return {"arrows": arrows}


def _one_line(rng: Rng) -> State:
    """All arrows on one line: nothing beside it can be estimated."""
    steps = rng.choice([-2.0, -1.0, -0.5, 0.25, 0.5, 1.0, 2.0, 4.0], 5)
    return {"arrows": rng.standard_normal(2) * steps[:, None], "policy": [0.2, 0.2, 0.3, 0.2, 0.1]}


def _equal(rng: Rng) -> State:
    arrows = _arrows(rng, least=4)
    arrows[1], arrows[-1] = arrows[0], -arrows[2]
    return {"arrows": arrows}


def _at_an_arrow(rng: Rng) -> State:
    """The ray goes along an arrow, which may be a corner of Elfving's set or lie within."""
    arrows = _arrows(rng)
    return {"arrows": arrows, "policy": np.eye(len(arrows))[rng.integers(len(arrows))]}


def _axes(rng: Rng) -> State:
    """The ray goes along an axis or a diagonal, and all is exact in floats."""
    policies = ([0, 1, 0], [0.25, 0, 0.25, 0.5], [0.25, 0, 0.25, 0.25, 0.25])
    policy = policies[rng.integers(3)]
    arrows = [[1, 0], [0, 1], [1, 1], [1, -1], [-1, 1]]
    return {"arrows": arrows[: len(policy)], "policy": policy}


def _nothing(rng: Rng) -> State:
    """Opposite arrows cancel: c = 0."""
    arrows = _arrows(rng, least=4)
    arrows[1] = -arrows[0]
    return {"arrows": arrows, "policy": [0.5, 0.5, *np.zeros(len(arrows) - 2)]}


def _near_tie(rng: Rng) -> State:
    """Three points on one side of Elfving's set, but for a little; the ray crosses it."""
    ends = np.array([[1.0, 0.1], [0.2, 1.0]])
    share = rng.uniform(0.2, 0.8)
    off = rng.choice([-1, 1]) * 10.0 ** rng.uniform(-12, -3) * rng.integers(0, 2)
    middle = (1 + off) * (share * ends[0] + (1 - share) * ends[1])
    sigma = np.exp(rng.uniform(-1, 1, 4))
    points = np.vstack([ends, middle, 0.1 * rng.standard_normal(2)])
    policy = np.append(rng.dirichlet(np.ones(3)), 0)
    return {"arrows": points * sigma[:, None], "noise": {"sigma": sigma}, "policy": policy}


def _narrow(rng: Rng) -> State:
    """All arrows nearly on one line."""
    angles = rng.uniform(0, 10.0 ** rng.uniform(-4, -1), rng.integers(3, 9))
    lengths = np.exp(rng.uniform(-1, 1, len(angles)))
    return {"arrows": np.column_stack([np.cos(angles), np.sin(angles)]) * lengths[:, None]}


def _nearly_parallel(rng: Rng) -> State:
    """Two arrows whose directions nearly agree, among others."""
    arrows = _arrows(rng, least=4)
    arrows[1] = arrows[0] + 10.0 ** rng.uniform(-5, -2) * rng.standard_normal(2)
    return {"arrows": arrows}


def _flat(rng: Rng) -> State:
    """Noise in nearly one direction, or exactly."""
    x = rng.standard_normal(2)
    least = rng.choice([0, 1e-8, 1e-5])
    return {
        "arrows": _arrows(rng),
        "noise": {"Sigma": [x[0] ** 2 + least, x[0] * x[1], x[1] ** 2 + least]},
    }


def _zero(rng: Rng) -> State:
    """An arrow that says nothing."""
    arrows = _arrows(rng, least=4)
    arrows[rng.integers(len(arrows))] = 0
    return {"arrows": arrows}


def _sized(rng: Rng) -> State:
    """Other units, and arrows of very different lengths."""
    arrows = _arrows(rng) * 10.0 ** rng.uniform(-6, 6)
    return {"arrows": arrows * np.exp(rng.uniform(-3, 3, (len(arrows), 1)))}


def _two_looks(rng: Rng) -> State:
    """Three unknowns, two looks; a fit without constraint is often not positive semidefinite."""
    arrows = _arrows(rng)
    return {"arrows": arrows, "noise": _ellipse(rng, 1e-3), "explored": [0, len(arrows) - 1]}


KINDS = (
    _general,
    _handles,
    _eight,
    _parallel,
    _one_line,
    _equal,
    _at_an_arrow,
    _axes,
    _nothing,
    _near_tie,
    _narrow,
    _nearly_parallel,
    _flat,
    _zero,
    _sized,
    _two_looks,
)
