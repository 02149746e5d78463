"""The cocotb testbench of every run. A driver passes the job's rows through the design in its way, and compares.

The drivers: ``vectors`` (one design, row by row), ``joint`` (many of them at once), ``sequences`` (a machine, from
power-up), ``streams`` (behind AXI4-Stream), and ``probe``, which repeats a few rows and reads signals.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import cocotb

from dais_verif.simulation.testbench.exchange import DRIVER_VARIABLE, answer, given, take_key

_KEY = take_key()
# Loaded before the job exists, since a simulator may start earlier.
_DRIVER = import_module(f"{__package__}.{os.environ.get(DRIVER_VARIABLE, 'vectors')}")


@cocotb.test()
async def outputs_equal_golden_model(dut: Any) -> None:
    """Every output bit that the job asks for equals the golden model's."""
    job, answer_path = given(_DRIVER.JOB)
    found, problem = await _DRIVER.drive(dut, job)
    answer(answer_path, found, _KEY)
    # Not ``assert``, which Python's optimisation removes.
    if problem:
        raise AssertionError(problem)
