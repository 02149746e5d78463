"""Which pins of a register are resets, enables or gates, what is refused as state, and what remains data."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from support.said import raises
from support.wiring import Wiring, over_inputs

from dais_verif.base.errors import InputError, StateError
from dais_verif.hardware.ports.interface import Clocking
from dais_verif.prover.clocked.registers.control_inference import infer_controls
from dais_verif.prover.netlist import Driver
from dais_verif.prover.solve.discharge import decide
from dais_verif.prover.terms import Term, add, band, bnot, bor, concat, const, extract, ite, nonzero, var

IN = var(4, "IN")
ZERO, ONE = const(4, 0), const(4, 1)


def wired(*pins: str) -> Wiring:
    return Wiring(clk=1, IN=4, **dict.fromkeys(pins, 1))


def settle(
    wiring: Wiring,
    needed: Iterable[str] = ("q",),
    constants: dict[str, int] | None = None,
    clocking: Clocking | None = None,
    data: tuple[str, ...] = ("IN",),
) -> dict[str, int]:
    boundary = wiring.boundary(*needed, data=data, constants=constants)
    return infer_controls(wiring.netlist(*needed), boundary, [wiring.signals[name] for name in needed], clocking)


def enables(wiring: Wiring, name: str = "q") -> list[tuple[int, int, str | None]]:
    """Return the lowest bit, the width and the enable of each driver of a register."""
    found = []
    for driver in wiring.signals[name].drivers:
        assert driver.clock is not None
        found.append((driver.low, driver.width, driver.clock.enable and driver.clock.enable.name))
    return found


def data_of(wiring: Wiring, name: str = "q", **held: int) -> Term:
    return over_inputs(wiring.netlist(name), name, **held)


def only_driver(wiring: Wiring, name: str = "q") -> Driver:
    (driver,) = wiring.signals[name].drivers
    return driver


def same(a: Term, b: Term) -> bool:
    return decide(a, b, (), 10.0).equal is True


# designs in which nothing is inferred


def test_wires_alone_are_left_as_they_are() -> None:
    wiring = wired("en").wire("q", 4, lambda s: ite(s("en"), s("IN"), ZERO))
    before = only_driver(wiring)
    assert settle(wiring) == {}
    assert only_driver(wiring) is before


def test_a_register_of_data_is_left_as_it_is() -> None:
    wiring = wired("rst").register("q", 4, lambda s: add(s("IN"), ONE))
    before = only_driver(wiring)
    assert settle(wiring) == {}
    assert only_driver(wiring) is before


def test_what_nothing_needs_may_keep_state() -> None:
    wiring = wired().register("q", 4, lambda s: s("IN")).register("count", 4, lambda s: add(s("count"), ONE))
    before = only_driver(wiring, "count")
    assert settle(wiring) == {}
    assert only_driver(wiring, "count") is before
    with pytest.raises(StateError, match=r"'count'.*state"):
        settle(wiring, ["q", "count"])


# resets and enables

#: Name: the next value, the pins that are held, the enable that is found.
REGISTERS: dict[str, tuple[Callable[..., Term], dict[str, int], str | None]] = {
    "enable": (lambda s: ite(s("en"), s("IN"), s("q")), {}, "en"),
    "kept at one": (lambda s: ite(s("en"), s("q"), s("IN")), {"en": 0}, None),
    "reset": (lambda s: ite(s("rst"), ZERO, s("IN")), {"rst": 0}, None),
    "reset to a number": (lambda s: ite(s("rst"), const(4, 9), s("IN")), {"rst": 0}, None),
    "reset at zero": (lambda s: ite(s("rst"), s("IN"), ZERO), {"rst": 1}, None),
    "reset, else enable": (lambda s: ite(s("rst"), ZERO, ite(s("en"), s("IN"), s("q"))), {"rst": 0}, "en"),
    "reset while enabled": (
        lambda s: ite(s("en"), ite(s("rst"), ZERO, s("IN")), s("q")),
        {"rst": 0},
        "en",
    ),
    "two resets": (lambda s: ite(bor(s("rst"), s("en")), ZERO, s("IN")), {"rst": 0, "en": 0}, None),
    "a mask": (lambda s: band(s("IN"), concat(*[s("en")] * 4)), {"en": 1}, None),
    "through a wire": (lambda s: s("next"), {"rst": 0}, "en"),
    "through wires in a circle": (lambda s: s("kept"), {}, "en"),
    "a choice of data": (lambda s: ite(s("en"), s("IN"), add(s("IN"), ONE)), {}, None),
}


@pytest.mark.parametrize("name", REGISTERS)
def test_pins_of_a_register(name: str) -> None:
    make, held, enable = REGISTERS[name]
    wiring = wired("rst", "en")
    wiring.wire("next", 4, lambda s: ite(s("rst"), ZERO, ite(s("en"), s("IN"), s("q"))))
    wiring.wire("kept", 4, lambda s: ite(s("en"), s("IN"), s("q")))
    wiring.register("q", 4, make)
    assert settle(wiring) == held
    assert enables(wiring) == [(0, 4, enable)]
    left = ite(var(1, "en"), IN, add(IN, ONE)) if name == "a choice of data" else IN
    assert same(data_of(wiring, **held, **({enable: 1} if enable else {})), left)


def test_a_second_enable_is_held_at_one() -> None:
    wiring = wired("a", "b").register("q", 4, lambda s: ite(band(s("a"), s("b")), s("IN"), s("q")))
    with pytest.raises(StateError, match=r"'q'.*state"):
        settle(wiring)


def test_what_another_register_holds_is_known_to_this_one() -> None:
    """A pin that one register holds is known to the others; by itself, no pin of ``q`` makes ``q`` constant."""
    for needed in (["q", "other"], ["other", "q"]):
        again = wired("a", "b")
        again.register("q", 4, lambda s: ite(band(s("b"), bnot(s("a"))), ZERO, s("IN")))
        again.register("other", 4, lambda s: ite(s("a"), ZERO, s("IN")))
        assert settle(again, needed) == {"a": 0, "b": 0}
        assert data_of(again, "q") is IN


def test_one_reset_that_two_registers_want_at_two_values() -> None:
    wiring = wired("rst").register("q", 4, lambda s: ite(s("rst"), ZERO, s("IN")))
    wiring.register("p", 4, lambda s: ite(s("rst"), s("IN"), ZERO))
    with raises(InputError):
        settle(wiring, ["q", "p"])


def test_what_was_said_of_a_pin_is_no_finding() -> None:
    wiring = wired("rst").register("q", 4, lambda s: ite(s("rst"), ZERO, s("IN")))
    assert settle(wiring, constants={"rst": 0}) == {}
    assert data_of(wiring) is IN


def test_what_was_said_of_a_pin_is_not_overruled() -> None:
    wiring = wired("rst").register("q", 4, lambda s: s("IN"), resets=[("rst", 0)])
    wiring.register("p", 4, lambda s: ite(s("rst"), ZERO, s("IN")), resets=[("rst", 1)])
    with raises(InputError):
        settle(wiring, ["q", "p"], constants={"rst": 1})


def test_an_input_of_several_bits_is_no_pin() -> None:
    wiring = Wiring(clk=1, IN=4, mode=2).register("q", 4, lambda s: ite(eq_zero(s("mode")), ZERO, s("IN")))
    before = only_driver(wiring)
    assert settle(wiring) == {}
    assert only_driver(wiring) is before


def eq_zero(term: Term) -> Term:
    return bnot(nonzero(term))


def test_an_input_that_carries_data_is_no_pin() -> None:
    wiring = Wiring(clk=1, IN=4, bit=1).register("q", 4, lambda s: ite(s("bit"), s("IN"), ZERO))
    assert settle(wiring, data=("IN", "bit")) == {}
    assert enables(wiring) == [(0, 4, None)]


# asynchronous resets


def reset_by(make: Callable[..., Term], inactive: int = 0, *, through: bool = True) -> Wiring:
    """Return a register with an asynchronous reset ``r``, which makes it zero while ``r`` is not ``inactive``."""
    wiring = wired("rst", "en").wire("r", 1, make)

    def following(s: Callable[..., Term]) -> Term:
        return ite(s("r"), s("IN"), ZERO) if inactive else ite(s("r"), ZERO, s("IN"))

    return wiring.register("q", 4, following, resets=[("r", inactive)])


def test_asynchronous_reset() -> None:
    wiring = wired("rst").register("q", 4, lambda s: ite(s("rst"), ZERO, s("IN")), resets=[("rst", 0)])
    assert settle(wiring) == {"rst": 0}
    assert data_of(wiring, rst=0) is IN


@pytest.mark.parametrize("inactive", [0, 1])
def test_an_asynchronous_reset_by_another_name(inactive: int) -> None:
    wiring = reset_by(lambda s: s("rst"), inactive)
    assert settle(wiring) == {"rst": inactive}
    assert data_of(wiring, rst=inactive) is IN


def test_a_name_of_a_name() -> None:
    wiring = wired("rst").wire("r", 1, lambda s: s("rst")).wire("rr", 1, lambda s: s("r"))
    wiring.register("q", 4, lambda s: ite(s("rr"), ZERO, s("IN")), resets=[("rr", 0)])
    assert settle(wiring) == {"rst": 0}


@pytest.mark.parametrize("inactive", [0, 1])
def test_a_reset_that_is_tied_to_where_it_does_nothing(inactive: int) -> None:
    """A reset tied to its inactive value is ignored: a cell of a netlist has a reset pin, used or not."""
    wiring = reset_by(lambda s: const(1, inactive), inactive)
    assert settle(wiring) == {}
    assert data_of(wiring) is IN
    active = reset_by(lambda s: const(1, 1 - inactive), inactive)
    with raises(InputError):
        settle(active)


#: Resets that are not a pin: two pins together, an active constant, data, a register.
NO_PIN: dict[str, Callable[..., Term]] = {
    "two pins": lambda s: bor(s("rst"), s("en")),
    "always active": lambda s: const(1, 1),
    "data": lambda s: s("IN", 0, 1),
    "a pin and data": lambda s: band(s("rst"), s("IN", 0, 1)),
    "a register": lambda s: s("late"),
}


@pytest.mark.parametrize("name", NO_PIN)
def test_an_asynchronous_reset_that_is_no_pin(name: str) -> None:
    wiring = wired("rst", "en").register("late", 1, lambda s: s("rst")).wire("r", 1, NO_PIN[name])
    wiring.register("q", 4, lambda s: ite(s("r"), ZERO, s("IN")), resets=[("r", 0)])
    with raises(InputError):
        settle(wiring)


def test_an_asynchronous_reset_that_is_an_inverted_pin() -> None:
    wiring = wired("rst").wire("r", 1, lambda s: bnot(s("rst")))
    wiring.register("q", 4, lambda s: ite(s("r"), ZERO, s("IN")), resets=[("r", 0)])
    assert settle(wiring) == {"rst": 1}


def test_what_is_loaded_at_a_reset_is_refused() -> None:
    wiring = wired("rst").register("q", 4, lambda s: ite(s("rst"), s("IN"), add(s("IN"), ONE)), resets=[("rst", 0)])
    with raises(InputError):
        settle(wiring)


def test_a_register_that_one_reset_clears_and_another_loads() -> None:
    wiring = wired("rst", "en")
    wiring.register(
        "q", 4, lambda s: ite(s("rst"), ZERO, ite(s("en"), s("IN"), s("IN"))), resets=[("rst", 0), ("en", 0)]
    )
    with raises(InputError):
        settle(wiring)


# state, and registers that only look like state

STATE: dict[str, Callable[..., Term]] = {
    "a counter": lambda s: add(s("q"), ONE),
    "a sum": lambda s: add(s("q"), s("IN")),
    "a counter with a reset": lambda s: ite(s("rst"), ZERO, add(s("q"), ONE)),
    "kept unless a pin has data": lambda s: ite(s("rst"), s("IN"), ite(s("en"), s("q"), ONE)),
    "kept by a bit of data": lambda s: ite(s("IN", 0, 1), s("IN"), s("q")),
    "nothing but itself": lambda s: s("q"),
}


@pytest.mark.parametrize("name", STATE)
def test_state_is_refused(name: str) -> None:
    wiring = wired("rst", "en").register("q", 4, STATE[name])
    with pytest.raises(StateError, match=r"'q'.*state"):
        settle(wiring)


def test_a_register_that_reads_itself_without_an_effect() -> None:
    """A register with its enable tied to 1, like a cell of a netlist, loses the loop through itself."""
    wiring = wired().register("q", 4, lambda s: ite(const(1, 1), s("IN"), s("q")))
    assert settle(wiring) == {}
    assert data_of(wiring) is IN


# bit by bit


def test_bits_with_enables_of_their_own() -> None:
    def following(s: Callable[..., Term]) -> Term:
        high = ite(s("b"), s("IN", 2, 2), s("q", 2, 2))
        return concat(high, ite(s("a"), s("IN", 0, 2), s("q", 0, 2)))

    wiring = wired("a", "b").register("q", 4, following)
    assert settle(wiring) == {}
    assert enables(wiring) == [(0, 2, "a"), (2, 2, "b")]
    assert data_of(wiring, a=1, b=1) is IN


def test_bits_of_which_some_are_data() -> None:
    def following(s: Callable[..., Term]) -> Term:
        return concat(s("IN", 3, 1), ite(s("a"), s("IN", 0, 3), s("q", 0, 3)))

    wiring = wired("a").register("q", 4, following)
    assert settle(wiring) == {}
    assert enables(wiring) == [(0, 3, "a"), (3, 1, None)]


def test_bits_with_resets_of_their_own() -> None:
    def following(s: Callable[..., Term]) -> Term:
        return concat(ite(s("b"), const(2, 0), s("IN", 2, 2)), ite(s("a"), s("IN", 0, 2), const(2, 3)))

    wiring = wired("a", "b").register("q", 4, following)
    assert settle(wiring) == {"a": 1, "b": 0}
    assert data_of(wiring, a=1, b=0) is IN


def test_one_bit_that_keeps_state_among_others() -> None:
    def following(s: Callable[..., Term]) -> Term:
        return concat(s("IN", 1, 3), bnot(s("q", 0, 1)))

    wiring = wired("a").register("q", 4, following)
    with pytest.raises(StateError, match=r"'q'.*state"):
        settle(wiring)


def test_a_shift_register_is_a_pipeline_bit_by_bit() -> None:
    wiring = wired("a").register("q", 4, lambda s: concat(s("q", 0, 3), s("IN", 0, 1)))
    assert settle(wiring) == {}
    assert enables(wiring) == [(n, 1, None) for n in range(4)]
    assert data_of(wiring) is concat(*[extract(IN, 0, 1)] * 4)


def test_bits_that_change_places_are_a_loop() -> None:
    wiring = wired().register("q", 4, lambda s: concat(s("q", 0, 2), s("q", 2, 2)))
    assert settle(wiring) == {}
    with pytest.raises(StateError, match=r"'q'.*state"):
        data_of(wiring)


def test_parts_of_a_register_with_drivers_of_their_own() -> None:
    wiring = wired("a")
    wiring.register("q", 2, lambda s: s("IN", 0, 2), low=0, of=4)
    wiring.register("q", 2, lambda s: ite(s("a"), s("IN", 2, 2), s("q", 2, 2)), low=2)
    assert settle(wiring) == {}
    assert enables(wiring) == [(0, 2, None), (2, 2, "a")]
    assert data_of(wiring, a=1) is IN


def test_a_part_of_a_register_that_keeps_another_part() -> None:
    wiring = wired("a")
    wiring.register("q", 2, lambda s: s("IN", 0, 2), low=0, of=4)
    wiring.register("q", 2, lambda s: ite(s("a"), s("IN", 2, 2), s("q", 0, 2)), low=2)
    settle(wiring)
    assert enables(wiring) == [(0, 2, None), (2, 1, None), (3, 1, None)]
    assert data_of(wiring, a=0) is concat(extract(IN, 0, 2), extract(IN, 0, 2))


# gates: bits that travel with a vector

VALID = Clocking("clk", valid_in="v")


def gated(gate: Callable[..., Term], *, width: int = 4) -> Wiring:
    wiring = Wiring(clk=1, IN=4, v=1, rst=1).register("v1", 1, lambda s: s("v"))
    wiring.register("a", 4, lambda s: s("IN"))
    return wiring.register("q", width, lambda s: ite(gate(s), s("a", 0, width), s("q", 0, width)))


def test_a_register_that_waits_for_its_valid_bit() -> None:
    wiring = gated(lambda s: s("v1"))
    assert settle(wiring, constants={"v": 1}, clocking=VALID) == {}
    assert enables(wiring) == [(0, 4, None)]
    assert data_of(wiring, v=1) is IN


def test_a_register_reads_its_gate() -> None:
    """The gate must be as old as the data, so the latency analysis must see that it is read."""
    wiring = gated(lambda s: s("v1"))
    settle(wiring, constants={"v": 1}, clocking=VALID)
    read: list[tuple[str, int, int]] = []

    def seen(signal, low, width):
        read.append((signal.name, low, width))
        return var(width, signal.name)

    only_driver(wiring).make(seen)
    assert ("v1", 0, 1) in read


def test_a_gate_that_valid_vectors_do_not_open() -> None:
    wiring = gated(lambda s: s("a", 0, 1))
    with pytest.raises(StateError, match=r"'q'.*state"):
        settle(wiring, constants={"v": 1}, clocking=VALID)


def test_a_gate_that_is_one_of_two() -> None:
    wiring = gated(lambda s: band(s("v1"), s("a", 0, 1)))
    with pytest.raises(StateError, match=r"'q'.*state"):
        settle(wiring, constants={"v": 1}, clocking=VALID)


def test_two_gates() -> None:
    wiring = gated(lambda s: band(s("v1"), s("v2"))).register("v2", 1, lambda s: s("v"))
    assert settle(wiring, constants={"v": 1}, clocking=VALID) == {}
    assert data_of(wiring, v=1) is IN


def test_a_gate_that_opens_at_zero_is_state() -> None:
    wiring = gated(lambda s: bnot(s("v1")))
    with pytest.raises(StateError, match=r"'q'.*state"):
        settle(wiring, constants={"v": 1}, clocking=VALID)


def test_a_gate_behind_a_reset_that_is_held() -> None:
    wiring = Wiring(clk=1, IN=4, v=1, rst=1)
    wiring.register("v1", 1, lambda s: ite(s("rst"), const(1, 0), s("v"))).register("a", 4, lambda s: s("IN"))
    wiring.register("q", 4, lambda s: ite(s("v1"), s("a"), s("q")))
    assert settle(wiring, constants={"v": 1}, clocking=VALID) == {"rst": 0}
    assert data_of(wiring, v=1, rst=0) is IN


def test_the_valid_pin_itself_is_a_gate_and_no_enable() -> None:
    wiring = Wiring(clk=1, IN=4, v=1).register("q", 4, lambda s: ite(s("v"), s("IN"), s("q")))
    assert settle(wiring, constants={"v": 1}, clocking=VALID) == {}
    assert enables(wiring) == [(0, 4, None)]
    without = Wiring(clk=1, IN=4, v=1).register("q", 4, lambda s: ite(s("v"), s("IN"), s("q")))
    assert settle(without) == {}
    assert enables(without) == [(0, 4, "v")]


def test_halves_with_gates_of_their_own() -> None:
    wiring = Wiring(clk=1, IN=4, v=1, en=1).register("v1", 1, lambda s: s("v")).register("v2", 1, lambda s: s("v"))

    def following(s: Callable[..., Term]) -> Term:
        return concat(ite(s("v2"), s("IN", 2, 2), s("q", 2, 2)), ite(s("v1"), s("IN", 0, 2), s("q", 0, 2)))

    wiring.register("q", 4, following)
    assert settle(wiring, constants={"v": 1}, clocking=VALID) == {}
    assert enables(wiring) == [(0, 2, None), (2, 2, None)]
    assert data_of(wiring, v=1) is IN
