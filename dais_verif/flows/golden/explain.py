"""Show every value on the way from one input vector to the outputs."""

from __future__ import annotations

import io
import json
import warnings
from dataclasses import dataclass
from pathlib import Path

from dais_verif.errors import InputError, ViolationError
from dais_verif.files import write_atomically
from dais_verif.flows.arguments import require_types
from dais_verif.flows.programs import AnyProgram, read_program, require_counts
from dais_verif.flows.progress import SILENT, Progress
from dais_verif.flows.vectors import batch_of
from dais_verif.golden.vm import (
    ViolationWarning,
    accept_instructions,
    compile_forward_and_backward,
    logging_vm_execution,
)

__all__ = ["Explanation", "ExplanationRequest", "explain"]


@dataclass(frozen=True, kw_only=True)
class ExplanationRequest:
    """Which vector of a program to explain; vectors and their numbers are those of a simulation with the same options.

    ``only_cone``: only what that output needs. ``as_json``: JSON lines, an object an op, instead of text. ``output``: a
    file to write. ``unchecked``: a broken promise is no error.
    """

    program: AnyProgram
    layout: str | None = None
    inputs: tuple[Path, ...] = ()
    vectors: int = 1000
    seed: int = 0
    row: int = 0
    only_cone: int | None = None
    unchecked: bool = False
    output: Path | None = None
    as_json: bool = False

    def __post_init__(self) -> None:
        require_types(self)
        require_counts(vectors=self.vectors, seed=self.seed, row=self.row)


@dataclass(frozen=True)
class Explanation:
    """A line an op, and one that counts promises. ``violation``: the first promise that is broken, in words."""

    text: str
    violation: str | None

    def raise_for_violation(self) -> None:
        """Raise ``ViolationError`` if a promise is broken."""
        if self.violation is not None:
            raise ViolationError(self.violation)


def explain(request: ExplanationRequest, *, progress: Progress = SILENT) -> Explanation:
    """Execute a program on one vector and describe every op: type, opcode, real value, raw integer, bits."""
    program, _ = read_program(request.program, request.layout, progress)
    batch = batch_of([program], request.inputs, request.vectors, request.seed)
    row = request.row
    if row >= batch.rows:
        raise InputError.of("{row} {value}: there are {rows} vectors, numbered from 0 on", value=row, rows=batch.rows)
    text = io.StringIO()
    with (
        progress.working("explaining"),
        warnings.catch_warnings(),
        logging_vm_execution(text, as_json=request.as_json, only_cone=request.only_cone),
    ):
        warnings.simplefilter("ignore", ViolationWarning)  # the answer tells it, in one line
        compiled = compile_forward_and_backward(program, need_backward=False, fuse=False, optimize_locality=False)
        run = accept_instructions(compiled.forward, batch.slice(row, row + 1), opt_level=1, on_violation="warn")
    text.write((json.dumps({"checks": run.checks._asdict()}) if request.as_json else f"; {run.checks}") + "\n")
    if request.output is not None:
        write_atomically(request.output, text.getvalue().encode())
    return Explanation(text.getvalue(), None if run.violation is None else f"row {row}: {run.violation.words}")
