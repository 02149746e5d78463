"""A folder of ``approx apply`` can be used as a program: verbs accept it, and a sign-off certifies what was applied."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.said import raises
from support.signing import QUICK, sign, verify

import dais_verif
from dais_verif.base.errors import InputError, RequestError
from dais_verif.base.verdict import Verdict

onnx = pytest.importorskip("onnx", reason="the reader of networks needs the package onnx")


@pytest.fixture(scope="module")
def applied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Apply a configuration with perforation to a network of one convolution over one row; return the folder."""
    from onnx import TensorProto, helper, numpy_helper

    folder = tmp_path_factory.mktemp("applied")
    graph = helper.make_graph(
        [
            helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
            helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
            helper.make_node("Conv", ["d", "w"], ["y"], pads=[0, 1, 0, 1]),
        ],
        "row",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 1, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [
            numpy_helper.from_array(np.array([[[[1.0, -2.0, 3.0]]]], dtype=np.float32), "w"),
            helper.make_tensor("s", TensorProto.FLOAT, [], [0.5]),
            helper.make_tensor("z", TensorProto.INT4, [], [0]),
        ],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]), folder / "row.onnx")
    (folder / "c.txt").write_text(
        "0.0\n+++++\na 1 1 0 0\n1 gpu conv fp32 11\n-----\n+++++\nb 1 1 0 0\n1 gpu conv perf 122\n-----\n"
    )
    dais_verif.apply_configuration(folder / "row.onnx", folder / "c.txt", "b", folder / "out")
    return folder / "out"


def test_verbs_take_the_folder(applied: Path) -> None:
    assert dais_verif.check(applied).verdict is Verdict.PASS
    rows = [[1.0, -2.0, 3.5, 0.5]]
    assert np.array_equal(dais_verif.run(applied, rows), dais_verif.run(applied / "program.bin", rows))
    assert dais_verif.simulate(applied, simulators=["icarus"], vectors=50).passed
    assert dais_verif.prove(applied).verdict is Verdict.PASS
    assert (
        "perf 122" in (applied / "configuration.txt").read_text()
        and "fp32 11" not in (applied / "configuration.txt").read_text()
    )


@pytest.mark.parametrize("form", ["unrolled", "memory"])
def test_the_first_configuration_is_the_default(applied: Path, tmp_path: Path, form: str) -> None:
    network, confs = applied.parent / "row.onnx", applied.parent / "c.txt"
    made = dais_verif.apply_configuration(network, confs, None, tmp_path / "made", form=form)
    assert made.config == "a" and "--config a" in made.reproduce
    with pytest.raises(RequestError):
        dais_verif.apply_configuration(network, confs, "a", tmp_path / "made", select="b", form="memory")


@pytest.mark.parametrize("name", ["program.bin", "configuration.txt"])
def test_a_folder_that_was_changed_is_refused(applied: Path, tmp_path: Path, name: str) -> None:
    for path in applied.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes() + b"\n")
    with raises(InputError):
        dais_verif.check(tmp_path)
    for text in (
        "{",
        "[]",
        '{"program": "x", "files": {}}',
        '{"program": "x", "files": {"program.bin": "", "../x": ""}}',
    ):
        (tmp_path / "applied.json").write_text(text)
        with raises(InputError):
            dais_verif.check(tmp_path)


@pytest.mark.slow
def test_a_certificate_holds_the_configuration(applied: Path, tmp_path: Path) -> None:
    folder = tmp_path / "signed"
    (folder / "out").mkdir(parents=True)
    for path in applied.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "policy.toml").write_text(QUICK)
    ending = sign(folder, program=folder)
    assert ending.verdict == "PASS", ending.tree
    held = json.loads((folder / "out" / "certificate.json").read_text())
    files = {Path(file["path"]).name: file["role"] for file in held["files"]}
    assert files["applied.json"] == files["configuration.txt"] == "configuration" and files["program.bin"] == "program"
    assert verify(folder).verdict == "PASS"
    (folder / "configuration.txt").write_text((applied / "configuration.txt").read_text().replace("122", "121"))
    moved = verify(folder, "--program", folder)
    assert moved.exit_code == 7 and any("configuration" in line for line in moved.findings)
    (folder / "configuration.txt").write_bytes((applied / "configuration.txt").read_bytes())
    told = json.loads((folder / "applied.json").read_text())
    (folder / "applied.json").write_text(json.dumps({**told, "program": "0" * 64}))
    assert sign(folder, program=folder).verdict == "INVALID_INPUT"
