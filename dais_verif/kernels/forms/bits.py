"""Counters and bits of a block of control while it is written as text; what is known beforehand costs nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dais_verif.program import Program, assemble

__all__ = ["Bit", "Logic"]

#: A bit: the name of a value of type u1.0, or what it always is.
Bit = str | bool


class Logic:
    """Write bits and counters, then ``build``. ``inputs``: the widths of unsigned integers, by name."""

    def __init__(self, inputs: Mapping[str, int]) -> None:
        self._widths = dict(inputs)
        self._lines = ["input " + ", ".join(inputs), *(f"{name} = u{n}.0 input {name}" for name, n in inputs.items())]
        self._known: dict[str, str] = {}

    def _new(self, kind: str, expression: str) -> str:
        """The name of a value, the same one for what was written before."""
        key = f"{kind} {expression}"
        if key not in self._known:
            self._known[key] = f"v{len(self._known)}"
            self._lines.append(f"{self._known[key]} = {key}")
        return self._known[key]

    def _bit(self, value: Bit) -> str:
        return self._new("u1.0", str(int(value))) if isinstance(value, bool) else value

    def inverse(self, a: Bit) -> Bit:
        """Whether ``a`` is 0."""
        return not a if isinstance(a, bool) else self._new("u1.0", f"not({a})")

    def both(self, *bits: Bit) -> Bit:
        """Whether all are 1: a choice, so that one that is known to be 0 settles those behind it."""
        found: Bit = True
        for bit in bits:
            if bit is False or found is False:
                return False
            if found is True or bit is True:
                found = bit if found is True else found
            else:
                found = self._new("u1.0", f"msb({found}) ? {bit} : {self._bit(False)}")
        return found

    def either(self, a: Bit, b: Bit) -> Bit:
        """Whether one is 1: a choice, so that ``a`` that is known to be 1 settles it."""
        if isinstance(a, bool) or isinstance(b, bool):
            return a is True or b is True or (b if isinstance(a, bool) else a)
        return self._new("u1.0", f"msb({a}) ? {self._bit(True)} : {b}")

    def equal(self, counter: str, number: int) -> Bit:
        """Whether an input is a number."""
        if not 0 <= number < 1 << self._widths[counter]:
            return False
        return self.inverse(self._new("u1.0", f"any({self._less_number(counter, number)})"))

    def less(self, counter: str, number: int) -> Bit:
        """Whether an input is less than a number."""
        if number <= 0 or number >= 1 << self._widths[counter]:
            return number > 0
        one, zero = self._bit(True), self._bit(False)
        return self._new("u1.0", f"msb({self._less_number(counter, number)}) ? {one} : {zero}")

    def among(self, counter: str, numbers: Sequence[int]) -> Bit:
        """Whether an input is one of ``numbers``, which are at equal distances: a table unless they are neighbours."""
        first, last = numbers[0], numbers[-1]
        if last - first == len(numbers) - 1:
            return self.both(self.inverse(self.less(counter, first)), self.less(counter, last + 1))
        name = f"t{len(self._lines)}"
        entries = ", ".join(str(int(n in numbers)) for n in range(1 << self._widths[counter]))
        self._lines.append(f"table {name} = [{entries}]")
        return self._new("u1.0", f"{name}[{counter}]")

    def choice(self, condition: Bit, a: str, b: str, width: int) -> str:
        """``a`` if ``condition``, else ``b``: values of an unsigned integer."""
        if isinstance(condition, bool):
            return a if condition else b
        return self._new(f"u{width}.0", f"msb({condition}) ? {a} : {b}")

    def zero(self) -> str:
        """The number 0."""
        return self._bit(False)

    def following(self, counter: str, size: int) -> str:
        """The number behind that of an input: one more, and 0 behind ``size - 1``."""
        if size == 1:
            return self.zero()
        width = self._widths[counter]
        more = self._new(f"u{width}.0", f"quant({self._new(f'u{width + 1}.0', f'{counter} + 1')})")
        return self.choice(self.equal(counter, size - 1), self.zero(), more, width)

    def build(self, outputs: Sequence[tuple[str, Bit, int]]) -> Program:
        """Return the program whose outputs have these names, values and widths."""
        lines = []
        for name, value, width in outputs:
            result = self._new(f"u{width}.0", f"quant({self._bit(value)})")
            lines.append(f"output {name.replace('-', '_')} = {result}")
        return assemble("\n".join([*self._lines, *lines]))

    def _less_number(self, counter: str, number: int) -> str:
        return self._new(f"s{self._widths[counter] + 2}.0", f"{counter} - {number}")
