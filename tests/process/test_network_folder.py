"""A folder with a network as a machine: what is written, that edits are not trusted, and that verbs find faults."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from support.folded_networks import CONFIGURATIONS, edit, small_network
from support.said import as_recorded, raises

import dais_verif
from dais_verif.base.errors import DaisError, InputError, NetworkInputError, RequestError
from dais_verif.base.verdict import Verdict
from dais_verif.compile.kernels.driving.frames import random_tensors
from dais_verif.compile.networks.hardware.driving import drive_images, drive_network
from dais_verif.compile.networks.hardware.folder import NetworkFolder, read_folder
from dais_verif.record.approximation import AppliedRecord
from dais_verif.spec.machine import Machine
from dais_verif.spec.machine.alirfsm import machine_json
from dais_verif.verbs.evaluate import EvaluationRequest, evaluate
from dais_verif.verbs.networks.source import _paused, expected_tensors
from dais_verif.verbs.tensors.simulate import read_driven

pytest.importorskip("onnx", reason="the reader of networks needs the package onnx")

NAMES = ("exact", "rows", "kept")
FILES = ("frame0.toml", "machine.fsm.json", "model.v", "network.json", "network.onnx")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("network")
    (folder / "small.onnx").write_bytes(small_network())
    (folder / "confs.txt").write_bytes(CONFIGURATIONS)
    return folder


@pytest.fixture(scope="module")
def applied(sources: Path) -> AppliedRecord:
    return dais_verif.apply_configuration(
        sources / "small.onnx", sources / "confs.txt", None, sources / "three", select=",".join(NAMES), form="memory"
    )


@pytest.fixture
def copy(applied: AppliedRecord, tmp_path: Path) -> Path:
    return Path(shutil.copytree(applied.output, tmp_path / "copy"))


@pytest.fixture(scope="module")
def folded(applied: AppliedRecord) -> NetworkFolder:
    found = read_folder(Path(applied.output))
    assert found is not None
    return found


def test_a_folder_says_what_it_holds(applied: AppliedRecord) -> None:
    made = applied.folded
    assert made is not None
    assert list(made.configurations) == list(NAMES)
    assert made.configurations["rows"] < made.configurations["exact"] == made.configurations["kept"]
    assert [stage.configurations for stage in made.stages if stage.fused == 2] == [["exact", "rows"], ["kept"]]
    assert {"configurations.txt", "frame0.toml", "frame1.toml", "frame2.toml"} < set(made.files)


def test_a_network_without_configurations(sources: Path, tmp_path: Path) -> None:
    record = dais_verif.emit(sources / "small.onnx", form="memory", parallel=2, output=tmp_path / "one")
    assert record.folded is not None
    assert record.folded.files == list(FILES)
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == list(FILES)
    assert record.folded.configurations["exact"] < 178  # the number of cycles with one member at a time
    found = dais_verif.check(tmp_path / "one")
    assert found.verdict is Verdict.PASS
    assert found.network is not None


def test_a_node_that_is_computed_at_once(sources: Path, tmp_path: Path) -> None:
    """With one node computed at once, a frame takes fewer cycles; a node that does not exist is refused."""
    whole = dais_verif.emit(sources / "small.onnx", form="memory", output=tmp_path / "members")
    mixed = dais_verif.emit(sources / "small.onnx", form="memory", at_once=[1], output=tmp_path / "mixed")
    assert whole.folded is not None and mixed.folded is not None
    assert [stage.members for stage in mixed.folded.stages if stage.fused == 1] == [1]
    assert mixed.folded.configurations["exact"] < whole.folded.configurations["exact"]
    assert dais_verif.check(tmp_path / "mixed").verdict is Verdict.PASS
    with raises(DaisError):
        dais_verif.emit(sources / "small.onnx", form="memory", at_once=[9], output=tmp_path / "none")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"form": "memory"}, "name a folder"),
        ({"form": "pipeline", "output": "x"}, "'pipeline'"),
        ({"parallel": 2}, "parallel 2"),
        ({"at_once": [1]}, "at_once"),
        ({"form": "memory", "output": "x", "top": "mine"}, "memory"),
        ({"form": "memory", "output": "x", "wrap": "uart"}, "wrap"),
    ],
    ids=["no folder", "no form", "unrolled", "unrolled at once", "top", "wrapped"],
)
def test_what_no_folder_is_written_of(sources: Path, asked: dict[str, object], said: str) -> None:
    with pytest.raises(RequestError) as error:
        dais_verif.emit(sources / "small.onnx", **asked)  # type: ignore[arg-type]
    assert said in str(error.value)
    as_recorded(error.value)


@pytest.mark.parametrize("asked", [{"config": "rows", "select": "rows"}, {"select": "rows"}, {"select": "a,a"}])
def test_configurations_that_are_not_asked_for_rightly(
    sources: Path, asked: dict[str, str], request: pytest.FixtureRequest
) -> None:
    """Both ``config`` and ``select``, ``select`` without a machine, and a repeated name are refused."""
    form = "memory" if asked.get("select") == "a,a" else "unrolled"
    with pytest.raises(DaisError):
        dais_verif.apply_configuration(
            sources / "small.onnx",
            sources / "confs.txt",
            asked.get("config"),
            sources / "no",
            select=asked.get("select"),
            form=form,
        )


# edits


@pytest.mark.parametrize("name", [*FILES[:3], FILES[4], "configurations.txt"])
def test_a_file_that_was_changed_is_refused(copy: Path, name: str) -> None:
    (copy / name).write_bytes((copy / name).read_bytes() + b"\n")
    with raises(InputError):
        read_folder(copy)


def test_configurations_that_the_manifest_does_not_list_are_refused(copy: Path) -> None:
    said = json.loads((copy / "network.json").read_bytes())
    del said["files"]["configurations.txt"]
    (copy / "network.json").write_text(json.dumps(said))
    with pytest.raises(InputError, match=r"configurations\.txt"):
        read_folder(copy)


@pytest.mark.few(6)
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("cycles", [1, 2]),
        ("cycles", [0, 1, 1]),
        ("cycles", [179, 127, 178]),
        ("configurations", ["exact", "rows", "rows"]),
        ("configurations", ["rows", "exact", "kept"]),
        ("configurations", ["exact"]),
        ("unrolled", [9]),
        ("grid", -1),
        ("form", "stream"),
        ("schema", "dais-verif/network/0"),
        ("inputs", []),
        ("outputs", [{"name": "t20", "port": "out0", "shape": [2, 1], "type": "s12.2"}]),
        ("files", {}),
        ("parallel", 0),
        ("parallel", 2),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_manifest_that_does_not_fit_is_refused(copy: Path, key: str, value: object) -> None:
    """One line says what is wrong, also for swapped names, with which a configuration would be proved as another."""
    said = json.loads((copy / "network.json").read_bytes())
    (copy / "network.json").write_text(json.dumps({**said, key: value}))
    try:
        found = read_folder(copy)
        assert found is not None
        stages = found.chain.stages(0)
    except DaisError as error:
        assert "\n" not in str(error)
    else:
        assert key == "grid", stages


# the golden model, and sequences that drive the machine


def test_run_is_the_network_under_the_configuration(applied: AppliedRecord, sources: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.random.default_rng(1).integers(-4, 4, size=(5, 32)) / 2)
    found = {}
    for name in (None, "exact", "rows"):
        request = EvaluationRequest(program=applied.output, inputs=tmp_path / "x.npy", config=name)
        found[name] = np.stack(evaluate(request).columns)
    dais_verif.apply_configuration(sources / "small.onnx", sources / "confs.txt", "rows", tmp_path / "alone")
    alone = dais_verif.run(tmp_path / "alone" / "program.bin", np.load(tmp_path / "x.npy"))
    assert np.array_equal(found["rows"].T, alone)
    assert np.array_equal(found[None], found["exact"])
    assert not np.array_equal(found["rows"], found["exact"])
    with pytest.raises(NetworkInputError, match="'other'"):
        evaluate(EvaluationRequest(program=applied.output, inputs=tmp_path / "x.npy", config="other"))
    with raises(RequestError):
        evaluate(EvaluationRequest(program=sources / "small.onnx", inputs=tmp_path / "x.npy", config="exact"))


def driven(folder: NetworkFolder, machine: Machine, seed: int, cycles: tuple[int, ...] | None = None) -> str | None:
    """Return what is wrong with six images under random configurations, a control signal or "an element", or None."""
    rng, chain = np.random.default_rng(seed), folder.chain
    tensors = random_tensors(list(chain.inputs.values()), [(32,)], 6, rng)
    configurations = [0, 1, 2, *rng.integers(3, size=3).tolist()]
    made = drive_network(chain, cycles or folder.cycles, machine, tensors, configurations, rng)
    found = read_driven(machine, made)
    if found.problem is not None:
        return found.problem
    wanted = expected_tensors(chain, configurations, tensors)
    return None if np.array_equal(found.tensors[0], wanted[0]) else "an element"


def test_images_in_any_configuration_one_after_the_other(folded: NetworkFolder) -> None:
    """Results are right after resets, and while ``config`` and ``start`` change during a frame, which ignores them."""
    assert driven(folded, folded.machine, 0) is None
    assert driven(folded, folded.machine, 0, (folded.cycles[0] + 1, *folded.cycles[1:])) is not None


def unlatched(machine: Machine) -> Machine:
    """Return the machine changed so that it uses the ``config`` of each cycle, not the one of the start."""
    assert any(one.target.signal == "chosen" for one in machine.connections)
    return replace(
        machine,
        connections=tuple(
            replace(one, source=machine.whole("config")) if one.target.signal == "chosen" else one
            for one in machine.connections
        ),
    )


def test_a_stream_in_a_folder(sources: Path, tmp_path: Path) -> None:
    """A stream has one configuration, and its results are those of the network."""
    confs, small = sources / "confs.txt", sources / "small.onnx"
    dais_verif.apply_configuration(small, confs, "rows", tmp_path / "one", form="stream")
    folder = read_folder(tmp_path / "one")
    assert folder is not None
    rng = np.random.default_rng(0)
    (images,) = random_tensors(list(folder.chain.inputs.values()), [(32,)], 6, rng)
    found = read_driven(folder.machine, drive_images(folder.stream, images, rng))
    assert found.problem is None
    assert np.array_equal(found.tensors[0], expected_tensors(folder.chain, [0] * 6, [images])[0])
    with raises(NetworkInputError):
        dais_verif.apply_configuration(small, confs, None, tmp_path / "two", select="exact,rows", form="stream")


def test_a_stream_whose_control_is_not_looked_at_is_unknown(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Frames without pauses, or with an image alone, say nothing about other pauses."""
    dais_verif.apply_configuration(
        sources / "small.onnx", sources / "confs.txt", "rows", tmp_path / "one", form="stream"
    )
    folder = read_folder(tmp_path / "one")
    assert folder is not None and _paused(folder)[0] is Verdict.PASS
    with monkeypatch.context() as patch:
        patch.setattr("dais_verif.golden.stream_control.MOST_STATES", 9)
        assert _paused(folder)[0] is Verdict.UNKNOWN
    register = next(iter(folder.machine.registers))
    other = replace(register, initial=(Fraction(1), *(register.initial or ())[1:]))
    machine = replace(folder.machine, signals={**folder.machine.signals, register.name: other})
    monkeypatch.setitem(folder.__dict__, "machine", machine)
    assert _paused(folder)[0] is Verdict.UNKNOWN


@pytest.mark.slow
def test_a_stream_is_proved_and_simulated(sources: Path, tmp_path: Path) -> None:
    """The proof and the simulation of a stream pass, and both find another network in its place."""
    dais_verif.apply_configuration(
        sources / "small.onnx", sources / "confs.txt", "rows", tmp_path / "one", form="stream"
    )
    assert dais_verif.prove(tmp_path / "one").verdict is Verdict.PASS
    assert dais_verif.simulate(tmp_path / "one", vectors=200).verdict is Verdict.PASS
    other_network(tmp_path / "one")
    assert dais_verif.prove(tmp_path / "one").verdict is Verdict.RTL_MISMATCH
    assert dais_verif.simulate(tmp_path / "one", vectors=200).verdict is Verdict.RTL_MISMATCH


def test_a_configuration_that_changes_in_the_middle_is_found(folded: NetworkFolder) -> None:
    assert driven(folded, unlatched(folded.machine), 0) is not None


@pytest.mark.slow
def test_every_configuration_is_proved_and_simulated(applied: AppliedRecord) -> None:
    proof = dais_verif.prove(applied.output)
    assert proof.verdict is Verdict.PASS
    assert proof.kernel is not None
    assert [(one.name, one.frame, one.network) for one in proof.kernel.settings or []] == [
        (name, Verdict.PASS, Verdict.PASS) for name in NAMES
    ]
    run = dais_verif.simulate(applied.output, vectors=1)
    assert run.verdict is Verdict.PASS
    assert run.kernel is not None
    assert run.kernel.elements == 6
    assert run.kernel.configurations == dict.fromkeys(NAMES, 1)
    assert [one.name for one in run.simulators] == ["icarus", "verilator"]


def other_machine(copy: Path) -> None:
    machine = unlatched(read_machine(copy))
    edit(copy, "machine.fsm.json", machine_json(machine))
    edit(copy, "model.v", dais_verif.emit(machine).verilog.encode())


def read_machine(copy: Path) -> Machine:
    found = read_folder(copy)
    assert found is not None
    return found.machine


def other_network(copy: Path) -> None:
    edit(copy, "network.onnx", small_network(seed=4))


def other_knob(copy: Path) -> None:
    edit(copy, "configurations.txt", CONFIGURATIONS.replace(b"perf 123", b"perf 124"))


def other_rtl(copy: Path) -> None:
    text = (copy / "model.v").read_bytes()
    edit(copy, "model.v", text.replace(b"? ", b"? ~", 1))


def other_cycles(copy: Path) -> None:
    said = json.loads((copy / "network.json").read_bytes())
    said["cycles"][0] += 1
    (copy / "network.json").write_text(json.dumps(said))


@pytest.mark.slow
@pytest.mark.parametrize("change", [other_machine, other_network, other_knob, other_rtl, other_cycles])
def test_an_edit_that_hides_is_no_pass(copy: Path, change: object) -> None:
    """An edit is found by the proof and the simulation even if the manifest has the hash of the edited file."""
    change(copy)  # type: ignore[operator]
    for verify in (dais_verif.prove, dais_verif.simulate):
        try:
            found = verify(copy)  # type: ignore[operator]
        except InputError:
            continue
        assert found.verdict in (Verdict.RTL_MISMATCH, Verdict.SIMULATORS_DISAGREE), found.message


@pytest.mark.slow
def test_a_network_as_a_machine_is_signed_off(sources: Path, tmp_path: Path) -> None:
    """The sign-off finds a poisoned network by simulation and by proof; its certificate covers the network file."""
    dais_verif.emit(sources / "small.onnx", form="memory", output=tmp_path / "one")
    record = dais_verif.sign_off(tmp_path / "one", output=tmp_path / "signed")
    assert record.verdict is Verdict.PASS, record.message
    found = {stage.name: stage.verdict for stage in record.stages}
    assert found["tensors"] is found["proof"] is Verdict.PASS
    assert found["poisoned kernel, simulated"] is found["poisoned kernel, proof"] is Verdict.RTL_MISMATCH
    assert dais_verif.verify_certificate(tmp_path / "signed").verdict is Verdict.PASS
    for name in ("subject/kernel/network.onnx", "poisoned-kernel/poisoned.onnx"):
        path = tmp_path / "signed" / "evidence" / name
        kept = path.read_bytes()
        path.write_bytes(kept + b"\x1a\x00")  # an empty protobuf field, so the network is the same
        assert dais_verif.verify_certificate(tmp_path / "signed").verdict is not Verdict.PASS
        path.write_bytes(kept)
