"""Restart of a machine on a board: by its own resets, by an added one, and which registers no reset restores."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from support.places import FSM

from dais_verif.golden.machine import trace_machine
from dais_verif.spec.machine import Machine, MachineBuilder, load_machine, parse_machine, validate
from dais_verif.spec.machine.restart import Restart, restart_of
from dais_verif.spec.program import FixedType

EXAMPLES = Path(__file__).parents[2] / "examples"
BLOCK = "block b {{\ninput a\na = u1.0 input a\nn = u1.0 not(a)\noutput n = n\n}}\n"

TEXT = """\
machine
input  go, rst: u1.0
input  x: u4.0
output y: u4.0
register r: u4.0 = 3 {reset}
{more}
r <- x when go
y <- r
"""


def restarted(reset: str, more: str = "") -> Restart:
    return restart_of(parse_machine(TEXT.format(reset=reset, more=more).encode()))


def real(name: str) -> Machine:
    return load_machine(EXAMPLES / name if name.endswith(".mach") else FSM / name / "fsm.json.gz")


@pytest.mark.parametrize(
    ("name", "held", "added", "lost"),
    [
        ("f01_counter", {("rst", 0)}, (), ()),
        ("f03_fir7", {("restart", 0)}, ("taps",), ()),
        ("f04_fifo", {("rst", 0)}, (), ("mem",)),
        ("f05_dense_folded", {("rst", 0), ("restart", 0)}, ("xreg",), ()),
        ("convolution.mach", {("restart", 0)}, ("column", "sums"), ("above", "higher")),
        ("dense.mach", {("restart", 0)}, ("count", "total"), ("kept", "y")),
    ],
)
def test_of_real_machines(name: str, held: set[tuple[str, int]], added: tuple[str, ...], lost: tuple[str, ...]) -> None:
    found = restart_of(real(name))
    assert (found.held, found.added, found.lost) == (held, added, lost)
    validate(found.core)
    assert {name for name, signal in found.begun.signals.items() if signal.register and signal.initial is None} == {
        *lost
    }


def test_a_reset_may_be_a_copy_of_an_input() -> None:
    found = restarted("reset w", "wire w, v: u1.0\nw <- v\nv <- rst")
    assert (found.held, found.line) == ({("rst", 0)}, None)


def test_the_new_input_has_a_name_of_its_own() -> None:
    assert restarted("", "wire restart: u1.0\nrestart <- go").line == "restart_"


@pytest.mark.parametrize(
    ("reset", "more"),
    [
        ("reset s", "register s: u1.0 = 0\ns <- rst"),
        ("reset w", "wire w: u1.0\nw <- rst when go else go"),
        ("reset w", BLOCK.format() + "wire w: u1.0\nb.in[0] <- rst\nw <- b.n"),
    ],
    ids=["a register", "a choice", "logic"],
)
def test_a_reset_that_is_no_input_has_another_one_beside_it(reset: str, more: str) -> None:
    """A reset that is not an input stays, and an added reset input resets the machine also while the other is 0."""
    found = restarted(reset, more)
    assert "r" in found.added and found.held == {("restart", 0)} and found.lost == ()
    validate(found.core)
    zero, one = Fraction(0), Fraction(1)
    rows = {
        "go": [one] * 9,
        "rst": [zero] * 6 + [one] * 3,
        "x": [Fraction(9)] * 9,
        "restart": [zero] * 2 + [one] + [zero] * 6,
    }
    trace = list(trace_machine(found.core, {name: [[value] for value in row] for name, row in rows.items()}))
    values = [int(cycle.before["y"][0] or 0) for cycle in trace]
    assert values[3] == 3, "the line resets it"
    own = trace_machine(
        restarted(reset, more).begun, {name: [[v] for v in row[3:]] for name, row in rows.items() if name != "restart"}
    )
    assert values[3:] == [int(cycle.before["y"][0] or 0) for cycle in own], "then all goes on as from power-up"


@pytest.mark.parametrize("name", ["f01_counter", "f02_mac", "f04_fifo", "f06_alt_src", "serial_dot.mach"])
def test_after_one_edge_of_reset_it_is_as_at_power_up(name: str) -> None:
    """After one edge of reset, outputs are those from power-up wherever they do not depend on lost registers."""
    found = restart_of(real(name))
    one, zero = Fraction(1), Fraction(0)
    waiting = {s.name: [Fraction((s.name, 0) in found.held)] * len(s.types) for s in found.core.inputs}
    held = {signal for signal, _ in found.held}
    rows = {
        s.name: [[zero if s.name in held else one] * len(s.types)] * 5 + [waiting[s.name]] + [[zero] * len(s.types)] * 3
        for s in found.core.inputs
    }
    begun = {s.name: rows[s.name][-3:] for s in found.begun.inputs}
    after = list(trace_machine(found.core, rows, check=False))[-3:]
    for cycle, other in zip(after, trace_machine(found.begun, begun, check=False), strict=True):
        for signal in found.begun.outputs:
            pairs = zip(cycle.before[signal.name], other.before[signal.name], strict=True)
            assert all(expected is None or got == expected for got, expected in pairs)


def test_what_nothing_writes_is_not_lost() -> None:
    made = MachineBuilder()
    made.connect(made.register("rom", FixedType(0, 4, 0), initial=2), made.output("y", FixedType(0, 4, 0)))
    found = restart_of(made.build())
    assert (found.held, found.added, found.lost) == (frozenset(), (), ())
