"""Join designs into one: a top module with the ports of all designs contains an instance of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dais_verif.dut.interface import DesignInterface, Wire
from dais_verif.dut.placement import Dut
from dais_verif.program.ports import Ports
from dais_verif.simulation.jointly.isolation import idle_readers, modules_of, renamed
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.simulation.testbench.idle import idle_inputs
from dais_verif.toolchain import private_files
from dais_verif.toolchain.private_files import plain_name

__all__ = ["Joined", "Part", "joined", "part_of"]

_TOP = "dais_verif_joint"
#: A file before the files of each design, so that these directives of the preceding design no longer apply.
_RESET = "`resetall\n`default_nettype wire\n`timescale 1ns/1ps\n"
#: A simulator may not read files with other suffixes, such as .vlt and .cpp, as Verilog.
_SUFFIXES = (".v", ".sv")


@dataclass(frozen=True)
class Part:
    """A design that may share a build: its files and their texts, the modules in them, and its top and ports."""

    names: tuple[str, ...]
    texts: tuple[str, ...]
    modules: frozenset[str]
    top: str
    interface: DesignInterface


@dataclass(frozen=True)
class Joined:
    """``design``: all parts in one. ``interfaces``, ``instances``: for each part, its ports and its instance in it."""

    design: RtlDesign
    interfaces: tuple[DesignInterface, ...]
    instances: tuple[str, ...]


def part_of(design: RtlDesign, interface: DesignInterface) -> Part | None:
    """Return ``design`` as a part, or None if it cannot share a build. Raises ``InputError`` for unreadable files."""
    wires = (*interface.inputs, *interface.outputs)
    plain = interface.clocking is None and not interface.ties and all(wire.name == wire.port for wire in wires)
    plain = plain and not idle_inputs(interface)  # a separate bench drives such inputs with both values
    files = tuple(plain_name(source, k) for k, source in enumerate(design.sources))
    if not plain or design.data or not all(file.endswith(_SUFFIXES) for file in files):
        return None
    try:
        texts = tuple(private_files.read(source).decode("ascii") for source in design.sources)
    except UnicodeDecodeError:
        return None
    modules: set[str] = set()
    for text in texts:
        found = modules_of(text)
        if found is None or found & modules:
            return None
        modules |= found
    if design.top not in modules or not idle_readers(texts, design.top):
        return None
    return Part(files, texts, frozenset(modules), design.top, interface)


def joined(parts: Sequence[Part], folder: Path) -> Joined:
    """Write ``parts`` into ``folder`` as one design, in which the modules of each part have unique names.

    Files are not merged or renamed, since simulators end comments and the effect of some directives at the end of a
    file.
    """
    tag = "_dv"
    while any(tag in text for part in parts for text in part.texts):
        tag += "v"
    lines, sources = [], []
    interfaces, instances, ports, inner = [], [], [], []
    for number, part in enumerate(parts):
        names = {name: f"{name}{tag}{number}" for name in part.modules}
        sources.append(_written(folder / f"part_{number}" / "directives.v", _RESET))
        for k, (file, text) in enumerate(zip(part.names, part.texts, strict=True)):
            sources.append(_written(folder / f"part_{number}" / str(k) / file, renamed(text, names)))
        own, its_top = part.interface, names[part.top]
        inputs = tuple(wire._replace(name=f"i{number}_{k}") for k, wire in enumerate(own.inputs))
        outputs = tuple(wire._replace(name=f"o{number}_{k}") for k, wire in enumerate(own.outputs))
        interfaces.append(DesignInterface(inputs, outputs))
        instances.append(f"part_{number}")
        ports += [_port("input", wire) for wire in inputs] + [_port("output", wire) for wire in outputs]
        pairs = zip((*own.inputs, *own.outputs), (*inputs, *outputs), strict=True)
        lines.append(f"  {its_top} part_{number} ({', '.join(f'.{its.name}({ours.name})' for its, ours in pairs)});")
        inner += [(its_top, port) for port in own.ports]
    top = "\n".join([f"module {_TOP} (", ",\n".join(ports), ");", *lines, "endmodule", ""])
    source = _written(folder / f"{_TOP}.v", top)
    wires = DesignInterface(
        tuple(wire for own in interfaces for wire in own.inputs),
        tuple(wire for own in interfaces for wire in own.outputs),
    )
    design = RtlDesign((source, *sources), _TOP, dut=Dut(wires, Ports((), ()), ()), inner=tuple(inner))
    return Joined(design, tuple(interfaces), tuple(instances))


def _written(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode("ascii"))
    return file


def _port(direction: str, wire: Wire) -> str:
    return f"  {direction} wire [{max(wire.width, 1) - 1}:0] {wire.name}"
