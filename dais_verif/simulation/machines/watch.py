"""Watch the output of a machine's RTL in a simulator, in the cycles in which a valid bit is 1."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

from dais_verif.base.errors import SimulatorError, SimulatorFailure
from dais_verif.hardware.ports.interface import DesignInterface
from dais_verif.simulation import launch
from dais_verif.simulation.machines.rows import element_bits, input_words
from dais_verif.simulation.simulators.build import RtlDesign, build
from dais_verif.simulation.testbench.idle import driven, filled
from dais_verif.simulation.testbench.probe_job import ProbeJob, Seen
from dais_verif.simulation.testbench.sequence_job import text_of_rows
from dais_verif.spec.machine import Machine
from dais_verif.spec.program import FixedType
from dais_verif.stimulus.machines import InputSequence

__all__ = ["Watched", "Watching", "watch_outputs"]


class Watched(NamedTuple):
    """``values`` of a signal in a ``cycle``, before its edge: raw integers; None if a bit is X or Z."""

    cycle: int
    values: tuple[int | None, ...]


class Watching(NamedTuple):
    """All watched values, and the ``version`` of the simulator."""

    rows: list[Watched]
    version: str | None


def watch_outputs(
    machine: Machine,
    sequence: InputSequence,
    design: RtlDesign,
    interface: DesignInterface,
    folder: Path,
    *,
    simulator: str,
    valid: str,
    data: str | None,
    timeout: float | None = None,
) -> Watching:
    """Return output ``data`` of ``design`` in the cycles in which the one-bit output ``valid`` is not 0.

    ``data``: None if the design has no such output. Raises ``InputError`` for RTL without the ports of ``interface``,
    and ``ToolError`` for a failing simulator, or a valid bit that is X or Z.
    """
    built = build(simulator, design, folder / simulator / "build", timeout=timeout)
    place = folder / simulator / "watch"
    shutil.rmtree(place, ignore_errors=True)
    wire = {signal.name: wire for signal, wire in zip(machine.outputs, interface.outputs, strict=True)}[valid]
    given = filled(input_words(machine, sequence), interface, 0, 0)
    rows = tuple(text_of_rows(given, driven(interface).input_bits))
    job = ProbeJob(driven(interface), rows, valid=wire.offset)
    answer, _ = launch.ask(built, "probe", job, Seen, place, timeout=timeout)
    if answer.port_error is not None:
        raise SimulatorError(answer.port_error)
    if len(rows) != sequence.cycles or not answer.outputs[1]:
        raise SimulatorFailure(f"the {simulator} bench did not run every cycle")
    return Watching([_watched(machine, cycle, row, valid, data) for cycle, row in answer.kept], built.version)


def _watched(machine: Machine, cycle: int, row: str, valid: str, data: str | None) -> Watched:
    values: list[int | None] = []
    for signal, element, bits in element_bits(machine, row):
        if signal.name == valid and bits != "1":
            raise SimulatorFailure(f"{valid} is {bits} in cycle {cycle}: it is not known whether data is valid")
        if signal.name == data:
            values.append(_raw(bits, signal.types[element]))
    return Watched(cycle, tuple(values))


def _raw(bits: str, kind: FixedType) -> int | None:
    if set(bits) - {"0", "1"}:
        return None
    raw = int(bits or "0", 2)
    return raw - (raw >> (kind.width - 1) << kind.width) if kind.k and kind.width else raw
