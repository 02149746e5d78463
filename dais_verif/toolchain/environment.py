"""What a tool that we start sees of the user's environment: what it needs to run, and nothing else.

RTL is code, and so are the tools: neither has any use for passwords, tokens, or paths of keys.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from dais_verif.passphrase import PASSPHRASE

__all__ = ["stripped"]

#: Where programs, libraries and headers are, and the languages that people read.
_NAMES = (
    *("PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TERM", "VIRTUAL_ENV", "XDG_CACHE_HOME"),
    *("LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "COMPILER_PATH"),
    *("GCC_EXEC_PREFIX", "GHDL_PREFIX", "VERILATOR_ROOT"),
)
#: Of languages, of threads in numpy, of Yosys from PyPI, of Python and of ourselves: the bench is both of the last two.
_BEGINNINGS = ("LC_", "OMP_", "OPENBLAS_", "YOWASP_", "PYTHON", "DAIS_VERIF_")


def stripped(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return what of ``environment``, that of this process if it is None, a tool is given."""
    given = os.environ if environment is None else environment
    kept = {name: value for name, value in given.items() if name in _NAMES or name.startswith(_BEGINNINGS)}
    kept.pop(PASSPHRASE, None)
    return kept
