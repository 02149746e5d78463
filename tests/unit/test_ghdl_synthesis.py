"""Netlists of GHDL's synthesis: how they are read, written as Verilog, and completed; packages that are replaced."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.said import raises

from dais_verif.base.errors import InputError, VhdlError
from dais_verif.prover.vhdl import reading as vhdl
from dais_verif.prover.vhdl.ghdl_netlist import Gate, Module, lost_variants, modules, with_lost_variants
from dais_verif.prover.vhdl.ghdl_verilog import written
from dais_verif.prover.vhdl.packages import redirected


@pytest.mark.parametrize("word", ["", "error:"], ids=["GHDL 2", "GHDL 5"])
def test_the_first_error_of_an_analysis(word: str) -> None:
    said = f"f.vhd:2:9:warning: no use\nf.vhd:3:7:note: here\nf.vhd:3:37:{word} no operator\nx <= a + 1;\n    ^\n"
    assert vhdl._first_error(said, []) == "f.vhd:3: no operator"


DUMP = """\
module {m2} $top
  module {m3} $and
    input $a[?];
    output $o[?];
  module {m100} \\model
    input \\a[1:0];
    input \\S;
    output \\y[2:0];
    # rtl/0/m.vhd:2:8
    instance \\model{i2}: \\model
      input \\model.\\y{p1} <- %4.$o{n8w3}
      outputs \\model.\\a{n1w2} \\model.\\S{n2w1}
    instance %3{i4}: $const_UB32
      parameters $val=5
      outputs %3.$o{n5w3}
    # packages.vhd:7:1
    instance %2{i3}: $GATE
      input %2.$a{p2} <- \\model.\\a{n1w2}
      input %2.$b{p3} <- \\model.\\a{n1w2}
      outputs %2.$o{n4w2}
    # rtl/0/m.vhd:9:3
    instance %5{i5}: $uextend
      input %5.$i{p4} <- %2.$o{n4w2}
      outputs %5.$o{n6w3}
    # rtl/0/m.vhd:10:3
    instance %4{i6}: $mux2
      input %4.$s{p5} <- \\model.\\S{n2w1}
      input %4.$i0{p6} <- %3.$o{n5w3}
      input %4.$i1{p7} <- %5.$o{n6w3}
      outputs %4.$o{n8w3}
    connect \\model.\\a{n1w2} -> %2.$a{p2}
  instance $top{i1}: $top
"""


def verilog(gate: str, column: int = 1) -> str:
    def name(file: str) -> str | None:
        return "m.vhd" if file.startswith("rtl") else None

    return written(
        modules(DUMP.replace("GATE", gate).replace("vhd:7:1", f"vhd:7:{column}")), name, lambda place: place[2] == 40
    )


@pytest.mark.parametrize(
    ("gate", "expression"),
    [
        ("and", "a & a"),
        ("sdiv", "$signed(a) / $signed(a)"),
        ("srem", "$signed(a) % $signed(a)"),
        ("udiv", "a / a"),
        ("asr", "$signed(a) >>> a"),
        ("lsr", "a >> a"),
        ("smax", "($signed(a) > $signed(a)) ? a : a"),
    ],
)
def test_gates_keep_their_signs(gate: str, expression: str) -> None:
    text = verilog(gate)
    assert f"assign n2_o = {expression};" in text
    assert "assign n4_o = s ? n5_o : 3'b101;" in text and "assign y = n4_o;" in text


@pytest.mark.parametrize(("gate", "where"), [("latch", "m.vhd:9"), ("eq", "m.vhd:9"), ("tri", "m.vhd:9")])
def test_a_gate_without_a_rule_or_with_other_widths_is_refused_at_its_line(gate: str, where: str) -> None:
    with pytest.raises(InputError, match=f"^{where}: "):
        verilog(gate)


def test_an_offset_that_ghdl_adds_to_the_index_of_a_slice_is_refused() -> None:
    assert "n2_o = a + a;" in verilog("add")
    with pytest.raises(InputError, match=r"m\.vhd:9: .*slice"):
        verilog("add", 40)


def test_lines_have_places_in_the_vhdl_also_those_of_packages() -> None:
    text = verilog("and")
    places, line = [], ""
    for row in text.split("\n"):
        line = row if row.startswith("`line") else line
        places += [line] if "assign n" in row else []
    assert places == [f'`line {number} "m.vhd" 0' for number in (9, 9, 10)]


def test_a_selection_has_its_default_and_the_lowest_bit_selects_the_first_value() -> None:
    ports = ("\\s", 2), ("\\d", 1)
    values = tuple(Gate(f"%{n}", "$const_UB32", (), ((n, 1),), (n % 2,), ("", 0, 0)) for n in (10, 11))
    choice = Gate("%9", "$pmux", (1, 2, 10, 11), ((9, 1),), (4,), ("", 0, 0))
    body = Gate("\\m", "\\m", (9,), ((1, 2), (2, 1)), (), ("", 0, 0))
    text = written(
        [Module("\\m", ports, (("\\y", 1),), body, (*values, choice))], lambda file: file, lambda place: False
    )
    for line in ("2'b01: n9_o = 1'b0;", "2'b10: n9_o = 1'b1;", "default: n9_o = d;"):
        assert line in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("use IEEE.Numeric_Std.all;", "use work.dais_numeric_std.all;"),
        ("use ieee.numeric_std_unsigned.all;", "use work.dais_numeric_std_unsigned.all;"),
        ("use ieee.std_logic_signed.all;", "use work.dais_std_logic_signed.all;"),
        ("y <= ieee.numeric_std.resize(x, 3);", "y <= work.dais_numeric_std.resize(x, 3);"),
        ('-- ieee.numeric_std\nx <= "ieee.numeric_bit";', None),
        ("use ieee\n.\nnumeric_std.all; --", "use work.dais_numeric_std\n\n.all; --"),
        ("use ieee.std_logic_1164.all; use ieee.math_real.all;", None),
    ],
)
def test_packages_with_bodies_of_our_own(text: str, expected: str | None) -> None:
    assert redirected(Path("m.vhd"), text.encode()).decode() == (text if expected is None else expected)


def test_a_package_that_ghdl_would_read_in_its_own_way_is_refused_at_its_line() -> None:
    with pytest.raises(InputError, match=r"m\.vhd:2: .*numeric_bit"):
        redirected(Path("m.vhd"), b"library ieee;\nuse ieee.numeric_bit.all;")


ENTITY = """\
entity Adder is
    generic (
        BW, SIGNED0 : integer := 3; -- two
        DROP : natural := 0
    );
    port (x: in bit);
end entity;
entity other is
    generic (NAME : string := "x");
    port (x: in bit);
end entity;
"""


def used(*kinds: str) -> tuple[Module, ...]:
    gates = tuple(Gate(f"\\u{n}", f"\\{kind}", (), (), (), ("", 0, 0)) for n, kind in enumerate(kinds))
    return (Module("\\top", (), (), None, gates), Module("\\Adder_4_1_0", (), (), None, ()))


USED = used("Adder_4_1_0", "Adder_5_0_0")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "adder.vhd").write_text(ENTITY)
    return tmp_path / "adder.vhd"


def test_a_variant_that_is_used_and_not_there_is_lost(source: Path) -> None:
    assert list(lost_variants(USED, [source])) == [("\\Adder_5_0_0", "adder", {"bw": 5, "signed0": 0, "drop": 0})]


@pytest.mark.parametrize("name", ["other_5_0_0", "adder_5_0", "adder_5_0_0_1", "adder_5_0_x", "black_box"])
def test_what_is_no_variant_is_left_to_the_reader(name: str, source: Path) -> None:
    assert list(lost_variants(used(name), [source])) == []


def test_what_the_sources_name_is_a_component_without_an_entity(source: Path) -> None:
    source.write_text(f"{ENTITY}-- component Adder_5_0_0\n")
    assert list(lost_variants(USED, [source])) == []


def test_a_lost_variant_is_added_under_its_name(source: Path) -> None:
    asked = []

    def synthesize(entity: str, options: object) -> tuple[Module, ...]:
        asked.append((entity, options))
        return (replace(USED[1], name="\\Adder"),)

    assert with_lost_variants(USED, [source], synthesize) == (*USED, replace(USED[1], name="\\Adder_5_0_0"))
    assert asked == [("adder", ["-gBW=5", "-gSIGNED0=0", "-gDROP=0"])]


@pytest.mark.parametrize("found", [(USED[0],), ()])
def test_another_netlist_than_one_module_is_not_taken(found: tuple[Module, ...], source: Path) -> None:
    assert with_lost_variants(USED, [source], lambda entity, options: found) == USED


def memory(*ports: str) -> str:
    """Return the Verilog of a memory of two words, with ports of these kinds in this order."""
    nowhere = ("", 0, 0)
    gates = [
        Gate("%50", "$posedge", (1,), ((50, 1),), (), nowhere),
        Gate("\\m", "$memory", (), ((60, 16),), (), nowhere),
    ]
    chain = 60
    for n, kind in enumerate(ports):
        writes = kind == "$mem_wr_sync"
        inputs = (chain, 2, 50, 2, 3) if writes else (chain, 2)
        chain = 70 + n
        outputs = ((chain, 16),) if writes else ((chain, 16), (80 + n, 8))
        gates.append(Gate(f"%{70 + n}", kind, inputs, outputs, (), nowhere))
    gates[1] = replace(gates[1], inputs=(chain,))
    body = Gate("\\t", "\\t", (), ((1, 1), (2, 1), (3, 8)), (), nowhere)
    module = Module("\\t", (("\\clk", 1), ("\\a", 1), ("\\d", 8)), (), body, tuple(gates))
    return written([module], lambda file: file, lambda place: False)


def test_the_last_write_of_an_edge_holds() -> None:
    text = memory("$mem_rd", "$mem_wr_sync", "$mem_wr_sync")
    assert text.count("always @(posedge clk) begin") == 1 and text.count("if (a) m[a] <= d;") == 2
    assert "reg [7:0] m [0:1];" in text and "assign n70_data = m[a];" in text


def test_a_memory_that_is_read_after_it_was_written_is_refused() -> None:
    with raises(VhdlError):
        memory("$mem_wr_sync", "$mem_rd")


def test_modules_have_names_of_their_own() -> None:
    body = [
        Gate(name, name, (), (), (), ("m.vhd", line, 1))
        for line, name in enumerate(("\\t", "\\always", "\\s_s_always"))
    ]
    instances = tuple(Gate(f"\\u{n}", gate.kind, (), (), (), ("", 0, 0)) for n, gate in enumerate(body[1:]))
    top, *others = (Module(gate.kind, (), (), gate, ()) for gate in body)
    text = written([replace(top, gates=instances), *others], lambda file: file, lambda place: False)
    for line in ("module t;", "module s_s_always;", "module s_s_always_2;", "  s_s_always u0 (", "  s_s_always_2 u1 ("):
        assert line in text.split("\n")
    with raises(InputError):
        written([top, others[0], others[0]], lambda file: file, lambda place: False)
