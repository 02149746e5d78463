"""Diagnosis of a netlist: which ops it contains, and which ops behind a wrong output it lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dais_verif.program import Program
from dais_verif.prover.bit_level.aig import Aig
from dais_verif.prover.bit_level.miter import ProgramBits

__all__ = ["Diagnosis"]


class Diagnosis:
    """Ops and wrong outputs of a netlist.

    ``found``: the ops of which every bit that an output needs equals a node of the netlist. An op that is not found
    need not be wrong: a mapper may compute the readers of an op without the op itself.
    """

    def __init__(
        self, program: Program, bits: ProgramBits, aig: Aig, results: Iterable[int], at: Callable[[int], int]
    ) -> None:
        """``results``: the bits of the netlist's outputs. ``at``: returns the same number for literals proved equal."""
        self._program = program
        needed = aig.behind(bit for word in bits.outputs for bit in word)
        points = {at(2 * node) >> 1 for node in aig.behind(results)}
        self.found: set[int] = set()
        for op in program.ops:
            wanted = [bit for bit in bits.ops[op.index] if bit >> 1 in needed]
            if wanted and all(at(bit) >> 1 in points for bit in wanted):
                self.found.add(op.index)
        self._needed = {op.index for op in program.ops if any(bit >> 1 in needed for bit in bits.ops[op.index])}

    def behind(self, output: int, right: Iterable[int]) -> tuple[int, ...]:
        """Return the ops that may cause a wrong ``output``, in SSA order; ``right``: outputs that are proved right."""
        missing = self._missing(output)
        explained = {op for number in right for op in self._missing(number)}
        return tuple(sorted(missing - explained or missing))

    def _missing(self, output: int) -> set[int]:
        """Return the ops that are not found and reach the output only through ops that are not found."""
        work = [self._program.outputs[output][0]]
        missing: set[int] = set()
        while work:
            index = work.pop()
            if index >= 0 and index not in missing and index not in self.found and index in self._needed:
                missing.add(index)
                work += self._program.ops[index].operands
        return missing
