"""Cost of a real layer unrolled, as a stream and with memories: `make bench-kernels`, or `python -m bench.kernels`.

The layer is the first one of p08 of the corpus: a convolution of an image of 10 x 10 pixels with 4 kernels of 3 x 3,
with bias and ReLU, each channel quantised to its own type. In the corpus, each window has its own ops; here, the ops of
one window become a kernel, and before anything is counted, its members together are proved to be equal to the layer.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import dais_verif
from bench.golden import CORPUS
from dais_verif.base.verdict import Verdict
from dais_verif.compile.kernels.forms.memory import memory_form
from dais_verif.compile.kernels.forms.stream import stream_form
from dais_verif.compile.kernels.instance import KernelInstance
from dais_verif.compile.kernels.program_kernel import read_own_kernel
from dais_verif.compile.kernels.unfold import unfold
from dais_verif.golden.form_facts import check_facts
from dais_verif.spec.machine import Machine
from dais_verif.spec.program import Program, load, write_binary
from dais_verif.spec.program.graph import cone
from dais_verif.spec.program.opcodes import MUXES, Code

__all__ = ["Layer", "first_layer", "instance_of", "main"]

SIZE, WINDOW, CHANNELS = 10, 3, 4
PLACES = SIZE - WINDOW + 1

KERNEL = f"""\
program = "window.bin"
index_space = [{PLACES}, {PLACES}]

[[inputs]]
name = "x"
shape = [{SIZE}, {SIZE}]
type = "u6.5"
map = ["[1] + 0..{WINDOW - 1}", "[0] + 0..{WINDOW - 1}"]

[[outputs]]
name = "y"
shape = [{CHANNELS}, {PLACES}, {PLACES}]
type = "u10.3"                 # holds those of all channels, u6.-1, u6.0 and u6.3
map = ["all", "[1]", "[0]"]
"""


class Layer(NamedTuple):
    """The layer ``unrolled``, from all pixels to all outputs, and the program of one ``window``."""

    unrolled: Program
    window: Program


def first_layer(program: Program) -> Layer:
    """Return the first layer of p08: its ReLUs, in the order of channels, lines and columns."""
    found: dict[tuple[object, ...], list[tuple[int, int]]] = {}
    for op in program.ops:
        if op.code != Code.RELU:
            continue
        pixels, constants = _read(program, op.index)
        # Channels differ in the constants that they add, or in their types or numbers of ops.
        found.setdefault((op.type, constants), []).append((min(pixels), op.index))
    channels = sorted(found.values(), key=lambda one: one[0][1])
    if [len(one) for one in channels] != [PLACES * PLACES] * CHANNELS:
        raise ValueError(f"these are not {CHANNELS} channels: {[len(one) for one in channels]}")
    relus = [index for one in channels for _, index in sorted(one)]
    first = relus[:: PLACES * PLACES]
    window = [line * SIZE + column for line in range(WINDOW) for column in range(WINDOW)]
    return Layer(_cut(program, relus, range(SIZE * SIZE)), _cut(program, first, window))


def _read(program: Program, index: int) -> tuple[set[int], tuple[int, ...]]:
    """Return the inputs that an op depends on, and the constants of its biases."""
    ops = [program.ops[at] for at in cone(program, [index])]
    return {op.id0 for op in ops if op.code == Code.INPUT}, tuple(op.data for op in ops if op.code == Code.ADD_CONST)


def _cut(program: Program, outputs: Sequence[int], inputs: Sequence[int]) -> Program:
    """Return the part of a program on which the ops ``outputs`` depend, with only the inputs ``inputs``."""
    kept = {old: new for new, old in enumerate(cone(program, outputs))}
    ports = {old: new for new, old in enumerate(inputs)}
    rows = []
    for old in kept:
        op = program.ops[old]
        assert op.code not in MUXES, "its condition is an operand, too"
        id0 = ports[op.id0] if op.code == Code.INPUT else kept.get(op.id0, -1)
        rows.append((op.code, id0, kept.get(op.id1, -1), op.data, op.type))
    shifts = [int(program.inp_shift[old]) for old in inputs]
    return Program.build(rows, [(kept[index], 0, 0) for index in outputs], inp_shift=shifts)


def instance_of(layer: Layer, folder: Path) -> KernelInstance:
    """Return the layer as a kernel of its window. Raises ``ValueError`` if it is not equal to the layer."""
    (folder / "window.bin").write_bytes(write_binary(layer.window, "v1"))
    (folder / "layer.toml").write_text(KERNEL)
    instance = read_own_kernel(folder / "layer.toml")
    record = dais_verif.diff(layer.unrolled, unfold(instance), prove=True)
    if record.verdict is not Verdict.PASS:
        raise ValueError(f"the kernel is not equal to the layer: {record.message}")
    return instance


class _Row(NamedTuple):
    title: str
    design: Program | Machine
    cycles: str
    bits: int


def _rows(layer: Layer, instance: KernelInstance) -> Iterator[_Row]:
    yield _Row("unrolled", layer.unrolled, "1, of all pixels at once", 0)
    stream = stream_form(instance)
    _require(check_facts(instance, stream).verdict)
    bits = stream.line_bits + stream.window_bits
    yield _Row("stream", stream.machine, f"{stream.beats}, the first output after {stream.latency}", bits)
    for parallel in (1, 2, 4):
        form = memory_form(instance, parallel)
        _require(check_facts(instance, form).verdict)
        title = "memory" if parallel == 1 else f"memory, {parallel} members side by side"
        yield _Row(title, form.machine, f"{form.facts.latency}, and {SIZE * SIZE} to load", form.facts.bits)


def _require(verdict: Verdict) -> None:
    if verdict is not Verdict.PASS:
        raise ValueError(f"a stated fact of a form does not hold: {verdict}")


def table(layer: Layer, instance: KernelInstance, targets: Sequence[str]) -> str:
    """Return the forms and their costs as a Markdown table."""
    titles = ["form", "cycles of an image", "memory, bits"]
    titles += [f"{target}: {kind}" for target in targets for kind in ("LUTs", "flip-flops", "RAM cells")]
    lines = ["| " + " | ".join(titles) + " |", "|---|---|" + "---:|" * (len(titles) - 2)]
    for row in _rows(layer, instance):
        cells = [row.title, row.cycles, f"{row.bits:,}"]
        for target in targets:
            kinds = dais_verif.synthesize(row.design, target).counts
            ram = kinds.get("BRAM", 0) + kinds.get("LUTRAM", 0)
            cells += [f"{n:,}" for n in (kinds.get("LUT", 0), kinds.get("FF", 0), ram)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure the forms, and write and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--target", action="append", help="target of synth; may be repeated; default: ice40 and xilinx")
    options = parser.parse_args()
    layer = first_layer(load(CORPUS / "p08_conv_tiny" / "prog.v1.bin"))
    with tempfile.TemporaryDirectory() as folder:
        instance = instance_of(layer, Path(folder))
    found = table(layer, instance, options.target or ["ice40", "xilinx"])
    options.output.write_text(found)
    print(found, end="")


if __name__ == "__main__":
    main()
