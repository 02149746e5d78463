"""Machines whose control depends on data: over a frame, they are found equal or different, or left undecided."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.counting import growth
from support.said import as_recorded

import dais_verif
from dais_verif.base.errors import InputError
from dais_verif.base.verdict import Verdict
from dais_verif.golden.unroll import Frame, Port, unroll
from dais_verif.spec.machine import Machine, MachineBuilder
from dais_verif.spec.machine.step import Element
from dais_verif.spec.program import FixedType, Program, assemble

X, SUM, TWO = FixedType(1, 7, 0), FixedType(1, 11, 0), FixedType(0, 2, 0)
FOUR = 'cycles = 4\ninputs = [{ signal = "x", cycle = 0, to = 3 }]\noutputs = [{ signal = "y", cycle = 4 }]\n'


def compared(machine: Machine, program: Program, frame: str, folder: Path) -> dais_verif.DiffRecord:
    (folder / "frame.toml").write_text(frame)
    return dais_verif.diff(machine, program, frame=folder / "frame.toml", prove=True)


def positive_sums(*, first: str = "begin") -> Machine:
    """Return a machine that adds the positive ones of four numbers; the enable of its register depends on data."""
    made = MachineBuilder()
    x = made.input("x", X)
    n, total = made.register("n", TWO, initial=0), made.register("total", SUM, initial=0)
    block = made.block(
        "sum",
        assemble(f"""
            input x, n, total
            x     = s8.0 input x
            n     = u2.0 input n
            total = s12.0 input total
            later = u1.0 any(n)
            begin = u1.0 not(later)
            zero  = s12.0 0
            kept  = s12.0 msb(later) ? total : zero
            sum   = s13.0 kept + x
            new   = s12.0 quant(sum)
            p     = u7.0 relu(x)
            pos   = u1.0 any(p)
            value = s12.0 msb(pos) ? new : zero
            go    = u1.0 pos or {first}
            more  = u3.0 n + 1
            next  = u2.0 quant(more)
            output value = value
            output go = go
            output next = next
        """),
    )
    for place, source in enumerate((x, n, total)):
        made.connect(source, block.inputs[place])
    made.connect(block.outputs[0], total, enable=block.outputs[1])
    made.connect(block.outputs[2], n)
    made.connect(total, made.output("y", SUM))
    return made.build()


RELUS = assemble("""
input a, b, c, d
a = s8.0 input a
b = s8.0 input b
c = s8.0 input c
d = s8.0 input d
p = u7.0 relu(a)
q = u7.0 relu(b)
r = u7.0 relu(c)
s = u7.0 relu(d)
t = u8.0 p + q
u = u8.0 r + s
y = u9.0 t + u
output y = y
""")


def test_an_enable_that_is_data_is_a_choice(tmp_path: Path) -> None:
    record = compared(positive_sums(), RELUS, FOUR, tmp_path)
    assert record.verdict is Verdict.PASS and record.frame is not None and record.frame.restored == ["n[0]"]


def test_a_sum_that_begins_with_data_alone_is_stale(tmp_path: Path) -> None:
    """If only data starts the sum and the first number is not positive, the sum of the previous frame stays."""
    record = compared(positive_sums(first="pos"), RELUS, FOUR, tmp_path)
    assert record.verdict is Verdict.PROGRAMS_DIFFER and record.frame is not None and record.frame.frame == 1


def counted(*, start: bool) -> Machine:
    """Return a counter of positive numbers, which the input ``begin`` clears before it counts if ``start`` is true."""
    made = MachineBuilder()
    x = made.input("x", X)
    begin = made.input("begin", FixedType(0, 1, 0)) if start else None
    n = made.register("n", TWO, initial=0)
    block = made.block(
        "count",
        assemble("""
            input x, n, begin
            x     = s8.0 input x
            n     = u2.0 input n
            begin = u1.0 input begin
            zero  = u2.0 0
            kept  = u2.0 msb(begin) ? zero : n
            p     = u7.0 relu(x)
            pos   = u1.0 any(p)
            more  = u3.0 kept + pos
            next  = u2.0 quant(more)
            output next = next
        """),
    )
    never = made.register("never", FixedType(0, 1, 0), initial=0)
    for place, source in enumerate((x, n, begin or never)):
        made.connect(source, block.inputs[place])
    made.connect(block.outputs, n)
    made.connect(n, made.output("y", TWO))
    return made.build()


COUNT = assemble("""
input a, b, c, d
a = s8.0 input a
b = s8.0 input b
c = s8.0 input c
d = s8.0 input d
p = u7.0 relu(a)
q = u7.0 relu(b)
r = u7.0 relu(c)
s = u7.0 relu(d)
i = u1.0 any(p)
j = u1.0 any(q)
k = u1.0 any(r)
l = u1.0 any(s)
t = u2.0 i + j
u = u2.0 k + l
y = u3.0 t + u
z = u2.0 quant(y)
output z = z
""")


def test_a_counter_that_data_stops_needs_to_be_set_back(tmp_path: Path) -> None:
    record = compared(counted(start=True), COUNT, FOUR + "held.begin = [1, 0, 0, 0]\n", tmp_path)
    assert record.verdict is Verdict.PASS and record.frame is not None and record.frame.restored == []
    record = compared(counted(start=False), COUNT, FOUR, tmp_path)
    as_recorded(record.message)
    assert record.verdict is Verdict.PROGRAMS_DIFFER


def summed(*, whole: bool) -> Machine:
    """Return a machine that sums four numbers, with a reset of all registers if ``whole``, else of the sum alone."""
    made = MachineBuilder()
    x, rst = made.input("x", X), made.input("rst", FixedType(0, 1, 0))
    n = made.register("n", TWO, initial=0, reset=rst if whole else None)
    total = made.register("total", SUM, initial=0, reset=rst)
    block = made.block(
        "sum",
        assemble("""
            input x, n, total
            x     = s8.0 input x
            n     = u2.0 input n
            total = s12.0 input total
            later = u1.0 any(n)
            zero  = s12.0 0
            kept  = s12.0 msb(later) ? total : zero
            sum   = s13.0 kept + x
            new   = s12.0 quant(sum)
            more  = u3.0 n + 1
            next  = u2.0 quant(more)
            output new = new
            output next = next
        """),
    )
    for place, source in enumerate((x, n, total)):
        made.connect(source, block.inputs[place])
    made.connect(block.outputs[0], total)
    made.connect(block.outputs[1], n)
    made.connect(total, made.output("y", SUM))
    return made.build()


TOTAL = assemble("""
input a, b, c, d
a = s8.0 input a
b = s8.0 input b
c = s8.0 input c
d = s8.0 input d
t = s9.0 a + b
u = s9.0 d + c
y = s10.0 t + u
output y = y
""")


def test_a_frame_begins_after_every_reset(tmp_path: Path) -> None:
    frame = FOUR + "held.rst = 0\nreset.rst = 1\n"
    record = compared(summed(whole=True), TOTAL, frame, tmp_path)
    assert record.verdict is Verdict.PASS and record.frame is not None and record.frame.reset
    record = compared(summed(whole=True), TOTAL, FOUR + "held.rst = 0\n", tmp_path)
    assert record.verdict is Verdict.PASS and record.frame is not None and not record.frame.reset


def test_a_reset_that_leaves_the_counter_is_refuted(tmp_path: Path) -> None:
    """The recorded sequence contains the reset, and the machine, run cycle by cycle, gives the recorded wrong value."""
    (tmp_path / "frame.toml").write_text(FOUR + "held.rst = 0\nreset.rst = 1\n")
    machine = summed(whole=False)
    record = dais_verif.diff(machine, TOTAL, frame=tmp_path / "frame.toml", prove=True, output=tmp_path / "w.npz")
    assert record.verdict is Verdict.PROGRAMS_DIFFER and record.frame is not None and not record.frame.reset
    as_recorded(record.message)
    arrays = dict(np.load(tmp_path / "w.npz"))
    assert arrays["rst"][:, 0].tolist() == [1, 0, 0, 0, 0, 0] and record.frame.output is not None
    found = dais_verif.run_machine(machine, arrays).outputs["y"][0, 5, 0]
    assert found == float(record.frame.output.value) != arrays["x"][1:5].sum()


def test_what_is_not_restored_is_named(tmp_path: Path) -> None:
    """The message names ``odd``, which is always 0, but only because the product of two neighbours is even."""
    made = MachineBuilder()
    x, odd = made.input("x", X), made.register("odd", FixedType(0, 1, 0), initial=0)
    block = made.block(
        "even",
        assemble("""
            input x, odd
            x    = s8.0 input x
            odd  = u1.0 input odd
            next = s9.0 x + 1
            both = s17.0 x * next
            low  = u1.0 quant(both)
            new  = u1.0 low or odd
            y    = s9.0 x + odd
            output new = new
            output y = y
        """),
    )
    made.connect(x, block.inputs[0])
    made.connect(odd, block.inputs[1])
    made.connect(block.outputs[0], odd)
    made.connect(block.outputs[1], made.output("y", FixedType(1, 8, 0)))
    frame = 'cycles = 1\ninputs = [{ signal = "x", cycle = 0 }]\noutputs = [{ signal = "y", cycle = 0 }]\n'
    record = compared(made.build(), assemble("input x\nx = s8.0 input x\noutput y = x"), frame, tmp_path)
    assert record.verdict is Verdict.UNKNOWN
    as_recorded(record.message)


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [
        ('{ signal = "x", cycle = 1 }', "i[0] in cycle 1"),
        ('{ signal = "i", cycle = 0, to = 1 }, { signal = "x", cycle = 0 }', "i[0] in cycle 1"),
    ],
    ids=["open", "data"],
)
def test_an_index_that_may_leave_its_memory_is_refused_by_name(inputs: str, reason: str, tmp_path: Path) -> None:
    made = MachineBuilder()
    x, index = made.input("x", X), made.input("i", TWO)
    memory = made.register("memory", [X] * 3, initial=0)
    made.connect(x, memory[0])
    made.connect(memory[0].at(index), made.output("y", X))
    frame = f'cycles = 2\ninputs = [{inputs}]\noutputs = [{{ signal = "y", cycle = 1 }}]\n'
    count = inputs.count("signal") + ("to" in inputs)
    ops: list[Any] = [(-1, j, -1, 0, (1, 7, 0)) for j in range(count)]
    with pytest.raises(InputError) as caught:
        compared(made.build(), Program.build(ops, [(0, 0, 0)], inp_shift=[0] * count), frame, tmp_path)
    as_recorded(str(caught.value))
    as_recorded(str(caught.value))
    assert reason.split()[0] in str(caught.value)


def passed_on() -> Machine:
    """Return a machine that outputs its input of the previous cycle."""
    made = MachineBuilder()
    x, kept = made.input("x", X), made.register("kept", X, initial=0)
    made.connect(x, kept)
    made.connect(kept, made.output("y", X))
    return made.build()


SAME = assemble("input x\nx = s8.0 input x\noutput y = x")


def test_an_output_read_in_the_next_frame_may_depend_on_its_inputs(tmp_path: Path) -> None:
    """An output read a cycle too late is refuted: it is the next frame's input, which the written sequence contains."""
    right = 'cycles = 1\ninputs = [{ signal = "x", cycle = 0 }]\noutputs = [{ signal = "y", cycle = 1 }]\n'
    assert compared(passed_on(), SAME, right, tmp_path).verdict is Verdict.PASS
    (tmp_path / "frame.toml").write_text(right.replace('"y", cycle = 1', '"y", cycle = 2'))
    record = dais_verif.diff(passed_on(), SAME, frame=tmp_path / "frame.toml", prove=True, output=tmp_path / "w.npz")
    assert record.verdict is Verdict.PROGRAMS_DIFFER and record.frame is not None and record.frame.output is not None
    sequence = np.load(tmp_path / "w.npz")["x"][:, 0]
    assert float(record.frame.output.value) == sequence[1] != sequence[0]


def test_an_input_is_that_of_its_cycle_alone(tmp_path: Path) -> None:
    frame = 'cycles = 2\ninputs = [{ signal = "x", cycle = 0 }]\noutputs = [{ signal = "y", cycle = 2 }]\n'
    record = compared(passed_on(), SAME, frame, tmp_path)
    assert record.verdict is Verdict.PROGRAMS_DIFFER and record.frame is not None
    assert record.frame.free == ["x[0] in cycle 1"]


@pytest.mark.parametrize(
    ("period", "verdict"), [(4, Verdict.PASS), (8, Verdict.PROGRAMS_DIFFER), (32, Verdict.UNKNOWN)], ids=str
)
def test_a_machine_that_is_wrong_in_later_frames(period: int, verdict: Verdict, tmp_path: Path) -> None:
    """A machine that is wrong only in the last of every 8 or 32 cycles never passes; with period 4, it is right."""
    made = MachineBuilder()
    x, kind = made.input("x", X), FixedType(0, (period - 1).bit_length(), 0)
    n = made.register("n", kind, initial=0)
    width = kind.width
    block = made.block(
        "late",
        assemble(f"""
            input x, n
            x    = s8.0 input x
            n    = u{width}.0 input n
            full = u1.0 all(n)
            zero = s8.0 0
            y    = s8.0 {"quant(x)" if period == 4 else "msb(full) ? zero : x"}
            more = u{width + 1}.0 n + 1
            next = u{width}.0 quant(more)
            output next = next
            output y = y
        """),
    )
    made.connect(x, block.inputs[0])
    made.connect(n, block.inputs[1])
    made.connect(block.outputs[0], n)
    made.connect(block.outputs[1], made.output("y", X))
    frame = 'cycles = 4\ninputs = [{ signal = "x", cycle = 3 }]\noutputs = [{ signal = "y", cycle = 3 }]\n'
    record = compared(made.build(), SAME, frame, tmp_path)
    assert record.verdict is verdict
    if verdict is Verdict.PROGRAMS_DIFFER:
        assert record.frame is not None and record.frame.frame == 1


def test_the_cost_of_a_frame_is_that_of_its_cycles() -> None:
    machine = summed(whole=True)

    def work(cycles: int) -> Callable[[], object]:
        inputs = tuple(Port("x", 0, t) for t in range(cycles))
        held = {Element("rst", 0): (Fraction(0),) * cycles}
        frame = Frame(cycles, inputs, (Port("y", 0, cycles),), held)
        return lambda: unroll(machine, frame)

    assert growth(work, 64, 512) < 1.3
