"""``python -m prove.soundness.readings``: random modules, as the prover's readers and as simulators read them.

Whatever a reader of the prover says of an output bit must be what Icarus and Verilator compute, on every vector. A
reader may refuse a module, or say that a bit is undefined; it may not give a value to a bit that is X in Icarus, nor
one that a simulator does not compute. Where the simulators themselves differ nothing is proved of such a module,
since proofs are confirmed in both: these are counted. Results are kept module by module, and a campaign that was
broken off goes on.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import traceback
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import click
import numpy as np
from prove.soundness.modules import INPUTS, Module, random_module

from dais_verif.errors import InputError, ToolError
from dais_verif.files import write_atomically
from dais_verif.prove import slang, yosys
from dais_verif.prove.evaluate import evaluate
from dais_verif.prove.netlist import Cone, Netlist
from dais_verif.prove.terms import Term, extract, leaves, var
from dais_verif.sim import runtime, tools
from dais_verif.synth.elaboration import elaborated
from dais_verif.synth.limits import Limits

__all__ = ["Bits", "exceptions", "judge", "vectors"]

_SECONDS = 30
_LIMITS = Limits(300, 4096)
_BITS = sum(width for _, _, width in INPUTS)
#: How often undefined bits are filled at random: a bit that changes with this is undefined.
_FILLS = 16

_MAIN = """\
#include "Vdesign.h"
#include <cstdio>
int main(int argc, char** argv) {
    VerilatedContext context;
    Vdesign design{&context};
    unsigned long given;
    while (std::scanf("%lx", &given) == 1) {
        design.x = given;
        design.eval();
        for (int word = WORDS - 1; word >= 0; --word) std::printf("%08x", design.y[word]);
        std::printf("\\n");
    }
    design.final();
    return 0;
}
"""

#: Modules with these read bits that nothing gives a value.
_OPEN = {"beyond", "latch"}


class Bits(NamedTuple):
    """``value`` where ``known`` is 1; the other bits are X, or undefined."""

    value: int
    known: int


def vectors(count: int, seed: int) -> list[int]:
    """All inputs, packed, the first in the lowest bits: corners and random ones."""
    rng = random.Random(seed)
    corners = [0, (1 << _BITS) - 1]
    return [*corners, *(rng.getrandbits(_BITS) for _ in range(count - len(corners)))]


def _fields(x: int) -> dict[str, int]:
    fields, place = {}, 0
    for name, _, width in INPUTS:
        fields[name] = x >> place & ((1 << width) - 1)
        place += width
    return fields


def _top(modules: Sequence[Module]) -> str:
    """All modules side by side: ``x`` in, their outputs out, the first in the lowest bits."""
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
    return "\n".join([*lines, "endmodule", ""])


def _write(modules: Sequence[Module], folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    texts = {name: text for m in modules for name, text in m.files.items()} | {"all_of_them.v": _top(modules)}
    for name, text in texts.items():
        (folder / name).write_text(text)
    return [folder / name for name in texts if name.endswith(".v")]


def _split(modules: Sequence[Module], digits: str) -> dict[str, Bits]:
    """A line of binary digits, the highest first, as the outputs of each module together."""
    known = int("".join("1" if c in "01" else "0" for c in digits), 2)
    value = int("".join(c if c in "01" else "0" for c in digits), 2)
    found, place = {}, 0
    for m in modules:
        width = sum(m.widths)
        mask = (1 << width) - 1
        found[m.name] = Bits(value >> place & mask, known >> place & mask)
        place += width
    return found


def _run(command: Sequence[str], folder: Path, given: str = "", env: Mapping[str, str] | None = None) -> str:
    try:
        done = subprocess.run(
            command, cwd=folder, input=given, capture_output=True, text=True, timeout=_SECONDS, env=env and dict(env)
        )
    except subprocess.TimeoutExpired:  # blocks may trigger one another for ever
        raise ToolError(f"{command[0]} did not come to its end") from None
    if done.returncode != 0:
        raise ToolError(f"{command[0]}: {done.stdout[-500:]}{done.stderr[-500:]}")
    return done.stdout


def in_icarus(modules: Sequence[Module], rows: Sequence[int], folder: Path) -> list[dict[str, Bits]]:
    """Outputs of every module on every row. Raises ``ToolError`` if one is refused."""
    sources = _write(modules, folder)
    total = max(sum(sum(m.widths) for m in modules), 65)
    lines = ["module bench;", f"  reg [{_BITS - 1}:0] x; wire [{total - 1}:0] y;", "  all_of_them dut(x, y);"]
    lines += ["  initial begin", *(f'    x = {_BITS}\'h{row:x}; #10; $display("%b", y);' for row in rows)]
    (folder / "bench.sv").write_text("\n".join([*lines, "  end", "endmodule", ""]))
    found = tools.icarus()
    command = [str(found.iverilog), "-g2012", "-I", ".", "-s", "bench", "-o", "bench.vvp"]
    _run([*command, *(source.name for source in sources), "bench.sv"], folder)
    printed = _run([str(found.vvp), "-n", "bench.vvp"], folder).split()
    if len(printed) != len(rows):
        raise ToolError("Icarus did not come to its end")
    return [_split(modules, line) for line in printed]


def in_verilator(modules: Sequence[Module], rows: Sequence[int], folder: Path) -> list[dict[str, Bits]]:
    """The same in Verilator, which knows no X."""
    sources = _write(modules, folder)
    found, common = tools.verilator(), runtime.ensure()
    total = max(sum(sum(m.widths) for m in modules), 65)
    options = ["--x-assign", "0", "--x-initial", "0", "--top-module", "all_of_them", "--Mdir", "cpp", "-I."]
    shared = runtime.verilator_options(waves=False)
    _run([*found.driver, *shared, *options, *(source.name for source in sources)], folder, env=found.env)
    manifest = runtime.Manifest.read(folder / "cpp")
    units = [f'#include "{file.name}"\n' for file in (*manifest.fast, *manifest.slow)]
    main = _MAIN.replace("WORDS", str(-(-total // 32)))
    (folder / "cpp" / "unit.cpp").write_text(f'#include "{runtime.HEADERS}"\n' + "".join(units) + main)
    include = [common, runtime.NATIVE, Path("cpp")]
    _run(runtime.compile_command(found, manifest, Path("cpp/unit.cpp"), Path("unit.o"), "-O0", include=include), folder)
    objects = [common / f"{source.stem}.o" for source in manifest.runtime]
    missing = [source for source, made in zip(manifest.runtime, objects, strict=True) if not made.is_file()]
    for source in missing:
        output = folder / f"{source.stem}.o"
        _run(runtime.compile_command(found, manifest, source, output, "-O0"), folder)
        objects[[o.name for o in objects].index(output.name)] = output
    _run([str(found.compiler), "-pthread", "unit.o", *map(str, objects), "-o", "simulation"], folder)
    printed = _run([str(folder / "simulation")], folder, "\n".join(f"{row:x}" for row in rows)).split()
    if len(printed) != len(rows):
        raise ToolError("Verilator did not come to its end")
    return [_split(modules, f"{int(line, 16):0{total}b}") for line in printed]


def as_read(netlist: Netlist, outputs: Sequence[str], rows: Sequence[int]) -> list[Bits]:
    """The outputs that a reader sees, side by side, on every row. Raises ``InputError`` as proofs do."""
    inputs = {netlist.signals[port]: var(netlist.signals[port].width, port) for port in netlist.inputs}
    cone = Cone(lambda s, low, width: extract(inputs[s], low, width) if s in inputs else None)
    terms = [cone.read(netlist.signals[name], 0, netlist.signals[name].width) for name in outputs]
    packed = {"x": rows} if netlist.inputs == ("x",) else {n: [_fields(x)[n] for x in rows] for n, _, _ in INPUTS}
    open_ended = any(t.op == "undefined" for t in leaves(*terms))
    filled = [_packed(terms, packed, random.Random(n)) for n in range(_FILLS if open_ended else 1)]
    width = sum(term.width for term in terms)
    found = []
    for values in zip(*filled, strict=True):
        changing = 0
        for value in values[1:]:
            changing |= value ^ values[0]
        known = ((1 << width) - 1) & ~changing
        found.append(Bits(values[0] & known, known))
    return found


def _packed(terms: Sequence[Term], inputs: Mapping[str, Sequence[int]], rng: random.Random) -> list[int]:
    rows = len(next(iter(inputs.values())))
    given = {}
    for t in leaves(*terms):
        column = inputs[str(t.data)] if t.op == "var" else [rng.getrandbits(t.width)] * rows
        given[t] = np.array(column, dtype=object)
    columns = []
    for term, values in zip(terms, evaluate(terms, given) if given else [None] * len(terms), strict=True):
        columns.append([int(v) for v in values] if values is not None else [int(evaluate([term], {})[0][0])] * rows)
    result = []
    for row in range(rows):
        word, place = 0, 0
        for term, column in zip(terms, columns, strict=True):
            word |= column[row] << place
            place += term.width
        result.append(word)
    return result


def judge(
    modules: Sequence[Module], rows: Sequence[int], folder: Path, *, also_yosys: bool
) -> dict[str, dict[str, Any]]:
    """What becomes of each module, by name: ``readers`` with what each said, and ``wrong``, where it was wrong."""
    simulated: dict[str, dict[str, list[Bits]]] = {}
    for name, simulate in (("icarus", in_icarus), ("verilator", in_verilator)):
        simulated[name] = _each(modules, lambda some, where, run=simulate: run(some, rows, where), folder / name)
    records = {}
    for m in modules:
        by = {name: found[m.name] for name, found in simulated.items() if m.name in found}
        readers = {"slang": _judged(m, rows, by, folder / "slang", "slang")}
        if also_yosys:
            readers["yosys"] = _judged(m, rows, by, folder / "yosys", "yosys")
        records[m.name] = {"features": list(m.features), "simulators": sorted(by), "readers": readers}
    return records


def _each(modules: Sequence[Module], run: Any, folder: Path) -> dict[str, list[Bits]]:
    """All modules at once; halves of them, if a tool refuses one."""
    try:
        rows = run(modules, folder / f"{modules[0].name}_{len(modules)}")
    except ToolError:
        if len(modules) == 1:
            return {}
        middle = len(modules) // 2
        return {**_each(modules[:middle], run, folder), **_each(modules[middle:], run, folder)}
    return {m.name: [row[m.name] for row in rows] for m in modules}


def _judged(m: Module, rows: Sequence[int], by: Mapping[str, list[Bits]], folder: Path, reader: str) -> dict[str, Any]:
    folder = folder / m.name
    sources = _write([m], folder)[:-1]
    outputs = [f"y{number}" for number in range(len(m.widths))]
    try:
        if reader == "slang":
            netlist = slang.elaborate(sources, m.name, {})
        else:
            slang.refuse_misread(sources, m.name, {})
            netlist = yosys.elaborate(elaborated(sources, m.name, [], folder / "work", _LIMITS), m.name)
        found = as_read(netlist, outputs, rows)
    except (InputError, ToolError) as error:
        return {"status": "refused", "why": str(error)[:300]}
    except Exception:
        return {"status": "crashed", "wrong": traceback.format_exc()[-1500:]}
    undefined = sum(bin(~ours.known & ((1 << sum(m.widths)) - 1)).count("1") for ours in found)
    if _OPEN & set(m.features) and "icarus" in by:  # what is undefined is as it pleases in Verilator
        sure = [bits.known for bits in by["icarus"]]
        by = {name: [Bits(b.value, b.known & k) for b, k in zip(bits, sure, strict=True)] for name, bits in by.items()}
    alike = _alike(by, len(rows))
    alone, said = (_said(m, some, rows, by, found) for some in (range(len(rows)), alike))
    if said:
        return {"status": "wrong", "wrong": said}
    if alone:
        return {"status": "simulators differ", "why": alone}
    return {"status": "agreed" if by else "not simulated", "undefined": undefined}


def _said(
    m: Module, some: Sequence[int], rows: Sequence[int], by: Mapping[str, list[Bits]], found: Sequence[Bits]
) -> str:
    """Where the reader is wrong on ``some`` of the rows, by their numbers."""
    given, ours = [rows[n] for n in some], [found[n] for n in some]
    said = (_wrong(m, given, simulator, [theirs[n] for n in some], ours) for simulator, theirs in by.items())
    return "; ".join(filter(None, said))


def _alike(by: Mapping[str, list[Bits]], count: int) -> list[int]:
    """The rows on which no bit is known to both simulators and not the same: no proof is confirmed on the others."""
    if len(by) < 2:
        return [*range(count)]
    return [n for n, (a, b) in enumerate(zip(*by.values(), strict=True)) if not a.known & b.known & (a.value ^ b.value)]


def _wrong(m: Module, rows: Sequence[int], simulator: str, theirs: Sequence[Bits], found: Sequence[Bits]) -> str:
    """The first output of the first row where a reader gives a value that the simulator does not compute."""
    for number, (ours, other) in enumerate(zip(found, theirs, strict=True)):
        differs = ours.known & (ours.value ^ other.value) & other.known
        if not _OPEN & set(m.features):  # else a simulator may say less of what follows than could be known
            differs |= ours.known & ~other.known
        place = 0
        for output, width in enumerate(m.widths):
            read, simulated, known = (
                word >> place & ((1 << width) - 1) for word in (ours.value, other.value, other.known)
            )
            if differs >> place & ((1 << width) - 1):
                return (
                    f"y{output} in {simulator} on {_fields(rows[number])}: read {read:#x}, simulated {simulated:#x},"
                    f" known {known:#x} of {width} bits"
                )
            place += width
    return ""


def exceptions(records: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The modules that a reader misread, or over which it broke down, and how."""
    return [
        f"{name}, {reader}: {said['wrong']}"
        for name, record in records.items()
        for reader, said in record["readers"].items()
        if said["status"] in ("wrong", "crashed")
    ]


@click.command()
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("build/readings.json"))
@click.option("--modules", "count", default=10_000, show_default=True)
@click.option("--first", default=0, show_default=True, help="The seed of the first module.")
@click.option("--vectors", "many", default=48, show_default=True)
@click.option("--together", default=40, show_default=True, help="Modules in one simulation.")
@click.option("--yosys-every", default=4, show_default=True, help="Of so many simulations one is also read by Yosys.")
def main(output: Path, count: int, first: int, many: int, together: int, yosys_every: int) -> None:
    """Random modules against the prover's readers."""
    output.parent.mkdir(parents=True, exist_ok=True)
    records: dict[str, Any] = json.loads(output.read_text())["modules"] if output.is_file() else {}
    for start in range(first, first + count, together):
        batch = [random_module(seed) for seed in range(start, min(start + together, first + count))]
        if all(m.name in records for m in batch):
            continue
        with TemporaryDirectory(prefix="dais-verif-readings-") as scratch:
            yosys_too = (start // together) % yosys_every == 0
            records |= judge(batch, vectors(many, start), Path(scratch), also_yosys=yosys_too)
        write_atomically(output, json.dumps({"exceptions": exceptions(records), "modules": records}, indent=1).encode())
        click.echo(f"{len(records)} modules: {_counts(records)}")
    wrong = exceptions(records)
    if wrong:
        raise click.ClickException(f"{len(wrong)} exceptions, the first: {wrong[0]}")
    click.echo("no exception")


def _counts(records: Mapping[str, Mapping[str, Any]]) -> str:
    said = Counter(f"{reader} {s['status']}" for r in records.values() for reader, s in r["readers"].items())
    both = sum(len(r["simulators"]) == 2 for r in records.values())
    return ", ".join(f"{what} {n}" for what, n in sorted(said.items())) + f"; in both simulators {both}"


if __name__ == "__main__":
    os.environ.setdefault("PYTHONHASHSEED", "0")
    main()
