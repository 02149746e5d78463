"""Machines and kernels as fuzzing cases: all pairs agree; a fault is found, reduced, kept once, and replayed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.planting import plant
from support.said import raises

import dais_verif
from dais_verif.base.errors import FuzzingError, InputError, RequestError
from dais_verif.base.toolchain import tools
from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.fuzzing.files import read_tree
from dais_verif.campaigns.fuzzing.fuzzer import Stretch
from dais_verif.campaigns.fuzzing.machines import fuzzer
from dais_verif.campaigns.fuzzing.machines.case import MachineCase, machine_case_of
from dais_verif.campaigns.fuzzing.machines.fuzzer import made_kernel, made_machine, shrunk_machine
from dais_verif.campaigns.fuzzing.machines.pairs import MachinePair
from dais_verif.campaigns.fuzzing.pairs.disagreement import NotJudged
from dais_verif.golden import members
from dais_verif.spec.machine import text as writer

FORMS = ("engines", "text", "alirfsm")
#: A fault: the text of a machine does not say which signal resets a register.
BUG = (writer, 'rest += f" reset {self.spelling.view(signal.reset)}"', 'rest += ""')


def test_machines_and_kernels_agree(tmp_path: Path) -> None:
    for kind, pairs, count in (("machine", FORMS, 5), ("kernel", ("unfolded", "alirfsm"), 3)):
        record = dais_verif.fuzz(kind=kind, pairs=pairs, count=count, jobs=1, output=tmp_path / kind)
        assert record.verdict is Verdict.PASS and record.kind == kind
        assert record.pairs[pairs[0]] == count
    with raises(InputError):
        dais_verif.fuzz(kind="machine", pairs="text", count=1, resume=True, output=tmp_path / "kernel")


@pytest.mark.slow
def test_many_machines_and_kernels_agree(tmp_path: Path) -> None:
    """All pairs agree, including the prover and the simulators."""
    for kind, pairs, count in (("machine", FORMS, 40), ("kernel", ("unfolded", *FORMS), 12)):
        pairs = (*pairs, "prove", "icarus", "verilator") if tools.has_icarus() else (*pairs, "prove")
        record = dais_verif.fuzz(kind=kind, pairs=pairs, count=count, output=tmp_path / kind)
        assert record.verdict is Verdict.PASS, record
        assert record.pairs["engines"] == count and record.pairs["prove"]


def test_a_case_is_made_of_its_number_alone() -> None:
    assert made_machine(3, 5)[2].key == made_machine(3, 5)[2].key != made_machine(3, 6)[2].key
    assert made_kernel(3, 5)[2].key == made_kernel(3, 5)[2].key


def test_a_bug_of_the_engine_of_members_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = members._in_units
    monkeypatch.setattr(members, "_in_units", lambda raw, f, wanted: right(raw, f, wanted) + 1)
    record = dais_verif.fuzz(kind="kernel", pairs="unfolded", count=4, jobs=1, output=tmp_path)
    assert record.verdict is Verdict.DISAGREEMENT
    assert dais_verif.fuzz(replay=tmp_path).verdict is Verdict.DISAGREEMENT
    monkeypatch.undo()
    assert dais_verif.fuzz(replay=tmp_path).verdict is Verdict.PASS


def test_a_machine_becomes_as_small_as_what_fails() -> None:
    """A shrunk machine has only what the failure needs; here, a case fails if any connection has an enable."""
    made = (made_machine(1, number)[2] for number in range(20))
    case = next(one for one in made if any(c.enable for c in one.machine.connections))
    small, complete = shrunk_machine(case, lambda one: any(c.enable for c in one.machine.connections), 60)
    assert small.cycles == 1 and len(small.sequences) == 1
    assert len(small.machine.outputs) == 1 and len(small.machine.connections) <= len(case.machine.connections)
    again, _ = shrunk_machine(case, lambda one: any(c.enable for c in one.machine.connections), 60)
    assert complete and again.key == small.key


def test_what_is_no_request() -> None:
    with raises(RequestError):
        dais_verif.fuzz(kind="board")
    with raises(RequestError):
        dais_verif.fuzz(kind="machine", pairs="layouts")
    with raises(RequestError):
        dais_verif.fuzz(kind="machine", against="da4ml")


def test_a_bug_in_the_text_of_machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cause is kept once, its folder is enough to replay it, and edited files that are not a case are refused."""
    plant(monkeypatch, *BUG)
    record = dais_verif.fuzz(kind="machine", pairs="text", count=12, jobs=1, output=tmp_path)
    assert record.verdict is Verdict.DISAGREEMENT and len({one.folder for one in record.found}) == len(record.found)
    monkeypatch.undo()
    folder = Path(record.found[0].folder)
    tree, kept = read_tree(folder)
    assert kept.pair == "text" and machine_case_of(folder, tree).cycles == 1
    assert dais_verif.fuzz(replay=tmp_path).verdict is Verdict.PASS
    for change, said in (({"cycles": 2}, "sequence"), ({"machine": "../x"}, "folder")):
        (folder / "case.json").write_text(json.dumps({**tree, **change}))
        with raises(FuzzingError, match=said):
            dais_verif.fuzz(replay=folder)


def test_a_pair_that_cannot_judge_a_case_leaves_it_to_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def cannot(case: MachineCase) -> None:
        raise NotJudged

    pairs = {
        "another": MachinePair(cannot, 1 << 60, ""),
        "cannot": MachinePair(cannot, 1, ""),
        "can": MachinePair(lambda case: None, 1, ""),
    }
    monkeypatch.setitem(fuzzer.MACHINE_KINDS, "machine", fuzzer.MachineKind(made_machine, pairs))
    found = fuzzer.judge_machines(Stretch(0, 0, 3, tuple(pairs), "machine"))
    assert (found.pairs, found.undecided, found.findings) == ({"can": 3}, {"cannot": 3}, [])
