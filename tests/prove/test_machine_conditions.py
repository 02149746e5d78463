"""Sequences for both sides of the conditions in RTL of machines: simulators contradict a reader that misreads one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.places import FSM

from dais_verif.base.verdict import Verdict
from dais_verif.hardware.emitter.machines import emit_machine
from dais_verif.prover import slang
from dais_verif.prover.clocked.machines.condition_sequences import sequence_of_sides
from dais_verif.prover.slang.execution import Execution
from dais_verif.prover.terms import as_written, nodes
from dais_verif.record.proof import ProofRecord
from dais_verif.spec.machine import load_machine
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.machines import prove as machine_flow
from dais_verif.verbs.prove import ProveRequest, prove

PROGRAM = FSM / "f02_mac" / "fsm.json.gz"
#: A sum that two cycles can reach, together with one value of an input.
RARE = "else begin acc <= INTERNAL_mac_outp; if (acc == 24'd5000 && a == 8'h5A) acc <= {}; end"


def _rtl(folder: Path, value: str) -> Path:
    text = emit_machine(load_machine(PROGRAM))
    old = "else acc <= INTERNAL_mac_outp;"
    assert old in text
    (folder / "design.v").write_text(text.replace(old, RARE.format(value)))
    return folder / "design.v"


def _proved(folder: Path, value: str) -> ProofRecord:
    design = DesignRequest(rtl=(_rtl(folder, value),), top="model")
    return prove(ProveRequest(program=PROGRAM, design=design, cache=False, simulator="icarus")).record


def test_a_sum_and_an_input_are_reached_together(tmp_path: Path) -> None:
    with as_written():
        netlist = slang.elaborate([_rtl(tmp_path, "0")], "model")
        found = sequence_of_sides(load_machine(PROGRAM), netlist, "clk", 10.0)
    assert found.reached == found.sides >= 4
    inputs = [element.signal for element in found.step.inputs]
    assert any(row[inputs.index("a")] == 0x5A for row in found.inputs)


def _without_the_rare(choose: Callable[..., None]) -> Callable[..., None]:
    def misread(self: Any, condition: Any, first: Callable[[], None], second: Callable[[], None]) -> None:
        if any(t.op == "const" and t.value == 5000 for t in nodes(condition)):
            self.design.conditions[condition] = None
            second()
        else:
            choose(self, condition, first, second)

    return misread


@pytest.mark.parametrize("directed", [True, False])
def test_a_misread_branch_is_no_pass(directed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader never takes the rare branch here; without this sequence, nothing contradicts it."""
    monkeypatch.setattr(Execution, "_choose", _without_the_rare(Execution._choose))
    if not directed:
        monkeypatch.setattr(machine_flow, "_sides", lambda *_: None)
    record = _proved(tmp_path, "0")
    assert record.verdict is (Verdict.UNKNOWN if directed else Verdict.PASS), record.message


def test_the_number_is_in_the_record(tmp_path: Path) -> None:
    record = _proved(tmp_path, "INTERNAL_mac_outp")
    assert record.verdict is Verdict.PASS and record.confirmation is not None
    assert record.confirmation.message.endswith(" sides of conditions reached")
