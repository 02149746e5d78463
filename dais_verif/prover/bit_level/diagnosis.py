"""Which ops the netlist has, and where it goes wrong: the ops before a wrong output that it does not have."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dais_verif.program import Program
from dais_verif.prover.bit_level.aig import Aig
from dais_verif.prover.bit_level.miter import ProgramBits

__all__ = ["Diagnosis"]


class Diagnosis:
    """``found``: ops of which every bit that an output needs is a point of the netlist.

    Others may be right, too: a mapper is free to compute what reads them without them.
    """

    def __init__(
        self, program: Program, bits: ProgramBits, aig: Aig, results: Iterable[int], at: Callable[[int], int]
    ) -> None:
        """``results``: the bits of the netlist's outputs. ``at``: returns the same for literals proved to be equal."""
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
        """Return ops that may be at fault for a wrong ``output``, in order; outputs ``right`` are right."""
        missing = self._missing(output)
        explained = {op for number in right for op in self._missing(number)}
        return tuple(sorted(missing - explained or missing))

    def _missing(self, output: int) -> set[int]:
        """Ops that are not found and lead to an output over such as are not found either."""
        work = [self._program.outputs[output][0]]
        missing: set[int] = set()
        while work:
            index = work.pop()
            if index >= 0 and index not in missing and index not in self.found and index in self._needed:
                missing.add(index)
                work += self._program.ops[index].operands
        return missing
