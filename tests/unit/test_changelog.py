"""The changelog follows keepachangelog.com, news fragments have the required form, and there is one version."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import date
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from dais_verif.version import VERSION

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
CITATION = ROOT / "CITATION.cff"
KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")


def problems_of(text: str) -> list[str]:
    """Return the lines of the changelog that violate the form."""
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


def fragment_problems(name: str, text: str) -> list[str]:
    """Return the errors in the news fragment ``name``."""
    kinds = "|".join(kind.lower() for kind in KINDS)
    found = [] if re.fullmatch(rf"\+[a-z0-9-]+\.({kinds})\.md", name) else [f"{name}: must be +NAME.KIND.md"]
    if not re.match(r"[A-Z`*\[]", text) or not text.rstrip().endswith((".", ").")):
        found.append(f"{name}: must be sentences")
    if re.search(r"^(#|- )", text, re.MULTILINE) or len(text.split()) > 100:
        found.append(f"{name}: must be a paragraph of at most 100 words")
    return found


def test_news_fragments_have_their_form() -> None:
    fragments = [path for path in sorted((ROOT / "changes").iterdir()) if path.name != "README.md"]
    assert [line for path in fragments for line in fragment_problems(path.name, path.read_text("utf-8"))] == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("news.added.md", "A verb.\n"),
        ("+news.feature.md", "A verb.\n"),
        ("+news.added.rst", "A verb.\n"),
        ("+News.added.md", "A verb.\n"),
        ("+news.added.md", ""),
        ("+news.added.md", "a verb\n"),
        ("+news.added.md", "- A verb.\n"),
        ("+news.added.md", "A verb. " * 60),
    ],
    ids=["no-plus", "kind", "suffix", "capital", "empty", "no-sentence", "a-list", "long"],
)
def test_another_fragment_is_refused(name: str, text: str) -> None:
    assert fragment_problems("+news.added.md", "A verb does so.\n") == []
    assert fragment_problems(name, text) != []


def test_a_release_made_of_fragments_has_the_form(tmp_path: Path) -> None:
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
    assert problems_of(text) == []
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
