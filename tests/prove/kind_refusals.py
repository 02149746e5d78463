"""RTL examples for each construct that the reader refuses, and the constructs that never reach the reader."""

from __future__ import annotations

__all__ = ["CALLED", "NEVER_CALLED", "NEVER_SEEN", "REFUSALS", "WITH"]

_ALWAYS = "always_comb begin OUT = sum; {} end"


def _statements(**kinds: str) -> dict[str, str]:
    return {kind: f"logic k; {_ALWAYS.format(text)}" for kind, text in kinds.items()}


def _reads(**kinds: str) -> dict[str, str]:
    return {kind: f"always_comb OUT = {text};" for kind, text in kinds.items()}


_SWITCHES = {name: f"{name} (OUT[0], IN[0]);" for name in ("rtran", "tran")} | {
    name: f"{name} (OUT[0], IN[0], IN[1]);"
    for name in (
        "bufif0", "bufif1", "notif0", "notif1", "nmos", "pmos", "rnmos", "rpmos", "rtranif0", "rtranif1", "tranif0",
        "tranif1",
    )
} | {name: f"{name} (OUT[0], IN[0], IN[1], IN[2]);" for name in ("cmos", "rcmos")} | {
    name: f"{name} (OUT[0]);" for name in ("pullup", "pulldown")
}  # fmt: skip

#: By the title of a construct in the tables: a body in which the construct occurs.
REFUSALS: dict[str, dict[str, str]] = {
    "What a module may hold": {
        "Checker": "checker c(x); endchecker assign OUT = sum;",
        "CheckerInstance": "c c(IN[0]); assign OUT = sum; endmodule checker c(x); endchecker module other;",
        "ClockVar": "clocking cb @(posedge IN[0]); input sum; endclocking assign OUT = sum;",
        "NetAlias": "wire [4:0] t; alias t = sum; assign OUT = t;",
    },
    "Definitions": {"Program": "p p(); assign OUT = sum; endmodule program p; endprogram module other;"},
    "Ports": {
        "InOut": "wire [4:0] t; m m(sum, t); assign OUT = t; endmodule module m(input [4:0] a, inout [4:0] y);",
        "Ref": "logic [4:0] t; m m(sum, t); assign OUT = t; endmodule module m(input [4:0] a, ref logic [4:0] y);",
    },
    "Nets": {
        **{
            kind: f"{kind.lower()} [4:0] t = sum; assign OUT = t;"
            for kind in ("TriAnd", "TriOr", "WAnd", "WOr")
        },
        "TriReg": "trireg [4:0] t; assign t = sum; assign OUT = t;",
        "UserDefined": "nettype logic [4:0] mine; mine t; assign t = sum; assign OUT = t;",
    },
    "Types": {
        "AssociativeArrayType": "logic [4:0] t [int]; assign OUT = sum;",
        "CHandleType": "chandle t; assign OUT = sum;",
        "ClassType": "class K; int n; endclass K t; assign OUT = sum;",
        "CovergroupType": "covergroup g; endgroup g t; assign OUT = sum;",
        "DynamicArrayType": "logic [4:0] t []; assign OUT = sum;",
        "EventType": "event t; assign OUT = sum;",
        "FloatingType": "real t; assign OUT = sum;",
        "QueueType": "logic [4:0] t [$]; assign OUT = sum;",
        "StringType": "string t; assign OUT = sum;",
        "UnpackedUnionType": "union { logic [4:0] a; logic [4:0] b; } t; assign OUT = sum;",
        "VirtualInterfaceType": "virtual i t; assign OUT = sum; endmodule interface i; endinterface module other;",
        "UntypedType": "interconnect t; assign OUT = sum;",
    },
    "Gates": {name: f"wire p, q; {text.replace('OUT[0]', 'p')} assign OUT = sum;" for name, text in _SWITCHES.items()},
    "Timing controls": {
        "Delay": "wire [4:0] #3 t = sum; assign OUT = t;",
        "Delay3": "wire [4:0] #(3, 4) t = sum; assign OUT = t;",
        "RepeatedEvent": "always @* OUT = repeat (2) @(posedge IN[0]) sum;",
    },
    "Edges": {"BothEdges": "always @(edge IN[0]) OUT <= sum;"},
    "Statements": _statements(
        DisableFork="disable fork;",
        ForeverLoop="forever OUT = sum;",
        PatternCase="case (OUT) matches 5'd3: OUT = 0; endcase",
        ProceduralAssign="assign k = 1;",
        ProceduralDeassign="deassign k;",
        RandCase="randcase 1: OUT = sum; endcase",
        RandSequence="randsequence(m) m : { OUT = sum; }; endsequence",
    )
    | {
        "EventTrigger": "event e; always @* begin OUT = sum; -> e; end",
        "Timed": "always @* begin OUT = sum; #1 OUT = sum; end",
        "Wait": "always @* begin OUT = sum; wait (IN[0]); end",
        "WaitFork": "always @* begin OUT = sum; wait fork; end",
        "WaitOrder": "import some::*; always @* begin OUT = sum; wait_order (e, f); end endmodule package some;"
        " event e, f; endpackage module other;",
        "ProceduralChecker": "always @* begin OUT = sum; c c(IN[0]); end endmodule checker c(x); endchecker"
        " module other;",
    },
    "Kinds of blocks of statements": {
        kind: f"always @* begin OUT = sum; fork OUT = sum; {join} end"
        for kind, join in (("JoinAll", "join"), ("JoinAny", "join_any"), ("JoinNone", "join_none"))
    },
    "Patterns": {
        kind: f"typedef union tagged packed {{ logic [4:0] a; }} u; typedef struct packed {{ logic [4:0] a; }} s;"
        f" u v; s t; {_ALWAYS.format(text)}"
        for kind, text in {
            "Constant": "if (IN matches 3) OUT = 0;",
            "Variable": "if (IN matches .n) OUT = n;",
            "Wildcard": "if (IN matches .*) OUT = 0;",
            "Structure": "if (t matches '{.n}) OUT = 0;",
            "Tagged": "if (v matches tagged a .n) OUT = 0;",
        }.items()
    },
    "Assertions": {
        "Assume": "assume property (@(posedge IN[0]) IN); assign OUT = sum;",
        "Restrict": "restrict property (@(posedge IN[0]) IN); assign OUT = sum;",
        "Expect": "initial expect (@(posedge IN[0]) IN); assign OUT = sum;",
    },
    "Arguments": {"Ref": "task automatic t(ref logic [4:0] y); y = sum; endtask always_comb t(OUT);"},
    "Expressions that are read": _reads(
        Assignment="(OUT = sum)",
        MinTypMax="(1:2:3) + sum",
        RealLiteral="1.5",
        TimeLiteral="3ns",
        TypeReference="type(IN) == type(sum)",
        NullLiteral="null == null",
    )
    | {
        "CopyClass": "class K; int n; endclass always_comb begin K k, l; k = new l; OUT = k.n; end",
        "NewArray": "logic [4:0] t []; always_comb begin t = new[3]; OUT = t[0]; end",
        "NewClass": "class K; int n; endclass always_comb begin K k; k = new; OUT = k.n; end",
    },
    "Unary operators": _reads(
        Preincrement="++OUT", Predecrement="--OUT", Postincrement="OUT++", Postdecrement="OUT--"
    ),
}  # fmt: skip
_PARTS = "no scope that the reader walks has such a member"
_ERROR = "pyslang reports an error first"
_EARLIER = "what it stands in, or is one of, is refused first"
#: Why no RTL shows a construct to the reader; its message is there for later versions of pyslang.
NEVER_SEEN: dict[str, dict[str, str]] = {
    "What a module may hold": dict.fromkeys(
        [
            "AnonymousProgram",
            "AssociativeArrayType",
            "CHandleType",
            "CheckerInstanceBody",
            "ClassProperty",
            "CompilationUnit",
            "ConfigBlock",
            "ConstraintBlock",
            "CoverCross",
            "CoverCrossBody",
            "CoverageBin",
            "CovergroupBody",
            "Coverpoint",
            "DPIOpenArrayType",
            "DeferredMember",
            "Definition",
            "DynamicArrayType",
            "EnumType",
            "ErrorType",
            "EventType",
            "Field",
            "FixedSizeUnpackedArrayType",
            "FloatingType",
            "FormalArgument",
            "InstanceBody",
            "Iterator",
            "NullType",
            "Package",
            "PackedArrayType",
            "PackedStructType",
            "PackedUnionType",
            "PatternVar",
            "PredefinedIntegerType",
            "Primitive",
            "PrimitivePort",
            "PropertyType",
            "QueueType",
            "RandSeqProduction",
            "Root",
            "ScalarType",
            "SequenceType",
            "StringType",
            "TypeRefType",
            "UnboundedType",
            "Unknown",
            "UnpackedStructType",
            "UnpackedUnionType",
            "UntypedType",
            "VirtualInterfaceType",
            "VoidType",
        ],
        _PARTS,
    )
    | {"UninstantiatedDef": _ERROR},
    "Nets": {"Unknown": _ERROR, "Interconnect": _EARLIER},
    "Types": dict.fromkeys(
        [
            "DPIOpenArrayType",
            "ErrorType",
            "NullType",
            "PropertyType",
            "SequenceType",
            "TypeRefType",
            "UnboundedType",
            "VoidType",
        ],
        _ERROR,
    ),
    "Timing controls": {
        "Invalid": _ERROR,
        "BlockEventList": _EARLIER,
        "CycleDelay": _EARLIER,
        "OneStepDelay": _EARLIER,
    },
    "Statements": {"Invalid": _ERROR},
    "Patterns": {"Invalid": _ERROR},
    "Expressions that are read": dict.fromkeys(
        ["ArbitrarySymbol", "DataType", "Dist", "EmptyArgument", "Invalid", "UnboundedLiteral"], _ERROR
    )
    | dict.fromkeys(["AssertionInstance", "ClockingEvent", "NewCovergroup", "TaggedUnion", "ValueRange"], _EARLIER),
    "Expressions that are statements": dict.fromkeys(
        [
            "ArbitrarySymbol",
            "AssertionInstance",
            "BinaryOp",
            "ClockingEvent",
            "Concatenation",
            "ConditionalOp",
            "Conversion",
            "CopyClass",
            "DataType",
            "Dist",
            "ElementSelect",
            "EmptyArgument",
            "HierarchicalValue",
            "Inside",
            "IntegerLiteral",
            "Invalid",
            "LValueReference",
            "MemberAccess",
            "MinTypMax",
            "NamedValue",
            "NewArray",
            "NewClass",
            "NewCovergroup",
            "NullLiteral",
            "RangeSelect",
            "RealLiteral",
            "ReplicatedAssignmentPattern",
            "Replication",
            "SimpleAssignmentPattern",
            "Streaming",
            "StringLiteral",
            "StructuredAssignmentPattern",
            "TaggedUnion",
            "TimeLiteral",
            "TypeReference",
            "UnbasedUnsizedIntegerLiteral",
            "UnboundedLiteral",
            "ValueRange",
        ],
        _ERROR,
    ),
    "Expressions that are assigned": dict.fromkeys(
        [
            "ArbitrarySymbol",
            "AssertionInstance",
            "Assignment",
            "BinaryOp",
            "Call",
            "ClockingEvent",
            "ConditionalOp",
            "Conversion",
            "CopyClass",
            "DataType",
            "Dist",
            "EmptyArgument",
            "Inside",
            "IntegerLiteral",
            "Invalid",
            "LValueReference",
            "MinTypMax",
            "NewArray",
            "NewClass",
            "NewCovergroup",
            "NullLiteral",
            "RealLiteral",
            "ReplicatedAssignmentPattern",
            "Replication",
            "StringLiteral",
            "StructuredAssignmentPattern",
            "TaggedUnion",
            "TimeLiteral",
            "TypeReference",
            "UnaryOp",
            "UnbasedUnsizedIntegerLiteral",
            "UnboundedLiteral",
            "ValueRange",
        ],
        _ERROR,
    ),
    "Ranges of values": {"AbsoluteTolerance": _ERROR, "RelativeTolerance": _ERROR},
}

#: The declarations that the calls below need. They are in a package, because in a module they would be refused first.
WITH = (
    "import some::*; {} endmodule package some; integer i; string t; logic [7:0] m [0:3]; int q[$]; int a[int];"
    " event v; enum logic [1:0] {{P, Q}} e; endpackage module other;"
)
_CALLED = {
    "OUT = {}(IN);": "$acos $acosh $asin $asinh $atan $atanh $bitstoreal $bitstoshortreal $ceil $changed $cos $cosh"
    " $countdrivers $exp $fell $feof $fgetc $floor $ftell $getpattern $isunbounded $isunknown $itor $ln $log10 $past"
    " $realtobits $rewind $rose $rtoi $sampled $shortrealtobits $sin $sinh $sqrt $stable $tan $tanh $urandom_range",
    "OUT = {}(IN, IN);": "$atan2 $fscanf $hypot $pow $sscanf $ungetc",
    "OUT = {}(i, 3);": "$cast $dist_chi_square $dist_exponential $dist_poisson $dist_t $fgets $fread",
    "OUT = {}(1, 1, dut);": "$coverage_get $coverage_get_max",
    "OUT = {}(i, t);": "$coverage_merge $coverage_save",
    "{}(i, 3);": "$deposit $sformat",
    "OUT = {}(i, 3, 3);": "$dist_erlang $dist_normal $dist_uniform $fseek",
    "{};": "$dumpports $dumpportsall $dumpportsflush $dumpportsoff"
    " $dumpportson $exit $fflush $key $list $log $nokey $nolog $reset $showscopes $showvars $stacktrace"
    " $stop",
    "{}(IN);": "$dumpportslimit $fclose $fdisplay $fdisplayb $fdisplayh $fdisplayo $fmonitor $fmonitorb"
    " $fmonitorh $fmonitoro $fstrobe $fstrobeb $fstrobeh $fstrobeo $fwrite $fwriteb $fwriteh $fwriteo $psprintf"
    " $sdf_annotate $sformatf $typename",
    'OUT = {}("a", i);': "$ferror $q_full $value$plusargs",
    'OUT = {}("a");': "$fopen $test$plusargs",
    "OUT = {};": "$get_coverage $random $realtime $reset_count $reset_value $stime $system $time $urandom",
    '{}("a");': "$incsave $input $load_coverage_db $restart $save $set_coverage_db_name",
    "{}(3, i, i, i);": "$q_add $q_exam $q_initialize $q_remove",
    "OUT = {}(dut);": "$scale",
    "{}(dut);": "$scope",
    "{}(i);": "$swrite $swriteb $swriteh $swriteo",
    '{}("a", m);': "$writememb $writememh",
    "OUT = m.{};": "and or product sum xor",
    "m.{};": "max min reverse rsort shuffle sort unique unique_index",
    "void'(m.{} with (item > 3));": "find find_first find_first_index find_index find_last find_last_index",
    "OUT = a.{}(3);": "exists",
    "OUT = t.{};": "atobin atohex atoi atooct atoreal len",
    "t.{}(IN);": "bintoa hextoa itoa octtoa realtoa",
    'OUT = t.{}("a");': "compare icompare",
    "OUT = t.{}(IN);": "getc",
    "t.{}(IN, IN);": "putc substr",
    "t.{};": "tolower toupper",
    "OUT = e.{};": "first last next num prev",
    "e.{};": "name",
    "q.{};": "delete",
    "OUT = q.{};": "pop_back pop_front size",
    "q.{}(IN, IN);": "insert",
    "q.{}(IN);": "push_back push_front",
    "OUT = v.{};": "triggered",
    "OUT = std::{}(i);": "randomize",
}
#: By the name of a system call: a statement that calls it.
CALLED = {name: form.format(name) for form, names in _CALLED.items() for name in names.split()}
#: Names that pyslang knows, but calls of which it rejects in a module or everywhere.
NEVER_CALLED = frozenset(
    [
        "$async$and$array",
        "$async$and$plane",
        "$async$nand$array",
        "$async$nand$plane",
        "$async$nor$array",
        "$async$nor$plane",
        "$async$or$array",
        "$async$or$plane",
        "$sync$and$array",
        "$sync$and$plane",
        "$sync$nand$array",
        "$sync$nand$plane",
        "$sync$nor$array",
        "$sync$nor$plane",
        "$sync$or$array",
        "$sync$or$plane",
        "$changed_gclk",
        "$changing_gclk",
        "$coverage_control",
        "$falling_gclk",
        "$fell_gclk",
        "$future_gclk",
        "$global_clock",
        "$inferred_clock",
        "$inferred_disable",
        "$past_gclk",
        "$rising_gclk",
        "$rose_gclk",
        "$sreadmemb",
        "$sreadmemh",
        "$stable_gclk",
        "$steady_gclk",
        "$timeprecision",
        "$timeunit",
        "constraint_mode",
        "index",
        "map",
        "matched",
        "rand_mode",
    ]
)
