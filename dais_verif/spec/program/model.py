"""The program: an immutable SSA list, kept as columns so that half a million ops cost milliseconds.

An op reads only earlier ops (by index), or an input, or nothing. Value ``i`` is the result of op ``i``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import ProgramError
from dais_verif.spec.program.checks import validate
from dais_verif.spec.program.json_fields import as_type
from dais_verif.spec.program.opcodes import (
    MUXES,
    OPCODES,
    Code,
    Data,
    Opcode,
    Pattern,
    Term,
    high_int32,
    low_int32,
    opcode_of_sum,
)
from dais_verif.spec.program.types import FixedType

__all__ = ["NO_TERMS", "Columns", "Estimates", "Op", "Origin", "Program", "Terms"]

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Op:
    """One op as a row: the result is value number ``index``."""

    index: int
    code: int
    id0: int
    id1: int
    data: int
    type: FixedType
    #: The terms of a sum; empty for all other ops.
    terms: tuple[Term, ...] = ()

    @property
    def spec(self) -> Opcode:
        """The row of the opcode table; for a sum, the row of ALIR for a sum of such terms."""
        return opcode_of_sum(self.terms) if self.terms else OPCODES[self.code]

    @property
    def condition(self) -> int:
        """The index of the condition op of a mux."""
        return low_int32(self.data)

    @property
    def operands(self) -> tuple[int, ...]:
        """The ops whose values this op reads, by index: a mux's condition last; of a sum, one per term with an op."""
        pattern = self.spec.pattern
        if pattern is Pattern.BINARY:
            return (self.id0, self.id1, self.condition) if self.code in MUXES else (self.id0, self.id1)
        if pattern is Pattern.TERMS:
            return tuple(term.op for term in self.terms if term.op >= 0)
        return (self.id0,) if pattern is Pattern.UNARY else ()

    def rewired(self, at: Callable[[int], int]) -> Op:
        """Return this op with ``at(n)`` in place of every op ``n`` that it reads; ``at`` returns 0 or more."""
        if self.terms:
            terms = tuple(term if term.op < 0 else term._replace(op=at(term.op)) for term in self.terms)
            return Op(self.index, self.code, self.id0, self.id1, self.data, self.type, terms)
        pattern = OPCODES[self.code].pattern
        if pattern is not Pattern.UNARY and pattern is not Pattern.BINARY:
            return self
        id1 = at(self.id1) if pattern is Pattern.BINARY else self.id1
        data = high_int32(self.data) << 32 | at(self.condition) if self.code in MUXES else self.data
        return Op(self.index, self.code, at(self.id0), id1, data, self.type)

    def __str__(self) -> str:
        return f"op {self.index} ({self.spec.mnemonic})"


class Columns(NamedTuple):
    """The ops as int64 columns of shape (n_ops,), in the order of the binary's words."""

    code: Ints
    id0: Ints
    id1: Ints
    data: Ints
    k: Ints
    i: Ints
    f: Ints


class Terms(NamedTuple):
    """The terms of all sums, in the order of the sums, as int64 columns (see ``Term``)."""

    op: Ints
    shift: Ints
    negative: Ints

    @classmethod
    def of(cls, rows: Sequence[tuple[int, int, int]]) -> Terms:
        """Terms from rows ``(op, shift, negative)``."""
        table = np.array(rows, dtype=np.int64).reshape(-1, 3)
        return cls(*(table[:, column].copy() for column in range(3)))


#: For a program without sums, which includes every DAIS program.
NO_TERMS = Terms.of(())


class Estimates(NamedTuple):
    """Hardware estimates in ALIR files, preserved when a file is written again; they are not used here.

    ``latency``, ``cost``: float64 (n_ops,). The sizes are those that alkaid was given, in bits; -1 if it was given
    none.
    """

    latency: NDArray[np.float64]
    cost: NDArray[np.float64]
    carry_size: int
    adder_size: int


@dataclass(frozen=True)
class Origin:
    """How a program was read: what a record must say about its file.

    ``layout``: ``published``, ``headerless``, ``v1``, ``json``, ``alir`` or ``memory``; for a machine, ``alir``,
    ``mach`` (text) or ``memory``. ``assumed``: both word orders were possible and mean different things.
    ``file_sha256``: the SHA-256 of the bytes as read, before decompression; for the text of a machine, it includes the
    files of its blocks. ``text``: the file was the text of a program.
    """

    layout: str = "memory"
    assumed: bool = False
    spec_version: int = 1
    firmware_version: int = 0
    file_sha256: str | None = None
    path: str | None = None
    text: bool = False


@dataclass(frozen=True, eq=False)
class Program:
    """A program: DAIS, or ALIR with its own opcodes. Made by ``load`` or ``Program.build``; immutable.

    ``inp_shift`` (n_in,), ``out_idx``, ``out_shift``, ``out_neg`` (n_out,), columns (n_ops,): int64, read-only.
    ``tables``: raw integers, one int64 array per table. ``intervals``: one raw (min, max) per op if the source declares
    intervals (da4ml's JSON, ALIR), else None; only the intervals of ``input`` ops bound any value. ``terms``: the terms
    of ALIR's sums; columns ``id0`` and ``id1`` of a sum are the index of its first term and the number of its terms.
    ``notes``: what an ALIR file says about the binary from which it was made, not yet verified (see
    ``conversion.kept``).
    """

    inp_shift: Ints
    out_idx: Ints
    out_shift: Ints
    out_neg: Ints
    columns: Columns
    tables: tuple[Ints, ...] = ()
    intervals: tuple[tuple[int, int], ...] | None = None
    origin: Origin = field(default_factory=Origin)
    terms: Terms = NO_TERMS
    estimates: Estimates | None = None
    notes: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        for array in (
            self.inp_shift,
            self.out_idx,
            self.out_shift,
            self.out_neg,
            *self.columns,
            *self.tables,
            *self.terms,
        ):
            array.setflags(write=False)

    @classmethod
    def build(
        cls,
        ops: Sequence[tuple[int, int, int, int, tuple[float, float, float]]],
        outputs: Sequence[tuple[int, int, int]],
        *,
        inp_shift: Sequence[int] = (),
        tables: Sequence[Sequence[int]] = (),
        terms: Sequence[tuple[int, int, int]] = (),
    ) -> Program:
        """Return a checked program from rows ``(code, id0, id1, data, (k, i, f))`` and outputs ``(idx, shift, neg)``.

        A type is three integers ``(k, i, f)``, or as in da4ml, an interval ``(min, max, step)``: a tuple with at least
        one float, or with fields of these names. The program keeps the interval and the smallest type that holds it.
        ``terms``: the terms of all sums, as rows ``(op, shift, negative)``. Raises ``ProgramError`` if the program is
        not valid.
        """
        try:
            types = [_type_and_interval(t, index) for index, (*_, t) in enumerate(ops)]
            rows = np.array(
                [(*op[:4], *kind) for op, (kind, _) in zip(ops, types, strict=True)], dtype=np.int64
            ).reshape(-1, 7)
            outs = np.array(outputs, dtype=np.int64).reshape(-1, 3)
            program = cls(
                inp_shift=np.array(inp_shift, dtype=np.int64),
                out_idx=outs[:, 0].copy(),
                out_shift=outs[:, 1].copy(),
                out_neg=outs[:, 2].copy(),
                columns=Columns(*(rows[:, c].copy() for c in range(7))),
                tables=tuple(np.array(table, dtype=np.int64) for table in tables),
                terms=Terms.of(terms),
                intervals=_intervals(types),
            )
        except OverflowError:
            raise ProgramError("a number of the program does not fit 64 bits; data words are signed") from None
        validate(program)
        return program

    @cached_property
    def kept(self) -> dict[str, Any]:
        """What other modules compute from the program once and keep with it; it is not copied or pickled."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        """Return all fields and what follows from them, without ``kept``."""
        return {name: value for name, value in self.__dict__.items() if name != "kept"}

    @property
    def n_in(self) -> int:
        """Number of inputs."""
        return len(self.inp_shift)

    @property
    def n_out(self) -> int:
        """Number of outputs."""
        return len(self.out_idx)

    @property
    def n_ops(self) -> int:
        """Number of ops."""
        return len(self.columns.code)

    @cached_property
    def ops(self) -> tuple[Op, ...]:
        """The ops as rows of Python integers, in SSA order."""
        code, id0, id1, data, k, i, f = (column.tolist() for column in self.columns)
        # Many ops share few types: there is one object per type, not a million.
        known = {kind: FixedType(*kind) for kind in set(zip(k, i, f, strict=True))}
        types = map(known.__getitem__, zip(k, i, f, strict=True))
        if not len(self.terms.op):
            return tuple(map(Op, range(self.n_ops), code, id0, id1, data, types))
        flat = list(map(Term, self.terms.op.tolist(), self.terms.shift.tolist(), (self.terms.negative != 0).tolist()))
        terms = (tuple(flat[a : a + b]) if c == Code.SUM else () for c, a, b in zip(code, id0, id1, strict=True))
        return tuple(map(Op, range(self.n_ops), code, id0, id1, data, types, terms))

    @cached_property
    def outputs(self) -> tuple[tuple[int, int, bool], ...]:
        """``(out_idx, out_shift, out_neg)`` of each output."""
        return tuple(zip(self.out_idx.tolist(), self.out_shift.tolist(), (self.out_neg != 0).tolist(), strict=True))

    @cached_property
    def output_types(self) -> tuple[FixedType, ...]:
        """Type of each output, from the types of the program alone; (0, 0, 0) for an output that is constant 0.

        Negation adds a bit and makes the value signed; the shift moves the binary point; nothing is quantised.
        """
        return tuple(self._output_type(*output) for output in self.outputs)

    def _output_type(self, index: int, shift: int, negated: bool) -> FixedType:
        if index < 0:
            return FixedType(0, 0, 0)
        k, i, f = (int(column[index]) for column in self.columns[4:])
        if k + i + f == 0:
            return FixedType(0, 0, 0)
        if negated:
            k, i = 1, i + k
        return FixedType(k, i + shift, f - shift)

    @cached_property
    def hash(self) -> str:
        """The SHA-256 of the meaning of the program, which is the same for every layout in which it is written."""
        digest = hashlib.sha256(b"dais program\0" if not len(self.terms.op) else b"dais program with sums\0")
        header = [self.n_in, self.n_out, self.n_ops, *(len(table) for table in self.tables)]
        for array in (
            np.array(header),
            self.inp_shift,
            self.out_idx,
            self.out_shift,
            self.out_neg,
            *self.columns[:3],
            meaningful_data(self.columns),
            *self.columns[4:],
            *self.tables,
            *self.terms,
        ):
            digest.update(np.ascontiguousarray(array, dtype="<i8").tobytes())
        return digest.hexdigest()

    def __repr__(self) -> str:
        return f"<Program {self.n_in} -> {self.n_out}, {self.n_ops} ops, {self.origin.layout}>"


def meaningful_data(columns: Columns) -> Ints:
    """Return the data column, with 0 for all ops whose opcodes do not use their data word."""
    meaningless = [code for code, spec in OPCODES.items() if spec.data is Data.NONE]
    return np.where(np.isin(columns.code, meaningless), 0, columns.data)


def _type_and_interval(given: Any, index: int) -> tuple[FixedType, tuple[int, int] | None]:
    """Return the type that op ``index`` was given, and its raw interval if it was given one."""
    if not hasattr(given, "step") and not any(isinstance(number, float) for number in given):
        return FixedType(*given), None
    return as_type(list(given), index, where="op")


def _intervals(types: Sequence[tuple[FixedType, tuple[int, int] | None]]) -> tuple[tuple[int, int], ...] | None:
    """Return one raw interval for each op, if any was given; that of its type otherwise."""
    if all(interval is None for _, interval in types):
        return None
    return tuple(interval or (kind.raw_min, kind.raw_max) for kind, interval in types)
