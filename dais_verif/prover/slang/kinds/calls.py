"""Decisions on system tasks and functions, methods, and primitive gates, by their names in the language."""

from __future__ import annotations

from dais_verif.prover.slang.kinds.decision import KindDecision, Table, left_out, read, refused

__all__ = ["CALLS", "ENDING", "FILLING", "GATES"]

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
