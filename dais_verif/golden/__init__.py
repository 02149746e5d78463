"""The golden model of programs: the exact oracle, two fast engines that must equal it, and the user functions.

``run`` takes and gives real values as float64; ``run_raw`` takes exact batches and gives raw integers; ``Golden``
is a program prepared once, for many runs.
"""

from __future__ import annotations

import sys
import warnings
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import EngineFailure, InputError, VectorError, ViolationError
from dais_verif.golden import fast, oracle
from dais_verif.golden.fast import FastProgram
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch, Column, IntArray, compact, doubles_of_raw
from dais_verif.spec.program.ports import ports_of
from dais_verif.subject.programs import load_program

if TYPE_CHECKING:
    from dais_verif.golden.batch import Compiled

__all__ = ["CHUNK", "ENGINES", "Engine", "EngineWarning", "Golden", "require_bool", "run", "run_raw"]

Engine = Literal["auto", "fast", "numpy", "exact"]
ENGINES: tuple[Engine, ...] = ("auto", "fast", "numpy", "exact")

#: Rows per chunk: enough to amortise the cost of a call, few enough that the values of a chunk stay in cache.
CHUNK = 2048


class EngineWarning(UserWarning):
    """The fast engine is not available; a slower one is used."""


def require_bool(check: object) -> None:
    """Raise ``InputError`` unless ``check`` is a bool: a text such as ``"no"`` would count as true."""
    if not isinstance(check, bool | np.bool_):
        raise VectorError(f"check must be True or False, not {check!r:.60}")


def run(
    program: Any,
    x: Any,
    *,
    engine: Engine = "auto",
    check: bool = True,
    jobs: int | None = None,
) -> NDArray[np.float64]:
    """Return outputs of ``program`` as float64 (rows, n_out) for input vectors ``x`` (rows, n_in).

    ``program``: a ``Program``, or whatever ``dais_verif.load`` takes.
    ``x``: an array of floats, integers or booleans, or nested lists of Python numbers; every value is taken exactly.
    float16 to float64 and int8 to uint64 are read as they are where rows or columns are contiguous: no copy is made.
    ``engine``: ``fast`` (the C kernel), ``numpy``, ``exact`` (the oracle, slow) or ``auto``: the fastest one that
    supports the program. ``check=False`` continues after broken promises with the quantised value. ``jobs``: the number
    of threads that the fast engine uses.

    Raises ``ViolationError`` (row, op, operands, exact result) if ``check`` and a promise is broken, and
    ``InputError`` for unusable vectors or an output that float64 cannot hold exactly.
    """
    return Golden(program, engine=engine).run(x, check=check, jobs=jobs)


def run_raw(
    program: Program, batch: Batch, *, engine: Engine = "auto", check: bool = True, jobs: int | None = None
) -> tuple[IntArray, ...]:
    """Return the raw integers of every output, one array (rows,) per output, in units of ``2**-f`` of its type.

    Arrays are int64, or object (Python integers) where a value does not fit. Raises the same errors as ``run``.
    """
    return Golden(program, engine=engine).run_raw(batch, check=check, jobs=jobs)


class Golden:
    """A golden model prepared once and run many times, on whole arrays or chunk by chunk."""

    def __init__(self, program: Any, *, engine: Engine = "auto") -> None:
        if engine not in ENGINES:
            raise VectorError(f"engine must be one of {', '.join(ENGINES)}, not {engine!r}")
        self.program = program = load_program(program)
        self._fast = _fast(program, engine) if engine in ("auto", "fast") else None
        self._may_fall_back = engine == "auto"
        self._jobs = fast.threads(None)
        #: The engine that does the work: ``fast``, ``numpy`` or ``exact``.
        self.engine: Engine = "exact" if engine == "exact" else "fast" if self._fast else "numpy"

    @cached_property
    def compiled(self) -> Compiled:
        """The program as compiled for the numpy engine."""
        # Imported on demand, since a process that runs the fast engine does not need it.
        from dais_verif.golden.batch import compile_program

        return compile_program(self.program)

    def run(
        self, x: Any, *, check: bool = True, jobs: int | None = None, out: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Run the program as the function ``run`` does. ``out``: a C-contiguous float64 array (rows, n_out) to fill."""
        require_bool(check)
        n_in, n_out = self.program.n_in, self.program.n_out
        if out is not None and not (_holds(out, (len(x), n_out), x) and out.dtype == np.float64):
            raise VectorError(f"out must be a float64 array of shape ({len(x)}, {n_out}), {_APART}")
        taken = self._taken(check) if _are_numbers(x) and x.shape[1:] == (n_in,) else None
        if taken and taken.gives_doubles and taken.takes(x):
            result, broken = taken.run_doubles(x, check=check, jobs=self._threads(jobs), out=out)
            if broken is not None:
                self._violation(Batch.of(x[broken : broken + 1], n_in), 0, None, broken)
            return result
        batch = Batch.of(x, n_in)
        raw = self.run_raw(batch, check=check, jobs=jobs)
        result = np.zeros((batch.rows, n_out), dtype=np.float64) if out is None else out
        for j, kind in enumerate(self.program.output_types):
            result[:, j] = doubles_of_raw(raw[j], kind.f, j)
        return result

    def run_planar(
        self,
        x: NDArray[np.signedinteger[Any]],
        *,
        check: bool = True,
        jobs: int | None = None,
        out: NDArray[np.signedinteger[Any]] | None = None,
    ) -> NDArray[np.signedinteger[Any]]:
        """Return raw outputs (n_out, rows) for raw inputs (n_in, rows), without a copy or a conversion.

        ``x``: int8, int16, int32 or int64, C-contiguous, in units of the last bit of each input's port element
        (``ports_of(program).inputs[j].lo``); bits beyond the element are ignored. The result has the narrowest of these
        integer types that holds every output, or the type of ``out``; each output is in units of ``2**-f`` of its type.

        Raises ``ViolationError`` if ``check`` and a promise is broken; ``InputError`` for any other array, and if an
        output has over 64 bits.
        """
        require_bool(check)
        n_in, n_out = self.program.n_in, self.program.n_out
        if not (_is_planar(x) and x.ndim == 2 and x.shape[0] == n_in and x.flags.c_contiguous):
            raise VectorError(f"planar inputs must be a C-contiguous signed integer array of shape ({n_in}, rows)")
        bits, shape = self._out_bits, (n_out, x.shape[1])
        if bits > 64:
            raise VectorError(f"an output has {bits} bits as a signed integer, which no integer array holds")
        if out is not None and not (_holds(out, shape, x) and _is_planar(out) and out.itemsize * 8 >= bits):
            raise VectorError(f"out must be a signed integer array of {bits} bits or more, of shape {shape}, {_APART}")
        taken = self._taken(check)
        if taken:
            result, broken = taken.run_planar(x, check=check, jobs=self._threads(jobs), out=out)
            if broken is not None:
                self._violation(self._planar_batch(x[:, broken : broken + 1]), 0, None, broken)
            return result
        raw = self.run_raw(self._planar_batch(x), check=check, jobs=jobs)
        if out is None:
            kind = next(t for t in (np.int8, np.int16, np.int32, np.int64) if np.dtype(t).itemsize * 8 >= bits)
            out = np.empty(shape, dtype=kind)
        for row, column in zip(out, raw, strict=True):
            row[:] = column.astype(out.dtype)
        return out

    def run_raw(
        self, batch: Batch, *, check: bool = True, jobs: int | None = None, named: int = 0
    ) -> tuple[IntArray, ...]:
        """Run the program as the function ``run_raw`` does. ``named``: the number of the first row in messages."""
        threads, taken = self._threads(jobs), self._taken(check)
        if taken:
            return self._fast_rows(taken, batch, named, check, threads)
        chunks = [self.chunk(batch, start, check=check, named=named + start) for start in range(0, batch.rows, CHUNK)]
        if not chunks:
            return tuple(np.zeros(0, dtype=np.int64) for _ in range(self.program.n_out))
        return tuple(compact(np.concatenate(parts)) for parts in zip(*chunks, strict=True))

    def chunk(
        self, batch: Batch, start: int, *, rows: int = CHUNK, check: bool = True, named: int | None = None
    ) -> tuple[IntArray, ...]:
        """Return raw outputs of ``rows`` rows from ``start`` on.

        Raises ``ViolationError`` if ``check`` and a promise is broken. ``named``: the number of row ``start`` in
        messages, if the batch is a part of a larger one.
        """
        named = start if named is None else named
        part = batch.slice(start, start + rows)
        if self.engine == "exact":
            return self._oracle_chunk(part, check, named)
        taken = self._taken(check)
        if taken:
            return self._fast_rows(taken, part, named, check, 1)
        outputs, violation = self.compiled.run(part, check=check)
        if violation is not None:
            row, op = violation
            self._violation(part, row, op, named + row)
        return tuple(outputs)

    @cached_property
    def _out_bits(self) -> int:
        """The width of the widest output as a signed integer, in bits."""
        return max((kind.width + (1 - kind.k) for kind in self.program.output_types), default=0)

    def _taken(self, check: bool) -> FastProgram | None:
        """Return the program for the kernel; None if the kernel does not support it (with its checks, if ``check``)."""
        if self._fast and check:
            try:
                self._fast.code(True)
            except InputError:
                if not self._may_fall_back:
                    raise
                self._fast, self.engine = None, "numpy"
        return self._fast

    def _threads(self, jobs: int | None) -> int:
        return self._jobs if jobs is None else fast.threads(jobs)

    def _fast_rows(
        self, program: FastProgram, batch: Batch, start: int, check: bool, jobs: int
    ) -> tuple[IntArray, ...]:
        outputs, broken = program.run_batch(batch, check=check, jobs=jobs)
        if broken is not None:
            self._violation(batch, broken, None, start + broken)
        return tuple(map(compact, outputs)) if program.facts.widest_out > 62 else tuple(outputs)

    def _oracle_chunk(self, batch: Batch, check: bool, named: int) -> tuple[IntArray, ...]:
        columns: list[list[int]] = [[] for _ in range(self.program.n_out)]
        for row in range(batch.rows):
            violations: list[oracle.Violation] = []
            values = oracle.trace(self.program, batch.row(row), violations=violations)
            if check and violations:
                self._violation(batch, row, violations[0].op.index, named + row)
            for column, value, kind in zip(
                columns, oracle.outputs_of(self.program, values), self.program.output_types, strict=True
            ):
                scaled = value * oracle.two(kind.f)
                column.append(scaled.numerator)
        arrays = [np.array(column, dtype=object) for column in columns]
        return tuple(compact(array) for array in arrays)

    def _planar_batch(self, x: NDArray[np.signedinteger[Any]]) -> Batch:
        elements = ports_of(self.program).inputs
        return Batch(x.shape[1], tuple(Column(row.astype(np.int64), e.lo) for row, e in zip(x, elements, strict=True)))

    def _violation(self, batch: Batch, row: int, op: int | None, named: int) -> NoReturn:
        """Raise the violation that the oracle finds; if it finds none, the engine has a bug.

        ``row``: the index of the row in ``batch``. ``named``: the number of this row in messages. ``op``: None if the
        engine knows only the row.
        """
        violations: list[oracle.Violation] = []
        oracle.trace(self.program, batch.row(row), violations=violations)
        found = next((v for v in violations if op is None or v.op.index == op), None)
        if found is None:
            what = f"violation at op {op}, row {named}" if op is not None else f"violation in row {named}"
            raise AssertionError(f"{self.engine} engine and oracle differ: {what}")
        raise ViolationError(f"row {named}: {found}")


def _fast(program: Program, engine: Engine) -> FastProgram | None:
    """Return the program for the kernel; None if ``auto`` must use the numpy engine."""
    problem = fast.why_not()
    if problem:
        if engine == "fast":
            raise EngineFailure(f"engine fast: {problem}; use engine numpy, which gives the same results")
        warning = EngineWarning(f"{problem}; the numpy engine gives the same results, slower")
        warnings.warn(warning, stacklevel=_frames_of_ours())
        return None
    kept: FastProgram | None = program.kept.get(_FAST)
    try:
        return kept or program.kept.setdefault(_FAST, FastProgram(program))
    except InputError:
        if engine == "fast":
            raise
        return None


def _frames_of_ours() -> int:
    """Return the ``stacklevel`` of the first frame outside this package, for ``warnings.warn``."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == __name__.split(".")[0]:
        level, frame = level + 1, frame.f_back
    return level


#: The key of the compiled program in ``Program.kept``.
_FAST = "golden.fast"

_APART = "C-contiguous, writable, and share no memory with the inputs"


def _are_numbers(x: Any) -> bool:
    """Return True if ``x`` is an array of numbers, none of which is masked."""
    return isinstance(x, np.ndarray) and x.dtype.kind in "fiub" and not np.ma.is_masked(x)


def _is_planar(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind == "i" and x.dtype.isnative and not np.ma.is_masked(x)


def _holds(out: NDArray[Any], shape: tuple[int, int], x: Any) -> bool:
    """Return True if results of ``shape`` can be written to ``out`` while ``x`` is being read."""
    fits = isinstance(out, np.ndarray) and out.shape == shape and out.flags.c_contiguous and out.flags.writeable
    return fits and not (isinstance(x, np.ndarray) and np.may_share_memory(out, x))
