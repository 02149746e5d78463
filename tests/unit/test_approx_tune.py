"""The search of configurations: results are measured and within the budget, a search can be repeated and resumed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.said import raises

import dais_verif
from dais_verif.base.errors import ApproximationError, InputError, RequestError
from dais_verif.compile.approximation import read as read_configurations

onnx = pytest.importorskip("onnx", reason="the reader of networks needs the package onnx")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Write a network of one convolution, and samples with the labels that the network gives them."""
    from onnx import TensorProto, helper, numpy_helper

    folder, rng = tmp_path_factory.mktemp("tune"), np.random.default_rng(2)
    w = rng.integers(-4, 5, size=(2, 1, 3, 3)).astype(np.float32) / 2
    graph = helper.make_graph(
        [
            helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
            helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
            helper.make_node("Conv", ["d", "w"], ["c"], pads=[1] * 4),
            helper.make_node("GlobalAveragePool", ["c"], ["y"]),
        ],
        "one",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 1, 4, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [
            helper.make_tensor("s", TensorProto.FLOAT, [], [0.25]),
            helper.make_tensor("z", TensorProto.INT4, [], [0]),
            numpy_helper.from_array(w, "w"),
        ],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]), folder / "net.onnx")
    x = rng.integers(-8, 8, size=(40, 1, 4, 4)) / 4
    scores = dais_verif.run(str(folder / "net.onnx"), x.reshape(40, -1))
    np.savez(folder / "data.npz", x=x, label=np.asarray(scores).argmax(axis=1))
    return folder / "net.onnx", folder / "data.npz"


def test_the_fastest_within_the_budget_is_found(files: tuple[Path, Path], tmp_path: Path) -> None:
    found = dais_verif.tune_configurations(*files, tmp_path / "all.txt", budget=100, tries=40)
    assert found.speedup == 2.0 and found.loss <= 100
    tight = dais_verif.tune_configurations(*files, tmp_path / "tight.txt", budget="0", tries=40)
    assert tight.loss <= 0 and tight.speedup < 2
    kept = json.loads((tmp_path / "tight.txt.tried.json").read_text())["tried"]
    assert len(kept) == tight.tried == 28  # the exact network, and each knob in single precision
    file = read_configurations(tmp_path / "all.txt")
    assert [one.name for one in file.configurations] == found.configurations and file.configurations[0].name == "exact"
    measured = dais_verif.measure_configurations(files[0], tmp_path / "all.txt", files[1])
    assert [one.loss for one in measured.measured] == [float(one.loss) for one in file.configurations]


def test_a_seed_finds_the_same_and_a_search_goes_on(files: tuple[Path, Path], tmp_path: Path) -> None:
    options: dict[str, Any] = {"budget": 10, "half": True}
    dais_verif.tune_configurations(*files, tmp_path / "a.txt", tries=30, **options)
    dais_verif.tune_configurations(*files, tmp_path / "b.txt", tries=9, **options)
    dais_verif.tune_configurations(*files, tmp_path / "b.txt", tries=30, resume=True, **options)
    assert (tmp_path / "a.txt").read_bytes() == (tmp_path / "b.txt").read_bytes()
    assert (tmp_path / "a.txt.tried.json").read_bytes() == (tmp_path / "b.txt.tried.json").read_bytes()


def test_what_was_kept_of_something_else_is_refused(files: tuple[Path, Path], tmp_path: Path) -> None:
    dais_verif.tune_configurations(*files, tmp_path / "a.txt", budget=10, tries=1)
    with raises(ApproximationError, match="grid"):
        dais_verif.tune_configurations(*files, tmp_path / "a.txt", budget=10, tries=1, grid=3, resume=True)
    (tmp_path / "a.txt.tried.json").write_text("{")
    with raises(InputError):
        dais_verif.tune_configurations(*files, tmp_path / "a.txt", budget=10, tries=1, resume=True)


def test_a_search_goes_on_from_one_with_other_knobs(files: tuple[Path, Path], tmp_path: Path) -> None:
    """What was measured in half precision is kept for later, and not chosen where half precision is not allowed."""
    output = tmp_path / "out.txt"
    first = dais_verif.tune_configurations(*files, output, budget=100, tries=28)
    half = dais_verif.tune_configurations(*files, output, budget=100, tries=60, half=True, resume=True)
    assert half.speedup > first.speedup
    kept = json.loads((tmp_path / "out.txt.tried.json").read_text())
    again = dais_verif.tune_configurations(*files, output, budget=100, tries=28, resume=True)
    assert (again.chosen, again.tried) == (first.chosen, first.tried)
    kept["tried"]["121,12"] = 40  # as of a network with a second layer that may be in half precision
    (tmp_path / "out.txt.tried.json").write_text(json.dumps(kept))
    assert dais_verif.tune_configurations(*files, output, budget=100, tries=28, resume=True).chosen == first.chosen
    for word, correct in (("x", 1), ("121", 41), ("121", -1)):
        (tmp_path / "out.txt.tried.json").write_text(json.dumps({**kept, "tried": {word: correct}}))
        with pytest.raises(InputError):
            dais_verif.tune_configurations(*files, output, budget=100, tries=28, resume=True)


@pytest.mark.parametrize(("options", "said"), [({"budget": "x"}, "number"), ({"budget": 1, "tries": 0}, "tries")])
def test_wrong_requests_are_refused(
    files: tuple[Path, Path], tmp_path: Path, options: dict[str, Any], said: str
) -> None:
    with raises(RequestError, match=said):
        dais_verif.tune_configurations(*files, tmp_path / "a.txt", **options)


def test_a_network_without_a_convolution_is_refused(tmp_path: Path) -> None:
    from onnx import TensorProto, helper

    node = helper.make_node("Relu", ["x"], ["y"])
    ends = [helper.make_tensor_value_info(name, TensorProto.INT8, [1, 2]) for name in ("x", "y")]
    graph = helper.make_graph([node], "none", ends[:1], ends[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]), tmp_path / "net.onnx")
    np.savez(tmp_path / "d.npz", x=np.zeros((1, 2), dtype=np.int8), label=np.zeros(1, dtype=int))
    with raises(InputError):
        dais_verif.tune_configurations(tmp_path / "net.onnx", tmp_path / "d.npz", tmp_path / "a.txt", budget=1)


def test_a_draw_at_random_is_no_better_than_the_search(files: tuple[Path, Path], tmp_path: Path) -> None:
    options: dict[str, Any] = {"budget": 30, "half": True}
    found = dais_verif.tune_configurations(*files, tmp_path / "a.txt", tries=40, **options)
    drawn = dais_verif.tune_configurations(*files, tmp_path / "b.txt", tries=40, random=True, **options)
    assert drawn.tried <= 41 and found.speedup >= drawn.speedup >= 1
    again = dais_verif.tune_configurations(*files, tmp_path / "b.txt", tries=40, random=True, resume=True, **options)
    assert (again.chosen, again.tried) == (drawn.chosen, drawn.tried)


def test_losses_of_single_knobs_say_what_is_tried_together() -> None:
    """For two layers, losses of single knobs decide which pairs of knobs are tried first.

    Pairs that are predicted to fit the budget come first, the fastest of them first.
    """
    from fractions import Fraction

    from dais_verif.compile.networks.graph import FusedNode, FusedOp
    from dais_verif.verbs.approximation.choices import Space
    from dais_verif.verbs.approximation.tune import ROUND, Search

    nodes = tuple(FusedNode(n, (FusedOp("conv", f"c{n}", f"y{n}", 100),), (f"c{n}",), (), (f"y{n}",)) for n in (1, 2))
    space = Space(nodes, ((0, 0), (1, 0)), ((121, 125, 131), (121, 125, 131)))
    lost = {11: 0, 121: 6, 125: 3, 131: 1}
    order: list[tuple[int, ...]] = []

    def measure(choices: Any) -> list[int]:
        order.extend(choices)
        return [100 - lost[a] - lost[b] for a, b in choices]

    search = Search(space, measure, {}, allowed=Fraction(4), tries=100, seed=0)
    assert search.run() in ((125, 131), (131, 125))
    assert len(order) == len(set(order)) <= 16 and set(order[:7]) == {(11, 11), *((k, 11) for k in (121, 125, 131))} | {
        (11, k) for k in (121, 125, 131)
    }
    assert order[7] == (125, 131) and ROUND == 16


@pytest.mark.slow
def test_a_cluster_finds_the_same(files: tuple[Path, Path], tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="a cluster needs dask.distributed")
    options: dict[str, Any] = {"budget": 10, "half": True, "tries": 30}
    dais_verif.tune_configurations(*files, tmp_path / "a.txt", **options)
    dais_verif.tune_configurations(*files, tmp_path / "b.txt", cluster="local:2", **options)
    assert (tmp_path / "a.txt").read_bytes() == (tmp_path / "b.txt").read_bytes()
    assert (tmp_path / "a.txt.tried.json").read_bytes() == (tmp_path / "b.txt.tried.json").read_bytes()


def test_a_cluster_has_a_name(files: tuple[Path, Path], tmp_path: Path) -> None:
    with raises(InputError):
        dais_verif.tune_configurations(*files, tmp_path / "a.txt", budget=1, cluster="nowhere")
