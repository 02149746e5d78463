"""Prove outputs of RTL that have the same form as the program's, independently of the signals in the RTL."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dais_verif.base.errors import InputError
from dais_verif.prover.arithmetic.combinations import TooMuchError
from dais_verif.prover.arithmetic.linear import ZERO, Form, Key, constant_form, key_of, negated, on_grid
from dais_verif.prover.arithmetic.recipes import Other
from dais_verif.prover.arithmetic.residue_atoms import Atoms
from dais_verif.prover.boundary import Boundary
from dais_verif.prover.netlist import Cone, Netlist, Read, Signal
from dais_verif.prover.op_semantics import bits_of, interpret_op, interpret_output
from dais_verif.prover.random_simulation import WORD
from dais_verif.prover.terms import Term, const, extract, leaves, nodes, var
from dais_verif.spec.program import Program
from dais_verif.spec.program.opcodes import INPUT

__all__ = ["Words", "same_forms"]


def same_forms(program: Program, netlist: Netlist, boundary: Boundary) -> bool:
    """Return whether all outputs of the RTL have the same forms as the program's, so they are equal for all inputs.

    False means only that no proof was found: undefined values have no form, and forms may be too large.
    """
    if any(not wire.width for _, wire in boundary.wires):
        return False
    try:
        sides = Sides(program, netlist, boundary)
        return all(a == b for a, b in map(sides.output, boundary.claimed))
    except (InputError, RecursionError, TooMuchError, UndefinedError):
        return False


class UndefinedError(Exception):
    """The RTL reads an undefined value."""


class Sides:
    """Forms of a program's ops and of the signals of RTL, over the same inputs."""

    def __init__(self, program: Program, netlist: Netlist, boundary: Boundary) -> None:
        self.program, self.boundary = program, boundary
        self.words = Words()
        signed = {op.id0 for op in program.ops if op.code == INPUT and op.type.k}
        self._inputs = [
            self.words.input(number, element.width, signed=number in signed) if element.width else ZERO
            for number, element in enumerate(boundary.inputs)
        ]
        self._names: dict[Key, Form] = {}
        #: Operands of ops with several operands. Only these get named atoms; other values, such as a sum that is then
        #: rounded, may not exist in the RTL.
        self._summed = {operand for op in program.ops if len(op.operands) > 1 for operand in op.operands}
        self.ops: list[Form] = []
        for op in program.ops:
            self.ops.append(self._op(op.index))
        self.signals: dict[Signal, Form] = {}
        driven = [signal for signal in netlist.signals.values() if signal.drivers]
        #: Signals with their own form. Wide signals that only carry other signals are read part by part.
        self._stops = {s for s in driven if s.width <= WORD or any(not d.part for d in s.drivers)}

    def _op(self, index: int) -> Form:
        op = self.program.ops[index]
        if not op.type.width:
            return ZERO
        if op.code == INPUT:
            element = self.boundary.inputs[op.id0]
            operands = [var(element.width, "v0")] if element.width else []
            given = dict(zip(operands, [self._inputs[op.id0]], strict=False))
            value = interpret_op(self.program, op, operands, element).value
        else:
            kinds = [self.program.ops[i].type for i in op.operands]
            operands = [var(bits_of(kind), f"v{n}") for n, kind in enumerate(kinds)]
            given = dict(zip(operands, [self.ops[i] for i in op.operands], strict=True))
            value = interpret_op(self.program, op, operands).value
        form = self._exact(self.words.form(value, given), bits_of(op.type), bool(op.type.k))
        self.words.atoms.learn(form, bits_of(op.type))
        return self._named(form, index)

    def _named(self, form: Form, index: int) -> Form:
        """Return a named atom for a value that is not a combination, such as an activation; this keeps forms small."""
        atoms = self.words.atoms
        key = key_of(form)
        if (
            index in self._summed
            and key not in self._names
            and not all(isinstance(atoms.recipes[atom], Other) for atom in form.terms)
        ):
            kind, near = self.program.ops[index].type, atoms.close(form._replace(f=0))
            lo, hi = max(kind.raw_min, -(-near.lo >> form.f)), min(kind.raw_max, near.hi >> form.f)
            self._names[key] = atoms.name(("op", index), form, lo, hi, kind.width)
        return self._names.get(key, form)

    def _exact(self, form: Form, bits: int, signed: bool) -> Form:
        return self.words.atoms.signed(form, bits) if signed else self.words.atoms.low(form, bits)

    def output(self, number: int) -> tuple[Key, Key]:
        """Return the keys of output ``number`` of RTL and program; if the keys are equal, so are the values."""
        wanted, given = const(1, 0), dict[Term, Form]()
        if self.boundary.own[number].width:
            op, _, negated = self.program.outputs[number]
            operand = var(bits_of(self.program.ops[op].type), "v0")
            wanted = interpret_output(self.program.ops[op].type, operand, negated)
            given = {operand: self.ops[op]}
        bits = var(max(self.boundary.outputs[number].width, 1), "found")
        found = self._evaluated(lambda read: self.boundary.result(number, read))
        pair = self.boundary.as_numbers(number, bits, wanted)
        a, b = (self.words.unsigned(t, self.words.form(t, {**given, bits: found})) for t in pair)
        return key_of(a), key_of(b)

    def _evaluated(self, make: Callable[[Read], Term]) -> Form:
        """Compute the form of a term, after those of all signals that it reads, without recursion."""
        waiting: list[Signal | None] = [None]
        terms: dict[Signal | None, tuple[Term, dict[Term, Signal | int]]] = {}
        while True:
            signal = waiting[-1]
            if signal in self.signals:
                waiting.pop()
                continue
            if signal not in terms:
                terms[signal] = self._term(make, signal)
            term, reads = terms[signal]
            missing = [s for s in reads.values() if isinstance(s, Signal) and s not in self.signals]
            circular = {source for source in missing if source in terms}
            if circular:
                self._stops -= circular
                waiting, terms = [None], {}
                continue
            if missing:
                waiting += missing
                continue
            del terms[signal]
            waiting.pop()
            if any(t not in reads for t in leaves(term)):
                raise UndefinedError
            given = {t: self.signals[s] if isinstance(s, Signal) else self._inputs[s] for t, s in reads.items()}
            form = self.words.form(term, given)
            if signal is None:
                return form
            form = self.words.atoms.normal(form, signal.width)
            self.signals[signal] = self._names.get(key_of(form), form)

    def _term(self, make: Callable[[Read], Term], signal: Signal | None) -> tuple[Term, dict[Term, Signal | int]]:
        reads: dict[Term, Signal | int] = {}

        def element(number: int) -> Term:
            term = var(self.boundary.inputs[number].width, f"input {number}")
            reads[term] = number
            return term

        def cut(source: Signal, low: int, width: int) -> Term | None:
            if source not in self._stops:
                return self.boundary.given(source, low, width, element)
            term = var(source.width, f"wire {source.name}")
            reads[term] = source
            return extract(term, low, width)

        cone = Cone(cut)
        return (make(cone.read) if signal is None else cone.behind(signal)), reads


# Terms as forms: each word is a combination of atoms that equals the word modulo ``2**width``.


class Words:
    """Converts terms to forms, given the forms of variables."""

    def __init__(self) -> None:
        self.atoms = Atoms()

    def form(self, root: Term, given: Mapping[Term, Form]) -> Form:
        """Return a form that equals ``root`` modulo ``2**width``."""
        found: dict[Term, Form] = dict(given)
        for t in nodes(root):
            if t not in found:
                rule = _RULES.get(t.op, Words._other)
                found[t] = rule(self, t, [found[x] for x in t.args])
        return found[root]

    def unsigned(self, t: Term, form: Form) -> Form:
        """Return the unsigned value of ``t``; ``form`` equals ``t`` modulo ``2**width``."""
        return self.atoms.low(form, t.width)

    def input(self, name: object, width: int, *, signed: bool = True) -> Form:
        """Return an input variable of ``width`` bits; if ``signed``, as the low bits of a two's complement number."""
        if not signed:
            return self.atoms.other(("input", name), (), 0, (1 << width) - 1)
        number = self.atoms.other(("input", name), (), -(1 << width - 1), (1 << width - 1) - 1)
        return self.atoms.low(number, width)

    def _const(self, t: Term, of: list[Form]) -> Form:
        return constant_form(t.value, 0)

    def _add(self, t: Term, of: list[Form]) -> Form:
        return self.atoms.plus(self.atoms.sum(*of), t.low)

    def _neg(self, t: Term, of: list[Form]) -> Form:
        return negated(of[0])

    def _not(self, t: Term, of: list[Form]) -> Form:
        return self.atoms.plus(negated(of[0]), -1)

    def _mul(self, t: Term, of: list[Form]) -> Form:
        for a, b in (of, of[::-1]):
            if not b.terms:
                return self.atoms.scaled(a, b.constant)
        return self._other(t, of)

    def _concat(self, t: Term, of: list[Form]) -> Form:
        place, parts = 0, []
        for number in range(len(of) - 1, -1, -1):
            x = t.args[number]
            form = of[number] if number == 0 else self.unsigned(x, of[number])
            parts.append(self.atoms.scaled(form, 1 << place))
            place += x.width
        return self.atoms.sum(*parts)

    def _extract(self, t: Term, of: list[Form]) -> Form:
        return self.atoms.shifted_down(of[0], t.low)

    def _sext(self, t: Term, of: list[Form]) -> Form:
        return self.atoms.signed(of[0], t.args[0].width)

    def _ite(self, t: Term, of: list[Form]) -> Form:
        bit = self.unsigned(t.args[0], of[0])
        one, other = of[1:]
        if not one.terms and not one.constant:
            return self.atoms.masked(self._inverted(bit), other)
        found = self.atoms.sum(other, self.atoms.masked(bit, self.atoms.minus(one, other)))
        f = max(one.f, other.f, found.f)
        either = on_grid(one, f), on_grid(other, f)
        least = min(form.lo for form in either) >> f - found.f
        most = -(-max(form.hi for form in either) >> f - found.f)
        return found._replace(lo=max(found.lo, least), hi=min(found.hi, most))

    def _inverted(self, bit: Form) -> Form:
        return self.atoms.plus(negated(bit), 1)

    def _and(self, t: Term, of: list[Form]) -> Form:
        """Return the AND of two words; if one consists of copies of a bit, it masks the other."""
        for form, other in (of, of[::-1]):
            bit = self.atoms.low(form, 1)
            if self.atoms.vanishes(self.atoms.sum(form, bit), t.width):  # the word is -1 or 0
                return self.atoms.masked(bit, other)
        return self._other(t, of)

    def _less(self, t: Term, of: list[Form]) -> Form:
        read = self.atoms.signed if t.op == "slt" else self.atoms.low
        a, b = (read(form, x.width) for form, x in zip(of, t.args, strict=True))
        return self.atoms.negative(self.atoms.minus(a, b))

    def _other(self, t: Term, of: list[Form]) -> Form:
        """Return an atom for an operation without a rule, which equal operations on equal words share."""
        words = [self.unsigned(x, form) for x, form in zip(t.args, of, strict=True)]
        if t.op in ("and", "or", "xor", "mul", "eq"):
            words.sort(key=key_of)
        return self.atoms.other((t.op, t.width, t.data), tuple(words), 0, (1 << t.width) - 1)


_RULES: dict[str, Callable[[Words, Term, list[Form]], Form]] = {
    "const": Words._const,
    "add": Words._add,
    "neg": Words._neg,
    "not": Words._not,
    "mul": Words._mul,
    "concat": Words._concat,
    "extract": Words._extract,
    "sext": Words._sext,
    "ite": Words._ite,
    "and": Words._and,
    "ult": Words._less,
    "slt": Words._less,
}
