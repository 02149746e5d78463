"""Files that are not vectors, and outputs that cannot be represented or written, through ``run`` and ``sim``."""

from __future__ import annotations

import struct

import numpy as np
from bad_case import GOOD, HUGE, NARROW, ROWS, WIDE, Case, npy

from dais_verif.spec.program import write_binary


def vectors(name: str, data: bytes) -> Case:
    return Case(("run", "p.bin", "--inputs", name), {"p.bin": GOOD, name: data})


def npy_header(shape: str, descr: str = "<f8") -> bytes:
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(32)


FILES = {
    "vectors missing": Case(("run", "p.bin", "--inputs", "no.npy"), {"p.bin": GOOD}),
    "vectors a folder": Case(("run", "p.bin", "--inputs", "."), {"p.bin": GOOD}),
    "npy NaN": vectors("x.npy", npy([[0, 1], [np.nan, 2]])),
    "npy infinity": vectors("x.npy", npy([[0, -np.inf]])),
    "npy too few columns": vectors("x.npy", npy(np.zeros((4, 1)))),
    "npy too many columns": vectors("x.npy", npy(np.zeros((4, 3)))),
    "npy complex": vectors("x.npy", npy(np.zeros((4, 2), complex))),
    "npy text": vectors("x.npy", npy([["a", "b"]])),
    "npy objects": vectors("x.npy", npy(np.array([[1, None]], dtype=object))),
    "npy truncated": vectors("x.npy", ROWS[:-3]),
    "npy header truncated": vectors("x.npy", ROWS[:30]),
    "npy header lies": vectors("x.npy", npy_header("(1000000000, 2)")),
    "npy header lies greatly": vectors("x.npy", npy_header(f"({2**62}, 2)")),
    "npy header beyond words": vectors("x.npy", npy_header(f"({10**40}, 2)")),
    "npy header negative": vectors("x.npy", npy_header("(-2, 2)")),
    "npy header broken off": vectors("x.npy", npy_header("(2, 2")),
    "npz": vectors("x.npz", b"PK\x03\x04\x14\x00\x00\x00\xff\xff"),
    "csv ragged": vectors("x.csv", b"1,2\n3\n"),
    "csv of three columns": vectors("x.csv", b"a,b,c\n1,2,3\n"),
    "csv text": vectors("x.csv", b"a,b\n1,2\n3,four\n"),
    "csv NaN": vectors("x.csv", b"1,nan\n"),
    "csv beyond doubles": vectors("x.csv", b"1e999,2\n"),
    "csv binary": vectors("x.csv", bytes(range(128, 256))),
    "raw fractions": Case(
        ("run", "p.bin", "--inputs", "x.csv", "--raw-inputs"),
        {"p.bin": GOOD, "x.csv": b"1,2.5\n"},
    ),
    "sim, vectors of another program": Case(
        ("sim", "p.bin", "--inputs", "x.npy"),
        {"p.bin": GOOD, "x.npy": npy(np.zeros((2, 3)))},
    ),
}


def run(program: bytes, *options: str, x: bytes = ROWS, verdict: str = "INVALID_INPUT") -> Case:
    files = {"p.bin": program, "x.npy": x, "file": b"in the way"}
    return Case(("run", "p.bin", "--inputs", "x.npy", *options), files, verdict)


ODD = npy(np.array([[2**60 + 1, 0]]))

OUTPUTS = {
    "an output beyond doubles": run(write_binary(HUGE, "v1")),
    "an output finer than doubles": run(write_binary(WIDE, "v1"), x=ODD),
    "raw beyond npy": run(write_binary(WIDE, "v1"), "--raw", "-o", "y.npy", x=npy([[1e20, 0]])),
    "violation": run(
        write_binary(NARROW, "v1"),
        x=npy([[0, 0], [-8, -1]]),
        verdict="PROGRAM_INVALID",
    ),
    "output below a file": run(GOOD, "-o", "file/y.npy"),
    "output in /proc": run(GOOD, "-o", "/proc/dais.npy"),
    "output is a folder": run(GOOD, "-o", "."),
    "output is empty": run(GOOD, "-o", ""),
    "output in an absent folder": run(GOOD, "-o", "no/y.npy"),
    "show to a folder": Case(("show", "p.bin", "-o", "/"), {"p.bin": GOOD}),
    "emit below a file": Case(("emit", "p.bin", "-o", "p.bin/m.v"), {"p.bin": GOOD}),
}

CASES = {**FILES, **OUTPUTS}
