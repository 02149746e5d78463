"""Simulate many random modules at once in Icarus and in Verilator, and return their outputs, including X.

A module that a simulator does not accept is identified by its name in the message and left out; the others are built
again.
"""

from __future__ import annotations

import random
import re
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from prove.soundness.modules import INPUTS, Module

from dais_verif.base.errors import ToolError
from dais_verif.base.toolchain import tools, verilator_runtime

__all__ = ["Bits", "fields", "in_icarus", "in_verilator", "simulated", "vectors", "write"]

_SECONDS, _RUN_SECONDS = 300, 5
_BITS = sum(width for _, _, width in INPUTS)
_WORDS = -(-_BITS // 32)
#: Features that Icarus 11 does not support; some of them crash it without a message that names the module.
_NOT_ICARUS = {
    "do",
    "inside",
    "case inside",
    "jump",
    "return",
    "function without a value",
    "constant array",
    "priority if",
}

_MAIN = """\
#include "Vdesign.h"
#include <cstdio>
#include <cstring>
#include <memory>
int main(int argc, char** argv) {
    // What has no value is all zeros in the one, and all ones in the other.
    std::unique_ptr<VerilatedContext> contexts[2];
    std::unique_ptr<Vdesign> designs[2];
    for (int fill = 0; fill < 2; ++fill) {
        contexts[fill].reset(new VerilatedContext);
        contexts[fill]->randReset(fill);
        designs[fill].reset(new Vdesign{contexts[fill].get()});
    }
    char given[INPUT_WORDS * 8 + 2];
    while (std::scanf("%s", given) == 1) {
        for (auto& design : designs) {
            for (int word = 0; word < INPUT_WORDS; ++word) {
                unsigned value;
                std::sscanf(given + (INPUT_WORDS - 1 - word) * 8, "%8x", &value);
                design->x[word] = value;
            }
            design->eval();
            for (int word = WORDS - 1; word >= 0; --word) std::printf("%08x", design->y[word]);
            std::printf("\\n");
        }
    }
    for (auto& design : designs) design->final();
    return 0;
}
"""


class Bits(NamedTuple):
    """A value: ``value`` is valid where ``known`` is 1; the other bits are X, or undefined."""

    value: int
    known: int


#: A function that returns the outputs of each module, as one number per vector.
Simulator = Callable[[Sequence[Module], Sequence[int], Path], dict[str, list[Bits]]]


class _Refused(ToolError):
    """A simulator refuses modules; ``names`` are those in its message."""

    def __init__(self, text: str, names: frozenset[str] = frozenset()) -> None:
        super().__init__(text)
        self.names = names


def vectors(count: int, seed: int) -> list[int]:
    """Return packed inputs, the first in the lowest bits: corners, random values, and some that differ in one input."""
    rng = random.Random(seed)
    rows = [0, (1 << _BITS) - 1]
    while len(rows) < count:
        if rng.random() < 0.25:
            low = rng.choice([0, 7, 16, 20, 25, 26, 59])
            rows.append(rows[-1] ^ rng.getrandbits(4) << low)
        else:
            rows.append(rng.getrandbits(_BITS))
    return rows[:count]


def fields(x: int) -> dict[str, int]:
    """Return the inputs of a vector, by name."""
    found, place = {}, 0
    for name, _, width in INPUTS:
        found[name] = x >> place & ((1 << width) - 1)
        place += width
    return found


def simulated(
    modules: Sequence[Module], rows: Sequence[int], folder: Path, simulators: Mapping[str, Simulator]
) -> dict[str, dict[str, list[Bits]]]:
    """Return the outputs of each simulator, by the simulator's name, for the modules that it accepts."""
    found = {}
    for name, simulate in simulators.items():
        # Modules with features that Icarus does not support are left out for it: some crash it, or never end.
        some = [m for m in modules if name != "icarus" or not _NOT_ICARUS & set(m.features)]
        found[name] = _taken(some, rows, folder / name, simulate)
    return found


def _taken(modules: Sequence[Module], rows: Sequence[int], folder: Path, simulate: Simulator) -> dict[str, list[Bits]]:
    if not modules:
        return {}
    try:
        return simulate(modules, rows, folder / f"{modules[0].name}_{len(modules)}")
    except ToolError as error:
        names = getattr(error, "names", frozenset())
        rest = [m for m in modules if m.name not in names]
        if 0 < len(rest) < len(modules):
            return _taken(rest, rows, folder, simulate)
        if len(modules) == 1 or not rest:
            return {}
        middle = len(modules) // 2  # no module is named: try halves
        halves = (modules[:middle], modules[middle:])
        return {name: bits for half in halves for name, bits in _taken(half, rows, folder, simulate).items()}


def _top(modules: Sequence[Module]) -> tuple[str, int]:
    """Return a top module with all modules side by side, and the number of its output bits.

    The input is ``x``; the outputs of the first module are in the lowest bits.
    """
    total = max(sum(sum(m.widths) for m in modules), 65)
    lines = [f"module all_of_them(input [{_BITS - 1}:0] x, output [{total - 1}:0] y);"]
    place = 0
    for m in modules:
        pins, low = [], 0
        for name, _, width in INPUTS:
            pins.append(f".{name}(x[{low + width - 1}:{low}])")
            low += width
        for number, width in enumerate(m.widths):
            pins.append(f".y{number}(y[{place + width - 1}:{place}])")
            place += width
        lines.append(f"  {m.name} i_{m.name}({', '.join(pins)});")
    if place < total:
        lines.append(f"  assign y[{total - 1}:{place}] = 0;")
    return "\n".join([*lines, "endmodule", ""]), total


def write(modules: Sequence[Module], folder: Path) -> list[Path]:
    """Write the files of modules, and return those to pass to the tool; included files are not among them."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {name: text for m in modules for name, text in m.files.items()}
    for name, text in texts.items():
        (folder / name).write_text(text)
    return [folder / name for name in texts if name.endswith(".v")]


def _split(modules: Sequence[Module], value: int, known: int) -> dict[str, Bits]:
    found = {}
    for m in modules:
        width = sum(m.widths)
        mask = (1 << width) - 1
        found[m.name] = Bits(value & known & mask, known & mask)
        value, known = value >> width, known >> width
    return found


def _by_module(modules: Sequence[Module], rows: Sequence[tuple[int, int]]) -> dict[str, list[Bits]]:
    split = [_split(modules, value, known) for value, known in rows]
    return {m.name: [row[m.name] for row in split] for m in modules}


def _run(
    command: Sequence[str], folder: Path, given: str = "", env: Mapping[str, str] | None = None, seconds: int = _SECONDS
) -> str:
    if seconds < _SECONDS:  # CPU seconds, since the machine may be busy
        command = ["/bin/sh", "-c", f'ulimit -t {seconds}; exec "$0" "$@"', *command]
    try:
        done = subprocess.run(
            command, cwd=folder, input=given, capture_output=True, text=True, timeout=_SECONDS, env=env and dict(env)
        )
    except subprocess.TimeoutExpired:  # blocks may trigger each other endlessly
        raise _Refused(f"{command[-1]} did not come to its end") from None
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        raise _Refused(f"{command[-1]} did not come to its end")
    if done.returncode != 0:
        complaints = [line for line in done.stderr.splitlines() if "warning" not in line.lower()]
        named = [re.match(r"(?:%Error[^:]*: )?(?:\S*/)?(m\d+)\w*\.vh?:", line) for line in complaints]
        named += [re.search(r"\bi_(m\d+)\b", line) for line in complaints if "internal error" in line]
        names = frozenset(found[1] for found in named if found)
        raise _Refused(f"{command[0]}: {done.stdout[-500:]}{done.stderr[-500:]}", names)
    return done.stdout


def in_icarus(modules: Sequence[Module], rows: Sequence[int], folder: Path) -> dict[str, list[Bits]]:
    """Return the outputs of all modules for all rows in Icarus; raise ``ToolError`` if one is refused."""
    sources, (top, total) = write(modules, folder), _top(modules)
    lines = [top, "module bench;", f"  reg [{_BITS - 1}:0] x; wire [{total - 1}:0] y;", "  all_of_them dut(x, y);"]
    lines += ["  initial begin", *(f'    x = {_BITS}\'h{row:x}; #10; $display("%b", y);' for row in rows)]
    (folder / "bench.sv").write_text("\n".join([*lines, "  end", "endmodule", ""]))
    found = tools.icarus()
    command = [str(found.iverilog), "-g2012", "-I", ".", "-s", "bench", "-o", "bench.vvp"]
    _run([*command, *(source.name for source in sources), "bench.sv"], folder)
    seconds = max(1, len(modules) // 33)  # far more than they need, since blocks may trigger each other endlessly
    printed = _run([str(found.vvp), "-n", "bench.vvp"], folder, seconds=seconds).split()
    if len(printed) != len(rows):
        raise ToolError("Icarus did not come to its end")
    known, value = str.maketrans("xz01", "0011"), str.maketrans("xz", "00")
    return _by_module(modules, [(int(line.translate(value), 2), int(line.translate(known), 2)) for line in printed])


def in_verilator(modules: Sequence[Module], rows: Sequence[int], folder: Path) -> dict[str, list[Bits]]:
    """Return the outputs in Verilator; a bit is unknown if it changes with the values that replace X."""
    sources, (top, total) = write(modules, folder), _top(modules)
    (folder / "all_of_them.v").write_text(top)
    found, common = tools.verilator(), verilator_runtime.ensure()
    options = ["--x-assign", "unique", "--x-initial", "unique", "--top-module", "all_of_them", "--Mdir", "cpp", "-I."]
    options += [*verilator_runtime.verilator_options(waves=False), "-Wno-lint"]
    names = [*(source.name for source in sources), "all_of_them.v"]
    _run([*found.driver, *options, *names], folder, env=found.env)
    manifest = verilator_runtime.Manifest.read(folder / "cpp")
    units = [f'#include "{file.name}"\n' for file in (*manifest.fast, *manifest.slow)]
    words = -(-total // 32)
    main = _MAIN.replace("INPUT_WORDS", str(_WORDS)).replace("WORDS", str(words))
    (folder / "cpp" / "unit.cpp").write_text(f'#include "{verilator_runtime.HEADERS}"\n' + "".join(units) + main)
    include = [common, verilator_runtime.NATIVE, Path("cpp")]
    _run(
        verilator_runtime.compile_command(
            found, manifest, Path("cpp/unit.cpp"), Path("unit.o"), "-Og", include=include
        ),
        folder,
    )
    objects = [common / f"{source.stem}.o" for source in manifest.runtime]
    missing = [source for source, made in zip(manifest.runtime, objects, strict=True) if not made.is_file()]
    for source in missing:
        output = folder / f"{source.stem}.o"
        _run(verilator_runtime.compile_command(found, manifest, source, output, "-O0"), folder)
        objects[[o.name for o in objects].index(output.name)] = output
    _run([str(found.compiler), "-pthread", "unit.o", *map(str, objects), "-o", "simulation"], folder)
    given = "\n".join(f"{row:0{_WORDS * 8}x}" for row in rows)
    printed = [
        int(line, 16) for line in _run([str(folder / "simulation")], folder, given, seconds=_RUN_SECONDS).split()
    ]
    if len(printed) != 2 * len(rows):
        raise ToolError("Verilator did not come to its end")
    everything = (1 << 32 * words) - 1
    return _by_module(modules, [(a, everything & ~(a ^ b)) for a, b in zip(printed[::2], printed[1::2], strict=True)])
