"""The C kernel as an executor of the machine: what the pullback needs are further outputs of it."""

from __future__ import annotations

from dais_verif.golden import fast
from dais_verif.golden.vm.instructions import InstructionSequence
from dais_verif.golden.vm.machine import Outcome
from dais_verif.program.numbers import Batch, compact

__all__ = ["FastExecutor"]


class FastExecutor:
    """Runs the program of a sequence; the kernel makes its own instructions, on bits, from the same ops.

    Raises ``InputError`` if the program is beyond the kernel.
    """

    def __init__(self, iseq: InstructionSequence) -> None:
        self._n_out = iseq.program.n_out
        self._program = fast.FastProgram(iseq.program, saved=tuple(iseq.allocation.saved.tolist()))

    def run(self, batch: Batch, *, check: bool) -> Outcome:
        """See ``ForwardExecutor``. Of a violation the row is known; the op is the first of that row."""
        jobs = fast.threads(None)
        columns, broken = self._program.run_batch(batch, check=check, jobs=jobs)
        if broken is not None:  # the kernel stopped there
            columns, _ = self._program.run_batch(batch, check=False, jobs=jobs)
        columns = [compact(column) for column in columns]
        violation = (broken, None) if broken is not None else None
        return Outcome(columns[: self._n_out], columns[self._n_out :], violation)
