"""What holds for every run of pytest, also for the notebooks that nbval compares."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import hypothesis
import pytest

# The same examples in every run and on every machine, however slow; none are kept in the folder.
hypothesis.settings.register_profile(
    "reproducible", derandomize=True, deadline=None, database=None, print_blob=True
)
hypothesis.settings.load_profile("reproducible")

# A shell starts what it puts in the background deaf to Ctrl-C, `nohup` makes it deaf to a closed
# terminal, and every process below inherits that: programs whose interruption is tested must be
# able to hear it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_configure(config: pytest.Config) -> None:
    """Give a cell as much time under nbval as in the book, and kernels settings of their own."""
    if config.pluginmanager.hasplugin("nbval"):  # the library's own tests go without
        from speedbook.run.execution import CELL_TIMEOUT
        from speedbook.run.kernels import own_settings, put_into

        config.option.nbval_cell_timeout = CELL_TIMEOUT
        if config.option.nbval or config.option.nbval_lax:
            put_into(os.environ, own_settings(Path(__file__).parent))
            _start_kernels_patiently()


def _start_kernels_patiently() -> None:
    """Let nbval repeat the start of a kernel: before it takes its ports, another may be faster."""
    import nbval.kernel

    from speedbook.run.execution import START_ATTEMPTS

    once = nbval.kernel.start_new_kernel

    def start(*arguments: Any, **options: Any) -> Any:
        for _ in range(START_ATTEMPTS - 1):
            with suppress(RuntimeError):
                return once(*arguments, **options)
        return once(*arguments, **options)

    nbval.kernel.start_new_kernel = start


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Compare all that a notebook puts out but stderr, which is the machine's and not ours."""
    if isinstance(collector, pytest.File) and collector.path.suffix == ".ipynb":
        collector.skip_compare += ("stderr",)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say of each notebook whose outputs differ what may have happened, and what to do."""
    failed = [report.nodeid for report in terminalreporter.getreports("failed")]
    names = sorted({name for name, _, _ in (node.partition("::") for node in failed)})
    notebooks = [name for name in names if name.endswith(".ipynb")]
    if not notebooks:
        return
    from speedbook.notebook.contract import file_problem

    terminalreporter.section("notebooks that differ from their committed outputs")
    renew = "a fresh run gives other outputs; if that is meant, `make refresh` renews them"
    for name in notebooks:
        text = (terminalreporter.config.rootpath / name).read_text(encoding="utf-8")
        terminalreporter.line(file_problem(name, text) or f"{name}: {renew}")
