"""Infer clock-enable and reset pins of registers.

Front ends give the next value of a register as one expression. Each pin that this expression depends on, which is an
input of one bit that carries no data, is tried at 0 and at 1. If the register then becomes constant, or keeps its value
although the pin is not a plain clock enable, the pin is *held* at the other value: the proof covers only the time when
no reset is active, and says so in its result. If the register keeps its value only while the pin is 0, the pin is a
clock enable. Everything else must be data. Registers that no output and no op needs are ignored.

The pin that marks an input as valid, if it is known, is data: a bit that travels with the vector, and is 1 for the
vectors that the proof covers. Therefore, a register may keep its value while a bit of data, its *gate*, is 0, provided
that this bit is 1 for every valid vector and has the same latency as the input of the register; ``latency`` checks
this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from dais_verif.base.errors import InputError, RegisterError, StateError
from dais_verif.hardware.ports.interface import Clocking
from dais_verif.prover.boundary import Boundary
from dais_verif.prover.clocked.registers.delay_lines import straighten
from dais_verif.prover.netlist import Bits, Cone, Driver, Netlist, Read, Signal, bits_over, driver_of
from dais_verif.prover.terms import Term, concat, const, extract, leaves, rebuild, var

__all__ = ["find_sccs", "infer_controls"]


_Key = tuple[Signal, int]


def infer_controls(
    netlist: Netlist, boundary: Boundary, needed: Iterable[Signal], clocking: Clocking | None
) -> dict[str, int]:
    """Make the registers of ``netlist`` functions of data, behind clocks with or without an enable.

    ``needed``: signals whose values matter. ``clocking``: the pins, as far as they are known. Returns the inputs that
    must be held, with their values. Replaces drivers in ``netlist``; a second call changes nothing. Raises
    ``InputError`` for registers that cannot be rewritten.
    """
    if not any(driver.clock for signal in netlist.signals.values() for driver in signal.drivers):
        return {}
    valid = None if clocking is None or clocking.valid_in is None else netlist.signals.get(clocking.valid_in)
    given = boundary.others | boundary.constants.keys()
    ports = [netlist.signals[name] for name in netlist.inputs]
    inputs = [signal for signal in ports if signal in given and signal.width == 1 and signal is not valid]
    pins = {signal: var(1, f"pin {signal.name}") for signal in inputs}
    straighten(netlist, boundary)
    enable = None if clocking is None or clocking.enable is None else netlist.signals.get(clocking.enable)
    design = _Design(pins, list(needed), pins.get(enable) if enable is not None else None)
    registers = [_Register(design, *entry) for entry in design.registers()]
    said = {pins[signal]: value for signal, value in boundary.constants.items() if signal in pins}
    held = dict(said)
    while True:
        known = dict(held)
        for register in registers:
            for pin, value in register.held(known).items():
                if held.setdefault(pin, value) != value:
                    raise RegisterError(
                        f"{register.where}: register {register.signal.name!r} needs {_name(pin)} to be {value}, but"
                        f" another register or an option needs {1 - value}; a reset is held at one value"
                    )
        if held == known:
            break
    for register in registers:
        register.replace(held)
    steady = boundary.holding({netlist.signals[_name(pin)]: value for pin, value in held.items()})
    cone = Cone(lambda source, low, width: steady.given(source, low, width, _input))
    for register in registers:
        register.refuse_state(cone)
        register.refuse_reset(cone)
    return {_name(pin): value for pin, value in held.items() if pin not in said}


def _is_register(signal: Signal) -> bool:
    """Return whether ``signal`` of one bit is a bit of a register, or an alias of one, and no logic, which glitches."""

    def cut(wire: Signal, low: int, width: int) -> Term | None:
        clocked = any(driver.clock for driver in wire.driving(low, width))
        return var(width, f"register {wire.name} {low}") if clocked or not wire.drivers else None

    return bool(signal.drivers) and Cone(cut).read(signal, 0, 1).op == "var"


def _input(number: int) -> Term:
    raise RegisterError(f"input {number} is data")


def _name(pin: Term) -> str:
    return str(pin.data).removeprefix("pin ")


def _with(term: Term, values: Mapping[Term, int]) -> Term:
    """Return ``term`` with pins replaced by constants."""
    return rebuild(term, {pin: const(1, value) for pin, value in values.items()})


class _Design:
    """The drivers that matter, and which of them depend on pins only. ``enable``: the pin declared as the enable."""

    def __init__(self, pins: Mapping[Signal, Term], needed: list[Signal], enable: Term | None = None) -> None:
        self.pins, self.enable = pins, enable
        self._drivers: dict[_Key, Driver] = {}
        self._reads: dict[_Key, set[_Key]] = {}
        #: Drivers that depend on data; drivers that depend on a pin with no register in between.
        self._data: set[_Key] = set()
        self._pinned: set[_Key] = set()
        self._walk(needed)
        #: Registers that read themselves, with the logic in these loops, by strongly connected component.
        self._sccs = find_sccs(self._reads)
        self._spread(self._data)
        self._spread(self._pinned, through=lambda driver: driver.clock is None)
        self._cone = Cone(lambda signal, low, width: self.pins.get(signal))

    def registers(self) -> list[tuple[Signal, Driver]]:
        """Return the clocked drivers, in the order in which they were found."""
        return [(key[0], driver) for key, driver in self._drivers.items() if driver.clock is not None]

    def _walk(self, needed: list[Signal]) -> None:
        waiting = [(signal, driver) for signal in needed for driver in signal.drivers]
        while waiting:
            signal, driver = waiting.pop()
            key = signal, driver.low
            if key in self._drivers:
                continue
            self._drivers[key] = driver
            reads: set[_Key] = set()

            def read(source: Signal, low: int, width: int, key: _Key = key, reads: set[_Key] = reads) -> Term:
                found = list(source.driving(low, width))
                waiting.extend((source, other) for other in found)
                reads.update((source, other.low) for other in found)
                if not found:
                    (self._pinned if source in self.pins else self._data).add(key)
                return var(width, "some value")

            driver.make(read)
            self._reads[key] = reads
            if driver.clock is not None:
                self._data.add(key)
                waiting.extend((reset, other) for reset, _ in driver.clock.resets for other in reset.drivers)

    def _spread(self, keys: set[_Key], through: Callable[[Driver], bool] = lambda driver: True) -> None:
        """Add to ``keys`` all drivers that read drivers in it, directly or through drivers that satisfy ``through``."""
        readers: dict[_Key, list[_Key]] = {}
        for key, reads in self._reads.items():
            for source in reads:
                readers.setdefault(source, []).append(key)
        waiting = list(keys)
        while waiting:
            key = waiting.pop()
            for reader in readers.get(key, ()) if through(self._drivers[key]) else ():
                if reader not in keys:
                    keys.add(reader)
                    waiting.append(reader)

    def look_behind(self, signal: Signal, low: int, width: int, register: _Key) -> bool:
        """Return whether to replace the bits by their drivers rather than by a variable for data.

        True if the bits, with no register in between, depend on a pin or on constants only, or form a loop with
        ``register``.
        """
        found = list(signal.driving(low, width))
        if not found or any(driver.clock for driver in found):
            return False
        keys = [(signal, driver.low) for driver in found]
        scc = self._sccs.get(register, -1)
        return any(key in self._pinned or key not in self._data or self._sccs.get(key) == scc for key in keys)

    def pin(self, signal: Signal) -> tuple[Term, bool] | None:
        """Return the pin of which ``signal`` is an alias, and whether it is inverted; None if it is not an alias."""
        term = self._plain(signal)
        inverted = term is not None and term.op == "not"
        if term is not None and inverted:
            (term,) = term.args
        return (term, inverted) if term is not None and term.op == "var" else None

    def fixed(self, signal: Signal) -> int | None:
        """Return the value of ``signal`` if it is constant, else None."""
        term = self._plain(signal)
        return term.value if term is not None and term.op == "const" else None

    def _plain(self, signal: Signal) -> Term | None:
        """Return ``signal`` as a term over pins; None if it depends on data."""
        if signal not in self.pins and any((signal, driver.low) in self._data for driver in signal.drivers):
            return None
        return self._cone.read(signal, 0, 1)


class _Kind(NamedTuple):
    """``width`` bits of a register, which load ``rest`` under three conditions.

    ``enable``, if any, is 1; the pins ``held`` have the given values; and all ``gates``, bits of data, are 1.
    """

    low: int
    width: int
    rest: Term
    enable: Term | None
    held: dict[Term, int]
    gates: tuple[Term, ...] = ()


class _Register:
    """A driver with a clock: its next value over variables for pins, for bits of the register itself, and for data."""

    def __init__(self, design: _Design, signal: Signal, driver: Driver) -> None:
        assert driver.clock is not None
        self.signal, self.where = signal, driver.where
        self._design, self._driver, self._clock = design, driver, driver.clock
        self._gates: list[Term] = []
        #: Registers that reset this one, with the values at which they do not.
        self._synchronised: dict[Signal, int] = {}
        self._own = [var(1, f"own bit {n}") for n in range(signal.width)]
        own = concat(*reversed(self._own))
        #: The signal and the bit that each variable stands for.
        self._sources = {pin: (wire, 0) for wire, pin in design.pins.items()}
        self._sources |= {bit: (signal, n) for n, bit in enumerate(self._own)}

        #: Whether the register reads itself, possibly without effect, as in a netlist cell whose clock enable is tied
        #: to 1.
        self._reads_itself = False

        def cut(source: Signal, low: int, width: int) -> Term | None:
            if source is signal:
                self._reads_itself = True
                return extract(own, low, width)
            if source in design.pins:
                return design.pins[source]
            if design.look_behind(source, low, width, (signal, driver.low)):
                return None
            term = var(width, f"data {source.name} {low}")
            self._sources[term] = source, low
            return term

        self._next = driver.make(Cone(cut).read)

    def held(self, known: Mapping[Term, int]) -> dict[Term, int]:
        """Return the pins that must be held, with their values, given the values of the ``known`` pins."""
        found = dict(known)
        for reset, value in self._clock.resets:
            if self._design.fixed(reset) == value:  # tied inactive, as unused resets of netlist cells are
                continue
            known_as = self._design.pin(reset)
            if known_as is None and _is_register(reset):  # the second flip-flop of a synchroniser, for example
                self._synchronised[reset] = value
                continue
            if known_as is None:
                raise RegisterError(f"{self.where}: {reset.name!r}, an asynchronous reset, is not an input by itself")
            pin, inverted = known_as
            value ^= inverted
            if set(leaves(_with(self._next, {pin: 1 - value}))) - set(self._own):
                raise RegisterError(
                    f"{self.where}: register {self.signal.name!r} is loaded at {reset.name!r}, not reset:"
                    " each of its bits must get a constant there; `dais-verif sim` simulates such RTL"
                )
            found[pin] = value
        for kind in self._kinds(_with(self._next, found)):
            found |= kind.held
        return found

    def refuse_reset(self, cone: Cone) -> None:
        """Raise ``RegisterError`` if a register that resets this one does not settle where it resets nothing.

        Until it has settled, this register reads it as a condition, so the latency analysis keeps vectors behind it.
        """
        for reset, value in self._synchronised.items():
            try:
                settled = cone.read(reset, 0, 1)
            except InputError:
                settled = None
            if settled is not const(1, value):
                raise RegisterError(
                    f"{self.where}: {reset.name!r}, an asynchronous reset, is neither an input by itself nor a register"
                    " that ends the reset some edges after an input"
                )

    def replace(self, held: Mapping[Term, int]) -> None:
        """Replace this driver by drivers whose next values are data, at the edges that the proof covers."""
        kinds = self._kinds(_with(self._next, held))
        for kind in kinds:
            if self._own_bits(kind.low, kind.width) & set(leaves(kind.rest)):
                raise self._state()
        if len(kinds) == 1 and kinds[0].rest is self._next and not self._reads_itself:
            return
        self.signal.drivers.remove(self._driver)
        for kind in kinds:
            enable = next((signal for signal, pin in self._design.pins.items() if pin is kind.enable), None)
            clock = self._clock._replace(enable=enable)
            low = self._driver.low + kind.low
            bits = self._gated(bits_over(kind.rest, self._sources), kind.gates)
            self.signal.drive(driver_of(bits, 0, kind.width, low, self.where, clock))

    def _gated(self, bits: Bits, gates: Sequence[Term]) -> Bits:
        """Return ``bits`` with reads of the gates added, so that latency analysis checks that the latencies agree."""
        if not gates:
            return bits
        self._gates += gates

        def both(read: Read, low: int, width: int) -> Term:
            for gate in gates:
                read(*self._sources[gate], 1)
            return bits(read, low, width)

        return both

    def refuse_state(self, cone: Cone) -> None:
        """Raise ``StateError`` if a gate is not always 1 for valid vectors, with all registers replaced by wires.

        ``cone``: reads signals with registers replaced by wires, and raises ``InputError`` if they depend on data.
        """
        for gate in dict.fromkeys(self._gates):
            source, low = self._sources[gate]
            try:
                always = cone.read(source, low, 1) is const(1, 1)
            except InputError:
                always = False
            if not always:
                raise self._state()

    def _state(self) -> InputError:
        return StateError(
            f"{self.where}: register {self.signal.name!r} keeps state: its next value depends on its own, and"
            " no input of one bit is its enable; the proof supports pipelines only"
        )

    def _pins_in(self, term: Term) -> list[Term]:
        """Return the pins that ``term`` depends on, in the order of the ports: that of terms depends on past proofs."""
        found = set(leaves(term))
        return [pin for pin in self._design.pins.values() if pin in found]

    def _own_bits(self, low: int, width: int) -> set[Term]:
        return set(self._own[self._driver.low + low :][:width])

    def _kinds(self, term: Term) -> list[_Kind]:
        """Return the kinds of the bits: one kind for all if possible, else bit by bit with equal neighbours merged."""
        whole = self._kind(term, 0)
        own = set(self._own)
        if not (own | set(self._design.pins.values())) & set(leaves(whole.rest)) and not whole.gates:
            return [whole]
        kinds: list[_Kind] = []
        for bit in range(term.width):
            kind = self._kind(extract(term, bit, 1), bit)
            free = not own & set(leaves(kind.rest))
            last = kinds[-1] if kinds else None
            if (
                last
                and free
                and (last.enable, last.gates) == (kind.enable, kind.gates)
                and not own & set(leaves(last.rest))
            ):
                rest, held = concat(kind.rest, last.rest), {**last.held, **kind.held}
                kinds[-1] = last._replace(width=last.width + 1, rest=rest, held=held)
            else:
                kinds.append(kind)
        return kinds

    def _kind(self, term: Term, low: int) -> _Kind:
        first = self._driver.low + low
        keeping = concat(*reversed(self._own[first : first + term.width]))
        held: dict[Term, int] = {}
        enable: Term | None = None
        while True:
            # All pins are tried on the same term: with ``a & !b``, holding one would make the other look like data.
            tried = {pin: (_with(term, {pin: 0}), _with(term, {pin: 1})) for pin in self._pins_in(term)}
            enables = [pin for pin, (zero, one) in tried.items() if zero is keeping and one is not keeping]
            stopping: dict[Term, int] = {}
            for pin, (zero, one) in tried.items():
                if pin is self._design.enable and pin in enables:
                    continue  # if the register loads a constant, the pin is still not a reset
                if (zero.op == "const") != (one.op == "const"):
                    stopping[pin] = int(zero.op == "const")
                elif one is keeping and zero is not keeping:
                    stopping[pin] = 0
            if not stopping and enables and enable is None:
                enable = self._design.enable if self._design.enable in enables else enables[0]
                term = tried[enable][1]
            elif stopping:
                held |= stopping
                term = _with(term, stopping)
            else:
                break
        gates: list[Term] = []
        own = set(self._own)
        fixed = own.union(self._design.pins.values())
        while own & set(leaves(term)):
            for bit in leaves(term):
                if bit.width == 1 and bit not in fixed and _with(term, {bit: 0}) is keeping:
                    break
            else:
                break
            gates.append(bit)
            term = _with(term, {bit: 1})
        return _Kind(low, term.width, term, enable, held, tuple(gates))


# Strongly connected components of a graph, by Tarjan's algorithm.


_Node = TypeVar("_Node")


def find_sccs(following: Mapping[_Node, Iterable[_Node]]) -> dict[_Node, int]:
    """Return a component number for each node on a cycle; nodes that reach each other have the same number.

    ``following``: the successors of each node; nodes without an entry have none.
    """
    order: dict[_Node, int] = {}
    lowest: dict[_Node, int] = {}
    open_: dict[_Node, None] = {}
    found: dict[_Node, int] = {}
    for start in following:
        path = [] if start in order else [(start, iter(following[start]))]
        while path:
            node, rest = path[-1]
            if node not in order:
                order[node] = lowest[node] = len(order)
                open_[node] = None
            other = next(rest, None)
            if other is not None:
                if other not in order and other in following:
                    path.append((other, iter(following[other])))
                elif other in open_:
                    lowest[node] = min(lowest[node], order[other])
                continue
            path.pop()
            if path:
                lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[node])
            if lowest[node] == order[node]:
                together = []
                while node in open_:
                    together.append(open_.popitem()[0])
                if len(together) > 1 or node in following[node]:
                    found.update(dict.fromkeys(together, order[node]))
    return found
