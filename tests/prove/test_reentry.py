"""Static subroutines that are called while they run share their variables, and are refused by every front end."""

from __future__ import annotations

from pathlib import Path

import pytest
from prove.door import run_prove
from support.adder import ADDER
from support.said import as_recorded

from dais_verif.base.errors import InputError
from dais_verif.prover import slang

BODY = "begin t = v; r = 0; if (again) r = {}(1'b0, v + 5'd1); {} = t; end endfunction"
LOCALS = "input again, input [4:0] v); reg [4:0] t, r;"
PORTS = (
    "module model(input [7:0] model_inp, output reg [4:0] model_out); wire [4:0] s = model_inp[3:0] + model_inp[7:4];"
)
USED = "always @* model_out = {}(model_inp == 8'hA5, s); endmodule"
STATIC = f"function [4:0] f({LOCALS} " + BODY.format("f", "f")
AUTOMATIC = STATIC.replace("function [4", "function automatic [4")
#: Texts, each with the line of the call that is made while the subroutine runs.
REFUSED = {
    "recursion": (f"{PORTS}\n{STATIC}\n{USED.format('f')}", 2),
    "mutual recursion": (
        f"{PORTS}\nfunction [4:0] f({LOCALS} {BODY.format('g', 'f')}\n"
        f"function automatic [4:0] g(input again, input [4:0] v); g = f(again, v); endfunction\n{USED.format('f')}",
        3,
    ),
    "in a package": (f"package p;\n{STATIC}\nendpackage\n{PORTS}\n{USED.format('p::f')}", 2),
    "in an interface": (
        f"interface i;\n{STATIC}\nendinterface\n{PORTS}\ni u();\n{USED.format('u.f')}",
        2,
    ),
    "in a constant": (
        f"{PORTS}\n{STATIC}\nlocalparam [4:0] K = f(1'b1, 5'd0);\nalways @* model_out = s + K; endmodule",
        2,
    ),
    "a static local of a named block": (
        f"{PORTS}\nfunction automatic [4:0] f(input again, input [4:0] v); reg [4:0] r; begin : b static reg [4:0] t;\n"
        f"t = v; r = 0; if (again) r = f(1'b0, v + 5'd1); f = t; end endfunction\n{USED.format('f')}",
        3,
    ),
    "a task in a loop": (
        f"{PORTS}\ntask t(input [4:0] v, output [4:0] y); integer k; reg [4:0] q; begin y = v;\n"
        "for (k = 0; k < 1; k = k + 1) if (v == 9) t(5'd1, q); end endtask\n"
        "always @* t(s, model_out); endmodule",
        3,
    ),
}
READ = {
    "recursion of an automatic function": f"{PORTS}\n{AUTOMATIC}\n{USED.format('f')}",
    "a call in its own argument": f"{PORTS} function [4:0] f(input [4:0] a); reg [4:0] t; begin t = ~a; f = t; end\n"
    "endfunction always @* model_out = f(f(s)); endmodule",
}


def _read(text: str, folder: Path) -> None:
    path = folder / "design.sv"
    path.write_text(text)
    slang.elaborate([path], "model")


@pytest.mark.parametrize("name", REFUSED)
def test_a_static_subroutine_must_not_be_entered_again(name: str, tmp_path: Path) -> None:
    text, line = REFUSED[name]
    with pytest.raises(InputError, match=rf"design\.sv:{line}: '[ft]'"):
        _read(text, tmp_path)


@pytest.mark.parametrize("name", READ)
def test_automatic_and_nested_calls_are_read(name: str, tmp_path: Path) -> None:
    _read(READ[name], tmp_path)


@pytest.mark.parametrize("front_end", ["slang", "yosys", "available"])
def test_every_front_end_refuses_it(front_end: str, tmp_path: Path) -> None:
    run = run_prove(ADDER, tmp_path, "--front-end", front_end, rtl=REFUSED["recursion"][0])
    assert run.ending[0] == "INVALID_INPUT" and "design.v:2: 'f'" in run.stderr
    as_recorded(run.stderr)
