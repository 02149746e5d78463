"""Text and declarations that tools read differently are refused, with the place."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.said import as_recorded, raises

from dais_verif.base.errors import InputError
from dais_verif.prover import slang

HEAD = "module model(input [3:0] a, output [7:0] y);\n"
REFUSED = {
    "a line number as a value": ("assign y = a + `__LINE__;", "`__LINE__ is a value"),
    "a line number in a macro": ("`define AT (`__LINE__ - 2)\nassign y = a + `AT;", "`__LINE__ is a value"),
    "a file name as a value": ("localparam [7:0] K = `__FILE__; assign y = a + K;", "`__FILE__ is a value"),
    "a lone carriage return in a comment": ("// one\rassign y = a;\nassign y = a + 1;", "m.sv:2: "),
    "a form feed in a comment": ("// one\fassign y = a;\nassign y = a + 1;", "m.sv:2: "),
    "ones without a width": ("localparam K = '1; assign y = a + K;", "'K'"),
    "zeros of no width in a package": ("import p::K; assign y = {a, K};", "'K'"),
}
READ = {
    "a place that is printed": 'assign y = a; initial $display("%s %d", `__FILE__, (`__LINE__));',
    "lines of DOS": "// one\r\nassign y = a;\r\n",
    "a carriage return elsewhere": "/* one\r two */ assign\ry = a;",
    "ones with a width": "localparam [7:0] K = '1; localparam L = 8'd3; assign y = (a + K) & '1;",
}


def _read(body: str, folder: Path) -> None:
    path = folder / "m.sv"
    package = "package p; localparam K = '0; endpackage " if "p::" in body else ""
    path.write_bytes(f"{package}{HEAD}{body}\nendmodule\n".encode())
    slang.elaborate([path], "model")


@pytest.mark.parametrize("name", REFUSED)
def test_what_tools_read_differently_is_refused(name: str, tmp_path: Path) -> None:
    body, words = REFUSED[name]
    with raises(InputError, match=r"m\.sv:[12]: ") as error:
        _read(body, tmp_path)
    assert words in str(error.value)
    as_recorded(error.value)


@pytest.mark.parametrize("name", READ)
def test_what_all_tools_read_alike_is_read(name: str, tmp_path: Path) -> None:
    _read(READ[name], tmp_path)
