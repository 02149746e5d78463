"""Prove that RTL is equivalent to a machine, for all inputs and in every cycle.

The proof is an induction over the edges of the clock. Registers of the RTL correspond to elements of the machine's
registers. At power-up, corresponding registers are equal. If they are equal in one cycle, then all outputs are equal in
that cycle for all inputs, and the registers are equal again after its edge. If the proof fails, both sides are run from
power-up to find a sequence of inputs that shows a difference.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dais_verif.base.errors import ProofError
from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.prover.boundary import Boundary
from dais_verif.prover.clocked.machines.absent import Absent, absent_bits, seen_from_outside
from dais_verif.prover.clocked.machines.both_sides import RtlCycle, initial_bits, read_rtl
from dais_verif.prover.clocked.machines.bounded import cycles_until_equal, search_from_power_up
from dais_verif.prover.clocked.machines.correspondence import Meaning, Run, match_by_name, runs_of
from dais_verif.prover.clocked.machines.cycle import Cycle, cycle_of
from dais_verif.prover.clocked.machines.guesses import Candidates, Guesses, at_power_up, candidates_of
from dais_verif.prover.clocked.machines.invariants import bounded, bounds_of
from dais_verif.prover.clocked.machines.registers import Open, Place, open_registers
from dais_verif.prover.clocked.machines.sequences import Found, PromisesKept, run_side_by_side
from dais_verif.prover.netlist import Netlist, Signal
from dais_verif.prover.obligations import Builder
from dais_verif.prover.proof import prove
from dais_verif.prover.random_simulation import differing_rows, random_vectors, trace
from dais_verif.prover.results import Proof, ProofOptions, ProofWatcher
from dais_verif.prover.terms import extract
from dais_verif.record.proof import Status
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.ports import port_names
from dais_verif.spec.machine.step import Step, step_of
from dais_verif.spec.machine.unknowns import step_with_unknowns
from dais_verif.spec.program.ranges import Interval

__all__ = ["MachineProof", "credible", "named_ops", "prove_machine"]


#: Limits of the random search for a sequence (sequences at once, cycles, seconds), and limits of the solver's search.
_SEQUENCES, _CYCLES, _SECONDS = 64, 400, 6.0
_SOLVER_CYCLES, _SOLVER_SECONDS = 64, 12.0
#: The number of edges after which registers with wrong power-up values must equal the elements to which they
#: correspond.
_FIRST_CYCLES = 4
#: The largest number of proofs that are tried, each with different guesses of what registers hold.
_ROUNDS = 12
_SHOWN = 4


@dataclass(frozen=True)
class MachineProof:
    """The proof that RTL is equivalent to a machine.

    ``proof``: the proof of one cycle, with the verdict on the whole. ``claims``: what each output of that cycle stands
    for, in words. ``registers``: pairs of an RTL register and a machine element, in words. ``invariants``: proved
    properties of the state, and ``assumed``: assumptions about it, in words. ``found``: a sequence that shows a
    difference.
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
    """Prove that ``netlist``, clocked by its input ``clock``, is equivalent to ``machine``.

    Raises ``InputError`` if the ports of ``netlist`` do not fit, or if a register has another clock or an asynchronous
    reset.
    """
    watcher = watcher or ProofWatcher()
    step = step_of(machine)
    _require_inputs(machine, netlist)
    opened = open_registers(netlist, clock)
    named = named_ops(step, opened.netlist)
    rtl = read_rtl(machine, opened, list(named.values()))
    watcher.progress("bounds", 0, 1)
    bounds = bounds_of(machine, step, options, watcher) if options.check else {}
    work = _Work(machine, step, opened, rtl, named, bounds, options, watcher)
    by_name = match_by_name(machine, step, opened)
    visible = seen_from_outside(step)
    runs = [run for run in by_name if run.element in visible]
    result: MachineProof | None = None
    if not _without(opened, by_name):
        absent = absent_bits(machine, step, opened, runs, visible) if options.bits else None
        result = work.attempt(runs, absent)
        if result.proof.verdict is Verdict.PASS:
            return result
    watcher.progress("registers matched", 0, 1)
    said = {bit: meaning for run in runs for bit, meaning in run.bits()}
    candidates, found = candidates_of(machine, step, opened, rtl, said, options.seed)
    if found is None or None in initial_bits(machine, step):
        guessed = work.guessed(candidates)
        if guessed.proof.verdict is Verdict.PASS:
            return guessed
        result = result or guessed
    return _with_sequence(machine, opened, rtl, result or work.attempt(runs), options, watcher)


def _require_inputs(machine: Machine, netlist: Netlist) -> None:
    """Raise ``InputError`` if ``netlist`` lacks an input of ``machine``: register matching must drive all of them."""
    names = port_names(machine)
    for signal in machine.inputs:
        if names[signal.name] not in netlist.inputs:
            raise ProofError(f"module {netlist.top!r} has no input {names[signal.name]!r}; see docs/any-dut.md")


@dataclass(frozen=True)
class _Work:
    machine: Machine
    step: Step
    opened: Open
    rtl: RtlCycle
    named: Mapping[int, Signal]
    bounds: dict[int, Interval]
    options: ProofOptions
    watcher: ProofWatcher

    def attempt(self, runs: Sequence[Run], absent: Absent | None = None) -> MachineProof:
        """Try to prove that ``runs`` correspond in every cycle and that all outputs are equal.

        ``absent``: state bits that the RTL lacks; their proposed values are proved together with the rest.
        """
        machine, step, opened, bounds, options = self.machine, self.step, self.opened, self.bounds, self.options
        real, fixed = runs, {}
        if absent is not None:
            opened, runs, fixed = absent.opened, [*runs, *absent.runs], dict(absent.fixed)
        wrong = _wrong_at_first(machine, step, opened, runs)
        open_ = [*_not_initialised(machine, step, opened, runs), *_loose(opened, runs)]
        cycle = cycle_of(machine, step, opened, runs)
        cycle = replace(cycle, program=bounded(cycle.program, len(step.inputs), bounds))
        named = credible(step, cycle, self.named, options.seed)
        connecting = frozenset(index for index in range(cycle.program.n_ops) if not _of_a_block(step, index))
        proof = prove(cycle.program, cycle.netlist, cycle.dut, options, self.watcher, named, connecting, fixed)
        result = MachineProof(
            proof=replace(proof, bounded=False),
            step=step,
            claims=cycle.claims,
            registers=tuple((_bits(run.place), _held(step, run)) for run in real),
            invariants=(
                *(_bound(step, n, bounds[n]) for n in sorted(bounds)),
                *(absent.told if absent is not None else ()),
            ),
            assumed=tuple(_assumed(machine)),
        )
        if proof.verdict is Verdict.PASS and not open_:
            edges: int | None = 0
            if wrong and absent is not None:
                edges = None
            elif wrong:  # wrong power-up values may be overwritten before anything reads them
                seconds = min(_SOLVER_SECONDS, options.timeout)
                edges = cycles_until_equal(machine, step, opened, self.rtl, runs, cycles=_FIRST_CYCLES, seconds=seconds)
            if edges is not None:
                return replace(
                    result,
                    proof=replace(result.proof, message=_passed(result, proof, machine, edges, absent is not None)),
                )
        why = _why(cycle, proof, [*open_, *wrong])
        return replace(result, proof=replace(result.proof, verdict=Verdict.UNKNOWN, message=why))

    def guessed(self, candidates: Candidates) -> MachineProof:
        """Try proofs with the correspondences that random sequences suggest; return the last one."""
        guesses = Guesses(
            self.machine,
            self.step,
            self.opened,
            self.rtl,
            self.bounds,
            candidates,
            check=self.options.check,
            seed=self.options.seed,
        )
        for _ in range(_ROUNDS):
            bits = guesses.settle()
            runs = runs_of(bits)
            result = self.attempt(runs)
            if result.proof.verdict is Verdict.PASS:
                break
            failed: list[tuple[Signal, int]] = []
            counterexample = result.proof.counterexample
            if counterexample is not None:
                failed = guesses.failing(bits, guesses.on(counterexample.vector))
            if not failed:
                lost = (Status.REFUTED,) if counterexample is not None else (Status.REFUTED, Status.UNKNOWN)
                claims = [c.number - len(self.step.outputs) for c in result.proof.outputs if c.status in lost]
                failed = [bit for number in claims if number >= 0 for bit, _ in runs[number].bits()]
            if not guesses.replace(failed, bits):
                break
        return result


def _of_a_block(step: Step, index: int) -> bool:
    return index < len(step.owners) and step.owners[index] is not None


def _wrong_at_first(machine: Machine, step: Step, opened: Open, runs: Sequence[Run]) -> list[str]:
    """Return messages about registers whose power-up value differs from the value in the machine."""
    found = []
    initial = initial_bits(machine, step)
    for run in runs:
        bits = 0 if run.element is None else initial[run.element]
        if bits is None:
            continue
        wanted = (bits >> run.at ^ -run.inverted) & ((1 << run.place.width) - 1)
        held = extract(opened.initial[run.place.signal], run.place.low, run.place.width)
        if held.op == "const" and held.value != wanted:
            has = f"register {_bits(run.place)} holds {held.value} at power-up"
            found.append(f"{has}, must hold {wanted} ({_held(step, run)})")
    return found


def _not_initialised(machine: Machine, step: Step, opened: Open, runs: Sequence[Run]) -> list[str]:
    """Return messages about uninitialised registers that need a power-up value or may differ from each other."""
    initial = initial_bits(machine, step)
    taken: dict[Meaning, int | None] = {}
    found = []
    for run in runs:
        if run.element is not None and initial[run.element] is None:
            found += _twice_at_first(opened, run, taken)
        elif extract(opened.initial[run.place.signal], run.place.low, run.place.width).op != "const":
            begins = f"{_held(step, run)} of the machine, to which it corresponds, has an initial value"
            found.append(f"register {_bits(run.place)} of the RTL is not initialised, but {begins}")
    return found


def _twice_at_first(opened: Open, run: Run, taken: dict[Meaning, int | None]) -> list[str]:
    """Return messages about register bits for the same uninitialised machine bit that may differ at power-up."""
    found = []
    for bit, meaning in run.bits():
        first = at_power_up(opened, bit)
        begins = None if first is None else first ^ meaning.inverted
        one = meaning._replace(inverted=False)
        if one in taken and (begins is None or begins != taken[one]):
            found.append(
                f"register {_bits(run.place)} and another for the same bits may hold different values at power-up"
            )
        taken[one] = begins
    return found


def _without(opened: Open, runs: Sequence[Run]) -> list[tuple[Signal, int]]:
    """Return the register bits without a correspondence."""
    taken = {bit for run in runs for bit, _ in run.bits()}
    return [
        (place.signal, bit)
        for place in opened.clocked
        for bit in range(place.low, place.low + place.width)
        if (place.signal, bit) not in taken
    ]


def _loose(opened: Open, runs: Sequence[Run]) -> list[str]:
    """Return messages about uninitialised registers without a correspondence, which are X in simulation."""
    found = {}
    for bit in _without(opened, runs):
        if at_power_up(opened, bit) is None:
            name = bit[0].name
            found[name] = f"register {name} corresponds to nothing in the machine, and nothing initialises it"
    return [*found.values()]


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


def _held(step: Step, run: Run) -> str:
    """Return in words what the place of ``run`` holds."""
    if run.element is None:
        return "ones" if run.inverted else "zeros"
    whole = step.program.ops[step.program.outputs[len(step.outputs) + run.element][0]].type.width
    last = run.at + run.place.width - 1
    part = f", bits {run.at} to {last}" if last > run.at else f", bit {run.at}"
    return "not " * run.inverted + str(step.state[run.element]) + part * (run.place.width < whole)


def _bound(step: Step, number: int, bound: Interval) -> str:
    return f"{bound.lo} <= {step.state[number]} <= {bound.hi}, as raw integers"


def _passed(result: MachineProof, proof: Proof, machine: Machine, edges: int, absent: bool) -> str:
    outputs = len(result.step.outputs)
    equal = f"all {outputs} outputs equal the machine's" if outputs != 1 else "the output equals the machine's"
    where = " as long as the machine keeps its promises" * proof.conditional
    held = counted(len(result.registers), "register corresponds", "registers correspond")
    message = f"in every cycle from power-up, for all inputs{where}: {equal}; {held}"
    if edges:
        message += f", {counted(edges, 'edge')} after power-up at the latest"
    if proof.bounded or absent:
        message += f"; proved invariants of the state: {'; '.join(result.invariants[:_SHOWN])}"
        message += ", ..." * (len(result.invariants) > _SHOWN)
    return message + "".join(f"; assumed: {text}" for text in result.assumed)


def _why(cycle: Cycle, proof: Proof, at_first: Sequence[str]) -> str:
    """Return a message about the part of the induction that failed. ``at_first``: messages about power-up."""
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
    options: ProofOptions,
    watcher: ProofWatcher,
) -> MachineProof:
    """Search for a sequence from power-up that shows a difference, and add the outcome to ``result``."""
    watcher.progress("sequences from power-up", 0, _SEQUENCES)
    open_, kept = None in initial_bits(machine, result.step), PromisesKept()
    found = run_side_by_side(
        machine,
        step_with_unknowns(machine) if open_ else result.step,
        opened,
        rtl,
        sequences=_SEQUENCES,
        cycles=_CYCLES,
        seconds=_SECONDS,
        seed=options.seed,
        watch=kept,
    )
    if found is None:
        watcher.progress("cycles from power-up", 0, _SOLVER_CYCLES)
        seconds = min(_SOLVER_SECONDS, options.timeout)
        found = search_from_power_up(machine, result.step, opened, rtl, cycles=_SOLVER_CYCLES, seconds=seconds)
    why = result.proof.message
    verdict = Verdict.UNKNOWN if found is None else Verdict.RTL_MISMATCH
    shown = "no sequence from power-up was found that shows a difference, "
    if kept.broken:  # promises were broken too early for a difference to show
        shown += f"and all sequences that were tried break a promise of the machine by cycle {kept.cycles}"
    else:
        shown += "but such a state may be reached later"
    message = (
        f"{why}; {shown}"
        if found is None
        else f"{found.output} is wrong in cycle {len(found.inputs) - 1}, before its edge: {why}"
    )
    proof = replace(result.proof, verdict=verdict, message=message, counterexample=None, proved_outputs=())
    return replace(result, proof=proof, found=found)


# Find the signals of a machine's ops in RTL, by the names of signals and of the instances that contain them.


#: The names that the emitter and alkaid give to the signal of op N of a block.
_OP = re.compile(r"(?:op_|v)(\d+)")

#: The number of ops of a block whose signals are sampled, and of vectors on which they are sampled.
_SAMPLE, _ROWS = 48, 64


def named_ops(step: Step, netlist: Netlist) -> dict[int, Signal]:
    """Return, in SSA order, the signal of each op of ``step`` found by its name; a name that occurs twice is ignored.

    The name of a block's instance is the name of the block, possibly with a prefix that ends in ``_``.
    """
    numbers = {owner: index for index, owner in enumerate(step.owners) if owner is not None}
    blocks = sorted({block for block, _ in numbers}, key=len, reverse=True)
    known: dict[str, str | None] = {}
    found: dict[int, list[Signal]] = {}
    for name, signal in netlist.signals.items():
        path, _, last = name.rpartition(".")
        match = _OP.fullmatch(last)
        if not path or match is None:
            continue
        if path not in known:
            instance = path.rpartition(".")[2]
            known[path] = next((b for b in blocks if instance == b or instance.endswith(f"_{b}")), None)
        index = numbers.get((known[path] or "", int(match[1])))
        if index is not None:
            found.setdefault(index, []).append(signal)
    return {index: found[index][0] for index in sorted(found) if len(found[index]) == 1}


def credible(step: Step, cycle: Cycle, named: Mapping[int, Signal], seed: int) -> dict[int, Signal]:
    """Return ``named`` without the signals of blocks in which names seem to denote other ops.

    A tool may number its ops differently. Names of a block are dropped if many sampled signals do not have the value of
    their op, computed from the signals of its operands.
    """
    boundary = Boundary.of(cycle.program, cycle.netlist, cycle.dut)
    builder = Builder(cycle.program, cycle.netlist, dict(named), boundary)
    found = trace(cycle.program, boundary.inputs, random_vectors(boundary.inputs, _ROWS, seed), _ROWS)
    blocks: dict[str, list[int]] = {}
    for index in named:
        owner = step.owners[index]
        assert owner is not None
        blocks.setdefault(owner[0], []).append(index)
    kept: dict[int, Signal] = {}
    for ops in blocks.values():
        sample = ops[:: max(len(ops) // _SAMPLE, 1)]
        wrong = sum(bool((differing_rows(builder.op(index), found) & ~found.broken).any()) for index in sample)
        if wrong <= max(len(sample) // 4, 1):
            kept |= {index: named[index] for index in ops}
    return dict(sorted(kept.items()))
