"""The stages of a bitstream: read it back, simulate and prove it, and do the same with a seeded wrong table.

The stages read only the bitstream and its pin file, not the RTL, netlist and placement from which the bitstream was
made.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from dais_verif.base.errors import CertificateError, CertificateFailure
from dais_verif.base.files import write_atomically
from dais_verif.base.toolchain import tools
from dais_verif.base.toolchain.icetime import part_of
from dais_verif.base.verdict import Verdict
from dais_verif.hardware.bitstream.chip import Chip, read_chip
from dais_verif.hardware.bitstream.configuration import Bit, Configuration, Place
from dais_verif.hardware.bitstream.logic import Cell, ReadBack
from dais_verif.hardware.bitstream.pins_file import read_pins
from dais_verif.hardware.bitstream.trace import TABLE, read_back
from dais_verif.hardware.bitstream.unpack import unpack
from dais_verif.record.proof import ProofRecord, Status
from dais_verif.record.simulation import SimulationRecord
from dais_verif.signoff.context import (
    Context,
    SignOffStage,
    interface_of,
    pin_arguments,
    program_arguments,
    prove_arguments,
    simulate,
    write_json,
)
from dais_verif.signoff.evidence import Sent, proved, read_tree, simulated
from dais_verif.signoff.judge import SENT, Asked, Judgement, judge_simulation, judge_what_proves, same_program
from dais_verif.signoff.policy import Policy
from dais_verif.signoff.seeded_faults import SEEDED_FAULT
from dais_verif.signoff.signed_design import Subject, sha256_of
from dais_verif.signoff.verbs import RUN, call

__all__ = [
    "FOLDER",
    "READ_BACK",
    "WrongTable",
    "bitstream_stages",
    "problems_of_fault",
    "problems_of_proof",
    "seed_wrong_table",
    "with_read_back",
    "wrong_table",
]


#: The logic of the bitstream as given to ``sim`` and ``prove``, in the folder of a stage.
READ_BACK = f"{RUN}/read_back.v"

#: The stage that reads a bitstream back and simulates it.
FOLDER = "bitstream"
_PROOF, _BAD, _BAD_PROOF = "bitstream-proof", "known-bad-bitstream", "known-bad-bitstream-proof"
_WRONG = "wrong_table.bin"


def bitstream_stages(good: str, policy: Policy) -> list[SignOffStage]:
    """Return the stages, with those of proofs only if ``policy`` requires proofs. ``good``: the first simulation."""
    run = partial(_run, good=good)
    stages = [
        SignOffStage("bitstream", FOLDER, run, _judge, needs=(good,), waiver="bitstream"),
        SignOffStage(
            "known-bad bitstream, simulated", _BAD, partial(_run_bad, good=good), _judge_bad, True, (good, FOLDER)
        ),
    ]
    if policy.proof == "off":
        return stages
    bad = partial(_prove_bad, good=good)
    return [
        *stages,
        SignOffStage(
            "bitstream, for all inputs",
            _PROOF,
            partial(_prove, good=good),
            _judge_proof,
            needs=(good, FOLDER),
            waiver="bitstream",
        ),
        SignOffStage("known-bad bitstream, proof", _BAD_PROOF, bad, _judge_bad_proof, True, (good, FOLDER, _PROOF)),
    ]


def _design(context: Context, good: str, bitstream: Path | None = None) -> list[str]:
    """Return the arguments that name the bitstream, its pin file, and the functions of pins."""
    subject, policy = context.subject, context.policy
    bits = subject.only("bitstream").path if bitstream is None else str(bitstream)
    words = ["--bitstream", bits, "--pins", subject.only("pins").path, "--device", str(policy.bitstream.device)]
    words += ["--top", subject.top] + ([] if policy.rtl.ports is None else ["--ports", policy.rtl.ports])
    return [*words, *pin_arguments(context, simulated(context.folder / good))]


def _asked(context: Context) -> Asked:
    return context.asked(context.policy.seeds[0], context.policy.bitstream.vectors, rtl=False, swept=False)


# the bitstream itself


def _run(context: Context, folder: Path, good: str) -> None:
    simulate(context, folder, _design(context, good), _asked(context), context.policy.bitstream.vectors)


def _judge(context: Context, folder: Path) -> Judgement:
    return with_read_back(judge_simulation(context.subject, context.policy, folder, _asked(context)), folder)


def with_read_back(judged: Judgement, folder: Path) -> Judgement:
    """Return the judgement of a simulation, with one more problem if it did not simulate the read-back logic."""
    problems = list(judged.problems)
    if judged.verdict is Verdict.PASS and simulated(folder).rtl.sha256 != [sha256_of(folder / READ_BACK)]:
        problems.append("the simulated logic is not what was read back")
    return Judgement(judged.verdict, judged.message, tuple(problems), judged.reproduce)


def _prove(context: Context, folder: Path, good: str) -> None:
    call("prove", prove_arguments(context, program_arguments(context.subject), _design(context, good)), folder)


def _judge_proof(context: Context, folder: Path) -> Judgement:
    def problems(subject: Subject, policy: Policy, record: ProofRecord) -> Iterator[str]:
        yield from problems_of_proof(context, folder, record)
        if record.confirmation is None or record.confirmation.verdict is not Verdict.PASS:
            yield "the proof was not confirmed by simulation"
        decided = {claim.output for claim in record.outputs if claim.status is Status.PROVED}
        missing = [n for n, kind in enumerate(subject.program.output_types) if kind.width and n not in decided]
        if missing or not decided:
            yield f"outputs {', '.join(map(str, missing[:8]))} are not proved"

    return judge_what_proves(context.subject, context.policy, folder, problems)


def problems_of_proof(context: Context, folder: Path, record: ProofRecord) -> Iterator[str]:
    """Yield why a proof in ``folder`` does not cover the program and the read-back design as the policy requires."""
    yield from same_program(context.subject, record.program.hash, record.program.file_sha256)
    made = [sha256_of(context.folder / FOLDER / READ_BACK)]
    if record.rtl.sha256 != made or [sha256_of(folder / READ_BACK)] != made:
        yield "the proved logic is not what was read back and simulated"
    if record.unchecked is not (context.policy.overflow == "unchecked"):
        yield f"overflow was {'not ' if record.unchecked else ''}checked, contrary to the policy"
    if record.cached_claims:
        yield f"{record.cached_claims} claims were taken from earlier proofs"


# a faulty bitstream


def _seed(context: Context, folder: Path, good: str) -> Path:
    """Write a bitstream with a wrong output bit, which is not the valid bit, into ``folder``, and return its path."""
    clocking = interface_of(context, simulated(context.folder / good)).clocking
    return seed_wrong_table(
        context, folder, [] if clocking is None or clocking.valid_out is None else [clocking.valid_out]
    )


def seed_wrong_table(context: Context, folder: Path, controls: Sequence[str] = ()) -> Path:
    """Write a bitstream with a wrong output bit, outside ``controls``, into ``folder``, and return its path.

    A description of the fault is written there as well.
    """
    folder.mkdir(exist_ok=True)
    bitstream, pins = (Path(context.subject.only(role).path) for role in ("bitstream", "pins"))
    found = wrong_table(bitstream, pins, str(context.policy.bitstream.device), folder / _WRONG, controls)
    told = {"file": _WRONG, "sha256": sha256_of(folder / _WRONG), "always": found.always}
    write_json(folder / SEEDED_FAULT, {**told, "cell": found.cell, "output": found.output})
    return folder / _WRONG


def _run_bad(context: Context, folder: Path, good: str) -> None:
    design = _design(context, good, _seed(context, folder, good))
    simulate(context, folder, design, _asked(context), context.policy.bitstream.vectors)


def _prove_bad(context: Context, folder: Path, good: str) -> None:
    design = _design(context, good, _seed(context, folder, good))
    call("prove", prove_arguments(context, program_arguments(context.subject), design), folder)


def _judge_bad(context: Context, folder: Path) -> Judgement:
    record, asked = simulated(folder), _asked(context)
    least = asked.rows if read_tree(folder / SEEDED_FAULT).get("always") is not False else 1
    problems = [*problems_of_fault(context, folder, record)]
    if record.vectors != asked.rows or Sent.load(folder / SENT).total != asked.rows:
        problems.append(f"not all of {asked.rows} vectors were sent")
    if record.verdict is not Verdict.RTL_MISMATCH:
        problems.append(f"a fault was seeded, but the verdict is {record.verdict.value}: {record.message}")
    if sorted(one.name for one in record.simulators) != sorted(asked.simulators):
        problems.append(f"not simulated in {' and '.join(asked.simulators)}")
    for one in record.simulators:
        if one.vectors_compared != asked.rows or one.mismatches < max(least, 1) or one.failure is not None:
            problems.append(f"{one.name} found {one.mismatches} of at least {least} vectors that were corrupted")
    found = sorted({one.mismatches for one in record.simulators})
    if len(found) != 1:
        problems.append("the simulators found the fault on different vectors")
    message = f"found on {found[0] if found else 0} of {asked.rows} vectors, in {' and '.join(asked.simulators)}"
    return Judgement(record.verdict, message, tuple(problems), record.reproduce)


def _judge_bad_proof(context: Context, folder: Path) -> Judgement:
    record = proved(folder)
    problems = [*problems_of_fault(context, folder, record)]
    if record.verdict is not Verdict.RTL_MISMATCH:
        problems.append(f"a fault was seeded, but the verdict is {record.verdict.value}: {record.message}")
    replay = None if record.counterexample is None else record.counterexample.replay
    if replay is None or replay.verdict is not Verdict.RTL_MISMATCH:
        problems.append("no simulator confirms the counterexample")
    return Judgement(record.verdict, "refuted, and a simulator confirms it", tuple(problems), record.reproduce)


def problems_of_fault(context: Context, folder: Path, record: SimulationRecord | ProofRecord) -> Iterator[str]:
    """Yield why a record is not about the faulty bitstream in ``folder``, or that the fault changes nothing."""
    subject, seeded = context.subject, read_tree(folder / SEEDED_FAULT)
    yield from same_program(subject, record.program.hash, record.program.file_sha256)
    wrong, made = sha256_of(folder / _WRONG), sha256_of(folder / READ_BACK)
    if (seeded.get("file"), seeded.get("sha256")) != (_WRONG, wrong) or record.rtl.sha256 != [made]:
        yield "the record is not of the bitstream with the seeded fault"
    if wrong == subject.only("bitstream").sha256 or made == sha256_of(context.folder / FOLDER / READ_BACK):
        yield "the seeded fault does not change the bitstream"


# Seed a fault in a bitstream: invert the look-up table of a cell, so that an output bit is wrong.


#: The net that stands for no reset.
_NEVER = "1'b0"


class WrongTable(NamedTuple):
    """The ``cell`` with the wrong table, and the wrong ``output`` bit. ``always``: no reset can mask the fault."""

    cell: str
    output: str
    always: bool


def wrong_table(bitstream: Path, pins: Path, device: str, path: Path, controls: Collection[str] = ()) -> WrongTable:
    """Write to ``path`` a copy of ``bitstream`` with one inverted table, which drives an output bit or its register.

    ``controls``: output ports that carry no output of the program; their tables are not chosen. Raises ``InputError``
    if no table drives an output bit, so that no fault can be seeded.
    """
    with tempfile.TemporaryDirectory(dir=path.parent) as name:
        folder = Path(name)
        configuration = unpack(bitstream, folder)
        chip = read_chip(tools.icestorm_chip(configuration.device), configuration.device)
        found = read_back(chip, configuration, read_pins(pins), part_of(device)[1])
        cell, output, always = _behind(found, controls)
        text = (folder / "unpacked.asc").read_text(encoding="ascii")
        text = _upside_down(text, (cell.x, cell.y), _bits_of(chip, configuration, cell))
        packed = subprocess.run(
            [tools.icestorm("icepack")], input=text.encode(), capture_output=True, timeout=120, check=False
        )
    if packed.returncode or not packed.stdout:
        raise CertificateFailure(f"icepack exited with code {packed.returncode} on a bitstream with a wrong table")
    write_atomically(path, packed.stdout)
    return WrongTable(str(cell), output, always)


def _behind(found: ReadBack, controls: Collection[str] = ()) -> tuple[Cell, str, bool]:
    """Return the cell that drives an output bit, the bit, and whether no reset can mask a fault; prefer such a cell."""
    tables = {lut.name: lut.cell for lut in found.luts}
    registers = {register.name: register for register in found.registers}
    candidates = []
    for bit in sorted((bit for bit in found.driven if bit.name not in controls), key=str):
        register = registers.get(found.driven[bit])
        signal = found.driven[bit] if register is None else register.data
        if signal in tables:
            candidates.append((tables[signal], str(bit), register is None or register.reset == _NEVER))
    for candidate in (*(found for found in candidates if found[2]), *candidates):
        return candidate
    raise CertificateError(
        "no output bit of the bitstream is made by a table: no fault can be seeded that is certain to be visible"
    )


def _bits_of(chip: Chip, configuration: Configuration, cell: Cell) -> list[Bit]:
    """Return the positions of the sixteen bits of the cell's table in its tile."""
    bits = chip.functions(configuration.kinds[cell.x, cell.y])[f"LC_{cell.number}"]
    return [bits[place] for place in TABLE]


def _upside_down(text: str, place: Place, bits: list[Bit]) -> str:
    """Return ``text``, the output of ``iceunpack``, with ``bits`` of the tile at ``place`` inverted."""
    lines = text.split("\n")
    start = lines.index(f".logic_tile {place[0]} {place[1]}") + 1
    for row, column in bits:
        line = lines[start + row]
        lines[start + row] = line[:column] + "10"[int(line[column])] + line[column + 1 :]
    return "\n".join(lines)
