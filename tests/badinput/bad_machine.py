"""Inputs that ``explain`` and ``profile`` must refuse."""

from __future__ import annotations

from bad_case import GOOD, ROWS, Case, npy

FILES = {"p.bin": GOOD, "x.npy": ROWS, "wide.npy": npy([[1, 2, 3]])}


def explain(*options: str, says: tuple[str, ...]) -> Case:
    return Case(("explain", "p.bin", *options), says, FILES)


def profile(*options: str, says: tuple[str, ...]) -> Case:
    return Case(("profile", "p.bin", *options), says, FILES)


CASES = {
    "explain without a program": Case(("explain",), ("Missing argument 'PROGRAM'",)),
    "explain a row too far": explain(
        "--inputs", "x.npy", "--vectors", "0", "--row", "2", says=("--row 2", "there are 2 vectors, numbered from 0 on")
    ),
    "explain a row before the first": explain("--row", "-1", says=("--row", "-1", "x>=0")),
    "explain the cone of no output": explain("--only-cone", "1", says=("output 1", "of 1 output numbered from 0 on")),
    "explain inputs of another program": explain("--inputs", "wide.npy", says=("wide.npy", "must be (rows, 2)")),
    "explain into a folder": explain("-o", ".", says=("cannot write '.'", "it is a folder")),
    "profile no sample": profile("--samples", "0", says=("--samples", "0", "x>=1")),
    "profile top-k 0": profile("--top-k", "0", says=("--top-k", "0", "x>=1")),
    "profile ignores the only call": profile(
        "--samples", "1", "--ignore-first", says=("leaves nothing to measure", "--samples 2 or more")
    ),
    "profile no vectors": profile("--vectors", "0", says=("there are no rows: nothing would be measured",)),
    "profile vectors text": profile("--vectors", "many", says=("--vectors", "'many'")),
}
