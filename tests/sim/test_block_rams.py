"""Block RAMs read back from a bitstream behave like the models of Yosys, in every width."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from dais_verif.base.toolchain import tools
from dais_verif.hardware.bitstream.logic import PortBit, Ram, ReadBack
from dais_verif.hardware.bitstream.verilog import write_verilog
from dais_verif.hardware.synthesis.netlist import models
from dais_verif.hardware.synthesis.targets import TARGETS

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("yosys")]

_WIDTHS = {"RADDR": 11, "WADDR": 11, "MASK": 16, "WDATA": 16, "RE": 1, "WE": 1, "RCLKE": 1, "WCLKE": 1}

_BENCH = """
module bench;
  reg clk = 0;
  integer i, seed = 5;
{registers}
  wire [15:0] a, b;
  read_back one (.clk(clk), .RDATA(a){ports});
  SB_RAM40_4K #(.READ_MODE({read}), .WRITE_MODE({write}), {contents}) two (.RDATA(b), .RCLK(clk), .WCLK(clk){ports});
  initial begin
    for (i = 0; i < 20000; i = i + 1) begin
{draw}
      WADDR = WADDR & 11'h70f; RADDR = RADDR & 11'h70f;
      RE = i == 0 ? 1 : RE; RCLKE = i == 0 ? 1 : RCLKE;
      #1 clk = 1; #1 clk = 0; #1;
      if ((a & 16'h{seen:04x}) !== (b & 16'h{seen:04x})) begin $display("DIFFERENT %0d %h %h", i, a, b); $finish; end
    end
    $display("EQUAL");
  end
endmodule
"""

_SEEN = (0xFFFF, 0x5555, 0x2222, 0x0808)


@pytest.mark.parametrize("write", range(4))
@pytest.mark.parametrize("read", range(4))
def test_a_block_ram_reads_and_writes_as_yosys_says(read: int, write: int, tmp_path: Path) -> None:
    contents = random.Random(1).getrandbits(4096)
    pins = {
        name: tuple(f"{name}[{i}]" for i in range(width)) if width > 1 else (name,) for name, width in _WIDTHS.items()
    }
    ram = Ram((8, 1), "ram_8_1", contents, write, read, False, False, {**pins, "RCLK": ("clk",), "WCLK": ("clk",)})
    bits = {"clk": 1, **_WIDTHS}
    inputs = {PortBit(name, i if width > 1 else None): (0, 0, 0) for name, width in bits.items() for i in range(width)}
    outputs = {PortBit("RDATA", i): (0, 0, 0) for i in range(16)}
    driven = {bit: f"ram_8_1[{bit.place}]" for bit in outputs}
    logic = ReadBack("8k", "ct256", inputs, outputs, driven, (), (), (), (ram,), frozenset(), (34, 34), {})
    (tmp_path / "read_back.v").write_text(write_verilog(logic, "read_back"))
    parameters = ", ".join(f".INIT_{n:X}(256'h{contents >> 256 * n & (1 << 256) - 1:064x})" for n in range(16))
    bench = _BENCH.format(
        registers="\n".join(f"  reg [{width - 1}:0] {name} = 0;" for name, width in _WIDTHS.items()),
        draw="\n".join(f"      {name} = $urandom(seed);" for name in _WIDTHS),
        ports="".join(f", .{name}({name})" for name in _WIDTHS),
        read=read,
        write=write,
        contents=parameters,
        seen=_SEEN[read],
    )
    (tmp_path / "bench.v").write_text(bench)
    (tmp_path / "cells.v").write_text(models(bench, TARGETS["ice40"]))
    found = tools.icarus()
    files = ["bench.v", "read_back.v", "cells.v"]
    subprocess.run([found.iverilog, "-g2005-sv", "-o", "bench.vvp", *files], cwd=tmp_path, check=True)
    ran = subprocess.run([found.vvp, "bench.vvp"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout.split()[0] == "EQUAL", ran.stdout
