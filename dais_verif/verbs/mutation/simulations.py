"""Simulate mutants: as many as possible in one build, the others in separate builds."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from pathlib import Path

from dais_verif.base.errors import MutationError, MutationFailure, ToolError
from dais_verif.base.toolchain import process, tools
from dais_verif.base.toolchain.rtl_files import DataFile, copy_into
from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.mutation.bench import (
    SIMULATORS,
    Build,
    Plan,
    Ran,
    bench_of,
    combinational,
    cycles,
    memories,
    run,
)
from dais_verif.campaigns.mutation.mutant import Files, Mutant, can_be_chosen, with_choice
from dais_verif.golden import run_raw
from dais_verif.hardware.ports.encode import encode_outputs
from dais_verif.hardware.ports.interface import Clocking, DesignInterface, Dut, packed
from dais_verif.simulation.boards.compare import BOARD
from dais_verif.simulation.boards.core_run import run_core
from dais_verif.simulation.boards.emulator import build_core
from dais_verif.simulation.machines.expected import expect
from dais_verif.simulation.testbench.packed_rows import bits_of_row
from dais_verif.simulation.testbench.packing import pack_inputs, pack_outputs
from dais_verif.simulation.verify import Finding
from dais_verif.spec.machine import Machine
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch
from dais_verif.stimulus.machines import InputSequence
from dais_verif.verbs.mutation.proofs import Question

__all__ = ["Bench", "Boards", "Wrong", "machine_plan", "plan_of", "short_reason", "simulators_of"]


#: The most mutants of one build: beyond that, compile time grows faster than the time that is saved.
_TOGETHER = 1000
_BENCH = "dais_bench.sv"
#: Seconds without output after which a mutant is assumed to run forever, such as a ring of inverters.
_SILENCE = 20.0


@dataclass(frozen=True)
class Wrong:
    """The first place where a mutant was wrong: in a ``simulator``, or on a board, at vector ``row``.

    ``row`` None: the board does not answer, and ``text`` has the message.
    """

    simulator: str
    row: int | None
    text: str = ""


def simulators_of(choice: str) -> tuple[str, ...]:
    """Return the simulators of ``choice``."""
    return tuple(SIMULATORS) if choice == "both" else (choice,)


def plan_of(program: Program, dut: Dut, batch: Batch, check: bool, seed: int) -> Plan:
    """Return the stimulus and expected outputs. Raises ``ViolationError`` if ``check`` and a promise is broken."""
    raw = encode_outputs(run_raw(program, batch, check=check), program.output_types, dut.output_types, 0)
    given, wanted = pack_inputs(batch, dut.ports), pack_outputs(raw, dut.ports, batch.rows)
    rows = range(batch.rows)
    clocked = dut.interface.clocking is not None
    return Plan(
        [bits_of_row(given, row, dut.ports.input_bits) for row in rows],
        [bits_of_row(wanted, row, dut.ports.output_bits) for row in rows],
        cycles(batch.rows, seed) if clocked else combinational(batch.rows),
    )


def machine_plan(machine: Machine, interface: DesignInterface, sequences: Sequence[InputSequence], check: bool) -> Plan:
    """Return the stimulus from power-up for mutants of a machine's RTL, and the expected outputs before each edge.

    Raises ``ViolationError`` if ``check`` and a promise is broken.
    """
    given: list[str] = []
    wanted: list[str] = []
    known: list[str] = []
    spans: list[tuple[int, int]] = []
    bits, every = interface.output_bits, "1" * max(interface.output_bits, 1)
    for rows in expect(machine, sequences, check=check):
        before = range(0, len(rows.expected), 2)  # there are two rows per cycle
        given += [bits_of_row(rows.inputs, row, interface.input_bits) for row in range(len(rows.inputs))]
        wanted += [bits_of_row(rows.expected, row, bits) for row in before]
        known += [every if rows.known is None else bits_of_row(rows.known, row, bits) for row in before]
        spans.append((len(given) - len(before), len(given)))
    return Plan(given, wanted, combinational(len(given)), known, tuple(spans))


@dataclass(frozen=True)
class Bench:
    """Simulate mutants of ``files``. ``data``: files that the design reads."""

    files: Files
    top: str
    dut: Dut
    data: tuple[DataFile, ...]
    plan: Plan
    folder: Path
    timeout: float

    def judge(
        self, simulator: str, mutants: Mapping[int, Mutant], tell: Callable[[int], None]
    ) -> tuple[dict[int, Wrong], dict[int, str]]:
        """Return which of ``mutants`` are wrong, and which ones the simulator rejects, with the reason.

        Mutants that need a separate build are built for Icarus if possible, which takes a tenth of the time. Raises
        ``ToolError`` if the original design does not run, or is wrong.
        """
        wrong: dict[int, Wrong] = {}
        refused: dict[int, str] = {}
        together = [number for number, mutant in mutants.items() if can_be_chosen(mutant)]
        alone = [number for number, mutant in mutants.items() if not can_be_chosen(mutant)]
        done = 0
        for first in range(0, len(together), _TOGETHER):
            numbers = together[first : first + _TOGETHER]
            odd = self._some(simulator, mutants, numbers, wrong, refused)
            alone += odd
            done += len(numbers) - len(odd)
            tell(done)
        quick = bool(alone) and tools.has_icarus() and self._is_right_in_icarus()
        for number in alone:
            text, name = mutants[number].applied(self.files), "icarus" if quick else simulator
            try:
                found = self._run(name, text, 0, f"{name}_{number}").wrong
            except ToolError as error:
                refused[number] = short_reason(error)
            else:
                if 0 in found:
                    wrong[number] = Wrong(name, self._row(found[0]))
            done += 1
            tell(done)
        return wrong, refused

    def is_right(self, simulator: str) -> bool:
        """Return True if the original design is right. Raises ``ToolError`` if it cannot be simulated."""
        return not self._run(simulator, dict(self.files), 0, f"{simulator}_original").wrong

    def _is_right_in_icarus(self) -> bool:
        try:
            return self.is_right("icarus")
        except ToolError:
            return False

    def goes_wrong(self, simulator: str, mutant: Mutant) -> bool:
        """Return True if a mutant is wrong in a separate build."""
        return bool(self._run(simulator, mutant.applied(self.files), 0, f"{simulator}_again").wrong)

    def _some(
        self,
        simulator: str,
        mutants: Mapping[int, Mutant],
        numbers: Sequence[int],
        wrong: dict[int, Wrong],
        refused: dict[int, str],
    ) -> list[int]:
        """Run many mutants in one build, or in halves if a simulator refuses it; return mutants that must run alone."""
        some = [mutants[number] for number in numbers]
        name = f"{simulator}_{numbers[0]}_{len(numbers)}"
        try:
            found = self._run(simulator, with_choice(self.files, some), len(some), name)
        except ToolError:
            if len(numbers) == 1:
                return list(numbers)
            middle = len(numbers) // 2
            halves = (numbers[:middle], numbers[middle:])
            return [number for half in halves for number in self._some(simulator, mutants, half, wrong, refused)]
        if 0 in found.wrong:  # the original design runs last, so leftovers of mutants cannot be the cause
            row = self._row(found.wrong[0])
            raise MutationFailure(
                f"{simulator}: the unmutated design fails when simulated with its mutants, at vector {row}"
            )
        wrong |= {numbers[k - 1]: Wrong(simulator, self._row(cycle)) for k, cycle in found.wrong.items()}
        refused |= {numbers[k - 1]: short_reason(error) for k, error in found.endless.items()}
        return []

    def _row(self, cycle: int) -> int:
        return self.plan.cycles[cycle].row

    def _run(self, simulator: str, files: Files, mutants: int, name: str) -> Ran:
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            (folder / file).write_text(text, encoding="latin-1")
        for file, text in memories(self.plan).items():
            (folder / file).write_text(text)
        (folder / _BENCH).write_text(bench_of(self.top, self.dut.interface, self.plan))
        copy_into(folder, self.data)
        build = Build(folder, [*files, _BENCH], len(self.plan.cycles), mutants, self.timeout, _SILENCE, self.plan.spans)
        found = run(simulator, build)
        shutil.rmtree(folder)
        return found


def short_reason(error: ToolError) -> str:
    """Return the text of ``error`` without the name of its output file, which is temporary."""
    return str(error).partition(" (full output")[0]


# Run mutants on simulated boards, driven over their link as ``hil`` does.


#: The link of the boards: the fastest in simulation.
_LINK = "fifo"
#: Seconds without an answer after which a board is given up.
_SECONDS = 10.0
#: Attempts to run an unresponsive board: a busy host may delay a board, which must not count as killing its mutant.
_TIMES = 2
#: The module name of a core on a board.
_CORE = "model"


@dataclass(frozen=True)
class Boards:
    """Runs mutants of ``files`` on boards, ``jobs`` at once."""

    program: Program
    files: Files
    latency: int
    batch: Batch
    check: bool
    folder: Path
    jobs: int

    @classmethod
    def of(cls, question: Question, batch: Batch, folder: Path, jobs: int) -> Boards:
        """Return the boards for the design of ``question``. Raises ``InputError`` if a board does not support it."""
        program, dut, clocking = question.program, question.dut.interface, question.dut.interface.clocking
        ours = packed(program).interface
        pins = clocking is None or (clocking == Clocking("clk", clocking.latency, enable="en") and clocking.latency)
        wires = (dut.inputs, dut.outputs, dut.ties) == (ours.inputs, ours.outputs, ours.ties)
        if question.top != _CORE or not pins or not wires or question.read:
            raise MutationError.of(
                "{judges} hil: a board takes a module model with model_inp and model_out, clk and en if it is clocked,"
                " that reads no files; judge other RTL by sim, or write such a module around it"
            )
        latency = 0 if clocking is None else clocking.latency or 0
        return cls(program, question.files, latency, batch, question.check, folder, jobs)

    def original(self) -> Finding:
        """Run the original design. Raises ``ToolError`` if no board can be built from it."""
        return self._run(dict(self.files), "board_original")

    def judge(
        self, mutants: Mapping[int, Mutant], tell: Callable[[int], None]
    ) -> tuple[dict[int, Wrong], dict[int, str]]:
        """Return the mutants that are wrong or do not answer, and the mutants that cannot be built, with reasons."""
        wrong: dict[int, Wrong] = {}
        refused: dict[int, str] = {}
        with process.workers(self.jobs) as pool:
            asked = {
                pool.submit(self._run, mutant.applied(self.files), f"board_{number}"): number
                for number, mutant in mutants.items()
            }
            for done, future in enumerate(as_completed(asked), start=1):
                try:
                    found = future.result()
                except ToolError as error:
                    refused[asked[future]] = short_reason(error)
                else:
                    if found.verdict is not Verdict.PASS:
                        wrong[asked[future]] = _wrong(found)
                tell(done)
        return wrong, refused

    def goes_wrong(self, mutant: Mutant) -> bool:
        """Return True if a mutant is wrong on a separate board."""
        return self._run(mutant.applied(self.files), "board_again").verdict is not Verdict.PASS

    def _run(self, files: Files, name: str) -> Finding:
        folder = self.folder / name
        text = "".join(f"{part}\n" for part in files.values())
        board = build_core(self.program, _LINK, folder / "board", text, self.latency)
        for _ in range(_TIMES):
            found = run_core(self.program, self.batch, _LINK, board, folder, check=self.check, timeout=_SECONDS)
            if found.verdict is not Verdict.TOOL_FAILURE:
                break
        shutil.rmtree(folder)
        return found


def _wrong(found: Finding) -> Wrong:
    """Return the place where a board was wrong. Raises ``AssertionError`` for a finding that is not about the board."""
    if found.verdict is Verdict.TOOL_FAILURE:
        return Wrong(BOARD, None, f"the board does not answer: {found.message}")
    if found.verdict is not Verdict.RTL_MISMATCH or found.first_mismatch is None:
        raise AssertionError(f"a board with a mutant: {found.verdict.value}, {found.message}")
    return Wrong(BOARD, found.first_mismatch.row)
