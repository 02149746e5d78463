"""Every error and every verdict leads to a section of docs/troubleshooting.md, and every section is reached."""

from __future__ import annotations

import ast
import builtins
import re
from collections import defaultdict
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import dais_verif
from dais_verif import errors
from dais_verif.cli import main
from dais_verif.troubleshooting import (
    CLASSES,
    MODULES,
    PAGE,
    section_of_error,
    section_of_module,
    section_of_verdict,
)
from dais_verif.verdict import Verdict

PACKAGE = Path(dais_verif.__file__).parent
PROGRAM = str(PACKAGE.parent / "examples" / "quantised_mac.bin")
TEXT = (PACKAGE.parent / PAGE).read_text(encoding="utf-8")

#: Sections for errors of Python's own classes.
OTHERS = {"memory"}
#: Modules whose errors are shown or tested in other ways: options of click, and the plugin.
LEFT_OUT = {"cli.common", "cli.options.design", "cli.synth", "cli.verify_cert", "pytest_plugin", ""}


@cache
def sections() -> dict[str, str]:
    """Return the text of each section by the anchor that GitHub and the site make from its heading."""
    found = re.split(r"^### (.+)$", re.sub(r"^## .*$", "", TEXT, flags=re.MULTILINE), flags=re.MULTILINE)
    return {name.lower().replace(" ", "-"): text for name, text in zip(found[1::2], found[2::2], strict=True)}


@cache
def places() -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """Return each module that raises our errors, the name of what it raises, and the literal texts of the module."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
        module = "" if module == "__init__" else module
        texts = tuple(n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str))
        for name in {_raised(node.exc) for node in ast.walk(tree) if isinstance(node, ast.Raise)}:
            if name and not hasattr(builtins, name):
                found.append((module, name, texts))
    return tuple(found)


def _raised(what: ast.expr | None) -> str:
    if not isinstance(what, ast.Call):
        return ""
    function = what.func
    if isinstance(function, ast.Attribute) and function.attr in ("of", "of_problems"):
        function = function.value
    if isinstance(function, ast.Name):
        return function.id
    return function.attr if isinstance(function, ast.Attribute) else ""


def section_of(module: str, name: str) -> str | None:
    kind = getattr(errors, name, None)
    bases = [base.__name__ for base in kind.__mro__] if isinstance(kind, type) else [name]
    return next((CLASSES[base] for base in bases if base in CLASSES), None) or section_of_module(module)


def test_every_error_has_a_section() -> None:
    lost = {module for module, name, _ in places() if section_of(module, name) is None}
    assert lost <= LEFT_OUT, "add the module to dais_verif/troubleshooting.py"
    used = {section_of_verdict(verdict).partition("#")[2] for verdict in Verdict} - {""}
    assert {*CLASSES.values(), *MODULES.values(), *OTHERS, *used} == sections().keys()


def test_every_row_of_the_table_is_used() -> None:
    modules = {module for module, _, _ in places()}
    for row in MODULES:
        assert any(module == row or module.startswith(f"{row}.") for module in modules), row
    raised = {name for _, name, _ in places()} | {"LinkClosed"}  # raised as the result of a call
    assert CLASSES.keys() <= raised


def test_a_section_quotes_messages_of_its_own() -> None:
    texts: dict[str, list[str]] = defaultdict(list)
    for module, name, literal in places():
        texts[section_of(module, name) or ""] += literal
    lost, quoting = [], 0
    for anchor, text in sections().items():
        seen = re.match(r"\s*Seen as (.*?)\.\s", text, re.DOTALL)
        for quoted in re.findall(r"`([^`]+)`", seen[1]) if seen else ():
            plain = " ".join(quoted.split())
            quoting += 1
            if not any(plain in " ".join(one.split()) for one in texts[anchor]):
                lost.append((anchor, quoted))
    assert lost == [] and quoting > 60


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
