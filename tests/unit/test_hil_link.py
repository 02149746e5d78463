"""Targets are parsed or refused, and a link carries data in both directions until it closes."""

from __future__ import annotations

import os
import socket
import threading

import pytest
from support.boards import link_to
from support.said import raises

from dais_verif.base.errors import InputError
from dais_verif.simulation.boards.link import LinkClosed, Target, parse_target


@pytest.mark.parametrize(
    ("text", "scheme", "place", "port", "baud"),
    [
        ("serial:///dev/ttyUSB0", "serial", "/dev/ttyUSB0", 0, 115200),
        (
            "serial:///dev/serial/by-id/usb-Digilent_A-if01?baud=921600",
            "serial",
            "/dev/serial/by-id/usb-Digilent_A-if01",
            0,
            921600,
        ),
        ("tcp://lab7:2000", "tcp", "lab7", 2000, 115200),
        ("tcp://[::1]:2000/", "tcp", "::1", 2000, 115200),
        ("sim://uart", "sim", "uart", 0, 115200),
        ("sim://fifo", "sim", "fifo", 0, 115200),
    ],
)
def test_targets(text: str, scheme: str, place: str, port: int, baud: int) -> None:
    assert parse_target(text) == Target(text, scheme, place, port, baud)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/dev/ttyUSB0",
        "serial:",
        "serial://dev/ttyUSB0",
        "serial:///dev/ttyUSB0?baud=fast",
        "serial:///dev/ttyUSB0?baud=0",
        "serial:///dev/ttyUSB0?baud=-9600",
        "serial:///dev/ttyUSB0?speed=9600",
        "serial:///dev/ttyUSB0?baud",
        "tcp://lab7",
        "tcp://lab7:0",
        "tcp://lab7:99999",
        "tcp://:2000",
        "tcp://lab7:2000/x",
        "tcp://lab7:2000?baud=9600",
        "tcp://[lab7:2000",
        "sim://",
        "sim://jtag",
        "http://lab7:80",
    ],
)
def test_what_is_no_target(text: str) -> None:
    with raises(InputError):
        parse_target(text)


def test_both_sides_may_send_more_than_the_link_holds() -> None:
    """All data arrives although neither side reads before it has sent everything; a blocking write would hang."""
    ours, theirs = socket.socketpair()
    data = os.urandom(2_000_000)

    def other() -> None:
        theirs.sendall(data)
        left = len(data)
        while left:
            left -= len(theirs.recv(1 << 16))

    thread = threading.Thread(target=other, daemon=True)
    with ours, theirs, link_to(ours) as link:
        thread.start()
        link.send(data)
        found = b""
        while len(found) < len(data):
            found += link.receive(1.0)
        while thread.is_alive():
            link.receive(0.01)
    assert found == data


def test_nothing_comes() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, link_to(ours) as link:
        assert link.receive(0.01) == b""


def test_the_other_end_is_gone() -> None:
    ours, theirs = socket.socketpair()
    with ours, link_to(ours) as link:
        theirs.sendall(b"last words")
        theirs.close()
        assert link.receive(1) == b"last words"
        with raises(LinkClosed):
            link.receive(1)
        with pytest.raises(LinkClosed):
            link.send(b"x")
