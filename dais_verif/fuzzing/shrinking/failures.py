"""Kinds of failure: a pair disagrees, a promise is broken, or a command ends in the same way as at first."""

from __future__ import annotations

from pathlib import Path

from dais_verif.errors import InputError
from dais_verif.fuzzing.case import Case
from dais_verif.fuzzing.command import Command, Ending
from dais_verif.fuzzing.files import write_inputs, write_program
from dais_verif.fuzzing.pairs.disagreement import Disagreement, found_by
from dais_verif.fuzzing.pairs.table import PAIRS
from dais_verif.fuzzing.shrinking.search import Fails
from dais_verif.golden import oracle

__all__ = ["CommandRun", "as_disagreed", "breaks_a_promise", "first_violation"]


def as_disagreed(found: Disagreement) -> Fails:
    """Return the test that the pair of ``found`` disagrees in the same way."""

    def fails(case: Case) -> bool:
        again = found_by(found.pair, PAIRS[found.pair].judge, case)
        return again is not None and again.cause == found.cause

    return fails


def first_violation(case: Case) -> oracle.Violation | None:
    """Return the first promise that a vector of ``case`` breaks, by the oracle."""
    for row in case.rows:
        violations: list[oracle.Violation] = []
        oracle.trace(case.program, row, violations=violations)
        if violations:
            return violations[0]
    return None


def breaks_a_promise(mnemonic: str) -> Fails:
    """Return the test that the first broken promise belongs to an op ``mnemonic``."""

    def fails(case: Case) -> bool:
        found = first_violation(case)
        return found is not None and found.op.spec.mnemonic == mnemonic

    return fails


class CommandRun:
    """A command that runs on one case after the other, in ``folder``."""

    def __init__(self, command: Command, form: str, folder: Path, seconds: float) -> None:
        self.command, self.form, self.folder, self.seconds = command, form, folder, seconds

    def ending(self, case: Case, rtl: tuple[Path, ...] = ()) -> Ending:
        """Return how the command ends on ``case`` and ``rtl``. Raises ``InputError`` if no file can hold the case."""
        files: dict[str, Path | tuple[Path, ...]] = {"program": write_program(case.program, self.folder, self.form)}
        if rtl:
            files["rtl"] = rtl
        if any("{inputs}" in word for word in self.command.template):
            files["inputs"] = write_inputs(case.rows, self.folder)
        return self.command.run(files, self.folder, self.seconds)

    def as_ended(self, code: int | None) -> Fails:
        """Return the test that the command ends with ``code``, the exit code of the first case."""

        def fails(case: Case) -> bool:
            try:
                return self.ending(case).status == code
            except InputError:  # no file of this form can hold it, so the tool never gets such a case
                return False

        return fails
