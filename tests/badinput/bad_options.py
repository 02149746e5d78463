"""Wrong command lines, and output folders that ``sim`` cannot use."""

from __future__ import annotations

from pathlib import Path

import pytest
from bad_case import GOOD, ROWS, Case, Setup
from filelock import FileLock


def sim(*options: str) -> Case:
    return Case(("sim", "p.bin", *options), {"p.bin": GOOD, "m.v": b"module model; endmodule\n"})


def hil(*options: str) -> Case:
    return Case(("hil", "p.bin", *options), {"p.bin": GOOD})


def synth(*options: str, setup: Setup | None = None, verdict: str = "INVALID_INPUT") -> Case:
    return Case(("synth", "p.bin", *options), {"p.bin": GOOD}, verdict, setup)


def _without_yosys(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("DAIS_VERIF_YOSYS", raising=False)


def _held(folder: Path, _: object) -> None:
    (folder / "out").mkdir()
    _locks.append(FileLock(folder / "out" / ".lock"))
    _locks[-1].acquire()


def emit(*options: str, model: bytes = b"") -> Case:
    return Case(("emit", "p.bin", *options), {"p.bin": GOOD, "d.toml": model})


def model(text: bytes) -> Case:
    return emit("--stages", "2", "--delay-model", "d.toml", model=text)


#: A lock is released when no reference to it is left.
_locks: list[FileLock] = []

CASES = {
    "unknown verb": Case(("prog.bin",)),
    "misspelt verb": Case(("simm", "prog.bin")),
    "misspelt option": Case(("check", "--laoyut", "v1", "p.bin")),
    "unknown schema": Case(("schema", "nope")),
    "no program": Case(("check",)),
    "two programs": Case(("check", "a", "b")),
    "unknown option": Case(("check", "--fast", "p.bin")),
    "option without its value": Case(("check", "p.bin", "--layout")),
    "layout unknown": Case(("check", "p.bin", "--layout", "v2")),
    "run without inputs": Case(("run", "p.bin"), {"p.bin": GOOD}),
    "engine unknown": Case(
        ("run", "p.bin", "--inputs", "x.npy", "--engine", "gpu"),
        {"p.bin": GOOD, "x.npy": ROWS},
    ),
    "top begins with a digit": Case(("emit", "p.bin", "--top", "1st")),
    "top empty": Case(("emit", "p.bin", "--top", "")),
    "top with a space": sim("--top", "my model"),
    "top with a line break": sim("--top", "model\n"),
    "top a keyword": sim("--top", "module"),
    "vectors negative": sim("--vectors", "-1"),
    "vectors text": sim("--vectors", "many"),
    "vectors fraction": sim("--vectors", "1.5"),
    "vectors absurd": sim("--vectors", "1000000000000"),
    "vectors beyond words": sim("--vectors", "9" * 30),
    "seed text": sim("--seed", "now"),
    "seed negative": sim("--seed", "-1"),
    "simulator unknown": sim("--sim", "questa"),
    "vectors in icarus none": sim("--icarus-vectors", "0"),
    "vectors in icarus text": sim("--icarus-vectors", "some"),
    "vectors in icarus alone": sim("--sim", "icarus", "--icarus-vectors", "5"),
    "timeout zero": sim("--timeout", "0"),
    "timeout negative": sim("--timeout", "-5"),
    "timeout text": sim("--timeout", "soon"),
    "rtl missing": sim("--rtl", "absent.v"),
    "rtl a folder": sim("--rtl", "."),
    "rtl without --rtl": sim("m.v"),
    "sim output below a file": sim("-o", "p.bin/out"),
    "sim output is a file": sim("-o", "p.bin"),
    "sim output in /proc": sim("-o", "/proc/out"),
    "sim output in use": Case(("sim", "p.bin", "-o", "out"), {"p.bin": GOOD}, setup=_held),
    "netlist missing": sim("--netlist", "net"),
    "netlist a folder of others": sim("--netlist", "."),
    "netlist without its target": sim("--netlist", "m.v"),
    "netlist and rtl": sim("--netlist", "m.v", "--rtl", "m.v"),
    "netlist and stages": sim("--netlist", "m.v", "--stages", "2"),
    "target without a netlist": sim("--target", "ice40"),
    "synth for nothing": synth(),
    "synth for an unknown target": synth("--target", "asic"),
    "synth rtl missing": synth("--target", "ice40", "--rtl", "a.v"),
    "synth rtl and stages": synth("--target", "ice40", "--rtl", "a.v", "--stages", "2"),
    "synth timeout zero": synth("--target", "ice40", "--timeout", "0"),
    "synth timeout not a number": synth("--target", "ice40", "--timeout", "nan"),
    "synth memory too small": synth("--target", "ice40", "--memory", "1"),
    "synth pnr without a tool": synth("--target", "xilinx", "--pnr"),
    "synth without yosys": synth(
        "--target",
        "ice40",
        setup=_without_yosys,
        verdict="TOOL_FAILURE",
    ),
    "stages zero": emit("--stages", "0"),
    "stages text": emit("--stages", "some"),
    "stages and depth": emit("--stages", "2", "--max-depth", "3"),
    "depth too small": emit("--max-depth", "1"),
    "depth negative": emit("--max-depth", "-1"),
    "depth not a number": emit("--max-depth", "nan"),
    "depth infinite": emit("--max-depth", "inf"),
    "enable without stages": emit("--enable"),
    "delay model without stages": emit("--delay-model", "d.toml"),
    "reset without valid": emit("--stages", "2", "--reset"),
    "delay model missing": emit("--stages", "2", "--delay-model", "absent.toml"),
    "delay model a folder": emit("--stages", "2", "--delay-model", "."),
    "delay model no TOML": model(b"carry: 0.05"),
    "delay model no text": model(b"\xff\xfe"),
    "delay model with another key": model(b"speed = 3"),
    "delay model with a section": model(b"[lut]\na = 1"),
    "delay model negative": model(b"carry = -0.1"),
    "delay model infinite": model(b"carry = inf"),
    "delay model of text": model(b"carry = 'much'"),
    "delay model of a truth": model(b"carry = true"),
    "delay model of no LUT inputs": model(b"lut_inputs = 1"),
    "delay model of half a LUT input": model(b"lut_inputs = 4.5"),
    "delay model with a unit of lines": model(b'unit = "n\\ns"'),
    "target missing": hil(),
    "target unknown": hil("--target", "usb:3"),
    "baud rate text": hil("--target", "serial:///dev/ttyS0?baud=fast"),
    "timeout of a board 0": hil("--target", "sim://fifo", "--timeout", "0"),
    "timeout of a board no number": hil("--target", "sim://fifo", "--timeout", "nan"),
    "resume without a folder": hil("--target", "sim://fifo", "--resume"),
}
