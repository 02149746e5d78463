"""``verify`` turns a program, vectors and RTL into a finding; the RTL is the emitted Verilog or a mutant of it."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import pytest
from support.door import mutant
from support.odd_programs import ODD_PROGRAMS
from support.programs import every_opcode, overflowing
from support.said import as_recorded

from dais_verif.base.errors import ToolError
from dais_verif.base.toolchain.process import Session
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.simulation.verify import Finding, SimulationOptions, SimulationWatcher, verify
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch
from dais_verif.spec.program.ports import ports_of
from dais_verif.stimulus import generate

EVERY = every_opcode()
BOTH = SimulationOptions(check=False, icarus_rows=sys.maxsize)
ICARUS = SimulationOptions(("icarus",), check=False)

WITH_OUTPUT = {name: program for name, program in ODD_PROGRAMS.items() if ports_of(program).output_bits}
WITHOUT_OUTPUT = {name: program for name, program in ODD_PROGRAMS.items() if name not in WITH_OUTPUT}


def verified(
    program: Program, folder: Path, options: SimulationOptions, *, rows: int = 200, rtl: str | None = None
) -> Finding:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.v").write_text(emit_verilog(program) if rtl is None else rtl)
    return verify(program, generate(program, rows, 1), RtlDesign((folder / "model.v",), "model"), folder, options)


@pytest.mark.few(2)
@pytest.mark.parametrize("name", WITH_OUTPUT)
def test_a_program_of_odd_shape_passes_in_icarus(name: str, tmp_path: Path) -> None:
    finding = verified(WITH_OUTPUT[name], tmp_path, ICARUS)
    assert finding.verdict is Verdict.PASS, finding
    assert finding.simulators[0].bits_compared == 200 * ports_of(WITH_OUTPUT[name]).output_bits


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("every opcode on constants", marks=pytest.mark.slow),
        pytest.param("inputs not read", marks=pytest.mark.slow),
        "tables",
        pytest.param("wide", marks=pytest.mark.slow),
    ],
)
def test_a_program_of_odd_shape_passes_in_verilator(name: str, tmp_path: Path) -> None:
    finding = verified(WITH_OUTPUT[name], tmp_path, SimulationOptions(("verilator",), check=False))
    assert finding.verdict is Verdict.PASS, finding


@pytest.mark.few(2)
@pytest.mark.parametrize("name", WITHOUT_OUTPUT)
def test_a_program_without_output_bits_is_not_run(name: str, tmp_path: Path) -> None:
    finding = verified(WITHOUT_OUTPUT[name], tmp_path, ICARUS)
    assert finding.verdict is Verdict.NOT_RUN, finding


def test_what_the_simulators_did(tmp_path: Path) -> None:
    finding = verified(EVERY, tmp_path, BOTH, rows=1500)
    bits = 1500 * ports_of(EVERY).output_bits
    assert finding.verdict is Verdict.PASS
    assert finding.first_mismatch is None
    assert [(s.name, s.vectors_compared, s.bits_compared, s.mismatches) for s in finding.simulators] == [
        ("icarus", 1500, bits, 0),
        ("verilator", 1500, bits, 0),
    ]
    assert finding.simulators[0].digest == finding.simulators[1].digest
    assert all(s.version and s.run_seconds > 0 for s in finding.simulators)


def test_icarus_ends_with_verilator_and_says_what_it_ran(tmp_path: Path) -> None:
    """Icarus ends when Verilator does: it would need a minute for vectors that Verilator runs in a second."""
    finding = verified(EVERY, tmp_path, SimulationOptions(check=False), rows=200_000)
    icarus, verilator = finding.simulators
    assert finding.verdict is Verdict.PASS
    assert verilator.vectors_compared == 200_000
    assert 1000 <= icarus.vectors_compared < 200_000
    assert icarus.bits_compared == icarus.vectors_compared * ports_of(EVERY).output_bits
    assert icarus.digest == verilator.digest != f"{0:064x}"
    assert "200000" in finding.message and str(icarus.vectors_compared) in finding.message


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("in_icarus", "verdict"),
    [
        ("5'h0A", Verdict.RTL_MISMATCH),
        ("model_inp[18:14]", Verdict.SIMULATORS_DISAGREE),
        ("5'h0x", Verdict.X_IN_OUTPUT),
    ],
)
def test_a_mismatch_in_a_vector_that_icarus_was_not_given_is_replayed_there(
    in_icarus: str, verdict: Verdict, tmp_path: Path
) -> None:
    """Verilator gives 5'h0A for the last vector, and Icarus gives ``in_icarus`` when the vector is replayed."""
    wrong = f"(model_inp[18:14] == 5'h15 ? `ifdef VERILATOR 5'h0A `else {in_icarus} `endif : model_inp[18:14])"
    (tmp_path / "model.v").write_text(mutant(EVERY, "op_2 =", "model_inp[18:14]", wrong))
    raw = [[0.0, 0.0, 0.0]] * 599 + [[0.0, 0.0, -11.0]]
    options = SimulationOptions(check=False, icarus_rows=300)
    finding = verify(EVERY, Batch.of(raw, 3), RtlDesign((tmp_path / "model.v",), "model"), tmp_path, options)
    assert finding.verdict is verdict, finding.message
    assert [(s.vectors_compared, s.mismatches) for s in finding.simulators] == [(512, 0), (600, 1)]
    assert finding.first_mismatch is not None and finding.first_mismatch.row == 599
    assert ("599" in finding.message) == (verdict is not Verdict.RTL_MISMATCH)


def test_a_folder_may_be_used_again(tmp_path: Path) -> None:
    """A folder can be used again: a simulator, started before its job is written, does not find the previous job."""
    for rows in (300, 5):
        finding = verified(EVERY, tmp_path, BOTH, rows=rows)
        assert finding.verdict is Verdict.PASS
        assert [s.vectors_compared for s in finding.simulators] == [rows, rows]


@pytest.mark.parametrize("rows", [1, pytest.param(1024, marks=pytest.mark.slow), 1025])
def test_every_vector_is_compared_whatever_the_chunks(rows: int, tmp_path: Path) -> None:
    """A difference in the last vector is found, whatever the number of vectors in the last chunk."""
    wrong = mutant(EVERY, "op_2 =", "model_inp[18:14]", "(model_inp[18:14] == 5'h15 ? 5'h0A : model_inp[18:14])")
    raw = [[0.0, 0.0, 0.0]] * (rows - 1) + [[0.0, 0.0, -11.0]]
    (tmp_path / "model.v").write_text(wrong)
    design = RtlDesign((tmp_path / "model.v",), "model")
    finding = verify(EVERY, Batch.of(raw, 3), design, tmp_path, ICARUS)
    assert finding.verdict is Verdict.RTL_MISMATCH
    assert finding.first_mismatch is not None
    assert finding.first_mismatch.row == rows - 1
    assert (finding.simulators[0].vectors_compared, finding.simulators[0].mismatches) == (rows, 1)


def test_the_first_mismatch_in_words(tmp_path: Path) -> None:
    """The mismatch of 16 + 1 instead of 16 - 1 has all three forms of each value."""
    rows = [(-1, 0, -1, 0, (1, 5, 1)), (-1, 1, -1, 0, (0, 2, 2)), (1, 0, 1, 0, (1, 6, 2))]
    program = Program.build(rows, [(2, 3, 1)], inp_shift=[0, -1])
    (tmp_path / "model.v").write_text(mutant(program, "op_2 =", "-", "+"))
    design = RtlDesign((tmp_path / "model.v",), "model")
    # Vector 0 agrees, since it adds 0. Input 1 is halved, then floored to quarters.
    finding = verify(program, Batch.of([[3.0, 0.0], [-16.0, 2.6875]], 2), design, tmp_path, ICARUS)
    mismatch = finding.first_mismatch
    assert finding.verdict is Verdict.RTL_MISMATCH and mismatch is not None
    assert (mismatch.simulator, mismatch.row, mismatch.output) == ("icarus", 1, 0)
    assert [(i.index, i.real, i.bits) for i in mismatch.inputs] == [(0, "-16", "1100000"), (1, "2.6875", "0101")]
    # -(-16 - 1.25) * 8 and -(-16 + 1.25) * 8, raw in units of 2
    assert (mismatch.expected.real, mismatch.expected.raw, mismatch.expected.bits) == ("138", 69, "0001000101")
    assert (mismatch.found.real, mismatch.found.raw, mismatch.found.bits) == ("118", 59, "0000111011")
    blame = mismatch.blame
    assert blame is not None and blame.expected is not None and blame.found is not None
    assert (blame.kind, blame.op, blame.mnemonic, blame.type, blame.replayed_in) == ("op", 2, "sub", "s9.2", "icarus")
    assert (blame.expected.real, blame.expected.raw, blame.expected.bits) == ("-17.25", -69, "110111011")
    assert (blame.found.real, blame.found.raw, blame.found.bits) == ("-14.75", -59, "111000101")


def test_an_overflow_is_the_programs_fault_unless_unchecked(tmp_path: Path) -> None:
    checked = verified(overflowing(), tmp_path / "checked", SimulationOptions(("icarus",)))
    assert checked.verdict is Verdict.PROGRAM_INVALID
    assert checked.simulators == []
    assert "overflow violation at op 1 (add_const): exact result 128 becomes -128 in type s8.0" in checked.message
    assert verified(overflowing(), tmp_path / "unchecked", ICARUS).verdict is Verdict.PASS


def test_the_row_of_the_overflow_is_named(tmp_path: Path) -> None:
    (tmp_path / "model.v").write_text(emit_verilog(overflowing()))
    vectors = Batch.of([[v % 127] for v in range(5000)] + [[127]], 1)
    design = RtlDesign((tmp_path / "model.v",), "model")
    finding = verify(overflowing(), vectors, design, tmp_path, SimulationOptions(("icarus",)))
    assert finding.verdict is Verdict.PROGRAM_INVALID
    assert finding.message.startswith("row 5000: ")


def test_every_step_is_noticed(tmp_path: Path) -> None:
    told: list[str] = []
    counted: list[tuple[str, int, int]] = []

    class Listener(SimulationWatcher):
        def notice(self, text: str) -> None:
            told.append(text)

        def vectors(self, simulator: str, done: int, total: int) -> None:
            counted.append((simulator, done, total))

    (tmp_path / "model.v").write_text(mutant(EVERY, "op_4 =", "+", "-"))
    design = RtlDesign((tmp_path / "model.v",), "model")
    verify(EVERY, generate(EVERY, 10, 0), design, tmp_path, ICARUS, Listener())
    assert "10 vectors" in told[0] and told[1].startswith("icarus: ") and "vector " in told[2]
    as_recorded(told[0])
    as_recorded(told[2])
    assert counted[-1] == ("icarus", 10, 10)


def test_two_runs_at_once_do_not_meet(tmp_path: Path) -> None:
    """Two runs, in threads of one process, do not affect each other; nor does one whose build fails."""
    findings: dict[str, Finding] = {}

    def one(name: str, rtl: str | None) -> None:
        findings[name] = verified(EVERY, tmp_path / name, BOTH, rtl=rtl)

    jobs = {"good": None, "bad": mutant(EVERY, "op_4 =", "+", "-"), "broken": "module model("}
    threads = [threading.Thread(target=one, args=job) for job in jobs.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {name: finding.verdict for name, finding in findings.items()} == {
        "good": Verdict.PASS,
        "bad": Verdict.RTL_MISMATCH,
        "broken": Verdict.TOOL_FAILURE,
    }


def test_a_replay_that_fails_does_not_hide_the_mismatch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dais_verif.simulation.diagnosis import blame

    def no_replay(*_: object, **__: object) -> None:
        raise ToolError("out of licences")

    monkeypatch.setattr(blame, "replay", no_replay)
    finding = verified(EVERY, tmp_path, ICARUS, rtl=mutant(EVERY, "op_4 =", "+", "-"))
    assert finding.verdict is Verdict.RTL_MISMATCH
    assert finding.first_mismatch is not None and finding.first_mismatch.blame is not None
    as_recorded(finding.first_mismatch.blame.text)


def test_no_test_and_no_hidden_x(tmp_path: Path) -> None:
    """A design whose output bits are all X does not pass."""
    text = emit_verilog(EVERY)
    x = text[: text.index("  assign model_out")] + "  assign model_out = 'bx;\nendmodule\n"
    finding = verified(EVERY, tmp_path, ICARUS, rtl=x)
    assert finding.verdict is Verdict.X_IN_OUTPUT
    assert finding.simulators[0].vectors_with_x == 200
    assert finding.first_mismatch is not None
    assert (finding.first_mismatch.row, finding.first_mismatch.output) == (0, 0)
    assert finding.first_mismatch.found.bits == "X" * 12


@pytest.mark.parametrize(("broken", "slow"), [("verilator", "icarus"), ("icarus", "verilator")])
def test_a_failed_build_ends_the_build_of_the_other(
    broken: str, slow: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compiler that would take minutes is stopped, with its child process, once the other build has failed."""
    started = threading.Event()

    def fails(*_: object, **__: object) -> None:
        assert started.wait(60)
        raise ToolError("too many words on a line")

    def takes_minutes(sources: object, top: str, folder: Path, *_: object, **__: object) -> None:
        threading.Timer(0.5, started.set).start()
        Session(folder / "build.log", cwd=folder).check("compiler", ["sh", "-c", "sleep 600 & echo $! > child; wait"])

    monkeypatch.setenv("DAIS_VERIF_CACHE_MB", "0")
    monkeypatch.setattr(f"dais_verif.simulation.simulators.{broken}.build", fails)
    monkeypatch.setattr(f"dais_verif.simulation.simulators.{slow}.build", takes_minutes)
    began = time.monotonic()
    finding = verified(EVERY, tmp_path, BOTH)
    assert time.monotonic() - began < 60
    assert (finding.verdict, finding.message) == (Verdict.TOOL_FAILURE, f"{broken}: too many words on a line")
    (ended,) = [simulator for simulator in finding.simulators if simulator.name == slow]
    assert ended.failure is not None and ended.failure.startswith("NOT RUN: ") and broken in ended.failure
    as_recorded(ended.failure)
    assert ended.vectors_compared == ended.bits_compared == 0
    (child,) = tmp_path.glob(f"**/{slow}/build/child")
    status = Path(f"/proc/{int(child.read_text())}/status")
    assert not status.exists() or "State:\tZ" in status.read_text()
