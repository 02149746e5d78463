"""Stored cases of kernel libraries, and the answers of our implementation in the form of the case files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from dais_verif.compile.kernels.codes import GlueCode
from dais_verif.compile.kernels.data_types import DataType
from dais_verif.compile.kernels.mapping import TensorAccess, map_region
from dais_verif.compile.kernels.patterns import AccessPattern, DimPattern
from dais_verif.compile.kernels.regions import Region, Span, chunk_count, chunk_size
from dais_verif.compile.kernels.structures import (
    AuxTensor,
    DeviceId,
    HabanaKernelInstantiation,
    HabanaKernelParams,
    QuantizationParams,
    Tensor,
    TensorGeometry,
    WrittenBack,
)
from dais_verif.compile.kernels.touched import judge_touched
from dais_verif.compile.kernels.tpc_lib import (
    instantiate_tpc_kernel,
    instantiation_from_tpc,
    instantiation_to_tpc,
    params_to_tpc,
)
from support.upstream_kernels import upstream

__all__ = ["KERNELS", "access_cases", "evaluate_access", "evaluate_glue", "glue_cases"]

Tree = Mapping[str, Any]

#: The folder of the cases, beside the checkout; ``README.md`` in it describes them.
KERNELS = Path(__file__).parents[3] / "shared" / "kernels"


def access_cases() -> list[Tree]:
    """Return the cases of access patterns; where the folder is absent, the test is skipped, but fails in CI."""
    return _cases("access_patterns.json")


def glue_cases() -> list[Tree]:
    """Return the calls of glue code; where the folder is absent, the test is skipped, but fails in CI."""
    return _cases("glue_cases.json")


def _cases(name: str) -> list[Tree]:
    path = KERNELS / name
    if not path.is_file():
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"no cases of kernel libraries at {path}")
    cases: list[Tree] = json.loads(path.read_text(encoding="utf-8"))["cases"]
    return cases


def evaluate_access(case: Tree, check: Tree) -> Any:
    """Return our answer to the query of ``check``, in the form of the answer that the case expects."""
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


def evaluate_glue(case: Tree) -> dict[str, Any]:
    """Return our answer to the glue code call of a case: the code, the values written back, and the instance.

    The key is ``instance`` on success, and ``instance_so_far`` if a buffer was too small.
    """
    newer = case["generation"] == "tpc_lib_api"
    library, params, buffers = upstream(case["version"]), _params(case), _buffers(case)
    if newer:
        code, found = instantiate_tpc_kernel(library, params_to_tpc(params), instantiation_to_tpc(buffers))
        answer = instantiation_from_tpc(found)
    else:
        code, answer = library.habana_kernel(params, buffers)
    said: dict[str, Any] = {"code": int(code), "code_name": code.title, "written_back": _written(answer.written_back)}
    if answer.index_space_geometry.dims:
        said["instance" if code == 0 else "instance_so_far"] = _instance(answer, newer, code)
    return said


def _params(case: Tree) -> HabanaKernelParams:
    request, name = case["request"], case["kernel"] or ""
    kernel = upstream(case["version"]).kernel(name)
    private = kernel.structure.pack(request["node_params"]) if kernel and kernel.structure else None
    inputs, outputs = (tuple(map(_tensor, request[side])) for side in ("inputs", "outputs"))
    return HabanaKernelParams(name, inputs, outputs, private, DeviceId[case["device"]])


def _tensor(tree: Tree) -> Tensor:
    quantization = QuantizationParams(tree.get("scale", 1.0), tree.get("zero_point", 0))
    return Tensor(TensorGeometry(tree["dims"], tuple(tree["sizes"])), DataType.named(tree["dtype"]), quantization)


def _buffers(case: Tree) -> HabanaKernelInstantiation:
    request = case["request"]
    aux = tuple(AuxTensor(buffer_size=size) for size in request["aux_buffers"])
    return HabanaKernelInstantiation(elf_size=request["elf_buffer"], auxiliary_tensors=aux)


def _written(written: WrittenBack) -> dict[str, Any]:
    sizes = {f"{side}_sizes": getattr(written, f"{side}_sizes") for side in ("input", "output")}
    types = {f"{side}_dtypes": getattr(written, f"{side}_types") for side in ("input", "output")}
    said = {
        "input_count": written.input_count,
        "output_count": written.output_count,
        **{name: {str(at): list(values) for at, values in found.items()} for name, found in sizes.items()},
        **{name: {str(at): str(kind) for at, kind in found.items()} for name, found in types.items()},
        "aux_count": written.aux_count,
        "aux_buffer_sizes": {str(at): size for at, size in written.aux_buffer_sizes.items()},
        "elf_size": written.elf_size,
    }
    return {name: value for name, value in said.items() if value not in (None, {})}


def _instance(answer: HabanaKernelInstantiation, newer: bool, code: int) -> dict[str, Any]:
    said: dict[str, Any] = {
        "index_space": list(answer.index_space_geometry.shape),
        "inputs": [_stated(pattern, newer) for pattern in answer.input_tensor_access_pattern],
        "outputs": [_stated(pattern, newer) for pattern in answer.output_tensor_access_pattern],
        "scalars": list(answer.kernel.scalar_params),
        "scalar_count": len(answer.kernel.scalar_params),
        "aux": [_aux(one) for one in answer.auxiliary_tensors],
    }
    if code != GlueCode.INSUFICIENT_AUX_BUFFER_SIZE:
        said["elf_size"] = answer.elf_size
    if not newer:
        said["pad_values"] = [pad.bits for pad in answer.input_pad_values]
    return said


def _stated(pattern: AccessPattern, newer: bool) -> dict[str, Any]:
    def dim(d: DimPattern) -> dict[str, Any]:
        slope = {"a": d.start_a} if newer else {"start_a": d.start_a, "end_a": d.end_a}
        return {"index_space_dim": d.dim, **slope, "start_b": d.start_b, "end_b": d.end_b}

    return {
        "all_required": pattern.all_required,
        "memset_before_execution": pattern.memset_before_execution,
        "dims": [dim(d) for d in pattern.dims],
    }


def _aux(one: AuxTensor) -> dict[str, Any]:
    dwords = [int.from_bytes(one.data[at : at + 4], "little") for at in range(0, len(one.data), 4)]
    geometry = one.geometry
    return {
        "dtype": str(one.data_type),
        "dims": geometry.dims,
        "sizes": list(geometry.sizes),
        "bytes": one.buffer_size,
        "content": one.note or dwords,
    }
