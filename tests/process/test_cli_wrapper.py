"""``emit --wrap``: the files in the folder, whether tools accept them, and what is refused."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.said import as_recorded

import dais_verif
from dais_verif.base.errors import WrapperError
from dais_verif.base.toolchain import tools
from dais_verif.doors.cli import main
from dais_verif.hardware.emitter.register_map import REGISTERS, register_table
from dais_verif.simulation.selfcheck import selfcheck_signatures
from dais_verif.verbs.wrapper import find_wrapper

EXAMPLE = Path(__file__).parents[2] / "examples" / "quantised_mac.bin"


def emitted(folder: Path, *options: str) -> dict[str, Any]:
    """Write a folder and return the content of its ``dais.json``."""
    assert main._run(["emit", str(EXAMPLE), "-o", str(folder), *options]) == 0
    tree: dict[str, Any] = json.loads((folder / "dais.json").read_text())
    return tree


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def run(command: list[str], folder: Path, env: Mapping[str, str] | None = None) -> str:
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


SHELL = {"rtl/dais_skid.v", "rtl/dais_axis.v", "rtl/model.v", "rtl/model_axis.v"}
LITE = {"rtl/dais_axil.v", "rtl/dais_selfcheck.v"}


def around(top: str) -> set[str]:
    return {
        "README.md",
        "dais.json",
        "files.f",
        "vivado.tcl",
        f"{top}.core",
        f"constraints/{top}.xdc",
        f"constraints/{top}.sdc",
    }


def test_the_folder_holds_what_a_project_needs(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    facts = emitted(tmp_path / "out", "--wrap", "axis")
    assert capfd.readouterr().out == f"top module model_axis, in {tmp_path}/out: 11 files, which README.md explains\n"
    assert names(tmp_path / "out") == SHELL | around("model_axis")
    assert set((tmp_path / "out" / "files.f").read_text().split()) == SHELL
    assert (facts["core_latency"], facts["latency"], facts["user_bits"], facts["axil"]) == (0, 2, 1, False)
    for name, digest in facts["files"].items():
        assert hashlib.sha256((tmp_path / "out" / name).read_bytes()).hexdigest() == digest
    assert set(facts["files"]) == names(tmp_path / "out") - {"dais.json"}


def test_a_pipeline_with_registers_of_its_own(tmp_path: Path) -> None:
    facts = emitted(tmp_path / "out", "--wrap", "axis", "--stages", "3", "--axil", "--user-bits", "0", "--top", "nn")
    assert facts["core_latency"] == 3 and facts["latency"] == 4 and facts["user_bits"] == 0
    assert {name for name in names(tmp_path / "out") if name.startswith("rtl")} == LITE | {
        name.replace("model", "nn") for name in SHELL
    }
    program = dais_verif.load(EXAMPLE)
    wanted = selfcheck_signatures(program, [1, 16, 256, 4096])
    assert facts["signatures"] == {str(beats): f"{value:08x}" for beats, value in wanted.items()}
    page = (tmp_path / "out" / "README.md").read_text()
    assert all(f"| {beats} | `{value:08x}` |" in page for beats, value in wanted.items())
    assert register_table() in page and program.hash in page


def test_the_signature_asked_for_is_there(tmp_path: Path) -> None:
    facts = emitted(tmp_path / "out", "--wrap", "axis", "--axil", "--check-beats", "20")
    assert list(facts["signatures"]) == ["1", "16", "20"]


def test_as_json(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    emitted(tmp_path / "out", "--wrap", "axis", "--json")
    tree = json.loads(capfd.readouterr().out)
    assert tree["wrapped"]["top"] == "model_axis" and set(tree["wrapped"]["files"]) == names(tmp_path / "out")


def test_the_same_command_twice_writes_the_same(tmp_path: Path) -> None:
    first = emitted(tmp_path / "out", "--wrap", "axis")
    assert emitted(tmp_path / "out", "--wrap", "axis") == first
    assert os.listdir(tmp_path) == ["out"]


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "thesis.tex").write_text("kept")
    assert main._run(["emit", str(EXAMPLE), "--wrap", "axis", "-o", str(tmp_path)]) == 2
    as_recorded(capfd.readouterr().err)
    assert names(tmp_path) == {"thesis.tex"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--wrap", "axis"], "-o"),
        (["--axil", "-o", "out"], "--axil"),
        (["--period", "3", "-o", "out"], "--period"),
        (["--wrap", "uart", "--axil", "-o", "out"], "--wrap uart"),
        (["--wrap", "uart", "--user-bits", "0", "-o", "out"], "--user-bits"),
        (["--wrap", "axis", "--check-beats", "3", "-o", "out"], "--check-beats"),
        (["--wrap", "axis", "--period", "0", "-o", "out"], "--period is 0.0"),
        (["--wrap", "axis", "--period", "nan", "-o", "out"], "--period is nan"),
        (["--wrap", "axis", "--stages", "2", "--reset", "-o", "out"], "--reset"),
        (["--wrap", "axis", "--stages", "2", "--valid", "-o", "out"], "--valid"),
        (["--wrap", "axis", "--top", "dais", "-o", "out"], "--top dais "),
        (["--wrap", "axis", "--top", "dais_skid", "-o", "out"], "--top dais_skid "),
    ],
)
def test_what_cannot_be_done_is_refused(
    options: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main._run(["emit", str(EXAMPLE), *options]) == 2
    said = capfd.readouterr().err
    assert message in said
    as_recorded(said.rstrip())
    assert os.listdir(tmp_path) == []


KINDS = {
    "axis": ["--wrap", "axis"],
    "axil": ["--wrap", "axis", "--axil", "--stages", "2"],
    "uart": ["--wrap", "uart", "--stages", "1"],
    "fifo": ["--wrap", "fifo"],
}


@pytest.fixture(params=KINDS)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    emitted(tmp_path / "out", *KINDS[request.param])
    return tmp_path / "out"


def top_of(folder: Path) -> str:
    return str(json.loads((folder / "dais.json").read_text())["top"])


def test_simulators_take_the_file_list(folder: Path) -> None:
    icarus = [str(tools.icarus().iverilog), "-g2005", "-Wall", "-s", top_of(folder), "-o", os.devnull, "-f", "files.f"]
    said = run(icarus, folder)
    assert "error" not in said and "dais_axi" not in said and "dais_s" not in said and "model" not in said
    found = tools.verilator()
    run([*found.driver, "--lint-only", "--top-module", top_of(folder), "-f", "files.f"], folder, dict(found.env))


def test_the_core_file_is_yaml_that_names_every_source(folder: Path) -> None:
    yaml = pytest.importorskip("yaml")
    text = (folder / f"{top_of(folder)}.core").read_text()
    assert text.startswith("CAPI=2:\n")
    tree = yaml.safe_load(text)
    assert tree["filesets"]["rtl"]["files"] == (folder / "files.f").read_text().split()
    assert all((folder / name).is_file() for name in tree["filesets"]["constraints"]["files"])
    assert {target["toplevel"] for target in tree["targets"].values()} == {top_of(folder)}


#: Tcl stubs of the Vivado commands that the script uses; they print their arguments. Yosys can run Tcl.
VIVADO = """
proc get_projects {{args}} {{ return [list {project}] }}
foreach name {{add_files read_verilog set_property update_compile_order create_clock}} {{
  proc $name {{args}} "puts \\"CALL $name \\$args\\""
}}
proc get_files {{name}} {{ return $name }}
proc get_ports {{name}} {{ return port:$name }}
cd /
source {script}
"""


@pytest.mark.parametrize(("project", "command"), [("mine", "add_files"), ("", "read_verilog")])
def test_the_vivado_script_adds_every_source(project: str, command: str, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "vivado.tcl").write_text(VIVADO.format(project=project, script=folder / "vivado.tcl"))
    said = run([yosys(), "-q", "-c", str(tmp_path / "vivado.tcl")], tmp_path)
    first = next(line for line in said.splitlines() if line.startswith(f"CALL {command}"))
    assert [word for word in first.replace("{", " ").replace("}", " ").split() if word.endswith(".v")] == [
        str(folder / name) for name in (folder / "files.f").read_text().split()
    ]


@pytest.mark.parametrize("kind", ["xdc", "sdc"])
def test_constraints_name_the_clock(kind: str, folder: Path, tmp_path: Path) -> None:
    path = folder / "constraints" / f"{top_of(folder)}.{kind}"
    (tmp_path / "constraints.tcl").write_text(VIVADO.format(project="", script=path))
    said = run([yosys(), "-q", "-c", str(tmp_path / "constraints.tcl")], tmp_path)
    assert "CALL create_clock -name aclk -period 5 port:aclk" in said


@pytest.mark.parametrize("top", ["core", "shell", "registers", "selfcheck", "nn$1"])
def test_names_of_instances_and_odd_names_do_no_harm(top: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    emitted(out, "--wrap", "axis", "--axil", "--stages", "1", "--top", top)
    icarus = [str(tools.icarus().iverilog), "-g2005", "-Wall", "-s", f"{top}_axis", "-o", os.devnull]
    sources = (out / "files.f").read_text().split()
    assert run([*icarus, *sources], out) == ""
    found = tools.verilator()
    run([*found.driver, "--lint-only", "-Wall", "--top-module", f"{top}_axis", *sources], out, dict(found.env))
    (tmp_path / "vivado.tcl").write_text(VIVADO.format(project="", script=out / "vivado.tcl"))
    assert f"{out}/rtl/{top}_axis.v" in run([yosys(), "-q", "-c", str(tmp_path / "vivado.tcl")], tmp_path)


def test_registers_lie_apart() -> None:
    words = [register.offset + 4 * k for register in REGISTERS for k in range(register.bits // 32)]
    assert len(set(words)) == len(words) and max(words) < 256


def test_the_register_map_of_the_verilog_is_the_one_of_the_page() -> None:
    text = (Path(__file__).parents[2] / "rtl" / "dais_axil.v").read_text()
    head = text[: text.index("`default_nettype")]
    for register in REGISTERS:
        assert f"0x{register.offset:02X}" in head and register.name in head


def test_facts_in_a_pipe_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "dais.json")
    waited = threading.Event()

    def end() -> None:
        waited.set()
        os.close(os.open(tmp_path / "dais.json", os.O_WRONLY | os.O_NONBLOCK))  # ends what reads

    timer = threading.Timer(5, end)
    timer.start()
    with pytest.raises(WrapperError):
        find_wrapper(tmp_path)
    timer.cancel()
    assert not waited.is_set()
