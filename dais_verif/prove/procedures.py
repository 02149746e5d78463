"""Procedural code as terms: combinational ``always`` blocks, functions, and the ``initial`` blocks that fill memories.

A block is executed symbolically, statement by statement; what is assigned on some paths only becomes a choice. A
signal that keeps an old value on any path would be a latch and is refused. What is assigned once and for all is read
through its signal afterwards, which therefore can be a cut point of the proof.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from dais_verif.errors import InputError
from dais_verif.prove.design import Design, Memory, ast
from dais_verif.prove.expressions import Converter, static_index, target_parts
from dais_verif.prove.netlist import Driver, Read, Signal
from dais_verif.prove.terms import (
    Term,
    add,
    band,
    bor,
    concat,
    const,
    eq,
    extract,
    ite,
    leaves,
    nonzero,
    rebuild,
    var,
)

__all__ = ["called", "combinational", "initial"]

#: The most iterations of one loop.
_UNROLLED = 1 << 16


# combinational blocks


def combinational(design: Design, body: Any, path: str) -> None:
    """Add the drivers of an ``always`` block. Raises ``InputError`` for latches, clocks and incomplete lists."""
    where = design.where(body.sourceRange.start)
    listed, body = _sensitivity(design, body, where)
    statements = list(_flat(body))
    targets = Counter(symbol for s in statements for symbol in _assigned(design, s))
    block = _Block(design, listed, targets, where)
    if all(map(_plain, statements)) and all(count == 1 for count in targets.values()):
        block.straight(statements)
    else:
        block.execute(statements)


def _plain(s: Any) -> bool:
    """Whether ``s`` assigns a whole signal."""
    return (
        type(s) is ast.ExpressionStatement
        and type(s.expr) is ast.AssignmentExpression
        and type(s.expr.left) in (ast.NamedValueExpression, ast.HierarchicalValueExpression)
        and not s.expr.isNonBlocking
        and not s.expr.isCompound
        and s.expr.timingControl is None
    )


def _flat(s: Any) -> Iterator[Any]:
    """The statements of nested lists and blocks, in order."""
    if type(s) is ast.StatementList:
        for x in s.list:
            yield from _flat(x)
    elif type(s) is ast.BlockStatement:
        yield from _flat(s.body)
    elif type(s) is not ast.EmptyStatement:
        yield s


def _assigned(design: Design, s: Any) -> Iterator[Any]:
    """Symbols that ``s`` assigns, once for each place."""
    kind = type(s)
    if kind is ast.ExpressionStatement and type(s.expr) is ast.AssignmentExpression:
        if _plain(s):
            yield s.expr.left.symbol
        else:
            yield from _names(s.expr.left)
    elif kind is ast.ConditionalStatement:
        for arm in (s.ifTrue, s.ifFalse):
            if arm is not None:
                yield from _within(design, arm)
    elif kind is ast.CaseStatement:
        for item in s.items:
            yield from _within(design, item.stmt)
        if s.defaultCase is not None:
            yield from _within(design, s.defaultCase)
    elif kind is ast.ForLoopStatement:
        for _ in range(2):  # as often as it likes
            yield from _within(design, s.body)


def _within(design: Design, s: Any) -> Iterator[Any]:
    for x in _flat(s):
        yield from _assigned(design, x)


def _names(left: Any) -> Iterator[Any]:
    """The symbols at the root of an assignment's target; each twice, since a part of it may be assigned only."""
    kind = type(left)
    if kind is ast.ConcatenationExpression:
        for x in left.operands:
            yield from _names(x)
    elif kind in (ast.ElementSelectExpression, ast.RangeSelectExpression):
        yield from _names(left.value)
    elif kind in (ast.NamedValueExpression, ast.HierarchicalValueExpression):
        yield left.symbol
        yield left.symbol


def _sensitivity(design: Design, body: Any, where: str) -> tuple[set[Any] | None, Any]:
    """The symbols that wake the block, None for all that it reads; and what it does then."""
    if type(body) is not ast.TimedStatement:
        return None, body  # always_comb; an always without a list would be a latch or a loop of no end
    timing = body.timing
    if timing.kind is ast.TimingControlKind.ImplicitEvent:
        return None, body.stmt
    events = timing.events if timing.kind is ast.TimingControlKind.EventList else [timing]
    listed: set[Any] = set()
    for event in events:
        if event.kind is not ast.TimingControlKind.SignalEvent or event.edge is not ast.EdgeKind.None_:
            raise InputError(f"{where}: a block with a clock keeps state; the proof is of combinational logic")
        listed.update(_names(event.expr))
    return listed, body.stmt


class _Block:
    """One combinational block."""

    def __init__(self, design: Design, listed: set[Any] | None, targets: Counter[Any], where: str) -> None:
        self.design, self.listed, self.targets, self.where = design, listed, targets, where

    def outside(self, symbol: Any) -> Signal:
        """The signal of ``symbol``, which other code assigns."""
        if self.listed is not None and symbol not in self.listed:
            raise InputError(
                f"{self.where}: the block reads {symbol.name!r}, which its sensitivity list lacks;"
                " simulation and hardware would differ: write always @*"
            )
        return self.design.signal(symbol, self.where)

    def latch(self, name: str) -> InputError:
        return InputError(
            f"{self.where}: signal {name!r} is read or kept before the block assigns it, which makes it a latch;"
            " assign it on every path first"
        )

    # every statement assigns another signal, once: nothing needs to be executed before somebody asks

    def straight(self, statements: list[Any]) -> None:
        order = {s.expr.left.symbol: n for n, s in enumerate(statements)}
        for n, s in enumerate(statements):
            signal = self.design.signal(s.expr.left.symbol, self.where)
            signal.drive(Driver(0, signal.width, self._maker(s.expr.right, order, n), self.where))

    def _maker(self, expression: Any, order: dict[Any, int], number: int) -> Callable[[Read], Term]:
        def make(read: Read) -> Term:
            def symbol_read(symbol: Any, low: int, width: int) -> Term:
                place = order.get(symbol)
                if place is None:
                    return read(self.outside(symbol), low, width)
                if place >= number:
                    raise self.latch(symbol.name)
                return read(self.design.signals[symbol], low, width)

            return Converter(self.design, symbol_read)(expression)

        return make

    # the general case

    def execute(self, statements: list[Any]) -> None:
        leaf_of: dict[Term, Signal] = {}
        before: dict[Term, str] = {}

        def leaf(signal: Signal) -> Term:
            term = var(signal.width, f"signal {signal.name}")
            leaf_of[term] = signal
            return term

        def outer(symbol: Any) -> Term:
            if symbol in self.targets:
                signal = self.design.signal(symbol, self.where)
                term = var(signal.width, f"before {signal.name}")
                before[term] = signal.name
                return term
            return leaf(self.outside(symbol))

        run = _Execution(self.design, outer)
        final: dict[Any, Term] = {}
        for s in statements:
            run.statement(s)
            if _plain(s) and self.targets[s.expr.left.symbol] == 1 and s.expr.left.symbol in self.design.signals:
                symbol = s.expr.left.symbol
                final[symbol] = run.values[symbol]
                run.values[symbol] = leaf(self.design.signals[symbol])
        for symbol in self.targets:
            if symbol not in self.design.signals:
                continue  # local to the block
            signal, term = self.design.signals[symbol], final.get(symbol, run.values.get(symbol))
            if term is None:
                term = outer(symbol)
            for t in leaves(term):
                if t in before:
                    raise self.latch(before[t])
            signal.drive(Driver(0, signal.width, _substituted(term, leaf_of), self.where))


def _substituted(term: Term, leaf_of: dict[Term, Signal]) -> Callable[[Read], Term]:
    used = [(t, leaf_of[t]) for t in leaves(term) if t in leaf_of]
    return lambda read: rebuild(term, {t: read(signal, 0, signal.width) for t, signal in used})


# execution


class _Execution:
    """Values of variables while statements run. ``outer``: the value of what was not assigned here."""

    def __init__(self, design: Design, outer: Callable[[Any], Term]) -> None:
        self.design, self._outer = design, outer
        self.values: dict[Any, Term] = {}
        self.convert = Converter(design, self._read)
        self._rules: dict[Any, Callable[[Any], None]] = {
            ast.StatementList: self._list,
            ast.BlockStatement: lambda s: self.statement(s.body),
            ast.EmptyStatement: lambda s: None,
            ast.ExpressionStatement: lambda s: self._expression(s.expr),
            ast.ConditionalStatement: self._conditional,
            ast.CaseStatement: self._case,
            ast.ForLoopStatement: self._for,
            ast.VariableDeclStatement: self._declaration,
        }

    def statement(self, s: Any) -> None:
        """Run ``s``. Raises ``InputError`` for what is no combinational code."""
        rule = self._rules.get(type(s))
        if rule is None:
            raise self.convert.refused(s, f"{s.kind.name} statements are not supported by the proof here")
        rule(s)

    def _read(self, symbol: Any, low: int, width: int) -> Term:
        return extract(self._whole(symbol), low, width)

    def _whole(self, symbol: Any) -> Term:
        known = self.values.get(symbol)
        return known if known is not None else self._outer(symbol)

    def _list(self, s: Any) -> None:
        for x in s.list:
            self.statement(x)

    def _declaration(self, s: Any) -> None:
        symbol = s.symbol
        width = symbol.type.bitWidth
        if symbol.initializer is not None:
            self.values[symbol] = self.convert(symbol.initializer)
        else:
            self.values.setdefault(symbol, var(width, f"before {symbol.name}"))

    def _expression(self, e: Any) -> None:
        kind = type(e)
        if kind is ast.AssignmentExpression:
            if e.isNonBlocking or e.timingControl is not None:
                raise self.convert.refused(e, "a nonblocking or delayed assignment keeps state; write =")
            if e.isCompound:
                raise self.convert.refused(e, "compound assignments are not supported by the proof")
            self.assign(e.left, self.convert(e.right))
        elif kind is ast.UnaryExpression and e.op in _STEPS:
            old = self.convert(e.operand)
            self.assign(e.operand, add(old, const(old.width, _STEPS[e.op])))
        elif kind is ast.CallExpression and e.isSystemCall and e.subroutineName in _SILENT:
            return
        else:
            raise self.convert.refused(e, f"a {e.kind.name} as a statement is not supported by the proof")

    def assign(self, left: Any, value: Term) -> None:
        """Assign to a signal, a part of it, or several."""
        place = value.width
        for symbol, low, width in target_parts(self.convert, left):
            place -= width
            piece = extract(value, place, width)
            total = symbol.type.bitWidth
            if width == total:
                self.values[symbol] = piece
                continue
            old = self._whole(symbol)
            parts = [extract(old, low + width, total - low - width)] if low + width < total else []
            parts.append(piece)
            if low:
                parts.append(extract(old, 0, low))
            self.values[symbol] = concat(*parts)

    def _choose(self, condition: Term, first: Callable[[], None], second: Callable[[], None]) -> None:
        """Run both, and keep of each variable what ``condition`` chooses."""
        if condition.op == "const":
            return (first if condition.value else second)()
        start = dict(self.values)
        first()
        taken, self.values = self.values, start.copy()
        second()
        other = self.values
        self.values = {}
        for symbol in {**taken, **other}:
            a, b = (values.get(symbol) for values in (taken, other))
            a, b = (x if x is not None else self._outer(symbol) for x in (a, b))
            self.values[symbol] = ite(condition, a, b)

    def _conditional(self, s: Any) -> None:
        if len(s.conditions) != 1 or s.conditions[0].pattern is not None:
            raise self.convert.refused(s, "a pattern is not supported by the proof")
        condition = nonzero(self.convert(s.conditions[0].expr))
        no = (lambda: None) if s.ifFalse is None else (lambda: self.statement(s.ifFalse))
        self._choose(condition, lambda: self.statement(s.ifTrue), no)

    def _case(self, s: Any) -> None:
        if s.condition is ast.CaseStatementCondition.Inside:
            raise self.convert.refused(s, "case inside is not supported by the proof")
        subject = self.convert(s.expr)
        wild = s.condition is not ast.CaseStatementCondition.Normal
        arms = [([self._matches(subject, x, wild) for x in item.expressions], item.stmt) for item in s.items]

        def run(number: int) -> None:
            if number == len(arms):
                if s.defaultCase is not None:
                    self.statement(s.defaultCase)
                return
            matches, body = arms[number]
            condition = matches[0]
            for other in matches[1:]:
                condition = bor(condition, other)
            self._choose(condition, lambda: self.statement(body), lambda: run(number + 1))

        run(0)

    def _matches(self, subject: Term, e: Any, wild: bool) -> Term:
        """Whether a case item applies; ``?`` and ``z`` (in casex also ``x``) match anything."""
        literal = e
        while type(literal) is ast.ConversionExpression:
            literal = literal.operand
        if not wild or type(literal) is not ast.IntegerLiteral or not literal.value.hasUnknown:
            return eq(subject, self.convert(e))
        digits = str(literal.value).split("b")[-1].replace("_", "").rjust(subject.width, "0")
        if "b" not in str(literal.value) or len(digits) != subject.width:
            raise self.convert.refused(e, "this case item is not supported by the proof; write it in binary")
        match = const(1, 1)
        for bit, digit in enumerate(reversed(digits)):
            if digit in "01":
                match = band(match, eq(extract(subject, bit, 1), const(1, int(digit))))
            elif digit in "xX":
                raise self.convert.refused(e, "X matches anything in simulation only; write ? in a casez")
        return match

    def _for(self, s: Any) -> None:
        for symbol in s.loopVars:
            self.values[symbol] = self.convert(symbol.initializer)
        for e in s.initializers:
            self._expression(e)
        for _ in range(_UNROLLED):
            going = self.convert(s.stopExpr)
            if going.op != "const":
                raise self.convert.refused(s, "the end of this loop depends on a signal; the proof unrolls loops")
            if not going.value:
                return
            self.statement(s.body)
            for e in s.steps:
                self._expression(e)
        raise self.convert.refused(s, f"this loop runs more than {_UNROLLED} times")


# functions


def called(c: Converter, e: Any) -> Term:
    """The value of a call of a function of the design."""
    function = e.subroutine
    if function.subroutineKind is not ast.SubroutineKind.Function or function.returnType.isVoid:
        raise c.refused(e, f"{function.name!r} is no function with a value; the proof cannot use it")
    local: dict[Any, Term] = {}

    def outer(symbol: Any) -> Term:
        if symbol.parentScope is not None and _inside(symbol, function):
            return local.setdefault(symbol, var(symbol.type.bitWidth, f"before {symbol.name}"))
        return c.read(symbol, 0, symbol.type.bitWidth)

    run = _Execution(c.design, outer)
    for formal, actual in zip(function.arguments, e.arguments, strict=True):
        if formal.direction != ast.ArgumentDirection.In:
            raise c.refused(e, f"function {function.name!r} has an output argument; the proof cannot use it")
        run.values[formal] = c(actual)
    body = list(_flat(function.body))
    result: Term | None = None
    if body and type(body[-1]) is ast.ReturnStatement:
        last = body.pop()
        for s in body:
            run.statement(s)
        result = run.convert(last.expr)
    else:
        for s in body:
            run.statement(s)
        result = run.values.get(function.returnValVar)
    if result is None or any(t in local.values() for t in leaves(result)):
        raise c.refused(e, f"function {function.name!r} reads or returns a variable before it is assigned")
    return result


def _inside(symbol: Any, function: Any) -> bool:
    scope = symbol.parentScope
    while scope is not None:
        if scope is function or getattr(scope, "name", None) == function.name:
            return True
        scope = getattr(scope, "parentScope", None)
    return False


# initial blocks


def initial(design: Design, body: Any) -> None:
    """Fill the memories that an ``initial`` block fills; other variables only get a first value, which is ignored."""
    run = _Filling(design)
    for s in _flat(body):
        run.statement(s)


class _Filling(_Execution):
    """Runs an initial block: words of memories get constants."""

    def __init__(self, design: Design) -> None:
        def outer(symbol: Any) -> Term:
            raise InputError(f"{design.where(symbol.location)}: {symbol.name!r} is read in an initial block")

        super().__init__(design, outer)

    def _expression(self, e: Any) -> None:
        kind = type(e)
        if kind is ast.CallExpression and e.isSystemCall and e.subroutineName in ("$readmemh", "$readmemb"):
            self._read_file(e)
        elif kind is ast.AssignmentExpression and type(e.left) is ast.ElementSelectExpression:
            self._word(e)
        else:
            super()._expression(e)

    def _memory(self, e: Any) -> Memory | None:
        if type(e) is ast.AssignmentExpression:
            e = e.left
        named = type(e) in (ast.NamedValueExpression, ast.HierarchicalValueExpression)
        return self.design.memories.get(e.symbol) if named else None

    def _word(self, e: Any) -> None:
        memory = self._memory(e.left.value)
        if memory is None:
            return super()._expression(e)
        index, value = static_index(self.convert, e.left.selector), self.convert(e.right)
        if index is None or value.op != "const":
            raise self.convert.refused(e, f"a word of memory {memory.name!r} is not filled with a constant")
        place = memory.position(index)
        if place is not None:
            memory.words[place] = value.value
        return None

    def _read_file(self, e: Any) -> None:
        memory = self._memory(e.arguments[1]) if len(e.arguments) == 2 else None
        if memory is None:
            raise self.convert.refused(e, f"{e.subroutineName} is supported with a file and a memory")
        name_term = e.arguments[0]
        name = _text(self.convert, name_term)
        path = self.design.file(name)
        if path is None:
            raise self.convert.refused(e, f"memory file {name!r} is neither in the working folder nor beside the RTL")
        base = 16 if e.subroutineName == "$readmemh" else 2
        try:
            _fill(memory, path.read_text(encoding="ascii"), base)
        except (ValueError, OSError) as error:
            raise self.convert.refused(e, f"memory file {str(path)!r} cannot be used: {error}") from None


def _text(c: Converter, e: Any) -> str:
    if type(e) is ast.ConversionExpression:
        return _text(c, e.operand)
    if type(e) is ast.StringLiteral:
        return str(e.value)
    term = c(e)
    if term.op != "const":
        raise c.refused(e, "the name of a memory file must be a constant")
    return term.value.to_bytes((term.width + 7) // 8, "big").lstrip(b"\0").decode(errors="replace")


def _fill(memory: Memory, text: str, base: int) -> None:
    """Words of a memory file: numbers, ``@address`` and comments. They go from the lowest index upwards."""
    lines = (line.partition("//")[0] for line in text.split("\n"))
    index = memory.low
    for token in " ".join(lines).split():
        if token.startswith("@"):
            index = int(token[1:], 16)
            continue
        place = memory.position(index)
        if place is None:
            raise ValueError(f"it has a word for index {index}, which the memory lacks")
        unknown = any(digit in "xXzZ" for digit in token)
        memory.words[place] = None if unknown else int(token.replace("_", ""), base) & ((1 << memory.width) - 1)
        index += 1


_u = ast.UnaryOperator
_STEPS = {_u.Preincrement: 1, _u.Postincrement: 1, _u.Predecrement: -1, _u.Postdecrement: -1}
_SILENT = ("$display", "$write", "$error", "$warning", "$info", "$fatal", "$finish")
