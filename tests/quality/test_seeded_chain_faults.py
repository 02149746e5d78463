"""A broken tool chain never gives a PASS, whether the RTL is right or wrong."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from support.door import mutant, run_sim
from support.programs import every_opcode
from support.said import as_recorded

from dais_verif.hardware.emitter import emit_verilog
from dais_verif.simulation import launch
from dais_verif.simulation.testbench import exchange
from dais_verif.simulation.testbench.exchange import read
from dais_verif.simulation.testbench.job import Answer
from dais_verif.spec.program import Program
from dais_verif.spec.program.ports import ports_of

EVERY = every_opcode()
FAILURE = ("TOOL_FAILURE", 3)
BENCHES = Path(__file__).parent / "benches"
SIMULATORS = pytest.mark.parametrize("simulator", ["icarus", "verilator"])


@pytest.fixture
def other_bench(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a faulty testbench in the simulation instead of ours."""
    run = launch.run

    def run_other(*arguments: Any, env: Mapping[str, str], **options: Any) -> Path:
        simulation, _, folder = arguments
        return run(
            simulation, "bench_that_compares_nothing", folder, env={**env, "PYTHONPATH": str(BENCHES)}, **options
        )

    monkeypatch.setattr(launch, "run", run_other)


def without_log(message: str) -> str:
    """Return what a message says before the last line of the tool's log, which has times in it."""
    return ": ".join(message.split(": ")[:2])


@pytest.mark.usefixtures("other_bench")
@pytest.mark.parametrize("says", ["nothing", "no vector", "too few vectors", "no bit", "mismatches"])
def test_a_bench_that_compares_nothing(says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAIS_VERIF_BENCH_SAYS", says)
    run = run_sim(EVERY, tmp_path)
    assert run.ending == FAILURE
    as_recorded(without_log(run.record["message"]))


@pytest.mark.parametrize("simulator", ["icarus", pytest.param("verilator", marks=pytest.mark.slow)])
def test_the_answer_of_an_earlier_run(simulator: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    assert run_sim(EVERY, tmp_path, simulator=simulator).ending == ("PASS", 0)
    answer = tmp_path / "out" / simulator / "answer.json"
    assert read(answer, Answer).rows == 1000
    request.getfixturevalue("other_bench")
    request.getfixturevalue("monkeypatch").setenv("DAIS_VERIF_BENCH_SAYS", "nothing")
    run = run_sim(EVERY, tmp_path, simulator=simulator)
    assert run.ending == FAILURE
    as_recorded(without_log(run.record["message"]))
    assert not answer.exists()


def forging(text: str) -> str:
    """Return ``text``, our Verilog, with code that at the end of the run writes an answer and the results of tests."""
    rows, bits = 300, ports_of(EVERY).output_bits
    answer = json.dumps(asdict(Answer(rows=rows, bits=rows * bits, digest="0" * 64, digests={0: "0" * 64})))
    results = "<testsuites><testsuite><testcase classname='b' name='t'/></testsuite></testsuites>"
    lines = ["  integer file_;", "  final begin"]
    for name, said in (("answer.json", answer), ("results.xml", results)):
        said = said.replace('"', '\\"')
        lines += [f'    file_ = $fopen("../{name}", "w"); $fwrite(file_, "{said}"); $fclose(file_);']
    lines += ["  end", "endmodule"]
    before, _, after = text.rpartition("endmodule")
    return before + "\n".join(lines) + after


@SIMULATORS
def test_rtl_that_writes_an_answer(simulator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = forging(mutant(EVERY, "op_4 =", "+", "-"))
    run = run_sim(EVERY, tmp_path, "--vectors", 300, rtl=wrong, simulator=simulator)
    assert run.ending == FAILURE
    if simulator == "icarus":  # nothing but the seal of the answer refuses it
        monkeypatch.setattr(exchange, "_seal", lambda path, key: (path.parent / "answer.seal").read_text())
        assert run_sim(EVERY, tmp_path, "--vectors", 300, rtl=wrong, simulator=simulator).ending == ("PASS", 0)


def test_no_vector(tmp_path: Path) -> None:
    run = run_sim(EVERY, tmp_path, "--vectors", 0)
    assert run.ending == ("NOT_RUN", 6)
    as_recorded(run.record["message"])


NO_BIT = {
    "no outputs": Program.build([(-1, 0, -1, 0, (1, 7, 0))], [], inp_shift=[0]),
    "constant 0": Program.build([(-1, 0, -1, 0, (1, 7, 0))], [(-1, 0, 0)], inp_shift=[0]),
    "no bits": Program.build([(-1, 0, -1, 0, (1, -1, 0))], [(0, 0, 1)], inp_shift=[0]),
}


@pytest.mark.parametrize(
    ("name", "simulator"),
    [
        ("no outputs", "icarus"),
        ("constant 0", "both"),
        ("no bits", "icarus"),
        pytest.param("no outputs", "both", marks=pytest.mark.slow),
        pytest.param("no bits", "both", marks=pytest.mark.slow),
    ],
)
def test_no_output_bit(name: str, simulator: str, tmp_path: Path) -> None:
    run = run_sim(NO_BIT[name], tmp_path, simulator=simulator)
    assert run.ending == ("NOT_RUN", 6)
    as_recorded(run.record["message"])


@pytest.mark.parametrize("exit_code", [0, 1])
def test_a_simulator_that_ends_without_running(exit_code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_icarus(tmp_path / "fake", f"exit {exit_code}", monkeypatch)
    run = run_sim(EVERY, tmp_path)
    assert run.ending == FAILURE
    as_recorded(without_log(run.record["message"]))


def test_nor_do_the_results_of_an_earlier_run_help_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_sim(EVERY, tmp_path).ending == ("PASS", 0)
    fake_icarus(tmp_path / "fake", "exit 0", monkeypatch)
    assert run_sim(EVERY, tmp_path).ending == FAILURE


def test_one_simulator_that_fails_is_not_outvoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_icarus(tmp_path / "fake", "exit 0", monkeypatch)
    run = run_sim(EVERY, tmp_path, simulator="both")
    assert run.ending == FAILURE
    verilator = run.record["simulators"][1]
    assert (verilator["mismatches"], verilator["failure"]) == (0, None)
    assert verilator["bits_compared"] > 0


def fake_icarus(folder: Path, vvp: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the real ``iverilog`` with a script ``vvp`` in place of the real one."""
    folder.mkdir()
    for name, script in (("iverilog", 'exec iverilog "$@"'), ("vvp", vvp)):
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("DAIS_VERIF_IVERILOG", str(folder / "iverilog"))


@SIMULATORS
def test_the_wrong_design_is_never_simulated(simulator: str, tmp_path: Path) -> None:
    """A second run builds the new design: an old build would pass the second time, too."""
    assert run_sim(EVERY, tmp_path, simulator=simulator).ending == ("PASS", 0)
    bad = mutant(EVERY, "op_4 =", "+", "-")
    (tmp_path / "design.v").write_text(bad)
    os.utime(tmp_path / "design.v", (0, 0))
    assert run_sim(EVERY, tmp_path, rtl=bad, simulator=simulator).ending == ("RTL_MISMATCH", 1)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("output wire [112:0] model_out", "output wire [111:0] model_out", "112 bits"),
        ("input  wire [18:0] model_inp", "input  wire [19:0] model_inp", "20 bits"),
        ("model_out", "model_outs", "model_out"),
    ],
    ids=["narrow-output", "wide-input", "missing"],
)
def test_ports_that_do_not_fit(old: str, new: str, message: str, tmp_path: Path) -> None:
    text = emit_verilog(EVERY)
    assert old in text
    run = run_sim(EVERY, tmp_path, rtl=text.replace(old, new))
    assert run.ending == ("INVALID_INPUT", 2)
    assert message in run.record["message"]
    as_recorded(run.record["message"])
