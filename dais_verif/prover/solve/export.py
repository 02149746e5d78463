"""Export a proof for other solvers: every statement on which it rests, without the rewrite rules of terms.

The design is read again, and op semantics are built again, with terms as written. A check of the files by another
solver therefore depends neither on the normal form nor on the means by which obligations were decided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dais_verif.hardware.ports.interface import Dut
from dais_verif.prover.boundary import Boundary
from dais_verif.prover.clocked.registers.control_inference import infer_controls
from dais_verif.prover.lemmas import Assumptions
from dais_verif.prover.limits import Costs
from dais_verif.prover.netlist import Netlist
from dais_verif.prover.obligations import Builder, Obligation
from dais_verif.prover.refinement import Refiner
from dais_verif.prover.results import Proof, ProofOptions, ProofWatcher
from dais_verif.prover.solve.pool import Pool, Question
from dais_verif.prover.terms import Term, nodes
from dais_verif.record.proof import Basis, Claim, Status
from dais_verif.spec.program import Program

__all__ = ["Statement", "export_statements", "script"]


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


# Write terms as SMT-LIB 2, for any solver of quantifier-free bit-vectors.
#
# This is independent of the translation to bitwuzla: each node is one definition, with the operators of the standard.
# One-bit terms are bit-vectors, too, and comparisons become 1 or 0.


def script(rtl: Term, wanted: Term, given: Sequence[Term] = (), names: Mapping[Term, str] | None = None) -> str:
    """Return a script that asks for values for which ``rtl`` and ``wanted`` differ and all of ``given`` are 1.

    The answer ``unsat`` means that ``rtl`` and ``wanted`` are equal. ``names``: names of leaves, for comments.
    """
    lines = ["(set-logic QF_BV)"]
    known: dict[Term, str] = {}
    order = nodes(rtl, wanted, *given)
    for t in order:
        if t.op in ("var", "undefined"):
            known[t] = f"{'x' if t.op == 'var' else 'any'}{len(known)}"
            said = (names or {}).get(t, str(t.data))
            lines.append(f"(declare-const {known[t]} {_sort(t.width)}) ; {said}")
    for t in order:
        if t.op == "const":
            known[t] = _number(t.width, t.value)
        elif t not in known:
            known[t] = f"t{len(known)}"
            lines.append(f"(define-fun {known[t]} () {_sort(t.width)} {_RULES[t.op](t, *(known[x] for x in t.args))})")
    lines += [f"(assert (= {known[t]} #b1)) ; assumed" for t in given]
    lines += [f"(assert (distinct {known[rtl]} {known[wanted]})) ; RTL, program", "(check-sat)", "(exit)"]
    return "\n".join(lines) + "\n"


def _sort(width: int) -> str:
    return f"(_ BitVec {width})"


def _number(width: int, value: int) -> str:
    return f"#b{value:0{width}b}"


def _plain(word: str) -> Callable[..., str]:
    return lambda t, *args: f"({word} {' '.join(args)})" if len(args) > 1 or word in ("bvneg", "bvnot") else args[0]


def _predicate(word: str) -> Callable[..., str]:
    return lambda t, a, b: f"(ite ({word} {a} {b}) #b1 #b0)"


def _add_of_smtlib(t: Term, *args: str) -> str:
    addends = [*args, *([_number(t.width, t.low)] if t.low else [])]
    return f"(bvadd {' '.join(addends)})" if len(addends) > 1 else addends[0]


def _shift(word: str) -> Callable[..., str]:
    """Return a rule for a shift: SMT-LIB needs both operands in the same width.

    The amount is extended with zeros, the value according to the kind of shift.
    """

    def rule(t: Term, a: str, b: str) -> str:
        more = t.args[1].width - t.width
        if more <= 0:
            return f"({word} {a} {f'((_ zero_extend {-more}) {b})' if more else b})"
        extend = "sign_extend" if word == "bvashr" else "zero_extend"
        return f"((_ extract {t.width - 1} 0) ({word} ((_ {extend} {more}) {a}) {b}))"

    return rule


def _lookup(t: Term, index: str) -> str:
    """Write a table as one choice per entry; 0 beyond the last entry."""
    width = t.args[0].width
    chosen = "".join(f"\n  (ite (= {index} {_number(width, n)}) {_number(t.width, e)}" for n, e in enumerate(t.entries))
    return f"{chosen} {_number(t.width, 0)}{')' * len(t.entries)}"


_RULES: dict[str, Callable[..., str]] = {
    "extract": lambda t, x: f"((_ extract {t.low + t.width - 1} {t.low}) {x})",
    "concat": _plain("concat"),
    "sext": lambda t, x: f"((_ sign_extend {t.width - t.args[0].width}) {x})",
    "add": _add_of_smtlib,
    "neg": _plain("bvneg"),
    "not": _plain("bvnot"),
    "mul": _plain("bvmul"),
    "udiv": _plain("bvudiv"),
    "urem": _plain("bvurem"),
    "and": _plain("bvand"),
    "or": _plain("bvor"),
    "xor": _plain("bvxor"),
    "shl": _shift("bvshl"),
    "lshr": _shift("bvlshr"),
    "ashr": _shift("bvashr"),
    "eq": _predicate("="),
    "ult": _predicate("bvult"),
    "slt": _predicate("bvslt"),
    "ite": lambda t, c, a, b: f"(ite (= {c} #b1) {a} {b})",
    "lookup": _lookup,
}
