"""Convert sequences that drive a machine with tensors for simulations, and run the machine on them."""

from __future__ import annotations

from dais_verif.compile.kernels.driving.frames import Driven, Found
from dais_verif.golden.machine_batch import run_raw
from dais_verif.spec.machine import Machine
from dais_verif.stimulus.machines import ArrayRows, InputSequence

__all__ = ["read_driven", "rows_of"]


def rows_of(machine: Machine, driven: Driven) -> InputSequence:
    """Return the inputs of all cycles as a sequence for simulation."""
    types = {signal.name: signal.types for signal in machine.inputs}
    return InputSequence(driven.cycles, {name: ArrayRows(raw, types[name]) for name, raw in driven.inputs.items()})


def read_driven(machine: Machine, driven: Driven, *, check: bool = True) -> Found:
    """Run the machine in the fast engine, and return the outputs read from it."""
    raw = {name: array[None] for name, array in driven.inputs.items()}
    run = run_raw(machine, raw, sequences=1, cycles=driven.cycles, after=False, check=check)
    if run is None or run.unknowns:
        return Found(problem="the machine has unknown outputs, or the fast engine does not support it")
    outputs, first = {}, 0
    for signal in machine.outputs:
        outputs[signal.name] = run.before[:, first : first + len(signal.types), 0]
        first += len(signal.types)
    return driven.read(outputs)
