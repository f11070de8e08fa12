"""A trial as text, and back: what `Trial.to_json` and `Trial.from_json` do.

The pulls that were decided are stored, and are not computed again. So a trial goes on with the same
pulls also where another processor or another version rounds differently.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from speedlib._arrays import shown
from speedlib._json import HEAD, check_sum, parts_of, read_parts, written
from speedlib._setting import Setting
from speedlib._stored import changed, check_targets
from speedlib._tolerances import STORED_DIRECTION
from speedlib.checks import (
    Counts,
    Floats,
    check_counts,
    check_features,
    check_finite,
    check_number,
    check_policy,
    check_rounds,
    check_variances,
    check_vector,
    frozen,
)
from speedlib.criteria import mean_feature
from speedlib.limits import Limits
from speedlib.rewards import Rewards, check_rewards

__all__ = [
    "PARTS",
    "is_ours",
    "read_counts",
    "read_rewards",
    "read_shares",
    "register",
    "set_generator",
    "trial_from_json",
    "trial_from_parts",
    "trial_parts",
    "trial_to_json",
]

VERSION = 1

#: The library's strategies by the names of their classes. Trials and strategies are not imported
#: here, since they import this.
_KINDS: dict[str, type[Any]] = {}
#: What a changed text may raise.
_BROKEN = (
    AttributeError,
    IndexError,
    KeyError,
    OverflowError,
    TypeError,
    ValueError,
    np.linalg.LinAlgError,
)
_SETTING = ("features", "policy", "direction", "rounds", "variances", "limits", "targets")
#: Parts that texts of earlier versions lack.
_LATER = {"setting": ("history", "revalued"), "state": ("made by another design", "tried again")}
PARTS = ("strategy", "setting", "state", "random generator")


def register(kind: type[Any]) -> None:
    """Remember a strategy of the library; one of a user's own is passed to `from_json`."""
    if kind.__module__.split(".")[0] == __name__.split(".")[0]:
        _KINDS[kind.__name__] = kind


def trial_to_json(trial: Any) -> str:
    """Return a single trial as text."""
    return written("trial", VERSION, trial_parts(trial))


def trial_from_json(text: str, strategy: Any = None) -> Any:
    """Return the trial of a text."""
    parts = parts_of(text, "trial", VERSION)
    read_parts("text", parts, PARTS, HEAD)
    trial = trial_from_parts(parts, strategy)
    trial._check_stored()
    check_sum(parts)
    return trial


def trial_parts(trial: Any) -> dict[str, Any]:
    """Return a single trial as named parts with plain values."""
    setting = trial.setting
    if setting.replications is not None:
        raise ValueError(
            f"to_json: is for single trials; this one has {setting.replications} replications"
        )
    strategy = getattr(trial, "strategy", None)
    return {
        "strategy": {"name": trial.name} if strategy is None else _choices(strategy),
        "setting": {
            "features": setting.features.tolist(),
            "policy": setting.policy.tolist(),
            "direction": setting.direction.tolist(),
            "rounds": setting.rounds,
            "variances": _listed(setting.variances),
            "limits": limits_as_dict(setting.limits),
            "targets": _listed(setting.targets),
            "history": None if setting.history is None else setting.history.as_dict(),
            "revalued": setting.revalued,
        },
        "state": trial._state(),
        "random generator": _plain(setting.rng.bit_generator.state),
    }


def trial_from_parts(parts: dict[str, Any], strategy: Any = None) -> Any:
    """Return the trial of named parts."""
    parts = read_parts("text", parts, PARTS)
    if strategy is None:
        strategy = _strategy(parts["strategy"])
    elif isinstance(strategy, type) or not callable(getattr(strategy, "begin", None)):
        raise TypeError(f"strategy: expected an object like SPEED(); got {shown(strategy)}")
    else:
        _check_same(strategy, read_parts("strategy", parts["strategy"], ()))
    setting = _setting(read_parts("setting", parts["setting"], _SETTING, _LATER["setting"]))
    _check_fits(setting, strategy)
    try:
        trial = strategy._trial(setting)
        names, later = tuple(trial._state()), _LATER["state"]
        needed = [name for name in names if name not in later]
        trial._restore(read_parts("state", parts["state"], needed, names))
    except _BROKEN as error:
        words = str(error) if isinstance(error, ValueError) else repr(error)
        words = words.removesuffix("; the text was changed")
        raise ValueError(
            f"state: does not fit {strategy.name} ({words}); the text was changed"
        ) from error
    set_generator(setting.rng, parts["random generator"])
    return trial


def is_ours(strategy: Any) -> bool:
    """Return whether a strategy is one of the library, which always decides in the same way."""
    return _KINDS.get(type(strategy).__name__) is type(strategy)


def _check_fits(setting: Setting, strategy: Any) -> None:
    """Refuse a setting with parts that the strategy does not take, or without one it needs."""
    limited = getattr(strategy, "within_limits", False)
    informed = getattr(strategy, "knows_variances", False)
    given = {
        "variances": (setting.variances, informed),
        "history": (setting.history, getattr(strategy, "learns_from_history", False)),
        "limits": (setting.limits, limited),
        "targets": (setting.targets, limited),
    }
    for name, (part, takes) in given.items():
        if part is not None and not takes:
            raise changed(name, f"be null, since {strategy.name} takes none", _plain(part))
    if informed and setting.variances is None:
        raise changed("variances", f"be given, since {strategy.name} needs them", None)


def read_counts(name: str, counts: Any, n_actions: int) -> Counts:
    """Return stored counts of a single trial, shape (A,)."""
    return check_counts(counts, n_actions, name, batch=False)


def read_shares(name: str, shares: Any, n_actions: int) -> Floats:
    """Return stored shares, shape (A,), which are not divided by their sum again."""
    check_policy(shares, n_actions, name)
    return np.array(shares, dtype=np.float64)


def read_rewards(name: str, parts: Any, n_actions: int) -> Rewards:
    """Return stored rewards of a single trial, shape (A,)."""
    try:
        rewards = check_rewards(Rewards.from_dict(parts), n_actions)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}") from None
    if rewards.counts.ndim != 1:
        raise ValueError(f"{name}: must be rewards of one trial; got several replications")
    return rewards


def _setting(given: dict[str, Any]) -> Setting:
    """Return a stored setting, as checked as the one of `Strategy.begin`."""
    try:
        x = check_features(given["features"])
        policy = read_shares("policy", given["policy"], len(x))
        known, targets, history = (given.get(k) for k in ("variances", "targets", "history"))
        setting = Setting(
            features=frozen(x),
            policy=frozen(policy),
            rounds=check_rounds(given["rounds"]),
            # What beginning a trial draws must not move the generator that was stored.
            rng=np.random.default_rng(0),
            variances=(
                None if known is None else frozen(check_variances(known, len(x), features=x))
            ),
            replications=None,
            direction=_direction(given["direction"], mean_feature(x, policy)),
            limits=limits_from_dict(given["limits"], len(x)),
            targets=None if targets is None else _targets(targets, x.shape[1]),
            history=None if history is None else read_rewards("history", history, len(x)),
            revalued=check_number("revalued", given.get("revalued", 0.0)),
        )
        if setting.targets is not None:
            check_targets(setting.targets, setting.direction)
        setting.check_span()
        return setting
    except _BROKEN as error:
        raise ValueError(f"setting: {error}; the text was changed") from error


def _direction(stored: Any, expected: Floats) -> Floats:
    """Return the stored direction, which is the mean feature, up to rounding."""
    found = check_vector("direction", stored, len(expected))
    if np.any(np.abs(found - expected) > STORED_DIRECTION * np.abs(expected).max()):
        raise ValueError("direction: is not the mean feature of the policy")
    return frozen(found)


def _targets(stored: Any, dimension: int) -> Floats:
    """Return the stored columns of several targets, shape (d, K)."""
    found = check_finite("targets", stored)
    if found.ndim != 2 or len(found) != dimension:
        raise ValueError(f"targets: expected shape ({dimension}, K); got shape {found.shape}")
    return frozen(found)


def limits_as_dict(limits: Limits | None) -> dict[str, Any] | None:
    """Return limits as plain values."""
    if limits is None:
        return None
    return {name: getattr(limits, name).tolist() for name in ("costs", "least", "most")}


def limits_from_dict(parts: Any, n_actions: int) -> Limits | None:
    """Return limits from plain values."""
    if parts is None:
        return None
    names = ("costs", "least", "most")
    parts = read_parts("limits", parts, names)
    if unknown := [name for name in parts if name not in names]:
        raise ValueError(f"limits: {shown(unknown[0])} is none of {names}")
    return Limits.of(n_actions, **parts)


def _choices(strategy: Any) -> dict[str, Any]:
    """Return the class of a strategy and its parameters, if these are plain values."""
    choices = {each.name: _plain(getattr(strategy, each.name)) for each in fields(strategy)}
    return {"class": type(strategy).__name__, "choices": choices}


def _check_same(strategy: Any, stored: dict[str, Any]) -> None:
    """Refuse another strategy than the stored one."""
    if "class" not in stored:
        given, names = {"name": strategy.name}, {"name": stored.get("name")}
    else:
        mine = _choices(strategy)
        given = {"class": mine["class"]} | mine["choices"]
        choices = read_parts("choices", stored.get("choices"), ())
        names = {"class": stored["class"]} | choices
    for key, value in names.items():
        if given.get(key) != value:
            raise ValueError(
                f"strategy: is not the one that began the trial, whose {key} is {shown(value)}; "
                f"got {shown(given.get(key))}"
            )


def _strategy(parts: Any) -> Any:
    parts = read_parts("strategy", parts, ())
    name, choices = parts.get("class"), parts.get("choices")
    kind = _KINDS.get(name) if isinstance(name, str) else None
    if kind is None or not isinstance(choices, dict):
        raise ValueError(
            f"strategy: the text names {shown(name or parts.get('name'))}, which is none of "
            "speedlib.strategies; pass the object that began the trial, strategy=..."
        )
    values = {
        key: tuple(value) if isinstance(value, list) else value for key, value in choices.items()
    }
    known = [each.name for each in fields(kind)]
    if unknown := [key for key in values if key not in known]:
        raise ValueError(f"strategy: {name} has no choice {shown(unknown[0])}, only {known}")
    try:
        return kind(**values)
    except TypeError as error:
        raise ValueError(f"strategy: {error}; the text was changed") from error


def _plain(value: Any) -> Any:
    """Return nested plain values: what JSON has."""
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.item() if isinstance(value, np.generic) else value


def set_generator(rng: np.random.Generator, state: Any, name: str = "random generator") -> None:
    """Bring a generator to a stored state, which must be of the same kind."""
    state = read_parts(name, state, ("bit_generator",))
    kind = type(rng.bit_generator).__name__
    if state["bit_generator"] != kind:
        raise ValueError(
            f"{name}: only {kind} can be read back; got {shown(state['bit_generator'])}"
        )
    try:
        rng.bit_generator.state = state
    except _BROKEN as error:
        raise ValueError(
            f"{name}: cannot have this state ({error!r}); the text was changed"
        ) from error


def _listed(array: Floats | None) -> list[Any] | None:
    return None if array is None else list(array.tolist())
