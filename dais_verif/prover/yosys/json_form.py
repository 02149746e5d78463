"""The parts of Yosys' JSON (``write_json``) that a proof needs."""

from __future__ import annotations

import os
import re
from pathlib import Path

import msgspec

from dais_verif.base.errors import NetlistFailure
from dais_verif.base.structs import decoded

__all__ = ["Bit", "Cell", "Module", "number", "place", "read_form"]

#: The number of a one-bit net, or a constant: ``0``, ``1``, ``x``, ``z``.
Bit = int | str


class Port(msgspec.Struct):
    """A port of a module. ``bits``: least significant first, here and in all lists of bits."""

    direction: str
    bits: list[Bit]


class Cell(msgspec.Struct):
    """An operator, a register, or an instance of the module ``type``."""

    type: str
    port_directions: dict[str, str] = {}
    connections: dict[str, list[Bit]] = {}
    parameters: dict[str, str] = {}
    attributes: dict[str, str] = {}

    def number(self, parameter: str) -> int:
        """Return an unsigned parameter; 0 if there is none."""
        return number(self.parameters.get(parameter, "0"))


class Net(msgspec.Struct):
    """The bits of a named wire. ``hide_name``: 1 if Yosys generated the name."""

    bits: list[Bit]
    hide_name: int = 0
    attributes: dict[str, str] = {}


class Words(msgspec.Struct):
    """A memory, whose words have the addresses ``start_offset .. start_offset + size - 1``."""

    width: int
    size: int
    start_offset: int = 0
    attributes: dict[str, str] = {}


class Module(msgspec.Struct):
    """A module, with its parameters filled in."""

    ports: dict[str, Port] = {}
    cells: dict[str, Cell] = {}
    netnames: dict[str, Net] = {}
    memories: dict[str, Words] = {}
    attributes: dict[str, str] = {}


class _Form(msgspec.Struct):
    modules: dict[str, Module]


def read_form(path: Path) -> dict[str, Module]:
    """Return the modules in the file at ``path``. Raises ``ToolError`` if it is not complete as Yosys writes it."""
    try:
        return decoded(path.read_bytes(), _Form).modules
    except (OSError, UnicodeDecodeError, msgspec.MsgspecError) as error:
        raise NetlistFailure(f"{str(path)!r} is not a netlist as Yosys writes it: {error}") from None


def number(bits: str) -> int:
    """Return an unsigned number in binary."""
    return int(bits, 2)


_PLACE = re.compile(r"(.*):([1-9]\d*)\.\d+-\d+\.\d+")


def place(attributes: dict[str, str]) -> str:
    """Return file and line of an object; ``in the RTL`` if Yosys gives none."""
    for source in attributes.get("src", "").split("|"):
        found = _PLACE.fullmatch(source)
        if found:
            return f"{os.path.relpath(found[1])}:{found[2]}"
    return "in the RTL"
