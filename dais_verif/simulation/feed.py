"""Feed vectors to the simulations: stimulus, golden model and packing, chunk by chunk.

Chunks are made while earlier ones are simulated, at most a few ahead of the slowest simulation. Each chunk is written
once and hard-linked into the folder of every simulation, which removes its link when done: the disk holds only chunks
in flight, unless all are to be kept.

A simulation that need not run all chunks has a separate feed, so that it does not delay the others, and can be stopped
early.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from dais_verif.base.files import link_or_copy
from dais_verif.base.stopwatch import Stopwatch
from dais_verif.base.toolchain import process
from dais_verif.golden import Golden
from dais_verif.hardware.ports.encode import encode_outputs
from dais_verif.hardware.ports.interface import Dut
from dais_verif.simulation.testbench.job import chunk_name, write_end
from dais_verif.simulation.testbench.packed_rows import bits_of_row, row_words
from dais_verif.simulation.testbench.packing import pack_inputs, pack_outputs
from dais_verif.spec.program.numbers import Batch
from dais_verif.spec.program.ports import Ports
from dais_verif.stimulus import Vectors

__all__ = ["Feed", "Noted", "Outlet", "chunk_size"]

_MOST_ROWS = 16384
_MOST_BYTES = 8_000_000
#: Chunk sizes are multiples of this, as the digest of outputs requires.
_FEWEST_ROWS = 256
#: Chunks that may wait for a simulation.
_AHEAD = 12
_PAUSE = 0.002
#: Chunks that grow are at most this share of the rows before them.
_GROWTH = 16


class Noted(NamedTuple):
    """The ports' bits of one row as sent to the simulations, most significant first."""

    inputs: str
    expected: str


class Outlet:
    """The chunks of a simulation: those with numbers below ``chunks``, at most ``ahead`` of them waiting.

    ``least``: the number of chunks that it gets even if it is stopped early; None: all.
    """

    def __init__(self, folder: Path, chunks: int, least: int | None = None, ahead: int = _AHEAD) -> None:
        self.folder = folder
        self.chunks = chunks
        self.least = least
        self.ahead = ahead
        #: No simulation takes chunks any more.
        self.closed = False
        #: No more than ``least`` chunks are wanted; more may have been delivered already.
        self.enough = False

    def is_over(self, number: int) -> bool:
        """Return True if chunk ``number`` need not be generated for this outlet."""
        return self.least is not None and (self.closed or self.ends_before(number))

    def ends_before(self, number: int) -> bool:
        """Return True if chunk ``number`` is not wanted; then stop the simulation, unless already stopped."""
        if number >= self.chunks:
            return True
        if not self.enough or self.least is None or number < self.least:
            return False
        self.chunks = number
        write_end(self.folder, number)
        return True


def chunk_size(rows: int, ports: Ports, shares: int) -> int:
    """Return the rows per chunk: enough to hide the cost of a call, with several chunks for each of ``shares``."""
    size = 8 * (row_words(ports.input_bits) + row_words(ports.output_bits))
    some = -(-rows // (4 * shares * _FEWEST_ROWS)) * _FEWEST_ROWS
    return max(min(some, _MOST_ROWS, _MOST_BYTES // size // _FEWEST_ROWS * _FEWEST_ROWS), _FEWEST_ROWS)


class Feed:
    """Chunks of ``parts``, one part after the other; a chunk never holds rows of two parts."""

    def __init__(
        self,
        golden: Golden,
        dut: Dut,
        parts: Sequence[Vectors],
        rows: int,
        *,
        check: bool,
        growing: bool = False,
        cut: int | None = None,
    ) -> None:
        """Plan chunks. ``growing``: those of the first part are small at first; ``cut``: a row at which one begins."""
        self._golden, self._dut, self._check = golden, dut, check
        self._types = golden.program.output_types
        self._parts = [part for part in parts if part.rows]
        self._first_rows = parts[0].rows if parts else 0
        self._offsets = [0, *itertools.accumulate(part.rows for part in self._parts)]
        begins: list[Iterable[int]] = [
            range(offset, offset + part.rows, rows) for offset, part in zip(self._offsets, self._parts, strict=False)
        ]
        if self._first_rows:
            first = _growing(self._first_rows, rows) if growing else begins[0]
            begins[0] = sorted({*first, *([cut] if cut and cut < self._first_rows else [])})
        #: Chunk k holds rows ``starts[k]`` to ``starts[k + 1]``.
        self.starts = [*itertools.chain(*begins), self._offsets[-1]]
        #: For each row in ``wanted``, the bits that were sent.
        self.noted: dict[int, Noted] = {}

    @property
    def rows(self) -> int:
        """The number of all rows."""
        return self.starts[-1]

    @property
    def first_chunks(self) -> int:
        """The number of chunks of the first part."""
        return self.starts.index(self._first_rows)

    def batch(self, start: int, stop: int) -> Batch:
        """Return rows ``start`` to ``stop - 1``, all of one part."""
        part = next(k for k in range(len(self._parts)) if start < self._offsets[k + 1])
        return self._parts[part].slice(start - self._offsets[part], stop - self._offsets[part])

    def run(
        self, outlets: Sequence[Outlet], folder: Path, watch: Stopwatch, *, wanted: Collection[int], keep: bool
    ) -> None:
        """Make every chunk and deliver it to ``outlets``; if ``keep``, ``folder`` receives all chunks.

        Raises ``ViolationError`` with the number of the row if rows are checked and one breaks a promise.
        """
        folder.mkdir(parents=True, exist_ok=True)
        for number, (start, stop) in enumerate(itertools.pairwise(self.starts)):
            if outlets and all(outlet.is_over(number) for outlet in outlets):
                return
            with watch.stage("stimulus"):
                batch = self.batch(start, stop)
            with watch.stage("golden"):
                outputs = self._golden.run_raw(batch, check=self._check, jobs=1, named=start)
            with watch.stage("pack"):
                ports = self._dut.ports
                inputs = pack_inputs(batch, ports)
                given = encode_outputs(outputs, self._types, self._dut.output_types, start)
                expected = pack_outputs(given, ports, batch.rows)
                for row in wanted:
                    if start <= row < stop:
                        texts = (
                            bits_of_row(words, row - start, bits)
                            for words, bits in ((inputs, ports.input_bits), (expected, ports.output_bits))
                        )
                        self.noted[row] = Noted(*texts)
                path = folder / chunk_name(number)
                with path.open("wb") as file:
                    file.write(inputs.data)
                    file.write(expected.data)
            for outlet in outlets:
                _wait_for_room(outlet, number)
                if not outlet.closed and not outlet.ends_before(number):
                    part = outlet.folder / f"{chunk_name(number)}.part"
                    link_or_copy(path, part)
                    part.rename(outlet.folder / chunk_name(number))
            if not keep:
                path.unlink()


def _wait_for_room(outlet: Outlet, number: int) -> None:
    if number >= outlet.ahead:
        oldest = outlet.folder / chunk_name(number - outlet.ahead)
        while not outlet.closed and not outlet.ends_before(number) and oldest.exists():
            process.raise_if_stopping("the golden model")
            time.sleep(_PAUSE)


def _growing(rows: int, most: int) -> list[int]:
    """Return the starts of chunks: small at first, at most ``most`` rows, in multiples of ``_FEWEST_ROWS``."""
    starts, at = [], 0
    while at < rows:
        starts.append(at)
        at += max(min(at // _GROWTH // _FEWEST_ROWS * _FEWEST_ROWS, most), min(_FEWEST_ROWS, most))
    return starts
