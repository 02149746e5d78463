"""Job and answer of a probe: a few rows from power-up, and what is read of the design meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dais_verif.hardware.ports.interface import DesignInterface

__all__ = ["Look", "ProbeJob", "Register", "Seen"]


@dataclass(frozen=True)
class Register:
    """The expected value of a register at power-up and after each edge: bits, most significant first, ``-``: unknown.

    ``paths``: its possible paths, each of a vector, or of an array whose word 0 has the least significant bits.
    """

    paths: tuple[str, ...]
    expected: tuple[str, ...]


@dataclass(frozen=True)
class Look:
    """Read ``signals``, each by the first of its paths that exists, in ``cycle``, ``after`` the edge or before it.

    ``arrays``: the bits of an array are those of its words; otherwise arrays are left out.
    """

    cycle: int
    after: bool
    signals: Mapping[str, tuple[str, ...]]
    arrays: bool = True


@dataclass(frozen=True)
class ProbeJob:
    """Drive ``rows`` from power-up, one per cycle, most significant bit first; compare ``registers``, ``look`` once.

    ``held``: a program is driven, which has no state: each row is held until its output is valid, and the moment after
    that is its only one. ``valid``: keep the outputs before each edge at which this bit of them is not 0.
    """

    interface: DesignInterface
    rows: tuple[str, ...]
    registers: tuple[Register, ...] = ()
    look: Look | None = None
    held: bool = False
    valid: int | None = None


@dataclass(frozen=True)
class Seen:
    """``outputs``: the last two rows, before the last edge and after it.

    ``wrong``: the first edge after which registers are wrong, -1 for power-up, and the values of the wrong registers,
    by number. ``there``: the numbers of the registers that the design has. ``bits``: bits of each signal that was read,
    most significant first, without those that do not exist; ``paths``: the path of each. ``ranges``: the declared
    bounds, left and right, by path; a scalar has none. ``start``, ``end``: when the inspected cycle begins and ends, in
    time units of the waves. ``kept``: the cycles at which the valid bit was not 0, and their outputs.
    """

    outputs: tuple[str, str] = ("", "")
    wrong: tuple[int, dict[int, str]] | None = None
    there: tuple[int, ...] = ()
    bits: dict[str, str] = field(default_factory=dict)
    paths: dict[str, str] = field(default_factory=dict)
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)
    start: int = 0
    end: int = 0
    kept: tuple[tuple[int, str], ...] = ()
    port_error: str | None = None
