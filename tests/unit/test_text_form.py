"""The text form of a program reads back to the same bytes, and every spelling means what it should."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.strategies import programs
from support.tier import examples

from dais_verif.campaigns.fuzzing.generate.random_programs import random_program
from dais_verif.spec.program import LAYOUTS, FixedType, Op, Origin, Program, assemble, load, read_binary, write_binary
from dais_verif.spec.program.listing import in_words, listing

#: The slow suite tries 10,000 more programs.
FAST = settings(max_examples=examples(80), deadline=None, suppress_health_check=[HealthCheck.too_slow])
S4 = (1, 3, 0)
#: The number of bytes from which a program counts as large.
LARGE = 60_000
INT64 = st.one_of(st.integers(-300, 300), st.integers(-(1 << 63), (1 << 63) - 1))


def there_and_back(data: bytes, layout: str) -> str:
    """Check that one binary comes back from its text unchanged, and return the text."""
    text = listing(read_binary(data, layout))
    back = assemble(text)
    assert back.origin.layout == layout
    assert write_binary(back, layout) == data
    assert listing(back) == text
    return text


# texts read back to the same bytes


@given(programs(tables=False))
@FAST
def test_a_text_assembles_to_the_identical_binary_in_every_layout(case: tuple[Program, object]) -> None:
    for layout in LAYOUTS:
        there_and_back(write_binary(case[0], layout), layout)


@given(programs(), st.integers(0, 1), st.sampled_from([0, 1, -1, 7, (1 << 31) - 1, -(1 << 31)]))
@FAST
def test_tables_and_versions_are_kept(case: tuple[Program, object], spec: int, firmware: int) -> None:
    program = replace(case[0], origin=Origin("v1", spec_version=spec, firmware_version=firmware))
    there_and_back(write_binary(program, "v1"), "v1")


@pytest.mark.parametrize("large", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["small", "large"])
def test_real_programs(large: bool, corpus: Path) -> None:
    files = [path for path in sorted(corpus.glob("*/prog.*.bin")) if (path.stat().st_size >= LARGE) == large]
    assert len(files) >= (6 if large else 14)
    for path in files:
        layout = path.name.split(".")[1]
        there_and_back(path.read_bytes(), layout)
        if layout == "headerless":
            there_and_back(write_binary(load(path, layout=layout), "published"), "published")


def test_json_is_listed_as_v1(corpus: Path) -> None:
    program = load(corpus / "p05_softmax_lut" / "da4ml.json")
    back = assemble(listing(program))
    assert back.hash == program.hash
    assert write_binary(back, "v1") == write_binary(program, "v1")


def test_a_program_without_anything() -> None:
    assert assemble("").origin.layout == "v1"
    for layout in LAYOUTS:
        text = there_and_back(write_binary(Program.build([], []), layout), layout)
        assert text.splitlines()[2:] == [f"layout {layout}"]


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(4))
def test_10_000_random_programs(chunk: int) -> None:
    for number in range(2500):
        rng = random.Random(10_000 + 2500 * chunk + number)
        program = random_program(rng, rng.randint(1, 60), widest=300)
        there_and_back(write_binary(program, "v1"), "v1")


#: The number of examples for short texts.
counted = pytest.mark.parametrize("count", [150, pytest.param(500, marks=pytest.mark.slow)])


@counted
def test_a_type_is_written_without_loss(count: int) -> None:
    """All of (k, i, f) comes back, also for a sign without bits, no fraction, or more fractional bits than bits."""

    @given(st.integers(0, 1), st.integers(0, 4096), st.integers(-4096, 4096))
    @settings(max_examples=examples(count), deadline=None)
    def comes_back(k: int, width: int, f: int) -> None:
        kind = FixedType(k, width - k - f, f)
        if abs(kind.i) <= 4096:
            assert assemble(f"a = {kind} 0").ops[0].type == kind

    comes_back()


@counted
def test_a_constant_is_written_without_loss(count: int) -> None:
    @given(INT64, st.one_of(st.integers(-20, 20), st.integers(-4000, 4000)), st.booleans())
    @settings(max_examples=examples(count), deadline=None)
    def comes_back(data: int, f: int, alone: bool) -> None:
        kind = (1, 70 - f, f)
        row = (5, -1, -1, data, kind) if alone else (4, 0, -1, data, kind)
        program = Program.build([(-1, 0, -1, 0, S4)] * (not alone) + [row], [], inp_shift=[0])
        assert assemble(listing(program)).ops == program.ops

    comes_back()


# the spelling


def test_the_whole_of_a_listing() -> None:
    program = Program.build(
        [(-1, 1, -1, 7, (1, 3, -1)), (5, -1, -1, -3, (1, 2, 1)), (0, 0, 1, -3, (1, 6, 5)), (8, 1, -1, 0, (0, 9, 0))],
        [(-1, 2, 1), (2, -4, 1)],
        inp_shift=[-7, 9],
        tables=[[], [1], list(range(18))],
    )
    text = listing(replace(program, origin=Origin("v1", spec_version=0, firmware_version=-5)))
    assert text == (
        "; 2 inputs, 2 outputs, 4 ops\n"
        f"; hash {program.hash}\n"
        "layout v1 spec 0 firmware -5\n"
        "input 0>>7\n"
        "input 1<<9\n"
        "table 0 = []\n"
        "table 1 = [1]\n"
        "table 2 = [  ; 18 entries\n"
        "    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,\n"
        "    16, 17,\n"
        "]\n"
        "%0 = s3.-1  input 1 data 0x7\n"
        "%1 = s4.1   -1.5\n"
        "%2 = s12.5  %0 + %1>>3\n"
        "%3 = u9.0   table 0[%1]\n"
        "output 0 = -0<<2  ; u0.0\n"
        "output 1 = -%2>>4  ; s13.9\n"
    )


#: An op's text, and its row: opcode, id0, id1, data. Its type is s9.2; %0 and %1 are s4.0, tables 0 and 1 hold 0.
SPELLINGS = [
    ("input 1", (-1, 1, -1, 0)),
    ("%0 + %1", (0, 0, 1, 0)),
    ("%0 + %1<<12", (0, 0, 1, 12)),
    ("%1 - %0>>3", (1, 1, 0, -3)),
    ("relu(%1)", (2, 1, -1, 0)),
    ("relu(-%1)", (-2, 1, -1, 0)),
    ("quant(%1)", (3, 1, -1, 0)),
    ("quant(-%1)", (-3, 1, -1, 0)),
    ("%1 + 0", (4, 1, -1, 0)),
    ("%1 + 1.25", (4, 1, -1, 5)),
    ("%1 - 10.5", (4, 1, -1, -42)),
    ("%0 + raw(9223372036854775807)", (4, 0, -1, (1 << 63) - 1)),
    ("%0 - 2305843009213693952", (4, 0, -1, -(1 << 63))),
    ("0", (5, -1, -1, 0)),
    ("-0.25", (5, -1, -1, -1)),
    ("3", (5, -1, -1, 12)),
    ("msb(%1) ? %0 : %1", (6, 0, 1, 1)),
    ("msb(%0) ? %1 : %1>>2", (6, 1, 1, -2 << 32)),
    ("msb(%1) ? %0 : -%1<<2", (-6, 0, 1, 2 << 32 | 1)),
    ("%0 * %1", (7, 0, 1, 0)),
    ("table 0[%1]", (8, 1, -1, 0)),
    ("table 1[%1 - 3]", (8, 1, -1, 3 << 32 | 1)),
    ("table 1[%0 + 2147483648]", (8, 0, -1, -(1 << 63) | 1)),
    ("not(%1)", (9, 1, -1, 0)),
    ("any(%1)", (9, 1, -1, 1)),
    ("all(-%1)", (-9, 1, -1, 2)),
    ("%0 and %1", (10, 0, 1, 0)),
    ("-%0 or %1<<4", (10, 0, 1, 1 << 56 | 1 << 32 | 4)),
    ("%1 xor -%0>>1", (10, 1, 0, 2 << 56 | 1 << 33 | 0xFFFF_FFFF)),
    ("-%0 and -%0", (10, 0, 0, 3 << 32)),
]


@pytest.mark.parametrize(("words", "row"), SPELLINGS)
def test_spelling_in_both_directions(words: str, row: tuple[int, int, int, int]) -> None:
    before = [(-1, 0, -1, 0, S4), (-1, 1, -1, 0, S4)]
    program = Program.build([*before, (*row, (1, 6, 2))], [], inp_shift=[0, 0], tables=[[0], [0]])
    assert in_words(program, program.ops[2]) == words
    head = "input x, y\ntable t = [0]\ntable u = [0]\na = s4.0 input x\nb = s4.0 input y\n"
    named = words.replace("%0", "a").replace("%1", "b").replace("table 0", "t").replace("table 1", "u")
    for text in (words, named, named.replace("input 1", "input y"), words.replace(" ", "")):
        if text.replace("(", " ").split()[0][:6] not in ("input1", "table0", "table1"):  # words need a space
            text = text.replace("and", " and ").replace("or", " or ").replace("x or ", " xor ")
            assert assemble(f"{head}c = s9.2 {text}").ops == program.ops, text


def test_every_opcode_is_spelt() -> None:
    from dais_verif.spec.program import OPCODES

    assert {row[0] for _, row in SPELLINGS} == {code for code, row in OPCODES.items() if not row.alir}


@pytest.mark.parametrize(
    ("data", "f", "text"),
    [
        (10, 3, "1.25"),
        (8, 3, "1"),
        (3, -4, "48"),
        (1, 16, "0.0000152587890625"),
        (1, 17, "raw(1)"),
        (1 << 20, 30, "0.0009765625"),
        (1, -66, "73786976294838206464"),
        (1, -67, "raw(1)"),
        (3, 4096, "raw(3)"),
        (3, -4000, "raw(3)"),
        (1 << 62, 4096, "raw(4611686018427387904)"),
        ((1 << 63) - 1, 3, "raw(9223372036854775807)"),
    ],
)
def test_a_constant_is_a_real_value_where_that_is_short(data: int, f: int, text: str) -> None:
    program = Program.build([(5, -1, -1, sign * data, (1, 70 - f, f)) for sign in (1, -1)], [])
    assert [in_words(program, op) for op in program.ops] == [text, f"-{text}"]


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("1.2500", 5),
        ("raw(5)", 5),
        ("raw(-5)", -5),
        ("-raw(-5)", 5),
        ("0x1F", 124),
        ("raw(0x1f)", 31),
        ("-raw(9223372036854775808)", -(1 << 63)),
        ("-0", 0),
        ("007", 28),
    ],
)
def test_other_ways_to_write_a_constant(text: str, data: int) -> None:
    assert assemble(f"a = s70.2 {text}").ops[0].data == data


def test_comments_blank_lines_and_line_ends_mean_nothing() -> None:
    plain = "layout headerless\ninput x\na = s4.0 input x\noutput 0 = a\n"
    rich = (
        "\ufeff; \N{SNOWMAN} a = b\r\n\r\n  layout\theaderless;x\r\n \tinput x ; y\r\na=s4.0 input x;\r\n\noutput 0=a"
    )
    programs = [assemble(plain), assemble(rich.encode()), assemble(plain.removesuffix("\n"))]
    assert len({write_binary(program, "headerless") for program in programs}) == 1


def test_a_table_may_be_broken_anywhere() -> None:
    program = assemble("table t = [ ; a\n\n 1\n, -\t2,;b\n3 ,\n\n] ; c\ntable 1=[0x10,]\ntable u = []")
    assert [table.tolist() for table in program.tables] == [[1, -2, 3], [16], []]


def test_names_of_different_kinds_do_not_clash() -> None:
    text = "input x\ntable x = [0]\nx = s4.0 input x\ny = s4.0 x[x]\noutput x = x\noutput y = %1"
    assert assemble(text).outputs == ((0, 0, False), (1, 0, False))


def test_a_name_may_look_like_a_type_without_its_point() -> None:
    assert assemble("s8 = s8.3 1\nu = s8.3 s8 + s8").ops[1].operands == (0, 0)


def test_kept_data_is_hexadecimal_or_signed() -> None:
    head = "a = s4.0 0\n"
    for text, data in (("0x8000000000000000", -(1 << 63)), ("-1", -1), ("18446744073709551615", -1), ("5", 5)):
        program = assemble(f"{head}b = s4.0 quant(a) data {text}")
        assert program.ops[1].data == data
        assert assemble(listing(program)).ops == program.ops


def test_in_words_leaves_out_what_has_no_meaning() -> None:
    """The words go into the Verilog, which is the same for every file of one program."""
    program = assemble("a = s4.0 0\nb = s4.0 a * a data 5")
    op: Op = program.ops[1]
    assert in_words(program, op) == "%0 * %0"


def test_the_origin_is_the_text() -> None:
    origin = assemble("layout published").origin
    assert (origin.layout, origin.assumed, len(origin.file_sha256 or "")) == ("published", False, 64)
