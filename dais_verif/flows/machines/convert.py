"""Write a machine in another form: ALIRFSM, or text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dais_verif.counts import counted
from dais_verif.errors import ConversionError, RequestError
from dais_verif.files import write_atomically
from dais_verif.flows.machines.requests import require_no_options
from dais_verif.machine import Machine, parse_machine
from dais_verif.machine.alirfsm_writer import machine_json
from dais_verif.machine.text.writer import machine_text
from dais_verif.own_command import own_command
from dais_verif.program.json_writers import compressed
from dais_verif.record.conversion import ConversionRecord
from dais_verif.record.program import ProgramInfo
from dais_verif.verdict import Verdict

if TYPE_CHECKING:
    from dais_verif.flows.convert import ConversionRequest

__all__ = ["convert_machine"]


def convert_machine(machine: Machine, request: ConversionRequest) -> ConversionRecord:
    """Write ``machine``; the written machine computes the same in every cycle.

    Raises ``InputError``, which names signal, block or op, if ALIRFSM cannot express the machine; ``RequestError`` for
    formats of programs.
    """
    require_no_options(layout=request.layout)
    target = "alirfsm" if request.target == "alir" and request.to is None else request.target
    if target not in _WRITERS:
        raise RequestError.of("this is a machine, which is written as alirfsm or mach, not as {target}.", target=target)
    write = _WRITERS[target]
    data = write(machine)
    back = parse_machine(data)
    if write(back) != data:
        raise ConversionError(f"the {target} output does not read back as the same machine; please report it")
    write_atomically(request.output, compressed(data) if request.compressed else data)
    before, after = ProgramInfo.of_machine(machine), ProgramInfo.of_machine(back)
    return ConversionRecord(
        verdict=Verdict.PASS,
        message=f"written as {target}, {counted(after.n_ops, 'op')} of {before.n_ops}",
        program=before,
        written=replace(after, path=str(request.output)),
        output=str(request.output),
        target=target,
        restored=False,
        compressed=request.compressed,
        warnings=[],
        reproduce=own_command(request.words()) if request.command is None else request.command,
    )


def _text(machine: Machine) -> bytes:
    return machine_text(machine).encode()


_WRITERS = {"alirfsm": machine_json, "mach": _text}
