"""Simulate many clocked designs at once with random resets, stalls and bubbles, and find those that are wrong.

Beside each design is a judge, in Verilog: a shift register as long as the latency, which advances as the pins say and
holds the expected outputs. It shares no code with the prover or the testbench of ``sim``. Icarus and Verilator run the
same text. Pins change while the clock is low; outputs are checked before each rising edge.
"""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from dais_verif.base.errors import ToolError
from dais_verif.base.toolchain import tools, verilator_runtime
from dais_verif.golden import run_raw
from dais_verif.hardware.ports.interface import Clocking
from dais_verif.simulation.testbench.packed_rows import bits_of_row
from dais_verif.simulation.testbench.packing import pack_inputs, pack_outputs
from dais_verif.spec.program import Program
from dais_verif.spec.program.ports import ports_of
from dais_verif.stimulus import generate

__all__ = ["SIMULATORS", "Seen", "Stream", "cycles", "simulate"]

_SECONDS = 300
#: The number of vectors that are generated for a program; each cycle takes one of them.
_ROWS = 512


@dataclass(frozen=True)
class Stream:
    """A design to simulate, and its specification.

    ``files``: texts by name; the names of all modules begin with ``top``, and texts other than Verilog are files that
    the design reads. ``clocking``: its pins, with the latency to check. ``ties``: inputs with a constant value.
    ``any_value``: inputs of one bit that must not matter. ``reset_enabled``: the reset is only active together with
    the enable.
    """

    top: str
    files: Mapping[str, str]
    program: str
    clocking: Clocking
    ties: Mapping[str, int]
    any_value: tuple[str, ...] = ()
    reset_enabled: bool = False


class Cycle(NamedTuple):
    """The pins before a rising edge, 1 being active; ``row``: the number of the vector."""

    rst: int
    en: int
    valid: int
    row: int


class Seen(NamedTuple):
    """The simulators' results for a design.

    ``wrong``: by simulator, the first error. ``ran``: the simulators that ran the design.
    """

    ran: tuple[str, ...]
    wrong: Mapping[str, str]


def cycles(count: int, seed: int) -> list[Cycle]:
    """Return cycles in stretches of various patterns: all enabled, mostly stalled, many bubbles, many or no resets."""
    rng = random.Random(seed)
    # The reset begins with an edge, which Verilator does not see in the very first cycle.
    found = [Cycle(0, 1, 1, 0), Cycle(1, rng.randrange(2), rng.randrange(2), 0)]
    while len(found) < count:
        length = rng.choice((3, 12, 40, 120, 300, 700))
        enabled, valid = rng.choice((1, 1, 0.9, 0.5, 0.1)), rng.choice((1, 1, 0.8, 0.4, 0.05))
        reset = rng.choice((0, 0, 0, 0.01, 0.1, 0.4)) if length < 300 else 0
        repeats = rng.choice((0, 0, 0.5, 0.9))
        row = 0
        for _ in range(length):
            row = row if rng.random() < repeats else rng.randrange(_ROWS)
            found.append(Cycle(rng.random() < reset, rng.random() < enabled, rng.random() < valid, row))
        if rng.random() < 0.7:  # a reset of one edge, while data are in flight
            found.append(Cycle(1, rng.randrange(2), rng.randrange(2), rng.randrange(_ROWS)))
    return [Cycle(*map(int, cycle)) for cycle in found[:count]]


_JUDGE = """\
module dais_judge #(parameter N = 0, L = 1, W = 1, RST = 0, EN = 0, VIN = 0, VOUT = 0) (
    input look, input move, input rst, input en, input valid, input [W-1:0] now, input [W-1:0] got, input told);
  // Place 0: what came last. known: a vector is there. sure: it is known whether one is. is_valid: one is.
  reg [L:0] known = 0, sure = 0, is_valid = 0;
  reg [W*(L+1)-1:0] words = 0;
  reg bad = 0;
  integer cycle = 0;
  wire taken = EN ? en : 1'b1, real_one = VIN ? valid : 1'b1;
  wire [W-1:0] due = L == 0 ? now : words[W*L-1 -: W];
  wire there = L == 0 ? taken & real_one : known[L > 0 ? L - 1 : 0];
  wire due_valid = L == 0 ? valid : is_valid[L > 0 ? L - 1 : 0];
  wire is_sure = L == 0 ? 1'b1 : sure[L > 0 ? L - 1 : 0];
  always @(posedge look) begin
    if (!(RST && rst) && !bad) begin
      if (there && got !== due) begin
        bad = 1;
        $display("WRONG %0d cycle %0d: %h for %h", N, cycle, got, due);
      end else if (VOUT && is_sure && told !== due_valid) begin
        bad = 1;
        $display("WRONG %0d cycle %0d: out_valid %b for %b", N, cycle, told, due_valid);
      end
    end
    cycle = cycle + 1;
  end
  always @(posedge move)
    if (RST && rst) begin
      known = 0; is_valid = 0; sure = ~0;
    end else if (taken) begin
      words = (words << W) | now;
      known = (known << 1) | real_one;
      is_valid = (is_valid << 1) | valid;
      sure = (sure << 1) | 1'b1;
    end
endmodule
"""

_DRIVER = """\
module dais_drive;
  reg clk = 0, look = 0, move = 0; reg [31:0] n = 0;
  dais_bench bench(clk, look, move, n);
  initial begin
    for (n = 0; n < %d; n = n + 1) begin
      #2 look = 1; #1 look = 0;
      #1 clk = 1; #1 move = 1; #1 move = 0;
      #2 clk = 0; #1;
    end
    $display("END");
    $finish;
  end
endmodule
"""

_MAIN = """\
#include "Vdesign.h"
#include <cstdio>
int main(int argc, char** argv) {
    VerilatedContext context;
    context.commandArgs(argc, argv);
    context.randReset(2);
    Vdesign design{&context};
    design.clk = design.look = design.move = 0;
    for (unsigned n = 0; n < CYCLES; ++n) {
        design.n = n; design.eval();
        design.look = 1; design.eval();
        design.look = 0; design.eval();
        design.clk = 1; design.eval();
        design.move = 1; design.eval();
        design.move = 0; design.eval();
        design.clk = 0; design.eval();
    }
    design.final();
    std::printf("END\\n");
    return 0;
}
"""


def _bench(streams: Sequence[Stream], programs: Mapping[str, Program], plan: Sequence[Cycle]) -> str:
    lines = ["module dais_bench(input clk, input look, input move, input [31:0] n);"]
    lines += [f"  reg [2:0] pins_of [0:{len(plan) - 1}];", '  initial $readmemb("pins.txt", pins_of);']
    lines += ["  wire [2:0] pins = pins_of[n];", "  wire rst = pins[2], en = pins[1], valid = pins[0];"]
    place = {}
    for number, name in enumerate(dict.fromkeys(stream.program for stream in streams)):
        ports = ports_of(programs[name])
        widths = max(ports.input_bits, 1), max(ports.output_bits, 1)
        place[name] = number, *widths
        for what, width in zip(("inp", "out"), widths, strict=True):
            lines.append(f"  reg [{width - 1}:0] {what}_of_{number} [0:{len(plan) - 1}];")
            lines.append(f'  initial $readmemb("{what}_{number}.txt", {what}_of_{number});')
            lines.append(f"  wire [{width - 1}:0] {what}_{number} = {what}_of_{number}[n];")
    for n, stream in enumerate(streams):
        number, _, width = place[stream.program]
        pins = stream.clocking
        reset = "rst & en" if stream.reset_enabled else "rst"
        given = {pins.clock: "clk", "model_inp": f"inp_{number}"}
        given |= {name: f"1'b{value}" for name, value in stream.ties.items()} | dict.fromkeys(stream.any_value, "valid")
        if pins.reset:
            given[pins.reset] = f"~({reset})" if pins.reset_low else reset
        given |= {pin: signal for pin, signal in ((pins.enable, "en"), (pins.valid_in, "valid")) if pin}
        lines.append(f"  wire [{width - 1}:0] got_{n}; wire told_{n};")
        connected = ", ".join(f".{pin}({signal})" for pin, signal in given.items())
        told = f", .{pins.valid_out}(told_{n})" if pins.valid_out else ""
        lines.append(f"  {stream.top} dut_{n} ({connected}, .model_out(got_{n}){told});")
        flags = {"RST": pins.reset, "EN": pins.enable, "VIN": pins.valid_in, "VOUT": pins.valid_out}
        said = f".N({n}), .L({pins.latency}), .W({width})"
        said += "".join(f", .{flag}({int(pin is not None)})" for flag, pin in flags.items())
        lines.append(
            f"  dais_judge #({said}) judge_{n} (.look(look), .move(move), .rst({reset}), .en(en), .valid(valid),"
            f" .now(out_{number}), .got(got_{n}), .told(told_{n}));"
        )
    return "\n".join([*lines, "endmodule", ""])


def _write(
    streams: Sequence[Stream], programs: Mapping[str, Program], plan: Sequence[Cycle], seed: int, folder: Path
) -> list[str]:
    """Write all files that a build needs, and return the names of the sources."""
    folder.mkdir(parents=True, exist_ok=True)
    sources = []
    for stream in streams:
        for name, text in stream.files.items():
            (folder / name).write_text(text)
            sources += [name] * name.endswith((".v", ".sv"))
    (folder / "bench.sv").write_text(_JUDGE + _bench(streams, programs, plan))
    (folder / "pins.txt").write_text("\n".join(f"{c.rst}{c.en}{c.valid}" for c in plan))
    for number, name in enumerate(dict.fromkeys(stream.program for stream in streams)):
        program = programs[name]
        ports, batch = ports_of(program), generate(program, _ROWS, seed)
        given = pack_inputs(batch, ports)
        expected = pack_outputs(run_raw(program, batch, check=False), ports, batch.rows)
        for what, words, bits in (("inp", given, ports.input_bits), ("out", expected, ports.output_bits)):
            rows = [bits_of_row(words, row, bits) for row in range(batch.rows)]
            (folder / f"{what}_{number}.txt").write_text("\n".join(rows[c.row] for c in plan))
    return [*sources, "bench.sv"]


def _icarus(sources: Sequence[str], count: int, seed: int, folder: Path) -> str:
    (folder / "drive.sv").write_text(_DRIVER % count)
    found = tools.icarus()
    command = [str(found.iverilog), "-g2012", "-s", "dais_drive", "-o", "bench.vvp", *sources, "drive.sv"]
    _run(command, folder)
    return _run([str(found.vvp), "-n", "bench.vvp"], folder)


def _verilator(sources: Sequence[str], count: int, seed: int, folder: Path) -> str:
    found, common = tools.verilator(), verilator_runtime.ensure()
    options = ["--x-assign", "unique", "--x-initial", "unique", "--top-module", "dais_bench", "--Mdir", "cpp"]
    options += ["--output-split-cfuncs", "500"]
    _run([*found.driver, *verilator_runtime.verilator_options(waves=False), *options, *sources], folder, env=found.env)
    manifest = verilator_runtime.Manifest.read(folder / "cpp")
    units = [f'#include "{file.name}"\n' for file in (*manifest.fast, *manifest.slow)]
    text = f'#include "{verilator_runtime.HEADERS}"\n' + "".join(units) + _MAIN.replace("CYCLES", str(count))
    (folder / "cpp" / "unit.cpp").write_text(text)
    include = [common, verilator_runtime.NATIVE, Path("cpp")]
    _run(
        verilator_runtime.compile_command(
            found, manifest, Path("cpp/unit.cpp"), Path("unit.o"), "-Og", include=include
        ),
        folder,
    )
    objects = []
    for source in manifest.runtime:
        made = common / f"{source.stem}.o"
        if not made.is_file():
            made = folder / f"{source.stem}.o"
            _run(verilator_runtime.compile_command(found, manifest, source, made, "-O0"), folder)
        objects.append(str(made))
    _run([str(found.compiler), "-pthread", "unit.o", *objects, "-o", "simulation"], folder)
    # Registers without a reset start with random values, so run twice with different seeds.
    return "".join(_run([str(folder / "simulation"), f"+verilator+seed+{seed + n}"], folder) for n in (1, 2))


SIMULATORS: dict[str, Callable[[Sequence[str], int, int, Path], str]] = {"icarus": _icarus, "verilator": _verilator}


def _accepted(simulator: str, stream: Stream, folder: Path) -> bool:
    """Return whether a simulator accepts a design by itself."""
    sources = [name for name in stream.files if name.endswith((".v", ".sv"))]
    try:
        if simulator == "icarus":
            _run([str(tools.icarus().iverilog), "-g2012", "-t", "null", "-s", stream.top, *sources], folder)
        else:
            found = tools.verilator()
            options = ["--lint-only", "--no-timing", "-Wno-fatal", "--top-module", stream.top]
            _run([*found.driver, *options, *sources], folder, env=found.env)
    except ToolError:
        return False
    return True


def _run(command: Sequence[str], folder: Path, env: Mapping[str, str] | None = None) -> str:
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=_SECONDS, env=env and dict(env)
        )
    except subprocess.TimeoutExpired:
        raise ToolError(f"{command[0]} did not come to its end") from None
    if done.returncode != 0:
        raise ToolError(f"{command[0]}: {done.stdout}{done.stderr}")
    return done.stdout


def simulate(
    streams: Sequence[Stream],
    programs: Mapping[str, Program],
    count: int,
    seed: int,
    folder: Path,
    simulators: Sequence[str] = tuple(SIMULATORS),
) -> list[Seen]:
    """Return the simulators' results for each stream over ``count`` cycles; a simulator skips designs it refuses."""
    wrong: list[dict[str, str]] = [{} for _ in streams]
    ran: list[list[str]] = [[] for _ in streams]
    plan = cycles(count, seed)
    for name in simulators:
        for n, said in _attempt(name, dict(enumerate(streams)), programs, plan, seed, folder / name).items():
            ran[n].append(name)
            if said:
                wrong[n][name] = said
    return [Seen(tuple(r), w) for r, w in zip(ran, wrong, strict=True)]


def _attempt(
    simulator: str,
    streams: Mapping[int, Stream],
    programs: Mapping[str, Program],
    plan: Sequence[Cycle],
    seed: int,
    folder: Path,
) -> dict[int, str]:
    """Return the first error of each design that could be simulated, "" if there is none."""
    if not streams:
        return {}
    numbers, some = [*streams], [*streams.values()]
    where = folder / f"{numbers[0]}_{len(numbers)}"
    sources = _write(some, programs, plan, seed, where)
    try:
        printed = SIMULATORS[simulator](sources, len(plan), seed, where)
    except ToolError as error:
        # An error in one file causes others in the next files, so each design that is named is tried alone.
        lines = [line for line in str(error).splitlines() if "rror" in line]
        named = [n for n, s in streams.items() if any(re.search(rf"\b{s.top}\b", line) for line in lines)]
        guilty = {n for n in named if not _accepted(simulator, streams[n], where)}
        if guilty and len(guilty) < len(streams):
            left = {n: s for n, s in streams.items() if n not in guilty}
            return _attempt(simulator, left, programs, plan, seed, folder)
        if len(streams) == 1:
            return {}
        middle = len(numbers) // 2
        halves = ({n: streams[n] for n in part} for part in (numbers[:middle], numbers[middle:]))
        found = {}
        for half in halves:
            found |= _attempt(simulator, half, programs, plan, seed, folder)
        return found
    assert "END" in printed, "the simulation did not come to its end"
    found = dict.fromkeys(numbers, "")
    for match in re.finditer(r"WRONG (\d+) (.*)", printed):
        found[numbers[int(match[1])]] = found[numbers[int(match[1])]] or match[2]
    return found
