"""The network of examples/digits matches its page and onnx.reference, and its script trains such a network."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from dais_verif.compile.networks import Network, read
from dais_verif.golden.run_any import run

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "digits"


@pytest.fixture(scope="module")
def network() -> Network:
    return read(FOLDER / "digits.onnx")


def scores(network: Network, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    data = np.load(folder / "held_back.npz")
    rows = data["image"].reshape(len(data["label"]), -1).astype(np.float64)
    return np.asarray(run(network.program(), rows), dtype=np.float64), data["label"]


def test_held_back_images_are_read_as_the_page_says(network: Network) -> None:
    got, digits = scores(network, FOLDER)
    right = float((got.argmax(axis=1) == digits).mean())
    page = (ROOT / "examples/README.md").read_text(encoding="utf-8")
    assert right >= 0.96 and len(digits) == 600
    assert re.findall(r"correct for ([0-9.]+) %", page) == [f"{100 * right:.1f}"]
    assert f"{network.program().n_ops:,} ops" in page and network.program().n_ops < 30_000


def test_scores_are_those_of_onnx(network: Network) -> None:
    expected = ReferenceEvaluator(onnx.load(FOLDER / "digits.onnx")).run(None, {"image": _images()})[0]
    assert (scores(network, FOLDER)[0] == expected).all() and len(np.unique(expected)) > 100


def _images() -> np.ndarray:
    return np.load(FOLDER / "held_back.npz")["image"]


@pytest.mark.slow
def test_the_script_trains_such_a_network(tmp_path: Path) -> None:
    for package in ("jax", "sklearn"):
        pytest.importorskip(package, reason=f"training needs {package}: pip install 'dais-verif[examples]'")
    spec = importlib.util.spec_from_file_location("train_digits", FOLDER / "train.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main(tmp_path)
    got, digits = scores(read(tmp_path / "digits.onnx"), tmp_path)
    assert (got.argmax(axis=1) == digits).mean() >= 0.96
    for name, array in np.load(tmp_path / "held_back.npz").items():
        assert (np.load(FOLDER / "held_back.npz")[name] == array).all()
