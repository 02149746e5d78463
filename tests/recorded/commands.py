"""Commands whose output is kept in ``answers/``: exit code, stdout and stderr, without times and versions.

``PYTHONPATH=tests python -m recorded.commands`` writes ``answers/`` again; ``test_recorded`` compares with it. All
commands run one after the other in one folder: later ones read the files that earlier ones wrote.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from support.places import CORPUS

from dais_verif.base.own_command import own_command
from dais_verif.base.toolchain import tools, verilator_runtime
from dais_verif.doors.cli import main
from dais_verif.hardware.emitter import emit_verilog
from dais_verif.spec.program import load

__all__ = ["ANSWERS", "COMMANDS", "answers", "laid_out"]

ANSWERS = Path(__file__).parent / "answers"

#: The name of the output, and the arguments of ``dais-verif``.
COMMANDS = {
    "check": "check sort.bin",
    "check-json": "check sort.bin --json",
    "check-damaged": "check damaged.bin",
    "check-missing": "check nowhere.bin",
    "show": "show small.bin",
    "show-vm": "show small.bin --vm",
    "convert-text": "convert small.dais again.bin",
    "convert-wrong-text": "convert wrong.dais never.bin",
    "former-verb": "asm small.dais -o again.bin",
    "convert": "convert sort.bin sort-alir.json",
    "convert-json": "convert sort-alir.json sort-again.bin --json",
    "run": "run small.bin --inputs x.csv",
    "run-too-few": "run sort.bin --inputs x.csv",
    "explain": "explain small.bin --row 3",
    "explain-json": "explain small.bin --row 3 --json",
    "emit": "emit small.bin",
    "emit-pipeline": "emit small.bin --stages 2 --valid --enable --reset",
    "emit-wrap": "emit small.bin --wrap axis -o wrapped",
    "sim": "sim small.bin --sim icarus --vectors 100",
    "sim-both-json": "sim sort.bin --vectors 100 --icarus-vectors all --exhaustive-bits 0 --json",
    "sim-mismatch": "sim small.bin --rtl bug.v --sim icarus --vectors 100 -o mismatch",
    "sim-mismatch-json": "sim small.bin --rtl bug.v --sim icarus --vectors 100 --json",
    "sim-pipeline": "sim small.bin --stages 2 --sim icarus --vectors 100",
    "sim-wrapped": "sim small.bin --wrapped wrapped --sim icarus --vectors 20",
    "sim-no-vectors": "sim small.bin --sim icarus --vectors 0",
    "sim-wrong-usage": "sim small.bin --data bug.v",
    "prove": "prove sort.bin",
    "prove-json": "prove small.bin --json",
    "prove-mismatch": "prove small.bin --rtl bug.v -o refuted",
    "prove-pipeline-json": "prove sort.bin --stages 3 --json",
    "prove-theirs": "prove small.bin --rtl small.v",
    "diff": "diff small.bin other.bin",
    "diff-json": "diff small.bin other.bin --json",
    "diff-prove": "diff small.bin small.json --prove",
    "coverage": "coverage sort.bin --vectors 100",
    "coverage-json": "coverage small.bin --vectors 20 --no-directed --json",
    "sensitivity": "sensitivity small.bin --vectors 100",
    "regress": "regress small.bin sort.bin --sim icarus --vectors 50 --jobs 1 -o regression",
    "report": "report mismatch refuted -o report.html",
    "report-regression": "report regression",
    "schema": "schema proof",
}

#: Patterns of text that differs between runs or machines, and their replacements.
_PLAIN = {
    r"\b\d+(\.\d+)?( ?)(ms|us|µs|s|min|GB|MB)\b": r"N\2\3",
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+:\d]*": "DATE",
    r"/\S*/dais-verif-\w{8}\b": "TEMPORARY",
    r"^worst +op \d+, N s\n": "",  # printed only if the run was long enough
    r"^(icarus|verilator) +\d+\.\d+\w* +": r"\1 VERSION ",
}
#: Fields of records that differ between runs or machines.
_VARYING = {"seconds", "tools", "profile", "times", "version", "cached", "jobs", "cpus", "started", "threads"}


def laid_out(folder: Path) -> None:
    """Write the programs, RTL and vectors that the commands name into ``folder``."""
    small, sort = CORPUS / "p01_addsub_tiny", CORPUS / "p04_sort8"
    shutil.copy(small / "prog.v1.bin", folder / "small.bin")
    shutil.copy(small / "da4ml.json", folder / "small.json")
    shutil.copy(sort / "prog.v1.bin", folder / "sort.bin")
    (folder / "damaged.bin").write_bytes((small / "prog.v1.bin").read_bytes()[:-7])
    text = emit_verilog(load(small / "prog.v1.bin"), "model")
    (folder / "small.v").write_text(text)
    assert text.count("op_2 - ") == 1, "choose another bug, the emitter has changed"
    (folder / "bug.v").write_text(text.replace("op_2 - ", "op_2 + "))
    _answer(["show", str(small / "prog.v1.bin"), "-o", str(folder / "small.dais")])
    listing = (folder / "small.dais").read_text()
    assert listing.count("%2 - ") == 1, "choose another line, the text form has changed"
    (folder / "wrong.dais").write_text(listing.replace("%2 - ", "%2 ? "))
    (folder / "other.dais").write_text(listing.replace("%2 - ", "%2 + "))
    _answer(["convert", str(folder / "other.dais"), str(folder / "other.bin")])
    (folder / "x.csv").write_text("0.5,1\n-3,2.25\n")


def answers(folder: Path) -> Iterator[tuple[str, str]]:
    """Run all commands in ``folder``, prepared by ``laid_out``, and yield their names and outputs."""
    with _surroundings(folder):
        for name, words in COMMANDS.items():
            code, out, err = _answer(shlex.split(words))
            yield name, _plain(f"$ dais-verif {words}\nexit code {code}\n--- stdout\n{out}--- stderr\n{err}", folder)


@contextlib.contextmanager
def _surroundings(folder: Path) -> Iterator[None]:
    """Work in ``folder``, with a cache that has only Verilator's runtime, and a terminal of 100 columns."""
    verilator_runtime.ensure()
    cache, before, environment = folder / "cache", Path.cwd(), dict(os.environ)
    cache.mkdir()
    (cache / "runtime").symlink_to(tools.cache_dir() / "runtime")
    os.environ |= {"DAIS_VERIF_CACHE": str(cache), "COLUMNS": "100", "DAIS_VERIF_THREADS": "2"}
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
        os.environ.clear()
        os.environ.update(environment)


def _answer(words: list[str]) -> tuple[int, str, str]:
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main._run(words)
    text = out.buffer.getvalue().decode()  # type: ignore[attr-defined]
    if "--json" in words and text.startswith("{") and text.count("\n{") == 0:
        text = json.dumps(_without_varying(json.loads(text)), indent=1, ensure_ascii=False) + "\n"
    return code, text, err.getvalue()


def _without_varying(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {k: "..." if k in _VARYING or k.endswith("_seconds") else _without_varying(v) for k, v in tree.items()}
    return [_without_varying(item) for item in tree] if isinstance(tree, list) else tree


def _plain(text: str, folder: Path) -> str:
    for varying, word in ((str(folder), "FOLDER"), (own_command([]).strip(), "dais-verif")):
        text = text.replace(varying, word)
    for pattern, word in _PLAIN.items():
        text = re.sub(pattern, word, text, flags=re.MULTILINE)
    return text


def write() -> None:
    """Write ``answers/`` again."""
    shutil.rmtree(ANSWERS, ignore_errors=True)
    ANSWERS.mkdir()
    with TemporaryDirectory(prefix="recorded-") as folder:
        place = Path(folder).resolve()
        laid_out(place)
        for name, answer in answers(place):
            (ANSWERS / f"{name}.txt").write_text(answer)
            print(name)


if __name__ == "__main__":
    write()
