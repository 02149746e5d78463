"""A command file of Surfer (``surfer --command-file``): documented commands, one per line.

The other kind of file, a saved state, depends on the version of Surfer. Unknown commands are reported and skipped.
``#`` begins a comment and ``;`` separates commands, anywhere in the file. Lines of the display are numbered, in
hexadecimal with the digits a to p. New lines are inserted below the focused line; no line is left focused, since lines
are added at the end.

Surfer has fixed-point formats only for vectors with negative indices, and shows no slices of a vector: numbers are
shown as integers, and their real value at the failing vector is part of the name.
"""

from __future__ import annotations

from dais_verif.report.waves.view import Signal, Trace, View

__all__ = ["surfer"]

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
                lines += _item(row, trace.signal, _format(trace), _name(trace), trace.guilty)
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


def _name(trace: Trace) -> str:
    unit = f" (times 2^{-trace.f})" if trace.f else ""
    value = "" if trace.real is None else f" = {trace.real}"
    return f"{trace.label}{value}{unit}"
