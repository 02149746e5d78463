"""A sample of the obligations of a proof, put to the solver once more as they are written.

Most obligations are decided by the normal form, or in it, and a rule of it that changes a value would be believed
without a doubt. So some are stated again while no rule is in force, as ``export`` states them all, and the solver must
find that they hold. Which ones depends on the seed and on nothing else.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Mapping
from dataclasses import replace

from dais_verif.dut.interface import Dut
from dais_verif.errors import InputError
from dais_verif.program import Program
from dais_verif.prover.boundary import Boundary
from dais_verif.prover.netlist import Driver, Netlist, Read, Signal
from dais_verif.prover.obligations import Builder, Obligation
from dais_verif.prover.results import Proof, ProofOptions
from dais_verif.prover.solving.smt import satisfy
from dais_verif.prover.solving.smtlib import script
from dais_verif.prover.terms import Term, as_written, bnot, concat, eq, undefined
from dais_verif.record.proof import Claim, Sample, Status
from dais_verif.verdict import Verdict

__all__ = ["BUT_FOR_BLOCKS", "DISAGREEMENT", "WRITTEN", "draw", "put_to_the_solver", "judge_sample"]

DISAGREEMENT = "the normal form and the solver disagree: a defect of dais-verif, please report it"

#: A sample has so many obligations, if there are so many.
_FEWEST = 8
#: Seconds of the solver for one obligation, at most.
_ONE = 1.0
#: How obligations are stated.
WRITTEN, BUT_FOR_BLOCKS = "as written", "as written but for blocks"

_Key = tuple[str, int]


def draw(
    obligations: Mapping[_Key, Obligation], claims: Mapping[_Key, Claim], dropped: set[int], options: ProofOptions
) -> tuple[tuple[_Key, ...], int]:
    """Return one claim for each obligation of a sample, and how many different obligations it is drawn from.

    Claims that rest on no more than their plain statements, and not on ops in ``dropped``, are drawn from.
    """
    resting: dict[tuple[Term, Term], list[_Key]] = {}
    for key, claim in claims.items():
        if claim.status is Status.PROVED and not claim.how and not (key[0] == "op" and key[1] in dropped):
            resting.setdefault((obligations[key].rtl, obligations[key].wanted), []).append(key)
    if not options.sample:
        return (), len(resting)
    chance = random.Random(options.seed)
    count = min(len(resting), max(_FEWEST, math.ceil(len(resting) * options.sample / 100)))
    drawn = chance.sample(list(resting.values()), count)
    return tuple(sorted(chance.choice(keys) for keys in drawn)), len(resting)


def put_to_the_solver(
    program: Program, netlists: Mapping[str, Netlist], dut: Dut, proof: Proof, options: ProofOptions, seconds: float
) -> tuple[Sample, dict[str, str]]:
    """Ask the solver about the claims that ``proof.drawn`` names, for ``seconds`` per percent of a sample.

    ``netlists``: the design by how its terms are: as written, where nothing made any before; and last as the proof left
    it, for what cannot be stated otherwise. Also returns, of claims that the solver found not to hold, the statement as
    SMT-LIB 2.
    """
    confirmed, undecided, contradicted = 0, {}, {}
    used: dict[str, None] = {}
    end = time.monotonic() + seconds * max(1.0, options.sample)
    with as_written():
        *_, final = netlists.values()
        builders = {terms: _builder(program, netlist, final, dut, proof) for terms, netlist in netlists.items()}
        for kind, number in proof.drawn[0]:
            name, left = f"{kind} {number}", end - time.monotonic()
            if left <= 0:
                undecided[name] = "no time was left"
                continue
            stated = _stated(builders, kind, number, used)
            if isinstance(stated, InputError):
                undecided[name] = f"it cannot be stated without rules: {stated}"
                continue
            answer = satisfy([bnot(eq(stated.rtl, stated.wanted))], min(_ONE, left)).verdict
            if answer == "unsat":
                confirmed += 1
            elif answer == "sat":
                names = {term: f"{s.kind} {s.number}" for term, s in stated.variables().items()}
                contradicted[name] = f"; {name}: unsat if it is proved\n{script(stated.rtl, stated.wanted, (), names)}"
            else:
                undecided[name] = "it is too large for the solver, or took it too long"
    claims = [f"{kind} {number}" for kind, number in proof.drawn[0]]
    terms = BUT_FOR_BLOCKS if BUT_FOR_BLOCKS in used else WRITTEN
    sample = Sample(proof.drawn[1], options.seed, claims, len(claims), confirmed, undecided, [*contradicted], terms)
    return sample, contradicted


def _stated(builders: Mapping[str, Builder], kind: str, number: int, used: dict[str, None]) -> Obligation | InputError:
    """State a claim by the first builder that can, which is noted in ``used``; else return why none can.

    A register that keeps its value by way of a wire depends on itself, for example, until rules look through that.
    """
    refused = InputError("there is no reading of the design")
    for terms, builder in builders.items():
        try:
            found = builder.op(number) if kind == "op" else builder.output(number)
        except InputError as error:
            refused = error
        else:
            used[terms] = None
            return found
    return refused


def judge_sample(proof: Proof, sample: Sample, contradicted: Mapping[str, str]) -> Proof:
    """Return ``proof``, which passed, in the light of ``sample``. ``contradicted``: what does not hold, by claim."""
    if not sample.contradicted:
        return replace(proof, sample=sample)
    message = f"{DISAGREEMENT} ({', '.join(sample.contradicted)}); the proof said: {proof.message}"
    return replace(
        proof,
        sample=sample,
        contradicted=contradicted,
        verdict=Verdict.UNKNOWN,
        message=message,
        proved_outputs=(),
    )


def _builder(program: Program, netlist: Netlist, final: Netlist, dut: Dut, proof: Proof) -> Builder:
    """Return what states the claims again, pins held as the proof found them. ``final``: as the proof left it."""
    pins = dict(proof.held)
    if proof.timing is not None and proof.timing.enable is not None:
        pins[proof.timing.enable] = 1
    boundary = Boundary.of(program, netlist, dut).holding({netlist.signals[n]: value for n, value in pins.items()})
    dropped = set(proof.dropped)
    cut = {claim.number: netlist.signals[claim.signal] for claim in proof.ops if claim.number not in dropped}
    if netlist is not final:
        for name, signal in netlist.signals.items():
            left = {(driver.low, driver.width) for driver in final.signals[name].drivers}
            signal.drivers = [
                _not_itself(signal, driver) if driver.clock and (driver.low, driver.width) in left else driver
                for driver in signal.drivers
            ]
    return Builder(program, netlist, cut, boundary)


def _not_itself(signal: Signal, driver: Driver) -> Driver:
    """Return a register that may read itself only where it would keep its value: what that is must not matter.

    The proof made one driver of its next value that reads none of these bits. One that shifts bits within the register
    would be several, and depends on itself here.
    """
    first, last = driver.low, driver.low + driver.width

    def instead(read: Read) -> Read:
        def other(source: Signal, low: int, width: int) -> Term:
            if source is not signal or low >= last or low + width <= first:
                return read(source, low, width)
            below, above = max(first - low, 0), max(low + width - last, 0)
            kept = undefined(
                width - below - above, f"what register {signal.name!r} held before, from bit {low + below}"
            )
            parts = [read(signal, last, above)] if above else []
            return concat(*parts, kept, *([read(signal, low, below)] if below else []))

        return other

    def make(read: Read) -> Term:
        return driver.make(instead(read))

    part = driver.part
    if part is None:
        return driver._replace(make=make)
    return driver._replace(make=make, part=lambda read, low, width: part(instead(read), low, width))
