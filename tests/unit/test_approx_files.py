"""Files of approximation configurations: real files come back byte for byte, malformed ones give a specific error."""

from __future__ import annotations

import copy
import os
import pickle
import re
from dataclasses import replace
from pathlib import Path

import pytest
from support.places import HPVM
from support.said import raises

import dais_verif
from dais_verif import approx
from dais_verif.approx.places import MOST_NOTICES
from dais_verif.approx.reader import MOST_BYTES
from dais_verif.errors import InputError

REAL = sorted(path for path in HPVM.glob("*.txt") if path.name != "global_knobs.txt")
BAD = sorted((HPVM / "bad").glob("*.txt"))

#: The form of HPVM's documentation: no baseline, and no names of approximations.
BARE = b"+++++\nconf0 1.0 0 90.5 0\n1 gpu conv 151 add 12 relu 11\n2 cpu conv 121\n-----\n"


def text_of(*nodes: str, header: str = "c 1.5 1.0 90.0 0.0", baseline: str = "0.0\n") -> bytes:
    lines = nodes or ("1 gpu conv fp32 11",)
    return "\n".join([f"{baseline}+++++", header, *lines, "-----", ""]).encode()


def names(paths: list[Path]) -> list[str]:
    return [path.stem for path in paths]


def test_there_are_real_files_and_bad_ones() -> None:
    assert len(REAL) == 9 and len(BAD) == 15


@pytest.mark.parametrize("path", REAL, ids=names(REAL))
def test_a_real_file_comes_back_byte_for_byte(path: Path, tmp_path: Path) -> None:
    file = approx.read(path)
    data = path.read_bytes()
    approx.write(file, tmp_path / "same.txt")
    assert (tmp_path / "same.txt").read_bytes() == data
    assert approx.text_of(approx.normal(file)).encode() == data, "the tuner's form is the normal one"
    again = approx.parse(approx.text_of(replace(file, text=None)).encode())
    assert again.configurations == file.configurations and again.baseline == file.baseline


@pytest.mark.parametrize("path", REAL, ids=names(REAL))
def test_a_real_file_deserves_its_notices(path: Path) -> None:
    """The only notice that real files cause is the one about ``fp16`` with the number of ``fp32``."""
    file = approx.read(path)
    odd = len(re.findall(rb" fp16 11\b", path.read_bytes()))
    assert [notice.token for notice in file.notices] == ["11"] * odd
    lines = path.read_text().split("\n")
    assert all(" fp16 11" in lines[notice.line - 1] for notice in file.notices)
    if odd:
        with raises(approx.ConfigurationError):
            approx.read(path, strict=True)
    else:
        assert approx.read(path, strict=True) == file


def test_all_real_files_have_the_nodes_that_they_have() -> None:
    files = [approx.read(path) for path in REAL]
    configurations = [one for file in files for one in file.configurations]
    assert (len(configurations), sum(len(one.nodes) for one in configurations)) == (279, 6788)
    ops = [op for one in configurations for node in one.nodes for op in node.ops]
    assert sum(op.approximation.startswith(("perf", "samp")) for op in ops) == 1558


def test_what_is_read_can_be_looked_at() -> None:
    file = approx.read(HPVM / "honk_best.txt")
    assert file.baseline == 0.0 and len(file.configurations) == 51
    one = file["conf1"]
    assert (one.name, one.speedup, one.energy, one.accuracy) == ("conf1", 1.526288418992887, 1.0, 10.01)
    assert one.loss < 0 and one.loss.text == "-0.02999999999999936" and len(one.extra) == 39 and one.line == 10
    node = one.nodes[1]
    assert (node.id, node.device, node.line) == (2, "gpu", 12)
    assert [(op.op, op.approximation, op.knob) for op in node.ops] == [
        ("conv", "perf_fp16", 160),
        ("add", "fp32", 11),
        ("relu", "fp16", 12),
        ("pool_max", "fp16", 12),
    ]
    with raises(InputError):
        file["conf99"]
    assert pickle.loads(pickle.dumps(file)) == copy.deepcopy(file) == file


@pytest.mark.parametrize("path", BAD, ids=names(BAD))
def test_a_malformed_file_is_told_with_its_place(path: Path) -> None:
    """The error names the line and the token that the ``.why`` file beside it states."""
    why = path.with_suffix(".why").read_text()
    line, token = re.search(r"line (\d+)", why), re.search(r"token '([^']+)'", why)
    with pytest.raises(approx.ConfigurationError) as caught:
        approx.read(path, strict=True)
    said = str(caught.value)
    assert caught.value.line == (int(line[1]) if line else None) and caught.value.token == (token[1] if token else None)
    assert "\n" not in said and said.startswith(f"{str(path)!r}{f', line {line[1]}' if line else ''}")
    if "a warning may do" in why:
        assert approx.read(path).warnings == [said.removeprefix(f"{str(path)!r}, ")]
    else:
        with pytest.raises(approx.ConfigurationError):
            approx.read(path)


#: The malformed file, line and token of the error, and words of its reason.
WRONG: dict[str, tuple[bytes, int | None, str | None, str]] = {
    "nothing": (b"", None, None, "contains no configurations"),
    "baseline-alone": (b"1.0\n", None, None, "contains no configurations"),
    "baseline-text": (b"fast\n+++++\n", 1, "fast", "a file begins with the time of the baseline"),
    "baseline-negative": (text_of(baseline="-1\n"), 1, "-1", "must be 0 or more"),
    "baseline-more": (text_of(baseline="1.0 ms\n"), 1, "ms", "must be alone"),
    "node-first": (b"0.0\n1 gpu conv fp32 11\n", 2, "1", "a node before any header"),
    "text-between": (text_of() + b"hello\n", 6, "hello", "outside of a configuration"),
    "end-first": (b"0.0\n-----\n", 2, "-----", "no configuration to end"),
    "begin-with-more": (b"0.0\n+++++ c\n", 2, "c", "must be alone"),
    "end-with-more": (text_of().replace(b"-----", b"----- c"), 5, "c", "must be alone"),
    "begin-twice": (b"0.0\n+++++\n+++++\n", 3, "+++++", "the header of the configuration begun on line 2 is missing"),
    "begin-end": (b"0.0\n+++++\n-----\n", 3, "-----", "the header of the configuration begun on line 2 is missing"),
    "begin-alone": (b"0.0\n+++++\n", 2, "+++++", "the header of a configuration must follow"),
    "no-nodes": (b"0.0\n+++++\nc 1 1 90 0\n-----\n", 4, "-----", "configuration 'c' has no node"),
    "end-missing": (text_of().replace(b"-----\n", b"") + text_of(baseline=""), 5, "+++++", "'-----' is missing before"),
    "end-of-file": (text_of().replace(b"-----\n", b""), 4, None, "ends inside configuration 'c' (begun on line 2)"),
    "too-few-columns": (text_of(header="c 1.0"), 3, None, "energy (third column) is missing"),
    "trailing-text": (text_of(header="c 1.5x 1 90 0"), 3, "1.5x", "speedup (second column)"),
    "infinite": (text_of(header="c 1 1 90 -inf"), 3, "-inf", "not a finite number"),
    "beyond-float64": (text_of(header="c 1 1 9e999 0"), 3, "9e999", "not a finite number"),
    "speedup-zero": (text_of(header="c 0.0 1 90 0"), 3, "0.0", "must be more than 0"),
    "energy-negative": (text_of(header="c 1 -1 90 0"), 3, "-1", "must be 0 or more"),
    "extra-text": (text_of(header="c 1 1 90 0 1 x"), 3, "x", "column 7"),
    "name-unprintable": (text_of(header="c\x1b 1 1 90 0"), 3, "c\x1b", "must be printable"),
    "name-long": (text_of(header=f"{'c' * 101} 1 1 90 0"), 3, "c" * 101, "of at most 100 characters"),
    "node-text": (text_of("one gpu conv fp32 11"), 4, "one", "expected the number of a node"),
    "node-negative": (text_of("-1 gpu conv fp32 11"), 4, "-1", "expected the number of a node"),
    "node-alone": (text_of("1"), 4, "1", "has a device (gpu or cpu) and operations"),
    "no-ops": (text_of("1 gpu"), 4, "gpu", "node 1 has no operation"),
    "op-alone": (text_of("1 gpu conv fp32 11 add"), 4, "add", "op 'add' has no approximation"),
    "op-without": (text_of("1 gpu conv add fp32 11"), 4, "conv", "op 'conv' has no approximation before 'add'"),
    "two-approximations": (text_of("1 gpu conv fp32 11 fp16 12"), 4, "fp16", "one approximation and one knob"),
    "op-unknown-later": (text_of("1 gpu conv fp32 11 convolve fp32 11"), 4, "convolve", "unknown operation; known are"),
    "no-op": (text_of("1 gpu fp32 11"), 4, "fp32", "unknown operation; known are"),
    "knob-text": (text_of("1 gpu conv fp32 eleven"), 4, "eleven", "expected the number of a knob after 'fp32'"),
    "knob-padded": (text_of("1 gpu conv fp32 011"), 4, "011", "expected the number of a knob"),
    "knob-unknown": (text_of("1 gpu conv samp 240"), 4, "240", "no such knob; samp has 231 to 239"),
    "knob-of-fp32": (text_of("1 gpu conv fp32 121"), 4, "121", "knob 121 is perf (perforation), not fp32"),
    "sampling-of-mul": (text_of("1 gpu mul samp 231"), 4, "231", "sampling is for conv only, not for mul"),
    "group-conv": (text_of("1 gpu group_conv perf 121"), 4, "121", "perforation is for conv only, not for group_conv"),
    "cpu-half": (text_of("1 cpu conv perf_fp16 151"), 4, "perf_fp16", "device cpu has fp32, perf, samp only"),
    "cpu-half-bare": (text_of("1 cpu conv 151"), 4, "151", "device cpu has fp32, perf, samp only, not perf_fp16"),
    "bare-unknown": (text_of("1 gpu conv 999"), 4, "999", "no such knob"),
    "bare-unset": (text_of("1 gpu conv 1"), 4, "1", "needs fp32 or fp16 before it"),
    "analog": (text_of("1 gpu conv swing_level 3"), 4, "swing_level", "not swing_level"),
    "reduction-of-conv": (text_of("1 gpu conv red_samp 41"), 4, "41", "is for pool_max, pool_mean, pool_min"),
    "bytes-late": (b"\n0.0\n+++++\n\xff", 4, None, "byte 0xff is not text"),
    "bytes": (b"0.0\n+++++\n\xff\xfe\n", 3, None, "byte 0xff is not text"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_told_with_its_place(name: str) -> None:
    data, line, token, words = WRONG[name]
    with pytest.raises(approx.ConfigurationError) as caught:
        approx.parse(data, "confs.txt")
    assert (caught.value.line, caught.value.token) == (line, token), caught.value
    assert words in str(caught.value) and "\n" not in str(caught.value) and len(str(caught.value)) < 400


#: The unusual file, which is accepted with a notice and refused with ``strict``, and line and reason of the notice.
ODD: dict[str, tuple[bytes, int, str]] = {
    "blank": (text_of("1 gpu conv fp32 11", "", "2 gpu add fp32 1"), 5, "blank line"),
    "blank-begin": (b"\n" + text_of(), 1, "blank line"),
    "tab": (text_of("1\tgpu conv fp32 11"), 4, "tabs or carriage returns"),
    "carriage-return": (text_of().replace(b"\n", b"\r\n"), 1, "tabs or carriage returns"),
    "fp16-11": (text_of("1 gpu conv fp16 11"), 4, "HPVM's runtime uses the name, 'fp16'"),
    "fp32-12": (text_of("1 gpu add fp32 12"), 4, "HPVM's runtime uses the name, 'fp32'"),
    "unset-conv": (text_of("1 gpu conv fp32 1"), 4, "a conv whose knob is not set"),
    "reduction": (text_of("1 gpu pool_mean red_samp 42"), 4, "can be read, but not applied"),
    "sum": (
        text_of() + text_of(header="d 2 1 89 0.5", baseline=""),
        7,
        "add up to 89.5, not to the first accuracy, 90",
    ),
    "sum-first": (text_of(header="c 1 1 90 1"), 3, "add up to 91, not to the first accuracy, 90"),
}


@pytest.mark.parametrize("name", ODD)
def test_what_is_odd_is_noticed_and_strictly_refused(name: str) -> None:
    data, line, words = ODD[name]
    file = approx.parse(data)
    assert [notice.line for notice in file.notices] == [line] and words in file.warnings[0], file.warnings
    assert approx.text_of(file).encode() == data, "what is read is written as it was"
    with pytest.raises(approx.ConfigurationError) as caught:
        approx.parse(data, strict=True)
    assert caught.value.line == line and words in str(caught.value)


def test_a_file_of_blank_lines_is_read_with_few_notices() -> None:
    file = approx.parse(text_of() + b"\n" * 100_000)
    assert len(file.notices) == MOST_NOTICES + 1
    assert file.warnings[-1] == f"line {5 + MOST_NOTICES + 1}: further problems from here on are not listed"


def test_unset_knobs_of_other_ops_are_nothing_odd() -> None:
    assert not approx.parse(text_of("1 gpu conv fp16 12 add fp32 1 relu fp16 1 softmax fp16 12")).notices


def test_the_form_without_names_is_read_and_written() -> None:
    file = approx.parse(BARE)
    assert file.baseline is None and not file.notices and approx.text_of(file).encode() == BARE
    ops = [op for node in file.configurations[0].nodes for op in node.ops]
    assert [(op.approximation, op.knob, op.named) for op in ops] == [
        ("perf_fp16", 151, False),
        ("fp16", 12, False),
        ("fp32", 11, False),
        ("perf", 121, False),
    ]
    assert approx.text_of(approx.normal(file)) == (
        "0.0\n+++++\nconf0 1.0 0 90.5 0\n"
        "1 gpu conv perf_fp16 151 add fp16 12 relu fp32 11\n2 cpu conv perf 121\n-----\n"
    )


def test_the_normal_form_has_single_blanks_and_no_blank_lines() -> None:
    odd = text_of("1  gpu conv\tfp32 11", "", " 2 gpu add fp32 1 ").replace(b"\n", b"\r\n")
    assert approx.text_of(approx.normal(approx.parse(odd))).encode() == text_of(
        "1 gpu conv fp32 11", "2 gpu add fp32 1"
    )


def test_what_says_the_same_is_equal_wherever_it_was_read() -> None:
    """File names, blanks and notices do not count when two files are compared."""
    odd = text_of("1  gpu conv fp32 11", "")
    assert approx.parse(odd, "a.txt") == approx.parse(text_of("1 gpu conv fp32 11"), "b.txt")
    assert approx.parse(odd, "a.txt") != approx.parse(text_of("1 gpu conv 11"), "a.txt")


def test_numbers_keep_their_digits_and_what_is_changed_is_written() -> None:
    file = approx.parse(text_of(header="c +1.50 1e0 .5 0 7.000"))
    one = file.configurations[0]
    assert one.speedup == 1.5 and one.speedup.text == "+1.50" and str(one.energy.exact) == "1"
    changed = replace(file, configurations=(replace(one, speedup=2),))  # type: ignore[arg-type]
    assert b"\nc 2 1e0 .5 0 7.000\n" in approx.text_of(changed).encode()
    assert f"{one.speedup:.1f} {one.speedup}" == "1.5 +1.50"
    with raises(InputError):
        replace(one, loss=float("nan"))  # type: ignore[arg-type]


def test_a_file_that_is_made_in_python_has_the_form_of_the_tuner(tmp_path: Path) -> None:
    number = approx.Number.of
    nodes = (approx.Node(1, "gpu", (approx.Op("conv", "samp", 235), approx.Op("add", "fp32", 11))),)
    one = approx.Configuration("c", number(1.33), number(1), number("90.50"), number(0.1 + 0.2), nodes, (number(7),))
    file = approx.ConfigurationFile(number("0.0"), (one,))
    approx.write(file, tmp_path / "made.txt")
    made = b"0.0\n+++++\nc 1.33 1 90.50 0.30000000000000004 7\n1 gpu conv samp 235 add fp32 11\n-----\n"
    assert (tmp_path / "made.txt").read_bytes() == made and approx.read(tmp_path / "made.txt") == file


def test_what_no_reader_would_take_is_not_written(tmp_path: Path) -> None:
    file = approx.parse(text_of())
    one = file.configurations[0]
    wrong = (approx.Node(1, "gpu", (approx.Op("relu", "perf", 121),)),)
    with raises(approx.ConfigurationError):
        approx.write(replace(file, configurations=(replace(one, nodes=wrong),)), tmp_path / "never.txt")
    for name in ("a b", "+++++", ""):
        with pytest.raises(InputError):
            approx.write(replace(file, configurations=(replace(one, name=name),)), tmp_path / "never.txt")
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read configurations"):
        approx.read(tmp_path / "nowhere.txt")
    with pytest.raises(InputError, match="cannot read configurations"):
        approx.read(tmp_path)
    (tmp_path / "sparse.txt").touch()
    os.truncate(tmp_path / "sparse.txt", MOST_BYTES + 1)
    with raises(InputError):
        approx.read(tmp_path / "sparse.txt")


def test_the_package_is_there_without_an_import_of_its_own() -> None:
    assert dais_verif.__getattr__("approx") is approx and "approx" in dir(dais_verif)
