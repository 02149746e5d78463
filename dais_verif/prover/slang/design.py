"""State of the front end while it walks a design: symbols, memories, source locations."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dais_verif.base.errors import UnsupportedVerilog
from dais_verif.prover.bit_spans import Spans
from dais_verif.prover.clocked.registers.clock_gating import Latch
from dais_verif.prover.limits import require_time
from dais_verif.prover.memory import Memory
from dais_verif.prover.netlist import NoValue, Read, Signal, Signals
from dais_verif.prover.slang.doubts import Doubts
from dais_verif.prover.slang.kinds import TYPES, VALUES
from dais_verif.prover.slang.kinds.decision import ast
from dais_verif.prover.slang.piecewise import Marks
from dais_verif.prover.terms import Term, concat, undefined

if TYPE_CHECKING:
    from dais_verif.prover.slang.expressions import Converter

__all__ = ["Call", "SlangDesign", "ast", "bits_in", "fields", "why_no_bits"]

#: A function that returns the value of a call within an expression.
Call = Callable[["Converter", Any], Term]

#: Maximum number of loop iterations and function calls within one block.
_MOST_TURNS = 1 << 18

#: Maximum total number of elements among which assignments with a variable index choose.
_MOST_CHOICES = 1 << 18

_VARIABLES = (ast.SymbolKind.Variable, ast.SymbolKind.FormalArgument)


def bits_in(kind: Any) -> int | None:
    """Return the width of a type that is a vector, or an array or a structure of vectors; None for any other type."""
    if kind.isIntegral:
        return None if kind.isTaggedUnion else int(kind.bitWidth)
    if kind.isUnpackedStruct:  # members with initial values are not supported
        whole = all(bits_in(x.type) and x.initializer is None for x in fields(kind))
        return int(kind.bitstreamWidth) if whole else None
    if kind.isUnpackedArray and kind.hasFixedRange and bits_in(kind.arrayElementType):
        return int(kind.bitstreamWidth)
    return None


def why_no_bits(kind: Any) -> str:
    """Return a message about a type for which ``bits_in`` returns None."""
    kind = kind.canonicalType
    while kind.isUnpackedArray and kind.hasFixedRange:
        kind = kind.arrayElementType.canonicalType
    if kind.isUnpackedStruct:
        return (
            "an unpacked structure is supported if its members are vectors or arrays of vectors, without initial values"
        )
    if kind.isTaggedUnion:
        return VALUES.message(ast.ExpressionKind.TaggedUnion)
    return TYPES.message(kind.kind)


def fields(kind: Any) -> list[Any]:
    """Return the members of a structure in order; the first one is in the highest bits."""
    return [x for x in kind.canonicalType if x.kind is ast.SymbolKind.Field]


class SlangDesign:
    """The elaborated design: signals and memories by pyslang symbol. Symbols are valid as long as ``keep`` exists."""

    def __init__(self, manager: Any, files: Mapping[str, Path], call: Call, bitwise: bool = False) -> None:
        #: Returns the value of a call. It is passed in, since ``expressions`` cannot import ``functions``.
        self.call = call
        self.signals: dict[Any, Signal] = {}
        #: Makes signals with unique names.
        self.new = Signals().new
        #: For signals that are arrays or unpacked structures, the signal of each element.
        self.elements: dict[Any, Spans[Signal]] = {}
        self.memories: dict[Any, Memory] = {}
        #: The total number of elements of all arrays, and of the arrays whose elements are signals.
        self.elements_declared = self.elements_bundled = 0
        #: Module variables that count loop iterations in clocked blocks, each with the location where it counts.
        self.counters: dict[Any, str] = {}
        #: The latches of clock gates.
        self.latches: dict[Signal, Latch] = {}
        #: The initial values of variables, as expressions.
        self.initial: dict[Any, Any] = {}
        self.keep: list[Any] = [manager]
        self._manager = manager
        #: Data files, by the names that the RTL uses.
        self.files = files
        self.types: dict[Any, tuple[int, bool]] = {}
        #: For each concatenation that was read in part, its operands by the bits that they occupy.
        self.concatenations: dict[Any, Spans[Any]] = {}
        #: Subroutines of which it is known that no call shares variables with a call that still runs.
        self.entered: set[Any] = set()
        #: The depth of nested function calls.
        self.calls = 0
        #: The number of loop iterations and function calls so far in the block that is being executed.
        self._turns = 0
        self._choices = 0
        #: Whether the design is a netlist of cells.
        self.bitwise = bitwise
        #: Whether any block has been executed, which makes terms.
        self.executed = False
        #: The inputs of the top module, which are defined.
        self.given: set[Signal] = set()
        #: Whether anything may be undefined; this is known only when all drivers are known.
        self.undefined = False
        self._unknown: dict[tuple[str, int], int] = {}
        #: The conditions of branches, and the comparisons, that were met.
        self.conditions: dict[Term, None] = {}
        #: Other readings of operators, if the design is read with them.
        self.doubts: Doubts | None = None
        #: Assertions that the proof leaves out, in the order of the source text.
        self.left_out: dict[str, None] = {}

    def suspect(self, undefined: bool) -> bool:
        """Set whether anything may be undefined; return the previous setting."""
        before, self.undefined = self.undefined, undefined
        return before

    def unknown(self, width: int, e: Any) -> Term:
        """Return an undefined value for the literal Z ``e``, which netlists connect to inputs that do not matter.

        Raises ``NoValue`` in RTL.
        """
        if not self.bitwise:
            raise NoValue(self.where(e.sourceRange.start))
        return self.undecided(width, e)

    def undecided(self, width: int, e: Any) -> Term:
        """Return an undefined value for the literal X ``e``; the same one at each use of this literal."""
        where = self.where(e.sourceRange.start)
        number = self._unknown.setdefault((where, e.sourceRange.start.offset), len(self._unknown) + 1)
        return undefined(width, f"X {number} at {where}")

    def part(self, read: Read, symbol: Any, low: int, width: int) -> Term:
        """Return bits ``low .. low + width - 1`` of ``symbol``; the bits of an array are read from its elements."""
        signal = self.signals.get(symbol) or self.signal(symbol)
        elements = self.elements.get(symbol) if self.elements else None
        if elements is None:
            return read(signal, low, width)
        parts = [read(element, at, last - first) for first, last, at, element in elements.within(low, width)]
        return concat(*reversed(parts))

    def over(self, symbol: Any, leaf: Callable[[Signal], Term], where: str) -> Term:
        """Return the value of ``symbol`` as a term over variables; ``leaf`` returns the variable for a signal."""
        signal, elements = self.signal(symbol, where), self.elements.get(symbol)
        return leaf(signal) if elements is None else concat(*map(leaf, reversed(elements.owners)))

    def pieces(self, symbol: Any, marks: Marks) -> Iterator[tuple[int, int]]:
        """Yield the bits of ``marks`` as maximal pieces (low bit, width) that lie within one element."""
        elements = self.elements.get(symbol)
        for low, width in marks.runs():
            if elements is None:
                yield low, width
            else:
                yield from ((p.first, p.last - p.first) for p in elements.within(low, width))

    def begin(self) -> None:
        """Start counting loop iterations and calls for a block or an expression."""
        self._turns = 0

    @contextmanager
    def counted_alone(self) -> Iterator[None]:
        """Count iterations and calls of an expression separately from those before it."""
        before, self._turns = self._turns, 0
        try:
            yield
        finally:
            self._turns = before

    @contextmanager
    def once_more(self) -> Iterator[None]:
        """Execute a block once more without counting its work again."""
        before = self._turns, self._choices
        self._turns = self._choices = 0
        try:
            yield
        finally:
            self._turns, self._choices = before

    def turn(self, e: Any) -> None:
        """Count one loop iteration or call. Raises ``InputError`` if there are too many."""
        self._turns += 1
        require_time()
        if self._turns > _MOST_TURNS:
            where = self.where(e.sourceRange.start)
            raise UnsupportedVerilog(
                f"{where}: loops and calls run more than {_MOST_TURNS:,} times in total; reduce them"
            )

    def choose_among(self, elements: int, e: Any) -> None:
        """Count an assignment to one of ``elements`` elements. Raises ``InputError`` if there are too many in total."""
        self._choices += elements
        if self._choices > _MOST_CHOICES:
            where = self.where(e.sourceRange.start)
            raise UnsupportedVerilog(
                f"{where}: assignments to variable indices choose among more than {_MOST_CHOICES:,} elements in total,"
                " which the proof does not support; write one decoder per signal, or use smaller vectors"
            )

    def is_local(self, symbol: Any) -> bool:
        """Return whether ``symbol`` is a variable of a block or a function."""
        return symbol.kind in _VARIABLES and bool(symbol.parentScope.isProceduralContext)

    def signal(self, symbol: Any, where: str | None = None) -> Signal:
        """Return the signal of ``symbol``. Raises ``InputError`` if it has none."""
        found = self.signals.get(symbol)
        if found is None and symbol in self.memories:
            raise UnsupportedVerilog(
                f"{where or self.where(symbol.location)}: {symbol.name!r} is a large array, and something other than an"
                " initial block drives it; the proof supports arrays of up to 262,144 elements and 4,194,304 bits,"
                " and 1,048,576 elements in total"
            )
        if found is None:
            raise UnsupportedVerilog(
                f"{where or self.where(symbol.location)}: {symbol.name!r} is not a signal of the"
                " design, or not assigned before it is read; the proof cannot use it"
            )
        return found

    def where(self, location: Any) -> str:
        """Return the file and line of a location."""
        name = self._manager.getFileName(location)
        return f"{_relative(name, os.getcwd()) if name else '?'}:{self._manager.getLineNumber(location)}"


@cache
def _relative(name: str, folder: str) -> str:
    return os.path.relpath(name, folder)
