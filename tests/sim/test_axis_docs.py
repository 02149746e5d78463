"""The timing table in docs/emit.md4-stream shows a real run, and its register map is that of the RTL."""

from __future__ import annotations

import subprocess
from pathlib import Path

from dais_verif.base.toolchain import tools
from dais_verif.hardware.emitter.register_map import register_table
from dais_verif.hardware.emitter.rtl_library import AXIS_FILES, library_sources

PAGE = Path(__file__).parents[2] / "docs" / "emit.md"

BENCH = """
module bench;
  reg clk = 0, resetn = 0, valid = 0, ready = 1;
  reg [7:0] data = 8'hxx;
  wire s_ready, m_valid, last, user, en;
  wire [7:0] inp, out;
  dais_axis #(.IN_BITS(8), .OUT_BITS(8), .LATENCY(0), .USER_BITS(0)) shell (
    .aclk(clk), .aresetn(resetn), .s_axis_tdata(data), .s_axis_tvalid(valid), .s_axis_tready(s_ready),
    .s_axis_tlast(1'b0), .s_axis_tuser(1'b0), .m_axis_tdata(out), .m_axis_tvalid(m_valid), .m_axis_tready(ready),
    .m_axis_tlast(last), .m_axis_tuser(user), .core_inp(inp), .core_out(inp + 8'd1), .core_en(en));
  integer edge_number;
  reg [7:0] next = 8'h10;
  reg taken;
  initial begin
    $display("edge  s_tvalid s_tready s_tdata   m_tvalid m_tready m_tdata");
    for (edge_number = 0; edge_number < 3; edge_number = edge_number + 1) begin #1 clk = 1; #1 clk = 0; end
    resetn = 1; #1 clk = 1; #1 clk = 0;
    for (edge_number = 1; edge_number <= 12; edge_number = edge_number + 1) begin
      if (!valid && next < 8'h16) begin valid = 1; data = next; next = next + 1; end
      ready = !(edge_number == 4 || edge_number == 5 || edge_number == 6);
      #1 $write("%4d  %8d %8d ", edge_number, valid, s_ready);
      if (valid) $write("     %02x", data); else $write("      -");
      $write("   %8d %8d ", m_valid, ready);
      if (m_valid) $display("     %02x", out); else $display("      -");
      taken = s_ready;
      #1 clk = 1; #1 clk = 0;
      if (taken) valid = 0;
    end
    $finish;
  end
endmodule
"""


def test_the_timing_table_is_a_run(tmp_path: Path) -> None:
    (tmp_path / "bench.v").write_text(BENCH)
    sources = ["bench.v", *map(str, library_sources(*AXIS_FILES))]
    found = tools.icarus()
    subprocess.run([str(found.iverilog), "-g2005", "-o", "bench.vvp", *sources], cwd=tmp_path, check=True, timeout=60)
    done = subprocess.run(
        [str(found.vvp), "-n", "bench.vvp"], cwd=tmp_path, check=True, capture_output=True, text=True, timeout=60
    )
    table = "\n".join(f"    {line.rstrip()}" for line in done.stdout.splitlines() if not line.startswith("bench.v"))
    assert len(table.splitlines()) == 13
    assert table in PAGE.read_text(encoding="utf-8"), f"the page must show\n{table}"


def test_the_register_map_is_that_of_the_rtl() -> None:
    assert register_table() in PAGE.read_text(encoding="utf-8")
