"""Machines that are written and read back stay the same: as ALIRFSM, as text, and by ``convert``."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.machines import NIBBLE, block, connect, counter, machine, read_tree, same_machine, signal
from support.places import FSM
from support.said import raises
from support.tier import examples

import dais_verif
from dais_verif.base.errors import InputError, MachineFileError, RequestError
from dais_verif.campaigns.fuzzing.generate.random_machines import random_inputs, random_machine
from dais_verif.golden.machine import trace_machine
from dais_verif.spec.machine import Machine, Role, Signal, View, load_machine, looks_like_machine, parse_machine
from dais_verif.spec.machine.alirfsm import machine_json
from dais_verif.spec.machine.text import machine_text
from dais_verif.spec.program import FixedType, Origin

REAL = sorted(FSM.glob("f*/fsm.json.gz"))


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.parent.name)
def test_real_machines_come_back(path: Path) -> None:
    of = load_machine(path)
    for data, intervals in ((machine_json(of), True), (machine_text(of).encode(), False)):
        back = parse_machine(data)
        assert looks_like_machine(data) and same_machine(of, back, intervals=intervals)
        assert back.connections == of.connections, "in the order of the file"
    assert "dais" not in json.loads(machine_json(of)), "alkaid's format says all of it"


@pytest.mark.parametrize("count", [50, pytest.param(300, marks=pytest.mark.slow)])
def test_random_machines_come_back_from_alirfsm(count: int) -> None:
    """Machines whose initial values are doubles come back, with the signals that no connection mentions."""
    written = 0
    for seed in range(count + count // 6):
        of = random_machine(random.Random(seed))
        try:
            data = machine_json(of)
        except MachineFileError:  # an initial value is no double
            continue
        back = parse_machine(data)
        assert same_machine(of, back), seed
        assert machine_json(back) == data, seed
        written += 1
    assert written >= count


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 1 << 64), st.booleans())
def test_a_text_says_all_of_a_machine(seed: int, initialised: bool) -> None:
    of = random_machine(random.Random(seed), initialised=initialised)
    text = machine_text(of)
    back = parse_machine(text.encode())
    assert same_machine(of, back) and back.connections == of.connections
    assert dict(back.signals) == dict(of.signals)
    assert machine_text(back) == text


def test_what_comes_back_computes_the_same() -> None:
    for seed in range(20):
        rng = random.Random(seed)
        of = random_machine(rng)
        given = random_inputs(rng, of, 1, 6)
        inputs = {name: [[Fraction(v) for v in row] for row in array[0].tolist()] for name, array in given.items()}
        expected = list(trace_machine(of, inputs, check=False))
        for data in (machine_text(of).encode(), *_json(of)):
            assert list(trace_machine(parse_machine(data), inputs, check=False)) == expected, seed


def _json(of: Machine) -> list[bytes]:
    try:
        return [machine_json(of)]
    except InputError:
        return []


def test_two_machines_are_told_apart() -> None:
    """The comparison of machines can fail: each of these machines differs in one thing."""
    of = read_tree(counter(rst_to=[3]))
    others = [counter(rst_to=[4]), counter(), counter(rst_to=[3], schedule=[[0], 8])]
    others.append(counter(rst_to=[3]))
    others[-1]["fsm"]["logic"]["inc"][5][1][2] = [2, 0]
    others.append(counter(rst_to=[3]))
    others[-1]["fsm"]["conns"].pop()
    others[-1]["fsm"]["signal_order"].remove("y")
    assert same_machine(of, read_tree(counter(rst_to=[3])))
    assert not any(same_machine(of, read_tree(other)) for other in others)


def test_odd_names_resets_and_schedules() -> None:
    """Odd names, a self-resetting register, a chain of resets and elements without bits come back from both forms."""
    resets = signal("r 0", reg=True, rst_to=[1])
    for n in range(1, 8):
        resets = signal(f"r {n}", reg=True, rst_to=[1], rst_if=resets)
    ring = signal("input", reg=True, rst_to=[1], rst_if=signal("input", reg=True), schedule=[[1, 3], 8])
    nothing = signal("none;", [[True, -1, 0]], exposed=True)
    quoted = signal('say "yes"', exposed=True)
    of = machine(
        {},
        [
            connect(ring, ring),
            connect(nothing, resets),
            connect(resets, quoted),
            *(connect(quoted, signal(f"r {n}", reg=True)) for n in range(7)),
        ],
    )
    back = parse_machine(machine_text(of).encode())
    assert same_machine(of, back) and dict(back.signals) == dict(of.signals)
    assert same_machine(of, parse_machine(machine_json(of)))
    assert of.signals["r 7"].reset == View("r 6", 0, 1)


def test_what_alirfsm_cannot_say_is_refused() -> None:
    half = FixedType(0, 60, 1)
    register = Signal("n", (half,), register=True, initial=(Fraction((1 << 60) + 1, 2),))
    with raises(InputError):
        machine_json(Machine({}, {"n": register}, (), Origin("memory")))
    output = Signal("y", (FixedType(0, 0, 0),), Role.OUTPUT)
    with raises(InputError):
        machine_json(Machine({}, {"y": output}, (), Origin("memory")))


def test_a_signal_that_no_connection_mentions_is_kept() -> None:
    of = read_tree(counter(rst_to=[3]))
    spare = Signal("spare", (FixedType(1, 3, 0),), Role.INPUT)
    more = Machine(of.blocks, {"spare": spare, **of.signals}, of.connections, of.origin)
    tree = json.loads(machine_json(more))
    assert "spare" not in tree["fsm"]["signal_order"], "alkaid must not be told of what it does not find"
    assert [each.name for each in read_tree(tree).inputs] == ["spare", "en"]


def test_wires_are_written_in_an_order_in_which_they_settle() -> None:
    """A wire's driver is written before its readers, because alkaid evaluates connections in file order."""
    a, b, c = (signal(name, NIBBLE) for name in "abc")
    x, y = signal("x", NIBBLE, exposed=True), signal("y", NIBBLE, exposed=True)
    of = machine({}, [connect(c, y), connect(b, c), connect(a, b), connect(x, a)])
    conns = json.loads(machine_json(of))["fsm"]["conns"]
    assert [conn["dst"][0] for conn in conns] == ["a", "b", "c", "y"]
    assert same_machine(of, parse_machine(machine_json(of)))


def test_a_block_without_inputs_and_one_that_nothing_reads() -> None:
    five = block(0, [0], [[], 5, [5], [5, 5, 1]])
    of = machine({"five": five}, [])
    assert same_machine(of, parse_machine(machine_json(of)))
    assert same_machine(of, parse_machine(machine_text(of).encode()), intervals=False)


# convert


def test_convert_there_and_back(tmp_path: Path) -> None:
    source = FSM / "f04_fifo" / "fsm.json.gz"
    names = ("m.json", "m.mach", "m.json.gz", "n.mach")
    for before, after in zip((source, *(tmp_path / name for name in names)), names, strict=False):
        record = dais_verif.convert(before, tmp_path / after)
        assert record.passed and record.target == ("mach" if after.endswith("mach") else "alirfsm")
        assert record.written.n_ops == 20
    assert (tmp_path / "m.mach").read_bytes() == (tmp_path / "n.mach").read_bytes()
    assert same_machine(load_machine(source), load_machine(tmp_path / "m.json.gz"), intervals=False)
    assert load_machine(tmp_path / "n.mach").origin.layout == "mach"


@pytest.mark.parametrize(
    ("name", "to", "line"),
    [
        ("m.bin", None, r"machine.*v1"),
        ("m.mach", "alir", "alir"),
        ("m.mach.gz", None, r"text.*compressed"),
    ],
)
def test_what_a_machine_is_not_written_as(name: str, to: str | None, line: str, tmp_path: Path) -> None:
    with raises(RequestError, match=line):
        dais_verif.convert(FSM / "f01_counter" / "fsm.json.gz", tmp_path / name, to=to)


def test_a_program_is_no_machine(tmp_path: Path) -> None:
    program = b"[[0, 0], [], [], [], [], [], -1, -1]"
    with raises(RequestError):
        dais_verif.convert(program, tmp_path / "m.mach")
