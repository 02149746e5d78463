"""Vectors on their way to the simulations: stimulus, golden model and packing, a chunk at a time.

Chunks are made while earlier ones are simulated, never more than a few ahead of the slowest simulation. Each is
written once and linked into the folder of every simulation, which removes its link when it is done: the disk holds
what is in flight, unless all of it is to be kept.

A simulation that need not run all of them has a feed of its own, so that it delays no other simulation, and may be told
that it has done enough.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from dais_verif.dut.encode import encode_outputs
from dais_verif.dut.interface import Dut
from dais_verif.files import link_or_copy
from dais_verif.golden import Golden
from dais_verif.program.numbers import Batch
from dais_verif.program.ports import Ports
from dais_verif.simulation.testbench.job import chunk_name, write_end
from dais_verif.simulation.testbench.packing import bits_of_row, pack_inputs, pack_outputs, row_words
from dais_verif.stimulus import Vectors
from dais_verif.stopwatch import Stopwatch
from dais_verif.toolchain import process

__all__ = ["Feed", "Noted", "Outlet", "chunk_size"]

_MOST_ROWS = 16384
_MOST_BYTES = 8_000_000
#: Chunks are multiples of this, as the digest of their outputs wants it.
_FEWEST_ROWS = 256
#: Chunks that may wait for a simulation.
_AHEAD = 12
_PAUSE = 0.002
#: Chunks that grow are at most this share of the rows before them.
_GROWTH = 16


class Noted(NamedTuple):
    """The ports' bits of one row as they went to the simulations, most significant first."""

    inputs: str
    expected: str


class Outlet:
    """The chunks of a simulation: those below ``chunks``, at most ``ahead`` of them waiting.

    ``least``: the chunks that it gets even if it is told to stop early; None: all.
    """

    def __init__(self, folder: Path, chunks: int, least: int | None = None, ahead: int = _AHEAD) -> None:
        self.folder = folder
        self.chunks = chunks
        self.least = least
        self.ahead = ahead
        #: No simulation takes chunks from here any more.
        self.closed = False
        #: No more than ``least`` are asked for; more may have been handed out already.
        self.enough = False

    def is_over(self, number: int) -> bool:
        """Return True if chunk ``number`` need not be generated: the outlet need not get all."""
        return self.least is not None and (self.closed or self.ends_before(number))

    def ends_before(self, number: int) -> bool:
        """Return True if chunk ``number`` is not wanted; the simulation is then told to stop, if it was not before."""
        if number >= self.chunks:
            return True
        if not self.enough or self.least is None or number < self.least:
            return False
        self.chunks = number
        write_end(self.folder, number)
        return True


def chunk_size(rows: int, ports: Ports, shares: int) -> int:
    """Rows a chunk: enough to hide the cost of a call, and some chunks for each of ``shares`` workers."""
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
        """``growing``: the chunks of the first part are small at first; ``cut``: a chunk of it begins at this row."""
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
        #: Rows in ``wanted`` as they were sent.
        self.noted: dict[int, Noted] = {}

    @property
    def rows(self) -> int:
        """All rows."""
        return self.starts[-1]

    @property
    def first_chunks(self) -> int:
        """Chunks of the first part."""
        return self.starts.index(self._first_rows)

    def batch(self, start: int, stop: int) -> Batch:
        """Rows ``start`` to ``stop``, all of one part."""
        part = next(k for k in range(len(self._parts)) if start < self._offsets[k + 1])
        return self._parts[part].slice(start - self._offsets[part], stop - self._offsets[part])

    def run(
        self, outlets: Sequence[Outlet], folder: Path, watch: Stopwatch, *, wanted: Collection[int], keep: bool
    ) -> None:
        """Make every chunk and hand it to ``outlets``; ``folder`` receives all if ``keep``.

        Raises ``ViolationError`` if rows are checked and one breaks a promise, with the number of the row.
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
    """Return where chunks begin that are small at first and at most ``most`` rows, multiples of ``_FEWEST_ROWS``."""
    starts, at = [], 0
    while at < rows:
        starts.append(at)
        at += max(min(at // _GROWTH // _FEWEST_ROWS * _FEWEST_ROWS, most), min(_FEWEST_ROWS, most))
    return starts
