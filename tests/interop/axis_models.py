"""Drive streams and registers, inside the simulator, with the independent models of cocotbext-axi."""

from __future__ import annotations

import itertools
import json
import logging
import os
import random
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource

JOB = json.loads(Path(os.environ["AXIS_MODELS_JOB"]).read_text())


def pauses(seed: int, share: float) -> Any:
    chance = random.Random(seed)
    return (chance.random() < share for _ in itertools.count())


async def streams(dut: Any) -> tuple[AxiStreamSource, AxiStreamSink]:
    for name in ("s_axis", "m_axis"):
        logging.getLogger(f"cocotb.{dut._name}.{name}").setLevel(logging.WARNING)
    source = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis"), dut.aclk, dut.aresetn, reset_active_level=False)
    sink = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis"), dut.aclk, dut.aresetn, reset_active_level=False)
    cocotb.start_soon(Clock(dut.aclk, 2, "ns").start())
    dut.aresetn.value = 0
    await ClockCycles(dut.aclk, 4)
    dut.aresetn.value = 1
    await RisingEdge(dut.aclk)
    return source, sink


async def packets_pass(dut: Any, source_pauses: float, sink_pauses: float) -> None:
    """Send packets of one to seven beats, and compare TDATA, TUSER and the end of each packet."""
    source, sink = await streams(dut)
    source.set_pause_generator(pauses(1, source_pauses))
    sink.set_pause_generator(pauses(2, sink_pauses))
    chance = random.Random(3)
    sent = []
    at = 0
    while at < len(JOB["inputs"]):
        length = min(chance.randint(1, 7), len(JOB["inputs"]) - at)
        users = [chance.getrandbits(JOB["user_bits"]) for _ in range(length)]
        beats = range(at, at + length)
        sent.append((beats, users))
        data = b"".join(bytes.fromhex(JOB["inputs"][k])[::-1] for k in beats)
        lanes = len(JOB["inputs"][0]) // 2
        await source.send(AxiStreamFrame(data, tuser=[user for user in users for _ in range(lanes)]))
        at += length
    compared = 0
    out = len(JOB["expected"][0]) // 2
    for beats, users in sent:
        frame = await sink.recv(compact=False)
        expected = b"".join(bytes.fromhex(JOB["expected"][k])[::-1] for k in beats)
        assert bytes(frame.tdata) == expected, f"beats {beats}: {bytes(frame.tdata).hex()}, must be {expected.hex()}"
        assert frame.tuser[::out] == users, f"beats {beats}: TUSER {frame.tuser[::out]}, must be {users}"
        compared += len(beats)
    assert compared == len(JOB["expected"]) > 0
    await ClockCycles(dut.aclk, 50)
    assert sink.empty(), "more came out than went in"


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def nobody_pauses(dut: Any) -> None:
    await packets_pass(dut, 0.0, 0.0)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def both_pause(dut: Any) -> None:
    await packets_pass(dut, 0.4, 0.6)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def the_sink_pauses(dut: Any) -> None:
    await packets_pass(dut, 0.0, 0.8)


@cocotb.test(timeout_time=1, timeout_unit="ms", skip=not JOB["signatures"])
async def registers_and_self_check(dut: Any) -> None:
    master = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), dut.aclk, dut.aresetn, reset_active_level=False)
    await streams(dut)
    assert await master.read_dword(0x00) == 0x44414953
    words = [await master.read_dword(0x40 + 4 * k) for k in range(8)]
    assert "".join(f"{word:08x}" for word in words) == JOB["hash"]
    assert (await master.read(0x3C, 4)).resp == 2
    for beats, signature in JOB["signatures"].items():
        await master.write_dword(0x28, int(beats))
        await master.write_dword(0x08, 1)
        while not await master.read_dword(0x0C) & 2:
            pass
        found = await master.read_dword(0x2C)
        assert found == int(signature, 16), f"signature of {beats} beats is {found:08x}, must be {signature}"
