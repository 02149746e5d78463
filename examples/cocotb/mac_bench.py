"""A testbench as users write it for cocotb, with the model, the scoreboard and the vectors of dais-verif."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from dais_verif.cocotb import DaisModel, Scoreboard, generate_vectors

HERE = Path(__file__).parent
PROGRAM = HERE.parent / "quantised_mac.bin"
#: The tests of this example replace the RTL by faulty RTL.
RTL = Path(os.environ.get("MAC_RTL", HERE / "mac.v"))


async def begin(dut: Any) -> None:
    """Start the clock, and reset the design."""
    Clock(dut.clk, 10, unit="ns").start()
    dut.rst_n.value, dut.en.value, dut.in_valid.value = 0, 1, 0
    for _ in range(2):
        await FallingEdge(dut.clk)
    dut.rst_n.value = 1


@cocotb.test()
async def test_every_output_bit(dut: Any) -> None:
    """The outputs are right for vectors with bubbles and stalls; the scoreboard pairs inputs and outputs."""
    scoreboard = Scoreboard(dut, PROGRAM, ports=HERE / "mac.toml", rtl=RTL)
    await begin(dut)
    drawn = random.Random(1)
    vectors = generate_vectors(scoreboard.model, 200, seed=1).with_bubbles(0.25)
    async for vector in vectors.each(FallingEdge(dut.clk)):
        dut.in_valid.value = vector is not None
        if vector is not None:
            dut.a.value, dut.b.value, dut.c.value = vector.bits
        dut.en.value = 0
        while drawn.random() < 0.2:
            await FallingEdge(dut.clk)
        dut.en.value = 1
    for _ in range(3):
        await FallingEdge(dut.clk)
        dut.in_valid.value = 0
    scoreboard.verify()
    assert scoreboard.vectors == 200


@cocotb.test()
async def test_one_by_hand(dut: Any) -> None:
    """The output is right for one vector of real values, with only the model."""
    model = DaisModel(PROGRAM)
    await begin(dut)
    dut.in_valid.value = 1
    expected = model([1.5, 2, 0.25])
    for port, value in zip((dut.a, dut.b, dut.c), (1.5, 2, 0.25), strict=True):
        port.value = round(value * 4)
    for _ in range(2):
        await FallingEdge(dut.clk)
    assert dut.y.value == expected.packed
    assert float(expected.real[0]) == dut.y.value.to_unsigned() / 2
