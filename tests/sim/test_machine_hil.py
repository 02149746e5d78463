"""``hil`` for machines, run as a command: right boards pass, and each kind of wrong board is named."""

from __future__ import annotations

import json
import random
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.boards import Compute, Mangler, mangled, on_tcp, python_board, stepping, verilated
from support.places import FSM
from support.said import as_recorded, raises

import dais_verif
from dais_verif.base.errors import EmitterError
from dais_verif.base.toolchain import tools
from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.fuzzing.generate.random_machines import random_machine
from dais_verif.doors.cli import main
from dais_verif.hardware.emitter.machines import emit_machine
from dais_verif.hardware.emitter.machines.board import machine_board
from dais_verif.record.simulation import SimulationRecord
from dais_verif.simulation.boards.identity import Identity
from dais_verif.spec.machine import Machine, MachineBuilder, load_machine
from dais_verif.spec.machine.faults import control_faults
from dais_verif.spec.machine.restart import restart_of
from dais_verif.spec.program import FixedType, assemble

EXAMPLES = Path(__file__).parents[2] / "examples"
FIFO_FILE = FSM / "f04_fifo" / "fsm.json.gz"
FIFO = load_machine(FIFO_FILE)
COUNTER = load_machine(FSM / "f01_counter" / "fsm.json.gz")
DENSE = load_machine(EXAMPLES / "dense.mach")
NIBBLE = FixedType(0, 4, 0)


def on_python(board: tuple[Identity, Any], machine: Machine = FIFO, **asked: Any) -> SimulationRecord:
    """Return the record of a run with a board in Python."""
    with python_board(*board) as link, on_tcp(link) as target:
        return dais_verif.run_on_board(machine, target, **{"vectors": 200, **asked})


def changed(compute: Compute, number: int, how: Callable[[int], int]) -> Compute:
    """Return ``compute`` changed to give another result for received vector ``number``, also if it is sent again."""
    numbers: dict[bytes, int] = {}

    def one(vector: bytes, result: bytes) -> bytes:
        if numbers.setdefault(vector, len(numbers)) != number:
            return result
        return how(int.from_bytes(result, "little")).to_bytes(len(result), "little")

    return lambda vectors: [one(*pair) for pair in zip(vectors, compute(vectors), strict=True)]


def with_signal(machine: Machine, name: str, **changed: Any) -> Machine:
    return replace(machine, signals={**machine.signals, name: replace(machine.signals[name], **changed)})


class TestRightBoards:
    def test_in_simulation(self, tmp_path: Path) -> None:
        record = dais_verif.run_on_board(FIFO_FILE, "sim://fifo", vectors=200, output=tmp_path / "out")
        assert record.verdict is Verdict.PASS, record.message
        (result,) = record.simulators
        assert (result.vectors_compared, result.mismatches, record.vectors) == (200, 0, 200)
        assert result.bits_compared < 200 * 15, "words that were never written are not compared"
        assert record.board is not None and (record.board.cycles, record.board.latency) == (32, 32)
        assert [decision.what for decision in record.decisions] == ["sequences", "not reset"]
        assert json.loads((tmp_path / "out" / "result.json").read_text())["board"]["cycles"] == 32

    @pytest.mark.slow
    @pytest.mark.parametrize("link", ["uart", "fifo"])
    @pytest.mark.parametrize(
        "name", [*sorted(one.name for one in FSM.glob("f0*")), "serial_dot", "convolution", "dense?cycles=160"]
    )
    def test_of_every_real_machine(self, name: str, link: str) -> None:
        name, _, more = name.partition("?")
        path = FSM / name / "fsm.json.gz" if name.startswith("f0") else EXAMPLES / f"{name}.mach"
        record = dais_verif.run_on_board(path, f"sim://{link}?{more}" if more else f"sim://{link}", vectors=2000)
        assert record.verdict is Verdict.PASS, record.message

    @pytest.mark.slow
    def test_over_a_bad_line(self, tmp_path: Path) -> None:
        bad = Mangler(7, lose=0.001, flip=0.001, double=0.001, delay=0.0005, pause=0.02)
        with verilated(FIFO, "fifo", tmp_path) as board, mangled(board, bad) as line, on_tcp(line) as target:
            record = dais_verif.run_on_board(FIFO, target, vectors=2000)
        assert record.verdict is Verdict.PASS
        assert record.board is not None and record.board.repeated > 0

    def test_what_a_memory_holds_after_a_reset_is_not_compared(self) -> None:
        """A board whose memory has other contents after the reset passes; one with a wrong pointer fails, see below."""
        junk = with_signal(FIFO, "mem", initial=tuple(Fraction(-3 - word) for word in range(8)))
        assert on_python(stepping(FIFO, runs=junk)).verdict is Verdict.PASS

    def test_the_last_sequence_may_be_shorter(self) -> None:
        """The cycles of a board after the end of a shorter last sequence are not compared."""
        identity, compute = stepping(COUNTER)

        def after_8(bits: int) -> int:
            return bits ^ ((1 << 24 * 6) - 1) << 8 * 6

        for vectors, verdict in ((40, Verdict.PASS), (41, Verdict.RTL_MISMATCH)):
            record = on_python((identity, changed(compute, 1, after_8)), COUNTER, vectors=vectors)
            assert (record.verdict, record.simulators[0].vectors_compared) == (verdict, vectors)

    def test_sequences_from_a_file(self, tmp_path: Path) -> None:
        path = tmp_path / "x.npz"
        ones = {s.name: np.full((2, 9, 1), float(s.name in ("push", "din"))) for s in FIFO.inputs}
        np.savez(path, **ones)
        record = on_python(stepping(FIFO), inputs=path, vectors=32)
        assert (record.verdict, record.vectors) == (Verdict.PASS, 18 + 32)
        assert [part.vectors for part in record.stimulus] == [18, 32]

    def test_a_machine_without_registers(self) -> None:
        made = MachineBuilder()
        made.connect(made.input("x", NIBBLE), made.output("y", NIBBLE))
        assert on_python(stepping(made.build()), made.build()).verdict is Verdict.PASS


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SimulationRecord, Path]]:
    """Yield the record of a board whose FIFO begins to write at a wrong address, and the folder of that run."""
    folder = tmp_path_factory.mktemp("wrong") / "out"
    moved = with_signal(FIFO, "wptr", initial=(Fraction(2),))
    with python_board(*stepping(FIFO, runs=moved)) as board, on_tcp(board) as target:
        yield dais_verif.run_on_board(FIFO_FILE, target, vectors=200, output=folder), folder


class TestWrongBoards:
    @pytest.mark.slow
    def test_an_fpga_with_other_logic(self, tmp_path: Path) -> None:
        text = emit_machine(restart_of(FIFO).core)
        bad = re.sub(r"else level <= (.*?);", r"else level <= ~(\1);", text)
        assert bad != text
        with verilated(FIFO, "fifo", tmp_path, core=bad) as board, on_tcp(board) as target:
            record = dais_verif.run_on_board(FIFO, target, vectors=200)
        assert record.verdict is Verdict.RTL_MISMATCH
        assert record.first_mismatch is not None and record.first_mismatch.blame is not None
        assert (
            "gives the same wrong bits each time: the logic on the board is wrong" in record.first_mismatch.blame.text
        )

    def test_other_logic(self, wrong: tuple[SimulationRecord, Path]) -> None:
        record, _ = wrong
        assert record.verdict is Verdict.RTL_MISMATCH
        mismatch = record.first_mismatch
        assert mismatch is not None and mismatch.place is not None and mismatch.blame is not None
        assert (mismatch.simulator, mismatch.place.sample) == ("board", "before")
        assert " 8 times" in mismatch.blame.text
        as_recorded(mismatch.blame.text)
        assert str(mismatch.place) in mismatch.blame.text
        assert re.fullmatch(r"\d+ of 200 cycles .*", record.message)

    def test_the_sequence_that_failed_can_be_simulated(self, wrong: tuple[SimulationRecord, Path]) -> None:
        """The failing sequence is kept, and the machine gives the expected value in the cycle of the mismatch."""
        record, folder = wrong
        assert record.board is not None and record.first_mismatch is not None
        place = record.first_mismatch.place
        assert place is not None
        path = folder / "mismatch.npz"
        assert record.board.replay.endswith(f"{FIFO_FILE} --vectors 0 --seed 0 --inputs {path}")
        assert record.reproduce.split()[1:3] == ["hil", str(FIFO_FILE)]
        with np.load(path) as arrays:
            outputs = dais_verif.run(FIFO, dict(arrays)).outputs
        assert outputs[place.signal][0, place.cycle, place.element] == float(
            Fraction(record.first_mismatch.expected.real)
        )

    def test_a_word_that_is_dropped(self) -> None:
        """A result in which the outputs of one cycle are missing, and later ones come early, is a mismatch."""
        identity, compute = stepping(FIFO)

        def dropped(bits: int) -> int:
            return bits & (1 << 15 * 4) - 1 | bits >> 15 * 5 << 15 * 4

        record = on_python((identity, changed(compute, 1, dropped)))
        assert record.verdict is Verdict.RTL_MISMATCH
        mismatch = record.first_mismatch
        assert mismatch is not None and mismatch.place is not None
        assert (mismatch.place.sequence, mismatch.place.cycle >= 4) == (1, True)

    def test_a_result_that_is_too_short(self) -> None:
        identity, compute = stepping(FIFO)
        record = on_python((identity, lambda vectors: [result[:-1] for result in compute(vectors)]))
        assert record.verdict is Verdict.TOOL_FAILURE
        as_recorded(record.message)

    def test_one_bit_of_one_result(self) -> None:
        identity, compute = stepping(COUNTER)
        record = on_python((identity, changed(compute, 3, lambda bits: bits ^ 1)), COUNTER)
        assert record.verdict is Verdict.RTL_MISMATCH
        assert record.message.startswith("1 of 200 cycles ")
        as_recorded(record.message)
        assert record.first_mismatch is not None and record.first_mismatch.row == 3 * 32

    def test_a_board_of_another_machine(self) -> None:
        with raises(dais_verif.InputError, r"hash [0-9a-f]{64}, "):
            on_python(stepping(DENSE))

    @pytest.mark.parametrize(
        ("name", "value"), [("latency", 31), ("latency", 0), ("input_bits", 12), ("output_bits", 1)]
    )
    def test_a_board_whose_ports_are_not_those_of_its_cycles(self, name: str, value: int) -> None:
        identity, compute = stepping(FIFO)
        with raises(dais_verif.InputError, match=r"ports of \d+.*\d+ bits?"):
            on_python((identity._replace(**{name: value}), compute))

    def test_too_few_cycles_to_see_an_output(self) -> None:
        """Outputs that are never known, or never change, in the cycles of a vector give NOT_RUN, not PASS."""
        record = on_python(stepping(DENSE), DENSE)
        assert record.verdict is Verdict.NOT_RUN
        assert record.message.startswith("y[1], y[2], y[3], y[4] and 3 more: ")
        assert "32 cycles" in record.message and "--cycles N" in record.message
        as_recorded(record.message)

    def test_a_sequence_that_is_longer_than_a_vector(self, tmp_path: Path) -> None:
        path = tmp_path / "x.npz"
        np.savez(path, **{s.name: np.zeros((33, 1)) for s in FIFO.inputs})
        with pytest.raises(dais_verif.InputError, match=r"sequence 0.*33 cycles.*vector.*board 32"):
            on_python(stepping(FIFO), inputs=path)

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["f01_counter", "f02_mac"])
    def test_every_control_fault_that_a_reset_does_not_hide(self, name: str) -> None:
        """Each fault has a board of its own; values at power-up do not matter, since a board begins with a reset."""
        machine = load_machine(FSM / name / "fsm.json.gz")
        missed = []
        for fault in control_faults(machine):
            record = on_python(stepping(machine, runs=fault.machine), machine, vectors=600)
            if record.verdict is not Verdict.RTL_MISMATCH:
                missed.append(str(fault))
        assert [text for text in missed if "power-up" not in text and "at reset" not in text] == []


#: Faults of the sequencer in the Verilog of the board.
SEQUENCER = {
    "it is not reset between vectors": ("running ? given[11:0] : 12'h1", "running ? given[11:0] : 12'h0"),
    "a cycle too few": ("left <= 5'd31", "left <= 5'd30"),
    "a cycle too many": ("done <= left == 0", "done <= left == 1"),
    "inputs of the cycle before": ("given <= given >> 12", "given <= {given, 12'd0} >> 18"),
    "results are lost": ("results <= {core_out,", "if (left != 3) results <= {core_out,"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SEQUENCER)
def test_a_fault_of_what_steps_the_machine_is_found(name: str, tmp_path: Path) -> None:
    old, new = SEQUENCER[name]
    with verilated(FIFO, "fifo", tmp_path, bug=("model_axis.v", old, new)) as board, on_tcp(board) as target:
        record = dais_verif.run_on_board(FIFO, target, vectors=1000, timeout=2)
    assert record.verdict in (Verdict.RTL_MISMATCH, Verdict.TOOL_FAILURE), record.message


class TestVerdicts:
    def test_no_cycle_is_no_pass(self) -> None:
        record = on_python(stepping(FIFO), vectors=0)
        assert record.verdict is Verdict.NOT_RUN
        as_recorded(record.message)

    def test_outputs_that_are_never_known_are_no_pass(self) -> None:
        made = MachineBuilder()
        en = made.input("en", FixedType(0, 1, 0))
        state = made.register("state", NIBBLE)
        made.connect(state, state, enable=en)
        made.connect(state, made.output("y", NIBBLE))
        record = on_python(stepping(made.build()), made.build())
        assert record.verdict is Verdict.NOT_RUN
        as_recorded(record.message)

    @pytest.mark.parametrize(
        ("more", "says"),
        [
            ({"layout": "v1"}, "layout"),
            (
                {"resume": True, "output": "out"},
                r"resume.*run of a machine",
            ),
        ],
    )
    def test_options_that_only_programs_have(self, more: dict[str, Any], says: str, tmp_path: Path) -> None:
        if "output" in more:
            more = {**more, "output": tmp_path / "out"}
        with raises(dais_verif.DaisError, match=says):
            dais_verif.run_on_board(FIFO, "sim://fifo", **more)

    def test_no_input_is_lost_and_no_old_sequence_is_left(self, tmp_path: Path) -> None:
        path = tmp_path / "mismatch.npz"
        np.savez(path, **{s.name: np.zeros((3, 1)) for s in COUNTER.inputs})
        with pytest.raises(dais_verif.InputError, match=r"mismatch\.npz"):
            on_python(stepping(COUNTER), COUNTER, inputs=path, output=tmp_path)
        assert path.exists()
        on_python(stepping(COUNTER), COUNTER, output=tmp_path, vectors=20)
        assert not path.exists()

    def test_vectors_that_are_too_wide(self) -> None:
        with pytest.raises(dais_verif.InputError, match=r"4096 cycles of 160 bits.*655360 bits.*vector"):
            dais_verif.run_on_board(DENSE, "sim://fifo?cycles=4096")

    @pytest.mark.parametrize("text", ["cycles=0", "cycles=x", "cycles=4097", "baud=9600"])
    def test_targets_that_are_none(self, text: str) -> None:
        with raises(dais_verif.InputError):
            dais_verif.run_on_board(FIFO, f"sim://fifo?{text}")


def test_modules_of_blocks_do_not_take_the_names_of_the_board() -> None:
    made = MachineBuilder()
    block = made.block("fifo", assemble("input a\na = u4.0 input a\ny = u4.0 not(a)\noutput y = y"))
    made.connect(made.input("x", NIBBLE), block.inputs)
    made.connect(block.outputs, made.output("y", NIBBLE))
    files = machine_board(made.build(), "fifo")
    modules = re.findall(r"^module (\w+)", "".join(files.values()), re.MULTILINE)
    assert len(modules) == len(set(modules)) and "model_fifo_2" in modules
    with pytest.raises(EmitterError, match=r"top dais_bridge.*dais_bridge"):
        machine_board(made.build(), "fifo", "dais_bridge")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_random_machines(seed: int) -> None:
    """Machines with resets by logic, registers without values, and memories: known bits are those of the RTL."""
    machine = random_machine(random.Random(seed), initialised=seed % 3 > 0)
    target = f"sim://fifo?cycles={(1, 7, 32, 40)[seed % 4]}"
    record = dais_verif.run_on_board(machine, target, vectors=400, unchecked=True)
    assert record.verdict in (Verdict.PASS, Verdict.NOT_RUN) and record.simulators[0].mismatches == 0, record.message


def test_text_for_people(capfd: pytest.CaptureFixture[str]) -> None:
    with python_board(*stepping(FIFO)) as board, on_tcp(board) as target:
        assert main._run(["hil", str(FIFO_FILE), "--target", target, "--vectors", "100"]) == 0
    text = capfd.readouterr().out
    assert f"board      {target}, runs this machine, 32 cycles per vector, buffer of 4096 bytes" in text
    assert "not reset  mem: " in text
    assert "stimulus   100 cycles, seed 0" in text


@pytest.mark.parametrize("machine", [FIFO, pytest.param(DENSE, marks=pytest.mark.slow)], ids=["fifo", "dense"])
def test_tools_take_the_folder_as_its_readme_says(machine: Machine, tmp_path: Path) -> None:
    record = dais_verif.emit(machine, wrap="uart", cycles=40, output=tmp_path / "rtl").wrapped
    assert record is not None
    assert (record.top, record.core_latency, record.axil) == ("model_uart", 40, False)
    page = (tmp_path / "rtl" / "README.md").read_text()
    assert ("has one more port than the machine, `restart`" in page) == (machine is DENSE)
    found = tools.verilator()
    lint = "verilator --lint-only -Wall -Wno-DECLFILENAME --top-module model_uart -f files.f"
    for line, env, tool in (
        ("iverilog -g2005 -s model_uart -o /dev/null -f files.f", None, [str(tools.icarus().iverilog)]),
        (lint, dict(found.env), found.driver),
    ):
        assert f"    {line}\n" in page
        words = [*tool, *line.split()[1:]]
        done = subprocess.run(words, cwd=tmp_path / "rtl", env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0 and "Warning" not in done.stderr, done.stderr
