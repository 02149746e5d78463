"""Netlists of machines are simulated, proved bit by bit, and refuted where a cell is wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from support.places import FSM

from dais_verif.base.verdict import Verdict
from dais_verif.hardware.synthesis.netlist import find_netlist
from dais_verif.record.proof import ProofRecord
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.prove import ProveRequest, prove
from dais_verif.verbs.simulate import simulate
from dais_verif.verbs.simulation_request import SimulationRequest
from dais_verif.verbs.synthesize import SynthesisRequest, synthesize

FAST = [("f01_counter", "ice40"), ("f02_mac", "generic"), ("f04_fifo", "generic")]
SLOW = [
    ("f01_counter", "generic"),
    ("f01_counter", "xilinx"),
    ("f02_mac", "ice40"),
    ("f03_fir7", "generic"),
    ("f03_fir7", "ice40"),
    ("f05_dense_folded", "ice40"),
    ("f04_fifo", "ice40"),
    ("f06_alt_src", "generic"),
    ("f06_alt_src", "ice40"),
]
CASES = [*FAST, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW)]


def proved(name: str, folder: Path, confirm: bool = False) -> ProofRecord:
    design = DesignRequest(netlist=find_netlist(folder, None))
    asked = ProveRequest(
        program=FSM / name / "fsm.json.gz", design=design, cache=False, confirm=confirm, simulator="icarus"
    )
    return prove(asked).record


@pytest.mark.parametrize(("name", "target"), CASES)
def test_netlists_of_real_machines_are_proved(name: str, target: str, tmp_path: Path) -> None:
    made = synthesize(SynthesisRequest(program=FSM / name / "fsm.json.gz", target=target, output=tmp_path))
    assert made.verify is not None and made.rtl.emitted
    record = proved(name, tmp_path)
    assert record.verdict is Verdict.PASS, record.message
    assert record.machine is not None
    assert len(record.machine.registers) == made.counts["FF"]


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Return a netlist with other names of register bits; ``names`` maps old to new names, as Verilog writes them."""
    return re.sub(r"\\\S+\[\d+\] ", lambda match: names.get(match[0], match[0]), text)


@pytest.mark.few(1)
@pytest.mark.parametrize("names", [pytest.param("hidden", marks=pytest.mark.slow), "of other bits"])
def test_names_of_registers_propose_and_decide_nothing(names: str, tmp_path: Path) -> None:
    """The same netlist is proved with register names that are hidden, and with those of other registers."""
    made = synthesize(SynthesisRequest(program=FSM / "f04_fifo" / "fsm.json.gz", target="generic", output=tmp_path))
    netlist = tmp_path / "netlist.v"
    text = netlist.read_text()
    bits = sorted(set(re.findall(r"^  reg (\\\S+\[\d+\] )", text, re.M)))
    assert len(bits) > made.counts["FF"] // 2
    others = bits[1:] + bits[:1] if names == "of other bits" else [f"hidden_{n} " for n in range(len(bits))]
    netlist.write_text(renamed(text, dict(zip(bits, others, strict=True))))
    record = proved("f04_fifo", tmp_path)
    assert record.verdict is Verdict.PASS, record.message
    assert record.machine is not None and len(record.machine.registers) == made.counts["FF"]


#: A machine in which two bits never change, and two registers are always equal.
SMALL = """machine
input  x: u4.0
input  rst, go: u1.0
output y: u4.0
output both: u5.0
register kept: u4.0 = 0 reset rst
register later: u4.0 = 0 reset rst
register one: u4.0 = 0
register other: u4.0 = 0
register total: u5.0 = 0
block small {
    input x, kept, one, other
    a = u4.0 input x
    b = u4.0 input kept
    c = u3.0 quant(a)
    d = u4.0 quant(c)
    e = u4.0 quant(b)
    f = u4.0 input one
    g = u4.0 input other
    h = u5.0 f + g
    output next = d
    output after = e
    output sum = h
    output mine = a
}
small.x <- x
small.kept <- kept
small.one <- one
small.other <- other
kept <- small.next
later <- small.after
one <- small.mine when go
other <- small.mine when go
y <- later
total <- small.sum
both <- total
"""


def test_bits_that_never_change_or_are_those_of_others_need_no_flip_flop(tmp_path: Path) -> None:
    machine, net = tmp_path / "small.mach", tmp_path / "net"
    machine.write_text(SMALL)
    made = synthesize(SynthesisRequest(program=machine, target="generic", output=net))
    assert made.counts["FF"] == 14
    asked = ProveRequest(program=machine, design=DesignRequest(netlist=find_netlist(net, None)), cache=False)
    record = prove(asked).record
    assert record.verdict is Verdict.PASS, record.message
    assert record.machine is not None
    told = set(record.machine.invariants)
    assert {"kept[0], bit 3, is always 0", "later[0], bit 3, is always 0"} <= told
    assert len([text for text in told if "is always that of" in text]) == 4
    machine.write_text(SMALL.replace("register other: u4.0 = 0", "register other: u4.0 = 1"))
    assert prove(asked).record.verdict is Verdict.RTL_MISMATCH
    machine.write_text(SMALL.replace("other <- small.mine when go", "other <- small.mine"))
    assert prove(asked).record.verdict is Verdict.RTL_MISMATCH


def without(text: str, bit: str) -> str:
    """Return a netlist in which the flip-flop ``bit`` is replaced by a wire that is tied to 0."""
    tied = text.replace(f"\n  reg {bit} = 1'h0;", f"\n  wire {bit} = 1'h0;")
    return re.sub(rf"^  always @\(posedge \w+\)\n.*{re.escape(bit)} <= .*;\n", "", tied, flags=re.M)


def test_a_bit_that_changes_is_not_taken_for_one_that_never_does(tmp_path: Path) -> None:
    """A netlist that ties a flip-flop to 0, although its bit changes, is refuted."""
    synthesize(SynthesisRequest(program=FSM / "f04_fifo" / "fsm.json.gz", target="generic", output=tmp_path))
    netlist = tmp_path / "netlist.v"
    text = netlist.read_text()
    bit = sorted(set(re.findall(r"^  reg (\\\S+\[\d+\] )", text, re.M)))[0]
    wrong = without(text, bit)
    assert wrong.count(" <= ") == text.count(" <= ") - 1 and "wire " + bit in wrong
    netlist.write_text(wrong)
    record = proved("f04_fifo", tmp_path)
    assert record.verdict is Verdict.RTL_MISMATCH, record.message


#: Faults of the counter's netlist: a pattern and its replacement.
FAULTS = {
    "a table": (r"LUT_INIT\(16'h....\)", "LUT_INIT(16'h1234)"),
    "a flip-flop that nothing resets": (r"\.R\(_\w+_\)", ".R(1'b0)"),
    "a flip-flop that is always enabled": (r"\.E\(_\w+_\)", ".E(1'b1)"),
}


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "fault", [*list(FAULTS)[:2], *(pytest.param(name, marks=pytest.mark.slow) for name in list(FAULTS)[2:])]
)
def test_faults_of_netlists_are_refuted(fault: str, tmp_path: Path) -> None:
    synthesize(SynthesisRequest(program=FSM / "f01_counter" / "fsm.json.gz", target="ice40", output=tmp_path))
    netlist, (old, new) = tmp_path / "netlist.v", FAULTS[fault]
    text = netlist.read_text()
    wrong = re.sub(old, new, text, count=1)
    assert wrong != text
    netlist.write_text(wrong)
    record = proved("f01_counter", tmp_path)
    assert record.verdict is Verdict.RTL_MISMATCH, record.message


def test_a_netlist_is_simulated_as_it_is_proved(tmp_path: Path) -> None:
    synthesize(SynthesisRequest(program=FSM / "f06_alt_src" / "fsm.json.gz", target="generic", output=tmp_path))
    design = DesignRequest(netlist=find_netlist(tmp_path, None))
    asked = SimulationRequest(
        program=FSM / "f06_alt_src" / "fsm.json.gz", design=design, simulator="icarus", vectors=100
    )
    record = simulate(asked).record
    assert record.verdict is Verdict.PASS, record.message
