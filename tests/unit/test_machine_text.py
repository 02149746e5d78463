"""The text form of machines: the example of the docs computes what it says, and errors are named by their place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.machines import cycles
from support.said import as_recorded, raises

from dais_verif.base.errors import InputError, ProgramError
from dais_verif.golden import run
from dais_verif.spec.machine import Role, Schedule, load_machine, looks_like_machine, parse_machine
from dais_verif.spec.machine.text import KEYWORDS, machine_text
from dais_verif.spec.program import assemble, load, write_binary

PAGE = (Path(__file__).parents[2] / "docs" / "machines.md").read_text(encoding="utf-8")
(EXAMPLE,) = re.findall(r"^```mach\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def test_the_example_of_the_docs_adds_up_products() -> None:
    of = parse_machine(EXAMPLE.encode())
    xs = [1, 2, 0.5, -1, 3, 0, 0, 0.125]
    found = cycles(of, x=xs, rst=[0] * 8, en=[1] * 8)
    weights = [1.5, -0.75, 2, -1]
    sums = [sum(w * x for w, x in zip(weights, xs[n : n + 4], strict=True)) for n in (0, 4)]
    assert [cycle.before["y"][0] for cycle in found if cycle.before["last"] == (1,)] == sums
    held = cycles(of, x=[1, 1, 1, 1], rst=[0, 0, 1, 0], en=[1, 0, 1, 1])
    assert [cycle.before["step"][0] for cycle in held] == [0, 1, 1, 0], "neither enabled nor reset it stays"


def test_the_example_is_read_by_verbs(tmp_path: Path) -> None:
    import dais_verif

    path = tmp_path / "example.mach"
    path.write_text(EXAMPLE)
    record = dais_verif.check(path)
    assert record.machine is not None and record.machine.outputs == {"y": 1, "last": 1}
    assert record.program.layout == "mach"


def test_words_of_the_grammar_are_those_of_the_code() -> None:
    (grammar,) = re.findall(r"^```ebnf\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert set(re.findall(r'"([a-z]+)"', grammar)) == KEYWORDS


def test_a_text_is_known_by_its_first_statement() -> None:
    assert looks_like_machine(b"; comment\n\n  machine ; and more\nwire w: u1.0\n")
    assert looks_like_machine(b"\xef\xbb\xbfmachine\n")
    assert not looks_like_machine(b"machine = s4.0 1\n") and not looks_like_machine(b"machines\n")


SMALL = """machine
input a: u4.0
register n, m: u4.0[2] = [raw(3),
    2,  ; over lines
] valid 1, 3 period 8 attributes "keep; all"
output "a b": u4.0
n[0] <- a
"a b" <- n[1]
"""


def test_all_parts_of_a_declaration() -> None:
    text = SMALL.replace("keep; all", "keep\\u003b all")
    of = parse_machine(text.encode())
    signal = of.signals["m"]
    assert (signal.initial, signal.schedule, signal.attributes) == ((3, 2), Schedule((1, 3), 8), "keep; all")
    assert of.signals["a b"].role is Role.OUTPUT and of.signals["n"].types == signal.types
    assert machine_text(parse_machine(machine_text(of).encode())) == machine_text(of)


def block(text: str = "x = u4.0 input 0", file: str | None = None) -> str:
    first = (
        f'block b = "{file}"' if file else f"block b {{\n    layout v1\n    input x\n    {text}\n    output y = x\n}}"
    )
    return f"machine\ninput x: u4.0\noutput y: u4.0\n{first}\nb.in <- x\ny <- b.out\n"


def test_a_block_may_lie_in_a_file(tmp_path: Path) -> None:
    text = "input x\na = u4.0 input x\nb = u5.0 a + 1\noutput y = b\n"
    (tmp_path / "b.dais").write_text(text)
    (tmp_path / "b.bin").write_bytes(write_binary(assemble(text), "v1"))
    hashes = set()
    for file in ("b.dais", "b.bin"):
        path = tmp_path / "m.mach"
        path.write_text(block(file=file))
        of = load_machine(path)
        assert of.blocks["b"].program.hash == assemble(text).hash
        assert cycles(of, x=[3])[0].before["y"] == (4,)
        hashes.add(of.origin.file_sha256)
    path.write_text(block(file="b.dais").replace("b.in <- x", "b.x <- x").replace("b.out", "b.y"))
    assert cycles(load_machine(path), x=[3])[0].before["y"] == (4,), "by the names of its text"
    (tmp_path / "b.dais").write_text(text.replace("+ 1", "+ 2"))
    hashes |= {load_machine(path).origin.file_sha256}
    assert len(hashes) == 3, "what the files hold counts"


@pytest.mark.parametrize("file", ["/etc/passwd", "../b.dais", "no.dais"])
def test_files_of_blocks_lie_beside_the_machine(file: str, tmp_path: Path) -> None:
    (tmp_path / "m.mach").write_text(block(file=file))
    with raises((ProgramError, InputError)):
        load_machine(tmp_path / "m.mach")
    with raises(ProgramError):
        parse_machine(block(file="b.dais").encode())


HEAD = "machine\ninput a: u4.0\ninput en: u1.0\noutput y: u4.0\nregister n: u4.0 = 1\n"
WRONG = {
    "wire w: u4\n": "6:9: expected a type",
    "wire w: u4.0 = 3\n": "6:14: only a register has a value and a reset, and 'w' is not a register",
    "register a: u4.0\n": "6:10: signal 'a'",
    "register r, r: u4.0\n": "6:13: signal 'r'",
    "register r: u2.0 = 4\n": "value of type u2.0",
    "register r: u2.0[3] = [1, 2]\n": "6:23: 2 values",
    "register r: u2.0[2] = [1, 2, 3]\n": "2 elements",
    "y <- a\nregister r: u2.0[2] = [1, 2\n": "7:23:",
    "register r: u2.0, u3.0 = 1\n": "6:26: elements",
    "register r: u2.0 reset z\n": "6:24: unknown signal 'z'",
    "wire w: u5000.0\n": "6:9: type 'u5000.0':",
    "wire w: u4.0[2000000]\n": "1048576 elements",
    "wire w: u4.0 valid 3, 1 period 8\n": "6:20:",
    "wire wire: u4.0\n": "6:6: expected",
    'wire "": u4.0\n': "6:6: a name",
    'wire "\\q": u4.0\n': '6:6: \'"\\\\q"\'',
    "wier w: u4.0\n": "6:1: expected 'input', 'output', 'wire', 'register', 'block', or 'TARGET <- SOURCE', found",
    "y = a\n": "6:3: expected '<-', found '='",
    "y <- b\n": "6:6: unknown signal 'b'",
    "y <- a[1]\n": "6:6: elements 1 to 2 of a, which has 1",
    "y <- a else n\n": "6:1: connection a[0:1] -> y[0:1]:",
    "y <- n when a\n": "6:1: connection n[0:1] -> y[0:1]:",
    "y <- n[a[0:1]]\n": "6:11: expected ']', found ':'",
    "y <- a\ny <- n\n": "7:1: signal y[0] is driven",
    "wire w, v: u4.0\nw <- v\nv <- w\ny <- w\n": "w[0:1] -> v[0:1], then v[0:1] -> w[0:1]",
    "wire w: u4.0\ny <- w\n": "6:6: signal w[0]: nothing drives it",
    "y <- b.in\n": "6:6: unknown block 'b'",
    "block b {\nx = u4.0 input 0\n": "6:9:",
    "block b\n": "6:8: expected '{' and a program, or '=' and a file",
    "block b {\ninput x\nx = u4.0 2 + 2\n}\n": "8:12: expected",
    "block b {\ninput x\nx = s70.0 input x\noutput y = x\n}\nb.z <- a\n": "11:1: block b has no input 'z'",
    "block b {\ninput x>>1\nx = u4.0 input x\noutput y = x\n}\nb.x <- a\ny <- b.y\n": (
        "6:7: block b: input 0 has an inp_shift"
    ),
    "block b {\ninput x\nx = u4.0 input x\noutput y = x\n}\nwire w: u4.0\ny <- b.out\nw <- a\n": (
        "6:7: signal b.in[0]: nothing drives it"
    ),
    "block b {\n}\nblock b {\n}\n": "8:7: block 'b'",
    "y <- n when en extra\n": "line, found 'extra'",
    "y <- \u00e4\n": "6:6: unexpected character",
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_named_by_line_and_column(text: str) -> None:
    driven = "" if "y <-" in text or "y =" in text else "y <- a\n"
    with pytest.raises(ProgramError) as caught:
        parse_machine((HEAD + text + driven).encode())
    assert WRONG[text] in str(caught.value)
    as_recorded(caught.value)
    assert re.match(r"text:\d+:\d+: ", str(caught.value)) and "\n" not in str(caught.value)


def test_bytes_that_are_no_text() -> None:
    with raises(ProgramError):
        parse_machine(b"machine\n; \xff\n")


def test_a_program_says_that_it_is_a_machine(tmp_path: Path) -> None:
    path = tmp_path / "m.dais"
    path.write_text(EXAMPLE)
    with raises(ProgramError):
        load(path)
    with raises(ProgramError):
        assemble(EXAMPLE)
    assert load_machine(path).blocks["mac"].program.n_ops == 13


def test_a_block_computes_what_its_text_says() -> None:
    program = parse_machine(EXAMPLE.encode()).blocks["mac"].program
    assert run(program, [[1, 2, 0.5, 1]]).tolist() == [[2.5, 2, 0]]
