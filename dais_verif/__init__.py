"""dais-verif: does this RTL compute this DAIS program, bit for bit?

``load`` reads a program, ``run`` (or ``program.run``) evaluates it on the golden model, ``Golden`` does so many times.
"""

from __future__ import annotations

from dais_verif.errors import DaisError, InputError, ProgramError, ToolError, ViolationError
from dais_verif.golden import Golden, run
from dais_verif.program import Program, load
from dais_verif.verdict import Verdict
from dais_verif.version import VERSION

__all__ = [
    # programs
    "Golden",
    "Program",
    "load",
    "run",
    # what can go wrong
    "DaisError",
    "InputError",
    "ProgramError",
    "ToolError",
    "Verdict",
    "ViolationError",
    "__version__",
]

__version__ = VERSION
