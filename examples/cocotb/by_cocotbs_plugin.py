r"""Run the testbench with cocotb's own pytest plugin, which builds the design and shows each of its tests.

    pytest -n 2 -p cocotb_tools._pytest.plugin --cocotb-simulator icarus --cocotb-build-dir /tmp/mac \
        examples/cocotb/by_cocotbs_plugin.py

The plugin is that of cocotb 2.1, which is not public yet and may change. It passes if it finds no test in the given
module: check the number of tests.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent


@pytest.fixture(name="mac")
def mac_design(hdl: Any) -> Any:
    """Build the design, and return it."""
    hdl.toplevel = "mac"
    hdl.sources = (os.environ.get("MAC_RTL", HERE / "mac.v"),)
    hdl.timescale = ("1ns", "1ps")
    hdl.build(always=True)  # otherwise, RTL that is older than the previous build is not compiled
    return hdl


@pytest.mark.cocotb_runner("mac_bench")
def test_mac(mac: Any) -> None:
    """The tests of mac_bench.py, which run in the simulator, are shown below this one."""
    mac.test()
