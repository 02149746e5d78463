"""The programs, as files for ``dais-verif`` and as da4ml's JSON, and vectors for da4ml."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.networks import network
from bench.shapes import attention, convolution
from dais_verif.spec.program import FixedType, Program, load, write_binary
from dais_verif.stimulus import generate

__all__ = ["CORPUS", "LARGE", "NETWORKS", "REAL", "REAL_SHAPES", "SHAPES", "Subject", "json_tree"]

ROOT = Path(__file__).parents[2]
CORPUS = Path(os.environ.get("DAIS_CORPUS") or ROOT / "tests" / "corpus")

#: Real programs of the corpus, of 2,000 to 5,000 ops.
REAL = ("p02_mlp_jet", "p13_hgq_jet", "p09_dense64")
#: Synthetic programs.
NETWORKS: Mapping[str, int] = {"network20k": 20_000, "network80k": 80_000}
#: Wide programs, whose ops read far earlier ops.
SHAPES: Mapping[str, Callable[[], Program]] = {
    "convolution9k": partial(convolution, 6),
    "attention29k": partial(attention, 16, 16),
    "convolution82k": partial(convolution, 14),
    "convolution204k": partial(convolution, 21),
}
#: Real programs of the same shapes, where the folder exists.
LARGE = Path(os.environ.get("DAIS_LARGE") or ROOT / "tests" / "large")
REAL_SHAPES = ("p15_conv_58k",)


@dataclass(frozen=True)
class Subject:
    """A program in the file ``binary``, for ``dais-verif``, and in ``json``, for da4ml, or None if da4ml is not run."""

    name: str
    ops: int
    binary: Path
    json: Path | None

    @classmethod
    def of(cls, name: str, folder: Path) -> Subject:
        """Return a program of the corpus, a network, or a program's file. New files are written to ``folder``."""
        if name in REAL:
            return cls.of_corpus(CORPUS / name, folder)
        if name in NETWORKS:
            return cls.of_network(NETWORKS[name], folder)
        return cls.of_program(Path(name).stem, load(name), folder)

    @classmethod
    def of_corpus(cls, place: Path, folder: Path) -> Subject:
        """Return a program of the corpus with da4ml's own JSON, decompressed because da4ml's loader requires it."""
        binary, text = place / "prog.v1.bin", place / "da4ml.json"
        if not text.exists():
            text = folder / f"{place.name}.json"
            text.write_bytes(gzip.decompress((place / "da4ml.json.gz").read_bytes()))
        return cls(place.name, load(binary).n_ops, binary, text)

    @classmethod
    def of_network(cls, ops: int, folder: Path) -> Subject:
        """Return a network of ``bench.networks``."""
        name = f"network{ops // 1000}k" if ops % 1000 == 0 else f"network{ops}"
        return cls.of_program(name, network(ops), folder)

    @classmethod
    def of_shape(cls, name: str, folder: Path) -> Subject:
        """Return a program of ``SHAPES``, or of the folder ``LARGE``."""
        binary = LARGE / name / "prog.v1.bin.gz"
        if name in SHAPES:
            binary = folder / f"{name}.bin"
            binary.write_bytes(write_binary(SHAPES[name](), "v1"))
        return cls(name, load(binary).n_ops, binary, None)

    @classmethod
    def of_program(cls, name: str, program: Program, folder: Path) -> Subject:
        """Write a program to ``folder`` in both forms, and return it."""
        binary, text = folder / f"{name}.bin", folder / f"{name}.json"
        binary.write_bytes(write_binary(program, "v1"))
        text.write_text(json.dumps(json_tree(program)))
        return cls(name, program.n_ops, binary, text)

    def vectors(self, rows: int) -> NDArray[np.float64]:
        """Return the vectors of ``dais-verif sim`` with seed 0, as doubles (rows, n_in)."""
        columns = generate(load(self.binary), rows, 0).columns
        return np.stack([np.ldexp(column.mantissa.astype(np.float64), column.exponent) for column in columns], axis=1)


def json_tree(program: Program) -> list[Any]:
    """Return ``program``, without tables, as the tree of da4ml's JSON; each interval is the whole range of its type."""
    if program.tables:
        raise ValueError(f"{program}: tables are not supported; choose a program without tables")
    ops = [[op.id0, op.id1, op.code, op.data, _interval(op.type), 0.0, 0.0] for op in program.ops]
    outputs = [list(column) for column in zip(*program.outputs, strict=True)]
    return [[program.n_in, program.n_out], program.inp_shift.tolist(), *(outputs or [[], [], []]), ops, -1, -1, None]


def _interval(kind: FixedType) -> list[float]:
    step = 2.0**-kind.f
    return [kind.raw_min * step, kind.raw_max * step, step]
