"""Convert DAIS to ALIR.

ALIR has no opcodes that negate their operand, so an exact negation is inserted. In ALIR, the type of an op that is
always 0 has no step, so a separate constant replaces data whose meaning depends on the step.
"""

from __future__ import annotations

from dataclasses import replace

from dais_verif.program.alir_codes import SPEC_VERSIONS, AlirCode, constant_in_steps, odd_constant
from dais_verif.program.conversion.building import Builder
from dais_verif.program.conversion.lookups import Tables, add_lookup
from dais_verif.program.conversion.spelling import spelt
from dais_verif.program.model import Op, Origin, Program
from dais_verif.program.opcodes import Code, Term, opcode_of_sum
from dais_verif.program.types import FixedType, type_of_interval

__all__ = ["to_alir"]

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
