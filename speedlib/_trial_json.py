"""A trial as text, and back: what `Trial.to_json` and `Trial.from_json` do.

The pulls that were decided are stored, and are not computed again. So a trial goes on with the same
pulls also where another processor or another version rounds differently.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from speedlib._arrays import shown
from speedlib._json import parts_of, read_parts, written
from speedlib._setting import Setting
from speedlib.checks import Floats
from speedlib.limits import Limits
from speedlib.rewards import Rewards

__all__ = ["register", "trial_from_json", "trial_from_parts", "trial_parts", "trial_to_json"]

VERSION = 1

#: The library's strategies by the names of their classes. Trials and strategies are not imported
#: here, since they import this.
_KINDS: dict[str, type[Any]] = {}
_SETTING = ("features", "policy", "direction", "rounds", "variances", "limits", "targets")


def register(kind: type[Any]) -> None:
    """Remember a strategy of the library; one of a user's own is passed to `from_json`."""
    if kind.__module__.split(".")[0] == __name__.split(".")[0]:
        _KINDS[kind.__name__] = kind


def trial_to_json(trial: Any) -> str:
    """Return a single trial as text."""
    return written("trial", VERSION, trial_parts(trial))


def trial_from_json(text: str, strategy: Any = None) -> Any:
    """Return the trial of a text."""
    return trial_from_parts(parts_of(text, "trial", VERSION), strategy)


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
        },
        "state": trial._state(),
        "random generator": _plain(setting.rng.bit_generator.state),
    }


def trial_from_parts(parts: dict[str, Any], strategy: Any = None) -> Any:
    """Return the trial of named parts."""
    parts = read_parts("text", parts, ("strategy", "setting", "state", "random generator"))
    if strategy is None:
        strategy = _strategy(parts["strategy"])
    elif not callable(getattr(strategy, "begin", None)):
        raise TypeError(f"strategy: expected an object like SPEED(); got {shown(strategy)}")
    given = read_parts("setting", parts["setting"], _SETTING)
    history = given.get("history")
    setting = Setting(
        features=_frozen(given["features"]),
        policy=_frozen(given["policy"]),
        rounds=int(given["rounds"]),
        # What beginning a trial draws must not move the generator that was stored.
        rng=np.random.default_rng(0),
        variances=None if given["variances"] is None else _frozen(given["variances"]),
        replications=None,
        direction=_frozen(given["direction"]),
        limits=limits_from_dict(given["limits"]),
        targets=None if given["targets"] is None else _frozen(given["targets"]),
        history=None if history is None else Rewards.from_dict(history),
    )
    trial = strategy._trial(setting)
    try:
        trial._restore(parts["state"])
        _set_generator(setting.rng, parts["random generator"])
    except (KeyError, TypeError) as error:
        raise ValueError(
            f"state: does not fit {strategy.name} ({error!r}); the text was changed"
        ) from error
    return trial


def limits_as_dict(limits: Limits | None) -> dict[str, Any] | None:
    """Return limits as plain values."""
    if limits is None:
        return None
    return {name: getattr(limits, name).tolist() for name in ("costs", "least", "most")}


def limits_from_dict(parts: Any) -> Limits | None:
    """Return limits from plain values."""
    if parts is None:
        return None
    parts = read_parts("limits", parts, ("costs", "least", "most"))
    return Limits.of(len(parts["costs"]), **{name: parts[name] for name in parts})


def _choices(strategy: Any) -> dict[str, Any]:
    """Return the class of a strategy and its parameters, if these are plain values."""
    choices = {each.name: _plain(getattr(strategy, each.name)) for each in fields(strategy)}
    return {"class": type(strategy).__name__, "choices": choices}


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
    return kind(**values)


def _plain(value: Any) -> Any:
    """Return nested plain values: what JSON has."""
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.item() if isinstance(value, np.generic) else value


def _set_generator(rng: np.random.Generator, state: Any) -> None:
    """Bring a generator to a stored state, which must be of the same kind."""
    state = read_parts("random generator", state, ("bit_generator",))
    kind = type(rng.bit_generator).__name__
    if state["bit_generator"] != kind:
        raise ValueError(
            f"random generator: only {kind} can be read back; got {shown(state['bit_generator'])}"
        )
    rng.bit_generator.state = state


def _listed(array: Floats | None) -> list[Any] | None:
    return None if array is None else list(array.tolist())


def _frozen(values: Any) -> Floats:
    array = np.array(values, dtype=np.float64)
    array.flags.writeable = False
    return array
