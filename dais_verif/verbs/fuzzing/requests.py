"""The target and the duration of fuzzing."""

from __future__ import annotations

import math
import platform
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from dais_verif.base.errors import RequestError
from dais_verif.base.verilog_names import require_module_name
from dais_verif.base.version import VERSION
from dais_verif.campaigns.fuzzing.machines.fuzzer import MACHINE_KINDS
from dais_verif.campaigns.fuzzing.pairs.table import PAIRS
from dais_verif.campaigns.regression.cluster import check_name
from dais_verif.golden import fast
from dais_verif.verbs.arguments import require_types
from dais_verif.verbs.argv import option_words
from dais_verif.verbs.programs import require_counts, require_positive, require_range

__all__ = [
    "ADAPTERS",
    "ALL_PAIRS",
    "DEFAULT_FOLDER",
    "FORMS",
    "FuzzRequest",
    "KINDS",
    "PAIRS",
    "RTL_ADAPTERS",
    "seconds_from",
    "versions",
]


#: The folder of kept cases, if none is named.
DEFAULT_FOLDER = Path("crashers")

#: The kinds of cases, and the names of the pairs that judge each kind.
KINDS = {"program": tuple(PAIRS), **{name: tuple(kind.pairs) for name, kind in MACHINE_KINDS.items()}}

#: The names of all pairs.
ALL_PAIRS = tuple(dict.fromkeys(name for pairs in KINDS.values() for name in pairs))

#: Forms in which programs are given to external tools.
FORMS = ("v1", "headerless", "published", "alir", "json", "dais")

#: Tools that can be given by name instead of a command, and the form that each reads.
ADAPTERS = {"da4ml": "v1", "alkaid": "alir"}
#: Generators of Verilog that can be given by name, and the form that each reads; these forms contain the intervals that
#: determine the widths of ports.
RTL_ADAPTERS = {"da4ml": "json", "alkaid": "alir"}

_SECONDS = 60.0
_MOST_CASES = 1 << 53


@dataclass(frozen=True, kw_only=True)
class FuzzRequest:
    """The target of fuzzing: random cases through built-in ``pairs``, or programs through another tool.

    ``kind``: the kind of cases: ``program``, ``machine``, or ``kernel`` for machines of random requests for a kernel.

    ``time``: seconds; ``count``: cases; with both, the first limit that is reached ends the run; with neither, a
    minute. ``against``: an interpreter, as a command with ``{program}``, ``{inputs}`` and ``{outputs}``, or ``da4ml``
    or ``alkaid``; ``rtl_from``: a generator of Verilog with module ``top``, as a command with ``{program}`` and
    ``{folder}``, or ``da4ml`` or ``alkaid``; ``form``: the form of programs for this tool. ``timeout``: seconds for
    each run of the tool. ``replay``: a folder of kept cases, which are judged again instead of new ones. ``resume``:
    continue after the last case of the run in ``output``. ``cluster``: judge on workers of Dask, named as for
    ``regress``. ``command``: the command line of this request.
    """

    kind: str = "program"
    time: float | None = None
    count: int | None = None
    seed: int = 0
    jobs: int | None = None
    pairs: tuple[str, ...] = ()
    against: str | None = None
    rtl_from: str | None = None
    form: str | None = None
    top: str = "model"
    timeout: float = 20.0
    replay: Path | None = None
    resume: bool = False
    cluster: str | None = None
    output: Path = DEFAULT_FOLDER
    command: str | None = None

    def __post_init__(self) -> None:
        require_types(self)
        require_counts(seed=self.seed)
        require_range("count", self.count, 1, _MOST_CASES)
        require_positive(time=self.time, timeout=self.timeout)
        require_module_name(self.top)
        if self.kind not in KINDS:
            kinds = ", ".join(KINDS)
            raise RequestError.of("{kind} must be one of {kinds}, not {value!r}.", kinds=kinds, value=self.kind)
        known = KINDS[self.kind]
        for name in self.pairs:
            if name not in known:
                raise RequestError.of(
                    "{pairs} must be among {known}, not {value!r}.", known=", ".join(known), value=name
                )
        if self.foreign and self.kind != "program":
            raise RequestError.of("{against} and {rtl_from} take programs only: {kind} is not for them.")
        if self.form is not None and self.form not in FORMS:
            raise RequestError.of(
                "{form} must be one of {known}, not {value!r}.", known=", ".join(FORMS), value=self.form
            )
        if self.against is not None and self.rtl_from is not None:
            raise RequestError.of("{against} and {rtl_from} are two tools: give one of them.")
        if self.foreign and self.pairs:
            raise RequestError.of("{pairs} compare parts of dais-verif: they are not for {against} or {rtl_from}.")
        if self.form is not None and not self.foreign:
            raise RequestError.of("{form} is for {against} or {rtl_from}.")
        if self.replay is not None and (self.resume or self.time is not None or self.count is not None):
            raise RequestError.of("{replay} makes no new cases: {time}, {count} and {resume} are not for it.")

        if self.cluster is not None:
            check_name(self.cluster)
            if self.foreign or self.replay is not None:
                raise RequestError.of(
                    "{cluster} judges new cases by built-in pairs: not {against}, {rtl_from}, {replay}."
                )

    @property
    def foreign(self) -> bool:
        """True if another tool is judged."""
        return self.against is not None or self.rtl_from is not None

    @property
    def seconds(self) -> float | None:
        """The time limit in seconds, if there is one."""
        return _SECONDS if self.time is None and self.count is None else self.time

    @property
    def program_form(self) -> str:
        """The form of programs for the tool."""
        known = ADAPTERS.get(self.against or "") or RTL_ADAPTERS.get(self.rtl_from or "")
        return self.form or known or "v1"

    def words(self) -> list[str]:
        """Return the arguments of ``dais-verif`` for this request."""
        valued = {
            "--kind": None if self.kind == "program" else self.kind,
            "--time": None if self.time is None else f"{self.time:g}s",
            "--count": self.count,
            "--seed": self.seed,
            "--jobs": self.jobs,
            "--against": self.against,
            "--rtl-from": self.rtl_from,
            "--form": self.form,
            "--top": None if self.top == "model" else self.top,
            "--timeout": self.timeout if self.foreign else None,
            "--replay": self.replay,
            "--cluster": self.cluster,
            "--output": self.output,
        }
        pairs = [word for name in self.pairs for word in ("--pair", name)]
        return ["fuzz", *pairs, *option_words(valued, {"--resume": self.resume})]


# Parse durations: ``90``, ``90s``, ``10m``, ``2h``.


_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def seconds_from(text: str) -> float:
    """Return a duration in seconds. Raises ``ValueError`` if ``text`` is not a duration."""
    unit = _UNITS.get(text[-1:])
    try:
        value = float(text if unit is None else text[:-1]) * (unit or 1)
    except ValueError:
        value = math.nan
    if not 0 < value <= 1e9:
        raise ValueError(f"{text!r} must be a duration above 0, such as 90, 90s, 10m or 2h.")
    return value


# Return the versions of all tools that influence whether a case fails.


def versions() -> dict[str, str]:
    """Return the versions by name; for the C kernel, its instruction sets, or why it is missing."""
    found = {"dais-verif": VERSION, "python": platform.python_version(), "machine": platform.machine()}
    found |= {name: version(name) for name in ("numpy", "pyslang", "bitwuzla")}
    return {**found, "fast engine": fast.why_not() or ", ".join(fast.isas())}
