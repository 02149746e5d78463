"""The ports of an entity are read from its text."""

from __future__ import annotations

from pathlib import Path

import pytest

from dais_verif.hardware.ports.discover import Port
from dais_verif.hardware.ports.interface import Clocking
from dais_verif.hardware.ports.ports_file import PortsFile, Side
from dais_verif.hardware.ports.vhdl_ports import in_lower_case, vhdl_ports_in


def ports(folder: Path, text: str, top: str = "model") -> tuple[Port, ...] | None:
    (folder / "a.vhd").write_text(text)
    return vhdl_ports_in([folder / "a.vhd"], top)


def entity(*declarations: str, generics: str = "") -> str:
    return f"entity model is {generics} port ({'; '.join(declarations)}); end entity;"


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        ("a : in std_logic_vector(7 downto 0)", [Port("a", "in", 8)]),
        ("A : IN STD_LOGIC_VECTOR(0 TO 4)", [Port("a", "in", 5)]),
        ("model_out:out std_logic_vector(47 downto 0)", [Port("model_out", "out", 48)]),
        ("signal a, b : in std_ulogic := '0'", [Port("a", "in", 1), Port("b", "in", 1)]),
        ("a : unsigned(3 downto 2)", [Port("a", "in", 2)]),
        ("a : buffer signed ( 3 downto -2 )", [Port("a", "out", 6)]),
        ("a : inout std_ulogic_vector(w - 1 downto 0)", [Port("a", "inout", 12)]),
        ("a : out bit_vector((w+4)/2*2 - 1 downto 0)", [Port("a", "out", 16)]),
        ("a : out std_logic_vector(-1 downto 0)", [Port("a", "out", 0)]),
        ("a : out std_logic_vector(3 downto (-7) / 2)", [Port("a", "out", 7)]),
        ("a : out std_logic_vector(3 downto 7 / (-2) + (-7) / (-2))", [Port("a", "out", 4)]),
        (
            "a : out std_logic_vector(3 downto 0); -- b : in bit;\n c : in bit",
            [Port("a", "out", 4), Port("c", "in", 1)],
        ),
    ],
)
def test_what_is_told(declaration: str, expected: list[Port], tmp_path: Path) -> None:
    text = entity(declaration, generics='generic (w : positive := 12; name : string := "x");')
    assert ports(tmp_path, text) == tuple(expected)


@pytest.mark.parametrize(
    "text",
    [
        entity("a : in integer range 0 to 7"),
        entity("a : in work.types.word"),
        entity("a : in std_logic_vector(width downto 0)"),
        entity("a : in std_logic_vector(w - 1 downto 0)", generics="generic (w : positive);"),
        entity("a : in std_logic_vector(7 downto 0)(3 downto 0)"),
        entity("a : in std_logic_vector(f(3) downto 0)"),
        entity("a : in std_logic_vector(2 / 0 downto 0)"),
        entity(f"a : in std_logic_vector({'1 + ' * 50_000}1 downto 0)"),
        entity(f"a : in std_logic_vector({'(' * 5_000}1{')' * 5_000} downto 0)"),
        entity("a : in std_logic_vector"),
        entity("nonsense"),
        "entity model is end entity;",
        "entity other is port (a : in bit); end entity;",
        "",
    ],
)
def test_what_is_not(text: str, tmp_path: Path) -> None:
    assert ports(tmp_path, text) is None


def test_names_that_are_given_in_upper_case() -> None:
    said = PortsFile(
        Side("X_{}"), Side("y", ("A", "b")), Clocking("CLK", 3, "RST_n", True, valid_in="V"), ties=(("MODE", 1),)
    )
    assert in_lower_case(said) == PortsFile(
        Side("x_{}"), Side("y", ("a", "b")), Clocking("clk", 3, "rst_n", True, valid_in="v"), ties=(("mode", 1),)
    )
    assert in_lower_case(PortsFile()) == PortsFile()


def test_another_entity_in_another_file(tmp_path: Path) -> None:
    (tmp_path / "a.vhd").write_text(entity("a : in bit"))
    (tmp_path / "b.vhd").write_text("architecture rtl of top is begin end; ENTITY Top IS PORT (b : out bit); END Top;")
    assert vhdl_ports_in([tmp_path / "a.vhd", tmp_path / "b.vhd"], "TOP") == (Port("b", "out", 1),)
