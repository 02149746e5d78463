"""Measure many configurations at once, here or on workers of Dask: count correctly classified samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dais_verif.approx import parse
from dais_verif.errors import ClusterFailure, InputError, ToolError
from dais_verif.flows.approximation.bounds import exact_outputs
from dais_verif.networks.approximate import approximate
from dais_verif.regression.cluster import connect
from dais_verif.version import VERSION

__all__ = ["Trial", "Workers"]


@dataclass(frozen=True, eq=False)
class Trial:
    """The basis of all measurements: the bytes of an ONNX file, and samples."""

    network: bytes
    vectors: NDArray[np.float64]
    labels: NDArray[np.int64]
    grid: int | None

    def correct(self, text: bytes, jobs: int | None = None) -> int | None:
        """Return the number of samples that the first configuration of ``text`` classifies correctly.

        None if it cannot be applied.
        """
        file = parse(text)
        try:
            made = approximate(self.network, file, file.configurations[0].name, grid=self.grid)
            found = exact_outputs(made.network.program(), self.vectors, jobs)
        except InputError:
            return None
        return int((np.argmax(found, axis=1) == self.labels).sum())


class Workers:
    """The executor of measurements: this process, or a named cluster; a context manager that ends its own workers."""

    def __init__(self, trial: Trial, cluster: str | None, jobs: int | None) -> None:
        self._trial, self._name, self._jobs = trial, cluster, jobs
        self._cluster: Any = None
        self._client: Any = None
        self._shared: Any = None

    def __enter__(self) -> Workers:
        if self._name is not None:
            self._cluster, self._client = connect(self._name, self._jobs or 1)
            self._shared = self._client.scatter(self._trial, broadcast=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for each in (self._client, self._cluster):
            if each is not None:
                each.close()

    def correct(self, texts: Sequence[bytes]) -> list[int | None]:
        """Return the result of ``Trial.correct`` for each text. Raises ``ToolError`` if the cluster cannot finish."""
        if self._client is None:
            return [self._trial.correct(text, self._jobs) for text in texts]
        futures = self._client.map(_on_worker, [self._shared] * len(texts), texts, [VERSION] * len(texts), pure=False)
        try:
            return [future.result() for future in futures]
        except (InputError, ToolError):
            raise
        except Exception as error:  # any exception of Dask for lost workers
            raise ClusterFailure.of("{cluster} {name}: {error}", name=self._name, error=error) from None


def _on_worker(trial: Trial, text: bytes, version: str) -> int | None:
    if version != VERSION:
        raise ClusterFailure(f"the worker has dais-verif {VERSION}, the client {version}: install the same version")
    return trial.correct(text, 1)
