"""Emit a machine as synthesizable Verilog-2005: one module for each block, and one that connects the blocks.

In the module that connects the blocks, every signal is a vector, or a memory if possible. A wire is assigned by its
connections, and a register in one ``always`` block: reset has priority over the writes of connections, which an enable
can suppress. The initial values of vectors are assigned in ``initial`` blocks by non-blocking assignments, so that
logic that reads them is evaluated after them, independent of the order in which blocks start.
"""

from __future__ import annotations

from collections.abc import Iterable

from dais_verif.counts import counted
from dais_verif.emitter.machines.bits import Bits, Vector, copied, joined
from dais_verif.emitter.machines.storage import memory_of
from dais_verif.emitter.machines.views import Reader, element
from dais_verif.emitter.machines.writes import write
from dais_verif.emitter.verilog import emit_verilog
from dais_verif.emitter.writer import Writer
from dais_verif.machine import Block, Connection, Machine, Role, Signal
from dais_verif.machine.ports import CLOCK, bits_of, offsets_of, ports, signal_names
from dais_verif.program.ports import ports_of
from dais_verif.verilog_names import Names

__all__ = ["emit_machine"]

_WAIVERS = (
    ("INITIALDLY", "initial values are nonblocking, so that all readers see them change"),
    ("UNDRIVEN", "registers that nothing writes keep their initial value"),
    ("UNOPTFLAT", "elements of one vector may depend on others of it"),
    ("UNUSEDSIGNAL", "machines may hold elements that nothing reads"),
    ("WIDTHEXPAND", "indices are narrower than the numbers that they are added to"),
)


def emit_machine(machine: Machine, top: str = "model", taken: Iterable[str] = ()) -> str:
    """Return the text of module ``top`` and one module per block for a valid ``machine``.

    ``taken``: module names that are already in use and must be avoided.
    """
    modules = Names([top, *taken])
    of_blocks = {name: modules.take(f"{top}_{name}") for name in machine.blocks}
    texts = [emit_verilog(block.program, of_blocks[block.name]) for block in machine.blocks.values()]
    return "\n".join([_Module(machine, top, of_blocks).text(), *texts])


class _Module:
    """Writes the module that connects the blocks."""

    def __init__(self, machine: Machine, top: str, of_blocks: dict[str, str]) -> None:
        self.machine, self.top, self.of_blocks = machine, top, of_blocks
        self.out = Writer()
        names = signal_names(machine)
        self.names = Names([CLOCK, *names.values()])
        self.vectors = {s.name: Vector(names[s.name], bits_of(s.types)) for s in machine.signals.values()}
        found = {signal.name: memory_of(machine, signal) for signal in machine.registers}
        self.memories = {name: memory for name, memory in found.items() if memory is not None}
        self.reader = Reader(machine, self.out, self.names, self.vectors, self.memories)

    def text(self) -> str:
        self.header()
        with self.out.indent():
            for signal in self.machine.signals.values():
                if signal.role is Role.INTERNAL:
                    self.declaration(signal)
            for signal in self.machine.registers:
                self.initial(signal)
            for block in self.machine.blocks.values():
                self.block(block)
            for connection in self.machine.connections:
                if not self.machine.clocked(connection):
                    self.wire(connection)
            for signal in self.machine.registers:
                self.register(signal)
            for signal in self.machine.outputs:
                if not bits_of(signal.types):
                    self.out.line(f"assign {self.vectors[signal.name].name} = 1'b0;")
        self.out.line("endmodule")
        for rule, _ in _WAIVERS:
            self.out.line(f"/* verilator lint_on {rule} */")
        return self.out.text()

    def header(self) -> None:
        """Write the comments before the module, and its ports."""
        machine, out = self.machine, self.out
        n_ops = sum(block.program.n_ops for block in machine.blocks.values())
        size = f"{counted(len(machine.blocks), 'block')} of {counted(n_ops, 'op')}"
        out.line(f"// Machine: {size}, {counted(len(machine.registers), 'register')}.")
        out.line("// Element 0 of a signal takes its least significant bits. Types are written sW.F or uW.F: signed or")
        out.line("// unsigned, W bits, F of them fractional.")
        for rule, reason in _WAIVERS:
            out.line(f"/* verilator lint_off {rule} */  // {reason}")
        out.line(f"module {self.top} (")
        lines = [(f"input  wire {CLOCK}", "")] if machine.registers else []
        for signal in ports(machine):
            vector = self.vectors[signal.name]
            kind = "input  wire" if signal.role is Role.INPUT else "output reg " if vector.width else "output wire"
            kind = kind if signal.register or signal.role is Role.INPUT else "output wire"
            lines.append((f"{kind} [{max(vector.width, 1) - 1}:0] {vector.name}", f"  // {_said(signal)}"))
        with out.indent():
            for number, (port, said) in enumerate(lines):
                out.line(f"{port}{',' if number < len(lines) - 1 else ''}{said}")
        out.line(");")

    def declaration(self, signal: Signal) -> None:
        """Declare an internal signal, unless it has no bits."""
        vector, memory = self.vectors[signal.name], self.memories.get(signal.name)
        if memory is not None:
            size = f"[0:{memory.words - 1}]"
            self.out.line(f"reg [{memory.width - 1}:0] {vector.name} {size};  // {_said(signal)}")
        elif vector.width:
            kind = "reg " if signal.register else "wire"
            self.out.line(f"{kind} [{vector.width - 1}:0] {vector.name};  // {_said(signal)}")

    def initial(self, signal: Signal) -> None:
        """Write the initial value of a register, if it has one."""
        vector, memory = self.vectors[signal.name], self.memories.get(signal.name)
        if signal.initial is None or not vector.width:
            return
        value = self.value_of(signal)
        if memory is None:
            self.out.line(f"initial {vector.name} <= {_literal(vector.width, value)};")
            return
        self.out.line("initial begin")
        with self.out.indent():
            for word in range(memory.words):
                bits = value >> (word * memory.width) & ((1 << memory.width) - 1)
                self.out.line(f"{vector.name}[{word}] = {_literal(memory.width, bits)};")
        self.out.line("end")

    def value_of(self, signal: Signal) -> int:
        """Return the initial values of all elements as bits."""
        assert signal.initial is not None
        total = 0
        for number, kind, offset in zip(signal.initial, signal.types, offsets_of(signal.types), strict=False):
            raw = number * 2**kind.f if kind.f >= 0 else number / 2**-kind.f
            total |= (int(raw) & ((1 << kind.width) - 1)) << offset
        return total

    def block(self, block: Block) -> None:
        """Write the instance of a block's module, and copy its outputs if the types of their wire are different."""
        inputs, outputs = self.vectors[block.inputs], self.vectors[block.outputs]
        given = inputs.name if inputs.width else "1'b0"
        own, wanted = block.program.output_types, self.machine.signals[block.outputs].types
        raw = Vector(outputs.name if outputs.width else "", ports_of(block.program).output_bits)
        if own != wanted:
            raw = raw._replace(name=self.names.take(f"{block.name}_raw"))
            self.out.line(f"wire [{max(raw.width, 1) - 1}:0] {raw.name};")
        instance = self.names.take(f"block_{block.name}")
        self.out.line(f"{self.of_blocks[block.name]} {instance} (.model_inp({given}), .model_out({raw.name}));")
        if own != wanted and outputs.width:
            self.assign(outputs.name, copied(raw, 0, own, wanted))

    def assign(self, target: str, parts: list[Bits]) -> None:
        """Write a continuous assignment."""
        self.out.wrapped(f"assign {target} = ", joined(parts), ";")

    def wire(self, connection: Connection) -> None:
        """Write a connection to a wire."""
        types = self.machine.signals[connection.target.signal].types[connection.target.start : connection.target.stop]
        if not bits_of(types):
            return
        target = element(self.machine, self.vectors, connection.target)
        source = self.reader.copy(connection.source, types)
        if connection.enable is None or connection.alternative is None:
            self.assign(str(target), source)
            return
        enable = element(self.machine, self.vectors, connection.enable)
        other = joined(self.reader.copy(connection.alternative, types))
        self.out.wrapped(f"assign {target} = {enable} ? ", [*joined(source), ":", *other], ";")

    def register(self, signal: Signal) -> None:
        """Write the ``always`` block of a register, unless it never changes."""
        vector, memory = self.vectors[signal.name], self.memories.get(signal.name)
        writers = [c for c in self.machine.connections if c.target.signal == signal.name]
        if not vector.width or not (writers or signal.reset):
            return
        writes = [write(self.machine, self.reader, vector, memory, connection) for connection in writers]
        lines = [line for each in writes for line in each]
        self.out.line(f"always @(posedge {CLOCK})")
        with self.out.indent():
            if signal.reset is None:
                self.statements("", lines)
                return
            reset = element(self.machine, self.vectors, signal.reset)
            self.out.line(f"if ({reset}) {vector.name} <= {_literal(vector.width, self.value_of(signal))};")
            if lines:
                self.statements("else ", lines)

    def statements(self, head: str, lines: list[str]) -> None:
        """Write statements after ``head``, between ``begin`` and ``end`` unless there is only one without an ``if``."""
        if len(lines) == 1 and not lines[0].startswith("if"):
            self.out.line(f"{head}{lines[0]}")
            return
        self.out.line(f"{head}begin")
        with self.out.indent():
            for line in lines:
                self.out.line(line)
        self.out.line("end")


def _literal(width: int, value: int) -> str:
    return f"{width}'h{value:x}"


def _said(signal: Signal) -> str:
    """Return the types of a signal's elements as text, with repeated types as ``N x type``."""
    runs: list[tuple[str, int]] = []
    for kind in signal.types:
        if runs and runs[-1][0] == str(kind):
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((str(kind), 1))
    shown = [text if count == 1 else f"{count} x {text}" for text, count in runs[:8]]
    return ", ".join([*shown, "..."] if len(runs) > 8 else shown)
