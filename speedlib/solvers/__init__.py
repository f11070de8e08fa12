"""Solvers for optimal designs, one method per file; :mod:`speedlib.designs` calls them.

The public functions are named here; modules that begin with an underscore are internal. The
reference solver for tests, :mod:`speedlib.solvers.multiplicative`, is loaded only if imported.
"""

from speedlib.solvers.batch import BatchDesigns, pe_designs
from speedlib.solvers.batch_smooth import SmoothDesigns, smooth_designs
from speedlib.solvers.elfving import ElfvingSolution, elfving_design
from speedlib.solvers.exchange import ExchangeDesign, exchange_design

__all__ = [
    "BatchDesigns",
    "ElfvingSolution",
    "ExchangeDesign",
    "SmoothDesigns",
    "elfving_design",
    "exchange_design",
    "pe_designs",
    "smooth_designs",
]
