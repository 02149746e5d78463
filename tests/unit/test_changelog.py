"""The changelog keeps the form of keepachangelog.com, and release, version and citation are of one version."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
import yaml

from dais_verif.version import VERSION

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
CITATION = ROOT / "CITATION.cff"
KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")


def problems_of(text: str) -> list[str]:
    """What is not as the form wants it."""
    found, releases, kinds, filled = [], list[tuple[tuple[int, ...], date]](), list[str](), True
    if not text.startswith("# Changelog\n"):
        found.append("no title")
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("## "):
            kinds, heading = [], re.fullmatch(r"## \[(\d+(?:\.\d+){2})\] - (\d{4}-\d\d-\d\d)", line)
            if heading is not None:
                releases.append((tuple(map(int, heading[1].split("."))), date.fromisoformat(heading[2])))
            elif line != "## [Unreleased]" or releases:
                found.append(f"{number}: {line}")
        elif line.startswith("### "):
            kind = line.removeprefix("### ")
            if not filled or kind not in KINDS or (kinds and KINDS.index(kind) <= KINDS.index(kinds[-1])):
                found.append(f"{number}: {line}")
            kinds, filled = [*kinds, kind], False
        elif line.startswith("- "):
            filled = True
            if not kinds:
                found.append(f"{number}: a line of no kind")
    return found + (["releases are not in order"] if releases != sorted(releases, reverse=True) else [])


def test_it_has_the_form() -> None:
    assert problems_of(TEXT) == []
    assert TEXT.index("## [Unreleased]") < TEXT.index(f"## [{VERSION}] - ")


@pytest.mark.parametrize(
    "wrong",
    [
        "# Changes\n",
        "# Changelog\n## 0.2.0 (unreleased)\n",
        "# Changelog\n## [0.1.0] - 2026-1-1\n",
        "# Changelog\n## [0.1.0] - 2026-01-01\n## [Unreleased]\n",
        "# Changelog\n## [0.1.0] - 2026-01-01\n## [0.2.0] - 2026-02-01\n",
        "# Changelog\n## [Unreleased]\n- a line\n",
        "# Changelog\n## [Unreleased]\n### News\n- a line\n",
        "# Changelog\n## [Unreleased]\n### Fixed\n- a line\n### Added\n- a line\n",
        "# Changelog\n## [Unreleased]\n### Added\n### Fixed\n- a line\n",
    ],
    ids=["title", "heading", "date", "unreleased", "order", "no-kind", "kind", "order-of-kinds", "empty"],
)
def test_another_form_is_seen(wrong: str) -> None:
    assert problems_of(wrong) != []


@pytest.mark.slow
def test_the_citation_is_valid() -> None:
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.citation-file-format", str(CITATION)]
    done = subprocess.run(check, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout


def test_the_citation_is_of_this_release() -> None:
    tree = yaml.safe_load(CITATION.read_text(encoding="utf-8"))
    assert tree["version"] == VERSION
    assert f"## [{VERSION}] - {tree['date-released']}\n" in TEXT
