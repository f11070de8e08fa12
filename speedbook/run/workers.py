"""Processes that work through a list of tasks; if one is killed, the others are not affected.

Every worker has a pool of its own. If a worker is killed, only its task is lost, and a new worker
replaces it.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import resource_tracker
from pathlib import Path
from typing import TypeVar

from speedbook.run.kernels import put_into

#: The exit code of a worker that is terminated, as shells give it.
ENDED = 128 + signal.SIGTERM
#: Seconds between two checks of the progress.
TICK = 0.2

Task = TypeVar("Task")
Result = TypeVar("Result")


def each(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    workers: int,
    environment: dict[str, str],
    tick: Callable[[], None] | None = None,
    attempts: int = 1,
) -> Generator[tuple[Task, Result | None], None, None]:
    """Call a function for each task in processes, a few at a time, and yield each as it ends.

    Parameters
    ----------
    function : callable
        A function of a module, which new processes can import.
    tasks : sequence
        Its arguments.
    workers : int
        How many tasks run at the same time.
    environment : dict of str to str
        Variables for the processes, in addition to those of this process.
    tick : callable, optional
        A function that is called regularly while tasks run.
    attempts : int
        How many times a task is started if its process is killed each time.

    Yields
    ------
    tuple
        A task and its result; None if its process was killed at each attempt.

    Notes
    -----
    An interrupt terminates all workers before it reaches the caller.
    """
    _shelter_tracker()
    waiting = deque((task, attempts) for task in tasks)
    idle = [_pool(environment) for _ in range(min(workers, len(tasks)))]
    at_work: dict[Future[Result], tuple[ProcessPoolExecutor, Task, int]] = {}

    def begin() -> None:
        while waiting and idle:
            pool = idle.pop()
            try:
                future = pool.submit(_in_worker, function, waiting[0][0])
            except BrokenProcessPool:  # it was killed while it waited
                idle.append(_pool(environment))
            else:
                at_work[future] = pool, *waiting.popleft()

    try:
        begin()
        while at_work:
            done, _ = wait(at_work, TICK if tick else None, FIRST_COMPLETED)
            if tick:
                tick()
            ended: list[tuple[Task, Result | None]] = []
            for future in done:
                pool, task, left = at_work.pop(future)
                try:
                    ended.append((task, future.result()))
                except BrokenProcessPool:
                    pool.shutdown()
                    pool = _pool(environment)
                    if left > 1:
                        waiting.appendleft((task, left - 1))
                    else:
                        ended.append((task, None))
                idle.append(pool)
            # The next tasks begin before the caller is busy with the results.
            begin()
            yield from ended
    except BaseException:
        for pool in [*idle, *(pool for pool, _, _ in at_work.values())]:
            pool.shutdown(wait=False, cancel_futures=True)
        for worker in multiprocessing.active_children():
            worker.terminate()
        for worker in multiprocessing.active_children():
            worker.join(timeout=10)
            worker.kill()
        raise
    finally:
        for pool in [*idle, *(pool for pool, _, _ in at_work.values())]:
            pool.shutdown(cancel_futures=True)


def _pool(environment: dict[str, str]) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(
        1,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_prepare_worker,
        initargs=(environment,),
    )


def _shelter_tracker() -> None:
    """Let multiprocessing's helper survive a closed terminal, as it does Ctrl-C and SIGTERM.

    It ends with this process. If it ended first, workers would complain of resources that it freed.
    """
    if hasattr(signal, "SIGHUP") and threading.current_thread() is threading.main_thread():
        former = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            resource_tracker.ensure_running()
        finally:
            signal.signal(signal.SIGHUP, former)


def _prepare_worker(environment: dict[str, str]) -> None:
    """Leave interrupts to the parent process, and end with it."""
    put_into(os.environ, environment)
    # A handler instead of SIG_IGN, which the kernels would inherit.
    signal.signal(signal.SIGINT, lambda *_: None)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)
    signal.signal(signal.SIGTERM, _end_worker)
    quieten()
    _find_fonts()
    import papermill  # noqa: F401 (slow: once a worker, and not on a notebook's clock)

    parent = multiprocessing.parent_process()

    def die_with_parent() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=die_with_parent, daemon=True).start()


def quieten() -> None:
    """Silence what papermill logs.

    A failure is reported as a result. Errors of a worker that is being terminated are not reported.
    """
    for logger in map(logging.getLogger, ("papermill", "asyncio")):
        logger.addHandler(logging.NullHandler())
        logger.propagate = False


class _Work:
    """Whether this worker process has a task."""

    running = False


def _end_worker(*_: object) -> None:
    """End a worker: one with a notebook ends its kernel first, an idle one ends immediately.

    An idle worker holds the lock of the queue while it waits. If it ended in the usual way between
    the two parts of a message, it would release the lock, and the next worker would take the second
    part for a message and complain.
    """
    if _Work.running:
        sys.exit(ENDED)
    os._exit(ENDED)


def _in_worker(function: Callable[[Task], Result], task: Task) -> Result:
    """Do one task; a worker that is terminated meanwhile does not return to the queue."""
    _Work.running = True
    try:
        return function(task)
    except SystemExit:
        os._exit(ENDED)
    finally:
        _Work.running = False


def _find_fonts() -> None:
    """Let matplotlib find the fonts now; in a notebook it would warn that this takes long."""
    folder = os.environ.get("MPLCONFIGDIR")
    if folder and not any(Path(folder).glob("fontlist-*.json")):
        # Without matplotlib there is nothing to do; a notebook that needs it will say so.
        with suppress(ImportError):
            import matplotlib.font_manager  # noqa: F401
