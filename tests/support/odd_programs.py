"""Programs of unusual shapes: without inputs, ops, bits or outputs, constant, wide, large."""

from __future__ import annotations

from dataclasses import replace

from dais_verif.spec.program import Program
from support.programs import every_opcode

__all__ = ["ODD_PROGRAMS"]

S8, U8, NO_BITS, WIDE = (1, 7, 0), (0, 8, 0), (1, -1, 0), (1, 199, 100)
AND, OR, XOR = (operation << 56 for operation in range(3))


def build(rows: list[tuple[int, int, int, int, tuple[int, int, int]]], n_in: int = 1, **tables: object) -> Program:
    """Return a program in which each op has two outputs, the second one negated."""
    outputs = [(index, 0, neg) for index in range(len(rows)) for neg in (0, 1)]
    return Program.build(rows, outputs, inp_shift=[0] * n_in, **tables)  # type: ignore[arg-type]


def every_opcode_on_constants() -> Program:
    """Return a program with all opcodes that reads no input, so the emitter writes wires instead of the block."""
    program = every_opcode()
    columns = program.columns
    inputs = columns.code == -1
    changed = {
        "code": columns.code.copy(),
        "id0": columns.id0.copy(),
        "data": columns.data.copy(),
    }
    changed["code"][inputs], changed["id0"][inputs], changed["data"][inputs] = 5, -1, 3
    return replace(program, columns=columns._replace(**changed))


def large() -> Program:
    """Return a program with more ops than one block takes: chains across blocks, and a table and a constant for all."""
    rows = [(-1, 0, -1, 0, S8), (5, -1, -1, 3, (0, 2, 0)), (3, 0, -1, 0, (0, 3, 0)), (8, 2, -1, 0, (1, 3, 0))]
    for index in range(len(rows), 5_500):
        rows.append(((0, 10, 8, 6)[index % 4], index - 1, 1, 0, S8))
        if index % 4 == 1:
            rows[-1] = (10, index - 1, 3, XOR, S8)
        if index % 4 == 2:
            rows[-1] = (3, index - 1, -1, 0, (0, 3, 0))
        if index % 4 == 3:
            rows[-1] = (8, index - 1, -1, 0, (1, 3, 0))
    rows.append((6, len(rows) - 1, 0, 1, S8))
    return Program.build(
        rows, [(len(rows) - 1, 0, 0), (1_000, 0, 0)], inp_shift=[0], tables=[[1, -2, 3, -4, 5, -6, 7, -8]]
    )


ODD_PROGRAMS = {
    "every opcode on constants": every_opcode_on_constants(),
    "constants only": build([(5, -1, -1, -7, S8), (5, -1, -1, 7, U8), (0, 0, 1, 0, (1, 8, 0))], n_in=0),
    "largest constants": build([(5, -1, -1, -(1 << 63), (1, 63, 0)), (5, -1, -1, (1 << 63) - 1, (0, 63, 0))], n_in=0),
    "no ops": Program.build([], [], inp_shift=[]),
    "no outputs": Program.build([(-1, 0, -1, 0, S8)], [], inp_shift=[0]),
    "only constant outputs": Program.build([(-1, 0, -1, 0, S8)], [(-1, 0, 0), (-1, 3, 1)], inp_shift=[0]),
    "inputs not read": build([(5, -1, -1, 1, U8)], n_in=3),
    "one bit": build(
        [(-1, 0, -1, 0, (0, 1, 0)), (-1, 0, -1, 0, (1, 0, 0)), (9, 0, -1, 0, (0, 1, 0)), (9, 1, -1, 2, U8)]
    ),
    "no bits": build(
        [
            (-1, 0, -1, 0, NO_BITS),
            (-1, 0, -1, 0, S8),
            (0, 1, 0, 3, S8),
            (6, 1, 1, 0, S8),
            (9, 0, -1, 2, U8),
            (9, 0, -1, 1, NO_BITS),
            (9, 0, -1, 0, (1, 0, 0)),
            (9, 0, -1, 0, (0, 0, 0)),
            (7, 1, 0, 0, S8),
            (10, 0, 1, XOR, S8),
            (8, 0, -1, 0, S8),
            (2, 0, -1, 0, S8),
        ],
        tables=[[5]],
    ),
    "tables": build(
        [
            (-1, 0, -1, 0, (1, 3, 0)),
            (-1, 0, -1, 0, (0, 2, 0)),
            *((8, 0, -1, offset << 32 | table, S8) for offset in (-20, -2, 0, 2, 20) for table in range(4)),
            *((8, 1, -1, offset << 32 | table, S8) for offset in (-3, 0, 1) for table in range(4)),
        ],
        tables=[[], [-7], [1, 2, 3], list(range(-8, 8))],
    ),
    "unused table": build([(-1, 0, -1, 0, S8)], tables=[[1, 2]]),
    "wide": build(
        [
            (-1, 0, -1, 0, WIDE),
            (-1, 1, -1, 0, (0, 150, 30)),
            (7, 0, 1, 0, (1, 400, 130)),
            (0, 0, 1, -90, (1, 300, 150)),
            (-3, 2, -1, 0, (1, 120, -40)),
            (-2, 2, -1, 0, (0, 90, 3)),
            (-6, 0, 1, 95 << 32 | 1, (1, 60, 60)),
            (4, 0, -1, -(1 << 63), (1, 210, 110)),
            (10, 0, 1, OR | 3 << 32 | 7, (1, 250, 120)),
            (9, 1, -1, 2, U8),
            (-9, 1, -1, 2, U8),
        ],
        n_in=2,
    ),
    "far points": build(
        [
            (-1, 0, -1, 0, (1, -90, 100)),
            (-1, 1, -1, 0, (0, 80, -70)),
            (3, 0, -1, 0, U8),
            (3, 1, -1, 0, U8),
            (0, 0, 1, -160, (1, -78, 100)),
        ],
        n_in=2,
    ),
    "large": large(),
}
