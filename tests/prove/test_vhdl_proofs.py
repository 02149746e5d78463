"""VHDL is read through GHDL's synthesis and proved, or refuted with a replay in GHDL; unsupported code is reported."""

from __future__ import annotations

from pathlib import Path

import pytest
from prove.door import Run, run_prove
from support.said import as_recorded

from dais_verif.base.errors import ToolError
from dais_verif.base.toolchain import tools
from dais_verif.spec.program import Program

#: y = 3 - x.
PROGRAM = Program.build(
    [(-1, 0, -1, 0, (1, 3, 0)), (5, -1, -1, 3, (0, 2, 0)), (1, 1, 0, 0, (1, 4, 0))], [(2, 0, 0)], inp_shift=[0]
)

MODEL = """
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
entity Model is
  port (clk, rst, in_valid : in std_logic; out_valid : out std_logic;
        X_0 : in std_logic_vector(3 downto 0); y_0 : out std_logic_vector(4 downto 0));
end entity;
architecture rtl of Model is
  signal held : signed(3 downto 0);
  signal v : std_logic_vector(1 downto 0);
begin
  process (clk)
  begin
    if rising_edge(clk) then
      held <= signed(X_0);
      y_0 <= std_logic_vector(to_signed(3, 5) - resize(held, 5));
      v <= v(0) & in_valid;
      if rst = '1' then
        v <= "00";
      end if;
    end if;
  end process;
  out_valid <= v(1);
end architecture;
"""

PORTS = """
[inputs]
port = "x_{}"
[outputs]
port = "y_{}"
[clock]
port = "clk"
latency = 2
reset = "rst"
valid_in = "in_valid"
valid_out = "out_valid"
"""


@pytest.fixture(autouse=True)
def ghdl() -> None:
    try:
        tools.ghdl()
    except ToolError as error:
        pytest.skip(str(error))


def proved(text: str, folder: Path, *options: str) -> Run:
    (folder / "model.vhd").write_text(text)
    (folder / "ports.toml").write_text(PORTS)
    arguments = ("--ports", str(folder / "ports.toml"), "--top", "Model", *options)
    return run_prove(PROGRAM, folder, *arguments, "-o", folder / "out", "--rtl", folder / "model.vhd")


def test_it_is_proved(tmp_path: Path) -> None:
    run = proved(MODEL, tmp_path)
    assert run.ending == ("PASS", 0), (run.tree["message"], run.stderr)
    assert run.tree["timing"]["latency"] == 2
    assert run.tree["handshake"]["status"] == "PROVED"
    assert any(reader.startswith("ghdl ") for reader in run.tree["rtl"]["readers"])


#: The stages of the same pipeline as records in an array.
STAGES = """
architecture rtl of Model is
  type stage is record value : signed(4 downto 0); valid : std_logic; end record;
  type stages is array (0 to 1) of stage;
  signal s : stages;
begin
  process (clk)
  begin
    if rising_edge(clk) then
      s(0) <= (value => resize(signed(X_0), 5), valid => in_valid);
      s(1) <= s(0);
      s(1).value <= 3 - s(0).value;
      if rst = '1' then
        for i in s'range loop s(i).valid <= '0'; end loop;
      end if;
    end if;
  end process;
  y_0 <= std_logic_vector(s(1).value);
  out_valid <= s(1).valid;
end architecture;
"""


def test_stages_in_records_and_arrays(tmp_path: Path) -> None:
    text = MODEL.partition("architecture")[0] + STAGES
    run = proved(text, tmp_path)
    assert run.ending == ("PASS", 0), (run.tree["message"], run.stderr)
    assert run.tree["handshake"]["status"] == "PROVED"
    run = proved(text.replace("s(1) <= s(0)", "s(1) <= s(1)"), tmp_path)  # the valid bit does not move on
    assert run.ending == ("RTL_MISMATCH", 1), (run.tree["message"], run.stderr)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("to_signed(3, 5)", "to_signed(2, 5)"),
        pytest.param("resize(held, 5)", "signed('0' & held)", marks=pytest.mark.slow),
    ],
)
def test_a_bug_is_replayed_in_ghdl(old: str, new: str, tmp_path: Path) -> None:
    assert old in MODEL
    run = proved(MODEL.replace(old, new), tmp_path)
    assert run.ending == ("RTL_MISMATCH", 1), (run.tree["message"], run.stderr)
    replay = run.tree["counterexample"]["replay"]
    assert replay["verdict"] == "RTL_MISMATCH" and [s["name"] for s in replay["simulators"]] == ["ghdl"]


def test_a_broken_handshake(tmp_path: Path) -> None:
    run = proved(MODEL.replace('v <= "00"', "v(1) <= '0'"), tmp_path)
    assert run.ending == ("RTL_MISMATCH", 1), (run.tree["message"], run.stderr)
    assert run.tree["handshake"]["status"] == "REFUTED" and run.tree["handshake"]["found"] == "1"


@pytest.mark.parametrize(
    ("text", "options", "ending", "message"),
    [
        (MODEL.replace("rising_edge", "falling_flank"), (), ("INVALID_INPUT", 2), "model.vhd:15: no declaration for"),
        (MODEL, ("--top", "other"), ("INVALID_INPUT", 2), "'other'"),
        (
            MODEL.replace("v <= v(0) & in_valid;", "v <= v(0) & in_valid after 1 ns;").replace(
                "use ieee.numeric_std.all;", "use ieee.numeric_std.all;\nuse ieee.math_real.all;"
            ).replace("<= v(1);", "<= v(integer(sqrt(real(to_integer(held)))));"),
            (),
            ("TOOL_FAILURE", 3),
            "proof reads VHDL",
        ),
    ],
    ids=["no-vhdl", "top", "not-known"],
)  # fmt: skip
def test_what_cannot_be_read(
    text: str, options: tuple[str, ...], ending: tuple[str, int], message: str, tmp_path: Path
) -> None:
    run = proved(text, tmp_path, *options)
    assert run.ending == ending, run.tree["message"]
    assert message in run.tree["message"]
    as_recorded(run.tree["message"])


def test_two_languages_are_refused(tmp_path: Path) -> None:
    (tmp_path / "other.v").write_text("module other; endmodule")
    run = proved(MODEL, tmp_path, "--rtl", str(tmp_path / "other.v"))
    assert run.ending == ("INVALID_INPUT", 2)
    as_recorded(run.tree["message"])


TABLE = """
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
entity model is
  port (model_inp : in std_logic_vector(1 downto 0); model_out : out std_logic_vector(2 downto 0));
end entity;
architecture rtl of model is
begin
  process (model_inp)
  begin
    case to_integer(unsigned(model_inp)) is
      when 0 => model_out <= "101";
      when 1 => model_out <= "001";
      when 2 => model_out <= "111";
      when 3 => model_out <= "010";
      when others => model_out <= (others => 'X');
    end case;
  end process;
end architecture;
"""

LOOKUP = Program.build(
    [(-1, 0, -1, 0, (0, 2, 0)), (8, 0, -1, 0, (0, 3, 0))], [(1, 0, 0)], inp_shift=[0], tables=[[5, 1, 7, 2]]
)


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ("", "", "PASS"),
        ('when 2 => model_out <= "111"', 'when 2 => model_out <= "110"', "RTL_MISMATCH"),
        ('      when 3 => model_out <= "010";\n', "", "X_IN_OUTPUT"),
    ],
    ids=["right", "wrong entry", "missing entry"],
)
def test_a_table_written_as_a_case(old: str, new: str, verdict: str, tmp_path: Path) -> None:
    (tmp_path / "table.vhd").write_text(TABLE.replace(old, new))
    run = run_prove(LOOKUP, tmp_path, "--rtl", tmp_path / "table.vhd", "-o", tmp_path / "out")
    assert run.tree["verdict"] == verdict, (run.tree["message"], run.stderr)


def test_places_are_those_of_the_vhdl_and_ghdl_is_its_only_reader(tmp_path: Path) -> None:
    text = TABLE.replace("  process (model_inp)", "  process (all)")
    entry = 'when 2 => model_out <= "111"'
    for value, where in (("'Z'", "table.vhd:16"), ("'X'", "")):
        (tmp_path / "table.vhd").write_text(text.replace(entry, f"when 2 => model_out <= (others => {value})"))
        run = run_prove(LOOKUP, tmp_path, "--rtl", tmp_path / "table.vhd", "-o", tmp_path / value[1])
        assert run.tree["verdict"] != "PASS" and where in run.tree["message"], run.tree["message"]
        as_recorded(run.tree["message"])
        assert "from_vhdl" not in run.tree["message"]
    (tmp_path / "table.vhd").write_text(text)
    options = ("--rtl", tmp_path / "table.vhd", "--front-end")
    run = run_prove(LOOKUP, tmp_path, *options, "available", "-o", tmp_path / "available")
    assert run.ending == ("PASS", 0) and run.tree["rtl"]["front_ends"] == ["ghdl"]
    run = run_prove(LOOKUP, tmp_path, *options, "both", "-o", tmp_path / "both")
    assert run.ending == ("INVALID_INPUT", 2) and "--front-end" in run.tree["message"]
