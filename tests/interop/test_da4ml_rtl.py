"""RTL that da4ml writes, Verilog and VHDL, combinational and pipelined, through ``dais-verif sim``."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from interop.networks import NETWORKS, traced
from interop.rtl import Rtl, sim, write

from dais_verif.errors import ToolError
from dais_verif.toolchain import tools

pytestmark = pytest.mark.usefixtures("da4ml")

VECTORS = ("--vectors", "300")

#: Those that go through the fast suite; all do in `make test-interop`.
FAST = {"verilog": ("choices",), "pipelined verilog": (), "vhdl": ("residual",), "pipelined vhdl": ("lookup",)}


class Form(NamedTuple):
    """What da4ml is asked for: combinational, or cut into stages of so much latency."""

    flavor: str
    cutoff: float


FORMS = {
    "verilog": Form("verilog", -1),
    "pipelined verilog": Form("verilog", 2),
    "vhdl": Form("vhdl", -1),
    "pipelined vhdl": Form("vhdl", 2),
}


def written(name: str, form: str, folder: Path, layers: int = 1) -> Rtl:
    flavor, cutoff = FORMS[form]
    if flavor == "vhdl":
        need_ghdl()
    return write(traced(name), folder, flavor, cutoff=cutoff, layers=layers)


def need_ghdl() -> None:
    try:
        tools.ghdl()
    except ToolError as error:
        pytest.skip(str(error))


def simulator(form: str, fast: bool = True) -> tuple[str, ...]:
    """Both for Verilog where both can, and where time does not matter."""
    if FORMS[form].flavor == "vhdl":
        return ()
    return ("--sim", "icarus") if fast else ()


CASES = [
    pytest.param(name, form, marks=() if name in FAST[form] else pytest.mark.slow, id=f"{name}-{form}")
    for form in FORMS
    for name in NETWORKS
]


@pytest.mark.parametrize(("name", "form"), CASES)
def test_is_right(name: str, form: str, tmp_path: Path) -> None:
    rtl = written(name, form, tmp_path)
    verdict = sim(rtl, tmp_path, *VECTORS, *simulator(form, name in FAST[form]))
    assert verdict.ending == ("PASS", 0), verdict.record["message"]
    for run in verdict.record["simulators"]:
        assert run["vectors_compared"] == 300
        # What a bench finds out is what da4ml's numbers say: a register a stage, and one at the end.
        assert run["latency"] == rtl.latency


#: The real programs that Icarus and GHDL run in seconds, and what they do not pass.
CORPUS_PROGRAMS = ("p01", "p03", "p04", "p05", "p06", "p10", "p11", "p12", "p14")
CORPUS_FINDINGS = {
    # Output 3 has out_idx -1 and is left open.
    ("p11", "verilog"): ("X_IN_OUTPUT", 4),
    ("p11", "vhdl"): ("X_IN_OUTPUT", 4),
}


@pytest.mark.slow
@pytest.mark.parametrize("form", ["verilog", "vhdl"])
@pytest.mark.parametrize("program", CORPUS_PROGRAMS)
def test_real_programs(program: str, form: str, corpus: Path, tmp_path: Path) -> None:
    from da4ml.types import CombLogic

    if form == "vhdl":
        need_ghdl()
    (path,) = corpus.glob(f"{program}_*/da4ml.json")
    rtl = write(CombLogic.load(path), tmp_path, form)
    options = {"verilog": ("--sim", "icarus"), "vhdl": ()}[form]
    inputs = ("--inputs", str(path.with_name("inputs.npy")), "--vectors", "0")
    verdict = sim(rtl, tmp_path, *inputs, *options)
    assert verdict.ending == CORPUS_FINDINGS.get((program, form), ("PASS", 0)), verdict.record["message"]


@pytest.mark.slow
def test_the_other_outputs_of_a_real_program_with_one_left_open(corpus: Path, tmp_path: Path) -> None:
    """p11, once its output 3 is driven: inputs with an inp_shift of up to 127 are right."""
    from da4ml.types import CombLogic

    path = corpus / "p11_cmvm_raw" / "da4ml.json"
    logic = CombLogic.load(path)
    rtl = write(logic, tmp_path)
    low = sum(int(sum(kif)) for kif in logic.out_kifs.T[:3])
    driven = f"assign model_out[{low + int(sum(logic.out_kifs.T[3])) - 1}:{low}] = 0;\n\nendmodule"
    rtl = rtl.edited(tmp_path / "driven", "model.v", "endmodule", driven)
    verdict = sim(rtl, tmp_path, "--inputs", str(path.with_name("inputs.npy")), "--sim", "icarus")
    assert verdict.ending == ("PASS", 0), verdict.record["message"]


def test_networks_hold_every_opcode_that_the_tracer_writes() -> None:
    found = {op.opcode for name in NETWORKS for op in traced(name).ops}
    assert found >= {-6, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
    assert len(NETWORKS) >= 12


class TestLatency:
    @pytest.mark.parametrize(
        "layers", [pytest.param(1, marks=pytest.mark.slow), 2, pytest.param(3, marks=pytest.mark.slow)]
    )
    def test_of_several_registers_a_stage(self, layers: int, tmp_path: Path) -> None:
        rtl = written("dense", "pipelined verilog", tmp_path, layers)
        assert rtl.latency == 2 * layers + 1
        verdict = sim(rtl, tmp_path, *VECTORS, "--sim", "icarus")
        assert verdict.ending == ("PASS", 0)
        assert verdict.record["simulators"][0]["latency"] == rtl.latency

    @pytest.mark.parametrize("wrong", [-1, pytest.param(1, marks=pytest.mark.slow)])
    def test_that_is_given_wrong(self, wrong: int, tmp_path: Path) -> None:
        """The number of stages, say, as metadata.json has it."""
        rtl = written("dense", "pipelined verilog", tmp_path)
        assert rtl.latency is not None
        verdict = sim(rtl, tmp_path, *VECTORS, "--sim", "icarus", latency=str(rtl.latency + wrong))
        assert verdict.ending == ("RTL_MISMATCH", 1)
        assert verdict.blame["kind"] == "timing"

    @pytest.mark.slow
    def test_of_vhdl_that_is_given(self, tmp_path: Path) -> None:
        rtl = written("mlp", "pipelined vhdl", tmp_path)
        assert sim(rtl, tmp_path, "--vectors", "50", latency=str(rtl.latency)).ending == ("PASS", 0)


class Bug(NamedTuple):
    """``old`` becomes ``new`` in a file of the RTL of ``network``. ``op``: the one that is to blame; None: ``kind``."""

    network: str
    old: str
    new: str
    op: int | None
    output: int
    form: str = "verilog"
    kind: str = "op"
    verdict: tuple[str, int] = ("RTL_MISMATCH", 1)
    file: str = ""

    @property
    def source(self) -> str:
        """The name of the file."""
        return self.file or ("model.v" if "verilog" in self.form else "model.vhd")


#: Mistakes of a writer of RTL, by what they are.
BUGS = {
    "constant off by one": Bug("dense", "6'b101000, v24", "6'b101001, v24", 24, 0),
    "operands swapped": Bug("dense", "(v7[5:0], v8[5:0], v14", "(v8[5:0], v7[5:0], v14", 14, 2),
    "shift off by one": Bug("dense", "9, 2, 1) op_10", "9, 1, 1) op_10", 10, 0),
    "add for subtract": Bug("dense", "11, 0, 1) op_26", "11, 0, 0) op_26", 26, 1),
    "top bit cut off": Bug("powers", "v9[6:0] = v8[6:0]", "v9[6:0] = {1'b0, v8[5:0]}", 9, 3),
    "port narrower than the signal": Bug(
        "powers", "multiplier #(5, 5, 1, 1, 10) op_10", "multiplier #(5, 5, 1, 1, 9) op_10", 10, 0
    ),
    "bit not driven": Bug("dense", "v6[5:0] = v3[5:0]", "v6[5:1] = v3[5:1]", 6, 0, verdict=("X_IN_OUTPUT", 4)),
    "mux inverted": Bug("choices", "op_14 (v9[0]", "op_14 (~v9[0]", 14, 0),
    "no sign extension": Bug("dense", "#(6, 6, 1, 1, 7, 0, 0) op_13", "#(6, 6, 0, 1, 7, 0, 0) op_13", 13, 2),
    "no sign extension in the library": Bug(
        "powers",
        "$signed(in0) * $signed(in1);\n    end else if (SIGNED0 == 1",
        "in0 * in1;\n    end else if (SIGNED0 == 1",
        10,
        0,
        file="multiplier.v",
    ),
    "outputs swapped": Bug(
        "dense",
        "model_out[10:0] = v24[10:0];\n    assign model_out[21:11] = v26[10:0]",
        "model_out[10:0] = v26[10:0];\n    assign model_out[21:11] = v24[10:0]",
        None,
        0,
        kind="output",
    ),
    "output not negated": Bug(
        "choices", "model_out[19:13] = v13_neg[6:0]", "model_out[19:13] = v13[6:0]", None, 2, kind="output"
    ),
    "bit stuck at 0": Bug("dense", "v5[5:0] = v1[5:0]", "v5[5:0] = {v1[5:1], 1'b0}", 5, 0),
    "input off by one bit": Bug("dense", "v2[5:0] = model_inp[17:12]", "v2[5:0] = model_inp[16:11]", 2, 0),
    "stage skipped by one bit": Bug(
        "mlp",
        "model_out <= stage4_out;",
        "model_out <= {stage4_out[31:1], stage4_inp[0]};",
        None,
        0,
        form="pipelined verilog",
        kind="cone",
    ),
    "a register too many in one output": Bug(
        "mlp",
        "model_out <= stage4_out;",
        "late <= stage4_out[31:20];\n        model_out <= {late, stage4_out[19:0]};\n    end\n"
        "    reg [11:0] late;\n    initial begin",
        None,
        1,
        form="pipelined verilog",
        kind="timing",
    ),
    "constant off by one, VHDL": Bug("dense", '"101000"', '"101001"', 24, 0, form="vhdl"),
    "operands swapped, VHDL": Bug(
        "dense",
        "in0=>v7,in1=>v8,",
        "in0=>v8,in1=>v7,",
        14,
        2,
        form="vhdl",
    ),
    "mux inverted, VHDL": Bug("choices", "key=>v9(0)", "key=>not v9(0)", 14, 0, form="vhdl"),
}


#: One of each kind of blame in the fast suite.
FAST_BUGS = (
    "constant off by one",
    "outputs swapped",
    "a register too many in one output",
    "mux inverted, VHDL",
)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in FAST_BUGS else pytest.mark.slow) for name in BUGS]
)
def test_a_planted_bug_is_found(name: str, tmp_path: Path) -> None:
    bug = BUGS[name]
    right = written(bug.network, bug.form, tmp_path / "right")
    rtl = right.edited(tmp_path / "wrong", bug.source, bug.old, bug.new)
    latency = str(rtl.latency) if rtl.latency else None
    verdict = sim(rtl, tmp_path, *VECTORS, *simulator(bug.form), latency=latency)
    assert verdict.ending == bug.verdict
    assert verdict.mismatch["output"] == bug.output
    assert (verdict.blame["op"], verdict.blame["kind"]) == (bug.op, bug.kind), verdict.blame["text"]
