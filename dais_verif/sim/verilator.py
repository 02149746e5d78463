"""Build a design for Verilator: fast, two-state.

Verilator writes C++; we compile it with command lines of our own. GNU make cannot work in a folder whose
path holds a space, and for a small design nearly all the time goes into reading Verilator's headers, once
per C++ file: so the files are joined into few compilation units.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from dais_verif.sim import runtime, tools
from dais_verif.sim.process import Session
from dais_verif.sim.simulation import Simulation

__all__ = ["build"]

_OUTPUT = "simulation"
_OBJECTS = "design"

#: Measured up to 50,000 operations: -O0 saves a tenth of the build and simulates ten times slower.
_OPTIMISATION = "-O1"

#: Bytes of C++ in one compilation unit.
_UNIT_SIZE = 400_000

#: X becomes 0, so that each run is the same; Icarus is there to show X.
_TWO_STATE = ("--x-assign", "0", "--x-initial", "0")
_LIMITS = ("--max-num-width", str(1 << 20))

#: GCC's time grows with the square of a function: 20,000 ops compile in 7 s so, in 30 s without, and run as fast.
_SHORT_FUNCTIONS = ("--output-split-cfuncs", "1000")


def build(
    sources: Sequence[Path],
    top: str,
    build_dir: Path,
    *,
    signals: bool = False,
    waves: bool = False,
    ports: Sequence[str] = ("model_inp", "model_out"),
    timeout: float | None = None,
) -> Simulation:
    """Compile ``sources`` anew; ``timeout`` is in seconds and leaves out the once-per-machine runtime.

    The bench can read ``ports`` of the top module only, unless ``signals`` makes every signal public, which
    takes two to three times as long to build when the design is big.
    """
    found = tools.verilator()
    library = runtime.ensure(waves=waves)
    build_dir = build_dir.absolute()
    session = Session(build_dir / "build.log", cwd=build_dir, env=found.env, timeout=timeout)
    (build_dir / _OUTPUT).unlink(missing_ok=True)
    shutil.rmtree(build_dir / _OBJECTS, ignore_errors=True)

    if signals:
        public = ["--public-flat-rw"]
    else:
        (build_dir / "public.vlt").write_text(_public(top, ports), encoding="utf-8")
        public = ["public.vlt"]
    folders = dict.fromkeys(f"-I{source.absolute().parent}" for source in sources)
    options = [
        *_TWO_STATE,
        *_LIMITS,
        *_SHORT_FUNCTIONS,
        "--timescale",
        "1ns/1ps",
        "--top-module",
        top,
        "--Mdir",
        _OBJECTS,
    ]
    files = [str(source.absolute()) for source in sources]
    shared = runtime.verilator_options(waves=waves)
    session.check("verilator", [*found.driver, *shared, *options, *folders, *public, *files])

    manifest = runtime.Manifest.read(build_dir / _OBJECTS)
    runtime.check_fits(library, manifest)
    commands, objects = [], []
    for unit, optimisation in _units(build_dir, manifest):
        output = Path(_OBJECTS) / f"{unit.stem}.o"
        include = [Path(_OBJECTS)]
        commands.append(runtime.compile_command(found, manifest, unit, output, optimisation, include=include))
        objects.append(output)
    # Random and coverage support, say, belong to the runtime but only of designs that use them.
    for source in manifest.runtime:
        output = library / f"{source.stem}.o"
        if not output.is_file():
            output = Path(_OBJECTS) / f"{source.stem}.o"
            commands.append(runtime.compile_command(found, manifest, source, output, _OPTIMISATION))
        objects.append(output)
    session.check("g++", *commands, jobs=os.cpu_count() or 1)
    session.check("g++", _link_command(found, objects))
    return Simulation(
        simulator="verilator",
        version=found.version,
        top=top,
        command=(str(build_dir / _OUTPUT),),
        build_dir=build_dir,
        waves=waves,
    )


def _public(top: str, ports: Iterable[str]) -> str:
    lines = [f'public_flat_rw -module "{top}" -var "{port}"' for port in ports]
    return "\n".join(["`verilator_config", *lines, ""])


def _units(build_dir: Path, manifest: runtime.Manifest) -> list[tuple[Path, str]]:
    """Write the compilation units; return each with its optimisation, cocotb's main program first."""
    fast, slow = list(manifest.fast), list(manifest.slow)
    if _size(fast + slow) <= _UNIT_SIZE:
        fast, slow = fast + slow, []
    units = [(tools.cocotb_main(), "-O0")]
    for kind, files, level in (("fast", fast, _OPTIMISATION), ("slow", slow, "-O0")):
        for number, group in enumerate(_groups(files)):
            unit = build_dir / _OBJECTS / f"unit_{kind}_{number}.cpp"
            unit.write_text("".join(f'#include "{file.name}"\n' for file in group), encoding="utf-8")
            units.append((unit, level))
    return units


def _groups(files: Sequence[Path]) -> list[list[Path]]:
    """Split ``files``, largest first, into groups of at most ``_UNIT_SIZE`` bytes or one file."""
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
    return [str(found.compiler), "-pthread", *map(str, objects), str(cocotb), *search, "-o", _OUTPUT]
