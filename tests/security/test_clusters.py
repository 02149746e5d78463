"""A cluster that is started here listens to nobody else, and an open one needs a flag."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dais_verif.base.errors import ClusterError, ClusterFailure
from dais_verif.base.verdict import Verdict
from dais_verif.campaigns.regression import cluster
from dais_verif.campaigns.regression.cluster import check_name, connect
from dais_verif.campaigns.regression.job import Task
from dais_verif.record.campaigns import Job, JobResult


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
    started, client = connect("local:1", 1)
    try:
        address = str(started.scheduler_address)
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
        started.close()


def test_a_worker_with_other_files_refuses_the_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The job carries the hashes of the client's inputs, includes among them; the worker compares its own."""
    (tmp_path / "a.v").write_text('`include "b.vh"\n')
    (tmp_path / "b.vh").write_text("// client\n")
    (tmp_path / "a.bin").write_bytes(b"x")
    job = Job("a", "a.bin", "default", "icarus", 0, ["--rtl", "a.v"])
    task = Task(job, tmp_path / "out", "jobs/a", tmp_path, 10.0)
    sent = task.digests()
    assert [name for name, _ in sent] == ["a.bin", "a.v", "b.vh"]

    @contextmanager
    def working(words: object, version: object) -> Iterator[tuple[None, str, str, None]]:
        yield None, "key", "worker", None

    ran: list[Task] = []
    monkeypatch.setattr(cluster, "_working", working)
    result = JobResult(job, Verdict.PASS, "", 1.0, [Verdict.PASS])
    monkeypatch.setattr(cluster, "run_job", lambda task, *_: ran.append(task) or result)
    monkeypatch.setattr(cluster, "run_jointly", lambda tasks, *_: ran.extend(tasks) or [result])
    cluster._run(task, sent, (), "")
    cluster._run_jointly([task], [sent], (), "")
    assert ran == [task, task]
    for name, text in (("b.vh", "// worker\n"), ("b.vh", None), ("a.bin", "y")):
        before = (tmp_path / name).read_bytes()
        if text is None:
            (tmp_path / name).unlink()
        else:
            (tmp_path / name).write_text(text)
        for run in (lambda: cluster._run(task, sent, (), ""), lambda: cluster._run_jointly([task], [sent], (), "")):
            with pytest.raises(ClusterFailure, match=name.replace(".", r"\.")):
                run()
        (tmp_path / name).write_bytes(before)
    assert ran == [task, task]
