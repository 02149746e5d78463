"""A case: a program, and input vectors for it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dais_verif.base.text import counted
from dais_verif.golden import oracle
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch
from dais_verif.spec.program.opcodes import INPUT, Code

__all__ = ["Case", "Row", "opcodes_of"]


#: One vector: one exact number per input.
Row = tuple[Fraction, ...]


@dataclass(frozen=True, eq=False)
class Case:
    """``program`` and input vectors for it, each of ``n_in`` exact numbers.

    ``whole``: True if edits must keep inputs that no op reads, since the failure needs them.
    """

    program: Program
    rows: tuple[Row, ...]
    whole: bool = False

    @classmethod
    def of(cls, program: Program, batch: Batch) -> Case:
        """Return the case with the vectors of ``batch``."""
        return cls(program, tuple(tuple(batch.row(row)) for row in range(batch.rows)))

    @cached_property
    def batch(self) -> Batch:
        """The vectors, as engines take them."""
        return Batch.of([list(row) for row in self.rows], self.program.n_in) if self.rows else _no_rows(self.program)

    @cached_property
    def values(self) -> tuple[tuple[Fraction, ...], ...]:
        """The value of every op for each vector, by the oracle; a broken promise is quantised."""
        return tuple(tuple(oracle.trace(self.program, row, violations=[])) for row in self.rows)

    @cached_property
    def key(self) -> tuple[str, tuple[Row, ...]]:
        """The identity of the case."""
        return self.program.hash, self.rows

    @property
    def words(self) -> str:
        """The size of the case, as text."""
        return f"{counted(self.program.n_ops, 'op')}, {counted(len(self.rows), 'vector')}"


def _no_rows(program: Program) -> Batch:
    return Batch.of(np.zeros((0, program.n_in)), program.n_in)


# The cause of a case, the opcodes left in it: of several cases with the same cause, only one is kept.


def opcodes_of(case: Case) -> tuple[str, ...]:
    """Return the sorted mnemonics of all ops of ``case`` that compute something; of all ops if none does."""
    computing = {op.spec.mnemonic for op in case.program.ops if op.code not in (INPUT, Code.CONST)}
    return tuple(sorted(computing or {op.spec.mnemonic for op in case.program.ops}))
