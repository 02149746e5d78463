"""Folders that alkaid writes are simulated and proved from the folder alone, and all faults in their RTL are found.

If a proof passes with a fault, the fault must have no effect: simulation must pass, too, and it is not counted.
"""

from __future__ import annotations

import os
import shutil
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest
from interop.folder_faults import faults
from support.da4ml_rtl import need_ghdl
from support.places import ALIR

import dais_verif
from dais_verif.base.verdict import Verdict

MODELS = ("a01_dense_plain", "a04_sort8", "a05_where", "a06_softmax_lut", "a09_wide_acc")
VERSION = "0.8.2"

#: Faults per design: 20 designs, 200 faults.
FAULTS = 10
_TRIES = 40

FAST = (("a04_sort8", "verilog", 0), ("a06_softmax_lut", "verilog", 3))

DESIGNS = [
    pytest.param(
        model,
        flavor,
        stages,
        marks=() if (model, flavor, stages) in FAST else pytest.mark.slow,
        id=f"{model}-{flavor}-{'pipelined' if stages else 'combinational'}",
    )
    for model in MODELS
    for flavor in ("verilog", "vhdl")
    for stages in (0, 3)
]


@pytest.fixture(scope="module", autouse=True)
def alkaid() -> None:
    try:
        found = version("alkaid")
    except PackageNotFoundError:
        found = "none"
    if found != VERSION:
        message = f"alkaid {VERSION} is needed, {found} is installed; pip install alkaid=={VERSION}"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)


def written(model: str, folder: Path, flavor: str, stages: int, **more: Any) -> Path:
    """Let alkaid write the folder, and return it."""
    from alkaid.codegen import RTLModel
    from alkaid.types import CombLogic

    if flavor == "vhdl":
        need_ghdl()
    (program,) = (ALIR / model).glob("alir.json*")
    logic = CombLogic.load(program)
    RTLModel(logic, folder, "top", flavor=flavor, n_stages=stages or -1, print_latency=False, **more).write()
    return folder


def fast(flavor: str) -> dict[str, Any]:
    return {"simulators": "ghdl" if flavor == "vhdl" else "icarus", "exhaustive_bits": 0}


@pytest.mark.parametrize(("model", "flavor", "stages"), DESIGNS)
def test_a_folder_is_simulated_and_proved_without_options(model: str, flavor: str, stages: int, tmp_path: Path) -> None:
    folder = written(model, tmp_path / "project", flavor, stages)
    simulated = dais_verif.simulate(folder, vectors=100, **fast(flavor))
    assert simulated.passed, simulated.message
    proved = dais_verif.prove(folder, confirm=False)
    assert proved.passed, proved.message
    assert {claim.status.value for claim in proved.outputs} == {"PROVED"}
    assert (proved.timing and proved.timing.latency) == (stages + 1 if stages else None)
    assert proved.rtl.project is not None and proved.rtl.project.writer == "alkaid 0.8"


@pytest.mark.parametrize("fused", [True, False], ids=["fused", "unfused"])
def test_the_model_before_fusion_is_computed_too(fused: bool, tmp_path: Path) -> None:
    """alkaid's fusing of ops is covered by the proof if the program is the model that alkaid was given."""
    folder = written("a06_softmax_lut", tmp_path / "project", "verilog", 0, ternary_fuse=fused)
    (program,) = (ALIR / "a06_softmax_lut").glob("alir.json*")
    proved = dais_verif.prove(program, rtl=folder, confirm=False)
    assert proved.passed, proved.message


@pytest.mark.slow
@pytest.mark.parametrize(("model", "flavor", "stages"), [param.values for param in DESIGNS])
def test_faults_are_all_found(model: str, flavor: str, stages: int, tmp_path: Path) -> None:
    good = written(model, tmp_path / "good", flavor, stages)
    found = 0
    for number, fault in enumerate(faults(good, "top", seed=stages)):
        if found == FAULTS:
            break
        assert number < _TRIES, f"{found} of {number} edits were faults"
        folder = tmp_path / f"fault{number}"
        shutil.copytree(good, folder)
        fault.plant(folder)
        proved = dais_verif.prove(folder, confirm=False, cache=False)
        if proved.passed:  # the fault has no effect: simulation must not find a difference
            simulated = dais_verif.simulate(folder, vectors=2000, **fast(flavor))
            assert simulated.passed, f"{fault}: the proof passed, but {simulated.message}"
        else:
            assert proved.verdict in (Verdict.RTL_MISMATCH, Verdict.X_IN_OUTPUT), f"{fault}: {proved.message}"
            found += 1
        shutil.rmtree(folder)
    assert found == FAULTS
