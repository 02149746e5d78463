"""``sim`` and ``prove`` of user RTL without names of ops name the lines at which values go wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.door import run_sim

import dais_verif
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.spec.program import Program

A, B = (-1, 0, -1, 0, (1, 6, 0)), (-1, 1, -1, 0, (1, 6, 0))
PROGRAM = Program.build(
    [A, B, (0, 0, 1, 1, (1, 9, 0)), (1, 2, 1, 0, (1, 10, 0))], [(2, 0, 0), (3, 0, 0)], inp_shift=[0, 0]
)


def unnamed(old: str, new: str) -> tuple[str, int]:
    """Return RTL with an edit, whose signals do not tell their ops, and the line of the edit."""
    text = re.sub(r"\bop_(\d+)\b", lambda match: f"w{9 - int(match[1])}", emit_verilog(PROGRAM))
    assert text.count(old) == 1, text
    return text.replace(old, new), text[: text.index(old)].count("\n") + 1


def test_sim_and_prove_name_the_line(tmp_path: Path) -> None:
    text, line = unnamed("w7 - w8", "w7 + w8")
    run = run_sim(PROGRAM, tmp_path, rtl=text)
    assert run.exit_code == 1
    (found,) = run.blame["lines"]
    assert found["line"].endswith(f"design.v:{line}") and found["signal"] == "w6" and found["ops"] == [3]
    proof = dais_verif.prove(tmp_path / "prog.bin", rtl=[tmp_path / "design.v"], top="model")
    assert proof.counterexample is not None and proof.counterexample.replay is not None
    mismatch = proof.counterexample.replay.first_mismatch
    assert mismatch is not None and mismatch.blame is not None
    assert [one.line.rpartition(":")[2] for one in mismatch.blame.lines or []] == [str(line)]


def test_right_values_at_the_wrong_place_are_told(tmp_path: Path) -> None:
    """The first output has the low bits of the second one, whose values are right elsewhere."""
    text, _ = unnamed("wire [9:0] out_0 = w7[9:0]", "wire [9:0] out_0 = w9")
    run = run_sim(PROGRAM, tmp_path, rtl=text)
    assert run.exit_code == 1
    (found,) = run.blame["moved"]
    assert "output 0" in found and "op 0" in found and "design.v:" in found


def test_a_bug_in_the_search_leaves_the_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr("dais_verif.prover.frontier.find_frontier", broken)
    run = run_sim(PROGRAM, tmp_path, rtl=unnamed("w7 - w8", "w7 + w8")[0])
    assert run.ending == ("RTL_MISMATCH", 1) and "lines" not in run.blame
    assert "KeyError" in run.stderr


def test_a_search_that_takes_too_long_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dais_verif.verbs.wrong_lines._SECONDS", 0.0)
    run = run_sim(PROGRAM, tmp_path, rtl=unnamed("w7 - w8", "w7 + w8")[0])
    assert run.ending == ("RTL_MISMATCH", 1) and "lines" not in run.blame


@pytest.mark.parametrize("fault", ["slow", "broken"])
def test_vectors_for_conditions_take_no_verdict_away(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("x")

    if fault == "slow":
        monkeypatch.setattr("dais_verif.verbs.conditions._SECONDS", 0.0)
    else:
        monkeypatch.setattr("dais_verif.verbs.conditions.directed_sides", broken)
    run = run_sim(PROGRAM, tmp_path, "--conditions", rtl=unnamed("w7 - w8", "w7 - w8")[0])
    assert run.ending == ("PASS", 0)
    assert run.record["conditions"]["why"] and run.record["conditions"]["reached"] == 0


def test_a_patch_is_suggested_and_not_applied(tmp_path: Path) -> None:
    """The edit undoes the fault, here and in the patch; the RTL stays as it is."""
    text, line = unnamed("w7 - w8", "w7 + w8")
    run = run_sim(PROGRAM, tmp_path, "--suggest", str(tmp_path / "mend.patch"), rtl=text)
    edit = run.blame["lines"][0]["edit"]
    assert edit["line"].endswith(f"design.v:{line}") and "w7 - w8" in edit["new"] and edit["proved"]
    assert (tmp_path / "design.v").read_text() == text
    patch = (tmp_path / "mend.patch").read_text().splitlines()
    changed = [one for one in patch if one[:1] in "+-" and one[:3] not in ("+++", "---")]
    assert len(changed) == 2 and "w7 + w8" in changed[0] and "w7 - w8" in changed[1]


def test_a_patch_is_for_own_rtl_and_overwrites_no_source(tmp_path: Path) -> None:
    text, _ = unnamed("w7 - w8", "w7 + w8")
    without = run_sim(PROGRAM, tmp_path, "--suggest", str(tmp_path / "mend.patch"))
    assert without.exit_code == 2 and "--suggest" in without.stderr
    run = run_sim(PROGRAM, tmp_path, "--suggest", str(tmp_path / "design.v"), rtl=text)
    assert run.exit_code == 2 and (tmp_path / "design.v").read_text() == text
