"""Solvers for optimal designs, one idea a file; :mod:`speedlib.designs` is the front door.

What a user may call is named here; what begins with an underscore is how it is done. The reference
that they are checked against, :mod:`speedlib.solvers.multiplicative`, is loaded only if asked for.
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
