"""Suggest what a wrong line of RTL should be: the first single edit with which all outputs are right."""

from __future__ import annotations

import difflib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dais_verif.base.errors import DaisError
from dais_verif.base.toolchain.rtl_files import is_vhdl
from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.mutation.line_edits import LineEdit, line_edits
from dais_verif.hardware.ports.interface import Dut
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.spec.program import Program
from dais_verif.verbs.proof.reading import RtlReader

if TYPE_CHECKING:
    from dais_verif.prover.frontier import Frontier, WrongSignal
    from dais_verif.prover.netlist import Netlist

__all__ = ["Suggestion", "patch_of", "suggested"]

#: Seconds to look for edits, and for the proof of one.
_SECONDS, _PROOF = 6.0, 2.0
#: Larger programs are not proved.
_MOST_OPS = 1000


@dataclass(frozen=True)
class Suggestion:
    """An edit of ``line`` of ``file``, for finding ``number``: ``old`` and ``new`` are what it replaces.

    ``text``: the file after it. ``proved``: with all suggestions, the RTL was proved.
    """

    number: int
    file: Path
    line: int
    old: str
    new: str
    text: str
    proved: bool = False


def suggested(
    program: Program, design: RtlDesign, dut: Dut, reader: RtlReader, found: Frontier, folder: Path
) -> list[Suggestion]:
    """Return one edit for each signal of ``found``, with which all outputs are right; none if any has no such edit.

    Only own text of ``design`` is edited. ``folder``: where edited copies are written.
    """
    if found.mended is None or not found.signals:
        return []
    trying = _Trying(design, reader, folder, time.monotonic() + _SECONDS)
    chosen: list[Suggestion] = []
    for number, signal in enumerate(found.signals):
        edited = {one.file: one.text for one in chosen}
        last = number == len(found.signals) - 1
        one = next(trying.fitting(number, signal, found, edited, last), None)
        if one is None:
            return []
        chosen.append(one)
    if program.n_ops <= _MOST_OPS and _is_proved(program, dut, trying.netlist({one.file: one.text for one in chosen})):
        chosen = [replace(one, proved=True) for one in chosen]
    return chosen


def patch_of(suggestions: Sequence[Suggestion]) -> str:
    """Return the suggestions as a unified diff."""
    texts = {one.file: one.text for one in suggestions}  # the last one of a file has all edits of it
    parts: list[str] = []
    for file, text in texts.items():
        old = file.read_text(encoding="latin-1").splitlines(keepends=True)
        parts += difflib.unified_diff(old, text.splitlines(keepends=True), f"a/{file.name}", f"b/{file.name}")
    return "".join(parts)


class _Trying:
    """Reads edited copies of a design until ``end``."""

    def __init__(self, design: RtlDesign, reader: RtlReader, folder: Path, end: float) -> None:
        self._design, self._reader, self._folder, self._end = design, reader, folder, end
        self._vhdl = any(map(is_vhdl, design.sources))
        self._sources = {path.resolve(): path for path in design.sources}

    def fitting(
        self, number: int, signal: WrongSignal, found: Frontier, edited: Mapping[Path, str], last: bool
    ) -> Iterator[Suggestion]:
        """Yield the edits with which finding ``number`` is right, and all outputs if it is the ``last``."""
        assert found.mended is not None
        own = signal.name.rpartition(".")[0]
        places: list[tuple[str, str, str | None, frozenset[str]]] = []
        for line, scope in zip(signal.lines, signal.scopes, strict=True):
            places.append((line, own if scope is None else scope.rpartition(".")[0], scope, frozenset()))
        near = frozenset(name for _, name in signal.near)
        places += [(line, own, None, near) for line, _ in signal.near if line not in signal.lines]
        for line, inside, scope, again in places:
            name, _, row = line.rpartition(":")
            path = self._sources.get(Path(name).resolve())
            if path is None:
                continue
            text = edited.get(path, path.read_text(encoding="latin-1"))
            names = [one.rpartition(".") for one in signal.carriers]
            for edit in line_edits(text, int(row), [one for scope_of, _, one in names if scope_of == inside]):
                if time.monotonic() > self._end:
                    return
                netlist = self.netlist({**edited, path: edit.applied(text)})
                if netlist is None:
                    continue
                # GHDL numbers its signals again, so only whole outputs can be compared.
                if not self._vhdl and not found.mended.is_right_at(number, netlist, scope, again):
                    continue
                if not last or found.mended.is_right(netlist):
                    yield _suggestion(number, path, text, edit)

    def netlist(self, edited: Mapping[Path, str]) -> Netlist | None:
        """Return the design with other texts of some files; None if it cannot be read."""
        self._folder.mkdir(exist_ok=True)
        sources = []
        for number, path in enumerate(self._design.sources):
            if path in edited:
                copy = self._folder / f"{number}_{path.name}"
                copy.write_text(edited[path], encoding="latin-1")
                sources.append(copy)
            else:
                sources.append(path)
        design = replace(self._design, sources=tuple(sources))
        try:
            with self._reader.readable("slang", self._reader.in_verilog(design)) as read:
                return read()
        except DaisError:
            return None


def _suggestion(number: int, path: Path, text: str, edit: LineEdit) -> Suggestion:
    start = text.rfind("\n", 0, edit.start) + 1
    after = edit.applied(text)
    old = text[start : _line_end(text, edit.end)].strip()
    new = after[start : _line_end(after, edit.start + len(edit.new))].strip()
    return Suggestion(number, path, edit.line, old, new, after)


def _line_end(text: str, place: int) -> int:
    end = text.find("\n", place)
    return len(text) if end < 0 else end


def _is_proved(program: Program, dut: Dut, netlist: Netlist | None) -> bool:
    from dais_verif.prover.proof import prove
    from dais_verif.prover.results import ProofOptions

    if netlist is None:
        return False
    try:
        return prove(program, netlist, dut, ProofOptions(timeout=_PROOF, jobs=1, sample=0.0)).verdict is Verdict.PASS
    except DaisError:
        return False
