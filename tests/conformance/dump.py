"""The cocotb side: drive each line of ``vectors.txt`` into model_inp, write model_out to ``outputs.txt``.

Compares nothing, so that what is compared with what stays with the table. Runs inside the simulator.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import Timer


@cocotb.test()
async def dump(dut: Any) -> None:
    """One line a vector, most significant bit first, in the folder of the run."""
    found = []
    for vector in Path("vectors.txt").read_text().split():
        dut.model_inp.value = vector
        await Timer(1, unit="ns")
        found.append(str(dut.model_out.value))
    Path("outputs.txt").write_text("\n".join(found) + "\n")
