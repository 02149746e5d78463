"""Coverage probes of every op and output in a run: one byte per probe, 0 until it is hit.

``Places`` gives the positions of probes; ``CoverageProbes`` runs a program on vectors and sets them. The kernel sets
them during the computation (``kernel/seen.h``); if the kernel is not available or does not support the program, the
numpy engine sets them.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import InputError, ViolationError
from dais_verif.golden import CHUNK, Golden, fast
from dais_verif.golden.batch import RULES, Mask, Step, msb_of, output_of
from dais_verif.golden.fast import FastProgram
from dais_verif.golden.integer_width import is_wide
from dais_verif.spec.program import FixedType, Op, Program
from dais_verif.spec.program.numbers import Batch, IntArray
from dais_verif.spec.program.opcodes import MUXES, QUANTISATIONS, RELUS, Code, high_int32, low_int32

__all__ = ["ARM", "LOST", "WRAPPED", "Places", "ProbeBytes", "CoverageProbes"]

#: One byte per probe: 0 or 1.
ProbeBytes = NDArray[np.uint8]

#: Offsets of the probes of events, after the general probes of an op. Each event has three probes: it occurred while a
#: condition was true, it occurred while the condition was false, and it did not occur. WRAPPED, LOST: quantisation
#: changed the high or the low bits of the value; the condition: the exact value was negative. ARM: the arms of a mux
#: would have led to different values; the condition: the MSB was 1.
WRAPPED, LOST, ARM = 0, 3, 6


class Places:
    """The positions of the probes in the array for ``program``.

    ``at``: (n_ops + n_out + 1,), the position of the first probe of each op, then of each output, and the total. An op
    or output of w > 0 bits has w probes for bits that were 0, w for bits that were 1, one for the value 0, and one for
    a positive value. These are followed by the probes of WRAPPED and LOST for relus and quants; of WRAPPED, LOST and
    ARM for muxes; and by one probe per table entry for lookups. An op or output without bits has no probes.
    """

    def __init__(self, program: Program) -> None:
        columns = program.columns
        op_widths = columns.k + columns.i + columns.f
        out_widths = np.array([kind.width for kind in program.output_types], dtype=np.int64)
        #: The width of each op, then of each output.
        self.widths = np.concatenate([op_widths, out_widths])
        more = np.zeros(program.n_ops, dtype=np.int64)
        more[np.isin(columns.code, (*RELUS, *QUANTISATIONS))] = ARM
        more[np.isin(columns.code, MUXES)] = ARM + 3
        sizes = np.array([len(table) for table in program.tables], dtype=np.int64)
        lookups = np.flatnonzero(columns.code == Code.LOOKUP)
        more[lookups] = sizes[low_int32(columns.data[lookups])] if lookups.size else 0
        sizes = 2 * self.widths + 2
        sizes[: program.n_ops] += more
        sizes[self.widths == 0] = 0
        self.at = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    @property
    def size(self) -> int:
        """The number of probes."""
        return int(self.at[-1])

    @cached_property
    def more(self) -> NDArray[np.int64]:
        """The position of each op's probes of WRAPPED, or of its first table entry."""
        found: NDArray[np.int64] = self.at[:-1] + 2 * self.widths + 2
        return found


class CoverageProbes:
    """A program prepared for coverage. ``check``: a broken promise raises an error.

    ``engine``: ``auto`` or ``numpy``.
    """

    def __init__(self, program: Program, *, check: bool = True, engine: str = "auto") -> None:
        self.program, self.places, self._check = program, Places(program), check
        self._golden = Golden(program, engine="numpy")
        self._fast = _fast(program, self.places, check) if engine == "auto" else None

    @property
    def engine(self) -> str:
        """The engine that runs: ``fast`` or ``numpy``."""
        return "fast" if self._fast else "numpy"

    def nothing(self) -> ProbeBytes:
        """Return new probes, none of which is hit."""
        return np.zeros(self.places.size, dtype=np.uint8)

    def see(self, batch: Batch, seen: ProbeBytes, *, jobs: int = 1, named: int = 0) -> None:
        """Set the probes in ``seen`` that the vectors of ``batch`` hit.

        Raises ``ViolationError`` if promises are checked and one is broken. ``named``: the number of the first row in
        messages.
        """
        if self._fast:
            _, broken = self._fast.run_batch(batch, check=self._check, jobs=jobs, seen=seen)
            if broken is not None:
                row = batch.slice(broken, broken + 1)
                Golden(self.program).run_raw(row, named=named + broken)
                raise AssertionError(f"fast engine and oracle differ: violation in row {named + broken}")
            return
        for start in range(0, batch.rows, CHUNK):
            part = batch.slice(start, start + CHUNK)
            if self._check:
                self._golden.chunk(part, 0, named=named + start)
            _see(self.program, self.places, part, self._golden.compiled.trace(part), seen)

    @cached_property
    def _judge(self) -> Golden:
        return Golden(self.program)

    def breaks(self, batch: Batch) -> bool:
        """Return True if a vector of ``batch`` breaks a promise."""
        try:
            self._judge.run_raw(batch)
        except ViolationError:
            return True
        return False


def _fast(program: Program, places: Places, check: bool) -> FastProgram | None:
    if fast.why_not():
        return None
    try:
        made = FastProgram(program, places=places.at)
        made.code(check)
    except InputError:
        return None
    return made


# ------------------------------------------------------------------ in the numpy engine


def _see(program: Program, places: Places, batch: Batch, values: list[IntArray | None], seen: ProbeBytes) -> None:
    if batch.rows == 0:
        return
    for op in program.ops:
        if op.type.width:
            raw = values[op.index]
            assert raw is not None
            _value(raw, op.type.width, seen[places.at[op.index] :])
            _beyond_the_value(Step(program, op, values, batch, _is_wide(program, op)), seen[places.more[op.index] :])
    for j, (index, _, negated) in enumerate(program.outputs):
        kind = program.output_types[j]
        if kind.width:
            raw = values[index]
            assert raw is not None
            wide = raw.astype(object) if negated else raw
            _value(output_of(wide, negated), kind.width, seen[places.at[program.n_ops + j] :])


def _is_wide(program: Program, op: Op) -> bool:
    return is_wide(op, [program.ops[i].type for i in op.operands])


def _value(raw: IntArray, width: int, seen: ProbeBytes) -> None:
    """Set the general probes of a value, at the start of ``seen``."""
    some, all_of = int(np.bitwise_or.reduce(raw)), int(np.bitwise_and.reduce(raw))
    for bit in range(width):
        seen[bit] |= not all_of >> bit & 1
        seen[width + bit] |= some >> bit & 1
    seen[2 * width] |= bool((raw == 0).any())
    seen[2 * width + 1] |= bool((raw > 0).any())


def _beyond_the_value(s: Step, seen: ProbeBytes) -> None:
    op = s.op
    if op.code in RELUS or op.code in QUANTISATIONS:
        exact = RULES[op.code](s)
        _changes(*_change(s.widened(exact.raw), exact.f, op.type), exact.raw < 0, seen)
    elif op.code in MUXES:
        _of_mux(s, seen)
    elif op.code == Code.LOOKUP:
        size = len(s.program.tables[low_int32(op.data)])
        index = s.raw(op.id0) - (s.type_of(op.id0).raw_min + high_int32(op.data))
        seen[np.unique(index[(index >= 0) & (index < size)]).astype(np.int64)] = 1


def _of_mux(s: Step, seen: ProbeBytes) -> None:
    op = s.op
    msb = msb_of(s.raw(op.condition), s.type_of(op.condition))
    a, b = s.raw(op.id0), -s.raw(op.id1) if op.spec.negate else s.raw(op.id1)
    f_a, f_b = s.type_of(op.id0).f, s.type_of(op.id1).f - high_int32(op.data)
    first, second = _change(a, f_a, op.type), _change(b, f_b, op.type)
    wrapped, lost = (np.where(msb, x, y) for x, y in zip(first, second, strict=True))
    _changes(wrapped, lost, np.where(msb, a < 0, b < 0), seen)
    pattern = (1 << op.type.width) - 1
    differs = (_floored(a, f_a, op.type) & pattern) != (_floored(b, f_b, op.type) & pattern)
    _three(differs.astype(bool), msb, seen[ARM:])


def _floored(raw: IntArray, f: int, kind: FixedType) -> IntArray:
    """Return exact results in units of ``2**-f``, floored to units of ``kind``."""
    drop = f - kind.f
    return raw << -drop if drop < 0 else raw >> (drop if raw.dtype == object else min(drop, 63))


def _change(raw: IntArray, f: int, kind: FixedType) -> tuple[Mask, Mask]:
    """Return in which rows quantisation changes the high bits of exact results, and in which rows the low bits."""
    floored = _floored(raw, f, kind)
    lost = raw & ((1 << max(f - kind.f, 0)) - 1) if raw.dtype == object or f - kind.f < 62 else raw
    wrapped = (floored < kind.raw_min) | (floored > kind.raw_max)
    return wrapped.astype(bool), (lost != 0).astype(bool)


def _changes(wrapped: Mask, lost: Mask, negative: IntArray, seen: ProbeBytes) -> None:
    _three(wrapped, negative, seen[WRAPPED:])
    _three(lost, negative, seen[LOST:])


def _three(found: Mask, condition: IntArray, seen: ProbeBytes) -> None:
    condition = condition.astype(bool)
    seen[0] |= bool((found & condition).any())
    seen[1] |= bool((found & ~condition).any())
    seen[2] |= bool((~found).any())
