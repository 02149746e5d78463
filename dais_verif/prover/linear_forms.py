"""Values of two programs in one normal form: values that are equal by arithmetic alone need no solver.

A value is an integer combination of *atoms*: inputs, products of atoms, and values that are not combinations, such as
the choice of a mux, an entry of a table, or a floored or wrapped value. An atom is identified by its construction, also
in its normal form, so both programs share it. Sums, differences, shifts and products with constants only rearrange
combinations: the form does not depend on the order of operations or on intermediate widths.

Every op quantises to its own type. Promises are not trusted for this: quantisation is skipped only if the type is
shown here to be fine enough for every coefficient and to hold the least and the largest possible value. Otherwise the
quantised value is an atom, or a form reduced modulo the width of the type. Two equal forms are therefore equal values
of hardware, for all inputs. Forms that differ prove nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction

from dais_verif.program import FixedType, Op, Program
from dais_verif.program.opcodes import INPUT, MUXES, QUANTS, RELUS, Code, bitwise_fields, high_int32, low_int32
from dais_verif.prover.form import (
    ZERO,
    Form,
    Key,
    constant_form,
    key_of,
    negated,
    on_grid,
    primitive,
    raw_of,
    shifted,
)
from dais_verif.prover.linear_atoms import Atoms
from dais_verif.prover.shared import Node

__all__ = ["LinearForms"]

#: Forms with more than ``_MOST_TERMS`` terms become atoms; after ``_MOST_WORK`` copied terms, all but short forms do.
_MOST_TERMS, _SHORT, _MOST_WORK = 1 << 16, 32, 1 << 22
#: Maximum number of wrapped values of one output whose extremes are tried.
_MOST_WRAPPED = 4
_ADDING = (Code.ADD, Code.SUB, Code.ADD_CONST, Code.SUM)


class LinearForms:
    """The forms of all ops of two programs."""

    def __init__(self, programs: tuple[Program, Program]) -> None:
        self.programs = programs
        self._atoms = Atoms()
        self._input_atoms: dict[int, int] = {}
        self._tables: dict[bytes, int] = {}
        self._inputs = self._read_as()
        self._forms: tuple[list[Form], list[Form]] = ([], [])
        #: Ops whose form was reused in place by the sum that is their only reader.
        self._gone: set[Node] = set()
        self._uses = tuple(_uses(program) for program in programs)
        for side in (0, 1):
            self._follow(side)

    def key(self, node: Node) -> Key:
        """Return a key that is equal for two ops only if their values are the same real numbers for all inputs."""
        if node in self._gone:
            return 0, 0, ((-1 - node.side, node.op),)  # unique to this op
        return key_of(self._forms[node.side][node.op])

    def output(self, side: int, number: int) -> Key:
        """Return a key that is equal for two outputs only if their values are the same real numbers for all inputs."""
        return key_of(self._ending(side, number))

    def extremes(self, number: int) -> list[dict[int, Fraction]]:
        """Return vectors, as values by input number, on which output ``number`` is likely to differ if it can.

        They minimise and maximise the difference of the two forms of the output, and the values that either form wraps.
        """
        ends = [self._ending(side, number) for side in (0, 1)]
        wrapped = [self._atoms.wrapped[atom][0] for end in ends for atom in end.terms if atom in self._atoms.wrapped]
        found = []
        for form in (self._atoms.sum([ends[0], negated(ends[1])]), *wrapped[:_MOST_WRAPPED]):
            for high in (True, False):
                row = {}
                for atom, n in form.terms.items():
                    if atom in self._input_atoms:
                        j = self._input_atoms[atom]
                        row[j] = Fraction(self._atoms.bounds[atom][(n > 0) == high]) / Fraction(2) ** self._inputs[j].f
                found.append(row)
        return found

    def _ending(self, side: int, number: int) -> Form:
        index, shift, minus = self.programs[side].outputs[number]
        return ZERO if index < 0 else shifted(self._forms[side][index], shift, negative=minus)

    # forms of ops

    def _follow(self, side: int) -> None:
        """Compute the forms of one program's ops, in SSA order."""
        for op in self.programs[side].ops:
            self._forms[side].append(self._form(side, op))

    def _form(self, side: int, op: Op) -> Form:
        """Return the form of an op; the forms of its operands must be known."""
        if op.type.width == 0:
            return ZERO
        form = self._atoms.fitted(self._exact(self.programs[side], side, op, self._forms[side]), op.type)
        if len(form.terms) > (_SHORT if self._atoms.work > _MOST_WORK else _MOST_TERMS):
            form = self._opaque(("op", side, op.index), form)
        return form

    def again(self) -> Iterator[int]:
        """Compute the forms of the second program once more, and yield each op when its form is known.

        Before the next op, the caller may ``equate`` an op with one of the first program; later forms are then
        combinations of the same atoms.
        """
        self._forms[1].clear()
        self._gone = {node for node in self._gone if node.side == 0}
        for op in self.programs[1].ops:
            self._forms[1].append(self._form(1, op))
            yield op.index

    def equate(self, op: int, other: int) -> None:
        """Give ``op`` of the second program the form of its equal ``other`` in the first program, unless it is long."""
        form = self._forms[0][other]
        if Node(0, other) not in self._gone and len(form.terms) <= _SHORT:
            self._forms[1][op] = form

    def _exact(self, program: Program, side: int, op: Op, forms: Sequence[Form]) -> Form:
        """Return the result of an op before it is quantised."""
        code = op.code
        if code == INPUT:
            return self._input(op.id0, int(program.inp_shift[op.id0]))
        if code == Code.CONST:
            return constant_form(op.data, op.type.f)
        if code == Code.SUM:
            parts = [
                shifted(forms[t.op] if t.op >= 0 else constant_form(op.data, 0), t.shift, negative=t.negative)
                for t in op.terms
            ]
            own = [n for n, t in enumerate(op.terms) if t.op >= 0 and not t.negative and self._take(side, t.op)]
            return self._atoms.sum(parts, own)
        a = forms[op.id0]
        if code in (Code.ADD, Code.SUB):
            b = shifted(forms[op.id1], op.data, negative=code == Code.SUB)
            return self._atoms.sum([a, b], [0] if self._take(side, op.id0) else [])
        if code == Code.ADD_CONST:
            return self._atoms.sum([a, constant_form(op.data, op.type.f)], [0] if self._take(side, op.id0) else [])
        if code == Code.MUL:
            return self._atoms.product(a, forms[op.id1])
        if code in MUXES:
            other = shifted(forms[op.id1], high_int32(op.data), negative=op.spec.negate)
            kind = program.ops[op.condition].type
            return self._chosen(forms[op.condition], kind, a, other)
        if code == Code.SHIFT:
            return shifted(a, op.data)
        if code == Code.LOOKUP:
            return self._entry(program, op, a)
        if code == Code.BIT_BINARY:
            return self._bitwise(op, a, forms[op.id1], program)
        signed = negated(a) if op.spec.negate else a
        if code in QUANTS:
            return signed
        if code in RELUS:
            found = self._atoms.where_negative(signed, ZERO, signed)
            return found._replace(lo=max(found.lo, 0))
        return self._bits(op, signed, program.ops[op.id0].type)

    def _read_as(self) -> list[FixedType]:
        """Return, for each input, a type that holds every value that any op of either program reads from it."""
        found: list[FixedType | None] = [None] * self.programs[0].n_in
        for program in self.programs:
            for op in program.ops:
                if op.code != INPUT or not op.type.width:
                    continue
                shift = int(program.inp_shift[op.id0])
                kind = FixedType(op.type.k, op.type.i - shift, op.type.f + shift)
                known = found[op.id0]
                if known is not None and known != kind:  # signed, to hold the values of both types
                    high = max(known.i + known.k, kind.i + kind.k)
                    kind = FixedType(1, high - 1, max(known.f, kind.f))
                found[op.id0] = kind
        return [kind or FixedType(0, 0, 0) for kind in found]

    def _input(self, number: int, shift: int) -> Form:
        kind = self._inputs[number]
        read = self._atoms.atom(("input", number), kind.raw_min, kind.raw_max, kind.f)
        self._input_atoms.update(dict.fromkeys(read.terms, number))
        return shifted(read, shift)

    def _entry(self, program: Program, op: Op, index: Form) -> Form:
        table, kind = program.tables[low_int32(op.data)], program.ops[op.id0].type
        base = kind.raw_min + high_int32(op.data)
        if not index.terms:
            place = raw_of(index, kind.f) - base
            return constant_form(int(table[place]) if 0 <= place < len(table) else 0, op.type.f)
        same = self._tables.setdefault(table.tobytes(), len(self._tables))
        key = ("entry", same, base, kind.f, key_of(index))
        return self._atoms.atom(key, min(0, int(table.min(initial=0))), max(0, int(table.max(initial=0))), op.type.f)

    def _bitwise(self, op: Op, a: Form, b: Form, program: Program) -> Form:
        fields = bitwise_fields(op.data)
        a = negated(a) if fields.negate_a else a
        b = shifted(b, fields.shift, negative=fields.negate_b)
        f = max(a.f, b.f)
        a, b = on_grid(a, f), on_grid(b, f)
        if not a.terms and not b.terms:
            x, y = a.constant, b.constant
            return constant_form((x & y, x | y, x ^ y)[fields.operation], f)
        least = min(a.lo, b.lo)
        bits = max(abs(n).bit_length() for n in (a.lo, a.hi, b.lo, b.hi))
        keys = sorted([key_of(a), key_of(b)])
        return self._atoms.atom(
            ("bits", fields.operation, f, *keys), -(1 << bits) if least < 0 else 0, (1 << bits) - 1, f
        )

    def _bits(self, op: Op, t: Form, kind: FixedType) -> Form:
        """Return the NOT of ``t``, or whether any or all of its bits are 1, as ``op.data`` says."""
        if op.data == 0:
            inverted = self._atoms.sum([negated(t), constant_form(-1, kind.f)])
            return inverted if op.type.k else self._atoms.fitted(inverted, FixedType(0, kind.width - kind.f, kind.f))
        if op.data == 1:
            unit, _ = primitive(t)
            if not t.terms or t.lo > 0 or t.hi < 0:
                return constant_form(int(bool(t.terms) or t.constant != 0), 0)
            if unit.lo >= 0 and unit.hi == 1:
                return unit
            return self._atoms.atom(("any", min(key_of(unit), key_of(negated(unit)))), 0, 1, 0)
        if not t.terms:
            ones = (1 << kind.width) - 1
            return constant_form(int(raw_of(t, kind.f) & ones == ones), 0)
        return self._atoms.atom(("all", kind.width, kind.f, key_of(t)), 0, 1, 0)

    def _take(self, side: int, op: int) -> bool:
        """Return whether a sum may reuse the long form of ``op`` in place: ``op`` is a sum without other readers."""
        if self._uses[side][op] != 1 or len(self._forms[side][op].terms) <= _SHORT:
            return False
        if self.programs[side].ops[op].code not in _ADDING:  # other ops may return the form object of an operand
            return False
        self._gone.add(Node(side, op))
        return True

    def _opaque(self, key: Hashable, form: Form) -> Form:
        """Return an atom that replaces a form."""
        return self._atoms.atom(key, form.lo, form.hi, form.f)

    def _chosen(self, condition: Form, kind: FixedType, one: Form, other: Form) -> Form:
        """Return ``one`` where the highest bit of ``condition``, a value of ``kind``, is set."""
        if kind.width == 0:
            return other
        if kind.k:
            return self._atoms.where_negative(condition, one, other)
        below = self._atoms.sum([constant_form((1 << kind.width - 1) - 1, kind.f), negated(condition)])
        return self._atoms.where_negative(below, one, other)


def _uses(program: Program) -> list[int]:
    """Return how often each op is read, by ops and outputs."""
    found = [0] * program.n_ops
    for index in [index for op in program.ops for index in op.operands] + program.out_idx.tolist():
        if index >= 0:
            found[index] += 1
    return found
