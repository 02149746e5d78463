"""Find signals for ops that no name identifies: a signal that holds the values of an op on many vectors is chosen.

This is a guess. A wrong guess does no harm: like a name, it only proposes a cut point, which must then be proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from dais_verif.prover.boundary import Boundary
from dais_verif.prover.equal_ops import first_twins
from dais_verif.prover.lemmas import Assumptions
from dais_verif.prover.netlist import Netlist, Signal
from dais_verif.prover.random_simulation import WORD, Wires, random_vectors, trace
from dais_verif.prover.terms.evaluate import Values
from dais_verif.spec.program import Op, Program
from dais_verif.spec.program.opcodes import INPUT

__all__ = ["match_signals"]

_ROWS = 512
#: The number of bits by which a signal may be wider than the type of its op.
_MORE = 2
#: The largest number of signals that a search visits between the signal of an op and the signals of its operands.
_STEPS = 100

#: The width of a signal, and its values on all vectors.
_Behaviour = tuple[int, bytes]


def match_signals(
    program: Program,
    boundary: Boundary,
    netlist: Netlist,
    cut: dict[int, Signal],
    missing: Sequence[Op],
    assumptions: Assumptions,
    seed: int,
) -> dict[int, Signal]:
    """Find, for each op of ``missing``, a signal with the values of the op.

    No signal is used for two ops, and no signal of ``cut`` is used. Ops for which no signal is found have no entry.
    """
    taken = {*cut.values(), *boundary.result_ports}
    free = [signal for signal in netlist.signals.values() if signal.drivers and signal not in taken]
    if not missing or not free:
        return {}
    vectors = assumptions.moved_inside(random_vectors(boundary.inputs, _ROWS, seed))
    found = trace(program, boundary.inputs, vectors, _ROWS)
    wires = Wires(boundary, {*free, *cut.values()}, found, ones=False)
    for number in boundary.claimed:
        wires.evaluated(partial(boundary.result, number))
    matcher = _Matcher(wires, cut, first_twins(program), set(boundary.result_ports))
    result: dict[int, Signal] = {}
    for op in missing:
        signal = matcher.choice(op, found.values[op.index])
        if signal is not None:
            result[op.index] = signal
    return result


class _Matcher:
    """The values of signals, and the signals and inputs that each reads."""

    def __init__(self, wires: Wires, cut: Mapping[int, Signal], twins: Sequence[int], never: set[Signal]) -> None:
        self._sources, self._twins = wires.sources, twins
        self._op_of = {signal: twins[index] for index, signal in cut.items()}
        self._signals = {twins[index]: signal for index, signal in cut.items()}
        self._behaviours = {s: (s.width, _key(values, s.width)) for s, values in wires.values.items() if s not in never}
        self._alike: dict[_Behaviour, list[Signal]] = {}
        for signal, behaviour in self._behaviours.items():
            self._alike.setdefault(behaviour, []).append(signal)
        self._readers: dict[Signal | int, list[Signal]] = {}
        for signal, sources in wires.sources.items():
            for source in dict.fromkeys(sources):
                self._readers.setdefault(source, []).append(signal)

    def choice(self, op: Op, values: Values) -> Signal | None:
        """Return a free signal with these values, preferably one that reads the signals of the operands of ``op``."""
        telling = op.type.width > 1 and len(set(values.tolist())) > 1
        support = self._support_of(op)
        for behaviour in _behaviours(op, values):
            alike = [signal for signal in self._alike.get(behaviour, ()) if signal not in self._op_of]
            if len(alike) > 1 or not telling:
                near = (signal for signal in self._near(support) if self._behaviours.get(signal) == behaviour)
                fitting = next((signal for signal in near if self._support(signal) == support), None)
                # A signal that only carries the signal of another op is most likely not the signal of this op.
                others = (signal for signal in alike if not (support and self._carries_on(signal)))
                chosen = fitting or (next(others, None) if telling else None)
            else:
                chosen = alike[0] if alike else None
            if chosen is not None:
                self._op_of[chosen] = self._twins[op.index]
                self._signals.setdefault(self._twins[op.index], chosen)
                return chosen
        return None

    def _carries_on(self, signal: Signal) -> bool:
        """Return whether ``signal`` only passes on the value of the signal of another op."""
        behaviours = {self._behaviours.get(s) if isinstance(s, Signal) else None for s in self._support(signal)}
        return behaviours == {self._behaviours[signal]}

    def _support_of(self, op: Op) -> set[Signal | int]:
        """Return what the signal of ``op`` should depend on, as far as known: signals, and inputs by number."""
        if op.code == INPUT:
            return {op.id0}
        return {self._signals[self._twins[i]] for i in op.operands if self._twins[i] in self._signals}

    def _near(self, support: set[Signal | int]) -> Iterator[Signal]:
        """Yield free signals that depend on a member of ``support``, the nearest first."""
        if not support:
            return
        start = min(support, key=lambda source: len(self._readers.get(source, ())))
        seen: set[Signal] = set()
        waiting: list[Signal | int] = [start]
        for source in waiting:  # the list grows while it is read
            for signal in self._readers.get(source, ()):
                if signal not in seen and signal not in self._op_of and len(seen) < _STEPS:
                    seen.add(signal)
                    waiting.append(signal)
                    yield signal

    def _support(self, signal: Signal) -> set[Signal | int]:
        """Return what ``signal`` depends on: signals of ops, and inputs by number."""
        found: set[Signal | int] = set()
        seen, waiting = {signal}, [signal]
        while waiting and len(seen) < _STEPS:
            for source in self._sources.get(waiting.pop(), ()):
                if not isinstance(source, Signal):
                    found.add(source)
                elif source in self._op_of:
                    found.add(self._signals[self._op_of[source]])
                elif source not in seen:
                    seen.add(source)
                    waiting.append(source)
        return found


def _behaviours(op: Op, values: Values) -> Iterator[_Behaviour]:
    """Yield the behaviours that a signal of ``op`` may have: values of the op, in the width of its type or more."""
    half = 1 << (op.type.width - 1)
    numbers = values.astype(object)
    if op.type.k:
        numbers = (numbers ^ half) - half
    for width in range(op.type.width, op.type.width + _MORE + 1):
        yield width, _key(numbers & ((1 << width) - 1), width)


def _key(values: Values, width: int) -> bytes:
    return values.astype(np.uint64).tobytes() if width <= WORD else repr(values.tolist()).encode()
