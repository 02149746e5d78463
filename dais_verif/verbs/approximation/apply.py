"""Write a network under a configuration as a program, which every command accepts, or as a machine."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from dais_verif.base.errors import RequestError
from dais_verif.base.files import read_plain
from dais_verif.base.text import counted
from dais_verif.base.verdict import Verdict
from dais_verif.compile.approximation import ConfigurationFile, text_of
from dais_verif.compile.networks.approximate import approximate
from dais_verif.record.approximation import AppliedRecord
from dais_verif.record.program import ProgramInfo
from dais_verif.spec.program import write_binary
from dais_verif.subject.applied_folder import CONFIGURATION, MANIFEST, PROGRAM
from dais_verif.verbs import common_options as common
from dais_verif.verbs.approximation.opened import Opened, open_network
from dais_verif.verbs.networks.build import build_network
from dais_verif.verbs.networks.hardware_forms import require_form
from dais_verif.verbs.options import REQUIRED, Request, option
from dais_verif.verbs.overwrite_guard import write_folder
from dais_verif.verbs.progress import SILENT, Progress

__all__ = ["ApplyRequest", "apply_configuration"]


_MOST_BYTES = 1 << 20


@dataclass(frozen=True, kw_only=True)
class ApplyRequest(Request):
    """An ONNX file, a file of configurations, and what of it to apply."""

    verb: ClassVar[str] = "approx apply"

    network: Path
    configurations: Path
    config: str | None = option(
        None, "The configuration to apply.  [default: the first]", group="Program", metavar="NAME"
    )
    select: str | None = option(
        None,
        "Configurations to apply, separated by commas: one machine, with an input that selects one.",
        group="Program",
        metavar="NAMES",
    )
    form: str = common.form()
    parallel: int = common.parallel()
    at_once: tuple[int, ...] = common.at_once()
    output: Path = common.output("Output folder; that of an earlier call is replaced.", REQUIRED, writes="folder")
    grid: int | None = common.grid()
    knobs: Path | None = common.knobs()

    def require(self) -> None:
        """Raise ``RequestError`` if options contradict each other."""
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

    def arguments(self) -> list[str]:
        """Return the words before the options."""
        return [str(self.network), str(self.configurations)]


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
        made = approximate(opened.exact, opened.file, request.config, grid=request.grid)
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
        notes = [approximate(opened.exact, opened.file, name, grid=request.grid).notes for name in names]
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
        reproduce=request.reproduce(),
        **found,
    )
