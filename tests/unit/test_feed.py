"""The feed: it delivers every row once, in order and packed, limits how far it runs ahead, and cleans up."""

from __future__ import annotations

import errno
import itertools
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from support.said import raises

from dais_verif.base.errors import ToolError, ViolationError
from dais_verif.base.stopwatch import Stopwatch
from dais_verif.base.toolchain import process
from dais_verif.golden import Golden
from dais_verif.hardware.ports.interface import packed as dut_of
from dais_verif.simulation import feed as module
from dais_verif.simulation.feed import Feed, Outlet, chunk_size
from dais_verif.simulation.scoreboard import DIGESTED
from dais_verif.simulation.testbench.job import chunk_name, end_of
from dais_verif.simulation.testbench.packed_rows import bits_of_row
from dais_verif.simulation.testbench.packing import pack_inputs, pack_outputs
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch
from dais_verif.spec.program.ports import ports_of
from dais_verif.stimulus import Vectors

#: The output is the 90-bit input plus 1; a packed row has more than one word.
WIDE = Program.build([(-1, 0, -1, 0, (1, 89, 0)), (4, 0, -1, 1, (1, 90, 0))], [(1, 0, 0)], inp_shift=[0])
PORTS = ports_of(WIDE)

#: Promises that x + 1 fits 8 bits, which 127 breaks.
NARROW = Program.build([(-1, 0, -1, 0, (1, 7, 0)), (4, 0, -1, 1, (1, 7, 0))], [(1, 0, 0)], inp_shift=[0])


def numbers(start: int, rows: int) -> Batch:
    return Batch.of(np.arange(start, start + rows).reshape(rows, 1), 1)


class Noting:
    """Vectors that record which rows were requested."""

    def __init__(self, batch: Batch) -> None:
        self.rows, self._batch = batch.rows, batch
        self.asked: list[tuple[int, int]] = []

    def slice(self, start: int, stop: int) -> Batch:
        self.asked.append((start, stop))
        return self._batch.slice(start, stop)


class Reader(threading.Thread):
    """A thread that takes the chunks of ``outlet`` in order, each after ``pause`` seconds, and stores their content."""

    def __init__(self, outlet: Outlet, *, pause: float = 0.0) -> None:
        super().__init__(daemon=True)
        self._outlet, self._pause = outlet, pause
        self.chunks: list[bytes] = []
        #: The largest number of chunks that were there at once.
        self.most = 0

    def run(self) -> None:
        for number in range(self._outlet.chunks):
            path = self._outlet.folder / chunk_name(number)
            time.sleep(self._pause)
            wait_until(path.exists)
            self.most = max(self.most, len(list(self._outlet.folder.iterdir())))
            self.chunks.append(path.read_bytes())
            path.unlink()


def wait_until(condition: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def feed_of(parts: Sequence[Vectors], rows: int, program: Program = WIDE, *, check: bool = True) -> Feed:
    return Feed(Golden(program), dut_of(program), parts, rows, check=check)


def outlet_in(folder: Path, chunks: int) -> Outlet:
    folder.mkdir(parents=True)
    return Outlet(folder, chunks)


def run(feed: Feed, outlets: Sequence[Outlet], folder: Path, *, wanted: Sequence[int] = (), keep: bool = False) -> None:
    feed.run(outlets, folder / "vectors", Stopwatch(), wanted=wanted, keep=keep)


def packed(feed: Feed, start: int, stop: int, program: Program = WIDE) -> bytes:
    """Return the expected content of the chunk of these rows."""
    ports, batch = ports_of(program), feed.batch(start, stop)
    outputs = Golden(program).run_raw(batch, check=False)
    return pack_inputs(batch, ports).tobytes() + pack_outputs(outputs, ports, batch.rows).tobytes()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


class TestChunks:
    @pytest.mark.parametrize(
        ("parts", "rows", "starts"),
        [
            ([7], 3, [0, 3, 6, 7]),
            ([6], 3, [0, 3, 6]),
            ([2], 3, [0, 2]),
            ([4, 1, 5], 3, [0, 3, 4, 5, 8, 10]),
            ([0, 4, 0, 0, 2, 0], 3, [0, 3, 4, 6]),
            ([3, 3], 1, [0, 1, 2, 3, 4, 5, 6]),
        ],
    )
    def test_hold_every_row_once_and_in_order(
        self, parts: list[int], rows: int, starts: list[int], tmp_path: Path
    ) -> None:
        """The rows of a part follow those of the part before, whatever the sizes of parts and chunks."""
        offsets = np.cumsum([0, *parts]).tolist()
        noting = [Noting(numbers(10 * offset - 5, count)) for offset, count in zip(offsets, parts, strict=False)]
        feed = feed_of(noting, rows)
        assert feed.starts == starts
        assert feed.rows == sum(parts)
        outlet = outlet_in(tmp_path / "out", len(starts) - 1)
        reader = Reader(outlet)
        reader.start()
        run(feed, [outlet], tmp_path)
        reader.join(20)
        # No chunk spans two parts: exactly the rows of each part were requested, chunk by chunk.
        for part, count in zip(noting, parts, strict=True):
            assert part.asked == [(at, min(at + rows, count)) for at in range(0, count, rows)]
        assert reader.chunks == [packed(feed, start, stop) for start, stop in itertools.pairwise(starts)]
        found = [feed.batch(row, row + 1).row(0)[0] for row in range(feed.rows)]
        assert found == [10 * o - 5 + k for o, count in zip(offsets, parts, strict=False) for k in range(count)]

    @pytest.mark.parametrize("parts", [[], [0], [0, 0]])
    def test_of_no_rows_are_none(self, parts: list[int], tmp_path: Path) -> None:
        feed = feed_of([numbers(0, rows) for rows in parts], 5)
        assert (feed.starts, feed.rows, feed.first_chunks) == ([0], 0, 0)
        outlet = outlet_in(tmp_path / "out", 0)
        run(feed, [outlet], tmp_path, keep=True)
        assert (names(outlet.folder), names(tmp_path / "vectors")) == ([], [])

    def test_of_the_first_part_are_counted(self) -> None:
        assert feed_of([numbers(0, 7), numbers(0, 9)], 3).first_chunks == 3
        assert feed_of([numbers(0, 7)], 3).first_chunks == 3
        assert feed_of([numbers(0, 6), numbers(0, 9)], 3).first_chunks == 2

    @pytest.mark.parametrize("shares", [1, 2, 64])
    @pytest.mark.parametrize("rows", [0, 1, 255, 256, 257, 1000, 100_000, 10_000_000])
    def test_are_neither_tiny_nor_huge(self, rows: int, shares: int) -> None:
        size = chunk_size(rows, PORTS, shares)
        assert 256 <= size <= 16384 and size % DIGESTED == 0
        # Every worker gets two chunks, if there are enough rows.
        assert -(-rows // size) >= min(2 * shares, rows // 256)

    @pytest.mark.parametrize(("bits", "rows"), [(16_000, 2048), (1_000_000, 256)])
    def test_of_a_design_with_large_ports_are_small(self, bits: int, rows: int) -> None:
        inputs = [(-1, j, -1, 0, (1, 999, 0)) for j in range(bits // 1000)]
        outputs = [(j, 0, 0) for j in range(bits // 1000)]
        ports = ports_of(Program.build(inputs, outputs, inp_shift=[0] * len(inputs)))
        assert chunk_size(10_000_000, ports, 2) <= rows


class TestUnhurried:
    """A consumer that does not need all chunks."""

    def test_gets_small_chunks_first(self) -> None:
        feed = Feed(Golden(WIDE), dut_of(WIDE), [numbers(0, 100_000)], 16384, check=False, growing=True)
        sizes = np.diff(feed.starts)
        assert sizes[0] == DIGESTED and sizes.sum() == 100_000 and sizes.max() > 2048
        assert all(start % DIGESTED == 0 for start in feed.starts[:-1])
        assert all(size <= max(DIGESTED, start / 8) for start, size in zip(feed.starts, sizes, strict=False))

    @pytest.mark.parametrize(
        ("cut", "starts"), [(None, [0, 4, 8, 9, 12]), (6, [0, 4, 6, 8, 9, 12]), (50, [0, 4, 8, 9, 12])]
    )
    def test_may_end_at_a_row_of_the_first_part(self, cut: int | None, starts: list[int]) -> None:
        feed = Feed(Golden(WIDE), dut_of(WIDE), [numbers(0, 9), numbers(9, 3)], 4, check=False, cut=cut)
        assert feed.starts == starts

    @pytest.mark.parametrize("taken", [0, 3, 7])
    def test_has_had_enough(self, taken: int, tmp_path: Path) -> None:
        """The outlet still gets five chunks and those already handed out, and is then told their number."""
        feed = feed_of([numbers(0, 40)], 1)
        folder = tmp_path / "out"
        folder.mkdir()
        outlet = Outlet(folder, 40, least=5, ahead=1)
        held = threading.Thread(target=run, args=(feed, [outlet], tmp_path))
        held.start()
        for number in range(taken):
            wait_until((folder / chunk_name(number)).exists)
            (folder / chunk_name(number)).unlink()
        wait_until((folder / chunk_name(taken)).exists)
        outlet.enough = True
        for number in range(taken, 5):
            wait_until((folder / chunk_name(number)).exists)
            (folder / chunk_name(number)).unlink()
        held.join(20)
        assert not held.is_alive()
        assert outlet.chunks == end_of(folder) == max(5, taken + 1)
        assert names(folder) == ([chunk_name(7)] if taken == 7 else []) + ["end"]

    def test_that_is_closed_gets_no_more(self, tmp_path: Path) -> None:
        vectors = Noting(numbers(0, 40))
        folder = tmp_path / "out"
        folder.mkdir()
        outlet = Outlet(folder, 40, least=5)
        outlet.closed = True
        run(feed_of([vectors], 1), [outlet], tmp_path)
        assert vectors.asked == []


class TestWindow:
    AHEAD = module._AHEAD

    def test_is_never_left(self, tmp_path: Path) -> None:
        """A slow outlet holds back everything, also the generation of vectors; a quick one gets the same chunks."""
        vectors = Noting(numbers(0, 40))
        feed = feed_of([vectors], 1)
        slow, quick = (outlet_in(tmp_path / name, 40) for name in ("slow", "quick"))
        readers = [Reader(slow, pause=0.005), Reader(quick)]
        held = threading.Thread(target=run, args=(feed, [slow, quick], tmp_path))
        held.start()
        wait_until(lambda: len(names(slow.folder)) == self.AHEAD)
        time.sleep(0.1)
        assert names(slow.folder) == names(quick.folder) == [chunk_name(number) for number in range(self.AHEAD)]
        assert len(vectors.asked) == self.AHEAD + 1
        for reader in readers:
            reader.start()
        for thread in (*readers, held):
            thread.join(20)
        assert max(reader.most for reader in readers) <= self.AHEAD
        assert readers[0].chunks == readers[1].chunks and len(readers[0].chunks) == 40

    def test_does_not_hold_back_for_what_is_closed(self, tmp_path: Path) -> None:
        feed = feed_of([numbers(0, 40)], 1)
        gone, there = (outlet_in(tmp_path / name, 40) for name in ("gone", "there"))
        gone.closed = True
        reader = Reader(there)
        reader.start()
        run(feed, [gone, there], tmp_path)
        reader.join(20)
        assert len(reader.chunks) == 40
        assert names(gone.folder) == []

    def test_opens_when_an_outlet_is_closed(self, tmp_path: Path) -> None:
        feed = feed_of([numbers(0, 40)], 1)
        outlet = outlet_in(tmp_path / "out", 40)
        held = threading.Thread(target=run, args=(feed, [outlet], tmp_path))
        held.start()
        wait_until(lambda: len(names(outlet.folder)) == self.AHEAD)
        outlet.closed = True
        held.join(20)
        assert not held.is_alive()
        assert names(outlet.folder) == [chunk_name(number) for number in range(self.AHEAD)]

    def test_ends_with_the_run(self, tmp_path: Path) -> None:
        class Stopped(Exception):
            pass

        feed = feed_of([numbers(0, 40)], 1)
        outlet = outlet_in(tmp_path / "out", 40)
        with pytest.raises(Stopped), process.workers(1) as pool:
            made = pool.submit(run, feed, [outlet], tmp_path)
            wait_until(lambda: len(names(outlet.folder)) == self.AHEAD)
            raise Stopped
        with raises(ToolError):
            made.result()


class TestOutlets:
    def test_get_no_more_chunks_than_they_are_for(self, tmp_path: Path) -> None:
        """An outlet for fewer chunks gets no more, and does not hold back others, even if nobody takes its chunks."""
        feed = feed_of([numbers(0, 40)], 1)
        few, all_, none = outlet_in(tmp_path / "few", 3), outlet_in(tmp_path / "all", 40), outlet_in(tmp_path / "0", 0)
        reader = Reader(all_)
        reader.start()
        run(feed, [few, all_, none], tmp_path)
        reader.join(20)
        assert len(reader.chunks) == 40
        assert names(few.folder) == [chunk_name(number) for number in range(3)]
        assert names(none.folder) == []

    @pytest.mark.parametrize("keep", [True, False])
    def test_leave_the_folder_full_or_empty(self, keep: bool, tmp_path: Path) -> None:
        feed = feed_of([numbers(0, 8)], 3)
        outlet = outlet_in(tmp_path / "out", 3)
        reader = Reader(outlet)
        reader.start()
        run(feed, [outlet], tmp_path, keep=keep)
        reader.join(20)
        assert names(tmp_path / "vectors") == [chunk_name(number) for number in range(3 if keep else 0)]
        if keep:
            kept = [(tmp_path / "vectors" / chunk_name(number)).read_bytes() for number in range(3)]
            assert kept == reader.chunks == [packed(feed, 0, 3), packed(feed, 3, 6), packed(feed, 6, 8)]


class TestRows:
    @pytest.mark.parametrize(("row", "part_row"), [(0, 0), (3, 3), (4, 0), (9, 5), (11, 7)])
    def test_that_break_a_promise_are_named_by_their_number_in_the_run(
        self, row: int, part_row: int, tmp_path: Path
    ) -> None:
        values = [np.zeros(4, int), np.zeros(8, int)]
        values[row >= 4][part_row] = 127
        feed = feed_of([Batch.of(x.reshape(-1, 1), 1) for x in values], 3, NARROW)
        with pytest.raises(ViolationError, match=rf"^row {row}: "):
            run(feed, [], tmp_path)
        run(feed_of([Batch.of(x.reshape(-1, 1), 1) for x in values], 3, NARROW, check=False), [], tmp_path)

    def test_that_are_wanted_are_noted_as_they_went_out(self, tmp_path: Path) -> None:
        feed = feed_of([numbers(-5, 4), numbers(10**6, 8)], 3)
        wanted = [0, 2, 3, 4, 7, 11]
        run(feed, [], tmp_path, wanted=wanted, keep=True)
        assert sorted(feed.noted) == wanted
        for number, (start, stop) in enumerate(itertools.pairwise(feed.starts)):
            words = np.fromfile(tmp_path / "vectors" / chunk_name(number), dtype="<u8").reshape(2, stop - start, 2)
            for row in set(range(start, stop)) & set(wanted):
                assert feed.noted[row].inputs == bits_of_row(words[0], row - start, PORTS.input_bits)
                assert feed.noted[row].expected == bits_of_row(words[1], row - start, PORTS.output_bits)
        assert (int(feed.noted[4].inputs, 2), int(feed.noted[4].expected, 2)) == (10**6, 10**6 + 1)

    def test_are_made_when_they_are_due(self, tmp_path: Path) -> None:
        """Vectors are generated when their chunk is due, not all at once."""
        vectors = Noting(numbers(0, 9))
        feed = feed_of([vectors], 3)
        assert vectors.asked == []
        run(feed, [], tmp_path)
        assert vectors.asked == [(0, 3), (3, 6), (6, 9)]


def test_a_disk_that_is_full_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(source: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "link", full)
    with pytest.raises(OSError, match="No space left"):
        run(feed_of([numbers(0, 9)], 3), [outlet_in(tmp_path / "out", 3)], tmp_path)
