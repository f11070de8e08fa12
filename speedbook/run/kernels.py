"""The settings of kernels: our settings replace the user's.

Matplotlib, IPython and Jupyter read settings from the home folder, the working directory and
environment variables, and write caches and logs there. No result may depend on these, and the home
folder may be absent or read-only. So each program has a folder below ``_build``. The folders are
kept, so fonts are found once. If these folders cannot be written, a temporary folder replaces them.

Numerical libraries also choose their code by the processor, which changes the last bits. This can
change which of several optimal designs is found, or the last digit shown. On every x86 processor,
kernels therefore use only the instructions that most of them have.
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import tempfile
from collections.abc import Mapping, MutableMapping
from importlib.metadata import version
from pathlib import Path

import numpy as np

from speedbook.paths import write_if_changed

#: Beginnings of the variables that change how Python, matplotlib, IPython, Jupyter and our figures
#: and tables behave.
SETTINGS = (
    *("PYTHON", "MPL", "MATPLOTLIB", "IPYTHON", "IPYKERNEL", "JUPYTER", "JPY_"),
    *("SPEEDBOOK_", "SPEEDLIB_PROGRESS_"),
)
#: Others: the width and the colours of a terminal, and switches of numpy, scipy and pandas.
SWITCHES = tuple(
    "COLUMNS LINES FORCE_COLOR NO_COLOR SCIPY_ARRAY_API PANDAS_ NUMPY_ NPY_ OPENBLAS_CORETYPE "
    "OPENBLAS_L2_SIZE".split()
)
#: Exceptions: where a Python is and where it may write, and how it reads names of files.
KEPT = frozenset(
    "PYTHONPATH PYTHONHOME PYTHONPLATLIBDIR PYTHONEXECUTABLE PYTHONPYCACHEPREFIX "
    "PYTHONDONTWRITEBYTECODE PYTHONUTF8 PYTHONCOERCECLOCALE".split()
)
#: The level of x86 processors that has AVX2, by numpy's name. OpenBLAS calls it Haswell.
AVX2 = "X86_V3"
#: The file that IPython reads at the start of a kernel.
CONFIG = '''\
"""Settings of the kernels that speedbook starts; it overwrites this file."""

import os

c = get_config()  # noqa: F821
# Nobody reads the history, and kernels that run in parallel would wait for its database.
c.HistoryManager.enabled = False

# matplotlib prefers a file of settings in the working directory. If there is one, it is imported
# from another directory.
if os.path.exists("matplotlibrc"):
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    here = os.getcwd()
    os.chdir(os.path.dirname(__file__))
    try:
        import matplotlib  # noqa: F401
    finally:
        os.chdir(here)
'''


def own_settings(root: Path) -> dict[str, str]:
    """Return the environment variables through which kernels get their own settings.

    Parameters
    ----------
    root : Path
        The top folder of the book.

    Returns
    -------
    dict of str to str
        For `put_into`: an empty text means that a variable is removed.

    Raises
    ------
    OSError
        If neither ``_build`` nor a temporary folder can be written.
    """
    own = {
        "MPLCONFIGDIR": f"matplotlib-{version('matplotlib')}",
        "IPYTHONDIR": "ipython",
        "JUPYTER_CONFIG_DIR": "jupyter/config",
        "JUPYTER_DATA_DIR": "jupyter/data",
        "JUPYTER_RUNTIME_DIR": "jupyter/runtime",
    }
    profile = f"{own['IPYTHONDIR']}/profile_default"
    folder = _writable(root, [*own.values(), profile])
    write_if_changed(folder / profile / "ipython_kernel_config.py", CONFIG)
    # Without a home folder `Path.home` would raise, and others would make a folder called "~".
    homeless = os.path.expanduser("~") == "~"
    return {
        **{name: "" for name in os.environ if name.startswith(SETTINGS + SWITCHES)},
        **{name: os.environ[name] for name in KEPT & os.environ.keys()},
        **{name: str(folder / below) for name, below in own.items()},
        # The kernel of this Python, not another one of the same name that the user has.
        "JUPYTER_PREFER_ENV_PATH": "1",
        "JUPYTER_PLATFORM_DIRS": "1",
        "PYTHONNOUSERSITE": "1",
        **_processor(),
        **({"HOME": str(folder)} if homeless else {}),
    }


def put_into(variables: MutableMapping[str, str], settings: Mapping[str, str]) -> None:
    """Set variables, and remove those with an empty text."""
    for name, text in settings.items():
        if text:
            variables[name] = text
        else:
            variables.pop(name, None)


def _processor() -> dict[str, str]:
    """Return the variables that limit numpy and OpenBLAS to AVX2, if the processor has it."""
    extensions = np.show_config(mode="dicts")["SIMD Extensions"]
    found = extensions.get("found", [])
    if AVX2 not in found:
        return {}
    beyond = [name for name in (*found, *extensions.get("not found", [])) if name != AVX2]
    return {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": " ".join(beyond)}


def _writable(root: Path, below: list[str]) -> Path:
    """Return a folder in which all these folders can be written."""
    folder = root.resolve() / "_build" / "kernels"
    try:
        if _made(folder, below):
            return folder
    except OSError:
        pass
    folder = _temporary()
    _made(folder, below)
    return folder


def _made(folder: Path, below: list[str]) -> bool:
    """Make folders, and return whether they can be written: another user may have made them."""
    for name in below:
        (folder / name).mkdir(parents=True, exist_ok=True)
    return all(os.access(folder / name, os.W_OK | os.X_OK) for name in below)


@functools.cache
def _temporary() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="speedbook-kernels-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
