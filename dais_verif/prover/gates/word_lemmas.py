"""Lemmas about products in a netlist: if the netlist has the words that an op reads, it also has the word of the op.

A product, or a sum of products that a mapper merged into one adder tree, is searched in the netlist by its values on
patterns, and so are its operands. The netlist between operands and result is a circuit whose bits must add up to the
number that the ops compute. This is an equality of polynomials, and does not depend on the structure of either side.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from dais_verif.prover.gates.aig import FALSE, Aig
from dais_verif.prover.gates.algebra import Number, holds, meaning_of, number_of
from dais_verif.prover.gates.bit_blasting import Word, blast
from dais_verif.prover.gates.miter import ProgramBits
from dais_verif.prover.gates.patterns import mixed, simulate, value_of
from dais_verif.prover.op_semantics import interpret_op
from dais_verif.prover.terms import Term, extract, nodes, var
from dais_verif.spec.program import Op

__all__ = ["WordLemma", "word_lemmas"]

#: Number of patterns by which words are found, in addition to the given patterns.
_MORE = 4096

#: A function that returns the literal of the netlist with the same values as a given literal; None if there is none.
_Likely = Callable[[int], int | None]


class WordLemma(NamedTuple):
    """A node equals ``literal`` for all inputs for which the two literals of each pair of ``given`` are equal."""

    literal: int
    given: tuple[tuple[int, int], ...]


def word_lemmas(
    program_bits: ProgramBits,
    aig: Aig,
    results: Iterable[int],
    patterns: Sequence[int],
    count: int,
    seed: int,
    without: Set[int] = frozenset(),
) -> dict[int, WordLemma]:
    """Return, by node, lemmas about nodes behind ``results``, the literals of the netlist's outputs.

    ``patterns``: values of the inputs on ``count`` patterns, which include corners. ``without``: products that are
    skipped.
    """
    values: dict[int, Term] = {}
    for op in program_bits.program.ops:
        if len(op.operands) > 1:
            values[op.index] = _value(program_bits, op)
    products = {index for index, value in values.items() if any(t.op == "mul" for t in nodes(value))}
    if products <= without:
        return {}
    rng = random.Random(seed)
    more = [value | mixed(rng, _MORE) << count for value in patterns]
    return _Search(program_bits, aig, results, more, count + _MORE, seed, products - without).lemmas()


def _value(program_bits: ProgramBits, op: Op) -> Term:
    return interpret_op(program_bits.program, op, _operands(program_bits, op), None).value


def _operands(program_bits: ProgramBits, op: Op) -> list[Term]:
    """Return a variable for each operand, the same for equal operands."""
    return [var(len(program_bits.ops[index]), f"op {index}") for index in op.operands]


class _Search:
    def __init__(
        self,
        program_bits: ProgramBits,
        aig: Aig,
        results: Iterable[int],
        patterns: Sequence[int],
        count: int,
        seed: int,
        products: set[int],
    ) -> None:
        self._program_bits, self._aig, self._seed, self._products = program_bits, aig, seed, products
        self._ones, self._count = (1 << count) - 1, count
        self._values = simulate(aig, patterns, count)
        #: The node of the netlist for given values, up to complement. XORs come first: a node behind an XOR may have
        #: the same values, but is not the sum.
        self._first = {0: 0}
        cone = sorted(aig.behind(results))
        for node in [*(node for node in cone if aig.exclusive(node)), *cone]:
            self._first.setdefault(self._shape(self._values[node]), node)

    def lemmas(self) -> dict[int, WordLemma]:
        """Search, in SSA order, products and sums of products that are not found individually; return lemmas."""
        found: dict[int, WordLemma] = {}
        #: Ops that the netlist does not contain: circuits include their semantics instead of a word.
        absent: set[int] = set()
        for op in self._program_bits.program.ops:
            if op.index not in self._products and not absent.intersection(op.operands):
                continue
            word = [self._likely(bit) for bit in self._program_bits.ops[op.index]]
            if 2 * sum(bit is None for bit in word) > len(word):  # low bits of a sum may be found by chance
                absent.add(op.index)
                continue
            circuit = _Circuit(self._program_bits, self._aig, self._likely, absent)
            proved = circuit.proved(op, word, self._seed)
            given = tuple(circuit.given)
            for place in proved:
                wanted, likely = self._program_bits.ops[op.index][place], word[place]
                if likely is not None and likely >> 1 and likely >> 1 != wanted >> 1:
                    found[likely >> 1] = WordLemma(wanted ^ likely & 1, given)
        return found

    def _likely(self, literal: int) -> int | None:
        """Return the literal of the netlist that has the values of ``literal``; None if there is none."""
        value = value_of(self._values, literal, self._count)
        node = self._first.get(self._shape(value))
        return None if node is None else 2 * node | (self._values[node] != value)

    def _shape(self, value: int) -> int:
        return value ^ self._ones if value & 1 else value


class _Circuit:
    """The netlist between the bits of an op and the bits of its operands, which are inputs of this circuit.

    ``given``: pairs of literals of the netlist and the program that are assumed to be equal.
    """

    def __init__(self, program_bits: ProgramBits, aig: Aig, likely: _Likely, absent: set[int]) -> None:
        self._program_bits, self._aig, self._likely, self._absent = program_bits, aig, likely, absent
        self._own = Aig()
        self._at = {0: FALSE}
        self._words: dict[int, Word] = {}
        self._numbers: dict[int, Number] = {}
        self.given: dict[tuple[int, int], None] = {}

    def proved(self, op: Op, word: Sequence[int | None], seed: int) -> range:
        """Return the places of ``word`` at which the netlist is proved to have the op's bits."""
        value = self._read(op)
        base, low = (value.args[0], value.low) if value.op == "extract" else (value, 0)
        first = next(place for place, bit in enumerate(word) if bit is not None)
        end = next((place for place in range(first, len(word)) if word[place] is None), len(word))
        number = self._number(base, op)
        bits = self._bits(extract(base, 0, low + first), op) if low + first else []
        bits += [self._copied(bit) for bit in word[first:end] if bit is not None]
        proved = holds(self._own, bits, number.polynomial, seed)
        return range(first, end if proved else first)

    def _read(self, op: Op) -> Term:
        """Return the term of the op over its operands, after the words and numbers of these have been made."""
        for index in op.operands:
            if index in self._numbers:
                continue
            if index in self._absent:
                other = self._program_bits.program.ops[index]
                value = self._read(other)
                self._numbers[index] = self._number(value, other)
                self._words[index] = self._bits(value, other)
            else:
                self._words[index] = [self._input(bit) for bit in self._program_bits.ops[index]]
                self._numbers[index] = number_of(self._words[index])
        return _value(self._program_bits, op)

    def _given(self, op: Op) -> Iterable[tuple[Term, int]]:
        return zip(_operands(self._program_bits, op), op.operands, strict=True)

    def _number(self, t: Term, op: Op) -> Number:
        given: Mapping[Term, Number] = {x: self._numbers[index] for x, index in self._given(op)}
        return meaning_of(t, given, lambda part: self._bits(part, op))

    def _bits(self, t: Term, op: Op) -> Word:
        return blast(self._own, [t], {x: self._words[index] for x, index in self._given(op)})[0]

    def _input(self, bit: int) -> int:
        """Return an input for a bit of an operand, which stands for the bit on both sides."""
        likely = self._likely(bit)
        if likely is not None and likely != bit:
            self.given[likely, bit] = None
        other = bit if likely is None else likely
        own = self._at.get(other >> 1)
        if own is None:
            own = self._at[other >> 1] = self._own.input()
        return own ^ other & 1

    def _copied(self, literal: int) -> int:
        """Return the literal of this circuit for a literal of the netlist."""
        aig, at = self._aig, self._at
        waiting = [literal >> 1]
        while waiting:
            node = waiting[-1]
            low, high = aig.low[node], aig.high[node]
            if node in at:
                waiting.pop()
            elif low < 0:
                at[node] = self._own.input()
            elif low >> 1 in at and high >> 1 in at:
                at[node] = self._own.both(at[low >> 1] ^ low & 1, at[high >> 1] ^ high & 1)
            else:
                waiting += [low >> 1, high >> 1]
        return at[literal >> 1] ^ literal & 1
