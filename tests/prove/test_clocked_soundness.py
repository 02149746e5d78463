"""Random clocked designs that are proved never differ in simulation, and wrong answers of a prover are detected.

A few designs are tested here, some more in the slow tests; ``make soundness`` takes thousands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from prove.soundness import clocked
from prove.soundness.clocked import PROVED, REFUTED, exceptions, judge, reasons, table
from prove.soundness.clocked_designs import MISTAKES, ClockedDesign, random_clocked_design
from prove.soundness.decorations import DECORATIONS
from prove.soundness.register_styles import STYLES
from prove.soundness.streams import Stream, simulate
from prove.soundness.tasks import TASKS
from prove.soundness.valid_lines import FORMS

from dais_verif.base.verdict import Verdict
from dais_verif.hardware.ports.interface import Clocking
from dais_verif.prover import proof as proofs
from dais_verif.prover.clocked.registers import latency as latency_analysis
from dais_verif.record.proof import Counterexample

PROGRAMS = {name: task.program for name, task in TASKS.items()}
PINS = Clocking("clk", 2, "rst", False, "en", "in_valid", "out_valid")


def handmade(body: str, name: str = "d0") -> str:
    return f"""
module {name} (input clk, input rst, input en, input in_valid, output out_valid, input [7:0] model_inp,
               output [4:0] model_out);
  reg [4:0] a, b; reg v1, v2; reg [9:0] n = 0;
  wire [4:0] s = model_inp[3:0] + model_inp[7:4];
  {body}
endmodule
"""


VALID = "always @(posedge clk) if (rst) {v2, v1} <= 0; else if (en) {v2, v1} <= {v1, in_valid};"
DATA = "always @(posedge clk) if (en) begin a <= s; b <= a; end"
OUT = "assign model_out = b; assign out_valid = v2;"
RIGHT = f"{VALID} {DATA} {OUT}"

#: Each is wrong at some edges only.
WRONG = {
    "a stall": RIGHT.replace("if (en) begin a <= s; b <= a; end", "begin if (en) a <= s; b <= a; end"),
    "a bubble": RIGHT.replace("b <= a;", "if (in_valid) b <= a;"),
    "a reset": RIGHT.replace("if (rst) {v2, v1} <= 0; else ", ""),
    "the first vectors": RIGHT.replace("b <= a;", "if (n > 3) b <= a;")
    + " always @(posedge clk) if (rst) n <= 0; else if (~&n) n <= n + 1;",
    "many edges": RIGHT.replace("b <= a;", "b <= n == 400 ? 0 : a;")
    + " always @(posedge clk) if (rst) n <= 0; else n <= n + 1;",
    "valid too early": RIGHT.replace("out_valid = v2", "out_valid = v1"),
    "valid in a stall": RIGHT.replace("out_valid = v2", "out_valid = v2 & en"),
    "a latency": RIGHT.replace("model_out = b", "model_out = a"),
    "one vector": RIGHT.replace("b <= a;", "b <= a == 29 ? 0 : a;"),
    "never reset": RIGHT.replace("b <= a;", "b <= n[9] ? 0 : a;")
    + " always @(posedge clk) if (&model_inp) n <= -1; else if (n != 0 && !n[9]) n <= n;",
}


def simulated(bodies: Mapping[str, str], folder: Path, simulator: str, cycles: int = 4000) -> dict[str, str]:
    streams = [
        Stream(f"d{n}", {f"d{n}.sv": handmade(body, f"d{n}")}, "sum", PINS, {})
        for n, body in enumerate(bodies.values())
    ]
    seen = simulate(streams, PROGRAMS, cycles, 1, folder, [simulator])
    assert all(one.ran == (simulator,) for one in seen)
    return dict(zip(bodies, (one.wrong.get(simulator, "") for one in seen), strict=True))


@pytest.mark.parametrize("simulator", ["icarus", pytest.param("verilator", marks=pytest.mark.slow)])
def test_every_mistake_in_time_is_seen(simulator: str, tmp_path: Path) -> None:
    found = simulated({"right": RIGHT, **WRONG}, tmp_path, simulator)
    assert [name for name, said in found.items() if not said] == ["right"], found


def test_a_design_that_does_not_compile_leaves_the_others(tmp_path: Path) -> None:
    streams = [
        Stream(f"d{n}", {f"d{n}.sv": handmade(body, f"d{n}")}, "sum", PINS, {})
        for n, body in enumerate((RIGHT, RIGHT + " no Verilog", WRONG["a bubble"]))
    ]
    seen = simulate(streams, PROGRAMS, 500, 1, tmp_path, ["icarus"])
    assert [(one.ran, bool(one.wrong)) for one in seen] == [(("icarus",), False), ((), False), (("icarus",), True)]


def test_designs_are_the_same_for_the_same_seed_and_of_all_kinds() -> None:
    assert random_clocked_design(7) == random_clocked_design(7)
    designs = [random_clocked_design(seed) for seed in range(800)]
    features = {feature for design in designs for feature in design.features}
    assert features >= {*STYLES, *DECORATIONS, *(f"valid bits: {form}" for form in FORMS)}
    assert {design.mistake for design in designs} == {"", *MISTAKES}
    assert len({text for design in designs for text in design.files.values()}) == len(designs)


def test_a_few_designs(tmp_path: Path) -> None:
    designs = [random_clocked_design(seed) for seed in range(100, 135)]
    records = judge(designs, 1000, tmp_path, simulators=["icarus"])
    records = {name: record for name, record in records.items() if record["ran"]}  # Icarus does not accept them all
    assert exceptions(records) == []
    said = Counter(record["status"] for record in records.values())
    assert said[PROVED] >= 8 and said[REFUTED] >= 2, said
    assert len(table(records)) == 6 and reasons(records, right=False)


@pytest.mark.slow
@pytest.mark.parametrize("front_end", ["slang", "yosys"])
def test_more_designs(front_end: str, tmp_path: Path) -> None:
    first = {"slang": 10_000, "yosys": 11_000}[front_end]
    designs = [random_clocked_design(seed) for seed in range(first, first + 100)]
    records = judge(designs, 4000, tmp_path, front_end)
    assert exceptions(records) == []
    assert Counter(record["status"] for record in records.values())[PROVED] >= 12


class TestWrongAnswers:
    """A prover that gives a wrong answer is detected."""

    def records(self, body: str, folder: Path, latency: int = 2) -> dict[str, dict[str, Any]]:
        pins = Clocking("clk", latency, "rst", False, "en", "in_valid", "out_valid")
        design = ClockedDesign("d0", {"d0.sv": handmade(body)}, "sum", pins, True, (), "")
        return judge([design], 1500, folder, simulators=["icarus"])

    def test_the_right_answer(self, tmp_path: Path) -> None:
        records = self.records(RIGHT, tmp_path)
        assert records["d0"]["status"] == PROVED and exceptions(records) == []

    @pytest.mark.parametrize("name", WRONG)
    def test_a_prover_that_believes_everything(
        self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        right, pass_of = clocked.answer, self.proof(tmp_path)
        monkeypatch.setattr(clocked, "answer", lambda *said: ({**right(*said)[0], "status": PROVED}, pass_of))
        (said,) = exceptions(self.records(WRONG[name], tmp_path))
        assert "proved, and wrong" in said

    def proof(self, folder: Path) -> Any:
        design = ClockedDesign("d0", {"d0.sv": handmade(RIGHT)}, "sum", PINS, True, (), "")
        return clocked.answer(design, PROGRAMS["sum"], "slang", folder / "right")[1]

    def test_a_prover_that_lets_constants_settle_late(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        body = RIGHT.replace("b <= a;", "b <= n[2] ? a : 0;") + (
            " always @(posedge clk) if (rst) n <= 0; else n <= {n, 1'b1};"
        )
        assert self.records(body, tmp_path)["d0"]["status"] == "refused"
        believed = latency_analysis._Latency
        monkeypatch.setattr(latency_analysis, "_Latency", lambda vector, settles=0: believed(vector, 0))
        monkeypatch.setattr(proofs, "refuse_first_values", lambda *said: None)  # this check would notice, too
        records = self.records(body, tmp_path / "again")
        assert records["d0"]["status"] == PROVED and len(exceptions(records)) == 1

    def test_a_refutation_of_what_is_right(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:

        wrong = replace(
            self.proof(tmp_path), verdict=Verdict.RTL_MISMATCH, counterexample=Counterexample(("3", "4"), 0)
        )
        monkeypatch.setattr(clocked, "prove", lambda *said: wrong)
        (said,) = exceptions(self.records(RIGHT, tmp_path))
        assert "refuted, and right in simulation" in said

    def test_a_traceback(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(clocked, "prove", lambda *said: 1 // 0)
        assert "ZeroDivisionError" in exceptions(self.records(RIGHT, tmp_path))[0]
