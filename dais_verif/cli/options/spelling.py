"""What the command line calls the arguments of our functions: its options."""

from __future__ import annotations

from typing import Final

__all__ = ["option_of"]

#: Where an option is not called as its argument.
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
    """Return what stands on a command line for ``argument`` of a function, ``--max-depth`` for ``max_depth``."""
    return _OPTIONS.get(argument) or f"--{argument.replace('_', '-')}"
