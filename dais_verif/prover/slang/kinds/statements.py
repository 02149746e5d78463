"""Decisions on statements within blocks, functions and tasks."""

from __future__ import annotations

from typing import Any

from dais_verif.prover.slang.kinds.decision import Table, left_out, read, refused
from dais_verif.prover.slang.kinds.names import ast

__all__ = ["ASSERTIONS", "BRACKETS", "CASES", "CHECKS", "LIFETIMES", "PATTERNS", "STATEMENTS"]

_s = ast.StatementKind
_TURNS = "unrolled; if its end depends on signals, it must terminate within 256 iterations by itself"
_PATTERN = "a pattern is not supported by the proof; compare values"

STATEMENTS: Table[Any] = Table(
    "Statements",
    "In `always` and `initial` blocks, functions and tasks.",
    {
        _s.Invalid: refused("this is not a valid statement; correct the RTL"),
        _s.Empty: read("no effect"),
        _s.List: read("in order"),
        _s.Block: read("`begin` and `end`, with declarations"),
        _s.ExpressionStatement: read("an assignment, a step or a call"),
        _s.VariableDeclaration: read(
            "automatic: its initial value; without one it is undefined, or 0 if its type is two-state;"
            " static: it keeps its value"
        ),
        _s.Return: read("the rest of the subroutine is skipped; it returns the selected value"),
        _s.Continue: read("the rest of the iteration is skipped"),
        _s.Break: read("the rest of the loop is skipped"),
        _s.Disable: read("the rest of an enclosing named block is skipped; any other block or a task is refused"),
        _s.Conditional: read("both branches are executed, and the assigned values are selected by the condition"),
        _s.Case: read(
            "the first item that matches; without a default, complete for subjects of up to 12 bits, else a latch"
        ),
        _s.PatternCase: refused(_PATTERN),
        _s.ForLoop: read(_TURNS),
        _s.RepeatLoop: read("a constant number of iterations"),
        _s.ForeachLoop: read("one iteration per element"),
        _s.WhileLoop: read(_TURNS),
        _s.DoWhileLoop: read(_TURNS),
        _s.ForeverLoop: refused(
            "a forever loop has no end that the proof can determine; write a for loop with a bound"
        ),
        _s.Timed: refused("a block that waits within keeps state; let it wait once, at the head of an always block"),
        _s.ImmediateAssertion: left_out("has no effect if it assigns nothing; reported as not proved"),
        _s.ConcurrentAssertion: left_out("has no effect if it assigns nothing; reported as not proved"),
        _s.DisableFork: refused("disable fork ends processes, which the proof does not model; remove it"),
        _s.Wait: refused("a block that waits within keeps state; let it wait once, at the head of an always block"),
        _s.WaitFork: refused("wait fork waits for processes, which the proof does not model; remove it"),
        _s.WaitOrder: refused("a block that waits for events keeps state; write a register"),
        _s.EventTrigger: refused("an event has no value and no meaning in a proof; write a signal"),
        _s.ProceduralAssign: refused("assign and force within a block override other drivers; write = or <="),
        _s.ProceduralDeassign: refused("deassign and release within a block override other drivers; write = or <="),
        _s.RandCase: refused("a random choice is not a function of the inputs; write case"),
        _s.RandSequence: refused("a random sequence is not a function of the inputs; write case"),
        _s.ProceduralChecker: refused("a checker in a block is not supported by the proof; remove it"),
    },
)
_b = ast.StatementBlockKind
_FORK = refused("a fork has no order and no meaning in a proof; write begin and end")
BRACKETS: Table[Any] = Table(
    "Kinds of blocks of statements",
    "",
    {_b.Sequential: read("in order"), _b.JoinAll: _FORK, _b.JoinAny: _FORK, _b.JoinNone: _FORK},
)
_l = ast.VariableLifetime
LIFETIMES: Table[Any] = Table(
    "Variables of blocks",
    "",
    {
        _l.Automatic: read("a new one for each execution"),
        _l.Static: read("keeps the value of the previous execution: a register if the block is clocked, else a latch"),
    },
)
_c = ast.CaseStatementCondition
CASES: Table[Any] = Table(
    "Cases",
    "A signed item that is narrower than its subject is refused if its top bit is X, Z or `?`, or if the subject is"
    " unsigned.",
    {
        _c.Normal: read("`case`: equal; an item with X or Z is refused"),
        _c.WildcardXOrZ: read("`casex`: `?` and Z of an item match anything; X in an item is refused"),
        _c.WildcardJustZ: read("`casez`: `?` and Z of an item match anything; X in an item is refused"),
        _c.Inside: read("`case inside`: values, ranges, and patterns in which X, Z and `?` match anything"),
    },
)
_u = ast.UniquePriorityCheck
_CHECK = read("ignored: simulators report violations, but no value changes")
CHECKS: Table[Any] = Table(
    "Checks of `case` and `if`",
    "",
    {_u.None_: read("no check"), _u.Unique: _CHECK, _u.Unique0: _CHECK, _u.Priority: _CHECK},
)
PATTERNS: Table[Any] = Table(
    "Patterns",
    "In `matches`.",
    {kind: refused(_PATTERN) for kind in ast.PatternKind.__members__.values()},
)
_a = ast.AssertionKind
ASSERTIONS: Table[Any] = Table(
    "Assertions",
    "",
    {
        _a.Assert: left_out("is not proved, and has no effect"),
        _a.Assume: refused("an assumption narrows the inputs, and the proof is for all of them; remove it"),
        _a.CoverProperty: left_out("has no effect"),
        _a.CoverSequence: left_out("has no effect"),
        _a.Restrict: refused("a restriction narrows the inputs, and the proof is for all of them; remove it"),
        _a.Expect: refused("expect waits for a property, which keeps state; remove it"),
    },
)
