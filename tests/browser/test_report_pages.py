"""Reports in a browser have no errors, and links, keys, search and printing work."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.pages import EVIL, PROGRAM, failed_proof, mismatch_run, passed_proof, passed_run, regression, signoff
from support.places import HPVM

from bench.networks import network
from dais_verif import show_configurations
from dais_verif.record.campaigns import RegressionRecord
from dais_verif.report.html import write_report
from dais_verif.report.html.configurations import write_configurations_page
from dais_verif.report.html.sources import Document
from dais_verif.spec.program import Program

OpenPage = Callable[..., Any]

DOCUMENTS: dict[str, list[Document]] = {
    "pass": [passed_run()],
    "mismatch": [mismatch_run(), failed_proof()],
    "proof": [passed_run(), passed_proof()],
    "signoff": [signoff()],
    "regression": [regression()],
}

#: Links inside the page whose targets are missing or hidden, in the order of the page.
DEAD_LINKS = """() => [...document.querySelectorAll("a[href^='#']")]
    .map((a) => a.getAttribute("href").slice(1))
    .filter((id) => !/^op-\\d+$/.test(id) && !document.getElementById(id)?.getClientRects().length)"""


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Path]:
    def make(documents: list[Document], program: Program | None = PROGRAM) -> Path:
        path = tmp_path / "page.html"
        write_report(documents, None if isinstance(documents[0], RegressionRecord) else program, path)
        return path

    return make


def chosen(page: Any) -> int | None:
    """Return the op that the details show."""
    found = re.match(r"Op (\d+):", page.locator("#details-title").inner_text())
    return int(found[1]) if found else None


@pytest.mark.parametrize(
    "name", [name if name == "mismatch" else pytest.param(name, marks=pytest.mark.slow) for name in DOCUMENTS]
)
def test_it_opens_and_every_link_leads_somewhere(name: str, made: Callable[..., Path], open_page: OpenPage) -> None:
    page = open_page(made(DOCUMENTS[name]))
    assert page.evaluate(DEAD_LINKS) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for link in page.locator("nav a").all():
        link.click()
        assert page.evaluate("location.hash") == link.get_attribute("href")
    links = page.locator("main a[href^='#op-']")
    if links.count():
        links.first.click()
        op = int(links.first.get_attribute("href")[4:])
        # The page is notified by an event, some time after the click.
        page.wait_for_function(f"document.querySelector('#details-title').innerText.startsWith('Op {op}:')")
        assert chosen(page) == op


@pytest.mark.slow
def test_what_wants_to_be_markup_does_nothing(made: Callable[..., Path], open_page: OpenPage) -> None:
    evil = replace(mismatch_run(), message=EVIL, reproduce=EVIL, warnings=["<img src=x onerror=alert(1)>"])
    page = open_page(made([evil]))
    assert page.locator(".message").inner_text() == EVIL
    assert page.locator("img").count() == 0


def test_jobs_are_filtered_and_sorted(made: Callable[..., Path], open_page: OpenPage) -> None:
    page = open_page(made([regression()]))
    shown, rows = page.locator("[data-filters=jobs-table] .shown"), page.locator("#jobs-table tbody tr:visible")
    assert (shown.inner_text(), rows.count()) == ("36 of 36 shown", 36)
    page.locator("[data-key=verdict]").select_option("RTL_MISMATCH")
    assert (shown.inner_text(), rows.count()) == ("1 of 36 shown", 1)
    page.get_by_role("button", name="Clear").click()
    page.locator("[data-key=program]").select_option("p01.bin")
    page.get_by_label("Search").fill("VERILATOR")
    assert (shown.inner_text(), rows.count()) == ("3 of 36 shown", 3)
    page.get_by_label("Search").fill("nothing like it")
    assert (shown.inner_text(), rows.count()) == ("0 of 36 shown", 0)
    page.get_by_role("button", name="Clear").click()
    page.get_by_label("flaky only").check()
    assert rows.count() == 1
    page.get_by_role("button", name="Clear").click()
    assert rows.count() == 36
    header = page.get_by_role("columnheader", name="Time")
    times = []
    for direction in ("ascending", "descending"):
        header.get_by_role("button").click()
        assert header.get_attribute("aria-sort") == direction
        cells = page.locator("#jobs-table tbody td:nth-child(6)").all_inner_texts()
        times.append([float(cell.split()[0]) for cell in cells])
        assert f"Sorted by Time, {direction}" in page.locator("#said").inner_text()
    assert times == [sorted(times[0]), sorted(times[0], reverse=True)] and times[0][0] < times[0][-1]
    header.get_by_role("button").press("Enter")
    assert header.get_attribute("aria-sort") == "ascending"


@pytest.mark.slow
def test_outputs_are_filtered_by_grade(made: Callable[..., Path], open_page: OpenPage) -> None:
    page = open_page(made([passed_run()]))
    page.get_by_label("Grade").select_option("exhausted")
    assert page.locator("#outputs-table tbody tr:visible").count() == 1
    assert page.locator("[data-filters=outputs-table] .shown").inner_text() == f"1 of {PROGRAM.n_out} shown"


@pytest.mark.slow
def test_a_line_is_copied(made: Callable[..., Path], open_page: OpenPage) -> None:
    page = open_page(made([passed_run()]), permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy: dais-verif sim").first.click()
    page.wait_for_function("document.getElementById('said').textContent === 'Copied'")
    assert page.evaluate("navigator.clipboard.readText()") == passed_run().reproduce


def test_search_finds_ops_by_number_kind_and_type(made: Callable[..., Path], open_page: OpenPage) -> None:
    page = open_page(made([passed_run()]))
    find, found, listed = page.locator("#find"), page.locator("#found"), page.locator("#ops tbody tr")
    find.fill("%5")
    assert (chosen(page), found.inner_text(), listed.count()) == (5, "1 op found", 1)
    find.fill("mux")
    ops = [op.index for op in PROGRAM.ops if op.spec.mnemonic.startswith("mux")]
    assert (found.inner_text(), listed.count()) == (f"{len(ops)} ops found", len(ops))
    walked = []
    for key in ("Enter", "Enter", "Enter", "Shift+Enter"):
        find.press(key)
        walked.append(chosen(page))
    assert walked == [ops[0], ops[1], ops[2 % len(ops)], ops[1]]
    find.fill("s9.2 MUL")
    assert listed.count() == 1 and "mul" in listed.inner_text()
    find.fill("no such op")
    assert found.inner_text() == "0 ops found" and page.locator("#next").is_disabled()
    assert page.locator("#ops-shown").inner_text() == "No matching op"
    find.fill("")
    assert listed.count() == PROGRAM.n_ops
    for box in page.locator("#kinds input").all()[1:]:
        box.uncheck()
    inputs = sum(op.code == -1 for op in PROGRAM.ops)
    assert (listed.count(), found.inner_text()) == (inputs, f"{inputs} ops shown")


@pytest.mark.slow
def test_the_picture_is_walked_by_keys(made: Callable[..., Path], open_page: OpenPage) -> None:
    page = open_page(made([passed_run(), failed_proof()]))
    picture = page.locator("canvas")
    for _ in range(200):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "picture":
            break
    assert page.evaluate("document.activeElement.id") == "picture", "it is reached by Tab"
    picture.press("ArrowRight")
    assert chosen(page) == 0
    picture.press("ArrowRight")
    user = chosen(page)
    assert user is not None and 0 in PROGRAM.ops[user].operands
    picture.press("ArrowLeft")
    assert chosen(page) == PROGRAM.ops[user].operands[0]
    picture.press("End")
    last = PROGRAM.ops[-1]
    assert chosen(page) == last.index
    assert page.evaluate("location.hash") == f"#op-{last.index}"
    assert f"Op {last.index}, {last.spec.mnemonic} {last.type}" in page.locator("#said").inner_text()
    details = page.locator("#details-body").inner_text()
    assert f"{last.type.width} bit" in details and "83.3" not in details and "reachable bins hit" in details
    cone = page.evaluate("document.querySelector('#details-body').textContent.match(/depends on ([0-9,]+) op/)[1]")
    from dais_verif.spec.program.graph import cone as cone_of

    assert int(cone) == len(cone_of(PROGRAM, [last.index])) - 1
    before = picture.screenshot()
    picture.press("+")
    picture.press("+")
    page.wait_for_timeout(100)
    zoomed = picture.screenshot()
    picture.press("0")
    page.wait_for_timeout(100)
    fitted = picture.screenshot()
    assert len({before, zoomed, fitted}) == 3
    picture.press("Enter")
    assert page.evaluate("document.activeElement.id") == "details-title"
    picture.press("Escape")
    assert chosen(page) is None


@pytest.mark.slow
def test_links_of_an_op_lead_on_and_back(made: Callable[..., Path], open_page: OpenPage) -> None:
    page = open_page(made([mismatch_run()]), "#op-12")
    assert chosen(page) == 12
    page.locator("#details-body code a", has_text="%11").click()
    assert chosen(page) == 11
    page.go_back()
    assert chosen(page) == 12
    page.locator("#mismatch a[href='#op-5']").click()
    assert chosen(page) == 5
    assert "the first op whose value diverges" in page.locator("#details-body").inner_text()


@pytest.mark.slow
def test_an_op_is_chosen_with_the_mouse(made: Callable[..., Path], open_page: OpenPage) -> None:
    page = open_page(made([passed_run()]))
    picture = page.locator("canvas")
    picture.scroll_into_view_if_needed()
    page.wait_for_timeout(200)
    box = picture.bounding_box()
    found = set()
    for x in range(10, int(box["width"]), 12):
        page.mouse.click(box["x"] + x, box["y"] + box["height"] / 2)
        found.add(chosen(page))
    assert len(found - {None}) >= 3, "boxes along the middle"
    before = picture.screenshot()
    page.mouse.move(box["x"] + 50, box["y"] + 300)
    page.mouse.down()
    page.mouse.move(box["x"] + 250, box["y"] + 350, steps=4)
    page.mouse.up()
    page.wait_for_timeout(100)
    dragged = picture.screenshot()
    picture.focus()
    page.mouse.wheel(0, -400)
    page.wait_for_timeout(100)
    assert len({before, dragged, picture.screenshot()}) == 3


@pytest.mark.slow
def test_two_fingers_zoom_and_one_scrolls_the_page(made: Callable[..., Path], open_page: OpenPage) -> None:
    page = open_page(made([passed_run()]), viewport={"width": 400, "height": 800}, has_touch=True, is_mobile=True)
    picture = page.locator("canvas")
    picture.scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    box, fingers = picture.bounding_box(), page.context.new_cdp_session(page)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def touch(kind: str, *points: tuple[float, float]) -> None:
        there = [{"x": px, "y": py, "id": at} for at, (px, py) in enumerate(points)]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": there})

    before = picture.screenshot()
    touch("touchStart", (x - 30, y), (x + 30, y))
    for step in range(1, 8):
        touch("touchMove", (x - 30 - 10 * step, y), (x + 30 + 10 * step, y))
    touch("touchEnd")
    page.wait_for_timeout(200)
    assert picture.screenshot() != before
    top = page.evaluate("scrollY")
    touch("touchStart", (x, y))
    for step in range(1, 12):
        touch("touchMove", (x, y - 15 * step))
    touch("touchEnd")
    page.wait_for_function(f"scrollY > {top + 50}")


@pytest.mark.slow
def test_without_scripts_all_that_matters_is_there(made: Callable[..., Path], open_page: OpenPage) -> None:
    page = open_page(made([mismatch_run()]), java_script_enabled=False)
    for words in ("RTL_MISMATCH", "398 of 1000 vectors differ", "is the first op whose value diverges", "248.5"):
        assert page.get_by_text(words).first.is_visible()
    assert page.locator("#outputs-table tbody tr").count() == PROGRAM.n_out
    assert page.locator("noscript").is_visible() and not page.locator("#view").is_visible()
    assert page.locator(".filters:visible").count() == 0


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_axe_has_nothing_to_say(
    name: str, width: int, scheme: str, made: Callable[..., Path], open_page: OpenPage
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = open_page(made(DOCUMENTS[name]), color_scheme=scheme, viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out"
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    if page.locator("#view").count():
        page.evaluate("location.hash = '#op-5'")
        page.wait_for_function("document.getElementById('details-title').textContent.startsWith('Op 5')")
    result = Axe().run(page)
    assert result.violations_count == 0, result.generate_report()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_configurations_are_sorted_and_accessible(width: int, scheme: str, tmp_path: Path, open_page: OpenPage) -> None:
    from axe_playwright_python.sync_playwright import Axe

    write_configurations_page(show_configurations(HPVM / "vgg16_cifar10.txt"), tmp_path / "page.html")
    page = open_page(tmp_path / "page.html", color_scheme=scheme, viewport={"width": width, "height": 800})
    assert page.evaluate(DEAD_LINKS) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out"
    for _ in range(2):
        page.locator("#configurations thead button", has_text="Speed-up").click()
    assert page.locator("#configurations tbody th").first.inner_text() == "conf43", "the fastest"
    result = Axe().run(page)
    assert result.violations_count == 0, result.generate_report()


@pytest.mark.slow
def test_it_prints(made: Callable[..., Path], open_page: OpenPage) -> None:
    page = open_page(made([mismatch_run(inputs=40)]), color_scheme="dark")
    page.locator("#view").wait_for()
    data = page.pdf(format="A4")
    assert data.startswith(b"%PDF") and 2 <= data.count(b"/Type /Page\n") + data.count(b"/Type /Page ") <= 12
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible() and not page.locator("#find").is_visible()
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open], .screen)").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details:not([open])").count() > 0


@pytest.mark.slow
def test_fifty_thousand_ops_are_no_burden(made: Callable[..., Path], open_page: OpenPage) -> None:
    program = network(50_000)
    path = made([passed_run(program), passed_proof(program)], program)
    assert path.stat().st_size < 5_000_000
    page = open_page(path)
    nodes = "document.getElementsByTagName('*').length"
    at_first = page.evaluate(nodes)
    assert at_first < 10_000, "a thousand open bins are listed, ops are not"
    page.locator("#find").fill("49999")
    assert chosen(page) == 49_999
    page.locator("#find").fill("relu")
    assert page.locator("#found").inner_text() == f"{sum(op.code == 2 for op in program.ops):,} ops found"
    page.locator("#find").press("Enter")
    page.locator("#colouring").select_option("width")
    page.get_by_role("button", name="Show the whole program").click()
    page.get_by_role("button", name="Last page").click()
    page.locator("#ops").get_by_role("columnheader", name="Width").get_by_role("button").click()
    assert page.locator("#ops tbody tr").count() == 50
    assert page.evaluate(nodes) < at_first + 500
