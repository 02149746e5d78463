"""Mutate the RTL of machines: read the machine of a request, and use sequences instead of vectors."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from dais_verif.dut.placement import Dut
from dais_verif.errors import RequestError
from dais_verif.flows.machines.designs import machine_design, opened_design
from dais_verif.flows.machines.requests import require_no_options
from dais_verif.flows.machines.simulate import sequences_of
from dais_verif.flows.mutation.requests import MutationRequest
from dais_verif.flows.simulation_request import SimulationRequest
from dais_verif.machine import Machine
from dais_verif.machine.ports import CLOCK
from dais_verif.program.ports import Ports
from dais_verif.simulation.machines.rows import interface_of
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.stimulus.machines import InputSequence
from dais_verif.subject import open_for

__all__ = ["mutated_machine", "opened_machine", "stimulus_of"]


def mutated_machine(request: MutationRequest) -> Machine | None:
    """Return the machine whose RTL is mutated; None for a program, and for anything that its reader will refuse.

    Raises ``RequestError`` for options that only programs have.
    """
    machine = open_for("mutate", request.program, request.layout).read
    if machine is None:
        return None
    asked, pins = request.design, request.design.pins
    require_no_options(
        layout=request.layout,
        stages=asked.pipeline and asked.pipeline.stages,
        max_depth=asked.pipeline and asked.pipeline.max_depth,
        ports=asked.ports,
        netlist=asked.of_bits and asked.netlist,
        **{f.name: getattr(pins, f.name) for f in fields(pins) if f.name != "clock"},
        add_vectors=request.add_vectors,
    )
    for name in request.asked:
        if name not in ("sim", "prove"):
            raise RequestError.of(
                "{judges} {name} is for programs, but this is a machine: its judges are sim and prove.", name=name
            )
    return machine


def opened_machine(machine: Machine, request: MutationRequest, folder: Path) -> tuple[RtlDesign, Dut]:
    """Return the RTL of ``machine``, in ``folder`` if emitted, and its ports, whose outputs have latency 0."""
    asked, _ = opened_design(request.program, request.design)
    interface = interface_of(machine, asked.pins.clock or CLOCK).with_latency(0)
    return machine_design(machine, asked, folder), Dut(interface, Ports((), ()), (), "the machine's types")


def stimulus_of(machine: Machine, request: MutationRequest) -> list[InputSequence]:
    """Return the sequences of files, then generated ones, the same as in ``sim``."""
    asked = SimulationRequest(program=machine, inputs=request.inputs, vectors=request.vectors, seed=request.seed)
    return sequences_of(machine, asked)[0]
