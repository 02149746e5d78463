"""Machines behind AXI4-Stream: every output beat is compared, whichever side pauses, and faults are found."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.kernel_instances import S5
from support.kernel_instances import instance as kernel
from support.said import as_recorded, raises
from support.stream_machines import mac, moving_sum, overflowing, write_stream

import dais_verif
from dais_verif.base.errors import MachineInputError, SimulatorError
from dais_verif.base.toolchain import tools
from dais_verif.base.verdict import Verdict
from dais_verif.compile.kernels.forms.stream import StreamForm, stream_form
from dais_verif.compile.kernels.shipped.pooling import STRUCTURE as POOL
from dais_verif.compile.kernels.structures import Tensor
from dais_verif.doors.cli.main import _run
from dais_verif.record.simulation import SimulationRecord
from dais_verif.simulation.machines.axis import expected_stream, oracle_stream, random_beats
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.streams import StreamPins, stream_of
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.simulate import simulate
from dais_verif.verbs.simulation_request import SimulationRequest
from dais_verif.verbs.wrapper import find_wrapper

MACHINES: dict[str, Callable[[], Machine]] = {
    "filter": moving_sum,
    "outputs that follow inputs at once": lambda: moving_sum(latch=False),
    "fewer beats come out": mac,
}


def wrapped(machine: Machine, folder: Path) -> Path:
    dais_verif.emit(machine, wrap="axis", stream=write_stream(folder), output=folder / "axis")
    return folder / "axis"


def simulated(machine: Machine, folder: Path, simulator: str | None = "icarus", vectors: int = 60) -> SimulationRecord:
    request = SimulationRequest(
        program=machine, vectors=vectors, simulator=simulator, design=DesignRequest(wrapped=find_wrapper(folder))
    )
    return simulate(request).record


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("name", "simulator"),
    [
        ("filter", None),
        *((name, "icarus") for name in MACHINES if name != "filter"),
        *(pytest.param(name, None, marks=pytest.mark.slow) for name in MACHINES if name != "filter"),
    ],
    ids=lambda value: value or "both",
)
def test_every_beat_is_the_golden_models(name: str, simulator: str | None, tmp_path: Path) -> None:
    machine = MACHINES[name]()
    record = simulated(machine, wrapped(machine, tmp_path), simulator)
    assert record.verdict is Verdict.PASS, record.message
    assert [result.mismatches for result in record.simulators] == [0] * (1 if simulator else 2)
    whole = 60 // (4 if machine.signals.get("count") else 1)
    assert all(6 * whole < result.vectors_compared <= 7 * whole for result in record.simulators)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    yield wrapped(moving_sum(), tmp_path_factory.mktemp("wrapped"))


FAULTS = {
    "a word is dropped under backpressure": ("wire enable = !valid_out || m_axis_tready;", "wire enable = 1'b1;"),
    "the machine goes on while its output waits": (".en(enable)", ".en(1'b1)"),
    "the source is not held": (".m_ready(enable)", ".m_ready(1'b1)"),
    "the result is lost while it waits": ("if (enable) result <=", "result <="),
    "valid one cycle early": ("assign m_axis_tvalid = valid_out;", "assign m_axis_tvalid = core_valid;"),
    "valid drops while it waits": ("else if (enable) valid_out", "else valid_out"),
    "the machine is not reset": (".rst(!aresetn)", ".rst(1'b0)"),
    "valid survives a reset": ("if (!aresetn) valid_out <= 1'b0;", "if (1'b0) valid_out <= 1'b0;"),
    "nothing is said to be valid": (".v(valid_in)", ".v(1'b1)"),
    "a bit is lost": ("assign m_axis_tdata = {5'd0, result};", "assign m_axis_tdata = {5'd0, result & 11'h7fe};"),
    "pad bits": ("assign m_axis_tdata = {5'd0, result};", "assign m_axis_tdata = {5'd1, result};"),
    "TVALID waits for TREADY": ("wire enable = !valid_out || m_axis_tready;", "wire enable = m_axis_tready;"),
    "a reset of one clock is lost while the output waits": (".rst(!aresetn)", ".rst(!aresetn && enable)"),
    "the result changes late while it waits": (
        "assign m_axis_tdata = {5'd0, result};",
        "reg [7:0] waits; always @(posedge aclk)\n"
        "    waits <= !valid_out || m_axis_tready ? 8'd0 : waits + (waits != 8'hff);\n"
        "  assign m_axis_tdata = {5'd0, result[10:1], result[0] ^ (waits == 8'hff)};",
    ),
    "a beat comes long after the last": (
        "assign m_axis_tvalid = valid_out;",
        "reg [7:0] rests; always @(posedge aclk)\n"
        "    rests <= !aresetn || valid_out ? 8'd0 : rests + (rests != 8'hff);\n"
        "  assign m_axis_tvalid = valid_out || rests == 8'hfe;",
    ),
    "a long rest leaves a bit wrong": (
        "assign m_axis_tdata = {5'd0, result};",
        "reg [8:0] rests; always @(posedge aclk)\n"
        "    if (!aresetn) rests <= 9'd0;\n"
        "    else if (!rests[8]) rests <= valid_out ? 9'd0 : rests + 9'd1;\n"
        "  assign m_axis_tdata = {5'd0, result[10:1], result[0] ^ rests[8]};",
    ),
    "a clock too late": (
        "wire enable = !valid_out || m_axis_tready;",
        "reg late; always @(posedge aclk) late <= aresetn & !late;\n"
        "  wire enable = !late && (!valid_out || m_axis_tready);",
    ),
}


#: The faults of the fast suite.
_FIRST = (
    "a word is dropped under backpressure",
    "TVALID waits for TREADY",
    "a reset of one clock is lost while the output waits",
)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in _FIRST else pytest.mark.slow) for name in FAULTS], ids=list(FAULTS)
)
def test_a_fault_of_the_wrapper_is_found(name: str, folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "axis")
    path, (there, put) = tmp_path / "axis" / "rtl" / "model_axis.v", FAULTS[name]
    text = path.read_text()
    assert text.count(there) == 1
    path.write_text(text.replace(there, put))
    record = simulated(moving_sum(), tmp_path / "axis")
    assert record.verdict in (Verdict.RTL_MISMATCH, Verdict.X_IN_OUTPUT), record.message


def test_a_fault_of_the_machine_is_found(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "axis")
    path = tmp_path / "axis" / "rtl" / "model.v"
    path.write_text(path.read_text().replace("line[15:8] <= line[7:0];", "line[15:8] <= ~line[7:0];"))
    assert "<= ~line" in path.read_text()
    assert simulated(moving_sum(), tmp_path / "axis").verdict is Verdict.RTL_MISMATCH


@pytest.fixture(scope="module")
def windows() -> StreamForm:
    """Return windows of 3 x 3 over images of 4 x 4, the last of which need further beats or cycles without any."""
    pads = {f"{word}_{d}": 1 for word in ("stride", "pad", "dilation") for d in ("w", "h")}
    given = POOL.pack({**pads, "kernel_w": 3, "kernel_h": 3})
    return stream_form(kernel("min_pool", [Tensor.of(S5, 4, 4)], (4, 4), given))


@pytest.mark.few(2)
@pytest.mark.parametrize("count", [16, 17, 20, 26])
def test_beats_that_a_machine_may_hold_back_are_known(count: int, windows: StreamForm) -> None:
    machine = windows.machine
    stream = stream_of(machine, StreamPins(**tomllib.loads(windows.stream)))
    beats = random_beats(stream, count + 12, 3)
    found = expected_stream(machine, stream, beats[:count], beats[count:], check=True)
    seen = set()
    for gaps in (0.0, 0.1, 0.3, 0.5, 0.7):
        given = oracle_stream(machine, stream, beats[:count], check=True, gaps=gaps, chance=random.Random(count))
        data = [beat.data for beat in given.beats]
        assert data == found.data[: len(data)]
        seen.add(len(data))
    # At least ``least`` beats come out whatever the gaps, and at most all of the expected ones.
    assert found.least == min(seen) and max(seen) <= len(found.data)
    assert (max(seen) == found.least) == (len(found.data) == found.least) == (count in (16, 26))


@pytest.mark.slow
@pytest.mark.parametrize("count", [49, 52])
def test_a_stream_that_ends_in_an_image_passes(count: int, windows: StreamForm, tmp_path: Path) -> None:
    (tmp_path / "stream.toml").write_text(windows.stream)
    dais_verif.emit(windows.machine, wrap="axis", stream=tmp_path / "stream.toml", output=tmp_path / "axis")
    record = simulated(windows.machine, tmp_path / "axis", vectors=count)
    assert record.verdict is Verdict.PASS, record.message
    top = tmp_path / "axis" / "rtl" / "model_axis.v"
    top.write_text(top.read_text().replace(".rst(!aresetn)", ".rst(!aresetn && enable)"))
    assert simulated(windows.machine, tmp_path / "axis", vectors=count).verdict is Verdict.RTL_MISMATCH


def test_tools_take_the_folder_as_its_readme_says(folder: Path) -> None:
    page = (folder / "README.md").read_text()
    found = tools.verilator()
    for command, env, tool in (
        ("iverilog -g2005 -s model_axis -o /dev/null -f files.f", None, [str(tools.icarus().iverilog)]),
        (
            "verilator --lint-only -Wall -Wno-DECLFILENAME --top-module model_axis -f files.f",
            dict(found.env),
            found.driver,
        ),
    ):
        assert f"    {command}\n" in page
        words = [*tool, *command.split()[1:]]
        done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, "" if env is None else done.stdout), done.stderr
        assert "Warning" not in done.stderr, done.stderr


def test_nothing_sent_is_no_pass(folder: Path) -> None:
    record = simulated(moving_sum(), folder, vectors=0)
    as_recorded((record.verdict, record.message))


def test_too_few_beats_for_one_to_come_out_are_no_pass(tmp_path: Path) -> None:
    record = simulated(mac(), wrapped(mac(), tmp_path), vectors=3)
    as_recorded((record.verdict, record.message))


def test_a_broken_promise_is_the_machines(tmp_path: Path) -> None:
    record = simulated(overflowing(), wrapped(overflowing(), tmp_path))
    assert record.verdict is Verdict.PROGRAM_INVALID


def test_a_machine_that_counts_cycles_is_no_stream(tmp_path: Path) -> None:
    machine = moving_sum(elastic=False)
    with pytest.raises(
        SimulatorError,
        match=r"stream.*\d+ changes.*cycles.*\(v = 0\)",
    ):
        simulated(machine, wrapped(machine, tmp_path))


def test_another_machine_is_not_that_of_the_folder(folder: Path) -> None:
    with raises(MachineInputError, match="machine"):
        simulated(moving_sum(latch=False), folder)


def test_the_command_line(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Inputs in cycles are refused where beats are expected, as is a folder of another machine."""
    source = Path(__file__).parents[1] / "fsm" / "f01_counter" / "fsm.json.gz"
    assert _run(["sim", str(source), "--wrapped", str(folder)]) == 2
    as_recorded(capfd.readouterr().err)
    assert _run(["sim", str(source), "--wrapped", str(folder), "--inputs", "x.npz"]) == 2
    said = capfd.readouterr().err
    assert "--inputs " in said
    as_recorded(said.rstrip())
    facts = json.loads((folder / "dais.json").read_text())
    assert facts["stream"] == {"valid_in": "v", "valid_out": "w", "enable": "en", "reset": "rst"}
