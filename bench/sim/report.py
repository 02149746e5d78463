"""The results as tables, on the terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console

from bench.report import Table, as_markdown, show
from bench.rounds import Spread
from bench.sim.goals import exponent, lines, rate, sooner, spread, unfinished
from bench.sim.plan import COLD, ICARUS, MANY, PEER, WARM
from bench.sim.sides import DONE, LATE, Run

__all__ = ["markdown", "print_report"]

_NAMES = {
    PEER: "da4ml, Verilator",
    COLD: "ours, Verilator, new design",
    WARM: "ours, Verilator, built before",
    ICARUS: "ours, Icarus, new design",
}


def markdown(results: dict[str, Any]) -> str:
    """Return legend and tables as Markdown."""
    return as_markdown(_legend(results), _tables(results))


def print_report(results: dict[str, Any], console: Console) -> None:
    """Print legend and tables on a terminal."""
    show(_legend(results), _tables(results), console)


def _legend(results: dict[str, Any]) -> list[str]:
    machine = results["machine"]
    text = [
        f"{machine['cpu']}, {machine['cores']} cores, load {machine['load']:.1f} before the run; "
        f"Icarus {machine['icarus']}, Verilator {machine['verilator']}, {machine['compiler']}; "
        f"Python {machine['python']}, numpy {machine['numpy']}, da4ml {machine['da4ml']}, "
        f"dais-verif {machine['dais-verif']}.",
        "Every run is a whole process, from a program in a file to a verdict. wall and CPU are seconds, CPU those of "
        "all its children, too; median (least..greatest) of the rounds, or one number where there was one round. "
        "Ours: `dais-verif sim`, Verilator's runtime library built beforehand and not counted; for a new design no "
        "build is kept. da4ml: `VerilogModel.compile` and `predict`, compared with its interpreter, on the same "
        "vectors; it keeps neither a runtime library nor builds, so it starts from nothing each time, and the same "
        "time of it is set against a new design and one that was built before.",
    ]
    text += list(_remarks(results))
    if results["quick"]:
        text.insert(0, "A quick run, which only shows that everything works; its numbers are not results.")
    return text


def _remarks(results: dict[str, Any]) -> Iterator[str]:
    for program in results["programs"]:
        for name, runs in program["runs"].items():
            ending = unfinished(runs)
            if ending and ending != LATE:
                yield f"{program['name']}, {_NAMES.get(name, name)}: {ending}."
        wrong = max((run.get("different", 0) for run in program["runs"][PEER]), default=0)
        if wrong:
            yield f"{program['name']}: da4ml's Verilog and its interpreter disagree in {wrong:,} vectors."
    for shape in results["shapes"]:
        ending = unfinished(shape["runs"])
        if ending and ending != LATE:
            yield f"{shape['name']}, both simulators: {ending}."


def _tables(results: dict[str, Any]) -> list[Table]:
    programs, growth = results["programs"], results["growth"]
    found = []
    if programs:
        found += [_verdicts(results), Table("rate", *_rates(results)), Table("stages", *_stages(programs), 3)]
    found.append(_shapes(results))
    for what, all_runs in (growth or {}).items():
        found.append(_growth(results, what, all_runs))
    goals = [list(line) for line in lines(results)]
    return [*(table for table in found if table.rows), Table("goals", ["goal", "found", ""], goals, 3)]


def _verdicts(results: dict[str, Any]) -> Table:
    header = ["program", "side", "ops", "wall", "CPU", "da4ml takes"]
    rows = []
    for program in results["programs"]:
        for name, words in _NAMES.items():
            runs = program["runs"][name]
            if runs:
                cells = [program["name"], words, f"{program['ops']:,}"]
                rows.append([*cells, *_times(runs, results["limit"]), _ratio(program, name)])
    return Table(f"a verdict on {results['vectors']:,} vectors", header, rows, 2)


def _shapes(results: dict[str, Any]) -> Table:
    header = ["program", "ops", "wall", "CPU", "peak MB", "Icarus: build, run", "Verilator: build, run"]
    rows = []
    for shape in results["shapes"]:
        for run in shape["runs"]:
            cells = [shape["name"], f"{shape['ops']:,}", *_times([run], results["limit"])]
            cells.append(f"{run['peak'] / 1e6:,.0f}" if run["ending"] == DONE else "-")
            for name in ("icarus", "verilator"):
                seconds = [run.get(f"{key} {name}") for key in ("build", "run")]
                cells.append("-" if None in seconds else ", ".join(f"{one:.1f}" for one in seconds))
            rows.append(cells)
    title = f"convolutions and attention, new designs: {results['few']:,} vectors in both simulators"
    return Table(title, header, rows)


def _times(runs: Sequence[Run], limit: float) -> list[str]:
    """Return the texts of wall and CPU time, or the reason why there are none."""
    if unfinished(runs):
        return [f"not finished in {limit:,.0f} s" if unfinished(runs) == LATE else "failed", "-"]
    return [_seconds(spread(runs, "wall")), _seconds(spread(runs, "cpu"))]


def _ratio(program: dict[str, Any], name: str) -> str:
    found = sooner(program["runs"][PEER], program["runs"][name]) if name != PEER else None
    if found is None:
        return "-"
    return "> " * found.at_least + _shown(found.spread, "x")


def _seconds(found: Spread) -> str:
    return _shown(found, "")


def _shown(found: Spread, unit: str) -> str:
    """Return the text of a median with about three digits, and of the spread, if there is one."""
    digits = 0 if found.median >= 100 else 1 if found.median >= 10 else 2
    median = f"{found.median:,.{digits}f}{unit}"
    return median if found.low == found.high else f"{median} ({found.low:,.{digits}f}..{found.high:,.{digits}f})"


def _rates(results: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    header = ["program", "ops", f"{results['many']:,} vectors, wall", "CPU", "vectors a second"]
    rows = []
    for program in results["programs"]:
        runs = program["runs"][MANY]
        if runs:
            cells = [program["name"], f"{program['ops']:,}", *_times(runs, results["limit"])]
            rows.append([*cells, "-" if unfinished(runs) else _shown(rate(runs), "")])
    return header, rows


def _stages(programs: Sequence[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the table of stages in the last round."""
    rows = []
    for program in programs:
        for name, words in {**_NAMES, MANY: "ours, Verilator, most vectors"}.items():
            for run in program["runs"][name][-1:]:
                stages = ", ".join(f"{stage} {seconds:.2f}" for stage, seconds in run["stages"].items())
                if stages:
                    rows.append([program["name"], words, stages])
    return ["program", "side", "seconds in which each stage was at work (they overlap), last round"], rows


def _growth(results: dict[str, Any], what: str, all_runs: dict[str, list[Run]]) -> Table:
    """Return the table of growth, with one row per simulator and size, and the fitted exponent in its last row."""
    fixed = f"{results['few']:,} vectors, new design" if what == "ops" else f"{results['design']:,} ops, built before"
    rows = []
    for simulator, runs in all_runs.items():
        found = exponent(runs, "cpu")
        for run in runs:
            times = _times([run], results["limit"])
            build = f"{run['build']:.2f}" if run["ending"] == DONE else "-"
            last = run is runs[-1] and found is not None
            rows.append([simulator, f"{run['size']:,}", *times, build, f"{found:.2f}" if last else ""])
    header = ["simulator", what, "wall", "CPU", "build, wall", "exponent of CPU"]
    return Table(f"growth with {what}: {fixed}", header, rows)
