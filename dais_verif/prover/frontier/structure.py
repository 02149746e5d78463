"""What signals of RTL read: parts of other signals, up to which logic is one expression."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from dais_verif.prover.boundary import Boundary
from dais_verif.prover.frontier.values import Place, where
from dais_verif.prover.limits import require_time
from dais_verif.prover.netlist import Cone, Netlist, Signal
from dais_verif.prover.terms import Term, leaves, nodes, var

__all__ = ["Structure"]

_WIRING = ("const", "concat", "extract", "var")


class Structure:
    """The places that each place reads."""

    def __init__(self, netlist: Netlist, boundary: Boundary) -> None:
        self.boundary = boundary
        self._signals = netlist.signals
        self._wires_only: set[Place] = set()
        self._reads: dict[Place, tuple[Place, ...]] = {}
        self._by_scope: dict[str, list[Signal]] | None = None

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

    def driven(self, place: Place) -> list[Place]:
        """Return the parts of the signal of ``place`` that one driver each gives, as far as they overlap it."""
        return [Place(place.signal, one.low, one.width) for one in place.signal.driving(place.low, place.width)]

    def is_unaligned(self, place: Place) -> bool:
        """Return whether a place takes some bits only of what drivers give."""
        return place.width < place.signal.width and place not in self.driven(place)

    def instance(self, place: Place) -> str | None:
        """Return the line of the innermost instance that holds a place; None in the top module."""
        scope = place.signal.name.rpartition(".")[0]
        while scope:
            for one in map(Place.whole, self._inside(scope)):
                if any(not read.signal.name.startswith(f"{scope}.") for read in self.reads(one)):
                    return where(one)
            scope = scope.rpartition(".")[0]
        return None

    def twins(self, place: Place) -> list[Place]:
        """Return the places of other instances that the same line drives, under the same name."""
        scope, _, name = place.signal.name.rpartition(".")
        line = where(place)
        signals = (s for s in self._signals.values() if scope and s.name.endswith(f".{name}") and s.drivers)
        places = (place._replace(signal=s) for s in signals if s is not place.signal and s.width == place.signal.width)
        return [one for one in places if where(one) == line]

    def _inside(self, scope: str) -> Iterable[Signal]:
        """Return the signals of an instance, and of those within it."""
        if self._by_scope is None:
            self._by_scope = defaultdict(list)
            for signal in self._signals.values():
                own = signal.name
                while own := own.rpartition(".")[0]:
                    if signal.drivers:
                        self._by_scope[own].append(signal)
        return self._by_scope.get(scope, ())
