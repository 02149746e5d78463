"""Replay each refutation of a clocked design in Icarus, to confirm that the design is wrong as the prover says."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dais_verif.base.toolchain.tools import icarus
from dais_verif.golden import run_raw
from dais_verif.hardware.ports.interface import Clocking
from dais_verif.prover.results import Proof
from dais_verif.simulation.testbench.packed_rows import bits_of_row
from dais_verif.simulation.testbench.packing import pack_inputs, pack_outputs
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch
from dais_verif.spec.program.ports import ports_of
from dais_verif.stimulus import batch_of_raw
from dais_verif.verbs.vectors import signed_inputs

__all__ = ["Trace", "confirmed", "trace_of"]

_SECONDS = 300
#: Edges beyond the latency for which a vector is held, so that control settles.
_MORE = 8


class Trace(NamedTuple):
    """A run that shows an error: the pins before each edge; before the last edge, ``pin`` is not ``due``.

    Pins that are not named are 0.
    """

    steps: tuple[dict[str, int], ...]
    pin: str
    due: int
    clock: str


def trace_of(program: Program, proof: Proof, clocking: Clocking, told: bool) -> Trace:
    """Return the run that shows the error of a design that ``proof`` refuted: one vector held, or a trace of pins."""
    clock = proof.timing.clock if proof.timing else clocking.clock
    if proof.counterexample is None:
        assert proof.handshake is not None and clocking.valid_out is not None
        return Trace(proof.handshake.trace, clocking.valid_out, proof.handshake.due, clock)
    ports = ports_of(program)
    row = np.array([signed_inputs(program, proof.counterexample.vector)], dtype=object).reshape(1, program.n_in)
    batch = batch_of_raw(Batch.of(row, program.n_in), ports)
    given = int(bits_of_row(pack_inputs(batch, ports), 0, ports.input_bits), 2)
    due = int(bits_of_row(pack_outputs(run_raw(program, batch, check=False), ports, 1), 0, ports.output_bits), 2)
    pins = {pin: 1 for pin in (clocking.enable, clocking.valid_in) if pin} | {"model_inp": given} | dict(proof.held)
    resets = []
    if clocking.reset and told:
        pins[clocking.reset] = int(clocking.reset_low)
        resets = [{**pins, clocking.reset: 1 - pins[clocking.reset]}] * 2
    latency = proof.timing.latency if proof.timing else 0
    return Trace((*resets, *[pins] * (latency + _MORE)), "model_out", due, clock)


def confirmed(designs: Sequence[tuple[str, Mapping[str, str], Program, Trace]], folder: Path) -> list[bool | None]:
    """Return whether each design has the error of its trace in Icarus, or None if Icarus cannot build the design."""
    folder.mkdir(parents=True, exist_ok=True)
    lines, sources = ["module dais_witnesses;"], []
    for n, (top, files, program, trace) in enumerate(designs):
        ports = ports_of(program)
        widths = {"model_inp": max(ports.input_bits, 1), "model_out": max(ports.output_bits, 1)}
        for name, text in files.items():
            (folder / name).write_text(text)
            sources += [name] * name.endswith((".v", ".sv"))
        pins = list(dict.fromkeys([*trace.steps[0], "model_inp"]))
        lines.append(f"  reg c_{n}; wire [{widths.get(trace.pin, 1) - 1}:0] seen_{n};")
        lines += [f"  reg [{widths.get(pin, 1) - 1}:0] {pin}_{n} = 0;" for pin in pins]
        ways = ", ".join(f".{pin}({pin}_{n})" for pin in pins)
        lines.append(f"  {top} dut_{n} (.{trace.clock}(c_{n}), {ways}, .{trace.pin}(seen_{n}));")
        lines.append("  initial begin")
        for number, step in enumerate(trace.steps):
            lines.append(f"    c_{n} = 0; #1;")
            lines += [f"    {pin}_{n} = {widths.get(pin, 1)}'h{value:x};" for pin, value in step.items()]
            lines.append("    #1;" + f" c_{n} = 1; #2;" * (number < len(trace.steps) - 1))
        lines.append(f'    if (seen_{n} !== {widths.get(trace.pin, 1)}\'h{trace.due:x}) $display("WRONG {n}");')
        lines.append("  end")
    (folder / "witnesses.sv").write_text("\n".join([*lines, "endmodule", ""]))
    tools = icarus()
    command = [str(tools.iverilog), "-g2012", "-s", "dais_witnesses", "-o", "bench.vvp", *sources, "witnesses.sv"]
    for arguments in (command, [str(tools.vvp), "-n", "bench.vvp"]):
        done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, timeout=_SECONDS)
        if done.returncode != 0 and len(designs) > 1:  # Icarus does not accept one of them
            middle = len(designs) // 2
            halves = (designs[:middle], folder / "a"), (designs[middle:], folder / "b")
            return [answer for some, where in halves for answer in confirmed(some, where)]
        if done.returncode != 0:
            return [None]
    return [f"WRONG {n}" in done.stdout.split("\n") for n in range(len(designs))]
