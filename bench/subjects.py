"""The subjects of measurements: a program, vectors in the forms that each side takes, and a check of the outputs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import InputError
from dais_verif.golden import oracle
from dais_verif.spec.program import Program, load, write_binary
from dais_verif.spec.program.numbers import Batch, floor_to_grid
from dais_verif.spec.program.ports import ports_of

__all__ = ["Subject", "narrowest", "peer_outputs", "random_raw", "verified"]

#: Rows to compare with the oracle where the peer's outputs differ.
_ORACLE_ROWS = 16

Ints = NDArray[np.signedinteger]


@dataclass(frozen=True)
class Subject:
    """A program and vectors. ``raw``: narrowest integers (n_in, rows), in units of each port element's last bit."""

    program: Program
    raw: Ints

    @classmethod
    def of(cls, path: Path, vectors: Path | None, rows: int) -> Subject:
        """Return the program in ``path`` with ``rows`` vectors, drawn from the file ``vectors`` or random."""
        program, rng = load(path), np.random.default_rng(0)
        if vectors is None:
            return cls(program, random_raw(program, rows, rng))
        known = _raw_of(program, Batch.of(np.load(vectors), program.n_in))
        return cls(program, np.ascontiguousarray(known[:, rng.integers(0, known.shape[1], rows)]))

    @cached_property
    def doubles(self) -> NDArray[np.float64]:
        """Return the vectors as real values, (rows, n_in)."""
        scale = np.ldexp(1.0, [element.lo for element in ports_of(self.program).inputs])
        return np.ascontiguousarray(self.raw.T * scale)

    @cached_property
    def words(self) -> NDArray[np.int32]:
        """Return the program in the form that da4ml's interpreter takes."""
        return np.frombuffer(write_binary(self.program, "v1"), dtype=np.int32).copy()

    @property
    def bytes_of_doubles(self) -> int:
        """Return the number of bytes that a call with doubles reads and writes."""
        return 8 * self.raw.shape[1] * (self.program.n_in + self.program.n_out)

    def real(self, planar: Ints) -> NDArray[np.float64]:
        """Return raw outputs (n_out, rows) as real values (rows, n_out)."""
        scale = np.ldexp(1.0, [-kind.f for kind in self.program.output_types])
        outputs: NDArray[np.float64] = planar.T * scale
        return outputs


def peer_outputs(subject: Subject, *, threads: int = 1) -> NDArray[np.float64]:
    """Return the outputs of da4ml's C++ interpreter, (rows, n_out)."""
    from da4ml._binary import dais_interp_run

    return np.asarray(dais_interp_run(subject.words, subject.doubles, threads))


def verified(subject: Subject, ours: NDArray[np.float64], theirs: NDArray[np.float64], peer: str = "da4ml") -> str:
    """Return how ``ours`` were found to be right: by all outputs of the peer, or by the oracle where those differ.

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
    """Return random integers of the widths of the input port's elements, (n_in, rows)."""
    columns = []
    for element, signed in zip(ports_of(program).inputs, _signed(program), strict=True):
        half = 1 << element.width >> 1 if signed else 0
        columns.append(rng.integers(-half, (1 << element.width) - half, rows))
    return narrowest(np.array(columns, dtype=np.int64).reshape(program.n_in, rows))


def narrowest(raw: NDArray[np.int64]) -> Ints:
    """Return ``raw`` as int8, int16, int32 or int64, the first that holds it."""
    lo, hi = (int(raw.min()), int(raw.max())) if raw.size else (0, 0)
    for kind in (np.int8, np.int16, np.int32):
        if np.iinfo(kind).min <= lo and hi <= np.iinfo(kind).max:
            return raw.astype(kind)
    return raw


def _signed(program: Program) -> list[bool]:
    readers = {op.id0 for op in program.ops if op.code == -1 and op.type.k}
    return [j in readers for j in range(program.n_in)]


def _raw_of(program: Program, batch: Batch) -> Ints:
    """Return ``batch`` on the grid of the input port, wrapped to the width of its elements; this changes no output."""
    columns = []
    for element, column, signed in zip(ports_of(program).inputs, batch.columns, _signed(program), strict=True):
        if element.width > 62:
            raise InputError(f"an input of {element.width} bits does not fit the integers of the benchmark")
        low_bits = floor_to_grid(column, -element.lo) & ((1 << element.width) - 1)
        half = 1 << element.width >> 1 if signed else 0
        columns.append(((low_bits ^ half) - half).astype(np.int64))
    return narrowest(np.array(columns, dtype=np.int64).reshape(program.n_in, batch.rows))
