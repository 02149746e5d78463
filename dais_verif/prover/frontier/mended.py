"""Judge edits of RTL: does a place carry the values that it should, and are all outputs right?"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.errors import InputError
from dais_verif.hardware.ports.interface import Dut
from dais_verif.prover.boundary import Boundary
from dais_verif.prover.clocked.registers.control_inference import infer_controls
from dais_verif.prover.clocked.registers.delay_lines import straighten
from dais_verif.prover.frontier.values import Place
from dais_verif.prover.netlist import Cone, Netlist, Signal
from dais_verif.prover.random_simulation import Columns, Wires, differs, trace
from dais_verif.prover.terms import Term, extract, leaves, var
from dais_verif.prover.terms.evaluate import evaluate
from dais_verif.spec.program import Program

__all__ = ["Mended", "boundary_of"]


def boundary_of(program: Program, netlist: Netlist, dut: Dut) -> Boundary:
    """Return the boundary of a netlist, with its control pins held."""
    boundary = Boundary.of(program, netlist, dut)
    straighten(netlist, boundary)
    held = infer_controls(netlist, boundary, list(boundary.result_ports), dut.interface.clocking)
    return boundary.holding({netlist.signals[name]: value for name, value in held.items()})


@dataclass(frozen=True)
class Mended:
    """The values of a design on ``vectors``, with those of ops at the ``places`` that are wrong."""

    program: Program
    dut: Dut
    boundary: Boundary
    vectors: Columns
    kept: NDArray[np.bool_]
    wires: Wires
    places: tuple[Place, ...]

    def is_right_at(self, number: int, netlist: Netlist, scope: str | None, again: Container[str] = ()) -> bool:
        """Return whether an edited design has the right values at a place, over the right values of what it reads.

        The place itself is computed again, and the signals within the instance ``scope``, or of the names ``again``.
        """
        place = self.places[number]
        if place.signal not in self.wires.values:  # of a wide signal, only what its parts give is known
            return True
        signal = netlist.signals.get(place.signal.name)
        if signal is None or signal.width != place.signal.width:
            return False
        given: dict[Term, NDArray[Any]] = {}
        values = {one.name: column for one, column in self.wires.values.items()}
        inputs = {one.name: one for one in self.boundary.pieces}

        def cut(one: Signal, low: int, width: int) -> Term | None:
            inside = one is signal or one.name in again or (scope is not None and one.name.startswith(f"{scope}."))
            if one.name in inputs:
                return self._input(inputs[one.name], low, width, given)
            if inside or one.name not in values:
                return None
            term = var(one.width, f"value {one.name}")
            given[term] = values[one.name]
            return extract(term, low, width)

        try:
            term = Cone(cut).read(signal, place.low, place.width)
        except InputError:
            return False
        if any(leaf not in given for leaf in leaves(term)):
            return False
        (bits,) = evaluate([term], given)
        wanted = self.wires.values[place.signal].astype(object) >> place.low & ((1 << place.width) - 1)
        rows = np.broadcast_to(bits, wanted.shape).astype(object)
        return bool((rows == wanted)[self.kept].all())

    def _input(self, signal: Signal, low: int, width: int, given: dict[Term, NDArray[Any]]) -> Term | None:
        def element(number: int) -> Term:
            term = var(self.boundary.inputs[number].width, f"input {number}")
            given[term] = self.vectors[number]
            return term

        return self.boundary.given(signal, low, width, element)

    def is_right(self, netlist: Netlist) -> bool:
        """Return whether all outputs of an edited design are right on the vectors."""
        try:
            boundary = boundary_of(self.program, netlist, self.dut)
            found = trace(self.program, boundary.inputs, self.vectors, len(self.kept))
            driven = {signal for signal in netlist.signals.values() if signal.drivers}
            both = [Wires(boundary, driven, found, ones) for ones in (False, True)]
            wrong = (differs(self.program, boundary, j, both, found) & ~found.broken for j in boundary.claimed)
            return not any(rows.any() for rows in wrong)
        except InputError:
            return False
