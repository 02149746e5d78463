"""Invalid programs for every refusal of the semantics page, through ``check``."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from bad_case import GOOD, INPUT, SUM, Case, v1, words

from dais_verif.program import write_binary

S4 = (1, 3, 0)


def refused(data: bytes, *expected: str, layout: str | None = None) -> Case:
    option = ("--layout", layout) if layout else ()
    return Case(("check", "bad", *option), ("bad:", *expected), {"bad": data})


def op(*row: int, says: str, **options: Any) -> Case:
    """Return the case of a program whose op 1 is ``row``."""
    return refused(v1(row, **options), "op 1", says)


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
    "missing file": Case(("check", "absent"), ("cannot read 'absent'", "No such file", "give the path")),
    "a folder": Case(
        ("check", "bad"), ("'bad' is a folder", "da4ml or alkaid"), setup=lambda f, _: (f / "bad").mkdir()
    ),
    "below a file": Case(("check", "bad/x"), ("cannot read 'bad/x'", "Not a directory"), {"bad": GOOD}),
    "unreadable": Case(("check", "/proc/self/mem"), ("cannot read '/proc/self/mem'", "Input/output error")),
    "a link to itself": Case(("check", "bad"), ("cannot read 'bad'", "symbolic links"), setup=_links),
    "empty file": refused(b"", "0 words", "at least 3 expected"),
    "one byte too many": refused(GOOD + b"\0", "multiple of 4", f"{len(GOOD) + 1} bytes"),
    "one byte too few": refused(GOOD[:-1], "multiple of 4"),
    "one word too many": refused(GOOD + bytes(4), "no layout fits", "36 words found, 35 expected"),
    "one word too few": refused(GOOD[:-4], "no layout fits", "34 words found, 35 expected"),
    "half of it": refused(GOOD[: len(GOOD) // 8 * 4], "no layout fits", "truncated"),
    "a text file": refused(b"this is not a program at all", "no layout fits", "not a DAIS binary"),
    "an ELF file": refused(b"\x7fELF\2\1\1\0" + bytes(56), "no layout fits"),
    "headerless, a word short": refused(write_binary(SUM, "headerless")[:-4], "31 words found, 32 expected"),
    "published, a word long": refused(
        write_binary(SUM, "published") + bytes(4), "33 words found, 32 expected", layout="published"
    ),
    "v1 read as headerless": refused(GOOD, "headerless/published", "words found", layout="headerless"),
    "headerless read as v1": refused(write_binary(SUM, "headerless"), "v1", layout="v1"),
    "negative n_in": refused(words(-1, 0, 0), "n_in is -1, must not be negative"),
    "negative n_out": refused(words(0, -5, 0), "n_out is -5, must not be negative"),
    "negative n_ops": refused(words(1, 0, 0, 0, -2, 0), "n_ops is -2, must not be negative"),
    "negative n_tables": refused(words(1, 0, 0, 0, 0, -1), "n_tables is -1, must not be negative", layout="v1"),
    "absurd counts": refused(words(1, 0, *[2**31 - 1] * 4), "6 words found", "expected"),
    "absurd table size": refused(words(1, 0, 0, 0, 0, 1, 2**31 - 1), "expected", "1 table"),
    "negative table size": refused(words(1, 0, 0, 0, 0, 1, -1), "size of table 0 is -1, must not be negative"),
    "spec version 2": refused(words(2) + GOOD[4:], "spec_version is 2, must be 0 or 1"),
    "spec version -1": refused(words(-1) + GOOD[4:], "spec_version is -1, must be 0 or 1"),
}

OPS = {
    "unknown opcode": op(11, 0, 0, 0, 0, *S4, says="opcode is 11, must be one of -9, -6"),
    "unknown negative opcode": op(-7, 0, 0, 0, 0, *S4, says="opcode is -7"),
    "id0 is the op itself": op(0, 1, 0, 0, 0, *S4, says="(add): id0 is 1, must name an earlier op, 0 to 1 - 1"),
    "id1 is a later op": op(7, 0, 2, 0, 0, *S4, says="(mul): id1 is 2, must name an earlier op"),
    "id0 negative": op(3, -1, -1, 0, 0, *S4, says="(quant): id0 is -1, must name an earlier op"),
    "unused id1": op(2, 0, 0, 0, 0, *S4, says="(relu): id1 is 0, must be -1 since the op does not use it"),
    "unused id0": op(5, 0, -1, 0, 0, *S4, says="(const): id0 is 0, must be -1"),
    "input outside": op(-1, 2, -1, 0, 0, *S4, says="(input): id0 is 2, must name one of the 2 inputs"),
    "input negative": op(-1, -1, -1, 0, 0, *S4, says="(input): id0 is -1, must name one of the 2 inputs"),
    "mux condition": op(6, 0, 0, 1, 0, *S4, says="(mux): condition index (low data) is 1, must name an earlier"),
    "mux condition negative": op(-6, 0, 0, -1, 0, *S4, says="(mux_neg): condition index (low data) is -1"),
    "mux shift": op(6, 0, 0, 0, -4097, *S4, says="(mux): shift (high data) is -4097, must be within -4096..4096"),
    "add shift": op(0, 0, 0, 4097, 0, *S4, says="(add): data (shift) is 4097, must be within -4096..4096"),
    "sub shift": op(1, 0, 0, 0, 1, *S4, says="(sub): data (shift) is 4294967296"),
    "bitwise shift": op(10, 0, 0, -4097, 0, *S4, says="(bit_binary): shift (low data) is -4097"),
    "bitwise operation": op(10, 0, 0, 0, 3 << 24, *S4, says="operation (data >> 56) is 3, must be 0 (AND)"),
    "bitwise reserved": op(10, 0, 0, 0, 1 << 2, *S4, says="data bits 34..55 is 1, must be 0"),
    "reduce": op(9, 0, -1, 3, 0, *S4, says="(bit_unary): data is 3, must be 0 (NOT), 1 (OR-reduce)"),
    "signed": op(3, 0, -1, 0, 0, 2, 3, 0, says="(quant): signed is 2, must be 0 or 1"),
    "width": op(3, 0, -1, 0, 0, 1, -2, 0, says="(quant): width k+i+f is -1, must not be negative"),
    "width limit": op(3, 0, -1, 0, 0, 1, 2048, 2048, says="width k+i+f is 4097, must be at most 4096"),
    "i limit": op(3, 0, -1, 0, 0, 0, -(2**31), 0, says="i (integer bits) is -2147483648"),
    "f limit": op(3, 0, -1, 0, 0, 0, 0, 2**31 - 1, says="f (fractional bits) is 2147483647"),
    "no tables": op(8, 0, -1, 0, 0, *S4, says="(lookup): table index (low data) is 0, must name one of the 0 tables"),
    "table index": op(8, 0, -1, 1, 0, *S4, says="table index (low data) is 1, must name one of the 1", tables=[[0]]),
    "table index negative": op(8, 0, -1, -1, 0, *S4, says="table index (low data) is -1", tables=[[0]]),
    "table entry": op(8, 0, -1, 0, 0, *S4, says="entry 1 of table 0 is -9, must fit the op's type", tables=[[7, -9]]),
    "inp_shift": refused(v1(inp_shift=(0, 4097)), "input 1: inp_shift is 4097, must be within"),
    "out_idx": refused(v1(output=(1, 0, 0)), "output 0: out_idx is 1, must be -1 (constant 0) or one of the 1 ops"),
    "out_idx negative": refused(v1(output=(-2, 0, 0)), "output 0: out_idx is -2"),
    "out_shift": refused(v1(output=(0, -4097, 0)), "output 0: out_shift is -4097, must be within"),
    "out_neg": refused(v1(output=(0, 0, -1)), "output 0: out_neg is -1, must be 0 or 1"),
    "damaged in both orders": refused(words(1, 0, 1, 0, 77, *INPUT[1:]), "read as headerless: op 0: opcode is 77"),
}

JSON = {
    "JSON truncated": refused(TEXT[:-20], "JSON:", "damaged"),
    "JSON object": refused(b'{"a": 1}', "JSON: meta is None", "must be ALIRModel"),
    "JSON of seven parts": refused(b"[1,2,3,4,5,6,7]", "JSON: a list of 7"),
    "JSON not UTF-8": refused(b"[\xff\xff]", "JSON:", "decode"),
    "JSON nested without end": refused(b"[" * 100_000, "JSON:", "recursion"),
    "JSON with an endless number": refused(b"[" + b"1" * 9999 + b"]", "JSON:", "4300 digits"),
    "JSON counts": refused(changed([2, 1], 0), "JSON inp_shifts: 1 value, must be 2"),
    "JSON op is text": refused(changed("op", 5, 1), "JSON op 1: must be [id0, id1, opcode, data"),
    "JSON opcode fraction": refused(changed(3.5, 5, 1, 2), "JSON op 1: opcode is 3.5"),
    "JSON opcode beyond words": refused(changed(1 << 63, 5, 1, 2), "JSON op 1: opcode is 9223372036854775808, must be"),
    "JSON NaN in an interval": refused(changed(float("nan"), 5, 1, 4, 0), "JSON op 1: interval must be three finite"),
    "JSON interval upside down": refused(changed([3, -4, 1], 5, 1, 4), "JSON op 1: interval minimum 3 is above"),
    "JSON step": refused(changed(0.3, 5, 1, 4, 2), "JSON op 1: step is 0.3, must be a power of two"),
    "JSON id0": refused(changed(1, 5, 1, 0), "op 1 (quant): id0 is 1, must name an earlier op"),
    "JSON tables": refused(TEXT[:-1] + b', "tables"]', "JSON lookup_tables: must be a list, not 'tables'"),
    "JSON read as a binary": refused(TEXT + b" " * (-len(TEXT) % 4), "v1", "words", layout="v1"),
    "gzip truncated": refused(PACKED[:-9], "gzip: the stream ends early; the file is truncated"),
    "gzip checksum": refused(PACKED[:-8] + bytes(8), "gzip: Error -3", "damaged"),
    "gzip with a tail": refused(PACKED + b"tail", "gzip: 4 bytes follow the end of the stream"),
    "gzip of something else": refused(gzip.compress(b"something else", mtime=0), "the file has 14 bytes"),
    "gzip bomb": Case(("check", "bad"), ("gzip: the content is longer than 16 MiB; decompress the file",), setup=bomb),
}

CASES = {**FILES, **OPS, **JSON}
