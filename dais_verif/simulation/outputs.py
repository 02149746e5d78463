"""Grade the evidence of a run for each output: compared on all inputs that it depends on, on some, or found wrong."""

from __future__ import annotations

from collections.abc import Collection

from dais_verif.record.simulation import OutputEvidence
from dais_verif.spec.program.ports import Ports

__all__ = ["outputs_of"]


def outputs_of(ports: Ports, vectors: int, wrong: int = 0, exhausted: Collection[int] = ()) -> list[OutputEvidence]:
    """Grade every output of a run that compared all bits of ``vectors`` vectors.

    ``wrong``: the bits of a packed output row that differed in at least one vector. ``exhausted``: outputs that were
    compared on all inputs. A wrong output does not affect the others: their bits were compared, too, and were equal. An
    output without bits, or a run without vectors, has the grade ``none``.
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
