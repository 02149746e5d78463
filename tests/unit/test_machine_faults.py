"""Control faults do what their names say, in machines small enough to follow by hand."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from support.machines import NIBBLE, connect, counter, cycles, machine, read_tree, signal
from support.tier import examples

from dais_verif.campaigns.fuzzing.generate.random_machines import random_machine
from dais_verif.hardware.emitter.machines import emit_machine
from dais_verif.spec.machine import Machine, validate
from dais_verif.spec.machine.faults import FaultKind, control_faults

#: A counter that starts at 3, counts while ``en`` is 1, and returns to 3 with ``rst``.
COUNTER = read_tree(counter(rst_if=signal("rst", exposed=True), rst_to=[3]))
#: ``en`` and ``rst`` of each cycle, and the value of the counter before each edge.
EN, RST = [1, 1, 0, 1, 0, 1, 1, 1], [0, 0, 0, 0, 1, 0, 1, 0]
RIGHT = [3, 4, 5, 5, 6, 3, 4, 3]


def faulty(of: Machine, kind: FaultKind, number: int | None = None) -> Machine:
    """Return the machine with the only control fault of this kind, or with the one of this number."""
    found = [fault for fault in control_faults(of) if fault.kind is kind]
    if number is None:
        assert len(found) == 1, [str(fault) for fault in found]
    return found[number or 0].machine


def shown(of: Machine, **inputs: Any) -> list[int]:
    return [int(cycle.before["y"][0]) for cycle in cycles(of, check=False, **inputs)]


@pytest.mark.parametrize(
    ("kind", "number", "found"),
    [
        (FaultKind.NOT_ENABLED, None, [3, 4, 5, 6, 7, 3, 4, 3]),
        (FaultKind.FLUSH, None, [3, 3, 3, 3, 3, 3, 3, 3]),
        (FaultKind.INVERTED_ENABLE, None, [3, 3, 3, 4, 4, 3, 3, 3]),
        (FaultKind.LATE_ENABLE, None, [3, 3, 4, 5, 5, 3, 3, 3]),
        (FaultKind.STALE, None, [3, 4, 5, 5, 6, 6, 7, 8]),
        (FaultKind.LATE_RESET, None, [3, 4, 5, 5, 6, 6, 3, 4]),
        (FaultKind.INVERTED_RESET, None, [3, 3, 3, 3, 3, 3, 3, 4]),
        (FaultKind.HELD_RESET, None, [3, 4, 5, 5, 6, 6, 7, 3]),
        (FaultKind.RESET_VALUE, 0, [4, 5, 6, 6, 7, 4, 5, 4]),
        (FaultKind.RESET_VALUE, 2, [11, 12, 13, 13, 14, 11, 12, 11]),
        (FaultKind.INITIAL, 0, [4, 5, 6, 6, 7, 3, 4, 3]),
        (FaultKind.COUNTER, None, [3, 5, 7, 7, 9, 3, 5, 3]),
        (FaultKind.DECISION, 1, [3, 3, 3, 3, 3, 3, 3, 3]),
        (FaultKind.EARLY, None, [4, 5, 6, 6, 7, 4, 5, 4]),
        (FaultKind.LATE, None, [0, 3, 4, 5, 5, 6, 3, 4]),
    ],
    ids=lambda value: value.name.lower() if isinstance(value, FaultKind) else None,
)
def test_a_fault_of_a_counter(kind: FaultKind, number: int | None, found: list[int]) -> None:
    assert shown(COUNTER, en=EN, rst=RST) == RIGHT
    assert shown(faulty(COUNTER, kind, number), en=EN, rst=RST) == found


def test_a_reset_with_another_value_than_at_power_up() -> None:
    (fault,) = (
        fault
        for fault in control_faults(COUNTER)
        if fault.kind is FaultKind.RESET_VALUE and fault.text.endswith("4 in place of 3")
    )
    assert shown(fault.machine, en=EN, rst=RST) == [3, 4, 5, 5, 6, 4, 5, 4]


def pair(**of_register: Any) -> Machine:
    """Return a machine with a register of two elements, which takes ``x`` where ``en`` is 1."""
    r = signal("r", NIBBLE * 2, reg=True, **of_register)
    x, en = signal("x", NIBBLE * 2, exposed=True), signal("en", exposed=True)
    return machine({}, [connect(x, r, en), connect(r, signal("y", NIBBLE * 2, exposed=True))])


def rows(of: Machine, **inputs: Any) -> list[tuple[int, ...]]:
    return [tuple(int(v) for v in cycle.before["y"]) for cycle in cycles(of, **inputs)]


def test_an_enable_that_misses_the_first_element() -> None:
    of = pair(rst_to=[1, 2])
    inputs = {"x": [[5, 6], [7, 8], [9, 10]], "en": [0, 1, 0]}
    assert rows(of, **inputs) == [(1, 2), (1, 2), (7, 8)]
    assert rows(faulty(of, FaultKind.NOT_ENABLED, 1), **inputs) == [(1, 2), (5, 2), (7, 8)]


def test_a_reset_that_misses_the_first_element() -> None:
    of = pair(rst_if=signal("rst", exposed=True), rst_to=[1, 2])
    inputs = {"x": [[5, 6]] * 3, "en": [1, 0, 0], "rst": [0, 1, 0]}
    assert rows(of, **inputs) == [(1, 2), (5, 6), (1, 2)]
    assert rows(faulty(of, FaultKind.NOT_RESET, 1), **inputs) == [(1, 2), (5, 6), (5, 2)]


def banks() -> Machine:
    """Return a machine with a memory of four words, written at ``w`` and read at ``r``."""
    index = {name: signal(name, [[False, 2, 0]], exposed=True) for name in "wr"}
    write, read = (
        signal("m", NIBBLE * 4, reg=True, rst_to=[1, 2, 3, 4], view=(0, 1), dynamic=(index[name], 1)) for name in "wr"
    )
    return machine(
        {},
        [connect(signal("d", NIBBLE, exposed=True), write), connect(read, signal("y", NIBBLE, exposed=True))],
    )


@pytest.mark.parametrize(
    ("kind", "number", "found"),
    [
        (FaultKind.BANK, 1, [1, 2, 1, 2]),
        (FaultKind.INDEX, 3, [2, 3, 9, 1]),
        (FaultKind.INDEX, 4, [1, 1, 2, 3]),
        (FaultKind.INDEX, 5, [4, 9, 9, 9]),
        (FaultKind.BANK, 0, [1, 9, 3, 4]),
    ],
)
def test_a_fault_of_an_index(kind: FaultKind, number: int | None, found: list[int]) -> None:
    inputs = {"w": [3] * 4, "r": [0, 1, 2, 3], "d": [9] * 4}
    assert shown(banks(), **inputs) == [1, 2, 3, 9]
    assert shown(faulty(banks(), kind, number), **inputs) == found


def test_faults_of_random_machines_are_valid_and_can_be_emitted() -> None:
    """Every kind of fault occurs, and the same machine always has the same faults."""
    kinds: Counter[FaultKind] = Counter()
    for seed in range(examples(40)):
        of = random_machine(random.Random(seed))
        found = control_faults(of)
        assert [str(fault) for fault in found] == [str(fault) for fault in control_faults(of)]
        for fault in found:
            validate(fault.machine)
            assert fault.machine != of, str(fault)
            emit_machine(fault.machine)
            kinds[fault.kind] += 1
    assert set(kinds) == set(FaultKind)
