"""The table ``[bitstream]`` of a policy: the bitstream, its device, and its required clock."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import msgspec

from dais_verif.base.toolchain.icetime import DEVICE

__all__ = ["Bitstream", "problem_of_bitstream", "with_files"]


class Bitstream(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[bitstream]``: the ``file`` for a ``device``, and its pin file ``pins``.

    ``clock``: the required clock frequency, in MHz; ``margin``: percent that is added to it.
    """

    file: str | None = None
    pins: str | None = None
    device: str | None = None
    vectors: int = 1000
    clock: float = 12.0
    margin: float = 10.0

    @property
    def files(self) -> dict[str, str]:
        """The files that the table names, by role."""
        given = {"bitstream": self.file, "pins": self.pins}
        return {role: name for role, name in given.items() if name is not None}

    @property
    def required(self) -> float:
        """The required clock frequency in MHz, including the margin."""
        return self.clock * (1 + self.margin / 100)


def with_files(table: Bitstream, files: Mapping[str, str]) -> Bitstream:
    """Return ``table`` with other ``files``, by role."""
    return msgspec.structs.replace(table, file=files.get("bitstream"), pins=files.get("pins"))


def problem_of_bitstream(table: Bitstream, stages: Collection[str]) -> str | None:
    """Return why ``table`` cannot be used with ``stages``, such as missing keys or an invalid clock; None if it can."""
    named = [*table.files, *(["device"] if table.device is not None else [])]
    if len(named) != (3 if {"bitstream", "timing"} & set(stages) else 0):
        return 'stages: "bitstream" and "timing" need [bitstream] file, pins and device, and those need a stage'
    if table.device is not None and DEVICE.fullmatch(table.device) is None:
        return f"[bitstream] device is {table.device!r}, must be like ice40-hx8k-ct256"
    if not 0 < table.clock < 1e6:
        return f"[bitstream] clock is {table.clock}, must be a number of MHz above 0"
    if not 0 <= table.margin <= 1000:
        return f"[bitstream] margin is {table.margin}, must be a percentage from 0 to 1000"
    return None
