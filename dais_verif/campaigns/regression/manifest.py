"""The content of a regression, from a TOML file or the options of the command (docs/regression.md).

programs = ["networks/*.bin", "more"]   # files, folders or globs, relative to this file
simulators = ["both"]
seeds = [0, 1]
vectors = 1000
timeout = 600                           # seconds for each job

[variants.emitted]

[variants.pipelined]
stages = 3

[variants.da4ml]
rtl = "{folder}/{stem}_prj/src/*.v"     # folder and stem of each program
top = "model"
clock = "clk"
programs = "networks/jet.bin"           # only these
simulators = ["verilator"]              # instead of the above; likewise seeds, vectors, timeout
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import msgspec

from dais_verif.base.errors import RegressionError
from dais_verif.base.files import read_toml
from dais_verif.base.tables import convert_table
from dais_verif.base.toml import parse_toml
from dais_verif.campaigns.regression.programs import Found, Search, find, stem_of, unjudged

__all__ = [
    "DEFAULT_TIMEOUT",
    "Choices",
    "Part",
    "Simulator",
    "Variant",
    "gaps",
    "plain_variant",
    "read_manifest",
    "stages_variant",
]

DEFAULT_TIMEOUT = 1800.0

Simulator: TypeAlias = Literal["icarus", "verilator", "both", "ghdl"]
_MOST_BYTES = 4 << 20

_Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]
_Seconds: TypeAlias = Annotated[float, msgspec.Meta(gt=0, le=1e9)]  # neither NaN nor infinite
_Simulators: TypeAlias = Annotated[list[Simulator], msgspec.Meta(min_length=1)]
_Seeds: TypeAlias = Annotated[list[_Count], msgspec.Meta(min_length=1)]
_Texts: TypeAlias = str | list[str]

#: Options of ``sim`` that a regression sets itself.
_OURS = ("--sim", "--seed", "--vectors", "--jobs", "--json", "--output", "-o")

#: The name of a variant, which becomes part of the names of jobs and folders.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,63}")


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
    """A design under test for one program. ``arguments``: options for ``sim``. ``files``: its source files."""

    name: str
    arguments: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    vhdl: bool = False


@dataclass(frozen=True)
class Part:
    """A program in one variant, and how to run it."""

    program: Found
    variant: Variant
    choices: Choices = field(default_factory=Choices)


class _Variant(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    rtl: _Texts = ()  # type: ignore[assignment]
    top: str | None = None
    ports: str | None = None
    clock: str | None = None
    latency: _Count | Literal["auto"] | None = None
    data: _Texts = ()  # type: ignore[assignment]
    stages: Annotated[int, msgspec.Meta(ge=1)] | None = None
    inputs: _Texts = ()  # type: ignore[assignment]
    arguments: list[str] = []
    programs: _Texts | None = None
    simulators: _Simulators | None = None
    seeds: _Seeds | None = None
    vectors: _Count | None = None
    timeout: _Seconds | None = None


class _Manifest(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    programs: _Texts
    variants: dict[str, Any] = {}
    simulators: _Simulators | None = None
    seeds: _Seeds | None = None
    vectors: _Count | None = None
    timeout: _Seconds | None = None


_Table = TypeVar("_Table", _Manifest, _Variant)


def read_manifest(path: Path) -> tuple[list[Part], list[str]]:
    """Return the parts that the manifest at ``path`` requests, and what it names that no job verifies.

    Without variants, a program is emitted, and a folder with a design is judged as it is. Raises ``InputError``
    with the field that cannot be used.
    """
    name = f"manifest {str(path)!r}"
    try:
        tree = parse_toml(read_toml(path, _MOST_BYTES, "manifest"))
    except ValueError as error:
        raise RegressionError(f"{name} is not valid TOML: {error}") from None
    manifest = _table(tree, _Manifest, name)
    for key in manifest.variants:
        if not _NAME.fullmatch(key):
            raise RegressionError(f"{name}: variants: {key!r} must be a name of letters, digits, _, ., + and -")
    variants = {key: _table(table, _Variant, name, f"variants.{key}") for key, table in manifest.variants.items()}
    all_programs, empty = _programs(manifest.programs, path.parent, plain=not variants)
    parts: list[Part] = []
    if not variants:
        parts = [Part(program, plain_variant(program), _choices(manifest)) for program in all_programs]
    for key, said in variants.items():
        programs = all_programs
        if said.programs is not None:
            programs, none = _programs(said.programs, path.parent, plain=False)
            empty += none
        choices = _choices(said).over(_choices(manifest))
        parts += [Part(program, _variant(key, said, path.parent, program, name), choices) for program in programs]
    taken = {part.program.path.resolve() for part in parts}
    empty += [f"no variant verifies {str(each.path)!r}" for each in all_programs if each.path.resolve() not in taken]
    return parts, [f"{name}: {why}" for why in dict.fromkeys(empty)]


def stages_variant(stages: int) -> Variant:
    """Return the variant with emitted RTL of ``stages`` pipeline stages; 0: combinational."""
    return Variant(f"stages{stages}", ("--stages", str(stages))) if stages else Variant("emitted")


def plain_variant(program: Found) -> Variant:
    """Return the variant of a program for which none is asked: its folder's own RTL, or emitted RTL."""
    return Variant("folder", vhdl=_in_vhdl(program.path)) if program.is_design else stages_variant(0)


def _in_vhdl(folder: Path) -> bool:
    """Return True if the RTL of a project folder is VHDL alone."""
    there = {path.suffix for place in (folder, folder / "src") if place.is_dir() for path in place.iterdir()}
    return ".vhd" in there and ".v" not in there


def gaps(pattern: str, search: Search, *, plain: bool) -> list[str]:
    """Return what ``pattern`` asks for and no job verifies. ``plain``: no variant says which RTL to judge."""
    empty = [] if search.found or search.left_out else [f"{pattern!r} holds no program"]
    return [*empty, *search.left_out, *(unjudged(search) if plain else [])]


def _table(tree: object, kind: type[_Table], name: str, below: str = "") -> _Table:
    try:
        return convert_table(tree, kind, below)
    except ValueError as error:
        raise RegressionError(f"{name}: {error}") from None


def _choices(said: _Manifest | _Variant) -> Choices:
    simulators = None if said.simulators is None else tuple(said.simulators)
    seeds = None if said.seeds is None else tuple(said.seeds)
    return Choices(simulators, seeds, said.vectors, said.timeout)


def _list(said: _Texts) -> Sequence[str]:
    return [said] if isinstance(said, str) else said


def _programs(said: _Texts, base: Path, *, plain: bool) -> tuple[list[Found], list[str]]:
    searches = {pattern: find(str(base / pattern)) for pattern in _list(said)}
    found = [each for search in searches.values() for each in search.found]
    return found, [line for pattern, search in searches.items() for line in gaps(pattern, search, plain=plain)]


def _variant(key: str, said: _Variant, base: Path, program: Found, name: str) -> Variant:
    if said.stages is not None and said.rtl:
        raise RegressionError(
            f"{name}: variants.{key}: stages is for emitted RTL, rtl names user RTL; give one of them"
        )

    for word in said.arguments:
        if word.partition("=")[0] in _OURS:
            raise RegressionError(
                f"{name}: variants.{key}.arguments: {word} is not allowed here, since regress sets it"
            )

    def path_of(text: str) -> Path:
        folder = os.path.relpath(program.path.parent, base)
        return base / text.replace("{folder}", folder).replace("{stem}", stem_of(program.path))

    def paths(texts: _Texts) -> list[Path]:
        found: list[Path] = []
        for path in map(path_of, _list(texts)):
            # A pattern without a match is kept: `sim` reports that it does not exist.
            found += sorted(map(Path, glob.glob(str(path), recursive=True))) or [path]
        return found

    rtl, data, inputs = paths(said.rtl), paths(said.data), paths(said.inputs)
    ports = [] if said.ports is None else [path_of(said.ports)]
    arguments: list[object] = []
    for option, values in (("--rtl", rtl), ("--data", data), ("--ports", ports), ("--inputs", inputs)):
        arguments += [word for value in values for word in (option, value)]
    for option, value in (
        ("--top", said.top),
        ("--clock", said.clock),
        ("--latency", said.latency),
        ("--stages", said.stages),
    ):
        arguments += [] if value is None else [option, value]
    vhdl = any(path.suffix.lower() in (".vhd", ".vhdl") for path in rtl)
    return Variant(key, (*map(str, arguments), *said.arguments), (*rtl, *data, *ports, *inputs), vhdl)
