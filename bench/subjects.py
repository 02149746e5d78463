"""What is measured: a program, vectors for it in the forms that each side takes, and whether the answers are right."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dais_verif.errors import InputError
from dais_verif.golden import oracle
from dais_verif.program import Program, load, write_binary
from dais_verif.program.numbers import Batch, floor_to_grid
from dais_verif.program.ports import ports_of

__all__ = ["Subject", "narrowest", "peer_outputs", "random_raw", "verified"]

#: Rows that are compared with the oracle where the peer gives something else.
_ORACLE_ROWS = 16

Ints = NDArray[np.signedinteger]


@dataclass(frozen=True)
class Subject:
    """A program and vectors. ``raw``: (n_in, rows), units of each port element's last bit, narrowest integers."""

    program: Program
    raw: Ints

    @classmethod
    def of(cls, path: Path, vectors: Path | None, rows: int) -> Subject:
        """The program in ``path``, and ``rows`` vectors drawn from the file ``vectors``, or at random."""
        program, rng = load(path), np.random.default_rng(0)
        if vectors is None:
            return cls(program, random_raw(program, rows, rng))
        known = _raw_of(program, Batch.of(np.load(vectors), program.n_in))
        return cls(program, np.ascontiguousarray(known[:, rng.integers(0, known.shape[1], rows)]))

    @cached_property
    def doubles(self) -> NDArray[np.float64]:
        """The same numbers as real values, (rows, n_in)."""
        scale = np.ldexp(1.0, [element.lo for element in ports_of(self.program).inputs])
        return np.ascontiguousarray(self.raw.T * scale)

    @cached_property
    def words(self) -> NDArray[np.int32]:
        """The program as da4ml's interpreter takes it."""
        return np.frombuffer(write_binary(self.program, "v1"), dtype=np.int32).copy()

    @property
    def bytes_of_doubles(self) -> int:
        """What a call with doubles reads and writes."""
        return 8 * self.raw.shape[1] * (self.program.n_in + self.program.n_out)

    def real(self, planar: Ints) -> NDArray[np.float64]:
        """Raw outputs (n_out, rows) as real values (rows, n_out)."""
        scale = np.ldexp(1.0, [-kind.f for kind in self.program.output_types])
        outputs: NDArray[np.float64] = planar.T * scale
        return outputs


def peer_outputs(subject: Subject, *, threads: int = 1) -> NDArray[np.float64]:
    """What da4ml's C++ interpreter gives, (rows, n_out)."""
    from da4ml._binary import dais_interp_run

    return np.asarray(dais_interp_run(subject.words, subject.doubles, threads))


def verified(subject: Subject, ours: NDArray[np.float64], theirs: NDArray[np.float64], peer: str = "da4ml") -> str:
    """How ``ours`` were found to be right: by all outputs of the peer, or where those differ by the oracle.

    Raises ``AssertionError`` if they are wrong.
    """
    if np.array_equal(ours, theirs):
        return f"all {ours.size} outputs equal {peer}'s"
    different = np.flatnonzero((ours != theirs).any(axis=1))
    for row in different[:: max(1, len(different) // _ORACLE_ROWS)][:_ORACLE_ROWS].tolist():
        exact = oracle.evaluate(subject.program, [Fraction(v) for v in subject.doubles[row].tolist()], check=False)
        if exact != [Fraction(value) for value in ours[row].tolist()]:
            raise AssertionError(f"row {row} of {subject.program}: our outputs are wrong")
    return f"{peer}'s outputs are wrong in {len(different)} rows, ours equal the oracle in those tried"


def random_raw(program: Program, rows: int, rng: np.random.Generator) -> Ints:
    """Integers of the widths of the input port's elements, (n_in, rows)."""
    columns = []
    for element, signed in zip(ports_of(program).inputs, _signed(program), strict=True):
        half = 1 << element.width >> 1 if signed else 0
        columns.append(rng.integers(-half, (1 << element.width) - half, rows))
    return narrowest(np.array(columns, dtype=np.int64).reshape(program.n_in, rows))


def narrowest(raw: NDArray[np.int64]) -> Ints:
    """``raw`` as int8, int16, int32 or int64, whichever is the first to hold it."""
    lo, hi = (int(raw.min()), int(raw.max())) if raw.size else (0, 0)
    for kind in (np.int8, np.int16, np.int32):
        if np.iinfo(kind).min <= lo and hi <= np.iinfo(kind).max:
            return raw.astype(kind)
    return raw


def _signed(program: Program) -> list[bool]:
    readers = {op.id0 for op in program.ops if op.code == -1 and op.type.k}
    return [j in readers for j in range(program.n_in)]


def _raw_of(program: Program, batch: Batch) -> Ints:
    """``batch`` on the grid of the input port, wrapped to the width of its elements, which changes no output."""
    columns = []
    for element, column, signed in zip(ports_of(program).inputs, batch.columns, _signed(program), strict=True):
        if element.width > 62:
            raise InputError(f"an input of {element.width} bits does not fit the integers of the benchmark")
        low_bits = floor_to_grid(column, -element.lo) & ((1 << element.width) - 1)
        half = 1 << element.width >> 1 if signed else 0
        columns.append(((low_bits ^ half) - half).astype(np.int64))
    return narrowest(np.array(columns, dtype=np.int64).reshape(program.n_in, batch.rows))
