"""Folders with a network as hardware: the names of their files, and the files that a verification depends on."""

from __future__ import annotations

import json
from pathlib import Path

from dais_verif.base.errors import NetworkInputError
from dais_verif.base.files import read_plain

__all__ = [
    "CONFIGURATIONS",
    "KNOBS",
    "MACHINE",
    "MANIFEST",
    "NETWORK",
    "RTL",
    "STREAM",
    "frame_name",
    "holds_network",
    "verified_files",
]

#: The manifest: the network of the hardware, and the content of the other files of the folder.
MANIFEST = "network.json"
MACHINE, RTL = "machine.fsm.json", "model.v"
#: Names of the pins of a stream, for ``emit --wrap axis --stream``.
STREAM = "stream.toml"
#: The specification of the hardware: the network, and, if any, its configurations and the table of their knobs.
NETWORK, CONFIGURATIONS, KNOBS = "network.onnx", "configurations.txt", "knobs.txt"
_MOST_BYTES = 1 << 26


def frame_name(configuration: int) -> str:
    """Return the name of the file with the frame of a configuration, by its number."""
    return f"frame{configuration}.toml"


def holds_network(folder: Path) -> bool:
    """Return True if ``folder`` has the manifest of a network as hardware."""
    return (folder / MANIFEST).is_file()


def verified_files(folder: Path) -> list[Path]:
    """Return the files of the hardware and of its specification. Raises ``InputError`` if the manifest is invalid."""
    manifest = folder / MANIFEST
    try:
        listed = set(json.loads(read_plain(manifest, _MOST_BYTES))["files"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise NetworkInputError(
            f"{str(manifest)!r} is not a valid manifest of a network; write the folder again"
        ) from None
    optional = [name for name in (CONFIGURATIONS, KNOBS) if name in listed]
    return [folder / name for name in (MANIFEST, MACHINE, RTL, NETWORK, *optional)]
