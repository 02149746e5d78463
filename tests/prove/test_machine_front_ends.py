"""Machines are proved from Yosys' reading of the RTL, too: initial values, written memories, both front ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.places import FSM

from dais_verif.base.errors import InputError, StateError
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.emitter.machines import emit_machine
from dais_verif.record.proof import ProofRecord
from dais_verif.spec.machine import load_machine
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.prove import ProveRequest, prove

REAL = sorted(path.name for path in FSM.glob("f*"))
FAST = ("f01_counter", "f04_fifo")


def proved(name: str, folder: Path, *edits: tuple[str, str], front_end: str = "yosys") -> ProofRecord:
    """Return the record of a proof of our RTL after ``edits``: pairs of a text and its replacement."""
    text = emit_machine(load_machine(FSM / name / "fsm.json.gz"))
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    (folder / "design.v").write_text(text)
    design = DesignRequest(rtl=(folder / "design.v",), top="model")
    asked = ProveRequest(
        program=FSM / name / "fsm.json.gz",
        design=design,
        front_end=front_end,
        cache=False,
        confirm=False,
        simulator="icarus",
    )
    return prove(asked).record


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in FAST else pytest.mark.slow) for name in REAL])
def test_real_machines_are_proved_by_yosys(name: str, tmp_path: Path) -> None:
    record = proved(name, tmp_path)
    assert record.verdict is Verdict.PASS, record.message


@pytest.mark.slow
def test_both_front_ends_may_be_asked_for(tmp_path: Path) -> None:
    for front_end in ("both", "available"):
        record = proved("f01_counter", tmp_path, front_end=front_end)
        assert record.verdict is Verdict.PASS, record.message


WRITTEN = "mem[wptr] <= din;"


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ("begin mem[wptr][3:0] <= din[3:0]; mem[wptr][8:4] <= din[8:4]; end", Verdict.PASS),
        pytest.param(
            "begin mem[wptr][3:0] <= din[3:0]; mem[wptr][7:4] <= din[7:4]; end",
            Verdict.RTL_MISMATCH,
            marks=pytest.mark.slow,
        ),
        ("begin mem[wptr][3:0] <= din[3:0]; mem[rptr][8:4] <= din[8:4]; end", Verdict.RTL_MISMATCH),
    ],
    ids=["right", "a bit is left out", "another word"],
)
@pytest.mark.parametrize("front_end", ["slang", pytest.param("yosys", marks=pytest.mark.slow)])
def test_words_of_a_memory_may_be_written_in_parts(
    parts: str, verdict: Verdict, front_end: str, tmp_path: Path
) -> None:
    record = proved("f04_fifo", tmp_path, (WRITTEN, parts), front_end=front_end)
    assert record.verdict is verdict, record.message


#: Faults in RTL, each with the expected verdict.
FAULTS = {
    "at power-up": ("f01_counter", ("initial count <= 6'h5", "initial count <= 6'h4"), Verdict.RTL_MISMATCH),
    "not initialised": ("f01_counter", ("initial count <= 6'h5;", ""), Verdict.X_IN_OUTPUT),
    "a word at power-up": ("f04_fifo", ("mem[0] = 9'h0", "mem[0] = 9'h1"), Verdict.RTL_MISMATCH),
    "a word that is not written": (
        "f04_fifo",
        ("if (do_write)", "if (do_write && wptr != 3'd6)"),
        Verdict.RTL_MISMATCH,
    ),
}


#: One fault in a register and one in a memory are in the fast suite.
QUICK = ("at power-up", "a word at power-up")


@pytest.mark.parametrize("fault", [pytest.param(f, marks=[] if f in QUICK else pytest.mark.slow) for f in FAULTS])
def test_faults_are_refuted_by_yosys(fault: str, tmp_path: Path) -> None:
    name, edit, verdict = FAULTS[fault]
    record = proved(name, tmp_path, edit)
    assert record.verdict is verdict, record.message


def test_an_asynchronous_reset_is_refused_by_yosys(tmp_path: Path) -> None:
    with pytest.raises((InputError, StateError), match="'count'"):  # Yosys names the reset, each version its own way
        proved("f01_counter", tmp_path, ("always @(posedge clk)", "always @(posedge clk or posedge rst)"))
