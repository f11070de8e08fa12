r"""Say in a sentence with numbers whether an experiment explores enough.

The interval needs the scatter of the rewards of each committed action, so each needs two rewards or
more. The design needs the variances that exploration determines (`speedlib.identification`). If
exploration leaves some variances open, the design may take a noisy action for a quiet one, however
long exploration is. If the variances are known only roughly, the design is partly luck. In both
cases the estimate is less precise, but the interval keeps its level.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from speedbook.text import counted
from speedlib.identification import Identifiability, identifiability

#: Rounds of exploration for each entry that it determines. Under the D-optimal design for r
#: entries, with similar variances and Gaussian noise, the relative error of a variance after Γ
#: rounds is at most about sqrt(2r/Γ); at 8 rounds for each entry this is sqrt(2/8), a half.
ROUNDS_PER_ENTRY = 8
#: Rewards of each committed action: one has no scatter.
REWARDS_PER_ACTION = 2


@dataclass(frozen=True, eq=False)
class Exploration:
    r"""What an exploration determines.

    Attributes
    ----------
    rounds, actions : int
        Rounds of exploration, and actions explored.
    found : Identifiability
        What the explored actions determine.
    attainable : int
        The number of linear functions of :math:`\Sigma_*` that all actions together determine; with
        enough actions these are all d(d+1)/2 entries.
    committed, fewest : int
        Number of committed actions, and the smallest number of rewards that one of them gets; both
        are 0 before they are known.
    """

    rounds: int
    actions: int
    found: Identifiability
    attainable: int
    committed: int
    fewest: int

    @property
    def needed(self) -> int:
        """Rounds of exploration after which the design no longer depends mostly on luck."""
        return ROUNDS_PER_ENTRY * self.attainable

    @property
    def roughness(self) -> float:
        r"""Relative error of the variances that are determined, :math:`\sqrt{2r/\Gamma}`."""
        return math.sqrt(2 * self.found.rank / self.rounds)

    @property
    def enough(self) -> bool:
        """Whether all variances are determined and each committed action has enough rewards."""
        committed = self.committed == 0 or self.fewest >= REWARDS_PER_ACTION
        return bool(self.found.determined.all()) and committed

    @property
    def long(self) -> bool:
        """Whether exploration is as long as the design needs."""
        return self.rounds >= self.needed


def exploration_of(
    features: ArrayLike, explored: ArrayLike, committed: ArrayLike | None = None
) -> Exploration:
    """Return what an exploration determines.

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
        Whether the log already has rewards, so no choice may be changed any more.
    pilot : bool
        Whether these are the results of the pilot of a tuned exploration, which continues.
    """
    found = state.found
    what = "The pilot of exploration" if pilot else "Exploration"
    said = (
        f"{what}, {counted(state.rounds, 'round')} over {counted(state.actions, 'action')}, "
        f"determines {found.rank} of {found.unknowns} entries of the variance matrix "
        f"and the variances of {_of_all(found)}, with relative errors of about "
        f"{100 * state.roughness:.0f} %."
    )
    if state.committed:
        each = f"each of the {state.committed} has at least {state.fewest:,}"
        if state.committed == 1:
            each = f"the only one has {state.fewest:,}"
        said += (
            f" The interval needs {REWARDS_PER_ACTION} rewards or more of each committed action: "
            f"{each}."
        )
    if not state.enough:
        return f"**Not enough exploration.** {said} {_advice(state, rounds, begun)}"
    if state.long:
        return f"**Enough exploration.** {said}"
    if pilot:
        return f"**A pilot.** {said} The next phase continues from there."
    return (
        f"**Enough for the interval, little for the design.** {said} So chance has a say in "
        f"the design: the interval is longer, but as reliable. {_advice(state, rounds, begun)}"
    )


def _advice(state: Exploration, rounds: int, begun: bool) -> str:
    """Say what to do; the choices themselves may change only before the first reward."""
    cures = []
    if not state.found.determined.all():
        cures.append("choose `exploration=identifiable`, which determines all variances")
    if not state.long and 2 * state.needed <= rounds:
        cures.append(f"choose `exploration_rounds={state.needed}`")
    elif not state.long:
        cures.append(
            f"plan at least {2 * state.needed:,} rounds, half of them for "
            f"`exploration_rounds={state.needed}`, or take fewer features"
        )
    if 0 < state.committed and state.fewest < REWARDS_PER_ACTION:
        cures.append("plan twice as many rounds")
    text = "; ".join(cures)
    if begun:
        return f"Change nothing in an experiment that has begun. Before the next one, {text}."
    return f"{text[0].upper()}{text[1:]}."


def _of_all(found: Identifiability) -> str:
    known, all_ = int(found.determined.sum()), found.determined.size
    return f"all {all_} actions" if known == all_ else f"{known} of {all_} actions"
