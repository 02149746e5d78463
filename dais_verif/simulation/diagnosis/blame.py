"""Find the origin of a mismatch: the first op, in SSA order, whose value in the RTL is not the golden model's.

The failing vector is replayed with the op signals readable. Every operand of the first diverging op is correct, so the
fault is in that op; if all ops agree, it is in the assembly of the output. The replay leaves waves, and files that tell
viewers what to show.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from dais_verif.base.text import counted
from dais_verif.golden import oracle
from dais_verif.golden.batch import Compiled
from dais_verif.hardware.emitter.module import path_of
from dais_verif.hardware.ports.interface import Dut, packed
from dais_verif.record.simulation import Blame, Value
from dais_verif.simulation.diagnosis.views import ask_for, replay, write_views
from dais_verif.simulation.naming import DA4ML, chosen
from dais_verif.simulation.simulators import verilator
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.simulation.testbench.idle import driven
from dais_verif.simulation.testbench.packing import unpack_element
from dais_verif.simulation.testbench.probe_job import Seen
from dais_verif.spec.program import FixedType, Op, Program
from dais_verif.spec.program.graph import cone
from dais_verif.spec.program.numbers import Batch
from dais_verif.spec.program.opcodes import INPUT

__all__ = [
    "Judged",
    "Replay",
    "blame_engines",
    "blame_expectation",
    "blame_signals",
    "blame_undriven",
    "holds",
    "judge_rows",
    "replay_mismatch",
    "value_of_bits",
    "value_of_raw",
]


def blame_undriven(folder: Path) -> Blame:
    """Return the signals that nothing drives, as Verilator names them in its build below ``folder``."""
    names = verilator.undriven(folder / "build")
    if names:
        return Blame("undriven", f"{', '.join(names[:4])}{' and more' if len(names) > 4 else ''}")
    return Blame("undriven", "a register without an initial value, a latch, an index out of range or an X of the RTL")


def value_of_raw(raw: int, kind: FixedType) -> Value:
    """Return a raw integer of type ``kind`` as raw integer, real value and bits."""
    width = max(kind.width, 1)
    return Value(oracle.show(Fraction(raw) * oracle.two(-kind.f)), raw, format(raw & (1 << width) - 1, f"0{width}b"))


def value_of_bits(bits: str, kind: FixedType) -> Value:
    """Return bits of type ``kind``, most significant first, as ``value_of_raw`` does; X and Z have no number."""
    if set(bits) - {"0", "1"}:
        return Value(None, None, bits)
    raw = int(bits, 2)
    if kind.k and bits[0] == "1":
        raw -= 1 << len(bits)
    return Value(oracle.show(Fraction(raw) * oracle.two(-kind.f)), raw, bits)


class Judged(NamedTuple):
    """The oracle's results for a row: the value of every op, computed without checks, and the broken promises."""

    values: list[Fraction]
    violations: list[oracle.Violation]


def judge_rows(program: Program, batch: Batch, rows: Sequence[int]) -> dict[int, Judged]:
    """Return the oracle's result for each row of ``batch``; ``rows`` gives their numbers."""
    judged = {}
    for position, row in enumerate(rows):
        violations: list[oracle.Violation] = []
        judged[row] = Judged(oracle.trace(program, batch.row(position), violations=violations), violations)
    return judged


def blame_engines(program: Program, compiled: Compiled, batch: Batch, judged: Mapping[int, Judged]) -> Blame | None:
    """Return the first op on which oracle and batch engine differ in a ``judged`` row, or None: a self-check.

    ``batch`` holds these rows, in the same order. The engines must agree on every value, and on the first broken
    promise.
    """
    rows = list(judged)
    if not rows:
        return None
    fast = compiled.trace(batch)
    broken: tuple[int, int] | None = None
    for position, (row, (exact, violations)) in enumerate(judged.items()):
        for op, value, raw in zip(program.ops, exact, fast, strict=True):
            expected = (value * oracle.two(op.type.f)).numerator
            found = None if raw is None else int(raw[position])
            if found != expected:
                return _engines_differ(op, f"in row {row}: oracle {expected}, batch engine {found} (raw)")
        if violations and broken is None:
            broken = position, violations[0].op.index
    seen = compiled.run(batch, check=True)[1]
    if seen == broken:
        return None
    position, index = min(found for found in (seen, broken) if found)
    who = "batch engine" if (position, index) == seen else "oracle"
    return _engines_differ(program.ops[index], f"in row {rows[position]}: only the {who} sees a violation")


def blame_expectation(
    program: Program, dut: Dut, judged: Mapping[int, Judged], expected: Mapping[int, str], check: bool
) -> Blame | None:
    """Return the first output of a ``judged`` row whose bits in ``expected`` are not the oracle's, or None.

    ``expected``: by row, the output row that the RTL must give, from any engine. ``check``: the engine checked
    promises, and found none broken.
    """
    for row, (values, violations) in judged.items():
        if check and violations:
            return _engines_differ(violations[0].op, f"in row {row}: only the oracle sees a violation")
        outputs = zip(oracle.outputs_of(program, values), dut.output_types, dut.ports.outputs, strict=True)
        for output, (value, kind, element) in enumerate(outputs):
            right, bits = value_of_raw((value * oracle.two(kind.f)).numerator, kind), expected[row]
            if element.width and unpack_element(bits, element) != right.bits:
                found = value_of_bits(unpack_element(bits, element), kind)
                numbers = f"oracle {right.raw}, expected of the RTL {found.raw} (raw)"
                return Blame("golden", f"golden engines differ at output {output} in row {row}: {numbers}; {_OURS}")
    return None


_OURS = "this is a bug of dais-verif, please report it"


def _engines_differ(op: Op, how: str) -> Blame:
    return Blame("golden", f"golden engines differ at {op} {how}; {_OURS}", op.index, op.spec.mnemonic, str(op.type))


def holds(bits: str, raw: int, kind: FixedType) -> bool:
    """Return True if a signal with ``bits`` holds ``raw``; a signal narrower than the type is sign-extended."""
    if len(bits) < kind.width:
        bits = (bits[0] if kind.k else "0") * (kind.width - len(bits)) + bits
    return bits == format(raw & (1 << len(bits)) - 1, f"0{len(bits)}b")


class Replay(NamedTuple):
    """The result of a replay: the values, waves of the failing vector, and files that tell viewers what to show.

    ``found``: the output row, most significant bit first. If it differs from the output row of the first run, the
    replay did not repeat the mismatch.
    """

    blame: Blame
    found: str
    waves: Path | None = None
    views: tuple[Path, ...] = ()


def replay_mismatch(
    program: Program,
    design: RtlDesign,
    simulator: str,
    batch: Batch,
    row: int,
    vector: str,
    output: int,
    folder: Path,
    *,
    before: str | None = None,
    latency: int | None = None,
    timeout: float | None = None,
) -> Replay:
    """Replay the mismatch of ``output`` in ``row`` in ``simulator``. Raises ``ToolError``.

    ``vector``: the bits of the row, most significant first; ``before``: the bits of the previous row, None: zeros. Both
    include the bits of ports that carry nothing (``idle.filled_row``). ``latency``: that of a clocked design, in which
    each of the two rows is held until its output appears.
    """
    dut, own = design.dut or packed(program), design.path_of or path_of(program)
    ops = _cone_of(program, output)
    asked = [*ask_for(program, dut), *_names_of(ops, own)]
    before = "0" * len(vector) if before is None else before
    interface = driven(dut.interface.with_latency(latency))
    seen, waves = replay(simulator, design, interface, before, vector, asked, folder, timeout=timeout)
    name_of = chosen(ops, own, seen.bits)
    values = oracle.trace(program, batch.row(row), violations=[])
    blame = replace(_blame(program, dut, name_of, ops, values, output, seen), replayed_in=simulator)
    views = write_views(program, dut, name_of, design.top, seen, waves, output, blame, folder) if waves else ()
    return Replay(blame, seen.outputs[1], waves, views)


def blame_signals(
    program: Program, dut: Dut, batch: Batch, output: int, found: str, read: Callable[[Sequence[str]], dict[str, str]]
) -> Blame:
    """Return the origin of the mismatch of ``output`` on the single row of ``batch``, from a design's current signals.

    ``read``: returns the bits of the named signals that exist, on that row. ``found``: the output row.
    """
    ops, own = _cone_of(program, output), path_of(program)
    bits = read(_names_of(ops, own))
    values = oracle.trace(program, batch.row(0), violations=[])
    return _blame(program, dut, chosen(ops, own, bits), ops, values, output, Seen(("", found), bits=bits))


def _cone_of(program: Program, output: int) -> list[Op]:
    """Return the ops with bits on which ``output`` depends, in SSA order."""
    index = program.outputs[output][0]
    return [program.ops[i] for i in cone(program, [index] if index >= 0 else []) if program.ops[i].type.width]


def _names_of(ops: Sequence[Op], own: Callable[[int], str]) -> list[str]:
    return [name(op.index) for op in ops for name in (own, DA4ML)]


def _blame(
    program: Program,
    dut: Dut,
    name_of: Callable[[int], str],
    ops: Sequence[Op],
    values: Sequence[Fraction],
    output: int,
    seen: Seen,
) -> Blame:
    """Find the wrong op among ``ops``, the cone of ``output`` in SSA order; ``values``: the values of all ops."""
    if _output_is_right(program, dut, values, output, seen):
        if dut.interface.clocking is not None:
            return Blame(
                "timing",
                f"output {output} is right when this vector is held: its value is right, but its timing is wrong "
                "(a register too many or too few, or a given latency that is not that of the design)",
            )
        return Blame(
            "unknown",
            f"output {output} is right when this vector is replayed after the one before it: "
            "what the design computes depends on earlier vectors",
        )
    if ops and not any(name_of(op.index) in seen.bits for op in ops):
        reached = sorted({op.id0 for op in ops if op.code == INPUT})
        shown = ", ".join(map(str, reached[:8])) + (", ..." if len(reached) > 8 else "")
        inputs = f"{'input' if len(reached) == 1 else 'inputs'} {shown}" if reached else "no input"
        text = f"output {output} depends on {counted(len(ops), 'op')} and {inputs}; the design has no op_N signals"
        return Blame("cone", text)
    for op in ops:
        bits = seen.bits.get(name_of(op.index))
        if bits is None:
            continue
        raw = (values[op.index] * oracle.two(op.type.f)).numerator
        if holds(bits, raw, op.type):
            continue
        # Bits above the width of the type are shown only if they alone are wrong.
        own = bits[-op.type.width :]
        shown = bits if holds(own, raw, op.type) else own
        missing = sum(name_of(other.index) not in seen.bits for other in ops if other.index < op.index)
        unnamed = f" ({missing} earlier ops of the cone have no signal)" if missing else ""
        unnamed += f", signal {DA4ML(op.index)}" if name_of is DA4ML else ""
        return Blame(
            "op",
            f"{op} is the first op whose value diverges{unnamed}",
            op.index,
            op.spec.mnemonic,
            str(op.type),
            value_of_raw(raw, op.type),
            value_of_bits(shown, op.type),
        )
    return Blame("output", f"all {len(ops)} ops of its cone agree: output {output} itself is assembled wrongly")


def _output_is_right(program: Program, dut: Dut, values: Sequence[Fraction], output: int, seen: Seen) -> bool:
    """Return True if the replay does not show the mismatch at all."""
    element, kind, found = dut.ports.outputs[output], dut.output_types[output], seen.outputs[1]
    if element.width == 0 or len(found) < element.offset + element.width:
        return False
    right = oracle.outputs_of(program, list(values))[output] * oracle.two(kind.f)
    return unpack_element(found, element) == value_of_raw(right.numerator, kind).bits
