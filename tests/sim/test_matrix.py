"""Each cell of the table of verbs and kinds: a right subject passes or is refused, a wrong one is never green."""

from __future__ import annotations

import gzip
import io
import shutil
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pytest
from support.onnx_networks import Build
from support.project_folders import alkaid_folder, da4ml_folder

from dais_verif.doors.cli import main
from dais_verif.doors.cli.main import _VERBS
from dais_verif.subject import Kind, open_subject
from dais_verif.subject.matrix import MATRIX

EXAMPLES = Path(__file__).parents[2] / "examples"
_FEW = ("--vectors", "20", "--sim", "icarus")
#: What each verb needs besides PROGRAM; OUT is a path that is free, BOARD one for the subject.
_WORDS: dict[str, tuple[str, ...]] = {
    "convert": ("OUT.json",),
    "run": ("--inputs", "VECTORS"),
    "diff": ("PROGRAM",),
    "emit": ("-o", "OUT"),
    "synth": ("--target", "generic"),
    "build": ("--device", "ice40-hx8k-ct256", "-o", "OUT"),
    "sim": (*_FEW, "--exhaustive-bits", "0"),
    "regress": (*_FEW, "--retries", "0", "-o", "OUT"),
    "hil": ("--target", "BOARD", "--vectors", "3"),
    "signoff": ("-o", "OUT"),
    "mutate": (*_FEW, "--count", "2", "-o", "OUT"),
    "shrink": ("--vectors", "20", "-o", "OUT"),
}
#: Verbs that need no PROGRAM, or a text or a folder of results in its place.
_OTHERS = {"report", "approx", "kernel", "fuzz", "schema", "cache"}
_SLOW = {"build", "hil", "mutate", "signoff", "shrink", "synth"}
_COMBINATIONAL = (Kind.PROGRAM, Kind.NETWORK, Kind.PROJECT)
_CELLS = [
    pytest.param(verb, kind, marks=[pytest.mark.slow] * (verb in _SLOW), id=f"{verb}-{kind.name.lower()}")
    for verb, row in MATRIX.items()
    for kind in row
]


def test_every_verb_has_a_row_and_every_row_all_kinds() -> None:
    assert {verb.split()[0] for verb in MATRIX} | _OTHERS == set(_VERBS)
    assert all(row.keys() == set(Kind) for row in MATRIX.values())


@pytest.fixture(scope="session")
def right(tmp_path_factory: pytest.TempPathFactory) -> dict[Kind, Path]:
    """Return a small, right subject of each kind."""
    folder = tmp_path_factory.mktemp("subjects")
    made = {kind: folder / kind.name.lower() for kind in Kind}
    made[Kind.PROGRAM] = shutil.copy(EXAMPLES / "sort_two.bin", folder / "program.bin")
    shutil.copy(EXAMPLES / "serial_dot.bin", folder)
    made[Kind.MACHINE] = shutil.copy(EXAMPLES / "serial_dot.mach", folder / "machine.mach")
    (folder / "own.toml").write_text(_KERNEL)
    assert call("kernel", "build", folder / "own.toml", "-o", made[Kind.KERNEL])[0] == 0
    made[Kind.NETWORK] = folder / "network.onnx"
    made[Kind.NETWORK].write_bytes(tiny_network())
    assert call("emit", made[Kind.NETWORK], "--form", "memory", "-o", made[Kind.HARDWARE])[0] == 0
    da4ml_folder(made[Kind.PROJECT])
    project = alkaid_folder(made[Kind.MACHINE_PROJECT])
    assert call("convert", made[Kind.MACHINE], folder / "machine.fsm.json")[0] == 0
    (project / "model" / "comb.json.gz").unlink()
    (project / "model" / "fsm.json.gz").write_bytes(gzip.compress((folder / "machine.fsm.json").read_bytes()))
    shutil.rmtree(project / "src")
    (project / "src").mkdir()
    assert call("emit", made[Kind.MACHINE], "--top", "top", "-o", project / "src" / "top.v")[0] == 0
    return made


def tiny_network() -> bytes:
    """Return a dense layer of two inputs, which a bitstream holds, unrolled and in memories."""
    build = Build()
    x = build.quant(build.input("x", [1, 2]), -1, 4)
    return build.bytes(build.node("MatMul", x, build.constant(np.array([[1, -2], [3, 1]]) / 2)))


def test_each_kind_is_recognised(right: dict[Kind, Path]) -> None:
    assert {kind: open_subject(path).kind for kind, path in right.items()} == {kind: kind for kind in Kind}


@pytest.mark.few(16)
@pytest.mark.parametrize(("verb", "kind"), _CELLS)
def test_a_right_subject(
    verb: str, kind: Kind, right: dict[Kind, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, said = call(*verb.split(), right[kind], *words(verb, kind, right, tmp_path))
    cell = MATRIX[verb][kind]
    if cell.refused:
        assert code == 2 and verb in said and cell.words in said, said
    elif verb == "diff" and kind not in _COMBINATIONAL:
        assert code == 2, "a machine is compared by its frames with a program, not with itself"
    elif verb == "shrink":
        assert code == 6 and "nothing fails" in said, said
    elif verb == "hil" and kind in (Kind.PROJECT, Kind.MACHINE_PROJECT):
        assert code == 2 and "brings RTL" in said, said
    else:
        assert code == 0, said


def call(*words: object) -> tuple[int, str]:
    """Return the exit code of a command in this process, and what it printed."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        code = main._run(list(map(str, words)))
    return code, out.getvalue()


def words(verb: str, kind: Kind, subjects: dict[Kind, Path], folder: Path) -> list[str]:
    """Return the arguments of ``verb`` after PROGRAM."""
    found = []
    for word in _WORDS.get(verb, ()):
        if word == "VECTORS":
            found.append(str(vectors(kind, subjects, folder)))
        elif word == "BOARD":
            found.append("sim://uart" if kind in _COMBINATIONAL else "sim://uart?cycles=100")
        else:
            found.append(str(subjects[kind]) if word == "PROGRAM" else word.replace("OUT", str(folder / "out")))
    return found


def vectors(kind: Kind, subjects: dict[Kind, Path], folder: Path) -> Path:
    """Write a file of inputs that are 0."""
    machine = {"x": (4, 1), "w": (4, 1), "en": (4, 1)}
    shapes: dict[Kind, dict[str, tuple[int, ...]]] = {
        Kind.MACHINE: machine,
        Kind.MACHINE_PROJECT: machine,
        Kind.KERNEL: {"a": (2, 3), "b": (2, 3)},
        Kind.NETWORK: {"x": (2, 1, 2)},
        Kind.HARDWARE: {"x": (2, 1, 2)},
    }
    if kind in shapes:
        np.savez(folder / "x.npz", **{name: np.zeros(shape) for name, shape in shapes[kind].items()})
        return folder / "x.npz"
    (folder / "x.csv").write_text("0,0\n")
    return folder / "x.csv"


@pytest.mark.few(3)
@pytest.mark.parametrize("kind", Kind, ids=lambda kind: kind.name.lower())
def test_a_damaged_subject_is_green_in_no_verb(
    kind: Kind, right: dict[Kind, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wrong = copied(right[kind], tmp_path / right[kind].name)
    file = {
        Kind.KERNEL: wrong / "model.v",
        Kind.HARDWARE: wrong / "model.v",
        Kind.PROJECT: wrong / "model" / "comb.json",
        Kind.MACHINE_PROJECT: wrong / "model" / "fsm.json.gz",
    }.get(kind, wrong)
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    for verb in MATRIX:
        code, said = call(*verb.split(), wrong, *words(verb, kind, {**right, kind: wrong}, tmp_path))
        assert code not in (0, 70), f"{verb}: {said}"


@pytest.mark.few(5)
@pytest.mark.parametrize("kind", Kind, ids=lambda kind: kind.name.lower())
@pytest.mark.parametrize("verb", ["sim", "prove", pytest.param("signoff", marks=pytest.mark.slow)])
def test_wrong_rtl_is_never_green(
    verb: str, kind: Kind, right: dict[Kind, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RTL of a folder that a command wrote cannot change unnoticed, so that other RTL is given beside it."""
    monkeypatch.chdir(tmp_path)
    subject = right[kind]
    if kind in (Kind.PROJECT, Kind.MACHINE_PROJECT):
        subject = copied(subject, tmp_path / "project")
        source, rtl = subject / "src" / ("top.v" if kind is Kind.MACHINE_PROJECT else "layer.v"), []
    else:
        source, rtl = tmp_path / "wrong.v", ["--rtl", "wrong.v"]
        if kind in (Kind.KERNEL, Kind.HARDWARE):
            shutil.copy(subject / "model.v", source)
        else:
            assert call("emit", subject, "-o", source)[0] == 0
    plant(source)
    code, said = call(verb, subject, *rtl, *words(verb, kind, right, tmp_path))
    assert code == (7 if verb == "signoff" else 1), said


def copied(path: Path, to: Path) -> Path:
    if path.is_dir():
        return shutil.copytree(path, to, dirs_exist_ok=True)
    return shutil.copy(path, to) if path != to else path


def plant(source: Path) -> None:
    """Invert what the module's last assignment to a port says."""
    text = source.read_text()
    place = max(text.rfind("assign " + name) for name in OUTPUTS)
    begin = text.index("=", place) + 1
    end = text.index(";", begin)
    source.write_text(f"{text[:begin]} ~({text[begin:end].strip()}){text[end:]}")


OUTPUTS = ("model_out", "y", "out0_data", "out1_data")
_KERNEL = """\
program = "program.bin"
index_space = [3]
inputs = [
    { name = "a", shape = [3], type = "s6.1", map = ["[0]"] },
    { name = "b", shape = [3], type = "u6.2", map = ["[0]"] },
]
outputs = [
    { name = "lo", shape = [3], type = "s7.2", map = ["[0]"] },
    { name = "hi", shape = [3], type = "s7.2", map = ["[0]"] },
]
"""
