"""Netlists are proved bit by bit; if Yosys miscompiles an op, the netlist is refuted and the op is named."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from prove.door import Run, run_prove
from support.door import command, run_sim, save
from support.places import CORPUS
from support.said import as_recorded
from support.synthesis import EVERYTHING, NEGATED, Made, synth

from dais_verif.base.toolchain import tools
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.hardware.synthesis.targets import TARGETS
from dais_verif.prover.gates import proof
from dais_verif.spec.program import Program, assemble

pytestmark = pytest.mark.usefixtures("yosys")

PASS, MISMATCH = ("PASS", 0), ("RTL_MISMATCH", 1)


def prove_netlist(program: Program, made: Made, *options: object) -> Run:
    return run_prove(program, made.folder.parent, "--netlist", made.folder, *options)


@pytest.mark.parametrize(
    "target", ["ice40", *(pytest.param(t, marks=pytest.mark.slow) for t in TARGETS if t != "ice40")]
)
def test_a_netlist_of_every_target_is_proved(target: str, tmp_path: Path) -> None:
    run = prove_netlist(EVERYTHING, synth(EVERYTHING, tmp_path, target))
    assert run.ending == PASS, (run.tree["message"], run.stderr)
    assert run.statuses("output") == dict.fromkeys(range(4), "PROVED")
    assert set(run.statuses("op").values()) == {"PROVED"}
    assert "sweep" in run.tree["methods"] and not run.tree["conditional"]


@pytest.mark.parametrize("sign", ["-", pytest.param("+", marks=pytest.mark.slow)])
class TestAlumacc:
    """``a - (-x)`` and ``a + (-x)`` in 18 bits, with an 8-bit x, whose smallest value has no negative in 8 bits."""

    def wrong(self, run: Run, sign: str) -> None:
        assert run.ending == MISMATCH, (run.tree["message"], run.stderr)
        found = run.tree["counterexample"]
        assert (found["op"], found["mnemonic"]) == (2, "quant_neg")
        assert run.tree["message"].startswith("op 2 (quant_neg) ") and "op 3" in run.tree["message"]
        as_recorded(run.tree["message"])
        assert found["inputs"][1] == "128", "it is wrong for -128 alone"
        replay = found["replay"]
        assert replay["verdict"] == "RTL_MISMATCH"
        assert [(s["name"], s["vectors_compared"], s["mismatches"]) for s in replay["simulators"]] == [("icarus", 1, 1)]

    def test_is_refuted(self, sign: str, tmp_path: Path) -> None:
        """The netlist is refuted; if a later Yosys corrects the pass, change docs/netlists.md."""
        self.wrong(prove_netlist(NEGATED[sign], synth(NEGATED[sign], tmp_path, "ice40", "--alumacc")), sign)

    def test_a_large_one_is_refuted_without_the_sweep_by_gates(
        self, sign: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(proof, "_LARGE", 0)
        self.wrong(prove_netlist(NEGATED[sign], synth(NEGATED[sign], tmp_path, "ice40", "--alumacc")), sign)

    def test_of_plain_synth_is_refuted(self, sign: str, tmp_path: Path) -> None:
        self.wrong(run_prove(NEGATED[sign], tmp_path, rtl=plain(NEGATED[sign], tmp_path, "synth")), sign)

    def test_is_left_out_by_default(self, sign: str, tmp_path: Path) -> None:
        run = prove_netlist(NEGATED[sign], synth(NEGATED[sign], tmp_path, "ice40"))
        assert run.ending == PASS, run.tree["message"]
        assert set(run.statuses("op").values()) == {"PROVED"} and len(run.tree["ops"]) == 4

    @pytest.mark.slow
    def test_can_be_left_out_of_plain_synth(self, sign: str, tmp_path: Path) -> None:
        run = run_prove(NEGATED[sign], tmp_path, rtl=plain(NEGATED[sign], tmp_path, "synth -noalumacc"))
        assert run.ending == PASS, run.tree["message"]


def plain(program: Program, folder: Path, how: str) -> str:
    """Return our RTL as a few commands of Yosys synthesize it, without names of signals."""
    (folder / "rtl.v").write_text(emit_verilog(program))
    script = f"read_verilog rtl.v; {how} -top model; rename -hide w:*; splitnets; write_verilog -noattr plain.v"
    subprocess.run([tools.yosys().yosys, "-q", "-p", script], cwd=folder, check=True, timeout=120)
    return (folder / "plain.v").read_text()


def test_names_of_ops_are_used_where_they_survive(tmp_path: Path) -> None:
    (tmp_path / "rtl.v").write_text(emit_verilog(EVERYTHING))
    script = "read_verilog rtl.v; synth -noalumacc -top model; write_verilog -noattr plain.v"
    subprocess.run([tools.yosys().yosys, "-q", "-p", script], cwd=tmp_path, check=True, timeout=120)
    run = run_prove(EVERYTHING, tmp_path, rtl=(tmp_path / "plain.v").read_text())
    assert run.ending == PASS, run.tree["message"]
    assert {claim["signal"] for claim in run.tree["ops"]} >= {"op_0", "op_2", "op_5"}


def test_a_netlist_with_names_is_proved_as_a_netlist(tmp_path: Path) -> None:
    """A netlist whose op_N lack unused bits, and depend on other bits of the same op, is proved as a netlist."""
    (tmp_path / "rtl.v").write_text(emit_verilog(EVERYTHING))
    script = "read_verilog rtl.v; synth_ice40 -top model; write_verilog -noattr named.v"
    subprocess.run([tools.yosys().yosys, "-q", "-p", script], cwd=tmp_path, check=True, timeout=120)
    assert "op_5" in (tmp_path / "named.v").read_text()
    run = run_prove(EVERYTHING, tmp_path, "--netlist", tmp_path / "named.v", "--target", "ice40")
    assert run.ending == PASS, (run.tree["message"], run.stderr)


def test_a_promise_that_is_broken_is_no_fault(tmp_path: Path) -> None:
    """A broken promise is not a fault: a netlist that saturates is right wherever the promised sum fits."""
    program = assemble("input x, y\na = s4.0 input x\nb = s4.0 input y\nsum = s4.0 a + b\noutput 0 = sum")
    rtl = emit_verilog(program)
    line = next(line for line in rtl.split("\n") if "op_2 =" in line)
    wide = "wire signed [4:0] wide = op_0 + op_1;"
    saturated = "op_2 = (wide > 7) ? 4'sd7 : (wide < -8) ? -4'sd8 : wide[3:0];"
    rtl = rtl.replace(line, saturated).replace("  always @", f"  {wide}\n  always @", 1).replace("@(model_inp)", "@*")
    (tmp_path / "other.v").write_text(rtl)
    made = synth(program, tmp_path, "ice40", "--rtl", tmp_path / "other.v")
    run = prove_netlist(program, made)
    assert run.ending == PASS and run.tree["conditional"], run.tree["message"]
    as_recorded(run.tree["message"])
    assert prove_netlist(program, made, "--unchecked").ending == MISMATCH


def product(bits: int, kind: str) -> Program:
    inputs = f"input x, y\na = {kind}{bits}.0 input x\nb = {kind}{bits}.0 input y\n"
    low = f"low = {kind}3.0 quant(a)\n"
    return assemble(f"{inputs}p = {kind}{2 * bits}.0 a * b\n{low}output p = p\noutput low = low")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["s", "u"])
@pytest.mark.parametrize("bits", [12, 16, 24])
@pytest.mark.parametrize("target", ["generic", "ice40"])
def test_a_multiplier_of_gates_is_proved(target: str, bits: int, kind: str, tmp_path: Path) -> None:
    """A multiplier of gates is proved, although its rows are added three at a time without carry propagation."""
    program = product(bits, kind)
    run = prove_netlist(program, synth(program, tmp_path, target))
    assert run.ending == PASS, run.tree["message"]


@pytest.mark.slow
def test_a_multiplier_in_luts_of_ecp5_is_proved(tmp_path: Path) -> None:
    """A multiplier in ECP5 LUTs, for a design without free DSPs, is proved: LUT4, PFUMX, L6MUX21 and CCU2C."""
    program = product(16, "s")
    text = plain(program, tmp_path, "synth_ecp5 -nodsp")
    assert all(f" {name} " in text for name in ("LUT4", "PFUMX", "L6MUX21", "CCU2C")) and "MULT18" not in text
    run = run_prove(program, tmp_path, "--netlist", tmp_path / "plain.v", "--target", "ecp5")
    assert run.ending == PASS, run.tree["message"]


def of_text(old: str, new: str, program: Program, target: str, tmp_path: Path) -> Run:
    """Prove a netlist of our RTL, in which ``new`` replaces ``old``."""
    text = emit_verilog(program)
    assert old in text
    (tmp_path / "other.v").write_text(text.replace(old, new))
    made = synth(program, tmp_path, target, "--rtl", tmp_path / "other.v")
    return run_prove(program, tmp_path, "--netlist", made.folder, "--no-confirm", "--timeout", 0.2)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["generic", "ice40"])
def test_a_multiplier_with_other_rows_is_proved(target: str, tmp_path: Path) -> None:
    """A multiplier that adds one row per bit of the other factor is proved."""
    run = of_text("op_0 * op_1", "op_1 * op_0", product(16, "s"), target, tmp_path)
    assert run.ending == PASS, run.tree["message"]


@pytest.mark.slow
def test_products_that_are_summed_are_proved(tmp_path: Path) -> None:
    """A sum of two products in LUTs is proved, although Yosys adds the rows of the two in different orders."""
    inputs = "input x, y, z, w\n" + "".join(f"{x} = s12.0 input {x}\n" for x in "xyzw")
    program = assemble(f"{inputs}p = s24.0 x * y\nq = s24.0 z * w\nr = s25.0 p + q\noutput r = r")
    run = prove_netlist(program, synth(program, tmp_path, "ice40"), "--no-confirm")
    assert run.ending == PASS, run.tree["message"]
    assert run.statuses("op") == dict.fromkeys(range(7), "PROVED")


@pytest.mark.slow
def test_a_multiplier_of_two_halves_is_unknown(tmp_path: Path) -> None:
    low, high = "$signed({26'd0, op_0[5:0]})", "($signed({{16{op_0[15]}}, op_0}) >>> 6)"
    run = of_text("op_0 * op_1", f"({high} * op_1 <<< 6) + {low} * op_1", product(16, "s"), "generic", tmp_path)
    assert run.ending == ("UNKNOWN", 6), run.tree["message"]
    assert run.statuses("output") == {0: "UNKNOWN", 1: "PROVED"}
    assert run.tree["message"] == "1 of 2 outputs could not be decided: 0"


class TestIsRefused:
    def netlist(self, tmp_path: Path, old: str, new: str) -> Path:
        made = synth(NEGATED["-"], tmp_path, "generic")
        text, changed = re.subn(old, new, (made.folder / "netlist.v").read_text(), count=1)
        assert changed
        (tmp_path / "changed.v").write_text(text)
        return tmp_path / "changed.v"

    def test_a_loop(self, tmp_path: Path) -> None:
        path = self.netlist(tmp_path, r"assign (\w+) = (\w+) ([&|^]) (\w+);", r"assign \1 = \1 \3 \4;")
        run = run_prove(NEGATED["-"], tmp_path, "--netlist", path, "--target", "generic")
        assert run.ending == ("INVALID_INPUT", 2)
        assert "signal '_109_'" in run.stderr and run.stderr.count("\n") == 1
        as_recorded(run.stderr)

    def test_statements_of_ops(self, tmp_path: Path) -> None:
        made = synth(NEGATED["-"], tmp_path, "generic")
        run = prove_netlist(NEGATED["-"], made, "--dump-smt", tmp_path / "smt")
        assert run.ending == ("INVALID_INPUT", 2)
        assert "a netlist is proved bit by bit" in run.stderr

    def test_rtl_beside_it(self, tmp_path: Path) -> None:
        path = save(NEGATED["-"], tmp_path)
        done = command("prove", path, "--netlist", tmp_path, "--rtl", tmp_path / "a.v")
        assert done.returncode == 2 and "--netlist" in done.stderr

    @pytest.mark.slow
    def test_nothing_is_said_of_an_undriven_bit(self, tmp_path: Path) -> None:
        path = self.netlist(tmp_path, r"\n  assign \w+ = \w+ [&|^] \w+;", "")
        run = run_prove(NEGATED["-"], tmp_path, "--netlist", path, "--target", "generic")
        assert run.ending in (("X_IN_OUTPUT", 4), MISMATCH)


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["p01", "p04", "p05", "p06", "p10", "p11", "p12", "p14"])
def test_real_programs(name: str, target: str, tmp_path: Path) -> None:
    (program,) = CORPUS.glob(f"{name}_*/prog.v1.bin")
    done = command("synth", program, "--target", target, "-o", tmp_path / "net")
    assert done.returncode == 0, done.stderr
    run = run_prove(program, tmp_path, "--netlist", tmp_path / "net")
    assert run.ending == PASS, run.tree["message"]


@pytest.mark.slow
def test_the_line_to_copy_runs_the_counterexample(tmp_path: Path) -> None:
    made = synth(NEGATED["-"], tmp_path, "ice40", "--alumacc")
    run = prove_netlist(NEGATED["-"], made)
    inputs = re.search(r"--inputs (\S+)", run.tree["simulate"])
    assert inputs
    again = run_sim(NEGATED["-"], tmp_path, "--netlist", made.folder, "--inputs", inputs[1], "--vectors", 0)
    assert again.ending == MISMATCH
