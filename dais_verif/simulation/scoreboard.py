"""Compare every output bit with the expected one, chunk by chunk."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.text import counted
from dais_verif.simulation.departures import departure, followed
from dais_verif.simulation.testbench.exchange import require_maker, wait_for
from dais_verif.simulation.testbench.idle import driven
from dais_verif.simulation.testbench.job import Answer, Difference, Job, chunk_name
from dais_verif.simulation.testbench.packed_rows import Words, bits_of_row, row_words

__all__ = [
    "DIGESTED",
    "Chunk",
    "Scoreboard",
    "digest_of",
    "digest_of_sequence",
    "first_row_of",
    "other_in_bulk",
    "words_of_text",
]

#: Rows that share one digest.
DIGESTED = 256


@dataclass(frozen=True)
class Chunk:
    """Packed rows ``start`` to ``start + rows`` of a run."""

    number: int
    start: int
    inputs: Words
    expected: Words

    @property
    def rows(self) -> int:
        """The number of vectors of the chunk."""
        return len(self.inputs)

    @classmethod
    def wait(cls, job: Job, number: int) -> Chunk | None:
        """Return chunk ``number`` as soon as it exists, or None if an open job ended before it.

        Raises ``EOFError`` if the process that makes it has ended.
        """
        path = Path(job.chunks) / chunk_name(number)
        if not wait_for(path, job.maker, lambda: job.ends_before(number)):
            return None
        rows = job.starts[number + 1] - job.starts[number]
        sizes = rows * row_words(job.input_bits), rows * row_words(job.output_bits)
        words = np.fromfile(path, dtype="<u8")
        if words.size != sum(sizes):
            raise ValueError(f"{path} holds {words.size} words, must be {sum(sizes)}")
        parts = words[: sizes[0]].reshape(rows, -1), words[sizes[0] :].reshape(rows, -1)
        path.unlink()
        return cls(number, job.starts[number], *parts)


class Scoreboard:
    """Counts comparisons and keeps the first differences. Chunks may come in any order, from any thread."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._lock = threading.Lock()
        self._digest = 0
        self._digests: dict[str, str] = {}
        self._followed, self._departures = followed(job.output_bits), dict[str, str]()
        self._wrong = 0
        self._rows = self._bulk_rows = self._mismatching = self._unknown = self._filled = 0
        self._first_mismatch: Difference | None = None
        self._first_unknown: Difference | None = None
        self._seconds: dict[str, float] = {}
        #: The latency of a clocked design, as soon as known.
        self.latency: int | None = None
        self.begins = 0
        self._write_progress()

    def compare(
        self,
        chunk: Chunk,
        found: Words,
        unknown: dict[int, str] | None = None,
        *,
        bulk: bool = False,
        filled: bool = False,
    ) -> None:
        """Compare the whole ``chunk``, whose inputs are the rows that were driven (``idle.filled``).

        ``unknown``: the bits of rows with X or Z, by number of the row in the chunk; ``filled``: found with other
        values for X.
        """
        begin = time.monotonic()
        unknown = unknown or {}
        mismatching = (found != chunk.expected).any(axis=1)
        mismatching[list(unknown)] = False
        rows = np.flatnonzero(mismatching)
        first = self._difference(chunk, int(rows[0]), found) if rows.size else None
        first_unknown = self._difference(chunk, min(unknown), found, unknown[min(unknown)]) if unknown else None
        digest = self._digest_of(chunk, found, unknown)
        wrong = _as_number((found[rows] ^ chunk.expected[rows]) if rows.size else found[:0])
        wrong |= _wrong_of_unknown(chunk.expected, unknown)
        departures = self._departures_of(chunk, found, rows.tolist(), unknown)
        with self._lock:
            self._digest ^= digest or 0
            if digest is not None:
                self._digests[str(chunk.number)] = f"{digest:064x}"
            self._departures |= departures
            self._wrong |= wrong
            self._rows += chunk.rows
            self._bulk_rows += chunk.rows if bulk else 0
            self._mismatching += rows.size
            self._unknown += len(unknown)
            self._filled += len(unknown) if filled else 0
            self._first_mismatch = _earlier(self._first_mismatch, first)
            self._first_unknown = _earlier(self._first_unknown, first_unknown)
            self._write_progress()
        self.spent("compare", begin)

    def tell(self, rows: int) -> None:
        """Report progress within a chunk: the number of its rows that are done."""
        require_maker(self._job.maker)
        with self._lock:
            self._write_progress(rows)

    def spent(self, stage: str, begin: float) -> None:
        """Add the time since ``begin``, of ``time.monotonic()``, to ``stage``."""
        with self._lock:
            self._seconds[stage] = self._seconds.get(stage, 0.0) + time.monotonic() - begin

    def answer(self) -> Answer:
        """Return the results so far."""
        return Answer(
            rows=self._rows,
            bits=self._rows * self._job.output_bits,
            bulk_rows=self._bulk_rows,
            mismatching_rows=self._mismatching,
            unknown_rows=self._unknown,
            filled_rows=self._filled,
            digest=f"{self._digest:064x}",
            digests=self._digests,
            wrong=f"{self._wrong:x}",
            departures=self._departures,
            first_mismatch=self._first_mismatch,
            first_unknown=self._first_unknown,
            latency=self.latency,
            begins=self.begins,
            seconds=self._seconds,
        )

    def _difference(self, chunk: Chunk, row: int, found: Words, text: str | None = None) -> Difference:
        bits = self._job.output_bits
        return Difference(
            chunk.start + row,
            bits_of_row(chunk.inputs, row, driven(self._job.interface).input_bits),
            bits_of_row(chunk.expected, row, bits),
            text or bits_of_row(found, row, bits),
        )

    def _departures_of(self, chunk: Chunk, found: Words, rows: list[int], unknown: dict[int, str]) -> dict[str, str]:
        """Return the differences of the wrong rows in ``chunk``, as far as they are among the first rows of the run."""
        bits = self._job.output_bits
        return {
            str(chunk.start + row): departure(
                bits_of_row(chunk.expected, row, bits), unknown.get(row) or bits_of_row(found, row, bits)
            )
            for row in (*rows, *unknown)
            if chunk.start + row < self._followed
        }

    def _digest_of(self, chunk: Chunk, found: Words, unknown: dict[int, str]) -> int | None:
        """Return the digest of one chunk, or None if the job does not need it.

        Digests are combined by exclusive or, so the order of chunks does not matter; nor does their size, since chunks
        begin at multiples of ``DIGESTED`` rows.
        """
        if self._job.digested is not None and chunk.number >= self._job.digested:
            return None
        return digest_of(chunk.start, found, unknown)

    def _write_progress(self, more: int = 0) -> None:
        # Not written atomically: the number is read many times per second, so a torn one is shown wrong only once.
        Path(self._job.progress).write_text(f"{self._rows + more}\n")


def other_in_bulk(first: Chunk, found: Words, differing: list[int], latency: int | None) -> str:
    """Describe the fault of a clocked design whose outputs differ with and without bubbles, stalls and resets.

    ``differing``: the rows that differ; ``found``: the rows of ``first`` without bubbles, stalls and resets.
    """
    wrong = int((found != first.expected).any(axis=1).sum())
    if 2 * wrong > len(found):
        return (
            f"{wrong} of the first {len(found)} vectors are wrong {counted(latency or 0, 'edge')} after their inputs:"
            " the latency is wrong, or the RTL is wrong"
        )
    return f"vector {first.start + min(differing)} differs between the runs with and without bubbles, stalls and resets"


def digest_of(start: int, found: Words, unknown: Mapping[int, str]) -> int:
    """Return the digest of packed output rows of a run; the first has number ``start``, a multiple of ``DIGESTED``.

    ``unknown``: the bits of rows with X or Z, by number of the row, counted from ``start``. Digests of parts of a run
    are combined by exclusive or.
    """
    whole = 0
    for first in range(0, len(found), DIGESTED):
        digest = hashlib.sha256((start + first).to_bytes(8, "little"))
        digest.update(np.ascontiguousarray(found[first : first + DIGESTED]).data)
        for row in sorted(row for row in unknown if first <= row < first + DIGESTED):
            digest.update(f"{start + row} {unknown[row]}\n".encode())
        whole ^= int.from_bytes(digest.digest(), "big")
    return whole


def first_row_of(sequence: int) -> int:
    """Return the number that the first row of a machine's ``sequence`` has in digests of a run."""
    return sequence << 40


def digest_of_sequence(number: int, rows: Words, known: Words | None) -> int:
    """Hash the packed output ``rows`` of sequence ``number``, two per cycle; bits not in ``known`` count as 0."""
    return digest_of(first_row_of(number), rows if known is None else rows & known, {})


def _as_number(differing: Words) -> int:
    """Return the bits that are 1 in any of the packed rows, as one number."""
    return int.from_bytes(np.bitwise_or.reduce(differing, axis=0).tobytes(), "little") if len(differing) else 0


def _wrong_of_unknown(expected: Words, unknown: Mapping[int, str]) -> int:
    """Return the bits that are X, Z or not as expected in any of the rows with X or Z, as one number."""
    if not unknown:
        return 0
    found = np.frombuffer("".join(unknown.values()).encode(), dtype=np.uint8).reshape(len(unknown), -1)[:, ::-1]
    octets = np.ascontiguousarray(expected[list(unknown)]).view(np.uint8)
    bits = np.unpackbits(octets, axis=1, bitorder="little")[:, : found.shape[1]]
    differing = (found != bits + np.uint8(ord("0"))).any(axis=0)
    return int.from_bytes(np.packbits(differing, bitorder="little").tobytes(), "little")


def _earlier(one: Difference | None, other: Difference | None) -> Difference | None:
    found = [difference for difference in (one, other) if difference]
    return min(found, key=lambda difference: difference.row, default=None)


def words_of_text(found: list[str], bits: int) -> tuple[Words, dict[int, str]]:
    """Convert port bits as text, most significant first, to packed words; also return rows with X or Z, read as 0."""
    text = np.frombuffer("".join(found).encode(), dtype=np.uint8).reshape(len(found), -1)
    values: NDArray[np.uint8] = text[:, ::-1] - np.uint8(ord("0"))
    known = values <= 1
    rows = np.flatnonzero(~known.all(axis=1)).tolist()
    packed = np.zeros((len(found), 8 * row_words(bits)), dtype=np.uint8)
    narrow = np.packbits(np.where(known, values, 0), axis=1, bitorder="little")
    packed[:, : narrow.shape[1]] = narrow
    words = packed.view("<u8")
    if rows:
        words[rows] = 0
    return words, {row: found[row] for row in rows}
