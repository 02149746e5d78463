"""Machines in simulators: our RTL and alkaid's agree with the oracle, and faults of control are found."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.alkaids_rtl import theirs
from support.door import command
from support.machines import NIBBLE, connect, counter, signal, tree
from support.places import FSM
from support.said import as_recorded, raises

from dais_verif.base.errors import InputError, MachineInputError, RequestError
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.emitter.machines import emit_machine
from dais_verif.record.simulation import Blame, CyclePlace, SimulationRecord
from dais_verif.simulation.machines import expected
from dais_verif.spec.machine import load_machine
from dais_verif.stimulus.generate_sequences import generate_sequence, generate_sequences
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.pins import Pins
from dais_verif.verbs.simulate import simulate
from dais_verif.verbs.simulation_request import SimulationRequest

REAL = sorted(path.name for path in FSM.glob("f*"))
#: A delay line, a memory that is written and a ROM, which cover all that the others have. Those run with faults below.
IN_ICARUS = ("f03_fir7", "f04_fifo", "f05_dense_folded")
IN_VERILATOR = ("f04_fifo",)


def sim(of: Any, rtl: str | None = None, folder: Path | None = None, **options: Any) -> SimulationRecord:
    """Return the record of a run in Icarus; ``of``: a folder's name or a tree; ``rtl``: text that replaces our RTL."""
    program = FSM / of / "fsm.json.gz" if isinstance(of, str) else json.dumps(of).encode()
    if rtl is not None:
        assert folder is not None
        (folder / "design.v").write_text(rtl)
        options["design"] = DesignRequest(rtl=(folder / "design.v",), top="model")
    return simulate(SimulationRequest(program=program, **{"simulator": "icarus", **options})).record


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("name", "simulator"),
    [
        pytest.param(name, simulator, marks=[pytest.mark.slow] * (name not in fast))
        for simulator, fast in (("icarus", IN_ICARUS), ("verilator", IN_VERILATOR))
        for name in REAL
    ],
)
def test_our_rtl_of_real_machines_gives_what_the_oracle_gives(name: str, simulator: str) -> None:
    record = sim(name, simulator=simulator, inputs=(FSM / name / "inputs.npz",), vectors=50)
    assert record.verdict is Verdict.PASS, record.message
    bits = sum(kind.width for out in load_machine(FSM / name / "fsm.json.gz").outputs for kind in out.types)
    assert record.simulators[0].bits_compared == 2 * bits * record.vectors
    assert [part.name for part in record.stimulus] == ["file", "generated"]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "f05_dense_folded" else pytest.mark.slow) for name in REAL]
)
def test_alkaids_verilog_of_real_machines_passes(name: str, tmp_path: Path) -> None:
    design = DesignRequest(rtl=theirs(name, tmp_path, "verilog"), top="top")
    record = sim(name, design=design, inputs=(FSM / name / "inputs.npz",), vectors=50)
    assert record.verdict is Verdict.PASS, record.message


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_alkaids_vhdl_passes_but_for_output_registers_that_it_does_not_initialise(name: str, tmp_path: Path) -> None:
    design = DesignRequest(rtl=theirs(name, tmp_path, "vhdl"), top="top")
    record = sim(name, design=design, inputs=(FSM / name / "inputs.npz",), vectors=0, simulator="ghdl")
    of = load_machine(FSM / name / "fsm.json.gz")
    initialised = not any(out.register and out.initial for out in of.outputs)
    assert record.verdict is (Verdict.PASS if initialised else Verdict.X_IN_OUTPUT), record.message


def test_a_folder_of_alkaids_holds_machine_and_rtl(tmp_path: Path) -> None:
    """A folder with machine and RTL is accepted as the only argument and as ``--rtl``; wrong RTL in it fails."""
    theirs("f01_counter", tmp_path / "out", "verilog")
    record = simulate(SimulationRequest(program=tmp_path / "out", simulator="icarus", vectors=30)).record
    assert record.verdict is Verdict.PASS, record.message
    assert record.rtl.project is not None and record.rtl.top == "top" and not record.rtl.emitted
    top = tmp_path / "out" / "src" / "top.v"
    assert top.read_text().count("6'h5") > 0, "choose another fault, alkaid has changed"
    top.write_text(top.read_text().replace("6'h5", "6'h4"))
    design = DesignRequest(rtl=(tmp_path / "out",))
    assert sim("f01_counter", design=design, vectors=30).verdict is Verdict.RTL_MISMATCH


#: Faults of control: the machine, the replaced text of our RTL, and the new text.
LATE = "always @(posedge clk) late <= do_write;"
FAULTS: Mapping[str, tuple[str, str, str]] = {
    "counter off by one": (
        "f01_counter",
        "if (en) count <= INTERNAL_inc_outp",
        "if (en) count <= INTERNAL_inc_outp + 1",
    ),
    "enable ignored": ("f01_counter", "if (en) count", "if (1) count"),
    "wrong reset value": ("f01_counter", "if (rst) count <= 6'h5", "if (rst) count <= 6'h4"),
    "wrong initial value": ("f01_counter", "initial count <= 6'h5", "initial count <= 6'h4"),
    "stale accumulator": ("f02_mac", "if (clr) acc <= 24'h0", "if (clr) acc <= acc"),
    "delay line one short": ("f03_fir7", "assign nxt[69:10] = taps[59:0]", "assign nxt[69:10] = {taps[49:0], x}"),
    "one register not reset": ("f04_fifo", "if (rst) rptr <= 3'h0;", "if (0) rptr <= 3'h0;"),
    "write enable missing": ("f04_fifo", "if (do_write) mem", "if (1) mem"),
    "write enable a cycle late": ("f04_fifo", "if (do_write) mem", "if (late) mem"),
    "write to the next word": ("f04_fifo", "mem[wptr] <= din", "mem[wptr ^ 1] <= din"),
    "read of the next word": ("f04_fifo", "mem[rptr]", "mem[rptr + 3'd1]"),
    "result to the next place": ("f05_dense_folded", "cnt * 14", "(cnt ^ 1) * 14"),
    "row of weights held": ("f05_dense_folded", "wrom[cnt]", "wrom[cnt & 6]"),
    "inputs not held": ("f05_dense_folded", "first ? x : xheld", "x"),
    "reset after enable": ("f06_alt_src", "if (rst) b <= 8'h64;", "if (rst && !sel) b <= 8'h64;"),
    "alternative in place of the source": ("f06_alt_src", "if (dir) a", "if (!dir) a"),
}


#: One fault of each kind that the tests of blame do not have; the others are slow.
FIRST = (
    "counter off by one",
    "stale accumulator",
    "one register not reset",
    "write enable a cycle late",
    "alternative in place of the source",
)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "fault", [pytest.param(fault, marks=() if fault in FIRST else pytest.mark.slow) for fault in FAULTS]
)
def test_a_fault_of_control_is_found(fault: str, tmp_path: Path) -> None:
    name, old, new = FAULTS[fault]
    text = emit_machine(load_machine(FSM / name / "fsm.json.gz"))
    assert text.count(old) == 1, "choose another fault, the emitter has changed"
    wrong = text.replace(old, new)
    if "late" in new:
        wrong = wrong.replace("  always @(posedge clk)\n", f"  reg late = 0;\n  {LATE}\n  always @(posedge clk)\n", 1)
    record = sim(name, wrong, tmp_path, vectors=1000)
    # The next word may be one that nothing has written.
    wanted = Verdict.X_IN_OUTPUT if fault == "read of the next word" else Verdict.RTL_MISMATCH
    assert record.verdict is wanted, record.message
    assert record.first_mismatch is not None and record.first_mismatch.place is not None


def test_machines_are_judged_as_programs_are(tmp_path: Path) -> None:
    """Simulators that find different wrong bits disagree; a condition that nothing drives is X in the output."""
    text = emit_machine(load_machine(FSM / "f01_counter" / "fsm.json.gz"))
    assign = "  assign y = count;"
    assert text.count(assign) == 1, "choose another line, the emitter has changed"
    differ = text.replace(assign, "`ifdef VERILATOR\n  assign y = ~count;\n`else\n  assign y = count + 1;\n`endif")
    unsure = text.replace(
        assign, "  wire c; reg [5:0] z; assign y = z;\n  always @* if (c) z = ~count; else z = count;"
    )
    for wrong, wanted in ((differ, Verdict.SIMULATORS_DISAGREE), (unsure, Verdict.X_IN_OUTPUT)):
        record = sim("f01_counter", wrong, tmp_path, vectors=40, simulator="both")
        assert record.verdict is wanted, record.message


def test_a_register_that_is_not_initialised_is_x_in_an_output(tmp_path: Path) -> None:
    text = emit_machine(load_machine(FSM / "f03_fir7" / "fsm.json.gz"))
    record = sim("f03_fir7", text.replace("initial taps", "// initial taps"), tmp_path, vectors=20)
    assert record.verdict is Verdict.X_IN_OUTPUT
    assert record.simulators[0].vectors_with_x == 7


def test_the_first_mismatch_names_cycle_signal_and_element(tmp_path: Path) -> None:
    """The mismatch names its place: a wrong row 3 of the weights shows after edge 3 of a frame in element 3."""
    text = emit_machine(load_machine(FSM / "f05_dense_folded" / "fsm.json.gz"))
    wrong = re.sub(r"wrom\[3\] = 80'h\w+;", "wrom[3] = 80'h0;", text)
    given = FSM / "f05_dense_folded" / "inputs.npz"
    record = sim("f05_dense_folded", wrong, tmp_path, vectors=0, inputs=(given,))
    found = record.first_mismatch
    assert found is not None and found.place is not None and found.blame is not None
    with np.load(FSM / "f05_dense_folded" / "expected.npz") as expected:
        cycle = next(t for t, row in enumerate(expected["y"]) if row[3] != 0)
        assert found.expected.real is not None and float(found.expected.real) == expected["y"][cycle][3]
    assert found.place == CyclePlace(0, cycle, "after", "y", 3)
    assert found.found.raw == 0 and found.output == 3 and found.row == cycle
    assert (found.blame.kind, found.blame.signal, found.blame.cycle) == ("register", "wrom[48]", 0)
    as_recorded(found.blame.text)
    assert [given.name for given in found.inputs][:3] == ["rst", "x[0]", "x[1]"]
    assert str(found.place) == f"cycle {cycle}, after its edge: y[3]"
    assert SimulationRecord.from_json(record.to_json()).first_mismatch == found


def test_what_nothing_initialises_is_compared_with_nothing() -> None:
    """Without a reset or an initial value, the counter is never known, and nothing is compared."""
    of = counter(rst_if=signal("rst", exposed=True), rst_to=[3])
    unknown = json.loads(json.dumps(counter()))
    assert sim(unknown, vectors=30).verdict is Verdict.NOT_RUN
    assert sim(of, vectors=30).verdict is Verdict.PASS


def test_a_bit_that_is_known_at_times_is_compared_then() -> None:
    """A bit is compared from when it is known: ``q`` takes ``d`` at the first edge at which ``q`` is enabled."""
    q = signal("q", NIBBLE, reg=True)
    enable = signal("en", exposed=True)
    of = tree(
        {}, [connect(signal("d", NIBBLE, exposed=True), q, enable), connect(q, signal("y", NIBBLE, exposed=True))]
    )
    record = sim(of, vectors=100)
    assert record.verdict is Verdict.PASS
    assert 0 < record.simulators[0].bits_compared < 2 * 4 * 100


def test_a_run_without_output_bits_or_cycles_is_no_pass() -> None:
    assert sim("f01_counter", vectors=0).verdict is Verdict.NOT_RUN
    nothing = tree({}, [connect(signal("x", exposed=True), signal("y", [[False, 0, 0]], exposed=True))])
    assert sim(nothing, vectors=10).verdict is Verdict.NOT_RUN


def test_a_machine_without_inputs_runs() -> None:
    """A machine without inputs runs: a ring of two registers, which exchange their initial values."""
    a, b = (signal(name, NIBBLE, reg=True, rst_to=[value]) for name, value in (("a", 3), ("b", 12)))
    of = tree({}, [connect(a, b), connect(b, a), connect(a, signal("y", NIBBLE, exposed=True))])
    record = sim(of, vectors=20)
    assert record.verdict is Verdict.PASS and record.simulators[0].bits_compared == 2 * 4 * 20


def some_types(chance: random.Random, count: int) -> list[list[Any]]:
    kinds: list[list[Any]] = []
    while len(kinds) < count:
        kind = [chance.random() < 0.5, chance.randint(-4, 8), chance.randint(-4, 8)]
        if 0 <= sum(kind) <= 12:
            kinds.append(kind)
    return kinds


@pytest.mark.parametrize("simulator", ["icarus", pytest.param("verilator", marks=pytest.mark.slow)])
def test_copies_into_other_types_drop_and_extend_as_the_oracle_does(simulator: str) -> None:
    chance = random.Random(1)
    a, b, c = (some_types(chance, 60) for _ in range(3))
    register = signal("r", b, reg=True, rst_to=[0] * 60)
    of = tree({}, [connect(signal("x", a, exposed=True), register), connect(register, signal("y", c, exposed=True))])
    record = sim(of, vectors=200, simulator=simulator)
    assert record.verdict is Verdict.PASS, record.message


#: Views with an index: types, start and stop, stride, bits of the index. Most indices can exceed the register.
VIEWS: Mapping[str, tuple[list[list[Any]], tuple[int, int], int, int]] = {
    "word": ([[True, 7, 0]] * 8, (0, 1), 1, 3),
    "five words": ([[True, 7, 0]] * 5, (0, 1), 1, 4),
    "rows": ([[True, 3, 0], [False, 5, 1]] * 4, (0, 2), 2, 3),
    "second of two": ([[True, 3, 0], [False, 5, 1]] * 4, (1, 2), 2, 3),
    "steps of other widths": ([[True, 3, 0], [False, 5, 1], [True, 3, 0], [False, 2, 1]] * 2, (0, 1), 2, 3),
    "overlapping": ([[True, 7, 0]] * 6, (1, 4), 1, 3),
    "wide index": ([[True, 7, 0]] * 3, (0, 1), 1, 40),
    "index without bits": ([[True, 7, 0]] * 3, (1, 2), 1, 0),
}
#: A memory, and a vector whose elements are not evenly spaced; the others are slow.
INDEXED = (("five words", "icarus"), ("steps of other widths", "icarus"), ("rows", "verilator"))


@pytest.mark.parametrize(
    ("kind", "simulator"),
    [
        pytest.param(kind, simulator, marks=() if (kind, simulator) in INDEXED else pytest.mark.slow)
        for kind in VIEWS
        for simulator in ("icarus", "verilator")
    ],
)
def test_an_index_reads_and_writes_where_the_oracle_does(kind: str, simulator: str) -> None:
    """RTL reads and writes where the oracle does, also beyond the end, where a read is unknown and a write is lost.

    All elements of the register are compared.
    """
    types, view, stride, bits = VIEWS[kind]
    i = signal("i", [[False, bits, 0]], exposed=True)
    d, we = signal("d", types[view[0] : view[1]], exposed=True), signal("we", exposed=True)
    place = signal("m", types, reg=True, rst_to=[0] * len(types), view=view, dynamic=(i, stride))
    of = tree(
        {},
        [
            connect(d, place, we),
            connect(place, signal("y", types[view[0] : view[1]], exposed=True)),
            connect(signal("m", types, reg=True), signal("all", types, exposed=True)),
        ],
    )
    only_words = tree({}, of["fsm"]["conns"][:2])  # implemented as a memory if possible
    for each in (of, only_words):
        record = sim(each, vectors=150, simulator=simulator, unchecked=True)
        assert record.verdict is Verdict.PASS, record.message


def test_an_index_that_leaves_its_memory_is_a_broken_promise() -> None:
    i = signal("i", [[False, 3, 0]], exposed=True)
    place = signal("m", NIBBLE * 5, reg=True, rst_to=[0] * 5, view=(0, 1), dynamic=(i, 1))
    of = tree({}, [connect(place, signal("y", NIBBLE, exposed=True))])
    record = sim(of, vectors=50)
    assert record.verdict is Verdict.PROGRAM_INVALID
    assert re.match(r"cycle \d+: m\[0:1 \+ 1\*i\[0:1\]\] .* [567] ", record.message)
    as_recorded(record.message)


def test_several_sequences_each_begin_at_power_up(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "x.npz", rst=np.zeros((3, 8, 1)), en=rng.integers(0, 2, (3, 8, 1)))
    record = sim("f01_counter", inputs=(tmp_path / "x.npz",), vectors=0)
    assert record.verdict is Verdict.PASS and record.vectors == 24
    text = emit_machine(load_machine(FSM / "f01_counter" / "fsm.json.gz"))
    np.savez(tmp_path / "x.npz", rst=np.zeros((2, 8, 1)), en=[[[0]] * 8, [[1]] * 8])
    wrong = text.replace("if (en) count", "if (en && count != 8) count")
    found = sim("f01_counter", wrong, tmp_path, inputs=(tmp_path / "x.npz",), vectors=0).first_mismatch
    assert found is not None and found.place == CyclePlace(1, 1, "after", "y", 0) and found.row == 9


def test_names_that_are_no_identifiers_are_simulated() -> None:
    x, y = signal("a b", NIBBLE, exposed=True), signal("clk", NIBBLE, exposed=True)
    register = signal("module", NIBBLE, reg=True, rst_to=[1])
    record = sim(tree({}, [connect(x, register), connect(register, y)]), vectors=20)
    assert record.verdict is Verdict.PASS


def test_rtl_with_other_ports_is_refused(tmp_path: Path) -> None:
    text = emit_machine(load_machine(FSM / "f01_counter" / "fsm.json.gz"))
    record = sim("f01_counter", text.replace("[5:0] y", "[6:0] y"), tmp_path, vectors=5)
    assert record.verdict is Verdict.INVALID_INPUT
    assert record.message == "the design does not fit the machine: port y of the design has 7 bits; the program needs 6"
    renamed = re.sub(r"\bclk\b", "clock", text)
    record = sim("f01_counter", renamed, tmp_path, vectors=5)
    assert record.message.startswith("the design does not fit the machine: the design has no port clk;")
    design = DesignRequest(rtl=(tmp_path / "design.v",), top="model", pins=Pins(clock="clock"))
    assert sim("f01_counter", design=design, vectors=5).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"design": DesignRequest(pins=Pins(clock="c"))}, r"clock c.*RTL"),
        ({"design": DesignRequest(pins=Pins(reset="r"))}, r"reset.*machine"),
        ({"exhaustive": True}, "exhaustive"),
        ({"out_of_range": True}, "out_of_range"),
        ({"layout": "alir"}, "layout"),
    ],
    ids=["clock", "reset", "exhaustive", "out of range", "layout"],
)
def test_options_of_programs_are_refused(options: Any, message: str) -> None:
    with raises(RequestError, match=message):
        sim("f01_counter", **options)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"rst": [[0]]}, r"inputs.*machine.*en"),
        ({"rst": [[0], [0]], "en": [[1]]}, r"inputs.*sequences or cycles"),
        ({"rst": [[0, 0]], "en": [[1]]}, r"shape \(1, 2\).*\(cycles, 1\)"),
        ({"rst": [[np.nan]], "en": [[1]]}, ""),
        ({"rst": [["a"]], "en": [[1]]}, ""),
    ],
    ids=["missing", "of other lengths", "of other widths", "NaN", "text"],
)
def test_files_that_are_no_sequences_are_refused(arrays: Any, message: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", **{name: np.array(values) for name, values in arrays.items()})
    with raises(MachineInputError, match=message):
        sim("f01_counter", inputs=(tmp_path / "x.npz",))


def test_a_file_that_is_no_npz_is_refused(tmp_path: Path) -> None:
    for content in (b"", b"PK\x03\x04", b"\x93NUMPY", b"0,1\n"):
        (tmp_path / "x.npz").write_bytes(content)
        with pytest.raises(InputError, match=r"x\.npz"):
            sim("f01_counter", inputs=(tmp_path / "x.npz",))


def test_the_command_line_shows_cycle_and_element_and_a_line_to_reproduce(tmp_path: Path) -> None:
    source = FSM / "f01_counter" / "fsm.json.gz"
    assert command("emit", source, "-o", tmp_path / "model.v").returncode == 0
    text = (tmp_path / "model.v").read_text()
    (tmp_path / "model.v").write_text(text.replace("initial count <= 6'h5", "initial count <= 6'h4"))
    page = tmp_path / "page.html"
    options = ("--rtl", tmp_path / "model.v", "--sim", "icarus", "--vectors", 20, "--html", page)
    done = command("sim", source, *options, "-o", tmp_path / "out")
    assert done.returncode == 1
    assert "20 cycles, seed 0" in done.stdout
    named = [
        line for line in done.stdout.splitlines() if "y[0], in icarus" in line or re.match(r"blame .*count\[0\] ", line)
    ]
    assert len(named) == 2
    as_recorded("\n".join(named))
    assert "waves      gtkwave" in done.stdout and (tmp_path / "out" / "replay_icarus" / "waves.fst").is_file()
    assert "reproduce  " in done.stdout
    record = SimulationRecord.from_json((tmp_path / "out" / "result.json").read_text())
    assert record.verdict is Verdict.RTL_MISMATCH and record.first_mismatch is not None
    assert str(record.first_mismatch.place) in page.read_text()


def test_bits_and_reset_lines_are_tried_both_ways() -> None:
    """In generated sequences every input takes several values in each element, and resets are short."""
    for name in REAL:
        of = load_machine(FSM / name / "fsm.json.gz")
        sequence = generate_sequence(of, 500)
        resets = {s.reset.signal for s in of.registers if s.reset is not None}
        for given in of.inputs:
            for element in range(len(given.types)):
                values = {row[element] for row in sequence.rows[given.name]}
                assert len(values) > 1, (name, given.name)
            if given.name in resets:
                assert sum(row[0] for row in sequence.rows[given.name]) < 150, (name, given.name)
        assert sequence == generate_sequence(of, 500) != generate_sequence(of, 500, 1)


def test_an_expectation_that_the_oracle_contradicts_blames_no_rtl(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bit of cycle 10 that the fast engine flips is no fault of the RTL, and the verdict is UNKNOWN."""
    fast = expected.run_raw

    def flipped(*arguments: Any, **options: Any) -> Any:
        run = fast(*arguments, **options)
        assert run is not None
        run.before[10, 0, 0] ^= 1
        return run

    monkeypatch.setattr(expected, "run_raw", flipped)
    record = sim("f01_counter", vectors=20)
    assert record.verdict is Verdict.UNKNOWN
    as_recorded(record.message)


@pytest.mark.few(5)
@pytest.mark.parametrize("name", REAL)
def test_the_fast_engine_expects_what_the_oracle_does(name: str) -> None:
    of = load_machine(FSM / name / "fsm.json.gz")
    sequences = [generate_sequence(of, 60, number=number) for number in range(2)]
    fast = expected._fast(of, sequences, True)
    assert fast is not None
    for rows, sequence in zip(fast, sequences, strict=True):
        exact = expected._exact_rows(of, sequence, True)
        assert exact.known is None
        assert np.array_equal(rows.expected, exact.expected) and np.array_equal(rows.inputs, exact.inputs)


def fifo_with_another_word(word: int) -> str:
    """Return our RTL of the FIFO with one initial bit set in ``word`` of the memory, which no reset clears."""
    text = emit_machine(load_machine(FSM / "f04_fifo" / "fsm.json.gz"))
    assert f"mem[{word}] = 9'h0;" in text, "choose another fault, the emitter has changed"
    return text.replace(f"mem[{word}] = 9'h0;", f"mem[{word}] = 9'h1;")


def test_what_shows_in_a_late_sequence_alone_is_found_in_bulk_and_confirmed(tmp_path: Path) -> None:
    """An initial value that only the last of 12 sequences reads is found in bulk and confirmed in Icarus.

    Word 4 is read before it is written only if four words went in and out before a fifth. Icarus runs the first eight
    sequences, and then the last one, too.
    """
    push, pop = np.zeros((2, 12, 30, 1))
    push[:, :20] = 1
    push[11, :, 0] = pop[11, :, 0] = [1, 0] * 15
    pop[11, :, 0] = [0, 1] * 15
    np.savez(tmp_path / "x.npz", push=push, pop=pop, rst=np.zeros((12, 30, 1)), din=np.zeros((12, 30, 1)))
    given = {"inputs": (tmp_path / "x.npz",), "vectors": 0, "simulator": "both"}
    record = sim("f04_fifo", fifo_with_another_word(4), tmp_path, **given)
    assert record.verdict is Verdict.RTL_MISMATCH, record.message
    place = record.first_mismatch and record.first_mismatch.place
    assert place is not None and (place.sequence, place.signal) == (11, "dout")
    compared = {result.name: (result.vectors_compared, result.bulk_vectors) for result in record.simulators}
    assert compared == {"icarus": (9 * 30, 0), "verilator": (12 * 30, 12 * 30)}
    assert sim("f04_fifo", **{**given, "simulator": "verilator"}).verdict is Verdict.PASS


def test_many_cycles_are_several_sequences_of_which_the_first_is_long() -> None:
    of = load_machine(FSM / "f04_fifo" / "fsm.json.gz")
    for cycles, lengths in ((255, [255]), (1000, [502, 166, 166, 166]), (100_000, [4117, *[1031] * 93])):
        assert [sequence.cycles for sequence in generate_sequences(of, cycles)] == lengths
        assert sum(lengths) == cycles


def test_bits_that_only_the_oracle_knows_to_be_unknown_are_masked_in_bulk() -> None:
    q = signal("q", NIBBLE, reg=True)
    enable = signal("en", exposed=True)
    of = tree(
        {}, [connect(signal("d", NIBBLE, exposed=True), q, enable), connect(q, signal("y", NIBBLE, exposed=True))]
    )
    found = {name: sim(of, vectors=100, simulator=name).simulators[0].bits_compared for name in ("icarus", "verilator")}
    assert found["icarus"] == found["verilator"] < 800


def rtl_of(name: str) -> str:
    return emit_machine(load_machine(FSM / name / "fsm.json.gz"))


def blame_of(name: str, text: str, folder: Path, **options: Any) -> Blame:
    record = sim(name, text, folder, **{"vectors": 255, **options})
    assert record.first_mismatch is not None and record.first_mismatch.blame is not None
    return record.first_mismatch.blame


def test_blame_names_the_op_of_a_block(tmp_path: Path) -> None:
    """Blame names the gate that decides whether the FIFO takes a word, and the register that takes it."""
    text = rtl_of("f04_fifo")
    gate = re.search(r"op_14 = .*;", text)
    assert gate is not None and "&" in gate[0], "choose another op, the emitter has changed"
    blame = blame_of("f04_fifo", text.replace(gate[0], gate[0].replace("&", "|")), tmp_path)
    assert (blame.kind, blame.block, blame.op) == ("op", "ctl", 14)
    assert blame.expected is not None and blame.found is not None and blame.expected.raw != blame.found.raw


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("name", "old", "new", "kind", "signal"),
    [
        ("f04_fifo", "if (do_write) mem", "if (1) mem", "register", "mem["),
        ("f04_fifo", "assign do_write = INTERNAL_ctl_outp[10]", "assign do_write = 1", "signal", "do_write[0]"),
        ("f04_fifo", "assign lvl = level", "assign lvl = ~level", "signal", "lvl[0]"),
        ("f06_alt_src", "if (rst) b <= 8'h64;", "if (rst) b <= 8'h65;", "register", "b[0]"),
    ],
    ids=["enable of a memory", "wire", "output", "reset value"],
)
def test_blame_names_the_first_wrong_register_or_signal(
    name: str, old: str, new: str, kind: str, signal: str, tmp_path: Path
) -> None:
    text = rtl_of(name)
    assert text.count(old) == 1, "choose another fault, the emitter has changed"
    blame = blame_of(name, text.replace(old, new), tmp_path)
    assert blame.kind == kind and blame.signal is not None and blame.signal.startswith(signal), blame
    assert blame.cycle is not None and blame.replayed_in == "icarus"


def test_without_names_blame_says_what_the_output_depends_on(tmp_path: Path) -> None:
    text = re.sub(r"\bcount\b", "x1", rtl_of("f01_counter"))
    text = re.sub(r"\bop_(\d)", r"t\1", re.sub("INTERNAL_inc", "x2", re.sub("block_inc", "x3", text)))
    blame = blame_of("f01_counter", text.replace("assign y = x1", "assign y = x1 + 1"), tmp_path)
    assert blame.kind == "cone" and "registers count" in blame.text
    wrong = text.replace("if (en) x1 <= x2_outp", "if (en) x1 <= x2_outp + 1")
    assert wrong != text
    blame = blame_of("f01_counter", wrong, tmp_path)
    assert blame.kind == "cone" and "registers count" in blame.text


def test_waves_of_a_replay_are_marked_in_the_cycle_that_is_blamed(tmp_path: Path) -> None:
    text = rtl_of("f01_counter").replace("if (en) count <= INTERNAL_inc_outp", "if (en) count <= INTERNAL_inc_outp + 1")
    record = sim("f01_counter", text, tmp_path, vectors=40, output=tmp_path / "out")
    found = record.first_mismatch
    assert found is not None and found.blame is not None and found.blame.cycle is not None
    view = (tmp_path / "out" / "replay_icarus" / "replay.gtkw").read_text()
    assert "model.count[5:0]" in view and "model.en" in view and "count[0]" in view
    # A cycle lasts two nanoseconds, in steps of a picosecond; the marker is in its middle.
    assert "*" in view and str(2000 * found.blame.cycle + 1000) in view


@pytest.mark.slow
@pytest.mark.parametrize("flavor", ["verilog", pytest.param("vhdl", marks=pytest.mark.slow)])
def test_blame_knows_the_names_of_alkaids_rtl(flavor: str, tmp_path: Path) -> None:
    """Fused ops have other numbers in alkaid's RTL, so blame names a signal; a register is called by its own name."""
    rtl = theirs("f04_fifo", tmp_path, flavor)
    simulator = "icarus" if flavor == "verilog" else "ghdl"
    faults = {
        "ctl": ("~v7", "v7", "signal", "INTERNAL_ctl_outp[4]"),
        "top": ("if (rst)", "if (1'b0)", "register", "wptr[0]"),
    }
    if flavor == "vhdl":
        faults = {
            "ctl": ("not v7", "v7", "signal", "INTERNAL_ctl_outp[4]"),
            "top": ("rst(0) = '1'", "rst(0) = '0'", "register", "wptr[0]"),
        }
    for stem, (old, new, kind, name) in faults.items():
        (path,) = (path for path in rtl if path.stem == stem)
        text = path.read_text()
        assert old in text, "choose another fault, alkaid has changed"
        path.write_text(text.replace(old, new, 1))
        record = sim("f04_fifo", design=DesignRequest(rtl=rtl, top="top"), vectors=255, simulator=simulator)
        path.write_text(text)
        assert record.first_mismatch is not None and record.first_mismatch.blame is not None, record.message
        blame = record.first_mismatch.blame
        assert (blame.kind, blame.signal) == (kind, name), blame.text
