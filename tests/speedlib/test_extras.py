"""What `import speedlib` loads, and what is said where a package is missing that not all need."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import numpy as np
import pytest

from speedlib import Oracle, Uniform, mse_curve, unit_ball
from speedlib.comparison import by_variance, compare, shares

OPTIONAL = ("joblib", "pandas", "rich", "threadpoolctl")
BALL = unit_ball()

#: What is called where the packages are missing, with what, who and which extra the error names.
CALLS = {
    "curves().to_frame()": ("MSECurves.to_frame", "pandas", "tables"),
    "comparison().table()": ("Comparison.table", "pandas", "tables"),
    "by_variance({}, np.ones(3), 1)": ("by_variance", "pandas", "tables"),
    "calibration([1, 2], [1, 2], 1).to_frame()": ("Calibration.to_frame", "pandas", "tables"),
    "curves(n_jobs=2)": ("mse_curve with n_jobs=2", "(joblib|threadpoolctl)", "simulation"),
    "curves(n_jobs=None)": ("mse_curve with n_jobs=None", "(joblib|threadpoolctl)", "simulation"),
    "curves(progress=True)": ("mse_curve with progress=True", "rich", "simulation"),
}

#: A process of its own, in which there is only numpy and scipy. It tells what each call says, and
#: what comes out where none of the packages is needed.
BARE = f"""
import json, sys
sys.modules.update(dict.fromkeys({OPTIONAL}))
sys.stderr.isatty = lambda: True

import numpy as np
from speedlib import Oracle, Uniform, mse_curve, unit_ball
from speedlib.comparison import by_variance, compare, shares
from speedlib.fitting import calibration

BALL = unit_ball()

def curves(**choices):
    return mse_curve(BALL.bandit, BALL.policy, [Oracle(), Uniform()], [50], 30, seed=1, **choices)

def comparison():
    return compare(lambda rng: BALL, [Oracle(), Uniform()], [50], 30, 2, seed=1)

said = {{}}
for call in {list(CALLS)}:
    try:
        eval(call)
    except ImportError as error:
        said[call] = str(error)
print(json.dumps({{
    "said": said,
    "mse": curves().mse.tolist(),
    "ratio": comparison().against("Oracle", ["Uniform"]).estimate,
    "shares": shares(BALL, [Uniform()], 20, 5, 1)["Uniform"].tolist(),
}}))
"""


@pytest.fixture(scope="module")
def bare() -> dict:
    """Tell what comes out where all packages but numpy and scipy are missing."""
    done = subprocess.run([sys.executable, "-c", BARE], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("call", CALLS)
def test_a_missing_package_is_named_with_the_extra_that_brings_it(bare: dict, call: str) -> None:
    what, package, extra = CALLS[call]
    assert re.match(
        f"{what} needs {package}, which is not installed: pip install 'speed-companion.{extra}",
        bare["said"][call],
    )


def test_a_package_that_is_broken_is_not_called_missing(monkeypatch) -> None:
    class Broken:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "pandas":
                raise ImportError("pandas: wrong version of numpy")

    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Broken(), *sys.meta_path])
    with pytest.raises(ImportError, match=r"^pandas: wrong version of numpy"):
        by_variance({}, np.ones(3), 1)


@pytest.mark.slow
def test_one_process_without_a_bar_needs_none_of_them(bare: dict) -> None:
    """The numbers are those that come out where everything is there."""
    strategies = [Oracle(), Uniform()]
    curves = mse_curve(BALL.bandit, BALL.policy, strategies, [50], 30, seed=1)
    comparison = compare(lambda rng: BALL, strategies, [50], 30, 2, seed=1)
    assert np.array(bare["mse"]) == pytest.approx(curves.mse, rel=1e-12)
    estimate = comparison.against("Oracle", ["Uniform"]).estimate
    assert bare["ratio"] == pytest.approx(estimate, rel=1e-12) and estimate < 1
    assert bare["shares"] == pytest.approx(shares(BALL, [Uniform()], 20, 5, 1)["Uniform"])
    assert sum(bare["shares"]) == pytest.approx(1)


@pytest.mark.slow
def test_importing_the_library_loads_little_else() -> None:
    heavy = ("scipy.optimize", "scipy.stats", "scipy.sparse", "scipy.special", *OPTIONAL)
    code = f"import sys, numpy, scipy.linalg; before = set(sys.modules); import speedlib; print(\
*[name for name in {heavy} if name in sys.modules and name not in before])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
