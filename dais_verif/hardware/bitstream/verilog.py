"""Write the logic of a bitstream as one module of plain Verilog, with the ports that the pins file names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from dais_verif.base.errors import BitstreamError
from dais_verif.base.verilog_names import require_module_name
from dais_verif.hardware.bitstream.logic import Carry, Lut, Multiplier, PortBit, Ram, ReadBack, Register, Signal

__all__ = ["PLACES", "WIDTHS", "write_verilog"]

_OURS = re.compile(r"(lut|carry|reg|ram|mac)_\d+_\d+")
_ZERO, _ONE = "1'b0", "1'b1"

#: The word width of each mode of a block RAM, and the positions of a narrow word's bits among the 16 data bits.
WIDTHS = (16, 8, 4, 2)
PLACES = (tuple(range(16)), (0, 2, 4, 6, 8, 10, 12, 14), (1, 5, 9, 13), (3, 11))


def write_verilog(logic: ReadBack, top: str) -> str:
    """Return the text of module ``top``. Raises ``InputError`` if a port has two directions or lacks output bits."""
    require_module_name(top)
    inputs, outputs = _ports(logic.inputs), _ports(logic.outputs)
    for name in (*inputs, *outputs):
        require_module_name(name)
        if _OURS.match(name):
            raise BitstreamError(
                f"a port may not be called {name!r}, like a cell of the bitstream; rename it in the pins file"
            )
    for name in outputs:
        if name in inputs:
            bit = min(bit for bit in logic.inputs if bit.name == name)
            raise BitstreamError(f"port {name} drives its pins, except {bit}, which the bitstream leaves undriven")
        missing = [place for place in range(outputs[name] or 0) if PortBit(name, place) not in logic.outputs]
        if missing:
            raise BitstreamError(
                f"{name}[{missing[0]}] has no pin; the pins file must name one for each bit of an output"
            )
    lines = [f"// Read back from a bitstream for {logic.device}, package {logic.package}.", f"module {top} ("]
    declared = [f"  input wire {_range(width)}{name}" for name, width in inputs.items()]
    declared += [f"  output wire {_range(width)}{name}" for name, width in outputs.items()]
    lines += [",\n".join(declared), ");"]
    lines += [f"  wire {name};" for name in (*(lut.name for lut in logic.luts), *(one.name for one in logic.carries))]
    lines += [f"  reg {one.name} = 1'b0;" for one in logic.registers]
    lines += [f"  reg [15:0] {one.name};" for one in logic.rams]
    lines += map(_lut, logic.luts)
    lines += map(_carry, logic.carries)
    lines += map(_register, logic.registers)
    for ram in logic.rams:
        lines += _ram(ram)
    for multiplier in logic.multipliers:
        lines += _multiplier(multiplier)
    for bit in sorted(logic.driven):
        lines.append(f"  assign {bit} = {logic.driven[bit]};")
    return "\n".join([*lines, "endmodule", ""])


def _ports(bits: Mapping[PortBit, object]) -> dict[str, int | None]:
    """Return the widths of ports by name; None: one bit without an index."""
    found: dict[str, int | None] = {}
    for bit in sorted(bits, key=lambda bit: (bit.name, -1 if bit.place is None else bit.place)):
        found[bit.name] = None if bit.place is None else bit.place + 1
    return found


def _range(width: int | None) -> str:
    return "" if width is None else f"[{width - 1}:0] "


def _lut(lut: Lut) -> str:
    return f"  assign {lut.name} = {_expression(lut.table, lut.inputs)};"


def _expression(table: int, inputs: tuple[Signal, ...]) -> str:
    """Return a LUT as nested conditional expressions, the last input outermost, without irrelevant inputs."""
    if not inputs:
        return _ONE if table & 1 else _ZERO
    *rest, last = inputs
    half = 1 << len(rest)
    low, high = table & ((1 << half) - 1), table >> half
    if low == high or last == _ZERO:
        return _expression(low, tuple(rest))
    if last == _ONE:
        return _expression(high, tuple(rest))
    on, off = _expression(high, tuple(rest)), _expression(low, tuple(rest))
    if on == off:
        return on
    if (on, off) == (_ONE, _ZERO):
        return last
    if (on, off) == (_ZERO, _ONE):
        return f"~{last}"
    return f"({last} ? {on} : {off})"


def _carry(carry: Carry) -> str:
    a, b, c = carry.inputs
    return f"  assign {carry.name} = ({a} & {b}) | (({a} | {b}) & {c});"


def _register(register: Register) -> str:
    edge = "negedge" if register.falling else "posedge"
    if register.clock in (_ZERO, _ONE):
        raise BitstreamError(f"the clock of register {register.name} is constant")
    load = f"{register.name} <= {register.data};"
    if register.asynchronous:
        guarded = load if register.enable == _ONE else f"if ({register.enable}) {load}"
        return (
            f"  always @({edge} {register.clock} or posedge {register.reset}) if ({register.reset}) "
            f"{register.name} <= 1'b{register.value}; else {guarded}"
        )
    if register.reset != _ZERO:
        load = f"if ({register.reset}) {register.name} <= 1'b{register.value}; else {load}"
    if register.enable != _ONE:
        load = f"if ({register.enable}) begin {load} end"
    return f"  always @({edge} {register.clock}) {load}"


def _ram(ram: Ram) -> Iterator[str]:
    """Yield the text of a block RAM: an array of words, with a write port and a read port, each with its own clock."""
    name = f"{ram.name}_words"
    yield f"  reg [15:0] {name} [0:255];"
    yield "  initial begin"
    for word in range(256):
        yield f"    {name}[{word}] = 16'h{ram.contents >> 16 * word & 0xFFFF:04x};"
    yield "  end"
    yield from _read_port(ram, name)
    yield from _write_port(ram, name)


def _read_port(ram: Ram, words: str) -> Iterator[str]:
    width, places = WIDTHS[ram.read_mode], PLACES[ram.read_mode]
    edge = "negedge" if ram.read_falling else "posedge"
    clock, enabled = ram.pins["RCLK"][0], _all(ram.pins["RCLKE"][0], ram.pins["RE"][0])
    if clock in (_ZERO, _ONE):
        raise BitstreamError(f"the clock that reads block RAM {ram.name} is constant")
    row = _vector(ram.pins["RADDR"][:8])
    if width == 16:
        yield f"  always @({edge} {clock}) if ({enabled}) {ram.name} <= {words}[{row}];"
        return
    # In a narrow mode, word w consists of every (16 / width)-th bit of row w % 256, from bit w / 256 on.
    step = 16 // width
    part = _vector(ram.pins["RADDR"][8 : 8 + step.bit_length() - 1])
    yield f"  wire [15:0] {ram.name}_row = {words}[{row}];"
    yield f"  always @({edge} {clock}) if ({enabled}) begin"
    for i, place in enumerate(places):
        yield f"    {ram.name}[{place}] <= {ram.name}_row[{i * step} + {part}];"
    yield "  end"


def _write_port(ram: Ram, words: str) -> Iterator[str]:
    enabled = _all(ram.pins["WCLKE"][0], ram.pins["WE"][0])
    if enabled == _ZERO:
        return
    edge, clock = "negedge" if ram.write_falling else "posedge", ram.pins["WCLK"][0]
    if clock in (_ZERO, _ONE):
        raise BitstreamError(f"the clock that writes block RAM {ram.name} is constant")
    width, data = WIDTHS[ram.write_mode], ram.pins["WDATA"]
    row = _vector(ram.pins["WADDR"][:8])
    yield f"  always @({edge} {clock}) if ({enabled}) begin"
    if width == 16:
        if set(ram.pins["MASK"]) == {_ZERO}:
            yield f"    {words}[{row}] <= {_vector(data)};"
        else:  # masked bits of a word keep their values
            mask = _vector(ram.pins["MASK"])
            yield f"    {words}[{row}] <= ({words}[{row}] & {mask}) | ({_vector(data)} & ~{mask});"
    else:  # as in the read port, a narrow word consists of every (16 / width)-th bit of a row
        step = 16 // width
        part = _vector(ram.pins["WADDR"][8 : 8 + step.bit_length() - 1])
        mask = f"{{{width}{{{step}'d1 << {part}}}}}"
        spread = _vector(tuple(data[place] for place in PLACES[ram.write_mode] for _ in range(step)))
        yield f"    {words}[{row}] <= ({words}[{row}] & ~{mask}) | ({spread} & {mask});"
    yield "  end"


def _multiplier(one: Multiplier) -> Iterator[str]:
    """Yield the text of a multiplier, with input and output registers whose values at power-up are unknown."""
    if (any(one.registers) or one.stages) and one.clock in (_ZERO, _ONE):
        raise BitstreamError(f"the clock of multiplier {one.name} is constant")
    load = f"  always @(posedge {one.clock}) if ({one.enable})"
    factors = []
    for letter, bits, signed, register in zip("ab", (one.a, one.b), one.signed, one.registers, strict=True):
        name, sign = f"{one.name}_{letter}", "signed " * signed
        yield f"  wire {sign}[15:0] {name} = {_vector(bits)};"
        if register:
            yield f"  reg {sign}[15:0] {name}_held;"
            yield f"{load} {name}_held <= {name};"
            name += "_held"
        # The product has 32 bits, so each factor is extended to 32 bits with its own sign.
        factors.append(f"{{{{16{{{name}[15]}}}}, {name}}}" if signed else f"{{16'd0, {name}}}")
    product = f"{one.name}_product"
    yield f"  wire [31:0] {product} = {factors[0]} * {factors[1]};"
    for stage in range(one.stages):
        yield f"  reg [31:0] {one.name}_{stage};"
        yield f"{load} {one.name}_{stage} <= {product};"
        product = f"{one.name}_{stage}"
    yield f"  wire [31:0] {one.name} = {product};"


def _all(*signals: Signal) -> Signal:
    if _ZERO in signals:
        return _ZERO
    return " & ".join(signal for signal in signals if signal != _ONE) or _ONE


def _vector(bits: tuple[Signal, ...]) -> str:
    return "{" + ", ".join(reversed(bits)) + "}"
