"""The program of one cycle, and the engine that runs it for many sequences, equal the oracle."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from support.machines import NIBBLE, block, connect, counter, machine, read_tree, signal
from support.places import FSM
from support.said import raises
from support.tier import examples

from dais_verif.base.errors import InputError, MachineInputError, ViolationError
from dais_verif.campaigns.fuzzing.generate.random_machines import random_inputs, random_machine
from dais_verif.golden.machine_batch import MachineRun, run_machine, run_raw
from dais_verif.simulation.machines.expected import expect
from dais_verif.spec.machine import Machine, load_machine
from dais_verif.spec.machine.step import Element, step_of
from dais_verif.stimulus.machines import InputSequence

REAL = sorted(path.name for path in FSM.glob("f*"))


@pytest.mark.few(6)
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("name", REAL)
def test_real_machines_in_many_lanes(name: str, after: bool) -> None:
    of = load_machine(FSM / name / "fsm.json.gz")
    inputs = np.load(FSM / name / "inputs.npz")
    expected = np.load(FSM / name / ("expected.npz" if after else "expected_pre.npz"))
    # Lane 1 gets the inputs three cycles later, so that the lanes differ.
    both = {key: np.stack([inputs[key], np.roll(inputs[key], 3, axis=0)]) for key in inputs}
    found = run_machine(of, both, after=after, engine="fast")
    exact = run_machine(of, {key: both[key][:, :40] for key in both}, after=after, engine="exact")
    assert found.engine == "fast" and exact.engine == "exact"
    for key in expected:
        assert np.array_equal(found.outputs[key][0], expected[key])
        assert np.array_equal(found.outputs[key][:, :40], exact.outputs[key])


def outcome(of: Machine, inputs: Any, **asked: Any) -> MachineRun | str:
    try:
        return run_machine(of, inputs, **asked)
    except ViolationError as error:
        return str(error).split(":")[0]
    except InputError as error:  # an output that no float64 can hold
        return str(error)


def same(of: Machine, rng: random.Random, **asked: Any) -> str:
    """Assert that both engines give the same result, and return the engine that ran, or "violation"."""
    inputs = random_inputs(rng, of, 2, 5)
    found, exact = (outcome(of, inputs, engine=engine, **asked) for engine in ("auto", "exact"))
    if isinstance(found, str) or isinstance(exact, str):
        assert found == exact
        return "violation"
    for key, array in exact.outputs.items():
        assert np.array_equal(found.outputs[key], array, equal_nan=True), key
    return found.engine


def check(seed: int) -> set[str]:
    """Compare both engines on one random machine in all modes, and return the outcomes."""
    rng = random.Random(seed)
    widest = rng.choice((4, 12, 12, 70))
    of = random_machine(rng, widest=widest, initialised=rng.random() < 0.8, inside=rng.random() < 0.7)
    return {
        same(of, random.Random(seed), after=after, check=checked)
        for after in (False, True)
        for checked in (False, True)
    }


def test_random_machines() -> None:
    found = set().union(*(check(seed) for seed in range(examples(60))))
    assert found == {"fast", "exact", "violation"}


@pytest.mark.slow
def test_a_thousand_random_machines() -> None:
    for seed in range(1000, 2000):
        check(seed)


def test_a_violation_names_sequence_cycle_block_and_op() -> None:
    narrow = block(1, [1], [[], -1, [0], [0, 15, 1]], [[0], 4, [1, 0], [0, 15, 1]])
    of = machine(
        {"inc": narrow},
        [
            connect(signal("x", NIBBLE, exposed=True), signal("INTERNAL_inc_inp", NIBBLE)),
            connect(signal("INTERNAL_inc_outp", NIBBLE), signal("y", NIBBLE, exposed=True)),
        ],
    )
    x = np.array([[0, 1, 2], [3, 15, 4]]).reshape(2, 3, 1)
    for engine in ("fast", "exact"):
        with raises(ViolationError):
            run_machine(of, {"x": x}, engine=engine)
    assert run_machine(of, {"x": x}, check=False, engine="fast").outputs["y"][1, 1] == 0


def test_an_index_counts_where_it_is_used_alone() -> None:
    """Reading word 3 of a memory of three words breaks a promise only in cycles that select the word."""
    m = signal("m", NIBBLE * 3, reg=True, rst_to=[5, 6, 7])
    i = signal("i", [[False, 2, 0]], exposed=True)
    word = [*m[:9], [0, 1], [i, 1]]
    other = [*m[:9], [0, 1], None]
    y = signal("y", NIBBLE, exposed=True)
    of = machine({}, [connect(word, y, signal("e", exposed=True), other)])
    e, index = np.array([[[1], [0], [1]]]), np.array([[[2], [3], [3]]])
    for engine in ("fast", "exact"):
        found = run_machine(of, {"e": e[:, :2], "i": index[:, :2]}, engine=engine)
        assert found.outputs["y"].ravel().tolist() == [7, 5] and found.engine == engine
        with pytest.raises(ViolationError, match="cycle 2: m"):
            run_machine(of, {"e": e, "i": index}, engine=engine)


def test_an_index_that_no_promise_holds_costs_speed_only_where_it_is_beyond() -> None:
    """After edges and without checks, the fast engine runs indexed machines; a read beyond the memory is unknown."""
    m = signal("m", NIBBLE * 3, reg=True, rst_to=[5, 6, 7])
    i = signal("i", [[False, 2, 0]], exposed=True)
    of = machine({}, [connect([*m[:9], [0, 1], [i, 1]], signal("y", NIBBLE, exposed=True))])
    inside, beyond = np.array([[[1], [0], [2]]]), np.array([[[1], [3], [2]]])
    for after, checked in ((True, True), (True, False), (False, False)):
        found = run_machine(of, {"i": inside}, after=after, check=checked, engine="fast")
        assert found.outputs["y"].ravel().tolist() == [6, 5, 7]
    for after in (True, False):
        found = run_machine(of, {"i": beyond}, after=after, check=False)
        assert found.engine == "exact" and np.isnan(found.outputs["y"]).ravel().tolist() == [False, True, False]
    rows = [InputSequence(3, {"i": [(Fraction(int(v)),) for v in one.ravel()]}) for one in (inside, beyond)]
    raw = run_raw(of, {"i": np.concatenate([inside, beyond])}, sequences=2, cycles=3, check=False)
    assert raw is not None and raw.beyond == {1}
    good, bad = expect(of, rows, check=False)
    assert good.known is None and bad.known is not None and bad.known[::2].ravel().tolist() == [15, 0, 15]


def test_what_is_unknown_is_nan_in_both_engines() -> None:
    """An uninitialised register is NaN until the cycle after a known value is loaded."""
    n, x = signal("n", NIBBLE, reg=True), signal("x", NIBBLE, exposed=True)
    first = signal("first", exposed=True)
    loaded = connect(x, n, first)
    increment = counter()["fsm"]["logic"]
    of = machine(
        increment,
        [
            loaded,
            connect(n, signal("INTERNAL_inc_inp", NIBBLE)),
            connect(signal("INTERNAL_inc_outp", NIBBLE), signal("y", NIBBLE, exposed=True)),
        ],
    )
    inputs = {"x": np.full((2, 3, 1), 4), "first": np.array([[[0], [1], [0]], [[1], [0], [0]]])}
    for engine in ("fast", "exact"):
        found = run_machine(of, inputs, engine=engine)
        assert found.engine == engine
        y = found.outputs["y"][:, :, 0]
        assert np.array_equal(y, [[np.nan, np.nan, 5], [np.nan, 5, 5]], equal_nan=True)


def test_what_the_fast_engine_cannot_say_is_left_to_the_oracle() -> None:
    wide = [[False, 70, 0]]
    of = machine({}, [connect(signal("x", wide, exposed=True), signal("y", wide, exposed=True))])
    x = np.full((1, 1, 1), 2.0**69)
    assert run_machine(of, {"x": x}).engine == "exact" and run_machine(of, {"x": x}).outputs["y"] == x
    with raises(InputError):
        run_machine(of, {"x": x}, engine="fast")


def test_an_unknown_that_breaks_a_promise_breaks_none() -> None:
    """A promise that only the stand-in for an unknown value breaks, here 0 by 0 - 1, is not a violation."""
    kind = [[False, 3, 0]]
    minus = block(1, [1], [[], -1, [0], [0, 7, 1]], [[0], 4, [-1, 0], [0, 6, 1]])
    of = machine(
        {"less": minus},
        [
            connect(signal("n", kind, reg=True), signal("INTERNAL_less_inp", kind)),
            connect(signal("INTERNAL_less_outp", kind), signal("y", kind, exposed=True)),
            connect(signal("x", kind, exposed=True), signal("n", kind, reg=True)),
        ],
    )
    found = run_machine(of, {"x": np.array([[[3], [4]]])})
    assert np.array_equal(found.outputs["y"].ravel(), [np.nan, 2], equal_nan=True) and found.engine == "exact"


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({}, r"inputs.*en"),
        ({"en": np.ones(2)}, r"shape \(2,\).*\(sequences, cycles, 1\)"),
        ({"en": np.ones((1, 2))}, r"shape \(1, 1, 2\).*\(sequences, cycles, 1\)"),
        ({"en": np.full((1, 2, 1), np.nan)}, ""),
        ({"en": np.array([[["1"]]])}, ""),
        ({"en": np.ones((1, 2, 1), np.longdouble)}, "64 bits"),
        ({"en": np.ma.array(np.ones((1, 2, 1)), mask=True)}, "values"),
        ({"en": [[[1], [1, 2]]]}, ""),
    ],
)
def test_inputs_that_do_not_fit(inputs: Any, message: str) -> None:
    with raises(MachineInputError, match=message):
        run_machine(read_tree(counter(rst_to=[0])), inputs)


def test_constants_are_no_state_and_ops_are_named() -> None:
    of = load_machine(FSM / "f05_dense_folded" / "fsm.json.gz")
    step = step_of(of)
    assert {element.signal for element in step.state} == {"cnt", "xreg", "y"}
    assert Element("rst", 0) in step.inputs and len(step.owners) == step.program.n_ops
    (dot,) = {owner[0] for owner in step.owners if owner} - {"ctl"}
    assert dot == "dot"
