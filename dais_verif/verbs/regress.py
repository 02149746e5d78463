"""Simulate many programs, variants, simulators and seeds as one run: here, or on a cluster."""

from __future__ import annotations

import os
import platform
import secrets
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import ClassVar, get_args

from dais_verif.base.errors import RegressionError, RequestError, ToolError
from dais_verif.base.toolchain import tools
from dais_verif.base.toolchain.tools import cache_dir
from dais_verif.base.version import VERSION
from dais_verif.campaigns.regression import cluster, executors
from dais_verif.campaigns.regression.journal import History, Past
from dais_verif.campaigns.regression.plan import (
    DEFAULT_TIMEOUT,
    Choices,
    Defaults,
    Part,
    Planned,
    make_plan,
    shard_of,
)
from dais_verif.campaigns.regression.programs import find
from dais_verif.campaigns.regression.runner import Settings, run_jobs
from dais_verif.golden.fast import threads
from dais_verif.record.campaigns import RegressionRecord
from dais_verif.record.read import read_record
from dais_verif.subject.run_inputs import digest_of_tools
from dais_verif.verbs import common_options as common
from dais_verif.verbs.manifest import Simulator, gaps, plain_variant, read_manifest, stages_variant
from dais_verif.verbs.options import Request, option
from dais_verif.verbs.progress import SILENT, Progress
from dais_verif.verbs.work_folder import locked

__all__ = ["DEFAULT_FOLDER", "DEFAULT_TIMEOUT", "SIMULATORS", "Past", "RegressionRequest", "regress", "shard_from"]

SIMULATORS: tuple[str, ...] = get_args(Simulator)

#: The folder of a regression, if none is named.
DEFAULT_FOLDER = Path("dais-verif-regress")

_HISTORY = Path("regress", "history.sqlite")
_MOST_SHARDS = 10_000


def shard_from(text: str) -> tuple[int, int]:
    """Parse a share such as ``2/5``. Raises ``ValueError`` for other texts."""
    number, _, shards = text.partition("/")
    if number.isdecimal() and shards.isdecimal() and 1 <= int(number) <= int(shards) <= _MOST_SHARDS:
        return int(number), int(shards)
    raise ValueError(f"{text} must be like 2/5: the second of five.")


@dataclass(frozen=True, kw_only=True)
class RegressionRequest(Request):
    """Simulations to run. Fields that are empty or None follow the manifests, or else the defaults of ``regress``.

    ``paths``: programs, folders, globs, or TOML manifests.
    """

    verb: ClassVar[str] = "regress"

    paths: tuple[str, ...]
    simulators: tuple[str, ...] = option(
        (),
        "Simulator; may be repeated. Default: both of Icarus and Verilator, or GHDL where the RTL is VHDL.",
        group="Simulators",
        name="sim",
        keyword="simulators",
        choices=SIMULATORS,
    )
    seeds: tuple[int, ...] = option(
        (), "Seed; may be repeated.  [default: 0]", group="Vectors", name="seed", keyword="seeds", least=0
    )
    seed_from: Path | None = option(
        None, "Use the seeds of an earlier run: its folder or regression.json.", group="Vectors", rare=True
    )
    fresh_seed: bool = option(False, "Draw a random seed, which is printed and recorded.", group="Vectors", rare=True)
    vectors: int | None = common.vectors(None, "Vectors to generate for each job.  [default: 1000]")
    stages: tuple[int, ...] = option(
        (),
        "Number of pipeline stages of the emitted RTL, 0: combinational; may be repeated. Manifests have a key for it.",
        group="Clocks and pipelines",
        least=0,
    )
    jobs: int | None = common.jobs()
    shard: tuple[int, int] | None = option(
        None,
        "Only share I of N (N machines).",
        group="Runs",
        metavar="I/N",
        parse=shard_from,
        show=lambda shard: f"{shard[0]}/{shard[1]}",
        take=lambda shard: tuple(shard) if isinstance(shard, list) else shard,
    )
    fail_fast: bool = option(False, "Stop at the first failure.", group="Runs", off="keep-going")
    resume: bool = option(False, "Reuse the finished jobs of an interrupted run in the same folder.", group="Runs")
    rerun_failed: bool = option(False, "Reuse only the jobs that passed there, and run the others again.", group="Runs")
    retries: int = option(
        1,
        "Further attempts at a failed job; if results differ, it is flaky.",
        group="Runs",
        rare=True,
        least=0,
        most=100,
    )
    allow_flaky: bool = option(False, "A flaky job passes if its last attempt did.", group="Runs", rare=True)
    timeout: float | None = common.timeout(
        None, f"Time limit for each attempt, in seconds.  [default: {DEFAULT_TIMEOUT:g}]"
    )
    cluster: str | None = common.cluster("Run")
    output: Path = common.output(
        "Folder to keep: regression.json, journal.jsonl, and a folder for each job.", DEFAULT_FOLDER
    )

    def require(self) -> None:
        """Raise ``RequestError`` if options contradict each other."""
        if not self.paths:
            raise RequestError.of("{paths} must name programs, folders, globs or manifests.")
        if sum((bool(self.seeds), self.seed_from is not None, self.fresh_seed)) > 1:
            raise RequestError.of("{seeds}, {seed_from} and {fresh_seed} exclude each other.")
        if self.resume and self.rerun_failed:
            raise RequestError.of("{resume} also reuses failed jobs, and {rerun_failed} does not: give only one.")
        if self.shard is not None and not 1 <= self.shard[0] <= self.shard[1] <= _MOST_SHARDS:
            raise RequestError.of(
                "{shard} {part}/{parts} must be like 2/5: the second of five.", part=self.shard[0], parts=self.shard[1]
            )

    def arguments(self) -> list[str]:
        """Return the words before the options."""
        return [*self.paths]

    @property
    def _shard(self) -> str | None:
        return None if self.shard is None else f"{self.shard[0]}/{self.shard[1]}"


def regress(request: RegressionRequest, *, progress: Progress = SILENT) -> RegressionRecord:
    """Run ``sim`` for all requested jobs, each in a separate process; jobs that failed last time run first.

    Verdicts: PASS only if every planned job ran and passed, else the worst verdict; NOT_RUN if something requested is
    missing. Raises ``InputError`` if the request cannot be used, or another run works in the folder.
    """
    if request.cluster is not None:
        cluster.check_name(request.cluster)
    seeds = _seeds(request, progress)
    parts, warnings = _parts(request.paths, request.stages)
    given = Choices(request.simulators or None, seeds or None, request.vectors, request.timeout)
    plan = make_plan(parts, given, Defaults())
    if request.shard is not None:
        plan = shard_of(plan, *request.shard)
    for warning in warnings:
        progress.warning(warning)
    at_once = threads(request.jobs)
    settings = Settings(
        folder=request.output.absolute(),
        cwd=Path.cwd(),
        reproduce=request.reproduce(),
        tools=_tools(plan),
        made_by=digest_of_tools(_behind(plan)),
        take_over="all" if request.resume else "passed" if request.rerun_failed else "none",
        fail_fast=request.fail_fast,
        retries=request.retries,
        allow_flaky=request.allow_flaky,
        threads=1 if request.cluster else max(len(os.sched_getaffinity(0)) // at_once, 1),
        shard=request._shard,
        cluster=request.cluster,
        warnings=warnings,
        env=_environment() if request.cluster else {},
        jointly=not request.fail_fast,  # jobs that share a build are reported together
    )
    workers = min(at_once, max(len(plan), 1))
    with locked(request.output), closing(_executor(request.cluster, workers, progress)) as executor:
        return run_jobs(plan, executor, settings, History(cache_dir() / _HISTORY), progress)


def _seeds(request: RegressionRequest, progress: Progress) -> tuple[int, ...]:
    if request.fresh_seed:
        seed = secrets.randbelow(1 << 32)
        progress.notice(f"seed {seed}")
        return (seed,)
    if request.seed_from is None:
        return request.seeds
    record = read_record(request.seed_from)
    if not isinstance(record, RegressionRecord) or not record.jobs:
        raise RegressionError.of(
            "{seed_from} {name!r}: must be a regression with jobs, its folder or regression.json",
            name=str(request.seed_from),
        )
    return tuple(sorted({result.job.seed for result in record.jobs}))


def _parts(paths: Iterable[str], stages: Sequence[int]) -> tuple[list[Part], list[str]]:
    """Return the parts that ``paths`` name, and warnings about what they name and no job verifies."""
    parts: list[Part] = []
    empty: list[str] = []
    for path in paths:
        if path.endswith(".toml"):
            more, none = read_manifest(Path(path))
            parts, empty = [*parts, *more], [*empty, *none]
            continue
        search = find(path)
        empty += gaps(path, search, plain=not stages)
        for program in search.found:
            variants = [stages_variant(n) for n in stages] or [plain_variant(program)]
            parts += [Part(program, variant) for variant in variants]
    return parts, empty


def _executor(name: str | None, jobs: int, progress: Progress) -> executors.Executor:
    if name is None:
        return executors.Local(jobs)
    with progress.working(f"connecting to {name}"):
        return cluster.Cluster(name, jobs)


def _environment() -> dict[str, str]:
    """Return the environment variables that a remote worker needs."""
    return {name: value for name, value in os.environ.items() if name.startswith("DAIS_VERIF_")}


def _behind(plan: Iterable[Planned]) -> list[str]:
    """Return the names of the tools that the simulators of ``plan`` use."""
    used = {"icarus": ["icarus"], "verilator": ["verilator", "g++"], "ghdl": ["ghdl"]}
    used["both"] = [*used["icarus"], *used["verilator"]]
    return sorted({name for planned in plan for name in used[planned.job.simulator]})


def _tools(plan: Iterable[Planned]) -> dict[str, str]:
    """Return the versions of tools that influence results; ``none`` for a tool that only a cluster may have."""
    found = {"dais-verif": VERSION, "python": platform.python_version()}
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
