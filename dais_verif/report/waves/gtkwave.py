"""A save file of GTKWave, versions 3.3 and 4.

The format is what ``savefile.c`` of GTKWave writes and reads, the flags are the bits of ``analyzer.h``, and when a
value can be shown as a number with a fraction is in ``baseconvert.c``. Line by line:

    [dumpfile], [savefile]   GTKWave applies the way from the second to the first to where the save file now lies
    *ZOOM MARKER             200 pixels show 2**-ZOOM units of time
    @FLAGS                   of all lines that follow, hexadecimal
    [color] N                of the next line
    [fpshift_count] N        fractional bits where FLAGS say so
    -TEXT                    no signal: a comment, or the begin or end of a group
    +{LABEL} NAME            a signal under another name
    #{LABEL} (N)NAME ...     a vector of single bits, the most significant first; N counts from the left bound
"""

from __future__ import annotations

from math import log2
from textwrap import wrap

from dais_verif.report.waves.view import Signal, Trace, View

__all__ = ["gtkwave"]

_DEC, _BIN, _RIGHT, _BLANK, _SIGNED = 1 << 2, 1 << 3, 1 << 5, 1 << 9, 1 << 10
_GROUP_BEGIN, _GROUP_END, _FIXED_POINT = 1 << 23, 1 << 24, 1 << 30

_RED = 1

#: Beyond this GTKWave writes hexadecimal digits instead of a decimal number.
_DECIMAL_BITS = 64
#: A fraction below 0.0001 is dropped by GTKWave, which looks for the point in a number printed as ``%.16g``.
_FRACTION_BITS = 13
#: A longer number is cut.
_CHARACTERS = 20

_PIXELS = 800

#: Characters of a comment: a longer one would push the values out of sight.
_COMMENT = 44


def gtkwave(view: View) -> str:
    """The text of a save file for ``view``, to be written beside the waves."""
    zoom = -log2(max(view.end, 1) * 200 / _PIXELS)
    lines = [
        *(f"[*] {line}" for line in view.heading),
        f'[dumpfile] "/replay/{view.waves}"',
        '[savefile] "/replay/replay.gtkw"',
        "[timestart] 0",
        "[size] 1400 900",
        "[sst_expanded] 0",
        "[signals_width] 500",
        f"*{zoom:.6f} {view.middle}",
    ]
    for group in view.groups:
        lines += [f"@{_BLANK | _GROUP_BEGIN:x}", f"-{group.title}"]
        for text in (line for note in group.notes for line in wrap(note, _COMMENT)):
            lines += [f"@{_BLANK:x}", f"-{text}"]
        for trace in group.traces:
            lines += _trace(trace)
        lines += [f"@{_BLANK | _GROUP_END:x}", f"-{group.title}"]
    return "\n".join([*lines, ""])


def _trace(trace: Trace) -> list[str]:
    real = _shows_fractions(trace)
    if trace.width == 1 and not real:
        flags = _RIGHT | _BIN
    else:
        flags = _RIGHT | (_SIGNED if trace.signed else _DEC) | (_FIXED_POINT if real else 0)
    lines = [f"@{flags:x}"]
    if trace.guilty:
        lines.append(f"[color] {_RED}")
    if real:
        lines.append(f"[fpshift_count] {trace.f}")
    label, name = _label(trace, real), _name(trace.signal)
    if trace.whole:
        return [*lines, f"+{{{label}}} {name}"]
    first = trace.signal.width - trace.lsb - trace.width
    bits = (f"({first + n}){name}" for n in range(trace.width))
    return [*lines, f"#{{{label}}} {' '.join(bits)}"]


def _shows_fractions(trace: Trace) -> bool:
    """Whether GTKWave shows every value of the trace as the real number that it stands for, exactly."""
    if not 0 < trace.f <= _FRACTION_BITS or trace.width > _DECIMAL_BITS:
        return False
    digits = len(str(1 << max(trace.width - trace.f, 0)))
    return 1 + digits + 1 + trace.f <= _CHARACTERS


def _label(trace: Trace, real: bool) -> str:
    """GTKWave shows what follows the last point of a label, and ends it at a brace."""
    unit = "" if real or trace.f == 0 else f" (times 2^{-trace.f})"
    digits = " (hex)" if trace.width > _DECIMAL_BITS else ""
    return f"{trace.label}{unit}{digits}"


def _name(signal: Signal) -> str:
    return signal.path if signal.range is None else f"{signal.path}[{signal.range[0]}:{signal.range[1]}]"
