"""Verify a folder of ``emit --wrap axis`` in ``sim``, through its streams, as it is deployed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dais_verif.base.errors import ToolError, ViolationError, WrapperError
from dais_verif.base.verdict import Verdict
from dais_verif.record.simulation import SimulatorResult
from dais_verif.simulation.outputs import outputs_of
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.spec.machine.streams import StreamPins
from dais_verif.spec.program import Program
from dais_verif.spec.program.numbers import Batch
from dais_verif.spec.program.ports import ports_of

if TYPE_CHECKING:
    from dais_verif.simulation.judge import AxisOutcome
    from dais_verif.simulation.verify import Finding

__all__ = ["FACTS", "WrapperFolder", "find_wrapper", "verify_wrapper"]

FACTS = "dais.json"


@dataclass(frozen=True)
class WrapperFolder:
    """A ``folder`` and the facts in its ``dais.json``. ``latency``: the latency of the core, in clock cycles.

    ``pins``: the stream pins of a machine, whose hash is then in ``program_hash``.
    """

    folder: Path
    design: RtlDesign
    latency: int
    user_bits: int
    program_hash: str
    core: str
    pins: StreamPins | None = None


def find_wrapper(folder: Path) -> WrapperFolder:
    """Read a folder of ``emit --wrap axis``. Its files may have been changed since: the current files are verified.

    Raises ``InputError`` if it is not such a folder.
    """
    path = folder / FACTS
    if path.exists() and not path.is_file():
        raise WrapperError(f"{str(path)!r} must be a regular file; write the folder again")
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        if facts["kind"] != "axis":
            target = f"sim://{facts['kind']}"
            raise WrapperError(
                f"{str(folder)!r} is a wrapper with a byte link; `dais-verif hil --target {target}` simulates that"
            )
        sources = tuple(folder.absolute() / name for name in facts["files"] if name.endswith(".v"))
        design = RtlDesign(sources, str(facts["top"]))
        latency, user_bits = int(facts["core_latency"]), int(facts["user_bits"])
        pins = StreamPins(**facts["stream"]) if "stream" in facts else None
        digest = str(facts["program"]["hash"])
        found = WrapperFolder(folder, design, latency, user_bits, digest, str(facts["core"]), pins)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise WrapperError(
            f"{str(folder)!r} is not a folder of `dais-verif emit --wrap axis -o DIR`: {FACTS} is missing or damaged"
        ) from None
    for source in sources:
        if not source.is_file():
            raise WrapperError(f"{str(source)!r}, which {str(path)!r} lists, is missing; write the folder again")
    return found


def verify_wrapper(
    program: Program,
    batch: Batch,
    wrapped: WrapperFolder,
    folder: Path,
    *,
    simulators: Sequence[str],
    check: bool,
    seed: int,
    waves: bool,
    timeout: float | None,
) -> Finding:
    """Send every vector of ``batch`` as a beat, in all scenarios of pauses and resets, in all ``simulators``.

    Raises ``InputError`` if the folder holds another program.
    """
    from dais_verif.simulation.axis import simulate_axis
    from dais_verif.simulation.verify import Finding

    if wrapped.program_hash != program.hash:
        raise WrapperError(
            f"the folder contains program {wrapped.program_hash[:16]}..., this one is {program.hash[:16]}...; "
            "wrap this program, or name the other program"
        )
    try:
        found = simulate_axis(
            program,
            batch,
            wrapped.design,
            folder,
            latency=wrapped.latency,
            user_bits=wrapped.user_bits,
            simulators=simulators,
            check=check,
            seed=seed,
            waves=waves,
            timeout=timeout,
        )
    except ViolationError as error:
        return Finding(Verdict.PROGRAM_INVALID, f"{error}; --unchecked continues with the quantised value", [])
    output_bits = sum(kind.width for kind in program.output_types)
    results = [_result(name, outcome, output_bits) for name, outcome in found.outcomes.items()]
    # A faulty stream may lose beats, so results of single outputs are only given for a pass.
    passed = found.verdict is Verdict.PASS
    outputs = outputs_of(ports_of(program), batch.rows) if passed else []
    return Finding(found.verdict, found.message, results, outputs=outputs)


def _result(name: str, outcome: AxisOutcome | ToolError, output_bits: int) -> SimulatorResult:
    if isinstance(outcome, ToolError):
        return SimulatorResult(name, failure=str(outcome), code=outcome.code)
    heard = outcome.answer.heard
    beats = sum(one.compared for one in heard)
    return SimulatorResult(
        name,
        outcome.version,
        vectors_compared=beats,
        bits_compared=beats * output_bits,
        mismatches=sum(one.total_problems for one in heard),
        vectors_with_x=sum(one.unknown for one in heard),
        cached=outcome.cached,
        build_seconds=round(outcome.build_seconds, 3),
        run_seconds=round(outcome.run_seconds, 3),
        failure=outcome.answer.port_error,
    )
