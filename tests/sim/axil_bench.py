"""Cocotb tests with an AXI4-Lite master and both streams, for the registers, the counters and the signatures."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import Timer

OKAY, SLVERR = 0, 2
START, GIVE_UP, CLEAR = 1, 2, 4
BUSY, DONE, WAITING = 1, 2, 4


class Bench:
    """Drive the inputs and sample the outputs of one clock cycle at a time."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.job = json.loads(Path(os.environ["AXIL_JOB"]).read_text())
        self.chance = random.Random(1)
        self.clocks = 0
        self.to_send: list[int] = []
        self.sent = self.got = self.packets = self.stalls_in = self.stalls_out = 0
        self.received: list[str] = []
        self.ready = self.eager = 1.0
        self.offering = False

    async def clock(self) -> None:
        dut = self.dut
        ready = int(self.chance.random() < self.ready)
        dut.m_axis_tready.value = ready
        self.offering = bool(self.to_send) and (self.offering or self.chance.random() < self.eager)
        dut.s_axis_tvalid.value = int(self.offering)
        if self.offering:
            dut.s_axis_tdata.value = self.to_send[0]
            dut.s_axis_tlast.value = self.sent % 3 == 0
        dut.aclk.value = 0
        await Timer(1, "ns")
        offered, taken = self.offering, int(dut.s_axis_tready.value)
        valid = int(dut.m_axis_tvalid.value)
        self.stalls_in += offered and not taken
        self.stalls_out += valid and not ready
        if offered and taken:
            self.to_send.pop(0)
            self.offering = False
            self.sent += 1
        if valid and ready:
            self.received.append(str(dut.m_axis_tdata.value))
            self.packets += int(dut.m_axis_tlast.value)
            self.got += 1
        self.seen = {name: int(getattr(dut, f"s_axil_{name}").value) for name in
                     ("awready", "wready", "bvalid", "arready", "rvalid") if self.clocks > 1}  # fmt: skip
        if self.seen.get("bvalid"):
            self.seen["bresp"] = int(dut.s_axil_bresp.value)
        if self.seen.get("rvalid"):
            self.seen["read"] = (int(dut.s_axil_rdata.value), int(dut.s_axil_rresp.value))
        dut.aclk.value = 1
        await Timer(1, "ns")
        self.clocks += 1

    async def reset(self) -> None:
        dut = self.dut
        for name in (
            "awaddr",
            "awprot",
            "awvalid",
            "wdata",
            "wstrb",
            "wvalid",
            "bready",
            "araddr",
            "arprot",
            "arvalid",
        ):
            getattr(dut, f"s_axil_{name}").value = 0
        dut.s_axil_rready.value = 0
        dut.s_axis_tuser.value = 0
        dut.aresetn.value = 0
        for name in ("s_axis_tvalid", "s_axis_tdata", "s_axis_tlast", "m_axis_tready"):
            getattr(dut, name).value = 0
        for level in (0, 1, 0, 1):
            dut.aclk.value = level
            await Timer(1, "ns")
        dut.aresetn.value = 1
        for _ in range(3):
            await self.clock()

    async def read(self, address: int) -> tuple[int, int]:
        dut = self.dut
        dut.s_axil_araddr.value = address
        dut.s_axil_arvalid.value = 1
        await self.clock()
        while not self.seen["arready"]:
            await self.clock()
        dut.s_axil_arvalid.value = 0
        for _ in range(self.chance.randrange(3)):
            await self.clock()
        dut.s_axil_rready.value = 1
        await self.clock()
        while not self.seen["rvalid"]:
            await self.clock()
        dut.s_axil_rready.value = 0
        return self.seen["read"]  # type: ignore[return-value]

    async def write(self, address: int, value: int, strobe: int = 15) -> int:
        """Write a register, with address and data in either order, and return the response."""
        dut = self.dut
        dut.s_axil_awaddr.value, dut.s_axil_wdata.value, dut.s_axil_wstrb.value = address, value, strobe
        open_ = {"aw", "w"}
        first = self.chance.choice(["aw", "w", "both"])
        for name in ("aw", "w"):
            getattr(dut, f"s_axil_{name}valid").value = int(first in (name, "both"))
        while open_:
            await self.clock()
            for name in sorted(open_):
                if self.seen[f"{name}ready"] and int(getattr(dut, f"s_axil_{name}valid").value):
                    open_.discard(name)
                    getattr(dut, f"s_axil_{name}valid").value = 0
            for name in open_:
                getattr(dut, f"s_axil_{name}valid").value = 1
        dut.s_axil_bready.value = 1
        await self.clock()
        while not self.seen["bvalid"]:
            await self.clock()
        dut.s_axil_bready.value = 0
        return int(self.seen["bresp"])

    async def value(self, name: str) -> int:
        address, words = self.job["registers"][name]
        value = 0
        for k in range(words):
            word, response = await self.read(address + 4 * k)
            assert response == OKAY, f"{name} answers {response}"
            value = value << 32 | word if name == "HASH" else value | word << 32 * k
        return value

    async def control(self, bits: int) -> int:
        return await self.write(self.job["registers"]["CONTROL"][0], bits)

    async def settle(self) -> None:
        """Wait until the stream is empty, and four cycles more, since the counters follow one cycle later."""
        for _ in range(4000):
            await self.clock()
            if not self.to_send and self.sent == self.got:
                break
        for _ in range(4):
            await self.clock()

    async def check_counters(self) -> None:
        expected = {"BEATS_IN": self.sent, "BEATS_OUT": self.got, "STALLS_IN": self.stalls_in,
                    "STALLS_OUT": self.stalls_out, "PACKETS": self.packets}  # fmt: skip
        found = {name: await self.value(name) for name in expected}
        assert found == expected, f"counters are {found}, must be {expected}"

    async def self_check(self, beats: int) -> tuple[int, int]:
        """Return the signature, and the clock cycles from the response to START until a poll sees DONE."""
        assert await self.write(self.job["registers"]["CHECK_BEATS"][0], beats) == OKAY
        assert await self.control(START) == OKAY
        begin = self.clocks
        while not await self.value("STATUS") & DONE:
            assert self.clocks < begin + beats + 10_000, "the self-check does not end"
        return await self.value("SIGNATURE"), self.clocks - begin


@cocotb.test()
async def identification(dut: Any) -> None:
    bench = Bench(dut)
    await bench.reset()
    found = {name: await bench.value(name) for name in bench.job["facts"]}
    assert found == bench.job["facts"], f"{found}, must be {bench.job['facts']}"


@cocotb.test()
async def addresses_that_are_not_there_are_refused(dut: Any) -> None:
    bench = Bench(dut)
    await bench.reset()
    known = {address + 4 * k for address, words in bench.job["registers"].values() for k in range(words)}
    for address in range(0, 256, 4):
        response = (await bench.read(address))[1]
        assert response == (OKAY if address in known else SLVERR), f"read of 0x{address:02x} answers {response}"
    writable = {bench.job["registers"][name][0] for name in ("CONTROL", "CHECK_BEATS")}
    for address in range(0, 256, 4):
        response = await bench.write(address, 0)
        assert response == (OKAY if address in writable else SLVERR), f"write to 0x{address:02x} answers {response}"


@cocotb.test()
async def bytes_of_a_register_are_written_alone(dut: Any) -> None:
    bench = Bench(dut)
    await bench.reset()
    address = bench.job["registers"]["CHECK_BEATS"][0]
    expected = 0
    for _ in range(20):
        value, strobe = bench.chance.getrandbits(32), bench.chance.getrandbits(4)
        assert await bench.write(address, value, strobe) == OKAY
        mask = sum(0xFF << 8 * k for k in range(4) if strobe >> k & 1)
        expected = expected & ~mask | value & mask
        assert await bench.value("CHECK_BEATS") == expected


@cocotb.test()
async def counters_count(dut: Any) -> None:
    bench = Bench(dut)
    await bench.reset()
    bench.ready = bench.eager = 0.6
    bench.to_send = [bench.chance.getrandbits(8) for _ in range(50)]
    await bench.settle()
    assert len({bench.sent, bench.packets, bench.stalls_in, bench.stalls_out}) == 4, "counters should differ"
    await bench.check_counters()
    assert await bench.control(CLEAR) == OKAY
    bench.sent = bench.got = bench.packets = bench.stalls_in = bench.stalls_out = 0
    await bench.check_counters()


@cocotb.test()
async def signatures_are_those_of_the_golden_model(dut: Any) -> None:
    bench = Bench(dut)
    await bench.reset()
    for beats, signature in bench.job["signatures"].items():
        found, clocks = await bench.self_check(int(beats))
        assert found == signature, f"signature of {beats} beats is {found:08x}, must be {signature:08x}"
        assert clocks <= int(beats) + bench.job["overhead"], f"{beats} beats took {clocks} clocks"
    assert bench.got == 0, "beats of the self-check came out"


@cocotb.test()
async def a_start_without_beats_is_refused(dut: Any) -> None:
    bench = Bench(dut)
    await bench.reset()
    assert await bench.control(START) == SLVERR
    assert await bench.value("STATUS") == 0


@cocotb.test()
async def the_stream_waits_for_the_check_and_the_check_for_the_stream(dut: Any) -> None:
    bench = Bench(dut)
    await bench.reset()
    bench.to_send = [bench.chance.getrandbits(8) for _ in range(40)]
    reference = list(bench.to_send)
    bench.ready = 0.0
    for _ in range(20):
        await bench.clock()
    in_flight = bench.sent
    assert 0 < in_flight < 40
    assert await bench.write(bench.job["registers"]["CHECK_BEATS"][0], 16) == OKAY
    assert await bench.control(START) == OKAY
    for _ in range(50):
        assert await bench.value("STATUS") == BUSY | WAITING
    assert await bench.control(START) == SLVERR, "a second START is refused"
    assert await bench.write(bench.job["registers"]["CHECK_BEATS"][0], 5) == SLVERR, "CHECK_BEATS stands while BUSY"
    assert bench.sent == in_flight, "the stream is blocked"
    # After the self-check is given up, the stream goes on.
    assert await bench.control(GIVE_UP) == OKAY
    assert await bench.value("STATUS") == 0
    bench.ready = 0.7
    while bench.sent < 20:
        await bench.clock()
    # Once the beats in flight have left, the self-check runs between two beats, and no beat is lost.
    signature, _ = await bench.self_check(16)
    assert signature == bench.job["signatures"]["16"]
    await bench.settle()
    assert bench.got == 40
    blocked = bench.received
    await bench.reset()
    bench.sent = bench.got = 0
    bench.received = []
    bench.ready = 1.0
    bench.to_send = reference
    await bench.settle()
    assert bench.received == blocked, "what came out differs from an undisturbed run"
