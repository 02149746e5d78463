"""Signals for ops that have none by name: those that hold an op's value on many vectors are taken for its signal.

That is a guess, and a wrong one does no harm: like every name it only proposes a cut point, which is then proved.
"""

from __future__ import annotations

from functools import partial

from dais_verif.program import Program
from dais_verif.prove.boundary import Boundary
from dais_verif.prove.declared import Declared
from dais_verif.prove.evaluate import Values
from dais_verif.prove.netlist import Netlist, Signal
from dais_verif.prove.witness import Wires, random_vectors, trace

__all__ = ["matched_signals"]

_ROWS = 96
#: Bits that a signal may have more than the type of its op.
_MORE = 2


def matched_signals(
    program: Program,
    boundary: Boundary,
    netlist: Netlist,
    cut: dict[int, Signal],
    declared: Declared,
    seed: int,
) -> dict[int, Signal]:
    """A signal for each op without one in ``cut``, as far as one behaves like it; no signal for two ops."""
    missing = [op for op in program.ops if op.index not in cut and op.type.width > 1]
    taken = {*cut.values(), *boundary.result_ports}
    free = [signal for signal in netlist.signals.values() if signal.drivers and signal not in taken]
    if not missing or not free:
        return {}
    vectors = declared.moved_inside(random_vectors(boundary.inputs, _ROWS, seed))
    found = trace(program, boundary.inputs, vectors, _ROWS)
    wires = Wires(boundary, {*free, *cut.values()}, found, ones=False)
    for number in boundary.claimed:
        wires.evaluated(partial(boundary.result, number))
    behaviour: dict[tuple[int, bytes], list[Signal]] = {}
    for signal, values in wires.values.items():
        if signal not in taken:
            behaviour.setdefault((signal.width, _key(values)), []).append(signal)
    result: dict[int, Signal] = {}
    for op in missing:
        half = 1 << (op.type.width - 1)
        bits = found.values[op.index].astype(object)
        if len(set(bits.tolist())) < 2:
            continue
        numbers = (bits ^ half) - half if op.type.k else bits
        for width in range(op.type.width, op.type.width + _MORE + 1):
            same = behaviour.get((width, _key(numbers & ((1 << width) - 1))))
            if same:
                result[op.index] = same.pop(0)
                break
    return result


def _key(values: Values) -> bytes:
    return repr(values.tolist()).encode()
