"""Wrong command lines, and output folders that ``sim`` cannot use."""

from __future__ import annotations

from pathlib import Path

import pytest
from bad_case import GOOD, ROWS, Case, Setup
from filelock import FileLock


def sim(*options: str, says: tuple[str, ...]) -> Case:
    return Case(("sim", "p.bin", *options), says, {"p.bin": GOOD, "m.v": b"module model; endmodule\n"})


def hil(*options: str, says: tuple[str, ...]) -> Case:
    return Case(("hil", "p.bin", *options), says, {"p.bin": GOOD})


def synth(*options: str, says: tuple[str, ...], setup: Setup | None = None, verdict: str = "INVALID_INPUT") -> Case:
    return Case(("synth", "p.bin", *options), says, {"p.bin": GOOD}, verdict, setup)


def _without_yosys(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("DAIS_VERIF_YOSYS", raising=False)


def _held(folder: Path, _: object) -> None:
    (folder / "out").mkdir()
    _locks.append(FileLock(folder / "out" / ".lock"))
    _locks[-1].acquire()


def emit(*options: str, says: tuple[str, ...], model: bytes = b"") -> Case:
    return Case(("emit", "p.bin", *options), says, {"p.bin": GOOD, "d.toml": model})


def model(text: bytes, *says: str) -> Case:
    return emit("--stages", "2", "--delay-model", "d.toml", says=("delay model 'd.toml'", *says), model=text)


#: A lock is released when no reference to it is left.
_locks: list[FileLock] = []

CASES = {
    "unknown verb": Case(("prog.bin",), ("No such command 'prog.bin'", "dais-verif --help")),
    "misspelt verb": Case(("simm", "prog.bin"), ("No such command 'simm'; did you mean sim?", "dais-verif --help")),
    "misspelt option": Case(("check", "--laoyut", "v1", "p.bin"), ("No such option", "Did you mean", "--layout")),
    "unknown schema": Case(("schema", "nope"), ("Invalid value for 'KIND': 'nope' is not one of 'result', 'proof'",)),
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
    "top begins with a digit": Case(("emit", "p.bin", "--top", "1st"), ("--top", "'1st'", "not a Verilog module name")),
    "top empty": Case(("emit", "p.bin", "--top", ""), ("--top", "''", "not a Verilog module name")),
    "top with a space": sim("--top", "my model", says=("--top", "'my model'", "not a Verilog module name")),
    "top with a line break": sim("--top", "model\n", says=("--top", "not a Verilog module name")),
    "top a keyword": sim("--top", "module", says=("--top", "'module'", "not a keyword")),
    "vectors negative": sim("--vectors", "-1", says=("--vectors", "-1", "x>=0")),
    "vectors text": sim("--vectors", "many", says=("--vectors", "'many'")),
    "vectors fraction": sim("--vectors", "1.5", says=("--vectors", "'1.5'")),
    "vectors absurd": sim("--vectors", "1000000000000", says=("1000000000000 vectors", "must be at most")),
    "vectors beyond words": sim("--vectors", "9" * 30, says=("9" * 30, "--vectors", "at most 63 bits")),
    "seed text": sim("--seed", "now", says=("--seed", "'now'")),
    "seed negative": sim("--seed", "-1", says=("--seed", "-1", "x>=0")),
    "simulator unknown": sim("--sim", "questa", says=("--sim", "'questa'", "'icarus', 'verilator', 'both'")),
    "vectors in icarus none": sim("--icarus-vectors", "0", says=("--icarus-vectors", "'0'", "or all")),
    "vectors in icarus text": sim("--icarus-vectors", "some", says=("--icarus-vectors", "'some'", "or all")),
    "vectors in icarus alone": sim("--sim", "icarus", "--icarus-vectors", "5", says=("--icarus-vectors", "both")),
    "timeout zero": sim("--timeout", "0", says=("--timeout", "x>0")),
    "timeout negative": sim("--timeout", "-5", says=("--timeout", "x>0")),
    "timeout text": sim("--timeout", "soon", says=("--timeout", "'soon'")),
    "rtl missing": sim("--rtl", "absent.v", says=("'absent.v'", "does not exist", "module model")),
    "rtl a folder": sim("--rtl", ".", says=("'.' is a folder", "da4ml or alkaid")),
    "rtl without --rtl": sim("m.v", says=("unexpected extra argument (m.v)", "--rtl")),
    "sim output below a file": sim("-o", "p.bin/out", says=("cannot create the folder 'p.bin/out'", "Not a directory")),
    "sim output is a file": sim("-o", "p.bin", says=("cannot create the folder 'p.bin'", "File exists")),
    "sim output in /proc": sim(
        "-o", "/proc/out", says=("cannot create the folder '/proc/out'", "another place with -o")
    ),
    "sim output in use": Case(
        ("sim", "p.bin", "-o", "out"), ("'out' is in use by another run", "-o"), {"p.bin": GOOD}, setup=_held
    ),
    "netlist missing": sim("--netlist", "net", says=("'net' does not exist", "dais-verif synth")),
    "netlist a folder of others": sim(
        "--netlist", ".", says=("'.' is not a folder of `dais-verif synth", "synth.json")
    ),
    "netlist without its target": sim("--netlist", "m.v", says=("'m.v'", "--target ice40|ecp5|xilinx|generic")),
    "netlist and rtl": sim("--netlist", "m.v", "--rtl", "m.v", says=("--netlist and --rtl", "give only one")),
    "netlist and stages": sim("--netlist", "m.v", "--stages", "2", says=("--stages", "--clock")),
    "target without a netlist": sim("--target", "ice40", says=("--target", "give the netlist with --netlist")),
    "synth for nothing": synth(says=("Missing option '--target'",)),
    "synth for an unknown target": synth("--target", "asic", says=("--target", "'asic'", "'ice40', 'ecp5', 'xilinx'")),
    "synth rtl missing": synth("--target", "ice40", "--rtl", "a.v", says=("'a.v' does not exist", "module model")),
    "synth rtl and stages": synth("--target", "ice40", "--rtl", "a.v", "--stages", "2", says=("--stages", "--rtl")),
    "synth timeout zero": synth("--target", "ice40", "--timeout", "0", says=("--timeout", "x")),
    "synth timeout not a number": synth("--target", "ice40", "--timeout", "nan", says=("--timeout", "nan")),
    "synth memory too small": synth("--target", "ice40", "--memory", "1", says=("--memory", "1")),
    "synth pnr without a tool": synth("--target", "xilinx", "--pnr", says=("--pnr", "xilinx", "ice40, ecp5")),
    "synth without yosys": synth(
        "--target",
        "ice40",
        says=("yosys was not found on PATH", "apt-get install yosys", "DAIS_VERIF_YOSYS"),
        setup=_without_yosys,
        verdict="TOOL_FAILURE",
    ),
    "stages zero": emit("--stages", "0", says=("--stages", "0", "1<=x<=1000")),
    "stages text": emit("--stages", "some", says=("--stages", "'some'")),
    "stages and depth": emit("--stages", "2", "--max-depth", "3", says=("either", "--stages or --max-depth")),
    "depth too small": emit("--max-depth", "1", says=("op 2 (add) alone takes 1.45 LUT levels", "give at least 1.45")),
    "depth negative": emit("--max-depth", "-1", says=("--max-depth -1", "from 0")),
    "depth not a number": emit("--max-depth", "nan", says=("--max-depth nan", "from 0")),
    "depth infinite": emit("--max-depth", "inf", says=("--max-depth inf", "from 0")),
    "enable without stages": emit("--enable", says=("--enable", "add --stages or --max-depth")),
    "delay model without stages": emit("--delay-model", "d.toml", says=("--delay-model", "add --stages")),
    "reset without valid": emit("--stages", "2", "--reset", says=("--reset", "add --valid")),
    "delay model missing": emit(
        "--stages", "2", "--delay-model", "absent.toml", says=("'absent.toml'", "No such file", "name a TOML file")
    ),
    "delay model a folder": emit("--stages", "2", "--delay-model", ".", says=("'.'", "directory")),
    "delay model no TOML": model(b"carry: 0.05", "is not valid TOML", "line 1", "carry = 0.05"),
    "delay model no text": model(b"\xff\xfe", "is not valid TOML"),
    "delay model with another key": model(b"speed = 3", "'speed' is not a coefficient", "carry"),
    "delay model with a section": model(b"[lut]\na = 1", "lut = {'a': 1} must be a number"),
    "delay model negative": model(b"carry = -0.1", "carry = -0.1 must be a number from 0"),
    "delay model infinite": model(b"carry = inf", "carry = inf must be a number"),
    "delay model of text": model(b"carry = 'much'", "carry = 'much' must be a number"),
    "delay model of a truth": model(b"carry = true", "carry = True must be a number"),
    "delay model of no LUT inputs": model(b"lut_inputs = 1", "lut_inputs = 1 must be an integer from 2 to 16"),
    "delay model of half a LUT input": model(b"lut_inputs = 4.5", "lut_inputs = 4.5 must be an integer"),
    "delay model with a unit of lines": model(b'unit = "n\\ns"', "unit = 'n\\ns' must be a name"),
    "target missing": hil(says=("Missing option '--target'",)),
    "target unknown": hil(
        "--target", "usb:3", says=("--target 'usb:3'", "serial:///dev/ttyUSB0?baud=115200, tcp://host:port")
    ),
    "baud rate text": hil("--target", "serial:///dev/ttyS0?baud=fast", says=("--target", "fast", "must be like")),
    "timeout of a board 0": hil("--target", "sim://fifo", "--timeout", "0", says=("--timeout", "0", "x>0")),
    "timeout of a board no number": hil(
        "--target", "sim://fifo", "--timeout", "nan", says=("--timeout", "nan is not a finite number")
    ),
    "resume without a folder": hil("--target", "sim://fifo", "--resume", says=("--resume needs the folder", "-o DIR")),
}
