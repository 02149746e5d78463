"""A session with a board: its identity, and results for vectors, even if the link loses data.

Several batches are in flight at once, to hide the latency of the link. Replies come in the order of requests: a reply
shows that all earlier unanswered requests are lost, and these are sent again with a new tag. A reply with an unexpected
tag is dropped, so that no reply counts twice, and no reply to an earlier run counts. Batches get smaller when some are
lost, and larger otherwise.
"""

from __future__ import annotations

import itertools
import json
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import BoardError, BoardFailure
from dais_verif.base.files import write_atomically
from dais_verif.base.text import counted
from dais_verif.simulation.boards.identity import OVERHEAD, REPLY, Decoder, Frame, Identity, Kind, encode
from dais_verif.simulation.boards.link import Link
from dais_verif.simulation.testbench.exchange import built
from dais_verif.simulation.testbench.job import Answer

__all__ = ["Bytes", "Journal", "Session", "Traffic"]


#: An array of uint8 with shape (rows, bytes of a row).
Bytes = NDArray[np.uint8]

#: Seconds until an unanswered request is sent again: the first value, which is doubled at each loss, up to the second
#: value.
_FIRST_WAIT, _LONGEST_WAIT = 0.1, 5.0
#: The longest time, in seconds, to wait for data before the deadlines are checked.
_LOOK = 0.2
#: Batches do not grow if a reply takes longer than this, in seconds: larger batches would not be faster, but losses
#: would be larger.
_LONG = 0.5
#: The largest number of requests in flight; this many requests of the largest size fill the buffer of the board.
_WINDOW = 4
#: The largest number of bytes of a reply, so that progress is visible and losses are small.
_LARGEST_REPLY = 1 << 15
#: The largest number of rows of a batch.
_MOST_ROWS = 1 << 15
#: The number of times that a batch may be sent. A link that needs more attempts is unusable.
_MOST_ATTEMPTS = 100
#: The largest number of blocks that are processed at once.
_OPEN_BLOCKS = 3


@dataclass
class Traffic:
    """Statistics of a session: batches sent or repeated, dropped replies, and frames damaged on either side."""

    sent: int = 0
    repeated: int = 0
    unexpected: int = 0
    damaged_there: int = 0
    damaged_here: int = 0


@dataclass
class _Block:
    inputs: Bytes
    results: Bytes
    missing: int


@dataclass
class _Batch:
    """Rows ``start`` to ``stop`` of a block."""

    block: _Block
    start: int
    stop: int
    attempts: int = 0
    at: float = 0.0

    @property
    def bytes(self) -> int:
        """The size of the request in the buffer of the board."""
        return OVERHEAD + (self.stop - self.start) * int(self.block.inputs.shape[1])


class Session:
    """A session with the board at ``link``. ``patience``: seconds without progress after which the session fails."""

    def __init__(self, link: Link, patience: float) -> None:
        self.link, self.patience = link, patience
        self.traffic = Traffic()
        # Tags begin at random, because replies to an earlier run may still arrive.
        self._tags = (tag & 0xFFFFFFFF for tag in itertools.count(secrets.randbits(32)))
        self._decoder = Decoder()
        self._echoed = False
        self._waiting: deque[_Batch] = deque()
        self._in_flight: dict[int, _Batch] = {}
        self._wait = _FIRST_WAIT
        self._rows = 1  # rows of a batch, which every reply enlarges
        self._has_lost = False
        self._progress = time.monotonic()
        self._heard = self._progress
        self._done = 0

    def identify(self) -> Identity:
        """Return the identity of the board. If no board answers, raises ``ToolError`` that states what was received."""
        begin = time.monotonic()
        asked: dict[int, float] = {}
        wait = _FIRST_WAIT
        while (now := time.monotonic()) - begin < self.patience:
            tag = next(self._tags)
            asked[tag] = now
            self.link.send(encode(Frame(Kind.IDENTIFY, tag, b"")))
            until = min(now + wait, begin + self.patience)
            wait = min(2 * wait, _LONGEST_WAIT)
            while (left := until - time.monotonic()) > 0:
                for frame in self._receive(left):
                    identity = Identity.parse(frame.payload) if frame.kind == Kind.IDENTIFY | REPLY else None
                    if identity is not None and frame.tag in asked:
                        self._wait = max(_FIRST_WAIT, 4 * (time.monotonic() - asked[frame.tag]))
                        return identity
        raise BoardFailure(self._nobody(len(asked), time.monotonic() - begin))

    def run(
        self, blocks: Iterable[Bytes], identity: Identity, told: Callable[[int], None] = lambda rows: None
    ) -> Iterator[Bytes]:
        """Yield the results of ``blocks``, in order.

        A block has the shape (rows, bytes of an input), its results have the shape (rows, bytes of an output). A block
        is taken from the iterable when there is room for its rows. ``told`` is called with the number of rows answered
        so far. Raises ``ToolError`` if the board does not make progress.
        """
        source, ended = iter(blocks), False
        width = (identity.output_bits + 7) // 8
        opened: deque[_Block] = deque()
        self._waiting.clear()
        self._in_flight.clear()
        self._progress = self._heard = time.monotonic()
        self._done = 0
        while True:
            told(self._done)
            while not ended and len(opened) < _OPEN_BLOCKS and not self._waiting:
                inputs = next(source, None)
                if inputs is None:
                    ended = True
                    break
                opened.append(_Block(inputs, np.zeros((len(inputs), width), dtype=np.uint8), len(inputs)))
                if len(inputs):
                    self._waiting.append(_Batch(opened[-1], 0, len(inputs)))
                # The time for making a block does not count against the board.
                self._progress = self._heard = time.monotonic()
            while opened and not opened[0].missing:
                yield opened.popleft().results
                self._progress = self._heard = time.monotonic()
            if ended and not opened:
                return
            self._send_what_fits(identity)
            if self._in_flight:  # otherwise all open blocks are complete, and the next ones must be taken first
                self._listen()

    def _send_what_fits(self, identity: Identity) -> None:
        used = sum(batch.bytes for batch in self._in_flight.values())
        window = _WINDOW if self._rows > 1 or not self._has_lost else 1
        while self._waiting and len(self._in_flight) < window:
            batch = self._cut(self._waiting.popleft(), identity)
            if self._in_flight and used + batch.bytes > identity.buffer:
                self._waiting.appendleft(batch)
                return
            if batch.attempts >= _MOST_ATTEMPTS:
                raise BoardFailure(self._stuck(f"a batch was sent {batch.attempts} times"))
            used += batch.bytes
            batch.attempts += 1
            batch.at = time.monotonic()
            tag = next(self._tags)
            self._in_flight[tag] = batch
            self.traffic.sent += 1
            self.traffic.repeated += batch.attempts > 1
            rows = batch.block.inputs[batch.start : batch.stop]
            self.link.send(encode(Frame(Kind.RUN, tag, rows.tobytes())))

    def _cut(self, batch: _Batch, identity: Identity) -> _Batch:
        """Return the part of ``batch`` to send now, and queue the rest again."""
        in_bytes, out_bytes = batch.block.inputs.shape[1], batch.block.results.shape[1]
        most = min((identity.buffer // _WINDOW - OVERHEAD) // in_bytes, _LARGEST_REPLY // out_bytes, self._rows)
        middle = batch.start + max(most, 1)
        if middle >= batch.stop:
            return batch
        self._waiting.appendleft(_Batch(batch.block, middle, batch.stop, batch.attempts))
        return _Batch(batch.block, batch.start, middle, batch.attempts)

    def _listen(self) -> None:
        """Receive frames for a short time, and handle requests that have waited too long."""
        now = time.monotonic()
        for frame in self._receive(min(max(self._deadline() - now, 0.0), _LOOK)):
            self._take(frame)
        now = time.monotonic()
        if now - self._progress > self.patience:
            raise BoardFailure(self._stuck(f"the board has not answered for {self.patience:g} s"))
        if self._in_flight and now >= self._deadline():
            self._lost(list(self._in_flight))
            self._wait = min(2 * self._wait, _LONGEST_WAIT)

    def _deadline(self) -> float:
        """Return the time at which the oldest request counts as lost.

        The time counts from the last reply to any batch, since the line may be busy with replies to other requests.
        """
        oldest = next(iter(self._in_flight.values()))
        return max(oldest.at, self._heard) + self._wait + self._line_time()

    def _line_time(self) -> float:
        """Return the seconds that all data in flight takes on the line in both directions; 0 if its rate is unknown."""
        if self.link.baud is None:
            return 0.0
        flying = 0
        for batch in self._in_flight.values():
            flying += batch.bytes + (batch.stop - batch.start) * int(batch.block.results.shape[1])
        return 20 * flying / self.link.baud  # 10 bits per byte, and 10 more for escapes at worst

    def _receive(self, seconds: float) -> list[Frame]:
        before = self._decoder.damaged
        frames = self._decoder.feed(self.link.receive(seconds))
        self.traffic.damaged_here += self._decoder.damaged - before
        self._echoed = self._echoed or any(not frame.kind & REPLY for frame in frames)
        return frames

    def _take(self, frame: Frame) -> None:
        if frame.kind == Kind.DAMAGED | REPLY:
            self.traffic.damaged_there += 1
            if self._in_flight:
                self._lost([next(iter(self._in_flight))])
            return
        batch = self._in_flight.get(frame.tag) if frame.kind == Kind.RUN | REPLY else None
        if batch is None:
            self.traffic.unexpected += 1
            return
        rows = batch.stop - batch.start
        width = batch.block.results.shape[1]
        if len(frame.payload) != rows * width:
            raise BoardFailure(
                f"the board answered {counted(rows, 'vector')} with {len(frame.payload)} bytes, must be {rows * width}:"
                " its bridge does not keep the protocol; make its bitstream again (dais-verif emit --wrap)"
            )
        order = list(self._in_flight)
        self._lost(order[: order.index(frame.tag)])
        now = time.monotonic()
        del self._in_flight[frame.tag]
        self._wait = max(_FIRST_WAIT, min(4 * (now - batch.at), _LONGEST_WAIT))
        if now - batch.at < _LONG:
            self._rows = min(self._rows + 1 + (self._rows // 16 if self._has_lost else self._rows), _MOST_ROWS)
        batch.block.results[batch.start : batch.stop] = np.frombuffer(frame.payload, np.uint8).reshape(rows, width)
        batch.block.missing -= rows
        self._done += rows
        self._progress = self._heard = now

    def _lost(self, tags: list[int]) -> None:
        """Queue the batches ``tags`` in front of all others, to be sent again in smaller pieces."""
        if not tags:
            return
        self._waiting.extendleft(reversed([self._in_flight.pop(tag) for tag in tags]))
        largest = max(batch.stop - batch.start for batch in itertools.islice(self._waiting, len(tags)))
        self._rows = max(1, min(self._rows, largest) // 2)
        self._has_lost = True

    def _nobody(self, asked: int, seconds: float) -> str:
        what = f"no board answers at {self.link.name}: it was asked {asked} times in {seconds:.1f} s"
        if self._echoed:
            return f"{what}, and what was sent came back unchanged; the link is looped back (RX tied to TX?)"
        if self._decoder.bytes:
            return (
                f"{what}, and {self._decoder.bytes} bytes came back that are not an answer;"
                " check the baud rate at both ends, that this is the right port, and the clock of the board"
            )
        return (
            f"{what}, and no byte came back; check power, clock and reset of the board, that RX and TX are not"
            " swapped, and that its bitstream was made with dais-verif emit --wrap"
        )

    def _stuck(self, why: str) -> str:
        traffic = self.traffic
        return (
            f"{why}, with {traffic.sent} batches sent, {traffic.repeated} of them again;"
            f" damaged frames: {traffic.damaged_here} here, {traffic.damaged_there} there;"
            " check power, cable and ground, or try a lower baud rate"
        )


# A file of the vectors compared so far, so that a later run can continue after them.


class Journal:
    """The file ``progress.json`` of a folder.

    ``of``: everything on which the run depends; a run can be resumed only if all of this is the same. ``rows`` and
    ``answer``: the number of vectors that were compared before this run begins, and their result. ``kept``: the number
    of compared vectors that the file states.
    """

    def __init__(self, folder: Path, of: Mapping[str, str], *, resume: bool) -> None:
        self._path, self._of = folder / "progress.json", dict(of)
        self.rows = 0
        self.answer = Answer()
        if resume:
            self._read()
        else:
            self._path.unlink(missing_ok=True)
        self.kept = self.rows

    def save(self, rows: int, answer: Answer) -> None:
        """Store that the first ``rows`` vectors have been compared, with the result ``answer``."""
        tree = {"of": self._of, "rows": rows, "answer": asdict(answer)}
        write_atomically(self._path, json.dumps(tree).encode())
        self.kept = rows

    def exists(self) -> bool:
        """Return True if there is a run to resume."""
        return self._path.exists()

    def close(self) -> None:
        """Remove the journal of a run that has ended, since there is nothing to resume."""
        self._path.unlink(missing_ok=True)

    def _read(self) -> None:
        try:
            tree = json.loads(self._path.read_text(encoding="utf-8"))
            of, self.rows, self.answer = dict(tree["of"]), int(tree["rows"]), built(Answer, tree["answer"])
        except FileNotFoundError:
            raise BoardError.of(
                "there is nothing to resume in {parent!r}: no run was interrupted there; leave out {resume}",
                parent=str(self._path.parent),
            ) from None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise BoardError.of(
                "{path!r} cannot be read ({error}); start again without {resume}", path=str(self._path), error=error
            ) from None
        for name in self._of:
            if of.get(name) != self._of[name]:
                raise BoardError.of(
                    "the run in {parent!r} differs from this one: {name} was {get}, is now {of}; resume it with the "
                    "options it had, or start again without {resume}",
                    parent=str(self._path.parent),
                    name=name,
                    get=of.get(name),
                    of=self._of[name],
                )
