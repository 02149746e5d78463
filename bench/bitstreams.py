"""Build programs and machines of the corpus as bitstreams, then simulate and prove these; `make bench-bitstream`.

Each is built for one device without a wrapper, as a pipeline without a wrapper, and behind a UART. If the device has
enough cells and pins, the design is verified from its bitstream and pins alone: without a wrapper, in both simulators
and by proof; behind a UART, as a simulated board and, for programs, by proof. Each row is written when it is known, and
a run continues where the previous one stopped. The run fails if a bitstream is wrong or cannot be judged.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.golden import CORPUS

__all__ = ["FORMS", "main", "row_of", "table"]

DEVICE = "ice40-hx8k-ct256"
EXAMPLES = Path(__file__).parents[1] / "examples"
_STAGES = 4
#: Clock cycles per vector of a machine behind a UART.
_CYCLES = 8
_PINS = ["--clock", "clk", "--reset", "rst", "--enable", "en", "--valid-in", "in_valid", "--valid-out", "out_valid"]
_PORTS = ["--reset", "--enable", "--valid"]


#: The option that runs every vector in Icarus, too, which a machine does anyway.
_ALL: dict[bool, list[str]] = {False: ["--icarus-vectors", "all"], True: []}


class Form(NamedTuple):
    """The options that build a form of a program, and those that name the pins of a clocked design."""

    build: tuple[str, ...]
    pins: tuple[str, ...] = ()
    board: bool = False


FORMS = {
    "bare": Form(("--wrap", "none")),
    "pipeline": Form(("--wrap", "none", "--stages", str(_STAGES), *_PORTS), tuple(_PINS)),
    "uart": Form(("--wrap", "uart", "--stages", str(_STAGES)), board=True),
}
#: The forms of machines, which have their own stages.
MACHINE_FORMS = {
    "bare": Form(("--wrap", "none")),
    "uart": Form(("--wrap", "uart", "--cycles", str(_CYCLES)), board=True),
}


def row_of(program: Path, form: str, device: str, timeout: float, vectors: int) -> dict[str, Any]:
    """Build a program in a form and verify it; return its row. ``timeout``: seconds for each step."""
    asked = _forms(program)[form]
    row: dict[str, Any] = {"program": program_name(program), "form": form, "device": device}
    with tempfile.TemporaryDirectory() as name:
        out = Path(name) / "out"
        limits = ("--device", device, "--timeout", f"{timeout:g}", "-o", str(out))
        built, seconds = _verb(("build", str(program), *asked.build, *limits), timeout * 4)
        row["build"] = {"seconds": seconds, "exit_code": built.get("exit_code", 0)}
        if "files" not in built:
            return {**row, "verdict": "NOT BUILT", "why": built.get("message", "")}
        timing = built["timing"]
        allowed = [timing["registers"]] if timing["registers"] else []
        allowed += [1000 / timing["path"]] if timing["path"] else []
        row |= {"cells": built["used"]["ICESTORM_LC"][0], "rams": built["used"]["ICESTORM_RAM"][0]}
        row |= {"pins": len(built["pins"]), "MHz": round(min(allowed), 1) if allowed else None}
        bits = ["--bitstream", str(out / "model.bin"), "--pins", str(out / "pins.pcf"), "--device", device, *asked.pins]
        steps = {
            "sim": ["sim", str(program), *bits, "--vectors", str(vectors), *_ALL[_is_machine(program)]],
            "prove": ["prove", str(program), *bits, "--no-cache"],
        }
        if asked.board:
            target = f"sim://bitstream?file={out / 'model.bin'}&pins={out / 'pins.pcf'}&device={device}"
            target += f"&cycles={_CYCLES}" * _is_machine(program)
            steps = {"hil": ["hil", str(program), "--target", target, "--vectors", str(min(vectors, 200))]}
            if not _is_machine(program):
                # The simulated board has run its vectors in the step before.
                steps["prove"] = ["prove", str(program), *bits, "--stages", str(_STAGES), "--no-cache", "--no-confirm"]
        for step, words in steps.items():
            said, seconds = _verb(words, timeout * 2)
            row[step] = {"verdict": said.get("verdict"), "seconds": seconds, "message": said.get("message", "")[:300]}
    verdicts = [row[step]["verdict"] for step in steps]
    return {**row, "verdict": next((verdict for verdict in verdicts if verdict != "PASS"), "PASS")}


def _is_machine(program: Path) -> bool:
    return ".fsm." in program.name or program.name.startswith("fsm.")


def _forms(program: Path) -> dict[str, Form]:
    return MACHINE_FORMS if _is_machine(program) else FORMS


def _verb(words: Sequence[str], timeout: float) -> tuple[dict[str, Any], float]:
    """Return the JSON that a command prints, and the seconds of wall time that it took."""
    begun = time.monotonic()
    command = [sys.executable, "-m", "dais_verif", *words, "--json"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=timeout, check=False)
        said: dict[str, Any] = json.loads(done.stdout or b"{}")
    except subprocess.TimeoutExpired:
        said = {"verdict": "TOOL_FAILURE", "message": f"not done in {timeout:g} s"}
    return said, round(time.monotonic() - begun, 1)


def program_name(path: Path) -> str:
    """Return the name of a program in its row."""
    return path.parent.name if path.name.startswith(("prog", "fsm")) else path.stem


def programs() -> Iterator[Path]:
    """Yield the small examples, then the corpus, small files first."""
    yield from (EXAMPLES / name for name in ("quantised_mac.bin", "lookup_square.bin"))
    found = [CORPUS / folder.name / "prog.v1.bin" for folder in CORPUS.glob("p*")]
    machines = (CORPUS.parent / "fsm").glob("*/fsm.json.gz")
    yield from sorted((path for path in (*found, *machines) if path.is_file()), key=lambda path: path.stat().st_size)


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return the rows as Markdown."""
    lines = ["| program | form | cells | RAMs | pins | MHz | build s | sim | prove | board | verdict |"]
    lines.append("|---|---|---:|---:|---:|---:|---:|---|---|---|---|")
    for row in rows:
        steps = [_told(row.get(step)) for step in ("sim", "prove", "hil")]
        known = [row.get(name) for name in ("cells", "rams", "pins", "MHz")]
        figures = ["" if one is None else str(one) for one in known]
        verdict = str(row["verdict"]) if "why" not in row else f"not built: {row['why']}"
        cells = [row["program"], row["form"], *figures, f"{row['build']['seconds']:g}", *steps, verdict]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _told(step: dict[str, Any] | None) -> str:
    return "" if step is None else f"{step['verdict']}, {step['seconds']:g} s"


def main(arguments: Sequence[str] | None = None) -> int:
    """Make all rows that are not there yet; return 1 if a bitstream that was built did not pass."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--device", default=DEVICE)
    parser.add_argument("--timeout", type=float, default=1800.0)
    parser.add_argument("--vectors", type=int, default=1000)
    parser.add_argument("--only", default="", help="Only programs whose names contain this.")
    parser.add_argument("--form", choices=list(FORMS), help="Only this form.")
    asked = parser.parse_args(arguments)
    asked.output.parent.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in asked.output.read_text().splitlines()] if asked.output.exists() else []
    known = {(row["program"], row["form"], row["device"]) for row in rows}
    with asked.output.open("a") as file:
        for program in programs():
            for form in _forms(program):
                if asked.form not in (None, form):
                    continue
                if asked.only not in program_name(program) or (program_name(program), form, asked.device) in known:
                    continue
                rows.append(row_of(program, form, asked.device, asked.timeout, asked.vectors))
                file.write(json.dumps(rows[-1]) + "\n")
                file.flush()
                asked.output.with_suffix(".md").write_text(table(rows))
    print(table(rows))
    return int(any(row["verdict"] not in ("PASS", "NOT BUILT") for row in rows))


if __name__ == "__main__":
    sys.exit(main())
