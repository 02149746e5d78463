"""Seed faults in a netlist, as a wrong mapper, a broken library or a faulty edit could leave them."""

from __future__ import annotations

import random
import re

__all__ = ["KINDS", "seeded_fault"]

_INIT = re.compile(r"(\.(?:LUT_INIT|INIT[01]?)\()(\d+)'h([0-9a-f]+)\)")
_OPERATOR = re.compile(r"(= ~?\w+ )([&|^])( ~?\w+;)")
_OUTPUT = re.compile(r"(assign model_out\[\d+\] = \+ )(\w+)(;)")
_CARRY = re.compile(r"(\.(?:CI|CIN)\()(_\w+_)(\))")


def _bit_of_a_table(text: str, rng: random.Random) -> str | None:
    """Make a LUT wrong for one combination of its inputs, or replace a gate by another one."""
    found = list(_INIT.finditer(text))
    if not found:
        gates = list(_OPERATOR.finditer(text))
        gate = rng.choice(gates)
        other = rng.choice([operator for operator in "&|^" if operator != gate[2]])
        return text[: gate.start(2)] + other + text[gate.end(2) :]
    table = rng.choice(found)
    bits = int(table[2])
    wrong = int(table[3], 16) ^ 1 << rng.randrange(bits)
    return text[: table.start()] + f"{table[1]}{bits}'h{wrong:0{len(table[3])}x})" + text[table.end() :]


def _inputs_swapped(text: str, rng: random.Random) -> str | None:
    """Swap the nets of two pins of one cell."""
    cells = [m for m in re.finditer(r"\n  \w+ (?:#\([^;]*?\) )?\w+ \([^;]*?\);", text) if "INIT" in m[0]]
    rng.shuffle(cells)
    for cell in cells:
        pins = list(re.finditer(r"\.(I[0-5]|[ABCD][01]?)\((\w+|1'h[01])\)", cell[0]))
        if len(pins) > 1:
            first, second = sorted(rng.sample(pins, 2), key=lambda m: m.start())
            if first[2] != second[2]:
                body = cell[0]
                swapped = (
                    body[: first.start(2)]
                    + second[2]
                    + body[first.end(2) : second.start(2)]
                    + first[2]
                    + body[second.end(2) :]
                )
                return text[: cell.start()] + swapped + text[cell.end() :]
    return None


def _carry_cut(text: str, rng: random.Random) -> str | None:
    """Replace the carry input of one cell by 0."""
    carries = list(_CARRY.finditer(text))
    if not carries:
        return None
    carry = rng.choice(carries)
    return text[: carry.start(2)] + "1'h0" + text[carry.end(2) :]


def _outputs_swapped(text: str, rng: random.Random) -> str | None:
    """Swap the nets of two bits of the output."""
    first, second = sorted(rng.sample(list(_OUTPUT.finditer(text)), 2), key=lambda m: m.start())
    if first[2] == second[2]:
        return None
    between = text[first.end(2) : second.start(2)]
    return text[: first.start(2)] + second[2] + between + first[2] + text[second.end(2) :]


def _input_of_another(text: str, rng: random.Random) -> str | None:
    """Connect a pin of a cell to a bit of the module's input."""
    pins = list(re.finditer(r"\.(?:I[0-5]|[ABCD][01]?)\((_\w+_)\)", text))
    inputs = re.findall(r"assign (_\w+_) = \+ model_inp\[\d+\];", text)
    if not pins or not inputs:
        return None
    pin, other = rng.choice(pins), rng.choice(inputs)
    return None if pin[1] == other else text[: pin.start(1)] + other + text[pin.end(1) :]


#: Each function returns another netlist, or None where the fault is not possible.
KINDS = {
    "bit of a table": _bit_of_a_table,
    "inputs swapped": _inputs_swapped,
    "carry cut": _carry_cut,
    "outputs swapped": _outputs_swapped,
    "another input": _input_of_another,
}


def seeded_fault(text: str, kind: str, seed: int) -> str | None:
    """Return ``text`` with one fault of ``kind``, or None where the fault is not possible."""
    return KINDS[kind](text, random.Random(f"{kind} {seed}"))
