"""Export a proof for other solvers: every statement on which it rests, without the rewrite rules of terms.

The design is read again, and op semantics are built again, with terms as written. A check of the files by another
solver therefore depends neither on the normal form nor on the means by which obligations were decided.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dais_verif.dut.placement import Dut
from dais_verif.program import Program
from dais_verif.prover.assumptions import Assumptions
from dais_verif.prover.boundary import Boundary
from dais_verif.prover.costs import Costs
from dais_verif.prover.netlist import Netlist
from dais_verif.prover.obligations import Builder, Obligation
from dais_verif.prover.refinement import Refiner
from dais_verif.prover.registers.control_inference import infer_controls
from dais_verif.prover.results import Proof, ProofOptions, ProofWatcher
from dais_verif.prover.solving.pool import Pool, Question
from dais_verif.prover.solving.smtlib import script
from dais_verif.prover.terms import Term
from dais_verif.record.proof import Basis, Claim, Status

__all__ = ["Statement", "export_statements"]

_SHOWN = 6
_ANSWERS = {Status.PROVED: "unsat", Status.REFUTED: "sat", Status.UNKNOWN: "unknown"}


@dataclass
class Statement:
    """One exported file.

    ``answer``: the expected answer of a solver; ``unknown`` if it is not known. ``claims``: the claims that rest on it.
    ``text``: SMT-LIB 2.
    """

    file: str
    answer: str
    claims: list[dict[str, Any]] = field(default_factory=list)
    text: str = ""


def export_statements(
    program: Program, netlist: Netlist, dut: Dut, proof: Proof, options: ProofOptions
) -> list[Statement]:
    """Return the statements of ``proof``, each once; statements that cannot be exported have no text.

    ``netlist``: the netlist of the proof, or of the same design read again under ``as_written``.
    """
    claims = {(claim.kind, claim.number): claim for claim in (*proof.ops, *proof.outputs)}
    refiner = _refiner(program, netlist, dut, proof, claims, options)
    found: dict[Question | None, Statement] = {}
    for key, claim in claims.items():
        question = _asked(refiner, claim)
        answer = _ANSWERS[claim.status]
        if claim.kind == "output" and claim.status is Status.REFUTED:
            answer = "unknown"  # an op that it reads may be wrong, although the statement is true
        statement = _add(found, question, f"{claim.kind}_{claim.number}", answer, refiner.obligations[key])
        if answer == "unsat":
            statement.answer = answer
        statement.claims.append(_tree(claim))
    for index, question in refiner.ranges.items():
        _add(found, question, f"range_{index}", "unsat", None).claims.append({"range of op": index})
    for question, statement in found.items():
        if question is not None:
            statement.text = _with_heading(program, statement, statement.text)
    return list(found.values())


def _refiner(
    program: Program,
    netlist: Netlist,
    dut: Dut,
    proof: Proof,
    claims: Mapping[tuple[str, int], Claim],
    options: ProofOptions,
) -> Refiner:
    """Return a refiner that makes the statements of the claims again, as the proof made them."""
    boundary = Boundary.of(program, netlist, dut)
    cut = {claim.number: netlist.signals[claim.signal] for claim in proof.ops}
    held = infer_controls(netlist, boundary, [*boundary.result_ports, *cut.values()], dut.interface.clocking)
    boundary = boundary.holding({netlist.signals[name]: value for name, value in held.items()})
    whole, builder = (Builder(program, netlist, cut, boundary) for _ in range(2))
    for index in proof.dropped:
        builder.drop(index)
    obligations: dict[tuple[str, int], Obligation] = {}
    for kind, number in claims:
        if kind == "op":
            obligations[kind, number] = (builder if number in builder.cut else whole).op(number)
        else:
            obligations[kind, number] = builder.output(number)
    assumptions = Assumptions(program, boundary.inputs, options.declared)
    quiet, options = ProofWatcher(), replace(options, store=None)
    pool = Pool(options, quiet)
    return Refiner(program, netlist, builder, pool, options, quiet, assumptions, obligations, dict(claims), Costs())


def _asked(refiner: Refiner, claim: Claim) -> Question | None:
    basis = claim.basis if claim.status is Status.PROVED else Basis.PLAIN
    question = refiner.stated((claim.kind, claim.number), basis)
    if question is None:
        return None
    rtl, wanted, given = question
    return rtl, wanted, tuple(term for term in given if term.op != "const" or not term.value)


def _add(
    found: dict[Question | None, Statement],
    question: Question | None,
    name: str,
    answer: str,
    obligation: Obligation | None,
) -> Statement:
    if question in found:
        return found[question]
    statement = found[question] = Statement("" if question is None else f"{name}.smt2", answer)
    if question is not None:
        names: dict[Term, str] = {}
        if obligation is not None:
            names = {term: f"{s.kind} {s.number}" for term, s in obligation.variables().items()}
        statement.text = script(*question, names)
    return statement


def _tree(claim: Claim) -> dict[str, Any]:
    tree: dict[str, Any] = {claim.kind: claim.number, "status": claim.status.value, "method": claim.method.value}
    return {**tree, "how": claim.how} if claim.how else tree


def _with_heading(program: Program, statement: Statement, text: str) -> str:
    first = statement.claims[0]
    words = [" ".join(map(str, next(iter(claim.items())))) for claim in statement.claims]
    more = f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
    lines = [", ".join(words[:_SHOWN]) + more]
    if "op" in first:
        op = program.ops[first["op"]]
        lines.append(f"{op} of type {op.type}: its value in the RTL, and its value in the program")
    lines.append(f"dais-verif expects {statement.answer}; unsat: equal for all values of the constants declared here")
    return "".join(f"; {line}\n" for line in lines) + text
