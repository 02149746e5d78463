"""``python -m bench.machines``: the golden model of machines and alkaid's emulator, measured alternately."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

from bench.big_machines import big_machine
from bench.coverage import table
from bench.networks import INPUT, Value, Writer
from bench.rounds import Spread, interleaved, ratio
from dais_verif.base.files import write_atomically
from dais_verif.golden.machine_batch import run_machine
from dais_verif.spec.machine import Machine, load_machine
from dais_verif.spec.machine.alirfsm import machine_json
from dais_verif.spec.machine.builder import MachineBuilder
from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.opcodes import Code

__all__ = ["dense", "fir", "main", "measured"]

ROOT = Path(__file__).parents[1]
FSM = Path(os.environ.get("DAIS_FSM") or ROOT / "tests" / "fsm")
GOAL = 1000.0

#: Sequences that ours runs at once, and cycles of each. alkaid's emulator runs one sequence, and only a few cycles of
#: large machines, which take it seconds per cycle.
SEQUENCES, CYCLES, FEW = 1024, 256, 4

Inputs = Mapping[str, NDArray[np.float64]]

_BIT = FixedType(0, 1, 0)
_WEIGHT, _SUM, _RESULT = FixedType(1, 1, 6), FixedType(1, 12, 4), FixedType(1, 5, 4)


def fir(taps: int = 64) -> Machine:
    """Return a filter of ``taps`` taps: a delay line, products with constants, and the sum in a register."""
    writer, made = Writer(taps), MachineBuilder()
    rng = writer.random
    line = [writer.quantised(-1, tap, INPUT) for tap in range(taps)]
    total = _total(writer, [_constant(writer, value, rng.randint(-64, 63)) for value in line])
    result = writer.quantised(Code.QUANT, total.op, _SUM)
    x, y = made.input("x", INPUT), made.register("y", _SUM, initial=0, output=True)
    following, delay = made.wire("following", [INPUT] * taps), made.register("line", [INPUT] * taps, initial=0)
    block = made.block("fir", _program(writer, [result], taps))
    made.connect(x, following[0])
    made.connect(delay[: taps - 1], following[1:taps])
    made.connect(following, delay)
    made.connect(delay, block.inputs)
    made.connect(block.outputs, y)
    return made.build()


def dense(size: int = 64) -> Machine:
    """Return a dense layer of ``size`` inputs and outputs, one output per cycle, with weights in a constant memory."""
    made, index = MachineBuilder(), FixedType(0, (size - 1).bit_length(), 0)
    rst, x = made.input("rst", _BIT), made.input("x", [INPUT] * size)
    count = made.register("count", index, initial=0, reset=rst)
    rng = np.random.default_rng(size)
    weights = made.register(
        "weights", [_WEIGHT] * (size * size), initial=(rng.integers(-128, 128, size * size) / 64).tolist()
    )
    y = made.register("y", [_RESULT] * size, initial=0, reset=rst, output=True)

    writer = Writer(0)
    more = writer.append(Code.ADD_CONST, writer.quantised(-1, 0, index).op, -1, 1, 1, size, 0)
    control = made.block("control", _program(writer, [writer.quantised(Code.QUANT, more.op, index)], 1))
    writer = Writer(1)
    given = [writer.quantised(-1, place, INPUT if place < size else _WEIGHT) for place in range(2 * size)]
    total = _total(writer, [writer.product(*pair) for pair in zip(given[:size], given[size:], strict=True)])
    dot = made.block("dot", _program(writer, [writer.quantised(Code.QUANT, total.op, _RESULT)], 2 * size))

    made.connect(count, control.inputs)
    made.connect(control.outputs, count)
    made.connect(x, dot.inputs[:size])
    made.connect(weights[:size].at(count, size), dot.inputs[size:])
    made.connect(dot.outputs, y[0].at(count))
    return made.build()


def _constant(writer: Writer, value: Value, factor: int) -> Value:
    """Return ``value`` times an integer, as a sum of shifted values."""
    found, places = None, [bit for bit in range(8) if abs(factor) >> bit & 1]
    for bit in places:
        found = (
            writer.added(found, value, 0, bit) if found else value if bit == 0 else writer.added(value, value, 0, bit)
        )
    return found or value


def _total(writer: Writer, values: list[Value]) -> Value:
    while len(values) > 1:
        odd = values[len(values) // 2 * 2 :]
        values = [writer.added(a, b) for a, b in zip(values[::2], values[1::2], strict=False)] + odd
    return values[0]


def _program(writer: Writer, found: list[Value], n_in: int) -> Program:
    return Program.build(writer.rows, [(value.op, 0, 0) for value in found], inp_shift=[0] * n_in)


def inputs_of(machine: Machine, sequences: int, cycles: int) -> dict[str, NDArray[np.float64]]:
    """Return random values that the types hold, with few resets, so that the machine does not stay in reset."""
    rng, found = np.random.default_rng(0), {}
    resets = {signal.reset.signal for signal in machine.registers if signal.reset}
    for signal in machine.inputs:
        array = np.empty((sequences, cycles, len(signal.types)))
        for place, kind in enumerate(signal.types):
            raw = rng.integers(kind.raw_min, kind.raw_max + 1, (sequences, cycles))
            array[:, :, place] = raw * 2.0**-kind.f
        if signal.name in resets:
            array[:] = rng.random(array.shape) < 0.02
        found[signal.name] = array
    return found


class Measured(NamedTuple):
    """Seconds per sequence and cycle, one for each round, and the number of values compared before."""

    name: str
    theirs: list[float]
    ours: list[float]
    unchecked: list[float]
    compared: int

    @property
    def times(self) -> Spread:
        """Return how many times as fast ours is, with promises checked."""
        return ratio(self.theirs, self.ours)


def measured(name: str, machine: Machine, data: bytes, *, sequences: int, cycles: int, rounds: int) -> Measured:
    """Measure both sides alternately in this process; ours is a whole ``run_machine``, from float64 to float64.

    Raises ``ClickException`` if the outputs of the first sequence are not alkaid's.
    """
    from alkaid.stateful.fsm import FSM as Theirs
    from alkaid.stateful.fsm import FSMEmu

    inputs = inputs_of(machine, sequences, cycles)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "fsm.json").write_bytes(data)
        fsm = Theirs.load(Path(folder) / "fsm.json")
    large = sum(block.program.n_ops for block in machine.blocks.values()) > 10_000
    some = min(cycles, FEW) if large else cycles
    one = {signal: array[0, :some] for signal, array in inputs.items()}

    def theirs() -> Any:
        return FSMEmu(fsm).run(one, scheduled=False)  # a new emulator has its registers as at power-up

    def ours(check: bool) -> Callable[[], object]:
        return lambda: run_machine(machine, inputs, check=check)

    expected, found, compared = theirs(), run_machine(machine, inputs, after=True).outputs, 0
    for signal, array in found.items():
        if not np.array_equal(array[0, :some], expected[signal]):
            raise click.ClickException(f"{name}: {signal} is not what alkaid's emulator gives")
        compared += expected[signal].size
    functions: dict[str, Callable[[], object]] = {"theirs": theirs, "ours": ours(True), "unchecked": ours(False)}
    seconds = interleaved(functions, rounds, of_cpu=True)
    each = {side: [s / (some if side == "theirs" else cycles * sequences) for s in seconds[side]] for side in seconds}
    return Measured(name, each["theirs"], each["ours"], each["unchecked"], compared)


def subjects(quick: bool) -> list[tuple[str, Machine, bytes]]:
    """Return the machines to measure: those of the folder of real machines, and larger ones."""
    found = []
    for path in sorted(FSM.glob("*/fsm.json.gz")):
        found.append((path.parent.name, load_machine(path), path.read_bytes()))
    if not found:
        raise click.ClickException(f"no machine in {FSM}; DAIS_FSM names the folder")
    big = (1_000, 200) if quick else (50_000, 5_000)
    larger = {
        "FIR of 64 taps": fir(),
        "dense 64 to 64, folded 64 times": dense(),
        "{:,} ops, {:,} registers".format(*big): big_machine(*big),
    }
    return found + [(name, machine, machine_json(machine)) for name, machine in larger.items()]


def markdown(results: list[Measured], sequences: int) -> str:
    """Return the table of the measurements, each with whether it meets the goal."""
    rows = []
    for one in results:
        times, unchecked = one.times, ratio(one.theirs, one.unchecked)
        rows.append(
            [
                one.name,
                f"{Spread.of(one.theirs).median * 1e6:,.0f}",
                f"{Spread.of(one.ours).median * 1e9:,.1f}",
                f"{Spread.of(one.unchecked).median * 1e9:,.1f}",
                f"{times.median:,.0f} ({times.low:,.0f}..{times.high:,.0f})",
                f"{unchecked.median:,.0f}",
                "met" if times.low >= GOAL else "NOT MET",
            ]
        )
    head = [
        "machine",
        "FSMEmu, µs",
        f"ours, {sequences:,} sequences, ns",
        "unchecked, ns",
        "times as fast",
        "unchecked",
        f"goal: {GOAL:,.0f} times",
    ]
    return table(head, rows)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--rounds", type=click.IntRange(1), default=7, show_default=True, help="Rounds to measure.")
@click.option("--sequences", type=click.IntRange(1), default=SEQUENCES, show_default=True, help="Sequences of ours.")
@click.option("--cycles", type=click.IntRange(1), default=CYCLES, show_default=True, help="Cycles per sequence.")
@click.option("--quick", is_flag=True, help="Few cycles, one round: only checks that all works.")
@click.option("--json", "as_json", is_flag=True, help="Print all times as JSON.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the table to this file, too.")
def main(rounds: int, sequences: int, cycles: int, quick: bool, as_json: bool, output: Path | None) -> None:
    """Measure the golden model of machines and alkaid's emulator, in CPU seconds per sequence and cycle.

    All outputs of the first sequence are compared first. Run nothing else on the machine meanwhile.
    """
    if quick:
        rounds, sequences, cycles = 1, min(sequences, 16), min(cycles, 8)
    results = []
    for name, machine, data in subjects(quick):
        results.append(measured(name, machine, data, sequences=sequences, cycles=cycles, rounds=rounds))
    text = markdown(results, sequences)
    click.echo(json.dumps([one._asdict() for one in results], indent=1) if as_json else text)
    if output is not None:
        write_atomically(output, text.encode())


if __name__ == "__main__":
    main()
