"""Strategies that decide what to pull.

Three strategies follow a design that is known at the start (`speedlib.strategies.fixed`): Oracle,
On-policy, Uniform. The others explore, estimate the variances and commit
(`speedlib.strategies.explore_commit`): SPEED and the A-, D- and G-optimal strategies, which differ
only in the criterion (`speedlib.strategies.plugin`), and a per-arm strategy that ignores the linear
structure (`speedlib.strategies.per_arm`). Two more strategies keep all rewards and decide by the
scatters of these rewards alone: `speedlib.strategies.booked` and, where the support is known,
`speedlib.strategies.neyman`. `speedlib.trials` shows how to run a strategy, in a simulation or in a
live experiment.
"""

from speedlib.strategies.booked import BookedOptimism
from speedlib.strategies.explore_commit import ExploreThenCommit, ExploreThenCommitTrial
from speedlib.strategies.fixed import FixedDesign, OnPolicy, Oracle, Uniform
from speedlib.strategies.neyman import AdaptiveNeyman
from speedlib.strategies.per_arm import PerArm
from speedlib.strategies.plugin import SPEED, AOptimal, DOptimal, GOptimal, PlugIn

__all__ = [
    "SPEED",
    "AOptimal",
    "AdaptiveNeyman",
    "BookedOptimism",
    "DOptimal",
    "ExploreThenCommit",
    "ExploreThenCommitTrial",
    "FixedDesign",
    "GOptimal",
    "OnPolicy",
    "Oracle",
    "PerArm",
    "PlugIn",
    "Uniform",
]
