"""Emit a program as one synthesizable, combinational Verilog-2005 module.

Of the forms with a named signal for each op, this one is the fastest in measurements: ``always`` blocks in SSA order,
signed module-level variables, and plain signed arithmetic. A large program is divided into parts (with 80,000 ops,
Verilator takes 20 s instead of 164 s, and Icarus 3.4 s instead of 31 s).
"""

from __future__ import annotations

from contextlib import nullcontext

from dais_verif.hardware.emitter import module
from dais_verif.hardware.emitter.expressions import Writer
from dais_verif.hardware.emitter.module import Parts, parts_of
from dais_verif.hardware.emitter.ops import statements
from dais_verif.spec.program import Program
from dais_verif.spec.program.ports import Ports, ports_of

__all__ = ["emit_verilog"]


def emit_verilog(program: Program, top: str = "model") -> str:
    """Return the text of module ``top`` for a valid ``program``; it does not depend on the file format."""
    ports = ports_of(program)
    parts = parts_of(program)
    out = Writer()
    module.header(out, program, top, ports, "combinational")
    with out.indent():
        module.tables(out, program)
        module.constants(out, program, ports, (op for op in program.ops if parts.of[op.index] is None))
        for part in range(len(parts.members)):
            _part(out, program, ports, parts, part)
        _outputs(out, program, ports, parts)
    module.footer(out)
    return out.text()


def _part(out: Writer, program: Program, ports: Ports, parts: Parts, part: int) -> None:
    """Write one block and its signals, in a generate scope if there are several parts."""
    ops = [program.ops[index] for index in parts.members[part]]
    name_of = parts.seen_from(part)
    lines = [(statements(program, ports, op, name_of), module.comment(program, op)) for op in ops]
    if parts.several:
        out.line(f"generate if (1) begin : {parts.scope(part)}")
    with out.indent() if parts.several else nullcontext():
        # The input port triggers every part, even one that reads only other parts: see ``Parts.scope``.
        module.block(out, lines, module.sensitivity(program, ops, name_of, inputs=parts.several))
    if parts.several:
        out.line("end endgenerate")


def _outputs(out: Writer, program: Program, ports: Ports, parts: Parts) -> None:
    name_of = parts.seen_from(None)

    def value_of(index: int, negated: bool, width: int) -> str:
        return f"-{name_of(index)}" if negated else f"{name_of(index)}[{width - 1}:0]"

    module.outputs(out, program, ports, value_of)
