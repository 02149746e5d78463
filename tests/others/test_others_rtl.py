"""Modules of others, where their repositories are: proved, and a fault that is planted in each is refuted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from others.campaign import ROOT, examine
from others.cases import Case, cases, projects
from others.checkouts import NotThere, checkout, lay_out

#: Where ``make others-rtl`` leaves them.
FOUND = Path(os.environ.get("DAIS_OTHERS", ROOT / "build" / "others" / "repositories"))


@pytest.mark.slow
@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case.project}-{case.module}")
def test_it_is_proved_and_a_fault_is_refuted(case: Case, tmp_path: Path) -> None:
    project = projects()[case.project]
    try:
        repository = checkout(project, case.project, FOUND, tmp_path)
    except NotThere as error:
        pytest.skip(f"{error}: run make others-rtl, or name a folder in DAIS_OTHERS")
    finding = examine(case, lay_out(case, project, repository, tmp_path / "rtl"), tmp_path / "rtl", faults=1)
    assert finding.verdict == "PASS", finding.row
    assert not finding.wrong and finding.refuted == finding.planted == 1, finding.row


def test_a_repository_that_is_not_there_is_named(tmp_path: Path) -> None:
    name, project = next(iter(projects().items()))
    with pytest.raises(NotThere, match=f"no {project.repository} with commit"):
        checkout(project, name, tmp_path, tmp_path)
