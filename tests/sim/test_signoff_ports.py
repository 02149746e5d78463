"""Designs with special ports, such as arrays and VHDL types of their own, are signed off, with known-bad RTL."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.door import environment
from support.said import as_recorded
from support.signing import DESIGN, QUICK, Ending, project, sign, verify

from dais_verif.hardware.emitter import PipelineOptions, emit_pipeline
from dais_verif.hardware.ports.vhdl_ports import vhdl_roots_in
from dais_verif.spec.program import Program, load

VHDL = Path(__file__).parent / "vhdl"

GHDL = 'simulators = ["ghdl"]\nvectors = 300\ndistinct = 100\nexhaustive_bits = 0\n'

#: y0 = x0 + x1, y1 = -x0, y2 = x2, which has one bit; the inputs are s4.1, u3.0 and u1.0.
ROWS = [(-1, 0, -1, 0, (1, 2, 1)), (-1, 1, -1, 0, (0, 3, 0)), (-1, 2, -1, 0, (0, 1, 0)), (0, 0, 1, 0, (1, 4, 1))]
THREE = Program.build(ROWS, [(3, 0, 0), (0, 0, 1), (2, 0, 0)], inp_shift=[0, 0, 0])

TYPES = """
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity Mixed is
  generic (top : integer := 5);
  port (
    x0 : in signed(3 downto 0);
    x1 : in bit_vector(2 downto 0);
    x2 : in bit;
    y0 : out std_logic_vector(top downto 0);
    y1 : out signed(4 downto 0);
    y2 : out bit
  );
end entity;

architecture rtl of Mixed is
begin
  y0 <= std_logic_vector(resize(x0, 6) + signed("00" & to_stdlogicvector(x1) & '0'));
  y1 <= -resize(x0, 5);
  y2 <= x2;
end architecture;
"""
APART = '[inputs]\nport = "x{}"\n[outputs]\nport = "y{}"\n'

ARRAYS = """
module arrays (input signed [3:0] x0, input [2:0] x1, input x2, output signed [5:0] y [0:1], output z);
  assign y[0] = x0 + $signed({1'b0, x1, 1'b0}), y[1] = -6'(x0), z = x2;
endmodule
"""
ELEMENTS = """
[inputs]
ports = ["x0", "x1", "x2"]
[outputs]
ports = ["y[0]", "y[1]", "z"]
types = ["s6.1", "s6.1", "u1.0"]
"""


def signed_off(folder: Path, policy: str, program: Program, **files: str) -> Ending:
    project(folder, policy, rtl="", program=program)
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    return sign(folder)


def assert_signed_off(ending: Ending, folder: Path, seeded: int) -> None:
    stages = {stage["name"]: "passed" if stage["passed"] else stage["message"] for stage in ending.tree["stages"]}
    assert ending.exit_code == 0, stages
    assert set(stages.values()) == {"passed"}
    assert sum(stage["must_fail"] for stage in ending.tree["stages"]) == seeded
    assert verify(folder).findings == []


@pytest.mark.slow
def test_vhdl(corpus: Path, tmp_path: Path) -> None:
    """A design with one vector port for all inputs and one for all outputs is simulated and proved."""
    rtl = '[rtl]\nfiles = ["addsub.vhd", "grid.vhd"]\ntop = "AddSub"\n'
    ending = signed_off(
        tmp_path,
        GHDL + rtl,
        load(corpus / "p01_addsub_tiny" / "prog.v1.bin"),
        addsub_vhd=(VHDL / "addsub.vhd").read_text(),
        grid_vhd=(VHDL / "grid.vhd").read_text(),
    )
    assert_signed_off(ending, tmp_path, seeded=4)


@pytest.mark.parametrize("used", ["entity work.mixed", "Mixed", "component mixed", "entity work.Mixed(rtl)"])
def test_a_part_of_a_vhdl_design_is_not_all_of_it(used: str, tmp_path: Path) -> None:
    more = f"""entity chip is end entity;
architecture rtl of chip is
begin
  it : {used} port map (x0 => x0, x1 => x1, x2 => x2, y0 => y0, y1 => y1, y2 => y2);
end architecture;
"""
    (tmp_path / "mixed.vhd").write_text(TYPES + more)
    assert vhdl_roots_in([tmp_path / "mixed.vhd"]) == ["chip"]


@pytest.mark.slow
def test_what_is_above_a_vhdl_design_is_ignored_and_said(tmp_path: Path) -> None:
    more = "entity chip is end entity;\narchitecture rtl of chip is\nbegin\n  it : mixed port map (x => x);\nend;\n"
    rtl = 'proof = "off"\n[rtl]\nfiles = ["mixed.vhd", "chip.vhd"]\ntop = "mixed"\nports = "ports.toml"\n'
    ending = signed_off(tmp_path, GHDL + rtl, THREE, mixed_vhd=TYPES, chip_vhd=more, ports_toml=APART)
    assert ending.exit_code == 0, ending.tree["message"]
    assert "ignored, not part of mixed: chip" in ending.stage("rtl")["message"]


@pytest.mark.slow
@pytest.mark.parametrize("proof", ["required", "off"])
def test_vhdl_with_ports_of_every_type(proof: str, tmp_path: Path) -> None:
    rtl = f'proof = "{proof}"\n[rtl]\nfiles = ["mixed.vhd"]\ntop = "mixed"\nports = "ports.toml"\n'
    ending = signed_off(tmp_path, GHDL + rtl, THREE, mixed_vhd=TYPES, ports_toml=APART)
    assert_signed_off(ending, tmp_path, seeded=4 if proof == "required" else 2)


@pytest.mark.slow
def test_arrays(tmp_path: Path) -> None:
    policy = GHDL.replace("ghdl", "verilator") + '[rtl]\nfiles = ["arrays.sv"]\ntop = "arrays"\nports = "ports.toml"\n'
    ending = signed_off(tmp_path, policy, THREE, arrays_sv=ARRAYS, ports_toml=ELEMENTS)
    assert_signed_off(ending, tmp_path, seeded=4)


class TestRtlOfTheCommandLine:
    """A sign-off takes RTL from the options that ``sim`` has, and the certificate records it."""

    def test_takes_the_place_of_the_policys(self, tmp_path: Path) -> None:
        """VHDL given by options is signed off in the simulator for VHDL with a policy that names no RTL."""
        project(
            tmp_path, "vectors = 200\nsimulators = ['ghdl']\nproof = 'off'\nexhaustive_bits = 0\n", "", program=THREE
        )
        (tmp_path / "Mixed.vhd").write_text(TYPES)
        (tmp_path / "ports.toml").write_text(APART)
        options = ("--rtl", tmp_path / "Mixed.vhd", "--top", "mixed", "--ports", tmp_path / "ports.toml")
        assert_signed_off(sign(tmp_path, *options), tmp_path, seeded=2)
        tree = json.loads((tmp_path / "out" / "certificate.json").read_bytes())
        assert tree["policy"]["rtl"]["ports"] == str(tmp_path / "ports.toml")
        assert [file["role"] for file in tree["files"]] == ["program", "rtl", "ports"]

    @pytest.mark.slow
    def test_pins(self, tmp_path: Path) -> None:
        pipeline = emit_pipeline(DESIGN, "core", PipelineOptions(2, None, reset=True, enable=False, valid=True))
        project(tmp_path, QUICK, pipeline.text)
        options = ["--rtl", tmp_path / "design.v", "--top", "core", "--clock", "clk", "--reset", "rst"]
        ending = sign(tmp_path, *options, "--valid-in", "in_valid", "--valid-out", "out_valid")
        assert_signed_off(ending, tmp_path, seeded=2)
        text = (tmp_path / "design.v").read_text()
        (tmp_path / "design.v").write_text(text.replace("+", "-", 1))
        assert sign(tmp_path, *options, "--valid-in", "in_valid", "--valid-out", "out_valid").exit_code == 7

    @pytest.mark.slow
    def test_without_a_policy_vhdl_runs_in_its_simulator(self, tmp_path: Path) -> None:
        project(tmp_path, "", program=THREE)
        (tmp_path / "mixed.vhd").write_text(TYPES)
        (tmp_path / "ports.toml").write_text(APART)
        command = [sys.executable, "-m", "dais_verif", "signoff", "prog.bin", "--rtl", "mixed.vhd", "--top", "mixed"]
        command += ["--ports", "ports.toml", "-o", "out", "--json"]
        done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True)
        assert done.returncode == 0, done.stderr
        tree = json.loads((tmp_path / "out" / "certificate.json").read_bytes())
        assert tree["policy"]["simulators"] == ["ghdl"]

    def test_what_cannot_be(self, tmp_path: Path) -> None:
        project(tmp_path, QUICK)
        said = sign(tmp_path, "--ports", "ports.toml").stderr
        assert "--rtl" in said
        as_recorded(said.rstrip())
        ending = sign(tmp_path, "--rtl", tmp_path / "nowhere.v")
        assert (ending.exit_code, "nowhere.v" in ending.stderr) == (2, True)


def test_pins_that_a_policy_lacks_are_named_by_its_keys(tmp_path: Path) -> None:
    project(tmp_path, f'{QUICK}[rtl]\nfiles = ["design.v"]\nlatency = 2\n')
    stages = {stage["name"]: stage["message"] for stage in sign(tmp_path).tree["stages"]}
    said = stages["simulation, seed 0"]
    assert said.startswith("[rtl] latency (or --latency) ") and "[rtl] clock (or --clock)" in said
    as_recorded(said)
