"""Write a network as a machine with memories: ``emit`` for an ONNX file in a form other than unrolled."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dais_verif.base.errors import NetworkInputError, RequestError
from dais_verif.base.files import read_plain
from dais_verif.record.emission import EmissionRecord
from dais_verif.spec.machine import Machine
from dais_verif.spec.program import Program
from dais_verif.subject import Kind, Subject
from dais_verif.verbs.machines.emit import emit_machine

if TYPE_CHECKING:
    from dais_verif.verbs.emit import EmitRequest

__all__ = ["emit_network"]

_MOST_BYTES = 1 << 28


def emit_network(subject: Subject, request: EmitRequest) -> EmissionRecord:
    """Write the folder, and return its record. Raises ``RequestError`` for options that are only for modules.

    Raises ``NetworkError`` for layers that cannot be stages, ``InputError`` if the input is not a network, or too
    large.
    """
    # Imported when needed, since it imports the operators of networks and kernels.
    from dais_verif.verbs.networks.build import build_network

    if request.output is None:
        raise RequestError.of("{form} {value} writes several files; name a folder with {output}.", value=request.form)
    if request.wrapper.wrap is not None or request.pipeline.wanted:
        raise RequestError.of("{form} {value} is not for {wrap}, {stages} or {max_depth}.", value=request.form)
    if request.top != "model":
        raise RequestError.of("{form} {value} writes a module called model: leave {top} out.", value=request.form)
    program = subject.given
    if subject.kind is not Kind.NETWORK or subject.network is None or isinstance(program, Program | Machine):
        raise NetworkInputError.of(
            "{form} {value} is for networks in ONNX files, but this is not one", value=request.form
        )
    data = program if isinstance(program, bytes) else read_plain(Path(str(program)), _MOST_BYTES)
    read = () if isinstance(program, bytes) else (Path(str(program)),)
    made = build_network(
        data,
        None,
        request.output,
        form=request.form,
        parallel=request.parallel,
        unrolled=request.at_once,
        read=read,
    )
    return emit_machine(made.machine, request, folded=made.info)
