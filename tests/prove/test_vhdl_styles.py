"""VHDL of many styles is read as GHDL simulates it, or refused: types, functions, indices, literals, integers."""

from __future__ import annotations

from pathlib import Path

import pytest
from prove.soundness import vhdl
from prove.soundness.vhdl_entities import Entity

from dais_verif.base.errors import ToolError
from dais_verif.base.toolchain import tools

HEAD = """library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all;
entity {name} is
  port (model_inp : in std_logic_vector(7 downto 0); model_out : out std_logic_vector(7 downto 0));
end;
architecture rtl of {name} is
{declarations}
begin
{body}
end;
"""

#: Declarations and statements. A body that begins with ``variable`` or ``begin`` is that of a process.
READ = [
    ("", "variable c : natural; begin c := 0; for i in model_inp'range loop if model_inp(i) = '1' then c := c + 1;"
         " end if; end loop; model_out <= std_logic_vector(to_unsigned(c, 8));"),
    ("function f(x : signed) return signed is begin if x(x'left) = '1' then return resize(x(3 downto 0), 8); end if;"
     " for i in 0 to 3 loop if x(i) = '1' then return to_signed(i, 8); end if; end loop; return x; end;",
     "model_out <= std_logic_vector(f(signed(model_inp)));"),
    ("function f(x : std_logic_vector) return std_logic is alias y : std_logic_vector(x'length-1 downto 0) is x; begin"
     " if y'length = 1 then return y(0); end if;"
     " return f(y(y'length-1 downto y'length/2)) xor f(y(y'length/2-1 downto 0)); end;",
     "model_out <= (0 => f(model_inp), others => '0');"),
    ("type rec is record a : signed(3 downto 0); b : integer; end record; type arr is array(0 to 2) of rec;",
     "variable r : rec; variable a : arr; begin r := (a => signed(model_inp(3 downto 0)), b => 3); a := (others => r);"
     " a(1).b := to_integer(signed(model_inp(7 downto 4))); a(2).a := not r.a;"
     " model_out <= std_logic_vector(to_signed(a(0).b + a(1).b * to_integer(a(2).a), 8));"),
    ("type arr is array(3 downto 0) of unsigned(0 to 7);",
     'variable a : arr; begin a := (x"11", x"22", x"33", x"c4");'
     " a(to_integer(unsigned(model_inp(1 downto 0)))) := unsigned(model_inp);"
     " model_out <= std_logic_vector(a(to_integer(unsigned(model_inp(4 downto 3)))));"),
    ("type arr is array(-4 to 3) of integer; constant t : arr := (-100, 5, 77, -1, 0, 13, 127, -128);",
     "model_out <= std_logic_vector(to_signed(t(to_integer(signed(model_inp(2 downto 0)))), 8));"),
    ("", "variable v : unsigned(7 downto 0); begin v := \"00011011\"; if model_inp(7) = '1' then v(1 downto 0) :="
         " unsigned(model_inp(1 downto 0)); elsif model_inp(6) = '1' then v(6 downto 4) := unsigned(model_inp(2 downto"
         " 0)); end if; model_out <= std_logic_vector(v);"),
    ("", "begin model_out <= x\"1b\"; for i in 0 to 7 loop if unsigned(model_inp(7 downto 4)) = i then"
         " model_out(i) <= model_inp(i); end if; end loop;"),
    ("", "model_out <= (0 => '1', others => '0') when model_inp(3 downto 0) < model_inp(7 downto 4) else x\"ff\";"),
    ("type st is (a, b, c);",
     "variable s : st; begin if model_inp(0) = '1' then s := b; elsif model_inp(1) = '1' then s := c; else s := a;"
     ' end if; case s is when a => model_out <= x"01"; when b | c => model_out <= model_inp; end case;'),
    ("", "variable i : integer; begin i := to_integer(signed(model_inp)); case i is when -128 to -5 => model_out <="
         ' x"01"; when -4 => model_out <= x"02"; when -3 to 10 => model_out <= x"03"; when 100 => model_out <= x"04";'
         ' when others => model_out <= x"05"; end case;'),
    ("subtype t is integer range -28 to -13; signal a : t;",
     "a <= to_integer(signed(model_inp(3 downto 0))) - 20;"
     " model_out <= std_logic_vector(to_signed(a * 3, 8)) when a > -22 else std_logic_vector(to_signed(a, 8));"),
    ("signal n : natural range 0 to 255;",
     "n <= to_integer(unsigned(model_inp)); model_out <= std_logic_vector(to_signed((n - 300) mod 16 + (-n) / 7, 8));"),
    ("signal n : natural range 0 to 255;",
     'n <= to_integer(unsigned(model_inp)); model_out <= x"01" when n < -1 else x"02" when n <= 300 and n - 10 > -3'
     ' else x"03";'),
    ("", "variable v : std_logic_vector(15 downto 0); variable i : unsigned(1 downto 0); begin"
         " v := model_inp & not model_inp; i := unsigned(model_inp(3 downto 2)) + unsigned(model_inp(1 downto 0));"
         " model_out <= v(to_integer(i) + 7 downto to_integer(i));"),
    ("signal reg, wire, n5_o, n2_o : std_logic_vector(7 downto 0);",
     "reg <= model_inp; wire <= not reg; n5_o <= reg xor x\"3c\"; n2_o <= wire and n5_o; model_out <= n2_o;"),
    ("", "model_out <= std_logic_vector(unsigned(model_inp) rol to_integer(signed(model_inp(3 downto 0))));"),
]  # fmt: skip

REFUSED = [
    ("", "variable v : std_logic_vector(31 downto 3); variable i : integer range 0 to 7; begin v := (others => '0');"
         " v(17 downto 10) := model_inp; i := to_integer(unsigned(model_inp(2 downto 0)));"
         " model_out <= v(i + 15 downto i + 8);"),
    ("signal s : std_logic;",
     "s <= 'H' when model_inp(0) = '1' else 'L'; model_out <= x\"01\" when s = '1' else x\"02\";"),
    ("", 'begin case? model_inp is when "0-------" => model_out <= x"01"; when others => model_out <= model_inp;'
         " end case?;"),
]  # fmt: skip


@pytest.fixture(autouse=True)
def ghdl() -> None:
    try:
        tools.ghdl()
    except ToolError as error:
        pytest.skip(str(error))


def entities(texts: list[tuple[str, str]], first: int) -> list[Entity]:
    made = []
    for number, (declarations, body) in enumerate(texts, first):
        whole = f"process (all) {body} end process;" if body.startswith(("variable", "begin")) else body
        text = HEAD.format(name=f"e{number}", declarations=declarations, body=whole)
        made.append(Entity(f"e{number}", text, 8, 8))
    return made


def test_styles(tmp_path: Path) -> None:
    records = vhdl.judged([*entities(READ, 0), *entities(REFUSED, 50)], tmp_path)
    expected = {f"e{n}": (vhdl.PROVED, vhdl.REFUTED) for n in range(len(READ))}
    expected |= {f"e{n}": (vhdl.REFUSED, vhdl.REFUSED) for n in range(50, 50 + len(REFUSED))}
    assert {name: (record["right"], record.get("wrong")) for name, record in records.items()} == expected
