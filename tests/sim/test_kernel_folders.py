"""Folders of kernels are run, simulated and proved as a whole, and every fault in them is found."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.said import as_recorded, raises

import dais_verif
from dais_verif.base.errors import InputError
from dais_verif.base.stopwatch import Stopwatch
from dais_verif.base.verdict import Verdict
from dais_verif.compile.kernels.folder import read_folder
from dais_verif.doors.cli import main
from dais_verif.record.simulation import SimulationRecord
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.kernels.source import KernelSource, compare_with_members
from dais_verif.verbs.progress import SILENT
from dais_verif.verbs.prove import ProveRequest, prove
from dais_verif.verbs.simulate import simulate
from dais_verif.verbs.simulation_request import SimulationRequest
from dais_verif.verbs.tensors.simulate import simulate_tensors

Capture = pytest.CaptureFixture[str]
PARAMS = """
kernel = "conv2d"
[input]
shape = [1, 4, 3]
type = "s2.1"
[weights]
shape = [1, 1, 3, 1]
type = "s3.1"
seed = 5
[options]
pad = [1, 0]
"""
FORMS = {"memory": {}, "parallel": {"parallel": 2}, "stream": {"form": "stream"}}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    base = tmp_path_factory.mktemp("kernels")
    (base / "conv.toml").write_text(PARAMS)
    for name, options in FORMS.items():
        dais_verif.build_kernel("conv2d", base / "conv.toml", output=base / name, **options)  # type: ignore[arg-type]
    return {name: base / name for name in FORMS}


def edited(folder: Path, at: Path, name: str, old: str, new: str) -> Path:
    """Copy a folder with one file edited and its hash in the manifest updated."""
    at.mkdir()
    for path in folder.iterdir():
        if path.is_file():
            (at / path.name).write_bytes(path.read_bytes())
    text = (at / name).read_text()
    assert old in text
    (at / name).write_text(text.replace(old, new, 1))
    if name != "instance.json":
        tree = json.loads((at / "instance.json").read_text())
        tree["files"][name] = hashlib.sha256((at / name).read_bytes()).hexdigest()
        (at / "instance.json").write_text(json.dumps(tree))
    return at


@pytest.mark.few(2)
@pytest.mark.parametrize("form", FORMS)
def test_rtl_is_held_against_all_members(folders: dict[str, Path], form: str) -> None:
    record = simulate(SimulationRequest(program=folders[form], simulator="icarus", vectors=1, seed=3)).record
    assert record.verdict is Verdict.PASS, record.message
    run = record.kernel
    assert run is not None
    assert run.elements == 2 * 4 * 3 and run.samples == 2 and run.wrong is None
    assert (run.ranges > 0) == (form != "stream")
    assert f"{run.elements} elements" in record.message


@pytest.mark.parametrize("form", ["memory", "stream"])
def test_folders_are_proved(folders: dict[str, Path], form: str) -> None:
    record = prove(ProveRequest(program=folders[form], confirm=False)).record
    assert record.verdict is Verdict.PASS, record.message
    assert record.kernel is not None and record.kernel.folded is Verdict.PASS
    assert "kernel conv2d: 12 members" in record.message


@pytest.mark.parametrize("form", ["memory", "stream"])
def test_another_block_than_the_machine_has_is_found(folders: dict[str, Path], tmp_path: Path, form: str) -> None:
    """The RTL agrees with the machine, and only the comparison with the kernel finds the difference."""
    other = tmp_path / "other"
    params = tmp_path / "conv.toml"
    params.write_text(PARAMS.replace("seed = 5", "seed = 6"))
    dais_verif.build_kernel("conv2d", params, output=other)
    folder = edited(folders[form], tmp_path / "edited", "instance.json", "", "")
    (folder / "core.bin").write_bytes((other / "core.bin").read_bytes())
    tree = json.loads((folder / "instance.json").read_text())
    tree["files"]["core.bin"] = hashlib.sha256((folder / "core.bin").read_bytes()).hexdigest()
    (folder / "instance.json").write_text(json.dumps(tree))
    kept = tmp_path / "kept"
    record = simulate(SimulationRequest(program=folder, simulator="icarus", vectors=1, output=kept)).record
    assert record.verdict is Verdict.RTL_MISMATCH
    assert SimulationRecord.from_json((kept / "result.json").read_text()) == record
    assert "kernel conv2d" in record.message and "member [" in record.message
    as_recorded(record.message)
    proved = prove(ProveRequest(program=folder, confirm=False)).record
    assert proved.verdict is Verdict.RTL_MISMATCH
    assert proved.kernel is not None and proved.kernel.folded is Verdict.PROGRAMS_DIFFER


def test_wrong_rtl_names_the_member(folders: dict[str, Path], tmp_path: Path) -> None:
    wrong = tmp_path / "model.v"
    text = (folders["memory"] / "model.v").read_text()
    assert text.count(" out0_result <= INTERNAL") == 1
    wrong.write_text(text.replace(" out0_result <= INTERNAL", " out0_result <= ~INTERNAL"))
    kernel = read_folder(folders["memory"])
    assert kernel is not None
    request = SimulationRequest(program=folders["memory"], simulator="icarus", vectors=1)
    design = request.design.__class__(rtl=(wrong,))
    request = SimulationRequest(program=folders["memory"], simulator="icarus", vectors=1, design=design)
    record, _, _ = simulate_tensors(KernelSource(kernel), request, SILENT, Stopwatch())
    assert record.verdict is Verdict.RTL_MISMATCH
    assert record.kernel is not None and record.kernel.member is not None
    assert record.kernel.member.startswith("member [")


def test_a_proof_that_does_not_decide_is_followed_by_driving(folders: dict[str, Path], tmp_path: Path) -> None:
    # An output that is wrong only after the first members of a range; random inputs do not get so far.
    wrong = tmp_path / "model.v"
    text = (folders["memory"] / "model.v").read_text()
    wrong.write_text(text.replace(" out0_result <= INTERNAL", " out0_result <= ~INTERNAL"))
    design = DesignRequest(rtl=(wrong,))
    record = prove(ProveRequest(program=folders["memory"], design=design, simulator="icarus", timeout=1)).record
    assert record.verdict is Verdict.RTL_MISMATCH, record.message
    assert "--vectors" in str(record.simulate) or "counterexample" in str(record.simulate)


def test_a_request_is_built_without_the_kernels_name(folders: dict[str, Path], tmp_path: Path) -> None:
    dais_verif.build_kernel(str(folders["memory"].parent / "conv.toml"), output=tmp_path / "short")
    for path in folders["memory"].iterdir():
        assert path.is_dir() or path.read_bytes() == (tmp_path / "short" / path.name).read_bytes()


def test_a_pattern_that_is_not_the_machines_is_found(folders: dict[str, Path], tmp_path: Path) -> None:
    tree = json.loads((folders["memory"] / "instance.json").read_text())
    pattern = tree["inputs"][0]["pattern"]["dims"][0]
    old = json.dumps(pattern["start_b"])
    folder = edited(folders["memory"], tmp_path / "edited", "instance.json", "", "")
    tree["inputs"][0]["pattern"]["dims"][0] |= {"start_b": float(old) - 1, "end_b": pattern["end_b"] - 1}
    (folder / "instance.json").write_text(json.dumps(tree))
    record = simulate(SimulationRequest(program=folder, simulator="icarus", vectors=1)).record
    assert record.verdict is Verdict.RTL_MISMATCH
    as_recorded(record.message)


def test_a_time_that_is_not_kept_is_found(folders: dict[str, Path], tmp_path: Path) -> None:
    folder = edited(folders["memory"], tmp_path / "edited", "instance.json", '"latency": 4', '"latency": 5')
    record = prove(ProveRequest(program=folder, confirm=False)).record
    assert record.verdict is Verdict.RTL_MISMATCH and "latency: 50 is stated, but it is 40" in record.message


def test_no_vectors_are_no_pass(folders: dict[str, Path]) -> None:
    record = simulate(SimulationRequest(program=folders["stream"], simulator="icarus", vectors=0)).record
    assert record.verdict is Verdict.NOT_RUN


@pytest.mark.parametrize("name", ["machine.fsm.json", "model.v", "core.bin", "frame.toml"])
def test_files_that_were_changed_are_refused(folders: dict[str, Path], tmp_path: Path, name: str) -> None:
    folder = edited(folders["memory"], tmp_path / "edited", "instance.json", "", "")
    (folder / name).write_bytes((folder / name).read_bytes() + b" ")
    with raises(InputError):
        read_folder(folder)
    (folder / name).unlink()
    with pytest.raises(InputError, match=name):
        read_folder(folder)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"dais-verif/kernel/1"', '"dais-verif/kernel/9"', "schema"),
        ('"form": "memory"', '"form": "cloud"', "form 'cloud'"),
        ('"pad": 0', '"pad": "x"', "valid"),
        ('"kernel"', '"colonel"', "valid"),
        ('"input 0"', '"output 0"', "tensors"),
        ('"s2.1"', '"s2"', "s2"),
        ("    4,\n", "    -4,\n", " 0, "),
        ('"pad": 0', '"pad": 9', "pad of input 0 is 9"),
        ('"s2.1"', '"s3.1"', r"port in0_data.*machine carries s2.1"),
        ("{", "[", "valid"),
    ],
)
def test_manifests_that_lie_are_refused(
    folders: dict[str, Path], tmp_path: Path, old: str, new: str, said: str
) -> None:
    folder = edited(folders["memory"], tmp_path / "edited", "instance.json", "", "")
    text = (folder / "instance.json").read_text()
    where = "      4,\n" if "4,\n" in old else old
    assert where in text
    (folder / "instance.json").write_text(text.replace(where, new, 1))
    with raises(InputError, match=said):
        read_folder(folder)


def test_tensors_go_in_and_come_out(folders: dict[str, Path], tmp_path: Path, capsys: Capture) -> None:
    image = (np.arange(12).reshape(1, 4, 3) % 4 - 2) / 2
    np.save(tmp_path / "x.npy", image)
    weights = np.load(folders["memory"] / "aux" / "input1.npy").ravel()
    padded = np.pad(image[0], ((1, 1), (0, 0)))
    wanted = sum(padded[r : r + 4] * weights[r] for r in range(3))
    words = ["run", str(folders["memory"]), "--inputs", str(tmp_path / "x.npy"), "-o", str(tmp_path / "y.npy")]
    assert main._run(words) == 0
    assert np.array_equal(np.load(tmp_path / "y.npy"), wanted[None])
    np.save(tmp_path / "x.npy", np.stack([image, image]))
    capsys.readouterr()
    assert main._run(["run", str(folders["stream"]), "--inputs", str(tmp_path / "x.npy")]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
    record = simulate(
        SimulationRequest(program=folders["stream"], simulator="icarus", vectors=0, inputs=(tmp_path / "x.npy",))
    ).record
    assert record.verdict is Verdict.PASS and record.kernel is not None and record.kernel.samples == 2


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.zeros((2, 4, 3)), "(2, 4, 3)"),
        (np.full((1, 4, 3), 9.0), "s2.1"),
        (np.full((1, 4, 3), np.nan), "x.npy"),
        (np.zeros((1, 4, 3), dtype=complex), "complex"),
    ],
)
def test_other_tensors_are_refused(
    folders: dict[str, Path], tmp_path: Path, capsys: Capture, array: NDArray[Any], said: str
) -> None:
    np.save(tmp_path / "x.npy", array)
    assert main._run(["run", str(folders["memory"]), "--inputs", str(tmp_path / "x.npy")]) == 2
    error = capsys.readouterr().err
    assert said in error and len(error.splitlines()) == 1
    as_recorded(error.rstrip())


def test_a_reset_that_clears_tensors_is_found(folders: dict[str, Path]) -> None:
    """Memories keep their contents over a reset: the frame of many ranges has a reset before outputs are read."""
    kernel = read_folder(folders["memory"])
    assert kernel is not None
    out, busy = kernel.machine.signals["out0"], kernel.machine.signals["busy"]
    cleared = replace(kernel.machine, signals={**kernel.machine.signals, "out0": replace(out, reset=busy.reset)})
    right, wrong = (
        compare_with_members(kernel.instance, "memory", machine, kernel.facts)[0]
        for machine in (kernel.machine, cleared)
    )
    assert right.verdict is Verdict.PASS
    assert wrong.verdict is Verdict.PROGRAMS_DIFFER
    as_recorded(wrong.message)


@pytest.mark.parametrize("form", ["memory", "stream"])
def test_when_outputs_are_there_is_part_of_a_frame(folders: dict[str, Path], form: str) -> None:
    """If the signal that marks valid outputs depends on state that frames do not restore, no proof passes."""
    kernel = read_folder(folders[form])
    assert kernel is not None
    name = "done" if form == "memory" else "pending"
    signals = {**kernel.machine.signals, name: replace(kernel.machine.signals[name], initial=None, reset=None)}
    writers = tuple(c for c in kernel.machine.connections if c.target.signal != name)
    stuck = replace(kernel.machine, signals=signals, connections=writers)
    record, _ = compare_with_members(kernel.instance, form, stuck, kernel.facts)
    assert record.verdict is not Verdict.PASS
