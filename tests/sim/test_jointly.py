"""Designs that share a build get the results that they get alone, and one bad design does not affect another."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dais_verif.base.errors import DaisError
from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.fuzzing.generate.random_programs import random_program
from dais_verif.campaigns.regression import plan
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.record.base import to_tree
from dais_verif.record.read import read_record
from dais_verif.record.simulation import SimulationRecord
from dais_verif.simulation import joint_builds as join
from dais_verif.simulation import joint_builds as jointly
from dais_verif.spec.program import Program
from dais_verif.spec.program.listing import listing
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.regress import RegressionRequest, regress
from dais_verif.verbs.simulate import simulate
from dais_verif.verbs.simulate_jointly import simulate_jointly
from dais_verif.verbs.simulation_request import SimulationRequest


def small() -> Program:
    for seed in range(100):
        program = random_program(random.Random(seed), 8, promise_keeping=True, widest=8, tables=False)
        if program.n_in == 2 and program.n_out == 1 and program.output_types[0].width > 2:
            return program
    raise AssertionError


PROGRAM = small()
GOOD = emit_verilog(PROGRAM, "model")
HEAD, BODY = GOOD[: GOOD.index(");") + 2], GOOD[GOOD.index(");") + 2 :]
INP, OUT = "model_inp", "model_out"
GIVEN = f"assign {OUT} = "


def with_end(text: str) -> str:
    """Return the module with ``text`` before its end."""
    return GOOD.replace("endmodule", f"{text}\nendmodule")


def around(inner: str, output: str = OUT, sub: str = "sub") -> str:
    """Return the module as submodule ``sub`` of a module with the same ports, with ``inner`` added to the latter."""
    below = GOOD.replace("module model ", f"module {sub} ")
    above = f"{HEAD}\n  {sub} u (.{INP}({INP}), .{OUT}({output}));\n{inner}\nendmodule\n"
    return below + above


FLIPPED = around(f"  wire [{PROGRAM.output_types[0].width - 1}:0] t; assign {OUT} = t ^ 1'b1;", "t")
UNKNOWN = around(f"  wire [{PROGRAM.output_types[0].width - 1}:0] t; assign {OUT} = {{t, 1'bx}};", "t")
LOOP = with_end(
    "  reg loop_a = 0, loop_b = 0; always @(loop_a) loop_b = loop_a; always @(loop_b) loop_a = ~loop_b;"
    "  initial loop_a = 1;"
)

#: Wrong RTL by name, with the verdict that it gets in Icarus alone.
BAD: dict[str, tuple[str, Verdict]] = {
    "a wrong bit": (FLIPPED, Verdict.RTL_MISMATCH),
    "a wrong bit in a colliding submodule": (around("", sub="other").replace(GIVEN, f"{GIVEN}~"), Verdict.RTL_MISMATCH),
    "X": (UNKNOWN, Verdict.X_IN_OUTPUT),
    "a missing port": (GOOD.replace(INP, "its_inp"), Verdict.INVALID_INPUT),
    "another name": (GOOD.replace("module model ", "module modell "), Verdict.INVALID_INPUT),
    "text that does not compile": (with_end("  assign = 3;"), Verdict.TOOL_FAILURE),
    "a missing module": (with_end("  sub nowhere ();"), Verdict.TOOL_FAILURE),
    "an end that is missing": (GOOD.replace("endmodule", ""), Verdict.TOOL_FAILURE),
    "a comment without end": (GOOD + "/* ", Verdict.PASS),  # Icarus does not report it, and drops the text after it
    "$finish": (with_end("  initial #5 $finish;"), Verdict.TOOL_FAILURE),
}

#: RTL that passes alone, but could affect others.
GOOD_ONES = {
    "plain": GOOD,
    "again": GOOD,
    "sub": around(""),
    "another sub": around("", sub="other"),
    "no nets by default": "`default_nettype none\n" + GOOD,
    "nets by default": around("  assign implicit_net = 1'b1;"),
    "time": "`timescale 1ps/1ps\n" + GOOD,
    "macros": "`define model_width 3\n`define endmodule_ x\n" + GOOD,
    "delays": "`timescale 1ns/1ns\n" + with_end("  reg late; initial #3 late = 1;"),
    "a type for all": "typedef logic [3:0] shared_t;\n" + GOOD,
}


IDENTITY = "module identity(input wire a, output wire b); assign b = a; endmodule\n"
LAZY = f"""\
{HEAD}
  wire [{PROGRAM.output_types[0].width - 1}:0] t;
  sub u (.{INP}({INP}), .{OUT}(t));
  identity v (t[0], undeclared);
  assign {OUT} = {{t[{PROGRAM.output_types[0].width - 1}:1], undeclared}};
endmodule
"""
SUB = GOOD.replace("module model ", "module sub ")
PROCEDURAL = GOOD.replace(GIVEN, f"always @* {OUT} = ")


def delayed(before: str, after: str = "") -> str:
    """Return the module with its output assigned between ``before``, which ends in a delay, and ``after``."""
    width = PROGRAM.output_types[0].width
    late = f"  reg [{width - 1}:0] late;\n  assign {OUT} = late;\n  always @* begin {before} late = "
    return GOOD.replace(f"  {GIVEN}", late).replace("endmodule", f"  {after} end\nendmodule")


#: RTL by name, as names and texts of files, for which simulators disagree or the split into files matters. A simulator
#: must give it the same result together with other designs as alone.
HOSTILE: dict[str, dict[str, str]] = {
    "a warning off in another file": {
        "first.v": "// verilator lint_off PROCASSWIRE\n" + IDENTITY,
        "model.v": PROCEDURAL,
    },
    "a warning off": {"model.v": "// verilator lint_off PROCASSWIRE\n" + PROCEDURAL},
    "a warning off behind a directive": {"model.v": "`resetall // verilator lint_off PROCASSWIRE\n" + PROCEDURAL},
    "a wire": {"model.v": PROCEDURAL},
    "an input assigned": {
        "first.v": "// verilator lint_off ASSIGNIN\n" + IDENTITY,
        "model.v": with_end(f"  assign {INP}[0] = 1'b0;"),
    },
    "a missing pin": {
        "first.v": "// verilator lint_off PINNOTFOUND\n" + IDENTITY,
        "model.v": with_end("  identity i (.a(1'b0), .c());"),
    },
    "no default net in the first file": {
        "first.v": "`default_nettype none\n" + IDENTITY,
        "model.v": LAZY,
        "sub.v": SUB,
    },
    "no default net in the last file": {"sub.v": SUB, "model.v": LAZY + "`default_nettype none\n" + IDENTITY},
    "default nets": {"sub.v": SUB, "model.v": LAZY + IDENTITY},
    "times in one file": {"first.v": IDENTITY, "model.v": "`timescale 1s/1s\n" + GOOD},
    "a macro for the next file": {"first.v": "`define model_width 3\n" + IDENTITY, "model.v": GOOD},
    "a comment into the next file": {"first.v": IDENTITY + "/*", "model.v": GOOD},
    "a module that ends in the next file": {"first.v": IDENTITY.replace("endmodule", ""), "model.v": GOOD},
    "another suffix": {"model.sv": GOOD},
    "the suffix of a configuration": {"model.vlt": GOOD},
    "the suffix of a program": {"model.cpp": GOOD},
    "a label and a delay": {"model.v": delayed(": label #(5)")},
    "a label with the name of a module and a delay": {"model.v": IDENTITY + delayed(": identity #(5)")},
    "a default and a delay": {"model.v": delayed("case (1) default #(5)", "endcase")},
    "a case and a delay": {"model.v": delayed("case (1) default ; endcase #(5)")},
    "a pull": {"model.v": with_end(f"  pulldown ({INP}[0]);")},
    "an automatic module": {"model.v": IDENTITY.replace("module", "module automatic") + GOOD},
    "state": {"model.v": with_end(f"  integer n; initial n = 0; always @({INP}) n = n + 1;")},
}


def request(
    folder: Path, name: str, text: str | dict[str, str], simulator: str = "icarus", **more: Any
) -> SimulationRequest:
    texts = {"model.v": text} if isinstance(text, str) else text
    sources = [folder / name.replace(" ", "_").replace("$", "") / file for file in texts]
    sources[0].parent.mkdir(parents=True, exist_ok=True)
    for source, its_text in zip(sources, texts.values(), strict=True):
        source.write_text(its_text)
    design = DesignRequest(rtl=tuple(sources), top="model")
    return SimulationRequest(program=PROGRAM, design=design, simulator=simulator, vectors=300, jobs=1, **more)


def facts(record: SimulationRecord) -> dict[str, Any]:
    """Return all fields of a record except durations."""
    tree = {name: value for name, value in to_tree(record).items() if name not in ("times", "profile")}
    for simulator in tree["simulators"]:
        del simulator["build_seconds"], simulator["run_seconds"], simulator["cached"]
    return tree


def alone(asked: SimulationRequest) -> SimulationRecord | Verdict:
    try:
        return simulate(asked).record
    except DaisError as error:
        return error.verdict


def test_a_wrong_design_among_good_ones_is_left_to_a_run_of_its_own(tmp_path: Path) -> None:
    texts = {"good": GOOD, "flipped": FLIPPED, "unknown": UNKNOWN, "sub": around("")}
    found = simulate_jointly([request(tmp_path, name, text) for name, text in texts.items()])
    assert [one and one.record.verdict for one in found] == [Verdict.PASS, None, None, Verdict.PASS]


def test_designs_with_many_vectors_do_not_hold_up_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def one(rows: int, ops: int) -> Any:
        return SimpleNamespace(
            feed=SimpleNamespace(rows=rows), task=SimpleNamespace(program=SimpleNamespace(n_ops=ops))
        )

    monkeypatch.setattr(jointly, "_MOST_WORK", 10_000)
    ready = [one(10, 100), one(100, 60), one(10, 800), one(100, 60), one(10, 50), one(90, 10)]
    groups = jointly._groups(ready)
    assert [[(each.feed.rows, each.task.program.n_ops) for each in group] for group in groups] == [
        [(100, 60), (100, 60)],
        [(90, 10), (10, 100)],
        [(10, 800), (10, 50)],
    ]
    assert jointly._groups([]) == []


@pytest.mark.slow
@pytest.mark.parametrize("simulator", ["icarus", "verilator", "both"])
def test_together_is_as_alone(tmp_path: Path, simulator: str) -> None:
    texts = {**GOOD_ONES, **{name: text for name, (text, _) in BAD.items()}}
    asked = [request(tmp_path, name, text, simulator) for name, text in texts.items()]
    expected = [alone(one) for one in asked]
    together = 0
    for name, one, single in zip(texts, simulate_jointly(asked), expected, strict=True):
        if one is None:
            continue
        together += 1
        assert isinstance(single, SimulationRecord) and single.verdict is Verdict.PASS, name
        assert facts(one.record) == facts(single), name
    for name, single in zip(texts, expected, strict=True):
        verdict = single.verdict if isinstance(single, SimulationRecord) else single
        if name in GOOD_ONES:
            assert verdict is Verdict.PASS, (name, single)
        elif simulator == "icarus":
            assert verdict is BAD[name][1], (name, single)
    assert together == 0, "what does not compile leaves nothing of its build"


@pytest.mark.slow
@pytest.mark.parametrize("simulator", ["icarus", "verilator", "both"])
def test_what_compiles_is_judged_together(tmp_path: Path, simulator: str) -> None:
    """Designs that can share a build pass in it, with the same record as alone, if no other one breaks the build."""
    spoilers = ("text that does not compile", "a missing module")
    texts = {**GOOD_ONES, **{name: text for name, (text, _) in BAD.items() if name not in spoilers}}
    asked = [request(tmp_path, name, text, simulator) for name, text in texts.items()]
    passed = {}
    for name, one in zip(texts, simulate_jointly(asked), strict=True):
        if one is not None:
            passed[name] = one.record
    fit = {"plain", "again", "sub", "another sub", "no nets by default", "nets by default", "time"}
    if simulator == "verilator":  # Verilator has no X
        assert set(passed) - {"X"} == fit
    else:
        assert set(passed) == fit
    for name, one in zip(texts, asked, strict=True):
        if name in passed:
            single = alone(one)
            assert isinstance(single, SimulationRecord)
            assert facts(passed[name]) == facts(single), name


@pytest.mark.slow
@pytest.mark.parametrize("simulator", ["icarus", "verilator"])
def test_hostile_designs_get_together_what_they_get_alone(tmp_path: Path, simulator: str) -> None:
    """Each design is built between two good ones, which pass, too, unless the design does not pass alone."""
    good = request(tmp_path, "good", around("  assign implicit_net = 1'b1;"), simulator)
    again = request(tmp_path, "again", "`default_nettype none\n" + GOOD, simulator)
    shared = set()
    for name, texts in HOSTILE.items():
        asked = request(tmp_path, name, texts, simulator)
        single = alone(asked)
        clean = isinstance(single, SimulationRecord) and single.verdict is Verdict.PASS
        first, found, last = simulate_jointly([good, asked, again])
        if found is not None:
            shared.add(name)
            assert isinstance(single, SimulationRecord) and clean, (name, single)
            assert facts(found.record) == facts(single), name
        if clean:
            assert first is not None and last is not None, name
    expected = {"default nets", "no default net in the last file", "times in one file", "another suffix", "state"}
    if simulator == "verilator":
        expected |= {"no default net in the first file"}
    assert shared == expected


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["a warning off in another file", "no default net in the first file"])
def test_what_holds_for_a_file_alone_holds_for_it_among_others(tmp_path: Path, name: str) -> None:
    asked = [request(tmp_path, "good", GOOD, "verilator"), request(tmp_path, name, HOSTILE[name], "verilator")]
    good, hostile = simulate_jointly([*asked, asked[0]])[:2]
    single = alone(asked[1])
    clean = isinstance(single, SimulationRecord) and single.verdict is Verdict.PASS
    assert good is not None and (hostile is not None) == clean == ("default" in name)


@pytest.mark.slow
def test_a_loop_ends_the_run_of_all_and_passes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jointly, "_SECONDS", 4.0)
    asked = [request(tmp_path, name, text, timeout=4.0) for name, text in {"good": GOOD, "loop": LOOP}.items()]
    assert simulate_jointly(asked) == [None, None]
    assert [one.verdict for one in map(alone, asked) if isinstance(one, SimulationRecord)] == [
        Verdict.PASS,
        Verdict.TOOL_FAILURE,
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace("endmodule", "  initial #5 $finish;\nendmodule"),
        lambda text: text.replace(f"] {OUT}", f"+1] {OUT}"),
    ],
    ids=["ended early", "another width"],
)
def test_what_the_reader_of_texts_misses_passes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[str], str]
) -> None:
    """If the reader of texts misses a fault, the checks of the bench and of its answers still find it."""
    monkeypatch.setattr(join, "modules_of", lambda _: frozenset({"model"}))
    good, bad = request(tmp_path, "good", GOOD), request(tmp_path, "bad", spoil(GOOD))
    assert simulate_jointly([good, bad])[1] is None


@pytest.mark.slow
def test_jobs_of_a_regression_share_builds_and_say_what_they_say_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A regression gives the same records with shared builds as without, for right, promise-breaking and wrong jobs."""
    programs = [random_program(random.Random(seed), 10, promise_keeping=True, widest=8) for seed in range(7)]
    programs = [one for one in programs if one.n_in and any(kind.width for kind in one.output_types)]
    for number, program in enumerate(programs):
        (tmp_path / f"p{number}.dais").write_text(listing(program))
    (tmp_path / "broken.dais").write_text(listing(_breaking()))
    (tmp_path / "wrong.dais").write_text(listing(PROGRAM))
    (tmp_path / "wrong.v").write_text(FLIPPED)
    (tmp_path / "regress.toml").write_text(
        'programs = ["p*.dais", "broken.dais"]\nsimulators = ["icarus"]\nvectors = 100\n[variants.emitted]\n'
        '[variants.theirs]\nprograms = "wrong.dais"\nrtl = "wrong.v"\n'
    )
    monkeypatch.chdir(tmp_path)
    asked = RegressionRequest(paths=("regress.toml",), retries=0, output=tmp_path / "together")
    together = regress(asked)
    monkeypatch.setattr(plan, "_MOST_TOGETHER", 1)
    single = regress(replace(asked, output=tmp_path / "alone"))
    assert together.verdict is single.verdict
    assert {Verdict.PASS, Verdict.PROGRAM_INVALID, Verdict.RTL_MISMATCH} == {one.verdict for one in single.jobs}
    said = [
        [(one.job, one.verdict, one.message, one.blame, one.bits_compared, one.attempts) for one in record.jobs]
        for record in (together, single)
    ]
    assert said[0] == said[1]
    for one, other in zip(together.jobs, single.jobs, strict=True):
        records = [
            read_record(tmp_path / place / str(each.result)) for place, each in (("together", one), ("alone", other))
        ]
        assert all(isinstance(record, SimulationRecord) for record in records)
        assert facts(records[0])["simulators"] == facts(records[1])["simulators"]  # type: ignore[arg-type]
    assert not list((tmp_path / "together").glob("jobs/*-joint"))


def _breaking() -> Program:
    """Return a program that breaks a promise on some vectors."""
    for seed in range(100):
        program = random_program(random.Random(seed), 10, widest=8, tables=False)
        if program.n_in and program.n_out and any(kind.width for kind in program.output_types):
            record = simulate(SimulationRequest(program=program, simulator="icarus", vectors=100)).record
            if record.verdict is Verdict.PROGRAM_INVALID:
                return program
    raise AssertionError
