"""Generate random behavioural SystemVerilog in styles that people use and that are easily misread.

A module has inputs of mixed widths and signs, and ten outputs. Signals are driven in all ways that have a meaning as
logic (``structures``), by blocks (``statements``) of expressions (``expressions``). Some are not logic in one
simulator or in hardware (a latch, a sensitivity list that lacks a signal): a reader may refuse them, but must not
misread them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from prove.soundness.expressions import Signal, Style
from prove.soundness.structures import Structures

__all__ = ["INPUTS", "OUTPUTS", "Module", "random_module"]

#: Name, sign and width. The last two are only for modules with wide signals.
INPUTS = (
    *(("p", "", 7), ("q", "signed", 9), ("r", "", 4), ("s", "signed", 5), ("t", "", 1)),
    *(("u", "", 33), ("v", "signed", 65)),
)
OUTPUTS = 10
_ALWAYS = 5


@dataclass(frozen=True)
class Module:
    """A random module.

    ``files``: texts by name, in the order of the command line. ``widths``: the width of each output. ``features``:
    the constructs in it, for counting and searching.
    """

    name: str
    files: dict[str, str]
    widths: tuple[int, ...]
    features: tuple[str, ...]
    style: Style


def random_module(seed: int) -> Module:
    """Return the module of ``seed``, whose text is always the same."""
    rng = random.Random(seed)
    name, style = f"m{seed}", _style(rng)
    given = INPUTS if style.wide else INPUTS[:_ALWAYS]
    writer = Structures(rng, name, style, readable=[Signal(n, bool(s), w - 1) for n, s, w in given])
    for _ in range(rng.randint(4, 8)):
        writer.step()
    widths, outputs = [], []
    inner = writer.readable[len(given) :]  # shown unchanged, so that a misreading is seen at its source
    for number in range(OUTPUTS):
        width = inner[number].width if number < len(inner) else rng.choice((1, 4, 7, 11))
        one = Signal(f"y{number}", rng.random() < 0.3, width - 1)
        widths.append(one.width)
        outputs.append(f"output {one.range} {one.name}")
        text = inner[number].name if number < len(inner) else writer.expression(2)
        writer.lines.append(f"assign {one.name} = {text};")
    ports = [f"input {sign} [{width - 1}:0] {port}" for port, sign, width in INPUTS]
    body = "\n".join([f"module {name}({', '.join([*ports, *outputs])});", *writer.lines, "endmodule", ""])
    files = _files(writer, body)
    return Module(name, files, tuple(widths), tuple(sorted(writer.features)), style)


def _style(rng: random.Random) -> Style:
    draw = rng.random()
    return Style(
        system=draw > 0.35,
        newer=draw > 0.75,
        casts=draw > 0.35 or rng.random() < 0.2,
        beyond=draw <= 0.75 and rng.random() < 0.3,  # Icarus shows what is X
        wide=rng.random() < 0.25,
    )


def _files(writer: Structures, body: str) -> dict[str, str]:
    """Return the module in one file, or in several files that share macros."""
    rng, name, before = writer.rng, writer.name, "".join(f"{text}\n" for text in writer.before)
    files: dict[str, str] = {}
    if writer.macros:
        middle = rng.randrange(len(writer.macros) + 1) if rng.random() < 0.3 else 0
        first, rest = writer.macros[:middle], writer.macros[middle:]
        if first:
            writer.features.add("several files")
            files[f"{name}_first.v"] = "\n".join([*first, ""])
        shared = "\n".join([*rest, ""])
        if rng.random() < 0.5:
            files[f"{name}_macros.v"] = shared
        else:
            writer.features.add("include")
            guard = f"{name}_VH".upper()
            if rng.random() < 0.5:
                shared = f"`ifndef {guard}\n`define {guard}\n{shared}`endif\n"
                body = f'`include "{name}.vh"\n{body}'
            files[f"{name}.vh"] = shared
            body = f'`include "{name}.vh"\n{body}'
    if before and rng.random() < 0.3 and not any("package" in text for text in writer.before):
        writer.features.add("several files")
        files |= {f"{name}.v": body, f"{name}_parts.v": before}
        return files
    files[f"{name}.v"] = before + body
    return files
