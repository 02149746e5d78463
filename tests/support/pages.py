"""Records for report pages, made by hand: everything that a record can hold, with names that look like markup."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from dais_verif.base.stopwatch import Stage
from dais_verif.base.verdict import Verdict
from dais_verif.record.base import to_tree
from dais_verif.record.campaigns import Job, JobResult, RegressionRecord
from dais_verif.record.coverage import Coverage, CoverageGroup, CoverageRecord, OpenBin
from dais_verif.record.program import ProgramInfo, RtlFacts
from dais_verif.record.proof import Claim, Counterexample, Method, ProofRecord, ProvedRtl, Replay, Sample, Status
from dais_verif.record.signoff import SignOffRecord, StageResult
from dais_verif.record.simulation import (
    Blame,
    BoardInfo,
    Decision,
    Evidence,
    InputValue,
    Mismatch,
    OutputEvidence,
    SimulationRecord,
    SimulatorResult,
    StimulusClass,
    Times,
    Value,
    Waiver,
)
from dais_verif.spec.program import Program
from support.programs import every_opcode

__all__ = [
    "EVIL",
    "PROGRAM",
    "board_run",
    "coverage_of",
    "coverage_run",
    "failed_proof",
    "mismatch_run",
    "passed_proof",
    "passed_run",
    "regression",
    "signoff",
]

#: A valid file name that would be a script if a page did not escape it.
EVIL = "<script>alert('x')</script>&\"'.bin"

PROGRAM = every_opcode()
TOOLS = {"dais-verif": "0.1.0", "python": "3.11.7"}
RTL = RtlFacts(top="model", emitted=True, files=["/a b/model.v"], sha256=["ab" * 32], data={"t.mem": "cd" * 32})


def info(program: Program, path: str | None = "net/prog.bin") -> ProgramInfo:
    return replace(ProgramInfo.of(program), path=path)


def coverage_of(program: Program) -> Coverage:
    """Return coverage with two bins per op; the second is open in every third op and unreachable in every fifth."""
    ops = [[2, 1 if at % 3 == 0 or at % 5 == 0 else 2, int(at % 5 == 0)] for at in range(program.n_ops)]
    bins, hit, unreachable = map(sum, zip(*ops, strict=True)) if ops else (0, 0, 0)
    open_ = [at for at, counts in enumerate(ops) if counts[0] - counts[2] > counts[1]]
    groups = [CoverageGroup("bit", bins, hit, unreachable), CoverageGroup("mux arm", 4, 4, 0)]
    shown = [OpenBin("bit", at, None, None, "bit 0 was never 1") for at in open_[:1000]]
    shown += [OpenBin("sign", None, 0, None, "never negative"), OpenBin("top", None, None, 0, "never largest")]
    return Coverage(1000, 12, 83.3, groups, ops, [[8, 7, 1]] * program.n_out, shown, len(open_) + 2)


def passed_run(program: Program = PROGRAM, path: str | None = "net/prog.bin") -> SimulationRecord:
    return SimulationRecord(
        verdict=Verdict.PASS,
        message="all 8000 output bits of 1000 vectors equal the golden model",
        program=info(program, path),
        seed=7,
        vectors=1000,
        reproduce="dais-verif sim 'net/prog.bin' --seed 7",
        rtl=RTL,
        tools=TOOLS,
        simulators=[
            SimulatorResult("icarus", "11.0 (stable)", 1000, 8000, build_seconds=0.4, run_seconds=1.5),
            SimulatorResult("verilator", "5.48.0 (rev)", 1000, 8000, cached=True, latency=3, run_seconds=0.2),
        ],
        warnings=["the layout was assumed"],
        evidence=Evidence([0], list(range(1, program.n_out)), {1: 4096}),
        exhaustive_vectors=16,
        profile=[Stage("read", 0.0, 0.1, 0.1), Stage("icarus run", 0.1, 2.0, 1.5), Stage("golden", 0.2, 0.4, 0.2)],
        times=Times("2026-11-21T10:00:00Z", 2.1),
        stimulus=[StimulusClass("file", 10, "my x.npy", "12" * 32), StimulusClass("generated", 990)],
        outputs=[OutputEvidence(j, "sampled" if j else "exhausted", 1000) for j in range(program.n_out)],
        decisions=[Decision("layout", "v1", "only v1 has this length")],
        coverage=coverage_of(program),
        waivers=[Waiver("coverage", "a known gap", "2027-01-31", "Ada")],
    )


def mismatch_run(program: Program = PROGRAM, op: int = 5, inputs: int = 3) -> SimulationRecord:
    spec = program.ops[op]
    blame = Blame(
        "op",
        f"{spec} is the first op whose value diverges",
        op,
        spec.spec.mnemonic,
        str(spec.type),
        Value("7.5", 15, "000001111"),
        Value("248.5", 497, "111110001"),
        "icarus",
    )
    given = [InputValue(j, f"{j}.25", "0101") for j in range(inputs)]
    found = Mismatch(
        "icarus",
        17,
        0,
        Value("1.5", 3, "0011"),
        Value(None, None, "0X11"),
        given,
        blame,
        "replay/waves.fst",
        ["replay/replay.gtkw"],
    )
    return replace(
        passed_run(program),
        verdict=Verdict.RTL_MISMATCH,
        message="398 of 1000 vectors differ from the golden model",
        simulators=[
            SimulatorResult("icarus", "11.0", 1000, 8000, 398, 2),
            SimulatorResult("verilator", failure="crash"),
        ],
        first_mismatch=found,
        evidence=None,
        outputs=[],
        unchecked=True,
    )


def board_run(program: Program = PROGRAM) -> SimulationRecord:
    board = BoardInfo("serial:///dev/ttyUSB0", program.hash, 1, 4, 2048, 12, 1, 2, 3, 4, 500, "dais-verif sim prog.bin")
    return replace(
        passed_run(program), board=board, rtl=RtlFacts(), simulators=[SimulatorResult("board", "1", 1000, 8000)]
    )


def passed_proof(program: Program = PROGRAM) -> ProofRecord:
    ops = [
        Claim(op=op.index, status=Status.PROVED, method=Method.IDENTICAL, signal=f"op_{op.index}") for op in program.ops
    ]
    return ProofRecord(
        verdict=Verdict.PASS,
        message="all outputs equal the program for all inputs",
        program=info(program),
        reproduce="dais-verif prove net/prog.bin",
        rtl=ProvedRtl(**to_tree(RTL)),
        tools={"bitwuzla": "0.9.1"},
        ops=ops,
        outputs=[Claim(output=j, status=Status.PROVED, method=Method.SMT) for j in range(program.n_out)],
        methods={"identical": program.n_ops, "smt": program.n_out},
        obligations=9,
        cached_claims=3,
        seconds={"read": 0.1, "prove": 1.4},
        sample=Sample(9, 0, ["op 1", "op 3", "output 0"], 3, 2, {"op 3": "the solver took too long"}),
    )


def coverage_run(program: Program = PROGRAM) -> CoverageRecord:
    counted = replace(coverage_of(program), percent=77.7)
    return CoverageRecord(
        verdict=Verdict.PASS,
        message="77.7 % of bins hit",
        program=info(program),
        seed=7,
        reproduce="dais-verif coverage prog.bin",
        coverage=counted,
    )


def _with(claim: Claim, status: Status) -> Claim:
    return msgspec.structs.replace(claim, status=status)


def failed_proof(program: Program = PROGRAM) -> ProofRecord:
    proof = passed_proof(program)
    replay = Replay(Verdict.RTL_MISMATCH, "1 of 1 vectors differ", [], mismatch_run(program).first_mismatch)
    return replace(
        proof,
        verdict=Verdict.RTL_MISMATCH,
        message="a counterexample was found for output 0",
        ops=[_with(claim, Status.REFUTED if claim.op == 5 else Status.PROVED) for claim in proof.ops],
        outputs=[_with(claim, Status.UNKNOWN if claim.output == 1 else Status.PROVED) for claim in proof.outputs],
        counterexample=Counterexample(("12", "0"), 0, 5, program.ops[5].spec.mnemonic, replay),
        conditional=True,
        simulate="dais-verif sim net/prog.bin --inputs counterexample.csv",
    )


def signoff(program: Program = PROGRAM) -> SignOffRecord:
    stages = [
        StageResult("sim", Verdict.PASS, "all bits equal", True, True, seconds=2.5, evidence=["sim/result.json"]),
        StageResult("poisoned golden", Verdict.RTL_MISMATCH, "found", True, True, must_fail=True, seconds=1.0),
        StageResult("coverage", Verdict.UNKNOWN, "83.3 % of 90 %", True, False, waived=True, seconds=0.2),
        StageResult("prove", Verdict.NOT_RUN, "no time", False, False, reproduce="dais-verif prove net/prog.bin"),
    ]
    return SignOffRecord(
        verdict=Verdict.NOT_SIGNED_OFF,
        message="stage prove did not run",
        program=info(program),
        policy={"coverage": {"percent": 90}, "stages": ["sim", "prove"]},
        seed=7,
        reproduce="dais-verif signoff net/prog.bin",
        rtl=RTL,
        tools=TOOLS,
        stages=stages,
        outputs=[OutputEvidence(j, "sampled", 1000) for j in range(program.n_out)],
        coverage=coverage_of(program),
        decisions=[Decision("layout", "v1", "given")],
        waivers=[Waiver("coverage", "a known gap", "2027-01-31", "Ada")],
        times=Times("2026-11-21T11:00:00Z", 4.2),
    )


def regression(programs: int = 4, seeds: int = 3) -> RegressionRecord:
    """Return a regression whose last job fails, whose first is flaky and whose second was resumed."""
    jobs = []
    for at in range(programs):
        for variant, simulator in (("emitted", "icarus"), ("emitted", "verilator"), ("stages 3", "both")):
            for seed in range(seeds):
                name = f"p{at:02d}.bin"
                job = Job(f"{name}/{variant}/{simulator}/{seed}", name, variant, simulator, seed, ["--seed", str(seed)])
                line = f"dais-verif sim {name} --sim {simulator} --seed {seed}"
                jobs.append(JobResult(job, Verdict.PASS, "all bits equal", 0.5 + seed, [Verdict.PASS], reproduce=line))
    jobs[0] = replace(jobs[0], flaky=True, attempts=[Verdict.TOOL_FAILURE, Verdict.PASS], worker="worker-1")
    jobs[1] = replace(jobs[1], resumed=True)
    bad = {"verdict": Verdict.RTL_MISMATCH, "message": "3 of 1000 vectors differ", "attempts": [Verdict.RTL_MISMATCH]}
    jobs[-1] = replace(jobs[-1], **bad, result="jobs/last/result.json")
    message = f"1 of {len(jobs)} jobs did not pass"
    return RegressionRecord(
        verdict=Verdict.RTL_MISMATCH,
        message=message,
        planned=len(jobs),
        reproduce="dais-verif regress suite.toml",
        jobs=jobs,
        shard="1/2",
        cluster="2 local workers",
        tools=TOOLS,
        times=Times("2026-11-21T12:00:00Z", 61.0),
    )
