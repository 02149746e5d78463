"""Prove netlists that differ little from a proved netlist: only logic that the difference reaches is compared.

Both netlists are in one graph with structural hashing. Logic before the difference is shared, and logic behind it is
swept. A netlist that equals the proved one for all inputs computes the program; one that differs on an input is wrong
on that input.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.ports.interface import Dut
from dais_verif.prover.boundary import Boundary
from dais_verif.prover.gates.aig import FALSE, Aig
from dais_verif.prover.gates.bit_blasting import Word
from dais_verif.prover.gates.fraig import Fraig
from dais_verif.prover.gates.miter import Miter, ProgramBits
from dais_verif.prover.gates.patterns import mixed, row_of, simulate, value_of
from dais_verif.prover.lemmas import Assumptions
from dais_verif.prover.netlist import Netlist
from dais_verif.prover.proof import prove
from dais_verif.prover.results import ProofOptions
from dais_verif.prover.variants import Answer, has_registers
from dais_verif.spec.program import Program

__all__ = ["ProvedNetlist", "proved_netlist"]

#: The number of patterns of the first simulation; and the number of conflicts after which the solver considers only
#: inputs that satisfy all assumptions and promises.
_PATTERNS, _CONFLICTS = 4096, 20_000


class ProvedNetlist:
    """A netlist without registers that is proved to compute its program for all inputs, without assumptions."""

    def __init__(self, program: Program, netlist: Netlist, dut: Dut, options: ProofOptions) -> None:
        """``netlist``: a proved netlist. Raises ``InputError`` for loops."""
        self._program, self._dut, self._seed = program, dut, options.seed
        boundary = Boundary.of(program, netlist, dut)
        self._elements, self._aig = boundary.inputs, Aig()
        assumptions = Assumptions(program, boundary.inputs, options.declared)
        self._bits = ProgramBits.of(program, boundary, assumptions, self._aig, {})
        #: The literal that is 1 where a wrong output counts: all assumptions and promises hold.
        self._counts = self._aig.all([*self._bits.assumptions, *(self._bits.kept if options.check else ())])
        self._words = self._results(netlist, boundary)

    def of(self, netlist: Netlist, seconds: float, *, quick: bool = False, suspect: int | None = None) -> Answer | None:
        """Decide whether ``netlist`` also computes the program; None if that needs a whole proof.

        ``seconds``: the limit for each question to the solver. ``quick``: return UNKNOWN if any pattern shows a
        difference. ``suspect`` is ignored. Raises ``InputError`` for a netlist that a proof refuses.
        """
        boundary = Boundary.of(self._program, netlist, self._dut)
        if has_registers(netlist) or any(not wire.width for _, wire in boundary.wires):
            return None
        inputs = _inputs(self._aig)
        words = self._results(netlist, boundary)
        if _inputs(self._aig) > inputs:  # the netlist has undefined bits
            return None
        pairs = [
            (number, x, y)
            for number, word in self._words.items()
            for x, y in zip(word, words[number], strict=True)
            if x != y
        ]
        small, at = _copied(self._aig, [self._counts, *(bit for _, *bits in pairs for bit in bits)])
        counts = at[self._counts >> 1] ^ self._counts & 1
        pairs = [(number, at[x >> 1] ^ x & 1, at[y >> 1] ^ y & 1) for number, x, y in pairs]
        rng = random.Random(self._seed)
        patterns = [mixed(rng, _PATTERNS) for _ in range(inputs)]
        values = simulate(small, patterns, _PATTERNS)
        for number, x, y in pairs:
            wrong = value_of(values, x, _PATTERNS) ^ value_of(values, y, _PATTERNS)
            if wrong and quick:
                return Answer(Verdict.UNKNOWN, "an output bit differs from that of the original netlist")
            wrong &= value_of(values, counts, _PATTERNS)
            if wrong:
                return self._refuted(number, row_of(patterns, (wrong & -wrong).bit_length() - 1))
        return self._compared(small, counts, pairs, patterns, seconds)

    def _compared(
        self, graph: Aig, counts: int, pairs: list[tuple[int, int, int]], patterns: list[int], seconds: float
    ) -> Answer | None:
        """Sweep the logic that the difference reaches, and ask the solver about outputs that are not merged."""
        roots = [counts, *(bit for _, *bits in pairs for bit in bits)]
        fraig = Fraig(graph, roots, patterns, _PATTERNS, lambda node: (), self._seed, lambda done, total: None)
        for number, x, y in pairs:
            a, b = fraig.at(x), fraig.at(y)
            if a == b or fraig.solver.differ(a, b, _CONFLICTS).found is False:
                continue
            answer = fraig.solver.differ_within(a, b, (fraig.at(counts),), seconds)
            return self._refuted(number, fraig.pattern(answer.ones)) if answer.found else None
        text = counted(len(pairs), "output bit")
        return Answer(Verdict.PASS, f"{text} proved to be unchanged; the logic of the others is the same")

    def _refuted(self, number: int, pattern: int) -> Answer:
        vector = []
        for element in self._elements:
            vector.append(pattern & ((1 << element.width) - 1))
            pattern >>= element.width
        text = f"a counterexample was found for output {number}"
        return Answer(Verdict.RTL_MISMATCH, text, tuple(vector))

    def _results(self, netlist: Netlist, boundary: Boundary) -> dict[int, Word]:
        """Return the bits of all outputs, aligned to the program's types."""
        miter = Miter(netlist, boundary, self._aig, self._bits.inputs, lambda done: None)
        return {number: miter.results(number, self._bits.outputs[number])[0] for number in boundary.claimed}


def proved_netlist(program: Program, netlist: Netlist, dut: Dut, options: ProofOptions) -> ProvedNetlist | None:
    """Prove ``netlist`` bit by bit, as the base of variants.

    Returns None if it has registers, is not proved bit by bit, or if the proof needs assumptions or fails. Raises
    ``InputError`` for a netlist that a proof refuses.
    """
    if dut.interface.clocking is not None or has_registers(netlist):
        return None
    proof = prove(program, netlist, dut, options)
    if proof.verdict is not Verdict.PASS or not proof.bits or proof.conditional or proof.bounded:
        return None
    return ProvedNetlist(program, netlist, dut, options)


def _inputs(graph: Aig) -> int:
    return sum(low < 0 for low in graph.low) - 1


def _copied(graph: Aig, literals: Iterable[int]) -> tuple[Aig, dict[int, int]]:
    """Copy the cones of ``literals`` and all inputs to a new graph; return it, and its literal for each copied node."""
    copy, at = Aig(), {0: FALSE}
    cone = graph.behind(literals)
    for node in range(1, len(graph)):
        low, high = graph.low[node], graph.high[node]
        if low < 0:
            at[node] = copy.input()
        elif node in cone:
            at[node] = copy.both(at[low >> 1] ^ low & 1, at[high >> 1] ^ high & 1)
    return copy, at
