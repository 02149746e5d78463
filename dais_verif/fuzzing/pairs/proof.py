"""The Verilog that we emit against the program, by the prover; and the prover's meaning of ops against the oracle."""

from __future__ import annotations

import tempfile
from pathlib import Path

from dais_verif.dut.interface import packed
from dais_verif.emitter import emit_verilog
from dais_verif.fuzzing.case import Case
from dais_verif.fuzzing.pairs.disagreement import Disagreement, NotJudged
from dais_verif.prover.proof import prove
from dais_verif.prover.results import ProofOptions
from dais_verif.verdict import Verdict

__all__ = ["proved_rtl"]

#: Seconds for each question; what takes longer is no disagreement.
_SECONDS = 2.0


def proved_rtl(case: Case) -> Disagreement | None:
    """Return the emitted module is never refuted; whoever is wrong, emitter or prover, one of them is."""
    from dais_verif.prover.slang import elaborate

    with tempfile.TemporaryDirectory(prefix="dais-verif-fuzz-") as folder:
        source = Path(folder, "model.v")
        source.write_text(emit_verilog(case.program))
        netlist = elaborate([source], "model", {})
    options = ProofOptions(timeout=_SECONDS, check=False, jobs=1, declared=False, sample=0.0)
    proof = prove(case.program, netlist, packed(case.program), options)
    if proof.verdict is Verdict.RTL_MISMATCH:
        return Disagreement("prove", "refuted", f"the RTL that we emit is refuted: {proof.message}")
    if proof.verdict is not Verdict.PASS:
        raise NotJudged(proof.message)
    return None
