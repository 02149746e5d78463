"""Write a machine as Verilog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dais_verif.emitter import machines as emitter
from dais_verif.files import write_atomically
from dais_verif.flows.machines.requests import require_no_options
from dais_verif.machine import Machine, Role, Signal
from dais_verif.machine.ports import offsets_of, port_names, ports
from dais_verif.record.emission import EmissionRecord, PortElement, PortElements, SignalPort
from dais_verif.record.program import ProgramInfo

if TYPE_CHECKING:
    from dais_verif.flows.emit import EmitRequest

__all__ = ["emit_machine"]


def emit_machine(machine: Machine, request: EmitRequest) -> EmissionRecord:
    """Write ``machine`` as Verilog, and return it. Raises ``RequestError`` for options that only programs have."""
    pipeline = request.pipeline
    require_no_options(
        layout=request.layout, wrap=request.wrapper.wrap, stages=pipeline.stages, max_depth=pipeline.max_depth
    )
    text = emitter.emit_machine(machine, request.top)
    if request.output is not None:
        write_atomically(request.output, text.encode())
    names = port_names(machine)
    return EmissionRecord(
        program=ProgramInfo.of_machine(machine),
        top=request.top,
        output=None if request.output is None else str(request.output),
        ports=PortElements([], []),
        pipeline=None,
        wrapped=None,
        signals=[_port(signal, names[signal.name]) for signal in ports(machine)],
        verilog=text,
    )


def _port(signal: Signal, name: str) -> SignalPort:
    places = zip(signal.types, offsets_of(signal.types), strict=False)
    elements = [PortElement(offset, kind.width, -kind.f) for kind, offset in places]
    return SignalPort(signal.name, name, "input" if signal.role is Role.INPUT else "output", elements)
