"""The scoreboard compares every bit found with every bit expected, in any order of chunks and for any share."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.said import as_recorded, raises

from dais_verif.hardware.ports.interface import DesignInterface, Wire
from dais_verif.simulation.scoreboard import DIGESTED, Chunk, Scoreboard, other_in_bulk, words_of_text
from dais_verif.simulation.testbench import exchange
from dais_verif.simulation.testbench.exchange import JOB_VARIABLE, MAKER_VARIABLE, read, write
from dais_verif.simulation.testbench.job import Answer, Job, chunk_name, merged, write_end
from dais_verif.simulation.testbench.packed_rows import Words, row_words

#: Chunks of 3, 4, 1 and 5 rows.
STARTS = [0, 3, 7, 8, 13]
#: More bits than a word of 64.
INPUT_BITS, OUTPUT_BITS = 70, 67

RNG = np.random.default_rng(5)


def words(rows: int, bits: int) -> Words:
    values = RNG.integers(0, 1 << 64, size=(rows, row_words(bits)), dtype=np.uint64)
    values[:, -1] &= np.uint64((1 << bits % 64) - 1)
    return values.astype("<u8")


CHUNKS = [
    Chunk(number, start, words(stop - start, INPUT_BITS), words(stop - start, OUTPUT_BITS))
    for number, (start, stop) in enumerate(itertools.pairwise(STARTS))
]


def job(folder: Path, **changes: object) -> Job:
    given = {"share": 0, "shares": 1, "maker": None, **changes}
    return Job(
        chunks=str(folder),
        starts=STARTS,
        progress=str(folder / f"progress_{given['share']}"),
        interface=DesignInterface((Wire("model_inp", 0, INPUT_BITS),), (Wire("model_out", 0, OUTPUT_BITS),)),
        **given,  # type: ignore[arg-type]
    )


def text(row: Words, bits: int) -> str:
    return format(int.from_bytes(row.tobytes(), "little"), f"0{bits}b")


def outputs() -> dict[int, Words]:
    """Return the right outputs of each chunk, for tests to change."""
    return {chunk.number: chunk.expected.copy() for chunk in CHUNKS}


def answer_of(
    folder: Path,
    found: dict[int, Words],
    order: list[int] | None = None,
    unknown: dict[int, dict[int, str]] | None = None,
    **changes: object,
) -> Answer:
    """Return the answer of the scoreboard after the chunks in ``order``."""
    own = job(folder, **changes)
    scoreboard = Scoreboard(own)
    for number in own.numbers if order is None else order:
        scoreboard.compare(CHUNKS[number], found[number], (unknown or {}).get(number))
    return scoreboard.answer()


class TestCounts:
    def test_of_a_design_without_bugs(self, tmp_path: Path) -> None:
        answer = answer_of(tmp_path, outputs())
        assert (answer.rows, answer.bits, answer.bulk_rows) == (13, 13 * OUTPUT_BITS, 0)
        assert (answer.mismatching_rows, answer.unknown_rows) == (0, 0)
        assert (answer.first_mismatch, answer.first_unknown, answer.wrong) == (None, None, "0")
        assert answer.seconds.keys() == {"compare"}

    def test_of_nothing(self, tmp_path: Path) -> None:
        answer = answer_of(tmp_path, {}, order=[])
        assert (answer.rows, answer.bits, answer.mismatching_rows) == (0, 0, 0)

    @pytest.mark.parametrize("bit", [0, 1, 63, 64, OUTPUT_BITS - 1])
    @pytest.mark.parametrize("row", [0, 2, 3, 7, 12])
    def test_every_bit_of_every_row_counts(self, row: int, bit: int, tmp_path: Path) -> None:
        found = outputs()
        chunk = next(chunk for chunk in CHUNKS if chunk.start <= row < chunk.start + chunk.rows)
        found[chunk.number][row - chunk.start, bit // 64] ^= np.uint64(1 << bit % 64)
        answer = answer_of(tmp_path, found)
        assert (answer.rows, answer.mismatching_rows, answer.unknown_rows) == (13, 1, 0)
        first = answer.first_mismatch
        assert first is not None and first.row == row
        assert first.inputs == text(chunk.inputs[row - chunk.start], INPUT_BITS)
        assert first.expected == text(chunk.expected[row - chunk.start], OUTPUT_BITS)
        differing = [k for k in range(OUTPUT_BITS) if first.expected[-1 - k] != first.found[-1 - k]]
        assert differing == [bit] and answer.wrong == f"{1 << bit:x}"
        assert answer.departures == {str(row): f"{1 << bit:x} 0"}

    def test_rows_with_x_are_not_mismatches(self, tmp_path: Path) -> None:
        found = outputs()
        found[1][:] = 0  # three of its rows are wrong, and the last one has X
        texts = {3: "x" * OUTPUT_BITS}
        answer = answer_of(tmp_path, found, unknown={1: texts})
        assert (answer.rows, answer.mismatching_rows, answer.unknown_rows) == (13, 3, 1)
        assert answer.first_mismatch is not None and answer.first_mismatch.row == 3
        assert answer.first_unknown is not None
        assert (answer.first_unknown.row, answer.first_unknown.found) == (6, "x" * OUTPUT_BITS)
        assert answer.first_unknown.expected == text(CHUNKS[1].expected[3], OUTPUT_BITS)

    def test_a_row_with_x_counts_even_if_its_known_bits_are_right(self, tmp_path: Path) -> None:
        answer = answer_of(tmp_path, outputs(), unknown={0: {1: "z" + "0" * (OUTPUT_BITS - 1)}})
        assert (answer.mismatching_rows, answer.unknown_rows) == (0, 1)
        assert answer.departures["1"].split()[1] == f"{1 << OUTPUT_BITS - 1:x}"

    def test_bits_that_are_ever_wrong_are_told_apart(self, tmp_path: Path) -> None:
        """Bits that are X, Z or inverted in any row are collected over all rows, chunks and shares."""
        found = outputs()
        found[0][1, 0] ^= np.uint64(1 << 5)
        found[3][2, 1] ^= np.uint64(1 << 2)
        right = [text(row, OUTPUT_BITS) for row in CHUNKS[1].expected]
        other = "10"[int(right[2][-9])]
        texts = {0: f"{right[0][:-1]}x", 2: f"{right[2][:-9]}{other}{right[2][-8:-3]}Z{right[2][-2:]}"}
        wanted = 1 << 5 | 1 << 66 | 1 | 1 << 8 | 1 << 2
        assert int(answer_of(tmp_path, found, unknown={1: texts}).wrong, 16) == wanted
        shares = [answer_of(tmp_path, found, unknown={1: texts}, share=k, shares=2) for k in range(2)]
        assert [int(share.wrong, 16) for share in shares] == [1 << 5, wanted & ~(1 << 5)]
        assert int(merged(shares).wrong, 16) == wanted

    def test_what_came_in_bulk(self, tmp_path: Path) -> None:
        scoreboard = Scoreboard(job(tmp_path))
        for chunk in CHUNKS:
            scoreboard.compare(chunk, chunk.expected, bulk=chunk.number != 1)
        assert (scoreboard.answer().rows, scoreboard.answer().bulk_rows) == (13, 9)


class TestOrder:
    @pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
    def test_is_free(self, order: tuple[int, ...], tmp_path: Path) -> None:
        """The first mismatch is the first one of the run, not the first one that was compared."""
        found = outputs()
        found[1][1] ^= np.uint64(1)
        found[3][0] ^= np.uint64(1)
        texts = {1: {3: "x" * OUTPUT_BITS, 2: "z" * OUTPUT_BITS}, 3: {1: "z" * OUTPUT_BITS, 4: "x" * OUTPUT_BITS}}
        answer = answer_of(tmp_path, found, list(order), texts)
        assert (answer.mismatching_rows, answer.unknown_rows) == (2, 4)
        assert answer.first_mismatch is not None and answer.first_mismatch.row == 4
        assert answer.first_unknown is not None
        assert (answer.first_unknown.row, answer.first_unknown.found) == (5, "z" * OUTPUT_BITS)
        assert answer.digest == answer_of(tmp_path, found, unknown=texts).digest

    def test_threads_may_share_one(self, tmp_path: Path) -> None:
        found = outputs()
        for rows in found.values():
            rows[-1] ^= np.uint64(2)
        scoreboard = Scoreboard(job(tmp_path))

        def work(numbers: list[int]) -> None:
            for number in numbers:
                scoreboard.compare(CHUNKS[number], found[number], bulk=True)

        orders = [random.Random(k).sample(range(4), 4) for k in range(25)]
        threads = [threading.Thread(target=work, args=(orders[k],)) for k in range(len(orders))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        answer = scoreboard.answer()
        assert (answer.rows, answer.bulk_rows, answer.mismatching_rows) == (25 * 13, 25 * 13, 25 * 4)
        assert answer.first_mismatch is not None and answer.first_mismatch.row == 2
        assert (tmp_path / "progress_0").read_text() == f"{25 * 13}\n"
        # The digest is an exclusive or, in which 24 of 25 equal digests cancel.
        assert answer.digest == answer_of(tmp_path, found).digest

    @pytest.mark.parametrize("shares", [1, 2, 3, 4, 7])
    def test_shares_add_up(self, shares: int, tmp_path: Path) -> None:
        found = outputs()
        for row in (2, 3):
            found[1][row] ^= np.uint64(4)
        found[3][4] ^= np.uint64(4)
        texts = {2: {0: "x" * OUTPUT_BITS}}
        whole = answer_of(tmp_path, found, unknown=texts)
        parts = [answer_of(tmp_path, found, unknown=texts, share=share, shares=shares) for share in range(shares)]
        together = merged(parts)
        for name in ("rows", "bits", "mismatching_rows", "unknown_rows", "digest", "first_mismatch", "first_unknown"):
            assert getattr(together, name) == getattr(whole, name), name
        assert sum(job(tmp_path, share=share, shares=shares).rows for share in range(shares)) == 13


class TestDigest:
    def test_tells_every_bit(self, tmp_path: Path) -> None:
        """Outputs that differ in one bit or in an X have different digests, and so have swapped chunks."""
        digests = {answer_of(tmp_path, outputs()).digest}
        for number, row in ((0, 0), (1, 3), (2, 0), (3, 4)):
            for bit in range(OUTPUT_BITS):
                found = outputs()
                found[number][row, bit // 64] ^= np.uint64(1 << bit % 64)
                digests.add(answer_of(tmp_path, found).digest)
        assert len(digests) == 1 + 4 * OUTPUT_BITS

    def test_covers_the_first_chunks_alone_if_it_is_asked_to(self, tmp_path: Path) -> None:
        """Digests over the first chunks agree whatever later chunks contain, also between complete and partial runs."""
        spoilt = outputs()
        spoilt[3][0, 0] ^= np.uint64(1)
        few, whole = answer_of(tmp_path, outputs(), [0, 1]), answer_of(tmp_path, spoilt, [3, 1, 0, 2])
        assert few.digest == few.of_chunks(2).digest == whole.of_chunks(2).digest
        assert few.digest not in (whole.digest, few.of_chunks(1).digest)
        shares = [answer_of(tmp_path, spoilt, share=share, shares=2) for share in range(2)]
        assert merged(shares).of_chunks(2).digest == few.digest
        spoilt[1][0, 0] ^= np.uint64(1)
        assert answer_of(tmp_path, spoilt).of_chunks(2).digest != few.digest
        zeros = {number: np.zeros_like(found) for number, found in outputs().items()}
        known = answer_of(tmp_path, zeros).digest
        seen = {known}
        for texts in ({0: "x" * 67}, {1: "x" * 67}, {0: "z" * 67}, {0: "x" + "0" * 66}, {0: "0" * 66 + "x"}):
            seen.add(answer_of(tmp_path, zeros, unknown={1: texts}).digest)
        assert len(seen) == 6

    def test_tells_which_chunk_gave_what(self, tmp_path: Path) -> None:
        """The digests of two chunks with equal rows do not cancel."""
        row = np.full((1, 2), 7, dtype="<u8")
        digests = set()
        for numbers in ((0,), (1,), (0, 1), (0, 2), ()):
            scoreboard = Scoreboard(job(tmp_path))
            for number in numbers:
                scoreboard.compare(Chunk(number, number, row, row), row)
            digests.add(scoreboard.answer().digest)
        assert len(digests) == 5

    def test_covers_what_every_simulator_runs_and_no_more(self, tmp_path: Path) -> None:
        """A run of all chunks and one of the first two have the same digest; later chunks are still compared."""
        first = answer_of(tmp_path, outputs(), order=[0, 1], digested=2)
        more = answer_of(tmp_path, outputs(), digested=2)
        assert first.digest == more.digest != answer_of(tmp_path, outputs()).digest
        found = outputs()
        found[1][0] ^= np.uint64(1)
        assert answer_of(tmp_path, found, digested=2).digest != first.digest
        found = outputs()
        found[2][0] ^= np.uint64(1)
        beyond = answer_of(tmp_path, found, digested=2)
        assert (beyond.digest, beyond.mismatching_rows) == (first.digest, 1)

    def test_does_not_depend_on_how_rows_are_cut_into_chunks(self, tmp_path: Path) -> None:
        """Chunks may begin at any multiple of ``DIGESTED``; other starts, or a row that moves, change the digest."""
        found = words(3 * DIGESTED + 5, OUTPUT_BITS)
        texts = {DIGESTED + 3: "x" * OUTPUT_BITS, 2 * DIGESTED + 9: "z" * OUTPUT_BITS}

        def digest(first: int, *starts: int) -> str:
            scoreboard = Scoreboard(job(tmp_path))
            for number, (start, stop) in enumerate(itertools.pairwise((first, *starts, len(found)))):
                rows = found[start:stop]
                own = {row - start: text for row, text in texts.items() if start <= row < stop}
                scoreboard.compare(Chunk(number, start, rows, rows), rows, own)
            return scoreboard.answer().digest

        whole = digest(0)
        assert (
            digest(0, DIGESTED) == digest(0, 2 * DIGESTED, 3 * DIGESTED) == digest(0, DIGESTED, 2 * DIGESTED) == whole
        )
        assert len({whole, digest(0, 1), digest(DIGESTED), digest(0, DIGESTED + 1)}) == 4

    def test_does_not_depend_on_how_the_words_lie_in_memory(self, tmp_path: Path) -> None:
        turned = {number: np.asfortranarray(found) for number, found in outputs().items()}
        assert answer_of(tmp_path, turned).digest == answer_of(tmp_path, outputs()).digest


class TestText:
    @given(st.integers(1, 200), st.integers(1, 5), st.randoms(use_true_random=False))
    def test_becomes_words(self, bits: int, rows: int, rng: random.Random) -> None:
        texts = [format(rng.getrandbits(bits), f"0{bits}b") for _ in range(rows)]
        found, unknown = words_of_text(texts, bits)
        assert unknown == {}
        assert (found.dtype, found.shape) == (np.dtype("<u8"), (rows, row_words(bits)))
        assert [text(row, bits) for row in found] == texts

    @pytest.mark.parametrize("digit", "xXzZuUwWlLhH-")
    @pytest.mark.parametrize("bits", [1, 5, 64, 65])
    def test_that_is_not_all_0_and_1_is_unknown(self, digit: str, bits: int) -> None:
        """A row with a digit other than 0 and 1 at any place is unknown; its words are 0 whatever the other bits."""
        texts = ["1" * bits, *("1" * at + digit + "1" * (bits - 1 - at) for at in range(bits)), "0" * bits]
        found, unknown = words_of_text(texts, bits)
        assert unknown == {row: texts[row] for row in range(1, bits + 1)}
        assert [text(row, bits) for row in found] == ["1" * bits, *["0" * bits] * bits, "0" * bits]

    def test_of_a_port_without_bits(self) -> None:
        found, unknown = words_of_text(["0", "z"], 0)
        assert (found.tolist(), unknown) == ([[0], [0]], {1: "z"})


class TestChunk:
    @staticmethod
    def write(folder: Path, chunk: Chunk, *, more: int = 0) -> Path:
        """Write a chunk as the feed does: it gets its name only when it is complete."""
        data = chunk.inputs.tobytes() + chunk.expected.tobytes()
        path = folder / chunk_name(chunk.number)
        path.with_suffix(".part").write_bytes(data + bytes(more) if more >= 0 else data[:more])
        return path.with_suffix(".part").rename(path)

    @pytest.mark.parametrize("number", range(4))
    def test_is_read_and_removed(self, number: int, tmp_path: Path) -> None:
        path = self.write(tmp_path, CHUNKS[number])
        chunk = Chunk.wait(job(tmp_path), number)
        assert chunk is not None
        assert (chunk.number, chunk.start, chunk.rows) == (number, STARTS[number], CHUNKS[number].rows)
        assert np.array_equal(chunk.inputs, CHUNKS[number].inputs)
        assert np.array_equal(chunk.expected, CHUNKS[number].expected)
        assert not path.exists()

    def test_is_waited_for_while_its_maker_lives(self, tmp_path: Path) -> None:
        threading.Timer(0.3, self.write, (tmp_path, CHUNKS[2])).start()
        begin = time.monotonic()
        chunk = Chunk.wait(job(tmp_path, maker=os.getppid()), 2)
        assert chunk is not None and chunk.start == 7
        assert time.monotonic() - begin >= 0.2

    def test_is_not_waited_for_when_an_open_job_has_ended_before_it(self, tmp_path: Path) -> None:
        open_job, whole = job(tmp_path, open=True), job(tmp_path)
        assert open_job.closed() == open_job
        write_end(tmp_path, 2)
        self.write(tmp_path, CHUNKS[1])
        assert Chunk.wait(open_job, 1) is not None
        assert Chunk.wait(open_job, 2) is None
        assert (open_job.closed().rows, whole.closed().rows) == (7, 13)

    @pytest.mark.parametrize("more", [-1000, -16, -8, 8, 16])
    def test_of_another_size_is_refused(self, more: int, tmp_path: Path) -> None:
        self.write(tmp_path, CHUNKS[3], more=more)
        with raises(ValueError):
            Chunk.wait(job(tmp_path), 3)

    def test_is_not_waited_for_when_its_maker_is_gone(self, tmp_path: Path) -> None:
        gone = subprocess.Popen(["true"])
        gone.wait()
        begin = time.monotonic()
        with raises(EOFError):
            Chunk.wait(job(tmp_path, maker=gone.pid), 1)
        assert time.monotonic() - begin < 5

    def test_is_not_waited_for_when_nobody_has_collected_its_maker(self, tmp_path: Path) -> None:
        """A dead maker is not waited for, even as a zombie in a container whose first process does not reap."""
        gone = subprocess.Popen(["true"])
        os.waitid(os.P_PID, gone.pid, os.WEXITED | os.WNOWAIT)
        threading.Timer(2, self.write, (tmp_path, CHUNKS[1])).start()  # so that this test ends
        with pytest.raises(EOFError):
            Chunk.wait(job(tmp_path, maker=gone.pid), 1)
        gone.wait()

    def test_of_a_maker_that_is_gone_is_not_read_though_it_is_there(self, tmp_path: Path) -> None:
        """Chunks of a maker that is gone are not run: a dozen of a large design could take half an hour."""
        scoreboard = Scoreboard(job(tmp_path, maker=os.getppid()))
        scoreboard.tell(1)
        gone = subprocess.Popen(["true"])
        gone.wait()
        self.write(tmp_path, CHUNKS[0])
        with pytest.raises(EOFError):
            Chunk.wait(job(tmp_path, maker=gone.pid), 0)
        with pytest.raises(EOFError):
            Scoreboard(job(tmp_path, maker=gone.pid)).tell(1)


class TestAJob:
    """A simulator may start before its job is known."""

    def test_is_waited_for_while_its_maker_lives(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(JOB_VARIABLE, str(tmp_path / "job.json"))
        monkeypatch.setenv(MAKER_VARIABLE, str(os.getppid()))
        own = job(tmp_path, share=1, shares=3)
        threading.Timer(0.3, write, (tmp_path / "job.json", own)).start()
        begin = time.monotonic()
        assert exchange.given(Job)[0] == own
        assert time.monotonic() - begin >= 0.2

    def test_is_not_waited_for_when_its_maker_is_gone(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        gone = subprocess.Popen(["true"])
        gone.wait()
        monkeypatch.setenv(JOB_VARIABLE, str(tmp_path / "job.json"))
        monkeypatch.setenv(MAKER_VARIABLE, str(gone.pid))
        with raises(EOFError):
            exchange.given(Job)

    def test_of_a_run_that_is_repeated_by_hand_is_just_read(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        own = job(tmp_path)
        write(tmp_path / "job.json", own)
        monkeypatch.setenv(JOB_VARIABLE, str(tmp_path / "job.json"))
        monkeypatch.delenv(MAKER_VARIABLE, raising=False)
        assert exchange.given(Job)[0] == own


class TestProgress:
    def test_is_told_from_the_beginning_and_within_a_chunk(self, tmp_path: Path) -> None:
        scoreboard, told = Scoreboard(job(tmp_path)), tmp_path / "progress_0"
        assert told.read_text() == "0\n"
        scoreboard.tell(2)
        assert told.read_text() == "2\n"
        scoreboard.compare(CHUNKS[0], CHUNKS[0].expected)
        scoreboard.tell(1)
        assert told.read_text() == "4\n"
        assert scoreboard.answer().rows == 3


def test_an_answer_comes_back_from_its_file(tmp_path: Path) -> None:
    found = outputs()
    found[1][0] ^= np.uint64(1)
    answer = answer_of(tmp_path, found, unknown={2: {0: "x" * OUTPUT_BITS}})
    write(tmp_path / "answer.json", answer)
    assert read(tmp_path / "answer.json", Answer) == answer
    own = job(tmp_path, share=1, shares=3, digested=2, maker=7)
    write(tmp_path / "job.json", own)
    assert read(tmp_path / "job.json", Job) == own


def test_shares_that_find_different_latencies_are_no_answer() -> None:
    same = merged([Answer(rows=1, latency=2), Answer(rows=1, latency=2), Answer(rows=1)])
    assert (same.latency, same.protocol_error) == (2, None)
    found = merged([Answer(rows=1, latency=3), Answer(rows=1, latency=2)])
    as_recorded(found.protocol_error)


def test_a_latency_at_which_most_is_wrong_is_told_so() -> None:
    chunk = CHUNKS[1]
    found = chunk.expected.copy()
    as_recorded(other_in_bulk(chunk, found, [2], 2))
    found[:] ^= np.uint64(1)
    text = other_in_bulk(chunk, found, [2], 2)
    as_recorded(text)
