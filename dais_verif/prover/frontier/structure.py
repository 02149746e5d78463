"""What signals of RTL read: parts of other signals, up to which logic is one expression."""

from __future__ import annotations

from collections.abc import Iterator

from dais_verif.prover.boundary import Boundary
from dais_verif.prover.frontier.values import Place
from dais_verif.prover.limits import require_time
from dais_verif.prover.netlist import Cone, Signal
from dais_verif.prover.terms import Term, leaves, nodes, var

__all__ = ["Structure"]

_WIRING = ("const", "concat", "extract", "var")


class Structure:
    """The places that each place reads."""

    def __init__(self, boundary: Boundary) -> None:
        self.boundary = boundary
        self._wires_only: set[Place] = set()
        self._reads: dict[Place, tuple[Place, ...]] = {}

    def is_given(self, place: Place) -> bool:
        """Return whether a place is at an input port."""
        return self.boundary.is_input(place.signal)

    def output(self, number: int) -> tuple[Place, ...]:
        """Return the places at the ports that carry an output."""
        places: list[Place] = []

        def read(signal: Signal, low: int, width: int) -> Term:
            places.append(Place(signal, low, width))
            return var(width, f"place {len(places)}")

        self.boundary.result(number, read)
        return tuple(places)

    def reads(self, place: Place) -> tuple[Place, ...]:
        """Return the bits of signals that drive a place."""
        require_time()
        if place not in self._reads:
            self._reads[place] = tuple(self._read_by(place))
        return self._reads[place]

    def _read_by(self, place: Place) -> Iterator[Place]:
        read: dict[Term, Place] = {}
        first = True

        def cut(signal: Signal, low: int, width: int) -> Term | None:
            nonlocal first
            if first:
                first = False
                return None
            term = var(width, f"{signal.name} {low} {width}")
            read[term] = Place(signal, low, width)
            return term

        term = Cone(cut).read(*place)
        if all(t.op in _WIRING or t in read for t in nodes(term)):
            self._wires_only.add(place)
        live = set(leaves(term))  # their own order depends on earlier proofs
        yield from dict.fromkeys(place for t, place in read.items() if t in live)

    def is_wiring(self, place: Place) -> bool:
        """Return whether a place only passes on bits of what it reads."""
        self.reads(place)
        return place in self._wires_only

    def is_alias(self, place: Place) -> bool:
        """Return whether a place only passes on bits of one other."""
        return len(self.reads(place)) < 2 and self.is_wiring(place)

    def driven(self, place: Place) -> list[Place]:
        """Return the parts of the signal of ``place`` that one driver each gives, as far as they overlap it."""
        return [Place(place.signal, one.low, one.width) for one in place.signal.driving(place.low, place.width)]

    def is_unaligned(self, place: Place) -> bool:
        """Return whether a place takes some bits only of what drivers give."""
        return place.width < place.signal.width and place not in self.driven(place)
