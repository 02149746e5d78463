"""Prove that ``valid_out`` equals ``valid_in`` delayed by ``latency`` clock cycles.

The protocol is modelled as a shift register of ``latency`` bits. It shifts in ``valid_in`` at each edge, or only while
the enable, if there is one, is 1; a reset clears it. The design is proved to equal that shift register by induction
over edges. Random simulation proposes which design register corresponds to which bit, and every proposal is proved. If
these correspondences do not prove the property, it is proved itself, by k-induction. A violation is reported as a
shortest sequence of edges that violates the property both if all registers start at 0 and if all start at 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.base.text import counted
from dais_verif.hardware.ports.interface import Clocking
from dais_verif.prover.clocked.registers.transition_system import TransitionSystem
from dais_verif.prover.solve.discharge import Discharge
from dais_verif.prover.terms import Term, bnot, bor, const, eq, ite, leaves, rebuild, var
from dais_verif.prover.terms.evaluate import evaluate
from dais_verif.record.proof import Handshake, Status

__all__ = ["prove_handshake"]

Decide = Callable[[Term, Term, tuple[Term, ...]], Discharge]

_ROWS = 192
#: The number of edges that the search for a counterexample adds to twice the latency, and that k-induction adds to the
#: latency.
_MORE, _INDUCTION = 6, 4

_ONE, _ZERO = const(1, 1), const(1, 0)
_VALID, _ENABLE, _RESET = var(1, "valid in"), var(1, "enable"), var(1, "reset")


@dataclass(frozen=True)
class _Protocol:
    """The transition system over the pin variables above, and ``line``, the shift register of the model.

    ``_RESET`` is 1 when the reset is active.
    """

    system: TransitionSystem
    has_reset: bool
    has_enable: bool
    line: tuple[Term, ...]

    @property
    def free(self) -> list[Term]:
        """All other variables: data, which are arbitrary at every edge."""
        known = {_VALID, _ENABLE, _RESET, *self.system.state}
        return [t for t in leaves(self.system.out, *self.system.state.values()) if t not in known]

    @property
    def holds(self) -> bool:
        """Whether all state is kept while the enable is 0 and no reset is active."""
        stalled = {_ENABLE: _ZERO, _RESET: _ZERO}
        return not self.has_enable or all(rebuild(x, stalled) is bit for bit, x in self.system.state.items())

    def pins(self, edge: int, enabled: bool) -> dict[Term, Term]:
        """Return arbitrary pins and data before edge number ``edge``. ``enabled``: the enable is 1 during a reset."""
        reset, enable = var(1, f"reset {edge}"), var(1, f"enable {edge}")
        if not self.has_reset:
            reset = _ZERO
        if not self.has_enable:
            enable = _ONE
        values = {_VALID: var(1, f"valid in {edge}"), _ENABLE: bor(enable, reset) if enabled else enable, _RESET: reset}
        return {**values, **{t: var(t.width, f"data {n} {edge}") for n, t in enumerate(self.free)}}

    @property
    def due(self) -> Term:
        """The value that the output must have."""
        return self.line[-1] if self.line else _VALID

    @property
    def moved(self) -> dict[Term, Term]:
        """The bits of ``line`` after an edge."""
        before = (_VALID, *self.line)
        enable = _ENABLE if self.has_enable else _ONE
        reset = _RESET if self.has_reset else _ZERO
        return {
            bit: ite(reset, _ZERO, ite(enable, earlier, bit)) for earlier, bit in zip(before, self.line, strict=False)
        }

    @property
    def right(self) -> Term:
        """A bit that is 1 where the output is right; while a reset is active, the output may have any value."""
        right = eq(self.system.out, self.due)
        return bor(_RESET, right) if self.has_reset else right


def prove_handshake(system: TransitionSystem, clocking: Clocking, latency: int, decide: Decide, seed: int) -> Handshake:
    """Prove that ``clocking.valid_out``, which is ``system.out``, follows the protocol, or find a violation.

    ``latency``: the latency in edges. ``decide``: decides whether two terms are equal wherever all of a tuple of terms
    are 1.
    """
    protocol = _protocol(system, clocking, latency)
    # A reset that acts only while the enable is 1 is accepted, too; the answer says so.
    always = [False, True] if protocol.has_reset and protocol.has_enable else [False]
    for enabled in always:
        mapping = _Invariants(protocol, decide, enabled).found(seed)
        sharp = f"; {clocking.reset} takes effect only at edges at which {clocking.enable} is 1" if enabled else ""
        if mapping is not None:
            return Handshake(Status.PROVED, f"{counted(len(mapping), 'bit')} of state" + sharp)
        over = _k_induction(protocol, decide, enabled)
        if over is not None:
            return Handshake(Status.PROVED, f"k-induction over {counted(over, 'edge')}" + sharp)
    broken = _broken(protocol, decide, always[-1])
    if broken is None:
        return Handshake(Status.UNKNOWN, "neither proved nor refuted")
    trace, due = broken
    edges = f"{len(trace) - 1} edge{'s' * (len(trace) != 2)}"
    return Handshake(Status.REFUTED, f"violated after {edges}", due, _steps(trace, clocking, system))


def _protocol(system: TransitionSystem, clocking: Clocking, latency: int) -> _Protocol:
    renamed: dict[Term, Term] = {}
    for name, pin in ((clocking.valid_in, _VALID), (clocking.enable, _ENABLE)):
        renamed |= {term: pin for term, (found, _) in system.inputs.items() if found == name}
    reset = bnot(_RESET) if clocking.reset_low else _RESET
    renamed |= {term: reset for term, (found, _) in system.inputs.items() if found == clocking.reset}
    state = {term: rebuild(following, renamed) for term, following in system.state.items()}
    line = tuple(var(1, f"line {n}") for n in range(latency))
    renamed_system = TransitionSystem(rebuild(system.out, renamed), state, system.inputs)
    return _Protocol(renamed_system, clocking.reset is not None, clocking.enable is not None, line)


# invariants: bits of the state that equal bits of ``line``


class _Invariants:
    def __init__(self, protocol: _Protocol, decide: Decide, enabled: bool) -> None:
        self._protocol, self._decide, self._enabled = protocol, decide, enabled
        self._filled = None if protocol.has_reset else _filled(protocol)

    def found(self, seed: int) -> dict[Term, Term] | None:
        """Return, by state bit, the model bit proved equal to it, if these equalities prove the protocol; else None."""
        mapping = self._suggested(seed)
        while True:
            wrong = [bit for bit in mapping if not (self._begins(bit, mapping) and self._stays(bit, mapping))]
            if not wrong:
                break
            for bit in wrong:
                del mapping[bit]
        right = rebuild(self._protocol.right, mapping)
        return mapping if self._holds(right) else None

    def _suggested(self, seed: int) -> dict[Term, Term]:
        """Return the model bit that each state bit equals in simulation, after a reset or once ``line`` is filled."""
        lines, states = _simulated(self._protocol, seed)
        behaviours: dict[bytes, Term] = {}
        for term, values in lines.items():
            behaviours.setdefault((1 - values).tobytes(), bnot(term))
            behaviours[values.tobytes()] = term
        for constant in (_ZERO, _ONE):
            shape = next(iter(states.values())).shape if states else (1,)
            behaviours[np.full(shape, constant.value, dtype=np.uint8).tobytes()] = constant
        suggested = {bit: behaviours.get(values.tobytes()) for bit, values in states.items()}
        return {bit: term for bit, term in suggested.items() if term is not None}

    def _holds(self, claim: Term, reset: Term = _RESET) -> bool:
        given = (bor(bnot(reset), _ENABLE),) if self._enabled else ()
        return self._decide(claim, _ONE, given).equal is True

    def _stays(self, bit: Term, mapping: Mapping[Term, Term]) -> bool:
        """Return whether ``bit`` equals its model bit after an edge if all bits of ``mapping`` do before the edge."""
        after = rebuild(self._protocol.system.state[bit], dict(mapping))
        return self._holds(eq(after, rebuild(mapping[bit], self._protocol.moved)))

    def _begins(self, bit: Term, mapping: Mapping[Term, Term]) -> bool:
        """Return whether ``bit`` equals its model bit after a reset, or after ``latency`` edges if there is none."""
        protocol = self._protocol
        if protocol.has_reset:
            after = rebuild(protocol.system.state[bit], {_RESET: _ONE})
            return self._holds(eq(after, rebuild(mapping[bit], dict.fromkeys(protocol.line, _ZERO))), _ONE)
        if self._filled is None:
            return False
        state, line = self._filled
        return self._holds(eq(state[bit], rebuild(mapping[bit], line)))


def _filled(protocol: _Protocol) -> tuple[dict[Term, Term], dict[Term, Term]] | None:
    """Return state and ``line`` after ``latency`` enabled edges from any start; None if stalls may change the state."""
    if not protocol.holds:
        return None
    state = {bit: bit for bit in protocol.system.state}
    line = {bit: bit for bit in protocol.line}
    for edge in range(len(protocol.line)):
        state, line = _after(protocol, state, line, {**protocol.pins(-1 - edge, False), _ENABLE: _ONE})
    return state, line


def _after(
    protocol: _Protocol, state: Mapping[Term, Term], line: Mapping[Term, Term], pins: Mapping[Term, Term]
) -> tuple[dict[Term, Term], dict[Term, Term]]:
    values = {**state, **line, **pins}
    moved = {bit: rebuild(following, values) for bit, following in protocol.moved.items()}
    return {bit: rebuild(following, values) for bit, following in protocol.system.state.items()}, moved


def _simulated(protocol: _Protocol, seed: int) -> tuple[dict[Term, NDArray[np.uint8]], dict[Term, NDArray[np.uint8]]]:
    """Return the bits of ``line`` and of the state over many edges with random pins, starting from random states."""
    rng = np.random.default_rng(seed)
    latency = len(protocol.line)
    first = 1 if protocol.has_reset else latency
    bits = [*protocol.line, *protocol.system.state]
    following = [*(protocol.moved[bit] for bit in protocol.line), *protocol.system.state.values()]
    values: dict[Term, NDArray[Any]] = {bit: rng.integers(0, 2, _ROWS, dtype=np.uint64) for bit in bits}
    seen: list[list[NDArray[np.uint8]]] = [[] for _ in bits]
    for edge in range(first + 3 * latency + 16):
        begins = edge < first
        share = {_VALID: 0.5, _ENABLE: 1.0 if begins else 0.75, _RESET: (1.0 if begins else 0.03)}
        if not protocol.has_reset:
            share[_RESET] = 0.0
        pins = {pin: (rng.random(_ROWS) < part).astype(np.uint64) for pin, part in share.items()}
        pins[_ENABLE] |= pins[_RESET]
        others = {t: rng.integers(0, 1 << min(t.width, 63), _ROWS, dtype=np.uint64) for t in protocol.free}
        found = evaluate(following, {**values, **pins, **others}) if following else []
        values = {bit: np.resize(column, _ROWS) for bit, column in zip(bits, found, strict=True)}
        if edge + 1 >= first:
            for history, bit in zip(seen, bits, strict=True):
                history.append(values[bit].astype(np.uint8))
    columns = {bit: np.concatenate(history) for bit, history in zip(bits, seen, strict=True)}
    return {bit: columns[bit] for bit in protocol.line}, {bit: columns[bit] for bit in protocol.system.state}


# the property itself, edge by edge


def _k_induction(protocol: _Protocol, decide: Decide, enabled: bool) -> int | None:
    """Return the number of edges over which k-induction proves the property; None if it does not.

    The base case starts after a reset, or, if there is no reset, when ``line`` is filled.
    """
    anywhere = {b: b for b in protocol.system.state}, {b: b for b in protocol.line}
    if protocol.has_reset:
        pins = {**protocol.pins(-1, enabled), _RESET: _ONE}
        begin = _after(protocol, *anywhere, {**pins, _ENABLE: _ONE} if enabled else pins)
    else:
        filled = _filled(protocol)
        if filled is None:
            return None
        begin = filled
    runs = [begin, anywhere]
    claims: list[list[Term]] = [[], []]
    for edge in range(len(protocol.line) + _INDUCTION):
        for number, (state, line) in enumerate(runs):
            pins = protocol.pins(edge, enabled)
            claims[number].append(rebuild(protocol.right, {**state, **line, **pins}))
            # An edge without the enable does not change the state, so the other edges are enough.
            moving = bor(pins[_ENABLE], bnot(pins[_RESET])) if protocol.holds else pins[_ENABLE]
            runs[number] = _after(protocol, state, line, {**pins, _ENABLE: moving})
        if decide(claims[0][-1], _ONE, ()).equal is not True:
            return None
        if edge and decide(claims[1][-1], _ONE, tuple(claims[1][:-1])).equal is True:
            return edge
    return None


def _broken(protocol: _Protocol, decide: Decide, enabled: bool) -> tuple[list[dict[Term, int]], int] | None:
    """Return the pins, edge by edge, of a shortest run after which the output is wrong, and the right value.

    The output is wrong both if all registers start at 0 and if all start at 1. Returns None if no run is found.
    """
    first = 1 if protocol.has_reset else len(protocol.line)
    starts = [dict.fromkeys(protocol.system.state, constant) for constant in (_ZERO, _ONE)]
    runs = [(start, dict.fromkeys(protocol.line, _ZERO)) for start in starts]
    given: list[dict[Term, Term]] = []
    for edge in range(first + 2 * len(protocol.line) + _MORE):
        pins = protocol.pins(edge, enabled)
        if edge < first:
            pins |= {_ENABLE: _ONE, _RESET: _ONE if protocol.has_reset else _ZERO}
        given.append(pins)
        if edge >= first:
            right = [rebuild(protocol.right, {**state, **line, **pins}) for state, line in runs]
            decision = decide(bor(right[0], right[1]), _ONE, ())
            if decision.equal is False:
                due = rebuild(protocol.due, {**runs[0][1], **pins})
                return [_values(step, decision.model) for step in given], _value(due, decision.model)
            if decision.equal is None:
                return None
        runs = [_after(protocol, state, line, pins) for state, line in runs]
    return None


def _values(pins: Mapping[Term, Term], model: Mapping[Term, int]) -> dict[Term, int]:
    return {pin: _value(term, model) for pin, term in pins.items()}


def _value(term: Term, model: Mapping[Term, int]) -> int:
    return rebuild(term, {t: const(t.width, model.get(t, 0)) for t in leaves(term) if t.op != "const"}).value


def _steps(
    trace: Sequence[Mapping[Term, int]], clocking: Clocking, system: TransitionSystem
) -> tuple[dict[str, int], ...]:
    """Return the pins by name, and the data on which the result depends, before each edge of a run."""
    names = {_VALID: clocking.valid_in, _ENABLE: clocking.enable, _RESET: clocking.reset}
    steps = []
    for step in trace:
        pins = {name: step[pin] for pin, name in names.items() if name is not None}
        if clocking.reset is not None and clocking.reset_low:
            pins[clocking.reset] ^= 1
        for term, (name, bit) in system.inputs.items():
            if term in step:
                pins[name] = pins.get(name, 0) | step[term] << bit
        steps.append(pins)
    return tuple(steps)
