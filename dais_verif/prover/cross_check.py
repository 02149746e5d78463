"""Cross-check of two front ends: compare their netlists of one design, and prove both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from dais_verif.base.errors import InputError, ProofError
from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.ports.interface import Dut
from dais_verif.prover.netlist import Clock, Cone, Netlist, Signal
from dais_verif.prover.proof import prove
from dais_verif.prover.results import Proof, ProofOptions, ProofWatcher
from dais_verif.prover.solve.pool import Pool, Question
from dais_verif.prover.terms import Term, band, bnot, bxor, const, extract, leaves, rebuild, var
from dais_verif.spec.program import Program

__all__ = ["CrossCheck", "DIFFERENT", "compare_readings", "mark_unread", "prove_with_both"]


# A proof that does not depend on a single front end: both netlists of a design are compared, and both are proved.


#: Start of the message if the two front ends disagree.
DIFFERENT = "slang and Yosys read the RTL in different ways"


def prove_with_both(
    program: Program,
    first: Netlist,
    second: Netlist,
    dut: Dut,
    options: ProofOptions,
    watcher: ProofWatcher | None = None,
    *,
    if_possible: bool = False,
) -> Proof:
    """Prove the netlists of one design from two front ends: PASS only if the netlists agree and both are proved.

    ``first``: the netlist from slang; ``second``: the netlist from Yosys. ``if_possible``: whether the first netlist
    alone decides if the second is not supported or nothing can be proved about it; ``unread`` then gives the reason. A
    proved difference is UNKNOWN in any case. Raises ``InputError`` as ``prove`` does, for either netlist.
    """
    watcher = watcher or ProofWatcher()
    pool = Pool(options, watcher)
    compared, senseless = None, None
    try:
        compared = compare_readings(first, second, pool, watcher)
    except InputError as error:
        senseless = error
    if compared is not None and compared.difference is not None and compared.decided:
        message = f"{DIFFERENT}: {compared.difference}"
        return Proof(
            Verdict.UNKNOWN, message, [], [], [], len(pool), False, False, pins=(*first.inputs, *first.outputs)
        )
    if not if_possible:
        if senseless is not None:
            raise senseless
        if compared is not None and compared.difference is not None:
            message = f"it could not be proved that slang and Yosys read the RTL in the same way: {compared.difference}"
            return Proof(
                Verdict.UNKNOWN, message, [], [], [], len(pool), False, False, pins=(*first.inputs, *first.outputs)
            )
    proof = prove(program, first, dut, options, watcher)
    if proof.verdict is not Verdict.PASS:
        return proof
    if compared is None or compared.difference is not None:
        return mark_unread(proof, str(senseless) if compared is None else str(compared.difference))
    try:
        other = prove(program, second, dut, options, watcher)
    except InputError as error:
        if not if_possible:
            raise
        return mark_unread(proof, str(error))
    if other.verdict is Verdict.UNKNOWN and if_possible:
        return mark_unread(proof, other.message)
    if other.verdict is not Verdict.PASS:
        return replace(other, message=f"as Yosys reads the RTL: {other.message}")
    if (other.timing, other.held) != (proof.timing, proof.held):
        return replace(
            proof,
            verdict=Verdict.UNKNOWN,
            message="slang and Yosys find different latencies or resets",
            proved_outputs=(),
        )
    agreed = f"slang and Yosys agree on {counted(compared.signals, 'signal')}"
    return replace(
        proof,
        message=f"{proof.message}; {agreed}",
        conditional=proof.conditional or other.conditional,
        bounded=proof.bounded or other.bounded,
        agreed=compared.signals,
    )


def mark_unread(proof: Proof, why: str) -> Proof:
    """Return ``proof``, which is about slang's netlist alone, with the reason ``why`` Yosys was not used."""
    return replace(proof, unread={**proof.unread, "yosys": why})


# Compare the netlists of one design from two front ends, signal by signal.
#
# Every signal with the same name in both is a cut point: its drivers must be the same function of the signals that
# they read. Neither netlist has a loop (this is checked for both together), so by induction all these signals are
# equal for every input and, with registers, at every edge.


_EVERY = 256
#: Levels of cut points that are expanded if two readings seem to differ; the last number stands for all levels.
_LEVELS = (1, 2, 4, 1 << 30)
#: Maximum number of names that are expanded; larger cones are not compared down to the inputs.
_LARGEST = 2000


class CrossCheck(NamedTuple):
    """The result of a comparison. ``signals``: the number of signals if all are equal in both readings; else 0.

    ``difference``: a message about the first signal that was not proved equal; None if all are equal. ``decided``:
    whether this signal is proved to differ; False: it is unknown whether it does.
    """

    signals: int
    difference: str | None = None
    decided: bool = True


def compare_readings(first: Netlist, second: Netlist, pool: Pool, watcher: ProofWatcher) -> CrossCheck:
    """Compare two readings of one design, before a proof changes either.

    Signals that one of the front ends does not support are left out. Raises ``InputError`` if an output reads one.
    """
    ports = _ports(first), _ports(second)
    if ports[0] != ports[1]:
        different = sorted(set(ports[0]) ^ set(ports[1]))
        return CrossCheck(
            0,
            f"port {different[0][1]!r}: one front end reads {_port_text(ports[0], different[0][1])}, the other"
            f" {_port_text(ports[1], different[0][1])}",
        )
    return _Comparison(first, second, pool, watcher).result()


def _ports(netlist: Netlist) -> list[tuple[str, str, int]]:
    ways = (("input", netlist.inputs), ("output", netlist.outputs))
    return [(way, name, netlist.signals[name].width) for way, names in ways for name in sorted(names)]


def _port_text(ports: list[tuple[str, str, int]], name: str) -> str:
    return next((f"an {way} of {width} bits" for way, other, width in ports if other == name), "none")


class _Reading(NamedTuple):
    """The drivers of one signal in both netlists, as terms over the same variables, and the names that they read."""

    terms: tuple[Term, Term]
    reads: frozenset[str]


class _Comparison:
    def __init__(self, first: Netlist, second: Netlist, pool: Pool, watcher: ProofWatcher) -> None:
        self._netlists, self._pool, self._watcher = (first, second), pool, watcher
        inputs = set(first.inputs)
        common = [n for n, s in first.signals.items() if n in second.signals and not s.hidden and n not in inputs]
        #: Names of signals with drivers in both netlists.
        self._names = [n for n in common if all(netlist.signals[n].drivers for netlist in self._netlists)]
        self._inputs = inputs
        self._cuts = set(self._names)
        self._clocked = {n for n in self._names if any(map(_clocked, self._pair(n)))}
        self._readings: dict[str, _Reading] = {}
        #: Names of signals that one of the netlists does not support, with the error.
        self._senseless: dict[str, InputError] = {}

    def result(self) -> CrossCheck:
        for name in self._names:
            a, b = self._pair(name)
            if a.width != b.width:
                return CrossCheck(
                    0, f"{a.where}: signal {name!r} has {a.width} bits in one reading, {b.width} in the other"
                )
        waiting = list(self._names)
        while waiting:
            for done, name in enumerate(waiting):
                if done % _EVERY == 0:
                    self._watcher.progress("signals cross-checked", done, len(waiting))
                self._read_names(name)
            waiting = self._not_yet_cut()
        for name in self._netlists[0].outputs:
            if name in self._senseless:
                raise self._senseless[name]
        return self._compared()

    def _pair(self, name: str) -> tuple[Signal, Signal]:
        first, second = self._netlists
        return first.signals[name], second.signals[name]

    def _read_names(self, name: str) -> None:
        """Read the drivers of ``name``; record the error if they are not supported."""
        try:
            self._readings[name] = self._reading(name, set())
        except InputError as error:
            self._senseless[name] = error
            self._readings.pop(name, None)

    def _not_yet_cut(self) -> list[str]:
        """Remove unsupported signals, or if there are none, a loop, from the cut points; return names to read again."""
        lost = self._senseless.keys() & self._cuts
        if not lost:
            lost = set(self._loop())
        self._cuts -= lost
        return [name for name, reading in self._readings.items() if reading.reads & lost or name in lost]

    def _loop(self) -> list[str]:
        """Return names that read each other in a loop, which bits of vectors may form; registers break loops."""
        done: set[str] = set()
        for start in self._readings:
            path: dict[str, Iterator[str]] = {} if start in done else {start: self._before(start)}
            while path:
                name = next(reversed(path))
                following = next(path[name], None)
                if following is None:
                    del path[name]
                    done.add(name)
                elif following in path:
                    return [*path][[*path].index(following) :]
                elif following not in done:
                    path[following] = self._before(following)
        return []

    def _before(self, name: str) -> Iterator[str]:
        reading = self._readings.get(name)
        return iter(sorted(reading.reads - self._clocked) if reading else ())

    def _reading(self, name: str, behind: set[str]) -> _Reading:
        """Return the terms for ``name``. ``behind``: names that are not used as cut points."""
        numbers: dict[str, Term] = {}
        terms = []
        for netlist, signal in zip(self._netlists, self._pair(name), strict=True):

            def cut(
                source: Signal, low: int, width: int, netlist: Netlist = netlist, signal: Signal = signal
            ) -> Term | None:
                known = netlist.signals.get(source.name) is source
                if known and source.name in self._inputs:
                    pass
                elif not known or source.name not in self._cuts or source.name in behind or source is signal:
                    if not _clocked(source):
                        return None
                    if known and source.name in self._senseless:
                        raise self._senseless[source.name]
                    if source is not signal:
                        for driver in source.drivers:  # an unsupported driver raises its own error
                            driver.make(lambda other, low, width: var(width, "some value"))
                        raise ProofError(f"{source.where}: register {source.name!r} was read by one front end only")
                whole = numbers.setdefault(source.name, var(source.width, f"v{len(numbers)}"))
                return extract(whole, low, width)

            terms.append(Cone(cut).behind(signal))
        return _Reading((terms[0], terms[1]), frozenset(numbers.keys() - self._inputs - {name}))

    # comparing

    def _compared(self) -> CrossCheck:
        for name in self._readings:
            clocks = [self._clocks(netlist, name) for netlist in self._netlists]
            if clocks[0] != clocks[1]:
                return CrossCheck(
                    0,
                    f"{self._pair(name)[0].where}: signal {name!r} has different clocks or resets in the two readings",
                )
        self._pool.decide_all(q for reading in self._readings.values() for q in _questions(*reading.terms))
        for name, reading in self._readings.items():
            equal = self._equal(reading) or self._equal_behind(name)
            if not equal:
                what = "could not be proved to be" if equal is None else "is not"
                difference = f"{self._pair(name)[0].where}: signal {name!r} {what} the same in both"
                return CrossCheck(0, difference, equal is not None)
        return CrossCheck(len(self._readings))

    def _equal(self, reading: _Reading) -> bool | None:
        """Return whether both terms are equal; None if that is unknown."""
        answers = [self._pool.decide(*question).decision.equal for question in _questions(*reading.terms)]
        if all(answers) or (len(answers) > 1 and self._pool.decide(*reading.terms).decision.equal):
            return True
        # If the masks do not cover all undefined bits, a difference is not proved.
        return None if None in answers or False in answers[2:] else False

    def _equal_behind(self, name: str) -> bool | None:
        """Return whether both terms for ``name`` are equal after cut points behind them are expanded."""
        behind: set[str] = set()
        equal: bool | None = None
        for levels in _LEVELS:
            for _ in range(levels):
                more = {n for n in self._reading(name, behind).reads if n not in self._clocked} - behind
                if not more or len(behind) > _LARGEST:
                    break
                behind |= more
            equal = self._equal(self._reading(name, behind))
            if equal:
                break
        return equal

    def _clocks(self, netlist: Netlist, name: str) -> list[object]:
        """Return the clock and the resets of every bit, as functions of inputs."""
        bits: list[object] = [None] * netlist.signals[name].width
        for driver in netlist.signals[name].drivers:
            bits[driver.low : driver.low + driver.width] = [self._pins(driver.clock)] * driver.width
        return bits

    def _pins(self, clock: Clock | None) -> object:
        if clock is None:
            return None
        cone = Cone(lambda s, low, width: extract(var(s.width, s.name), low, width) if s.name in self._inputs else None)
        return (
            cone.read(clock.signal, 0, 1),
            clock.falling,
            {(cone.read(reset, 0, 1), value) for reset, value in clock.resets},
        )


def _clocked(signal: Signal) -> bool:
    return any(driver.clock is not None for driver in signal.drivers)


def _questions(a: Term, b: Term) -> list[Question]:
    """Return the questions that must hold for two terms to be the same.

    Without undefined values the terms must be equal. Otherwise, a bit is in the mask of a term if it changes when
    all undefined values change from 0 to all ones. The masks must be equal, and so must all bits outside the masks; and
    no bit outside a mask may depend on any undefined value.
    """
    if a is b or not any(t.op == "undefined" for t in leaves(a, b)):
        return [(a, b, ())]
    (first, some, bare), (second, others, plain) = _masked(a), _masked(b)
    zero = const(a.width, 0)
    return [(some, others, ()), (bare, plain, ()), (first, zero, ()), (second, zero, ())]


def _masked(t: Term) -> tuple[Term, Term, Term]:
    """Return the dependence of ``t`` on undefined values outside its mask; the mask; and the bits outside the mask."""
    free = [x for x in leaves(t) if x.op == "undefined"]
    zeros, ones = (rebuild(t, {x: const(x.width, value) for x in free}) for value in (0, -1))
    mask = bxor(zeros, ones)
    return band(bxor(t, zeros), bnot(mask)), mask, band(zeros, bnot(mask))
