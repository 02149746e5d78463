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
unchecked = true                        # any other option of sim
programs = "networks/jet.bin"           # only these
simulators = ["verilator"]              # instead of the above; likewise seeds, vectors, timeout
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import msgspec

from dais_verif.base.errors import RegressionError, RequestError
from dais_verif.base.files import read_toml
from dais_verif.base.tables import convert_table
from dais_verif.base.toml import parse_toml
from dais_verif.campaigns.regression.plan import Choices, Part, Variant
from dais_verif.campaigns.regression.programs import Found, Search, find, stem_of, unjudged
from dais_verif.verbs.arguments import shown
from dais_verif.verbs.options import Declared, declared, keywords_of, require_usable, words_for
from dais_verif.verbs.simulation_request import SimulationRequest

__all__ = ["Simulator", "gaps", "plain_variant", "read_manifest", "stages_variant"]

Simulator: TypeAlias = Literal["icarus", "verilator", "both", "ghdl"]
_MOST_BYTES = 4 << 20

_Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]
_Seconds: TypeAlias = Annotated[float, msgspec.Meta(gt=0, le=1e9)]  # neither NaN nor infinite
_Simulators: TypeAlias = Annotated[list[Simulator], msgspec.Meta(min_length=1)]
_Seeds: TypeAlias = Annotated[list[_Count], msgspec.Meta(min_length=1)]
_Texts: TypeAlias = str | list[str]

#: Options of ``sim`` that a regression sets itself, and one that writes a file, which all its jobs would share.
_OURS = ("--sim", "--seed", "--vectors", "--jobs", "--json", "--output", "-o")
_SHARED = ("--suggest",)

#: The options of ``sim`` by the keys of a variant, without those that a regression sets, or has for itself.
_OPTIONS = {
    one.keyword: one
    for one in declared(SimulationRequest)
    if one.spelled not in (*_OURS, *_SHARED, "--timeout") and not one.option.hidden
}

#: The name of a variant, which becomes part of the names of jobs and folders.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,63}")


class _Variant(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What a variant says besides options of ``sim``."""

    arguments: list[str] = []
    sandbox: bool = False
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
    variants = {key: _read_variant(table, name, key) for key, table in manifest.variants.items()}
    all_programs, empty = _programs(manifest.programs, path.parent, plain=not variants)
    parts: list[Part] = []
    if not variants:
        parts = [Part(program, plain_variant(program), _choices(manifest)) for program in all_programs]
    for key, (said, options) in variants.items():
        programs = all_programs
        if said.programs is not None:
            programs, none = _programs(said.programs, path.parent, plain=False)
            empty += none
        choices = _choices(said).over(_choices(manifest))
        parts += [Part(program, _variant(key, said, options, path.parent, program), choices) for program in programs]
    taken = {part.program.path.resolve() for part in parts}
    empty += [f"no variant verifies {str(each.path)!r}" for each in all_programs if each.path.resolve() not in taken]
    return parts, [f"{name}: {why}" for why in dict.fromkeys(empty)]


def stages_variant(stages: int) -> Variant:
    """Return the variant with emitted RTL of ``stages`` pipeline stages; 0: combinational."""
    return Variant(f"stages{stages}", *_options({"stages": stages})) if stages else Variant("emitted")


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


def _read_variant(table: Any, name: str, key: str) -> tuple[_Variant, Mapping[str, Any]]:
    """Return what a variant says, and the options of ``sim`` in it. Raises ``RegressionError`` with the wrong key."""
    if not isinstance(table, dict):
        raise RegressionError(f"{name}: [variants.{key}] must be a table of keys, not {shown(table)}")
    options = {one: value for one, value in table.items() if one in _OPTIONS}
    rest = {one: value for one, value in table.items() if one not in _OPTIONS}
    place, own = f"{name}: [variants.{key}]", _Variant.__struct_fields__
    for one in rest.keys() - set(own):
        near = get_close_matches(one, [*_OPTIONS, *own], n=1)
        hint = f"; did you mean {near[0]}?" if near else ", and none of sim that a manifest can set."
        raise RegressionError(f"{place} {one} is no key of a variant{hint}")
    said = _table(rest, _Variant, name, f"variants.{key}")
    try:
        for one, value in options.items():
            require_usable(_OPTIONS[one], value)
    except RequestError as error:
        raise RegressionError(f"{place} {error}") from None
    if "stages" in options and "rtl" in options:
        raise RegressionError(
            f"{name}: variants.{key}: stages is for emitted RTL, rtl names user RTL; give one of them"
        )
    for word in said.arguments:
        spelled = word.partition("=")[0]
        if spelled in (*_OURS, *_SHARED):
            why = "all jobs would write its file" if spelled in _SHARED else "regress sets it"
            raise RegressionError(f"{name}: variants.{key}.arguments: {word} is not allowed here, since {why}")
    try:
        keywords_of(SimulationRequest, _without_sandbox(said))
    except RequestError as error:
        raise RegressionError(f"{name}: variants.{key}.arguments: {error}") from None
    return said, options


def _without_sandbox(said: _Variant) -> list[str]:
    return [word for word in said.arguments if word != "--sandbox"]


def _variant(key: str, said: _Variant, options: Mapping[str, Any], base: Path, program: Found) -> Variant:
    """Return the variant of ``program``, with the paths in ``options``, which begin at ``base``."""

    def path_of(text: str) -> str:
        folder = os.path.relpath(program.path.parent, base)
        return str(base / text.replace("{folder}", folder).replace("{stem}", stem_of(program.path)))

    def with_paths(one: Declared, value: Any) -> Any:
        if one.type == "Path":
            return path_of(value)
        if one.type != "tuple[Path, ...]":
            return value
        # A pattern without a match is kept: `sim` reports that it does not exist.
        return [match for text in _list(value) for match in _matches(path_of(text))]

    given = {one: with_paths(_OPTIONS[one], value) for one, value in options.items()}
    files = [Path(path) for one, value in given.items() if "Path" in _OPTIONS[one].type for path in _list(value)]
    more = keywords_of(SimulationRequest, _without_sandbox(said))
    sandbox = said.sandbox or "--sandbox" in said.arguments
    vhdl = any(Path(path).suffix.lower() in (".vhd", ".vhdl") for path in given.get("rtl", ()))
    return Variant(key, *_options({**given, **more}, sandbox=sandbox), tuple(files), vhdl)


def _matches(pattern: str) -> list[str]:
    return sorted(glob.glob(pattern, recursive=True)) or [pattern]


def _options(given: Mapping[str, Any], *, sandbox: bool = False) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Return options of ``sim`` as Python gives them, and the same as words of a command line."""
    words = words_for(SimulationRequest, given)
    return ({**given, "sandbox": True}, (*words, "--sandbox")) if sandbox else (given, tuple(words))
