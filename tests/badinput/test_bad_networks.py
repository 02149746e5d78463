"""Damaged, hostile and unsupported network files end in one line each, which names all nodes concerned."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from support.onnx_networks import Build
from support.said import as_recorded, raises

from dais_verif.base.errors import DaisError, InputError, RequestError, ToolError
from dais_verif.compile.networks import NetworkError, parse, read


def small() -> Build:
    b = Build()
    b.node("Relu", b.quantise(b.input("x", [1, 3]), -2))
    return b


def test_all_that_is_not_supported_is_named_at_once() -> None:
    b = Build()
    q = b.quantise(b.input("x", [1, 3, 4, 4]), -2)
    b.node("Erf", q)
    b.node("AveragePool", q, kernel_shape=[3, 3], pads=[3, 0, 0, 0])
    b.node("Mul", b.node("Sin", q), q)
    y = b.node("QuantizeLinear", q, b.constant(0.3), b.constant(0, np.int8))
    with pytest.raises(NetworkError) as caught:
        parse(b.bytes(y))
    assert [problem.op for problem in caught.value.problems] == ["Erf", "AveragePool", "Sin", "QuantizeLinear"]
    as_recorded(str(caught.value))
    assert "\n" not in str(caught.value)
    assert "'Sin_4' (Sin): " in str(caught.value)


def one(op: str, *constants: object, **attributes: object) -> Callable[[Build, str], str]:
    def add(b: Build, x: str) -> str:
        return b.node(op, x, *(b.constant(values) for values in constants), **attributes)

    return add


REFUSED: dict[str, tuple[Callable[[Build, str], str], str]] = {
    "zero point": (
        lambda b, x: b.node("QuantizeLinear", x, b.constant(1), b.constant(3, np.int8)),
        "(QuantizeLinear)",
    ),
    "bipolar": (lambda b, x: b.quant(x, 0, 1), "2 to 32"),
    "rounding": (lambda b, x: b.quant(x, 0, 4, mode="RANDOM"), "'RANDOM'"),
    "integers wrap": (
        lambda b, x: b.node("Add", *(b.node("QuantizeLinear", x, b.constant(1), b.constant(0, np.int8)),) * 2),
        "(Add): INT8",
    ),
    "channels": (one("Conv", np.ones((2, 3, 1, 1))), "(Conv): 2 3 1"),
    "groups": (one("Conv", np.ones((3, 2, 1, 1)), group=0), "(Conv): 2 3 0"),
    "large window": (one("Conv", np.ones((1, 2, 9, 9))), "16 4194304"),
    "large stride": (one("MaxPool", kernel_shape=[1, 1], strides=[2**62, 1]), "(MaxPool)"),
    "large pads": (one("MaxPool", kernel_shape=[1, 1], pads=[2**62, 0, 0, 0]), "(MaxPool): pads"),
    "large kernel": (one("MaxPool", kernel_shape=[2**62, 2**62], auto_pad="SAME_UPPER"), "4194304"),
    "only padding": (one("MaxPool", kernel_shape=[1, 1], pads=[1, 0, 0, 0]), "(MaxPool)"),
    "ceil": (one("MaxPool", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1), "(MaxPool): ceil_mode"),
    "attribute": (one("Flatten", axis="one"), "(Flatten): axis"),
    "axis": (one("Flatten", axis=9), "(Flatten): axis 9"),
    "matrices": (one("MatMul", np.ones((3, 3))), "(1, 2, 4, 4) (3, 3)"),
    "shapes": (one("Add", np.ones(3)), "(1, 2, 4, 4) (3,)"),
    "not finite": (one("Add", np.inf), "(Add)"),
    "nothing": (one("Add", np.ones((0,))), "(Add)"),
    "irrational": (one("BatchNormalization", [1, 1], [0, 0], [0, 0], [2, 2]), "(BatchNormalization)"),
    "computed weights": (lambda b, x: b.node("BatchNormalization", x, x, x, x, x), "(BatchNormalization)"),
    "padding beyond memory": (
        lambda b, x: b.node("Pad", x, b.constant([0, 0, 0, 0, 0, 0, 2**61, 2**61], np.int64)),
        "4194304",
    ),
    "reshape": (
        lambda b, x: b.node("Reshape", x, b.constant([7, 2**62], np.int64)),
        "(Reshape): 32 4611686018427387904",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_node_is_refused_with_its_reason(name: str) -> None:
    add, words = REFUSED[name]
    b = Build()
    y = add(b, b.quantise(b.input("x", [1, 2, 4, 4]), -2))
    with pytest.raises(NetworkError) as caught:
        parse(b.bytes(y))
    assert all(word in str(caught.value) for word in words.split()) and len(caught.value.problems) == 1
    as_recorded(caught.value)


def test_squares_of_squares_end_at_the_limit_of_programs() -> None:
    b = Build()
    x = b.quantise(b.input("x", [1]), 0)
    for _ in range(12):
        x = b.node("Mul", x, x)
    with raises(NetworkError):
        parse(b.bytes(x))


def test_work_is_bounded() -> None:
    b = Build()
    a = b.quantise(b.input("x", [2000, 2000]), 0, np.int8)
    network = parse(b.bytes(b.node("Relu", a)))
    assert network.steps == 4 * 2000 * 2000 and not network.unrolls
    with pytest.raises(NetworkError, match="16000000 steps"):
        network.program()


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ([2**40, 2**40], ""),
        (["N", "M"], "0"),
        ([0, 1], "0"),
        ([1] * 70, "16"),
    ],
    ids=["huge", "open", "empty", "deep"],
)
def test_an_input_of_no_size_is_refused(shape: list[int | str], words: str) -> None:
    b = Build()
    with raises(NetworkError, match=words):
        parse(b.bytes(b.quantise(b.input("x", shape), 0)))


def test_real_inputs_need_a_type() -> None:
    b = Build()
    y = b.node("Relu", b.input("x", [2]))
    with raises(NetworkError):
        parse(b.bytes(y))
    assert parse(b.bytes(y), inputs={"x": (1, 2, 3)}).tensors[y].type == (0, 2, 3)
    with raises(NetworkError):
        parse(b.bytes(y), inputs={"x": (1, 9000, 3)})
    with raises(InputError):
        parse(b.bytes(y), inputs={"x": (1, 2, 3), "y": (1, 2, 3)})
    with pytest.raises(RequestError, match="no tensor 'z'"):
        parse(b.bytes(y), inputs={"x": (1, 2, 3)}).program(["z"])


def changed(change: Callable[[onnx.ModelProto], object]) -> bytes:
    b = small()
    model = b.model(b.nodes[-1].output[0])
    change(model)
    return bytes(model.SerializeToString())


DAMAGED: dict[str, tuple[Callable[[onnx.ModelProto], object], str]] = {
    "cycle": (lambda m: m.graph.node[0].input.__setitem__(0, m.graph.node[2].output[0]), "'QuantizeLinear_0' 't5'"),
    "twicetwicetwice": (
        lambda m: m.graph.node[2].output.__setitem__(0, m.graph.node[0].output[0]),
        "'Relu_2' 't3'",
    ),
    "nothing": (lambda m: m.graph.node[2].input.__setitem__(0, "none"), "'Relu_2' 'none'"),
    "output": (lambda m: setattr(m.graph.output[0], "name", "none"), "'none'"),
    "no output": (lambda m: m.graph.ClearField("output"), ""),
    "no graph": (lambda m: m.ClearField("graph"), "ONNX"),
    "other file": (lambda m: setattr(m.graph.initializer[0], "data_location", 1), "'t1'"),
    "huge constant": (
        lambda m: m.graph.initializer[0].dims.extend([2**40, 2**40]),
        "'t1' 1099511627776x1099511627776 4194304",
    ),
    "short constant": (lambda m: m.graph.initializer[0].dims.extend([5]), "'t1' (5,)"),
    "line in a name": (lambda m: m.graph.node[2].input.__setitem__(0, "a\n::error::b"), r"'a\\n::error::b'"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_refused(name: str) -> None:
    change, words = DAMAGED[name]
    with pytest.raises(NetworkError) as caught:
        parse(changed(change))
    said = str(caught.value)
    assert all(word.replace("\\\\", "\\") in said for word in words.split()) and "\n" not in said
    if name != "short constant":  # this one quotes numpy
        as_recorded(said)


def test_every_truncation_and_mutation_is_read_or_one_line(tmp_path: Path) -> None:
    whole, rng = changed(lambda m: m), random.Random(5)
    cases = [whole[:size] for size in range(len(whole))]
    for _ in range(600):
        data = bytearray(whole)
        for _ in range(rng.randint(1, 3)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        cases.append(bytes(data))
    refused = 0
    for data in cases:
        try:
            parse(data)
        except DaisError as error:
            refused += 1
            assert "\n" not in str(error)
    assert refused > len(whole) // 2
    (tmp_path / "cut.onnx").write_bytes(whole[:100])
    with raises(NetworkError):
        read(tmp_path / "cut.onnx")


def test_names_that_are_no_utf8_are_named() -> None:
    data = changed(lambda m: m)
    for name in (b"Relu_2", b"QuantizeLinear", b"t2"):
        assert name in data
        damaged = data.replace(name, b"\xff" + name[1:])
        try:
            network = parse(damaged)
            assert any("\\xff" in one for one in (*network.tensors, *(node.name for node in network.nodes)))
        except NetworkError as error:
            assert "\\xff" in str(error).replace("\\\\", "\\")


def test_without_the_package_the_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with raises(ToolError):
        parse(changed(lambda m: m))
