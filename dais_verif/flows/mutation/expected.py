"""The manifest of expectations: which judges must find which mutants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dais_verif.errors import MutationError
from dais_verif.files import read_toml
from dais_verif.record.campaigns.mutation import Fate, MutantRow
from dais_verif.toml import parse_toml

__all__ = ["Expectation", "read_expected", "unexpected"]

#: Expectations by their names in the manifest, with the fates that meet them.
_BY = {
    "simulation": (Fate.SIMULATION,),
    "proof": (Fate.PROOF,),
    "any": (Fate.SIMULATION, Fate.PROOF),
    "equivalent": (Fate.EQUIVALENT,),
}
_WHICH = {"kind": str, "file": str, "line": int, "op": int, "old": str, "new": str}
_MOST_BYTES = 1_000_000


@dataclass(frozen=True)
class Expectation:
    """The expectation that mutants with the fields in ``which`` have a fate that ``by`` allows."""

    which: tuple[tuple[str, str | int], ...]
    by: str

    def matches(self, row: MutantRow) -> bool:
        """Return True if the expectation applies to ``row``."""
        return all(getattr(row, name) == value for name, value in self.which)

    def __str__(self) -> str:
        which = ", ".join(f"{name} = {value!r}" for name, value in self.which)
        return f"{which or 'all mutants'}: by {self.by}"


def read_expected(path: Path) -> list[Expectation]:
    """Return the expectations in the manifest ``path``. Raises ``InputError`` if the file is not a manifest."""
    where = f"manifest {str(path)!r}"
    try:
        tree = parse_toml(read_toml(path, _MOST_BYTES, "manifest"))
    except ValueError as error:
        raise MutationError(f"{where} cannot be read: {error}; give TOML with [[expect]] tables") from None
    entries = tree.get("expect")
    if set(tree) != {"expect"} or not isinstance(entries, list) or not entries:
        raise MutationError(f"{where} must hold [[expect]] tables, and nothing else")
    return [_expectation(entry, f"{where}, [[expect]] {number}") for number, entry in enumerate(entries, start=1)]


def _expectation(entry: object, where: str) -> Expectation:
    if not isinstance(entry, dict) or entry.get("by") not in list(_BY):  # ``by`` may be a table or a list
        raise MutationError(f"{where}: by must be one of {', '.join(_BY)}")
    which: list[tuple[str, str | int]] = []
    for name, value in entry.items():
        if name == "by":
            continue
        if name not in _WHICH or type(value) is not _WHICH[name]:
            known = ", ".join(f"{key} ({kind.__name__})" for key, kind in _WHICH.items())
            raise MutationError(f"{where}: {name} = {value!r} is not a key, or has another type; keys are by, {known}")
        which.append((name, value))  # type: ignore[arg-type]
    return Expectation(tuple(which), entry["by"])


def unexpected(expectations: Sequence[Expectation], rows: Sequence[MutantRow]) -> list[str]:
    """Return the deviations: mutants with another fate, and expectations that apply to no mutant."""
    found = []
    for expectation in expectations:
        matching = [row for row in rows if expectation.matches(row) and row.fate != Fate.INVALID]
        if not matching:
            found.append(f"{expectation}: there is no such mutant")
        found += [
            f"{expectation}: mutant {row.number} ({row.file}:{row.line}, {row.old!r} -> {row.new!r}) is {row.fate}"
            for row in matching
            if row.fate not in _BY[expectation.by]
        ]
    return found
