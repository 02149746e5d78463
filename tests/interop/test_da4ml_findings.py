"""Each known fault of da4ml's RTL is found, with the right verdict, exit code and op."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from interop.cases import CASES, Case
from interop.networks import traced
from interop.peer import json_tree
from interop.rtl import Verdict, sim, write
from interop.rtl_cases import NOT_WRITTEN, RTL, Found
from support.da4ml_rtl import need_ghdl
from support.said import as_recorded

from dais_verif.base.verdict import Verdict as Verdicts

pytestmark = pytest.mark.usefixtures("da4ml")

BY_NAME = {case.name: case for case in CASES}

#: One case of each kind is in the fast suite.
FAST = {"verilog": ("relu_of_minus", "output_zero", "quant_wider"), "vhdl": ("add_no_bits",)}


def of_witness(case: Case, flavor: str, folder: Path, *options: str) -> Verdict:
    """Run ``sim`` with ``--unchecked`` on the vector of the witness and 100 others."""
    from da4ml.types import CombLogic

    try:
        rtl = write(CombLogic.deserialize(json_tree(case.witness.program)), folder, flavor)
    except (AssertionError, OverflowError, IndexError, ValueError) as error:
        return Verdict(NOT_WRITTEN, 0, {"message": repr(error)})
    np.save(folder / "x.npy", np.array([[float(value) for value in case.witness.cases[0].inputs]]))
    return sim(rtl, folder, "--inputs", str(folder / "x.npy"), "--vectors", "100", "--unchecked", *options)


def judged(verdict: Verdict) -> Found:
    op = verdict.blame["op"] if verdict.record.get("first_mismatch") else None
    return Found(verdict.verdict, op)


PARAMETERS = [
    pytest.param(case, flavor, marks=() if case.name in FAST[flavor] else pytest.mark.slow, id=f"{case.name}-{flavor}")
    for flavor in ("verilog", "vhdl")
    for case in CASES
]


@pytest.mark.parametrize(("case", "flavor"), PARAMETERS)
def test_witness(case: Case, flavor: str, tmp_path: Path) -> None:
    if flavor == "vhdl":
        need_ghdl()
    options = ("--sim", "icarus") if case.name in FAST["verilog"] and flavor == "verilog" else ()
    verdict = of_witness(case, flavor, tmp_path, *options)
    assert judged(verdict) == RTL[case.name][flavor == "vhdl"], verdict.record["message"]
    if verdict.verdict != NOT_WRITTEN:
        assert verdict.exit_code == Verdicts(verdict.verdict).exit_code


def test_every_witness_is_spoken_of() -> None:
    assert list(RTL) == [case.name for case in CASES]


class TestTables:
    """Icarus refuses an attribute in lookup_table.v that has no effect in simulation."""

    def test_pass_in_icarus_and_the_record_says_what_it_was_not_given(self, tmp_path: Path) -> None:
        verdict = sim(write(traced("lookup"), tmp_path), tmp_path, "--sim", "icarus")
        assert verdict.ending == ("PASS", 0)
        decision = next(one for one in verdict.record["decisions"] if one["what"] == "RTL in icarus")
        assert decision["chosen"].endswith(" lookup_table.v:13")
        as_recorded(decision["chosen"])
        assert verdict.record["simulators"][0]["bits_compared"] > 0

    @pytest.mark.slow
    def test_pass_in_both(self, tmp_path: Path) -> None:
        verdict = sim(write(traced("softmax"), tmp_path), tmp_path, "--vectors", "300")
        assert verdict.ending == ("PASS", 0)
        assert [one["failure"] for one in verdict.record["simulators"]] == [None, None]

    @pytest.mark.parametrize("entry", [0, pytest.param(40, marks=pytest.mark.slow)])
    def test_a_wrong_entry(self, entry: int, tmp_path: Path) -> None:
        rtl = write(traced("lookup"), tmp_path).edited(tmp_path / "cut", "lookup_table.v", "endmodule", "endmodule ")
        for table in (tmp_path / "cut").glob("*.mem"):
            lines = table.read_text().split("\n")
            lines[entry] = f"{int(lines[entry], 16) ^ 1:02X}"
            table.write_text("\n".join(lines))
        verdict = sim(rtl, tmp_path, "--sim", "icarus")
        assert verdict.ending == ("RTL_MISMATCH", 1)
        assert verdict.blame["mnemonic"] == "lookup"

    def test_a_missing_table(self, tmp_path: Path) -> None:
        rtl = write(traced("lookup"), tmp_path).edited(tmp_path / "cut", "lookup_table.v", "endmodule", "endmodule ")
        for table in (tmp_path / "cut").glob("*.mem"):
            table.unlink()
        verdict = sim(rtl, tmp_path, "--vectors", "10", "--sim", "icarus")
        assert verdict.ending == ("X_IN_OUTPUT", 4)
        warnings = [warning for warning in verdict.record["warnings"] if "--data" in warning]
        assert warnings and all("table_" in warning for warning in warnings), "whatever.mem is a default, not a file"


def test_an_overflow_is_the_programs_fault(tmp_path: Path) -> None:
    """Without ``--unchecked``, an overflow is the program's fault, although the RTL wraps as hardware does."""
    from da4ml.types import CombLogic

    rtl = write(CombLogic.deserialize(json_tree(BY_NAME["add_overflow"].witness.program)), tmp_path)
    verdict = sim(rtl, tmp_path, "--sim", "icarus")
    assert verdict.ending == ("PROGRAM_INVALID", 2)
    assert "op 2 (add)" in verdict.record["message"]


@pytest.mark.slow
def test_two_states_do_not_see_what_is_not_driven(tmp_path: Path) -> None:
    """An output of out_idx -1 is left at Z; Verilator alone reads 0 there, which happens to be right."""
    case = BY_NAME["output_zero"]
    assert of_witness(case, "verilog", tmp_path / "two", "--sim", "verilator").ending == ("PASS", 0)
    assert of_witness(case, "verilog", tmp_path / "four", "--sim", "icarus").ending == ("X_IN_OUTPUT", 4)


class TestInputShift:
    """da4ml's port has as many bits as the op that reads it; users must state the weights of these bits.

    By the program, they are the bits of the input that the op reads. da4ml's own wrapper does not shift: it connects
    the input with the type of the op, which is the type of the input times ``2**inp_shift``.
    """

    WRAPPER = """\
module wired(input [3:0] model_inp, output [2:0] model_out);
  model whole(model_inp[3:1], model_out);  // s3.0 of s4.1: without the bit of weight 1/2
endmodule
"""

    @pytest.mark.slow
    def test_as_the_program_means_it(self, tmp_path: Path) -> None:
        assert of_witness(BY_NAME["input_shift"], "verilog", tmp_path, "--sim", "icarus").ending == ("PASS", 0)

    def test_as_da4ml_wires_it(self, tmp_path: Path) -> None:
        (tmp_path / "wired.v").write_text(self.WRAPPER)
        (tmp_path / "ports.toml").write_text('[inputs]\ntypes = "s4.1"\n')
        options = ("--sim", "icarus", "--rtl", str(tmp_path / "wired.v"), "--ports", str(tmp_path / "ports.toml"))
        verdict = of_witness(BY_NAME["input_shift"], "verilog", tmp_path / "rtl", *options, "--top", "wired")
        assert verdict.ending == ("RTL_MISMATCH", 1)
        assert verdict.mismatch["expected"]["raw"] == -2  # of 3
        assert verdict.mismatch["found"]["raw"] == 3
