"""In diagrams of machines, rendered by a browser, texts stay within their boxes and do not overlap."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.places import FSM

from dais_verif.report.html.machines.page import write_machine_page
from dais_verif.spec.machine import load_machine

#: Texts that leave their box or cover another text.
MISPLACED = """() => {
    const box = (text) => text.getBoundingClientRect();
    const texts = [...document.querySelectorAll("svg.machine text")];
    const left = texts.filter((text) => {
        const around = text.parentElement.querySelector("rect")?.getBoundingClientRect(), own = box(text);
        return around && (own.left < around.left || own.right > around.right
            || own.top < around.top || own.bottom > around.bottom);
    });
    const covered = texts.filter((a) => texts.some((b) => a !== b && box(a).left < box(b).right - 1
        && box(b).left < box(a).right - 1 && box(a).top < box(b).bottom - 3 && box(b).top < box(a).bottom - 3));
    return [...left, ...covered].map((text) => text.textContent);
}"""


@pytest.mark.few(1)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", sorted(FSM.glob("f0[45]*/fsm.json.gz")), ids=lambda path: path.parent.name)
def test_texts_stay_in_their_boxes(path: Path, scheme: str, tmp_path: Path, open_page: Callable[..., Any]) -> None:
    write_machine_page(load_machine(path), tmp_path / "m.html")
    page = open_page(tmp_path / "m.html", color_scheme=scheme)
    assert page.locator("svg.machine text").count() > 20
    assert page.evaluate(MISPLACED) == []


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_axe_has_nothing_to_say(width: int, scheme: str, tmp_path: Path, open_page: Callable[..., Any]) -> None:
    from axe_playwright_python.sync_playwright import Axe

    write_machine_page(load_machine(FSM / "f05_dense_folded" / "fsm.json.gz"), tmp_path / "m.html")
    page = open_page(tmp_path / "m.html", color_scheme=scheme, viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out"
    result = Axe().run(page)
    assert result.violations_count == 0, result.generate_report()
