"""Stages for the machine of a kernel: tensors in simulation, members in the proof, and the same for a faulty kernel.

The copies of the kernel's files stay together, so that commands accept their folder as that of the kernel. The proof of
such a machine also shows that each law of the mapping holds, and that the machine computes what all members compute.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import count
from pathlib import Path

import numpy as np

from dais_verif.base.errors import DaisError, NetworkInputError, PolicyError
from dais_verif.base.files import make_folder, read_plain, write_atomically
from dais_verif.base.verdict import Verdict
from dais_verif.compile.network_folder import MANIFEST, NETWORK, holds_network, verified_files
from dais_verif.golden import Golden
from dais_verif.record.proof import ProofRecord
from dais_verif.record.simulation import SimulationRecord
from dais_verif.signoff.context import (
    Context,
    SignOffStage,
    file_arguments,
    plain_path,
    program_arguments,
    prove_arguments,
    reader_arguments,
    simulator_arguments,
    write_json,
)
from dais_verif.signoff.evidence import proved, read_tree, simulated
from dais_verif.signoff.judge import SENT, Asked, Judgement, of_subject, same_program, same_rtl
from dais_verif.signoff.machines.cycles import SentCycles, clock_arguments
from dais_verif.signoff.machines.judge import of_simulators
from dais_verif.signoff.seeded_faults import SEEDED_FAULT, poison
from dais_verif.signoff.signed_design import Subject, sha256_of
from dais_verif.signoff.verbs import RUN, call
from dais_verif.simulation.testbench.sequence_job import SequenceRows
from dais_verif.spec.program import Program, load
from dais_verif.stimulus import Generated, Stimulus, generate_common
from dais_verif.subject.programs import load_program

__all__ = [
    "KERNEL_FILES",
    "POISONED_KERNEL",
    "POISONED_TENSORS",
    "TENSORS",
    "kernel_arguments",
    "kernel_readers",
    "poison_network",
    "poisoned_kernel_stages",
    "tensor_stages",
]


_MANIFEST, _BLOCK = "instance.json", "core.bin"
#: The files of a folder that belong to its kernel.
KERNEL_FILES = (_MANIFEST, "machine.fsm.json", "model.v", _BLOCK, "frame.toml")
#: For each manifest that a folder may have: the file that defines what members compute, and the name of its faulty
#: version.
_MEANINGS = {_MANIFEST: (_BLOCK, "poisoned.bin"), MANIFEST: (NETWORK, "poisoned.onnx")}
TENSORS, POISONED_TENSORS, POISONED_KERNEL = "tensors", "poisoned-tensors", "poisoned-kernel"
_POISONED = "poisoned.bin"
#: The folder of our own RTL of the machine, in the folder of a proof.
_OURS = "ours"
#: The folder of the kernel with a seeded fault, in the folder of a stage.
_FOLDER = "kernel"
#: The number of vectors, on some of which the faulty block must differ.
_VECTORS = 1000
_MOST_BYTES = 1 << 30


def kernel_folder(subject: Subject) -> Path:
    """Return the folder of the kernel's files. Raises ``InputError`` unless it holds all of them and they share it."""
    paths = [Path(file.path) for file in subject.of("kernel")]
    folder = paths[0].parent
    wanted = [path.name for path in verified_files(folder)] if holds_network(folder) else KERNEL_FILES
    if sorted(path.name for path in paths) != sorted(wanted) or len({path.parent for path in paths}) != 1:
        raise PolicyError(f"the files of the kernel must be {', '.join(wanted)}, in one folder")
    return folder


def _meaning(folder: Path) -> tuple[str, str]:
    """Return the file of a folder that defines what members compute, and the name of its faulty version."""
    return _MEANINGS[MANIFEST if holds_network(folder) else _MANIFEST]


def kernel_arguments(context: Context) -> list[str]:
    """Return the kernel as an argument of commands that accept it instead of its machine."""
    return [plain_path(kernel_folder(context.subject))]


def kernel_readers(context: Context, folder: Path) -> list[str]:
    """Return the options that choose the front ends of a proof.

    None are needed if the RTL is exactly what we emit, and the policy does not require both front ends. For this
    comparison, our RTL is emitted into ``folder``.
    """
    asked, rtl = reader_arguments(context), context.subject.of("rtl")
    if context.policy.front_end == "both" or len(rtl) != 1:
        return asked
    ours = folder / _OURS / f"{context.subject.top}.v"
    words = [*program_arguments(context.subject), "--top", context.subject.top, "-o", str(ours)]
    done = call("emit", words, folder / _OURS, keeps=False)
    return [] if not done.exit_code and sha256_of(ours) == rtl[0].sha256 else asked


def tensor_stages() -> list[SignOffStage]:
    """Return the stages that run tensors through the RTL, with the kernel and with a faulty one, which must fail."""
    poisoned = "poisoned kernel, simulated"
    return [
        SignOffStage("tensors", TENSORS, _simulate, _judge),
        SignOffStage(poisoned, POISONED_TENSORS, _simulate_poisoned, _judge_poisoned, True, (TENSORS,)),
    ]


def poisoned_kernel_stages(good: tuple[str, ...]) -> list[SignOffStage]:
    """Return the proof with a faulty kernel, which must fail. ``good``: the folders of the simulation and the proof."""
    name = "poisoned kernel, proof"
    return [SignOffStage(name, POISONED_KERNEL, _prove_poisoned, _judge_refuted, True, good)]


# simulation


def _design(context: Context) -> list[str]:
    return [*file_arguments(context.subject, context.policy), *clock_arguments(context)]


def _sim(context: Context, folder: Path, kernel: Path) -> None:
    policy = context.policy
    arguments = [plain_path(kernel), *_design(context), "--vectors", str(policy.vectors), "--seed", str(_seed(context))]
    arguments += [*simulator_arguments(policy.simulators), "--no-bulk"]
    arguments += ["--unchecked"] if policy.overflow == "unchecked" else []
    call("sim", [*arguments, *(["--jobs", str(context.jobs)] if context.jobs else [])], folder)


def _seed(context: Context) -> int:
    return context.policy.seeds[0] if context.policy.seeds else 0


def _simulate(context: Context, folder: Path) -> None:
    _sim(context, folder, kernel_folder(context.subject))
    if simulated(folder).verdict is Verdict.PASS:
        write_json(folder / SENT, asdict(SentCycles.of(context.subject.machine, list(_rows(folder / RUN)))))


def _rows(run: Path) -> Iterator[SequenceRows]:
    """Yield the inputs and expected outputs of a simulation, sequence by sequence."""
    for number in count():
        place = run / f"sequence_{number}"
        if not place.is_dir():
            return
        yield SequenceRows.load(place)


def _judge(context: Context, folder: Path) -> Judgement:
    record, policy = simulated(folder), context.policy
    if record.verdict is not Verdict.PASS:
        return Judgement(record.verdict, record.message, (record.message,), record.reproduce)
    sent = SentCycles.load(folder / SENT)
    problems = _of_kernel(context, record)
    if record.vectors < max(policy.vectors, 1) or sent.cycles != record.vectors:
        problems.append(f"{record.vectors} cycles, of which {sent.cycles} are expected, must be {policy.vectors}")
    problems += of_simulators(record, sent)
    if record.kernel is None or record.kernel.wrong is not None or record.kernel.elements < 1:
        problems.append("no tensor was compared with what the members of the kernel compute")
    return Judgement(record.verdict, record.message, tuple(problems), record.reproduce)


def _of_kernel(context: Context, record: SimulationRecord) -> list[str]:
    """Return why a record is not of this machine, this RTL and all simulators, or why it used input files."""
    asked = Asked(0, _seed(context), context.policy.simulators)
    files = tuple(file for file in context.subject.files if file.role != "input")
    subject = replace(context.subject, files=files)
    return list(of_subject(subject, context.policy, record, asked))


# a faulty kernel


def _poisoned(context: Context, folder: Path) -> Path:
    """Write a copy of the kernel with a faulty block, or network, into ``folder``, and return the copy's folder."""
    source, kernel = kernel_folder(context.subject), folder / _FOLDER
    if holds_network(source):
        changed, output = poison_network(source, kernel)
        return _kept_fault(folder, kernel, changed, output)
    block = load(source / _BLOCK, layout="v1")
    data = read_plain(source / _BLOCK, _MOST_BYTES)
    made = poison(block, data, Stimulus([Generated([block], _VECTORS, 0)]), check=False)
    if made.name != _POISONED:
        raise PolicyError(f"{_BLOCK} is not a plain DAIS program: no kernel can be poisoned")
    make_folder(kernel)
    for name in KERNEL_FILES:
        write_atomically(kernel / name, made.data if name == _BLOCK else read_plain(source / name, _MOST_BYTES))
    manifest = json.loads(read_plain(source / _MANIFEST, _MOST_BYTES))
    manifest["files"][_BLOCK] = hashlib.sha256(made.data).hexdigest()
    write_atomically(kernel / _MANIFEST, json.dumps(manifest, indent=2).encode())
    return _kept_fault(folder, kernel, made.data, made.output)


def _kept_fault(folder: Path, kernel: Path, data: bytes, output: int) -> Path:
    """Store the faulty file of ``kernel``, and its description, in the folder of the stage; return ``kernel``."""
    _, name = _meaning(kernel)
    write_atomically(folder / name, data)
    write_json(folder / SEEDED_FAULT, {"program": _identity(folder / name), "file": name, "output": output})
    return kernel


def _identity(path: Path) -> str:
    """Return the hash of a block's program, or of a network's bytes, since a network's program does not hold all of it.

    Raises ``DaisError`` if the file holds neither.
    """
    if path.name == _POISONED:
        return load(path, layout="v1").hash
    load_program(path)
    return sha256_of(path)


def _simulate_poisoned(context: Context, folder: Path) -> None:
    _sim(context, folder, _poisoned(context, folder))


def _judge_poisoned(context: Context, folder: Path) -> Judgement:
    record = simulated(folder)
    problems = [*_of_kernel(context, record), *_another_block(context, folder)]
    if record.verdict is not Verdict.RTL_MISMATCH:
        problems.append(f"a fault was seeded, but the verdict is {record.verdict.value}: {record.message}")
    if record.first_mismatch is not None or record.kernel is None or record.kernel.wrong is None:
        problems.append("the RTL differs from the machine, or its tensors do not differ from those of the members")
    return Judgement(record.verdict, "the tensors differ from those of the members", tuple(problems), record.reproduce)


def _prove_poisoned(context: Context, folder: Path) -> None:
    kernel = plain_path(_poisoned(context, folder))
    call("prove", prove_arguments(context, [kernel], _design(context)), folder)


def _judge_refuted(context: Context, folder: Path) -> Judgement:
    record, subject = proved(folder), context.subject
    problems = [*_of_proof(subject, record), *_another_block(context, folder)]
    if record.verdict is not Verdict.RTL_MISMATCH:
        problems.append(f"a fault was seeded, but the verdict is {record.verdict.value}: {record.message}")
    if record.kernel is None or record.kernel.folded is not Verdict.PROGRAMS_DIFFER:
        problems.append("the machine was not found to differ from the members of another kernel")
    return Judgement(record.verdict, "members of another kernel are refuted", tuple(problems), record.reproduce)


def _of_proof(subject: Subject, record: ProofRecord) -> Iterator[str]:
    yield from same_program(subject, record.program.hash, record.program.file_sha256)
    yield from same_rtl(subject, record.rtl.top, record.rtl.sha256, record.rtl.data)


def _another_block(context: Context, folder: Path) -> Iterator[str]:
    """Yield problems if the faulty block is missing, or equals the kernel's block."""
    seeded, kernel = read_tree(folder / SEEDED_FAULT), kernel_folder(context.subject)
    meaning, name = _meaning(kernel)
    if seeded.get("file") != name or _identity(folder / name) != seeded.get("program"):
        yield "the file is not the one with the seeded fault"
    if sha256_of(kernel / meaning) == sha256_of(folder / name):
        yield "the seeded fault does not change the kernel"


# Seeded faults of a network in a folder with its hardware: two weights are swapped.


#: The number of pairs of weights to try per constant, and of vectors, one of which must show the fault.
_PAIRS, _VECTORS_OF_NETWORK_FAULTS = 4, 200


def poison_network(folder: Path, target: Path) -> tuple[bytes, int]:
    """Write ``folder`` with a changed network into ``target``; return the network's bytes, and a changed output.

    Ports keep their types: only values differ, in the first configuration. Raises ``InputError`` if no swap of two
    weights changes an output.
    """
    from dais_verif.compile.networks.hardware.folder import read_folder

    shutil.rmtree(target, ignore_errors=True)
    make_folder(target)
    for path in verified_files(folder):
        write_atomically(target / path.name, read_plain(path, _MOST_BYTES))
    manifest = json.loads(read_plain(folder / MANIFEST, _MOST_BYTES))
    right = read_folder(folder)
    assert right is not None  # its manifest was read above
    for data in _changed(read_plain(folder / NETWORK, _MOST_BYTES)):
        manifest["files"][NETWORK] = hashlib.sha256(data).hexdigest()
        write_atomically(target / NETWORK, data)
        write_atomically(target / MANIFEST, json.dumps(manifest, indent=2).encode())
        try:
            found = read_folder(target)
            assert found is not None
            number = _differs(right.under(None).program(), found.under(None).program())
        except DaisError:  # the changed network has another type, which does not fit the hardware
            continue
        if number is not None:
            return data, number
    raise NetworkInputError(f"{str(folder)!r}: no exchange of two weights of its network changes an output")


def _differs(a: Program, b: Program) -> int | None:
    """Return the first output that differs on random vectors."""
    vectors = generate_common([a, b], _VECTORS_OF_NETWORK_FAULTS, 0)
    pairs = zip(*(Golden(program).run_raw(vectors, check=False) for program in (a, b)), strict=True)
    return next((number for number, (x, y) in enumerate(pairs) if not np.array_equal(x, y)), None)


def _changed(data: bytes) -> Iterator[bytes]:
    """Yield the network with two neighbouring weights of a constant swapped, the largest constants first."""
    import onnx
    from onnx import numpy_helper

    model = onnx.load_model_from_string(data)
    weights = [one for one in model.graph.initializer if np.prod(one.dims) > 1]
    for one in sorted(weights, key=lambda one: -np.prod(one.dims)):
        array = numpy_helper.to_array(one)
        flat = array.ravel()
        places = np.flatnonzero(flat[:-1] != flat[1:])
        kept = one.SerializeToString()
        for at in places[:: max(len(places) // _PAIRS, 1)][:_PAIRS].tolist():
            other = flat.copy()
            other[at], other[at + 1] = flat[at + 1], flat[at]
            one.CopyFrom(numpy_helper.from_array(other.reshape(array.shape), one.name))
            yield model.SerializeToString()
        one.ParseFromString(kept)
