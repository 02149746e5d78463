"""Convert DAIS to ALIR.

ALIR has no opcodes that negate their operand, so an exact negation is inserted. In ALIR, the type of an op that is
always 0 has no step, so a separate constant replaces data whose meaning depends on the step.
"""

from __future__ import annotations

from dataclasses import replace

from dais_verif.base.errors import ConversionError
from dais_verif.spec.program.alir_json import SPEC_VERSIONS, AlirCode, constant_in_steps, odd_constant
from dais_verif.spec.program.conversion.lowering import Builder
from dais_verif.spec.program.conversion.spelling import spelt
from dais_verif.spec.program.model import Op, Origin, Program
from dais_verif.spec.program.opcodes import Code, Term, high_int32, low_int32, opcode_of_sum
from dais_verif.spec.program.types import FixedType, type_of_interval

__all__ = ["Tables", "add_lookup", "to_alir"]


_NOTHING = FixedType(0, 0, 0)
_WITHOUT_NEGATION = {Code.RELU_NEG: Code.RELU, Code.QUANT_NEG: Code.QUANT, Code.MUX_NEG: Code.MUX}
#: Bits of the data word of opcode 10 that negate its operands.
_NEGATE_A, _NEGATE_B = 1 << 32, 1 << 33


def to_alir(program: Program) -> Program:
    """Return the ALIR program equivalent to ``program``, op by op; ops that exist only in ALIR are kept.

    Every op of the result has an interval: the declared one, or that of its type. Raises ``ProgramError`` if a type
    exceeds the limits.
    """
    raising = _Raising(program)
    for op in program.ops:
        raising.take(op)
    known = program.origin
    return raising.made.program(
        Origin("alir", spec_version=max(SPEC_VERSIONS), file_sha256=known.file_sha256, path=known.path)
    )


class _Raising:
    def __init__(self, program: Program) -> None:
        self.source, self.made = program, Builder(program)
        self.tables = Tables(self.made)

    def take(self, op: Op) -> None:
        made = self.made
        kind = op.type if op.type.width else _NOTHING
        own = self.source.intervals[op.index] if self.source.intervals else (kind.raw_min, kind.raw_max)
        interval = spelt(kind, own)
        moved = op.rewired(made.index.__getitem__)
        a, b = moved.id0, moved.id1
        match op.code:
            case Code.INPUT:
                made.add(op.code, kind, op.id0, interval=interval, of=op.index)
            case Code.RELU_NEG | Code.QUANT_NEG:
                made.add(_WITHOUT_NEGATION[Code(op.code)], kind, self.negated(a), interval=interval, of=op.index)
            case Code.MUX | Code.MUX_NEG:
                b = self.negated(b) if op.code == Code.MUX_NEG else b
                made.add(Code.MUX, kind, a, b, moved.data, interval=interval, of=op.index)
            case Code.BIT_UNARY | Code.BIT_UNARY_NEG:
                self.reduction(op, a, kind, interval)
            case Code.BIT_BINARY:
                a = self.negated(a) if op.data & _NEGATE_A else a
                b = self.negated(b) if op.data & _NEGATE_B else b
                made.add(op.code, kind, a, b, op.data & ~(_NEGATE_A | _NEGATE_B), interval=interval, of=op.index)
            case Code.LOOKUP:
                add_lookup(made, replace(op, type=kind), a, self.tables, interval)
            case Code.CONST | Code.ADD_CONST if op.data and not kind.width:
                # The type gives the units of the data, and a type without bits has none.
                self.sum(op, kind, interval, (*([Term(a, 0, False)] if a >= 0 else ()), Term(-1, -op.type.f, False)))
            case Code.SUM:
                self.sum(op, kind, interval, moved.terms)
            case Code.SHIFT if op.data == 0:  # in a file, this is a quantisation
                made.add(Code.QUANT, kind, a, interval=interval, of=op.index)
            case Code.RELU | Code.QUANT | Code.MUL:  # their data words are unused
                made.add(op.code, kind, a, b, interval=interval, of=op.index)
            case _:
                made.add(op.code, kind, a, b, op.data, interval=interval, of=op.index)

    def negated(self, a: int) -> int:
        """Return the exact negation of value ``a``; if the type of ``a`` has no bits, this is ``a`` itself."""
        kind = self.made.types[a]
        if not kind.width:
            return a
        ends = (-kind.raw_max, -kind.raw_min)
        exact = type_of_interval(*ends, kind.f)
        return self.made.add(Code.SUM, exact, terms=(Term(a, 0, True),), interval=spelt(exact, ends))

    def reduction(self, op: Op, a: int, kind: FixedType, interval: tuple[int, int]) -> None:
        """Add a reduction of bits; a negated operand is cut to its old width if more bits would change the result."""
        made, operand = self.made, self.source.ops[op.id0].type
        inverts = op.data == 0
        # NOT of an operand without bits, whose type has neither step nor sign in ALIR.
        if inverts and op.type.k and (not op.type.width or (not operand.width and operand.f)):
            minus = op.code == Code.BIT_UNARY
            self.sum(op, kind, interval, (Term(a, 0, minus), Term(-1, -operand.f, False)), -1)
            return
        if op.code == Code.BIT_UNARY_NEG and operand.width:
            a = self.negated(a)
            if op.data == 2 or (inverts and not kind.k):
                bits = FixedType(0, operand.width - operand.f, operand.f)
                a = made.add(Code.QUANT, bits, a, interval=spelt(bits, (0, bits.raw_max)))
        made.add(Code.BIT_UNARY, kind, a, data=op.data, interval=interval, of=op.index)

    def sum(
        self,
        op: Op,
        kind: FixedType,
        interval: tuple[int, int],
        terms: tuple[Term, ...],
        data: int | None = None,
    ) -> None:
        """Add a sum in one of the forms of ALIR: a negation, a value and a constant, or at least two values."""
        made, data = self.made, op.data if data is None else data
        shape = opcode_of_sum(terms).number
        value, constant = (*terms, terms[0])[:2]
        if shape == AlirCode.ADD_CONST and value.op >= 0 and value.shift == 0 and not value.negative:
            steps = constant_in_steps(data, kind.f + constant.shift)
            if steps is not None:
                made.add(Code.ADD_CONST, kind, value.op, data=steps, interval=interval, of=op.index)
                return
            data, places = odd_constant(data, -constant.shift)  # a file has it in this form
            terms = (value, Term(-1, -places, False))
        elif shape != AlirCode.NEG:
            terms = tuple(self.as_value(term, data) for term in terms)
            terms = terms if len(terms) > 1 else (*terms, Term(made.zero(), 0, False))
            data = 0
        made.add(Code.SUM, kind, data=data, terms=terms, interval=interval, of=op.index)

    def as_value(self, term: Term, data: int) -> Term:
        """Return ``term``, where a constant term becomes a term that reads a constant op."""
        if term.op >= 0:
            return term
        kind = type_of_interval(data, data, 0)
        return Term(self.made.add(Code.CONST, kind, data=data, interval=(data, data)), term.shift, False)


# Lookups in JSON, where a table's first entry belongs to the least value of the operand's interval.
#
# A binary has an arbitrary offset instead, so that the table may begin or end outside of the operand's type. Entries
# that are never read are left out. If the table does not begin where the interval begins, an additional op declares
# another interval.


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
