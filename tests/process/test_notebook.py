"""The notebook runs as it is, cell by cell in a fresh process, and the last value of each cell can be displayed."""

from __future__ import annotations

import json
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import dais_verif
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.record.simulation import SimulationRecord
from dais_verif.spec.program import Program

EXAMPLES = Path(__file__).parents[2] / "examples"
X, Y = (-1, 0, -1, 0, (0, 4, 0)), (-1, 1, -1, 0, (0, 4, 0))
SUM = Program.build([X, Y, (0, 0, 1, 0, (0, 5, 0))], [(2, 0, 0)], inp_shift=[0, 0])

#: Runs cells like a kernel: executes the statements, and prints the last expression's value, as HTML if possible.
_KERNEL = """\
import ast, json, sys
names = {}
for cell in json.load(open("tour.ipynb", encoding="utf-8"))["cells"]:
    if cell["cell_type"] == "code":
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, cell["id"], "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), cell["id"], "eval"), names)
            html = getattr(value, "_repr_html_", lambda: None)()
            print(json.dumps({"text": repr(value), "html": html}))
"""


def test_the_notebook_runs() -> None:
    command = [sys.executable, "-c", _KERNEL]
    done = subprocess.run(command, cwd=EXAMPLES, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    shown = [json.loads(line) for line in done.stdout.splitlines()]
    words = [one["text"].partition(":")[0] for one in shown if one["html"]]
    assert words == [
        "<CheckRecord PASS",
        "<SimulationRecord PASS",
        "<SimulationRecord RTL_MISMATCH",
        "<DiffRecord PASS",
        "<CoverageRecord PASS",
    ]


def test_it_is_kept_without_what_a_run_leaves() -> None:
    notebook = json.loads((EXAMPLES / "tour.ipynb").read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert code and all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


class Tags(HTMLParser):
    """A parser that collects the open tags, and all tags that occurred."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: object) -> None:
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture
def mismatch(tmp_path: Path) -> SimulationRecord:
    rtl = tmp_path / "<b>&model.v"
    rtl.write_text(emit_verilog(SUM, "model").replace("op_0 + op_1", "op_0 - op_1"))
    return dais_verif.simulate(SUM, rtl=rtl, simulators="icarus", vectors=20)


def test_a_mismatch_is_shown_with_its_op_and_no_markup_of_others(
    mismatch: SimulationRecord,
) -> None:
    html = mismatch._repr_html_()
    assert html is not None
    tags = Tags(html)
    assert tags.open == [] and "b" not in tags.seen and "script" not in tags.seen
    assert "RTL_MISMATCH" in html and "First mismatch: icarus" in html and "op 2" in html


def test_records_without_a_verdict_are_shown() -> None:
    html = dais_verif.emit(SUM)._repr_html_()
    assert (
        html is not None
        and Tags(html).open == []
        and "endmodule" not in html
        and "badge" not in html.split("</style>")[1]
    )
