"""Constants of which a branch replaces a part are assigned in two steps, on the same line."""

from __future__ import annotations

from pathlib import Path

import pytest

from dais_verif.base.errors import StateError
from dais_verif.prover.vhdl.constants import in_steps

HEAD = """architecture rtl of model is
  constant k : bits := "0011"; signal s, other : bits(3 downto 0); signal r : pair;
  function f(x : bits) return bits is variable g : bits(3 downto 0) := "0011"; begin if x(0) = '1' then g(0) := x(1);
    end if; return g; end;
begin
process (all) variable v, m : bits(3 downto 0); variable n : natural; begin
"""
END = "if c then v(1 downto 0) := b; s(0) <= b(0); r.x(1) <= b(1); m(0, 1) := b; end if; end process; s <= k; end;"


def steps(body: str) -> str:
    """Return what is added to ``body``."""
    text = HEAD + body + END
    found = in_steps(Path("m.vhd"), text.encode()).decode()
    assert found.count("\n") == text.count("\n") and found.endswith(END)
    first, _, rest = found.partition(" g(g'left) := g(g'left);")  # the function
    assert HEAD.startswith(first) and first.endswith("begin")
    return rest.split("natural; begin\n")[1].removesuffix(END).removeprefix(body)


@pytest.mark.parametrize(
    ("body", "step"),
    [
        ('v := "0011";', " v(v'left) := v(v'left);"),
        ("v := f(k);", " v(v'left) := v(v'left);"),
        ('s <= "0011";', " s(s'left) <= '0';"),
        ('s <= x"9";', " s(s'left) <= '1';"),
        ("S <= k;", " s(s'left) <= k(k'left);"),
        ("r <= none;", " r.x(r.x'left) <= none.x(none.x'left);"),
        ("s <= (others => '0');", ""),
        ('s <= "0000";', ""),
        ("s <= other;", ""),
        ("s <= ('1', '0', '1', '1');", " s(s'left) <= '1';"),
        ("s <= ('Z', '0', '1', '1');", " s(s'left) <= 'Z';"),
        ("s <= (others => k(0));", " s(s'left) <= k ( 0 );"),
        ("s <= '0' & v(2 downto 0);", ""),
        ("n := 3; m := k;", ""),
        ("other <= k;", ""),
        ("if v = k then n := 2; end if;", ""),
    ],
)
def test_a_step_is_added(body: str, step: str) -> None:
    assert steps(body) == step


def test_fields_in_functions_and_signals_in_procedures() -> None:
    function = (
        'function f(c : bit) return pair is variable g : pair := ("01", "10"); begin g.x(0) := c; return g; end;'
        " procedure p(signal s : out bits; c : boolean) is begin s <= \"10\"; if c then s(0) <= '1'; end if; end;"
    )
    found = in_steps(Path("m.vhd"), function.encode()).decode()
    assert "begin g.x(g.x'left) := g.x(g.x'left); g.x(0)" in found
    assert "s <= \"10\"; s(s'left) <= '1'; if c" in found
    apart = f'{function} architecture a of b is begin s <= "10"; end;'
    assert in_steps(Path("m.vhd"), apart.encode()).decode() == found + apart.removeprefix(function)


def test_a_constant_without_a_name_is_refused() -> None:
    with pytest.raises(StateError, match=r"^m\.vhd:7: "):
        steps("s <= to_bits(3, 4);")
    with pytest.raises(StateError, match=r"^m\.vhd:7: "):
        steps("s <= (0 => '1', others => '0');")
