"""A cocotb test that drives each line of ``vectors.txt`` into model_inp, and writes model_out to ``outputs.txt``.

It runs inside the simulator and compares nothing: the comparison with the table is made outside.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import Timer


@cocotb.test()
async def dump(dut: Any) -> None:
    """Write one line per vector, most significant bit first, in the folder of the run."""
    found, folder = [], Path(os.environ["DUMPED"])
    for vector in (folder / "vectors.txt").read_text().split():
        dut.model_inp.value = vector
        await Timer(1, unit="ns")
        found.append(str(dut.model_out.value))
    (folder / "outputs.txt").write_text("\n".join(found) + "\n")
