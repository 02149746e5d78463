"""Errors in a text are named by line and column; garbage is refused without a traceback."""

from __future__ import annotations

import random
import re
import signal
from collections import Counter

import pytest
from support.said import as_recorded
from support.tier import examples

from dais_verif.base.errors import ProgramError
from dais_verif.campaigns.fuzzing.generate.random_programs import random_program
from dais_verif.spec.program import assemble
from dais_verif.spec.program.listing import listing

#: Lines 1 and 2 of most texts below, whose own lines begin with line 3.
HEAD = "input x\na = s8.3 input x\n"

#: The text, and the line and column of the error.
WITHOUT_HEAD = [
    # the first word
    ("é = s8.3 1", "1:1"),
    ("  inptu x", "1:3"),
    ("; c\n\n\tfoo", "3:2"),
    ("1 = s8.3 1", "1:1"),
    ("s8.3 1", "1:1"),
    ("a[0] = s8.3 1", "1:1"),
    # layout
    ("layout", "1:7"),
    ("layout v2", "1:8"),
    ("layout headerles", "1:8"),
    ("layout v1 spec", "1:15"),
    ("layout v1 spec 2", "1:16"),
    ("layout v1 spec -1", "1:16"),
    ("layout v1 firmware 2147483648", "1:20"),
    ("layout v1 firmware 1 spec 1", "1:22"),
    ("layout published spec 1", "1:18"),
    ("layout headerless firmware 1", "1:19"),
    ("input x\nlayout v1", "2:1"),
    ("layout alir spec 4", "1:13"),
    (
        "layout v1\ninput x\na = s4.0 input x\nb = s9.3 sum(a, a, a)",
        "4:10",
    ),
    ("layout headerless\ninput x\na = s4.0 input x\nb = s9.3 quant(a<<1)", "4:10"),
    ("input x\na = s4.0 input x\nb = s9.3 sum(a, 1, 2)", "3:20"),
    ("input x\na = s4.0 input x\nb = s9.3 sum()", "3:14"),
    ("input x\na = s4.0 input x\nb = s9.3 sum(a, 0.5)", "3:17"),
    ("input x\na = s4.0 input x\nb = s9.3 quant(-a<<1)", "3:18"),
    ("layout v1\nlayout v1", "2:1"),
    # inputs
    ("input", "1:6"),
    ("input 1", "1:7"),
    ("input x, 0", "1:10"),
    ("input x, x", "1:10"),
    ("input x,", "1:9"),
    ("input x y", "1:9"),
    ("input relu", "1:7"),
    ("input x<<1.5", "1:10"),
    ("input x<<", "1:10"),
    ("input x>>-3", "1:10"),
    ("input x<<2147483648", "1:10"),
    ("input w,\\\nx", "1:9"),
    # tables
    ("table t [1]", "1:9"),
    ("table t = 1, 2", "1:11"),
    ("table t = [1 2]", "1:14"),
    ("table t = [1,\n2\n\n  3]", "4:3"),
    ("table t = [1,, 2]", "1:14"),
    ("table t = [0.5]", "1:12"),
    ("table t = [2147483648]", "1:12"),
    ("table t = [-2147483649]", "1:12"),
    ("table t = [1,\n\n2,", "1:11"),
    ("table t = [1] 2", "1:15"),
    ("table 1 = []", "1:7"),
    ("layout headerless\ntable t = []", "2:1"),
    # the left-hand side of an op, and its type
    ("%1 = s8.3 1", "1:1"),
    ("relu = s8.3 1", "1:1"),
    ("output = s8.3 1", "1:1"),
    ("a = s8.3 1\na = s8.3 2", "2:1"),
    ("%0 s8.3 1", "1:4"),
    ("a = 1", "1:5"),
    ("a = s8 1", "1:5"),
    ("a = s8.1.2 1", "1:5"),
    ("a = s-8.1 1", "1:5"),
    ("a = t8.1 1", "1:5"),
    # constants
    ("a = s8.3 0.1", "1:10"),
    ("a = s8.-3 -4", "1:12"),
    ("a = s8.3 1e5", "1:11"),
    ("a = s8.3 .5", "1:10"),
    ("a = s8.3 raw 5", "1:14"),
    ("a = s8.3 raw(0.5)", "1:14"),
    ("a = s8.3 9223372036854775808", "1:10"),
    ("a = s8.3 raw(9223372036854775808)", "1:10"),
    ("a = s8.3 -raw(-9223372036854775808)", "1:11"),
    ("a = s8.3 raw(9223372036854775809)", "1:14"),
    # numbers of absurd size, none of which may cost time
    (f"a = s8.3 {'9' * 65}", "1:10"),
    (f"a = s8.3 {'9' * 100_000}", "1:10"),
    (f"a = s8.3 0x{'f' * 5000}", "1:10"),
    (f"input x<<{'1' * 5000}", "1:10"),
    (f"a = s{'9' * 5000}.0 1", "1:5"),
    ("a = s8.-1234567890 1", "1:5"),
    ("a = s1.999999999 1", "1:18"),
    ("a = s1.-99999999 1", "1:18"),
    ("a = s1.999999999 0", "1:5"),
    (f"%{'9' * 5000} = s8.3 1", "1:1"),
    (f"{'b' * 9000} = s8.3 {'c' * 9000}", "1:9009"),
    # outputs
    ("output", "1:7"),
    ("output y", "1:9"),
    ("output y =", "1:11"),
    ("output y = 1", "1:12"),
    ("output y = -z", "1:13"),
    ("output y = 0\noutput y = 0", "2:8"),
    ("output 1 = 0", "1:8"),
    ("output y = 0 0", "1:14"),
]

#: The text after ``HEAD``, the line and column of the error, and parts of the message.
WITH_HEAD = [
    # values
    ("b = s9.3 a + foo", "3:14"),
    ("ab1 = s9.3 a + a\nb = s9.3 a + ab2", "4:14"),
    (
        "b = s9.3 a + cc\n\n  cc = s9.3 a + a",
        "3:14",
    ),
    ("b = s9.3 a + b", "3:14"),
    ("b = s9.3 a + %1", "3:14"),
    (f"b = s9.3 a + %{'1' * 6000}", "3:14"),
    ("b = s9.3 a + x", "3:14"),
    ("b = s9.3 a + and", "3:14"),
    ("b = s9.3 a + (a)", "3:14"),
    ("b = s9.3 %", "3:10"),
    # inputs and tables
    ("b = s9.3 input y", "3:16"),
    (
        "b = s9.3 input y\ninput y",
        "3:16",
    ),
    ("b = s9.3 input 1", "3:16"),
    ("b = s9.3 input -1", "3:16"),
    ("b = s9.3 tt[a]", "3:10"),
    ("table sine = [0]\nb = s9.3 sinus[a]", "4:10"),
    ("b = s9.3 table 0[a]", "3:16"),
    ("b = s9.3 table [a]", "3:16"),
    ("table t = [0]\nb = s9.3 t[a", "4:13"),
    ("table t = [0]\nb = s9.3 t[a - b]", "4:16"),
    ("table t = [0]\nb = s9.3 t[a + 2147483649]", "4:16"),
    ("table t = [0]\nb = s9.3 t[0]", "4:12"),
    # operators and operands
    ("b = s9.3", "3:9"),
    ("b = s9.3 a", "3:11"),
    ("b = s9.3 a / a", "3:12"),
    ("b = s9.3 a<<1", "3:11"),
    (
        "b = s9.3 -a",
        "3:10",
    ),
    ("b = s9.3 -%0 + a", "3:10"),
    (
        "b = s9.3 a + -a",
        "3:14",
    ),
    ("b = s9.3 a - -1", "3:14"),
    ("b = s9.3 a + 1<<2", "3:15"),
    ("b = s9.3 a * 3", "3:14"),
    ("b = s9.3 a * a<<1", "3:15"),
    ("b = s9.3 a and 3", "3:16"),
    ("b = s9.3 a + a + a", "3:16"),
    ("b = s9.3 a + a << b", "3:19"),
    # functions
    ("b = s9.3 quantise(a)", "3:10"),
    ("b = s9.3 max(a, 0)", "3:10"),
    ("b = s9.3 relu a", "3:15"),
    ("b = s9.3 relu(a", "3:16"),
    ("b = s9.3 any(a, a)", "3:15"),
    ("b = s9.3 msb(-a) ? a : a", "3:14"),
    ("b = s9.3 msb(a) a : a", "3:17"),
    ("b = s9.3 msb(a) ? -a : a", "3:19"),
    ("b = s9.3 msb(a) ? a, a", "3:20"),
    # kept data
    ("b = s9.3 a + a data 1", "3:16"),
    ("b = s9.3 not(a) data 1", "3:17"),
    ("b = s9.3 a * a data", "3:20"),
    ("b = s9.3 a * a data 18446744073709551616", "3:21"),
    ("b = s9.3 a * a data -9223372036854775809", "3:21"),
    # rules for programs, with the line that breaks them
    ("\nb = s5000.0 a + a", "4:5"),
    ("b = s5000.5000 a + a", "3:5"),
    ("b = u5000.4000 a + a", "3:5"),
    ("b = s9.3 a + a<<5000", "3:10"),
    ("b = s9.3 msb(a) ? a : a>>4097", "3:10"),
    ("b = s9.3 a and a<<4097", "3:10"),
    ("table t = [0, 256]\nb = s9.3 t[a]", "4:10"),
    ("input y, z>>5000", "3:10"),
    ("output y = a\noutput z = a<<4097", "4:8"),
]

CASES = [*WITHOUT_HEAD, *((HEAD + text, place) for text, place in WITH_HEAD)]


def message_of(source: str | bytes) -> str:
    with pytest.raises(ProgramError) as caught:
        assemble(source, "prog.dais")
    message = str(caught.value)
    assert "\n" not in message and len(message) < 250
    return message


@pytest.mark.parametrize(("text", "place"), CASES, ids=[text[-40:] for text, _ in CASES])
def test_line_and_column(text: str, place: str) -> None:
    message = message_of(text)
    as_recorded(message)
    assert message.startswith(f"prog.dais:{place}: ")
    assert message_of(text.replace("\n", "\r\n").encode()) == message


@pytest.mark.parametrize(
    ("data", "place", "byte"),
    [
        (b"input x\n ab\xff", "2:4", "0xff"),
        ("; \N{SNOWMAN}\0".encode(), "1:4", "0x00"),
        ("input x".encode("utf-16"), "1:1", "0xff"),
        (b"\0\xff", "1:1", "0x00"),
        (b"; caf\xe9 au lait", "1:6", "0xe9"),
    ],
)
def test_what_is_no_text(data: bytes, place: str, byte: str) -> None:
    message = message_of(data)
    assert message.startswith(f"prog.dais:{place}: ") and byte in message
    as_recorded(message)


def test_every_refusal_of_the_assembler_is_among_the_cases() -> None:
    """The cases reach every ``refuse`` and ``unexpected``, so a new message gets its line and column checked."""
    import sys

    from dais_verif.spec.program import assembler

    folder = str(assembler.__file__)
    reached: set[tuple[str, int]] = set()

    def trace(frame, event, argument):  # type: ignore[no-untyped-def]
        if not frame.f_code.co_filename.startswith(folder):
            return None
        reached.add((frame.f_code.co_filename, frame.f_lineno))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        for text, *_ in CASES:
            with pytest.raises(ProgramError):
                assemble(text)
    finally:
        sys.settrace(before)
    for path in sorted({path for path, _ in reached}):
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if re.search(r"\.(refuse|unexpected)\(", line) and "def " not in line:
                    assert (path, number) in reached, f"{path}:{number}: {line.strip()}"


# garbage

WORDS = [
    *("layout", "v1", "headerless", "spec", "firmware", "input", "table", "output", "raw", "data", "relu", "quant"),
    *("msb", "not", "any", "all", "and", "or", "xor", "a", "b", "x", "t", "%0", "%1", "%7", "s8.3", "u4.0", "s0.-3"),
    *("s99999999.0", "0", "1", "2", "1.25", "0x1f", "99999999999", "<<", ">>", "-", "+", "*", "?", ":", "=", ",", "("),
    *(")", "[", "]", ";", "\n", "\n", "\n", "\r", "\t", "é", "%", ".", "$", '"', "\\", "\x0c", "\u2028", "9" * 70),
]


def damaged(rng: random.Random, text: str) -> str:
    """Return ``text`` with a few pieces dropped, doubled, swapped or replaced by words of the language."""
    pieces = re.findall(r"\w+|\s|.", text)
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        at = rng.randrange(len(pieces) + 1)
        match rng.randrange(5):
            case 0:
                del pieces[at : at + rng.choice((1, 1, 2, 9))]
            case 1:
                pieces[at:at] = [rng.choice(WORDS)]
            case 2:
                pieces[at : at + 1] = [rng.choice(WORDS)]
            case 3:
                pieces[at:at] = pieces[at - 1 : at + 2]
            case _:
                pieces[at : at + 2] = pieces[at : at + 2][::-1]
    return "".join(pieces)


def try_garbage(count: int, number: int) -> Counter[str]:
    rng = random.Random(number)
    tally: Counter[str] = Counter()
    seeds = [listing(random_program(rng, rng.randint(1, 12))) for _ in range(50)]
    for _ in range(count):
        kind = rng.choice(("damaged", "damaged", "damaged", "words", "bytes"))
        source: str | bytes
        if kind == "damaged":
            source = damaged(rng, rng.choice(seeds))
        elif kind == "words":
            source = rng.choice(("", HEAD)) + " ".join(rng.choices(WORDS, k=rng.randint(1, 20)))
        else:
            source = bytes(rng.choices(b"ab01%=<>;s8.3 \n\t\r\xff\xc3\x00[](),-", k=rng.randint(0, 40)))
        signal.alarm(20)
        try:
            program = assemble(source)
        except ProgramError as error:
            assert re.match(r"text:\d+:\d+: ", str(error)) and "\n" not in str(error) and len(str(error)) < 250, source
            tally[f"{kind} refused"] += 1
        else:
            assert assemble(listing(program)).hash == program.hash
            tally[f"{kind} valid"] += 1
        finally:
            signal.alarm(0)
    return tally


def test_garbage_texts_are_refused_in_one_line_or_mean_something() -> None:
    count = examples(8_000)
    tally = try_garbage(count, 1)
    assert tally["damaged refused"] > count // 8 and tally["damaged valid"] > count // 27, tally
    assert tally["words refused"] > count // 16, tally


@pytest.mark.slow
@pytest.mark.parametrize("number", range(10, 18))
def test_400_000_garbage_texts(number: int) -> None:
    assert try_garbage(50_000, number)["damaged valid"] > 2000
