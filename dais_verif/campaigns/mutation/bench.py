"""The bench of many mutants, which runs each from the beginning until an output bit is wrong.

The bench contains a judge: a delay line for the expected outputs, with the latency and the control pins of the design.
Pins change while the clock is low; outputs are read before each rising edge. Icarus and Verilator run the same text.
"""

from __future__ import annotations

import random
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from dais_verif.base.errors import MutationFailure, ToolError
from dais_verif.base.toolchain import tools, verilator_runtime
from dais_verif.base.toolchain.process import Session
from dais_verif.campaigns.mutation.mutant import BENCH
from dais_verif.hardware.ports.interface import DesignInterface, Wire

__all__ = [
    "AT",
    "Build",
    "Cycle",
    "DRIVE",
    "END",
    "Plan",
    "Ran",
    "SIMULATORS",
    "TICK",
    "WRONG",
    "bench_of",
    "combinational",
    "cycles",
    "driver",
    "memories",
    "power_up_driver",
    "run",
]


#: The top module in Icarus.
DRIVE = "dais_drive"
#: Messages of a bench: the running mutant, at its start and every ``TICK`` cycles; a wrong mutant and its first wrong
#: cycle; the end of the bench. Designs cannot imitate these messages, since their first word is random in each process.
_WORD = f"dais_mutants_{secrets.token_hex(8)}"
AT, WRONG, END = f"{_WORD} at", f"{_WORD} wrong", f"{_WORD} end"
TICK = 64


class Cycle(NamedTuple):
    """The pins before a rising edge, active at 1. ``row``: the row of the vectors."""

    reset: int
    enable: int
    valid: int
    row: int


@dataclass(frozen=True)
class Plan:
    """The stimulus of all mutants: rows of port bits, most significant first, and the cycles.

    ``known``: the bits of each expected row that are compared; None: all. ``spans``: ranges of cycles that each start
    from power-up; empty: all cycles are one run, and registers keep their values between mutants.
    """

    given: Sequence[str]
    wanted: Sequence[str]
    cycles: Sequence[Cycle]
    known: Sequence[str] | None = None
    spans: tuple[tuple[int, int], ...] = ()


def combinational(rows: int) -> list[Cycle]:
    """Return cycles that apply every vector once."""
    return [Cycle(0, 1, 1, row) for row in range(rows)]


def cycles(rows: int, seed: int) -> list[Cycle]:
    """Return cycles that apply every vector at least once, with and without stalls, bubbles and resets."""
    rng = random.Random(seed)
    found = [Cycle(0, 1, 1, 0), Cycle(1, 1, 0, 0)]
    row = 0
    while row < rows:
        length = rng.choice((3, 12, 40, 120))
        enabled, valid = rng.choice((1, 1, 0.9, 0.5)), rng.choice((1, 1, 0.8, 0.4))
        reset = rng.choice((0, 0, 0, 0.05))
        for _ in range(length):
            cycle = Cycle(rng.random() < reset, rng.random() < enabled, rng.random() < valid, row % max(rows, 1))
            found.append(cycle)
            row += cycle.enable and cycle.valid and not cycle.reset
        if rng.random() < 0.5:  # a reset for one edge, while vectors are in flight
            found.append(Cycle(1, rng.randrange(2), rng.randrange(2), rng.randrange(max(rows, 1))))
    return [Cycle(*map(int, cycle)) for cycle in found]


_JUDGE = """\
module dais_judge #(parameter L = 1, W = 1, RST = 0, EN = 0, VIN = 0, VOUT = 0) (
    input look, input move, input again, input rst, input en, input valid,
    input [W-1:0] now, input [W-1:0] got, input told, output reg bad);
  // One bit per edge, bit 0 the newest. known: a vector to compare. is_valid: a valid vector, if sure is 1.
  reg [L:0] known, sure, is_valid;
  reg [W*(L+1)-1:0] words;
  wire taken = EN ? en : 1'b1, real_one = VIN ? valid : 1'b1;
  wire [W-1:0] due = L == 0 ? now : words[(L > 0 ? W*L-1 : W-1) -: W];
  wire there = L == 0 ? taken & real_one : known[L > 0 ? L - 1 : 0];
  wire due_valid = L == 0 ? valid : is_valid[L > 0 ? L - 1 : 0];
  wire is_sure = L == 0 ? 1'b1 : sure[L > 0 ? L - 1 : 0];
  always @(posedge look or posedge again)
    if (again) bad = 0;
    else if (!(RST && rst)) begin
      if (there && got !== due) bad = 1;
      if (VOUT && is_sure && told !== due_valid) bad = 1;
    end
  always @(posedge move or posedge again)
    if (again) begin
      known = 0; is_valid = 0; sure = 0;
    end else if (RST && rst) begin
      known = 0; is_valid = 0; sure = ~0;
    end else if (taken) begin
      words = (words << W) | now;
      known = (known << 1) | real_one;
      is_valid = (is_valid << 1) | valid;
      sure = (sure << 1) | 1'b1;
    end
endmodule
"""


def memories(plan: Plan) -> dict[str, str]:
    """Return the files that the bench reads."""
    pins = [f"{c.reset}{c.enable}{c.valid}" for c in plan.cycles]
    files = {"pins": pins}
    for name, rows in (("inp", plan.given), ("out", plan.wanted), ("known", plan.known)):
        if rows is not None:
            files[name] = [rows[c.row] for c in plan.cycles]
    return {f"dais_{name}.txt": "\n".join(rows) for name, rows in files.items()}


def bench_of(top: str, interface: DesignInterface, plan: Plan) -> str:
    """Return the module ``BENCH``: the design ``top`` and its judge. Its input ``chosen`` selects the mutant."""
    count, inp, out = len(plan.cycles), max(interface.input_bits, 1), max(interface.output_bits, 1)
    clocking = interface.clocking
    lines = [
        f"module {BENCH}(input clk, input look, input move, input again, input [31:0] n, input [31:0] chosen,"
        " output bad);",
        f"  reg [2:0] pins_of [0:{count - 1}]; reg [{inp - 1}:0] inp_of [0:{count - 1}];"
        f" reg [{out - 1}:0] out_of [0:{count - 1}];",
        '  initial begin $readmemb("dais_pins.txt", pins_of); $readmemb("dais_inp.txt", inp_of);'
        ' $readmemb("dais_out.txt", out_of); end',
        "  wire [2:0] pins = pins_of[n];",
        "  wire rst = pins[2], en = pins[1], valid = pins[0];",
        f"  wire [{inp - 1}:0] inp = inp_of[n]; wire [{out - 1}:0] due = out_of[n];",
        f"  wire [{out - 1}:0] got; wire told;",
    ]
    now, seen = "due", "got"
    if plan.known is not None:
        lines.append(f"  reg [{out - 1}:0] known_of [0:{count - 1}]; wire [{out - 1}:0] known = known_of[n];")
        lines.append('  initial $readmemb("dais_known.txt", known_of);')
        now, seen = "due & known", "got & known"
    given = {wire.name: _bits("inp", wire) for wire in interface.inputs}
    given |= {name: str(value) for name, value in interface.ties}
    if clocking is not None:
        given[clocking.clock] = "clk"
        if clocking.reset:
            given[clocking.reset] = "~rst" if clocking.reset_low else "rst"
        given |= {pin: name for pin, name in ((clocking.enable, "en"), (clocking.valid_in, "valid")) if pin}
    given |= {wire.name: _bits("got", wire) for wire in interface.outputs if wire.width}
    if interface.output_bits == 0:
        lines.append("  assign got = 0;")
    if clocking is not None and clocking.valid_out:
        given[clocking.valid_out] = "told"
    else:
        lines.append("  assign told = 0;")
    lines.append(f"  {top} dut({', '.join(f'.{port}({what})' for port, what in given.items())});")
    latency = 0 if clocking is None else clocking.latency
    flags = {"RST": 0, "EN": 0, "VIN": 0, "VOUT": 0}
    if clocking is not None:
        pins = (clocking.reset, clocking.enable, clocking.valid_in, clocking.valid_out)
        flags = {flag: int(pin is not None) for flag, pin in zip(flags, pins, strict=True)}
    said = "".join(f", .{flag}({value})" for flag, value in flags.items())
    lines.append(
        f"  dais_judge #(.L({latency}), .W({out}){said}) judge(.look(look), .move(move), .again(again), .rst(rst),"
        f" .en(en), .valid(valid), .now({now}), .got({seen}), .told(told), .bad(bad));"
    )
    return "\n".join([_JUDGE, *lines, "endmodule", ""])


def _bits(name: str, wire: Wire) -> str:
    return f"{name}[{wire.offset + wire.width - 1}:{wire.offset}]" if wire.width else "1'b0"


def driver(cycles: int, last: int) -> str:
    """Return the Icarus driver of the bench, which runs mutants ``+first`` to ``last``, then the original design."""
    return f"""\
module {DRIVE};
  reg clk = 0, look = 0, move = 0, again = 0; reg [31:0] n = 0, chosen = 0, k; wire bad;
  {BENCH} {BENCH}(clk, look, move, again, n, chosen, bad);
  initial begin
    if (!$value$plusargs("first=%d", k)) $finish;
    while (k <= {last} + 1) begin
      {_told(f"k > {last} ? 0 : k")}
      chosen = k > {last} ? 0 : k; n = 0; #1 again = 1; #1 again = 0;
      while (n < {cycles}) begin{_cycle(str(cycles))}
      end
      clk = 0; k = k + 1;
    end
    $display("{END}");
    $finish;
  end
endmodule
"""


def power_up_driver() -> str:
    """Return the Icarus driver for runs from power-up, of the mutant and the cycles on the command line."""
    return f"""\
module {DRIVE};
  reg clk = 0, look = 0, move = 0, again = 0; reg [31:0] n, chosen = 0, last, k; wire bad;
  {BENCH} {BENCH}(clk, look, move, again, n, chosen, bad);
  initial begin
    if (!($value$plusargs("chosen=%d", k) && $value$plusargs("first=%d", n) && $value$plusargs("last=%d", last)))
      $finish;
    {_told("k")}
    chosen = k;
    #1 again = 1; #1 again = 0;
    while (n < last) begin{_cycle("last")}
    end
    $display("{END}");
    $finish;
  end
endmodule
"""


def _told(chosen: str) -> str:
    """Return the statement that prints a mutant's number before the mutant runs, since the mutant may never settle."""
    return f'$display("{AT} %0d", {chosen}); $fflush;'


def _cycle(last: str) -> str:
    """Return the statements of one cycle; after a wrong output the remaining cycles up to ``last`` are skipped."""
    return f"""
        #2 look = 1; #1 look = 0;
        if (bad) begin
          $display("{WRONG} %0d %0d", chosen, n);
          n = {last};
        end else begin
          #1 clk = 1; #1 move = 1; #1 move = 0; #2 clk = 0; #1 n = n + 1;
        end
        if (n % {TICK} == 0) begin {_told("chosen")} end"""


# Build and run benches of mutants in Icarus or Verilator, to find wrong mutants and their first wrong cycles.


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
    session.check("iverilog", command, made=["dais.vvp"])
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
    session.check("g++", [str(found.compiler), "-pthread", *map(str, objects), "-o", "simulation"], made=["simulation"])
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
