"""Files that RTL reads in a simulation never take the place of files of the bench."""

from __future__ import annotations

from pathlib import Path

from dais_verif.spec.program import assemble
from tests.support.door import run_sim


def test_data_of_the_rtl_is_not_taken_for_the_vectors(tmp_path: Path) -> None:
    """A file that is called like the first chunk, and holds vectors for which this RTL is right, changes nothing."""
    (tmp_path / "chunks").mkdir()
    (tmp_path / "chunks" / "000000.bin").write_bytes(bytes(8 * 2 * 20))
    text = """module model(input [3:0] model_inp, output [3:0] model_out);
reg [7:0] t [0:1];
initial if (0) $readmemh("chunks/000000.bin", t);
assign model_out = 0;
endmodule
"""
    program = assemble("input x\na = u4.0 input x\noutput y = a\n")
    run = run_sim(program, tmp_path, "--vectors", 20, rtl=text)
    assert run.ending == ("RTL_MISMATCH", 1)
