"""Faults for the RTL in project folders of alkaid: each edits one line, in the forms that alkaid writes."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["Fault", "faults", "faults_in"]


class Fault(NamedTuple):
    """A fault: ``new`` replaces the text from ``start`` to ``end`` in the file ``name``."""

    kind: str
    name: str
    start: int
    end: int
    new: str

    def plant(self, folder: Path) -> None:
        """Edit the file in ``folder``."""
        path = folder / self.name
        text = path.read_text()
        path.write_text(text[: self.start] + self.new + text[self.end :])


#: Returns the text to put in the place of a number or a word.
_Edit = Callable[[str], str]


def _flip(digit: str) -> str:
    return str(1 - int(digit))


def _more(number: str) -> str:
    return str(int(number) + 1)


def _last_bit(bits: str) -> str:
    return bits[:-1] + ("0" if bits[-1] == "1" else "1")


def _last_hex(digits: str) -> str:
    return digits[:-1] + f"{int(digits[-1], 16) ^ 1:X}"


#: The first group that matches is edited. Parameters in the Verilog are given by position.
_VERILOG: dict[str, tuple[str, _Edit]] = {
    "negate": (r"ternary_adder #\((?:\d+,\d+,(?=\d)|(?:\d+,){6}|(?:\d+,){10})([01]),", _flip),
    "pad": (r"ternary_adder #\((?:(?:\d+,){3}|(?:\d+,){7}|(?:\d+,){11})(\d+),", _more),
    "subtract": (r"shift_adder #\((?:\d+,){7}([01])\)", _flip),
    "shift": (r"shift_adder #\((?:\d+,){6}(\d+),", _more),
    "sign": (r"shift_adder #\((?:\d+,){2,3}([01]),", _flip),
    "constant": (r"= '?b?\d*'b([01]+);|,\d+'b([01]+),", _last_bit),
    "table": (r"out = \d+'h([0-9A-F]+);", _last_hex),
    "slice": (r"= v\d+\[\d+:(\d+)\]; //", _more),
}
_VHDL: dict[str, tuple[str, _Edit]] = {
    "negate": (r"NEGATE\d=>([01])", _flip),
    "pad": (r"PAD\d=>(\d+)", _more),
    "subtract": (r"IS_SUB=>([01])", _flip),
    "shift": (r"SHIFT1=>(\d+)", _more),
    "sign": (r"shift_adder generic map\([^)]*SIGNED\d=>([01])", _flip),
    "constant": (r'in\d=>"([01]+)"|v\d+ <= "([01]+)"', _last_bit),
    "table": (r'outp <= "([01]+)"', _last_bit),
}
#: A signal is replaced by another of the same width.
_OPERAND = {".v": re.compile(r"\((v\d+)(\[\d+:0\]),"), ".vhd": re.compile(r"(?:in0|inp)=>(v\d+)()[,)]")}
_DECLARED = {
    ".v": re.compile(r"wire (\[\d+:0\]) (v\d+);"),
    ".vhd": re.compile(r"(v\d+)\s*:\s*std_logic_vector(\(.*?\))"),
}
#: The first register of a pipeline is bypassed.
_BYPASS = {
    ".v": (re.compile(r"INTERNAL_logic0_inp\S* = (model_inp_reg)\b"), "model_inp"),
    ".vhd": (re.compile(r"INTERNAL_logic0_inp\S*.*? <= (model_inp_reg)\b"), "model_inp"),
}


def faults(folder: Path, top: str, seed: int) -> Iterator[Fault]:
    """Yield faults of the RTL in ``folder``, in a random order that depends on ``seed``, the kinds in turns."""
    dice = random.Random(seed)
    by_kind: dict[str, list[Fault]] = {}
    for path in sorted((folder / "src").iterdir()):
        if path.suffix in (".v", ".vhd") and not path.stem.endswith("_wrapper"):
            for fault in _in_file(path, f"src/{path.name}", path.stem == top, dice):
                by_kind.setdefault(fault.kind, []).append(fault)
    for found in by_kind.values():
        dice.shuffle(found)
    while any(by_kind.values()):
        for found in by_kind.values():
            if found:
                yield found.pop()


def faults_in(name: str, text: str, dice: random.Random) -> Iterator[tuple[str, int, int, str]]:
    """Yield the kind, the span and the new text of faults in the text of a file other than the top."""
    for kind, _, start, end, new in _in_text(text, name, Path(name).suffix, dice):
        yield kind, start, end, new


def _in_file(path: Path, name: str, top: bool, dice: random.Random) -> Iterator[Fault]:
    text = path.read_text()
    if top:
        pattern, new = _BYPASS[path.suffix]
        yield from (Fault("register", name, *match.span(1), new) for match in pattern.finditer(text))
        return
    yield from _in_text(text, name, path.suffix, dice)


def _in_text(text: str, name: str, suffix: str, dice: random.Random) -> Iterator[Fault]:
    for kind, (form, edit) in (_VERILOG if suffix == ".v" else _VHDL).items():
        for match in re.finditer(form, text):
            group = 1 if match[1] is not None else 2
            yield Fault(kind, name, *match.span(group), edit(match[group]))
    yield from _operands(text, name, suffix, dice)


def _operands(text: str, name: str, suffix: str, dice: random.Random) -> Iterator[Fault]:
    widths = {
        (found[2] if suffix == ".v" else found[1]): (found[1] if suffix == ".v" else found[2])
        for found in _DECLARED[suffix].finditer(text)
    }
    for match in _OPERAND[suffix].finditer(text):
        number = int(match[1][1:])
        line = re.search(r"op_(\d+)", text[text.rfind("\n", 0, match.start()) : match.start()])
        limit = int(line[1]) if line else number
        alike = [one for one, width in widths.items() if width == widths.get(match[1]) and one != match[1]]
        alike = [one for one in alike if int(one[1:]) < limit]
        if alike:
            yield Fault("operand", name, *match.span(1), dice.choice(alike))
