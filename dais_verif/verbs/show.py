"""Write a program as text; a machine, or a network, as a table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dais_verif.base.files import write_atomically
from dais_verif.base.text import counted
from dais_verif.record.floor_plan import FloorPlan
from dais_verif.record.network import NetworkInfo
from dais_verif.spec.machine import Machine
from dais_verif.spec.program import Program
from dais_verif.spec.program.listing import listing
from dais_verif.subject import open_for
from dais_verif.subject.given import AnyProgram
from dais_verif.verbs.machines.requests import require_no_options
from dais_verif.verbs.networks.requests import info_of
from dais_verif.verbs.programs import read_program
from dais_verif.verbs.progress import SILENT, Progress
from dais_verif.verbs.read_back.show import find_floor_plan

__all__ = ["Listing", "ListingRequest", "show"]


@dataclass(frozen=True, kw_only=True)
class ListingRequest:
    """A listing. ``vm``: the instructions of the golden model's machine instead. ``output``: a file to write."""

    program: AnyProgram
    layout: str | None = None
    vm: bool = False
    output: Path | None = None


@dataclass(frozen=True)
class Listing:
    """The ``text`` that lists a program with ``ops`` ops, a ``machine``, or a bitstream with its ``floor_plan``.

    Of a ``network``, ``ops`` are the steps of its unrolled program.
    """

    text: str
    ops: int
    machine: Machine | None = None
    floor_plan: FloorPlan | None = None
    network: NetworkInfo | None = None

    @property
    def kind(self) -> str:
        """The kind of the listed object."""
        if self.floor_plan is not None:
            return "bitstream"
        if self.network is not None:
            return f"network of {counted(len(self.network.nodes), 'node')}"
        return f"{'machine, its blocks' if self.machine else 'program'} of {self.ops} ops"


def show(request: ListingRequest, *, progress: Progress = SILENT) -> Listing:
    """Return a program as text, which ``assemble`` turns into the identical binary; ``vm``: its instructions.

    A machine is a table of its parts, a network of its nodes; ``convert`` writes text that can be read back. A
    bitstream, with ``pins.pcf`` beside it, is its floor plan.
    """
    plan = find_floor_plan(request.program)
    if plan is not None:
        require_no_options(layout=request.layout, vm=request.vm)
        if request.output is not None:
            write_atomically(request.output, plan.text().encode())
        return Listing(plan.text(), 0, floor_plan=plan)
    subject = open_for("show", request.program, request.layout)
    machine = subject.machine
    if machine is not None:
        require_no_options(layout=request.layout, vm=request.vm)
        from dais_verif.verbs.machines.show import table_of

        table = table_of(machine)
        if request.output is not None:
            write_atomically(request.output, table.encode())
        return Listing(table, sum(block.program.n_ops for block in machine.blocks.values()), machine)
    network = subject.network
    if network is not None and not request.vm:
        info = info_of(network)
        if request.output is not None:
            write_atomically(request.output, info.text().encode())
        return Listing(info.text(), info.steps, network=info)
    program, _ = read_program(request.program, request.layout, progress)
    text = _instructions(program) if request.vm else listing(program)
    if request.output is not None:
        write_atomically(request.output, text.encode())
    return Listing(text, program.n_ops)


def _instructions(program: Program) -> str:
    from dais_verif.golden.vm import compile_forward_and_backward, disassemble

    return disassemble(compile_forward_and_backward(program))
