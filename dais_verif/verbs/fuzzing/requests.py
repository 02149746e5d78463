"""The target and the duration of fuzzing."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import ClassVar

from dais_verif.base.errors import RequestError
from dais_verif.base.verilog_names import require_module_name
from dais_verif.base.version import VERSION
from dais_verif.campaigns.fuzzing.machines.fuzzer import MACHINE_KINDS
from dais_verif.campaigns.fuzzing.pairs.table import PAIRS
from dais_verif.campaigns.regression.cluster import check_name
from dais_verif.golden import fast
from dais_verif.verbs import common_options as common
from dais_verif.verbs.options import Request, option

__all__ = [
    "ADAPTERS",
    "ALL_PAIRS",
    "DEFAULT_FOLDER",
    "FORMS",
    "FuzzRequest",
    "KINDS",
    "PAIRS",
    "RTL_ADAPTERS",
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


@dataclass(frozen=True, kw_only=True)
class FuzzRequest(Request):
    """The target of fuzzing: random cases through built-in ``pairs``, or programs through another tool.

    ``time``, ``count``: with both, the first limit that is reached ends the run; with neither, a minute.
    """

    verb: ClassVar[str] = "fuzz"

    kind: str = option("program", "Kind of the generated cases.", group="Fuzzing", choices=tuple(KINDS))
    time: float | None = common.duration(None, "How long: 90s, 10m, 2h.  [default: 60s]")
    count: int | None = option(
        None, "Number of cases; with --time, the limit that is reached first.", group="Fuzzing", least=1
    )
    seed: int = common.seed(0, "Seed of the run; the seed of each case is derived from it.")
    pairs: tuple[str, ...] = option(
        (), "Check only this pair; may be repeated.", group="Fuzzing", name="pair", keyword="pairs", choices=ALL_PAIRS
    )
    against: str | None = option(
        None,
        "An interpreter to compare with: a command with {program}, {inputs}, {outputs}; or da4ml, or alkaid.",
        group="Fuzzing",
    )
    rtl_from: str | None = option(
        None, "A Verilog generator to check: a command with {program}, {folder}; or da4ml, or alkaid.", group="Fuzzing"
    )
    form: str | None = option(
        None,
        "Format of the programs passed to the tool of --against or --rtl-from.  [default: v1]",
        group="Program",
        choices=FORMS,
    )
    top: str = common.top()
    timeout: float = common.timeout(20.0, "Time limit for each run of the tool, in seconds.", always=False)
    replay: Path | None = option(None, "Check the kept cases in this folder again.", group="Fuzzing")
    resume: bool = option(False, "Continue after the last case of the run in the folder.", group="Runs")
    cluster: str | None = common.cluster("Check")
    jobs: int | None = common.jobs()
    output: Path = common.output("Folder for kept cases.", DEFAULT_FOLDER)

    def require(self) -> None:
        """Raise ``RequestError`` if options contradict each other."""
        require_module_name(self.top)
        known = KINDS[self.kind]
        for name in self.pairs:
            if name not in known:
                raise RequestError.of(
                    "{pairs} must be among {known}, not {value!r}.", known=", ".join(known), value=name
                )
        if self.foreign and self.kind != "program":
            raise RequestError.of("{against} and {rtl_from} take programs only: {kind} is not for them.")
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

    def arguments(self) -> list[str]:
        """Return the words before the options."""
        return []


# Return the versions of all tools that influence whether a case fails.


def versions() -> dict[str, str]:
    """Return the versions by name; for the C kernel, its instruction sets, or why it is missing."""
    found = {"dais-verif": VERSION, "python": platform.python_version(), "machine": platform.machine()}
    found |= {name: version(name) for name in ("numpy", "pyslang", "bitwuzla")}
    return {**found, "fast engine": fast.why_not() or ", ".join(fast.isas())}
