"""What `import speedlib` loads, and what is said where a package is missing that not all need."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from speedlib import Oracle, Uniform, mse_curve, unit_ball
from speedlib.comparison import by_variance, compare, shares
from speedlib.fitting import calibration
from speedlib.simulation import _linear_algebra

OPTIONAL = ("joblib", "pandas", "rich", "threadpoolctl")
BALL = unit_ball()


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away all packages but numpy and scipy."""
    for name in list(sys.modules):
        if name.split(".")[0] in OPTIONAL:
            monkeypatch.delitem(sys.modules, name)
    for name in OPTIONAL:
        monkeypatch.setitem(sys.modules, name, None)
    _linear_algebra.cache_clear()
    yield
    _linear_algebra.cache_clear()


def curves(**choices: object):
    return mse_curve(BALL.bandit, BALL.policy, [Oracle(), Uniform()], [50], 30, seed=1, **choices)


def comparison():
    return compare(lambda rng: BALL, [Oracle(), Uniform()], [50], 30, 2, seed=1)


@pytest.mark.parametrize(
    ("call", "what", "package", "extra"),
    [
        (lambda: curves().to_frame(), "MSECurves.to_frame", "pandas", "tables"),
        (lambda: comparison().table(), "Comparison.table", "pandas", "tables"),
        (lambda: by_variance({}, np.ones(3)), "by_variance", "pandas", "tables"),
        (lambda: calibration([1, 2], [1, 2], 1).to_frame(), "Calibration.to_frame", "pandas", "ta"),
        (lambda: curves(n_jobs=2), "mse_curve with n_jobs=2", "(joblib|threadpoolctl)", "sim"),
        (lambda: curves(n_jobs=None), "mse_curve with n_jobs=None", "(joblib|threadpoolctl)", ""),
        (lambda: curves(progress=True), "mse_curve with progress=True", "rich", "simulation"),
    ],
)
def test_a_missing_package_is_named_with_the_extra_that_brings_it(
    bare: None, monkeypatch, call, what: str, package: str, extra: str
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    message = (
        f"^{what} needs {package}, which is not installed: pip install 'speed-companion.{extra}"
    )
    with pytest.raises(ImportError, match=message):
        call()


def test_a_package_that_is_broken_is_not_called_missing(monkeypatch) -> None:
    class Broken:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "pandas":
                raise ImportError("pandas: wrong version of numpy")

    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Broken(), *sys.meta_path])
    with pytest.raises(ImportError, match=r"^pandas: wrong version of numpy"):
        by_variance({}, np.ones(3))


def test_one_process_without_a_bar_needs_none_of_them(bare: None, request) -> None:
    without = curves(), comparison(), shares(BALL, [Uniform()], 20, 5, 1)
    request.getfixturevalue("monkeypatch").undo()
    _linear_algebra.cache_clear()
    assert without[0].mse == pytest.approx(curves().mse, rel=1e-12)
    assert without[1].against("Oracle", ["Uniform"]).estimate < 1
    assert without[2]["Uniform"].sum() == pytest.approx(1)


@pytest.mark.slow
def test_importing_the_library_loads_little_else() -> None:
    heavy = ("scipy.optimize", "scipy.stats", "scipy.sparse", "scipy.special", *OPTIONAL)
    code = f"import sys, numpy, scipy.linalg; before = set(sys.modules); import speedlib; print(\
*[name for name in {heavy} if name in sys.modules and name not in before])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
