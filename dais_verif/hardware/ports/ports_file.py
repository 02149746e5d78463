"""The ``--ports`` file, which names the ports of a user's design that carry the program's inputs and outputs.

    [inputs]
    port = "model_inp"            # one packed port, element 0 in the least significant bits; this is the default
    [outputs]
    port = "y_{}"                 # one port per element: y_0, y_1, ...; or "y[{}]" for an array
    types = "s12.6"               # type of the elements: signed, 12 bits, 6 of them fractional; or a list
    [clock]
    port = "clk"
    latency = 4                   # rising edges from an input to its output, or "auto"
    reset = "rst_n"               # optional, like the rest
    reset_active = "low"
    enable = "ce"
    valid_in = "in_valid"
    valid_out = "out_valid"
    [tie]
    test_mode = 0                 # other inputs, and the value that they keep

``ports = ["a", "b"]`` instead of ``port`` names the port of each element.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from dais_verif.base.errors import PortError
from dais_verif.base.files import read_toml
from dais_verif.base.toml import parse_toml
from dais_verif.hardware.ports.interface import MODEL_INP, MODEL_OUT, Clocking
from dais_verif.spec.program import FixedType
from dais_verif.spec.program.types import LIMIT

__all__ = ["PortsFile", "Side", "latency_of", "ports_from_tree", "read_ports_file"]

_TYPE = re.compile(r"([su])(\d{1,4})\.(-?\d{1,4})")
_TABLES = {
    "inputs": ("port", "ports", "types"),
    "outputs": ("port", "ports", "types"),
    "clock": ("port", "latency", "reset", "reset_active", "enable", "valid_in", "valid_out"),
}

#: The largest accepted latency; larger ones are mistakes.
_MOST_LATENCY = 100_000
_MOST_BYTES = 4 << 20


@dataclass(frozen=True)
class Side:
    """Inputs or outputs. ``port``: one packed port, or with ``{}`` one per element; ``ports``: one name per element.

    ``types``: one type for all elements, or one for each; None if the file states none.
    """

    port: str
    ports: tuple[str, ...] | None = None
    types: tuple[FixedType, ...] | None = None

    def names(self, count: int) -> list[str] | None:
        """Return the port of each of ``count`` elements; None if all are packed in one port."""
        if self.ports is not None:
            return list(self.ports)
        return [self.port.replace("{}", str(j)) for j in range(count)] if "{}" in self.port else None


@dataclass(frozen=True)
class PortsFile:
    """The content of a ports file, with defaults for a missing file. ``where``: its name in messages."""

    inputs: Side = Side(MODEL_INP)
    outputs: Side = Side(MODEL_OUT)
    clocking: Clocking | None = None
    ties: tuple[tuple[str, int], ...] = ()
    where: str = field(default="ports", compare=False)


def read_ports_file(path: str | Path) -> PortsFile:
    """Return the content of the ports file ``path``. Raises ``InputError`` that names the unusable table and key."""
    path = Path(path)
    try:
        tree = parse_toml(read_toml(path, _MOST_BYTES, "ports file"))
    except ValueError as error:
        raise PortError(f"ports file {str(path)!r} is not valid TOML: {error}") from None
    return _Reader(f"ports file {str(path)!r}").file(tree)


def ports_from_tree(tree: Mapping[str, Any]) -> PortsFile:
    """Return the content of a ports file with the tables of ``tree``. Raises ``InputError`` if they are invalid."""
    return _Reader("ports").file(tree)


def latency_of(value: object) -> int | None:
    """Return a latency, in clock edges; None for ``auto``. Raises ``ValueError`` if ``value`` is neither."""
    if value == "auto":
        return None
    text = str(value)
    if isinstance(value, bool) or not text.isascii() or not text.isdigit() or int(text) > _MOST_LATENCY:
        raise ValueError(f'latency must be a number of clock edges, at most {_MOST_LATENCY}, or "auto", not {value!r}')
    return int(text)


class _Reader:
    def __init__(self, where: str) -> None:
        self._where = where

    def file(self, tree: Mapping[str, Any]) -> PortsFile:
        for name in tree:
            if name not in (*_TABLES, "tie"):
                self._refuse(f"[{name}] is unknown; the tables are [inputs], [outputs], [clock] and [tie]")
        return PortsFile(
            self._side(tree, "inputs", MODEL_INP),
            self._side(tree, "outputs", MODEL_OUT),
            self._clocking(tree),
            tuple(self._ties(tree)),
            self._where,
        )

    def _side(self, tree: Mapping[str, Any], name: str, default: str) -> Side:
        table = self._table(tree, name)
        if "port" in table and "ports" in table:
            self._refuse(f"[{name}] has port and ports, must have one of them")
        names = table.get("ports")
        if names is not None and not (isinstance(names, list) and names and all(map(_is_name, names))):
            self._refuse(f"[{name}] ports must be a list of port names, not {names!r}")
        if names is not None and len(set(names)) < len(names):
            twice = next(port for port in names if names.count(port) > 1)
            self._refuse(f"[{name}] ports holds {twice!r} twice; each element needs a port of its own")
        port = self._text(table, name, "port") or default
        types = table.get("types")
        listed = types if isinstance(types, list) else [types]
        kinds = tuple(self._type(name, text) for text in listed) if types is not None else None
        return Side(port, tuple(names) if names is not None else None, kinds)

    def _type(self, name: str, text: object) -> FixedType:
        match = _TYPE.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            self._refuse(f'[{name}] types holds {text!r}, must be like "s12.6": signed (or u), 12 bits, 6 fractional')
        k, width, f = int(match[1] == "s"), int(match[2]), int(match[3])
        if width > LIMIT or abs(f) > LIMIT:
            self._refuse(f"[{name}] types holds {text!r}, must have at most {LIMIT} bits")
        return FixedType(k, width - k - f, f)

    def _clocking(self, tree: Mapping[str, Any]) -> Clocking | None:
        if "clock" not in tree:
            return None
        table = self._table(tree, "clock")
        pins = {key: self._text(table, "clock", key) for key in ("port", "reset", "enable", "valid_in", "valid_out")}
        active = table.get("reset_active", "high")
        if active not in ("high", "low"):
            self._refuse(f'[clock] reset_active is {active!r}, must be "high" or "low"')
        try:
            latency = latency_of(table.get("latency", "auto"))
        except ValueError as error:
            self._refuse(f"[clock] {error}")
        clock = pins.pop("port")
        if clock is None:
            self._refuse("[clock] has no port; it names the clock")
        return Clocking(clock, latency, reset_low=active == "low", **pins)

    def _ties(self, tree: Mapping[str, Any]) -> list[tuple[str, int]]:
        table = tree.get("tie", {})
        if not isinstance(table, dict):
            self._refuse("[tie] must be a table: port = value")
        for port, value in table.items():
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 64:
                self._refuse(f"[tie] {port} is {value!r}, must be an integer of 0 to 2^64 - 1")
        return list(table.items())

    def _table(self, tree: Mapping[str, Any], name: str) -> dict[str, Any]:
        table = tree.get(name, {})
        if not isinstance(table, dict):
            self._refuse(f"{name} must be a table: [{name}]")
        for key in table:
            if key not in _TABLES[name]:
                self._refuse(f"[{name}] {key} is unknown; keys are {', '.join(_TABLES[name])}")
        return dict(table)

    def _text(self, table: Mapping[str, Any], name: str, key: str) -> str | None:
        value = table.get(key)
        if value is not None and not _is_name(value):
            self._refuse(f"[{name}] {key} is {value!r}, must be the name of a port")
        return value

    def _refuse(self, problem: str) -> NoReturn:
        raise PortError(f"{self._where}: {problem}")


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value) and value.isprintable() and not value.isspace()
