"""A save file of GTKWave, versions 3.3 and 4.

pyvcd writes it. GTKWave's ``baseconvert.c`` determines which values can be shown as numbers with a fraction. Lines that
pyvcd does not support, and the meaning of some others in GTKWave:

    [dumpfile], [savefile]   the dump file is found by its path relative to the save file, which may have been moved
    *ZOOM MARKER             200 pixels show 2**-ZOOM units of time
    [fpshift_count] N        the number of fractional bits, used if the flags request them
    #{LABEL} (N)NAME ...     a vector of single bits, the most significant first; N counts from the left bound
"""

from __future__ import annotations

import io
from math import log2
from textwrap import wrap

from vcd.gtkw import GTKWColor, GTKWFlag, GTKWSave

from dais_verif.report.waves.view import Signal, Trace, View

__all__ = ["gtkwave"]

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
