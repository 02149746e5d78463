"""Real machines give their recorded traces in every cycle; what the format leaves open is an error or unknown."""

from __future__ import annotations

import gzip
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from support.machines import BIT, NIBBLE, block, connect, counter, cycles, machine, read_tree, signal, tree
from support.places import FSM
from support.said import as_recorded, raises

from dais_verif.base.errors import MachineInputError, ProgramError, ViolationError
from dais_verif.golden.machine import trace_machine
from dais_verif.spec.machine import Schedule, load_machine, looks_like_machine

REAL = sorted(path.name for path in FSM.glob("f*"))


@pytest.mark.parametrize("name", REAL)
def test_real_machines_give_their_traces_before_and_after_each_edge(name: str) -> None:
    of = load_machine(FSM / name / "fsm.json.gz")
    given = np.load(FSM / name / "inputs.npz")
    inputs = {key: [[Fraction(v) for v in row] for row in given[key]] for key in given}
    before, after = (np.load(FSM / name / f"{file}.npz") for file in ("expected_pre", "expected"))
    compared = 0
    for t, cycle in enumerate(trace_machine(of, inputs)):
        for found, expected in ((cycle.before, before), (cycle.after, after)):
            for key in expected:
                assert [float(v) for v in found[key] if v is not None] == expected[key][t].tolist(), (t, key)
                compared += len(found[key])
    assert compared >= 512


def ys(found: list[Any], name: str = "y") -> list[int | None]:
    """Return the only element of an output, before the clock edge of each cycle."""
    return [None if cycle.before[name][0] is None else int(cycle.before[name][0]) for cycle in found]


def test_a_register_counts_while_it_is_enabled() -> None:
    found = cycles(read_tree(counter(rst_to=[14])), en=[1, 1, 0, 1, 1])
    assert ys(found) == [14, 15, 0, 0, 1]
    assert [int(cycle.after["y"][0] or 0) for cycle in found] == [15, 0, 0, 1, 2]


def test_what_depends_on_a_register_that_nothing_initialises_is_unknown() -> None:
    assert ys(cycles(read_tree(counter()), en=[1, 1, 0])) == [None, None, None]


def test_reset_comes_before_enable_and_takes_the_whole_register() -> None:
    reset = signal("rst", exposed=True)
    found = cycles(read_tree(counter(rst_if=reset, rst_to=[3])), en=[1, 0, 1, 1], rst=[0, 1, 1, 0])
    assert ys(found) == [3, 4, 3, 3]


def test_a_reset_by_a_register_is_what_that_was_before_the_edge() -> None:
    """A reset driven by a register acts with the value before the edge, whichever connection is first in the file."""
    now, late = signal("now", exposed=True), signal("late", reg=True, rst_to=[0])
    x, y = (
        signal("x", NIBBLE, exposed=True),
        signal("y", NIBBLE, exposed=True, reg=True, rst_if=signal("late", reg=True), rst_to=[5]),
    )
    for conns in ([connect(now, late), connect(x, y)], [connect(x, y), connect(now, late)]):
        found = cycles(machine({}, conns), now=[0, 1, 0, 0, 1], x=[1, 2, 3, 4, 6])
        assert ys(found) == [5, 1, 2, 5, 4]


def test_a_reset_without_a_value_resets_to_zero() -> None:
    of = read_tree(counter(rst_if=signal("rst", exposed=True)))
    assert ys(cycles(of, en=[1, 1, 1], rst=[0, 1, 0])) == [0, 1, 0]


WORDS = [[True, 3, 0]] * 4
INDEX = signal("i", [[False, 3, 0]], exposed=True)


def memory(writable: bool, **of_memory: Any) -> Any:
    """Return a memory of four words, read and perhaps written at ``i``, which can also be 4 to 7."""
    read = signal("mem", WORDS, reg=True, view=(0, 1), dynamic=(INDEX, 1), **of_memory)
    conns = [connect(read, signal("y", WORDS[:1], exposed=True))]
    if writable:
        data = signal("d", WORDS[:1], exposed=True)
        conns.append(connect(data, read, signal("we", exposed=True)))
    return machine({}, conns)


def test_memory_is_read_before_it_is_written() -> None:
    of = memory(True, rst_to=[1, 2, 3, 4])
    assert ys(cycles(of, i=[0, 0, 1, 1], d=[-5, 0, 7, 7], we=[1, 0, 1, 0])) == [1, -5, 2, 7]


def test_an_index_outside_is_a_broken_promise_or_unknown() -> None:
    of = memory(True, rst_to=[1, 2, 3, 4])
    with raises(ViolationError):
        cycles(of, i=[3, 4], d=[0, 0], we=[0, 0])
    found = cycles(of, check=False, i=[3, 4, 3], d=[0, 9, 0], we=[0, 1, 0])
    assert ys(found) == [4, None, 4]


def test_a_memory_that_nothing_writes_is_constant() -> None:
    assert ys(cycles(memory(False, rst_to=[1, 2, 3, -4]), i=[3, 0])) == [-4, 1]


def test_a_copy_quantises() -> None:
    x = signal("x", [[True, 2, 2]], exposed=True)
    of = machine({}, [connect(x, signal("y", [[False, 2, 0]], exposed=True))])
    assert ys(cycles(of, x=[-1.25, 3.75])) == [2, 3]


def test_a_wire_takes_the_alternative_where_it_is_not_enabled() -> None:
    a, b = (signal(name, NIBBLE, exposed=True) for name in "ab")
    of = machine({}, [connect(a, signal("y", NIBBLE, exposed=True), signal("en", exposed=True), b)])
    assert ys(cycles(of, a=[1, 2], b=[3, 4], en=[1, 0])) == [1, 4]


def test_a_mux_on_a_known_condition_does_not_look_at_the_other_arm() -> None:
    """While the condition is 1, the output is known although the other arm is an unknown register."""
    n = signal("n", NIBBLE, reg=True)
    chooses = block(
        3,
        [3],
        [[], -1, [0], [0, 1, 1]],
        [[], -1, [1], [0, 15, 1]],
        [[], -1, [2], [0, 15, 1]],
        [[1, 2, 0], 6, [0], [0, 15, 1]],
    )
    wires = [BIT, *NIBBLE, *NIBBLE]
    of = machine(
        {"b": chooses},
        [
            connect(signal("c", exposed=True), signal("INTERNAL_b_inp", wires, view=(0, 1))),
            connect(signal("a", NIBBLE, exposed=True), signal("INTERNAL_b_inp", wires, view=(1, 2))),
            connect(n, signal("INTERNAL_b_inp", wires, view=(2, 3))),
            connect(signal("INTERNAL_b_outp", NIBBLE), signal("y", NIBBLE, exposed=True)),
        ],
    )
    assert ys(cycles(of, c=[1, 0], a=[5, 5])) == [5, None]


def test_a_broken_promise_names_cycle_block_and_op() -> None:
    narrow = block(1, [1], [[], -1, [0], [0, 15, 1]], [[0], 4, [1, 0], [0, 15, 1]])
    of = machine(
        {"inc": narrow},
        [
            connect(signal("x", NIBBLE, exposed=True), signal("INTERNAL_inc_inp", NIBBLE)),
            connect(signal("INTERNAL_inc_outp", NIBBLE), signal("y", NIBBLE, exposed=True)),
        ],
    )
    with raises(ViolationError):
        cycles(of, x=[0, 14, 15])
    assert ys(cycles(of, check=False, x=[0, 14, 15])) == [1, 15, 0]


def test_two_writes_of_one_word_at_one_edge_are_a_broken_promise_or_unknown() -> None:
    one = signal("mem", WORDS, reg=True, rst_to=[0] * 4, view=(0, 1), dynamic=(INDEX, 1))
    two = signal(
        "mem", WORDS, reg=True, rst_to=[0] * 4, view=(1, 2), dynamic=(signal("j", [[False, 1, 0]], exposed=True), 1)
    )
    data = signal("d", WORDS[:1], exposed=True)
    whole = signal("mem", WORDS, reg=True, rst_to=[0] * 4)
    of = machine({}, [connect(data, one), connect(data, two), connect(whole, signal("y", WORDS, exposed=True))])
    with raises(ViolationError):
        cycles(of, i=[1], j=[0], d=[3])
    assert cycles(of, check=False, i=[1, 0], j=[0, 1], d=[3, 3])[1].before["y"] == (0, None, 0, 0)


def test_inputs_are_checked() -> None:
    of = read_tree(counter(rst_to=[0]))
    for inputs, message in (
        ({}, r"inputs.*en"),
        ({"en": [1], "x": [1]}, r"inputs.*en, x.*en"),
        ({"en": [[1, 1]]}, r"cycle 0: en.*2 elements.*1"),
    ):
        with raises(MachineInputError, match=message):
            cycles(of, **inputs)


@pytest.mark.parametrize(
    ("toggles", "period", "times"),
    [((0,), 0, range(6)), ((1, 2), 3, (1, 4)), ((2,), 3, (2, 3, 4, 5)), ((0, 1, 2), 4, (0, 2, 3, 4))],
)
def test_schedules(toggles: tuple[int, ...], period: int, times: Any) -> None:
    assert [t for t in range(6) if Schedule(toggles, period).valid(t)] == list(times)


def test_uses_of_one_signal_are_put_together() -> None:
    """A reset that is given only in the last use of a signal holds for all its uses.

    Files that were read and written again have resets there.
    """
    of = counter(rst_to=[3])
    of["fsm"]["conns"][2]["src"][3] = signal("rst", exposed=True)
    of["fsm"]["signal_order"].append("rst")
    assert ys(cycles(read_tree(of), en=[1, 1, 1], rst=[0, 1, 0])) == [3, 4, 3]


def test_detected_by_content() -> None:
    data = json.dumps(counter()).encode()
    assert looks_like_machine(data) and looks_like_machine(gzip.compress(data))
    assert not looks_like_machine(b'{"meta": "ALIRModel", "note": "ALIRFSM"}') and not looks_like_machine(b"\0" * 8)


def changed(*path: Any, to: Any) -> Any:
    of = counter(rst_to=[0])
    place: Any = of["fsm"]
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return of


N = signal("n", NIBBLE, reg=True)
Y = signal("y", NIBBLE, exposed=True)
W, V = signal("w", NIBBLE), signal("v", NIBBLE)
EN = signal("en", exposed=True)
A = signal("a", NIBBLE, exposed=True)
SIGNED = signal("s", [[True, 2, 0]], exposed=True)

REFUSED = {
    "meta": ({**counter(), "meta": "ALIRModel"}, "'ALIRModel'"),
    "spec": ({**counter(), "spec_version": 3}, "spec_version is 3"),
    "no conns": (changed("conns", to=None), "JSON conns:"),
    "ten parts": (changed("conns", 0, "src", to=counter()["fsm"]["conns"][0]["src"][:10]), "11 parts"),
    "name": (changed("conns", 0, "src", 0, to=3), "name of a signal is 3"),
    "view": (changed("conns", 0, "src", 9, to=[0, 2]), "conns[0].src (n):"),
    "types differ": (changed("conns", 2, "src", 2, 0, to=[False, 5, 0]), "types: (FixedType(k=0, i=4, f=0),)"),
    "resets differ": (changed("conns", 2, "src", 4, to=[1.0]), "rst_to"),
    "type of 5000 bits": (changed("conns", 0, "src", 2, 0, to=[False, 5000, 0]), "4096"),
    "reset value": (changed("conns", 0, "src", 4, to=[16.0]), "rst_to[0] is 16.0"),
    "reset value of 400 digits": (changed("conns", 0, "src", 4, to=[10**400]), "type u4.0"),
    "reset value NaN": (changed("conns", 0, "src", 4, to=[float("nan")]), "JSON conns[0].src (n) rst_to[0]"),
    "order": (changed("signal_order", to=["n", "z"]), "signal_order: 'z'"),
    "order twice": (changed("signal_order", to=["n", "n"]), "JSON signal_order:"),
    "block's op": (changed("logic", "inc", 5, 1, 0, 0, to=7), "block 'inc': JSON op 1"),
    "block's shift": (changed("logic", "inc", 1, 0, to=1), "block inc: input 0 has an inp_shift"),
    "block's port": (changed("logic", "inc", 5, 0, 3, to=[0, 7, 1]), "block inc: INTERNAL_inc_inp[0]"),
    "port without block": (changed("logic", to={}), "signal INTERNAL_inc_inp:"),
    "schedule": (changed("conns", 0, "src", 6, to=[[3, 1], 8]), "JSON conns[0].src (n):"),
    "loop": (tree({}, [connect(W, V), connect(V, W)]), "v[0:1] -> w[0:1], then w[0:1] -> v[0:1]"),
    "wire holds": (tree({}, [connect(A, Y, EN)]), "a wire with an enable needs an alternative"),
    "alternative alone": (tree({}, [connect(A, Y, None, A)]), "connection a[0:1] -> y[0:1]:"),
    "driven twice": (tree({}, [connect(A, Y), connect(A, Y)]), "signal y[0] is driven"),
    "not driven": (tree({}, [connect(W, Y)]), "signal w[0]: nothing drives it"),
    "sizes": (
        tree({}, [connect(signal("x", NIBBLE * 2, exposed=True), Y)]),
        "2 elements",
    ),
    "wide enable": (tree({}, [connect(A, N, A)]), "element of type u1.0"),
    "wire reset": (tree({}, [connect(A, signal("w", NIBBLE, rst_if=EN)), connect(W, Y)]), "a wire cannot be reset"),
    "mixed sources": (tree({}, [connect(A, Y, EN, N)]), "connection a[0:1] -> y[0:1]: source"),
    "signed index": (
        tree({}, [connect(signal("m", WORDS, reg=True, view=(0, 1), dynamic=(SIGNED, 1)), Y)]),
        "index s[0:1]",
    ),
    "stride": (
        tree({}, [connect(signal("m", WORDS, reg=True, view=(0, 1), dynamic=(INDEX, 0)), Y)]),
        "connection m[0:1 + 0*i[0:1]] -> y[0:1]:",
    ),
    "types do not repeat": (
        tree({}, [connect(signal("m", [*WORDS, BIT], reg=True, view=(0, 1), dynamic=(INDEX, 1)), Y)]),
        "1 element",
    ),
    "wire at an index": (
        tree({}, [connect(A, signal("w", NIBBLE * 8, view=(0, 1), dynamic=(INDEX, 1)))]),
        "a wire is driven at fixed places",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    of, message = REFUSED[name]
    with pytest.raises(ProgramError) as caught:
        read_tree(of)
    assert message in str(caught.value)
    as_recorded(caught.value)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400
