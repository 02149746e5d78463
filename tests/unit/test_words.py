"""A verb prints the same final verdict that its page has in the heading, for every kind of record and every verdict."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from support.pages import PROGRAM, board_run, passed_run, regression, signoff
from support.said import as_recorded

from dais_verif.base.verdict import Verdict
from dais_verif.doors.cli import main
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.record.campaigns import RegressionRecord
from dais_verif.record.simulation import OutputEvidence
from dais_verif.report.campaigns_text import print_regression
from dais_verif.report.console import print_record
from dais_verif.report.html import write_report
from dais_verif.report.html.sources import Document
from dais_verif.report.signoff_text import print_sign_off
from dais_verif.spec.program import Program, write_binary
from dais_verif.verbs import cover, prove

SMALL = Program.build([(-1, 0, -1, 0, (0, 2, 0))], [(0, 0, 0)], inp_shift=[0])
#: Verdicts, the longest first, as one may be part of the name of another.
WORDS = sorted({"SIGNED OFF", "NOT SIGNED OFF", *(verdict.value for verdict in Verdict)}, key=len, reverse=True)


def last_word(text: str) -> str:
    """Return the verdict that a verb prints, from the last line that begins with one."""
    found = [word for line in text.splitlines() for word in WORDS if re.match(rf"{word}(  |: |$)", line)][-1:]
    assert found, text
    return found[0]


def heading(page: Path) -> str:
    (word,) = re.findall(r"<h1>.*</span> ([\w ]+)</h1>", page.read_text("utf-8"))
    assert f"<title>{word} ·" in page.read_text("utf-8")
    return str(word)


def printed(say: Callable[[Console], None]) -> str:
    out = io.StringIO()
    say(Console(file=out, width=200))
    return out.getvalue()


def passed_signoff() -> Any:
    return replace(signoff(), stages=[stage for stage in signoff().stages if stage.passed])


def passed_regression() -> Any:
    jobs = [job for job in regression().jobs if job.verdict is Verdict.PASS]
    return replace(regression(), jobs=jobs, planned=len(jobs))


RENDERED: dict[str, tuple[Any, Callable[[Any, Console], None]]] = {
    "sim": (passed_run(), print_record),
    "hil": (board_run(), print_record),
    "signoff": (passed_signoff(), lambda record, out: print_sign_off(record, Path(), out)),
    "regress": (passed_regression(), print_regression),
}


@pytest.mark.parametrize("verdict", Verdict)
@pytest.mark.parametrize("kind", RENDERED)
def test_page_and_console_say_the_same(kind: str, verdict: Verdict, tmp_path: Path) -> None:
    document, say = RENDERED[kind]
    record: Document = replace(document, verdict=verdict, message="why it is so")
    page = tmp_path / "page.html"
    standing = write_report([record], None if isinstance(record, RegressionRecord) else PROGRAM, page)
    assert heading(page) == standing.word == last_word(printed(lambda out: say(record, out)))


@pytest.mark.parametrize("verdict", Verdict)
@pytest.mark.parametrize("kind", ["coverage", "prove"])
def test_page_and_verb_say_the_same(
    kind: str, verdict: Verdict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Page and verb show the same verdict, also for these verbs, which print text that is not in their records."""
    monkeypatch.chdir(tmp_path)
    Path("prog.bin").write_bytes(write_binary(SMALL, "v1"))
    Path("model.v").write_text(emit_verilog(SMALL))
    if kind == "coverage":
        monkeypatch.setattr(cover, "_judge", lambda *_: (verdict, "why it is so"))
        words = ["coverage", "prog.bin", "--vectors", "2", "--no-directed", "--timeout", "0"]
    else:
        proved = prove.prove_design

        def judged(*arguments: Any) -> Any:
            proof, found = proved(*arguments)
            return replace(proof, verdict=verdict, message="why it is so"), found

        monkeypatch.setattr(prove, "prove_design", judged)
        words = ["prove", "prog.bin", "--no-cache", "--jobs", "1"]
    assert main._run([*words, "--html", "page.html", "-o", "out"]) == verdict.exit_code
    assert heading(Path("page.html")) == last_word(capsys.readouterr().out)
    # As ``report`` prints it.
    assert main._run(["report", "out", "-o", "again.html", "--exit-code"]) == verdict.exit_code
    assert heading(Path("again.html")) == last_word(capsys.readouterr().out) == heading(Path("page.html"))


@pytest.mark.parametrize(
    "words",
    [
        ["check", "prog.bin"],
        ["diff", "prog.bin", "prog.bin"],
        ["run", "prog.bin"],
        ["emit", "prog.bin"],
        ["sensitivity", "prog.bin"],
    ],
    ids=lambda words: words[0],
)
def test_records_of_verbs_without_a_page_are_refused_in_one_line(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("prog.bin").write_bytes(write_binary(SMALL, "v1"))
    Path("x.csv").write_text("1\n")
    more = {"run": ["--inputs", "x.csv"], "emit": ["-o", "model.v"]}.get(words[0], [])
    assert main._run([*words, *more, "--json"]) == 0
    Path("record.json").write_text(capsys.readouterr().out)
    assert main._run(["report", "record.json"]) == 2
    err = capsys.readouterr().err
    as_recorded(err)
    assert err.count("\n") == 1
    assert not Path("report.html").exists()


def test_failures_come_first_with_the_op(tmp_path: Path) -> None:
    """Page and console show failures above the tables and in their first rows, whatever the order of the plan."""
    blame = "vector 17, output 0, in both: op 5 (add) is the first op whose value diverges"
    made = regression(programs=300)
    record = replace(made, jobs=[*made.jobs[:-1], replace(made.jobs[-1], blame=blame)])
    failed = record.jobs[-1]
    page = tmp_path / "page.html"
    write_report([record], None, page)
    text = page.read_text("utf-8")
    main_part = text.partition('<main id="main"')[2]
    places = [main_part.index(f'id="{name}"') for name in ("failed", "summary", "jobs")]
    assert places == sorted(places)
    first = main_part[places[0] : places[1]]
    assert failed.job.id in first and blame in first and failed.reproduce.split()[0] in first
    rows = main_part[places[2] :].partition("<tbody>")[2].split("<tr ")
    assert failed.job.program in rows[1] and "RTL_MISMATCH" in rows[1] and blame in rows[1] and " hidden" not in rows[1]
    matrix = main_part[places[1] : places[2]].partition("<tbody>")[2]
    assert matrix.index(failed.job.program) < matrix.index("p00.bin")
    shown = printed(lambda out: print_regression(record, out))
    as_recorded(shown)
    assert f"  {blame}\n" in shown
    lines = [line.split() for line in shown.splitlines()]
    head = next(at for at, line in enumerate(lines) if line[:2] == ["variant", "simulator"])
    assert lines[head][2:5] == ["jobs", "passed", "failed"]
    assert lines[head + 1][:3] == ["stages", "3", "both"] and lines[head + 1][5] == "1"


def test_a_sign_off_says_of_which_outputs_no_stage_speaks() -> None:
    """Outputs that no stage covers are counted, but not called unknown, as they may be known to be wrong."""
    record = replace(signoff(), outputs=[OutputEvidence(0, "none", 0)])
    text = printed(lambda out: print_sign_off(record, Path(), out))
    as_recorded(text)
    assert "nothing is known" not in text
