"""Control faults: errors in the control of a machine, each planted in its own copy of the machine.

The faults are derived from the machine alone: from enables, resets, indices, registers that depend on themselves, and
the blocks that compute these. A faulty machine is valid. It may break promises that the original keeps, and it may
behave like the original in every cycle, in which case the fault cannot be detected.
"""

from __future__ import annotations

from collections.abc import Iterator

from dais_verif.errors import ProgramError
from dais_verif.machine.checks import validate
from dais_verif.machine.faults.decisions import faults_of_decisions
from dais_verif.machine.faults.enables import faults_of_enables
from dais_verif.machine.faults.kinds import Fault, FaultKind
from dais_verif.machine.faults.places import faults_of_places
from dais_verif.machine.faults.resets import faults_of_resets
from dais_verif.machine.model import Machine

__all__ = ["Fault", "FaultKind", "control_faults", "each_control_fault"]


def control_faults(machine: Machine) -> list[Fault]:
    """Return all single faults in the control of a valid ``machine``, in an order that only ``machine`` determines."""
    return list(each_control_fault(machine))


def each_control_fault(machine: Machine) -> Iterator[Fault]:
    """Yield control faults one by one: for a large machine, making all of them would take hours."""
    for propose in (faults_of_enables, faults_of_resets, faults_of_places, faults_of_decisions):
        for fault in propose(machine):
            try:
                validate(fault.machine)
            except ProgramError:  # a loop, or a source and an alternative of different kinds
                continue
            # A machine without registers has no clock port, which would be too obvious a fault.
            if fault.machine.registers and fault.machine != machine:
                yield fault
