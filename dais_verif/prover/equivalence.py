"""Compare two programs for all inputs: prove equal what random simulation cannot distinguish.

Ops whose values are the same real numbers on many random inputs are candidates. In SSA order, each op of the second
program is proved equal to a candidate of the first, if that succeeds. Variables replace the ops that lie further back,
and equal ops share a variable, so later ops are compared over the same variables. Outputs come last, with cones that
grow until the question is decided. Values are those of hardware: a value that breaks a promise is quantised on both
sides.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from dais_verif.prover.arithmetic.linear import LinearForms
from dais_verif.prover.limits import one_at_a_time
from dais_verif.prover.op_semantics import aligned, as_type, bits_of, interpret_op
from dais_verif.prover.shared_inputs import ROWS, Inputs, Node, simulated
from dais_verif.prover.solve.discharge import Discharge, decide
from dais_verif.prover.terms import Term, const, var
from dais_verif.record.proof import Method
from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.graph import cone
from dais_verif.spec.program.opcodes import INPUT, Code

__all__ = ["Equivalence", "compare_programs"]

#: Levels of ops behind a candidate, and behind an output, that a question includes; None: all, down to the inputs.
_OP_DEPTHS = (1, 2, 4)
_OUTPUT_DEPTHS = (1, 2, 4, 8, 16, None)
#: Time limit for one candidate, in seconds: there are many candidates, and the comparison needs none of them.
_OP_SECONDS = 1.0
#: Maximum number of ops in one question, not counting the ops that both programs have.
_MOST_INSIDE = 500
#: Maximum number of outputs for which inputs that are likely to show a difference are tried.
_TRIED = 64
#: Maximum number of candidates that are tried for one op.
_CANDIDATES = 2


@dataclass(frozen=True)
class Equivalence:
    """The result of a comparison of two programs.

    ``equal``: whether each output is equal; None: undecided. ``witness``: the values of inputs on which an output
    differs. ``merged``: the number of ops of the second program that were proved equal to one of the first.
    ``seconds``: wall time. ``methods``: how many ops and outputs each method decided.
    """

    equal: tuple[bool | None, ...]
    witness: tuple[Fraction, ...] | None
    merged: int
    seconds: float
    methods: Counter[Method] = field(default_factory=Counter)

    @property
    def proved(self) -> list[int]:
        """The outputs that are equal for all inputs."""
        return [output for output, equal in enumerate(self.equal) if equal]

    @property
    def undecided(self) -> list[int]:
        """The undecided outputs."""
        return [output for output, equal in enumerate(self.equal) if equal is None]


@one_at_a_time
def compare_programs(
    a: Program,
    b: Program,
    *,
    timeout: float = 20.0,
    seed: int = 0,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> Equivalence:
    """Decide for each output whether ``a`` and ``b`` give the same real number for all inputs.

    Both programs must have the same number of inputs and of outputs. ``timeout``: seconds for each question about an
    output. ``tell``: called with the number of ops and outputs that are done, and the total.
    """
    start = time.perf_counter()
    forms = LinearForms((a, b))
    equal: list[bool | None] = [forms.output(0, n) == forms.output(1, n) or None for n in range(b.n_out)]
    left = [output for output, known in enumerate(equal) if not known]
    if not left:
        methods = Counter({Method.IDENTICAL: b.n_out})
        return Equivalence(tuple(equal), None, 0, time.perf_counter() - start, methods)
    tried = [inputs for output in left[:_TRIED] for inputs in forms.extremes(output)]
    search = _Search((a, b), seed, timeout, tried)
    for output in left:
        row = search.differing_row(output)
        if row is not None:
            equal[output] = False
            return Equivalence(tuple(equal), search.vector(row), 0, time.perf_counter() - start, search.methods)
    search.methods[Method.IDENTICAL] += b.n_out - len(left)
    needed = cone(b, [b.outputs[output][0] for output in left if b.outputs[output][0] >= 0])
    search.merge_by_form(forms, needed)
    total, looked = b.n_ops + b.n_out, frozenset(needed)
    for index in forms.again():
        if index in looked:
            search.merge_anew(forms, index)
            tell(index + 1, total)
    witness = None
    for output in left:
        if forms.output(0, output) == forms.output(1, output):
            search.methods[Method.IDENTICAL] += 1
            equal[output] = True
            continue
        decision = search.output(output)
        equal[output] = decision.equal
        if decision.equal is False:
            witness = search.inputs.vector(decision.model)
            break
        tell(b.n_ops + output + 1, total)
    return Equivalence(tuple(equal), witness, len(search.same), time.perf_counter() - start, search.methods)


class _Search:
    """State of a comparison. ``same``: maps ops of the second program to the equal op of the first."""

    def __init__(
        self, programs: tuple[Program, Program], seed: int, timeout: float, tried: Sequence[Mapping[int, Fraction]]
    ) -> None:
        self.programs, self.timeout = programs, timeout
        self.inputs = Inputs.of(programs)
        self.same: dict[Node, Node] = {}
        #: The type that holds all values common to an op of the first program and the ops that equal it.
        self.held: dict[Node, FixedType] = {}
        self.methods: Counter[Method] = Counter()
        self._given = self.inputs.random(seed, tried)
        self._keys = simulated(programs, self.inputs, self._given)
        #: Ops of the first program that equal an op of the second.
        self._common: set[Node] = set()
        #: Ops of the first program by their form.
        self._formed: dict[object, Node] = {}
        self._candidates: dict[object, list[Node]] = {}
        for op in programs[0].ops:
            if op.type.width:
                self._candidates.setdefault(self._keys[Node(0, op.index)], []).append(Node(0, op.index))

    def kind(self, node: Node) -> FixedType:
        """Return the type of an op."""
        return self.programs[node.side].ops[node.op].type

    def differing_row(self, output: int) -> int | None:
        """Return the first simulated row in which an output differs; None if there is none."""
        a, b = (self._values(side, output) for side in (0, 1))
        return next((row for row, (x, y) in enumerate(zip(a, b, strict=True)) if x != y), None)

    def _values(self, side: int, output: int) -> list[Fraction]:
        index, shift, negated = self.programs[side].outputs[output]
        f, raws = (0, (0,)) if index < 0 else self._keys[Node(side, index)]
        unit = Fraction(2) ** (shift - f) * (-1 if negated else 1)
        values = [raw * unit for raw in raws]
        return values if len(values) > 1 else values * ROWS

    def vector(self, row: int) -> tuple[Fraction, ...]:
        """Return the inputs of one row."""
        return self.inputs.vector({variable: int(values[row]) for variable, values in self._given.items()})

    def merge_by_form(self, forms: LinearForms, ops: Iterable[int]) -> None:
        """Merge each of ``ops`` of the second program with an op of the first that has the same form."""
        for op in self.programs[0].ops:
            if op.type.width:
                self._formed.setdefault(forms.key(Node(0, op.index)), Node(0, op.index))
        for index in ops:
            self._merge_formed(forms, Node(1, index))

    def _merge_formed(self, forms: LinearForms, node: Node) -> None:
        found = self._formed.get(forms.key(node))
        if found is not None and self.kind(node).width:
            self._take(node, found, Method.IDENTICAL)

    def merge_anew(self, forms: LinearForms, index: int) -> None:
        """Merge op ``index``, by its form or else with a solver, after the ops before it have been merged.

        Later forms are built on the result.
        """
        node = Node(1, index)
        if node in self.same:
            return
        self._merge_formed(forms, node)
        self.merge(node)
        if node in self.same:
            forms.equate(index, self.same[node].op)

    def _take(self, node: Node, candidate: Node, method: Method) -> None:
        self.methods[method] += 1
        self.same[node] = candidate
        self._common.add(candidate)
        self.held[candidate] = _both(self.held.get(candidate, self.kind(candidate)), self.kind(node))

    def merge(self, node: Node) -> None:
        """Merge ``node`` with an op of the first program that is proved equal to it, if one is found."""
        if node in self.same or not self.kind(node).width:
            return
        for candidate in self._candidates.get(self._keys[node], [])[:_CANDIDATES]:
            for depth in _OP_DEPTHS:
                view = _View(self, self._behind((node, candidate), depth))
                sides = aligned(self.kind(node), view.value(node), self.kind(candidate), view.value(candidate))
                decision = decide(*sides, (), min(_OP_SECONDS, self.timeout))
                if decision.equal:
                    self._take(node, candidate, decision.method)
                    return
                if decision.equal is None or not view.cut:
                    break

    def output(self, output: int) -> Discharge:
        """Decide whether an output is the same in both programs; a model of a difference assigns only inputs."""
        decision = Discharge(None, Method.IDENTICAL, 0.0)
        roots = [
            self.same.get(node, node)
            for side, program in enumerate(self.programs)
            if (node := Node(side, program.outputs[output][0])).op >= 0
        ]
        for depth in _OUTPUT_DEPTHS:
            view = _View(self, self._behind(roots, depth))
            (kind_a, value_a), (kind_b, value_b) = (view.output(side, output) for side in (0, 1))
            decision = decide(*aligned(kind_a, value_a, kind_b, value_b), (), self.timeout)
            if decision.equal or (decision.equal is False and not view.cut):
                self.methods[decision.method] += 1
                return decision
            if not view.cut:
                break
        return Discharge(None, decision.method, decision.seconds)

    def _behind(self, roots: Iterable[Node], depth: int | None) -> set[Node]:
        """Return the ops at most ``depth`` steps behind ``roots``, including ``roots``; equal ops count once.

        Only ops that both programs have count as a step: the number of ops in between differs from program to program.
        """
        found: set[Node] = set()
        front = list(dict.fromkeys(roots))
        steps = 0
        while front and (depth is None or steps < depth):
            nodes, front = front, []
            while nodes:
                found.update(nodes)
                behind = [Node(n.side, i) for n in nodes for i in self.programs[n.side].ops[n.op].operands]
                behind = list(dict.fromkeys(r for n in behind if (r := self.same.get(n, n)) not in found))
                nodes = [n for n in behind if n not in self._common and len(found) < _MOST_INSIDE]
                front += [n for n in behind if n in self._common]
            steps += 1
        return found


class _View:
    """Values as terms over inputs, and over variables that replace all ops that are not ``inside``.

    ``cut``: whether any term has such a variable.
    """

    def __init__(self, search: _Search, inside: set[Node]) -> None:
        self._search, self._inside = search, inside
        self._terms: dict[Node, Term] = {}
        self.cut = False

    def output(self, side: int, output: int) -> tuple[FixedType, Term]:
        """Return the type of an output, after shift and negation, and its bits."""
        program = self._search.programs[side]
        index, shift, negated = program.outputs[output]
        if index < 0:
            return FixedType(0, 0, 0), const(1, 0)
        kind, value = program.ops[index].type, self.value(Node(side, index))
        if negated:
            wider = FixedType(1, kind.i + 1, kind.f)
            kind, value = wider, as_type(kind, value, wider, negated=True)
        return FixedType(kind.k, kind.i + shift, kind.f - shift), value

    def value(self, node: Node) -> Term:
        """Return the value of an op, in as many bits as its type has."""
        waiting = [node]
        while waiting:  # no recursion: programs are deep
            missing = [n for n in self._needs(waiting[-1]) if n not in self._terms]
            if missing:
                waiting += missing
                continue
            last = waiting.pop()
            self._terms[last] = self._value(last)
        return self._terms[node]

    def _needs(self, node: Node) -> list[Node]:
        own = self._search.same.get(node, node)
        if own != node and node not in self._inside:
            return [own]
        op = self._search.programs[node.side].ops[node.op]
        behind = node in self._inside or op.code in (INPUT, Code.CONST)
        return [Node(node.side, i) for i in op.operands] if behind and op.type.width else []

    def _value(self, node: Node) -> Term:
        program = self._search.programs[node.side]
        op, own = program.ops[node.op], self._search.same.get(node, node)
        if not op.type.width:
            return const(1, 0)
        if own != node and node not in self._inside:
            return as_type(self._search.kind(own), self._terms[own], op.type)
        if op.code == INPUT:
            return interpret_op(program, op, *self._search.inputs.read(node.side, op.id0)).value
        if node in self._inside or op.code == Code.CONST:
            return interpret_op(program, op, [self._terms[Node(node.side, i)] for i in op.operands]).value
        self.cut = True
        held = self._search.held.get(node, op.type)
        if not held.width:
            return const(bits_of(op.type), 0)
        return as_type(held, var(bits_of(held), f"{'ab'[node.side]}{node.op}"), op.type)


def _both(one: FixedType, other: FixedType) -> FixedType:
    """Return the type of the numbers that two types have in common."""
    k, i, f = (min(pair) for pair in zip(one, other, strict=True))
    return FixedType(k, i, f) if k + i + f > 0 else FixedType(0, 0, 0)
