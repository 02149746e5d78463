"""What the front end knows of a design while it walks it: symbols, memories, places in files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dais_verif.errors import InputError
from dais_verif.prover.memory import Memory
from dais_verif.prover.netlist import NoValue, Read, Signal, Signals
from dais_verif.prover.registers.clock_gating import Latch
from dais_verif.prover.slang.kinds import TYPES, VALUES
from dais_verif.prover.slang.kinds.names import ast
from dais_verif.prover.slang.pieces import Marks
from dais_verif.prover.spans import Spans
from dais_verif.prover.terms import Term, concat, undefined

if TYPE_CHECKING:
    from dais_verif.prover.slang.expressions import Converter

__all__ = ["Call", "SlangDesign", "ast", "bits_in", "fields", "why_no_bits"]

#: Gives the value of a call within an expression.
Call = Callable[["Converter", Any], Term]

#: Turns of loops and calls of functions within one block, at most.
_MOST_TURNS = 1 << 18

#: Elements that assignments at variable places look at, each all of those it may mean, at most.
_MOST_CHOICES = 1 << 18

_VARIABLES = (ast.SymbolKind.Variable, ast.SymbolKind.FormalArgument)


def bits_in(kind: Any) -> int | None:
    """Bits of a type that is a vector, or an array or a structure of such; None for any other."""
    if kind.isIntegral:
        return None if kind.isTaggedUnion else int(kind.bitWidth)
    if kind.isUnpackedStruct:  # members with first values of their own are not known
        whole = all(bits_in(x.type) and x.initializer is None for x in fields(kind))
        return int(kind.bitstreamWidth) if whole else None
    if kind.isUnpackedArray and kind.hasFixedRange and bits_in(kind.arrayElementType):
        return int(kind.bitstreamWidth)
    return None


def why_no_bits(kind: Any) -> str:
    """Why ``bits_in`` has no answer for a type."""
    kind = kind.canonicalType
    while kind.isUnpackedArray and kind.hasFixedRange:
        kind = kind.arrayElementType.canonicalType
    if kind.isUnpackedStruct:
        return "an unpacked structure is supported if its members are vectors or arrays of such, without first values"
    if kind.isTaggedUnion:
        return VALUES.message(ast.ExpressionKind.TaggedUnion)
    return TYPES.message(kind.kind)


def fields(kind: Any) -> list[Any]:
    """Return the members of a structure, the first one, which is in the highest bits, first."""
    return [x for x in kind.canonicalType if x.kind is ast.SymbolKind.Field]


class SlangDesign:
    """Symbols of the elaborated design, by pyslang's objects; these live as long as ``keep`` does."""

    def __init__(self, manager: Any, files: Mapping[str, Path], call: Call, bitwise: bool = False) -> None:
        #: Gives the value of a call; functions are made of expressions, so these cannot know them.
        self.call = call
        self.signals: dict[Any, Signal] = {}
        #: Makes signals, each with a name of its own.
        self.new = Signals().new
        #: Of signals that are arrays or unpacked structures, what each element is: a signal of its own.
        self.elements: dict[Any, Spans[Signal]] = {}
        self.memories: dict[Any, Memory] = {}
        #: How many elements all arrays have, and those of which each is a signal.
        self.elements_declared = self.elements_bundled = 0
        #: Variables of modules that count the turns of loops in clocked blocks, and where.
        self.counters: dict[Any, str] = {}
        #: The latches of clock gates.
        self.latches: dict[Signal, Latch] = {}
        #: What variables hold before anything is assigned to them: an expression.
        self.initial: dict[Any, Any] = {}
        self.keep: list[Any] = [manager]
        self._manager = manager
        #: Data files, by the names that the RTL has for them.
        self.files = files
        self.types: dict[Any, tuple[int, bool]] = {}
        #: The operands of concatenations of which parts were read, by their places.
        self.concatenations: dict[Any, Spans[Any]] = {}
        #: How many calls of functions are being evaluated within one another.
        self.calls = 0
        #: Turns of loops and calls of functions in the block that is executed.
        self._turns = 0
        self._choices = 0
        #: Whether it is a netlist of cells.
        self.bitwise = bitwise
        #: Whether a block was executed, which makes terms.
        self.executed = False
        #: The inputs of the top module, which are defined.
        self.given: set[Signal] = set()
        #: Whether anything may be undefined, which is known when all drivers are.
        self.undefined = False
        self._unknown: dict[tuple[str, int], int] = {}
        #: Assertions that the proof leaves out, in the order of the text.
        self.left_out: dict[str, None] = {}

    def suspect(self, undefined: bool) -> bool:
        """Say whether anything may be undefined; returns what was said before."""
        before, self.undefined = self.undefined, undefined
        return before

    def unknown(self, width: int, e: Any) -> Term:
        """Return what the literal Z ``e`` is in a netlist, at an input that does not matter: anything, each its own.

        Raises ``NoValue`` in RTL.
        """
        if not self.bitwise:
            raise NoValue(self.where(e.sourceRange.start))
        return self.undecided(width, e)

    def undecided(self, width: int, e: Any) -> Term:
        """Return what the literal X ``e`` is, wherever a value is taken from it: anything."""
        where = self.where(e.sourceRange.start)
        number = self._unknown.setdefault((where, e.sourceRange.start.offset), len(self._unknown) + 1)
        return undefined(width, f"X {number} at {where}")

    def part(self, read: Read, symbol: Any, low: int, width: int) -> Term:
        """Bits ``low .. low + width - 1`` of ``symbol``; those of an array by its elements."""
        signal = self.signals.get(symbol) or self.signal(symbol)
        elements = self.elements.get(symbol) if self.elements else None
        if elements is None:
            return read(signal, low, width)
        parts = [read(element, at, last - first) for first, last, at, element in elements.within(low, width)]
        return concat(*reversed(parts))

    def over(self, symbol: Any, leaf: Callable[[Signal], Term], where: str) -> Term:
        """Return what ``symbol`` holds, over variables that stand for signals."""
        signal, elements = self.signal(symbol, where), self.elements.get(symbol)
        return leaf(signal) if elements is None else concat(*map(leaf, reversed(elements.owners)))

    def pieces(self, symbol: Any, marks: Marks) -> Iterator[tuple[int, int]]:
        """Yield the bits of ``marks`` as (low bit, width), as long as they can be within one element."""
        elements = self.elements.get(symbol)
        for low, width in marks.runs():
            if elements is None:
                yield low, width
            else:
                yield from ((p.first, p.last - p.first) for p in elements.within(low, width))

    def begin(self) -> None:
        """Begin to execute a block, or to evaluate an expression, whose turns and calls are counted."""
        self._turns = 0

    @contextmanager
    def counted_alone(self) -> Iterator[None]:
        """Count the turns of an expression that is evaluated apart from the others, and not those before it."""
        before, self._turns = self._turns, 0
        try:
            yield
        finally:
            self._turns = before

    @contextmanager
    def once_more(self) -> Iterator[None]:
        """Execute a block that was executed before: what it does counts once."""
        before = self._turns, self._choices
        self._turns = self._choices = 0
        try:
            yield
        finally:
            self._turns, self._choices = before

    def turn(self, e: Any) -> None:
        """Count one. Raises ``InputError`` if there are too many."""
        self._turns += 1
        if self._turns > _MOST_TURNS:
            where = self.where(e.sourceRange.start)
            raise InputError(f"{where}: loops and calls run more than {_MOST_TURNS:,} times in all; write less of them")

    def choose_among(self, elements: int, e: Any) -> None:
        """Count an assignment to one of so many ``elements``. Raises ``InputError`` if there are too many in all."""
        self._choices += elements
        if self._choices > _MOST_CHOICES:
            where = self.where(e.sourceRange.start)
            raise InputError(
                f"{where}: assignments at variable places choose among more than {_MOST_CHOICES:,} elements in all;"
                " the proof takes no more: write one decoder a signal, or into smaller vectors"
            )

    def is_local(self, symbol: Any) -> bool:
        """Whether ``symbol`` is a variable of a block or a function."""
        return symbol.kind in _VARIABLES and bool(symbol.parentScope.isProceduralContext)

    def signal(self, symbol: Any, where: str | None = None) -> Signal:
        """Return the signal of ``symbol``. Raises ``InputError`` if it is something else."""
        found = self.signals.get(symbol)
        if found is None and symbol in self.memories:
            raise InputError(
                f"{where or self.where(symbol.location)}: {symbol.name!r} is a large array, and something else than an"
                " initial block drives it; the proof takes arrays of 262,144 elements and 4,194,304 bits, and"
                " 1,048,576 elements in all"
            )
        if found is None:
            raise InputError(
                f"{where or self.where(symbol.location)}: {symbol.name!r} is not a signal of the"
                " design, or not assigned before it is read; the proof cannot use it"
            )
        return found

    def where(self, location: Any) -> str:
        """File and line."""
        name = self._manager.getFileName(location)
        return f"{_relative(name) if name else '?'}:{self._manager.getLineNumber(location)}"


@cache
def _relative(name: str) -> str:
    return os.path.relpath(name)
