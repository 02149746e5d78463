"""Write a machine as Verilog."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dais_verif.base.errors import MachineInputError, RequestError
from dais_verif.base.files import write_atomically
from dais_verif.hardware.emitter import machines as emitter
from dais_verif.hardware.emitter.board import LINKS
from dais_verif.hardware.emitter.machines.board import BOARD_CYCLES, machine_board_folder
from dais_verif.hardware.emitter.machines.folder import machine_folder
from dais_verif.hardware.emitter.project import MANIFEST
from dais_verif.record.emission import EmissionRecord, PortElement, PortElements, SignalPort, WrapperFolderInfo
from dais_verif.record.network import FoldedNetwork
from dais_verif.record.program import ProgramInfo
from dais_verif.spec.machine import Machine, Role, Signal
from dais_verif.spec.machine.ports import offsets_of, port_names, ports
from dais_verif.verbs.machines.requests import require_no_options
from dais_verif.verbs.machines.streams import read_stream
from dais_verif.verbs.overwrite_guard import write_folder

if TYPE_CHECKING:
    from dais_verif.verbs.emit import EmitRequest, WrapRequest

__all__ = ["emit_machine"]


def emit_machine(machine: Machine, request: EmitRequest, folded: FoldedNetwork | None = None) -> EmissionRecord:
    """Write ``machine`` as Verilog, and return it. ``folded``: the network of the machine, which is already written.

    Raises ``RequestError`` for options that only programs have.
    """
    pipeline = request.pipeline
    require_no_options(layout=request.layout, stages=pipeline.stages, max_depth=pipeline.max_depth)
    text = emitter.emit_machine(machine, request.top)
    wrapped = None
    if request.wrapper.wrap is not None and request.output is not None:
        wrapped = _write_wrapper(machine, request.wrapper, request.top, request.output)
    elif request.output is not None and folded is None:
        write_atomically(request.output, text.encode())
    names = port_names(machine)
    return EmissionRecord(
        program=ProgramInfo.of_machine(machine),
        top=request.top,
        output=None if request.output is None else str(request.output),
        ports=PortElements([], []),
        pipeline=None,
        wrapped=wrapped,
        signals=[_port(signal, names[signal.name]) for signal in ports(machine)],
        folded=folded,
        verilog=text,
    )


def _write_wrapper(machine: Machine, asked: WrapRequest, top: str, output: Path) -> WrapperFolderInfo:
    require_no_options(axil=asked.axil, user_bits=asked.user_bits, check_beats=asked.check_beats)
    if asked.wrap in LINKS:
        return _write_board(machine, asked, asked.wrap, top, output)
    if asked.cycles is not None:
        raise RequestError.of("{cycles} is for {wrap} uart, spi or fifo: a stream has no fixed length.")
    if asked.stream is None:
        raise MachineInputError.of(
            "a machine behind AXI4-Stream needs {stream}, a TOML file that names its valid_in, valid_out, enable and"
            " reset: the signals that mark valid data, stall the machine and reset it"
        )
    stream = read_stream(asked.stream, machine)
    files = machine_folder(machine, stream, top, 5.0 if asked.period is None else asked.period)
    write_folder(output, files, MANIFEST)
    return WrapperFolderInfo("axis", f"{top}_axis", str(output), sorted(files), False, 0, 0, {})


def _write_board(machine: Machine, asked: WrapRequest, link: str, top: str, output: Path) -> WrapperFolderInfo:
    if asked.stream is not None:
        raise RequestError.of("{stream} is for {wrap} axis: on a board every output of every cycle is compared.")
    cycles = BOARD_CYCLES if asked.cycles is None else asked.cycles
    files = machine_board_folder(machine, link, top, cycles, 5.0 if asked.period is None else asked.period)
    write_folder(output, files, MANIFEST)
    return WrapperFolderInfo(link, f"{top}_{link}", str(output), sorted(files), False, cycles, 0, {})


def _port(signal: Signal, name: str) -> SignalPort:
    places = zip(signal.types, offsets_of(signal.types), strict=False)
    elements = [PortElement(offset, kind.width, -kind.f) for kind, offset in places]
    return SignalPort(signal.name, name, "input" if signal.role is Role.INPUT else "output", elements)
