"""Cases of kernel libraries as data, answered by our implementation in the form of the files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from dais_verif.kernels.access import TensorAccess, map_region
from dais_verif.kernels.chunks import chunk_count, chunk_size
from dais_verif.kernels.patterns import AccessPattern, DimPattern
from dais_verif.kernels.regions import Region, Span
from dais_verif.kernels.touched import judge_touched

__all__ = ["KERNELS", "access_cases", "evaluate_access", "glue_cases"]

Tree = Mapping[str, Any]

#: Beside the project, as ``../shared/kernels/README.md`` of a checkout describes it.
KERNELS = Path(__file__).parents[3] / "shared" / "kernels"


def access_cases() -> list[Tree]:
    """The cases of access patterns; skipped where the folder is absent, but never in CI."""
    return _cases("access_patterns.json")


def glue_cases() -> list[Tree]:
    """The calls of glue code; skipped where the folder is absent, but never in CI."""
    return _cases("glue_cases.json")


def _cases(name: str) -> list[Tree]:
    path = KERNELS / name
    if not path.is_file():
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"no cases of kernel libraries at {path}")
    cases: list[Tree] = json.loads(path.read_text(encoding="utf-8"))["cases"]
    return cases


def evaluate_access(case: Tree, check: Tree) -> Any:
    """Answer the query of ``check``: what it expects, in the form in which it expects it."""
    query = check["query"]
    if query in _WITHOUT_TENSORS:
        return _WITHOUT_TENSORS[query](check)
    space = case["index_space"]
    geometry, dummy = space["geometry"], space["dummy_dim"]
    access = {
        name: TensorAccess.of(
            tensor["sizes"],
            [_pattern(entry) for entry in tensor["entries"]],
            len(geometry) if dummy is None else dummy,
        )
        for name, tensor in case.get("tensors", {}).items()
    }
    if query == "resolution":
        return list(geometry)
    if query == "same_index_dim":
        (a, i), (b, j) = check["a"], check["b"]
        return access[a].index_space_dims[i] == access[b].index_space_dims[j]
    if query == "map":
        found = map_region(access[check["from"]], _region(check["from_roi"]), access[check["to"]], geometry)
        return _answer(found, check.get("dim"))
    tensor = access[check["tensor"]]
    if query == "resolution_at":
        return geometry[tensor.index_space_dims[check["dim"]]]
    if query == "tensor_roi":
        return _answer(tensor.region(_region(check["index_roi"])))
    if query == "index_roi":
        return _answer(tensor.members(_region(check["tensor_roi"]), check.get("geometry", geometry)))
    answers = {
        "granularity": lambda: _answer(tensor.granularity()),
        "overlap": lambda: list(tensor.overlap()),
        "index_space_dim": lambda: list(tensor.index_space_dims),
        "all_required": lambda: list(tensor.all_required),
    }
    return answers[query]()


def _verdict(check: Tree) -> str:
    first, n = check["index_roi"]["offset"][0], check["index_roi"]["size"][0]
    found = judge_touched(
        _dim(check["mapping"]),
        Span(first, first + n - 1),
        Span(*check["touched"]),
        check["dim_size"],
        partial=check["partial"],
    )
    return found.value


_WITHOUT_TENSORS = {
    "verdict": _verdict,
    "chunk_count": lambda check: chunk_count(check["sizes"], check["chunk"]),
    "chunk_size": lambda check: list(chunk_size(check["sizes"], check["chunk"], check["coord"])),
}


def _pattern(entry: Tree) -> AccessPattern:
    return AccessPattern(tuple(map(_dim, entry["mapping"])), entry["all_required"])


def _dim(mapping: Tree) -> DimPattern:
    start_a, end_a = (mapping.get("a", mapping.get(name)) for name in ("start_a", "end_a"))
    assert start_a is not None and end_a is not None
    required = mapping.get("all_required", False)
    return DimPattern(mapping["index_space_dim"], start_a, end_a, mapping["start_b"], mapping["end_b"], required)


def _region(roi: Tree) -> Region:
    return Region(tuple(roi["offset"]), tuple(roi["size"]))


def _answer(region: Region | None, dim: int | None = None) -> Any:
    if region is None:
        return "not mappable"
    offset, size = list(region.offset), list(region.size)
    return {"offset": offset, "size": size} if dim is None else {"offset": offset[dim], "size": size[dim]}
