"""``sim --wrapped`` verifies a folder of ``emit --wrap axis`` through its streams, in the folder's current state."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.door import command, run_sim, save
from support.said import as_recorded

from dais_verif.spec.program import Program

#: Two s4.0 inputs, their sum, and minus it.
SUM = Program.build(
    [(-1, 0, -1, 0, (1, 3, 0)), (-1, 1, -1, 0, (1, 3, 0)), (0, 0, 1, 0, (1, 4, 0))],
    [(2, 0, 0), (2, 0, 1)],
    inp_shift=[0, 0],
)
OTHER = Program.build([(-1, 0, -1, 0, (1, 3, 0))], [(0, 0, 0)], inp_shift=[0])


def wrapped(folder: Path, *options: object, kind: str = "axis", program: Program = SUM) -> Path:
    made = folder / "wrapped"
    done = command("emit", save(program, folder), "--wrap", kind, "-o", made, *options)
    assert done.returncode == 0, done.stderr
    return made


EVERYTHING = ("--stages", 2, "--axil", "--user-bits", 3)


@pytest.mark.parametrize(
    ("simulator", "options"),
    [
        ("icarus", ()),
        ("icarus", EVERYTHING),
        pytest.param("verilator", (), marks=pytest.mark.slow),
        ("verilator", EVERYTHING),
    ],
)
def test_what_was_written_passes(simulator: str, options: tuple[object, ...], tmp_path: Path) -> None:
    run = run_sim(SUM, tmp_path, "--wrapped", wrapped(tmp_path, *options), "--vectors", 100, simulator=simulator)
    assert run.ending == ("PASS", 0)
    found = run.record["simulators"][0]
    # Seven scenarios; resets in one of them drop some beats.
    assert 600 < found["vectors_compared"] <= 700 and found["bits_compared"] == 11 * found["vectors_compared"]
    assert run.record["outputs"] == [{"output": j, "grade": "sampled", "vectors": 100} for j in range(SUM.n_out)]
    assert not run.record["rtl"]["emitted"] and run.record["rtl"]["top"] == "model_axis"


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("model.v", "op_2 = op_0 + op_1", "op_2 = op_0 - op_1", "beat"),
        ("model_axis.v", ".m_axis_tlast(m_axis_tlast)", ".m_axis_tlast()", ""),
        ("dais_skid.v", "begin", "begin if (0)", ""),
    ],
)
def test_what_was_changed_since_is_found(file: str, old: str, new: str, words: str, tmp_path: Path) -> None:
    folder = wrapped(tmp_path)
    path = folder / "rtl" / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    run = run_sim(SUM, tmp_path, "--wrapped", folder, "--vectors", 100)
    assert run.record["verdict"] in ("RTL_MISMATCH", "X_IN_OUTPUT"), run.record["message"]
    assert run.record["outputs"] == []
    assert run.exit_code in (1, 4) and words in run.record["message"]
    as_recorded(run.record["message"])


def test_another_program(tmp_path: Path) -> None:
    run = run_sim(OTHER, tmp_path / "other", "--wrapped", wrapped(tmp_path))
    assert run.ending == ("INVALID_INPUT", 2)
    as_recorded(run.record["message"])


def test_no_vectors_are_no_pass(tmp_path: Path) -> None:
    run = run_sim(SUM, tmp_path, "--wrapped", wrapped(tmp_path), "--vectors", 0)
    assert run.ending == ("NOT_RUN", 6)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda folder: (folder / "dais.json").unlink(), "dais.json"),
        (lambda folder: (folder / "dais.json").write_text("[]"), "dais.json"),
        (lambda folder: (folder / "rtl" / "dais_skid.v").unlink(), "dais_skid.v"),
    ],
)
def test_a_folder_that_cannot_be_used(spoil: object, words: str, tmp_path: Path) -> None:
    folder = wrapped(tmp_path)
    assert callable(spoil)
    spoil(folder)
    run = run_sim(SUM, tmp_path, "--wrapped", folder)
    assert run.ending == ("INVALID_INPUT", 2) and words in run.record["message"]
    as_recorded(run.record["message"])


def test_other_wraps_and_other_designs_beside_it(tmp_path: Path) -> None:
    fifo = run_sim(SUM, tmp_path, "--wrapped", wrapped(tmp_path, kind="fifo"))
    assert fifo.ending == ("INVALID_INPUT", 2) and "dais-verif hil --target sim://fifo" in fifo.record["message"]
    swept = run_sim(SUM, tmp_path / "swept", "--wrapped", wrapped(tmp_path / "axis"), "--exhaustive")
    assert swept.ending == ("INVALID_INPUT", 2) and all(
        part in swept.record["message"] for part in ("--exhaustive", "--wrapped")
    )
    both = run_sim(SUM, tmp_path, "--wrapped", "x", "--stages", 2)
    assert both.ending == ("INVALID_INPUT", 2) and "--stages" in both.record["message"]
