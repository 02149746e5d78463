"""Flip bits of the values in a program and rank the ops by the changes at the outputs."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar

from dais_verif.base.files import write_atomically
from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.golden.oracle import show
from dais_verif.golden.sensitivity import BitFlip, Effect, Sensitivity
from dais_verif.golden.sensitivity import sensitivity as measure
from dais_verif.record.program import ProgramInfo
from dais_verif.record.sensitivity import FlipCounts, FlipEffect, FlippedBit, LeftOut, SensitivityRecord
from dais_verif.spec.program import Program
from dais_verif.subject import open_for
from dais_verif.subject.given import AnyProgram
from dais_verif.verbs import common_options as common
from dais_verif.verbs.options import Request, option
from dais_verif.verbs.overwrite_guard import require_no_loss
from dais_verif.verbs.programs import read_program
from dais_verif.verbs.progress import SILENT, Progress
from dais_verif.verbs.vectors import batch_of

__all__ = ["SensitivityRequest", "rank_sensitivity"]


@dataclass(frozen=True, kw_only=True)
class SensitivityRequest(Request):
    """A program and the vectors to flip bits in."""

    verb: ClassVar[str] = "sensitivity"

    program: AnyProgram
    layout: str | None = common.layout()
    bits: bool = option(False, "Flip every bit of every op, not only the last one.", group="Other")
    vectors: int = common.vectors(64)
    seed: int = common.seed()
    inputs: tuple[Path, ...] = common.inputs()
    unchecked: bool = common.unchecked()
    timeout: float = common.timeout(
        120.0, "Seconds after which no more flips are started; the report then says which were left out."
    )
    output: Path | None = common.output("File for all effects: .json, else CSV.", writes="file")

    def require(self) -> None:
        """Raise ``RequestError`` if the output would destroy what is read."""
        require_no_loss(self.output, program=self.program, inputs=self.inputs)


def rank_sensitivity(request: SensitivityRequest, *, progress: Progress = SILENT) -> SensitivityRecord:
    """Flip bits one at a time in every vector, and rank the ops by the largest change of an output.

    Verdicts: PASS, NOT_RUN if nothing was flipped, UNKNOWN if the time was up. Raises ``ViolationError`` if a vector
    breaks a promise and ``request`` is not ``unchecked``.
    """
    subject = open_for("sensitivity", request.program, request.layout)
    program, warnings = read_program(subject.given, request.layout, progress)
    what = "flips in vectors"
    with progress.working(f"{what} ...") as tell:
        found = measure(
            program,
            batch_of([program], request.inputs, request.vectors, request.seed),
            bits=request.bits,
            check=not request.unchecked,
            timeout=request.timeout,
            progress=lambda done, total: tell(f"{what}: {done} of {total}"),
        )
    verdict, message = _judge(found)
    matter = sum(effect.changed > 0 for effect in found.effects)
    record = SensitivityRecord(
        verdict=verdict,
        message=message,
        program=ProgramInfo.of(program),
        vectors=found.rows,
        left_out=LeftOut(found.left, found.rows_left),
        seed=request.seed,
        unchecked=request.unchecked,
        bits=request.bits,
        warnings=warnings,
        count=FlipCounts(matter, len(found.effects) - matter, len(found.dead)),
        effects=[_effect(program, effect) for effect in found.ranked()],
        dead=[FlippedBit(*_named(program, flip)) for flip in found.dead],
    )
    if request.output is not None:
        text = f"{record.to_json()}\n" if request.output.suffix == ".json" else _csv(record)
        write_atomically(request.output, text.encode())
    return record


def _judge(found: Sensitivity) -> tuple[Verdict, str]:
    flips, vectors = counted(len(found.effects), "flip"), counted(found.rows, "vector")
    verdict, message = Verdict.PASS, f"{flips} evaluated in {vectors}"
    if not found.effects:
        verdict = Verdict.NOT_RUN
        why = "no output depends on any op" if found.rows else "no vectors"
        message = f"nothing was flipped: {why}"
    if found.left or found.rows_left:
        verdict = Verdict.UNKNOWN
        left = ((found.left, "flip"), (found.rows_left, "vector"))
        missing = [counted(count, what) for count, what in left if count]
        more = "use a longer --timeout or fewer --vectors"
        message += f"; the time limit was reached before {' and '.join(missing)}: {more}"
    return verdict, message


def _named(program: Program, flip: BitFlip) -> tuple[int, str, str, int]:
    op = program.ops[flip.op]
    return op.index, op.spec.mnemonic, str(op.type), flip.bit


def _effect(program: Program, effect: Effect) -> FlipEffect:
    worst, mean = show(effect.worst), show(effect.mean)
    return FlipEffect(*_named(program, effect.flip), worst, mean, effect.changed, effect.output, effect.row)


def _csv(record: SensitivityRecord) -> str:
    file = io.StringIO()
    fields = ("op", "mnemonic", "type", "bit", "kind", "worst", "mean", "changed", "output", "vector")
    writer = csv.DictWriter(file, fields, lineterminator="\n")
    writer.writeheader()
    writer.writerows({**asdict(one), "kind": "matters" if one.changed else "silent"} for one in record.effects)
    writer.writerows({**asdict(one), "kind": "dead", "worst": 0, "mean": 0, "changed": 0} for one in record.dead)
    return file.getvalue()
