"""A Dask cluster through joblib's own backend, of which a worker is killed in mid-run."""

from __future__ import annotations

import os
import signal

import joblib
import numpy as np
import pytest

from speedlib import simulation
from speedlib.curves import MSECurves
from speedlib.simulation import mse_curve
from speedlib.strategies import SPEED, OnPolicy

from .cases import BALL

pytestmark = pytest.mark.slow
distributed = pytest.importorskip("distributed", reason="the extra `dask` is not installed")


def run(**how: object) -> MSECurves:
    return mse_curve(
        BALL.bandit,
        BALL.policy,
        [SPEED(exploration="uniform"), OnPolicy()],
        [100, 400],
        6000,
        seed=3,
        **how,
    )


def test_a_killed_worker_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    # Blocks of 300 replications: eighty of them, so that the run goes on after the kill.
    monkeypatch.setattr(simulation, "_BLOCK_ENTRIES", 300 * (5 * 2 + 2**4))
    alone = run(n_jobs=1)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        pids = client.run(os.getpid)
        victim = next(iter(pids.values()))
        done: list[int] = []

        def kill_one(finished: int, total: int) -> None:
            done.append(finished)
            if finished == 10:
                os.kill(victim, signal.SIGKILL)

        with joblib.parallel_config(backend="dask"):
            together = run(n_jobs=None, progress=kill_one)
        assert victim not in client.run(os.getpid).values()
    assert done == list(range(1, 81))
    for name in ("mse", "standard_error", "group_means", "inestimable"):
        assert np.array_equal(getattr(alone, name), getattr(together, name))
