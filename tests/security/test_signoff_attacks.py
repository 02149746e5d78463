"""RTL and policies that a sign-off must not be talked round by."""

from __future__ import annotations

from pathlib import Path

import pytest
from quality.signing import DESIGN, GIVEN, QUICK, Ending, project, sign

from dais_verif.emit import emit_verilog

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
