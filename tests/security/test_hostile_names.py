"""Names and messages never act as commands in a terminal, in CI or in a viewer."""

from __future__ import annotations

import io
import os
import re
import subprocess
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from junitparser import JUnitXml
from rich.table import Table
from rich.text import Text
from support.pages import mismatch_run, passed_run
from support.tier import examples

from dais_verif.base.text import command_line, printable, printable_lines
from dais_verif.base.verdict import Verdict
from dais_verif.doors.cli.main import _run
from dais_verif.record.simulation import SimulationRecord
from dais_verif.report.html import Source, write_report
from dais_verif.report.safe_console import SafeConsole
from dais_verif.report.test_cases import commands_of, junit_of, summary_of
from dais_verif.simulation.diagnosis.views import _WRITTEN_OTHERWISE, _words

#: Clears the screen, begins a line with a command, sets the window title, reverses the following text.
EVIL = "a\n::error::gone\r\x1b[2J\x1b]0;pwned\x07\x9b31m\u2028::add-mask::x\u202e##[add-mask]y\x00\udcff\x7f"
#: Classes of characters that change the direction of writing.
BIDI = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
ANY = st.text(st.characters(categories=None) | st.sampled_from("\n\r\x1b\x9b:#["), max_size=30)


def dangerous(text: str) -> set[str]:
    """Return the characters of ``text``, except line breaks and tabs, that control terminals or mislead readers."""
    bad = {
        x for x in text if unicodedata.category(x) in ("Cc", "Cs", "Zl", "Zp") or unicodedata.bidirectional(x) in BIDI
    }
    return bad - {"\n", "\t"}


def commands(text: str) -> list[str]:
    """Return the lines that a CI system would take for commands."""
    return [line for line in text.splitlines() if line.lstrip().startswith("::") or re.search(r"##(vso)?\[", line)]


@settings(max_examples=examples(300), deadline=None)
@given(ANY)
def test_what_is_printable_is_one_line_and_harmless(text: str) -> None:
    shown = printable(text)
    assert not dangerous(shown) - set("\u200b\u200c\u200d\u2060\ufeff") or all(
        ord(x) > 0x2069 for x in dangerous(shown)
    )
    assert len(shown.splitlines()) <= 1
    assert not re.search(r"##(vso)?\[", shown)


def test_plain_text_stays_as_it_is() -> None:
    for text in ("", "dense 12.bin", "Größe/モデル.bin", "a#b", "::x", "~!@$%^&*()[]{}|\\'\""):
        assert printable(text) == text


@pytest.mark.parametrize("word", [EVIL.replace("\x00", ""), "it's", "a\\n", "#\n", "-\n", "$(id)\n", "\u2028"])
def test_a_command_to_copy_gives_the_same_words_in_bash(word: str) -> None:
    line = command_line(["printf", "%s", word])
    assert line == printable(line)
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=True)
    assert done.stdout == os.fsencode(word)


def printed(*objects: object) -> str:
    out = SafeConsole()
    out.file = io.StringIO()
    out.print(*objects)
    return out.file.getvalue()


def test_the_console_prints_text_and_obeys_none_of_it() -> None:
    table = Table(box=None)
    table.add_column("name")
    table.add_row(EVIL)
    for thing in (f"program    {EVIL}", Text(f"FAIL  {EVIL}"), Text.assemble(Text("x", style="red"), EVIL), table):
        shown = printed(thing)
        assert not dangerous(shown) and not commands(shown), shown
        assert "\\n::error::gone" in shown and "\\x1b[2J" in shown


def test_no_markup_and_no_emoji_in_names() -> None:
    assert printed("[bold]x[/bold].bin :bug:.bin") == "[bold]x[/bold].bin :bug:.bin\n"


def test_line_breaks_of_ours_stay() -> None:
    assert printed("\nfirst mismatch") == "\nfirst mismatch\n"


def hostile(record: SimulationRecord) -> SimulationRecord:
    program = replace(record.program, path=EVIL)
    return replace(record, verdict=Verdict.RTL_MISMATCH, program=program, message=EVIL, reproduce=EVIL, warnings=[EVIL])


def test_annotations_hold_one_command_a_line() -> None:
    text = commands_of(hostile(mismatch_run()))
    (line,) = text.splitlines()
    assert line.startswith("::error ") and not dangerous(text)
    assert "%0A::error" not in text.partition("::")[2].split("reproduce")[0]


def test_summaries_and_junit_are_harmless() -> None:
    record = hostile(mismatch_run())
    summary = summary_of(record)
    assert not dangerous(summary) and not commands(summary)
    document = junit_of(record)
    assert not dangerous(document.decode())
    (suite,) = list(JUnitXml.fromstring(document))
    assert "\\x1b[2J" in next(iter(suite)).result[0].message


def test_a_page_shows_them_escaped(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    write_report([Source(hostile(passed_run()), tmp_path / "result.json")], None, page)
    text = page.read_text(encoding="utf-8")
    assert "\\x1b[2J" in text and not dangerous(text)


@pytest.mark.parametrize("name", ["a;b", "a#b", "a b", "a\nb", "a\x1bb", "a{b", "a\u2028b"])
def test_viewers_are_given_no_signal_whose_name_ends_a_command(name: str) -> None:
    assert _WRITTEN_OTHERWISE.search(name)


@pytest.mark.parametrize("name", ["op_3", "model_inp", "sum.u_core$1", "größe", "x[3:0]"])
def test_viewers_are_given_the_others(name: str) -> None:
    assert not _WRITTEN_OTHERWISE.search(name)


def test_words_in_wave_files_are_one_line() -> None:
    blame = replace(mismatch_run().first_mismatch.blame, text=EVIL)  # type: ignore[union-attr, type-var]
    words = _words(blame)
    assert not dangerous(words) and not set("#;{}\n") & set(words)


@pytest.mark.parametrize("verb", ["check", "show", "emit"])
def test_the_command_line_speaks_of_such_a_file(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    name = EVIL.replace("\x00", "").replace("/", "")
    good = (Path(__file__).parents[2] / "examples" / "quantised_mac.bin").read_bytes()
    Path(name).write_bytes(good)
    Path(f"bad{name}").write_bytes(good[:-4])
    for path, code in ((name, 0), (f"bad{name}", 2), (f"none{name}", 2)):
        assert _run([verb, path]) == code
        out, err = capfd.readouterr()
        assert not dangerous(out + err) and not commands(out + err), out + err


def test_text_that_kernels_print_keeps_its_lines_and_commands_nothing() -> None:
    text = "::error file=x::pwned\n\x1b[2J\x1b]0;T\x07PASS\n \t::notice::\ta::b ##vso[x]\n"
    assert printable_lines(text) == (
        "\\::error file=x::pwned\n\\x1b[2J\\x1b]0;T\\x07PASS\n \t\\::notice::\ta::b ##vso\\[x]\n"
    )
    assert printable_lines("is 0.75\n\tand\n") == "is 0.75\n\tand\n"
