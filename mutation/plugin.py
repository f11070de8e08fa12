"""A pytest plugin that runs tests against one mutant after the other, each in a fork of its own.

All is imported and collected once. Then every test runs in a fork that notes which functions of the
mutated modules it calls, and every mutant runs in a fork in which the code of one function has been
exchanged: tests that call the function, the fastest first, until one fails. A fork starts from the
state after collection, so that nothing that a test keeps can hide a mutant from another.
"""

from __future__ import annotations

import gc
import json
import math
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import hypothesis
import pytest

#: Seconds of computing after which no further test of a mutant is begun: what the slow tests would
#: catch beyond the fast ones counts as missed.
ENOUGH = 0.7

#: Memory that a mutant may ask for, in bytes.
MEMORY = 6 << 30

#: A mutant counts as endless after so many seconds of computing, and so many times what its tests
#: take without it; a machine that is busy otherwise does not matter.
PATIENCE, SLOWER = 2, 6

#: The same for a mutant that is run against all tests of its files.
LONGEST = 60

Answer = dict[str, Any]

#: For each module and function: seconds and places of the tests that call it.
Touched = dict[tuple[str, str], list[tuple[float, int]]]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Name the file with the mutants, the one to write answers to, and how many forks to run."""
    parser.addoption("--mutants", type=Path)
    parser.addoption("--answers", type=Path)
    parser.addoption("--forks", type=int, default=1)


def pytest_sessionstart() -> None:
    """Spare the time in which a failing example would be made small."""
    hypothesis.settings.register_profile(
        "mutants",
        hypothesis.settings.default,
        phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
    )
    hypothesis.settings.load_profile("mutants")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Run all mutants in place of all tests."""
    mutants = json.loads(session.config.getoption("--mutants").read_text(encoding="utf-8"))
    files = {str(Path(sys.modules[m["module"]].__file__ or "")): m["module"] for m in mutants}
    with session.config.getoption("--answers").open("a", encoding="utf-8") as answers:
        touched: Touched = {}
        if not all("tests" in mutant for mutant in mutants):
            touched = _who_calls_what(session, files, answers)
        gc.freeze()  # so that a fork need not copy what it only counts
        forks: dict[int, Fork] = {}
        for mutant in mutants:
            _collect(forks, session.config.getoption("--forks") - 1, answers)
            tests = _chosen(session, mutant, touched)
            limit = PATIENCE + math.ceil(SLOWER * sum(seconds for seconds, _ in tests))
            limit = LONGEST if "tests" in mutant else limit
            work = _trial(session, mutant, [place for _, place in tests])
            fork = Fork(work, mutant["id"], limit)
            forks[fork.pipe] = fork
        _collect(forks, 0, answers)
    return True


def _chosen(session: pytest.Session, mutant: Answer, touched: Touched) -> list[tuple[float, int]]:
    """Return the tests to run: those of its files, if it names any, in their order.

    Otherwise the one that caught the mutant before, then the fastest of those that call it.
    """
    names = [item.nodeid for item in session.items]
    if "tests" in mutant:
        return [(0.0, i) for i, name in enumerate(names) if name.split("::")[0] in mutant["tests"]]
    tests = touched.get((mutant["module"], mutant["function"]), [])
    ordered = sorted(tests, key=lambda test: (names[test[1]] != mutant["hint"], test))
    before = [0.0, *accumulate(seconds for seconds, _ in ordered)]
    return [test for test, spent in zip(ordered, before, strict=False) if spent < ENOUGH]


class Fork:
    """A child process that answers through a pipe, with a limit on its seconds of computing."""

    def __init__(self, work: Callable[[], Answer], name: str, limit: int | None = None) -> None:
        self.name, self.text = name, b""
        self.pipe, end = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            os.close(self.pipe)
            _answer(work, end, limit)
        os.close(end)

    def read(self) -> bool:
        """Read on; say whether the child is through."""
        more = os.read(self.pipe, 1 << 16)
        self.text += more
        return not more

    def end(self) -> Answer:
        """Wait for the child, which has closed its pipe."""
        os.close(self.pipe)
        _, how = os.waitpid(self.process, 0)
        if os.WIFSIGNALED(how):
            ended = os.WTERMSIG(how) in (signal.SIGXCPU, signal.SIGKILL)
            return {"status": "endless" if ended else "crash"}
        return dict(json.loads(self.text or '{"status": "crash"}'))

    def kill(self) -> None:
        """Put an end to it."""
        os.kill(self.process, signal.SIGKILL)


def _answer(work: Callable[[], Answer], end: int, limit: int | None) -> None:
    """Do the work in the child and leave, past all that the parent would still do."""
    try:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        with os.fdopen(end, "w") as pipe:
            json.dump(work(), pipe)
    finally:
        os._exit(0)


def _collect(forks: dict[int, Fork], most: int, answers: Any) -> None:
    """Wait until at most so many forks are left; write down what the others found."""
    try:
        while len(forks) > most:
            ready, _, _ = select.select(list(forks), [], [])
            for pipe in ready:
                if forks[pipe].read():
                    _write(answers, {"id": forks[pipe].name, **forks.pop(pipe).end()})
    except BaseException:
        for fork in forks.values():
            fork.kill()
        raise


def _write(answers: Any, answer: Answer) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


def _who_calls_what(session: pytest.Session, files: dict[str, str], answers: Any) -> Touched:
    """Return for each function the tests that call it, with their seconds."""
    touched: Touched = {}
    for place, item in enumerate(session.items):
        fork = Fork(_trace(item, files), item.nodeid)
        while not fork.read():
            pass
        answer = fork.end()
        if answer["status"] != "survived":
            raise pytest.UsageError(f"{item.nodeid} fails without a mutant: {answer}")
        for module, function in answer["functions"]:
            touched.setdefault((module, function), []).append((answer["seconds"], place))
        _write(answers, {"id": item.nodeid, "status": "traced", "seconds": answer["seconds"]})
    return touched


def _trace(item: pytest.Item, files: dict[str, str]) -> Callable[[], Answer]:
    called: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename in files:
            called.add(frame.f_code)

    def work() -> Answer:
        start = time.process_time()
        sys.setprofile(note)
        failed = _fails(item)
        sys.setprofile(None)
        functions = sorted({(files[c.co_filename], _function(c.co_qualname)) for c in called})
        seconds = round(time.process_time() - start, 4)
        status = "caught" if failed else "survived"
        return {"status": status, "seconds": seconds, "functions": functions}

    return work


def _function(name: str) -> str:
    """Return the function or method that a comprehension or an inner function stands in."""
    return name.split(".<locals>")[0]


def _trial(session: pytest.Session, mutant: Answer, places: list[int]) -> Callable[[], Answer]:
    def work() -> Answer:
        if not exchange(mutant):
            return {"status": "same"}
        if not places:
            return {"status": "untested"}
        for place in places:
            if _fails(session.items[place]):
                return {"status": "caught", "test": session.items[place].nodeid}
        return {"status": "survived", "tests": len(places)}

    return work


def exchange(mutant: Answer) -> bool:
    """Give a function the code of its mutant; say whether that is another code at all."""
    module = sys.modules[mutant["module"]]
    space = dict(vars(module))
    source = "from __future__ import annotations\n" + mutant["source"]
    exec(compile(source, mutant["module"], "exec"), space)
    name = mutant["function"].split(".")[-1]
    held: Any = module
    for part in mutant["function"].split("."):
        held = vars(held)[part]
    new = space[name]
    assert isinstance(held, FunctionType)
    if list(_essence(held)) == list(_essence(new)):
        return False
    held.__code__, held.__defaults__ = new.__code__, new.__defaults__
    held.__kwdefaults__ = new.__kwdefaults__
    return True


def _essence(function: FunctionType) -> Iterator[Any]:
    """Yield what a function does, without the lines that it stands in."""
    yield function.__defaults__
    yield function.__kwdefaults__
    yield from _code(function.__code__)


def _code(code: CodeType) -> Iterator[Any]:
    yield from (code.co_code, code.co_names, code.co_varnames, code.co_freevars)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        else:
            yield type(constant), repr(constant)


_failed: list[bool] = [False]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a failure."""
    _failed[0] |= report.failed


def _fails(item: pytest.Item) -> bool:
    _failed[0] = False
    item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
    return _failed[0]
