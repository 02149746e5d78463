"""Find what the frames of a subject compute."""

from __future__ import annotations

from dais_verif.subject import Subject
from dais_verif.verbs.tensors.source import TensorSource

__all__ = ["source_of"]


def source_of(subject: Subject) -> TensorSource | None:
    """Return what the frames of a subject compute; None if it has none."""
    if subject.kernel is not None:
        from dais_verif.verbs.kernels.source import KernelSource

        return KernelSource(subject.kernel)
    if subject.hardware is not None:
        from dais_verif.verbs.networks.source import NetworkSource

        return NetworkSource(subject.hardware)
    return None
