"""Seed faults that must be detected: a golden model with a changed output, and RTL with wrong bits.

Both are made from the signed-off design, and the number of vectors on which they differ from it is known in advance.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dais_verif.dut.interface import DesignInterface
from dais_verif.errors import CertificateError
from dais_verif.golden import Golden
from dais_verif.program import Program, write_binary
from dais_verif.program.conversion import to_alir
from dais_verif.program.json_writers import alir_json
from dais_verif.program.model import Columns
from dais_verif.program.numbers import IntArray
from dais_verif.signoff.evidence import Bits, chunks
from dais_verif.signoff.wrappers import OriginalDesign, inverting_wrapper
from dais_verif.simulation.testbench.packed_rows import Words, row_words
from dais_verif.stimulus import Vectors

__all__ = ["Poison", "SeededFault", "always_wrong", "differing_rows", "poison", "sometimes_wrong"]

#: The number of vectors chosen for RTL that is sometimes wrong: evenly spread, each with a different inverted output
#: bit.
_WRONG_VECTORS = 8

_CONST = 5
_SLICE = 16384


@dataclass(frozen=True)
class Poison:
    """The file of a changed program, whose output ``output`` is the constant ``value``."""

    name: str
    data: bytes
    output: int
    value: int

    @property
    def layout(self) -> str | None:
        """The layout in which the file is read; None: it says so itself."""
        return None if self.name.endswith("json") else "v1"


@dataclass(frozen=True)
class SeededFault:
    """A module ``top`` around a design, in the design's language.

    ``rows``: how many vectors have wrong outputs; ``first``: the number of the first such vector.
    """

    top: str
    text: str
    rows: int
    first: int


# the golden model


def poison(program: Program, original: bytes, vectors: Vectors, *, check: bool) -> Poison:
    """Return ``program`` with one output replaced by a constant that it has on some of ``vectors`` and not on others.

    If all outputs are constant, one becomes another constant.

    Only the value changes: ports, intervals and promises are kept. ``original``: the bytes that the program was read
    from. Raises ``InputError`` if there is no such output.
    """
    golden = Golden(program)
    found: tuple[int, int] | None = None
    firsts: list[int] | None = None
    for start in range(0, vectors.rows, _SLICE):
        outputs = golden.run_raw(vectors.slice(start, min(start + _SLICE, vectors.rows)), check=check, named=start)
        firsts = firsts or [int(values[0]) for values in outputs]
        found = _two_values(program, outputs, firsts)
        if found is not None:
            break
    found = found or _other_value(program, firsts or [])
    if found is None:
        raise CertificateError("no output takes two values on these vectors: no poisoned model would be detected")
    number, value = found
    constant = -value if program.outputs[number][2] else value
    if program.origin.layout == "alir":
        return Poison("poisoned.json", alir_json(to_alir(_in_columns(program, number, constant))), number, value)
    if program.intervals is not None:
        return Poison("poisoned.json", _in_json(original, number, constant), number, value)
    return Poison("poisoned.bin", write_binary(_in_columns(program, number, constant), "v1"), number, value)


def differing_rows(program: Program, made: Poison, vectors: Vectors, *, check: bool) -> tuple[int, int]:
    """Return on how many of ``vectors`` the poisoned program differs from ``program``, and the number of the first.

    Raises ``InputError`` if it differs on none.
    """
    golden = Golden(program)
    rows, first = 0, None
    for start in range(0, vectors.rows, _SLICE):
        outputs = golden.run_raw(vectors.slice(start, min(start + _SLICE, vectors.rows)), check=check, named=start)
        differ = np.flatnonzero(outputs[made.output] != made.value)
        if first is None and len(differ):
            first = start + int(differ[0])
        rows += len(differ)
    if first is None:
        raise CertificateError("the poisoned model equals the program on all vectors, so it would not be detected")
    return rows, first


def _two_values(program: Program, outputs: Sequence[IntArray], firsts: Sequence[int]) -> tuple[int, int] | None:
    """Return the number of an output, and one of its values that differs from its first value and fits a data word."""
    for number, (index, _, _) in enumerate(program.outputs):
        others = outputs[number][outputs[number] != firsts[number]][:64].tolist() if index >= 0 else []
        for value in others:
            if -(1 << 62) < value < 1 << 62:
                return number, int(value)
    return None


def _other_value(program: Program, firsts: Sequence[int]) -> tuple[int, int] | None:
    """Return the number of an output that is constant on the vectors, and a value of its type that it never takes.

    None where declared intervals would not hold that value.
    """
    if program.intervals is None:
        for number, ((index, _, negative), value) in enumerate(zip(program.outputs, firsts, strict=False)):
            if index >= 0 and program.ops[index].type.width:
                other = (-value if negative else value) ^ 1
                return number, -other if negative else other
    return None


def _in_columns(program: Program, number: int, constant: int) -> Program:
    """Return ``program`` with ``constant`` as output ``number``.

    The constant is inserted before the last op, so that only outputs that read the last op need a new index.
    """
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
    intervals = program.intervals
    if intervals is not None:
        intervals = (*intervals[:last], intervals[source], intervals[last])
    return replace(program, columns=columns, out_idx=out_idx, intervals=intervals, estimates=None)


def _in_json(original: bytes, number: int, constant: int) -> bytes:
    """Return da4ml's JSON with ``constant`` as output ``number``; it keeps the declared interval of the output's op."""
    tree: list[Any] = json.loads(gzip.decompress(original) if original[:2] == b"\x1f\x8b" else original)
    out_idx, ops = tree[2], tree[5]
    last, source = len(ops) - 1, ops[out_idx[number]]
    tree[2] = [last + 1 if index == last else index for index in out_idx]
    tree[2][number] = last
    ops.insert(last, [-1, -1, _CONST, constant, *source[4:]])
    return json.dumps(tree).encode()


# the RTL


def always_wrong(interface: DesignInterface, design: OriginalDesign) -> SeededFault:
    """Return the design with the lowest bit of each output port inverted, on all vectors."""
    inverted = {wire.offset: () for wire in interface.outputs if wire.width}
    outer = _outer(design, "always")
    return SeededFault(outer, inverting_wrapper(interface, design, outer, [], inverted), 0, 0)


def sometimes_wrong(interface: DesignInterface, design: OriginalDesign, run: Path, rows: int, seed: int) -> SeededFault:
    """Return the design with wrong bits on only some of the first ``rows`` vectors of ``run``, including the last.

    Where its outputs equal those of one of the chosen vectors, one bit is inverted; which bit depends on the vector.
    """
    bits = Bits(interface.input_bits, interface.output_bits)
    expected = np.concatenate([words for start, _, words in chunks(run, bits) if start < rows] or [_none(bits)])[:rows]
    if not len(expected):
        raise CertificateError("the simulation left no vectors on which RTL could be made wrong")
    chosen = np.unique(np.linspace(0, len(expected) - 1, _WRONG_VECTORS).astype(int))
    patterns = np.unique(expected[chosen], axis=0)
    which = np.random.default_rng(seed).permutation(bits.outputs)
    inverted: dict[int, tuple[int, ...]] = {}
    for number in range(len(patterns)):
        bit = int(which[number % bits.outputs])
        inverted[bit] = (*inverted.get(bit, ()), number)
    rare = [int.from_bytes(pattern.tobytes(), "little") for pattern in patterns]
    spoilt = np.flatnonzero(np.any([(expected == pattern).all(axis=1) for pattern in patterns], axis=0))
    outer = _outer(design, "sometimes")
    return SeededFault(outer, inverting_wrapper(interface, design, outer, rare, inverted), len(spoilt), int(spoilt[0]))


def _none(bits: Bits) -> Words:
    return np.zeros((0, row_words(bits.outputs)), dtype="<u8")


def _outer(design: OriginalDesign, kind: str) -> str:
    return f"{design.top}_{kind}_wrong"
