"""Program and netlist as bits of one graph: the signals of the netlist, and the semantics of the program's ops."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from dais_verif.base.errors import ProofError
from dais_verif.prover.boundary import Boundary
from dais_verif.prover.four_state import leaf, parts
from dais_verif.prover.gates.aig import FALSE, TRUE, Aig
from dais_verif.prover.gates.bit_blasting import Word, blast
from dais_verif.prover.gates.products import Rows
from dais_verif.prover.lemmas import Assumptions
from dais_verif.prover.netlist import Driver, Netlist, Read, Signal
from dais_verif.prover.op_semantics import interpret_op, interpret_output
from dais_verif.prover.terms import Term, is_open, leaves, var
from dais_verif.spec.program import Program
from dais_verif.spec.program.opcodes import INPUT

__all__ = ["Miter", "ProgramBits"]

_EVERY = 1000


@dataclass(frozen=True)
class ProgramBits:
    """A program as literals of a graph: the bits of inputs, ops and outputs.

    ``kept``: one literal per op with a promise, which is 1 where the op keeps its promise. ``assumptions``: literals
    that are 1 where inputs lie in their declared intervals. ``first``: the first node that each op made. ``end``: the
    first node after all ops.
    """

    program: Program
    inputs: list[Word]
    ops: list[Word]
    outputs: list[Word]
    kept: list[int]
    assumptions: list[int]
    first: list[int]
    end: int

    @classmethod
    def of(
        cls,
        program: Program,
        boundary: Boundary,
        assumptions: Assumptions,
        aig: Aig,
        fixed: Mapping[tuple[int, int], int | tuple[int, int]],
        rows: Mapping[int, Rows] = MappingProxyType({}),
    ) -> ProgramBits:
        """Return the bits of ``program`` over new inputs of ``aig``.

        ``fixed``: for (input, bit): the constant, or the other (input, bit), that this bit equals. ``rows``: the order
        in which rows of products are added, for ops where it is not the default.
        """
        inputs = [[aig.input() for _ in range(element.width)] for element in boundary.inputs]
        for (number, place), bit in fixed.items():
            same = inputs[bit[0]][bit[1]] if isinstance(bit, tuple) else None
            inputs[number][place] = (TRUE if bit else FALSE) if same is None else same
        ops: list[Word] = []
        kept, first = [], []
        for op in program.ops:
            first.append(len(aig))
            element = boundary.inputs[op.id0] if op.code == INPUT else None
            if element is not None:
                operands = [inputs[op.id0]] if element.width else []
            else:
                operands = [ops[i] for i in op.operands]
            variables = _variables(operands)
            semantics = interpret_op(program, op, variables, element)
            given = dict(zip(variables, operands, strict=True))
            value, promise = blast(aig, [semantics.value, semantics.kept], given, rows.get(op.index, Rows()))
            ops.append(value)
            if op.spec.promise:
                kept += promise
        outputs = []
        for j, (index, _, negated) in enumerate(program.outputs):
            word = [FALSE]
            if boundary.own[j].width:
                (variable,) = _variables([ops[index]])
                term = interpret_output(program.ops[index].type, variable, negated)
                (word,) = blast(aig, [term], {variable: ops[index]})
            outputs.append(word)
        bounds = []
        for number, word in enumerate(inputs):
            if word:
                variables = _variables([word])
                terms = assumptions.of_input(number, variables[0])
                bounds += [bit for (bit,) in blast(aig, terms, {variables[0]: word})]
        return cls(program, inputs, ops, outputs, kept, bounds, first, len(aig))

    def words(self, node: int) -> Iterable[int]:
        """Return the nodes of the operands of the op that made ``node``; nothing if no op made ``node``."""
        index = bisect_right(self.first, node) - 1
        if index < 0 or node >= self.end:
            return ()
        return {bit >> 1 for operand in self.program.ops[index].operands for bit in self.ops[operand]}


def _variables(words: list[Word]) -> list[Term]:
    return [var(len(word), f"v{number}") for number, word in enumerate(words)]


class Miter:
    """Signals of ``netlist`` as literals of ``aig``.

    ``inputs``: the bits of the program's inputs, which ``boundary`` maps to ports. Registers are treated as wires: see
    ``registers.latency``.
    """

    def __init__(
        self, netlist: Netlist, boundary: Boundary, aig: Aig, inputs: list[Word], tell: Callable[[int], None]
    ) -> None:
        self._netlist, self._boundary, self._aig, self._tell = netlist, boundary, aig, tell
        self._inputs = {var(len(word), f"input {number}"): word for number, word in enumerate(inputs) if word}
        self._elements = [var(max(len(word), 1), f"input {number}") for number, word in enumerate(inputs)]
        self._pieces: dict[Signal, list[_Piece]] = {}
        self._made = 0

    def results(self, number: int, wanted: Word) -> tuple[Word, Word]:
        """Return the bits of output ``number`` in netlist and program, aligned: equal exactly if the numbers are equal.

        ``wanted``: the bits of the program's output.
        """
        given = dict(zip(_variables([wanted]), [wanted], strict=True))
        (term,) = given

        def read(signal: Signal, low: int, width: int) -> Term:
            bits = var(width, f"{signal.name} {low}")
            given[bits] = self.bits(signal, low, width)
            return bits

        found = self._boundary.result(number, read)
        a, b = blast(self._aig, self._boundary.as_numbers(number, found, term), given)
        return a, b

    def bits(self, signal: Signal, low: int, width: int) -> Word:
        """Return bits ``low .. low + width - 1`` of ``signal``; bits that may be X become new inputs, on each call.

        Raises ``InputError`` for loops.
        """
        self._make(self._pieces_of(signal, low, width))
        word, unknown = self._gathered(signal, low, width)
        graph = self._aig
        return [graph.choice(u, graph.input(), bit) if u else bit for bit, u in zip(word, unknown, strict=True)]

    def _make(self, waiting: list[_Piece]) -> None:
        """Make the pieces ``waiting`` and all pieces behind them; without recursion, since chains are long."""
        while waiting:
            piece = waiting[-1]
            if piece.word is not None or piece.split:
                waiting.pop()
                continue
            missing = [p for place in piece.places for p in self._pieces_of(*place) if p.word is None]
            open_ones = [p for p in missing if p.open]
            if open_ones:
                self._untangle(piece, open_ones)
            elif missing:
                piece.open = True
                waiting += missing
            else:
                piece.word, piece.unknown = self._words(piece)
                self._made += 1
                if self._made % _EVERY == 0:
                    self._tell(self._made)

    def _words(self, piece: _Piece) -> tuple[Word, Word]:
        """Return the bits of ``piece``, and for each bit a literal that is 1 where the bit is undefined."""
        found = {place: self._gathered(*place) for place in piece.places}
        given = {term: found[place][0] for place, term in piece.places.items()}
        undefined = {place: unknown for place, (_, unknown) in found.items() if any(unknown)}
        if not undefined and not is_open(piece.term):
            (word,) = blast(self._aig, [piece.term], given)
            return word, [FALSE] * len(word)
        term, variables = piece.with_undefined(undefined)
        given |= {variable: undefined[place] for place, variable in variables.items()}
        value, unknown, _ = parts(term)
        word, mask = blast(self._aig, [value, unknown], given)
        return word, mask

    def _untangle(self, piece: _Piece, others: list[_Piece]) -> None:
        """Split a piece of a loop into bits, which may form no loop. Raises ``InputError`` if no piece can be split."""
        for one in (piece, *others):
            bits = one.bits()
            if bits:
                one.split = True
                self._pieces[one.signal].remove(one)
                self._pieces[one.signal] += bits
                return
        raise ProofError(f"{piece.signal.where}: signal {piece.signal.name!r} depends on itself; break the loop")

    def _pieces_of(self, signal: Signal, low: int, width: int) -> list[_Piece]:
        if self._boundary.is_input(signal) or signal in self._boundary.others:
            return []
        pieces = self._pieces.get(signal)
        if pieces is None:
            pieces = self._pieces[signal] = [_Piece(signal, driver) for driver in signal.drivers]
        return [p for p in pieces if p.low < low + width and low < p.low + p.term.width]

    def _gathered(self, signal: Signal, low: int, width: int) -> tuple[Word, Word]:
        """Return bits of ``signal``, and for each bit a literal that is 1 where the bit is undefined, e.g. undriven."""
        given = self._boundary.given(signal, low, width, self._elements.__getitem__)
        if given is not None:
            return _free(self._aig, given, self._inputs), [FALSE] * width
        bits, unknown = [FALSE] * width, [TRUE] * width
        for piece in self._pieces_of(signal, low, width):
            for place, bit in enumerate(piece.word or (), piece.low - low):
                if 0 <= place < width:
                    bits[place], unknown[place] = bit, piece.unknown[place + low - piece.low]
        return bits, unknown


#: Some bits of a signal: the signal, the lowest bit, and the number of bits.
_Place = tuple[Signal, int, int]


class _Piece:
    """The bits of ``signal`` from ``low`` on that a driver drives.

    ``term``: the value of the piece over the bits that it reads; the same term for all cells of one kind. ``places``:
    the variable for each place that the piece reads. ``open``: it waits for other pieces. ``split``: it was replaced by
    pieces of one bit.
    """

    def __init__(self, signal: Signal, driver: Driver, bit: int | None = None) -> None:
        """``bit``: a bit of ``driver``; None: all its bits."""
        self.signal, self._driver = signal, driver
        self.low = driver.low + (bit or 0)
        self.places: dict[_Place, Term] = {}
        self._bit = bit
        self.term = self._made(self._read)
        self.word: Word | None = None
        self.unknown: Word = []
        self.open = self.split = False

    def _made(self, read: Read) -> Term:
        if self._bit is None or self._driver.part is None:
            return self._driver.make(read)
        return self._driver.part(read, self._bit, 1)

    def with_undefined(self, places: Iterable[_Place]) -> tuple[Term, dict[_Place, Term]]:
        """Return the term for possibly undefined bits of ``places``, and the variables that mark undefined bits."""
        variables: dict[_Place, Term] = {}

        def read(source: Signal, low: int, width: int) -> Term:
            place = (source, low, width)
            plain = self._read(*place)
            if place not in places:
                return plain
            term, _, variables[place] = leaf(width, str(plain.data))
            return term

        return self._made(read), variables

    def _read(self, source: Signal, low: int, width: int) -> Term:
        return self.places.setdefault((source, low, width), var(width, f"v{len(self.places)}"))

    def bits(self) -> list[_Piece]:
        """Return one piece per bit, each of which reads only what its bit needs; empty if the piece cannot be split."""
        if self.term.width == 1 or self._driver.part is None:
            return []
        return [_Piece(self.signal, self._driver, bit) for bit in range(self._driver.width)]


def _free(aig: Aig, term: Term, given: dict[Term, Word]) -> Word:
    """Return the bits of ``term``; leaves that are not ``given`` become new inputs."""
    unknown = {leaf: [aig.input() for _ in range(leaf.width)] for leaf in leaves(term) if leaf not in given}
    (word,) = blast(aig, [term], {**given, **unknown})
    return word
