"""A record on the terminal: the verdict first, then what was compared, then the first mismatch."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from dais_verif.base.errors import MissingTool
from dais_verif.base.stopwatch import Stage
from dais_verif.base.text import command_line, counted
from dais_verif.base.troubleshooting import section_of_verdict
from dais_verif.base.verdict import Verdict
from dais_verif.record.cache import CacheContents, RemovedFromCache
from dais_verif.record.coverage import coverage_line
from dais_verif.record.program import MACHINE_LAYOUTS, ProgramInfo
from dais_verif.record.simulation import RTL_IN_ICARUS, BoardInfo, Evidence, Mismatch, SimulationRecord, Value
from dais_verif.report.coverage_text import print_coverage
from dais_verif.report.kernels_text import print_printed

__all__ = [
    "print_cache",
    "print_mismatch",
    "print_record",
    "program_line",
    "removed_line",
    "source_line",
    "verdict_text",
]


_STYLE = {Verdict.PASS: "bold green", Verdict.NOT_RUN: "bold yellow", Verdict.UNKNOWN: "bold yellow"}
_SHOWN_FILES = 4
_SHOWN_INPUTS = 32
_SHOWN_BITS = 128
_TIME_LINE = 50
#: The next step if pins violate their protocol, in which case no single vector fails.
#: What the next step says in addition if a replay left waves.
_WAVES = {Verdict.RTL_MISMATCH: " and its waves", Verdict.X_IN_OUTPUT: "; see the waves"}
_PROTOCOL = (
    "look for a register that reset or enable does not reach, or whose valid bit is late; or the latency and pins"
    " that were given are not those of the RTL (--latency auto finds out)"
)


def print_record(record: SimulationRecord, out: Console, *, profile: bool = False) -> None:
    """Print ``record`` as text for users. ``profile``: also print when each stage ran."""
    out.print(f"program    {program_line(record.program)}", markup=False)
    out.print(f"hash       {record.program.hash}", markup=False)
    if record.rtl.project is not None:
        out.print(f"project    {record.rtl.project}", markup=False)
    if record.board is not None:
        _print_board(record.board, out)
        for decision in record.decisions[1:]:
            out.print(f"{decision.what:<11}{decision.chosen}: {decision.why}", markup=False)
    else:
        source = source_line(record.rtl.emitted, record.rtl.files)
        out.print(f"rtl        module {record.rtl.top}, {source}{_ports(record)}", markup=False)
    for decision in record.decisions:
        if decision.what == RTL_IN_ICARUS:
            out.print(f"in icarus  {decision.chosen}: {decision.why}", markup=False)
    more = f" and {record.exhaustive_vectors} exhaustive" if record.exhaustive_vectors else ""
    what = "cycle" if record.program.layout in MACHINE_LAYOUTS else "vector"
    out.print(f"stimulus   {counted(record.vectors, what)}{more}, seed {record.seed}{_unchecked(record)}", markup=False)
    if record.conditions is not None:
        out.print(f"conditions {record.conditions}", markup=False)
    if record.simulators:
        out.print(_simulators(record))
    if record.evidence is not None:
        _print_evidence(record.evidence, out)
    if record.coverage is not None:
        print_coverage(record.coverage, out, shown=3)
        out.print(f"{'':<10} {coverage_line(record.coverage)}", markup=False)
    if record.rtl_coverage is not None:
        hit = ", ".join(f"{kind.hit} of {kind.points} {kind.kind} points" for kind in record.rtl_coverage.kinds)
        out.print(f"rtl hit    {hit}", markup=False)
    if profile and record.profile is not None:
        _print_profile(record.profile, out)
    if record.kernel is not None:
        print_printed(record.kernel, out)
    if record.first_mismatch is not None:
        print_mismatch(record.first_mismatch, out)
    out.print(verdict_text(record.verdict, record.message))
    if record.verdict is not Verdict.PASS:
        next_step = _next_step(record)
        section = section_of_verdict(record.verdict)
        out.print(f"next       {next_step}{'; ' if next_step else ''}see {section}", markup=False)
        out.print(f"reproduce  {record.reproduce}", markup=False)
        if record.board is not None and record.first_mismatch is not None:
            out.print(f"simulate   {record.board.replay}", markup=False)


def _next_step(record: SimulationRecord) -> str:
    """Return the next step for the user; if one simulator failed, include the results of the other one."""
    if record.verdict is Verdict.RTL_MISMATCH and record.first_mismatch is None and record.board is None:
        return _PROTOCOL
    if record.verdict is Verdict.PROGRAM_INVALID and record.program.layout in ("alirfsm", "mach"):
        return "the machine is wrong, not the RTL: widen the op's type, narrow the index, or enlarge its memory"
    failed = [one.name for one in record.simulators if one.failure is not None]
    if record.first_mismatch is not None and record.first_mismatch.waves is not None:
        return record.verdict.next_step + _WAVES.get(record.verdict, "")
    if record.verdict is not Verdict.TOOL_FAILURE or not failed:
        return record.verdict.next_step
    for one in record.simulators:
        if one.failure is None and one.bits_compared:
            wrong = one.mismatches + one.vectors_with_x
            found = f"found {wrong} of them wrong" if wrong else "found no mismatch"
            return (
                f"{one.name} compared {counted(one.vectors_compared, 'vector')} and {found}; if {failed[0]} cannot"
                f" build this RTL, --sim {one.name} judges by {one.name} alone"
            )
    ended = [one.name for one in record.simulators if (one.failure or "").startswith("NOT RUN")]
    if ended:
        broken = next((name for name in failed if name not in ended), "the other simulator")
        alone = f"if {broken} cannot build this RTL, --sim {ended[0]} judges by {ended[0]} alone"
        return f"{record.verdict.next_step}; {alone}"
    if any(one.code == MissingTool.code for one in record.simulators):
        return "nothing is known about the RTL; install the missing tool, or correct the variable that names it"
    return record.verdict.next_step


def _print_board(board: BoardInfo, out: Console) -> None:
    core = f"core of latency {board.latency}" if board.latency else "combinational core"
    runs = f"program, {core}" if board.cycles is None else f"machine, {counted(board.cycles, 'cycle')} per vector"
    out.print(f"board      {board.target}, runs this {runs}, buffer of {counted(board.buffer, 'byte')}", markup=False)
    link = [counted(board.batches, "batch", "batches")]
    for number, what in (
        (board.repeated, "sent again"),
        (board.damaged_there, "damaged on the way there"),
        (board.damaged_here, "on the way back"),
        (board.unexpected, "came too late"),
    ):
        link += [f"{number} {what}"] if number else []
    out.print(f"link       {', '.join(link)}", markup=False)
    if board.resumed_from:
        out.print(f"resumed    {counted(board.resumed_from, 'vector')} compared by an earlier run", markup=False)


def program_line(program: ProgramInfo) -> str:
    """Return the program and its size in one line."""
    assumed = " (layout assumed)" if program.layout_assumed else ""
    shape = f"{counted(program.n_in, 'input')}, {counted(program.n_out, 'output')}, {counted(program.n_ops, 'op')}"
    return f"{program.path}  {program.layout}{assumed}, {shape}"


def source_line(emitted: bool, files: Sequence[str]) -> str:
    """Return where the RTL of a record comes from; for many files, only the first ones."""
    if emitted:
        return "emitted from the program"
    if len(files) <= _SHOWN_FILES:
        return ", ".join(files)
    shown = files[: _SHOWN_FILES - 1]
    return f"{', '.join(shown)} and {len(files) - len(shown)} more files, all of which are in the record"


def verdict_text(verdict: Verdict, message: str) -> Text:
    """Return the last line of a run: the verdict, in its colour, and the reason."""
    return Text.assemble(Text(verdict.value, style=_STYLE.get(verdict, "bold red")), "  ", message)


def _ports(record: SimulationRecord) -> str:
    """Return the properties of the ports that differ from those of emitted combinational modules."""
    latencies = sorted({found.latency for found in record.simulators if found.latency is not None})
    *others, last = latencies or [0]
    several = "".join(f"{one} or " for one in others)
    clocked = f"; clocked, latency {several}{counted(last, 'edge')}" if latencies else ""
    widths = record.rtl.widths
    return f"{clocked}; ports sized by {widths}" if widths and not record.rtl.emitted else clocked


def _unchecked(record: SimulationRecord) -> str:
    return ", overflow unchecked" if record.unchecked else ""


def _simulators(record: SimulationRecord) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("simulator", "version", "vectors", "bits compared", "mismatches", "X", "build", "run"):
        table.add_column(name, justify="left" if name in ("simulator", "version") else "right")
    for s in record.simulators:
        if s.failure and not s.version:  # it ran if its version is known, perhaps only to report a violation
            table.add_row(s.name, Text("failed", style="red"), "-", "-", "-", "-", "-", "-")
            continue
        version = (s.version or "").split(" ")[0]
        counts = (s.vectors_compared, s.bits_compared, s.mismatches, s.vectors_with_x)
        times = (f"{s.build_seconds:.1f} s", f"{s.run_seconds:.1f} s")
        table.add_row(s.name, version, *map(str, counts), *times)
    return table


def _print_evidence(evidence: Evidence, out: Console) -> None:
    parts = []
    if evidence.exhausted:
        them = "it" if len(evidence.exhausted) == 1 else "them"
        parts.append(f"exhausted {_outputs(evidence.exhausted)} (all inputs that reach {them})")
    if evidence.sampled:
        parts.append(f"sampled {_outputs(evidence.sampled)}")
    out.print(f"evidence   {'; '.join(parts)}", markup=False)
    if evidence.could:
        rows = min(evidence.could.values())
        out.print(
            f"           --exhaustive could exhaust {_outputs(list(evidence.could))}, with {rows} vectors or more",
            markup=False,
        )


def _outputs(numbers: list[int]) -> str:
    """Return ``output 3`` or ``outputs 0-4, 7``."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    text = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
    return f"output{'s' if len(numbers) > 1 else ''} {text}"


def _print_profile(stages: list[Stage], out: Console) -> None:
    """Print when each stage ran on a common time line, because stages overlap."""
    whole = max((stage.end for stage in stages), default=0.0)
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("stage")
    table.add_column("busy", justify="right")
    table.add_column(f"0 s{f'{whole:.1f} s':>{_TIME_LINE - 3}}")
    for stage in stages:
        first = min(int(stage.begin / whole * _TIME_LINE), _TIME_LINE - 1) if whole else 0
        length = max(round(stage.end / whole * _TIME_LINE) - first, 1) if whole else 1
        table.add_row(stage.name, f"{stage.busy:.2f} s", " " * first + "█" * length)
    out.print(table)


def print_mismatch(mismatch: Mismatch, out: Console) -> None:
    """Print the failing vector, the expected and found values, and the origin of the mismatch."""
    where = f"vector {mismatch.row}, output {mismatch.output}" if mismatch.place is None else str(mismatch.place)
    out.print(f"\nfirst mismatch: {where}, in {mismatch.simulator}", markup=False)
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("", "real", "raw", "bits"):
        table.add_column(name, overflow="fold")
    _add_pair(table, "", mismatch.expected, mismatch.found)
    blame = mismatch.blame
    if blame is not None and blame.expected is not None and blame.found is not None:
        _add_pair(table, f"{blame.signal or f'op {blame.op}'} ", blame.expected, blame.found)
    cone = None if mismatch.cone is None else set(mismatch.cone)
    inputs = [given for given in mismatch.inputs if cone is None or given.index in cone]
    for given in inputs[:_SHOWN_INPUTS]:
        table.add_row(given.name or f"input {given.index}", given.real, "", _cut(given.bits))
    if len(inputs) > _SHOWN_INPUTS:
        table.add_row("", f"... {len(inputs) - _SHOWN_INPUTS} more inputs in the record")
    if len(inputs) < len(mismatch.inputs):
        table.add_row("", f"{len(mismatch.inputs) - len(inputs)} other inputs do not reach output {mismatch.output}")
    out.print(table)
    if blame is not None and blame.kind != "cycle":
        where = f" (type {blame.type})" if blame.type else ""
        out.print(f"blame      {blame.text}{where}", markup=False)
        for text in blame.wrong():
            out.print(f"wrong      {text}", markup=False)
    if mismatch.views:
        out.print(f"waves      {command_line(['gtkwave', mismatch.views[0]])}", markup=False)


def _add_pair(table: Table, what: str, expected: Value, found: Value) -> None:
    """Add two values that should be equal, with marks below the bits that differ."""
    for name, value in (("expected", expected), ("found", found)):
        known = value.raw is not None
        table.add_row(what + name, value.real if known else "?", str(value.raw) if known else "?", _cut(value.bits))
    width = max(len(expected.bits), len(found.bits))
    pairs = zip(expected.bits.rjust(width), found.bits.rjust(width), strict=True)
    marks = "".join(" " if right == wrong else "^" for right, wrong in pairs)
    if len(expected.bits) == len(found.bits) and "^" in marks[:_SHOWN_BITS]:
        table.add_row("", "", "", Text(marks[:_SHOWN_BITS].rstrip(), style="bold red"))


def _cut(bits: str) -> str:
    return bits if len(bits) <= _SHOWN_BITS else f"{bits[:_SHOWN_BITS]}... ({counted(len(bits), 'bit')})"


# The contents of the cache on this machine, as text.


_MEGABYTE = 1_000_000


def print_cache(contents: CacheContents, out: Console) -> None:
    """Print the contents of the cache."""
    found = contents.builds
    if found:
        table = Table(box=None, pad_edge=False, header_style="dim")
        for name, justify in (("simulator", "left"), ("top", "left"), ("size", "right"), ("last used", "right")):
            table.add_column(name, justify=justify)  # type: ignore[arg-type]
        for entry in found:
            names = (str(entry.facts.get(name, "?")) for name in ("simulator", "top"))
            table.add_row(*names, _megabytes(entry.bytes), _ago(entry.used))
        out.print(table)
    total, limit = _megabytes(contents.builds_bytes), _megabytes(contents.limit_bytes)
    out.print(f"folder     {contents.folder}", markup=False)
    out.print(f"builds     {len(found)}, {total} of at most {limit}", markup=False)
    out.print(f"proofs     {_megabytes(contents.proofs_bytes)}", markup=False)
    out.print(f"runtime    {_megabytes(contents.runtime_bytes)}, compiled once for this machine", markup=False)


def removed_line(removed: RemovedFromCache) -> str:
    """Return one line about what was removed."""
    more = f", {_megabytes(removed.proofs_bytes)} of proofs" if removed.proofs_bytes else ""
    more += f", {_megabytes(removed.runtime_bytes)} of Verilator's runtime" if removed.runtime_bytes else ""
    more += f", {removed.abandoned} temporary folders of runs that were killed" if removed.abandoned else ""
    return f"removed {removed.builds} builds, {_megabytes(removed.builds_bytes)}{more}"


def _megabytes(size: int) -> str:
    return f"{size / _MEGABYTE:.1f} MB"


def _ago(when: float) -> str:
    seconds = max(time.time() - when, 0.0)
    for unit, length in (("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit} ago"
    return f"{seconds:.0f} s ago"
