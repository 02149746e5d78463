"""Many pipelines in one simulation, one vector per clock cycle, compared with the golden model and a queue.

All instances share the control signals, and each has its own slice of the ports, so that a simulator is built once for
all of them. The model of a pipeline is written here independently: a queue as long as its latency, which advances when
it is enabled, and whose valid bits a reset clears.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from dais_verif.golden import run_raw
from dais_verif.hardware.emitter import Pipeline, PipelineOptions, emit_pipeline
from dais_verif.simulation import launch
from dais_verif.simulation.simulators import icarus, verilator
from dais_verif.simulation.simulators.simulator import BuildOptions
from dais_verif.simulation.testbench.packed_rows import bits_of_row
from dais_verif.simulation.testbench.packing import pack_inputs, pack_outputs
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch
from dais_verif.spec.program.ports import ports_of

__all__ = ["Cycle", "Instance", "Seen", "stream", "streaming"]

_TIMEOUT = 600
_CONTROL = ("clk", "rst", "en", "in_valid", "out_valid", "model_inp", "model_out")


class Cycle(NamedTuple):
    """The values that are driven before one rising edge. ``row`` is the index of the vector."""

    row: int
    en: int = 1
    in_valid: int = 1
    rst: int = 0


@dataclass(frozen=True)
class Instance:
    """A pipeline and the vectors for it; ``edit`` seeds a fault in its text."""

    program: Program
    batch: Batch
    options: PipelineOptions
    edit: Callable[[str], str] = str

    def pipeline(self, top: str = "model") -> Pipeline:
        return emit_pipeline(self.program, top, self.options)


class Seen(NamedTuple):
    """The result of a run: the number of output words and valid bits compared, and a line for each wrong one."""

    compared: int
    wrong: list[str]


def streaming(rows: int, latency: int) -> list[Cycle]:
    """Return a vector in every cycle, then ``latency`` cycles for the last one to come out."""
    return [Cycle(row) for row in range(rows)] + [Cycle(0, in_valid=0)] * latency


def stream(instances: Sequence[Instance], cycles: Sequence[Cycle], simulator: str, folder: Path) -> Seen:
    """Drive ``cycles`` through all ``instances`` and judge each of them in every cycle."""
    folder.mkdir(parents=True, exist_ok=True)
    inputs, outputs = zip(*map(_words, instances), strict=True)
    pipelines = [one.pipeline(f"model_{n}") for n, one in enumerate(instances)]
    texts = [one.edit(pipeline.text) for one, pipeline in zip(instances, pipelines, strict=True)]
    (folder / "top.v").write_text("\n".join([*texts, _top(instances)]))
    lines = [f"{c.rst:d} {c.en:d} {c.in_valid:d} {''.join(words[c.row] for words in reversed(inputs))}" for c in cycles]
    (folder / "cycles.txt").write_text("\n".join(lines) + "\n")
    sources, build = [folder / "top.v"], folder / "build"
    build.mkdir()
    if simulator == "icarus":
        simulation = icarus.build(sources, "top", build, BuildOptions(timeout=_TIMEOUT))
    else:
        simulation = verilator.build(sources, "top", build, BuildOptions(ports=_CONTROL, timeout=_TIMEOUT))
    env = {"PYTHONPATH": str(Path(__file__).parents[1]), "STREAMING": str(folder.resolve())}
    results = launch.run(simulation, "support.streaming_bench", folder, env=env, timeout=_TIMEOUT)
    assert not launch.failed_tests(results), (folder / "simulation.log").read_text()
    found = [line.split() for line in (folder / "outputs.txt").read_text().splitlines()]
    assert len(found) == len(cycles)
    compared, wrong, end = 0, [], len(found[0][1])
    for n, (one, words) in enumerate(zip(instances, outputs, strict=True)):
        width = len(words[0])
        own = [(valid[-1 - n], word[end - width : end]) for valid, word in found]
        end -= width
        judged, lines = _judge(one, pipelines[n].latency, cycles, words, own)
        compared += judged
        wrong += [f"instance {n} ({one.options}): {line}" for line in lines]
    return Seen(compared, wrong)


def _judge(
    one: Instance, latency: int, cycles: Sequence[Cycle], words: Sequence[str], found: Sequence[tuple[str, str]]
) -> Seen:
    compared, wrong = 0, []
    queue: deque[tuple[int | None, int]] = deque([(None, 0)] * latency)
    for number, (cycle, (valid, word)) in enumerate(zip(cycles, found, strict=True)):
        row, wanted_valid = queue[-1]
        if row is not None:
            compared += 1
            if word != words[row]:
                wrong.append(f"cycle {number}, vector {row}: {word}, must be {words[row]}")
        if one.options.valid:
            compared += 1
            if valid != f"{wanted_valid:d}":
                wrong.append(f"cycle {number}: out_valid is {valid}, must be {wanted_valid:d}")
        if cycle.en or not one.options.enable:
            queue.appendleft((cycle.row, cycle.in_valid))
            queue.pop()
        if cycle.rst and one.options.reset:
            queue = deque((row, 0) for row, _ in queue)
    return Seen(compared, wrong)


def _words(one: Instance) -> tuple[list[str], list[str]]:
    """Return the bits of both ports for every vector, most significant first."""
    ports, rows = ports_of(one.program), one.batch.rows
    raw = run_raw(one.program, one.batch, check=False)
    packed = pack_inputs(one.batch, ports), pack_outputs(raw, ports, rows)
    bits = ports.input_bits, ports.output_bits
    ins, outs = ([bits_of_row(w, row, n) for row in range(rows)] for w, n in zip(packed, bits, strict=True))
    return ins, outs


def _top(instances: Sequence[Instance]) -> str:
    """Return a module that instantiates all pipelines; valid bits of those that have none are 0."""
    lines, at_in, at_out = [], 0, 0
    for n, one in enumerate(instances):
        ports, options = ports_of(one.program), one.options
        ins, outs = max(ports.input_bits, 1), max(ports.output_bits, 1)
        names = ["clk", *(["rst"] * options.reset), *(["en"] * options.enable), *(["in_valid"] * options.valid)]
        pins = [f".{name}({name})" for name in names]
        pins += [f".out_valid(out_valid[{n}])"] * options.valid
        pins += [f".model_inp(model_inp[{at_in} +: {ins}])", f".model_out(model_out[{at_out} +: {outs}])"]
        lines.append(f"  model_{n} instance_{n} ({', '.join(pins)});")
        if not options.valid:
            lines.append(f"  assign out_valid[{n}] = 1'b0;")
        at_in, at_out = at_in + ins, at_out + outs
    head = [
        "/* verilator lint_off UNUSEDSIGNAL */",
        "module top (input clk, input rst, input en, input in_valid,",
        f"  input [{at_in - 1}:0] model_inp, output [{at_out - 1}:0] model_out,",
        f"  output [{len(instances) - 1}:0] out_valid);",
    ]
    return "\n".join([*head, *lines, "endmodule", ""])
