"""Compare netlists that Yosys maps from emitted Verilog with the program: in Icarus, and by the prover.

Both must also be consistent: no vector may refute a proof, and a simulation must confirm a counterexample.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from dais_verif.dut.placement import packed
from dais_verif.emitter import emit_verilog
from dais_verif.fuzzing.case import Case
from dais_verif.fuzzing.pairs.disagreement import Disagreement, NotJudged
from dais_verif.fuzzing.pairs.needs import require_comparable
from dais_verif.fuzzing.pairs.proof import proof_of
from dais_verif.fuzzing.pairs.simulators import judged_in
from dais_verif.prover.results import Proof
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.synthesis.netlist import SynthesizedNetlist, netlist_sources
from dais_verif.synthesis.yosys import synthesize
from dais_verif.temporary import temporary_folder
from dais_verif.toolchain.limits import Limits
from dais_verif.verdict import Verdict

__all__ = ["MAPPED_TO", "mapped"]

#: The targets to which each program is mapped.
MAPPED_TO = ("generic", "ice40")

_PAIR = "netlist"
#: Limits of Yosys, which no generated case comes close to.
_LIMITS = Limits(600.0, 8192)
#: The most cells of a proof: larger netlists would take minutes.
_MOST_CELLS = 1500
#: Seconds for each query of a proof; a timeout is not a disagreement.
_SECONDS = 1.0


def mapped(case: Case) -> Disagreement | None:
    """Return an error of the netlists of a case's program: a wrong output, or a wrong answer of the prover.

    Raises ``NotJudged`` if the prover has no answer, and only the vectors agree.
    """
    require_comparable(case, "yosys", "icarus")
    unknown = ""
    for target in MAPPED_TO:
        with temporary_folder() as folder:
            design, cells = _netlist(case, target, folder.path)
            simulated = judged_in(case, design, Path(folder.path, "simulated"), "icarus", _PAIR)
            if cells > _MOST_CELLS and simulated is None:
                unknown = f"{target}: {cells} cells are not proved"
                continue
            proof = proof_of(case, design.sources, _SECONDS, bits=True)
            found = _compared(case, design, Path(folder.path, "replayed"), simulated, proof)
        if found is not None:
            kind, text = found
            return Disagreement(_PAIR, f"{target}: {kind}", text)
        if proof.verdict is not Verdict.PASS:
            unknown = f"{target}: {proof.message}"
    if unknown:
        raise NotJudged(unknown)
    return None


def _netlist(case: Case, target: str, folder: Path) -> tuple[RtlDesign, int]:
    """Return the netlist for ``target``, with models of its cells, and its number of cells."""
    source = folder / "rtl.v"
    source.write_text(emit_verilog(case.program))
    made = synthesize((source,), "model", target, folder / "yosys", _LIMITS)
    sources = netlist_sources(SynthesizedNetlist(made.netlist, target), folder)
    return RtlDesign(sources, "model", dut=packed(case.program)), sum(made.costs.cells.values())


def _compared(
    case: Case, design: RtlDesign, folder: Path, simulated: Disagreement | None, proof: Proof
) -> tuple[str, str] | None:
    """Return the disagreement as kind and text; None if neither vectors nor proof show that the netlist is wrong."""
    if simulated is not None:
        if proof.verdict is Verdict.PASS:
            return "proved, but a simulation differs", f"the netlist is proved, but: {simulated.text}"
        return simulated.kind, simulated.text
    if proof.verdict is not Verdict.RTL_MISMATCH:
        return None
    again = None if proof.counterexample is None else judged_in(_replay(case, proof), design, folder, "icarus", _PAIR)
    if again is not None:
        return again.kind, f"the proof found a difference that the vectors do not show: {again.text}"
    return (
        "refuted, but no simulation differs",
        f"the netlist is refuted, but Icarus does not confirm it: {proof.message}",
    )


def _replay(case: Case, proof: Proof) -> Case:
    """Return ``case`` with the counterexample as its only vector; inputs have only the bits of the ports."""
    assert proof.counterexample is not None
    pairs = zip(proof.counterexample.vector, proof.elements, strict=True)
    return replace(case, rows=(tuple(bits * Fraction(2) ** element.lo for bits, element in pairs),))
