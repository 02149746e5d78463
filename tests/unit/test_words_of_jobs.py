"""Jobs of regressions and the simulations of sign-offs are the requests that manifests and policies mean."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from dais_verif.campaigns.regression.plan import Choices, Defaults, make_plan
from dais_verif.doors.cli.main import _run
from dais_verif.hardware.emitter import PipelineOptions, emit_verilog
from dais_verif.signoff import context as signing
from dais_verif.signoff.context import Context, design_arguments
from dais_verif.signoff.policy import read_policy
from dais_verif.signoff.signed_design import subject_of
from dais_verif.spec.program import Program, load, write_binary
from dais_verif.verbs.cover import Covering
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.manifest import read_manifest
from dais_verif.verbs.pins import Pins
from dais_verif.verbs.simulation_request import ALL, SimulationRequest

SUM = Program.build([(-1, 0, -1, 0, (0, 4, 0)), (0, 0, 0, 0, (0, 5, 0))], [(1, 0, 0)], inp_shift=[0])
PIPELINE = PipelineOptions(2, reset=True, enable=True, valid=True)

sim = importlib.import_module("dais_verif.doors.cli.sim")


class Read(Exception):
    """Raised as soon as the request has been read."""


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[dict[str, Any]]:
    """Return the list of requests that ``sim`` receives from now on; none of them is run."""
    found: list[dict[str, Any]] = []

    def noted(request: SimulationRequest, **_: object) -> None:
        found.append(read_back(request))
        raise Read

    monkeypatch.setenv("DAIS_VERIF_CACHE", str(tmp_path / "cache"))  # where the traceback of ``Read`` is written
    monkeypatch.setattr(sim, "simulate", noted)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prog.bin").write_bytes(write_binary(SUM, "v1"))
    (tmp_path / "model.v").write_text(emit_verilog(SUM, "model"))
    return found


def read_back(request: SimulationRequest) -> dict[str, Any]:
    return {name: value for name, value in vars(request).items() if name not in ("command", "jobs", "output")}


MANIFEST = """
programs = "prog.bin"
seeds = [3]
vectors = 40
[variants.plain]
[variants.deep]
stages = 2
simulators = ["icarus"]
[variants.theirs]
rtl = "model.v"
data = "model.v"
top = "model"
clock = "clk"
latency = 4
inputs = "x.csv"
unchecked = true
arguments = ["--exhaustive-bits", "0"]
"""

THEIRS = DesignRequest(rtl=(Path("model.v"),), top="model", data=(Path("model.v"),), pins=Pins("clk", 4))

MEANT = {
    "plain": {"simulator": "both"},
    "deep": {"simulator": "icarus", "design": DesignRequest(pipeline=PIPELINE)},
    "theirs": {
        "simulator": "both",
        "design": THEIRS,
        "inputs": (Path("x.csv"),),
        "unchecked": True,
        "exhaustive_bits": 0,
    },
}


def test_the_jobs_of_a_regression(requests: list[dict[str, Any]]) -> None:
    Path("regress.toml").write_text(MANIFEST)
    plan = make_plan(read_manifest(Path("regress.toml"))[0], Choices(), Defaults())
    assert [planned.job.variant for planned in plan] == list(MEANT)
    for planned in plan:
        _run(["sim", planned.job.program, *planned.job.arguments, "--json", "--jobs", "1", "-o", "out"])
    for planned in plan:
        asked = {**planned.options, "program": planned.job.program, "jobs": 1, "output": "out"}
        _run(["jobs", json.dumps([asked]), "--json"])
    meant = [SimulationRequest(program=Path("prog.bin"), seed=3, vectors=40, **given) for given in MEANT.values()]
    assert requests[:3] == list(map(read_back, meant))
    for found in requests[3:]:
        found["program"] = Path(found["program"])
    assert requests[3:] == requests[:3]


POLICIES: dict[str, tuple[str, dict[str, Any]]] = {
    "ours": (
        'simulators = ["icarus"]\nexhaustive_bits = 0\n',
        {"simulator": "icarus", "exhaustive_bits": 0, "design": DesignRequest(top="model")},
    ),
    "a pipeline of ours": (
        "exhaustive_bits = 3\n[rtl]\npipeline = 2\n",
        {
            "simulator": "both",
            "icarus_vectors": ALL,
            "exhaustive": True,
            "exhaustive_bits": 3,
            "design": DesignRequest(top="model", pipeline=PIPELINE),
        },
    ),
    "theirs": (
        'exhaustive_bits = 0\noverflow = "unchecked"\ncoverage = 50.0\n'
        '[rtl]\nfiles = ["model.v"]\nclock = "clk"\nlatency = "auto"\nreset = "rst:low"\n',
        {
            "simulator": "both",
            "icarus_vectors": ALL,
            "exhaustive_bits": 0,
            "unchecked": True,
            "covering": Covering(coverage=True),
            "design": DesignRequest(rtl=(Path("model.v"),), top="model", pins=Pins("clk", "auto", "rst:low")),
        },
    ),
}


@pytest.mark.parametrize("name", POLICIES)
def test_the_simulation_of_a_sign_off(
    name: str, requests: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text, given = POLICIES[name]
    Path("policy.toml").write_text(text)
    policy, program = read_policy(Path("policy.toml")).policy, Path("prog.bin")
    subject = subject_of(load(program), program, None, policy, Path("model.v"))

    def called(verb: str, arguments: list[str], folder: Path, **_: object) -> None:
        _run([verb, *arguments, "--json", "-o", "out"])
        raise Read

    monkeypatch.setattr(signing, "call", called)
    context = Context(subject, policy, tmp_path)
    asked = context.asked(7, 50, covered=bool(policy.coverage))
    with pytest.raises(Read):
        signing.simulate(context, tmp_path / "stage", design_arguments(subject, policy), asked, 50)
    (found,) = requests
    design = found["design"]
    files = {"rtl": tuple(map(relative, design.rtl)), "data": tuple(map(relative, design.data))}
    found = {**found, "design": DesignRequest(**{**vars(design), **files})}
    assert found == read_back(SimulationRequest(program=program, seed=7, vectors=50, conditions=False, **given))


def relative(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_absolute() else path
