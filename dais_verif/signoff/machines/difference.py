"""The stage that proves that a machine computes a program, frame by frame, and the same with a faulty program."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dais_verif.base.errors import PolicyError
from dais_verif.base.files import make_folder, write_atomically
from dais_verif.base.verdict import Verdict
from dais_verif.record.diff import DiffRecord
from dais_verif.signoff.context import Context, SignOffStage, plain_path, program_arguments, write_json
from dais_verif.signoff.evidence import compared, read_tree
from dais_verif.signoff.judge import Judgement, same_program
from dais_verif.signoff.seeded_faults import SEEDED_FAULT, poison
from dais_verif.signoff.signed_design import sha256_of
from dais_verif.signoff.verbs import call
from dais_verif.spec.program import Program, load
from dais_verif.stimulus import Generated, Stimulus
from dais_verif.subject.programs import load_program

__all__ = ["DIFFERENCE", "POISONED_DIFFERENCE", "difference_stages"]

DIFFERENCE, POISONED_DIFFERENCE = "diff", "poisoned-diff"
#: The number of vectors, on some of which the faulty program must differ.
_VECTORS = 1000


def difference_stages() -> list[SignOffStage]:
    """Return the stages with the program and with a faulty program; the second stage must fail."""
    poisoned = "poisoned program, diff"
    return [
        SignOffStage("diff", DIFFERENCE, _compare, _judge, waiver="diff"),
        SignOffStage(poisoned, POISONED_DIFFERENCE, _compare_poisoned, _judge_poisoned, True, (DIFFERENCE,)),
    ]


def _program(context: Context) -> tuple[Program, Path]:
    path = Path(context.subject.only("against").path)
    program = load_program(path)
    if program.origin.assumed:
        raise PolicyError(
            f"{str(path)!r} is valid as headerless and as published and they differ; a sign-off does not choose between"
            " them: write it as v1, and name that as [diff] against"
        )
    return program, path


def _compare(context: Context, folder: Path) -> None:
    _, path = _program(context)
    _diff(context, folder, [plain_path(path)])


def _compare_poisoned(context: Context, folder: Path) -> None:
    program, path = _program(context)
    vectors = Stimulus([Generated([program], _VECTORS, 0)])
    made = poison(program, path.read_bytes(), vectors, check=False)
    make_folder(folder)
    write_atomically(folder / made.name, made.data)
    poisoned = load(folder / made.name, layout=made.layout)
    write_json(folder / SEEDED_FAULT, {"program": poisoned.hash, "file": made.name, "output": made.output})
    layout = [] if made.layout is None else ["--layout-b", made.layout]
    _diff(context, folder, [plain_path(folder / made.name), *layout])


def _diff(context: Context, folder: Path, against: list[str]) -> None:
    policy = context.policy
    frame = ["--frame", context.subject.only("frame").path, "--prove", "--timeout", f"{policy.proof_timeout:g}"]
    unchecked = ["--unchecked"] if policy.overflow == "unchecked" else []
    call("diff", [*program_arguments(context.subject), *against, *frame, *unchecked], folder, keeps=False)


# judging


def _judge(context: Context, folder: Path) -> Judgement:
    record = compared(folder)
    program, path = _program(context)
    problems = [] if record.verdict is Verdict.PASS else [record.message]
    problems += _of_subject(context, record)
    if (record.b.hash, record.b.file_sha256) != (program.hash, sha256_of(path)):
        problems.append("the record is of another program than that of the policy")
    if record.verdict is Verdict.PASS:
        problems += _proved(record, program)
    return Judgement(record.verdict, record.message, tuple(problems), record.reproduce)


def _of_subject(context: Context, record: DiffRecord) -> Iterator[str]:
    yield from same_program(context.subject, record.a.hash, record.a.file_sha256)
    if record.frame is None or record.frame.sha256 != context.subject.only("frame").sha256:
        yield "the record is of another frame than that of the policy"
    if record.unchecked is not (context.policy.overflow == "unchecked"):
        yield f"overflow was {'not ' if record.unchecked else ''}checked, contrary to the policy"


def _proved(record: DiffRecord, program: Program) -> Iterator[str]:
    """Yield problems unless every output of the program is proved."""
    with_bits = [number for number, kind in enumerate(program.output_types) if kind.width]
    found = [] if record.proof is None else record.proof.proved
    missing = [number for number in with_bits if number not in found]
    if missing or not with_bits:
        yield f"outputs {', '.join(map(str, missing[:8]))} are not proved" if missing else "there is no output to prove"
    if record.proof is not None and record.proof.undecided:
        yield f"{len(record.proof.undecided)} outputs are undecided"


def _judge_poisoned(context: Context, folder: Path) -> Judgement:
    record, seeded = compared(folder), read_tree(folder / SEEDED_FAULT)
    problems = list(_of_subject(context, record))
    problems += _another_program(context, folder, seeded, record)
    if record.verdict is not Verdict.PROGRAMS_DIFFER:
        problems.append(f"a fault was seeded, but the verdict is {record.verdict.value}: {record.message}")
    elif record.frame is None or record.frame.frame is None:
        problems.append("no sequence from power-up shows the fault that was seeded")
    return Judgement(record.verdict, "a sequence from power-up shows it", tuple(problems), record.reproduce)


def _another_program(context: Context, folder: Path, seeded: dict[str, Any], record: DiffRecord) -> Iterator[str]:
    path = folder / Path(str(seeded.get("file"))).name
    poisoned = load(path, layout=None if path.suffix == ".json" else "v1")
    if not poisoned.hash == seeded.get("program") == record.b.hash or record.b.file_sha256 != sha256_of(path):
        yield "the record is not of the program with the seeded fault"
    if poisoned.hash == _program(context)[0].hash:
        yield "the seeded fault does not change the program"
