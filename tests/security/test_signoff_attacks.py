"""RTL and policies that a sign-off must not be talked round by."""

from __future__ import annotations

from pathlib import Path

import pytest
from quality.signing import DESIGN, GIVEN, QUICK, Ending, project, sign, verify

from dais_verif.emit import emit_verilog
from dais_verif.signoff.certificate import CERTIFICATE, SIGNATURE

OPTIONAL = QUICK.replace('proof = "off"', 'proof = "optional"')
WAIVED = '[[waivers]]\nwhat = "proof"\nreason = "trust me"\nexpires = 2099-12-31\n'

WIDTH = sum(kind.width for kind in DESIGN.output_types)
SIZE = f"[{WIDTH - 1}:0]"


def around(body: str) -> str:
    """Our RTL in a module with ``body`` between its outputs, ``o``, and those of the design."""
    inner = emit_verilog(DESIGN).replace("module model", "module inner", 1)
    ports = f"(input wire [11:0] model_inp, output wire {SIZE} model_out)"
    wires = f"wire {SIZE} o; inner i (.model_inp(model_inp), .model_out(o));"
    return f"{inner}\nmodule model {ports};\n{wires}\n{body}\nendmodule\n"


def problem(ending: Ending) -> str:
    assert (ending.verdict, ending.exit_code) == ("NOT_SIGNED_OFF", 7)
    return str(ending.tree["message"])


# an earlier certificate


@pytest.mark.parametrize("why", ["policy", "program"])
def test_an_earlier_certificate_goes_also_where_nothing_is_run(why: str, tmp_path: Path) -> None:
    folder = project(tmp_path, QUICK)
    (folder / "out").mkdir()
    for name in (CERTIFICATE, SIGNATURE):
        (folder / "out" / name).write_text("{}")
    if why == "policy":
        (folder / "policy.toml").write_text("vectors = -1\n")
    else:
        (folder / "prog.bin").write_bytes(b"1234")
    ending = sign(folder)
    assert (ending.verdict, ending.exit_code) == ("INVALID_INPUT", 2)
    assert not [path.name for path in (folder / "out").iterdir() if path.name.startswith(CERTIFICATE)]


# modules that are no part of what is signed off


def test_a_module_above_the_top_and_one_beside_are_ignored_and_said(tmp_path: Path) -> None:
    """As in the file lists of generators: a wrapper, and modules of a library."""
    more = f"\nmodule wrapper (input wire [11:0] a, output wire {SIZE} b); model m (a, b); endmodule\n"
    folder = project(tmp_path, QUICK + GIVEN, emit_verilog(DESIGN) + more + "module spare; endmodule\n")
    ending = sign(folder)
    assert ending.exit_code == 0, ending.tree["message"]
    assert "ignored, being no part of model: spare, wrapper" in ending.tree["warnings"]
    assert verify(folder).findings == []


def test_a_failed_first_stage_ends_the_run(tmp_path: Path) -> None:
    folder = project(tmp_path, QUICK + GIVEN + 'top = "chip"\n')
    ending = sign(folder)
    assert problem(ending) == "rtl: no module chip in the RTL; it holds model: name the right [rtl] top"
    assert {stage["verdict"] for stage in ending.tree["stages"][1:]} == {"NOT_RUN"}
    assert not (folder / "out" / "evidence" / "simulation-0").exists()


# what the prover knows is never put up with

#: Right on every vector of any simulation, and no function of the inputs.
TRUE = "(model_inp * model_inp & 12'd3) != 12'd3"
STATEFUL = {
    "time": "assign model_out = $time > 64'd1000000000000 ? 0 : o;",
    "a latch": f"reg {SIZE} q; always @* if ({TRUE}) q = o; assign model_out = q;",
    "a counter without a clock": "reg [31:0] n = 0; always @(posedge model_inp[0]) n = n + 1;"
    "\nassign model_out = &n ? 0 : o;",
    "a loop": f"wire {SIZE} q; assign q = {TRUE} ? o : q; assign model_out = q;",
    "a static function": f"function {SIZE} f(input {SIZE} x); if ((x * x & 3) != 3) f = x; endfunction"
    "\nassign model_out = f(o);",
}


@pytest.mark.parametrize(
    "name", ["time", *(pytest.param(name, marks=pytest.mark.slow) for name in STATEFUL if name != "time")]
)
def test_state_without_a_clock_is_excused_by_no_option(name: str, tmp_path: Path) -> None:
    folder = project(tmp_path, OPTIONAL + GIVEN + WAIVED, around(STATEFUL[name]))
    ending = sign(folder)
    assert problem(ending).startswith("proof:")
    stage = ending.stage("proof")
    assert (stage["optional"], stage["waived"], stage["passed"]) == (False, False, False)
