"""Files form one compilation unit, in the order in which they are given, and included files are read each time."""

from __future__ import annotations

from pathlib import Path

import pytest
from prove.door import run_prove
from prove.reading import FRONT_ENDS, LIMITS, needs_yosys, term_of, value_of
from support.adder import ADDER

from dais_verif.base.errors import InputError, UnsupportedVerilog
from dais_verif.base.toolchain.rtl_files import read_others
from dais_verif.hardware.ports.discover import ports_in
from dais_verif.hardware.synthesis.elaboration import elaborated as run_yosys
from dais_verif.prover import slang, yosys

SUM = "model_inp[3:0] + model_inp[7:4]"
DIFFERENCE = "model_inp[3:0] - model_inp[7:4]"


def module(value: str, before: str = "", width: str = "4") -> str:
    return f"""{before}
module model (input [7:0] model_inp, output [{width}:0] model_out);
  assign model_out = {value};
endmodule
"""


CHOICE = f"\n`ifdef BUGGY\n  {DIFFERENCE}\n`else\n  {SUM}\n`endif\n"


def written(files: dict[str, str], folder: Path) -> list[Path]:
    """Write files, and return those to pass to the command; included files are not among them."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return [folder / name for name in files if name.endswith(".v")]


def computes(files: dict[str, str], folder: Path, front_end: str = "slang") -> str:
    """Return whether the module computes the sum or the difference."""
    sources = written(files, folder)
    if front_end == "slang":
        netlist = slang.elaborate(sources, "model")
    else:
        netlist = yosys.elaborate(run_yosys(sources, "model", [], folder / "yosys", LIMITS), "model")
    value = value_of(term_of(netlist, "model_out"), {"model_inp": 0x17})
    return {8: "sum", 7 - 1 & 31: "difference"}[value]


@pytest.mark.parametrize("front_end", FRONT_ENDS)
@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        ({"a.v": "`define BUGGY\n", "m.v": module(CHOICE)}, "difference"),
        ({"m.v": module(CHOICE), "a.v": "`define BUGGY\n"}, "sum"),
        ({"a.v": "`define BUGGY\n", "b.v": "`undef BUGGY\n", "m.v": module(CHOICE)}, "sum"),
        ({"defs.v": f"`define VALUE {SUM}\n", "m.v": module("`VALUE")}, "sum"),
    ],
    ids=["a macro before", "a macro after", "a macro that is undone", "a value"],
)
def test_a_macro_holds_in_the_files_after_it(
    files: dict[str, str], wanted: str, front_end: str, tmp_path: Path
) -> None:
    assert computes(files, tmp_path, front_end) == wanted


@pytest.mark.slow
@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_a_macro_of_another_file_makes_it_wrong(front_end: str, tmp_path: Path) -> None:
    sources = written({"a.v": "`define BUGGY\n", "m.v": module(CHOICE)}, tmp_path)
    run = run_prove(ADDER, tmp_path, "--front-end", front_end, "--rtl", *sources)
    assert run.ending == ("RTL_MISMATCH", 1)


def test_a_net_type_holds_in_the_files_after_it(tmp_path: Path) -> None:
    files = {"a.v": "`default_nettype none\n", "m.v": module("lost").replace("assign", f"assign lost = {SUM}, ")}
    with pytest.raises(InputError, match="lost"):
        computes(files, tmp_path)


def test_no_macro_of_the_reader_itself_is_set(tmp_path: Path) -> None:
    for name in ("__slang__", "__slang_major__"):
        files = {"m.v": module(f"\n`ifdef {name}\n {SUM}\n`else\n {DIFFERENCE}\n`endif\n")}
        assert computes(files, tmp_path) == "difference"


def test_ports_are_those_of_the_same_reading(tmp_path: Path) -> None:
    (tmp_path / "a.v").write_text("`define WIDE\n")
    (tmp_path / "m.v").write_text(module(SUM, width="\n`ifdef WIDE\n5\n`else\n4\n`endif\n"))
    sources = [tmp_path / "a.v", tmp_path / "m.v"]
    for order, width in ((sources, 6), (sources[::-1], 5)):
        ports = ports_in(order, "model")
        assert ports is not None and ports[1].width == width
    (tmp_path / "a.v").write_text("// nothing\n")
    ports = ports_in(sources, "model")
    assert ports is not None and ports[1].width == 5, "files are read each time"


INCLUDING = f'`include "body.vh"\n{module("`VALUE")}'
LIBRARY = {"lib/body.vh": f"`define VALUE {SUM}\n", "lib/x.v": "module unused; endmodule\n"}


def test_what_is_included_may_lie_beside_another_source(tmp_path: Path) -> None:
    assert computes({**LIBRARY, "m.v": INCLUDING}, tmp_path) == "sum"


def test_two_files_of_one_name_to_include_must_be_the_same(tmp_path: Path) -> None:
    files = {**LIBRARY, "core/body.vh": f"`define VALUE {DIFFERENCE}\n", "core/m.v": INCLUDING}
    with pytest.raises(UnsupportedVerilog, match=r"'body\.vh'"):
        computes(files, tmp_path)
    assert computes({**files, "core/body.vh": LIBRARY["lib/body.vh"]}, tmp_path / "same") == "sum"


@pytest.mark.parametrize(
    "directive",
    ['`include "body.vh"', '`define X(a) `a\n`X(include) "body.vh"', '`define X(a) `inc``a\n`X(lude) "body.vh"'],
    ids=["plain", "made by a macro", "joined"],
)
def test_a_proof_of_what_includes_files_is_not_recalled(
    directive: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DAIS_VERIF_CACHE", str(tmp_path / "cache"))
    files = {"m.v": f"{directive}\n{module('`VALUE')}", "body.vh": f"`define VALUE {SUM}\n"}
    sources = written(files, tmp_path)
    assert read_others([source.read_bytes() for source in sources]), "nor is what a simulator built of it"
    for _ in range(2):
        run = run_prove(ADDER, tmp_path, "--rtl", *sources, cache=True)
        assert run.ending == ("PASS", 0) and "elaborate" in run.tree["seconds"]


@needs_yosys
def test_nor_is_one_by_yosys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAIS_VERIF_CACHE", str(tmp_path / "cache"))
    sources = written({"m.v": INCLUDING, "body.vh": f"`define VALUE {SUM}\n"}, tmp_path)
    for _ in range(2):
        run = run_prove(ADDER, tmp_path, "--front-end", "yosys", "--rtl", *sources, cache=True)
        assert run.ending == ("PASS", 0) and "elaborate" in run.tree["seconds"]


def test_nor_is_one_of_what_asks_for_its_own_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAIS_VERIF_CACHE", str(tmp_path / "cache"))
    text = module(SUM).replace("  assign", "  initial $display(`__FILE__);\n  assign")
    sources = written({"m.v": text}, tmp_path)
    for _ in range(2):
        assert "elaborate" in run_prove(ADDER, tmp_path, "--rtl", *sources, cache=True).tree["seconds"]


@pytest.mark.parametrize("first", ["part.v", "top.v"])
def test_a_time_scale_that_only_some_files_have_is_no_error(first: str, tmp_path: Path) -> None:
    files = {"part.v": "module part; endmodule\n", "top.v": module(SUM, "`timescale 1ns/1ps")}
    assert computes({name: files[name] for name in sorted(files, key=lambda name: name != first)}, tmp_path) == "sum"


def test_a_module_that_is_not_there_is_answered_with_those_that_are(tmp_path: Path) -> None:
    text = "module model(input [7:0] model_inp, output [4:0] model_out); U u(); endmodule module U(); endmodule"
    run = run_prove(ADDER, tmp_path, "--top", "modle", rtl=text)
    assert run.ending == ("INVALID_INPUT", 2)
    assert all(part in run.tree["message"] for part in ("'modle' (", "U, model)"))
    assert run.tree["help"] == "docs/troubleshooting.md#top-module"


@needs_yosys
def test_of_a_netlist_too(tmp_path: Path) -> None:
    (tmp_path / "net.v").write_text(module(SUM))
    run = run_prove(ADDER, tmp_path, "--netlist", tmp_path / "net.v", "--target", "generic", "--top", "modle")
    assert run.ending == ("INVALID_INPUT", 2)
    assert run.tree["help"] == "docs/troubleshooting.md#top-module", run.tree["message"]
