"""Netlists: those that Yosys makes of a program agree with the golden model, and miscompiled ones are caught."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support.door import run_sim
from support.said import as_recorded
from support.synthesis import EVERYTHING, NEGATED, Made, synth

from dais_verif.base.errors import ToolError
from dais_verif.base.toolchain import tools
from dais_verif.hardware.synthesis.targets import TARGETS
from dais_verif.spec.program import Program, assemble

pytestmark = pytest.mark.usefixtures("yosys")

Kept = Callable[..., Made]


@pytest.fixture(scope="module")
def shelf() -> dict[tuple[str, ...], Made]:
    return {}


@pytest.fixture
def kept(shelf: dict[tuple[str, ...], Made], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """Return a function like ``synth`` that makes each netlist once, and gives each test a copy that it may change."""

    def copy(program: Program, target: str, *options: object) -> Made:
        key = (program.hash, target, *map(str, options))
        if key not in shelf:
            shelf[key] = synth(program, tmp_path_factory.mktemp("net"), target, *options)
        made = shelf[key]
        return made._replace(folder=Path(shutil.copytree(made.folder, tmp_path / "net")))

    return copy


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "target", [pytest.param(target, marks=[pytest.mark.slow] * (target == "xilinx")) for target in TARGETS]
)
def test_a_netlist_of_every_target_is_the_program(target: str, kept: Kept, tmp_path: Path) -> None:
    made = kept(EVERYTHING, target)
    assert made.code == 0, made.stderr
    logic = made.facts["counts"]["gate" if target == "generic" else "LUT"]
    assert logic > 20 and made.facts["counts"]["FF"] == 0
    assert made.facts["depth"]["cells"] == sum(made.facts["depth"]["kinds"].values()) > 3
    assert made.facts["counts"]["DSP"] == (target == "ecp5")
    simulator = "both" if target == "ecp5" else "icarus"  # the pipeline test runs ice40 in both
    run = run_sim(EVERYTHING, tmp_path, "--netlist", made.folder, "--vectors", 256, simulator=simulator)
    assert run.ending == ("PASS", 0), run.stderr
    assert all(result["bits_compared"] == 256 * 29 for result in run.record["simulators"])


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("sign", NEGATED)
def test_sums_of_negated_values_are_right_by_default(sign: str, target: str, tmp_path: Path) -> None:
    made = synth(NEGATED[sign], tmp_path, target)
    run = run_sim(NEGATED[sign], tmp_path, "--netlist", made.folder, simulator="both")
    assert run.ending == ("PASS", 0), run.stderr


def test_sums_of_negated_values_are_right_on_ice40(tmp_path: Path) -> None:
    made = synth(NEGATED["-"], tmp_path, "ice40")
    assert made.facts["alumacc"] is False
    assert made.facts["counts"]["carry"] > 10, "sums keep their carry chains"
    run = run_sim(NEGATED["-"], tmp_path, "--netlist", made.folder)
    assert run.ending == ("PASS", 0), run.stderr


@pytest.mark.parametrize("sign", ["-", pytest.param("+", marks=pytest.mark.slow)])
def test_what_alumacc_miscompiles_is_caught(sign: str, tmp_path: Path) -> None:
    """What alumacc miscompiles is caught; once Yosys is corrected, this fails, and the page on netlists must change."""
    made = synth(NEGATED[sign], tmp_path, "ice40", "--alumacc")
    assert made.facts["alumacc"] is True
    run = run_sim(NEGATED[sign], tmp_path, "--netlist", made.folder)
    assert run.ending == ("RTL_MISMATCH", 1)
    inputs = run.record["first_mismatch"]["inputs"]
    assert inputs[1]["bits"] == "10000000"


@pytest.mark.parametrize(
    ("target", "init"), [("ice40", "LUT_INIT"), pytest.param("ecp5", "INIT", marks=pytest.mark.slow)]
)
def test_one_wrong_lut_is_caught(target: str, init: str, kept: Kept, tmp_path: Path) -> None:
    made = kept(EVERYTHING, target)
    netlist = made.folder / "netlist.v"
    text = netlist.read_text()
    last = "|".join(re.findall(r"assign model_out\[\d+\] = \+ (\w+);", text))
    lut = rf"\.{init}\(16'h([0-9a-f]+)\)[^;]*?\.[OZ]\((?:{last})\)"
    text, changed = re.subn(
        lut, lambda found: found[0].replace(found[1], f"{int(found[1], 16) ^ 0xFFFF:04x}", 1), text, count=1
    )
    assert changed == 1
    netlist.write_text(text)
    run = run_sim(EVERYTHING, tmp_path, "--netlist", netlist, "--target", target)
    assert run.ending == ("RTL_MISMATCH", 1)


def test_the_netlist_keeps_the_ports_and_no_name_of_an_op(tmp_path: Path) -> None:
    made = synth(EVERYTHING, tmp_path, "generic", "--top", "dut")
    text = (made.folder / "netlist.v").read_text()
    assert re.search(r"module dut\(model_inp, model_out\);", text)
    assert re.search(r"input \[7:0\] model_inp;", text) and re.search(r"output \[28:0\] model_out;", text)
    assert len(re.findall(r"wire \[", text)) == 2, "wider nets than ports make simulators slow"
    assert "op_" not in text, "bits of it may be gone, and blame would believe the rest"
    run = run_sim(EVERYTHING, tmp_path, "--netlist", made.folder, "--top", "dut")
    assert run.ending == ("PASS", 0), run.stderr


def test_a_pipeline_has_flip_flops_and_is_shallower(kept: Kept, tmp_path: Path) -> None:
    flat = kept(EVERYTHING, "ice40").facts
    piped = synth(EVERYTHING, tmp_path / "piped", "ice40", "--stages", 3).facts
    assert flat["counts"]["FF"] == 0 < 29 <= piped["counts"]["FF"]
    assert 0 < piped["depth"]["cells"] < flat["depth"]["cells"]


PINS = ("--clock", "clk", "--reset", "rst", "--enable", "en", "--valid-in", "in_valid", "--valid-out", "out_valid")


@pytest.mark.parametrize(
    "target", ["ice40", *(pytest.param(t, marks=pytest.mark.slow) for t in TARGETS if t != "ice40")]
)
def test_a_pipeline_is_verified_with_all_its_pins(target: str, tmp_path: Path) -> None:
    made = synth(EVERYTHING, tmp_path, target, "--stages", 3, "--reset", "--enable", "--valid")
    assert " ".join(PINS) in made.facts["verify"]
    run = run_sim(EVERYTHING, tmp_path, "--netlist", made.folder, *PINS, "--vectors", 200, simulator="both")
    assert run.ending == ("PASS", 0), run.stderr


#: A table that is large enough for a block RAM, read between registers.
LARGE = assemble(f"""
    input x
    table noise = [{", ".join(str(x * x * 40503 >> 7 & 0xFFFF) for x in range(512))}]
    a = s9.0 input x
    b = u16.0 noise[a]
    output 0 = b
""")


class TestBlockRam:
    def test_keeps_the_table(self, kept: Kept, tmp_path: Path) -> None:
        made = kept(LARGE, "ice40", "--stages", 2)
        assert made.facts["counts"]["BRAM"] > 0
        run = run_sim(LARGE, tmp_path, "--netlist", made.folder, "--clock", "clk")
        assert run.ending == ("PASS", 0), run.stderr

    def test_with_a_wrong_bit_is_caught(self, kept: Kept, tmp_path: Path) -> None:
        made = kept(LARGE, "ice40", "--stages", 2)
        netlist = made.folder / "netlist.v"
        text, changed = re.subn(
            r"\.INIT_0\(256'h.", lambda found: found[0][:-1] + f"{int(found[0][-1], 16) ^ 8:x}", netlist.read_text()
        )
        assert changed
        netlist.write_text(text)
        options = ("--clock", "clk", "--latency", 2, "--vectors", 1, "--exhaustive")
        run = run_sim(LARGE, tmp_path, "--netlist", made.folder, *options)
        assert run.ending == ("RTL_MISMATCH", 1)

    def test_that_nobody_models_is_refused(self, tmp_path: Path) -> None:
        made = synth(LARGE, tmp_path, "ecp5", "--stages", 2)
        assert made.facts["counts"]["BRAM"] > 0
        run = run_sim(LARGE, tmp_path, "--netlist", made.folder, "--clock", "clk")
        assert run.ending == ("INVALID_INPUT", 2)
        assert "DP16KD" in run.stderr
        as_recorded(run.stderr.rstrip())

    @pytest.mark.slow
    def test_can_be_left_out(self, tmp_path: Path) -> None:
        made = synth(LARGE, tmp_path, "ecp5", "--stages", 2, "--no-bram")
        assert made.facts["counts"]["BRAM"] == 0
        run = run_sim(LARGE, tmp_path, "--netlist", made.folder, "--clock", "clk")
        assert run.ending == ("PASS", 0), run.stderr


class TestLimits:
    def test_of_time(self, tmp_path: Path) -> None:
        made = synth(EVERYTHING, tmp_path, "xilinx", "--timeout", "0.2")
        assert made.code == 3
        assert "0.2 s" in made.stderr and " timeout;" in made.stderr
        assert made.stderr.count("\n") == 1
        assert not (made.folder / "synth.json").exists()

    def test_of_memory(self, tmp_path: Path) -> None:
        made = synth(EVERYTHING, tmp_path, "xilinx", "--memory", "64")
        assert made.code == 3
        assert "64 MB" in made.stderr and " memory;" in made.stderr

    def test_leave_no_process(self, tmp_path: Path) -> None:
        synth(EVERYTHING, tmp_path, "xilinx", "--timeout", "1")
        left = [path.name for path in Path("/proc").iterdir() if path.name.isdigit() and _works_in(path, tmp_path)]
        assert left == []


class TestPlaceAndRoute:
    def test_gives_a_clock_and_what_it_takes(self, tmp_path: Path) -> None:
        try:
            tools.nextpnr("ice40")
        except ToolError as error:
            pytest.skip(str(error))
        made = synth(EVERYTHING, tmp_path, "ice40", "--pnr", "--stages", 2)
        assert made.code == 0, made.stderr
        placed = made.facts["pnr"]
        assert placed["verdict"] is None and placed["device"] == "iCE40HX8K-CT256"
        assert 1 < placed["fmax"] < 1000
        used, available = placed["used"]["ICESTORM_LC"]
        # The netlist, 8 bits that drive it, and twice 29 bits that take its outputs.
        assert made.facts["counts"]["LUT"] < used < available
        assert used >= made.facts["counts"]["FF"] + 8 + 2 * 29

    def test_that_cannot_run_is_said_and_the_counts_stand(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("DAIS_VERIF_NEXTPNR_ICE40", "/none/such")
        made = synth(NEGATED["-"], tmp_path, "ice40", "--pnr")
        assert made.code == 6
        assert made.facts["pnr"]["verdict"] == "NOT_RUN" and "DAIS_VERIF_NEXTPNR_ICE40" in made.facts["pnr"]["message"]
        assert made.facts["counts"]["LUT"] > 10 and (made.folder / "netlist.v").is_file()

    def test_of_nothing_says_nothing(self, tmp_path: Path) -> None:
        wires = assemble("input x\na = s4.0 input x\noutput 0 = a")
        made = synth(wires, tmp_path, "ice40", "--pnr")
        assert made.code == 6
        assert made.facts["pnr"]["verdict"] == "NOT_RUN" and "no cells" in made.facts["pnr"]["message"]

    def test_that_fails_is_a_failure(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "broken").write_text("#!/bin/sh\necho ERROR: no Bels remaining of type ICESTORM_LC\nexit 255\n")
        (tmp_path / "broken").chmod(0o755)
        monkeypatch.setenv("DAIS_VERIF_NEXTPNR_ICE40", str(tmp_path / "broken"))
        made = synth(NEGATED["-"], tmp_path, "ice40", "--pnr")
        assert made.code == 3
        assert made.facts["pnr"]["verdict"] == "TOOL_FAILURE" and "no Bels remaining" in made.facts["pnr"]["message"]

    def test_without_a_report_is_a_failure(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DAIS_VERIF_NEXTPNR_ICE40", "/bin/true")
        made = synth(NEGATED["-"], tmp_path, "ice40", "--pnr")
        assert made.code == 3
        as_recorded(made.facts["pnr"]["message"])


def _works_in(process: Path, folder: Path) -> bool:
    try:
        return Path(os.readlink(process / "cwd")).is_relative_to(folder)
    except OSError:
        return False


def test_rtl_that_yosys_cannot_read_is_a_failure_of_one_line(tmp_path: Path) -> None:
    (tmp_path / "bad.v").write_text("module model(input a, output b);\n  assign b = ;\nendmodule\n")
    made = synth(EVERYTHING, tmp_path, "ice40", "--rtl", tmp_path / "bad.v")
    assert made.code == 3
    assert "bad.v:2: ERROR: syntax error" in made.stderr and made.stderr.count("\n") == 1


def test_other_rtl_in_an_odd_folder(tmp_path: Path) -> None:
    folder = tmp_path / "John's 100% odd; folder, ä"
    folder.mkdir()
    (folder / "part.v").write_text("`define WIDTH 8\n")
    (folder / "top.v").write_text(
        '`include "part.v"\nmodule top(input [`WIDTH-1:0] model_inp, output [28:0] model_out);\n'
        "  assign model_out = {4{model_inp}};\nendmodule\n"
    )
    made = synth(EVERYTHING, folder, "ice40", "--rtl", folder / "top.v", "--top", "top")
    assert made.code == 0, made.stderr
    assert made.facts["cells"] == {} and made.facts["depth"]["cells"] == 0
    run = run_sim(EVERYTHING, folder, "--netlist", made.folder, "--top", "top")
    assert run.ending == ("RTL_MISMATCH", 1)
