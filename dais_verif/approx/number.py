"""Numbers of configuration files: floats that print as they were written, and have an exact decimal value."""

from __future__ import annotations

import math
import re
from decimal import Decimal

from dais_verif.errors import ApproximationError

__all__ = ["Number"]

#: Published files have at most 18 digits. An exponent of more than three digits would be beyond float64.
_FORM = re.compile(r"[+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][+-]?\d{1,3})?", re.ASCII)


class Number(float):
    """A float with the text that it was read from."""

    __slots__ = ("text",)

    text: str

    def __new__(cls, text: str) -> Number:
        """Return the number with this ``text``. Raises ``InputError`` if it is not a finite decimal."""
        if not _FORM.fullmatch(text):
            raise ApproximationError("not a finite number" if text.lower().lstrip("+-") in _ODD else "not a number")
        number = super().__new__(cls, text)
        if not math.isfinite(number):
            raise ApproximationError("not a finite number: beyond float64")
        number.text = text
        return number

    @classmethod
    def of(cls, value: float | str) -> Number:
        """Return ``value`` unchanged if it is a ``Number``, otherwise with its own or its shortest text."""
        if isinstance(value, Number):
            return value
        return cls(value if isinstance(value, str) else repr(value if isinstance(value, int) else float(value)))

    @property
    def exact(self) -> Decimal:
        """The exact decimal value of the text; the float may only approximate it."""
        return Decimal(self.text)

    def __reduce__(self) -> tuple[type[Number], tuple[str]]:
        """Return the class and the text, for pickles and copies."""
        return Number, (self.text,)

    def __repr__(self) -> str:
        return self.text


_ODD = ("nan", "inf", "infinity")
