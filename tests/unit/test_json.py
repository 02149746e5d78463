"""da4ml's JSON: types from intervals, lookup offsets, gzip, and what is refused."""

from __future__ import annotations

import copy
import gzip
import json
import math
import random
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.said import as_recorded, raises

from dais_verif.base.errors import ProgramError
from dais_verif.golden import run
from dais_verif.spec.program import Program, load
from dais_verif.spec.program.json_file import looks_like_json, read_json

#: A program of two inputs and their sum, as the parts shape, inp_shifts, out_idxs, out_shifts, out_negs, ops,
#: carry_size and adder_size.
SUM: list[Any] = [
    [2, 1],
    [0, -1],
    [2],
    [1],
    [True],
    [
        [0, -1, -1, 0, [-8.0, 7.0, 1.0], 0.0, 0.0],
        [1, -1, -1, 0, [0.0, 3.75, 0.25], 0.0, 0.0],
        [0, 1, 0, -2, [-8.0, 7.9375, 0.0625], 1.0, 9.0],
    ],
    -1,
    -1,
]


def read(tree: Any) -> Program:
    return read_json(json.dumps(tree).encode())


def changed(*path: Any, to: Any) -> list[Any]:
    """Return ``SUM`` with the item at ``path`` replaced."""
    tree = copy.deepcopy(SUM)
    place: Any = tree
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return tree


def with_table(data: Any, table: list[Any], operand: list[float], result: list[float]) -> list[Any]:
    """Return a program with a lookup on one input."""
    ops = [[0, -1, -1, 0, operand, 0.0, 0.0], [0, -1, 8, data, result, 0.0, 0.0]]
    return [[1, 1], [0], [1], [0], [False], ops, -1, -1, [{"spec": {}, "table": table}]]


def test_a_program_is_read() -> None:
    program = read(SUM)
    assert program.columns.code.tolist() == [-1, -1, 0]
    assert program.columns.data.tolist() == [0, 0, -2]
    assert [op.type for op in program.ops] == [(1, 3, 0), (0, 2, 2), (1, 3, 4)]
    assert program.outputs == ((2, 1, True),)
    assert program.inp_shift.tolist() == [0, -1]
    assert program.intervals == ((-8, 7), (0, 15), (-128, 127))
    assert program.origin.layout == "json"


#: The interval [min, max, step], its type, and its raw interval.
TYPES: list[tuple[list[float], tuple[int, int, int], tuple[int, int]]] = [
    ([-8, 7, 1], (1, 3, 0), (-8, 7)),
    ([-9, 7, 1], (1, 4, 0), (-9, 7)),
    ([-1, -1, 1], (1, 0, 0), (-1, -1)),
    ([-1, 0, 1], (1, 0, 0), (-1, 0)),
    ([-1, 1, 1], (1, 1, 0), (-1, 1)),
    ([-2.5, -0.25, 0.25], (1, 2, 2), (-10, -1)),
    ([-64, 32, 32], (1, 6, -5), (-2, 1)),
    ([-0.375, 0.25, 0.125], (1, -1, 3), (-3, 2)),
    ([-1.3, 1.3, 1], (1, 2, 0), (-2, 2)),
    ([0, 0, 1], (0, 0, 0), (0, 0)),
    ([0, 0, 0.125], (0, 0, 0), (0, 0)),
    ([0.0, -0.0, 3], (0, 0, 0), (0, 0)),
    ([0, 1, 1], (0, 1, 0), (0, 1)),
    ([1, 1, 1], (0, 1, 0), (1, 1)),
    ([4, 8, 4], (0, 4, -2), (1, 2)),
    ([0, 0.09375, 0.03125], (0, -3, 5), (0, 3)),
    ([0, 2**70, 2**69], (0, 71, -69), (0, 2)),
]


@pytest.mark.parametrize(("interval", "kind", "raw"), TYPES)
def test_smallest_type_holds_the_interval_rounded_outwards(interval: Any, kind: Any, raw: Any) -> None:
    program = read([[1, 0], [0], [], [], [], [[0, -1, -1, 0, interval, 0, 0]], -1, -1])
    assert (program.ops[0].type, program.intervals) == (kind, (raw,))


@pytest.mark.parametrize(
    ("operand", "offset"),
    [([-8, 7, 1], 0), ([-5, 7, 1], 3), ([-1.25, 0.5, 0.25], 3), ([0, 15, 1], 0), ([9, 15, 1], 9)],
)
def test_first_table_entry_belongs_to_the_minimum_of_the_interval(operand: list[float], offset: int) -> None:
    size = int((operand[1] - operand[0]) / operand[2]) + 1
    program = read(with_table(0, list(range(size)), operand, [0, 15, 1]))
    assert program.ops[1].data == offset << 32
    outputs = run(program, [[operand[0]], [operand[1]]])
    assert outputs.tolist() == [[0], [size - 1]]


def test_unsigned_data_words_are_read_in_twos_complement() -> None:
    assert read(changed(5, 2, 3, to=(1 << 64) - 2)).ops[2].data == -2


def test_a_column_of_zeros_has_an_infinite_step() -> None:
    """For a column of zeros, da4ml writes a constant 0 with an infinite step, because 0 lies on any grid."""
    ops = [[0, -1, -1, 0, [0.0, 9.0, 1.0], 0, 0], [-1, -1, 5, 0, [0.0, 0.0, math.inf], 0, 0]]
    ops += [[0, 1, 0, 0, [-0.0, 9.0, 1.0], 0, 0]]
    program = read([[1, 2], [0], [2, 1], [0, 0], [0, 0], ops, -1, -1])
    assert program.ops[1].type == (0, 0, 0)
    assert program.intervals == ((0, 9), (0, 0), (0, 9))


def test_an_interval_may_lie_beyond_what_a_double_holds() -> None:
    program = read(changed(5, 2, 4, to=[-(10**400), 0, 1]))
    assert program.ops[2].type == (1, 1329, 0)
    assert program.intervals is not None and program.intervals[2] == (-(10**400), 0)


def test_integral_floats_are_integers() -> None:
    assert read(changed(1, 1, to=-1.0)).hash == read(SUM).hash


def test_gzip_gives_the_same_program() -> None:
    data = json.dumps(SUM).encode()
    assert read_json(gzip.compress(data, mtime=0)).hash == read_json(data).hash


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"[[1", True),
        (b"  \n\t[", True),
        (b'{"a"', True),
        (b"\x1f\x8b\x08\x00rest", False),  # damaged
        (gzip.compress(b" [[1", mtime=0), True),
        (gzip.compress(b"\x01\0\0\0", mtime=0), False),
        (b"", False),
        (b"\x5b\0\0\0\0\0\0\0", False),  # 91 inputs
        (b"\x7b\0\0\0\0\0\0\0", False),  # 123 inputs
        (b" [\0\0", False),  # 23328 inputs
        (b"\x1f\x8b\0\0", False),  # 35615 inputs
        (b"\x01\0\0\0", False),
        (b"prog", False),
    ],
)
def test_looks_like_json(data: bytes, expected: bool) -> None:
    assert looks_like_json(data) is expected


DEEP = "[" * 100_000
#: Name: the text or tree, and words of the message.
REFUSED: dict[str, tuple[Any, str]] = {
    "empty list": ([], "list of 0"),
    "seven parts": (SUM[:7], "a list of 7"),
    "ten parts": ([*SUM, [], []], "a list of 10"),
    "object": ({"ops": []}, "ALIRModel"),
    "truncated text": (json.dumps(SUM)[:-30], "JSON: Expecting"),
    "not UTF-8": (b"[\xff\xfe]", "JSON: 'utf-8' codec can't decode"),
    "nested too deeply": (DEEP, "recursion"),
    "digits without end": ("[" + "9" * 5000 + "]", "JSON: Exceeds the limit"),
    "shape of three": (changed(0, to=[2, 1, 0]), "JSON shape: 3 values"),
    "shape is no list": (changed(0, to=5), "JSON shape:"),
    "shape negative": (changed(0, 0, to=-2), "JSON inp_shifts: 2 values"),
    "too few inp_shifts": (changed(1, to=[0]), "JSON inp_shifts: 1 value"),
    "inp_shift a string": (changed(1, 0, to="0"), "JSON inp_shifts[0] is '0'"),
    "inp_shift null": (changed(1, 0, to=None), "JSON inp_shifts[0] is None"),
    "inp_shift a fraction": (changed(1, 0, to=-0.5), "JSON inp_shifts[0] is -0.5"),
    "inp_shift 2**31": (changed(1, 0, to=1 << 31), "JSON inp_shifts[0] is 2147483648"),
    "inp_shift 2**64": (changed(1, 0, to=1 << 64), "JSON inp_shifts[0] is 18446744073709551616"),
    "too many outputs": (changed(2, to=[2, 2]), "JSON out_idxs: 2 values"),
    "out_shifts missing": (changed(3, to=[]), "JSON out_shifts: 0 values"),
    "out_negs no list": (changed(4, to=True), "JSON out_negs:"),
    "out_neg 2": (changed(4, 0, to=2), "output 0: out_neg is 2, must be 0 or 1"),
    "out_idx too large": (changed(2, 0, to=3), "output 0: out_idx is 3"),
    "ops no list": (changed(5, to={}), "JSON ops:"),
    "op no list": (changed(5, 1, to=7), "data, [min, max, step], ...]"),
    "op too short": (changed(5, 1, to=[0, -1, -1, 0]), "JSON op 1:"),
    "id0 a string": (changed(5, 2, 0, to="x"), "JSON op 2: id0 is 'x'"),
    "id0 2**63": (changed(5, 2, 0, to=1 << 63), "JSON op 2: id0 is 9223372036854775808"),
    "id1 fraction": (changed(5, 2, 1, to=1.5), "JSON op 2: id1 is 1.5"),
    "opcode 2**63": (changed(5, 2, 2, to=1 << 63), "JSON op 2: opcode is 9223372036854775808"),
    "opcode unknown": (changed(5, 2, 2, to=42), "op 2: opcode is 42"),
    "data infinite": (json.dumps(changed(5, 2, 3, to=float("inf"))), "JSON op 2: data is inf"),
    "data too small": (changed(5, 2, 3, to=-(1 << 63) - 1), "JSON op 2: data is -9223372036854775809"),
    "interval of two": (changed(5, 2, 4, to=[0, 1]), "JSON op 2: interval"),
    "interval null": (changed(5, 2, 4, to=None), "JSON op 2: interval"),
    "interval NaN": (changed(5, 2, 4, 0, to=float("nan")), "JSON op 2: interval"),
    "interval infinite": (changed(5, 2, 4, 1, to=float("inf")), "JSON op 2: interval"),
    "step infinite": (changed(5, 2, 4, 2, to=float("inf")), "JSON op 2: interval"),
    "steps down to infinity": (changed(5, 2, 4, to=[0, 0, -float("inf")]), "[min, max, step]"),
    "interval text": (changed(5, 2, 4, 1, to="1"), "JSON op 2: interval"),
    "interval upside down": (changed(5, 2, 4, to=[1, -1, 1]), "JSON op 2: interval"),
    "interval of 4000 digits": (changed(5, 2, 4, 1, to=10**4000), "op 2 (add): i (integer bits) is 13288"),
    "step 0": (changed(5, 2, 4, 2, to=0), "JSON op 2:"),
    "step negative": (changed(5, 2, 4, 2, to=-1.0), "JSON op 2:"),
    "step 3": (changed(5, 2, 4, 2, to=3), "JSON op 2:"),
    "step 0.1": (changed(5, 2, 4, 2, to=0.1), "JSON op 2:"),
    "step 2**4097": (changed(5, 2, 4, 2, to=1 << 4097), "JSON op 2:"),
    "table a number": ([*SUM, [5]], "JSON lookup_tables[0].table:"),
    "tables no list": ([*SUM, 5], "JSON lookup_tables:"),
    "table entry text": ([*SUM, [{"table": [1, "2"]}]], "JSON lookup_tables[0].table[1] is '2'"),
    "table entry 2**31": ([*SUM, [{"table": [1 << 31]}]], "JSON lookup_tables[0].table[0] is 2147483648"),
    "table index": (with_table(1, [0], [0, 0.5, 0.5], [0, 1, 1]), "op 1 (lookup): table index (low data) is 1"),
    "table index 2**40": (with_table(1 << 40, [0], [0, 1, 1], [0, 1, 1]), "JSON op 1:"),
    "table far into the operand": (with_table(0, [0], [1 << 31, 1 << 31, 1], [0, 1, 1]), "int32"),
    "table entry too large": (with_table(0, [4], [0, 1, 1], [0, 3, 1]), "0 is 4"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    given, message = REFUSED[name]
    text = given if isinstance(given, bytes | str) else json.dumps(given)
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(ProgramError) as caught:
        read_json(data)
    assert message in str(caught.value)
    as_recorded(caught.value)
    assert len(str(caught.value)) < 300


PACKED = gzip.compress(json.dumps(SUM).encode(), mtime=0)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (PACKED[:-1], ""),
        (PACKED[:12], ""),
        (PACKED[:3], ""),
        (PACKED[:-8] + b"\0\0\0\0" + PACKED[-4:], "Error -3 while decompressing data: incorrect data check"),
        (PACKED[:12] + b"\xff\xff\xff" + PACKED[15:], "Error -3"),
        (PACKED + b"more", "4 bytes"),
        (gzip.compress(b"hello", mtime=0), "JSON: Expecting value"),
        (gzip.compress(b"", mtime=0), "JSON: Expecting value"),
    ],
)
def test_damaged_gzip_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(ProgramError) as caught:
        read_json(data)
    assert message in str(caught.value)
    as_recorded(caught.value)


def test_a_gzip_bomb_is_refused_before_it_bursts() -> None:
    """A gzip bomb is refused: a third of a megabyte would become 256 MiB of text and gigabytes of lists."""
    packer = zlib.compressobj(1, wbits=31)
    bomb = packer.compress(b"[" + b"[]," * 5) + b"".join(packer.compress(b"[]," * (1 << 20)) for _ in range(85))
    bomb += packer.flush()
    limit = max(16 << 20, 100 * len(bomb)) >> 20
    assert limit < 200
    with raises(ProgramError):
        read_json(bomb)


def test_a_large_text_that_compresses_as_programs_do_is_read() -> None:
    """A text of more than 16 MiB is read if it compresses as programs do: only the compression ratio is limited."""
    numbers = random.Random(0).choices(range(1 << 30), k=1_700_000)
    tree = [*SUM, [{"table": numbers}]]
    data = json.dumps(tree).encode()
    assert len(data) > 17 << 20
    assert [len(table) for table in read_json(gzip.compress(data, 1, mtime=0)).tables] == [1_700_000]


def test_real_programs_equal_their_binaries(corpus: Path) -> None:
    for folder in sorted(path for path in corpus.iterdir() if path.is_dir()):
        path = next(folder.glob("da4ml.json*"))
        program = load(path)
        assert program.hash == load(folder / "prog.v1.bin").hash, folder.name
        x = np.load(folder / "inputs.npy")[:50]
        assert np.array_equal(run(program, x), np.load(folder / "expected.npy")[:50]), folder.name
        assert program.intervals is not None and len(program.intervals) == program.n_ops
