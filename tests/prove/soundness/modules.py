"""Random behavioural SystemVerilog: what people write, with every chance to be misread.

A module has five inputs of mixed widths and signs and ten outputs. Between them signals are driven in every way that
has a meaning as logic: expressions of all operators and widths, blocks with branches, cases and loops, functions,
arrays, instances, generate loops, macros and included files. Some ways are no logic in one simulator or in hardware (a
latch, a list that lacks a signal): a reader may refuse them, and must not misread them.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

__all__ = ["INPUTS", "OUTPUTS", "Module", "random_module"]

#: Name, sign and width.
INPUTS = (("p", "", 7), ("q", "signed", 9), ("r", "", 4), ("s", "signed", 5), ("t", "", 1))
OUTPUTS = 10

_BINARY = ("+", "-", "+", "-", "*", "&", "|", "^", "~^", "<", "<=", ">", ">=", "==", "!=", "===", "!==", "&&", "||")
_SHIFTS = ("<<", ">>", "<<<", ">>>")
_UNARY = ("-", "~", "!", "&", "|", "^", "~&", "~|", "~^", "+")
#: Alone only: as operands, tools take them to be of different widths.
_FILLED = ("'0", "'1")
_DIVISORS = ("3", "3'sd3", "-4'sd5", "3'd6", "5'd1")


@dataclass(frozen=True)
class Module:
    """``files``: texts by name, in the order of the command line; ``widths``: bits of each output.

    ``features``: what is in it, to count and to find.
    """

    name: str
    files: dict[str, str]
    widths: tuple[int, ...]
    features: tuple[str, ...]


@dataclass
class _Signal:
    name: str
    signed: bool
    width: int


@dataclass
class _Writer:
    """``lines``: the body so far. ``before``: what stands before the module. ``readable``: what may be read now."""

    rng: random.Random
    name: str
    lines: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    included: list[str] = field(default_factory=list)
    readable: list[_Signal] = field(default_factory=list)
    features: set[str] = field(default_factory=set)
    #: Whether it may have parts beyond the end of vectors and arrays, which are undefined.
    beyond: bool = False
    #: What an expression being written has read.
    read: dict[str, None] = field(default_factory=dict)
    numbers: int = 0

    def fresh(self, letter: str) -> str:
        self.numbers += 1
        return f"{letter}{self.numbers}"

    def some(self) -> _Signal:
        chosen = self.rng.choice(self.readable)
        self.read[chosen.name] = None
        return chosen

    # expressions

    def literal(self) -> str:
        rng = self.rng
        width = rng.choice((1, 2, 3, 4, 5, 8, 11))
        value = rng.getrandbits(width)
        base = rng.choice(("d", "h", "b", "sd", "sh", "sb"))
        digits = {"d": str, "h": "{:x}".format, "b": "{:b}".format}[base[-1]](value)
        forms = (f"{width}'{base}{digits}", f"{width}'{base}{digits}", str(rng.randrange(20)), "-1")
        return rng.choice(forms)

    def leaf(self) -> str:
        rng, one = self.rng, self.some()
        if one.width > 1 and rng.random() < 0.4:
            low = rng.randrange(one.width)
            high = rng.randrange(low, one.width)
            count = high - low + 1
            parts = [f"[{high}:{low}]", f"[{low} +: {count}]", f"[{high} -: {count}]", f"[{low}]"]
            if self.beyond and rng.random() < 0.3:
                self.features.add("beyond")
                parts = [f"[{self.index()} +: {count}]", f"[{self.index()}]"]
            return one.name + rng.choice(parts)
        forms = [one.name, one.name, f"$signed({one.name})", f"$unsigned({one.name})", self.literal()]
        return rng.choice(forms)

    def index(self) -> str:
        """Something narrow."""
        return self.rng.choice(("r[1:0]", "r", "t", "p[2:0]", "s"))

    def expression(self, depth: int) -> str:
        rng = self.rng
        if depth <= 0:
            return self.leaf()
        a, b = self.expression(depth - 1), self.expression(depth - 1 - rng.randrange(2))
        kind = rng.randrange(14)
        if kind < 4:
            return f"({a} {rng.choice(_BINARY)} {b})"
        if kind == 4:
            amount = rng.choice((str(rng.randrange(12)), self.index(), "t"))
            return f"({a} {rng.choice(_SHIFTS)} {amount})"
        if kind in (5, 6):
            return f"({self.expression(depth - 2)} ? {a} : {b})"
        if kind == 7:
            repeated = f"{{{rng.randint(1, 3)}{{{self.leaf_of_size()}}}}}"
            return f"{{{self.leaf_of_size()}, {rng.choice([self.leaf_of_size(), repeated])}}}"
        if kind in (8, 9):
            return f"({rng.choice(_UNARY)}({a}))"
        if kind == 10:
            self.features.add("division")
            return f"({a} {rng.choice('/%')} {rng.choice(_DIVISORS)})"
        if kind == 11:
            self.features.add("cast")
            sized = f"{rng.choice((2, 4, 6, 9, 12))}'({a})"
            return rng.choice((sized, f"$signed({sized})", f"$unsigned({a})"))
        return f"({a} {rng.choice('+-')} {b})"

    def leaf_of_size(self) -> str:
        """What may stand in a concatenation, where everything must have a size."""
        while True:
            text = self.leaf()
            if ("'" in text and not text.startswith("'")) or text[0].isalpha() or text[0] == "$":
                return text

    # ways to drive a signal

    def declare(self, kind: str, letter: str = "w") -> _Signal:
        rng = self.rng
        one = _Signal(self.fresh(letter), rng.random() < 0.5, rng.choice((1, 3, 4, 6, 8, 9, 13)))
        self.lines.append(f"{kind} {self.range_of(one)} {one.name};")
        return one

    @staticmethod
    def range_of(one: _Signal) -> str:
        return f"{'signed ' * one.signed}[{one.width - 1}:0]"

    def step(self) -> None:
        ways: list[tuple[int, Callable[[], _Signal]]] = [
            (4, self.by_assign),
            (5, self.by_block),
            (2, self.by_function),
            (2, self.by_table),
            (1, self.by_array),
            (1, self.by_generate),
            (1, self.by_instance),
            (1, self.by_macro),
            (1, self.in_parts),
        ]
        way = self.rng.choices([w for _, w in ways], [n for n, _ in ways])[0]
        self.readable.append(way())

    def by_assign(self) -> _Signal:
        text = self.expression(3)
        one = _Signal(self.fresh("w"), self.rng.random() < 0.5, self.rng.choice((1, 3, 5, 8, 12)))
        if self.rng.random() < 0.5:
            self.lines.append(f"wire {self.range_of(one)} {one.name} = {text};")
        else:
            self.lines += [f"wire {self.range_of(one)} {one.name};", f"assign {one.name} = {text};"]
        return one

    def in_parts(self) -> _Signal:
        self.features.add("parts")
        rng = self.rng
        one = _Signal(self.fresh("w"), rng.random() < 0.5, rng.choice((4, 8, 9)))
        cut = rng.randrange(1, one.width)
        low, high = self.expression(2), self.expression(2)
        self.lines.append(f"wire {self.range_of(one)} {one.name};")
        if rng.random() < 0.5:
            self.lines.append(f"assign {one.name}[{cut - 1}:0] = {low};")
            self.lines.append(f"assign {one.name}[{one.width - 1}:{cut}] = {high};")
        else:
            other = self.fresh("w")
            self.lines.append(f"wire [{rng.randrange(1, 5)}:0] {other};")
            self.lines.append(f"assign {{{one.name}, {other}}} = {low};")
        return one

    def by_block(self) -> _Signal:
        rng = self.rng
        one = self.declare("reg", "v")
        self.read = {}
        local = rng.random() < 0.2
        body = self.statements(one, 2, first=True)
        if local:
            self.features.add("local")
            name = self.fresh("l")
            kept = _Signal(name, rng.random() < 0.5, rng.choice((3, 7)))
            value = self.expression(2)
            self.readable.append(kept)
            more = f"{one.name} = {one.name} ^ {name};"
            self.readable.pop()
            body = [f"{name} = {value};", *body, more]
            label = self.fresh("b")
            body = [f"begin : {label}", f"reg {self.range_of(kept)} {name};", *body, "end"]
        else:
            body = ["begin", *body, "end"]
        read = [name for name in self.read if name not in (one.name,)]
        head = rng.random()
        if head < 0.5 or not read:
            lead = "always @*"
        elif head < 0.75:
            lead = "always_comb"
        else:
            self.features.add("list")
            if rng.random() < 0.1 and len(read) > 1:
                self.features.add("incomplete list")
                read = read[1:]
            lead = f"always @({rng.choice([' or ', ', ']).join(read)})"
        self.lines += [lead, *body]
        return one

    def statements(self, one: _Signal, depth: int, first: bool = False) -> list[str]:
        """Statements that assign ``one``; the first assigns all of it, save for a latch now and then."""
        rng = self.rng
        found = []
        if first:
            if rng.random() < 0.04:
                self.features.add("latch")
            else:
                found.append(f"{one.name} = {self.expression(2)};")
        for _ in range(rng.randint(1, 2)):
            found += self.statement(one, depth)
        return found

    def statement(self, one: _Signal, depth: int) -> list[str]:
        rng = self.rng
        kind = rng.randrange(8) if depth else rng.randrange(3)
        if kind == 0 or (kind == 1 and one.width == 1):
            return [f"{one.name} = {self.own(one)} {rng.choice('+-^&|')} {self.expression(2)};"]
        if kind == 1:
            low = rng.randrange(one.width)
            count = rng.randint(1, one.width - low)
            where = rng.choice((f"[{low} +: {count}]", f"[{low + count - 1}:{low}]", f"[{low}]"))
            return [f"{one.name}{where} = {self.expression(1)};"]
        if kind == 2:
            return [f"{one.name} = {self.expression(3) if rng.random() < 0.9 else rng.choice(_FILLED)};"]
        if kind in (3, 4):
            found = [f"if ({self.expression(1)}) begin", *self.statement(one, depth - 1), "end"]
            return [*found, "else begin", *self.statement(one, depth - 1), "end"] if rng.random() < 0.6 else found
        if kind == 5:
            self.features.add("loop")
            name = self.fresh("i")
            bits = min(one.width, 4)
            update = f"{one.name}[{name}] = {one.name}[{name}] {rng.choice('^&|')} {self.leaf()};"
            if rng.random() < 0.4:
                update = f"{one.name} = {one.name} + ({self.leaf()} >> {name});"
            self.read[one.name] = None
            return [f"for (int {name} = 0; {name} < {bits}; {name} = {name} + 1) begin", update, "end"]
        return self.case(one, depth)

    def own(self, one: _Signal) -> str:
        self.read[one.name] = None
        return one.name

    def case(self, one: _Signal, depth: int) -> list[str]:
        rng = self.rng
        word = rng.choice(("case", "case", "casez", "casex"))
        self.features.add(word)
        subject = rng.choice((self.leaf_of_size(), self.leaf_of_size(), self.expression(1), "1'b1"))
        lines = [f"{word} ({subject})"]
        for _ in range(rng.randint(1, 4)):
            items = [self.item(word) for _ in range(rng.choice((1, 1, 2)))]
            lines += [f"{', '.join(items)}: begin", *self.statement(one, depth - 1), "end"]
        if rng.random() < 0.7:
            lines += ["default: begin", *self.statement(one, depth - 1), "end"]
        return [*lines, "endcase"]

    def item(self, word: str) -> str:
        rng = self.rng
        if word == "case" or rng.random() < 0.3:
            return rng.choice((self.literal().lstrip("-"), self.leaf_of_size()))
        width = rng.choice((2, 3, 4, 5, 7))
        wild = "?" if word == "casez" or rng.random() < 0.9 else "x"
        digits = "".join(rng.choice("01" + wild) for _ in range(width))
        return f"{width}'{rng.choice(('b', 'sb'))}{digits}"

    def by_function(self) -> _Signal:
        self.features.add("function")
        rng = self.rng
        name = self.fresh("f")
        result = _Signal(name, rng.random() < 0.5, rng.choice((4, 7, 10)))
        arguments = [_Signal(self.fresh("x"), rng.random() < 0.5, rng.choice((3, 6, 8))) for _ in range(2)]
        calls = [self.expression(1), self.expression(1)]
        outside, self.readable = self.readable, list(arguments)
        if rng.random() < 0.08:
            self.features.add("function that reads the module")
            self.readable += outside[:2]
        lines = [f"function {'automatic ' * (rng.random() < 0.5)}{self.range_of(result)} {name};"]
        lines += [f"input {self.range_of(x)} {x.name};" for x in arguments]
        if rng.random() < 0.6:
            local = _Signal(self.fresh("l"), rng.random() < 0.5, rng.choice((4, 8)))
            lines += [f"reg {self.range_of(local)} {local.name};", "begin", f"{local.name} = {self.plain(2)};"]
            self.readable.append(local)
        else:
            lines.append("begin")
        lines.append(f"{name} = {self.plain(2)};")
        if rng.random() < 0.5:
            lines += [f"if ({self.plain(1)}) {name} = {name} {rng.choice('+-^')} {self.plain(1)};"]
        self.lines += [*lines, "end", "endfunction"]
        self.readable = outside
        one = _Signal(self.fresh("w"), rng.random() < 0.5, rng.choice((4, 8, 12)))
        self.lines.append(f"wire {self.range_of(one)} {one.name} = {name}({calls[0]}, {calls[1]});")
        return one

    def plain(self, depth: int) -> str:
        """An expression that reads nothing but what is readable, indices included."""
        while True:
            text = self.expression(depth)
            names = {signal.name for signal in self.readable}
            words = set("".join(c if c.isalnum() or c in "_'$" else " " for c in text).split())
            if not {"p", "q", "r", "s", "t"} & words - names:
                return text

    def by_table(self) -> _Signal:
        self.features.add("table")
        rng = self.rng
        name, width = self.fresh("m"), rng.choice((3, 8))
        words = rng.choice((4, 8, 16))
        one = _Signal(self.fresh("w"), rng.random() < 0.5, rng.choice((4, 9)))
        sign = "signed " * (rng.random() < 0.5)
        self.lines.append(f"reg {sign}[{width - 1}:0] {name} [0:{words - 1}];")
        self.lines.append("initial begin")
        index = {4: "r[1:0]", 8: "p[2:0]", 16: "r"}[words]
        filled = words
        if self.beyond:
            self.features.add("beyond")
            index, filled = self.index(), words - rng.randrange(2)
        self.lines += [f"{name}[{n}] = {width}'d{rng.getrandbits(width)};" for n in range(filled)]
        self.lines.append("end")
        self.lines.append(f"wire {self.range_of(one)} {one.name} = {name}[{index}] {rng.choice('+-^')} {self.leaf()};")
        return one

    def by_array(self) -> _Signal:
        self.features.add("array")
        rng = self.rng
        name = self.fresh("a")
        one = _Signal(self.fresh("w"), rng.random() < 0.5, rng.choice((4, 9)))
        self.lines.append(f"wire [4:0] {name} [0:3];")
        self.lines += [f"assign {name}[{n}] = {self.expression(2)};" for n in range(4)]
        self.lines.append(f"wire {self.range_of(one)} {one.name} = {name}[{rng.choice(('r[1:0]', 'p[3:2]', 't'))}];")
        return one

    def by_generate(self) -> _Signal:
        self.features.add("generate")
        rng = self.rng
        one = _Signal(self.fresh("w"), rng.random() < 0.5, rng.choice((4, 6)))
        g, label = self.fresh("g"), self.fresh("b")
        a, b = self.some(), self.some()
        self.lines += [
            f"wire {self.range_of(one)} {one.name};",
            f"genvar {g};",
            f"generate for ({g} = 0; {g} < {one.width}; {g} = {g} + 1) begin : {label}",
            f"if ({g} % 2 == {rng.randrange(2)}) begin",
            f"assign {one.name}[{g}] = ({a.name} >> {g}) ^ ({self.expression(1)});",
            f"end else begin assign {one.name}[{g}] = {b.name} > {g}; end",
            "end endgenerate",
        ]
        return one

    def by_instance(self) -> _Signal:
        self.features.add("instance")
        rng = self.rng
        child = f"{self.name}_{self.fresh('c')}"
        inner = [_Signal("x", rng.random() < 0.5, rng.choice((3, 6))), _Signal("z", rng.random() < 0.5, 5)]
        result = _Signal("o", rng.random() < 0.5, rng.choice((4, 8)))
        writer = _Writer(rng, child, readable=inner)
        text = writer.plain(2)
        self.before.append(
            f"module {child} #(parameter N = 1) (input {self.range_of(inner[0])} x, input {self.range_of(inner[1])} z,"
            f" output {self.range_of(result)} o); assign o = {text} + N; endmodule"
        )
        one = _Signal(self.fresh("w"), rng.random() < 0.5, rng.choice((3, 8, 10)))
        self.lines.append(f"wire {self.range_of(one)} {one.name};")
        connected = f".x({self.expression(1)}), .z({self.expression(1)}), .o({one.name})"
        self.lines.append(
            f"{child} #({rng.choice(('3', '-2', '4' + chr(39) + 'd9'))}) {self.fresh('u')} ({connected});"
        )
        return one

    def by_macro(self) -> _Signal:
        self.features.add("macro")
        rng = self.rng
        name = f"{self.name}_{self.fresh('M')}".upper()
        one = _Signal(self.fresh("w"), rng.random() < 0.5, rng.choice((4, 8)))
        which = rng.randrange(3)
        if which == 0:  # no parentheses: what stands around it binds
            self.included.append(f"`define {name}(A, B) A {rng.choice('+-*')} B")
            text = f"`{name}({self.leaf()}, {self.leaf()}) {rng.choice(('* 2', '+ 1', '>> 1'))}"
        elif which == 1:
            self.included.append(f"`define {name} {rng.choice(('1', '0'))}")
            text = f"{self.leaf()} + `{name}"
        else:
            if rng.random() < 0.5:
                self.included.append(f"`define {name}")
            self.lines += [f"wire {self.range_of(one)} {one.name};", f"`ifdef {name}"]
            self.lines += [f"assign {one.name} = {self.expression(1)};", "`else"]
            self.lines += [f"assign {one.name} = {self.expression(1)};", "`endif"]
            return one
        self.lines.append(f"wire {self.range_of(one)} {one.name} = {text};")
        return one


def random_module(seed: int) -> Module:
    """The module of ``seed``: the same text each time."""
    rng = random.Random(seed)
    name = f"m{seed}"
    writer = _Writer(rng, name, readable=[_Signal(n, bool(s), w) for n, s, w in INPUTS], beyond=rng.random() < 0.25)
    for _ in range(rng.randint(3, 6)):
        writer.step()
    widths, outputs = [], []
    inner = writer.readable[len(INPUTS) :]  # shown as they are, so that what is misread is seen where it is
    for number in range(OUTPUTS):
        width = inner[number].width if number < len(inner) else rng.choice((1, 4, 7, 11))
        one = _Signal(f"y{number}", rng.random() < 0.3, width)
        widths.append(one.width)
        outputs.append(f"output {writer.range_of(one)} {one.name}")
        text = inner[number].name if number < len(inner) else writer.expression(2)
        writer.lines.append(f"assign {one.name} = {text};")
    ports = [f"input {sign} [{width - 1}:0] {port}" for port, sign, width in INPUTS]
    text = "\n".join(
        [*writer.before, f"module {name}({', '.join([*ports, *outputs])});", *writer.lines, "endmodule", ""]
    )
    files: dict[str, str] = {}
    if writer.included:
        shared = "\n".join([*writer.included, ""])
        if rng.random() < 0.5:
            files[f"{name}_macros.v"] = shared
        else:
            writer.features.add("include")
            files[f"{name}.vh"] = shared
            text = f'`include "{name}.vh"\n{text}'
    files[f"{name}.v"] = text
    return Module(name, files, tuple(widths), tuple(sorted(writer.features)))
