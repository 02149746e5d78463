"""Every input of a run is in one list: what RTL reads, and the files of the tools behind the drivers."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path

import pytest

from dais_verif.base.errors import InputError, ToolError
from dais_verif.base.toolchain.tool_files import PACKAGES, content_of, own_files, package_files, stamp_of, tool_files
from dais_verif.hardware.ports.verilog import included_names
from dais_verif.subject import run_inputs
from dais_verif.subject.run_inputs import digest_of_tools, digests_of_job, files_of_job, rtl_inputs


@pytest.mark.parametrize(
    ("tool", "names"),
    [
        ("icarus", {"iverilog", "vvp", "ivl", "ivlpp", "vvp.tgt", "system.vpi"}),
        ("verilator", {"verilator_bin", "verilated.cpp", "verilated.h"}),
        ("g++", {"cc1plus"}),
        ("yosys", {"yosys", "yosys-abc", "techmap.v"}),
        ("ghdl", {"ghdl", "numeric_std.v93", "numeric_std-body.v93"}),
    ],
)
def test_the_tools_behind_a_driver_count(tool: str, names: set[str]) -> None:
    try:
        found = {path.name for path in tool_files(tool)}
    except ToolError:
        pytest.skip(f"{tool} is not installed")
    assert names - found <= {"numeric_std.v93", "numeric_std-body.v93"}  # their names differ between versions of GHDL


def test_packages_that_decide_are_listed() -> None:
    assert {"python-sat", "bitwuzla", "pyslang"} <= set(PACKAGES)
    for name in PACKAGES:
        assert any(path.suffix == ".so" for path in package_files(name) or ())
    assert {"run_inputs.py", "_kernel.c"} & {path.name for path in own_files()}


def test_a_changed_file_changes_the_digest(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a", "b")]
    for path in files:
        path.write_text("1")
    before = content_of(files), stamp_of(files)
    files[1].write_text("22")
    assert all(now != then for now, then in zip((content_of(files), stamp_of(files)), before, strict=True))


def test_the_digest_of_tools_names_each() -> None:
    assert set(digest_of_tools(["icarus"])) == {"dais-verif", "python", "icarus", *PACKAGES}


def test_tables_that_includes_name_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.v").write_text('`include "k.vh"\n')
    (tmp_path / "k.vh").write_text('`include "sub/l.vh"\nlocalparam FILE = "t.mem";\n')
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "l.vh").write_text("")
    (tmp_path / "t.mem").write_text("00")
    found = rtl_inputs([tmp_path / "a.v"])
    assert {path.name for path in found.includes} == {"k.vh", "l.vh"}
    assert [table.name for table in found.tables] == ["t.mem"]
    (tmp_path / "k.vh").unlink()
    with pytest.raises(InputError, match=r"k\.vh"):
        rtl_inputs([tmp_path / "a.v"])
    assert rtl_inputs([tmp_path / "a.v"], strict=False).includes == ()


def test_files_that_include_each_other_through_parents_are_read_once(tmp_path: Path) -> None:
    cycle = '`ifndef {0}\n`define {0}\n`include "../a/l.vh"\n`include "../b/k.vh"\n`endif\n'
    for name, text in {"a/m.v": cycle.format("M"), "a/l.vh": cycle.format("L"), "b/k.vh": cycle.format("K")}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    includes = {tmp_path / "a" / "l.vh", tmp_path / "b" / "k.vh"}
    found = rtl_inputs([tmp_path / "a" / "m.v"]).includes
    assert {*found} == includes and len(found) == 2
    assert {*files_of_job(Path("p.bin"), [], [tmp_path / "a" / "m.v"], tmp_path)} == includes | {tmp_path / "a" / "m.v"}


_LINES = ('`include "%s"', '$readmemh("%s", m);', 'localparam F = "%s";', '`define T "%s"', '// "%s"')


@pytest.mark.parametrize("seed", range(3))
def test_what_a_certificate_lists_is_in_the_fingerprint(seed: int, tmp_path: Path) -> None:
    """Random folders of sources, includes and tables that name each other."""
    rng, listed = random.Random(seed), 0
    for number in range(12):
        root, names = tmp_path / str(number), ("k.vh", "l.svh", "t.mem", "u.hex", "x.v", "y.sv")
        places = [f"{folder}/{name}" for folder in ("a", "b", "a/sub", "b/tables") for name in names]
        for place in rng.sample(places, 12):
            chosen = [rng.choice(("", "sub/", "../b/", "tables/")) + rng.choice(names) for _ in range(3)]
            (root / place).parent.mkdir(parents=True, exist_ok=True)
            (root / place).write_text("".join(f"{rng.choice(_LINES) % name}\n" for name in chosen))
        sources = sorted([*root.rglob("*.v"), *root.rglob("*.sv")])[:2]
        with contextlib.suppress(InputError):  # tables of one name in two folders
            read = rtl_inputs(sources, strict=False)
            certified = {*read.includes, *(table.path for table in read.tables)}
            assert certified <= {*files_of_job(root / "p.bin", [], sources, root)}
            listed += len(certified)
    assert listed > 3


def test_the_package_and_the_arguments_decide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_inputs, "own_files", lambda: [tmp_path / "own.py"])
    (tmp_path / "ports.toml").write_text("1")

    def facts() -> str:
        arguments = ["--ports", "ports.toml"]
        return str((digest_of_tools([]), digests_of_job(tmp_path / "p.bin", arguments, [], tmp_path)))

    known = set()
    for name in ("own.py", "ports.toml", "p.bin"):
        (tmp_path / name).write_text("22")
        known.add(facts())
    assert len(known) == 3


@pytest.mark.parametrize("second", ['`include "../b/k.vh"\n', ""], ids=["both", "one"])
def test_files_that_include_each_other_without_end_are_refused(second: str, tmp_path: Path) -> None:
    for name in ("a/l.vh", "b/k.vh"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f'`include "../a/l.vh"\n{second}')
    (tmp_path / "m.v").write_text('`include "a/l.vh"\nmodule m; endmodule\n')
    with pytest.raises(InputError, match=r"l\.vh|k\.vh"):
        included_names([tmp_path / "m.v"])
