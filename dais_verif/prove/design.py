"""What the front end knows of a design while it walks it: symbols, memories, places in files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyslang

from dais_verif.errors import InputError
from dais_verif.prove.netlist import Read, Signal
from dais_verif.prove.terms import Term, add, const, ite, lookup, neg, resize, ult, undefined

__all__ = ["Design", "Memory", "ast", "chosen"]

#: Its type stubs say less than its objects offer.
ast: Any = pyslang.ast


def chosen(index: Term, signed: bool, left: int, right: int) -> tuple[Term, Term | None]:
    """The position that ``index`` has in ``[left:right]``, from the right, and whether it is inside.

    None: it always is. The position is right wherever it is inside.
    """
    low, high = min(left, right), max(left, right)
    top = 1 << (index.width - 1) if signed else 1 << index.width
    bottom = -top if signed else 0
    width = max(index.width, low.bit_length(), high.bit_length()) + 2
    wide = resize(index, width, signed)
    position = add(wide, const(width, -right)) if left >= right else add(const(width, right), neg(wide))
    size = high - low + 1
    inside = None if low <= bottom and top - 1 <= high else ult(position, const(width, size))
    return resize(position, max((size - 1).bit_length(), 1), False), inside


class Memory:
    """An array of vectors that is filled once, in ``initial`` blocks; its indices are ``low .. high``."""

    def __init__(self, name: str, where: str, width: int, left: int, right: int) -> None:
        self.name, self.where, self.width = name, where, width
        self.low, self.high = min(left, right), max(left, right)
        self.words: list[int | None] = [None] * (self.high - self.low + 1)
        self._values: tuple[int, ...] = ()
        self._filled: tuple[int, ...] = ()

    def position(self, index: int) -> int | None:
        """The word that ``index`` names, if there is one."""
        return index - self.low if self.low <= index <= self.high else None

    def settle(self) -> None:
        """All words are known now."""
        self._values = tuple(word or 0 for word in self.words)
        self._filled = tuple(int(word is not None) for word in self.words)

    def read(self, index: Term, signed: bool) -> Term:
        """The word at ``index``: undefined outside, and where nothing was filled in."""
        position, inside = chosen(index, signed, self.high, self.low)
        word = lookup(position, self._values, self.width)
        nothing = undefined(self.width, f"a word of {self.name}", index)
        if not all(self._filled):
            word = ite(lookup(position, self._filled, 1), word, nothing)
        return word if inside is None else ite(inside, word, nothing)


class Design:
    """Symbols of the elaborated design, by pyslang's objects; these live as long as ``keep`` does."""

    def __init__(self, manager: Any, files: Mapping[str, Path]) -> None:
        self.signals: dict[Any, Signal] = {}
        self.memories: dict[Any, Memory] = {}
        #: What variables hold before anything is assigned to them: an expression.
        self.initial: dict[Any, Any] = {}
        self.keep: list[Any] = [manager]
        self._manager = manager
        #: Data files, by the names that the RTL has for them.
        self.files = files
        self.types: dict[Any, tuple[int, bool]] = {}

    def converter(self, read: Read) -> Callable[[Any], Term]:
        """What turns an expression into a term."""
        from dais_verif.prove.expressions import Converter

        return Converter(self, lambda symbol, low, width: read(self.signal(symbol), low, width))

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
        return f"{os.path.relpath(name) if name else '?'}:{self._manager.getLineNumber(location)}"
