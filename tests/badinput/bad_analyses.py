"""Inputs that ``sensitivity`` and ``diff`` must refuse."""

from __future__ import annotations

from bad_case import GOOD, HUGE, NARROW, ROWS, Case, npy, v1

from dais_verif.program import write_binary

ONE_INPUT = v1(inp_shift=(0,))
TWO_OUTPUTS = write_binary(HUGE, "v1")
BROKEN = write_binary(NARROW, "v1")


def one(*options: str, says: tuple[str, ...], **others: bytes) -> Case:
    return Case(("sensitivity", "p.bin", *options), says, {"p.bin": GOOD, **others})


def two(*options: str, says: tuple[str, ...], b: bytes = GOOD, verdict: str = "INVALID_INPUT") -> Case:
    return Case(("diff", "a.bin", "b.bin", *options), says, {"a.bin": GOOD, "b.bin": b, "x.npy": ROWS}, verdict)


CASES = {
    "sensitivity without a program": Case(("sensitivity",), ("Missing argument 'PROGRAM'",)),
    "sensitivity top negative": one("--top", "-1", says=("--top", "-1", "x>=0")),
    "sensitivity vectors text": one("--vectors", "all", says=("--vectors", "'all'")),
    "sensitivity inputs of another program": one(
        "--inputs", "x.npy", says=("x.npy", "shape (1, 3), must be (rows, 2)"), **{"x.npy": npy([[1, 2, 3]])}
    ),
    "sensitivity output a folder": one("-o", ".", says=("cannot write '.'", "it is a folder")),
    "sensitivity violation": Case(
        ("sensitivity", "p.bin"), ("row 1: overflow violation at op 2",), {"p.bin": BROKEN}, "PROGRAM_INVALID"
    ),
    "diff without b": Case(("diff", "a.bin"), ("Missing argument 'B'", "dais-verif diff --help"), {"a.bin": GOOD}),
    "diff b missing": Case(("diff", "a.bin", "b.bin"), ("cannot read 'b.bin'",), {"a.bin": GOOD}),
    "diff b damaged": two(b=GOOD[:-1], says=("b.bin", "multiple of 4")),
    "diff inputs differ": two(
        b=ONE_INPUT, says=("A (a.bin) has 2 inputs and B (b.bin) has 1", "only programs with the same number")
    ),
    "diff outputs differ": two(b=TWO_OUTPUTS, says=("A (a.bin) has 1 output and B (b.bin) has 2",)),
    "diff violation in b": two(
        b=BROKEN, says=("B (b.bin): row 1: overflow violation at op 2 (add)",), verdict="PROGRAM_INVALID"
    ),
    "diff layout of b wrong": two("--layout-b", "headerless", says=("b.bin", "headerless")),
    "diff witness into a folder": two(
        "--inputs", "x.npy", "--unchecked", "-o", ".", b=BROKEN, says=("cannot write '.'",)
    ),
    "diff engine unknown": two("--engine", "vhdl", says=("--engine", "'vhdl'")),
}
