"""Link errors and verdicts to their sections of docs/troubleshooting.md."""

from __future__ import annotations

from dais_verif.base.errors import DaisError, FileError, MissingPackage
from dais_verif.base.verdict import Verdict

__all__ = ["MEMORY", "PAGE", "code_of", "section_of", "section_of_error", "section_of_verdict"]

PAGE = "docs/troubleshooting.md"

#: The code of a ``MemoryError``.
MEMORY = "memory"


def code_of(error: BaseException) -> str:
    """Return the code of ``error``; for an exception that is not of this package, that of its kind."""
    if isinstance(error, DaisError):
        return error.code
    if isinstance(error, ImportError):
        return MissingPackage.code
    if isinstance(error, OSError):
        return FileError.code
    return MEMORY if isinstance(error, MemoryError) else Verdict.INTERNAL_ERROR.code


def section_of(code: str) -> str:
    """Return the link to the section about ``code``."""
    return f"{PAGE}#{code}"


def section_of_error(error: BaseException) -> str:
    """Return the link to the section about ``error``."""
    return section_of(code_of(error))


def section_of_verdict(verdict: Verdict) -> str:
    """Return the link to the section about a run that ended in ``verdict``; empty for PASS."""
    return "" if verdict is Verdict.PASS else section_of(verdict.code)
