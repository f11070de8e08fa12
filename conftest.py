"""What holds for every run of pytest, also for the notebooks that nbval compares."""

from __future__ import annotations

import signal

import hypothesis
import pytest

# The same examples in every run and on every machine, however slow; none are kept in the folder.
hypothesis.settings.register_profile(
    "reproducible", derandomize=True, deadline=None, database=None, print_blob=True
)
hypothesis.settings.load_profile("reproducible")

# A shell starts what it puts in the background deaf to Ctrl-C, and every process below inherits
# that: programs whose interruption is tested must be able to hear it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Give a cell as much time under nbval as in the book."""
    if config.pluginmanager.hasplugin("nbval"):  # the library's own tests go without
        from speedbook.run.execution import CELL_TIMEOUT

        config.option.nbval_cell_timeout = CELL_TIMEOUT


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Compare all that a notebook puts out but stderr, which is the machine's and not ours."""
    if isinstance(collector, pytest.File) and collector.path.suffix == ".ipynb":
        collector.skip_compare += ("stderr",)
