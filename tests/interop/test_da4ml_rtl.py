"""``dais-verif sim`` gives the right verdicts on da4ml's RTL: Verilog and VHDL, combinational and pipelined."""

from __future__ import annotations

from pathlib import Path

import pytest
from interop.networks import NETWORKS, traced
from interop.rtl import sim, write
from support.da4ml_rtl import BUGS, FORMS, need_ghdl, written

from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.simulate import simulate
from dais_verif.verbs.simulate_jointly import simulate_jointly
from dais_verif.verbs.simulation_request import SimulationRequest

pytestmark = pytest.mark.usefixtures("da4ml")

VECTORS = ("--vectors", "300")

#: The networks in the fast suite; `make test-interop` runs all.
FAST = {"verilog": ("choices",), "pipelined verilog": (), "vhdl": ("residual",), "pipelined vhdl": ("lookup",)}


def simulator(form: str, fast: bool = True) -> tuple[str, ...]:
    """Return the option that selects Icarus for Verilog if the test must be ``fast``; otherwise the default is used."""
    if FORMS[form].flavor == "vhdl":
        return ()
    return ("--sim", "icarus") if fast else ()


CASES = [
    pytest.param(name, form, marks=() if name in FAST[form] else pytest.mark.slow, id=f"{name}-{form}")
    for form in FORMS
    for name in NETWORKS
]


@pytest.mark.few(2)
@pytest.mark.parametrize(("name", "form"), CASES)
def test_is_right(name: str, form: str, tmp_path: Path) -> None:
    rtl = written(name, form, tmp_path)
    verdict = sim(rtl, tmp_path, *VECTORS, *simulator(form, name in FAST[form]))
    assert verdict.ending == ("PASS", 0), verdict.record["message"]
    for run in verdict.record["simulators"]:
        assert run["vectors_compared"] >= 300  # and vectors for conditions
        # The latency that the testbench finds is da4ml's: the registers of each stage, and one more at the end.
        assert run["latency"] == rtl.latency


#: The real programs that Icarus and GHDL run in seconds, and those that do not pass.
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
    """p11 passes once its output 3 is driven: inputs with an inp_shift of up to 127 are right."""
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
        """A wrong latency, for example the number of stages in metadata.json, is blamed on timing."""
        rtl = written("dense", "pipelined verilog", tmp_path)
        assert rtl.latency is not None
        verdict = sim(rtl, tmp_path, *VECTORS, "--sim", "icarus", latency=str(rtl.latency + wrong))
        assert verdict.ending == ("RTL_MISMATCH", 1)
        assert verdict.blame["kind"] == "timing"

    @pytest.mark.slow
    def test_of_vhdl_that_is_given(self, tmp_path: Path) -> None:
        rtl = written("mlp", "pipelined vhdl", tmp_path)
        assert sim(rtl, tmp_path, "--vectors", "50", latency=str(rtl.latency)).ending == ("PASS", 0)


#: One fault for each kind of blame is in the fast suite.
FAST_BUGS = (
    "constant off by one",
    "outputs swapped",
    "a register too many in one output",
    "mux inverted, VHDL",
)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in FAST_BUGS else pytest.mark.slow) for name in BUGS]
)
def test_a_seeded_fault_is_found(name: str, tmp_path: Path) -> None:
    bug = BUGS[name]
    right = written(bug.network, bug.form, tmp_path / "right")
    rtl = right.edited(tmp_path / "wrong", bug.source, bug.old, bug.new)
    latency = str(rtl.latency) if rtl.latency else None
    verdict = sim(rtl, tmp_path, *VECTORS, *simulator(bug.form), latency=latency)
    assert verdict.ending == bug.verdict
    assert verdict.mismatch["output"] == bug.output
    assert (verdict.blame["op"], verdict.blame["kind"]) == (bug.op, bug.kind), verdict.blame["text"]


@pytest.mark.slow
def test_networks_in_one_build_are_as_each_alone(tmp_path: Path) -> None:
    """Designs in a shared build have the same results as alone; those whose tables read their own files run alone."""
    shared = []
    asked = []
    for name in NETWORKS:
        rtl = written(name, "verilog", tmp_path / name)
        design = DesignRequest(rtl=rtl.sources, top="model")
        asked.append(SimulationRequest(program=rtl.program, design=design, simulator="both", vectors=300, jobs=1))
    for name, one, request in zip(NETWORKS, simulate_jointly(asked), asked, strict=True):
        alone = simulate(request).record
        if one is not None:
            shared.append(name)
            assert one.record.verdict is alone.verdict, name
            assert [run.digest for run in one.record.simulators] == [run.digest for run in alone.simulators], name
            assert one.record.message == alone.message and one.record.decisions == alone.decisions, name
    assert len(shared) >= 3
