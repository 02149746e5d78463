"""Terminal sessions that pages show: parse them, run them again, and compare line by line."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

__all__ = ["Step", "matches", "run", "steps_of"]

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: Texts that differ from run to run: times, and the number of claims from the proof cache.
_TIME, _KNOWN = re.compile(r"\b\d+(?:\.\d+)? (?:s|ms)\b"), re.compile(r", \d+ claims? proved by earlier runs")


class Step(NamedTuple):
    """A command and the lines that it prints; ``...`` stands for any lines, or for any text within a line."""

    command: str
    printed: tuple[str, ...]


def steps_of(text: str) -> Iterator[Step]:
    """Yield each command of a page's ``console`` blocks, in order."""
    for block in _BLOCK.findall(text):
        first, *rest = re.split(r"^\$ ", block, flags=re.MULTILINE)
        assert not first.strip(), f"a block begins with a command: {first}"
        for part in rest:
            command, *printed = part.rstrip("\n").split("\n")
            while command.endswith("\\"):
                command = f"{command}\n{printed.pop(0)}"
            document = re.search(r"<<'(\w+)'", command)
            while document is not None and not command.endswith(f"\n{document[1]}"):
                command = f"{command}\n{printed.pop(0)}"
            yield Step(command, tuple(printed))


def matches(shown: Sequence[str], printed: Sequence[str]) -> bool:
    """Return whether ``printed`` is equal to ``shown``, except for times, counts of cached claims and spaces."""
    if not shown:
        return not printed
    if shown[0].strip() == "...":
        return any(matches(shown[1:], printed[n:]) for n in range(len(printed) + 1))
    pattern = ".*".join(map(re.escape, _plain(shown[0]).split("...")))
    same = bool(printed) and re.fullmatch(pattern, _plain(printed[0])) is not None
    return same and matches(shown[1:], printed[1:])


def _plain(line: str) -> str:
    return re.sub(r"\s+", " ", _TIME.sub("N s", _KNOWN.sub("", line))).strip()


def run(step: Step, folder: Path) -> list[str]:
    """Return the lines that the command of ``step`` prints in ``folder``, then ``exit N`` if its exit code is not 0."""
    tools = str(Path(sys.executable).parent)
    environment = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "120", "NO_COLOR": "1"}
    done = subprocess.run(
        ["bash", "-c", step.command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=600,
    )
    return [*done.stdout.splitlines(), *([f"exit {done.returncode}"] if done.returncode else [])]
