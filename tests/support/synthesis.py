"""Run ``dais-verif synth`` by its command line, and programs for it."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from dais_verif.doors.cli import main
from dais_verif.spec.program import Program, assemble
from support.door import save

__all__ = ["EVERYTHING", "NEGATED", "Made", "synth"]

#: A table, a product, a mux, a sum, a quantisation that wraps, and an input that reaches an output unchanged.
EVERYTHING = assemble("""
    input x, y
    table bumps = [3, 200, 17, 0, 255, 128, 64, 9, 11, 90, 33, 1, 2, 77, 254, 100]
    a = s4.0 input x
    b = s4.0 input y
    bump = u8.0 bumps[a]
    product = s8.0 a * b
    chosen = s9.0 msb(product) ? bump : product
    sum = s11.0 chosen - b<<1
    cut = s5.0 quant(sum)
    output 0 = sum
    output 1 = -cut
    output 2 = bump
    output 3 = a
""")

#: -x wraps for the most negative x, and a wider sum reads it.
NEGATED = {
    sign: assemble(f"""
        input a, x
        p = s12.0 input a
        q = s8.0 input x
        negated = s8.0 quant(-q)
        sum = s18.0 p {sign} negated
        output 0 = sum
    """)
    for sign in "+-"
}


class Made(NamedTuple):
    """The result of ``synth``. ``facts``: the record that ``--json`` printed."""

    code: int
    facts: dict[str, Any]
    stderr: str
    folder: Path


def synth(program: Program, folder: Path, target: str, *options: object) -> Made:
    path, out = save(program, folder), folder / "net"
    arguments = ["synth", str(path), "--target", target, "-o", str(out), "--json", *map(str, options)]
    stdout, stderr = io.StringIO(), io.StringIO()
    with redirect_stdout(stdout), redirect_stderr(stderr):
        code = main._run(arguments)
    return Made(code, json.loads(stdout.getvalue()), stderr.getvalue(), out)
