"""Files that make a waveform viewer show the relevant signals, grouped, as the numbers that they represent."""

from __future__ import annotations

import io
from math import log2
from textwrap import wrap
from typing import NamedTuple

from vcd.gtkw import GTKWColor, GTKWFlag, GTKWSave

__all__ = ["Group", "Signal", "Trace", "View", "gtkwave", "surfer"]


# The signals that a waveform viewer is to show, independent of the viewer.


class Signal(NamedTuple):
    """A signal of the top module as declared in the waves; a scalar has no ``range`` (left and right bound)."""

    scope: str
    name: str
    width: int
    range: tuple[int, int] | None = None

    @property
    def path(self) -> str:
        """The name of the signal with its scope, without its range."""
        return f"{self.scope}.{self.name}"


class Trace(NamedTuple):
    """One line of the display: ``signal``, or its ``width`` bits from bit ``lsb`` on, bit 0 the least significant.

    The bits are an integer, ``signed`` or not, in units of ``2**-f``. ``real`` is the value at the failing vector, as
    text, or None if a bit is X or Z.
    """

    signal: Signal
    label: str
    lsb: int
    width: int
    signed: bool
    f: int
    real: str | None
    guilty: bool = False

    @property
    def whole(self) -> bool:
        """True if the trace covers the whole signal."""
        return self.width == self.signal.width


class Group(NamedTuple):
    """Lines below a one-word title, after ``notes`` for the reader."""

    title: str
    notes: list[str]
    traces: list[Trace]


class View(NamedTuple):
    """The content of the display for the file ``waves`` in the same folder.

    Times are in the units of the waves: the failing vector lasts from ``start`` to ``end``.
    """

    waves: str
    heading: list[str]
    groups: list[Group]
    start: int
    end: int

    @property
    def middle(self) -> int:
        """The time of the marker: viewers show the values of the failing vector next to the names."""
        return (self.start + self.end) // 2


# A save file of GTKWave, versions 3.3 and 4.
#
# pyvcd writes it. GTKWave's ``baseconvert.c`` determines which values can be shown as numbers with a fraction. Lines
# that pyvcd does not support, and the meaning of some others in GTKWave:
#
#     [dumpfile], [savefile]   the dump file is found by its path relative to the save file, which may have been moved
#     *ZOOM MARKER             200 pixels show 2**-ZOOM units of time
#     [fpshift_count] N        the number of fractional bits, used if the flags request them
#     #{LABEL} (N)NAME ...     a vector of single bits, the most significant first; N counts from the left bound


#: GTKWave shows wider values as hexadecimal digits instead of a decimal number.
_DECIMAL_BITS = 64
#: GTKWave drops a fraction below 0.0001, because it looks for the point in a number printed as ``%.16g``.
_FRACTION_BITS = 13
#: GTKWave truncates numbers with more characters.
_CHARACTERS = 20

_PIXELS = 800

#: Maximum length of a comment: a longer one would push the values out of view.
_COMMENT = 44


def gtkwave(view: View) -> str:
    """Return the text of a save file for ``view``, to be stored next to the waves."""
    text = io.StringIO()
    save = GTKWSave(text)
    save.comment(*view.heading)
    save.dumpfile(f"/replay/{view.waves}", abspath=False)
    save.savefile("/replay/replay.gtkw", abspath=False)
    save.timestart(0)
    save.size(1400, 900)
    save.sst_expanded(False)
    save.signals_width(500)
    save.zoom_markers(-log2(max(view.end, 1) * 200 / _PIXELS), view.middle)
    for group in view.groups:
        with save.group(group.title):
            for line in (line for note in group.notes for line in wrap(note, _COMMENT)):
                save.blank(line)
            for trace in group.traces:
                _trace(save, trace)
    return text.getvalue()


def _trace(save: GTKWSave, trace: Trace) -> None:
    real = _shows_fractions(trace)
    kind = "signed" if trace.signed else "dec"
    # pyvcd does not support this line, which GTKWave expects after the flags and before the name.
    shift = f"[fpshift_count] {trace.f}\n" if real else ""
    save.trace(
        f"{shift}{_line(trace, _label(trace, real))}",
        color=GTKWColor.red if trace.guilty else None,
        datafmt="bin" if trace.width == 1 and not real else kind,
        extraflags=GTKWFlag.fpdecshift if real else GTKWFlag.none,
    )


def _line(trace: Trace, label: str) -> str:
    name = _name(trace.signal)
    if trace.whole:
        return f"+{{{label}}} {name}"
    first = trace.signal.width - trace.lsb - trace.width
    return f"#{{{label}}} {' '.join(f'({first + n}){name}' for n in range(trace.width))}"


def _shows_fractions(trace: Trace) -> bool:
    """Return True if GTKWave shows every value of the trace as its real number, exactly."""
    if not 0 < trace.f <= _FRACTION_BITS or trace.width > _DECIMAL_BITS:
        return False
    digits = len(str(1 << max(trace.width - trace.f, 0)))
    return 1 + digits + 1 + trace.f <= _CHARACTERS


def _label(trace: Trace, real: bool) -> str:
    """Return the label. GTKWave shows the text after the last point of a label, and ends it at a brace."""
    unit = "" if real or trace.f == 0 else f" (times 2^{-trace.f})"
    digits = " (hex)" if trace.width > _DECIMAL_BITS else ""
    return f"{trace.label}{unit}{digits}"


def _name(signal: Signal) -> str:
    return signal.path if signal.range is None else f"{signal.path}[{signal.range[0]}:{signal.range[1]}]"


# A command file of Surfer (``surfer --command-file``): documented commands, one per line.
#
# The other kind of file, a saved state, depends on the version of Surfer. Unknown commands are reported and skipped.
# ``#`` begins a comment and ``;`` separates commands, anywhere in the file. Lines of the display are numbered, in
# hexadecimal with the digits a to p. New lines are inserted below the focused line; no line is left focused, since
# lines are added at the end.
#
# Surfer has fixed-point formats only for vectors with negative indices, and shows no slices of a vector: numbers are
# shown as integers, and their real value at the failing vector is part of the name.


_DIGITS = str.maketrans("0123456789abcdef", "abcdefghijklmnop")


def surfer(view: View) -> str:
    """Return the text of a command file for ``view``, to be run in the folder of the waves."""
    lines = [f"# {line}" for line in view.heading]
    lines.append(f"load_file {view.waves}")
    row = 0
    for group in view.groups:
        lines += [f"# {note}" for note in group.notes]
        lines.append(f"divider_add {group.title}")
        row += 1
        ports: list[Signal] = []
        for trace in group.traces:
            if trace.whole:
                lines += _item(row, trace.signal, _format(trace), _name_of_surfer(trace), trace.guilty)
                row += 1
            elif trace.signal not in ports:
                ports.append(trace.signal)
                lines += _item(row, trace.signal, "Binary", None, False)
                row += 1
    return "\n".join([*lines, f"cursor_set {view.middle}", "zoom_fit", ""])


def _item(row: int, signal: Signal, form: str, name: str | None, guilty: bool) -> list[str]:
    lines = [f"variable_add {signal.path}", f"item_focus {f'{row:x}'.translate(_DIGITS)}", f"item_set_format {form}"]
    if name is not None:
        lines.append(f"item_rename {name}")
    if guilty:
        lines.append("item_set_color Red")
    return [*lines, "item_unfocus"]


def _format(trace: Trace) -> str:
    if trace.width == 1 and trace.f == 0:
        return "Bit"
    return "Signed" if trace.signed else "Unsigned"


def _name_of_surfer(trace: Trace) -> str:
    unit = f" (times 2^{-trace.f})" if trace.f else ""
    value = "" if trace.real is None else f" = {trace.real}"
    return f"{trace.label}{value}{unit}"
