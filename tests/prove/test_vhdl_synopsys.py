"""std_logic_unsigned and std_logic_signed are read for a proof as GHDL simulates them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from dais_verif.base.toolchain.limits import Limits
from dais_verif.prover.vhdl import packages as vhdl_packages
from dais_verif.verbs.proof.vhdl_probe import bench_of, misread

UNIT = """library ieee;
use ieee.std_logic_1164.all;
use ieee.std_logic_{package}.all;
entity probe is
  port (model_inp : in std_logic_vector(7 downto 0); model_out : out std_logic_vector({top} downto 0));
end entity;
architecture rtl of probe is
  signal u, v : std_logic_vector(3 downto 0);
  signal w : std_logic_vector(5 downto 0);
  signal c : std_logic_vector(1 downto 0);
  signal b : std_logic;
  signal k : integer range -32 to 31;
  function bit(x : boolean) return std_logic_vector is
  begin
    if x then return "1"; else return "0"; end if;
  end function;
  function pad(x : std_logic_vector) return std_logic_vector is
    variable found : std_logic_vector(7 downto 0) := (others => '0');
  begin
    found(x'length - 1 downto 0) := x;
    return found;
  end function;
begin
  u <= model_inp(3 downto 0);
  v <= model_inp(7 downto 4);
  w <= model_inp(6 downto 1);
  c <= model_inp(5 downto 4);
  b <= model_inp(6);
  k <= conv_integer({whole});
{assignments}
end architecture;
"""
#: Expressions of vectors, of a bit and of an integer.
BOTH = ["+u", "u * v", "w * c", "shl(u, c)", "shr(w, c)", "shr(u, v)"]
SIGNED = ["-u", "abs u", "abs w"]


def _random(rng: random.Random) -> str:
    vector = rng.choice(("u", "v", "w"))
    other = rng.choice(("u", "v", "w", "k", str(rng.randint(-70, 70)), "b"))
    left, right = rng.choice(((vector, other), (other, vector)))
    right = f"({right})" if right.startswith("-") else right
    left = f"({left})" if left.startswith("-") else left
    if other != "b" and rng.random() < 0.6:
        return f"bit({left} {rng.choice(('<', '<=', '>', '>=', '=', '/='))} {right})"
    return f"{left} {rng.choice('+-')} {right}"


def _operators(package: str, count: int) -> list[str]:
    rng = random.Random(package)
    drawn = [_random(rng) for _ in range(count)]
    return list(dict.fromkeys([*BOTH, *(SIGNED if package == "signed" else []), *drawn]))


@pytest.mark.parametrize("package", ["unsigned", "signed"])
def test_each_function_is_read_as_it_is_simulated(package: str, tmp_path: Path) -> None:
    operators = _operators(package, 120)
    top = 8 * len(operators) - 1
    lines = [f"  model_out({8 * n + 7} downto {8 * n}) <= pad({text});" for n, text in enumerate(operators)]
    whole = "w" if package == "signed" else "w(4 downto 0)"
    unit = UNIT.format(package=package, top=top, whole=whole, assignments="\n".join(lines))
    assert misread(tmp_path, Limits(300, 4096), operators, (unit, bench_of(len(operators)))) == []


def test_another_body_is_misread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An integer that is not cut to the length of the vector gives other comparisons."""
    texts = []
    for file in vhdl_packages._FILES:
        changed = file.read_text().replace("wide(l) < to_signed(r, l'length + 1)", "to_integer(wide(l)) < r")
        (tmp_path / file.name).write_text(changed)
        texts.append(tmp_path / file.name)
    monkeypatch.setattr(vhdl_packages, "_FILES", tuple(texts))
    line = "  model_out <= pad(bit(u < 20));"
    unit = UNIT.format(package="unsigned", top=7, whole="w(4 downto 0)", assignments=line)
    assert misread(tmp_path / "probe", Limits(300, 4096), ["u < 20"], (unit, bench_of(1))) == ["u < 20"]
