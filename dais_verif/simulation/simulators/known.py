"""The table of simulators, by their names in records and options."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dais_verif.simulation.simulators import ghdl, icarus, verilator
from dais_verif.simulation.simulators.simulator import Simulator

__all__ = ["KNOWN"]

_ALL: dict[str, Simulator] = {"icarus": icarus, "verilator": verilator, "ghdl": ghdl}
KNOWN: Mapping[str, Simulator] = MappingProxyType(_ALL)
