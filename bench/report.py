"""The results as tables: on the terminal, and as Markdown for docs/developers/internals.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table as RichTable

from bench.goals import copy_share, lines, ratio_of, times
from bench.rounds import Spread, ratio

__all__ = ["Table", "as_markdown", "markdown", "print_report", "show"]


class Table(NamedTuple):
    """A table of text; the first ``left`` columns are left-aligned."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1


def tables(results: dict[str, Any]) -> list[Table]:
    """Return the tables: programs, other comparisons, goals."""
    forced = [isa for isa in results["isas"] if isa != "auto"]
    header = ["program", "ops", "da4ml ns", "integers", "doubles", "of copy", "checked", "two threads", "one sample"]
    programs = [_program(program, forced) for program in results["programs"]]
    first = Table(f"{results['samples']:,} samples", [*header, *forced], programs)
    goals = [(line.goal, line.found, "met" if line.met else "NOT MET") for line in lines(results)]
    return [first, *_of_peers(results), Table("goals", ["goal", "found", ""], goals, 3)]


def _of_peers(results: dict[str, Any]) -> list[Table]:
    """Return the table of the comparison with alkaid, and the table of input types."""
    rows = []
    for program in results["programs"]:
        found = program["throughput"]["auto"]
        times_a_sample = [Spread.of(found["seconds"][side]).median / found["rows"] * 1e9 for side in ("peer", "alkaid")]
        rows.append(
            [
                program["name"],
                f"{program['ops']:,}",
                f"{times_a_sample[1]:,.0f}",
                f"{times_a_sample[0] / times_a_sample[1]:.1f}x",
                *(times(ratio_of(found, kind, "alkaid")) for kind in ("integers", "doubles", "plain", "checked")),
            ]
        )
    header = ["program", "ops", "alkaid ns", "alkaid over da4ml", "integers", "doubles", "plain call", "checked"]
    return [Table("compared with alkaid", header, rows), _formats(results["formats"])]


def _formats(found: dict[str, Any]) -> Table:
    rows = []
    for name, size in found["bytes"].items():
        spent, copying = (Spread.of(found["seconds"][key]).median for key in (name, f"copying for {name}"))
        share = ratio(found["seconds"][f"copying for {name}"], found["seconds"][name])
        each = [f"{spent / found['rows'] * 1e9:.0f}", f"{size / found['rows']:,.0f}"]
        rows.append([name, *each, f"{size / spent / 1e9:.1f}", f"{size / copying / 1e9:.1f}", f"{share.median:.0%}"])
    header = ["inputs", "ns per sample", "bytes per sample", "GB/s", "copying, GB/s", "of copying"]
    return Table(f"{found['inputs']} inputs and outputs, {found['ops']:,} ops", header, rows)


def _program(program: dict[str, Any], forced: Sequence[str]) -> list[str]:
    found, pair = program["throughput"]["auto"], program["threads"]["seconds"]
    peer = Spread.of(found["seconds"]["peer"]).median / found["rows"] * 1e9
    return [
        program["name"],
        f"{program['ops']:,}",
        f"{peer:,.0f}",
        times(ratio_of(found, "integers")),
        times(ratio_of(found, "doubles")),
        f"{copy_share(found).median:.0%}",
        times(ratio_of(found, "checked")),
        times(ratio(pair["integers 1"], pair["integers 2"])),
        times(ratio_of(program["single"], "doubles")),
        *(times(ratio_of(program["throughput"][isa], "integers")) for isa in forced),
    ]


def legend(results: dict[str, Any]) -> list[str]:
    """Return paragraphs on the run and on the columns of the tables."""
    machine = results["machine"]
    text = [
        f"{machine['cpu']}, {machine['cores']} cores, instructions {machine['isa']}; Python {machine['python']}, "
        f"numpy {machine['numpy']}, da4ml {machine['da4ml']}, alkaid {machine['alkaid']}, "
        f"dais-verif {machine['dais-verif']}, engine {results['engine']}. "
        f"Load average at the start: {machine['load']:.1f}.",
        f"The bench ran {results['rounds']} rounds. In each round, the C++ interpreters of da4ml and alkaid and our "
        "engine ran alternately on the same values. A ratio compares two times of the same round, and is shown as "
        "median (least..greatest). Times are CPU times, except with two threads. All outputs were compared beforehand.",
        "da4ml ns: da4ml's time per sample on one thread. integers, doubles, checked: how many times as fast our "
        "engine is on one thread, writing to an existing array, for planar integers, float64 rows, and integers with "
        "promises checked (da4ml checks none). "
        "of copy: the bytes per second that the call with doubles reads and writes, relative to numpy copying one "
        "warm buffer to another, where each buffer is half as large as inputs and outputs together. two threads: our "
        "engine with two threads relative to one, integers. one sample: a call with a single sample, doubles. "
        "plain call: dais_verif.run on float64 rows, which allocates its outputs, as alkaid does."
        + (" Last columns: integers, with that instruction set forced." if len(results["isas"]) > 1 else ""),
    ]
    text += [f"{program['name']}: {words}." for program in results["programs"] for words in _doubts(program)]
    if results["quick"]:
        text.insert(0, "A quick run, which only shows that everything works; its numbers are not results.")
    return text


def _doubts(program: dict[str, Any]) -> set[str]:
    """Return the remarks about outputs that differ from the peer's."""
    found = [*program["throughput"].values(), program["single"]]
    return {words for one in found for words in one["verified"].values() if "wrong" in words}


def markdown(results: dict[str, Any]) -> str:
    """Return legend and tables as Markdown."""
    return as_markdown(legend(results), tables(results))


def print_report(results: dict[str, Any], console: Console) -> None:
    """Print legend and tables on a terminal."""
    show(legend(results), tables(results), console)


def as_markdown(texts: Sequence[str], tables: Sequence[Table]) -> str:
    """Return paragraphs and tables as Markdown."""
    parts = ["\n".join(f"{text}\n" for text in texts)]
    for table in tables:
        rule = ["---" if n < table.left else "---:" for n in range(len(table.header))]
        cells = [table.header, rule, *table.rows]
        parts.append("\n".join(f"| {' | '.join(row)} |" for row in cells) + "\n")
    return "\n".join(parts)


def show(texts: Sequence[str], tables: Sequence[Table], console: Console) -> None:
    """Print paragraphs and tables on a terminal."""
    for text in texts:
        console.print(text, markup=False)
    for table in tables:
        shown = RichTable(title=table.title, box=None, title_justify="left")
        for n, name in enumerate(table.header):
            shown.add_column(name, justify="left" if n < table.left else "right")
        for row in table.rows:
            shown.add_row(*row)
        console.print(shown)
