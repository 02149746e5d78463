"""VHDL in GHDL: same bench and verdicts as Verilog, nine values of std_logic, files in any order, and failures."""

from __future__ import annotations

import io
import json
import os
import re
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.door import command
from support.said import as_recorded

from dais_verif.base.errors import ToolError
from dais_verif.base.toolchain import tools
from dais_verif.doors.cli import main

HERE = Path(__file__).parent / "vhdl"

#: Real program p01 as text; addsub.vhd is a hand-written design for it.
ADDSUB = """\
input 0
input 1
%0 = s6.2 input 0
%1 = u4.0 input 1
%2 = s6.2 quant(%0)
%3 = u4.0 quant(%1)
%4 = s9.2 %2 + %3<<1
%5 = s7.2 %2 - %3>>1
output 0 = %4
output 1 = %5
"""

#: One input bit is the output.
BIT = "input 0\n%0 = u1.0 input 0\noutput 0 = %0\n"

#: The output is 1 for input 7, and 0 for the others.
LAST_OF_EIGHT = "input 0\ntable 0 = [0, 0, 0, 0, 0, 0, 0, 1]\n%0 = u3.0 input 0\n%1 = u1.0 table 0[%0]\noutput 0 = %1\n"

#: One of seven values other than 0 and 1 for inputs 0 to 6, then 1.
NINE = """\
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
entity model is
  port (model_inp : in std_logic_vector(2 downto 0); model_out : out std_logic);
end entity;
architecture rtl of model is
  constant all_of_them : std_logic_vector(0 to 7) := "UXZWLH-1";
begin
  model_out <= all_of_them(to_integer(unsigned(model_inp)));
end architecture;
"""

ONE_BIT = """\
library ieee;
use ieee.std_logic_1164.all;
entity model is
  port (model_inp : in {kind}; model_out : out {kind});
end entity;
architecture rtl of model is
begin
  model_out <= {expression};
end architecture;
"""


@pytest.fixture(scope="module", autouse=True)
def ghdl() -> None:
    """Skip the tests if GHDL is missing, except in CI, where they fail."""
    try:
        tools.ghdl()
    except ToolError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))


@dataclass(frozen=True)
class Run:
    exit_code: int
    record: dict[str, Any]
    folder: Path

    @property
    def ending(self) -> tuple[str, int]:
        return self.record["verdict"], self.exit_code


def sim(folder: Path, program: str, *rtl: Path, options: tuple[str, ...] = ()) -> Run:
    """Run ``sim``, which chooses the simulator by itself unless ``options`` do."""
    (folder / "prog.dais").write_text(program)
    words = ["sim", str(folder / "prog.dais"), "--json", "-o", str(folder / "out"), *options]
    if rtl:
        words += ["--rtl", *map(str, rtl)]
    stdout = io.StringIO()
    with redirect_stdout(stdout), redirect_stderr(io.StringIO()):
        code = main._run(words)
    return Run(code, json.loads(stdout.getvalue()), folder / "out")


def addsub(folder: Path, *options: str, old: str = "", new: str = "") -> Run:
    """Verify addsub.vhd with ``old`` replaced by ``new``, listed before the package that it uses."""
    text = (HERE / "addsub.vhd").read_text()
    assert not old or text.count(old) == 1
    (folder / "addsub.vhd").write_text(text.replace(old, new) if old else text)
    files = (folder / "addsub.vhd", HERE / "grid.vhd")
    return sim(folder, ADDSUB, *files, options=("--top", "addsub", "--exhaustive-bits", "0", *options))


def one_bit(folder: Path, expression: str, kind: str = "std_logic_vector(0 downto 0)", *, upper: bool = False) -> Run:
    text = ONE_BIT.format(kind=kind, expression=expression)
    (folder / "model.VHDL").write_text(text.upper() if upper else text)
    return sim(folder, BIT, folder / "model.VHDL", options=("--vectors", "10"))


class TestVerdicts:
    def test_right(self, tmp_path: Path) -> None:
        run = addsub(tmp_path, "--vectors", "300")
        assert run.ending == ("PASS", 0)
        (simulator,) = run.record["simulators"]
        assert (simulator["name"], simulator["bits_compared"]) == ("ghdl", 300 * 16)
        assert simulator["version"] == tools.ghdl().version

    def test_wrong(self, tmp_path: Path) -> None:
        run = addsub(tmp_path, old="up(op_3, 1, 7)", new="up(op_3, 2, 7)")
        assert run.ending == ("RTL_MISMATCH", 1)
        mismatch = run.record["first_mismatch"]
        assert (mismatch["simulator"], mismatch["output"]) == ("ghdl", 1)
        assert (mismatch["blame"]["op"], mismatch["blame"]["replayed_in"]) == (5, "ghdl")
        assert mismatch["waves"] == str(run.folder / "replay_ghdl" / "waves.vcd")
        assert all(Path(view).is_file() for view in mismatch["views"]) and len(mismatch["views"]) == 2
        assert "model.op_5[6:0]".replace("model", "addsub") in Path(mismatch["views"][0]).read_text()

    @pytest.mark.slow
    def test_swapped_outputs(self, tmp_path: Path) -> None:
        parts = ("std_logic_vector(op_5)", "std_logic_vector(op_4)")
        run = addsub(tmp_path, old=" & ".join(parts), new=" & ".join(reversed(parts)))
        assert run.ending == ("RTL_MISMATCH", 1)
        assert run.record["first_mismatch"]["blame"]["kind"] == "output"

    def test_metavalue_within(self, tmp_path: Path) -> None:
        """If one bit within an operand is neither 0 nor 1, numeric_std turns the whole sum into X."""
        run = addsub(tmp_path, old="resize(op_2, 9) +", new='signed\'(op_2(5) & "0-0" & op_2(4 downto 0)) +')
        assert run.ending == ("X_IN_OUTPUT", 4)
        assert run.record["first_mismatch"]["blame"]["op"] == 4
        assert run.record["first_mismatch"]["found"]["bits"] == "X" * 9

    def test_every_value_that_is_neither_0_nor_1(self, tmp_path: Path) -> None:
        """Each of the seven values is in one of eight vectors; if one were taken for 0, fewer vectors would have X."""
        (tmp_path / "model.vhd").write_text(NINE)
        (tmp_path / "x.csv").write_text("".join(f"{value}\n" for value in range(8)))
        options = ("--inputs", str(tmp_path / "x.csv"), "--vectors", "0", "--exhaustive-bits", "0")
        run = sim(tmp_path, LAST_OF_EIGHT, tmp_path / "model.vhd", options=options)
        assert run.ending == ("X_IN_OUTPUT", 4)
        (simulator,) = run.record["simulators"]
        assert (simulator["vectors_compared"], simulator["vectors_with_x"], simulator["mismatches"]) == (8, 7, 0)
        assert run.record["first_mismatch"]["found"]["bits"] == "U"

    def test_without_vectors_nothing_passes(self, tmp_path: Path) -> None:
        assert addsub(tmp_path, "--vectors", "0").ending == ("NOT_RUN", 6)


class TestSources:
    @pytest.mark.parametrize(
        "kind",
        [
            pytest.param("std_logic_vector(0 downto 0)", marks=pytest.mark.slow),
            pytest.param("std_ulogic", marks=pytest.mark.slow),
            "std_logic",
        ],
    )
    def test_ports_of_one_bit(self, tmp_path: Path, kind: str) -> None:
        assert one_bit(tmp_path, "model_inp", kind).ending == ("PASS", 0)

    def test_upper_case(self, tmp_path: Path) -> None:
        assert one_bit(tmp_path, "model_inp", upper=True).ending == ("PASS", 0)

    @pytest.mark.slow
    def test_a_top_in_upper_case(self, tmp_path: Path) -> None:
        assert addsub(tmp_path, "--top", "AddSub").ending == ("PASS", 0)

    def test_a_folder_whose_name_trips_shells(self, tmp_path: Path) -> None:
        folder = tmp_path / "John's 100% odd; folder, ä"
        folder.mkdir()
        assert addsub(folder).ending == ("PASS", 0)

    def test_a_source_that_changed_is_built_anew(self, tmp_path: Path) -> None:
        assert addsub(tmp_path).ending == ("PASS", 0)
        assert addsub(tmp_path, old="op_2, 7) -", new="op_2, 7) +").ending == ("RTL_MISMATCH", 1)

    @pytest.mark.slow
    def test_a_file_that_no_part_of_the_design_needs(self, tmp_path: Path) -> None:
        (tmp_path / "other.vhd").write_text("entity other is\n  port (a : in nothing);\nend entity;\n")
        run = sim(
            tmp_path,
            ADDSUB,
            HERE / "grid.vhd",
            HERE / "addsub.vhd",
            tmp_path / "other.vhd",
            options=("--top", "addsub"),
        )
        assert run.ending == ("PASS", 0)

    def test_what_an_earlier_run_left_is_not_built_upon(self, tmp_path: Path) -> None:
        assert addsub(tmp_path).ending == ("PASS", 0)
        run = sim(tmp_path, ADDSUB, HERE / "addsub.vhd", options=("--top", "addsub"))
        assert run.ending == ("TOOL_FAILURE", 3)
        assert 'unit "grid" not found in library "work"' in run.record["message"]


PORTS = """\
[inputs]
ports = ["a", "b"]
[outputs]
ports = ["sum", "difference"]
[clock]
port = "clk"
reset = "rst_n"
reset_active = "low"
enable = "ce"
valid_in = "valid_in"
valid_out = "valid_out"
"""


class TestClocked:
    """The design has one port per element, and every pin that a bench can drive."""

    def verify(self, folder: Path, old: str = "", new: str = "") -> Run:
        text = (HERE / "addsub_clocked.vhd").read_text()
        assert not old or text.count(old) == 1
        (folder / "addsub_clocked.vhd").write_text(text.replace(old, new) if old else text)
        (folder / "ports.toml").write_text(PORTS)
        options = ("--ports", str(folder / "ports.toml"), "--top", "addsub_clocked", "--vectors", "200")
        files = (folder / "addsub_clocked.vhd", HERE / "grid.vhd")
        return sim(folder, ADDSUB, *files, options=(*options, "--exhaustive-bits", "0"))

    def test_right(self, tmp_path: Path) -> None:
        run = self.verify(tmp_path)
        assert run.ending == ("PASS", 0), run.record["message"]
        assert run.record["simulators"][0]["latency"] == 2

    def test_a_register_that_ignores_the_enable(self, tmp_path: Path) -> None:
        run = self.verify(
            tmp_path, "        valid_out <= valid;\n      end if;", "      end if;\n      valid_out <= valid;"
        )
        assert run.ending == ("RTL_MISMATCH", 1)
        assert "valid_out" in run.record["message"]

    def test_pins_are_found_whatever_their_case(self, tmp_path: Path) -> None:
        text = (HERE / "addsub_clocked.vhd").read_text().replace("clk,", "CLK,")
        (tmp_path / "addsub_clocked.vhd").write_text(text)
        (tmp_path / "ports.toml").write_text(PORTS.replace('"clk"', '"Clk"').replace('"sum"', '"SUM"'))
        options = ("--ports", str(tmp_path / "ports.toml"), "--top", "ADDSUB_clocked", "--vectors", "20")
        assert sim(tmp_path, ADDSUB, tmp_path / "addsub_clocked.vhd", HERE / "grid.vhd", options=options).ending == (
            "PASS",
            0,
        )

    def test_a_clock_that_nobody_names(self, tmp_path: Path) -> None:
        (tmp_path / "ports.toml").write_text(PORTS.partition("[clock]")[0])
        options = ("--ports", str(tmp_path / "ports.toml"), "--top", "addsub_clocked")
        run = sim(tmp_path, ADDSUB, HERE / "addsub_clocked.vhd", HERE / "grid.vhd", options=options)
        assert run.ending == ("INVALID_INPUT", 2)
        assert "port clk (in, 1 bit)" in run.record["message"] and "--clock" in run.record["message"]
        as_recorded(run.record["message"])

    @pytest.mark.slow
    def test_a_wrong_sum(self, tmp_path: Path) -> None:
        run = self.verify(tmp_path, "up(b_held, 3, 9)", "up(b_held, 2, 9)")
        assert run.ending == ("RTL_MISMATCH", 1)


TABLE = """\
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
use ieee.std_logic_textio.all;
use std.textio.all;
entity model is
  port (model_inp : in std_logic_vector(1 downto 0); model_out : out std_logic_vector(3 downto 0));
end entity;
architecture rtl of model is
  type rom is array (0 to 3) of std_logic_vector(3 downto 0);
  impure function read_rom return rom is
    file source : text open read_mode is "squares.mem";
    variable row : line;
    variable values : rom;
  begin
    for i in rom'range loop
      readline(source, row);
      hread(row, values(i));
    end loop;
    return values;
  end function;
  constant table : rom := read_rom;
begin
  model_out <= table(to_integer(unsigned(model_inp)));
end architecture;
"""

SQUARES = "input 0\ntable 0 = [0, 1, 4, 9]\n%0 = u2.0 input 0\n%1 = u4.0 table 0[%0]\noutput 0 = %1\n"


class TestData:
    def write(self, folder: Path, place: str, table: str = "0\n1\n4\n9\n") -> Path:
        (folder / "model.vhd").write_text(TABLE)
        path = folder / place / "squares.mem"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(table)
        return path

    @pytest.mark.parametrize("place", [pytest.param(".", marks=pytest.mark.slow), "memfiles"])
    def test_a_table_is_found_beside_the_source_or_just_below(self, tmp_path: Path, place: str) -> None:
        self.write(tmp_path, place)
        run = sim(tmp_path, SQUARES, tmp_path / "model.vhd")
        assert run.ending == ("PASS", 0)
        assert list(run.record["rtl"]["data"]) == ["squares.mem"]

    @pytest.mark.parametrize("what", ["squares.mem", pytest.param(".", marks=pytest.mark.slow)])
    def test_a_table_that_is_given_or_whose_folder_is(self, tmp_path: Path, what: str) -> None:
        folder = self.write(tmp_path, "else/where").parent
        run = sim(tmp_path, SQUARES, tmp_path / "model.vhd", options=("--data", str(folder / what)))
        assert run.ending == ("PASS", 0)

    def test_a_wrong_table(self, tmp_path: Path) -> None:
        self.write(tmp_path, ".", "0\n1\n5\n9\n")
        run = sim(tmp_path, SQUARES, tmp_path / "model.vhd")
        assert run.ending == ("RTL_MISMATCH", 1)
        assert run.record["first_mismatch"]["expected"]["raw"] == 4

    def test_no_table(self, tmp_path: Path) -> None:
        self.write(tmp_path, "else/where")
        run = sim(tmp_path, SQUARES, tmp_path / "model.vhd")
        assert run.ending == ("TOOL_FAILURE", 3)
        (warning,) = run.record["warnings"]
        assert "'squares.mem'" in warning and "--data" in warning
        as_recorded(warning)
        assert "squares.mem" in run.record["message"]


class TestFailures:
    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ("op_2 <= op_0;", "op_2 <= nothing;", r'addsub\.vhd:21:11:( |error: )no declaration for "nothing"'),
            ("begin", "begin begin", r"addsub\.vhd:18:7:( |error: )unexpected token"),
            ("entity addsub is", "entity other is", r"addsub"),
        ],
        ids=["name", "syntax", "no top"],
    )
    def test_a_design_that_cannot_be_built(self, tmp_path: Path, old: str, new: str, message: str) -> None:
        run = addsub(tmp_path, old=old, new=new)
        assert run.ending == ("TOOL_FAILURE", 3)
        assert re.search(message, run.record["message"])
        assert "\n" not in run.record["message"]

    def test_a_run_that_breaks_off(self, tmp_path: Path) -> None:
        """A run that ends because one vector violates an index bound of VHDL is a failure of tools."""
        run = addsub(tmp_path, old="op_3 <= op_1;", new="op_3 <= (0 => op_1(to_integer(op_1)), others => '0');")
        assert run.ending == ("TOOL_FAILURE", 3)
        assert "out of bounds" in run.record["message"]

    @pytest.mark.parametrize(
        ("statement", "message"),
        [
            ('assert model_inp /= "1" report "never a one" severity failure;', "(assertion failure): never a one"),
            pytest.param(
                "process begin wait for 3 ns; std.env.finish; end process;",
                "simulation finished @3ns",
                marks=pytest.mark.slow,
            ),
            pytest.param("loops <= not loops;", "simulation stopped @0ms by --stop-delta=5000", marks=pytest.mark.slow),
        ],
        ids=["assertion", "finish", "never settles"],
    )
    def test_a_design_that_ends_the_simulation(self, tmp_path: Path, statement: str, message: str) -> None:
        text = ONE_BIT.format(kind="std_logic_vector(0 downto 0)", expression=f"model_inp;\n  {statement.rstrip(';')}")
        (tmp_path / "model.vhd").write_text(text.replace("\nbegin", "\n  signal loops : bit;\nbegin"))
        run = sim(tmp_path, BIT, tmp_path / "model.vhd", options=("--vectors", "10"))
        assert run.ending == ("TOOL_FAILURE", 3)
        assert message in run.record["message"]

    @pytest.mark.slow
    def test_what_a_design_reports_does_not_matter(self, tmp_path: Path) -> None:
        """Reports of the design do not matter if the simulation goes on."""
        statement = 'assert false report "error: 1" severity error'
        (tmp_path / "model.vhd").write_text(
            ONE_BIT.format(kind="std_logic_vector(0 downto 0)", expression=f"model_inp;\n  {statement}")
        )
        assert sim(tmp_path, BIT, tmp_path / "model.vhd").ending == ("PASS", 0)

    def test_ports_that_do_not_fit(self, tmp_path: Path) -> None:
        run = sim(tmp_path, BIT, HERE / "addsub.vhd", HERE / "grid.vhd", options=("--top", "addsub"))
        assert run.ending == ("INVALID_INPUT", 2)
        assert "model_inp" in run.record["message"]

    def test_no_ghdl(self, tmp_path: Path) -> None:
        (tmp_path / "prog.dais").write_text(ADDSUB)
        (tmp_path / "bin").mkdir()
        files = (HERE / "addsub.vhd", HERE / "grid.vhd")
        done = command(
            "sim",
            tmp_path / "prog.dais",
            "--top",
            "addsub",
            "--rtl",
            *files,
            PATH=str(tmp_path / "bin"),
            DAIS_VERIF_GHDL="",
        )
        assert done.returncode == 3
        (verdict,) = (line for line in done.stdout.splitlines() if line.startswith("TOOL_FAILURE"))
        assert "ghdl" in verdict and "DAIS_VERIF_GHDL" in verdict
        as_recorded(verdict)


class TestChoice:
    """The simulator follows from the language of the files; if both do not fit, the message is one line."""

    @pytest.mark.parametrize(
        ("choice", "names"),
        [
            ((), ("a.vhd", "b.v")),
            (("--sim", "ghdl"), ("a.vhd", "b.sv")),
            (("--sim", "ghdl"), ("b.v",)),
            (("--sim", "ghdl"), ()),
            (("--sim", "icarus"), ("a.vhd",)),
            (("--sim", "verilator"), ("a.vhdl",)),
            (("--sim", "both"), ("a.VHD",)),
        ],
        ids=lambda words: " ".join(words) or "none",
    )
    def test_files_that_do_not_fit(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        choice: tuple[str, ...],
        names: tuple[str, ...],
    ) -> None:
        monkeypatch.chdir(tmp_path)
        for name in names:
            (tmp_path / name).write_text("")
        run = sim(tmp_path, BIT, *map(Path, names), options=choice)
        assert run.ending == ("INVALID_INPUT", 2)
        assert all(f"'{name}'" in run.record["message"] for name in names)
        as_recorded(run.record["message"])

    def test_data_without_rtl(self, tmp_path: Path) -> None:
        run = sim(tmp_path, BIT, options=("--data", "x.mem"))
        assert run.ending == ("INVALID_INPUT", 2)
        assert "--data" in run.record["message"]
        as_recorded(run.record["message"])


def test_waves(tmp_path: Path) -> None:
    run = addsub(tmp_path, "--waves", "--vectors", "20")
    assert run.ending == ("PASS", 0)
    text = (run.folder / "ghdl" / "waves.vcd").read_text()
    assert "op_5[6:0] $end" in text and len(text) > 1000
