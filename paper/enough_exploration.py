r"""Whether an experiment explores enough, in a sentence with numbers.

The design of the commit phase, the saving and what is said of both rest on the variances that
exploration determines (`speedlib.identification`), and these on so many rounds for each linear
function of :math:`\Sigma_*` that they are. The scatter of an action's own rewards, on which an
interval can rest whatever exploration was, is known to a relative error of about
:math:`\sqrt{2/(k-1)}` after k of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from speedlib.identification import Identifiability, identifiability

#: Rounds of exploration for each entry that it determines. Under the D-optimal design for r entries
#: the relative error of a variance is at most about sqrt(2r/Γ) after Γ rounds, where variances are
#: alike and noise is Gaussian: a third, sqrt(2/20) = 0.32.
ROUNDS_PER_ENTRY = 20
#: Rewards of each committed action: its own variance to about a half, sqrt(2/9) = 0.47.
REWARDS_PER_ACTION = 10


@dataclass(frozen=True, eq=False)
class Exploration:
    r"""How far an exploration goes.

    Attributes
    ----------
    rounds, actions : int
        Rounds of exploration, and actions explored.
    found : Identifiability
        What they determine.
    attainable : int
        How many linear functions of :math:`\Sigma_*` all actions together determine: the entries
        themselves, d(d+1)/2, where there are enough actions.
    committed, fewest : int
        Committed actions, and the fewest rewards that one of them gets; 0 before they are known.
    """

    rounds: int
    actions: int
    found: Identifiability
    attainable: int
    committed: int
    fewest: int

    @property
    def needed(self) -> int:
        """Rounds of exploration that would be enough."""
        return ROUNDS_PER_ENTRY * self.attainable

    @property
    def determines(self) -> bool:
        """Whether the variances of all actions are determined."""
        return bool(self.found.determined.all())

    @property
    def enough(self) -> bool:
        """Whether exploration and, once they are known, the rewards to come are enough."""
        committed = self.committed == 0 or self.fewest >= REWARDS_PER_ACTION
        return self.determines and self.rounds >= self.needed and committed


def exploration_of(
    features: ArrayLike, explored: ArrayLike, committed: ArrayLike | None = None
) -> Exploration:
    """Count what an exploration determines.

    Parameters
    ----------
    features : array, shape (A, d)
    explored : array of int, shape (A,)
        Pulls of exploration, at least one.
    committed : array of int, shape (A,), optional
        Pulls of the commit phase, once they are known.

    Raises
    ------
    ValueError
        If an argument breaks its rule.
    """
    counts = np.asarray(explored)
    found = identifiability(features, counts)
    later = np.asarray(counts * 0 if committed is None else committed)
    if later.shape != counts.shape:
        raise ValueError(f"committed: expected shape {counts.shape}; got shape {later.shape}")
    return Exploration(
        rounds=int(counts.sum()),
        actions=int(np.count_nonzero(counts)),
        found=found,
        attainable=identifiability(features, np.ones(len(counts))).rank,
        committed=int(np.count_nonzero(later)),
        fewest=int(later[later > 0].min(initial=np.iinfo(np.int64).max)) if later.any() else 0,
    )


def enough_exploration(state: Exploration, *, rounds: int, begun: bool, pilot: bool = False) -> str:
    """Say in Markdown whether exploration is enough and, if not, what to do.

    Parameters
    ----------
    state : Exploration
    rounds : int
        The budget n.
    begun : bool
        Whether rewards are in the log, so that no choice may be changed any more.
    pilot : bool
        Whether this is the pilot of a tuned exploration, which goes on.
    """
    found = state.found
    what = "The pilot of exploration" if pilot else "Exploration"
    said = (
        f"{what}, {_counted(state.rounds, 'round')} over {_counted(state.actions, 'action')}, "
        f"determines {found.rank} of {found.unknowns} entries of $\\bSigma_*$ "
        f"and the variances of {_of_all(found)}; for these to be known to about a third it needs "
        f"{state.needed:,} rounds, {ROUNDS_PER_ENTRY} for each of {state.attainable}."
    )
    if state.committed:
        each = (
            "The one committed action has"
            if state.committed == 1
            else (f"Each of the {state.committed} committed actions has at least")
        )
        said += (
            f" {each} {_counted(state.fewest, 'reward')}, and {REWARDS_PER_ACTION} are needed for "
            "its own scatter to say how noisy it is."
        )
    if state.enough:
        return f"**Enough exploration.** {said}"
    head = "Not enough exploration yet" if pilot and state.determines else "Not enough exploration"
    return f"**{head}.** {said} {_advice(state, rounds, begun, pilot)}"


def _advice(state: Exploration, rounds: int, begun: bool, pilot: bool) -> str:
    """Say what to do; the choices themselves may change only before the first reward."""
    cures = []
    if not state.determines:
        cures.append("choose `exploration=identifiable`, which determines all variances")
    if pilot and state.determines:
        cures.append("see whether the next phase brings enough")
    elif state.rounds < state.needed:
        if 2 * state.needed <= rounds:
            cures.append(f"choose `exploration_rounds={state.needed}`")
        else:
            cures.append(
                f"plan at least {2 * state.needed:,} rounds, half of them for "
                f"`exploration_rounds={state.needed}`, or take fewer features"
            )
    if state.committed and state.fewest < REWARDS_PER_ACTION:
        times = math.ceil(REWARDS_PER_ACTION / max(state.fewest, 1))
        cures.append(f"plan about {times} times as many rounds for the committed actions")
    text = "; ".join(cures)
    if begun and not pilot:
        return (
            "This experiment has begun, so change nothing: take its intervals for too short. "
            f"Before the next one, {text}."
        )
    return f"{text[0].upper()}{text[1:]}."


def _of_all(found: Identifiability) -> str:
    known, all_ = int(found.determined.sum()), found.determined.size
    return f"all {all_} actions" if known == all_ else f"{known} of {all_} actions"


def _counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}" + ("" if number == 1 else "s")
