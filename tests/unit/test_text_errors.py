"""Errors in a text are named by line and column; garbage is refused without a traceback."""

from __future__ import annotations

import random
import re
import signal
from collections import Counter

import pytest
from support.tier import examples

from dais_verif.errors import ProgramError
from dais_verif.fuzzing.generate.random_programs import random_program
from dais_verif.program import assemble
from dais_verif.program.listing import listing

#: Lines 1 and 2 of most texts below, whose own lines begin with line 3.
HEAD = "input x\na = s8.3 input x\n"

#: The text, the line and column of the error, and parts of the message.
WITHOUT_HEAD = [
    # the first word
    ("é = s8.3 1", "1:1", "unexpected character 'é'; expected 'NAME = ...', 'layout', 'input', 'table', 'output'"),
    ("  inptu x", "1:3", "expected 'NAME = ...'", "found 'inptu' (did you mean 'input'?)"),
    ("; c\n\n\tfoo", "3:2", "found 'foo'"),
    ("1 = s8.3 1", "1:1", "expected 'NAME = ...'", "found '1'"),
    ("s8.3 1", "1:1", "expected 'NAME = ...'", "found 's8.3'"),
    ("a[0] = s8.3 1", "1:1", "expected 'NAME = ...'", "found 'a'"),
    # layout
    ("layout", "1:7", "expected a layout (published, headerless, v1, alir), found the end of the line"),
    ("layout v2", "1:8", "expected a layout", "found 'v2'"),
    ("layout headerles", "1:8", "(did you mean 'headerless'?)"),
    ("layout v1 spec", "1:15", "expected a number (spec version), found the end of the line"),
    ("layout v1 spec 2", "1:16", "spec version is 2, must be within 0..1"),
    ("layout v1 spec -1", "1:16", "spec version is -1, must be within 0..1"),
    ("layout v1 firmware 2147483648", "1:20", "firmware version is 2147483648, must be within -2147483648..2147483647"),
    ("layout v1 firmware 1 spec 1", "1:22", "expected the end of the line, found 'spec'"),
    ("layout published spec 1", "1:18", "the published layout has no spec version; only v1 has"),
    ("layout headerless firmware 1", "1:19", "the headerless layout has no firmware version; only v1 has"),
    ("input x\nlayout v1", "2:1", "layout must be the first statement"),
    ("layout alir spec 4", "1:13", "the alir layout has no spec version; only v1 has"),
    (
        "layout v1\ninput x\na = s4.0 input x\nb = s9.3 sum(a, a, a)",
        "4:10",
        "is an ALIR op, which the v1 layout cannot hold",
    ),
    ("layout headerless\ninput x\na = s4.0 input x\nb = s9.3 quant(a<<1)", "4:10", "write 'layout alir'"),
    ("input x\na = s4.0 input x\nb = s9.3 sum(a, 1, 2)", "3:20", "a sum has at most one constant; add them up"),
    ("input x\na = s4.0 input x\nb = s9.3 sum()", "3:14", "expected a value, found ')'"),
    ("input x\na = s4.0 input x\nb = s9.3 sum(a, 0.5)", "3:17", "constant is 0.5, must be an integer"),
    ("input x\na = s4.0 input x\nb = s9.3 quant(-a<<1)", "3:18", "expected ')', found '<<'"),
    ("layout v1\nlayout v1", "2:1", "layout must be the first statement"),
    # inputs
    ("input", "1:6", "expected a name or the number 0, found the end of the line"),
    ("input 1", "1:7", "this is input 0, not 1; numbers count from 0 in order"),
    ("input x, 0", "1:10", "this is input 1, not 0"),
    ("input x, x", "1:10", "input 'x' is already defined on line 1; choose another name"),
    ("input x,", "1:9", "expected a name or the number 1"),
    ("input x y", "1:9", "expected the end of the line, found 'y'"),
    ("input relu", "1:7", "'relu' is a keyword; choose another name for the input"),
    ("input x<<1.5", "1:10", "shift is 1.5, must be an integer"),
    ("input x<<", "1:10", "expected a number (shift), found the end of the line"),
    ("input x>>-3", "1:10", "expected a number (shift), found '-'"),
    ("input x<<2147483648", "1:10", "shift is 2147483648, must be within 0..2147483647"),
    ("input w,\\\nx", "1:9", "unexpected character '\\\\'"),
    # tables
    ("table t [1]", "1:9", "expected '=', found '['"),
    ("table t = 1, 2", "1:11", "expected '[', found '1'"),
    ("table t = [1 2]", "1:14", "expected ',' or ']', found '2'"),
    ("table t = [1,\n2\n\n  3]", "4:3", "expected ',' or ']', found '3'"),
    ("table t = [1,, 2]", "1:14", "expected a number (table entry), found ','"),
    ("table t = [0.5]", "1:12", "table entry is 0.5, must be an integer"),
    ("table t = [2147483648]", "1:12", "table entry is 2147483648, must be within -2147483648..2147483647"),
    ("table t = [-2147483649]", "1:12", "table entry is -2147483649, must be within -2147483648..2147483647"),
    ("table t = [1,\n\n2,", "1:11", "this '[' is never closed; expected ']'"),
    ("table t = [1] 2", "1:15", "expected the end of the line, found '2'"),
    ("table 1 = []", "1:7", "this is table 0, not 1"),
    ("layout headerless\ntable t = []", "2:1", "the headerless layout carries no tables; write 'layout v1'"),
    # the left-hand side of an op, and its type
    ("%1 = s8.3 1", "1:1", "this is %0, not '%1'; values count from 0 in order, or have names"),
    ("relu = s8.3 1", "1:1", "'relu' is a keyword; choose another name for the value"),
    ("output = s8.3 1", "1:1", "'output' is a keyword; choose another name for the value"),
    ("a = s8.3 1\na = s8.3 2", "2:1", "value 'a' is already defined on line 1; choose another name"),
    ("%0 s8.3 1", "1:4", "expected '=', found 's8.3'"),
    ("a = 1", "1:5", "expected a type such as s8.3 or u4.0, found '1'"),
    ("a = s8 1", "1:5", "expected a type such as s8.3 or u4.0, found 's8'"),
    ("a = s8.1.2 1", "1:5", "expected a type", "found 's8'"),
    ("a = s-8.1 1", "1:5", "expected a type", "found 's'"),
    ("a = t8.1 1", "1:5", "expected a type", "found 't8'"),
    # constants
    ("a = s8.3 0.1", "1:10", "0.1 is not a multiple of 2^-3, the step of s8.3; round it, or give steps: raw(N)"),
    ("a = s8.-3 -4", "1:12", "4 is not a multiple of 2^3, the step of s8.-3"),
    ("a = s8.3 1e5", "1:11", "expected the end of the line, found 'e5'"),
    ("a = s8.3 .5", "1:10", "unexpected character '.'; expected a value"),
    ("a = s8.3 raw 5", "1:14", "expected '(', found '5'"),
    ("a = s8.3 raw(0.5)", "1:14", "raw constant is 0.5, must be an integer"),
    ("a = s8.3 9223372036854775808", "1:10", "the constant is beyond 64 bits in steps of 2^-3, those of s8.3"),
    ("a = s8.3 raw(9223372036854775808)", "1:10", "the constant is beyond 64 bits"),
    ("a = s8.3 -raw(-9223372036854775808)", "1:11", "the constant is beyond 64 bits"),
    ("a = s8.3 raw(9223372036854775809)", "1:14", "raw constant is 9223372036854775809, must be within"),
    # numbers of absurd size, none of which may cost time
    (f"a = s8.3 {'9' * 65}", "1:10", "a number of 65 characters, must have at most 64"),
    (f"a = s8.3 {'9' * 100_000}", "1:10", "a number of 100000 characters"),
    (f"a = s8.3 0x{'f' * 5000}", "1:10", "a number of 5002 characters"),
    (f"input x<<{'1' * 5000}", "1:10", "a number of 5000 characters"),
    (f"a = s{'9' * 5000}.0 1", "1:5", "the numbers of type 's99999", "must have at most 9 characters"),
    ("a = s8.-1234567890 1", "1:5", "must have at most 9 characters"),
    ("a = s1.999999999 1", "1:18", "the constant is beyond 64 bits in steps of 2^-999999999"),
    ("a = s1.-99999999 1", "1:18", "1 is not a multiple of 2^99999999"),
    ("a = s1.999999999 0", "1:5", "op 0 (const): i (integer bits) is -999999999, must be within -4096..4096"),
    (f"%{'9' * 5000} = s8.3 1", "1:1", "this is %0, not '%99999"),
    (f"{'b' * 9000} = s8.3 {'c' * 9000}", "1:9009", "unknown value 'cccccccccccccccccccccccccccccc...'"),
    # outputs
    ("output", "1:7", "expected a name or the number 0, found the end of the line"),
    ("output y", "1:9", "expected '=', found the end of the line"),
    ("output y =", "1:11", "expected a value, found the end of the line"),
    ("output y = 1", "1:12", "an output is a value or 0, not '1'; make the constant a value first"),
    ("output y = -z", "1:13", "unknown value 'z'; values are defined before they are used"),
    ("output y = 0\noutput y = 0", "2:8", "output 'y' is already defined on line 1"),
    ("output 1 = 0", "1:8", "this is output 0, not 1"),
    ("output y = 0 0", "1:14", "expected the end of the line, found '0'"),
]

#: The text after ``HEAD``, the line and column of the error, and parts of the message.
WITH_HEAD = [
    # values
    ("b = s9.3 a + foo", "3:14", "unknown value 'foo'; values are defined before they are used"),
    ("ab1 = s9.3 a + a\nb = s9.3 a + ab2", "4:14", "unknown value 'ab2'", "(did you mean 'ab1'?)"),
    (
        "b = s9.3 a + cc\n\n  cc = s9.3 a + a",
        "3:14",
        "unknown value 'cc'; it is defined on line 5, and must be defined before",
    ),
    ("b = s9.3 a + b", "3:14", "unknown value 'b'; it is what this line defines"),
    ("b = s9.3 a + %1", "3:14", "unknown value '%1'; only values defined above can be read, here %0 to %0"),
    (f"b = s9.3 a + %{'1' * 6000}", "3:14", "unknown value '%11111"),
    ("b = s9.3 a + x", "3:14", "'x' is an input; an op reads it first: NAME = TYPE input x"),
    ("b = s9.3 a + and", "3:14", "expected a value, found 'and'"),
    ("b = s9.3 a + (a)", "3:14", "expected a value, found '('"),
    ("b = s9.3 %", "3:10", "unexpected character '%'; expected a value"),
    # inputs and tables
    ("b = s9.3 input y", "3:16", "unknown input 'y'; inputs are defined before they are used"),
    (
        "b = s9.3 input y\ninput y",
        "3:16",
        "unknown input 'y'; it is defined on line 4, and must be defined before it is used",
    ),
    ("b = s9.3 input 1", "3:16", "unknown input 1; 1 declared above, counted from 0"),
    ("b = s9.3 input -1", "3:16", "expected the name or number of an input, found '-'"),
    ("b = s9.3 tt[a]", "3:10", "unknown table 'tt'; tables are defined before they are used"),
    ("table sine = [0]\nb = s9.3 sinus[a]", "4:10", "unknown table 'sinus'", "(did you mean 'sine'?)"),
    ("b = s9.3 table 0[a]", "3:16", "unknown table 0; 0 declared above"),
    ("b = s9.3 table [a]", "3:16", "expected the name or number of a table, found '['"),
    ("table t = [0]\nb = s9.3 t[a", "4:13", "expected ']', found the end of the line"),
    ("table t = [0]\nb = s9.3 t[a - b]", "4:16", "expected a number (offset), found 'b'"),
    ("table t = [0]\nb = s9.3 t[a + 2147483649]", "4:16", "offset is 2147483649, must be within 0..2147483648"),
    ("table t = [0]\nb = s9.3 t[0]", "4:12", "expected a value, found '0'"),
    # operators and operands
    ("b = s9.3", "3:9", "expected a value, found the end of the line"),
    ("b = s9.3 a", "3:11", "expected an operator (+, -, *, and, or, xor), found the end", "for a alone write quant(a)"),
    ("b = s9.3 a / a", "3:12", "unexpected character '/'; expected an operator"),
    ("b = s9.3 a<<1", "3:11", "'<<' must follow the second operand of an op; no other operand can be shifted"),
    (
        "b = s9.3 -a",
        "3:10",
        "only 'and', 'or' and 'xor' can negate their first operand; to negate it in an op of its own, write quant(-a)",
    ),
    ("b = s9.3 -%0 + a", "3:10", "only 'and', 'or' and 'xor' can negate their first operand"),
    (
        "b = s9.3 a + -a",
        "3:14",
        "the second operand of '+' cannot have a sign of its own; use the other operator instead",
    ),
    ("b = s9.3 a - -1", "3:14", "the second operand of '-' cannot have a sign of its own"),
    ("b = s9.3 a + 1<<2", "3:15", "expected the end of the line, found '<<'"),
    ("b = s9.3 a * 3", "3:14", "expected a value, found '3'"),
    ("b = s9.3 a * a<<1", "3:15", "expected the end of the line, found '<<'"),
    ("b = s9.3 a and 3", "3:16", "expected a value, found '3'"),
    ("b = s9.3 a + a + a", "3:16", "expected the end of the line, found '+'"),
    ("b = s9.3 a + a << b", "3:19", "expected a number (shift), found 'b'"),
    # functions
    ("b = s9.3 quantise(a)", "3:10", "unknown function 'quantise'", "(did you mean 'quant'?)"),
    ("b = s9.3 max(a, 0)", "3:10", "unknown function 'max'; must be one of relu, quant, msb, sum, not, any, all"),
    ("b = s9.3 relu a", "3:15", "expected '(', found 'a'"),
    ("b = s9.3 relu(a", "3:16", "expected ')', found the end of the line"),
    ("b = s9.3 any(a, a)", "3:15", "expected ')', found ','"),
    ("b = s9.3 msb(-a) ? a : a", "3:14", "expected a value, found '-'"),
    ("b = s9.3 msb(a) a : a", "3:17", "expected '?', found 'a'"),
    ("b = s9.3 msb(a) ? -a : a", "3:19", "expected a value, found '-'"),
    ("b = s9.3 msb(a) ? a, a", "3:20", "expected ':', found ','"),
    # kept data
    ("b = s9.3 a + a data 1", "3:16", "add takes no explicit data; its data word is made from the expression"),
    ("b = s9.3 not(a) data 1", "3:17", "bit_unary takes no explicit data"),
    ("b = s9.3 a * a data", "3:20", "expected a number (data), found the end of the line"),
    ("b = s9.3 a * a data 18446744073709551616", "3:21", "data is 18446744073709551616, must be within"),
    ("b = s9.3 a * a data -9223372036854775809", "3:21", "data is -9223372036854775809, must be within"),
    # rules for programs, with the line that breaks them
    ("\nb = s5000.0 a + a", "4:5", "op 1 (add): i (integer bits) is 4999, must be within -4096..4096"),
    ("b = s5000.5000 a + a", "3:5", "op 1 (add): f (fractional bits) is 5000, must be within -4096..4096"),
    ("b = u5000.4000 a + a", "3:5", "op 1 (add): width k+i+f is 5000, must be at most 4096"),
    ("b = s9.3 a + a<<5000", "3:10", "op 1 (add): data (shift) is 5000, must be within -4096..4096"),
    ("b = s9.3 msb(a) ? a : a>>4097", "3:10", "op 1 (mux): shift (high data) is -4097, must be within"),
    ("b = s9.3 a and a<<4097", "3:10", "op 1 (bit_binary): shift (low data) is 4097, must be within"),
    ("table t = [0, 256]\nb = s9.3 t[a]", "4:10", "entry 1 of table 0 is 256, must fit the op's type s9.3 (-256..255)"),
    ("input y, z>>5000", "3:10", "input 2: inp_shift is -5000, must be within -4096..4096"),
    ("output y = a\noutput z = a<<4097", "4:8", "output 1: out_shift is 4097, must be within -4096..4096"),
]

CASES = [*WITHOUT_HEAD, *((HEAD + text, *rest) for text, *rest in WITH_HEAD)]


def message_of(source: str | bytes) -> str:
    with pytest.raises(ProgramError) as caught:
        assemble(source, "prog.dais")
    message = str(caught.value)
    assert "\n" not in message and len(message) < 250
    return message


@pytest.mark.parametrize(("text", "place", "words"), [(t, p, w) for t, p, *w in CASES], ids=[c[0][-40:] for c in CASES])
def test_line_column_and_what_is_wrong(text: str, place: str, words: list[str]) -> None:
    message = message_of(text)
    assert message.startswith(f"prog.dais:{place}: ")
    assert [word for word in words if word not in message] == [], message
    assert message_of(text.replace("\n", "\r\n").encode()) == message


@pytest.mark.parametrize(
    ("data", "place", "words"),
    [
        (b"input x\n ab\xff", "2:4", "byte 0xff is not UTF-8 text"),
        ("; \N{SNOWMAN}\0".encode(), "1:4", "byte 0x00 is not UTF-8 text; 'dais-verif show' writes a binary as text"),
        ("input x".encode("utf-16"), "1:1", "byte 0xff"),
        (b"\0\xff", "1:1", "byte 0x00"),
        (b"; caf\xe9 au lait", "1:6", "byte 0xe9"),
    ],
)
def test_what_is_no_text(data: bytes, place: str, words: str) -> None:
    message = message_of(data)
    assert message.startswith(f"prog.dais:{place}: ") and words in message


def test_every_refusal_of_the_assembler_is_among_the_cases() -> None:
    """The cases reach every ``refuse`` and ``unexpected``, so a new message gets its line and column checked."""
    import sys

    from dais_verif.program import assembler

    folder = assembler.__path__[0]
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
