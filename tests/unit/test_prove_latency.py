"""The number of registers between inputs and a signal, and designs for which there is no single number."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.said import raises
from support.wiring import Wiring

from dais_verif.base.errors import InputError, StateError
from dais_verif.hardware.ports.interface import Clocking
from dais_verif.prover.clocked.registers.latency import OutOfStep, infer_timing
from dais_verif.prover.terms import Term, add, concat, const
from dais_verif.record.proof import Timing

Made = Callable[..., Term]


def wired(**more: int) -> Wiring:
    return Wiring(clk=1, IN=4, **more)


def timed(
    wiring: Wiring,
    *outputs: str,
    others: tuple[str, ...] = (),
    said: Clocking | None = None,
    constants: dict[str, int] | None = None,
) -> Timing | None:
    outputs = outputs or ("OUT",)
    boundary = wiring.boundary(*outputs, constants=constants)
    return infer_timing(wiring.netlist(*outputs), boundary, [wiring.signals[name] for name in others], said)


def chain(length: int, **options: str) -> Wiring:
    """Return a chain of ``length`` registers, the last of which drives the output through an adder."""
    wiring = wired(en=1)
    before = "IN"
    for n in range(length):
        wiring.register(f"q{n}", 4, lambda s, before=before: s(before), **options)
        before = f"q{n}"
    return wiring.wire("OUT", 4, lambda s: add(s(before), const(4, 1)))


# latencies


@pytest.mark.parametrize("length", [1, 2, 5])
def test_latency_is_the_number_of_registers(length: int) -> None:
    assert timed(chain(length)) == Timing(length, "clk", None)
    assert timed(chain(length, enable="en")) == Timing(length, "clk", "en")


def test_without_registers_there_is_no_timing() -> None:
    wiring = wired().wire("OUT", 4, lambda s: s("IN"))
    assert timed(wiring) is None
    assert timed(wiring, said=Clocking("clk", enable="e")) == Timing(0, "clk", "e")


def test_registers_that_nothing_reads() -> None:
    wiring = wired().wire("OUT", 4, lambda s: s("IN")).register("q", 4, lambda s: s("IN"))
    assert timed(wiring) is None
    assert timed(wiring, said=Clocking("other", enable="e")) == Timing(0, "other", "e")


def test_registers_of_which_only_an_op_needs_one() -> None:
    wiring = wired().wire("OUT", 4, lambda s: s("IN")).register("q", 4, lambda s: s("IN"))
    assert timed(wiring, others=("q",)) == Timing(0, "clk", None)


def test_bits_of_one_register_that_are_read_as_one() -> None:
    wiring = wired().register("q", 2, lambda s: s("IN", 0, 2), of=4).register("q", 2, lambda s: s("IN", 2, 2), low=2)
    assert timed(wiring.wire("OUT", 4, lambda s: s("q"))) == Timing(1, "clk", None)


def test_a_bit_of_another_age_is_not_looked_at_if_it_is_not_read() -> None:
    wiring = wired().register("q", 2, lambda s: s("IN", 0, 2), of=4).wire("q", 2, lambda s: s("IN", 2, 2), low=2)
    for low, latency in ((0, 1), (2, 0)):
        again = wired().register("q", 2, lambda s: s("IN", 0, 2), of=4).wire("q", 2, lambda s: s("IN", 2, 2), low=2)
        again.register("p", 2, lambda s, low=low: s("q", low, 2)).wire("OUT", 2, lambda s: s("p"))
        assert timed(again) == Timing(latency + 1, "clk", None)
    wiring.wire("OUT", 2, lambda s: s("q", 1, 2))
    with raises(OutOfStep):
        timed(wiring)


# different latencies that meet


def test_two_ages_meet() -> None:
    wiring = wired().register("q", 4, lambda s: s("IN")).wire("OUT", 4, lambda s: add(s("q"), s("IN")))
    with pytest.raises(OutOfStep, match=r"'OUT'.* clock.*\(IN is 0.*old, q is 1"):
        timed(wiring)


def test_two_outputs_of_different_ages() -> None:
    wiring = chain(1).wire("OTHER", 4, lambda s: s("IN"))
    with pytest.raises(OutOfStep, match=r"OTHER is 0 edges old, OUT is 1 edge old"):
        timed(wiring, "OUT", "OTHER")


@pytest.mark.parametrize("low", [0, 1, 3])
def test_an_output_of_which_one_bit_is_older(low: int) -> None:
    wiring = wired()
    for bit in range(4):
        (wiring.register if bit == low else wiring.wire)("OUT", 1, lambda s, bit=bit: s("IN", bit, 1), low=bit, of=4)
    with pytest.raises(OutOfStep, match=f"bit {low}.*OUT is 1.*old"):
        timed(wiring)


def test_an_output_of_one_bit() -> None:
    assert timed(wired().register("OUT", 1, lambda s: s("IN", 2, 1))) == Timing(1, "clk", None)


def test_an_op_whose_bits_have_two_ages() -> None:
    wiring = chain(1).wire("op", 8, lambda s: concat(s("q0"), s("IN")))
    assert timed(wiring) == Timing(1, "clk", None)
    with raises(OutOfStep):
        timed(wiring, others=("op",))


def test_inputs_that_keep_a_value_have_no_age() -> None:
    wiring = wired(tie=4).register("q", 4, lambda s: s("IN")).wire("OUT", 4, lambda s: add(s("q"), s("tie")))
    assert timed(wiring, constants={"tie": 3}) == Timing(1, "clk", None)


def test_the_valid_pin_travels_with_the_vector_though_it_has_one_value() -> None:
    wiring = wired(v=1).register("q", 4, lambda s: s("IN"))
    wiring.wire("OUT", 4, lambda s: add(s("q"), concat(const(3, 0), s("v"))))
    said = Clocking("clk", valid_in="v")
    with pytest.raises(OutOfStep, match="v is 0 edges old"):
        timed(wiring, constants={"v": 1}, said=said)
    assert timed(wiring, constants={"v": 1}, said=Clocking("clk")) == Timing(1, "clk", None)
    in_time = wired(v=1).register("q", 4, lambda s: s("IN")).register("v1", 1, lambda s: s("v"))
    in_time.wire("OUT", 4, lambda s: add(s("q"), concat(const(3, 0), s("v1"))))
    assert timed(in_time, constants={"v": 1}, said=said) == Timing(1, "clk", None)


# constants in registers


def settling(edges: int, registers: int) -> Wiring:
    """Return a design in which a constant behind ``edges`` registers meets data behind ``registers`` registers."""
    wiring = chain(registers)
    wiring.wire("k0", 4, lambda s: const(4, 5))
    for n in range(edges):
        wiring.register(f"k{n + 1}", 4, lambda s, n=n: s(f"k{n}"))
    last = f"q{registers - 1}" if registers else "IN"
    return wiring.wire("MET", 4, lambda s: add(s(last), s(f"k{edges}")))


@pytest.mark.parametrize(("edges", "registers"), [(0, 0), (1, 1), (1, 2), (2, 2), (0, 3)])
def test_a_constant_that_is_there_in_time(edges: int, registers: int) -> None:
    timing = timed(settling(edges, registers), "MET")
    assert (timing.latency if timing else 0) == registers


@pytest.mark.parametrize(("edges", "registers"), [(1, 0), (2, 1), (3, 1)])
def test_a_constant_that_is_there_too_late(edges: int, registers: int) -> None:
    with raises(OutOfStep):
        timed(settling(edges, registers), "MET")


def test_an_input_that_keeps_a_value_behind_a_register_is_there_after_an_edge() -> None:
    wiring = wired(tie=4).register("k", 4, lambda s: s("tie")).wire("OUT", 4, lambda s: add(s("IN"), s("k")))
    with raises(OutOfStep):
        timed(wiring, constants={"tie": 3})


@pytest.mark.parametrize("edges", [1, 3])
def test_an_output_that_is_constant_is_there_when_it_has_settled(edges: int) -> None:
    wiring = settling(edges, 1).wire("K", 4, lambda s: s(f"k{edges}"))
    assert timed(wiring, "K") == Timing(edges, "clk", None)


def test_the_latest_of_several_constants_counts() -> None:
    wiring = settling(2, 1).wire("K", 4, lambda s: add(s("k1"), s("k2")))
    assert timed(wiring, "K") == Timing(2, "clk", None)


def test_a_constant_that_does_not_wait_for_the_enable() -> None:
    """A constant arrives earlier than the data, so it may move at any edge; data may not."""
    wiring = chain(1, enable="en").register("k", 4, lambda s: const(4, 1))
    assert timed(wiring.wire("SUM", 4, lambda s: add(s("q0"), s("k"))), "SUM") == Timing(1, "clk", "en")
    other = chain(1, enable="en").register("p", 4, lambda s: s("IN"))
    with raises(OutOfStep, match=r"clock.*en"):
        timed(other.wire("SUM", 4, lambda s: add(s("q0"), s("p"))), "SUM")
    late = chain(1).register("k", 4, lambda s: const(4, 1), enable="en")
    with raises(OutOfStep, match=r"clock.*en"):
        timed(late.wire("SUM", 4, lambda s: add(s("q0"), s("k"))), "SUM")


# clocks and enables


def test_two_clocks() -> None:
    wiring = wired(clk2=1).register("q", 4, lambda s: s("IN")).register("p", 4, lambda s: s("IN"), clock="clk2")
    with raises(OutOfStep):
        timed(wiring.wire("OUT", 4, lambda s: add(s("q"), s("p"))))


def test_two_enables() -> None:
    wiring = wired(a=1, b=1).register("q", 4, lambda s: s("IN"), enable="a")
    wiring.register("p", 4, lambda s: s("q"), enable="b")
    with raises(OutOfStep, match=r"clock.*b"):
        timed(wiring.wire("OUT", 4, lambda s: s("p")))


def test_a_clock_and_an_enable_by_other_names_are_the_same() -> None:
    wiring = wired(en=1).wire("c", 1, lambda s: s("clk")).wire("e", 1, lambda s: s("en"))
    wiring.register("q", 4, lambda s: s("IN"), enable="en").register("p", 4, lambda s: s("q"), clock="c", enable="e")
    assert timed(wiring.wire("OUT", 4, lambda s: s("p"))) == Timing(2, "clk", "en")


#: Clocks and enables that are not a pin.
NO_PIN: dict[str, Made] = {
    "a gate": lambda s: add(s("clk"), s("other")),
    "a bit of data": lambda s: s("IN", 0, 1),
    "a constant": lambda s: const(1, 1),
    "a pin that has one value": lambda s: s("tie"),
    "a bit of a wide input": lambda s: s("wide", 1, 1),
    "a register": lambda s: s("divided"),
}


@pytest.mark.parametrize("name", NO_PIN)
@pytest.mark.parametrize("what", ["clock", "enable"])
def test_a_clock_or_an_enable_that_is_no_pin(name: str, what: str) -> None:
    wiring = wired(tie=1, other=1, wide=2).register("divided", 1, lambda s: s("other")).wire("w", 1, NO_PIN[name])
    wiring.register("q", 4, lambda s: s("IN"), **{what: "w"})
    with raises(InputError):
        timed(wiring.wire("OUT", 4, lambda s: s("q")), constants={"tie": 1})


def test_a_clock_that_changes_late() -> None:
    wiring = wired().wire("c", 1, lambda s: s("clk"))
    (driver,) = wiring.signals["c"].drivers
    wiring.signals["c"].drivers[:] = [driver._replace(late=True)]
    wiring.register("q", 4, lambda s: s("IN"), clock="c").wire("OUT", 4, lambda s: s("q"))
    with raises(InputError):
        timed(wiring)


def test_what_was_said_must_be_so() -> None:
    assert timed(chain(2, enable="en"), said=Clocking("clk", enable="en")) == Timing(2, "clk", "en")
    for said, message in (
        (Clocking("en", enable="en"), r"clock.*'model' is clk.*en"),
        (Clocking("clk"), r"clock enable.*'model' is en"),
        (Clocking("clk", enable="clk"), r"clock enable.*'model' is en.*clk"),
    ):
        with pytest.raises(OutOfStep, match=message):
            timed(chain(2, enable="en"), said=said)
    with raises(OutOfStep):
        timed(chain(2), said=Clocking("clk", enable="en"))


def test_a_circle_of_registers_is_state() -> None:
    wiring = wired().register("q", 4, lambda s: add(s("p"), s("IN"))).register("p", 4, lambda s: s("q"))
    with raises(StateError):
        timed(wiring.wire("OUT", 4, lambda s: s("p")))


def test_drivers_are_asked_once_each() -> None:
    made: list[str] = []

    def counted(s: Made) -> Term:
        made.append("q")
        return s("IN")

    wiring = wired().register("q", 4, counted).wire("a", 4, lambda s: s("q"))
    wiring.wire("OUT", 4, lambda s: add(add(s("a"), s("q")), s("q")))
    assert timed(wiring, others=("q", "a")) == Timing(1, "clk", None)
    assert made == ["q"]


def test_a_clock_of_two_bits() -> None:
    wiring = wired(wide=2).register("q", 4, lambda s: s("IN"), clock="wide").wire("OUT", 4, lambda s: s("q"))
    with raises(InputError):
        timed(wiring)
