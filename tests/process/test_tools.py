"""The message about a missing tool names it, the place that was searched, and the remedy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import cocotb_tools.config
import find_libpython
import pytest
from support.said import as_recorded, raises

from dais_verif.base.errors import ToolError
from dais_verif.base.toolchain import tools, verilator_runtime
from dais_verif.pytest_plugin import _first_build


def executable(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def empty_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.delenv("DAIS_VERIF_IVERILOG", raising=False)
    monkeypatch.delenv("DAIS_VERIF_VERILATOR", raising=False)
    monkeypatch.delenv("DAIS_VERIF_GHDL", raising=False)


@pytest.mark.usefixtures("empty_path")
def test_icarus_not_on_path() -> None:
    with raises(ToolError):
        tools.icarus()


@pytest.mark.usefixtures("empty_path")
def test_ghdl_not_on_path() -> None:
    with raises(ToolError):
        tools.ghdl()


@pytest.mark.parametrize(("generator", "mcode"), [("mcode code generator", True), ("llvm 14 code generator", False)])
def test_what_ghdl_says_of_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, generator: str, mcode: bool) -> None:
    path = executable(tmp_path / "ghdl", f"echo 'GHDL 9.9 (build) [Edition]'; echo ' {generator}'")
    monkeypatch.setenv("DAIS_VERIF_GHDL", str(path))
    assert tools.ghdl() == tools.GhdlTools(path, "9.9 (build) [Edition]", mcode)


@pytest.mark.usefixtures("empty_path")
@pytest.mark.parametrize("name", ["icepack", "iceunpack", "icetime"])
def test_icestorm_not_on_path(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(f"DAIS_VERIF_{name.upper()}", raising=False)
    with raises(ToolError):
        tools.icestorm(name)


def test_chips_lie_beside_icepack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack = executable(tmp_path / "bin" / "icepack", "true")
    monkeypatch.setenv("DAIS_VERIF_ICEPACK", str(pack))
    monkeypatch.delenv("DAIS_VERIF_ICESTORM_CHIPDB", raising=False)
    with raises(ToolError):
        tools.icestorm_chip("8k")
    chip = tmp_path / "share" / "icebox" / "chipdb-8k.txt"
    chip.parent.mkdir(parents=True)
    chip.touch()
    assert tools.icestorm_chip("8k") == chip
    monkeypatch.setenv("DAIS_VERIF_ICESTORM_CHIPDB", str(tmp_path))
    with raises(ToolError):
        tools.icestorm_chip("8k")


@pytest.mark.usefixtures("empty_path")
def test_no_compiler_for_verilator() -> None:
    with raises(ToolError):
        tools.verilator()


@pytest.mark.usefixtures("empty_path")
def test_all_that_is_missing_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "_wheel", lambda: None)
    with raises(ToolError):
        tools.verilator()


@pytest.mark.usefixtures("empty_path")
def test_a_package_without_its_makefile_names_other_ways(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In a package installed by pip, messages do not name ``make setup``, which needs a checkout."""
    monkeypatch.setattr(
        tools, "__file__", str(tmp_path / "site-packages" / "dais_verif" / "base" / "toolchain" / "tools.py")
    )
    monkeypatch.setattr(tools, "_wheel", lambda: None)
    with raises(ToolError):
        tools.icarus()
    with pytest.raises(ToolError) as raised:
        tools.verilator()
    as_recorded(str(raised.value))
    as_recorded(str(raised.value))
    assert "make" not in str(raised.value)


@pytest.mark.usefixtures("empty_path")
def test_verilator_is_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    executable(tmp_path / "empty" / "g++", "echo g++")
    monkeypatch.setattr(tools, "_wheel", lambda: None)
    with raises(ToolError):
        tools.verilator()


@pytest.mark.parametrize(
    ("variable", "find"),
    [("DAIS_VERIF_IVERILOG", tools.icarus), ("DAIS_VERIF_VERILATOR", tools.verilator), ("DAIS_VERIF_GHDL", tools.ghdl)],
)
def test_an_override_that_does_not_exist(
    monkeypatch: pytest.MonkeyPatch, variable: str, find: Callable[[], object]
) -> None:
    monkeypatch.setenv(variable, "/none/such")
    with raises(ToolError):
        find()


def test_the_override_of_icarus_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = executable(tmp_path / "my bin" / "iverilog", "echo 'Icarus Verilog version 99.0 (own) ()'")
    vvp = executable(tmp_path / "my bin" / "vvp", "")
    monkeypatch.setenv("DAIS_VERIF_IVERILOG", str(own))
    assert tools.icarus() == tools.IcarusTools(own, vvp, "99.0 (own)")


@pytest.mark.usefixtures("empty_path")
def test_icarus_without_its_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = executable(tmp_path / "my bin" / "iverilog", "echo 'Icarus Verilog version 99.0 (own) ()'")
    monkeypatch.setenv("DAIS_VERIF_IVERILOG", str(own))
    with raises(ToolError):
        tools.icarus()


def test_the_override_of_verilator_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = 'test "$1" = --getenv && echo /its/root$VERILATOR_ROOT || echo Verilator 9.001 2030-01-01'
    own = executable(tmp_path / "verilator", script)
    monkeypatch.setenv("DAIS_VERIF_VERILATOR", str(own))
    monkeypatch.setenv("VERILATOR_ROOT", "/of/another")
    found = tools.verilator()
    assert found.driver[-1] == str(own)
    assert found.root == Path("/its/root")
    assert found.version == "9.001 2030-01-01"
    assert "VERILATOR_ROOT" not in found.env


def test_a_tool_that_fails_to_give_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = executable(tmp_path / "iverilog", "echo broken library >&2; exit 7")
    executable(tmp_path / "vvp", "")
    monkeypatch.setenv("DAIS_VERIF_IVERILOG", str(own))
    with raises(ToolError):
        tools.icarus()


def test_libpython_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "_loaded_libpython", lambda: None)
    monkeypatch.setattr("find_libpython.find_libpython", lambda: None)
    with pytest.raises(ToolError, match="libpython"):
        tools.libpython()


def test_libpython_of_a_python_that_runs_in_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "_loaded_libpython", lambda: None)
    assert tools.libpython() == Path(find_libpython.find_libpython())


def test_libpython_that_is_loaded_is_the_one_found_by_search() -> None:
    assert tools._loaded_libpython() in (None, find_libpython.find_libpython())


def test_cocotb_is_entered_where_it_says_itself() -> None:
    assert tools.cocotb_entry() == cocotb_tools.config.pygpi_entry_point()


def test_cocotb_without_its_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.machinery.PathFinder.find_spec", lambda *_: None)
    with raises(ToolError):
        tools.cocotb_entry()


def test_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAIS_VERIF_CACHE", str(tmp_path))
    assert tools.cache_dir() == tmp_path
    monkeypatch.delenv("DAIS_VERIF_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert tools.cache_dir().name == "dais-verif"


def test_whoever_waits_for_the_runtime_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DAIS_VERIF_CACHE", str(tmp_path))
    monkeypatch.setenv(verilator_runtime.PARANOID, "1")
    monkeypatch.setattr(
        verilator_runtime, "_build", lambda verilator, folder, options: (folder / "main.o").write_text("built")
    )
    assert "Verilator's" in _first_build() or ""
    assert verilator_runtime.ensure() == verilator_runtime.ensure()
    said = capsys.readouterr()
    assert said.err.count("Verilator") == said.err.count("\n") == 1 and said.out == ""
    as_recorded(said.err.rstrip())
    assert _first_build() is None
    verilator_runtime.ensure(waves=True)
    as_recorded(capsys.readouterr().err)
