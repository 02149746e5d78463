"""A cluster that is started here listens to nobody else, and an open one needs a flag."""

from __future__ import annotations

import pytest

from dais_verif.base.errors import ClusterError, ClusterFailure
from dais_verif.campaigns.regression.cluster import check_name, connect


@pytest.mark.parametrize("name", ["tcp://head:8786", "ws://head:1", "ucx://head:1"])
def test_an_open_scheduler_needs_a_flag(name: str) -> None:
    with pytest.raises(ClusterError, match=f"{name}"):
        check_name(name)
    check_name(f"insecure:{name}")
    check_name(name.replace(name.partition(":")[0], "tls"))


def test_a_scheduler_with_tls_needs_a_key_here() -> None:
    pytest.importorskip("distributed")
    with pytest.raises(ClusterFailure, match=r"distributed\.comm\.tls"):
        connect("tls://127.0.0.1:1", 1)


@pytest.mark.parametrize("error", [RuntimeError("Nanny failed to start."), OSError("no more processes")])
def test_workers_that_do_not_start_are_a_failure_of_the_cluster(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the kernel ends a worker for lack of memory."""
    distributed = pytest.importorskip("distributed")

    def fail(**_: object) -> None:
        raise error

    monkeypatch.setattr(distributed, "LocalCluster", fail)
    with pytest.raises(ClusterFailure, match="local:2"):
        connect("local:2", 2)


def test_strangers_are_turned_away() -> None:
    """Neither a client without TLS nor one with a key of its own gets in; the run's own client does."""
    distributed = pytest.importorskip("distributed")
    cluster, client = connect("local:1", 1)
    try:
        address = str(cluster.scheduler_address)
        assert address.startswith("tls://")
        assert all(worker.startswith("tls://") for worker in client.nthreads())
        assert client.submit(len, "ab").result(timeout=60) == 2
        port = address.rpartition(":")[2]
        strangers = (
            (f"tcp://127.0.0.1:{port}", None),
            (f"tls://127.0.0.1:{port}", distributed.security.Security.temporary()),
        )
        for stranger, security in strangers:
            with pytest.raises((OSError, TimeoutError, ValueError)):
                distributed.Client(stranger, security=security, timeout=3)
    finally:
        client.close()
        cluster.close()
