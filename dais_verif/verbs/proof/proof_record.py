"""Write the record of a proof from the results of the prover and the simulators, and the request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING

from dais_verif.base.version import VERSION
from dais_verif.record.program import ProgramInfo, ProjectInfo
from dais_verif.record.proof import (
    Claim,
    Confirmation,
    Counterexample,
    ProofRecord,
    ProvedRtl,
    Replay,
    Status,
    WrittenStatements,
)
from dais_verif.verbs.proof.decide import ProofTask
from dais_verif.verbs.proof.request import ProveRequest
from dais_verif.verbs.work_folder import WatchedFiles

if TYPE_CHECKING:
    from dais_verif.hardware.ports.interface import Dut
    from dais_verif.prover.results import Proof
    from dais_verif.simulation.simulators.build import RtlDesign
    from dais_verif.simulation.verify import Finding
    from dais_verif.spec.program import Program

__all__ = ["proof_record"]

_PACKAGES = ("pyslang", "bitwuzla", "python-sat")


def proof_record(
    request: ProveRequest,
    task: ProofTask,
    proof: Proof,
    design: RtlDesign,
    dut: Dut,
    *,
    finding: Finding | None,
    confirmation: Confirmation | None,
    written: WrittenStatements | None,
    warnings: Sequence[str],
    simulate: str | None,
    project: ProjectInfo | None = None,
) -> ProofRecord:
    """Return the record. ``design``: the design that was proved, or was wrong in a simulator; ``dut``: its ports."""
    counts = {kind: Counter(claim.status for claim in part) for kind, part in _parts(proof).items()}
    return ProofRecord(
        verdict=proof.verdict,
        message=proof.message,
        tools={"dais-verif": VERSION} | {name: version(name) for name in _PACKAGES},
        claims={status.value: {kind: counts[kind][status] for kind in counts} for status in Status},
        methods=proof.methods(),
        conditional=proof.conditional,
        within_declared_intervals=proof.bounded,
        timing=proof.timing,
        held=dict(proof.held),
        left_out=list(proof.left_out),
        signals_agreed=proof.agreed,
        obligations=proof.obligations,
        cached_claims=proof.cached_claims,
        worst=proof.worst,
        seconds={stage.name: round(stage.busy, 3) for stage in task.watch.stages},
        ops_without_signal=proof.unnamed,
        signals_matched_by_value=proof.guessed,
        ops=proof.ops,
        outputs=proof.outputs,
        proved_outputs=list(proof.proved_outputs),
        counterexample=_counterexample(task.program, proof.counterexample, finding),
        sample=proof.sample,
        handshake=proof.handshake,
        confirmation=confirmation,
        program=ProgramInfo.of(task.program),
        rtl=replace(_rtl(request, task, proof, design, dut, task.watched), project=project),
        obligations_written=written,
        unchecked=request.unchecked,
        timeout=request.timeout,
        warnings=list(warnings),
        reproduce=request.reproduce(),
        simulate=simulate,
    )


def _parts(proof: Proof) -> dict[str, list[Claim]]:
    return {"ops": proof.ops, "outputs": proof.outputs}


def _counterexample(program: Program, found: Counterexample | None, finding: Finding | None) -> Counterexample | None:
    if found is None:
        return None
    mnemonic = None if found.op is None else program.ops[found.op].spec.mnemonic
    replay = None
    if finding is not None:
        replay = Replay(finding.verdict, finding.message, [*finding.simulators], finding.first_mismatch)
    return replace(found, mnemonic=mnemonic, replay=replay)


def _rtl(
    request: ProveRequest, task: ProofTask, proof: Proof, design: RtlDesign, dut: Dut, watched: WatchedFiles
) -> ProvedRtl:
    return ProvedRtl(
        top=design.top,
        emitted=not task.reader.foreign,
        files=[str(source) for source in design.sources],
        widths=dut.how,
        front_end=request.front_end,
        front_ends=[name for name in task.reader.front_ends(design) if name not in proof.unread],
        unread=dict(proof.unread),
        readers=list(task.reader.what_reads(design)[1:]),
        sha256=watched.of_sources,
        data=watched.of_data,
        bitstream=watched.bitstream,
    )
