"""A proof that does not depend on a single front end: both netlists of a design are compared, and both are proved."""

from __future__ import annotations

from dataclasses import replace

from dais_verif.counts import counted
from dais_verif.dut.placement import Dut
from dais_verif.errors import InputError
from dais_verif.program import Program
from dais_verif.prover.cross_check.signals import compare_readings
from dais_verif.prover.netlist import Netlist
from dais_verif.prover.proof import prove
from dais_verif.prover.results import Proof, ProofOptions, ProofWatcher
from dais_verif.prover.solving.pool import Pool
from dais_verif.verdict import Verdict

__all__ = ["DIFFERENT", "prove_with_both", "mark_unread"]

#: Start of the message if the two front ends disagree.
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
    """Prove the netlists of one design from two front ends: PASS only if the netlists agree and both are proved.

    ``first``: the netlist from slang; ``second``: the netlist from Yosys. ``if_possible``: whether the first netlist
    alone decides if the second is not supported or nothing can be proved about it; ``unread`` then gives the reason. A
    proved difference is UNKNOWN in any case. Raises ``InputError`` as ``prove`` does, for either netlist.
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
            message = f"it could not be proved that slang and Yosys read the RTL in the same way: {compared.difference}"
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
    """Return ``proof``, which is about slang's netlist alone, with the reason ``why`` Yosys was not used."""
    return replace(proof, unread={**proof.unread, "yosys": why})
