"""The search of the documentation site works from any page and without a server."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_words_are_found_from_a_file(browser: Any, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "-f", str(ROOT / "mkdocs.yml"), "-d", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True, timeout=600)
    page = browser.new_page(viewport={"width": 1300, "height": 900})
    page.goto((tmp_path / "reference/verbs/sim.html").as_uri())
    field = page.locator("input.md-search__input")
    field.click()
    field.press_sequentially("pipeline latency")
    page.locator(".md-search-result__item a[href*='emit.html']").first.wait_for(timeout=20_000)
    field.fill("")
    field.press_sequentially("nothinghasthisword")
    page.locator(".md-search-result__meta", has_text="No matching documents").wait_for(timeout=20_000)
