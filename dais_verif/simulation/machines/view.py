"""The relevant signals of a machine's replay: inputs, wrong signals, registers, outputs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from dais_verif.base.text import printable
from dais_verif.golden import oracle
from dais_verif.golden.machine import Values
from dais_verif.record.simulation import Blame
from dais_verif.report.waves import Group, Signal, Trace, View, gtkwave, surfer
from dais_verif.simulation.testbench.probe_job import Seen
from dais_verif.spec.machine import Machine, Role
from dais_verif.spec.machine.ports import offsets_of

__all__ = ["write_views"]

#: The maximum number of lines in one group.
_MOST = 300
_NAME = re.compile(r"\w+")


def write_views(
    machine: Machine, values: Values, top: str, seen: Seen, waves: Path, blame: Blame, folder: Path
) -> tuple[Path, ...]:
    """Write ``replay.gtkw`` and ``replay.sucl`` beside ``waves``, with a marker at the inspected cycle.

    ``values``: the required values of signals in that cycle, shown beside their names.
    """
    groups = []
    for title, roles, registers in (
        ("inputs", (Role.INPUT,), False),
        ("registers", (Role.INTERNAL,), True),
        ("outputs", (Role.OUTPUT,), None),
    ):
        traces = [
            trace
            for signal in machine.signals.values()
            if signal.role in roles and registers in (None, signal.register)
            for trace in _traces(machine, signal.name, values, top, seen, blame)
        ]
        groups.append(Group(title, [], traces[:_MOST]))
    if blame.signal is not None:
        name = blame.signal.partition("[")[0]
        groups.insert(1, Group("blame", [], list(_traces(machine, name, values, top, seen, blame))[:_MOST]))
    words = re.sub(r"[#;{}]", " ", printable(blame.text))
    heading = ["The failing sequence from power-up. Written by dais-verif.", words]
    view = View(waves.name, heading, [group for group in groups if group.traces], seen.start, seen.end)
    written = []
    for name, text in (("replay.gtkw", gtkwave(view)), ("replay.sucl", surfer(view))):
        path = folder / name
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return tuple(written)


def _traces(machine: Machine, name: str, values: Values, top: str, seen: Seen, blame: Blame) -> Iterator[Trace]:
    """Yield the elements of a signal that is a vector of the top module."""
    signal = machine.signals[name]
    bits, called = seen.bits.get(name, ""), seen.paths.get(name, "")
    offsets = offsets_of(signal.types)
    bounds = seen.ranges.get(called)
    words = bounds is not None and abs(bounds[0] - bounds[1]) + 1 != len(bits)
    if not bits or len(bits) != offsets[-1] or not _NAME.fullmatch(called) or words:
        return
    own = Signal(top, called, len(bits), bounds if len(bits) > 1 else None)
    for place, kind in enumerate(signal.types):
        if kind.width:
            value = values[name][place]
            real = None if value is None else oracle.show(value)
            label = f"{name}[{place}]"
            yield Trace(own, label, offsets[place], kind.width, bool(kind.k), kind.f, real, label == blame.signal)
