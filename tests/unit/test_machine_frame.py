"""A machine and a program, compared over a frame of cycles, are shown to be equal or different."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.machines import NIBBLE, block, connect, signal, tree
from support.places import FSM
from support.said import as_recorded, raises

import dais_verif
from dais_verif.base.errors import InputError
from dais_verif.base.verdict import Verdict
from dais_verif.spec.machine import MachineBuilder
from dais_verif.spec.machine.step import Element
from dais_verif.spec.program import FixedType, Program, assemble
from dais_verif.spec.program.types import type_of_interval
from dais_verif.verbs.machines.frame import read_frame

DENSE = FSM / "f05_dense_folded" / "fsm.json.gz"
FRAME = """
cycles = 8
inputs = [{ signal = "x", cycle = 0 }]
outputs = [{ signal = "y", cycle = 8 }]
held.rst = 0
"""


def dense(weights: list[float]) -> Program:
    """Return a program of eight dot products of 16 inputs, computed at once."""
    ops: list[Any] = [(-1, j, -1, 0, (1, 2, 3)) for j in range(16)]
    terms, outputs = [], []
    for row in range(8):
        products = []
        for j in range(16):
            raw = int(weights[row * 16 + j] * 4)
            ops.append((5, -1, -1, raw, tuple(type_of_interval(raw, raw, 2))))
            ops.append((7, j, len(ops) - 1, 0, (1, 6, 5)))
            products.append(len(ops) - 1)
        ops.append((11, len(terms), 16, 0, (1, 10, 5)))
        terms += [(product, 0, 0) for product in products]
        ops.append((3, len(ops) - 1, -1, 0, (1, 8, 5)))
        outputs.append((len(ops) - 1, 0, 0))
    return Program.build(ops, outputs, inp_shift=[0] * 16, terms=terms)


def weights() -> list[float]:
    initial = dais_verif.load_machine(DENSE).signals["wrom"].initial
    assert initial is not None
    return [float(value) for value in initial]


def compared(a: Any, b: Program, frame: str, folder: Path, **asked: Any) -> dais_verif.DiffRecord:
    path = folder / "frame.toml"
    path.write_text(frame)
    return dais_verif.diff(a, b, frame=path, prove=True, **asked)


def test_a_folded_dense_layer_equals_the_layer(tmp_path: Path) -> None:
    record = compared(DENSE, dense(weights()), FRAME, tmp_path)
    as_recorded(record.message)
    assert record.verdict is Verdict.PASS
    assert record.frame is not None and (record.frame.free, record.frame.restored) == ([], ["cnt[0]"])


def test_a_wrong_weight_is_found(tmp_path: Path) -> None:
    wrong = weights()
    wrong[37] += 0.25
    record = compared(DENSE, dense(wrong), FRAME, tmp_path)
    assert record.verdict is Verdict.PROGRAMS_DIFFER and record.difference is not None
    assert record.difference.output == 2


def test_outputs_read_a_cycle_too_early_differ(tmp_path: Path) -> None:
    record = compared(DENSE, dense(weights()), FRAME.replace("cycle = 8", "cycle = 7"), tmp_path)
    assert record.verdict is Verdict.PROGRAMS_DIFFER


X, EN, RST = (signal("x", NIBBLE, exposed=True), signal("en", exposed=True), signal("rst", exposed=True))
WIDE = [[False, 8, 0]]
#: Adds four bits to eight bits; the sum wraps.
ADD = block(
    2,
    [3],
    [[], -1, [0], [0, 255, 1]],
    [[], -1, [1], [0, 15, 1]],
    [[0, 1], 0, [0], [0, 270, 1]],
    [[2], 3, [0], [0, 255, 1]],
)


def accumulator(cleared: bool, *, enabled: bool = True) -> dict[str, Any]:
    """Return a machine that adds x to ``acc`` in each cycle; if ``cleared``, every fourth cycle starts from x alone."""
    acc, count = signal("acc", WIDE, reg=True, rst_to=[0]), signal("n", [[False, 2, 0]], reg=True, rst_to=[0])
    pair = [*WIDE, *NIBBLE]
    step = block(
        1,
        [2, 3],
        [[], -1, [0], [0, 3, 1]],
        [[0], 4, [1, 0], [1, 4, 1]],
        [[1], 3, [0], [0, 3, 1]],
        [[0], 9, [1], [0, 1, 1]],
    )
    parts = [[False, 2, 0], [False, 1, 0]]
    kept, zero = signal("kept", WIDE), signal("zero", WIDE, reg=True, rst_to=[0])
    go = EN if enabled else None
    conns = [
        connect(count, signal("INTERNAL_step_inp", parts[:1])),
        connect(signal("INTERNAL_step_outp", parts, view=(0, 1)), count, go),
        connect(signal("INTERNAL_step_outp", parts, view=(1, 2)), signal("later")),
        connect(acc, kept, signal("later"), zero) if cleared else connect(acc, kept),
        connect(kept, signal("INTERNAL_add_inp", pair, view=(0, 1))),
        connect(X, signal("INTERNAL_add_inp", pair, view=(1, 2))),
        connect(signal("INTERNAL_add_outp", WIDE), acc, go),
        connect(acc, signal("y", WIDE, exposed=True)),
    ]
    return tree({"add": ADD, "step": step}, conns)


SUM = """
cycles = 4
inputs = [
  { signal = "x", cycle = 0 }, { signal = "x", cycle = 1 },
  { signal = "x", cycle = 2 }, { signal = "x", cycle = 3 },
]
outputs = [{ signal = "y", cycle = 4 }]
held.en = 1
stall.en = 0
"""


def total() -> Program:
    ops: list[Any] = [(-1, j, -1, 0, (0, 4, 0)) for j in range(4)]
    ops.append((11, 0, 4, 0, (0, 8, 0)))
    return Program.build(ops, [(4, 0, 0)], inp_shift=[0] * 4, terms=[(j, 0, 0) for j in range(4)])


def written(of: Any, folder: Path) -> Path:
    path = folder / "m.fsm.json"
    path.write_text(json.dumps(of))
    return path


def test_a_serial_sum_with_a_stall(tmp_path: Path) -> None:
    record = compared(written(accumulator(True), tmp_path), total(), SUM, tmp_path)
    assert record.verdict is Verdict.PASS and record.frame is not None
    assert record.frame.stalled and record.frame.restored == ["n[0]"]


def test_a_sum_that_is_not_cleared_is_wrong_in_the_second_frame(tmp_path: Path) -> None:
    record = compared(written(accumulator(False), tmp_path), total(), SUM, tmp_path)
    as_recorded(record.message)
    assert record.verdict is Verdict.PROGRAMS_DIFFER
    assert record.frame is not None and "acc[0]" in record.frame.free


def test_what_only_a_state_shows_that_is_never_reached_is_unknown(tmp_path: Path) -> None:
    """``bad`` is always 0, but only by computation, as it takes bad + (x - x); only an unreachable state differs."""
    of = accumulator(True)
    bad = signal("bad", WIDE, reg=True, rst_to=[0])
    nothing = block(
        2,
        [4],
        [[], -1, [0], [0, 255, 1]],
        [[], -1, [1], [0, 15, 1]],
        [[1, 1], 1, [0], [0, 15, 1]],
        [[0, 2], 0, [0], [0, 270, 1]],
        [[3], 3, [0], [0, 255, 1]],
    )
    pair = [*WIDE, *NIBBLE]
    of["fsm"]["logic"]["same"] = nothing
    more = tree(
        {},
        [
            connect(bad, signal("INTERNAL_same_inp", pair, view=(0, 1))),
            connect(X, signal("INTERNAL_same_inp", pair, view=(1, 2))),
            connect(signal("INTERNAL_same_outp", WIDE), bad),
        ],
    )["fsm"]
    of["fsm"]["conns"] += more["conns"]
    of["fsm"]["conns"][7]["src"] = more["conns"][0]["src"]  # y is ``bad`` instead of the sum
    of["fsm"]["signal_order"] += ["bad", "INTERNAL_same_inp", "INTERNAL_same_outp"]
    zero = Program.build([(-1, 0, -1, 0, (0, 4, 0)), (5, -1, -1, 0, (0, 8, 0))], [(1, 0, 0)], inp_shift=[0] * 4)
    record = compared(written(of, tmp_path), zero, SUM.replace("stall.en = 0", ""), tmp_path)
    as_recorded(record.message)
    assert record.verdict is Verdict.UNKNOWN


def test_a_stall_that_stops_only_half_is_found(tmp_path: Path) -> None:
    of = accumulator(True)
    of["fsm"]["conns"][6]["enable_if"] = None  # the sum is not stalled
    record = compared(written(of, tmp_path), total(), SUM, tmp_path)
    assert record.verdict is Verdict.PROGRAMS_DIFFER
    as_recorded(record.message)


#: The value of ``o`` with its lowest bit cleared.
CLEARED = assemble("""
input o, x
o = u8.0 input o
x = u8.0 input x
h = u7.-1 quant(o)
z = u8.0 x xor x
n = u8.0 h or z
output n = n
""")
#: (o AND x) + (o OR x) - x, which equals o.
THE_SAME = assemble("""
input o, x
o = u8.0 input o
x = u8.0 input x
a = u8.0 o and x
b = u8.0 o or x
c = u9.0 a + b
d = s10.0 c - x
n = u8.0 quant(d)
output n = n
""")
ONE_CYCLE = """
cycles = 1
inputs = [{ signal = "x", cycle = 0 }]
outputs = [{ signal = "y", cycle = 1 }]
held.en = 1
stall.en = 0
"""


def test_a_stall_that_could_change_only_what_it_never_does_is_unknown(tmp_path: Path) -> None:
    """``odd`` takes its own value with the lowest bit cleared, stalled or not; from power-up it is always 0."""
    made = MachineBuilder()
    wide = FixedType(0, 8, 0)
    x, en = made.input("x", wide), made.input("en", FixedType(0, 1, 0))
    kept = made.register("kept", wide, initial=0)
    odd = made.register("odd", wide, initial=0)
    clear = made.block(
        "clear",
        CLEARED,
    )
    made.connect(odd, clear.inputs[0])
    made.connect(x, clear.inputs[1])
    made.connect(clear.outputs, odd)
    made.connect(x, kept, enable=en)
    made.connect(kept, made.output("y", wide))
    same = assemble("input x\nx = u8.0 input x\noutput y = x")
    record = compared(made.build(), same, ONE_CYCLE, tmp_path)
    assert record.verdict is Verdict.UNKNOWN and record.frame is not None and not record.frame.stalled
    as_recorded(record.message)


def test_what_a_stall_leaves_equal_in_other_ops_is_proved(tmp_path: Path) -> None:
    """A stalled register that takes an expression equal to its own value, by other ops, is proved to hold it."""
    made = MachineBuilder()
    wide = FixedType(0, 8, 0)
    x, en = made.input("x", wide), made.input("en", FixedType(0, 1, 0))
    kept = made.register("kept", wide, initial=0)
    both = made.block(
        "both",
        THE_SAME,
    )
    made.connect(kept, both.inputs[0])
    made.connect(x, both.inputs[1])
    made.connect(x, kept, enable=en, otherwise=both.outputs)
    made.connect(kept, made.output("y", wide))
    same = assemble("input x\nx = u8.0 input x\noutput y = x")
    record = compared(made.build(), same, ONE_CYCLE, tmp_path)
    assert record.verdict is Verdict.PASS and record.frame is not None and record.frame.stalled


def test_a_difference_is_a_sequence_that_run_shows_again(tmp_path: Path) -> None:
    machine = written(accumulator(False), tmp_path)
    record = compared(machine, total(), SUM, tmp_path, output=tmp_path / "w.npz")
    frame = record.frame
    assert frame is not None and frame.frame == 1 and frame.witness and frame.output is not None
    assert frame.output.signal == "y[0]" and frame.output.cycle == 8
    assert all(value.signal == "x[0]" and value.cycle is not None for value in frame.witness)
    arrays = np.load(tmp_path / "w.npz")
    assert arrays["x"].shape == (9, 1) and arrays["en"].min() == 1
    assert {(t, float(v)) for t, (v,) in enumerate(arrays["x"]) if v} == {
        (v.cycle, float(v.value)) for v in frame.witness
    }
    found = dais_verif.run_machine(dais_verif.load_machine(machine), dict(arrays)).outputs["y"]
    assert found[0, 8, 0] == float(frame.output.value) != arrays["x"][4:8].sum()
    assert record.replay is not None and record.replay.endswith(f"run {machine} --inputs {tmp_path / 'w.npz'}")


def test_a_sequence_is_kept_in_npz_alone(tmp_path: Path) -> None:
    with raises(InputError):
        compared(written(accumulator(True), tmp_path), total(), SUM, tmp_path, output=tmp_path / "w.npy")


def test_ports_of_many_cycles_in_one_line(tmp_path: Path) -> None:
    begin, end = SUM.index("inputs"), SUM.index("outputs")
    frame = f'{SUM[:begin]}inputs = [{{ signal = "x", cycle = 0, to = 3 }}]\n{SUM[end:]}'
    assert compared(written(accumulator(True), tmp_path), total(), frame, tmp_path).verdict is Verdict.PASS


def test_two_writers_of_one_element_are_refused(tmp_path: Path) -> None:
    """The format does not say which of two writers wins, so nothing is proved, whatever their order."""
    pair = [*NIBBLE, *NIBBLE]
    index = signal("i", exposed=True)
    one = connect(X, signal("q", pair, exposed=True, reg=True, rst_to=[0, 0], view=(0, 1), dynamic=(index, 1)))
    two = connect(
        signal("a", NIBBLE, exposed=True), signal("q", pair, exposed=True, reg=True, rst_to=[0, 0], view=(1, 2))
    )
    frame = """
cycles = 1
inputs = [{ signal = "x", cycle = 0 }]
outputs = [{ signal = "q", cycle = 1, first = 1 }]
held.i = 1
"""
    same = Program.build([(-1, 0, -1, 0, (0, 4, 0))], [(0, 0, 0)], inp_shift=[0])
    for conns in ([one, two], [two, one]):
        path = written(tree({}, conns), tmp_path)
        with raises(InputError):
            compared(path, same, frame, tmp_path)
        assert dais_verif.check(path).verdict is Verdict.UNKNOWN


def test_the_frame_of_the_page(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "machines.md").read_text()
    block = re.search(r"^    cycles = 8.*?^$", page, re.M | re.S)
    assert block is not None
    made = MachineBuilder()
    bit, four = FixedType(0, 1, 0), [FixedType(0, 4, 0)] * 4
    made.input("en", bit)
    kept = made.register("kept", four, reset=made.input("rst", bit))
    made.connect(made.input("x", four), kept)
    made.connect(kept, made.output("y", four))
    (tmp_path / "frame.toml").write_text(textwrap.dedent(block[0]))
    said = read_frame(tmp_path / "frame.toml", made.build())
    assert said.frame.cycles == 8 and said.frame.before == 2 and len(said.frame.inputs) == len(said.frame.outputs) == 4
    assert dict(said.stall) == {Element("en", 0): 0, Element("rst", 0): 0}
    assert dict(said.reset) == {Element("rst", 0): 1}


REFUSED = {
    "not valid TOML": ("cycles = ", "valid TOML"),
    "key": ("cycle = 4", "'cycle'"),
    "cycles": ("cycles = 0", "cycles is 0"),
    "before": ("cycles = 4\nbefore = 257", "before is 257"),
    "no outputs": ("cycles = 4", "outputs is empty"),
    "signal": ('cycles = 4\noutputs = [{ signal = "z", cycle = 0 }]', "'z'"),
    "place": ('cycles = 4\noutputs = [{ signal = "y", cycle = 0, first = 1 }]', "first is 1"),
    "late input": ('cycles = 4\ninputs = [{ signal = "x", cycle = 4 }]', "cycle is 4"),
    "to": ('cycles = 4\ninputs = [{ signal = "x", cycle = 2, to = 1 }]', "2 to 3"),
    "held": ("cycles = 4\nheld.en = [1, 1]", "list of 4"),
    "held input": (SUM + "held.x = 0\n", "x[0]"),
    "twice": (SUM.replace("cycle = 1 }", "cycle = 0 }"), ""),
    "shape": (SUM.replace('{ signal = "x", cycle = 0 }, ', ""), "1 output, B"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, tmp_path: Path) -> None:
    text, message = REFUSED[name]
    with pytest.raises(InputError) as caught:
        compared(written(accumulator(True), tmp_path), total(), text, tmp_path)
    assert message in str(caught.value) and "\n" not in str(caught.value)
    as_recorded(caught.value)


def test_a_machine_needs_a_frame_and_a_program_has_none(tmp_path: Path) -> None:
    machine = written(accumulator(True), tmp_path)
    with pytest.raises(InputError, match="frame"):
        dais_verif.diff(machine, total())
    with raises(InputError):
        dais_verif.diff(machine, machine)
    (tmp_path / "frame.toml").write_text(SUM)
    with pytest.raises(InputError, match="frame"):
        dais_verif.diff(total(), total(), frame=tmp_path / "frame.toml")


#: x + 1 if the second input is the value that a register has at power-up, else x.
AT_ITS_NUMBER = assemble("""
input x, s
x = u4.0 input x
s = s24.0 input s
n = s24.0 raw(0x2a3c17)
d = s24.0 s xor n
c = u1.0 any(d)
more = u5.0 x + 1
y = u5.0 msb(c) ? x : more
output y = y
""")


@pytest.mark.parametrize("prove", [False, True])
def test_a_difference_from_power_up_alone_is_the_answer(prove: bool, tmp_path: Path) -> None:
    """A difference that only the power-up value shows is reported; random states miss it, and no frame restores it."""
    made = MachineBuilder()
    x, seen = made.input("x", FixedType(0, 4, 0)), made.input("seen", FixedType(1, 23, 0))
    s = made.register("s", FixedType(1, 23, 0), initial=0x2A3C17)
    step = made.block("step", AT_ITS_NUMBER)
    made.connect(x, step.inputs[0])
    made.connect(s, step.inputs[1])
    made.connect(seen, s)
    made.connect(step.outputs, made.output("y", FixedType(0, 5, 0)))
    frame = tmp_path / "frame.toml"
    frame.write_text('cycles = 1\ninputs = [{ signal = "x", cycle = 0 }]\noutputs = [{ signal = "y", cycle = 0 }]\n')
    same = assemble("input x\nx = u4.0 input x\noutput y = x")
    record = dais_verif.diff(made.build(), same, frame=frame, prove=prove)
    as_recorded(record.message)
    assert record.verdict is Verdict.PROGRAMS_DIFFER


@pytest.mark.parametrize(("initial", "words"), [(None, r"j\[0\]$"), (3, "")])
@pytest.mark.parametrize("prove", [False, True])
def test_equality_that_rests_on_an_uninitialised_register_says_so(
    prove: bool, initial: int | None, words: str, tmp_path: Path
) -> None:
    """j xor j is unknown for the oracle and 0 for the proof, so the message says that the value of j is assumed."""
    made = MachineBuilder()
    x, j = made.input("x", FixedType(0, 4, 0)), made.register("j", FixedType(0, 4, 0), initial=initial)
    step = made.block(
        "step",
        assemble(
            "input x, j\nx = u4.0 input x\nj = u4.0 input j\nz0 = s5.0 j xor j\nz = u4.0 quant(z0)\n"
            "b0 = s5.0 x or z\nb = u4.0 quant(b0)\noutput y = b"
        ),
    )
    made.connect(x, step.inputs[0])
    made.connect(j, step.inputs[1])
    made.connect(j, j)
    made.connect(step.outputs, made.output("y", FixedType(0, 4, 0)))
    frame = tmp_path / "frame.toml"
    frame.write_text('cycles = 1\ninputs = [{ signal = "x", cycle = 0 }]\noutputs = [{ signal = "y", cycle = 0 }]\n')
    same = assemble("input x\nx = u4.0 input x\noutput y = x")
    record = dais_verif.diff(made.build(), same, frame=frame, prove=prove)
    assert record.verdict is Verdict.PASS and record.frame is not None
    assert bool(re.search(words, record.message))
    assert len(record.frame.assumed) == (initial is None)
