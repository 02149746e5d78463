"""Generate random blocks: branches, cases, loops, jumps, local variables, and sensitivity lists."""

from __future__ import annotations

from prove.soundness.expressions import Expressions, Signal

__all__ = ["Statements"]

#: Used only as whole right-hand sides: as operands, they have different widths in different tools.
_FILLED = ("'0", "'1")
_WHOLE = {1: "t", 2: "r[1:0]", 3: "p[2:0]"}


class Statements(Expressions):
    """A writer of random statements that assign one signal."""

    def by_block(self) -> Signal:
        one = self.vector("v")
        kind = "logic" if self.style.system and self.often(0.5) else "reg"
        self.lines.append(f"{kind} {one.range} {one.name};")
        self.read = {}
        if self.often(0.05):
            return self.nonblocking(one)
        # Loops may use a variable of the module, which then belongs to one block.
        body = self.with_local(one) if self.often(0.2) else ["begin", *self.statements(one, 2, first=True), "end"]
        self.lines += [self.event(one), *body]
        return one

    def event(self, one: Signal) -> str:
        read = [name for name in self.read if name != one.name and not name.startswith(("i", "l"))]
        head = self.rng.random()
        if head < 0.45 or not read:
            return self.rng.choice(("always @*", "always @(*)"))
        if head < 0.8 and self.style.system:
            return "always_comb"
        self.features.add("list")
        if self.often(0.04) and len(read) > 1:
            self.features.add("incomplete list")
            read = read[1:]
        if self.often(0.1):
            return f"always @({{{', '.join(read)}}})"
        return f"always @({self.rng.choice([' or ', ', ']).join(read)})"

    def nonblocking(self, one: Signal) -> Signal:
        self.features.add("nonblocking")
        lines = [f"{one.name} <= {self.expression(2)};"]
        if self.often(0.06):
            lines.append(f"if ({self.leaf()}) {one.name} <= {self.expression(1)};")
        self.lines += [self.event(one), "begin", *lines, "end"]
        return one

    def with_local(self, one: Signal) -> list[str]:
        self.features.add("local")
        local = self.vector("l", plain=True)
        value = self.expression(2)
        self.readable.append(local)
        body = self.statements(one, 2, first=True)
        self.readable.pop()
        body = [f"{local.name} = {value};", *body, f"{one.name} = {one.name} ^ {local.name};"]
        return [f"begin : {self.fresh('b')}", f"reg {local.range} {local.name};", *body, "end"]

    def statements(self, one: Signal, depth: int, first: bool = False) -> list[str]:
        """Return statements that assign ``one``; the first assigns all of it, except for an occasional latch."""
        rng = self.rng
        found: list[str] = []
        if first:
            draw = rng.random()
            if draw < 0.02:
                self.features.add("latch")
            elif draw < 0.15:
                return [*self.full(one, depth), *self.statement(one, depth)]
            elif draw < 0.2 and self.style.system:
                self.features.add("X that is overwritten")
                found += [f"{one.name} = 'x;", f"{one.name} = {self.expression(2)};"]
            else:
                found.append(f"{one.name} = {self.expression(2)};")
        for _ in range(rng.randint(1, 2)):
            found += self.statement(one, depth)
        return found

    def full(self, one: Signal, depth: int) -> list[str]:
        """Return a case that covers all values, so it needs no default, or one that assigns X in its default."""
        rng = self.rng
        self.features.add("full case")
        bits = rng.choice((1, 2, 3))
        self.read[_WHOLE[bits][0]] = None
        lines = [f"case ({_WHOLE[bits]})"]
        for value in range(1 << bits):
            lines += [f"{bits}'d{value}: {one.name} = {self.expression(1)};"]
        if self.style.system and self.often(0.4):
            self.features.add("X in a default")
            lines.append(f"default: {one.name} = 'x;")
        elif self.style.beyond and self.often(0.3):
            self.features.add("X in a case")
            lines[-1] = f"default: {one.name} = {one.width}'bx;"
        return [*lines, "endcase"]

    def statement(self, one: Signal, depth: int) -> list[str]:
        rng = self.rng
        kind = rng.randrange(11) if depth else rng.randrange(4)
        if kind == 0 or (kind == 1 and one.width == 1):
            if self.style.system and self.often(0.4):
                self.features.add("compound assignment")
                self.own(one)
                if self.often(0.2):
                    return [f"{one.name}{rng.choice(('++', '--'))};"]
                return [f"{one.name} {rng.choice('+-^&|*')}= {self.expression(2)};"]
            return [f"{one.name} = {self.own(one)} {rng.choice('+-^&|')} {self.expression(2)};"]
        if kind == 1:
            return self.partly(one)
        if kind in (2, 3):
            filled = self.style.system and self.often(0.1)
            return [f"{one.name} = {rng.choice(_FILLED) if filled else self.expression(3)};"]
        if kind in (4, 5):
            return self.branch(one, depth)
        if kind in (6, 7):
            return self.loop(one, depth == 2)
        if kind == 8 and self.style.system:
            return self.declared(one, depth)
        return self.case(one, depth)

    def partly(self, one: Signal) -> list[str]:
        """Assign a part of ``one``, whose index may depend on a signal."""
        rng = self.rng
        if one.width in (2, 4, 8, 16) and one.left > one.right == 0 and self.often(0.6):
            self.features.add("variable index on the left")
            return [f"{one.name}[{self.within(one.width)}] = {self.expression(1)};"]
        if self.style.beyond and self.often(0.4):
            self.features |= {"beyond", "beyond on the left"}
            return [f"{one.name}[{self.index()}] = {self.expression(1)};"]
        low = rng.randrange(one.width)
        count = rng.randint(1, one.width - low)
        first, last = one.place(low), one.place(low + count - 1)
        where = rng.choice((f"[{min(first, last)} +: {count}]", f"[{last}:{first}]", f"[{first}]"))
        return [f"{one.name}{where} = {self.expression(1)};"]

    def branch(self, one: Signal, depth: int) -> list[str]:
        condition = self.expression(1)
        if self.style.newer and self.often(0.1):
            self.features.add("priority if")
            return [f"priority if ({condition}) begin", *self.statement(one, depth - 1), "end else begin end"]
        found = [f"if ({condition}) begin", *self.statement(one, depth - 1), "end"]
        return [*found, "else begin", *self.statement(one, depth - 1), "end"] if self.often(0.6) else found

    def declared(self, one: Signal, depth: int) -> list[str]:
        """Declare a variable in a branch."""
        self.features.add("variable in a branch")
        local = self.vector("l", plain=True)
        condition, value = self.leaf(), self.expression(1)
        lifetime = "automatic " if self.style.newer else ""
        self.readable.append(local)
        body = self.statement(one, depth - 1)
        self.readable.pop()
        head = f"if ({condition}) begin : {self.fresh('b')}"
        if lifetime and self.often(0.5):
            return [head, f"automatic logic {local.range} {local.name} = {value};", *body, "end"]
        return [head, f"{lifetime}logic {local.range} {local.name};", f"{local.name} = {value};", *body, "end"]

    def loop(self, one: Signal, always: bool) -> list[str]:
        """Return a loop.

        ``always``: True if the loop is not in a branch, where a loop variable of the module would keep its value.
        """
        self.features.add("loop")
        rng = self.rng
        name = self.fresh("i")
        bits = min(one.width, rng.choice((2, 4, 6)))
        self.own(one)
        # A bit outside of the signal has no known value, so the index stays inside.
        at = f"{one.name}[{name}]" if one.right == 0 and one.left >= 0 else f"{one.name}[{one.place(0)}]"
        update = f"{at} = {at} {rng.choice('^&|')} {self.leaf()};"
        if self.often(0.5):
            update = f"{one.name} = {one.name} + ({self.leaf()} >> {name});"
        kind = rng.randrange(6)
        if kind == 0 or not self.style.system:
            self.lines.append(f"integer {name};")
            return [f"for ({name} = 0; {name} < {bits}; {name} = {name} + 1) begin", update, "end"]
        head = f"for (int {name} = 0; {name} < {bits}; {rng.choice((f'{name}++', f'{name} = {name} + 1'))}) begin"
        if kind == 1 and always:
            self.features.add("while")
            self.lines.append(f"integer {name};")
            end = f"{name} < {bits} && {rng.choice((f'{name} < r', '!t', f'p != {name}'))}"
            self.read |= {"r": None, "t": None, "p": None}
            return [f"{name} = 0;", f"while ({end}) begin", update, f"{name} = {name} + 1;", "end"]
        if kind == 2 and always:
            self.features.add("do")
            self.lines.append(f"integer {name};")
            return [f"{name} = 0;", "do begin", update, f"{name} = {name} + 1;", f"end while ({name} < {bits});"]
        if kind == 3 and self.style.newer:
            self.features.add("jump")
            jump = f"if ({self.leaf()} {rng.choice(('==', '<', '>'))} {name}) {rng.choice(('break', 'continue'))};"
            return [head, *rng.sample([jump, update], 2), "end"]
        if kind == 4:
            self.features.add("repeat")
            again = f"{one.name} = {one.name} {rng.choice('+-^')} {self.leaf()};"
            return [f"repeat ({rng.randint(1, 4)}) {again}"]
        return [head, update, "end"]

    def own(self, one: Signal) -> str:
        self.read[one.name] = None
        return one.name

    def case(self, one: Signal, depth: int) -> list[str]:
        rng = self.rng
        word = rng.choice(("case", "case", "casez", "casez", "casex"))
        inside = self.style.newer and self.often(0.3)
        self.features.add("case inside" if inside else word)
        subject = rng.choice((self.leaf_of_size(), self.leaf_of_size(), self.expression(1), "1'b1"))
        unsigned = inside or self.often(0.92)  # simulators differ in how they extend items of another sign
        if unsigned:
            subject = f"$unsigned({subject})"
        lines = [f"case ({subject}) inside" if inside else f"{word} ({subject})"]
        for _ in range(rng.randint(1, 4)):
            items = [self.entry() if inside else self.item(word, unsigned) for _ in range(rng.choice((1, 1, 2)))]
            lines += [f"{', '.join(items)}: begin", *self.statement(one, depth - 1), "end"]
        if self.often(0.7):
            lines += ["default: begin", *self.statement(one, depth - 1), "end"]
        return [*lines, "endcase"]

    def entry(self) -> str:
        low = self.rng.randrange(8)
        return f"[{low}:{low + self.rng.randrange(6)}]" if self.often(0.4) else self.item("casez", True)

    def item(self, word: str, unsigned: bool) -> str:
        rng = self.rng
        if word == "case" or self.often(0.3):
            chosen = rng.choice((self.literal().lstrip("-"), self.leaf_of_size() if word == "case" else "3'd5"))
            return chosen if not unsigned else chosen if chosen.isdigit() else f"$unsigned({chosen})"
        width = rng.choice((2, 3, 4, 5, 7))
        wild = "?" if word == "casez" or self.often(0.985) else "x"
        digits = "".join(rng.choice("01" + wild) for _ in range(width))
        base = "b"
        if not unsigned and self.often(0.5):  # simulators extend a wildcard digit differently
            base, digits = "sb", digits if self.often(0.04) else rng.choice("01") + digits[1:]
        pattern = f"{width}'{base}{digits}"
        if self.often(0.2) and wild == "?":
            self.features.add("pattern as a parameter")
            name = self.fresh("K")
            self.lines.append(f"localparam [{width - 1}:0] {name} = {pattern};")
            return name
        return pattern
