"""Read and write the three binary layouts, and detect the layout of a file.

All words are little-endian int32. Lengths are checked against the header with Python integers before anything is
allocated, so a wrong header cannot allocate memory.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import LayoutError, ProgramError
from dais_verif.base.text import counted
from dais_verif.spec.program.checks import validate
from dais_verif.spec.program.model import Columns, Origin, Program, meaningful_data
from dais_verif.spec.program.opcodes import OPCODES, Code
from dais_verif.spec.program.ranges import PromiseStatus, analyse

__all__ = ["LAYOUTS", "AssumedLayoutWarning", "detect", "read_binary", "write_binary"]

Words = NDArray[np.int32]

LAYOUTS = ("published", "headerless", "v1")
SPEC_VERSIONS = (0, 1)
_OP_WORDS = 8


class AssumedLayoutWarning(UserWarning):
    """Both word orders are possible and give different programs; the layout is assumed."""


class _Header(NamedTuple):
    """The counts of a header, and the position of the words that follow it."""

    n_in: int
    n_out: int
    n_ops: int
    n_tables: int
    start: int
    spec_version: int = 1
    firmware_version: int = 0

    def words_before_tables(self) -> int:
        """Return the length of the file in words, without table sizes and table data."""
        return self.start + self.n_in + 3 * self.n_out + _OP_WORDS * self.n_ops


def read_binary(data: bytes, layout: str | None = None) -> Program:
    """Return the valid program in ``data``; ``layout`` overrides detection.

    Raises ``ProgramError`` if there is none, ``InputError`` for an unknown ``layout``. Warns with
    ``AssumedLayoutWarning`` if the layout is ambiguous and assumed.
    """
    words = _words(data)
    if layout is None:
        program = detect(words)
    elif layout in LAYOUTS:
        program = _decode(words, layout)
    else:
        raise LayoutError(f"layout must be one of {', '.join(LAYOUTS)}, not {layout!r}")
    return replace(program, origin=replace(program.origin, file_sha256=hashlib.sha256(data).hexdigest()))


def _words(data: bytes) -> Words:
    if len(data) % 4:
        raise ProgramError(
            f"the file has {len(data)} bytes, must be a multiple of 4 (int32 words); "
            "it is truncated or not a DAIS binary"
        )
    return np.frombuffer(data, dtype="<i4").astype(np.int32, copy=False)


def detect(words: Words) -> Program:
    """Return the program in ``words``; its layout is found by length equation, validity and range analysis."""
    plain_fits, v1_fits = _fits(_plain_header, words), _fits(_v1_header, words)
    known_spec = len(words) > 0 and int(words[0]) in SPEC_VERSIONS
    if v1_fits and (known_spec or not plain_fits):
        try:
            return _decode(words, "v1")
        except ProgramError:
            if not plain_fits:
                raise
    if not plain_fits:
        raise ProgramError(_no_layout(words))
    return _choose_word_order(words)


def _fits(header: Callable[[Words], _Header], words: Words) -> bool:
    try:
        header(words)
    except ProgramError:
        return False
    return True


def _no_layout(words: Words) -> str:
    """Return the reasons why neither length equation holds, on one line."""
    reasons = []
    for header in (_plain_header, _v1_header):
        try:
            header(words)
        except ProgramError as error:
            reasons.append(str(error))
    return "no layout fits the file. " + ". ".join(reasons) + "; it is truncated, damaged or not a DAIS binary"


def _choose_word_order(words: Words) -> Program:
    """Choose headerless or published: the only valid one, or the only one without certain violations, or headerless."""
    candidates: list[Program] = []
    first_error: ProgramError | None = None
    for layout in ("headerless", "published"):
        try:
            candidates.append(_decode(words, layout))
        except ProgramError as error:
            first_error = first_error or error
    if not candidates:
        assert first_error is not None
        raise ProgramError(f"read as headerless: {first_error}") from None
    if len(candidates) == 1:
        return candidates[0]
    headerless, published = candidates
    if np.array_equal(meaningful_data(headerless.columns), meaningful_data(published.columns)):
        return headerless
    # A program that violates a promise on every input is the wrong reading. A merely possible violation decides
    # nothing: in the wrong word order, a small program often has none by chance.
    passing = [program for program in candidates if analyse(program).worst < PromiseStatus.CERTAIN]
    if len(passing) == 1:
        return passing[0]
    warnings.warn(
        "layout assumed: the file is valid as headerless and as published, as different programs; "
        "read as headerless; to choose, give --layout",
        AssumedLayoutWarning,
        stacklevel=4,
    )
    return replace(headerless, origin=replace(headerless.origin, assumed=True))


def _counts(**counts: int) -> None:
    for name, count in counts.items():
        if count < 0:
            raise ProgramError(f"header: {name} is {count}, must not be negative")


def _plain_header(words: Words) -> _Header:
    if len(words) < 3:
        raise ProgramError(f"headerless/published: {len(words)} words, at least 3 expected (n_in, n_out, n_ops)")
    n_in, n_out, n_ops = words[:3].tolist()
    _counts(n_in=n_in, n_out=n_out, n_ops=n_ops)
    header = _Header(n_in, n_out, n_ops, 0, 3)
    _check_length("headerless/published", header, header.words_before_tables(), len(words))
    return header


def _v1_header(words: Words) -> _Header:
    if len(words) < 6:
        raise ProgramError(f"v1: {counted(len(words), 'word')}, at least 6 expected (two versions and four counts)")
    spec, firmware, n_in, n_out, n_ops, n_tables = words[:6].tolist()
    _counts(n_in=n_in, n_out=n_out, n_ops=n_ops, n_tables=n_tables)
    header = _Header(n_in, n_out, n_ops, n_tables, 6, spec, firmware)
    before = header.words_before_tables()
    if before + n_tables > len(words):
        _check_length("v1", header, before + n_tables, len(words))
    sizes = words[before : before + n_tables].astype(np.int64)
    if (sizes < 0).any():
        table = int(np.argmax(sizes < 0))
        raise ProgramError(f"v1: size of table {table} is {int(sizes[table])}, must not be negative")
    _check_length("v1", header, before + n_tables + int(sizes.sum()), len(words))
    return header


def _check_length(layout: str, header: _Header, expected: int, found: int) -> None:
    if expected != found:
        tables = f", {counted(header.n_tables, 'table')}" if header.start == 6 else ""
        raise ProgramError(
            f"{layout}: {counted(found, 'word')} found, {expected} expected for {counted(header.n_in, 'input')}, "
            f"{counted(header.n_out, 'output')}, {counted(header.n_ops, 'op')}{tables}"
        )


def _decode(words: Words, layout: str) -> Program:
    """Decode and validate ``words`` as ``layout``."""
    header = (_v1_header if layout == "v1" else _plain_header)(words)
    if header.spec_version not in SPEC_VERSIONS:
        raise ProgramError(
            f"header: spec_version is {header.spec_version}, must be 0 or 1; this DAIS version is not supported"
        )
    cursor = header.start

    def take(count: int) -> NDArray[np.int64]:
        nonlocal cursor
        cursor += count
        return words[cursor - count : cursor].astype(np.int64)

    inp_shift = take(header.n_in)
    out_idx, out_shift, out_neg = (take(header.n_out) for _ in range(3))
    code, id0, id1, word3, word4, k, i, f = take(_OP_WORDS * header.n_ops).reshape(-1, _OP_WORDS).T
    low, high = (word4, word3) if layout == "published" else (word3, word4)
    data = (high << 32) | (low & 0xFFFF_FFFF)
    sizes = take(header.n_tables).tolist()
    program = Program(
        inp_shift=inp_shift,
        out_idx=out_idx,
        out_shift=out_shift,
        out_neg=out_neg,
        columns=Columns(*(np.ascontiguousarray(c) for c in (code, id0, id1, data, k, i, f))),
        tables=tuple(take(size) for size in sizes),
        origin=Origin(layout, spec_version=header.spec_version, firmware_version=header.firmware_version),
    )
    validate(program)
    return program


def _refuse_alir(program: Program, layout: str) -> None:
    only_alir = np.isin(program.columns.code, [code for code, row in OPCODES.items() if row.alir])
    if only_alir.any():
        op = program.ops[int(np.argmax(only_alir))]
        raise LayoutError(
            f"{op} is an ALIR op, which the {layout} layout cannot hold; convert the program to DAIS first"
        )


def write_binary(program: Program, layout: str) -> bytes:
    """Return ``program`` in ``layout``. Reading the result gives the same program; a file that was read is reproduced.

    Raises ``InputError`` if the layout cannot represent it.
    """
    if layout not in LAYOUTS:
        raise LayoutError(f"layout must be one of {', '.join(LAYOUTS)}, not {layout!r}")
    if layout != "v1" and program.tables:
        lookups = np.flatnonzero(program.columns.code == Code.LOOKUP).tolist()
        reader = f", read by {program.ops[lookups[0]]}" if lookups else ""
        raise LayoutError(
            f"the {layout} layout carries no tables and the program has {len(program.tables)}{reader}; write v1"
        )
    _refuse_alir(program, layout)
    origin = program.origin
    counts = [program.n_in, program.n_out, program.n_ops]
    if layout == "v1":
        counts = [origin.spec_version, origin.firmware_version, *counts, len(program.tables)]
    code, id0, id1, data, k, i, f = program.columns
    low, high = data & 0xFFFF_FFFF, data >> 32
    word3, word4 = (high, low) if layout == "published" else (low, high)
    parts = [
        np.array(counts, dtype=np.int64),
        program.inp_shift,
        program.out_idx,
        program.out_shift,
        program.out_neg,
        np.stack([code, id0, id1, word3, word4, k, i, f], axis=1).ravel(),
    ]
    if layout == "v1":
        parts += [np.array([len(table) for table in program.tables], dtype=np.int64), *program.tables]
    return np.concatenate(parts).astype("<u4", casting="unsafe").tobytes()
