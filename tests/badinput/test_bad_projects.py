"""Incomplete, contradictory or misdirected project folders end in one clear line each, never in a PASS."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from support.project_folders import alkaid_folder, da4ml_folder, edit_json
from support.said import as_recorded

from dais_verif.cli.main import _run

SECRET = "module layer(input [7:0] model_inp, output [3:0] model_out); endmodule\n"


class Bad(NamedTuple):
    """A change of a folder of da4ml or alkaid, ``pipelined`` or not, and a part of the one-line message about it."""

    spoil: Callable[[Path], object]
    said: str
    make: Callable[..., Path] = da4ml_folder
    pipelined: bool = False


def link(name: str, target: str) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)

    return spoil


def write(name: str, content: str) -> Callable[[Path], object]:
    def spoil(folder: Path) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)

    return spoil


def without(*names: str) -> Callable[[Path], None]:
    return lambda folder: [(folder / name).unlink() for name in names] and None


def metadata(**values: object) -> Callable[[Path], None]:
    return lambda folder: edit_json(folder / "metadata.json", **values)


def renamed(old: str, new: str) -> Callable[[Path], object]:
    return lambda folder: (folder / old).rename(folder / new)


def fifo(name: str) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        (folder / name).unlink()
        os.mkfifo(folder / name)

    return spoil


def table(folder: Path) -> None:
    library = folder / "src" / "static" / "summed.v"
    library.write_text(library.read_text().replace("endmodule", 'initial $readmemh("t1.mem", m);\nendmodule'))


def dais_in_alkaid(folder: Path) -> None:
    other = da4ml_folder(folder / "other")
    (folder / "model" / "comb.json.gz").write_bytes(gzip.compress((other / "model" / "comb.json").read_bytes()))


_SUMMED = "summed(input a, output y); assign y = a; endmodule"

#: Second declarations of a module that a simple reader misses, since they follow an apparent comment or string.
HIDDEN = {
    "behind // in a string": f'(* x = "//" *) module {_SUMMED}',
    "behind /* in a string": f'(* x = "/*" *) module {_SUMMED} (* y = "*/" *)',
    "behind a string that ends in a backslash": f'(* x = "\\\\" *) module {_SUMMED} (* y = "" *)',
    "behind a quote in a string": f'(* x = "\\"//" *) module {_SUMMED}',
    "behind a string over two lines": f'(* x = "a\\\nb" *) module {_SUMMED} (* y = "" *)',
    "behind a quote in a comment": f'/* " */ module {_SUMMED} // "',
    "behind a quote in a line of comment": f'// "\nmodule {_SUMMED} (* y = "" *)',
    "behind /* in a comment": f"// /*\nmodule {_SUMMED} // */",
    "behind // in a comment": f"/* // */ module {_SUMMED}",
    "behind an escaped //": f"wire \\//x ; endmodule module {_SUMMED}",
    "behind an escaped /*": f"wire \\/*x ; endmodule module {_SUMMED} /* */",
    "behind an escaped quote": f'wire \\"x ; endmodule module {_SUMMED} (* y = "" *)',
    "without a space": f"module\\{_SUMMED.replace('(', ' (', 1)}",
    "a comment for a space": f'module/* " */{_SUMMED} // "',
    "as the text of a macro's argument": f"`all(module {_SUMMED})",
}

#: Files whose text does not show which modules they declare.
UNCLEAR = {
    "the keyword from a macro": f"`define unit module\n`unit {_SUMMED}",
    "the keyword from a macro of two lines": f"`define unit \\\n  module\n`unit {_SUMMED}",
    "the name from a macro": f"`define name summed\nmodule `name {_SUMMED[6:]}",
    "the name as an argument": "`define unit(n) module n(input a); endmodule\n`unit(summed)",
    "pasted": f"`define paste(a, b) a``b\n`paste(mod, ule) {_SUMMED}",
    "quotes of macros": f'`define text(x) `"x // `"\nmodule {_SUMMED.replace("summed", "/**/ other")} wire summed;',
    "a string that does not end": '(* x = " *) wire summed;',
    "a comment that does not end": "/* wire summed;",
    "three quotes": '(* x = """ " // """ *) wire summed;',
    "a line that ends in a carriage return": "// \r wire summed;",
}

CASES = {
    # the model
    "empty folder": Bad(lambda folder: (shutil.rmtree(folder), folder.mkdir()), "not one that da4ml or alkaid wrote"),
    "no model": Bad(without("model/comb.json"), "not one that da4ml or alkaid wrote"),
    "only stages": Bad(without("model/comb.json"), "model/pipeline.json holds the stages", pipelined=True),
    "two writers": Bad(write("model/comb.json.gz", "x"), "model/comb.json of da4ml 0.5 or 0.6 and model/comb.json.gz"),
    "machine over da4ml": Bad(write("model/fsm.json.gz", "x"), "and model/fsm.json.gz of alkaid, so it is not known"),
    "model of the other dialect": Bad(dais_in_alkaid, "is DAIS, but alkaid 0.8 wrote the folder", alkaid_folder),
    "model leads out": Bad(link("model/comb.json", "../../elsewhere.json"), "model/comb.json is a link out"),
    "model leads nowhere": Bad(link("model/comb.json", "gone.json"), "model/comb.json is a dangling link"),
    "model is a fifo": Bad(fifo("model/comb.json"), "it is a FIFO"),
    "model is damaged": Bad(write("model/comb.json", "[[2, 1]"), "the file is damaged"),
    # the metadata
    "metadata is not JSON": Bad(write("metadata.json", "{"), "metadata.json is not JSON"),
    "metadata is a list": Bad(write("metadata.json", "[]"), "metadata.json must be an object, not a list"),
    "metadata is nested": Bad(write("metadata.json", "[" * 200_000), "metadata.json is not JSON"),
    "metadata is a fifo": Bad(fifo("metadata.json"), "it is a FIFO"),
    "metadata leads out": Bad(link("metadata.json", "../elsewhere.json"), "metadata.json is a link out"),
    "C++": Bad(metadata(flavor="vitis"), "holds C++ for high-level synthesis (flavor vitis)"),
    "unknown flavor": Bad(metadata(flavor="chisel"), "says flavor 'chisel', must be verilog or vhdl"),
    "flavor of no type": Bad(metadata(flavor={"a": 1}), "must be verilog or vhdl"),
    "another flavor": Bad(metadata(flavor="vhdl"), "says vhdl, but src holds no file *.vhd"),
    "top of no type": Bad(metadata(top_module=3), "says top_module '3', must be a name", alkaid_folder),
    "top with a path": Bad(metadata(top_module="../x"), "must be a name: give it with --top", alkaid_folder),
    "top of another folder": Bad(metadata(top_module="other"), "the wrapper is that of top", alkaid_folder),
    "latency in words": Bad(metadata(latency="two"), "says latency 'two', must be a number", pipelined=True),
    "latency negative": Bad(metadata(latency=-1), "says latency '-1', must be a number of stages", pipelined=True),
    "latency huge": Bad(metadata(latency=10**30), "must be a number of stages above 0", pipelined=True),
    "latency true": Bad(metadata(latency=True), "says latency 'True', must be a number of stages", pipelined=True),
    "latency left out": Bad(metadata(latency=None), "layer has a clock, clk, but metadata.json", pipelined=True),
    "latency and no metadata": Bad(without("metadata.json"), "has no latency", pipelined=True),
    "latency without a clock": Bad(metadata(latency=2), "says latency 2, but layer has no port clk"),
    "latency of two minds": Bad(metadata(latency=2), "says latency 1, which is not a multiple", pipelined=True),
    # the RTL
    "no RTL": Bad(lambda folder: shutil.rmtree(folder / "src"), "says verilog, but src holds no file *.v"),
    "no RTL, no metadata": Bad(
        lambda folder: (shutil.rmtree(folder / "src"), (folder / "metadata.json").unlink()), "neither *.v nor *.vhd"
    ),
    "both languages": Bad(
        lambda folder: ((folder / "src" / "x.vhd").write_text(""), (folder / "metadata.json").unlink()),
        "holds Verilog and VHDL, but no metadata.json",
    ),
    "no top": Bad(without("src/layer_wrapper.v"), "no *_wrapper.v names the top module: name the top with"),
    "two tops": Bad(
        lambda folder: da4ml_folder(folder, "other"), "may mean layer, other: name the top with --top", da4ml_folder
    ),
    "file of the top is missing": Bad(without("src/top.v"), "declares the module top", alkaid_folder),
    "top declared twice": Bad(
        lambda folder: shutil.copy(folder / "src" / "layer.v", folder / "src" / "old.v"),
        "src/layer.v and src/old.v both declare layer",
    ),
    "declared twice, behind an attribute": Bad(
        write("src/zz.v", "(* keep = 1 *) module summed (input a, output y); assign y = a; endmodule"),
        "src/zz.v and src/static/summed.v both declare summed",
    ),
    "declared twice, behind another module": Bad(
        write("src/zz.v", 'module pad; endmodule module \\layer (output y); assign y = "module x"; endmodule'),
        "src/layer.v and src/zz.v both declare layer",
    ),
    **{
        f"declared twice, {name}": Bad(write("src/zz.v", text), "src/zz.v and src/static/summed.v both declare summed")
        for name, text in HIDDEN.items()
    },
    **{
        f"perhaps declared twice, {name}": Bad(write("src/zz.v", text), "src/zz.v may also declare summed: its macros")
        for name, text in UNCLEAR.items()
    },
    "library declared twice": Bad(
        lambda folder: shutil.copy(folder / "src" / "static" / "summed.v", folder / "src" / "summed.v"),
        "src/summed.v and src/static/summed.v both declare summed",
    ),
    "source leads out": Bad(link("src/layer.v", "../../elsewhere.v"), "src/layer.v is a link out"),
    "source leads out absolutely": Bad(link("src/layer.v", "/etc/passwd"), "src/layer.v is a link out"),
    "library leads out": Bad(link("src/static/summed.v", "/etc/hostname"), "summed.v is a link out"),
    "source leads to itself": Bad(link("src/layer.v", "layer.v"), "src/layer.v is a dangling link"),
    "source is a folder": Bad(
        lambda folder: ((folder / "src" / "layer.v").unlink(), (folder / "src" / "layer.v").mkdir()), "Is a directory"
    ),
    "source is a fifo": Bad(fifo("src/layer.v"), "it is a FIFO"),
    "table leads out": Bad(
        lambda folder: ((folder / "src" / "memfiles").mkdir(), link("src/memfiles/t.mem", "/etc/passwd")(folder)),
        "src/memfiles/t.mem is a link out",
    ),
    "table is missing": Bad(table, "the RTL reads 't1.mem', which is not there: give it with --data"),
}


def ends(folder: Path, capfd: pytest.CaptureFixture[str], *words: str) -> str:
    """Return the line in which ``dais-verif`` with ``words`` refuses ``folder`` as invalid input."""
    code = _run([*words, str(folder)])
    out, err = capfd.readouterr()
    assert code == 2 and not out, (code, out, err)
    assert "Traceback" not in err
    (line,) = err.strip().splitlines()
    return line


@pytest.mark.parametrize("name", CASES)
def test_a_bad_folder_is_refused_in_one_line(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    case = CASES[name]
    (tmp_path / "elsewhere.v").write_text(SECRET)
    (tmp_path / "elsewhere.json").write_text("{}")
    folder = case.make(tmp_path / "project", pipelined=case.pipelined)
    case.spoil(folder)
    line = ends(folder, capfd, "check")
    assert case.said in line
    assert line == ends(folder, capfd, "prove")


def test_a_folder_that_holds_a_machine_alone_is_refused_by_verbs_that_take_none(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Verbs that accept machines read it, and name its fault."""
    folder = alkaid_folder(tmp_path / "project")
    (folder / "model" / "comb.json.gz").unlink()
    as_recorded(ends(folder, capfd, "coverage"))
    assert "model/fsm.json.gz: JSON logic: must be an object, not None" in ends(folder, capfd, "sim")


@pytest.mark.parametrize("make", [da4ml_folder, alkaid_folder])
@pytest.mark.parametrize("pipelined", [False, True], ids=["combinational", "pipelined"])
def test_the_folders_that_the_others_vary_are_taken(
    make: Callable[..., Path], pipelined: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert _run(["check", str(make(tmp_path / "project", pipelined=pipelined))]) == 0


def test_a_missing_library_module_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = da4ml_folder(tmp_path / "project")
    (folder / "src" / "static" / "summed.v").unlink()
    assert "unknown module 'summed'" in ends(folder, capfd, "prove")


def test_a_file_of_the_current_folder_does_not_stand_in_for_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = da4ml_folder(tmp_path / "project")
    table(folder)
    (tmp_path / "t1.mem").write_text("0\n")
    monkeypatch.chdir(tmp_path)
    assert "RTL reads 't1.mem'" in ends(folder, capfd, "prove")


OPTIONS = {
    "stages": (["--stages", "2"], "are for RTL that dais-verif emits; to emit RTL from "),
    "latency of what has no clock": (["--latency", "3"], "--latency needs --clock"),
    "no such top": (["--top", "nothing"], "declares the module nothing: name it with --top"),
    "no such clock": (["--clock", "ck"], "the design has no input ck"),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options_that_do_not_go_with_a_folder(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    words, said = OPTIONS[name]
    folder = da4ml_folder(tmp_path / "project")
    if name == "no such clock":
        edit_json(folder / "metadata.json", latency=1)
    monkeypatch.chdir(folder)
    assert said in ends(Path("."), capfd, "prove", *words)


def test_a_folder_of_rtl_takes_no_file_beside_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = str(da4ml_folder(tmp_path / "project"))
    line = ends(tmp_path / "x.v", capfd, "prove", folder, "--rtl", folder, "--rtl")
    assert all(part in line for part in ("folder", "RTL"))


def test_a_folder_that_is_none_is_told_what_one_is(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "model.json").write_text(json.dumps([]))
    as_recorded(ends(tmp_path, capfd, "show"))
