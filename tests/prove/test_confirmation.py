"""Simulators contradict a proof of wrong RTL, independent of the prover, and confirm a proof of right RTL."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from prove.door import run_prove
from support.said import as_recorded

import dais_verif.verbs.proof.confirm as confirming
from dais_verif.base.verdict import Verdict
from dais_verif.golden import Golden
from dais_verif.hardware.ports.interface import Clocking, packed
from dais_verif.prover import slang
from dais_verif.prover.proof import prove
from dais_verif.prover.results import Proof, ProofOptions
from dais_verif.record.proof import Claim, Method, Status
from dais_verif.record.simulation import SimulatorResult
from dais_verif.simulation import confirmation
from dais_verif.simulation.confirmation import Confirmation, ConfirmationRequest, confirm, prepare, sum_up
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.simulation.verify import Finding
from dais_verif.spec.program import Program
from dais_verif.verbs.proof.decide import ProofTask
from dais_verif.verbs.proof.replay import with_found_pins

#: Two inputs of four bits and their sum.
SUM = Program.build(
    [(-1, 0, -1, 0, (0, 4, 0)), (-1, 1, -1, 0, (0, 4, 0)), (0, 0, 1, 0, (0, 5, 0))],
    [(2, 0, 0)],
    inp_shift=[0, 0],
)
#: The same program, with a promise that large sums break.
NARROW = Program.build(
    [(-1, 0, -1, 0, (0, 4, 0)), (-1, 1, -1, 0, (0, 4, 0)), (0, 0, 1, 0, (0, 4, 0))],
    [(2, 0, 0)],
    inp_shift=[0, 0],
)
ADDED = "model_inp[3:0] + model_inp[7:4]"
PINS = "input [7:0] model_inp, output reg [4:0] model_out"
GOOD = f"module model({PINS}); always @* model_out = {ADDED}; endmodule"


def asked(folder: Path, *texts: str, clock: Clocking | None = None, program: Program = SUM) -> ConfirmationRequest:
    """Return the request to confirm a design, with one file for each of ``texts``, in Icarus alone."""
    sources = []
    for number, text in enumerate(texts):
        sources.append(folder / f"file_{number}.sv")
        sources[-1].write_text(text + "\n")
    design = RtlDesign(tuple(sources), "model", dut=packed(program, clock))
    return ConfirmationRequest(program, design, folder / "confirmed", vectors=300, only=("icarus",))


def confirmed(request: ConfirmationRequest) -> Confirmation:
    with prepare(request) as begun:
        return confirm(request, begun)


CLOCK = Clocking("clk", 1, None)
RESET = Clocking("clk", 1, "rst")
#: Designs that earlier versions of the front end read differently from simulators.
WRONG: dict[str, tuple[tuple[str, ...], Clocking | None]] = {
    "a macro of an earlier file": (
        (
            "`define BUGGY",
            f"module model({PINS});\n`ifdef BUGGY\nalways @* model_out = model_inp[3:0] - model_inp[7:4];\n"
            f"`else\nalways @* model_out = {ADDED};\n`endif\nendmodule",
        ),
        None,
    ),
    "a register that becomes constant after reset": (
        (
            f"module model(input clk, input rst, {PINS}); reg ok;\n"
            "always @(posedge clk) if (rst) ok <= 0; else ok <= 1;\n"
            f"always @(posedge clk) model_out <= ok ? {ADDED} : 3;\nendmodule",
        ),
        RESET,
    ),
    "a signed item that is narrower than its subject": (
        (
            f"module model({PINS}); wire signed [7:0] s = model_inp; wire [4:0] sum = {ADDED};\n"
            "always @* casez (s) 4'sb1???: model_out = sum + s[7]; default: model_out = sum; endcase\nendmodule",
        ),
        None,
    ),
    "a static variable": (
        (
            f"module model(input clk, {PINS}); always_ff @(posedge clk) begin static logic [4:0] acc = 0;\n"
            f"acc = acc + {ADDED}; model_out <= acc; end endmodule",
        ),
        CLOCK,
    ),
    "an escaped name beside a hierarchical one": (
        (
            "module inner(input [4:0] a, output [4:0] y); wire [4:0] q = a; assign y = q; endmodule\n"
            f"module model(input clk, {PINS}); reg [4:0] \\u.q ; wire [4:0] y;\n"
            f"inner u(.a({ADDED}), .y(y)); always @(posedge clk) \\u.q <= y + 1;\n"
            "always @* model_out = \\u.q ; endmodule",
        ),
        CLOCK,
    ),
    "both edges": (
        (
            f"module model(input clk, {PINS}); reg [4:0] a;\n"
            f"always @(negedge clk or posedge clk) begin a <= {ADDED}; end\n"
            "always @(negedge clk or posedge clk) begin model_out <= a; end endmodule",
        ),
        Clocking("clk", 2, None),
    ),
    "a block that nothing triggers": (
        (f"module model({PINS}); reg [4:0] k; always @* k = 5'd0; always @* model_out = {ADDED} + k; endmodule",),
        None,
    ),
    "a clock that comes late": (
        (
            f"module model(input clk, {PINS}); reg c2; reg [4:0] a; always @* c2 <= clk;\n"
            f"always @(posedge clk) a <= {ADDED}; always @(posedge c2) model_out <= a; endmodule",
        ),
        Clocking("clk", 2, None),
    ),
    "a delay of a net": (
        (f"module model({PINS}); wire [4:0] #1000000000 sum = {ADDED}; always @* model_out = sum; endmodule",),
        None,
    ),
}


#: One design that was misread, one with a start-up problem, one that only simulators find; the others are similar.
FAST = ("a macro of an earlier file", "a register that becomes constant after reset", "a block that nothing triggers")


class TestSimulators:
    @pytest.mark.parametrize(
        "name", [pytest.param(name, marks=[] if name in FAST else [pytest.mark.slow]) for name in WRONG]
    )
    def test_wrong_rtl_contradicts_the_proof(self, name: str, tmp_path: Path) -> None:
        texts, clock = WRONG[name]
        found = confirmed(asked(tmp_path, *texts, clock=clock))
        assert found.contradicts, found
        verdict, message = found.weigh("all outputs")
        assert verdict is Verdict.UNKNOWN and "dais-verif" in message and "all outputs" in message
        as_recorded(message)

    def test_right_rtl_confirms_it(self, tmp_path: Path) -> None:
        found = confirmed(asked(tmp_path, GOOD))
        assert found.verdict is Verdict.PASS and found.weigh("all outputs") == (Verdict.PASS, "all outputs")
        assert [(one.name, one.vectors_compared) for one in found.simulators] == [("icarus", 300)]

    def test_vectors_that_break_a_promise_are_left_out(self, tmp_path: Path) -> None:
        text = f"module model(input [7:0] model_inp, output [3:0] model_out); assign model_out = {ADDED}; endmodule"
        found = confirmed(asked(tmp_path, text, program=NARROW))
        assert found.verdict is Verdict.PASS
        assert 100 < found.simulators[0].vectors_compared < 300

    def test_a_simulator_that_cannot_build_confirms_nothing(self, tmp_path: Path) -> None:
        found = confirmed(asked(tmp_path, GOOD.replace("always", "this is no Verilog; always")))
        assert found.verdict is Verdict.NOT_RUN and set(found.unconfirmed) == {"icarus"}
        verdict, message = found.weigh("all outputs")
        assert verdict is Verdict.PASS and "all outputs" in message
        as_recorded(message)

    def test_where_icarus_cannot_build_a_large_design_verilator_is_asked(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(confirmation, "_LARGE", 0)
        text = GOOD.replace("always @*", "wire k = model_inp inside {[0:9]}; always @*")
        found = confirmed(replace(asked(tmp_path, text), only=None))
        assert found.verdict is Verdict.PASS and set(found.unconfirmed) == {"icarus"}, found
        assert {one.name: one.vectors_compared for one in found.simulators}["verilator"] == 300

    def test_where_icarus_runs_out_of_time_verilator_is_not_asked(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Verilator is not tried where Icarus runs out of time, since it takes longer for designs that large."""
        monkeypatch.setattr(confirmation, "_LARGE", 0)
        monkeypatch.setattr(confirmation, "_SECONDS", 0.0)
        found = confirmed(replace(asked(tmp_path, GOOD), only=None))
        assert found.verdict is Verdict.NOT_RUN and set(found.unconfirmed) == {"icarus"}, found
        assert "" in found.message
        as_recorded(found.message)

    def test_no_simulator_confirms_nothing(self, tmp_path: Path) -> None:
        assert confirmed(replace(asked(tmp_path, GOOD), only=())).verdict is Verdict.NOT_RUN

    def test_large_designs_are_for_icarus_alone_with_fewer_vectors(self, tmp_path: Path) -> None:
        request = replace(asked(tmp_path, GOOD), only=None)
        assert (request.simulators, request.rows) == (("icarus", "verilator"), 300)
        large = replace(asked(tmp_path, GOOD + "// " + "x" * 5_000_000), only=None)
        assert large.simulators == ("icarus",) and 20 <= large.rows < 300
        larger = replace(asked(tmp_path, GOOD + "// " + "x" * 15_000_000), only=None)
        assert (request.limit, large.limit) == (120.0, 120.0) and larger.limit > 200


def finding(verdict: Verdict, name: str) -> Finding:
    return Finding(verdict, "what it says", [SimulatorResult(name, vectors_compared=7)])


@pytest.mark.parametrize(
    ("icarus", "verilator", "together", "weighed"),
    [
        (Verdict.PASS, Verdict.PASS, Verdict.PASS, Verdict.PASS),
        (Verdict.PASS, Verdict.TOOL_FAILURE, Verdict.PASS, Verdict.PASS),
        (Verdict.TOOL_FAILURE, Verdict.TOOL_FAILURE, Verdict.NOT_RUN, Verdict.PASS),
        (Verdict.RTL_MISMATCH, Verdict.RTL_MISMATCH, Verdict.RTL_MISMATCH, Verdict.UNKNOWN),
        (Verdict.TOOL_FAILURE, Verdict.RTL_MISMATCH, Verdict.RTL_MISMATCH, Verdict.UNKNOWN),
        (Verdict.X_IN_OUTPUT, Verdict.PASS, Verdict.SIMULATORS_DISAGREE, Verdict.UNKNOWN),
        (Verdict.PASS, Verdict.RTL_MISMATCH, Verdict.SIMULATORS_DISAGREE, Verdict.UNKNOWN),
        (Verdict.PASS, Verdict.UNKNOWN, Verdict.UNKNOWN, Verdict.UNKNOWN),
    ],
)
def test_what_two_simulators_say_together(
    icarus: Verdict, verilator: Verdict, together: Verdict, weighed: Verdict
) -> None:
    found = sum_up({"icarus": finding(icarus, "icarus"), "verilator": finding(verilator, "verilator")})
    assert found.verdict is together
    assert found.weigh("proved")[0] is weighed


class TestCommandLine:
    def test_what_is_confirmed_is_in_the_record(self, tmp_path: Path) -> None:
        run = run_prove(SUM, tmp_path, rtl=GOOD, confirm=True)
        assert run.ending == ("PASS", 0)
        assert run.tree["confirmation"]["verdict"] == "PASS"
        ran = {one["name"]: one["vectors_compared"] for one in run.tree["confirmation"]["simulators"]}
        assert ran == {"icarus": 1000, "verilator": 1000}

    def test_left_out(self, tmp_path: Path) -> None:
        assert run_prove(SUM, tmp_path, rtl=GOOD).tree["confirmation"] is None

    def test_our_own_rtl_is_not_simulated(self, tmp_path: Path) -> None:
        assert run_prove(SUM, tmp_path, confirm=True).tree["confirmation"] is None

    def test_a_prover_that_believes_anything_does_not_pass(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def believes(task: ProofTask) -> Any:
            claim = Claim(output=0, status=Status.PROVED, method=Method.IDENTICAL)
            return Proof(Verdict.PASS, "all 1 outputs", [], [claim], [], 0, False, False), packed(task.program)

        monkeypatch.setattr(confirming, "prove_design", believes)
        monkeypatch.setattr(confirming.ConfirmationRequest, "simulators", ("icarus",))
        run = run_prove(SUM, tmp_path, rtl=GOOD.replace("+", "-"), confirm=True)
        assert run.ending == ("UNKNOWN", 6)
        assert "(RTL_MISMATCH, icarus: " in run.tree["message"]
        as_recorded(run.tree["message"])
        assert run.tree["confirmation"]["first_mismatch"]["output"] == 0
        assert (tmp_path / "out" / "confirmation" / "icarus").is_dir()


@pytest.mark.parametrize(
    ("ports", "body"),
    [
        (
            "input rst, input in_valid, output reg out_valid",
            f"begin model_out <= {ADDED}; if (!rst) out_valid <= 0; else out_valid <= in_valid; end",
        ),
        ("input rst", f"if (!rst) model_out <= 0; else model_out <= {ADDED};"),
        ("input in_valid", f"if (in_valid) model_out <= {ADDED};"),
    ],
    ids=["a reset of valid bits only", "a reset of data", "an enable by the name of a valid bit"],
)
def test_pins_that_nobody_named_are_driven_as_the_proof_found_them(ports: str, body: str, tmp_path: Path) -> None:
    """Pins that the user did not name are driven with the level and meaning that the proof found.

    By itself, the request does not know at which level ``rst`` resets registers that hold no data, nor whether
    ``in_valid`` is a valid bit.
    """
    text = f"module model(input clk, {ports}, {PINS}); always @(posedge clk) {body} endmodule"
    request = asked(tmp_path, text)
    netlist = slang.elaborate(request.design.sources, "model", {})
    proof = prove(SUM, netlist, packed(SUM), ProofOptions(jobs=1))
    assert proof.verdict is Verdict.PASS, proof.message
    design = replace(request.design, dut=with_found_pins(packed(SUM), proof))
    assert confirmed(replace(request, design=design)).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("seconds", "rtl", "verdict", "vectors"),
    [
        (0.0, GOOD, Verdict.PASS, 20),
        (1e6, GOOD, Verdict.PASS, 300),
        (1e6, GOOD.replace("+", "-"), Verdict.RTL_MISMATCH, 20),
    ],
    ids=["few", "all", "wrong"],
)
def test_slow_logic_is_confirmed_with_what_icarus_runs_in_time(
    seconds: float, rtl: str, verdict: Verdict, vectors: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confirmation, "_WORTH_A_TRIAL", 0)
    monkeypatch.setattr(confirmation, "_ICARUS_SECONDS", seconds)
    found = confirmed(asked(tmp_path, rtl))
    assert (found.verdict, found.simulators[0].vectors_compared) == (verdict, vectors), found.message


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("seconds", "rtl", "verdict", "vectors"),
    [
        (0.0, GOOD, Verdict.PASS, 2),
        (1e6, GOOD, Verdict.PASS, 300),
        (0.0, GOOD.replace("+", "-"), Verdict.RTL_MISMATCH, 2),
    ],
    ids=["few", "all", "wrong"],
)
def test_large_rtl_is_tried_with_two_vectors(
    seconds: float, rtl: str, verdict: Verdict, vectors: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confirmation, "_LARGE", 0)
    monkeypatch.setattr(confirmation, "_WORTH_A_TRIAL", 0)
    monkeypatch.setattr(confirmation, "_ICARUS_SECONDS", seconds)
    found = confirmed(replace(asked(tmp_path, rtl), timeout=1e6))
    assert (found.verdict, found.simulators[0].vectors_compared) == (verdict, vectors), found.message


def test_a_trial_that_leaves_no_time_for_another_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confirmation, "_LARGE", 0)
    monkeypatch.setattr(confirmation, "_WORTH_A_TRIAL", 0)
    monkeypatch.setattr(confirmation, "_TRIED", 1)
    monkeypatch.setattr(confirmation, "_timed", lambda run: (run(), 7.0))
    found = confirmed(asked(tmp_path, GOOD))
    assert (found.verdict, found.simulators[0].vectors_compared) == (Verdict.PASS, 1), found.message


@pytest.mark.parametrize("declared", [True, False])
def test_vectors_are_within_the_declared_intervals_or_within_the_types(declared: bool, tmp_path: Path) -> None:
    program = replace(SUM, intervals=((2, 5), (0, 1), (2, 6)))
    request = replace(asked(tmp_path, GOOD, program=program), declared=declared)
    batch = confirmation._vectors(request)
    (sums,) = Golden(program).run_raw(batch, check=False)
    assert len(sums) == batch.rows > 100
    assert set((sums <= 6).tolist()) == ({True} if declared else {True, False})
