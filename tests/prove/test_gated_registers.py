"""Registers that load only valid vectors are proved if each is enabled by the valid bit of its own stage."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from prove.door import Run, run_prove
from prove.reading import needs_yosys
from support.door import run_sim
from support.gated_registers import LINE, PINS, STALLED, WITH_ENABLE, tied
from support.register_program import PROGRAM
from support.said import as_recorded

from dais_verif.spec.program import Program

BOTH = pytest.param("both", marks=[needs_yosys, pytest.mark.slow])
HEAD = """module model (input clk, input rst, input en, input in_valid, output out_valid,
              input [7:0] model_inp, output [17:0] model_out);
  wire signed [7:0] x = model_inp;
  wire signed [8:0] sum = x + 4'sd3;
  reg signed [8:0] a, c;
  reg signed [17:0] b;
  reg v1, v2;
  assign model_out = b;
"""

#: name: body, options.
RIGHT: dict[str, tuple[str, tuple[str, ...]]] = {
    "each stage by its own bit": (
        LINE + "always @(posedge clk) begin if (in_valid) a <= sum; if (v1) b <= a * a; end",
        PINS,
    ),
    "the first stage only": (LINE + "always @(posedge clk) begin if (in_valid) a <= sum; b <= a * a; end", PINS),
    "and a reset": (
        LINE + "always @(posedge clk) if (rst) begin a <= 0; b <= 0; end"
        " else begin if (in_valid) a <= sum; if (v1) b <= a * a; end",
        PINS,
    ),
    "and an enable": (
        STALLED + "always @(posedge clk) if (en) begin if (in_valid) a <= sum; if (v1) b <= a * a; end",
        WITH_ENABLE,
    ),
    "an enable in one name with the bit": (
        STALLED + "wire go1 = en & in_valid, go2 = v1 && en;"
        " always @(posedge clk) begin if (go1) a <= sum; if (go2) b <= a * a; end",
        WITH_ENABLE,
    ),
    "zero unless valid": (
        LINE + "always @(posedge clk) begin a <= in_valid ? sum : 0; b <= v1 ? a * a : 0; end",
        PINS,
    ),
    "bits in a vector": (
        "reg [1:0] v; always @(posedge clk) if (rst) v <= 0; else v <= {v[0], in_valid}; assign out_valid = v[1];"
        " always @(posedge clk) begin if (in_valid) a <= sum; if (v[0]) b <= a * a; end",
        PINS,
    ),
    "the next value has a name": (
        LINE + "wire [17:0] next = v1 ? a * a : b; always @(posedge clk) begin if (in_valid) a <= sum; b <= next; end",
        PINS,
    ),
    "halves by themselves": (
        LINE + "wire [17:0] p = a * a; always @(posedge clk) begin if (in_valid) a <= sum;"
        " if (v1) b[8:0] <= p[8:0]; if (v1) b[17:9] <= p[17:9]; end",
        PINS,
    ),
}

#: The same designs with mistakes that a bubble or a stall shows.
WRONG: dict[str, tuple[str, tuple[str, ...]]] = {
    "the second stage by the first one's bit": (
        LINE + "always @(posedge clk) begin if (in_valid) a <= sum; if (in_valid) b <= a * a; end",
        PINS,
    ),
    "the first stage by the second one's bit": (
        LINE + "always @(posedge clk) begin if (v1) a <= sum; if (v1) b <= a * a; end",
        PINS,
    ),
    "by the last bit": (LINE + "always @(posedge clk) begin a <= sum; if (v2) b <= a * a; end", PINS),
    "zero unless another is valid": (
        LINE + "always @(posedge clk) begin a <= sum; b <= in_valid ? a * a : 0; end",
        PINS,
    ),
    "by either bit": (LINE + "always @(posedge clk) begin a <= sum; if (v1 & in_valid) b <= a * a; end", PINS),
    "the enable forgotten": (
        STALLED + "always @(posedge clk) begin if (en & in_valid) a <= sum; if (v1) b <= a * a; end",
        WITH_ENABLE,
    ),
}


def proved(body: str, folder: Path, *options: str) -> Run:
    return run_prove(PROGRAM, folder, *options, rtl=f"{HEAD}  {body}\nendmodule\n")


@pytest.mark.parametrize("front_end", ["slang", BOTH])
@pytest.mark.parametrize("name", RIGHT)
def test_right(name: str, front_end: str, tmp_path: Path) -> None:
    body, options = RIGHT[name]
    run = proved(body, tmp_path, *options, "--front-end", front_end, *tied(options, tmp_path))
    assert run.ending == ("PASS", 0), (run.tree["message"], run.stderr)
    assert run.tree["timing"] == {"latency": 2, "clock": "clk", "enable": "en" if options is WITH_ENABLE else None}


@pytest.mark.slow
@pytest.mark.parametrize("name", RIGHT)
def test_a_simulator_agrees(name: str, tmp_path: Path) -> None:
    body, options = RIGHT[name]
    more = (*options, *tied(options, tmp_path), "--vectors", 400)
    run = run_sim(PROGRAM, tmp_path, *more, rtl=f"{HEAD}  {body}\nendmodule\n")
    assert run.ending == ("PASS", 0), run.record["message"]


def test_beside_an_input_without_bits(tmp_path: Path) -> None:
    rows = [(-1, 0, -1, 0, (1, 7, 0)), (4, 0, -1, 3, (1, 8, 0)), (7, 1, 1, 0, (1, 17, 0)), (-1, 1, -1, 0, (0, 0, 0))]
    program = Program.build(rows, [(2, 0, 0)], inp_shift=[0, 0])
    body, options = RIGHT["each stage by its own bit"]
    more = (*options, *tied(options, tmp_path))
    run = run_prove(program, tmp_path, *more, rtl=f"{HEAD}  {body}\nendmodule\n")
    assert run.ending == ("PASS", 0), (run.tree["message"], run.stderr)


@pytest.mark.few(2)
@pytest.mark.parametrize("front_end", ["slang", BOTH])
@pytest.mark.parametrize("name", WRONG)
def test_wrong_is_seen_in_a_simulator(name: str, front_end: str, tmp_path: Path) -> None:
    body, options = WRONG[name]
    run = proved(body, tmp_path, *options, "--front-end", front_end, *tied(options, tmp_path))
    assert run.ending == ("RTL_MISMATCH", 1), (run.tree["message"], run.stderr)
    assert "; icarus: " in run.tree["message"]


@pytest.mark.parametrize(
    "body",
    [
        "always @(posedge clk) begin if (x[0]) a <= sum; b <= a * a; end",
        "reg odd; always @(posedge clk) odd <= x[0]; always @(posedge clk) begin a <= sum; if (odd) b <= a * a; end",
        "always @(posedge clk) begin a <= sum; if (v1 ^ x[0]) b <= a * a; end",
    ],
    ids=["a bit of data", "a bit of data, as old", "a bit of both"],
)
def test_a_gate_that_data_open_is_state(body: str, tmp_path: Path) -> None:
    run = proved(LINE + body, tmp_path, *PINS, *tied(PINS, tmp_path))
    assert run.ending == ("INVALID_INPUT", 2)
    as_recorded(run.tree["message"])


@pytest.mark.parametrize("ports", ["input rst, input en, input in_valid", "input in_valid, input en, input rst"])
@pytest.mark.parametrize("forms", [RIGHT, WRONG], ids=["right", "wrong"])
def test_without_the_names_of_pins_it_is_proved_for_vectors_without_bubbles(
    forms: dict[str, Any], ports: str, tmp_path: Path
) -> None:
    """Reset and valid bit, which have the same effect on the first valid register, are held in either order."""
    body, _ = next(iter(forms.values()))
    head = HEAD.replace("input rst, input en, input in_valid", ports)
    run = run_prove(PROGRAM, tmp_path, rtl=f"{head}  {body}\nendmodule\n")
    assert run.ending == ("PASS", 0), (run.tree["message"], run.stderr)
    assert "in_valid held at 1" in run.tree["message"] and "rst held at 0" in run.tree["message"]


def random_pipeline(rng: random.Random, stalled: bool) -> str:
    """Return two stages and a chain of valid bits, each mostly correct."""

    def register(target: str, value: str, own: str) -> str:
        likely = rng.random() < 0.75
        gate = rng.choice(
            ("", own, own) if likely else ("in_valid", "v1", "v2", "en", "!rst", "v1 | in_valid", "v1 & x[0]")
        )
        if stalled and rng.random() < 0.8:
            gate = f"en & ({gate})" if gate else "en"
        text = f"{target} <= {value};"
        if rng.random() < 0.05:
            text = f"{target} <= {rng.choice(['in_valid', 'v1', 'v2', 'rst'])} ? {value} : {rng.choice(['0', target])};"
        if gate:
            text = f"if ({gate}) {text}"
        if rng.random() < 0.2:
            text = f"if (rst) {target} <= 0; else begin {text} end"
        return f"always @(posedge clk) {text}\n"

    step = "{v2, v1} <= {v1, in_valid};" if rng.random() < 0.8 else "{v2, v1} <= {v1, in_valid & en};"
    if stalled:
        step = f"if (en) {step}"
    if rng.random() < 0.8:
        step = f"if (rst) {{v2, v1}} <= 0; else {step}"
    line = f"always @(posedge clk) {step}\nassign out_valid = v2;\n"
    return line + register("a", "sum", "in_valid") + register("b", "a * a", "v1")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_of_random_pipelines_only_those_are_proved_that_simulate_right(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    verdicts: Counter[str] = Counter()
    for number in range(30):
        stalled = rng.random() < 0.5
        body, folder = random_pipeline(rng, stalled), tmp_path / str(number)
        options = WITH_ENABLE if stalled else PINS
        more = (*options, *tied(options, folder))
        verdict = proved(body, folder, *more).tree["verdict"]
        verdicts[verdict] += 1
        if verdict == "PASS":
            run = run_sim(PROGRAM, folder / "sim", *more, "--vectors", 300, rtl=f"{HEAD}  {body}\nendmodule\n")
            assert run.ending == ("PASS", 0), (body, run.record["message"])
    assert set(verdicts) <= {"PASS", "RTL_MISMATCH", "INVALID_INPUT"}
    assert verdicts["PASS"] >= 5 and verdicts["RTL_MISMATCH"] >= 5
