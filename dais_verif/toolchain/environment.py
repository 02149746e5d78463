"""The environment variables that child processes get, which are only those that tools need to run.

Tools and RTL can execute arbitrary code, and must not see passwords, tokens or paths of keys.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from dais_verif.passphrase import PASSPHRASE

__all__ = ["stripped"]

#: Variables with paths of programs, libraries and headers, and the user's language.
_NAMES = (
    *("PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TERM", "VIRTUAL_ENV", "XDG_CACHE_HOME"),
    *("LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "COMPILER_PATH"),
    *("GCC_EXEC_PREFIX", "GHDL_PREFIX", "VERILATOR_ROOT"),
)
#: Prefixes of variables for languages, for threads in numpy, for Yosys from PyPI, and for Python and this package,
#: which run the testbench.
_BEGINNINGS = ("LC_", "OMP_", "OPENBLAS_", "YOWASP_", "PYTHON", "DAIS_VERIF_")


def stripped(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables of ``environment`` (default: those of this process) that a tool gets."""
    given = os.environ if environment is None else environment
    kept = {name: value for name, value in given.items() if name in _NAMES or name.startswith(_BEGINNINGS)}
    kept.pop(PASSPHRASE, None)
    return kept
