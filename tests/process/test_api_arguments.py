"""Wrong arguments of a call give a one-line error and no verdict: wrong types, empty lists, outputs that are inputs."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.said import raises

import dais_verif
from dais_verif.base import errors
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.spec.program import Program, write_binary
from dais_verif.verbs import (
    check,
    cover,
    designs,
    diff,
    emit,
    pins,
    pipelines,
    rank_sensitivity,
    regress,
    sign_off,
    simulation_request,
    synthesize,
    verify_certificate,
)
from dais_verif.verbs import cover as covering
from dais_verif.verbs.arguments import OWN_TYPES, RULES
from dais_verif.verbs.boards import run_on_board
from dais_verif.verbs.options import Request
from dais_verif.verbs.proof import request as proof_request

X, Y = (-1, 0, -1, 0, (0, 4, 0)), (-1, 1, -1, 0, (0, 4, 0))
SUM = Program.build([X, Y, (0, 0, 1, 0, (0, 5, 0))], [(2, 0, 0)], inp_shift=[0, 0])
D: Any = dais_verif  # typed as Any, as mypy would refuse wrong calls

_FLOWS = (check, cover, covering, designs, diff, emit, pins, pipelines, proof_request, rank_sensitivity, regress)
_MORE = (run_on_board, sign_off, simulation_request, synthesize, verify_certificate)
REQUESTS = [
    value
    for module in (*_FLOWS, *_MORE)
    for value in vars(module).values()
    if inspect.isclass(value)
    and value.__module__ == module.__name__
    and (issubclass(value, Request) or "require_types" in inspect.getsource(value))
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "a.bin").write_bytes(write_binary(SUM, "v1"))
    (tmp_path / "model.v").write_text(emit_verilog(SUM, "model"))
    (tmp_path / "x.csv").write_text("1,2\n")
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(call: Callable[[], object], says: str) -> None:
    with raises(dais_verif.RequestError, match=says) as error:
        call()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("lost", "call"),
    [
        ("a.bin", lambda: D.emit("a.bin", output="a.bin")),
        ("a.bin", lambda: D.emit(D.load("a.bin"), output=Path("out/../a.bin"))),
        ("a.bin", lambda: D.rank_sensitivity("a.bin", output="a.bin")),
        ("x.csv", lambda: D.rank_sensitivity("a.bin", inputs="x.csv", output="x.csv")),
        ("a.bin", lambda: D.diff(SUM, "a.bin", output="a.bin")),
        ("out/directed.csv", lambda: D.cover("a.bin", inputs="out/directed.csv", output="out")),
        ("out/directed.csv", lambda: D.simulate("a.bin", inputs=["out/directed.csv"], coverage=True, output="out")),
        ("out/result.json", lambda: D.prove("out/result.json", output="out")),
        ("out/model.v", lambda: D.prove("out/model.v", output="out")),
        ("out/netlist.v", lambda: D.synthesize("a.bin", "ice40", rtl="out/netlist.v", output="out")),
        ("out/result.json", lambda: D.run_on_board("out/result.json", "sim://uart", output="out")),
        ("out/program.bin", lambda: D.shrink("out/program.bin", "out")),
        ("out/inputs.npy", lambda: D.shrink("a.bin", "out", inputs="out/inputs.npy")),
        ("a.bin", lambda: D.mutate("a.bin", add_vectors="a.bin")),
        ("model.v", lambda: D.mutate("a.bin", rtl="model.v", add_vectors="out/../model.v")),
        ("x.csv", lambda: D.mutate("a.bin", inputs="x.csv", add_vectors=Path("x.csv").absolute())),
    ],
    ids=[
        "emit",
        "loaded",
        "rank",
        "vectors",
        "diff",
        "cover",
        "simulate",
        "prove",
        "ours",
        "synthesize",
        "board",
        "case",
        "case_vectors",
        "added_program",
        "added_rtl",
        "added_twice",
    ],
)
def test_nothing_that_is_read_is_written_over(lost: str, call: Callable[[], object], folder: Path) -> None:
    path = folder / lost
    if not path.exists():
        path.write_bytes(b"1,2\n")
    before = path.read_bytes()
    refused(call, "")
    assert path.read_bytes() == before


@pytest.mark.parametrize("empty", [[], (), {}], ids=["list", "tuple", "dict"])
def test_what_a_pattern_did_not_find_is_not_our_own_rtl(empty: Any) -> None:
    for function in (D.simulate, D.prove, D.sign_off):
        refused(lambda function=function: function("a.bin", rtl=empty), "rtl is empty")
    refused(lambda: D.verify_certificate("out", rtl=empty), "rtl is empty")
    refused(lambda: D.synthesize(SUM, "ice40", rtl=empty), "rtl is empty")
    refused(lambda: D.simulate(SUM, inputs=empty), "inputs is empty")
    refused(lambda: D.simulate(SUM, rtl="model.v", data=empty), "data is empty")
    refused(lambda: D.simulate(SUM, simulators=empty), "simulators is empty")
    for name in ("seeds", "stages", "simulators"):
        refused(lambda name=name: D.regress("a.bin", **{name: empty}), f"{name} is empty")
    refused(lambda: D.regress(empty), "paths is empty")


def test_errors_survive_pickling() -> None:
    for name in set(errors.__all__) - {"Argument"}:
        error = getattr(errors, name)
        made = error(dais_verif.Verdict.UNKNOWN, "why") if name == "VerdictError" else error("why")
        again = pickle.loads(pickle.dumps(made))
        assert (type(again), str(again), again.verdict) == (error, str(made), made.verdict)


def test_every_field_of_a_request_has_a_rule() -> None:
    assert len(REQUESTS) >= 16
    for request in REQUESTS:
        for field in dataclasses.fields(request):
            kind = str(field.type).removesuffix(" | None")
            assert kind in RULES or kind in OWN_TYPES, f"{request.__name__}.{field.name}: {field.type}"


#: Wrong values for each kind of argument.
WRONG: dict[str, list[Any]] = {
    "Path": [5, b"a.bin", [], np.arange(3), "a\0b", ""],
    "paths": [5, b"a.bin", [None], [b"x"], np.arange(3), "a\0b", {"a.v": 1}],
    "count": ["5", 1.5, True, float("nan"), 10**30, -1, [1]],
    "seconds": ["5", float("nan"), -1.0, True, None],
    "flag": ["yes", 1, None],
    "program": [None, 5, ["a.bin"], bytearray(b"x"), "a\0b"],
    "choice": ["vax", 5, ["slang"]],
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "check": D.check,
    "cover": D.cover,
    "diff": lambda program, **more: D.diff(program, SUM, **more),
    "emit": D.emit,
    "prove": D.prove,
    "rank_sensitivity": D.rank_sensitivity,
    "run_on_board": lambda program, **more: D.run_on_board(program, "sim://uart", **more),
    "simulate": D.simulate,
    "synthesize": lambda program, **more: D.synthesize(program, "ice40", **more),
}
ARGUMENTS: dict[str, dict[str, tuple[str, ...]]] = {
    "check": {"program": ("program",), "flag": ("proof", "everything"), "seconds": ("timeout",)},
    "cover": {"paths": ("inputs",), "count": ("vectors", "seed", "jobs"), "seconds": ("timeout",), "Path": ("output",)},
    "diff": {"program": ("program",), "count": ("vectors",), "choice": ("engine", "layout"), "Path": ("output",)},
    "emit": {"program": ("program",), "flag": ("reset", "axil"), "count": ("stages",), "Path": ("output",)},
    "prove": {"paths": ("rtl",), "choice": ("front_end", "simulators", "target"), "seconds": ("timeout",)},
    "rank_sensitivity": {"paths": ("inputs",), "flag": ("bits",), "seconds": ("timeout",), "count": ("vectors",)},
    "run_on_board": {"program": ("program",), "count": ("seed",), "flag": ("resume",)},
    "simulate": {
        "program": ("program",),
        "paths": ("rtl", "inputs"),
        "count": ("vectors", "seed", "exhaustive_bits", "icarus_vectors", "stages", "latency", "jobs"),
        "flag": ("waves", "bulk", "coverage"),
        "Path": ("ports", "wrapped", "netlist", "output"),
        "choice": ("layout", "simulators", "target"),
    },
    "synthesize": {"flag": ("pnr",), "count": ("memory",), "seconds": ("timeout",), "paths": ("rtl",)},
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_value_of_another_type_is_one_line(name: str) -> None:
    for kind, arguments in ARGUMENTS[name].items():
        for argument in arguments:
            said = "a" if (name, argument) == ("diff", "program") else argument
            for value in WRONG[kind]:
                given = {"program": SUM, argument: value}
                if argument == "latency":
                    given["clock"] = "clk"
                try:
                    refused(lambda given=given: FUNCTIONS[name](given.pop("program"), **given), f"^{said} ")
                except BaseException as error:
                    raise AssertionError(f"{name}({argument}={value!r}): {type(error).__name__}: {error}") from error


def test_of_regressions_and_sign_offs() -> None:
    for given in ({"shard": 5}, {"shard": (1,)}, {"seeds": 5}, {"seeds": ["a"]}, {"stages": [1.5]}, {"cluster": 5}):
        refused(lambda given=given: D.regress("a.bin", **given), "")
    for given in ({"simulators": [5]}, {"simulators": "vax"}, {"retries": 1.5}, {"output": None}, {"vectors": "5"}):
        refused(lambda given=given: D.regress("a.bin", **given), "")
    refused(lambda: D.sign_off(b"x"), "path")
    refused(lambda: D.sign_off("a.bin", passphrase="secret"), "passphrase")
    refused(lambda: D.verify_certificate("out", allowed_signers="x", verify_time="now"), "verify_time")
    with pytest.raises(dais_verif.InputError, match="jobs is 'x'"):
        D.run(SUM, [[1, 2]], jobs="x")
    refused(lambda: D.verify_certificate(None), r"certificate.*path")
    with pytest.raises(dais_verif.InputError, match="target '5'"):
        D.run_on_board(SUM, "5")
    refused(lambda: D.run_on_board(SUM, 5), "target")


def test_nobody_listens_to_none() -> None:
    assert D.check(SUM, progress=None).passed
    refused(lambda: D.check(SUM, progress=5), "progress")


def test_a_program_is_a_path_bytes_or_a_program() -> None:
    for program in (SUM, "a.bin", Path("a.bin"), Path("a.bin").read_bytes()):
        assert D.run(program, [[1, 2]]).tolist() == D.Golden(program).run([[1, 2]]).tolist() == [[3]]
        assert D.check(program).passed
    assert D.load(Path("a.bin").read_bytes()).hash == SUM.hash
    for wrong in (None, 5, [], bytearray(b"x")):
        for call in (lambda p: D.run(p, [[1, 2]]), D.Golden, D.load):
            refused(lambda call=call, wrong=wrong: call(wrong), "read")


def test_every_function_of_a_program_takes_what_load_takes(tmp_path: Path) -> None:
    signatures = {name: inspect.signature(one) for name in D.__all__ if inspect.isfunction(one := getattr(D, name))}
    takes = {
        name: [each.name for each in signature.parameters.values() if each.annotation == "GivenProgram"]
        for name, signature in signatures.items()
    }
    functions = {name: arguments for name, arguments in takes.items() if arguments}
    assert {"check", "diff", "simulate", "prove", "emit", "synthesize", "mutate", "shrink", "cover"} <= set(functions)
    needed = {"target": "ice40", "device": "ice40-hx8k-ct256", "output": tmp_path / "x.bin", "command": "true"}
    for name, arguments in functions.items():
        required = [each.name for each in signatures[name].parameters.values() if each.default is each.empty]
        for argument in arguments:
            given = {each: needed.get(each, SUM) for each in required}
            with raises(dais_verif.RequestError):
                getattr(D, name)(**{**given, argument: np.zeros((2, 2), dtype=np.int32)})
    words = np.frombuffer(write_binary(SUM, "v1"), dtype="<i4").astype(np.int32)
    assert D.check(words).passed and D.diff(SUM, words).passed
    assert D.simulate(words, simulators=["icarus"], vectors=5).passed


def test_what_would_be_passed_over_is_refused() -> None:
    for function in (D.simulate, D.prove):
        refused(lambda function=function: function(SUM, target="ice40"), "netlist")
    refused(lambda: D.check(SUM, layout="v1"), "Program")
    refused(lambda: D.diff(SUM, SUM, layout="v1"), "Program")
    assert D.diff(SUM, "a.bin", layout="v1").passed and D.diff("a.bin", SUM, layout="v1").passed
    masked = np.ma.masked_array([[1.0, 2.0]], mask=[[True, False]])
    for values in (masked, masked.astype(np.int64)):
        with raises(dais_verif.InputError):
            D.run(SUM, values)
    assert D.run(SUM, np.ma.masked_array([[1.0, 2.0]])).tolist() == [[3]]


def test_a_wrapped_design_takes_no_stages_and_no_ports(tmp_path: Path) -> None:
    for given in ({"stages": 2}, {"ports": tmp_path / "ports.json"}, {"clock": "clk"}):
        refused(lambda given=given: D.simulate(SUM, wrapped=tmp_path, **given), "wrapped")
