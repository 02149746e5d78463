"""Decisions on members of scopes (nets, variables, blocks, instances, declarations), and on their types."""

from __future__ import annotations

from typing import Any

from dais_verif.prover.slang.kinds.decision import KindDecision, Table, ast, left_out, read, refused

__all__ = ["ARGUMENTS", "BLOCKS", "DEFINITIONS", "NETS", "OPEN_INPUTS", "PORTS", "SYMBOLS", "TYPES"]

_k = ast.SymbolKind
_NAME = left_out("a declaration, which is interpreted where it is used")
_CHECK = left_out("a check, which has no effect")
_PATH = left_out("causes no delay in a simulator by default")
_CLASS = refused("objects of classes have no bits that the proof can model; write vectors")
_COVERAGE = refused("coverage is not supported by the proof in this place; remove it")
_UNKNOWN = refused("is not supported by the proof")
_CHECKER = refused("a checker may drive signals; remove it")
_TYPE = refused("a type in a place where none is allowed")
_INNER = refused("a part of another construct, in a place where it is not allowed")

#: Types have their own table.
_TYPES: dict[Any, KindDecision] = {
    _k.PredefinedIntegerType: read("`int`, `integer`, `byte`, `shortint`, `longint`, `time`: a vector"),
    _k.ScalarType: read("`logic`, `reg`, `bit`: one bit"),
    _k.EnumType: read("the vector that it is based on"),
    _k.PackedArrayType: read("a vector"),
    _k.FixedSizeUnpackedArrayType: read("one signal per element, or a memory; the element type must be supported"),
    _k.PackedStructType: read("a vector; the first member is the highest"),
    _k.PackedUnionType: read("a vector"),
    _k.TypeAlias: read("the type that it denotes"),
    **dict.fromkeys((_k.FloatingType,), refused("a real number has no bits that the proof can model; write a vector")),
    **dict.fromkeys(
        (_k.DynamicArrayType, _k.DPIOpenArrayType, _k.AssociativeArrayType, _k.QueueType),
        refused("an array whose size changes is not hardware; give it a fixed range"),
    ),
    _k.UnpackedStructType: read("one signal per member, whose type must be supported, and without an initial value"),
    _k.UnpackedUnionType: refused("an unpacked union is not supported by the proof; write a packed one"),
    **dict.fromkeys(
        (_k.ClassType, _k.CovergroupType, _k.VirtualInterfaceType, _k.NullType, _k.CHandleType), _CLASS
    ),
    _k.StringType: refused("a string has no fixed bits; write a vector"),
    _k.EventType: refused("an event has no value and no meaning in a proof; write a signal"),
    **dict.fromkeys(
        (
            _k.VoidType, _k.UnboundedType, _k.TypeRefType, _k.UntypedType, _k.SequenceType, _k.PropertyType,
            _k.ErrorType,
        ),
        refused("a value of this type has no bits; write a vector"),
    ),
}  # fmt: skip
#: Types that are also members of the scopes that declare them.
_DECLARED = (_k.TypeAlias, _k.ClassType, _k.CovergroupType)
TYPES: Table[Any] = Table("Types", "Types of signals, variables, arguments and values.", _TYPES)

SYMBOLS: Table[Any] = Table(
    "What a module may hold",
    "Members of modules, generate blocks and packages.",
    {
        _k.Net: read("a signal; see nets"),
        _k.Variable: read("a signal, or a memory if it is an array that only initial blocks fill"),
        _k.ContinuousAssign: read("drives its left-hand side"),
        _k.ProceduralBlock: read("see blocks"),
        _k.Instance: read("a module; see definitions"),
        _k.InstanceArray: read("its instances, one after the other"),
        _k.GenerateBlock: read("if it is instantiated"),
        _k.GenerateBlockArray: read("each block that is instantiated"),
        _k.Parameter: read("its value; tools must agree on its width"),
        _k.Subroutine: read("evaluated where it is called; a static one must not be called while it runs"),
        _k.PrimitiveInstance: read("a gate; see gates"),
        **dict.fromkeys(
            (
                _k.Port, _k.MultiPort, _k.TypeParameter, _k.DefParam, _k.Genvar, _k.EnumValue,
                _k.TransparentMember, _k.TypeAlias, _k.ForwardingTypedef, _k.NetType,
                _k.MethodPrototype, _k.StatementBlock, _k.Attribute, _k.EmptyMember, _k.ExplicitImport,
                _k.WildcardImport, _k.LetDecl, _k.Modport, _k.ModportPort, _k.ModportClocking, _k.Specparam,
                _k.ClassType, _k.GenericClassDef, _k.CovergroupType,
            ),
            _NAME,
        ),
        **dict.fromkeys(
            (_k.ElabSystemTask, _k.Property, _k.Sequence, _k.AssertionPort, _k.LocalAssertionVar, _k.SystemTimingCheck),
            _CHECK,
        ),
        **dict.fromkeys((_k.SpecifyBlock, _k.TimingPath, _k.PulseStyle), _PATH),
        **dict.fromkeys((_k.Checker, _k.CheckerInstance, _k.CheckerInstanceBody), _CHECKER),
        _k.ClockingBlock: read("defines the clock of assertions; a clocking block with signals is refused"),
        _k.ClockVar: refused("a clocking block samples and drives signals at times of its own; write registers"),
        _k.NetAlias: refused("alias joins nets in both directions; write assign"),
        _k.InterfacePort: left_out("the signals of the interface are read under their own names"),
        _k.UninstantiatedDef: refused("no module of this name was given; name all files of the RTL"),
        **dict.fromkeys(
            (_k.Primitive, _k.PrimitivePort), refused("a primitive with a table is not supported; write logic")
        ),
        **dict.fromkeys((_k.AnonymousProgram,), refused("a program runs at times of its own; write a module")),
        _k.ConfigBlock: refused("a configuration selects other modules; name the files of one design"),
        **dict.fromkeys((_k.ClassProperty, _k.ConstraintBlock), _CLASS),
        **dict.fromkeys(
            (_k.CovergroupBody, _k.Coverpoint, _k.CoverCross, _k.CoverCrossBody, _k.CoverageBin), _COVERAGE
        ),
        **dict.fromkeys((_k.Unknown, _k.DeferredMember), _UNKNOWN),
        **dict.fromkeys(
            (
                _k.Root, _k.Definition, _k.CompilationUnit, _k.InstanceBody, _k.Package, _k.FormalArgument, _k.Field,
                _k.Iterator, _k.PatternVar, _k.RandSeqProduction,
            ),
            _INNER,
        ),
        **{kind: _TYPE for kind in _TYPES if kind not in _DECLARED},
    },
)  # fmt: skip

_d = ast.DefinitionKind
DEFINITIONS: Table[Any] = Table(
    "Definitions",
    "What an instance refers to.",
    {
        _d.Module: read("its members, below the name of the instance"),
        _d.Interface: read("its members, below the name of the instance; modports do not change their meaning"),
        _d.Program: refused("a program is not a module; the proof supports modules and interfaces"),
    },
)
_a = ast.ArgumentDirection
PORTS: Table[Any] = Table(
    "Ports",
    "",
    {
        _a.In: read("driven from outside; inputs of the top module are the inputs of the proof"),
        _a.Out: read("drives the signal that it is connected to, extended according to its own sign"),
        _a.InOut: refused("an inout port has several drivers; write an input and an output"),
        _a.Ref: refused("a port by reference is not hardware; write an input or an output"),
    },
)
ARGUMENTS: Table[Any] = Table(
    "Arguments",
    "A function whose value is used must have inputs only.",
    {
        _a.In: read("copied at the call"),
        _a.Out: read(
            "copied back at the end; it must be assigned on every path, and a signed one must not be extended"
        ),
        _a.InOut: read("copied at the call, and back at the end"),
        _a.Ref: refused("an argument by reference is not supported by the proof; write inout"),
    },
)
_o = ast.UnconnectedDrive
OPEN_INPUTS: Table[Any] = Table(
    "Open inputs of instances",
    "As `` `unconnected_drive `` says.",
    {_o.None_: read("undefined"), _o.Pull0: read("0"), _o.Pull1: read("all ones")},
)
_n = ast.NetType.NetKind
_WIRED = refused(
    "a net that combines its drivers, or has a value without a driver, is not supported by the proof; write wire"
)
NETS: Table[Any] = Table(
    "Nets",
    "Strengths and delays are refused.",
    {
        **dict.fromkeys((_n.Wire, _n.Tri, _n.UWire), read("one driver per bit; undefined without a driver")),
        _n.Tri0: read("one driver per bit; 0 without drivers; refused if only some bits have one"),
        _n.Tri1: read("one driver per bit; all ones without drivers; refused if only some bits have one"),
        _n.Supply0: read("0"),
        _n.Supply1: read("all ones"),
        **dict.fromkeys((_n.WAnd, _n.WOr, _n.TriAnd, _n.TriOr), _WIRED),
        _n.TriReg: refused("a net that stores charge keeps state; write a register"),
        _n.Interconnect: refused("an interconnect has no type of its own; write wire"),
        _n.UserDefined: refused("a net with a user-defined type may be resolved by a function; write wire"),
        _n.Unknown: refused("a net of unknown type; write wire"),
    },
)
_p = ast.ProceduralBlockKind
BLOCKS: Table[Any] = Table(
    "Blocks",
    "",
    {
        _p.Initial: read("fills memories with constants, and assigns initial values"),
        _p.Final: left_out("runs at the end of the simulation"),
        _p.Always: read("combinational, or registers, depending on its timing control; refused without one"),
        _p.AlwaysComb: read("combinational; it also runs at the beginning"),
        _p.AlwaysLatch: read(
            "the latch of a clock gate, `if (!clk) q = enable` together with `clk & q`; others are refused"
        ),
        _p.AlwaysFF: read("registers"),
    },
)
