"""The table of knobs: the built-in one is that of HPVM's runtime, and a user's table is checked when it is read."""

from __future__ import annotations

from decimal import Decimal

import pytest
from support.places import HPVM
from support.said import as_recorded, raises

from dais_verif.base.errors import InputError
from dais_verif.compile import approximation as approx
from dais_verif.compile.approximation.knob_file import parse_knobs
from dais_verif.compile.approximation.knobs import SUPPORTED

TABLE = HPVM / "global_knobs.txt"
GOOD = b"perf,170\t1,5,4\t1.25\ttensorConvolution\ttensorConvApprox\tdev\tconv\n"


def test_what_is_built_in_is_what_the_runtime_ships() -> None:
    assert approx.read_knobs(TABLE) == approx.KNOBS and len(approx.KNOBS) == 69


def test_there_are_56_knobs_that_can_be_applied() -> None:
    found = {number for number, knob in approx.KNOBS.items() if knob.approximation in SUPPORTED}
    numbers = {11, 12, *range(121, 139), *range(151, 169), *range(231, 240), *range(261, 270)}
    assert found == numbers and len(numbers) == 56
    for number in numbers - {11, 12}:
        knob = approx.KNOBS[number]
        other = approx.KNOBS[number - 30 if knob.half else number + 30]
        assert (other.axis, other.period, other.offset) == (knob.axis, knob.period, knob.offset)
        assert other.half is not knob.half and 0 <= knob.offset < knob.period


def test_a_knob_says_what_it_does() -> None:
    words = {number: approx.KNOBS[number].words for number in (11, 123, 157, 269)}
    assert words == {
        11: "single precision",
        123: "skips 1 row of 2 from 0 on",
        157: "skips 1 column of 3 from 2 on, half precision",
        269: "skips 1 filter element of 4 from 3 on, half precision",
    }


def test_the_name_of_a_precision_counts_not_its_number() -> None:
    assert approx.Op("conv", "fp16", 11).applied().number == 12
    assert approx.Op("conv", "fp32", 12).applied().number == approx.Op("add", "fp32", 1).applied().number == 11
    assert approx.Op("conv", "samp", 231).applied() == approx.KNOBS[231]
    with raises(InputError):
        approx.Op("pool_mean", "red_samp", 41).applied()


def test_a_table_of_ones_own() -> None:
    knobs = parse_knobs(GOOD)
    assert knobs == {170: approx.Knob(170, "perf", Decimal("1.25"), "columns", 5, 4)}
    data = b"0.0\n+++++\nc 1 1 90 0\n1 gpu conv perf 170 add fp32 11\n-----\n"
    file = approx.parse(data, knobs=knobs)
    assert [op.applied(file.knobs).number for op in file.configurations[0].nodes[0].ops] == [170, 11]
    with raises(approx.ConfigurationError):
        approx.parse(data)
    with raises(approx.ConfigurationError):
        approx.parse(data.replace(b"170", b"121"), knobs=knobs)


WRONG = {
    "nothing": (b"\n", None, None, "'knobs.txt':"),
    "few-columns": (b"perf,121\t1,2,0\t2.0\n", 1, None, "operation (column 4) is missing"),
    "many-columns": (GOOD.replace(b"\tconv\n", b"\tconv\tmore\n"), 1, "more", "7 columns"),
    "no-number": (GOOD.replace(b"perf,170", b"perf"), 1, "perf", "'knobs.txt', line 1, token 'perf': expected"),
    "name": (GOOD.replace(b"perf,", b"prune,"), 1, "prune", "unknown approximation"),
    "speedup": (GOOD.replace(b"1.25", b"fast"), 1, "fast", "number: speedup"),
    "speedup-zero": (GOOD.replace(b"1.25", b"0"), 1, "0", "'knobs.txt', line 1, token '0': speedup"),
    "both-axes": (GOOD.replace(b"1,5,4", b"2,2,0"), 1, "2,2,0", "expected period,1,offset"),
    "no-axis": (GOOD.replace(b"1,5,4", b"1,1,0"), 1, "1,1,0", "expected period,1,offset"),
    "period-zero": (GOOD.replace(b"1,5,4", b"1,0,0"), 1, "1,0,0", "'knobs.txt', line 1, token '1,0,0':"),
    "offset": (GOOD.replace(b"1,5,4", b"1,5,5"), 1, "1,5,5", "'knobs.txt', line 1, token '1,5,5':"),
    "interpolation": (
        GOOD.replace(b"perf", b"samp").replace(b"1,5,4", b"5,4,2"),
        1,
        "5,4,2",
        "expected period,offset,1",
    ),
    "parameters": (GOOD.replace(b"perf", b"fp32"), 1, "1,5,4", "fp32"),
    "stage": (GOOD.replace(b"dev", b"test"), 1, "test", "'knobs.txt', line 1, token 'test': expected"),
    "class": (GOOD.replace(b"\tconv\n", b"\tfc\n"), 1, "fc", "'knobs.txt', line 1, token 'fc': expected"),
    "twice": (GOOD + b"\n" + GOOD, 3, "perf,170", "knob 170"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_told_with_its_place(name: str) -> None:
    data, line, token, words = WRONG[name]
    with pytest.raises(approx.ConfigurationError) as caught:
        parse_knobs(data, "knobs.txt")
    assert (caught.value.line, caught.value.token) == (line, token) and words in str(caught.value)
    as_recorded(caught.value)
