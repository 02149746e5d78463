"""Find the ports of a VHDL entity in its text: vectors of bits whose bounds are numbers, or expressions of generics.

If the text is not sufficient, GHDL determines the ports when the design runs. Its synthesis is not used here, because
it refuses architectures that can be simulated, and loses types and ports without bits (docs/developers/internals.md).
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from dais_verif.hardware.ports.discover import Port
from dais_verif.hardware.ports.interface import Clocking
from dais_verif.hardware.ports.ports_file import PortsFile, Side

__all__ = [
    "NeededFiles",
    "declares_clock",
    "in_lower_case",
    "needed_files",
    "vhdl_ports_in",
    "vhdl_roots_in",
    "vhdl_types_in",
]


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


# Find the Verilog modules and VHDL entities that files declare and use, from the words of their text.
#
# This only selects files; the front ends determine their meaning.


_WORD = re.compile(r"\w+")
_UNITS = r"(?:module|macromodule|package|primitive|interface|program)"
#: A declaration anywhere on a line, even after an attribute or another module, with a plain or an escaped name.
_MODULE = re.compile(rf"\b{_UNITS}(?:\s+(?:automatic\s+|static\s+)?|(?=\\))\\?(\w+)")
_ENTITY = re.compile(r"\b(?:entity|package)\s+\\?(\w+)\\?\s+is\b", re.IGNORECASE)
_ARCHITECTURE = re.compile(r"\barchitecture\s+\S+\s+of\s+\\?(\w+)", re.IGNORECASE)

#: All kinds of comments and strings in one alternation, so that the one that begins first matches: ``word`` is text and
#: is kept, ``hidden`` are comments and strings, and after ``odd`` or ``quote`` their end cannot be determined.
_VERILOG = re.compile(
    r"""
      (?P<odd>    `["\\`] | "{3} | /\*(?!.*?\*/).* | \r(?!\n) | [\v\f] )
    | (?P<word>   \\\S+ )  # an escaped identifier, which may be \"x or \//x
    | (?P<hidden> //[^\r\n\v\f]* | /\*.*?\*/ | "(?:\\\r\n | \\. | [^"\\\r\n])*" )
    | (?P<quote>  " )
    """,
    re.DOTALL | re.VERBOSE | re.ASCII,
)
#: Words that do not form a qualified expression ``type'(`` before an apostrophe: there, ``'('`` is a character.
_BEFORE_VALUES = (
    "abs after and assert assume case cover default downto elsif generate if in inertial is mod nand new nor not "
    "of on or port process property range reject rem report return rol ror select severity sla sll sra srl to "
    "transport unaffected until wait when while with xnor xor"
).replace(" ", "|")
_VHDL = re.compile(
    rf"""
      (?P<odd>    % | /\*(?!.*?\*/).* | \r(?!\n) | [\v\f] )
    | (?P<word>   \\[^\\\r\n]*\\ | \b(?!(?:{_BEFORE_VALUES})\b)\w+\s*'(?=\() | \w+ )
    | (?P<hidden> --[^\r\n\v\f]* | /\*.*?\*/ | "[^"\r\n]*" | '[^\r\n]' )
    | (?P<quote>  " )
    """,
    re.DOTALL | re.VERBOSE | re.ASCII | re.IGNORECASE,
)
_DEFINITION = re.compile(r"`define\b(?:\\\r?\n|[^\n])*", re.ASCII)
_UNIT = re.compile(rf"\b{_UNITS}\b", re.ASCII)
_NAMED_BY_MACRO = re.compile(rf"\b{_UNITS}\s*`", re.ASCII)


class NeededFiles(NamedTuple):
    """The files that a top needs.

    ``files``: all needed files; that of the top is the first. ``units``: for each needed unit, the files that declare
    it. ``unclear``: a file that may also declare one of these units, and that unit; the words of the file do not decide
    it.
    """

    files: tuple[Path, ...]
    units: dict[str, list[Path]]
    unclear: tuple[Path, str] | None = None

    def __bool__(self) -> bool:
        return bool(self.files)


class _Text(NamedTuple):
    """The text of a file, with comments and strings replaced by spaces. ``clear``: its declarations can be found."""

    text: str
    clear: bool


def needed_files(texts: Mapping[Path, str], top: str, *, vhdl: bool) -> NeededFiles:
    """Return the files of ``texts`` that the unit ``top`` needs: those that declare units that it names, recursively.

    There are no files if no text declares ``top``. A word in a comment may add an unnecessary file, but no necessary
    file is missing.
    """
    declared: dict[str, list[Path]] = {}
    plain = {path: _without_comments(text, vhdl) for path, text in texts.items()}
    for path, (text, _) in plain.items():
        for name in dict.fromkeys(_declared(text, vhdl)):
            declared.setdefault(name, []).append(path)
    if vhdl:  # an architecture in another file, or one of several in a file, counts as one more declaration
        for path, (text, _) in plain.items():
            bodies = Counter(name.lower() for name in _ARCHITECTURE.findall(text))
            for name, count in bodies.items():
                if path not in declared.get(name, ()) or count > 1:
                    declared.setdefault(name, []).append(path)
    top = top.lower() if vhdl else top
    needed, units = dict.fromkeys(declared.get(top, [])[:1]), {top: declared.get(top, [])}
    waiting = list(needed)
    while waiting:
        for name in _words(texts[waiting.pop(0)], vhdl):
            for path in declared.get(name, ()):
                units[name] = declared[name]
                if path not in needed:
                    needed[path] = None
                    waiting.append(path)
    unclear = (
        (path, name)
        for path, (_, clear) in plain.items()
        if not clear
        for name in _words(texts[path], vhdl)
        if name in units and path not in units[name]
    )
    return NeededFiles(tuple(needed), units, next(unclear, None))


def _words(text: str, vhdl: bool) -> dict[str, None]:
    return dict.fromkeys(_WORD.findall(text.lower() if vhdl else text))


def _without_comments(text: str, vhdl: bool) -> _Text:
    clear = True

    def kept(found: re.Match[str]) -> str:
        nonlocal clear
        if found.lastgroup in ("odd", "quote"):
            clear = False
        return " " if found.lastgroup == "hidden" else found[0]

    plain = (_VHDL if vhdl else _VERILOG).sub(kept, text)
    return _Text(plain, clear and (vhdl or not _declares_by_macro(plain)))


def _declares_by_macro(text: str) -> bool:
    """Return True if the name of a unit, or a whole unit, comes from a macro."""
    if _NAMED_BY_MACRO.search(text) is not None:
        return True
    return any(_UNIT.search(found[0]) is not None for found in _DEFINITION.finditer(text))


def _declared(text: str, vhdl: bool) -> list[str]:
    return [name.lower() for name in _ENTITY.findall(text)] if vhdl else _MODULE.findall(text)


def declares_clock(text: str, top: str, clock: str, *, vhdl: bool) -> bool:
    """Return True if the header of unit ``top`` in ``text`` declares an input ``clock``."""
    text = _without_comments(text, vhdl).text
    if vhdl:
        header = re.search(rf"\bentity\s+{re.escape(top)}\s+is\b(.*?)\bend\b", text, re.DOTALL | re.IGNORECASE)
        port = rf"\b{clock}\s*:\s*in\b"
        return header is not None and re.search(port, header[1], re.IGNORECASE) is not None
    header = re.search(rf"\bmodule\s+{re.escape(top)}\b(.*?);", text, re.DOTALL)
    return header is not None and re.search(rf"\binput\s+(?:wire\s+|logic\s+)?{clock}\b", header[1]) is not None
