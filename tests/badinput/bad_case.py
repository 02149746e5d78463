"""The type of a bad-input case, and the files that most cases start from."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pytest

from dais_verif.spec.program import Program, write_binary

Setup = Callable[[Path, pytest.MonkeyPatch], object]


class Case(NamedTuple):
    """A command line, run in a folder with ``files``, that ends with ``verdict`` and a message of one line."""

    arguments: tuple[str, ...]
    files: Mapping[str, bytes] = MappingProxyType({})
    verdict: str = "INVALID_INPUT"
    #: Anything that files cannot express, done before the command.
    setup: Setup | None = None


def words(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}i", *values)


#: An op as words of v1: opcode, id0, id1, data low, data high, signed, i, f.
INPUT = (-1, 0, -1, 0, 0, 1, 3, 0)


def v1(
    *ops: Sequence[int],
    inp_shift: Sequence[int] = (0, 0),
    output: Sequence[int] = (0, 0, 0),
    tables: Sequence[Sequence[int]] = (),
) -> bytes:
    """Return a v1 file of two inputs and one output, with ``ops`` after an input op; nothing is validated."""
    everything = [INPUT, *ops]
    header = words(1, 0, len(inp_shift), 1, len(everything), len(tables))
    body = words(*inp_shift, *output) + b"".join(words(*op) for op in everything)
    return header + body + words(*map(len, tables)) + b"".join(words(*table) for table in tables)


#: One output: the sum of two s4.0 inputs.
SUM = Program.build(
    [(-1, 0, -1, 0, (1, 3, 0)), (-1, 1, -1, 0, (1, 3, 0)), (0, 0, 1, 0, (1, 4, 0))], [(2, 0, 0)], inp_shift=[0, 0]
)
#: The same sum in a type that is one bit too narrow.
NARROW = Program.build(
    [(-1, 0, -1, 0, (1, 3, 0)), (-1, 1, -1, 0, (1, 3, 0)), (0, 0, 1, 0, (1, 3, 0))], [(2, 0, 0)], inp_shift=[0, 0]
)
#: A constant of 70 bits, and a constant 1 times 2**2000.
WIDE = Program.build([(-1, 0, -1, 0, (1, 69, 0)), (5, -1, -1, 1, (0, 1, 0))], [(0, 0, 0)], inp_shift=[0, 0])
HUGE = Program.build([(5, -1, -1, 1, (0, 1, 0))], [(-1, 0, 0), (0, 2000, 0)], inp_shift=[0, 0])

GOOD = write_binary(SUM, "v1")


def npy(array: object) -> bytes:
    import io

    file = io.BytesIO()
    np.save(file, np.asarray(array))
    return file.getvalue()


ROWS = npy([[1.0, 2.0], [-3.0, 7.0]])
