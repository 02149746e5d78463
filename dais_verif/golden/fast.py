"""The fast engine: plane code made and run by the C kernel (see ``kernel/``), which must equal the oracle.

It reads whole arrays without a copy, reals or integers, by rows or by columns, and takes one to three operations of
the widest registers per bit of an op and 512 rows. The numpy engine is used for unsupported programs (inputs or outputs
over 64 bits, lookups by more than 31 bits) and on machines without the compiled kernel.

Environment: ``DAIS_VERIF_ISA`` forces an instruction set, ``DAIS_VERIF_THREADS`` sets the number of threads.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import EngineError, EngineFailure
from dais_verif.spec.program import OPCODES, Program
from dais_verif.spec.program.numbers import Batch, IntArray, floor_to_grid, require_finite

__all__ = [
    # about the kernel on this machine
    "ISAS",
    "isa",
    "threads",
    "why_not",
    # about one program
    "FastProgram",
    "beyond",
]

#: Instruction sets that the kernel is compiled for, best first.
ISAS = ("avx512", "avx2", "base")

#: Rows per pass of the kernel; threads get multiples of it.
PASS = 2048

#: Threads are started only for at least this many words of code in all passes, which take about four milliseconds.
_WORTH_THREADS = 2_000_000

#: Larger arrays always get new memory; smaller ones are often where freed ones were.
_NEW_MEMORY = 32 << 20
_PAGE = 4096

_NOTHING = np.zeros(0)
_NO_PLACES = np.zeros(0, dtype=np.int64)
_UNWATCHED = np.zeros(0, dtype=np.uint8)
_PROMISES = [code for code, spec in OPCODES.items() if spec.promise]
#: The kernel's letters for numpy's kinds of numbers.
_KINDS = {"f": "f", "i": "i", "u": "u", "b": "u"}
_DOUBLE = np.dtype(np.float64)
#: The flags of an array that is C-contiguous and aligned.
_BY_ROWS = 0x101
_INTEGERS = (np.int8, np.int16, np.int32, np.int64)


class _Loaded(NamedTuple):
    module: Any
    problem: str


@cache
def _load() -> _Loaded:
    try:
        module = importlib.import_module("dais_verif.golden._kernel")
    except ImportError:
        return _Loaded(None, "the C kernel was not built (no C compiler at installation?)")
    sources = sorted((Path(__file__).parent / "kernel").glob("*.[ch]"))
    found = sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    if sources and found != module.SOURCE_HASH:
        return _Loaded(
            None, "the C kernel was built from other sources; install again (or: setup.py build_ext --inplace)"
        )
    return _Loaded(module, "")


def why_not() -> str:
    """Return why the fast engine cannot run on this machine, in a few words; empty if it can."""
    return _load().problem


def beyond(program: Program) -> str:
    """Return why the kernel cannot run ``program``, in a few words; empty if it can, or if that is still unknown."""
    widths = [kind.width + (1 - kind.k) for kind in program.output_types]
    if max(widths, default=0) > 64:
        return f"output {widths.index(max(widths))} has over 64 bits"
    return ""


def isas() -> list[str]:
    """Return the instruction sets of this machine for which the kernel has code, the best first."""
    module = _load().module
    return [name for name in ISAS if module.has_isa(name)]


@cache
def isa() -> str:
    """Return the instruction set that the kernel uses: the best of this machine, or ``DAIS_VERIF_ISA``."""
    module = _load().module
    wanted = os.environ.get("DAIS_VERIF_ISA", "")
    if not wanted:
        return next(name for name in ISAS if module.has_isa(name))
    if wanted not in ISAS or not module.has_isa(wanted):
        able = ", ".join(name for name in ISAS if module.has_isa(name))
        raise EngineFailure(f"DAIS_VERIF_ISA is {wanted!r}; this machine has: {able}")
    return wanted


def threads(jobs: int | None) -> int:
    """Return ``jobs``, or else ``DAIS_VERIF_THREADS``, or else 1. Raises ``InputError`` if the number is not valid."""
    if jobs is None:
        text = os.environ.get("DAIS_VERIF_THREADS")
        if text is None:
            return 1
        if not text.isdecimal() or int(text) < 1:
            raise EngineError(f"DAIS_VERIF_THREADS is {text!r}; it must be a number of threads, 1 or more")
        return int(text)
    if not isinstance(jobs, int) or isinstance(jobs, bool) or jobs < 1:
        raise EngineError(f"jobs is {jobs!r}; it must be a number of threads, 1 or more")
    return jobs


class Facts(NamedTuple):
    """Facts about a program from the kernel's compiler."""

    #: Ops in the order in which they are run, (n_ops,) int32; the last ``n_ops - needed`` ops only run if promises are
    #: checked.
    order: NDArray[np.int32]
    needed: int
    #: Promise ops proved to keep their promise, (n_ops,) bool.
    safe: NDArray[np.bool_]
    #: Exponent of the weight of bit 0 of every input, (n_in,) int64: the weight is ``2**in_lo``.
    in_lo: NDArray[np.int64]
    #: The numbers of planes (bits of live values), of runs (chains, gates, loads, stores) and of words of the code.
    planes: int
    runs: int
    words: int
    #: Bits of the widest output as a signed integer.
    widest_out: int


class FastProgram:
    """A program compiled by the kernel, once for checked and once for unchecked runs, each when first needed.

    ``saved``: ops whose raw values are returned in addition, after the outputs. ``places``: the positions of coverage
    probes (``coverage_probes.Places.at``), for coverage.
    """

    def __init__(
        self,
        program: Program,
        *,
        saved: tuple[int, ...] = (),
        fuse: bool = True,
        locality: bool = True,
        places: NDArray[np.int64] | None = None,
    ) -> None:
        self.program = program
        self._extra = np.array(saved, dtype=np.int64)
        self._options = (fuse, locality)
        self._places = _NO_PLACES if places is None else np.ascontiguousarray(places, dtype=np.int64)
        self._codes: dict[bool, Any] = {}
        self.n_out = program.n_out + len(saved)
        self.code(False)

    def code(self, checked: bool) -> Any:
        """Return the kernel's code object. Raises ``InputError`` if the kernel does not support the program."""
        found = self._codes.get(checked)
        if found is None:
            # If every promise is proved, there is nothing to check.
            found = self._codes[False] if checked and self._all_proved else self._compile(checked)
            if found is None:
                raise EngineError("the fast engine cannot take this program (over 64 bits in, out or in a lookup)")
            self._codes[checked] = found
        return found

    @cached_property
    def _all_proved(self) -> bool:
        return bool(self.facts.safe[np.isin(self.program.columns.code, _PROMISES)].all())

    def _compile(self, checked: bool) -> Any:
        program, zeros = self.program, np.zeros(len(self._extra), dtype=np.int64)
        sizes = np.array([len(table) for table in program.tables], dtype=np.int64)
        # A 0 is appended to each table; rows with an index out of bounds read it.
        entries = [np.append(table, 0) for table in program.tables]
        return _load().module.compile(
            *(np.ascontiguousarray(column) for column in program.columns),
            program.inp_shift,
            np.concatenate([program.out_idx, self._extra]),
            np.concatenate([program.out_neg, zeros]),
            sizes,
            np.concatenate(entries).astype(np.int64) if entries else sizes,
            self._places,
            *program.terms,
            checked,
            *self._options,
        )

    @cached_property
    def facts(self) -> Facts:
        """Facts about the unchecked code."""
        raw = self.code(False).facts()
        return Facts(
            np.frombuffer(raw["order"], dtype=np.int32),
            raw["needed"],
            np.frombuffer(raw["safe"], dtype=np.bool_),
            np.frombuffer(raw["in_lo"], dtype=np.int64),
            raw["planes"],
            raw["runs"],
            raw["words"],
            raw["widest_out"],
        )

    @cached_property
    def narrowest(self) -> type[np.signedinteger[Any]]:
        """The narrowest of int8, int16, int32, int64 that holds every output."""
        return next(kind for kind in _INTEGERS if np.dtype(kind).itemsize * 8 >= self.facts.widest_out)

    @cached_property
    def gives_doubles(self) -> bool:
        """True if float64 holds every output, whatever the inputs."""
        kinds = self.program.output_types
        return all(abs(kind.f) <= 900 and kind.width + (1 - kind.k) <= 54 for kind in kinds)

    @cached_property
    def _in_scale(self) -> NDArray[np.float64] | None:
        lo = self.facts.in_lo
        return np.ldexp(1.0, -lo) if (np.abs(lo) <= 900).all() else None

    @cached_property
    def _out_scale(self) -> NDArray[np.float64]:
        return np.ldexp(1.0, np.array([-kind.f for kind in self.program.output_types], dtype=np.int64))

    @cached_property
    def takes_reals(self) -> bool:
        """True if floating-point numbers can be read directly."""
        return self._in_scale is not None

    def takes(self, x: NDArray[Any]) -> bool:
        """Return True if ``run_doubles`` accepts ``x``: floats up to float64, integers up to 64 bits, booleans."""
        return x.itemsize <= 8 and (self.takes_reals or x.dtype.kind != "f") and x.dtype.kind in "fiub"

    def run_doubles(
        self, x: NDArray[Any], *, check: bool, jobs: int = 1, out: NDArray[np.float64] | None = None
    ) -> tuple[NDArray[np.float64], int | None]:
        """Return real outputs (rows, n_out) for real inputs (rows, n_in), and the first row that breaks a promise.

        Requires ``takes(x)`` and ``gives_doubles``. ``x`` is read directly if its rows or its columns are contiguous,
        else it is copied in its own type. Raises ``InputError`` for NaN or infinity.
        """
        rows = len(x)
        y = _outputs((rows, self.program.n_out), _DOUBLE, jobs) if out is None else out
        if x.dtype is _DOUBLE and x.flags.num & _BY_ROWS == _BY_ROWS:  # a call with one row takes 2 µs
            return y, self._run(check, jobs, rows, x, "f", True, y, 0, _NOTHING, self._in_scale, self._out_scale)
        given, by_rows = _contiguous(x)
        kind = _KINDS[x.dtype.kind]
        shift, scale = (_NOTHING, self._in_scale) if kind == "f" else (self.facts.in_lo, _NOTHING)
        return y, self._run(check, jobs, rows, given, kind, by_rows, y, 0, shift, scale, self._out_scale)

    def run_planar(
        self,
        x: NDArray[np.signedinteger[Any]],
        *,
        check: bool,
        jobs: int = 1,
        shift: NDArray[np.int64] | None = None,
        out: NDArray[np.signedinteger[Any]] | None = None,
    ) -> tuple[NDArray[np.signedinteger[Any]], int | None]:
        """Return raw outputs (n_out, rows) for raw inputs (n_in, rows), and the first row that breaks a promise.

        Inputs, int8 to int64, are in units of ``2**in_lo``; with ``shift`` (n_in,), in units of ``2**(in_lo - shift)``.
        Each output is in units of ``2**-f`` of its type; saved values follow.
        """
        rows = x.shape[1]
        y = _outputs((self.n_out, rows), np.dtype(self.narrowest), jobs) if out is None else out
        no_shift = _NOTHING if shift is None else shift
        broken = self._run(check, jobs, rows, x, "i", False, y, y.itemsize, no_shift, _NOTHING, _NOTHING)
        return y, broken

    def run_batch(
        self,
        batch: Batch,
        *,
        check: bool,
        jobs: int = 1,
        seen: NDArray[np.uint8] = _UNWATCHED,
        isa_name: str | None = None,
    ) -> tuple[list[IntArray], int | None]:
        """Return raw outputs and saved values, int64 arrays (rows,), and the first row that breaks a promise.

        ``seen``: coverage probes, one byte each; probes that are hit are set to 1. ``isa_name``: the instruction set,
        one of ``isas()``; None: that of ``isa()``.
        """
        y = _outputs((self.n_out, batch.rows), np.dtype(np.int64), jobs)
        if batch.doubles is not None and self._in_scale is not None:
            given: tuple[Any, ...] = (batch.doubles, "f", True, y, y.itemsize, _NOTHING, self._in_scale, _NOTHING)
        else:
            x, shift = self._planar(batch)
            given = (x, "i", False, y, y.itemsize, shift, _NOTHING, _NOTHING)
        return list(y), self._run(check, jobs, batch.rows, *given, seen=seen, isa_name=isa_name)

    def time_ops(self, batch: Batch) -> NDArray[np.int64]:
        """Return the nanoseconds of each op, then of each output, in one unchecked run on one thread: (n_ops + n_out,).

        An op that is computed within its reader, or that only renames bits, takes no time.
        """
        x, shift = self._planar(batch)
        y = np.empty((self.n_out, batch.rows), dtype=self.narrowest)
        spent = np.zeros(self.program.n_ops + self.n_out, dtype=np.int64)
        rows, nothing = batch.rows, _NOTHING
        given = (isa(), x, rows, "i", x.itemsize, False, y, rows, y.itemsize, 0, rows, shift, nothing, nothing)
        self.code(False).run(*given, spent)
        return spent

    def _planar(self, batch: Batch) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        lo = self.facts.in_lo.tolist()
        x = np.empty((len(lo), batch.rows), dtype=np.int64)
        shift = np.zeros(len(lo), dtype=np.int64)
        for j, column in enumerate(batch.columns):
            if column.mantissa.dtype == object:
                wrapped = (floor_to_grid(column, -lo[j]).astype(object) & ((1 << 64) - 1)).astype(np.uint64)
                x[j] = wrapped.view(np.int64)
            else:
                x[j], shift[j] = column.mantissa, lo[j] - column.exponent
        return x, shift

    def _run(
        self,
        check: bool,
        jobs: int,
        rows: int,
        *buffers: Any,
        seen: NDArray[np.uint8] = _UNWATCHED,
        isa_name: str | None = None,
    ) -> int | None:
        run = (self._codes.get(check) or self.code(check)).run
        x, kind, by_rows, y, y_size, shift, in_scale, out_scale = buffers
        size, chosen = x.itemsize, isa_name or isa()

        def piece(first: int, last: int) -> Any:
            given = (chosen, x, rows, kind, size, by_rows, y, rows, y_size, first, last, shift, in_scale, out_scale)
            return run(*given, _NO_PLACES, seen) if seen.size else run(*given)

        if jobs == 1 or -(-rows // PASS) * self.facts.words < _WORTH_THREADS:
            broken, bad_row = piece(0, rows)
        else:
            found = _in_threads(piece, _pieces(rows, jobs), jobs)
            broken = min((row for row, _ in found if row >= 0), default=-1)
            bad_row = max(row for _, row in found)
        if bad_row >= 0 or (broken >= 0 and kind == "f"):
            # NaN and infinity in any row are refused before promises are judged.
            require_finite(x if by_rows else x.T)
        return None if broken < 0 else broken


def _outputs(shape: tuple[int, int], kind: np.dtype[Any], jobs: int) -> NDArray[Any]:
    """Return an array to be filled by so many threads.

    The system clears each page of new memory when it is first written. One thread writes to all of them first: if they
    were cleared between its rows, this would drive its data out of the cache. Several threads share this work.
    """
    y = np.empty(shape, dtype=kind)
    if jobs == 1 and y.nbytes > _NEW_MEMORY:
        y.reshape(-1).view(np.uint8)[::_PAGE] = 0
    return y


def _contiguous(x: NDArray[Any]) -> tuple[NDArray[Any], bool]:
    """Return ``x`` (rows, n), or its transpose, C-contiguous in native byte order, and True if it is not transposed."""
    if not (x.flags.aligned and x.dtype.isnative):
        x = x.astype(x.dtype.newbyteorder("="), order="K")
    if x.flags.c_contiguous and x.shape[1] > 1:
        return x, True
    return (x.T, False) if x.flags.f_contiguous else (np.ascontiguousarray(x), True)


def _pieces(rows: int, jobs: int) -> list[tuple[int, int]]:
    """Divide the rows into ranges (first, last) of whole passes, several per thread to balance the load."""
    step = -(-rows // (jobs * 8 * PASS)) * PASS
    return [(first, min(first + step, rows)) for first in range(0, rows, step)]


def _in_threads(
    piece: Callable[[int, int], tuple[int, int]], pieces: list[tuple[int, int]], jobs: int
) -> list[tuple[int, int]]:
    """Call ``piece`` for all ``pieces`` in threads, and return its results; the kernel releases Python's lock."""
    left, found, errors = iter(pieces), list[tuple[int, int]](), list[BaseException]()

    def work() -> None:
        try:
            for rows in left:
                found.append(piece(*rows))
        except BaseException as error:
            errors.append(error)

    others = [Thread(target=work) for _ in range(min(jobs, len(pieces)) - 1)]
    for thread in others:
        thread.start()
    work()
    for thread in others:
        thread.join()
    if errors:
        raise errors[0]
    return found
