"""Clocks and enables of registers are traced through other names to the input that they are."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.said import raises
from support.wiring import Wiring

from dais_verif.base.errors import InputError
from dais_verif.prover.clocked.registers.clock_gating import InputBit, PinReader
from dais_verif.prover.netlist import Driver
from dais_verif.prover.terms import Term, band, bnot, const


def input_of(wiring: Wiring, name: str) -> InputBit | None:
    return PinReader(wiring.netlist(name)).input_of(wiring.signals[name])


def wired() -> Wiring:
    return Wiring(clk=1, en=1, wide=3)


def test_an_input_is_itself() -> None:
    assert input_of(wired(), "en") == InputBit("en", 0)


def test_names_on_the_way_do_not_matter() -> None:
    wiring = wired().wire("a.c", 1, lambda s: s("clk")).wire("a.b.c", 1, lambda s: s("a.c"))
    assert input_of(wiring, "a.b.c") == InputBit("clk", 0)


def test_one_bit_of_a_wide_input() -> None:
    wiring = wired().wire("all", 3, lambda s: s("wide")).wire("one", 1, lambda s: s("all", 2, 1))
    assert input_of(wiring, "one") == InputBit("wide", 2)
    assert input_of(wiring, "all") is None


NONE: dict[str, Callable[..., Term]] = {
    "inverted": lambda s: bnot(s("clk")),
    "two inputs": lambda s: band(s("clk"), s("en")),
    "a constant": lambda s: const(1, 1),
    "a register": lambda s: s("q"),
    "a register and the input that it takes in": lambda s: band(s("q"), s("en")),
}


@pytest.mark.parametrize("name", NONE)
def test_what_is_computed_or_kept_is_no_input(name: str) -> None:
    wiring = wired().register("q", 1, lambda s: s("en")).wire("out", 1, NONE[name])
    assert input_of(wiring, "out") is None


def test_a_clock_that_comes_late_is_refused() -> None:
    wiring = wired().wire("late", 1, lambda s: s("clk")).wire("out", 1, lambda s: s("late"))
    (driver,) = wiring.signals["late"].drivers
    wiring.signals["late"].drivers[:] = [Driver(*driver)._replace(late=True)]
    with raises(InputError):
        input_of(wiring, "out")
