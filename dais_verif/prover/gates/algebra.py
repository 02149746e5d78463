"""Algebraic proof that the bits of a circuit add up to a given number, for all inputs."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from heapq import heappop, heappush
from typing import NamedTuple

from dais_verif.prover.gates.aig import Aig
from dais_verif.prover.gates.bit_blasting import Word
from dais_verif.prover.gates.patterns import mixed, simulate
from dais_verif.prover.gates.sat_solver import SatSolver
from dais_verif.prover.gates.windows import Window, equal_by_table
from dais_verif.prover.terms import Term, nodes

__all__ = [
    "Gates",
    "Monomial",
    "Number",
    "ONE",
    "Polynomial",
    "holds",
    "meaning_of",
    "number_of",
    "plus",
    "single",
    "times",
    "vanishes",
]


# Prove that the bits of a circuit encode a given number, for all inputs.


def holds(aig: Aig, word: Word, polynomial: Polynomial, seed: int) -> bool:
    """Return whether ``word``, literals of ``aig``, is proved to be ``polynomial`` modulo ``2**len(word)``.

    False means only that no proof was found. Adds gates to ``aig``.
    """
    gates = Gates(aig, [*word, *(2 * node for monomial in polynomial for node in monomial)], seed)
    return vanishes(plus(number_of(word).polynomial, polynomial, -1), gates, len(word))


# Gates as sums of literals and of ANDs of two nodes; each such AND is a node of its own.
#
#     NOT x          1 - x
#     x AND NOT y    x - (x AND y)
#     x XOR y        x + y - 2 (x AND y)
#     g OR h         g + h, if g and h are never both 1
#
# For an adder of x, y and z with sum s and carry c, 2c + s therefore becomes x + y + z, whatever gates the adder has,
# once the carry is known as the sum of two ANDs. A carry that is computed differently, as in a carry-lookahead adder,
# is found by its values on patterns and then proved: for each XOR of three nodes, a node that is the majority of
# these three is such a sum of two ANDs, too.


#: Number of patterns by which candidates are found; and the limits for the comparison of one pair: windows and tables,
#: gates, and solver conflicts.
_PATTERNS = 4096
_WINDOWS, _ROWS, _GATES, _CONFLICTS, _LAST = (4, 8, 16, 32), 1 << 20, 2000, 2000, 300


class Gates:
    """The gates of ``aig`` behind ``roots`` as sums. Adds gates to ``aig``.

    Every sum holds for all inputs: it is an identity, or was proved.
    """

    def __init__(self, aig: Aig, roots: Iterable[int], seed: int) -> None:
        self.aig = aig
        rng = random.Random(seed)
        inputs = sum(low < 0 for low in aig.low) - 1
        self._ones = (1 << _PATTERNS) - 1
        self._values = simulate(aig, [mixed(rng, _PATTERNS) for _ in range(inputs)], _PATTERNS)
        self._solver = SatSolver(aig)
        self._sums: dict[int, Polynomial | None] = {}
        self._ranks: dict[int, int] = {}
        self._never: dict[int, bool] = {}
        cone = sorted(aig.behind(roots))
        self._parities = {node: pair for node in cone if (pair := aig.exclusive(node)) is not None}
        #: Nodes that are operands of an XOR which is itself an operand of an XOR: two of the three operands of an
        #: adder.
        self._added: set[int] = set()
        #: Carries and other nodes whose sums were proved, not read off their gates. If sums form a cycle, one such node
        #: of the cycle is removed.
        self._carries: set[int] = set()
        #: Nodes that are proved equal to a literal of another node, each with that literal.
        self._same: dict[int, int] = {}
        self._find_carries(cone)

    def sum_of(self, node: int) -> Polynomial | None:
        """Return ``node`` as a sum; None for inputs and for ANDs of two nodes."""
        if node not in self._sums:
            self._sums[node] = self._made(node)
        return self._sums[node]

    def operands(self, node: int) -> tuple[int, int] | None:
        """Return the two nodes whose AND is ``node``; None for inputs."""
        low, high = self.aig.low[node], self.aig.high[node]
        return None if low < 0 else (low >> 1, high >> 1)

    def rank(self, node: int) -> int:
        """Return a number greater than the ranks of all nodes in the sum or AND that defines ``node``."""
        if node in self._ranks:
            return self._ranks[node]
        path, waiting = {node: None}, [(node, iter(self._behind(node)))]
        while waiting:
            current, others = waiting[-1]
            other = next((other for other in others if other not in self._ranks), None)
            if other is None:
                self._ranks[current] = 1 + max((self._ranks[x] for x in self._behind(current)), default=0)
                waiting.pop()
                del path[current]
            elif other not in path:
                path[other] = None
                waiting.append((other, iter(self._behind(other))))
            else:
                self._break(path, waiting, other)
        return self._ranks[node]

    def _break(self, path: dict[int, None], waiting: list[tuple[int, Iterator[int]]], entry: int) -> None:
        """Remove the last carry of the cycle in ``path`` from ``entry`` on; sums by gates alone form no cycle."""
        nodes = list(path)
        given_up = next(node for node in reversed(nodes[nodes.index(entry) :]) if node in self._carries)
        self._carries.remove(given_up)
        del self._sums[given_up]
        while waiting[-1][0] != given_up:
            del path[waiting.pop()[0]]
        waiting[-1] = (given_up, iter(self._behind(given_up)))

    def _behind(self, node: int) -> list[int]:
        found = self.sum_of(node)
        if found is None:
            return list(self.operands(node) or ())
        return [x for monomial in found for x in monomial]

    def _made(self, node: int) -> Polynomial | None:
        low, high = self.aig.low[node], self.aig.high[node]
        if low < 0 or not (low | high) & 1:
            return None
        parity = self._parities.get(node)
        if parity is not None:
            a, b = parity
            return _flipped(self._exclusive(a & ~1, b & ~1), (a ^ b) & 1)
        both = self._both(low & ~1, high & ~1)
        if both > 1 and self._is_never(both):
            both = 0
        return self._product(low, high, both)

    def _exclusive(self, a: int, b: int) -> Polynomial:
        """Return the XOR of two nodes."""
        both = self._both(a, b)
        total = plus(single(a), single(b))
        return total if both > 1 and self._is_never(both) else plus(total, single(both), -2)

    def _product(self, a: int, b: int, both: int) -> Polynomial:
        """Return the AND of two literals; ``both``: the literal for the AND of their nodes."""
        x, y, xy = single(a & ~1), single(b & ~1), single(both)
        if a & b & 1:
            return plus(plus(plus({ONE: 1}, x, -1), y, -1), xy)
        return plus(y, xy, -1) if a & 1 else plus(x, xy, -1) if b & 1 else xy

    def _both(self, a: int, b: int) -> int:
        known = len(self.aig)
        made = self.aig.both(a, b)
        if len(self.aig) > known:
            self._values.append(self._value(a) & self._value(b))
        return made

    def _value(self, literal: int) -> int:
        return self._values[literal >> 1] ^ (self._ones if literal & 1 else 0)

    def _is_never(self, literal: int) -> bool:
        if self._value(literal):
            return False
        known = self._never.get(literal)
        if known is None:
            known = self._never[literal] = self._equal(literal, 0)
        return known

    def _equal(self, a: int, b: int) -> bool:
        """Return whether two literals are proved equal: over few gates, or down to operands of adders, or to inputs."""
        if a == b:
            return True
        window = Window(self.aig, a >> 1, b >> 1)
        for size in _WINDOWS:
            window.grow(size)
            if equal_by_table(self.aig, window, a, b, _ROWS):
                return True
            if window.whole:
                return False
        window = Window(self.aig, a >> 1, b >> 1)
        window.grow(_GATES, self._added - {a >> 1, b >> 1})
        if len(window.inside) == _GATES:
            return False
        own, at = Aig(), {0: 0}
        for leaf in window.leaves:
            at[leaf] = own.input()
        for node in reversed(window.inside):
            low, high = self.aig.low[node], self.aig.high[node]
            at[node] = own.both(at[low >> 1] ^ low & 1, at[high >> 1] ^ high & 1)
        x, y = at[a >> 1] ^ a & 1, at[b >> 1] ^ b & 1
        if x == y or SatSolver(own).differ(x, y, _CONFLICTS).found is False:
            return True
        return self._solver.differ(a, b, _LAST).found is False

    def _find_carries(self, cone: list[int]) -> None:
        """Find carries of adders: nodes that are AND of two or majority of three literals whose XOR is a node."""
        alike: dict[int, list[int]] = {}
        for node in cone[1:]:
            shape = self._shape(self._values[node])
            if shape:  # too many nodes never change on the patterns
                alike.setdefault(shape, []).append(node)
        for pair in self._parities.values():
            for half in pair:
                self._added.update(literal >> 1 for literal in self._parities.get(half >> 1, ()))
        for pair in self._parities.values():
            for half, c in (pair, pair[::-1]):
                if half >> 1 in self._parities:
                    a, b = self._parities[half >> 1]
                    for p, q, r in ((a, b, c), (a ^ 1, b, c), (a, b ^ 1, c), (a, b, c ^ 1)):
                        self._find_carry(alike, p, q, r, half & ~1)
        for x, y in self._parities.values():
            for a, b in ((x, y), (x ^ 1, y), (x, y ^ 1), (x ^ 1, y ^ 1)):
                value = self._value(a) & self._value(b)
                for node in alike.get(self._shape(value), ()):
                    if node not in self._parities:
                        self._note_same(node, value, self._both(a, b))

    def _find_carry(self, alike: dict[int, list[int]], a: int, b: int, c: int, half: int) -> None:
        """Note nodes that prove to be the majority of three literals. ``half``: ``a`` XOR ``b``, or its complement."""
        p, q, r = self._value(a), self._value(b), self._value(c)
        value = p & q | p & r | q & r
        for node in alike.get(self._shape(value), ()):
            half ^= self._value(half) != p ^ q
            one, two = self._both(a, b), self._both(half, c)
            self._note_carry(node, value, self._both(one ^ 1, two ^ 1) ^ 1, plus(single(one), single(two)))

    def _note_same(self, node: int, value: int, literal: int) -> None:
        """Note that ``node`` or its complement equals ``literal``, whose values are ``value``, if that is proved."""
        first, second = self._kept(2 * node | (self._values[node] != value)), self._kept(literal)
        if first >> 1 == second >> 1 or not self._equal(first, second):
            return
        if first >> 1 in self._carries:
            first, second = second, first
        if first >> 1 not in self._carries:
            self._carries.add(first >> 1)
            self._sums[first >> 1] = _flipped(single(second), first & 1)
            self._same[first >> 1] = second ^ first & 1

    def _kept(self, literal: int) -> int:
        """Return the literal that represents all literals equal to ``literal``."""
        while literal >> 1 in self._same:
            literal = self._same[literal >> 1] ^ literal & 1
        return literal

    def _note_carry(self, node: int, value: int, literal: int, total: Polynomial) -> None:
        """Note that ``node`` or its complement is the sum ``total``, if it is proved equal to ``literal``.

        ``value``: the values of ``literal``.
        """
        if node not in self._carries and node != literal >> 1:
            inverted = self._values[node] != value
            if self._equal(2 * node | inverted, literal):
                self._sums[node] = _flipped(total, inverted)
                self._carries.add(node)

    def _shape(self, value: int) -> int:
        return value ^ self._ones if value & 1 else value


def _flipped(p: Polynomial, inverted: bool | int) -> Polynomial:
    return plus({ONE: 1}, p, -1) if inverted else p


# Terms as polynomials of bits: sums, products, choices and sign extensions by arithmetic, other terms bit by bit.


#: The largest number of terms that a product of two polynomials may have.
_MOST = 50_000


class Number(NamedTuple):
    """An integer in ``least .. most`` with the value ``polynomial``; a word holds it modulo ``2**width``."""

    polynomial: Polynomial
    least: int
    most: int


def number_of(word: Word) -> Number:
    """Return the unsigned number that the bits ``word`` encode."""
    total: Polynomial = {}
    for place, bit in enumerate(word):
        total = plus(total, single(bit), 1 << place)
    return Number(total, 0, (1 << len(word)) - 1)


def meaning_of(root: Term, given: Mapping[Term, Number], bits: Callable[[Term], Word]) -> Number:
    """Return a number that ``root`` holds. ``given``: the numbers of variables. ``bits`` returns the bits of a term."""
    meaning = _Meaning(given, bits)
    for t in nodes(root):
        if t not in meaning.numbers:
            rule = getattr(meaning, f"_{t.op}", None)
            made = None if rule is None else rule(t)
            meaning.numbers[t] = number_of(bits(t)) if made is None else made
    return meaning.numbers[root]


class _Meaning:
    """One method per operation, named after it: returns the number of a term, or None if it must be read bit by bit."""

    def __init__(self, given: Mapping[Term, Number], bits: Callable[[Term], Word]) -> None:
        self.numbers = dict(given)
        self._bits = bits

    def _unsigned(self, t: Term) -> Number:
        """Return the bits of ``t`` as an unsigned number."""
        number = self.numbers[t]
        return number if number.least >= 0 and not number.most >> t.width else number_of(self._bits(t))

    def _signed(self, t: Term) -> Number:
        """Return the bits of ``t`` as a two's complement number."""
        number, half = self.numbers[t], 1 << (t.width - 1)
        if -half <= number.least and number.most < half:
            return number
        word = self._bits(t)
        return Number(plus(number_of(word).polynomial, single(word[-1]), -(1 << t.width)), -half, half - 1)

    def _const(self, t: Term) -> Number:
        return _constant(t.value)

    def _add(self, t: Term) -> Number:
        total = Number({}, 0, 0)
        for x in t.args:
            total = _sum(total, self.numbers[x], 1)
        whole = _sum(total, _constant(t.low), 1)
        if whole.most >> t.width:  # it may overflow: take the constant as negative
            whole = _sum(total, _constant(t.low - (1 << t.width)), 1)
        return whole

    def _neg(self, t: Term) -> Number:
        return _sum(Number({}, 0, 0), self.numbers[t.args[0]], -1)

    def _not(self, t: Term) -> Number:
        number = self.numbers[t.args[0]]
        fits = number.least >= 0 and not number.most >> t.width
        return _sum(_constant((1 << t.width) - 1 if fits else -1), number, -1)

    def _mul(self, t: Term) -> Number | None:
        a, b = (self.numbers[x] for x in t.args)
        if len(a.polynomial) * len(b.polynomial) > _MOST:
            return None
        corners = [x * y for x in (a.least, a.most) for y in (b.least, b.most)]
        return Number(times(a.polynomial, b.polynomial), min(corners), max(corners))

    def _sext(self, t: Term) -> Number:
        return self._signed(t.args[0])

    def _extract(self, t: Term) -> Number | None:
        return None if t.low else self.numbers[t.args[0]]

    def _concat(self, t: Term) -> Number:
        """Add the parts from the lowest on; copies of one bit that fill all high bits are a sign extension."""
        parts, place = t.args[::-1], 0
        total = Number({}, 0, 0)
        for number, part in enumerate(parts):
            rest = set(parts[number:])
            if part.width == 1 and part.op != "const" and len(rest) == 1 and number < len(parts) - 1:
                return _sum(total, self._unsigned(part), -(1 << place))
            value = self._unsigned(part) if number < len(parts) - 1 else self.numbers[part]
            total = _sum(total, value, 1 << place)
            place += part.width
        return total

    def _ite(self, t: Term) -> Number | None:
        c, a, b = t.args
        one, two = self.numbers[a], self.numbers[b]
        choice = self._unsigned(c).polynomial
        difference = plus(one.polynomial, two.polynomial, -1)
        if len(choice) * len(difference) > _MOST:
            return None
        polynomial = plus(two.polynomial, times(choice, difference))
        return Number(polynomial, min(one.least, two.least), max(one.most, two.most))


def _constant(value: int) -> Number:
    return Number({ONE: value} if value else {}, value, value)


def _sum(a: Number, b: Number, factor: int) -> Number:
    """Return ``a + factor * b``."""
    ends = factor * b.least, factor * b.most
    return Number(plus(a.polynomial, b.polynomial, factor), a.least + min(ends), a.most + max(ends))


# Integer polynomials over the nodes of a graph; the value of each node is 0 or 1.
#
# A *monomial* is a set of nodes, and stands for their product. Powers do not occur, since a node equals its square.
# The empty monomial is the number 1.


Monomial = frozenset[int]
Polynomial = dict[Monomial, int]

ONE: Monomial = frozenset()


def single(literal: int) -> Polynomial:
    """Return a literal as a polynomial: its node, or 1 minus its node."""
    node = literal >> 1
    if not node:
        return {ONE: 1} if literal else {}
    return {ONE: 1, frozenset((node,)): -1} if literal & 1 else {frozenset((node,)): 1}


def plus(p: Polynomial, q: Polynomial, factor: int = 1) -> Polynomial:
    """Return ``p + factor * q``."""
    total = dict(p)
    for monomial, coefficient in q.items():
        new = total.pop(monomial, 0) + factor * coefficient
        if new:
            total[monomial] = new
    return total


def times(p: Polynomial, q: Polynomial) -> Polynomial:
    """Return the product ``p * q``."""
    total: Polynomial = {}
    for a, m in p.items():
        for b, n in q.items():
            both = a | b
            total[both] = total.get(both, 0) + m * n
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}


# Prove that a polynomial is 0 modulo a power of two, for all inputs, by replacing its gates one after the other.
#
# Gates that are sums are replaced first, beginning with those farthest from the inputs, so that carries cancel out.
# Then each AND of two nodes is replaced by their product, beginning with those that give the fewest terms.


#: Number of terms per gate after which the proof is given up (two are usual); and the largest number of gates behind a
#: node that are searched for nodes that this node implies.
_WORK, _DEPTH = 32, 6


def vanishes(polynomial: Polynomial, gates: Gates, width: int) -> bool:
    """Return whether ``polynomial`` is proved to be 0 modulo ``2**width``; False also if this takes too much work."""
    rest = _Rest(gates, width)
    for monomial, coefficient in polynomial.items():
        rest.add(monomial, coefficient)
    return rest.reduced()


class _Rest:
    """What remains of a polynomial while its gates are replaced."""

    def __init__(self, gates: Gates, width: int) -> None:
        self._gates, self._modulus = gates, 1 << width
        self._terms: Polynomial = {}
        #: The monomials that contain each node.
        self._places: dict[int, set[Monomial]] = {}
        #: Nodes to be replaced by sums, and by products.
        self._sums: list[tuple[int, int]] = []
        self._products: list[tuple[int, int, int]] = []
        self._left = _WORK * len(gates.aig)

    def reduced(self) -> bool:
        """Replace gates until nothing or only inputs are left; return whether nothing is left."""
        while self._terms and self._left > 0:
            if self._sums:
                node = heappop(self._sums)[-1]
                replacement = self._gates.sum_of(node)
            elif self._products:
                node = heappop(self._products)[-1]
                replacement = {frozenset(self._gates.operands(node) or ()): 1}
            else:
                return False
            for monomial in tuple(self._places.get(node, ())):
                if self._left > 0:
                    self._replace(monomial, node, replacement or {})
        return not self._terms and self._left > 0

    def add(self, monomial: Monomial, coefficient: int) -> None:
        """Add a term."""
        self._left -= 1
        before = self._terms.pop(monomial, 0)
        after = (before + coefficient) % self._modulus
        if after:
            self._terms[monomial] = after
        if after and not before:
            for node in monomial:
                places = self._places.setdefault(node, set())
                if not places:
                    self._wait(node)
                places.add(monomial)
        elif before and not after:
            for node in monomial:
                self._places[node].discard(monomial)

    def _wait(self, node: int) -> None:
        rank = self._gates.rank(node)
        if self._gates.sum_of(node) is not None:
            heappush(self._sums, (-rank, node))
        elif (operands := self._gates.operands(node)) is not None:
            growth = 1
            for operand in operands:
                growth *= len(self._gates.sum_of(operand) or (1,))
            heappush(self._products, (growth, -rank, node))

    def _replace(self, monomial: Monomial, node: int, replacement: Polynomial) -> None:
        coefficient = self._terms[monomial]
        self.add(monomial, -coefficient)
        others = monomial - {node}
        for part, factor in replacement.items():
            whole = self._simplified(others | part)
            if whole is not None:
                self.add(whole, coefficient * factor)

    def _simplified(self, monomial: Monomial) -> Monomial | None:
        """Return ``monomial`` without nodes that others imply; None if two nodes exclude each other."""
        if len(monomial) < 2:
            return monomial
        low, high = self._gates.aig.low, self._gates.aig.high
        implied: set[int] = set()
        for node in monomial:
            waiting, seen = [node], 0
            while waiting and seen < _DEPTH:
                gate = waiting.pop()
                if low[gate] < 0:
                    continue
                seen += 1
                for literal in (low[gate], high[gate]):
                    if literal >> 1 in monomial:
                        if literal & 1:
                            return None
                        implied.add(literal >> 1)
                    elif not literal & 1:
                        waiting.append(literal >> 1)
        return monomial - implied if implied else monomial
