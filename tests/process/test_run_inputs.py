"""Every input of a run is in one list: what RTL reads, and the files of the tools behind the drivers."""

from __future__ import annotations

from pathlib import Path

import pytest

from dais_verif.base.errors import InputError, ToolError
from dais_verif.base.toolchain.tool_files import PACKAGES, content_of, own_files, package_files, stamp_of, tool_files
from dais_verif.subject.run_inputs import digest_of_tools, rtl_inputs


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
