"""Mutants on simulated boards: the result of each on a board, and the designs that a board accepts."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.adder import ADDER
from support.said import as_recorded, raises
from support.signing import MACHINE

from dais_verif.base.errors import MutationError, RequestError, ToolError
from dais_verif.base.toolchain import tools
from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.mutation.sites import all_mutants
from dais_verif.hardware.emitter import PipelineOptions, emit_verilog
from dais_verif.hardware.ports.interface import Clocking, packed
from dais_verif.record.campaigns import MutationRecord
from dais_verif.simulation.verify import Finding
from dais_verif.spec.program import Program
from dais_verif.stimulus import generate
from dais_verif.verbs.designs import DesignRequest
from dais_verif.verbs.mutation import simulations as module
from dais_verif.verbs.mutation.mutate import mutate
from dais_verif.verbs.mutation.proofs import Question
from dais_verif.verbs.mutation.requests import MutationRequest
from dais_verif.verbs.mutation.simulations import Boards

#: The input plus 1 in 8 bits, and the input: one vector does not kill all mutants.
RARE = Program.build(
    [(-1, 0, -1, 0, (0, 8, 0)), (4, 0, -1, 1, (0, 9, 0)), (3, 1, -1, 0, (0, 8, 0))],
    [(2, 0, 0), (0, 0, 0)],
    inp_shift=[0],
)
FILES = {"model.v": emit_verilog(ADDER)}


def question(**changed: object) -> Question:
    return replace(Question(ADDER, FILES, "model", packed(ADDER), (), True, False, 0, None), **changed)  # type: ignore[arg-type]


def on_boards(tmp_path: Path, program: Program, **asked: object) -> MutationRecord:
    return mutate(MutationRequest(program=program, output=tmp_path / "out", judges=("hil",), **asked))  # type: ignore[arg-type]


def test_what_a_board_says_of_each_mutant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant's board can be right, wrong or silent, or cannot be built."""
    mutants = dict(enumerate(all_mutants(FILES)[:4]))
    texts = {f"{mutant.applied(FILES)['model.v']}\n": number for number, mutant in mutants.items()}

    def build(program: Program, link: str, folder: Path, core: str, latency: int) -> Path:
        folder.mkdir(parents=True)
        if texts[core] == 3:
            raise ToolError("no module (full output: x)")
        return folder / str(texts[core])

    said = {
        "0": Finding(Verdict.PASS, "", []),
        "1": Finding(Verdict.RTL_MISMATCH, "", [], SimpleNamespace(row=7)),  # type: ignore[arg-type]
        "2": Finding(Verdict.TOOL_FAILURE, "nothing came back", []),
    }
    monkeypatch.setattr(module, "build_core", build)
    monkeypatch.setattr(module, "run_core", lambda program, batch, link, board, folder, **_: said[board.name])
    boards = Boards.of(question(), generate(ADDER, 4, 0), tmp_path, 2)
    wrong, refused = boards.judge(mutants, lambda done: None)
    assert {number: (one.simulator, one.row) for number, one in wrong.items()} == {1: ("board", 7), 2: ("board", None)}
    as_recorded(wrong[2].text)
    as_recorded(refused)
    assert [boards.goes_wrong(mutants[number]) for number in (0, 1, 2)] == [False, True, True]
    late = iter([said["2"], said["0"]])
    with monkeypatch.context() as busy:
        busy.setattr(module, "run_core", lambda *_, **__: next(late))
        assert not boards.goes_wrong(mutants[0])  # the board answers on the second attempt
    said["0"] = Finding(Verdict.UNKNOWN, "engines differ", [])
    with pytest.raises(AssertionError, match="engines differ"):
        boards.judge({0: mutants[0]}, lambda done: None)


@pytest.mark.parametrize(
    "changed",
    [
        {"top": "mine"},
        {"dut": packed(ADDER, Clocking("clk", 2, "rst", enable="en"))},
        {"dut": packed(ADDER, Clocking("clk", 2))},
        {"dut": packed(ADDER, Clocking("clk", 0, enable="en"))},
        {"data": ("table.txt",)},
    ],
    ids=["another module", "a reset", "no enable", "no latency", "files"],
)
def test_cores_that_no_board_takes(changed: dict[str, object], tmp_path: Path) -> None:
    with raises(MutationError, match=r"board takes.*model"):
        Boards.of(question(**changed), generate(ADDER, 4, 0), tmp_path, 1)


def test_machines_are_not_mutated_on_boards(tmp_path: Path) -> None:
    (tmp_path / "m.mach").write_text(MACHINE)
    with raises(RequestError, match="hil"):
        mutate(MutationRequest(program=tmp_path / "m.mach", judges=("hil",), output=tmp_path))


@pytest.mark.slow
@pytest.mark.skipif(not tools.has_icarus(), reason="needs simulators")
def test_boards_kill_with_vectors_and_miss_without(tmp_path: Path) -> None:
    few = tmp_path / "few.csv"
    few.write_text("0\n")
    asked = {"unchecked": True, "count": 12, "inputs": (few,)}
    missed = on_boards(tmp_path, RARE, vectors=0, **asked)
    killed = on_boards(tmp_path, RARE, vectors=300, **asked)
    assert missed.verdict is killed.verdict is Verdict.PASS
    assert missed.summary.survived > 0 < missed.summary.killed_by_simulation
    assert killed.summary.survived < missed.summary.survived
    assert killed.summary.killed_by_simulation > missed.summary.killed_by_simulation
    survivors = [row.number for row in missed.mutants if row.fate == "survived"]
    assert any(row.simulator == "board" for row in killed.mutants if row.number in survivors)
    assert killed.judges == ["hil"] and "board" in killed.simulators and killed.summary.unsound == 0


@pytest.mark.slow
@pytest.mark.skipif(not tools.has_icarus(), reason="needs simulators")
def test_a_design_that_is_wrong_on_a_board_has_no_mutants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutants of a pipeline with an enable are judged; if the board gets a wrong core, there are no mutants."""
    design = DesignRequest(pipeline=PipelineOptions(stages=2, enable=True))
    record = on_boards(tmp_path, ADDER, design=design, count=4)
    assert record.verdict is Verdict.PASS and record.summary.killed_by_simulation > 0
    build = module.build_core
    monkeypatch.setattr(
        module, "build_core", lambda a, b, c, core, e: build(a, b, c, re.sub(r" \+ ", " - ", core, count=1), e)
    )
    record = on_boards(tmp_path, ADDER, count=4)
    assert record.verdict is Verdict.RTL_MISMATCH and "on a board" in record.message and not record.mutants
