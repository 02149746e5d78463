"""Write a network under a configuration as a program, which every command accepts, or as a machine."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dais_verif.base.errors import RequestError
from dais_verif.base.files import read_plain
from dais_verif.base.own_command import own_command
from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.compile.approximation import ConfigurationFile, text_of
from dais_verif.compile.networks.approximate import approximate
from dais_verif.record.approximation import AppliedRecord
from dais_verif.record.program import ProgramInfo
from dais_verif.spec.program import write_binary
from dais_verif.spec.program.types import LIMIT
from dais_verif.subject.applied_folder import CONFIGURATION, MANIFEST, PROGRAM
from dais_verif.verbs.approximation.opened import Opened, open_network
from dais_verif.verbs.arguments import require_types
from dais_verif.verbs.argv import option_words
from dais_verif.verbs.networks.build import build_network
from dais_verif.verbs.networks.hardware_forms import require_form
from dais_verif.verbs.overwrite_guard import write_folder
from dais_verif.verbs.programs import require_range
from dais_verif.verbs.progress import SILENT, Progress

__all__ = ["ApplyRequest", "apply_configuration"]


_MOST_BYTES = 1 << 20


@dataclass(frozen=True, kw_only=True)
class ApplyRequest:
    """An ONNX file, a file of configurations, the name of one (None: the first), and the folder to write.

    ``grid``: the number of fractional bits of weights that a knob has multiplied by 4/3; None: 2 more than before.
    ``form``: ``unrolled``, a program; or a machine form such as ``memory``, a machine with memories. ``parallel``: the
    largest number of parallel members per stage. ``at_once``: fused nodes, each of which one member computes as a
    whole. ``select``: instead of ``config``, names of configurations, separated by commas; the result is one machine
    with an input that selects the configuration.
    """

    network: Path
    configurations: Path
    output: Path
    config: str | None = None
    select: str | None = None
    form: str = "unrolled"
    parallel: int = 1
    at_once: tuple[int, ...] = ()
    grid: int | None = None
    knobs: Path | None = None
    command: str | None = None

    def __post_init__(self) -> None:
        require_types(self)
        require_range("grid", self.grid, 0, LIMIT)
        require_form(self.form, self.parallel, self.at_once)
        if self.config is not None and self.select is not None:
            raise RequestError.of("name one configuration with {config}, or several with {select}.")
        if self.select is not None and self.form == "unrolled":
            raise RequestError.of(
                "{select} is for a machine, which has an input that selects a configuration: add {form} memory."
            )

    @property
    def names(self) -> list[str]:
        """The names of configurations; their positions are the numbers by which the machine selects them."""
        return [self.config] if self.config is not None else [name.strip() for name in (self.select or "").split(",")]

    def words(self) -> list[str]:
        """Return the arguments of ``dais-verif`` for this request."""
        valued = {
            "--config": self.config,
            "--select": self.select,
            "--form": None if self.form == "unrolled" else self.form,
            "--parallel": None if self.parallel == 1 else self.parallel,
            "--grid": self.grid,
            "--knobs": self.knobs,
            "-o": self.output,
        }
        at_once = [word for number in self.at_once for word in ("--at-once", str(number))]
        return ["approx", "apply", str(self.network), str(self.configurations), *option_words(valued, {}), *at_once]


def apply_configuration(request: ApplyRequest, *, progress: Progress = SILENT) -> AppliedRecord:
    """Apply the configuration.

    Raises ``ConfigurationError`` if the configuration is for another network, ``NetworkError`` if a knob cannot be
    applied to a node.
    """
    opened = open_network(request.network, request.configurations, request.knobs, progress)
    if request.select is None and request.config is None:
        request = replace(request, config=opened.file.configurations[0].name)
    if request.form != "unrolled":
        return _folded(request, opened, progress)
    assert request.config is not None  # {select} requires a machine form
    with progress.working(f"applying {request.config}"):
        made = approximate(opened.data, opened.file, request.config, grid=request.grid)
        program, exact = made.network.program(), opened.exact.program()
    one = opened.file[request.config]
    alone = ConfigurationFile(opened.file.baseline, (one,), knobs=opened.file.knobs)
    files = {PROGRAM: write_binary(program, "v1"), CONFIGURATION: text_of(alone).encode()}
    manifest = {
        "network": str(request.network),
        "config": request.config,
        "sha256": opened.sha256,
        "program": program.hash,
        "notes": list(made.notes),
        "files": {name: hashlib.sha256(data).hexdigest() for name, data in files.items()},
    }
    write_folder(request.output, {**files, MANIFEST: (json.dumps(manifest, indent=2) + "\n").encode()}, MANIFEST)
    return _record(
        request,
        opened,
        message=f"{request.config} applied: {counted(program.n_ops, 'op')}, {exact.n_ops} without it",
        program=ProgramInfo.of(program),
        exact_ops=exact.n_ops,
        files=sorted([*files, MANIFEST]),
        notes=list(made.notes),
    )


def _folded(request: ApplyRequest, opened: Opened, progress: Progress) -> AppliedRecord:
    """Write the machine of one configuration, or of several."""
    names = request.names
    if len(set(names)) < len(names):
        raise RequestError.of("{select} names a configuration twice: {names}.", names=", ".join(names))
    chosen = ConfigurationFile(
        opened.file.baseline, tuple(opened.file[name] for name in names), knobs=opened.file.knobs, name=opened.file.name
    )
    with progress.working(f"folding {', '.join(names)}"):
        notes = [approximate(opened.data, opened.file, name, grid=request.grid).notes for name in names]
        made = build_network(
            opened.data,
            chosen,
            request.output,
            form=request.form,
            parallel=request.parallel,
            unrolled=request.at_once,
            grid=request.grid,
            knobs=None if request.knobs is None else read_plain(request.knobs, _MOST_BYTES),
            read=[request.network, request.configurations, *([] if request.knobs is None else [request.knobs])],
        )
        exact = opened.exact.program()
    cycles = ", ".join(f"{name} {cycles}" for name, cycles in made.info.configurations.items())
    return _record(
        request,
        opened,
        message=f"{', '.join(names)} applied: {counted(made.info.ops, 'op')} of all stages; cycles: {cycles}",
        program=ProgramInfo.of_machine(made.machine),
        exact_ops=exact.n_ops,
        files=made.info.files,
        notes=list(dict.fromkeys(note for listed in notes for note in listed)),
        folded=made.info,
    )


def _record(request: ApplyRequest, opened: Opened, **found: Any) -> AppliedRecord:
    return AppliedRecord(
        verdict=Verdict.PASS,
        network=str(request.network),
        configurations=str(request.configurations),
        config=",".join(request.names),
        sha256=opened.sha256,
        output=str(request.output),
        warnings=opened.warnings,
        reproduce=own_command(request.words()) if request.command is None else request.command,
        **found,
    )
