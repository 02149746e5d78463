"""News fragments become a release, and there is one version."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from dais_verif.base.version import VERSION

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
CITATION = ROOT / "CITATION.cff"
KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")


def test_towncrier_finds_every_news_fragment() -> None:
    """towncrier reads files of this form and silently leaves out others."""
    form = rf"\+[a-z0-9-]+\.({'|'.join(KINDS).lower()})\.md|README\.md"
    assert [path.name for path in (ROOT / "changes").iterdir() if not re.fullmatch(form, path.name)] == []


def test_a_release_is_made_of_fragments(tmp_path: Path) -> None:
    if find_spec("towncrier") is None:
        pytest.skip("towncrier is not installed")
    for name in ("pyproject.toml", "CHANGELOG.md"):
        (tmp_path / name).write_text((ROOT / name).read_text("utf-8"), encoding="utf-8")
    (tmp_path / "changes").mkdir()
    for kind in KINDS:
        (tmp_path / "changes" / f"+one.{kind.lower()}.md").write_text(f"{kind}: a sentence.\n", encoding="utf-8")
    release = ["--version", "9.9.9", "--date", "2100-01-01"]
    command = [sys.executable, "-m", "towncrier", "build", *release, "--keep"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "CHANGELOG.md").read_text(encoding="utf-8")
    assert text.index("## [Unreleased]") < text.index("## [9.9.9] - 2100-01-01") < text.index(f"## [{VERSION}] - ")
    assert all(f"- {kind}: a sentence." in text for kind in KINDS)


@pytest.mark.slow
def test_the_citation_is_valid() -> None:
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.citation-file-format", str(CITATION)]
    done = subprocess.run(check, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout


def test_the_citation_is_of_this_release() -> None:
    tree = yaml.safe_load(CITATION.read_text(encoding="utf-8"))
    assert tree["version"] == VERSION
    assert f"## [{VERSION}] - {tree['date-released']}\n" in TEXT
