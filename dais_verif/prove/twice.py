"""A proof that does not rest on one front end: both readings of a design are compared, and both are proved."""

from __future__ import annotations

from dataclasses import replace

from dais_verif.dut.face import Dut
from dais_verif.program import Program
from dais_verif.prove.agreement import agreement
from dais_verif.prove.netlist import Netlist
from dais_verif.prove.pool import Pool
from dais_verif.prove.proof import prove
from dais_verif.prove.results import Options, Proof, Watcher
from dais_verif.verdict import Verdict

__all__ = ["prove_twice"]


def prove_twice(
    program: Program, first: Netlist, second: Netlist, dut: Dut, options: Options, watcher: Watcher | None = None
) -> Proof:
    """``prove`` for two readings of one design, of ``slang`` and of ``yosys``: PASS only if they agree, and both pass.

    Raises ``InputError`` as ``prove`` does, for either reading.
    """
    watcher = watcher or Watcher()
    pool = Pool(options, watcher)
    compared = agreement(first, second, pool, watcher)
    if compared.difference is not None:
        message = f"slang and Yosys read the RTL in different ways: {compared.difference}"
        return Proof(
            Verdict.UNKNOWN, message, [], [], [], len(pool), False, False, pins=(*first.inputs, *first.outputs)
        )
    proof = prove(program, first, dut, options, watcher)
    if proof.verdict is not Verdict.PASS:
        return proof
    other = prove(program, second, dut, options, watcher)
    if other.verdict is not Verdict.PASS:
        return replace(other, message=f"as Yosys reads the RTL: {other.message}")
    if (other.timing, other.held) != (proof.timing, proof.held):
        return replace(
            proof,
            verdict=Verdict.UNKNOWN,
            message="slang and Yosys find different latencies or resets",
            proved_outputs=(),
        )
    agreed = f"slang and Yosys agree on {compared.signals} signals"
    return replace(
        proof,
        message=f"{proof.message}; {agreed}",
        conditional=proof.conditional or other.conditional,
        bounded=proof.bounded or other.bounded,
        agreed=compared.signals,
    )
