"""Frames on a byte stream: only sent frames are received, whatever happens to the bytes, and intact ones always are."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dais_verif.simulation.boards.identity import Decoder, Frame, Kind, encode

FRAMES = st.builds(Frame, st.integers(0, 255), st.integers(0, 2**32 - 1), st.binary(max_size=40))
SPECIAL = st.lists(st.sampled_from([0x7D, 0x7E, 0x5D, 0x5E, 0x20, 0]), max_size=30).map(bytes)
FLAG = b"\x7e"


def received(data: bytes, *, cuts: int = 1) -> list[Frame]:
    decoder = Decoder()
    return [frame for k in range(0, len(data), cuts) for frame in decoder.feed(data[k : k + cuts])]


@pytest.mark.parametrize(
    ("frame", "sent"),
    [
        (Frame(Kind.IDENTIFY, 0, b""), "7e 01 00000000 adde42fb 7e"),
        (Frame(Kind.RUN, 0x7E7D0102, b"\x7e\x20"), "7e 02 02 01 7d5d 7d5e 7d5e 20 470fb337 7e"),
    ],
)
def test_bytes_on_the_line(frame: Frame, sent: str) -> None:
    """Frames give exactly the bytes that are written out here, so a change of the protocol is noticed."""
    assert encode(frame) == bytes.fromhex(sent)


@given(st.lists(FRAMES, max_size=5), st.integers(1, 50))
def test_what_is_sent_comes_out_however_it_is_cut(frames: list[Frame], cuts: int) -> None:
    assert received(b"".join(map(encode, frames)), cuts=cuts) == frames


@given(SPECIAL)
def test_a_flag_never_stands_within_a_frame(payload: bytes) -> None:
    sent = encode(Frame(0x7E, 0x7D7E7D7E, payload))
    assert sent[:1] == sent[-1:] == FLAG
    assert FLAG not in sent[1:-1]
    assert received(sent) == [Frame(0x7E, 0x7D7E7D7E, payload)]


@given(st.binary(max_size=60), FRAMES, FRAMES, st.binary(max_size=60))
def test_noise_costs_no_frame_beyond_the_one_that_it_hits(
    before: bytes, first: Frame, second: Frame, between: bytes
) -> None:
    found = received(before + encode(first) + between + encode(second))
    assert found == [first, second]


@given(st.lists(FRAMES, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_a_damaged_frame_is_lost_and_nothing_else(frames: list[Frame], rng: random.Random) -> None:
    """One byte is flipped, lost or doubled; the other frames are received."""
    sent = [encode(frame) for frame in frames]
    hit = rng.randrange(len(frames))
    victim = bytearray(sent[hit])
    place = rng.randrange(len(victim))
    kind = rng.choice(["flip", "lose", "double"])
    if kind == "flip":
        victim[place] ^= 1 << rng.randrange(8)
    elif kind == "lose":
        del victim[place]
    else:
        victim.insert(place, victim[place])
    found = received(b"".join([*sent[:hit], bytes(victim), *sent[hit + 1 :]]))
    others = frames[:hit] + frames[hit + 1 :]
    assert found in (others, frames)  # an additional or a missing flag does no damage


@given(st.binary(max_size=300))
def test_noise_is_no_frame(noise: bytes) -> None:
    assert received(noise + FLAG) == []


def test_damage_is_counted() -> None:
    decoder = Decoder()
    sent = bytearray(encode(Frame(1, 2, b"abc")))
    sent[4] ^= 1
    assert decoder.feed(bytes(sent) + FLAG + FLAG) == []
    assert (decoder.damaged, decoder.bytes) == (1, len(sent) + 2)


@pytest.mark.parametrize("body", ["7d", "01 00000000 adde42fb 7d", "7d7d21 00000000 adde42fb", ""])
def test_escapes_that_nobody_sends(body: str) -> None:
    assert received(FLAG + bytes.fromhex(body) + FLAG) == []


def test_noise_without_end_takes_no_memory_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dais_verif.simulation.boards.identity._LONGEST", 100)
    decoder = Decoder()
    for _ in range(50):
        decoder.feed(b"x" * 50)
    assert len(decoder._begun) <= 100
    assert decoder.feed(FLAG + encode(Frame(1, 2, b"abc"))) == [Frame(1, 2, b"abc")]
