"""The explanation of a machine's cycle: every signal, what registers hold next, and which action decided it."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from support.machines import connect as connection
from support.machines import counter, machine, read_tree, signal
from support.places import FSM
from support.said import raises

import dais_verif
from dais_verif.base.errors import InputError, RequestError
from dais_verif.campaigns.fuzzing.generate.random_machines import random_inputs, random_machine
from dais_verif.doors.cli.main import main
from dais_verif.golden.machine import Taken, Values, explain_cycle
from dais_verif.golden.oracle import quantise
from dais_verif.record.explanation import CycleRecord
from dais_verif.spec.machine import View
from dais_verif.spec.machine.builder import MachineBuilder
from dais_verif.spec.program import FixedType

FIFO = FSM / "f04_fifo"


def test_the_values_are_those_of_real_traces() -> None:
    before, after = (np.load(FIFO / f"{file}.npz") for file in ("expected_pre", "expected"))
    for cycle in (0, 20, 21, 100):
        record = dais_verif.explain_machine(FIFO / "fsm.json.gz", inputs=FIFO / "inputs.npz", cycle=cycle)
        found = {(e.signal, e.element): e for e in record.elements}
        for name in before:
            assert [float(found[name, 0].real or "nan")] == before[name][cycle, :1].tolist()
        assert found["level", 0].next_raw == after["lvl"][cycle, 0]
        assert record.cycles == 256


def test_what_is_explained_is_what_happens() -> None:
    """In random machines, each element of a register takes what its connection copies, is reset, or holds its value."""
    counted = dict.fromkeys(("written", "reset", "held"), 0)
    for seed in range(60):
        rng = random.Random(seed)
        of = random_machine(rng, widest=6)
        given = random_inputs(rng, of, 1, 5)
        rows = {name: [[Fraction(v) for v in row] for row in array[0].tolist()] for name, array in given.items()}
        found = explain_cycle(of, rows, rng.randrange(5))
        before, after = found.cycle.before, found.cycle.after
        for register in of.registers:
            for e, kind in enumerate(register.types):
                acting = [a for a in found.actions if a.connection.target.signal == register.name and e in a.places]
                acting = [action for action in acting if action.taken is not Taken.NOTHING]
                if found.resets.get(register.name):
                    assert register.initial is not None and after[register.name][e] == register.initial[e]
                    counted["reset"] += 1
                elif not acting:
                    assert after[register.name][e] == before[register.name][e]
                    counted["held"] += 1
                elif len(acting) == 1:
                    (action,) = acting
                    view = action.connection.source
                    if action.taken is Taken.ALTERNATIVE:
                        assert action.connection.alternative is not None
                        view = action.connection.alternative
                    start = view.start + index_of(view, before) + e - action.places.start
                    values = before[view.signal]
                    value = values[start] if start < len(values) else None
                    expected = None if value is None else quantise(value, kind)
                    assert after[register.name][e] == (expected if kind.width else 0)
                    counted["written"] += 1
    assert min(counted.values()) >= 10, counted


def index_of(view: View, before: Values) -> int:
    if view.index is None:
        return 0
    value = before[view.index.value.signal][view.index.value.start]
    assert value is not None
    return int(value) * view.index.stride


def because(record: CycleRecord, name: str) -> str:
    return next(e.because for e in record.elements if name in (e.signal, f"{e.signal}[{e.element}]"))


def test_reasons_in_words(tmp_path: Path) -> None:
    of = read_tree(counter(rst_if=signal("rst", exposed=True), rst_to=[3]))
    np.savez(tmp_path / "x.npz", en=[[1], [0], [1]], rst=[[0], [0], [1]])
    records = [dais_verif.explain_machine(of, inputs=tmp_path / "x.npz", cycle=t) for t in range(3)]
    assert [because(record, "n") for record in records] == ["inc.out when en = 1", "holds: en = 0", "reset, rst = 1"]
    assert because(records[0], "y") == "n" and because(records[0], "inc.out") == "block inc"
    assert [record.connections[1].takes for record in records] == ["source", "nothing", "source"]
    assert records[0].connections[1].text == "n <- inc.out when en"
    fifo = dais_verif.explain_machine(FIFO / "fsm.json.gz", inputs=FIFO / "inputs.npz", cycle=20)
    assert because(fifo, "mem[7]") == "din when do_write = 1, at wptr = 7" and because(fifo, "mem[0]") == "holds"


def test_what_is_copied_while_an_enable_is_0(tmp_path: Path) -> None:
    made, kind, bit = MachineBuilder(), FixedType(0, 4, 0), FixedType(0, 1, 0)
    x, other, en = made.input("x", kind), made.input("other", kind), made.input("en", bit)
    register = made.register("r", kind, initial=0)
    made.connect(x, register, enable=en, otherwise=other)
    made.connect(register, made.output("y", kind))
    given = tmp_path / "inputs.npz"
    np.savez(given, x=[[3], [3]], other=[[5], [5]], en=[[1], [0]])
    found = [dais_verif.explain_machine(made.build(), inputs=given, cycle=cycle) for cycle in (0, 1)]
    (one,), (two,) = ([e for e in record.elements if e.signal == "r"] for record in found)
    assert (one.next_raw, two.next_raw) == (3, 5)
    assert one.because.startswith("x ") and "en = 1" in one.because
    assert two.because.startswith("other ") and "en = 0" in two.because


def test_unknown_values_are_said_to_be() -> None:
    record = dais_verif.explain_machine(read_tree(counter()), cycle=2)
    n = next(e for e in record.elements if e.signal == "n")
    assert (n.real, n.raw, n.next) == (None, None, None)
    assert CycleRecord.from_json(record.to_json()) == record


def test_wide_values_survive_json() -> None:
    wide = [[True, 100, -3]]
    x, n = signal("x", wide, exposed=True), signal("n", wide, reg=True, rst_to=[8 << 90])
    record = dais_verif.explain_machine(machine({}, [connection(x, n)]), cycle=0)
    assert [e.raw for e in record.elements if e.signal == "n"] == [1 << 90]
    assert json.loads(record.to_json())["elements"][1]["raw"] == 1 << 90


def test_a_broken_promise_is_told_and_ends_in_its_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [[False, 4, 0]] * 3
    index = signal("i", [[False, 2, 0]], exposed=True)
    read = signal("mem", words, reg=True, rst_to=[1, 2, 3], view=(0, 1), dynamic=(index, 1))
    of = machine({}, [connection(read, signal("y", [[False, 4, 0]], exposed=True))])
    dais_verif.convert(of, tmp_path / "m.mach")
    np.savez(tmp_path / "x.npz", i=[[3], [0]])
    arguments = ["explain", str(tmp_path / "m.mach"), "--inputs", str(tmp_path / "x.npz"), "--cycle", "1"]
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    out, err = capsys.readouterr()
    assert ended.value.code == 2 and all(
        part in err for part in ("sequence 0, cycle 0: mem[0:1 + 1*i[0:1]]", "index 3")
    )
    assert "! sequence 0, cycle 0" in out and "output    y" in out
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--unchecked", "--json"])
    assert ended.value.code == 0 and json.loads(capsys.readouterr().out)["violation"].startswith("sequence 0, cycle 0")


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    of = FIFO / "fsm.json.gz"
    with raises(InputError):
        dais_verif.explain_machine(of, inputs=FIFO / "inputs.npz", cycle=256)
    with pytest.raises(InputError, match=r"sequence 2.*2"):
        dais_verif.explain_machine(of, inputs=FIFO / "inputs.npz", sequence=2, vectors=10)
    with raises(RequestError):
        dais_verif.explain_machine(b"[[0, 0], [], [], [], [], [], -1, -1]")
    generated = dais_verif.explain_machine(of, inputs=FIFO / "inputs.npz", sequence=1, cycle=9, vectors=10)
    assert generated.cycles == 10
