"""Real ALIR models: the golden model reproduces them, and their RTL passes in both simulators, also as pipelines.

The fast suite runs three small models in one simulator each; the whole suite runs all models in both.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.places import ALIR
from support.streaming import Instance, stream, streaming

from dais_verif.doors.cli.main import _run as command
from dais_verif.golden import run
from dais_verif.hardware.emitter import PipelineOptions
from dais_verif.spec.program import load
from dais_verif.spec.program.numbers import Batch

MODELS = {
    **{folder.name: next(folder.glob("alir.json*")) for folder in sorted(ALIR.glob("a*"))},
    **{f"legacy-{name}": ALIR / "legacy" / f"{name}.json.gz" for name in ("v2", "v3")},
}
every_model = pytest.mark.parametrize("name", MODELS)
both = pytest.mark.parametrize("simulator", ["icarus", "verilator"])


def vectors_of(name: str) -> tuple[Path, Path]:
    folder = MODELS[name].parent
    prefix = f"{name.removeprefix('legacy-')}." if name.startswith("legacy-") else ""
    return folder / f"{prefix}inputs.npy", folder / f"{prefix}expected.npy"


def simulate(name: str, capsys: pytest.CaptureFixture[str], *options: object) -> None:
    given, expected = vectors_of(name)
    program = load(MODELS[name])
    np.testing.assert_array_equal(run(program, np.load(given)), np.load(expected))
    arguments = ["sim", MODELS[name], "--inputs", given, "--vectors", 0, "--exhaustive-bits", 0, "--json"]
    code = command(list(map(str, [*arguments, "--icarus-vectors", "all", *options])))
    record = json.loads(capsys.readouterr().out)
    assert (code, record["verdict"]) == (0, "PASS"), record
    assert record["program"]["layout"] == "alir"
    bits = len(np.load(given)) * sum(kind.width for kind in program.output_types)
    assert {simulator["bits_compared"] for simulator in record["simulators"]} == {bits}


@pytest.mark.parametrize(
    ("name", "simulator"),
    [("a01_dense_plain", "verilator"), ("a07_bitops", "icarus"), ("a09_wide_acc", "icarus")],
)
def test_small_models(name: str, simulator: str, capsys: pytest.CaptureFixture[str]) -> None:
    simulate(name, capsys, "--sim", simulator)


@pytest.mark.slow
@every_model
def test_all_models_in_both_simulators(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    simulate(name, capsys, "--sim", "both")


@pytest.mark.slow
@both
@every_model
@pytest.mark.parametrize("stages", [1, 4])
def test_all_models_pipelined(name: str, stages: int, simulator: str, capsys: pytest.CaptureFixture[str]) -> None:
    simulate(name, capsys, "--sim", simulator, "--stages", stages)


@pytest.mark.parametrize("simulator", ["icarus", pytest.param("verilator", marks=pytest.mark.slow)])
def test_pipelines_of_small_models(simulator: str, tmp_path: Path) -> None:
    instances = []
    for name in ("a01_dense_plain", "a09_wide_acc"):
        program = load(MODELS[name])
        batch = Batch.of(np.load(vectors_of(name)[0])[:100], program.n_in)
        instances += [Instance(program, batch, PipelineOptions(stages=stages)) for stages in (1, 3, 8)]
    seen = stream(instances, streaming(100, 8), simulator, tmp_path)
    assert seen.wrong == []
    assert seen.compared >= 100 * len(instances)
