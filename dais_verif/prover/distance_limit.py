"""Decide statements of the form ``|b - a| <= limit``, for all inputs, about an output of two programs.

All values, from the inputs on, are those that hardware computes, as everywhere in this package.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from dais_verif.prover.limits import one_at_a_time
from dais_verif.prover.op_semantics import as_type, interpret_op
from dais_verif.prover.shared_inputs import Inputs
from dais_verif.prover.solve.discharge import decide
from dais_verif.prover.terms import Term, bor, concat, const, neg, sext, slt, sub
from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.opcodes import INPUT

__all__ = ["Answer", "Apart"]


class Answer(NamedTuple):
    """``within``: whether the statement holds; None: undecided in time. ``witness``: inputs that refute it."""

    within: bool | None
    witness: tuple[Fraction, ...] | None = None


class Apart:
    """Two programs as terms; they must have the same number of inputs and of outputs."""

    def __init__(self, a: Program, b: Program) -> None:
        self._programs = a, b
        self._inputs = Inputs.of((a, b))
        self._terms: tuple[dict[int, Term], dict[int, Term]] = ({}, {})

    @one_at_a_time
    def within(self, output: int, limit: Fraction, seconds: float) -> Answer:
        """Decide whether output ``output`` of the two programs never differs by more than ``limit``.

        ``limit``: a real value, at least 0. ``seconds``: the time limit of the solver.
        """
        difference, f = self._difference(output)
        raw = int(limit * Fraction(2) ** f)
        wide = max(difference.width, raw.bit_length() + 1) + 1
        difference, most = sext(difference, wide), const(wide, raw)
        beyond = bor(slt(most, difference), slt(difference, neg(most)))
        found = decide(beyond, const(1, 0), (), seconds)
        return Answer(found.equal, self._inputs.vector(found.model) if found.equal is False else None)

    def _difference(self, output: int) -> tuple[Term, int]:
        """Return the output of the second program minus that of the first, a signed number, and its fractional bits."""
        (a_kind, a), (b_kind, b) = (self._output(side, output) for side in (0, 1))
        f = max(a_kind.f, b_kind.f)
        numbers = []
        for kind, value in ((a_kind, a), (b_kind, b)):
            signed = value if kind.k else concat(const(1, 0), value)
            numbers.append(concat(signed, const(f - kind.f, 0)) if f > kind.f else signed)
        wide = max(one.width for one in numbers) + 1
        return sub(sext(numbers[1], wide), sext(numbers[0], wide)), f

    def _output(self, side: int, output: int) -> tuple[FixedType, Term]:
        index, shift, negated = self._programs[side].outputs[output]
        if index < 0 or not self._programs[side].ops[index].type.width:
            return FixedType(0, 1, 0), const(1, 0)
        kind, value = self._programs[side].ops[index].type, self._value(side, index)
        if negated:
            wider = FixedType(1, kind.i + 1, kind.f)
            kind, value = wider, as_type(kind, value, wider, negated=True)
        return FixedType(kind.k, kind.i + shift, kind.f - shift), value

    def _value(self, side: int, wanted: int) -> Term:
        """Return the value of an op, after making those of its operands; without recursion, since programs are deep."""
        program, terms = self._programs[side], self._terms[side]
        waiting = [wanted]
        while waiting:
            op = program.ops[waiting[-1]]
            missing = [at for at in op.operands if at not in terms]
            if missing:
                waiting += missing
                continue
            waiting.pop()
            if not op.type.width:
                terms[op.index] = const(1, 0)
            elif op.code == INPUT:
                terms[op.index] = interpret_op(program, op, *self._inputs.read(side, op.id0)).value
            else:
                terms[op.index] = interpret_op(program, op, [terms[at] for at in op.operands]).value
        return terms[wanted]
