"""Netlists that are wired by hand, for tests of the prover without a front end and without Verilog."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dais_verif.hardware.ports.interface import Wire
from dais_verif.prover.bit_spans import Spans
from dais_verif.prover.boundary import Boundary, Piece
from dais_verif.prover.netlist import Clock, Cone, Driver, Netlist, Read, Signal
from dais_verif.prover.terms import Term, const, extract, var
from dais_verif.spec.program import FixedType
from dais_verif.spec.program.ports import Element

__all__ = ["Seen", "Wiring", "over_inputs"]


class Seen:
    """Signals as terms: ``s("a")`` is all of ``a``, ``s("a", 2, 3)`` are three bits of it, from bit 2 on."""

    def __init__(self, wiring: Wiring, read: Read) -> None:
        self._wiring, self._read = wiring, read

    def __call__(self, name: str, low: int = 0, width: int | None = None) -> Term:
        signal = self._wiring.signals[name]
        return self._read(signal, low, signal.width if width is None else width)


Made = Callable[[Seen], Term]


class Wiring:
    """A builder of a netlist: the inputs with their widths, then wires and registers in any order."""

    def __init__(self, **inputs: int) -> None:
        self.signals = {name: Signal(name, width, "model.v:1") for name, width in inputs.items()}
        self._inputs = tuple(inputs)

    def wire(self, name: str, width: int, make: Made, *, low: int = 0, of: int | None = None) -> Wiring:
        """Drive ``width`` bits from ``low`` on of a signal of ``of`` bits, or all of it, combinationally."""
        self._drive(name, width, make, None, low, of)
        return self

    def register(
        self,
        name: str,
        width: int,
        make: Made,
        *,
        clock: str = "clk",
        enable: str | None = None,
        resets: Sequence[tuple[str, int]] = (),
        low: int = 0,
        of: int | None = None,
    ) -> Wiring:
        """Drive a register. ``resets``: asynchronous resets, each with the value at which it is inactive."""
        pins = tuple((self.signals[reset], inactive) for reset, inactive in resets)
        timed = Clock(self.signals[clock], None if enable is None else self.signals[enable], pins)
        self._drive(name, width, make, timed, low, of)
        return self

    def _drive(self, name: str, width: int, make: Made, clock: Clock | None, low: int, of: int | None) -> None:
        place = f"model.v:{len(self.signals) + 1}"
        signal = self.signals.setdefault(name, Signal(name, of or low + width, place))
        signal.drive(Driver(low, width, lambda read: make(Seen(self, read)), place, clock))

    def netlist(self, *outputs: str) -> Netlist:
        return Netlist("model", self.signals, self._inputs, outputs)

    def boundary(
        self, *outputs: str, data: Sequence[str] = ("IN",), constants: dict[str, int] | None = None
    ) -> Boundary:
        """Return the boundary. ``data``: inputs that carry one program input each; others are ``constants`` or pins."""
        carried = [self.signals[name] for name in data]
        fixed = {self.signals[name]: value for name, value in (constants or {}).items()}
        others = frozenset({self.signals[name] for name in self._inputs} - set(carried) - fixed.keys())
        wires: list[tuple[Signal, Wire]] = []
        elements, kinds, place = [], [], 0
        for name in outputs:
            width = self.signals[name].width
            wires.append((self.signals[name], Wire(name, place, width)))
            elements.append(Element(place, width, 0))
            kinds.append(FixedType(0, width, 0))
            place += width
        pieces = {signal: Spans([(0, signal.width, Piece(n, 0))]) for n, signal in enumerate(carried)}
        inputs = tuple(Element(0, signal.width, 0) for signal in carried)
        own = tuple(kinds)
        return Boundary(inputs, tuple(elements), own, own, tuple(wires), pieces, fixed, others)


def over_inputs(netlist: Netlist, name: str, **known: int) -> Term:
    """Return a signal as a term over the inputs, with registers as wires; ``known``: inputs with a constant value."""
    inputs = {
        netlist.signals[port]: const(netlist.signals[port].width, known[port])
        if port in known
        else var(netlist.signals[port].width, port)
        for port in netlist.inputs
    }
    cone = Cone(lambda signal, low, width: extract(inputs[signal], low, width) if signal in inputs else None)
    signal = netlist.signals[name]
    return cone.read(signal, 0, signal.width)
