"""Find effects of RTL outside of its ports: system calls, other languages, files, and directives of only one tool.

RTL is code that can make a simulator run commands, open files and read the time, which hardware does not do. A lexer
splits the text, including all parts that a macro may hide, so that no tool reads more than this module. Everything that
is not known to be harmless is reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from dais_verif.hardware.ports.verilog import read_files

__all__ = [
    "HARMLESS",
    "Token",
    "UNENDED",
    "Use",
    "VERILOG",
    "included_in",
    "macros_in",
    "outside_of",
    "tokens_of",
    "uses_in",
    "vhdl_uses",
]


# Tokens of RTL, and uses of names with effects outside of the RTL.


UNENDED = "may not end on its line, or not in all tools: code and comments cannot be told apart"


class Use(NamedTuple):
    """A use of ``name`` with an effect outside of the RTL. ``why``: the effect, as text."""

    file: str
    line: int
    name: str
    why: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.name} {self.why}"


class Token(NamedTuple):
    """A token: the name of its kind, its text, and its position."""

    kind: str
    text: str
    at: int


def tokens_of(pattern: re.Pattern[bytes], text: bytes) -> list[Token]:
    """Return the tokens of ``text`` by ``pattern``, without comments and spaces."""
    return [
        Token(str(found.lastgroup), found[0].decode(errors="surrogateescape"), found.start())
        for found in pattern.finditer(text)
        if found.lastgroup != "skip"
    ]


# Find effects of RTL outside of its ports: system calls, other languages, files, and directives of only one tool.


#: System calls that only compute from their arguments, or print. ``$readmemh`` is checked separately.
HARMLESS = frozenset(
    re.findall(
        r"\$\w+",
        """
        $signed $unsigned $clog2 $bits $size $left $right $low $high $increment $dimensions $unpacked_dimensions
        $countones $countbits $onehot $onehot0 $isunknown $cast $rtoi $itor $realtobits $bitstoreal
        $shortrealtobits $bitstoshortreal $ceil $floor $pow $sqrt $ln $log10 $exp $hypot $sin $cos $tan $asin $acos
        $atan $atan2 $sinh $cosh $tanh $asinh $acosh $atanh $display $displayb $displayh $displayo $write $writeb
        $writeh $writeo $strobe $monitor $info $warning $error $fatal $finish $stop $sformat $sformatf $swrite
        """,
    )
)
_TABLES = ("$readmemh", "$readmemb")
#: Calls that write text into a variable, where the place of the RTL may become a value.
_TEXTS = re.compile(r"\\?\$(sformatf?|swrite[bho]?)")
#: The argument of each that is a format, even if it is computed.
_FORMAT = {"$sformat": 1, "$sformatf": 0}
#: Formats that print the place of the RTL: its instance, or its library; and escapes that may hide one.
_PLACES = re.compile(r"%[-+.\d]*[mMlL]|\\[0-7x]")
_PLACE = "lets the RTL know where it is, and it may be other hardware there"

#: Directives that only select text, or have the same effect in all tools.
_DIRECTIVES = (
    *("define", "undef", "undefineall", "ifdef", "ifndef", "elsif", "else", "endif", "timescale", "default_nettype"),
    *("resetall", "celldefine", "endcelldefine", "nounconnected_drive", "unconnected_drive", "begin_keywords"),
    *("end_keywords", "line", "__LINE__"),
)
#: Keywords that cross module boundaries, and their effect.
_WORDS = {
    "bind": "puts a module into another one",
    "force": "drives a signal of another module",
    "release": "drives a signal of another module",
}
#: The tokens of Verilog.
VERILOG = re.compile(
    rb"""
    (?P<skip>//[^\n\r\v\f]*|/\*.*?\*/|\s+)
  | (?P<broken>/\*|\"\"\")
  | (?P<string>"(?:\\\r?\n|\\[^\n\r]|[^"\\\n\r])*")
  | (?P<stringify>`\\`"|`")
  | (?P<unended>")
  | (?P<paste>``)
  | (?P<directive>`(?:[A-Za-z_][\w$]*|\\\S+)?)
  | (?P<system>\\\$\S*|\$[\w$]*)
  | (?P<escaped>\\\S*)
  | (?P<word>[A-Za-z_][\w$]*)
  | (?P<other>[^A-Za-z_\s"`\\$/]+|.)
    """,
    re.VERBOSE | re.DOTALL,
)
#: Tokens that tools may join to one word if only comments, or a line end in a macro, are between them.
_NAMES = ("system", "directive", "escaped", "word")
_PACKAGE = re.compile(rb"[ \t]+(?:[A-Za-z_][\w$]*[ \t]*::|\*[ \t]*::)")
_RANGE = re.compile(rb"\s*[\]:]")
_COMMENTS = re.compile(rb"(?:/\*.*?\*/)*", re.DOTALL)
_SPLIT = re.compile(rb"[\w$]\\\r?\n[\w$`]")
_MACRO = re.compile(rb"`define\s+([A-Za-z_][\w$]*)")
_JOINED = "may be joined to the tokens next to it, so what it means cannot be decided"


#: Placeholder for a missing token.
_NONE = Token("", "", 0)


def outside_of(
    verilog: Sequence[Path],
    included: Sequence[Path],
    vhdl: Sequence[Path],
    data: Sequence[str],
    top: str,
    unread: Collection[str] = (),
) -> list[Use]:
    """Return all uses with effects outside of the RTL in these files.

    ``included``: the files that the Verilog files include. ``data``: the names of the tables that module ``top`` may
    read. ``unread``: names of files in defaults of generics that every instance overrides.
    """
    texts = {path: path.read_bytes() for path in (*verilog, *included)}
    macros = macros_in(texts.values())
    found = [use for path, text in texts.items() for use in uses_in(text, str(path), macros, data)]
    found += _places_in({str(path): tokens_of(VERILOG, text) for path, text in texts.items()}, texts)
    if not found and any(table.encode() in text for text in texts.values() for table in _TABLES):
        found += _tables(verilog, top, data)
    return found + vhdl_uses(vhdl, data, unread)


def macros_in(texts: Iterable[bytes]) -> frozenset[str]:
    """Return the macros that the texts of a design define, in any branch."""
    return frozenset(name.decode() for text in texts for name in _MACRO.findall(text))


def uses_in(text: bytes, file: str, macros: frozenset[str], data: Sequence[str]) -> Iterator[Use]:
    """Yield the uses in the Verilog ``text``. ``macros``: all macros that the design defines."""
    reads = any(table.encode() in text for table in _TABLES)
    every = tokens_of(VERILOG, text)
    yield from _undecided(text, file, every)
    tokens = [token for token in every if token.kind != "other" or token.text[0] == "("]
    padded = [_NONE, *tokens, _NONE, _NONE]
    for before, token, after, last in zip(padded, padded[1:], padded[2:], padded[3:], strict=False):
        judge = _JUDGES.get(token.kind)
        why = judge(token, before, after, last, macros, data) if judge else None
        if why is None and reads and token.kind == "string":
            why = _of_path(token.text[1:-1])
        if why is not None:
            yield Use(file, text.count(b"\n", 0, token.at) + 1, token.text, why)


def _places_in(tokens: Mapping[str, Sequence[Token]], texts: Mapping[Path, bytes]) -> Iterator[Use]:
    """Yield the strings that let the RTL know its place, if the design writes text into variables anywhere."""
    if not any(_TEXTS.fullmatch(token.text) for those in tokens.values() for token in those):
        return
    of = {str(path): text for path, text in texts.items()}
    for file, those in tokens.items():
        for at, token in enumerate(those):
            why = None
            if token.kind == "string" and _PLACES.search(token.text):
                why = _PLACE
            elif token.text.removeprefix("\\") in _FORMAT and token.kind == "system":
                shown = _argument(those[at + 1 :], _FORMAT[token.text.removeprefix("\\")])
                why = None if shown.kind == "string" else "takes a format that is computed, which may hold %m"
            if why is not None:
                yield Use(file, of[file].count(b"\n", 0, token.at) + 1, token.text, why)


def _argument(tokens: Sequence[Token], number: int) -> Token:
    """Return the first token of an argument of a call, of which ``tokens`` follow the name; numbers begin at 0."""
    depth = commas = 0
    for token, after in pairwise([*tokens, _NONE]):
        for place, mark in enumerate(token.text if token.kind == "other" else ""):
            depth += (mark in "([{") - (mark in ")]}")
            commas += mark == "," and depth == 1
            if commas == number and depth == 1 and mark in "(,":
                return after if place == len(token.text) - 1 else token
            if depth == 0:
                return _NONE
    return _NONE


def _undecided(text: bytes, file: str, tokens: Sequence[Token]) -> Iterator[Use]:
    """Yield text whose meaning depends on macro expansion, in which tools differ, or that skipped branches may hide."""
    for token in tokens:
        end = token.at + len(token.text.encode(errors="surrogateescape"))
        why = None
        if token.kind == "paste" or (token.text == "\\" and _SPLIT.match(text, max(token.at - 1, 0))):
            why = _JOINED
        elif token.kind == "escaped" and any(mark in token.text for mark in ('"', "//", "/*", "`")):
            why = "holds what some tools read as a string, comment or macro: code and comments cannot be told apart"
        elif token.text == "$" and not _RANGE.match(text, end):
            why = _JOINED
        elif token.text in ("import", "export") and token.kind == "word" and not _PACKAGE.match(text, end):
            why = "runs code of another language, or what follows it cannot be decided"
        if why is not None:
            yield Use(file, text.count(b"\n", 0, token.at) + 1, token.text, why)
    for name, at in _touching(text, tokens):
        yield Use(file, text.count(b"\n", 0, at) + 1, name, _JOINED)
    calls = any(
        token.text == "`define" and text[name.at + len(name.text) :][:1] == b"(" for token, name in pairwise(tokens)
    )
    for token in tokens if calls else ():
        if token.kind == "word" and token.text in ("import", "export"):
            why = "is in a file with a macro with arguments, which may complete it"
            yield Use(file, text.count(b"\n", 0, token.at) + 1, token.text, why)


def _touching(text: bytes, tokens: Sequence[Token]) -> Iterator[tuple[str, int]]:
    """Yield the text and the position of each name, or macro call, that touches the next name."""
    calls: list[bool] = []  # for each open parenthesis, whether it begins the arguments of a macro call
    for before, token, after in zip([_NONE, *tokens], tokens, [*tokens[1:], _NONE], strict=False):
        data = token.text.encode(errors="surrogateescape")
        end, ends_call = token.at + len(data), False
        for place, mark in enumerate(data if token.kind == "other" else b""):
            ends_call = False
            if mark == ord("("):
                calls.append(place == 0 and before.kind == "directive")
            elif mark == ord(")"):
                ends_call = bool(calls) and calls.pop()
        number = token.kind == "word" and text[max(token.at - 1, 0) : token.at] == b"'"  # as in 8'h`X
        names = token.kind in _NAMES and not number
        if (names or ends_call) and after.kind in _NAMES and _COMMENTS.fullmatch(text, end, after.at):
            yield token.text, token.at


_Judge = Callable[[Token, Token, Token, Token, frozenset[str], Sequence[str]], "str | None"]


def _of_system(
    token: Token, before: Token, after: Token, last: Token, macros: frozenset[str], data: Sequence[str]
) -> str | None:
    name = token.text.removeprefix("\\")
    if name in _TABLES:
        if not after.text.startswith("(") or last.kind not in ("string", "word"):
            return "reads a file whose name is computed at run time"
        known = last.kind == "word" or last.text[1:-1] in data  # a word is a parameter, which _tables evaluates
        return None if known else f"reads {last.text}, which is not one of the data files of the design"
    # A single dollar sign is the end of a queue, or of a range in an assertion.
    return None if name in HARMLESS or name == "$" else "is a system call that does more than compute or print"


def _of_directive(
    token: Token, before: Token, after: Token, last: Token, macros: frozenset[str], data: Sequence[str]
) -> str | None:
    name = token.text[1:]
    if name == "include":
        return None if after.kind == "string" else "includes a file without a plain name in quotes"
    if name == "__FILE__":
        return "makes the RTL depend on its path, but a copy was checked, which may be other hardware"
    if name in _DIRECTIVES or name in macros:
        return None
    return "is a directive of one tool only, or a macro that the design does not define"


def _of_word(
    token: Token, before: Token, after: Token, last: Token, macros: frozenset[str], data: Sequence[str]
) -> str | None:
    return _WORDS.get(token.text)


_JUDGES: dict[str, _Judge] = {
    "system": _of_system,
    "directive": _of_directive,
    "word": _of_word,
    **dict.fromkeys(("broken", "unended"), lambda *_: UNENDED),
}


def included_in(text: bytes) -> list[str | None]:
    """Return the names of all files that the Verilog ``text`` includes, in any branch; None for one without quotes."""
    tokens = [*tokens_of(VERILOG, text), _NONE]
    return [
        after.text[1:-1] if after.kind == "string" else None
        for token, after in pairwise(tokens)
        if token.kind == "directive" and token.text == "`include"
    ]


def _of_path(name: str) -> str | None:
    if name.startswith(("/", "~")) or ".." in name:
        return "may be the name of a file elsewhere: a table must be next to the RTL, or be given as data"
    return None


def _tables(sources: Sequence[Path], top: str, data: Sequence[str]) -> Iterator[Use]:
    """Yield uses of files that are not in ``data`` and that module ``top`` reads, with evaluated parameters."""
    import pyslang
    from pyslang import SourceManager, ast

    manager, calls = SourceManager(), []
    options = ast.CompilationOptions()
    options.topModules = {top}
    compilation = ast.Compilation(pyslang.Bag([options]))
    compilation.addSyntaxTree(read_files(sources, manager))
    root = compilation.getRoot()

    def visit(node: Any) -> None:
        if isinstance(node, ast.CallExpression) and node.isSystemCall and node.subroutineName in _TABLES:
            calls.append(node)

    root.visit(visit)
    for call in calls:
        name = _constant(call.arguments[0], ast.EvalContext(root)) if call.arguments else None
        place = call.sourceRange.start
        if name not in data:
            told = "a file whose name is not constant" if name is None else f"{name!r}, not one of its data files"
            yield Use(
                manager.getFileName(place), manager.getLineNumber(place), str(call.subroutineName), f"reads {told}"
            )


def _constant(expression: Any, context: Any) -> str | None:
    value = expression.eval(context)
    found = value.convertToStr().value if value else None
    return str(found).lstrip("\0") if found is not None else None


# Find effects of VHDL outside of its ports: files, the time, the environment, other languages, and where it is.
#
# VHDL may open any file, also to write, by a name that it computes. A file is harmless only if it is opened for
# reading, by one literal that is the name of a data file, or by a generic that has such a literal wherever it gets a
# value.


_VHDL = re.compile(
    rb"""
    (?P<skip>--[^\n\r\v\f]*|/\*.*?\*/|\s+)
  | (?P<broken>/\*)
  | (?P<string>"(?:[^"\n\r]|"")*")
  | (?P<unended>")
  | (?P<letter>'.')
  | (?P<escaped>\\[^\\\n]*\\)
  | (?P<word>[A-Za-z]\w*)
  | (?P<arrow>=>|:=)
  | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_WORDS_OF_VHDL_FILES = {
    "foreign": "runs code of another language",
    "env": "reads the simulation time, stops the simulation or reads the environment",
    "now": "reads the simulation time",
    "getenv": "reads the environment",
}
_PLACES_OF_VHDL_FILES = ("path_name", "instance_name")
_CONSOLE = ("input", "output")
#: Why a file is a finding.
_OPENED = "opens a file by another name than one literal among the data files, or not to read it"


def vhdl_uses(sources: Sequence[Path], data: Sequence[str], unread: Collection[str]) -> list[Use]:
    """Return all uses with effects outside of the VHDL files ``sources``.

    ``data``: the names of its data files. ``unread``: names of files in defaults that every instance overrides.
    """
    files = {str(path): path.read_bytes() for path in sources}
    tokens = {file: tokens_of(_VHDL, text) for file, text in files.items()}
    harmless = {*data, *unread}
    generics = _generics([*tokens.values()])
    textio = any(token.kind == "word" and token.text.lower() == "textio" for some in tokens.values() for token in some)
    return [
        Use(file, files[file].count(b"\n", 0, token.at) + 1, token.text, why)
        for file, some in tokens.items()
        for token, why in _uses(some, _Names(generics, data, harmless), textio)
    ]


class _Names:
    """What may name a file that is read: literals, and generics with such literals."""

    def __init__(self, generics: Mapping[str, Sequence[Token]], data: Sequence[str], harmless: set[str]) -> None:
        self.generics, self.data, self.harmless = generics, data, harmless

    def is_data(self, token: Token, seen: frozenset[str] = frozenset()) -> bool:
        """Return whether ``token`` can only be the name of a data file."""
        if token.kind == "string":
            return token.text[1:-1] in (self.harmless if seen else self.data)
        name = token.text.lower()
        values = self.generics.get(name, ()) if token.kind == "word" else ()
        if name in seen:
            return True
        return bool(values) and all(self.is_data(value, seen | {name}) for value in values)


def _generics(files: Sequence[Sequence[Token]]) -> dict[str, list[Token]]:
    """Return all values of the generics whose names nothing else has; an expression counts as a placeholder.

    The result is empty if an instance gives values by their order.
    """
    found: dict[str, list[Token]] = {}
    others: set[str] = set()
    for tokens in files:
        clauses: set[int] = set()
        for n, token in enumerate(tokens):
            if token.text.lower() != "generic" or token.kind != "word":
                continue
            is_map = [part.text.lower() for part in tokens[n + 1 : n + 2]] == ["map"]
            parts, end = _parts(tokens, n + 1 + is_map, "," if is_map else ";")
            clauses |= set(range(n, end))
            for part in parts:
                mark = next((k for k, one in enumerate(part) if one.text == ("=>" if is_map else ":")), None)
                if mark is None:
                    return {}
                value = _value(part, "=>" if is_map else ":=")
                for one in part[:mark]:
                    found.setdefault(one.text.lower(), []).extend(value)
        for n, token in enumerate(tokens):
            if token.text == ":" and n not in clauses:
                k = n - 1
                while k >= 0 and (tokens[k].kind == "word" or tokens[k].text == ","):
                    others.add(tokens[k].text.lower())
                    k -= 1
    return {name: values for name, values in found.items() if name not in others}


def _value(part: Sequence[Token], mark: str) -> list[Token]:
    """Return the only token after ``mark``, or a placeholder; nothing if ``mark`` is missing."""
    places = [n for n, token in enumerate(part) if token.text == mark]
    if not places:
        return []
    rest = part[places[0] + 1 :]
    return [rest[0] if len(rest) == 1 else Token("other", "", 0)]


def _parts(tokens: Sequence[Token], start: int, separator: str) -> tuple[list[list[Token]], int]:
    """Return what the parenthesis at ``start`` holds between separators, and the position behind it."""
    found: list[list[Token]] = [[]]
    depth = 0
    for n in range(start, len(tokens)):
        text = tokens[n].text if tokens[n].kind != "string" else ""
        depth += {"(": 1, ")": -1}.get(text, 0)
        if depth == 0:
            return [part for part in found if part] if n > start else [], n + 1
        if depth == 1 and text == separator:
            found.append([])
        elif text != "(" or depth > 1:
            found[-1].append(tokens[n])
    return [], len(tokens)


def _uses(tokens: Sequence[Token], names: _Names, textio: bool) -> Iterator[tuple[Token, str]]:
    end = Token("", "", 0)
    for n, token in enumerate(tokens):
        word = token.text.lower() if token.kind == "word" else ""
        before, after = tokens[n - 1] if n else end, tokens[n + 1] if n + 1 < len(tokens) else end
        if token.kind in ("broken", "unended"):
            yield token, UNENDED
        elif word in _WORDS_OF_VHDL_FILES:
            yield token, _WORDS_OF_VHDL_FILES[word]
        elif word in _PLACES_OF_VHDL_FILES and before.text == "'":
            yield token, "makes the RTL depend on its place in the design, which differs between a bench and hardware"
        elif word in ("file", "file_open") and not _OPENINGS[word](tokens, n + 1, names):
            yield token, _OPENED
        elif textio and word in _CONSOLE and before.text.lower() in ("(", ",", ".", "=>", "is") and after.text != ":":
            yield token, "may be the standard input or output of the simulator"


def _is_read(tokens: Sequence[Token], start: int, names: _Names) -> bool:
    """Return whether ``file_open`` has single tokens as arguments: variables, one name of a data file, and a mode."""
    arguments, _ = _parts(tokens, start, ",")
    plain = [part[2:] if len(part) > 2 and part[1].text == "=>" else part for part in arguments]
    if any(len(part) != 1 for part in plain):
        return False
    parts = [part[0] for part in plain]
    if any(part.text.lower() in ("write_mode", "append_mode") for part in parts):
        return False
    literals = [part for part in parts if part.kind != "word"]
    return sum(map(names.is_data, parts)) == 1 and all(map(names.is_data, literals))


def _is_declared(tokens: Sequence[Token], start: int, names: _Names) -> bool:
    """Return whether a declaration after ``file`` opens nothing, or a data file to read it; also for a file type."""
    rest: list[Token] = []
    for token in tokens[start:]:
        if token.text in (";", ")"):
            break
        rest.append(token)
    words = [token.text.lower() for token in rest]
    if words[:1] == ["of"] or ("is" not in words and "open" not in words):
        return True
    if "is" not in words:
        return False
    place = words.index("is")
    mode = words[words.index("open") + 1 : place] if "open" in words[:place] else ["read_mode"]
    return mode == ["read_mode"] and len(rest) == place + 2 and names.is_data(rest[-1])


#: For each word that may open a file: whether what follows it opens none, or a data file to read it.
_OPENINGS = {"file": _is_declared, "file_open": _is_read}
