"""Random VHDL entities of one input and one output, from the functions of numeric_std and from integer arithmetic.

An expression is made with its type and, for vectors, with its length, for integers, with bounds: it stays within the
ranges of its types, so that no simulation stops.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

__all__ = ["Entity", "random_entity"]

_WIDEST = 20
_LARGEST = 2**30

_LOGIC = ("and", "or", "xor", "nand", "nor", "xnor")
_ORDERS = ("=", "/=", "<", "<=", ">", ">=")
_SHIFTS = ("sll", "srl", "rol", "ror", "sla", "sra")


class Entity(NamedTuple):
    """An entity: its name, its text, the number of bits of its input and of its output."""

    name: str
    text: str
    inputs: int
    outputs: int


class _Vector(NamedTuple):
    """An expression of type ``unsigned``, ``signed`` or ``std_logic_vector``."""

    text: str
    kind: str
    width: int


class _Integer(NamedTuple):
    """An integer expression, with bounds."""

    text: str
    low: int
    high: int


class _Maker:
    """Make random expressions of the slices ``a`` and ``b`` of the input."""

    def __init__(self, rng: random.Random, widths: tuple[int, int], plain: bool) -> None:
        self.rng, self.widths, self.plain = rng, widths, plain
        self.signals: list[str] = []
        self.assignments: list[str] = []

    # Vectors.

    def leaf(self, kind: str) -> _Vector:
        name, width = self.rng.choice([*zip("ab", self.widths, strict=True)])
        if self.rng.random() < 0.1:
            value = "".join(self.rng.choice("01") for _ in range(width))
            return _Vector(f'{kind}\'("{value}")', kind, width)
        return _Vector(name if kind == "std_logic_vector" else f"{kind}({name})", kind, width)

    def vector(self, kind: str, depth: int) -> _Vector:
        if depth <= 0 or self.rng.random() < 0.03:
            return self.leaf(kind)
        made = self.rng.choice(self._forms(kind))(kind, depth - 1)
        return made if 0 < made.width <= _WIDEST else self.leaf(kind)

    def _forms(self, kind: str) -> list[Callable[[str, int], _Vector]]:
        common = [self._logic, self._concat, self._slice, self._choice, self._not, self._held]
        if kind == "std_logic_vector":
            return [*common, self._turn, self._cast, *([self._plain_sum] if self.plain else [])]
        number = [self._sum, self._sum, self._product, self._division, self._division, self._shift, self._shift]
        more = [self._resize, self._resize, self._of_integer, self._extreme, self._sign, self._cast]
        return [*common, *number, *more]

    def _logic(self, kind: str, depth: int) -> _Vector:
        one = self.vector(kind, depth)
        if self.rng.random() < 0.3 and kind != "std_logic_vector":
            return _Vector(f"({one.text} {self.rng.choice(_LOGIC)} {self.bit(depth)})", kind, one.width)
        return _Vector(
            f"({one.text} {self.rng.choice(_LOGIC)} {self._fit(one, self.vector(kind, depth))})", kind, one.width
        )

    def _fit(self, one: _Vector, other: _Vector) -> str:
        """Return ``other`` in the length of ``one``."""
        if one.width == other.width:
            return other.text
        wanted = other._replace(text=self._named(other)) if "(" in other.text or '"' in other.text else other
        if wanted.width > one.width:
            return f"{wanted.text}({one.width - 1} downto 0)"
        filling = "0" * (one.width - wanted.width)
        return f'{one.kind}\'("{filling}" & {wanted.text})'

    def _named(self, one: _Vector) -> str:
        name = f"s{len(self.signals)}"
        self.signals.append(f"signal {name} : {one.kind}({one.width - 1} downto 0);")
        self.assignments.append(f"{name} <= {one.text};")
        return name

    def _held(self, kind: str, depth: int) -> _Vector:
        one = self.vector(kind, depth)
        return one._replace(text=self._named(one))

    def _not(self, kind: str, depth: int) -> _Vector:
        one = self.vector(kind, depth)
        return one._replace(text=f"(not {one.text})")

    def _concat(self, kind: str, depth: int) -> _Vector:
        one, other = self.vector(kind, depth), self.vector(kind, depth)
        return _Vector(f"{kind}'({one.text} & {other.text})", kind, one.width + other.width)

    def _slice(self, kind: str, depth: int) -> _Vector:
        one = self.vector(kind, depth)
        low = self.rng.randrange(one.width)
        high = self.rng.randrange(low, one.width)
        return _Vector(f"{self._named(one)}({high} downto {low})", kind, high - low + 1)

    def _choice(self, kind: str, depth: int) -> _Vector:
        one = self.vector(kind, depth)
        name = f"s{len(self.signals)}"
        other = self._fit(one, self.vector(kind, depth))
        name = f"s{len(self.signals)}"
        self.signals.append(f"signal {name} : {kind}({one.width - 1} downto 0);")
        self.assignments.append(f"{name} <= {one.text} when {self.boolean(depth)} else {other};")
        return _Vector(name, kind, one.width)

    def _cast(self, kind: str, depth: int) -> _Vector:
        source = self.rng.choice([name for name in ("unsigned", "signed", "std_logic_vector") if name != kind])
        one = self.vector(source, depth)
        return _Vector(f"{kind}({one.text})", kind, one.width)

    def _sum(self, kind: str, depth: int) -> _Vector:
        return self._with(kind, depth, self.rng.choice("+-"), lambda one, other: max(one, other), bits=True)

    def _product(self, kind: str, depth: int) -> _Vector:
        return self._with(kind, depth, "*", lambda one, other: one + other)

    def _with(
        self, kind: str, depth: int, operator: str, width: Callable[[int, int], int], bits: bool = False
    ) -> _Vector:
        """Return an operation on two vectors, or on a vector and an integer, on either side."""
        one = self.vector(kind, depth)
        form = self.rng.random()
        if form < 0.5:
            other = self.vector(kind, depth)
            return _Vector(f"({one.text} {operator} {other.text})", kind, width(one.width, other.width))
        other_text = self.bit(depth) if bits and form < 0.6 else self._number(kind, depth, one.width)
        sides = (one.text, other_text) if self.rng.random() < 0.5 else (other_text, one.text)
        return _Vector(f"({sides[0]} {operator} {sides[1]})", kind, width(one.width, one.width))

    def _number(self, kind: str, depth: int, width: int) -> str:
        """Return an integer to be used with a vector: often one at or beyond the ends of the vector's range."""
        if self.rng.random() < 0.4:
            return self.natural(depth).text if kind == "unsigned" else self.integer(depth).text
        near = self.rng.choice([0, 1, 2, 3, 2 ** (width - 1), 2**width - 1, 2**width, 2 ** (width + 2) + 1])
        near += self.rng.choice([-1, 0, 0, 1])
        if kind == "signed" and self.rng.random() < 0.5:
            near = -near
        return f"({near if kind == 'signed' else abs(near)})"

    def _division(self, kind: str, depth: int) -> _Vector:
        operator = self.rng.choice(["/", "mod", "rem"])
        one, other = self.vector(kind, depth), self.vector(kind, depth)
        form = self.rng.random()
        divisor = f'({other.text} or {kind}\'("{"0" * (other.width - 1)}1"))'
        if form < 0.5:
            return _Vector(f"({one.text} {operator} {divisor})", kind, one.width if operator == "/" else other.width)
        if form < 0.75:
            number = self._number(kind, -1, other.width)
            return _Vector(f"({number} {operator} {divisor})", kind, other.width)
        value = self.rng.choice([1, 2, 3, 5, 2 ** (one.width - 1), 2**one.width, 2**one.width + 1])
        sign = -1 if kind == "signed" and self.rng.random() < 0.5 else 1
        return _Vector(f"({one.text} {operator} ({sign * value}))", kind, one.width)

    def _shift(self, kind: str, depth: int) -> _Vector:
        one = self.vector(kind, depth)
        if self.rng.random() < 0.6:
            name = self.rng.choice(["shift_left", "shift_right", "rotate_left", "rotate_right"])
            count = self._count(depth, one.width, signed=False)
            return one._replace(text=f"{name}({one.text}, {count})")
        return one._replace(
            text=f"({one.text} {self.rng.choice(_SHIFTS)} {self._count(depth, one.width, signed=True)})"
        )

    def _turn(self, kind: str, depth: int) -> _Vector:
        one = self.vector(kind, depth)
        count = self._count(depth, one.width, signed=True)
        return one._replace(text=f"({one.text} {self.rng.choice(_SHIFTS[:4])} {count})")

    def _count(self, depth: int, width: int, signed: bool) -> str:
        if self.rng.random() < 0.4:
            return self.natural(depth, 12).text
        count = self.rng.choice([0, 1, 2, width - 1, width, width + 1, 2 * width + 1])
        return f"({-count if signed and self.rng.random() < 0.3 else count})"

    def _resize(self, kind: str, depth: int) -> _Vector:
        one = self.vector(kind, depth)
        width = self.rng.randint(1, min(one.width + 3, _WIDEST))
        if self.rng.random() < 0.2:
            return _Vector(f'resize({one.text}, {kind}\'("{"0" * width}"))', kind, width)
        return _Vector(f"resize({one.text}, {width})", kind, width)

    def _of_integer(self, kind: str, depth: int) -> _Vector:
        width = self.rng.randint(1, 9)
        number = self.natural(depth) if kind == "unsigned" else self.integer(depth)
        return _Vector(f"to_{kind}({number.text}, {width})", kind, width)

    def _extreme(self, kind: str, depth: int) -> _Vector:
        name, one = self.rng.choice(["minimum", "maximum"]), self.vector(kind, depth)
        if self.rng.random() < 0.7:
            other = self.vector(kind, depth)
            return _Vector(f"{name}({one.text}, {other.text})", kind, max(one.width, other.width))
        value = self.rng.randrange(2 ** (one.width - 1)) if one.width > 1 else 0
        return one._replace(text=f"{name}({one.text}, {value})")

    def _sign(self, kind: str, depth: int) -> _Vector:
        one = self.vector("signed", depth)
        made = one._replace(text=f"({self.rng.choice(['abs', '-'])} {one.text})")
        return made if kind == "signed" else made._replace(text=f"unsigned({made.text[1:-1]})", kind=kind)

    def _plain_sum(self, kind: str, depth: int) -> _Vector:
        """Return an operation of numeric_std_unsigned."""
        one, other = self.vector(kind, depth), self.vector(kind, depth)
        form = self.rng.randrange(7)
        if form == 0:
            return _Vector(f"({one.text} * {other.text})", kind, one.width + other.width)
        if form == 1:
            operator = self.rng.choice(["/", "mod", "rem"])
            divisor = f'({other.text} or std_logic_vector\'("{"0" * (other.width - 1)}1"))'
            return _Vector(f"({one.text} {operator} {divisor})", kind, one.width if operator == "/" else other.width)
        if form == 2:
            return one._replace(text=f"shift_right({one.text}, {self._count(depth, one.width, signed=False)})")
        if form == 3:
            return _Vector(f"resize({one.text}, {other.width})", kind, other.width)
        if form == 4:
            name = self.rng.choice(["minimum", "maximum"])
            return _Vector(f"{name}({one.text}, {other.text})", kind, max(one.width, other.width))
        operator = self.rng.choice("+-")
        if form == 5:
            return one._replace(text=f"({one.text} {operator} {self.natural(depth).text})")
        return _Vector(f"({one.text} {operator} {other.text})", kind, max(one.width, other.width))

    # Integers.

    def natural(self, depth: int, most: int = _LARGEST) -> _Integer:
        made = self.integer(depth)
        if made.low >= 0 and made.high <= most:
            return made
        if most < _LARGEST or made.high < 0 or self.rng.random() < 0.5:
            value = self.rng.choice([0, 1, 2, 3, 7])
            bits = self.rng.choice([*zip("ab", self.widths, strict=True)])
            if self.rng.random() < 0.7 and 2 ** bits[1] - 1 <= most:
                return _Integer(f"to_integer(unsigned({bits[0]}))", 0, 2 ** bits[1] - 1)
            return _Integer(str(value), value, value)
        text = f"abs({made.text})" if self.rng.random() < 0.2 else f"({made.text}) mod 11"
        high = max(-made.low, made.high) if text.startswith("abs") else 10
        return _Integer(f"({text})", 0, high) if high <= most else _Integer("3", 3, 3)

    def integer(self, depth: int) -> _Integer:
        if depth <= 0 or self.rng.random() < 0.1:
            if self.rng.random() < 0.3:
                value = self.rng.choice([-100, -8, -5, -3, -1, 0, 1, 2, 3, 4, 7, 10, 33])
                return _Integer(f"({value})", value, value)
            kind = self.rng.choice(["unsigned", "signed"])
            one = self.leaf(kind)
            low, high = (
                (0, 2**one.width - 1) if kind == "unsigned" else (-(2 ** (one.width - 1)), 2 ** (one.width - 1) - 1)
            )
            return _Integer(f"to_integer({one.text})", low, high)
        made = self._operation(depth - 1)
        if abs(made.low) >= _LARGEST or abs(made.high) >= _LARGEST:
            return self.integer(0)
        if self.rng.random() < 0.25:
            name = f"s{len(self.signals)}"
            low, high = (made.low, made.high) if self.rng.random() < 0.5 else (made.low - 1, made.high + 3)
            self.signals.append(f"signal {name} : integer range {low} to {high};")
            self.assignments.append(f"{name} <= {made.text};")
            return made._replace(text=name)
        return made

    def _operation(self, depth: int) -> _Integer:
        one, other = self.integer(depth), self.integer(depth)
        form = self.rng.choice(["+", "-", "*", "/", "mod", "rem", "-1", "vector", "when", "max", "find", "/", "mod"])
        if form == "vector":
            kind = self.rng.choice(["unsigned", "signed"])
            made = self.vector(kind, depth)
            low, high = (
                (0, 2**made.width - 1) if kind == "unsigned" else (-(2 ** (made.width - 1)), 2 ** (made.width - 1) - 1)
            )
            return _Integer(f"to_integer({made.text})", low, high)
        if form == "find":
            made = self.vector(self.rng.choice(["unsigned", "signed"]), depth)
            name = self.rng.choice(["find_leftmost", "find_rightmost"])
            return _Integer(f"{name}({self._named(made)}, '{self.rng.choice('01')}')", -1, made.width - 1)
        if form == "when":
            name = f"s{len(self.signals)}"
            low, high = min(one.low, other.low), max(one.high, other.high)
            self.signals.append(f"signal {name} : integer range {low} to {high};")
            self.assignments.append(f"{name} <= {one.text} when {self.boolean(depth)} else {other.text};")
            return _Integer(name, low, high)
        if form == "-1":
            return _Integer(f"(-{one.text})", -one.high, -one.low)
        if form == "max":
            name, best = self.rng.choice([("minimum", min), ("maximum", max)])
            return _Integer(f"{name}({one.text}, {other.text})", best(one.low, other.low), best(one.high, other.high))
        corners = [x * y for x in (one.low, one.high) for y in (other.low, other.high)]
        if form == "+":
            return _Integer(f"({one.text} + {other.text})", one.low + other.low, one.high + other.high)
        if form == "-":
            return _Integer(f"({one.text} - {other.text})", one.low - other.high, one.high - other.low)
        if form == "*":
            return _Integer(f"({one.text} * {other.text})", min(corners), max(corners))
        if other.low <= 0 <= other.high:
            value = self.rng.choice([-7, -4, -3, -2, -1, 1, 2, 3, 4, 8, 10])
            other = _Integer(f"({value})", value, value)
        most = max(abs(one.low), abs(one.high))
        if form == "/":
            return _Integer(f"({one.text} / {other.text})", -most, most)
        if form == "rem":
            return _Integer(f"({one.text} rem {other.text})", -most, most)
        return _Integer(f"({one.text} mod {other.text})", min(other.low, 0), max(other.high, 0))

    # Conditions.

    def boolean(self, depth: int) -> str:
        form = self.rng.random()
        order = self.rng.choice(_ORDERS)
        if form < 0.4:
            kind = self.rng.choice(["unsigned", "signed"])
            one = self.vector(kind, depth - 1)
            other = (
                self._number(kind, depth - 1, one.width)
                if self.rng.random() < 0.6
                else self.vector(kind, depth - 1).text
            )
            sides = (one.text, other) if self.rng.random() < 0.7 else (other, one.text)
            return f"({sides[0]} {order} {sides[1]})"
        if form < 0.6:
            one_number = self.integer(depth - 1)
            value = self.rng.choice(
                [one_number.low - 1, one_number.low, one_number.high, one_number.high + 1, 300, -300, 0]
            )
            return f"({one_number.text} {order} ({value}))"
        if form < 0.7:
            return f"({self.integer(depth - 1).text} {order} {self.integer(depth - 1).text})"
        if form < 0.8:
            one = self.vector("std_logic_vector", depth - 1)
            other = self._fit(one, self.vector("std_logic_vector", depth - 1))
            return f"({one.text} {self.rng.choice(['=', '/='])} {other})"
        if form < 0.9 and depth > 0:
            return f"({self.boolean(depth - 1)} {self.rng.choice(_LOGIC)} {self.boolean(depth - 1)})"
        return f"({self.bit(depth - 1)} = '1')"

    def bit(self, depth: int) -> str:
        form = self.rng.random()
        if form < 0.5:
            name, width = self.rng.choice([*zip("ab", self.widths, strict=True)])
            return f"{name}({self.rng.randrange(width)})"
        one = self._named(self.vector(self.rng.choice(["unsigned", "signed"]), depth - 1))
        width = int(self.signals[-1].split("(")[1].split(" ")[0]) + 1
        if form < 0.7:
            return f"({self.rng.choice(_LOGIC)} {one})"
        return f"{one}({self.rng.randrange(width)})"


def random_entity(seed: int) -> Entity:
    """Return an entity ``e<seed>``."""
    rng = random.Random(seed)
    widths = (rng.choice([1, 2, 3, 4, 5, 5]), rng.choice([1, 2, 3, 4, 4]))
    maker = _Maker(rng, widths, plain := rng.random() < 0.25)
    form = rng.random()
    kind = "std_logic_vector" if plain or form < 0.1 else rng.choice(["unsigned", "signed"])
    depth = rng.choice([1, 2, 3, 3])
    if form < 0.15:
        result, width = f"(0 => {maker.bit(depth)})", 1
    elif form < 0.3:
        result, width = "r", 1
        maker.assignments.append(f'r <= "1" when {maker.boolean(depth)} else "0";')
        maker.signals.append("signal r : std_logic_vector(0 downto 0);")
    elif form < 0.5:
        result, width = f"std_logic_vector(to_signed({maker.integer(depth + 1).text}, 12))", 12
    else:
        made = maker.vector(kind, depth)
        result, width = f"std_logic_vector({made.text})", made.width
    total = sum(widths)
    lines = [
        "library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all;"
        + (" use ieee.numeric_std_unsigned.all;" if plain else ""),
        f"entity e{seed} is port (model_inp : in std_logic_vector({total - 1} downto 0);"
        f" model_out : out std_logic_vector({width - 1} downto 0)); end;",
        f"architecture rtl of e{seed} is",
        f"  signal a : std_logic_vector({widths[0] - 1} downto 0);",
        f"  signal b : std_logic_vector({widths[1] - 1} downto 0);",
        *(f"  {line}" for line in maker.signals),
        "begin",
        f"  a <= model_inp({widths[0] - 1} downto 0); b <= model_inp({total - 1} downto {widths[0]});",
        *(f"  {line}" for line in maker.assignments),
        f"  model_out <= {result};",
        "end;",
    ]
    return Entity(f"e{seed}", "\n".join(lines) + "\n", total, width)
