"""Two designs with registers and memories that differ in any cycle after power-up are not proved to be equal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.said import as_recorded, raises

from dais_verif.base.errors import InputError
from dais_verif.prover.clocked.machines.registers import open_registers
from dais_verif.prover.clocked.sequential import equivalence
from dais_verif.prover.clocked.sequential.answer import Equivalence
from dais_verif.prover.clocked.sequential.equivalence import prove_equal
from dais_verif.prover.clocked.sequential.rtl_side import rtl_gates
from dais_verif.prover.clocked.sequential.sides import Bank, BankOutput, Gates, Memory, Port, Reading, RegisterBit
from dais_verif.prover.gates.aig import Aig
from dais_verif.prover.slang import elaborate

COUNTER = """
module model(input aclk, input rst, input up, output [3:0] y);
  reg [3:0] n;
  always @(posedge aclk) if (rst) n <= 4'd3; else if (up) n <= n + 4'd1;
  assign y = n;
endmodule
"""
#: The same counter with inverted registers: they count down while those of COUNTER count up.
INVERTED = """
module model(input aclk, input rst, input up, output [3:0] y);
  reg [3:0] m = 4'd15;
  always @(posedge aclk) if (rst) m <= ~4'd3; else if (up) m <= m - 4'd1;
  assign y = ~m;
endmodule
"""


def gates(text: str, folder: Path, graph: Aig, inputs: dict[Port, int]) -> Gates:
    folder.mkdir(exist_ok=True)
    (folder / "model.v").write_text(text)
    return rtl_gates(open_registers(elaborate([folder / "model.v"], "model"), "aclk"), graph, inputs, "aclk")


def compared(folder: Path, first: str, second: str) -> Equivalence:
    graph, inputs = Aig(), dict[Port, int]()
    rtl = gates(first, folder / "first", graph, inputs)
    return prove_equal(graph, rtl, gates(second, folder / "second", graph, inputs), seconds=20)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("~4'd3", "~4'd2"),
        ("m - 4'd1", "m - 4'd2"),
        ("else if (up)", "else"),
        ("if (rst)", "if (rst && up)"),
        ("= 4'd15", "= 4'd14"),
        ("y = ~m", "y = ~m ^ (m == 4'd9)"),
        ("output [3:0] y", "output [3:0] y, output z"),
    ],
    ids=["reset", "step", "enable", "condition", "power-up", "one state", "an output more"],
)
def test_what_differs_is_not_proved(old: str, new: str, tmp_path: Path) -> None:
    assert compared(tmp_path, COUNTER, INVERTED).proved
    assert old in INVERTED
    found = compared(tmp_path, COUNTER, INVERTED.replace(old, new))
    assert not found.proved and found.why


def test_what_the_rtl_leaves_open_at_power_up_may_be_a_constant(tmp_path: Path) -> None:
    """A register that is only ever set may be a constant in the logic, unless the RTL initialises it otherwise."""
    text = "module model(input aclk, input up, output y); reg n{}; always @(posedge aclk) if (up) n <= 1;"
    text += " assign y = n; endmodule"
    one = "module model(input aclk, input up, output y); assign y = 1; endmodule"
    assert compared(tmp_path, text.format(""), one).proved
    assert not compared(tmp_path, text.format(" = 0"), one).proved


#: Sign bits of values that are always negative, and a constant; none of them has an initial value in the RTL.
SIGNS = """
module model(input aclk, en, take, input [2:0] a, b, output reg [3:0] y = 0, z = 0, output reg [1:0] o = 0);
  reg signed [3:0] p, q; reg k;
  always @(posedge aclk) begin
    if (en) begin p <= $signed({1'b0, a}) - 4'sd8; q <= $signed({1'b0, b}) - 4'sd8; k <= 1; end
    if (take) begin y <= p; z <= -q; o <= {o[0], k} ^ a[1:0]; end
  end
endmodule
"""
#: The same after synthesis: both signs are one register, which is initially 0, and the constant has no register.
MERGED = """
module model(input aclk, en, take, input [2:0] a, b, output reg [3:0] y = 0, z = 0, output reg [1:0] o = 0);
  reg [2:0] p = 0, q = 0; reg s = 0;
  always @(posedge aclk) begin
    if (en) begin p <= a; q <= b; s <= 1; end
    if (take) begin y <= {s, p}; z <= -{s, q}; o <= {o[0], 1'b1} ^ a[1:0]; end
  end
endmodule
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [("", ""), ("o[0], 1'b1", "o[0], s"), ("{s,", "{1'b1,"), ("s = 0", "s = 1")],
    ids=["some are constants", "none", "all", "it begins with 1"],
)
def test_what_is_only_ever_set_begins_as_the_logic_has_it(old: str, new: str, tmp_path: Path) -> None:
    found = compared(tmp_path, SIGNS, MERGED.replace(old, new) if old else MERGED)
    assert found.proved, found.why


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("s <= 1;", "s <= s;"),
        ("s <= 1; end", "end if (take) s <= 1;"),
        ("s <= 1", "s <= ~s"),
        ("{s, q}", "{1'b1, q}"),  # the RTL gives the initial value of q
        ("y <= {s,", "y <= {~s,"),
    ],
)
def test_no_choice_of_what_begins_with_1_proves_wrong_logic(
    old: str, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No assumed initial value makes wrong logic provable, nor logic that contradicts an initial value in the RTL."""
    assert old in MERGED
    text = SIGNS.replace("p, q;", "p = 0, q = 0;") if "1'b1, q" in new else SIGNS
    for kept in (set[str](), {"p[3]"}, {"q[3]"}, {"p[3]", "q[3]"}):
        monkeypatch.setattr(equivalence, "kept_by_logic", lambda *said, kept=kept: kept)
        assert not compared(tmp_path, text, MERGED.replace(old, new)).proved, kept


def test_a_wrong_choice_of_what_begins_with_1_proves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for chosen in range(8):
        kept = {name for n, name in enumerate(("p[3]", "q[3]", "k[0]")) if chosen >> n & 1}
        monkeypatch.setattr(equivalence, "kept_by_logic", lambda *said, kept=kept: kept)
        assert compared(tmp_path, SIGNS, MERGED).proved == (kept == {"p[3]", "q[3]"}), kept


def test_no_end_is_no_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equivalence, "_ROUNDS", 1)
    monkeypatch.setattr(equivalence, "_MOST_EDGES", 1)  # so few that classes remain to be split
    found = compared(tmp_path, COUNTER, INVERTED)
    assert not found.proved and "no" in found.why
    as_recorded(found.why)


class TestMemories:
    """An array of 128 words of four bits, compared with a hand-made block RAM."""

    RTL = """
    module model(input aclk, input we, input re, input [6:0] wa, ra, input [3:0] x, output [3:0] y);
      reg [3:0] m [0:127];
      reg [3:0] q;
      always @(posedge aclk) begin if (we) m[wa] <= x; if (re && !we) q <= m[ra]; end
      assign y = q;
    endmodule
    """

    @staticmethod
    def bank(graph: Aig, inputs: dict[Port, int]) -> Gates:
        """Return the same memory in the first four columns of a block RAM with 256 rows."""

        def word(name: str, width: int) -> list[int]:
            return [inputs[name, bit] for bit in range(width)]

        read = [graph.input() for _ in range(4)]
        shown = [graph.input() for _ in range(4)]
        reading = graph.both(inputs["re", 0], inputs["we", 0] ^ 1)
        registers = tuple(
            RegisterBit(f"ram[{n}]", shown[n], graph.choice(reading, read[n], shown[n]), None) for n in range(4)
        )
        outputs = tuple(BankOutput(f"ram[{n}]", (n,)) for n in range(4))
        bank = Bank(
            name="ram",
            row=[*word("wa", 7), 0],
            writes=[inputs["we", 0]] * 4,
            data=word("x", 4),
            read_row=[*word("ra", 7), 0],
            read=read,
            contents=0,
            outputs=outputs,
        )
        return Gates(inputs, {("y", n): shown[n] for n in range(4)}, registers, banks=(bank,))

    @staticmethod
    def read_always(graph: Aig, other: Gates) -> list[tuple[int, int, int]]:
        """Return for each register: its read condition if writes are ignored, the word that it reads, its value."""
        (bank,) = other.banks
        return [(other.inputs["re", 0], bank.read[n], one.now) for n, one in enumerate(other.registers)]

    def both(self, folder: Path, text: str) -> tuple[Aig, Gates, Gates]:
        graph, inputs = Aig(), dict[Port, int]()
        rtl = gates(text, folder, graph, inputs)
        return graph, rtl, self.bank(graph, inputs)

    def test_a_block_ram_is_the_array(self, tmp_path: Path) -> None:
        graph, rtl, other = self.both(tmp_path, self.RTL)
        assert [memory.width for memory in rtl.memories] == [4]
        (bank,) = other.banks
        bank = replace(bank, row=bank.row[:7], read_row=bank.read_row[:7])
        found = prove_equal(graph, rtl, replace(other, banks=(bank,)), seconds=20)
        assert found.proved and found.columns == 4, found.why

    @pytest.mark.parametrize("what", ["row", "data", "writes", "read row", "written twice", "read while written"])
    def test_a_block_ram_that_is_another_is_not(self, what: str, tmp_path: Path) -> None:
        text = self.RTL
        if what == "read while written":  # the output of the block RAM is not known then
            text = text.replace("re && !we", "re")
        graph, rtl, other = self.both(tmp_path, text)
        (bank,) = other.banks
        bank = replace(bank, row=bank.row[:7], read_row=bank.read_row[:7])
        swapped = [bank.row[1], bank.row[0], *bank.row[2:]]
        changed = {
            "row": replace(bank, row=swapped),
            "data": replace(bank, data=[*bank.data[:3], bank.data[0]]),
            "writes": replace(bank, writes=[graph.both(one, bank.row[3]) for one in bank.writes]),
            "read row": replace(bank, read_row=[bank.read_row[0] ^ 1, *bank.read_row[1:]]),
            "read while written": bank,
            "written twice": replace(bank, writes=[graph.either(one, bank.row[2]) for one in bank.writes]),
        }[what]
        if what == "read while written":
            shown = [graph.choice(inputs, one, now) for inputs, one, now in self.read_always(graph, other)]
            registers = [one._replace(after=new) for one, new in zip(other.registers, shown, strict=True)]
            other = replace(other, registers=tuple(registers))
        found = prove_equal(graph, rtl, replace(other, banks=(changed,)), seconds=20)
        assert not found.proved and found.why

    @pytest.mark.parametrize(
        ("old", "new"),
        [("[0:127]", "[127:0]"), ("m[wa] <= x", "begin m[wa] <= x; m[0] <= 0; end"), ("<= m[ra]", "<= m[ra] ^ m[0]")],
        ids=["upwards", "two writes", "another use"],
    )
    def test_what_is_not_understood_is_refused(self, old: str, new: str, tmp_path: Path) -> None:
        assert old in self.RTL
        with raises(InputError, match=r"memory.*proof"):
            gates(self.RTL.replace(old, new), tmp_path, Aig(), {})

    def test_what_a_block_ram_shows_at_power_up_is_not_known(self, tmp_path: Path) -> None:
        text = self.RTL.replace("reg [3:0] q;", "reg [3:0] q = 0;")
        graph, rtl, other = self.both(tmp_path, text)
        (bank,) = other.banks
        bank = replace(bank, row=bank.row[:7], read_row=bank.read_row[:7])
        assert not prove_equal(graph, rtl, replace(other, banks=(bank,)), seconds=20).proved
        assert isinstance(rtl.memories[0], Memory) and isinstance(rtl.memories[0].readings[0], Reading)


def hinted(folder: Path, second: str, order: str) -> Equivalence:
    """Compare COUNTER with ``second``, with hints: bit n of ``second``'s register is bit ``order[n]`` of COUNTER's."""
    graph, inputs = Aig(), dict[Port, int]()
    rtl = gates(COUNTER, folder / "first", graph, inputs)
    hints = {f"m[{bit}]": f"n[{one}]" for bit, one in enumerate(order)}
    return prove_equal(graph, rtl, gates(second, folder / "second", graph, inputs), seconds=20, hints=hints)


def test_hints_propose_registers_and_decide_nothing(tmp_path: Path) -> None:
    """Correct hints are used; with wrong or unknown names, the proof without hints gives the same answer."""
    assert hinted(tmp_path, INVERTED, "0123").hinted
    for order in ("1023", "3210", "0000", "9999"):
        found = hinted(tmp_path, INVERTED, order)
        assert found.proved, order
        assert found.hinted == (order == "9999")  # since unknown names state nothing wrong
    for order in ("0123", "1032", "0000"):
        assert not hinted(tmp_path, INVERTED.replace("m - 4'd1", "m - 4'd2"), order).proved
