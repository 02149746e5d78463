"""What is wrong in RTL: places, ops that they should carry, and whether that explains all wrong outputs."""

from __future__ import annotations

from dataclasses import dataclass, field

from dais_verif.prover.frontier.mended import Mended

__all__ = ["Carried", "Frontier", "Moved", "Untimely", "WrongSignal"]


@dataclass(frozen=True)
class Carried:
    """A signal that a wrong one reads, and the ops whose values it carries; none for an input port or a bit of one."""

    name: str
    ops: tuple[int, ...]


@dataclass(frozen=True)
class WrongSignal:
    """The first signal of a path whose values are not those that it should carry, assigned at ``where``.

    ``lines``: the lines that may be wrong, the likelier ones first: ``where``, and those of the instances that contain
    it; ``scopes``: for each, the instance whose line it is, None for the assignment. ``carriers``: the signals that
    carry operands of the op. ``near``: the lines of signals of the same instance that it reads, with these.
    ``missing``: the ops whose values it should carry. ``expected``: the raw integer of that op, if there is one, in a
    vector in which they differ, and ``found``: that of the signal. ``explains``: with the values of these ops at all
    signals that are named, all outputs are right; if not, the finding is a guess. ``register``: it is one; ``edges``:
    in a pipeline, the edges from its vector to its value.
    """

    name: str
    width: int
    where: str
    lines: tuple[str, ...]
    reads: tuple[Carried, ...]
    missing: tuple[int, ...]
    expected: int | None = None
    found: int | None = None
    explains: bool = False
    scopes: tuple[str | None, ...] = ()
    carriers: tuple[str, ...] = ()
    near: tuple[tuple[str, str], ...] = ()
    register: bool = False
    edges: int | None = None


@dataclass(frozen=True)
class Moved:
    """A wrong ``output`` that carries the right values of another output or op: ``outputs``, ``ops``."""

    output: int
    outputs: tuple[int, ...]
    ops: tuple[int, ...]
    where: str


@dataclass(frozen=True)
class Untimely:
    """A register ``name``, assigned at ``where``, that lacks ``edges`` to be in step: 1, or -1 if it has too many."""

    name: str
    where: str
    edges: int


@dataclass(frozen=True)
class Frontier:
    """What is wrong in a design: ``signals``, and outputs that are right values at the wrong place, ``moved``.

    ``vectors``: the number of vectors that were looked at. ``ports``: what is wrong at the ports, in words. If all
    values are right, but not when they come: ``timing``, in words, and ``untimely``, registers that may be the cause.
    ``mended``: judges edits, if the signals explain all wrong outputs; its places are those of ``signals``.
    """

    signals: tuple[WrongSignal, ...] = ()
    moved: tuple[Moved, ...] = ()
    vectors: int = 0
    ports: tuple[str, ...] = ()
    timing: str | None = None
    untimely: tuple[Untimely, ...] = ()
    mended: Mended | None = field(default=None, compare=False, repr=False)
