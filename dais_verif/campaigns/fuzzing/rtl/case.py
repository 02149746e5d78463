"""A case with RTL: a program, input vectors, and Verilog that should compute it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from dais_verif.base.text import counted
from dais_verif.base.toolchain.rtl_files import DataFile, copy_into
from dais_verif.campaigns.fuzzing.case import Case
from dais_verif.hardware.ports.interface import MODEL_INP, MODEL_OUT, Dut, Wire
from dais_verif.spec.program import Program
from dais_verif.spec.program.ports import Element, ports_of

__all__ = ["AROUND", "Edit", "Files", "RtlCase", "edited", "module_around"]


#: Texts by file name, with one character per byte (ISO 8859-1), so that positions equal those of Verilog readers.
Files = Mapping[str, str]

_BLANK = re.compile(r"\n(?:[ \t]*\n)+")


class Edit(NamedTuple):
    """The replacement of the text from ``start`` to ``end`` of ``file`` by ``new``."""

    file: str
    start: int
    end: int
    new: str


@dataclass(frozen=True, eq=False)
class RtlCase:
    """``case`` and its RTL, module ``top`` in ``files``.

    ``ours``: True if the RTL has the ports of emitted RTL, whatever ports the original RTL has. ``includes``: the files
    that the RTL includes, which are not reduced.
    """

    case: Case
    files: Files
    top: str
    ours: bool = False
    includes: tuple[DataFile, ...] = ()

    @cached_property
    def key(self) -> object:
        """The identity of the case."""
        return self.case.key, self.top, tuple(self.files.items())

    @property
    def words(self) -> str:
        """The size of the case, as text."""
        return f"{self.case.words}, {counted(self.lines, 'line')} of RTL"

    @property
    def lines(self) -> int:
        """The number of lines of RTL that are not empty."""
        return sum(bool(line.strip()) for text in self.files.values() for line in text.splitlines())

    def with_files(self, files: Files) -> RtlCase:
        """Return the same case with other RTL."""
        return replace(self, files=files)

    def write(self, folder: Path) -> tuple[Path, ...]:
        """Write the RTL and what it includes into ``folder``, and return the paths of the files of the RTL."""
        folder.mkdir(parents=True, exist_ok=True)
        copy_into(folder, self.includes)
        for name, text in self.files.items():
            (folder / name).write_bytes(text.encode("latin-1"))
        return tuple(folder / name for name in self.files)


def edited(files: Files, edits: Iterable[Edit]) -> dict[str, str]:
    """Return ``files`` after ``edits``, without blank lines in edited files. Edits within another edit are ignored."""
    made, last = dict(files), dict.fromkeys(files, 0)
    parts: dict[str, list[str]] = {name: [] for name in files}
    for edit in sorted(edits, key=lambda edit: (edit.file, edit.start, -edit.end)):
        if edit.start >= last[edit.file]:
            parts[edit.file] += [files[edit.file][last[edit.file] : edit.start], edit.new]
            last[edit.file] = edit.end
    for name, pieces in parts.items():
        if pieces:
            made[name] = _BLANK.sub("\n", "".join(pieces) + files[name][last[name] :])
    return made


# A module around user RTL, with the ports of a program that has fewer inputs and outputs.
#
# Inputs, or bits of them, that the smaller program does not have keep the values that they had in the failing vector.


#: The name of the module.
AROUND = "dais_case"


def module_around(
    dut: Dut, top: str, parameters: Mapping[str, str], program: Program, inputs: Sequence[int], output: int, given: str
) -> str:
    """Return the text of the module, whose ports are those of ``program``.

    ``inputs``: for each input of ``program``, the input of ``dut``; ``output``: the output of ``dut``. ``given``: the
    bits of the failing vector.
    """
    ports, clocking = ports_of(program), dut.interface.clocking
    bits: list[int | str] = [f"1'b{bit}" for bit in reversed(given)]  # below: or a position in the new port
    for own, number in zip(ports.inputs, inputs, strict=True):
        theirs = dut.ports.inputs[number]
        for place in range(theirs.width):
            at = theirs.lo + place - own.lo
            if 0 <= at < own.width:
                bits[theirs.offset + place] = own.offset + at
    pins = list(clocking.driven) if clocking is not None else []
    told = clocking.valid_out if clocking is not None else None
    header = [
        *(f"input wire {pin}" for pin in pins),
        f"input wire [{max(ports.input_bits, 1) - 1}:0] {MODEL_INP}",
        f"output wire [{max(ports.output_bits, 1) - 1}:0] {MODEL_OUT}",
        *([f"output wire {told}"] if told else []),
    ]
    connections = {wire.name: _carried(wire, bits) for wire in dut.interface.inputs}
    connections |= {name: str(value) for name, value in dut.interface.ties}
    connections |= {pin: pin for pin in [*pins, *([told] if told else [])]}
    nets = []
    for number, wire in enumerate(dut.interface.outputs):
        if wire.width:
            nets.append((f"got_{number}", wire))
            connections[wire.name] = f"got_{number}"
    said = ", ".join(f".{name}({value})" for name, value in parameters.items())
    return "\n".join(
        [
            f"module {AROUND} ({', '.join(header)});",
            *(f"  wire [{wire.width - 1}:0] {name};" for name, wire in nets),
            f"  {top}{f' #({said})' if said else ''} dut "
            f"({', '.join(f'.{port}({what})' for port, what in connections.items())});",
            f"  assign {MODEL_OUT} = {_taken(nets, dut.ports.outputs[output])};",
            "endmodule",
            "",
        ]
    )


def _carried(wire: Wire, bits: Sequence[int | str]) -> str:
    """Return the connection of port ``wire``, most significant bit first; consecutive bits become one slice."""
    if not wire.width:
        return "1'b0"
    pieces: list[tuple[int, int] | str] = []
    for bit in bits[wire.offset : wire.offset + wire.width]:
        last = pieces[-1] if pieces else ""
        if isinstance(bit, str):
            pieces.append(bit)
        elif isinstance(last, tuple) and last[1] + 1 == bit:
            pieces[-1] = (last[0], bit)
        else:
            pieces.append((bit, bit))
    words = (piece if isinstance(piece, str) else f"{MODEL_INP}[{piece[1]}:{piece[0]}]" for piece in reversed(pieces))
    return "{" + ", ".join(words) + "}"


def _taken(nets: Sequence[tuple[str, Wire]], element: Element) -> str:
    for name, wire in nets:
        if wire.offset <= element.offset < wire.offset + wire.width:
            low = element.offset - wire.offset
            return f"{name}[{low + element.width - 1}:{low}]"
    raise ValueError(f"no port carries {element}")
