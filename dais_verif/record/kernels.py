"""What ``kernel`` shows: libraries of kernels, those that are left out, and what a kernel takes."""

from __future__ import annotations

import json
from dataclasses import dataclass

from dais_verif.record.base import to_tree

__all__ = ["KernelBuild", "KernelInfo", "KernelListing", "LeftOut"]


@dataclass(frozen=True)
class KernelInfo:
    """A kernel. ``name``: by which it is asked for, with its library where two have that name.
    ``where``: the file or package of the library.

    What follows is None of kernels whose libraries answer requests without saying what they take. ``structure``: the
    fields of its private parameters, ``i`` signed, ``u`` unsigned, ``f`` binary32, a dword each;
    ``defaults`` of some, 0 of all others, and ``words`` for values of one.
    """

    name: str
    library: str
    where: str
    about: str | None = None
    inputs: int | None = None
    optional_inputs: int | None = None
    outputs: int | None = None
    structure: dict[str, str] | None = None
    input_names: list[str] | None = None
    defaults: dict[str, float] | None = None
    words: dict[str, dict[str, int]] | None = None

    def to_json(self) -> str:
        """Return one JSON object."""
        return json.dumps(to_tree(self), indent=2)


@dataclass(frozen=True)
class LeftOut:
    """A library that cannot be used, and why not."""

    library: str
    where: str
    why: str


@dataclass(frozen=True)
class KernelListing:
    """All kernels, library by library, and the libraries that are ``left_out``."""

    kernels: list[KernelInfo]
    left_out: list[LeftOut]

    def to_json(self) -> str:
        """Return one JSON object."""
        return json.dumps(to_tree(self), indent=2)


@dataclass(frozen=True)
class KernelBuild:
    """The hardware of an instance: ``files`` in the folder ``output``.

    ``cycles``: from one group of ``parallel`` members to the next. ``latency``: from the cycle of start to that of
    done, for all ``members``. ``words`` and ``bits``: of its memories.
    """

    kernel: str
    form: str
    output: str
    files: list[str]
    members: int
    cycles: int
    latency: int
    words: int
    bits: int
    parallel: int

    def to_json(self) -> str:
        """Return one JSON object."""
        return json.dumps(to_tree(self), indent=2)
