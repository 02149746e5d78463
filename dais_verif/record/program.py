"""The program or machine of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.spec.machine import Machine
from dais_verif.spec.program import Program
from dais_verif.spec.program.model import Origin

__all__ = ["BitstreamFacts", "MACHINE_LAYOUTS", "ProgramInfo", "ProjectInfo", "ProvedLink", "RtlFacts"]


#: Names of the layouts of machines: JSON, and text.
MACHINE_LAYOUTS = ("alirfsm", "mach")


@dataclass(frozen=True)
class ProgramInfo:
    """A program, and the format of its file.

    For a machine, the layout is ``alirfsm``, or ``mach`` for its text, and the numbers are those of the elements of its
    inputs and outputs and of the ops of all its blocks.
    """

    path: str | None
    hash: str
    file_sha256: str | None
    layout: str
    layout_assumed: bool
    n_in: int
    n_out: int
    n_ops: int

    @classmethod
    def of(cls, program: Program) -> ProgramInfo:
        """Return the facts about ``program``."""
        origin = program.origin
        return cls(
            origin.path,
            program.hash,
            origin.file_sha256,
            origin.layout,
            origin.assumed,
            program.n_in,
            program.n_out,
            program.n_ops,
        )

    @classmethod
    def of_machine(cls, machine: Machine) -> ProgramInfo:
        """Return the facts about ``machine``."""
        origin = machine.origin
        n_in, n_out = (sum(len(signal.types) for signal in side) for side in (machine.inputs, machine.outputs))
        n_ops = sum(block.program.n_ops for block in machine.blocks.values())
        layout = "mach" if origin.layout == "mach" else "alirfsm"
        return cls(origin.path, machine.hash, origin.file_sha256, layout, False, n_in, n_out, n_ops)

    @classmethod
    def of_network(cls, origin: Origin, n_in: int, n_out: int) -> ProgramInfo:
        """Return the facts about a network that is too large to unroll: its hash is that of the file, without ops."""
        return cls(
            origin.path, origin.file_sha256 or "", origin.file_sha256, origin.layout, origin.assumed, n_in, n_out, 0
        )


# The project folder of da4ml or alkaid that a run was given, and the files found in this folder.


@dataclass(frozen=True, kw_only=True)
class ProjectInfo:
    """The content of ``folder``. ``dialect``: DAIS or ALIR. ``model``, ``sources``, ``data``: paths within the folder.

    ``model``: the file of the program; None if the program was given separately. ``sources``: the files of the RTL;
    empty if the RTL was given separately. ``latency``: the latency in clock edges that the folder states, which the RTL
    must have; None if the folder states none, or if the user gave another.
    """

    folder: str
    writer: str
    dialect: str
    language: str
    top: str
    model: str | None = None
    sources: list[str] = field(default_factory=list)
    data: list[str] = field(default_factory=list)
    clock: str | None = None
    latency: int | None = None

    def __str__(self) -> str:
        found = [f"{self.folder}: {self.writer} ({self.dialect}), {self.language}"]
        if self.model is not None:
            found.append(f"model {self.model}")
        if self.sources:
            files = len(self.sources) + len(self.data)
            found.append(f"top {self.top}, {counted(files, 'file')}")
            found.append("combinational" if self.clock is None else f"clock {self.clock}")
        if self.latency is not None:
            found.append(f"latency {self.latency} as it says")
        return ", ".join(found)


# The RTL of a run.


@dataclass(frozen=True, kw_only=True)
class BitstreamFacts:
    """The bitstream of a run, and its pin file. ``device``: the given device; None: the default."""

    file: str
    sha256: str
    pins: str
    pins_sha256: str
    device: str | None = None


@dataclass(frozen=True, kw_only=True)
class RtlFacts:
    """The RTL of a simulation or sign-off.

    ``emitted``: whether it is our own. ``sha256``: the hash of each of ``files``. ``data``: the SHA-256 of each file
    that the RTL reads, by name. ``top`` is None for a board.

    ``widths``: the source of the port widths. ``face``: the ports, from ``DesignInterface.to_tree``. ``bits``: the
    number of bits of an output row, which evidence keeps instead of ports. ``project``: the given folder of program or
    RTL. ``bitstream``: the bitstream from which the RTL was read back, if any.
    """

    LEFT_OUT_IF_NONE: ClassVar = ("data", "widths", "face", "bits", "project", "bitstream")

    top: str | None = None
    emitted: bool = False
    files: list[str] = field(default_factory=list)
    sha256: list[str] = field(default_factory=list)
    data: dict[str, str] | None = None
    widths: str | None = None
    face: dict[str, Any] | None = None
    bits: int | None = None
    project: ProjectInfo | None = None
    bitstream: BitstreamFacts | None = None


@dataclass(frozen=True, kw_only=True)
class ProvedLink:
    """The proof of a bitstream against the RTL of core, wrapper and link.

    ``core``: the verdict on the core's RTL, to which all fields of the record outside of ``link`` refer.

    ``link``: ``uart``, ``spi`` or ``fifo``. ``period``: the period of the link's clock, in ns. ``proved``: the
    bitstream and the RTL have the same outputs in every cycle from power-up; if not proved, ``why`` is the reason.
    ``registers``, ``logic_registers``: the numbers of register bits of the RTL and of the bitstream. ``classes``: the
    number of sets of two or more register bits that are always equal. ``columns``: the number of columns of block RAMs
    that implement a buffer. ``claims``: the number of proved claims. ``seconds``: the total time. ``board``: the
    verdict of a simulated board that runs the bitstream, with ``board_message``; None if there was no such board.
    ``hinted``: hints proposed the classes, which were proved like any others.
    """

    link: str
    period: float
    bitstream: BitstreamFacts
    core: Verdict
    proved: bool
    why: str
    registers: int
    logic_registers: int
    classes: int
    columns: int
    claims: int
    seconds: float
    board: Verdict | None = None
    board_message: str = ""
    hinted: bool = False
