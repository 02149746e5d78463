"""Make mutants: Verilog with one small change, of the kinds of mistakes that people and generators make.

A rule of a kind finds the matching places and their replacements. It does not know which changes matter: many mutants
are as right as the original, and the prover must recognise that, too.

It is independent of ``dais_verif.campaigns.mutation``, which finds places with pyslang. The prover reads RTL with
pyslang as well, so a construct that pyslang misreads would be neither mutated nor noticed there. This module finds
places in the text alone.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

__all__ = ["KINDS", "Edit", "Files", "Mutant", "Rule", "all_mutants", "code_lines", "each", "pairs", "sample"]

#: Texts by file name: Verilog, and the memory files that it reads.
Files = Mapping[str, str]
#: Start and end of the old text, and the new text.
Edit = tuple[int, int, str]
#: A function that yields all edits of one kind in a text.
Rule = Callable[[str], Iterator[Edit]]


class Mutant(NamedTuple):
    """A mutant: ``old`` at ``offset`` of ``file`` is replaced by ``new``."""

    kind: str
    file: str
    offset: int
    old: str
    new: str

    def applied(self, files: Files) -> dict[str, str]:
        """Return all files with the change."""
        text = files[self.file]
        end = self.offset + len(self.old)
        assert text[self.offset : end] == self.old
        return {**files, self.file: text[: self.offset] + self.new + text[end:]}


def all_mutants(files: Files, kinds: Mapping[str, list[Rule]] | None = None) -> dict[str, list[Mutant]]:
    """Return all mutants of ``files``, by kind, in the order of the text, without duplicates.

    ``kinds``: by default those of combinational RTL.
    """
    kinds = KINDS if kinds is None else kinds
    found: dict[str, list[Mutant]] = {kind: [] for kind in kinds}
    seen: set[tuple[str, int, str, str]] = set()
    for kind, rules in kinds.items():
        for name, text in files.items():
            for start, end, new in (edit for rule in rules for edit in rule(text)):
                change = name, *_shortest(start, text[start:end], new)
                if change not in seen and text[start:end] != new:
                    found[kind].append(Mutant(kind, name, start, text[start:end], new))
                seen.add(change)
    return found


def _shortest(offset: int, old: str, new: str) -> tuple[int, str, str]:
    """Return the same change without the common start and end of the old and the new text."""
    while old and new and old[0] == new[0]:
        offset, old, new = offset + 1, old[1:], new[1:]
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    return offset, old, new


def sample(files: Files, count: int, rng: random.Random, kinds: Mapping[str, list[Rule]] | None = None) -> list[Mutant]:
    """Return ``count`` different mutants, or all if there are fewer, as evenly over the kinds as possible."""
    left = {kind: rng.sample(mutants, len(mutants)) for kind, mutants in all_mutants(files, kinds).items()}
    chosen: list[Mutant] = []
    while len(chosen) < count and any(left.values()):
        chosen += [mutants.pop() for mutants in left.values() if mutants]
    return chosen[:count]


# rules


def code_lines(text: str) -> list[tuple[int, str]]:
    """Return the lines without comments, each with its offset."""
    lines, place = [], 0
    for line in text.split("\n"):
        lines.append((place, line.partition("//")[0]))
        place += len(line) + 1
    return lines


def each(pattern: str, *news: str | Callable[[re.Match[str]], str | None], only: str = "") -> Rule:
    """Return a rule that replaces group 1 of each match by each of ``news``, in lines that match ``only``."""
    compiled, within = re.compile(pattern), re.compile(only)

    def rule(text: str) -> Iterator[Edit]:
        for place, line in code_lines(text):
            if within.search(line):
                for match in compiled.finditer(line):
                    for new in news:
                        made = new if isinstance(new, str) else new(match)
                        if made is not None:
                            yield place + match.start(1), place + match.end(1), made

    return rule


def number(step: int) -> Callable[[re.Match[str]], str | None]:
    """Return a function that adds ``step`` to a decimal number, unless the result is negative."""
    return lambda match: str(int(match[1]) + step) if int(match[1]) + step >= 0 else None


def _signed(step: int) -> Callable[[re.Match[str]], str]:
    return lambda match: str(int(match[1]) + step)


def _literal(change: Callable[[int, int], int]) -> Callable[[re.Match[str]], str | None]:
    """Return a function that changes the value of a sized literal, which is group 1 of the match."""

    def new(match: re.Match[str]) -> str | None:
        size, sign, base, digits = re.fullmatch(r"(\d+)'(s?)([dhb])([0-9a-f]+)", match[1]).groups()  # type: ignore[union-attr]
        old = int(digits, {"d": 10, "h": 16, "b": 2}[base])
        value = change(old, int(size)) % (1 << int(size))
        return None if value == old else f"{size}'{sign}{base}{value:{'x' if base == 'h' else base}}"

    return new


def _slice(low: int, high: int) -> Callable[[re.Match[str]], str | None]:
    """Return a function that moves the bounds of ``[a:b]``."""

    def new(match: re.Match[str]) -> str | None:
        a, b = int(match[2]) + high, int(match[3]) + low
        return f"[{a}:{b}]" if a >= b >= 0 else None

    return new


def pairs(pattern: str) -> Rule:
    """Return a rule that swaps group 1 of two matches, as one edit from the first to the second."""
    compiled = re.compile(pattern)

    def rule(text: str) -> Iterator[Edit]:
        found = [(p + m.start(1), p + m.end(1)) for p, line in code_lines(text) for m in compiled.finditer(line)]
        for step in (1, 2):
            for (a, b), (c, d) in zip(found, found[step:], strict=False):
                yield a, d, text[c:d] + text[b:c] + text[a:b]

    return rule


def _arms(text: str) -> Iterator[Edit]:
    """Yield edits that swap the arms of ``c ? a : b``, if the brackets in them are balanced."""
    for place, line in code_lines(text):
        for match in re.finditer(r"\? (.+?) : ([^;?]+?)(?=\)* *(?:& [^;]+)?;)", line):
            a, b = match[1], match[2]
            if all(x.count("(") == x.count(")") for x in (a, b)):
                yield place + match.start(1), place + match.end(2), f"{b} : {a}"


def _instance(module: str, position: int, change: Callable[[re.Match[str]], str | None]) -> Rule:
    """Return a rule for parameter number ``position`` of instances of ``module``, as da4ml writes them."""
    return each(rf"\b{module} #\((?:-?\d+, ){{{position}}}(-?\d+)", change)


def _flip(match: re.Match[str]) -> str:
    return str(1 - int(match[1]))


def _swapped(match: re.Match[str]) -> str:
    return f"{match[3]}, {match[2]}"


def _next_operation(match: re.Match[str]) -> str:
    return str((int(match[1]) + 1) % 3)


_INSTANCES = ("shift_adder", "mux", "binop", "multiplier")
_LITERAL = r"(\b\d+'s?[dh][0-9a-f]+)\b"
_ASSIGNED = r"^\s*(?:op_\w+ =|assign|wire .*=)"

KINDS: dict[str, list[Rule]] = {
    "operator": [
        each(r" (\+) ", "-", "|"),
        each(r" (-) ", "+"),
        each(r" (\*) ", "+"),
        each(r" (&) ", "|", "^", only=_ASSIGNED),
        each(r" (\|) ", "&", "^", "+"),
        each(r" (\^) ", "|", "&"),
        each(r"(?<=[(= ])(~)(?=\w)", "", "-"),
        each(r"(?<=[(= ])(-)(?=[a-z])", "", "~"),
        each(r"= ([|&])(?=op)", "|", "&", "^", "~|"),
        each(r" (==) ", "!=", only=_ASSIGNED),
        each(r"= (!)(?=op)", ""),
        _instance("shift_adder", 6, _flip),
        _instance("mux", 6, _flip),
        _instance("binop", 6, _next_operation),
    ],
    "shift": [
        each(r"(?:<<<|>>>) (\d+)", number(1), number(-1)),
        each(r"(<<<)", ">>>"),
        each(r"(>>>)", "<<<", ">>"),
        *(_instance(module, 5, _signed(step)) for module in _INSTANCES[:3] for step in (1, -1)),
    ],
    "width": [
        each(r"^\s*(?:reg|wire) (?:signed )?\[(\d+):0\]", number(1), number(-1)),
        *(_instance(module, position, number(step)) for module in _INSTANCES for position in (0, 1, 4)
          for step in (1, -1)),
    ],
    "sign": [
        each(r"^\s*(?:reg|wire)( signed) ", ""),
        each(r"\d'(s)d\d", ""),
        each(r"(?<=[(= ])(op_\d+)\b(?!_| =| or)", lambda match: f"$unsigned({match[1]})", only=_ASSIGNED),
        *(_instance(module, position, _flip) for module in _INSTANCES for position in (2, 3)),
    ],
    "slice": [
        each(r"\w(\[(\d+):(\d+)\])(?! *[a-z])(?=.*;)", *(
            _slice(*ends) for ends in ((1, 1), (-1, -1), (0, -1), (1, 0))
        ), only=r"=|\("),
        each(r"\w\[(\d+)\]", number(1), number(-1), only=_ASSIGNED + r"|\bmux\b"),
    ],
    "constant": [
        each(_LITERAL, *(_literal(change) for change in (
            lambda value, size: value + 1, lambda value, size: value - 1, lambda value, size: value ^ 1 << (size - 1),
        )), only=r"^\s*(?:op_\w+ =|wire|assign v)"),
        each(r"(?<== )(-?\d+'s?d\d+)", "0"),
    ],
    "mux arm": [
        _arms,
        each(r"\? (\(?-?op_\d+)\b", lambda match: f"~{match[1]}"),
        each(r"\bmux #.*?\(v\d+\[\d+\], ((v\d+\[\d+:0\]), (v\d+\[\d+:0\])), ", _swapped),
        each(r"= (!?)op_\w+\[\d+\] \?", lambda match: "" if match[1] else "!"),
    ],
    "table entry": [
        each(r"table_\d+\[\d+\] = (\d+'h[0-9a-f]+)", *(
            _literal(change) for change in (lambda value, size: value ^ 1, lambda value, size: value ^ 1 << (size - 1))
        )),
        each(r"table_\d+\[(\d+)\] =", lambda match: str(int(match[1]) ^ 1)),
        each(r"^([0-9a-f]+)$", lambda match: f"{int(match[1], 16) ^ 1:0{len(match[1])}x}"),
    ],
    "port order": [
        pairs(r"\b(out_\d+)(?=[,}])"),
        pairs(r"(model_inp\[\d+:\d+\])"),
        pairs(r"assign model_out\[\d+:\d+\] = (.*);"),
    ],
    "output shift": [
        each(r"wire \[\d+:0\] out_\d+ = (.*);", *(
            lambda match, how=how: f"{match[1]} {how}" for how in ("<< 1", ">> 1", ">>> 1", "<< 2")
        )),
        each(r"assign model_out\[\d+:\d+\] = (.*);", *(
            lambda match, how=how: f"{match[1]} {how}" for how in ("<< 1", ">> 1", "<< 2")
        )),
    ],
}  # fmt: skip
