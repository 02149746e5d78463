"""Directives by which simulation and synthesis differ are found in every spelling, and nowhere else."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from support.said import as_recorded

from dais_verif.hardware.ports.directives import Directives, as_synthesized, directives_of, readings, told

SEEN = {
    b"`ifdef SYNTHESIS": "SYNTHESIS",
    b"`ifndef\tYOSYS": "YOSYS",
    b"`ifdef A\n`elsif VERILATOR\n`endif": "VERILATOR",
    b"x = 1; `ifdef __ICARUS__": "__ICARUS__",
    b"`define X `ifdef __slang__": "__slang__",
    b"// a\n`ifdef ALTERA_RESERVED_QIS": "ALTERA_RESERVED_QIS",
    b'"a string" `ifdef XILINX': "XILINX",
    b"/* `ifdef A */ `ifdef QUARTUS": "QUARTUS",
    b"`ifdef\nSYNTHESIS": "SYNTHESIS",
    b'\\odd"name `ifdef SYNTHESIS': "SYNTHESIS",
    b"always @(*) x = y; `ifdef SYNTHESIS": "SYNTHESIS",
    b"`ifdef /* why */ SYNTHESIS": "SYNTHESIS",
    b"`ifdef/* * */YOSYS": "YOSYS",
    b"`ifndef // why\nVERILATOR": "VERILATOR",
    b"`ifdef \\SYNTHESIS ": "SYNTHESIS",
}


@pytest.mark.parametrize("text", SEEN)
def test_macros_of_tools(text: bytes) -> None:
    assert directives_of(text).macros == {SEEN[text]}


@pytest.mark.parametrize(
    "text",
    [
        b"// `ifdef SYNTHESIS",
        b"/* `ifdef SYNTHESIS\n */",
        b'$display("`ifdef SYNTHESIS");',
        b'$display("\\"`ifdef SYNTHESIS");',
        b"`ifdef MY_WIDTH",
        b"`ifdef SYNTHESIS_DATE",
        b'x = "// synopsys translate_off";',
        b"// this is what synthesis makes of it",
        b"wire full_cases;",
        b"// the translate_offset",
        b"wire my_priority, unique_id, \\unique ;",
        b"always @( * ) x = `WIDTH;",
        b"// a unique case of priority",
    ],
)
def test_what_is_none(text: bytes) -> None:
    assert not directives_of(text)


@pytest.mark.parametrize(
    "off",
    [
        b"// synopsys translate_off", b"/* synthesis translate_off */", b"//pragma translate_off",
        b"// cadence translate_off", b"// ambit synthesis_off", b"// exemplar translate_off", b"//translate_off",
        b"//  SYNOPSYS  TRANSLATE_OFF", b"// rtl_synthesis off", b"// xilinx translate off", b"`pragma translate_off",
        b"// synthesis synthesis_off", b"// altera translate_off why not",
        b"//synthesistranslate_off", b"/*synopsystranslate_off*/", b"// ambit synthesis off",
    ],
)  # fmt: skip
def test_what_is_hidden_is_blank_for_synthesis(off: bytes) -> None:
    text = b"a\n" + off + b"\nb\n// synopsys translate_on\nc\n"
    found = as_synthesized(text, [])
    assert (found.count(b"\n"), found.split()[0], found.split()[-1]) == (text.count(b"\n"), b"a", b"c")
    assert b"\nb\n" not in found
    assert b"\nb\n" not in as_synthesized(b"a\n" + off + b"\nb\n", [])


def test_vhdl_hides_in_its_own_comments() -> None:
    text = b"x <= '1';\n-- synthesis translate_off\nx <= '0';\n-- pragma translate_on\n"
    assert b"'0'" not in as_synthesized(text, ["SYNTHESIS"], vhdl=True)
    assert not directives_of(b'x <= "-- synthesis translate_off";\n', vhdl=True)


@pytest.mark.parametrize(
    "text",
    [
        b"case (x) // synopsys full_case",
        b"(* keep, full_case *) case (x)",
        b"/* synthesis full_case */",
        b"/* synopsys xfull_case */",
        b"(* \\full_case *) case (x)",
        b"priority case (x)",
        b"priority\ncasez (x)",
    ],
)
def test_cases(text: bytes) -> None:
    assert directives_of(text).cases


def test_comments_on_cases_are_given_the_form_that_yosys_knows() -> None:
    text = b"case (x) // cadence full_case\n"
    assert as_synthesized(text, ["YOSYS"]) == b"`define YOSYS 1\ncase (x) /* synopsys full_case */\n"


def test_what_nothing_here_can_follow() -> None:
    assert directives_of(b"// synthesis read_comments_as_HDL on").others == {"read_comments_as_hdl"}
    assert directives_of(b"(* full_case, parallel_case *) case (x)").others == {"parallel_case"}
    assert list(told(directives_of(b"(* syn_black_box *) module x;"))) == ["has syn_black_box"]


REFUSED = {
    b"unique case (x)": "unique",
    b"unique0 case (x)": "unique0",
    b"unique/**/if (x)": "unique",
    b"priority if (x)": "priority",
    b"`define P priority\n`P case (x)": "priority",
    b"priority /* or not */ case (x)": "priority",
    b"(* \\parallel_case *) case (x)": "parallel_case",
    b"(* whitebox *) module x;": "whitebox",
    b'(* ram_init_file = "x.mif" *) reg x;': "ram_init_file",
    b'reg x /* synthesis ram_init_file = "x.mif" */;': "ram_init_file",
    b"(* `J(full_,case) *) case (x)": "",
    b"(* keep = 1,\n`ifdef A\n x `endif *) reg x;": "",
    b"`define J(a, b) a``b": "",
    b"// see: please do translate_off": "translate_off",
    b"// synthesis translate_off\nx": "translate_off",
    b"// a translate_off\n`ifdef A\n// a translate_on\n`endif\n// a translate_on": "translate_off",
    b"`define A x \\\n/* a translate_off */ y\n// a translate_on": "translate_off",
    b'// a translate_off\n"/* a translate_on */"\n// a translate_on': "translate_on",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_nobody_can_decide(text: bytes) -> None:
    found = directives_of(text).others
    assert any(REFUSED[text] in one for one in found)
    as_recorded(", ".join(sorted(found)))


@pytest.mark.parametrize(
    ("off", "on", "number"),
    [
        (b"// synthesis translate_off", b"// exemplar translate_on", 2),
        (b"// synopsys translate_off", b"// SYNOPSYS translate_on", 2),
        (b"// synopsys translate_off", b"// synopsys translate_on again", 2),
        (b"// synthesis translate_off", b"// synthesis translate on", 2),
        (b"//synthesistranslate_off\r", b"/* synthesis\ttranslate_on */", 1),
    ],
)
def test_marks_that_not_every_tool_obeys_alike(off: bytes, on: bytes, number: int) -> None:
    found = directives_of(off + b"\nx\n" + on + b"\n")
    assert (len(found.marks), found.others) == (number, frozenset())
    alike = list(told(replace(found, marks=frozenset())))
    assert (list(told(found)) != alike) == (number > 1)


@pytest.mark.parametrize(
    ("text", "sets"),
    [
        (b"", []),
        (b"`ifdef MINE", []),
        (b"`ifdef SYNTHESIS", [("SYNTHESIS",)]),
        (b"`ifdef YOSYS", [("YOSYS",)]),
        (b"`ifdef VERILATOR", [()]),
        (b"`ifdef YOSYS\n`elsif SYNTHESIS", [("SYNTHESIS",), ("SYNTHESIS", "YOSYS")]),
        (b"// synopsys translate_off", [()]),
        (b"`ifdef XILINX\n`ifdef ALTERA", [("ALTERA",), ("XILINX",)]),
    ],
)
def test_readings(text: bytes, sets: list[tuple[str, ...]]) -> None:
    found = [directives_of(text), Directives()]
    # A tool that defines none of the macros reads what simulators read.
    assert [one for one in readings(found) if one or () in sets] == sets


@pytest.mark.parametrize(
    "text",
    [
        b"(* " * 40000, b"/* " * 40000, b'"' * 100001, b"`ifdef " * 20000, b"\\" * 100000, b"`ifdef /* " * 20000,
        b"/*translate_off*/" * 20000, b"`define a " * 20000, b"`ifdef /* */ " * 20000, b"( " * 50000,
    ],
)  # fmt: skip
def test_hostile_texts_take_no_time(text: bytes) -> None:
    begin = time.process_time()
    directives_of(text)
    assert time.process_time() - begin < 3
