"""The cocotb testbench of a replay: drive one vector, read named signals of the design.

A signal that the design does not have is left out of the answer.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import Timer

from dais_verif.files import write_atomically
from dais_verif.sim.job import JOB_VARIABLE, Probe


@cocotb.test()
async def read_signals(dut: Any) -> None:
    """Write the bits of every signal that exists, most significant first."""
    probe = Probe.load(Path(os.environ[JOB_VARIABLE]))
    dut.model_inp.value = probe.vector
    await Timer(1, unit="ns")
    bits = {}
    for name in probe.signals:
        signal = getattr(dut, name, None)
        if signal is not None:
            bits[name] = str(signal.value)
    write_atomically(Path(probe.answer), json.dumps(bits).encode())
