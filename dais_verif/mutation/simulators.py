"""Build and run benches of mutants in Icarus or Verilator, to find wrong mutants and their first wrong cycles."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from dais_verif.errors import MutationFailure, ToolError
from dais_verif.mutation.bench import AT, DRIVE, END, TICK, WRONG, driver, power_up_driver
from dais_verif.mutation.selection import BENCH
from dais_verif.toolchain import tools, verilator_runtime
from dais_verif.toolchain.process import Session

__all__ = ["SIMULATORS", "Build", "Ran", "run"]

_AT = re.compile(rf"^{AT} (\d+)$", re.MULTILINE)
_WRONG = re.compile(rf"^{WRONG} (\d+) (\d+)$", re.MULTILINE)

_MAIN = """\
#include "Vdesign.h"
#include <cstdio>
#include <cstdlib>
#include <memory>
static void tell(unsigned chosen) {  // printed first, since the next step may never return
    std::printf(AT " %u\\n", chosen);
    std::fflush(stdout);
}
int main(int argc, char** argv) {
    std::unique_ptr<VerilatedContext> context;
    std::unique_ptr<Vdesign> made;
    const unsigned first = std::atoi(argv[1]), last = std::atoi(argv[2]);
    const bool power_up = std::atoi(argv[3]) != 0;
    for (unsigned k = first; k <= last + 1; ++k) {
        bool wrong = false;
        const unsigned chosen = k > last ? 0 : k;
        tell(chosen);
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
            design.chosen = chosen; design.n = begin; design.eval();
            design.again = 1; design.eval();
            design.again = 0; design.eval();
            for (unsigned n = begin; n < end; ++n) {
                design.n = n; design.eval();
                design.look = 1; design.eval();
                design.look = 0; design.eval();
                if (context->gotFinish()) return 0;
                if (n % TICK == 0) tell(chosen);
                if (design.bad) {
                    std::printf(WRONG " %u %u\\n", chosen, n);
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
    std::puts(END);
    return 0;
}
"""


class Build(NamedTuple):
    """The simulated design: Verilog ``sources`` in ``folder``, together with the files that they read.

    ``timeout``: seconds per command; ``silence``: seconds that a mutant may take for ``TICK`` cycles. ``spans``: the
    field of ``Plan``.
    """

    folder: Path
    sources: Sequence[str]
    cycles: int
    mutants: int
    timeout: float | None
    silence: float | None
    spans: tuple[tuple[int, int], ...] = ()


class Ran(NamedTuple):
    """The results. ``wrong``: the first wrong cycle by mutant; ``endless``: mutants that did not finish, with reasons.

    Mutant 0 is the original design.
    """

    wrong: dict[int, int]
    endless: dict[int, ToolError]


#: A function that, given a number, returns the commands that run the mutants from it on, then the original design.
_From = Callable[[int], list[list[str]]]


def _icarus(build: Build) -> _From:
    folder, found = build.folder, tools.icarus()
    (folder / "dais_drive.sv").write_text(power_up_driver() if build.spans else driver(build.cycles, build.mutants))
    session = Session(folder / "icarus.log", cwd=folder, timeout=build.timeout)
    command = [str(found.iverilog), "-g2012", "-s", DRIVE, "-o", "dais.vvp", *build.sources, "dais_drive.sv"]
    session.check("iverilog", command)
    vvp = [str(found.vvp), "-n", "dais.vvp"]

    def commands(first: int) -> list[list[str]]:
        if not build.spans:
            return [[*vvp, f"+first={first}"]]
        numbers = [*range(first, build.mutants + 1), 0]
        return [[*vvp, f"+chosen={k}", f"+first={a}", f"+last={b}"] for k in numbers for a, b in build.spans]

    return commands


def _verilator(build: Build) -> _From:
    folder, found, common = build.folder, tools.verilator(), verilator_runtime.ensure()
    session = Session(folder / "verilator.log", cwd=folder, env=found.env, timeout=build.timeout)
    options = ["--x-assign", "0", "--x-initial", "0", "--max-num-width", str(1 << 20), "--top-module", BENCH]
    options += ["--Mdir", "cpp", "--output-split", "20000", "--output-split-cfuncs", "1000", "-Wno-lint"]
    shared = verilator_runtime.verilator_options(waves=False)
    session.check("verilator", [*found.driver, *shared, *options, *build.sources])
    manifest = verilator_runtime.Manifest.read(folder / "cpp")
    said = "".join(f'#define {name} "{text}"\n' for name, text in (("AT", AT), ("WRONG", WRONG), ("END", END)))
    (folder / "cpp" / "dais_main.cpp").write_text(f"{said}#define TICK {TICK}\n{_MAIN}")
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
    asked = [build.mutants, int(bool(build.spans)), *(end for span in spans for end in span)]
    return lambda first: [[str(folder / "simulation"), *map(str, (first, *asked))]]


SIMULATORS: Mapping[str, Callable[[Build], _From]] = {"icarus": _icarus, "verilator": _verilator}


def run(simulator: str, build: Build) -> Ran:
    """Return the results of all mutants. Raises ``ToolError`` if a tool fails or exceeds the time limit.

    If a mutant never settles or ends the simulation, the other mutants are run without it.
    """
    commands, found, first = SIMULATORS[simulator](build), Ran({}, {}), 1
    log = build.folder / "run.log"
    while True:
        failed = None
        try:
            _run_to_the_end(simulator, build, log, commands(first))
        except ToolError as error:
            failed = error
        text = log.read_text(encoding="utf-8", errors="replace")
        for k, cycle in _WRONG.findall(text):
            found.wrong.setdefault(int(k), int(cycle))
        if failed is None:
            return found
        last = next(reversed(_AT.findall(text)), None)
        if last is None or last == "0":
            raise failed
        found.endless[int(last)] = failed
        first = int(last) + 1


def _run_to_the_end(simulator: str, build: Build, log: Path, commands: Sequence[Sequence[str]]) -> None:
    """Run ``commands``. Raises ``ToolError`` if the simulation does not finish."""
    session = Session(log, cwd=build.folder, timeout=build.timeout, silence=build.silence)
    session.check(simulator, *commands)
    if len(re.findall(rf"^{END}$", log.read_text(encoding="utf-8", errors="replace"), re.MULTILINE)) < len(commands):
        raise MutationFailure(f"{simulator}: the design ended the simulation (output: {log})")
