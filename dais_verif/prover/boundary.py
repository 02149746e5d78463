"""Ports through which the values of a program enter and leave a netlist, and what each of their bits means.

An input is one variable, which covers the bits that ops read and the bits for which the design has a port. A piece is
a run of bits of an input that a port carries. An output equals the program's if both are the same number, even if
their types differ.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from dais_verif.base.errors import ProofError
from dais_verif.base.text import counted
from dais_verif.hardware.ports.interface import Clocking, Dut, Wire
from dais_verif.prover.bit_spans import Spans
from dais_verif.prover.netlist import Netlist, Read, Signal
from dais_verif.prover.terms import Term, concat, const, extract, resize, var
from dais_verif.spec.program import FixedType, Program
from dais_verif.spec.program.ports import Element, Ports, ports_of

__all__ = ["NOTHING", "Boundary", "Piece"]

#: Prefix of the names of variables that stand for port bits without data.
NOTHING = "port "


class Piece(NamedTuple):
    """A run of port bits that carries the bits of input ``number`` from bit ``at`` on."""

    number: int
    at: int


@dataclass(frozen=True)
class Boundary:
    """The ports of a netlist, and the values of a program that they carry.

    ``inputs``: the bits of each input's variable. ``outputs``: the place of each output in the row of bits that
    ``wires`` form. ``kinds``: the types of outputs at the ports; ``own``: their types in the program. ``pieces``: the
    pieces of each port that carries inputs. ``constants``: the values of input ports that are held at one value.
    ``others``: all further input ports.
    """

    inputs: tuple[Element, ...]
    outputs: tuple[Element, ...]
    kinds: tuple[FixedType, ...]
    own: tuple[FixedType, ...]
    wires: tuple[tuple[Signal, Wire], ...]
    pieces: Mapping[Signal, Spans[Piece]]
    constants: Mapping[Signal, int]
    others: frozenset[Signal] = frozenset()

    @classmethod
    def of(cls, program: Program, netlist: Netlist, dut: Dut) -> Boundary:
        """Return the boundary of ``netlist``, whose ports carry the values of ``program`` as ``dut`` describes.

        Raises ``InputError`` if a port is missing or has another width.
        """
        own = ports_of(program)
        inputs = tuple(_union(*pair) for pair in zip(own.inputs, dut.ports.inputs, strict=True))
        elements = Spans((element.offset, element.width, j) for j, element in enumerate(dut.ports.inputs))
        pieces, given, results = {}, frozenset(netlist.inputs), frozenset(netlist.outputs)
        for wire in dut.interface.inputs:
            pieces[_port(netlist, wire, "input", given)] = Spans(_pieces(wire, elements, dut.ports, inputs))
        outputs = tuple((_port(netlist, wire, "output", results), wire) for wire in dut.interface.outputs)
        said = dict(dut.interface.ties)
        if dut.interface.clocking is not None:  # the proof is about a valid vector, with reset inactive
            said |= {pin: value for pin, value in _steady(dut.interface.clocking) if pin is not None}
        constants = {netlist.signals[name]: value for name, value in said.items() if name in given}
        kinds = dut.output_types
        others = frozenset({netlist.signals[name] for name in netlist.inputs} - pieces.keys() - constants.keys())
        return cls(inputs, dut.ports.outputs, kinds, program.output_types, outputs, pieces, constants, others)

    @classmethod
    def of_program(cls, program: Program) -> Boundary:
        """Return the boundary of a program without a design: it has no ports."""
        own, kinds = ports_of(program), program.output_types
        return cls(own.inputs, own.outputs, kinds, kinds, (), {}, {})

    def holding(self, held: Mapping[Signal, int]) -> Boundary:
        """Return this boundary with further input ports held at the values ``held``."""
        return replace(self, constants={**self.constants, **held}, others=self.others - held.keys())

    def is_input(self, signal: Signal) -> bool:
        """Return whether ``given`` can return bits of ``signal``."""
        return signal in self.pieces or signal in self.constants

    @property
    def result_ports(self) -> tuple[Signal, ...]:
        """The ports that carry outputs."""
        return tuple(dict.fromkeys(signal for signal, _ in self.wires))

    @cached_property
    def _results(self) -> Spans[Signal]:
        """The ports that carry outputs, by the row bits that they occupy."""
        return Spans((wire.offset, wire.width, signal) for signal, wire in self.wires)

    def given(self, signal: Signal, low: int, width: int, element: Callable[[int], Term]) -> Term | None:
        """Return bits ``low .. low + width - 1`` of an input port; None for any other signal.

        ``element``: returns the variable of an input. Raises ``InputError`` for an input port that carries no data and
        has no value.
        """
        if signal in self.constants:
            return const(width, self.constants[signal] >> low)
        if signal in self.others:
            raise ProofError.of(
                "an output or an op depends on input {name!r}, which carries no data; give it a value under [tie] in "
                "a {ports} file",
                name=signal.name,
            )
        if signal not in self.pieces:
            return None
        parts: list[Term] = []
        place, end = low, low + width
        for first, last, at, piece in self.pieces[signal].within(low, width):
            if first > place:
                parts.append(_nothing(signal, place, first - place))
            parts.append(extract(element(piece.number), piece.at + at, last - first))
            place = last
        if place < end:
            parts.append(_nothing(signal, place, end - place))
        return concat(*reversed(parts))

    @property
    def claimed(self) -> list[int]:
        """The outputs that have bits in the design or in the program."""
        return [j for j, kind in enumerate(self.kinds) if kind.width or self.own[j].width]

    def result(self, number: int, read: Read) -> Term:
        """Return the bits of output ``number``; one 0 bit if it has none."""
        element = self.outputs[number]
        found = self._results.within(element.offset, element.width)
        parts = [read(signal, at, last - first) for first, last, at, signal in found]
        return concat(*reversed(parts)) if parts else const(1, 0)

    def as_numbers(self, number: int, found: Term, wanted: Term) -> tuple[Term, Term]:
        """Return two terms that are equal exactly if ``found`` and ``wanted`` are the same number.

        ``found``: the bits of output ``number`` at the ports. ``wanted``: its bits in the program.
        """
        port, own = self.kinds[number], self.own[number]
        if port == own:
            return found, wanted
        f = max(port.f, own.f)
        width = max(found.width + f - port.f, wanted.width + f - own.f) + 1
        return _number(found, port, f, width), _number(wanted, own, f, width)


def _steady(clocking: Clocking) -> tuple[tuple[str | None, int], ...]:
    return (clocking.reset, int(clocking.reset_low)), (clocking.valid_in, 1)


def _number(term: Term, kind: FixedType, f: int, width: int) -> Term:
    if not kind.width:
        return const(width, 0)
    moved = concat(term, const(f - kind.f, 0)) if f > kind.f else term
    return resize(moved, width, bool(kind.k))


def _union(own: Element, given: Element) -> Element:
    """Return all bits of an input that the program or the design uses."""
    if not own.width or not given.width:
        return own if own.width else given
    low, high = min(own.lo, given.lo), max(own.lo + own.width, given.lo + given.width)
    return Element(given.offset, high - low, low)


def _port(netlist: Netlist, wire: Wire, what: str, names: Container[str]) -> Signal:
    if wire.name not in names:
        ports = (name for name in (*netlist.inputs, *netlist.outputs) if " " not in name)  # a space: from a front end
        listed = ", ".join(ports) or "none"
        raise ProofError(f"module {netlist.top!r} has no {what} {wire.name!r} (ports: {listed}); see docs/any-dut.md")
    signal = netlist.signals[wire.name]
    if signal.width != max(wire.width, 1):
        raise ProofError(
            f"{what} {wire.name!r} of module {netlist.top!r} has {counted(signal.width, 'bit')};"
            f" this program needs {max(wire.width, 1)}"
        )
    return signal


def _pieces(
    wire: Wire, elements: Spans[int], ports: Ports, inputs: Sequence[Element]
) -> Iterator[tuple[int, int, Piece]]:
    """Yield (lowest bit, width, piece) for the bits of a port that carry inputs.

    ``elements``: the numbers of inputs, by the row bits that they occupy.
    """
    for first, last, at, j in elements.within(wire.offset, wire.width):
        yield first - wire.offset, last - first, Piece(j, at + ports.inputs[j].lo - inputs[j].lo)


def _nothing(signal: Signal, low: int, width: int) -> Term:
    parts = [var(1, f"{NOTHING}{signal.name} {bit}") for bit in range(low, low + width)]
    return concat(*reversed(parts))
