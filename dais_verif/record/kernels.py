"""The record of ``kernel``: libraries of kernels, skipped libraries, and the parameters of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dais_verif.base.verdict import Verdict
from dais_verif.record.base import Record
from dais_verif.record.kernel_printout import PrintedBy
from dais_verif.record.network import ProvedSetting

__all__ = ["KernelBuild", "KernelInfo", "KernelListing", "KernelRun", "LeftOut", "ProvedKernel"]


@dataclass(frozen=True)
class KernelInfo(Record):
    """A kernel.

    ``name``: the name by which users request the kernel; it includes the library if two kernels have the same name.
    ``where``: the file or package of the library.

    The other fields are None if the library does not describe the parameters of the kernel. ``structure``: the fields
    of its private parameters, one dword each, which is ``i`` signed, ``u`` unsigned or ``f`` binary32. ``defaults``:
    the defaults of some fields; those of the others are 0. ``words``: the names of values of fields.
    """

    SCHEMA: ClassVar = "dais-verif/kernel-show/1"

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


@dataclass(frozen=True)
class LeftOut:
    """A library that cannot be used, and the reason."""

    library: str
    where: str
    why: str


@dataclass(frozen=True)
class KernelListing(Record):
    """All kernels by library, and the libraries that are ``left_out``."""

    SCHEMA: ClassVar = "dais-verif/kernel-list/1"

    kernels: list[KernelInfo]
    left_out: list[LeftOut]


@dataclass(frozen=True)
class KernelBuild(Record):
    """The hardware of an instance: ``files`` in the folder ``output``.

    ``facts`` of the form with memories: ``cycles`` from one group of ``parallel`` members to the next, ``latency`` from
    start to done for all ``members``, ``words`` and ``bits`` of memories. ``facts`` of the form for streams:
    ``interval`` between beats, ``beats`` of an image, ``latency`` from the first beat of an image to its first output,
    ``flush`` from its last beat to its last output, ``line_bits`` and ``window_bits`` of the buffers.
    """

    SCHEMA: ClassVar = "dais-verif/kernel-build/1"

    kernel: str
    form: str
    output: str
    files: list[str]
    members: int
    facts: dict[str, int]


@dataclass(frozen=True)
class KernelRun:
    """The simulation of the hardware of an instance, compared with the ``kernel`` member by member.

    For a folded network, ``kernel`` is the name of the network; each sample is compared with the network under the
    configuration of the sample, ``configurations`` has the number of samples by configuration, and ``ranges`` is the
    number of runs from start to done.

    ``samples`` tensors were run in a ``form``. The index space, which has ``members`` members, was run in ``ranges``
    ranges, with ``broken_off`` resets in between; ``elements`` elements of outputs were compared. ``wrong``: the first
    difference, or why nothing could be read. ``member``: the member that is active when the RTL is wrong. ``printed``:
    the text that members print for each of the first samples, and ``printed_by``: that of each simulator; both only if
    requested.
    """

    kernel: str
    form: str
    members: int
    samples: int
    ranges: int
    broken_off: int
    stalls: int
    elements: int
    wrong: str | None = None
    member: str | None = None
    printed: list[str] | None = None
    printed_by: list[PrintedBy] | None = None
    configurations: dict[str, int] | None = None


@dataclass(frozen=True)
class ProvedKernel:
    """The proof of the hardware of an instance. ``laws``: the result for the laws of its mapping, in words.

    ``facts``: the result for the stated facts about time and memory, in words. ``folded``: the verdict of the proof
    that the machine equals all members in parallel, with its ``message``; NOT_RUN if an earlier step failed. For a
    folded network, ``kernel`` is the name of the network, and ``settings`` has the result of each configuration.
    """

    kernel: str
    form: str
    members: int
    laws: str
    facts: str
    folded: Verdict
    message: str
    settings: list[ProvedSetting] | None = None
