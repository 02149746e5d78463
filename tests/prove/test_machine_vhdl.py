"""VHDL of machines is proved through GHDL's synthesis; registers that it does not initialise never pass."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.alkaids_rtl import theirs
from support.places import FSM

from dais_verif.base.verdict import Verdict
from dais_verif.record.proof import ProofRecord
from dais_verif.spec.machine import load_machine
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.prove import ProveRequest, prove

REAL = sorted(path.name for path in FSM.glob("f*"))

COUNTER = """library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all;
entity top is port(clk: in std_logic; rst, en: in std_logic_vector(0 downto 0); y: out std_logic_vector(5 downto 0));
end entity;
architecture a of top is
  signal low: unsigned(2 downto 0) := "101";
  signal high: unsigned(2 downto 0) := "000";
  signal sum: unsigned(5 downto 0);
begin
  sum <= (high & low) + 3;
  y <= std_logic_vector(high & low);
  process(clk) begin
    if rising_edge(clk) then
      if rst(0) = '1' then low <= "101"; high <= "000";
      elsif en(0) = '1' then low <= sum(2 downto 0); high <= sum(5 downto 3);
      end if;
    end if;
  end process;
end architecture;
"""


def proved(name: str, sources: tuple[Path, ...]) -> ProofRecord:
    design = DesignRequest(rtl=sources, top="top")
    return prove(ProveRequest(program=FSM / name / "fsm.json.gz", design=design, cache=False)).record


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ("", "", Verdict.PASS),
        (' := "101"', "", Verdict.X_IN_OUTPUT),
        pytest.param("+ 3", "+ 2", Verdict.RTL_MISMATCH, marks=pytest.mark.slow),
        ('high <= "000";', "", Verdict.RTL_MISMATCH),
    ],
    ids=["right", "not initialised", "counts by two", "resets in part"],
)
def test_vhdl_of_a_counter_is_proved_or_refuted(old: str, new: str, verdict: Verdict, tmp_path: Path) -> None:
    (tmp_path / "top.vhd").write_text(COUNTER.replace(old, new))
    record = proved("f01_counter", (tmp_path / "top.vhd",))
    assert record.verdict is verdict, record.message


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_alkaids_vhdl_is_proved_but_for_output_registers_that_it_does_not_initialise(name: str, tmp_path: Path) -> None:
    record = proved(name, theirs(name, tmp_path, "vhdl"))
    initialised = not any(out.register and out.initial for out in load_machine(FSM / name / "fsm.json.gz").outputs)
    assert record.verdict is (Verdict.PASS if initialised else Verdict.X_IN_OUTPUT), record.message


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_alkaids_verilog_is_proved(name: str, tmp_path: Path) -> None:
    record = proved(name, theirs(name, tmp_path, "verilog"))
    assert record.verdict is Verdict.PASS, record.message
