"""A small design goes from source to test results in both simulators, and every failure is a ToolError."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.said import as_recorded

from dais_verif.base.errors import SimulatorFailure, ToolError
from dais_verif.base.toolchain import tools, verilator_runtime
from dais_verif.simulation import launch
from dais_verif.simulation.simulators import icarus, verilator
from dais_verif.simulation.simulators.simulator import BuildOptions, Simulation

ADDER = """\
module adder(input [31:0] model_inp, output [16:0] model_out);
  wire [16:0] middle = model_inp[15:0] + model_inp[31:16];
  assign model_out = middle;
endmodule
"""

BENCH = """\
import os
import sys

import cocotb
from cocotb.triggers import Timer

#: While the module is read it is the seed of the run; in a test, one derived from it.
SEED = cocotb.RANDOM_SEED


async def apply(dut, low, high):
    dut.model_inp.value = low | high << 16
    await Timer(1, "ns")


@cocotb.test()
async def adds(dut):
    await apply(dut, 65535, 2)
    assert int(dut.model_out.value) == 65537


@cocotb.test()
async def reads_inside(dut):
    await apply(dut, 5, 9)
    assert int(dut.middle.value) == 14


@cocotb.test()
async def is_wrong(dut):
    await apply(dut, 1, 1)
    assert int(dut.model_out.value) == 3


@cocotb.test()
async def knows_seed_and_environment(dut):
    slow = ("pytest", "_pytest", "asyncio", "pdb", "importlib.metadata", "dais_verif.spec.program")
    loaded = [name for name in sys.modules if name.startswith(slow)]
    assert loaded == [], f"loading them takes 0.1 s: {loaded}"
    import asyncio
    import importlib.metadata
    import pdb

    assert asyncio.run and pdb.set_trace, "the real ones"
    assert cocotb.__version__ == importlib.metadata.version("cocotb")
    assert SEED == 7
    assert os.environ["WORD"] == "two words"


@cocotb.test(skip="ENDLESS" not in os.environ)
async def endless(dut):
    while True:
        await Timer(1, "ns")


@cocotb.test(skip="CRASH" not in os.environ)
async def crashes(dut):
    os.kill(os.getpid(), 11)
"""

#: An internal signal, not a port.
INSIDE = ("middle",)

SIMULATORS = pytest.mark.parametrize("simulator", [icarus, verilator], ids=["icarus", "verilator"])

#: For tests of the launch rather than of the build: Icarus, which needs no compiler, is enough for most of them.
MOSTLY_ICARUS = pytest.mark.parametrize(
    "simulator", [pytest.param(icarus, id="icarus"), pytest.param(verilator, id="verilator", marks=pytest.mark.slow)]
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a design and its bench.

    The name of the folder trips shells and makefiles; it has no $, which Verilator would expand.
    """
    folder = tmp_path / "a folder, with John's 100%"
    folder.mkdir()
    (folder / "the adder.v").write_text(ADDER)
    (folder / "bench_adder.py").write_text(BENCH)
    return folder


def build(simulator: ModuleType, folder: Path, *, source: str | None = None, **options: Any) -> Simulation:
    path = folder / "the adder.v"
    if source is not None:
        path.write_text(source)
    simulation = simulator.build([path], "adder", folder / "build here", BuildOptions(**options))
    assert isinstance(simulation, Simulation)
    return simulation


def run(simulation: Simulation, folder: Path, **env: str) -> list[str]:
    results = launch.run(
        simulation,
        "bench_adder",
        folder / "run here",
        env={"PYTHONPATH": str(folder), "WORD": "two words", **env},
        seed=7,
        timeout=20,
    )
    assert results == folder / "run here" / "results.xml"
    return launch.failed_tests(results)


@SIMULATORS
def test_signals_can_be_read(simulator: ModuleType, folder: Path) -> None:
    simulation = build(simulator, folder, signals=INSIDE)
    assert (simulation.simulator, simulation.top) == (simulator.__name__.rpartition(".")[2], "adder")
    assert simulation.version
    assert run(simulation, folder) == ["bench_adder.is_wrong"]


@pytest.mark.parametrize("signals", [None, pytest.param(("model_inp", "other"), marks=pytest.mark.slow)])
def test_only_the_ports_and_what_was_asked_for_are_public_in_verilator(
    signals: tuple[str, ...] | None, folder: Path
) -> None:
    simulation = build(verilator, folder, signals=signals)
    assert run(simulation, folder) == ["bench_adder.reads_inside", "bench_adder.is_wrong"]


@MOSTLY_ICARUS
def test_a_build_never_keeps_what_was(simulator: ModuleType, folder: Path) -> None:
    assert "bench_adder.adds" not in run(build(simulator, folder), folder)
    # The file is older than the first build, and is built nevertheless.
    (folder / "the adder.v").write_text(ADDER.replace("= middle", "= ~middle"))
    os.utime(folder / "the adder.v", (0, 0))
    assert "bench_adder.adds" in run(build(simulator, folder), folder)
    with pytest.raises(ToolError):
        build(simulator, folder, source="module adder(")
    with pytest.raises(ToolError):
        run(simulator_of(simulator, folder), folder)


def simulator_of(simulator: ModuleType, folder: Path) -> Simulation:
    """Return the simulation that a caller would run if the failed build were overlooked."""
    name = simulator.__name__.rpartition(".")[2]
    output = {"icarus": "simulation.vvp", "verilator": "simulation"}[name]
    start = {"icarus": ("vvp", "-n"), "verilator": ()}[name]
    build_dir = folder / "build here"
    return Simulation(name, "?", "adder", (*start, str(build_dir / output)), build_dir)


@SIMULATORS
def test_waves(simulator: ModuleType, folder: Path) -> None:
    simulation = build(simulator, folder, waves=True)
    name = {"icarus": "waves.fst", "verilator": "waves.vcd"}[simulation.simulator]
    for waves in (False, True):
        run_dir = folder / f"waves {waves}"
        env = {"PYTHONPATH": str(folder)}
        launch.run(simulation, "bench_adder", run_dir, env=env, waves=waves, timeout=20)
        assert (run_dir / name).exists() == waves


def test_waves_of_a_build_that_records_none(folder: Path) -> None:
    with pytest.raises(ValueError, match="build"):
        launch.run(build(verilator, folder), "bench_adder", folder / "run here", waves=True)


@SIMULATORS
@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("module adder(input a);\n  assign = 1;\nendmodule\n", r"syntax error"),
        ("module adder(input a);\n  nowhere x(a);\nendmodule\n", r"nowhere"),
        ("module other(input a);\nendmodule\n", r"adder"),
    ],
    ids=["syntax", "missing module", "missing top"],
)
def test_a_design_that_cannot_be_built(simulator: ModuleType, folder: Path, source: str, message: str) -> None:
    with pytest.raises(SimulatorFailure, match=message) as caught:
        build(simulator, folder, source=source)
    text = str(caught.value)
    assert "\n" not in text
    as_recorded(text)


@SIMULATORS
def test_a_build_that_takes_too_long_leaves_no_older_one(simulator: ModuleType, folder: Path) -> None:
    simulation = build(simulator, folder)
    assert Path(simulation.command[-1]).exists()
    with pytest.raises(ToolError, match=r"time.*0 s"):
        build(simulator, folder, timeout=0)
    assert not Path(simulation.command[-1]).exists()


@SIMULATORS
def test_a_warning_does_not_stop_a_build(simulator: ModuleType, folder: Path) -> None:
    simulation = build(simulator, folder, source=ADDER.replace("[16:0] middle", "[9:0] middle"))
    assert Path(simulation.command[-1]).is_file()


@MOSTLY_ICARUS
def test_a_run_that_never_ends(simulator: ModuleType, folder: Path) -> None:
    simulation = build(simulator, folder)
    start = time.monotonic()
    with pytest.raises(ToolError, match=r"time.*2 s .*simulation\.log\)$"):
        launch.run(
            simulation,
            "bench_adder",
            folder / "run",
            env={"PYTHONPATH": str(folder), "ENDLESS": "1"},
            timeout=2,
        )
    assert time.monotonic() - start < 10


@SIMULATORS
def test_a_run_that_crashes(simulator: ModuleType, folder: Path) -> None:
    simulation = build(simulator, folder)
    with pytest.raises(ToolError, match=r"SIGSEGV|code [1-9]"):
        run(simulation, folder, CRASH="1")


@MOSTLY_ICARUS
def test_old_results_are_never_taken_for_new_ones(simulator: ModuleType, folder: Path) -> None:
    simulation = build(simulator, folder)
    run(simulation, folder)
    with pytest.raises(ToolError, match="no_such_bench") as caught:
        launch.run(simulation, "no_such_bench", folder / "run here", timeout=20)
    assert "\n" not in str(caught.value)


@MOSTLY_ICARUS
def test_settings_of_the_shell_do_not_reach_a_run(
    simulator: ModuleType, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COCOTB_TEST_FILTER", "adds")
    assert "bench_adder.is_wrong" in run(build(simulator, folder), folder)


@pytest.mark.parametrize(
    ("variable", "simulator"),
    [("DAIS_VERIF_IVERILOG", icarus), ("DAIS_VERIF_VERILATOR", verilator)],
    ids=["icarus", "verilator"],
)
def test_a_missing_tool(folder: Path, monkeypatch: pytest.MonkeyPatch, variable: str, simulator: ModuleType) -> None:
    monkeypatch.setenv(variable, "/none/such")
    with pytest.raises(ToolError, match=variable):
        build(simulator, folder)


#: A stand-in for a compiler that has compiled the runtime before: it copies the object, slowly enough to be killed.
QUICK = """\
#!/bin/sh
for word; do
  [ "$previous" = -o ] && output=$word
  previous=$word
done
if [ -f "{kept}/$output" ]; then sleep 0.2; exec cp "{kept}/$output" "$output"; fi
exec "{compiler}" "$@"
"""


@pytest.mark.parametrize("compiler", ["quick", pytest.param("real", marks=pytest.mark.slow)])
def test_a_runtime_whose_build_was_killed_is_not_used(
    compiler: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if compiler == "quick":
        (folder / "bin").mkdir()
        (folder / "bin" / "g++").write_text(
            QUICK.format(kept=verilator_runtime.ensure(), compiler=tools.verilator().compiler)
        )
        (folder / "bin" / "g++").chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")
    cache = folder / "cache"
    monkeypatch.setenv("DAIS_VERIF_CACHE", str(cache))
    monkeypatch.setenv(verilator_runtime.PARANOID, "1")
    command = [sys.executable, "-c", "from dais_verif.base.toolchain import verilator_runtime as r; r.ensure()"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        wait_until(lambda: any(cache.glob("runtime/*/*.o")))
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    folders = [path for path in (cache / "runtime").iterdir() if path.is_dir()]
    assert len(folders) == 1
    assert run(build(verilator, folder, signals=INSIDE), folder) == ["bench_adder.is_wrong"]
    # The left-overs are gone; the runtime is complete, and found again.
    assert [path for path in (cache / "runtime").iterdir() if path.is_dir()] == [verilator_runtime.ensure()]
    assert verilator_runtime.ensure() not in folders


def test_a_cache_that_cannot_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "file").touch()
    monkeypatch.setenv("DAIS_VERIF_CACHE", str(folder / "file"))
    monkeypatch.setenv(verilator_runtime.PARANOID, "1")
    with pytest.raises(ToolError, match="set DAIS_VERIF_CACHE"):
        build(verilator, folder)


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (ADDER.replace("endmodule\n", ""), r"adder\.v:\d+: syntax error"),
        ('`include "lost.vh"\n' + ADDER, r"adder\.v:\d+: Include file lost\.vh not found"),
    ],
)
def test_what_icarus_cannot_build_is_blamed_on_the_source_and_its_cause(tmp_path: Path, text: str, cause: str) -> None:
    (tmp_path / "adder.v").write_text(text)
    with pytest.raises(SimulatorFailure, match=cause):
        icarus.build([tmp_path / "adder.v"], "adder", tmp_path / "build")
