"""RTL and policies that must not lead to a sign-off."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.said import as_recorded
from support.signing import DESIGN, GIVEN, QUICK, Ending, project, sign, verify

from dais_verif.doors.cli import main
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.signoff.certificate import CERTIFICATE, SIGNATURE

OPTIONAL = QUICK.replace('proof = "off"', 'proof = "optional"')
WAIVED = '[[waivers]]\nwhat = "proof"\nreason = "trust me"\nexpires = 2099-12-31\n'

WIDTH = sum(kind.width for kind in DESIGN.output_types)
SIZE = f"[{WIDTH - 1}:0]"


def around(body: str) -> str:
    """Return our RTL as an instance with the outputs ``o`` in a module with ``body``, which drives model_out."""
    inner = emit_verilog(DESIGN).replace("module model", "module inner", 1)
    ports = f"(input wire [11:0] model_inp, output wire {SIZE} model_out)"
    wires = f"wire {SIZE} o; inner i (.model_inp(model_inp), .model_out(o));"
    return f"{inner}\nmodule model {ports};\n{wires}\n{body}\nendmodule\n"


def problem(ending: Ending) -> str:
    assert (ending.verdict, ending.exit_code) == ("NOT_SIGNED_OFF", 7)
    return str(ending.tree["message"])


# an earlier certificate

#: Enough to recognise a certificate by, whatever its other contents.
EARLIER = '{"schema": "dais-verif/certificate/1"}'


@pytest.mark.parametrize("why", ["policy", "program"])
def test_an_earlier_certificate_goes_also_where_nothing_is_run(why: str, tmp_path: Path) -> None:
    folder = project(tmp_path, QUICK)
    (folder / "out").mkdir()
    for name in (CERTIFICATE, SIGNATURE):
        (folder / "out" / name).write_text(EARLIER)
    if why == "policy":
        (folder / "policy.toml").write_text("vectors = -1\n")
    else:
        (folder / "prog.bin").write_bytes(b"1234")
    ending = sign(folder)
    assert (ending.verdict, ending.exit_code) == ("INVALID_INPUT", 2)
    assert not [path.name for path in (folder / "out").iterdir() if path.name.startswith(CERTIFICATE)]


@pytest.mark.parametrize("options", [("--no-such-option",), ("--seed", "-1"), ("--policy",), ("one", "two")])
def test_an_earlier_certificate_goes_also_where_the_command_line_is_wrong(
    options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project(tmp_path, QUICK)
    monkeypatch.chdir(folder)
    for name, words in (("out", ("-o", "out")), ("out", ("--output=out",)), ("out", ("-oout",)), ("signoff-prog", ())):
        (folder / name).mkdir(exist_ok=True)
        for file in (CERTIFICATE, SIGNATURE):
            (folder / name / file).write_text(EARLIER)
        assert main._run(["signoff", "prog.bin", *words, *options]) == 2
        assert not [path.name for path in (folder / name).iterdir() if path.name.startswith(CERTIFICATE)]


# modules outside the signed-off hierarchy


def test_a_module_above_the_top_and_one_beside_are_ignored_and_said(tmp_path: Path) -> None:
    """Modules that the top does not use, a wrapper and library modules as in generated file lists, are reported."""
    more = f"\nmodule wrapper (input wire [11:0] a, output wire {SIZE} b); model m (a, b); endmodule\n"
    folder = project(tmp_path, QUICK + GIVEN, emit_verilog(DESIGN) + more + "module spare; endmodule\n")
    ending = sign(folder)
    assert ending.exit_code == 0, ending.tree["message"]
    (warning,) = ending.tree["warnings"]
    assert "model: spare, wrapper" in warning
    as_recorded(warning)
    assert verify(folder).findings == []


def test_a_failed_first_stage_ends_the_run(tmp_path: Path) -> None:
    folder = project(tmp_path, QUICK + GIVEN + 'top = "chip"\n')
    ending = sign(folder)
    as_recorded(problem(ending))
    assert {stage["verdict"] for stage in ending.tree["stages"][1:]} == {"NOT_RUN"}
    assert not (folder / "out" / "evidence" / "simulation-0").exists()


# RTL that synthesis interprets differently

#: RTL that is right in every simulator and wrong in hardware.
OTHERWISE = {
    "SYNTHESIS": "`ifdef SYNTHESIS\nassign model_out = ~o;\n`else\nassign model_out = o;\n`endif",
    "YOSYS": "`ifndef YOSYS\nassign model_out = o;\n`else\nassign model_out = ~o;\n`endif",
    "ALTERA": "`ifdef ALTERA_RESERVED_QIS\nassign model_out = ~o;\n`else\nassign model_out = o;\n`endif",
    "translate_off": f"wire {SIZE} n = o\n// synopsys translate_off\n;wire {SIZE} unused = o\n// synopsys translate_on"
    "\n + 1;\nassign model_out = n;",
    "pragma": f"reg {SIZE} q; always @* begin q = ~o;\n//pragma translate_off\nq = o;\n//pragma translate_on\nend"
    "\nassign model_out = q;",
    "full_case": f"reg {SIZE} q; always @* begin q = o; case (model_inp[0]) // synopsys full_case\n"
    "1'b1: q = o; endcase end\nassign model_out = q;",
    "parallel_case": f"reg {SIZE} q; always @* (* parallel_case *) case (1'b1)\nmodel_inp[0]: q = o;\n"
    "1'b1: q = o + 0;\nmodel_inp[1]: q = ~o;\ndefault: q = o; endcase\nassign model_out = q;",
    "priority": f"reg {SIZE} q; always @* begin q = o; priority case (model_inp[0])\n1'b1: q = o; endcase end\n"
    "assign model_out = q;",
    "unique": f"reg {SIZE} q; always @* begin q = o; unique case (model_inp[0])\n1'b1: q = o; endcase end\n"
    "assign model_out = q;",
    "no blank": f"reg {SIZE} q; always @* begin q = ~o;\n//synthesistranslate_off\nq = o;\n//synthesistranslate_on\nend"
    "\nassign model_out = q;",
    "two marks": f"reg {SIZE} q; always @* begin q=~o;\n// synthesis translate_off\n// exemplar translate_on\nq = o;\n"
    "// synthesis translate_on\nend\nassign model_out = q;",
    "escaped": f"reg {SIZE} q; always @* begin q = o; (* \\full_case *) case (model_inp[0])\n1'b1: q = o; endcase end\n"
    "assign model_out = q;",
    "read_comments": "assign model_out = o;\n// synthesis read_comments_as_HDL on\n// wire x;",
}


@pytest.mark.parametrize(
    "name", ["SYNTHESIS", *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERWISE if name != "SYNTHESIS")]
)
def test_rtl_that_synthesizes_otherwise_is_refused(name: str, tmp_path: Path) -> None:
    folder = project(tmp_path, QUICK + GIVEN, around(OTHERWISE[name]))
    ending = sign(folder)
    assert problem(ending).startswith("synthesis"), ending.tree["message"]
    assert ending.stage("simulation, seed 0")["passed"]


@pytest.mark.slow
def test_rtl_that_is_right_both_ways_is_signed_off_and_says_so(tmp_path: Path) -> None:
    text = around("`ifdef SYNTHESIS\nassign model_out = o + 0;\n`else\nassign model_out = o;\n`endif")
    folder = project(tmp_path, QUICK + GIVEN, text)
    ending = sign(folder)
    assert ending.exit_code == 0, ending.tree["message"]
    assert ending.stage("synthesis, SYNTHESIS")["verdict"] == "PASS"
    certificate = json.loads((folder / "out" / CERTIFICATE).read_bytes())
    assert "synthesis, SYNTHESIS" in [stage["name"] for stage in certificate["stages"]]
    assert verify(folder).findings == []


@pytest.mark.slow
def test_a_policy_may_refuse_it_at_once(tmp_path: Path) -> None:
    folder = project(tmp_path, 'synthesis = "refused"\n' + QUICK + GIVEN, around(OTHERWISE["SYNTHESIS"]))
    assert "design.v asks for SYNTHESIS" in problem(sign(folder))


@pytest.mark.slow
def test_a_case_that_is_full_is_proved_by_both_front_ends(tmp_path: Path) -> None:
    text = around(
        f"reg {SIZE} q; always @* case (model_inp[0]) // synopsys full_case\n"
        "1'b1: q = o; default: q = o + 0; endcase\nassign model_out = q;"
    )
    folder = project(tmp_path, QUICK + GIVEN, text)
    ending = sign(folder)
    assert ending.exit_code == 0, ending.tree["message"]
    assert verify(folder).findings == []


@pytest.mark.slow
def test_a_waiver_stands_in_for_it(tmp_path: Path) -> None:
    waived = '[[waivers]]\nwhat = "synthesis"\nreason = "a model of a memory"\nexpires = 2099-12-31\n'
    folder = project(tmp_path, 'synthesis = "refused"\n' + QUICK + GIVEN + waived, around(OTHERWISE["translate_off"]))
    ending = sign(folder)
    assert ending.exit_code == 0, ending.tree["message"]
    assert ending.stage("synthesis")["waived"]


# refusals of the prover that nothing can waive

#: Always true, so the RTL is right in any simulation, but its outputs are not a function of its inputs.
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
    folder = project(tmp_path, 'allowed = ["$time"]\n' + OPTIONAL + GIVEN + WAIVED, around(STATEFUL[name]))
    ending = sign(folder)
    assert problem(ending).startswith("proof:")
    stage = ending.stage("proof")
    assert (stage["optional"], stage["waived"], stage["passed"]) == (False, False, False)
