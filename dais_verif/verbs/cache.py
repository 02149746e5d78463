"""Show or remove the builds and proofs that earlier runs cached on this machine for later runs."""

from __future__ import annotations

from dais_verif.base.cache_folder import cache_dir, proof_store
from dais_verif.base.temporary import remove_abandoned
from dais_verif.base.toolchain import build_cache as builds
from dais_verif.base.toolchain import verilator_runtime
from dais_verif.record.cache import CacheContents, KeptBuild, RemovedFromCache

__all__ = ["cache_contents", "clear_cache"]


def cache_contents() -> CacheContents:
    """Return the contents of the cache."""
    found = builds.entries()
    home = verilator_runtime.home()
    return CacheContents(
        folder=str(cache_dir()),
        limit_bytes=builds.limit(),
        runtime_bytes=sum(path.stat().st_size for path in home.rglob("*") if path.is_file()),
        builds_bytes=sum(entry.bytes for entry in found),
        proofs_bytes=_proofs(),
        builds=[KeptBuild(entry.key, entry.bytes, entry.used, entry.facts) for entry in found],
    )


def clear_cache() -> RemovedFromCache:
    """Remove all builds, proofs, compiled runtimes, and leftovers of killed runs."""
    number, size, proofs, common = len(builds.entries()), builds.clear(), _proofs(), verilator_runtime.clear()
    proof_store().unlink(missing_ok=True)
    return RemovedFromCache(number, size, proofs, common, remove_abandoned())


def _proofs() -> int:
    store = proof_store()
    return store.stat().st_size if store.is_file() else 0
