"""Testbenches as users write them for cocotb, with our model and scoreboard.

Each runs in the simulator on an instance in the module that ``tests/sim/test_cocotb_scoreboard.py`` writes. Some of
them must fail.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Timer

from dais_verif.base.errors import InputError
from dais_verif.cocotb import DaisModel, Scoreboard, ScoreboardError, generate_vectors

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "examples" / "quantised_mac.bin"
PORTS = {"inputs": {"ports": ["a", "b", "c"]}, "outputs": {"ports": ["y"]}}
PINS = {"clock": "clk", "latency": 2, "reset": "rst_n:low", "enable": "en", "valid_in": "in_valid"}
CLOCKED: dict[str, Any] = {**PINS, "valid_out": "out_valid", "ports": PORTS}


async def drive(dut: Any, model: DaisModel, count: int = 60, wait: float = 1) -> None:
    """Drive vectors into the combinational designs."""
    async for vector in generate_vectors(model, count).each(Timer(wait, unit="ns")):
        assert vector is not None
        dut.x.value = vector.packed
    await Timer(wait, unit="ns")


async def clocked(dut: Any, model: DaisModel, count: int = 60, after: int = 3) -> None:
    """Drive vectors into the clocked designs, with bubbles, stalls and resets between them, then ``after`` edges."""
    Clock(dut.clk, 2, unit="ns").start()
    dut.rst_n.value, dut.en.value, dut.in_valid.value = 0, 1, 0
    for _ in range(2):
        await FallingEdge(dut.clk)
    drawn = random.Random(3)
    async for vector in generate_vectors(model, count).with_bubbles(0.2).each(FallingEdge(dut.clk)):
        dut.rst_n.value, dut.en.value, dut.in_valid.value = int(drawn.random() > 0.05), 1, vector is not None
        if vector is not None:
            dut.a.value, dut.b.value, dut.c.value = vector.bits
        if drawn.random() < 0.2:
            dut.en.value = 0
            await FallingEdge(dut.clk)
            dut.en.value = 1
    for _ in range(after):
        await FallingEdge(dut.clk)
        dut.in_valid.value = 0


@cocotb.test()
async def combinational(dut: Any) -> None:
    scoreboard = Scoreboard(dut.good, PROGRAM)
    await drive(dut, scoreboard.model)
    scoreboard.verify()
    # A vector that is equal to the one before changes no signal, and is not counted again.
    assert 40 < scoreboard.vectors <= 60 and scoreboard.bits == 6 * scoreboard.vectors


@cocotb.test()
async def combinational_wrong(dut: Any) -> None:
    scoreboard = Scoreboard(dut.bad, PROGRAM)
    await drive(dut, scoreboard.model)


@cocotb.test()
async def all_mismatches(dut: Any) -> None:
    scoreboard = Scoreboard(dut.bad, PROGRAM, stop=False)
    await drive(dut, scoreboard.model)
    assert 1 < scoreboard.mismatches < scoreboard.vectors
    assert scoreboard.first_mismatch is not None and scoreboard.first_mismatch.op == 6


@cocotb.test()
async def nothing_driven(dut: Any) -> None:
    Scoreboard(dut.good, PROGRAM)


@cocotb.test()
async def nothing_compared(dut: Any) -> None:
    scoreboard = Scoreboard(dut.never, PROGRAM)
    await drive(dut, scoreboard.model, 3)
    try:
        scoreboard.verify()
    except ScoreboardError as error:
        assert "NOT_RUN: no output bit of never was compared; 1 input held X or Z" in str(error)
        raise


@cocotb.test()
async def delays_too_short(dut: Any) -> None:
    scoreboard = Scoreboard(dut.slow, PROGRAM)
    await drive(dut, scoreboard.model, wait=9)


@cocotb.test()
async def delays(dut: Any) -> None:
    scoreboard = Scoreboard(dut.slow, PROGRAM, settle=6)
    await drive(dut, scoreboard.model, wait=9)
    scoreboard.verify()


@cocotb.test()
async def wrong_later(dut: Any) -> None:
    scoreboard = Scoreboard(dut.late, PROGRAM)
    await drive(dut, scoreboard.model, wait=9)


@cocotb.test()
async def wrong_later_than_settled(dut: Any) -> None:
    scoreboard = Scoreboard(dut.late, PROGRAM, settle=2)
    await drive(dut, scoreboard.model, wait=9)


@cocotb.test()
async def pipeline(dut: Any) -> None:
    scoreboard = Scoreboard(dut.mac, PROGRAM, **CLOCKED)
    await clocked(dut, scoreboard.model)
    scoreboard.verify()
    assert 40 < scoreboard.vectors <= 60


@cocotb.test()
async def pipeline_by_steps(dut: Any) -> None:
    """The pipeline is compared by hand, with one step of the model per edge."""
    Clock(dut.clk, 2, unit="ns").start()
    model = DaisModel(PROGRAM, latency=2)
    dut.rst_n.value, dut.en.value, dut.in_valid.value = 1, 1, 1
    seen = 0
    for vector in generate_vectors(model, 20):
        await FallingEdge(dut.clk)
        dut.a.value, dut.b.value, dut.c.value = vector.bits
        await Timer(500, unit="ps")
        due = model.step(vector)
        if due is not None:
            assert dut.mac.y.value == due.packed
            seen += 1
    assert seen == 18


@cocotb.test()
async def pipeline_wrong(dut: Any) -> None:
    scoreboard = Scoreboard(dut.second, PROGRAM, **CLOCKED)
    await clocked(dut, scoreboard.model)


@cocotb.test()
async def pipeline_wrong_replayed(dut: Any) -> None:
    """A mismatch is found in an instance, whose module is the top of the replay."""
    rtl = os.environ.get("BENCH_RTL")
    if rtl is None:
        cocotb.pass_test("only where a replay is asked for")
    scoreboard = Scoreboard(dut.second, PROGRAM, rtl=str(rtl), **CLOCKED)
    await clocked(dut, scoreboard.model)


@cocotb.test()
async def another_latency(dut: Any) -> None:
    scoreboard = Scoreboard(dut.mac, PROGRAM, **{**CLOCKED, "latency": 3})
    await clocked(dut, scoreboard.model)


@cocotb.test()
async def nothing_came_out(dut: Any) -> None:
    scoreboard = Scoreboard(dut.mac, PROGRAM, **CLOCKED)
    await clocked(dut, scoreboard.model, 1, after=1)


@cocotb.test()
async def unknown_inputs(dut: Any) -> None:
    scoreboard = Scoreboard(dut.mac, PROGRAM, **CLOCKED)
    await clocked(dut, scoreboard.model, 8)
    dut.a.value, dut.in_valid.value = "xxxxxx", 1
    await FallingEdge(dut.clk)
    await FallingEdge(dut.clk)


@cocotb.test()
async def does_not_fit(dut: Any) -> None:
    for problem, given in {
        "port model_inp of the design has 7 bits": {},
        "the design has no input port in0": {"ports": {"inputs": {"port": "in0"}}},
        "latency": {"clock": "clk"},
        "[inputs] prt is unknown": {"ports": {"inputs": {"prt": "in0"}}},
    }.items():
        try:
            Scoreboard(dut.narrow, PROGRAM, **given)  # type: ignore[arg-type]
        except InputError as error:
            assert problem in str(error), error
        else:
            raise AssertionError(f"not refused: {problem}")
