"""Seed faults that must be detected: a golden model with a changed output, and RTL with wrong bits.

Both are made from the signed-off design, and the number of vectors on which they differ from it is known in advance.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dais_verif.base.errors import CertificateError
from dais_verif.base.files import make_folder, write_atomically
from dais_verif.base.text import counted
from dais_verif.base.toolchain.rtl_files import is_vhdl
from dais_verif.base.verdict import Verdict
from dais_verif.coverage.boundaries import with_boundaries
from dais_verif.golden import Golden
from dais_verif.hardware.ports.discover import ports_in
from dais_verif.hardware.ports.interface import DesignInterface
from dais_verif.hardware.ports.vhdl_ports import vhdl_ports_in, vhdl_types_in
from dais_verif.record.program import ProgramInfo
from dais_verif.record.proof import ProofRecord
from dais_verif.record.simulation import SimulationRecord
from dais_verif.signoff.context import (
    Context,
    SignOffStage,
    file_arguments,
    interface_of,
    pin_arguments,
    program_arguments,
    refutation_arguments,
    simulate,
    write_json,
)
from dais_verif.signoff.evidence import Bits, Sent, chunks, proved, read_tree, simulated
from dais_verif.signoff.inverting_wrappers import OriginalDesign, inverting_wrapper
from dais_verif.signoff.judge import SENT, Asked, Judgement, same_inputs, same_simulators
from dais_verif.signoff.signed_design import file_hash, load_design, sha256_of
from dais_verif.signoff.verbs import RUN, call
from dais_verif.simulation.testbench.packed_rows import Words, row_words
from dais_verif.spec.program import Program, load, write_binary
from dais_verif.spec.program.conversion import to_alir
from dais_verif.spec.program.json_writers import alir_json
from dais_verif.spec.program.model import Columns
from dais_verif.spec.program.numbers import IntArray
from dais_verif.stimulus import Stimulus, Vectors, read_batch

__all__ = [
    "Poison",
    "SEEDED_FAULT",
    "SeededFault",
    "always_wrong",
    "differing_rows",
    "is_of_what_was_seeded",
    "original_design",
    "poison",
    "problems_of_spoilt",
    "seed_faults_in_proof",
    "seed_faults_in_simulation",
    "sometimes_wrong",
    "with_bad",
]


#: The number of vectors chosen for RTL that is sometimes wrong: evenly spread, each with a different inverted output
#: bit.
_WRONG_VECTORS = 8

_CONST = 5
_SLICE = 16384


@dataclass(frozen=True)
class Poison:
    """The file of a changed program, whose output ``output`` is the constant ``value``."""

    name: str
    data: bytes
    output: int
    value: int

    @property
    def layout(self) -> str | None:
        """The layout in which the file is read; None: it says so itself."""
        return None if self.name.endswith("json") else "v1"


@dataclass(frozen=True)
class SeededFault:
    """A module ``top`` around a design, in the design's language.

    ``rows``: how many vectors have wrong outputs; ``first``: the number of the first such vector.
    """

    top: str
    text: str
    rows: int
    first: int


# the golden model


def poison(program: Program, original: bytes, vectors: Vectors, *, check: bool) -> Poison:
    """Return ``program`` with one output replaced by a constant that it has on some of ``vectors`` and not on others.

    If all outputs are constant, one becomes another constant.

    Only the value changes: ports, intervals and promises are kept. ``original``: the bytes that the program was read
    from. Raises ``InputError`` if there is no such output.
    """
    golden = Golden(program)
    found: tuple[int, int] | None = None
    firsts: list[int] | None = None
    for start in range(0, vectors.rows, _SLICE):
        outputs = golden.run_raw(vectors.slice(start, min(start + _SLICE, vectors.rows)), check=check, named=start)
        firsts = firsts or [int(values[0]) for values in outputs]
        found = _two_values(program, outputs, firsts)
        if found is not None:
            break
    found = found or _other_value(program, firsts or [])
    if found is None:
        raise CertificateError("no output takes two values on these vectors: no poisoned model would be detected")
    number, value = found
    constant = -value if program.outputs[number][2] else value
    if program.origin.layout == "alir":
        return Poison("poisoned.json", alir_json(to_alir(_in_columns(program, number, constant))), number, value)
    if program.intervals is not None:
        return Poison("poisoned.json", _in_json(original, number, constant), number, value)
    return Poison("poisoned.bin", write_binary(_in_columns(program, number, constant), "v1"), number, value)


def differing_rows(program: Program, made: Poison, vectors: Vectors, *, check: bool) -> tuple[int, int]:
    """Return on how many of ``vectors`` the poisoned program differs from ``program``, and the number of the first.

    Raises ``InputError`` if it differs on none.
    """
    golden = Golden(program)
    rows, first = 0, None
    for start in range(0, vectors.rows, _SLICE):
        outputs = golden.run_raw(vectors.slice(start, min(start + _SLICE, vectors.rows)), check=check, named=start)
        differ = np.flatnonzero(outputs[made.output] != made.value)
        if first is None and len(differ):
            first = start + int(differ[0])
        rows += len(differ)
    if first is None:
        raise CertificateError("the poisoned model equals the program on all vectors, so it would not be detected")
    return rows, first


def _two_values(program: Program, outputs: Sequence[IntArray], firsts: Sequence[int]) -> tuple[int, int] | None:
    """Return the number of an output, and one of its values that differs from its first value and fits a data word."""
    for number, (index, _, _) in enumerate(program.outputs):
        others = outputs[number][outputs[number] != firsts[number]][:64].tolist() if index >= 0 else []
        for value in others:
            if -(1 << 62) < value < 1 << 62:
                return number, int(value)
    return None


def _other_value(program: Program, firsts: Sequence[int]) -> tuple[int, int] | None:
    """Return the number of an output that is constant on the vectors, and a value of its type that it never takes.

    None where declared intervals would not hold that value.
    """
    if program.intervals is None:
        for number, ((index, _, negative), value) in enumerate(zip(program.outputs, firsts, strict=False)):
            if index >= 0 and program.ops[index].type.width:
                other = (-value if negative else value) ^ 1
                return number, -other if negative else other
    return None


def _in_columns(program: Program, number: int, constant: int) -> Program:
    """Return ``program`` with ``constant`` as output ``number``.

    The constant is inserted before the last op, so that only outputs that read the last op need a new index.
    """
    last = program.n_ops - 1
    source = int(program.out_idx[number])
    kind = [int(column[source]) for column in program.columns[4:]]
    columns = Columns(
        *(
            np.insert(column, last, value)
            for column, value in zip(program.columns, (_CONST, -1, -1, constant, *kind), strict=True)
        )
    )
    out_idx = np.where(program.out_idx == last, last + 1, program.out_idx)
    out_idx[number] = last
    intervals = program.intervals
    if intervals is not None:
        intervals = (*intervals[:last], intervals[source], intervals[last])
    return replace(program, columns=columns, out_idx=out_idx, intervals=intervals, estimates=None)


def _in_json(original: bytes, number: int, constant: int) -> bytes:
    """Return da4ml's JSON with ``constant`` as output ``number``; it keeps the declared interval of the output's op."""
    tree: list[Any] = json.loads(gzip.decompress(original) if original[:2] == b"\x1f\x8b" else original)
    out_idx, ops = tree[2], tree[5]
    last, source = len(ops) - 1, ops[out_idx[number]]
    tree[2] = [last + 1 if index == last else index for index in out_idx]
    tree[2][number] = last
    ops.insert(last, [-1, -1, _CONST, constant, *source[4:]])
    return json.dumps(tree).encode()


# the RTL


def always_wrong(interface: DesignInterface, design: OriginalDesign) -> SeededFault:
    """Return the design with the lowest bit of each output port inverted, on all vectors."""
    inverted = {wire.offset: () for wire in interface.outputs if wire.width}
    outer = _outer(design, "always")
    return SeededFault(outer, inverting_wrapper(interface, design, outer, [], inverted), 0, 0)


def sometimes_wrong(interface: DesignInterface, design: OriginalDesign, run: Path, rows: int, seed: int) -> SeededFault:
    """Return the design with wrong bits on only some of the first ``rows`` vectors of ``run``, including the last.

    Where its outputs equal those of one of the chosen vectors, one bit is inverted; which bit depends on the vector.
    """
    bits = Bits(interface.input_bits, interface.output_bits)
    expected = np.concatenate([words for start, _, words in chunks(run, bits) if start < rows] or [_none(bits)])[:rows]
    if not len(expected):
        raise CertificateError("the simulation left no vectors on which RTL could be made wrong")
    chosen = np.unique(np.linspace(0, len(expected) - 1, _WRONG_VECTORS).astype(int))
    patterns = np.unique(expected[chosen], axis=0)
    which = np.random.default_rng(seed).permutation(bits.outputs)
    inverted: dict[int, tuple[int, ...]] = {}
    for number in range(len(patterns)):
        bit = int(which[number % bits.outputs])
        inverted[bit] = (*inverted.get(bit, ()), number)
    rare = [int.from_bytes(pattern.tobytes(), "little") for pattern in patterns]
    spoilt = np.flatnonzero(np.any([(expected == pattern).all(axis=1) for pattern in patterns], axis=0))
    outer = _outer(design, "sometimes")
    return SeededFault(outer, inverting_wrapper(interface, design, outer, rare, inverted), len(spoilt), int(spoilt[0]))


def _none(bits: Bits) -> Words:
    return np.zeros((0, row_words(bits.outputs)), dtype="<u8")


def _outer(design: OriginalDesign, kind: str) -> str:
    return f"{design.top}_{kind}_wrong"


# Shared code of stages that must fail: seed a fault in RTL around a design, and check that the fault was detected.


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


# Stages that must fail: the signed-off design with a seeded fault is run in the same way as without the fault.
#
# Each passes only if exactly this fault is detected: by every simulator with the right number of wrong vectors and
# the right first one; by the prover with an input that a simulator confirms. A verification that cannot fail does not
# detect it.


def seed_faults_in_simulation(good: str) -> list[SignOffStage]:
    """Return the stages with seeded faults for the simulation in folder ``good``."""
    return [
        SignOffStage(
            "known-bad RTL, simulated",
            "known-bad-rtl",
            partial(_simulate_bad, good=good),
            _judge_simulated,
            True,
            (good,),
        ),
        SignOffStage(
            "poisoned model, simulated",
            "poisoned-model",
            partial(_simulate_poisoned, good=good),
            _judge_simulated,
            True,
            (good,),
        ),
    ]


def seed_faults_in_proof(good: tuple[str, ...]) -> list[SignOffStage]:
    """Return the stages with seeded faults for the proof. ``good``: the folders of the simulation and the proof."""
    return [
        SignOffStage(
            "known-bad RTL, proof", "known-bad-proof", partial(_prove_bad, good=good[0]), _judge_proved, True, good
        ),
        SignOffStage(
            "poisoned model, proof",
            "poisoned-proof",
            partial(_prove_poisoned, good=good[0]),
            _judge_proved,
            True,
            good,
        ),
    ]


# seeding


def _simulate_bad(context: Context, folder: Path, good: str) -> None:
    record, asked = simulated(context.folder / good), _asked(context)
    interface, design = interface_of(context, record), original_design(context)
    bad = sometimes_wrong(interface, design, context.folder / good / RUN, asked.rows, asked.seed)
    files = with_bad(context, folder, bad, design.suffix)
    simulate(context, folder, [*files, *pin_arguments(context, record)], asked, context.policy.vectors)


def _simulate_poisoned(context: Context, folder: Path, good: str) -> None:
    record, asked = simulated(context.folder / good), _asked(context)
    program = _poisoned(context, folder)
    design = [*file_arguments(context.subject, context.policy), *pin_arguments(context, record)]
    # The build is that of the run without a fault: the same RTL in the same simulators.
    simulate(context, folder, design, asked, context.policy.vectors, program, builds=True)


def _prove_bad(context: Context, folder: Path, good: str) -> None:
    record = simulated(context.folder / good)
    design = original_design(context)
    bad = always_wrong(interface_of(context, record), design)
    files = [*with_bad(context, folder, bad, design.suffix), *pin_arguments(context, record)]
    call("prove", refutation_arguments(context, program_arguments(context.subject), files), folder)


def _prove_poisoned(context: Context, folder: Path, good: str) -> None:
    record, program = simulated(context.folder / good), _poisoned(context, folder)
    design = [*file_arguments(context.subject, context.policy), *pin_arguments(context, record)]
    call("prove", refutation_arguments(context, program, design), folder)


def _asked(context: Context) -> Asked:
    return context.asked(context.policy.seeds[0], rtl=False, swept=False)


def _poisoned(context: Context, folder: Path) -> list[str]:
    """Write the poisoned program into ``folder``, and return the arguments for it."""
    subject, policy = context.subject, context.policy
    program = subject.program
    given = [read_batch(Path(file.path), program.n_in) for file in subject.of("input")]
    check = policy.overflow != "unchecked"

    def vectors(of: Program) -> Stimulus:  # those of ``sim``, which reach boundaries of the program that it is given
        return Stimulus([*given, with_boundaries(of, policy.vectors, policy.seeds[0], check=check)[0]])

    made = poison(program, subject.path.read_bytes(), vectors(program), check=check)
    folder.mkdir(exist_ok=True)
    path = folder / made.name
    write_atomically(path, made.data)
    changed = load(path, layout=made.layout)
    rows, first = differing_rows(program, made, vectors(changed), check=check)
    hashes = [file.sha256 for file in subject.of("rtl")]
    seeded = {"program": changed.hash, "top": subject.top, "rtl": hashes, "file": path.name}
    found = {"rows": rows, "first": first, "output": made.output, "value": str(made.value)}
    write_json(folder / SEEDED_FAULT, {**seeded, **found})
    return [str(path), *([] if made.layout is None else ["--layout", made.layout])]


# judging


def _judge_simulated(context: Context, folder: Path) -> Judgement:
    record, seeded, asked = simulated(folder), read_tree(folder / SEEDED_FAULT), _asked(context)
    problems = list(problems_of_spoilt(context, folder, seeded, record, asked))
    if Sent.load(folder / SENT).total != asked.rows:
        problems.append(f"not all of {asked.rows} vectors were sent")
    message = f"found on all {seeded.get('rows')} vectors that were corrupted, in {' and '.join(asked.simulators)}"
    return Judgement(record.verdict, message, tuple(problems), record.reproduce)


def _judge_proved(context: Context, folder: Path) -> Judgement:
    record, seeded = proved(folder), read_tree(folder / SEEDED_FAULT)
    problems = list(is_of_what_was_seeded(context, folder, seeded, record.program, record.rtl.top, record.rtl.sha256))
    problems += _refuted(record)
    return Judgement(record.verdict, "refuted, and a simulator confirms it", tuple(problems), record.reproduce)


def _refuted(record: ProofRecord) -> Iterator[str]:
    if record.verdict is not Verdict.RTL_MISMATCH:
        yield f"a fault was seeded, but the verdict is {record.verdict.value}: {record.message}"
    replay = None if record.counterexample is None else record.counterexample.replay
    if replay is None or replay.verdict is not Verdict.RTL_MISMATCH:
        yield "no simulator confirms the counterexample"
