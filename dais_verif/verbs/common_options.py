"""Options that several requests declare, with the same names and texts everywhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from dais_verif.base.errors import RequestError
from dais_verif.base.verilog_names import is_module_name
from dais_verif.spec.program import ALL_LAYOUTS
from dais_verif.spec.program.types import LIMIT
from dais_verif.verbs.arguments import texts_from
from dais_verif.verbs.networks.hardware_forms import FORMS
from dais_verif.verbs.options import REQUIRED, option

__all__ = [
    "at_once",
    "cluster",
    "duration",
    "engine",
    "form",
    "grid",
    "inputs",
    "jobs",
    "knobs",
    "layout",
    "memory",
    "module_name",
    "output",
    "parallel",
    "paranoid",
    "require_program_rtl",
    "samples",
    "seconds_from",
    "seed",
    "simulator_of",
    "strict",
    "suggest",
    "timeout",
    "top",
    "unchecked",
    "vectors",
]


def layout(text: str = "Layout of the binary; detected if not given.") -> Any:
    """Declare the layout of the file of a program."""
    return option(None, text, group="Program", choices=ALL_LAYOUTS, rare=True)


def engine(engines: Sequence[str], text: str = "Golden engine.") -> Any:
    """Declare the engine of the golden model, one of ``engines``."""
    return option("auto", text, group="Program", choices=tuple(engines))


def top() -> Any:
    """Declare the name of the emitted module."""
    return option("model", "Name of the module.", group="Design", parse=module_name)


def form() -> Any:
    """Declare the form of a network."""
    return option("unrolled", "Form of a network.", group="Program", choices=FORMS)


def parallel() -> Any:
    """Declare how many members of a network are computed at once."""
    text = "With --form memory: number of members of a stage computed in parallel."
    return option(1, text, group="Program")


def at_once() -> Any:
    """Declare the fused nodes that one member computes as a whole."""
    text = "With --form: compute all of this fused node in one member; may be repeated."
    return option((), text, group="Program", rare=True)


def samples() -> Any:
    """Declare the labelled samples of a network."""
    return option(REQUIRED, "Samples (.npz): one array per input, and label.", group="Program")


def grid() -> Any:
    """Declare the grid of weights that a knob changes."""
    text = "Fractional bits of weights that a knob multiplies by 4/3.  [default: 2 more]"
    return option(None, text, group="Program", least=0, most=LIMIT)


def knobs() -> Any:
    """Declare a table of knobs."""
    return option(None, "Table of knobs (global_knobs.txt) instead of the built-in one.", group="Program")


def strict() -> Any:
    """Declare that notices of the reader of configurations are errors."""
    text = "Also refuse questionable entries, such as fp16 with the number of fp32."
    return option(False, text, group="Program")


def vectors(default: int | None, text: str = "Vectors to generate: corners, out-of-range, off-grid, random.") -> Any:
    """Declare the number of generated vectors."""
    return option(default, text, group="Vectors", least=0, always=True)


def seed(default: int | None = 0, text: str = "Seed of the generated vectors.") -> Any:
    """Declare a seed."""
    return option(default, text, group="Vectors", least=0, always=True)


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


def timeout(default: float | None, text: str = "Time limit for each solver query, in seconds.", **more: Any) -> Any:
    """Declare a time limit in seconds."""
    return option(default, text, group="Limits", positive=True, **{"always": True, **more})


def duration(default: float | None, text: str, **more: Any) -> Any:
    """Declare the time limit of a whole run."""
    text = text if default is None else f"{text}  [default: {default:g}s]"
    rules: dict[str, Any] = {
        "positive": True,
        "parse": seconds_from,
        "show": lambda time: f"{time:g}s",
        "default_text": "",
    }
    return option(default, text, group="Limits", **rules, **more)


def memory(text: str) -> Any:
    """Declare a limit of the memory of each process."""
    return option(8192, text, group="Limits", rare=True, least=64, most=1 << 30)


def paranoid(text: str = "Compile Verilator's runtime for this run, even if one is installed.") -> Any:
    """Declare that nothing installed is trusted."""
    return option(False, text, group="Sign-off", rare=True)


def cluster(text: str) -> Any:
    """Declare a cluster of Dask."""
    return option(
        None, f"{text} on Dask: local[:N], tls://host:port of a scheduler, slurm[:N] or lsf[:N].", group="Runs"
    )


def suggest() -> Any:
    """Declare the file of a patch for wrong lines."""
    text = "Write a patch for wrong lines of your RTL to this file, if edits that were tried mend it; none is applied."
    return option(None, text, group="Output", rare=True, metavar="FILE", told=False)


def require_program_rtl(suggest: object, has: bool) -> None:
    """Raise ``RequestError`` if a patch is asked for, but there is no user RTL of a program, as ``has`` says."""
    if suggest is not None and not has:
        raise RequestError.of("{suggest} is for your own RTL of a program: give it with {rtl}, or leave {suggest} out.")


def output(text: str, default: Any = None, **more: Any) -> Any:
    """Declare the folder that is kept, or the file that is written."""
    return option(default, text, group="Output", **more)


_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def seconds_from(text: str) -> float:
    """Return a duration such as 90, 90s, 10m or 2h in seconds. Raises ``ValueError`` if ``text`` is none."""
    unit = _UNITS.get(text[-1:])
    try:
        value = float(text if unit is None else text[:-1]) * (unit or 1)
    except ValueError:
        value = math.nan
    if not 0 < value <= 1e9:
        raise ValueError(f"{text!r} must be a duration above 0, such as 90, 90s, 10m or 2h.")
    return value


def module_name(name: str) -> str:
    """Return ``name``. Raises ``ValueError`` if no module can have it."""
    if not is_module_name(name):
        raise ValueError(f"{name!r} is not a Verilog module name (letters, digits, _ and $, but not a keyword).")
    return name


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
