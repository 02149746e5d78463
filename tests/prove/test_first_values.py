"""A design is refused if the initial X of a register may reach an output together with a vector.

The program is the sum of two inputs of four bits. Each row is a pipeline whose outputs simulate either as that sum
from the first vector on, or as X in some bits, although the X would cancel out in arithmetic.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from prove.door import run_prove
from support.adder import ADDER
from support.adder_rtl import SUM
from support.said import as_recorded

from dais_verif.prover import proof
from dais_verif.prover.clocked.registers.first_values import _Effort

OUT = "reg [4:0] q; assign model_out = q;"
ADD = "reg [7:0] r; assign model_out = r[3:0] + r[7:4];"
X_AT_FIRST = {
    "a difference with itself": f"{ADD} always @(posedge clk) r <= model_inp + r - r;",
    "through a wire": f"{ADD} wire [7:0] w = r - r; always @(posedge clk) r <= model_inp + w;",
    "through a block": f"{ADD} reg [7:0] w; always @* begin w = r; w = w - r; end"
    " always @(posedge clk) r <= model_inp + w;",
    "through another register": f"{ADD} reg [7:0] s; always @(posedge clk) begin s <= r - r + model_inp; r <= s; end",
    "a comparison with itself": f"{ADD} always @(posedge clk) r <= r == r ? model_inp : 0;",
    "a full case": f"{ADD} always @(posedge clk) case (r[0]) 0: r <= model_inp; 1: r <= model_inp; endcase",
    "while it is enabled": f"{ADD} always @(posedge clk) if (en) r <= model_inp + r - r;",
    "a counter": f"{OUT} reg [4:0] k; always @(posedge clk) begin k <= k + 1; q <= {SUM} + k - k; end",
    "a counter with a reset": f"""{OUT} reg [4:0] k; always @(posedge clk) begin
        if (rst) k <= 0; else k <= k + 1; q <= {SUM} + k - k; end""",
    "an older vector": f"""{OUT} reg [4:0] s, t; always @(posedge clk) begin s <= model_inp; t <= s;
        q <= {SUM} + t - t; end""",
    "an older bit": f"""{OUT} reg [2:0] v; always @(posedge clk) begin v <= {{v[1:0], model_inp[0]}};
        q <= {SUM} + v[2] - v[2]; end""",
    "a vector of stages": f"""reg [14:0] v; assign model_out = v[14:10];
        always @(posedge clk) v <= {{v[9:0], 5'({SUM})}} + 15'd0;""",
    "a case behind a register": f"""reg t; reg [4:0] q, y; assign model_out = y;
        always @(posedge clk) begin t <= ~t; q <= {SUM}; end always @* case (t) 0: y = q; 1: y = q; endcase""",
}
RIGHT = {
    "bits that an AND takes out": f"{ADD} always @(posedge clk) r <= model_inp | (r & 0);",
    "two arms alike": f"{ADD} always @(posedge clk) if (r[0]) r <= model_inp; else r <= model_inp;",
    "a flag that chooses nothing": f"""{OUT} reg t; always @(posedge clk) begin t <= ~t;
        if (t) q <= {SUM}; else q <= {SUM}; end""",
    "what is there in time": f"""{OUT} reg [7:0] r; reg k; always @(posedge clk) begin r <= model_inp; k <= r[0] ^ r[0];
        q <= r[3:0] + r[7:4] + r[3] - r[3]; end""",
    "a vector of stages": f"""reg [14:0] v; assign model_out = v[14:10];
        always @(posedge clk) v <= {{v[9:0], 5'({SUM})}} ^ (v & 0);""",
    "an enable by another name": f"{ADD} wire e = en; always @(posedge clk) if (e) r <= model_inp | (r & 0);",
    "an enable in a vector": f"""{ADD} wire [1:0] e = {{~en, en}};
        always @(posedge clk) if (e[0]) r <= model_inp | (r & 0);""",
    "a reset by another name": f"""{ADD} wire n = ~rst;
        always @(posedge clk or negedge n) if (!n) r <= 0; else r <= model_inp | (r & 0);""",
    "a counter that nothing needs": f"""{OUT} reg [4:0] k; always @(posedge clk) begin k <= k + 1; q <= {SUM}; end""",
}


def ending(body: str, folder: Path) -> tuple[str, str]:
    pins = "".join(f"input {pin}, " for pin in ("clk", "en", "rst") if pin in body.replace("end", ""))
    text = f"module model({pins}input [7:0] model_inp, output [4:0] model_out);\n{body}\nendmodule\n"
    run = run_prove(ADDER, folder, rtl=text)
    return run.tree["verdict"], run.tree["message"]


@pytest.mark.parametrize("name", X_AT_FIRST)
def test_what_is_x_at_first_and_cancels_is_refused(name: str, tmp_path: Path) -> None:
    verdict, message = ending(X_AT_FIRST[name], tmp_path)
    assert verdict == "INVALID_INPUT" and "X" in message, message
    as_recorded(message)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_not_x_when_vectors_arrive_is_proved(name: str, tmp_path: Path) -> None:
    verdict, message = ending(RIGHT[name], tmp_path)
    assert verdict == "PASS", message


def test_without_the_check_it_would_be_proved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof, "refuse_first_values", lambda *said: None)
    assert ending(X_AT_FIRST["through a wire"], tmp_path)[0] == "PASS"


def test_the_message_names_the_register(tmp_path: Path) -> None:
    _, message = ending(X_AT_FIRST["a counter"], tmp_path)
    assert "'model_out'" in message


def test_most_designs_need_no_close_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dais_verif.prover.clocked.registers.first_values._Settling", None)
    verdict, message = ending(f"{OUT} always @(posedge clk) if (rst) q <= 0; else if (en) q <= {SUM};", tmp_path)
    assert verdict == "PASS", message
    assert len(_Effort) == 3
