"""The C kernel as an executor of the VM; values for the pullback are additional outputs of the kernel."""

from __future__ import annotations

import numpy as np

from dais_verif.golden import fast
from dais_verif.golden.vm.codes import OUTPUT
from dais_verif.golden.vm.instructions import InstructionSequence
from dais_verif.golden.vm.machine import Outcome
from dais_verif.program.numbers import Batch, compact

__all__ = ["FastExecutor"]


class FastExecutor:
    """Runs the program of a sequence; the kernel makes its own instructions, on bits, from the same ops.

    Raises ``InputError`` if the kernel does not support the program.
    """

    name = "fast"

    def __init__(self, iseq: InstructionSequence) -> None:
        self._iseq = iseq
        self._n_out = iseq.program.n_out
        self._program = fast.FastProgram(iseq.program, saved=tuple(iseq.allocation.saved.tolist()))

    def run(self, batch: Batch, *, check: bool) -> Outcome:
        """Run as ``ForwardExecutor.run`` does. A violation has only the row; the op is the first that breaks there."""
        jobs = fast.threads(None)
        columns, broken = self._program.run_batch(batch, check=check, jobs=jobs)
        if broken is not None:  # the kernel stopped there
            columns, _ = self._program.run_batch(batch, check=False, jobs=jobs)
        columns = [compact(column) for column in columns]
        violation = (broken, None) if broken is not None else None
        return Outcome(columns[: self._n_out], columns[self._n_out :], violation)

    def times(self, batch: Batch) -> list[int]:
        """Return the nanoseconds of every instruction in one unchecked run; those of an op include storing its value.

        The kernel computes most sums within the op that reads them, and renames bits at no cost: such instructions take
        no time of their own.
        """
        spent, columns, n_ops = self._program.time_ops(batch), self._iseq.columns, self._iseq.program.n_ops
        np.add.at(spent, self._iseq.allocation.saved, spent[n_ops + self._n_out :])
        found: list[int] = spent[np.where(columns.code == OUTPUT, n_ops + columns.port, columns.node)].tolist()
        return found
