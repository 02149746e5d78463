"""Every command line and every line of Python on every page is understood, with allowed values.

``tests/sim/test_shown_answers.py`` and ``tests/sim/test_tutorials.py`` run the commands that have answers, and
compare the answers.
"""

from __future__ import annotations

import ast
import importlib
import re
import shlex
from pathlib import Path

import pytest
from support.shown import PAGES, ROOT, Shown, commands_of, fault_of, python_of

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")

#: Commands with a placeholder for a value: page and command, and why it is there.
PLACEHOLDERS = {
    ("any-dut.md", "sim prog.bin --stages N"): "the option is explained, for any N",
    ("emit.md", "emit --stages N"): "the option is explained, for any N",
    ("emit.md", "emit prog.bin --wrap axis ... -o model_axis"): "the options above it are left out",
}

#: Words of messages that look like a call of make.
SAID = {"its bitstream again"}


def all_commands() -> list[tuple[Path, Shown]]:
    return [(page, shown) for page in PAGES for shown in commands_of(page.read_text(encoding="utf-8"))]


def test_every_command_is_understood() -> None:
    commands = all_commands()
    held = {(page.name, shown): fault_of(shown) for page, shown in commands}
    faults = [
        f"{page}: dais-verif {shown.command}: {fault}"
        for (page, shown), fault in held.items()
        if fault and (page, shown.command) not in PLACEHOLDERS
    ]
    assert not faults, "\n".join(faults)
    assert len(commands) > 250 and len({page for page, _ in commands}) > 25
    wrong = {(page, shown.command) for (page, shown), fault in held.items() if fault}
    assert wrong >= PLACEHOLDERS.keys(), "each is still on its page, and would be a fault"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("simulate prog.bin", "no verb simulate"),
        ("kernel draw conv", "no verb kernel draw"),
        ("sim prog.bin --vector-count 3", "No such option"),
        ("sim prog.bin --sim modelsim", "modelsim"),
        ("sim prog.bin --vectors many", "many"),
        ("sim prog.bin --vectors", "requires an argument"),
        ("check", "PROGRAM"),
        ("convert a.bin b.bin extra.bin", "extra.bin"),
        ("sim 'prog.bin", "closing quotation"),
    ],
)
def test_what_is_wrong_is_told(command: str, said: str) -> None:
    assert said in (fault_of(Shown(command, mentioned=False)) or "")


def test_a_sentence_may_leave_out_files_but_no_value() -> None:
    assert fault_of(Shown("sim --vectors 3", mentioned=True)) is None
    assert "PROGRAM" in (fault_of(Shown("sim --vectors 3", mentioned=False)) or "")
    assert "many" in (fault_of(Shown("sim --vectors many", mentioned=True)) or "")


def test_commands_are_found_wherever_they_stand() -> None:
    text = (
        "Call `dais-verif check` or\n\n    $ .venv/bin/dais-verif emit a.bin | sed s/a/b/ > b.v\n"
        "    dais-verif sim a.bin --vectors 3     # a comment\n\n"
        "```console\n$ dais-verif prove a.bin \\\n    --top m\n```\n"
    )
    mentioned, *typed = commands_of(text)
    assert mentioned == Shown("check", mentioned=True) and not any(shown.mentioned for shown in typed)
    assert [shown.command for shown in typed] == ["emit a.bin", "sim a.bin --vectors 3", "prove a.bin --top m"]


def test_every_target_of_make_is_there() -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", MAKEFILE, re.M))
    known = set((re.search(r"^KNOWN := ((?:.*\\\n)*.*)", MAKEFILE, re.M) or [""])[0].replace("\\", "").split()) - {
        "KNOWN"
    }
    lines = [
        (page, line)
        for page in PAGES
        for line in re.findall(r"(?:`|^    (?:\$ )?)make ([a-z][^`\n]*)", page.read_text(encoding="utf-8"), re.M)
    ]
    assert len(lines) > 30
    for page, line in lines:
        if line in SAID:
            continue
        words = shlex.split(line, comments=True)
        assert words[0] in targets, f"{page.name}: make {line}"
        given = {name for word in words[1:] if (name := word.partition("=")[0]) != word}
        assert given <= known, f"{page.name}: make {line}: no variable {sorted(given - known)}"


def test_python_is_python_and_names_what_is_there() -> None:
    blocks = [(page, block) for page in PAGES for block in python_of(page.read_text(encoding="utf-8"))]
    assert len(blocks) >= 12
    for page, block in blocks:
        tree = ast.parse(block, page.name)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "dais_verif":
                module = importlib.import_module(node.module or "")
                missing = [name.name for name in node.names if not hasattr(module, name.name)]
                assert not missing, f"{page.name}: from {node.module} import {missing}"
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "dais_verif":
                assert hasattr(importlib.import_module("dais_verif"), node.attr), f"{page.name}: dais_verif.{node.attr}"
