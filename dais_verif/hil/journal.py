"""A file of the vectors compared so far, so that a later run can continue after them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from dais_verif.errors import BoardError
from dais_verif.files import write_atomically
from dais_verif.simulation.testbench.job import Answer, Difference

__all__ = ["Journal"]


class Journal:
    """The file ``progress.json`` of a folder.

    ``of``: everything on which the run depends; a run can be resumed only if all of this is the same. ``rows`` and
    ``answer``: the number of vectors that were compared before this run begins, and their result. ``kept``: the number
    of compared vectors that the file states.
    """

    def __init__(self, folder: Path, of: Mapping[str, str], *, resume: bool) -> None:
        self._path, self._of = folder / "progress.json", dict(of)
        self.rows = 0
        self.answer = Answer()
        if resume:
            self._read()
        else:
            self._path.unlink(missing_ok=True)
        self.kept = self.rows

    def save(self, rows: int, answer: Answer) -> None:
        """Store that the first ``rows`` vectors have been compared, with the result ``answer``."""
        tree = {"of": self._of, "rows": rows, "answer": asdict(answer)}
        write_atomically(self._path, json.dumps(tree).encode())
        self.kept = rows

    def exists(self) -> bool:
        """Return True if there is a run to resume."""
        return self._path.exists()

    def close(self) -> None:
        """Remove the journal of a run that has ended, since there is nothing to resume."""
        self._path.unlink(missing_ok=True)

    def _read(self) -> None:
        try:
            tree = json.loads(self._path.read_text(encoding="utf-8"))
            of, rows, answer = dict(tree["of"]), int(tree["rows"]), dict(tree["answer"])
            for name in ("first_mismatch", "first_unknown"):
                answer[name] = answer[name] and Difference(**answer[name])
            self.rows, self.answer = rows, Answer(**answer)
        except FileNotFoundError:
            raise BoardError.of(
                "there is nothing to resume in {parent!r}: no run was interrupted there; leave out {resume}",
                parent=str(self._path.parent),
            ) from None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise BoardError.of(
                "{path!r} cannot be read ({error}); start again without {resume}", path=str(self._path), error=error
            ) from None
        for name in self._of:
            if of.get(name) != self._of[name]:
                raise BoardError.of(
                    "the run in {parent!r} differs from this one: {name} was {get}, is now {of}; resume it with the "
                    "options it had, or start again without {resume}",
                    parent=str(self._path.parent),
                    name=name,
                    get=of.get(name),
                    of=self._of[name],
                )
