"""Input vectors: generated from a program's types, or read from files."""

from __future__ import annotations

from dais_verif.stimulus.files import batch_of_raw, read_batch, read_raw_batch
from dais_verif.stimulus.generate import Generated, generate, generate_common, require_rows
from dais_verif.stimulus.sequence import ExhaustiveRows, Stimulus, Vectors
from dais_verif.stimulus.tensors import InputTensor, read_tensors

__all__ = [
    "Generated",
    "Stimulus",
    "ExhaustiveRows",
    "InputTensor",
    "Vectors",
    "batch_of_raw",
    "generate",
    "generate_common",
    "read_batch",
    "read_raw_batch",
    "read_tensors",
    "require_rows",
]
