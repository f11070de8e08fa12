"""The command line of the mutants."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from mutation import stored
from speedbook.commands.reporter import Reporter
from speedbook.paths import find_root

SURVIVES, USAGE, FAILED, INTERRUPTED = 1, 2, 3, 130


def main() -> int:
    """Run what is asked for; tell of every fault in one line."""
    parser = argparse.ArgumentParser(
        prog="python -m mutation",
        description="Put faults into speedlib on purpose, and store which check turns red.",
        epilog="Exit codes: 0 all are caught (every: nine in ten), 1 they are not, 2 wrong usage, "
        "3 a run failed, 130 interrupted. What is stored already and still true is not run again.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    named = commands.add_parser("named", help="run the faults of mutants.yml")
    named.add_argument("names", nargs="*", metavar="NAME", help="by default, all of mutants.yml")
    every = commands.add_parser("every", help="run all small changes of some modules")
    every.add_argument("names", nargs="*", metavar="MODULE", help=", ".join(stored.MODULES))
    for command in (named, every):
        command.add_argument("--jobs", type=int, default=1, help="how many to run at a time")
        command.add_argument("--anew", action="store_true", help="also what is stored and true")
        command.add_argument("--quiet", action="store_true", help="tell of failures only")
    asked = parser.parse_args()
    if asked.jobs < 1:
        parser.error("--jobs: must be at least 1")
    reporter = Reporter(asked.quiet)
    try:
        from mutation import every as all_of_them
        from mutation import named as by_name

        run = by_name.run if asked.command == "named" else all_of_them.run
        missed = run(find_root(Path.cwd()), asked.names, asked.jobs, asked.anew, reporter)
    except ValueError as error:
        reporter.fail(f"mutation: {error}")
        return USAGE
    except (RuntimeError, OSError, ImportError) as error:
        reporter.fail(f"mutation: {error}")
        return FAILED
    except KeyboardInterrupt:
        print("Interrupted: what was finished is kept.", file=sys.stderr)
        return INTERRUPTED
    return SURVIVES if missed else 0


if __name__ == "__main__":
    sys.exit(main())
