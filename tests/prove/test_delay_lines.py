"""Delay lines in memories with free-running pointers, and resets by registers, are proved; wrong ones are not."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from prove.door import run_prove

from dais_verif.spec.program.assembler import assemble

SAME = assemble("input a\nx = u8.0 input a\noutput s = x\n")
HEAD = "module model(input clk, rst, en, input [7:0] model_inp, output {} [7:0] model_out);\n"
PINS = ("--clock", "clk", "--reset", "rst", "--enable", "en")


def _line(
    size: int = 5,
    *,
    data: str = "model_inp",
    read: str = "p",
    registered: bool = False,
    enabled: bool = True,
    initial: bool = False,
) -> str:
    """Return a delay line of ``size`` words, written at the pointer ``p`` and read at ``read``."""
    step = f"p <= p == {size - 1} ? 0 : p + 1; mem[p] <= {data};"
    step = f"if (en) begin {step} end" if enabled else step
    run = "" if initial else "if (rst) p <= 0; else "
    out = f"always @(posedge clk) {'if (en) ' if enabled else ''}model_out <= mem[{read}];"
    return (
        HEAD.format("reg" if registered else "")
        + f"reg [7:0] mem [0:{size - 1}]; reg [3:0] p{' = 0' if initial else ''};\n"
        + f"always @(posedge clk) {run} begin {step} end\n"
        + (out if registered else f"assign model_out = mem[{read}];")
        + "\nendmodule\n"
    )


LINES = {
    "read before it is written": (_line(), "PASS", 5),
    "read into a register": (_line(registered=True), "PASS", 6),
    "without an enable": (_line(enabled=False), "PASS", 5),
    "from an initial value": (_line(initial=True), "PASS", 5),
    "read at another word": (_line(8, read="p >= 3 ? p - 3 : p + 5"), "PASS", 3),
    "another value": (_line(data="model_inp ^ 8"), "RTL_MISMATCH", 5),
    "another value in one word": (_line(data="p == 2 ? 0 : model_inp"), "INVALID_INPUT", None),
    "a word that is never written": (
        _line(read="p == 2 ? 5 : p", size=5).replace("[0:4]", "[0:5]"),
        "INVALID_INPUT",
        None,
    ),
    "words of different ages": (_line(read="p == 2 ? 3 : p"), "INVALID_INPUT", None),
    "written without the enable": (
        _line().replace("if (en) begin p <=", "mem[p] <= model_inp; if (en) begin p <="),
        "INVALID_INPUT",
        None,
    ),
}


@pytest.mark.parametrize("name", LINES)
def test_a_memory_as_a_delay_line(name: str, tmp_path: Path) -> None:
    text, verdict, latency = LINES[name]
    unused = {"without an enable": ("--enable", "en"), "from an initial value": ("--reset", "rst")}.get(name, ())
    pins = [word for word in PINS if word not in unused]
    for port in unused[1:]:
        text = text.replace(f", {port}", "")
    run = run_prove(SAME, tmp_path, *pins, "--front-end", "slang", rtl=text)
    assert run.tree["verdict"] == verdict, run.tree["message"]
    if verdict == "PASS":
        assert run.tree["timing"]["latency"] == latency


SYNCHRONISED = """module model(input clk, rst, input [7:0] model_inp, output reg [7:0] model_out);
reg [1:0] r; wire s = r[1]; reg [7:0] a, b;
always @(posedge clk or posedge rst) if (rst) r <= 3; else r <= {r[0], 1'b0};
always @(posedge clk or posedge s) if (s) model_out <= 0; else model_out <= b;
always @(posedge clk) begin a <= model_inp; b <= a; end
endmodule
"""


@pytest.mark.parametrize(
    ("edits", "verdict"),
    [
        ((), "PASS"),
        ((("b <= a", "b <= a ^ 1"),), "RTL_MISMATCH"),
        ((("1'b0}", "a[0]}"),), "INVALID_INPUT"),  # data resets
        ((("1'b0}", "1'b1}"),), "INVALID_INPUT"),  # the reset never ends
        ((("<= b;", "<= a;"),), "RTL_MISMATCH"),  # the first vector comes while it is still in reset
        ((("r[1];", "r[1] & r[0];"),), "INVALID_INPUT"),  # logic may glitch
    ],
)
def test_a_reset_synchroniser(edits: tuple[tuple[str, str], ...], verdict: str, tmp_path: Path) -> None:
    text = SYNCHRONISED
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    run = run_prove(SAME, tmp_path, "--clock", "clk", "--reset", "rst", "--front-end", "slang", rtl=text)
    assert run.tree["verdict"] == verdict, run.tree["message"]


def _random_line(rng: random.Random) -> tuple[str, str]:
    """Return a random delay line, and its verdict."""
    size, wrong = rng.randint(2, 12), rng.random() < 0.4
    back = rng.randint(1, size)
    read = "p" if back == size else f"p >= {back} ? p - {back} : p + {size - back}"
    data = f"model_inp ^ {1 << rng.randrange(8)}" if wrong else "model_inp"
    text = _line(size, data=data, read=read, registered=rng.random() < 0.5, initial=rng.random() < 0.3)
    if "= 0;" in text.split("\n")[1]:  # the reset is not needed, and may restart the pointer all the same
        text = text.replace("begin if (en)", "if (rst) p <= 0; else begin if (en)", 1)
    return text, "RTL_MISMATCH" if wrong else "PASS"


@pytest.mark.slow
def test_random_delay_lines_are_read_as_simulators_run_them(tmp_path: Path) -> None:
    rng = random.Random(41)
    for number in range(100):
        text, verdict = _random_line(rng)
        run = run_prove(SAME, tmp_path / str(number), *PINS, "--front-end", "slang", rtl=text, confirm=True)
        assert run.tree["verdict"] == verdict, (text, run.tree["message"])
