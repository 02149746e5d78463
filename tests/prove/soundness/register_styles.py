"""Styles in which people write registers: blocks, instances, shifted vectors, gated clocks, next states."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from dais_verif.hardware.ports.interface import Clocking

__all__ = ["STYLES", "Control", "Register", "Styles"]


@dataclass
class Register:
    """A register.

    ``source``: the expression that it loads. ``value``: its reset value. ``wire``: True if it is a wire that
    something else drives.
    """

    name: str
    width: int
    signed: bool
    age: int
    value: int
    initial: bool
    source: str = ""
    wire: bool = False
    declared: bool = False


class Control(NamedTuple):
    """The control of a register.

    ``reset``: none, sync, async, or wrong (at the other level). ``enable``, ``gate``: conditions, "" if there are
    none. ``stale``: a bit that is controlled differently from the others.
    """

    reset: str
    enable: str = ""
    gate: str = ""
    edge: str = "posedge"
    stale: int | None = None


Entry = tuple[Register, Control]


@dataclass
class Styles:
    """A writer of registers in random styles.

    ``reset``: the condition under which the reset is active. ``modules``: the texts that must precede the module.
    """

    rng: random.Random
    name: str
    reset: str
    pins: Clocking
    modules: list[str] = field(default_factory=list)
    features: set[str] = field(default_factory=set)
    _clocks: list[str] = field(default_factory=list)
    _lines: list[str] = field(default_factory=list)

    def render(self, entries: Sequence[Entry]) -> list[str]:
        """Return the text of all registers; those with the same control may share a block, by age or in any order."""
        left = list(entries)
        how = self.rng.choice(("alone", "together", "ages", "mixed"))
        while left:
            first = left[0]
            if how == "alone" or (how == "mixed" and self.rng.random() < 0.4):
                group = [first]
            else:
                group = [e for e in left if e[1] == first[1] and (how != "ages" or e[0].age == first[0].age)]
            names = {register.name for register, _ in group}
            left = [e for e in left if e[0].name not in names]
            self._group(group)
        return [*self._clocks, *self._lines]

    def _group(self, group: Sequence[Entry]) -> None:
        registers, control = [register for register, _ in group], group[0][1]
        if control.stale is not None:
            self._stale(registers[0], control)
            return
        fitting = [
            (style, write) for style, (weight, fits, write) in STYLES.items() for _ in range(weight)
            if fits(self, registers, control)
        ]  # fmt: skip
        style, write = self.rng.choice(fitting)
        self.features.add(style)
        write(self, registers, control)

    # parts

    def clock(self, control: Control) -> str:
        """Return the clock, or another name of it."""
        if self.rng.random() < 0.93:
            return "clk"
        name = f"clk_{len(self._clocks)}"
        kind = self.rng.choice(
            ("assign", "series", "always", "nonblocking", "twice inverted", "buffer", "and 1", "choice")
        )
        self.features.add(f"clock by another name: {kind}")
        self._clocks.append({
            "assign": f"  wire {name} = clk;",
            "series": f"  wire {name}_; assign {name}_ = clk; wire {name}; assign {name} = {name}_;",
            "always": f"  reg {name}; always @* {name} = clk;",
            "nonblocking": f"  reg {name}; always @(clk) {name} <= clk;",
            "buffer": f"  wire {name}; buf ({name}, clk);",
            "and 1": f"  wire {name} = clk & 1'b1;",
            "choice": f"  wire {name} = {self.pins.enable or 'in_any'} ? clk : clk;".replace("in_any", "model_inp[0]"),
            "twice inverted": f"  wire {name}_ = ~clk; wire {name} = ~{name}_;",
        }[kind])  # fmt: skip
        return name

    def active(self, control: Control) -> str:
        """Return the condition of a reset."""
        return f"!({self.reset})" if control.reset == "wrong" else self.reset

    def edges(self, control: Control, clock: str) -> str:
        """Return the event control of a block."""
        if control.reset != "async":
            return f"{control.edge} {clock}"
        edge = f"{'negedge' if self.pins.reset_low else 'posedge'} {self.pins.reset}"
        return self.rng.choice((f"{control.edge} {clock} or {edge}", f"{control.edge} {clock}, {edge}"))

    def always(self) -> str:
        """Return a keyword that starts a block."""
        return self.rng.choice(("always", "always", "always_ff"))

    def enabled(self, control: Control) -> str:
        """Return the condition under which a register loads, "" for always."""
        words = [word for word in (control.enable, control.gate) if word]
        self.rng.shuffle(words)
        return self.rng.choice((" && ", " & ")).join(words)

    def statement(self, resets: str, loads: str, control: Control) -> str:
        """Return the statement of a block, in one of the common styles."""
        enabled, active = self.enabled(control), self.active(control)
        loads = f"if ({enabled}) begin {loads} end" if enabled else loads
        if control.reset == "none":
            return f"begin {loads} end"
        forms = [f"if ({active}) begin {resets} end else begin {loads} end"] * 4
        if control.reset == "async":
            return forms[0]
        forms.append(f"if (!({active})) begin {loads} end else begin {resets} end")
        forms.append(f"begin {loads} if ({active}) begin {resets} end end")
        if enabled:
            inner = f"if ({active}) begin {resets} end else begin {loads} end"
            forms.append(f"if ({enabled}) begin {inner} end")
            forms.append(f"case ({{{active}, {enabled}}}) 2'b01: begin {loads} end 2'b00: ;"
                         f" default: begin {resets} end endcase")  # fmt: skip
        return self.rng.choice(forms)

    def block(self, registers: Sequence[Register], control: Control, clock: str | None = None) -> None:
        """Add a plain block."""
        left = registers
        if self.rng.random() < 0.15:  # during a reset, the others keep their values
            kept = [r for r in left if self.rng.random() >= 0.6]
            left = [r for r in left if r not in kept or r.name.startswith("valid") or r.name in r.source]
        resets = " ".join(f"{r.name} <= {r.value};" for r in left)
        loads = " ".join(f"{r.name} <= {r.source};" for r in registers)
        edges = self.edges(control, clock or self.clock(control))
        self._lines.append(f"  {self.always()} @({edges}) {self.statement(resets, loads, control)}")

    # styles

    def _separate(self, registers: Sequence[Register], control: Control) -> None:
        for register in registers:
            self.block([register], control)

    def _together(self, registers: Sequence[Register], control: Control) -> None:
        self.block(self.rng.sample(list(registers), len(registers)), control)

    def _concatenated(self, registers: Sequence[Register], control: Control) -> None:
        left, right = (", ".join(getattr(r, what) for r in registers) for what in ("name", "source"))
        values = ", ".join(f"{r.width}'d{r.value}" for r in registers)
        sources = ", ".join(f"{r.name}_d" for r in registers)
        for r in registers:  # as wide as the register, whatever the width of the expression
            self._lines.append(f"  wire [{r.width - 1}:0] {r.name}_d = {r.source};")
        del right
        body = self.statement(f"{{{left}}} <= {{{values}}};", f"{{{left}}} <= {{{sources}}};", control)
        self._lines.append(f"  {self.always()} @({self.edges(control, self.clock(control))}) {body}")

    def _ternary(self, registers: Sequence[Register], control: Control) -> None:
        for r in registers:
            enabled = self.enabled(control)
            text = f"({enabled}) ? {r.source} : {r.name}" if enabled else r.source
            if control.reset != "none":
                text = f"({self.active(control)}) ? {r.value} : ({text})"
            self._lines.append(f"  {self.always()} @({control.edge} {self.clock(control)}) {r.name} <= {text};")

    def _next_state(self, registers: Sequence[Register], control: Control) -> None:
        for r in registers:
            following = f"{r.name}_next"
            self._lines.append(f"  logic {'signed ' * r.signed}[{r.width - 1}:0] {following};")
            enabled = self.enabled(control)
            body = f"{following} = {r.name}; " + (f"if ({enabled}) " if enabled else "") + f"{following} = {r.source};"
            if control.reset != "none":
                body += f" if ({self.active(control)}) {following} = {r.value};"
            self._lines.append(f"  always_comb begin {body} end")
            self._lines.append(f"  always_ff @({control.edge} {self.clock(control)}) {r.name} <= {following};")

    def _instance(self, registers: Sequence[Register], control: Control) -> None:
        module = f"{self.name}_ff{len(self.modules)}"
        one = Register("q", 0, False, 0, 0, False, "d")
        inner = control._replace(enable="ce" if self.enabled(control) else "", gate="")
        reset = f"r{'_n' if self.pins.reset_low else ''}"
        writer = Styles(self.rng, self.name, f"!{reset}" if self.pins.reset_low else reset, self.pins)
        writer.pins = Clocking("clk", None, reset, self.pins.reset_low)
        statement = writer.statement("q <= V;", f"{one.name} <= {one.source};", inner)
        self.modules.append(
            f"module {module} #(parameter W = 1, parameter [W-1:0] V = 0)"
            f" (input clk, input {reset}, input ce, input [W-1:0] d, output reg [W-1:0] q);\n"
            f"  always @({writer.edges(inner, 'clk')}) {statement}\nendmodule"
        )
        for r in registers:
            r.wire = True
            self._lines.append(f"  wire [{r.width - 1}:0] {r.name}_d = {r.source};")
            enabled = self.enabled(control) or "1'b1"
            pin = self.pins.reset or "1'b0"
            self._lines.append(
                f"  {module} #(.W({r.width}), .V({r.value})) u_{r.name} (.clk({self.clock(control)}), .{reset}({pin}),"
                f" .ce({enabled}), .d({r.name}_d), .q({r.name}));"
            )

    def _bits(self, registers: Sequence[Register], control: Control) -> None:
        for r in registers:
            i = f"i_{r.name}"
            self._lines.append(f"  wire [{r.width - 1}:0] {r.name}_d = {r.source};")
            bit = f"{r.name}[{i}]"
            statement = self.statement(f"{bit} <= {r.value & 1};", f"{bit} <= {r.name}_d[{i}];", control)
            self._lines.append(
                f"  genvar {i}; generate for ({i} = 0; {i} < {r.width}; {i} = {i} + 1) begin : g_{r.name}"
                f" always @({self.edges(control, 'clk')}) {statement} end endgenerate"
            )

    def _vector(self, registers: Sequence[Register], control: Control) -> None:
        """Put all registers side by side into one vector."""
        name = f"all_{registers[0].name}"
        total = sum(r.width for r in registers)
        for r in registers:
            self._lines.append(f"  wire [{r.width - 1}:0] {r.name}_d = {r.source};")
        sources = ", ".join(f"{r.name}_d" for r in registers)
        self._lines.append(f"  reg [{total - 1}:0] {name};")
        body = self.statement(f"{name} <= 0;", f"{name} <= {{{sources}}};", control)
        self._lines.append(f"  {self.always()} @({self.edges(control, self.clock(control))}) {body}")
        low = total
        for r in registers:
            r.wire = True
            low -= r.width
            self._lines.append(f"  assign {r.name} = {name}[{low + r.width - 1}:{low}];")

    def _memory(self, registers: Sequence[Register], control: Control) -> None:
        """Make the registers words of an array."""
        name = f"words_{registers[0].name}"
        widest = max(r.width for r in registers)
        self._lines.append(f"  reg [{widest - 1}:0] {name} [0:{len(registers) - 1}]; integer i_{name};")
        resets = f"for (i_{name} = 0; i_{name} < {len(registers)}; i_{name} = i_{name} + 1) {name}[i_{name}] <= 0;"
        loads = " ".join(f"{name}[{n}] <= {r.source};" for n, r in enumerate(registers))
        body = self.statement(resets, loads, control)
        self._lines.append(f"  always @({self.edges(control, self.clock(control))}) {body}")
        for n, r in enumerate(registers):
            r.wire = True
            self._lines.append(f"  assign {r.name} = {name}[{n}];")

    def _static(self, registers: Sequence[Register], control: Control) -> None:
        """Load through a variable of the block, assigned with = before its use, or after it, which adds a register."""
        for r in registers:
            late = self.rng.random() < 0.15
            kind = self.rng.choice(("static", "automatic", "", "", "")) if not late else ""
            self.features.add(f"variable of a block: {kind or 'plain'}, {'late' if late else 'first'}")
            t = f"t_{r.name}"
            if self.rng.random() < 0.5:
                loads = f"{t} = {r.source}; {r.name} <= {t};" if not late else f"{r.name} <= {t}; {t} = {r.source};"
                body = self.statement(f"{r.name} <= {r.value};", loads, control)
            else:
                body = self.statement(f"{r.name} <= {r.value};", f"{r.name} <= {t};", control)
                body = f"{t} = {r.source}; {body}" if not late else f"{body} {t} = {r.source};"
            self._lines.append(
                f"  always @({self.edges(control, 'clk')}) begin : b_{r.name} {kind} reg"
                f" {'signed ' * r.signed}[{r.width - 1}:0] {t}; {body} end"
            )

    def _blocking(self, registers: Sequence[Register], control: Control) -> None:
        """Assign all registers with = in one block, the oldest first or last."""
        order = sorted(registers, key=lambda r: r.age, reverse=self.rng.random() < 0.7)
        resets = " ".join(f"{r.name} = {r.value};" for r in order)
        loads = " ".join(f"{r.name} = {r.source};" for r in order)
        body = self.statement(resets, loads, control)
        self._lines.append(f"  always @({self.edges(control, 'clk')}) {body}")

    def _task(self, registers: Sequence[Register], control: Control) -> None:
        name = f"load_{registers[0].name}"
        loads = " ".join(f"{r.name} <= {r.source};" for r in registers)
        self._lines.append(f"  task {name}; begin {loads} end endtask")
        resets = " ".join(f"{r.name} <= {r.value};" for r in registers)
        body = self.statement(resets, f"{name};", control)
        self._lines.append(f"  always @({self.edges(control, 'clk')}) {body}")

    def _gated_clock(self, registers: Sequence[Register], control: Control) -> None:
        """Stop the clock while the registers are not enabled."""
        name, enabled = f"gate_{registers[0].name}", self.enabled(control)
        kind = self.rng.choice(("latch", "latch", "always_latch", "and", "or", "latch on the wrong level"))
        self.features.add(f"gated clock: {kind}")
        self._lines.append({
            "latch": f"  reg {name}_l; always @* if (!clk) {name}_l = {enabled}; wire {name} = clk & {name}_l;",
            "always_latch": f"  logic {name}_l; always_latch if (!clk) {name}_l <= {enabled};"
                            f" wire {name} = clk & {name}_l;",
            "and": f"  wire {name} = clk & ({enabled});",
            "or": f"  wire {name} = clk | !({enabled});",
            "latch on the wrong level": f"  reg {name}_l; always @* if (clk) {name}_l = {enabled};"
                                        f" wire {name} = clk & {name}_l;",
        }[kind])  # fmt: skip
        self.block(registers, control._replace(enable="", gate=""), name)

    def _two_writers(self, registers: Sequence[Register], control: Control) -> None:
        """Write the reset in a block of its own."""
        for r in registers:
            enabled = self.enabled(control)
            self._lines.append(f"  always @(posedge clk) if ({self.active(control)}) {r.name} <= {r.value};")
            condition = f"!({self.active(control)})" + (f" && ({enabled})" if enabled else "")
            self._lines.append(f"  always @(posedge clk) if ({condition}) {r.name} <= {r.source};")

    def _iff(self, registers: Sequence[Register], control: Control) -> None:
        loads = " ".join(f"{r.name} <= {r.source};" for r in registers)
        self._lines.append(f"  always @(posedge clk iff ({self.enabled(control)})) begin {loads} end")

    def _waiting(self, registers: Sequence[Register], control: Control) -> None:
        resets = " ".join(f"{r.name} <= {r.value};" for r in registers)
        loads = " ".join(f"{r.name} <= {r.source};" for r in registers)
        self._lines.append(f"  always begin @(posedge clk); {self.statement(resets, loads, control)} end")

    def _ring(self, registers: Sequence[Register], control: Control) -> None:
        """Write a memory of two words and an advancing position; the word that is read has the age of one register."""
        for r in registers:
            place, words = f"at_{r.name}", f"ring_{r.name}"
            self._lines.append(f"  reg {place} = 0; reg [{r.width - 1}:0] {words} [0:1];")
            enabled = self.enabled(control)
            body = f"{words}[{place}] <= {r.source}; {place} <= ~{place};"
            self._lines.append(f"  always @(posedge clk) {f'if ({enabled}) ' if enabled else ''}begin {body} end")
            r.wire = True
            self._lines.append(f"  assign {r.name} = {words}[~{place}];")

    def _stale(self, r: Register, control: Control) -> None:
        """Write a register in which one bit has less control, or more, than the others."""
        self.features.add("a bit by itself")
        bit = control.stale
        other = self.rng.choice((
            control._replace(enable=""), control._replace(gate=""), control._replace(reset="none"),
            control._replace(enable=self.pins.valid_in or control.enable),
        ))  # fmt: skip
        self._lines.append(f"  wire [{r.width - 1}:0] {r.name}_d = {r.source};")
        edges = self.edges(other, "clk")
        body = self.statement(f"{r.name}[{bit}] <= {r.value & 1};", f"{r.name}[{bit}] <= {r.name}_d[{bit}];", other)
        self._lines.append(f"  always @({edges}) {body}")
        rest = [n for n in range(r.width) if n != bit]
        resets = " ".join(f"{r.name}[{n}] <= {r.value if n == 0 else 0};" for n in rest)
        loads = " ".join(f"{r.name}[{n}] <= {r.name}_d[{n}];" for n in rest)
        if rest:
            body = self.statement(resets, loads, control)
            self._lines.append(f"  always @({self.edges(control, 'clk')}) {body}")


def _plain(styles: Styles, registers: Sequence[Register], control: Control) -> bool:
    return True


def _synchronous(styles: Styles, registers: Sequence[Register], control: Control) -> bool:
    return control.reset != "async"


def _zero(styles: Styles, registers: Sequence[Register], control: Control) -> bool:
    return not any(r.value or r.initial for r in registers) and control.edge == "posedge"


def _several(styles: Styles, registers: Sequence[Register], control: Control) -> bool:
    return len(registers) > 1


def _stops(styles: Styles, registers: Sequence[Register], control: Control) -> bool:
    return control.reset == "none" and bool(control.enable or control.gate)


def _resets(styles: Styles, registers: Sequence[Register], control: Control) -> bool:
    return control.reset == "sync"


def _free(styles: Styles, registers: Sequence[Register], control: Control) -> bool:
    return control.reset == "none" and not any(r.initial for r in registers)


def _uninitialised(styles: Styles, registers: Sequence[Register], control: Control) -> bool:
    return not any(r.initial for r in registers)


Fits = Callable[[Styles, Sequence[Register], Control], bool]
Write = Callable[[Styles, Sequence[Register], Control], None]

#: For each style: its weight, whether it is applicable, and the method that writes it.
STYLES: dict[str, tuple[int, Fits, Write]] = {
    "blocks of their own": (6, _plain, Styles._separate),
    "one block": (6, _plain, Styles._together),
    "concatenated": (3, _several, Styles._concatenated),
    "ternary": (4, _synchronous, Styles._ternary),
    "next state": (4, _synchronous, Styles._next_state),
    "instances": (4, _uninitialised, Styles._instance),
    "bit by bit": (2, lambda s, r, c: all(x.value < 2 for x in r) and _one_bits(r), Styles._bits),
    "one vector": (3, _zero, Styles._vector),
    "array": (3, lambda s, r, c: _zero(s, r, c) and c.reset != "wrong", Styles._memory),
    "variable of a block": (3, _plain, Styles._static),
    "assigned with =": (1, _plain, Styles._blocking),
    "task": (2, _plain, Styles._task),
    "gated clock": (2, _stops, Styles._gated_clock),
    "two blocks": (1, _resets, Styles._two_writers),
    "iff": (1, _stops, Styles._iff),
    "always with a wait": (1, _synchronous, Styles._waiting),
    "ring": (1, _free, Styles._ring),
}


def _one_bits(registers: Sequence[Register]) -> bool:
    return all(r.value == 0 or r.width == 1 for r in registers)
