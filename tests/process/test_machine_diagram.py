"""Diagrams of machines show every part; no text overlaps a text, and no line covers a text or runs along a line."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from support.machines import connect, counter, machine, read_tree, signal
from support.places import FSM
from support.said import as_recorded, raises

import dais_verif
from dais_verif.base.errors import InputError
from dais_verif.campaigns.fuzzing.generate.random_machines import random_machine
from dais_verif.doors.cli.main import main
from dais_verif.report.html import write_report
from dais_verif.report.html.machines.graph import Edge, graph_of
from dais_verif.report.html.machines.layout import Drawing, Line, draw
from dais_verif.report.html.machines.page import write_machine_page
from dais_verif.report.html.machines.view import view_of
from dais_verif.report.html.stored import ReportRequest, render_report
from dais_verif.spec.machine import Machine, load_machine

Rectangle = tuple[float, float, float, float]

MACHINES = [*(load_machine(path) for path in sorted(FSM.glob("f*/fsm.json.gz")))]
MACHINES += [random_machine(random.Random(seed)) for seed in range(25)]


def texts(drawing: Drawing) -> list[Rectangle]:
    """Return the areas of all texts, of boxes and of lines, at no more than 8 (titles) or 6.7 pixels per character."""
    found = []
    for box in drawing.boxes:
        for text, y, title in box.texts:
            width = len(text) * (8.0 if title else 6.7)
            middle = box.x + box.width / 2
            found.append((middle - width / 2, y - 9, middle + width / 2, y + 2))
    for line in drawing.lines:
        x, y = line.label
        if line.edge.label:
            found.append((x - len(line.edge.label) * 6.7, y - 9, x, y + 2))
    return found


def overlap(a: Rectangle, b: Rectangle) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def stretches(drawing: Drawing) -> list[tuple[int, Rectangle]]:
    """Return the straight segments of all lines, with the number of their line, as rectangles without an area."""
    return [
        (number, (min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1])))
        for number, line in enumerate(drawing.lines)
        for a, b in pairwise(line.points)
    ]


def along(a: Rectangle, b: Rectangle) -> bool:
    """Return whether two segments less than two pixels apart run along each other for more than one pixel."""
    for way, across in ((0, 1), (1, 0)):
        if a[across] == a[across + 2] and b[across] == b[across + 2] and abs(a[across] - b[across]) < 2:
            return min(a[way + 2], b[way + 2]) - max(a[way], b[way]) > 1
    return False


@pytest.mark.parametrize("number", range(len(MACHINES)))
def test_nothing_lies_over_anything(number: int) -> None:
    drawing = draw(graph_of(MACHINES[number]))
    words, runs = texts(drawing), stretches(drawing)
    assert not any(overlap(a, b) for a, b in combinations(words, 2))
    boxes = [(box.x, box.y, box.x + box.width, box.y + box.height) for box in drawing.boxes]
    assert not any(overlap(a, b) for a, b in combinations(boxes, 2))
    inside = [(x0 + 1, y0 + 1, x1 - 1, y1 - 1) for x0, y0, x1, y1 in boxes]
    wide = [(x0 - 0.1, y0 - 0.1, x1 + 0.1, y1 + 0.1) for _, (x0, y0, x1, y1) in runs]
    assert not any(overlap(a, b) for a in wide for b in (*words, *inside)), "a line over a text or through a box"
    assert not any(along(a, b) for (n, a), (m, b) in combinations(runs, 2) if n != m), "two lines that seem one"
    everything = [*words, *boxes, *(stretch for _, stretch in runs)]
    assert min(min(x0, y0) for x0, y0, _, _ in everything) >= 0
    assert max(x1 for _, _, x1, _ in everything) <= drawing.width
    assert max(y1 for _, _, _, y1 in everything) <= drawing.height


def test_the_checks_can_fail() -> None:
    drawing = draw(graph_of(MACHINES[3]))
    box = drawing.boxes[0]
    assert overlap(*(texts(replace(drawing, boxes=(box, box), lines=()))[at] for at in (0, len(box.texts))))
    (_, first), *_ = stretches(drawing)
    assert along(first, first)


def test_every_connection_is_drawn_and_feedback_is_clocked() -> None:
    for of in MACHINES[:6]:
        graph = graph_of(of)
        told = "\n".join(edge.told for edge in graph.edges)
        assert all(text in told for text, _ in view_of(of).connections)
        ends = {box.node.key: box for box in draw(graph).boxes}
        back = [edge for edge in graph.edges if ends[edge.target].x <= ends[edge.source].x]
        assert all(edge.clocked for edge in back)


def test_kinds_and_words() -> None:
    nodes = {node.title: node for node in graph_of(load_machine(FSM / "f04_fifo" / "fsm.json.gz")).nodes.values()}
    assert {title: node.kind for title, node in nodes.items() if title in ("mem", "ctl", "wptr", "din", "lvl")} == {
        "mem": "memory",
        "ctl": "block",
        "wptr": "register",
        "din": "input",
        "lvl": "output",
    }
    assert nodes["rst"].lines == ("u1.0", "resets wptr and 2 more")
    assert nodes["do_write"].lines == ("u1.0", "enables mem")
    labels = {edge.label for edge in graph_of(load_machine(FSM / "f04_fifo" / "fsm.json.gz")).edges}
    assert {"to [wptr] when do_write", "[rptr]", "[4:6]"} <= labels


def many(count: int) -> Machine:
    conns = []
    for n in range(count):
        register = signal(f"r{n}", reg=True, rst_to=[0])
        conns += [connect(signal(f"x{n}", exposed=True), register), connect(register, signal(f"y{n}", exposed=True))]
    return machine({}, conns)


def test_of_many_parts_all_of_a_kind_are_one_box() -> None:
    graph = graph_of(many(400))
    assert {node.title for node in graph.nodes.values()} == {"400 inputs", "400 registers", "400 outputs"}
    assert graph.grouped == ("input", "output", "register") and len(graph.edges) == 2
    assert len(graph_of(many(12)).nodes) == 36
    drawing = draw(graph)
    assert drawing.width < 1000 and drawing.height < 400


def test_show_prints_a_table_and_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "m.html"
    with pytest.raises(SystemExit) as ended:
        main(["show", str(FSM / "f05_dense_folded" / "fsm.json.gz"), "--html", str(page)])
    out, _ = capsys.readouterr()
    assert ended.value.code == 0
    assert "memories (2, 752 bits)" in out and "  dot.in[16:32] <- wrom[0:16 + 16*cnt]\n" in out
    assert "  y     s14.5[8]   = 0" in out and "valid 8, 9 period 8  output" in out
    text = page.read_text()
    assert text.count('<g class="block">') == 2 and text.count('<g class="memory">') == 2 and "<svg" in text
    with pytest.raises(SystemExit) as ended:
        main(["show", str(page.with_suffix(".bin")), "--html", str(page)])
    assert ended.value.code == 2


def test_names_are_text_on_the_page(tmp_path: Path) -> None:
    evil = '"></svg><script>alert(1)</script>'
    of = machine({}, [connect(signal("x", exposed=True), signal(evil, exposed=True))])
    write_machine_page(of, tmp_path / "m.html")
    text = (tmp_path / "m.html").read_text()
    assert "<script>alert" not in text and "&lt;script&gt;alert(1)" in text


def test_the_page_of_a_simulation_shows_the_machine(tmp_path: Path) -> None:
    path = tmp_path / "m.mach"
    dais_verif.convert(read_tree(counter(rst_to=[0])), path)
    record = dais_verif.simulate(path, simulators="icarus", vectors=20, output=tmp_path / "run")
    page = tmp_path / "page.html"
    write_report([record], load_machine(path), page)
    assert 'id="machine"' in page.read_text()
    render_report(ReportRequest(records=(tmp_path / "run",), output=page), progress=Silent())
    assert 'id="machine"' in page.read_text(), "found where the record says"
    other = dais_verif.load_machine(FSM / "f01_counter" / "fsm.json.gz")
    with raises(InputError):
        write_report([record], other, page)
    path.write_text(path.read_text().replace("= 0", "= 1"))
    told = Silent()
    render_report(ReportRequest(records=(tmp_path / "run",), output=page), progress=told)
    assert 'id="machine"' not in page.read_text()
    as_recorded(told.heard)


class Silent(dais_verif.Progress):
    """Progress that only collects warnings."""

    heard = ""

    def warning(self, text: str) -> None:
        self.heard += text


def test_a_path_goes_round_its_corners() -> None:
    line = Line(Edge("a", "b", "", False, ""), ((0.0, 0.0), (40.0, 0.0), (40.0, 90.0)), (0.0, 0.0))
    numbers = [[float(one) for one in part.split()] for part in re.split("[MLQ]", line.path)[1:]]
    start, near, (*corner, far_x, far_y), end = numbers
    assert (start, corner, end) == ([0, 0], [40, 0], [40, 90])
    assert near[1] == 0 and 0 < near[0] < 40 and far_x == 40 and 0 < far_y < 90
