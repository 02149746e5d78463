"""Judge whether the evidence of a stage is sufficient, by the numbers in its record, never by its verdict alone.

The same functions judge when a design is signed off and when its certificate is checked. They read only evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from dais_verif.base.verdict import Verdict
from dais_verif.record.proof import ProofRecord, Status
from dais_verif.record.simulation import SimulationRecord, SimulatorResult
from dais_verif.signoff.evidence import Sent, Unusable, bits_of, checked, proved, simulated
from dais_verif.signoff.policy import Policy
from dais_verif.signoff.signed_design import Subject
from dais_verif.simulation.outputs import outputs_of
from dais_verif.spec.program import Program
from dais_verif.spec.program.opcodes import INPUT
from dais_verif.spec.program.ports import ports_of
from dais_verif.stimulus.pseudo_exhaustive.plan import combinations

__all__ = [
    "SENT",
    "Asked",
    "Judgement",
    # judges
    "judge_check",
    "judge_proof",
    "judge_simulation",
    # parts of them
    "NOTHING_FOUND",
    "distinct_of",
    "distinct_wanted",
    "judge_what_proves",
    "may_excuse",
    "of_subject",
    "possible_inputs",
    "same_inputs",
    "same_program",
    "same_simulators",
    "sound_proof",
]

#: The file with the summary of a run's vectors, in the folder of its call.
SENT = "vectors.json"

#: The digest of an empty set of outputs.
NOTHING_FOUND = "0" * 64

#: Verdicts that ``proof = "optional"`` tolerates: the result is unknown. A refutation is never tolerated.
_UNDECIDED = (Verdict.UNKNOWN, Verdict.NOT_RUN, Verdict.TOOL_FAILURE, Verdict.INVALID_INPUT)


@dataclass(frozen=True)
class Judgement:
    """The finding of a stage (``verdict``, ``message``), and the ``problems`` that make it insufficient, if any.

    ``excused``: the stage was inconclusive, and the policy tolerates that. ``ran``: False if the stage could not begin.
    ``known``: the design is known to be wrong, so that no waiver can cover the stage.
    """

    verdict: Verdict
    message: str
    problems: tuple[str, ...] = ()
    reproduce: str = ""
    excused: bool = False
    ran: bool = True
    known: bool = False


@dataclass(frozen=True)
class Asked:
    """The requirements on a simulation.

    ``rows``: the number of vectors, including those of files; ``distinct``: how many of them must be different.
    ``rtl``: exactly the signed-off RTL must be simulated. ``swept``: outputs must be exhausted. ``covered``: coverage
    must be counted, and the vectors computed for coverage follow the others.
    """

    rows: int
    seed: int
    simulators: tuple[str, ...]
    distinct: int = 0
    rtl: bool = True
    swept: bool = True
    covered: bool = False


# check


def judge_check(subject: Subject, policy: Policy, folder: Path) -> Judgement:
    """Judge the output of ``check``: the program must be valid, and its overflow must be as the policy requires."""
    record = checked(folder)
    overflow = record.overflow
    problems = list(same_program(subject, record.program.hash, record.program.file_sha256))
    counts = {name: len(overflow.get(name) or ()) for name in ("possible", "certain", "broken", "undecided")}
    message = ", ".join(f"{count} {name}" for name, count in counts.items() if count) or "no promise can be broken"
    accepted = {
        "proved": (Verdict.PASS,),
        "checked": (Verdict.PASS, Verdict.UNKNOWN),
        "unchecked": (Verdict.PASS, Verdict.UNKNOWN, Verdict.PROGRAM_INVALID),
    }[policy.overflow]
    if record.verdict not in accepted:
        problems.append(f"{record.verdict.value}: {message}")
    known = counts["certain"] or counts["broken"] or ("undecided" not in overflow and counts["possible"])
    if record.verdict is Verdict.PASS and (known or counts["undecided"]):
        problems.append(f"the record says PASS, but has {message}")
    return Judgement(record.verdict, message, tuple(problems))


# simulation


def judge_simulation(subject: Subject, policy: Policy, folder: Path, asked: Asked) -> Judgement:
    """Judge the output of a ``sim`` that must pass: every simulator, vector and bit, and enough different vectors."""
    record = simulated(folder)
    if record.verdict is not Verdict.PASS:
        return Judgement(record.verdict, record.message, (record.message,), record.reproduce)
    problems = [*of_subject(subject, policy, record, asked), *_complete(subject, record, asked)]
    problems += _vectors(subject.program, record, asked, Sent.load(folder / SENT))
    if asked.swept:
        problems += [*_exhausted(subject, policy, record), *_graded(subject, record)]
    return Judgement(record.verdict, record.message, tuple(problems), record.reproduce)


def of_subject(subject: Subject, policy: Policy, record: SimulationRecord, asked: Asked) -> Iterator[str]:
    """Yield reasons why a record does not belong to this program and this RTL, or to a run as ``asked``."""
    yield from same_program(subject, record.program.hash, record.program.file_sha256)
    if asked.rtl:
        yield from same_rtl(subject, record.rtl.top, record.rtl.sha256, record.rtl.data)
        yield from read_others(subject, record)
    if record.unchecked is not (policy.overflow == "unchecked"):
        yield f"overflow was {'not ' if record.unchecked else ''}checked, contrary to the policy"
    if record.seed != asked.seed:
        yield f"the seed was {record.seed}, must be {asked.seed}"
    yield from same_inputs(subject, record)
    yield from same_simulators(record, asked.simulators)


def read_others(subject: Subject, record: SimulationRecord) -> Iterator[str]:
    """Yield files that simulators report to have read, but that are not certified; the content counts, not the name."""
    certified = {file.sha256 for role in ("rtl", "include") for file in subject.of(role)}
    for simulator in record.simulators:
        for path, sha256 in simulator.also_read.items():
            if sha256 not in certified:
                yield f"{simulator.name} has read {path}, which is not one of the files that are signed off"


def same_program(subject: Subject, found: str, file_sha256: str | None) -> Iterator[str]:
    """Yield a problem unless the record is of the signed-off program or machine."""
    if found != subject.design.hash or file_sha256 != subject.of("program")[0].sha256:
        yield f"the record is of another program: {found[:16]}..., must be {subject.design.hash[:16]}..."


def same_rtl(subject: Subject, top: object, sha256: object, data: object) -> Iterator[str]:
    """Yield problems unless the record is of the signed-off RTL."""
    if top != subject.top:
        yield f"the record is of module {top}, must be {subject.top}"
    if sha256 != [file.sha256 for file in subject.of("rtl")]:
        yield "the record is of other RTL files than those that are signed off"
    if data != {file.name: file.sha256 for file in subject.of("data")}:
        yield "the RTL read other data files than those that are signed off"


def same_inputs(subject: Subject, record: SimulationRecord) -> Iterator[str]:
    """Yield a problem unless the vectors of files are those of the policy."""
    given = [part.sha256 for part in record.stimulus if part.name == "file"]
    if given != [file.sha256 for file in subject.of("input")]:
        yield "the vectors of files are not those of the policy"


def same_simulators(record: SimulationRecord, wanted: Sequence[str]) -> Iterator[str]:
    """Yield problems unless the simulators are those that are ``wanted``."""
    found = [simulator.name for simulator in record.simulators]
    if not wanted:
        yield "the policy names no simulator"
    if sorted(found) != sorted(wanted):
        yield f"simulated in {', '.join(found) or 'nothing'}, must be {', '.join(wanted) or 'at least one'}"


def _complete(subject: Subject, record: SimulationRecord, asked: Asked) -> Iterator[str]:
    """Yield problems unless every simulator compared every bit of every vector, and all found the same outputs."""
    if asked.rows < 1:
        yield "the policy requires no vectors"
    directed = sum(part.vectors for part in record.stimulus if part.name == "directed") if asked.covered else 0
    if record.vectors != asked.rows + directed:
        yield f"{record.vectors} vectors, must be {asked.rows + directed}"
    bits = bits_of(record, subject.program).outputs
    if bits < 1:
        yield "the outputs have no bits: there is nothing to compare"
    for simulator in record.simulators:
        yield from _of_simulator(simulator, record.vectors, bits)
    if len({simulator.digest for simulator in record.simulators}) > 1:
        yield "the simulators' outputs have different digests"


def _of_simulator(simulator: SimulatorResult, rows: int, bits: int) -> Iterator[str]:
    name, compared = simulator.name, simulator.vectors_compared
    if simulator.failure is not None:
        yield f"{name}: {simulator.failure}"
    if compared < max(rows, 1):
        yield f"{name} compared {compared} of {rows} vectors"
    if simulator.bits_compared != compared * bits or not simulator.bits_compared:
        yield f"{name} compared {simulator.bits_compared} bits, must be {compared} times {bits}"
    if simulator.mismatches or simulator.vectors_with_x:
        yield f"{name} found {simulator.mismatches} mismatches and {simulator.vectors_with_x} vectors with X"
    if simulator.digest in (None, "", NOTHING_FOUND):
        yield f"{name} has no digest of the outputs that it found"
    if simulator.cached:
        yield f"{name} did not build the design for this run"
    if not simulator.version:
        yield f"{name} does not report its version"


def _vectors(program: Program, record: SimulationRecord, asked: Asked, sent: Sent) -> Iterator[str]:
    if (sent.rows, sent.total) != (record.vectors, record.vectors + record.exhaustive_vectors):
        yield f"{sent.total} vectors were sent, and the record has {record.vectors + record.exhaustive_vectors}"
    least = min((simulator.vectors_compared for simulator in record.simulators), default=0)
    if sent.digested != least:
        yield f"the digest covers {sent.digested} vectors, but all simulators compared {least}"
    # The results must equal those of the golden model, even where outputs were not compared.
    for simulator in record.simulators:
        if simulator.digest != sent.digest:
            yield f"{simulator.name} found outputs that differ from the golden model, contrary to its report"
    wanted = distinct_wanted(program, asked)
    if sent.distinct < wanted:
        yield f"{sent.distinct} of {sent.rows} vectors are different, must be at least {wanted}"


def distinct_wanted(program: Program, asked: Asked) -> int:
    """Return how many vectors must be different: fewer than requested if few different inputs exist."""
    return distinct_of(possible_inputs(program), asked)


def distinct_of(possible: int, asked: Asked) -> int:
    """Return how many vectors must be different if ``possible`` different inputs exist."""
    return max(min(asked.distinct, possible // 2), min(possible, 2))


def possible_inputs(program: Program) -> int:
    """Return an upper bound of the number of different inputs of ``program``, by widths and declared intervals."""
    count = 1
    elements = ports_of(program).inputs
    declared: dict[int, list[int]] = {}
    for op in program.ops if program.intervals is not None else ():
        if op.code == INPUT:
            assert program.intervals is not None
            low, high = program.intervals[op.index]
            declared.setdefault(op.id0, []).append(high - low + 1)
    for number, element in enumerate(elements):
        sizes = declared.get(number, [])
        count *= min(sizes[0] if len(sizes) == 1 else 1 << element.width, 1 << element.width)
    return count


def _exhausted(subject: Subject, policy: Policy, record: SimulationRecord) -> Iterator[str]:
    """Yield problems unless exactly the outputs that must be exhausted are exhausted, each by enough vectors."""
    evidence, bits = record.evidence, policy.exhaustive_bits
    if evidence is None:
        yield "the record says nothing about the outputs"
        return
    claimed = set(evidence.exhausted)
    # The needed outputs are computed from the program, because a record might leave some of them out.
    needed = _needed(subject.program, bits) if bits else {}
    missing = {number for number, rows in evidence.could.items() if rows <= 1 << bits} | needed.keys() - claimed
    if bits and missing:
        yield f"outputs {_some(missing)} depend on at most {bits} input bits, but were not exhausted"
    if more := claimed - needed.keys():
        yield f"outputs {_some(more)} are recorded as exhausted, which exhaustive_bits = {bits} does not cover"
    compared = max((one.vectors_compared for one in record.simulators), default=0)
    swept = compared - record.vectors
    if few := {number for number in claimed & needed.keys() if needed[number] > swept}:
        yield f"outputs {_some(few)} are recorded as exhausted, which takes more than {max(swept, 0)} vectors"
    if claimed and compared < record.vectors + record.exhaustive_vectors:
        yield "outputs are recorded as exhausted, but no simulator compared all vectors"


@lru_cache(maxsize=1)
def _needed(program: Program, bits: int) -> dict[int, int]:
    return combinations(program, bits)


def _some(outputs: Collection[int]) -> str:
    return ", ".join(map(str, sorted(outputs)[:8]))


def _graded(subject: Subject, record: SimulationRecord) -> Iterator[str]:
    """Yield a problem unless the grade of each output follows from the compared vectors."""
    ports, exhausted = ports_of(subject.program), record.evidence.exhausted if record.evidence else ()
    vectors = max((one.vectors_compared for one in record.simulators), default=0)
    if record.outputs != outputs_of(ports, vectors, exhausted=exhausted):
        yield "the grades of the outputs do not follow from the vectors that were compared"


# proof


def judge_proof(subject: Subject, policy: Policy, folder: Path) -> Judgement:
    """Judge the output of ``prove``: every output is proved for all inputs, with no claim from earlier proofs."""
    return judge_what_proves(subject, policy, folder, _proof_problems)


def judge_what_proves(
    subject: Subject, policy: Policy, folder: Path, problems_of: Callable[[Subject, Policy, ProofRecord], Iterator[str]]
) -> Judgement:
    """Judge the output of a ``prove`` that must pass. ``problems_of`` yields why its record is not sufficient."""
    try:
        record = proved(folder)
    except Unusable as error:
        # In a clocked design, the prover may not support a register. A design without a clock must not keep state.
        known = error.reason == "state" and policy.rtl.clock is None
        excused = may_excuse(policy, error.verdict) and not known
        return Judgement(error.verdict, str(error), (str(error),), excused=excused, known=known)
    if record.verdict is not Verdict.PASS:
        excused = may_excuse(policy, record.verdict)
        return Judgement(record.verdict, record.message, (record.message,), record.reproduce, excused)
    unread = "".join(f"; not read by {name}: {why}" for name, why in record.rtl.unread.items())
    problems = tuple(problems_of(subject, policy, record))
    return Judgement(record.verdict, f"{record.message}{unread}", problems, record.reproduce)


def may_excuse(policy: Policy, verdict: Verdict) -> bool:
    """Return True if the policy tolerates a proof that ends with ``verdict``."""
    return policy.proof == "optional" and verdict in _UNDECIDED


def sound_proof(subject: Subject, policy: Policy, record: ProofRecord) -> Iterator[str]:
    """Yield why a proof is not of the signed-off design, or was not made and confirmed as required."""
    yield from same_program(subject, record.program.hash, record.program.file_sha256)
    yield from same_rtl(subject, record.rtl.top, record.rtl.sha256, record.rtl.data)
    if record.unchecked is not (policy.overflow == "unchecked"):
        yield f"overflow was {'not ' if record.unchecked else ''}checked, contrary to the policy"
    if record.cached_claims:
        yield f"{record.cached_claims} claims were taken from earlier proofs"
    if record.rtl.emitted is not subject.emitted:
        yield f"the RTL was {'emitted' if record.rtl.emitted else 'given'}, but that is not what is signed off"
    if policy.front_end == "both" and record.rtl.front_ends != ["slang", "yosys"]:
        yield f"the RTL was read by {' and '.join(record.rtl.front_ends) or 'no front end'}, not by slang and Yosys"
    if not record.rtl.emitted:
        confirmed = record.confirmation
        if confirmed is None or confirmed.verdict is not Verdict.PASS:
            why = "" if confirmed is None else f": {confirmed.message}"
            yield f"the proof was not confirmed by simulation{why}"


def _proof_problems(subject: Subject, policy: Policy, record: ProofRecord) -> Iterator[str]:
    yield from sound_proof(subject, policy, record)
    proved_ones = {claim.output for claim in record.outputs if claim.status is Status.PROVED}
    kinds = subject.program.output_types
    missing = [number for number, kind in enumerate(kinds) if kind.width and number not in proved_ones]
    if missing or not proved_ones:
        yield f"outputs {', '.join(map(str, missing[:8]))} are not proved" if missing else "there is no output to prove"
