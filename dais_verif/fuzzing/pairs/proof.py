"""Compare emitted Verilog with the program by the prover, and the prover's op semantics with the oracle."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dais_verif.dut.placement import packed
from dais_verif.emitter import emit_verilog
from dais_verif.fuzzing.case import Case
from dais_verif.fuzzing.pairs.disagreement import Disagreement, NotJudged
from dais_verif.prover.proof import prove
from dais_verif.prover.results import Proof, ProofOptions
from dais_verif.temporary import temporary_folder
from dais_verif.verdict import Verdict

__all__ = ["proof_of", "proved_rtl"]

#: Seconds for each query; a timeout is not a disagreement.
_SECONDS = 2.0


def proved_rtl(case: Case) -> Disagreement | None:
    """Return a disagreement if the prover refutes the emitted module, since then emitter or prover is wrong."""
    with temporary_folder() as folder:
        source = Path(folder.path, "model.v")
        source.write_text(emit_verilog(case.program))
        proof = proof_of(case, [source], _SECONDS)
    if proof.verdict is Verdict.RTL_MISMATCH:
        return Disagreement("prove", "refuted", f"the emitted RTL is refuted: {proof.message}")
    if proof.verdict is not Verdict.PASS:
        raise NotJudged(proof.message)
    return None


def proof_of(case: Case, sources: Sequence[Path], seconds: float, *, bits: bool = False) -> Proof:
    """Return the proof of module ``model``; ``seconds``: the limit for each query; ``bits``: True for a netlist."""
    from dais_verif.prover.slang import elaborate

    netlist = elaborate(sources, "model", {}, bitwise=bits)
    options = ProofOptions(timeout=seconds, check=False, jobs=1, declared=False, sample=0.0, bits=bits)
    return prove(case.program, netlist, packed(case.program), options)
