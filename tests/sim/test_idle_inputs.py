"""Input ports without bits: designs that depend on one fail wherever RTL is run, and designs that ignore it pass."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.axis_designs import wrapped
from support.boards import on_tcp, verilated
from support.door import Run, run_sim, save
from support.machines import connect, counter, read_tree, signal, tree
from support.said import as_recorded

from dais_verif import prove, run_on_board
from dais_verif.base.verdict import Verdict
from dais_verif.cocotb import DaisModel, exhaustive_vectors, generate_vectors
from dais_verif.hardware.emitter.machines import emit_machine
from dais_verif.simulation.axis import simulate_axis
from dais_verif.spec.program import Program
from dais_verif.stimulus import generate
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.simulate import simulate
from dais_verif.verbs.simulate_jointly import simulate_jointly
from dais_verif.verbs.simulation_request import SimulationRequest

#: The constant 3 in two bits; no inputs.
PROGRAM = Program.build([(5, -1, -1, 3, (0, 2, 0))], [(0, 0, 0)], inp_shift=[])
#: Outputs computed from the port that must be ignored: RIGHT is 3 for both of its values, those in WRONG only for one.
RIGHT = "{1'b1, model_inp | ~model_inp}"
WRONG = ["{1'b1, ~model_inp}", "{1'b1, model_inp}"]
#: Which port the message names.
SAYS = ", model_inp "


def module(value: str) -> str:
    ports = "input wire model_inp, output wire [1:0] model_out"
    return f"module model({ports});\n  assign model_out = {value};\nendmodule\n"


def is_wrong(run: Run) -> None:
    assert run.ending == ("RTL_MISMATCH", 1), run.record["message"]
    assert SAYS in run.record["message"]
    as_recorded(run.record["message"])
    # The replay gives the port the same value.
    assert run.record["first_mismatch"]["found"]["bits"] == "10"
    as_recorded(run.blame["text"])


@pytest.mark.few(1)
@pytest.mark.parametrize("simulator", ["icarus", "verilator", "both"])
@pytest.mark.parametrize("value", WRONG)
def test_each_value_is_driven_with_a_single_vector(value: str, simulator: str, tmp_path: Path) -> None:
    is_wrong(run_sim(PROGRAM, tmp_path, "--vectors", 1, rtl=module(value), simulator=simulator))


@pytest.mark.few(1)
@pytest.mark.parametrize("value", [*WRONG, RIGHT])
def test_vectors_that_exhaust_count_once(value: str, tmp_path: Path) -> None:
    run = run_sim(PROGRAM, tmp_path, "--exhaustive-bits", 8, "--vectors", 1, rtl=module(value), simulator="verilator")
    assert run.record["verdict"] == ("PASS" if value == RIGHT else "RTL_MISMATCH")
    assert run.record["simulators"][0]["vectors_compared"] == 2


def test_a_design_that_ignores_the_port_passes(tmp_path: Path) -> None:
    run = run_sim(PROGRAM, tmp_path, "--vectors", 300, rtl=module(RIGHT), simulator="both")
    assert run.ending == ("PASS", 0)
    assert [one["bits_compared"] for one in run.record["simulators"]] == [600, 600]
    assert run_sim(PROGRAM, tmp_path / "own", "--stages", 2, simulator="both").ending == ("PASS", 0)


@pytest.mark.few(1)
@pytest.mark.parametrize("simulator", ["icarus", "verilator"])
@pytest.mark.parametrize("options", [("--latency", 1), ()], ids=["latency", "found"])
def test_a_pipeline_that_registers_the_port(simulator: str, options: tuple[object, ...], tmp_path: Path) -> None:
    """A design that holds the port's value in a register, so that outputs lag by a vector, does not pass."""
    head = "module model(input clk, input wire model_inp, output reg [1:0] model_out);\n"
    rtl = head + "  always @(posedge clk) model_out <= {1'b1, ~model_inp};\nendmodule\n"
    run = run_sim(PROGRAM, tmp_path, "--vectors", 1, "--clock", "clk", *options, rtl=rtl, simulator=simulator)
    assert run.record["verdict"] != "PASS"
    if options:
        assert run.ending == ("RTL_MISMATCH", 1)


def test_vhdl(tmp_path: Path) -> None:
    text = (
        "library ieee;\nuse ieee.std_logic_1164.all;\nentity model is\n"
        "  port (model_inp : in std_logic_vector(0 downto 0); model_out : out std_logic_vector(1 downto 0));\n"
        "end entity;\narchitecture rtl of model is begin\n  model_out <= '1' & VALUE;\nend architecture;\n"
    )
    path = tmp_path / "model.vhd"
    program = save(PROGRAM, tmp_path)
    for value, verdict in {"(not model_inp(0))": Verdict.RTL_MISMATCH, "'1'": Verdict.PASS}.items():
        path.write_text(text.replace("VALUE", value))
        design = DesignRequest(rtl=(path,), top="model")
        request = SimulationRequest(program=program, design=design, vectors=1, simulator="ghdl")
        assert simulate(request).record.verdict is verdict


#: Input 0 has no bits; output 0 is input 1, which has four; each has a port.
SECOND = Program.build([(-1, 0, -1, 0, (1, -1, 0)), (-1, 1, -1, 0, (0, 4, 0))], [(1, 0, 0)], inp_shift=[0, 0])
PORTS = '[inputs]\nport = "x_{}"\n[outputs]\nport = "y"\n'


@pytest.mark.few(2)
@pytest.mark.parametrize("simulator", ["icarus", "verilator"])
@pytest.mark.parametrize(
    ("value", "verdict"), [("x_1", "PASS"), ("x_1 ^ x_0", "RTL_MISMATCH"), ("x_1 ^ !x_0", "RTL_MISMATCH")]
)
def test_a_port_of_its_own_beside_one_with_bits(value: str, verdict: str, simulator: str, tmp_path: Path) -> None:
    """All vectors, also exhaustive ones, have values for the port, but outputs that depend on it are not exhausted."""
    (tmp_path / "ports.toml").write_text(PORTS)
    rtl = f"module model(input x_0, input [3:0] x_1, output [3:0] y);\n  assign y = {value};\nendmodule\n"
    options = ("--ports", tmp_path / "ports.toml", "--vectors", 1, "--exhaustive-bits", 8)
    run = run_sim(SECOND, tmp_path, *options, rtl=rtl, simulator=simulator)
    assert run.record["verdict"] == verdict, run.record["message"]


@pytest.mark.few(1)
@pytest.mark.parametrize("value", WRONG)
def test_a_proof_refutes_and_simulation_confirms_it(value: str, tmp_path: Path) -> None:
    path = tmp_path / "design.v"
    path.write_text(module(value))
    record = prove(save(PROGRAM, tmp_path), rtl=path)
    assert record.verdict is Verdict.RTL_MISMATCH, record.message


def test_designs_that_share_a_build(tmp_path: Path) -> None:
    """A design with a port without bits is not built jointly, but in a run of its own, which drives both values."""
    requests = []
    for number, value in enumerate([*WRONG, RIGHT]):
        (tmp_path / f"{number}.v").write_text(module(value))
        design = DesignRequest(rtl=(tmp_path / f"{number}.v",), top="model")
        requests.append(SimulationRequest(program=PROGRAM, design=design, vectors=1, simulator="icarus"))
    assert not any(simulate_jointly(requests))
    assert [simulate(one).record.verdict.value for one in requests] == ["RTL_MISMATCH", "RTL_MISMATCH", "PASS"]


@pytest.mark.few(1)
@pytest.mark.parametrize(("value", "verdict"), [*((v, Verdict.RTL_MISMATCH) for v in WRONG), (RIGHT, Verdict.PASS)])
def test_behind_a_stream(value: str, verdict: Verdict, tmp_path: Path) -> None:
    design = wrapped(PROGRAM, tmp_path, bug=("model.v", module(value)))
    finding = simulate_axis(
        PROGRAM, generate(PROGRAM, 2, 1), design, tmp_path, user_bits=3, simulators=("icarus",), timeout=120
    )
    assert finding.verdict is verdict, finding.message


@pytest.mark.few(1)
@pytest.mark.parametrize(("value", "verdict"), [*((v, Verdict.RTL_MISMATCH) for v in WRONG), (RIGHT, Verdict.PASS)])
def test_on_a_board(value: str, verdict: Verdict, tmp_path: Path) -> None:
    core = module(value)
    with verilated(PROGRAM, "fifo", tmp_path / "rtl", core=core) as board, on_tcp(board) as target:
        record = run_on_board(save(PROGRAM, tmp_path), target=target, vectors=1, output=tmp_path / "out")
    assert record.verdict is verdict, record.message
    assert record.simulators[0].vectors_compared == 1
    if verdict is Verdict.RTL_MISMATCH:
        assert SAYS in record.message and record.first_mismatch is not None
        as_recorded(record.message)
        as_recorded(record.first_mismatch.blame.text)


@pytest.mark.few(2)
@pytest.mark.parametrize("simulator", ["icarus", "verilator"])
@pytest.mark.parametrize(("value", "verdict"), [("n", "PASS"), ("n ^ z", "RTL_MISMATCH"), ("n ^ !z", "RTL_MISMATCH")])
def test_a_port_of_a_machine(value: str, verdict: str, simulator: str, tmp_path: Path) -> None:
    """A counter with an input ``z`` without bits passes only if its output does not depend on ``z``."""
    fsm, nothing = counter(rst_if=signal("rst", exposed=True), rst_to=[3])["fsm"], [[False, 0, 0]]
    through = connect(signal("z", nothing, exposed=True), signal("w", nothing, exposed=True))
    whole = tree(fsm["logic"], [*fsm["conns"], through])
    text = emit_machine(read_tree(whole))
    assert text.count("assign y = n;") == 1
    path = tmp_path / "model.v"
    path.write_text(text.replace("assign y = n;", f"assign y = {value};"))
    program, design = json.dumps(whole).encode(), DesignRequest(rtl=(path,), top="model")
    record = simulate(SimulationRequest(program=program, design=design, vectors=20, simulator=simulator)).record
    assert record.verdict.value == verdict, record.message
    if verdict != "PASS":
        assert record.first_mismatch is not None and record.first_mismatch.blame is not None
        assert "is right when the sequence is repeated" not in record.first_mismatch.blame.text


def test_vectors_for_benches_of_users() -> None:
    """The port is driven with 0 and 1 in turn; the exhaustive vectors are these two."""
    model = DaisModel(PROGRAM)
    assert [vector.row for vector in generate_vectors(model, 3)] == ["0", "1", "0"]
    assert [str(vector.packed) for vector in exhaustive_vectors(model)] == ["0", "1"]
    assert len({vector.raw for vector in generate_vectors(model, 3)}) == 1
