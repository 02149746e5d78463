"""The cache folder, which is kept on this machine between runs."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["cache_dir", "proof_store"]

_VARIABLE = "DAIS_VERIF_CACHE"


def cache_dir() -> Path:
    """Return DAIS_VERIF_CACHE or the user's cache folder."""
    override = os.environ.get(_VARIABLE)
    if override:
        return Path(override).absolute()
    import platformdirs  # imported here, since this module must work, to keep tracebacks, even if packages are missing

    return Path(platformdirs.user_cache_dir("dais-verif"))


def proof_store() -> Path:
    """Return the file of proofs and obligations that earlier runs decided."""
    return cache_dir() / "proofs" / "proofs.sqlite"
