"""Knobs: the approximations behind the numbers in a configuration file, as in the table of HPVM's runtime."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from numbers import Integral
from typing import Final, Literal

from dais_verif.base.errors import ApproximationError

__all__ = ["APPROXIMATIONS", "CONV_ONLY", "KNOBS", "SUPPORTED", "Axis", "Knob", "knob_of", "numbers_of"]

#: The skipped items: rows or columns of the output, or elements of the filter.
Axis = Literal["rows", "columns", "filter"]

#: The names of HPVM's approximations, and what they do.
APPROXIMATIONS: Final[Mapping[str, str]] = {
    "fp32": "single precision",
    "fp16": "half precision",
    "perf": "perforation",
    "perf_fp16": "perforation in half precision",
    "samp": "sampling of the filter",
    "samp_fp16": "sampling of the filter in half precision",
    "red_samp": "sampling of a reduction",
    "swing_level": "noise of an analog accelerator",
}

#: Knobs for convolutions only.
CONV_ONLY: Final = ("perf", "perf_fp16", "samp", "samp_fp16")
#: Supported knobs.
SUPPORTED: Final = ("fp32", "fp16", *CONV_ONLY)

_HALF = ("fp16", "perf_fp16", "samp_fp16")


@dataclass(frozen=True)
class Knob:
    """A knob. ``speedup``: the speed-up of a convolution in the tuner's table.

    One of every ``period`` places along the ``axis`` is skipped, beginning at ``offset``. ``axis``: None if no place
    is skipped.
    """

    number: int
    approximation: str
    speedup: Decimal
    axis: Axis | None = None
    period: int = 0
    offset: int = 0

    @property
    def half(self) -> bool:
        """True if it computes in half precision."""
        return self.approximation in _HALF

    @property
    def words(self) -> str:
        """The effect, in words."""
        if self.axis is None:
            return APPROXIMATIONS[self.approximation]
        what = {"rows": "row", "columns": "column", "filter": "filter element"}[self.axis]
        skips = f"skips 1 {what} of {self.period} from {self.offset} on"
        return f"{skips}, half precision" if self.half else skips

    def require_supported(self) -> Knob:
        """Return this knob. Raises ``InputError`` if it is not supported."""
        if self.approximation not in SUPPORTED:
            raise ApproximationError(
                f"knob {self.number} is {self.approximation} ({APPROXIMATIONS[self.approximation]}), which cannot be "
                f"applied; {', '.join(SUPPORTED)} can be"
            )
        return self


#: Periods, and the speed-ups of perforation and of sampling in single and in half precision.
_PERIODS = ((2, "2.0", "3.0"), (3, "1.5", "2.25"), (4, "1.33", "2.0"))
_RED_SAMP = ("1.5", "2.25", "1.4", "2", "1.25", "1.8")
_SWING_LEVEL = ("12", "10", "9", "8", "6", "5", "4")


def _built_in() -> Iterator[Knob]:
    yield Knob(11, "fp32", Decimal("1.0"))
    yield Knob(12, "fp16", Decimal("1.5"))
    families: tuple[tuple[int, str, tuple[Axis, ...]], ...]
    families = (121, "perf", ("columns", "rows")), (231, "samp", ("filter",))
    for first, name, axes in families:
        places = [(axis, *row, offset) for row in _PERIODS for axis in axes for offset in range(row[0])]
        for number, (axis, period, single, half, offset) in enumerate(places, first):
            yield Knob(number, name, Decimal(single), axis, period, offset)
            yield Knob(number + 30, f"{name}_fp16", Decimal(half), axis, period, offset)
    for number, speedup in enumerate(_RED_SAMP, 41):
        yield Knob(number, "red_samp", Decimal(speedup))
    for number, speedup in enumerate(_SWING_LEVEL, 1):
        yield Knob(number, "swing_level", Decimal(speedup))


#: The knobs of HPVM's runtime, by number.
KNOBS: Final[Mapping[int, Knob]] = {knob.number: knob for knob in _built_in()}


def numbers_of(approximation: str, knobs: Mapping[int, Knob] = KNOBS) -> str:
    """Return the numbers of the knobs of this approximation as text; empty if there are none."""
    found = sorted(number for number, knob in knobs.items() if knob.approximation == approximation)
    if len(found) > 2 and found[-1] - found[0] == len(found) - 1:
        return f"{found[0]} to {found[-1]}"
    return ", ".join(map(str, found))


def knob_of(knob: Knob | int, knobs: Mapping[int, Knob] = KNOBS) -> Knob:
    """Return ``knob``, or the knob with this number. Raises ``InputError`` if it is unknown or not supported."""
    if isinstance(knob, Knob):
        return knob.require_supported()
    if not isinstance(knob, Integral) or isinstance(knob, bool) or int(knob) not in knobs:
        raise ApproximationError(
            f"there is no knob {knob!r}; convolutions have 11, 12, 121-138, 151-168, 231-239, 261-269"
        )
    return knobs[knob].require_supported()
