"""Make the example programs: `make examples`, or `python examples/make_examples.py`.

Each is built with ``Program.build`` from rows ``(opcode, id0, id1, data, (k, i, f))`` and written in one layout.
"""

from __future__ import annotations

from pathlib import Path

from dais_verif.spec.program import Program, write_binary

HERE = Path(__file__).parent


def quantised_mac() -> Program:
    """Return ReLU(x0 + 3*x1 - x2/2 - 1.25), cut to 6 bits, as in a neuron of a quantised network."""
    s = (1, 3, 2)  # inputs: signed, 3 integer bits, 2 fractional bits
    ops = [
        (-1, 0, -1, 0, s),
        (-1, 1, -1, 0, s),
        (-1, 2, -1, 0, s),
        (0, 1, 1, 1, (1, 5, 2)),  # x1 + x1 * 2 = 3 * x1
        (0, 0, 3, 0, (1, 5, 2)),
        (1, 4, 2, -1, (1, 6, 3)),  # - x2 / 2
        (4, 5, -1, -10, (1, 6, 3)),  # - 10 * 2**-3
        (2, 6, -1, 0, (0, 5, 1)),  # ReLU, then 5 integer and 1 fractional bits
    ]
    return Program.build(ops, [(7, 0, 0)], inp_shift=[0, 0, 0])


def sort_two() -> Program:
    """Return minimum and maximum of two values of different types, by a subtraction and two multiplexers."""
    ops = [
        (-1, 0, -1, 0, (1, 4, 1)),
        (-1, 1, -1, 0, (0, 4, 2)),
        (1, 0, 1, 0, (1, 5, 2)),  # negative where x0 < x1
        (6, 0, 1, 2, (1, 4, 2)),  # MSB of op 2 set: x0, else x1: the minimum
        (6, 1, 0, 2, (1, 4, 2)),  # the maximum
    ]
    return Program.build(ops, [(3, 0, 0), (4, 0, 0)], inp_shift=[0, 0])


def lookup_square() -> Program:
    """Return the square of a signed 4-bit input from a table, the negated product, and the XOR of both, which is 0."""
    ops = [
        (-1, 0, -1, 0, (1, 3, 0)),
        (8, 0, -1, 0, (0, 7, 0)),  # table 0, first entry for the smallest value
        (7, 0, 0, 0, (1, 7, 0)),
        (10, 1, 2, 2 << 56, (1, 7, 0)),
    ]
    squares = [raw * raw for raw in range(-8, 8)]
    return Program.build(ops, [(1, 0, 0), (2, 0, 1), (3, 0, 0)], inp_shift=[0], tables=[squares])


EXAMPLES = [(quantised_mac, "headerless"), (sort_two, "v1"), (lookup_square, "v1")]

if __name__ == "__main__":
    for make, layout in EXAMPLES:
        path = HERE / f"{make.__name__}.bin"
        path.write_bytes(write_binary(make(), layout))
        print(f"{path.name}: {layout}, {make().n_ops} ops")
