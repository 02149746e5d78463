"""Read a project folder of da4ml or alkaid: find its model and its RTL, and the facts that it states about the RTL.

These facts are not trusted: a run shows or refutes that the RTL computes the model with the stated latency. This module
only finds the files, and refuses folders that contradict themselves. Four generations of folders are supported:

    da4ml 0.4                model.json, the RTL beside it, misc.json
    da4ml 0.5 and 0.6        model/comb.json, pipelines also model/pipeline.json; src, metadata.json
    alkaid 0.7               model/comb.json.gz; src, metadata.json
    alkaid 0.8               model/comb.json.gz and model/fsm.json.gz; src, metadata.json, which names the top
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from dais_verif.base.errors import ProjectFolderError
from dais_verif.base.files import read_plain, require_plain
from dais_verif.base.text import counted
from dais_verif.hardware.ports.vhdl_ports import declares_clock, needed_files
from dais_verif.spec.program.machine_begin import TAKE_MACHINES

__all__ = ["ProjectFolder", "read_project"]

_MOST_METADATA, _MOST_SOURCE = 16 << 20, 1 << 30
_MOST_FILES = 100_000
_MOST_STAGES = 100_000

#: For each flavor in the metadata: the name of the language, and the suffix of its files.
_LANGUAGES = {"verilog": ("Verilog", ".v"), "vhdl": ("VHDL", ".vhd")}
_CLOCK = "clk"
#: Programs and machines in folders of our own commands ``approx apply`` and ``kernel build``, for a hint.
_OURS = ("program.bin", "machine.fsm.json")
_GIVE_FILES = ": give the files with {rtl}"

#: The number of clock edges of a pipeline after its first register, in the C++ testbench that da4ml writes.
_BINDER = re.compile(rb"\blatency\s*=\s*(\d{1,6})\s*;")


class _Generation(NamedTuple):
    """A kind of folder, with the tools that write it. ``models``: files of programs; ``others``: other models."""

    writer: str
    dialect: str
    models: tuple[str, ...]
    others: tuple[str, ...]
    metadata: str
    sources: tuple[str, ...]


_DA4ML_04 = _Generation("da4ml 0.4", "DAIS", ("model.json",), ("pipeline.json",), "misc.json", (".",))
_DA4ML = _Generation(
    "da4ml 0.5 or 0.6", "DAIS", ("model/comb.json",), ("model/pipeline.json",), "metadata.json", ("src", "src/static")
)
_ALKAID = _Generation(
    "alkaid", "ALIR", ("model/comb.json.gz",), ("model/fsm.json.gz",), "metadata.json", ("src", "src/static")
)


@dataclass(frozen=True)
class ProjectFolder:
    """The content of ``folder``. ``dialect``: the dialect of the model, DAIS or ALIR.

    ``model``: the file of the program. If it is None, ``without_model`` gives the reason, in the form of
    ``DaisError.of``. ``sources``: the RTL files that the top needs; ``data``: memory files. ``latency``: clock edges
    from an input to its output, as the folder states it; None if the folder states none, or if it is not needed.
    """

    folder: Path
    writer: str
    dialect: str
    language: str
    model: Path | None
    without_model: str
    sources: tuple[Path, ...]
    data: tuple[Path, ...]
    top: str
    clock: str | None
    latency: int | None

    def require_model(self) -> Path:
        """Return the path of the model. Raises ``InputError`` if the folder has no model of a program."""
        if self.model is None:
            raise ProjectFolderError.of("{folder!r}: " + self.without_model, folder=str(self.folder))
        return self.model


def read_project(
    folder: Path, *, top: str | None = None, clock: str | None = None, timed: bool = False
) -> ProjectFolder:
    """Return the content of ``folder``.

    ``top``, ``clock``: names that override those in the folder. ``timed``: the user gives a latency, so that the
    latency in the folder is not read. Raises ``InputError`` if it is not a project folder, if files are missing or are
    links out of the folder, or if the folder contradicts itself. If something is ambiguous, the message names the
    option that decides it.
    """
    return _Reader(folder).project(top, clock, timed)


class _Reader:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            if not folder.is_dir():
                raise ProjectFolderError(f"{str(folder)!r} is not a folder; name the folder that da4ml or alkaid wrote")
            self._root = folder.resolve()
        except (OSError, ValueError, RuntimeError) as error:
            raise ProjectFolderError(f"cannot read {str(folder)!r}: {error}; name a project folder") from None

    def project(self, top: str | None, clock: str | None, timed: bool) -> ProjectFolder:
        generation = self._generation()
        model, without = self._model(generation)
        metadata = self._metadata(generation.metadata)
        flavor = self._flavor(generation, metadata)
        language, suffix = _LANGUAGES[flavor]
        files = self._rtl(generation, suffix)
        top = top or self._top(metadata, files, suffix)
        texts = {path: read_plain(path, _MOST_SOURCE, "RTL file").decode("utf-8", "replace") for path in files}
        needed = needed_files(texts, top, vhdl=flavor == "vhdl")
        if not needed:
            names = "the module" if flavor == "verilog" else "the entity"
            self._refuse(f"no file among its {len(files)} of {language} declares {names} {top}", ": name it with {top}")
        doubled = next((unit for unit, paths in needed.units.items() if len(paths) > 1), None)
        if doubled is not None:
            first, second = (str(path.relative_to(self._folder)) for path in needed.units[doubled][:2])
            self._refuse(f"{first} and {second} both declare {doubled}", _GIVE_FILES)
        if needed.unclear is not None:
            path, unit = needed.unclear
            why = "its macros or quotes hide which units it declares"
            self._refuse(f"{path.relative_to(self._folder)} may also declare {unit}: {why}", _GIVE_FILES)
        if clock is None and declares_clock(texts[needed.files[0]], top, _CLOCK, vhdl=flavor == "vhdl"):
            clock = _CLOCK
        return ProjectFolder(
            folder=self._folder,
            writer=self._writer(generation, model),
            dialect=generation.dialect,
            language=language,
            model=model,
            without_model=without,
            sources=needed.files,
            data=self._data(),
            top=top,
            clock=clock,
            latency=None if timed or model is None else self._latency(generation, metadata, top, clock),
        )

    def _generation(self) -> _Generation:
        """Return the kind of the folder, by the models in it."""
        there = {
            one: [name for name in (*one.models, *one.others) if self._exists(name)]
            for one in (_DA4ML_04, _DA4ML, _ALKAID)
        }
        if not (self._exists("misc.json") or self._exists("build_binder.mk")):
            there[_DA4ML_04] = []  # any other tool may write a file with the name model.json
        found = [one for one, names in there.items() if names]
        if not found:
            self._refuse(
                "is a folder, but not one that da4ml or alkaid wrote: there is no model/comb.json, model/comb.json.gz "
                f"or model/fsm.json.gz in it; name the file of a program{self._programs()}, or write the folder again"
            )
        if len(found) > 1:
            first, second = (there[one][0] for one in found[:2])
            self._refuse(
                f"holds {first} of {found[0].writer} and {second} of {found[1].writer}, so it is not known which was "
                "written last",
                ": name the model as {program} and the RTL with {rtl}",
            )
        return found[0]

    def _programs(self) -> str:
        """Return a hint that names a program or machine in the folder; empty if there is none."""
        mine = [name for name in _OURS if self._exists(name)]
        return f", such as {self._folder / mine[0]}" if mine else ""

    def _writer(self, generation: _Generation, model: Path | None) -> str:
        if generation is not _ALKAID:
            return generation.writer
        return "alkaid 0.8" if model is None or self._exists("model/fsm.json.gz") else "alkaid 0.7"

    def _model(self, generation: _Generation) -> tuple[Path | None, str]:
        """Return the path of the program and an empty text, or None and the reason why there is none."""
        for name in generation.models:
            if self._exists(name):
                return self._file(name, "model"), ""
        other = generation.others[0]
        if generation is _ALKAID:
            return None, (
                f"{other} is a state machine, and {TAKE_MACHINES}; if it was made from a program, name that as PROGRAM "
                "and this folder with --rtl"
            )
        return None, (
            f"{other} holds the stages of a pipeline and not the program that they were made from; name that as "
            "{program} (CombLogic.save wrote it) and this folder with {rtl}"
        )

    def _metadata(self, name: str) -> dict[str, Any]:
        if not self._exists(name):
            return {}
        try:
            tree = json.loads(read_plain(self._file(name, "metadata"), _MOST_METADATA, "metadata"))
        except (ValueError, RecursionError) as error:
            self._refuse(f"{name} is not JSON: {str(error)[:100]}; write the folder again")
        if not isinstance(tree, dict):
            self._refuse(f"{name} must be an object, not a {type(tree).__name__}; write the folder again")
        return tree

    def _flavor(self, generation: _Generation, metadata: dict[str, Any]) -> str:
        """Return ``verilog`` or ``vhdl``, from the metadata, or otherwise by the suffixes of the files."""
        flavor = metadata.get("flavor")
        if isinstance(flavor, str) and flavor in ("vitis", "hlslib", "oneapi"):
            self._refuse(
                f"holds C++ for high-level synthesis (flavor {flavor}), but dais-verif verifies RTL",
                "; give the Verilog that is synthesized from it with {rtl}, and the model as {program}",
            )
        if flavor is not None and not (isinstance(flavor, str) and flavor in _LANGUAGES):
            self._refuse(f"{generation.metadata} says flavor {str(flavor)[:40]!r}, must be verilog or vhdl")
        there = [name for name, (_, suffix) in _LANGUAGES.items() if self._files(generation.sources[0], suffix)]
        if flavor is not None:
            if flavor not in there:
                suffix = _LANGUAGES[flavor][1]
                self._refuse(
                    f"{generation.metadata} says {flavor}, but {generation.sources[0]} holds no file *{suffix}; "
                    "write the folder again"
                )
            return str(flavor)
        if len(there) != 1:
            if there:
                problem = f"holds Verilog and VHDL, but no {generation.metadata} that selects one"
                self._refuse(problem, ": give the files with {rtl}")
            self._refuse(f"{generation.sources[0]} holds neither *.v nor *.vhd; write the folder again")
        return there[0]

    def _rtl(self, generation: _Generation, suffix: str) -> list[Path]:
        return [path for folder in generation.sources for path in self._files(folder, suffix)]

    def _top(self, metadata: dict[str, Any], files: Sequence[Path], suffix: str) -> str:
        """Return the top module, from the metadata, or otherwise the only module that has a wrapper."""
        said = metadata.get("top_module")
        if said is not None and (not isinstance(said, str) or not said.isidentifier()):
            self._refuse(f"metadata.json says top_module {str(said)[:60]!r}, must be a name", ": give it with {top}")
        stems = {path.stem for path in files}
        tops = sorted(stem for stem in stems if f"{stem}_wrapper" in stems)
        if said is not None:
            if tops and said not in tops:
                self._refuse(
                    f"metadata.json says top_module {said}, but the wrapper is that of {', '.join(tops[:5])}",
                    ": select one with {top}",
                )
            return said
        if len(tops) == 1:
            return tops[0]
        problem = f"may mean {', '.join(tops[:5])}" if tops else f"no *_wrapper{suffix} names the top module"
        self._refuse(problem, ": name the top with {top}")

    def _data(self) -> tuple[Path, ...]:
        return tuple(self._files("src/memfiles", ""))

    def _latency(self, generation: _Generation, metadata: dict[str, Any], top: str, clock: str | None) -> int | None:
        """Return the clock edges from an input to its output, as the folder states; None without a clock."""
        stages = metadata.get("latency")
        if stages is None:
            if clock is not None:
                self._refuse(
                    f"{top} has a clock, {clock}, but {generation.metadata} has no latency",
                    ": give it with {latency}, or {latency} auto to have it found",
                )
            return None
        if isinstance(stages, float) and stages.is_integer():
            stages = int(stages)
        if isinstance(stages, bool) or not isinstance(stages, int) or not 0 < stages <= _MOST_STAGES:
            self._refuse(f"{generation.metadata} says latency {str(stages)[:40]!r}, must be a number of stages above 0")
        if clock is None:
            self._refuse(
                f"{generation.metadata} says latency {stages}, but {top} has no port {_CLOCK}",
                ": name the clock with {clock}, or write the folder again",
            )
        return stages * self._layers(generation, top, stages) + 1  # registers: one at the start, more after each stage

    def _layers(self, generation: _Generation, top: str, stages: int) -> int:
        """Return the number of registers after each stage, da4ml's ``register_layers``, from its C++ testbench."""
        folder = "" if generation is _DA4ML_04 else "sim/"
        name = f"{folder}{top}_wrapper_binder.cc"
        if not self._exists(name):
            return 1
        found = _BINDER.search(read_plain(self._file(name, "testbench"), _MOST_METADATA, "testbench"))
        edges = int(found[1]) if found else stages
        if edges % stages or not edges:
            self._refuse(
                f"{generation.metadata} says {stages} stages, and {name} says latency {edges}, which is not a multiple "
                "of that",
                ": give the latency with {latency}, or {latency} auto to have it found",
            )
        return edges // stages

    def _exists(self, name: str) -> bool:
        path = self._folder / name
        return path.exists() or path.is_symlink()

    def _file(self, name: str, what: str) -> Path:
        """Return the path of file ``name``. Raises ``InputError`` if it is a link out of the folder."""
        path = self._folder / name
        try:
            inside = path.resolve(strict=True).is_relative_to(self._root)
        except (OSError, RuntimeError):
            self._refuse(f"{name} is a dangling link; write the folder again")
        if not inside:
            self._refuse(f"{name} is a link out of the folder: give its target by the option for such files")
        require_plain(path, _MOST_SOURCE, what)
        return path

    def _files(self, folder: str, suffix: str) -> list[Path]:
        """Return the files of the subfolder ``folder`` with the suffix ``suffix``, sorted; all files if it is empty."""
        place = self._folder / folder
        if not place.is_dir():
            return []
        try:
            names = sorted(path.name for path in place.iterdir() if path.suffix == suffix or not suffix)
        except OSError as error:
            self._refuse(f"{folder} cannot be read: {error.strerror}")
        if len(names) > _MOST_FILES:
            self._refuse(f"{folder} holds {counted(len(names), 'file')}, must be at most {_MOST_FILES}")
        prefix = "" if folder == "." else f"{folder}/"
        return [self._file(f"{prefix}{name}", "file") for name in names]

    def _refuse(self, problem: str, advice: str = "") -> NoReturn:
        """Raise ``InputError``. ``advice``: may contain names of arguments, in the form of ``DaisError.of``."""
        joint = " " if problem.startswith(("is ", "holds ", "may ")) else ": "
        text = "{folder!r}{joint}{problem}" + advice
        raise ProjectFolderError.of(text, folder=str(self._folder), joint=joint, problem=problem)
