"""The lines of RTL that drive places, and those of the instances around them.

GHDL gives the operators of packages no line of their own: then the line is that at which the VHDL assigns the signal
that only passes their value on.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cached_property
from pathlib import Path

from dais_verif.base.toolchain.rtl_files import is_vhdl
from dais_verif.prover.frontier.structure import Structure
from dais_verif.prover.frontier.values import Place, where
from dais_verif.prover.netlist import Signal
from dais_verif.prover.random_simulation import Wires

__all__ = ["Lines"]

#: What GHDL makes for a whole entity has no line in the VHDL.
_NO_FILE = "entity "
#: A line of VHDL that computes something.
_COMPUTES = re.compile(r"<=|:=|=>|\b(?:when|then|return|if)\b", re.IGNORECASE)
#: How far the assignments of a signal in branches of a procedure are apart at most, in lines.
_BRANCHES = 20
#: An entry of a table in Verilog or VHDL, one a line.
_ENTRY = re.compile(r"""\s*(?:when\s+)?(\d*'[bdhBDH][0-9a-fA-F_]+|\d+|[xX]?"[0-9a-fA-F]+")\s*(?::|=>)""")
#: The largest number of signals that pass a value on.
_STEPS = 4


class Lines:
    """The lines of places. ``wires``: tells what reads signals."""

    def __init__(self, structure: Structure, wires: Wires) -> None:
        self._structure, self._wires = structure, wires
        self._instances: dict[str, str | None] = {}
        self._known: dict[Place, tuple[str, ...]] = {}
        self._texts: dict[str, list[str]] = {}

    def around(self, place: Place) -> dict[str, str | None]:
        """Return the lines of a place, with None, and of the instances that hold it, with their names."""
        found: dict[str, str | None] = dict.fromkeys(self.of(place)[:1])
        for scope, line in self._around(place.signal.name.rpartition(".")[0]):
            found.setdefault(line, scope)
        return (
            {**dict.fromkeys(self.of(place)), **found}
            if len(found) < 2
            else {**found, **dict.fromkeys(self.of(place)[1:])}
        )

    def of(self, place: Place) -> tuple[str, ...]:
        """Return the lines that assign a place: one, or several of which one is meant; none if it is not known."""
        if place not in self._known:
            line = where(place)
            self._known[place] = self._with_branches(line, place) if self._is_meant(line) else self._assigned(place)
        return self._known[place]

    def entry(self, place: Place, index: int) -> str | None:
        """Return the line of entry ``index`` of a table that is written as cases, if it drives ``place``."""
        for line in self.of(place)[:1]:
            name, _, number = line.rpartition(":")
            for at, text in enumerate(self._text(name)[max(int(number) - 2, 0) :], start=max(int(number) - 1, 1)):
                if re.search(r"\bend\s*case\b", text, re.IGNORECASE):
                    break
                match = _ENTRY.match(text)
                if match is not None and _number(match[1]) == index:
                    return f"{name}:{at}"
        return None

    def twins(self, place: Place) -> list[Place]:
        """Return the places of other instances that the same line drives: those of the same name, if there are any."""
        scope, _, name = place.signal.name.rpartition(".")
        if not scope or not self.of(place):
            return []
        others = self._by_line[self.of(place)[0]]
        others = [one for one in others if one.signal.name.rpartition(".")[0] != scope]
        return [one for one in others if one.signal.name.endswith(f".{name}")] or others

    @cached_property
    def _by_line(self) -> dict[str, list[Place]]:
        found: dict[str, list[Place]] = defaultdict(list)
        for signal in self._wires.values:
            for driver in signal.drivers:
                place = Place(signal, driver.low, driver.width)
                for line in self.of(place)[:1]:
                    found[line].append(place)
        return found

    @cached_property
    def _by_scope(self) -> dict[str, list[Signal]]:
        found: dict[str, list[Signal]] = defaultdict(list)
        for signal in self._wires.values:
            scope = signal.name
            while scope := scope.rpartition(".")[0]:
                found[scope].append(signal)
        return found

    def _around(self, scope: str) -> list[tuple[str, str]]:
        lines = []
        while scope:
            if scope not in self._instances:
                self._instances[scope] = self._instance(scope)
            line = self._instances[scope]
            if line is not None and not line.startswith(_NO_FILE):
                lines.append((scope, line))
            scope = scope.rpartition(".")[0]
        return lines

    def _instance(self, scope: str) -> str | None:
        """Return the line of an instance: that at which a signal within reads one outside, or is read there."""
        for one in map(Place.whole, self._by_scope[scope]):
            if any(not read.signal.name.startswith(f"{scope}.") for read in self._structure.reads(one)):
                return where(one)
        inside = set(self._by_scope[scope])
        for signal, sources in self._wires.sources.items():  # its inputs may all be constants
            if signal not in inside and not inside.isdisjoint(sources):
                return where(Place.whole(signal))
        return None

    # VHDL.

    def _is_meant(self, line: str) -> bool:
        """Return whether a line computes something, and does not only declare."""
        if line.startswith(_NO_FILE):
            return False
        name, _, number = line.rpartition(":")
        if not is_vhdl(Path(name)):
            return True
        text = self._text(name)
        return not 0 < int(number) <= len(text) or bool(_COMPUTES.search(text[int(number) - 1]))

    def _with_branches(self, line: str, place: Place) -> tuple[str, ...]:
        """Return ``line`` and the next ones that assign the same signal of Verilog, in other branches."""
        file, _, number = line.rpartition(":")
        name = place.signal.name.rpartition(".")[2]
        if place.signal.hidden or not number.isdigit() or is_vhdl(Path(file)):
            return (line,)
        form = re.compile(rf"(?:^|[\s;:)]){re.escape(name)}\s*(?:\[[^\]]*\]\s*)*<?=(?!=)")
        lines = [line]
        first = int(number)
        for at, text in enumerate(self._text(file)[first : first + _BRANCHES], start=first + 1):
            if re.search(r"\b(?:always\w*|assign|endmodule)\b", text):
                break
            if form.search(text):
                lines.append(f"{file}:{at}")
        return tuple(lines)

    def _text(self, name: str) -> list[str]:
        if name not in self._texts:
            try:
                self._texts[name] = Path(name).read_text("utf-8", "replace").splitlines()
            except OSError:
                self._texts[name] = []
        return self._texts[name]

    @cached_property
    def _passed_on(self) -> dict[Signal, list[Signal]]:
        """The signals that only pass on each signal."""
        found: dict[Signal, list[Signal]] = defaultdict(list)
        for signal in self._wires.values:
            if self._structure.is_alias(Place.whole(signal)):
                for read in self._structure.reads(Place.whole(signal)):
                    found[read.signal].append(signal)
        return found

    def _assigned(self, place: Place) -> tuple[str, ...]:
        """Return where the VHDL assigns a signal that passes a place on, after its declaration, in the same entity."""
        signals = [place.signal]
        for signal in signals[:_STEPS]:
            signals += [one for one in self._passed_on[signal] if one not in signals]
        for signal in signals:
            name, _, number = signal.where.rpartition(":")
            if is_vhdl(Path(name)) and not name.startswith(_NO_FILE):
                lines = self._assignments(name, int(number), signal.name.rpartition(".")[2])
                if lines:
                    return tuple(lines)
        return ()

    def _assignments(self, file: str, first: int, name: str) -> list[str]:
        form = re.compile(rf"^\s*(?:\w+\s*:\s*)?{re.escape(name)}\s*(?:\([^)]*\)\s*)*(?:<=|:=)", re.IGNORECASE)
        lines = []
        for number, text in enumerate(self._text(file)[first:], start=first + 1):
            if re.match(r"\s*entity\s+\w+\s+is\b", text, re.IGNORECASE):
                break
            if form.match(text):
                lines.append(f"{file}:{number}")
        return lines


def _number(label: str) -> int | None:
    """Return the number that a label stands for."""
    found = re.fullmatch(r"""(?:\d*'([bdh])|([x]?)")?([0-9a-f_]+)"?""", label.lower())
    if found is None:
        return None
    base = {"b": 2, "d": 10, "h": 16}[found[1]] if found[1] else 16 if found[2] else 2 if '"' in label else 10
    try:
        return int(found[3].replace("_", ""), base)
    except ValueError:
        return None
