"""The main job: golden outputs, both simulators, one verdict.

batch -> golden model -> expected bits ─┐
program -> Verilog -> build -> bench ───┴-> compare -> verdict (-> blame)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dais_verif.errors import DaisError, ToolError, ViolationError
from dais_verif.golden import CHUNK, Golden, oracle
from dais_verif.program import Program
from dais_verif.program.numbers import Batch
from dais_verif.program.ports import Ports, ports_of
from dais_verif.report.record import Blame, InputValue, Mismatch, SimulatorResult
from dais_verif.sim import process
from dais_verif.sim.blame import Judged, blame_engines, blame_expectation, blame_mismatch, judge_rows, value_of_bits
from dais_verif.sim.job import Difference, Job
from dais_verif.sim.packing import pack_inputs, pack_outputs, unpack_element
from dais_verif.sim.simulate import Design, Outcome, simulate
from dais_verif.verdict import Verdict

__all__ = ["Finding", "Options", "verify"]

Notice = Callable[[str], None]

#: Ops times rows that the self-check of the golden model may cost: about half a second.
_SELF_CHECK_BUDGET = 50_000


@dataclass(frozen=True)
class Options:
    """How to verify. ``timeout``: seconds for each build and each run."""

    simulators: tuple[str, ...] = ("icarus", "verilator")
    check: bool = True
    waves: bool = False
    seed: int = 0
    timeout: float | None = None


@dataclass(frozen=True)
class Finding:
    """What ``verify`` found."""

    verdict: Verdict
    message: str
    simulators: list[SimulatorResult]
    first_mismatch: Mismatch | None = None


def verify(
    program: Program,
    batch: Batch,
    design: Design,
    folder: Path,
    options: Options,
    notice: Notice = lambda _: None,
) -> Finding:
    """Simulate ``design`` on ``batch`` and compare every output bit with the golden model of ``program``.

    ``folder`` receives vectors, builds, logs and waves. ``notice`` is told of every step. Tool failures and
    violations are findings, not exceptions.
    """
    ports = ports_of(program)
    golden = Golden(program)
    notice(f"golden model: {batch.rows} vectors")
    judged = judge_rows(program, batch, _few_rows(program, batch))
    suspect = blame_engines(program, golden.compiled, batch, judged)
    if suspect is not None:
        return Finding(Verdict.UNKNOWN, suspect.text, [])
    try:
        _write_vectors(golden, batch, ports, folder, options.check)
    except ViolationError as error:
        return Finding(Verdict.PROGRAM_INVALID, f"{error}; --unchecked carries on with the quantised value", [])
    except AssertionError as error:  # the engine broke off: the oracle does not see what it saw
        return Finding(Verdict.UNKNOWN, f"{error}; this is a bug of dais-verif, please report it", [])
    suspect = _blame_expectation(program, judged, ports, folder, options.check)
    if suspect is not None:
        return Finding(Verdict.UNKNOWN, suspect.text, [])
    outcomes = _simulate_all(design, batch.rows, ports, folder, options, notice)
    results = [_result(name, outcome) for name, outcome in outcomes.items()]
    verdict, message = judge(outcomes, ports.output_bits)
    first = _first_difference(outcomes, verdict)
    if first is None:
        return Finding(verdict, message, results)
    name, difference = first
    mismatch = _describe(program, batch, ports, folder, name, difference)
    # Before the RTL is blamed: an expectation that was itself wrong says nothing of it.
    judged = judge_rows(program, batch, [mismatch.row])
    suspect = blame_engines(program, golden.compiled, batch, judged)
    suspect = suspect or _blame_expectation(program, judged, ports, folder, options.check)
    if suspect is not None:
        return Finding(Verdict.UNKNOWN, suspect.text, results, replace(mismatch, blame=suspect))
    blame = _blame(program, design, batch, ports, folder, mismatch, options, notice)
    return Finding(verdict, message, results, replace(mismatch, blame=blame))


def _few_rows(program: Program, batch: Batch) -> list[int]:
    """Rows on which the golden engines are compared with the oracle: the last, the first corners, some between."""
    count = min(16, max(1, _SELF_CHECK_BUDGET // max(program.n_ops, 1)))
    last = batch.rows - 1
    spread = [last, 1, 2, *np.linspace(0, last, count).astype(int).tolist()]
    rows = list(dict.fromkeys(row for row in spread if 0 <= row <= last))[:count]
    return sorted(rows)


def _blame_expectation(
    program: Program, judged: Mapping[int, Judged], ports: Ports, folder: Path, check: bool
) -> Blame | None:
    """What is wrong with the expected bits of the rows that were ``judged``, if anything is."""
    bits = {row: _packed_bits(folder / "expected.bin", row, ports.output_bits) for row in judged}
    return blame_expectation(program, ports, judged, bits, check)


def _write_vectors(golden: Golden, batch: Batch, ports: Ports, folder: Path, check: bool) -> None:
    """Packed inputs and expected outputs, chunk by chunk."""
    with (folder / "inputs.bin").open("wb") as inputs, (folder / "expected.bin").open("wb") as expected:
        for start in range(0, batch.rows, CHUNK):
            rows = batch.slice(start, start + CHUNK)
            inputs.write(pack_inputs(rows, ports).tobytes())
            outputs = golden.chunk(batch, start, check=check)
            expected.write(pack_outputs(outputs, ports, rows.rows).tobytes())


def _simulate_all(
    design: Design, rows: int, ports: Ports, folder: Path, options: Options, notice: Notice
) -> dict[str, Outcome | ToolError]:
    """Every simulator at once; one that fails does not stop the others."""

    def one(name: str) -> Outcome | ToolError:
        own = folder / name
        job = Job(
            inputs=str(folder / "inputs.bin"),
            expected=str(folder / "expected.bin"),
            answer=str(own / "answer.json"),
            rows=rows,
            input_bits=ports.input_bits,
            output_bits=ports.output_bits,
        )
        try:
            own.mkdir(parents=True, exist_ok=True)
            outcome = simulate(name, design, job, own, seed=options.seed, waves=options.waves, timeout=options.timeout)
        except ToolError as error:
            notice(f"{name}: failed")
            return error
        notice(f"{name}: built in {outcome.build_seconds:.1f} s, ran in {outcome.run_seconds:.1f} s")
        return outcome

    notice(f"simulating in {' and '.join(options.simulators)}")
    with ThreadPoolExecutor(max_workers=len(options.simulators)) as pool, process.stopping_all_on_exit():
        return dict(zip(options.simulators, pool.map(one, options.simulators), strict=True))


def judge(outcomes: dict[str, Outcome | ToolError], output_bits: int) -> tuple[Verdict, str]:
    """The verdict over all simulators and one line of why. The first that applies:

    a tool failed, ports do not fit, X in an output, simulators disagree, mismatch, nothing compared, pass.
    """
    for name, outcome in outcomes.items():
        if isinstance(outcome, ToolError):
            return Verdict.TOOL_FAILURE, f"{name}: {outcome}"
    answers = {name: o.answer for name, o in outcomes.items() if isinstance(o, Outcome)}
    for answer in answers.values():
        if answer.port_error:
            return Verdict.INVALID_INPUT, f"the design does not fit the program: {answer.port_error}"
    for name, answer in answers.items():
        if answer.unknown_rows:
            return (
                Verdict.X_IN_OUTPUT,
                f"{answer.unknown_rows} of {answer.rows} vectors have X or Z in the output ({name})",
            )
    if len({answer.digest for answer in answers.values()}) > 1:
        counts = ", ".join(f"{name} {answer.mismatching_rows}" for name, answer in answers.items())
        return (
            Verdict.SIMULATORS_DISAGREE,
            f"the simulators differ on the same RTL and vectors (mismatches: {counts})",
        )
    wrong = {name: answer for name, answer in answers.items() if answer.mismatching_rows}
    if wrong:
        answer = next(iter(wrong.values()))
        return (
            Verdict.RTL_MISMATCH,
            f"{answer.mismatching_rows} of {answer.rows} vectors differ from the golden model",
        )
    if not answers or not all(answer.bits for answer in answers.values()):
        reason = "the program has no output bits" if output_bits == 0 else "there was no vector"
        return Verdict.NOT_RUN, f"nothing was compared: {reason}"
    answer = next(iter(answers.values()))
    return Verdict.PASS, f"all {answer.bits} output bits of {answer.rows} vectors equal the golden model"


def _result(name: str, outcome: Outcome | ToolError) -> SimulatorResult:
    if isinstance(outcome, ToolError):
        return SimulatorResult(name, failure=str(outcome))
    answer = outcome.answer
    return SimulatorResult(
        name,
        outcome.version,
        vectors_compared=answer.rows,
        bits_compared=answer.bits,
        mismatches=answer.mismatching_rows,
        vectors_with_x=answer.unknown_rows,
        digest=answer.digest,
        build_seconds=round(outcome.build_seconds, 3),
        run_seconds=round(outcome.run_seconds, 3),
        failure=answer.port_error,
    )


def _first_difference(outcomes: dict[str, Outcome | ToolError], verdict: Verdict) -> tuple[str, Difference] | None:
    """The simulator and row to show: what the verdict speaks of, Icarus first."""
    if verdict not in (Verdict.X_IN_OUTPUT, Verdict.SIMULATORS_DISAGREE, Verdict.RTL_MISMATCH):
        return None
    for name, outcome in outcomes.items():
        if isinstance(outcome, Outcome):
            unknown, mismatch = outcome.answer.first_unknown, outcome.answer.first_mismatch
            difference = unknown if verdict is Verdict.X_IN_OUTPUT else mismatch
            if difference is not None:
                return name, difference
    return None


def _describe(
    program: Program, batch: Batch, ports: Ports, folder: Path, name: str, difference: Difference
) -> Mismatch:
    """The first differing output of a row in words and bits."""
    row = difference.row
    expected = _packed_bits(folder / "expected.bin", row, ports.output_bits)
    output = 0
    for j, element in enumerate(ports.outputs):
        if unpack_element(difference.found, element) != unpack_element(expected, element):
            output = j
            break
    kind, element = program.output_types[output], ports.outputs[output]
    vector = _packed_bits(folder / "inputs.bin", row, ports.input_bits)
    inputs = [
        InputValue(j, oracle.show(value), unpack_element(vector, ports.inputs[j]))
        for j, value in enumerate(batch.row(row))
    ]
    return Mismatch(
        simulator=name,
        row=row,
        output=output,
        expected=value_of_bits(unpack_element(expected, element) or "0", kind),
        found=value_of_bits(unpack_element(difference.found, element) or "0", kind),
        inputs=inputs,
    )


def _packed_bits(path: Path, row: int, bits: int) -> str:
    """One row of a packed file as bits, most significant first."""
    size = (bits + 7) // 8
    if size == 0:
        return "0"
    packed = np.memmap(path, dtype=np.uint8, mode="r", offset=row * size, shape=(size,))
    return format(int.from_bytes(packed.tobytes(), "little"), f"0{bits}b")


def _blame(
    program: Program,
    design: Design,
    batch: Batch,
    ports: Ports,
    folder: Path,
    mismatch: Mismatch,
    options: Options,
    notice: Notice,
) -> Blame:
    """Replay the failing vector and name the op; a replay that fails says so instead."""
    name = mismatch.simulator
    public = ", built again with all signals public" if name == "verilator" else ""
    notice(f"replaying vector {mismatch.row} in {name}{public}")
    vector = _packed_bits(folder / "inputs.bin", mismatch.row, ports.input_bits)
    own = folder / f"replay_{name}"
    try:
        own.mkdir(parents=True, exist_ok=True)
        return blame_mismatch(
            program, design, name, batch, mismatch.row, vector, mismatch.output, own, timeout=options.timeout
        )
    except (DaisError, OSError) as error:
        return Blame("unknown", f"the replay failed: {error}", replayed_in=name)
