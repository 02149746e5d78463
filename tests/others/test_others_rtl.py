"""Third-party modules, where their repositories are available, are proved, and a fault seeded in each is refuted."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from others.campaign import ROOT, examine
from others.cases import Case, Project, cases, projects
from others.checkouts import NotThere, checkout, lay_out

#: The folder in which ``make others-rtl`` keeps the repositories.
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
    assert not finding.wrong and finding.refuted == finding.seeded == 1, finding.row


def test_a_repository_that_is_not_there_is_named(tmp_path: Path) -> None:
    name, project = next(iter(projects().items()))
    with pytest.raises(NotThere, match=f"no {project.repository} with commit"):
        checkout(project, name, tmp_path, tmp_path)


def test_a_commit_is_fetched_once_and_laid_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commit is fetched from the address on github.com, which git redirects to a local folder."""
    origin = tmp_path / "origin"
    for name, text in {"src/top.sv": "top", "inc/lib/macros.svh": "macros"}.items():
        (origin / name).parent.mkdir(parents=True, exist_ok=True)
        (origin / name).write_text(text)
    author = ("-c", "user.name=x", "-c", "user.email=x@localhost")
    for step in (("init", "-q"), ("add", "."), (*author, "commit", "-qm", "x")):
        subprocess.run(["git", "-C", str(origin), *step], check=True)
    said = subprocess.run(["git", "-C", str(origin), "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    for key, value in {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.file://{origin}.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://github.com/owner/name.git",
    }.items():
        monkeypatch.setenv(key, value)
    project = Project("owner/name", said.stdout.strip(), "MIT", "inc")
    there = checkout(project, "name", None, tmp_path / "fetched")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "0")  # nothing can be fetched any more
    assert checkout(project, "name", None, tmp_path / "fetched") == there
    case = Case("top", "name", "", ["src/top.sv"], [], [], [], headers=["inc/lib/macros.svh"], defines=["OFF"])
    sources = lay_out(case, project, there, tmp_path / "rtl")
    assert [(path.name, path.read_text()) for path in sources] == [("defines.v", "`define OFF\n"), ("top.sv", "top")]
    assert (tmp_path / "rtl" / "lib" / "macros.svh").read_text() == "macros"
    with pytest.raises(NotThere, match=r"src/none\.sv"):
        lay_out(Case("top", "name", "", ["src/none.sv"], [], [], []), project, there, tmp_path / "none")
