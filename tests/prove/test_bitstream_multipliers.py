"""UltraPlus multipliers that are read back equal Yosys' model of the cell in each mode; other modes are refused."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import pytest
from support.bitstreams import chip_of, repacked, require_icestorm, turned_over

import dais_verif
from dais_verif.base.errors import BitstreamError, InputError
from dais_verif.base.toolchain import tools
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.bitstream.configuration import parse_configuration
from dais_verif.hardware.bitstream.pins_file import read_pins
from dais_verif.hardware.bitstream.trace import Site, read_back, sites
from dais_verif.hardware.bitstream.verilog import write_verilog
from dais_verif.hardware.synthesis.devices import DEVICES, package_pins
from dais_verif.spec.program import assemble

DEVICE = "ice40-up5k-sg48"
PORTS = ["clk", "ce", *(f"{port}[{bit}]" for port, width in (("a", 8), ("b", 8), ("o", 16)) for bit in range(width))]
#: Both halves of both factors change, and both halves of the product are observed.
DESIGN = """module top (input clk, input ce, input [7:0] a, input [7:0] b, output [15:0] o);
  wire [31:0] q;
  SB_MAC16 #({parameters}) m (
    .CLK(clk), .CE(ce), .A({{a, a[3:0], ~b[3:0]}}), .B({{b, a ^ b}}), .C(16'd0), .D(16'd0), .AHOLD(1'b0), .BHOLD(1'b0),
    .CHOLD(1'b0), .DHOLD(1'b0), .IRSTTOP({reset}), .IRSTBOT(1'b0), .ORSTTOP(1'b0), .ORSTBOT(1'b0), .OLOADTOP(1'b0),
    .OLOADBOT(1'b0), .ADDSUBTOP(1'b0), .ADDSUBBOT(1'b0), .OHOLDTOP(1'b0), .OHOLDBOT(1'b0), .CI(1'b0),
    .ACCUMCI(1'b0), .SIGNEXTIN(1'b0), .O(q));
  assign o = q[31:16] ^ {{q[14:0], q[15]}};
endmodule
"""
BENCH = """module bench;
  reg clk = 0, ce = 1;
  reg [7:0] a = 0, b = 0;
  wire [15:0] x, y;
  integer i, seed = 7, differ = 0, seen = 0;
  top one (clk, ce, a, b, x);
  other two (.clk(clk), .ce(ce), .a(a), .b(b), .o(y));
  initial begin
    for (i = 0; i < 3000; i = i + 1) begin
      a = $random(seed); b = $random(seed); ce = i < 8 || $random(seed) & 1;
      #1 clk = 1; #1 clk = 0; #1;
      if (i >= 8 && x !== y) differ = differ + 1;
      if (i >= 8 && ^x !== 1'bx) seen = seen + 1;
    end
    $display("%0d %0d", differ, seen);
  end
endmodule
"""
SELECT = "TOPOUTPUT_SELECT(2'b11) BOTOUTPUT_SELECT(2'b11)"
PARTS = "TOP_8x8_MULT_REG(1'b1) BOT_8x8_MULT_REG(1'b1) PIPELINE_16x16_MULT_REG1(1'b1)"
SUM = "PIPELINE_16x16_MULT_REG2(1'b1)"
SIGNED = "A_SIGNED(1'b1) B_SIGNED(1'b1)"

pytestmark = pytest.mark.slow


@cache
def built(parameters: str, folder: Path, reset: str = "1'b0") -> str:
    """Return the text of the bitstream, and leave the design in ``folder``."""
    require_icestorm()
    chosen = ", ".join(f".{one}" for one in f"{SELECT} {parameters}".split())
    (folder / "top.v").write_text(DESIGN.format(parameters=chosen, reset=reset))
    free = package_pins(DEVICES[DEVICE])
    clock = next(pin.name for pin in free if pin.clock)
    pins = [clock, *(pin.name for pin in free if pin.name != clock)]
    (folder / "pins.pcf").write_text("".join(f"set_io {port} {pin}\n" for port, pin in zip(PORTS, pins, strict=False)))
    placing = ["--up5k", "--package", "sg48", "--json", "top.json", "--pcf", "pins.pcf", "--asc", "top.asc", "-q"]
    for command in (
        [tools.yosys().yosys, "-q", "-p", "read_verilog top.v; synth_ice40 -top top -json top.json"],
        [tools.nextpnr("ice40"), *placing],
        [tools.icestorm("icepack"), "top.asc", "top.bin"],
        [tools.icestorm("iceunpack"), "top.bin", "plain.asc"],
    ):
        subprocess.run([str(word) for word in command], cwd=folder, check=True, capture_output=True)
    return plain((folder / "plain.asc").read_text())


def plain(text: str) -> str:
    """Return the output of ``iceunpack`` without comments."""
    return "\n".join(line for line in text.splitlines() if not line.startswith(".comment"))


def read(text: str, folder: Path) -> str:
    """Return the design that is read back, as Verilog module ``other``."""
    pins = read_pins(folder / "pins.pcf")
    return write_verilog(read_back(chip_of("5k"), parse_configuration(text), pins, "sg48"), "other")


def compared(verilog: str, folder: Path) -> tuple[int, int]:
    """Return how many steps differ from Yosys' model of the cell, and how many steps have defined values."""
    (folder / "other.v").write_text(verilog)
    (folder / "bench.v").write_text(BENCH)
    found = tools.icarus()
    share = Path("/usr/share/yosys/ice40/cells_sim.v")
    assert share.is_file()
    files = ["bench.v", "top.v", "other.v", str(share)]
    command = [str(found.iverilog), "-g2005-sv", "-DICE40_U", "-DNO_ICE40_DEFAULT_ASSIGNMENTS", "-s", "bench"]
    subprocess.run([*command, "-o", "bench.vvp", *files], cwd=folder, check=True, capture_output=True)
    ran = subprocess.run([found.vvp, "bench.vvp"], cwd=folder, check=True, capture_output=True, text=True)
    differ, seen = map(int, ran.stdout.split()[-2:])
    return differ, seen


@pytest.mark.parametrize(
    "parameters",
    [
        "",
        SIGNED,
        "A_SIGNED(1'b1)",
        "B_SIGNED(1'b1)",
        "A_REG(1'b1)",
        f"B_REG(1'b1) {SUM}",
        f"A_REG(1'b1) {PARTS} {SUM} {SIGNED}",
    ],
    ids=["plain", "signed", "a-signed", "b-signed", "a-held", "b-held-and-sum", "all"],
)
def test_products_are_those_of_the_cell(parameters: str, tmp_path: Path) -> None:
    verilog = read(built(parameters, tmp_path), tmp_path)
    differ, seen = compared(verilog, tmp_path)
    assert differ == 0 and seen > 2900
    wrong = verilog.replace("_product = {", "_product = 1 + {", 1)
    assert wrong != verilog and compared(wrong, tmp_path)[0] > 1000


@pytest.mark.parametrize(
    ("parameters", "reset", "said"),
    [
        ("MODE_8x8(1'b1)", "1'b0", "MODE_8x8 is 1"),
        ("PIPELINE_16x16_MULT_REG1(1'b1)", "1'b0", "only PIPELINE_16x16_MULT_REG1 is 1"),
        ("A_REG(1'b1)", "b[0]", r"IRSTTOP.* is driven"),
    ],
)
def test_other_modes_are_refused(parameters: str, reset: str, said: str, tmp_path: Path) -> None:
    text = built(parameters, tmp_path, reset)
    with pytest.raises(BitstreamError, match=said):
        read(text, tmp_path)


def site_of(verilog: str) -> Site:
    """Return the site of the multiplier that was read back."""
    (site,) = [
        one for one in sites(chip_of("5k").blocks[".extra_cell"]) if f"mac_{one.place[0]}_{one.place[1]}" in verilog
    ]
    return site


def test_another_output_than_the_product_is_refused(tmp_path: Path) -> None:
    text = built("", tmp_path)
    place, bit = site_of(read(text, tmp_path)).options["TOPOUTPUT_SELECT_1"]
    (where,) = chip_of("5k").functions(parse_configuration(text).kinds[place])[f"IpConfig.{bit}"]
    with pytest.raises(InputError, match="TOPOUTPUT_SELECT_1 is 0"):
        read(turned_over(text, place, where), tmp_path)


def test_each_bit_of_its_tiles_counts_or_is_refused(tmp_path: Path) -> None:
    """No configuration bit of the multiplier, or of the tables behind its outputs, is ignored."""
    text = built("", tmp_path)
    original = read(text, tmp_path)
    chip, configuration = chip_of("5k"), parse_configuration(text)
    site = site_of(original)
    adders = {at for name, at in site.options.items() if name.startswith(("TOPADD", "BOTADD", "C_REG", "D_REG"))}
    same = []
    for row in range(4):
        place = site.place[0], site.place[1] + row
        for name, bits in chip.functions(configuration.kinds[place]).items():
            if not name.startswith(("IpConfig.", "LC_", "Cascade.MULT")) or (place, name.split(".")[-1]) in adders:
                continue
            for bit in bits:
                try:
                    found = read(turned_over(text, place, bit), tmp_path)
                except InputError:
                    continue
                if found == original:
                    same.append((place, name, bit))
    assert same == []


def test_a_product_is_built_and_proved(tmp_path: Path) -> None:
    """A product is proved; it is refuted if the bit of the sign option of its multiplier is flipped."""
    require_icestorm()
    program = assemble(
        "layout v1\ninput 0\ninput 1\na = s10.0 input 0\nb = u8.0 input 1\np = s18.0 a * b\noutput 0 = p\n"
    )
    built = dais_verif.build_bitstream(program, DEVICE, tmp_path / "out", dsp=True)
    assert built.used["ICESTORM_DSP"][0] == 1 and built.dsp
    bits = {"bitstream": tmp_path / "out" / "model.bin", "pins": tmp_path / "out" / "pins.pcf"}
    assert dais_verif.prove(program, **bits).verdict is Verdict.PASS
    text = subprocess.run(
        [tools.icestorm("iceunpack"), bits["bitstream"]], check=True, capture_output=True, text=True
    ).stdout
    for site in sites(chip_of("5k").blocks[".extra_cell"]):
        place, bit = site.options["A_SIGNED"]
        (where,) = chip_of("5k").functions(parse_configuration(plain(text)).kinds[place])[f"IpConfig.{bit}"]
        wrong = repacked(bits["bitstream"], place, where, tmp_path / "wrong.bin")
        if dais_verif.prove(program, **{**bits, "bitstream": wrong}).verdict is Verdict.RTL_MISMATCH:
            break
    else:
        raise AssertionError("no multiplier whose sign matters")


@pytest.mark.parametrize("device", ["ice40-hx1k-tq144", "ice40-hx8k-ct256"])
def test_devices_without_multipliers(device: str, tmp_path: Path) -> None:
    with pytest.raises(BitstreamError, match=f"{device}.*DSPs"):
        dais_verif.build_bitstream("examples/sort_two.bin", device, tmp_path / "out", dsp=True)
