"""Prove outputs of RTL that have the same form as the program's, independently of the signals in the RTL."""

from __future__ import annotations

from collections.abc import Callable

from dais_verif.errors import InputError
from dais_verif.program import Program
from dais_verif.program.opcodes import INPUT
from dais_verif.prover.boundary import Boundary
from dais_verif.prover.form import ZERO, Form, Key, key_of
from dais_verif.prover.netlist import Cone, Netlist, Read, Signal
from dais_verif.prover.op_semantics import bits_of, interpret_op, interpret_output
from dais_verif.prover.random_simulation import WORD
from dais_verif.prover.residues.combinations import TooMuchError
from dais_verif.prover.residues.recipes import Other
from dais_verif.prover.residues.words import Words
from dais_verif.prover.terms import Term, const, extract, leaves, var

__all__ = ["same_forms"]


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
