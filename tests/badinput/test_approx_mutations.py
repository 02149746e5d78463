"""Damaged files of configurations and of knobs are read, or refused in one line, in little time and memory.

A file that is read is written back byte for byte and has a normal form, and all functions on configurations accept
it.
"""

from __future__ import annotations

import random
import resource
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from support.places import HPVM

from dais_verif.base.errors import InputError
from dais_verif.compile import approximation as approx
from dais_verif.compile.approximation.knob_file import parse_knobs

#: The time limit in seconds for one mutant.
PATIENCE = 20
#: Kilobytes by which all mutants together may make the process larger.
GROWTH = 64_000

TOKENS = (
    *("+++++", "-----", "conf0", "conf1", "0", "1", "2", "11", "12", "121", "151", "169", "231", "41", "-1", "0.0"),
    *("nan", "inf", "1e999", "1e-999", "1e9999999999", "9" * 400, "1.5x", "-0.5", "100.0", "0x10", "１１", "٣"),
    *("gpu", "cpu", "tpu", "conv", "add", "relu", "softmax", "pool_mean", "group_conv", "fp16", "fp32", "perf", "samp"),
    *("perf_fp16", "red_samp", "swing_level", "\t", "\r", "", "\x00", "\x1b[2J", "\u2028", "\ufeff", "a" * 5000),
)


def seeds() -> list[bytes]:
    """Return the smaller real files, the beginnings of the larger ones, malformed files, and one without names."""
    found = [b"+++++\nconf0 1.0 0 90.5 0\n1 gpu conv 151 add 12 relu 11\n2 cpu conv 121 add 11\n-----\n"]
    for path in sorted(HPVM.glob("*.txt")):
        if path.name != "global_knobs.txt":
            parts = path.read_bytes().split(b"+++++\n")
            found += [b"+++++\n".join(parts[: 1 + count]) for count in (1, 3) if len(parts[1]) < 2000]
    return found + [path.read_bytes() for path in sorted((HPVM / "bad").glob("*.txt"))]


def flip(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + bytes(byte ^ 1 << rng.randrange(8) for byte in data[at : at + 1]) + data[at + 1 :]


def insert(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.randbytes(rng.choice((1, 4, 40))) + data[at:]


def truncate(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def splice(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    other = rng.choice(others).split(b"\n")
    lines = data.split(b"\n")
    at, start = rng.randrange(len(lines) + 1), rng.randrange(len(other))
    lines[at : at + rng.randrange(3)] = other[start : start + rng.choice((1, 1, 2, 6))]
    return b"\n".join(lines)


def shuffle(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Drop or double a line, or swap two lines."""
    lines = data.split(b"\n")
    one, two = rng.randrange(len(lines)), rng.randrange(len(lines))
    if rng.random() < 0.5:
        lines[one], lines[two] = lines[two], lines[one]
    else:
        lines[one : one + 1] = [lines[one]] * rng.choice((0, 2))
    return b"\n".join(lines)


def token(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Replace, drop or double a token."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    tokens = lines[at].split(b" ")
    place = rng.randrange(len(tokens))
    other = rng.choice(TOKENS).encode()
    tokens[place : place + 1] = rng.choice(([other], [other], [other], [], [tokens[place]] * 2, [tokens[place], other]))
    lines[at] = b" ".join(tokens)
    return b"\n".join(lines)


def digit(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Replace a digit."""
    at = rng.choice([at for at, byte in enumerate(data) if chr(byte).isdigit()] or [0])
    return data[:at] + rng.choice(b"0123456789").to_bytes(1, "big") + data[at + 1 :]


def space(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Add or remove white space between tokens: blanks, blank lines, tabs, carriage returns."""
    at = rng.choice([at for at, byte in enumerate(data) if byte in b" \n"] or [0])
    more = rng.choice((b" ", b"  ", b"\t", b" \n", b"\r\n", b"\n\n", data[at : at + 1]))
    return data[:at] + more + data[at + (rng.random() < 0.8) :]


DAMAGES: tuple[Callable[[random.Random, bytes, Sequence[bytes]], bytes], ...] = (
    *(flip, insert, truncate, splice, splice, shuffle, token, token),
    *(digit, digit, digit, digit, digit, space, space, space, space),
)


def mutant(rng: random.Random, given: Sequence[bytes]) -> bytes:
    data = rng.choice(given)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        data = rng.choice(DAMAGES)(rng, data, given)
    return data


def require_one_line(error: InputError) -> None:
    said = str(error)
    assert "\n" not in said and said.isprintable() and len(said) < 600, error


def use(data: bytes) -> str:
    """Use ``data`` as a file of configurations, and return what became of it."""
    try:
        file = approx.parse(data, "mutant.txt")
    except approx.ConfigurationError as error:
        require_one_line(error)
        return "refused"
    assert approx.text_of(file).encode() == data
    normal = approx.normal(file)
    again = approx.parse(approx.text_of(normal).encode())
    assert again == normal and approx.normal(again) == again
    assert approx.pareto(file)[0] == file.configurations[0].name
    assert approx.choose(file, "1e9") is not None or min(one.loss for one in file.configurations) > 1e9
    try:
        approx.parse(data, strict=True)
    except approx.ConfigurationError as error:
        require_one_line(error)
        assert file.notices and error.line == file.notices[0].line
        return "noticed"
    return "read"


def use_knobs(data: bytes) -> str:
    """Use ``data`` as a table of knobs, and return what became of it."""
    try:
        knobs = parse_knobs(data, "mutant.txt")
    except approx.ConfigurationError as error:
        require_one_line(error)
        return "refused"
    assert all(knob.words for knob in knobs.values())
    return "read"


def expired(*_: object) -> None:
    raise TimeoutError(f"a mutant took more than {PATIENCE} s")


@pytest.fixture
def alarm() -> Iterator[None]:
    before = signal.signal(signal.SIGALRM, expired)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def try_mutants(given: Sequence[bytes], count: int, number: int, judge: Callable[[bytes], str]) -> Counter[str]:
    """Read ``count`` mutants, and count the results of ``judge``."""
    rng = random.Random(number)
    tally: Counter[str] = Counter()
    for at in range(count):
        data = mutant(rng, given)
        signal.alarm(PATIENCE)
        try:
            tally[judge(data)] += 1
        except Exception as error:
            path = Path(f"/tmp/dais-verif-approx-mutant-{number}-{at}")
            path.write_bytes(data)
            raise AssertionError(f"{type(error).__name__}: {error} (kept in {path})") from error
    return tally


def largest() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def test_mutants_of_configurations(alarm: None) -> None:
    tally = try_mutants(seeds(), 8_000, 1, use)
    assert tally["refused"] > 2_000 and tally["read"] > 400 and tally["noticed"] > 200, tally


def test_mutants_of_tables_of_knobs(alarm: None) -> None:
    lines = (HPVM / "global_knobs.txt").read_bytes().split(b"\n")
    given = [b"\n".join(lines[at : at + 8]) for at in range(0, len(lines), 4)]
    tally = try_mutants(given, 1_000, 2, use_knobs)
    assert tally["refused"] > 300 and tally["read"] > 30, tally


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(4))
def test_100_000_mutants_and_no_growth(alarm: None, chunk: int) -> None:
    given = seeds()
    try_mutants(given, 2_000, 10 + chunk, use)
    before = largest()
    tally = try_mutants(given, 25_000, 100 + chunk, use)
    assert min(tally["refused"], tally["read"], tally["noticed"]) > 500, tally
    assert largest() - before < GROWTH


@pytest.mark.slow
def test_whole_real_files_with_damages(alarm: None) -> None:
    given = [path.read_bytes() for path in sorted(HPVM.glob("*.txt")) if path.name != "global_knobs.txt"]
    tally = try_mutants(given, 1_000, 200, use)
    assert tally["refused"] > 300 and tally["read"] > 30, tally
