"""Terms: bit-vector functions as an immutable graph of operations.

Both sides of a proof are terms: the semantics of an op, and the RTL that should compute it. There is one object for
each term, so terms of equal structure are identical. Building a term rewrites it to a normal form by rules that hold
for all values, which already decides most proofs.

A term has a width of at least one bit and a value of ``0 .. 2**width - 1``; signed numbers are in two's complement. Bit
0 is the least significant. ``as_written()`` disables all rewrite rules.
"""

from __future__ import annotations

import dais_verif.prover.terms.halves  # noqa: F401 - it adds its rules to those of the others
from dais_verif.prover.terms.arithmetic import add, bnot, mul, neg, sub, udiv, urem
from dais_verif.prover.terms.choices import (
    all_ones,
    ashr,
    band,
    bor,
    bxor,
    eq,
    ite,
    lookup,
    lshr,
    nonzero,
    shl,
    slt,
    ult,
)
from dais_verif.prover.terms.node import (
    Term,
    as_written,
    built,
    const,
    is_open,
    leaves,
    nodes,
    rebuild,
    undefined,
    var,
)
from dais_verif.prover.terms.parts import concat, extract, replaced, resize, sext, top_bit, zext

__all__ = [
    "Term",
    "as_written",
    # leaves
    "const",
    "undefined",
    "var",
    # parts and extensions
    "concat",
    "extract",
    "replaced",
    "resize",
    "sext",
    "zext",
    # arithmetic, modulo 2**width
    "add",
    "mul",
    "neg",
    "sub",
    "udiv",
    "urem",
    # bits
    "band",
    "bnot",
    "bor",
    "bxor",
    "lshr",
    "shl",
    "ashr",
    # decisions
    "all_ones",
    "eq",
    "ite",
    "lookup",
    "nonzero",
    "slt",
    "ult",
    # walking
    "built",
    "is_open",
    "leaves",
    "nodes",
    "rebuild",
    "top_bit",
]
