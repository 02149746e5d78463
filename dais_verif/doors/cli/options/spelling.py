"""The options of the command line that correspond to the functions' arguments."""

from __future__ import annotations

from typing import Final

__all__ = ["option_of"]

#: Options whose name differs from that of the argument.
_OPTIONS: Final = {
    "bram=False": "--no-bram",
    "configurations": "CONFIGURATIONS",
    "judges": "--judge",
    "output": "-o",
    "pairs": "--pair",
    "parameters": "--param",
    "paths": "PATHS",
    "program": "PROGRAM",
    "seeds": "--seed",
    "simulators": "--sim",
}


def option_of(argument: str) -> str:
    """Return the option for ``argument`` of a function, such as ``--max-depth`` for ``max_depth``."""
    return _OPTIONS.get(argument) or f"--{argument.replace('_', '-')}"
