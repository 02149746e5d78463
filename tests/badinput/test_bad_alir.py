"""Corrupt ALIR files end in one clear line, in bounded time and memory, or are usable programs.

Every field of a file with every opcode takes every kind of wrong value; then come large and deep files, damaged
archives, and random damage to real models.
"""

from __future__ import annotations

import copy
import gzip
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.damage import PATIENCE, alir_seeds, limits, try_alir
from support.places import ALIR

from dais_verif.doors.cli.main import _run
from dais_verif.spec.program import parse

WIDE = [-1024.0, 1023.875, 0.125]
OPS: list[Any] = [
    [[], -1, [0], [-8.0, 7.0, 1.0], 0.0, 0.0],
    [[], 5, [3], [3.0, 3.0, 1.0], 0.0, 0.0],
    [[0], -2, [], WIDE, 0.5, 1.0],
    [[0, 1], 0, [1], WIDE, 0.5, 1.0],
    [[0], 2, [], [0.0, 7.0, 1.0], 0.5, 1.0],
    [[0], 3, [2], [0.0, 7.0, 1.0], 0.5, 1.0],
    [[0], 4, [3, 1], WIDE, 0.5, 1.0],
    [[0, 1, 0], 6, [0], WIDE, 0.5, 1.0],
    [[0, 1], 7, [], WIDE, 0.5, 1.0],
    [[4], 8, [0], [0.0, 7.0, 1.0], 0.5, 1.0],
    [[0], 9, [1], [0.0, 1.0, 1.0], 0.5, 1.0],
    [[0, 1], 10, [0, 2], WIDE, 0.5, 1.0],
    [[0, 1, 2], 11, [1, 0, 0, 2, 1, -3], WIDE, 0.5, 1.0],
]
TABLE = {"spec": {"hash": "", "out_qint": {"min": 0, "max": 7, "step": 1}, "inp_width": 3}, "table": list(range(8))}
MODEL = [[1, 1], [0], [12], [0], [False], OPS, -1, -1, [TABLE]]
GOOD = {"model": MODEL, "meta": "ALIRModel", "spec_version": 4}

WRONG: dict[str, Any] = {
    "null": None,
    "text": "x",
    "object": {"a": 1},
    "fraction": 0.3,
    "huge": 1 << 70,
    "minus": -(1 << 33),
    "list": [[[]]],
    "NaN": float("nan"),
    "infinity": float("-inf"),
}
#: Values that are ignored, or for which any number is valid.
FREE = ("spec", "latency", "cost")


def paths(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield from paths(value, (*path, key))


def is_free(path: tuple[Any, ...], wrong: str) -> bool:
    """Return whether this value is allowed at this place."""
    estimate = len(path) == 4 and path[:2] == ("model", 5) and path[3] > 3
    constant = path[:2] == ("model", 5) and path[2:] in ((1, 2, 0), (6, 2, 0))
    end = len(path) == 5 and path[:2] == ("model", 5) and path[3] == 3
    return (
        "spec" in path
        or (estimate and wrong in ("fraction", "huge", "minus"))
        or (end and wrong in ("huge", "minus"))
        or ((constant or path in (("model", 6), ("model", 7))) and wrong == "minus")
        or (path == ("model", 8) and wrong == "null")
    )


def put(path: tuple[Any, ...], value: Any) -> bytes:
    tree = place = copy.deepcopy(GOOD)
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return json.dumps(tree).encode()


def name_of(path: tuple[Any, ...]) -> str:
    return ".".join(map(str, path))


FIELDS = [
    pytest.param(put(path, value), id=f"{name_of(path)}={name}")
    for path in paths(GOOD)
    for name, value in WRONG.items()
    if not is_free(path, name)
]
#: For the fast suite: one wrong value per field, in turns.
SOME = [field for number, field in enumerate(FIELDS) if number % 9 == number // 9 % 9]


def edited(old: str, new: str) -> bytes:
    text = json.dumps(GOOD)
    assert old in text
    return text.replace(old, new, 1).encode()


TEXT = json.dumps(GOOD).encode()
PACKED = gzip.compress(TEXT, mtime=0)
DIGITS = "9" * 100_000
LARGE = {
    "10 MB of lists": b"[" * 10_000_000,
    "10 MB of objects": b'{"model":' * 1_200_000,
    "10 MB of lists in the model": b'{"meta": "ALIRModel", "spec_version": 4, "model": ' + b"[" * 10_000_000,
    "10 MB of lists, closed": b'{"meta": "ALIRModel", "model": ' + b"[" * 5_000_000 + b"]" * 5_000_000 + b"}",
    "10 MB of lists, packed": gzip.compress(b'{"model":' + b"[" * 10_000_000, mtime=0),
    "a bomb": gzip.compress(b'{"model": [' + b"[]," * (6 << 20), mtime=0),
    "10 MB of ops that are none": b'{"meta": "ALIRModel", "spec_version": 4, "model": [[1, 1], [0], [0], [0], [0], ['
    + b"[]," * 3_000_000
    + b"[]], -1, -1]}",
    "100,000 digits in a constant": edited("5, [3]", f"5, [{DIGITS}]"),
    "100,000 digits in a shift": edited("0, [1]", f"0, [{DIGITS}]"),
    "100,000 digits in an interval": edited("[-8.0", f"[-{DIGITS}"),
    "4,000 digits in an interval": edited("[-8.0", f"[-{'9' * 4000}.0"),
    "4,000 digits in an end": edited("7.0, 1.0]", f"{'9' * 4000}, 1.0]"),
    "4,000 digits in an address": edited("[[0], -2", f"[[{'9' * 4000}], -2"),
    "a step of 1e-400": edited("[-8.0, 7.0, 1.0]", "[-8.0, 7.0, 1e-400]"),
    "a step of 1e308": edited("[-8.0, 7.0, 1.0]", "[-8.0, 7.0, 1e308]"),
    "an end of 1e999": edited("[-8.0, 7.0, 1.0]", "[-8.0, 1e999, 1.0]"),
    "a shift of 2**31": edited("0, [1]", f"0, [{1 << 31}]"),
    "a shift of 4097": edited("0, [1]", "0, [4097]"),
    "a shift of -4097 in a sum": edited("1, 0, 0, 2", "1, 0, 0, -4097"),
    "a quantisation by 2**30": edited("3, [2]", f"3, [{1 << 30}]"),
    "a type of 5000 bits": edited("[-8.0, 7.0, 1.0]", f"[0, {1 << 5000}, 1]"),
    "more inputs than there are": edited('"model": [[1, 1]', '"model": [[1000000000, 1]'),
    "more outputs than there are": edited('"model": [[1, 1]', '"model": [[1, 2000000000]'),
    "fewer inputs than none": edited('"model": [[1, 1]', '"model": [[-1, 1]'),
    "a million terms that are one": edited("[0, 1, 2], 11", f"[{'0, ' * 1_000_000}0], 11"),
    "two values for a key": edited('"spec_version": 4', '"spec_version": 4, "spec_version": 5'),
    "spec 4.5": edited('"spec_version": 4', '"spec_version": 4.5'),
    "no meta": edited('"ALIRModel"', '"ALIRmodel"'),
    "a machine": edited('"ALIRModel"', '"ALIRFSM"'),
    "nothing": b"{}",
    "an empty model": b'{"meta": "ALIRModel", "spec_version": 4, "model": []}',
    "cut in the middle": TEXT[: len(TEXT) // 2],
    "without its end": TEXT[:-1],
    "more behind it": TEXT + b"]",
    "another file behind it": TEXT + TEXT,
    "UTF-16": json.dumps(GOOD).encode("utf-16-le")[:-3],
    "no UTF-8": TEXT.replace(b"ALIRModel", b"ALIR\xff\xfeModel"),
    "NUL in it": TEXT.replace(b"ALIRModel", b"ALIR\0Model"),
    "an archive that ends early": PACKED[:-9],
    "an archive with a wrong sum": PACKED[:-6] + bytes([PACKED[-6] ^ 1]) + PACKED[-5:],
    "an archive with more behind it": PACKED + b"x",
    "an archive of an archive": gzip.compress(PACKED, mtime=0),
    "an archive of nothing": gzip.compress(b"", mtime=0),
    "tables of nothing": edited('"table": [0', '"table": [null, 0'),
    "a table entry beyond the type": edited('"table": [0', '"table": [8'),
    "a table entry beyond int32": edited('"table": [0', f'"table": [{1 << 31}'),
}


def assert_one_line(data: bytes, folder: Path, capfd: pytest.CaptureFixture[str], *verb: str) -> None:
    (folder / "bad.json").write_bytes(data)
    with limits():
        signal.alarm(PATIENCE)
        code = _run([*(verb or ("check",)), str(folder / "bad.json"), *([str(folder / "b.bin")] if verb else [])])
    out, err = capfd.readouterr()
    assert (code, out) == (2, "")
    assert err.startswith("dais-verif: INVALID_INPUT: ") or err.startswith("dais-verif: PROGRAM_INVALID: "), err
    assert err.count("\n") == 1 and err.endswith("\n") and len(err) < 600, err
    assert not (folder / "b.bin").exists()


def test_the_file_is_good_before_it_is_corrupted() -> None:
    program = parse(TEXT)
    assert {op.spec.number for op in program.ops} == {-2, -1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
    assert parse(PACKED).hash == program.hash


def test_there_are_200() -> None:
    assert len(SOME) + len(LARGE) >= 200
    assert len({field.id for field in FIELDS}) == len(FIELDS)


@pytest.mark.parametrize("data", SOME)
def test_a_wrong_field_is_one_line(data: bytes, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert_one_line(data, tmp_path, capfd)


@pytest.mark.slow
@pytest.mark.parametrize("data", FIELDS)
def test_any_wrong_field_is_one_line(data: bytes, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert_one_line(data, tmp_path, capfd, "convert")


@pytest.mark.few(6)
@pytest.mark.parametrize("name", LARGE)
def test_a_large_or_broken_file_is_one_line(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert_one_line(LARGE[name], tmp_path, capfd)


@pytest.mark.parametrize("count", [400, pytest.param(20_000, marks=pytest.mark.slow)])
def test_random_damage_is_refused_or_a_program(count: int) -> None:
    """A damaged file that is still a program can be converted to text, DAIS and ALIR, or is refused with one line."""
    with limits():
        tally = try_alir([TEXT, *alir_seeds(ALIR)], count, count)
    assert min(tally["refused"], tally["valid"]) > count / 10, tally
