"""How much the command line says, and whether in colour: set for each call by ``-q``, ``-v`` and ``--color``."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

__all__ = ["COLORS", "Spoken", "speak", "spoken"]

COLORS: Final = ("auto", "always", "never")


class Spoken(NamedTuple):
    """``quiet``: no progress and no notices, only results and errors. ``verbose``: each step, with its time."""

    quiet: bool = False
    verbose: bool = False
    color: str = "auto"


_now = [Spoken()]


def spoken() -> Spoken:
    """Return what the running call says."""
    return _now[0]


def speak(**changes: Any) -> None:
    """Change what the running call says; without ``changes``, a new call begins, which says the usual."""
    _now[0] = _now[0]._replace(**changes) if changes else Spoken()
