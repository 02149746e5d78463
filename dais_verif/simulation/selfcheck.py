"""Compute the signature that a core's self-check must return, with the golden model.

``rtl/dais_selfcheck.v`` is the hardware: pseudo-random vectors in, outputs folded into 32 bits. This module does the
same, with the golden model instead of the core. Vectors are port bits, so promises are not checked: the golden model
continues with the quantised value, as the core does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import SimulatorError
from dais_verif.golden import Golden
from dais_verif.simulation.testbench.packed_rows import Words, row_words
from dais_verif.simulation.testbench.packing import pack_outputs
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch, Column
from dais_verif.spec.program.ports import Element, Ports, ports_of

__all__ = ["MOST_BEATS", "next_state", "selfcheck_signatures", "stimulus_words"]

#: More beats would take long in software; in hardware, 2^20 beats take a few milliseconds.
MOST_BEATS = 1 << 20

_CHUNK = 4096
_FIRST = 0x9E3779B9
_LANE = 32

Lanes = NDArray[np.uint32]


def next_state(lanes: Lanes) -> Lanes:
    """Return the next state of every lane: xorshift32, ``next`` in the register documentation."""
    lanes = lanes ^ (lanes << np.uint32(13))
    lanes = lanes ^ (lanes >> np.uint32(17))
    return lanes ^ (lanes << np.uint32(5))


def stimulus_words(ports: Ports, beats: int) -> Iterator[Words]:
    """Yield the vectors as packed rows, in chunks of at most 4096; bits beyond the port are 0."""
    bits = max(ports.input_bits, 1)
    words = row_words(bits)
    lanes = ((np.arange(1, -(-bits // _LANE) + 1, dtype=np.uint64) * _FIRST) & 0xFFFFFFFF).astype(np.uint32)
    last = (1 << (bits - _LANE * (len(lanes) - 1))) - 1
    for start in range(0, beats, _CHUNK):
        rows = np.zeros((min(_CHUNK, beats - start), 2 * words), dtype="<u4")
        for row in rows:
            row[: len(lanes)] = lanes
            lanes = next_state(lanes)
        rows[:, -(-bits // _LANE) - 1] &= np.uint32(last)
        yield rows.view("<u8")


def selfcheck_signatures(program: Program, beats: Iterable[int]) -> dict[int, int]:
    """Return the signature after each number of ``beats``, 1 to ``MOST_BEATS``.

    Raises ``InputError`` for other numbers, and for a program without output bits, whose signature has no meaning.
    """
    wanted = sorted(set(beats))
    wrong = [number for number in wanted if not 1 <= number <= MOST_BEATS]
    if wrong or not wanted:
        raise SimulatorError(f"a self-check has 1 to {MOST_BEATS} beats, not {wrong[0] if wrong else 'none'}")
    ports, golden = ports_of(program), Golden(program)
    if not ports.output_bits:
        raise SimulatorError.of(
            "the program has no output bits, so a self-check would compare nothing; leave out {axil}"
        )
    count = -(-ports.output_bits // _LANE)
    lanes = np.full(count, 0xFFFFFFFF, dtype=np.uint32)
    found: dict[int, int] = {}
    done = 0
    for words in stimulus_words(ports, wanted[-1]):
        batch = Batch(len(words), tuple(Column(_values(words, e), e.lo) for e in ports.inputs))
        raw = golden.run_raw(batch, check=False)
        for row in pack_outputs(raw, ports, batch.rows).view("<u4")[:, :count]:
            lanes = next_state(np.roll(lanes, 1)) ^ row
            done += 1
            if done == wanted[len(found)]:
                found[done] = _folded(lanes)
    return found


def _folded(lanes: Lanes) -> int:
    signature = np.zeros(1, dtype=np.uint32)
    for lane in lanes:
        signature = next_state(signature) ^ lane
    return int(signature[0])


def _values(words: Words, element: Element) -> NDArray[np.int64] | NDArray[np.object_]:
    """Return the bits of one element as unsigned integers, which pack to the same bits as the values of the element."""
    word, shift = divmod(element.offset, 64)
    if element.width == 0:
        return np.zeros(len(words), dtype=np.int64)
    if element.width > 62:
        mask = (1 << element.width) - 1
        rows = (int.from_bytes(row.tobytes(), "little") >> element.offset & mask for row in words)
        return np.fromiter(rows, dtype=object, count=len(words))
    values = words[:, word] >> np.uint64(shift)
    if shift + element.width > 64:
        values = values | words[:, word + 1] << np.uint64(64 - shift)
    return (values & np.uint64((1 << element.width) - 1)).astype(np.int64)
