"""The messages of ``sim`` for RTL that does not fit, for missing tools, and if there is nothing to compare."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from bad_case import GOOD, NARROW
from support.said import as_recorded

from dais_verif.base.verdict import Verdict
from dais_verif.doors.cli.main import _run
from dais_verif.spec.program import Program, write_binary

needs_icarus = pytest.mark.skipif(shutil.which("iverilog") is None, reason="no iverilog on PATH")

MODEL = """\
module model(input [7:0] model_inp, output [4:0] model_out);
  assign model_out = {model_inp[3], model_inp[3:0]} + {model_inp[7], model_inp[7:4]};
endmodule
"""
SILENT = write_binary(Program.build([(-1, 0, -1, 0, (1, 3, 0))], [(-1, 0, 0)], inp_shift=[0]), "v1")


class Ending(NamedTuple):
    """The verdict and the message of a run of ``sim --json``."""

    verdict: str
    message: str


def sim(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    *options: str,
    program: bytes = GOOD,
    rtl: str | None = None,
) -> Ending:
    """Run ``sim``, and check how it ends: with a record, the verdict's exit code, one line and no traceback."""
    monkeypatch.chdir(folder)
    (folder / "p.bin").write_bytes(program)
    arguments = ["sim", "p.bin", "--json", "--exhaustive-bits", "0", *options]
    if rtl is not None:
        (folder / "rtl.v").write_text(rtl)
        arguments += ["--rtl", "rtl.v"]
    code = _run([*arguments, "-o", "out"])
    out, err = capfd.readouterr()
    record: dict[str, Any] = json.loads(out)
    assert code == record["exit_code"] == Verdict[record["verdict"]].exit_code
    assert "Traceback" not in err
    assert "\n" not in record["message"]
    return Ending(record["verdict"], record["message"])


@needs_icarus
def test_the_design_that_the_others_vary_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    ending = sim(tmp_path, monkeypatch, capfd, "--sim", "icarus", "--vectors", "20", rtl=MODEL)
    assert ending.verdict == "PASS"


#: By name: the RTL, the verdict, and names and numbers in the message.
DESIGNS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "syntax error": (MODEL.replace("assign", "asign"), "TOOL_FAILURE", ("iverilog", "rtl.v:2", "syntax error")),
    "empty file": ("", "TOOL_FAILURE", ("iverilog", "model")),
    "not Verilog": ("\x7fELF\x02\x01", "TOOL_FAILURE", ("iverilog", "rtl.v:1")),
    "another module name": (
        MODEL.replace("model(", "other(") + "module more; endmodule\n",
        "INVALID_INPUT",
        ("model", "other", "--top"),
    ),
    "a module missing": (MODEL.replace("endmodule", "sub s();\nendmodule"), "TOOL_FAILURE", ("iverilog", "sub")),
    "no input port": (MODEL.replace("model_inp", "x"), "INVALID_INPUT", ("model_inp",)),
    "no output port": (MODEL.replace("model_out", "y"), "INVALID_INPUT", ("model_out",)),
    "input port too narrow": (
        MODEL.replace("[7:0] model_inp", "[6:0] model_inp").replace("model_inp[7", "model_inp[6"),
        "INVALID_INPUT",
        ("model_inp", "7", "8"),
    ),
    "output port too wide": (MODEL.replace("[4:0]", "[5:0]"), "INVALID_INPUT", ("model_out", "6", "5")),
    "output undriven": (MODEL.replace("assign", "// assign"), "X_IN_OUTPUT", ("of 20 vectors", "X or Z", "icarus")),
    "wrong": (MODEL.replace("+", "-"), "RTL_MISMATCH", ("of 20 vectors",)),
    "never at rest": (
        MODEL.replace("endmodule", "  reg c;\n  initial c = 0;\n  always @(c or model_inp) c <= ~c;\nendmodule"),
        "TOOL_FAILURE",
        ("the icarus simulation", "2 s"),
    ),
}


@pytest.mark.few(6)
@needs_icarus
@pytest.mark.parametrize("name", DESIGNS)
def test_design(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    rtl, verdict, words = DESIGNS[name]
    options = ("--timeout", "2") if name == "never at rest" else ()
    ending = sim(tmp_path, monkeypatch, capfd, "--sim", "icarus", "--vectors", "20", *options, rtl=rtl)
    assert ending.verdict == verdict, ending
    assert all(word in ending.message for word in words), ending


@pytest.mark.parametrize(
    ("simulator", "variable"), [("icarus", "DAIS_VERIF_IVERILOG"), ("verilator", "DAIS_VERIF_VERILATOR")]
)
def test_a_missing_simulator_is_named_with_its_variable(
    simulator: str, variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    monkeypatch.setenv(variable, "/nonexistent")
    ending = sim(tmp_path, monkeypatch, capfd, "--sim", simulator, "--vectors", "5")
    assert ending.verdict == "TOOL_FAILURE"
    as_recorded(ending.message)


def test_a_simulator_that_is_another_program_is_a_tool_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    monkeypatch.setenv("DAIS_VERIF_IVERILOG", "/bin/false")
    ending = sim(tmp_path, monkeypatch, capfd, "--sim", "icarus", "--vectors", "5")
    assert ending.verdict == "TOOL_FAILURE"
    assert "/bin/false" in ending.message


@needs_icarus
def test_no_path_no_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    ending = sim(tmp_path, monkeypatch, capfd, "--sim", "icarus", "--vectors", "5")
    assert ending.verdict == "TOOL_FAILURE"
    as_recorded(ending.message)
    as_recorded(ending.message)


@needs_icarus
def test_no_time_at_all_is_a_tool_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    ending = sim(tmp_path, monkeypatch, capfd, "--sim", "icarus", "--vectors", "5", "--timeout", "0.001")
    assert ending.verdict == "TOOL_FAILURE"
    assert "0.001 s" in ending.message


@needs_icarus
@pytest.mark.parametrize(
    ("program", "vectors", "words"), [(GOOD, "0", "no vector"), (SILENT, "5", "no output bits")], ids=["rows", "bits"]
)
def test_nothing_compared_is_not_a_pass(
    program: bytes, vectors: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    ending = sim(tmp_path, monkeypatch, capfd, "--sim", "icarus", "--vectors", vectors, program=program)
    assert (ending.verdict, Verdict[ending.verdict].exit_code) == ("NOT_RUN", 6)
    assert words in ending.message


def test_a_violation_stops_before_any_simulator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    monkeypatch.setenv("DAIS_VERIF_IVERILOG", "/nonexistent")
    ending = sim(tmp_path, monkeypatch, capfd, "--sim", "icarus", program=write_binary(NARROW, "v1"))
    assert ending.verdict == "PROGRAM_INVALID"
    assert "op 2 (add)" in ending.message and "--unchecked" in ending.message


def test_an_unwritable_work_folder_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    """A work folder in which a file is in the place of a folder that the run must create gives one line."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.bin").write_bytes(GOOD)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "vectors").write_text("mine")
    assert _run(["sim", "p.bin", "--sim", "icarus", "--vectors", "5", "-o", "out"]) == 2
    err = capfd.readouterr().err.splitlines()
    assert err[-1].startswith("dais-verif: INVALID_INPUT: ") and "vectors" in err[-1] and "xists" in err[-1]
