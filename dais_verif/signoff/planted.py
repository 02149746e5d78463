"""Bugs that are planted to see them found: a golden model that means something else, and RTL with wrong bits.

Both are made from what is signed off, and it is known beforehand on how many vectors they differ.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dais_verif.dut.discover import Port
from dais_verif.dut.face import Face
from dais_verif.errors import InputError
from dais_verif.golden import Golden
from dais_verif.program import Program, write_binary
from dais_verif.program.model import Columns
from dais_verif.program.numbers import IntArray
from dais_verif.signoff.evidence import Bits, chunks
from dais_verif.sim.packing import Words, row_words
from dais_verif.stimulus import Vectors

__all__ = ["Bad", "Poison", "always_wrong", "poison", "sometimes_wrong"]

#: So many vectors, spread over all, meet a wrong bit in RTL that is sometimes wrong; each in another output bit.
_WRONG_VECTORS = 8

_CONST = 5
_SLICE = 16384

_PLAIN = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Poison:
    """A program that means something else: output ``output`` is the constant ``value``.

    It differs on ``rows`` vectors, from ``first`` on.
    """

    name: str
    data: bytes
    output: int
    value: int
    rows: int
    first: int


@dataclass(frozen=True)
class Bad:
    """A Verilog module ``top`` around a design. ``rows``: vectors that it spoils, from ``first`` on."""

    top: str
    text: str
    rows: int
    first: int


# the golden model


def poison(program: Program, original: bytes, vectors: Vectors, *, check: bool) -> Poison:
    """``program`` with one output made a constant that it has on some of ``vectors`` and not on others.

    So nothing but the value changes: ports, intervals and promises stay as they are. ``original``: the bytes that it
    was read from. Raises ``InputError`` if no output has two values.
    """
    golden = Golden(program)
    found: tuple[int, int] | None = None
    rows = 0
    firsts: list[int] | None = None
    for start in range(0, vectors.rows, _SLICE):
        outputs = golden.run_raw(vectors.slice(start, min(start + _SLICE, vectors.rows)), check=check, named=start)
        firsts = firsts or [int(values[0]) for values in outputs]
        if found is None:
            found = _two_values(program, outputs, firsts)
            rows = start if found else 0  # all before were as the first
        if found is not None:
            rows += int(np.count_nonzero(outputs[found[0]] != found[1]))
    if found is None:
        raise InputError("no output takes two values on these vectors: no model can be poisoned so that it shows")
    number, value = found
    constant = -value if program.outputs[number][2] else value
    if program.intervals is not None:
        return Poison("poisoned.json", _in_json(original, number, constant), number, value, rows, 0)
    return Poison("poisoned.bin", write_binary(_in_columns(program, number, constant), "v1"), number, value, rows, 0)


def _two_values(program: Program, outputs: Sequence[IntArray], firsts: Sequence[int]) -> tuple[int, int] | None:
    """An output, and a value of it that the first one is not, and that a data word holds."""
    for number, (index, _, _) in enumerate(program.outputs):
        others = outputs[number][outputs[number] != firsts[number]][:64].tolist() if index >= 0 else []
        for value in others:
            if -(1 << 62) < value < 1 << 62:
                return number, int(value)
    return None


def _in_columns(program: Program, number: int, constant: int) -> Program:
    """The constant comes before the last op, which nothing but outputs can read."""
    last = program.n_ops - 1
    source = int(program.out_idx[number])
    kind = [int(column[source]) for column in program.columns[4:]]
    columns = Columns(
        *(
            np.insert(column, last, value)
            for column, value in zip(program.columns, (_CONST, -1, -1, constant, *kind), strict=True)
        )
    )
    out_idx = np.where(program.out_idx == last, last + 1, program.out_idx)
    out_idx[number] = last
    return replace(program, columns=columns, out_idx=out_idx)


def _in_json(original: bytes, number: int, constant: int) -> bytes:
    """The same in da4ml's JSON, which also declares intervals: that of the output's op stays."""
    tree: list[Any] = json.loads(gzip.decompress(original) if original[:2] == b"\x1f\x8b" else original)
    out_idx, ops = tree[2], tree[5]
    last, source = len(ops) - 1, ops[out_idx[number]]
    tree[2] = [last + 1 if index == last else index for index in out_idx]
    tree[2][number] = last
    ops.insert(last, [-1, -1, _CONST, constant, *source[4:]])
    return json.dumps(tree).encode()


# the RTL


def always_wrong(face: Face, ports: Sequence[Port], top: str) -> Bad:
    """The design with the lowest bit of each output port upside down, on all vectors."""
    flips = {wire.offset: "1'b1" for wire in face.outputs if wire.width}
    return Bad(_outer(top, "always"), _around(face, ports, top, _outer(top, "always"), flips, []), 0, 0)


def sometimes_wrong(face: Face, ports: Sequence[Port], top: str, run: Path, rows: int, seed: int) -> Bad:
    """The design with wrong bits on some of the first ``rows`` vectors of ``run`` only, the last one among them.

    Where its outputs are those of one of the chosen vectors, a bit of theirs is upside down, for each another one.
    """
    bits = Bits(face.input_bits, face.output_bits)
    expected = np.concatenate([words for start, _, words in chunks(run, bits) if start < rows] or [_none(bits)])[:rows]
    if not len(expected):
        raise InputError("the simulation left no vectors: there is none on which RTL could be made wrong")
    chosen = np.unique(np.linspace(0, len(expected) - 1, _WRONG_VECTORS).astype(int))
    patterns = np.unique(expected[chosen], axis=0)
    which = np.random.default_rng(seed).permutation(bits.outputs)
    flips: dict[int, str] = {}
    wires = []
    for number, pattern in enumerate(patterns):
        value = int.from_bytes(pattern.tobytes(), "little")
        wires.append(f"wire dais_hit_{number} = dais_all == {bits.outputs}'h{value:x};")
        bit = int(which[number % bits.outputs])
        flips[bit] = f"{flips[bit]} ^ dais_hit_{number}" if bit in flips else f"dais_hit_{number}"
    spoilt = np.flatnonzero(np.any([(expected == pattern).all(axis=1) for pattern in patterns], axis=0))
    outer = _outer(top, "sometimes")
    return Bad(outer, _around(face, ports, top, outer, flips, wires), len(spoilt), int(spoilt[0]))


def _none(bits: Bits) -> Words:
    return np.zeros((0, row_words(bits.outputs)), dtype="<u8")


def _outer(top: str, kind: str) -> str:
    return f"{top}_{kind}_wrong"


def _around(
    face: Face, ports: Sequence[Port], top: str, outer: str, flips: dict[int, str], wires: Sequence[str]
) -> str:
    """A module ``outer`` with the ports of ``top``, whose row of outputs has the bits of ``flips`` inverted."""
    if any(port.elements is not None or port.direction == "inout" for port in ports):
        raise InputError(f"module {top} has ports that are arrays or inout: no known-bad RTL can be made of it")
    width = {port.name: port.width for port in ports}
    row = [wire for wire in face.outputs if wire.width]
    inner = {port.name: f"dais_inner_{number}" for number, port in enumerate(ports) if port.direction == "out"}
    together = ", ".join(inner[wire.name] for wire in reversed(row))
    lines = [f"// {top} with wrong bits: it must be found out.", f"module {outer} ("]
    lines += [
        ",\n".join(f"    {'in' if port.direction == 'in' else 'out'}put wire {_declared(port)}" for port in ports),
        ");",
    ]
    lines += [f"    wire [{width[name] - 1}:0] {wire};" for name, wire in inner.items()]
    lines += [f"    wire [{face.output_bits - 1}:0] dais_all = {{{together}}};", *(f"    {wire}" for wire in wires)]
    pins = ",\n".join(f"        .{_name(port.name)}({inner.get(port.name, _name(port.name))})" for port in ports)
    lines += [f"    {_name(top)} dais_dut (", pins, "    );"]
    for name, wire in inner.items():
        offset = next((one.offset for one in row if one.name == name), None)
        bits = [] if offset is None else [bit for bit in sorted(flips) if offset <= bit < offset + width[name]]
        terms = [f"({{{width[name]}{{{flips[bit]}}}}} & ({width[name]}'d1 << {bit - (offset or 0)}))" for bit in bits]
        lines.append(f"    assign {_name(name)} = {' ^ '.join([wire, *terms])};")
    return "\n".join([*lines, "endmodule", ""])


def _declared(port: Port) -> str:
    return f"[{port.width - 1}:0] {_name(port.name)}"


def _name(name: str) -> str:
    """As Verilog takes it wherever a name can stand."""
    return name if _PLAIN.fullmatch(name) else f"\\{name} "
