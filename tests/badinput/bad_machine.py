"""Inputs that ``explain`` and ``profile`` must refuse."""

from __future__ import annotations

from bad_case import GOOD, ROWS, Case, npy

FILES = {"p.bin": GOOD, "x.npy": ROWS, "wide.npy": npy([[1, 2, 3]])}


def explain(*options: str) -> Case:
    return Case(("explain", "p.bin", *options), FILES)


def profile(*options: str) -> Case:
    return Case(("run", "--profile", "p.bin", *options), FILES)


CASES = {
    "explain without a program": Case(("explain",)),
    "explain a row too far": explain("--inputs", "x.npy", "--vectors", "0", "--row", "2"),
    "explain a row before the first": explain("--row", "-1"),
    "explain the cone of no output": explain("--only-cone", "1"),
    "explain inputs of another program": explain("--inputs", "wide.npy"),
    "explain into a folder": explain("-o", "."),
    "profile no sample": profile("--samples", "0"),
    "profile top-k 0": profile("--top-k", "0"),
    "profile ignores the only call": profile("--samples", "1", "--ignore-first"),
    "profile no vectors": profile("--vectors", "0"),
    "profile vectors text": profile("--vectors", "many"),
}
