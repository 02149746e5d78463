"""What Yosys is trusted to read as simulators do: everything else leaves it out.

The campaign of readings compares what Yosys makes of these kinds with both simulators. ``misread`` follows the table,
and refuses some uses of these kinds, too.
"""

from __future__ import annotations

from typing import Any

from dais_verif.prover.slang.kinds.decision import Table, ast, read

__all__ = ["TRUSTED"]

_s, _e, _t, _c = ast.SymbolKind, ast.ExpressionKind, ast.StatementKind, ast.TimingControlKind
_u, _b, _v, _p = ast.UnaryOperator, ast.BinaryOperator, ast.ConversionKind, ast.ProceduralBlockKind
_GROUPS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    (
        "scopes and their members",
        (
            *(_s.Root, _s.CompilationUnit, _s.Package, _s.Definition, _s.Instance, _s.InstanceArray, _s.InstanceBody),
            *(_s.GenerateBlock, _s.GenerateBlockArray, _s.StatementBlock, _s.Subroutine, _s.ProceduralBlock),
            *(_s.ContinuousAssign, _s.PrimitiveInstance, _s.Port, _s.Net, _s.Variable, _s.FormalArgument, _s.Field),
            *(_s.Parameter, _s.DefParam, _s.Genvar, _s.EnumValue, _s.TransparentMember, _s.TypeAlias, _s.EmptyMember),
            *(_s.ExplicitImport, _s.WildcardImport, _s.Attribute, _s.Iterator),
            *(_s.Specparam, _s.SpecifyBlock, _s.TimingPath, _s.SystemTimingCheck, _s.ElabSystemTask),
        ),
    ),
    (
        "types of signals and values",
        (
            *(_s.ScalarType, _s.PredefinedIntegerType, _s.PackedArrayType, _s.FixedSizeUnpackedArrayType),
            *(_s.PackedStructType, _s.EnumType, _s.VoidType),
        ),
    ),
    ("blocks", (_p.Always, _p.AlwaysComb, _p.AlwaysFF, _p.Initial)),
    ("timing controls", (_c.ImplicitEvent, _c.SignalEvent, _c.EventList)),
    (
        "statements",
        (
            *(_t.Empty, _t.List, _t.Block, _t.ExpressionStatement, _t.VariableDeclaration, _t.Conditional, _t.Case),
            *(_t.ForLoop, _t.RepeatLoop, _t.WhileLoop, _t.Timed, _t.ImmediateAssertion, _t.ConcurrentAssertion),
        ),
    ),
    (
        "expressions",
        (
            *(
                _e.IntegerLiteral,
                _e.UnbasedUnsizedIntegerLiteral,
                _e.StringLiteral,
                _e.NamedValue,
                _e.HierarchicalValue,
                _e.UnaryOp,
            ),
            *(_e.BinaryOp, _e.ConditionalOp, _e.Assignment, _e.Concatenation, _e.Replication, _e.ElementSelect),
            *(_e.RangeSelect, _e.MemberAccess, _e.Call, _e.Conversion, _e.LValueReference, _e.EmptyArgument),
        ),
    ),
    (
        "operators",
        (
            *(_u.Plus, _u.Minus, _u.BitwiseNot, _u.BitwiseAnd, _u.BitwiseOr, _u.BitwiseXor, _u.BitwiseNand),
            *(_u.BitwiseNor, _u.BitwiseXnor, _u.LogicalNot, _u.Postincrement, _u.Postdecrement),
            *(_u.Preincrement, _u.Predecrement),
            *(_b.Add, _b.Subtract, _b.Multiply, _b.Divide, _b.Mod, _b.BinaryAnd, _b.BinaryOr, _b.BinaryXor),
            *(_b.BinaryXnor, _b.Equality, _b.Inequality, _b.CaseEquality, _b.CaseInequality, _b.GreaterThanEqual),
            *(_b.GreaterThan, _b.LessThanEqual, _b.LessThan, _b.LogicalAnd, _b.LogicalOr, _b.LogicalShiftLeft),
            *(_b.LogicalShiftRight, _b.ArithmeticShiftLeft, _b.ArithmeticShiftRight, _b.Power),
        ),
    ),
    ("conversions", (_v.Implicit, _v.Propagated)),
    (
        "system calls",
        (
            *("$signed", "$unsigned", "$clog2", "$bits", "$readmemh", "$readmemb", "$countones", "$onehot", "$onehot0"),
            *("$display", "$write", "$strobe", "$monitor", "$info", "$warning", "$error", "$fatal", "$finish"),
        ),
    ),
)

TRUSTED: Table[Any] = Table(
    "What Yosys is trusted with",
    "Anything else leaves Yosys out (`--front-end available`), or is refused (`--front-end yosys`).",
    {kind: read(group) for group, kinds in _GROUPS for kind in kinds},
)
