"""Options that several requests declare, with the same names and texts everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dais_verif.base.errors import RequestError
from dais_verif.spec.program import ALL_LAYOUTS
from dais_verif.verbs.arguments import texts_from
from dais_verif.verbs.options import option

__all__ = ["inputs", "jobs", "layout", "output", "seed", "simulator_of", "timeout", "unchecked", "vectors"]


def layout() -> Any:
    """Declare the layout of the file of a program."""
    return option(None, "Layout of the binary; detected if not given.", group="Program", choices=ALL_LAYOUTS, rare=True)


def vectors(default: int) -> Any:
    """Declare the number of generated vectors."""
    text = "Vectors to generate: corners, out-of-range, off-grid, random."
    return option(default, text, group="Vectors", least=0, always=True)


def seed() -> Any:
    """Declare the seed of the generated vectors."""
    return option(0, "Seed of the generated vectors.", group="Vectors", least=0, always=True)


def inputs() -> Any:
    """Declare files of vectors."""
    return option((), "Vectors from a file (.npy or CSV), applied before the generated ones.", group="Vectors")


def unchecked() -> Any:
    """Declare whether broken promises are ignored."""
    text = "Continue after an overflow with the quantised value, as hardware does."
    return option(False, text, group="Vectors", rare=True)


def jobs() -> Any:
    """Declare the number of threads or processes."""
    text = "Number of parallel threads or processes. Default: DAIS_VERIF_THREADS, or all CPUs."
    return option(None, text, group="Limits", least=1, told=False)


def timeout(default: float | None, text: str) -> Any:
    """Declare a time limit in seconds."""
    return option(default, text, group="Limits", positive=True, always=True)


def output(text: str) -> Any:
    """Declare the folder that is kept."""
    return option(None, text, group="Output")


def simulator_of(names: Sequence[str] | str | None) -> str | None:
    """Return the value of ``simulator`` for one or both names that Python gives."""
    if names is None or (isinstance(names, str) and names == "both"):
        return names
    given = set(map(str, texts_from("simulators", names)))
    if given == {"icarus", "verilator"}:
        return "both"
    if len(given) != 1 or not given <= {"icarus", "verilator", "ghdl"}:
        wanted = "icarus, verilator, both of them, or ghdl"
        raise RequestError(f"simulators must be {wanted}, not {', '.join(sorted(given)) or 'none'}.")
    return given.pop()
