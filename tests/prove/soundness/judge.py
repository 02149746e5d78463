"""Prove mutants, and replay the prover's witnesses in a simulator."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from prove.soundness.mutants import Mutant
from prove.soundness.subjects import TOP, Subject, write
from prove.soundness.witnesses import Witness, confirmed

from dais_verif.base.errors import InputError
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.ports.interface import packed
from dais_verif.prover.proof import prove
from dais_verif.prover.results import ProofOptions
from dais_verif.prover.slang import elaborate

__all__ = ["EQUIVALENT", "REFUSED", "REFUTED", "UNKNOWN", "judged"]

Record = dict[str, Any]

#: The possible results for a mutant. Refused: the prover does not accept its Verilog, and gives the reason.
REFUTED, EQUIVALENT, UNKNOWN, REFUSED = "refuted", "equivalent", "unknown", "refused"

_STATUS = {Verdict.RTL_MISMATCH: REFUTED, Verdict.PASS: EQUIVALENT, Verdict.UNKNOWN: UNKNOWN}
_SECONDS = 20.0
_DEPTH = 20_000


def judged(subject: Subject, mutants: Sequence[Mutant], seed: int = 0) -> list[Record]:
    """Return a record of each mutant: the change, the result, and whether the simulator confirms the witness."""
    sys.setrecursionlimit(_DEPTH)
    with TemporaryDirectory(prefix="dais-verif-soundness-") as scratch:
        folder = Path(scratch)
        records = [_proved(subject, mutant, folder / "rtl", seed) for mutant in mutants]
        refuted = [n for n, record in enumerate(records) if record["status"] == REFUTED]
        witnesses = [Witness(mutants[n].applied(subject.files), records[n]["vector"]) for n in refuted]
        (folder / "icarus").mkdir()
        answers = confirmed(subject, witnesses, folder / "icarus") if witnesses else []
        for n, answer in zip(refuted, answers, strict=True):
            records[n]["confirmed"] = answer
    return records


def _proved(subject: Subject, mutant: Mutant, folder: Path, seed: int) -> Record:
    line = subject.files[mutant.file][: mutant.offset].count("\n") + 1
    record: Record = {"program": subject.name, **mutant._asdict(), "line": line}
    start = time.process_time()
    try:
        sources, data = write(mutant.applied(subject.files), folder)
        netlist = elaborate(sources, TOP, data)
        # The proof holds for all bit patterns of the inputs, as in hardware: promises and intervals are not assumed.
        options = ProofOptions(timeout=_SECONDS, check=False, jobs=1, seed=seed, declared=False)
        proof = prove(subject.program, netlist, packed(subject.program), options)
    except InputError as error:
        return {**record, "status": REFUSED, "message": str(error).replace(str(folder), "")}
    record |= {"status": _STATUS[proof.verdict], "seconds": round(time.process_time() - start, 3)}
    if proof.counterexample is not None:
        record |= {"vector": list(proof.counterexample.vector), "output": proof.counterexample.output}
    record["methods"] = sorted(proof.methods())
    return record
