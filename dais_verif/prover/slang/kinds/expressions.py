"""Decisions on expressions: as values, as targets of assignments, and as statements."""

from __future__ import annotations

from typing import Any

from dais_verif.prover.slang.kinds.decision import Table, ast, read, refused

__all__ = ["ACTIONS", "BINARY", "CONVERSIONS", "RANGES", "TARGETS", "UNARY", "VALUES", "VALUE_RANGES"]

_k = ast.ExpressionKind
_TYPE = refused("a type is not a value; only system functions like $bits accept one")
_CLASS = refused("objects of classes have no bits that the proof can model; write vectors")
_PROPERTY = refused("this belongs to a property, and has no value in a proof; write a signal")
_PATTERN = read("its elements, the first one in the highest bits")

VALUES: Table[Any] = Table(
    "Expressions that are read",
    "pyslang determines widths, signs and extensions, as the standard says.",
    {
        _k.Invalid: refused("this is not a valid expression; correct the RTL"),
        _k.IntegerLiteral: read("its bits; an X that is assigned is undefined; X as an operand and Z are refused"),
        _k.RealLiteral: refused("a real number has no bits that the proof can model; write an integer"),
        _k.TimeLiteral: refused("a time has no bits that the proof can model; write an integer"),
        _k.UnbasedUnsizedIntegerLiteral: read("its digit in every bit; X and Z as in integer literals"),
        _k.NullLiteral: _CLASS,
        _k.UnboundedLiteral: refused("$ has no value in a proof; write a number"),
        _k.StringLiteral: read("its characters, 8 bits each, the last one in the lowest bits"),
        _k.NamedValue: read("the signal, variable, parameter or enum value"),
        _k.HierarchicalValue: read("the signal of that instance; a variable of a block can be used in that block only"),
        _k.UnaryOp: read("see unary operators"),
        _k.BinaryOp: read("see binary operators"),
        _k.ConditionalOp: read("one of the two values; `matches` is refused"),
        _k.Inside: read(
            "1 if equal to a value, within a range, or matching a pattern, in which X, Z and `?` match anything"
        ),
        _k.Assignment: refused(
            "an assignment within an expression is not supported by the proof; write it as a statement before"
        ),
        _k.Concatenation: read("its parts, the first one in the highest bits"),
        _k.Replication: read("repeated as often as its constant says"),
        _k.Streaming: read(
            "all operands concatenated; `<<` reverses the order of slices, counted from the lowest bits"
        ),
        _k.ElementSelect: read("the element; undefined if out of range"),
        _k.RangeSelect: read("the bits or elements; undefined where out of range; see ranges"),
        _k.MemberAccess: read("the bits of a structure, or of a packed union whose members have the same width"),
        _k.Call: read("a function of the design, which must read its arguments only; or see system calls"),
        _k.Conversion: read("see conversions"),
        _k.DataType: _TYPE,
        _k.TypeReference: _TYPE,
        _k.ArbitrarySymbol: refused("this name does not denote a value; write a signal"),
        _k.LValueReference: read("the left-hand side of `+=` and similar operators"),
        _k.SimpleAssignmentPattern: _PATTERN,
        _k.StructuredAssignmentPattern: read(
            "its elements by name; `default` must assign zeros to arrays and structures"
        ),
        _k.ReplicatedAssignmentPattern: _PATTERN,
        _k.EmptyArgument: refused("an omitted argument has no value; write it"),
        _k.ValueRange: refused("a range is not a value; it is allowed only in the list of inside"),
        _k.Dist: refused("dist belongs to constraints, and is not a function of the inputs; write inside"),
        _k.NewArray: refused("an array whose size changes is not hardware; give it a fixed range"),
        _k.NewClass: _CLASS,
        _k.NewCovergroup: _CLASS,
        _k.CopyClass: _CLASS,
        _k.MinTypMax: refused("an option of the simulator selects one value of min:typ:max; write one value"),
        _k.ClockingEvent: _PROPERTY,
        _k.AssertionInstance: _PROPERTY,
        _k.TaggedUnion: refused("a tagged union is not supported by the proof; write a packed structure"),
    },
)

_WHOLE = read("the complete signal")
_PART = read(
    "a part of it; the index may be a signal in combinational blocks and in packed registers; if it is out of range,"
    " the whole variable is undefined"
)
_NO_TARGET = refused("an assignment to this kind of expression is not supported by the proof; name a signal or a part")
TARGETS: Table[Any] = Table(
    "Expressions that are assigned",
    "On the left-hand side of assignments, at outputs of instances and gates, and as outputs of tasks.",
    {
        **dict.fromkeys(_k.__members__.values(), _NO_TARGET),
        _k.NamedValue: _WHOLE,
        _k.HierarchicalValue: _WHOLE,
        _k.Concatenation: read("its parts, the first one from the highest bits"),
        _k.SimpleAssignmentPattern: read("its elements, the first one from the highest bits"),
        _k.ElementSelect: _PART,
        _k.RangeSelect: _PART,
        _k.MemberAccess: read("the bits of a member"),
        _k.Streaming: read("its operands, if the source has as many bits and all slices have the same size"),
    },
)
_NO_ACTION = refused("this kind of expression is not supported by the proof as a statement; assign it to something")
ACTIONS: Table[Any] = Table(
    "Expressions that are statements",
    "",
    {
        **dict.fromkeys(_k.__members__.values(), _NO_ACTION),
        _k.Assignment: read(
            "`=` immediately, `<=` after the edge: registers by `<=` only, a constant delay of which is left out"
        ),
        _k.UnaryOp: read("`++` and `--`"),
        _k.Call: read(
            "a task that does not wait, or a function: its statements, with arguments copied before and after"
        ),
    },
)

_u, _b = ast.UnaryOperator, ast.BinaryOperator
_STEP = refused("the proof supports ++ and -- only as separate statements; write x + 1")
UNARY: Table[Any] = Table(
    "Unary operators",
    "`++` and `--` are statements.",
    {
        _u.Plus: read("the operand"),
        _u.Minus: read("two's complement"),
        _u.BitwiseNot: read("bit by bit"),
        _u.BitwiseAnd: read("1 if all bits are 1"),
        _u.BitwiseOr: read("1 if any bit is 1"),
        _u.BitwiseXor: read("parity"),
        _u.BitwiseNand: read("the inverse of `&`"),
        _u.BitwiseNor: read("the inverse of `|`"),
        _u.BitwiseXnor: read("the inverse of `^`"),
        _u.LogicalNot: read("1 if all bits are 0"),
        **dict.fromkeys((_u.Preincrement, _u.Predecrement, _u.Postincrement, _u.Postdecrement), _STEP),
    },
)
_WRAPS = read("modulo 2^width")
_BITS = read("bit by bit")
_ORDER = read("a signed comparison if both operands are signed")
_TRUTH = read("an operand counts as true if it is not 0")
_SHIFT = read("zeros are shifted in; the amount is unsigned")
BINARY: Table[Any] = Table(
    "Binary operators",
    "X as an operand is refused.",
    {
        **dict.fromkeys((_b.Add, _b.Subtract, _b.Multiply), _WRAPS),
        _b.Divide: read("towards 0; by 0: undefined"),
        _b.Mod: read("with the sign of the first operand; by 0: undefined"),
        **dict.fromkeys((_b.BinaryAnd, _b.BinaryOr, _b.BinaryXor, _b.BinaryXnor), _BITS),
        **dict.fromkeys((_b.Equality, _b.Inequality, _b.CaseEquality, _b.CaseInequality), read("compares all bits")),
        **dict.fromkeys((_b.GreaterThanEqual, _b.GreaterThan, _b.LessThanEqual, _b.LessThan), _ORDER),
        **dict.fromkeys(
            (_b.WildcardEquality, _b.WildcardInequality), read("X, Z and `?` of the right side match anything")
        ),
        **dict.fromkeys((_b.LogicalAnd, _b.LogicalOr, _b.LogicalImplication, _b.LogicalEquivalence), _TRUTH),
        **dict.fromkeys((_b.LogicalShiftLeft, _b.LogicalShiftRight, _b.ArithmeticShiftLeft), _SHIFT),
        _b.ArithmeticShiftRight: read("copies of the sign bit are shifted in if the expression is signed, else zeros"),
        _b.Power: read("of a constant, or of base 2; all others are refused"),
    },
)
_c = ast.ConversionKind
CONVERSIONS: Table[Any] = Table(
    "Conversions",
    "A conversion to fewer bits keeps the lowest ones.",
    {
        _c.Implicit: read("extended according to the operand's own sign"),
        _c.Propagated: read("extended according to the sign of the whole expression"),
        _c.StreamingConcat: read(
            "left-aligned, zeros follow; refused unless it is the complete value assigned to a vector"
        ),
        _c.Explicit: read("extended according to the operand's own sign"),
        _c.BitstreamCast: read("the same bits"),
    },
)
_r = ast.RangeSelectionKind
RANGES: Table[Any] = Table(
    "Ranges",
    "",
    {
        _r.Simple: read("`[a:b]`, with constants"),
        _r.IndexedUp: read("`[a +: n]`; `a` may be a signal"),
        _r.IndexedDown: read("`[a -: n]`; `a` may be a signal"),
    },
)
_v = ast.ValueRangeKind
_TOLERANCE = refused("a range with a tolerance is not supported by the proof; write both ends")
VALUE_RANGES: Table[Any] = Table(
    "Ranges of values",
    "In the list of `inside`.",
    {
        _v.Simple: read(
            "`[low:high]`, both ends included; open ends are refused, and signed ones that may be negative"
        ),
        _v.AbsoluteTolerance: _TOLERANCE,
        _v.RelativeTolerance: _TOLERANCE,
    },
)
