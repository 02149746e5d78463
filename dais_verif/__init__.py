"""dais-verif: does this RTL compute this DAIS program, bit for bit?

``load`` reads a program, ``run`` evaluates it on the golden model, ``Golden`` does so many times.
``simulate``, ``prove``, ``check``, ``diff``, ``cover``, ``rank_sensitivity``, ``run_on_board``, ``emit``,
``synthesize``, ``regress``, ``sign_off`` and ``verify_certificate`` do what the verbs of the command line do, and
return records.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from dais_verif.errors import (
    DaisError,
    InputError,
    ProgramError,
    RequestError,
    ToolError,
    VerdictError,
    ViolationError,
)
from dais_verif.verdict import Verdict
from dais_verif.version import VERSION

if TYPE_CHECKING:
    from dais_verif.api import check, cover, diff, emit, prove, rank_sensitivity, run_on_board, simulate, synthesize
    from dais_verif.api_campaigns import regress, sign_off, verify_certificate
    from dais_verif.flows.progress import Progress
    from dais_verif.golden import Golden, run
    from dais_verif.program import Program, load

__all__ = [
    # programs
    "Golden",
    "Program",
    "load",
    "run",
    # what the verbs do
    "Progress",
    "check",
    "cover",
    "diff",
    "emit",
    "prove",
    "rank_sensitivity",
    "regress",
    "run_on_board",
    "sign_off",
    "simulate",
    "synthesize",
    "verify_certificate",
    # what can go wrong
    "DaisError",
    "InputError",
    "ProgramError",
    "RequestError",
    "ToolError",
    "Verdict",
    "VerdictError",
    "ViolationError",
    "__version__",
]

__version__ = VERSION

#: What ``api`` has.
_VERBS = ("check", "cover", "diff", "emit", "prove", "rank_sensitivity", "run_on_board", "simulate", "synthesize")

#: Imported when they are asked for: the bench, inside a simulator, has no use for them.
_LATER = {
    **dict.fromkeys(_VERBS, "api"),
    **dict.fromkeys(("regress", "sign_off", "verify_certificate"), "api_campaigns"),
    "Golden": "golden",
    "Program": "program",
    "Progress": "flows.progress",
    "load": "program",
    "run": "golden",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
