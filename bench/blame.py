"""Measure how often a fault planted in RTL is found at its line: by writer of the RTL and by kind of fault.

python -m bench.blame --faults 1000

The RTL is da4ml's (combinational and pipelined), alkaid's, and that of ``emit`` with its names of ops taken away. Each
fault is one edit of those that ``mutate`` makes; edits that change no output on the vectors, and RTL that the prover
refuses, are counted apart.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from dais_verif.base.errors import DaisError
from dais_verif.campaigns.mutation.sites import all_mutants, drawn
from dais_verif.hardware.emitter import PipelineOptions, emit_pipeline, emit_verilog
from dais_verif.hardware.ports.interface import Clocking, Dut, packed
from dais_verif.prover import slang
from dais_verif.prover.frontier import find_frontier
from dais_verif.spec.program import Program, load

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "tests" / "corpus"
#: Answers, from the best to the worst; the last two say nothing about the search.
ANSWERS = ("first", "among three", "named later", "elsewhere", "nothing", "no difference", "refused")


@dataclass(frozen=True)
class Case:
    """RTL of a program: its text by file name, module ``top``."""

    writer: str
    program: Program
    files: Mapping[str, str]
    top: str
    dut: Dut


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true", help="show each fault that is not found first")
    options = parser.parse_args()
    cases = list(_cases())
    answers: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    seconds = []
    for number, case in enumerate(cases):
        count = options.faults * (number + 1) // len(cases) - options.faults * number // len(cases)
        for mutant in drawn(all_mutants(case.files), count, options.seed):
            text = case.files[mutant.file]
            edited = text[: mutant.offset] + mutant.new + text[mutant.offset + len(mutant.old) :]
            begun = time.process_time()
            lines = _lines(case, {**case.files, mutant.file: edited})
            seconds.append(time.process_time() - begun)
            answer = lines if isinstance(lines, str) else _answer(lines, f"{mutant.file}:{mutant.line}")
            answers[case.writer, mutant.kind][answer] += 1
            if options.show and answer not in ("first", "no difference", "refused"):
                print(case.writer, answer, mutant.kind, f"{mutant.file}:{mutant.line}", mutant.old, mutant.new, lines)
    _print(answers)
    print(f"CPU seconds: median {median(seconds):.2f}, largest {max(seconds):.1f}")
    return 0


def _cases() -> Iterator[Case]:
    for folder in sorted(CORPUS.glob("p*")):
        files = sorted(folder.glob("prog.v1.bin"))
        if files:
            program = load(files[0])
            yield Case(
                "emit, no names", program, {"model.v": _unnamed(emit_verilog(program))}, "model", packed(program)
            )
            pipeline = emit_pipeline(program, "model", PipelineOptions(stages=3))
            clocked = _clocked(packed(program), 3)
            yield Case("emit, 3 stages, no names", program, {"model.v": _unnamed(pipeline.text)}, "model", clocked)
    yield from _of_da4ml()


def _of_da4ml() -> Iterator[Case]:
    try:
        from da4ml.codegen import VerilogModel  # noqa: F401
    except ImportError:
        print("da4ml is not installed: its RTL is left out", file=sys.stderr)
        return
    sys.path.insert(0, str(ROOT / "tests"))
    from interop.networks import traced
    from interop.rtl import write

    for name in ("mlp", "convolution", "product_of_matrices"):
        for cutoff in (-1.0, 2.0):
            with tempfile.TemporaryDirectory() as folder:
                rtl = write(traced(name), Path(folder), cutoff=cutoff)
                program = load(rtl.program)
                files = {path.name: path.read_text() for path in rtl.sources}
            dut = packed(program) if rtl.latency is None else _clocked(packed(program), rtl.latency)
            yield Case("da4ml" if rtl.latency is None else "da4ml, pipelined", program, files, "model", dut)


def _clocked(dut: Dut, latency: int) -> Dut:
    return replace(dut, interface=replace(dut.interface, clocking=Clocking("clk", latency=latency)))


def _unnamed(text: str) -> str:
    """Return RTL whose signals do not tell their ops."""
    names = sorted({match[0] for match in re.finditer(r"\b(?:op|neg)_\d+(?:_s\d+)?\b", text)})
    random.Random(0).shuffle(names)
    numbers = {name: f"w{number}" for number, name in enumerate(names)}
    return re.sub(r"\b(?:op|neg)_\d+(?:_s\d+)?\b", lambda match: numbers[match[0]], text)


def _lines(case: Case, files: Mapping[str, str]) -> list[str] | str:
    """Return the lines that are found, the likeliest first; or what happened instead."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            (Path(folder) / name).write_text(text)
        try:
            netlist = slang.elaborate([Path(folder) / name for name in files], case.top)
            found = find_frontier(case.program, netlist, case.dut)
        except DaisError:
            return "refused"
    if not found.signals and not found.moved:
        return "no difference"
    lines = [line for one in found.signals for line in one.lines] + [one.where for one in found.moved]
    return [Path(line).name for line in lines]


def _answer(lines: list[str], planted: str) -> str:
    if planted not in lines:
        return "elsewhere" if lines else "nothing"
    return ("first", "among three", "among three")[lines.index(planted)] if lines.index(planted) < 3 else "named later"


def _print(answers: Mapping[tuple[str, str], Counter[str]]) -> None:
    for part in (0, 1):
        rows: dict[str, Counter[str]] = defaultdict(Counter)
        for key, counts in answers.items():
            rows[key[part]] += counts
        rows["all"] = sum(rows.values(), Counter())
        print("| " + " | ".join([("RTL", "fault")[part], *ANSWERS, "first, of all that differ"]) + " |")
        print("|---" * (len(ANSWERS) + 2) + "|")
        for name, counts in rows.items():
            differ = sum(counts[answer] for answer in ANSWERS[:5])
            share = f"{100 * counts['first'] / differ:.0f} %" if differ else ""
            print(f"| {name} | " + " | ".join(str(counts[answer]) for answer in ANSWERS) + f" | {share} |")
        print()


if __name__ == "__main__":
    sys.exit(main())
