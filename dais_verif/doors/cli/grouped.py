"""Help of verbs with many options, in groups that are the same for all verbs."""

from __future__ import annotations

from typing import Any

import click

from dais_verif.doors.cli.verb import Verb, shows_all

__all__ = ["GROUPS", "RARE", "GroupedCommand", "Option", "group_of", "is_rare"]

#: Titles of groups, in the order of the help, and the options below each.
GROUPS: dict[str, tuple[str, ...]] = {
    "Program": (
        *("layout", "layout-b", "frame", "engine", "form", "parallel", "at-once", "config", "select"),
        *("raw-inputs", "raw"),
    ),
    "Design": (
        *("rtl", "top", "param", "data", "ports", "wrapped", "netlist", "target", "front-end"),
        *("bitstream", "device", "pins", "hints"),
    ),
    "Clocks and pipelines": (
        *("clock", "latency", "reset", "enable", "valid-in", "valid-out", "valid"),
        *("stages", "max-depth", "delay-model"),
    ),
    "Wrapper": ("wrap", "axil", "user-bits", "check-beats", "period", "stream", "cycles"),
    "Synthesis": ("alumacc", "bram", "dsp", "pnr"),
    "Vectors": (
        *("vectors", "seed", "seed-from", "fresh-seed", "inputs", "out-of-range", "unchecked", "printf"),
        *(
            "exhaustive",
            "exhaustive-bits",
            "coverage",
            "rtl-coverage",
            "directed",
            "conditions",
            "unreachable",
            "floor",
        ),
    ),
    "Simulators": ("sim", "icarus-vectors", "bulk", "waves"),
    "Fuzzing": ("command", "kind", "count", "pair", "against", "rtl-from", "replay"),
    "Diagnosis": ("blame", "load"),
    "Mutation": ("judge", "expected", "add-vectors", "most-unknown"),
    "Proof": ("prove", "confirm", "cache", "sample", "dump-smt"),
    "Sign-off": ("policy", "show-policy", "sign", "paranoid"),
    "Certificate": ("verify", "program", "allowed-signers", "verify-time", "same-tools", "rerun"),
    "Profile": ("samples", "ignore-first", "top-k", "pullback"),
    "Runs": ("shard", "fail-fast", "resume", "rerun-failed", "retries", "allow-flaky", "cluster"),
    "Limits": ("jobs", "time", "timeout", "memory", "sandbox"),
    "Output": ("output", "json", "html", "junit", "github", "profile", "quiet", "verbose", "color"),
}

_OTHER = "Other"

#: Options that few people need: only ``--help-all`` shows them.
_RARE_NAMES = """
    add-vectors allow-flaky allowed-signers alumacc at-once axil bram bulk cache check-beats color conditions
    confirm data delay-model device dsp dump-smt enable exhaustive-bits expected fresh-seed github hints
    icarus-vectors ignore-first layout layout-b max-depth memory most-unknown out-of-range param paranoid period
    pins printf program pullback quiet raw-inputs reset retries rtl-coverage same-tools sample samples sandbox
    seed-from select target top-k unchecked unreachable user-bits valid valid-in valid-out verbose verify-time
"""
RARE = frozenset(_RARE_NAMES.split())


class Option(click.Option):
    """An option that says its ``group``, and whether it is ``rare``, where others of its name differ from it."""

    def __init__(self, *arguments: Any, group: str | None = None, rare: bool | None = None, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.group, self.rare = group, rare


def is_rare(option: click.Option) -> bool:
    """Return whether only ``--help-all`` shows ``option``."""
    own = option.rare if isinstance(option, Option) else None
    return not option.required and (any(name[2:] in RARE for name in option.opts) if own is None else own)


def group_of(option: click.Option) -> str:
    """Return the title above ``option``."""
    own = option.group if isinstance(option, Option) else None
    return own or next((_TITLES[name[2:]] for name in option.opts if name[2:] in _TITLES), _OTHER)


_TITLES = {name: title for title, names in GROUPS.items() for name in names}


class GroupedCommand(Verb):
    """A command whose help shows its options below the titles of ``GROUPS``."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, each below the title of its group; rare ones only for ``--help-all``."""
        found: dict[str, list[tuple[str, str]]] = {title: [] for title in (*GROUPS, _OTHER)}
        for option, text in self.help_records(ctx):
            if shows_all(ctx) or not is_rare(option):
                found[group_of(option)].append(text)
        for title, texts in found.items():
            if texts:
                with formatter.section(title):
                    formatter.write_dl(texts)
