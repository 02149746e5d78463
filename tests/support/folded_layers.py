"""Dense layers folded over several cycles, as machines, and the same layers unfolded, as programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from dais_verif.spec.machine import Machine, MachineBuilder
from dais_verif.spec.program import FixedType, Program

__all__ = ["folded", "frame_of", "layer_weights", "multiplied", "shifted"]

X, W, ACC, BIT = FixedType(1, 7, 0), FixedType(1, 3, 0), FixedType(1, 19, 0), FixedType(0, 1, 0)


def layer_weights(rows: int, columns: int, seed: int = 0) -> list[list[int]]:
    """Return weights of four bits, one row per output; about a third of them are 0."""
    rng = Random(seed)
    return [[rng.choice((0, 0, 0, 0, 0, *range(-7, 8))) for _ in range(columns)] for _ in range(rows)]


def folded(weights: Sequence[Sequence[int]], times: int, *, cleared: bool = True) -> Machine:
    """Return a layer as a machine whose frame has ``times`` cycles; each cycle multiplies ``1 / times`` of the inputs.

    The inputs are stored in cycle 0, which uses the ports themselves. Accumulators restart in cycle 0 if ``cleared``.
    """
    rows, columns = len(weights), len(weights[0])
    some = columns // times
    made = MachineBuilder()
    x, en = made.input("x", [X] * columns), made.input("en", BIT)
    words = [weights[r][t * some + j] for t in range(times) for r in range(rows) for j in range(some)]
    table = made.register("weights", [W] * (rows * columns), initial=words)
    bits = max((times - 1).bit_length(), 1)
    count = made.register("count", FixedType(0, bits, 0), initial=0)
    kept = made.register("kept", [X] * columns, initial=0)
    sums = made.register("sums", [ACC] * rows, initial=0, output=True)
    control = made.block("control", _control(bits, times, cleared))
    made.connect(count, control.inputs[0])
    made.connect(en, control.inputs[1])
    made.connect(control.outputs[0], count, enable=en)
    made.connect(x, kept, enable=control.outputs[1])
    mac = made.block("mac", _mac(rows, some))
    chosen = made.wire("chosen", [X] * some)
    later = made.wire("later", [X] * some)
    made.connect(kept[0:some].at(count), later)
    made.connect(x[0:some], chosen, enable=control.outputs[2], otherwise=later)
    made.connect(chosen, mac.inputs[0:some])
    made.connect(table[0 : rows * some].at(count), mac.inputs[some : some + rows * some])
    made.connect(sums, mac.inputs[some + rows * some : some + rows * some + rows])
    made.connect(control.outputs[3], mac.inputs[some + rows * some + rows])
    made.connect(mac.outputs, sums, enable=en)
    return made.build()


def _control(bits: int, times: int, cleared: bool) -> Program:
    full = 1 << bits
    tables = [
        [(n + 1) % times for n in range(full)],
        [int(n == 0) for n in range(full)],
        [int(n == 0 and cleared) for n in range(full)],
    ]
    ops: list[Any] = [(-1, 0, -1, 0, (0, bits, 0)), (-1, 1, -1, 0, (0, 1, 0))]
    ops += [(8, 0, -1, t, (0, bits if t == 0 else 1, 0)) for t in range(3)]
    ops.append((10, 3, 1, 0, (0, 1, 0)))
    return Program.build(ops, [(2, 0, 0), (5, 0, 0), (3, 0, 0), (4, 0, 0)], inp_shift=[0, 0], tables=tables)


def _mac(rows: int, some: int) -> Program:
    """Return one chain of multiply-accumulates per row; it starts at the row's sum, or at 0 if the last input is 1."""
    n_in = some + rows * some + rows + 1
    kinds = [X] * some + [W] * (rows * some) + [ACC] * rows + [BIT]
    ops: list[Any] = [(-1, j, -1, 0, tuple(kind)) for j, kind in enumerate(kinds)]
    ops.append((5, -1, -1, 0, tuple(ACC)))
    zero, begin = n_in, n_in - 1
    outputs = []
    for row in range(rows):
        ops.append((6, zero, some + rows * some + row, begin, tuple(ACC)))
        total = len(ops) - 1
        for j in range(some):
            ops.append((7, j, some + row * some + j, 0, (1, 11, 0)))
            ops.append((0, total, len(ops) - 1, 0, tuple(ACC)))
            total = len(ops) - 1
        outputs.append((total, 0, 0))
    return Program.build(ops, outputs, inp_shift=[0] * n_in)


def shifted(weights: Sequence[Sequence[int]]) -> Program:
    """Return the unfolded layer: shifts and adds of signed digits, summed in a tree."""
    columns = len(weights[0])
    ops: list[Any] = [(-1, j, -1, 0, tuple(X)) for j in range(columns)]
    ops.append((5, -1, -1, 0, tuple(ACC)))
    outputs = []
    for row in weights:
        level = []
        for j, weight in enumerate(row):
            digits = _digits(weight)
            if not digits:
                continue
            at = columns
            for shift, negative in digits:
                ops.append((int(negative), at, j, shift, tuple(ACC)))
                at = len(ops) - 1
            level.append(at)
        while len(level) > 1:
            pairs = [level[n : n + 2] for n in range(0, len(level), 2)]
            level = []
            for pair in pairs:
                if len(pair) == 2:
                    ops.append((0, *pair, 0, tuple(ACC)))
                level.append(len(ops) - 1 if len(pair) == 2 else pair[0])
        outputs.append((level[0] if level else columns, 0, 0))
    return Program.build(ops, outputs, inp_shift=[0] * columns)


def _digits(weight: int) -> list[tuple[int, bool]]:
    """Return the signed digits of ``weight`` as (power of two, negative); no two digits are adjacent."""
    found, shift = [], 0
    while weight:
        if weight & 1:
            digit = 2 - (weight & 3)
            found.append((shift, digit < 0))
            weight -= digit
        weight >>= 1
        shift += 1
    return found


def multiplied(weights: Sequence[Sequence[int]]) -> Program:
    """Return the unfolded layer: products with constants, each row summed in one op."""
    columns = len(weights[0])
    ops: list[Any] = [(-1, j, -1, 0, tuple(X)) for j in range(columns)]
    constants = {}
    for weight in sorted({w for row in weights for w in row}):
        constants[weight] = len(ops)
        ops.append((5, -1, -1, weight, tuple(W)))
    terms: list[tuple[int, int, int]] = []
    outputs = []
    for row in weights:
        products = []
        for j, weight in enumerate(row):
            ops.append((7, j, constants[weight], 0, (1, 11, 0)))
            products.append(len(ops) - 1)
        ops.append((11, len(terms), len(products), 0, tuple(ACC)))
        terms += [(product, 0, 0) for product in products]
        outputs.append((len(ops) - 1, 0, 0))
    return Program.build(ops, outputs, inp_shift=[0] * columns, terms=terms)


def frame_of(times: int, rows: int, folder: Path) -> Path:
    """Write the frame of a folded layer to a file, and return its path."""
    path = folder / "frame.toml"
    path.write_text(
        f'cycles = {times}\ninputs = [{{ signal = "x", cycle = 0 }}]\n'
        f'outputs = [{{ signal = "sums", cycle = {times} }}]\nheld.en = 1\nstall.en = 0\n'
    )
    return path
