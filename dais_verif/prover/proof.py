"""The proof of a design: every op with a signal, then every output.

This proves the whole design for the following reason. The obligation of an op says: if the signals that its cone reads
hold the values of their ops, its own signal holds the value of its op, for all these values. The RTL has no loops (this
is checked), so signals can be ordered such that each signal reads only earlier ones. By induction, every signal holds
the value of its op for every input.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from msgspec.structs import replace as replace_fields

from dais_verif.base.errors import InputError, ProofError
from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.ports.interface import Clocking, Dut
from dais_verif.prover.arithmetic.residues import same_forms
from dais_verif.prover.boundary import Boundary
from dais_verif.prover.clocked.registers.control_inference import infer_controls
from dais_verif.prover.clocked.registers.delay_lines import straighten
from dais_verif.prover.clocked.registers.first_values import refuse_first_values, registers_of
from dais_verif.prover.clocked.registers.handshake import prove_handshake
from dais_verif.prover.clocked.registers.latency import infer_timing
from dais_verif.prover.clocked.registers.transition_system import extract_transition_system
from dais_verif.prover.gates.proof import sweep_netlist
from dais_verif.prover.lemmas import Assumptions
from dais_verif.prover.limits import Costs
from dais_verif.prover.netlist import Netlist, NoValue, Signal
from dais_verif.prover.obligations import Builder, Obligation
from dais_verif.prover.random_simulation import differing_outputs, random_vectors, trace
from dais_verif.prover.refinement import Refiner
from dais_verif.prover.results import Proof, ProofOptions, ProofWatcher
from dais_verif.prover.signal_correspondence import match_signals
from dais_verif.prover.solve.pool import Pool
from dais_verif.prover.solve.sampling import draw
from dais_verif.prover.terms import Term, leaves, var
from dais_verif.record.proof import Basis, Claim, Counterexample, Handshake, Method, Status, Timing, as_inputs
from dais_verif.spec.program import Program

__all__ = [
    "UNDEFINED",
    "all_obligations",
    "claim_of",
    "named_signals",
    "prove",
    "proved_outputs",
    "settled",
    "standing_outputs",
    "undefined_behind",
]


#: Separates the message of a proof from the names of undefined values in refuted claims.
UNDEFINED = "; the wrong value depends on undefined values: "

#: A literal X; the number distinguishes two of them on one line.
_NUMBERED_X = re.compile(r"^X \d+ (?:at|of) ")

#: The names of op N's signal from the emitter and from da4ml. Only the first pattern that matches any signal is used.
_NAMES = (re.compile(r"(?:.*\.)?op_(\d+)"), re.compile(r"v(\d+)"))

#: Begins the name of a signal that a block may set to something undefined.
_SIGNAL = "signal "

_EVERY = 256
#: With ``_MANY`` or more ops and no named signal, outputs are first compared as a whole, on ``_VECTORS`` vectors.
_MANY, _VECTORS = 100, 2048
#: The largest number of undefined bits, and of assertions, that a message names.
_SHOWN = 4


def prove(
    program: Program,
    netlist: Netlist,
    dut: Dut,
    options: ProofOptions,
    watcher: ProofWatcher | None = None,
    named: Mapping[int, Signal] | None = None,
    without: Container[int] = (),
    fixed: Mapping[tuple[int, int], int | tuple[int, int]] | None = None,
) -> Proof:
    """Prove that ``netlist``, combinational or a pipeline, computes ``program`` for all inputs, or refute it.

    ``dut``: how the ports of ``netlist`` carry the program. ``named``: the signals of ops; None: they are found by
    name. ``without``: ops for which no signal is searched. ``fixed``: for (input, bit): the constant, or the other
    (input, bit), that this bit equals; only bit-level proofs use it.

    Raises ``InputError`` if the ports do not fit the program, or if the RTL that the proof reads has loops, latches or
    X.
    """
    watcher = watcher or ProofWatcher()
    boundary = Boundary.of(program, netlist, dut)
    assumptions = Assumptions(program, boundary.inputs, options.declared)
    cut = named_signals(program, netlist) if named is None else dict(named)
    clocking = dut.interface.clocking
    system = None
    if clocking is not None and clocking.valid_out is not None:  # as in the RTL, before pins are held constant
        system = extract_transition_system(netlist, netlist.signals[clocking.valid_out], clocking.clock)
    straighten(netlist, boundary)  # without X, too, words of a pointer's cycle are delayed data
    registers = registers_of(netlist)
    held = infer_controls(netlist, boundary, [*boundary.result_ports, *cut.values()], clocking)
    boundary = boundary.holding({netlist.signals[name]: value for name, value in held.items()})
    pool = Pool(options, watcher)
    if options.bits or (netlist.bitwise and not cut):
        proof = _bit_by_bit(program, netlist, boundary, assumptions, clocking, options, watcher, fixed or {})
    else:
        proof = _op_by_op(program, netlist, boundary, assumptions, cut, without, clocking, options, watcher, pool)
    timing = proof.timing
    if proof.verdict is Verdict.PASS and timing is not None and registers:
        refuse_first_values(netlist, registers, boundary, timing)
    if proof.verdict is Verdict.PASS:
        pins = "".join(f"; {pin} held at {value}" for pin, value in held.items())
        proof = replace(proof, message=proof.message + pins + _left_out(netlist))
    said = clocking.latency if clocking else None
    if proof.verdict is Verdict.PASS and timing is not None and said not in (None, timing.latency):
        edges = f"{counted(timing.latency, 'edge')} of {timing.clock}"
        late = f"the outputs are right {edges} after their inputs, not {said}"
        proof = replace(proof, verdict=Verdict.RTL_MISMATCH, message=late, proved_outputs=())
    if proof.verdict is Verdict.PASS and system is not None and clocking is not None and timing is not None:
        watcher.progress("handshakes", 0, 1)
        proof = _with_handshake(
            proof, clocking, prove_handshake(system, clocking, timing.latency, pool.equal, options.seed)
        )
    return replace(
        proof,
        pins=(*netlist.inputs, *netlist.outputs),
        inputs=netlist.inputs,
        elements=boundary.inputs,
        held=held,
        left_out=tuple(netlist.left_out),
    )


def _op_by_op(
    program: Program,
    netlist: Netlist,
    boundary: Boundary,
    assumptions: Assumptions,
    cut: dict[int, Signal],
    without: Container[int],
    clocking: Clocking | None,
    options: ProofOptions,
    watcher: ProofWatcher,
    pool: Pool,
) -> Proof:
    """Prove RTL whose ops have signals."""
    guessed: dict[int, Signal] = {}
    missing = [op for op in program.ops if op.index not in cut and op.index not in without and op.type.width]
    if not cut and len(missing) >= _MANY:
        proof = _as_a_whole(program, netlist, boundary, assumptions, clocking, options, watcher)
        if proof is not None:
            return proof
    if missing:
        watcher.progress("signals matched", 0, len(missing))
        guessed = match_signals(program, boundary, netlist, cut, missing, assumptions, options.seed)
        cut = dict(sorted({**cut, **guessed}.items()))
    timing = infer_timing(netlist, boundary, list(cut.values()), clocking)
    builder = Builder(program, netlist, cut, boundary)
    obligations = all_obligations(builder, pool, watcher)
    costs = Costs()
    claims = {key: claim_of(key, obligation, cut, pool, costs) for key, obligation in obligations.items()}
    return settled(builder, obligations, claims, len(guessed), timing, assumptions, options, watcher, pool, costs)


def _as_a_whole(
    program: Program,
    netlist: Netlist,
    boundary: Boundary,
    assumptions: Assumptions,
    clocking: Clocking | None,
    options: ProofOptions,
    watcher: ProofWatcher,
) -> Proof | None:
    """Prove RTL without named ops by normal forms of its outputs, or refute it by vectors; None if neither succeeds."""
    timing = infer_timing(netlist, boundary, [], clocking)
    watcher.progress("vectors", 0, _VECTORS)
    vectors = assumptions.moved_inside(random_vectors(boundary.inputs, _VECTORS, options.seed))
    found = trace(program, boundary.inputs, vectors, _VECTORS)
    valid = assumptions.allowed(found)
    if options.check:
        valid &= ~found.broken
    wrong = [(j, rows & valid) for j, rows in differing_outputs(program, boundary, netlist, {}, found)]
    counterexample = None
    claims = {}
    for j, rows in wrong:
        claims["output", j] = Claim.of(("output", j), Status.UNKNOWN, Method.IDENTICAL)
        if rows.any():
            inputs = as_inputs(found.vector(int(np.argmax(rows))))
            counterexample = counterexample or Counterexample(inputs, j, None)
            claims["output", j] = replace_fields(claims["output", j], status=Status.REFUTED, inputs=inputs)
    if counterexample is None:
        watcher.progress("forms", 0, len(boundary.claimed))
        if not boundary.claimed or not same_forms(program, netlist, boundary):
            return None
        claims = {key: replace_fields(claim, status=Status.PROVED) for key, claim in claims.items()}
    points = "both have the same normal form as sums, with no op as cut point"
    proof = _proof(program, (), claims, len(claims), counterexample, timing, points, Costs())
    message = proof.message + ("" if counterexample is None else _behind(boundary, claims))
    return replace(proof, message=message, proved_outputs=proved_outputs(claims))


def settled(
    builder: Builder,
    obligations: dict[tuple[str, int], Obligation],
    claims: dict[tuple[str, int], Claim],
    guessed: int,
    timing: Timing | None,
    assumptions: Assumptions,
    options: ProofOptions,
    watcher: ProofWatcher,
    pool: Pool,
    costs: Costs,
) -> Proof:
    """Refine the ``claims`` that were not proved as they stand, and return the proof."""
    program, netlist, cut = builder.program, builder.netlist, dict(builder.cut)
    counterexample = None
    if any(claim.status is not Status.PROVED for claim in claims.values()):
        refiner = Refiner(program, netlist, builder, pool, options, watcher, assumptions, obligations, claims, costs)
        counterexample = refiner.run()
        claims = refiner.claims
    points = counted(len(cut), "op is a cut point", "ops are cut points")
    proof = _proof(program, cut, claims, len(pool), counterexample, timing, points, costs)
    if counterexample is not None:
        proof = replace(proof, message=proof.message + _undefined(obligations, claims, builder.boundary))
    dropped = tuple(sorted(set(cut) - set(builder.cut)))
    # Without a counterexample, refinement ends only when no proof rests on an unproved claim.
    standing = proved_outputs(claims) if counterexample is None else standing_outputs(program, obligations, claims)
    drawn = draw(obligations, claims, set(dropped), options)
    return replace(proof, guessed=guessed, dropped=dropped, proved_outputs=standing, drawn=drawn)


def all_obligations(builder: Builder, pool: Pool, watcher: ProofWatcher) -> dict[tuple[str, int], Obligation]:
    """Ask ``pool`` about all ops that are cut points, and all outputs, and return their obligations.

    Raises ``InputError`` if signals depend on themselves, or if an output port without data is not tied to 0.
    """
    obligations: dict[tuple[str, int], Obligation] = {}
    cut, boundary = builder.cut, builder.boundary
    for done, index in enumerate(cut):
        obligations["op", index] = builder.op(index)
        if done % _EVERY == 0:
            watcher.progress("ops read", done, len(cut))
    _refuse_loops({index: obligations["op", index].reads for index in cut}, cut)
    for j in boundary.claimed:
        obligations["output", j] = builder.output(j)
    tied = [builder.no_output(signal) for signal, wire in boundary.wires if not wire.width]
    pool.decide_all((o.rtl, o.wanted, o.given) for o in (*obligations.values(), *tied))
    if not all(pool.decide(o.rtl, o.wanted).decision.equal for o in tied):
        raise ProofError("the program has no output bits: its output port must be tied to 0, but is not")
    return obligations


def _bit_by_bit(
    program: Program,
    netlist: Netlist,
    boundary: Boundary,
    assumptions: Assumptions,
    clocking: Clocking | None,
    options: ProofOptions,
    watcher: ProofWatcher,
    fixed: Mapping[tuple[int, int], int | tuple[int, int]],
) -> Proof:
    """Prove a netlist, in which ops have no signals of their own."""
    timing = infer_timing(netlist, boundary, [], clocking)
    swept = sweep_netlist(program, netlist, boundary, assumptions, options, watcher, fixed)
    claims = {(claim.kind, claim.number): claim for claim in (*swept.ops, *swept.outputs)}
    found = {claim.number for claim in swept.ops}
    points = f"{len(found)} of {program.n_ops} ops were found in the netlist"
    proof = _proof(program, found, claims, swept.merged, swept.counterexample, timing, points, swept.costs)
    # No claim about a netlist assumes another claim.
    message = (swept.remark or proof.message) + ("" if swept.counterexample is None else _behind(boundary, claims))
    return replace(proof, message=message, bits=True, proved_outputs=proved_outputs(claims))


def claim_of(
    key: tuple[str, int], obligation: Obligation, cut: Mapping[int, Signal], pool: Pool, costs: Costs
) -> Claim:
    """Ask ``pool`` about an obligation as it stands, and return the claim: PROVED or UNKNOWN."""
    decided = pool.decide(obligation.rtl, obligation.wanted, obligation.given)
    decision = decided.decision
    status = Status.PROVED if decision.equal else Status.UNKNOWN
    signal = cut[key[1]].name if key[0] == "op" else ""
    costs.note(key, decision.seconds, decided.cached)
    return Claim.of(key, status, decision.method, signal=signal)


def _proof(
    program: Program,
    cut: Container[int],
    claims: Mapping[tuple[str, int], Claim],
    obligations: int,
    counterexample: Counterexample | None,
    timing: Timing | None,
    points: str,
    costs: Costs,
) -> Proof:
    ops = [claim for claim in claims.values() if claim.kind == "op"]
    outputs = [claim for claim in claims.values() if claim.kind == "output"]
    undecided = [claim for claim in outputs if claim.status is not Status.PROVED]
    bases = {claim.how: claim.basis for claim in claims.values() if claim.status is Status.PROVED}.values()
    conditional, bounded = (any(flag in basis for basis in bases) for flag in (Basis.PROMISES, Basis.DECLARED))
    if counterexample is not None:
        verdict = Verdict.RTL_MISMATCH
        message = f"a counterexample was found for output {counterexample.output}"
        if counterexample.op is not None:
            message = f"{program.ops[counterexample.op]} is wrong: {message}"
    elif undecided:
        verdict = Verdict.UNKNOWN
        message = f"{len(undecided)} of {len(outputs)} outputs could not be decided: {_listed(undecided)}"
    elif not outputs:
        verdict, message = Verdict.NOT_RUN, "nothing was proved: the program has no output bits"
    else:
        where = "for all inputs" + " within their declared intervals" * bounded
        where += " on which the program keeps its promises" * conditional
        verdict = Verdict.PASS
        equal = f"all {len(outputs)} outputs equal" if len(outputs) > 1 else "1 output equals"
        message = f"{equal} the program {where}; {points}"
        if timing is not None:
            enabled = f" at which {timing.enable} is 1" if timing.enable else ""
            message += f"; latency {counted(timing.latency, 'edge')} of {timing.clock}{enabled}"
        wrong = sum(claim.status is not Status.PROVED for claim in ops)
        if wrong:
            said = counted(
                wrong,
                "signal differs from the op that it is named after",
                "signals differ from the ops that they are named after",
            )
            message += f"; {said}, but no output needs that"
    unnamed = [op.index for op in program.ops if op.index not in cut]
    return Proof(
        verdict,
        message,
        ops,
        outputs,
        unnamed,
        obligations,
        conditional,
        bounded,
        counterexample,
        timing,
        worst=costs.worst([*ops, *outputs]),
        cached_claims=costs.cached,
    )


def _with_handshake(proof: Proof, clocking: Clocking, handshake: Handshake) -> Proof:
    """Return a proof of the data with the result for the valid pins."""
    pins = f"{clocking.valid_out} follows {clocking.valid_in}"
    if handshake.status is Status.PROVED:
        return replace(proof, handshake=handshake, message=f"{proof.message}; {pins}")
    if handshake.status is Status.UNKNOWN:
        message = f"the outputs are right, but it is not known whether {pins}"
        return replace(proof, handshake=handshake, verdict=Verdict.UNKNOWN, message=message)
    edge = len(handshake.trace) - 1
    message = (
        f"the outputs are right; {clocking.valid_out} must be {handshake.due} after {edge} clock edges, but is not"
    )
    return replace(proof, handshake=handshake, verdict=Verdict.RTL_MISMATCH, message=message)


def _undefined(
    obligations: Mapping[tuple[str, int], Obligation], claims: Mapping[tuple[str, int], Claim], boundary: Boundary
) -> str:
    """Return undefined values in refuted claims, for a message: X, undriven bits, words outside a memory."""
    refuted = [obligations[key].rtl for key, claim in claims.items() if claim.status is Status.REFUTED]
    names = [str(t.data) for t in leaves(*refuted) if t.op == "undefined"]
    known = [name for name in names if not name.startswith(_SIGNAL)]
    return _behind(boundary, claims) or _named(names) if names and not known else _named(known)


def _behind(boundary: Boundary, claims: Mapping[tuple[str, int], Claim]) -> str:
    """Return the undefined values behind refuted outputs, for a message."""
    refuted = [key[1] for key, claim in claims.items() if key[0] == "output" and claim.status is Status.REFUTED]
    return _named(undefined_behind(boundary, refuted))


def _named(undefined: Sequence[str]) -> str:
    names = [*dict.fromkeys(_NUMBERED_X.sub("X or Z at ", name) for name in undefined)]
    more = ", ..." if len(names) > _SHOWN else ""
    return f"{UNDEFINED}{', '.join(names[:_SHOWN])}{more}; assign a value of 0s and 1s there" if names else ""


def _left_out(netlist: Netlist) -> str:
    """Return the names of assertions in the RTL that were not proved, for a message."""
    names = [*netlist.left_out]
    return f"; not proved: {', '.join(names[:_SHOWN])}{', ...' * (len(names) > _SHOWN)}" if names else ""


def _listed(claims: Sequence[Claim]) -> str:
    shown = ", ".join(str(claim.number) for claim in claims[:8])
    return shown + (", ..." if len(claims) > 8 else "")


def named_signals(program: Program, netlist: Netlist) -> dict[int, Signal]:
    """Return, in SSA order, the signal of each op that is found by its name; a name that occurs twice is ignored."""
    for pattern in _NAMES:
        found: dict[int, list[Signal]] = {}
        for name, signal in netlist.signals.items():
            match = pattern.fullmatch(name)
            if match and int(match[1]) < program.n_ops:
                found.setdefault(int(match[1]), []).append(signal)
        if found:
            return {index: found[index][0] for index in sorted(found) if len(found[index]) == 1}
    return {}


def _refuse_loops(reads: Mapping[int, Sequence[int]], cut: Mapping[int, Signal]) -> None:
    """Raise ``InputError`` for a loop through cut points, which cones do not show, but the induction excludes."""
    done: set[int] = set()
    for start in reads:
        path: dict[int, int] = {} if start in done else {start: 0}
        while path:
            index, place = next(reversed(path.items()))
            if place == len(reads[index]):
                del path[index]
                done.add(index)
                continue
            path[index] = place + 1
            following = reads[index][place]
            if following in path:
                loop = [*path][[*path].index(following) :]
                names = " <- ".join(cut[i].name for i in [*loop[:6], following])
                raise ProofError(f"{cut[following].where}: signal {cut[following].name!r} depends on itself ({names})")
            if following not in done:
                path[following] = 0


# Find the undefined bits behind an output: undriven ones, and X or Z that the RTL assigns.


#: The largest number of drivers that are looked at.
_MOST = 200_000


def undefined_behind(boundary: Boundary, outputs: Iterable[int]) -> list[str]:
    """Return the undefined values, in words, on which ``outputs`` may depend; registers are looked through."""
    waiting: list[tuple[Signal, int, int]] = []

    def note(signal: Signal, low: int, width: int) -> Term:
        waiting.append((signal, low, width))
        return var(width, f"bits {low} of {signal.name}")

    for number in outputs:
        boundary.result(number, note)
    seen: set[tuple[Signal, int, int]] = set()
    found: dict[str, None] = {}
    while waiting and len(seen) < _MOST:
        asked = signal, low, width = waiting.pop()
        if asked in seen or boundary.is_input(signal):
            continue
        seen.add(asked)
        place = low
        for driver in signal.driving(low, width):
            first, last = max(place, driver.low), min(low + width, driver.low + driver.width)
            found |= dict.fromkeys(_undriven(signal, place, first))
            try:
                part = driver.part
                term = driver.make(note) if part is None else part(note, first - driver.low, last - first)
                found |= {str(t.data): None for t in leaves(term) if t.op == "undefined"}
            except NoValue as error:
                found[f"X or Z at {error.where}"] = None
            except InputError:  # what cannot be read is no cause that is known
                pass
            place = last
        found |= dict.fromkeys(_undriven(signal, place, low + width))
    return [*found]


def _undriven(signal: Signal, first: int, last: int) -> list[str]:
    return [f"bit {bit} of signal {signal.name!r}, which has no driver" for bit in range(first, last)]


# Find the outputs that are proved even if other claims are not.


Key = tuple[str, int]


def proved_outputs(claims: Mapping[Key, Claim]) -> tuple[int, ...]:
    """Return the outputs whose own claim is proved, regardless of the claims that its proof assumes."""
    return tuple(number for (kind, number), c in claims.items() if kind == "output" and c.status is Status.PROVED)


def standing_outputs(
    program: Program, obligations: Mapping[Key, Obligation], claims: Mapping[Key, Claim]
) -> tuple[int, ...]:
    """Return the proved outputs whose proofs rest on proved ops only, all the way to the inputs.

    A proof may rest on every op whose signal the RTL reads in the cone, and on every operand of the op in the program.
    Most proofs assume fewer ops, and no proof assumes more. Signals have no loops (this is checked), so if all of these
    ops are proved, each signal holds its value by induction.
    """
    users: dict[int, list[Key]] = {}
    for key in [*(("op", index) for index in range(program.n_ops)), *claims]:
        for index in _below(key, program, obligations.get(key)):
            users.setdefault(index, []).append(key)
    failed = [key for key, claim in claims.items() if key[0] == "op" and claim.status is not Status.PROVED]
    unsound = set(failed)
    while failed:
        kind, index = failed.pop()
        for key in users.get(index, ()) if kind == "op" else ():
            if key not in unsound:
                unsound.add(key)
                failed.append(key)
    return tuple(number for number in proved_outputs(claims) if ("output", number) not in unsound)


def _below(key: Key, program: Program, obligation: Obligation | None) -> Iterable[int]:
    kind, number = key
    own = program.ops[number].operands if kind == "op" else (program.outputs[number][0],)
    sources = () if obligation is None else (s.number for s in obligation.sources if s.kind == "op")
    return dict.fromkeys((*own, *sources, *(() if obligation is None else obligation.reads)))
