"""Quick commands that pages name without their output are accepted, and find the files that they need."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from support.transcripts import Step, run

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
#: Verbs that take about a second for a small program.
QUICK = {"check", "show", "convert", "run", "explain", "emit", "coverage", "sensitivity", "diff"}
OPTIONS_OF_OUTPUT = ("-o", "--output", "--html")


def commands_of(text: str) -> Iterator[str]:
    """Yield each quick command of ``text``, on a line of its own or within prose, without its comment."""
    text = re.sub(r"^```console.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    lines = re.findall(r"^    (?:\$ )?(dais-verif [^\n]*)", text, re.MULTILINE)
    for line in (*lines, *re.findall(r"`(dais-verif [^`\n]*)`", text)):
        command = re.split(r" +#| {3,}", line)[0].rstrip()
        if command.split()[1:2] and command.split()[1] in QUICK and not re.search(r"[|<>;&\\{…]|\.\.\.", command):
            yield command


def needed(command: str) -> list[str]:
    """Return the files that ``command`` reads, as far as they can be told from the arguments."""
    words = shlex.split(command)[2:]
    written = {words[n + 1] for n, word in enumerate(words[:-1]) if word in OPTIONS_OF_OUTPUT}
    if shlex.split(command)[1] == "convert":
        written.add([word for word in words if not word.startswith("-")][-1] if len(words) > 1 else "")
    return [word for word in words if re.search(r"[./]", word) and not word.startswith("-") and word not in written]


def lay_out(folder: Path) -> None:
    """Write a small program and a small machine under the file names that pages use."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    for name in ("prog.bin", "a.bin", "b.bin"):
        shutil.copy(ROOT / "examples/quantised_mac.bin", folder / name)
    shutil.copy(ROOT / "examples/serial_dot.mach", folder / "m.mach")
    np.save(folder / "x.npy", np.zeros((4, 3)))
    for made in ("convert prog.bin prog.json", "show prog.bin -o prog.dais", "convert m.mach m.fsm.json.gz"):
        printed = run(Step(f"dais-verif {made}", ()), folder)
        assert not any(line.startswith("exit ") for line in printed), printed


def found() -> dict[str, str]:
    """Return each command and the page that names it first."""
    commands: dict[str, str] = {}
    for page in PAGES:
        for command in commands_of(page.read_text(encoding="utf-8")):
            commands.setdefault(command, page.name)
    return commands


@pytest.mark.slow
def test_quick_commands_are_accepted(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    lay_out(tmp_path / "files")
    ran, wrong = 0, []
    for number, (command, page) in enumerate(found().items()):
        files = needed(command)
        if (
            not files
            or shlex.split(command)[2] != files[0]
            or not all((tmp_path / "files" / name).exists() for name in files)
        ):
            continue  # it begins with an option, or reads files that other commands of the page make
        folder = tmp_path / str(number)
        shutil.copytree(tmp_path / "files", folder)
        printed = run(Step(command, ()), folder)
        ran += 1
        if printed and re.fullmatch(r"exit (2|3|70)", printed[-1]):
            wrong.append((page, command, printed[-3:]))
        shutil.rmtree(folder)
    assert not wrong and ran > 20, (ran, wrong)


def test_commands_are_found_in_lines_and_prose() -> None:
    text = "    dais-verif check a.bin   # yes\n`dais-verif run p.bin --inputs x.npy -o y.npy`, `dais-verif prove`\n"
    commands = list(commands_of(text))
    assert commands == ["dais-verif check a.bin", "dais-verif run p.bin --inputs x.npy -o y.npy"]
    assert [needed(command) for command in commands] == [["a.bin"], ["p.bin", "x.npy"]]
