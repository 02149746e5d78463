"""Write the record of a simulation: the part before the simulators start, and their results."""

from __future__ import annotations

import hashlib
import platform
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from dais_verif.base.errors import FileError
from dais_verif.base.stopwatch import Stopwatch
from dais_verif.base.toolchain import private_files
from dais_verif.base.verdict import Verdict
from dais_verif.base.version import VERSION
from dais_verif.hardware.ports.bind import FROM_FILE
from dais_verif.record.base import to_tree
from dais_verif.record.program import ProgramInfo, ProjectInfo, RtlFacts
from dais_verif.record.simulation import (
    RTL_IN_ICARUS,
    Decision,
    SimulationRecord,
    SimulatorResults,
    StimulusClass,
    Times,
)
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.simulation.simulators.driven_inputs import without_computed_attributes
from dais_verif.spec.machine import Machine
from dais_verif.spec.program import Program
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.simulation_request import SimulationRequest
from dais_verif.verbs.work_folder import WatchedFiles

if TYPE_CHECKING:
    from dais_verif.simulation.verify import Finding

__all__ = ["begun_machine_record", "begun_record", "finished_record", "given_vectors", "with_share_of_icarus"]


def given_vectors(path: Path, rows: int) -> StimulusClass:
    """Return the entry of a record for the ``rows`` vectors of file ``path``. Raises ``InputError``."""
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise FileError(f"cannot read {str(path)!r}: {error.strerror}") from None
    return StimulusClass("file", rows, str(path), digest)


def begun_record(
    request: SimulationRequest,
    program: Program,
    watched: WatchedFiles,
    asked: DesignRequest,
    warnings: list[str],
    classes: list[StimulusClass],
    simulators: Sequence[str],
    project: ProjectInfo | None = None,
) -> SimulationRecord:
    """Return the record of a run in progress. ``watched``: the files of the design."""
    decisions = _decisions(request, program, watched.design, asked, simulators)
    return _begun(request, ProgramInfo.of(program), watched, asked, warnings, classes, decisions, project)


def begun_machine_record(
    request: SimulationRequest,
    machine: Machine,
    watched: WatchedFiles,
    asked: DesignRequest,
    warnings: list[str],
    classes: list[StimulusClass],
    simulators: Sequence[str],
    project: ProjectInfo | None = None,
) -> SimulationRecord:
    """Return the record of a machine's run in progress; its vectors are cycles."""
    why = "the simulation is restarted for it: registers have their initial values only at its start"
    decisions = [Decision("sequences", "each from power-up", why), _overflow(request)]
    decisions += _left_out(watched.design) if "icarus" in simulators and asked.rtl else []
    info = ProgramInfo.of_machine(machine)
    return _begun(request, info, watched, asked, warnings, classes, decisions, project)


def _begun(
    request: SimulationRequest,
    info: ProgramInfo,
    watched: WatchedFiles,
    asked: DesignRequest,
    warnings: list[str],
    classes: list[StimulusClass],
    decisions: list[Decision],
    project: ProjectInfo | None,
) -> SimulationRecord:
    return SimulationRecord(
        verdict=Verdict.NOT_RUN,
        message="the run has not ended",
        program=info,
        seed=request.seed,
        vectors=sum(part.vectors for part in classes),
        reproduce=request.reproduce(),
        rtl=replace(_rtl(watched, asked), project=project),
        tools={},  # reading the versions takes as long as starting a simulator
        unchecked=request.unchecked,
        warnings=warnings,
        state="running",
        times=Times(datetime.now(UTC).isoformat(timespec="seconds"), 0.0),
        stimulus=classes,
        decisions=decisions,
    )


def finished_record(record: SimulationRecord, finding: Finding, watch: Stopwatch) -> SimulationRecord:
    """Return the record of a run with the result ``finding``. The run's time counts from the start of the command."""
    assert record.times is not None
    swept = [StimulusClass("exhaustive", finding.exhaustive_vectors)] if finding.exhaustive_vectors else []
    found = {simulator.latency for simulator in finding.simulators if simulator.latency is not None}
    latencies = [Decision("latency", f"{latency} clock edges", "as the design shows it") for latency in sorted(found)]
    if any(decision.what == "latency" for decision in record.decisions):  # the latency was given
        latencies = []
    return replace(
        record,
        verdict=finding.verdict,
        message=finding.message,
        tools=_tools(),
        simulators=SimulatorResults(finding.simulators),
        first_mismatch=finding.first_mismatch,
        evidence=finding.evidence,
        exhaustive_vectors=finding.exhaustive_vectors,
        profile=watch.stages,
        state="complete",
        times=replace(record.times, seconds=round(time.monotonic() - watch.started, 3)),
        stimulus=[*record.stimulus, *swept],
        outputs=finding.outputs,
        decisions=[*record.decisions, *latencies],
    )


def with_share_of_icarus(record: SimulationRecord, request: SimulationRequest) -> SimulationRecord:
    """Add to ``record`` which vectors Icarus ran in addition to Verilator, if not all; this depends on the computer.

    The command to reproduce the run requests the same number of vectors.
    """
    icarus = next((one for one in record.simulators if one.name == "icarus" and one.failure is None), None)
    if icarus is None or icarus.vectors_compared >= record.vectors:
        return record
    chosen = f"the first {icarus.vectors_compared} of {record.vectors}"
    decision = Decision("vectors in icarus", chosen, "it ran until verilator ended; --icarus-vectors says how many")
    again = request.reproduce(["--icarus-vectors", str(icarus.vectors_compared)])
    return replace(record, reproduce=again, decisions=[*record.decisions, decision])


def _decisions(
    request: SimulationRequest, program: Program, design: RtlDesign, asked: DesignRequest, simulators: Sequence[str]
) -> list[Decision]:
    """Return the choices that the input leaves open, with the reason for each."""
    origin = program.origin
    told = request.layout is not None
    why = "--layout" if told else "assumed: both word orders are valid" if origin.assumed else "detected"
    found = [Decision("layout", origin.layout, why)]
    if program.intervals is not None:
        declared = (
            ("all values of their types", "--out-of-range") if request.out_of_range else ("declared intervals", "")
        )
        found.append(Decision("range of the inputs", declared[0], declared[1] or "the program's source declares them"))
    found.append(_overflow(request))
    if "icarus" in simulators and asked.rtl:
        found += _left_out(design)
    if design.dut is not None and asked.rtl:
        why = "--ports" if FROM_FILE in design.dut.how else "read in the RTL"
        found.append(Decision("width of the ports", design.dut.how, why))
    pins = None if design.dut is None else design.dut.interface.clocking
    if pins is not None and pins.latency is not None:
        given = "--latency" if request.design.pins.latency is not None else "from the project folder"
        why = given if asked.pins.latency is not None else "--ports" if asked.ports else "as it was emitted"
        found.append(Decision("latency", f"{pins.latency} clock edges", why))
    return found


def _overflow(request: SimulationRequest) -> Decision:
    overflow = ("continued past", "--unchecked") if request.unchecked else ("checked on every vector", "default")
    return Decision("overflow", *overflow)


def _left_out(design: RtlDesign) -> list[Decision]:
    """Return the parts of the RTL that are removed for Icarus."""
    places = [
        f"{source.name}:{line}"
        for source in design.sources
        for line in without_computed_attributes(private_files.read(source)).lines
    ]
    if not places:
        return []
    more = f" and {len(places) - 4} more" if len(places) > 4 else ""
    why = "Icarus refuses (* NAME = EXPRESSION *), which has no effect in simulation"
    return [Decision(RTL_IN_ICARUS, f"a copy without the attributes at {', '.join(places[:4])}{more}", why)]


def _rtl(watched: WatchedFiles, asked: DesignRequest) -> RtlFacts:
    design, dut = watched.design, watched.design.dut
    return RtlFacts(
        top=design.top,
        emitted=not asked.rtl and asked.wrapped is None,
        files=[str(source) for source in design.sources],
        sha256=watched.of_sources,
        data=watched.of_data,
        widths=None if dut is None else dut.how,
        face=None if dut is None else to_tree(dut.interface.to_tree()),
        bitstream=watched.bitstream,
    )


def _tools() -> dict[str, str]:
    from importlib.metadata import version

    return {
        "dais-verif": VERSION,
        "python": platform.python_version(),
        **{name: version(name) for name in ("cocotb", "numpy")},
    }
