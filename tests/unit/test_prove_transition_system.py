"""The transition system of a bit: its registers, their next values, and what a reset does to readers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.said import raises
from support.wiring import Wiring

from dais_verif.base.errors import InputError
from dais_verif.prover.clocked.registers.transition_system import TransitionSystem, extract_transition_system
from dais_verif.prover.solve.discharge import decide
from dais_verif.prover.terms import Term, add, band, bnot, bor, bxor, concat, const, extract, ite, rebuild, var

ZERO, ONE = const(1, 0), const(1, 1)
V, RST, EN = (var(1, f"input {name} 0") for name in ("v", "rst", "en"))

#: Two asynchronous resets, both active at 1.
BOTH = [("rst", 0), ("en", 0)]


def wired() -> Wiring:
    return Wiring(clk=1, v=1, rst=1, en=1, bus=4)


def machine(wiring: Wiring, out: str = "out", clock: str = "clk") -> TransitionSystem:
    return extract_transition_system(wiring.netlist(out), wiring.signals[out], clock)


def state(name: str, bit: int = 0) -> Term:
    return var(1, f"state {name} {bit}")


def same(a: Term, b: Term) -> bool:
    return decide(a, b, (), 10.0).equal is True


def test_wires_alone_have_no_state() -> None:
    found = machine(wired().wire("out", 1, lambda s: band(s("v"), s("en"))))
    assert found == TransitionSystem(band(V, EN), {}, {V: ("v", 0), EN: ("en", 0)})


def test_two_registers_in_a_row() -> None:
    wiring = wired().register("a", 1, lambda s: s("v")).register("out", 1, lambda s: s("a"))
    assert machine(wiring) == TransitionSystem(state("out"), {state("out"): state("a"), state("a"): V}, {V: ("v", 0)})


def test_an_enable_keeps_what_is_there() -> None:
    found = machine(wired().register("out", 1, lambda s: s("v"), enable="en"))
    assert same(found.state[state("out")], ite(EN, V, state("out")))
    assert found.inputs[EN] == ("en", 0)


@pytest.mark.parametrize("inactive", [0, 1])
def test_an_asynchronous_reset_is_seen_at_once(inactive: int) -> None:
    """The output, registers that read the reset one, and the state after the edge see the reset at once."""
    active = bnot(RST) if inactive else RST
    cleared: Callable[..., Term] = lambda s: (  # noqa: E731
        ite(s("rst"), s("v"), ZERO) if inactive else ite(s("rst"), ZERO, s("v"))
    )
    wiring = wired().register("a", 1, cleared, resets=[("rst", inactive)]).register("b", 1, lambda s: s("a"))
    wiring.wire("out", 1, lambda s: bxor(s("a"), s("b")))
    found = machine(wiring)
    seen = ite(active, ZERO, state("a"))
    assert same(found.out, bxor(seen, state("b")))
    assert same(found.state[state("a")], ite(active, ZERO, V))
    assert same(found.state[state("b")], seen)


def test_two_asynchronous_resets() -> None:
    wiring = wired().register("out", 1, lambda s: ite(s("rst"), ZERO, ite(s("en"), ONE, s("v"))), resets=BOTH)
    with raises(InputError):
        machine(wiring)  # zero if both are active, so ``en`` does not load a constant
    wiring = wired().register("out", 1, lambda s: ite(bor(s("rst"), s("en")), ZERO, s("v")), resets=BOTH)
    found = machine(wiring)
    assert same(found.out, band(state("out"), bnot(bor(RST, EN))))
    assert same(found.state[state("out")], band(V, bnot(bor(RST, EN))))


def test_what_is_loaded_at_a_reset_is_refused() -> None:
    wiring = wired().register("out", 1, lambda s: ite(s("rst"), s("v"), s("en")), resets=[("rst", 0)])
    with raises(InputError):
        machine(wiring)


def test_a_reset_that_is_no_pin_is_known_by_the_constant_only() -> None:
    made: Callable[..., Term] = lambda s: ite(s("r"), ZERO, s("v"))  # noqa: E731
    wiring = wired().wire("r", 1, lambda s: band(s("rst"), s("en"))).register("out", 1, made, resets=[("r", 0)])
    with raises(InputError):
        machine(wiring)
    wiring = (
        wired().wire("r", 1, lambda s: band(s("rst"), s("en"))).register("out", 1, lambda s: ZERO, resets=[("r", 0)])
    )
    assert same(machine(wiring).out, band(state("out"), bnot(band(RST, EN))))


def test_another_clock() -> None:
    wiring = wired().wire("c", 1, lambda s: s("clk")).register("a", 1, lambda s: s("v"), clock="c")
    wiring.register("out", 1, lambda s: s("a"))
    assert set(machine(wiring).state) == {state("a"), state("out")}
    with raises(InputError):
        machine(wiring, clock="en")
    for make in (lambda s: bnot(s("clk")), lambda s: s("a"), lambda s: s("bus", 0, 1)):
        again = wired().register("a", 1, lambda s: s("v")).wire("c", 1, make)
        again.register("out", 1, lambda s: s("a"), clock="c")
        with raises(InputError):
            machine(again)


def test_a_bit_of_a_port_is_another_clock_than_the_port() -> None:
    wiring = wired().wire("c", 1, lambda s: s("bus", 1, 1)).register("out", 1, lambda s: s("v"), clock="c")
    with raises(InputError):
        machine(wiring, clock="bus")


def test_a_clock_that_changes_late() -> None:
    wiring = wired().wire("c", 1, lambda s: s("clk"))
    (driver,) = wiring.signals["c"].drivers
    wiring.signals["c"].drivers[:] = [driver._replace(late=True)]
    with raises(InputError):
        machine(wiring.register("out", 1, lambda s: s("v"), clock="c"))


def test_bits_of_a_register_and_of_a_port() -> None:
    wiring = wired().register("r", 4, lambda s: add(s("r"), s("bus"))).wire("out", 1, lambda s: s("r", 2, 1))
    found = machine(wiring)
    bits = [state("r", n) for n in range(4)]
    bus = [var(1, f"input bus {n}") for n in range(4)]
    assert set(found.state) == set(bits)
    total = add(concat(*bits[::-1]), concat(*bus[::-1]))
    for n in range(4):
        assert same(found.state[bits[n]], extract(total, n, 1))
    assert [found.inputs[bit] for bit in bus] == [("bus", n) for n in range(4)]


def test_registers_beside_wires_in_one_signal() -> None:
    wiring = wired().wire("r", 1, lambda s: s("v"), of=4).register("r", 2, lambda s: s("bus", 0, 2), low=1)
    wiring.wire("r", 1, lambda s: s("en"), low=3).wire("out", 1, lambda s: parity(s("r")))
    found = machine(wiring)
    assert set(found.state) == {state("r", 1), state("r", 2)}
    assert same(found.out, parity(concat(EN, state("r", 2), state("r", 1), V)))
    assert same(found.state[state("r", 2)], var(1, "input bus 1"))


def parity(term: Term) -> Term:
    bits = [extract(term, n, 1) for n in range(term.width)]
    result = bits[0]
    for bit in bits[1:]:
        result = bxor(result, bit)
    return result


def test_a_part_of_a_signal_with_registers_and_wires() -> None:
    wiring = wired().wire("r", 1, lambda s: s("v"), of=4).register("r", 3, lambda s: s("bus", 0, 3), low=1)
    found = machine(wiring.wire("out", 1, lambda s: parity(s("r", 1, 2))))
    assert set(found.state) == {state("r", 1), state("r", 2)}
    assert found.state[state("r", 1)] is var(1, "input bus 0")


def test_a_register_with_bits_that_nothing_drives() -> None:
    wiring = wired().register("r", 2, lambda s: s("bus", 0, 2), of=4).wire("out", 1, lambda s: parity(s("r")))
    with raises(InputError):
        machine(wiring)


def test_what_is_no_protocol() -> None:
    wiring = Wiring(clk=1).register("r", 5000, lambda s: add(s("r"), const(5000, 1)))
    with raises(InputError):
        machine(wiring.wire("out", 1, lambda s: s("r", 4999, 1)))


def test_state_is_over_state_and_inputs_alone() -> None:
    """The terms of the system contain only state and inputs, no signals of the design."""
    wiring = wired().register("a", 1, lambda s: ite(s("rst"), ZERO, s("v")), resets=[("rst", 0)])
    wiring.register("b", 1, lambda s: bor(s("a"), s("b"))).wire("out", 1, lambda s: band(s("a"), s("b")))
    found = machine(wiring)
    known = {*found.state, *found.inputs}
    for term in (found.out, *found.state.values()):
        assert rebuild(term, dict.fromkeys(known, ONE)).op == "const"


@pytest.mark.parametrize("inactive", [0, 1])
def test_a_reset_that_is_tied_to_where_it_does_nothing(inactive: int) -> None:
    wiring = wired().wire("r", 1, lambda s: const(1, inactive))
    found = machine(wiring.register("out", 1, lambda s: s("v"), resets=[("r", inactive)]))
    assert (found.out, found.state) == (state("out"), {state("out"): V})
