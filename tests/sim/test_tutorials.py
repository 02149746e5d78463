"""Every command of a tutorial, or of a page that begins with one, runs as it is printed, and gives the output shown."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.transcripts import Step, matches, run, steps_of

ROOT = Path(__file__).parents[2]
PAGES = sorted(page for page in (ROOT / "docs").glob("*.md") if "\n```console\n" in page.read_text(encoding="utf-8"))
#: Modules that a page needs apart from the extras; the page says how to install them.
NEEDED = {"tutorial-hgq2": ("da4ml", "hgq", "jax", "keras")}


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_what_is_printed(page: Path, tmp_path: Path) -> None:
    missing = [name for name in NEEDED.get(page.stem, ()) if find_spec(name) is None]
    if missing:
        pytest.skip(f"the page needs {', '.join(missing)}: it says what to install")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    steps = list(steps_of(page.read_text(encoding="utf-8")))
    assert len(steps) >= 4
    for step in steps:
        printed = run(step, tmp_path)
        assert matches(step.printed, printed), "\n".join([step.command, "prints", *printed])


def test_each_page_that_needs_more_is_there() -> None:
    assert set(NEEDED) <= {page.stem for page in PAGES}
    assert all("    pip install " in (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in NEEDED)


def test_another_line_does_not_match() -> None:
    shown = ["a 1.5 s", "...", "PASS"]
    assert matches(shown, ["a 2 s", "b", "c", "PASS"]) and matches(shown, ["a 2 s", "PASS"])
    for printed in (["b 2 s", "PASS"], ["a 2 s", "FAIL"], ["a 2 s", "PASS", "d"], []):
        assert not matches(shown, printed)
    assert not matches([], ["more"])


def test_commands_are_those_of_console_blocks() -> None:
    text = "```console\n$ one \\\n  more\nprints\n$ two\n```\n\n```sh\n$ three\n```\n"
    assert list(steps_of(text)) == [Step("one \\\n  more", ("prints",)), Step("two", ())]
