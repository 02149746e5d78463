"""Check all laws of a mapping, and return findings with witnesses."""

from __future__ import annotations

from math import prod

from dais_verif.kernels.laws.declared import find_exceeded, find_unwritten, find_wide
from dais_verif.kernels.laws.findings import Finding, MappingReport
from dais_verif.kernels.laws.written import find_idle, find_written
from dais_verif.kernels.mapping import Mapping

__all__ = ["check_mapping"]


def check_mapping(mapping: Mapping, *, inside: bool = False) -> MappingReport:
    """Decide the laws of ``mapping`` for all members; at most one finding for each law and tensor.

    Reads outside of a tensor give its pad, and writes outside are dropped; ``inside`` forbids such writes.
    The time is linear in the sizes of the index space, not in the number of its members.
    """
    found: list[Finding] = []
    for output in mapping.outputs:
        found += find_written(mapping, output, inside=inside)
        exceeded = list(find_exceeded(mapping, output))
        found += exceeded or find_unwritten(mapping, output)
    found += find_idle(mapping)
    for read in mapping.inputs:
        exceeded = list(find_exceeded(mapping, read))
        found += exceeded or find_wide(mapping, read)
    elements = sum(prod(output.sizes) for output in mapping.outputs)
    return MappingReport(tuple(found), mapping.members, elements)
