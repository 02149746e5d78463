"""A subject: what the user brought, read as far as its kind needs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from dais_verif.spec.machine import Machine
from dais_verif.spec.program import Program
from dais_verif.subject.given import AnyProgram
from dais_verif.subject.programs import parse_network

if TYPE_CHECKING:
    from dais_verif.compile.kernels.folder import KernelFolder
    from dais_verif.compile.networks import Network
    from dais_verif.compile.networks.hardware.folder import NetworkFolder

__all__ = ["Kind", "Subject"]


class Kind(Enum):
    """The kinds of subjects. ``value`` is the name in messages and in the table of verbs."""

    PROGRAM = "a program"
    MACHINE = "a machine"
    #: A folder of ``kernel build``: members of a kernel, computed by a machine.
    KERNEL = "a kernel folder"
    #: A network in ONNX, which is unrolled into a program.
    NETWORK = "a network"
    #: A folder of ``emit --form`` or ``approx apply --form``: a network computed by a machine.
    HARDWARE = "a network folder"
    #: A folder of da4ml or alkaid with a program and its RTL.
    PROJECT = "a project folder"
    #: A folder of alkaid with a machine and its RTL.
    MACHINE_PROJECT = "a project folder of a machine"


@dataclass(frozen=True)
class Subject:
    """What came in as ``given``, and its ``kind``.

    ``read``: the machine of a file or of alkaid's folder. ``kernel``, ``hardware``: a machine with the meaning of the
    tensors of its frames.
    """

    given: AnyProgram
    layout: str | None
    kind: Kind
    read: Machine | None = None
    kernel: KernelFolder | None = None
    hardware: NetworkFolder | None = None

    @property
    def machine(self) -> Machine | None:
        """The machine that the RTL must be; None: the RTL must compute a program."""
        folder = self.kernel or self.hardware
        return self.read if folder is None else folder.machine

    @property
    def brings_rtl(self) -> bool:
        """True for a project folder, whose RTL is the user's."""
        return self.kind in (Kind.PROJECT, Kind.MACHINE_PROJECT)

    @cached_property
    def network(self) -> Network | None:
        """The network: of a file, or in the folder of its hardware under its first configuration.

        Raises ``NetworkError`` for what is not supported, ``InputError`` if a layout was given.
        """
        if self.hardware is not None:
            return self.hardware.under(None)
        if self.kind is not Kind.NETWORK or isinstance(self.given, Program | Machine):
            return None
        return parse_network(self.given, self.layout)
