"""Rewrite RTL without a change of its meaning; each such twin must still be proved.

Operands are swapped where their order does not matter, sums are regrouped, signals get other names or more bits,
blocks are split into one per statement or become ``assign``, and several of these at once. In pipelines, registers
are moved from the result of an op to its operands.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable

__all__ = ["REWRITINGS", "retimed", "rewritten"]

#: A statement of our combinational modules: the signal, its right-hand side, and its comment.
_STATEMENT = re.compile(r"^    (op_\d+) = (.*?);(.*)$", re.MULTILINE)
_OPERAND = r"(?:op_\d+|\(op_\d+ (?:<<<|>>>) \d+\)|\d+'sd\d+)"
_BLOCK = re.compile(r"  always @\(model_inp\) begin\n(.*?)\n  end\n", re.DOTALL)


def _commuted(text: str, rng: random.Random) -> str:
    """Swap the operands of some sums, products and bitwise operations."""

    def new(match: re.Match[str]) -> str:
        found = re.fullmatch(rf"({_OPERAND}) ([+*&|^]) ({_OPERAND})", match[2])
        if found is None or rng.random() < 0.5:
            return match[0]
        return f"    {match[1]} = {found[3]} {found[2]} {found[1]};{match[3]}"

    return _STATEMENT.sub(new, text)


def _regrouped(text: str, rng: random.Random) -> str:
    """Replace ``a - b`` by ``-(b - a)`` or ``a + (-b)``, and ``a + b`` by ``a - (-b)``."""

    def new(match: re.Match[str]) -> str:
        found = re.fullmatch(rf"({_OPERAND}) ([+-]) ({_OPERAND})", match[2])
        if found is None or rng.random() < 0.5:
            return match[0]
        a, sign, b = found.groups()
        right = f"{a} - (-{b})" if sign == "+" else rng.choice([f"-({b} - {a})", f"{a} + (-{b})"])
        return f"    {match[1]} = {right};{match[3]}"

    # The negative of the smallest value of a type wraps, so each signal has additional bits.
    return _STATEMENT.sub(new, _wider(text, rng, always=True))


def _wider(text: str, rng: random.Random, *, always: bool = False) -> str:
    """Give signals more bits than their types have.

    An op that wraps or floors needs its width, so only plain sums are widened; their promise says that nothing is
    lost.
    """
    plain = {m[1] for m in _STATEMENT.finditer(text) if re.search(r"\b(?:add|sub)\b", m[3])}

    def new(match: re.Match[str]) -> str:
        if match[2] not in plain or not (always or rng.random() < 0.5):
            return match[0]
        return f"reg signed [{int(match[1]) + rng.randint(1, 3)}:0] {match[2]};"

    return re.sub(r"reg signed \[(\d+):0\] (op_\d+);", new, text)


def _renamed(text: str, rng: random.Random) -> str:
    """Rename all signals, so no name reveals the op of a signal."""
    key = rng.randrange(1000)
    return re.sub(r"\bop_(\d+)\b", lambda m: f"n{(int(m[1]) * 7919 + key) % 1_000_003}_x", text)


def _split(text: str, rng: random.Random) -> str:
    """Give each statement a block of its own, or make it an ``assign``, in any order."""
    block = _BLOCK.search(text)
    if block is None or not all(_STATEMENT.fullmatch(line) for line in block[1].split("\n")):
        return text
    parts, nets = [], set()
    for line in block[1].split("\n"):
        match = _STATEMENT.fullmatch(line)
        assert match is not None
        if rng.random() < 0.5:
            nets.add(match[1])
            parts.append(f"  assign {match[1]} = {match[2]};")
        else:
            parts.append(f"  always @* {match[1]} = {match[2]};")
    rng.shuffle(parts)
    text = text[: block.start()] + "\n".join(parts) + "\n" + text[block.end() :]
    return re.sub(r"reg (signed \[\d+:0\] (op_\d+);)", lambda m: ("wire " if m[2] in nets else "reg ") + m[1], text)


REWRITINGS: dict[str, Callable[[str, random.Random], str]] = {
    "commuted": _commuted,
    "regrouped": _regrouped,
    "wider": _wider,
    "split": _split,
    "renamed": _renamed,
}


def rewritten(text: str, seed: int) -> tuple[str, tuple[str, ...]]:
    """Return a twin of our combinational module ``text``, and the ``REWRITINGS`` that were applied, in order."""
    rng = random.Random(seed)
    chosen = sorted(rng.sample(list(REWRITINGS), rng.randint(1, len(REWRITINGS))), key=list(REWRITINGS).index)
    for name in chosen:
        text = REWRITINGS[name](text, rng)
    return text, tuple(chosen)


def retimed(text: str, seed: int) -> tuple[str, int]:
    """Return a twin of our pipeline ``text`` with registers moved before their ops, and the number of moved registers.

    ``op_5 = a + b`` with ``op_5_s2 <= op_5`` becomes ``a_r5 <= a``, ``b_r5 <= b`` and ``op_5_s2 = a_r5 + b_r5``.
    """
    rng = random.Random(seed)
    declared = {m[2]: m[1] for m in re.finditer(r"^  reg (signed \[\d+:0\]) (op_\w+);$", text, re.MULTILINE)}
    meant = {m[1]: m[2] for m in _STATEMENT.finditer(text)}
    moved = 0

    def new(match: re.Match[str]) -> str:
        nonlocal moved
        register, op = match[1], match[2]
        right = meant.get(op, "model_inp")
        read = sorted(set(re.findall(r"[A-Za-z_]\w*", re.sub(r"'s?[dhb][0-9a-f]+", "", right))))
        if not read or not all(name in declared for name in read) or rng.random() < 0.5:
            return match[0]
        moved += 1
        own = {name: f"{name}_r{op[3:]}" for name in read}
        names = re.compile(rf"\b(?:{'|'.join(read)})\b")
        added.extend(f"  reg {declared[name]} {copy};" for name, copy in own.items())
        added.append(f"  always @* {register} = {names.sub(lambda m: own[m[0]], right)};")
        return "\n".join(f"    {copy} <= {name};" for name, copy in own.items())

    added: list[str] = []
    text = re.sub(r"^    (op_\d+_s\d+) <= (op_\d+);$", new, text, flags=re.MULTILINE)
    # Declare names before the first block that uses them.
    at = text.index("  // Stage 1")
    declarations = [line for line in added if line.startswith("  reg")]
    logic = [line for line in added if not line.startswith("  reg")]
    text = "\n".join([text[:at] + "\n".join(declarations), text[at:]])
    end = text.index("endmodule")
    return text[:end] + "\n".join([*logic, ""]) + text[end:], moved
