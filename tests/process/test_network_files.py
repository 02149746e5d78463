"""An ONNX file is accepted wherever a program is, and behaves like the program of its network."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from support.onnx_networks import Build, reference
from support.said import as_recorded, raises

import dais_verif
from dais_verif.base.errors import InputError, VectorError
from dais_verif.base.verdict import Verdict
from dais_verif.compile.networks import NetworkError, read
from dais_verif.doors.cli import main
from dais_verif.spec.program import Program, write_binary
from dais_verif.subject import Kind, open_subject
from dais_verif.subject.programs import load_program
from dais_verif.verbs.evaluate import EvaluationRequest, evaluate

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def build() -> Build:
    b = Build()
    b.quantise(b.node("Relu", b.node("MatMul", b.quantise(b.input("x", ["N", 2, 2]), -1), b.constant([[1], [3]]))), 0)
    return b


@pytest.fixture
def net(build: Build, tmp_path: Path) -> Path:
    path = tmp_path / "net.onnx"
    path.write_bytes(build.bytes(build.nodes[-1].output[0]))
    return path


def said(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    code = main._run([*map(str, words)])
    found = capsys.readouterr()
    return code, found.out, found.err


def test_a_file_is_a_network_by_its_name_or_what_is_in_it(net: Path, tmp_path: Path) -> None:
    program = read(net).program()
    plain = shutil.copy(net, tmp_path / "model")
    for source in (net, str(net), net.read_bytes(), plain):
        assert load_program(source).hash == program.hash and open_subject(source).kind is Kind.NETWORK
    assert open_subject(ROOT / "examples/sort_two.bin").kind is Kind.PROGRAM
    (tmp_path / "NET.ONNX").write_bytes(b"no network")
    with raises(NetworkError):
        load_program(tmp_path / "NET.ONNX")
    with raises(InputError):
        load_program(tmp_path / "none.onnx")


def test_a_program_that_begins_as_a_network_does_is_a_program(tmp_path: Path) -> None:
    """A program of 264 inputs begins with the same byte as an ONNX file, and is still read as a program."""
    program = Program.build([(-1, 263, -1, 0, (1, 3, 4))], [(0, 0, 0)], inp_shift=[0] * 264)
    (tmp_path / "p.bin").write_bytes(data := write_binary(program, "headerless"))
    assert data[0] == 8 and load_program(tmp_path / "p.bin").hash == load_program(data).hash == program.hash


@pytest.mark.parametrize("verb", ["check", "show", "emit", "prove", "run", "sensitivity"])
def test_a_layout_is_refused_in_one_line(verb: str, net: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = said(capsys, verb, net, "--layout", "v1", *(["--profile"] if verb == "run" else []))
    as_recorded(err)
    assert code == 2 and err.count("\n") == 1


def test_verbs_take_a_network(net: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each verb gives for the network what it gives for its program."""
    binary = tmp_path / "p.bin"
    assert said(capsys, "convert", net, binary)[0] == 0
    assert dais_verif.load(binary).hash == read(net).program().hash
    assert said(capsys, "diff", net, binary, "--prove")[0] == 0
    assert "identical" in said(capsys, "prove", net)[1]
    for verb in ("emit", "explain"):
        mine, theirs = (said(capsys, verb, path) for path in (net, binary))
        assert mine[0] == theirs[0] == 0 and mine[1] == theirs[1], verb
    for verb in ("coverage", "sensitivity"):
        assert said(capsys, verb, net, "--vectors", "9")[0] == 0
    assert said(capsys, "run", net, "--profile")[0] == 0


@pytest.mark.slow
def test_verbs_that_take_tools_take_a_network(net: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "sim"
    assert said(capsys, "sim", net, "--vectors", 50, "-o", out)[0] == 0
    assert said(capsys, "report", out, "-o", tmp_path / "page.html")[0] == 0
    assert "gives no longer" not in (tmp_path / "page.html").read_text()
    assert said(capsys, "synth", net, "--target", "ice40", "-o", tmp_path / "netlist")[0] == 0
    assert said(capsys, "regress", net.parent, "--vectors", 20, "-o", tmp_path / "all")[0] == 0
    assert said(capsys, "signoff", net, "-o", tmp_path / "signed")[0] == 0
    assert said(capsys, "signoff", "--verify", tmp_path / "signed")[0] == 0
    net.write_bytes(net.read_bytes().replace(b"Relu", b"Tanh"))
    assert said(capsys, "signoff", "--verify", tmp_path / "signed")[0] != 0


def test_check_and_show_print_nodes_with_types(net: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(capsys, "check", net)
    shown = said(capsys, "show", net)[1]
    assert code == 0 and shown in out
    assert "  -  QuantizeLinear_0    QuantizeLinear    x    ->  t3" in shown and "->  t11  u7.0   1x2x1" in shown
    assert "fused nodes (2)\n  1  mul\n  2  relu\nunrolled: " in shown
    record = dais_verif.check(net)
    assert record.network is not None and record.network.fused == [["mul"], ["relu"]] and record.network.cost == 4
    assert {node.writes.name: node.writes.type for node in record.network.nodes}[record.network.outputs[0]] == "u7.0"


def test_all_that_is_not_supported_is_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    b = Build()
    x = b.quantise(b.input("x", [1, 3]), 0)
    (tmp_path / "bad.onnx").write_bytes(b.bytes(b.node("Sin", x), b.node("Cos", x)))
    code, _, err = said(capsys, "check", tmp_path / "bad.onnx")
    as_recorded(err)
    assert code == 2 and err.count("\n") == 1 and "'Cos_3'" in err


@pytest.mark.parametrize("as_file", ["npz", "flat", "npy", "csv"])
def test_run_takes_the_networks_own_shapes(build: Build, net: Path, tmp_path: Path, as_file: str) -> None:
    x = np.random.default_rng(0).integers(-128, 128, (5, 2, 2)) / 2
    path = tmp_path / f"x.{'npz' if as_file == 'flat' else as_file}"
    if as_file in ("npz", "flat"):
        np.savez(path, x=x if as_file == "npz" else x.reshape(5, 4), label=np.arange(5))
    elif as_file == "npy":
        np.save(path, x)
    else:
        np.savetxt(path, x.reshape(5, 4), delimiter=",")
    done = evaluate(EvaluationRequest(program=net, inputs=path))
    name = build.nodes[-1].output[0]
    expected = [reference(build.model(name), read(net), row, [name]) for row in x.reshape(5, 4)]
    assert np.array_equal(np.stack(done.columns, axis=1), np.stack(expected))


WRONG = {
    "above": (
        np.full((1, 2, 2), 64.0),
        r"sample 0: x\[0, 0, 0\] is 64.0.*takes -64.0 to 63.5.*0.5",
    ),
    "between": (np.array([[[0.0, 0], [0, 0]], [[0, 0], [0.25, 0]]]), r"sample 1: x\[0, 1, 0\] is 0.25"),
    "shape": (np.zeros((5, 3)), r"x is float64 of shape \(5, 3\).*shape \(samples, 2, 2\)"),
    "not finite": (np.full((1, 2, 2), np.nan), ""),
    "text": (np.full((1, 2, 2), "one"), ""),
}


@pytest.mark.parametrize("case", WRONG)
def test_numbers_that_an_input_cannot_hold_are_refused(net: Path, tmp_path: Path, case: str) -> None:
    array, words = WRONG[case]
    np.savez(tmp_path / "x.npz", x=array)
    with raises(VectorError, match=words):
        evaluate(EvaluationRequest(program=net, inputs=tmp_path / "x.npz"))


def test_files_without_the_inputs_are_refused(net: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", y=np.zeros((1, 2, 2)))
    with raises(InputError):
        evaluate(EvaluationRequest(program=net, inputs=tmp_path / "x.npz"))
    (tmp_path / "cut.npz").write_bytes((tmp_path / "x.npz").read_bytes()[:60])
    with raises(InputError):
        evaluate(EvaluationRequest(program=net, inputs=tmp_path / "cut.npz"))
    np.save(tmp_path / "x.npy", np.full((1, 4), 0.25))
    with pytest.raises(InputError, match=r"sample 0: x\[0, 0, 0\] is 0.25"):
        evaluate(EvaluationRequest(program=net, inputs=tmp_path / "x.npy"))


def test_without_the_package_one_line_says_what_to_install(
    net: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    code, _, err = said(capsys, "check", net)
    as_recorded(err)
    assert code == Verdict.TOOL_FAILURE.exit_code and err.count("\n") == 1
