"""Bit blasting: terms as AND gates and inverters.

A word is a list of literals, the least significant bit first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dais_verif.prover.gates.aig import FALSE, TRUE, Aig
from dais_verif.prover.gates.products import Rows, product_columns
from dais_verif.prover.terms import Term, nodes

__all__ = ["Word", "blast"]

Word = list[int]

_ROWS = Rows()


def blast(graph: Aig, roots: Sequence[Term], given: Mapping[Term, Word], rows: Rows = _ROWS) -> list[Word]:
    """Return the bits of ``roots``.

    ``given``: the bits of every variable and of every undefined term. ``rows``: the order in which rows of products
    are added.
    """
    blaster = _Blaster(graph, given, rows)
    for t in nodes(*roots):
        word = blaster.words.get(t)
        if word is None:
            word = blaster.words[t] = getattr(blaster, f"_{t.op}")(t, *(blaster.words[x] for x in t.args))
        if len(word) != t.width:
            raise AssertionError(f"{t.op}: {len(word)} bits of {t.width}")
    return [blaster.words[t] for t in roots]


def _number(width: int, value: int) -> Word:
    return [value >> bit & 1 for bit in range(width)]


def _inverted(word: Word) -> Word:
    return [bit ^ 1 for bit in word]


class _Blaster:
    """One method per operation, named after it."""

    def __init__(self, graph: Aig, given: Mapping[Term, Word], rows: Rows) -> None:
        self._graph, self._rows = graph, rows
        self.words: dict[Term, Word] = dict(given)

    def _const(self, t: Term) -> Word:
        return _number(t.width, t.value)

    # parts

    def _extract(self, t: Term, x: Word) -> Word:
        return x[t.low : t.low + t.width]

    def _concat(self, t: Term, *parts: Word) -> Word:
        return [bit for part in reversed(parts) for bit in part]

    def _sext(self, t: Term, x: Word) -> Word:
        return x + [x[-1]] * (t.width - len(x))

    # bit by bit

    def _and(self, t: Term, a: Word, b: Word) -> Word:
        return [self._graph.both(x, y) for x, y in zip(a, b, strict=True)]

    def _or(self, t: Term, a: Word, b: Word) -> Word:
        return [self._graph.either(x, y) for x, y in zip(a, b, strict=True)]

    def _xor(self, t: Term, a: Word, b: Word) -> Word:
        return [self._graph.differ(x, y) for x, y in zip(a, b, strict=True)]

    def _not(self, t: Term, x: Word) -> Word:
        return _inverted(x)

    def _ite(self, t: Term, c: Word, a: Word, b: Word) -> Word:
        return self._chosen(c[0], a, b)

    def _chosen(self, c: int, a: Word, b: Word) -> Word:
        return [self._graph.choice(c, x, y) for x, y in zip(a, b, strict=True)]

    # sums

    def _add(self, t: Term, *words: Word) -> Word:
        """Add; -x is NOT x plus 1, and that 1 is the carry into an adder, as in hardware."""
        addends, constant = [], t.low
        for x, word in zip(t.args, words, strict=True):
            addends.append(_inverted(self.words[x.args[0]]) if x.op == "neg" else word)
            constant += x.op == "neg"
        return self._total(addends, constant % (1 << t.width), t.width)

    def _neg(self, t: Term, x: Word) -> Word:
        return self._total([_inverted(x)], 1, t.width)

    def _total(self, addends: list[Word], constant: int, width: int) -> Word:
        ones = min(constant, len(addends) - 1) if constant < 1 << (width - 1) else 0
        if constant - ones:
            addends = [*addends, _number(width, constant - ones)] if constant != 1 else [*addends, [FALSE] * width]
            ones = 1 if constant == 1 else ones
        result = addends[0]
        for number, word in enumerate(addends[1:]):
            result = self._plus(result, word, int(number < ones))
        return result

    def _plus(self, a: Word, b: Word, carry: int) -> Word:
        result = []
        for x, y in zip(a, b, strict=True):
            bit, carry = self._graph.sum(x, y, carry)
            result.append(bit)
        return result

    # products and quotients

    def _mul(self, t: Term, a: Word, b: Word) -> Word:
        """Multiply: one row per bit of one factor, added as mappers do: three words become two until two are left."""
        found = product_columns(self._graph, a, b, turned=self._rows.turned)
        columns = [self._rows.sort(column) for column in found]
        rows = max(1, *map(len, columns))
        words = [[column[row] if row < len(column) else FALSE for column in columns] for row in range(rows)]
        return self._plus(*self._saved(words), FALSE)

    def _saved(self, words: list[Word]) -> tuple[Word, Word]:
        """Reduce ``words`` to two words with the same sum, by carry-save addition."""
        while len(words) > 2:
            fewer: list[Word] = []
            whole = len(words) - len(words) % 3
            for first in range(0, whole, 3):
                sums = [self._graph.sum(x, y, z) for x, y, z in zip(*words[first : first + 3], strict=True)]
                fewer += [[bit for bit, _ in sums], [FALSE, *(carry for _, carry in sums[:-1])]]
            words = fewer + words[whole:]
        return words[0], words[1] if len(words) > 1 else [FALSE] * len(words[0])

    def _divided(self, a: Word, b: Word) -> tuple[Word, Word]:
        """Return quotient and remainder of unsigned words; all ones and ``a`` where ``b`` is 0."""
        rest: Word = [FALSE] * len(a)
        quotient: Word = []
        for bit in reversed(a):
            rest = [bit, *rest]
            fits = self._less(rest, [*b, FALSE]) ^ 1
            less = self._plus(rest, _inverted([*b, FALSE]), TRUE)
            rest = self._chosen(fits, less, rest)[:-1]
            quotient.append(fits)
        return quotient[::-1], rest

    def _udiv(self, t: Term, a: Word, b: Word) -> Word:
        return self._divided(a, b)[0]

    def _urem(self, t: Term, a: Word, b: Word) -> Word:
        return self._divided(a, b)[1]

    # shifts by words

    def _shifted(self, a: Word, b: Word, fill: int, left: bool) -> Word:
        width = len(a)
        for place, bit in enumerate(b):
            n = min(1 << place, width)
            moved = [fill] * n + a[: width - n] if left else a[n:] + [fill] * n
            a = self._chosen(bit, moved, a)
        return a

    def _shl(self, t: Term, a: Word, b: Word) -> Word:
        return self._shifted(a, b, FALSE, True)

    def _lshr(self, t: Term, a: Word, b: Word) -> Word:
        return self._shifted(a, b, FALSE, False)

    def _ashr(self, t: Term, a: Word, b: Word) -> Word:
        return self._shifted(a, b, a[-1], False)

    # comparisons

    def _eq(self, t: Term, a: Word, b: Word) -> Word:
        return [self._graph.all([self._graph.differ(x, y) ^ 1 for x, y in zip(a, b, strict=True)])]

    def _less(self, a: Word, b: Word) -> int:
        """Make ``a < b``, unsigned: no carry comes out of ``a - b``."""
        carry = TRUE
        for x, y in zip(a, b, strict=True):
            _, carry = self._graph.sum(x, y ^ 1, carry)
        return carry ^ 1

    def _ult(self, t: Term, a: Word, b: Word) -> Word:
        return [self._less(a, b)]

    def _slt(self, t: Term, a: Word, b: Word) -> Word:
        return [self._less([*a[:-1], a[-1] ^ 1], [*b[:-1], b[-1] ^ 1])]

    # tables

    def _lookup(self, t: Term, index: Word) -> Word:
        """Make a multiplexer tree over the bits of the index, the lowest bit first; 0 beyond the end of the table."""
        columns = list(zip(*(_number(t.width, entry) for entry in t.entries), strict=True))
        return [self._entry(index, column) for column in columns] if columns else [FALSE] * t.width

    def _entry(self, index: Word, column: Sequence[int]) -> int:
        for place, bit in enumerate(index):
            if len(column) == 1:
                return self._graph.both(column[0], self._graph.all(_inverted(index[place:])))
            if len(column) % 2:
                column = [*column, FALSE]
            column = [self._graph.choice(bit, b, a) for a, b in zip(column[::2], column[1::2], strict=True)]
        return column[0]
