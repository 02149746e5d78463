"""A tool that exits with code 0, but whose file is missing, empty or cut, has failed: nobody's RTL is blamed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from dais_verif.base.errors import ToolError
from dais_verif.base.toolchain import tools
from dais_verif.base.toolchain.limits import Limits
from dais_verif.base.toolchain.verilator_runtime import PREFIX, Manifest
from dais_verif.hardware.synthesis.elaboration import elaborated
from dais_verif.hardware.synthesis.yosys import synthesize
from dais_verif.prover import yosys
from dais_verif.prover.vhdl.reading import in_verilog
from dais_verif.simulation.simulators import ghdl, icarus, verilator

_LIMITS = Limits(60, 4096)
_VERILOG = "module model(input [3:0] model_inp, output [3:0] model_out);\nassign model_out = ~model_inp;\nendmodule\n"
_VHDL = """\
library ieee;
use ieee.std_logic_1164.all;
entity model is
  port (model_inp : in std_logic_vector(3 downto 0); model_out : out std_logic_vector(3 downto 0));
end entity;
architecture a of model is
begin
  model_out <= not model_inp;
end architecture;
"""
#: What is done to a file after the tool has written it.
_DAMAGE = {"missing": 'rm -f "$f"', "empty": ': > "$f"', "cut": 'truncate -s $(($(stat -c %s "$f") - 3)) "$f"'}


def proved(sources: list[Path], folder: Path) -> object:
    return yosys.elaborate(elaborated(sources, "model", [], folder, _LIMITS), "model")


#: For each file of a tool: the tool, the variable that names it, and a use of it.
_FILES: dict[str, tuple[str, str, Callable[[list[Path], Path], object]]] = {
    "simulation.vvp": ("iverilog", "IVERILOG", lambda sources, folder: icarus.build(sources, "model", folder)),
    "read.txt": ("iverilog", "IVERILOG", lambda sources, folder: icarus.build(sources, "model", folder)),
    "elaborated.json": ("yosys", "YOSYS", proved),
    "netlist.v": ("yosys", "YOSYS", lambda sources, folder: synthesize(sources, "model", "generic", folder, _LIMITS)),
    "netlist.il": ("yosys", "YOSYS", lambda sources, folder: synthesize(sources, "model", "generic", folder, _LIMITS)),
    "netlist.txt": ("ghdl", "GHDL", lambda sources, folder: in_verilog(sources, "model", [], folder, _LIMITS)),
    "work-obj08.cf": ("ghdl", "GHDL", lambda sources, folder: ghdl.build(sources, "model", folder)),
}


def broken(name: str, file: str, damage: str, folder: Path) -> Path:
    """Return a tool that does what the tool ``name`` does, and then damages ``file``."""
    script = f'#!/bin/sh\n{shutil.which(name)} "$@" || exit $?\nf={file}\nif [ -e $f ]; then {_DAMAGE[damage]}; fi\n'
    folder.mkdir()
    path = folder / name
    path.write_text(script)
    path.chmod(0o755)
    for other in ("vvp",) if name == "iverilog" else ():
        (folder / other).symlink_to(shutil.which(other) or other)
    return path


@pytest.mark.parametrize("file", _FILES)
def test_a_file_of_a_tool_that_is_no_result(file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, variable, use = _FILES[file]
    if shutil.which(name) is None:
        pytest.skip(f"needs {name}")
    source = tmp_path / ("model.vhd" if name == "ghdl" else "model.v")
    source.write_text(_VHDL if name == "ghdl" else _VERILOG)
    assert use([source], tmp_path / "whole") is not None
    for damage in _DAMAGE:
        if (file, damage) == ("simulation.vvp", "cut"):
            continue  # vvp reports a syntax error when it runs
        monkeypatch.setenv(f"DAIS_VERIF_{variable}", str(broken(name, file, damage, tmp_path / damage)))
        with pytest.raises(ToolError) as caught:
            use([source], tmp_path / f"{damage}_work")
        assert "model.v" not in str(caught.value)


def test_what_verilator_writes(tmp_path: Path) -> None:
    for text in (None, "", '{"options": {', '{"options": {}, "sources": {}}'):
        if text is not None:
            (tmp_path / f"{PREFIX}.json").write_text(text)
        with pytest.raises(ToolError):
            Manifest.read(tmp_path)
    listed, found = tmp_path / f"{PREFIX}__verFiles.dat", tools.verilator()
    for text in (None, "", 'S 1 2 "model.v"', 'S 1 2 "other.v"\n'):
        if text is not None:
            listed.write_text(text)
        with pytest.raises(ToolError):
            verilator._read(tmp_path, found, ["model.v"])
    listed.write_text('S 1 2 "model.v"\n')
    assert verilator._read(tmp_path, found, ["model.v"]) == ["model.v"]
