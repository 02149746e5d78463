"""May a design share a build with others? Only if nothing in its text can reach them, nor theirs reach it.

All files of a build are one compilation unit: a macro, a type or a parameter outside modules, the name of a module, a
``defparam`` holds in all of them, and ``$finish`` ends all. So a text shares a build only if it is modules of plain
logic and nothing else, by the words that it is made of. What this reader does not know it refuses, which costs time
and no more: such a design is built alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

__all__ = ["idle_readers", "modules_of", "renamed"]

_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<string>"(?:[^"\\\n]|\\.)*")
  | (?P<number>\d[\d_]*(?:\.\d[\d_]*)?|'[sS]?[bBoOdDhH]\s*[0-9a-fA-FxXzZ?_]+|'[01xXzZ])
  | (?P<directive>`[^\n]*)
  | (?P<system>\$[A-Za-z_$][\w$]*)
  | (?P<name>[A-Za-z_][\w$]*)
  | (?P<mark>\(\*(?!\))|\*\)|[^\s\w\\`"$])
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)

_NAME = re.compile(r"[A-Za-z_][\w$]*", re.ASCII)
#: Characters that some tools take for the end of a line or leave out, and others do not.
_UNSEEN = re.compile(r"[\0-\x08\x0e-\x1f\x7f]|\r(?!\n)")

#: Words of comments that tools obey.
_OBEYED = re.compile(r"\b(?:synthesis|synopsys|pragma|translate_off|translate_on|verilator(?!\s+lint_o))\b", re.I)

#: System functions that are pure arithmetic.
_FUNCTIONS = {"$signed", "$unsigned", "$clog2", "$bits"}

#: Functions that read files of the common folder; modules that call them share a build only if these are unused.
_READERS = {"$readmemh", "$readmemb"}

#: Directives that hold until they are said again, which is done before each design.
_TIME = r"1(?:00?)?\s*[munpf]?s"
_DIRECTIVE = re.compile(
    rf"`(?:timescale\s+{_TIME}\s*/\s*{_TIME}|default_nettype\s+(?:none|wire)|resetall)\s*(?://.*)?", re.ASCII
)

#: Constructs that may reach other modules, end or observe the simulation, or are not plain logic.
_REFUSED = frozenset(
    """
    alias assert assume bind chandle checker class clocking config constraint cover covergroup defparam deassign
    disable endchecker endclass endclocking endconfig endinterface endpackage endprimitive endprogram event export
    expect extends extern final force fork import include interface liblist library macromodule mailbox modport new
    nettype package primitive process program property pure rand randc release restrict semaphore sequence specify
    specparam static std string super table this timeprecision timeunit tran tranif0 tranif1 virtual wait with
    """.split()  # noqa: SIM905 - a list of so many literals is longer and reads no better
)

#: Words after which there may be a delay; after the name of a module there are parameters.
_DELAYED = frozenset(
    """
    always always_comb always_ff always_latch and assign begin buf bufif0 bufif1 do else end final forever initial join
    nand nmos nor not notif0 notif1 or pmos rcmos rnmos rpmos rtran supply0 supply1 tri tri0 tri1 triand trior trireg
    uwire wand wire wor xnor xor cmos
    """.split()  # noqa: SIM905 - as above
)

#: Words after which a dot is a port's, not a path's: by its path, a name may be anybody's.
_BEFORE_PORTS = ("(", ",")


def modules_of(text: str) -> frozenset[str] | None:
    """Return the modules that ``text``, a file of Verilog, defines; None if it may not share a build."""
    found: set[str] = set()
    inside, before = False, ""
    tokens = _tokens(text)
    if tokens is None:
        return None
    for kind, token in tokens:
        if kind in ("space", "comment", "directive"):
            if (kind == "comment" and _OBEYED.search(token)) or (
                kind == "directive" and (inside or not _DIRECTIVE.fullmatch(token))
            ):
                return None
            continue
        if not inside and token != "module":
            return None
        if token in _REFUSED or (kind == "system" and token not in _FUNCTIONS | _READERS):
            return None
        if token == "module":
            if inside:
                return None
            inside = True
        elif before == "module":
            if kind != "name":
                return None
            found.add(token)
        elif token == "endmodule":
            inside = False
        elif not _is_plain(before, kind, token):
            return None
        before = token
    return frozenset(found) if found and not inside else None


def idle_readers(texts: Sequence[str], top: str) -> bool:
    """Return True if no module of ``texts`` that reads files is used: none is ``top``, or named twice."""
    readers, names = set(), Counter[str]()
    for text in texts:
        before = module = ""
        for kind, token in _tokens(text) or []:
            if kind == "name":
                names[token] += 1
                module = token if before == "module" else module
            elif kind == "system" and token in _READERS:
                readers.add(module)
            before = before if kind in ("space", "comment") else token
    return top not in readers and all(names[reader] == 1 for reader in readers)


def _is_plain(before: str, kind: str, token: str) -> bool:
    """Return True if ``token`` may follow: no path, no ``.*``, which connects by name, and no delay."""
    if before == ".":
        return kind == "name"
    if before == "#":
        return token == "("
    if token == "#":
        return before not in _DELAYED and _NAME.fullmatch(before) is not None
    return token != "." or before in _BEFORE_PORTS


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Return ``text`` with other names for its modules, and for whatever else is called the same in it."""
    tokens = _tokens(text) or []
    return "".join(names.get(token, token) if kind == "name" else token for kind, token in tokens)


def _tokens(text: str) -> Sequence[tuple[str, str]] | None:
    """Return the words of ``text`` with their kinds, space among them; None if there is anything else."""
    if _UNSEEN.search(text):
        return None
    found = list(_split(text))
    return found if sum(len(token) for _, token in found) == len(text) else None


def _split(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while (match := _TOKEN.match(text, at)) is not None:
        yield match.lastgroup or "", match[0]
        at = match.end()
