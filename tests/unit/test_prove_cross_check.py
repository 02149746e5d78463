"""Two readings of one design are cross-checked: what is the same in both, what differs, and what is left out."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.said import as_recorded, raises
from support.wiring import Wiring

from dais_verif.base.errors import InputError
from dais_verif.prover.cross_check import CrossCheck, compare_readings
from dais_verif.prover.netlist import NoValue
from dais_verif.prover.results import ProofOptions, ProofWatcher
from dais_verif.prover.solve.pool import Pool
from dais_verif.prover.terms import Term, add, band, bnot, bor, bxor, concat, const, ite, mul, sub, undefined

Made = Callable[..., Term]


def wired(**more: int) -> Wiring:
    return Wiring(clk=1, rst=1, a=4, b=4, **more)


def compared(first: Wiring, second: Wiring, *outputs: str) -> CrossCheck:
    outputs = outputs or ("y",)
    pool = Pool(ProofOptions(timeout=5.0, jobs=1), ProofWatcher())
    return compare_readings(first.netlist(*outputs), second.netlist(*outputs), pool, ProofWatcher())


def both(one: Made, other: Made) -> CrossCheck:
    """Compare two readings that make ``y`` in different ways, beside a wire ``t`` that is the same in both."""
    wirings = [wired().wire("t", 4, lambda s: add(s("a"), s("b"))).wire("y", 4, make) for make in (one, other)]
    return compared(*wirings)


# readings that are the same


def test_one_text_read_twice() -> None:
    assert both(lambda s: bnot(s("t")), lambda s: bnot(s("t"))) == CrossCheck(2)


def test_the_same_function_in_another_form() -> None:
    either = lambda s: add(band(s("t"), s("b")), bor(s("t"), s("b")))  # noqa: E731
    assert both(either, lambda s: add(s("t"), s("b"))) == CrossCheck(2)


def test_what_is_the_same_only_behind_other_names() -> None:
    assert both(lambda s: sub(s("t"), s("b")), lambda s: s("a")) == CrossCheck(2)
    assert both(lambda s: s("a"), lambda s: sub(s("t"), s("b"))) == CrossCheck(2)


@pytest.mark.parametrize("levels", [1, 2, 3, 5, 9])
def test_what_is_the_same_only_behind_many_names(levels: int) -> None:
    """One reading of ``y`` uses the last name of a chain, the other the input at its beginning."""
    wirings = []
    for end in (f"n{levels}", "a"):
        wiring = wired().wire("n0", 4, lambda s: s("a"))
        for n in range(levels):
            wiring.wire(f"n{n + 1}", 4, lambda s, n=n: bnot(s(f"n{n}")) if n < levels - levels % 2 else s(f"n{n}"))
        wirings.append(wiring.wire("y", 4, lambda s, end=end: mul(s(end), s("b"))))
    assert compared(*wirings) == CrossCheck(levels + 2)


def test_what_reads_too_many_names_is_not_compared_down_to_the_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    def chain(end: Made) -> Wiring:
        wiring = wired().wire("p0", 4, lambda s: s("a")).wire("q0", 4, lambda s: s("b"))
        for n in range(6):
            wiring.wire(f"p{n + 1}", 4, lambda s, n=n: bnot(s(f"q{n}"))).wire(f"q{n + 1}", 4, lambda s, n=n: s(f"p{n}"))
        return wiring.wire("y", 4, end)

    last = lambda s: add(s("p6"), s("q6"))  # noqa: E731
    first = lambda s: add(bnot(s("a")), bnot(s("b")))  # noqa: E731
    assert compared(chain(last), chain(first)) == CrossCheck(15)
    monkeypatch.setattr("dais_verif.prover.cross_check._LARGEST", 3)
    as_recorded(str(compared(chain(last), chain(first)).difference))


def test_names_that_only_one_of_them_has() -> None:
    first = wired().wire("own", 4, lambda s: add(s("a"), s("b"))).wire("y", 4, lambda s: s("own"))
    assert compared(first, wired().wire("y", 4, lambda s: add(s("b"), s("a")))) == CrossCheck(1)


def test_names_that_only_one_of_them_drives() -> None:
    first = wired().wire("t", 4, lambda s: s("a")).wire("y", 4, lambda s: s("t"))
    second = wired().wire("y", 4, lambda s: s("a"))
    second.signals["t"] = wired(t=4).signals["t"]
    assert compared(first, second) == CrossCheck(1)


# readings that differ


@pytest.mark.parametrize(
    "other",
    [
        lambda s: add(s("a"), s("b"), const(4, 1)),
        lambda s: sub(s("a"), s("b")),
        lambda s: ite(band(s("a", 0, 1), s("b", 3, 1)), const(4, 0), add(s("a"), s("b"))),
        lambda s: s("b"),
    ],
)
def test_another_function(other: Made) -> None:
    found = compared(wired().wire("y", 4, lambda s: add(s("a"), s("b"))), wired().wire("y", 4, other))
    assert found.signals == 0
    assert found.difference is not None
    as_recorded(found.difference)


def test_a_name_within_that_is_another_function() -> None:
    first = wired().wire("t", 4, lambda s: s("a")).wire("y", 4, lambda s: s("b"))
    second = wired().wire("t", 4, lambda s: bnot(s("a"))).wire("y", 4, lambda s: s("b"))
    as_recorded(str(compared(first, second).difference))


def test_signals_of_other_widths() -> None:
    first = wired().wire("t", 3, lambda s: s("a", 0, 3)).wire("y", 4, lambda s: s("a"))
    second = wired().wire("t", 4, lambda s: s("a")).wire("y", 4, lambda s: s("a"))
    as_recorded(str(compared(first, second).difference))


@pytest.mark.parametrize(
    ("other", "outputs", "names"),
    [
        (
            Wiring(clk=1, rst=1, a=4, b=5),
            ("y",),
            "port 'b': 4 bits, 5 bits",
        ),
        (Wiring(clk=1, rst=1, a=4), ("y",), "port 'b': 4 bits,"),
        (
            Wiring(clk=1, rst=1, a=4, b=4, c=2),
            ("y",),
            "port 'c': 2 bits",
        ),
        (
            Wiring(clk=1, rst=1, a=5, b=6),
            ("y",),
            "port 'a': 4 bits, 5 bits",
        ),
        (wired(), ("y", "z"), "port 'z': 3 bits"),
    ],
)
def test_other_ports(other: Wiring, outputs: tuple[str, ...], names: str) -> None:
    first = wired().wire("y", 4, lambda s: s("a"))
    other.wire("y", 4, lambda s: s("a")).wire("z", 3, lambda s: s("a", 0, 3))
    pool = Pool(ProofOptions(jobs=1), ProofWatcher())
    found = compare_readings(first.netlist("y"), other.netlist(*outputs), pool, ProofWatcher())
    assert found == CrossCheck(0, found.difference) and found.difference is not None
    assert all(name in found.difference for name in names.split()), found
    as_recorded(found.difference)


# registers


def registered(make: Made, clock: str = "clk", resets: tuple[tuple[str, int], ...] = (), of: str = "") -> Wiring:
    wiring = wired(clk2=1).wire("r", 1, lambda s: s("rst")).wire("c", 1, lambda s: s("clk"))
    wiring.register("q", 4, make, clock=clock, resets=resets)
    return wiring.wire("y", 4, lambda s: bnot(s("q")))


def test_registers_by_the_same_pins_and_by_other_names_of_them() -> None:
    cleared = lambda s: ite(s("rst"), const(4, 0), s("a"))  # noqa: E731
    assert compared(registered(cleared), registered(cleared, "c")) == CrossCheck(4)
    one, other = (registered(cleared, resets=((reset, 0),)) for reset in ("rst", "r"))
    assert compared(one, other) == CrossCheck(4)


def test_a_register_that_reads_itself() -> None:
    count = lambda s: add(s("q"), s("a"))  # noqa: E731
    assert compared(registered(count), registered(count)) == CrossCheck(4)
    as_recorded(str(compared(registered(count), registered(lambda s: s("a"))).difference))


@pytest.mark.parametrize(
    "other", [{"clock": "clk2"}, {"resets": (("rst", 1),)}, {"resets": ()}, {"resets": (("clk2", 0),)}]
)
def test_other_clocks_or_resets(other: dict[str, object]) -> None:
    cleared = lambda s: ite(s("rst"), const(4, 0), s("a"))  # noqa: E731
    one = registered(cleared, resets=(("rst", 0),))
    as_recorded(str(compared(one, registered(cleared, **{"resets": (("rst", 0),), **other})).difference))


def test_a_wire_in_one_and_a_register_in_the_other() -> None:
    first = wired().wire("y", 4, lambda s: s("a"))
    as_recorded(str(compared(first, wired().register("y", 4, lambda s: s("a"))).difference))


def test_a_register_that_only_one_of_them_has() -> None:
    first = wired().register("own", 4, lambda s: s("a")).wire("y", 4, lambda s: s("own"))
    second = wired().wire("y", 4, lambda s: s("a"))
    for pair in ((first, second), (second, first)):
        with raises(InputError):
            compared(*pair)


def test_registers_in_a_circle() -> None:
    def circle() -> Wiring:
        wiring = wired().register("p", 4, lambda s: add(s("q"), s("a"))).register("q", 4, lambda s: s("p"))
        return wiring.wire("y", 4, lambda s: s("q"))

    assert compared(circle(), circle()) == CrossCheck(3)


# values that do not exist


def without_value(s: Made) -> Term:
    raise NoValue("model.v:7")


def test_what_makes_no_sense_and_no_output_needs() -> None:
    for one, other in ((without_value, lambda s: s("a")), (lambda s: s("a"), without_value)):
        first, second = (wired().wire("t", 4, make).wire("y", 4, lambda s: s("b")) for make in (one, other))
        assert compared(first, second) == CrossCheck(1)


def test_what_makes_no_sense_and_an_output_needs() -> None:
    for one, other in ((without_value, lambda s: s("a")), (lambda s: s("a"), without_value)):
        first, second = (wired().wire("t", 4, make).wire("y", 4, lambda s: s("t")) for make in (one, other))
        with raises(InputError):
            compared(first, second)


def test_a_register_that_makes_no_sense() -> None:
    for one, other in ((without_value, lambda s: s("a")), (lambda s: s("a"), without_value)):
        first, second = (wired().register("t", 4, make).wire("y", 4, lambda s: s("t")) for make in (one, other))
        with raises(InputError):
            compared(first, second)


def test_bits_of_vectors_that_read_each_other() -> None:
    """Two vectors form a loop by their names, but not by their bits."""

    def twisted(last: Made = lambda s: s("w", 0, 2)) -> Wiring:
        wiring = wired().wire("v", 2, lambda s: s("a", 0, 2), of=4).wire("w", 2, lambda s: bnot(s("v", 0, 2)), of=4)
        wiring.wire("v", 2, last, low=2).wire("w", 2, lambda s: s("v", 2, 2), low=2)
        return wiring.wire("y", 4, lambda s: s("w"))

    assert compared(twisted(), twisted()) == CrossCheck(3)
    as_recorded(str(compared(twisted(), twisted(lambda s: s("b", 0, 2))).difference))


def test_a_loop() -> None:
    def loop() -> Wiring:
        return wired().wire("p", 4, lambda s: s("q")).wire("q", 4, lambda s: s("p")).wire("y", 4, lambda s: s("p"))

    with raises(InputError):
        compared(loop(), loop())


# undefined values


def free(width: int, name: str) -> Term:
    return undefined(width, name)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (lambda s: free(4, "x"), lambda s: free(4, "z"), True),
        (lambda s: free(4, "x"), lambda s: s("a"), False),
        (lambda s: s("a"), lambda s: free(4, "x"), False),
        (lambda s: concat(free(2, "x"), s("a", 0, 2)), lambda s: concat(free(2, "z"), s("a", 0, 2)), True),
        (lambda s: concat(free(2, "x"), s("a", 0, 2)), lambda s: concat(free(2, "z"), s("b", 0, 2)), False),
        (lambda s: concat(free(2, "x"), s("a", 0, 2)), lambda s: concat(s("a", 0, 3), free(1, "z")), False),
        (lambda s: ite(s("rst"), free(4, "x"), s("a")), lambda s: ite(s("rst"), free(4, "z"), s("a")), True),
        (lambda s: ite(s("rst"), free(4, "x"), s("a")), lambda s: ite(s("rst"), s("a"), free(4, "z")), False),
        (lambda s: ite(s("rst"), free(4, "x"), s("a")), lambda s: s("a"), False),
        (lambda s: bxor(free(4, "x"), s("a")), lambda s: free(4, "z"), True),
    ],
)
def test_undefined_bits_must_be_the_same_ones(one: Made, other: Made, same: bool) -> None:
    found = compared(wired().wire("y", 4, one), wired().wire("y", 4, other))
    if same:
        assert found == CrossCheck(1)
    else:
        assert found.signals == 0
        assert "signal 'y'" in str(found.difference)
