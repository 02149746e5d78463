"""One cycle of a machine as a program that also computes an unknown bit for each value that may be unknown.

The rules are those of the oracle: a value is unknown if a value that it depends on is unknown; a mux with a known
condition depends on the selected arm only; a choice between two known, equal values is known for any condition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dais_verif.spec.machine.model import Connection, Machine, View
from dais_verif.spec.machine.step import Element, Lowering, Row, Step
from dais_verif.spec.program import FixedType
from dais_verif.spec.program.opcodes import MUXES, Code, low_int32

__all__ = ["step_with_unknowns"]

_BIT = FixedType(0, 1, 0)
_AND, _OR, _XOR = (gate << 56 for gate in (0, 1, 2))
_ANY = 1


def step_with_unknowns(machine: Machine) -> Step:
    """Return one cycle of a valid ``machine`` as a step with ``unknowns``; any register may be unknown.

    A read at an index beyond its memory breaks a promise, and its result is undefined.
    """
    return replace(_Shadowed(machine).step(), unknowns=True)


class _Shadowed(Lowering):
    """``shadows``: for each op that may be unknown, the op that is 1 if it is unknown. Shadows have no shadows."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.shadows: dict[int, int] = {}
        self._gates: dict[Row, int] = {}

    # additional inputs and outputs

    def more_inputs(self, first: int, state: Sequence[Element]) -> int:
        for number, (name, place) in enumerate(state):
            shadow = self.gate(Code.INPUT, first + number, -1, 0, _BIT)
            if self.machine.signals[name].types[place].width:
                self.shadows[self.values[name][place]] = shadow
        return len(state)

    def more_outputs(self, found: Sequence[int]) -> list[int]:
        return [self.sure(self.shadows.get(op)) for op in found]

    # ops of shadows

    def gate(self, code: int, a: int, b: int, data: int, kind: FixedType) -> int:
        """Return an op that computes a shadow."""
        row = (int(code), a, b, data, kind)
        known = self._gates.get(row)
        if known is None:
            known = self._gates[row] = super().new(row, None)
        return known

    def sure(self, shadow: int | None) -> int:
        """Return ``shadow``, or a constant 0 if it is None."""
        return self.gate(Code.CONST, -1, -1, 0, _BIT) if shadow is None else shadow

    def either(self, *shadows: int | None) -> int | None:
        found: int | None = None
        for shadow in shadows:
            if shadow is not None and shadow != found:
                found = shadow if found is None else self.gate(Code.BIT_BINARY, found, shadow, _OR, _BIT)
        return found

    def both(self, a: int | None, b: int | None) -> int | None:
        return None if a is None or b is None else self.gate(Code.BIT_BINARY, a, b, _AND, _BIT)

    def of_arm(self, condition: int, one: int | None, other: int | None) -> int | None:
        """Return ``one`` where the highest bit of ``condition`` is 1, else ``other``."""
        if one == other:
            return one
        return self.gate(Code.MUX, self.sure(one), self.sure(other), condition, _BIT)

    def inequality(self, a: int, b: int) -> int | None:
        """Return a bit that is 1 where two values differ; None if they cannot differ."""
        if a == b:
            return None
        x, y = self.type_of(a), self.type_of(b)
        if x.width == 0 or y.width == 0:
            whole = a if y.width == 0 else b
            return self.gate(Code.BIT_UNARY, whole, -1, _ANY, _BIT) if self.type_of(whole).width else None
        kind = FixedType(1, max(x.i, y.i), max(x.f, y.f))
        return self.gate(Code.BIT_UNARY, self.gate(Code.BIT_BINARY, a, b, _XOR, kind), -1, _ANY, _BIT)

    # ops of values

    def new(self, row: Row, owner: tuple[str, int] | None) -> int:
        made = super().new(row, owner)
        shadow = self.shadow_of(row)
        if shadow is not None and row[4].width:
            self.shadows[made] = shadow
        return made

    def shadow_of(self, row: Row) -> int | None:
        code, a, b, data, _ = row
        if code in (Code.INPUT, Code.CONST):
            return None
        if code == Code.SUM:
            return self.either(*(self.shadows.get(op) for op, _, _ in self.terms[a : a + b]))
        if code not in MUXES:
            return self.either(self.shadows.get(a), self.shadows.get(b))
        condition = low_int32(data)
        one, other = self.shadows.get(a), self.shadows.get(b)
        arm = self.of_arm(condition, one, other) if self.type_of(condition).width else other
        return self.either(self.shadows.get(condition), arm)

    def mux(self, condition: int, one: int, other: int) -> int:
        """Return a connection's mux: if both values are known and equal, its value is known for any ``condition``."""
        if one == other:
            return one
        row = (int(Code.MUX), one, other, condition, self.type_of(one))
        known = self.known.get(row)
        if known is not None:
            return known
        made = self.known[row] = Lowering.new(self, row, None)
        chooses = self.shadows.get(condition)
        of_one, of_other = self.shadows.get(one), self.shadows.get(other)
        shadow = self.of_arm(condition, of_one, of_other)
        if chooses is not None:
            differ = self.either(of_one, of_other, self.inequality(one, other))
            shadow = self.of_arm(chooses, differ, shadow)
        if shadow is not None and self.type_of(one).width:
            self.shadows[made] = shadow
        return made

    # indices

    def read(self, view: View, enable: int | None, when: int = 1) -> list[int]:
        found = super().read(view, enable, when)
        return found if view.index is None else [self.tainted(op, self.shadows.get(self.index(view))) for op in found]

    def tainted(self, op: int, by: int | None) -> int:
        """Return a copy of ``op`` that is also unknown where ``by`` is 1."""
        if by is None or not self.type_of(op).width:
            return op
        made = Lowering.new(self, (int(Code.QUANT), op, -1, 0, self.type_of(op)), None)
        found = self.either(self.shadows.get(op), by)
        assert found is not None
        self.shadows[made] = found
        return made

    def write(self, connection: Connection, new: dict[str, list[int]]) -> None:
        """Write one connection: if the index of an enabled write is unknown, all elements in reach become unknown."""
        super().write(connection, new)
        target = connection.target
        by = None if target.index is None else self.shadows.get(self.index(target))
        if by is None:
            return
        if connection.enable is not None and connection.alternative is None:
            enable = self.condition(connection.enable)
            by = self.both(by, self.either(enable, self.shadows.get(enable)))
        values = new[target.signal]
        for place in self.machine.reach(target):
            values[place] = self.tainted(values[place], by)

    def only(self, enable: int | None, index: int, when: int) -> int:
        """Return ``index`` while it is used and known, else 0. An index with an unknown condition counts as used."""
        chooses = None if enable is None else self.shadows.get(enable)
        if enable is not None and chooses is not None:
            always = self.gate(Code.CONST, -1, -1, when, _BIT)
            enable = self.gate(Code.MUX, always, enable, chooses, _BIT)
        used, unknown = super().only(enable, index, when), self.shadows.get(index)
        if unknown is None:
            return used
        zero = self.gate(Code.CONST, -1, -1, 0, self.type_of(used))
        return self.gate(Code.MUX, zero, used, unknown, self.type_of(used))
