"""Outputs shown below ``$ dais-verif ...`` on pages are those of the command, run here or in the test named here."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from support.shown import PAGES, ROOT
from support.transcripts import Step, matches, run

from dais_verif.base.own_command import own_command

_BLOCK = re.compile(r"^    \$ (?:\.venv/bin/)?((?:dais-verif|make|pytest) .*)\n((?:(?:    .*)?\n)*)", re.MULTILINE)

#: Pages whose outputs are compared by other tests.
ELSEWHERE = {
    "README.md": "tests/sim/test_readme.py",
    "approximation.md": "tests/unit/test_cli_approx.py",
    "coverage.md": "tests/unit/test_coverage_docs.py",
    "vm.md": "tests/recorded/test_vm_docs.py",
}
#: Commands that are not run, with the reason.
NOT_RUN = {
    "dais-verif prove out": "the folder is made by alkaid, as the page shows in one line: tests/interop runs it",
    "make hil": "it installs; tests/sim/test_machine_hil.py and others run what it calls",
    "dais-verif prove a.dais --rtl net": "the netlist is miscompiled by an old Yosys",
    "pytest --dais programs/ --dais-vectors 5000 --dais-prove -n 2 --junit-xml report.xml": "programs of readers",
}
#: Files that the commands read, with the shell commands that make them; CORPUS is the folder of programs.
MADE = {
    "p02.bin": "cp $CORPUS/p02_*/prog.v1.bin p02.bin",
    "prog.bin": "cp $CORPUS/p13_hgq_jet/prog.v1.bin prog.bin",
    "bad.v": "dais-verif emit examples/quantised_mac.bin | sed \"s/5'sd10/5'sd9/\" > bad.v",
}


def answers_of(page: Path) -> list[Step]:
    found = _BLOCK.findall(page.read_text(encoding="utf-8"))
    return [Step(command, tuple(line[4:] for line in shown.rstrip().splitlines())) for command, shown in found]


SHOWN = [(page, step) for page in PAGES if page.name not in ELSEWHERE for step in answers_of(page)]
RUN = [(page, step) for page, step in SHOWN if step.command not in NOT_RUN]


def test_each_answer_is_accounted_for() -> None:
    assert set(NOT_RUN) <= {step.command for _, step in SHOWN}, "what is not run is still on a page"
    assert len(RUN) >= 5
    for name, test in ELSEWHERE.items():
        assert name in (ROOT / test).read_text(encoding="utf-8"), f"{test} reads {name}"


@pytest.mark.slow
@pytest.mark.parametrize(("page", "step"), RUN, ids=[f"{page.stem}-{number}" for number, (page, _) in enumerate(RUN)])
def test_the_answer_is_what_is_printed(page: Path, step: Step, corpus: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for name, command in MADE.items():
        if name in step.command.split():
            assert run(Step(command.replace("$CORPUS", str(corpus)), ()), tmp_path) == []
    printed = [line for line in run(step, tmp_path) if not re.fullmatch(r"exit \d+", line)]
    said = "\n".join(printed).replace(f"{tmp_path}/", "").replace(own_command([]), "dais-verif")
    assert matches(step.printed, said.splitlines()), "\n".join([step.command, "prints", *printed])
