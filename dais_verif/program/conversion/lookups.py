"""Lookups in JSON, where a table's first entry belongs to the least value of the operand's interval.

A binary has an arbitrary offset instead, so that the table may begin or end outside of the operand's type. Entries that
are never read are left out. If the table does not begin where the interval begins, an additional op declares another
interval.
"""

from __future__ import annotations

from dais_verif.errors import ConversionError
from dais_verif.program.conversion.building import Builder
from dais_verif.program.conversion.spelling import spelt
from dais_verif.program.model import Op
from dais_verif.program.opcodes import Code, Term, high_int32, low_int32
from dais_verif.program.types import FixedType, type_of_interval

__all__ = ["Tables", "add_lookup"]


class Tables:
    """The tables of the new program; all ops that read a table have the same number of fractional bits."""

    def __init__(self, made: Builder) -> None:
        self.made = made
        self._points: dict[int, int] = {}
        self._added: dict[tuple[tuple[int, ...], int], int] = {}

    def number(self, wanted: int, entries: tuple[int, ...], f: int) -> int:
        """Return the number of a table of ``entries`` whose step is 2**-f: ``wanted``, or a new one."""
        if entries == self.made.tables[wanted] and self._points.setdefault(wanted, f) == f:
            return wanted
        number = self._added.setdefault((entries, f), len(self.made.tables))
        if number == len(self.made.tables):
            self.made.tables.append(entries)
        return number


def add_lookup(made: Builder, op: Op, a: int, tables: Tables, interval: tuple[int, int]) -> None:
    """Append the lookup ``op`` of value ``a``. Raises ``InputError`` if JSON cannot represent the table's start."""
    kind = made.types[a]
    entries = made.tables[low_int32(op.data)]
    first = kind.raw_min + high_int32(op.data)
    lo, hi = max(first, kind.raw_min), min(first + len(entries) - 1, kind.raw_max)
    if lo > hi:  # no value selects an entry
        lo, entries = made.intervals[a][0], ()
    else:
        entries = entries[lo - first : hi - first + 1]
    table = tables.number(low_int32(op.data), entries, op.type.f)
    if made.intervals[a][0] != lo:
        a, lo = _window(made, a, kind, lo, hi)
    pad = lo - made.types[a].raw_min
    if pad >= 1 << 31 or spelt(made.types[a], made.intervals[a])[0] != lo:
        raise ConversionError(f"{op}: its table begins at {lo} steps of {made.types[a]}, which JSON cannot represent")
    made.add(Code.LOOKUP, op.type, a, data=pad << 32 | table, interval=interval, of=op.index)


def _window(made: Builder, a: int, kind: FixedType, lo: int, hi: int) -> tuple[int, int]:
    """Return an op with the value of ``a`` and an interval that begins at ``lo``, and the actual start of the interval.

    A type whose interval begins at 0 or above would be unsigned; a signed value is then shifted to begin at -1.
    """
    for top in (hi, kind.raw_max):
        if type_of_interval(lo, top, kind.f) == kind:
            return made.add(Code.QUANT, kind, a, interval=(lo, top)), lo
    moved = -1 - lo
    exact = type_of_interval(kind.raw_min + moved, kind.raw_max + moved, kind.f)
    wide = exact if exact.k else exact._replace(k=1)
    constant = type_of_interval(moved, moved, kind.f)
    by = made.add(Code.CONST, constant, data=moved, interval=spelt(constant, (moved, moved)))
    terms = (Term(a, 0, False), Term(by, 0, False))
    return made.add(Code.SUM, wide, terms=terms, interval=spelt(wide, (-1, wide.raw_max))), -1
