"""Compare emitted Verilog in a simulator with the golden model: many cases in one build, or one alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from dais_verif.base.stopwatch import Stopwatch
from dais_verif.base.temporary import temporary_folder
from dais_verif.base.toolchain.limits import Limits
from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.fuzzing.case import Case
from dais_verif.campaigns.fuzzing.pairs.disagreement import Disagreement, NotJudged, Pair, require_comparable
from dais_verif.hardware.emitter import PipelineOptions, emit_pipeline, emit_verilog
from dais_verif.hardware.emitter.wrapper import WRAPS, wrap
from dais_verif.hardware.ports.interface import Clocking, packed
from dais_verif.hardware.synthesis.netlist import SynthesizedNetlist, netlist_sources
from dais_verif.hardware.synthesis.yosys import synthesize
from dais_verif.prover.proof import prove
from dais_verif.prover.results import Proof, ProofOptions
from dais_verif.simulation.axis import simulate_axis
from dais_verif.simulation.boards.core_run import run_core
from dais_verif.simulation.boards.emulator import build_core
from dais_verif.simulation.joint_builds import verify_jointly
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.simulation.task import SimulationOptions, SimulationWatcher, Task
from dais_verif.simulation.verify import verify
from dais_verif.spec.program.numbers import Batch
from dais_verif.spec.program.ports import ports_of

__all__ = [
    "MAPPED_TO",
    "in_simulator",
    "judged_in",
    "mapped",
    "passing_in",
    "pipelined",
    "proof_of",
    "proved_rtl",
    "wrapped",
]


#: Seconds for a build and for a run of one case, after which it counts as hung.
_SECONDS = 60.0
#: The largest number of stages of a pipeline, which is derived from the program's hash.
_MOST_STAGES = 5


def in_simulator(name: str) -> Pair:
    """Return the judge that compares simulator ``name`` with the golden model, in a separate build for each case."""

    def judge(case: Case) -> Disagreement | None:
        require_comparable(case, name)
        with temporary_folder() as folder:
            return judged_in(case, _emitted(case, folder.path), folder.path, name, name)

    return judge


def passing_in(name: str, cases: Sequence[Case]) -> list[bool]:
    """Return which of ``cases`` agree in simulator ``name``, all in one build; the results of others are unknown."""
    found = [False] * len(cases)
    with temporary_folder() as folder:
        tasks, numbers = [], []
        for number, case in enumerate(cases):
            own = Path(folder.path, str(number))
            own.mkdir()
            try:
                require_comparable(case, name)
                tasks.append((_task(case, _emitted(case, own), own, name), case.batch))
            except Exception:
                continue
            numbers.append(number)
        for number, finding in zip(numbers, verify_jointly(tasks, Path(folder.path, "all"), cached=False), strict=True):
            found[number] = finding is not None
    return found


def pipelined(case: Case) -> Disagreement | None:
    """Compare a pipeline of the program in Icarus with the golden model; its number of stages depends on the case."""
    require_comparable(case, "icarus")
    stages = 1 + int(case.program.hash[:4], 16) % _MOST_STAGES
    made = emit_pipeline(case.program, "model", PipelineOptions(stages=stages, reset=True, enable=True, valid=True))
    pins = Clocking("clk", made.latency, "rst", False, "en", "in_valid", "out_valid")
    with temporary_folder() as folder:
        source = Path(folder.path, "model.v")
        source.write_text(made.text)
        design = RtlDesign((source,), "model", dut=packed(case.program, pins), path_of=made.path_of)
        return judged_in(case, design, folder.path, "icarus", "pipelines")


def _emitted(case: Case, folder: Path) -> RtlDesign:
    source = folder / "model.v"
    source.write_text(emit_verilog(case.program))
    return RtlDesign((source,), "model")


def _options(name: str) -> SimulationOptions:
    return SimulationOptions((name,), check=False, timeout=_SECONDS, jobs=1)


def _task(case: Case, design: RtlDesign, folder: Path, name: str) -> Task:
    return Task(case.program, design, folder, _options(name), SimulationWatcher(), Stopwatch())


def judged_in(case: Case, design: RtlDesign, folder: Path, name: str, pair: str) -> Disagreement | None:
    """Return the result of simulator ``name`` for ``design``, as a finding of ``pair``.

    Raises ``NotJudged`` if nothing was compared.
    """
    finding = verify(case.program, case.batch, design, folder, _options(name))
    if finding.verdict is Verdict.PASS:
        return None
    if finding.verdict is Verdict.NOT_RUN:
        raise NotJudged(finding.message)
    return Disagreement(pair, finding.verdict.value, finding.message.replace(str(folder), ""))


# Compare netlists that Yosys maps from emitted Verilog with the program: in Icarus, and by the prover.
#
# Both must also be consistent: no vector may refute a proof, and a simulation must confirm a counterexample.


#: The targets to which each program is mapped.
MAPPED_TO = ("generic", "ice40")

_PAIR = "netlist"
#: Limits of Yosys, which no generated case comes close to.
_LIMITS = Limits(600.0, 8192)
#: The most cells of a proof: larger netlists would take minutes.
_MOST_CELLS = 1500
#: Seconds for each query of a proof; a timeout is not a disagreement.
_SECONDS_OF_NETLISTS = 1.0


def mapped(case: Case) -> Disagreement | None:
    """Return an error of the netlists of a case's program: a wrong output, or a wrong answer of the prover.

    Raises ``NotJudged`` if the prover has no answer, and only the vectors agree.
    """
    require_comparable(case, "yosys", "icarus")
    unknown = ""
    for target in MAPPED_TO:
        with temporary_folder() as folder:
            design, cells = _netlist(case, target, folder.path)
            simulated = judged_in(case, design, Path(folder.path, "simulated"), "icarus", _PAIR)
            if cells > _MOST_CELLS and simulated is None:
                unknown = f"{target}: {cells} cells are not proved"
                continue
            proof = proof_of(case, design.sources, _SECONDS_OF_NETLISTS, bits=True)
            found = _compared(case, design, Path(folder.path, "replayed"), simulated, proof)
        if found is not None:
            kind, text = found
            return Disagreement(_PAIR, f"{target}: {kind}", text)
        if proof.verdict is not Verdict.PASS:
            unknown = f"{target}: {proof.message}"
    if unknown:
        raise NotJudged(unknown)
    return None


def _netlist(case: Case, target: str, folder: Path) -> tuple[RtlDesign, int]:
    """Return the netlist for ``target``, with models of its cells, and its number of cells."""
    source = folder / "rtl.v"
    source.write_text(emit_verilog(case.program))
    made = synthesize((source,), "model", target, folder / "yosys", _LIMITS)
    sources = netlist_sources(SynthesizedNetlist(made.netlist, target), folder)
    return RtlDesign(sources, "model", dut=packed(case.program)), sum(made.costs.cells.values())


def _compared(
    case: Case, design: RtlDesign, folder: Path, simulated: Disagreement | None, proof: Proof
) -> tuple[str, str] | None:
    """Return the disagreement as kind and text; None if neither vectors nor proof show that the netlist is wrong."""
    if simulated is not None:
        if proof.verdict is Verdict.PASS:
            return "proved, but a simulation differs", f"the netlist is proved, but: {simulated.text}"
        return simulated.kind, simulated.text
    if proof.verdict is not Verdict.RTL_MISMATCH:
        return None
    again = None if proof.counterexample is None else judged_in(_replay(case, proof), design, folder, "icarus", _PAIR)
    if again is not None:
        return again.kind, f"the proof found a difference that the vectors do not show: {again.text}"
    return (
        "refuted, but no simulation differs",
        f"the netlist is refuted, but Icarus does not confirm it: {proof.message}",
    )


def _replay(case: Case, proof: Proof) -> Case:
    """Return ``case`` with the counterexample as its only vector; inputs have only the bits of the ports."""
    assert proof.counterexample is not None
    pairs = zip(proof.counterexample.vector, proof.elements, strict=True)
    return replace(case, rows=(tuple(bits * Fraction(2) ** element.lo for bits, element in pairs),))


# The emitted Verilog in each wrapper, driven through its bus, against the golden model.


_PAIR_OF_WRAPPERS = "wrappers"
#: The largest number of stages of the core; 0: it is combinational.
_MOST_STAGES_OF_WRAPPERS = 3
#: How often the vectors are sent through a stream, so that some are left to compare after its resets.
_TIMES = 6


def wrapped(case: Case) -> Disagreement | None:
    """Return a difference of a wrapper's output from the golden model: on AXI4-Stream, or on a link of a board.

    The number of stages of the core depends on the case.
    """
    require_comparable(case, "icarus", "verilator")
    stages = int(case.program.hash[:4], 16) % (_MOST_STAGES_OF_WRAPPERS + 1)
    text, latency = emit_verilog(case.program), 0
    if stages:
        made = emit_pipeline(case.program, "model", PipelineOptions(stages=stages, enable=True))
        text, latency = made.text, made.latency
    for kind in WRAPS:
        with temporary_folder() as folder:
            verdict, message = _heard(case, kind, text, latency, folder.path)
        if verdict is Verdict.NOT_RUN:
            raise NotJudged(message)
        if verdict is not Verdict.PASS:
            return Disagreement(_PAIR_OF_WRAPPERS, f"{kind}: {verdict.value}", message.replace(str(folder.path), ""))
    return None


def _heard(case: Case, kind: str, text: str, latency: int, folder: Path) -> tuple[Verdict, str]:
    """Return the verdict on wrapper ``kind`` around the core ``text``, and the message."""
    program = case.program
    if kind != "axis":
        board = build_core(program, kind, folder / "board", text, latency)
        run = run_core(program, case.batch, kind, board, folder, check=False, timeout=_SECONDS)
        return run.verdict, run.message
    ports = ports_of(program)
    bits = max(ports.input_bits, 1), max(ports.output_bits, 1)
    made = wrap(kind, "model", text, program.hash, input_bits=bits[0], output_bits=bits[1], latency=latency)
    sources = []
    for name, part in made.files.items():
        sources.append(folder / name)
        sources[-1].write_text(part)
    design = RtlDesign(tuple(path for path in sources if path.suffix == ".v"), f"model_{kind}")
    found = simulate_axis(
        program,
        Batch.concatenate([case.batch] * _TIMES),
        design,
        folder / "simulated",
        latency=latency,
        simulators=("icarus",),
        check=False,
        timeout=_SECONDS,
    )
    return found.verdict, found.message


# Compare emitted Verilog with the program by the prover, and the prover's op semantics with the oracle.


#: Seconds for each query; a timeout is not a disagreement.
_SECONDS_OF_PROOF = 2.0


def proved_rtl(case: Case) -> Disagreement | None:
    """Return a disagreement if the prover refutes the emitted module, since then emitter or prover is wrong."""
    with temporary_folder() as folder:
        source = Path(folder.path, "model.v")
        source.write_text(emit_verilog(case.program))
        proof = proof_of(case, [source], _SECONDS_OF_PROOF)
    if proof.verdict is Verdict.RTL_MISMATCH:
        return Disagreement("prove", "refuted", f"the emitted RTL is refuted: {proof.message}")
    if proof.verdict is not Verdict.PASS:
        raise NotJudged(proof.message)
    return None


def proof_of(case: Case, sources: Sequence[Path], seconds: float, *, bits: bool = False) -> Proof:
    """Return the proof of module ``model``; ``seconds``: the limit for each query; ``bits``: True for a netlist."""
    from dais_verif.prover.slang import elaborate

    netlist = elaborate(sources, "model", {}, bitwise=bits)
    options = ProofOptions(timeout=seconds, check=False, jobs=1, declared=False, sample=0.0, bits=bits)
    return prove(case.program, netlist, packed(case.program), options)
