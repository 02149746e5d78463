"""File names are data: no shell, compiler or script interprets them, and RTL with any file name can be built."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.door import ROOT, environment
from support.signing import DESIGN

from dais_verif.base.errors import ToolError
from dais_verif.base.toolchain.limits import Limits
from dais_verif.base.toolchain.private_files import copied, original, shown
from dais_verif.base.toolchain.process import Session
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.hardware.synthesis.elaboration import elaborated
from dais_verif.prover.vhdl.reading import in_verilog
from dais_verif.simulation.simulators import ghdl, icarus
from dais_verif.spec.program import write_binary

#: Names that shells, command files, scripts, make or C++ would interpret.
NAMES = [
    "a$(touch PWNED)",
    "a`touch PWNED`",
    'a"; touch PWNED; "',
    "a'; touch PWNED; '",
    "a b",
    "a\nb",
    "-o",
    "@a",
    "#a",
    "+define+a",
    "a*[b]?",
    "$HOME${HOME}~",
    "a,b;c:d%s",
    "a\\",
    os.fsdecode(b"a\xff"),
]

NETWORK = emit_verilog(DESIGN)
INCLUDES = '`include "half.vh"\n' + NETWORK
VHDL = """library ieee;
use ieee.std_logic_1164.all;
entity model is port (a : in std_logic; b : out std_logic); end entity;
architecture plain of model is begin b <= not a; end architecture;
"""


def odd(folder: Path, name: str, text: str, suffix: str) -> Path:
    """Write ``text`` to a file called ``name`` with ``suffix`` in a folder called ``name``, and return its path."""
    folder = folder / name
    folder.mkdir()
    (folder / f"{name}{suffix}").write_text(text)
    (folder / "half.vh").write_text("// the rest\n")
    return folder / f"{name}{suffix}"


def nothing_ran(folder: Path) -> bool:
    return not [path for path in folder.rglob("*") if path.name.startswith("PWNED")]


@pytest.mark.few(1)
@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_icarus_builds_it(name: str, tmp_path: Path) -> None:
    source = odd(tmp_path, name, INCLUDES, ".v")
    build = source.parent / f"build {name}"
    simulation = icarus.build([source], "model", build)
    assert (build / icarus.OUTPUT).is_file()
    assert [path.name for path in simulation.also_read] == ["half.vh"]
    assert simulation.also_read[0].samefile(source.with_name("half.vh"))
    assert nothing_ran(tmp_path) and nothing_ran(Path.cwd())


@pytest.mark.few(1)
@pytest.mark.parametrize("name", [*NAMES[:4], "a\nb", "-o"], ids=ascii)
def test_ghdl_and_yosys_read_it(name: str, tmp_path: Path, yosys: None) -> None:
    source, limits = odd(tmp_path, name, INCLUDES, ".v"), Limits(60, None)
    work = source.parent / f"work {name}"
    assert elaborated([source], "model", [], work, limits).is_file()
    vhdl = source.with_suffix(".vhd")
    vhdl.write_text(VHDL)
    assert "endmodule" in in_verilog([vhdl], "model", [], work, limits).read_text()
    ghdl.build([vhdl], "model", source.parent / f"build {name}")
    assert nothing_ran(tmp_path) and nothing_ran(Path.cwd())


def test_what_a_tool_says_names_the_file_of_the_user(tmp_path: Path) -> None:
    source = odd(tmp_path, "a$(b) c", "module model;\n  nonsense\nendmodule\n", ".v")
    other = tmp_path / "plain.v"
    other.write_text("")
    sources = [other, source]
    own = copied(sources, tmp_path / "work")
    assert [str(path) for path in own.sources] == ["rtl/0/plain.v", "rtl/1/source_1.v"]
    assert shown("rtl/1/source_1.v:3: syntax error", sources) == f"{source}:3: syntax error"
    assert shown("in ./rtl/0/plain.v, (rtl/0/plain.v:1)", sources) == f"in {other}, ({other}:1)"
    assert original("beside/1/half.vh", sources) == str(source.with_name("half.vh"))
    for else_where in ("rtl/7/plain.v", "rtl/0/other.v", "x/rtl/0/plain.v", "my_rtl/0/plain.v"):
        assert shown(else_where, sources) == else_where
    with pytest.raises(ToolError) as refused:
        _build(sources, tmp_path / "build")
    assert f"{source}:3: syntax error" in str(refused.value)


def _build(sources: list[Path], folder: Path) -> None:
    from dais_verif.simulation.simulators.build import RtlDesign, build

    build("icarus", RtlDesign(tuple(sources), "model"), folder)


def test_no_tool_is_told_where_it_works(tmp_path: Path) -> None:
    """Tools do not get the path of their temporary folder, which Icarus would put on the command line of a shell."""
    folder = tmp_path / "a$(touch PWNED)"
    log = folder / "log"
    Session(log, cwd=folder).check("sh", ["sh", "-c", "echo $TMPDIR $TMP"])
    assert log.read_text().splitlines()[-1] == "/proc/self/cwd /proc/self/cwd"


@pytest.mark.slow
def test_a_checkout_at_any_path_simulates_proves_and_synthesizes(tmp_path: Path) -> None:
    """Verbs work if program, work folder, cache, current folder and the package itself are at a path of odd names."""
    name = "".join(NAMES[:-1]).replace(":", "").replace("PWNED", "PWN")  # Python's path is divided by colons
    place = tmp_path / name
    place.mkdir()
    (place / "dais_verif").symlink_to(ROOT / "dais_verif")
    (place / f"{name}.bin").write_bytes(write_binary(DESIGN, "v1"))
    (place / f"{name}.v").write_text(NETWORK)
    for verb, *options in (
        ("sim", "--vectors", "20", "--exhaustive-bits", "0", "--rtl", place / f"{name}.v", "-o", place / f"{name}.out"),
        ("prove", "--front-end", "both"),
        ("synth", "--target", "ice40"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "dais_verif", verb, *options, "--layout", "v1", place / f"{name}.bin"],
            env=environment(DAIS_VERIF_CACHE=str(place / "cache"), PYTHONPATH=str(place)),
            cwd=place,
            capture_output=True,
            timeout=200,
            check=False,
        )
        assert done.returncode == 0, (verb, done.stdout, done.stderr)
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith("PWN")]
