"""The table ``[bitstream]`` of a policy: which bitstream, of which device, and how fast it must be."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import msgspec

from dais_verif.toolchain.icetime import DEVICE

__all__ = ["Bitstream", "problem_of_bitstream", "with_files"]


class Bitstream(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[bitstream]``: the ``file`` that is loaded into a ``device``, and the file of its ``pins``.

    ``clock``: MHz that it must allow, and ``margin`` percent more.
    """

    file: str | None = None
    pins: str | None = None
    device: str | None = None
    vectors: int = 1000
    clock: float = 12.0
    margin: float = 10.0

    @property
    def files(self) -> dict[str, str]:
        """The files that are given, by what they are."""
        given = {"bitstream": self.file, "pins": self.pins}
        return {role: name for role, name in given.items() if name is not None}

    @property
    def required(self) -> float:
        """MHz, the margin included."""
        return self.clock * (1 + self.margin / 100)


def with_files(table: Bitstream, files: Mapping[str, str]) -> Bitstream:
    """Return ``table`` with other ``files``, by what they are."""
    return msgspec.structs.replace(table, file=files.get("bitstream"), pins=files.get("pins"))


def problem_of_bitstream(table: Bitstream, stages: Collection[str]) -> str | None:
    """Return why ``table`` cannot be used with ``stages``: missing facts on the bitstream, or invalid clock numbers."""
    named = [*table.files, *(["device"] if table.device is not None else [])]
    if len(named) != (3 if {"bitstream", "timing"} & set(stages) else 0):
        return 'stages: "bitstream" and "timing" need [bitstream] file, pins and device, and those need a stage'
    if table.device is not None and DEVICE.fullmatch(table.device) is None:
        return f"[bitstream] device is {table.device!r}, must be like ice40-hx8k-ct256"
    if not 0 < table.clock < 1e6:
        return f"[bitstream] clock is {table.clock}, must be MHz above 0"
    if not 0 <= table.margin <= 1000:
        return f"[bitstream] margin is {table.margin}, must be percent from 0 to 1000"
    return None
