"""Evaluate a machine on sequences of a file: its outputs in every cycle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dais_verif.base.errors import RequestError
from dais_verif.golden.machine_batch import MachineRun, run_machine
from dais_verif.record.evaluation import EvaluationRecord
from dais_verif.record.program import ProgramInfo
from dais_verif.spec.machine import Machine
from dais_verif.spec.program.numbers import IntArray
from dais_verif.stimulus.machines import npz_of, read_sequences
from dais_verif.verbs.machines.requests import require_no_options
from dais_verif.verbs.progress import Progress

if TYPE_CHECKING:
    from dais_verif.verbs.evaluate import EvaluationRequest

__all__ = ["evaluate_machine", "file_of", "table_of"]

#: Engines of machines, by the engines of programs.
_ENGINES = {"auto": "auto", "fast": "fast", "exact": "exact"}


def evaluate_machine(
    machine: Machine, request: EvaluationRequest, progress: Progress
) -> tuple[EvaluationRecord, MachineRun, bool]:
    """Return the record, the outputs of every cycle, and whether the file had several sequences.

    Raises ``RequestError`` for options that only programs have, ``ViolationError`` with sequence, cycle, block and op
    if a promise is broken and promises are checked.
    """
    require_no_options(layout=request.layout, raw_inputs=request.raw_inputs, raw=request.raw)
    if request.engine not in _ENGINES:
        raise RequestError.of(
            "{engine} {value} is for programs; machines have {engines}.",
            value=request.engine,
            engines=", ".join(_ENGINES),
        )
    inputs, several = read_sequences(request.inputs, {s.name: len(s.types) for s in machine.inputs})
    sequences, cycles = next(iter(inputs.values())).shape[:2] if inputs else (1, 0)
    with progress.working(f"{sequences} sequences of {cycles} cycles ..."):
        run = run_machine(
            machine,
            inputs,
            after=request.sample == "after",
            check=not request.unchecked,
            engine=_ENGINES[request.engine],
        )
    record = EvaluationRecord(
        program=ProgramInfo.of_machine(machine),
        rows=sequences * cycles,
        engine=run.engine,
        unchecked=request.unchecked,
        output=None if request.output is None else str(request.output),
        sequences=sequences,
        cycles=cycles,
        sample=request.sample,
    )
    return record, run, several


def table_of(run: MachineRun) -> tuple[tuple[str, ...], tuple[IntArray, ...]]:
    """Return names and columns of a run, one row per cycle: sequence, cycle, then the elements of every output."""
    names = ["sequence", "cycle"]
    shapes = [array.shape[:2] for array in run.outputs.values()]
    sequences, cycles = shapes[0] if shapes else (0, 0)
    columns: list[IntArray] = [column.ravel() for column in np.indices((sequences, cycles))]
    for name, array in run.outputs.items():
        for place in range(array.shape[2]):
            names.append(f"{name}[{place}]")
            columns.append(array[:, :, place].ravel())
    return tuple(names), tuple(columns)


def file_of(run: MachineRun, several: bool) -> bytes:
    """Return the ``.npz`` file of a run, with an axis of sequences if the inputs had one."""
    return npz_of({name: array if several else array[0] for name, array in run.outputs.items()})
