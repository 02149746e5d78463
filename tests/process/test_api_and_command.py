"""A verb of the command line and the function of the API give the same record for the same request."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

import dais_verif
from dais_verif.doors.cli import main
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.spec.program import Program, write_binary
from dais_verif.verbs.bitstream.build import BuildRequest
from dais_verif.verbs.boards.run_on_board import BoardRequest
from dais_verif.verbs.check import CheckRequest
from dais_verif.verbs.convert import ConversionRequest
from dais_verif.verbs.cover import CoverageRequest
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.diff import DiffRequest
from dais_verif.verbs.emit import EmitRequest, WrapRequest
from dais_verif.verbs.pins import Pins
from dais_verif.verbs.pipelines import PipelineRequest
from dais_verif.verbs.proof.request import ProveRequest
from dais_verif.verbs.rank_sensitivity import SensitivityRequest
from dais_verif.verbs.simulation_request import SimulationRequest
from dais_verif.verbs.synthesize import SynthesisRequest

X, Y = (-1, 0, -1, 0, (0, 4, 0)), (-1, 1, -1, 0, (0, 4, 0))
SUM = Program.build([X, Y, (0, 0, 1, 0, (0, 5, 0))], [(2, 0, 0)], inp_shift=[0, 0])
OTHER = Program.build([X, Y, (1, 0, 1, 0, (1, 4, 0))], [(2, 0, 0)], inp_shift=[0, 0])

#: Fields that may differ: times, and the command line to copy, which the command records as it was typed.
_VARYING = {"seconds", "build_seconds", "run_seconds", "times", "profile", "cached", "reproduce", "replay", "batches"}

#: The command, and the same request as a call of the API.
CASES: dict[str, tuple[str, Callable[[], Any]]] = {
    "check": ("check a.bin --no-proof", lambda: dais_verif.check("a.bin", proof=False)),
    "convert": ("convert a.bin a.json", lambda: dais_verif.convert("a.bin", "a.json")),
    "diff": (
        "diff a.bin b.bin --vectors 20 --seed 3 -o w.csv",
        lambda: dais_verif.diff("a.bin", "b.bin", vectors=20, seed=3, output="w.csv"),
    ),
    "coverage": (
        "coverage a.bin --vectors 5 --no-directed --floor 99",
        lambda: dais_verif.cover("a.bin", vectors=5, directed=False, floor=99),
    ),
    "sensitivity": (
        "sensitivity a.bin --bits --vectors 9",
        lambda: dais_verif.rank_sensitivity("a.bin", bits=True, vectors=9),
    ),
    "sim": (
        "sim a.bin --sim icarus --vectors 30 --seed 2 --stages 2",
        lambda: dais_verif.simulate("a.bin", simulators="icarus", vectors=30, seed=2, stages=2),
    ),
    "sim-wrong": (
        "sim a.bin --rtl bug.v --sim icarus --vectors 30 --exhaustive-bits 0",
        lambda: dais_verif.simulate("a.bin", rtl="bug.v", simulators=["icarus"], vectors=30, exhaustive_bits=0),
    ),
    "prove": (
        "prove a.bin --stages 2 --no-cache --sample 50 --seed 3",
        lambda: dais_verif.prove("a.bin", stages=2, cache=False, sample=50, seed=3),
    ),
    "prove-wrong": (
        "prove a.bin --rtl bug.v --no-cache --sim icarus",
        lambda: dais_verif.prove("a.bin", rtl="bug.v", cache=False, simulators="icarus"),
    ),
    "hil": (
        "hil a.bin --target sim://uart --vectors 20",
        lambda: dais_verif.run_on_board("a.bin", "sim://uart", vectors=20),
    ),
    "emit": (
        "emit a.bin --stages 3 --valid --top core -o core.v",
        lambda: dais_verif.emit("a.bin", stages=3, valid=True, top="core", output="core.v"),
    ),
    "emit-wrapped": (
        "emit a.bin --wrap axis --axil --check-beats 4 -o axis",
        lambda: dais_verif.emit("a.bin", wrap="axis", axil=True, check_beats=4, output="axis"),
    ),
    "synth": (
        "synth a.bin --target ecp5 --stages 2 -o net",
        lambda: dais_verif.synthesize("a.bin", "ecp5", stages=2, output="net"),
    ),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "a.bin").write_bytes(write_binary(SUM, "v1"))
    (tmp_path / "b.bin").write_bytes(write_binary(OTHER, "v1"))
    (tmp_path / "bug.v").write_text(emit_verilog(SUM, "model").replace("op_0 + op_1", "op_0 - op_1"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def steady(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {name: steady(value) for name, value in tree.items() if name not in _VARYING}
    if isinstance(tree, str):
        return re.sub(r"\S*/dais-verif-\w{8}\b", "TEMPORARY", tree)
    return [steady(value) for value in tree] if isinstance(tree, list) else tree


@pytest.mark.few(3)
@pytest.mark.parametrize("name", CASES)
def test_the_record_is_the_same(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    words, call = CASES[name]
    code = main._run([*words.split(), "--json"])
    said = json.loads(capsys.readouterr().out)
    record = call()
    assert steady(said) == steady(record.to_dict())
    assert said.get("exit_code", 0) == code
    assert capsys.readouterr() == ("", "")


def test_that_they_differ_would_be_seen(capsys: pytest.CaptureFixture[str]) -> None:
    main._run(["coverage", "a.bin", "--vectors", "5", "--no-directed", "--json"])
    said = json.loads(capsys.readouterr().out)
    assert steady(said) != steady(dais_verif.cover("a.bin", vectors=6, directed=False).to_dict())


def default_of(option: click.Parameter) -> object:
    found = option.default if isinstance(option.default, str | int | float) else None
    # An option such as --this/--no-this may have no default at all.
    return bool(found) if getattr(option, "is_flag", False) and not option.secondary_opts else found


#: The function, its verb, and the request classes that it builds.
REQUESTS: dict[str, tuple[Callable[..., Any], str, tuple[type, ...]]] = {
    "check": (dais_verif.check, "check", (CheckRequest,)),
    "convert": (dais_verif.convert, "convert", (ConversionRequest,)),
    "diff": (dais_verif.diff, "diff", (DiffRequest,)),
    "cover": (dais_verif.cover, "coverage", (CoverageRequest,)),
    "rank_sensitivity": (dais_verif.rank_sensitivity, "sensitivity", (SensitivityRequest,)),
    "simulate": (dais_verif.simulate, "sim", (SimulationRequest, DesignRequest, Pins)),
    "prove": (dais_verif.prove, "prove", (ProveRequest, DesignRequest, Pins)),
    "run_on_board": (dais_verif.run_on_board, "hil", (BoardRequest,)),
    "emit": (dais_verif.emit, "emit", (EmitRequest, WrapRequest, PipelineRequest)),
    "build_bitstream": (dais_verif.build_bitstream, "build", (BuildRequest, PipelineRequest)),
    "synthesize": (dais_verif.synthesize, "synth", (SynthesisRequest, PipelineRequest)),
}


#: Help shows no default for options that may be repeated, and for those that depend on the machine.
NO_DEFAULT = ("inputs", "rtl", "data", "parameters", "jobs", "latency", "at_once")


@pytest.mark.parametrize("name", REQUESTS)
def test_defaults_are_the_same(name: str) -> None:
    """The function, the request and the options of the verb have the same defaults."""
    function, verb, requests = REQUESTS[name]
    parameters = inspect.signature(function).parameters
    command = main.cli.get_command(None, verb)  # type: ignore[arg-type]
    assert command is not None
    options = {option.name: option for option in command.params}
    compared = 0
    for request in requests:
        for field in dataclasses.fields(request):
            if field.name in parameters and field.default is not dataclasses.MISSING:
                given = parameters[field.name].default
                assert given == field.default or (given is None and field.default == ()), f"{name}({field.name})"
                if field.name in options and field.name not in NO_DEFAULT:
                    assert default_of(options[field.name]) == field.default, f"{verb} --{field.name}"
                compared += 1
    assert compared >= (2 if name == "convert" else 4)
