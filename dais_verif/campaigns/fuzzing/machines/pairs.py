"""Pairs that must agree on every machine: engines, forms that are read back, the emitted Verilog, its proof."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dais_verif.base.errors import InputError, ViolationError
from dais_verif.base.temporary import temporary_folder
from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.fuzzing.machines.case import MachineCase
from dais_verif.campaigns.fuzzing.pairs.disagreement import Disagreement, NotJudged, require_tools
from dais_verif.compile.kernels.structures import Tensor
from dais_verif.compile.kernels.unfold import unfold
from dais_verif.golden import oracle
from dais_verif.golden.machine_batch import MachineRun, run_machine
from dais_verif.golden.members import run_instance
from dais_verif.hardware.emitter.machines import emit_machine
from dais_verif.hardware.ports.interface import Dut
from dais_verif.prover.clocked.machines.proof import prove_machine
from dais_verif.prover.results import ProofOptions
from dais_verif.simulation.machines.rows import interface_of
from dais_verif.simulation.machines.simulate import simulate_machine
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.spec.machine import parse_machine
from dais_verif.spec.machine.alirfsm import machine_json
from dais_verif.spec.machine.ports import CLOCK
from dais_verif.spec.machine.text import machine_text
from dais_verif.spec.program import FixedType
from dais_verif.spec.program.ports import Ports

__all__ = ["KERNEL_PAIRS", "MACHINE_PAIRS", "MachinePair"]

#: Seconds for each query of a proof; seconds for a build and for a run of one case.
_PROOF, _SIMULATION = 2.0, 60.0

Judge = Callable[[MachineCase], "Disagreement | None"]


class MachinePair(NamedTuple):
    """A pair of the same form as for programs. ``every``: the pair judges one in this many cases.

    ``needs``: external tools; a pair that needs some only runs if users name it.
    """

    judge: Judge
    every: int
    words: str
    needs: tuple[str, ...] = ()


def engines(case: MachineCase) -> Disagreement | None:
    """Compare fast engine and oracle: outputs before and after each edge, and the first broken promise."""
    for after in (False, True):
        for check in (False, True):
            fast, exact = (_run(case, engine, after=after, check=check) for engine in ("auto", "exact"))
            if isinstance(fast, str) or isinstance(exact, str):
                if fast != exact:
                    return Disagreement("engines", "violation", f"the fast engine: {fast}; the oracle: {exact}")
                continue
            for name, wanted in exact.outputs.items():
                if not np.array_equal(fast.outputs[name], wanted, equal_nan=True):
                    when = "after" if after else "before"
                    return Disagreement("engines", "output", f"{name} differs from the oracle's {when} an edge")
    return None


def _run(case: MachineCase, engine: str, **asked: Any) -> MachineRun | str:
    try:
        return run_machine(case.machine, case.arrays, engine=engine, **asked)
    except ViolationError as error:
        return str(error).partition(":")[0]
    except InputError as error:  # an output that float64 does not hold
        return str(error)


def text_form(case: MachineCase) -> Disagreement | None:
    """Compare a machine with the one read back from its text, and the texts of both."""
    text = machine_text(case.machine)
    back = parse_machine(text.encode())
    if back.hash != case.machine.hash:
        return Disagreement("text", "another machine", "the text of the machine reads back as a different machine")
    if machine_text(back) != text:
        return Disagreement("text", "another text", "the machine that was read back is written as a different text")
    return None


def json_form(case: MachineCase) -> Disagreement | None:
    """Compare a machine with the one read back from its ALIRFSM, if the format can express it."""
    with contextlib.suppress(InputError):
        data = machine_json(case.machine)
        if parse_machine(data).hash != case.machine.hash:
            return Disagreement(
                "alirfsm", "another machine", "the ALIRFSM of the machine reads back as a different machine"
            )
        return None
    raise NotJudged("ALIRFSM cannot express this machine")


def proved_rtl(case: MachineCase) -> Disagreement | None:
    """Return a disagreement if the prover refutes the emitted Verilog."""
    from dais_verif.prover.slang import elaborate

    if not case.machine.registers or not any(kind.width for one in case.machine.outputs for kind in one.types):
        raise NotJudged("the machine has no registers, or no output bits")
    with temporary_folder() as folder:
        source = Path(folder.path, "model.v")
        source.write_text(emit_machine(case.machine))
        netlist = elaborate([source], "model", {})
    options = ProofOptions(timeout=_PROOF, check=False, jobs=1, declared=False, sample=0.0)
    try:
        proof = prove_machine(case.machine, netlist, CLOCK, options).proof
    except InputError as error:
        raise NotJudged(str(error)) from None
    if proof.verdict is Verdict.RTL_MISMATCH and any(one.initial is None for one in case.machine.registers):
        raise NotJudged("registers without initial values are left to simulators")
    if proof.verdict is Verdict.RTL_MISMATCH:
        return Disagreement("prove", "refuted", f"the emitted RTL is refuted: {proof.message}")
    if proof.verdict is not Verdict.PASS:
        raise NotJudged(proof.message)
    return None


def in_simulator(name: str) -> Judge:
    """Return the judge that compares simulator ``name`` with the golden model, in every known bit from power-up."""

    def judge(case: MachineCase) -> Disagreement | None:
        require_tools((name,))
        interface = interface_of(case.machine, CLOCK)
        with temporary_folder() as folder:
            source = Path(folder.path, "model.v")
            source.write_text(emit_machine(case.machine))
            design = RtlDesign((source,), "model", dut=Dut(interface, Ports((), ()), ()))
            found = simulate_machine(
                case.machine,
                case.input_sequences,
                design,
                interface,
                folder.path,
                simulators=(name,),
                check=False,
                timeout=_SIMULATION,
            )
        if found.verdict is Verdict.PASS:
            return None
        if found.verdict is Verdict.NOT_RUN:
            raise NotJudged(found.message)
        return Disagreement(name, found.verdict.value, found.message.replace(str(folder.path), ""))

    return judge


def unfolded(case: MachineCase) -> Disagreement | None:
    """Compare the members of a kernel, run one by one, with the program of all members in the oracle."""
    request = case.request
    if request is None:
        raise NotJudged("the case has no kernel")
    instance, samples = request.instance, request.samples
    program = unfold(instance)
    found = run_instance(instance, samples, check=False)
    for sample in range(len(samples[0]) if samples else 0):
        row = [
            int(raw) * oracle.two(-f)
            for array, f in zip(samples, request.fractions, strict=False)
            for raw in array[sample].ravel().tolist()
        ]
        right = oracle.outputs_of(program, oracle.trace(program, row, violations=[]))
        raws = [int(raw) for array in found for raw in array[sample].ravel().tolist()]
        tensors = zip(found, request.params.output_tensors, strict=True)
        grids = [_grid(tensor) for array, tensor in tensors for _ in range(array[sample].size)]
        if [raw * oracle.two(-f) for raw, f in zip(raws, grids, strict=True)] != list(right):
            return Disagreement(
                "unfolded", "output", f"sample {sample}: members compute other numbers than the program"
            )
    return None


def _grid(tensor: Tensor) -> int:
    """Return the fractional bits of an output."""
    if not isinstance(tensor.data_type, FixedType):
        raise NotJudged("an output does not have a fixed-point type")
    return tensor.data_type.f


MACHINE_PAIRS: dict[str, MachinePair] = {
    "engines": MachinePair(engines, 1, "the fast engine of machines and the oracle"),
    "text": MachinePair(text_form, 1, "a machine and its text, read back"),
    "alirfsm": MachinePair(json_form, 1, "a machine and its ALIRFSM, read back"),
    "prove": MachinePair(proved_rtl, 4, "the emitted Verilog and the prover"),
    **{
        name: MachinePair(in_simulator(name), 1, f"the emitted Verilog in {name}, cycle by cycle", (name,))
        for name in ("icarus", "verilator")
    },
}

KERNEL_PAIRS = {
    "unfolded": MachinePair(unfolded, 1, "members of a kernel and its unfolded program"),
    **MACHINE_PAIRS,
    "prove": MACHINE_PAIRS["prove"]._replace(every=16),  # each case takes about seven seconds
}
