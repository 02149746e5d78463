"""``sim --coverage`` adds directed vectors to the others, and ``--rtl-coverage`` reports the RTL that was hit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.said import as_recorded

from dais_verif.doors.cli.main import main
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.spec.program import Program, write_binary

#: A relu whose operand is 0 for one input in four billion.
KINK = Program.build(
    [(-1, 0, -1, 0, (1, 31, 0)), (4, 0, -1, 123456789, (1, 32, 0)), (2, 1, -1, 0, (0, 32, 0))],
    [(2, 0, 0)],
    inp_shift=[0],
)


@pytest.fixture
def kink(tmp_path: Path) -> Path:
    path = tmp_path / "kink.bin"
    path.write_bytes(write_binary(KINK, "v1"))
    return path


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["sim", *map(str, arguments)])
    assert isinstance(ended.value.code, int)
    return ended.value.code


def record_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "result.json").read_text())
    return found


def wrong_at_the_kink(folder: Path) -> Path:
    """Write RTL that is wrong if the operand of the relu is 0, and return its path."""
    text = emit_verilog(KINK, top="model")
    line = next(line for line in text.splitlines() if "op_2 =" in line)
    wrong = line.replace("op_2 =", "op_2 = op_1 == 0 ? 33'd1 :", 1)
    assert wrong != line
    path = folder / "wrong.v"
    path.write_text(text.replace(line, wrong))
    return path


def test_what_only_a_directed_vector_shows(kink: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rtl, out = wrong_at_the_kink(tmp_path), tmp_path / "out"
    few = ["--vectors", 3, "--no-conditions"]  # none of so few is at a boundary
    assert run(kink, "--rtl", rtl, "--sim", "icarus", "-o", out) == 1
    assert run(kink, "--rtl", rtl, "--sim", "icarus", *few, "-o", out) == 0
    assert run(kink, "--rtl", rtl, "--sim", "icarus", *few, "--coverage", "-o", out) == 1
    record = record_of(out)
    names = {part["name"]: part["vectors"] for part in record["stimulus"]}
    assert set(names) == {"generated", "directed"}
    assert record["first_mismatch"]["row"] >= names["generated"] == 3
    assert record["first_mismatch"]["inputs"][0]["real"] == "-123456789"
    assert record["vectors"] == record["coverage"]["vectors"] == 3 + names["directed"]
    assert record["coverage"]["percent"] == 100.0
    capsys.readouterr()
    assert run(kink, "--rtl", rtl, "--sim", "icarus", "--vectors", 0, "--inputs", out / "directed.csv") == 1


def test_a_broken_promise_is_told_by_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "broken.bin"
    program = Program.build([(-1, 0, -1, 0, (0, 3, 0)), (4, 0, -1, 1, (0, 3, 0))], [(1, 0, 0)], inp_shift=[0])
    path.write_bytes(write_binary(program, "v1"))
    assert run(path, "--sim", "icarus", "--coverage", "-o", tmp_path / "out") == 2
    record = record_of(tmp_path / "out")
    assert record["verdict"] == "PROGRAM_INVALID"
    assert record["coverage"] is None


def test_where_coverage_of_the_rtl_cannot_be_had(kink: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(kink, "--sim", "icarus", "--rtl-coverage") == 2
    as_recorded(capsys.readouterr().err)


_BRANCH = """\
module model(input [31:0] model_inp, output reg [31:0] model_out);
  wire signed [32:0] sum = $signed({{1{model_inp[31]}}, model_inp}) + 33'sd123456789;
  always @* begin
    model_out = sum[32] ? 32'd0 : sum[31:0];
    if (sum == 0) begin
      model_out = 32'd0;
    end
  end
endmodule
"""


@pytest.mark.slow
def test_lines_and_toggles_of_the_rtl(kink: Path, tmp_path: Path) -> None:
    rtl, out = tmp_path / "branch.v", tmp_path / "out"
    rtl.write_text(_BRANCH)
    whole = ["--rtl", rtl, "--sim", "verilator", "--rtl-coverage", "--no-conditions", "-o", out]

    def missed(*more: object) -> tuple[dict[str, tuple[int, int]], str]:
        assert run(kink, *whole, *more) == 0
        found = record_of(out)["rtl_coverage"]
        return {kind["kind"]: (kind["points"], kind["hit"]) for kind in found["kinds"]}, Path(
            found["missed"]
        ).read_text()

    # The generated vectors never reach the branch, but one of the directed ones does.
    without, lines = missed()
    assert "branch.v:5: branch if" in lines or "branch.v:6: line" in lines or "branch.v:5: line" in lines, lines
    with_directed, more = missed("--coverage")
    assert sum(hit for _, hit in with_directed.values()) > sum(hit for _, hit in without.values())
    assert len(more.splitlines()) < len(lines.splitlines())
    # Runs in bulk and through cocotb count the same.
    assert missed("--no-bulk") == (without, lines)
    data = Path(record_of(out)["rtl_coverage"]["data"]).read_text()
    assert data.startswith("# SystemC::Coverage-3\nC '")
