"""RTL of machines is proved for every cycle, and RTL that is wrong in some cycle is refuted by a sequence."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.big_machines import big_machine
from support.places import FSM
from support.said import as_recorded, raises

from dais_verif.base.errors import ProofError, StateError, ViolationError
from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.fuzzing.generate.random_machines import random_machine
from dais_verif.golden.machine_batch import run_machine
from dais_verif.hardware.emitter.machines import emit_machine
from dais_verif.prover.clocked.machines.proof import prove_machine
from dais_verif.prover.results import ProofOptions
from dais_verif.prover.slang import elaborate
from dais_verif.record.proof import ProofRecord
from dais_verif.spec.machine import Machine, load_machine
from dais_verif.spec.machine.faults import Fault, control_faults
from dais_verif.stimulus.generate_sequences import generate_sequence
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.proof.deep_stack import run_deep
from dais_verif.verbs.prove import ProveRequest, prove

REAL = sorted(path.name for path in FSM.glob("f*"))


def proved(of: Any, folder: Path, *edits: tuple[str, str], **options: Any) -> ProofRecord:
    """Return the record of a proof.

    ``of``: the folder of a machine, or a machine as a JSON tree. ``edits``: pairs of a text in our RTL and its
    replacement.
    """
    program = FSM / of / "fsm.json.gz" if isinstance(of, str) else json.dumps(of).encode()
    if edits:
        text = emit_machine(load_machine(program))
        for old, new in edits:
            assert len(re.findall(re.escape(old), text)) >= 1, old
            text = text.replace(old, new)
        (folder / "design.v").write_text(text)
        options["design"] = DesignRequest(rtl=(folder / "design.v",), top="model")
    return prove(ProveRequest(program=program, cache=False, **options)).record


@pytest.mark.few(4)
@pytest.mark.parametrize("name", REAL)
def test_our_rtl_of_real_machines_is_proved(name: str, tmp_path: Path) -> None:
    record = proved(name, tmp_path)
    assert record.verdict is Verdict.PASS, record.message
    machine = load_machine(FSM / name / "fsm.json.gz")
    assert record.machine is not None
    assert len(record.machine.registers) == sum(
        len(signal.types) for signal in machine.registers if signal.name != "wrom"
    ), "a memory that nothing writes is no state"


#: Faults in RTL of real machines: the machine, the replacement, and the output that a sequence must show to be wrong.
FAULTS = {
    "counts by two": ("f01_counter", ("if (en) count <=", "if (en) count <= 1 +"), "y[0]"),
    "wrong reset value": ("f01_counter", ("if (rst) count <= 6'h5", "if (rst) count <= 6'h4"), "y[0]"),
    "wrong value at power-up": ("f01_counter", ("initial count <= 6'h5", "initial count <= 6'h4"), "y[0]"),
    "stale accumulator": ("f02_mac", ("acc <= INTERNAL", "acc <= acc | INTERNAL"), "y[0]"),
    "word that is not written": ("f04_fifo", ("if (do_write)", "if (do_write && wptr != 3'd6)"), "dout[0]"),
    "level out of step": ("f04_fifo", ("if (rst) level <= 4'h0", "if (rst) level <= level"), "full_empty[1]"),
    "enable that is not looked at": ("f06_alt_src", ("if (sel) b <=", "b <="), "y[0]"),
}
#: Faults in next states like those of the stale accumulator and the word that is not written; they run as slow tests.
ALIKE = ("counts by two", "level out of step")


@pytest.mark.few(2)
@pytest.mark.parametrize("fault", [pytest.param(name, marks=[pytest.mark.slow] * (name in ALIKE)) for name in FAULTS])
def test_faults_are_refuted_by_a_sequence_that_a_simulator_confirms(fault: str, tmp_path: Path) -> None:
    name, edit, _ = FAULTS[fault]
    record = proved(name, tmp_path, edit, simulator="icarus")
    assert record.verdict is Verdict.RTL_MISMATCH, record.message
    assert record.machine is not None
    assert record.machine.cycles is not None
    assert record.machine.replay is not None
    assert record.machine.replay.startswith("RTL_MISMATCH")
    assert record.simulate is not None
    assert record.simulate.endswith("--vectors 0")


def test_rtl_that_is_not_initialised_does_not_pass(tmp_path: Path) -> None:
    record = proved("f01_counter", tmp_path, ("initial count <= 6'h5;", ""), simulator="icarus")
    assert record.verdict is Verdict.X_IN_OUTPUT, record.message
    as_recorded(record.message)


def test_an_asynchronous_reset_is_no_reset_at_an_edge(tmp_path: Path) -> None:
    with raises(StateError):
        proved("f01_counter", tmp_path, ("always @(posedge clk)", "always @(posedge clk or posedge rst)"))


def test_another_clock_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProofError, match="clocked by 'clk'"):
        proved("f01_counter", tmp_path, ("always @(posedge clk)", "always @(posedge en)"))


def test_bounds_of_control_are_proved_where_the_rtl_needs_them(tmp_path: Path) -> None:
    """RTL that is wrong only for levels of a FIFO that cannot occur is proved, with the bounds of the level."""
    record = proved(
        "f04_fifo", tmp_path, ("assign lvl = level;", "assign lvl = level > 8 ? 4'd0 : level;"), confirm=False
    )
    assert record.verdict is Verdict.PASS, record.message
    assert "0 <= level[0] <= 8" in record.message


def test_a_name_that_lies_is_only_a_name(tmp_path: Path) -> None:
    """RTL that swaps the initial values of two registers of the same width is refuted, although their names match."""
    swap = [("initial a", "initial q"), ("initial b", "initial a"), ("initial q", "initial b")]
    record = proved("f06_alt_src", tmp_path, *swap, simulator="icarus")
    assert record.verdict is Verdict.RTL_MISMATCH, record.message


def test_what_is_overwritten_before_it_is_read_may_be_anything_at_power_up(tmp_path: Path) -> None:
    record = proved("f05_dense_folded", tmp_path, ("initial xreg <= 96'h0", "initial xreg <= 96'h5"), confirm=False)
    assert record.verdict is Verdict.PASS, record.message
    as_recorded(record.message)


@pytest.mark.few(2)
@pytest.mark.parametrize("name", REAL)
def test_no_control_fault_passes_that_a_run_shows(name: str, tmp_path: Path) -> None:
    """No control fault that a run shows is proved: a sample of them here, all of them in the slow suite."""
    machine = load_machine(FSM / name / "fsm.json.gz")
    planted(machine, control_faults(machine)[:: {"f04_fifo": 64, "f05_dense_folded": 128}.get(name, 12)], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_no_control_fault_passes_that_a_run_shows_all_of_them(name: str, tmp_path: Path) -> None:
    machine = load_machine(FSM / name / "fsm.json.gz")
    planted(machine, control_faults(machine), tmp_path)


def planted(machine: Machine, faults: Sequence[Fault], folder: Path) -> None:
    """Check that each fault is refuted, or that it is proved to make no difference and no run shows one."""
    sequences = [_arrays(machine, 400, seed) for seed in range(2)]
    for fault in faults:
        (folder / "faulty.v").write_text(emit_machine(fault.machine))
        netlist = elaborate([folder / "faulty.v"], "model")
        proof = prove_machine(machine, netlist, "clk", ProofOptions(timeout=10)).proof
        assert proof.verdict in (Verdict.PASS, Verdict.RTL_MISMATCH), (fault, proof.message)
        if proof.verdict is Verdict.PASS:
            assert not any(_differ(machine, fault.machine, inputs) for inputs in sequences), fault


def _arrays(machine: Machine, cycles: int, seed: int) -> dict[str, Any]:
    rows = generate_sequence(machine, cycles, seed).rows
    return {s.name: np.array(rows[s.name], dtype=float).reshape(cycles, len(s.types)) for s in machine.inputs}


def _differ(machine: Machine, other: Machine, inputs: dict[str, Any]) -> bool:
    try:
        right = run_machine(machine, inputs).outputs
    except ViolationError:
        return False
    wrong = run_machine(other, inputs, check=False).outputs
    return any(((right[name] != wrong[name]) & ~np.isnan(right[name])).any() for name in right)


@pytest.mark.parametrize(
    ("first", "count"), [(100, 6), pytest.param(1000, 200, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_our_rtl_of_random_machines_is_proved(first: int, count: int, tmp_path: Path) -> None:
    """Our RTL of random machines is never refuted, and at least 98 % of it is proved."""
    verdicts: Counter[Verdict] = Counter()
    for seed in range(first, first + count):
        machine = random_machine(random.Random(seed), inside=seed % 2 == 0)
        (tmp_path / "model.v").write_text(emit_machine(machine))
        netlist = elaborate([tmp_path / "model.v"], "model")
        found = prove_machine(machine, netlist, "clk", ProofOptions(timeout=10)).proof
        assert found.verdict is not Verdict.RTL_MISMATCH, (seed, found.message)
        verdicts[found.verdict] += 1
    assert verdicts[Verdict.PASS] >= 0.98 * count, verdicts


@pytest.mark.slow
def test_a_machine_of_50_000_ops_is_proved(tmp_path: Path) -> None:
    machine = big_machine(50_000, 5_000, seed=1)
    (tmp_path / "model.v").write_text(emit_machine(machine))
    netlist = run_deep(lambda: elaborate([tmp_path / "model.v"], "model"))
    found = run_deep(lambda: prove_machine(machine, netlist, "clk", ProofOptions()))
    assert found.proof.verdict is Verdict.PASS, found.proof.message
    assert len(found.proof.ops) > 40_000


#: RTL of ``f01_counter`` in other styles, which differ in where the initial value is given and how they count.
WRITTEN = {
    "a value where the port is declared": "output reg [5:0] y = 5); always @(posedge clk) if (rst) y <= 5; else if (en)"
    " y <= y + 3;",
    "a task that assigns at a place": "output [5:0] y); reg [5:0] m [0:1]; initial begin m[0] = 5; m[1] = 5; end"
    " assign y = m[1]; task next(input i); m[i] <= m[1] + 3; endtask"
    " always @(posedge clk) if (rst) m[1] <= 5; else next(en);",
}


@pytest.mark.parametrize("how", WRITTEN)
def test_a_counter_as_people_write_it(how: str, tmp_path: Path) -> None:
    source = tmp_path / "design.v"
    source.write_text(f"module model(input clk, input rst, input en, {WRITTEN[how]}\nendmodule\n")
    design = DesignRequest(rtl=(source,), top="model")
    program = FSM / "f01_counter" / "fsm.json.gz"
    record = prove(ProveRequest(program=program, design=design, cache=False, confirm=False)).record
    assert record.verdict is Verdict.PASS, record.message
