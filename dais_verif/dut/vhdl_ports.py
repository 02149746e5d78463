"""Find the ports of a VHDL entity in its text: vectors of bits whose bounds are numbers, or expressions of generics.

If the text is not sufficient, GHDL determines the ports when the design runs. Its synthesis is not used here, because
it refuses architectures that can be simulated, and loses types and ports without bits (docs/developers/internals.md).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from dais_verif.dut.discover import Port
from dais_verif.dut.interface import Clocking
from dais_verif.dut.ports_file import PortsFile, Side

__all__ = ["in_lower_case", "vhdl_ports_in", "vhdl_roots_in", "vhdl_types_in"]

_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_DECLARATION = re.compile(
    r"\s*(?:signal\s+|constant\s+)?([\w\s,]+?)\s*:\s*(?:(in|out|inout|buffer)\s+)?(.+)", re.DOTALL
)
_BIT = re.compile(r"(std_logic|std_ulogic|bit)\s*")
_VECTOR = re.compile(
    r"(?:std_logic_vector|std_ulogic_vector|bit_vector|(?:u_|unresolved_)?(?:un)?signed)\s*"
    r"\((.+?)\s+(downto|to)\s+(.+)\)\s*",
    re.DOTALL,
)
_OPERATIONS: Final[dict[type[ast.operator], Callable[[int, int], int]]] = {
    ast.Add: int.__add__,
    ast.Sub: int.__sub__,
    ast.Mult: int.__mul__,
    # VHDL rounds quotients towards 0.
    ast.FloorDiv: lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
}


def vhdl_ports_in(sources: Sequence[Path], top: str) -> tuple[Port, ...] | None:
    """Return the ports of entity ``top`` in ``sources``, with names in lower case; None if they are not known."""
    entity = _entity(sources, top)
    if entity is None:
        return None
    generics: dict[str, int | None] = {}
    for names, _, what in _declarations(entity, "generic"):
        default = what.partition(":=")[2]
        value = _number(default, {}) if default else None
        generics.update(dict.fromkeys(names, value))
    ports = []
    for names, direction, what in _declarations(entity, "port"):
        width = _width(what.partition(":=")[0].strip(), generics)
        if width is None:
            return None
        ports += [Port(name, {"buffer": "out"}.get(direction, direction), width) for name in names]
    return tuple(ports) or None


def vhdl_types_in(sources: Sequence[Path], top: str) -> dict[str, str]:
    """Return the types of the ports of entity ``top``, without bounds, by the names of the ports in lower case."""
    declared = _declarations(_entity(sources, top) or "", "port")
    return {name: what.partition(":=")[0].partition("(")[0].strip() for names, _, what in declared for name in names}


def _entity(sources: Sequence[Path], top: str) -> str | None:
    """Return the text of the declaration of entity ``top`` in lower case; None if there is none."""
    entity = re.search(rf"\bentity\s+{re.escape(top.lower())}\s+is\b(.*?)\bend\b", _text(sources), re.DOTALL)
    return entity[1] if entity else None


def _text(sources: Sequence[Path]) -> str:
    return "\n".join(_COMMENT.sub(" ", source.read_text(encoding="latin-1")) for source in sources).lower()


def vhdl_roots_in(sources: Sequence[Path]) -> list[str]:
    """Return the entities in ``sources`` that no instance in them uses, directly or as a component; in lower case."""
    text = _text(sources)
    used = set(
        re.findall(
            r":\s*(?:entity\s+(?:\w+\s*\.\s*)?|component\s+)?(\w+)\s*(?:\(\s*\w+\s*\)\s*)?(?:generic|port)\s+map", text
        )
    )
    return sorted(set(re.findall(r"\bentity\s+(\w+)\s+is\b", text)) - used)


def in_lower_case(said: PortsFile) -> PortsFile:
    """Return ``said`` with all names in lower case, since VHDL is not case-sensitive."""

    def side(given: Side) -> Side:
        return replace(given, port=given.port.lower(), ports=given.ports and tuple(map(str.lower, given.ports)))

    clocking = said.clocking
    if clocking is not None:
        pins = {pin: name.lower() for pin, name in vars(clocking).items() if isinstance(name, str)}
        clocking = Clocking(**{**vars(clocking), **pins})
    ties = tuple((name.lower(), value) for name, value in said.ties)
    return PortsFile(side(said.inputs), side(said.outputs), clocking, ties)


def _declarations(body: str, clause: str) -> Iterator[tuple[list[str], str, str]]:
    """Yield the names, direction and other text of each declaration in an entity's ``port`` or ``generic`` clause."""
    found = re.search(rf"\b{clause}\s*\(", body)
    if found is None:
        return
    depth, end = 1, found.end()
    while depth and end < len(body):
        depth += {"(": 1, ")": -1}.get(body[end], 0)
        end += 1
    for declaration in body[found.end() : end - 1].split(";"):
        parts = _DECLARATION.fullmatch(declaration)
        if parts:
            yield [name.strip() for name in parts[1].split(",")], parts[2] or "in", parts[3]
        elif declaration.strip():
            yield [declaration.strip()], "inout", ""


def _width(kind: str, generics: Mapping[str, int | None]) -> int | None:
    if _BIT.fullmatch(kind):
        return 1
    vector = _VECTOR.fullmatch(kind)
    if vector is None:
        return None
    left, right = _number(vector[1], generics), _number(vector[3], generics)
    if left is None or right is None:
        return None
    return max(0, left - right + 1 if vector[2] == "downto" else right - left + 1)


def _number(text: str, generics: Mapping[str, int | None]) -> int | None:
    """Return the value of an expression of integers and generics; None if it contains anything else."""

    def value(node: ast.expr) -> int:
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return node.value
        if isinstance(node, ast.Name):
            found = generics.get(node.id)
            if found is not None:
                return found
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -value(node.operand)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
            return _OPERATIONS[type(node.op)](value(node.left), value(node.right))
        raise ValueError

    try:
        return value(ast.parse(text.strip().replace("/", "//"), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):  # the last two if it is too deep
        return None
