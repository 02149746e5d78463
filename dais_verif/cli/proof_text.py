"""A proof as text and as a tree for JSON."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from dais_verif import __version__
from dais_verif.program import Program
from dais_verif.record.program import ProgramInfo
from dais_verif.record.proof import PROOF_SCHEMA
from dais_verif.stopwatch import Stopwatch
from dais_verif.verdict import Verdict

if TYPE_CHECKING:  # what prints is loaded where something is printed
    from rich.console import Console
    from rich.table import Table

    from dais_verif.confirmation import Confirmation
    from dais_verif.prover.results import Claim, Handshake, Proof, Sample
    from dais_verif.simulation.verify import Finding

__all__ = ["print_proof", "proof_tree"]

_SHOWN = 10


def proof_tree(
    program: Program, proof: Proof, finding: Finding | None, confirmation: Confirmation | None, watch: Stopwatch
) -> dict[str, Any]:
    """What ``--json`` prints, without the facts that the command line knows."""
    claims = [*proof.ops, *proof.outputs]
    worst = max(claims, key=lambda claim: claim.seconds, default=None)
    counterexample = None
    if proof.counterexample is not None:
        op = proof.counterexample.op
        counterexample = {
            "inputs": [str(bits) for bits in proof.counterexample.vector],
            "output": proof.counterexample.output,
            "op": op,
            "mnemonic": None if op is None else program.ops[op].spec.mnemonic,
            "replay": None if finding is None else _replay_tree(finding),
        }
    return {
        "schema": PROOF_SCHEMA,
        "verdict": proof.verdict.value,
        "exit_code": proof.verdict.exit_code,
        "message": proof.message,
        "tools": {"dais-verif": __version__} | {name: version(name) for name in ("pyslang", "bitwuzla", "python-sat")},
        "claims": {
            status: {"ops": ops, "outputs": outputs}
            for status, ops, outputs in (
                (status, *(sum(c.status.value == status for c in part) for part in (proof.ops, proof.outputs)))
                for status in ("PROVED", "REFUTED", "UNKNOWN")
            )
        },
        "methods": proof.methods(),
        "conditional": proof.conditional,
        "within_declared_intervals": proof.bounded,
        "timing": None if proof.timing is None else proof.timing._asdict(),
        "held": dict(proof.held),
        "left_out": list(proof.left_out),
        "signals_agreed": proof.agreed,
        "obligations": proof.obligations,
        "cached_claims": sum(claim.cached for claim in claims),
        "worst": None if worst is None else {"claim": worst.name, "seconds": round(worst.seconds, 4)},
        "seconds": {stage.name: round(stage.busy, 3) for stage in watch.stages},
        "ops_without_signal": proof.unnamed,
        "signals_matched_by_value": proof.guessed,
        "ops": [_claim_tree(claim) for claim in proof.ops],
        "outputs": [_claim_tree(claim) for claim in proof.outputs],
        "proved_outputs": list(proof.proved_outputs),
        "counterexample": counterexample,
        "sample": None if proof.sample is None else _sample_tree(proof.sample),
        "handshake": None if proof.handshake is None else _handshake_tree(proof.handshake),
        "confirmation": None
        if confirmation is None
        else {**asdict(confirmation), "verdict": confirmation.verdict.value},
    }


def _sample_tree(sample: Sample) -> dict[str, Any]:
    return {
        "population": sample.population,
        "seed": sample.seed,
        "claims": list(sample.claims),
        "sampled": len(sample.claims),
        "confirmed": sample.confirmed,
        "undecided": dict(sample.undecided),
        "contradicted": list(sample.contradicted),
        "terms": sample.terms,
    }


def _handshake_tree(handshake: Handshake) -> dict[str, Any]:
    tree: dict[str, Any] = {"status": handshake.status.value, "how": handshake.how}
    if handshake.trace:
        tree |= {"due": handshake.due, "trace": list(handshake.trace), "found": handshake.found}
    return tree


def _claim_tree(claim: Claim) -> dict[str, Any]:
    tree: dict[str, Any] = {claim.kind: claim.number, "status": claim.status.value, "method": claim.method.value}
    if claim.signal:
        tree["signal"] = claim.signal
    if claim.how:
        tree["how"] = claim.how
    if claim.vector is not None:
        tree["inputs"] = [str(bits) for bits in claim.vector]
    return tree


def _replay_tree(finding: Finding) -> dict[str, Any]:
    return {
        "verdict": finding.verdict.value,
        "message": finding.message,
        "simulators": [asdict(simulator) for simulator in finding.simulators],
        "first_mismatch": None if finding.first_mismatch is None else asdict(finding.first_mismatch),
    }


def print_proof(info: ProgramInfo, tree: dict[str, Any], proof: Proof, finding: Finding | None, out: Console) -> None:
    """Print a proof for a person."""
    from dais_verif.report.console import print_mismatch, program_line, source_line, verdict_text

    rtl, seconds = tree["rtl"], tree["seconds"]
    out.print(f"program    {program_line(info)}", markup=False)
    out.print(f"hash       {info.hash}", markup=False)
    through = ", as GHDL's synthesis reads it" if any(name.startswith("ghdl") for name in rtl["readers"]) else ""
    out.print(f"rtl        module {rtl['top']}, {source_line(rtl)}{through}", markup=False)
    unnamed = f", {len(proof.unnamed)} have none" if proof.unnamed else ""
    guessed = f" ({proof.guessed} found by their values)" if proof.guessed else ""
    cached = f", {tree['cached_claims']} claims proved by earlier runs" if tree["cached_claims"] else ""
    out.print(
        f"claims     {len(proof.ops)} ops with a signal{guessed}{unnamed}, {len(proof.outputs)} outputs;"
        f" {proof.obligations} {'points merged' if proof.bits else 'different obligations'}{cached}",
        markup=False,
    )
    out.print(_methods(proof))
    if tree["worst"] is not None and tree["worst"]["seconds"] >= 0.01:
        out.print(f"worst      {tree['worst']['claim']}, {tree['worst']['seconds']:.2f} s", markup=False)
    if tree["obligations_written"] is not None:
        written = tree["obligations_written"]
        out.print(f"statements {written['files']} in {written['folder']}, terms {written['terms']}", markup=False)
    out.print("time       " + ", ".join(f"{name} {busy:.2f} s" for name, busy in seconds.items()), markup=False)
    if proof.handshake is not None:
        out.print(f"handshake  {proof.handshake.status.value}  {proof.handshake.how}", markup=False)
        _print_trace(proof.handshake, out)
    for name, why in proof.unread.items():
        out.print(f"read       by {' and '.join(rtl['front_ends'])}, not by {name}: {why}", markup=False)
    if proof.sample is not None:
        out.print(f"sample     {proof.sample.message}", markup=False)
    confirmation = tree["confirmation"]
    if confirmation is not None and confirmation["verdict"] == Verdict.PASS.value:
        out.print(f"confirmed  by simulation, {confirmation['message']}", markup=False)
    for name, why in ({} if confirmation is None else confirmation["unconfirmed"]).items():
        out.print(f"           not in {name}: {why.removeprefix(f'{name}: ')}", markup=False)
    _print_open(proof, out)
    if finding is not None and finding.first_mismatch is not None:
        print_mismatch(finding.first_mismatch, out)
    out.print(verdict_text(proof.verdict, proof.message))
    if proof.verdict is not Verdict.PASS:
        out.print(f"reproduce  {tree['reproduce']}", markup=False)
    if tree["simulate"] is not None:
        out.print(f"simulate   {tree['simulate']}", markup=False)


def _methods(proof: Proof) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("status")
    table.add_column("method")
    table.add_column("ops", justify="right")
    table.add_column("outputs", justify="right")
    counts: Counter[tuple[str, str, str]] = Counter()
    for claim in (*proof.ops, *proof.outputs):
        method = f"{claim.method.value}{f', {claim.how}' if claim.how else ''}"
        proved = claim.status.value == "PROVED"
        counts[_word(proof, claim), method if proved else "", claim.kind] += 1
    for status, method in dict.fromkeys((status, method) for status, method, _ in sorted(counts)):
        table.add_row(status, method, *(str(counts[status, method, kind]) for kind in ("op", "output")))
    return table


def _print_trace(handshake: Handshake, out: Console) -> None:
    """The pins before each edge of a run that breaks the protocol."""
    for edge, pins in enumerate(handshake.trace):
        shown = "  ".join(f"{name} {value}" for name, value in pins.items())
        out.print(f"  edge {edge:>3} {shown}", markup=False)


def _word(proof: Proof, claim: Claim) -> str:
    """The status of a claim; in a proof that passed nothing rests on a signal that does not hold its op."""
    passed = proof.verdict is Verdict.PASS and claim.kind == "op" and claim.status.value != "PROVED"
    return "ignored" if passed else claim.status.value


def _print_open(proof: Proof, out: Console) -> None:
    failed = [claim for claim in (*proof.ops, *proof.outputs) if claim.status.value != "PROVED"]
    for claim in failed[:_SHOWN]:
        signal = f"  signal {claim.signal}" if claim.signal else ""
        word, why = _word(proof, claim), ""
        if word == "ignored":
            signal, why = (
                "",
                f"  {claim.signal} does not hold this op, and no output rests on it",
            )
        elif word == "UNKNOWN" and proof.counterexample is not None:
            why = "  not looked at any more: the RTL is wrong already"
        out.print(f"{word:<10} {claim.name}{signal}{why}", markup=False)
    if len(failed) > _SHOWN:
        out.print(f"           ... {len(failed) - _SHOWN} more (--json lists all)", markup=False)
