"""Run a program or a machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import VectorError
from dais_verif.golden import Engine
from dais_verif.golden import run as run_program
from dais_verif.golden.machine_batch import MachineRun, run_machine
from dais_verif.spec.machine import Machine, load_machine
from dais_verif.spec.program import Program

__all__ = ["run"]


@overload
def run(
    program: Machine,
    x: Mapping[str, Any],
    *,
    engine: Engine = "auto",
    check: bool = True,
    jobs: int | None = None,
    after: bool = False,
) -> MachineRun: ...


@overload
def run(
    program: Any,
    x: Any,
    *,
    engine: Engine = "auto",
    check: bool = True,
    jobs: int | None = None,
    after: bool = False,
) -> NDArray[np.float64]: ...


def run(
    program: Any,
    x: Any,
    *,
    engine: Engine = "auto",
    check: bool = True,
    jobs: int | None = None,
    after: bool = False,
) -> NDArray[np.float64] | MachineRun:
    """Return outputs of a program as float64 (rows, n_out) for inputs ``x`` (rows, n_in), or those of a machine.

    ``program``: a ``Program``, or whatever ``load`` takes; or a ``Machine``. For a machine, or a file with one,
    ``x`` maps each input signal to an array (sequences, cycles, elements) or (cycles, elements), and the result is a
    ``MachineRun``, as from ``run_machine``, with the outputs before the edge of each cycle, or ``after`` it.
    ``x`` of a program: an array of floats, integers or booleans, or nested lists of Python numbers; every value is
    taken exactly. float16 to float64 and int8 to uint64 are read directly, without a copy, if rows or columns are
    contiguous.
    ``engine``: ``fast`` (the C kernel), ``numpy`` (only for programs), ``exact`` (the oracle, slow) or ``auto``: the
    fastest one that supports the program. ``check=False`` continues after broken promises with the quantised value.
    ``jobs``: the number of threads of the fast engine, for programs.

    Raises ``ViolationError`` if ``check`` and a promise is broken, with row, op, operands and exact result; for a
    machine, with sequence, cycle, block and op. Raises ``InputError`` for unusable vectors or an output that float64
    cannot hold exactly.
    """
    if not isinstance(program, Machine) and not (isinstance(x, Mapping) and not isinstance(program, Program)):
        if after:
            raise VectorError("after is for machines: a program has no clock edges")
        return run_program(program, x, engine=engine, check=check, jobs=jobs)
    if jobs is not None:
        raise VectorError("jobs is for programs: the cycles of a machine follow each other")
    if not isinstance(x, Mapping):
        raise VectorError(f"inputs of a machine must be a mapping from its signals to arrays, not {type(x).__name__}")
    machine = program if isinstance(program, Machine) else load_machine(program)
    return run_machine(machine, x, after=after, check=check, engine=engine)
