"""The proof of a design: every op with a signal, then every output.

Why this proves the whole. An op's obligation says: if the signals that its cone reads hold the values of their ops,
so does its own, whatever these values are. The RTL has no loop (that is checked), so its signals can be put in an
order in which each reads earlier ones only, and by induction every signal holds its op's value for every input.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from dais_verif.errors import InputError
from dais_verif.program import Program
from dais_verif.program.ports import ports_of
from dais_verif.prove.ages import Timing, timing_of
from dais_verif.prove.matching import matched_signals
from dais_verif.prove.netlist import Netlist, Signal
from dais_verif.prove.obligations import Builder, Obligation
from dais_verif.prove.pool import Pool
from dais_verif.prove.pursuit import Pursuit
from dais_verif.prove.results import Claim, Counterexample, Options, Proof, Status, Watcher
from dais_verif.verdict import Verdict

__all__ = ["named_signals", "prove"]

#: Names of the signal of op N: ours, and da4ml's. The first that occurs at all is taken.
_NAMES = (re.compile(r"(?:.*\.)?op_(\d+)"), re.compile(r"v(\d+)"))

_EVERY = 256


def prove(program: Program, netlist: Netlist, options: Options, watcher: Watcher | None = None) -> Proof:
    """Prove that ``netlist``, combinational or a pipeline, computes ``program`` for all inputs, or refute it.

    Raises ``InputError`` if the ports do not fit the program, or if the RTL has loops, latches, X or undriven bits
    where the proof must look.
    """
    watcher = watcher or Watcher()
    inp, out = _ports(program, netlist)
    cut = named_signals(program, netlist)
    guessed: dict[int, Signal] = {}
    if len(cut) < program.n_ops:
        watcher.progress("signals matched", 0, program.n_ops - len(cut))
        guessed = matched_signals(program, ports_of(program), netlist, cut, inp, out, options.seed)
        cut = dict(sorted({**cut, **guessed}.items()))
    timing = timing_of(netlist, inp, out, list(cut.values()))
    others = [name for name in netlist.inputs if name != "model_inp"]
    if others and timing is None:
        raise InputError(f"module {netlist.top!r} has the further input {others[0]!r}; the proof drives model_inp only")
    builder = Builder(program, netlist, cut, inp, out)
    pool = Pool(options, watcher)
    obligations: dict[tuple[str, int], Obligation] = {}
    for done, index in enumerate(cut):
        obligations["op", index] = builder.op(index)
        if done % _EVERY == 0:
            watcher.progress("ops read", done, len(cut))
    _refuse_loops({index: obligations["op", index].reads for index in cut}, cut)
    with_bits = [j for j, element in enumerate(builder.ports.outputs) if element.width]
    for j in with_bits:
        obligations["output", j] = builder.output(j)
    tied = [] if with_bits else [builder.no_output()]
    pool.decide_all((o.rtl, o.wanted, o.given) for o in (*obligations.values(), *tied))
    claims = {key: _claim(key, obligation, cut, pool) for key, obligation in obligations.items()}
    if tied and not pool.decide(tied[0].rtl, tied[0].wanted).decision.equal:
        raise InputError("the program has no output bits, so its port must be tied to 0, and it is not")
    counterexample = None
    if any(claim.status is not Status.PROVED for claim in claims.values()):
        pursuit = Pursuit(program, netlist, builder, pool, options, watcher, obligations, claims, inp, out)
        counterexample = pursuit.run()
        claims = pursuit.claims
    proof = _proof(program, cut, claims, pool, counterexample, timing)
    return replace(proof, pins=(*netlist.inputs, *netlist.outputs), guessed=len(guessed))


def _claim(key: tuple[str, int], obligation: Obligation, cut: Mapping[int, Signal], pool: Pool) -> Claim:
    decided = pool.decide(obligation.rtl, obligation.wanted, obligation.given)
    decision = decided.decision
    status = Status.PROVED if decision.equal else Status.UNKNOWN
    signal = cut[key[1]].name if key[0] == "op" else ""
    return Claim(*key, status, decision.method, "", decision.seconds, decided.cached, signal)


def _proof(
    program: Program,
    cut: Mapping[int, Signal],
    claims: Mapping[tuple[str, int], Claim],
    pool: Pool,
    counterexample: Counterexample | None,
    timing: Timing | None,
) -> Proof:
    ops = [claim for claim in claims.values() if claim.kind == "op"]
    outputs = [claim for claim in claims.values() if claim.kind == "output"]
    undecided = [claim for claim in outputs if claim.status is not Status.PROVED]
    conditional = any("promise" in claim.how for claim in claims.values() if claim.status is Status.PROVED)
    if counterexample is not None:
        verdict = Verdict.RTL_MISMATCH
        message = f"output {counterexample.output} is wrong on an input vector that was found"
        if counterexample.op is not None:
            message = f"{program.ops[counterexample.op]} is wrong: {message}"
    elif undecided:
        verdict = Verdict.UNKNOWN
        message = f"{len(undecided)} of {len(outputs)} outputs could not be decided: {_listed(undecided)}"
    elif not outputs:
        verdict, message = Verdict.NOT_RUN, "nothing was proved: the program has no output bits"
    else:
        where = "for all inputs on which the program keeps its promises" if conditional else "for all inputs"
        verdict = Verdict.PASS
        message = f"all {len(outputs)} outputs equal the program {where}; {len(ops)} ops are cut points"
        if timing is not None:
            enabled = f" at which {timing.enable} is 1" if timing.enable else ""
            message += f"; latency {timing.latency} edges of {timing.clock}{enabled}"
        wrong = sum(claim.status is not Status.PROVED for claim in ops)
        if wrong:
            message += f"; {wrong} signals do not hold what their names say, and no output needs them to"
    unnamed = [op.index for op in program.ops if op.index not in cut]
    return Proof(verdict, message, ops, outputs, unnamed, len(pool), conditional, counterexample, timing)


def _listed(claims: Sequence[Claim]) -> str:
    shown = ", ".join(str(claim.number) for claim in claims[:8])
    return shown + (", ..." if len(claims) > 8 else "")


def _ports(program: Program, netlist: Netlist) -> tuple[Signal, Signal]:
    """The two packed ports. Raises ``InputError`` if they are not those of the program."""
    ports = ports_of(program)
    found = []
    for name, way, names, bits in (
        ("model_inp", "input", netlist.inputs, ports.input_bits),
        ("model_out", "output", netlist.outputs, ports.output_bits),
    ):
        if name not in names:
            listed = ", ".join((*netlist.inputs, *netlist.outputs)) or "none"
            raise InputError(f"module {netlist.top!r} has no {way} {name!r} (ports: {listed}); see `dais-verif emit`")
        signal = netlist.signals[name]
        if signal.width != max(bits, 1):
            raise InputError(
                f"{way} {name!r} of module {netlist.top!r} has {signal.width} bits; this program needs {max(bits, 1)}"
            )
        found.append(signal)
    return found[0], found[1]


def named_signals(program: Program, netlist: Netlist) -> dict[int, Signal]:
    """The signal of each op that has one, in SSA order. A name that occurs twice stands for nothing."""
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
    """Cut points hide loops from the cones; the induction needs that there are none."""
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
                raise InputError(f"{cut[following].where}: signal {cut[following].name!r} depends on itself ({names})")
            if following not in done:
                path[following] = 0
