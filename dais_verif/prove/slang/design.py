"""What the front end knows of a design while it walks it: symbols, memories, places in files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyslang

from dais_verif.errors import InputError
from dais_verif.prove.memory import Memory
from dais_verif.prove.netlist import Bits, NoValue, Read, Signal
from dais_verif.prove.terms import Term, undefined

if TYPE_CHECKING:
    from dais_verif.prove.slang.expressions import Converter

__all__ = ["Design", "ast", "bits_in"]

#: Its type stubs say less than its objects offer.
ast: Any = pyslang.ast


def bits_in(kind: Any) -> int | None:
    """Bits of a type that is a vector or an array of vectors; None for any other."""
    if kind.isIntegral:
        return int(kind.bitWidth)
    if kind.isUnpackedArray and kind.hasFixedRange and bits_in(kind.arrayElementType):
        return int(kind.bitstreamWidth)
    return None


class Design:
    """Symbols of the elaborated design, by pyslang's objects; these live as long as ``keep`` does."""

    def __init__(self, manager: Any, files: Mapping[str, Path], bitwise: bool = False) -> None:
        self.signals: dict[Any, Signal] = {}
        self.memories: dict[Any, Memory] = {}
        #: What variables hold before anything is assigned to them: an expression.
        self.initial: dict[Any, Any] = {}
        self.keep: list[Any] = [manager]
        self._manager = manager
        #: Data files, by the names that the RTL has for them.
        self.files = files
        self.types: dict[Any, tuple[int, bool]] = {}
        #: How many calls of functions are being evaluated within one another.
        self.calls = 0
        #: Whether it is a netlist of cells.
        self.bitwise = bitwise
        self._unknown = 0

    def unknown(self, width: int, e: Any) -> Term:
        """What the literal X ``e`` is in a netlist, an input of a cell that does not matter: anything, each its own.

        Raises ``NoValue`` in RTL.
        """
        if not self.bitwise:
            raise NoValue(self.where(e.sourceRange.start))
        self._unknown += 1
        return undefined(width, f"X {self._unknown}")

    def converter(self, read: Read) -> Converter:
        """What turns an expression into a term."""
        from dais_verif.prove.slang.expressions import Converter

        return Converter(self, lambda symbol, low, width: read(self.signal(symbol), low, width))

    def bits(self, expression: Any) -> Bits:
        """The bits of an expression."""
        from dais_verif.prove.slang.slices import sliced

        return lambda read, low, width: sliced(self.converter(read), expression, low, width)

    def signal(self, symbol: Any, where: str | None = None) -> Signal:
        """The signal of ``symbol``. Raises ``InputError`` if it is something else."""
        found = self.signals.get(symbol)
        if found is None:
            raise InputError(
                f"{where or self.where(symbol.location)}: {symbol.name!r} is no signal of the design"
                " or not assigned before it is read; the proof cannot use it"
            )
        return found

    def where(self, location: Any) -> str:
        """File and line."""
        name = self._manager.getFileName(location)
        return f"{_relative(name) if name else '?'}:{self._manager.getLineNumber(location)}"


@cache
def _relative(name: str) -> str:
    return os.path.relpath(name)
