"""Where a simulator violates IEEE 1800, the campaign recognises the defect, and proofs follow the standard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from prove.door import run_prove
from prove.soundness import readings
from prove.soundness.defects import EXAMPLE
from prove.soundness.expressions import Style
from prove.soundness.modules import INPUTS, Module
from prove.soundness.readings import judge
from prove.soundness.simulators import Bits, vectors

from dais_verif.base.verdict import Verdict
from dais_verif.spec.program import Program

SUM = Program.build(
    [(-1, 0, -1, 0, (0, 4, 0)), (-1, 1, -1, 0, (0, 4, 0)), (0, 0, 1, 0, (0, 5, 0))], [(2, 0, 0)], inp_shift=[0, 0]
)
PORTS = ", ".join(f"input {sign} [{width - 1}:0] {name}" for name, sign, width in INPUTS)


def example(expression: str, first: str = "") -> Module:
    text = f"module m1({PORTS}, output [8:0] y0, output [3:0] y1);\n"
    text += f"{first}\nassign y0 = {expression};\nassign y1 = r + p;\nendmodule\n"
    return Module("m1", {"m1.v": text}, (9, 4), (), Style())


def statuses(folder: Path, expression: str = EXAMPLE, simulators: tuple[str, ...] = ("verilator",)) -> dict[str, int]:
    record = judge([example(expression)], vectors(40, 0), folder, simulators=simulators)["m1"]
    found: dict[str, int] = record["readers"]["slang"]["outputs"]
    return found


def test_the_least_example_is_known(tmp_path: Path) -> None:
    """The smallest example of the defect is recognised; if a later Verilator agrees here, remove the rule."""
    assert statuses(tmp_path) == {"simulator's defect": 1, "agreed": 1}


@pytest.mark.few(1)
@pytest.mark.parametrize("first", ["wire [8:0] n = q << t;", "wire [8:0] n; assign n = q << t;"])
def test_so_is_one_through_a_net(first: str, tmp_path: Path) -> None:
    record = judge([example("n << t", first)], vectors(40, 0), tmp_path, simulators=("verilator",))["m1"]
    assert record["readers"]["slang"]["outputs"] == {"simulator's defect": 1, "agreed": 1}


def test_nothing_else_is_put_down_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = readings.as_read

    def wrong(*arguments: Any) -> list[Any]:
        first, second = right(*arguments)
        return [first, [Bits(bits.value ^ 1, bits.known) for bits in second]]

    monkeypatch.setattr(readings, "as_read", wrong)
    assert statuses(tmp_path / "both") == {"simulator's defect": 1, "wrong": 1}
    assert statuses(tmp_path / "other", "q << r[1:0]") == {"agreed": 1, "wrong": 1}


def test_without_the_rule_it_is_an_exception(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readings, "DEFECTS", ())
    assert statuses(tmp_path) == {"wrong": 1, "agreed": 1}


def test_where_icarus_says_so_too_it_is_no_defect(tmp_path: Path) -> None:
    assert statuses(tmp_path, simulators=("icarus", "verilator")) == {"simulators differ": 1, "agreed": 1}


def test_a_proof_follows_the_standard_and_is_not_confirmed(tmp_path: Path) -> None:
    """A proof follows the standard, which Verilator contradicts.

    Four bits that are shifted by 3 twice are 0; Verilator shifts them by 2.
    """
    text = """module model(input [7:0] model_inp, output [4:0] model_out);
  wire [3:0] r = model_inp[3:0];
  wire [4:0] y = (model_inp[7:4] >> r[1:0]) >> r[1:0];
  wire [4:0] z = r[1:0] == 0 ? model_inp[7:4] : r[1:0] == 1 ? model_inp[7:4] >> 2 : 0;
  assign model_out = (model_inp[3:0] + model_inp[7:4]) ^ y ^ z;
endmodule
"""
    assert Verdict(run_prove(SUM, tmp_path / "proof", rtl=text).tree["verdict"]) is Verdict.PASS
    run = run_prove(SUM, tmp_path / "confirmed", rtl=text, confirm=True)
    assert Verdict(run.tree["verdict"]) is Verdict.UNKNOWN, run.tree["message"]
