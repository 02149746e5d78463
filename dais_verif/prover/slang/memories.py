"""Execute ``initial`` blocks, which fill memories, word by word or from files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from dais_verif.base.errors import InputError, StateError, UnsupportedVerilog
from dais_verif.prover.memory import Memory
from dais_verif.prover.netlist import Driver, Read, Signal
from dais_verif.prover.slang.design import SlangDesign, ast, bits_in
from dais_verif.prover.slang.execution import Execution, flat
from dais_verif.prover.slang.expressions import Converter
from dais_verif.prover.slang.kinds import FILLING
from dais_verif.prover.slang.piecewise import whole
from dais_verif.prover.slang.selects import memory_word, static_index
from dais_verif.prover.slang.writes import symbol_of
from dais_verif.prover.terms import Term, leaves, rebuild, undefined

__all__ = ["counting", "initial", "kept_from_the_beginning", "power_up"]


def initial(design: SlangDesign, body: Any) -> dict[Any, Term]:
    """Fill memories as an ``initial`` block does; return the values of other variables at the end of the block.

    Bits that the block does not assign are undefined. Variables whose values are not constant may be left out.
    """
    design.begin()
    run = _Filling(design)
    for s in flat(body):
        run.statement(s)
    run.finish()
    return {symbol: whole(value) for symbol, value in run.values.items() if not design.is_local(symbol)}


class _Filling(Execution):
    """Runs an initial block, which assigns constants to words of memories and to variables."""

    def __init__(self, design: SlangDesign) -> None:
        def outer(symbol: Any) -> Term:
            return undefined(bits_in(symbol.type) or 1, f"{symbol.name!r} before it is assigned")

        super().__init__(design, outer)
        self.convert.filling = True
        #: Nonblocking assignments, which take effect at the end of the block, in order.
        self._later: list[tuple[Any, Any, Term]] = []

    def _read(self, symbol: Any, low: int, width: int) -> Term:
        if symbol not in self.values:
            raise UnsupportedVerilog(
                f"{self.design.where(symbol.location)}: {symbol.name!r} is read in an initial block"
            )
        return super()._read(symbol, low, width)

    def expression(self, e: Any) -> None:
        """Run an expression that assigns a constant to a variable or a word of a memory, or reads a memory file."""
        if type(e) is ast.CallExpression and e.isSystemCall and e.subroutineName in FILLING:
            self._read_file(e)
        elif type(e) is not ast.AssignmentExpression:
            super().expression(e)
        elif type(e.left) is ast.NamedValueExpression:
            self._first_value(e)
        else:
            self._assignment(e)

    def finish(self) -> None:
        """Apply the nonblocking assignments."""
        for e, left, value in self._later:
            self._store(e, left, value)

    def _assignment(self, e: Any) -> None:
        if e.isNonBlocking and e.timingControl is None:
            self._later.append((e, e.left, self.assigned_value(e)))
        elif memory_word(self.convert, e.left)[0] is not None:
            self._store(e, e.left, self.convert(e.right))
        else:
            super().expression(e)

    def _store(self, e: Any, left: Any, value: Term) -> None:
        memory, selectors = memory_word(self.convert, left)
        if memory is None:
            return self.assign(left, value)
        indices = [index for x in selectors if (index := static_index(self.convert, x)) is not None]
        if len(indices) != len(selectors) or value.op != "const":
            raise self.convert.refused(e, f"a word of memory {memory.name!r} is not filled with a constant")
        place = memory.position(*indices)
        if place is not None:
            memory.words[place] = value.value
        return None

    def _first_value(self, e: Any) -> None:
        """Assign an initial value; if it is not supported, the variable has no value and must not be read."""
        try:
            self._assignment(e)
        except InputError:
            self.values.pop(symbol_of(e.left), None)

    def _memory(self, e: Any) -> Memory | None:
        if type(e) is ast.AssignmentExpression:
            e = e.left
        named = type(e) in (ast.NamedValueExpression, ast.HierarchicalValueExpression)
        return self.design.memories.get(symbol_of(e)) if named else None

    def _read_file(self, e: Any) -> None:
        memory = self._memory(e.arguments[1]) if 2 <= len(e.arguments) <= 4 else None
        if memory is None:
            raise self.convert.refused(e, f"{e.subroutineName} is supported only with a file and a memory")
        if len(memory.spans) > 1:
            raise self.convert.refused(e, f"{e.subroutineName} is supported only with a memory of one dimension")
        given = [static_index(self.convert, x) for x in e.arguments[2:]]
        first = given[0] if given else memory.low
        last = given[1] if len(given) > 1 else memory.high
        if first is None or last is None or not memory.low <= first <= last <= memory.high:
            raise self.convert.refused(e, f"{e.subroutineName} is supported only from a constant index up to another")
        name_term = e.arguments[0]
        name = _text(self.convert, name_term)
        path = self.design.files.get(name)
        if path is None:
            raise self.convert.refused(e, f"memory file {name!r} was not found", "; give it with {data}")
        base = 16 if e.subroutineName == "$readmemh" else 2
        try:
            _fill(memory, path.read_bytes().decode("ascii", errors="replace"), base, first, last)
        except (ValueError, OSError) as error:
            raise self.convert.refused(e, f"memory file {str(path)!r} cannot be used: {error}") from None


def _text(c: Converter, e: Any) -> str:
    if type(e) is ast.ConversionExpression:
        return _text(c, e.operand)
    if type(e) is ast.StringLiteral:
        return str(e.value)
    term = c(e)
    if term.op != "const":
        raise c.refused(e, "the name of a memory file must be a constant")
    return term.value.to_bytes((term.width + 7) // 8, "big").lstrip(b"\0").decode(errors="replace")


#: Comments of a memory file.
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def _fill(memory: Memory, text: str, base: int, first: int, last: int) -> None:
    """Fill words ``first`` to ``last`` from the text of a memory file: numbers, ``@address`` and comments."""
    index = first
    for token in _COMMENT.sub(" ", text).split():
        if token.startswith("@"):
            index = _number(token[1:], 16)
            continue
        place = memory.position(index)
        if place is None or not first <= index <= last:
            raise ValueError(f"it has a word for index {index}, which is not to be filled")
        unknown = any(digit in "xXzZ" for digit in token)
        memory.words[place] = None if unknown else _number(token, base) & ((1 << memory.width) - 1)
        index += 1


def _number(token: str, base: int) -> int:
    try:
        return int(token.replace("_", ""), base)
    except ValueError:
        shown = token if len(token) <= 20 else token[:20] + "..."
        raise ValueError(f"{shown!r} is not a number in base {base}") from None


def counting(signal: Signal, where: str) -> Driver:
    """Return a driver for a loop counter at a clock edge; it raises an error if the counter is read elsewhere."""

    def make(read: Read) -> Term:
        raise StateError(
            f"{where}: {signal.name!r} counts the iterations of a loop at a clock edge, and is also read elsewhere,"
            " where simulators see different values; declare it in the loop"
        )

    return Driver(0, signal.width, make, where)


def kept_from_the_beginning(signal: Signal) -> Driver:
    """Return a driver for a variable with an initial value, whose assignments the proof never executes.

    It raises ``StateError`` if the variable is read.
    """

    def make(read: Read) -> Term:
        raise StateError(
            f"{signal.where}: {signal.name!r} has an initial value, and is assigned only in code that the proof never"
            " executes; it may keep state: remove these assignments"
        )

    return Driver(0, signal.width, make, signal.where)


# Values of signals at power-up, from declarations and ``initial`` blocks.


def power_up(design: SlangDesign, given: Mapping[Any, Sequence[Term]]) -> dict[Signal, Term]:
    """Return the initial values of signals.

    ``given``: for each symbol, its value after each initial block that assigns it. Signals that several blocks assign
    have no entry, since the blocks run in any order. Bits without an initial value are undefined.
    """
    found: dict[Signal, Term] = {}
    for symbol in {**given, **design.initial}:
        signal, blocks = design.signals.get(symbol), given.get(symbol, ())
        if signal is None or len(blocks) > 1:
            continue
        declared = _declared(design, symbol)
        if not blocks:
            if declared is not None:
                found[signal] = declared
            continue
        # A declaration comes first: bits that the block does not assign keep the declared value.
        nothing = [leaf for leaf in leaves(blocks[0]) if leaf.op == "undefined"]
        if declared is not None and all(leaf.width == signal.width for leaf in nothing):
            found[signal] = rebuild(blocks[0], dict.fromkeys(nothing, declared))
        else:
            found[signal] = blocks[0]
    return found


def _declared(design: SlangDesign, symbol: Any) -> Term | None:
    """Return the initial value in a declaration; None if it has none, or if the value is not supported."""

    def read(symbol: Any, low: int, width: int) -> Term:
        raise UnsupportedVerilog(f"{design.where(symbol.location)}: {symbol.name!r} is read in a declaration")

    if symbol not in design.initial:
        return None
    try:
        return Converter(design, read)(design.initial[symbol])
    except InputError:
        return None
