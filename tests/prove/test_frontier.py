"""Lines of RTL at which values go wrong: the first signals that carry no op's values."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.da4ml_rtl import need_ghdl

from dais_verif.hardware.ports.interface import Clocking, Dut, packed
from dais_verif.prover import slang
from dais_verif.prover.frontier import Frontier, find_frontier
from dais_verif.prover.frontier.values import key_of
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.spec.program import Program
from dais_verif.verbs.proof.reading import RtlReader

IN, SUM = (0, 6, 0), (0, 8, 0)
#: (a + 4 b) + c and (a + 4 b) - c.
PROGRAM = Program.build(
    [
        (-1, 0, -1, 0, IN),
        (-1, 1, -1, 0, IN),
        (-1, 2, -1, 0, IN),
        (0, 0, 1, 2, (0, 9, 0)),
        (0, 3, 2, 0, (0, 10, 0)),
        (1, 3, 2, 0, (1, 9, 0)),
    ],
    [(4, 0, 0), (5, 0, 0)],
    inp_shift=[0, 0, 0],
)
RIGHT = """\
module adder #(parameter SHIFT = 0) (input [8:0] p, input [5:0] q, output [9:0] r);
  wire [9:0] moved = q << SHIFT;
  assign r = p + moved;
endmodule
module model (input clk, input [17:0] x, output [19:0] y);
  wire [5:0] a = x[5:0], b = x[11:6], c = x[17:12];
  wire [9:0] inner, plus;
  adder #(2) first (.p({3'b0, a}), .q(b), .r(inner));
  adder #(0) second (.p(inner[8:0]), .q(c), .r(plus));
  wire [9:0] minus;
  assign minus = inner - c;
  assign y = {minus, plus};
endmodule
"""


def named_ports(clocking: Clocking | None = None) -> Dut:
    """Return the ports x and y."""
    dut = packed(PROGRAM)
    ports = dut.interface
    names = {"model_inp": "x", "model_out": "y"}
    inputs, outputs = (
        tuple(wire._replace(name=names[wire.name]) for wire in wires) for wires in (ports.inputs, ports.outputs)
    )
    return replace(dut, interface=replace(ports, inputs=inputs, outputs=outputs, clocking=clocking))


def lines_of(
    text: str, folder: Path, old: str = "", new: str = "", seed: int = 0, latency: int = 1
) -> tuple[list[int], Frontier]:
    """Return the lines that are found for RTL with an edit, the likeliest of each finding."""
    assert text.count(old) == 1 or not old
    (folder / "m.v").write_text(text.replace(old, new) if old else text)
    dut = named_ports(Clocking("clk", latency=latency) if "posedge" in text else None)
    found = find_frontier(PROGRAM, slang.elaborate([folder / "m.v"], "model"), dut, seed=seed)
    return [int(one.lines[0].rpartition(":")[2]) for one in found.signals], found


def line(part: str, text: str = RIGHT) -> int:
    return text[: text.index(part)].count("\n") + 1


def test_right_rtl_has_no_wrong_line(tmp_path: Path) -> None:
    assert lines_of(RIGHT, tmp_path)[1] == Frontier(vectors=256)


def test_one_edit_is_found_at_its_line(tmp_path: Path) -> None:
    wrong = []
    for old, new in (
        ("inner - c", "inner + c"),
        ("inner - c", "inner - b"),
        ("#(2) first", "#(1) first"),
        ("#(0) second", "#(1) second"),
        (".p(inner[8:0])", ".p({inner[7:0], inner[8]})"),
        (".q(b)", ".q(c)"),
    ):
        found, _ = lines_of(RIGHT, tmp_path, old, new)
        if not found or found[0] != line(old):
            wrong.append((old, new, found))
    assert not wrong


def test_a_fault_in_a_module_names_its_line_and_that_of_an_instance(tmp_path: Path) -> None:
    (one, *_) = lines_of(RIGHT, tmp_path, "p + moved", "p - moved")[1].signals
    assert {int(place.rpartition(":")[2]) for place in one.lines} == {line("p + moved"), line("#(2) first")}


def test_the_op_that_nothing_carries_and_a_vector_are_named(tmp_path: Path) -> None:
    (one,) = lines_of(RIGHT, tmp_path, "inner - c", "inner + c")[1].signals
    assert one.missing == (5,) and one.name == "minus" and one.width == 10
    assert one.expected != one.found and one.expected is not None
    assert {op for read in one.reads for op in read.ops} == {2, 3}


def test_two_faults_are_two_lines(tmp_path: Path) -> None:
    found, _ = lines_of(RIGHT.replace("inner - c", "inner - b"), tmp_path, "#(0) second", "#(1) second")
    assert set(found) == {line("assign minus"), line("adder #(0)")}


def test_exchanged_outputs_are_no_wrong_values(tmp_path: Path) -> None:
    text = RIGHT.replace("[9:0] inner, plus", "[9:0] inner; wire [9:0] plus")
    _, found = lines_of(text, tmp_path, "{minus, plus}", "{plus, minus}")
    assert not found.signals
    assert not found.moved and found.ports == ("outputs 0 and 1 are exchanged",)


def test_a_pipeline_is_searched_through_its_registers(tmp_path: Path) -> None:
    text = RIGHT.replace(
        "  assign minus = inner - c;", "  reg [9:0] kept;\n  always @(posedge clk)\n    kept <= inner - c;"
    )
    text = text.replace("  assign y = {minus, plus};", "  reg [9:0] held;\n  always @(posedge clk) held <= plus;")
    text = text.replace("  wire [9:0] minus;\n", "").replace("endmodule\nmodule", "endmodule\n\nmodule")
    text = text[: text.rindex("endmodule")] + "  assign y = {kept, held};\nendmodule\n"
    assert lines_of(text, tmp_path)[1] == Frontier(vectors=256)
    assert lines_of(text, tmp_path, "inner - c", "inner - (c >> 1)")[0] == [line("kept <= inner", text)]


def test_keys_of_values_ignore_type_and_shift_only() -> None:
    words = np.array([4, -8, 12], dtype=np.int64)
    alike = [words, words.astype(object), words >> 2, words << 3, words.astype(object) << 80]
    assert len({key_of(values) for values in alike}) == 1
    others = [-words, words + 1, words[::-1], np.array([4, -8, 1 << 90], dtype=object)]
    assert len({key_of(values) for values in (words, *others)}) == 5


def test_a_finding_is_tried(tmp_path: Path) -> None:
    """With the op's values at the signals that are named, all outputs are right."""
    (one,) = lines_of(RIGHT, tmp_path, "inner - c", "inner + c")[1].signals
    assert one.explains
    text = RIGHT.replace("{minus, plus}", "{minus & {10{a[0]}}, plus}")
    signals = lines_of(text, tmp_path, "inner - c", "inner + c")[1].signals
    assert all(one.explains for one in signals)
    assert {int(one.where.rpartition(":")[2]) for one in signals} >= {line("assign y")}


def test_a_fault_that_few_vectors_show_is_found(tmp_path: Path) -> None:
    wrong = 0
    for seed in range(4):
        found, of = lines_of(RIGHT, tmp_path, "inner - c", "(c == 6'd37) ? 10'd1 : inner - c", seed=seed)
        wrong += found != [line("assign minus")] or not of.signals[0].explains
    assert not wrong


def test_faults_at_ports_are_recognised(tmp_path: Path) -> None:
    """Inputs that several ops read, and outputs, in another order or inverted; no line is named."""
    said = {}
    for old, new in (
        ("a = x[5:0], b = x[11:6]", "b = x[5:0], a = x[11:6]"),
        ("c = x[17:12]", "c = ~x[17:12]"),
        ("c = x[17:12]", "c = x[17:12] & 6'd7"),
    ):
        said[new] = lines_of(RIGHT, tmp_path, old, new)[1]
    exchanged, inverted, masked = said.values()
    assert not inverted.signals and "input 2 is inverted" in inverted.ports[0]
    assert not masked.ports and masked.signals
    assert not exchanged.ports or "exchanged" in exchanged.ports[0]


PIPELINE = """\
module model (input clk, input [17:0] x, output [19:0] y);
  wire [5:0] a = x[5:0], b = x[11:6], c = x[17:12];
  reg [8:0] sum;
  reg [5:0] c1;
  reg [9:0] plus, minus;
  always @(posedge clk) begin
    sum <= a + (b << 2);
    c1 <= c;
    plus <= sum + c1;
    minus <= sum - c1;
  end
  assign y = {minus, plus};
endmodule
"""


def test_the_register_and_its_edge_are_named(tmp_path: Path) -> None:
    (found,) = lines_of(PIPELINE, tmp_path, "sum - c1", "sum + c1", latency=2)[1].signals
    assert (found.name, found.register, found.edges) == ("minus", True, 2)
    (found,) = lines_of(PIPELINE, tmp_path, "a + (b << 2)", "a - (b << 2)", latency=2)[1].signals
    assert (found.name, found.register, found.edges) == ("sum", True, 1)


def test_registers_out_of_step_are_named(tmp_path: Path) -> None:
    assert lines_of(PIPELINE, tmp_path, latency=2)[1] == Frontier(vectors=256)
    _, late = lines_of(PIPELINE, tmp_path, latency=3)
    assert late.timing is not None and not late.signals
    named = {}
    for old, new in (("sum - c1", "sum - c"), ("c1 <= c", "c1 <= c_0; c_0 <= c")):
        text = PIPELINE.replace("reg [5:0] c1;", "reg [5:0] c1, c_0;").replace(old, new)
        _, found = lines_of(text, tmp_path, latency=2)
        assert found.timing is not None and not found.signals
        named[old] = [(one.name, one.edges) for one in found.untimely]
    assert named == {"sum - c1": [("minus", 0)], "c1 <= c": [("c1", -1), ("c_0", -1), ("minus", 0)]}


VHDL = """\
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
entity adder is
  generic (shift : natural);
  port (p : in unsigned(8 downto 0); q : in unsigned(5 downto 0); r : out unsigned(9 downto 0));
end entity;
architecture rtl of adder is
begin
  r <= resize(p, 10) + shift_left(resize(q, 10), shift);
end architecture;
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
entity model is
  port (x : in std_logic_vector(17 downto 0); y : out std_logic_vector(19 downto 0));
end entity;
architecture rtl of model is
  signal a, b, c : unsigned(5 downto 0);
  signal inner, plus, minus : unsigned(9 downto 0);
begin
  a <= unsigned(x(5 downto 0));
  b <= unsigned(x(11 downto 6));
  c <= unsigned(x(17 downto 12));
  first : entity work.adder generic map (2) port map (resize(a, 9), b, inner);
  second : entity work.adder generic map (0) port map (inner(8 downto 0), c, plus);
  minus <= inner - resize(c, 10);
  y <= std_logic_vector(minus & plus);
end architecture;
"""


def test_a_fault_in_vhdl_is_found_at_its_line(tmp_path: Path) -> None:
    need_ghdl()
    wrong = []
    for old, new in (("", ""), ("inner - resize", "inner + resize"), ("generic map (2)", "generic map (1)")):
        source = tmp_path / "m.vhd"
        source.write_text(VHDL.replace(old, new) if old else VHDL)
        design = RtlDesign((source,), "model")
        reader = RtlReader.of("slang", design, tmp_path / "yosys", foreign=True)
        with reader.readable("slang", reader.in_verilog(design)) as read:
            found = find_frontier(PROGRAM, read(), named_ports())
        lines = [one.lines[0].rpartition("/")[2] for one in found.signals]
        if lines != ([f"m.vhd:{line(old, VHDL)}"] if old else []):
            wrong.append((new, lines))
    assert not wrong


@pytest.mark.parametrize("vhdl", [False, True])
def test_a_wrong_entry_of_a_table_is_named(tmp_path: Path, vhdl: bool) -> None:
    values = [7, 1, 3, 15, 2, 9, 12, 5]
    program = Program.build(
        [(-1, 0, -1, 0, (0, 3, 0)), (8, 0, -1, 0, (0, 4, 0))], [(1, 0, 0)], inp_shift=[0], tables=[values]
    )
    if vhdl:
        need_ghdl()
        entries = "".join(f'      when "{n:03b}" => y <= "{value ^ (n == 5):04b}";\n' for n, value in enumerate(values))
        text = (
            "library ieee;\nuse ieee.std_logic_1164.all;\nentity model is\n"
            "  port (model_inp : in std_logic_vector(2 downto 0); model_out : out std_logic_vector(3 downto 0));\n"
            "end entity;\narchitecture rtl of model is\n  signal y : std_logic_vector(3 downto 0);\nbegin\n"
            f'  process (model_inp) begin\n    case model_inp is\n{entries}      when others => y <= "0000";\n'
            "    end case;\n  end process;\n  model_out <= y;\nend architecture;\n"
        )
    else:
        entries = "".join(f"      3'd{n}: y = 4'h{value ^ (n == 5):x};\n" for n, value in enumerate(values))
        text = (
            "module model (input [2:0] model_inp, output [3:0] model_out);\n  reg [3:0] y;\n  always @*\n"
            f"    case (model_inp)\n{entries}    endcase\n  assign model_out = y;\nendmodule\n"
        )
    source = tmp_path / ("m.vhd" if vhdl else "m.v")
    source.write_text(text)
    design = RtlDesign((source,), "model")
    reader = RtlReader.of("slang", design, tmp_path / "yosys", foreign=True)
    with reader.readable("slang", reader.in_verilog(design)) as read:
        found, *others = find_frontier(program, read(), packed(program)).signals
    assert not others
    wrong = next(n for n, one in enumerate(text.split("\n"), 1) if '"101"' in one or "3'd5" in one)
    assert found.lines[0].endswith(f":{wrong}") and found.explains


def test_what_passes_the_wrong_value_on_is_named(tmp_path: Path) -> None:
    """All readers of the signal are wrong then, but they compute what they should."""
    text = RIGHT.replace(".q(b)", ".q(b2)").replace(
        "  wire [9:0] inner", "  wire [5:0] b2;\n  assign b2 = b;\n  wire [9:0] inner"
    )
    assert lines_of(text, tmp_path)[1] == Frontier(vectors=256)
    found, of = lines_of(text, tmp_path, "b2 = b", "b2 = c")
    assert found == [line("b2 = b", text)] and of.signals[0].explains


#: The larger one of a and b, and of that and c; a difference that only its sign is used of.
LARGEST = Program.build(
    [
        (-1, 0, -1, 0, (1, 4, 0)),
        (-1, 1, -1, 0, (1, 4, 0)),
        (-1, 2, -1, 0, (1, 4, 0)),
        (1, 0, 1, 0, (1, 5, 0)),
        (6, 1, 0, 3, (1, 4, 0)),
        (1, 4, 2, 0, (1, 5, 0)),
        (6, 2, 4, 5, (1, 4, 0)),
    ],
    [(6, 0, 0)],
    inp_shift=[0, 0, 0],
)
COMPARED = """\
module model (input [14:0] model_inp, output [4:0] model_out);
  wire signed [4:0] a = model_inp[4:0], b = model_inp[9:5], c = model_inp[14:10];
  reg signed [4:0] first, best;
  always @* begin
    if (a < b) first = b;
    else first = a;
  end
  always @* begin
    if (first < c) best = c;
    else best = first;
  end
  assign model_out = best;
endmodule
"""


def test_rtl_that_compares_needs_no_difference(tmp_path: Path) -> None:
    """The program subtracts, and looks at the sign: no signal has the difference, right or wrong."""
    wrong = []
    for old, new in (("", ""), ("a < b", "b < a"), ("first < c", "c < first"), ("best = first", "best = a")):
        (tmp_path / "m.v").write_text(COMPARED.replace(old, new) if old else COMPARED)
        found = find_frontier(LARGEST, slang.elaborate([tmp_path / "m.v"], "model"), packed(LARGEST))
        lines = {int(one.rpartition(":")[2]) for signal in found.signals for one in signal.lines}
        if (line(old, COMPARED) not in lines or len(found.signals) != 1) if old else found.signals:
            wrong.append((new, lines))
    assert not wrong


def test_a_signal_that_is_too_narrow_is_named_with_its_op(tmp_path: Path) -> None:
    """One expression computes two ops; it is right, but has no room, so no edit of the line helps: a guess."""
    unsigned, signed = (0, 6, 0), (1, 9, 0)
    program = Program.build(
        [
            (-1, 0, -1, 0, unsigned),
            (-1, 1, -1, 0, unsigned),
            (-1, 2, -1, 0, unsigned),
            (0, 0, 1, 2, (0, 9, 0)),
            (1, 3, 2, 0, signed),
            (0, 4, 0, 0, (1, 10, 0)),
        ],
        [(5, 0, 0)],
        inp_shift=[0, 0, 0],
    )
    (tmp_path / "m.v").write_text(
        "module model (input [17:0] model_inp, output [10:0] model_out);\n"
        "  wire [5:0] a = model_inp[5:0], b = model_inp[11:6], c = model_inp[17:12];\n"
        "  wire signed [8:0] sum;\n"
        "  assign sum = a + (b << 2) - c;\n"
        "  assign model_out = sum + $signed({1'b0, a});\n"
        "endmodule\n"
    )
    (found,) = find_frontier(program, slang.elaborate([tmp_path / "m.v"], "model"), packed(program)).signals
    assert (found.name, found.missing, found.explains) == ("sum", (4,), False)
