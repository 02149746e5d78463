"""Sign-offs that would be meaningless end NOT SIGNED OFF; each way to make one is really built."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from quality.sabotage import LIAR, STALE_COMPILER, fake_icarus, sabotage
from support.signing import DESIGN, GIVEN, QUICK, Ending, project, sign

from dais_verif.doors.cli import main
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.signoff import seeded_faults as sanity_checks
from dais_verif.spec.program import Program

PROVED = QUICK.replace('proof = "off"', 'proof = "required"')
BOTH = QUICK.replace('["icarus"]', '["icarus", "verilator"]')


Setup = Callable[[Path, pytest.MonkeyPatch], object]


def wrong_rtl() -> str:
    """Return our RTL inside a module that makes output 0 one too high."""
    inner = emit_verilog(DESIGN).replace("module model", "module right", 1)
    widths = [kind.width for kind in DESIGN.output_types]
    low, high = widths[0], sum(widths)
    return (
        inner + f"\nmodule model (input wire [11:0] model_inp, output wire [{high - 1}:0] model_out);\n"
        f"    wire [{high - 1}:0] out;\n    right it (.model_inp(model_inp), .model_out(out));\n"
        f"    wire [{low - 1}:0] raised = out[{low - 1}:0] + 1'b1;\n"
        f"    assign model_out = {{out[{high - 1}:{low}], raised}};\nendmodule\n"
    )


@dataclass(frozen=True)
class Vacuous:
    """A policy, a part of the reason why it is not signed off, and a preparation before the sign-off."""

    policy: str
    says: str
    setup: Setup | None = None
    rtl: str | None = None
    program: Program = DESIGN


def sabotaged(name: str) -> Setup:
    return lambda folder, monkeypatch: sabotage(name, folder / "sabotage", monkeypatch)


def variable(name: str, value: str) -> Setup:
    return lambda folder, monkeypatch: monkeypatch.setenv(name, value)


def equal_vectors(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(folder / "x.npy", np.tile([1.0, 2.0, 0.5], (400, 1)))


def stale_compiler(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_icarus(folder / "fake", monkeypatch, iverilog=STALE_COMPILER)


def liar(clever: bool) -> Setup:
    script = LIAR.format(python=sys.executable, clever=clever)
    return lambda folder, monkeypatch: fake_icarus(folder / "fake", monkeypatch, vvp=script)


def nothing_simulated(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_icarus(folder / "fake", monkeypatch, vvp="#!/bin/sh\nexit 0\n")


def earlier_run(of: Callable[[Path], object]) -> Setup:
    """Make ``sim`` return the record of an earlier run that passed; ``of`` changes the project after that run."""

    def setup(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        options = ["--vectors", "300", "--exhaustive-bits", "0", "--sim", "icarus", "--rtl", str(folder / "design.v")]
        earlier = folder.with_name("earlier")
        assert main._run(["sim", str(folder / "prog.bin"), *options, "-o", str(earlier)]) == 0
        monkeypatch.setenv("EARLIER_RUN", str(earlier))
        of(folder)
        sabotage("record of an earlier run", folder / "sabotage", monkeypatch)

    return setup


def other_rtl(folder: Path) -> None:
    (folder / "design.v").write_text(wrong_rtl())


def other_program(folder: Path) -> None:
    columns = DESIGN.columns._replace(code=np.where(DESIGN.columns.code == 0, 1, DESIGN.columns.code))
    project(folder, (folder / "policy.toml").read_text(), program=replace(DESIGN, columns=columns))


def changed_by(word: str) -> Setup:
    """Make the command with ``word`` in an argument change the RTL when it ends."""

    def setup(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CHANGED_FILE", str(folder / "design.v"))
        monkeypatch.setenv("CHANGED_BY", word)
        sabotage("RTL changed meanwhile", folder / "sabotage", monkeypatch)

    return setup


def harmless_bug(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the seeded fault from the wrapper that should be wrong."""
    made = sanity_checks.sometimes_wrong

    def right(*arguments: object) -> object:
        bad = made(*arguments)  # type: ignore[arg-type]
        return replace(bad, text=re.sub(r"(dais_inner_\d+) \^ .*;", r"\1;", bad.text))

    monkeypatch.setattr(sanity_checks, "sometimes_wrong", right)


NO_BITS = Program.build([(-1, 0, -1, 0, (1, 7, 0))], [(-1, 0, 0)], inp_shift=[0])
WAIVED = 'stages = ["netlist"]\n[[waivers]]\nwhat = "netlist"\nreason = "none here"\nexpires = 2020-01-01\n'

FOUND_NOTHING = "a fault was seeded, but the verdict is PASS"

VACUOUS = {
    # nothing to compare
    "no vectors": Vacuous(QUICK.replace("300", "0"), "nothing was compared"),
    "no seed": Vacuous(QUICK + "seeds = []\n", "names no seed"),
    "no simulator": Vacuous(QUICK.replace('["icarus"]', "[]"), "must be at least one"),
    "no output bits": Vacuous(QUICK + GIVEN, "no output bits", program=NO_BITS),
    "all vectors equal": Vacuous(
        QUICK.replace("300", "0") + 'inputs = ["x.npy"]\n', "1 of 400 vectors are different", equal_vectors
    ),
    "one vector": Vacuous(
        QUICK.replace("300", "1").replace("distinct = 100\n", ""), "1 of 1 vectors are different, must be at least 2"
    ),
    "the same vector again and again": Vacuous(
        QUICK, "1 of 300 vectors are different", sabotaged("the same vector again")
    ),
    "fewer vectors than asked": Vacuous(QUICK, "icarus compared 10 of 300 vectors", sabotaged("fewer vectors")),
    # nothing compares
    "comparison disabled": Vacuous(QUICK, FOUND_NOTHING, sabotaged("comparison disabled")),
    "comparison disabled, wrong RTL": Vacuous(
        QUICK + GIVEN, "differ from the golden model", sabotaged("comparison disabled"), wrong_rtl()
    ),
    "comparison of one bit": Vacuous(QUICK, "corrupted vectors", sabotaged("comparison of one bit")),
    "golden equals DUT by mistake": Vacuous(QUICK, FOUND_NOTHING, sabotaged("outputs taken from the model")),
    "golden model made from the RTL": Vacuous(
        PROVED + GIVEN, "found for output 0", sabotaged("golden model made from the RTL"), wrong_rtl()
    ),
    "a bug that is none": Vacuous(QUICK, FOUND_NOTHING, harmless_bug),
    # nothing is simulated
    "simulator missing": Vacuous(BOTH, "not an executable file", variable("DAIS_VERIF_IVERILOG", "/nonexistent")),
    "the other simulator missing": Vacuous(
        BOTH, "not an executable file", variable("DAIS_VERIF_VERILATOR", "/nonexistent")
    ),
    "only one simulator": Vacuous(
        BOTH, "simulated in icarus, must be icarus, verilator", sabotaged("only one simulator")
    ),
    "simulator that does nothing": Vacuous(QUICK, "ran no test", nothing_simulated),
    "simulator that lies": Vacuous(QUICK, "differ from the golden model", liar(clever=False)),
    "simulator that lies well": Vacuous(QUICK, FOUND_NOTHING, liar(clever=True)),
    "stale build": Vacuous(QUICK, "a fault was seeded, but the verdict is", stale_compiler),
    "sim that says nothing": Vacuous(QUICK, "is not JSON", sabotaged("ends at once without a word")),
    # something else
    "record of other RTL": Vacuous(QUICK + GIVEN, "other RTL files", earlier_run(other_rtl)),
    "record of another program": Vacuous(QUICK + GIVEN, "of another program", earlier_run(other_program)),
    "record of an earlier run": Vacuous(
        QUICK + GIVEN, "did not build the design for this run", earlier_run(lambda folder: None)
    ),
    "no such top": Vacuous(QUICK + '[rtl]\nfiles = ["design.v"]\ntop = "chip"\n', "no module chip in the RTL"),
    "RTL changed meanwhile": Vacuous(QUICK + GIVEN, "was changed while it was signed off", changed_by("check")),
    "RTL changed at last": Vacuous(QUICK + GIVEN, "was changed while it was signed off", changed_by("poisoned")),
    "overflow unchecked": Vacuous(QUICK, "overflow was not checked", sabotaged("overflow unchecked")),
    # what is said
    "truncated record": Vacuous(QUICK, "is not what the run printed", sabotaged("truncated record")),
    "truncated output": Vacuous(QUICK, "is not JSON", sabotaged("truncated output")),
    "exit code always 0": Vacuous(
        QUICK + GIVEN, "exited with code 0, but", sabotaged("exit code always 0"), wrong_rtl()
    ),
    "verdict always PASS": Vacuous(QUICK + GIVEN, "mismatches and", sabotaged("verdict always PASS"), wrong_rtl()),
    # the prover
    "prover that believes": Vacuous(PROVED, FOUND_NOTHING, sabotaged("prover that believes")),
    "prover with another design": Vacuous(PROVED + GIVEN, FOUND_NOTHING, sabotaged("prover with another design")),
    # stages
    "coverage below the floor": Vacuous(
        QUICK + "coverage = 100.0\n", "at least 100 % is required", sabotaged("no directed vectors")
    ),
    "coverage of other vectors": Vacuous(
        QUICK + "coverage = 1.0\n", "coverage was counted over 3 vectors", sabotaged("no directed vectors")
    ),
    "coverage that counts nothing": Vacuous(
        QUICK + "coverage = 50.0\n", "coverage was not counted", sabotaged("coverage that counts nothing")
    ),
    "coverage that boasts": Vacuous(QUICK + "coverage = 99.0\n", "its groups give", sabotaged("coverage that boasts")),
    "a stage that cannot run": Vacuous(
        QUICK + 'stages = ["netlist"]\n', "no netlist was made", variable("DAIS_VERIF_YOSYS", "/nonexistent")
    ),
    "a waiver that expired": Vacuous(
        QUICK + WAIVED, "no netlist was made", variable("DAIS_VERIF_YOSYS", "/nonexistent")
    ),
    "wrong RTL, nothing else": Vacuous(QUICK + GIVEN, "differ from the golden model", rtl=wrong_rtl()),
}


def test_there_are_at_least_15_ways() -> None:
    assert len(VACUOUS) >= 35


@pytest.mark.slow
@pytest.mark.parametrize("name", VACUOUS)
def test_a_vacuous_pass_is_not_signed_off(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = VACUOUS[name]
    folder = project(tmp_path / "project", case.policy, case.rtl, case.program)
    (folder / "out").mkdir()
    (folder / "out" / "signoff.json").write_text('{"schema": "dais-verif/signoff/1"}')
    (folder / "out" / "certificate.json").write_text("of an earlier run")
    (folder / "out" / "certificate.json.sig").write_text("and its signature")
    if case.setup is not None:
        case.setup(folder, monkeypatch)
    ending = sign(folder)
    why = [stage["message"] for stage in ending.tree["stages"] if not stage["passed"]]
    assert (ending.verdict, ending.exit_code) == ("NOT_SIGNED_OFF", 7), why
    assert any(case.says in line for line in (*why, ending.tree["message"])), (why, ending.tree["message"])
    left = {path.name for path in (folder / "out").iterdir()}
    assert left - {".lock", ".dais-verif-signoff"} == {"signoff.json", "policy.toml", "evidence"}
    assert json.loads((folder / "out" / "signoff.json").read_bytes()) == ending.tree


@pytest.mark.slow
@pytest.mark.parametrize(
    "policy",
    [QUICK, QUICK + GIVEN, PROVED + GIVEN, BOTH, QUICK + "coverage = 100.0\n"],
    ids=["ours", "given", "proved", "both", "covered"],
)
def test_without_sabotage_it_is_signed_off(policy: str, tmp_path: Path) -> None:
    ending: Ending = sign(project(tmp_path, policy))
    assert (ending.verdict, ending.exit_code) == ("PASS", 0), ending.tree["message"]
