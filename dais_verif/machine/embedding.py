"""Embed a machine in one under construction: add its signals, blocks and connections, with prefixed names."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from dais_verif.machine.builder import MachineBuilder
from dais_verif.machine.model import Machine, Role, Signal, View

__all__ = ["embed"]


def embed(
    made: MachineBuilder,
    machine: Machine,
    prefix: str,
    *,
    without: Collection[str] = (),
    given: Mapping[str, View] | None = None,
) -> dict[str, View]:
    """Add ``machine`` to ``made``, with ``prefix`` before each name, and return its signals by their original names.

    Inputs become wires for the caller to drive, or the views in ``given``, which must not have an index. Outputs become
    internal. ``without``: signals to leave out, together with all connections that read or write them; no reset may
    read them.
    """
    views: dict[str, View] = {}
    named = given or {}
    inside = {name: block for block in machine.blocks.values() for name in (block.inputs, block.outputs)}
    for block in machine.blocks.values():
        added = made.block(f"{prefix}{block.name}", block.program)
        views[block.inputs], views[block.outputs] = added.inputs, added.outputs
    for signal in machine.signals.values():
        if signal.role is Role.INPUT and signal.name in named:
            views[signal.name] = named[signal.name]
        elif signal.name not in inside and signal.name not in without and signal.role is Role.INPUT:
            views[signal.name] = made.wire(f"{prefix}{signal.name}", signal.types)
    for signal in machine.signals.values():
        if signal.name not in views and signal.name not in without:
            views[signal.name] = _added(made, signal, prefix, views)
    for one in machine.connections:
        touched = {one.target.signal, *(view.signal for view in one.reads)}
        if touched.isdisjoint(without):
            made.connect(
                _moved(one.source, views),
                _moved(one.target, views),
                enable=None if one.enable is None else _moved(one.enable, views),
                otherwise=None if one.alternative is None else _moved(one.alternative, views),
            )
    return views


def _added(made: MachineBuilder, signal: Signal, prefix: str, views: Mapping[str, View]) -> View:
    name = f"{prefix}{signal.name}"
    if not signal.register:
        return made.wire(name, signal.types)
    # A reset may be a register that is added later, but its name is known already.
    reset = None
    if signal.reset is not None:
        there = signal.reset.signal in views
        reset = _moved(signal.reset, views) if there else replace(signal.reset, signal=f"{prefix}{signal.reset.signal}")
    return made.register(name, signal.types, initial=signal.initial, reset=reset)


def _moved(view: View, views: Mapping[str, View]) -> View:
    index = view.index
    moved = None if index is None else replace(index, value=_moved(index.value, views))
    base = views[view.signal]
    return View(base.signal, base.start + view.start, base.start + view.stop, moved)
