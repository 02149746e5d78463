"""Write RTL that contains a design and inverts some of its output bits, in the language of the design.

The wrapper has the ports of the design, so that it can be run in place of the design.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dais_verif.base.errors import CertificateError
from dais_verif.hardware.ports.discover import Port
from dais_verif.hardware.ports.interface import DesignInterface

__all__ = ["OriginalDesign", "inverting_wrapper"]

#: The inverted bits of a row of outputs, each with the numbers of the rare rows in which it is inverted; an empty
#: tuple: in all rows.
InvertedBits = Mapping[int, tuple[int, ...]]

_PLAIN = re.compile(r"[A-Za-z_]\w*")
#: VHDL functions that convert std_logic or std_logic_vector to a type, and back.
_FROM = {"bit": "to_bit", "bit_vector": "to_bitvector"}
_TO = {"bit": "to_stdulogic", "bit_vector": "to_stdlogicvector"}
_SAME = ("std_logic", "std_logic_vector", "std_ulogic")


@dataclass(frozen=True)
class OriginalDesign:
    """Module ``top`` with these ports. ``types``: the types of a VHDL entity's ports by name; None for Verilog."""

    top: str
    ports: tuple[Port, ...]
    types: Mapping[str, str] | None = None

    @property
    def suffix(self) -> str:
        """The suffix of a file in the design's language."""
        return ".v" if self.types is None else ".vhd"


def inverting_wrapper(
    interface: DesignInterface,
    design: OriginalDesign,
    name: str,
    rare: Sequence[int],
    inverted: InvertedBits,
    compared: int | None = None,
) -> str:
    """Return the text of module ``name``, which contains ``design`` and inverts the bits ``inverted`` of its outputs.

    ``rare``: the rows of outputs that ``inverted`` refers to by number. ``compared``: a mask of the bits in which
    outputs are compared with these rows, whose other bits are 0; None: all bits. Raises ``InputError`` for inout ports.
    """
    if any(port.direction == "inout" for port in design.ports):
        raise CertificateError(f"module {design.top} has ports that are inout: no known-bad RTL can be made of it")
    lines = _verilog if design.types is None else _vhdl
    return "\n".join([*lines(interface, design, name, rare, inverted, compared), ""])


def _outputs(design: OriginalDesign) -> list[Port]:
    return [port for port in design.ports if port.direction == "out"]


def _wires(interface: DesignInterface, design: OriginalDesign) -> Iterator[tuple[Port, str, str, int | None]]:
    """Yield for each wire of an output: its port, index in an array, name of the inner wire, first bit in the row."""
    offsets = {wire.name: wire.offset for wire in interface.outputs if wire.width}
    for number, port in enumerate(_outputs(design)):
        for wire in port.wires:
            index = wire[len(port.name) :]
            yield port, index, f"dais_inner_{number}{index}", offsets.get(wire)


# Verilog


def _verilog(
    interface: DesignInterface,
    design: OriginalDesign,
    name: str,
    rare: Sequence[int],
    inverted: InvertedBits,
    compared: int | None,
) -> Iterator[str]:
    yield f"// {design.top} with wrong bits: it must be found out."
    yield f"module {name} ("
    ports = [(port.direction, _verilog_port(port, _verilog_name(port.name))) for port in design.ports]
    yield ",\n".join(f"    {direction}put wire {declared}" for direction, declared in ports)
    yield ");"
    inner = {port.name: f"dais_inner_{number}" for number, port in enumerate(_outputs(design))}
    for port in _outputs(design):
        yield f"    wire {_verilog_port(port, inner[port.name])};"
    bits = interface.output_bits
    given = {port.name + index: wire for port, index, wire, _ in _wires(interface, design)}
    row = [given[wire.name] for wire in reversed(interface.outputs) if wire.width]
    yield f"    wire [{bits - 1}:0] dais_all = {{{', '.join(row)}}};"
    row_of = "dais_all" if compared is None else f"(dais_all & {bits}'h{compared:x})"
    for number, value in enumerate(rare):
        yield f"    wire dais_hit_{number} = {row_of} == {bits}'h{value:x};"
    yield f"    {_verilog_name(design.top)} dais_dut ("
    pins = [(_verilog_name(port.name), inner.get(port.name, _verilog_name(port.name))) for port in design.ports]
    yield ",\n".join(f"        .{pin}({wire})" for pin, wire in pins)
    yield "    );"
    for port, index, wire, offset in _wires(interface, design):
        terms, width = [wire], port.width
        for bit in [] if offset is None else [bit for bit in sorted(inverted) if offset <= bit < offset + width]:
            hits = " ^ ".join(f"dais_hit_{number}" for number in inverted[bit]) or "1'b1"
            terms.append(f"({{{width}{{{hits}}}}} & ({width}'d1 << {bit - (offset or 0)}))")
        yield f"    assign {_verilog_name(port.name)}{index} = {' ^ '.join(terms)};"
    yield "endmodule"


def _verilog_port(port: Port, name: str) -> str:
    array = "" if port.elements is None else f" [{port.elements[0]}:{port.elements[-1]}]"
    return f"{'signed ' if port.signed else ''}[{port.width - 1}:0] {name}{array}"


def _verilog_name(name: str) -> str:
    """Return ``name`` as a Verilog identifier, escaped if necessary."""
    return name if _PLAIN.fullmatch(name) else f"\\{name} "


# VHDL


def _vhdl(
    interface: DesignInterface,
    design: OriginalDesign,
    name: str,
    rare: Sequence[int],
    inverted: InvertedBits,
    compared: int | None,
) -> Iterator[str]:
    types = design.types or {}
    yield f"-- {design.top} with wrong bits: it must be found out."
    yield "library ieee;\nuse ieee.std_logic_1164.all;\nuse ieee.numeric_std.all;\n"
    yield f"entity {name} is\n  port ("
    yield ";\n".join(f"    {port.name} : {port.direction} {_vhdl_type(port, types)}" for port in design.ports)
    yield f"  );\nend entity;\n\narchitecture wrong of {name} is"
    inner = {port.name: f"dais_inner_{number}" for number, port in enumerate(_outputs(design))}
    own = {port.name: f"dais_own_{number}" for number, port in enumerate(design.ports) if types[port.name] not in _SAME}
    for port in design.ports:
        if port.name in own:
            bounds = "" if _scalar(port, types) else f"({port.width - 1} downto 0)"
            yield f"  signal {own[port.name]} : {types[port.name]}{bounds};"
        if port.name in inner:
            yield f"  signal {inner[port.name]} : {_vhdl_type(port, types)};"
    bits = interface.output_bits
    yield f"  signal dais_all : std_logic_vector({bits - 1} downto 0);"
    yield from (f"  signal dais_hit_{number} : std_logic;" for number in range(len(rare)))
    yield "begin"
    pins = [(port.name, own.get(port.name, inner.get(port.name, port.name))) for port in design.ports]
    yield f"  dais_dut : entity work.{design.top} port map ("
    yield ",\n".join(f"    {pin} => {wire}" for pin, wire in pins) + "\n  );"
    for port in design.ports:
        if port.name in own:
            kind = types[port.name]
            if port.direction == "in":
                yield f"  {own[port.name]} <= {_FROM.get(kind, kind)}({port.name});"
            else:
                yield f"  {inner[port.name]} <= {_TO.get(kind, 'std_logic_vector')}({own[port.name]});"
    for port, _, wire, offset in _wires(interface, design):
        if offset is not None:
            place = str(offset) if _scalar(port, types) else f"{offset + port.width - 1} downto {offset}"
            yield f"  dais_all({place}) <= {wire};"
    row_of = "dais_all" if compared is None else f'(dais_all and std_logic_vector\'("{compared:0{bits}b}"))'
    for number, value in enumerate(rare):
        yield f"  dais_hit_{number} <= '1' when {row_of} = std_logic_vector'(\"{value:0{bits}b}\") else '0';"
    for port, _, wire, offset in _wires(interface, design):
        for bit in range(port.width):
            place = "" if _scalar(port, types) else f"({bit})"
            hits = None if offset is None else inverted.get(offset + bit)
            terms = [] if hits is None else ([f"dais_hit_{number}" for number in hits] or ["'1'"])
            yield f"  {port.name}{place} <= {' xor '.join([wire + place, *terms])};"
    yield "end architecture;"


def _scalar(port: Port, types: Mapping[str, str]) -> bool:
    return not types[port.name].endswith(("vector", "signed"))


def _vhdl_type(port: Port, types: Mapping[str, str]) -> str:
    return "std_logic" if _scalar(port, types) else f"std_logic_vector({port.width - 1} downto 0)"
