"""Write a network under a configuration as a program, which every verb takes."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from dais_verif.applied_folder import CONFIGURATION, MANIFEST, PROGRAM
from dais_verif.approx import ConfigurationFile, text_of
from dais_verif.flows.approximation.networks import open_network
from dais_verif.flows.arguments import require_types
from dais_verif.flows.no_loss import write_folder
from dais_verif.flows.programs import require_range
from dais_verif.flows.progress import SILENT, Progress
from dais_verif.flows.words import option_words
from dais_verif.networks.approximate import approximate
from dais_verif.own_command import own_command
from dais_verif.program import write_binary
from dais_verif.program.types import LIMIT
from dais_verif.record.approximation import AppliedRecord
from dais_verif.record.program import ProgramInfo
from dais_verif.verdict import Verdict

__all__ = ["ApplyRequest", "apply_configuration"]


@dataclass(frozen=True, kw_only=True)
class ApplyRequest:
    """An ONNX file, a file of configurations, the name of one, and the folder to write.

    ``grid``: bits behind the point of weights that a knob multiplies by 4/3; None: 2 more than they have.
    """

    network: Path
    configurations: Path
    config: str
    output: Path
    grid: int | None = None
    knobs: Path | None = None
    command: str | None = None

    def __post_init__(self) -> None:
        require_types(self)
        require_range("grid", self.grid, 0, LIMIT)

    def words(self) -> list[str]:
        """Return the words after ``dais-verif`` that ask for this."""
        valued = {"--config": self.config, "--grid": self.grid, "--knobs": self.knobs, "-o": self.output}
        return ["approx", "apply", str(self.network), str(self.configurations), *option_words(valued, {})]


def apply_configuration(request: ApplyRequest, *, progress: Progress = SILENT) -> AppliedRecord:
    """Apply the configuration. Raises ``ConfigurationError`` if it is not for this network, ``NetworkError`` if a knob
    cannot be applied to a node."""
    opened = open_network(request.network, request.configurations, request.knobs, progress)
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
    return AppliedRecord(
        verdict=Verdict.PASS,
        message=f"{request.config} applied: {program.n_ops} ops, {exact.n_ops} without it",
        network=str(request.network),
        configurations=str(request.configurations),
        config=request.config,
        sha256=opened.sha256,
        program=ProgramInfo.of(program),
        exact_ops=exact.n_ops,
        output=str(request.output),
        files=sorted([*files, MANIFEST]),
        notes=list(made.notes),
        warnings=opened.warnings,
        reproduce=own_command(request.words()) if request.command is None else request.command,
    )
