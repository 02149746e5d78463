"""Show every value from one input vector to the outputs, or every signal of a machine in one cycle."""

from __future__ import annotations

import io
import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from dais_verif.base.errors import RequestError, VectorError, ViolationError
from dais_verif.base.files import write_atomically
from dais_verif.golden.vm import (
    ViolationWarning,
    accept_instructions,
    compile_forward_and_backward,
    logging_vm_execution,
)
from dais_verif.record.explanation import CycleRecord
from dais_verif.subject import open_for
from dais_verif.subject.given import AnyProgram
from dais_verif.verbs import common_options as common
from dais_verif.verbs.machines.explain import explain_machine, text_of
from dais_verif.verbs.options import Request, option
from dais_verif.verbs.programs import read_program
from dais_verif.verbs.progress import SILENT, Progress
from dais_verif.verbs.vectors import batch_of

__all__ = ["Explanation", "ExplanationRequest", "explain"]


@dataclass(frozen=True, kw_only=True)
class ExplanationRequest(Request):
    """The vector of a program to explain; vectors and their numbers are those of a simulation with the same options."""

    verb: ClassVar[str] = "explain"

    program: AnyProgram
    layout: str | None = common.layout()
    inputs: tuple[Path, ...] = common.inputs()
    vectors: int = common.vectors(1000)
    seed: int = common.seed()
    row: int = option(0, "The vector to explain, counted from 0.", group="Vectors", least=0)
    only_cone: int | None = option(
        None, "Only ops that output OUT depends on.", group="Vectors", metavar="OUT", least=0
    )
    cycle: int | None = option(None, "For a machine: the cycle to explain, counted from 0.", group="Vectors", least=0)
    sequence: int = option(0, "For a machine: the sequence to explain.", group="Vectors", least=0)
    unchecked: bool = common.unchecked()
    output: Path | None = common.output("File to write; stdout if not given.", writes="file")
    as_json: bool = option(
        False, "Write JSON lines, one object per op, instead of text.", group="Output", name="json", keyword="as_json"
    )


@dataclass(frozen=True)
class Explanation:
    """One line per op, and a line that counts promises. ``violation``: the first broken promise, in words.

    For a machine, one line per element; ``record``: the same content as a record.
    """

    text: str
    violation: str | None
    record: CycleRecord | None = None

    def raise_for_violation(self) -> None:
        """Raise ``ViolationError`` if a promise is broken."""
        if self.violation is not None:
            raise ViolationError(self.violation)


def explain(request: ExplanationRequest, *, progress: Progress = SILENT) -> Explanation:
    """Execute a program on one vector and describe every op: type, opcode, real value, raw integer, bits.

    For a machine: execute it up to one cycle, and describe every element of every signal in it.
    """
    machine = open_for("explain", request.program, request.layout).machine
    if machine is not None:
        with progress.working("explaining"):
            record = explain_machine(machine, request)
        text_of_cycle = record.to_json() + "\n" if request.as_json else text_of(record)
        if request.output is not None:
            write_atomically(request.output, text_of_cycle.encode())
        return Explanation(text_of_cycle, record.violation, record)
    if request.cycle is not None or request.sequence:
        raise RequestError.of("{cycle} and {sequence} are for machines; {row} says which vector of a program.")
    program, _ = read_program(request.program, request.layout, progress)
    batch = batch_of([program], request.inputs, request.vectors, request.seed)
    row = request.row
    if row >= batch.rows:
        raise VectorError.of("{row} {value}: there are {rows} vectors, numbered from 0 on", value=row, rows=batch.rows)
    text = io.StringIO()
    with (
        progress.working("explaining"),
        warnings.catch_warnings(),
        logging_vm_execution(text, as_json=request.as_json, only_cone=request.only_cone),
    ):
        warnings.simplefilter("ignore", ViolationWarning)  # the result reports the violation in one line
        compiled = compile_forward_and_backward(program, need_backward=False, fuse=False, optimize_locality=False)
        run = accept_instructions(compiled.forward, batch.slice(row, row + 1), opt_level=1, on_violation="warn")
    text.write((json.dumps({"checks": run.checks._asdict()}) if request.as_json else f"; {run.checks}") + "\n")
    if request.output is not None:
        write_atomically(request.output, text.getvalue().encode())
    return Explanation(text.getvalue(), None if run.violation is None else f"row {row}: {run.violation.words}")
