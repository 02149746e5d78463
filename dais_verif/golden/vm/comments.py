"""Instructions as one short line of text, in which ``%N`` is the value of an op and ``g%N`` its gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dais_verif.golden.vm.codes import OUTPUT, Pull, PullForm
from dais_verif.program.listing import in_words

if TYPE_CHECKING:
    from dais_verif.golden.vm.instructions import InstructionSequence

__all__ = ["comment"]


def comment(iseq: InstructionSequence, position: int) -> str:
    """Return the line for instruction ``position``, including the ops that are fused into it."""
    return _pull(iseq, position) if iseq.direction == "pullback" else _forward(iseq, position)


def _forward(iseq: InstructionSequence, position: int) -> str:
    program, columns = iseq.program, iseq.columns
    if columns.code[position] == OUTPUT:
        port = int(columns.port[position])
        index, shift, negated = program.outputs[port]
        value = f"{'-' if negated else ''}%{index}{_shift(shift)}" if index >= 0 else "0"
        return f"output {port} = {value}"
    op = program.ops[int(columns.node[position])]
    fused = (program.ops[index] for index in iseq.fused.get(op.index, ()))
    return "; fused: ".join(f"%{o.index} {o.type} = {in_words(program, o)}" for o in (op, *fused))


def _pull(iseq: InstructionSequence, position: int) -> str:
    columns = iseq.columns
    node, target, port = (int(column[position]) for column in (columns.node, columns.target, columns.port))
    form = iseq.forms[int(columns.form[position])]
    assert isinstance(form, PullForm)
    minus = "-" if form.negated else ""
    gradient = f"grad {port}" if form.code is Pull.GRAD else f"g%{target}"
    source = f"seed {port}" if form.code is Pull.SEED else f"g%{node}"
    kept = int(columns.keeps[position, 0])
    words = f"{minus}{source}{_shift(form.shift)}"
    match form.code:
        case Pull.GATE:
            words += f" where {minus}%{kept} > 0"
        case Pull.FIRST | Pull.SECOND:
            words += f" where msb(%{kept}) = {int(form.code is Pull.FIRST)}"
        case Pull.MUL:
            words += f" * %{kept}"
    return f"{gradient} {'+=' if columns.reads[position, 1] >= 0 else '='} {words}"


def _shift(bits: int) -> str:
    return "" if bits == 0 else f"<<{bits}" if bits > 0 else f">>{-bits}"
