"""Benches of mutants, built and run in Icarus or Verilator: which mutants go wrong, and in which cycle first."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from dais_verif.errors import ToolError
from dais_verif.mutation.bench import DRIVE, driver, power_up_driver
from dais_verif.mutation.selection import BENCH
from dais_verif.toolchain import tools, verilator_runtime
from dais_verif.toolchain.process import Session

__all__ = ["SIMULATORS", "Build", "run"]

_WRONG = re.compile(r"^WRONG (\d+) (\d+)$", re.MULTILINE)

_MAIN = """\
#include "Vdesign.h"
#include <cstdio>
#include <cstdlib>
#include <memory>
int main(int argc, char** argv) {
    std::unique_ptr<VerilatedContext> context;
    std::unique_ptr<Vdesign> made;
    const unsigned first = std::atoi(argv[1]), last = std::atoi(argv[2]);
    const bool power_up = std::atoi(argv[3]) != 0;
    for (unsigned k = first; k <= last + 1; ++k) {
        bool wrong = false;
        for (int span = 4; span + 1 < argc && !wrong; span += 2) {
            if (!made || power_up) {
                if (made) made->final();
                made.reset();
                context = std::make_unique<VerilatedContext>();
                context->commandArgs(argc, argv);
                made = std::make_unique<Vdesign>(context.get());
                made->clk = made->look = made->move = made->again = 0;
            }
            Vdesign& design = *made;
            const unsigned begin = std::atoi(argv[span]), end = std::atoi(argv[span + 1]);
            design.chosen = k > last ? 0 : k; design.n = begin; design.eval();
            design.again = 1; design.eval();
            design.again = 0; design.eval();
            for (unsigned n = begin; n < end; ++n) {
                design.n = n; design.eval();
                design.look = 1; design.eval();
                design.look = 0; design.eval();
                if (design.bad) {
                    std::printf("WRONG %u %u\\n", design.chosen, n);
                    wrong = true;
                    break;
                }
                design.clk = 1; design.eval();
                design.move = 1; design.eval();
                design.move = 0; design.eval();
                design.clk = 0; design.eval();
            }
        }
    }
    made->final();
    std::printf("END\\n");
    return 0;
}
"""


class Build(NamedTuple):
    """What is simulated: Verilog in ``sources``, in ``folder``, where the files are that it reads.

    ``spans``: of ``Plan``.
    """

    folder: Path
    sources: Sequence[str]
    cycles: int
    mutants: int
    timeout: float | None
    spans: tuple[tuple[int, int], ...] = ()

    @property
    def numbers(self) -> list[int]:
        """The mutants, then the design as it was."""
        return [*range(1, self.mutants + 1), 0]


def _icarus(build: Build) -> str:
    folder, found = build.folder, tools.icarus()
    drive = power_up_driver() if build.spans else driver(build.cycles, min(build.mutants, 1), build.mutants)
    (folder / "dais_drive.sv").write_text(drive)
    session = Session(folder / "icarus.log", cwd=folder, timeout=build.timeout)
    command = [str(found.iverilog), "-g2012", "-s", DRIVE, "-o", "dais.vvp", *build.sources, "dais_drive.sv"]
    session.check("iverilog", command)
    vvp = [str(found.vvp), "-n", "dais.vvp"]
    if not build.spans:
        return _printed(build, "vvp", vvp)
    runs = [(k, *span) for k in build.numbers for span in build.spans]
    return _printed(build, "vvp", *([*vvp, f"+chosen={k}", f"+first={a}", f"+last={b}"] for k, a, b in runs))


def _printed(build: Build, tool: str, *commands: Sequence[str]) -> str:
    session = Session(build.folder / "run.log", cwd=build.folder, timeout=build.timeout)
    session.check(tool, *commands)
    text = session.log.read_text(encoding="utf-8", errors="replace")
    if not text.endswith("END\n") or text.count("END\n") != len(commands):
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
    spans = build.spans or ((0, build.cycles),)
    asked = [min(build.mutants, 1), build.mutants, int(bool(build.spans)), *(end for span in spans for end in span)]
    return _printed(build, "the simulation", [str(folder / "simulation"), *map(str, asked)])


SIMULATORS: Mapping[str, Callable[[Build], str]] = {"icarus": _icarus, "verilator": _verilator}


def run(simulator: str, build: Build) -> dict[int, int]:
    """Return the mutants that went wrong, and in which cycle each did first; 0 is the design as it was.

    Raises ``ToolError`` if a tool fails or takes too long.
    """
    found: dict[int, int] = {}
    for k, cycle in _WRONG.findall(SIMULATORS[simulator](build)):
        found.setdefault(int(k), int(cycle))
    return found
