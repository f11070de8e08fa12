"""Strategies that decide what to pull.

Three follow a design that is known at the start (`speedlib.strategies.fixed`): Oracle, On-policy,
Uniform. The others explore, estimate the variances and commit
(`speedlib.strategies.explore_commit`): SPEED and the A-, D- and G-optimal ones, which differ in the
criterion alone (`speedlib.strategies.plugin`), and a per-arm strategy that ignores the linear
structure (`speedlib.strategies.per_arm`). Two more throw no reward away and decide by scatters
alone: `speedlib.strategies.booked` and, where the support is known, `speedlib.strategies.neyman`.
How to run one, in a simulation or in a live experiment,
is told in `speedlib.trials`.
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
