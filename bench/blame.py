"""Plant faults in RTL, and measure how often each is found at its line: by writer of the RTL and by kind of fault.

python -m bench.blame --faults 1000

The RTL is that of da4ml, of alkaid (Verilog and VHDL), of ``emit`` with its names of ops taken away, and hand-written
pipelines. A fault is one edit of those that ``mutate`` makes, another operand, one of those that the tests of alkaid's
folders make, or two of these at once. Edits that change no output on the vectors, and RTL that the prover refuses, are
counted apart.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from bench.blame_pipelines import PIPELINES
from dais_verif.base.errors import DaisError
from dais_verif.base.files import write_atomically
from dais_verif.campaigns.mutation.sites import all_mutants
from dais_verif.hardware.emitter import PipelineOptions, emit_pipeline, emit_verilog
from dais_verif.hardware.ports.interface import Clocking, Dut, packed
from dais_verif.prover.frontier import Frontier, find_frontier
from dais_verif.prover.limits import OutOfTime, time_limit
from dais_verif.simulation.simulators.build import RtlDesign
from dais_verif.spec.program import Program, load
from dais_verif.verbs.proof.deep_stack import run_deep
from dais_verif.verbs.proof.reading import RtlReader
from dais_verif.verbs.suggestion import Suggestion, suggested

ROOT = Path(__file__).parents[1]
CORPUS, ALIR = ROOT / "tests" / "corpus", ROOT / "tests" / "alir"
PAGE = ROOT / "docs" / "developers" / "blame.md"
#: Answers, from the best to the worst; the last three say nothing about the search.
ANSWERS = (
    "first",
    "among three",
    "named later",
    "at the ports",
    "elsewhere",
    "nothing",
    "too slow",
    "no difference",
    "refused",
)
_TELLING = 7
#: Seconds for one fault.
_SECONDS = 30.0
#: The page has the tables between these lines.
_BEGIN, _END = "<!-- results -->", "<!-- end of results -->"


class Fault(NamedTuple):
    """``new`` replaces ``old`` at ``offset`` of ``file``."""

    kind: str
    file: str
    offset: int
    old: str
    new: str

    def lines(self, files: Mapping[str, str]) -> set[str]:
        """Return the lines of the statement from its first one to that of the edit: tools name the first one."""
        before = files[self.file][: self.offset]
        statement = before[before.rfind(";") + 1 :]
        last = before.count("\n") + 1
        first = last - statement.lstrip().count("\n")
        return {f"{self.file}:{line}" for line in range(first, last + 1)} if last - first < 8 else {self.line(files)}

    def line(self, files: Mapping[str, str]) -> str:
        """Return the file and line of the edit."""
        return f"{self.file}:{files[self.file].count(chr(10), 0, self.offset) + 1}"


@dataclass(frozen=True)
class Case:
    """RTL of a program: its text by file name, module ``top``."""

    writer: str
    name: str
    program: Program
    files: Mapping[str, str]
    top: str
    dut: Dut

    def faults(self, seed: int) -> list[Fault]:
        """Return faults in a random order, the kinds in turns."""
        dice = random.Random(f"{seed} {self.writer} {self.name}")
        kinds: dict[str, list[Fault]] = defaultdict(list)
        for one in self._all(dice):
            kinds[one.kind].append(one)
        for some in kinds.values():
            dice.shuffle(some)
        order = sorted(kinds)
        dice.shuffle(order)
        turns = [
            kinds[kind][turn]
            for turn in range(max(map(len, kinds.values())))
            for kind in order
            if turn < len(kinds[kind])
        ]
        return turns

    def _all(self, dice: random.Random) -> Iterator[Fault]:
        for one in all_mutants(self.files):
            if one.new.startswith("begin "):  # a second assignment, as nobody writes it
                continue
            yield Fault(one.kind, one.file, one.offset, one.old, one.new)
        for name, text in self.files.items():
            if not name.endswith(".vhd"):
                yield from _operands(name, text, dice)
        if self.writer.startswith("alkaid"):
            from interop.folder_faults import faults_in

            for name, text in self.files.items():
                for kind, start, end, new in faults_in(name, text, dice):
                    yield Fault(kind, name, start, text[start:end], new)


def _operands(name: str, text: str, dice: random.Random) -> Iterator[Fault]:
    """Yield edits that read another signal of the same declaration, which is assigned before."""
    declaration = re.compile(r"\b(?:wire|reg|logic)\b((?:\s+signed)?(?:\s*\[[^\]]*\])?)\s+(\w+)\s*[;=]")
    assignment = re.compile(r"\b(\w+)(?:\s*\[[^\]]*\])?\s*(?:<=|=)(?!=)([^;=]*);")
    for start, end in _modules(text):
        module = text[start:end]
        declared = {match[2]: re.sub(r"\s+", " ", match[1]).strip() for match in declaration.finditer(module)}
        known: dict[str, list[str]] = defaultdict(list)
        for match in assignment.finditer(module):
            for word in re.finditer(r"\b[A-Za-z_]\w*\b", match[2]):
                alike = known[declared[word[0]]] if word[0] in declared else []
                other = dice.choice(alike) if alike else word[0]
                if other != word[0]:
                    yield Fault("operand", name, start + match.start(2) + word.start(), word[0], other)
            if match[1] in declared:
                known[declared[match[1]]].append(match[1])


def _modules(text: str) -> Iterator[tuple[int, int]]:
    for match in re.finditer(r"\bmodule\b.*?\bendmodule\b", text, re.DOTALL):
        yield match.span()


class Result(NamedTuple):
    """What was found of a fault.

    ``claimed``: a wrong line was not called a guess. ``edits``: none, ``other`` or ``undone``: whether edits were found
    with which all outputs are right, and whether they undo the fault. ``proved``: these edits were proved. ``seconds``:
    without the search for edits, and ``edit_seconds`` with it.
    """

    answer: str
    claimed: bool = False
    edits: str = "none"
    proved: bool = False
    seconds: float = 0.0
    edit_seconds: float = 0.0


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--writer", help="only writers whose names begin so")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after so many minutes")
    parser.add_argument("--keep", type=Path, help="add the results to this file")
    parser.add_argument("--of", type=Path, nargs="+", help="plant nothing; show the results in these files")
    parser.add_argument("--page", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    parser.add_argument("--show", action="store_true", help="show each fault that is not found first")
    options = parser.parse_args()
    if options.of:
        results: dict[tuple[str, str, int], list[Result]] = defaultdict(list)
        for row in (json.loads(line) for path in options.of for line in path.read_text().splitlines()):
            results[row[0], row[1], row[2]].append(Result(*row[3:]))
        _show(results, options.page)
        return 0
    return run_deep(lambda: _run(options))


def _run(options: Any) -> int:
    sys.path.insert(0, str(ROOT / "tests"))
    cases = [case for case in _cases() if not options.writer or case.writer.startswith(options.writer)]
    planted: dict[int, list[Fault]] = {}
    results: dict[tuple[str, str, int], list[Result]] = defaultdict(list)
    end, done = time.monotonic() + 60 * options.minutes, 0
    turn = 0
    by_writer = defaultdict(list)
    for number, case in enumerate(cases):
        by_writer[case.writer].append(number)
    while done < options.faults and time.monotonic() < end:  # writers in turns, and their cases in turns
        drawn = False
        for numbers in by_writer.values():
            number = numbers[turn % len(numbers)]
            case = cases[number]
            if number not in planted:
                planted[number] = case.faults(options.seed)
            waiting = planted[number]
            count = 2 if turn % 10 == 9 and len(waiting) > 1 else 1
            if not waiting or done >= options.faults or time.monotonic() > end:
                continue
            drawn = True
            faults = [waiting.pop(0) for _ in range(count)]
            if count == 2 and (faults[0].file, faults[0].offset) == (faults[1].file, faults[1].offset):
                faults.pop()
            result, lines = _judged(case, faults)
            kind = faults[0].kind if len(faults) == 1 else "two faults"
            results[case.writer, kind, case.program.n_ops].append(result)
            if options.keep:
                with options.keep.open("a") as kept:
                    print(json.dumps([case.writer, kind, case.program.n_ops, *result]), file=kept)
            done += 1
            if options.show and result.answer not in ("first", "no difference"):
                where = ", ".join(f"{one.line(case.files)} {one.old!r} -> {one.new!r}" for one in faults)
                text = f"{result.answer}{', claimed' * result.claimed}: {kind}: {where}: {lines}"
                print(f"{case.writer} {case.name}: {text}", flush=True)
        if not drawn and len(planted) == len(cases) and not any(planted.values()):
            break
        turn += 1
    _show(results, options.page)
    return 0


def _show(results: Mapping[tuple[str, str, int], list[Result]], page: bool) -> None:
    text = _page(results)
    print(text)
    if page:
        begin, _, rest = PAGE.read_text().partition(_BEGIN)
        write_atomically(PAGE, f"{begin}{_BEGIN}\n\n{text}\n{_END}{rest.partition(_END)[2]}".encode())


def _judged(case: Case, faults: list[Fault]) -> tuple[Result, Any]:
    files = dict(case.files)
    for one in sorted(faults, key=lambda one: -one.offset):
        text = files[one.file]
        files[one.file] = text[: one.offset] + one.new + text[one.offset + len(one.old) :]
    with tempfile.TemporaryDirectory() as folder:
        found, edits, seconds = _found(case, files, Path(folder))
    result = Result("", seconds=seconds[0], edit_seconds=sum(seconds))
    if isinstance(found, str):
        return result._replace(answer=found), found
    if found.ports:
        return result._replace(answer="at the ports"), found.ports
    if found == Frontier(vectors=found.vectors):
        return result._replace(answer="no difference"), ""
    mended = {one.number: f"{one.file.name}:{one.line}" for one in edits}
    signals = []
    for number, one in enumerate(found.signals):
        own = [mended[number]] if number in mended else []
        signals.append(list(dict.fromkeys([*own, *(Path(line).name for line in one.lines)])))
    lines = [line for some in signals for line in some]
    lines += [Path(one.where).name for one in (*found.moved, *found.untimely)]
    planted = [one.lines(case.files) for one in faults]
    places = [min(lines.index(line) for line in some if line in lines) for some in planted if some & set(lines)]
    if not places:
        answer = "elsewhere" if lines else "nothing"
    elif min(places) == 0 and len(places) == len(planted) and max(places) < 3 + len(planted):
        answer = "first"
    else:
        answer = "among three" if min(places) < 3 else "named later"
    claimed = answer == "elsewhere" and any(one.explains for one in found.signals)
    texts = {one.file.name: one.text for one in edits}  # the last one of a file has all its edits
    undone = bool(edits) and all(_plain(text) == _plain(case.files[name]) for name, text in texts.items())
    kind = "undone" if undone else "other" if edits else "none"
    proved = bool(edits) and edits[0].proved
    said = (found.ports, found.moved, signals, found.timing, [(one.old, one.new) for one in edits])
    return result._replace(answer=answer, claimed=claimed, edits=kind, proved=proved), said


def _plain(text: str) -> str:
    return re.sub(r"\s", "", text)


def _found(
    case: Case, files: Mapping[str, str], folder: Path
) -> tuple[Frontier | str, list[Suggestion], tuple[float, float]]:
    """Return what is wrong, or why it is not known; edits; and CPU seconds without and for these."""
    for name, text in files.items():
        (folder / name).write_text(text)
    design = RtlDesign(tuple(folder / name for name in files), case.top)
    reader = RtlReader.of("slang", design, folder / "yosys", foreign=True)
    begun, middle = time.process_time(), 0.0
    found: Frontier | str
    edits: list[Suggestion] = []
    try:
        with time_limit(_SECONDS):
            with reader.readable("slang", reader.in_verilog(design)) as read:
                found = find_frontier(case.program, read(), case.dut)
            middle = time.process_time()
    except OutOfTime:
        found = "too slow"
    except DaisError:
        found = "refused"
    if isinstance(found, Frontier):
        with suppress(DaisError):
            edits = suggested(case.program, design, case.dut, reader, found, folder / "edits")
    end = time.process_time()
    return found, edits, ((middle or end) - begun, end - (middle or end))


def _cases() -> Iterator[Case]:
    for folder in sorted(CORPUS.glob("p*")):
        files = sorted(folder.glob("prog.v1.bin"))
        if files:
            program, name = load(files[0]), folder.name
            yield Case(
                "emit, no names", name, program, {"model.v": _unnamed(emit_verilog(program))}, "model", packed(program)
            )
            pipeline = emit_pipeline(program, "model", PipelineOptions(stages=3))
            dut = _clocked(packed(program), 3)
            yield Case("emit, 3 stages, no names", name, program, {"model.v": _unnamed(pipeline.text)}, "model", dut)
    for one in PIPELINES:
        yield Case(
            "hand-written",
            one.name,
            one.program,
            {f"{one.name}.v": one.text},
            "model",
            _clocked(packed(one.program), one.latency),
        )
    yield from _of_da4ml()
    yield from _of_alkaid()


def _of_da4ml() -> Iterator[Case]:
    try:
        from da4ml.codegen import VerilogModel  # noqa: F401
    except ImportError:
        print("da4ml is not installed: its RTL is left out", file=sys.stderr)
        return
    from interop.networks import traced
    from interop.rtl import write

    for name in ("mlp", "convolution", "product_of_matrices", "dense", "sorted_values", "extremes"):
        for cutoff in (-1.0, 2.0):
            with tempfile.TemporaryDirectory() as folder:
                rtl = write(traced(name), Path(folder), cutoff=cutoff)
                program = load(rtl.program)
                files = {path.name: path.read_text() for path in rtl.sources}
            dut = packed(program) if rtl.latency is None else _clocked(packed(program), rtl.latency)
            yield Case("da4ml" if rtl.latency is None else "da4ml, pipelined", name, program, files, "model", dut)


def _of_alkaid() -> Iterator[Case]:
    try:
        from alkaid.codegen import RTLModel
        from alkaid.types import CombLogic
    except ImportError:
        print("alkaid is not installed: its RTL is left out", file=sys.stderr)
        return
    from dais_verif.hardware.ports.project_folder import read_project

    for flavor in ("verilog", "vhdl"):
        for model in ("a01_dense_plain", "a04_sort8", "a05_where", "a06_softmax_lut", "a09_wide_acc"):
            for stages in (0, 3):
                (source,) = (ALIR / model).glob("alir.json*")
                with tempfile.TemporaryDirectory() as folder:
                    logic = CombLogic.load(source)
                    RTLModel(
                        logic, Path(folder), "top", flavor=flavor, n_stages=stages or -1, print_latency=False
                    ).write()
                    project = read_project(Path(folder))
                    program = load(project.require_model())
                    files = {path.name: path.read_text() for path in project.sources}
                    files |= {path.name: path.read_text() for path in project.data}
                dut = packed(program)
                dut = dut if project.latency is None else _clocked(dut, project.latency)
                yield Case(
                    f"alkaid, {'VHDL' if flavor == 'vhdl' else 'Verilog'}",
                    f"{model} {stages}",
                    program,
                    files,
                    project.top,
                    dut,
                )


def _clocked(dut: Dut, latency: int) -> Dut:
    return replace(dut, interface=replace(dut.interface, clocking=Clocking("clk", latency=latency)))


def _unnamed(text: str) -> str:
    """Return RTL whose signals do not tell their ops."""
    names = sorted({match[0] for match in re.finditer(r"\b(?:op|neg)_\d+(?:_s\d+)?\b", text)})
    random.Random(0).shuffle(names)
    numbers = {name: f"w{number}" for number, name in enumerate(names)}
    return re.sub(r"\b(?:op|neg)_\d+(?:_s\d+)?\b", lambda match: numbers[match[0]], text)


def _page(results: Mapping[tuple[str, str, int], list[Result]]) -> str:
    text = [f"{sum(map(len, results.values()))} faults.", ""]
    for part, what in ((0, "RTL"), (1, "fault")):
        rows: dict[str, list[Result]] = defaultdict(list)
        for key, some in results.items():
            rows[str(key[part])] += some
        rows = {name: rows[name] for name in sorted(rows)} | {"all": [one for some in results.values() for one in some]}
        text += _table(what, rows)
    sizes: dict[str, list[Result]] = defaultdict(list)
    for (_, _, ops), some in results.items():
        sizes["up to 500 ops" if ops <= 500 else "501 to 3000 ops" if ops <= 3000 else "over 3000 ops"] += some
    text += ["| program | faults | median, CPU s | largest, CPU s | with edits: median | largest |", "|---" * 6 + "|"]
    for name, some in sorted(sizes.items()):
        cells = [f"{pick(kind):.2f}" for kind in _seconds(some) for pick in (median, max)]
        text.append(f"| {name} | {len(some)} | {' | '.join(cells)} |")
    mended = [one for some in results.values() for one in some if one.answer in ANSWERS[:_TELLING]]
    edits = Counter(one.edits for one in mended)
    proved = sum(one.proved for one in mended)
    text += [
        "",
        "| wrong RTL | edits that undo the fault | other edits with all outputs right | of all, proved | no edit |",
    ]
    text += ["|---" * 5 + "|", f"| {len(mended)} | {edits['undone']} | {edits['other']} | {proved} | {edits['none']} |"]
    return "\n".join(text) + "\n"


def _seconds(some: list[Result]) -> tuple[list[float], list[float]]:
    return [one.seconds for one in some], [one.edit_seconds for one in some]


def _table(what: str, rows: Mapping[str, list[Result]]) -> list[str]:
    text = ["| " + " | ".join([what, *ANSWERS, "elsewhere, not called a guess", "first, of all that differ"]) + " |"]
    text.append("|---" * (len(ANSWERS) + 3) + "|")
    for name, some in rows.items():
        counts = Counter(one.answer for one in some)
        differ = sum(counts[answer] for answer in ANSWERS[:_TELLING])
        share = f"{100 * counts['first'] / differ:.0f} %" if differ else ""
        cells = [*(str(counts[answer]) for answer in ANSWERS), str(sum(one.claimed for one in some)), share]
        text.append(f"| {name} | " + " | ".join(cells) + " |")
    return [*text, ""]


if __name__ == "__main__":
    sys.exit(main())
