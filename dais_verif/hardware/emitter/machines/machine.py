"""Emit a machine as synthesizable Verilog-2005: one module for each block, and one that connects the blocks.

In the module that connects the blocks, every signal is a vector, or a memory if possible. A wire is assigned by its
connections, and a register in one ``always`` block: reset has priority over the writes of connections, which an enable
can suppress. The initial values of vectors are assigned in ``initial`` blocks by non-blocking assignments, so that
logic that reads them is evaluated after them, independent of the order in which blocks start.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from dais_verif.base.text import counted
from dais_verif.base.verilog_names import Names
from dais_verif.hardware.emitter.expressions import Writer
from dais_verif.hardware.emitter.verilog import emit_verilog
from dais_verif.spec.machine import Block, Connection, Machine, Role, Signal, View
from dais_verif.spec.machine.ports import CLOCK, bits_of, offsets_of, ports, signal_names
from dais_verif.spec.program import FixedType
from dais_verif.spec.program.ports import ports_of

__all__ = [
    "Bits",
    "Memory",
    "Reader",
    "Vector",
    "Window",
    "address",
    "copied",
    "element",
    "emit_machine",
    "index_bits",
    "joined",
    "memory_of",
    "step_of",
    "window_of",
    "write",
    "zeros",
]


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


# Make the statements of an ``always`` block by which connections write into a register.


def write(machine: Machine, reader: Reader, vector: Vector, memory: Memory | None, connection: Connection) -> list[str]:
    """Return the statements by which ``connection`` writes into a register: ``memory``, or ``vector`` if it is None.

    The wires that the statements need are written first.
    """
    target = connection.target
    types = machine.signals[target.signal].types[target.start : target.stop]
    if not bits_of(types):
        return []
    value = " ".join(joined(reader.copy(connection.source, types)))
    other = None
    if connection.alternative is not None:
        other = " ".join(joined(reader.copy(connection.alternative, types)))
    enable = None if connection.enable is None else str(element(machine, reader.vectors, connection.enable))
    if _needs_a_wire(machine, target, memory):
        value = _wire(reader, vector, bits_of(types), value if other is None else f"{enable} ? {value} : {other}")
        lines = _one_by_one(machine, reader, target, vector, value)
        held = enable is not None and other is None
        return [f"if ({enable}) begin", *(f"  {line}" for line in lines), "end"] if held else lines
    place, inside = _place(machine, reader, target, vector, memory)
    if enable is None:
        lines = [f"{place} <= {value};"]
    elif other is None:
        lines = [f"if ({enable}) {place} <= {value};"]
    else:
        lines = [f"if ({enable}) {place} <= {value};", f"else {place} <= {other};"]
    return lines if inside is None else [f"if ({inside}) begin", *(f"  {line}" for line in lines), "end"]


def _needs_a_wire(machine: Machine, target: View, memory: Memory | None) -> bool:
    """Return True if the positions of ``target`` are not evenly spaced, or if a part can be outside the register."""
    if target.index is None or memory is not None:
        return False
    return window_of(machine, target).torn or step_of(machine, target) is None


def _wire(reader: Reader, vector: Vector, width: int, value: str) -> str:
    name = reader.names.take(f"{vector.name}_written")
    reader.out.wrapped(f"wire [{width - 1}:0] {name} = ", value.split(" "), ";")
    return name


def _place(
    machine: Machine, reader: Reader, target: View, vector: Vector, memory: Memory | None
) -> tuple[str, str | None]:
    """Return the target of the write, and the condition that it is within the register (None if it always is)."""
    if target.index is None:
        if memory is not None:
            return f"{vector.name}[{target.start // memory.size}]", None
        return str(element(machine, reader.vectors, target)), None
    index, window = index_bits(machine, reader.vectors, target), window_of(machine, target)
    low = offsets_of(machine.signals[target.signal].types)[target.start]
    if memory is not None:
        first = target.start // memory.size
        place = str(first) if index is None else address(index, target.index.stride // memory.size, first)
        text = f"{vector.name}[{place}]"
    else:
        step = step_of(machine, target)
        assert step is not None
        place = str(low) if index is None else address(index, step, low)
        width = bits_of(machine.signals[target.signal].types[target.start : target.stop])
        text = f"{vector.name}[{place} +: {width}]"
    whole = element(machine, reader.vectors, target.index.value)
    return text, f"{whole} <= {window.last}" if window.leaves else None


def _one_by_one(machine: Machine, reader: Reader, target: View, vector: Vector, value: str) -> list[str]:
    """Return one statement per index, which writes the part of ``target`` that is within the register."""
    assert target.index is not None
    offsets = offsets_of(machine.signals[target.signal].types)
    whole = element(machine, reader.vectors, target.index.value)
    lines = []
    for index in range(window_of(machine, target).reach + 1):
        start = target.start + index * target.index.stride
        low, high = offsets[start], offsets[min(start + target.size, len(offsets) - 1)]
        if high > low:
            lines.append(f"if ({whole} == {index}) {vector.name}[{high - 1}:{low}] <= {value}[{high - low - 1}:0];")
    return lines


# Views of signals in the module: bits of a vector, or, for a view with an index, a wire with the selected bits.


def element(machine: Machine, vectors: Mapping[str, Vector], view: View) -> Bits:
    """Return the bits of ``view``, which has no index."""
    offsets = offsets_of(machine.signals[view.signal].types)
    low = offsets[view.start]
    return Bits(vectors[view.signal], low, offsets[view.stop] - low)


def index_bits(machine: Machine, vectors: Mapping[str, Vector], view: View) -> Bits | None:
    """Return the bits of the index of ``view`` that select positions within its signal; None if it has no bits."""
    assert view.index is not None
    whole = element(machine, vectors, view.index.value)
    needed = max(window_of(machine, view).reach.bit_length(), 1)
    return whole._replace(width=min(whole.width, needed)) if whole.width else None


def step_of(machine: Machine, view: View) -> int | None:
    """Return the number of bits by which ``view`` moves if its index grows by 1; None if this is not constant."""
    assert view.index is not None
    offsets = offsets_of(machine.signals[view.signal].types)
    stride, window = view.index.stride, window_of(machine, view)
    places = [offsets[view.start + index * stride] for index in range(window.reach + 1)]
    if len(places) == 1:
        return 0
    step = places[1] - places[0]
    return step if all(place == places[0] + index * step for index, place in enumerate(places)) else None


def address(index: Bits, factor: int, first: int) -> str:
    """Return the Verilog expression ``first + index * factor``."""
    product = str(index) if factor == 1 else f"{index} * {factor}"
    return f"{first} + {product}" if first else product


class Reader:
    """Writes the reads of views. A view with an index, or of a memory, gets one wire, even if it is read many times."""

    def __init__(
        self,
        machine: Machine,
        out: Writer,
        names: Names,
        vectors: Mapping[str, Vector],
        memories: Mapping[str, Memory],
    ) -> None:
        self.machine, self.out, self.names = machine, out, names
        self.vectors, self.memories = vectors, memories
        self._wires: dict[View, Vector] = {}

    def copy(self, view: View, types: Sequence[FixedType]) -> list[Bits]:
        """Return the elements of ``view`` as elements of ``types``, least significant bits first."""
        own = self.machine.signals[view.signal].types[view.start : view.stop]
        if not bits_of(own):
            return copied(Vector("", 0), 0, own, types)
        if view.index is None and view.signal not in self.memories:
            low = offsets_of(self.machine.signals[view.signal].types)[view.start]
            return copied(self.vectors[view.signal], low, own, types)
        if view not in self._wires:
            self._wires[view] = self._wire(view, bits_of(own))
        return copied(self._wires[view], 0, own, types)

    def _wire(self, view: View, width: int) -> Vector:
        found = Vector(self.names.take(f"{self.vectors[view.signal].name}_read"), width)
        self.out.wrapped(f"wire [{width - 1}:0] {found.name} = ", self._chosen(view, width).split(" "), ";")
        return found

    def _chosen(self, view: View, width: int) -> str:
        """Return the expression of the bits of ``view``; X if its index is too large."""
        name, memory = self.vectors[view.signal].name, self.memories.get(view.signal)
        if memory is not None and view.index is None:
            return f"{name}[{view.start // memory.size}]"
        assert view.index is not None
        index, window = index_bits(self.machine, self.vectors, view), window_of(self.machine, view)
        if index is None:
            return self._at(view, 0, width)
        whole = element(self.machine, self.vectors, view.index.value)
        if memory is not None:
            factor, first = view.index.stride // memory.size, view.start // memory.size
            text = f"{name}[{address(index, factor, first)}]"
        else:
            step = step_of(self.machine, view)
            if step is None or window.torn:
                arms = [f"{whole} == {k} ? {self._at(view, k, width)} :" for k in range(window.reach + 1)]
                return " ".join([*arms, f"{{{width}{{1'bx}}}}"])
            low = offsets_of(self.machine.signals[view.signal].types)[view.start]
            text = f"{name}[{address(index, step, low)} +: {width}]"
        return f"{whole} <= {window.last} ? {text} : {{{width}{{1'bx}}}}" if window.leaves else text

    def _at(self, view: View, index: int, width: int) -> str:
        """Return the expression of the bits of ``view`` if its index is ``index``; bits beyond the signal are X."""
        assert view.index is not None
        memory = self.memories.get(view.signal)
        start = view.start + index * view.index.stride
        if memory is not None:
            return f"{self.vectors[view.signal].name}[{start // memory.size}]"
        offsets = offsets_of(self.machine.signals[view.signal].types)
        stop = min(start + view.size, len(offsets) - 1)
        own = Bits(self.vectors[view.signal], offsets[start], offsets[stop] - offsets[start])
        return str(own) if own.width == width else f"{{{{{width - own.width}{{1'bx}}}}, {own}}}"


# Decide which registers become memories, arrays of words that tools can map to RAM; all others are vectors.


class Memory(NamedTuple):
    """A memory of ``words`` words; each word has ``size`` elements, with ``width`` bits in total."""

    words: int
    size: int
    width: int


def memory_of(machine: Machine, signal: Signal) -> Memory | None:
    """Return ``signal`` as a memory; None if it is a vector.

    A memory is an internal register without a reset, because RAM has none. Only whole words of the register are read
    and written, at least one of them by an index, and all its words have the same types.
    """
    if not signal.register or signal.role is not Role.INTERNAL or signal.reset is not None:
        return None
    copies = [view for view in _copied(machine) if view.signal == signal.name]
    if not any(view.index for view in copies) or any(view.signal == signal.name for view in _conditions(machine)):
        return None
    size, count = copies[0].size, len(signal.types)
    word = signal.types[:size]
    aligned = all(
        view.size == size and view.start % size == 0 and (view.index is None or view.index.stride % size == 0)
        for view in copies
    )
    if not aligned or count % size or count == size or word * (count // size) != signal.types or not bits_of(word):
        return None
    return Memory(count // size, size, bits_of(word))


def _copied(machine: Machine) -> Iterator[View]:
    """Yield all views whose elements are copied: sources, targets and alternatives of connections."""
    for connection in machine.connections:
        yield connection.source
        yield connection.target
        if connection.alternative is not None:
            yield connection.alternative


def _conditions(machine: Machine) -> Iterator[View]:
    """Yield all views that are used as an enable, an index or a reset."""
    for signal in machine.signals.values():
        if signal.reset is not None:
            yield signal.reset
    for connection in machine.connections:
        if connection.enable is not None:
            yield connection.enable
    for view in _copied(machine):
        if view.index is not None:
            yield view.index.value


class Window(NamedTuple):
    """The possible positions of a view with an index.

    ``last``: the largest index with which all of the view is in its signal. ``reach``: the largest index with which any
    part of the view is in its signal. ``index_max``: the largest value of the index.
    """

    last: int
    reach: int
    index_max: int

    @property
    def leaves(self) -> bool:
        """True if the index can be so large that the view is not completely within its signal."""
        return self.index_max > self.last

    @property
    def torn(self) -> bool:
        """True if the index can have a value with which only a part of the view is within its signal."""
        return self.index_max > self.last < self.reach


def window_of(machine: Machine, view: View) -> Window:
    """Return the possible positions of ``view``, which has an index."""
    assert view.index is not None
    value, count = view.index.value, len(machine.signals[view.signal].types)
    index_max = machine.signals[value.signal].types[value.start].raw_max
    stride = view.index.stride
    last, reach = (count - view.stop) // stride, (count - 1 - view.start) // stride
    return Window(min(last, index_max), min(reach, index_max), index_max)


# Concatenations of bits in Verilog, which copy elements of some types into elements of others.


class Vector(NamedTuple):
    """A signal of the module: its name, and its width in bits."""

    name: str
    width: int


class Bits(NamedTuple):
    """Bits ``low`` to ``low + width - 1`` of ``vector``; zeros if ``vector`` is None.

    ``spread``: bit ``low``, repeated ``width`` times.
    """

    vector: Vector | None
    low: int
    width: int
    spread: bool = False

    def __str__(self) -> str:
        if self.vector is None:
            return f"{self.width}'d0"
        name, high = self.vector.name, self.low + self.width - 1
        if self.spread:
            one = f"{name}[{self.low}]"
            return one if self.width == 1 else f"{{{self.width}{{{one}}}}}"
        if (self.low, self.width) == (0, self.vector.width):
            return name
        return f"{name}[{high}:{self.low}]" if self.width > 1 else f"{name}[{self.low}]"


def zeros(width: int) -> Bits:
    """Return ``width`` zeros."""
    return Bits(None, 0, width)


def copied(vector: Vector, low: int, sources: Sequence[FixedType], targets: Sequence[FixedType]) -> list[Bits]:
    """Return elements of types ``sources`` as elements of types ``targets``, least significant bits first.

    The elements begin at bit ``low`` of ``vector``. Bits below and above the bits of the target are dropped; missing
    bits below are 0, and missing bits above are copies of the sign.
    """
    found: list[Bits] = []
    for source, target, offset in zip(sources, targets, offsets_of(sources), strict=False):
        for part in _element(vector, low + offset, source, target):
            last = found[-1] if found else None
            plain = last is not None and last.vector is vector is part.vector and not last.spread and not part.spread
            if last is not None and plain and last.low + last.width == part.low:
                found[-1] = last._replace(width=last.width + part.width)
            elif part.width:
                found.append(part)
    return found


def _element(vector: Vector, low: int, source: FixedType, target: FixedType) -> list[Bits]:
    """Return one element: zeros below, its own bits, and its sign above."""
    if source.width == 0 or target.width == 0:
        return [zeros(target.width)]
    below = min(max(target.f - source.f, 0), target.width)
    first = max(source.f - target.f, 0)
    own = min(max(source.width - first, 0), target.width - below)
    above = target.width - below - own
    sign = Bits(vector, low + source.width - 1, above, spread=True) if source.k else zeros(above)
    return [zeros(below), Bits(vector, low + first, own), sign]


def joined(parts: Sequence[Bits]) -> list[str]:
    """Return ``parts`` as the words of one expression, most significant first."""
    if len(parts) == 1:
        return [str(parts[0])]
    words = [f"{part}," for part in reversed(parts)]
    return ["{" + words[0], *words[1:-1], words[-1].removesuffix(",") + "}"]
