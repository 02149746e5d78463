"""The proof that RTL does what a machine does, for all inputs and in every cycle.

It is an induction over the edges of the clock. Registers of the RTL correspond to elements of the machine's registers.
At power-up they hold the same; and if they do in one cycle, then in that cycle all outputs are equal, whatever the
inputs are, and after its edge they hold the same again. Where that fails, both are run from power-up to find a sequence
of inputs that shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dais_verif.machine import Machine
from dais_verif.machine.step import Step, step_of
from dais_verif.prover.machines.both_sides import RtlCycle, initial_bits, read_rtl
from dais_verif.prover.machines.bounded import cycles_until_equal, search_from_power_up
from dais_verif.prover.machines.correspondence import Run, match_by_name
from dais_verif.prover.machines.cycle import Cycle, cycle_of
from dais_verif.prover.machines.dependence import seen_from_outside
from dais_verif.prover.machines.invariants import bounded, bounds_of
from dais_verif.prover.machines.op_signals import credible, named_ops
from dais_verif.prover.machines.registers import Open, Place, open_registers
from dais_verif.prover.machines.sequences import Found, run_side_by_side
from dais_verif.prover.netlist import Netlist
from dais_verif.prover.proof import prove
from dais_verif.prover.results import Proof, ProofOptions, ProofWatcher
from dais_verif.prover.terms import extract
from dais_verif.record.proof import Status
from dais_verif.verdict import Verdict

__all__ = ["MachineProof", "prove_machine"]

#: How long sequences are looked for: at random, so many at once; and by the solver.
_SEQUENCES, _CYCLES, _SECONDS = 64, 400, 6.0
_SOLVER_CYCLES, _SOLVER_SECONDS = 64, 12.0
#: Edges after which registers that hold something else at power-up must hold what they correspond to.
_FIRST_CYCLES = 4
_SHOWN = 4


@dataclass(frozen=True)
class MachineProof:
    """``proof``: of one cycle, with the verdict on all. ``claims``: what its outputs are, in words.

    ``registers``: which of the RTL's hold what of the machine's. ``invariants``: what was proved of the state, and
    ``assumed``: what was not, both in words. ``found``: a sequence that shows a difference.
    """

    proof: Proof
    step: Step
    claims: tuple[str, ...]
    registers: tuple[tuple[str, str], ...]
    invariants: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    found: Found | None = None


def prove_machine(
    machine: Machine, netlist: Netlist, clock: str, options: ProofOptions, watcher: ProofWatcher | None = None
) -> MachineProof:
    """Prove that ``netlist``, clocked by its input ``clock``, does what ``machine`` does.

    Raises ``InputError`` if its ports do not fit, or its registers are none of such a design.
    """
    watcher = watcher or ProofWatcher()
    step = step_of(machine)
    opened = open_registers(netlist, clock)
    named = named_ops(step, opened.netlist)
    rtl = read_rtl(machine, opened, list(named.values()))
    visible = seen_from_outside(step)
    runs = [run for run in match_by_name(machine, step, opened) if run.element in visible]
    wrong = _wrong_at_first(machine, step, opened, runs)
    open_ = [*_not_initialised(machine, step, opened, runs), *_loose(opened, runs)]
    watcher.progress("bounds", 0, 1)
    bounds = bounds_of(machine, step, options, watcher) if options.check else {}
    cycle = cycle_of(machine, step, opened, runs)
    cycle = replace(cycle, program=bounded(cycle.program, len(step.inputs), bounds))
    named = credible(step, cycle, named, options.seed)
    connecting = frozenset(index for index in range(cycle.program.n_ops) if not _of_a_block(step, index))
    proof = prove(cycle.program, cycle.netlist, cycle.dut, options, watcher, named, connecting)
    result = MachineProof(
        proof=replace(proof, bounded=False),
        step=step,
        claims=cycle.claims,
        registers=tuple((_bits(run.place), str(step.state[run.element])) for run in runs),
        invariants=tuple(f"{b.lo} <= {step.state[n]} <= {b.hi}, as raw integers" for n, b in sorted(bounds.items())),
        assumed=tuple(_assumed(machine)),
    )
    if proof.verdict is Verdict.PASS and not open_:
        edges: int | None = 0
        if wrong:  # what is overwritten before anything reads it
            seconds = min(_SOLVER_SECONDS, options.timeout)
            edges = cycles_until_equal(machine, step, opened, rtl, runs, cycles=_FIRST_CYCLES, seconds=seconds)
        if edges is not None:
            return replace(result, proof=replace(result.proof, message=_passed(result, proof, machine, edges)))
    why = _why(cycle, proof, [*open_, *wrong])
    return _with_sequence(machine, opened, rtl, result, why, options, watcher)


def _of_a_block(step: Step, index: int) -> bool:
    return index < len(step.owners) and step.owners[index] is not None


def _wrong_at_first(machine: Machine, step: Step, opened: Open, runs: Sequence[Run]) -> list[str]:
    """Registers that hold something else at power-up than the machine says, in words."""
    found = []
    initial = initial_bits(machine, step)
    for run in runs:
        bits = initial[run.element]
        if bits is None:
            continue
        wanted = bits >> run.at & ((1 << run.place.width) - 1)
        held = extract(opened.initial[run.place.signal], run.place.low, run.place.width)
        if held.op == "const" and held.value != wanted:
            has = f"register {_bits(run.place)} holds {held.value} at power-up"
            found.append(f"{has}, and {step.state[run.element]} holds {wanted}")
    return found


def _not_initialised(machine: Machine, step: Step, opened: Open, runs: Sequence[Run]) -> list[str]:
    """Registers that are X at power-up, and are to hold something: what simulation makes of X no value tells."""
    initial = initial_bits(machine, step)
    return [
        f"register {_bits(run.place)} is not initialised, and {step.state[run.element]} is"
        for run in runs
        if initial[run.element] is not None
        and extract(opened.initial[run.place.signal], run.place.low, run.place.width).op != "const"
    ]


def _loose(opened: Open, runs: Sequence[Run]) -> list[str]:
    """Registers without a counterpart that nothing initialises: in simulation they are X, whatever the values are."""
    taken = {(run.place.signal, bit) for run in runs for bit in range(run.place.low, run.place.low + run.place.width)}
    found = []
    for place in opened.clocked:
        bits = [b for b in range(place.low, place.low + place.width) if (place.signal, b) not in taken]
        if any(extract(opened.initial[place.signal], bit, 1).op != "const" for bit in bits):
            found.append(f"register {_bits(place)} corresponds to nothing in the machine, and nothing initialises it")
    return found


def _assumed(machine: Machine) -> list[str]:
    open_ = [signal.name for signal in machine.registers if signal.initial is None]
    if not open_:
        return []
    shown = ", ".join(open_[:_SHOWN]) + ", ..." * (len(open_) > _SHOWN)
    return [f"registers that nothing initialises hold some value at power-up: {shown}"]


def _bits(place: Place) -> str:
    name = place.signal.name
    if (place.low, place.width) == (0, place.signal.width):
        return name
    return f"{name}[{place.low + place.width - 1}:{place.low}]" if place.width > 1 else f"{name}[{place.low}]"


def _passed(result: MachineProof, proof: Proof, machine: Machine, edges: int) -> str:
    outputs = len(result.step.outputs)
    equal = f"all {outputs} outputs equal the machine's" if outputs != 1 else "the output equals the machine's"
    where = " as long as the machine keeps its promises" * proof.conditional
    held = f"{len(result.registers)} registers correspond" if len(result.registers) != 1 else "1 register corresponds"
    message = f"in every cycle from power-up, for all inputs{where}: {equal}; {held}"
    if edges:
        message += f", {edges} edge{'s' * (edges != 1)} after power-up at the latest"
    if proof.bounded:
        message += f"; proved of the state: {'; '.join(result.invariants[:_SHOWN])}"
        message += ", ..." * (len(result.invariants) > _SHOWN)
    return message + "".join(f"; assumed: {text}" for text in result.assumed)


def _why(cycle: Cycle, proof: Proof, at_first: Sequence[str]) -> str:
    """What of the induction does not hold. ``at_first``: what is wrong at power-up."""
    if at_first:
        return at_first[0]
    open_ = [cycle.claims[c.number] for c in proof.outputs if c.status is not Status.PROVED]
    if open_:
        shown = ", ".join(open_[:_SHOWN]) + ", ..." * (len(open_) > _SHOWN)
        return (
            f"{len(open_)} of {len(proof.outputs)} claims on outputs and registers do not hold in every state: {shown}"
        )
    return proof.message


def _with_sequence(
    machine: Machine,
    opened: Open,
    rtl: RtlCycle,
    result: MachineProof,
    why: str,
    options: ProofOptions,
    watcher: ProofWatcher,
) -> MachineProof:
    """``result`` in the light of a sequence from power-up that shows a difference, if one is found."""
    watcher.progress("sequences from power-up", 0, _SEQUENCES)
    found = run_side_by_side(
        machine,
        result.step,
        opened,
        rtl,
        sequences=_SEQUENCES,
        cycles=_CYCLES,
        seconds=_SECONDS,
        seed=options.seed,
    )
    if found is None:
        watcher.progress("cycles from power-up", 0, _SOLVER_CYCLES)
        seconds = min(_SOLVER_SECONDS, options.timeout)
        found = search_from_power_up(machine, result.step, opened, rtl, cycles=_SOLVER_CYCLES, seconds=seconds)
    verdict = Verdict.UNKNOWN if found is None else Verdict.RTL_MISMATCH
    shown = "no sequence from power-up was found that shows a difference, but such a state may be reached later"
    message = f"{why}; {shown}" if found is None else f"{found.output} is wrong in cycle {len(found.inputs) - 1}: {why}"
    proof = replace(result.proof, verdict=verdict, message=message, counterexample=None, proved_outputs=())
    return replace(result, proof=proof, found=found)
