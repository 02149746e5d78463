"""Vectors for both sides of the conditions in user RTL, as the prover reads it, for a simulation."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dais_verif.base.errors import DaisError
from dais_verif.base.internal_error import told
from dais_verif.base.temporary import temporary_folder
from dais_verif.golden import Golden
from dais_verif.hardware.ports.interface import packed
from dais_verif.record.simulation import RtlConditions, SimulationRecord, StimulusClass
from dais_verif.simulation.confirmation import kept_promises
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch, Column, compact
from dais_verif.spec.program.ports import Element
from dais_verif.stimulus import Stimulus
from dais_verif.verbs.proof.decide import needed_packages
from dais_verif.verbs.proof.directed import directed_sides
from dais_verif.verbs.proof.reading import RtlReader
from dais_verif.verbs.vectors import signed_inputs

if TYPE_CHECKING:
    from dais_verif.prover.conditions import Sides

__all__ = ["batch_of_sides", "with_conditions"]

#: Seconds for reading and for the solver; the solver gets at least the second number.
_SECONDS, _LEAST = 2.0, 0.5
#: RTL of more bytes takes longer to read than that.
_MOST_BYTES = 1 << 20
#: Vectors of more inputs take more memory and time than they are worth.
_MOST_VECTORS = 1000


@dataclass(frozen=True)
class _Found:
    batch: Batch | None
    conditions: RtlConditions


def with_conditions(
    program: Program, design: RtlDesign, stimulus: Stimulus, record: SimulationRecord
) -> tuple[Stimulus, SimulationRecord]:
    """Return the stimulus with vectors for the conditions of ``design``, which come last, and the record of them.

    ``program``: its intervals limit the vectors. If the RTL cannot be read, the record says why.
    """
    found = _found(program, design, check=not record.unchecked)
    record = replace(record, conditions=found.conditions)
    if found.batch is None or not found.batch.rows:
        return stimulus, record
    rows = found.batch.rows
    classes = [*record.stimulus, StimulusClass("conditions", rows)]
    return Stimulus([stimulus, found.batch]), replace(record, stimulus=classes, vectors=record.vectors + rows)


def _found(program: Program, design: RtlDesign, *, check: bool) -> _Found:
    if sum(source.stat().st_size for source in design.sources) > _MOST_BYTES:
        return _Found(None, RtlConditions(why=f"the RTL has more than {_MOST_BYTES} bytes"))
    try:
        with needed_packages(), temporary_folder() as folder:
            sides = _sides(program, design, folder.path)
    except (DaisError, OSError) as error:
        return _Found(None, RtlConditions(why=" ".join(str(error).split())))
    except Exception as error:  # vectors that help must not take a verdict away
        return _Found(None, RtlConditions(why=told(error, sys.argv[1:])))
    batch = batch_of_sides(program, sides.vectors[:_MOST_VECTORS], sides.elements)
    if batch is not None and check:
        batch = Batch.concatenate([batch.slice(0, 0), *kept_promises(Golden(program), batch)])
    rows = 0 if batch is None else batch.rows
    return _Found(batch, RtlConditions(rows, sides.reached, sides.sides))


def _sides(program: Program, design: RtlDesign, folder: Path) -> Sides:
    """Return the vectors as the first front end reads the RTL. Raises ``DaisError`` if it cannot."""
    began = time.monotonic()
    reader = RtlReader.of("slang", design, folder / "yosys", foreign=True)
    verilog = reader.in_verilog(design)
    left = max(_SECONDS - (time.monotonic() - began), _LEAST)
    dut = design.dut or packed(program)
    return directed_sides(reader, verilog, program, dut, (), declared=True, seconds=left, reading=_SECONDS)


def batch_of_sides(
    program: Program, vectors: tuple[tuple[int, ...], ...], elements: tuple[Element, ...]
) -> Batch | None:
    """Return the vectors of ``Sides`` as numbers; None if there are none."""
    if not vectors:
        return None
    rows = [signed_inputs(program, vector, elements) for vector in vectors]
    columns = (compact(np.array(values, dtype=object)) for values in zip(*rows, strict=True))
    named = zip(columns, elements, strict=True)
    return Batch(len(rows), tuple(Column(values, element.lo) for values, element in named))
