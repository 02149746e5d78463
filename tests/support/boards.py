"""Boards for tests: in Verilator or in Python, behind a TCP port or a serial port, over a link that damages bytes.

A board is handed on as a socket, the host's end of its link; threads pass bytes on between sockets and ports.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import select
import socket
import threading
import time
import tty
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from dais_verif.golden import Golden
from dais_verif.golden.machine import trace_machine
from dais_verif.hardware.emitter.machines.board import BOARD_CYCLES, board_bits, board_hash
from dais_verif.simulation.boards.emulator import build_board, start_board, write_design, write_machine_design
from dais_verif.simulation.boards.identity import PROTOCOL, REPLY, Decoder, Frame, Identity, Kind, encode
from dais_verif.simulation.boards.link import Link
from dais_verif.simulation.machines.rows import expected_rows
from dais_verif.simulation.testbench.packing import pack_outputs
from dais_verif.simulation.testbench.sequence_job import UNKNOWN
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.ports import bits_of, offsets_of
from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.numbers import Batch, Column
from dais_verif.spec.program.ports import ports_of

_Mangle = Callable[[bytes], Iterator[tuple[float, bytes]]]

__all__ = [
    "Compute",
    "Mangler",
    "computing",
    "link_to",
    "mangled",
    "on_pty",
    "on_tcp",
    "python_board",
    "reversing",
    "spoiled",
    "stepping",
    "verilated",
]


@dataclass
class Mangler:
    """The faults of a bad line, each with its probability per byte; a delay takes ``pause`` seconds."""

    seed: int
    lose: float = 0.0
    flip: float = 0.0
    double: float = 0.0
    delay: float = 0.0
    pause: float = 0.05

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def __call__(self, data: bytes) -> Iterator[tuple[float, bytes]]:
        """Yield the pieces into which ``data`` is damaged, each with the seconds to wait before it."""
        rates = {"lose": self.lose, "flip": self.flip, "double": self.double, "delay": self.delay}
        kinds = [*rates, "pass"]
        weights = [*rates.values(), 1 - sum(rates.values())]
        piece = bytearray()
        for byte, kind in zip(data, self._random.choices(kinds, weights, k=len(data)), strict=True):
            if kind == "delay":
                yield 0.0, bytes(piece)
                yield self.pause, b""
                piece = bytearray()
            if kind == "flip":
                byte ^= 1 << self._random.randrange(8)
            piece += bytes([byte] * {"lose": 0, "double": 2}.get(kind, 1))
        yield 0.0, bytes(piece)


def _clean(data: bytes) -> Iterator[tuple[float, bytes]]:
    yield 0.0, data


@contextlib.contextmanager
def _thread(work: Callable[[Callable[[], bool]], None]) -> Iterator[None]:
    """Run ``work`` in a thread until the block ends; ``work`` gets a function that tells whether it must end."""
    stop = threading.Event()
    thread = threading.Thread(target=work, args=(stop.is_set,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _pass_on(one: int, other: int, manglers: tuple[_Mangle, _Mangle], ended: Callable[[], bool]) -> None:
    """Pass bytes from each of two descriptors to the other, until one is closed."""
    ways = {one: (other, manglers[0]), other: (one, manglers[1])}
    while not ended():
        for source in select.select(list(ways), [], [], 0.02)[0]:
            try:
                data = os.read(source, 4096)
                if not data:
                    return
                target, mangle = ways[source]
                for pause, piece in mangle(data):
                    time.sleep(pause)
                    while piece:
                        piece = piece[os.write(target, piece) :]
            except OSError:
                return


@contextlib.contextmanager
def mangled(board: socket.socket, mangler: Mangler) -> Iterator[socket.socket]:
    """Yield a link to the board over a line that damages bytes in both directions."""
    ours, theirs = socket.socketpair()
    back = replace(mangler, seed=mangler.seed + 1_000_003)

    def work(ended: Callable[[], bool]) -> None:
        with theirs:
            _pass_on(theirs.fileno(), board.fileno(), (mangler, back), ended)

    with ours, _thread(work):
        yield ours


@contextlib.contextmanager
def on_tcp(board: socket.socket) -> Iterator[str]:
    """Yield the target of the board behind a TCP port, which serves one connection after the other."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)

        def work(ended: Callable[[], bool]) -> None:
            while not ended():
                with contextlib.suppress(TimeoutError):
                    connection, _ = server.accept()
                    with connection:
                        connection.setblocking(True)
                        _pass_on(connection.fileno(), board.fileno(), (_clean, _clean), ended)

        with _thread(work):
            yield f"tcp://127.0.0.1:{server.getsockname()[1]}"


@contextlib.contextmanager
def on_pty(board: socket.socket) -> Iterator[str]:
    """Yield the target of the board behind a serial port."""
    master, slave = os.openpty()
    tty.setraw(slave)  # kept open, so that the port exists whether or not it is in use
    try:
        with _thread(lambda ended: _pass_on(master, board.fileno(), (_clean, _clean), ended)):
            yield f"serial://{os.ttyname(slave)}"
    finally:
        os.close(slave)
        os.close(master)


@contextlib.contextmanager
def verilated(
    program: Program | Machine,
    link: str,
    folder: Path,
    *,
    core: str | None = None,
    latency: int = 0,
    cycles: int = BOARD_CYCLES,
    bug: tuple[str, str, str] | None = None,
) -> Iterator[socket.socket]:
    """Yield the link of a board in Verilator whose identity is that of ``program``.

    ``cycles``: clock cycles per vector, where the program is a machine.
    ``bug``: a file of the hand-written RTL, a text that occurs once in it, and the text that replaces it.
    """
    if isinstance(program, Machine):
        sources = write_machine_design(program, link, folder, core=core, cycles=cycles)
        bits, clocks = cycles * sum(board_bits(program)), cycles
    else:
        sources, clocks = write_design(program, link, folder, core=core, latency=latency), 0
        bits = ports_of(program).input_bits + ports_of(program).output_bits
    if bug is not None:
        file, old, new = bug
        text = (folder / file).read_text()
        assert text.count(old) == 1, f"{old!r} is {text.count(old)} times in {file}: choose another bug"
        (folder / file).write_text(text.replace(old, new))
    board = build_board(sources, link, folder / "build", bits=bits, clocks=clocks)
    ours, theirs = socket.socketpair()
    with ours, theirs, start_board(board, theirs.fileno()):
        theirs.close()
        yield ours


#: A function that returns one result for each vector.
Compute = Callable[[list[bytes]], list[bytes]]

#: The identity of a board that takes and returns three bytes.
THREE_BYTES = Identity(PROTOCOL, "0" * 64, 24, 24, 0, 4096)


def reversing(vectors: list[bytes]) -> list[bytes]:
    """Return each vector with its bytes reversed, so that results are as long as vectors."""
    return [vector[::-1] for vector in vectors]


def computing(program: Program) -> tuple[Identity, Compute]:
    """Return the identity of a board that runs ``program``, and the function that it computes."""
    ports, golden = ports_of(program), Golden(program)
    in_bits, out_bits = max(ports.input_bits, 1), max(ports.output_bits, 1)

    def compute(vectors: list[bytes]) -> list[bytes]:
        words = np.array([int.from_bytes(vector, "little") for vector in vectors], dtype=object)
        columns = [Column(words >> e.offset & (1 << e.width) - 1, e.lo) for e in ports.inputs]
        outputs = golden.run_raw(Batch(len(words), tuple(columns)), check=False)
        return [row.tobytes()[: (out_bits + 7) // 8] for row in pack_outputs(outputs, ports, len(words))]

    return Identity(PROTOCOL, program.hash, in_bits, out_bits, 0, 4096), compute


def stepping(machine: Machine, cycles: int = BOARD_CYCLES, runs: Machine | None = None) -> tuple[Identity, Compute]:
    """Return the identity of a board that runs ``machine`` for ``cycles`` cycles per vector, and what it computes.

    ``runs``: the machine that it really runs, which has the same ports. Each vector begins at power-up, and unknown
    output bits are 1.
    """
    runs = machine if runs is None else runs
    bits_in, bits_out = board_bits(machine)

    def compute(vectors: list[bytes]) -> list[bytes]:
        return [result(int.from_bytes(vector, "little")) for vector in vectors]

    def result(vector: int) -> bytes:
        rows: dict[str, list[list[Fraction]]] = {}
        first = 0
        for signal in runs.inputs:
            places = [
                (first + place, kind) for place, kind in zip(offsets_of(signal.types), signal.types, strict=False)
            ]
            first += bits_of(signal.types)
            rows[signal.name] = [
                [real(vector >> cycle * bits_in + place & (1 << kind.width) - 1, kind) for place, kind in places]
                for cycle in range(cycles)
            ]
        found = trace_machine(runs, rows, check=False, cycles=cycles)
        texts = [next(expected_rows(runs, cycle)).replace(UNKNOWN, "1") for cycle in found]
        return int("".join(reversed(texts)), 2).to_bytes(-(-bits_out * cycles // 8), "little")

    identity = Identity(PROTOCOL, board_hash(machine), cycles * bits_in, cycles * bits_out, cycles, 4096)
    return identity, compute


def real(raw: int, kind: FixedType) -> Fraction:
    """Return the value of a bit pattern of type ``kind``."""
    return (raw - (raw > kind.raw_max) * (1 << kind.width)) / Fraction(2) ** kind.f


def spoiled(compute: Compute, when: Callable[[int], bool]) -> Compute:
    """Return ``compute`` with bit 0 inverted where ``when`` is true of a result's number, in the board's order."""
    count = itertools.count()

    def spoil(vectors: list[bytes]) -> list[bytes]:
        results = compute(vectors)
        return [bytes([r[0] ^ 1]) + r[1:] if when(next(count)) else r for r in results]

    return spoil


@contextlib.contextmanager
def python_board(
    identity: Identity = THREE_BYTES,
    compute: Compute = reversing,
    *,
    answer: Callable[[Frame], list[bytes] | None] = lambda frame: None,
    echo: bool = False,
) -> Iterator[socket.socket]:
    """Yield the link of a board in Python.

    ``answer``: returns the bytes to send instead of the reply to a request, or None for the usual reply.
    ``echo``: the board returns all bytes as they came.
    """
    ours, theirs = socket.socketpair()
    width = (identity.input_bits + 7) // 8

    def reply(frame: Frame) -> Frame:
        payload = b""
        if frame.kind == Kind.IDENTIFY:
            payload = identity.pack()
        elif frame.kind == Kind.RUN:
            payload = b"".join(compute([frame.payload[k : k + width] for k in range(0, len(frame.payload), width)]))
        return Frame(frame.kind | REPLY, frame.tag, payload)

    def work(ended: Callable[[], bool]) -> None:
        decoder = Decoder()
        with theirs, contextlib.suppress(OSError):
            while not ended():
                if not select.select([theirs], [], [], 0.02)[0]:
                    continue
                data = theirs.recv(4096)
                if not data:
                    return
                if echo:
                    theirs.sendall(data)
                    continue
                before = decoder.damaged
                for frame in decoder.feed(data):
                    other = answer(frame)
                    for sent in [encode(reply(frame))] if other is None else other:
                        theirs.sendall(sent)
                for _ in range(decoder.damaged - before):
                    theirs.sendall(encode(Frame(Kind.DAMAGED | REPLY, 0, b"")))

    with ours, _thread(work):
        yield ours


@contextlib.contextmanager
def link_to(board: socket.socket) -> Iterator[Link]:
    """Yield the host's end of the link of a board."""
    board.setblocking(False)
    with Link("the board", board.fileno(), lambda: None) as link:
        yield link
