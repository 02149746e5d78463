"""The evidence of a run for each output: compared on all inputs that reach it, on some, or shown to be wrong."""

from __future__ import annotations

from collections.abc import Collection

from dais_verif.program.ports import Ports
from dais_verif.record.simulation import OutputEvidence

__all__ = ["outputs_of"]


def outputs_of(ports: Ports, vectors: int, wrong: int = 0, exhausted: Collection[int] = ()) -> list[OutputEvidence]:
    """Grade every output of a run that compared all bits of ``vectors`` vectors.

    ``wrong``: the bits of a packed row of outputs that were not as expected, in at least one vector. ``exhausted``:
    outputs of which all inputs were compared. One wrong output says nothing against the others: their bits were
    compared, too, and were equal. An output without bits, or a run without vectors, has the grade ``none``.
    """
    known = set(exhausted)
    found = []
    for number, element in enumerate(ports.outputs):
        if not vectors or not element.width:
            found.append(OutputEvidence(number, "none", 0))
        elif wrong >> element.offset & ((1 << element.width) - 1):
            found.append(OutputEvidence(number, "wrong", vectors))
        else:
            found.append(OutputEvidence(number, "exhausted" if number in known else "sampled", vectors))
    return found
