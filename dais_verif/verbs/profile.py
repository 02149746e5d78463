"""Time a program on the golden model, one instruction at a time."""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

from dais_verif.base.errors import RequestError
from dais_verif.golden.vm import (
    ENGINES,
    Profile,
    accept_instructions,
    benchmark_accept_instructions,
    compile_forward_and_backward,
)
from dais_verif.record.evaluation import InstructionKind, ProfileRecord, TimedInstruction, TimedSequence
from dais_verif.record.program import ProgramInfo
from dais_verif.subject import open_for
from dais_verif.subject.given import AnyProgram
from dais_verif.verbs import common_options as common
from dais_verif.verbs.options import Request, option
from dais_verif.verbs.programs import read_program
from dais_verif.verbs.progress import SILENT, Progress
from dais_verif.verbs.vectors import batch_of

__all__ = ["ENGINES", "Profiled", "ProfileRequest", "profile"]


@dataclass(frozen=True, kw_only=True)
class ProfileRequest(Request):
    """A program to time, and vectors. Times are means over ``samples`` calls, without the first if ``ignore_first``."""

    verb: ClassVar[str] = "run --profile"

    program: AnyProgram
    layout: str | None = common.layout()
    inputs: tuple[Path, ...] = common.inputs()
    vectors: int = common.vectors(2048)
    seed: int = common.seed()
    engine: str = common.engine(ENGINES, "Engine to time.")
    samples: int = option(10, "Number of calls to average.", group="Profile", rare=True, least=1, always=True)
    ignore_first: bool = option(False, "Do not count the first call.", group="Profile", rare=True)
    top_k: int = option(10, "Number of instruction kinds to list.", group="Profile", rare=True, least=1, always=True)
    pullback: bool = option(False, "Time the pullback too.", group="Profile", rare=True)

    def require(self) -> None:
        """Raise ``RequestError`` if nothing would be measured."""
        if self.ignore_first and self.samples == 1:
            raise RequestError.of(
                "with {samples} 1, {ignore_first} leaves nothing to measure; use {samples} 2 or more."
            )


@dataclass(frozen=True)
class Profiled:
    """The result of ``profile``: its record, and the same as readable text."""

    record: ProfileRecord
    text: str


def profile(request: ProfileRequest, *, progress: Progress = SILENT) -> Profiled:
    """Time every instruction of a program; return the times in order, then the kinds that take longest."""
    subject = open_for("run --profile", request.program, request.layout)
    program, _ = read_program(subject.given, request.layout, progress)
    batch = batch_of([program], request.inputs, request.vectors, request.seed)
    compiled = compile_forward_and_backward(program, need_backward=request.pullback)
    text, profiles = io.StringIO(), []
    timed = partial(
        benchmark_accept_instructions,
        n_sample=request.samples,
        ignore_first_call=request.ignore_first,
        top_k=request.top_k,
        stream=text,
    )
    with progress.working("timing"):
        profiles.append(timed(compiled.forward, x=batch, engine=request.engine))
        if compiled.backward is not None:
            accept_instructions(compiled.forward, batch, opt_level=3)
            text.write("\n")
            profiles.append(timed(compiled.backward))
    record = ProfileRecord(
        program=ProgramInfo.of(program),
        seed=request.seed,
        vectors=batch.rows,
        reproduce=request.reproduce(),
        sequences=[_sequence(each, request.top_k) for each in profiles],
    )
    return Profiled(record, text.getvalue())


def _sequence(timed: Profile, top_k: int) -> TimedSequence:
    rows = zip(timed.iseq, timed.ns.tolist(), timed.above_average.tolist(), strict=True)
    return TimedSequence(
        direction=timed.iseq.direction,
        engine=timed.engine,
        calls=timed.calls,
        total_ns=timed.total,
        instructions=[TimedInstruction(row.position, row.op, row.node, ns, above) for row, ns, above in rows],
        kinds=[
            InstructionKind(kind.name, kind.size, kind.ns, kind.ns / timed.total if timed.total else None)
            for kind in timed.kinds(top_k)
        ],
    )
