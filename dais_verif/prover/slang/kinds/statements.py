"""Decisions on statements within blocks, functions and tasks."""

from __future__ import annotations

from typing import Any

from dais_verif.prover.slang.kinds.decision import KindDecision, Table, ast, left_out, read, refused

__all__ = [
    "ASSERTIONS",
    "BRACKETS",
    "CALLS",
    "CASES",
    "CHECKS",
    "EDGES",
    "ENDING",
    "FILLING",
    "GATES",
    "LIFETIMES",
    "PATTERNS",
    "STATEMENTS",
    "TIMING",
]


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


# Decisions on timing controls and edges.


_t, _e = ast.TimingControlKind, ast.EdgeKind
_DELAY = refused("a delay has no meaning in a proof; remove it")
_CYCLE = refused("a delay in cycles belongs to a clocking block, which has no meaning in a proof; write a register")

TIMING: Table[Any] = Table(
    "Timing controls",
    "At the head of an `always` block. Delays on nets, assignments and gates are refused, too.",
    {
        _t.Invalid: refused("this is not a valid timing control; correct the RTL"),
        _t.Delay: _DELAY,
        _t.SignalEvent: read(
            "with an edge: a clock or an asynchronous reset; without: an entry of a sensitivity list; `iff` is refused"
        ),
        _t.EventList: read(
            "a sensitivity list, which must name every signal that the block reads, as a whole; or edges"
        ),
        _t.ImplicitEvent: read("`@*`: the block must read a net, or a variable that starts as X"),
        _t.RepeatedEvent: refused("an assignment that waits for events keeps state; write a register"),
        _t.Delay3: _DELAY,
        _t.OneStepDelay: _CYCLE,
        _t.CycleDelay: _CYCLE,
        _t.BlockEventList: refused("an event of a block belongs to coverage, which the proof does not read; remove it"),
    },
)
EDGES: Table[Any] = Table(
    "Edges",
    "One edge is the clock, the same for all registers; other edges are resets, which the block must test first.",
    {
        _e.None_: read("any change: an entry of a sensitivity list"),
        _e.PosEdge: read("a clock; or an active-high asynchronous reset"),
        _e.NegEdge: read(
            "an active-low asynchronous reset; or the clock of all registers, which must be the inverse of an input"
        ),
        _e.BothEdges: refused(
            "the proof supports one edge of a clock, and this block has other edges: both of one signal"
        ),
    },
)


# Decisions on system tasks and functions, methods, and primitive gates, by their names in the language.


#: System tasks that fill memories from files.
FILLING = ("$readmemb", "$readmemh")

#: System tasks that end a simulation.
ENDING = ("$fatal", "$finish")

_CONSTANT = read("a constant of the type of its argument")
_SHOWN = left_out("prints something; it must not assign a signal")
_CHECKING = left_out("turns assertions on or off, which have no effect")
_FILLS = read("in an `initial` block: fills a memory from a file that is given")
_CLOCK = refused("is not supported by the proof here: its result is not a function of the inputs")
_GROUPS: list[tuple[str, KindDecision]] = [
    ("$bits $low $high $left $right $size $increment $dimensions $unpacked_dimensions", _CONSTANT),
    ("$signed $unsigned", read("the same bits, interpreted as signed or unsigned")),
    ("$clog2", read("the ceiling of the binary logarithm of its argument")),
    ("$countones", read("the number of bits that are 1")),
    ("$onehot", read("1 if exactly one bit is 1")),
    ("$onehot0", read("1 if at most one bit is 1")),
    (" ".join(FILLING), _FILLS),
    (
        "$display $displayb $displayo $displayh $write $writeb $writeo $writeh $strobe $strobeb $strobeo $strobeh",
        _SHOWN,
    ),
    ("$monitor $monitorb $monitoro $monitorh $monitoron $monitoroff $timeformat $printtimescale", _SHOWN),
    ("$error $warning $info", _SHOWN),
    (
        "$dumpfile $dumpvars $dumpon $dumpoff $dumpall $dumplimit $dumpflush",
        left_out("records waves, and changes no value"),
    ),
    (
        " ".join(ENDING),
        left_out("ends a simulation: reported as not proved; refused if it is always executed"),
    ),
    ("$assertcontrol $asserton $assertoff $assertkill $assertpasson $assertpassoff", _CHECKING),
    ("$assertfailon $assertfailoff $assertnonvacuouson $assertvacuousoff", _CHECKING),
    ("$static_assert", left_out("pyslang checks it during elaboration")),
    ("$countbits", read("the number of bits that equal one of its constants, 0 and 1")),
    ("$isunknown", refused("tests for X, which the proof does not model; remove it")),
    ("$time $stime $realtime", _CLOCK),
    (
        "$random $urandom $urandom_range $dist_uniform $dist_normal $dist_exponential $dist_poisson $dist_chi_square"
        " $dist_t $dist_erlang $getpattern",
        _CLOCK,
    ),
    (
        "$past $rose $fell $stable $changed $sampled $past_gclk $rose_gclk $fell_gclk $stable_gclk $changed_gclk"
        " $future_gclk $rising_gclk $falling_gclk $steady_gclk $changing_gclk $global_clock $inferred_clock"
        " $inferred_disable triggered matched",
        refused("belongs to assertions, and keeps state that the proof does not model; write a register"),
    ),
    (
        "$rtoi $itor $realtobits $bitstoreal $shortrealtobits $bitstoshortreal $ln $log10 $exp $sqrt $floor $ceil $sin"
        " $cos $tan $asin $acos $atan $sinh $cosh $tanh $asinh $acosh $atanh $pow $atan2 $hypot",
        refused("computes with real numbers, which the proof does not model; write its result as a parameter"),
    ),
    (
        "$typename $isunbounded $sformatf $psprintf $sformat $swrite $swriteb $swriteo $swriteh $stacktrace",
        refused("handles text, which is not supported by the proof here; remove it"),
    ),
    ("$cast", refused("may fail at run time; write a cast with '")),
    (
        "$value$plusargs $test$plusargs $system $fopen $fclose $fgetc $ungetc $fgets $fscanf $sscanf $fread $ftell"
        " $fseek $rewind $fflush $feof $ferror $fdisplay $fdisplayb $fdisplayo $fdisplayh $fwrite $fwriteb $fwriteo"
        " $fwriteh $fstrobe $fstrobeb $fstrobeo $fstrobeh $fmonitor $fmonitorb $fmonitoro $fmonitorh $writememb"
        " $writememh $sreadmemb $sreadmemh $sdf_annotate $input $key $nokey $log $nolog $dumpports"
        " $dumpportson $dumpportsoff $dumpportsall $dumpportslimit"
        " $dumpportsflush",
        refused("accesses files or options outside of the design; remove it, or put it into ifdef"),
    ),
    (
        "$coverage_control $coverage_get_max $coverage_get $coverage_merge $coverage_save $get_coverage"
        " $set_coverage_db_name $load_coverage_db",
        refused("belongs to coverage, which the proof does not read; remove it"),
    ),
    (
        "$stop $exit $reset $save $restart $incsave $deposit $countdrivers $list $scope $showvars $showscopes"
        " $reset_count $reset_value $scale $timeunit $timeprecision",
        refused("controls the simulator, which is not part of the design; remove it"),
    ),
    (
        "$q_initialize $q_add $q_remove $q_exam $q_full $async$and$array $sync$and$array $async$and$plane"
        " $sync$and$plane $async$nand$array $sync$nand$array $async$nand$plane $sync$nand$plane $async$or$array"
        " $sync$or$array $async$or$plane $sync$or$plane $async$nor$array $sync$nor$array $async$nor$plane"
        " $sync$nor$plane",
        refused("keeps state that the proof does not model; write the logic that it computes"),
    ),
    (
        "randomize rand_mode constraint_mode",
        refused("generates random values, which are not a function of the inputs; remove it"),
    ),
    (
        "reverse delete exists insert index map size or and xor sum product find find_index find_first"
        " find_first_index find_last find_last_index min max unique unique_index sort rsort shuffle num pop_front"
        " pop_back push_front push_back",
        refused("is an array method, which is not supported by the proof; write a loop"),
    ),
    ("first last next prev name", refused("is an enum method, which is not supported by the proof; write its values")),
    (
        "len putc getc substr toupper tolower compare icompare atoi atohex atooct atobin atoreal itoa hextoa octtoa"
        " bintoa realtoa",
        refused("is a string method, and strings have no fixed bits; write a vector"),
    ),
]

CALLS: Table[str] = Table(
    "System calls",
    "System tasks and functions, and methods.",
    {name: decision for names, decision in _GROUPS for name in names.split()},
)

_SWITCH = refused(
    "a switch, or a gate with a high-impedance output, is not supported by the proof; write the logic that it computes"
)
GATES: Table[str] = Table(
    "Gates",
    "Single gates, inputs of one bit, without delay and strength.",
    {
        **dict.fromkeys(("and", "or", "xor"), read("the function of all inputs")),
        **dict.fromkeys(("nand", "nor", "xnor"), read("the function of all inputs, inverted")),
        "buf": read("its input, at every output"),
        "not": read("the inverse of its input, at every output"),
        **dict.fromkeys(("bufif0", "bufif1", "notif0", "notif1"), _SWITCH),
        **dict.fromkeys(("nmos", "pmos", "cmos", "rnmos", "rpmos", "rcmos"), _SWITCH),
        **dict.fromkeys(("tran", "tranif0", "tranif1", "rtran", "rtranif0", "rtranif1"), _SWITCH),
        **dict.fromkeys(("pullup", "pulldown"), _SWITCH),
    },
)
