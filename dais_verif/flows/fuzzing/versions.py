"""Return the versions of all tools that influence whether a case fails."""

from __future__ import annotations

import platform
from importlib.metadata import version

from dais_verif.golden import fast
from dais_verif.version import VERSION

__all__ = ["versions"]


def versions() -> dict[str, str]:
    """Return the versions by name; for the C kernel, its instruction sets, or why it is missing."""
    found = {"dais-verif": VERSION, "python": platform.python_version(), "machine": platform.machine()}
    found |= {name: version(name) for name in ("numpy", "pyslang", "bitwuzla")}
    return {**found, "fast engine": fast.why_not() or ", ".join(fast.isas())}
