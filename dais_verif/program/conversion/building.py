"""Build a program from another one, op by op."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dais_verif.program.checks import validate
from dais_verif.program.model import Columns, Estimates, Op, Origin, Program, Terms
from dais_verif.program.opcodes import Code, Term
from dais_verif.program.types import FixedType

__all__ = ["ZERO", "Builder"]

#: The type of a constant 0 at the start of a sum. The type has one bit, which da4ml's RTL needs.
ZERO = FixedType(0, 1, 0)


class Builder:
    """Ops of a new program. ``index``: the new number of every translated op of ``source``."""

    def __init__(self, source: Program) -> None:
        self.source = source
        self.index: dict[int, int] = {}
        self.types: list[FixedType] = []
        self.intervals: list[tuple[int, int]] = []
        self.tables: list[tuple[int, ...]] = [tuple(table.tolist()) for table in source.tables]
        self._rows: list[tuple[int, ...]] = []
        self._terms: list[Term] = []
        self._estimates: list[tuple[float, float]] = []
        self._zero: int | None = None

    def add(
        self,
        code: int,
        kind: FixedType,
        id0: int = -1,
        id1: int = -1,
        data: int = 0,
        *,
        terms: Sequence[Term] = (),
        interval: tuple[int, int] | None = None,
        of: int | None = None,
    ) -> int:
        """Append an op and return its number. ``of``: the op of the source whose result the new op computes."""
        if code == Code.SUM:
            id0, id1 = len(self._terms), len(terms)
            self._terms += terms
        self._rows.append((code, id0, id1, data, *kind))
        self.types.append(kind)
        self.intervals.append(interval or (kind.raw_min, kind.raw_max))
        known = self.source.estimates if of is not None else None
        # An additional op gets the latency of its latest operand, since da4ml divides stages by latency.
        operands = Op(len(self._rows) - 1, code, id0, id1, data, kind, tuple(terms)).operands
        late = max((self._estimates[operand][0] for operand in operands), default=0.0)
        self._estimates.append((float(known.latency[of]), float(known.cost[of])) if known else (late, 0.0))
        if of is not None:
            self.index[of] = len(self._rows) - 1
        return len(self._rows) - 1

    def zero(self) -> int:
        """Return the number of a constant 0."""
        if self._zero is None:
            self._zero = self.add(Code.CONST, ZERO)
        return self._zero

    def program(self, origin: Origin) -> Program:
        """Return the program, which is valid, with the inputs and outputs of the source."""
        source = self.source
        table = np.array(self._rows, dtype=np.int64).reshape(-1, 7)
        latency, cost = np.array(self._estimates, dtype=np.float64).reshape(-1, 2).T.copy()
        sizes = (source.estimates.carry_size, source.estimates.adder_size) if source.estimates else (-1, -1)
        made = Program(
            inp_shift=source.inp_shift.copy(),
            out_idx=np.array([self.index.get(op, -1) for op in source.out_idx.tolist()], dtype=np.int64),
            out_shift=source.out_shift.copy(),
            out_neg=source.out_neg.copy(),
            columns=Columns(*(np.ascontiguousarray(column) for column in table.T)),
            tables=tuple(np.array(entries, dtype=np.int64) for entries in self.tables),
            intervals=tuple(self.intervals),
            origin=origin,
            terms=Terms.of(self._terms),
            estimates=Estimates(latency, cost, *sizes),
        )
        validate(made)
        return made
