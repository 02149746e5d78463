"""Each error has a code, and docs/troubleshooting.md a section for each code and each verdict."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest
from support.sources import PACKAGE, files, tree

import dais_verif
from dais_verif.base import errors
from dais_verif.base.troubleshooting import MEMORY, PAGE, section_of_error, section_of_verdict
from dais_verif.base.verdict import Verdict
from dais_verif.doors.cli import main
from dais_verif.doors.troubleshooting_page import GROUPS, page

PROGRAM = str(PACKAGE.parent / "examples" / "quantised_mac.bin")
CODES = [section.code for sections in GROUPS.values() for section in sections]


def kinds(base: type[errors.DaisError] = errors.DaisError) -> list[type[errors.DaisError]]:
    """Return all classes of errors of the package that are loaded."""
    return [one for kind in base.__subclasses__() for one in (kind, *kinds(kind)) if kind.__module__[:5] == "dais_"]


def test_each_code_has_one_section_and_each_section_a_code() -> None:
    of_classes = {kind.code for kind in kinds() if kind is not errors.VerdictError}
    assert of_classes | {MEMORY} | {verdict.code for verdict in Verdict} - {"pass"} == set(CODES)
    assert len(set(CODES)) == len(CODES)


def test_the_page_is_the_generated_one() -> None:
    assert (PACKAGE.parent / PAGE).read_text(encoding="utf-8") == page(), "run: make troubleshooting"


def test_each_error_that_is_raised_has_a_code_of_its_own() -> None:
    general = {"DaisError", "InputError", "ToolError"}
    made = [
        (str(path), node.lineno)
        for path in files()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and ast.unparse(node.func).removesuffix(".of").rpartition(".")[2] in general
    ]
    assert made == []


def test_an_exception_of_another_package_leads_to_the_section_of_its_kind() -> None:
    assert section_of_error(ImportError("x")) == f"{PAGE}#missing-package"
    assert section_of_error(OSError("x")) == f"{PAGE}#files"
    assert section_of_error(MemoryError()) == f"{PAGE}#memory"
    assert section_of_error(ValueError("x")) == f"{PAGE}#internal-error"
    assert section_of_error(errors.VerdictError(Verdict.X_IN_OUTPUT, "x")) == f"{PAGE}#x-in-output"


def test_a_record_that_is_not_a_pass_names_its_section() -> None:
    record = dais_verif.check(PROGRAM)
    assert record.passed and "help" not in record.to_dict()
    for verdict in set(Verdict) - {Verdict.PASS}:
        tree = replace(record, verdict=verdict).to_dict()
        assert tree["help"] == section_of_verdict(verdict) == f"{PAGE}#{verdict.value.lower().replace('_', '-')}"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["check", "nowhere.bin"], "files"),
        (["check"], "options"),
        (["convert", "wrong.dais", "x.bin"], "text-form"),
        (["sim", PROGRAM, "--clock", "clk"], "rtl-files"),
        (["run", PROGRAM, "--inputs", "x.csv"], "vectors"),
    ],
    ids=["no-file", "no-argument", "text", "clock", "vectors"],
)
def test_the_line_ends_with_the_link(
    words: list[str],
    code: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrong.dais").write_text("?")
    (tmp_path / "x.csv").write_text("1,2\n")
    assert main._run(words) == Verdict.INVALID_INPUT.exit_code
    err = capsys.readouterr().err
    assert err.endswith(f"{PAGE}#{code}\n") and err.count("\n") == 1, err
