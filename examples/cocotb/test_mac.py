"""Run the testbench with cocotb's own runner and with cocotb-test, and dais-verif without a testbench.

pytest -n 2 examples/cocotb
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from cocotb_test.simulator import run
from cocotb_tools.runner import get_runner

HERE = Path(__file__).parent
#: The tests of this example replace the RTL by faulty RTL.
RTL = Path(os.environ.get("MAC_RTL", HERE / "mac.v"))


def test_by_cocotbs_runner(tmp_path: Path) -> None:
    """All tests of the testbench pass in cocotb's own runner; if one fails, this test fails."""
    runner = get_runner("icarus")
    runner.build(sources=[RTL], hdl_toplevel="mac", build_dir=tmp_path, timescale=("1ns", "1ps"))
    runner.test(
        hdl_toplevel="mac",
        test_module="mac_bench",
        test_dir=HERE,
        build_dir=tmp_path,
        results_xml=str(tmp_path / "results.xml"),
    )


def test_by_cocotb_test(tmp_path: Path) -> None:
    """All tests of the testbench pass in cocotb-test."""
    run(
        verilog_sources=[str(RTL)],
        toplevel="mac",
        module="mac_bench",
        python_search=[str(HERE)],
        sim_build=str(tmp_path),
        timescale="1ns/1ps",
    )


@pytest.mark.dais_program("../quantised_mac.bin", sim="icarus", rtl=str(RTL), top="mac", ports=str(HERE / "mac.toml"))
def test_by_dais_verif(dais_result: Mapping[str, Any]) -> None:
    """dais-verif compares 1,000 vectors without a testbench."""
    assert dais_result["simulators"][0]["vectors_compared"] == 1000
