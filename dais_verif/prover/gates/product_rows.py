"""Find the order in which a netlist adds the rows of each product, so that both sides share more nodes.

Mappers reduce three rows to two words, repeatedly, in an order that follows from their internal names. The order is
found by values: the netlist either has nodes for the sum and the carry of three bits of a column, or not. No claim
rests on the order, since the sum of the rows does not depend on it. A wrong order only makes a proof slow, or fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from dais_verif.prover.gates.aig import FALSE, Aig
from dais_verif.prover.gates.bit_blasting import Word, blast
from dais_verif.prover.gates.miter import ProgramBits
from dais_verif.prover.gates.patterns import simulate, value_of
from dais_verif.prover.gates.products import Rows, product_columns
from dais_verif.prover.op_semantics import interpret_op
from dais_verif.prover.terms import Term, nodes, var
from dais_verif.spec.program import Op

__all__ = ["FoundRows", "rows_of_products"]

#: Number of patterns by which sums and carries are searched.
_PATTERNS = 512
#: Shares of sums and carries that are in the netlist. Wrong rows have less than ``_RIGHT``; an order with one row out
#: of place has less than ``_BEST``; below ``_WHOLE``, gates combine parts of several adders.
_RIGHT, _BEST, _WHOLE = 0.5, 0.75, 0.95


class FoundRows(NamedTuple):
    """An order of ``rows``, and the ``share`` of its sums and carries that are in the netlist."""

    share: float
    rows: Rows

    @property
    def merged(self) -> bool:
        """Whether gates of the netlist combine parts of several adders."""
        return self.share < _WHOLE


def rows_of_products(
    program_bits: ProgramBits, aig: Aig, results: Iterable[int], patterns: Sequence[int], count: int
) -> dict[int, FoundRows]:
    """Return, by op, the rows of each product for which the netlist contains most of the sums and carries.

    ``results``: literals of the netlist in ``aig``. ``patterns``: values of the inputs on ``count`` patterns.
    """
    products = dict(_products(program_bits))
    if not products:
        return {}
    count, ones = min(count, _PATTERNS), (1 << min(count, _PATTERNS)) - 1
    values = simulate(aig, [value & ones for value in patterns], count)
    known = {_shape(values[node], ones) for node in aig.behind(results)} - {0}
    found = {}
    for op, term in products.items():
        given = dict(zip(*_operands(program_bits, op), strict=True))
        rows = _rows(term, given, values, count, known)
        if rows.share >= _RIGHT:
            found[op.index] = rows
    return found


def _products(program_bits: ProgramBits) -> Iterable[tuple[Op, Term]]:
    """Yield the ops that multiply two words, each with its product term."""
    program = program_bits.program
    for op in program.ops:
        if len(op.operands) > 1:
            variables, _ = _operands(program_bits, op)
            value = interpret_op(program, op, variables, None).value
            yield from ((op, t) for t in nodes(value) if t.op == "mul")


def _operands(program_bits: ProgramBits, op: Op) -> tuple[list[Term], list[Word]]:
    """Return a variable for each operand, the same for equal operands, and the bits of each operand."""
    words = [program_bits.ops[index] for index in op.operands]
    return [var(len(word), f"op {index}") for index, word in zip(op.operands, words, strict=True)], words


def _rows(term: Term, given: Mapping[Term, Word], values: Sequence[int], count: int, known: Set[int]) -> FoundRows:
    """Return the rows of product ``term`` with the largest share of known sums and carries."""
    own, at, inputs = Aig(), {0: FALSE}, list[int]()
    for bit in sorted(bit for word in given.values() for bit in word):
        if bit >> 1 not in at:
            at[bit >> 1] = own.input()
            inputs.append(values[bit >> 1])
    words = {x: [at[bit >> 1] ^ bit & 1 for bit in word] for x, word in given.items()}
    a, b = blast(own, term.args, words)
    orders = []
    for turned in (False, True):
        columns = product_columns(own, a, b, turned=turned)
        made = simulate(own, inputs, count)
        seen = [{row: value_of(made, bit, count) for row, bit in column.items()} for column in columns]
        orders.append(_Orders(seen, known, (1 << count) - 1, turned))
    found = max((order.as_they_stand() for order in orders), key=_share)
    if found.share < _BEST:
        likely = [orders[found.rows.turned]] if found.share >= _RIGHT else orders
        found = max((order.searched() for order in likely), key=_share)
    return found


def _share(found: FoundRows) -> float:
    return found.share


class _Orders:
    """Orders of the rows of one product. ``columns``: the values of the bits of each column, by row."""

    def __init__(self, columns: Sequence[dict[int, int]], known: Set[int], ones: int, turned: bool) -> None:
        self._columns, self._known, self._ones, self._turned = columns, known, ones, turned

    def as_they_stand(self) -> FoundRows:
        """Return the rows in the order of their bits."""
        rows = Rows(self._turned)
        return FoundRows(self._share(rows), rows)

    def searched(self) -> FoundRows:
        """Return an order that cannot be improved by moving one row or three adjacent rows."""
        best = self.as_they_stand()
        order: tuple[int, ...] = tuple(sorted({row for column in self._columns for row in column}))
        moved = True
        while moved:
            moved = False
            for length in (1, 3):
                for other in _moved(order, length):
                    rows = Rows(self._turned, other)
                    share = self._share(rows)
                    if share > best.share:
                        best, order, moved = FoundRows(share, rows), other, True
                        break
        return best

    def _share(self, rows: Rows) -> float:
        """Return the share of known sums and carries, if three words become two, repeatedly, until two are left."""
        columns = [rows.sort(column) for column in self._columns]
        words = [
            [column[row] if row < len(column) else 0 for column in columns] for row in range(max(map(len, columns)))
        ]
        known, ones = self._known, self._ones
        hits = total = 0
        while len(words) > 2:
            fewer: list[list[int]] = []
            whole = len(words) - len(words) % 3
            for first in range(0, whole, 3):
                sums, carries = list[int](), [0]
                for x, y, z in zip(*words[first : first + 3], strict=True):
                    half = x ^ y
                    bit, carry = half ^ z, x & y | half & z
                    sums.append(bit)
                    carries.append(carry)
                    if carry:
                        total += 2
                        hits += (_shape(bit, ones) in known) + (_shape(carry, ones) in known)
                fewer += [sums, carries[:-1]]
            words = fewer + words[whole:]
        return hits / max(total, 1)


def _moved(order: tuple[int, ...], length: int) -> Iterator[tuple[int, ...]]:
    """Yield every order that results if ``length`` adjacent rows of ``order`` are moved to another place."""
    for first in range(len(order) - length + 1):
        part, others = order[first : first + length], order[:first] + order[first + length :]
        for place in range(len(others) + 1):
            if place != first:
                yield others[:place] + part + others[place:]


def _shape(value: int, ones: int) -> int:
    return value ^ ones if value & 1 else value
