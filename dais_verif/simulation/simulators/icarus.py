"""Build a design for Icarus Verilog: slow and four-state, so it shows X and Z."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from dais_verif.base.errors import SimulatorFailure, ToolError
from dais_verif.base.stopwatch import Stopwatch
from dais_verif.base.toolchain import private_files, tools
from dais_verif.base.toolchain.process import Session
from dais_verif.base.toolchain.tool_files import stamp_of, tool_files
from dais_verif.simulation.simulators.driven_inputs import refuse_in_icarus, without_computed_attributes
from dais_verif.simulation.simulators.simulator import DEFAULT, BuildOptions, Simulation

__all__ = [
    "FASTEST",
    "FIRST_ERROR_COUNTS",
    "LANGUAGE",
    "ONES_FOR_X",
    "OUTPUT",
    "SHARE_BUDGET",
    "TRUSTED_WRITES",
    "WAVES",
    "WAVES_FILE",
    "build",
    "identity",
    "simulation",
]

#: The file that a build makes.
OUTPUT = "simulation.vvp"

#: Properties for callers: see ``Simulator``.
LANGUAGE: Final = "verilog"
# Without -none, a $dumpvars in the RTL would write a file.
WAVES: Mapping[bool, tuple[str, ...]] = {True: ("-fst",), False: ("-none",)}
ONES_FOR_X: tuple[str, ...] = ()
WAVES_FILE = "waves.fst"
TRUSTED_WRITES, FIRST_ERROR_COUNTS, FASTEST = False, False, False
SHARE_BUDGET = 4_000_000

#: Words of SystemVerilog that Icarus 11 does not support, at least in some uses.
_UNREAD = re.compile(
    rb"\b(?:interface|modport|property|sequence|clocking|break|continue|return|foreach|inside|union|struct)\b|\{(?:<<|>>)"
)
_COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)

#: The compiler's list of the files that it read.
_READ = "read.txt"

_LANGUAGE = "-g2012"

#: For sources without a timescale, so that a bench can wait for nanoseconds in either simulator.
_TIMESCALE = "+timescale+1ns/1ps\n"

#: A second root module that records everything below the first, into the folder of the run, if the run is started with
#: waves.
_DUMP = """\
module dais_verif_dump;
  initial begin
    $dumpfile("waves.fst");
    $dumpvars(0, \\{top} );
  end
endmodule
"""

_OWN_ROOTS = frozenset({"dais_verif_dump"})


def identity(options: BuildOptions) -> list[str]:
    """Return all that a build depends on except sources and top module."""
    del options
    return [
        tools.icarus().version,
        stamp_of(tool_files("icarus")),
        _LANGUAGE,
        _TIMESCALE,
        _DUMP,
        "inputs have no driver",
    ]


def build(
    sources: Sequence[Path],
    top: str,
    build_dir: Path,
    options: BuildOptions = DEFAULT,
    *,
    texts: Sequence[bytes] | None = None,
) -> Simulation:
    """Compile ``sources`` again, regardless of their dates. ``texts``: their bytes, if known.

    Attributes with computed values, which Icarus refuses, are removed first.

    Of ``options``, only the timeout applies: every signal is readable, and each run decides whether it records waves.
    """
    found = tools.icarus()
    build_dir = build_dir.absolute()
    session = Session(build_dir / "build.log", cwd=build_dir, timeout=options.timeout)
    (build_dir / "timescale.f").write_text(_TIMESCALE, encoding="ascii")
    texts = [private_files.read(source) for source in sources] if texts is None else texts
    texts = [without_computed_attributes(text).text for text in texts]
    own = private_files.copied(sources, build_dir, texts)
    (build_dir / "dump.v").write_text(_DUMP.format(top=top), encoding="ascii")
    # First, so that an error such as a missing endmodule is reported in the user's file.
    files = ["dump.v", *map(str, own.sources)]
    roots = ["-s", top, "-s", "dais_verif_dump"]
    folders = private_files.options(own)
    arguments = [_LANGUAGE, "-f", "timescale.f", f"-Mall={_READ}", "-o", OUTPUT, *roots, *folders]
    with (options.watch or Stopwatch()).stage("icarus compile"):
        try:
            session.check("iverilog", [str(found.iverilog), *arguments, *files], made=[OUTPUT, _READ])
        except BaseException as error:  # a compiler killed at its end may leave a complete file, which must not be used
            (build_dir / OUTPUT).unlink(missing_ok=True)
            hint = _unread(texts) if isinstance(error, ToolError) else ""
            if hint:
                raise SimulatorFailure(f"{error}; {hint}") from None
            raise
    try:
        refuse_in_icarus(build_dir / OUTPUT, top, _OWN_ROOTS)
    except ToolError:
        (build_dir / OUTPUT).unlink()
        raise
    also = private_files.others(_read(build_dir / _READ, files), own, sources)
    return replace(simulation(top, build_dir, waves=True), also_read=also)


def _unread(texts: Sequence[bytes]) -> str:
    """Name SystemVerilog in the sources that Icarus 11 does not support, and the remedy; empty if there is none."""
    words = dict.fromkeys(word.decode() for text in texts for word in _UNREAD.findall(_COMMENT.sub(b" ", text)))
    if not words:
        return ""
    return (
        f"Icarus 11 does not read all of SystemVerilog ({', '.join(words)}); use --sim verilator, or"
        ' simulators = ["verilator"] in the policy of a sign-off'
    )


def _read(path: Path, given: Sequence[str]) -> list[str]:
    """Return the files that Icarus read, except ours, as it lists them. ``given``: those of its command line."""
    try:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise SimulatorFailure(
            f"the list of files that iverilog has read cannot be used: {path}: {error.strerror}"
        ) from None
    names = text.split("\n")
    if names[-1] or not {*given} <= {*names}:
        raise SimulatorFailure(f"the list of files that iverilog has read is not complete: {path}")
    return [name for name in names if name not in ("", "dump.v")]


def simulation(top: str, build_dir: Path, *, waves: bool) -> Simulation:
    """Return the simulation built in ``build_dir``."""
    del waves
    found = tools.icarus()
    library = tools.cocotb_library("icarus")
    return Simulation(
        simulator="icarus",
        version=found.version,
        top=top,
        command=(str(found.vvp), "-n", "-m", str(library), str(build_dir / OUTPUT)),
        build_dir=build_dir,
        waves=True,
    )
