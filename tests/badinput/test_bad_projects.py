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

from dais_verif.doors.cli.main import _run

SECRET = "module layer(input [7:0] model_inp, output [3:0] model_out); endmodule\n"


class Bad(NamedTuple):
    """A change of a folder of da4ml or alkaid, ``pipelined`` or not, and names in the one-line message about it."""

    spoil: Callable[[Path], object]
    names: str
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
    "empty folder": Bad(
        lambda folder: (shutil.rmtree(folder), folder.mkdir()), "model/comb.json, model/comb.json.gz model/fsm.json.gz"
    ),
    "no model": Bad(without("model/comb.json"), "model/comb.json, model/comb.json.gz model/fsm.json.gz"),
    "only stages": Bad(without("model/comb.json"), "model/pipeline.json PROGRAM --rtl", pipelined=True),
    "two writers": Bad(write("model/comb.json.gz", "x"), "model/comb.json 0.5 0.6 model/comb.json.gz PROGRAM --rtl"),
    "machine over da4ml": Bad(
        write("model/fsm.json.gz", "x"), "model/comb.json 0.5 0.6 model/fsm.json.gz PROGRAM --rtl"
    ),
    "model of the other dialect": Bad(dais_in_alkaid, "model/comb.json.gz DAIS 0.8 ALIR", alkaid_folder),
    "model leads out": Bad(link("model/comb.json", "../../elsewhere.json"), "model/comb.json"),
    "model leads nowhere": Bad(link("model/comb.json", "gone.json"), "model/comb.json"),
    "model is a fifo": Bad(fifo("model/comb.json"), "FIFO"),
    "model is damaged": Bad(write("model/comb.json", "[[2, 1]"), "model/comb.json:"),
    # the metadata
    "metadata is not JSON": Bad(write("metadata.json", "{"), "metadata.json JSON:"),
    "metadata is a list": Bad(write("metadata.json", "[]"), "metadata.json"),
    "metadata is nested": Bad(write("metadata.json", "[" * 200_000), "metadata.json JSON:"),
    "metadata is a fifo": Bad(fifo("metadata.json"), "FIFO"),
    "metadata leads out": Bad(link("metadata.json", "../elsewhere.json"), "metadata.json"),
    "C++": Bad(metadata(flavor="vitis"), "C++ vitis --rtl"),
    "unknown flavor": Bad(metadata(flavor="chisel"), "metadata.json 'chisel'"),
    "flavor of no type": Bad(metadata(flavor={"a": 1}), "metadata.json {'a'"),
    "another flavor": Bad(metadata(flavor="vhdl"), "metadata.json *.vhd"),
    "top of no type": Bad(metadata(top_module=3), "metadata.json top_module '3' --top", alkaid_folder),
    "top with a path": Bad(metadata(top_module="../x"), "metadata.json top_module '../x' --top", alkaid_folder),
    "top of another folder": Bad(metadata(top_module="other"), "metadata.json top_module other --top", alkaid_folder),
    "latency in words": Bad(metadata(latency="two"), "metadata.json latency 'two'", pipelined=True),
    "latency negative": Bad(metadata(latency=-1), "metadata.json latency '-1'", pipelined=True),
    "latency huge": Bad(
        metadata(latency=10**30), "metadata.json latency '1000000000000000000000000000000'", pipelined=True
    ),
    "latency true": Bad(metadata(latency=True), "metadata.json latency 'True'", pipelined=True),
    "latency left out": Bad(metadata(latency=None), "clk metadata.json --latency auto", pipelined=True),
    "latency and no metadata": Bad(without("metadata.json"), "clk metadata.json --latency auto", pipelined=True),
    "latency without a clock": Bad(metadata(latency=2), "metadata.json latency 2 clk --clock"),
    "latency of two minds": Bad(
        metadata(latency=2), "metadata.json 2 sim/layer_wrapper_binder.cc latency 1 --latency", pipelined=True
    ),
    # the RTL
    "no RTL": Bad(lambda folder: shutil.rmtree(folder / "src"), "metadata.json *.v"),
    "no RTL, no metadata": Bad(
        lambda folder: (shutil.rmtree(folder / "src"), (folder / "metadata.json").unlink()), "*.v *.vhd"
    ),
    "both languages": Bad(
        lambda folder: ((folder / "src" / "x.vhd").write_text(""), (folder / "metadata.json").unlink()),
        "Verilog VHDL metadata.json --rtl",
    ),
    "no top": Bad(without("src/layer_wrapper.v"), "*_wrapper.v --top"),
    "two tops": Bad(lambda folder: da4ml_folder(folder, "other"), "layer, other --top", da4ml_folder),
    "file of the top is missing": Bad(without("src/top.v"), "3 --top", alkaid_folder),
    "top declared twice": Bad(
        lambda folder: shutil.copy(folder / "src" / "layer.v", folder / "src" / "old.v"),
        "src/layer.v src/old.v --rtl",
    ),
    "declared twice, behind an attribute": Bad(
        write("src/zz.v", "(* keep = 1 *) module summed (input a, output y); assign y = a; endmodule"),
        "src/zz.v src/static/summed.v summed --rtl",
    ),
    "declared twice, behind another module": Bad(
        write("src/zz.v", 'module pad; endmodule module \\layer (output y); assign y = "module x"; endmodule'),
        "src/layer.v src/zz.v --rtl",
    ),
    **{
        f"declared twice, {name}": Bad(write("src/zz.v", text), "src/zz.v src/static/summed.v summed --rtl")
        for name, text in HIDDEN.items()
    },
    **{
        f"perhaps declared twice, {name}": Bad(write("src/zz.v", text), "src/zz.v summed")
        for name, text in UNCLEAR.items()
    },
    "library declared twice": Bad(
        lambda folder: shutil.copy(folder / "src" / "static" / "summed.v", folder / "src" / "summed.v"),
        "src/summed.v src/static/summed.v --rtl",
    ),
    "source leads out": Bad(link("src/layer.v", "../../elsewhere.v"), "src/layer.v"),
    "source leads out absolutely": Bad(link("src/layer.v", "/etc/passwd"), "src/layer.v"),
    "library leads out": Bad(link("src/static/summed.v", "/etc/hostname"), "src/static/summed.v"),
    "source leads to itself": Bad(link("src/layer.v", "layer.v"), "src/layer.v"),
    "source is a folder": Bad(
        lambda folder: ((folder / "src" / "layer.v").unlink(), (folder / "src" / "layer.v").mkdir()), "src/layer.v"
    ),
    "source is a fifo": Bad(fifo("src/layer.v"), "FIFO"),
    "table leads out": Bad(
        lambda folder: ((folder / "src" / "memfiles").mkdir(), link("src/memfiles/t.mem", "/etc/passwd")(folder)),
        "src/memfiles/t.mem",
    ),
    "table is missing": Bad(table, "'t1.mem' --data"),
}

#: The codes of what is wrong with a single file.
CODES = {
    "model is a fifo": "files",
    "model is damaged": "program-file",
    "metadata is a fifo": "files",
    "source is a folder": "files",
    "source is a fifo": "files",
}
#: The cases whose messages quote Python, which words them differently in its versions.
OF_PYTHON = {"model is damaged", "metadata is not JSON", "metadata is nested"}


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
    assert all(one in line for one in case.names.split()), line
    code = CODES.get(name, "project-folders")
    assert line.endswith(f"#{code}"), line
    assert line == ends(folder, capfd, "prove")
    if name not in OF_PYTHON:
        as_recorded(line)


def test_a_folder_that_holds_a_machine_alone_is_refused_by_verbs_that_take_none(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Verbs that accept machines read it, and name its fault."""
    folder = alkaid_folder(tmp_path / "project")
    (folder / "model" / "comb.json.gz").unlink()
    as_recorded(ends(folder, capfd, "coverage"))
    line = ends(folder, capfd, "sim")
    assert "model/fsm.json.gz: JSON logic: " in line
    as_recorded(line)


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
    "stages": (["--stages", "2"], "--stages"),
    "latency of what has no clock": (["--latency", "3"], "--latency --clock"),
    "no such top": (["--top", "nothing"], "nothing --top"),
    "no such clock": (["--clock", "ck"], "ck"),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options_that_do_not_go_with_a_folder(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    words, names = OPTIONS[name]
    folder = da4ml_folder(tmp_path / "project")
    if name == "no such clock":
        edit_json(folder / "metadata.json", latency=1)
    monkeypatch.chdir(folder)
    line = ends(Path("."), capfd, "prove", *words)
    assert all(one in line for one in names.split()), line
    as_recorded(line)


def test_a_folder_of_rtl_takes_no_file_beside_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = str(da4ml_folder(tmp_path / "project"))
    line = ends(tmp_path / "x.v", capfd, "prove", folder, "--rtl", folder, "--rtl")
    assert all(part in line for part in ("folder", "RTL"))


def test_a_folder_that_is_none_is_told_what_one_is(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "model.json").write_text(json.dumps([]))
    as_recorded(ends(tmp_path, capfd, "show"))
