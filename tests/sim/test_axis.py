"""Programs in the AXI4-Stream wrapper: every beat of every scenario is compared, and bugs in the wrapper are found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.axis_designs import mutant_in_wrapper, wrapped
from support.door import save
from support.odd_programs import ODD_PROGRAMS
from support.programs import every_opcode
from support.said import as_recorded

from dais_verif.base.errors import InputError
from dais_verif.base.verdict import Verdict
from dais_verif.doors.cli import main
from dais_verif.simulation.axis import AxisFinding, simulate_axis
from dais_verif.simulation.judge import AxisOutcome
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.simulation.testbench.axis_job import SCENARIOS
from dais_verif.spec.program import Program
from dais_verif.spec.program.ports import ports_of
from dais_verif.stimulus import generate

EVERY = every_opcode()
RESETS = sum(scenario.resets for scenario in SCENARIOS)


def simulated(
    program: Program,
    folder: Path,
    *,
    rows: int = 150,
    latency: int = 0,
    user_bits: int = 3,
    simulators: tuple[str, ...] = ("icarus",),
    bug: tuple[str, str] | None = None,
) -> AxisFinding:
    design = wrapped(program, folder, latency=latency, user_bits=user_bits, bug=bug)
    batch = generate(program, rows, 1)
    return simulate_axis(
        program,
        batch,
        design,
        folder,
        latency=latency,
        user_bits=user_bits,
        simulators=simulators,
        check=False,
        timeout=120,
    )


@pytest.mark.few(2)
@pytest.mark.parametrize("latency", [0, 1, 5])
def test_every_beat_equals_the_golden_model(latency: int, tmp_path: Path) -> None:
    finding = simulated(EVERY, tmp_path, latency=latency)
    assert finding.verdict is Verdict.PASS, finding.message
    outcome = finding.outcomes["icarus"]
    assert isinstance(outcome, AxisOutcome)
    heard = outcome.answer.heard
    assert [one.scenario for one in heard] == [scenario.name for scenario in SCENARIOS]
    assert all(one.sent == one.compared + one.dropped == 150 for one in heard)
    # One beat per clock cycle: 150 beats, and the path from s_axis to m_axis.
    assert heard[0].clocks == 150 + 1 + max(latency, 1)
    # Every reset came in mid-stream, since each dropped at least one beat; without resets no beat was dropped.
    assert heard[-1].dropped >= RESETS and not any(one.dropped for one in heard[:-1])


def test_both_simulators_see_the_same(tmp_path: Path) -> None:
    finding = simulated(EVERY, tmp_path, latency=2, simulators=("icarus", "verilator"))
    assert finding.verdict is Verdict.PASS, finding.message
    icarus, verilator = (finding.outcomes[name] for name in ("icarus", "verilator"))
    assert isinstance(icarus, AxisOutcome) and isinstance(verilator, AxisOutcome)
    assert icarus.answer == verilator.answer


def test_a_shell_without_tuser(tmp_path: Path) -> None:
    assert simulated(EVERY, tmp_path, user_bits=0).verdict is Verdict.PASS


@pytest.mark.parametrize(
    "name",
    ["wide", *(pytest.param(n, marks=pytest.mark.slow) for n in ("inputs not read", "every opcode on constants"))],
)
def test_programs_of_odd_shape(name: str, tmp_path: Path) -> None:
    finding = simulated(ODD_PROGRAMS[name], tmp_path, rows=40)
    assert finding.verdict is Verdict.PASS, finding.message


@pytest.mark.parametrize("options", [["--stages", "3"], ["--axil", "--user-bits", "0"]], ids=str)
def test_the_folder_that_emit_writes(options: list[str], tmp_path: Path) -> None:
    program = save(EVERY, tmp_path)
    out = tmp_path / "out"
    assert main._run(["emit", str(program), "--wrap", "axis", *options, "-o", str(out)]) == 0
    facts = json.loads((out / "dais.json").read_text())
    sources = tuple(out / name for name in (out / "files.f").read_text().split())
    finding = simulate_axis(
        EVERY,
        generate(EVERY, 100, 1),
        RtlDesign(sources, facts["top"]),
        tmp_path,
        latency=facts["core_latency"],
        user_bits=facts["user_bits"],
        simulators=("icarus",),
        check=False,
    )
    assert finding.verdict is Verdict.PASS, finding.message
    outcome = finding.outcomes["icarus"]
    assert isinstance(outcome, AxisOutcome)
    assert outcome.answer.heard[0].clocks == 100 + facts["latency"]


SKID, SHELL = "dais_skid.v", "dais_axis.v"
BUGS = {
    "a beat is dropped under back-pressure": (
        (SKID, "full    <= full || accept;", "full    <= full;"),
        "was lost or overtaken",
    ),
    "the skid buffer gives its input for its spare": (
        (SKID, "full ? spare : s_data", "s_data"),
        "was lost or overtaken",
    ),
    "the spare comes out twice": (
        (SKID, "      full    <= 1'b0;\n    end else begin", "      full    <= full && !spare[0];\n    end else begin"),
        "came out",
    ),
    "TLAST is that of another beat": (
        (SHELL, "assign m_axis_tlast  = side_out[0];", "assign m_axis_tlast  = side_in[0];"),
        "TLAST is",
    ),
    "TUSER does not stand with its beat": (
        (SHELL, "if (enable) side <=", "side <="),
        "the payload of m_axis changed while it was stalled: T",
    ),
    "TVALID drops without TREADY": (
        (SHELL, "else if (enable) valid <= valid_next", "else valid <= {STAGES{enable}} & valid_next"),
        "m_axis_tvalid dropped before m_axis_tready",
    ),
    "the reset forgets what is in the wrapper": (
        (SHELL, "if (!aresetn) valid <= {STAGES{1'b0}};\n    else if", "if"),
        "m_axis_tvalid is",
    ),
    "the reset forgets the spare": (
        (SKID, "      full    <= 1'b0;\n    end else if (move)", "    end else if (move)"),
        "a beat came out though none was in flight",
    ),
    "every other clock is lost": (
        (SKID, "      s_ready <= 1'b1;\n", "      s_ready <= !s_ready;\n"),
        "s_axis_tready is 0 though the sink never pauses",
    ),
    "a clock is lost after each stall": (
        (SKID, "      s_ready <= 1'b1;\n", "      s_ready <= !full;\n"),
        "m_axis_tvalid is 0 though the source never pauses",
    ),
    "the wrapper does not come back from a stall": (
        (SKID, "      s_ready <= 1'b1;\n", "      s_ready <= s_ready;\n"),
        "s_axis_tready stays 0",
    ),
    "pad bits are not 0": (
        (SHELL, "{{OUT_PAD{1'b0}}, result}", "{{OUT_PAD{1'b1}}, result}"),
        "TDATA is",
    ),
    "TVALID waits for TREADY": (
        (SHELL, "wire enable = !valid_out || m_axis_tready;", "wire enable = m_axis_tready;"),
        "TVALID must not wait for TREADY",
    ),
    "a reset of one clock is lost while the output waits": (
        (SHELL, "if (!aresetn) valid <= {STAGES{1'b0}};", "if (!aresetn && enable) valid <= {STAGES{1'b0}};"),
        "a beat came out though none was in flight",
    ),
    "the core does not stand": ((SHELL, "assign core_en = enable;", "assign core_en = 1'b1;"), "TDATA is"),
}  # fmt: skip


@pytest.mark.few(4)
@pytest.mark.parametrize("name", BUGS)
def test_a_bug_in_the_shell_is_found(name: str, tmp_path: Path) -> None:
    seeded, message = BUGS[name]
    finding = simulated(EVERY, tmp_path, latency=2, rows=60, bug=mutant_in_wrapper(*seeded))
    assert finding.verdict in (Verdict.RTL_MISMATCH, Verdict.X_IN_OUTPUT), finding.message
    told = [text for outcome in finding.outcomes.values() if isinstance(outcome, AxisOutcome)
            for one in outcome.answer.heard for text in one.problems]  # fmt: skip
    assert any(message in text for text in told), told


def test_a_branch_that_nothing_drives_is_found(tmp_path: Path) -> None:
    """Icarus takes ``else`` for X, and Verilator 1 for what nothing drives."""
    chosen = "wire nobody; reg e; always @* if (nobody) e = 1'b1; else e = enable; assign core_en = e;"
    bug = mutant_in_wrapper(SHELL, "assign core_en = enable;", chosen)
    finding = simulated(EVERY, tmp_path, latency=2, rows=60, bug=bug, simulators=("icarus", "verilator"))
    assert finding.verdict in (Verdict.RTL_MISMATCH, Verdict.X_IN_OUTPUT), finding.message


def test_a_wrong_latency_is_found(tmp_path: Path) -> None:
    design = wrapped(EVERY, tmp_path, latency=2)
    top = tmp_path / "model_axis.v"
    top.write_text(top.read_text().replace(".LATENCY(2)", ".LATENCY(1)"))
    batch = generate(EVERY, 100, 1)
    finding = simulate_axis(EVERY, batch, design, tmp_path, latency=2, user_bits=3, simulators=("icarus",), check=False)
    assert finding.verdict in (Verdict.RTL_MISMATCH, Verdict.X_IN_OUTPUT), finding.message


def test_a_design_with_other_ports_is_refused(tmp_path: Path) -> None:
    design = wrapped(EVERY, tmp_path)
    batch = generate(EVERY, 10, 1)
    finding = simulate_axis(EVERY, batch, design, tmp_path, user_bits=4, simulators=("icarus",), check=False)
    assert finding.verdict is Verdict.INVALID_INPUT
    assert "port s_axis_tuser of the design has 3 bits, must be 4" in finding.message


def test_nothing_compared_is_no_pass(tmp_path: Path) -> None:
    design = wrapped(EVERY, tmp_path)
    finding = simulate_axis(EVERY, generate(EVERY, 0, 1), design, tmp_path, user_bits=3, simulators=("icarus",))
    as_recorded((finding.verdict, finding.message))
    nobody = simulate_axis(EVERY, generate(EVERY, 5, 1), design, tmp_path, simulators=(), check=False)
    assert nobody.verdict is Verdict.NOT_RUN
    blind = next(program for program in ODD_PROGRAMS.values() if not ports_of(program).output_bits)
    assert simulated(blind, tmp_path / "blind", rows=5).verdict is Verdict.NOT_RUN


def test_a_design_that_does_not_compile_is_a_tool_failure(tmp_path: Path) -> None:
    finding = simulated(EVERY, tmp_path, bug=(SKID, "module dais_skid ("))
    assert finding.verdict is Verdict.TOOL_FAILURE and "iverilog" in finding.message


def test_a_negative_latency_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="latency -1"):
        simulate_axis(EVERY, generate(EVERY, 1, 1), wrapped(EVERY, tmp_path), tmp_path, latency=-1)
