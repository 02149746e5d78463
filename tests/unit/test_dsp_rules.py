"""The rules that Yosys' model of a DSP48E1 lacks are added to the known model; any other model is refused."""

from __future__ import annotations

import pytest
from support.said import raises

from dais_verif.base.errors import ToolError
from dais_verif.hardware.synthesis.netlist import with_rules

MODEL = """module DSP48E1 ();
initial begin
`ifndef YOSYS
`endif
end
wire signed [42:0] Mx = (CARRYINSEL == 2) ? 43'bx : A * B;
if (OPMODEr[3:2] != 2'b01) $fatal(1, "X");
if (OPMODEr[1:0] != 2'b01) $fatal(1, "Y");
endmodule
"""


def test_every_rule_has_its_place() -> None:
    found = with_rules(MODEL)
    assert '$fatal(1, "USE_SIMD must be ONE48 unless USE_MULT is NONE");' in found
    assert 'Mx = (USE_MULT == "NONE" || CARRYINSEL == 2)' in found
    assert "if (OPMODEr[3:2] != 2'b01) X = 48'bx; if (OPMODEr[3:2] != 2'b01) $fatal" in found
    assert "if (OPMODEr[1:0] != 2'b01) Y = 48'bx; if (OPMODEr[1:0] != 2'b01) $fatal" in found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("`ifndef YOSYS", "`ifdef SIMULATION"),
        ("Mx = (", "Mx = signed'("),
        ("OPMODEr[3:2]", "OPMODEr [3:2]"),
        ("OPMODEr[1:0]", "opmode[1:0]"),
    ],
)
def test_a_model_that_is_written_otherwise_is_not_taken(old: str, new: str) -> None:
    assert old in MODEL
    with raises(ToolError):
        with_rules(MODEL.replace(old, new))
