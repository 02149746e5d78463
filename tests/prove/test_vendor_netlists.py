"""Handmade netlists in the style of Vivado and Quartus, and Verilog of XLS, are proved; faulty copies are refuted."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from prove.door import run_prove
from prove.reading import needs_yosys
from support.places import ALIR
from support.said import as_recorded

from dais_verif.base.toolchain import tools
from dais_verif.hardware.emitter import PipelineOptions, emit_pipeline, emit_verilog
from dais_verif.spec.program import Program

VENDOR = Path(__file__).parent / "vendor"
SUM = '[inputs]\nports = ["x0", "x1"]\n[outputs]\nports = ["y"]\n'
PRODUCT = '[inputs]\nports = ["a", "b"]\n[outputs]\nports = ["p"]\n'
NEURON = '[inputs]\nport = "x"\n[outputs]\nport = "out"\n'

#: Netlist, target, program, ports, pins, and a replacement (old, new) that makes the netlist wrong.
NETLISTS = {
    "vivado_sum.v": ("xilinx", "sum", SUM, (), ("4'h6", "4'hE")),
    "vivado_product.v": ("xilinx", "product", PRODUCT, ("--clock", "clk", "--reset", "rst"), (".S(b[2])", ".S(b[1])")),
    "quartus_sum.vo": ("quartus", "sum", SUM, (), (".cin(\\Add0~6 )", ".cin(\\Add0~2 )")),
    "quartus_product.vo": (
        "quartus",
        "product",
        PRODUCT,
        ("--clock", "clk", "--reset", "rst_n:low"),
        (".datad(b[0])", ".datad(b[1])"),
    ),
}
MARKS = {
    "vivado_sum.v": [needs_yosys, pytest.mark.slow],
    "vivado_product.v": [needs_yosys],
    "quartus_sum.vo": [pytest.mark.slow],
    "quartus_product.vo": [pytest.mark.slow],
}
marked = [pytest.param(name, marks=MARKS[name], id=name.partition(".")[0]) for name in NETLISTS]


def proved(netlist: Path, name: str, folder: Path, confirm: bool = False):
    target, program, ports, pins, _ = NETLISTS[name]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ports.toml").write_text(ports)
    options = ("--netlist", netlist, "--target", target, "--ports", folder / "ports.toml", *pins)
    return run_prove(VENDOR / f"{program}.dais", folder, *options, confirm=confirm)


@pytest.mark.parametrize("name", marked)
def test_a_netlist_is_proved_and_its_wrong_twin_is_not(name: str, tmp_path: Path) -> None:
    run = proved(VENDOR / name, name, tmp_path / "right", confirm=True)
    assert run.ending == ("PASS", 0), run.tree["message"]
    assert "icarus" not in run.tree["confirmation"]["unconfirmed"]
    text, (old, new) = (VENDOR / name).read_text(), NETLISTS[name][-1]
    assert old in text
    (tmp_path / name).write_text(text.replace(old, new, 1))
    run = proved(tmp_path / name, name, tmp_path / "wrong")
    assert run.ending == ("RTL_MISMATCH", 1), run.tree["message"]


@pytest.mark.parametrize(
    ("old", "new", "verdict", "message"),
    [
        ("cyclonev_lcell_comb ", "cyclonev_mac ", "INVALID_INPUT", "unknown module 'cyclonev_mac'"),
        ('.shared_arith = "off"', '.shared_arith = "on"', "X_IN_OUTPUT", "output 0"),
        pytest.param(".oe(vcc)", ".oe(gnd)", "X_IN_OUTPUT", "output 0", marks=pytest.mark.slow),
    ],
    ids=["unknown_cell", "shared_arithmetic", "output_disabled"],
)
def test_what_no_model_does_is_never_passed(old: str, new: str, verdict: str, message: str, tmp_path: Path) -> None:
    name = "quartus_sum.vo"
    (tmp_path / name).write_text((VENDOR / name).read_text().replace(old, new))
    run = proved(tmp_path / name, name, tmp_path / "run")
    assert run.tree["verdict"] == verdict and message in run.tree["message"], run.tree["message"]
    as_recorded(run.tree["message"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (".clrn(\\rst_n~input_o )", ".clrn(gnd)"),
        pytest.param(".prn(vcc)", ".prn(gnd)", marks=pytest.mark.slow),
        pytest.param(".aload(gnd)", ".aload(vcc)", marks=pytest.mark.slow),
    ],
    ids=["cleared", "set", "loaded"],
)
def test_registers_that_are_held_are_not_passed(old: str, new: str, tmp_path: Path) -> None:
    name = "quartus_product.vo"
    text = (VENDOR / name).read_text()
    assert old in text
    (tmp_path / name).write_text(text.replace(old, new))
    run = proved(tmp_path / name, name, tmp_path / "run")
    assert run.exit_code != 0, run.tree["message"]


def test_xls_is_proved_and_its_wrong_twin_is_not(tmp_path: Path) -> None:
    text, program = (VENDOR / "xls_neuron.v").read_text(), VENDOR / "neuron.dais"
    (tmp_path / "ports.toml").write_text(NEURON)
    options = ("--top", "neuron", "--ports", tmp_path / "ports.toml")
    run = run_prove(program, tmp_path, *options, rtl=text, confirm=True)
    assert run.ending == ("PASS", 0), run.tree["message"]
    assert set(run.tree["confirmation"]["unconfirmed"]) == set()
    run = run_prove(program, tmp_path, *options, rtl=text.replace("$signed(add_16) > ", "add_16 > "))
    assert run.ending == ("RTL_MISMATCH", 1), run.tree["message"]


@pytest.mark.parametrize("edit", [("", ""), ("input wire [11:0] x,", "input wire clk,\n  input wire [11:0] x,")])
def test_ports_of_xls_need_no_file(edit: tuple[str, str], tmp_path: Path) -> None:
    text, program = (VENDOR / "xls_neuron.v").read_text().replace(*edit), VENDOR / "neuron.dais"
    pins = ("--clock", "clk", "--latency", 0) if edit[0] else ()
    run = run_prove(program, tmp_path, "--top", "neuron", *pins, rtl=text)
    assert run.ending == ("PASS", 0), run.tree["message"]
    as_recorded(run.tree["rtl"]["widths"])


def test_another_input_beside_that_of_xls_is_asked_for(tmp_path: Path) -> None:
    text = (VENDOR / "xls_neuron.v").read_text().replace("input wire [11:0] x,", "input wire [11:0] x, input wire y,")
    run = run_prove(VENDOR / "neuron.dais", tmp_path, "--top", "neuron", rtl=text)
    assert run.exit_code == 2 and "no input port model_inp" in run.tree["message"]


@pytest.mark.parametrize(
    ("old", "new", "ending"),
    [("", "", ("PASS", 0)), ("literal_952[1] = 7'h12", "literal_952[1] = 7'h13", ("RTL_MISMATCH", 1))],
    ids=["right", "wrong entry"],
)
def test_what_xls_makes_of_a_model_of_alkaid(old: str, new: str, ending: tuple[str, int], tmp_path: Path) -> None:
    """The Verilog that XLS makes of a model of alkaid is proved, and refuted with a wrong table entry.

    The file is the output of ``XLSModel(logic).compile("xls_softmax.v")`` of alkaid 0.8.2 with xls-python 0.1.9934,
    without any option.
    """
    text = (VENDOR / "xls_softmax.v").read_text().replace(old, new)
    model = ALIR / "a06_softmax_lut" / "alir.json"
    run = run_prove(model, tmp_path, "--top", "xls_model", rtl=text)
    assert run.ending == ending, run.tree["message"]


PROGRAM = Program.build(
    [
        (-1, 0, -1, 0, (1, 7, 0)),
        (-1, 1, -1, 0, (1, 7, 0)),
        (0, 0, 1, 0, (1, 8, 0)),
        (1, 0, 1, 0, (1, 8, 0)),
        (0, 2, 3, 1, (1, 10, 0)),
    ],
    [(2, 0, 0), (4, 0, 0)],
    inp_shift=[0, 0],
)


@needs_yosys
@pytest.mark.slow
@pytest.mark.parametrize("stages", [None, 2], ids=["combinational", "pipeline"])
def test_cells_do_what_yosys_maps_onto_them(stages: int | None, tmp_path: Path) -> None:
    """The models of the cells agree with Yosys, which uses their tables and carries by its own knowledge of them."""
    rtl, netlist = tmp_path / "rtl.v", tmp_path / "netlist.v"
    made = (
        emit_verilog(PROGRAM, "model")
        if stages is None
        else emit_pipeline(PROGRAM, "model", PipelineOptions(stages)).text
    )
    rtl.write_text(made)
    script = (
        f"read_verilog {rtl}; synth_intel_alm -quartus -family cyclonev -noiopad -noclkbuf -nodsp -nolutram -nobram"
        f" -top model; write_verilog -noattr {netlist}"
    )
    subprocess.run([str(tools.yosys().yosys), "-q", "-p", script], check=True, capture_output=True)
    assert "sumout" in netlist.read_text() and ("dffeas" in netlist.read_text()) is bool(stages)
    pins = ("--clock", "clk") if stages else ()
    run = run_prove(PROGRAM, tmp_path / "run", "--netlist", netlist, "--target", "quartus", *pins)
    assert run.ending == ("PASS", 0), run.tree["message"]
