"""Where a mismatch comes from: the first op, in SSA order, whose value in the RTL is not the golden model's.

The failing vector is replayed with the op signals readable. Every operand of the first diverging op is right,
so the fault is in that op; if all ops agree, it is in how the output is put together.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from dais_verif.emit.ops import signal
from dais_verif.golden import oracle
from dais_verif.golden.batch import Compiled
from dais_verif.program import FixedType, Program
from dais_verif.program.graph import cone
from dais_verif.program.numbers import Batch
from dais_verif.report.record import Blame, Value
from dais_verif.sim.simulate import Design, probe

__all__ = ["blame_engines", "blame_mismatch", "value_of_bits", "value_of_raw"]


def value_of_raw(raw: int, kind: FixedType) -> Value:
    """A raw integer of type ``kind`` three ways."""
    width = max(kind.width, 1)
    return Value(oracle.show(Fraction(raw) * oracle.two(-kind.f)), raw, format(raw & (1 << width) - 1, f"0{width}b"))


def value_of_bits(bits: str, kind: FixedType) -> Value:
    """Bits of type ``kind``, most significant first, three ways; X and Z have no number."""
    if set(bits) - {"0", "1"}:
        return Value(None, None, bits)
    raw = int(bits, 2)
    if kind.k and bits[0] == "1":
        raw -= 1 << len(bits)
    return Value(oracle.show(Fraction(raw) * oracle.two(-kind.f)), raw, bits)


def blame_engines(program: Program, compiled: Compiled, batch: Batch, rows: Sequence[int]) -> Blame | None:
    """The first op on which oracle and batch engine differ in one of ``rows``, or None: a check of ourselves."""
    for row in rows:
        exact = oracle.trace(program, batch.row(row), violations=[])
        fast = compiled.trace(batch.slice(row, row + 1))
        for op, value, raw in zip(program.ops, exact, fast, strict=True):
            expected = (value * oracle.two(op.type.f)).numerator
            if raw is None or int(raw[0]) != expected:
                text = (
                    f"golden engines differ at {op} in row {row}: oracle {expected}, batch engine "
                    f"{None if raw is None else int(raw[0])} (raw); this is a bug of dais-verif, please report it"
                )
                return Blame("golden", text, op.index, op.spec.mnemonic, str(op.type))
    return None


def blame_mismatch(
    program: Program,
    design: Design,
    simulator: str,
    batch: Batch,
    row: int,
    vector: str,
    output: int,
    folder: Path,
    *,
    timeout: float | None = None,
) -> Blame:
    """The blame for the mismatch of ``output`` in ``row``, by a replay in ``simulator``. Raises ``ToolError``."""
    index = program.outputs[output][0]
    ops = [program.ops[i] for i in cone(program, [index] if index >= 0 else []) if program.ops[i].type.width]
    found = probe(simulator, design, vector, [signal(op.index) for op in ops], folder, timeout=timeout)
    reached = sorted({op.id0 for op in ops if op.code == -1})
    if ops and not found:
        inputs = ", ".join(map(str, reached[:8])) + (", ..." if len(reached) > 8 else "")
        text = (
            f"output {output} depends on {len(ops)} ops and inputs {inputs or 'none'}; the design has no op_N signals"
        )
        return Blame("cone", text, replayed_in=simulator)
    values = oracle.trace(program, batch.row(row), violations=[])
    for op in ops:
        bits = found.get(signal(op.index))
        if bits is None:
            continue
        raw = (values[op.index] * oracle.two(op.type.f)).numerator
        if bits == format(raw & (1 << len(bits)) - 1, f"0{len(bits)}b"):
            continue
        # The headroom bit of an unsigned value is shown only where it is what differs.
        shown = bits if bits[-op.type.width :] == format(raw, "b").zfill(op.type.width) else bits[-op.type.width :]
        missing = sum(signal(other.index) not in found for other in ops if other.index < op.index)
        unnamed = f" ({missing} earlier ops of the cone have no signal)" if missing else ""
        return Blame(
            "op",
            f"{op} is the first op whose value diverges{unnamed}",
            op.index,
            op.spec.mnemonic,
            str(op.type),
            value_of_raw(raw, op.type),
            value_of_bits(shown, op.type),
            simulator,
        )
    return Blame(
        "output",
        f"all {len(ops)} ops of its cone agree: output {output} itself is put together wrongly",
        replayed_in=simulator,
    )
