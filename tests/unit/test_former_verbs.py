"""Verbs that became forms of others: the former words do the same, say the new ones, and are not in the help."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from dais_verif.doors.cli.main import _FORMER, _run, cli
from dais_verif.record.conversion import ConversionRecord

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "sort_two.bin")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.dais").write_text("layout headerless\ninput x\na = u4.0 input x\noutput y = a\n")


@pytest.mark.parametrize(
    ("former", "new"),
    [
        (["asm", "p.dais", "-o", "p.bin"], ["convert", "p.dais", "p.bin"]),
        (["asm", "p.dais", "-o", "p.bin", "--layout=v1"], ["convert", "p.dais", "-o", "p.bin", "--to", "v1"]),
        (["profile", EXAMPLE, "--top-k", "0"], ["run", "--profile", EXAMPLE, "--top-k", "0"]),
        (["verify-cert", "nowhere", "--rtl", "a.v", "b.v"], ["signoff", "nowhere", "--rtl", "a.v", "b.v", "--verify"]),
        (["verify-cert", "nowhere", "b.v"], ["signoff", "--verify", "nowhere", "b.v"]),
    ],
)
def test_a_former_verb_does_the_same(former: list[str], new: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    ends = []
    for words in (new, former):
        code = _run(list(words))
        written = Path("p.bin").read_bytes() if Path("p.bin").exists() else b""
        ends.append((code, *capfd.readouterr(), written))
    (code, out, err, written), (former_code, former_out, former_err, former_written) = ends
    notice, _, rest = former_err.partition("\n")
    assert (former_code, former_out, rest, former_written) == (code, out, err, written)
    assert former[0] in notice and " ".join(word for word in new[:1]) in notice


def test_the_record_of_a_former_verb_has_the_new_words(capfd: pytest.CaptureFixture[str]) -> None:
    assert _run(["asm", "p.dais", "-o", "p.bin", "--json"]) == 0
    record = ConversionRecord.from_json(capfd.readouterr().out)
    assert record.target == "headerless" and record.reproduce.endswith("convert p.dais -o p.bin --json")


def test_the_help_does_not_list_them() -> None:
    assert not _FORMER.keys() & set(cli.list_commands(None))  # type: ignore[arg-type]
    text = CliRunner().invoke(cli, ["--help"]).output
    assert not any(f"dais-verif {name} " in text for name in _FORMER)


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["run", EXAMPLE, "--pullback"], "--profile"),
        (["run", "--profile", EXAMPLE, "--raw"], "--raw"),
        (["signoff", EXAMPLE, "--rerun"], "--verify"),
        (["signoff", "--verify", EXAMPLE, "--sign", "key"], "--sign"),
        (["signoff", "--verify", EXAMPLE, "--nonsense"], "--nonsense"),
        (["signoff", EXAMPLE, "--verfy"], "--verify"),
    ],
)
def test_an_option_of_the_other_form_is_refused(
    words: list[str], option: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert _run(words) == 2
    assert option in capfd.readouterr().err
