"""Find the outputs that are proved even if other claims are not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dais_verif.program import Program
from dais_verif.prover.obligations import Obligation
from dais_verif.record.proof import Claim, Status

__all__ = ["proved_outputs", "standing_outputs"]

Key = tuple[str, int]


def proved_outputs(claims: Mapping[Key, Claim]) -> tuple[int, ...]:
    """Return the outputs whose own claim is proved, regardless of the claims that its proof assumes."""
    return tuple(number for (kind, number), c in claims.items() if kind == "output" and c.status is Status.PROVED)


def standing_outputs(
    program: Program, obligations: Mapping[Key, Obligation], claims: Mapping[Key, Claim]
) -> tuple[int, ...]:
    """Return the proved outputs whose proofs rest on proved ops only, all the way to the inputs.

    A proof may rest on every op whose signal the RTL reads in the cone, and on every operand of the op in the program.
    Most proofs assume fewer ops, and no proof assumes more. Signals have no loops (this is checked), so if all of these
    ops are proved, each signal holds its value by induction.
    """
    users: dict[int, list[Key]] = {}
    for key in [*(("op", index) for index in range(program.n_ops)), *claims]:
        for index in _below(key, program, obligations.get(key)):
            users.setdefault(index, []).append(key)
    failed = [key for key, claim in claims.items() if key[0] == "op" and claim.status is not Status.PROVED]
    unsound = set(failed)
    while failed:
        kind, index = failed.pop()
        for key in users.get(index, ()) if kind == "op" else ():
            if key not in unsound:
                unsound.add(key)
                failed.append(key)
    return tuple(number for number in proved_outputs(claims) if ("output", number) not in unsound)


def _below(key: Key, program: Program, obligation: Obligation | None) -> Iterable[int]:
    kind, number = key
    own = program.ops[number].operands if kind == "op" else (program.outputs[number][0],)
    sources = () if obligation is None else (s.number for s in obligation.sources if s.kind == "op")
    return dict.fromkeys((*own, *sources, *(() if obligation is None else obligation.reads)))
