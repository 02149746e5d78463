"""Errors and verdicts lead to sections that docs/troubleshooting.md has."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from support.sources import PACKAGE, files, module_name, tree

import dais_verif
from dais_verif import errors
from dais_verif.cli import main
from dais_verif.troubleshooting import (
    CLASSES,
    MODULES,
    PAGE,
    section_of_error,
    section_of_verdict,
)
from dais_verif.verdict import Verdict

PROGRAM = str(PACKAGE.parent / "examples" / "quantised_mac.bin")
TEXT = (PACKAGE.parent / PAGE).read_text(encoding="utf-8")


@cache
def sections() -> dict[str, str]:
    """Return the text of each section by the anchor that GitHub and the site make from its heading."""
    found = re.split(r"^### (.+)$", re.sub(r"^## .*$", "", TEXT, flags=re.MULTILINE), flags=re.MULTILINE)
    return {name.lower().replace(" ", "-"): text for name, text in zip(found[1::2], found[2::2], strict=True)}


def test_every_section_that_an_error_or_a_verdict_names_exists() -> None:
    verdicts = {section_of_verdict(verdict).partition("#")[2] for verdict in Verdict} - {""}
    assert {*CLASSES.values(), *MODULES.values(), "memory", *verdicts} <= sections().keys()


def test_every_class_and_module_that_has_a_section_exists() -> None:
    classes = {node.name for path in files() for node in tree(path).body if isinstance(node, ast.ClassDef)}
    assert CLASSES.keys() <= classes
    modules = {module_name(path, PACKAGE) for path in files()}
    assert MODULES.keys() <= modules


def test_the_page_has_each_anchor_once() -> None:
    names = re.findall(r"^#+ (.+)$", TEXT, re.MULTILINE)
    assert len({name.lower() for name in names}) == len(names)


def test_an_error_without_a_section_leads_to_that_of_its_verdict() -> None:
    assert section_of_error(errors.InputError("x")) == f"{PAGE}#invalid-input"
    assert section_of_error(errors.ToolError("x")) == f"{PAGE}#tool-failure"
    assert section_of_error(ValueError("x")) == f"{PAGE}#internal-error"


def test_a_record_that_is_not_a_pass_names_its_section() -> None:
    record = dais_verif.check(PROGRAM)
    assert record.passed and "help" not in record.to_dict()
    for verdict in set(Verdict) - {Verdict.PASS}:
        tree = replace(record, verdict=verdict).to_dict()
        assert tree["help"] == section_of_verdict(verdict) == f"{PAGE}#{verdict.value.lower().replace('_', '-')}"


@pytest.mark.parametrize(
    ("words", "anchor"),
    [
        (["check", "nowhere.bin"], "files"),
        (["check"], "options"),
        (["asm", "wrong.dais", "-o", "x.bin"], "text-form"),
        (["sim", PROGRAM, "--clock", "clk"], "rtl-files"),
        (["run", PROGRAM, "--inputs", "x.csv"], "vectors"),
    ],
    ids=["no-file", "no-argument", "text", "clock", "vectors"],
)
def test_the_line_ends_with_the_link(
    words: list[str],
    anchor: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrong.dais").write_text("?")
    (tmp_path / "x.csv").write_text("1,2\n")
    assert main._run(words) == Verdict.INVALID_INPUT.exit_code
    err = capsys.readouterr().err
    assert err.endswith(f"{PAGE}#{anchor}\n") and err.count("\n") == 1, err
