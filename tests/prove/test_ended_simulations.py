"""RTL that ends simulations by ``$fatal`` or ``$finish``: refused where it always does, else no PASS if one saw it."""

from __future__ import annotations

from pathlib import Path

import pytest
from prove.door import Run, run_prove
from support.adder import ADDER

ENDS = [
    'initial if (W != 5) $fatal(1, "width");',
    "always_comb if (W != 5) $finish;",
    "initial begin if (W > 1) $finish; end",
]


def _proved(folder: Path, check: str, width: int, **options: bool) -> Run:
    ports = "input [7:0] model_inp, output [4:0] model_out"
    text = f"module model({ports}); localparam W = {width};\n{check}\n"
    return run_prove(
        ADDER, folder, rtl=f"{text}assign model_out = model_inp[3:0] + model_inp[7:4]; endmodule", **options
    )


@pytest.mark.parametrize("check", ENDS)
def test_what_ends_every_simulation_is_refused(check: str, tmp_path: Path) -> None:
    run = _proved(tmp_path, check, 4)
    assert run.ending[0] == "INVALID_INPUT", run.tree
    assert "design.v:2: $" in run.stderr and "ends every simulation" in run.stderr, run.stderr


@pytest.mark.parametrize("check", ENDS[:2])
def test_a_check_of_a_parameter_that_holds_is_left_out(check: str, tmp_path: Path) -> None:
    assert _proved(tmp_path, check, 5).ending == ("PASS", 0)


def test_a_simulation_that_the_rtl_ended_confirms_nothing(tmp_path: Path) -> None:
    run = _proved(tmp_path, 'always_comb if (model_inp == 255) $fatal(1, "all ones");', 5, confirm=True)
    assert run.ending == ("UNKNOWN", 6), run.tree
    assert "the RTL ended the simulation" in run.tree["message"]
    assert "the RTL ended the simulation" in run.tree["confirmation"]["unconfirmed"]["icarus"]
