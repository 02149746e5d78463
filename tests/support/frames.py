"""Inputs and golden outputs of consecutive frames of a machine, from power-up."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dais_verif.golden.machine_batch import run_machine
from dais_verif.spec.machine import Machine
from dais_verif.verbs.machines.frame import read_frame

__all__ = ["driven", "held_in", "results"]


def driven(machine: Machine, frame: Path, samples: np.ndarray) -> dict[str, np.ndarray]:
    """Return the inputs of one frame per row of ``samples``, and of further frames until the last outputs are ready."""
    said = read_frame(frame, machine).frame
    more = max(port.cycle for port in said.outputs) // said.cycles
    rows = np.concatenate([samples, samples[:1].repeat(more, axis=0)])
    found = {s.name: np.zeros((len(rows), said.cycles, len(s.types))) for s in machine.inputs}
    for element, values in said.held.items():
        found[element.signal][:, :, element.place] = [float(value or 0) for value in values]
    for port, column in zip(said.inputs, rows.T, strict=True):
        found[port.signal][:, port.cycle, port.place] = column
    return {name: array.reshape(len(rows) * said.cycles, -1) for name, array in found.items()}


def results(machine: Machine, frame: Path, samples: np.ndarray) -> np.ndarray:
    """Return the outputs of the golden machine, one row per row of ``samples``."""
    said = read_frame(frame, machine).frame
    outputs = run_machine(machine, driven(machine, frame, samples)).outputs
    begins = np.arange(len(samples)) * said.cycles
    return np.stack([outputs[port.signal][0][begins + port.cycle, port.place] for port in said.outputs], axis=1)


def held_in(folder: Path, machine: Machine, frame: Path, samples: np.ndarray) -> Path:
    """Write the inputs to a file in the form that ``simulate`` takes, and return its path."""
    np.savez(folder / "driven.npz", **driven(machine, frame, samples))  # type: ignore[arg-type]
    return folder / "driven.npz"
