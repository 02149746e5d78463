"""A proof that does not rest on one front end: both readings of a design are compared, and both are proved."""

from __future__ import annotations

from dataclasses import replace

from dais_verif.counts import counted
from dais_verif.dut.interface import Dut
from dais_verif.errors import InputError
from dais_verif.program import Program
from dais_verif.prover.cross_check.signals import compare_readings
from dais_verif.prover.netlist import Netlist
from dais_verif.prover.proof import prove
from dais_verif.prover.results import Proof, ProofOptions, ProofWatcher
from dais_verif.prover.solving.pool import Pool
from dais_verif.verdict import Verdict

__all__ = ["DIFFERENT", "prove_with_both", "mark_unread"]

#: How the message of two readings that are not the same begins.
DIFFERENT = "slang and Yosys read the RTL in different ways"


def prove_with_both(
    program: Program,
    first: Netlist,
    second: Netlist,
    dut: Dut,
    options: ProofOptions,
    watcher: ProofWatcher | None = None,
    *,
    if_possible: bool = False,
) -> Proof:
    """``prove`` for two readings of one design, of ``slang`` and of ``yosys``: PASS only if they agree, and both pass.

    ``if_possible``: where the second reading makes no sense, or nothing can be shown of it, the first has the say, and
    the proof tells why; if it is another one, that is no less UNKNOWN.
    Raises ``InputError`` as ``prove`` does, for either reading.
    """
    watcher = watcher or ProofWatcher()
    pool = Pool(options, watcher)
    compared, senseless = None, None
    try:
        compared = compare_readings(first, second, pool, watcher)
    except InputError as error:
        senseless = error
    if compared is not None and compared.difference is not None and compared.decided:
        message = f"{DIFFERENT}: {compared.difference}"
        return Proof(
            Verdict.UNKNOWN, message, [], [], [], len(pool), False, False, pins=(*first.inputs, *first.outputs)
        )
    if not if_possible:
        if senseless is not None:
            raise senseless
        if compared is not None and compared.difference is not None:
            message = f"slang and Yosys could not be shown to read the RTL alike: {compared.difference}"
            return Proof(
                Verdict.UNKNOWN, message, [], [], [], len(pool), False, False, pins=(*first.inputs, *first.outputs)
            )
    proof = prove(program, first, dut, options, watcher)
    if proof.verdict is not Verdict.PASS:
        return proof
    if compared is None or compared.difference is not None:
        return mark_unread(proof, str(senseless) if compared is None else str(compared.difference))
    try:
        other = prove(program, second, dut, options, watcher)
    except InputError as error:
        if not if_possible:
            raise
        return mark_unread(proof, str(error))
    if other.verdict is Verdict.UNKNOWN and if_possible:
        return mark_unread(proof, other.message)
    if other.verdict is not Verdict.PASS:
        return replace(other, message=f"as Yosys reads the RTL: {other.message}")
    if (other.timing, other.held) != (proof.timing, proof.held):
        return replace(
            proof,
            verdict=Verdict.UNKNOWN,
            message="slang and Yosys find different latencies or resets",
            proved_outputs=(),
        )
    agreed = f"slang and Yosys agree on {counted(compared.signals, 'signal')}"
    return replace(
        proof,
        message=f"{proof.message}; {agreed}",
        conditional=proof.conditional or other.conditional,
        bounded=proof.bounded or other.bounded,
        agreed=compared.signals,
    )


def mark_unread(proof: Proof, why: str) -> Proof:
    """Return ``proof`` of the reading of slang alone; ``why``: Yosys had no say."""
    return replace(proof, unread={**proof.unread, "yosys": why})
