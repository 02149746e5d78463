"""Values of ops as sums over *atoms*, elements of earlier tensors, plus an interval for the non-linear remainder.

Shifts, sums and products with constants keep a sum exactly, so contributions of one atom on several paths can cancel.
Rounding, selection and table look-up add to the interval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from dais_verif.program import FixedType, Program
from dais_verif.program.model import Op
from dais_verif.program.opcodes import Code, high_int32

__all__ = ["Affine", "AffineOps", "Interval", "added", "bounded", "hull", "scaled"]

#: The smallest and the largest possible value.
Interval = tuple[Fraction, Fraction]

_NONE = (Fraction(0), Fraction(0))


class Affine(NamedTuple):
    """``sum(factor * atom) + rest``. ``rest``: the interval of an unknown term. Atoms are identified by numbers."""

    factors: Mapping[int, Fraction]
    rest: Interval


def hull(*parts: Interval) -> Interval:
    """Return the smallest interval that contains all ``parts``."""
    return min(part[0] for part in parts), max(part[1] for part in parts)


def scaled(value: Affine, factor: Fraction) -> Affine:
    """Return ``value * factor``."""
    if factor == 1:
        return value
    lo, hi = value.rest
    ends = (lo * factor, hi * factor) if factor >= 0 else (hi * factor, lo * factor)
    return Affine({atom: one * factor for atom, one in value.factors.items()}, ends)


def added(a: Affine, b: Affine) -> Affine:
    """Return ``a + b``."""
    a, b = (a, b) if len(a.factors) >= len(b.factors) else (b, a)
    factors = dict(a.factors)
    for atom, one in b.factors.items():
        total = factors.get(atom, 0) + one
        if total:
            factors[atom] = Fraction(total)
        else:
            del factors[atom]
    return Affine(factors, (a.rest[0] + b.rest[0], a.rest[1] + b.rest[1]))


def bounded(value: Affine, atoms: Callable[[int], Interval]) -> Interval:
    """Return the smallest and the largest possible ``value``, with each atom within its interval."""
    lo, hi = value.rest
    for atom, factor in value.factors.items():
        a, b = atoms(atom)
        lo += factor * (a if factor > 0 else b)
        hi += factor * (b if factor > 0 else a)
    return lo, hi


@dataclass(eq=False)
class AffineOps:
    """The ops of ``program`` as affine sums. ``atoms``: a function from an atom to its interval."""

    program: Program
    atoms: Callable[[int], Interval]

    def __post_init__(self) -> None:
        #: Ops that stand for an atom times a factor.
        self._known: dict[int, tuple[int, Fraction]] = {}
        self._found: dict[int, Affine] = {}

    def stand_for(self, ops: Iterable[tuple[int, int, Fraction]]) -> None:
        """Treat each op as an atom times a factor from now on, instead of as a result of its operands."""
        for op, atom, factor in ops:
            self._known[op] = (atom, factor)
        self._found.clear()

    def output(self, number: int) -> Affine:
        """Return output ``number`` of the program as a sum."""
        op, shift, negated = self.program.outputs[number]
        if op < 0:
            return Affine({}, _NONE)
        return scaled(self._value(op), Fraction(2) ** shift * (-1 if negated else 1))

    def _value(self, wanted: int) -> Affine:
        """Evaluate operands first, without recursion: the depth of a program may equal its length."""
        stack = [wanted]
        while stack:
            index = stack[-1]
            if index in self._found:
                stack.pop()
                continue
            if index in self._known:
                atom, factor = self._known[index]
                self._found[index] = Affine({atom: factor}, _NONE)
                continue
            op = self.program.ops[index]
            missing = [at for at in _read(op) if at not in self._found]
            if missing:
                stack += missing
            else:
                self._found[index] = self._computed(op)
        return self._found[wanted]

    def _bounds(self, index: int) -> Interval:
        return bounded(self._found[index], self.atoms)

    def _computed(self, op: Op) -> Affine:
        rule = _RULES.get(op.code)
        return Affine({}, _of_type(op.type)) if rule is None else rule(self, op, [self._found[at] for at in _read(op)])

    # rules; an op without a rule may have any value of its type

    def _sum(self, op: Op, operands: Sequence[Affine]) -> Affine:
        sign = -1 if op.code == Code.SUB else 1
        return added(operands[0], scaled(operands[1], sign * Fraction(2) ** op.data))

    def _constant(self, op: Op, operands: Sequence[Affine]) -> Affine:
        value = op.data * Fraction(2) ** -op.type.f
        constant = Affine({}, (value, value))
        return added(operands[0], constant) if operands else constant

    def _relu(self, op: Op, operands: Sequence[Affine]) -> Affine:
        value = scaled(operands[0], Fraction(-1 if op.code == Code.RELU_NEG else 1))
        lo, hi = bounded(value, self.atoms)
        if lo >= 0:
            return value
        return Affine({}, (Fraction(0), max(hi, Fraction(0))))

    def _quantised(self, op: Op, operands: Sequence[Affine]) -> Affine:
        """Return the operand minus up to one step; if it can wrap, return the whole range of the type."""
        value = scaled(operands[0], Fraction(-1 if op.code == Code.QUANT_NEG else 1))
        read, kind = self.program.ops[op.id0].type, op.type
        lo, hi = bounded(value, self.atoms)
        least, most = _of_type(kind)
        step = Fraction(2) ** -kind.f
        lost = max(step - Fraction(2) ** -read.f, Fraction(0))
        if not kind.width or lo - lost < least or hi >= most + step:
            return Affine({}, (least, most))
        return Affine(value.factors, (value.rest[0] - lost, value.rest[1]))

    def _selected(self, op: Op, operands: Sequence[Affine]) -> Affine:
        """Return the second operand plus an unknown fraction of (first - second), as an interval."""
        first = scaled(operands[0], Fraction(1))
        second = scaled(operands[1], Fraction(2) ** high_int32(op.data) * (-1 if op.code == Code.MUX_NEG else 1))
        lo, hi = bounded(added(first, scaled(second, Fraction(-1))), self.atoms)
        return added(second, Affine({}, (min(lo, Fraction(0)), max(hi, Fraction(0)))))

    def _product(self, op: Op, operands: Sequence[Affine]) -> Affine:
        for one, other in (operands, operands[::-1]):
            if not one.factors and one.rest[0] == one.rest[1]:
                return scaled(other, one.rest[0])
        (a, b), (c, d) = (bounded(one, self.atoms) for one in operands)
        ends = [a * c, a * d, b * c, b * d]
        return Affine({}, (min(ends), max(ends)))


def _read(op: Op) -> tuple[int, ...]:
    """Return the operands that the rule of an op uses; the condition of a mux is not among them."""
    if op.code not in _RULES:
        return ()
    return op.operands[:2] if op.code == Code.MUX or op.code == Code.MUX_NEG else op.operands


def _of_type(kind: FixedType) -> Interval:
    step = Fraction(2) ** -kind.f
    return kind.raw_min * step, kind.raw_max * step


_RULES: dict[int, Callable[[AffineOps, Op, Sequence[Affine]], Affine]] = {
    Code.ADD: AffineOps._sum,
    Code.SUB: AffineOps._sum,
    Code.ADD_CONST: AffineOps._constant,
    Code.CONST: AffineOps._constant,
    Code.RELU: AffineOps._relu,
    Code.RELU_NEG: AffineOps._relu,
    Code.QUANT: AffineOps._quantised,
    Code.QUANT_NEG: AffineOps._quantised,
    Code.MUX: AffineOps._selected,
    Code.MUX_NEG: AffineOps._selected,
    Code.MUL: AffineOps._product,
}
