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
from math import gcd
from typing import Final, NamedTuple

from dais_verif.prover.shared_inputs import Node
from dais_verif.spec.program import FixedType, Op, Program
from dais_verif.spec.program.opcodes import INPUT, MUXES, QUANTS, RELUS, Code, bitwise_fields, high_int32, low_int32

__all__ = [
    "Atoms",
    "Form",
    "Key",
    "LinearForms",
    "ZERO",
    "constant_form",
    "key_of",
    "negated",
    "on_grid",
    "primitive",
    "raw_of",
    "shifted",
    "times",
]


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


# Atoms, of which forms are combinations: integers that are identified by their construction, each with bounds.
#
# An atom is an input, a product of atoms, or a value that is not a combination: a floored or wrapped value, or the
# choice of a mux. Equal constructions give the same atom, so the same operation on equal forms gives equal forms.


#: Maximum number of products into which two factors are multiplied out, and of factors of one product.
_MOST_PRODUCTS, _MOST_FACTORS = 64, 8


class Atoms:
    """All atoms so far, and the operations on forms that may add atoms.

    ``bounds``: the least and largest value of each atom. ``wrapped``: for each atom that is a wrapped value, the form
    that was wrapped and the binary logarithm of the modulus. ``work``: the number of terms that were added or examined.
    """

    def __init__(self) -> None:
        self.bounds: list[tuple[int, int]] = []
        self.wrapped: dict[int, tuple[Form, int]] = {}
        self.work = 0
        self._numbers: dict[Hashable, int] = {}
        #: The factors of each atom that is a product.
        self._factors: dict[int, tuple[int, ...]] = {}

    def atom(self, key: Hashable, lo: int, hi: int, f: int) -> Form:
        """Return the atom that ``key`` stands for, an integer from ``lo`` to ``hi``, times ``2**-f``."""
        number = self._numbers.setdefault(key, len(self.bounds))
        if number == len(self.bounds):
            self.bounds.append((lo, hi))
        if lo == hi:
            return constant_form(lo, f)
        return Form(f, 0, {number: 1}, lo, hi)

    def where_negative(self, condition: Form, one: Form, other: Form) -> Form:
        """Return ``one`` where ``condition`` is negative, else ``other``.

        The result is ``other`` plus an atom that is ``one - other`` where ``condition`` is negative, else 0.
        """
        if condition.hi < 0 or condition.lo >= 0:
            return one if condition.hi < 0 else other
        lo, hi = self._interval(condition)
        if hi < 0 or lo >= 0:
            return one if hi < 0 else other
        factor = gcd(*condition.terms.values())
        terms = {atom: n // factor for atom, n in condition.terms.items()}
        constant = condition.constant // factor  # floor division keeps the sign of the sum
        difference = self.sum([one, negated(other)])
        if not difference.terms and not difference.constant:
            return other
        unit, scale = primitive(difference)
        # If both arms are equal where the condition is 0, as for the maximum of two numbers, either may be taken there.
        equal_at_zero = condition.constant % factor == 0 and _along(unit, condition)
        if equal_at_zero and hi <= 0:
            return one
        if terms[min(terms)] < 0:
            terms = {atom: -n for atom, n in terms.items()}
            constant = -constant - (0 if equal_at_zero else 1)
            one, other, scale = other, one, -scale
        factor = scale
        if (unit.terms[min(unit.terms)] if unit.terms else unit.constant) < 0:
            unit, factor = negated(unit), -factor
        key = ("where", constant, tuple(sorted(terms.items())), key_of(unit))
        chosen = self.atom(key, min(0, unit.lo), max(0, unit.hi), 0)
        found = self.sum([other, times(chosen, factor, difference.f)])
        f = max(found.f, one.f, other.f)
        found, one, other = (on_grid(form, f) for form in (found, one, other))
        return found._replace(lo=max(found.lo, min(one.lo, other.lo)), hi=min(found.hi, max(one.hi, other.hi)))

    def sum(self, parts: Sequence[Form], own: Sequence[int] = ()) -> Form:
        """Return the sum; ``own``: indices of the parts whose ``terms`` may be modified in place."""
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
            self.work += len(part.terms)
            for atom, n in part.terms.items():
                total = terms.get(atom, 0) + (n << up)
                if total:
                    terms[atom] = total
                else:
                    del terms[atom]
        if not terms:
            return Form(f, constant, {}, constant, constant)
        return Form(f, constant, terms, lo, hi)

    def product(self, a: Form, b: Form) -> Form:
        """Return the product, multiplied out unless that gives too many terms."""
        if not a.terms:
            a, b = b, a
        if not b.terms:
            return times(a, b.constant, b.f)
        corners = [x * y for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
        left, right = ([*form.terms.items(), (-1, form.constant)] for form in (a, b))
        if len(left) * len(right) > _MOST_PRODUCTS:
            (one, n), (other, m) = primitive(a), primitive(b)
            product = [x * y for x in (one.lo, one.hi) for y in (other.lo, other.hi)]
            atom = self.atom(("times", *sorted([key_of(one), key_of(other)])), min(product), max(product), 0)
            found = times(atom, n * m, a.f + b.f)
        else:
            pairs = [(x, n, y, m) for x, n in left for y, m in right if n and m]
            found = self.sum([times(self._monomial(x, y), n * m, a.f + b.f) for x, n, y, m in pairs])
        least, most = (raw_of(Form(a.f + b.f, n, {}, n, n), found.f) for n in (min(corners), max(corners)))
        return found._replace(lo=max(least, found.lo), hi=min(most, found.hi)) if found.terms else found

    def _monomial(self, x: int, y: int) -> Form:
        """Return the product of two atoms; atom number -1 stands for the constant 1."""
        if x < 0 or y < 0:
            return constant_form(1, 0) if x == y else self._itself(max(x, y))
        factors = tuple(sorted(self._factors.get(x, (x,)) + self._factors.get(y, (y,))))
        if len(factors) > _MOST_FACTORS:
            factors = tuple(sorted((x, y)))
        corners = [p * q for p in self.bounds[x] for q in self.bounds[y]]
        atom = self.atom(("product", factors), min(corners), max(corners), 0)
        (number,) = atom.terms
        self._factors[number] = factors
        return atom

    def _itself(self, atom: int) -> Form:
        return Form(0, 0, {atom: 1}, *self.bounds[atom])

    def _interval(self, form: Form) -> tuple[int, int]:
        """Return the least and largest value of a form, from the bounds of its atoms and its own bounds."""
        self.work += len(form.terms)
        lo, hi = self._bounds_of(form.constant, form.terms)
        return max(lo, form.lo), min(hi, form.hi)

    def _bounds_of(self, constant: int, terms: dict[int, int]) -> tuple[int, int]:
        lo = hi = constant
        for atom, n in terms.items():
            least, most = self.bounds[atom]
            lo += n * (least if n > 0 else most)
            hi += n * (most if n > 0 else least)
        return lo, hi

    def fitted(self, form: Form, kind: FixedType) -> Form:
        """Return ``form`` quantised to ``kind``: TRUNC, then WRAP."""
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
        """Return ``form`` floored to multiples of ``2**-f``; terms that are such multiples stay outside the floor."""
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
            rest, below, down = self._without_low_bits(rest, below, down)
            least, most = self._bounds_of(below, rest)
            if not down:
                parts.append(Form(f, below, rest, least, most))
            else:
                key = ("floor", key_of(Form(down, below, rest, least, most)))
                parts.append(self.atom(key, least >> down, most >> down, f))
        found = self.sum(parts)
        return found._replace(lo=lo, hi=hi) if found.terms else found

    def _without_low_bits(self, terms: dict[int, int], constant: int, down: int) -> tuple[dict[int, int], int, int]:
        """Return an equal floor that drops fewer bits.

        If a single one-bit atom is odd, that bit and the constant alone decide the lowest bit, which can be removed.
        Rounded values then have the same form whatever their ``f``, even if one step of the rounding breaks ties.
        """
        while down:
            odd = [atom for atom, n in terms.items() if n & 1]
            bits = [atom for atom in odd if self.bounds[atom][1] - self.bounds[atom][0] == 1]
            if len(odd) > 1 or bits != odd:
                break
            terms = dict(terms)
            for atom in bits:  # the value of the atom is least + bit; the bit carries if the rest is odd
                least = self.bounds[atom][0]
                rest = constant + terms[atom] * least
                terms[atom] += 1 if rest & 1 else -1
                constant = rest - terms[atom] * least
            terms = {atom: n >> 1 for atom, n in terms.items() if n}
            constant, down = constant >> 1, down - 1
            self.work += len(terms)
        return terms, constant, down

    def _wrapped_to(self, form: Form, kind: FixedType) -> Form:
        """Return ``form``, in units of ``kind``, modulo ``2**width``: the reduced form if it fits, else an atom."""
        width = kind.width
        modulus, half = 1 << width, 1 << width - 1
        waiting, constant, terms = dict(form.terms), form.constant, dict[int, int]()
        while waiting:
            atom, n = waiting.popitem()
            n = (n + half) % modulus - half
            within = self.wrapped.get(atom)
            if within is not None and not (n << within[1]) % modulus:  # the inner wrap changes nothing here
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
        wrapped = self.atom(key, kind.raw_min, kind.raw_max, kind.f)
        (number,) = wrapped.terms
        self.wrapped[number] = reduced._replace(f=0), width
        return wrapped


def _along(unit: Form, condition: Form) -> bool:
    """Return whether a primitive form is plus or minus the primitive form of ``condition``, so both are 0 together."""
    own, _ = primitive(condition)
    return key_of(unit) in (key_of(own), key_of(negated(own)))


# Integer combinations of atoms with a binary point and bounds: exact arithmetic, and keys to compare them.


class Form(NamedTuple):
    """The value ``2**-f * (constant + sum of coefficient * atom)``.

    ``terms``: the coefficient of each atom. ``lo``, ``hi``: bounds of the raw value, which is the value times ``2**f``.
    """

    f: int
    constant: int
    terms: dict[int, int]
    lo: int
    hi: int


#: The normalised form that is compared: no common factor 2, terms sorted by atom.
Key = tuple[int, int, tuple[tuple[int, int], ...]]

ZERO: Final = Form(0, 0, {}, 0, 0)


def key_of(form: Form) -> Key:
    """Return a key that is equal for two forms if they are the same combination, even with different ``f``."""
    together = form.constant
    for n in form.terms.values():
        together |= n
    if not together:
        return 0, 0, ()
    zeros = (together & -together).bit_length() - 1
    return form.f - zeros, form.constant >> zeros, tuple(sorted((atom, n >> zeros) for atom, n in form.terms.items()))


def constant_form(value: int, f: int) -> Form:
    """Return ``value * 2**-f``."""
    return Form(f, value, {}, value, value)


def raw_of(form: Form, f: int) -> int:
    """Return the value of a constant form in units of ``2**-f``; it must be a multiple of this unit."""
    return form.constant << f - form.f if f >= form.f else form.constant >> form.f - f


def on_grid(form: Form, f: int) -> Form:
    """Return the same value in units of ``2**-f``; ``f`` must not be less than ``form.f``."""
    up = f - form.f
    if not up:
        return form
    terms = {atom: n << up for atom, n in form.terms.items()}
    return Form(f, form.constant << up, terms, form.lo << up, form.hi << up)


def negated(form: Form) -> Form:
    """Return minus ``form``."""
    terms = {atom: -n for atom, n in form.terms.items()}
    return Form(form.f, -form.constant, terms, -form.hi, -form.lo)


def shifted(form: Form, shift: int, *, negative: bool = False) -> Form:
    """Return ``form`` times ``2**shift``, negated if ``negative``."""
    form = negated(form) if negative else form
    return form._replace(f=form.f - shift) if shift else form


def times(form: Form, factor: int, f: int) -> Form:
    """Return ``form`` times the constant ``factor * 2**-f``."""
    if not factor:
        return ZERO
    lo, hi = sorted((form.lo * factor, form.hi * factor))
    terms = {atom: n * factor for atom, n in form.terms.items()}
    return Form(form.f + f, form.constant * factor, terms, lo, hi)


def primitive(form: Form) -> tuple[Form, int]:
    """Return the raw value of ``form`` divided by the gcd of its constant and coefficients, and that gcd."""
    factor = gcd(form.constant, *form.terms.values()) or 1
    terms = {atom: n // factor for atom, n in form.terms.items()}
    return Form(0, form.constant // factor, terms, -(-form.lo // factor), form.hi // factor), factor
