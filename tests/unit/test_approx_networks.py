"""``approx apply`` and ``approx measure``: the files that they write, the messages, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.said import as_recorded, raises

import dais_verif
from dais_verif.base.errors import ApproximationError, InputError, RequestError
from dais_verif.base.verdict import Verdict
from dais_verif.compile.approximation import read as read_configurations
from dais_verif.compile.networks import Network
from dais_verif.doors.cli import main
from dais_verif.verbs.approximation.opened import read_samples

pytest.importorskip("onnx", reason="the reader of networks needs the package onnx")
DIGITS = Path(__file__).parents[2] / "examples" / "digits"
NETWORK, CONFIGURATIONS, DATA = (DIGITS / name for name in ("digits.onnx", "configurations.txt", "held_back.npz"))


@pytest.fixture(scope="module")
def network() -> Network:
    return dais_verif.networks.read(NETWORK)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """Run ``approx measure`` on the example, assert exit code 0, and return the folder and the JSON."""
    folder = tmp_path_factory.mktemp("measured")
    words = ["approx", "measure", NETWORK, CONFIGURATIONS, "--data", DATA, "--budget", "4", "-o", folder]
    assert main._run(list(map(str, words))) == 0
    return folder, json.loads((folder / "measured.json").read_text())


def test_accuracies_losses_and_bounds_are_of_the_data(measured: tuple[Path, Any], network: Network) -> None:
    folder, record = measured
    exact, first, both = record["measured"]
    held = np.load(DATA)
    scores = dais_verif.run(network.program(), held["image"].reshape(600, -1))
    assert exact["correct"] == int((scores.argmax(axis=1) == held["label"]).sum())
    assert (exact["largest"], exact["bound"], exact["speedup"]) == (0, 0, 1)
    for one in (first, both):
        assert 0 < one["largest"] <= one["bound"] and one["ops"] < exact["ops"]
        assert one["interval"][0] < one["accuracy"] < one["interval"][1]
    assert record["chosen"] == "first" and record["verdict"] == "PASS"
    assert any("4/3" in note for note in both["notes"])
    rewritten = read_configurations(folder / "measured.txt")
    assert [float(one.loss) for one in rewritten.configurations] == [one["loss"] for one in record["measured"]]


def test_the_program_of_a_configuration_is_the_one_that_was_measured(
    measured: tuple[Path, Any], tmp_path: Path
) -> None:
    made = dais_verif.apply_configuration(NETWORK, CONFIGURATIONS, "first", tmp_path / "first")
    held = np.load(DATA)
    scores = dais_verif.run(str(tmp_path / "first" / "program.bin"), held["image"].reshape(600, -1))
    assert int((scores.argmax(axis=1) == held["label"]).sum()) == measured[1]["measured"][1]["correct"]
    assert made.program.n_ops == measured[1]["measured"][1]["ops"] < made.exact_ops
    manifest = json.loads((tmp_path / "first" / "applied.json").read_text())
    assert manifest["sha256"] == made.sha256 and manifest["program"] == made.program.hash


def few(tmp_path: Path, **changed: NDArray[Any] | None) -> Path:
    """Write ten samples, with arrays replaced or, if None, left out."""
    held = np.load(DATA)
    arrays = {"image": held["image"][:10], "label": held["label"][:10], **changed}
    np.savez(tmp_path / "few.npz", **{name: array for name, array in arrays.items() if array is not None})
    return tmp_path / "few.npz"


def exact_only(tmp_path: Path) -> Path:
    text = CONFIGURATIONS.read_text()
    (tmp_path / "one.txt").write_text(text[: text.index("-----") + 6])
    return tmp_path / "one.txt"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"image": None}, "'image'"),
        ({"label": None}, ""),
        ({"label": np.arange(9)}, ""),
        ({"label": np.arange(10) + 1}, r"labels.*1 to 10.*0 to 9"),
        ({"label": np.arange(10) - 1}, r"labels.*-1 to 8"),
        ({"image": np.zeros((10, 8, 7))}, "shape"),
        ({"image": np.full((10, 1, 8, 8), 1.0)}, ""),
        ({"image": np.full((10, 1, 8, 8), np.nan)}, ""),
        ({"image": np.zeros((0, 1, 8, 8)), "label": np.zeros(0, dtype=int)}, "no samples"),
    ],
)
def test_other_data_are_refused(network: Network, tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    with raises(ApproximationError, match=said):
        read_samples(few(tmp_path, **changed), network)


def test_no_configuration_within_the_budget_is_no_pass(tmp_path: Path) -> None:
    record = dais_verif.measure_configurations(NETWORK, exact_only(tmp_path), few(tmp_path), budget=-1)
    assert (record.verdict, record.chosen) == (Verdict.NOT_SIGNED_OFF, None) and record.verdict.exit_code == 7


def test_files_of_other_networks_are_not_measured(tmp_path: Path) -> None:
    lenet = DIGITS.parents[1] / "tests" / "hpvm" / "honk_best.txt"
    text = lenet.read_text()
    (tmp_path / "one.txt").write_text(text[: text.index("-----") + 6])
    record = dais_verif.measure_configurations(NETWORK, tmp_path / "one.txt", few(tmp_path))
    assert record.verdict is Verdict.NOT_RUN
    as_recorded(record.measured[0].refused or "")
    with raises(InputError):
        dais_verif.apply_configuration(NETWORK, tmp_path / "one.txt", "conf0", tmp_path / "out")


def test_what_is_read_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "measured.txt").write_bytes(CONFIGURATIONS.read_bytes())
    with raises(InputError):
        dais_verif.measure_configurations(NETWORK, tmp_path / "measured.txt", few(tmp_path), output=tmp_path)


def test_a_budget_that_is_no_number_is_refused() -> None:
    with raises(RequestError, match="number"):
        dais_verif.measure_configurations(NETWORK, CONFIGURATIONS, DATA, budget="nan")


def test_a_page_shows_what_was_measured(measured: tuple[Path, Any], tmp_path: Path) -> None:
    from dais_verif.base.verdict import Verdict
    from dais_verif.record.approximation import Measured, MeasuredRecord
    from dais_verif.report.html.configurations import charts_of, write_page

    record = measured[1]
    shown = [{**one, "cells": {"LUT": 10 * at}, "depth": at} for at, one in enumerate(record["measured"])]
    made = MeasuredRecord(
        **{name: record[name] for name in MeasuredRecord.__dataclass_fields__ if name in record}
        | {"verdict": Verdict.PASS, "measured": [Measured(**one) for one in shown], "target": "ice40"}
    )
    assert [chart.title for chart in charts_of(made)] == ["Speed-up", "Ops", "Cycles", "LUT", "Depth in cells"]
    write_page(made, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert text.count("<circle") == 5 * 3 and "first: 1.05073x at a loss of 2.167" in text and "163.125" in text
    assert text.count('class="trend"') == 2 and "exact, first" in text  # one by predicted speed-up, one by cycles


def test_a_result_beyond_its_bound_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dais_verif.verbs.approximation import measure

    monkeypatch.setattr(measure, "plain_bounds", lambda exact, made: (0,) * 10)
    text = CONFIGURATIONS.read_text()
    begin = text.index("+++++\nfirst")
    (tmp_path / "first.txt").write_text("0.0\n" + text[begin : text.index("-----", begin) + 6])
    with raises(AssertionError):
        dais_verif.measure_configurations(NETWORK, tmp_path / "first.txt", few(tmp_path))
