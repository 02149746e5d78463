"""Benches of mutants, built and run in Icarus or Verilator: which mutants go wrong, and in which cycle first."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from dais_verif.errors import ToolError
from dais_verif.mutation.bench import DRIVE, driver
from dais_verif.mutation.selection import BENCH
from dais_verif.toolchain import tools, verilator_runtime
from dais_verif.toolchain.process import Session

__all__ = ["SIMULATORS", "Build", "run"]

_WRONG = re.compile(r"^WRONG (\d+) (\d+)$", re.MULTILINE)

_MAIN = """\
#include "Vdesign.h"
#include <cstdio>
#include <cstdlib>
int main(int argc, char** argv) {
    VerilatedContext context;
    context.commandArgs(argc, argv);
    Vdesign design{&context};
    design.clk = design.look = design.move = design.again = 0;
    const unsigned cycles = std::atoi(argv[1]), first = std::atoi(argv[2]), last = std::atoi(argv[3]);
    for (unsigned k = first; k <= last + 1; ++k) {
        design.chosen = k > last ? 0 : k; design.n = 0; design.eval();
        design.again = 1; design.eval();
        design.again = 0; design.eval();
        for (unsigned n = 0; n < cycles; ++n) {
            design.n = n; design.eval();
            design.look = 1; design.eval();
            design.look = 0; design.eval();
            if (design.bad) {
                std::printf("WRONG %u %u\\n", design.chosen, n);
                break;
            }
            design.clk = 1; design.eval();
            design.move = 1; design.eval();
            design.move = 0; design.eval();
            design.clk = 0; design.eval();
        }
    }
    design.final();
    std::printf("END\\n");
    return 0;
}
"""


class Build(NamedTuple):
    """What is simulated: Verilog in ``sources``, in ``folder``, where the files are that it reads."""

    folder: Path
    sources: Sequence[str]
    cycles: int
    mutants: int
    timeout: float | None


def _icarus(build: Build) -> str:
    folder, found = build.folder, tools.icarus()
    (folder / "dais_drive.sv").write_text(driver(build.cycles, min(build.mutants, 1), build.mutants))
    session = Session(folder / "icarus.log", cwd=folder, timeout=build.timeout)
    command = [str(found.iverilog), "-g2012", "-s", DRIVE, "-o", "dais.vvp", *build.sources, "dais_drive.sv"]
    session.check("iverilog", command)
    return _printed(build, "vvp", [str(found.vvp), "-n", "dais.vvp"])


def _printed(build: Build, tool: str, command: Sequence[str]) -> str:
    session = Session(build.folder / "run.log", cwd=build.folder, timeout=build.timeout)
    session.check(tool, command)
    text = session.log.read_text(encoding="utf-8", errors="replace")
    if not text.endswith("END\n"):
        raise ToolError(f"{tool} did not come to the end of the mutants (output: {session.log})")
    return text


def _verilator(build: Build) -> str:
    folder, found, common = build.folder, tools.verilator(), verilator_runtime.ensure()
    session = Session(folder / "verilator.log", cwd=folder, env=found.env, timeout=build.timeout)
    options = ["--x-assign", "0", "--x-initial", "0", "--max-num-width", str(1 << 20), "--top-module", BENCH]
    options += ["--Mdir", "cpp", "--output-split", "20000", "--output-split-cfuncs", "1000", "-Wno-lint"]
    shared = verilator_runtime.verilator_options(waves=False)
    session.check("verilator", [*found.driver, *shared, *options, *build.sources])
    manifest = verilator_runtime.Manifest.read(folder / "cpp")
    (folder / "cpp" / "dais_main.cpp").write_text(_MAIN)
    commands, objects = [], []
    include = [common, verilator_runtime.NATIVE, Path("cpp")]
    units = [Path("cpp") / source.name for source in (*manifest.fast, *manifest.slow)]
    for unit in (Path("cpp/dais_main.cpp"), *units):
        objects.append(Path("cpp") / f"{unit.stem}.o")
        commands.append(
            verilator_runtime.compile_command(
                found, manifest, unit, objects[-1], verilator_runtime.OPTIMISATION, include=include
            )
        )
    for source in manifest.runtime:
        made = common / f"{source.stem}.o"
        if not made.is_file():
            made = Path("cpp") / f"{source.stem}.o"
            commands.append(verilator_runtime.compile_command(found, manifest, source, made, "-O1"))
        objects.append(made)
    session.check("g++", *commands, jobs=2)
    session.check("g++", [str(found.compiler), "-pthread", *map(str, objects), "-o", "simulation"])
    span = [str(build.cycles), str(min(build.mutants, 1)), str(build.mutants)]
    return _printed(build, "the simulation", [str(folder / "simulation"), *span])


SIMULATORS: Mapping[str, Callable[[Build], str]] = {"icarus": _icarus, "verilator": _verilator}


def run(simulator: str, build: Build) -> dict[int, int]:
    """The mutants that went wrong, and in which cycle each did first; 0 is the design as it was.

    Raises ``ToolError`` if a tool fails or takes too long.
    """
    return {int(k): int(cycle) for k, cycle in _WRONG.findall(SIMULATORS[simulator](build))}
