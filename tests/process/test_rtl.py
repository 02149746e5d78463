"""The hand-written RTL is accepted by Icarus, Verilator and Yosys at all kinds of widths."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.said import raises

from dais_verif.base.errors import ToolError
from dais_verif.base.toolchain import tools
from dais_verif.hardware.emitter.rtl_library import AXIL_FILES, AXIS_FILES, library_sources
from dais_verif.hardware.emitter.wrapper import Identity, emit_axis_top

SHELL = library_sources(*AXIS_FILES, *AXIL_FILES)

#: (Input bits, output bits, latency, user bits, with AXI4-Lite).
SHAPES = [
    (8, 8, 0, 1, False),
    (13, 21, 0, 0, True),
    (30, 7, 1, 3, False),
    (1, 1, 5, 0, True),
    (70, 64, 4, 8, True),
]
SHAPE = pytest.mark.parametrize("shape", SHAPES, ids=str)


@pytest.fixture
def sources(shape: tuple[int, int, int, int, bool], tmp_path: Path) -> list[str]:
    """Return the names of the files of the wrapper, its top and a core that consists of registers only."""
    inp, out, latency, user, axil = shape
    identity = Identity(3, 2, 64 * "5") if axil else None
    top = emit_axis_top("model", input_bits=inp, output_bits=out, latency=latency, user_bits=user, axil=identity)
    (tmp_path / "model_axis.v").write_text(top)
    clocked = "input wire clk, input wire en, " if latency else ""
    layers = [f"reg [{inp - 1}:0] r{k};" for k in range(latency)]
    layers += [f"always @(posedge clk) if (en) r{k} <= {f'r{k - 1}' if k else 'model_inp'};" for k in range(latency)]
    last = f"r{latency - 1}" if latency else "model_inp"
    core = f"module model ({clocked}input wire [{inp - 1}:0] model_inp, output wire [{out - 1}:0] model_out);\n"
    core += "\n".join([*layers, f"assign model_out = {{{out}{{^{last}}}}};", "endmodule\n"])
    (tmp_path / "model.v").write_text(core)
    for path in SHELL:
        shutil.copy(path, tmp_path)
    return [*AXIS_FILES, *AXIL_FILES * axil, "model.v", "model_axis.v"]


def run(command: list[str], folder: Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False)
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    return output


def yosys() -> str:
    found = shutil.which("yosys")
    if found is None:
        if os.environ.get("CI"):
            pytest.fail("no yosys on PATH")
        pytest.skip("no yosys on PATH")
    return found


@SHAPE
def test_icarus_takes_it_as_verilog_2005_without_a_warning(sources: list[str], tmp_path: Path) -> None:
    command = [str(tools.icarus().iverilog), "-g2005", "-Wall", "-s", "model_axis", "-o", "model.vvp", *sources]
    assert run(command, tmp_path) == ""


@SHAPE
def test_verilator_finds_nothing_to_say(sources: list[str], tmp_path: Path) -> None:
    found = tools.verilator()
    command = [*found.driver, "--lint-only", "-Wall", "--language", "1364-2005", "--top-module", "model_axis", *sources]
    assert "%" not in run(command, tmp_path, dict(found.env))


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "shape", [pytest.param(shape, id=str(shape), marks=[pytest.mark.slow] * (n > 2)) for n, shape in enumerate(SHAPES)]
)
def test_yosys_synthesises_it_and_finds_no_problem(
    shape: tuple[int, int, int, int, bool], sources: list[str], tmp_path: Path
) -> None:
    script = f"read_verilog {' '.join(sources)}; synth -noalumacc -top model_axis; check -assert"
    output = run([yosys(), "-p", script], tmp_path)
    assert not re.search(r"warning|error|(?<!no )latch inferred", output, re.IGNORECASE)


def test_names_of_the_hand_written_modules_are_their_files() -> None:
    for path in SHELL:
        assert re.findall(r"^module (\w+)", path.read_text(), re.MULTILINE) == [path.stem]


def test_lost_rtl_is_said_to_be_lost() -> None:
    with raises(ToolError):
        library_sources("nothing.v")


def test_an_installed_package_carries_the_rtl(tmp_path: Path) -> None:
    """``pip install .`` copies the RTL: the package is built here without the network, from a copy of the sources."""
    root = Path(__file__).parents[2]
    for name in ("setup.py", "pyproject.toml", "README.md", "MANIFEST.in"):
        shutil.copy(root / name, tmp_path)
    ignored = shutil.ignore_patterns("__pycache__", "*.so")
    for name in ("dais_verif", "rtl"):
        shutil.copytree(root / name, tmp_path / name, ignore=ignored)
    run([sys.executable, "setup.py", "-q", "build_py", "--build-lib", "out"], tmp_path)
    script = (
        "from dais_verif.hardware.emitter.rtl_library import *\n"
        "print(*library_sources(*AXIS_FILES, *AXIL_FILES), sep='\\n')"
    )
    found = run([sys.executable, "-c", script], tmp_path / "out", {**os.environ, "PYTHONPATH": str(tmp_path / "out")})
    assert [Path(line) for line in found.split()] == [
        tmp_path / "out/dais_verif/rtl" / name for name in (*AXIS_FILES, *AXIL_FILES)
    ]


def paths(netlist: dict[str, Any], top: str) -> set[tuple[str, str]]:
    """Return the (input, output) pairs of module ``top`` that are connected by logic without a register."""
    module = netlist["modules"][top]
    driver: dict[int | str, dict[str, Any]] = {}
    for cell in module["cells"].values():
        outputs = [name for name, direction in cell["port_directions"].items() if direction == "output"]
        for name in outputs:
            driver.update(dict.fromkeys(cell["connections"][name], cell))
    source = {
        bit: name for name, port in module["ports"].items() if port["direction"] == "input" for bit in port["bits"]
    }
    found = set()
    for name, port in module["ports"].items():
        waiting, seen = list(port["bits"]) if port["direction"] == "output" else [], set()
        while waiting:
            bit = waiting.pop()
            if bit in seen or isinstance(bit, str):
                continue
            seen.add(bit)
            if bit in source:
                found.add((source[bit], name))
            elif bit in driver and "dff" not in driver[bit]["type"].lower():
                cell = driver[bit]
                inputs = [n for n, direction in cell["port_directions"].items() if direction == "input"]
                waiting += [b for n in inputs for b in cell["connections"][n]]
    return found


@pytest.mark.few(4)
@SHAPE
def test_no_output_depends_on_an_input_without_a_register(
    shape: tuple[int, int, int, int, bool], sources: list[str], tmp_path: Path
) -> None:
    """Every path from an input to an output has a register: AXI demands this, and it keeps chained paths short."""
    script = f"read_verilog {' '.join(sources)}; prep -flatten -top model_axis; write_json netlist.json"
    run([yosys(), "-q", "-p", script], tmp_path)
    assert paths(json.loads((tmp_path / "netlist.json").read_text()), "model_axis") == set()


def test_a_path_through_logic_alone_is_seen(tmp_path: Path) -> None:
    (tmp_path / "m.v").write_text(
        "module m (input clk, input a, input b, output x, output reg y);\n"
        "assign x = a & y; always @(posedge clk) y <= b;\nendmodule\n"
    )
    run([yosys(), "-q", "-p", "read_verilog m.v; prep -flatten -top m; write_json netlist.json"], tmp_path)
    assert paths(json.loads((tmp_path / "netlist.json").read_text()), "m") == {("a", "x")}
