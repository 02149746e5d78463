"""A program as one synthesizable Verilog-2005 module.

The form is what measured fastest while keeping a named signal an op: ``always`` blocks in SSA order over signed
module-level registers, plain signed arithmetic. Ops that no input reaches are wires outside the blocks, because
a block that reads nothing that changes is never run by an event-driven simulator.

Sensitivity lists are written out: each is complete (the input port, wires and ops of other blocks, and of each table
the word that is filled last), Icarus runs it a fifth faster than ``@*``, which it makes an event of every op, and
warns of no table. A large program is cut into blocks, since Verilator's latch check grows with the
square of a block (80,000 ops: 164 s in one block, 20 s in blocks of 4,000, at the same speed in Icarus).
"""

from __future__ import annotations

from dais_verif.emit.expressions import bits_for
from dais_verif.emit.ops import Statement, signal, statements, table
from dais_verif.emit.writer import Writer
from dais_verif.program import Op, Program
from dais_verif.program.listing import in_words
from dais_verif.program.opcodes import Data, low_int32
from dais_verif.program.ports import Ports, ports_of

__all__ = ["emit_verilog"]

#: The most ops in one block.
_BLOCK_OPS = 5000

_WAIVERS = (
    ("WIDTHEXPAND", "signed operands are extended by the language, as the format means them"),
    ("WIDTHTRUNC", "assignment to a narrower signal is the format's two's complement wrap"),
    ("UNUSEDSIGNAL", "programs may hold inputs, ops and bits that nothing reads"),
)


def emit_verilog(program: Program, top: str = "model") -> str:
    """The text of module ``top`` for a valid ``program``; the same text for every file of one program."""
    ports = ports_of(program)
    constant = _constants(program)
    out = Writer()
    _header(out, program, top, ports)
    with out.indent():
        _tables(out, program)
        _declarations(out, program, ports, constant)
        _blocks(out, program, ports, constant)
        _outputs(out, program, ports)
    out.line("endmodule")
    for rule, _ in _WAIVERS:
        out.line(f"/* verilator lint_on {rule} */")
    return out.text()


def _constants(program: Program) -> list[bool]:
    """For each op, whether no input reaches it."""
    constant: list[bool] = []
    for op in program.ops:
        reached = op.code == -1 or any(not constant[i] for i in op.operands)
        constant.append(op.type.width == 0 or not reached)
    return constant


def _header(out: Writer, program: Program, top: str, ports: Ports) -> None:
    out.line(f"// DAIS program {program.hash}")
    out.line(f"// {program.n_in} inputs, {program.n_out} outputs, {program.n_ops} ops; combinational.")
    out.line("// op_N is the value of op N: an integer in units of 2^-f, in two's complement; an unsigned one has")
    out.line(
        "// one more bit, always 0. Types are written sW.F or uW.F: signed or unsigned, W bits, F of them fractional."
    )
    out.line("// In comments %N is the value of op N.")
    for rule, reason in _WAIVERS:
        out.line(f"/* verilator lint_off {rule} */  // {reason}")
    out.line(f"module {top} (")
    with out.indent():
        out.line(f"input  wire [{max(ports.input_bits, 1) - 1}:0] model_inp,")
        out.line(f"output wire [{max(ports.output_bits, 1) - 1}:0] model_out")
    out.line(");")


def _tables(out: Writer, program: Program) -> None:
    used = sorted({low_int32(op.data) for op in program.ops if op.spec.data is Data.TABLE})
    for number in used:
        entries = program.tables[number].tolist()
        if not entries:
            continue
        bits = bits_for(min(entries), max(entries))
        out.line(f"reg signed [{bits - 1}:0] {table(number)} [0:{len(entries) - 1}];")
        out.line("initial begin")
        with out.indent():
            for index, entry in enumerate(entries):
                out.line(f"{table(number)}[{index}] = {bits}'h{entry & (1 << bits) - 1:x};")
        out.line("end")


def _declarations(out: Writer, program: Program, ports: Ports, constant: list[bool]) -> None:
    for op in program.ops:
        for statement in statements(program, ports, op):
            if constant[op.index]:
                out.line(f"wire {_range(statement)} {statement.target} = {statement.text};  // {_comment(program, op)}")
            else:
                out.line(f"reg {_range(statement)} {statement.target};")


def _range(statement: Statement) -> str:
    return f"signed [{statement.bits - 1}:0]"


def _comment(program: Program, op: Op) -> str:
    return f"{op.type} {op.spec.mnemonic}: {in_words(program, op)}"


def _blocks(out: Writer, program: Program, ports: Ports, constant: list[bool]) -> None:
    moving = [op for op in program.ops if not constant[op.index]]
    groups = [moving[start : start + _BLOCK_OPS] for start in range(0, len(moving), _BLOCK_OPS)]
    for group in groups:
        out.line(f"always @({' or '.join(_sensitivity(program, group))}) begin")
        with out.indent():
            for op in group:
                *helpers, last = statements(program, ports, op)
                for statement in helpers:
                    out.line(f"{statement.target} = {statement.text};")
                out.line(f"{last.target} = {last.text};  // {_comment(program, op)}")
        out.line("end")


def _sensitivity(program: Program, block: list[Op]) -> list[str]:
    """Everything that a block reads and does not assign."""
    inputs = ["model_inp"] if any(op.code == -1 for op in block) else []
    others = sorted({i for op in block for i in op.operands} - {op.index for op in block})
    tables = sorted({low_int32(op.data) for op in block if op.spec.data is Data.TABLE})
    filled_last = [f"{table(t)}[{len(program.tables[t]) - 1}]" for t in tables if len(program.tables[t])]
    return [*inputs, *map(signal, others), *filled_last]


def _outputs(out: Writer, program: Program, ports: Ports) -> None:
    names = []
    for j, ((index, shift, negated), element) in enumerate(zip(program.outputs, ports.outputs, strict=True)):
        if element.width == 0:
            continue
        value = f"-{signal(index)}" if negated else f"{signal(index)}[{element.width - 1}:0]"
        point = f", times 2^{shift}" if shift else ""
        out.line(f"wire [{element.width - 1}:0] out_{j} = {value};  // {program.output_types[j]}{point}")
        names.append(f"out_{j}")
    out.line(f"assign model_out = {{{', '.join(reversed(names))}}};" if names else "assign model_out = 1'b0;")
