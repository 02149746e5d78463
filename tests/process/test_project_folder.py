"""Project folders: what is found in them, what options change, and how runs and records use them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.project_folders import alkaid_folder, da4ml_folder, edit_json
from support.said import as_recorded, raises

import dais_verif
from dais_verif.base.errors import InputError, RequestError
from dais_verif.base.verdict import Verdict
from dais_verif.doors.cli.main import _run
from dais_verif.hardware.ports.project_folder import read_project
from dais_verif.hardware.ports.vhdl_ports import declares_clock, needed_files
from dais_verif.record.read import read_record
from dais_verif.subject.design_folders import design_mark


def relative(folder: Path, found: tuple[Path, ...]) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in found]


def test_a_combinational_folder_of_da4ml(tmp_path: Path) -> None:
    folder = da4ml_folder(tmp_path)
    found = read_project(folder)
    assert (found.writer, found.dialect, found.language) == ("da4ml 0.5 or 0.6", "DAIS", "Verilog")
    assert found.require_model() == folder / "model" / "comb.json"
    assert relative(folder, found.sources) == ["src/layer.v", "src/static/summed.v"]
    assert (found.top, found.clock, found.latency, found.data) == ("layer", None, None, ())


def test_a_pipeline_of_da4ml(tmp_path: Path) -> None:
    folder = da4ml_folder(tmp_path, pipelined=True)
    found = read_project(folder)
    assert relative(folder, found.sources) == ["src/layer.v", "src/layer_stage0.v", "src/static/summed.v"]
    assert (found.top, found.clock, found.latency) == ("layer", "clk", 2)


def test_registers_in_layers_are_counted(tmp_path: Path) -> None:
    folder = da4ml_folder(tmp_path, pipelined=True)
    (folder / "sim" / "layer_wrapper_binder.cc").write_text("static const size_t latency = 3;\n")
    assert read_project(folder).latency == 4


def test_vhdl_of_da4ml(tmp_path: Path) -> None:
    folder = da4ml_folder(tmp_path, "Layer", flavor="vhdl")
    found = read_project(folder)
    assert (found.language, found.top, relative(folder, found.sources)) == ("VHDL", "Layer", ["src/Layer.vhd"])


@pytest.mark.parametrize(("pipelined", "clock", "latency"), [(False, None, None), (True, "clk", 2)])
def test_folders_of_alkaid(pipelined: bool, clock: str | None, latency: int | None, tmp_path: Path) -> None:
    folder = alkaid_folder(tmp_path, pipelined=pipelined)
    found = read_project(folder)
    assert (found.writer, found.dialect) == ("alkaid 0.8", "ALIR")
    assert relative(folder, found.sources) == ["src/top.v", "src/logic0.v", "src/static/summed.v"]
    assert found.require_model() == folder / "model" / "comb.json.gz"
    assert (found.clock, found.latency) == (clock, latency)


def test_alkaid_0_7_wrote_no_machine(tmp_path: Path) -> None:
    folder = alkaid_folder(tmp_path)
    (folder / "model" / "fsm.json.gz").unlink()
    assert read_project(folder).writer == "alkaid 0.7"


def test_da4ml_0_4_wrote_one_flat_folder(tmp_path: Path) -> None:
    whole, folder = da4ml_folder(tmp_path / "whole"), tmp_path / "flat"
    folder.mkdir()
    for path in whole.glob("src/**/*.v"):
        shutil.copy(path, folder)
    shutil.copy(whole / "model" / "comb.json", folder / "model.json")
    (folder / "misc.json").write_text('{"cost": 1.0}')
    found = read_project(folder)
    assert (found.writer, found.top, found.language) == ("da4ml 0.4", "layer", "Verilog")
    assert relative(folder, found.sources) == ["layer.v", "summed.v"]


def test_a_model_alone_is_no_folder_of_da4ml(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text("{}")
    assert design_mark(tmp_path) is None
    (tmp_path / "misc.json").write_text("{}")
    assert design_mark(tmp_path) == tmp_path / "model.json"


def test_tables_are_found(tmp_path: Path) -> None:
    folder = da4ml_folder(tmp_path)
    (folder / "src" / "memfiles").mkdir()
    (folder / "src" / "memfiles" / "t.mem").write_text("0\n")
    assert relative(folder, read_project(folder).data) == ["src/memfiles/t.mem"]


def test_what_a_top_does_not_need_is_left_out(tmp_path: Path) -> None:
    folder = da4ml_folder(tmp_path)
    (folder / "src" / "layer_stage7.v").write_text("module layer_stage7(input a); broken\n")
    (folder / "src" / "static" / "mux.v").write_text("module mux; endmodule\n")
    assert relative(folder, read_project(folder).sources) == ["src/layer.v", "src/static/summed.v"]


def test_the_top_of_several_is_that_of_the_option(tmp_path: Path) -> None:
    folder = da4ml_folder(da4ml_folder(tmp_path), "other")
    with raises(InputError):
        read_project(folder)
    assert read_project(folder, top="other").top == "other"


def test_a_link_within_the_folder_and_one_to_it_are_taken(tmp_path: Path) -> None:
    folder = da4ml_folder(tmp_path / "project")
    (folder / "src" / "layer.v").rename(folder / "src" / "real.v.txt")
    (folder / "src" / "layer.v").symlink_to("real.v.txt")
    (tmp_path / "link").symlink_to(folder)
    assert read_project(tmp_path / "link").top == "layer"


UNITS = {
    "verilog": (False, {"a": "module a; b x(); z y();", "b": "// module z\nmodule b;", "c": "module c;"}, ["a", "b"]),
    "comment": (False, {"a": "module a; /* b */", "b": "module b;"}, ["a", "b"]),
    "vhdl": (True, {"a": "ENTITY A IS\nx: entity work.B;", "b": "entity b is", "c": "-- entity a is"}, ["a", "b"]),
    "nothing": (False, {"b": "module b;"}, []),
}


@pytest.mark.parametrize("name", UNITS)
def test_files_are_needed_for_what_they_declare(name: str) -> None:
    vhdl, texts, needed = UNITS[name]
    found = needed_files({Path(key): text for key, text in texts.items()}, "a", vhdl=vhdl)
    assert list(map(str, found.files)) == needed


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('constant c : string := "--"; entity b is', "declared"),
        ("constant c : character := '\"'; entity b is -- \"", "declared"),
        ("constant c : character := character'('\"'); entity b is -- \"", "declared"),
        ("x <= y when '(', '\"' when others; entity b is -- \"", "declared"),
        ("signal \\--\\ : bit; entity b is", "declared"),
        ('signal \\"\\ : bit; entity b is -- "', "declared"),
        ("-- /*\nentity b is -- */", "declared"),
        ("/* -- */ entity b is", "declared"),
        ('report "a""/*"; entity b is -- */', "declared"),
        ("entity /* c */ b -- d\n is", "declared"),
        ('report %"%; signal b : bit; -- "', "unclear"),
        ("-- c \f signal b : bit;", "unclear"),
        ("signal b : bit; /* to the end", "unclear"),
        ('signal b : bit; report "to the end', "unclear"),
        ("-- entity b is", ""),
        ("/* entity b is */", ""),
        ('report "entity b is";', ""),
        ("-- 50 % of b's \"entities\n", ""),
        ("x <= std_logic'('1') & b'length & '\"'; -- entity b is", ""),
    ],
)
def test_what_vhdl_declares_is_told_from_what_it_says(text: str, found: str) -> None:
    texts = {Path("a"): "entity a is x: entity work.b;", Path("b"): "entity b is", Path("c"): text}
    needed = needed_files(texts, "a", vhdl=True)
    assert (needed.units["b"] == [Path("b"), Path("c")]) is (found == "declared")
    assert needed.unclear == ((Path("c"), "b") if found == "unclear" else None)


@pytest.mark.parametrize(
    "text",
    [
        "// module b",
        "/* module b */",
        '(* x = "module b" *) wire y;',
        '(* x = "\\"module b" *)',
        "`define b 1 // module",
    ],
)
def test_what_verilog_only_says_is_no_declaration(text: str) -> None:
    texts = {Path("a"): "module a; b x();", Path("b"): "module b;", Path("c"): text}
    assert needed_files(texts, "a", vhdl=False) == ((Path("a"), Path("b")), {"a": [Path("a")], "b": [Path("b")]}, None)


@pytest.mark.parametrize(
    ("text", "vhdl", "found"),
    [
        ("module t(input clk, input [3:0] x);", False, True),
        ("module t(\n    input wire clk,\n output y);", False, True),
        ("module t(input [3:0] x); wire clk;", False, False),
        ("module t(input clk_en);", False, False),
        ("module t( // input clk\n input x);", False, False),
        ("module other(input clk); endmodule module t(input x);", False, False),
        ("entity T is port(\n clk: in std_logic;\n x: in bit); end entity;", True, True),
        ("entity t is port(x: in bit); end entity; signal clk: in", True, False),
    ],
)
def test_a_clock_is_seen_in_the_header(text: str, vhdl: bool, found: bool) -> None:
    assert declares_clock(text, "t", "clk", vhdl=vhdl) is found


def test_a_folder_is_proved_and_the_record_says_what_was_found(tmp_path: Path) -> None:
    folder = da4ml_folder(tmp_path / "project", pipelined=True)
    record = dais_verif.prove(folder, output=tmp_path / "out", confirm=False)
    assert record.passed, record.message
    assert record.timing is not None and record.timing.latency == 2
    project = record.rtl.project
    assert project is not None
    assert (project.folder, project.model, project.top) == (str(folder), "model/comb.json", "layer")
    assert project.sources == ["src/layer.v", "src/layer_stage0.v", "src/static/summed.v"]
    assert read_record(tmp_path / "out" / "result.json").rtl.project == project  # type: ignore[union-attr]


def test_a_folder_is_simulated(tmp_path: Path) -> None:
    folder = da4ml_folder(tmp_path, pipelined=True)
    record = dais_verif.simulate(folder, simulators="icarus", vectors=50, exhaustive_bits=0)
    assert record.passed, record.message
    assert record.rtl.project is not None and record.rtl.project.latency == 2
    as_recorded([one.why for one in record.decisions if one.what == "latency"])


def test_check_tells_of_the_folder(tmp_path: Path) -> None:
    project = dais_verif.check(da4ml_folder(tmp_path)).project
    assert project is not None and project.writer == "da4ml 0.5 or 0.6"


def test_a_program_apart_and_the_folder_as_rtl(tmp_path: Path) -> None:
    folder = da4ml_folder(tmp_path / "project", pipelined=True)
    program = tmp_path / "mine.json"
    shutil.move(folder / "model" / "comb.json", program)  # only the stages are left
    record = dais_verif.prove(program, rtl=folder, confirm=False)
    assert record.passed, record.message
    assert record.rtl.project is not None and record.rtl.project.model is None
    with raises(InputError):
        dais_verif.prove(folder)


def test_a_folder_as_a_program_takes_other_rtl(tmp_path: Path) -> None:
    folder = da4ml_folder(tmp_path / "project")
    wrong = tmp_path / "wrong.v"
    wrong.write_text(
        "module model(input [7:0] model_inp, output [3:0] model_out);\nassign model_out = 4'd1;\nendmodule\n"
    )
    assert dais_verif.prove(folder, rtl=wrong, confirm=False).verdict is Verdict.RTL_MISMATCH


def flipped(folder: Path) -> None:
    library = folder / "src" / "static" / "summed.v"
    library.write_text(library.read_text().replace("} + {", "} - {"))


def other_model(folder: Path) -> None:
    model = folder / "model" / "comb.json"
    tree = json.loads(model.read_text())
    tree[5][2][2] = 1  # a difference instead of a sum
    model.write_text(json.dumps(tree))


def one_register_less(folder: Path) -> None:
    top = folder / "src" / "layer.v"
    top.write_text(
        top.read_text()
        .replace("        taken <= model_inp;\n", "")
        .replace("reg [7:0] taken;", "wire [7:0] taken = model_inp;")
    )


def one_stage_more(folder: Path) -> None:
    edit_json(folder / "metadata.json", latency=2)
    (folder / "sim" / "layer_wrapper_binder.cc").unlink()


@pytest.mark.few(2)
@pytest.mark.parametrize("lie", [flipped, other_model, one_register_less, one_stage_more])
def test_a_folder_that_lies_is_refuted(lie: Callable[[Path], None], tmp_path: Path) -> None:
    folder = da4ml_folder(tmp_path / "project", pipelined=True)
    lie(folder)
    assert dais_verif.prove(folder).verdict is Verdict.RTL_MISMATCH
    simulated = dais_verif.simulate(folder, simulators="icarus", vectors=50, exhaustive_bits=0)
    assert simulated.verdict is Verdict.RTL_MISMATCH


def test_the_latency_of_the_option_counts(tmp_path: Path) -> None:
    folder = da4ml_folder(tmp_path / "project", pipelined=True)
    one_stage_more(folder)
    assert dais_verif.prove(folder, latency="auto", confirm=False).passed
    assert dais_verif.prove(folder, latency=2, confirm=False).passed
    assert not dais_verif.prove(folder, latency=4, confirm=False).passed


def test_what_cannot_be_combined_is_said(tmp_path: Path) -> None:
    folder = da4ml_folder(tmp_path / "project")
    with raises(RequestError):
        dais_verif.simulate(folder, stages=2)
    with raises(RequestError):
        dais_verif.simulate(folder, rtl=[folder, tmp_path / "x.v"])


def test_the_terminal_shows_what_was_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = da4ml_folder(tmp_path / "project", pipelined=True)
    assert _run(["prove", str(folder), "--no-confirm", "--latency", "auto"]) == 0
    shown = capsys.readouterr().out
    assert f"project    {folder}: da4ml 0.5 or 0.6 (DAIS), Verilog, model model/comb.json, top layer, 3 files" in shown
    assert "clock clk\n" in shown


def test_other_verbs_read_the_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(da4ml_folder(tmp_path / "project"))
    assert _run(["show", folder]) == 0
    assert "2 inputs, 1 output, 4 ops" in capsys.readouterr().out
    assert _run(["diff", folder, f"{folder}/model/comb.json", "--prove"]) == 0


def test_a_sign_off_certifies_the_files_of_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = da4ml_folder(tmp_path / "project")
    seen: dict[str, Any] = {}

    def sign_off(program: Any, path: Path, layout: str | None, given: Any, out: Path, **more: Any) -> Any:
        seen.update(path=path, rtl=given.policy.rtl, project=more["project"])

    monkeypatch.setattr("dais_verif.signoff.session.sign_off", sign_off)
    dais_verif.sign_off(folder, output=tmp_path / "out")
    assert seen["path"] == folder / "model" / "comb.json"
    assert seen["rtl"].files == (str(folder / "src" / "layer.v"), str(folder / "src" / "static" / "summed.v"))
    assert seen["rtl"].top == "layer"
    assert seen["project"].folder == str(folder)


def test_a_folder_of_ours_names_the_file_that_is_meant(tmp_path: Path) -> None:
    (tmp_path / "program.bin").write_bytes(b"")
    with raises(InputError):
        read_project(tmp_path)
