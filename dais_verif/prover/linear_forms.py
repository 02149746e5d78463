"""Values of two programs in one normal form, so that what is equal by arithmetic alone needs no solver.

A value is an integer combination of *atoms*: inputs, products of atoms, and what no combination is, such as the choice
of a mux, a table's entry, a value that was floored or wrapped. An atom is known by what it is made of, in normal form
again, so both programs share it. Sums, differences, shifts and products with constants only rearrange combinations: in
whatever order and with whatever widths they are computed, the form is the same.

Every op quantises to its own type, and that is never skipped on the word of a promise: it changes nothing only if the
type is fine enough for every coefficient, and holds the least and the largest value that are possible; both are shown
here. Else the quantised value is an atom, or modulo the width of the type a form that fits it. So two equal forms are
equal values of hardware, for all inputs. Forms that differ say nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import gcd

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
    times,
)
from dais_verif.prover.shared import Node

__all__ = ["LinearForms"]

#: A form of more terms is an atom of its own, and so is one that is not short after so many terms have been copied.
_MOST_TERMS, _SHORT, _MOST_WORK = 1 << 16, 32, 1 << 22
#: Products that two factors are multiplied out to, and factors of one product.
_MOST_PRODUCTS, _MOST_FACTORS = 64, 8


_ADDING = (Code.ADD, Code.SUB, Code.ADD_CONST, Code.SUM)


class LinearForms:
    """The forms of all ops of two programs. Atoms are integers, numbered, each with its least and largest value."""

    def __init__(self, programs: tuple[Program, Program]) -> None:
        self.programs = programs
        self._atoms: dict[Hashable, int] = {}
        self._bounds: list[tuple[int, int]] = []
        #: What was wrapped, of the atoms that are wrapped values: the form, and the logarithm of the modulus.
        self._wrapped: dict[int, tuple[Form, int]] = {}
        #: The atoms that a product is of; of any other atom itself.
        self._factors: dict[int, tuple[int, ...]] = {}
        self._tables: dict[bytes, int] = {}
        self._work = 0
        self._inputs = self._read_as()
        self._forms: tuple[list[Form], list[Form]] = ([], [])
        #: Ops whose forms went on as those of sums, which alone read them.
        self._gone: set[Node] = set()
        self._uses = tuple(_uses(program) for program in programs)
        for side in (0, 1):
            self._follow(side)

    def key(self, node: Node) -> Key:
        """What is the same for two ops if their values are shown to be the same real numbers."""
        if node in self._gone:
            return 0, 0, ((-1 - node.side, node.op),)  # of this op alone
        return key_of(self._forms[node.side][node.op])

    def output(self, side: int, number: int) -> Key:
        """The same of an output."""
        index, shift, minus = self.programs[side].outputs[number]
        if index < 0:
            return key_of(ZERO)
        return key_of(shifted(self._forms[side][index], shift, negative=minus))

    # forms of ops

    def _follow(self, side: int) -> None:
        """The forms of one program's ops, in their order."""
        program, forms = self.programs[side], self._forms[side]
        for op in program.ops:
            if op.type.width == 0:
                forms.append(ZERO)
                continue
            form = self._fitted(self._exact(program, side, op, forms), op.type)
            if len(form.terms) > (_SHORT if self._work > _MOST_WORK else _MOST_TERMS):
                form = self._opaque(("op", side, op.index), form)
            forms.append(form)

    def _exact(self, program: Program, side: int, op: Op, forms: Sequence[Form]) -> Form:
        """The result of an op before it is quantised."""
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
            return self._sum(parts, own)
        a = forms[op.id0]
        if code in (Code.ADD, Code.SUB):
            b = shifted(forms[op.id1], op.data, negative=code == Code.SUB)
            return self._sum([a, b], [0] if self._take(side, op.id0) else [])
        if code == Code.ADD_CONST:
            return self._sum([a, constant_form(op.data, op.type.f)], [0] if self._take(side, op.id0) else [])
        if code == Code.MUL:
            return self._product(a, forms[op.id1])
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
            found = self._where_negative(signed, ZERO, signed)
            return found._replace(lo=max(found.lo, 0))
        return self._bits(op, signed, program.ops[op.id0].type)

    def _read_as(self) -> list[FixedType]:
        """Of each input the type of all bits that any op of either program reads, wide enough for every one."""
        found: list[FixedType | None] = [None] * self.programs[0].n_in
        for program in self.programs:
            for op in program.ops:
                if op.code != INPUT or not op.type.width:
                    continue
                shift = int(program.inp_shift[op.id0])
                kind = FixedType(op.type.k, op.type.i - shift, op.type.f + shift)
                known = found[op.id0]
                if known is not None and known != kind:  # signed, so that no value of either is beyond it
                    high = max(known.i + known.k, kind.i + kind.k)
                    kind = FixedType(1, high - 1, max(known.f, kind.f))
                found[op.id0] = kind
        return [kind or FixedType(0, 0, 0) for kind in found]

    def _input(self, number: int, shift: int) -> Form:
        kind = self._inputs[number]
        return shifted(self._atom(("input", number), kind.raw_min, kind.raw_max, kind.f), shift)

    def _entry(self, program: Program, op: Op, index: Form) -> Form:
        table, kind = program.tables[low_int32(op.data)], program.ops[op.id0].type
        base = kind.raw_min + high_int32(op.data)
        if not index.terms:
            place = raw_of(index, kind.f) - base
            return constant_form(int(table[place]) if 0 <= place < len(table) else 0, op.type.f)
        same = self._tables.setdefault(table.tobytes(), len(self._tables))
        key = ("entry", same, base, kind.f, key_of(index))
        return self._atom(key, min(0, int(table.min(initial=0))), max(0, int(table.max(initial=0))), op.type.f)

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
        return self._atom(("bits", fields.operation, f, *keys), -(1 << bits) if least < 0 else 0, (1 << bits) - 1, f)

    def _bits(self, op: Op, t: Form, kind: FixedType) -> Form:
        """NOT, or whether any or all bits are 1."""
        if op.data == 0:
            inverted = self._sum([negated(t), constant_form(-1, kind.f)])
            return inverted if op.type.k else self._fitted(inverted, FixedType(0, kind.width - kind.f, kind.f))
        if op.data == 1:
            unit, _ = primitive(t)
            if not t.terms or t.lo > 0 or t.hi < 0:
                return constant_form(int(bool(t.terms) or t.constant != 0), 0)
            if unit.lo >= 0 and unit.hi == 1:
                return unit
            return self._atom(("any", min(key_of(unit), key_of(negated(unit)))), 0, 1, 0)
        if not t.terms:
            ones = (1 << kind.width) - 1
            return constant_form(int(raw_of(t, kind.f) & ones == ones), 0)
        return self._atom(("all", kind.width, kind.f, key_of(t)), 0, 1, 0)

    # choices

    def _chosen(self, condition: Form, kind: FixedType, one: Form, other: Form) -> Form:
        """``one`` where the highest bit of ``condition``, a value of ``kind``, is set."""
        if kind.width == 0:
            return other
        if kind.k:
            return self._where_negative(condition, one, other)
        below = self._sum([constant_form((1 << kind.width - 1) - 1, kind.f), negated(condition)])
        return self._where_negative(below, one, other)

    def _where_negative(self, condition: Form, one: Form, other: Form) -> Form:
        """``one`` where ``condition`` is below 0: ``other``, and where it is the difference of the two."""
        if condition.hi < 0 or condition.lo >= 0:
            return one if condition.hi < 0 else other
        lo, hi = self._interval(condition)
        if hi < 0 or lo >= 0:
            return one if hi < 0 else other
        factor = gcd(*condition.terms.values())
        terms = {atom: n // factor for atom, n in condition.terms.items()}
        constant = condition.constant // factor  # floored: the sum is below 0 where it was
        if terms[min(terms)] < 0:
            terms = {atom: -n for atom, n in terms.items()}
            constant = -constant - 1
            one, other = other, one
        difference = self._sum([one, negated(other)])
        if not difference.terms and not difference.constant:
            return other
        unit, factor = primitive(difference)
        if (unit.terms[min(unit.terms)] if unit.terms else unit.constant) < 0:
            unit, factor = negated(unit), -factor
        key = ("where", constant, tuple(sorted(terms.items())), key_of(unit))
        chosen = self._atom(key, min(0, unit.lo), max(0, unit.hi), 0)
        found = self._sum([other, times(chosen, factor, difference.f)])
        f = max(found.f, one.f, other.f)
        found, one, other = (on_grid(form, f) for form in (found, one, other))
        return found._replace(lo=max(found.lo, min(one.lo, other.lo)), hi=min(found.hi, max(one.hi, other.hi)))

    # arithmetic

    def _take(self, side: int, op: int) -> bool:
        """Whether a sum may go on with the long form of ``op`` as its own: it is a sum, and nobody else reads it."""
        if self._uses[side][op] != 1 or len(self._forms[side][op].terms) <= _SHORT:
            return False
        if self.programs[side].ops[op].code not in _ADDING:  # others may hand on the very form of an operand
            return False
        self._gone.add(Node(side, op))
        return True

    def _sum(self, parts: Sequence[Form], own: Sequence[int] = ()) -> Form:
        """The sum; ``own``: numbers of parts whose terms may be changed."""
        f = max((part.f for part in parts), default=0)
        first = next((n for n in own if parts[n].f == f), None)
        terms = {} if first is None else parts[first].terms
        constant, lo, hi = 0, 0, 0
        for number, part in enumerate(parts):
            up = f - part.f
            constant += part.constant << up
            lo += part.lo << up
            hi += part.hi << up
            if number == first:
                continue
            self._work += len(part.terms)
            for atom, n in part.terms.items():
                total = terms.get(atom, 0) + (n << up)
                if total:
                    terms[atom] = total
                else:
                    del terms[atom]
        if not terms:
            return Form(f, constant, {}, constant, constant)
        return Form(f, constant, terms, lo, hi)

    def _product(self, a: Form, b: Form) -> Form:
        if not a.terms:
            a, b = b, a
        if not b.terms:
            return times(a, b.constant, b.f)
        corners = [x * y for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
        left, right = ([*form.terms.items(), (-1, form.constant)] for form in (a, b))
        if len(left) * len(right) > _MOST_PRODUCTS:
            (one, n), (other, m) = primitive(a), primitive(b)
            product = [x * y for x in (one.lo, one.hi) for y in (other.lo, other.hi)]
            atom = self._atom(("times", *sorted([key_of(one), key_of(other)])), min(product), max(product), 0)
            found = times(atom, n * m, a.f + b.f)
        else:
            pairs = [(x, n, y, m) for x, n in left for y, m in right if n and m]
            found = self._sum([times(self._monomial(x, y), n * m, a.f + b.f) for x, n, y, m in pairs])
        least, most = (raw_of(Form(a.f + b.f, n, {}, n, n), found.f) for n in (min(corners), max(corners)))
        return found._replace(lo=max(least, found.lo), hi=min(most, found.hi)) if found.terms else found

    def _monomial(self, x: int, y: int) -> Form:
        """The product of two atoms, of which -1 is 1."""
        if x < 0 or y < 0:
            return constant_form(1, 0) if x == y else self._itself(max(x, y))
        factors = tuple(sorted(self._factors.get(x, (x,)) + self._factors.get(y, (y,))))
        if len(factors) > _MOST_FACTORS:
            factors = tuple(sorted((x, y)))
        corners = [p * q for p in self._bounds[x] for q in self._bounds[y]]
        atom = self._atom(("product", factors), min(corners), max(corners), 0)
        (number,) = atom.terms
        self._factors[number] = factors
        return atom

    def _itself(self, atom: int) -> Form:
        return Form(0, 0, {atom: 1}, *self._bounds[atom])

    def _interval(self, form: Form) -> tuple[int, int]:
        """The least and largest that the atoms of a form allow, and what is known of it besides."""
        self._work += len(form.terms)
        lo, hi = self._bounds_of(form.constant, form.terms)
        return max(lo, form.lo), min(hi, form.hi)

    def _bounds_of(self, constant: int, terms: dict[int, int]) -> tuple[int, int]:
        lo = hi = constant
        for atom, n in terms.items():
            least, most = self._bounds[atom]
            lo += n * (least if n > 0 else most)
            hi += n * (most if n > 0 else least)
        return lo, hi

    # quantisation

    def _fitted(self, form: Form, kind: FixedType) -> Form:
        """``form`` quantised to ``kind``."""
        if kind.width == 0:
            return ZERO
        form = self._floored(form, kind.f)
        if kind.raw_min <= form.lo and form.hi <= kind.raw_max:
            return form
        lo, hi = self._interval(form)
        if kind.raw_min <= lo and hi <= kind.raw_max:
            return form._replace(lo=lo, hi=hi)
        return self._wrapped_to(form, kind)

    def _floored(self, form: Form, f: int) -> Form:
        """``form`` floored to multiples of ``2**-f``: all that is one stays outside the floor."""
        if form.f <= f:
            return on_grid(form, f)
        down = form.f - f
        lost = (1 << down) - 1
        rest = {atom: n for atom, n in form.terms.items() if n & lost}
        constant, below = form.constant >> down, form.constant & lost
        terms = {atom: n >> down for atom, n in form.terms.items() if not n & lost}
        lo, hi = form.lo >> down, form.hi >> down
        parts = [Form(f, constant, terms, lo, hi)]
        if rest:
            least, most = self._bounds_of(below, rest)
            key = ("floor", key_of(Form(down, below, rest, least, most)))
            parts.append(self._atom(key, least >> down, most >> down, f))
        found = self._sum(parts)
        return found._replace(lo=lo, hi=hi) if found.terms else found

    def _wrapped_to(self, form: Form, kind: FixedType) -> Form:
        """``form``, on the grid of ``kind``, modulo ``2**width``: itself, reduced, if that fits; else an atom."""
        width = kind.width
        modulus, half = 1 << width, 1 << width - 1
        waiting, constant, terms = dict(form.terms), form.constant, dict[int, int]()
        while waiting:
            atom, n = waiting.popitem()
            n = (n + half) % modulus - half
            within = self._wrapped.get(atom)
            if within is not None and not (n << within[1]) % modulus:  # what was wrapped before need not have been
                constant += n * within[0].constant
                for inner, m in within[0].terms.items():
                    waiting[inner] = waiting.get(inner, 0) + n * m + terms.pop(inner, 0)
            elif n:
                terms[atom] = n
        constant = (constant + half) % modulus - half
        if not terms:
            raw = constant % modulus
            return constant_form(raw - modulus if kind.k and raw >= half else raw, kind.f)
        lo, hi = self._bounds_of(constant, terms)
        reduced = Form(kind.f, constant, terms, lo, hi)
        if kind.raw_min <= lo and hi <= kind.raw_max:
            return reduced
        key = ("wrap", kind.k, width, constant, tuple(sorted(terms.items())))
        wrapped = self._atom(key, kind.raw_min, kind.raw_max, kind.f)
        (number,) = wrapped.terms
        self._wrapped[number] = reduced._replace(f=0), width
        return wrapped

    # atoms

    def _atom(self, key: Hashable, lo: int, hi: int, f: int) -> Form:
        """The atom that ``key`` stands for, an integer from ``lo`` to ``hi``, times ``2**-f``."""
        number = self._atoms.setdefault(key, len(self._bounds))
        if number == len(self._bounds):
            self._bounds.append((lo, hi))
        if lo == hi:
            return constant_form(lo, f)
        return Form(f, 0, {number: 1}, lo, hi)

    def _opaque(self, key: Hashable, form: Form) -> Form:
        """An atom in the place of a form."""
        return self._atom(key, form.lo, form.hi, form.f)


def _uses(program: Program) -> list[int]:
    """How often each op is read, by ops and outputs."""
    found = [0] * program.n_ops
    for index in [index for op in program.ops for index in op.operands] + program.out_idx.tolist():
        if index >= 0:
            found[index] += 1
    return found
