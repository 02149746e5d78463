"""Check a program or a machine: its structure, its content, and possible overflow.

Cases that intervals cannot exclude go to the prover, which proves them impossible or finds an input.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.record.check import CheckRecord, NamedOp, Overflow, PortWidths, WidthSummary
from dais_verif.record.program import ProgramInfo
from dais_verif.spec.program import OPCODES, Program
from dais_verif.spec.program.checks import meaningless_data
from dais_verif.spec.program.graph import dead_ops, depths
from dais_verif.spec.program.opcodes import Code
from dais_verif.spec.program.ports import ports_of
from dais_verif.spec.program.ranges import PromiseStatus, analyse, sharp_ranges
from dais_verif.subject import open_for
from dais_verif.subject.given import AnyProgram
from dais_verif.verbs import common_options as common
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.networks.requests import info_of
from dais_verif.verbs.options import Request, option
from dais_verif.verbs.programs import read_program, rtl_unused
from dais_verif.verbs.progress import SILENT, Progress
from dais_verif.verbs.projects import open_projects
from dais_verif.verbs.vectors import decimal, real_inputs

if TYPE_CHECKING:
    from dais_verif.prover.overflow import Promise

__all__ = ["CheckRequest", "check"]

#: The largest number of ops to try to prove, unless ``everything`` is requested.
_EXAMINED = 200
#: The largest program, in ops, whose sums are searched for cancelling terms: larger ones would take half a minute.
_LARGEST = 500_000


@dataclass(frozen=True, kw_only=True)
class CheckRequest(Request):
    """A program to check. ``proof``: prove the first 200 ops that intervals leave open; ``everything``: prove all."""

    verb: ClassVar[str] = "check"

    program: AnyProgram
    layout: str | None = common.layout()
    everything: bool = option(
        False, "List every affected op, not only the first 10.", group="Proof", name="all", keyword="everything"
    )
    proof: bool = option(True, "Prove or refute possible overflow.", group="Proof")
    timeout: float = common.timeout(5.0)


def check(request: CheckRequest, *, progress: Progress = SILENT) -> CheckRecord:
    """Report the content of the program, and whether an op can break its promise not to change a value.

    Verdicts: PASS, PROGRAM_INVALID if an input breaks a promise, UNKNOWN if a promise remains undecided. Raises
    ``ProgramError`` if the program is invalid, ``InputError`` if a file cannot be read.
    """
    subject = open_for("check", request.program, request.layout)
    network = subject.network  # the files of a folder must agree with it
    if subject.machine is not None:
        from dais_verif.verbs.machines.check import check_machine

        return replace(check_machine(subject.machine, request), network=None if network is None else info_of(network))
    opened = open_projects(request.program, DesignRequest())
    program, warnings = read_program(opened.program if network is None else network.program(), request.layout, progress)
    opened.require_dialect(program)
    if said := rtl_unused(request.program):
        progress.warning(said)
        warnings = [said, *warnings]
    overflow = _by_intervals(program)
    if request.proof and overflow.possible:
        overflow = _by_proof(program, overflow, request, progress)
    verdict, message = _judge(overflow)
    widths, ports = [op.type.width for op in program.ops], ports_of(program)
    return CheckRecord(
        verdict=verdict,
        message=message,
        program=ProgramInfo.of(program),
        warnings=warnings,
        spec_version=program.origin.spec_version,
        firmware_version=program.origin.firmware_version,
        tables=[len(table) for table in program.tables],
        opcodes=_opcodes(program),
        width=WidthSummary(max(widths, default=0), widths.count(0), sum(widths)),
        widths=dict(sorted(Counter(widths).items())),
        depth=max(depths(program), default=0),
        ports=PortWidths(max(ports.input_bits, 1), max(ports.output_bits, 1)),
        dead_ops=dead_ops(program),
        meaningless_data=meaningless_data(program).tolist(),
        overflow=overflow,
        project=opened.project,
        network=None if network is None else info_of(network),
    )


def _opcodes(program: Program) -> dict[str, int]:
    """Return the number of ops of each opcode, by number and word."""
    codes = Counter(program.columns.code.tolist())
    counts = Counter({OPCODES[code]: count for code, count in codes.items() if code != Code.SUM})
    if Code.SUM in codes:  # ALIR has several opcode numbers for sums
        counts.update(op.spec for op in program.ops if op.terms)
    rows = sorted(counts, key=lambda row: (row.number, row.mnemonic))
    return {f"{row.number} {row.mnemonic}": counts[row] for row in rows}


def _by_intervals(program: Program) -> Overflow:
    analysis = analyse(program, declared=True)
    if analysis.promises(PromiseStatus.POSSIBLE):
        analysis = sharp_ranges(program, declared=True, most_ops=_LARGEST)
    possible, certain = (
        [_named(program, index) for index in analysis.promises(status)]
        for status in (PromiseStatus.POSSIBLE, PromiseStatus.CERTAIN)
    )
    inputs = "declared intervals" if program.intervals else "types"
    safe = len(analysis.promises(PromiseStatus.SAFE))
    return Overflow(proved_impossible=safe, possible=possible, certain=certain, inputs=inputs)


def _by_proof(program: Program, overflow: Overflow, request: CheckRequest, progress: Progress) -> Overflow:
    """Return ``overflow`` with the prover's results for the possible overflows."""
    try:
        from dais_verif.prover.overflow import examine
        from dais_verif.prover.results import ProofOptions, ProofWatcher
    except ImportError as error:
        progress.warning(f"{error.name} is missing: only interval analysis was used for overflow")
        return replace(overflow, proved_by_proof=[], broken=[], undecided=overflow.possible)
    unproved = [op.op for op in overflow.possible]
    asked = unproved if request.everything else unproved[:_EXAMINED]
    with progress.working("examining promises ...") as tell:

        class Shown(ProofWatcher):
            def progress(self, what: str, done: int, total: int) -> None:
                if what == "promises":
                    tell(f"examining promises: {done} of {total}")

        found = examine(program, asked, ProofOptions(timeout=request.timeout, jobs=1), declared=True, watcher=Shown())
    left = [_named(program, index) for index in unproved[len(asked) :]]
    return replace(
        overflow,
        proved_by_proof=_with_status(program, found, "PROVED"),
        broken=_with_status(program, found, "REFUTED"),
        undecided=[*_with_status(program, found, "UNKNOWN"), *left],
    )


def _with_status(program: Program, promises: Sequence[Promise], status: str) -> list[NamedOp]:
    return [
        replace(
            _named(program, promise.op),
            how=promise.how or None,
            inputs=None if promise.vector is None else [decimal(v) for v in real_inputs(program, promise.vector)],
        )
        for promise in promises
        if promise.status.value == status
    ]


def _named(program: Program, index: int) -> NamedOp:
    op = program.ops[index]
    return NamedOp(op=index, mnemonic=op.spec.mnemonic, type=str(op.type))


def _judge(overflow: Overflow) -> tuple[Verdict, str]:
    """Return the verdict on all promises together, and its message."""
    broken, undecided = len(overflow.broken or []), len(overflow.undecided or [])
    if overflow.certain:
        return Verdict.PROGRAM_INVALID, "see certain overflow"
    if broken:
        ops = counted(broken, "op")
        return Verdict.PROGRAM_INVALID, f"{ops} can break a promise for the inputs shown"
    if undecided:
        text = "promises are undecided; --all or a longer --timeout may decide them"
        return Verdict.UNKNOWN, f"{undecided} {text}"
    return Verdict.PASS, "the program is valid"
