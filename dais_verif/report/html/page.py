"""The page: one self-contained HTML file that fetches nothing and runs only its own script."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
from markupsafe import Markup

from dais_verif.base import text as counts
from dais_verif.base.errors import RecordError
from dais_verif.base.files import write_atomically
from dais_verif.base.text import printable
from dais_verif.base.verdict import Verdict
from dais_verif.base.version import VERSION
from dais_verif.record.campaigns import JobResult, RegressionRecord, failures_first
from dais_verif.record.coverage import Coverage, CoverageRecord
from dais_verif.record.program import MACHINE_LAYOUTS
from dais_verif.record.proof import ProofRecord
from dais_verif.record.simulation import Mismatch, SimulationRecord
from dais_verif.report.html.evidence import GRADES, designs_of, output_rows
from dais_verif.report.html.kernels import picture_beside, template_facts
from dais_verif.report.html.machines.view import view_of
from dais_verif.report.html.program_view import facts_of, view_data
from dais_verif.report.html.sources import Document, Source, program_of, with_stages
from dais_verif.report.html.trend import charts_of, runs_of, split_of
from dais_verif.report.html.verdicts import Standing, limits_of, overall, standing_of
from dais_verif.report.verdict_words import stage_word
from dais_verif.spec.machine import Machine
from dais_verif.spec.program import Program

__all__ = ["fragment", "render", "render_template", "write_report"]

#: The scripts of a page, in the order in which they run.
_PAGE_SCRIPTS = ("page.js",)
_VIEW_SCRIPTS = ("graph.js", "canvas.js", "ops.js", "view.js")

#: The most ops that a page shows: with more, it would exceed some ten megabytes and take many seconds to open.
_MOST_OPS = 200_000


def write_report(
    records: Iterable[Document | Source],
    program: Program | Machine | None,
    path: str | Path,
    history: Iterable[Source] = (),
) -> Standing:
    """Write the page of ``records``, all of one program or regression, to ``path``. Returns its headline.

    ``program``: a program to show, which must be the program in the records. ``history``: its earlier runs. A
    ``Source`` is a record with its file, which the page links to. Raises ``InputError``.
    """
    path = Path(path)
    sources = [record if isinstance(record, Source) else Source(record) for record in records]
    text = render(sources, program, tuple(history), path.parent)
    # A file name may hold bytes that are not UTF-8; Python keeps them as lone surrogates.
    write_atomically(path, text.encode("utf-8", "backslashreplace"))
    return overall(sources)


def render(
    sources: Sequence[Source],
    program: Program | Machine | None = None,
    history: Sequence[Source] = (),
    folder: str | Path = "",
) -> str:
    """Return the page as text. ``folder``: its location, for relative links. Raises ``InputError``."""
    folder = Path(folder)
    if not sources:
        raise RecordError("a report needs at least one record")
    regressions = [source for source in sources if isinstance(source.document, RegressionRecord)]
    if regressions and len(sources) > 1:
        raise RecordError("a regression has a page of its own; give its record alone")
    if regressions:
        return _regression_page(regressions[0], folder)
    return _program_page(sources, program, history, folder)


def _program_page(
    sources: Sequence[Source], subject: Program | Machine | None, history: Sequence[Source], folder: Path
) -> str:
    program, machine = (None, subject) if isinstance(subject, Machine) else (subject, None)
    infos = [info for source in sources if (info := program_of(source.document)) is not None]
    hashes = list(dict.fromkeys(info.hash for info in infos))
    if len(hashes) > 1:
        raise RecordError(
            f"the records are of {len(hashes)} programs ({', '.join(found[:12] for found in hashes)});"
            " a report covers one program: give the records of one program"
        )
    if program is not None and program.hash != hashes[0]:
        raise RecordError(
            f"the program has the hash {program.hash[:12]}, the records are of {hashes[0][:12]};"
            " give the program that was verified"
        )
    if machine is not None and machine.hash != hashes[0]:
        raise RecordError("the machine is not the one in the records; give the machine that was verified")
    standing = overall(sources)
    found = with_stages(sources)
    documents = [source.document for source in found]
    proof = next((document for document in documents if isinstance(document, ProofRecord)), None)
    counted = _counted(found)
    coverage = counted[1] if counted is not None else None
    if program is not None and coverage is not None and len(coverage.ops) != program.n_ops:
        raise RecordError(f"the coverage counts {len(coverage.ops)} ops, the program has {program.n_ops}")
    designs = designs_of(sources)
    rows = output_rows(sources, designs, program, coverage)
    mismatches = [(source, mismatch) for source in found if (mismatch := _mismatch_of(source.document)) is not None]
    blamed = [m.blame.op for _, m in mismatches if m.blame is not None and m.blame.op is not None]
    viewed = program if program is not None and program.n_ops <= _MOST_OPS else None
    runs = runs_of(found, history)
    timed = [(source, split) for source in found if (split := split_of(source.document)) is not None]
    return render_template(
        "program.html",
        folder,
        _PAGE_SCRIPTS + (_VIEW_SCRIPTS if viewed is not None else ()),
        standing=standing,
        limits=limits_of(sources),
        sources=found,
        info=infos[0],
        program=program,
        machine=view_of(machine) if machine is not None else None,
        of_machine=infos[0].layout in MACHINE_LAYOUTS,
        facts=facts_of(program) if program is not None else None,
        designs=designs,
        rows=rows,
        grade_counts=[Counter(row.grades[at].grade for row in rows) for at in range(len(designs))],
        mismatches=mismatches,
        coverage=coverage,
        counted_by=counted[0] if counted is not None else None,
        timed=timed,
        runs=runs,
        charts=charts_of(runs),
        view=view_data(viewed, coverage, proof, rows, blamed) if viewed is not None else None,
        most_ops=_MOST_OPS,
        **template_facts(picture_beside(machine)),
    )


def _counted(sources: Sequence[Source]) -> tuple[Source, Coverage] | None:
    """Return the coverage to show and its source: a run takes precedence over a separate coverage count."""
    found = [
        (source, coverage)
        for source in sources
        if not isinstance(source.document, ProofRecord | RegressionRecord) and (coverage := source.document.coverage)
    ]
    return min(found, key=lambda pair: isinstance(pair[0].document, CoverageRecord), default=None)


def _mismatch_of(document: Document) -> Mismatch | None:
    if isinstance(document, SimulationRecord):
        return document.first_mismatch
    if isinstance(document, ProofRecord) and document.counterexample is not None:
        replay = document.counterexample.replay
        return replay.first_mismatch if replay is not None else None
    return None


def _regression_page(source: Source, folder: Path) -> str:
    regression = source.document
    assert isinstance(regression, RegressionRecord)
    jobs = failures_first(regression.jobs)
    return render_template(
        "regression.html",
        folder,
        _PAGE_SCRIPTS,
        standing=standing_of(regression),
        source=source,
        regression=regression,
        jobs=jobs,
        counts=Counter(job.verdict for job in jobs),
        matrix=_matrix(jobs),
        root=source.path.parent if source.path is not None else None,
    )


def _matrix(jobs: Sequence[JobResult]) -> dict[str, dict[str, list[JobResult]]]:
    """Return the jobs by program, in the order of each program's first job, and by variant and simulator."""
    columns = sorted({f"{job.job.variant}, {job.job.simulator}" for job in jobs})
    found: dict[str, dict[str, list[JobResult]]] = {}
    for job in jobs:
        cells = found.setdefault(job.job.program, {column: [] for column in columns})
        cells[f"{job.job.variant}, {job.job.simulator}"].append(job)
    return found


# templates


def render_template(name: str, folder: Path, scripts: Sequence[str] = _PAGE_SCRIPTS, **facts: Any) -> str:
    """Render the template ``name`` with ``facts``. ``folder``: the location of the page."""
    style, script = _file("style.css"), "".join(map(_file, scripts))
    policy = f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; img-src data:"
    return (
        _environment()
        .get_template(name)
        .render(
            **facts,
            style=Markup(style),
            script=Markup(script),
            policy=Markup(f"{policy}; base-uri 'none'; form-action 'none'"),
            version=VERSION,
            link=lambda path: _link(path, folder),
        )
    )


def fragment(name: str, **facts: object) -> str:
    """Return the template ``name``, a part of a page, with the style for parts and without a script."""
    return _environment().get_template(name).render(**facts, style=Markup(_file("notebook.css")))


def _hash(text: str) -> str:
    """Return the source expression with which a content security policy allows exactly this inline script or style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _link(path: Path | None, folder: Path) -> str | None:
    """Return the link to ``path`` if it exists. The whole link is quoted, so that no name can contain a URL scheme."""
    if path is None or not path.exists():
        return None
    try:
        relative = os.path.relpath(path.resolve(), folder.resolve())
    except ValueError:
        return None
    return "./" + quote(os.fsencode(relative), safe="/")


@cache
def _file(name: str) -> str:
    return files("dais_verif.report.html").joinpath("templates", name).read_text(encoding="utf-8")


def _shown(value: object) -> object:
    """Return ``value`` for a template, with control characters in foreign text escaped."""
    return printable(value) if type(value) is str else value


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_file),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    environment.filters |= {
        "count": _count,
        "counted": _with_noun,
        "seconds": _seconds,
        "differing": _differing,
        "tone": _tone,
        "pretty": _pretty,
        "moment": _moment,
    }
    environment.globals |= {
        "GRADES": GRADES,
        "Verdict": Verdict,
        "stage_word": stage_word,
        "standing_of": standing_of,
        "is_run": lambda document: isinstance(document, SimulationRecord),
        "is_proof": lambda document: isinstance(document, ProofRecord),
    }
    return environment


def _pretty(tree: Any) -> Markup:
    lines = json.dumps(tree, indent=2, ensure_ascii=False).split("\n")
    return Markup("\n").join(map(Markup.escape, map(printable, lines)))


def _count(number: int) -> str:
    """Return the number with separators: ``12,345``."""
    return f"{number:,}"


def _with_noun(number: int, noun: str, plural: str | None = None) -> str:
    """Return the number with separators and a noun: ``12,345 ops``."""
    return _count(number) + counts.counted(number, noun, plural).removeprefix(str(number))


def _seconds(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def _moment(started: str) -> str:
    """Return a time in UTC in readable form; other text is returned unchanged."""
    try:
        moment = datetime.fromisoformat(started.replace("Z", "+00:00")).astimezone(UTC)
    except (ValueError, OverflowError):
        return started
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def _differing(bits: str, other: str) -> list[tuple[str, bool]]:
    """Split ``bits`` into runs that equal ``other``, and runs that differ; both have the same length."""
    runs: list[tuple[str, bool]] = []
    for bit, beside in zip(bits, other.ljust(len(bits)), strict=False):
        if runs and runs[-1][1] == (bit != beside):
            runs[-1] = runs[-1][0] + bit, runs[-1][1]
        else:
            runs.append((bit, bit != beside))
    return runs


def _tone(verdict: Verdict) -> str:
    """Return the tone of a verdict: good, bad or open."""
    if verdict is Verdict.PASS:
        return "good"
    return "open" if verdict in (Verdict.UNKNOWN, Verdict.NOT_RUN, Verdict.INTERRUPTED) else "bad"
