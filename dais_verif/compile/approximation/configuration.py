"""The content of a file of approximation configurations: configurations, nodes, and the knob of each op."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from dais_verif.base.errors import ApproximationError
from dais_verif.compile.approximation.knobs import KNOBS, Knob

__all__ = ["Configuration", "ConfigurationFile", "Node", "Notice", "Number", "Op"]


class Notice(NamedTuple):
    """An oddity in a file whose meaning is still clear. ``token``: empty if it concerns the whole line."""

    line: int
    token: str
    text: str

    def __str__(self) -> str:
        return (
            f"line {self.line}, token {self.token!r}: {self.text}" if self.token else f"line {self.line}: {self.text}"
        )


@dataclass(frozen=True)
class Op:
    """An op of a node and its knob. ``named``: True if the file also has the name of the approximation."""

    op: str
    approximation: str
    knob: int
    named: bool = True

    def meant(self, knobs: Mapping[int, Knob] = KNOBS) -> Knob:
        """Return the knob that the runtime uses: for ``fp32`` and ``fp16`` the name counts, not the number."""
        number = {"fp32": 11, "fp16": 12}.get(self.approximation, self.knob)
        return (knobs if number in knobs else KNOBS)[number]

    def applied(self, knobs: Mapping[int, Knob] = KNOBS) -> Knob:
        """Return the knob that the runtime uses. Raises ``InputError`` if it is not supported here."""
        return self.meant(knobs).require_supported()


@dataclass(frozen=True)
class Node:
    """A fused node. ``line``: its line in the file, from 1."""

    id: int
    device: str
    ops: tuple[Op, ...]
    line: int | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Configuration:
    """A configuration: its columns and its nodes. ``line``: the line of its header, from 1.

    ``speedup`` and ``energy`` are ratios to the program without approximation. ``loss`` is the accuracy of the first
    configuration minus the ``accuracy`` of this one; both are in the unit of the file, usually percent. ``extra``:
    columns that the runtime ignores.
    """

    name: str
    speedup: Number
    energy: Number
    accuracy: Number
    loss: Number
    nodes: tuple[Node, ...]
    extra: tuple[Number, ...] = ()
    line: int | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("speedup", "energy", "accuracy", "loss"):
            object.__setattr__(self, name, Number.of(getattr(self, name)))
        object.__setattr__(self, "extra", tuple(map(Number.of, self.extra)))


@dataclass(frozen=True)
class ConfigurationFile:
    """Configurations; the first is the default. ``baseline``: a time in ms; None if the file has none.

    ``text``: the text that the file was read from, which is written unchanged if its content is still that of this
    object. ``knobs``: the knobs by number.
    """

    baseline: Number | None
    configurations: tuple[Configuration, ...]
    notices: tuple[Notice, ...] = field(default=(), compare=False, repr=False)
    text: str | None = field(default=None, compare=False, repr=False)
    knobs: Mapping[int, Knob] = field(default_factory=lambda: KNOBS, compare=False, repr=False)
    name: str = field(default="configurations", compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.baseline is not None:
            object.__setattr__(self, "baseline", Number.of(self.baseline))

    @property
    def warnings(self) -> list[str]:
        """The notices as text."""
        return [str(notice) for notice in self.notices]

    def __getitem__(self, name: str) -> Configuration:
        """Return the configuration ``name``. Raises ``InputError`` if there is none."""
        for configuration in self.configurations:
            if configuration.name == name:
                return configuration
        known = ", ".join(one.name for one in self.configurations[:5])
        more = ", ..." if len(self.configurations) > 5 else ""
        raise ApproximationError(f"{self.name!r} has no configuration {name!r}; it has {known}{more}")


# Numbers of configuration files: floats that print as they were written, and have an exact decimal value.


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
