"""Inputs that ``sensitivity`` and ``diff`` must refuse."""

from __future__ import annotations

from bad_case import GOOD, HUGE, NARROW, ROWS, Case, npy, v1

from dais_verif.spec.program import write_binary

ONE_INPUT = v1(inp_shift=(0,))
TWO_OUTPUTS = write_binary(HUGE, "v1")
BROKEN = write_binary(NARROW, "v1")


def one(*options: str, **others: bytes) -> Case:
    return Case(("sensitivity", "p.bin", *options), {"p.bin": GOOD, **others})


def two(*options: str, b: bytes = GOOD, verdict: str = "INVALID_INPUT") -> Case:
    return Case(("diff", "a.bin", "b.bin", *options), {"a.bin": GOOD, "b.bin": b, "x.npy": ROWS}, verdict)


CASES = {
    "sensitivity without a program": Case(("sensitivity",)),
    "sensitivity top negative": one("--top", "-1"),
    "sensitivity vectors text": one("--vectors", "all"),
    "sensitivity inputs of another program": one("--inputs", "x.npy", **{"x.npy": npy([[1, 2, 3]])}),
    "sensitivity output a folder": one("-o", "."),
    "sensitivity violation": Case(("sensitivity", "p.bin"), {"p.bin": BROKEN}, "PROGRAM_INVALID"),
    "diff without b": Case(("diff", "a.bin"), {"a.bin": GOOD}),
    "diff b missing": Case(("diff", "a.bin", "b.bin"), {"a.bin": GOOD}),
    "diff b damaged": two(b=GOOD[:-1]),
    "diff inputs differ": two(b=ONE_INPUT),
    "diff outputs differ": two(b=TWO_OUTPUTS),
    "diff violation in b": two(b=BROKEN, verdict="PROGRAM_INVALID"),
    "diff layout of b wrong": two("--layout-b", "headerless"),
    "diff witness into a folder": two("--inputs", "x.npy", "--unchecked", "-o", ".", b=BROKEN),
    "diff engine unknown": two("--engine", "vhdl"),
}
