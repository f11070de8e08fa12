"""Run all benchmarks, or the named ones, each in its own process."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

NAMES = ("pe_one", "pe_many", "a_and_d", "simulation", "growth", "explorer", "waits", "commands")

#: Settings of some machines that make OpenBLAS behave differently from a reader's.
UNSET = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def environment() -> dict[str, str]:
    """Return the environment variables for a benchmark: one BLAS thread, and no presets."""
    kept = {name: value for name, value in os.environ.items() if name not in UNSET}
    return kept | dict.fromkeys(ONE_THREAD, "1")


def main() -> int:
    """Start the benchmarks one after the other."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes; nothing is stored")
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(NAMES))
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(NAMES)
    if unknown:
        parser.error(f"no benchmark called {', '.join(sorted(unknown))}; there are {NAMES}")
    flags = ["--quick"] if arguments.quick else []
    failed = 0
    for name in arguments.names or NAMES:
        command = [sys.executable, "-m", f"benchmarks.{name}", *flags]
        failed += subprocess.run(command, env=environment(), check=False).returncode != 0
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
