"""Replay a prover's counterexample in the golden model and in simulators, whose results take precedence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dais_verif.base.errors import ToolError
from dais_verif.base.files import write_atomically
from dais_verif.base.own_command import own_command
from dais_verif.base.toolchain.rtl_files import is_vhdl
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.ports.interface import Clocking, Dut
from dais_verif.hardware.ports.ports_file import PortsFile
from dais_verif.record.simulation import ENDED_BY_RTL
from dais_verif.simulation.simulators.build import SIMULATORS, RtlDesign, simulators_for
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch
from dais_verif.spec.program.ports import Ports
from dais_verif.subject.given import path_of
from dais_verif.verbs.design_rtl import design_of
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.progress import Progress
from dais_verif.verbs.proof.request import ProveRequest
from dais_verif.verbs.vectors import decimal, real_inputs, signed_inputs
from dais_verif.verbs.work_folder import WorkFolder

if TYPE_CHECKING:
    from dais_verif.prover.results import Proof
    from dais_verif.simulation.verify import Finding

__all__ = [
    "COUNTEREXAMPLE",
    "judge_replay",
    "replay_counterexample",
    "replay_handshake",
    "several_readings",
    "simulate_command",
    "simulate_out_of_step",
    "with_found_pins",
]

#: The vector on which a design is wrong, in the folder of a run.
COUNTEREXAMPLE = "counterexample.csv"

#: The reset of a pipeline whose pins were not given, as in emitted RTL.
_RESET = "rst"

#: The number of vectors to show an error of a pipeline.
_VECTORS = 256

#: Why a simulator may show no error for undefined bits, whose names follow: it takes one branch, or has no X.
_OPEN = "the simulation gets the right value by chance, since the outputs depend on undefined values: "

#: Possible verdicts of a simulator on a vector that the proof found to be wrong.
_CONFIRMED = (Verdict.RTL_MISMATCH, Verdict.X_IN_OUTPUT, Verdict.SIMULATORS_DISAGREE)


def with_found_pins(dut: Dut, proof: Proof) -> Dut:
    """Return the design with the pins and the latency that the proof found.

    Other inputs are tied to the values at which no reset is active, or to 0.
    """
    if proof.timing is None:
        return dut
    clocking = dut.interface.clocking
    if clocking is None:  # no active levels were given: use those that the proof inferred
        held = proof.held.get(_RESET)
        reset = None if held is None else _RESET
        clocking = Clocking(proof.timing.clock, None, reset, held == 1, proof.timing.enable)
    interface = replace(dut.interface, clocking=replace(clocking, latency=proof.timing.latency))
    known = {*interface.ports, *(wire.name for wire in interface.inputs)}
    open_inputs = tuple((name, proof.held.get(name, 0)) for name in proof.inputs if name not in known)
    return replace(dut, interface=replace(interface, ties=(*interface.ties, *open_inputs)))


def replay_counterexample(
    request: ProveRequest, program: Program, proof: Proof, design: RtlDesign, folder: WorkFolder, progress: Progress
) -> Finding:
    """Return the results of the golden model and simulators. ``design``: has the pins that the proof found.

    If the request names no simulator, the first that builds the RTL is used.
    """
    # Imported here: a proof that succeeds needs no simulator.
    from dais_verif.simulation.verify import SimulationOptions, verify
    from dais_verif.stimulus import batch_of_raw

    assert proof.counterexample is not None
    simulator, check = request.simulator, not request.unchecked
    vector, elements = proof.counterexample.vector, proof.elements
    row = np.array([signed_inputs(program, vector, elements)], dtype=object).reshape(1, program.n_in)
    batch = batch_of_raw(Batch.of(row, program.n_in), Ports(elements, ()))
    cells = map(decimal, real_inputs(program, vector, elements))
    write_atomically(folder.path / COUNTEREXAMPLE, (",".join(cells) + "\n").encode())
    if any(map(is_vhdl, design.sources)):
        tries = [simulators_for(simulator, design.sources)]
    else:
        tries = [(simulator,)] if simulator in SIMULATORS else [SIMULATORS] if simulator else [(s,) for s in SIMULATORS]
    with progress.working("replaying the counterexample"):
        first = verify(program, batch, design, folder.path, SimulationOptions(tries[0], check=check))
        if first.verdict is not Verdict.TOOL_FAILURE or len(tries) == 1:
            return first
        second = verify(program, batch, design, folder.path, SimulationOptions(tries[1], check=check))
        # A simulator without X may show no error for undefined bits.
        return first if second.verdict is Verdict.PASS else second


def replay_handshake(proof: Proof, dut: Dut, design: RtlDesign, folder: WorkFolder) -> Proof:
    """Return ``proof``, which found a broken handshake, updated by the replay in a simulator."""
    from dais_verif.simulation.diagnosis.trace_replay import replay_trace

    handshake, clocking = proof.handshake, dut.interface.clocking
    assert handshake is not None and clocking is not None and clocking.valid_out is not None
    try:
        seen = replay_trace(design, dut.interface, handshake.trace, clocking.valid_out, folder.path / "handshake")
    except ToolError as error:
        return replace(proof, verdict=Verdict.TOOL_FAILURE, message=f"{proof.message}; not simulated: {error}")
    message = f"{proof.message}: it is {seen} in Icarus"
    verdict = proof.verdict
    proved = proof.proved_outputs
    if seen == str(handshake.due):
        proved = ()
        verdict, message = Verdict.UNKNOWN, f"{message}, which does not confirm the proof; please report this"
    return replace(
        proof, verdict=verdict, message=message, handshake=replace(handshake, found=seen), proved_outputs=proved
    )


def simulate_out_of_step(
    request: ProveRequest,
    program: Program,
    problem: Exception,
    asked: DesignRequest,
    said: PortsFile | None,
    folder: WorkFolder,
    progress: Progress,
) -> tuple[Proof, RtlDesign, Finding] | None:
    """Return the simulation of a design whose registers do not advance together, if it finds an error.

    Vectors come with bubbles, stalls and resets if the design has pins for them. None: there is no error, or the clock
    is unknown.
    """
    from dais_verif.prover.clocked.registers.latency import OutOfStep
    from dais_verif.prover.results import Proof
    from dais_verif.simulation.verify import SimulationOptions, verify
    from dais_verif.stimulus import Generated

    if not isinstance(problem, OutOfStep) or (said is not None and said.clocking is None):
        return None
    design = design_of(program, asked, folder.path)
    for simulator in simulators_for(None, design.sources):
        with progress.working("simulating registers that do not correspond"):
            options = SimulationOptions((simulator,), check=not request.unchecked, seed=request.seed)
            finding = verify(program, Generated([program], _VECTORS, request.seed), design, folder.path, options)
        if finding.verdict is not Verdict.TOOL_FAILURE:  # otherwise another simulator may be able to build the RTL
            break
    if finding.verdict not in _CONFIRMED:
        return None
    message = f"{problem}; {simulator}: {finding.message}"
    return Proof(finding.verdict, message, [], [], [], 0, False, False), design, finding


def simulate_command(request: ProveRequest, asked: DesignRequest, design: RtlDesign, folder: WorkFolder) -> str:
    """Return the command that runs the counterexample."""
    layout = request.layout
    arguments = ["sim", path_of(request.program), *(["--layout", layout] if layout else [])]
    arguments += ["--ports", str(asked.ports)] if asked.ports else []
    clocking = design.dut.interface.clocking if design.dut else None
    if clocking is not None:
        reset = f"{clocking.reset}:low" if clocking.reset and clocking.reset_low else clocking.reset
        pins = {"--clock": clocking.clock, "--latency": clocking.latency, "--reset": reset, "--enable": clocking.enable}
        pins |= {"--valid-in": clocking.valid_in, "--valid-out": clocking.valid_out}
        arguments += [word for option, pin in pins.items() if pin is not None for word in (option, str(pin))]
    arguments += ["--top", design.top]
    arguments += [word for source in design.sources for word in ("--rtl", str(source))]
    arguments += [word for file in asked.data for word in ("--data", str(file))]
    return own_command([*arguments, "--inputs", str(folder.path / COUNTEREXAMPLE), "--vectors", "0"])


def judge_replay(proof: Proof, finding: Finding, readings: Sequence[str] = ()) -> Proof:
    """Return ``proof`` updated by the replay: the results of simulators and golden model take precedence.

    ``readings``: warnings that macros of some tools turn the RTL into another design, which would explain
    differences.
    """
    if finding.verdict in _CONFIRMED:
        return replace(proof, verdict=finding.verdict)
    if finding.verdict is Verdict.PROGRAM_INVALID:  # an output that its port cannot hold, whatever the RTL does
        return replace(proof, verdict=finding.verdict, message=finding.message)
    if finding.verdict is Verdict.TOOL_FAILURE and ENDED_BY_RTL in finding.message:  # the run gave no output
        return replace(proof, verdict=Verdict.RTL_MISMATCH, message=f"{proof.message}; replayed: {finding.message}")
    message = f"{proof.message}; not replayed: {finding.message}"
    if finding.verdict is Verdict.TOOL_FAILURE and any(result.stopped for result in finding.simulators):
        return replace(proof, verdict=Verdict.UNKNOWN, proved_outputs=(), message=message)  # a bound check of VHDL
    if finding.verdict is Verdict.TOOL_FAILURE:
        return replace(proof, verdict=finding.verdict, message=message)
    from dais_verif.prover.proof import UNDEFINED  # already imported by the proof

    why = several_readings(readings) if readings else "please report this"
    if not readings and UNDEFINED in proof.message:
        why = _OPEN + proof.message.partition(UNDEFINED)[2]
    return replace(
        proof,
        verdict=Verdict.UNKNOWN,
        proved_outputs=(),
        message=f"the proof found a counterexample that the simulation does not confirm ({finding.verdict.value}:"
        f" {finding.message}); {why}",
    )


def several_readings(readings: Sequence[str]) -> str:
    """Return the message for RTL that ``readings`` warn of, if proof and simulation differ."""
    where = "; ".join(reading.partition(":")[0] for reading in readings)
    return f"{where}, so simulators may have run a different design: remove it from the RTL"
