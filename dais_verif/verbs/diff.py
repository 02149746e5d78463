"""Compare two programs on vectors, and on request by a proof for all inputs."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dais_verif.base.files import write_atomically
from dais_verif.base.own_command import own_command
from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.golden import ENGINES, Engine
from dais_verif.golden.compare import Comparison, Witness, compare, first_different_op, require_same_shape
from dais_verif.golden.oracle import show
from dais_verif.record.diff import DifferentOp, DiffRecord, EqualityProof, OpDifference, OutputDifference, TypedValue
from dais_verif.record.program import ProgramInfo
from dais_verif.spec.program import Program
from dais_verif.spec.program.listing import in_words
from dais_verif.spec.program.numbers import Batch
from dais_verif.subject import open_for
from dais_verif.subject.given import AnyProgram, path_of
from dais_verif.verbs import common_options as common
from dais_verif.verbs.machines.diff import diff_machine
from dais_verif.verbs.options import Request, option
from dais_verif.verbs.overwrite_guard import require_no_loss
from dais_verif.verbs.programs import read_program
from dais_verif.verbs.progress import SILENT, Progress
from dais_verif.verbs.vectors import batch_of

if TYPE_CHECKING:
    from dais_verif.prover.equivalence import Equivalence

__all__ = ["DiffRequest", "diff"]


@dataclass(frozen=True, kw_only=True)
class DiffRequest(Request):
    """Two programs with the same numbers of inputs and outputs, and the vectors on which to compare them."""

    verb: ClassVar[str] = "diff"

    a: AnyProgram
    b: AnyProgram
    layout: str | None = common.layout()
    layout_b: str | None = common.layout("Layout of B, if it is not that of A.")
    vectors: int = common.vectors(1000)
    seed: int = common.seed()
    inputs: tuple[Path, ...] = common.inputs()
    engine: Engine = common.engine(ENGINES)
    unchecked: bool = common.unchecked()
    prove: bool = option(
        False, "If no vector shows a difference, prove that there is none, or find one.", group="Proof"
    )
    timeout: float = common.timeout(20.0, always=False)
    frame: Path | None = option(
        None, "If A is a machine: TOML file that maps elements and cycles of A to B.", group="Program"
    )
    output: Path | None = common.output("File for a counterexample, if one is found: .npy, else CSV.", writes="file")

    def require(self) -> None:
        """Raise ``RequestError`` if the output would destroy what is read."""
        require_no_loss(self.output, a=self.a, b=self.b, inputs=self.inputs, frame=self.frame)

    def arguments(self) -> list[str]:
        """Return the words before the options."""
        return [path_of(self.a, "A"), path_of(self.b, "B")]

    def replay_words(self, file: Path) -> list[str]:
        """Return the arguments of ``dais-verif`` to compare the programs on the vector in ``file`` alone."""
        one = replace(
            self, inputs=(file,), vectors=0, seed=0, prove=False, engine="auto", timeout=20.0, frame=None, output=None
        )
        return one.words()


def diff(request: DiffRequest, *, progress: Progress = SILENT) -> DiffRecord:
    """Compare the outputs of both programs as exact real numbers.

    Verdicts: PASS, PROGRAMS_DIFFER, NOT_RUN if nothing was compared, UNKNOWN if a requested proof did not decide.
    Raises ``InputError`` if the numbers of inputs or outputs differ, ``ViolationError`` if a program breaks a promise
    on a vector and ``request`` is not ``unchecked``.
    """
    if request.frame is not None or open_for("diff", request.a, request.layout).machine is not None:
        return diff_machine(request, progress, _diff)
    return _diff(request, progress)


def _diff(request: DiffRequest, progress: Progress) -> DiffRecord:
    of_b_alone = isinstance(request.a, Program) and not isinstance(request.b, Program)
    a, warnings = read_program(request.a, None if of_b_alone else request.layout, progress)
    layout_b = request.layout_b or (None if isinstance(request.b, Program) else request.layout)
    b, more = read_program(request.b, layout_b, progress)
    names = (f"A ({path_of(request.a, 'a program')})", f"B ({path_of(request.b, 'a program')})")
    require_same_shape(a, b, names)
    batch = batch_of([a, b], request.inputs, request.vectors, request.seed)
    with progress.working(f"{batch.rows} vectors ..."):
        found = compare(a, b, batch, engine=request.engine, check=not request.unchecked, names=names)
    identical = a.hash == b.hash
    verdict, message = _judge(found, identical)
    proof = None
    if request.prove and found.bits and not found.differing:
        proof = _prove(a, b, request, progress)
        verdict, message = _judge_proof(proof)
        if proof.witness is not None:
            batch = Batch.of([list(proof.witness)], a.n_in)
            found = compare(a, b, batch, engine=request.engine, check=False, names=names)
            if not found.differing:
                verdict = Verdict.UNKNOWN
                message = "the golden model does not confirm the difference that the prover found; please report it"
    record = DiffRecord(
        verdict=verdict,
        message=message,
        a=ProgramInfo.of(a),
        b=ProgramInfo.of(b),
        identical=identical,
        first_different_op=_structure(a, b),
        seed=request.seed,
        vectors=found.rows,
        unchecked=request.unchecked,
        engine=request.engine,
        bits_compared=found.rows * found.bits,
        differing_vectors=found.differing,
        difference=_difference(a, b, found.witness) if found.witness else None,
        proof=None if proof is None else _summary(proof),
        replay=None,
        warnings=warnings + more,
        reproduce=request.reproduce(),
    )
    if request.output is not None and found.witness:
        record = _with_file(record, found.witness, request.output, request, progress)
    return record


def _judge(found: Comparison, identical: bool) -> tuple[Verdict, str]:
    if not found.rows * found.bits:
        return Verdict.NOT_RUN, "nothing was compared: " + ("no vectors" if found.bits else "no output has any bits")
    if found.differing:
        return Verdict.PROGRAMS_DIFFER, f"{found.differing} of {found.rows} vectors differ"
    known = "the same program" if identical else "vectors alone do not prove that there is none"
    return Verdict.PASS, f"no difference on {counted(found.rows, 'vector')}; {known}"


def _prove(a: Program, b: Program, request: DiffRequest, progress: Progress) -> Equivalence:
    from dais_verif.prover.equivalence import compare_programs

    what = "proving ops and outputs equal"
    with progress.working(f"{what} ...") as tell:
        return compare_programs(
            a, b, timeout=request.timeout, seed=request.seed, tell=lambda done, all_: tell(f"{what}: {done} of {all_}")
        )


def _judge_proof(proof: Equivalence) -> tuple[Verdict, str]:
    """Return the verdict and message of a proof, before its witness is evaluated."""
    if proof.witness is not None:
        return Verdict.PROGRAMS_DIFFER, f"output {proof.equal.index(False)} differs; no generated vector shows it"
    if proof.undecided:
        known = f"; {len(proof.proved)} of {len(proof.equal)} are equal for all inputs"
        return Verdict.UNKNOWN, f"undecided: {_outputs(proof.undecided)}{known}; a longer --timeout may help"
    return Verdict.PASS, f"equal for all inputs: {_outputs(proof.proved)}"


def _outputs(numbers: Sequence[int], most: int = 12) -> str:
    if len(numbers) > most:
        return counted(len(numbers), "output")
    return f"output{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


def _summary(proof: Equivalence) -> EqualityProof:
    methods = {method.value: count for method, count in proof.methods.items()}
    return EqualityProof(list(proof.proved), list(proof.undecided), proof.merged, methods, round(proof.seconds, 3))


def _structure(a: Program, b: Program) -> DifferentOp | None:
    """Return the first op that differs between the programs, in words."""
    index = first_different_op(a, b)
    return None if index is None else DifferentOp(index, _in_words(a, index), _in_words(b, index))


def _in_words(program: Program, index: int) -> str | None:
    if index >= program.n_ops:
        return None
    op = program.ops[index]
    return f"{op.spec.mnemonic} {op.type}: {in_words(program, op)}"


def _difference(a: Program, b: Program, witness: Witness) -> OutputDifference:
    op, output = witness.op, witness.output
    inside = None
    if op is not None:
        ops = a.ops[op.index], b.ops[op.index]
        values = (TypedValue(show(value), str(one.type)) for value, one in zip((op.a, op.b), ops, strict=True))
        inside = OpDifference(op.index, ops[0].spec.mnemonic, *values)
    return OutputDifference(
        vector=witness.row,
        inputs=[show(value) for value in witness.given],
        witness=[show(value) for value in witness.inputs],
        output=output,
        a=TypedValue(show(witness.a), str(a.output_types[output])),
        b=TypedValue(show(witness.b), str(b.output_types[output])),
        op=inside,
    )


def _with_file(
    record: DiffRecord, witness: Witness, path: Path, request: DiffRequest, progress: Progress
) -> DiffRecord:
    """Write the witness into ``path`` if the format can hold it; return ``record`` with the command to replay it."""
    data = _file_of(witness.inputs, path)
    if data is not None:
        write_atomically(path, data)
        return replace(record, replay=own_command(request.replay_words(path)))
    warning = f"{path} was not written: the format cannot hold the counterexample exactly"
    progress.warning(warning)
    return replace(record, warnings=[*record.warnings, warning])


def _file_of(inputs: Sequence[Fraction], path: Path) -> bytes | None:
    """Return the vector in the format of ``path`` for ``--inputs``: .npy, or CSV, which also takes large integers.

    None if the format cannot hold it exactly.
    """
    if path.suffix == ".npy":
        if not all(_is_double(value) for value in inputs):
            return None
        file = io.BytesIO()
        np.save(file, np.array([[float(value) for value in inputs]]))
        return file.getvalue()
    if not all(value.denominator == 1 or _is_double(value) for value in inputs):
        return None
    return (",".join(str(value) if value.denominator == 1 else repr(float(value)) for value in inputs) + "\n").encode()


def _is_double(value: Fraction) -> bool:
    try:
        return Fraction(float(value)) == value
    except OverflowError:
        return False
