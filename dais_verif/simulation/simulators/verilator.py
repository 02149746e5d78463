"""Build a design for Verilator: fast and two-state.

Verilator writes C++; this module compiles it without make. GNU make cannot work in a folder whose path contains a
space, and for a small design, nearly all the time goes into reading Verilator's headers, once per C++ file: so the
files are joined into few compilation units.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from dais_verif.base.errors import SimulatorFailure
from dais_verif.base.stopwatch import Stopwatch
from dais_verif.base.toolchain import private_files, tools, verilator_runtime
from dais_verif.base.toolchain.process import Session
from dais_verif.base.toolchain.tool_files import stamp_of, tool_files
from dais_verif.simulation.simulators.driven_inputs import refuse_unchecked_in_verilator
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
    "undriven",
]

#: The file that a build makes.
OUTPUT = "simulation"

#: Properties for callers: see ``Simulator``.
LANGUAGE: Final = "verilog"
WAVES: Mapping[bool, tuple[str, ...]] = {True: ("--trace", "--trace-file", "waves.vcd"), False: ()}
ONES_FOR_X: tuple[str, ...] = ("+verilator+rand+reset+1",)
WAVES_FILE = "waves.vcd"
TRUSTED_WRITES, FIRST_ERROR_COUNTS, FASTEST = True, False, True
SHARE_BUDGET = 4_000_000

_OBJECTS, _PUBLIC = "design", "public.vlt"

#: A file that was read, in Verilator's list; the name is quoted.
_LISTED = re.compile(r'^S .* (".*")$', re.MULTILINE)

_NAMES, _SIMPLE = re.compile(rb"[A-Za-z_]\w*"), re.compile(r"[A-Za-z_]\w*", re.ASCII)

#: Bytes of C++ in one compilation unit.
_UNIT_SIZE = 400_000

#: X becomes 0 unless a run chooses other values (``bulk.FILLINGS``); Icarus shows X.
_TWO_STATE = ("--x-assign", "unique", "--x-initial", "unique")
#: Names in the log of the build what nothing drives.
_TOLD = ("-Wwarn-UNDRIVEN",)
_WARNED = re.compile(r"^%Warning-(?:UNDRIVEN|SELRANGE): (?:rtl/\d+/)?(\S+?:\d+):\d+: (.*)$", re.MULTILINE)
_NAME = re.compile(r"'([^']+)'(\[[\d:]+\])?$")
_LIMITS = ("--max-num-width", str(1 << 20))

#: GCC's time grows quadratically with function size: 20,000 ops compile in 7 s with this option, in 30 s without it,
#: and run at the same speed.
_SHORT_FUNCTIONS = ("--output-split-cfuncs", "1000")


#: Functions of the executable that the Python side calls: the linker must keep their names.
_EXPORTED = ("dais_verif_open", "dais_verif_evaluate", "dais_verif_sequence", "dais_verif_close")


def identity(options: BuildOptions) -> list[str]:
    """Return all that a build depends on except sources and top module."""
    common = verilator_runtime.key_of(waves=options.waves, coverage=options.coverage)
    ports, signals = options.ports, options.signals
    fixed = [*_TWO_STATE, *_TOLD, *_LIMITS, *_SHORT_FUNCTIONS, str(_UNIT_SIZE), _optimisation(signals), *_EXPORTED]
    readable = [str(len(ports)), *ports, *(["none"] if signals is None else signals)]
    readable += [word for pair in options.inner for word in pair]
    return [
        common,
        stamp_of(tool_files("verilator")),
        str(tools.cocotb_library("verilator")),
        *readable,
        *fixed,
        "inputs have no driver",
    ]


def _optimisation(signals: Sequence[str] | None) -> str:
    """Return the optimisation option: builds with readable signals run only a few vectors.

    GCC does not use the precompiled headers, which were compiled with optimisation, at -O0. With -Og a replay of a
    small program is compiled in half the time, and one of thousands of ops in five sixths.
    """
    return verilator_runtime.OPTIMISATION if signals is None else "-Og"


def build(
    sources: Sequence[Path],
    top: str,
    build_dir: Path,
    options: BuildOptions = DEFAULT,
    *,
    texts: Sequence[bytes] | None = None,
) -> Simulation:
    """Compile ``sources`` again. ``texts``: their bytes, if known.

    The bench can read ``ports`` of the top module, and signals in any module whose names are in ``signals``; if
    ``signals`` is given, waves contain these signals, the ports, and other signals declared on the same lines. Each
    readable signal adds build time: all signals of a big design double or triple it.
    """
    found, watch, signals = tools.verilator(), options.watch or Stopwatch(), options.signals
    waves, coverage = options.waves, options.coverage
    common = verilator_runtime.ensure(waves=waves, coverage=coverage)
    build_dir = build_dir.absolute()
    session = Session(build_dir / "build.log", cwd=build_dir, env=found.env, timeout=options.timeout)
    (build_dir / OUTPUT).unlink(missing_ok=True)
    shutil.rmtree(build_dir / _OBJECTS, ignore_errors=True)

    texts = [private_files.read(source) for source in sources] if texts is None else texts
    own = private_files.copied(sources, build_dir, texts)
    (build_dir / _PUBLIC).write_text(
        _public(top, options.ports, signals, own.sources, texts, options.inner), encoding="utf-8"
    )
    folders = private_files.options(own)
    arguments = [
        *_TWO_STATE,
        *_TOLD,
        *_LIMITS,
        *_SHORT_FUNCTIONS,
        "--timescale",
        "1ns/1ps",
        "--top-module",
        top,
        "--Mdir",
        _OBJECTS,
    ]
    files = [str(source) for source in own.sources]
    shared = verilator_runtime.verilator_options(waves=waves, coverage=coverage)
    with watch.stage("verilator verilate"):
        session.check("verilator", [*found.driver, *shared, *arguments, *folders, _PUBLIC, *files])

    also = private_files.others(_read(build_dir / _OBJECTS, found, files), own, sources)
    refuse_unchecked_in_verilator([*texts, *(private_files.read(path) for path in also)])
    manifest = verilator_runtime.Manifest.read(build_dir / _OBJECTS)
    verilator_runtime.check_fits(common, manifest)
    optimisation = _optimisation(signals)
    commands, objects = [], [*verilator_runtime.own_objects(common)]
    include = [common, verilator_runtime.NATIVE, Path(_OBJECTS)]
    for unit in _units(build_dir, manifest):
        output = Path(_OBJECTS) / f"{unit.stem}.o"
        commands.append(verilator_runtime.compile_command(found, manifest, unit, output, optimisation, include=include))
        objects.append(output)
    # Some parts of the runtime, such as random and coverage support, belong only to designs that use them.
    for source in manifest.runtime:
        output = common / f"{source.stem}.o"
        if not output.is_file():
            output = Path(_OBJECTS) / f"{source.stem}.o"
            commands.append(
                verilator_runtime.compile_command(found, manifest, source, output, verilator_runtime.OPTIMISATION)
            )
        objects.append(output)
    with watch.stage("verilator compile"):
        session.check("g++", *commands, jobs=os.cpu_count() or 1)
        session.check("g++", _link_command(found, objects), made=[OUTPUT])
    return replace(simulation(top, build_dir, waves=waves), also_read=also)


def _read(folder: Path, found: tools.VerilatorTools, given: Sequence[str]) -> list[str]:
    """Return the files that Verilator read, except its own, as it lists them. ``given``: those of its command line."""
    path = folder / f"{verilator_runtime.PREFIX}__verFiles.dat"
    try:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        names = [json.loads(name) for name in _LISTED.findall(text)]
    except (OSError, ValueError) as error:
        raise SimulatorFailure(f"the list of files that verilator has read cannot be used: {path}: {error}") from None
    if not text.endswith("\n") or not {*given} <= {*names}:
        raise SimulatorFailure(f"the list of files that verilator has read is not complete: {path}")
    return [name for name in names if name != _PUBLIC and not name.startswith((f"{found.root}/", found.driver[-1]))]


def undriven(build_dir: Path) -> list[str]:
    """Return the signals that nothing drives, and constant indices out of range, as the log of a build names them."""
    try:
        text = (build_dir / "build.log").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    found = ((place, said, _NAME.search(said)) for place, said in _WARNED.findall(text))
    told = (
        f"nothing drives {name[1]}{name[2] or ''} ({place})" if name else f"{said.removeprefix('Selection ')} ({place})"
        for place, said, name in found
    )
    return list(dict.fromkeys(told))


def simulation(top: str, build_dir: Path, *, waves: bool) -> Simulation:
    """Return the simulation built in ``build_dir``."""
    return Simulation(
        simulator="verilator",
        version=tools.verilator().version,
        top=top,
        command=(str(build_dir / OUTPUT),),
        build_dir=build_dir,
        waves=waves,
    )


def _public(
    top: str,
    ports: Sequence[str],
    signals: Sequence[str] | None,
    sources: Sequence[Path],
    texts: Sequence[bytes],
    inner: Sequence[tuple[str, str]] = (),
) -> str:
    """Return the configuration that keeps the ports and ``signals``, and limits waves to them."""
    seen = [*((top, port) for port in ports), *inner]
    lines = [f'public_flat_rw -module "{module}" -var "{port}"' for module, port in seen]
    if signals is not None:
        wanted = {name.encode() for name in signals if _SIMPLE.fullmatch(name)}
        mentioned = wanted & {name for text in texts for name in _NAMES.findall(text)}
        lines += [f'public_flat_rw -module "*" -var "{name.decode()}"' for name in sorted(mentioned)]
        for source, text in zip(sources, texts, strict=True):
            lines += _traced(str(source), text, {*mentioned, *(port.encode() for port in ports)})
    return "\n".join(["`verilator_config", *lines, ""])


def _traced(source: str, text: bytes, names: set[bytes]) -> list[str]:
    """Return rules that limit waves to the lines of ``source`` that first mention one of ``names``: its declaration."""
    lines, unseen = [f'tracing_off -file "{source}"'], set(names)
    for number, line in enumerate(text.split(b"\n"), 1):
        new = unseen.intersection(_NAMES.findall(line))
        if new:
            unseen -= new
            lines.append(f'tracing_on -file "{source}" -lines {number}-{number + 1}')
    return lines


def _units(build_dir: Path, manifest: verilator_runtime.Manifest) -> list[Path]:
    """Write the compilation units, including the one with our own C++; largest first."""
    own = verilator_runtime.NATIVE / "design.cpp"
    units = []
    for number, group in enumerate(_groups([*manifest.fast, *manifest.slow, own])):
        unit = build_dir / _OBJECTS / f"unit_{number}.cpp"
        names = [verilator_runtime.HEADERS, *(file.name for file in group)]
        unit.write_text("".join(f'#include "{name}"\n' for name in names), encoding="utf-8")
        units.append(unit)
    return units


def _groups(files: Sequence[Path]) -> list[list[Path]]:
    """Split ``files``, largest first, into groups of at most ``_UNIT_SIZE`` bytes, or of one file."""
    groups: list[list[Path]] = []
    for file in sorted(files, key=lambda file: -file.stat().st_size):
        for group in groups:
            if _size([*group, file]) <= _UNIT_SIZE:
                group.append(file)
                break
        else:
            groups.append([file])
    return groups


def _size(files: Iterable[Path]) -> int:
    return sum(file.stat().st_size for file in files)


def _link_command(found: tools.VerilatorTools, objects: Iterable[Path]) -> list[str]:
    cocotb = tools.cocotb_library("verilator")
    # -Xlinker, because -Wl, would split a path at its commas.
    search = ["-Xlinker", "-rpath", "-Xlinker", str(cocotb.parent)]
    exported = [word for name in _EXPORTED for word in ("-Xlinker", f"--export-dynamic-symbol={name}")]
    return [str(found.compiler), "-pthread", *map(str, objects), str(cocotb), *search, *exported, "-o", OUTPUT]
