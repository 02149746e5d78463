"""Plan a regression before it runs: its jobs, their order, and shares of them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dais_verif.base.errors import RegressionError
from dais_verif.base.version import VERSION
from dais_verif.campaigns.regression.journal import Past
from dais_verif.campaigns.regression.programs import Found, names_of
from dais_verif.record.campaigns import Job
from dais_verif.subject.run_inputs import digests_of_job

__all__ = [
    "DEFAULT_TIMEOUT",
    "Choices",
    "Defaults",
    "Part",
    "Planned",
    "Variant",
    "grouped",
    "in_order",
    "make_plan",
    "shard_of",
]

_LONGEST_FOLDER = 100


#: Limits for jobs that share a build: the size of a program in bytes, and the permitted options and simulators.
_SMALL = 1 << 18
_PLAIN = {"--sim", "--seed", "--vectors", "--rtl", "--top", "--inputs"}
_SHARED = ("icarus", "verilator", "both")
#: The largest number of jobs that share a build, and the size of their programs in bytes: larger groups save nothing
#: more, and lose more if one job breaks the build.
_MOST_TOGETHER, _MOST_BYTES_TOGETHER = 128, 1 << 18


DEFAULT_TIMEOUT = 1800.0


@dataclass(frozen=True)
class Choices:
    """Settings for all variants or for one; None if not given."""

    simulators: tuple[str, ...] | None = None
    seeds: tuple[int, ...] | None = None
    vectors: int | None = None
    timeout: float | None = None

    def over(self, other: Choices) -> Choices:
        """Return these choices, completed by those of ``other``."""
        said = {name: value for name, value in vars(self).items() if value is not None}
        return replace(other, **said)


@dataclass(frozen=True)
class Variant:
    """A design under test for one program. ``files``: its source files.

    ``options``: options for ``sim``, as Python gives them; ``arguments``: the same as words of a command line.
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    vhdl: bool = False


@dataclass(frozen=True)
class Part:
    """A program in one variant, and how to run it."""

    program: Found
    variant: Variant
    choices: Choices = field(default_factory=Choices)


@dataclass(frozen=True)
class Defaults:
    """Defaults where neither the command nor a manifest sets a value."""

    seeds: tuple[int, ...] = (0,)
    vectors: int = 1000
    timeout: float = DEFAULT_TIMEOUT


@dataclass(frozen=True)
class Planned:
    """A job, with its time limit in seconds, its folder's name, and the files that determine its result.

    ``options``: those of ``sim``, as Python gives them.
    """

    job: Job
    timeout: float
    folder: str
    files: tuple[Path, ...]
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def past_key(self) -> str:
        """The key in the history: the program's path and the name of the job."""
        return f"{os.path.realpath(self.job.program)}\n{self.job.id}"

    def fingerprint(self, options: Sequence[object], tools: Mapping[str, str], cwd: Path) -> str:
        """Return the hash of everything that determines the job's result.

        ``options``: settings for judging the job, such as the number of attempts. ``cwd``: the folder of the process.
        """
        facts: list[object] = [self.job.id, self.job.arguments, self.timeout, [*options], dict(tools), VERSION]
        facts += digests_of_job(Path(self.job.program), self.job.arguments, self.files, cwd)
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def make_plan(parts: Sequence[Part], given: Choices, defaults: Defaults) -> list[Planned]:
    """Return the jobs of ``parts``; the choices ``given`` override theirs. Equal jobs are planned once.

    Raises ``InputError`` if two different jobs would have the same name.
    """
    names = names_of(part.program for part in parts)
    plan: dict[str, Planned] = {}
    for part in parts:
        program, variant, choices = part.program.path, part.variant, given.over(part.choices)
        name = _text(names[Path(os.path.realpath(program))])
        vectors = defaults.vectors if choices.vectors is None else choices.vectors
        for simulator in choices.simulators or (("ghdl",) if variant.vhdl else ("both",)):
            for seed in choices.seeds or defaults.seeds:
                options = ("--sim", simulator, "--seed", str(seed), "--vectors", str(vectors))
                job = Job(
                    f"{name}/{variant.name}/{simulator}/{seed}",
                    _text(_no_option(str(program))),
                    variant.name,
                    simulator,
                    seed,
                    [*options, *map(_text, variant.arguments)],
                )
                asked = {"simulators": simulator, "seed": seed, "vectors": vectors, **variant.options}
                planned = Planned(job, choices.timeout or defaults.timeout, _folder(job.id), variant.files, asked)
                first = plan.setdefault(job.id, planned)
                if replace(first, job=replace(first.job, program=job.program)) != planned:
                    both = f"{' '.join(first.job.arguments)}, and {' '.join(job.arguments)}"
                    raise RegressionError(
                        f"variant {variant.name!r} of {str(program)!r} is defined twice: {both}; rename one of them"
                    )
    return list(plan.values())


def shard_of(plan: Iterable[Planned], number: int, shards: int) -> list[Planned]:
    """Return shard ``number``, one of 1 to ``shards``. The shard of a job only depends on its name."""
    return [planned for planned in plan if _hash(planned.job.id) % shards == number - 1]


def in_order(plan: Iterable[Planned], past: Mapping[str, Past]) -> list[Planned]:
    """Sort a plan: jobs that failed last time, then new jobs, then others, slow ones first."""

    def rank(planned: Planned) -> tuple[int, float]:
        before = past.get(planned.past_key)
        if before is None:
            return 1, 0.0
        return (2 if before.passed else 0), -before.seconds

    return sorted(plan, key=rank)


def grouped(
    plan: Sequence[Planned], past: Mapping[str, Past], workers: int, *, rising: bool = False
) -> list[list[Planned]]:
    """Return ``plan`` as groups: jobs that are small enough share a build; each other job is a group of its own.

    Jobs that failed last time run first and alone. Each of ``workers`` gets at least one group, if possible. The
    results of a group come together; ``rising``: the first groups are small, so that some results come early.
    """
    groups: list[list[Planned]] = []
    small: dict[str, list[Planned]] = {}
    for planned in plan:
        before = past.get(planned.past_key)
        if (before is None or before.passed) and _is_small(planned):
            small.setdefault(planned.job.simulator, []).append(planned)
        else:
            groups.append([planned])
    for jobs in small.values():
        most = min(max(-(-len(jobs) // max(workers, 1)), 1), _MOST_TOGETHER)
        limit, made = (1 if rising else most), 0
        group: list[Planned] = []
        size = 0
        for planned in jobs:
            size += _size(planned)
            if group and (len(group) == limit or size > _MOST_BYTES_TOGETHER):
                groups.append(group)
                made += 1
                limit = min(2 * limit, most) if made % max(workers, 1) == 0 else limit
                group, size = [], _size(planned)
            group.append(planned)
        groups.append(group)
    return groups


def _size(planned: Planned) -> int:
    try:
        return Path(planned.job.program).stat().st_size
    except OSError:  # the file has just been removed, as the job will report
        return 0


def _is_small(planned: Planned) -> bool:
    options = {word for word in planned.job.arguments if word.startswith("-")}
    if planned.job.simulator not in _SHARED or not options <= _PLAIN:
        return False
    try:
        program = Path(planned.job.program)
        return program.is_file() and program.stat().st_size <= _SMALL
    except OSError:
        return False


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")


def _text(name: str) -> str:
    """Return ``name``. Raises ``InputError`` if it is not UTF-8, which records cannot hold."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise RegressionError(
            f"{name!r} is not UTF-8, so a record cannot contain it; rename the file or folder"
        ) from None
    return name


def _no_option(path: str) -> str:
    return f"./{path}" if path.startswith("-") else path


def _folder(name: str) -> str:
    """Return a folder name that any file system accepts, and that no other job has."""
    plain = "".join(letter if letter.isascii() and (letter.isalnum() or letter in "._+-") else "_" for letter in name)
    return f"{plain.lstrip('._')[-_LONGEST_FOLDER:]}-{_hash(name) >> 224:08x}"
