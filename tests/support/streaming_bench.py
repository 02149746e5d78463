"""A cocotb testbench that clocks a design: it drives each line of cycles.txt, reads the outputs, then raises clk."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import Timer


@cocotb.test()
async def stream(dut: Any) -> None:
    """Write the values of the outputs at every rising edge to outputs.txt."""
    wait = Timer(1, unit="ns")
    found, folder = [], Path(os.environ["STREAMING"])
    dut.clk.value = 0
    for line in (folder / "cycles.txt").read_text().splitlines():
        rst, en, in_valid, vector = line.split()
        dut.rst.value, dut.en.value, dut.in_valid.value = int(rst), int(en), int(in_valid)
        dut.model_inp.value = vector
        await wait
        found.append(f"{dut.out_valid.value} {dut.model_out.value}")
        dut.clk.value = 1
        await wait
        dut.clk.value = 0
    (folder / "outputs.txt").write_text("\n".join(found) + "\n")
