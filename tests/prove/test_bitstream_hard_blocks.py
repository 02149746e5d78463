"""Hard blocks and pads that read-back does not support are refused by name, wherever Yosys and nextpnr place them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.bitstreams import require_icestorm

from dais_verif.base.errors import InputError
from dais_verif.base.toolchain import tools
from dais_verif.hardware.synthesis.devices import DEVICES, package_pins
from dais_verif.verbs.read_back.bitstreams import BitstreamFile, read_bitstream

DEVICE = "ice40-up5k-sg48"
PORTS = ["clk", *(f"{port}[{bit}]" for port in "ab" for bit in range(4)), *(f"o[{bit}]" for bit in range(8))]
HEAD = "module top (input clk, input [3:0] a, input [3:0] b, output [7:0] o);"

SINGLE_PORT_RAM = f"""{HEAD}
  wire [15:0] q;
  SB_SPRAM256KA m (.ADDRESS({{10'd0, a}}), .DATAIN({{12'd0, b}}), .MASKWREN(4'hf), .WREN(b[0]), .CHIPSELECT(1'b1),
    .CLOCK(clk), .STANDBY(1'b0), .SLEEP(1'b0), .POWEROFF(1'b1), .DATAOUT(q));
  assign o = q[7:0];
endmodule
"""
PAD = f"""{HEAD}
  SB_IO #(.PIN_TYPE(6'b010101)) p (.PACKAGE_PIN(o[0]), .OUTPUT_CLK(clk), .D_OUT_0(a[0] ^ b[0]));
  assign o[7:1] = {{a ^ b, b[3:1]}};
endmodule
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("design", "says"),
    [
        (SINGLE_PORT_RAM, r"SPRAM is driven.*block"),
        (PAD, "type 0101"),
    ],
    ids=["single-port-ram", "register-in-a-pad"],
)
def test_what_is_not_known_is_refused_by_name(design: str, says: str, tmp_path: Path) -> None:
    require_icestorm()
    (tmp_path / "top.v").write_text(design)
    free = [pin.name for pin in package_pins(DEVICES[DEVICE])]
    clock = next(pin.name for pin in package_pins(DEVICES[DEVICE]) if pin.clock)
    pins = [clock, *(pin for pin in free if pin != clock)]
    lines = (f"set_io {port} {pin}\n" for port, pin in zip(PORTS, pins, strict=False))
    (tmp_path / "pins.pcf").write_text("".join(lines))
    part, package = "--up5k", DEVICES[DEVICE].package
    placing = [part, "--package", package, "--json", "top.json", "--pcf", "pins.pcf", "--asc", "top.asc", "-q"]
    for command in (
        [tools.yosys().yosys, "-q", "-p", "read_verilog top.v; synth_ice40 -top top -json top.json"],
        [tools.nextpnr("ice40"), *placing],
        [tools.icestorm("icepack"), "top.asc", "top.bin"],
    ):
        subprocess.run([str(word) for word in command], cwd=tmp_path, check=True, capture_output=True)
    with pytest.raises(InputError, match=says):
        read_bitstream(BitstreamFile(tmp_path / "top.bin", tmp_path / "pins.pcf", DEVICE), tmp_path / "tools")
