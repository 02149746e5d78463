"""What a program means: the exact oracle, the batch engine, and the two functions users call.

``run`` takes and gives real values as float64; ``run_raw`` takes exact batches and gives raw integers.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dais_verif.errors import InputError, ViolationError
from dais_verif.golden import oracle
from dais_verif.golden.batch import Compiled, compile_program
from dais_verif.program import Program
from dais_verif.program.numbers import Batch, IntArray, compact, doubles_of_raw

__all__ = ["ENGINES", "Engine", "Golden", "run", "run_raw"]

Engine = Literal["auto", "numpy", "exact"]
ENGINES: tuple[Engine, ...] = ("auto", "numpy", "exact")

#: Rows a chunk: enough to hide numpy's cost a call, few enough that a chunk of values stays in cache.
CHUNK = 2048


def run(program: Program, x: Any, *, engine: Engine = "auto", check: bool = True) -> NDArray[np.float64]:
    """Outputs of ``program`` as float64 (rows, n_out) for input vectors ``x`` (rows, n_in).

    ``x``: float64 or integer array, or nested lists of Python numbers; every value is taken exactly.
    ``engine``: ``numpy`` (batch), ``exact`` (the oracle, slow) or ``auto``. ``check=False`` carries on past
    broken promises with the quantised value.

    Raises ``ViolationError`` (row, op, operands, exact result) if ``check`` and a promise is broken, and
    ``InputError`` for unusable vectors or an output that float64 cannot hold exactly.
    """
    batch = Batch.of(x, program.n_in)
    raw = run_raw(program, batch, engine=engine, check=check)
    result = np.zeros((batch.rows, program.n_out), dtype=np.float64)
    for j, kind in enumerate(program.output_types):
        result[:, j] = doubles_of_raw(raw[j], kind.f, j)
    return result


def run_raw(program: Program, batch: Batch, *, engine: Engine = "auto", check: bool = True) -> tuple[IntArray, ...]:
    """Raw integers of every output, one array (rows,) each, in units of ``2**-f`` of its output type.

    Arrays are int64, or object (Python integers) where a value does not fit. Errors as for ``run``.
    """
    golden = Golden(program, engine=engine)
    chunks = [golden.chunk(batch, start, check=check) for start in range(0, batch.rows, CHUNK)]
    if not chunks:
        return tuple(np.zeros(0, dtype=np.int64) for _ in range(program.n_out))
    return tuple(compact(np.concatenate(parts)) for parts in zip(*chunks, strict=True))


class Golden:
    """A golden model prepared once and run chunk by chunk, so that callers never hold all outputs."""

    def __init__(self, program: Program, *, engine: Engine = "auto") -> None:
        if engine not in ENGINES:
            raise InputError(f"engine must be one of {', '.join(ENGINES)}, not {engine!r}")
        self.program = program
        self._compiled: Compiled | None = None if engine == "exact" else compile_program(program)

    @property
    def compiled(self) -> Compiled:
        """The batch engine's program; compiled now if the engine is the oracle."""
        if self._compiled is None:
            return compile_program(self.program)
        return self._compiled

    def chunk(self, batch: Batch, start: int, *, rows: int = CHUNK, check: bool = True) -> tuple[IntArray, ...]:
        """Raw outputs of ``rows`` rows from ``start`` on. Raises ``ViolationError`` if ``check``."""
        if self._compiled is None:
            return self._oracle_chunk(batch, start, min(start + rows, batch.rows), check)
        outputs, violation = self._compiled.run(batch.slice(start, start + rows), check=check)
        if violation is not None:
            row, op = violation
            raise ViolationError(self._explain(batch, start + row, op))
        return tuple(outputs)

    def _oracle_chunk(self, batch: Batch, start: int, stop: int, check: bool) -> tuple[IntArray, ...]:
        columns: list[list[int]] = [[] for _ in range(self.program.n_out)]
        for row in range(start, stop):
            violations: list[oracle.Violation] = []
            values = oracle.trace(self.program, batch.row(row), violations=violations)
            if check and violations:
                raise ViolationError(self._explain(batch, row, violations[0].op.index))
            for column, value, kind in zip(
                columns, oracle.outputs_of(self.program, values), self.program.output_types, strict=True
            ):
                scaled = value * oracle.two(kind.f)
                column.append(scaled.numerator)
        arrays = [np.array(column, dtype=object) for column in columns]
        return tuple(compact(array) for array in arrays)

    def _explain(self, batch: Batch, row: int, op: int) -> str:
        """The violation in the oracle's words; an engine that sees what the oracle does not is a bug of ours."""
        violations: list[oracle.Violation] = []
        oracle.trace(self.program, batch.row(row), violations=violations)
        found = next((v for v in violations if v.op.index == op), None)
        if found is None:
            raise AssertionError(f"batch engine and oracle differ: violation at op {op}, row {row}")
        return f"row {row}: {found}"
