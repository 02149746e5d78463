"""What becomes of every kind of thing that a scope may hold: nothing is left out that nobody decided to leave out."""

from __future__ import annotations

from dais_verif.prove.slang.design import ast

__all__ = ["LEFT_OUT", "READ", "REFUSED"]

_k = ast.SymbolKind

#: The walk reads these.
READ = frozenset(
    (
        _k.Net, _k.Variable, _k.ContinuousAssign, _k.ProceduralBlock, _k.Instance, _k.InstanceArray, _k.GenerateBlock,
        _k.GenerateBlockArray, _k.PrimitiveInstance,
    )
)  # fmt: skip
#: These drive nothing: declarations, whose meaning is in what uses them, and checks, which change nothing. The paths of
#: specify blocks delay nothing in a simulator unless it is asked to.
LEFT_OUT = frozenset(
    (
        _k.Port, _k.MultiPort, _k.Parameter, _k.TypeParameter, _k.DefParam, _k.Genvar, _k.EnumValue,
        _k.TransparentMember, _k.TypeAlias, _k.ForwardingTypedef, _k.NetType, _k.Subroutine, _k.MethodPrototype,
        _k.StatementBlock,
        _k.Attribute, _k.EmptyMember, _k.ExplicitImport, _k.WildcardImport, _k.ElabSystemTask, _k.LetDecl,
        _k.Property, _k.Sequence,
        _k.AssertionPort, _k.LocalAssertionVar, _k.Modport, _k.ModportPort, _k.ModportClocking, _k.SpecifyBlock,
        _k.Specparam, _k.TimingPath, _k.PulseStyle, _k.SystemTimingCheck, _k.ClassType, _k.GenericClassDef,
        _k.CovergroupType,
    )
)  # fmt: skip
#: Whatever else there is, also in a later pyslang: refused where it is met.
REFUSED = frozenset(kind for kind in _k.__members__.values()) - READ - LEFT_OUT
