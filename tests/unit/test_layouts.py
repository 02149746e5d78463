"""Binary layouts: what is read, what is written, and how the layout of a file is detected."""

from __future__ import annotations

import gzip
import hashlib
import struct
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from support.said import as_recorded, raises
from support.strategies import programs
from support.tier import examples

from dais_verif.base.errors import InputError, ProgramError
from dais_verif.spec.program import LAYOUTS, AssumedLayoutWarning, Program, load, read_binary, write_binary
from dais_verif.spec.program.ranges import PromiseStatus, analyse

FAST = settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])

U4 = (0, 4, 0)
INPUT = (-1, 0, -1, 0, U4)


def words(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}i", *values)


def detected(data: bytes) -> tuple[Program, bool]:
    """Read ``data`` without a layout; return the program and whether a warning said that its layout was assumed."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        program = read_binary(data)
    assert [w.category for w in caught] == [AssumedLayoutWarning] * len(caught)
    assert len(caught) == program.origin.assumed
    return program, program.origin.assumed


def small(*ops: tuple[int, int, int, int, tuple[int, int, int]], **options: object) -> Program:
    return Program.build([INPUT, *ops], [(len(ops), 0, 0)], inp_shift=[0], **options)


# the words of a file


def test_headerless_word_by_word() -> None:
    program = Program.build(
        [(-1, 1, -1, 0, (1, 3, -1)), (5, -1, -1, -2, (1, 2, 0)), (0, 0, 1, -3, (1, 6, 5))],
        [(-1, 0, 0), (2, -4, 1)],
        inp_shift=[-7, 9],
    )
    expected = words(2, 2, 3, -7, 9, -1, 2, 0, -4, 0, 1) + words(
        *(-1, 1, -1, 0, 0, 1, 3, -1),
        *(5, -1, -1, -2, -1, 1, 2, 0),
        *(0, 0, 1, -3, -1, 1, 6, 5),
    )
    assert write_binary(program, "headerless") == expected


def test_published_has_the_high_data_word_first() -> None:
    program = small((6, 0, 0, 5 << 32, U4))
    assert write_binary(program, "headerless")[-32:] == words(6, 0, 0, 0, 5, 0, 4, 0)
    assert write_binary(program, "published")[-32:] == words(6, 0, 0, 5, 0, 0, 4, 0)


def test_v1_has_two_versions_before_and_tables_after() -> None:
    program = small((8, 0, -1, 1, (1, 7, 0)), tables=[[], [-3, 100]])
    data = write_binary(program, "v1")
    assert data[:24] == words(1, 0, 1, 1, 2, 2)
    assert data[-16:] == words(0, 2, -3, 100)
    back = read_binary(data)
    assert [table.tolist() for table in back.tables] == [[], [-3, 100]]


@pytest.mark.parametrize("spec", [0, 1])
def test_v1_versions_are_kept(spec: int) -> None:
    data = words(spec, -77, 0, 0, 0, 0)
    program = read_binary(data, "v1")
    assert (program.origin.spec_version, program.origin.firmware_version) == (spec, -77)
    assert write_binary(program, "v1") == data


def test_a_program_without_anything_is_valid_in_every_layout() -> None:
    empty = Program.build([], [])
    for layout in LAYOUTS:
        back = read_binary(write_binary(empty, layout), layout)
        assert (back.n_in, back.n_out, back.n_ops, back.hash) == (0, 0, 0, empty.hash)


def test_tables_need_v1() -> None:
    program = small((8, 0, -1, 0, U4), tables=[[1] * 16])
    for layout in ("headerless", "published"):
        with raises(InputError):
            write_binary(program, layout)


def test_unknown_layout_is_refused_in_both_directions() -> None:
    with raises(InputError):
        read_binary(words(0, 0, 0), "v2")
    with raises(InputError):
        write_binary(Program.build([], []), "v2")


# round trips


@given(programs(tables=False))
@FAST
def test_reading_back_gives_the_bytes_and_the_hash_in_every_layout(case: tuple[Program, object]) -> None:
    program = case[0]
    for layout in LAYOUTS:
        data = write_binary(program, layout)
        back = read_binary(data, layout)
        assert write_binary(back, layout) == data
        assert back.hash == program.hash
        assert back.origin.layout == layout
        assert back.columns.data.tolist() == program.columns.data.tolist(), "meaningless data is kept too"


@given(programs())
@FAST
def test_tables_survive_v1(case: tuple[Program, object]) -> None:
    program = case[0]
    data = write_binary(program, "v1")
    back, assumed = detected(data)
    assert (write_binary(back, "v1"), back.hash, assumed) == (data, program.hash, False)


@given(programs(tables=False))
@FAST
def test_detection_reads_another_program_only_with_a_reason(case: tuple[Program, object]) -> None:
    """A file is read as another program only if its layout was assumed, or if the original always breaks a promise."""
    program = case[0]
    for layout in ("headerless", "published"):
        back, assumed = detected(write_binary(program, layout))
        assert (
            back.hash == program.hash
            or assumed
            or analyse(back).worst < analyse(program).worst is PromiseStatus.CERTAIN
        )


def test_hash_ignores_data_without_meaning_and_nothing_else() -> None:
    base = small((3, 0, -1, 0, U4))
    assert small((3, 0, -1, 99, U4)).hash == base.hash
    assert small((-3, 0, -1, 0, U4)).hash != base.hash
    assert small((3, 0, -1, 0, (1, 3, 0))).hash != base.hash
    shifted = Program.build([INPUT, (3, 0, -1, 0, U4)], [(1, 0, 0)], inp_shift=[1])
    negated = Program.build([INPUT, (3, 0, -1, 0, U4)], [(1, 0, 1)], inp_shift=[0])
    tabled = small((3, 0, -1, 0, U4), tables=[[1]])
    assert len({base.hash, shifted.hash, negated.hash, tabled.hash}) == 4
    assert small((3, 0, -1, 0, U4), tables=[[], [1]]).hash != tabled.hash


# detection

#: The word order can be detected: a shift of 1 is 2**32 in the other reading, beyond the limit.
SHIFT = small((0, 0, 0, 1, (0, 6, 0)))
#: Valid in both word orders: one gives condition 0 and shift 1, the other condition 1 and shift 0.
MUX = Program.build([INPUT, INPUT, (6, 0, 1, 1 << 32, U4)], [(2, 0, 0)], inp_shift=[0])
#: In the other reading, the constant is 3 * 2**32 and always breaks its promise.
CONSTANT = small((4, 0, -1, 3, (0, 5, 0)))
#: A mux as above, and a sum that can break its promise only in the reading with shift 1.
MUX_THEN_SUM = Program.build(
    [INPUT, INPUT, (6, 0, 1, 1, (0, 5, 0)), (0, 2, 2, 0, (0, 5, 0))], [(3, 0, 0)], inp_shift=[0]
)
#: A mux that may break its promise as written, and cannot break it with its words in the other order.
OTHER_MUX = Program.build(
    [(-1, 0, -1, 0, (0, 3, 0)), (-1, 1, -1, 0, (0, 3, 0)), (6, 0, 1, 1 << 32, (0, 8, 0)), (4, 2, -1, 0, (0, 3, 0))],
    [(3, 0, 0)],
    inp_shift=[0, 0],
)


@pytest.mark.parametrize("layout", ["headerless", "published"])
@pytest.mark.parametrize("program", [SHIFT, CONSTANT], ids=["validity", "certain"])
def test_word_order_is_found(program: Program, layout: str) -> None:
    """The word order is found by structural validity, or because the other reading always breaks a promise."""
    found, assumed = detected(write_binary(program, layout))
    assert (found.origin.layout, assumed, found.hash) == (layout, False, program.hash)


def test_same_meaning_in_both_orders_is_not_ambiguous() -> None:
    """Shifts 0 and -1 read the same in both word orders, and the data word of a quant has no meaning."""
    program = small((0, 0, 0, 0, (0, 5, 0)), (0, 0, 0, -1, (0, 5, 1)), (3, 0, -1, 7, U4))
    for layout in ("headerless", "published"):
        found, assumed = detected(write_binary(program, layout))
        assert (found.origin.layout, assumed, found.hash) == ("headerless", False, program.hash)


@pytest.mark.parametrize("program", [MUX, MUX_THEN_SUM, OTHER_MUX], ids=["alike", "proved", "possible"])
def test_ambiguous_is_headerless_with_one_warning(program: Program) -> None:
    """An ambiguous file is read as headerless with one warning, even if only one reading is free of violations."""
    for layout in ("headerless", "published"):
        with pytest.warns(AssumedLayoutWarning) as caught:
            found = read_binary(write_binary(program, layout))
        assert [one.filename for one in caught] == [__file__], "the caller is warned"
        as_recorded(str(caught[0].message))
        assert (found.origin.layout, found.origin.assumed) == ("headerless", True)
        assert (found.hash == program.hash) == (layout == "headerless")


def test_layout_overrides_and_is_not_assumed() -> None:
    data = write_binary(MUX, "published")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_binary(data, "published").hash == MUX.hash
        assert read_binary(data, "headerless").hash != MUX.hash
        assert not read_binary(data, "headerless").origin.assumed


QUANT_WORDS = (3, 0, -1, 0, 0, 0, 4, 0)


def both_fit(n_ops: int, low: int, high: int, *, first: int = 1) -> bytes:
    """Return a file whose words satisfy both length equations.

    Headerless or published: 1 input, 1 output, ``n_ops`` ops, of which the first is an input op with data (low, high),
    which has no meaning there. v1: spec version 1, ``n_ops`` inputs, no outputs, no ops, one table.
    """
    ops = [(-1, 0, -1, low, high, 0, 4, 0), *[QUANT_WORDS] * (n_ops - 1)]
    return words(first, 1, n_ops, 0, 0, 1, 0, *(word for op in ops for word in op))


def test_if_both_equations_hold_and_v1_is_valid_it_is_v1() -> None:
    data = both_fit(4, 28, 0)
    assert read_binary(data, "headerless").n_ops == 4
    found, assumed = detected(data)
    assert (found.origin.layout, found.n_in, [len(t) for t in found.tables], assumed) == ("v1", 4, [28], False)


def test_if_both_equations_hold_and_v1_is_not_valid_it_is_not_v1() -> None:
    """A file that fits v1 by length is not read as v1 if the data word 99999 would then be an inp_shift."""
    data = both_fit(5, 99999, 35)
    with pytest.raises(ProgramError, match="input 4: inp_shift is 99999"):
        read_binary(data, "v1")
    assert detected(data)[0].origin.layout == "headerless"


def test_if_both_equations_hold_an_unknown_spec_version_is_not_v1() -> None:
    """A file of 7 inputs and one op is not read as v1, in which it would have spec version 7 and 10 table entries."""
    data = words(7, 0, 1, 0, 0, 1, 0, 10, 0, 0, -1, 6, -1, 0, 0, 0, 4, 0)
    with raises(ProgramError):
        read_binary(data, "v1")
    found, assumed = detected(data)
    assert (found.origin.layout, found.n_in, found.n_ops, assumed) == ("headerless", 7, 1, False)


@pytest.mark.parametrize("spec", [-1, 2, 77])
def test_another_spec_version_is_refused_by_name(spec: int) -> None:
    data = words(spec, 0, 0, 0, 0, 0)
    for layout in (None, "v1"):
        with raises(ProgramError):
            read_binary(data, layout)


def test_a_file_valid_in_no_order_is_explained_as_headerless() -> None:
    data = words(1, 0, 1, 0, *(42, 0, -1, 0, 0, 0, 4, 0))
    with raises(ProgramError):
        read_binary(data)


#: Files whose length does not fit their header: layout, words, the message.
BROKEN_LENGTHS = [
    ("headerless", (), r"0 words.*3 expected"),
    ("published", (0, 0), r"2 words.*3 expected"),
    ("v1", (1, 0, 0, 0, 0), r"5 words.*6 expected"),
    ("headerless", (1, 0, 0), r"3 words.*4 expected.*1 input, 0 outputs, 0 ops"),
    ("published", (0, 1, 0, 0, 0), r"5 words.*6 expected.*0 inputs, 1 output, 0 ops"),
    ("headerless", (0, 0, 1, 5, -1, -1, 0, 0, 0, 0), r"10 words.*11 expected.*0 inputs, 0 outputs, 1 op"),
    ("v1", (1, 0, 0, 0, 0, 0, 0), r"7 words.*6 expected.*0 inputs, 0 outputs, 0 ops, 0 tables"),
    ("v1", (1, 0, 0, 0, 0, 1), r"6 words.*7 expected.*0 inputs, 0 outputs, 0 ops, 1"),
    ("v1", (1, 0, 0, 0, 0, 1, 2, 9), r"8 words.*9 expected.*0 inputs, 0 outputs, 0 ops, 1"),
    ("v1", (1, 0, 0, 0, 0, 1, -1), "0 is -1"),
    ("headerless", (-1, 0, 0), "n_in is -1"),
    ("published", (0, -2, 0), "n_out is -2"),
    ("v1", (1, 0, 0, 0, -3, 0), "n_ops is -3"),
    ("v1", (1, 0, 0, 0, 0, -4), "n_tables is -4"),
    ("headerless", (2**31 - 1, 2**31 - 1, 2**31 - 1), ""),
    ("v1", (0, 0, 2**31 - 1, 2**31 - 1, 2**31 - 1, 2**31 - 1), ""),
]


@pytest.mark.parametrize(("layout", "values", "message"), BROKEN_LENGTHS)
def test_length_equation(layout: str, values: tuple[int, ...], message: str) -> None:
    with raises(ProgramError, match=message):
        read_binary(words(*values), layout)
    with raises(ProgramError, match=message):
        read_binary(words(*values))  # the message of detection contains the reasons of both layouts


@pytest.mark.parametrize("size", [1, 2, 3, 5, 4097])
def test_length_must_be_a_multiple_of_4(size: int) -> None:
    with raises(ProgramError):
        read_binary(bytes(size))


def test_table_sizes_that_overflow_int32_together_are_refused_before_allocation() -> None:
    with pytest.raises(ProgramError, match="4294967302 expected"):
        read_binary(words(1, 0, 0, 0, 0, 2, 2**31 - 1, 2**31 - 1), "v1")


def test_a_program_of_91_or_123_inputs_is_not_taken_for_json() -> None:
    """A binary program whose first byte is ``[`` or ``{`` is not read as JSON."""
    for n_in in (91, 123, 0x5B20):
        program = Program.build([INPUT], [(0, 0, 0)], inp_shift=[0] * n_in)
        assert load_bytes(write_binary(program, "headerless")).hash == program.hash


def load_bytes(data: bytes) -> Program:
    import tempfile

    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        return load(file.name)


def test_real_programs_give_one_hash_in_every_layout(corpus: Path) -> None:
    for folder in sorted(path for path in corpus.iterdir() if path.is_dir()):
        program = load(folder / "prog.v1.bin")
        assert program.origin.layout == "v1"
        assert write_binary(program, "v1") == (folder / "prog.v1.bin").read_bytes()
        if not (folder / "prog.headerless.bin").exists():
            continue
        data = (folder / "prog.headerless.bin").read_bytes()
        headerless = load_bytes(data)
        assert (headerless.origin.layout, headerless.hash) == ("headerless", program.hash), folder.name
        assert write_binary(headerless, "headerless") == data
        published, assumed = detected(write_binary(headerless, "published"))
        assert (published.hash, assumed) == (program.hash, False), folder.name


def test_gzip_of_a_binary_is_read_in_any_layout(tmp_path: Path) -> None:
    for layout in LAYOUTS:
        data = write_binary(SHIFT, layout)
        path = tmp_path / f"{layout}.bin.gz"
        path.write_bytes(gzip.compress(data, mtime=0))
        for given_layout in (None, layout):
            program = load(path, layout=given_layout)
            assert (program.hash, program.origin.layout) == (SHIFT.hash, layout)
            assert program.origin.file_sha256 == hashlib.sha256(path.read_bytes()).hexdigest(), "of the file as it is"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (gzip.compress(bytes(64 << 20), mtime=0), "16 MiB"),
        (gzip.compress(write_binary(SHIFT, "v1"), mtime=0)[:-3], "stream"),
        (gzip.compress(b"abc", mtime=0), r"3 bytes.*4"),
        (gzip.compress(gzip.compress(write_binary(SHIFT, "v1"), mtime=0), mtime=0), ""),
    ],
    ids=["bomb", "truncated", "no program", "twice"],
)
def test_gzip_that_holds_no_binary_is_refused(data: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.bin.gz").write_bytes(data)
    with raises(ProgramError, match=message):
        load(tmp_path / "a.bin.gz")


def test_a_binary_that_begins_like_gzip_is_a_binary(tmp_path: Path) -> None:
    inputs = int.from_bytes(b"\x1f\x8b\x08\0", "little")
    path = tmp_path / "a.bin"
    path.write_bytes(words(inputs, 0, 0) + bytes(4 * inputs))
    assert load(path).n_in == inputs


def test_arrays_of_a_read_program_cannot_be_written() -> None:
    program = read_binary(write_binary(SHIFT, "headerless"))
    for array in (program.inp_shift, program.out_idx, program.columns.data):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert isinstance(program.columns.data, np.ndarray)
