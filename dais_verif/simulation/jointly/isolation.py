"""Decide whether a design may share a build with others: only if neither text can affect the other.

All files of a build are one compilation unit: macros, types or parameters outside modules, names of modules and
``defparam`` apply to all of them, and ``$finish`` ends all. Therefore a text shares a build only if its words show
nothing but modules of plain logic. This module refuses anything unknown, which only costs time: such a design is built
alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

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

#: The number of texts whose tokens are kept: each text is read three times.
_KEPT_TEXTS = 256

_NAME = re.compile(r"[A-Za-z_][\w$]*", re.ASCII)
#: Characters that only some tools read as the end of a line, or skip.
_UNSEEN = re.compile(r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)")

#: Words of comments that tools obey, and the only such comments that are accepted: they switch warnings of Verilator
#: that never stop it.
_OBEYED = re.compile(r"synthesis|synopsys|pragma|cadence|ambit|translate_o|verilator", re.IGNORECASE)
_HARMLESS = re.compile(
    r"(?://|/\*)\s*verilator\s+lint_o(?:ff|n)\s+"
    r"(?:(?:WIDTH(?:EXPAND|TRUNC)?|UNUSED(?:GENVAR|LOOP|PARAM|SIGNAL)?|UNDRIVEN|DECLFILENAME|VARHIDDEN|CASE(?:X"
    r"|INCOMPLETE|OVERLAP)|UNSIGNED|CMPCONST)(?:\s*,\s*(?!\*/|$))?)+\s*(?:\*/)?\s*",
    re.ASCII,
)

#: System functions that are pure arithmetic.
_FUNCTIONS = {"$signed", "$unsigned", "$clog2", "$bits"}

#: Functions that read files of the common folder; modules that call them share a build only if these are unused.
_READERS = {"$readmemh", "$readmemb"}

#: Directives that apply until the next one, which precedes each design.
_TIME = r"1(?:00?)?\s*[munpf]?s"
_DIRECTIVE = re.compile(
    rf"`(?:timescale\s+{_TIME}\s*/\s*{_TIME}|default_nettype\s+(?:none|wire)|resetall)\s*(?://.*)?", re.ASCII
)

#: Keywords of plain logic; with all others, a text may reach other modules, end or observe the simulation, or wait.
PLAIN_WORDS = frozenset(
    """
    always always_comb always_ff always_latch and assign automatic begin bit break buf byte case casex casez continue
    default else end endcase endfunction endgenerate endmodule endtask enum for foreach function generate genvar if
    initial input inside int integer localparam logic longint module nand negedge nor not or output packed parameter
    posedge priority reg repeat return shortint signed struct task typedef union unique unique0 unsigned var void while
    wire xnor xor
    """.split()  # noqa: SIM905 - a list of so many literals is longer and reads no better
)
OTHER_WORDS = frozenset(
    """
    accept_on alias assert assume before bind bins binsof bufif0 bufif1 cell chandle checker class clocking cmos config
    const constraint context cover covergroup coverpoint cross deassign defparam design disable dist do edge endchecker
    endclass endclocking endconfig endgroup endinterface endpackage endprimitive endprogram endproperty endsequence
    endspecify endtable event eventually expect export extends extern final first_match force forever fork forkjoin
    global highz0 highz1 iff ifnone ignore_bins illegal_bins implements implies import incdir include inout instance
    interconnect interface intersect join join_any join_none large let liblist library local macromodule matches medium
    modport nettype new nexttime nmos noshowcancelled notif0 notif1 null package pmos primitive program property
    protected pull0 pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent pure rand randc randcase randsequence
    rcmos real realtime ref reject_on release restrict rnmos rpmos rtran rtranif0 rtranif1 s_always s_eventually
    s_nexttime s_until s_until_with scalared sequence shortreal showcancelled small soft solve specify specparam static
    string strong strong0 strong1 super supply0 supply1 sync_accept_on sync_reject_on table tagged this throughout time
    timeprecision timeunit tran tranif0 tranif1 tri tri0 tri1 triand trior trireg type type_option until until_with
    untyped use uwire vectored virtual wait wait_order wand weak weak0 weak1 wildcard with within wor
    mailbox process randomize semaphore std
    """.split()  # noqa: SIM905 - as above
)

#: Tokens that may directly precede a statement, or an item of a module.
_BEFORE_ITEMS = frozenset(
    [";", ")", "begin", "end", "else", "endcase", "endfunction", "endgenerate", "endtask", "generate"]
)
#: Tokens after which a dot begins the name of a port, and not a part of a path, which may lead to any other design.
_BEFORE_PORTS = ("(", ",")


def modules_of(text: str) -> frozenset[str] | None:
    """Return the modules that ``text``, a file of Verilog, defines; None if it may not share a build."""
    found: set[str] = set()
    inside, before = False, ("",) * 4
    tokens = _tokens(text)
    if tokens is None:
        return None
    for kind, token in tokens:
        if kind in ("space", "comment", "directive"):
            directs = kind == "directive" and (inside or not _DIRECTIVE.fullmatch(token))
            if directs or (_OBEYED.search(token) and not _HARMLESS.fullmatch(token)):
                return None
            continue
        if not inside and token != "module":
            return None
        if token in OTHER_WORDS or (kind == "system" and token not in _FUNCTIONS | _READERS):
            return None
        if token == "module":
            if inside:
                return None
            inside = True
        elif before[-1] == "module":
            if kind != "name" or token in PLAIN_WORDS:
                return None
            found.add(token)
        elif token == "endmodule":
            inside = False
        elif not _is_plain(before, kind, token):
            return None
        before = (*before[1:], token)
    return frozenset(found) if found and not inside else None


def idle_readers(texts: Sequence[str], top: str) -> bool:
    """Return True if no module of ``texts`` that reads files is used: none is ``top``, and each is named only once."""
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


def _is_plain(before: tuple[str, ...], kind: str, token: str) -> bool:
    """Return True if ``token`` may follow: no path, no scope, no ``.*``, which connects by name, and no delay."""
    if before[-1] == ".":
        return kind == "name"
    if before[-1] == "#":
        return token == "("
    if token == "#":
        return _is_module(before)
    if token == ":" == before[-1]:  # a scope
        return False
    return token != "." or before[-1] in _BEFORE_PORTS


def _is_module(before: tuple[str, ...]) -> bool:
    """Return True if the last of four words is the name of a module, at the start of an instance or of the module.

    After any other word, such as the label of a block, the type of a net or a keyword, ``#`` begins a delay.
    """
    labelled = before[1] == ":" and before[0] in ("begin", "end")  # then before[2] is the label
    plain = before[-2] in _BEFORE_ITEMS or before[-2] == "module" or labelled
    return plain and before[-1] not in PLAIN_WORDS and _NAME.fullmatch(before[-1]) is not None


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Return ``text`` with new names, ``names``, for its modules, and for everything else that has the name of one."""
    tokens = _tokens(text) or []
    return "".join(names.get(token, token) if kind == "name" else token for kind, token in tokens)


@lru_cache(_KEPT_TEXTS)
def _tokens(text: str) -> Sequence[tuple[str, str]] | None:
    """Return the tokens of ``text`` with their kinds, including space; None if any text is not a known token."""
    if _UNSEEN.search(text):
        return None
    found = tuple(_split(text))
    return found if sum(len(token) for _, token in found) == len(text) else None


def _split(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while (match := _TOKEN.match(text, at)) is not None:
        yield match.lastgroup or "", match[0]
        at = match.end()
