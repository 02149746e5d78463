"""Types and patterns as text: ``s6.2``; ``2*[0] - 1..1`` for elements -1 to 1 around every second element."""

from __future__ import annotations

import re

from dais_verif.errors import KernelError
from dais_verif.kernels.patterns import AccessPattern, DimPattern
from dais_verif.program.types import LIMIT, FixedType

__all__ = ["pattern_text", "read_pattern", "read_type", "text_of_dims"]

_TYPE = re.compile(r"([su])(\d{1,5})\.(-?\d{1,5})", re.ASCII)
_PATTERN = re.compile(
    r"(?:(?P<a>\d{1,9}) ?\* ?)?\[(?P<dim>\d)\](?: ?(?P<sign>[+-]) ?(?P<start>\d{1,9})(?: ?\.\. ?(?P<end>-?\d{1,9}))?)?",
    re.ASCII,
)


def read_type(text: str) -> FixedType:
    """Parse ``text`` as a type: ``s6.2`` is signed, of 6 bits, 2 of them fractional. Raises ``InputError``."""
    found = _TYPE.fullmatch(text)
    if not found:
        raise KernelError(
            f"{text!r} is not a type; an example is s6.2: signed or unsigned (u), 6 bits, 2 of them fractional"
        )
    k, width, f = int(found[1] == "s"), int(found[2]), int(found[3])
    if width > LIMIT or abs(f) > LIMIT or abs(width - k - f) > LIMIT:
        raise KernelError(
            f"type {text} exceeds a limit: its width, integer and fractional bits must be at most {LIMIT}"
        )
    return FixedType(k, width - k - f, f)


def read_pattern(text: str) -> DimPattern:
    """Parse ``text`` as the pattern of a dimension. Raises ``InputError`` for other texts.

    ``all``: each member touches the whole dimension. ``[1]``: one element, the coordinate in dimension 1 of the index
    space. ``4*[0] + 0..3``: four elements. ``[0] - 1..1``: three elements, the middle one at the coordinate of the
    member.
    """
    if text == "all":
        return DimPattern(all_required=True)
    found = _PATTERN.fullmatch(text)
    if not found:
        raise KernelError(f"{text!r} is not a pattern; examples are 'all', '[0]', '4*[0] + 0..3' or '[1] - 1..1'")
    start = int(found["start"] or 0) * (-1 if found["sign"] == "-" else 1)
    end = start if found["end"] is None else int(found["end"])
    a = int(found["a"] or 1)
    if a < 1 or end < start:
        raise KernelError(
            f"{text!r}: a slope must be at least 1 ('all' means 0), and the first element must not be after the last"
        )
    pattern = DimPattern.affine(int(found["dim"]), a, start, end)
    if (pattern.start_a, pattern.start_b, pattern.end_b) != (a, start, end):
        raise KernelError(f"{text!r}: one of its numbers does not fit binary32, which patterns use")
    return pattern


def pattern_text(pattern: DimPattern) -> str:
    """Return the text of a pattern, which ``read_pattern`` can read back if its numbers are integers."""
    if pattern.all_required or min(pattern.start_a, pattern.end_a) < 1:
        return "all"
    slope = "" if pattern.start_a == 1 else f"{pattern.start_a:g}*"
    if pattern.start_a != pattern.end_a:
        return f"{slope}[{pattern.dim}] + {pattern.start_b:g}..{pattern.end_a:g}*[{pattern.dim}] + {pattern.end_b:g}"
    text = f"{slope}[{pattern.dim}]"
    if pattern.start_b == pattern.end_b == 0:
        return text
    sign = "-" if pattern.start_b < 0 else "+"
    end = "" if pattern.start_b == pattern.end_b else f"..{pattern.end_b:g}"
    return f"{text} {sign} {abs(pattern.start_b):g}{end}"


def text_of_dims(pattern: AccessPattern) -> str:
    """Return the texts of all dimensions, the fastest first."""
    return "all" if pattern.all_required else ", ".join(map(pattern_text, pattern.dims))
