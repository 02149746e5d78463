"""Run mutants on simulated boards, driven over their link as ``hil`` does."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from concurrent.futures import as_completed
from dataclasses import dataclass
from pathlib import Path

from dais_verif.dut.interface import Clocking
from dais_verif.dut.placement import packed
from dais_verif.errors import MutationError, ToolError
from dais_verif.flows.mutation.proofs import Question
from dais_verif.flows.mutation.simulations import Wrong, short_reason
from dais_verif.hil.core_run import run_core
from dais_verif.hil.emulator import build_core
from dais_verif.hil.verify import BOARD
from dais_verif.mutation.mutant import Files, Mutant
from dais_verif.program import Program
from dais_verif.program.numbers import Batch
from dais_verif.simulation.verify import Finding
from dais_verif.toolchain import process
from dais_verif.verdict import Verdict

__all__ = ["Boards"]

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
