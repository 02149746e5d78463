"""Bound the difference between a network under a configuration and the exact one, for any input, node by node.

Tensors of both networks are compared element by element. The outputs of a layer are sums over the same elements in both
networks, so equal contributions cancel. Activations, quantisers and maxima of windows never increase a difference,
apart from rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple

from dais_verif.compile.networks.arithmetic import Arithmetic, raw_of
from dais_verif.compile.networks.call import Budget, Call
from dais_verif.compile.networks.knobs import Applied
from dais_verif.compile.networks.model import Network, Node
from dais_verif.compile.networks.operators.pooling import Windows
from dais_verif.compile.networks.problems import Refusal
from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.model import Op
from dais_verif.spec.program.opcodes import Code, high_int32

__all__ = ["Affine", "AffineOps", "Interval", "Pair", "added", "bounded", "hull", "output_differences", "scaled"]


_ZERO = (Fraction(0), Fraction(0))
#: Operators whose results are sums of their inputs: the elements of these results do not become atoms.
_LINEAR = (
    "Conv",
    "Gemm",
    "MatMul",
    "Add",
    "Sub",
    "BatchNormalization",
    "AveragePool",
    "GlobalAveragePool",
    "DequantizeLinear",
    "Flatten",
    "Reshape",
    "Transpose",
    "Concat",
    "Pad",
    "Identity",
)
#: Element-wise operators that never increase a difference.
_CONTRACTING = ("Relu", "Clip", "LeakyRelu")
_QUANTISERS = ("QuantizeLinear", "Quant")
#: Modes that round to the nearest integer, and modes that always round in the same direction.
_NEAREST, _ONE_WAY = ("ROUND", "HALF_EVEN", "HALF_UP", "HALF_DOWN"), ("CEIL", "FLOOR")
#: For a number below 2**e, binary16 keeps bits of weight 2**(e - 11) and above, so rounding changes it by at most
#: half of that weight.
_HALF_BITS = 12


@dataclass(frozen=True)
class Pair:
    """The possible values of an element in the exact and in the other network, and of the other minus the exact."""

    exact: Interval
    other: Interval
    difference: Interval


@dataclass(eq=False)
class _Side:
    """One of the two networks, as a program that outputs all compared tensors.

    ``first``: the number of each tensor's first output; ``bounds``: an interval for each element of a tensor.
    """

    network: Network
    program: Program
    first: Mapping[str, int]
    bounds: Mapping[str, list[Interval]]
    ops: AffineOps = field(init=False)

    @classmethod
    def of(cls, network: Network, names: Sequence[str]) -> _Side:
        bounds = {name: network.bounds(name) for name in names}
        first = dict(zip(names, accumulate([0, *(len(bounds[name]) for name in names)]), strict=False))
        return cls(network, network.program(names), first, bounds)


def output_differences(exact: Network, other: Network, applied: Mapping[str, Applied]) -> list[Pair]:
    """Return the possible values of each output element in both networks, and their possible difference.

    ``other``: the network ``exact`` under the knobs ``applied``. The result holds for all values of the input types.
    """
    names = [name for name in exact.tensors if _compared(exact, name) and _compared(other, name)]
    sides = (_Side.of(exact, names), _Side.of(other, names))
    found = _Comparison(sides, applied)
    for name in exact.inputs:
        found.take_input(name)
    for node in exact.nodes:
        if node.outputs[0] in sides[0].first:
            found.take(node)
    return [pair for name in exact.outputs for pair in found.pairs_of(name)]


def _compared(network: Network, name: str) -> bool:
    return not network.is_constant(name) and network.tensors[name].type is not None


class _Comparison:
    """The results for the tensors compared so far. ``atoms``: the elements that sums consist of."""

    def __init__(self, sides: tuple[_Side, _Side], applied: Mapping[str, Applied]) -> None:
        self.sides, self.applied = sides, applied
        self.atoms: list[Pair] = []
        self.pairs: dict[str, list[Pair]] = {}
        for number, side in enumerate(sides):
            side.ops = AffineOps(side.program, self._bounds_of(number))

    def _bounds_of(self, number: int) -> Callable[[int], Interval]:
        return lambda atom: self.atoms[atom].other if number else self.atoms[atom].exact

    def take_input(self, name: str) -> None:
        """Give both networks the same value of input ``name``."""
        if name in self.sides[0].first:
            self._learn(name, [Pair(one, one, _ZERO) for one in self.sides[0].bounds[name]])

    def take(self, node: Node) -> None:
        """Compare the output of ``node``."""
        name = node.outputs[0]
        pairs = [self._by_sums(name, at) for at in range(len(self.sides[0].bounds[name]))]
        if node.op in _LINEAR:
            self.pairs[name] = pairs
            return
        differences = self._by_rule(node)
        if differences is not None:
            pairs = [
                Pair(one.exact, one.other, _both(one.difference, two))
                for one, two in zip(pairs, differences, strict=True)
            ]
        self._learn(name, pairs)

    def pairs_of(self, name: str) -> list[Pair]:
        """Return the pairs of an output's elements; for a constant output, they follow from its values alone."""
        if name in self.pairs:
            return self.pairs[name]
        bounds = zip(*(side.network.bounds(name) for side in self.sides), strict=True)
        return [Pair(a, b, (b[0] - a[1], b[1] - a[0])) for a, b in bounds]

    def _learn(self, name: str, pairs: list[Pair]) -> None:
        """Make each element of a tensor an atom."""
        self.pairs[name] = pairs
        first = len(self.atoms)
        self.atoms += pairs
        for side in self.sides:
            stand = []
            for at in range(len(pairs)):
                op, shift, negated = side.program.outputs[side.first[name] + at]
                if op >= 0:
                    stand.append((op, first + at, Fraction(2) ** -shift * (-1 if negated else 1)))
            side.ops.stand_for(stand)

    # sums

    def _by_sums(self, name: str, at: int) -> Pair:
        sums = [side.ops.output(side.first[name] + at) for side in self.sides]
        (exact, other), bounds = sums, []
        for side, value in zip(self.sides, sums, strict=True):
            bounds.append(_both(side.bounds[name][at], bounded(value, side.ops.atoms)))
        apart = (bounds[1][0] - bounds[0][1], bounds[1][1] - bounds[0][0])
        return Pair(bounds[0], bounds[1], _both(apart, self._apart(exact, other)))

    def _apart(self, exact: Affine, other: Affine) -> Interval:
        lo, hi = other.rest[0] - exact.rest[1], other.rest[1] - exact.rest[0]
        for atom in exact.factors.keys() | other.factors.keys():
            a, b = exact.factors.get(atom, Fraction(0)), other.factors.get(atom, Fraction(0))
            lo -= _most(self.atoms[atom], a, -b)
            hi += _most(self.atoms[atom], -a, b)
        return lo, hi

    # operators that never increase a difference

    def _by_rule(self, node: Node) -> list[Interval] | None:
        """Return the differences of elements by the rule for the operator; None if it has no rule."""
        read = self.pairs.get(node.inputs[0])
        if read is None:
            return None
        knobs = self.applied.get(node.outputs[0])
        half = knobs is not None and knobs.first.half
        before = [_halved(one) if half else one.difference for one in read]
        found = None
        if node.op in _CONTRACTING and self._contracts(node):
            found = [hull(one, _ZERO) for one in before]
        elif node.op == "MaxPool":
            found = self._largest(node, before)
        elif node.op in _QUANTISERS:
            found = self._quantised(node, before)
        if found is None or not half:
            return found
        # The values that an op reads are rounded, its results, and its constants, such as the bounds of a Clip.
        written = [one for side in self.sides for one in side.bounds[node.outputs[0]]]
        values = (*written, *(one.exact for one in read), *(one.other for one in read))
        largest = max(max(-lo, hi) for lo, hi in values)
        moved = _half_step(largest + _half_step(largest))
        return [(lo - moved, hi + moved) for lo, hi in found]

    def _contracts(self, node: Node) -> bool:
        """Return True if the slope of the operator is between 0 and 1, and all inputs but the first are constants."""
        network = self.sides[0].network
        slope = node.attributes.get("alpha", 0.01) if node.op == "LeakyRelu" else 0
        return 0 <= slope <= 1 and all(not name or network.is_constant(name) for name in node.inputs[1:])

    def _largest(self, node: Node, before: Sequence[Interval]) -> list[Interval] | None:
        """Bound the difference of the maximum of a window by the largest difference of the elements of the window."""
        network = self.sides[0].network
        batch, channels, *spatial = network.tensors[node.inputs[0]].shape
        call = Call(node.op, (), node.attributes, 0, Arithmetic(), Budget())
        try:
            places = Windows(call, spatial, node.attributes["kernel_shape"]).places
        except Refusal:
            return None
        size = len(before) // (batch * channels)
        return [
            hull(*(before[first * size + at] for at in row[row >= 0].tolist()))
            for first in range(batch * channels)
            for row in places
        ]

    def _quantised(self, node: Node, before: Sequence[Interval]) -> list[Interval] | None:
        """Bound the difference in steps, plus one rounding; saturation moves it towards 0, and up to 0 itself."""
        scale = self.sides[0].network.constant(node.inputs[1])
        if scale is None or len(set(scale)) != 1 or raw_of(scale[0])[0] != 1:
            return None
        mode = str(node.attributes.get("rounding_mode", "ROUND")).upper() if node.op == "Quant" else "ROUND"
        step, back = scale[0], scale[0] if node.op == "Quant" else Fraction(1)
        return [hull((-_steps(-lo / step, mode) * back, _steps(hi / step, mode) * back), _ZERO) for lo, hi in before]


def _steps(most: Fraction, mode: str) -> Fraction:
    """Return the largest difference of two rounded numbers that differ by up to ``most`` before rounding."""
    found = (most + 1).__floor__() if mode in _NEAREST else most.__ceil__() + (0 if mode in _ONE_WAY else 1)
    return Fraction(found) if most > 0 else Fraction(min(found, 0))


def _half_step(largest: Fraction) -> Fraction:
    """Return the largest change when a number of magnitude ``largest`` or less is rounded to binary16."""
    return Fraction(2) ** (largest.__ceil__().bit_length() - _HALF_BITS)


def _halved(one: Pair) -> Interval:
    """Return the difference after the value in the other network has been rounded to binary16."""
    moved = _half_step(max(map(abs, one.other)))
    return one.difference[0] - moved, one.difference[1] + moved


def _both(a: Interval, b: Interval) -> Interval:
    """Return the intersection of two intervals that contain the same value."""
    found = max(a[0], b[0]), min(a[1], b[1])
    if found[0] > found[1]:
        raise AssertionError(f"no value lies within both {a} and {b}: one of the rules for bounds is wrong")
    return found


def _most(atom: Pair, exact: Fraction, other: Fraction) -> Fraction:
    """Return the largest ``exact * x + other * y`` for an atom with value x in the exact and y in the other network."""
    if atom.difference == _ZERO:
        factor = exact + other
        return factor * (atom.exact[1] if factor > 0 else atom.exact[0])
    (a, b), (c, d), (e, f) = atom.exact, atom.other, atom.difference
    # The maximum is at an end of the range of x, or where the bound of y changes.
    turns = [max(a, c - f), min(b, d - e), d - f if other > 0 else c - e]
    values = [
        exact * x + other * (min(d, x + f) if other > 0 else max(c, x + e)) for x in turns if turns[0] <= x <= turns[1]
    ]
    return max(values)


# Values of ops as sums over *atoms*, elements of earlier tensors, plus an interval for the non-linear remainder.
#
# Shifts, sums and products with constants keep a sum exactly, so contributions of one atom on several paths can
# cancel. Rounding, selection and table look-up add to the interval.


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
