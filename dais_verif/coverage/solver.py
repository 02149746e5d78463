"""Translate goals for an SMT solver, which returns a vector that reaches a goal, or shows that there is none.

It uses the prover's op semantics, so it is a third opinion on bins, besides the golden model and range analysis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from dais_verif.coverage.goals import Goal
from dais_verif.prover.limits import one_at_a_time
from dais_verif.prover.op_semantics import aligned, as_type, bits_of, interpret_op, interpret_output
from dais_verif.prover.solve.smt import satisfy
from dais_verif.prover.terms import Term, band, bnot, const, eq, extract, ite, neg, nonzero, slt, top_bit, var
from dais_verif.spec.program import FixedType, Op, Program
from dais_verif.spec.program.opcodes import INPUT, MUXES, RELUS, Code, high_int32
from dais_verif.spec.program.ports import Ports, ports_of

__all__ = ["GoalSolver"]


@dataclass
class GoalSolver:
    """Decides goals in ``program``. ``declared``: inputs stay within the intervals that its source declares.

    The vectors that it returns may break promises.
    """

    program: Program
    declared: bool
    _values: dict[int, Term] = field(default_factory=dict)
    _inputs: dict[int, Term] = field(default_factory=dict)

    @one_at_a_time
    def solve(self, goal: Goal, seconds: float) -> list[int] | bool | None:
        """Return the port elements' bits of a vector that reaches ``goal``; False: there is none; None: undecided."""
        self._reach(goal)
        wanted = _CONDITIONS[goal.kind](self, self.program.ops[goal.op], goal)
        answer = satisfy([wanted, *self._bounds()], seconds)
        if answer.verdict != "sat":
            return False if answer.verdict == "unsat" else None
        return [answer.model.get(self._inputs[j], 0) if j in self._inputs else 0 for j in range(self.program.n_in)]

    @cached_property
    def _ports(self) -> Ports:
        return ports_of(self.program)

    def _reach(self, goal: Goal) -> None:
        """Compute the terms of all ops that the goal depends on."""
        ports = self._ports
        for index in self._new([goal.op]):
            op = self.program.ops[index]
            if op.code == INPUT:
                element = ports.inputs[op.id0]
                operands = [self._inputs.setdefault(op.id0, var(element.width, f"i{op.id0}"))] if element.width else []
                self._values[index] = interpret_op(self.program, op, operands, element).value
            else:
                self._values[index] = interpret_op(self.program, op, [self._values[i] for i in op.operands]).value

    def _new(self, roots: Sequence[int]) -> list[int]:
        """Return the ops in the fan-in cone of ``roots`` that have no term yet, in SSA order."""
        found = {index for index in roots if index not in self._values}
        waiting = list(found)
        while waiting:
            for operand in self.program.ops[waiting.pop()].operands:
                if operand not in found and operand not in self._values:
                    found.add(operand)
                    waiting.append(operand)
        return sorted(found)

    def _bounds(self) -> list[Term]:
        """Return the conditions that inputs lie within the intervals that their source declares."""
        if not self.declared or not self.program.intervals:
            return []
        found = []
        for index in sorted(self._values):
            op = self.program.ops[index]
            lo, hi = self.program.intervals[index]
            if op.code == INPUT and op.type.width and (lo, hi) != (op.type.raw_min, op.type.raw_max):
                width = op.type.width + 1
                value = self._wide(index, width)
                found.append(bnot(slt(value, const(width, lo))))
                found.append(bnot(slt(const(width, hi), value)))
        return found

    def _wide(self, index: int, width: int) -> Term:
        kind = self.program.ops[index].type
        return as_type(kind, self._values[index], FixedType(1, width - 1 - kind.f, kind.f))

    def exact(self, index: int, negate: bool) -> Term:
        """Return ± the raw value of an op, signed and two bits wider than its type."""
        kind = self.program.ops[index].type
        value = self._wide(index, kind.width + 2)
        return neg(value) if negate else value

    def value(self, goal: Goal) -> Term:
        """Return the bits of the op's value, or of minus its value if the goal is negated."""
        return interpret_output(self.program.ops[goal.op].type, self._values[goal.op], goal.negated)

    # ---------------------------------------------------------------- quantised values

    def chosen(self, op: Op, about: Callable[[int, bool, int], Term]) -> Term:
        """Return ``about(operand, negated, shift)`` for the value that ``op`` quantises: in a mux, the chosen arm."""
        if op.code not in MUXES:
            return about(op.id0, op.spec.negate, op.data if op.code == Code.SHIFT else 0)
        first, second = about(op.id0, False, 0), about(op.id1, op.spec.negate, high_int32(op.data))
        return ite(self.msb(op), first, second)

    def msb(self, op: Op) -> Term:
        """Return the MSB of a mux's condition."""
        return top_bit(self._values[op.condition]) if self.program.ops[op.condition].type.width else const(1, 0)

    def quantised(self, op: Op, operand: int, negate: bool, shift: int) -> Term:
        """Return the result of ``op`` for ± an operand."""
        return as_type(_shifted(self.program.ops[operand].type, shift), self._values[operand], op.type, negated=negate)

    def wraps(self, op: Op, operand: int, negate: bool, shift: int) -> Term:
        """Return the condition that quantisation to the type of ``op`` wraps ± an operand."""
        kind = _shifted(self.program.ops[operand].type, shift)
        whole = FixedType(1, max(kind.i, op.type.i) + 3, op.type.f)
        floored = as_type(kind, self._values[operand], whole, negated=negate)
        a, b = aligned(whole, floored, op.type, self.quantised(op, operand, negate, shift))
        changed = bnot(eq(a, b))
        return band(changed, bnot(top_bit(self.exact(operand, negate)))) if op.code in RELUS else changed

    def loses(self, op: Op, operand: int, negate: bool, shift: int) -> Term:
        """Return the condition that quantisation truncates ± an operand; negation keeps low bits of 0."""
        kind = self.program.ops[operand].type
        drop = min(kind.f - shift - op.type.f, kind.width)
        if drop <= 0:
            return const(1, 0)
        lost = nonzero(extract(self._values[operand], 0, drop))
        return band(lost, bnot(top_bit(self.exact(operand, negate)))) if op.code in RELUS else lost

    def negative(self, operand: int, negate: bool, shift: int) -> Term:
        """Return the condition that ± an operand is negative."""
        return top_bit(self.exact(operand, negate))


def _shifted(kind: FixedType, shift: int) -> FixedType:
    return FixedType(kind.k, kind.i + shift, kind.f - shift)


def _bit(s: GoalSolver, op: Op, goal: Goal) -> Term:
    width = op.type.width + goal.negated
    found = extract(s.value(goal), goal.which % width, 1)
    return found if goal.which >= width else bnot(found)


def _sign(s: GoalSolver, op: Op, goal: Goal) -> Term:
    exact = s.exact(op.index, goal.negated)
    return top_bit(exact) if goal.which == 0 else band(bnot(top_bit(exact)), nonzero(exact))


def _zero(s: GoalSolver, op: Op, goal: Goal) -> Term:
    return bnot(nonzero(s.exact(op.index, False)))


def _arm(s: GoalSolver, op: Op, goal: Goal) -> Term:
    first = s.quantised(op, op.id0, False, 0)
    differ = bnot(eq(first, s.quantised(op, op.id1, op.spec.negate, high_int32(op.data))))
    return band(s.msb(op) if goal.which == 0 else bnot(s.msb(op)), differ)


def _wrap(s: GoalSolver, op: Op, goal: Goal) -> Term:
    taken = s.chosen(op, lambda i, negate, shift: s.wraps(op, i, negate, shift))
    return taken if goal.which == 0 else bnot(taken)


def _truncation(s: GoalSolver, op: Op, goal: Goal) -> Term:
    taken = s.chosen(op, lambda i, negate, shift: s.loses(op, i, negate, shift))
    if goal.which == 2:
        return band(taken, s.chosen(op, s.negative))
    return taken if goal.which == 0 else bnot(taken)


def _entry(s: GoalSolver, op: Op, goal: Goal) -> Term:
    kind = s.program.ops[op.id0].type
    raw = goal.which + kind.raw_min + high_int32(op.data)
    if not kind.raw_min <= raw <= kind.raw_max:
        return const(1, 0)
    return eq(s._values[op.id0], const(bits_of(kind), raw)) if kind.width else const(1, 1)


_CONDITIONS: dict[str, Callable[[GoalSolver, Op, Goal], Term]] = {
    "bit": _bit,
    "sign": _sign,
    "zero": _zero,
    "mux arm": _arm,
    "wrap": _wrap,
    "truncation": _truncation,
    "table entry": _entry,
}
