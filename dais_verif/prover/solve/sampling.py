"""Check a sample of the obligations of a proof with the solver, in their original form.

Most obligations are decided by or in the normal form, so a wrong rewrite rule would go unnoticed. A sample of them is
therefore stated again without rewrite rules, as ``export`` states all of them, and the solver must prove it. The choice
depends only on the seed.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Mapping
from dataclasses import replace

from dais_verif.base.errors import InputError, ProofError
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.ports.interface import Dut
from dais_verif.prover.boundary import Boundary
from dais_verif.prover.netlist import Driver, Netlist, Read, Signal
from dais_verif.prover.obligations import Builder, Obligation
from dais_verif.prover.results import Proof, ProofOptions
from dais_verif.prover.solve.export import script
from dais_verif.prover.solve.smt import satisfy
from dais_verif.prover.terms import Term, as_written, bnot, concat, eq, undefined
from dais_verif.record.proof import Claim, Sample, Status
from dais_verif.spec.program import Program

__all__ = ["BUT_FOR_BLOCKS", "DISAGREEMENT", "WRITTEN", "draw", "put_to_the_solver", "judge_sample"]

DISAGREEMENT = "the normal form and the solver disagree: a defect of dais-verif, please report it"

#: Minimum number of obligations in a sample, if there are that many.
_FEWEST = 8
#: Time limit of the solver for one obligation, in seconds.
_ONE = 1.0
#: The forms in which obligations are stated.
WRITTEN, BUT_FOR_BLOCKS = "as written", "as written but for blocks"

_Key = tuple[str, int]


def draw(
    obligations: Mapping[_Key, Obligation], claims: Mapping[_Key, Claim], dropped: set[int], options: ProofOptions
) -> tuple[tuple[_Key, ...], int]:
    """Return one claim for each obligation of a sample, and the number of different obligations to draw from.

    Only claims that are proved by their plain statements, and are not about ops in ``dropped``, are drawn.
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
    """Ask the solver about the claims that were drawn, ``proof.drawn``.

    ``netlists``: the netlists of the design, by the form of their terms: first as written, if the design was read
    without making terms; last as the proof left it, for claims that cannot be stated otherwise. ``seconds``: the time
    limit for each percent of the sample size. Returns the sample, and the statements that the solver refuted, as
    SMT-LIB 2, by claim.
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
                undecided[name] = f"it cannot be stated without rewrite rules: {stated}"
                continue
            answer = satisfy([bnot(eq(stated.rtl, stated.wanted))], min(_ONE, left)).verdict
            if answer == "unsat":
                confirmed += 1
            elif answer == "sat":
                names = {term: f"{s.kind} {s.number}" for term, s in stated.variables().items()}
                contradicted[name] = f"; {name}: unsat if it is proved\n{script(stated.rtl, stated.wanted, (), names)}"
            else:
                undecided[name] = "it is too large for the solver, or took too long"
    claims = [f"{kind} {number}" for kind, number in proof.drawn[0]]
    terms = BUT_FOR_BLOCKS if BUT_FOR_BLOCKS in used else WRITTEN
    sample = Sample(proof.drawn[1], options.seed, claims, len(claims), confirmed, undecided, [*contradicted], terms)
    return sample, contradicted


def _stated(builders: Mapping[str, Builder], kind: str, number: int, used: dict[str, None]) -> Obligation | InputError:
    """State a claim with the first builder that can, and add its name to ``used``; else return the last error.

    Without rewrite rules, for example, a register that keeps its value through a wire seems to depend on itself.
    """
    refused: InputError = ProofError("there is no reading of the design")
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
    """Return ``proof``, which passed, with its ``sample``; UNKNOWN if the solver refuted a statement.

    ``contradicted``: the refuted statements, by claim.
    """
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
    """Return a builder that states the claims again, with the pins held as in the proof.

    ``final``: the netlist as the proof left it.
    """
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
    """Return the driver of a register with reads of its own bits replaced by undefined values.

    The register may read itself only where it keeps its value, so these values must not matter: in the proof, its
    driver reads none of these bits. A register that shifts bits within itself has several drivers in the proof; it is
    not changed here, and depends on itself.
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
