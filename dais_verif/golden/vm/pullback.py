"""The pullback of a program: propagates the gradient of its outputs back to its inputs, op by op.

Quantisation counts as the identity (straight-through). An op that only quantises its operand, or adds a value that no
input changes, shares the gradient of that operand. All contributions to a gradient are added one by one, in the order
of reverse mode: outputs from last to first, then ops from last to first, each with its first operand before its second
(for a product, the second before the first), independent of the forward schedule. Ops without a derivative (constants,
lookups, bitwise ops) and the condition of a mux propagate nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.golden.batch import msb_of
from dais_verif.golden.vm.instructions import InstructionSequence, Pull, PullForm
from dais_verif.spec.program import Op, Program
from dais_verif.spec.program.numbers import IntArray
from dais_verif.spec.program.opcodes import INPUT, SUMS, Code, high_int32

__all__ = ["Contribution", "contributions", "pullback_steps", "reads_of"]


class PullbackTerm(NamedTuple):
    """The contribution of an op to the gradient of ``operand``. ``keep``: the op whose value it requires, or -1."""

    operand: int
    form: PullForm
    keep: int = -1


class Contribution(NamedTuple):
    """One instruction of the pullback: op ``node`` adds to the gradient of op ``target``, or of an input (-1).

    ``port``: for a seed, the output; if a gradient ends here, the input; else -1.
    """

    node: int
    target: int
    port: int
    form: PullForm
    keep: int

    @property
    def columns(self) -> tuple[int, int, int, int, int]:
        """Return code, node, target, port and keep, for the columns of the sequence."""
        return int(self.form.code), self.node, self.target, self.port, self.keep


def contributions(program: Program) -> list[Contribution]:
    """Return all contributions that affect the gradient of any input, in the order of addition."""
    owner, matters = _owners(program)
    reached = bytearray(program.n_ops)
    found: list[Contribution] = []
    for j, (index, shift, negated) in reversed(list(enumerate(program.outputs))):
        if index >= 0 and matters[index]:
            reached[owner[index]] = 1
            found.append(Contribution(index, owner[index], j, PullForm(Pull.SEED, shift, negated), -1))
    for op in reversed(program.ops):
        if not reached[op.index]:  # true also for an op that shares another op's gradient
            continue
        if op.code == INPUT:
            form = PullForm(Pull.GRAD, int(program.inp_shift[op.id0]))
            found.append(Contribution(op.index, -1, op.id0, form, -1))
        for term in RULES[op.code](program, op):
            if matters[term.operand]:
                target = owner[term.operand]
                reached[target] = 1
                found.append(Contribution(op.index, target, -1, term.form, term.keep))
    return found


def reads_of(terms: Sequence[Contribution]) -> NDArray[np.int32]:
    """Return the contributions that each one reads, (n, 3): the last one to its op, and the last one to its target."""
    of_op: dict[int, int] = {}
    of_input: dict[int, int] = {}
    reads = np.full((len(terms), 3), -1, dtype=np.int32)
    for number, term in enumerate(terms):
        if term.form.code is not Pull.SEED:
            reads[number, 0] = of_op[term.node]
        sums, key = (of_op, term.target) if term.target >= 0 else (of_input, term.port)
        reads[number, 1] = sums.get(key, -1)
        sums[key] = number
    return reads


#: Codes of ops that share the gradient of their operand. A sum shares that of one term if all others are constant.
_SHARED = (Code.QUANT, Code.ADD_CONST)


def _owners(program: Program) -> tuple[list[int], list[bool]]:
    """Return for every op the op whose gradient it shares (or itself), and whether an input can change it."""
    owner: list[int] = []
    matters: list[bool] = []
    for op in program.ops:
        always = op.code in _SHARED
        operands = [op.id0] if always else [term.operand for term in RULES[op.code](program, op)]
        matters.append(op.code == INPUT or any(matters[i] for i in operands))
        if op.terms:
            owner.append(_owner_of_sum(op, owner, matters))
            continue
        shares = always or (op.code in SUMS and not matters[op.id1])
        owner.append(owner[op.id0] if shares else op.index)
    return owner, matters


def _owner_of_sum(op: Op, owner: Sequence[int], matters: Sequence[bool]) -> int:
    """Return the op whose gradient the sum ``op`` shares, or itself."""
    moving = [term for term in op.terms if term.op >= 0 and matters[term.op]]
    alone = len(moving) == 1 and moving[0].shift == 0 and not moving[0].negative
    return owner[moving[0].op] if alone else op.index


def _sum(program: Program, op: Op) -> Iterator[PullbackTerm]:
    yield PullbackTerm(op.id0, PullForm(Pull.SHIFT))
    yield PullbackTerm(op.id1, PullForm(Pull.SHIFT, op.data, op.code == Code.SUB))


def _relu(program: Program, op: Op) -> Iterator[PullbackTerm]:
    kind = program.ops[op.id0].type
    yield PullbackTerm(op.id0, PullForm(Pull.GATE, 0, op.spec.negate, kind), op.id0)


def _negation(program: Program, op: Op) -> Iterator[PullbackTerm]:
    yield PullbackTerm(op.id0, PullForm(Pull.SHIFT, 0, True))


def _terms(program: Program, op: Op) -> Iterator[PullbackTerm]:
    for operand, shift, negative in op.terms:
        if operand >= 0:
            yield PullbackTerm(operand, PullForm(Pull.SHIFT, shift, negative))


def _shifted(program: Program, op: Op) -> Iterator[PullbackTerm]:
    yield PullbackTerm(op.id0, PullForm(Pull.SHIFT, op.data))


def _mux(program: Program, op: Op) -> Iterator[PullbackTerm]:
    kind = program.ops[op.condition].type
    yield PullbackTerm(op.id0, PullForm(Pull.FIRST, 0, False, kind), op.condition)
    yield PullbackTerm(op.id1, PullForm(Pull.SECOND, high_int32(op.data), op.spec.negate, kind), op.condition)


def _product(program: Program, op: Op) -> Iterator[PullbackTerm]:
    # Reverse mode: d(x * y) = dx * y + x * dy, and the second term comes first.
    yield PullbackTerm(op.id1, PullForm(Pull.MUL, kind=program.ops[op.id0].type), op.id0)
    yield PullbackTerm(op.id0, PullForm(Pull.MUL, kind=program.ops[op.id1].type), op.id1)


def _nothing(program: Program, op: Op) -> Iterator[PullbackTerm]:
    yield from ()


#: The contributions of every opcode to the gradients of its operands.
RULES: dict[int, Callable[[Program, Op], Iterator[PullbackTerm]]] = {
    Code.INPUT: _nothing,  # it adds to the gradient of an input
    Code.ADD: _sum,
    Code.SUB: _sum,
    Code.RELU: _relu,
    Code.RELU_NEG: _relu,
    Code.QUANT: _nothing,  # it shares its operand's gradient
    Code.QUANT_NEG: _negation,
    Code.ADD_CONST: _nothing,  # it shares its operand's gradient
    Code.CONST: _nothing,
    Code.MUX: _mux,
    Code.MUX_NEG: _mux,
    Code.MUL: _product,
    Code.LOOKUP: _nothing,
    Code.BIT_UNARY: _nothing,
    Code.BIT_UNARY_NEG: _nothing,
    Code.BIT_BINARY: _nothing,
    Code.SUM: _terms,
    Code.SHIFT: _shifted,
}


# Run a pullback: compute float64 gradients over all rows of the preceding forward run.


Floats = NDArray[np.float64]


def pullback_steps(iseq: InstructionSequence, seed: Floats, gradient: Floats) -> Iterator[tuple[int, Floats]]:
    """Run all instructions for the output gradients ``seed`` (rows, n_out), and accumulate ``gradient`` (rows, n_in).

    Yields after each instruction its position and the gradient (rows,) so far. Values of the forward run are read from
    the tape of ``iseq``.
    """
    c = iseq.columns
    slots: list[Floats | None] = [None] * iseq.allocation.n_gradients
    rows = zip(c.port.tolist(), c.out.tolist(), c.args.tolist(), c.saves.tolist(), c.form.tolist(), strict=True)
    for position, (port, out, (source, sums, _), (saved, _), form) in enumerate(rows):
        pull = iseq.forms[form]
        assert isinstance(pull, PullForm)
        g = seed[:, port] if pull.code is Pull.SEED else slots[source]
        assert g is not None
        result = _pulled(pull, g, iseq.tape.slots[saved] if saved >= 0 else None)
        if sums >= 0:
            before = slots[sums]
            assert before is not None
            result = before + result
        slots[out] = result
        if pull.code is Pull.GRAD:
            gradient[:, port] = result
        yield position, result


def _pulled(pull: PullForm, g: Floats, saved: IntArray | None) -> Floats:
    """Return the contribution that an instruction makes of ``g``, with the steps of reverse mode in the same order."""
    kind = pull.kind
    if saved is not None and kind is not None:
        if pull.code is Pull.MUL:
            return g * nearest_doubles(saved, kind.f)
        if pull.code is Pull.GATE:
            g = np.where(saved < 0 if pull.negated else saved > 0, g, 0.0)
        else:
            g = np.where(msb_of(saved, kind) == (pull.code is Pull.FIRST), g, 0.0)
    if pull.shift:
        g = np.ldexp(g, pull.shift)
    return -g if pull.negated else g


def nearest_doubles(raw: IntArray, f: int) -> Floats:
    """Return ``raw * 2**-f``, each rounded to the nearest float64 (infinity beyond the largest)."""
    if raw.dtype == np.int64:
        return np.ldexp(raw.astype(np.float64), -f)
    return np.array([_nearest(Fraction(int(value)) * Fraction(2) ** -f) for value in raw], dtype=np.float64)


def _nearest(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
