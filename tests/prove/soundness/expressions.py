"""Generate random expressions with each operator, of any width and sign, over the signals that exist.

``Expressions`` is also the state of a module that is being written; ``statements`` and ``structures`` add to it.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

__all__ = ["COUNTED", "Expressions", "Signal", "Style"]

_BINARY = ("+", "-", "+", "-", "*", "&", "|", "^", "~^", "<", "<=", ">", ">=", "==", "!=", "===", "!==", "&&", "||")
_SHIFTS = ("<<", ">>", "<<<", ">>>")
_UNARY = ("-", "~", "!", "&", "|", "^", "~&", "~|", "~^", "+")
_DIVISORS = ("3", "3'sd3", "-4'sd5", "3'd6", "5'd1", "-1", "9'd100")
COUNTED = ("$countones", "$onehot", "$onehot0", "$clog2")
_NARROW = (1, 1, 2, 3, 4, 5, 6, 8, 9, 11, 13)
_WIDE = (31, 32, 33, 63, 64, 65, 100, 128)
#: Indices that cannot exceed a signal of this many bits.
_INDICES = {1 << 4: ("r",), 1 << 3: ("p[2:0]", "r[2:0]"), 1 << 2: ("r[1:0]", "q[4:3]"), 1 << 1: ("t", "s[0]")}


@dataclass(frozen=True)
class Style:
    """The constructs that a module may contain.

    ``system``: SystemVerilog that Icarus 11 reads. ``newer``: also SystemVerilog that only Verilator reads.
    ``casts``: constructs that Yosys is known to misread. ``beyond``: constructs without a value: indices beyond the
    end, signals that are never assigned, divisions by zero. ``wide``: signals wider than a machine word.
    """

    system: bool = False
    newer: bool = False
    casts: bool = False
    beyond: bool = False
    wide: bool = False


@dataclass
class Signal:
    """A vector that is declared as ``[left:right]``."""

    name: str
    signed: bool
    left: int
    right: int = 0

    @property
    def width(self) -> int:
        return abs(self.left - self.right) + 1

    @property
    def range(self) -> str:
        return f"{'signed ' * self.signed}[{self.left}:{self.right}]"

    def place(self, bit: int) -> int:
        """Return the index of a bit that is counted from the least significant one."""
        return self.right + bit if self.left >= self.right else self.right - bit


@dataclass
class Expressions:
    """A writer of random expressions, and the state of a module that is being written.

    ``lines``: the body so far. ``before``: the text in front of the module. ``readable``: the signals that may be
    read now.
    """

    rng: random.Random
    name: str
    style: Style
    lines: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    #: The contents of other files, in order.
    macros: list[str] = field(default_factory=list)
    readable: list[Signal] = field(default_factory=list)
    features: set[str] = field(default_factory=set)
    #: The signals that the current expression reads.
    read: dict[str, None] = field(default_factory=dict)
    numbers: int = 0

    def fresh(self, letter: str) -> str:
        self.numbers += 1
        return f"{letter}{self.numbers}"

    def often(self, chance: float) -> bool:
        return self.rng.random() < chance

    def some(self) -> Signal:
        recent = self.readable[-4:] if self.often(0.4) else self.readable
        chosen = self.rng.choice(recent)
        self.read[chosen.name] = None
        return chosen

    def width(self) -> int:
        return self.rng.choice(_WIDE if self.style.wide and self.often(0.35) else _NARROW)

    def vector(self, letter: str, *, plain: bool = False) -> Signal:
        """Return a new signal; some have ranges that start anywhere or ascend, unless ``plain``."""
        width, signed = self.width(), self.often(0.5)
        name = self.fresh(letter)
        if plain or self.often(0.85):
            return Signal(name, signed, width - 1)
        self.features.add("range")
        low = self.rng.choice((-5, -1, 1, 2, 7))
        ends = (low + width - 1, low)
        return Signal(name, signed, *(ends if self.often(0.6) else ends[::-1]))

    def literal(self) -> str:
        rng = self.rng
        width = rng.choice((1, 2, 3, 4, 5, 8, 11))
        if self.style.wide and self.often(0.2):
            width = rng.choice(_WIDE)
        value = rng.getrandbits(width)
        base = rng.choice(("d", "h", "b", "sd", "sh", "sb", "o"))
        digits = {"d": str, "h": "{:x}".format, "b": "{:b}".format, "o": "{:o}".format}[base[-1]](value)
        forms = (f"{width}'{base}{digits}", f"{width}'{base}{digits}", str(rng.randrange(20)), "-1")
        return rng.choice(forms)

    def leaf(self) -> str:
        one = self.some()
        if one.width > 1 and self.often(0.4):
            return one.name + self.part_of(one)
        forms = [one.name, one.name, f"$signed({one.name})", f"$unsigned({one.name})", self.literal()]
        return self.rng.choice(forms)

    def part_of(self, one: Signal) -> str:
        """Return a select of some bits of ``one``."""
        rng = self.rng
        low = rng.randrange(one.width)
        high = rng.randrange(low, one.width)
        count, first, last = high - low + 1, one.place(low), one.place(high)
        up, down = min(first, last), max(first, last)
        if self.style.beyond and self.often(0.3):
            self.features.add("beyond")
            falls = one.left >= one.right or count == 1
            ranges = [f"[{self.index()} {rng.choice('+-')}: {count}]"] * falls
            outside = rng.randint(1, 3)  # a part of the range is inside
            ranges += [f"[{down + outside}:{first}]"] * (one.left > one.right and not self.style.newer)
            # Verilator invents bits where a constant range ends beyond the signal, so Icarus must also read it.
            ranges += [f"[{up} +: {count + outside + one.width}]"] * (not self.style.newer)
            return rng.choice([f"[{self.index()}]", *ranges])
        if one.width in _INDICES and one.left > one.right == 0 and self.often(0.4):
            self.features.add("variable index")
            return f"[{self.within(one.width)}]"
        return rng.choice((f"[{last}:{first}]", f"[{up} +: {count}]", f"[{down} -: {count}]", f"[{first}]"))

    def within(self, size: int) -> str:
        """Return an index that is less than ``size``."""
        chosen = self.rng.choice(_INDICES[size])
        self.read[chosen[0]] = None
        return chosen

    def index(self) -> str:
        """Return a narrow operand."""
        chosen = self.rng.choice(("r[1:0]", "r", "t", "p[2:0]", "s"))
        self.read[chosen[0]] = None
        return chosen

    def expression(self, depth: int) -> str:
        rng = self.rng
        if depth <= 0:
            return self.leaf()
        a, b = self.expression(depth - 1), self.expression(depth - 1 - rng.randrange(2))
        kind = rng.randrange(17)
        if kind < 4:
            return f"({a} {rng.choice(_BINARY)} {b})"
        if kind == 4:
            amount = rng.choice((str(rng.randrange(70 if self.style.wide else 12)), self.index(), "t"))
            return f"({a} {rng.choice(_SHIFTS)} {amount})"
        if kind in (5, 6):
            return f"({self.expression(depth - 2)} ? {a} : {b})"
        if kind == 7:
            self.features.add("concatenation")
            repeated = f"{{{rng.choice((1, 2, 3, 12))}{{{self.leaf_of_size()}}}}}"
            return f"{{{self.leaf_of_size()}, {rng.choice([self.leaf_of_size(), repeated])}}}"
        if kind in (8, 9):
            return f"({rng.choice(_UNARY)}({a}))"
        if kind == 10:
            return self.division(a)
        if kind == 11 and self.style.casts:
            return self.cast(a)
        if kind == 12:
            return self.counted(a)
        if kind == 13 and self.often(0.4):
            self.features.add("power")
            return f"({rng.choice(('2', '2', '5' + chr(39) + 'd2'))} ** {self.index_of_value()})"
        if kind == 14 and self.style.newer:
            return self.membership(a)
        return f"({a} {rng.choice('+-')} {b})"

    def index_of_value(self) -> str:
        """Return a narrow operand that is not negative."""
        chosen = self.rng.choice(("r", "r[1:0]", "t", "p[2:0]"))
        self.read[chosen[0]] = None
        return chosen

    def division(self, a: str) -> str:
        self.features.add("division")
        divisor = self.rng.choice(_DIVISORS)
        if self.style.beyond and self.often(0.3):
            self.features.add("division by zero")
            divisor = self.leaf()
        elif self.often(0.2):
            divisor = f"({self.leaf_of_size()} | 5'd1)"
        return f"({a} {self.rng.choice('/%')} {divisor})"

    def cast(self, a: str) -> str:
        self.features.add("cast")
        sized = f"{self.rng.choice((1, 2, 4, 6, 9, 12))}'({a})"
        forms = [sized, sized, f"$signed({sized})", f"$unsigned({a})", f"$signed({a})"]
        if self.style.newer:
            forms += [f"signed'({a})", f"unsigned'({a})", f"{self.rng.choice(('int', 'byte', 'shortint'))}'({a})"]
        return self.rng.choice(forms)

    def counted(self, a: str) -> str:
        if not self.style.system:
            return f"({a} ^ {self.leaf()})"
        self.features.add("count")
        return f"{self.rng.choice(COUNTED)}({self.leaf_of_size()})"

    def membership(self, a: str) -> str:
        self.features.add("inside")
        rng, one = self.rng, self.leaf_of_size()
        if self.often(0.95):  # otherwise tools differ in the sign
            one = f"$unsigned({one})"
        width = rng.choice((3, 4, 5))
        pattern = f"{width}'b{''.join(rng.choice('01?') for _ in range(width))}"
        if self.often(0.5):
            return f"({one} {rng.choice(('==?', '!=?'))} {pattern})"
        low = rng.randrange(6)
        entries = [f"[{low}:{low + rng.randrange(9)}]", pattern, str(rng.randrange(16)), f"4'd{rng.randrange(16)}"]
        return f"({one} inside {{{', '.join(rng.sample(entries, rng.randint(1, 3)))}}})"

    def leaf_of_size(self) -> str:
        """Return an operand of a concatenation, in which each operand must have a size."""
        while True:
            text = self.leaf()
            if ("'" in text and not text.startswith("'")) or text[0].isalpha() or text[0] == "$":
                return text

    def plain(self, depth: int) -> str:
        """Return an expression that reads only the signals in ``readable``, also in its indices."""
        names = {signal.name for signal in self.readable}
        while True:
            before = dict(self.read)
            self.read = {}
            text = self.expression(depth)
            outside = [name for name in self.read if name not in names] or {"p", "q", "r", "s", "t"} & _words(
                text
            ) - names
            self.read |= before
            if not outside:
                return text


def _words(text: str) -> set[str]:
    return set("".join(c if c.isalnum() or c in "_'$" else " " for c in text).split())
