"""Pages of kernels in a browser: no element exceeds the page, and axe-core reports nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.kernel_instances import instances

from dais_verif.report.html.kernels.page import write_kernel_page
from dais_verif.verbs.kernels.picture import picture_of


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_axe_has_nothing_to_say(width: int, scheme: str, tmp_path: Path, open_page: Callable[..., Any]) -> None:
    from axe_playwright_python.sync_playwright import Axe

    write_kernel_page(picture_of(instances()["conv2d"], [0, 0]), tmp_path / "k.html")
    page = open_page(tmp_path / "k.html", color_scheme=scheme, viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out"
    for summary in page.locator("summary").all():
        summary.click()
    result = Axe().run(page)
    assert result.violations_count == 0, result.generate_report()
