"""Shared code of stages that must fail: seed a fault in RTL around a design, and check that the fault was detected."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dais_verif.counts import counted
from dais_verif.dut.discover import ports_in
from dais_verif.dut.vhdl_ports import vhdl_ports_in, vhdl_types_in
from dais_verif.errors import CertificateError
from dais_verif.files import make_folder, write_atomically
from dais_verif.record.program import ProgramInfo
from dais_verif.record.simulation import SimulationRecord
from dais_verif.signoff.context import Context, file_arguments, write_json
from dais_verif.signoff.judge import Asked, same_inputs, same_simulators
from dais_verif.signoff.seeded_faults import SeededFault
from dais_verif.signoff.subject import file_hash, load_design, sha256_of
from dais_verif.signoff.wrappers import OriginalDesign
from dais_verif.toolchain.sources import is_vhdl
from dais_verif.verdict import Verdict

__all__ = ["SEEDED_FAULT", "is_of_what_was_seeded", "original_design", "problems_of_spoilt", "with_bad"]

#: The description of the seeded fault, in the folder of a stage.
SEEDED_FAULT = "planted.json"


def with_bad(context: Context, folder: Path, bad: SeededFault, suffix: str) -> list[str]:
    """Write the wrapper ``bad`` and its description into ``folder``, and return the arguments for the wrapped RTL."""
    make_folder(folder)
    path = folder / f"{bad.top}{suffix}"
    # If one Verilog module has a time scale, all modules must have one.
    timed = suffix == ".v" and any(b"`timescale" in Path(source).read_bytes() for source in context.subject.rtl)
    write_atomically(path, (("`timescale 1ns/1ps\n" if timed else "") + bad.text).encode())
    hashes = [file.sha256 for file in context.subject.of("rtl")] + [file_hash("rtl", path).sha256]
    seeded = {"program": context.subject.design.hash, "top": bad.top, "rtl": hashes, "file": path.name}
    write_json(folder / SEEDED_FAULT, {**seeded, "rows": bad.rows, "first": bad.first})
    return file_arguments(context.subject, context.policy, path, top=bad.top)


def original_design(context: Context) -> OriginalDesign:
    """Return the RTL that is signed off. Raises ``InputError`` if its ports cannot be determined."""
    sources, top = [Path(path) for path in context.subject.rtl], context.subject.top
    vhdl = any(map(is_vhdl, sources))
    ports = vhdl_ports_in(sources, top) if vhdl else ports_in(sources, top)
    if ports is None:
        raise CertificateError("no known-bad RTL can be made: the ports of the design cannot be found in its text")
    return OriginalDesign(top, ports, vhdl_types_in(sources, top) if vhdl else None)


def is_of_what_was_seeded(
    context: Context, folder: Path, seeded: dict[str, Any], program: ProgramInfo, top: str | None, sha256: list[str]
) -> Iterator[str]:
    """Yield the reasons why a record is not about the signed-off design with a seeded fault.

    Raises ``InputError`` if the file with the fault no longer exists.
    """
    subject = context.subject
    hashes = [file.sha256 for file in subject.of("rtl")]
    told = seeded.get("program"), seeded.get("top"), seeded.get("rtl")
    if (program.hash, top, sha256) != told:
        yield "the record is not of the design with the seeded fault"
    path = folder / Path(str(seeded.get("file"))).name
    if seeded.get("program") == subject.design.hash:
        made = [*hashes, file_hash("rtl", path).sha256]
        given = subject.of("program")[0].sha256
    else:
        made, given = hashes, sha256_of(path)
        poisoned = load_design(path, None if path.suffix == ".json" else "v1")
        if told[:2] != (poisoned.hash, subject.top):
            yield f"{path.name} is not the program that was seeded"
    if told[2] != made or program.file_sha256 != given:
        yield "the fault was not seeded in the signed-off design"


def problems_of_spoilt(
    context: Context, folder: Path, seeded: dict[str, Any], record: SimulationRecord, asked: Asked
) -> Iterator[str]:
    """Yield why a simulation did not find exactly the fault: the same count and first vector in every simulator."""
    yield from is_of_what_was_seeded(context, folder, seeded, record.program, record.rtl.top, record.rtl.sha256)
    yield from same_simulators(record, asked.simulators)
    yield from same_inputs(context.subject, record)
    if record.verdict is not Verdict.RTL_MISMATCH:
        yield f"a fault was seeded, but the verdict is {record.verdict.value}: {record.message}"
    if record.vectors != asked.rows:
        yield f"{counted(record.vectors, 'vector')}, must be {asked.rows}"
    rows, first = seeded.get("rows"), seeded.get("first")
    if not isinstance(rows, int) or rows < 1:
        yield "no vector was corrupted"
    for simulator in record.simulators:
        if (simulator.vectors_compared, simulator.mismatches) != (asked.rows, rows) or simulator.failure is not None:
            yield (
                f"{simulator.name} found {simulator.mismatches} of {rows} corrupted vectors"
                f" among {simulator.vectors_compared} ({simulator.failure or 'no failure'})"
            )
    found = record.first_mismatch
    if found is None or found.row != first:
        yield f"the first corrupted vector is {first}, but the first found is {'none' if found is None else found.row}"
