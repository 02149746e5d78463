"""The link to a board: a serial port, a TCP connection, or a pair of sockets to a simulation.

Bytes to send are queued, because both sides could otherwise wait for each other: a board may not read further data
before its replies are read.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import socket
import time
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from dais_verif.base.errors import BoardError, BoardFailure
from dais_verif.hardware.emitter.board import BAUD, LINKS, clocks_per_bit
from dais_verif.hardware.emitter.machines.board import MOST_CYCLES

__all__ = ["Link", "LinkClosed", "LoadedBitstream", "Target", "open_link", "parse_target"]

_MOST = 1 << 16
#: The longest time for making a connection, in seconds.
_LONGEST_CONNECT = 60.0
_EXAMPLES = (
    "serial:///dev/ttyUSB0?baud=115200, tcp://host:port, sim://uart, sim://spi, sim://fifo or "
    "sim://bitstream?file=model.bin&pins=pins.pcf"
)
#: The default clocks per bit of a UART, which are right for the clock of 12 MHz that ``build`` uses.
_CLOCKS_PER_BIT = clocks_per_bit(1000 / 12)


class LinkClosed(BoardFailure):
    """Raised if the other end of the link is gone: the board was unplugged, or the connection was closed."""


class LoadedBitstream(NamedTuple):
    """The files of a bitstream and of its pins, its device if given, and the clocks per bit of its UART."""

    file: str
    pins: str
    device: str | None
    clocks_per_bit: int


class Target(NamedTuple):
    """The address of a board. ``text``: as the user wrote it. ``place``: a device, a host, or a simulated link.

    ``cycles``: the number of a machine's cycles in one vector of a simulated board; None: the default. ``bitstream``:
    the bitstream that a simulated board is loaded with, if any.
    """

    text: str
    scheme: str
    place: str
    port: int = 0
    baud: int = BAUD
    cycles: int | None = None
    bitstream: LoadedBitstream | None = None


def parse_target(text: str) -> Target:
    """Return the address of the board that ``text`` names. Raises ``InputError`` with examples if it names none."""
    try:
        url = urlsplit(text)
        scheme, place, port = url.scheme, url.hostname or "", url.port or 0
        options = parse_qs(url.query, keep_blank_values=True, strict_parsing=bool(url.query))
        baud = int(options.pop("baud", [str(BAUD)])[-1]) if scheme == "serial" else BAUD
        cycles = _cycles(options.pop("cycles")[-1]) if scheme == "sim" and "cycles" in options else None
        loaded = _loaded(options) if (scheme, place) == ("sim", "bitstream") else None
    except ValueError as error:
        raise BoardError.of(
            "{target} {text!r}: {error}; must be like {examples}", text=text, error=error, examples=_EXAMPLES
        ) from None
    if options:
        raise BoardError.of(
            "{target} {text!r}: unknown option {options!r}; must be like {examples}",
            text=text,
            options=next(iter(options)),
            examples=_EXAMPLES,
        )
    if scheme == "serial" and not place and url.path and baud > 0:
        return Target(text, scheme, url.path, baud=baud)
    if scheme == "tcp" and place and port and not url.path.strip("/"):
        return Target(text, scheme, place, port)
    if scheme == "sim" and place in LINKS and not url.path.strip("/"):
        return Target(text, scheme, place, cycles=cycles)
    if loaded is not None and not url.path.strip("/"):
        return Target(text, scheme, place, cycles=cycles, bitstream=loaded)
    raise BoardError.of("{target} {text!r} cannot be used; must be like {examples}", text=text, examples=_EXAMPLES)


def _loaded(options: dict[str, list[str]]) -> LoadedBitstream:
    """Return the bitstream that the options of a target describe, and remove these options from ``options``.

    Raises ``ValueError`` if an option is missing or invalid.
    """
    missing = [name for name in ("file", "pins") if name not in options]
    if missing:
        raise ValueError(f"{missing[0]}= is missing")
    clocks = int(options.pop("clocks_per_bit", [str(_CLOCKS_PER_BIT)])[-1])
    if not 4 <= clocks <= 100_000:
        raise ValueError("clocks_per_bit must be 4 to 100000")
    device = options.pop("device")[-1] if "device" in options else None
    return LoadedBitstream(options.pop("file")[-1], options.pop("pins")[-1], device, clocks)


def _cycles(text: str) -> int:
    if not 1 <= int(text) <= MOST_CYCLES:
        raise ValueError(f"cycles must be 1 to {MOST_CYCLES}")
    return int(text)


class Link:
    """Sends and receives bytes on the file descriptor ``fd``, which must not block. ``close`` releases its owner.

    ``baud``: bits per second, with ten bits per byte, or None if the rate of the link is not known.
    """

    def __init__(self, name: str, fd: int, close: Callable[[], None], *, baud: int | None = None) -> None:
        self.name, self.baud = name, baud
        self._fd, self._close = fd, close
        self._unsent = bytearray()

    def __enter__(self) -> Link:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._close()

    def send(self, data: bytes) -> None:
        """Queue ``data``, and send as much as possible at once; ``receive`` sends the rest."""
        self._unsent += data
        self._write()

    def receive(self, seconds: float) -> bytes:
        """Return received bytes as soon as there are some, or no bytes after ``seconds``. Raises ``LinkClosed``."""
        deadline = time.monotonic() + seconds
        while True:
            left = max(deadline - time.monotonic(), 0.0)
            readable, writable, _ = select.select([self._fd], [self._fd] if self._unsent else [], [], left)
            if writable:
                self._write()
            if readable:
                return self._read()
            if left == 0.0:
                return b""

    def _read(self) -> bytes:
        try:
            data = os.read(self._fd, _MOST)
        except BlockingIOError:
            return b""
        except OSError as error:
            raise self._closed(error) from None
        if not data:
            raise self._closed(None)
        return data

    def _write(self) -> None:
        try:
            del self._unsent[: os.write(self._fd, self._unsent[:_MOST])]
        except BlockingIOError:
            return
        except OSError as error:
            raise self._closed(error) from None

    def _closed(self, error: OSError | None) -> LinkClosed:
        reason = "" if error is None or error.errno in (errno.EPIPE, errno.EIO) else f" ({error.strerror})"
        return LinkClosed(f"the link to {self.name} was closed by the other end{reason}")


def open_link(target: Target, timeout: float) -> Link:
    """Return the link to a real board. ``timeout``: seconds for a connection. Raises ``ToolError`` if there is none."""
    if target.scheme == "serial":
        return _serial(target)
    try:
        connection = socket.create_connection((target.place, target.port), min(timeout, _LONGEST_CONNECT))
    except OSError as error:
        raise BoardFailure(
            f"{target.text} cannot be reached: {error.strerror or error}; is the server of the board running there?"
        ) from None
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setblocking(False)
    return Link(target.text, connection.fileno(), connection.close)


def _serial(target: Target) -> Link:
    import serial

    try:
        port = serial.Serial(target.place, target.baud, timeout=0, write_timeout=0, exclusive=True)
        port.reset_input_buffer()
    except (OSError, ValueError) as error:  # SerialException is a subclass of OSError
        number = getattr(error, "errno", None)
        remedy = {
            errno.EACCES: "; you have no permission: join the group that owns it (often dialout)",
            errno.ENOENT: "; is the board plugged in? `ls /dev/serial/by-id` lists serial ports",
            errno.EBUSY: "; another program uses it",
            errno.EAGAIN: "; another program uses it",
        }.get(number or 0, "")
        reason = os.strerror(number) if number else str(error)
        raise BoardFailure(f"serial port {target.place!r} cannot be opened: {reason}{remedy}") from None
    return Link(target.text, port.fileno(), port.close, baud=target.baud)
