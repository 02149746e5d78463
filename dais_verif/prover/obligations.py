"""Proof obligations: for each op with a signal, and for each output, two terms that must be equal.

If the RTL is right, the signal of op N holds the value of the op in the width of the signal: sign- or zero-extended
according to the op's type, or without redundant high bits. Obligations of signals that read this one assume that it
does, and have a variable for the value. Variables are numbered by their place in the obligation, not by op, so ops of
the same shape have the same obligation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from dais_verif.prover.boundary import NOTHING, Boundary
from dais_verif.prover.equal_ops import first_twins
from dais_verif.prover.netlist import Cone, Netlist, Signal
from dais_verif.prover.op_semantics import OpSemantics, bits_of, interpret_op, interpret_output
from dais_verif.prover.terms import Term, const, extract, leaves, resize, var
from dais_verif.spec.program import Op, Program
from dais_verif.spec.program.opcodes import INPUT, MUXES, Code, high_int32

__all__ = ["Builder", "Obligation", "Source"]


class Source(NamedTuple):
    """What a variable stands for: the value of op ``number``, or the bits of input ``number``."""

    kind: str
    number: int


@dataclass(frozen=True, slots=True)
class Obligation:
    """The statement that ``rtl`` and ``wanted`` are equal wherever all of ``given`` are 1, for all values of variables.

    ``sources``: what the variables stand for, by number. ``reads``: the ops whose signals the RTL reads in this cone.
    ``kept``: terms that are 1 where the op and all expanded ops keep their promises.
    """

    rtl: Term
    wanted: Term
    sources: tuple[Source, ...]
    reads: tuple[int, ...]
    kept: tuple[Term, ...] = ()
    given: tuple[Term, ...] = ()

    def variables(self) -> dict[Term, Source]:
        """Return the variables that occur, each with its source."""
        return {
            t: self.sources[int(str(t.data)[1:])]
            for t in leaves(self.rtl, self.wanted)
            if t.op == "var" and not str(t.data).startswith(NOTHING)
        }


@cache
def _numbered(width: int, number: int) -> Term:
    return var(width, f"v{number}")


class _Locals:
    """The variables of one obligation, numbered in the order in which they are met."""

    def __init__(self, builder: Builder, expanded: Callable[[int], bool]) -> None:
        self._builder, self._expanded = builder, expanded
        self.sources: list[Source] = []
        self.terms: dict[Source, Term] = {}
        #: Ops whose signals the RTL reads, even if no variable stands for them.
        self.reads: dict[int, None] = {}
        self._values: dict[int, OpSemantics] = {}
        #: Cached results of ``value``, by op.
        self._asked: dict[int, Term] = {}

    def variable(self, kind: str, index: int, width: int) -> Term:
        source = Source(kind, index)
        term = self.terms.get(source)
        if term is None:
            term = self.terms[source] = _numbered(width, len(self.sources))
            self.sources.append(source)
        return term

    def value(self, index: int) -> Term:
        """Return the value of op ``index``: a variable, or its semantics if it is expanded or not a cut point."""
        known = self._asked.get(index)
        if known is None:
            known = self._asked[index] = self._value(index)
        return known

    def _value(self, index: int) -> Term:
        kind = self._builder.program.ops[index].type
        if kind.width == 0:
            return const(1, 0)
        if index in self._builder.cut and not self._expanded(index):
            bits = min(kind.width, self._builder.cut[index].width)
            # A signal that is narrower than the type cannot stand for a twin of its op.
            number = self._builder.twins[index] if bits == kind.width else index
            return resize(self.variable("op", number, bits), kind.width, bool(kind.k))
        return self.semantics(index).value

    def semantics(self, index: int) -> OpSemantics:
        """Return the semantics of op ``index`` over the values of its operands."""
        waiting = [index]
        while waiting:  # no recursion: chains of ops without signals may be long
            op = self._builder.program.ops[waiting[-1]]
            missing = [i for i in op.operands if self._needs(i)]
            if missing:
                waiting += missing
                continue
            waiting.pop()
            if op.index not in self._values:
                self._values[op.index] = self._meant(op)
        return self._values[index]

    def _needs(self, index: int) -> bool:
        behind = index not in self._builder.cut or self._expanded(index)
        return behind and index not in self._values and self._builder.program.ops[index].type.width > 0

    def _meant(self, op: Op) -> OpSemantics:
        program = self._builder.program
        if op.code == INPUT:
            element = self._builder.boundary.inputs[op.id0]
            return interpret_op(program, op, [self.element(op.id0)] if element.width else [], element)
        operands = [self.value(i) for i in op.operands]
        # Ops of one shape share their semantics. For a mux, the index of the condition is not part of the shape.
        data = high_int32(op.data) if op.code in MUXES else op.data
        shape: tuple[object, ...] = op.code, op.type, data, *operands, *(program.ops[i].type for i in op.operands)
        if op.terms:
            shape += tuple((term.op < 0, term.shift, term.negative) for term in op.terms)
        known = self._builder.meanings.get(shape)
        if known is None:
            known = self._builder.meanings[shape] = interpret_op(program, op, operands)
        return known

    def element(self, index: int) -> Term:
        """Return the bits of input ``index``."""
        return self.variable("input", index, self._builder.boundary.inputs[index].width)

    def known(self, index: int) -> list[tuple[int, Term]]:
        """Return all ops that occur, except op ``index``, with their values: variables, or terms for expanded ops."""
        variables = [(s.number, term) for s, term in self.terms.items() if s.kind == "op"]
        return [*variables, *((i, m.value) for i, m in self._values.items() if i != index)]

    def obligation(self, rtl: Term, wanted: Term) -> Obligation:
        """Return the obligation that the two terms are equal."""
        ops = self._builder.program.ops
        kept = {m.kept: None for i, m in self._values.items() if ops[i].spec.promise and m.kept.op != "const"}
        kept |= {term: None for i, value in list(self._asked.items()) for term in self._builder.checked(i, value)}
        return Obligation(rtl, wanted, tuple(self.sources), tuple(self.reads), tuple(kept))


class Builder:
    """Builds obligations. ``cut``: the signal of each op that is a cut point; ``drop`` removes ops that failed."""

    def __init__(self, program: Program, netlist: Netlist, cut: dict[int, Signal], boundary: Boundary) -> None:
        self.program, self.netlist, self.cut, self.boundary = program, netlist, dict(cut), boundary
        self.twins = first_twins(program)
        #: Cached semantics of ops, by shape.
        self.meanings: dict[object, OpSemantics] = {}
        self._op_of = {signal: index for index, signal in cut.items()}
        #: Lookups whose results have no bits, by operand; such a lookup only promises something about its operand.
        self._checks: dict[int, list[Op]] = {}
        for op in program.ops:
            if op.spec.promise and op.type.width == 0 and op.code == Code.LOOKUP:
                self._checks.setdefault(self.twins[op.id0], []).append(op)

    def checked(self, index: int, value: Term) -> Iterator[Term]:
        """Yield the promises that lookups without bits make about op ``index``, whose value is ``value``."""
        for op in self._checks.get(self.twins[index], ()):
            kept = interpret_op(self.program, op, [value]).kept
            if kept.op != "const":
                yield kept

    @classmethod
    def of_program(cls, program: Program) -> Builder:
        """Return a builder for questions about the program alone, with every op as a cut point."""
        cut = {op.index: Signal(f"op {op.index}", bits_of(op.type), "") for op in program.ops if op.type.width}
        return cls(program, Netlist("", {}, (), ()), cut, Boundary.of_program(program))

    def promise(self, index: int, expanded: Callable[[int], bool], about: Callable[[int, Term], Term]) -> Obligation:
        """Return the obligation that op ``index`` keeps its promise, given that all expanded ops keep theirs.

        ``about``: returns the lemma about an op, as a term over the value of the op.
        """
        inside = _Locals(self, lambda i: i == index or expanded(i))
        kept = inside.semantics(index).kept
        before = inside.obligation(kept, const(1, 1))
        lemmas = [about(i, value) for i, value in inside.known(index)]
        given = [term for term in (*before.kept, *lemmas) if term is not kept and term.op != "const"]
        return replace(before, given=tuple(dict.fromkeys(given)))

    def over_inputs(self, index: int) -> tuple[Term, dict[Term, int], tuple[Term, ...]]:
        """Return the value of op ``index`` over inputs, the input of each variable, and the promises as terms."""
        inside = _Locals(self, lambda i: True)
        value = inside.value(index)
        found = inside.obligation(value, value)
        return value, {term: source.number for term, source in found.variables().items()}, found.kept

    def drop(self, index: int) -> None:
        """Remove op ``index`` from the cut points."""
        del self._op_of[self.cut.pop(index)]

    def op(self, index: int, expanded: Callable[[int], bool] = lambda index: False) -> Obligation:
        """Return the obligation that the signal of op ``index``, a cut point, has the value of the op.

        ``expanded``: which ops are replaced by their semantics although they are cut points.
        """
        inside = _Locals(self, expanded)
        signal, kind = self.cut[index], self.program.ops[index].type
        value = inside.semantics(index).value
        # Compare all bits even if the signal is narrower than the type: dropped bits must be redundant.
        width = max(signal.width, value.width)
        rtl = self._cone(inside).behind(signal)
        return inside.obligation(resize(rtl, width, bool(kind.k)), self.stored(index, value, width))

    def output(self, index: int, expanded: Callable[[int], bool] = lambda index: False) -> Obligation:
        """Return the obligation that output ``index``, which has bits, equals the same output of the program."""
        inside = _Locals(self, expanded)
        wanted = const(1, 0)
        if self.boundary.own[index].width:
            op, _, negated = self.program.outputs[index]
            wanted = interpret_output(self.program.ops[op].type, inside.value(op), negated)
        rtl = self.boundary.result(index, self._cone(inside).read)
        return inside.obligation(*self.boundary.as_numbers(index, rtl, wanted))

    def no_output(self, port: Signal) -> Obligation:
        """Return the obligation that ``port``, which carries no output bits, is tied to 0."""
        inside = _Locals(self, lambda index: False)
        return inside.obligation(self._cone(inside).read(port, 0, port.width), const(port.width, 0))

    def meaning_of(self, index: int) -> tuple[Term, dict[int, Term]]:
        """Return the value of op ``index`` over variables for its operands, and these variables by operand."""
        op = self.program.ops[index]
        terms = {i: const(1, 0) for i in op.operands}
        for number, i in enumerate(terms):
            if self.program.ops[i].type.width:
                terms[i] = var(bits_of(self.program.ops[i].type), f"v{number}")
        if op.code != INPUT:
            return interpret_op(self.program, op, [terms[i] for i in op.operands]).value, terms
        element = self.boundary.inputs[op.id0]
        operands = [var(element.width, "v0")] if element.width else []
        return interpret_op(self.program, op, operands, element).value, {}

    def stored(self, index: int, value: Term, width: int) -> Term:
        """Return the bits that a signal of ``width`` bits holds for the value of op ``index``."""
        kind = self.program.ops[index].type
        return resize(value, width, bool(kind.k)) if kind.width else const(width, 0)

    def _cone(self, inside: _Locals) -> Cone:
        def cut(signal: Signal, low: int, width: int) -> Term | None:
            index = self._op_of.get(signal)
            if index is not None:
                inside.reads[index] = None
                return extract(self.stored(index, inside.value(index), signal.width), low, width)
            return self.boundary.given(signal, low, width, inside.element)

        return Cone(cut)
