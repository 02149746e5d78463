"""``dais-verif regress``: many programs, variants, simulators and seeds as one run."""

from __future__ import annotations

import os
import platform
import secrets
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from dais_verif import __version__
from dais_verif.cli.common import (
    console,
    file_path,
    html_option,
    jobs_option,
    json_option,
    notices,
    reproduce,
    seconds,
    tell_written,
)
from dais_verif.cli.grouped import GroupedCommand
from dais_verif.cli.verb import OutputPath
from dais_verif.errors import InputError, ToolError
from dais_verif.files import make_folder, write_atomically
from dais_verif.regression.manifest import DEFAULT_TIMEOUT, Choices, Part, Simulator, read_manifest, stages_variant
from dais_verif.regression.programs import find

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dais_verif.record.regression import RegressionRecord
    from dais_verif.regression.executors import Executor
    from dais_verif.regression.plan import Planned

__all__ = ["regress"]

_HISTORY = Path("regress", "history.sqlite")


def _shard(context: click.Context, option: click.Parameter, value: str | None) -> tuple[int, int] | None:
    if value is None:
        return None
    number, _, shards = value.partition("/")
    if number.isdecimal() and shards.isdecimal() and 1 <= int(number) <= int(shards) <= 10_000:
        return int(number), int(shards)
    raise click.BadParameter(f"{value} must be like 2/5: the second of five.")


@click.command(cls=GroupedCommand)
@click.argument("paths", nargs=-1, required=True)
@click.option(
    "--sim",
    "simulators",
    type=click.Choice(get_args(Simulator)),
    multiple=True,
    help="Simulator; may be repeated. Default: both of Icarus and Verilator, or GHDL where the RTL is VHDL.",
)
@click.option("--seed", "seeds", type=click.IntRange(0), multiple=True, help="Seed; may be repeated.  [default: 0]")
@click.option("--seed-from", type=file_path, help="Take the seeds of an earlier run: its folder or regression.json.")
@click.option("--fresh-seed", is_flag=True, help="Draw a seed, which is printed and recorded.")
@click.option("--vectors", type=click.IntRange(0), help="Vectors to generate for each job.  [default: 1000]")
@click.option(
    "--stages",
    type=click.IntRange(0),
    multiple=True,
    help="Our RTL with so many pipeline stages, 0: combinational; may be repeated. Manifests say so themselves.",
)
@jobs_option
@click.option("--shard", callback=_shard, metavar="I/N", help="Only the I-th of N shares, for N machines.")
@click.option("--fail-fast/--keep-going", default=False, show_default=True, help="Stop at the first failure.")
@click.option("--resume", is_flag=True, help="Take over what an interrupted run in the same folder had finished.")
@click.option("--rerun-failed", is_flag=True, help="Take over only what passed there, and run the rest again.")
@click.option(
    "--retries",
    type=click.IntRange(0, 100),
    default=1,
    show_default=True,
    help="Further attempts at a job that failed; if they differ, it is flaky.",
)
@click.option("--allow-flaky", is_flag=True, help="A flaky job passes if its last attempt did.")
@click.option("--timeout", type=seconds, help=f"Seconds for each attempt.  [default: {DEFAULT_TIMEOUT:g}]")
@click.option("--cluster", help="Run on Dask: local[:N], tcp://host:port of a scheduler, slurm[:N] or lsf[:N].")
@click.option("--junit", type=OutputPath(b"<?xml"), help="Also write JUnit XML to this file.")
@html_option
@click.option("--github", is_flag=True, help="Also print GitHub annotations, and add to the summary of the step.")
@click.option(
    "-o",
    "--output",
    type=file_path,
    default=Path("dais-verif-regress"),
    show_default=True,
    help="Folder to keep: regression.json, journal.jsonl, and a folder for each job.",
)
@json_option
def regress(
    paths: tuple[str, ...],
    simulators: tuple[str, ...],
    seeds: tuple[int, ...],
    seed_from: Path | None,
    fresh_seed: bool,
    vectors: int | None,
    stages: tuple[int, ...],
    jobs: int | None,
    shard: tuple[int, int] | None,
    fail_fast: bool,
    resume: bool,
    rerun_failed: bool,
    retries: int,
    allow_flaky: bool,
    timeout: float | None,
    cluster: str | None,
    junit: Path | None,
    html: Path | None,
    github: bool,
    output: Path,
    as_json: bool,
) -> int:
    """Run `sim` on all programs of PATHS: files, folders, globs, or TOML manifests (docs/regression.md).

    \b
    dais-verif regress networks/                              every program in the folder and below
    dais-verif regress 'networks/*.bin' --sim verilator --seed 0 --seed 1
    dais-verif regress regress.toml --vectors 10000           programs x variants x simulators x seeds
    dais-verif regress networks/ --rerun-failed               what did not pass last time
    dais-verif regress networks/ --resume                     carry on after an interruption
    dais-verif regress networks/ --shard 2/5                  the second of five shares, for CI
    dais-verif regress networks/ --cluster slurm:20           on 20 workers in the queue of a farm
    dais-verif regress networks/ --junit junit.xml --github --html regress.html

    What failed last time runs first. PASS only if every planned job ran and passed; else the verdict of the worst.
    """
    if sum((bool(seeds), seed_from is not None, fresh_seed)) > 1:
        raise click.UsageError("--seed, --seed-from and --fresh-seed exclude each other.")
    if resume and rerun_failed:
        raise click.UsageError("--resume takes over what failed, too, and --rerun-failed does not: give one of them.")
    for file in (junit, html):
        if file is not None and not file.absolute().parent.is_dir():
            raise InputError(f"{str(file)!r} cannot be written: there is no such folder")
    if cluster is not None:
        from dais_verif.regression.cluster import check_name

        check_name(cluster)
    if seed_from is not None:
        seeds = _seeds_of(seed_from)
    if fresh_seed:
        seeds = (secrets.randbelow(1 << 32),)
        notices().print(f"seed {seeds[0]}", markup=False)
    from dais_verif.golden.fast import threads
    from dais_verif.regression.history import History
    from dais_verif.regression.plan import Defaults, make_plan, shard_of
    from dais_verif.regression.runner import Settings, run_jobs
    from dais_verif.toolchain.tools import cache_dir

    parts, warnings = _parts(paths, stages)
    given = Choices(simulators or None, seeds or None, vectors, timeout)
    plan = make_plan(parts, given, Defaults())
    if shard is not None:
        plan = shard_of(plan, *shard)
    for warning in warnings:
        notices().print(f"warning: {warning}", markup=False)
    at_once = threads(jobs)
    settings = Settings(
        folder=output.absolute(),
        cwd=Path.cwd(),
        reproduce=reproduce(),
        tools=_tools(plan),
        take_over="all" if resume else "passed" if rerun_failed else "none",
        fail_fast=fail_fast,
        retries=retries,
        allow_flaky=allow_flaky,
        threads=1 if cluster else max(len(os.sched_getaffinity(0)) // at_once, 1),
        shard=None if shard is None else f"{shard[0]}/{shard[1]}",
        cluster=cluster,
        warnings=warnings,
        env={name: value for name, value in os.environ.items() if name.startswith("DAIS_VERIF_")} if cluster else {},
    )
    from dais_verif.cli.regress_display import RegressDisplay

    workers = min(at_once, max(len(plan), 1))
    with _locked(output), RegressDisplay(notices()) as display, closing(_executor(cluster, workers)) as executor:
        record = run_jobs(plan, executor, settings, History(cache_dir() / _HISTORY), display)
    _render(record, output, junit, html, github, as_json)
    return record.verdict.exit_code


def _parts(paths: Iterable[str], stages: Sequence[int]) -> tuple[list[Part], list[str]]:
    """What ``paths`` ask for, and which of them ask for nothing."""
    parts: list[Part] = []
    empty: list[str] = []
    for path in paths:
        if path.endswith(".toml"):
            more, none = read_manifest(Path(path))
            parts, empty = [*parts, *more], [*empty, *none]
            continue
        programs = find(path)
        empty += [] if programs else [f"{path!r} holds no program"]
        parts += [Part(program, stages_variant(n)) for program in programs for n in stages or (0,)]
    return parts, empty


def _seeds_of(path: Path) -> tuple[int, ...]:
    from dais_verif.record.read import read_record
    from dais_verif.record.regression import RegressionRecord

    record = read_record(path)
    if not isinstance(record, RegressionRecord) or not record.jobs:
        raise InputError(f"--seed-from {str(path)!r}: must be a regression with jobs, its folder or regression.json")
    return tuple(sorted({result.job.seed for result in record.jobs}))


def _executor(cluster: str | None, jobs: int) -> Executor:
    from dais_verif.regression.executors import Local

    if cluster is None:
        return Local(jobs)
    from dais_verif.regression.cluster import Cluster

    with notices().status(f"connecting to {cluster}"):
        return Cluster(cluster, jobs)


def _tools(plan: Iterable[Planned]) -> dict[str, str]:
    """Versions of all that decides results; a simulator that is missing here may be there on a cluster."""
    from importlib.metadata import version

    from dais_verif.toolchain import tools

    found = {"dais-verif": __version__, "python": platform.python_version()}
    found |= {name: version(name) for name in ("cocotb", "numpy")}
    asked = {planned.job.simulator for planned in plan}
    versions: dict[str, Callable[[], str]] = {
        "icarus": lambda: tools.icarus().version,
        "verilator": lambda: tools.verilator().version,
        "ghdl": lambda: tools.ghdl().version,
    }
    for name, version_of in versions.items():
        if name in asked or ("both" in asked and name != "ghdl"):
            try:
                found[name] = version_of()
            except ToolError:
                found[name] = "none"
    return found


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    from filelock import FileLock, Timeout

    make_folder(folder)
    try:
        with FileLock(folder / ".lock", timeout=0):
            yield
    except Timeout:
        raise InputError(f"{str(folder)!r} is in use by another run; choose another folder with -o") from None


def _render(
    record: RegressionRecord, output: Path, junit: Path | None, html: Path | None, github: bool, as_json: bool
) -> None:
    if as_json:
        click.echo(record.to_json())
    else:
        from dais_verif.report.regression_text import print_regression

        out = console()
        print_regression(record, out)
        out.print(f"files      {output}", markup=False)
    if github:
        from dais_verif.report.github import append_summary, commands_of, summary_of

        click.echo(commands_of(record), err=as_json, nl=False)
        append_summary(summary_of(record), os.environ)
    if junit is not None:
        from dais_verif.report.junit import junit_of

        write_atomically(junit, junit_of(record))
    if html is not None:
        from dais_verif.regression.runner import NAME
        from dais_verif.report.html import Source, write_report

        write_report([Source(record, output / NAME)], None, html)
        tell_written(html, "the record as a page")
