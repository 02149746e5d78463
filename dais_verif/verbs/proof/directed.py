"""Vectors for the conditions of RTL and for other readings of its operators, as the first front end reads it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from math import inf
from typing import TYPE_CHECKING

from dais_verif.base.errors import InputError
from dais_verif.hardware.ports.interface import Dut
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.spec.program import Program
from dais_verif.verbs.proof.deep_stack import run_deep
from dais_verif.verbs.proof.reading import RtlReader

if TYPE_CHECKING:
    from dais_verif.prover.conditions import Sides

__all__ = ["directed_sides"]


def directed_sides(
    reader: RtlReader,
    design: RtlDesign,
    program: Program,
    dut: Dut,
    held: Sequence[tuple[str, int]],
    declared: bool,
    seconds: float,
    reading: float = inf,
) -> Sides:
    """Return the vectors for ``design``, in Verilog, found within about ``seconds``.

    ``held``: pins that a proof holds at a value. ``reading``: the seconds after which reading is given up. Raises
    ``InputError`` if it cannot be read, ``ToolError`` if Yosys is needed and missing.
    """
    from dais_verif.prover.conditions import other_readings_of, sides_of
    from dais_verif.prover.limits import OutOfTime, time_limit
    from dais_verif.prover.terms import as_written

    end = time.monotonic() + seconds

    def work(rewriting: bool) -> Sides:
        with (
            time_limit(reading),
            nullcontext() if rewriting else as_written(),
            reader.readable(reader.names[0], design) as read,
        ):
            found = sides_of(program, read(), dut, held, declared, max(end - time.monotonic(), seconds / 2))
            left = end - time.monotonic()
            if reader.names[0] != "slang" or reader.bitwise or left <= 0:
                return found
            return found.and_those_of(other_readings_of(program, reader.doubted(design), dut, held, declared, left))

    try:
        return run_deep(lambda: work(False))
    except OutOfTime:
        raise
    except InputError:  # only rewriting makes it readable, as it removes control logic from registers
        return run_deep(lambda: work(True))
