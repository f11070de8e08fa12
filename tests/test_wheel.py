"""The library as others install it: what its wheel holds, and that numpy and scipy are enough."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

pytestmark = pytest.mark.slow

#: From a table of actions to a design, and from a log of rewards to an estimate.
EXAMPLE = '''
import csv, importlib.metadata, importlib.util, json
from pathlib import Path

import numpy as np
import speedlib
from speedlib.live import advance, read_actions, read_log

here = Path.cwd()
(here / "actions.csv").write_text("""action,size,colour,probability
red,1,0,0.5
blue,0,1,0.3
grey,1,1,0.2
""")
actions = read_actions("actions.csv")
world = speedlib.LinearBandit(actions.features, [1.0, 2.0], Sigma=np.diag([0.5, 2.0]))
design = speedlib.optimal_design(actions.features, world.variances, policy=actions.policy)

rng, rows, progress = np.random.default_rng(1), [], None
strategy = speedlib.SPEED(exploration="uniform", covariance="psd")
while progress is None or progress.estimate is None:
    if progress:
        pulled = np.repeat(np.arange(3), progress.asked - progress.seen)
        rewards = world.pull_each(pulled, rng)
        rows += [
            (progress.phase, actions.names[a], r) for a, r in zip(pulled, rewards, strict=True)
        ]
    with open("log.csv", "w", newline="") as file:
        csv.writer(file).writerows([("phase", "action", "reward"), *rows])
    trial = strategy.begin(actions.features, actions.policy, 400, rng=5)
    progress = advance(trial, read_log("log.csv", actions), actions.names)

others = ("pandas", "joblib", "rich", "threadpoolctl", "dask", "speedbook", "paper", "mutation")
print(json.dumps({
    "file": speedlib.__file__,
    "installed": sorted(each.name for each in importlib.metadata.distributions()),
    "found": [name for name in others if importlib.util.find_spec(name)],
    "efficiency": design.efficiency_bound,
    "rounds": len(rows),
    "value": float(progress.estimate.value),
    "error": float(progress.estimate.standard_error),
    "truth": float(world.value(actions.policy)),
    "curve": speedlib.mse_curve(
        world, actions.policy, [speedlib.Oracle()], [100], 50, seed=1
    ).mse.ravel().tolist(),
}))
'''

#: Runs the examples of a page; prints how many failed.
CHECK = "import doctest, sys; print(doctest.testfile(sys.argv[1], module_relative=False))"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build wheel and source archive."""
    folder = tmp_path_factory.mktemp("built")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    return folder


def sources() -> set[str]:
    kinds = ("*.py", "*.json", "py.typed")
    found = {path for kind in kinds for path in (ROOT / "speedlib").rglob(kind)}
    return {path.relative_to(ROOT).as_posix() for path in found}


def test_the_wheel_holds_the_library_and_nothing_else(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    about = {name for name in names if ".dist-info/" in name}
    assert set(names) - about == sources()
    assert {name.split("/", 1)[1] for name in about} == {
        "METADATA",
        "RECORD",
        "WHEEL",
        "licenses/LICENSE",
    }


def test_the_source_archive_holds_what_the_wheel_is_built_from(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as content:
        names = {name.split("/", 1)[1] for name in content.getnames()}
    about = {"LICENSE", "pyproject.toml", "PKG-INFO", ".gitignore", "speedlib/README.md"}
    assert names == sources() | about


def test_the_index_shows_the_librarys_own_readme(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as content:
        (name,) = (name for name in content.namelist() if name.endswith("/METADATA"))
        text = content.read(name).decode("utf-8")
    assert (ROOT / "speedlib" / "README.md").read_text("utf-8").strip() in text
    assert "make book" not in text


@pytest.mark.skipif(os.name == "nt", reason="links to packages need rights that few have there")
def test_numpy_and_scipy_are_enough_from_a_table_to_an_estimate(
    built: Path, tmp_path: Path
) -> None:
    """In an environment of its own, with links to the numpy and scipy that are installed here."""
    venv.create(tmp_path / "clean", symlinks=True)
    python = tmp_path / "clean" / "bin" / "python"
    (site,) = (tmp_path / "clean").glob("lib/python*/site-packages")
    for package in ("numpy", "scipy"):
        files = distribution(package).files or []
        for name in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            (site / name).symlink_to(distribution(package).locate_file(name))
    (wheel,) = built.glob("*.whl")
    options = ["--quiet", "--disable-pip-version-check", "--no-index"]
    pip = [sys.executable, "-m", "pip", "--python", str(python)]
    subprocess.run([*pip, "install", *options, str(wheel)], check=True)
    done = subprocess.run(
        [str(python), "-I", "-W", "error", "-c", EXAMPLE],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    live = [str(ROOT / "tests" / "speedlib" / "ten_days.py"), "--repetitions", "2"]
    pages = ("speedlib/README.md", "README.md")
    for arguments in (*(["-c", CHECK, str(ROOT / page)] for page in pages), live):
        again = subprocess.run(
            [str(python), "-I", *arguments],
            # The examples of the project's README read a table in its folder.
            cwd=ROOT if str(ROOT / "README.md") in arguments else tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert again.returncode == 0, again.stderr
        assert "failed=0" in again.stdout or json.loads(again.stdout)["experiments"] == 2
    told = json.loads(done.stdout)
    assert Path(told["file"]).is_relative_to(site)
    assert told["installed"] == ["numpy", "scipy", "speed-companion"]
    assert told["found"] == []
    assert told["efficiency"] > 1 - 1e-9
    assert 395 <= told["rounds"] <= 400
    assert abs(told["value"] - told["truth"]) < 5 * told["error"] < 1
    assert told["curve"][0] > 0
