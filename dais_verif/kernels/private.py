"""Private structures of kernels: the bytes of a request that one kind of kernel understands."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from dais_verif.errors import KernelError

__all__ = ["PrivateStructure"]

#: Letters of fields: signed, unsigned, binary32; each is a dword.
_FIELDS = {"i": int, "u": int, "f": float}


@dataclass(frozen=True)
class PrivateStructure:
    """A structure of dwords. ``fields``: ``name:letter``, where ``i`` is signed, ``u`` unsigned and ``f`` binary32."""

    fields: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, text: str) -> PrivateStructure:
        """Return the structure that ``text`` lists, as in ``"pad_w:i scale:f"``."""
        fields = tuple((name, letter) for name, _, letter in (word.partition(":") for word in text.split()))
        for name, letter in fields:
            if not name.isidentifier() or letter not in _FIELDS:
                raise KernelError(f"a field of a structure must be a name and :i, :u or :f, not {name}:{letter}")
        return cls(fields)

    @property
    def size(self) -> int:
        """The size of the structure in bytes."""
        return 4 * len(self.fields)

    def pack(self, values: Mapping[str, float]) -> bytes:
        """Return the bytes of ``values``; fields that are left out are 0."""
        unknown = set(values) - {name for name, _ in self.fields}
        if unknown:
            names = ", ".join(name for name, _ in self.fields) or "none"
            raise KernelError(f"there is no field {min(unknown)}; known fields are {names}")
        try:
            dwords = [_FIELDS[letter](values.get(name, 0)) for name, letter in self.fields]
            return struct.pack(self._format, *dwords)
        except (struct.error, OverflowError, ValueError, TypeError):
            raise KernelError(f"values {dict(values)} do not fit the fields {self}") from None

    def unpack(self, data: bytes) -> Any:
        """Return a namespace of the fields in the first bytes of ``data``. Raises ``InputError`` if it is too short."""
        if len(data) < self.size:
            raise KernelError(f"the structure {self} has {self.size} bytes, not {len(data)}")
        values = struct.unpack(self._format, data[: self.size])
        return SimpleNamespace(**dict(zip((name for name, _ in self.fields), values, strict=True)))

    @property
    def _format(self) -> str:
        return "<" + "".join({"u": "I"}.get(letter, letter) for _, letter in self.fields)

    def __str__(self) -> str:
        return " ".join(f"{name}:{letter}" for name, letter in self.fields) or "(empty)"
