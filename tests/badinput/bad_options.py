"""Command lines that cannot be meant, and places that ``sim`` cannot use."""

from __future__ import annotations

from pathlib import Path

import pytest
from bad_case import GOOD, ROWS, Case, Setup
from filelock import FileLock


def sim(*options: str, says: tuple[str, ...]) -> Case:
    return Case(("sim", "p.bin", *options), says, {"p.bin": GOOD, "m.v": b"module model; endmodule\n"})


def synth(*options: str, says: tuple[str, ...], setup: Setup | None = None, verdict: str = "INVALID_INPUT") -> Case:
    return Case(("synth", "p.bin", *options), says, {"p.bin": GOOD}, verdict, setup)


def _without_yosys(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("DAIS_VERIF_YOSYS", raising=False)


def _held(folder: Path, _: object) -> None:
    (folder / "out").mkdir()
    _locks.append(FileLock(folder / "out" / ".lock"))
    _locks[-1].acquire()


#: Locks live as long as something refers to them.
_locks: list[FileLock] = []

CASES = {
    "unknown verb": Case(("prog.bin",), ("No such command 'prog.bin'", "dais-verif --help")),
    "no program": Case(("check",), ("Missing argument 'PROGRAM'", "dais-verif check --help")),
    "two programs": Case(("check", "a", "b"), ("unexpected extra argument", "b")),
    "unknown option": Case(("check", "--fast", "p.bin"), ("No such option", "--fast")),
    "option without its value": Case(("check", "p.bin", "--layout"), ("--layout", "requires an argument")),
    "layout unknown": Case(
        ("check", "p.bin", "--layout", "v2"), ("--layout", "'v2'", "'published', 'headerless', 'v1'")
    ),
    "run without inputs": Case(("run", "p.bin"), ("Missing option '--inputs'",), {"p.bin": GOOD}),
    "engine unknown": Case(
        ("run", "p.bin", "--inputs", "x.npy", "--engine", "gpu"),
        ("--engine", "'gpu'", "'auto'", "'numpy'", "'exact'"),
        {"p.bin": GOOD, "x.npy": ROWS},
    ),
    "top begins with a digit": Case(("emit", "p.bin", "--top", "1st"), ("--top", "'1st'", "no Verilog module name")),
    "top empty": Case(("emit", "p.bin", "--top", ""), ("--top", "''", "no Verilog module name")),
    "top with a space": sim("--top", "my model", says=("--top", "'my model'", "no Verilog module name")),
    "top with a line break": sim("--top", "model\n", says=("--top", "no Verilog module name")),
    "top a keyword": sim("--top", "module", says=("--top", "'module'", "no keyword")),
    "vectors negative": sim("--vectors", "-1", says=("--vectors", "-1", "x>=0")),
    "vectors text": sim("--vectors", "many", says=("--vectors", "'many'")),
    "vectors fraction": sim("--vectors", "1.5", says=("--vectors", "'1.5'")),
    "vectors absurd": sim("--vectors", "1000000000000", says=("1000000000000 vectors", "must be at most")),
    "vectors beyond words": sim("--vectors", "9" * 30, says=("9" * 30, "must be at most")),
    "seed text": sim("--seed", "now", says=("--seed", "'now'")),
    "seed negative": sim("--seed", "-1", says=("--seed", "-1", "x>=0")),
    "simulator unknown": sim("--sim", "questa", says=("--sim", "'questa'", "'icarus', 'verilator', 'both'")),
    "timeout zero": sim("--timeout", "0", says=("--timeout", "x>0")),
    "timeout negative": sim("--timeout", "-5", says=("--timeout", "x>0")),
    "timeout text": sim("--timeout", "soon", says=("--timeout", "'soon'")),
    "rtl missing": sim("--rtl", "absent.v", says=("'absent.v'", "does not exist", "module model")),
    "rtl a folder": sim("--rtl", ".", says=("'.'", "module model")),
    "rtl without --rtl": sim("m.v", says=("unexpected extra argument (m.v)", "--rtl")),
    "sim output below a file": sim("-o", "p.bin/out", says=("cannot make the folder 'p.bin/out'", "Not a directory")),
    "sim output is a file": sim("-o", "p.bin", says=("cannot make the folder 'p.bin'", "File exists")),
    "sim output in /proc": sim("-o", "/proc/out", says=("cannot make the folder '/proc/out'", "another place with -o")),
    "sim output in use": Case(
        ("sim", "p.bin", "-o", "out"), ("'out' is in use by another run", "-o"), {"p.bin": GOOD}, setup=_held
    ),
    "netlist missing": sim("--netlist", "net", says=("'net' does not exist", "dais-verif synth")),
    "netlist a folder of others": sim(
        "--netlist", ".", says=("'.' is not a folder of `dais-verif synth", "synth.json")
    ),
    "netlist without its target": sim("--netlist", "m.v", says=("'m.v'", "--target ice40|ecp5|xilinx|generic")),
    "netlist and rtl": sim("--netlist", "m.v", "--rtl", "m.v", says=("--netlist and --rtl", "give one of them")),
    "target without a netlist": sim("--target", "ice40", says=("--target", "name it with --netlist")),
    "synth for nothing": synth(says=("Missing option '--target'",)),
    "synth for an unknown target": synth("--target", "asic", says=("--target", "'asic'", "'ice40', 'ecp5', 'xilinx'")),
    "synth rtl missing": synth("--target", "ice40", "--rtl", "a.v", says=("'a.v' does not exist", "module model")),
    "synth rtl and stages": synth("--target", "ice40", "--rtl", "a.v", "--stages", "2", says=("--stages", "--rtl")),
    "synth timeout zero": synth("--target", "ice40", "--timeout", "0", says=("--timeout", "x")),
    "synth timeout not a number": synth("--target", "ice40", "--timeout", "nan", says=("--timeout", "nan")),
    "synth memory too small": synth("--target", "ice40", "--memory", "1", says=("--memory", "1")),
    "synth without yosys": synth(
        "--target",
        "ice40",
        says=("yosys was not found on PATH", "apt-get install yosys", "DAIS_VERIF_YOSYS"),
        setup=_without_yosys,
        verdict="TOOL_FAILURE",
    ),
}
