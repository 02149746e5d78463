"""Machines: programs as blocks of logic, with registers, memories and connections under one clock."""

from __future__ import annotations

from dais_verif.spec.machine.builder import BlockViews, MachineBuilder
from dais_verif.spec.machine.checks import validate
from dais_verif.spec.machine.load import load_machine, looks_like_machine, parse_machine
from dais_verif.spec.machine.model import Block, Connection, Index, Machine, Role, Schedule, Signal, View

__all__ = [
    "Block",
    "BlockViews",
    "Connection",
    "Index",
    "Machine",
    "MachineBuilder",
    "Role",
    "Schedule",
    "Signal",
    "View",
    "load_machine",
    "looks_like_machine",
    "parse_machine",
    "validate",
]
