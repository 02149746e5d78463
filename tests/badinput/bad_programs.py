"""Invalid programs for every refusal of the semantics page, through ``check``."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from bad_case import GOOD, INPUT, SUM, Case, v1, words

from dais_verif.spec.program import write_binary

S4 = (1, 3, 0)


def refused(data: bytes, layout: str | None = None) -> Case:
    option = ("--layout", layout) if layout else ()
    return Case(("check", "bad", *option), {"bad": data})


def op(*row: int, **options: Any) -> Case:
    """Return the case of a program whose op 1 is ``row``."""
    return refused(v1(row, **options))


def _tree() -> list[Any]:
    ops = [[0, -1, -1, 0, [-8.0, 7.0, 1.0], 0.0, 0.0], [0, -1, 3, 0, [-4.0, 3.0, 1.0], 0.0, 0.0]]
    return [[1, 1], [0], [1], [0], [False], ops, -1, -1]


def changed(value: Any, *path: Any) -> bytes:
    place = tree = _tree()
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return json.dumps(tree).encode()


TEXT = json.dumps(_tree()).encode()
PACKED = gzip.compress(TEXT, mtime=0)


def bomb(folder: Path, _: object) -> None:
    (folder / "bad").write_bytes(gzip.compress(b"[" + b"[]," * (6 << 20)))


def _links(folder: Path, _: object) -> None:
    (folder / "bad").symlink_to("bad")


FILES = {
    "missing file": Case(("check", "absent")),
    "a folder": Case(("check", "bad"), setup=lambda f, _: (f / "bad").mkdir()),
    "below a file": Case(("check", "bad/x"), {"bad": GOOD}),
    "unreadable": Case(("check", "/proc/self/mem")),
    "a link to itself": Case(("check", "bad"), setup=_links),
    "empty file": refused(b""),
    "one byte too many": refused(GOOD + b"\0"),
    "one byte too few": refused(GOOD[:-1]),
    "one word too many": refused(GOOD + bytes(4)),
    "one word too few": refused(GOOD[:-4]),
    "half of it": refused(GOOD[: len(GOOD) // 8 * 4]),
    "a text file": refused(b"this is not a program at all"),
    "an ELF file": refused(b"\x7fELF\2\1\1\0" + bytes(56)),
    "headerless, a word short": refused(write_binary(SUM, "headerless")[:-4]),
    "published, a word long": refused(write_binary(SUM, "published") + bytes(4), layout="published"),
    "v1 read as headerless": refused(GOOD, layout="headerless"),
    "headerless read as v1": refused(write_binary(SUM, "headerless"), layout="v1"),
    "negative n_in": refused(words(-1, 0, 0)),
    "negative n_out": refused(words(0, -5, 0)),
    "negative n_ops": refused(words(1, 0, 0, 0, -2, 0)),
    "negative n_tables": refused(words(1, 0, 0, 0, 0, -1), layout="v1"),
    "absurd counts": refused(words(1, 0, *[2**31 - 1] * 4)),
    "absurd table size": refused(words(1, 0, 0, 0, 0, 1, 2**31 - 1)),
    "negative table size": refused(words(1, 0, 0, 0, 0, 1, -1)),
    "spec version 2": refused(words(2) + GOOD[4:]),
    "spec version -1": refused(words(-1) + GOOD[4:]),
}

OPS = {
    "unknown opcode": op(11, 0, 0, 0, 0, *S4),
    "unknown negative opcode": op(-7, 0, 0, 0, 0, *S4),
    "id0 is the op itself": op(0, 1, 0, 0, 0, *S4),
    "id1 is a later op": op(7, 0, 2, 0, 0, *S4),
    "id0 negative": op(3, -1, -1, 0, 0, *S4),
    "unused id1": op(2, 0, 0, 0, 0, *S4),
    "unused id0": op(5, 0, -1, 0, 0, *S4),
    "input outside": op(-1, 2, -1, 0, 0, *S4),
    "input negative": op(-1, -1, -1, 0, 0, *S4),
    "mux condition": op(6, 0, 0, 1, 0, *S4),
    "mux condition negative": op(-6, 0, 0, -1, 0, *S4),
    "mux shift": op(6, 0, 0, 0, -4097, *S4),
    "add shift": op(0, 0, 0, 4097, 0, *S4),
    "sub shift": op(1, 0, 0, 0, 1, *S4),
    "bitwise shift": op(10, 0, 0, -4097, 0, *S4),
    "bitwise operation": op(10, 0, 0, 0, 3 << 24, *S4),
    "bitwise reserved": op(10, 0, 0, 0, 1 << 2, *S4),
    "reduce": op(9, 0, -1, 3, 0, *S4),
    "signed": op(3, 0, -1, 0, 0, 2, 3, 0),
    "width": op(3, 0, -1, 0, 0, 1, -2, 0),
    "width limit": op(3, 0, -1, 0, 0, 1, 2048, 2048),
    "i limit": op(3, 0, -1, 0, 0, 0, -(2**31), 0),
    "f limit": op(3, 0, -1, 0, 0, 0, 0, 2**31 - 1),
    "no tables": op(8, 0, -1, 0, 0, *S4),
    "table index": op(8, 0, -1, 1, 0, *S4, tables=[[0]]),
    "table index negative": op(8, 0, -1, -1, 0, *S4, tables=[[0]]),
    "table entry": op(8, 0, -1, 0, 0, *S4, tables=[[7, -9]]),
    "inp_shift": refused(v1(inp_shift=(0, 4097))),
    "out_idx": refused(v1(output=(1, 0, 0))),
    "out_idx negative": refused(v1(output=(-2, 0, 0))),
    "out_shift": refused(v1(output=(0, -4097, 0))),
    "out_neg": refused(v1(output=(0, 0, -1))),
    "damaged in both orders": refused(words(1, 0, 1, 0, 77, *INPUT[1:])),
}

JSON = {
    "JSON truncated": refused(TEXT[:-20]),
    "JSON object": refused(b'{"a": 1}'),
    "JSON of seven parts": refused(b"[1,2,3,4,5,6,7]"),
    "JSON not UTF-8": refused(b"[\xff\xff]"),
    "JSON nested without end": refused(b"[" * 100_000),
    "JSON with an endless number": refused(b"[" + b"1" * 9999 + b"]"),
    "JSON counts": refused(changed([2, 1], 0)),
    "JSON op is text": refused(changed("op", 5, 1)),
    "JSON opcode fraction": refused(changed(3.5, 5, 1, 2)),
    "JSON opcode beyond words": refused(changed(1 << 63, 5, 1, 2)),
    "JSON NaN in an interval": refused(changed(float("nan"), 5, 1, 4, 0)),
    "JSON interval upside down": refused(changed([3, -4, 1], 5, 1, 4)),
    "JSON step": refused(changed(0.3, 5, 1, 4, 2)),
    "JSON id0": refused(changed(1, 5, 1, 0)),
    "JSON tables": refused(TEXT[:-1] + b', "tables"]'),
    "JSON read as a binary": refused(TEXT + b" " * (-len(TEXT) % 4), layout="v1"),
    "gzip truncated": refused(PACKED[:-9]),
    "gzip checksum": refused(PACKED[:-8] + bytes(8)),
    "gzip with a tail": refused(PACKED + b"tail"),
    "gzip of something else": refused(gzip.compress(b"something else", mtime=0)),
    "gzip bomb": Case(("check", "bad"), setup=bomb),
}

CASES = {**FILES, **OPS, **JSON}
