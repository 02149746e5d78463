"""``valid_out`` equals ``valid_in`` some edges ago: proved, refuted by a shortest trace, or undecided."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.said import as_recorded
from support.wiring import Wiring

from dais_verif.base.text import counted
from dais_verif.hardware.ports.interface import Clocking
from dais_verif.prover.clocked.registers.handshake import prove_handshake
from dais_verif.prover.clocked.registers.transition_system import extract_transition_system
from dais_verif.prover.solve.discharge import Discharge, decide
from dais_verif.prover.terms import Term, add, band, bnot, bor, bxor, const, eq, ite, mul, nonzero
from dais_verif.record.proof import Handshake, Method, Status

ZERO, ONE = const(1, 0), const(1, 1)
Made = Callable[..., Term]

PINS = {
    "valid": Clocking("clk", valid_in="v", valid_out="out"),
    "reset": Clocking("clk", reset="rst", valid_in="v", valid_out="out"),
    "reset low": Clocking("clk", reset="rst", reset_low=True, valid_in="v", valid_out="out"),
    "enable": Clocking("clk", enable="en", valid_in="v", valid_out="out"),
    "both": Clocking("clk", reset="rst", enable="en", valid_in="v", valid_out="out"),
}


def certain(a: Term, b: Term, given: tuple[Term, ...]) -> Discharge:
    return decide(a, b, given, 10.0)


def wired(**more: int) -> Wiring:
    return Wiring(clk=1, v=1, rst=1, en=1, data=4, **more)


def line(length: int, following: Made, *, hold: bool = False) -> Wiring:
    """Return a chain of registers from ``v`` to ``out``; ``following(s, before, own)`` is the next value of each."""
    wiring, before = wired(), "v"
    for n in range(length):
        name = f"v{n}"
        wiring.register(name, 1, lambda s, before=before, name=name: following(s, s(before), s(name)))
        before = name
    return wiring.wire("out", 1, lambda s: s(before))


def shaken(
    wiring: Wiring, latency: int, pins: str, decide: Callable[..., Discharge] = certain, told: Made | None = None
) -> Handshake:
    """Prove the handshake of ``wiring``; ``told`` makes the signal that marks valid outputs, by default ``out``."""
    wiring.wire("told", 1, told or (lambda s: s("out")))
    machine = extract_transition_system(wiring.netlist("told"), wiring.signals["told"], "clk")
    return prove_handshake(machine, PINS[pins], latency, decide, seed=0)


def plain(s: Made, before: Term, own: Term) -> Term:
    return before


def reset(s: Made, before: Term, own: Term) -> Term:
    return ite(s("rst"), ZERO, before)


def reset_low(s: Made, before: Term, own: Term) -> Term:
    return ite(s("rst"), before, ZERO)


def stalled(s: Made, before: Term, own: Term) -> Term:
    return ite(s("en"), before, own)


def both(s: Made, before: Term, own: Term) -> Term:
    return ite(s("rst"), ZERO, ite(s("en"), before, own))


def reset_if_enabled(s: Made, before: Term, own: Term) -> Term:
    return ite(s("en"), ite(s("rst"), ZERO, before), own)


FOLLOWING = {"valid": plain, "reset": reset, "reset low": reset_low, "enable": stalled, "both": both}


@pytest.mark.parametrize("latency", [1, 2, 4])
@pytest.mark.parametrize("pins", PINS)
def test_a_line_of_registers(pins: str, latency: int) -> None:
    found = shaken(line(latency, FOLLOWING[pins]), latency, pins)
    assert (found.status, found.how) == (Status.PROVED, f"{counted(latency, 'bit')} of state")


@pytest.mark.parametrize("pins", PINS)
def test_no_registers_at_all(pins: str) -> None:
    wiring = wired().wire("out", 1, lambda s: s("v"))
    assert shaken(wiring, 0, pins).status is Status.PROVED
    inverted = wired().wire("out", 1, lambda s: bnot(s("v")))
    assert shaken(inverted, 0, pins).status is Status.REFUTED


@pytest.mark.parametrize("latency", [1, 3])
@pytest.mark.parametrize("pins", PINS)
@pytest.mark.parametrize("wrong", [-1, 1])
def test_a_line_of_another_length(pins: str, latency: int, wrong: int) -> None:
    found = shaken(line(latency + wrong, FOLLOWING[pins]), latency, pins)
    assert found.status is Status.REFUTED
    checked(found, latency + wrong, FOLLOWING[pins], latency, pins)


def checked(found: Handshake, length: int, following: Made, latency: int, pins: str) -> None:
    """Replay the trace of ``found`` from zeros and from ones: before its last edge, the output is wrong."""
    clocking = PINS[pins]
    steps = found.trace
    for start in (0, 1):
        own, model = [start] * length, [0] * latency
        for number, step in enumerate(steps):
            v, en, rst = (step.get(name, default) for name, default in (("v", 0), ("en", 1), ("rst", 0)))
            active = bool(rst) != clocking.reset_low if clocking.reset else False
            out, due = [v, *own][-1], [v, *model][-1]
            if number == len(steps) - 1:
                assert not active
                assert (out, found.due) == (1 - due, due)
            own = next_values(following, own, v, en, rst)
            model = [0] * latency if active else ([v, *model][:latency] if en or not clocking.enable else model)


def next_values(following: Made, own: list[int], v: int, en: int, rst: int) -> list[int]:
    pins = {"v": const(1, v), "en": const(1, en), "rst": const(1, rst)}
    return [
        following(pins.__getitem__, const(1, before), const(1, mine)).value
        for before, mine in zip([v, *own], own, strict=False)
    ]


#: Name: the pins, and the next value of each of two registers.
BROKEN: dict[str, tuple[str, Made]] = {
    "no reset": ("reset", plain),
    "a reset to one": ("reset", lambda s, before, own: ite(s("rst"), ONE, before)),
    "a reset at the other level": ("reset", reset_low),
    "a reset that stalls": ("reset", lambda s, before, own: ite(s("rst"), own, before)),
    "no enable": ("enable", plain),
    "an enable that clears": ("enable", lambda s, before, own: band(s("en"), before)),
    "an enable at the other level": ("enable", lambda s, before, own: ite(s("en"), own, before)),
    "sticks at one": ("reset", lambda s, before, own: ite(s("rst"), ZERO, bor(before, own))),
    "no reset beside an enable": ("both", stalled),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_mistake_is_shown_by_a_run(name: str) -> None:
    pins, following = BROKEN[name]
    found = shaken(line(2, following), 2, pins)
    assert found.status is Status.REFUTED
    edges = len(found.trace) - 1
    assert found.how == f"violated after {edges} edge{'s' * (edges != 1)}"
    checked(found, 2, following, 2, pins)


def test_the_run_is_a_shortest_one() -> None:
    assert len(shaken(line(2, BROKEN["no reset"][1]), 2, "reset").trace) == 3  # one edge resets
    assert len(shaken(line(3, plain), 2, "valid").trace) == 4
    assert shaken(wired().wire("out", 1, lambda s: bnot(s("v"))), 0, "valid").how == "violated after 0 edges"
    assert shaken(wired().wire("out", 1, lambda s: bnot(s("v"))), 0, "reset").how == "violated after 1 edge"


def test_a_reset_that_waits_for_the_enable() -> None:
    found = shaken(line(2, reset_if_enabled), 2, "both")
    as_recorded((found.status, found.how))


def test_bits_of_state_that_are_turned_round() -> None:
    wiring = wired().register("n", 1, lambda s: bor(s("rst"), bnot(s("v")))).wire("out", 1, lambda s: bnot(s("n")))
    assert shaken(wiring, 1, "reset").how == "1 bit of state"


def test_a_bit_of_state_that_is_constant() -> None:
    wiring = line(1, reset).register("k", 1, lambda s: bor(s("rst"), s("k")))
    found = shaken(wiring, 1, "reset", told=lambda s: band(s("out"), s("k")))
    assert (found.status, found.how) == (Status.PROVED, "2 bits of state")


def test_state_that_is_no_bit_of_the_line() -> None:
    """A line is proved whose state holds two of its stages as one of them and the exclusive or of both."""
    wiring = wired().register("a", 1, lambda s: reset(s, s("v"), ZERO))
    wiring.register("p", 1, lambda s: reset(s, bxor(s("a"), bxor(s("p"), s("r"))), ZERO))
    wiring.register("r", 1, lambda s: reset(s, bxor(s("p"), s("r")), ZERO))
    found = shaken(wiring.wire("out", 1, lambda s: s("r")), 3, "reset")
    assert (found.status, found.how) == (Status.PROVED, "k-induction over 3 edges")


def test_state_that_only_the_edge_before_tells_of() -> None:
    """Registers ``p`` and ``q`` are always equal, which follows only from the output at the previous edge."""
    wiring = line(1, reset)
    for name in "pq":
        wiring.register(name, 1, lambda s, name=name: ite(s("rst"), ZERO, bxor(s(name), s("data", 0, 1))))
    found = shaken(wiring, 1, "reset", told=lambda s: bxor(s("out"), bxor(s("p"), s("q"))))
    assert (found.status, found.how) == (Status.PROVED, "k-induction over 2 edges")


def test_data_must_not_matter() -> None:
    found = shaken(line(2, reset), 2, "reset", told=lambda s: band(s("out"), nonzero(s("data"))))
    assert (found.status, found.due) == (Status.REFUTED, 1)
    assert found.trace[-1]["data"] == 0
    found = shaken(line(2, reset), 2, "reset", told=lambda s: bor(s("out"), bnot(nonzero(add(s("data"), const(4, 3))))))
    assert (found.status, found.due) == (Status.REFUTED, 0)
    assert found.trace[-1]["data"] == 13


def test_data_stand_with_their_bits_in_their_places() -> None:
    only = const(4, 0b1010)
    found = shaken(line(1, reset), 1, "reset", told=lambda s: bxor(s("out"), eq(s("data"), only)))
    assert found.status is Status.REFUTED
    assert found.trace[-1]["data"] == 0b1010


def test_while_a_reset_is_active_the_output_may_be_anything() -> None:
    assert shaken(line(2, reset), 2, "reset", told=lambda s: bor(s("out"), s("rst"))).status is Status.PROVED
    assert shaken(line(2, reset), 2, "reset", told=lambda s: bor(s("out"), s("en"))).status is Status.REFUTED


def test_what_cannot_be_decided_is_unknown() -> None:
    def helpless(a: Term, b: Term, given: tuple[Term, ...]) -> Discharge:
        return Discharge(True, Method.IDENTICAL, 0.0) if a is b else Discharge(None, Method.SMT, 0.0)

    found = shaken(line(2, plain), 2, "reset", helpless)
    as_recorded((found.status, found.how))


def test_without_a_reset_what_moves_while_all_else_stalls_is_never_known() -> None:
    """Nothing is proved about ``odd``, which may have changed any number of times before the line was filled."""
    wiring = line(2, stalled).register("odd", 1, lambda s: bxor(s("odd"), s("v")))
    assert shaken(wiring, 2, "enable", told=lambda s: bxor(s("out"), s("odd"))).status is not Status.PROVED


def test_steps_name_the_pins() -> None:
    found = shaken(line(1, plain), 1, "reset low")
    assert found.status is Status.REFUTED
    assert [set(step) for step in found.trace] == [{"v", "rst"}] * len(found.trace)
    assert found.trace[0]["rst"] == 0  # active
    assert found.trace[-1]["rst"] == 1


def test_data_registers_beside_the_line() -> None:
    wiring = line(2, both).register("d", 4, lambda s: ite(s("en"), s("data"), s("d")))
    found = shaken(wiring, 2, "both", told=lambda s: ite(bit(s("d")), s("out"), band(s("out"), bnot(bit(s("d"))))))
    assert found.status is Status.PROVED


def bit(term: Term) -> Term:
    return nonzero(mul(term, term))
