"""The identity of a machine: a hash of its content, the same for ALIRFSM, plain or gzip, and for text."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from dais_verif.base.errors import DaisError
from dais_verif.spec.program import Program
from dais_verif.spec.program.conversion import to_alir

if TYPE_CHECKING:
    from dais_verif.spec.machine.model import Connection, Machine, Signal, View

__all__ = ["content_hash"]


def content_hash(machine: Machine) -> str:
    """Return the SHA-256 of the ports in their order, the signals, connections and programs of ``machine``.

    Blocks are hashed after conversion to ALIR, so that a text and the file converted from it have the same hash; all
    elements without bits count as equal. The order of internal signals, of blocks, and of connections to wires is
    ignored, because it has no meaning. As for programs, declared intervals are not included.
    """
    wires = sorted(json.dumps(_connection(c)) for c in machine.connections if not machine.clocked(c))
    tree = {
        "ports": [signal.name for signal in (*machine.inputs, *machine.outputs)],
        "signals": {name: _signal(signal) for name, signal in machine.signals.items()},
        "blocks": {b.name: [b.inputs, b.outputs, _block(b.program)] for b in machine.blocks.values()},
        "wires": wires,
        "clocked": [_connection(c) for c in machine.connections if machine.clocked(c)],
    }
    return hashlib.sha256(b"dais machine\0" + json.dumps(tree, sort_keys=True).encode()).hexdigest()


def _block(program: Program) -> str:
    try:
        return to_alir(program).hash
    except DaisError:  # no ALIRFSM file contains what ALIR cannot represent
        return program.hash


def _signal(signal: Signal) -> list[Any]:
    schedule = None if signal.schedule is None else [list(signal.schedule.toggles), signal.schedule.period]
    return [
        [[int(kind.k), kind.i, kind.f] if kind.width else [0, 0, 0] for kind in signal.types],
        signal.role.value,
        signal.register,
        None if signal.initial is None else [str(value) for value in signal.initial],
        _view(signal.reset),
        schedule,
        signal.attributes,
    ]


def _connection(connection: Connection) -> list[Any]:
    views = (connection.source, connection.target, connection.enable, connection.alternative)
    return [_view(view) for view in views]


def _view(view: View | None) -> list[Any] | None:
    if view is None:
        return None
    index = None if view.index is None else [_view(view.index.value), view.index.stride]
    return [view.signal, view.start, view.stop, index]
