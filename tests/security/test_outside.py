"""RTL that accesses anything outside itself is found by its text, however it is written, and is not signed off."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.said import as_recorded
from support.signing import DESIGN, GIVEN, QUICK, project, sign, verify

from dais_verif.base.toolchain.rtl_files import never_read
from dais_verif.hardware.emitter import PipelineOptions, emit_pipeline, emit_verilog
from dais_verif.hardware.ports.outside_effects import Use, macros_in, outside_of, uses_in

HOSTILE = [
    'initial $system("id");',
    'initial $system /* why */ ("id");',
    'initial \\$system ("id");',
    'initial $c("system(\\"id\\");");',
    "assign q = $c1(1);",
    "initial f = $fopen(name);",
    'import "DPI-C" function int f();',
    'import /* */ "DPI-C" context function int f();',
    'export "DPI-C" function f;',
    '`define LANG "DPI-C"\nimport `LANG function int f();',
    'initial if ($test$plusargs("x")) q = 1;',
    'initial if ($value$plusargs("x=%d", q)) q = 1;',
    "assign q = $time;",
    "assign q = $realtime > 0;",
    "assign q = $random;",
    "assign q = $urandom_range(1);",
    "assign q = $dist_uniform(s, 0, 1);",
    'initial $fscanf(f, "%d", q);',
    'initial $fdisplay(1, "x");',
    'initial $fwrite(f, "x");',
    'initial $dumpfile("/etc/passwd");',
    'initial $writememh("x", m);',
    "initial $fread(m, f);",
    "initial $my_vpi_task(q);",
    'initial $psprintf("x");',
    "bind model spy s(.*);",
    "initial force top.q = 1;",
    # hidden in macros, in conditional branches, in joined tokens and in odd text
    '`define RUN $system("id")',
    '`ifdef VERILATOR\ninitial $system("id");\n`endif',
    "`define CALL(x) $``x(1)",
    "`define CALL(x) x``tem(1)\ninitial `CALL($sys);",
    "`define D(x) `x``_header\n`D(systemc)",
    "`systemc_header\n#include <cstdlib>",
    "`systemc_imp_header",
    "`verilator_config",
    "`pragma protect begin",
    "`uselib dir=/tmp",
    '`unknown_macro("id")',
    "/* unended",
    'x = "unended;\ninitial $system(1);',
    'x = """ $display " $system(1);',
    "// comment\rinitial $system(1);",
    '`define Q `"$system`"',
    '`define J(a, b) a``b\ninitial `J($,system)("id");',
    "`define J(a, b) a/**/b\ninitial f = `J($write,memh)(name);",
    "`define J(a, b) a\\\nb\ninitial `J(x,y);",
    '`define S system\ninitial $`S("id");',
    '`define M(a) a\ninitial `M($)system("id");',
    "`define M memh\ninitial $write`M(name, m);",
    "`define M(a) a\ninitial `M($write)memh(name, m);",
    '`define I import\n`I "DPI-C" function int system(input string s);',
    '`define J(a, b) a``b\n`J(imp,ort) "DPI-C" function int f();',
    "`define J(a, b) a``b\n`J(bi,nd) model spy s(.*);",
    "`define A bi\n`define B nd\n`A`B model spy s(.*);",
    "`define B nd\nbi`B model spy s(.*);",
    "`define M(a) a\n`M(bi)nd model spy s(.*);",
    "`define P(p) import p::z;\n`P(X)",
    'wire \\$" ; initial $system("id"); wire \\$" ;',
    'wire \\a" ; initial $system("id"); wire \\a" ;',
    "localparam F = `__FILE__;",
    "`define F `__FILE__",
    # files
    "`include <x.vh>",
    "`include `FILE",
    'initial $readmemh($sformatf("x"), m);',
    'initial $readmemh({"a", ".mem"}, m);',
    'initial $readmemh("other.mem", m);',
    'initial $readmemh("/etc/passwd", m);',
    'parameter F = "../x.mem"; initial $readmemh(F, m);',
    'parameter F = "/etc/passwd"; initial $readmemb(F, m);',
]

HARMLESS = [
    "assign q = $signed(a) + $unsigned(b) >>> $clog2(8);",
    'initial $display("$system %d", $bits(a));',
    '// $system("id")\n/* $c(1) " */ assign q = 0;',
    'initial if (0) $fatal(1, "no \\" $random");',
    "`timescale 1ns/1ps\n`default_nettype none\n`define W 8\nwire [`W-1:0] q;",
    '`ifdef SIM\ninitial $error("x");\n`endif',
    "wire a$b = \\odd.name$x ;",
    "int q[$]; assert property (a ##[1:$] b);",
    "import pkg::*;\nexport pkg::*;\nexport *::*;",
    "`define W 8\nimport pkg::*;\nassign q = `W'h`W + 8'd`W + `__LINE__;",
    "`define MAX(a, b) ((a) > (b) ? (a) : (b))\nassign q = `MAX(a, `MAX(b, c)) ;\nalways @(*)if(a)b=c;",
    'initial $readmemh("table.mem", m);',
    'parameter F = "table.mem"; initial $readmemh ( F , m );',
    '`include "half.vh"',
    '(* ram_style = "block" *) reg [7:0] m [0:3];',
]


def found(text: str) -> list[Use]:
    data = text.encode()
    return list(uses_in(data, "x.v", macros_in([data]), ["table.mem"]))


@pytest.mark.parametrize("text", HOSTILE)
def test_what_reaches_outside_is_found(text: str) -> None:
    assert found(text)
    assert found(f"module model;\n{text}\nendmodule\n")[0].line > 1


@pytest.mark.parametrize("text", HARMLESS)
def test_what_does_not_is_left_alone(text: str) -> None:
    assert found(text) == []


def test_our_own_rtl_reaches_nothing(tmp_path: Path) -> None:
    pipeline = emit_pipeline(DESIGN, "model", PipelineOptions(2, None, reset=True, enable=True, valid=True))
    assert found(emit_verilog(DESIGN)) == found(pipeline.text) == []


def test_lines_are_told() -> None:
    use = found('a\n"b\\\nc" /*\n\n*/ $system')[0]
    as_recorded(str(use))


ROM = """module rom #(parameter FILE = "whatever.mem") (output [7:0] q);
  reg [7:0] m [0:0];
  initial $readmemh(FILE, m);
  assign q = m[0];
endmodule
module model (output [7:0] q);
  rom #(.FILE({NAME})) r (q);
endmodule
"""


@pytest.mark.parametrize(
    ("name", "read"),
    [('"table.mem"', None), ('{"table", ".mem"}', None), ('"other.mem"', "other.mem"), ('{8\'h2f, "x.mem"}', "/x.mem")],
)
def test_names_that_are_parameters_are_evaluated(name: str, read: str | None, tmp_path: Path) -> None:
    (tmp_path / "x.v").write_text(ROM.replace("{NAME}", name))
    uses = outside_of([tmp_path / "x.v"], [], [], ["table.mem"], "model")
    as_recorded([use.why for use in uses])


VHDL_HOSTILE = [
    'attribute foreign of f : function is "VHPIDIRECT system";',
    "use std.env.all;",
    "q <= '1' when now > 5 ns else '0';",
    'file f : text open read_mode is "/etc/passwd";',
    'q <= getenv("HOME");',
    "/* unended",
    'file f : text; file_open(status, f, "job.json", read_mode);',
    'file f : text; file_open(f, "table.txt", write_mode);',
    'file f : text; file_open(f, "table" & ".txt", read_mode);',
    "file f : text; file_open(f, '/' & \"tmp\", write_mode);",
    "file f : text; file_open(f, name, read_mode);",
    'file f : text; file_open(f, open_kind => append_mode, external_name => "table.txt");',
    'file f : text is "job.json";',
    'file f : text is "table" & ".txt";',
    'file f : text open write_mode is "table.txt";',
    'file f : text open mode is "table.txt";',
    "alias opens is file_open;",
    "use std.textio.all; readline(input, l);",
    "use std.textio.all; writeline(output, l);",
    "alias f is std.textio.input;",
    "q <= '1' when q'path_name(1) = ':' else '0';",
    "constant c : string := q'instance_name;",
    # a name that is more than a generic with the names of data files
    'generic (n : string := "job.json"); file_open(f, n, read_mode);',
    'generic (n : string(1 to 8) := "job.json"); generic map (n => "table.txt"); file_open(f, n, read_mode);',
    'generic (n, m : string := "job.json"); generic map (n => "table.txt"); file_open(f, n, read_mode);',
    'generic (n : string); generic map (n => "job" & ".json"); file_open(f, n, read_mode);',
    'generic (n : string); generic map ("table.txt"); generic map (n => "table.txt"); file_open(f, n, read_mode);',
    'generic (n : string); generic map (n => "table.txt"); procedure p(n : string); file_open(f, n, read_mode);',
    "generic (n : string); generic map (n => m); file_open(f, n, read_mode);",
    'variable n : string := "table.txt"; file_open(f, n, read_mode);',
]
VHDL_HARMLESS = [
    '-- foreign now\nx <= "now"; c <= \'"\'; file f : text open read_mode is "table.txt";',
    'file f : text is "table.txt"; type t is file of integer; procedure p(file g : text);',
    'file f : text; file_open(status, f, "table.txt", read_mode);',
    'file f : text; file_open(f, "table.txt");',
    'file f : text; file_open(external_name => "table.txt", f => f);',
    'generic (n : string; m : integer := 3); file_open(f, n, read_mode); generic map (m => 4, n => "table.txt")',
    'generic (n : string); file_open(f, n); generic (k : string); generic map (n => k) generic map (k => "table.txt")',
    "port (input : in bit; output : out bit); output <= input;",
]


def _of_vhdl(path: Path) -> list[Use]:
    return outside_of([], [], [path], ["table.txt"], "model", never_read([path]))


@pytest.mark.parametrize("text", VHDL_HOSTILE)
def test_vhdl(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.vhd").write_text(text)
    assert _of_vhdl(tmp_path / "x.vhd")


@pytest.mark.parametrize("text", VHDL_HARMLESS)
def test_vhdl_that_reads_only_its_data_files(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.vhd").write_text(text)
    assert not _of_vhdl(tmp_path / "x.vhd")


def test_a_default_that_every_instance_overrides_is_harmless(tmp_path: Path) -> None:
    text = 'entity rom is generic (n : string := "other.txt"); end; file_open(f, n, read_mode);'
    instance = 'u : entity work.rom generic map (n => "table.txt") port map (q => q);'
    for rest, harmless in ((instance, True), (instance + "v : entity work.rom port map (q => q);", False)):
        (tmp_path / "x.vhd").write_text(f"{text}\n{rest}")
        assert harmless == (not _of_vhdl(tmp_path / "x.vhd"))


# sign-off


def evil(folder: Path) -> str:
    return emit_verilog(DESIGN).replace("endmodule", f'  initial $system("touch {folder}/PWNED");\nendmodule')


def test_a_sign_off_runs_nothing_of_it(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", QUICK.replace("icarus", "verilator") + GIVEN, evil(tmp_path))
    ending = sign(folder)
    assert (ending.verdict, ending.exit_code) == ("NOT_SIGNED_OFF", 7)
    as_recorded(ending.stage("outside")["message"])
    assert {stage["name"] for stage in ending.tree["stages"] if stage["passed"]} == {"rtl"}
    assert not (tmp_path / "PWNED").exists()


@pytest.mark.slow
@pytest.mark.parametrize("how", ["allowed", "waived"])
def test_what_a_policy_allows_or_waives_is_said(how: str, tmp_path: Path) -> None:
    rtl = emit_verilog(DESIGN).replace("endmodule", "  reg [31:0] r;\n  initial r = $random;\nendmodule")
    waiver = '[[waivers]]\nwhat = "outside"\nreason = "an unused signal"\nexpires = 2099-01-01\n'
    text = 'allowed = ["$random"]\n' + QUICK + GIVEN if how == "allowed" else QUICK + GIVEN + waiver
    folder = project(tmp_path, text, rtl)
    ending = sign(folder)
    assert ending.exit_code == 0, ending.tree["message"]
    stage = ending.stage("outside")
    assert (stage["passed"], stage["waived"]) == (how == "allowed", how == "waived")
    assert "$random" in stage["message"] and ending.stage("simulation, seed 0")["passed"]
    assert verify(folder).findings == []
    (folder / "policy.toml").write_text(QUICK + GIVEN)
    assert sign(folder).exit_code == 7


@pytest.mark.parametrize(
    "code",
    [
        'initial $sformat(path, "%m");',
        'initial $swrite(path, "%-5L");',
        'wire x = $sformatf("\\045m") == "1";',
        'wire x = $sformatf({"%", "m"}) == "1";',
        "initial $sformat({a, b}, FORMAT, x);",
        'localparam F = "%m"; initial $swriteh(path, "%d", F);',
    ],
)
def test_rtl_must_not_learn_its_place_from_texts(code: str, tmp_path: Path) -> None:
    """A copy is judged below modules of ours, so RTL that knows its instance is other hardware elsewhere."""
    (tmp_path / "m.v").write_text(f"module m;\n{code}\nendmodule\n")
    found = outside_of([tmp_path / "m.v"], [], [], [], "m")
    assert [use.line for use in found] and all(use.line == 2 for use in found)


@pytest.mark.parametrize(
    "code", ['initial $display("%m");', 'initial $sformat(p[3:0], "%d", x);', 'wire x = $sformatf("%0d", y) == "1";']
)
def test_printing_and_formats_of_values_are_harmless(code: str, tmp_path: Path) -> None:
    (tmp_path / "m.v").write_text(f"module m;\n{code}\nendmodule\n")
    assert outside_of([tmp_path / "m.v"], [], [], [], "m") == []


@pytest.mark.parametrize(
    ("code", "count"), [("a <= x'path_name(1);", 1), ("b <= x'INSTANCE_NAME;", 1), ("path_name <= x'length;", 0)]
)
def test_vhdl_must_not_learn_its_place(code: str, count: int, tmp_path: Path) -> None:
    (tmp_path / "m.vhd").write_text(f"{code}\n")
    assert len(outside_of([], [], [tmp_path / "m.vhd"], [], "m")) == count
