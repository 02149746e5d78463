"""Generate random ways to drive a signal: assignments, functions, tasks, tables, arrays, types, instances, macros."""

from __future__ import annotations

from collections.abc import Callable

from prove.soundness.expressions import COUNTED, Expressions, Signal
from prove.soundness.statements import Statements

__all__ = ["Structures"]


class Structures(Statements):
    """A writer of the body of a module, one signal at a time."""

    def step(self) -> None:
        """Drive one more signal."""
        ways: list[tuple[float, Callable[[], Signal]]] = [
            (4, self.by_assign),
            (6, self.by_block),
            (2, self.by_function),
            (1, self.by_task),
            (1.5, self.by_table),
            (1.5, self.by_array),
            (1, self.by_generate),
            (1.5, self.by_instance),
            (1, self.by_macro),
            (1, self.in_parts),
            (0.7, self.by_gates),
            (0.5, self.by_constant),
            (0.4 * self.style.beyond, self.by_nothing),
            (2 * self.style.system, self.by_structure),
            (1 * self.style.system, self.by_enumeration),
            (1 * self.style.system, self.by_packed_array),
            (0.6 * self.style.system, self.by_type),
        ]
        way = self.rng.choices([w for _, w in ways], [n for n, _ in ways])[0]
        self.readable.append(way())

    def result(self, text: str) -> Signal:
        """Return a wire that is assigned an expression."""
        one = self.vector("w")
        self.lines.append(f"wire {one.range} {one.name} = {text};")
        return one

    def by_assign(self) -> Signal:
        text, one = self.expression(3), self.vector("w")
        if self.often(0.5):
            self.lines.append(f"wire {one.range} {one.name} = {text};")
        else:
            self.lines += [f"wire {one.range} {one.name};", f"assign {one.name} = {text};"]
        return one

    def in_parts(self) -> Signal:
        self.features.add("parts")
        rng = self.rng
        one = Signal(self.fresh("w"), self.often(0.5), rng.choice((3, 7, 8)))
        cut = rng.randrange(1, one.width)
        low, high = self.expression(2), self.expression(2)
        self.lines.append(f"wire {one.range} {one.name};")
        if self.often(0.5):
            self.lines.append(f"assign {one.name}[{cut - 1}:0] = {low};")
            self.lines.append(f"assign {one.name}[{one.width - 1}:{cut}] = {high};")
        else:
            other = self.fresh("w")
            self.lines.append(f"wire [{rng.randrange(1, 5)}:0] {other};")
            self.lines.append(f"assign {{{one.name}, {other}}} = {low};")
        return one

    def by_gates(self) -> Signal:
        self.features.add("gate")
        rng = self.rng
        one = Signal(self.fresh("w"), self.often(0.5), rng.choice((1, 2, 3)))
        self.lines.append(f"wire {one.range} {one.name};")
        for bit in range(one.width):
            pins = [f"{self.name_of_bit()}" for _ in range(rng.choice((2, 2, 3)))]
            kind = rng.choice(("and", "or", "xor", "nand", "nor", "xnor", "buf", "not"))
            pins = pins[:1] if kind in ("buf", "not") else pins
            label = f" {self.fresh('u')}" * self.often(0.5)
            self.lines.append(f"{kind}{label} ({one.name}[{bit}], {', '.join(pins)});")
        return one

    def name_of_bit(self) -> str:
        one = self.some()
        return one.name if one.width == 1 else f"{one.name}[{one.place(self.rng.randrange(one.width))}]"

    def by_constant(self) -> Signal:
        self.features.add("constant")
        rng = self.rng
        name = self.fresh("k")
        kind = rng.randrange(4)
        if kind == 0:
            self.lines.append(f"supply{rng.randrange(2)} {name};")
        elif kind == 1:
            self.lines.append(f"localparam signed [{rng.choice((3, 6))}:0] {name} = {self.literal()};")
        elif kind == 2:
            self.lines.append(f"reg [{rng.choice((2, 5))}:0] {name} = {rng.randrange(9)};")
        else:
            self.lines.append(f"localparam {name} = {rng.choice(('3', '8' + chr(39) + 'hf0', '-5'))} * 2;")
        return self.result(f"{self.leaf()} {rng.choice('+-^*')} {name}")

    def by_nothing(self) -> Signal:
        """Declare a signal that is never assigned."""
        self.features.add("unassigned")
        name = self.fresh("z")
        self.lines.append(f"{self.rng.choice(('reg', 'wire'))} [3:0] {name};")
        return self.result(f"{self.leaf()} ? {name} : {self.expression(1)}")

    # functions and tasks

    def argument(self) -> str:
        """Return an argument of a function, without system calls, which Icarus misinterprets there."""
        while True:
            text = self.expression(1)
            if not any(call in text for call in COUNTED):
                return text

    def by_function(self) -> Signal:
        self.features.add("function")
        name, result = self.fresh("f"), self.vector("f", plain=True)
        arguments = [self.vector("x", plain=True) for _ in range(2)]
        calls = [self.argument(), self.argument()]
        outside, self.readable = self.readable, list(arguments)
        seen = self.often(0.06)
        if seen:
            self.features.add("function that reads the module")
            self.readable += outside[:2]
        automatic = "automatic " * self.often(0.5)
        lines = [f"function {automatic}{result.range} {name};"]
        if self.style.system and self.often(0.5):
            inputs = ", ".join(f"input {x.range} {x.name}" for x in arguments)
            lines = [f"function {automatic}{result.range} {name}({inputs});"]
        else:
            lines += [f"input {x.range} {x.name};" for x in arguments]
        if self.often(0.6):
            local = self.vector("l", plain=True)
            lines += [f"reg {local.range} {local.name};", "begin", f"{local.name} = {self.plain(2)};"]
            self.readable.append(local)
        else:
            lines.append("begin")
        lines += self.returned(name)
        self.lines += [*lines, "end", "endfunction"]
        self.readable = outside
        call = f"{name}({calls[0]}, {calls[1]})"
        if self.style.system and (seen or self.often(0.3)):
            one = self.vector("v")
            self.lines += [f"logic {one.range} {one.name};", f"always_comb {one.name} = {call};"]
            return one
        return self.result(call)

    def returned(self, name: str) -> list[str]:
        """Return the statements that compute the value of a function."""
        rng = self.rng
        if self.style.system and self.often(0.35):
            self.features.add("return")
            early = f"if ({self.plain(1)}) return {self.plain(1)};"
            if self.style.newer and self.often(0.4):
                i = self.fresh("i")
                turn = f"if ({self.plain(1)} {rng.choice(('==', '<'))} {i}) return {self.plain(1)} + {i};"
                early = f"for (int {i} = 0; {i} < 4; {i}++) begin {turn} end"
            return [early, f"return {self.plain(2)};"]
        found = [f"{name} = {self.plain(2)};"]
        if self.often(0.5):
            found.append(f"if ({self.plain(1)}) {name} = {name} {rng.choice('+-^')} {self.plain(1)};")
        if self.often(0.2):
            selected = f"case ({self.plain(0)}) 3'd1: {name} = {self.plain(1)};"
            found.append(f"{selected} 4'd2, 2'd3: {name} = {self.plain(1)}; default: ; endcase")
        return found

    def by_task(self) -> Signal:
        self.features.add("task")
        name, given, result = self.fresh("t"), self.vector("x", plain=True), self.vector("y", plain=True)
        result.signed &= not self.style.newer  # Verilator extends it as unsigned, so Icarus must also read it
        one = self.vector("v")
        call = self.expression(1)
        outside, self.readable = self.readable, [given]
        body = [f"{result.name} = {self.plain(2)};"]
        if self.often(0.5):
            body.append(f"if ({self.plain(1)}) {result.name} = {self.plain(1)};")
        automatic = "automatic " * self.often(0.5)
        if self.style.newer and self.often(0.4):
            body.append(f"if ({self.plain(0)}) return;")
            body.append(f"{result.name} = ~{result.name};")
        self.readable = outside
        if self.often(0.5):
            head = [f"task {automatic}{name};", f"input {given.range} {given.name};"]
            head += [f"output {result.range} {result.name};"]
        else:
            head = [f"task {automatic}{name}(input {given.range} {given.name}, output {result.range} {result.name});"]
        if self.style.newer and self.often(0.3):
            head[0] = head[0].replace("task", "function").replace(name, f"void {name}")
            self.features.add("function without a value")
        ending = "endfunction" if head[0].startswith("function") else "endtask"
        self.lines += [*head, "begin", *body, "end", ending]
        self.lines.append(f"reg {one.range} {one.name};")
        lead = "always_comb" if self.style.system and self.often(0.6) else "always @*"
        self.lines.append(f"{lead} {name}({call}, {one.name});")
        return one

    # tables and arrays

    def by_table(self) -> Signal:
        self.features.add("table")
        rng = self.rng
        name, width = self.fresh("m"), rng.choice((3, 8))
        words = rng.choice((4, 8, 16))
        sign = "signed " * self.often(0.5)
        index, filled = self.within(words), words
        if self.style.beyond:
            self.features.add("beyond")
            index, filled = self.index(), words - rng.randrange(2)
        values = [rng.getrandbits(width) for _ in range(filled)]
        if self.style.newer and self.often(0.4):
            self.features.add("constant array")
            items = ", ".join(f"{width}'d{value}" for value in [*values, *[0] * (words - filled)])
            kind = rng.choice(("localparam", "const"))
            self.lines.append(f"{kind} logic {sign}[{width - 1}:0] {name} [0:{words - 1}] = '{{{items}}};")
        else:
            ends = rng.choice(((0, words - 1), (words - 1, 0)))
            self.lines += [f"reg {sign}[{width - 1}:0] {name} [{ends[0]}:{ends[1]}];", "initial begin"]
            self.lines += [f"{name}[{n}] = {width}'d{value};" for n, value in enumerate(values)]
            self.lines.append("end")
        return self.result(f"{name}[{index}] {rng.choice('+-^')} {self.leaf()}")

    def by_array(self) -> Signal:
        self.features.add("array")
        rng = self.rng
        name = self.fresh("a")
        element = self.vector("e", plain=True)
        index = rng.choice(("r[1:0]", "p[3:2]", "t"))
        if self.style.beyond and self.often(0.3):
            self.features.add("beyond")
            index = self.index()
        kind = rng.randrange(3)
        if kind == 0 or not self.style.system:
            self.lines.append(f"wire {element.range} {name} [0:3];")
            self.lines += [f"assign {name}[{n}] = {self.expression(2)};" for n in range(4)]
            return self.result(f"{name}[{index}]")
        self.features.add("array in a block")  # Icarus 11 never ends if an always_comb also reads the array
        self.lines.append(f"logic {element.range} {name} [0:3];")
        i = self.fresh("i")
        head = f"for (int {i} = 0; {i} < 4; {i} = {i} + 1)"
        if self.style.newer and self.often(0.5):
            head = f"foreach ({name}[{i}])"
        body = [f"{head} {name}[{i}] = {self.expression(1)} + {i};"]
        if self.often(0.6):
            body.append(f"{name}[{rng.choice(('r[1:0]', 's[1:0]', '2'))}] = {self.expression(1)};")
        self.lines += ["always @* begin", *body, "end"]
        return self.result(f"{name}[{index}] {rng.choice('+-^')} {name}[{rng.randrange(4)}]")

    def by_packed_array(self) -> Signal:
        self.features.add("packed array")
        rng = self.rng
        name, words, width = self.fresh("a"), rng.choice((2, 4)), rng.choice((2, 3, 5))
        self.lines.append(f"logic [{words - 1}:0][{width - 1}:0] {name};")
        index = self.within(words)
        if self.often(0.5):
            self.lines.append(f"assign {name} = {self.expression(2)};")
        else:
            body = [f"{name} = {self.expression(1)};", f"{name}[{self.within(words)}] = {self.expression(1)};"]
            self.lines += ["always_comb begin", *body, "end"]
        return self.result(f"{name}[{index}] {rng.choice('+-^')} {rng.choice((f'{name}[1]', f'{name}[0][1]', name))}")

    # types

    def by_structure(self) -> Signal:
        self.features.add("structure")
        rng = self.rng
        kind, name = self.fresh("st"), self.fresh("z")
        members = [self.vector("n", plain=True) for _ in range(rng.choice((2, 3)))]
        fields = " ".join(f"logic {m.range} {m.name};" for m in members)
        self.lines += [f"typedef struct packed {'signed ' * self.often(0.3)}{{{fields}}} {kind};", f"{kind} {name};"]
        how = rng.randrange(3)
        if how == 0:
            self.lines.append(f"assign {name} = {self.expression(2)};")
        elif how == 1 and self.style.newer:
            items = ", ".join(f"{m.name}: {self.expression(1)}" for m in members)
            self.lines.append(f"assign {name} = '{{{items}}};")
        else:
            body = [f"{name}.{m.name} = {self.expression(1)};" for m in members]
            self.lines += ["always_comb begin", f"{name} = {self.expression(1)};", *body[: rng.randint(1, 3)], "end"]
        first, last = members[0].name, members[-1].name
        shown = (f"{name}.{first} {rng.choice(('+', '-', '>', '*'))} {name}.{last}", name, f"{name}.{last} >>> 1")
        return self.result(rng.choice(shown))

    def by_enumeration(self) -> Signal:
        self.features.add("enumeration")
        rng = self.rng
        kind, name = self.fresh("en"), self.fresh("z")
        labels = [self.fresh("L") for _ in range(3)]
        values = rng.sample(range(4), 3)
        items = ", ".join(f"{label} = {value}" for label, value in zip(labels, values, strict=True))
        self.lines += [f"typedef enum logic [1:0] {{{items}}} {kind};", f"{kind} {name};"]
        one = self.vector("v")
        body = [f"{name} = {labels[0]};", f"if ({self.expression(1)}) {name} = {labels[1]};"]
        body.append(f"else if ({self.leaf()}) {name} = {labels[2]};")
        self.lines += ["always_comb begin", *body, "end", f"logic {one.range} {one.name};", "always @*"]
        word = "unique case" if self.style.newer and self.often(0.4) else "case"  # never ends in Icarus 11
        arms = [f"{label}: {one.name} = {self.expression(1)};" for label in labels[:2]]
        self.lines += [f"{word} ({name})", *arms, f"default: {one.name} = {self.expression(1)};", "endcase"]
        return one

    def by_type(self) -> Signal:
        """Declare a variable of a built-in type, or of a type in a package."""
        rng = self.rng
        name = self.fresh("z")
        if self.often(0.5):
            self.features.add("type")
            kind = rng.choice(
                ("int", "integer", "byte", "shortint", "byte unsigned", "bit [4:0]", "logic signed [5:0]")
            )
            value = self.expression(2)
            self.lines += [f"{kind} {name};", f"always_comb {name} = {value};"]
            return self.result(f"{name} {rng.choice(('>>> 2', '/ 3', '% 5', '>> 1', '< r', '+ s'))}")
        self.features.add("package")
        package, width = f"{self.name}_{self.fresh('p')}", rng.choice((3, 6))
        self.before.append(
            f"package {package}; localparam K = {rng.randrange(9)}; typedef logic signed [{width}:0] word;"
            f" function automatic word half(input word x); half = x >>> 1; endfunction endpackage"
        )
        self.lines += [f"{package}::word {name};", f"assign {name} = {package}::half({self.expression(1)});"]
        return self.result(f"{name} {rng.choice('+*^')} {package}::K")

    # hierarchy

    def by_generate(self) -> Signal:
        self.features.add("generate")
        rng = self.rng
        one = Signal(self.fresh("w"), self.often(0.5), rng.choice((3, 5)))
        g, label = self.fresh("g"), self.fresh("b")
        a, b = self.some(), self.some()
        if self.often(0.3):
            chosen = f"case ({rng.randrange(3)}) 0: assign {one.name} = {self.expression(1)};"
            chosen += f" 1: assign {one.name} = {self.expression(1)}; default: assign {one.name} = {a.name}; endcase"
            self.lines += [f"wire {one.range} {one.name};", f"generate {chosen} endgenerate"]
            return one
        self.lines += [
            f"wire {one.range} {one.name};",
            f"genvar {g};",
            f"generate for ({g} = 0; {g} < {one.width}; {g} = {g} + 1) begin : {label}",
            f"wire signed [3:0] inner = {self.expression(1)} + {g};",
            f"if ({g} % 2 == {rng.randrange(2)}) begin",
            f"assign {one.name}[{g}] = ({a.name} >> {g}) ^ ({self.expression(1)});",
            f"end else begin assign {one.name}[{g}] = {b.name} > {rng.choice((g, 'inner'))}; end",
            "end endgenerate",
        ]
        return one

    def by_instance(self) -> Signal:
        self.features.add("instance")
        rng = self.rng
        child = f"{self.name}_{self.fresh('c')}"
        inner = [Signal("x", self.often(0.5), rng.choice((2, 5))), Signal("z", self.often(0.5), 4)]
        output = Signal("o", self.often(0.5), rng.choice((3, 7)))
        writer = Expressions(rng, child, self.style, readable=list(inner))
        text = writer.plain(2)
        self.features |= writer.features
        wide = "N" if self.often(0.3) else str(output.left)
        self.before.append(
            f"module {child} #(parameter N = 1, parameter [3:0] M = 2) (input {inner[0].range} x,"
            f" input {inner[1].range} z, output {'signed ' * output.signed}[{wide}:0] o);"
            f" localparam K = N * 2 - M; assign o = {text} + {rng.choice('NMK')}; endmodule"
        )
        one = self.vector("w")
        self.lines.append(f"wire {one.range} {one.name};")
        # Only some tools extend an expression without a size of its own to the width of the port.
        pins = [self.some().name if self.often(0.5) else f"{{{self.leaf_of_size()}}}" for _ in inner]
        if self.often(0.15):
            self.features.add("connected expression")
            pins[0] = self.expression(1)
        values = [rng.choice(("3", "2", "4'd6", "5")), rng.choice(("7", "4'd9", "0"))]
        given = f"#(.N({values[0]}), .M({values[1]}))" if self.often(0.6) else f"#({values[0]})"
        if self.often(0.2):
            self.lines.append(f"{child} {given} {self.fresh('u')} ({pins[0]}, {pins[1]}, {one.name});")
        else:
            connected = f".x({pins[0]}), .z({pins[1]}), .o({one.name})"
            self.lines.append(f"{child} {given} {self.fresh('u')} ({connected});")
        return one

    def by_macro(self) -> Signal:
        self.features.add("macro")
        rng = self.rng
        name = f"{self.name}_{self.fresh('M')}".upper()
        which = rng.randrange(4)
        if which == 0:  # no parentheses, so that surrounding operators bind
            self.macros.append(f"`define {name}(A, B) A {rng.choice('+-*')} B")
            return self.result(f"`{name}({self.leaf()}, {self.leaf()}) {rng.choice(('* 2', '+ 1', '>> 1'))}")
        if which == 1:
            self.macros.append(f"`define {name} {rng.choice(('1', '0'))}")
            if self.often(0.4):  # the last definition holds
                self.macros.append(f"`undef {name}\n`define {name} {rng.randrange(20)}")
            return self.result(f"{self.leaf()} + `{name}")
        if which == 2:
            other = f"{name}_X"
            self.macros.append(f"`ifndef {other}\n`define {name} {rng.randrange(9)}\n`else\n`define {name} -1\n`endif")
            if self.often(0.5):
                self.macros.insert(0, f"`define {other}")
            return self.result(f"{self.leaf()} * `{name}")
        if self.often(0.5):
            self.macros.append(f"`define {name}")
        one = self.vector("w")
        self.lines += [f"wire {one.range} {one.name};", f"`ifdef {name}"]
        self.lines += [f"assign {one.name} = {self.expression(1)};", "`else"]
        self.lines += [f"assign {one.name} = {self.expression(1)};", "`endif"]
        return one
