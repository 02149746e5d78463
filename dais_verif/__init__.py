"""dais-verif: does this RTL compute this DAIS program, bit for bit?

``load`` reads a program, ``run`` (or ``program.run``) evaluates it on the golden model, ``Golden`` does so many times.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from dais_verif.errors import DaisError, InputError, ProgramError, ToolError, ViolationError
from dais_verif.verdict import Verdict
from dais_verif.version import VERSION

if TYPE_CHECKING:
    from dais_verif.golden import Golden, run
    from dais_verif.program import Program, load

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

#: Imported when they are asked for: the bench, inside a simulator, has no use for them.
_LATER = {"Golden": "golden", "run": "golden", "Program": "program", "load": "program"}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
