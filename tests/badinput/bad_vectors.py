"""Files that are not vectors, and outputs that cannot be represented or written, through ``run`` and ``sim``."""

from __future__ import annotations

import struct

import numpy as np
from bad_case import GOOD, HUGE, NARROW, ROWS, WIDE, Case, npy

from dais_verif.program import write_binary


def vectors(name: str, data: bytes, *expected: str) -> Case:
    return Case(("run", "p.bin", "--inputs", name), (name, *expected), {"p.bin": GOOD, name: data})


def npy_header(shape: str, descr: str = "<f8") -> bytes:
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(32)


FILES = {
    "vectors missing": Case(
        ("run", "p.bin", "--inputs", "no.npy"), ("cannot read 'no.npy'", "No such"), {"p.bin": GOOD}
    ),
    "vectors a folder": Case(("run", "p.bin", "--inputs", "."), ("cannot read '.'", "Is a directory"), {"p.bin": GOOD}),
    "npy NaN": vectors("x.npy", npy([[0, 1], [np.nan, 2]]), "input vector 1, input 0 is nan"),
    "npy infinity": vectors("x.npy", npy([[0, -np.inf]]), "input vector 0, input 1 is -inf"),
    "npy too few columns": vectors("x.npy", npy(np.zeros((4, 1))), "shape (4, 1), must be (rows, 2)"),
    "npy too many columns": vectors("x.npy", npy(np.zeros((4, 3))), "shape (4, 3), must be (rows, 2)"),
    "npy complex": vectors("x.npy", npy(np.zeros((4, 2), complex)), "dtype is complex128, must be float16"),
    "npy text": vectors("x.npy", npy([["a", "b"]]), "dtype is <U1, must be float16"),
    "npy objects": vectors("x.npy", npy(np.array([[1, None]], dtype=object)), "not a readable .npy file", "Python obj"),
    "npy truncated": vectors("x.npy", ROWS[:-3], "not a readable .npy file"),
    "npy header truncated": vectors("x.npy", ROWS[:30], "not a readable .npy file"),
    "npy header lies": vectors("x.npy", npy_header("(1000000000, 2)"), "not a readable .npy file"),
    "npy header lies greatly": vectors("x.npy", npy_header(f"({2**62}, 2)"), "not a readable .npy file"),
    "npy header beyond words": vectors("x.npy", npy_header(f"({10**40}, 2)"), "not a readable .npy file"),
    "npy header negative": vectors("x.npy", npy_header("(-2, 2)"), "not a readable .npy file"),
    "npy header broken off": vectors("x.npy", npy_header("(2, 2"), "not a readable .npy file"),
    "npz": vectors("x.npz", b"PK\x03\x04\x14\x00\x00\x00\xff\xff", "not a readable .npz file"),
    "csv ragged": vectors("x.csv", b"1,2\n3\n", "line 2: 1 value, must be 2"),
    "csv of three columns": vectors("x.csv", b"a,b,c\n1,2,3\n", "line 1: 3 values, must be 2"),
    "csv text": vectors("x.csv", b"a,b\n1,2\n3,four\n", "line 3, column 2: 'four' is not a number"),
    "csv NaN": vectors("x.csv", b"1,nan\n", "line 1, column 2: 'nan' is not a finite float64"),
    "csv beyond doubles": vectors("x.csv", b"1e999,2\n", "line 1, column 1: '1e999' is not a finite float64"),
    "csv binary": vectors("x.csv", bytes(range(128, 256)), "neither .npy nor readable CSV"),
    "raw fractions": Case(
        ("run", "p.bin", "--inputs", "x.csv", "--raw-inputs"),
        ("x.csv", "input 1", "raw inputs must be integers"),
        {"p.bin": GOOD, "x.csv": b"1,2.5\n"},
    ),
    "sim, vectors of another program": Case(
        ("sim", "p.bin", "--inputs", "x.npy"),
        ("x.npy", "shape (2, 3), must be (rows, 2)"),
        {"p.bin": GOOD, "x.npy": npy(np.zeros((2, 3)))},
    ),
}


def run(program: bytes, *options: str, says: tuple[str, ...], x: bytes = ROWS, verdict: str = "INVALID_INPUT") -> Case:
    files = {"p.bin": program, "x.npy": x, "file": b"in the way"}
    return Case(("run", "p.bin", "--inputs", "x.npy", *options), says, files, verdict)


ODD = npy(np.array([[2**60 + 1, 0]]))

OUTPUTS = {
    "an output beyond doubles": run(
        write_binary(HUGE, "v1"), says=("row 0, output 1", "1 * 2**2000", "does not fit a float64 exactly", "--raw")
    ),
    "an output finer than doubles": run(
        write_binary(WIDE, "v1"), x=ODD, says=("row 0, output 0", f"{2**60 + 1}", "does not fit a float64", "--raw")
    ),
    "raw beyond npy": run(
        write_binary(WIDE, "v1"), "--raw", "-o", "y.npy", x=npy([[1e20, 0]]), says=("output 0", "62 bits", ".csv")
    ),
    "violation": run(
        write_binary(NARROW, "v1"),
        x=npy([[0, 0], [-8, -1]]),
        says=("row 1", "op 2 (add)", "exact result -9 becomes 7 in type s4.0", "op 0 = -8, op 1 = -1"),
        verdict="PROGRAM_INVALID",
    ),
    "output below a file": run(GOOD, "-o", "file/y.npy", says=("cannot write 'file/y.npy'", "Not a directory", "-o")),
    "output in /proc": run(GOOD, "-o", "/proc/dais.npy", says=("cannot write '/proc/dais.npy'", "-o")),
    "output is a folder": run(GOOD, "-o", ".", says=("cannot write '.'", "it is a folder; name a file with -o")),
    "output is empty": run(GOOD, "-o", "", says=("cannot write '.'", "it is a folder")),
    "output in an absent folder": run(GOOD, "-o", "no/y.npy", says=("cannot write 'no/y.npy'", "No such file")),
    "show to a folder": Case(("show", "p.bin", "-o", "/"), ("cannot write '/'", "it is a folder"), {"p.bin": GOOD}),
    "emit below a file": Case(
        ("emit", "p.bin", "-o", "p.bin/m.v"), ("cannot write", "Not a directory"), {"p.bin": GOOD}
    ),
}

CASES = {**FILES, **OUTPUTS}
